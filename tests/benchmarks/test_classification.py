"""Triples are told true from false by what was chosen on other triples."""

import json

import numpy as np
import pytest
from benchmarks.classification import Labelled, balanced, classify, main, most_right, thresholds
from tests.strategies import random_graph

from ingram.io.writing import write_triples


def drawn(seed: int, shift: tuple[float, float] = (0.0, 0.0)) -> Labelled:
    """Of two relations; true ones score one more than false ones, each relation from its level."""
    rng = np.random.default_rng(seed)
    relations, right = np.arange(400) % 2, np.arange(400) < 200
    scores = right + np.array(shift)[relations] + rng.uniform(-0.4, 0.4, 400)
    return Labelled(relations, scores, right, np.arange(400) >= 300)


def test_scores_that_part_the_true_from_the_false_are_all_called_right():
    found = classify(drawn(0), drawn(1))
    assert found["all"]["accuracy, one threshold"] == 1
    assert found["all"]["calibration error, isotonic"] < 0.03


def test_relations_of_different_levels_need_a_threshold_each():
    found = classify(drawn(0, (0, 5)), drawn(1, (0, 5)))["all"]
    assert found["accuracy, a threshold a relation"] == 1
    assert found["accuracy, one threshold"] < 0.8


def test_leaked_triples_are_left_out():
    found = classify(drawn(0), drawn(1))["without leaks"]
    assert (found["true"], found["false"]) == (200, 100)


def test_a_relation_with_little_to_choose_by_takes_the_common_threshold():
    few = drawn(0).of(np.arange(400) % 40 == 0)
    assert thresholds(few, 7.0) == {0: pytest.approx(0.5, abs=0.6)}
    assert thresholds(few.of(np.arange(10) < 9), 7.0) == {0: 7.0}


def test_a_threshold_calls_as_many_right_as_any_can():
    rng = np.random.default_rng(0)
    for _ in range(50):
        scores, right = rng.integers(0, 8, 20) * 1.0, rng.random(20) < rng.random()
        part = Labelled(np.zeros(20, np.int64), scores, right, right)
        best = max(((scores >= t) == right).sum() for t in np.arange(-0.5, 9))
        assert ((scores >= most_right(part)) == right).sum() == best


def test_accuracy_is_balanced():
    called = np.array([True, True, True, False])
    assert balanced(called, np.array([True, False, False, False])) == pytest.approx(2 / 3)


def test_a_folder_is_read_scored_and_marked(tmp_path, capsys):
    graph = random_graph(0, 20, 3, 120)
    parts = np.split(graph.triples, [80, 85, 90, 95])
    names = ["train", "valid", "valid_negatives", "test", "test_negatives"]
    for name, part in zip(names, parts, strict=True):
        write_triples(graph.decode(part), tmp_path / f"{name}.txt.gz")
    write_triples(graph.decode(parts[3][:2]), tmp_path / "seen.tsv")
    main("zero-shot", tmp_path, seen=tmp_path / "seen.tsv")
    found = json.loads(capsys.readouterr().out)
    assert (found["all"]["true"], found["all"]["false"]) == (5, len(parts[4]))
    assert found["without leaks"]["true"] == 3
