"""``report.html``: one self-contained page on a run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from ingram.evaluation import metrics
from ingram.experiments.bins import bin_weights
from ingram.experiments.environment import environment
from ingram.experiments.figures import bin_curves, relation_picture, training_curves
from ingram.experiments.pages import Section, escape, html_table, page, picture
from ingram.experiments.reliability import calibration_part
from ingram.experiments.runs import outcome_of
from ingram.experiments.saved import ALL, OWN, protocol_name, read_ranks, read_test
from ingram.graph import Dataset
from ingram.io.atomic import write_text
from ingram.training.checkpoints import RunDirectory
from ingram.training.config import dump_config

EXTREMES = 10
"""Relations shown from each end, if there are more than twice as many."""
FIGURES = {
    "queries": "queries", "mrr": "MRR", "hits@10": "Hits@10", "hits@1": "Hits@1", "mr": "MR",
}  # fmt: skip


def write_report(
    run: RunDirectory, datasets: Sequence[Dataset], sections: Sequence[Section] = ()
) -> None:
    """Write ``report.html`` into the run directory: tests, curves, graphs, settings, command."""
    names = ", ".join(dataset.name for dataset in datasets)
    parts = [f"<h1>{escape(names)}</h1>"]
    for dataset in datasets:
        parts += ([f"<h2>{escape(dataset.name)}</h2>"] if len(datasets) > 1 else []) + _about(
            dataset
        )
    for section in test_sections(run):
        parts += section.html()
    parts += _training(run.metrics())
    parts.append(calibration_part(run))
    for section in sections:
        parts += section.html()
    parts += _bins(run)
    for dataset in datasets:
        drawn = relation_picture(dataset.inference, dataset.known_relations.tolist())
        which = f" of {escape(dataset.name)}" if len(datasets) > 1 else ""
        parts += [
            f"<h2>Relation graph{which}</h2>",
            "<p>Relations of the inference graph that share entities are joined; the thicker, the "
            "closer. Red: relations that the training graph does not have.</p>",
            picture(drawn),
        ]
    parts += _made(run)
    write_text(run.path / "report.html", page(f"{names}: ingram report", "\n".join(parts)))


def test_sections(run: RunDirectory) -> list[Section]:
    """What the tests kept in the run came to; nothing before the first."""
    tests = [test for protocol in ALL if (test := read_test(run.path, protocol))]
    if not tests:
        return []
    rows = [
        {"protocol": protocol_name(test) or "test", **{name: test.get(name) for name in FIGURES}}
        for test in tests
    ]
    text = f"Filtered ranking of the test triples, {tests[0]['ties']} ties."
    if len(rows) > 1:
        text += (
            " The chosen draw is the luckiest that validation saw; fresh draws show what the "
            "weights do without that luck."
        )
    sections = [Section("Test", pl.DataFrame(rows).rename(FIGURES), text)]
    if not OWN.ranks(run.path).exists():
        return sections
    ranks, _ = read_ranks(OWN.ranks(run.path))
    return sections + breakdowns(ranks, tests[0]["ties"])


def breakdowns(ranks: pl.DataFrame, ties: str) -> list[Section]:
    """Known against new relations, and single relations: the best and the worst."""
    known = metrics(ranks, ties=ties, by=["known"]).select("known", *FIGURES)
    known = known.with_columns(
        pl.when("known").then(pl.lit("known")).otherwise(pl.lit("new")).alias("relations")
    ).select("relations", *FIGURES)
    each = metrics(ranks, ties=ties, by=["relation"]).select("relation", *FIGURES)
    each = each.sort("mrr", "relation", descending=[True, False])
    title = "Single relations"
    if len(each) > 2 * EXTREMES:
        each = pl.concat([each.head(EXTREMES), each.tail(EXTREMES)])
        title += f": the best {EXTREMES} and the worst {EXTREMES}"
    return [
        Section(
            "Known and new relations",
            known.rename(FIGURES),
            "By whether the training graph has it.",
        ),
        Section(title, each.rename(FIGURES)),
    ]


def _training(records: list[dict[str, Any]]) -> list[str]:
    if not records:
        return ["<h2>Training</h2>", "<p>No validation was reached.</p>"]
    return ["<h2>Training</h2>", picture(training_curves(records)), _best(records)]


def _bins(run: RunDirectory) -> list[str]:
    """Figure 4 of the paper, for a model that has bins."""
    curves = bin_weights(run.path) if run.model_path.exists() else None
    if curves is None:
        return []
    return [
        "<h2>Affinity bins</h2>",
        "<p>What each relation layer adds to its attention by the bin of two relations' affinity: "
        "one line a head (two where sharing heads and sharing tails are apart), the thick one "
        "their mean. Bin 1 holds the strongest affinities.</p>",
        picture(bin_curves({f"layer {i}": lines for i, lines in enumerate(curves, 1)})),
    ]


def _made(run: RunDirectory) -> list[str]:
    """How to have the same again."""
    ended = outcome_of(run.path)
    parts = []
    if ended:
        commands = escape("\n".join(ended["commands"]))
        parts += ["<h2>Command</h2>", f"<pre>{commands}</pre>"]
    lines = [f"{name} {value}" for name, value in ended.get("environment", environment()).items()]
    return [
        *parts,
        "<h2>Settings</h2>",
        f"<pre>{escape(dump_config(run.config()))}</pre>",
        "<h2>Environment</h2>",
        "<pre>" + escape("\n".join(lines)) + "</pre>",
    ]


def _about(dataset: Dataset) -> list[str]:
    graphs = {"training graph": dataset.train, "inference facts": dataset.inference}
    table = pl.DataFrame(
        {
            "": list(graphs),
            "entities": [g.num_entities for g in graphs.values()],
            "relations": [g.num_relations for g in graphs.values()],
            "triples": [g.num_triples for g in graphs.values()],
        }
    )
    parts = [html_table(table)]
    if dataset.inductive:
        new = int((~dataset.known_relations).sum())
        parts.append(
            f"<p>{new:,} of the {dataset.inference.num_relations:,} inference relations do not "
            f"occur in training; {len(dataset.valid):,} triples are held out for validation and "
            f"{len(dataset.test):,} for test.</p>"
        )
    else:
        parts.append(
            '<p class="note">Triples were held out on the training graph itself: this is not an '
            "inductive test.</p>"
        )
    return parts


def _best(records: list[dict[str, Any]]) -> str:
    best = max(records, key=lambda r: r["mrr"])
    text = (
        f"Best validation at epoch {best['epoch']:,}: MRR {best['mrr']:.3f}, "
        f"Hits@10 {best.get('hits@10', 0):.3f}. Last epoch {records[-1]['epoch']:,} after "
        f"{records[-1].get('seconds') or 0:,.0f} s."
    )
    collapses = [f"epoch {r['epoch']:,}: {r['collapse']}" for r in records if "collapse" in r]
    if collapses:
        text += " Collapses (dotted lines): " + "; ".join(collapses) + "."
    return f"<p>{escape(text)}</p>"
