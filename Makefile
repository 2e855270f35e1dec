# The Glass-Box Transformer: everything a reader or an author does is one of these commands.

PYTHON ?= python3
BIN := .venv/bin
CHAPTER ?= all
PROCESSORS ?= old avx2 shaken

.DEFAULT_GOAL := help
.PHONY: help book test unit portable lint lab pdf firefox serve refresh new-chapter bench links constraints clean env

help: ## List these commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

book: env ## Build the website and say where it is
	@$(BIN)/python -m tools.build_site --if-changed

test: env ## Check everything: style, types, package, every cell, site, browser
	@$(BIN)/python -m tools.check

unit: env ## The fast part of the tests: package and tools, in about two minutes
	@OMP_NUM_THREADS=1 JAXTYPING_DISABLE=1 $(BIN)/python -m pytest tests -q \
	    -m "not browser and not slow" --ignore=tests/book --ignore=tests/site $(ARGS)

portable: env ## Run every cell on imitated processors (PROCESSORS=old, or several)
	@$(BIN)/python -m tools.check $(PROCESSORS)

lint: env ## Style and types
	@$(BIN)/python -m tools.check lint format types

lab: env ## Open the chapters in JupyterLab
	@$(BIN)/python -m tools.lab

pdf: book ## Print the book, without the API reference, to _build/pdf, through Chromium
	@$(BIN)/python -m tools.pdf

firefox: book ## Visit every page in Firefox, and let the machine translate there
	@$(BIN)/python -m tools.firefox

serve: env ## Serve the built website on this machine
	@$(BIN)/python -m tools.serve

refresh: env ## Run a chapter again and keep its outputs (CHAPTER=04, or all)
	@$(BIN)/python -m tools.refresh $(CHAPTER)

new-chapter: env ## Start a chapter (NUMBER=13 NAME=vision TITLE="...")
	@$(BIN)/python -m tools.new_chapter

bench: env ## Measure against PyTorch and transformers, and write benchmarks/results/
	@$(BIN)/python -m benchmarks.run

links: env ## Follow every link that leaves the site
	@$(BIN)/jupyter-book build . --builder linkcheck

constraints: env ## Pin in constraints.txt what is installed now
	@$(BIN)/python -m tools.constraints

clean: ## Remove the built site and the environment
	rm -rf _build .venv

# The environment is checked by its contents, in tools/environment.py; this only finds a Python for it.
env:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	    echo "'$(PYTHON)' is not a Python 3.11 or newer. Install one, or name one: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; \
	    exit 1; }
	@$(PYTHON) -m tools.environment
