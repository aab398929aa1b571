# make demo   reviews a sample change with the built-in model
# make test   runs every test
# make help   lists the rest
.DEFAULT_GOAL := help
.PHONY: help setup demo test quick lint types floors check docs lock clean

BIN := .venv/bin

help: ## List what can be made
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-7s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## Make .venv from the lock (done by the others where needed)
	@sh scripts/setup.sh

demo: setup ## Review a sample change with the built-in model: no key, no Docker, no account
	@echo "==> making the sample repository .demo with a change that has no tests"
	@sh examples/make_history.sh .demo
	@echo "==> testforge review .demo --base main"
	@$(BIN)/testforge review .demo --base main

test: setup ## Run every test
	@echo "==> running every test (some use real sandboxes and take minutes; 'make quick' leaves those out)"
	@$(BIN)/python -m pytest -n 2 --dist worksteal

quick: setup ## Run the tests that take no more than a few seconds each
	@$(BIN)/python -m pytest -n 2 --dist worksteal -m "not slow"

lint: setup ## Check style and formatting
	@$(BIN)/ruff check . && $(BIN)/ruff format --check .

types: setup ## Check types, strictly
	@$(BIN)/mypy

floors: setup ## Check that imports run downward only
	@$(BIN)/lint-imports

check: lint types floors test ## All of the above

docs: setup ## Build the documentation's site into site/; a link that leads nowhere is an error
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --site-dir site

lock: setup ## Write requirements.lock anew, the server's part of it, and what builds the server's image
	@$(BIN)/uv pip compile --quiet --generate-hashes --no-emit-index-url --no-emit-find-links --no-annotate --no-header \
	    --universal --group dev pyproject.toml -o requirements.lock
	@$(BIN)/uv pip compile --quiet --generate-hashes --no-emit-index-url --no-emit-find-links --no-annotate --no-header \
	    --universal --constraint requirements.lock pyproject.toml -o requirements.server.lock
	@echo uv | $(BIN)/uv pip compile --quiet --generate-hashes --no-emit-index-url --no-emit-find-links --no-annotate --no-header \
	    --universal --group build --constraint requirements.lock - -o requirements.build.lock

clean: ## Remove what these commands made in this directory
	@rm -rf .venv .demo .bench site .mypy_cache .ruff_cache .pytest_cache
