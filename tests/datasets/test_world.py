"""The embedded dataset keeps its promises."""

from importlib.resources import files

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from ingram.datasets import open_dataset
from ingram.graph import triple_keys

WORLD = open_dataset("world")


def all_inference() -> np.ndarray:
    return np.concatenate([WORLD.inference.triples, WORLD.valid, WORLD.test])


def test_the_two_graphs_share_no_entity():
    assert not WORLD.train.entities.labels.is_in(WORLD.inference.entities.labels.implode()).any()


def test_it_is_small_and_of_the_promised_size():
    total = WORLD.train.num_triples + len(all_inference())
    assert 5_000 <= total <= 20_000
    folder = files("ingram.datasets") / "world"
    assert sum(len(p.read_bytes()) for p in folder.iterdir() if p.name.endswith(".gz")) < 1_000_000


def test_part_of_the_inference_relations_is_new():
    known = WORLD.known_relations
    assert 0.2 < (~known).mean() < 0.8
    share = (~known[all_inference()[:, 1]]).mean()
    assert 0.2 < share < 0.8


def test_the_facts_hold_every_entity_and_relation_and_are_three_fifths():
    facts = WORLD.inference.triples
    assert set(facts[:, [0, 2]].ravel()) == set(range(WORLD.inference.num_entities))
    assert set(facts[:, 1]) == set(range(WORLD.inference.num_relations))
    assert len(facts) == len(all_inference()) * 3 // 5
    assert abs(len(WORLD.valid) - len(WORLD.test)) <= 1


def test_splits_are_disjoint():
    inference = WORLD.inference
    keys = triple_keys(all_inference(), inference.num_entities, inference.num_relations)
    assert len(np.unique(keys)) == len(keys)


def test_both_graphs_are_connected():
    for graph in (WORLD.train, WORLD.inference):
        heads, tails = graph.triples[:, 0], graph.triples[:, 2]
        shape = (graph.num_entities, graph.num_entities)
        links = coo_array((np.ones(len(heads)), (heads, tails)), shape)
        assert connected_components(links, directed=False)[0] == 1


def test_it_states_what_everyone_knows():
    facts = set(WORLD.inference.decode(all_inference()).iter_rows())
    assert ("Nairobi", "capital_of", "Kenya") in facts
    assert ("Kenya", "borders", "Tanzania") in facts
    assert ("Chile", "uses_currency", "Chilean Peso") in facts
