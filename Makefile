# Everything a person or a machine does here. Each target makes .venv and installs what it needs; a second run is quick.

PYTHON ?= python3
BIN := .venv/bin
AGENT := .venv/.agent
INSTALLED := .venv/.installed
DOCS_INSTALLED := .venv/.docs-installed
RELEASE_INSTALLED := .venv/.release-installed
WORKERS = $$($(BIN)/python -c 'import os; print(2 * (os.cpu_count() or 1))')

SECONDS ?= 60

# Compiled tests and modules are kept: pytest rewrites assertions anew in each process otherwise.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-slow test-thorough test-portable fuzz test-hosts agents-latest agents-table check docs reference packs bench bench-check conformance \
	conformance-page dist wheel-check lock locked release-check picture recordings clean

demo: $(AGENT)
	@$(BIN)/python examples/demo.py

test: $(INSTALLED)
	$(BIN)/pytest -n $(WORKERS) --dist worksteal -q

# Browsers, terminals, hubs, kills at random points: what takes its time, about ten minutes on two cores.
# tests/conftest.py lists it.
test-slow: $(INSTALLED)
	$(BIN)/pytest -m 'slow and not thorough' -n $(WORKERS) --dist worksteal -q

# Thousands of racing requests, guessed passwords and generated calls, every agent and format: by hand, an hour.
test-thorough: $(INSTALLED)
	$(BIN)/pytest -m thorough -n 2 -q

# What an agent waits for, on a system made to lack what only Linux has (tests/portable.py); needs root or user namespaces.
# One test at a time: an agent's mark is found there by its process alone, and workers have one parent.
test-portable: $(INSTALLED)
	$(BIN)/python tests/portable.py $(BIN)/pytest -q \
		tests/engine tests/dispatch tests/basics tests/install tests/journal

# Generated inputs, for SECONDS in all; TARGET=payloads for one target. What fails is kept in .cache/fuzz.
fuzz: $(INSTALLED)
	@PYTHONPATH=tests $(BIN)/python -m fuzz --seconds $(SECONDS) $(addprefix --target=,$(TARGET))

# Real agents from the package registries, in a cache folder; LATEST=1 for the newest (in another), AGENTS='codex …' for some.
test-hosts: $(INSTALLED)
	$(BIN)/python tests/hosts/agents.py install $(AGENTS)
	$(BIN)/pytest -m agents -n 3 -q -rs tests/hosts tests/hub

# The newest releases, in a cache folder of their own, against what was recorded; AGENTS='codex …' for some of them. What
# changed is in build/agents-latest.md; it fails if anything did.
agents-latest: $(INSTALLED)
	$(BIN)/python tests/hosts/radar.py $(AGENTS)

# docs/agents.md anew: every agent, mode and event, as observed.
agents-table: $(INSTALLED)
	$(BIN)/python tests/hosts/agents.py install
	$(BIN)/python tests/hosts/coverage.py --write

check: $(INSTALLED)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

# The site, in build/site: open index.html there, it needs no network. The variable silences mkdocs-material's notice of its successor.
docs: $(DOCS_INSTALLED)
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build

# docs/formats.md, commands.md, problems.md and the tables of security.md anew, from what they describe.
reference: $(INSTALLED)
	$(BIN)/python -m tools.reference

# packs/built-in anew: the built-in hooks as a pack, from src/tenterhook/hooks.
packs: $(INSTALLED)
	$(BIN)/python -m tools.built_in_pack

# docs/performance.md anew: its table, with other engines from the package registries, and its plots.
bench: $(INSTALLED)
	$(BIN)/python -m bench --write
	$(BIN)/python -m bench.packs --write

# Instructions and ratios of the hot paths against bench/record.json; fails if they have become dearer.
bench-check: $(INSTALLED)
	$(BIN)/python -m bench.check

# The wheel and the source archive: the same bytes from the same commit, wherever and whenever.
dist: $(INSTALLED)
	rm -rf dist
	$(BIN)/python -m hatchling build -d dist

# The wheel with pip, pipx and uvx, on every Python of this machine, from outside the checkout.
wheel-check: $(INSTALLED)
	$(BIN)/python -m tools.wheel_check

# Everything that a release needs but the upload; STEPS='lock workflows' for some of it.
release-check: $(RELEASE_INSTALLED)
	@$(BIN)/python -m tools.release_check $(STEPS)

# requirements.lock anew, for today's pyproject.toml; UPGRADE=1 for the newest versions of everything.
lock: $(RELEASE_INSTALLED)
	$(BIN)/python -m tools.lock $(if $(UPGRADE),--upgrade)

# .venv with exactly what requirements.lock says, for every other target: what the workflows use.
locked:
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes --requirement requirements.lock
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	touch $(AGENT) $(INSTALLED) $(DOCS_INSTALLED) $(RELEASE_INSTALLED)

# docs/pictures/demo.svg anew: the demo as it runs.
picture: $(INSTALLED)
	$(BIN)/python -m tools.record_demo

# The recordings of real agents in docs/pictures anew: claude-code.svg, kimi-code.svg, approval.svg. They need Node, npm and Chromium.
recordings: $(INSTALLED)
	$(BIN)/python tests/hosts/recordings.py

# Our engine through the conformance kit, as any other engine would be.
conformance: $(INSTALLED)
	$(BIN)/python conformance/run.py --engine '$(BIN)/python conformance/engines/tenterhook_engine.py'

# docs/conformance.md anew, with kimi-cli from the Python index.
conformance-page: $(INSTALLED)
	$(BIN)/python -m conformance.page --write

clean:
	rm -rf .venv .cache build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis

$(AGENT): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("Tenterhook needs Python 3.11 or newer: make PYTHON=python3.11") if sys.version_info < (3, 11) else None'
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@echo "setting up .venv (the first time only)"
	@$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[agent]'
	@touch $@

$(INSTALLED): $(AGENT)
	@echo "adding what tests need to .venv"
	@$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[all]' $$($(BIN)/python -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["dependency-groups"]["dev"])')
	@touch $@

$(DOCS_INSTALLED): $(INSTALLED)
	@echo "adding what makes the site to .venv"
	@$(BIN)/pip install --quiet --disable-pip-version-check $$($(BIN)/python -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["dependency-groups"]["docs"])')
	@touch $@

$(RELEASE_INSTALLED): $(DOCS_INSTALLED)
	@echo "adding what a release needs to .venv"
	@$(BIN)/pip install --quiet --disable-pip-version-check $$($(BIN)/python -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["dependency-groups"]["release"])')
	@touch $@
