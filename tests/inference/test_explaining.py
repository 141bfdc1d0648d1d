"""Explanations: importances against finite differences, and facts that exist."""

import json

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ingram.errors import UnknownLabelError
from ingram.graph import KnowledgeGraph
from ingram.inference import explaining
from ingram.inference.explaining import edge_importance, explain, strongest_paths
from ingram.inference.explanation import tables
from ingram.kernels import edge_messages as kernel
from tests.strategies import graph_of, graphs, random_graph
from tests.tiny import random_model, random_query_model, tiny_config, tiny_query_model_config

GRAPH = random_graph(0, 9, 3, 30)
MODEL = random_query_model()
VECTORS = random_model(tiny_config())
MODELS = {"ingram-q": MODEL, "ingram": VECTORS}


@pytest.mark.parametrize("maxima", [False, True])
def test_importance_is_the_derivative_by_a_factor_on_an_edges_messages(maxima, monkeypatch):
    model = random_query_model(tiny_query_model_config(maxima=maxima))
    edges = model.query_graph(GRAPH)
    scores, gains = edge_importance(model, edges, 1, 2, 5)
    wanted = model.scorer(GRAPH).candidate_scores(torch.tensor([1]), torch.tensor([2]), "tail")[0]
    torch.testing.assert_close(scores, wanted)
    count = edges.entities.num_edges

    def score(factors):
        def masked(states, weights, rows, scale, adjacency, **_):
            if adjacency is not edges.entities:
                return kernel.plain_edge_messages(states, weights, rows, scale, adjacency)
            every = torch.arange(adjacency.num_nodes)
            node = every.repeat_interleave(adjacency.pointers.diff())
            sent = states[:, adjacency.sources.long()] * weights[rows][:, adjacency.kinds.long()]
            sent = sent * factors.view(1, -1, 1)
            sums = torch.zeros_like(states).index_add(1, node, sent) * scale.unsqueeze(-1)
            place = node.view(1, -1, 1).expand_as(sent)
            largest = torch.zeros_like(states).scatter_reduce(
                1, place, sent, "amax", include_self=False
            )
            return torch.cat([sums, largest], dim=-1) if maxima else sums

        monkeypatch.setattr("ingram.models.ingram_q.edge_messages", masked)
        with torch.no_grad():
            found = model(edges, torch.tensor([1]), torch.tensor([2]))[0, 5]
        monkeypatch.undo()
        return float(found)

    step = 1e-6
    for edge in range(count):
        bump = torch.zeros(count, dtype=torch.float64)
        bump[edge] = step
        slope = (score(1 + bump) - score(1 - bump)) / (2 * step)
        assert gains[edge] == pytest.approx(slope, rel=1e-4, abs=1e-7)


def test_edges_are_worked_on_in_turns_with_the_same_result(monkeypatch):
    edges = MODEL.query_graph(GRAPH)
    _, whole = edge_importance(MODEL, edges, 1, 2, 5)
    monkeypatch.setattr(explaining, "EDGES", 7)
    _, parts = edge_importance(MODEL, edges, 1, 2, 5)
    np.testing.assert_allclose(parts, whole)


def test_no_gradient_is_left_behind():
    edge_importance(MODEL, MODEL.query_graph(GRAPH), 1, 2, 5)
    assert all(p.grad is None for p in MODEL.parameters())


def test_the_weight_of_a_path_is_what_the_score_loses_without_it_for_each_fact():
    # Relation 1 lies apart, so that the relation graph's bins stay as they are.
    edges = MODEL.query_graph(GRAPH)
    scores, walks = strongest_paths(MODEL, edges, 1, 2, 5, 4)
    assert walks
    assert [w.weight for w in walks] == sorted((w.weight for w in walks), reverse=True)
    for walk in walks:
        kept = [
            fact
            for fact in GRAPH.triples.tolist()
            if not any(
                {fact[0], fact[2]} == {a, b} and fact[1] == int(edges.entities.kinds[e]) % 3
                and (fact[0] == a) == (int(edges.entities.kinds[e]) < 3 or a == b)
                for e, a, b in zip(walk.edges, walk.nodes, walk.nodes[1:], strict=False)
            )
        ]  # fmt: skip
        assert len(kept) == GRAPH.num_triples - len(walk.edges)
        left = MODEL.query_graph(graph_of(kept, 9, 3))
        swapped = type(edges)(left.entities, edges.relations)
        with torch.no_grad():
            score = MODEL(swapped, torch.tensor([1]), torch.tensor([2]))[0, 5]
        assert walk.weight == pytest.approx(float(scores[5] - score) / len(walk.edges), rel=1e-9)


@pytest.mark.parametrize("name", MODELS)
@given(graphs(min_triples=1), st.data())
@settings(max_examples=20)
def test_explanations_name_only_facts_that_exist(name, graph, data):
    entity = st.sampled_from(graph.entities.labels.to_list())
    relation = data.draw(st.sampled_from(graph.relations.labels.to_list()))
    head, tail = data.draw(entity), data.draw(entity)
    found = explain(MODELS[name], graph, head, relation, tail)
    facts = set(graph.decode(graph.triples).rows())
    steps = [step for path in found.paths for step in path.steps]
    steps += [one.step for one in found.neighbours if one.step is not None]
    assert {step.fact for step in steps} <= facts
    for path in found.paths:
        ends = [path.steps[0].source, *(step.target for step in path.steps)]
        assert (ends[0], ends[-1]) == (head, tail)
        assert [step.source for step in path.steps] == ends[:-1]
    assert found.known == ((head, relation, tail) in facts)
    assert json.loads(json.dumps(found.as_dict())) == json.loads(json.dumps(found.as_dict()))
    for table in tables(found).values():
        assert len(table)


def test_score_and_rank_are_those_of_predict():
    for model in MODELS.values():
        answers = model.scorer(GRAPH).predict(head="e1", relation="r2", k=9, known="hide")
        for row in answers.iter_rows(named=True):
            found = explain(model, GRAPH, "e1", "r2", row["tail"])
            assert (found.rank, found.known) == (row["rank"], False)
            assert found.score == pytest.approx(row["score"])


def test_a_path_reads_as_people_write_it():
    graph = KnowledgeGraph.from_labels(
        [("Kenya", "borders", "Ethiopia"), ("Somalia", "borders", "Ethiopia"), ("x", "r", "y")]
    )
    found = explain(VECTORS, graph, "Kenya", "borders", "Somalia")
    (path,) = found.paths
    assert path.words() == "Kenya -borders-> Ethiopia <-borders- Somalia"
    assert path.words(str.upper) == "KENYA -BORDERS-> ETHIOPIA <-BORDERS- SOMALIA"
    assert path.weight is None
    assert path.evidence.joined == 1  # the way back
    assert found.as_dict()["paths"][0]["words"] == path.words()
    assert found.as_dict()["paths"][0]["evidence"]["share"] == 0.0


def test_a_stated_fact_is_its_own_evidence():
    graph = KnowledgeGraph.from_labels([("a", "r", "b"), ("b", "r", "c")])
    found = explain(VECTORS, graph, "a", "r", "b")
    assert found.known
    assert found.paths[0].evidence is None
    assert tables(found)["paths"]["elsewhere, with r"][0] == "the fact itself"


def test_patterns_that_come_with_the_relation_stand_first_for_the_embedding_model():
    # r, r goes with s everywhere; t, t never.
    facts = []
    for i in range(5):
        a, b, c, d = (f"{x}{i}" for x in "abcd")
        facts += [(a, "r", b), (b, "r", c), (a, "t", d), (d, "t", c)]
        facts += [(a, "s", c)] if i else []
    found = explain(VECTORS, KnowledgeGraph.from_labels(facts), "a0", "s", "c0")
    assert [p.words() for p in found.paths] == ["a0 -r-> b0 -r-> c0", "a0 -t-> d0 -t-> c0"]
    assert [p.evidence.share for p in found.paths] == [1.0, 1.0]
    assert found.paths[0].evidence.holding == 4


def test_unknown_labels_are_refused():
    for triple in (("x", "r0", "e0"), ("e0", "x", "e0"), ("e0", "r0", "x")):
        with pytest.raises(UnknownLabelError, match="'x'"):
            explain(MODEL, GRAPH, *triple)
