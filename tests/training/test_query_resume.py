"""Runs of the query-conditioned model stop and resume exactly, and only on the same graphs."""

from dataclasses import replace

import numpy as np
import pytest

from ingram.errors import RunError
from ingram.graph import KnowledgeGraph
from ingram.models import InGramQ
from ingram.training import train, validation
from ingram.training.checkpoints import RunDirectory
from ingram.training.loop import resume_config
from ingram.training.sources import Source
from tests.strategies import random_graph
from tests.tiny import tiny_dataset, tiny_query_config
from tests.training.runs import DATASET, Interrupt, traces

OTHER = replace(tiny_dataset(seed=7), name="other")
GRAPHS = [Source("one", random_graph(3, 20, 4, 120)), Source("two", random_graph(4, 9, 2, 40))]
START = InGramQ(tiny_query_config().model, seed=9)
WAYS = {
    "plain": ({}, {}),
    "whole graph": ({"tasks__cut": False}, {}),
    "averaging": ({"training__averaging": 0.9}, {}),
    "several datasets": ({"training__averaging": 0.5}, {"datasets": [DATASET, OTHER]}),
    "pretrain": ({}, {"graphs": GRAPHS, "datasets": [DATASET, OTHER]}),
    "from weights": ({"training__averaging": 0.9}, {"start": START}),
}


def run_in(path, config, **arguments):
    datasets = arguments.pop("datasets", DATASET)
    return train(datasets, config, RunDirectory(path), **arguments)


def resumed(path, **arguments):
    arguments.pop("start", None)  # it was given when the run began
    config = resume_config(RunDirectory(path), None)
    return run_in(path, config, resume=True, **arguments)


@pytest.mark.parametrize("way", WAYS)
def test_an_interrupted_run_resumes_exactly(way, tmp_path):
    changes, arguments = WAYS[way]
    config = tiny_query_config("pretrain" if way == "pretrain" else "ingram-q", **changes)
    assert run_in(tmp_path / "straight", config, **arguments).stopped == "finished"
    wanted = traces(tmp_path / "straight")
    for epoch in (1, 4):
        path = tmp_path / str(epoch)
        outcome = run_in(path, config, listener=Interrupt(epoch), **arguments)
        assert (outcome.stopped, outcome.epoch) == ("interrupted", epoch)
        assert resumed(path, **arguments).stopped == "finished"
        assert traces(path) == wanted


def test_a_run_that_is_out_of_time_after_every_epoch_resumes_exactly(tmp_path):
    config = tiny_query_config(training__averaging=0.9)
    run_in(tmp_path / "straight", config)
    run_in(tmp_path / "run", config, minutes=0)
    for epoch in range(2, 7):
        outcome = resumed(tmp_path / "run", minutes=0)
        assert outcome.epoch == epoch
    assert traces(tmp_path / "run") == traces(tmp_path / "straight")


def test_a_run_from_given_weights_says_so_after_it_was_resumed(tmp_path, monkeypatch):
    """Where its first weights are from stays known, though they are not given again."""
    figures = iter([0.1, 0.2, 0.3, 0.4])
    monkeypatch.setattr(validation, "overall", lambda ranks, ties: {"mrr": next(figures)})
    start = InGramQ(START.config, seed=9)
    start.origin = {"made": "here"}
    run_in(tmp_path, tiny_query_config(), start=start, listener=Interrupt(1))
    outcome = resumed(tmp_path)
    assert outcome.best["epoch"] == 6
    assert outcome.model.origin["start"] == {"made": "here"}


SAME = {"graphs": GRAPHS, "datasets": [DATASET, OTHER]}


@pytest.fixture(scope="module")
def begun(tmp_path_factory):
    """A run on two graphs and two validation sets that was interrupted."""
    path = tmp_path_factory.mktemp("begun")
    run_in(path, tiny_query_config(training__epochs=4), listener=Interrupt(3), **SAME)
    return path


def heavier(source):
    graph = source.graph
    weights = np.full(graph.num_triples, 2.0)
    heavy = KnowledgeGraph(graph.triples, graph.entities, graph.relations, weights=weights)
    return Source(source.name, heavy)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"graphs": GRAPHS[:1]}, "other graphs (one, two)"),
        ({"graphs": GRAPHS[::-1]}, "other graphs (one, two)"),
        ({"graphs": [GRAPHS[0], Source("two", random_graph(5, 9, 2, 40))]}, "other graphs"),
        ({"graphs": [GRAPHS[0], heavier(GRAPHS[1])]}, "other graphs"),
        ({"graphs": None}, "other graphs"),
        ({"datasets": [DATASET]}, "other validation (tiny, other)"),
        ({"datasets": [DATASET, replace(OTHER, valid=OTHER.test)]}, "other validation"),
    ],
    ids=[
        "fewer",
        "other order",
        "other triples",
        "other weights",
        "none",
        "valid",
        "valid triples",
    ],
)
def test_a_run_is_not_resumed_with_other_graphs(changed, said, begun):
    before = {p: p.read_bytes() for p in begun.rglob("*") if p.is_file()}
    with pytest.raises(RunError) as caught:
        resumed(begun, **SAME | changed)
    assert f"{begun}: this run was begun with {said}" in str(caught.value)
    assert "resume it with the same, or train anew elsewhere" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert {p: p.read_bytes() for p in begun.rglob("*") if p.is_file()} == before


def test_other_test_triples_do_not_keep_a_run_from_being_resumed(begun):
    datasets = [DATASET, replace(OTHER, test=OTHER.test[:1])]
    assert resumed(begun, **SAME | {"datasets": datasets}).stopped == "finished"
