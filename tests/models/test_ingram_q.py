"""The query-conditioned model: against its equations, by hand, and what must change nothing."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ingram.errors import DivergedError
from ingram.graph import KnowledgeGraph
from ingram.models import InGramQ, ingram_q
from ingram.models.ingram_q import QueryGraph
from tests import query_oracle
from tests.strategies import graph_of, graphs, random_graph, seeds
from tests.tiny import random_query_model, tiny_query_model_config, weights_of

GRAPH = random_graph(0, 9, 3, 30)
MODEL = random_query_model()
CLOSE = {"rtol": 1e-9, "atol": 1e-9}


def all_questions(graph):
    """Every anchor with every relation and inverse."""
    anchors, relations = np.divmod(
        np.arange(graph.num_entities * 2 * graph.num_relations), 2 * graph.num_relations
    )
    return torch.from_numpy(anchors), torch.from_numpy(relations)


def all_scores(graph, model=MODEL):
    """(n, 2m, n)."""
    with torch.no_grad():
        scores = model(model.query_graph(graph), *all_questions(graph))
    return scores.view(graph.num_entities, 2 * graph.num_relations, graph.num_entities)


def asked(graph, questions, side="tail", model=MODEL):
    """Candidate scores of (anchor, relation) pairs."""
    anchors, relations = torch.tensor(questions).reshape(-1, 2).T
    return model.scorer(graph).candidate_scores(anchors, relations, side)


@settings(max_examples=25)
@given(graphs(max_entities=6, max_relations=3), st.data())
def test_scores_are_those_of_the_equations(graph, data):
    n, m = graph.num_entities, graph.num_relations
    anchor, relation = data.draw(st.integers(0, n - 1)), data.draw(st.integers(0, 2 * m - 1))
    config = tiny_query_model_config(maxima=data.draw(st.booleans()))
    model = random_query_model(config, seed=data.draw(st.integers(0, 3)))
    wanted = query_oracle.answer(
        weights_of(model), model.config, graph.triples, n, m, anchor, relation
    )
    np.testing.assert_allclose(all_scores(graph, model)[anchor, relation], wanted, **CLOSE)


@pytest.mark.parametrize("bins", [1, 2, 10])
def test_scores_are_those_of_the_equations_for_any_number_of_bins_and_layers(bins):
    config = tiny_query_model_config(bins=bins, relation_layers=3, entity_layers=1, width=4)
    model = random_query_model(config)
    wanted = query_oracle.answer(weights_of(model), config, GRAPH.triples, 9, 3, 4, 5)
    np.testing.assert_allclose(all_scores(GRAPH, model)[4, 5], wanted, **CLOSE)


def plain_model():
    """Width 2, one layer each, no bias; LayerNorm makes (x, y) into (1, -1) or (-1, 1)."""
    model = InGramQ(tiny_query_model_config(width=2, relation_layers=1, entity_layers=1, bins=1))
    model = model.double()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.zero_()
        for update in (*model.relation_updates, *model.entity_updates):
            update.norm.weight.fill_(1)
            update.norm.eps = 0.0
            update.linear.bias.copy_(torch.tensor([0.0, 1.0]))  # where nothing else is: (-1, 1)
            update.linear.weight[0, 2] = 4  # of the sum's first place
    return model


def test_a_path_of_two_facts_is_worked_by_hand():
    """Facts (0, r, 1), (1, r, 2); asked is (0, r, ?).

    Relations: r and its inverse s meet at entity 1 by heads and by tails, and each meets itself on
    both sides: every relation has degree 4. q = (2, 0); c is 1 for heads, 3 for tails.
    u_r = q: a_r = (2 * 1 + 2 * 3) / 2 = 4 at the first place, so Linear gives (16, 1), normed
    (1, -1), and u_r = (2, 0) + (1, 0) = (3, 0). u_s = 0: a_s is the same 4, so u_s = (1, 0).

    Entities: w_k = MLP(u_k) = the first place doubled: w_r = (6, 0), w_s = (2, 0). h_0 = (3, 0).
    Entity 0, degree 1: a = h_0 = (3, 0), Linear (12, 1), normed (1, -1): h = (4, 0).
    Entity 1, degree 2: a = 3 * 6 / sqrt 2, Linear above 1 at the first place: h = (1, 0).
    Entity 2, degree 1: a = 0, Linear (0, 1), normed (-1, 1): h = (0, 1).

    f = h[0] + 10 h[1] + 100 u_r[0] = 304, 301, 310.
    """
    model = plain_model()
    with torch.no_grad():
        model.query[0] = 2
        model.bins[0, :, 0] = torch.tensor([1.0, 3.0])
        first, _, second = model.edge_weights[0]
        first.weight[0, 0], second.weight[0, 0] = 1, 2
        model.score_hidden.weight[:3, :3] = torch.eye(3)
        model.score_output.weight[0, :3] = torch.tensor([1.0, 10.0, 100.0])
    graph = graph_of([(0, 0, 1), (1, 0, 2)], 3, 1)
    edges = model.query_graph(graph)
    states, own = model.relation_states(edges, torch.tensor([0]))
    torch.testing.assert_close(states[0].tolist(), [[3.0, 0.0], [1.0, 0.0]])
    assert own.tolist() == [[3.0, 0.0]]
    assert asked(graph, [(0, 0)], model=model)[0].tolist() == pytest.approx([304, 301, 310])


def test_gradients_of_the_model_are_the_slopes_of_its_scores():
    # Parallel edges, a loop at 2, entity 4 isolated, relation 2 without a triple.
    facts = [(0, 0, 1), (0, 1, 1), (1, 0, 2), (2, 1, 2), (3, 0, 0), (1, 1, 3)]
    model = random_query_model(tiny_query_model_config(width=3, entity_layers=2), seed=3)
    edges = model.query_graph(graph_of(facts, 5, 3))
    anchors, relations = torch.tensor([0, 3, 4, 0]), torch.tensor([0, 4, 2, 1])
    names = [name for name, _ in model.named_parameters()]

    def scores(*parameters):
        weights = dict(zip(names, parameters, strict=True))
        return torch.func.functional_call(model, weights, (edges, anchors, relations))

    inputs = [p.detach().requires_grad_() for p in model.parameters()]
    assert torch.autograd.gradcheck(scores, inputs, fast_mode=True)


@settings(max_examples=15)
@given(graphs(), seeds)
def test_renamed_entities_permute_the_scores(graph, seed):
    new = np.random.default_rng(seed).permutation(graph.num_entities)
    renamed = graph.triples.copy()
    renamed[:, [0, 2]] = new[renamed[:, [0, 2]]]
    found = all_scores(graph_of(renamed, graph.num_entities, graph.num_relations))
    torch.testing.assert_close(found[new][:, :, new], all_scores(graph), **CLOSE)


@settings(max_examples=15)
@given(graphs(max_relations=5), seeds)
def test_renamed_relations_permute_the_questions(graph, seed):
    m = graph.num_relations
    new = np.random.default_rng(seed).permutation(m)
    renamed = graph.triples.copy()
    renamed[:, 1] = new[renamed[:, 1]]
    found = all_scores(graph_of(renamed, graph.num_entities, m))
    torch.testing.assert_close(found[:, [*new, *(new + m)]], all_scores(graph), **CLOSE)


@settings(max_examples=15)
@given(graphs(), seeds)
def test_the_order_of_the_facts_changes_nothing(graph, seed):
    shuffled = np.random.default_rng(seed).permutation(graph.triples)
    found = all_scores(graph_of(shuffled, graph.num_entities, graph.num_relations))
    torch.testing.assert_close(found, all_scores(graph), **CLOSE)


@settings(max_examples=15)
@given(graphs(), st.data())
def test_a_relation_stated_the_other_way_round_is_its_inverse(graph, data):
    """Turn all facts of a relation: its head questions are the tail questions from before."""
    n, m = graph.num_entities, graph.num_relations
    turned = data.draw(st.integers(0, m - 1))
    facts = graph.triples.copy()
    of_it = facts[:, 1] == turned
    facts[of_it] = facts[of_it][:, ::-1]
    order = np.arange(2 * m)
    order[[turned, turned + m]] = order[[turned + m, turned]]
    torch.testing.assert_close(all_scores(graph_of(facts, n, m))[:, order], all_scores(graph))


def test_a_head_question_is_the_tail_question_of_the_inverse():
    questions = [(0, 0), (3, 2), (8, 1), (3, 0)]
    wanted = all_scores(GRAPH)
    for side, shift in (("tail", 0), ("head", 3)):
        found = asked(GRAPH, questions, side)
        for row, (anchor, relation) in zip(found, questions, strict=True):
            torch.testing.assert_close(row, wanted[anchor, relation + shift], **CLOSE)


def test_questions_may_come_in_any_order_and_company():
    rng = np.random.default_rng(0)
    questions = np.stack([rng.integers(0, 9, 12), rng.integers(0, 3, 12)], axis=1)
    together = asked(GRAPH, questions.tolist())
    for row, question in zip(together, questions.tolist(), strict=True):
        torch.testing.assert_close(asked(GRAPH, [question])[0], row, **CLOSE)
    order = rng.permutation(12)
    torch.testing.assert_close(asked(GRAPH, questions[order].tolist()), together[order], **CLOSE)
    assert asked(GRAPH, []).shape == (0, 9)


def test_questions_beyond_the_memory_budget_are_answered_in_turns(monkeypatch):
    questions = [(a, r) for a in range(9) for r in range(3)]
    whole, passes = asked(GRAPH, questions), []
    original = InGramQ.forward
    monkeypatch.setattr(
        InGramQ, "forward", lambda self, g, a, r: passes.append(len(a)) or original(self, g, a, r)
    )
    # A question has states of 9 entities and, at worst, of 6 relations of its own.
    monkeypatch.setattr(ingram_q, "BUDGET", 10 * 4 * 5 * (9 + 6) + 1)
    torch.testing.assert_close(asked(GRAPH, questions), whole, **CLOSE)
    assert passes == [10, 10, 7]


@pytest.mark.parametrize("budget", [ingram_q.BUDGET, 4 * 9 * 5, 1])
def test_the_score_of_a_triple_is_that_of_its_tail_among_the_candidates(budget, monkeypatch):
    monkeypatch.setattr(ingram_q, "BUDGET", budget)
    rng = np.random.default_rng(1)
    triples = rng.integers(0, (9, 3, 9), (40, 3))
    table = all_scores(GRAPH)
    found = MODEL.scorer(GRAPH).score(triples)
    torch.testing.assert_close(found, table[tuple(torch.from_numpy(triples).T)], **CLOSE)


def test_no_triples_have_no_scores():
    assert MODEL.scorer(GRAPH).score(np.empty((0, 3), np.int64)).shape == (0,)


def test_one_model_answers_on_graphs_of_any_size():
    for graph in (random_graph(1, 30, 7, 90), graph_of([], 2, 1), graph_of([(0, 0, 0)], 1, 1)):
        scores = all_scores(graph)
        assert scores.isfinite().all()
        assert scores.shape == (graph.num_entities, 2 * graph.num_relations, graph.num_entities)


def test_a_float_model_works_in_float_and_a_double_one_in_double():
    for model, dtype in (
        (InGramQ(tiny_query_model_config()), torch.float32),
        (MODEL, torch.float64),
    ):
        scorer = model.scorer(GRAPH)
        assert scorer.score(GRAPH.triples).dtype == dtype
        assert asked(GRAPH, [(0, 0)], model=model).dtype == dtype


def test_nothing_in_the_model_names_a_device():
    """On the ``meta`` device any tensor made elsewhere is an error."""
    model = InGramQ(tiny_query_model_config()).to("meta")
    edges = model.query_graph(GRAPH)
    distinct, rows, anchors = (
        torch.tensor(x, device="meta") for x in ([0, 4], [1, 0, 1], [3, 3, 0])
    )
    scores = model.entity_scores(edges, model.relation_states(edges, distinct), rows, anchors)
    assert scores.device.type == "meta"
    assert scores.shape == (3, 9)
    scores.sum().backward()
    assert all(p.grad.device.type == "meta" for p in model.parameters())


def test_weights_count_among_relations_and_not_among_entities():
    rng = np.random.default_rng(0)
    weights = rng.integers(1, 5, GRAPH.num_triples).astype(float)
    heavy = KnowledgeGraph(GRAPH.triples, GRAPH.entities, GRAPH.relations, weights=weights)
    often = np.repeat(GRAPH.triples, weights.astype(int), axis=0)
    config = tiny_query_model_config()
    found, plain = MODEL.query_graph(heavy), MODEL.query_graph(GRAPH)
    repeated = QueryGraph.of(often, 9, 3, config)
    for name in ("pointers", "sources", "kinds"):
        of_found, of_plain = getattr(found.entities, name), getattr(plain.entities, name)
        assert torch.equal(of_found, of_plain)
        assert torch.equal(getattr(found.relations, name), getattr(repeated.relations, name))
    assert not torch.equal(found.relations.kinds, plain.relations.kinds)
    assert not torch.equal(all_scores(heavy), all_scores(GRAPH))


def test_parameters_follow_the_seed_and_all_have_a_gradient():
    config = tiny_query_model_config()
    one, same, other = (InGramQ(config, seed=seed) for seed in (1, 1, 2))
    assert all(torch.equal(*p) for p in zip(one.parameters(), same.parameters(), strict=True))
    assert not torch.equal(one.query, other.query)
    assert not list(one.buffers())
    one(one.query_graph(GRAPH), *all_questions(GRAPH)).square().sum().backward()
    assert all(p.grad.abs().sum() > 0 for p in one.parameters())


def test_answers_are_a_tidy_table_and_diverged_weights_are_refused():
    model = random_query_model()
    answers = model.scorer(GRAPH).predict(tail="e3", relation="r1", k=4)
    scores = all_scores(GRAPH)[3, 1 + 3]
    best = scores.argsort(descending=True)[:4]
    assert answers["head"].to_list() == [f"e{i}" for i in best.tolist()]
    assert answers["score"].to_list() == pytest.approx(scores[best].tolist())
    facts = {tuple(t) for t in GRAPH.triples.tolist()}
    assert answers["known"].to_list() == [(i, 1, 3) in facts for i in best.tolist()]
    with torch.no_grad():
        model.score_output.bias.fill_(torch.nan)
    with pytest.raises(DivergedError, match="scores hold NaN or infinity"):
        model.scorer(GRAPH).predict(head="e0", relation="r0")


@given(seed=seeds, count=st.integers(2, 9))
def test_an_answer_does_not_depend_on_who_else_asks(seed, count):
    graph = random_graph(seed, 40, 4, 120)
    model = random_query_model(tiny_query_model_config(width=32)).float()
    scorer = model.scorer(graph)
    rng = np.random.default_rng(seed)
    anchors = torch.from_numpy(rng.integers(0, 40, count))
    relations = torch.from_numpy(rng.integers(0, 4, count))
    together = scorer.candidate_scores(anchors, relations, "tail")
    for i in range(count):
        alone = scorer.candidate_scores(anchors[i : i + 1], relations[i : i + 1], "tail")
        assert torch.equal(alone[0], together[i])
