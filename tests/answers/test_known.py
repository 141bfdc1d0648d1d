import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ingram.answers import KnownAnswers
from ingram.answers.known import ORDER
from tests.strategies import graphs


@given(graphs(), st.integers(0, 3))
def test_answers_of_every_question_are_found_on_every_side(graph, more):
    """``more`` entities stand in no triple; they must not be taken for others."""
    n, m = graph.num_entities + more, graph.num_relations
    known = KnownAnswers(np.concatenate([graph.triples, graph.triples]), m)
    sizes = (n, m, n)
    for side, (first, second, asked) in ORDER.items():
        pairs = np.array([(a, b) for a in range(sizes[first]) for b in range(sizes[second])])
        pointers, answers = known.of_queries(pairs[:, 0], pairs[:, 1], side)
        for i, (a, b) in enumerate(pairs.tolist()):
            wanted = {t[asked] for t in graph.triples.tolist() if (t[first], t[second]) == (a, b)}
            assert answers[pointers[i] : pointers[i + 1]].tolist() == sorted(wanted)


@given(graphs(), st.integers(0, 3))
def test_a_triple_is_known_if_it_is_a_fact(graph, more):
    n, m = graph.num_entities + more, graph.num_relations
    every = np.array([(h, r, t) for h in range(n) for r in range(m) for t in range(n)])
    facts = set(map(tuple, graph.triples.tolist()))
    found = KnownAnswers(graph.triples, m).contains(every)
    assert found.tolist() == [tuple(t) in facts for t in every.tolist()]
