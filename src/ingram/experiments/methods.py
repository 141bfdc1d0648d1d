"""What stands in a row of the tables: something trained, weights as they are, or a count.

A sweep lays runs out as ``OUT/<dataset>/<method>/seed-<n>/``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ingram.errors import ConfigError
from ingram.experiments.popularity import Popularity
from ingram.experiments.rules import Rules
from ingram.models import load_model, shipped
from ingram.training import PRESETS, Config, QueryConfig, config_from, load_config, preset_config

FLOORS: dict[str, type[Popularity] | type[Rules]] = {"popularity": Popularity, "rules": Rules}
VARIANTS: dict[str, dict[str, Any]] = {
    "mean-aggregator": {"model.aggregator": "mean"},
    "sum-aggregator": {"model.aggregator": "sum"},
    "self-loop-vector": {"model.self_loop": "learned"},
    "fixed-split": {"training.dynamic_split": False, "tasks.cut": False},
    "no-relation-update": {"model.relation_update": False},
    "bins-1": {"model.bins": 1},
    "bins-5": {"model.bins": 5},
}
"""One part of the embedding model changed: the six of table 4, and the other B of appendix C."""
ABLATIONS = tuple(name for name in VARIANTS if name != "bins-5")
JOINT = "+"
"""Between a method and its variant, and between datasets that are learned together."""


@dataclass(frozen=True)
class Method:
    """A row. name: also of its folder.

    config: settings to train with; of those, training.seed and training.epochs are the sweep's.
    words: what says the same to ``ingram train``. start: weights to begin with.
    weights: tested as they are. sources: trained on these datasets in place of the tested one.
    """

    name: str
    config: Config | QueryConfig | None = None
    words: tuple[str, ...] = ()
    start: Path | None = None
    weights: Path | None = None
    sources: tuple[str, ...] = ()

    @property
    def trained(self) -> bool:
        """Whether it differs from seed to seed."""
        return self.config is not None

    @property
    def variant(self) -> str:
        """Which part of the model is changed; none for the whole."""
        variant = self.name.partition(JOINT)[2]
        return variant if variant in VARIANTS else ""

    def with_variants(self, variants: Sequence[str]) -> list[Method]:
        """This and its variants, which only the embedding model has."""
        if not isinstance(self.config, Config) or self.start is not None:
            return [self]
        return [self, *(self.changed(variant) for variant in variants)]

    def changed(self, variant: str) -> Method:
        """The same with one part of the model changed."""
        assert self.config is not None
        settings = VARIANTS[variant]
        words = [w for k, v in settings.items() for w in ("--set", f"{k}={str(v).lower()}")]
        return replace(
            self,
            name=f"{self.name}{JOINT}{variant}",
            config=self.config.with_settings(settings),
            words=(*self.words, *words),
        )

    def on(self, sources: Sequence[str]) -> Method:
        """The same trained on other datasets than it is tested on."""
        return replace(self, name=f"{self.name}-on-{JOINT.join(sources)}", sources=tuple(sources))

    def config_for(self, seed: int, epochs: int | None) -> Config | QueryConfig:
        """The settings of one run."""
        assert self.config is not None
        settings: dict[str, Any] = {"training.seed": seed}
        if epochs is not None:
            settings["training.epochs"] = epochs
        return self.config.with_settings(settings)


def preset_method(name: str, start: Path | None = None) -> Method:
    """A preset by name, from its first weights or from those of a run."""
    if start is None:
        return Method(name, preset_config(name, {}), ("--preset", name))
    path = shipped.run_path(start)
    config = config_from(load_model(path), name, {})
    words = ("--preset", name, "--from", str(start))
    return Method(f"{name}-from-{run_name(path)}", config, words, path)


def file_method(path: Path) -> Method:
    """Settings from a file, such as the best that ``ingram tune`` found; called as the file is."""
    return Method(path.stem, load_config(path), ("--config", str(path)))


def fixed_method(run: Path) -> Method:
    """The weights of a run, or shipped ones, tested as they are."""
    path = shipped.run_path(run)
    load_model(path)  # refused now rather than after hours
    return Method(run_name(path), weights=path)


def floors() -> list[Method]:
    """Rows that cost nothing."""
    return [Method(name) for name in FLOORS]


def method_named(name: str) -> Method:
    """What a folder of that name holds, as far as the name says."""
    preset, _, variant = name.partition(JOINT)
    if preset not in PRESETS:
        return Method(name)
    method = preset_method(preset)
    if variant:
        return method.changed(variant) if variant in VARIANTS else Method(name)
    return method


def run_name(path: Path) -> str:
    """A run's name; runs that differ by seed are called by their folder."""
    path = path.resolve()
    return path.parent.name if path.name.startswith("seed-") else path.name


def check_distinct(methods: Sequence[Method]) -> None:
    """Refuse two rows that would share a folder."""
    names = [method.name for method in methods]
    if twice := [name for name in dict.fromkeys(names) if names.count(name) > 1]:
        raise ConfigError(f"two methods are called {twice[0]!r}; rename a file or run directory")


@dataclass(frozen=True)
class Cell:
    """One run of a sweep: a method on a dataset, or on several that are joined."""

    dataset: str
    method: Method
    seed: int

    def path(self, root: Path) -> Path:
        return root / self.dataset / self.method.name / f"seed-{self.seed}"

    @property
    def source(self) -> Cell | None:
        """The run whose weights this one tests, where it was trained on other datasets."""
        if not self.method.sources:
            return None
        datasets = JOINT.join(self.method.sources)
        name = self.method.name.removesuffix(f"-on-{datasets}")
        return Cell(datasets, replace(self.method, name=name, sources=()), self.seed)

    def weights(self, root: Path) -> Path:
        """The run directory whose weights are tested."""
        return self.method.weights or (self.source or self).path(root)

    def __str__(self) -> str:
        return f"{self.dataset} {self.method.name} seed {self.seed}"
