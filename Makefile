# Verger: every task a person or CI runs. `make help` lists them.
#
# `make check` is the inner loop, `make test` is everything; CI runs the same `make test`.

SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

# Tools that the set-up installed are found even where cargo's folder is not on the PATH.
export PATH := $(PATH):$(or $(CARGO_HOME),$(HOME)/.cargo)/bin

NEXTEST_PROFILE := $(if $(CI),ci,default)
SIMULATE := cargo run --quiet --release --locked --package verger -- simulate

.PHONY: help run check test bench soak docs clean setup fmt clippy unit doctest example simulation

help: ## list the tasks
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | while IFS=$$'\t' read -r name does; do printf '  make %-8s %s\n' "$$name" "$$does"; done

run: ## build, and run a short simulation (the monitor is not built yet)
	cargo build --release --locked --package verger
	$(SIMULATE) --seed 1 --days 1 --agents 50

check: setup fmt clippy unit ## the inner loop: format, lints, unit tests, tidy, a short simulation
	$(SIMULATE) --seed 1 --days 1 --agents 50

test: setup fmt clippy unit doctest example simulation ## everything

bench: ## print every figure that the documentation states
	scripts/bench

soak: ## the long simulations: 100 seeds
	$(SIMULATE) --seeds 1..100 --days 7 --agents 100 --targets

docs: ## build the book into docs/book and the API documentation
	scripts/setup mdbook
	mdbook build docs
	cargo doc --workspace --no-deps

clean: ## remove everything that was built
	cargo clean
	rm -rf docs/book

setup:
	@scripts/setup nextest

fmt:
	cargo fmt --all --check

clippy:
	cargo clippy --workspace --all-targets --locked -- -D warnings

# Unit tests beside the code, and in crates/verger/tests the dependency table, the tidiness of the code and of
# the book, and every command that the documentation shows.
unit:
	cargo nextest run --workspace --locked --profile $(NEXTEST_PROFILE)

doctest:
	cargo test --workspace --doc --locked --quiet

# The core embedded in a program of its own, as docs/src/how-to/embed.md tells (H08).
example:
	$(if $(wildcard crates/verger-core/examples/embed.rs),cargo run --quiet --locked --package verger-core --example embed)

# The seeds run in parallel on all cores by themselves.
simulation:
	$(SIMULATE) --seeds 1..10 --days 7 --agents 100 --targets
