"""Planted rules hold, the rest is noise, and no predictor can beat the stated MRR."""

from __future__ import annotations

import re

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ingram.answers import KnownAnswers
from ingram.datasets.synthetic import (
    TRAIN,
    graph_groups,
    rules_of,
    synthesize,
    synthesize_graph,
    write_synthetic_folder,
    write_synthetic_graph,
)
from ingram.datasets.synthetic_draw import uniform_pairs
from ingram.datasets.synthetic_plan import KINDS, SyntheticConfig, plan
from ingram.errors import ConfigError, DatasetError
from ingram.evaluation import rank
from ingram.io import read_dataset, read_graph

ATOM = re.compile(r"([^();]+)\((\w), (\w)\)")


def deduced(triples: set[tuple[str, str, str]], rules: list[str]) -> set[tuple[str, str, str]]:
    """Everything that follows in one step, by reading the rules as text: slow and independent."""
    found = set()
    for rule in [r for text in rules for r in text.split(";") if "<-" in r]:
        head, *body = [
            (name.strip(" ,<-"), a, b) for name, a, b in ATOM.findall(rule.replace("<-", ""))
        ]
        bindings = [{}]
        for name, a, b in body:
            stated = [(h, t) for h, r, t in triples if r == name]
            bindings = [
                {**bound, a: h, b: t}
                for bound in bindings
                for h, t in stated
                if bound.get(a, h) == h and bound.get(b, t) == t
            ]
        found |= {(bound[head[1]], head[0], bound[head[2]]) for bound in bindings}
    return {t for t in found if t[0] != t[2]}


def labelled(graph, triples=None) -> set[tuple[str, str, str]]:
    return set(graph.decode(graph.triples if triples is None else triples).iter_rows())


configs = st.builds(
    SyntheticConfig,
    triples=st.integers(300, 500),
    entities=st.integers(40, 70),
    relations=st.integers(9, 14),
    noise=st.sampled_from([0.0, 0.05, 0.3]),
    held_out=st.sampled_from([0.2, 0.4, 0.7]),
    new_relations=st.sampled_from([0.0, 0.5, 1.0]),
)


@settings(max_examples=25, deadline=None)
@given(configs, st.integers(0, 1_000))
def test_the_graph_is_closed_under_its_rules_and_the_rest_is_noise(config, seed):
    made = synthesize(config, seed=seed)
    dataset, rules = made.dataset, made.report.rules
    facts = labelled(dataset.inference)
    held = labelled(dataset.inference, np.concatenate([dataset.valid, dataset.test]))
    for whole, of in ((labelled(dataset.train), "train"), (facts | held, "inference")):
        follows = deduced(whole, rules[of])
        assert follows <= whole
        assert config.triples - len(whole) in (0, 1)
        assert not any(head == tail for head, _, tail in whole)
        assert len({end for h, _, t in whole for end in (h, t)}) == config.entities
        assert len({r for _, r, _ in whole}) == config.relations
    # What is held out follows from the facts, but for the noise.
    unexplained = held - deduced(facts, rules["inference"])
    assert len(unexplained) == sum(best.noise for best in made.report.optimum.values())
    assert not facts & held
    assert len(held) == len(dataset.valid) + len(dataset.test)
    everyone = {end for h, _, t in facts for end in (h, t)}
    assert len(everyone) == config.entities
    assert {r for _, r, _ in facts} == set(dataset.inference.relations.labels)


def test_as_many_triples_are_noise_as_were_asked_for():
    config = SyntheticConfig(triples=1_001, entities=100, noise=0.2)
    groups = list(graph_groups(config, 0, TRAIN))
    assert sum(len(group.noise) for group in groups) == 200
    assert sum(len(group.all) for group in groups) == 1_001


def test_training_and_inference_graph_share_rules_but_neither_entities_nor_names():
    config = SyntheticConfig(triples=400, entities=50)
    made = synthesize(config)
    entities = [set(g.entities.labels) for g in (made.dataset.train, made.dataset.inference)]
    relations = [set(g.relations.labels) for g in (made.dataset.train, made.dataset.inference)]
    assert not entities[0] & entities[1]
    assert not relations[0] & relations[1]
    assert [r.replace("new ", "") for r in made.report.rules["inference"]] == made.report.rules[
        "train"
    ]
    known = synthesize(SyntheticConfig(triples=400, entities=50, new_relations=0)).dataset
    assert known.known_relations.all()
    half = synthesize(SyntheticConfig(triples=400, entities=50, new_relations=0.5)).dataset
    assert 0 < half.known_relations.sum() < len(half.known_relations)


def test_relations_left_over_follow_no_rule():
    config = SyntheticConfig(triples=400, entities=50, relations=7, rules=("composition",))
    assert [group.kind for group in plan(config)] == ["composition", "composition", "plain"]
    assert rules_of(config)["train"][-1] == "plain 1: facts follows no rule"


def test_the_same_seed_gives_the_same_graph_and_another_seed_another():
    config = SyntheticConfig(triples=400, entities=50)
    first, second, other = (synthesize_graph(config, seed=s) for s in (1, 1, 2))
    assert first.triples.tolist() == second.triples.tolist()
    assert first.triples.tolist() != other.triples.tolist()


class Deducer:
    """Ranks what follows first, then everything else in an order of its own, loops last."""

    def __init__(self, dataset, rules, seed: int) -> None:
        graph = dataset.inference
        self.rng = np.random.default_rng(seed)
        self.size = graph.num_entities
        self.answers = {"tail": {}, "head": {}}
        for h, r, t in deduced(labelled(graph), rules):
            h, r, t = graph.entities.id(h), graph.relations.id(r), graph.entities.id(t)
            self.answers["tail"].setdefault((h, r), []).append(t)
            self.answers["head"].setdefault((t, r), []).append(h)

    def candidate_scores(self, anchors, relations, side):
        scores = self.rng.random((len(anchors), self.size)).astype(np.float32)
        for row, (anchor, relation) in enumerate(zip(anchors, relations, strict=True)):
            scores[row, int(anchor)] = -1
            scores[row, self.answers[side].get((int(anchor), int(relation)), [])] += 2
        return torch.from_numpy(scores)


def test_a_predictor_that_knows_the_rules_reaches_the_stated_mrr():
    config = SyntheticConfig(triples=500, entities=50, noise=0.3)
    gaps = []
    for seed in range(30):
        made = synthesize(config, seed=seed)
        data = made.dataset
        ranks = rank(
            Deducer(data, made.report.rules["inference"], seed),
            data.test,
            KnownAnswers.of(data),
            data.inference.num_entities,
        )
        best = made.report.optimum["test"]
        gaps.append((1 / (1 + ranks["higher"])).mean() - best.mrr)
        assert 0.3 < best.mrr < 0.9
    error = np.std(gaps) / np.sqrt(len(gaps))
    assert abs(np.mean(gaps)) < 3.5 * error < 0.02


def test_without_noise_the_best_mrr_is_one():
    made = synthesize(SyntheticConfig(triples=400, entities=50, noise=0))
    assert {best.mrr for best in made.report.optimum.values()} == {1.0}


def test_noise_pairs_are_a_uniform_set_of_those_not_taken():
    rng, counts = np.random.default_rng(0), np.zeros(16)
    taken = np.array([1, 6, 10])  # the last is a loop
    for _ in range(3_000):
        pairs = uniform_pairs(4, 4, taken, rng)
        assert len(set(pairs.tolist())) == 4
        counts[pairs] += 1
    allowed = [p for p in range(16) if p % 5 and p not in (1, 6)]
    assert counts.sum() == counts[allowed].sum()
    # 1,200 expected of each of the ten, standard deviation 26.8
    assert (abs(counts[allowed] - 1_200) < 120).all()


def test_what_is_written_a_group_at_a_time_is_what_is_made_in_memory(tmp_path):
    config = SyntheticConfig(triples=400, entities=50)
    report = write_synthetic_folder(config, tmp_path / "set", seed=5)
    made, read = synthesize(config, seed=5), read_dataset(tmp_path / "set")
    assert report == made.report
    assert labelled(read.train) == labelled(made.dataset.train)
    assert labelled(read.inference) == labelled(made.dataset.inference)
    for split in ("valid", "test"):
        assert labelled(read.inference, read.split(split)) == labelled(
            made.dataset.inference, made.dataset.split(split)
        )
    assert write_synthetic_graph(config, tmp_path / "graph.tsv", seed=5) == 400
    assert labelled(read_graph(tmp_path / "graph.tsv")) == labelled(made.dataset.train)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["graph.tsv", "set"]


def test_a_graph_that_cannot_be_written_is_one_clear_line(tmp_path):
    with pytest.raises(DatasetError, match="cannot be written: No such file"):
        write_synthetic_graph(SyntheticConfig(), tmp_path / "no" / "graph.tsv")


@pytest.mark.parametrize(
    ("settings_", "message"),
    [
        (
            {"rules": ()},
            "rules: want some of composition, inversion, symmetry, hierarchy, got none",
        ),
        ({"rules": ("magic",)}, "got 'magic'"),
        ({"noise": 1.5}, "noise: want a share from 0 to 0.9, got 1.5"),
        ({"rules": ("symmetry",), "relations": 1}, "set noise to 0 or add one"),
        ({"triples": 0}, "triples: want at least 1, got 0"),
        ({"entities": 3}, "entities: want at least 4, got 3"),
    ],
)
def test_settings_out_of_range_are_refused(settings_, message):
    with pytest.raises(ConfigError, match=re.escape(message)):
        SyntheticConfig(**settings_)


@pytest.mark.parametrize(
    ("settings_", "message"),
    [
        ({"relations": 8}, "relations: want at least 9 for composition, inversion, symmetry"),
        ({"triples": 10_000, "entities": 30}, "do not fit 30 entities; want more entities"),
        ({"triples": 100, "entities": 90}, "want more triples or fewer entities"),
        ({"triples": 6, "entities": 4}, "6 triples leave none for"),
    ],
)
def test_graphs_that_cannot_be_are_refused(settings_, message):
    with pytest.raises(ConfigError, match=re.escape(message)):
        plan(SyntheticConfig(**settings_))


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_rule_can_stand_alone(kind):
    noise = 0.0 if kind == "symmetry" else 0.1
    config = SyntheticConfig(triples=401, entities=60, relations=6, rules=(kind,), noise=noise)
    graph = synthesize_graph(config)
    assert deduced(labelled(graph), rules_of(config)["train"]) <= labelled(graph)
    assert graph.num_triples in (400, 401)
