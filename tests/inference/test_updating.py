"""An update computes a part of the graph and gives what the whole would."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ingram.errors import EmbeddingsError
from ingram.graph import KnowledgeGraph
from ingram.inference.updating import update
from ingram.models.features import LabelFeatures
from tests.strategies import random_graph, seeds
from tests.tiny import SKETCH, random_model, tiny_config


def changed(graph, seed, lost, gained, new_relation):
    """Some facts gone, some new: between known entities, to new ones, of a new relation."""
    rng = np.random.default_rng(seed)
    rows = graph.decode(graph.triples).rows()
    gone = set(rng.permutation(len(rows))[:lost].tolist())
    kept = [row for i, row in enumerate(rows) if i not in gone]
    entities = [*graph.entities.labels, "novel a", "novel b"]
    relations = [*graph.relations.labels, *(["novel"] if new_relation else [])]
    drawn = [
        (str(rng.choice(entities)), str(rng.choice(relations)), str(rng.choice(entities)))
        for _ in range(gained)
    ]
    return KnowledgeGraph.from_labels(list(dict.fromkeys(kept + drawn)))


def embedded_anew(model, graph, old):
    """The whole graph, with the states and vectors of the relations it shares with the old one."""
    edges, m, before = model.message_graph(graph), graph.num_relations, old.graph.num_relations
    features, earlier = (
        LabelFeatures(g, model.config, old.made["seed"], old.made["sizes"])
        .take(0, old.made["draws"])
        .to(model.relation_score.weight)
        for g in (graph, old.graph)
    )
    shared = [
        (here + inverse * m, old.graph.relations.id(label) + inverse * before)
        for here, label in enumerate(graph.relations.labels)
        if label in set(old.graph.relations.labels)
        for inverse in (0, 1)
    ]
    with torch.no_grad():
        z = model.relation_states(edges.relations, features.relations)
        for here, there in shared:
            z[:, here] = old.basis.states[:, there]
        h = model.entity_vectors(edges.entities, features, z)
        kinds = model.relation_vectors(z, features, edges.implications)
        implied = model.message_graph(old.graph).implications
        known = model.relation_vectors(old.basis.states, earlier, implied)
        for here, there in shared:
            kinds[:, here] = known[:, there]
    return h.transpose(0, 1).flatten(1), kinds.transpose(0, 1).flatten(1)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"head_questions": "inverse", "sides": "apart", "readout": "all", **SKETCH},
        {"self_loop": "learned", **SKETCH},
    ],
)
@given(seed=seeds, lost=st.integers(0, 4), gained=st.integers(1, 4), new_relation=st.booleans())
def test_the_same_as_the_whole_graph_with_the_old_relations(
    settings, seed, lost, gained, new_relation
):
    before = random_graph(seed, 30, 3, 40)
    graph = changed(before, seed, lost, gained, new_relation)
    model = random_model(tiny_config(**settings))
    old = model.embed(before, seed=3, draws=2)
    found = update(model, graph, old)
    entities, relations = embedded_anew(model, graph, old)
    assert torch.allclose(found.embeddings.entities, entities, rtol=1e-9, atol=1e-12)
    kinds, inverses = relations.chunk(2)
    assert torch.allclose(found.embeddings.relations, kinds, rtol=1e-9, atol=1e-12)
    if model.config.head_questions == "inverse":
        assert torch.allclose(found.embeddings.inverses, inverses, rtol=1e-9, atol=1e-12)
    else:
        assert found.embeddings.inverses is None
    assert found.changed <= found.recomputed <= graph.num_entities
    again = update(model, graph, found.embeddings)
    assert (again.changed, again.recomputed, again.new_relations) == (0, 0, 0)
    assert torch.equal(again.embeddings.entities, found.embeddings.entities)


def test_far_from_a_change_nothing_is_computed():
    chain = [(f"e{i}", "next", f"e{i + 1}") for i in range(50)]
    before = KnowledgeGraph.from_labels(chain)
    graph = KnowledgeGraph.from_labels([*chain, ("e50", "next", "e51")])
    model = random_model(tiny_config())
    found = update(model, graph, model.embed(before))
    assert (found.changed, found.new_relations) == (2, 0)
    assert found.recomputed == 1 + model.config.entity_layers


def test_vectors_of_other_weights_or_drawn_by_rows_are_no_basis():
    graph = random_graph(0, 9, 3, 30)
    model = random_model(tiny_config())
    with pytest.raises(EmbeddingsError, match="embed anew"):
        update(model, graph, model.embed(graph, features="rows"))
    old = model.embed(graph)
    old.made["model"] = "another"
    with pytest.raises(EmbeddingsError, match="made by model another"):
        update(model, graph, old)
