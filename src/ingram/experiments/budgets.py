"""In what a run fell short of what it is called after."""

from __future__ import annotations

from ingram.experiments.methods import Method
from ingram.experiments.runs import outcome_of, reached
from ingram.training.checkpoints import RunDirectory
from ingram.training.config import RunConfig

OWN_TO_A_RUN = ("training.epochs", "training.seed")


def budget(run: RunDirectory, method: Method, seed: int) -> str:
    """In what a run fell short of its method or differs from it; empty if in nothing."""
    if method.config is None:
        return ""
    if not (run.path / "config.yaml").exists():
        return "settings not kept"
    whole = method.config_for(seed, None)
    done, wanted = reached(run), whole.training.epochs
    early = outcome_of(run.path).get("stopped") == "no better validation"
    words = []
    if method.start is not None:
        words.append(f"{done:,} epochs")
    elif done < wanted and not early:
        words.append(f"short: {done:,} of {wanted:,} epochs")
    elif done > wanted:
        words.append(f"long: {done:,} epochs for {wanted:,}")
    own = [one for one in changes(run.config(), whole) if not one.startswith(OWN_TO_A_RUN)]
    return ", ".join(words + ([f"own settings: {', '.join(own)}"] if own else []))


def changes(config: RunConfig, wanted: RunConfig) -> list[str]:
    """The settings that are not as wanted, as ``section.key=value``."""
    ours, theirs = config.model_dump(), wanted.model_dump()
    return [
        f"{section}.{key}={value}"
        for section, values in ours.items()
        for key, value in values.items()
        if value != theirs.get(section, {}).get(key)
    ]
