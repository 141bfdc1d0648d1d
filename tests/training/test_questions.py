"""Targets as questions, with the other true answers beside them."""

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from ingram.training.questions import TrueAnswers
from tests.strategies import graph_of, graphs


def asked(graph, triples):
    return TrueAnswers(graph).ask(np.array(triples, np.int64).reshape(-1, 3))


def test_a_triple_is_asked_for_its_tail_and_its_head_by_hand():
    graph = graph_of([(0, 0, 1), (0, 0, 2), (3, 0, 1), (0, 1, 3)], 4, 2)
    found = asked(graph, [(0, 0, 1), (0, 1, 3)])
    # (0, r0, ?), (0, r1, ?), (1, r0 inverse, ?), (3, r1 inverse, ?)
    assert found.anchors.tolist() == [0, 0, 1, 3]
    assert found.relations.tolist() == [0, 1, 2, 3]
    assert found.answers.tolist() == [1, 3, 0, 0]
    # Entity 2 is another tail of the first, entity 3 another head of it.
    assert list(zip(found.rows.tolist(), found.others.tolist(), strict=True)) == [(0, 2), (2, 3)]


@given(graphs(min_triples=1), st.data())
def test_the_other_answers_are_all_that_the_graph_states_but_the_one_asked_for(graph, data):
    facts = [tuple(map(int, triple)) for triple in graph.triples]
    triples = data.draw(st.lists(st.sampled_from(facts), min_size=1, max_size=6))
    found = asked(graph, triples)
    m = graph.num_relations
    wanted = []
    for row, (h, r, t) in enumerate(triples):
        wanted += [(row, y) for x, k, y in facts if (x, k) == (h, r) and y != t]
        wanted += [(len(triples) + row, x) for x, k, y in facts if (y, k) == (t, r) and x != h]
    pairs = list(zip(found.rows.tolist(), found.others.tolist(), strict=True))
    assert sorted(pairs) == sorted(wanted)
    heads, relations, tails = map(list, zip(*triples, strict=True))
    assert found.anchors.tolist() == heads + tails
    assert found.relations.tolist() == relations + [r + m for r in relations]
    assert found.answers.tolist() == tails + heads


def test_no_triples_are_no_questions():
    found = asked(graph_of([(0, 0, 1)], 2, 1), [])
    for name in ("anchors", "relations", "answers", "rows", "others"):
        assert getattr(found, name).shape == (0,)
        assert getattr(found, name).dtype == torch.int64


def test_an_anchor_is_no_candidate_where_its_relation_has_no_loop():
    graph = graph_of([(0, 0, 1), (0, 1, 1), (2, 1, 2)], 3, 2)
    found = TrueAnswers(graph, "stated").ask(graph.triples[:2])
    assert list(zip(found.rows.tolist(), found.others.tolist(), strict=True)) == [(0, 0), (2, 1)]
