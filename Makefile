# Memlane's commands. `make` alone lists them. PYTHON=python3.12 chooses another interpreter than python3.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
RUN := $(VENV)/.installed
DEV := $(VENV)/.installed-dev
INPUTS := pyproject.toml constraints.txt
PYTEST := $(BIN)/python -m pytest

.PHONY: help demo up test test-all check chaos test-model
.DEFAULT_GOAL := help

help:
	@echo 'make demo        set up, start everything, remember a sample conversation, search it, stop (FILE=… for your own)'
	@echo 'make up          serve until Ctrl-C; prints the addresses and where the API key is'
	@echo 'make check       format, lint, types, layers, sizes'
	@echo 'make test        check and the suite; what this machine lacks is listed at the end as not run'
	@echo 'make test-all    check and everything, also the long forms'
	@echo 'make chaos       the tests that kill processes, long forms too'
	@echo 'make test-model  the extraction suite on the chat endpoint of MEMLANE_LLM_BASE_URL'

demo: $(RUN)
	@$(BIN)/python -m deploy.local.demo $(if $(FILE),"$(FILE)")

up: $(RUN)
	@exec $(BIN)/memlane up

check: $(DEV)
	$(BIN)/ruff format --check -q .
	$(BIN)/ruff check -q .
	$(BIN)/lint-imports --no-cache >/dev/null || $(BIN)/lint-imports --no-cache
	$(BIN)/mypy
	$(PYTEST) tests/architecture

test: check
	$(PYTEST) -m 'not long' --ignore=tests/architecture tests

test-all: check
	$(PYTEST) tests

chaos: $(DEV)
	$(PYTEST) -m chaos tests

test-model: $(DEV)
	@test -n "$$MEMLANE_LLM_BASE_URL" || { echo 'Set MEMLANE_LLM_BASE_URL (and MEMLANE_LLM_MODEL) to a chat endpoint.'; exit 1; }
	$(PYTEST) -m model tests

# One stamp for what running needs, one for what testing needs; neither is made again until its inputs change.
$(RUN): $(INPUTS)
	@$(call install,.[local])
	@touch $@

$(DEV): $(INPUTS)
	@$(call install,.[local$(comma)dev])
	@touch $(RUN) $@

comma := ,

# A Python without ensurepip (some distributions split it off) still has pip of its own.
define install
set -e; \
$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
  echo "Memlane needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) --version 2>&1). Try make PYTHON=python3.12"; exit 1; }; \
test -x $(BIN)/python || { echo 'Creating $(VENV) …'; \
  $(PYTHON) -m venv $(VENV) >/dev/null 2>&1 || $(PYTHON) -m venv --clear --without-pip $(VENV); }; \
echo 'Installing into $(VENV) (once, a minute or two) …'; \
if $(BIN)/python -m pip --version >/dev/null 2>&1; then pip="$(BIN)/python -m pip"; \
else pip="$(PYTHON) -m pip --python $(BIN)/python"; fi; \
$$pip install -q --disable-pip-version-check --no-input -c constraints.txt -e '$(1)'
endef
