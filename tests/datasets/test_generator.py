"""Algorithm 2: the set conditions of appendix A on random graphs, and its parts against oracles."""

from __future__ import annotations

import logging
import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ingram.datasets.generator import generate, mix
from ingram.datasets.presets import PRESETS, GeneratorConfig, preset
from ingram.datasets.sizes import SizeRange, Sizes
from ingram.errors import ConfigError, GeneratorError
from ingram.graph import KnowledgeGraph
from ingram.splits import three_way_split


def random_graph(seed: int, entities: int, relations: int, triples: int) -> KnowledgeGraph:
    """Mostly one component, with heads that prefer low ids, so that degrees differ."""
    rng = np.random.default_rng(seed)
    heads = (entities * rng.random(triples) ** 2).astype(int)
    tails = rng.integers(entities, size=triples)
    kinds = (relations * rng.random(triples) ** 1.5).astype(int)
    return KnowledgeGraph.from_labels(
        [(f"e{h}", f"r{r}", f"e{t}") for h, r, t in zip(heads, kinds, tails, strict=True)]
    )


def labelled(graph: KnowledgeGraph, triples=None) -> set[tuple[str, str, str]]:
    return set(graph.decode(graph.triples if triples is None else triples).iter_rows())


def entities_of(triples) -> set[str]:
    return {end for head, _, tail in triples for end in (head, tail)}


def relations_of(triples) -> set[str]:
    return {relation for _, relation, _ in triples}


def reachable(triples, start: str) -> set[str]:
    """A slow search, direction ignored."""
    beside: dict[str, set[str]] = {}
    for head, _, tail in triples:
        beside.setdefault(head, set()).add(tail)
        beside.setdefault(tail, set()).add(head)
    seen, open_ = {start}, [start]
    while open_:
        for other in beside[open_.pop()] - seen:
            seen.add(other)
            open_.append(other)
    return seen


configs = st.builds(
    GeneratorConfig,
    n_train=st.integers(1, 3),
    n_inference=st.integers(3, 12),
    p_rel=st.sampled_from([0.25, 0.4, 0.5]),
    p_tri=st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]),
    max_neighbours=st.integers(1, 4),
)
graphs = st.builds(
    random_graph,
    seed=st.integers(0, 10**6),
    entities=st.integers(60, 150),
    relations=st.integers(4, 10),
    triples=st.integers(500, 1_200),
)


@settings(max_examples=120, deadline=None)
@given(graphs, configs, st.integers(0, 100))
def test_generated_sets_satisfy_every_condition_of_appendix_a(graph, config, seed):
    try:
        made = generate(graph, config, seed=seed)
    except GeneratorError:
        assume(False)
    dataset, report = made.dataset, made.report
    source, train = labelled(graph), labelled(dataset.train)
    parts = [
        labelled(dataset.inference),
        labelled(dataset.inference, dataset.valid),
        labelled(dataset.inference, dataset.test),
    ]
    facts, whole = parts[0], parts[0] | parts[1] | parts[2]

    assert train <= source
    assert whole <= source
    assert not entities_of(train) & entities_of(whole)
    assert sum(map(len, parts)) == len(whole)  # pairwise disjoint
    # Both are whole components.
    assert reachable(train, next(iter(train))[0]) == entities_of(train)
    assert reachable(whole, next(iter(whole))[0]) == entities_of(whole)
    # E_tr is all there is between V_tr by R_tr.
    between = {t for t in source if {t[0], t[2]} <= entities_of(train)}
    assert train == {t for t in between if t[1] in relations_of(train)}

    new = {t for t in whole if t[1] not in relations_of(train)}
    assert relations_of(new) == relations_of(whole) - relations_of(train)
    assert report.new_relations == len(relations_of(new))
    assert math.isclose(report.final_share, len(new) / len(whole))
    if config.p_tri in (0, 1):
        assert report.final_share == config.p_tri
        near = {t for t in source if {t[0], t[2]} <= entities_of(whole)}
        assert whole == {t for t in near if t[1] in relations_of(whole)}
    assert abs(report.mixed_share * report.mixed - config.p_tri * report.mixed) <= 1

    assert entities_of(facts) == entities_of(whole)
    assert relations_of(facts) == relations_of(whole)
    assert 0 <= len(parts[1]) - len(parts[2]) <= 1
    if len(facts) == math.floor(0.6 * len(whole)):
        assert not any("facts wanted" in note for note in report.notes)
    else:
        assert len(facts) > math.floor(0.6 * len(whole))
        assert any("facts wanted" in note for note in report.notes)

    assert report.train == Sizes(len(entities_of(train)), len(relations_of(train)), len(train))
    assert report.inference == Sizes(len(entities_of(whole)), len(relations_of(whole)), len(whole))
    assert (report.facts, report.valid, report.test) == tuple(map(len, parts))


@pytest.fixture(scope="module")
def graph() -> KnowledgeGraph:
    return random_graph(7, 200, 12, 1_600)


CONFIG = GeneratorConfig(2, 10, 0.4, 0.5, max_neighbours=4)


def test_the_same_seed_gives_the_same_dataset_and_another_seed_another(graph):
    first, second, other = (generate(graph, CONFIG, seed=s) for s in (3, 3, 4))
    assert first.report == second.report
    for split in ("valid", "test"):
        assert first.dataset.split(split).tolist() == second.dataset.split(split).tolist()
    assert first.dataset.train.triples.tolist() == second.dataset.train.triples.tolist()
    assert labelled(first.dataset.train) != labelled(other.dataset.train)


def test_without_new_relations_all_relations_of_the_inference_graph_are_known(graph):
    made = generate(graph, GeneratorConfig(2, 10, 0, 0, max_neighbours=4), seed=1)
    assert made.report.final_share == 0
    assert made.dataset.known_relations.all()


def test_a_sparse_inference_graph_says_that_there_is_no_room_for_three_to_one_to_one(caplog):
    rng = np.random.default_rng(0)
    tree = [(f"e{rng.integers(i)}", f"r{i % 3}", f"e{i}") for i in range(1, 300)]
    extra = [(f"e{a}", "r0", f"e{b}") for a, b in rng.integers(300, size=(60, 2))]
    with caplog.at_level(logging.WARNING):
        made = generate(
            KnowledgeGraph.from_labels(tree + extra), GeneratorConfig(2, 30, 0, 0), seed=0
        )
    assert made.report.facts > 0.6 * made.report.inference.triples
    assert "facts wanted to be 60%" in made.report.notes[0]
    assert made.report.notes[0] in caplog.text


def test_a_three_way_split_with_room_warns_of_nothing(graph, caplog):
    facts, valid, test = three_way_split(graph, 0)
    assert facts.num_triples == math.floor(0.6 * graph.num_triples)
    assert abs(len(valid) - len(test)) <= 1
    assert not caplog.records


def test_seeds_are_tried_in_turn_until_all_sizes_suit(graph):
    sizes = [generate(graph, CONFIG, seed=s).report.train.triples for s in range(6)]
    largest = int(np.argmax(sizes))
    wanted = [SizeRange("train", "triples", low=max(sizes))]
    made = generate(graph, CONFIG, seed=0, seeds=6, wanted=wanted)
    assert (made.report.seed, made.report.train.triples) == (largest, max(sizes))


def test_if_no_seed_suits_the_error_names_the_nearest(graph):
    sizes = [generate(graph, CONFIG, seed=s).report.train.triples for s in range(4)]
    nearest = int(np.argmax(sizes))
    with pytest.raises(GeneratorError) as error:
        generate(graph, CONFIG, seeds=4, wanted=[SizeRange("train", "triples", low=10**6)])
    assert f"none of 4 seeds suits; the nearest is seed {nearest}: want" in str(error.value)
    assert f"{max(sizes):,}" in str(error.value)


def test_a_graph_too_small_is_refused_with_what_is_wanted(graph):
    with pytest.raises(GeneratorError, match="want 500 entities to sample for the training"):
        generate(graph, GeneratorConfig(500, 1, 0.4, 1))
    with pytest.raises(GeneratorError, match="for the inference graph, got"):
        generate(graph, GeneratorConfig(10, 190, 0.4, 1))
    one_relation = KnowledgeGraph.from_labels([("a", "r", "b"), ("b", "r", "c")])
    with pytest.raises(GeneratorError, match="at least 2 relations"):
        generate(one_relation, GeneratorConfig(1, 1, 0.5, 1))
    with pytest.raises(GeneratorError, match="without triples"):
        generate(one_relation.with_triples(np.empty((0, 3))), GeneratorConfig(1, 1, 0, 0))


@given(
    st.integers(0, 60),
    st.integers(0, 60),
    st.sampled_from([0, 0.1, 0.25, 0.3, 0.5, 2 / 3, 0.75, 1]),
)
def test_mixing_keeps_as_much_as_the_ratio_allows_to_within_one_triple(known, new, p_tri):
    old = np.stack([np.arange(known), np.zeros(known, int), np.arange(known)], 1)
    fresh = np.stack([np.arange(new), np.ones(new, int), np.arange(new)], 1)
    rng = np.random.default_rng(0)
    # The slow way: the largest total for which both parts suffice.
    fitting = [
        total
        for total in range(1, known + new + 1)
        if (1 - p_tri) * total <= known + 1e-9 and p_tri * total <= new + 1e-9
    ]
    if not fitting:
        with pytest.raises(GeneratorError, match="raise n_inference"):
            mix(old, fresh, p_tri, rng)
        return
    mixed = mix(old, fresh, p_tri, rng)
    assert len(mixed) == max(fitting)
    assert len(np.unique(mixed, axis=0)) == len(mixed)
    assert abs(mixed[:, 1].sum() - p_tri * len(mixed)) <= 0.5 + 1e-9


def test_presets_are_the_thirteen_columns_of_table_six():
    assert len(PRESETS) == 13
    assert preset("NL-75").config == GeneratorConfig(60, 50, 0.4, 0.75)
    assert preset("WK-100").config == GeneratorConfig(20, 250, 0.3, 1.0)
    assert preset("FB-25").config == GeneratorConfig(10, 50, 0.25, 0.25)
    assert preset("NL-0").config == GeneratorConfig(20, 80, 0.0, 0.0)
    for name, known in PRESETS.items():
        assert int(name.partition("-")[2]) / 100 == known.config.p_tri
    with pytest.raises(ConfigError, match="no preset 'FB-99'; known are NL-100, NL-75"):
        preset("FB-99")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ((0, 1, 0.4, 1), "n_train: want at least 1, got 0"),
        ((1, 1, 1.0, 1), "p_rel: want a share from 0 to below 1, got 1.0"),
        ((1, 1, float("nan"), 1), "p_rel"),
        ((1, 1, 0.4, 1.1), "p_tri: want a share from 0 to 1, got 1.1"),
        ((1, 1, 0.0, 0.5), "raise p_rel or set p_tri to 0"),
    ],
)
def test_settings_out_of_range_are_refused(values, message):
    with pytest.raises(ConfigError, match=message):
        GeneratorConfig(*values)
