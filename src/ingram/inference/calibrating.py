"""Fitting probabilities to scores on validation: Platt's and isotonic, and a threshold."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

import numpy as np
from scipy.special import logit

from ingram.answers import KnownAnswers
from ingram.answers.calibration import Bin, Calibration, Isotonic, Platt, Reliability
from ingram.errors import CalibrationError, IngramError
from ingram.graph import Dataset
from ingram.inference.answer_sample import Bools, Floats, Sample, sample_answers
from ingram.inference.applying import calibration_path, draws_of, scorer_of
from ingram.io.atomic import write_bytes, write_text
from ingram.models import load_model
from ingram.models.shipped import run_path
from ingram.training.checkpoints import RunDirectory
from ingram.training.config import dump_config

MOST = 1_000
"""Validation triples of a dataset that are asked for; more make no difference to two parameters."""
FOLDS = 5
BINS = 10
STIFFNESS = 1e3
"""Inverse strength of the pull on Platt's slope, which is endless where the scores part the true
from the false."""


def calibrate_if_possible(
    run: Path, datasets: Sequence[Dataset], say: Callable[[str], None]
) -> None:
    """A run that is done can say what its scores mean; one that cannot is a run all the same."""
    try:
        calibrate(run, datasets)
    except IngramError as error:
        say(f"no probabilities: {error}")


def calibrate(
    run: str | Path,
    datasets: Dataset | Sequence[Dataset],
    *,
    method: Literal["auto", "platt", "isotonic"] = "auto",
    draws: int | None = None,
    seed: int | None = None,
    output: Path | None = None,
) -> Calibration:
    """Fit probabilities to a run's scores on validation and keep them with the run.

    ``output``: keep them in a new run directory, with a copy of the weights; shipped weights are
    not written to.

    A probability is the chance that an answer is the one that was held out, when one was: true
    answers are weighed against *all* other entities. Both methods are judged on triples they were
    not fitted to, and ``auto`` takes the one whose ten best answers have the better probabilities.
    """
    datasets = [datasets] if isinstance(datasets, Dataset) else list(datasets)
    path = own_run(run) if output is None else run_path(run)
    if output is not None and output.exists():
        raise CalibrationError(f"{output}: want a new folder for the copy, found one")
    model = load_model(path)
    draws = draws_of(path, model, draws, seed)
    samples = []
    for dataset in datasets:
        rng = np.random.default_rng(0)
        triples = dataset.valid
        if len(triples) > MOST:
            triples = triples[np.sort(rng.choice(len(triples), MOST, replace=False))]
        scorer = scorer_of(model, dataset.inference, draws, seed)
        samples.append(sample_answers(scorer, triples, KnownAnswers.of(dataset), rng))
    sample = Sample.joined(samples)
    calibration = fit(
        sample,
        method,
        model=model.origin.get("id"),
        draws=draws,
        dataset=", ".join(dataset.name for dataset in datasets),
    )
    if output is not None:
        path = copied_run(path, output)
    calibration.save(calibration_path(path))
    return calibration


def own_run(run: str | Path) -> Path:
    """The path of a run that may be written to; the name of shipped weights is refused."""
    path = run_path(run)
    if path != Path(run):
        raise CalibrationError(
            f"{run}: want a run of your own to keep a calibration with, got shipped weights; "
            "give -o FOLDER for a copy of them with the calibration"
        )
    return path


def copied_run(run: Path, output: Path) -> Path:
    """A new run directory with the settings and weights of another, and nothing else of it."""
    old, new = RunDirectory(run), RunDirectory(output)
    settings = dump_config(old.config())
    new.make()
    write_bytes(new.model_path, old.model_path.read_bytes())
    write_text(new.inside("config.yaml"), settings)
    return output


def fit(
    sample: Sample,
    method: str,
    *,
    model: str | None = None,
    draws: int | None = None,
    dataset: str = "",
) -> Calibration:
    """Both methods fitted to all of a sample, and judged by cross-validation over its triples.

    A triple may be no answer to its own questions: an unheard-of loop is none.
    """
    triples = int(sample.triples.max(initial=-1)) + 1
    answered = np.bincount(sample.triples, sample.right, triples) > 0
    if answered.sum() < 2 or sample.right.all():
        raise CalibrationError(
            f"{dataset}: want two validation triples and a false answer to calibrate with, got "
            f"{answered.sum()} and {int((~sample.right).sum())}"
        )
    # Those that are answers first, so that whichever fold is held out, some of them stay.
    order = np.random.default_rng(0).permutation(triples)
    fold = np.empty(triples, np.int64)
    fold[order[np.argsort(~answered[order], kind="stable")]] = np.arange(triples) % FOLDS
    apart = {"platt": np.empty(len(sample.scores)), "isotonic": np.empty(len(sample.scores))}
    called = np.empty(len(sample.scores), np.bool_)
    for number in range(min(FOLDS, triples)):
        held = fold[sample.triples] == number
        rest = sample.of(~held)
        apart["platt"][held] = fit_platt(rest).probability(sample.scores[held])
        apart["isotonic"][held] = fit_isotonic(rest).probability(sample.scores[held])
        called[held] = sample.scores[held] >= best_threshold(rest)
    figures = {
        name: reliability(values[sample.shown], sample.right[sample.shown])
        for name, values in apart.items()
    }
    if method == "auto":
        method = min(figures, key=lambda name: figures[name].brier)
    return Calibration.model_validate(
        {
            "model": model,
            "draws": draws,
            "dataset": dataset,
            "questions": 2 * triples,
            "method": method,
            "platt": fit_platt(sample),
            "isotonic": fit_isotonic(sample),
            "reliability": figures,
            "threshold": best_threshold(sample),
            "accuracy": balanced_accuracy(called, sample),
        }
    )


def fit_platt(sample: Sample) -> Platt:
    """A logistic curve; level where higher scores are not likelier to be true."""
    from sklearn.linear_model import LogisticRegression

    base = float(np.average(sample.right, weights=sample.weights))
    level = Platt(slope=0, intercept=float(logit(base)))
    centre, spread = float(sample.scores.mean()), float(sample.scores.std())
    if not spread > 0:
        return level
    found = LogisticRegression(C=STIFFNESS).fit(
        ((sample.scores - centre) / spread)[:, None], sample.right, sample.weights
    )
    slope, intercept = float(found.coef_[0, 0]) / spread, float(found.intercept_[0])
    if not slope > 0:
        return level
    return Platt(slope=slope, intercept=intercept - slope * centre)


def fit_isotonic(sample: Sample) -> Isotonic:
    """The rising steps that fit best.

    One more false answer above all and one more true below all keep it from certainty, which no
    sample can give.
    """
    from sklearn.isotonic import IsotonicRegression

    scores = np.append(sample.scores, [sample.scores.max(), sample.scores.min()])
    right = np.append(sample.right, [False, True]).astype(np.float64)
    found = IsotonicRegression(y_min=0, y_max=1).fit(
        scores, right, np.append(sample.weights, [1, 1])
    )
    rising = np.maximum.accumulate(np.clip(found.y_thresholds_, 0, 1))
    return Isotonic(scores=found.X_thresholds_.tolist(), probabilities=rising.tolist())


def best_threshold(sample: Sample) -> float:
    """The score that parts as many true as false triples best, halfway to the next lower one."""
    scores, where = np.unique(sample.scores, return_inverse=True)
    true = np.bincount(where, sample.right * 1.0) / sample.right.sum()
    weights = np.where(sample.right, 0.0, sample.weights)
    false = np.bincount(where, weights) / weights.sum()
    # Of triples at or above scores[i]: the share of the true less the share of the false.
    gain = (true - false)[::-1].cumsum()[::-1]
    at = int(gain.argmax())
    return float(scores[at] if at == 0 else (scores[at] + scores[at - 1]) / 2)


def balanced_accuracy(called: Bools, sample: Sample) -> float:
    """How often a triple is called right, of as many true as false ones drawn at random."""
    true = called[sample.right].mean()
    false = np.average(~called[~sample.right], weights=sample.weights[~sample.right])
    return float((true + false) / 2)


def reliability(probabilities: Floats, right: Bools) -> Reliability:
    """What was said against what was right, in ten ranges of probability."""
    which = np.minimum((probabilities * BINS).astype(np.int64), BINS - 1)
    bins, error = [], 0.0
    for number in np.unique(which).tolist():
        inside = which == number
        said, share = float(probabilities[inside].mean()), float(right[inside].mean())
        bins.append(Bin(answers=int(inside.sum()), said=said, right=share))
        error += inside.mean() * abs(said - share)
    brier = float(np.mean((probabilities - right) ** 2))
    return Reliability(ece=error, brier=brier, bins=tuple(bins))
