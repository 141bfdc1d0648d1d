"""What lies near, against cosines counted one by one."""

import math

import pytest
import torch

from ingram.embeddings import Embeddings
from ingram.inference.similar import Neighbourhood
from tests.strategies import graph_of


def some_embeddings(num_entities=300, num_relations=7, width=16):
    generator = torch.Generator().manual_seed(0)
    entities = torch.randn(num_entities, width, generator=generator)
    relations = torch.randn(num_relations, width, generator=generator)
    return Embeddings(entities, relations, graph_of([], num_entities, num_relations), {})


def cosine(a, b):
    return sum(a * b) / math.sqrt(sum(a * a)) / math.sqrt(sum(b * b))


def nearest(vectors, own, k):
    """Every other row, nearest first, by the definition."""
    rows = vectors.double().numpy()
    others = [(cosine(rows[own], row), i) for i, row in enumerate(rows) if i != own]
    return sorted(others, reverse=True)[:k]


@pytest.mark.parametrize("what", ["entity", "relation"])
def test_the_exact_search_agrees_with_the_definition(what):
    embeddings = some_embeddings()
    vectors = embeddings.entities if what == "entity" else embeddings.relations
    wanted = nearest(vectors, 5, 4)
    found = Neighbourhood(embeddings, what).near(f"{what[0]}5", k=4)
    assert found["near"].to_list() == [f"{what[0]}{i}" for _, i in wanted]
    assert found["cosine"].to_list() == pytest.approx([value for value, _ in wanted], abs=1e-6)
    assert found["rank"].to_list() == [1, 2, 3, 4]


def test_fewer_are_given_where_there_are_no_more():
    found = Neighbourhood(some_embeddings(num_relations=3), "relation").near("r0", k=10)
    assert sorted(found["near"]) == ["r1", "r2"]


def test_the_index_finds_nearly_all_of_them():
    pytest.importorskip("usearch")
    embeddings = some_embeddings(num_entities=2_000)
    exact, index = (Neighbourhood(embeddings, approximate=a) for a in (False, True))
    shared = 0
    for own in range(50):
        tables = [place.near(f"e{own}", k=10) for place in (exact, index)]
        shared += len(set(tables[0]["near"]) & set(tables[1]["near"]))
        assert f"e{own}" not in set(tables[1]["near"])
        assert tables[1]["cosine"].is_sorted(descending=True)
    assert shared >= 0.9 * 500
