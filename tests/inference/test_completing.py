"""The best missing triples against a sort of all triples."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingram.answers import batches
from ingram.errors import QueryError, UnknownLabelError
from ingram.inference.completing import complete
from tests.answers.tables import TableScorer
from tests.strategies import graph_of, graphs, seeds


def brute_force(scorer, count, per_relation, all_heads, typed):
    graph = scorer.graph
    facts = set(map(tuple, graph.triples.tolist()))
    found = []
    for r in range(graph.num_relations):
        of_it = [f for f in facts if f[1] == r]
        heads, tails = {f[0] for f in of_it}, {f[2] for f in of_it}
        loops = any(f[0] == f[2] for f in of_it)
        missing = [
            (h, r, t)
            for h in range(graph.num_entities)
            for t in range(graph.num_entities)
            if (h, r, t) not in facts
            and (all_heads or h in heads)
            and (not typed or t in tails)
            and (loops or h != t)
        ]
        missing.sort(key=lambda triple: -scorer.scores[triple].item())
        found += missing[:per_relation]
    found.sort(key=lambda triple: -scorer.scores[triple].item())
    return [(*triple, scorer.scores[triple].item()) for triple in found[:count]]


@given(
    graphs(max_entities=7),
    seeds,
    st.sampled_from([1, 3, 10, 500]),
    st.none() | st.integers(1, 5),
    st.booleans(),
    st.booleans(),
    st.sampled_from([1, 60, 10_000]),
)
def test_the_best_are_those_of_a_sort_of_all(
    graph, seed, count, per_relation, all_heads, typed, budget
):
    scorer = TableScorer(graph, seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(batches.scored_batches, "__kwdefaults__", {"budget": budget})
        found = complete(scorer, count, per_relation=per_relation, all_heads=all_heads, typed=typed)
    ids = graph.encode(found) if len(found) else np.empty((0, 3), np.int64)
    rows = [(*triple, score) for triple, score in zip(ids.tolist(), found["score"], strict=True)]
    assert rows == brute_force(scorer, count, per_relation, all_heads, typed)
    assert found["rank"].to_list() == list(range(1, len(found) + 1))


def test_chosen_relations_alone_are_completed():
    scorer = TableScorer(graph_of([(0, 0, 1), (1, 1, 2), (2, 2, 0)], 4, 3))
    found = complete(scorer, 50, relations=["r2", "r0", "r2"])
    assert set(found["relation"]) == {"r0", "r2"}
    with pytest.raises(UnknownLabelError, match="no relation 'r9'"):
        complete(scorer, 5, relations=["r9"])


def test_progress_counts_every_question_to_the_end():
    scorer = TableScorer(graph_of([(0, 0, 1), (1, 1, 2), (2, 1, 0)], 4, 3))
    heard = []
    complete(scorer, 5, progress=lambda done, total: heard.append((done, total)))
    assert heard[-1] == (3, 3)
    complete(scorer, 5, all_heads=True, progress=lambda done, total: heard.append((done, total)))
    assert heard[-1] == (12, 12)


def test_no_triples_cannot_be_asked_for():
    scorer = TableScorer(graph_of([(0, 0, 1)], 2, 1))
    with pytest.raises(QueryError, match="want at least one triple, got 0"):
        complete(scorer, 0)
    with pytest.raises(QueryError, match="want at least one triple, got -1"):
        complete(scorer, 5, per_relation=-1)
