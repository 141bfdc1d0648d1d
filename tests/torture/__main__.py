"""``make torture`` and ``make fuzz``: kills, faults and broken inputs, as many as are promised.

``python -m tests.torture kills|faults|inputs [COUNT [FIRST]]`` does one of them, from number FIRST
on, so that a long one can be done in pieces.
"""

from __future__ import annotations

import logging
import sys
import tempfile
from pathlib import Path

from tests.torture import faults, kills, mutants

SEED = 0
COUNTS = {"kills": 50, "faults": 1_000, "inputs": 100_000}


def main(what: str, count: int | None = None, first: int = 0) -> int:
    """Prints what happened in a line; status 1 if anything broke."""
    logging.disable()
    count = count or COUNTS[what]
    if what == "kills":
        with tempfile.TemporaryDirectory() as folder:
            killed = kills.in_a_process_of_its_own(Path(folder), count, SEED + first)
        line, bugs = str(killed), ["a run that was killed ended otherwise"] * killed["different"]
    elif what == "faults":
        failed = faults.torture(count, SEED, first)
        line, bugs = f"{failed.trials:,} faults, {len(failed.broken)} broken", failed.broken
    else:
        told = mutants.torture(count, SEED, first)
        line, bugs = str(told), told.bugs
    print(f"{what} from {first:,} on: {line}", *bugs, sep="\n  ", flush=True)
    return 1 if bugs else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], *map(int, sys.argv[2:])))
