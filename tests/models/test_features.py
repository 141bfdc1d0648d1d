"""Features that belong to labels: the same wherever a label stands, and as random as any."""

import numpy as np
import polars as pl
import pytest
import torch

from ingram.graph import KnowledgeGraph
from ingram.models.features import LabelFeatures, facts_about, label_keys
from tests.strategies import graph_of, random_graph
from tests.tiny import random_model, tiny_config

CONFIG = tiny_config()
GRAPH = random_graph(0, 9, 3, 30)


def labelled(graph, order=None):
    """The graph's triples in another order, which gives its labels other ids."""
    table = graph.decode(graph.triples if order is None else graph.triples[order])
    return KnowledgeGraph.from_labels(table)


def test_the_hash_of_a_label_is_for_ever():
    """Vectors kept on disk are worthless once these change."""
    keys = label_keys(pl.Series(["Kenya", "Côte d’Ivoire", ""]), "entity")
    assert keys.tolist() == [
        4587381957544953569,
        14897227484274534781,
        12236773033890596748,
    ]


def test_the_features_of_a_label_are_for_ever():
    graph = KnowledgeGraph.from_labels([("Kenya", "borders", "Somalia")])
    features = LabelFeatures(graph, CONFIG, seed=3, sizes=(4, 3)).take(0, 1)
    wanted = [0.9016343, -1.0211052, -0.8643733, 0.5993654]
    np.testing.assert_allclose(features.entities[0, 0], wanted, rtol=1e-5)


def test_an_entity_a_relation_and_an_inverse_of_one_name_differ():
    labels = pl.Series(["a"])
    assert len({int(label_keys(labels, k)[0]) for k in ("entity", "relation", "inverse")}) == 3


def test_features_do_not_depend_on_the_order_or_the_number_of_labels():
    small = labelled(GRAPH)
    order = np.random.default_rng(1).permutation(GRAPH.num_triples)
    large = KnowledgeGraph.from_labels(
        [("new", "other", "e1"), *GRAPH.decode(GRAPH.triples[order]).iter_rows()]
    )
    sizes = (small.num_entities, small.num_relations)
    one = LabelFeatures(small, CONFIG, seed=5).take(0, 2)
    two = LabelFeatures(large, CONFIG, seed=5, sizes=sizes).take(0, 2)
    here = large.entities.ids(small.entities.labels).to_list()
    assert torch.equal(one.entities, two.entities[:, here])
    kinds = large.relations.ids(small.relations.labels).to_list()
    both = [*kinds, *(k + large.num_relations for k in kinds)]
    assert torch.equal(one.relations, two.relations[:, both])


def test_a_draw_does_not_depend_on_how_many_are_made_or_for_whom():
    source = LabelFeatures(GRAPH, CONFIG, seed=5)
    whole = source.take(0, 5)
    some = source.take(2, 2, np.array([4, 1]))
    assert torch.equal(some.entities, whole.entities[2:4, [4, 1]])
    assert torch.equal(some.relations, whole.relations[2:4])


@pytest.mark.parametrize("seed", [4, [3, 1], [3]])
def test_seeds_differ(seed):
    one, two = (LabelFeatures(GRAPH, CONFIG, s).take(0, 1).entities for s in (5, seed))
    assert not torch.equal(one, two)


def test_they_are_normal_with_the_deviation_of_training():
    graph = graph_of([], 20_000, 1)
    config = tiny_config(entity_width=7)
    values = LabelFeatures(graph, config, seed=0).take(0, 2).entities.double()
    assert values.shape == (2, 20_000, 7)
    unit = values / (2 / (20_000 + 7) ** 0.5)
    assert unit.mean().abs() < 0.01
    assert (unit.std() - 1).abs() < 0.01
    assert ((unit**4).mean() - 3).abs() < 0.1
    columns = unit.transpose(0, 1).flatten(1)  # entities x (draws, channels)
    near = torch.corrcoef(columns.T) - torch.eye(14)
    assert near.abs().max() < 0.03  # five deviations of 20,000 samples
    between = (unit[:, 1:] * unit[:, :-1]).mean()
    assert between.abs() < 0.01


def test_sizes_fix_the_deviation():
    one = LabelFeatures(GRAPH, CONFIG, 0).take(0, 1)
    two = LabelFeatures(GRAPH, CONFIG, 0, sizes=(60, 3)).take(0, 1)
    ratio = ((9 + 4) / (60 + 4)) ** 0.5
    torch.testing.assert_close(two.entities, ratio * one.entities)


def test_embeddings_follow_labels_and_not_the_order_of_the_file():
    model = random_model(CONFIG)
    one = labelled(GRAPH)
    two = labelled(GRAPH, np.random.default_rng(2).permutation(GRAPH.num_triples))
    assert one.entities.labels.to_list() != two.entities.labels.to_list()
    found, other = model.embed(one, draws=2), model.embed(two, draws=2)
    here = two.entities.ids(one.entities.labels).to_list()
    torch.testing.assert_close(found.entities, other.entities[here])
    kinds = two.relations.ids(one.relations.labels).to_list()
    torch.testing.assert_close(found.relations, other.relations[kinds])


def test_facts_about_an_entity_tell_what_is_said_and_nothing_else():
    one = KnowledgeGraph.from_labels([("a", "r", "b"), ("c", "r", "d"), ("a", "s", "b")])
    same = KnowledgeGraph.from_labels([("c", "r", "d"), ("a", "s", "b"), ("a", "r", "b")])
    more = KnowledgeGraph.from_labels([("a", "r", "b"), ("c", "r", "d"), ("b", "s", "a")])

    def by_label(graph):
        return dict(zip(graph.entities.labels, facts_about(graph).tolist(), strict=True))

    assert by_label(one) == by_label(same)
    changed = {k for k, v in by_label(more).items() if v != by_label(one)[k]}
    assert changed == {"a", "b"}
    assert len(set(by_label(one).values())) == 4
    assert facts_about(graph_of([], 2, 1)).tolist() == [0, 0]
