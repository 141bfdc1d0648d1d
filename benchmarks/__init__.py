"""Speed and memory. `make bench` runs everything; see `python -m benchmarks --help`."""

import ingram as ingram  # first: it settles how torch's threads wait before torch is loaded
