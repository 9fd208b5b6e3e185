# Everything a person or a machine does here. Each target makes .venv and installs what it needs; a second run is quick.

PYTHON ?= python3
BIN := .venv/bin
INSTALLED := .venv/.installed
WORKERS = $$($(BIN)/python -c 'import os; print(2 * (os.cpu_count() or 1))')

.PHONY: demo test test-slow test-thorough test-hosts agents-table check bench bench-check conformance conformance-page clean

demo: $(INSTALLED)
	@$(BIN)/python examples/demo.py

test: $(INSTALLED)
	$(BIN)/pytest -n $(WORKERS) -q

# Browsers, terminals, hubs, kills at random points: what takes its time. tests/conftest.py lists it.
test-slow: $(INSTALLED)
	$(BIN)/pytest -m slow -n $(WORKERS) -q

# Thousands of racing requests, guessed passwords and generated calls, by hand: it takes half an hour.
test-thorough: $(INSTALLED)
	$(BIN)/pytest -m thorough -n 2 -q

# Real agents from the package registries, in a cache folder; LATEST=1 for the newest.
test-hosts: $(INSTALLED)
	$(BIN)/python tests/hosts/agents.py install
	$(BIN)/pytest -m agents -n 2 -q -rs tests/hosts tests/hub tests/conformance || { echo "once more, those that failed: agents are other people's programs"; \
		$(BIN)/pytest -m agents -n 1 -q -rs --last-failed --last-failed-no-failures none tests/hosts tests/hub tests/conformance; }

# docs/agents.md anew: every agent, mode and event, as observed.
agents-table: $(INSTALLED)
	$(BIN)/python tests/hosts/agents.py install
	$(BIN)/python tests/hosts/coverage.py --write

check: $(INSTALLED)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

bench: $(INSTALLED)
	$(BIN)/python -m bench

# Instructions and ratios of the hot paths against bench/record.json; fails if they have become dearer.
bench-check: $(INSTALLED)
	$(BIN)/python -m bench.check

# Our engine through the conformance kit, as any other engine would be.
conformance: $(INSTALLED)
	$(BIN)/python conformance/run.py --engine '$(BIN)/python conformance/engines/tenterhook_engine.py'

# docs/conformance.md anew, with kimi-cli from the Python index.
conformance-page: $(INSTALLED)
	$(BIN)/python -m conformance.page --write

clean:
	rm -rf .venv .cache build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis

$(INSTALLED): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("Tenterhook needs Python 3.11 or newer: make PYTHON=python3.11") if sys.version_info < (3, 11) else None'
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@echo "setting up .venv (the first time only)"
	@$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[agent,hub,otel]' $$($(BIN)/python -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["dependency-groups"]["dev"])')
	@touch $@
