"""Code in a process of its own."""

import os
import subprocess
import sys


def run_python(code: str, **environment: str) -> str:
    """What it prints."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
    )
    return done.stdout.strip()
