# The entry points of lastbit. `make` alone builds; `make help` lists the rest. Every target does the set-up that it
# needs, and none of it twice. JOBS=N limits parallel compilers and tests.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := build

# Compilers take up to 1 GB each, so the jobs follow the processors and not ninja's default of two more.
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
# For `make demo`: gemma, or the path of a checkpoint; smollm2 once the Llama family is in.
MODEL ?= gemma

RELEASE := build/release

# What people and programs add to the tree (new files included), without what git ignores.
SOURCES = $(shell git ls-files --cached --others --exclude-standard '*.cpp' '*.hpp')

.PHONY: help
help: ## This list
	@printf 'Targets of make:\n'
	@awk 'BEGIN { FS = ":.*## " } /^[a-z0-9-]+:.*## / { printf "  %-16s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))
	@printf 'Variables: JOBS=N, MODEL=gemma|PATH (demo), EMULATE=1 (test-avx512 inside Bochs on any machine),\n'
	@printf '  LASTBIT_SKIP_SETUP=1 (install no packages)\n'

.PHONY: setup
setup: ## Install the Debian or Ubuntu packages that are missing (root or sudo)
	@scripts/setup.sh

.PHONY: configure
configure: setup
	@cmake --preset release --log-level=WARNING >/dev/null

.PHONY: build
build: configure ## Build the release program, build/release/bin/lastbit (the default)
	@cmake --build --preset release --parallel $(JOBS) --target lastbit

.PHONY: build-all
build-all: configure ## Build the release program, the tests and the fuzzers
	@cmake --build --preset release --parallel $(JOBS)

.PHONY: models
models: setup ## Fetch the real checkpoints into models/ (about 350 MB), check their SHA-256
	@scripts/fetch_models.py

.PHONY: demo
demo: build ## Continue a prompt with Gemma 3 270M, then prove that chunks do not change the bits
	@scripts/demo.sh $(RELEASE)/bin/lastbit $(MODEL)

# GTEST_OUTPUT makes every GoogleTest program write down which of its tests ran: scripts/check_test_results.py reads it.
.PHONY: test
test: models build-all ## Set-up, checkpoints, release build, every test
	@rm -rf $(RELEASE)/test-results
	@mkdir -p $(RELEASE)/test-results
	@GTEST_OUTPUT='xml:$(CURDIR)/$(RELEASE)/test-results/' ctest --test-dir $(RELEASE) --output-on-failure \
	  --no-tests=error --no-label-summary --parallel $(JOBS) \
	  --output-junit test-results/ctest.junit

.PHONY: test-asan
test-asan: setup ## Unit and parser tests under the address and undefined-behaviour sanitizers
	@JOBS=$(JOBS) scripts/test_sanitized.sh asan '^(unit|parser)$$'

.PHONY: test-tsan
test-tsan: setup ## Unit, parser and matrix tests under the thread sanitizer
	@JOBS=$(JOBS) scripts/test_sanitized.sh tsan '^(unit|parser|matrix)$$'

.PHONY: test-avx512
test-avx512: configure ## Kernel tests as AVX-512 code: native where the processor has it, else emulated by Bochs
	@JOBS=$(JOBS) scripts/test_avx512.sh $(RELEASE) $(if $(EMULATE),--emulate)

.PHONY: exhaustive
exhaustive: configure ## Prove the elementary functions on all 2^32 inputs (hours; ARGUMENTS="--function exp" limits it)
	@cmake --build --preset release --parallel $(JOBS) --target elementary_exhaustive
	@$(RELEASE)/bin/elementary_exhaustive $(ARGUMENTS)

.PHONY: format
format: ## Format the C++ sources (clang-format)
	@scripts/setup.sh --format
	@clang-format -i $(SOURCES)

.PHONY: format-check
format-check: ## Fail where clang-format would change a C++ source
	@scripts/setup.sh --format
	@clang-format --dry-run --Werror $(SOURCES)

.PHONY: clean
clean: ## Remove build/ (the checkpoints in models/ stay)
	rm -rf build
