"""Speed and memory. `make bench` runs everything; see `python -m benchmarks --help`."""
