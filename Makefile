# Every target works from a fresh clone with Python 3.11+ and make. See README.md for what each costs.
PYTHON ?= python3
PORT ?= 7860
# TORCH=cpu takes PyTorch's own CPU builds: on Linux the default one brings 2.7 GB of CUDA libraries.
TORCH ?=
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
TORCH_INDEX := $(if $(filter cpu,$(TORCH)),--index-url https://download.pytorch.org/whl/cpu,)

.PHONY: help setup dev browser run test test-slow check format evals baseline bench faults lock clean
.DEFAULT_GOAL := help

help:
	@echo "make run     install, ingest the bundled sample, serve http://127.0.0.1:$(PORT)"
	@echo "make test    the whole test suite        make check   format, lint, types, contracts"
	@echo "make evals   gate on the bundled sample  make setup   install only [TORCH=cpu]"

# A stamp is written last, so that an interrupted install is taken up again by the next call.
$(VENV)/.python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "paperchat needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) -V 2>&1). Set PYTHON=..." >&2; exit 2; }
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.runtime: $(VENV)/.python requirements/runtime.txt requirements/torch.txt pyproject.toml
	@echo "Installing paperchat into $(VENV) (about 2 minutes and 2 GB)"
	$(PIP) install --no-deps --require-hashes -r requirements/runtime.txt
	$(PIP) install $(TORCH_INDEX) -r requirements/torch.txt
	$(PIP) install --no-deps --no-build-isolation -e .
	@touch $@

$(VENV)/.dev: $(VENV)/.runtime requirements/dev.txt
	$(PIP) install --no-deps --require-hashes -r requirements/dev.txt
	$(PIP) check
	@touch $@

setup: $(VENV)/.runtime

dev: $(VENV)/.dev

run: setup
	@test -e "$${PAPERCHAT_INDEX_DIR:-index}/CURRENT" || $(BIN)/paperchat ingest ingest/samples/icml2026_sample.jsonl
	@exec $(BIN)/paperchat serve --port $(PORT)

test: dev
	$(BIN)/python -m pytest

# What takes long, or needs the papers of a whole conference (PAPERCHAT_DATA names their folder).
test-slow: dev
	$(BIN)/python -m pytest -m slow

# Puts the bundled questions to the bundled sample, in an index of its own; fails where it did worse than the baseline.
EVALS_INDEX := .venv/evals-index
evals: dev
	@PAPERCHAT_PRECISION=fp32 PAPERCHAT_INDEX_DIR=$(EVALS_INDEX) $(BIN)/paperchat ingest ingest/samples/icml2026_sample.jsonl
	@PAPERCHAT_PRECISION=fp32 PAPERCHAT_INDEX_DIR=$(EVALS_INDEX) $(BIN)/paperchat-evals gate seeds

# Accepts today's scores as the ones that tests compare with.
baseline: dev
	@PAPERCHAT_PRECISION=fp32 PAPERCHAT_INDEX_DIR=$(EVALS_INDEX) $(BIN)/paperchat ingest ingest/samples/icml2026_sample.jsonl
	@PAPERCHAT_PRECISION=fp32 PAPERCHAT_INDEX_DIR=$(EVALS_INDEX) $(BIN)/paperchat-evals baseline seeds

# Kills, fills and spoils an index in every way we know (about a quarter of an hour).
faults: dev
	$(BIN)/python -m pytest -m "faults or not faults" -s tests/faults

# Measures speed, size and precision, about an hour, with data that is not in the repository.
DATA ?= data
bench: dev
	$(BIN)/paperchat-evals bench --data $(DATA)

# The tests of the page drive a real browser: Debian's Chromium, and fonts for its Chinese titles.
browser:
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || { \
	  apt-get update -qq && apt-get install -y -qq chromium fonts-noto-cjk; } || { \
	  echo "Install Chromium by hand (as root: apt-get install chromium); the tests of the page need it." >&2; exit 2; }

check: dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/deptry .

format: dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# Regenerates requirements/runtime.txt and dev.txt from pyproject.toml; pins stay unless UPGRADE=--upgrade.
lock: dev
	$(PIP) install -q uv
	$(BIN)/python requirements/lock.py $(UPGRADE)

clean:
	rm -rf $(VENV) index .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
