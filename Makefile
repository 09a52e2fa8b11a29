# The two commands of the README are `make demo` and `make test`; each sets up all it needs.
# SPILLWAY_SKIP_SETUP=1 leaves the machine's packages alone.
SHELL := /bin/bash
FUZZ_SECONDS ?= 60
# Tests of what reads bytes that anyone may have written. One process: each would pay for its own search for leaks.
UNTRUSTED = *Malformed*:*Fuzz*:*Format*:Store.*:EdgeList.*:Npz.*:Metis.*:Gap.*:Ligra.*:Galois.*:Subway.*:Graph500.*
# Tests that run the program itself.
COMMANDS = CommandLine.*:RunCommand.*:PlanCommand.*:RunFiles.*:RunWords.*:Plugin.*:ExamplePlugin.*
BUILD = cmake --preset $(1) > build/$(1).log 2>&1 || { cat build/$(1).log; exit 1; }; cmake --build build/$(1)

.PHONY: all demo test test-asan test-tsan gpu-test gpu-test-full bench gpu-bench fuzz lint format clean
all: build/setup-build
	@$(call BUILD,release)

build/setup-%: scripts/setup
	@mkdir -p build
	@scripts/setup $*
	@touch $@

demo: all
	@scripts/demo

# Everything, with warnings as errors; then what reads untrusted bytes once more under the sanitizers.
test: build/setup-test
	@$(call BUILD,dev)
	ctest --test-dir build/dev --output-on-failure -j 2
	@$(call BUILD,asan) --target spillway_untrusted_tests
	build/asan/bin/spillway_untrusted_tests --gtest_brief=1 --gtest_filter='$(UNTRUSTED)'

test-asan: build/setup-test
	@$(call BUILD,asan)
	build/asan/bin/spillway_tests --gtest_brief=1 --gtest_filter='-$(COMMANDS)'
	ASAN_OPTIONS=detect_leaks=0 build/asan/bin/spillway_tests --gtest_brief=1 --gtest_filter='$(COMMANDS)'

# Without OpenMP, whose waiting the sanitizer cannot see.
test-tsan: build/setup-tsan
	@$(call BUILD,tsan)
	build/tsan/bin/spillway_tests --gtest_brief=1 --gtest_filter='-$(COMMANDS)'

gpu-test: build/setup-test
	@scripts/gpu-test

# Every filter with every fusion, direction and size, on more graphs.
gpu-test-full: build/setup-test
	@SPILLWAY_FULL_MATRIX=1 scripts/gpu-test

# The figures of docs/performance.md; QUICK=1: a part of them. GAPBS=DIR: the GAP benchmark's programs beside ours.
bench: build/setup-bench
	@$(call BUILD,bench)
	@scripts/bench cpu

gpu-bench: build/setup-bench
	@scripts/gpu-bench

fuzz: build/setup-fuzz
	@$(call BUILD,fuzz)
	@scripts/fuzz $(FUZZ_SECONDS)

lint: build/setup-lint
	@cmake --preset lint > build/lint.log 2>&1 || { cat build/lint.log; exit 1; }
	@scripts/lint

format: build/setup-lint
	@git ls-files '*.cpp' '*.hpp' '*.cu' '*.cuh' | xargs clang-format -i

clean:
	rm -rf build
