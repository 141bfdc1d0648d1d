"""The checks as the verbs that train and measure run them: a word on what is odd, no on a leak."""

from __future__ import annotations

from ingram.cli.screen import note
from ingram.datasets.checks import KINDS, ensure_sound
from ingram.errors import DatasetError
from ingram.graph import Dataset


def insist_on_sound(dataset: Dataset, *, allow_leaks: bool) -> None:
    """Refuse a dataset on which a result would be false; warn of everything else in one line."""
    try:
        findings = ensure_sound(dataset, allow=KINDS if allow_leaks else ())
    except DatasetError as error:
        raise DatasetError(
            f"{error}; `ingram data check` shows all, --allow-leaks goes on all the same"
        ) from error
    if findings:
        listed = ", ".join(f"{f.kind} {f.count:,}" for f in findings)
        note(f"{dataset.name}: worth knowing (see `ingram data check`): {listed}")
