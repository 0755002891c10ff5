PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test slow hooks check fix docs site bench gpu corpus train index clean

demo: .venv/demo  ## print the neighbours of a timm, a transformers and a hand-written model
	HF_HUB_OFFLINE=1 $(BIN)/python docs/demo.py

test: .venv/test  ## the quick tests
	$(BIN)/python -m pytest

slow: .venv/dev  ## fault injection, zoos, environments of other versions
	$(BIN)/python -m pytest -m slow $(SLOW)

hooks: .venv/dev  ## the tests of libraries that need an environment of their own; goes on
	$(BIN)/python tests/hooks/isolated.py

check: .venv/dev  ## lint, types, import rules, links of the site
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/zensical build --strict --clean > /dev/null

fix: .venv/dev  ## repair what the linter can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: .venv/dev  ## write the pages that are made from the code
	$(BIN)/python -m nar_plugin.tracing.canon.rule_table > docs/canonical-form.md

site: .venv/dev  ## write the docs as a site to build/site, and show it
	$(BIN)/zensical serve

bench: .venv/dev  ## time each stage of a query
	$(BIN)/nar dev bench query

gpu: .venv/dev  ## measure on a GPU what is open about one; goes on where it was stopped
	$(BIN)/nar dev bench gpu

corpus: .venv/dev  ## trace every named architecture of the installed libraries
	$(BIN)/nar dev corpus build

train: .venv/dev  ## train the encoder on the corpus
	$(BIN)/nar dev train

index: .venv/dev  ## write the embedded default from corpus and encoder
	$(BIN)/nar dev index write

clean:
	rm -rf .venv build runs *.egg-info

# One environment, to which each target adds what it needs. Nearly all of it is torch.
.venv/demo: EXTRA = timm,transformers
.venv/test: EXTRA = test
.venv/dev: EXTRA = dev

.venv/demo .venv/test .venv/dev: pyproject.toml | .venv/bin/python
	@echo "installing nar-plugin[$(EXTRA)] into .venv (once; torch alone is some gigabytes)"
	$(BIN)/python -m pip install --editable '.[$(EXTRA)]'
	@touch $@

.venv/bin/python:
	$(PYTHON) -m venv .venv
