# Everything a developer does. `make setup` once; every other target calls it.
# PYTHON=python3.12 picks the interpreter that .venv is made with.

PYTHON ?=
PY := .venv/bin/python
STAMP := .venv/.installed

# Python keeps what it compiled, in .venv and src: half of what a command takes to start.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := test
.PHONY: setup demo test unit processes embedded check format docs bench engine lock clean

setup: $(STAMP)

$(STAMP): pyproject.toml requirements.lock scripts/setup.sh
	@PYTHON="$(PYTHON)" sh scripts/setup.sh
	@touch $@

demo: setup
	@sh scripts/demo.sh

# pyright keeps one core busy and tests wait a lot, so both at once; each tells what it has when it is done.
test: setup
	@$(MAKE) --no-print-directory --jobs 2 --output-sync=target check unit
	@$(MAKE) --no-print-directory processes embedded

unit: setup
	$(PY) -m pytest -m "not embedded and not processes" --numprocesses auto --dist worksteal

# Runs that are killed, servers that die, disks that are full. They wait more than they work.
processes: setup
	$(PY) -m pytest -m processes --numprocesses 3 --dist worksteal

# Real weights (1.1 GB, downloaded once) and a real engine.
embedded: setup
	$(PY) -m pytest -m embedded

check: setup
	$(PY) -m ruff check
	$(PY) -m ruff format --check
	$(PY) -m pyright
	.venv/bin/lint-imports --cache-dir .import_linter_cache
	$(PY) scripts/check_docs.py

format: setup
	$(PY) -m ruff check --fix
	$(PY) -m ruff format

docs: setup
	$(PY) scripts/check_docs.py --write
	.venv/bin/zensical build --clean --strict

bench: setup
	@for file in benchmarks/[!_]*.py; do echo "== $$file"; $(PY) -m "benchmarks.$$(basename "$$file" .py)" || exit 1; done

# The embedded engine, built for this very processor, which makes it faster. PREBUILT=1 puts the other one back.
engine: setup
	@sh scripts/engine.sh

# Exact versions of everything, for every platform; no address, hash or path of the machine that made it.
lock: setup
	.venv/bin/uv pip compile pyproject.toml --all-extras --group dev --universal --python-version 3.11 \
	  --no-emit-index-url --no-emit-find-links --no-annotate --custom-compile-command "make lock" \
	  --upgrade --quiet --output-file requirements.lock

clean:
	rm -rf .venv build dist site .pytest_cache .ruff_cache .import_linter_cache .cache
