"""``make torture`` and ``make fuzz``: kills, faults and broken inputs, as many as are promised.

``python -m tests.torture kills|faults|inputs [COUNT [FIRST]]`` does one of them, from number FIRST
on, and says after each piece what came of it.
"""

from __future__ import annotations

import logging
import sys
import tempfile
from pathlib import Path

from tests.torture import faults, kills, mutants

SEED = 0
COUNTS = {"kills": 50, "faults": 1_000, "inputs": 100_000}
PIECES = {"kills": 50, "faults": 50, "inputs": 5_000}


def main(what: str, count: int | None = None, first: int = 0) -> int:
    """Prints a line for each piece; status 1 if anything broke."""
    logging.disable()
    end, broken = first + (count or COUNTS[what]), 0
    for start in range(first, end, PIECES[what]):
        line, bugs = piece(what, min(PIECES[what], end - start), start)
        print(f"{what} from {start:,} on: {line}", *bugs, sep="\n  ", flush=True)
        broken += len(bugs)
    return 1 if broken else 0


def piece(what: str, count: int, first: int) -> tuple[str, list[str]]:
    """What came of it, and what broke."""
    if what == "kills":
        with tempfile.TemporaryDirectory() as folder:
            told = kills.in_a_process_of_its_own(Path(folder), count, SEED + first)
        return str(told), ["a run that was killed ended otherwise"] * told["different"]
    if what == "faults":
        failed = faults.torture(count, SEED, first)
        return f"{failed.trials:,} trials, {len(failed.broken)} broken", failed.broken
    found = mutants.torture(count, SEED, first)
    return str(found), found.bugs


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], *map(int, sys.argv[2:])))
