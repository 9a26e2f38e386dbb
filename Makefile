# Pulse: every command a person needs. `make help` lists them.
#
# PYTHON=/path/to/python3.12 picks an interpreter; ARGS="..." is passed on by run, test and bench.

VENV  := .venv
BIN   := $(VENV)/bin
READY := $(VENV)/.ready
ARGS  ?=
PG    ?=
SECONDS ?= 30

# Kept even where the environment says no (many images do): the tests start hundreds of interpreters, and each of
# them would compile our sources again, which is half of its start.
export PYTHONDONTWRITEBYTECODE :=

.DEFAULT_GOAL := help
.PHONY: help run test test-all test-mutants test-pg stress lint bench snapshot lock clean venv model

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile

run: $(READY) ## the demo on an embedded Postgres (ARGS="--for 10s")
	@$(BIN)/pulse-runtime demo $(ARGS)

test: $(READY) ## the tests, under five minutes (ARGS="-k name")
	$(BIN)/python $(if $(strip $(ARGS)),-m pytest,tests/parts.py) -m "not long and not mutants" $(ARGS)

test-all: $(READY) ## the tests and their long versions
	$(BIN)/python -m pytest -m "not mutants" --hypothesis-profile long $(ARGS)

stress: $(READY) ## a crowd on the store for 30 s while Postgres crashes twice (SECONDS=600 for longer)
	PULSE_STRESS_S=$(SECONDS) $(BIN)/python -m pytest tests/db/test_stress.py -s $(ARGS)

test-mutants: $(READY) ## break the shipped SQL in known ways; the stress test must notice each
	$(BIN)/python -m pytest -m mutants $(ARGS)

test-pg: $(READY) ## the tests on the distribution's Postgres (PG=15)
	@test -n "$(PG)" || { echo "say which one: make test-pg PG=15" >&2; exit 2; }
	@test -x /usr/lib/postgresql/$(PG)/bin/postgres || { \
	  echo "there is no Postgres $(PG) in /usr/lib/postgresql; install it, e.g. apt-get install postgresql-$(PG)" >&2; exit 2; }
	PULSE_PG_BIN=/usr/lib/postgresql/$(PG)/bin $(BIN)/python -m pytest -m "not long and not mutants" $(ARGS)

lint: $(READY) ## ruff, formatting, types, import rules
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

model: $(READY) ## the model of the ledger, and its known mistakes, through spin (ARGS=NO_LATE)
	@$(BIN)/python tests/model/run.py $(ARGS)

bench: $(READY) ## one benchmark (ARGS="operate --quick --json out.json"); without a name it lists them
	@$(BIN)/python -m benchmarks $(ARGS)

snapshot: $(READY) ## write sql/pulse_sql/schema.sql again, after a new migration
	$(BIN)/python -m pulse_runtime.store.snapshot

lock: $(READY) ## resolve requirements.lock again (hashes, no addresses)
	$(BIN)/python -m pip install --quiet "uv>=0.5"
	$(BIN)/uv pip compile --universal --upgrade --generate-hashes --no-header --no-annotate --no-emit-index-url \
	  --no-emit-find-links --all-extras --group dev --quiet pyproject.toml -o requirements.lock

clean: ## remove .venv and everything generated (data in PULSE_HOME stays)
	rm -rf $(VENV) dist build .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

venv: $(READY) ## make .venv from the hashed lock

$(READY): requirements.lock pyproject.toml
	@set -e; python=""; \
	for each in $(PYTHON) python3 python3.13 python3.12 python3.11; do \
	  if "$$each" -c 'import sys, ensurepip, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then python="$$each"; break; fi; \
	done; \
	test -n "$$python" || { \
	  echo "make: no Python 3.11 or newer with the venv module was found." >&2; \
	  echo "  On Debian and Ubuntu: apt-get install python3-venv. Elsewhere: make PYTHON=/path/to/python3.12" >&2; exit 1; }; \
	echo "making $(VENV) with $$("$$python" --version) ..."; \
	"$$python" -m venv --clear $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --only-binary :all: -r requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $(READY)
