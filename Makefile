# Everything here sets itself up on a machine with Python 3.11 or newer and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: install install-all demo docs test test-fast test-bounds test-spark test-docs test-wheel coverage check lock bench axe clean

demo: $(VENV)/.installed
	@$(BIN)/hushtable warm-up --for anonymize
	@$(BIN)/hushtable demo --force

install: $(VENV)/.installed-test

# What .ci/run needs: stages that run side by side install nothing.
install-all: $(VENV)/.installed-spark $(VENV)/.installed-docs

test: $(VENV)/.installed-test
	@PATH="$(CURDIR)/$(BIN):$$PATH" scripts/test

test-fast: $(VENV)/.installed-test
	@PATH="$(CURDIR)/$(BIN):$$PATH" scripts/test --fast

test-bounds: $(VENV)/.installed-test
	@PATH="$(CURDIR)/$(BIN):$$PATH" scripts/test_bounds

test-docs: $(VENV)/.installed-test
	@PATH="$(CURDIR)/$(BIN):$$PATH" scripts/test_docs

test-wheel: $(VENV)/.installed-test
	@PATH="$(CURDIR)/$(BIN):$$PATH" scripts/test_wheel

docs: $(VENV)/.installed-docs
	@PATH="$(CURDIR)/$(BIN):$$PATH" sh -c "python scripts/make_docs.py && python scripts/check_search.py"

test-spark: $(VENV)/.installed-spark
	@PATH="$(CURDIR)/$(BIN):$$PATH" scripts/test_spark

check: $(VENV)/.installed-test
	@PATH="$(CURDIR)/$(BIN):$$PATH" scripts/check

coverage: $(VENV)/.installed-coverage
	@PATH="$(CURDIR)/$(BIN):$$PATH" scripts/coverage

# The versions of this environment, for whoever wants the same ones; CI takes the newest instead.
lock: $(VENV)/.installed-test
	@$(BIN)/python -m pip freeze --quiet --exclude-editable >requirements-dev.lock

bench: $(VENV)/.installed-bench
	@PATH="$(CURDIR)/$(BIN):$$PATH" scripts/bench

# What the tests of pages in a browser ask of accessibility; they are skipped without it, and without Chromium.
axe:
	@npm install --silent --prefix .node axe-core

clean:
	rm -rf $(VENV) demo

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"

$(VENV)/.installed: $(BIN)/python pyproject.toml
	$(BIN)/python -m pip install --quiet --editable .
	@touch $@

$(VENV)/.installed-test: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --group test --group check
	@touch $@

$(VENV)/.installed-spark: $(VENV)/.installed-test
	$(BIN)/python -m pip install --quiet --editable ".[spark]"
	@touch $@

$(VENV)/.installed-docs: $(VENV)/.installed
	@$(BIN)/python -m pip install --quiet --group docs
	@touch $@

$(VENV)/.installed-coverage: $(VENV)/.installed-test
	$(BIN)/python -m pip install --quiet --group coverage
	@touch $@

$(VENV)/.installed-bench: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --group bench
	@touch $@
