# Mayfly: `make run` and `make test` are all you need; `make help` lists the rest.
SHELL := /bin/sh
.DEFAULT_GOAL := help
VENV ?= .venv
PY := $(VENV)/bin/python
PIP := $(PY) -m pip install --quiet --disable-pip-version-check
PORT ?= 8000
SIZE ?= everyday
APT := DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends fonts-dejavu-core

# The newest Python we support that is here (override with make PYTHON=…).
PYTHON ?= $(shell for p in python3.13 python3.12 python3.11 python3; do \
  $$p -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null \
  && echo $$p && break; done)

export MAYFLY_PORT ?= $(PORT)
# A dozen processes start here: what one of them has compiled, the others need not.
unexport PYTHONDONTWRITEBYTECODE

run: setup ## set up what is missing, then run the whole system (PORT=8000)
	@exec $(PY) manage.py up

setup: $(VENV)/installed ## the virtual environment with what the system runs on

test: ready ## set up what is missing, then every test
	@$(PY) -m tests.run --size $(SIZE)

deep: ready ## the same tests at full size
	@$(PY) -m tests.run --size full

bench: $(VENV)/installed-tests ## measure: one JSON line a figure, ours beside a peer
	@$(PY) -m tests.bench

faults: $(VENV)/installed-tests ## kill, freeze and starve a running system, and print what came of it
	@$(PY) -m tests.faults

soak: setup ## a year of work with 5,000 phones, and a table of what must be zero
	@$(PY) manage.py simulate --scenario soak --devices 5000 --weeks 52

screenshots: ready ## take the README's pictures again (about five minutes)
	@$(PY) -m tests.screenshots

lint: $(VENV)/installed-tests ## ruff, bandit, mypy, import ladder, migrations
	@$(VENV)/bin/ruff check .
	@$(VENV)/bin/ruff format --check .
	@$(VENV)/bin/bandit --quiet --recursive --configfile pyproject.toml aggregation devices_sim portal manage.py
	@$(VENV)/bin/mypy
	@$(VENV)/bin/lint-imports
	@$(PY) manage.py makemigrations --check --dry-run

audit: $(VENV)/installed-tests ## known faults of the installed packages (needs the network)
	@$(PY) -m tests.audit

clean: ## remove the virtual environment, caches and the demo's data
	rm -rf $(VENV) .mayfly .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis test-results
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## /{printf "  make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(VENV)/python:
	@test -n "$(PYTHON)" || { echo "mayfly: No Python 3.11, 3.12 or 3.13 was found. Install one, or name it: make PYTHON=/path/to/python3.12 run." >&2; exit 2; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { echo "mayfly: $(PYTHON) lacks the venv module. On Debian and Ubuntu: apt-get install python3-venv; then run make again." >&2; exit 2; }
	@echo "mayfly: making $(VENV) with $(PYTHON)"
	@$(PYTHON) -m venv $(VENV)
	@$(PY) -m pip uninstall --quiet --yes setuptools 2>/dev/null # of Python 3.11: old, and not needed
	@touch $@

# Today's pip takes half of the time; what is never imported need not be compiled.
# $(1) tells what is wanted; $(2) names it; $(3) is the file for pip.
define unless_same
	@$(1) | cmp -s - $@ || { echo "mayfly: installing $(2) (a minute or two the first time)" \
	&& $(PIP) "$$(sed -n 's/^\(pip==[^ ]*\).*/\1/p' requirements.txt)" && $(PIP) --no-compile -r $(3) && $(1) > $@; } \
	|| { echo "mayfly: A package could not be installed; the lines above say which. Check the network or the package index, then run make again." >&2; exit 2; }
endef

# What was installed is kept and compared: a file that comes out of an archive may look old.
$(VENV)/installed: requirements.txt FORCE | $(VENV)/python
	$(call unless_same,cat requirements.txt,packages,requirements.txt)

$(VENV)/installed-tests: requirements.txt tests/requirements.txt FORCE | $(VENV)/python
	$(call unless_same,cat requirements.txt tests/requirements.txt,packages for tests,tests/requirements.txt)
	@cp requirements.txt $(VENV)/installed

# Both at once: one loads from the network while the other unpacks.
ready: ## what tests need: their packages, and a browser
	@$(MAKE) --no-print-directory -j2 $(VENV)/installed-tests browser

# Chromium through apt where that can be had (its headless shell, where the distribution has one);
# without it the browser tests skip with a sentence, except in CI, where they must run.
browser:
	@command -v chromium-headless-shell >/dev/null 2>&1 || command -v chromium >/dev/null 2>&1 || command -v chromium-browser >/dev/null 2>&1 \
	|| { command -v apt-get >/dev/null 2>&1 && [ "$$(id -u)" = 0 ] && echo "mayfly: installing chromium" && apt-get update -qq \
	&& { $(APT) chromium-headless-shell >/dev/null 2>&1 || $(APT) chromium >/dev/null; }; } \
	|| echo "mayfly: no chromium here, and apt cannot install it: the browser tests will be skipped."

FORCE:

.PHONY: FORCE run setup test deep bench faults soak screenshots lint audit clean help ready browser
