import numpy as np
import pytest
import torch

from ingram.errors import SplitError
from ingram.models import InGram
from ingram.training.embedding_epochs import EmbeddingEpochs, embedding_loss
from tests.strategies import graph_of, random_graph
from tests.tiny import tiny_run_config

GRAPH = random_graph(0, 12, 3, 80)


def margin(**changes):
    return tiny_run_config(training__objective="margin", **changes)


def facts_of(epoch):
    edges = epoch.graph.entities
    return edges.sources.tolist(), edges.kinds.tolist(), edges.pointers.tolist()


def test_an_epoch_holds_its_targets_then_the_corruptions_of_each():
    epoch = EmbeddingEpochs(GRAPH, margin()).prepare(1)
    targets = epoch.positives
    assert targets == GRAPH.num_triples - int(0.75 * GRAPH.num_triples)
    assert epoch.triples.shape == (targets * (1 + 3), 3)
    true, false = epoch.triples[:targets], epoch.triples[targets:].view(targets, 3, 3)
    assert {tuple(t) for t in true.tolist()} <= {tuple(t) for t in GRAPH.triples.tolist()}
    assert ((false != true[:, None]).sum(-1) == 1).all()
    assert epoch.features.relations.shape == (1, 6, 3)
    assert epoch.features.entities.shape == (1, 12, 4)


def test_an_epoch_depends_on_seed_and_number_alone():
    config = margin()
    first, second = EmbeddingEpochs(GRAPH, config), EmbeddingEpochs(GRAPH, config)
    second.prepare(1)
    second.prepare(2)
    one, same = first.prepare(3), second.prepare(3)
    assert facts_of(one) == facts_of(same)
    assert torch.equal(one.triples, same.triples)
    assert torch.equal(one.features.entities, same.features.entities)
    assert torch.equal(one.features.relations, same.features.relations)
    other_seed = EmbeddingEpochs(GRAPH, margin(training__seed=1)).prepare(3)
    assert not torch.equal(one.features.entities, other_seed.features.entities)
    assert facts_of(one) != facts_of(other_seed)


def test_split_features_and_negatives_are_drawn_anew_each_epoch():
    epochs = EmbeddingEpochs(GRAPH, margin())
    one, other = epochs.prepare(1), epochs.prepare(2)
    assert facts_of(one) != facts_of(other)
    assert not torch.equal(one.features.entities, other.features.entities)
    assert not torch.equal(one.features.relations, other.features.relations)


def test_a_fixed_split_is_the_same_each_epoch_while_the_rest_is_drawn_anew():
    """Table 4, without the dynamic split."""
    epochs = EmbeddingEpochs(GRAPH, margin(training__dynamic_split=False))
    one, other = epochs.prepare(1), epochs.prepare(2)
    assert facts_of(one) == facts_of(other)
    count = one.positives
    assert torch.equal(one.triples[:count], other.triples[:count])
    assert not torch.equal(one.triples[count:], other.triples[count:])
    assert not torch.equal(one.features.entities, other.features.entities)
    another = EmbeddingEpochs(GRAPH, margin(training__dynamic_split=False, training__seed=1))
    assert facts_of(another.prepare(1)) != facts_of(one)


@pytest.mark.parametrize("share", [0.5, 0.9])
def test_the_share_of_facts_is_a_setting(share):
    epoch = EmbeddingEpochs(GRAPH, margin(training__message_share=share)).prepare(1)
    assert epoch.positives == GRAPH.num_triples - int(share * GRAPH.num_triples)


def test_a_graph_that_leaves_nothing_to_predict_is_refused():
    with pytest.raises(SplitError, match="too sparse to train on"):
        EmbeddingEpochs(graph_of([(0, 0, 1), (1, 0, 2)], 3, 1), margin())


def test_the_relation_graph_of_an_epoch_is_that_of_its_facts():
    epoch = EmbeddingEpochs(GRAPH, margin()).prepare(1)
    whole = EmbeddingEpochs(GRAPH, margin(training__message_share=0.99)).prepare(1)
    assert epoch.graph.relations.num_nodes == 6
    assert not np.array_equal(epoch.graph.relations.kinds, whole.graph.relations.kinds)


def cross_entropy(**changes):
    return tiny_run_config(training__objective="cross-entropy", **changes)


@pytest.mark.parametrize(("queries", "asked"), [(6, 3), (7, 3), (10_000, None)])
def test_with_cross_entropy_an_epoch_asks_at_most_so_many_questions(queries, asked):
    epoch = EmbeddingEpochs(GRAPH, cross_entropy(training__queries=queries)).prepare(1)
    asked = asked or GRAPH.num_triples - int(0.75 * GRAPH.num_triples)
    assert epoch.triples is None
    assert len(epoch.questions.anchors) == 2 * asked
    heads, relations, tails = (
        x[:asked].tolist()
        for x in (epoch.questions.anchors, epoch.questions.relations, epoch.questions.answers)
    )
    triples = list(zip(heads, relations, tails, strict=True))
    assert len(set(triples)) == asked
    assert set(triples) <= {tuple(t) for t in GRAPH.triples.tolist()}
    sources, kinds, pointers = facts_of(epoch)
    ends = np.repeat(np.arange(12), np.diff(pointers)).tolist()
    assert not set(triples) & {*zip(sources, kinds, ends, strict=True)}


@pytest.mark.parametrize("draws", [1, 3])
@pytest.mark.parametrize("heads", ["relation", "inverse"])
def test_cross_entropy_is_over_the_sum_of_the_scores_of_all_draws(draws, heads):
    config = cross_entropy(training__draws=draws, training__queries=10, model__head_questions=heads)
    model, epoch = InGram(config.model), EmbeddingEpochs(GRAPH, config).prepare(1)
    assert len(epoch.features.entities) == draws
    with torch.no_grad():
        h, z = model(epoch.graph, epoch.features)
        found = embedding_loss(model, epoch, config.training)
    q, losses = epoch.questions, []
    for row in range(10):
        kind = q.relations[row] % (3 if heads == "relation" else 6)  # in [0, 2m)
        scores = sum((h[s, q.anchors[row]] * z[s, kind] * h[s]).sum(-1) for s in range(draws))
        scores[q.others[q.rows == row]] = -torch.inf
        losses.append(-scores.log_softmax(0)[q.answers[row]])
    torch.testing.assert_close(found, torch.stack(losses).mean())


def test_with_several_draws_the_margin_is_between_sums_of_scores():
    config = margin(training__draws=2)
    model, epoch = InGram(config.model), EmbeddingEpochs(GRAPH, config).prepare(1)
    with torch.no_grad():
        h, z = model(epoch.graph, epoch.features)
        found = embedding_loss(model, epoch, config.training)
    heads, kinds, tails = epoch.triples.T
    scores = sum((h[s, heads] * z[s, kinds] * h[s, tails]).sum(-1) for s in range(2))
    true, false = scores[: epoch.positives, None], scores[epoch.positives :].view(-1, 3)
    torch.testing.assert_close(found, (2.0 - true + false).clamp(min=0).mean())
