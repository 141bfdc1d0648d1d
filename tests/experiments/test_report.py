"""Reports are self-contained and labels in them are text."""

from pathlib import Path

import numpy as np
import polars as pl

from ingram.experiments.pages import Section, html_table
from ingram.experiments.report import write_report
from ingram.graph import Dataset, KnowledgeGraph
from ingram.training.checkpoints import RunDirectory
from ingram.training.config import Config, dump_config

EVIL = "<img src=x onerror=alert(1)>"


def dataset() -> Dataset:
    graph = KnowledgeGraph.from_labels(
        [(EVIL, EVIL, "b"), ("b", "$r_{$", "c"), ("c", "\x1b[31m", EVIL)]
    )
    return Dataset(EVIL, graph, graph, graph.triples[:1], graph.triples[1:2])


def test_labels_are_never_markup(tmp_path: Path):
    run = RunDirectory(tmp_path / "run")
    run.make()
    (run.path / "config.yaml").write_text(dump_config(Config()))
    run.metrics_path.touch()
    run.append_metrics({"epoch": 1, "loss": 1.0, "mrr": 0.1, "hits@10": 0.2, "seconds": 1.0})
    run.append_metrics({"epoch": 2, "loss": None, "mrr": 0.0, "seconds": 2.0, "collapse": EVIL})
    table = pl.DataFrame({"label": [EVIL], "score": [0.5], "known": [True], "count": [1234]})
    write_report(run, [dataset()], [Section(EVIL, table, EVIL)])
    page = (run.path / "report.html").read_text()
    assert EVIL not in page
    assert "&lt;img src=x" in page
    assert page.count("<svg") == 2


ODD = ["\u202egnp.exe", "\u2066a\u2069", "\x1b[2J\x9b31m", "\0", "\ud7ff", "x" * 10_000]


def test_labels_that_turn_or_control_text_are_spelled_out(tmp_path: Path):
    table = pl.DataFrame({"label": ODD, "text": ODD})
    run = RunDirectory(tmp_path / "run")
    run.make()
    (run.path / "config.yaml").write_text(dump_config(Config()))
    run.metrics_path.touch()
    write_report(run, [dataset()], [Section(label, table, label) for label in ODD])
    page = (run.path / "report.html").read_text(encoding="utf-8")
    assert all(c.isprintable() or c in "\n" for c in page)
    assert "\\u202egnp.exe" in page
    assert "\\x1b[2J" in page
    assert "x… (10,000 characters)" in page


def test_a_page_needs_nothing_from_elsewhere(tmp_path: Path):
    run = RunDirectory(tmp_path / "run")
    run.make()
    (run.path / "config.yaml").write_text(dump_config(Config()))
    run.metrics_path.touch()
    write_report(run, [dataset()])
    page = (run.path / "report.html").read_text()
    for needle in ("<script", "<link", 'src="http', "@import", "url(http"):
        assert needle not in page
    assert "No validation was reached" in page


def test_tables_write_figures_as_people_do():
    table = pl.DataFrame({"n": [12345], "x": [0.30912], "y": [92.61], "b": [np.True_.item()]})
    html = html_table(table)
    assert all(f"<td>{shown}</td>" in html for shown in ("12,345", "0.309", "92.6", "yes"))
