# unmask: `make` lists the targets. Every target sets up what it needs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt
OLDEST := .venv-oldest
# Two cores: two test processes, each with one thread of its own.
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 NUMBA_NUM_THREADS=1
PYTEST := $(ONE_THREAD) $(BIN)/python -m pytest --durations=25

.DEFAULT_GOAL := help
.PHONY: help demo test check check-oldest calibrate fuzz mutants bench papers soak docs clean

help:  ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1|/' | column -t -s '|'

$(VENV)/installed: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "unmask needs Python 3.11 or newer; try: make PYTHON=python3.11")'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Installing unmask into $(VENV) (once) ..."
	@$(PIP) --editable .
	@touch $@

$(VENV)/installed-test: $(VENV)/installed
	@echo "Installing the test tools into $(VENV) (once) ..."
	@$(PIP) --editable '.[test,check,cluster]'
	@touch $@

$(OLDEST)/installed: pyproject.toml constraints-oldest.txt
	@test -x $(OLDEST)/bin/python || $(PYTHON) -m venv $(OLDEST)
	@echo "Installing the oldest supported libraries into $(OLDEST) (once) ..."
	@$(OLDEST)/bin/python -m pip install --quiet --disable-pip-version-check --constraint constraints-oldest.txt --editable '.[test]'
	@touch $@

demo: $(VENV)/installed  ## install, then audit a leaky and a careful release of the bundled data
	@$(BIN)/unmask demo

test: $(VENV)/installed-test  ## every test but the long calibration runs (about 12 minutes at most)
	@scripts/ensure-browser
	$(PYTEST) -n 2 -m "not calibration and not papers and not soak"

check: $(VENV)/installed-test  ## ruff, mypy, import-linter
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Compiled loops are kept apart: each numba throws away those of the other. Frozen figures are of newer scikit-learn and scipy.
check-oldest: $(OLDEST)/installed  ## the tests of `make test` with the oldest libraries that pyproject.toml allows
	@scripts/ensure-browser
	NUMBA_CACHE_DIR=$(CURDIR)/$(OLDEST)/numba $(ONE_THREAD) $(OLDEST)/bin/python -m pytest -n 2 -m "not calibration and not papers and not soak and not pinned"

calibrate: $(VENV)/installed-test  ## honesty and power over hundreds of seeds (under 20 minutes)
	$(PYTEST) -n 2 -m calibration

SEED ?= 1
SECONDS ?= 900
fuzz: COUNT ?= 2000
fuzz: $(VENV)/installed-test  ## random files and options through the command line (SEED, COUNT, SECONDS); a short form is in calibrate
	$(ONE_THREAD) $(BIN)/python -m tests.fuzz --seed $(SEED) --count $(COUNT) --seconds $(SECONDS)

mutants: COUNT ?= 100
mutants: $(VENV)/installed-test  ## do the tests see a fault? one at a time into statistics and judges (SEED, COUNT; long)
	$(ONE_THREAD) $(BIN)/python scripts/mutants.py --seed $(SEED) --count $(COUNT)

papers: $(VENV)/installed-test  ## the papers' experiments in full, their pages in docs/explanation/papers, and their tests (long; ONLY=name for one)
	$(ONE_THREAD) $(BIN)/python -m tests.papers $(ONLY)
	$(PYTEST) -m papers

soak: $(VENV)/installed-test  ## kills and damage at many random moments, a real cluster (long; recorded in docs/)
	$(PYTEST) -m soak

bench: $(VENV)/installed-test  ## side-by-side timings, printed as ratios (ONLY=name for one)
	$(ONE_THREAD) $(BIN)/python -m benchmarks $(ONLY)

docs: $(VENV)/installed  ## the example of docs/how-to/read-the-report.md and the picture of the README
	@scripts/ensure-browser
	$(BIN)/unmask demo --out build/docs/demo --quiet
	$(BIN)/python -c "from pathlib import Path; from unmask.reports.browser import write_picture; write_picture(Path('build/docs/demo/report.html'), Path('docs/images/report.png'))"

clean:  ## remove the environments and the caches
	rm -rf $(VENV) $(OLDEST) build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
