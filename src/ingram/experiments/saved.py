"""Tests kept in a run directory: the figures as JSON, and every rank behind them.

test.json, ranks.parquet                    by the run's own protocol
test-fresh-8.json, ranks-fresh-8.parquet    the same weights with 8 fresh draws
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
from polars.exceptions import PanicException, PolarsError

from ingram.errors import RunError
from ingram.evaluation import metrics
from ingram.experiments.runs import read_json, write_json
from ingram.graph import Dataset
from ingram.inference.testing import Ranked, document, rank_split
from ingram.io.atomic import replacing
from ingram.io.lines import short
from ingram.io.parquet import muted
from ingram.io.tensors import read_about
from ingram.io.vector_checks import want_possible
from ingram.models import load_model
from ingram.models.base import FORMAT as MODEL_FORMAT
from ingram.models.base import weights_path
from ingram.training.config import Config, QueryConfig

FORMAT = "ingram-ranks-1"


@dataclass(frozen=True)
class Protocol:
    """How a run is tested. draws: so many fresh ones; None for the run's own protocol."""

    draws: int | None = None

    @property
    def suffix(self) -> str:
        return "" if self.draws is None else f"-fresh-{self.draws}"

    def figures(self, folder: Path) -> Path:
        return folder / f"test{self.suffix}.json"

    def ranks(self, folder: Path) -> Path:
        return folder / f"ranks{self.suffix}.parquet"

    def done(self, folder: Path) -> bool:
        """Whether both are there. Each is written whole or not at all, the figures last."""
        return self.figures(folder).exists() and self.ranks(folder).exists()


OWN = Protocol()
ALL = (OWN, Protocol(1), Protocol(8))


def protocols(config: Config | QueryConfig) -> tuple[Protocol, ...]:
    """The run's own; where that draw was chosen on validation, fresh ones beside it.

    The figure of a chosen draw is that of the luckiest of many; a fresh one shows by how much.
    """
    chosen = isinstance(config, Config) and config.evaluation.features == "chosen"
    return ALL if chosen else (OWN,)


def is_tested(folder: Path, protocol: Protocol, weights: Path) -> bool:
    """Whether the test is there, and is of the weights that lie at the path now."""
    test = read_test(folder, protocol) if protocol.done(folder) else None
    return test is not None and test.get("weights") == weights_id(weights)


def weights_id(path: Path) -> str | None:
    """What tells these weights, and how they answer, from all others."""
    about = read_about(weights_path(path), MODEL_FORMAT)
    origin, config = (about.get(name) for name in ("origin", "config"))
    if not isinstance(origin, dict) or not isinstance(origin.get("id"), str):
        return None
    stated = isinstance(config, dict) and config.get("loops") == "stated"
    return f"{origin['id']}{' stated loops' if stated else ''}"


def make_test(
    weights: Path,
    config: Config | QueryConfig,
    dataset: Dataset,
    folder: Path,
    protocol: Protocol = OWN,
) -> dict[str, Any]:
    """Rank the test split by weights at a path, and keep figures and ranks in ``folder``."""
    started = time.perf_counter()
    result = rank_split(load_model(weights), dataset, "test", config=config, draws=protocol.draws)
    seconds = time.perf_counter() - started
    ties, weights_are = config.evaluation.ties, weights_id(weights)
    return save_test(result, dataset, folder, ties, seconds, protocol, weights_are)


def save_test(
    result: Ranked,
    dataset: Dataset,
    folder: Path,
    ties: str,
    seconds: float,
    protocol: Protocol = OWN,
    weights: str | None = None,
) -> dict[str, Any]:
    """Write figures and ranks of a test, and which weights it is of; returns the figures."""
    write_ranks(protocol.ranks(folder), result.ranks, dataset)
    about = document(result, "test", ties, seconds, {"both": metrics(result.ranks, ties=ties)})
    write_json(protocol.figures(folder), {**about, "weights": weights})
    return about


def write_ranks(path: Path, ranks: pl.DataFrame, dataset: Dataset) -> None:
    """Ranks with labels in place of ids, so that the table stands for itself."""
    labels = dataset.inference.decode(ranks.select("head", "relation", "tail").to_numpy())
    about = {"format": FORMAT, "dataset": dataset.name}
    with replacing(path) as temporary:
        ranks.with_columns(labels).write_parquet(
            temporary, metadata={"ingram": json.dumps(about, ensure_ascii=False)}
        )


def read_ranks(path: Path) -> tuple[pl.DataFrame, str]:
    """The ranks, and the name of the dataset they are of."""
    try:
        with muted():
            about = json.loads(pl.read_parquet_metadata(path)["ingram"])
            if about["format"] != FORMAT:
                found = repr(about["format"])[:80]
                raise RunError(f"{path}: want ranks of format {FORMAT}, got {found}")
            table = pl.scan_parquet(path, glob=False)
            rows, columns = table.select(pl.len()).collect().item(), len(table.collect_schema())
            want_possible(path, 8 * rows * columns)
            return table.collect(), str(about["dataset"])
    except (
        PolarsError, PanicException, LookupError, TypeError, ValueError, OSError, RecursionError,
    ) as error:  # fmt: skip
        reason = short(str(error)) or type(error).__name__
        raise RunError(f"{path}: want ranks in Parquet, got {reason}") from error


def read_test(folder: Path, protocol: Protocol = OWN) -> dict[str, Any] | None:
    """The figures of a test, if it was made."""
    path = protocol.figures(folder)
    return read_json(path) if path.exists() else None


def protocol_name(test: dict[str, Any]) -> str:
    """How a test was made, in words: chosen draw, 8 fresh draws; nothing where none is drawn."""
    draws = test.get("draws")
    if draws is None:
        return ""
    words = "draw" if draws == 1 else "draws"
    if test.get("features") == "chosen":
        return f"chosen {words}"
    return f"{draws} fresh {words}"
