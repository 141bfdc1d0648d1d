"""Sketches against a loop over facts, and what their products count."""

from collections import defaultdict

import numpy as np
import pytest
import torch
from hypothesis import given, settings

from ingram.models import InGram
from ingram.models.features import Features, LabelFeatures, RowFeatures
from ingram.relation_graph import implied_relations
from tests import oracle
from tests.strategies import graph_of, graphs, seeds
from tests.tiny import SKETCH, random_features, random_model, tiny_config, weights_of

EACH = SKETCH["sketch_width"] // SKETCH["sketch_parts"]


def blocks_of(weights, name, z):
    """Three blocks of numbers, one for each sign."""
    return np.split(np.repeat(oracle.linear(weights, name, z), EACH), 3)


def entity_by_hand(weights, graph, signs, codes, z):
    """(n, 3 widths) by a loop over the facts and their reverses."""
    facts = oracle.with_reverses(graph.triples, graph.num_relations)
    one = np.ones(SKETCH["sketch_width"])
    rows = []
    for v in range(graph.num_entities):
        into = [(x, k) for x, k, y in facts if y == v]
        row = [
            own * shown
            for own, shown in zip(weights["sketch.own"], (signs[v], one, signs[v]), strict=True)
        ]
        for x, k in into:
            said = (signs[x], codes[k], signs[x] * codes[k])
            for block, gate in enumerate(blocks_of(weights, "sketch.gate", z[k])):
                row[block] = row[block] + gate * said[block] / len(into) ** 0.5
        rows.append(np.concatenate(row) / EACH**0.5)
    return np.array(rows)


def confidences_by_hand(graph):
    """{(r, k): share of k's pairs that r joins too}, two at least."""
    pairs = defaultdict(set)
    for x, k, y in oracle.with_reverses(graph.triples, graph.num_relations):
        pairs[k].add((x, y))
    shared = {(r, k): len(pairs[r] & pairs[k]) for r in pairs for k in pairs if r != k}
    return {(r, k): s / (len(pairs[k]) + 5) for (r, k), s in shared.items() if s >= 2}


def relation_by_hand(weights, graph, codes, z):
    rows = []
    for r in range(2 * graph.num_relations):
        implied = np.zeros(codes.shape[1])
        for (other, k), confidence in confidences_by_hand(graph).items():
            implied += codes[k] * confidence * (other == r)
        asked = (np.ones(codes.shape[1]), codes[r], implied)
        query = blocks_of(weights, "sketch.query", z[r])
        rows.append(np.concatenate([q * a for q, a in zip(query, asked, strict=True)]))
    return np.array(rows)


@pytest.mark.parametrize("self_loop", ["mean-relation", "learned"])
@settings(max_examples=15)
@given(graph=graphs(max_entities=5), seed=seeds)
def test_a_sketch_is_as_by_hand(self_loop, graph, seed):
    model = random_model(tiny_config(self_loop=self_loop, **SKETCH), seed % 1000)
    features, edges = random_features(model, graph, draws=2), model.message_graph(graph)
    entities, relations = (t.detach().numpy() for t in model(edges, features))
    z = model.relation_states(edges.relations, features.relations).detach().numpy()
    assert entities.shape[2] == model.config.vector_width == relations.shape[2] == 4 + 3 * 6
    for s in range(2):
        signs, codes = features.entity_signs[s].numpy(), features.relation_signs[s].numpy()
        wanted = entity_by_hand(weights_of(model), graph, signs, codes, z[s])
        np.testing.assert_allclose(entities[s, :, 4:], wanted, rtol=1e-9, atol=1e-9)
        wanted = relation_by_hand(weights_of(model), graph, codes, z[s])
        np.testing.assert_allclose(relations[s, :, 4:], wanted, rtol=1e-9, atol=1e-9)


@given(graph=graphs(max_entities=5))
def test_implications_are_as_by_hand(graph):
    found = implied_relations(graph.triples, graph.num_entities, graph.num_relations)
    rows = [(int(r), int(k)) for r, k in zip(*found[:2], strict=True)]
    assert rows == sorted(rows)
    wanted = confidences_by_hand(graph)
    assert dict(zip(rows, found[2].tolist(), strict=True)) == pytest.approx(wanted)


def test_of_seven_pairs_a_relation_joins_six_both_ways():
    """Relation 0 joins 0-1, 2-3, 4-5 in both directions and 6 to 7 in one: 6 of 7 and 5 doubts."""
    both = [(0, 0, 1), (1, 0, 0), (2, 0, 3), (3, 0, 2), (4, 0, 5), (5, 0, 4)]
    graph = graph_of([*both, (6, 0, 7)], 8, 1)
    implied, implying, confidence = implied_relations(graph.triples, 8, 1)
    assert (implied.tolist(), implying.tolist()) == ([0, 1], [1, 0])
    assert confidence.tolist() == [6 / 12, 6 / 12]


def test_the_rest_of_a_vector_is_as_without_a_sketch():
    graph = graph_of([(0, 0, 1), (1, 1, 2), (3, 0, 2)], 4, 2)
    with_sketch, without = (random_model(tiny_config(**s)) for s in (SKETCH, {}))
    without.load_state_dict(
        {k: v for k, v in with_sketch.state_dict().items() if not k.startswith("sketch")}
    )
    features = random_features(with_sketch, graph)
    one, other = (m(m.message_graph(graph), features) for m in (with_sketch, without))
    for wide, narrow in zip(one, other, strict=True):
        assert torch.equal(wide[:, :, :4], narrow)


def counted(model, graph, draws=64):
    """An untrained model's sketches, of 256 signs and 64 draws: products (3, n, 2m, n) a block."""
    vectors = model.embed(graph, draws=draws, features="rows")
    tables = (vectors.entities, torch.cat([vectors.relations, vectors.inverses]))
    entities, relations = (
        t.double().view(len(t), draws, -1)[:, :, model.config.entity_width :] for t in tables
    )
    blocks = [t.unflatten(2, (3, -1)).transpose(1, 2).flatten(2) for t in (entities, relations)]
    return torch.einsum("abd,rbd,vbd->barv", blocks[0], blocks[1], blocks[0]).numpy() / draws


def plain_model(parts=1):
    """As a run begins, but for the gates and queries of neighbours, which are drawn: they are 1."""
    config = tiny_config(sketch_width=256, sketch_parts=parts, head_questions="inverse")
    model = InGram(config, seed=0)
    with torch.no_grad():
        for linear in (model.sketch.gate, model.sketch.query):
            linear.weight[:parts] = 0
            linear.bias[:parts] = 1
    return model


def test_many_draws_tell_a_neighbour_from_the_others():
    products = counted(plain_model(), graph_of([(0, 0, 1), (2, 0, 3)], 5, 1))[0]
    # Its own signs and its neighbour's, the same two for both: 2 in common.
    for one, other in ((0, 1), (2, 3)):
        assert products[one, 0, other] == pytest.approx(2, abs=0.05)
    for one, other in ((0, 2), (0, 3), (1, 2), (0, 4)):
        assert products[one, 0, other] == pytest.approx(0, abs=0.05)


@pytest.mark.parametrize("parts", [1, 16])
def test_a_model_that_learned_nothing_yet_counts_roles(parts):
    """Entity 3 is the tail of relation 0 four times and of relation 1 once: 4 / sqrt(5)."""
    facts = [*((x, 0, 3) for x in (0, 1, 2, 4)), (5, 1, 3), (5, 0, 6)]
    products = counted(plain_model(parts), graph_of(facts, 8, 2))[1]
    lone = 7  # it has no role, so that the other's alone count
    roles = products[lone]
    assert roles[0, 3] - roles[0, lone] == pytest.approx(4 / 5**0.5, abs=0.2)
    assert roles[1, 3] - roles[1, lone] == pytest.approx(1 / 5**0.5, abs=0.2)
    assert roles[0, 6] - roles[0, lone] == pytest.approx(1, abs=0.2)
    assert roles[0, 0] - roles[0, lone] == pytest.approx(0, abs=0.2)
    assert roles[2, 0] - roles[2, lone] == pytest.approx(1, abs=0.2)  # the inverse's tail: a head


@pytest.mark.parametrize("parts", [1, 16])
def test_a_model_that_learned_nothing_yet_finds_what_is_implied(parts):
    """Of 12 pairs that relation 0 joins, 11 are joined both ways; so the twelfth should be."""
    both = [(2 * i, 2 * i + 1) for i in range(11)]
    facts = [t for x, y in both for t in ((x, 0, y), (y, 0, x))]
    graph = graph_of([*facts, (22, 0, 23), (24, 1, 25)], 26, 2)
    products = counted(plain_model(parts), graph)[2] / parts
    confidence = 22 / (23 + 5)
    answers = products[23, 0]  # whom does 23 stand in relation 0 to?
    assert answers[22] == pytest.approx(confidence, abs=0.15)
    others = np.delete(answers, [22, 23])
    assert np.abs(others).max() < 0.25
    assert np.abs(products[25, 1]).max() == 0  # nothing implies relation 1


def test_what_is_implied_is_found_in_either_direction():
    """Relation 1 implies relation 0, and joins 22 to 23: DistMult cannot tell from which side."""
    facts = [t for i in range(11) for t in ((2 * i, 0, 2 * i + 1), (2 * i, 1, 2 * i + 1))]
    products = counted(plain_model(), graph_of([*facts, (22, 1, 23)], 24, 2))[2]
    for one, other in ((22, 23), (23, 22)):
        assert products[one, 0, other] == pytest.approx(11 / (12 + 5), abs=0.15)


@pytest.mark.parametrize("source", [LabelFeatures, RowFeatures])
def test_signs_are_signs_as_often_one_as_the_other_and_belong_to_the_draw(source):
    graph = graph_of([(i, 0, (i + 1) % 300) for i in range(300)], 300, 1)
    config = tiny_config(sketch_width=96, sketch_parts=3)
    signs = source(graph, config, 5).take(0, 3).entity_signs
    assert signs.shape == (3, 300, 96)
    assert set(signs.unique().tolist()) == {-1.0, 1.0}
    assert abs(signs.mean().item()) < 0.02
    draws = signs.flatten(1)
    assert (draws @ draws.T / draws.shape[1] - torch.eye(3)).abs().max() < 0.05
    of_entities = signs[0] @ signs[0].T / 96
    assert (of_entities - torch.eye(300)).abs().max() < 0.6
    assert of_entities.sub(torch.eye(300)).pow(2).mean().item() == pytest.approx(1 / 96, rel=0.1)
    again = source(graph, config, 5)
    assert torch.equal(again.take(0, 1).entity_signs[0], signs[0])
    assert torch.equal(again.take(1, 2).entity_signs, signs[1:])


@pytest.mark.parametrize("source", [LabelFeatures, RowFeatures])
def test_relations_and_their_inverses_have_signs_of_their_own(source):
    graph = graph_of([(0, r, 1) for r in range(40)], 2, 40)
    config = tiny_config(sketch_width=960, sketch_parts=3)
    signs = source(graph, config, 5).take(0, 2).relation_signs
    assert signs.shape == (2, 80, 960)
    assert set(signs.unique().tolist()) == {-1.0, 1.0}
    for draw in signs:
        assert (draw @ draw.T / 960 - torch.eye(80)).abs().max() < 0.2
    assert (signs[0] * signs[1]).mean().abs() < 0.02


def test_signs_of_a_label_stay_when_the_graph_grows():
    small, large = (graph_of([(i, 0, i + 1) for i in range(n)], n + 1, 1) for n in (3, 9))
    config = tiny_config(sketch_width=6, sketch_parts=2)
    few, many = (LabelFeatures(g, config, 1).take(0, 1) for g in (small, large))
    assert small.entities.labels.to_list() == large.entities.labels.to_list()[:4]
    assert torch.equal(few.entity_signs[0], many.entity_signs[0, :4])
    assert torch.equal(few.relation_signs, many.relation_signs)


def test_without_a_sketch_the_generator_is_left_alone():
    """The bits of a run without one do not depend on whether there could be one."""
    rng = np.random.default_rng(3)
    config = tiny_config()
    drawn = Features.draw(5, 2, config, rng, 2)
    again = np.random.default_rng(3)
    for s in range(2):
        for table in (drawn.relations, drawn.entities):
            wanted = again.standard_normal(table[s].shape, np.float32)
            wanted *= np.float32(2 / sum(table[s].shape) ** 0.5)
            np.testing.assert_array_equal(table[s], wanted)
