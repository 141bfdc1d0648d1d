"""Triple classification against hard negatives: is a triple true, or only plausible?

    python -m benchmarks.classification zero-shot DATA/CoDEx-S --seen DATA/CoDEx-M/train.txt.gz

FOLDER has train, valid and test, and of the last two also ``*_negatives``: triples known to be
false though their parts fit. The weights are applied to the training graph. Thresholds (one for
all, and one a relation) and both calibrations are fitted to the validation triples; figures are of
the test triples. ``--seen`` is a graph that the weights were trained on: test triples in it are a
leak, and the figures without them are given too.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import polars as pl
import torch
import typer

from ingram.answers import GraphScorer
from ingram.graph import Ids
from ingram.inference.answer_sample import Bools, Floats, Sample
from ingram.inference.applying import apply_run
from ingram.inference.calibrating import best_threshold, fit_isotonic, fit_platt, reliability
from ingram.io import read_graph, read_triples
from ingram.labels import FIELDS

LEAST = 10
"""Validation triples, true and false, that a relation's own threshold takes."""


@dataclass(frozen=True, eq=False)
class Labelled:
    """Triples of one split, (T,) each: their relations, scores, whether true, whether leaked."""

    relations: Ids
    scores: Floats
    right: Bools
    leaked: Bools

    def of(self, chosen: Bools) -> Labelled:
        return Labelled(
            self.relations[chosen], self.scores[chosen], self.right[chosen], self.leaked[chosen]
        )

    def sample(self) -> Sample:
        """As calibration takes them: each stands for itself."""
        ones = np.ones(len(self.scores))
        return Sample(np.arange(len(ones)), self.scores, self.right, ones, ones > 0)


def main(
    run: Annotated[str, typer.Argument(help="A run, or the name of shipped weights.")],
    folder: Annotated[Path, typer.Argument(help="Of train, valid, test and negatives.")],
    seen: Annotated[Path | None, typer.Option(help="A graph the weights were trained on.")] = None,
    threads: Annotated[int, typer.Option(help="Cores to use.")] = 1,
) -> None:
    torch.set_num_threads(threads)
    scorer = apply_run(run, read_graph(folder / "train.txt.gz"))
    leaks = None if seen is None else read_triples(seen).select(FIELDS).unique()
    valid, test = (labelled(scorer, folder, split, leaks) for split in ("valid", "test"))
    print(json.dumps(classify(valid, test), indent=1))


def labelled(scorer: GraphScorer, folder: Path, split: str, leaks: pl.DataFrame | None) -> Labelled:
    """The true and the false triples of a split, scored."""
    true = read_triples(folder / f"{split}.txt.gz").select(FIELDS)
    false = read_triples(folder / f"{split}_negatives.txt.gz").select(FIELDS)
    triples = pl.concat([true, false])
    ids = scorer.graph.encode(triples)
    leaked = np.zeros(len(ids), np.bool_)
    if leaks is not None:
        marked = triples.join(
            leaks.with_columns(leaked=True), on=FIELDS, how="left", maintain_order="left"
        )
        leaked = marked["leaked"].fill_null(value=False).to_numpy()
    scores = scorer.score(ids).double().cpu().numpy()
    return Labelled(ids[:, 1], scores, np.arange(len(ids)) < len(true), leaked)


def classify(valid: Labelled, test: Labelled) -> dict[str, Any]:
    """What is chosen on ``valid``, and how good it is on ``test``."""
    one = best_threshold(valid.sample())
    each = thresholds(valid, one)
    said = {
        "platt": fit_platt(valid.sample()).probability(test.scores),
        "isotonic": fit_isotonic(valid.sample()).probability(test.scores),
    }
    figures: dict[str, Any] = {}
    for name, part in {"all": test, "without leaks": test.of(~test.leaked)}.items():
        limits = np.array([each.get(r, one) for r in part.relations.tolist()])
        figures[name] = {
            "true": int(part.right.sum()),
            "false": int((~part.right).sum()),
            "accuracy, one threshold": balanced(part.scores >= one, part.right),
            "accuracy, a threshold a relation": balanced(part.scores >= limits, part.right),
        }
    for method, probabilities in said.items():
        found = reliability(probabilities, test.right)
        figures["all"][f"calibration error, {method}"] = found.ece
        figures["all"][f"Brier score, {method}"] = found.brier
    return figures


def thresholds(valid: Labelled, otherwise: float) -> dict[int, float]:
    """The best of each relation; ``otherwise`` where there is too little to choose by."""
    found = {}
    for relation in np.unique(valid.relations).tolist():
        part = valid.of(valid.relations == relation)
        enough = len(part.right) >= LEAST and 0 < part.right.sum() < len(part.right)
        found[relation] = most_right(part) if enough else otherwise
    return found


def most_right(part: Labelled) -> float:
    """The threshold that calls most triples right, halfway to the next lower score.

    Not the balanced one: where a relation is mostly true or mostly false, that is worth knowing.
    """
    scores, where = np.unique(part.scores, return_inverse=True)
    gain = np.bincount(where, np.where(part.right, 1.0, -1.0))[::-1].cumsum()[::-1]
    if gain.max() < 0:
        return float(np.nextafter(scores[-1], np.inf))
    at = int(gain.argmax())
    return float(scores[at] if at == 0 else (scores[at] + scores[at - 1]) / 2)


def balanced(called: Bools, right: Bools) -> float:
    """The mean of the shares of the true and of the false triples that are called so."""
    return float((called[right].mean() + (~called[~right]).mean()) / 2)


if __name__ == "__main__":
    typer.run(main)
