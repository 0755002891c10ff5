PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test slow check fix docs bench corpus train index clean

demo: .venv/installed  ## print the neighbours of a timm, a transformers and a hand-written model
	HF_HUB_OFFLINE=1 $(BIN)/python docs/demo.py

test: .venv/installed  ## the quick tests
	$(BIN)/python -m pytest

slow: .venv/installed  ## fault injection, zoos, environments of other versions
	$(BIN)/python -m pytest -m slow

check: .venv/installed  ## lint, types, import rules
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

fix: .venv/installed  ## repair what the linter can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: .venv/installed  ## write the pages that are made from the code
	$(BIN)/python -m nar_plugin.tracing.rule_table > docs/canonical-form.md

bench: .venv/installed  ## time each stage of a query
	$(BIN)/nar dev bench query

corpus: .venv/installed  ## trace every named architecture of the installed libraries
	$(BIN)/nar dev corpus build

train: .venv/installed  ## train the encoder on the corpus
	$(BIN)/nar dev train

index: .venv/installed  ## write the embedded default from corpus and encoder
	$(BIN)/nar dev index write

clean:
	rm -rf .venv build runs *.egg-info

.venv/installed: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $@
