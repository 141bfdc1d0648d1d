"""The measurement of explanations: what it takes away and what it compares with."""

import json

import numpy as np
import typer
from benchmarks.explanations import main, random_path, without
from tests.inference.test_paths import all_paths, edges_of, ends
from tests.strategies import graph_of, random_graph
from tests.tiny import tiny_query_config, untrained_run
from tests.verbs import write_dataset
from typer.testing import CliRunner


def test_a_graph_without_a_path_lacks_its_facts_and_no_others():
    graph = graph_of([(0, 0, 1), (2, 1, 1), (0, 1, 1), (2, 0, 0)], 3, 2)
    edges = edges_of(graph)
    listed = ends(edges)
    path = (listed.index((0, 0, 1)), listed.index((1, 3, 2)))  # 0 -r0-> 1 <-r1- 2
    assert without(graph, edges, path).triples.tolist() == [[0, 1, 1], [2, 0, 0]]


def test_random_paths_are_paths_of_the_length_and_all_alike_likely():
    edges = edges_of(random_graph(2, 6, 2, 14))
    every = {p for p in all_paths(edges, 0, 3, 3) if len(p) == 3}
    taken = {min(every)}
    rng = np.random.default_rng(0)
    found = [random_path(edges, 0, 3, 3, taken, rng) for _ in range(60 * len(every))]
    counts = {path: found.count(path) for path in set(found)}
    assert set(counts) == every - taken
    assert min(counts.values()) > 30
    assert max(counts.values()) < 110


def test_where_there_is_no_other_path_there_is_none_to_draw():
    edges = edges_of(graph_of([(0, 0, 1), (1, 0, 2)], 3, 1))
    (only,) = all_paths(edges, 0, 2, 2)
    assert random_path(edges, 0, 2, 2, {only}, np.random.default_rng(0)) is None
    assert random_path(edges, 0, 2, 3, set(), np.random.default_rng(0)) is None


def test_it_prints_its_figures(tmp_path):
    write_dataset(tmp_path / "data")
    untrained_run(tmp_path / "run", tiny_query_config())
    app = typer.Typer()
    app.command()(main)
    told = CliRunner().invoke(
        app, [str(tmp_path / "run"), str(tmp_path / "data"), "--queries", "2"]
    )
    assert told.exit_code == 0, told.exception
    figures = json.loads(told.stdout)
    assert figures["queries"] == 2
    assert 0 <= figures["strongest path lowers the score more"] <= 1
