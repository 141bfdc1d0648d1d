"""Every fault planted by hand is found, counted and named; a sound dataset has none."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingram.datasets.checks import KINDS, check, ensure_sound, fatal
from ingram.datasets.leaks import CONSISTENT, SUPPORT, giveaways
from ingram.errors import ConfigError, DatasetError
from ingram.graph import Dataset, KnowledgeGraph, Repeats
from ingram.labels import label_frame

TRAIN = [("a", "r", "b"), ("b", "s", "c")]
FACTS = [("u", "r", "v"), ("v", "q", "w"), ("w", "r", "u"), ("x", "q", "u")]
VALID = [("u", "q", "w")]
TEST = [("v", "r", "x"), ("w", "q", "x"), ("x", "r", "w")]


def dataset(train=TRAIN, facts=FACTS, valid=VALID, test=TEST, *, inductive=True) -> Dataset:
    frames = label_frame(valid), label_frame(test)
    graph = KnowledgeGraph.from_labels(label_frame(facts), *frames)
    held_out = [graph.encode(frame) for frame in frames]
    training = KnowledgeGraph.from_labels(label_frame(train))
    return Dataset("planted", training, graph, *held_out, inductive=inductive)


def found(**parts):
    return {f.kind: f for f in check(dataset(**parts))}


def test_a_sound_dataset_has_no_findings():
    assert check(dataset()) == []
    assert ensure_sound(dataset()) == []


def test_shared_entities_are_an_error_of_an_inductive_set_only():
    train = [*TRAIN, ("u", "r", "a"), ("c", "r", "w")]
    finding = found(train=train)["shared-entities"]
    assert (finding.severity, finding.count) == ("error", 2)
    assert finding.examples == (("u",), ("w",))
    assert found(train=train, inductive=False) == {}


def test_held_out_triples_of_the_training_graph_are_errors():
    kinds = found(train=[*TRAIN, TEST[0], TEST[2], VALID[0], ("v", "r", "w")])
    assert kinds["test-in-training"].count == 2
    assert kinds["test-in-training"].examples == (TEST[0], TEST[2])
    assert kinds["valid-in-training"].count == 1
    assert {kinds[k].severity for k in kinds} == {"error"}


def test_test_triples_among_the_facts_are_an_error():
    kinds = found(facts=[*FACTS, TEST[1]])
    assert list(kinds) == ["test-among-facts"]
    assert kinds["test-among-facts"].severity == "error"
    assert kinds["test-among-facts"].examples == (TEST[1],)


def test_validation_triples_among_the_facts_are_an_error():
    kinds = found(valid=[*VALID, FACTS[0], FACTS[1]])
    assert (kinds["valid-among-facts"].severity, kinds["valid-among-facts"].count) == ("error", 2)


def test_triples_for_both_validation_and_test_are_an_error():
    finding = found(valid=[*VALID, TEST[0]])["valid-in-test"]
    assert (finding.severity, finding.count, finding.examples) == ("error", 1, (TEST[0],))


def test_labels_that_no_fact_has_are_warnings():
    kinds = found(valid=[("u", "q", "stranger")], test=[*TEST, ("new", "odd", "stranger")])
    assert kinds["unknown-entities"].examples == (("stranger",), ("new",))
    assert kinds["unknown-relations"].examples == (("odd",),)
    assert {f.severity for f in kinds.values()} == {"warning"}


def test_a_reversed_test_triple_under_its_own_relation_is_shown_with_the_fact():
    finding = found(facts=[*FACTS, ("x", "r", "v")])["inverse-leak"]
    assert finding.count == 1
    assert finding.examples == (("v", "r", "x", "x", "r", "v"),)
    assert finding.severity == "warning"


def test_a_loop_is_not_its_own_leak():
    assert "inverse-leak" not in found(
        facts=[*FACTS, ("v", "q", "v")], test=[*TEST, ("v", "r", "v")]
    )


PAIRS = [(f"h{i}", f"t{i}") for i in range(5)]


def planted(name: str, *, agreeing: int, reverse: bool):
    """``likes`` holds five pairs, of which one is asked; ``name`` states ``agreeing`` of them."""
    facts = [(h, "likes", t) for h, t in PAIRS[1:]]
    facts += [(t, name, h) if reverse else (h, name, t) for h, t in PAIRS[:agreeing]]
    facts += [(h, "other", "hub") for h, _ in PAIRS] + [("hub", "more", t) for _, t in PAIRS]
    test = [("h0", "likes", "t0"), ("h1", "other", "h2"), ("t1", "more", "t2")]
    return found(facts=facts, valid=[("hub", "other", "t3")], test=test)


@pytest.mark.parametrize(
    ("kind", "reverse"), [("inverse-leak", True), ("duplicate-relation-leak", False)]
)
def test_relations_leak_if_four_pairs_of_five_agree(kind, reverse):
    finding = planted("copy", agreeing=4, reverse=reverse)[kind]
    fact = ("t0", "copy", "h0") if reverse else ("h0", "copy", "t0")
    assert (finding.count, finding.examples) == (1, (("h0", "likes", "t0", *fact),))
    assert planted("copy", agreeing=3, reverse=reverse) == {}


def test_a_leak_of_more_than_three_quarters_of_the_test_triples_is_an_error():
    two, three = [*FACTS, ("x", "r", "v"), ("x", "q", "w")], [("w", "r", "x")]
    finding = found(facts=two)["inverse-leak"]
    assert (finding.severity, finding.count) == ("warning", 2)
    assert "(66.7% of the test triples)" in finding.meaning
    assert found(facts=[*two, *three])["inverse-leak"].severity == "error"


def test_repeated_triples_are_a_warning():
    repeats = (Repeats("train", 2, (TRAIN[0],)), Repeats("test", 1, (TEST[0],)))
    (finding,) = check(replace(dataset(), repeats=repeats))
    assert (finding.kind, finding.severity, finding.count) == ("duplicates", "warning", 3)
    assert finding.examples == (TRAIN[0], TEST[0])


def test_a_graph_without_held_out_triples_is_checked():
    empty = np.empty((0, 3), dtype=np.int64)
    assert check(replace(dataset(), valid=empty, test=empty)) == []


def test_errors_come_first_and_the_first_is_the_message():
    bad = dataset(facts=[*FACTS, TEST[1]], valid=[("u", "q", "stranger")])
    assert [f.severity for f in check(bad)] == ["error", "warning"]
    with pytest.raises(DatasetError, match=r"^planted: test-among-facts: 1 found.*'w q x'"):
        ensure_sound(bad)


def test_an_allowed_error_passes_and_is_still_reported():
    bad = dataset(facts=[*FACTS, TEST[1]])
    assert [f.kind for f in ensure_sound(bad, allow=["test-among-facts"])] == ["test-among-facts"]
    assert len(ensure_sound(bad, allow=KINDS)) == 1
    with pytest.raises(DatasetError):
        ensure_sound(bad, allow=["inverse-leak"])


def test_an_unknown_kind_is_refused():
    with pytest.raises(ConfigError, match="no check 'leeks'; known are shared-entities"):
        fatal([], ["leeks"])


def slow_giveaways(facts, targets, others, *, reverse):
    """The definition, pair by pair."""
    every = {tuple(t) for part in (facts, targets, others) for t in part.tolist()}
    pairs: dict[int, set[tuple[int, int]]] = {}
    for h, r, t in every:
        pairs.setdefault(r, set()).add((h, t))

    def answers(asked: int, stated: int) -> bool:
        if asked == stated:
            return reverse
        theirs = {(t, h) if reverse else (h, t) for h, t in pairs[stated]}
        common = len(pairs[asked] & theirs)
        return common >= max(SUPPORT, CONSISTENT * max(len(pairs[asked]), len(theirs)))

    def gives(h: int, r: int, t: int) -> bool:
        want = (t, h) if reverse else (h, t)
        return any((a, c) == want and answers(r, b) for a, b, c in facts.tolist())

    return [gives(h, r, t) and not (reverse and h == t) for h, r, t in targets.tolist()]


@st.composite
def three_parts(draw):
    """Triples over few pairs, with a twin and an inverse of relation 0 that agree more or less."""
    size = draw(st.integers(3, 9))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    base = rng.integers(0, size, (draw(st.integers(3, 25)), 2))
    rows = [(h, 0, t) for h, t in base]
    rows += [(h, 1, t) for h, t in base if rng.random() < 0.95]
    rows += [(t, 2, h) for h, t in base if rng.random() < 0.95]
    rows += [(*rng.integers(0, (size, 3)), rng.integers(size)) for _ in range(rng.integers(0, 4))]
    triples = np.unique(np.array(rows, dtype=np.int64), axis=0)
    triples = triples[rng.permutation(len(triples))]
    cuts = np.sort(rng.integers(0, len(triples) + 1, 2))
    return size, *np.split(triples, cuts)


@settings(max_examples=150, deadline=None)
@given(three_parts(), st.booleans())
def test_giveaways_are_those_of_the_definition(parts, reverse):
    size, facts, targets, others = parts
    fast = giveaways(facts, targets, others, size, 3, reverse=reverse)
    assert (fast >= 0).tolist() == slow_giveaways(facts, targets, others, reverse=reverse)
    for (h, _, t), row in zip(targets[fast >= 0], fast[fast >= 0], strict=True):
        assert tuple(facts[row][[0, 2]]) == ((t, h) if reverse else (h, t))
