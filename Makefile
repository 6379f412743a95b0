# Verger: every task a person or CI runs. `make help` lists them.
#
# `make check` is the inner loop, `make test` is every test; CI runs the same `make test`. Ten simulated weeks, held
# against the targets, are part of it; a hundred are `make soak`.

SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

# Tools that the set-up installed are found even where cargo's folder is not on the PATH.
export PATH := $(PATH):$(or $(CARGO_HOME),$(HOME)/.cargo)/bin

NEXTEST_PROFILE := $(if $(CI),ci,default)
SIMULATE := cargo run --quiet --release --locked --package verger -- simulate

.PHONY: help run check test gates soak bench docs docs-update clean setup fmt clippy unit doctest example hostile repeat orders crashes pauses floods fuzz described

help: ## list the tasks
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | while IFS=$$'\t' read -r name does; do printf '  make %-12s %s\n' "$$name" "$$does"; done

run: ## build, and start the monitor on ./verger-data (CONFIG=file)
	cargo build --release --locked --package verger
	$(or $(CARGO_TARGET_DIR),target)/release/verger serve --data-dir verger-data $(if $(CONFIG),--config $(CONFIG))

check: setup fmt clippy unit repeat ## the inner loop: format, lints, unit tests, tidy, a short simulation

test: setup fmt clippy doctest unit hostile example repeat gates ## every test, and ten simulated weeks

gates: ## ten simulated weeks of 100 agents, held against the targets (UPDATE=1 writes the page of figures)
	scripts/gates 1..10

# A night is enough for a thousand weeks: `make soak SEEDS=1..1000`.
SEEDS := 1..100
soak: orders crashes pauses floods described fuzz ## the same for 100 seeds (or SEEDS=1..1000), 1,000 crashes, floods in full, new cases of property tests, and days of fuzzing
	scripts/gates $(SEEDS)

# The real program, killed at random moments. What fails can be tried again: `make crashes CRASH_SEED=…`.
CRASHES := 1000
crashes:
	CRASHES=$(CRASHES) $(if $(CRASH_SEED),CRASH_SEED=$(CRASH_SEED)) cargo test --release --locked --package verger --test crash -- --nocapture

# Bytes that reach new code, for every decoder: 10^8 each take days. `make fuzz FUZZ_RUNS=1000000` takes minutes.
FUZZ_RUNS := 100000000
fuzz:
	scripts/fuzz $(FUZZ_RUNS)

# The same tests as in `make test`, in which the monitor stands still for a whole minute, and for ten.
pauses: setup
	VERGER_PAUSE_SECS=60 cargo test --release --locked --package verger --test serve l42_a_monitor_that_stood_still
	VERGER_OUTAGE_SECS=600 cargo test --release --locked --package verger --test remote l43_all_that_is_told

# Everything that `/openapi.json` says, tried with each scope, by other requests each time. The seed is printed.
ifndef DESCRIBED_SEED
described: DESCRIBED_SEED := $(shell od -An -N4 -tu4 /dev/urandom | tr -d ' ')
endif
described: setup
	@echo "schemathesis with DESCRIBED_SEED=$(DESCRIBED_SEED)"
	DESCRIBED_SEED=$(DESCRIBED_SEED) DESCRIBED_CASES=200 cargo test --release --locked --package verger --test serve as_it_is_described -- --test-threads=2

# The floods of `make test` in full: a million made-up names, gigabytes, 10,000 readers that do not read. One after the other,
# so that each has the machine; what well-behaved agents see meanwhile is printed.
floods:
	FLOOD=full cargo test --release --locked --package verger --test floods -- --nocapture --test-threads=1

# New cases each time. The seed is drawn once and printed, so that what fails can be tried again:
# `make orders ORDERS_SEED=…`.
ORDERS_CASES := 5000
ifndef ORDERS_SEED
orders: ORDERS_SEED := $(shell od -An -N4 -tu4 /dev/urandom | tr -d ' ')
endif
orders:
	@echo "property tests with ORDERS_SEED=$(ORDERS_SEED)"
	PROPTEST_RNG_SEED=$(ORDERS_SEED) PROPTEST_CASES=$(ORDERS_CASES) cargo test --release --locked --package verger-core --test orders --test hostile

bench: ## print every figure that the documentation states
	scripts/bench

docs: ## build the book into docs/book and the API documentation
	scripts/setup mdbook
	mdbook build docs
	cargo doc --workspace --no-deps

docs-update: ## write the pages that are made from the code
	UPDATE=1 cargo test --quiet --locked --package verger --test reference --test pages --test picture
	UPDATE=1 cargo test --quiet --locked --package verger-config --test it the_page_of_configuration
	UPDATE=1 cargo test --quiet --locked --package verger --test serve l40_the_page_lists_every_metric

clean: ## remove everything that was built
	cargo clean
	rm -rf docs/book

setup:
	@scripts/setup nextest tools

fmt:
	cargo fmt --all --check

clippy:
	cargo clippy --workspace --all-targets --locked -- -D warnings

# Unit tests beside the code, and in crates/verger/tests the dependency table, the tidiness of the code and of
# the book, and every command that the documentation shows.
unit:
	cargo nextest run --workspace --locked --profile $(NEXTEST_PROFILE)

# The decoders of everything that comes from outside, each with 100,000 cases of hostile bytes; `unit` tries fewer. The
# whole workspace is named so that nothing is built again.
hostile:
	FUZZ_CASES=100000 cargo nextest run --workspace --locked --profile $(NEXTEST_PROFILE) --filterset 'package(verger-fuzz)'

doctest:
	cargo test --workspace --doc --locked --quiet

# The core embedded in a program of its own, as docs/src/how-to/embed-the-core.md tells (H08).
example:
	cargo run --quiet --locked --package verger-core --example embed

# A short simulation, twice: no checker may break, and the same seed must give the same bytes.
repeat:
	cargo build --quiet --release --locked --package verger
	@first=$$(mktemp) second=$$(mktemp); trap 'rm -f "$$first" "$$second"' EXIT; \
	$(SIMULATE) --seed 1 --days 1 --agents 50 | tee "$$first"; \
	$(SIMULATE) --seed 1 --days 1 --agents 50 >"$$second"; \
	cmp "$$first" "$$second"
