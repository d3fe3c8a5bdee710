# Every target sets up what it needs: a machine with Python >= 3.11 and Java 17 is enough.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
WORKERS ?= 2
STORE  ?= lmdb

.DEFAULT_GOAL := help
.PHONY: help setup demo check test soak bench reference format clean

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## /{printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(READY)  ## create .venv with everything (done once, by whichever target comes first)

$(READY): setup.cfg pyproject.toml
	@echo "Setting up $(VENV): Spark and HBase clients included, some 500 MB, a minute or two."
	$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed, this is " + sys.version) if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --disable-pip-version-check --progress-bar on --editable '.[dev]'
	@touch $@

demo: $(READY)  ## show what it is for, and write demo.html; STORE=hbase on a local HBase with three servers
	$(BIN)/python -m spark.demo --store $(STORE)

check: $(READY)  ## format, lint, types, architecture; seconds
	$(BIN)/ruff format --check .
	$(BIN)/ruff check --output-format concise .
	$(BIN)/mypy
	$(BIN)/python -m pytest -q tests/test_architecture.py

test: $(READY)  ## everything but the long forms; prints which stores ran
	$(BIN)/python -m pytest -m 'not soak' --numprocesses $(WORKERS) --max-worker-restart 0 --timeout 600 tests

soak: $(READY)  ## the long forms
	$(BIN)/python -m pytest -m soak tests

bench: $(READY)  ## benchmarks, each beside the raw driver in the same run
	$(BIN)/python -m benchmarks

reference: $(READY)  ## write docs/reference and the pictures anew, from the code
	$(BIN)/python docs/reference
	$(BIN)/python docs/pictures

format: $(READY)  ## rewrite the code in the house format
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean:  ## remove .venv and what the tools left
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis build dist *.egg-info
