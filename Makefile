# Every target sets up what it needs: a fresh clone with CPython and make is enough.

PYTHON ?= python3
VENV   ?= .venv
LOCK   ?= requirements.lock
PY     := $(VENV)/bin/python
PIP    := $(PY) -m pip install --quiet --disable-pip-version-check $(PIP_OPTIONS)
STAMP  := $(VENV)/.stamp

.DEFAULT_GOAL := help
.PHONY: help setup demo test check static cases examples bench lock clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-10s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

setup: $(STAMP) ## make the virtual environment, with everything in it

$(STAMP): $(LOCK) pyproject.toml
	@$(PYTHON) -c 'import sys; v = sys.version.split()[0]; sys.exit(f"$(PYTHON) is Python {v}; 3.11 or newer is needed: make PYTHON=python3.12" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)
	$(PIP) --require-hashes -r $(LOCK)
	$(PIP) --no-deps --no-build-isolation -e .
	@touch $@

demo: $(STAMP) ## record and judge an agent with known faults, offline
	$(VENV)/bin/agenttrace demo

test: $(STAMP) ## run every test
	$(PY) -m pytest -n auto --dist loadfile --no-loadscope-reorder

check: static ## format, lint, types, layers, docs
	$(PY) -m pytest -q src tests/docs tests/test_layers.py

static: $(STAMP)
	$(PY) -m ruff format --check --output-format concise .
	$(PY) -m ruff check --output-format concise .
	$(PY) -m mypy
	$(VENV)/bin/basedpyright --pythonpath $(PY)
	$(VENV)/bin/lint-imports

cases: $(STAMP) ## judge the field cases under AGENTTRACE_SHARED (default ../shared)
	PYTHONPATH=. $(PY) tests/cases/report.py

examples: $(STAMP) ## run every example
	@set -e; for example in examples/*.py; do echo "== $$example"; $(PY) "$$example"; done

# Other tracers and scorers are measured in the same run; they are installed nowhere else, and the
# scorers apart from the tracers, whose libraries they would have in other versions.
bench: ## run the benchmarks, or one: make bench NAME=overhead
	@$(MAKE) --no-print-directory VENV=$(VENV)-bench LOCK=requirements-bench.lock setup
ifneq ($(filter peers,$(or $(NAME),peers)),)
	@$(MAKE) --no-print-directory VENV=$(VENV)-peers LOCK=requirements-peers.lock setup
endif
	PYTHONPATH=. BENCH_PEERS_PYTHON=$(VENV)-peers/bin/python $(VENV)-bench/bin/python bench/run.py $(NAME)

# Universal: one lock for every supported Python and system. Names, versions and hashes, no hosts.
# The second holds what the tests need, with the oldest supported major version of openai; the third
# the tracers that ours is measured against, and the fourth the scorers.
EXTRAS = --extra anthropic --extra openai --extra otlp --extra yaml
COMPILE = .venv-lock/bin/uv --no-config pip compile pyproject.toml --universal --python-version 3.11 \
	--generate-hashes --no-emit-index-url --no-emit-find-links --custom-compile-command "make lock" \
	--quiet $(UPGRADE)

lock: ## bring the lock files up to pyproject.toml; UPGRADE=--upgrade takes newer releases too
	test -x .venv-lock/bin/uv || { $(PYTHON) -m venv .venv-lock && .venv-lock/bin/python -m pip install --quiet uv; }
	$(COMPILE) $(EXTRAS) --group dev -o requirements.lock
	echo 'openai<3' > .venv-lock/openai2.txt
	$(COMPILE) $(EXTRAS) --group test -c .venv-lock/openai2.txt --no-annotate -o requirements-openai2.lock
	$(COMPILE) $(EXTRAS) --group bench --no-annotate -o requirements-bench.lock
	$(COMPILE) --group peers --no-annotate -o requirements-peers.lock

clean: ## remove environments, caches and builds
	rm -rf .venv .venv-* build dist .basedpyright .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
