"""How the paper's benchmarks were cut (table 6), and how large they came out (table 5)."""

from __future__ import annotations

from dataclasses import dataclass

from ingram.datasets.sizes import SizeRange, Sizes, around
from ingram.errors import ConfigError


@dataclass(frozen=True)
class GeneratorConfig:
    """The inputs of Algorithm 2.

    n_train, n_inference: entities sampled for the training and the inference graph, whose two-hop
    neighbours come along. p_rel: share of the relations set apart as new. p_tri: share of the
    inference graph's triples that have new relations. max_neighbours: of an entity in a hop.
    """

    n_train: int
    n_inference: int
    p_rel: float
    p_tri: float
    max_neighbours: int = 50

    def __post_init__(self) -> None:
        for name in ("n_train", "n_inference", "max_neighbours"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name}: want at least 1, got {getattr(self, name)}")
        if not 0 <= self.p_rel < 1:
            raise ConfigError(f"p_rel: want a share from 0 to below 1, got {self.p_rel}")
        if not 0 <= self.p_tri <= 1:
            raise ConfigError(f"p_tri: want a share from 0 to 1, got {self.p_tri}")
        if self.p_tri > 0 and self.p_rel == 0:
            raise ConfigError(
                f"p_tri {self.p_tri} wants triples with new relations, but p_rel 0 sets no "
                "relations apart; raise p_rel or set p_tri to 0"
            )


@dataclass(frozen=True)
class Preset:
    """One of the paper's datasets: the graph it was cut from, table 6's column, table 5's sizes."""

    source: str
    config: GeneratorConfig
    train: Sizes
    inference: Sizes

    def ranges(self, factor: float = 2.0) -> tuple[SizeRange, ...]:
        """Sizes within a factor of the published ones."""
        return around("train", self.train, factor) + around("inference", self.inference, factor)


def _preset(
    source: str,
    config: tuple[int, int, float, float],
    train: tuple[int, int, int],
    inference: tuple[int, int, int],
) -> Preset:
    return Preset(source, GeneratorConfig(*config), Sizes(*train), Sizes(*inference))


_NL, _WK, _FB = "NELL-995", "Wikidata68K", "FB15k-237"

PRESETS = {
    "NL-100": _preset(_NL, (15, 80, 0.40, 1.00), (1_258, 55, 7_832), (1_709, 53, 3_964)),
    "NL-75": _preset(_NL, (60, 50, 0.40, 0.75), (2_607, 96, 11_058), (1_578, 116, 3_031)),
    "NL-50": _preset(_NL, (50, 80, 0.40, 0.50), (4_396, 106, 17_578), (2_335, 119, 4_294)),
    "NL-25": _preset(_NL, (50, 80, 0.40, 0.25), (4_396, 106, 17_578), (2_146, 120, 3_717)),
    "NL-0": _preset(_NL, (20, 80, 0.00, 0.00), (1_814, 134, 7_796), (2_026, 112, 3_813)),
    "WK-100": _preset(_WK, (20, 250, 0.30, 1.00), (9_784, 67, 49_875), (12_136, 37, 22_479)),
    "WK-75": _preset(_WK, (20, 15, 0.40, 0.75), (6_853, 52, 28_741), (2_722, 65, 5_717)),
    "WK-50": _preset(_WK, (30, 80, 0.30, 0.50), (12_022, 72, 82_481), (9_328, 93, 16_121)),
    "WK-25": _preset(_WK, (30, 50, 0.50, 0.25), (12_659, 47, 41_873), (3_228, 74, 5_652)),
    "FB-100": _preset(_FB, (10, 20, 0.40, 1.00), (4_659, 134, 62_809), (2_624, 77, 11_645)),
    "FB-75": _preset(_FB, (10, 20, 0.40, 0.75), (4_659, 134, 62_809), (2_792, 186, 15_528)),
    "FB-50": _preset(_FB, (10, 50, 0.30, 0.50), (5_190, 153, 85_375), (4_445, 205, 19_394)),
    "FB-25": _preset(_FB, (10, 50, 0.25, 0.25), (5_190, 163, 91_571), (4_097, 216, 28_579)),
}


def preset(name: str) -> Preset:
    """The preset of a dataset's name."""
    if name not in PRESETS:
        raise ConfigError(f"no preset {name!r}; known are {', '.join(PRESETS)}")
    return PRESETS[name]
