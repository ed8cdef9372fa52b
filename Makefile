# Plain Python 3.11 is all that is needed.  Every target is safe to run again: environments are
# made once and refreshed only when pyproject.toml changes.
#
#   make demo       a derivation, then Adam: generated, proved, run
#   make test       lint and the test suite: all of it but for sweeps (every recipe, family, model,
#                   target …), of which it runs a sample that is always the same; with make peers
#                   what CI runs
#   make full       lint and the test suite with every case of every sweep: a quarter of an hour,
#                   by hand, before what changes much is handed on
#   make compiles   compile and step everything that `generate` accepts: hours, goes on where it
#                   stopped
#   make verify-models  what verify finds of every model, flag and target: an hour, goes on where
#                   it stopped
#   make quick      lint and the core of every room's tests: a minute
#   make lint       ruff and strict types
#   make mutants    step functions with one mistake each, put to verify: none is proved (minutes)
#   make peers      the emitted optimizers and models against public implementations, live
#   make bench      what is emitted against public packages, hand-written kernels and memory
#                   (BENCH=--quick: a minute; BENCH=--growth: cost against size)
#   make bench-models  emitted models against kernels written by hand and public packages
#   make bench-tool how long the tool itself takes, as ratios
#   make bench-growth  how its stages and passes grow with the terms of a loss: build/growth
#   make generated  rebuild generated/
#   make clean      remove environments and caches

.DELETE_ON_ERROR:
.DEFAULT_GOAL := help
.PHONY: help demo test full suite whole core compiles verify-models quick lint mutants peers bench bench-models bench-tool bench-growth generated clean

# The first of these that runs and is new enough; say `make PYTHON=/path/to/python3` to choose.
PYTHON ?= $(shell for p in python3.11 python3 python3.12 python3.13 python; do \
	"$$p" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo "$$p" && break; \
	done)
VENV := .venv
PEERS := .venv-peers
TIMED := .venv-bench
BIN := $(VENV)/bin
PIP_FLAGS := --quiet --disable-pip-version-check
# A process for each core, and tests of one file together, until one of them has nothing left.
PARALLEL := -n auto --dist worksteal
# An environment does not see packages from outside it.
unexport PYTHONPATH PYTHONHOME

help:
	@sed -n 's/^#   //p' Makefile

$(VENV)/made $(PEERS)/made $(TIMED)/made: %/made:
	@test -n "$(PYTHON)" || { echo "blrgen needs Python 3.11 or newer" >&2; exit 1; }
	$(PYTHON) -m venv --clear $*
	@touch $@

$(VENV)/installed: pyproject.toml $(VENV)/made
	$(BIN)/python -m pip install $(PIP_FLAGS) -e .
	@touch $@

$(VENV)/installed-test: pyproject.toml $(VENV)/made
	$(BIN)/python -m pip install $(PIP_FLAGS) -e '.[test]'
	@touch $(VENV)/installed $@

# torch first and alone: whatever depends on it would otherwise pull a build with gigabytes of
# GPU libraries.
$(PEERS)/installed: pyproject.toml tests/peers/requirements.txt $(PEERS)/made
	$(PEERS)/bin/python -m pip install $(PIP_FLAGS) torch==2.13.0
	$(PEERS)/bin/python -m pip install $(PIP_FLAGS) -r tests/peers/requirements.txt
	$(PEERS)/bin/python -m pip install $(PIP_FLAGS) -e .
	@touch $@

$(TIMED)/installed: pyproject.toml benchmarks/requirements.txt $(TIMED)/made
	$(TIMED)/bin/python -m pip install $(PIP_FLAGS) torch==2.13.0
	$(TIMED)/bin/python -m pip install $(PIP_FLAGS) -r benchmarks/requirements.txt
	$(TIMED)/bin/python -m pip install $(PIP_FLAGS) -e .
	@touch $@

demo: $(VENV)/installed
	$(BIN)/blrgen derive gaussian-diag --delta
	@mkdir -p build
	$(BIN)/blrgen generate adam --target numba --dtype float64 -o build/adam.py --force
	$(BIN)/blrgen verify adam
	$(BIN)/blrgen verify build/adam.py --against adam
	$(BIN)/python examples/adam_demo.py build/adam.py

lint: $(VENV)/installed-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# types are checked by one process: tests run beside it
test: BESIDE := suite
full: BESIDE := whole
quick: BESIDE := core
test full quick: $(VENV)/installed-test
	@$(MAKE) --no-print-directory -j2 lint $(BESIDE)

# tests/sweeps.py marks `rest` what the sample of a sweep does not hold
suite: $(VENV)/installed-test
	$(BIN)/python -m pytest $(PARALLEL) -m 'not rest'

whole: $(VENV)/installed-test
	$(BIN)/python -m pytest $(PARALLEL)

compiles: $(VENV)/installed-test
	$(BIN)/python -m tests.compiles

verify-models: $(VENV)/installed-test
	$(BIN)/python -m tests.verify_models

# a file whose tests are not marked need not even be imported
core: $(VENV)/installed-test
	$(BIN)/python -m pytest $(PARALLEL) -q -m 'core and not (long or rest)' $$(grep -rl --include='test_*.py' 'mark\.core\b' tests)

mutants: $(VENV)/installed-test
	$(BIN)/python -m tests.mutants --emitted $(MUTANTS)

peers: $(PEERS)/installed
	$(PEERS)/bin/python tests/peers/live.py
	$(PEERS)/bin/python -m tests.peers.models.live

bench: $(TIMED)/installed
	$(TIMED)/bin/python -m benchmarks $(BENCH)

bench-models: $(TIMED)/installed
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(TIMED)/bin/python -m benchmarks.models.run $(BENCH)

bench-tool: $(VENV)/installed
	$(BIN)/python -m benchmarks.tool_speed

bench-growth: $(TIMED)/installed
	$(TIMED)/bin/python -m benchmarks.terms

generated: $(VENV)/installed
	$(BIN)/python -m blrgen.emit.generated

clean:
	rm -rf $(VENV) $(PEERS) $(TIMED) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
