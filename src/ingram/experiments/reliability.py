"""What a run's scores mean, as a part of its report that can be renewed."""

from __future__ import annotations

import polars as pl

from ingram.answers.calibration import Calibration
from ingram.experiments.figures import reliability_diagram
from ingram.experiments.pages import escape, html_table, picture
from ingram.inference.applying import calibration_path
from ingram.io.atomic import write_text
from ingram.training.checkpoints import RunDirectory

BEGIN, END = "<!-- calibration -->", "<!-- /calibration -->"


def renew_calibration(run: RunDirectory) -> bool:
    """Put the run's calibration into the report that stands there; False if there is none."""
    path = run.path / "report.html"
    if not path.is_file():
        return False
    before, begin, rest = path.read_text(encoding="utf-8").partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        return False
    write_text(path, before + calibration_part(run) + after)
    return True


def calibration_part(run: RunDirectory) -> str:
    """What a score means, between marks by which it can be renewed."""
    path = calibration_path(run.path)
    if not path.is_file():
        return BEGIN + END
    found = Calibration.load(path)
    table = pl.DataFrame(
        {
            "": list(found.reliability),
            "calibration error": [r.ece for r in found.reliability.values()],
            "Brier score": [r.brier for r in found.reliability.values()],
            "used": [name == found.method for name in found.reliability],
        }
    )
    parts = [
        "<h2>What a score means</h2>",
        "<p>The ten best answers to each of "
        f"{found.questions:,} validation questions of {escape(found.dataset)}, by probabilities "
        "fitted to other questions: what was said against what was right. On the line they agree. "
        "</p>",
        picture(reliability_diagram(found)),
        html_table(table),
        f"<p>Triples that score {found.threshold:.3g} or more are called true. Of as many true as "
        f"false triples, {found.accuracy:.1%} are called right.</p>",
    ]
    return BEGIN + "\n".join(parts) + END
