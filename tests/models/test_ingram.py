import numpy as np
import pytest
import torch

from ingram.errors import DivergedError, RunError
from ingram.io.tensors import read_tensors, write_tensors
from ingram.models import InGram, ModelConfig, base, ingram
from ingram.models.features import Features, RowFeatures
from ingram.models.ingram import MessageGraph
from ingram.relation_graph import relation_edges_by_side
from tests.strategies import graph_of, random_graph
from tests.tiny import SKETCH, random_features, random_model, tiny_config

GRAPH = random_graph(0, 9, 3, 30)


@pytest.fixture
def model():
    return InGram(tiny_config(), seed=1)


def test_features_are_glorot_normal_on_the_whole_table():
    config = ModelConfig()
    features = Features.draw(400, 50, config, np.random.default_rng(0), draws=20)
    assert features.relations.shape == (20, 100, 32)
    assert features.entities.shape == (20, 400, 32)
    assert features.relations.std().item() == pytest.approx((2 * 2 / 132) ** 0.5, rel=0.01)
    assert features.entities.std().item() == pytest.approx((2 * 2 / 432) ** 0.5, rel=0.01)


def test_features_follow_their_generator():
    config = tiny_config()
    one, same, other = (
        Features.draw(5, 2, config, np.random.default_rng(seed)) for seed in (0, 0, 1)
    )
    assert torch.equal(one.entities, same.entities)
    assert torch.equal(one.relations, same.relations)
    assert not torch.equal(one.entities, other.entities)


def test_weights_follow_the_seed_and_leave_the_global_generator_alone():
    torch.manual_seed(5)
    before = torch.random.get_rng_state()
    one, same, other = (InGram(tiny_config(), seed=seed) for seed in (1, 1, 2))
    assert torch.equal(torch.random.get_rng_state(), before)
    for a, b in zip(one.parameters(), same.parameters(), strict=True):
        assert torch.equal(a, b)
    assert not torch.equal(one.relation_input.weight, other.relation_input.weight)


def test_a_model_holds_parameters_and_nothing_else(model):
    assert not list(model.buffers())
    shapes = {name: tuple(p.shape) for name, p in model.named_parameters()}
    assert shapes["relation_input.weight"] == (6, 3)  # H
    assert shapes["entity_input.weight"] == (8, 4)  # H-hat
    assert shapes["relation_layers.0.attend.weight"] == (6, 12)  # P
    assert shapes["relation_layers.0.value.weight"] == (6, 6)  # W
    assert shapes["entity_layers.1.attend.weight"] == (8, 22)  # P-hat
    assert shapes["entity_layers.1.value.weight"] == (8, 14)  # W-hat
    assert shapes["relation_output.weight"] == (3, 6)  # M
    assert shapes["entity_output.weight"] == (4, 8)  # M-hat
    assert InGram(tiny_config(readout="all")).entity_output.weight.shape == (4, 2 * 8)
    assert shapes["relation_score.weight"] == (4, 3)  # W-bar


def test_one_model_embeds_graphs_of_any_size(model):
    for graph in (
        GRAPH,
        random_graph(1, 30, 7, 90),
        graph_of([], 2, 1),
        graph_of([(0, 0, 0)], 1, 1),
    ):
        found = model.embed(graph, draws=2)
        assert found.entities.shape == (graph.num_entities, 8)
        assert found.relations.shape == (graph.num_relations, 8)
        assert found.graph is graph


def test_embeddings_follow_the_seed(model):
    one, same, other = (model.embed(GRAPH, seed=seed, draws=2) for seed in (3, 3, 4))
    assert torch.equal(one.entities, same.entities)
    assert torch.equal(one.relations, same.relations)
    assert not torch.equal(one.entities, other.entities)
    assert one.made == {
        "model": None,
        "seed": 3,
        "draws": 2,
        "features": "labels",
        "sizes": [9, 3],
        "loops": "any",
    }


def test_the_score_of_draws_together_is_the_sum_of_their_scores():
    model = random_model(tiny_config())
    rng = np.random.default_rng(7)
    features = Features.draw(9, 3, model.config, rng, draws=3).to(model.relation_score.weight)
    h, z = model(model.message_graph(GRAPH), features)
    triples = torch.from_numpy(GRAPH.triples.copy())
    heads, kinds, tails = triples.T
    wanted = sum((h[s, heads] * z[s, kinds] * h[s, tails]).sum(-1) for s in range(3))
    found = model.embed(GRAPH, seed=7, draws=3, features="rows").score(GRAPH.triples)
    torch.testing.assert_close(found, wanted.detach())


def test_a_double_model_works_in_double_throughout():
    model = random_model(tiny_config())
    embeddings = model.embed(GRAPH, draws=2)
    assert embeddings.entities.dtype == torch.float64
    assert embeddings.score(GRAPH.triples).dtype == torch.float64
    entities, relations = model(model.message_graph(GRAPH), random_features(model, GRAPH))
    assert entities.dtype == relations.dtype == torch.float64


@pytest.mark.parametrize(
    "switch",
    [{}, {"aggregator": "sum"}, {"self_loop": "learned"}, {"relation_update": False}, SKETCH],
    ids=str,
)
def test_nothing_in_the_model_names_a_device(switch):
    """On the ``meta`` device any tensor made elsewhere is an error."""
    config = tiny_config(**switch)
    model = InGram(config).to("meta")
    edges = model.message_graph(GRAPH)
    features = Features.draw(9, 3, config, np.random.default_rng(0), 2).to(
        model.relation_score.weight
    )
    entities, relations = model(edges, features)
    assert entities.device.type == relations.device.type == "meta"
    assert entities.shape == (2, 9, config.vector_width)
    assert relations.shape == (2, 6, config.vector_width)
    (entities.sum() + relations.sum()).backward()
    assert model.relation_input.weight.grad.device.type == "meta"
    assert model.entity_input.weight.grad.device.type == "meta"


def test_the_whole_model_compiles_without_a_break():
    model = random_model(tiny_config(**SKETCH))
    edges, features = model.message_graph(GRAPH), random_features(model, GRAPH)
    compiled = torch.compile(model, fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(compiled(edges, features), model(edges, features))


def test_diverged_weights_give_no_embeddings(model):
    with torch.no_grad():
        model.entity_output.weight[0, 0] = torch.nan
    with pytest.raises(DivergedError, match="entity vectors hold NaN"):
        model.embed(GRAPH)


def test_a_saved_model_comes_back_whole(model, tmp_path):
    path = tmp_path / "model.safetensors"
    model.save(path, {"valid": {"mrr": 0.5}})
    assert [p.name for p in tmp_path.iterdir()] == ["model.safetensors"]
    for source in (path, tmp_path, str(path)):
        loaded = InGram.load(source)
        assert loaded.config == model.config
        assert loaded.origin == model.origin
        assert loaded.origin["valid"] == {"mrr": 0.5}
        one, other = model.embed(GRAPH), loaded.embed(GRAPH)
        assert torch.equal(one.entities, other.entities)
        assert torch.equal(one.relations, other.relations)
        assert other.made["model"] == model.origin["id"]


def test_a_models_id_is_that_of_its_weights(model, tmp_path):
    model.save(tmp_path / "one.safetensors", {})
    first = model.origin["id"]
    model.save(tmp_path / "two.safetensors", {"other": "origin"})
    assert model.origin["id"] == first
    with torch.no_grad():
        model.relation_score.bias[0] += 1
    model.save(tmp_path / "three.safetensors", {})
    assert model.origin["id"] != first


def rewrite(path, *, tensors=None, **changes):
    found, about = read_tensors(path, base.FORMAT)
    write_tensors(path, tensors or found, about | changes)


def test_files_that_are_no_model_are_refused_by_name(model, tmp_path):
    path = tmp_path / "model.safetensors"
    with pytest.raises(RunError, match=r"model\.safetensors: no such file"):
        InGram.load(path)
    path.write_text("hello")
    with pytest.raises(RunError, match=r"model\.safetensors: want a safetensors file"):
        InGram.load(path)
    model.save(path, {})
    whole = path.read_bytes()
    for cut in (0, 7, 100, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:cut])
        with pytest.raises(RunError, match=r"model\.safetensors: want a safetensors file"):
            InGram.load(path)


def test_a_model_of_another_format_or_shape_is_refused(model, tmp_path):
    path = tmp_path / "model.safetensors"

    def refused(match, **changes):
        model.save(path, {})
        rewrite(path, **changes)
        with pytest.raises(RunError, match=match):
            InGram.load(path)

    refused("want format 'ingram-model-1', got 'other'", format="other")
    refused("its description cannot be read", config=[])
    refused("its description cannot be read", config={"bins": 0})
    refused("its description cannot be read", origin=3)
    tensors = dict(model.named_parameters())
    fewer = {k: p.detach() for k, p in tensors.items() if k != "entity_output.bias"}
    refused("holds no tensor 'entity_output.bias'", tensors=fewer)
    wrong = {k: p.detach() for k, p in tensors.items()} | {"entity_output.bias": torch.zeros(9)}
    refused(r"entity_output.bias wants shape \(4,\), got \(9,\)", tensors=wrong)


def test_message_graphs_hold_the_reverses_and_the_learned_loops():
    config = tiny_config(self_loop="learned")
    found = MessageGraph.of(GRAPH.triples, 9, 3, config)
    assert found.entities.num_edges == 2 * GRAPH.num_triples + 9
    assert found.entities.kinds.max() == 6
    assert found.relations.num_nodes == 6
    assert MessageGraph.of(GRAPH.triples, 9, 3, tiny_config()).entities.num_edges == (
        2 * GRAPH.num_triples
    )


def test_draws_beyond_the_memory_budget_are_embedded_in_turns_with_the_same_result(
    model, monkeypatch
):
    passes = []
    original = InGram.entity_blocks
    monkeypatch.setattr(
        InGram,
        "entity_blocks",
        lambda self, edges, x, z: passes.append(len(x.entities)) or original(self, edges, x, z),
    )
    whole = model.embed(GRAPH, draws=5)
    monkeypatch.setattr(ingram, "DRAWS_BUDGET", 2 * 6 * 4 * 8 * 9)
    found = model.embed(GRAPH, draws=5)
    assert passes == [5, 2, 2, 1]
    torch.testing.assert_close(found.entities, whole.entities)
    torch.testing.assert_close(found.relations, whole.relations)


def test_the_first_draws_are_the_same_however_many_follow(model):
    few, many = model.embed(GRAPH, seed=2, draws=2), model.embed(GRAPH, seed=2, draws=5)
    torch.testing.assert_close(many.entities[:, : few.width], few.entities)
    torch.testing.assert_close(many.relations[:, : few.width], few.relations)


def test_sides_apart_are_neighbours_of_two_kinds():
    apart = InGram(tiny_config(sides="apart")).message_graph(GRAPH).relations
    rows, cols, kinds = relation_edges_by_side(
        GRAPH.triples, GRAPH.num_entities, GRAPH.num_relations, 3
    )
    ends = np.repeat(np.arange(apart.num_nodes), np.diff(apart.pointers.numpy()))
    found = zip(ends.tolist(), apart.sources.tolist(), apart.kinds.tolist(), strict=True)
    assert sorted(found) == sorted(zip(rows.tolist(), cols.tolist(), kinds.tolist(), strict=True))
    assert InGram(tiny_config(sides="apart")).relation_layers[0].bins.shape == (6, 3)


@pytest.mark.parametrize("heads", ["relation", "inverse"])
def test_heads_are_asked_for_with_the_vectors_of_inverse_relations_if_wanted(heads):
    model = random_model(tiny_config(head_questions=heads))
    found = model.embed(GRAPH, seed=[1], draws=2, features="rows")
    drawn = RowFeatures(GRAPH, model.config, [1]).take(0, 2).to(model.relation_score.weight)
    with torch.no_grad():
        _, kinds = model(model.message_graph(GRAPH), drawn)
    table = kinds.transpose(0, 1).flatten(1)
    torch.testing.assert_close(found.relations, table[: GRAPH.num_relations])
    if heads == "relation":
        assert found.inverses is None
    else:
        torch.testing.assert_close(found.inverses, table[GRAPH.num_relations :])
