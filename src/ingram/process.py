"""Settings of the process, made before torch is loaded. A value set by the user stands.

Threads: GNU OpenMP, which runs torch's matrix products, keeps its idle threads spinning for
milliseconds after each product. Whatever runs beside them, such as another process, would fight
them for the cores. A short spin costs the products nothing.

Memory: glibc hands arrays of a few megabytes back to the system when they are freed and fetches
them anew in the next step, a page fault for every 4 KiB. Keeping them makes a step about a sixth
shorter, and never needs more than the peak.
"""

import ctypes
import os
import sys

os.environ.setdefault("GOMP_SPINCOUNT", "10000")

TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3  # glibc's names for mallopt
KEEP_BYTES = 2**30
LARGEST_KEPT_BLOCK = 2**25  # the most that glibc accepts

if sys.platform == "linux" and not any(name.startswith("MALLOC_") for name in os.environ):
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)  # other C libraries have none
    if mallopt is not None:
        mallopt(TRIM_THRESHOLD, KEEP_BYTES)
        mallopt(MMAP_THRESHOLD, LARGEST_KEPT_BLOCK)
