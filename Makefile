# Every target makes the environment when it is missing and says nothing about what is there already.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export OMP_NUM_THREADS := 1

.PHONY: help venv web demo test test-all lint docs docs-pictures bench calibration clean

help:
	@echo "make demo      train two small models, measure them, write runs/demo/report.html (4 minutes)"
	@echo "make test      the tests CI runs        make test-all   all of them (slow ones too)"
	@echo "make lint      ruff, pyright, layers    make docs       the reference pages"
	@echo "make docs-pictures   train two recipes, measure every part, draw its number (half an hour on one thread)"
	@echo "make web       the dashboard's page, built from web/ (seconds; nothing to do when it is up to date)"
	@echo "make bench     performance claims, each beside its peer or floor"
	@echo "make calibration   false alarms, power and coverage of detectors and statistics (three quarters of an hour on two cores)"

venv: $(VENV)/.ready

$(VENV)/.ready: pyproject.toml constraints.txt
	@echo "installing into $(VENV) (a few minutes the first time)"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]' 2>$(VENV)/pip.log \
		|| (cat $(VENV)/pip.log; exit 1)
	@touch $@

# Node 20.19 or later does it, or the Node of a Python package, which this installs where there is none.
web: venv
	@$(BIN)/python web/build.py

demo: venv web
	@$(BIN)/ontogeny demo

test: venv web
	@$(BIN)/python -m pytest -q -n 2 -m "not slow"

test-all: venv web
	@$(BIN)/python -m pytest -q -n 2

lint: venv
	@$(BIN)/ruff check -q .
	@$(BIN)/ruff format -q --check .
	@$(BIN)/lint-imports --no-logo >$(VENV)/layers.log || (cat $(VENV)/layers.log; exit 1)
	@$(BIN)/pyright --warnings >$(VENV)/pyright.log || (cat $(VENV)/pyright.log; exit 1)
	@$(BIN)/python docs/reference.py --check
	@echo "lint: clean"

docs: venv
	@$(BIN)/python docs/reference.py

docs-pictures: venv
	@$(BIN)/python docs/pictures.py
	@$(BIN)/python docs/reference.py

bench: venv
	@$(BIN)/python -m benchmarks

calibration: venv
	@$(BIN)/python benchmarks/calibration.py
	@$(BIN)/python benchmarks/calibration_statistics.py

clean:
	@rm -rf $(VENV) .bench build dist
