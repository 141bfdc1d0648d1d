"""Appendix A: reverse triples are added after a split, or they give the targets away."""

import numpy as np

from ingram.graph import with_inverses
from ingram.splits import CoveringSplit
from ingram.training.embedding_epochs import EmbeddingEpochs
from tests.strategies import graph_of, random_graph
from tests.tiny import tiny_run_config


def given_away(facts, targets, num_relations):
    """How many targets have their reverse among the facts, taking r + m for r's reverse."""
    facts = {tuple(triple) for triple in facts.tolist()}
    m = num_relations
    reverses = [(t, r + m if r < m else r - m, h) for h, r, t in targets.tolist()]
    return sum(reverse in facts for reverse in reverses)


def test_reverses_added_before_the_split_give_most_targets_away():
    graph = random_graph(0, 40, 4, 400)
    m = graph.num_relations
    rng = np.random.default_rng(0)

    is_fact = CoveringSplit(graph).draw(rng)
    facts = with_inverses(graph.triples[is_fact], m)
    assert given_away(facts, graph.triples[~is_fact], m) == 0

    both = graph_of(with_inverses(graph.triples, m), graph.num_entities, 2 * m)
    is_fact = CoveringSplit(both).draw(rng)
    targets = both.triples[~is_fact]
    assert given_away(both.triples[is_fact], targets, m) > 0.6 * len(targets)


def test_no_epoch_shows_the_model_a_target_in_either_direction():
    graph = random_graph(1, 20, 3, 120)
    m = graph.num_relations
    epochs = EmbeddingEpochs(graph, tiny_run_config())
    for number in range(1, 6):
        epoch = epochs.prepare(number)
        edges = epoch.graph.entities
        tails = np.repeat(np.arange(edges.num_nodes), np.diff(edges.pointers))
        shown = np.stack([edges.sources.numpy(), edges.kinds.numpy(), tails], axis=1)
        targets = epoch.triples[: epoch.positives].numpy()
        assert given_away(shown, targets, m) == 0
        assert not {tuple(t) for t in targets.tolist()} & {tuple(t) for t in shown.tolist()}
        assert len(shown) == 2 * (graph.num_triples - epoch.positives)
