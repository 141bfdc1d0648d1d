# Two commands for a newcomer: `make demo` and `make test`. Each sets up all it needs in .venv.
# pip's usual environment variables (PIP_INDEX_URL, PIP_EXTRA_INDEX_URL, PIP_FIND_LINKS, ...) hold.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test check docs bench torture fuzz sbom clean

demo: .venv/installed
	$(BIN)/ingram demo -o demo-run

test: .venv/installed-dev
	$(BIN)/python -m pytest

check: .venv/installed-dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

# The reference of the command line; a test says when it is due.
docs: .venv/installed-dev
	$(BIN)/python scripts/cli_reference.py

bench: .venv/installed-dev
	$(BIN)/python -m benchmarks

# Long: training killed 50 times, the disk failing 1,000 times; 100,000 broken inputs.
torture: .venv/installed-dev
	$(BIN)/python -m tests.torture kills
	$(BIN)/python -m tests.torture faults

fuzz: .venv/installed-dev
	$(BIN)/python -m tests.torture inputs

# What is installed, as CycloneDX.
sbom: .venv/installed-dev
	$(BIN)/python scripts/sbom.py sbom.json

# The environment is made anew when the wanted packages change.
.venv/installed: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	PIP_CONSTRAINT=constraints.txt $(BIN)/python -m pip install --quiet --editable .
	touch $@

.venv/installed-dev: .venv/installed
	PIP_CONSTRAINT=constraints.txt $(BIN)/python -m pip install --quiet --editable ".[dev]"
	touch $@

clean:
	rm -rf .venv demo-run sbom.json
