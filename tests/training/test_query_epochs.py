"""Epochs of the query-conditioned model."""

import numpy as np
import pytest
import torch

from ingram.graph import KnowledgeGraph
from ingram.models.ingram_q import QueryGraph
from ingram.training.query_epochs import QueryEpochs, query_loss
from tests.strategies import random_graph
from tests.tiny import random_query_model, tiny_query_config

GRAPH = random_graph(0, 20, 4, 150)
WHOLE = tiny_query_config(tasks__cut=False)


def edges_of(graph):
    return [
        (a.pointers.tolist(), a.sources.tolist(), a.kinds.tolist())
        for a in (graph.entities, graph.relations)
    ]


def contents(epoch):
    questions = epoch.ask()
    return edges_of(epoch.graph), epoch.targets.tolist(), questions.anchors.tolist()


def shown_triples(graph):
    tails = np.repeat(np.arange(graph.entities.num_nodes), np.diff(graph.entities.pointers))
    return {
        *zip(
            graph.entities.sources.tolist(),
            graph.entities.kinds.tolist(),
            tails.tolist(),
            strict=True,
        )
    }


@pytest.mark.parametrize("config", [WHOLE, tiny_query_config()], ids=["whole", "cut"])
def test_no_epoch_shows_the_model_a_target_in_either_direction(config):
    for number in range(1, 6):
        epoch = QueryEpochs(GRAPH, config).prepare(number)
        m = epoch.answers.num_relations
        shown = shown_triples(epoch.graph)
        assert len(epoch.targets) > 0
        for h, r, t in epoch.targets.tolist():
            assert not {(h, r, t), (t, r + m, h)} & shown


def test_facts_and_targets_of_a_whole_graph_make_up_its_triples():
    epoch = QueryEpochs(GRAPH, WHOLE).prepare(1)
    facts = {t for t in shown_triples(epoch.graph) if t[1] < 4}
    targets = {tuple(t) for t in epoch.targets.tolist()}
    assert facts | targets == {tuple(t) for t in GRAPH.triples.tolist()}
    assert len(facts) == GRAPH.num_triples // 2


def test_a_step_asks_so_many_halves_from_both_sides_each_triple_once():
    epoch = QueryEpochs(GRAPH, WHOLE).prepare(1)
    targets = {tuple(t) for t in epoch.targets.tolist()}
    first, second = epoch.ask(), epoch.ask()
    for questions in (first, second):
        tails = list(
            zip(
                questions.anchors[:4].tolist(),
                questions.relations[:4].tolist(),
                questions.answers[:4].tolist(),
                strict=True,
            )
        )
        assert len(questions.anchors) == 8
        assert len(set(tails)) == 4
        assert set(tails) <= targets
        heads = zip(
            questions.answers[4:].tolist(),
            (questions.relations[4:] - 4).tolist(),
            questions.anchors[4:].tolist(),
            strict=True,
        )
        assert list(heads) == tails
    assert first.anchors.tolist() != second.anchors.tolist()


def test_of_few_targets_all_are_asked():
    config = tiny_query_config(tasks__cut=False, training__queries=1000)
    epoch = QueryEpochs(GRAPH, config).prepare(1)
    assert len(epoch.ask().anchors) == 2 * len(epoch.targets)


def test_other_true_answers_are_those_of_facts_and_targets():
    epoch = QueryEpochs(GRAPH, WHOLE).prepare(1)
    stated = {tuple(t) for t in GRAPH.triples.tolist()}
    questions = epoch.ask()
    assert len(questions.rows) > 0
    for row, other in zip(questions.rows.tolist(), questions.others.tolist(), strict=True):
        anchor, relation = questions.anchors[row].item(), questions.relations[row].item()
        triple = (anchor, relation, other) if relation < 4 else (other, relation - 4, anchor)
        assert triple in stated


@pytest.mark.parametrize("config", [WHOLE, tiny_query_config()], ids=["whole", "cut"])
def test_an_epoch_depends_on_seed_and_number_alone(config):
    first, second = QueryEpochs(GRAPH, config), QueryEpochs(GRAPH, config)
    contents(second.prepare(1))
    assert contents(first.prepare(3)) == contents(second.prepare(3))
    assert contents(first.prepare(3)) != contents(first.prepare(4))
    other = QueryEpochs(GRAPH, config.with_settings({"training.seed": 1}))
    assert contents(first.prepare(3)) != contents(other.prepare(3))


def test_a_fixed_split_is_the_same_each_epoch_while_the_questions_are_drawn_anew():
    fixed = WHOLE.with_settings({"training.dynamic_split": False})
    one, other = (contents(QueryEpochs(GRAPH, fixed).prepare(number)) for number in (1, 2))
    assert one[:2] == other[:2]
    assert one[2] != other[2]


def test_a_cut_epoch_is_smaller_than_its_graph():
    epochs = QueryEpochs(GRAPH, tiny_query_config())
    for number in range(1, 6):
        epoch = epochs.prepare(number)
        assert epoch.graph.entities.num_edges / 2 + len(epoch.targets) <= 60


def test_weights_of_the_facts_are_seen_by_the_relation_graph_of_an_epoch():
    weights = np.random.default_rng(0).integers(1, 50, GRAPH.num_triples).astype(float)
    heavy = KnowledgeGraph(GRAPH.triples, GRAPH.entities, GRAPH.relations, weights=weights)
    plain, found = (QueryEpochs(graph, WHOLE).prepare(1) for graph in (GRAPH, heavy))
    assert np.array_equal(plain.targets, found.targets)
    targets = {tuple(t) for t in found.targets.tolist()}
    is_fact = [tuple(t) not in targets for t in GRAPH.triples.tolist()]
    wanted = QueryGraph.of(GRAPH.triples[is_fact], 20, 4, WHOLE.model, weights[is_fact])
    assert edges_of(found.graph) == edges_of(wanted)
    assert edges_of(found.graph) != edges_of(plain.graph)


def test_the_loss_is_the_mean_over_the_questions():
    model, epoch = random_query_model(), QueryEpochs(GRAPH, WHOLE).prepare(1)
    questions = epoch.ask()
    with torch.no_grad():
        found = query_loss(model, epoch.graph, questions)
        scores = model(epoch.graph, questions.anchors, questions.relations)
    scores[questions.rows, questions.others] = -torch.inf
    wanted = -scores.log_softmax(1)[torch.arange(8), questions.answers].mean()
    torch.testing.assert_close(found, wanted)
