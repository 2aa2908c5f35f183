PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test lint bench clean

demo: $(VENV)/.demo
	$(BIN)/kernelweave demo

test: $(VENV)/.dev
	$(BIN)/python -m pytest -n auto --dist loadfile

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(VENV)/.dev
	$(BIN)/python -m benchmarks

# A half-made environment would be taken for a whole one the next time, so it is removed.
$(VENV)/bin/python:
	@$(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 11))" || \
		{ echo "kernelweave needs Python 3.11 or newer; name one: make PYTHON=python3.11 ..." >&2; exit 1; }
	$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); exit 1; }

# The build backend lives in the environment: then a change of pyproject.toml that needs no
# new packages is installed without a network.
INSTALL := $(BIN)/python -m pip install --quiet hatchling editables && \
	$(BIN)/python -m pip install --quiet --no-build-isolation -e

$(VENV)/.demo: $(VENV)/bin/python pyproject.toml
	$(INSTALL) ".[cli]"
	touch $@

$(VENV)/.dev: $(VENV)/bin/python pyproject.toml
	$(INSTALL) ".[dev]"
	touch $@ $(VENV)/.demo

clean:
	rm -rf $(VENV) build dist .pytest_cache .hypothesis .mypy_cache .ruff_cache
