"""How far vectors moved: what the tests of the verb cannot see."""

import pytest
import torch

from ingram.embeddings import Embeddings
from ingram.inference.drift import drift
from tests.strategies import random_graph

GRAPH = random_graph(0, 6, 2, 12)


def vectors(inverses):
    made = {"model": "a", "seed": 0, "draws": 1, "features": "labels"}
    generator = torch.Generator().manual_seed(0)
    entities, relations = (torch.randn(n, 3, generator=generator) for n in (6, 2))
    return Embeddings(entities, relations, GRAPH, made, None, inverses)


def test_relations_that_ask_otherwise_for_heads_have_moved():
    still = torch.ones(2, 3)
    turned = torch.tensor([[1.0, 1.0, 1.0], [-1.0, -1.0, -1.0]])
    found = drift(vectors(still), vectors(turned))
    first, second = found.relations.sort("label")["moved"].to_list()
    assert first == pytest.approx(0, abs=1e-9)
    both = torch.cat([vectors(still).relations[1], still[1]])
    other = torch.cat([vectors(still).relations[1], turned[1]])
    assert second == pytest.approx(1 - torch.cosine_similarity(both, other, dim=0).item(), abs=1e-6)
    assert found.kept == 1  # questions for tails are asked as before
    assert drift(vectors(None), vectors(turned)).relations["moved"].max() < 1e-9
