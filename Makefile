# The two commands of the README are `make demo` and `make test`; each sets up all it needs.
#   CUDA=on|off|auto     device code; auto: where this machine has a GPU and nvcc; not given: as before, at first auto
#   SPILLWAY_SKIP_SETUP=1  leaves the machine's packages alone
#   SPILLWAY_CMAKE_ARGS    more for CMake: where headers lie, say, or -DCMAKE_CUDA_ARCHITECTURES="80;90" for packages
SHELL := /bin/bash
# In the environment CUDA is often a folder.
ifneq ($(origin CUDA),command line)
CUDA := $(filter on off auto,$(CUDA))
endif
FUZZ_SECONDS ?= 60
JOBS := $(shell nproc 2>/dev/null || echo 2)
# Tests that run the program itself.
COMMANDS = CommandLine.*:RunCommand.*:PlanCommand.*:RunFiles.*:RunWords.*:Plugin.*:ExamplePlugin.*
# Tests that start compilers, or take long for another reason: `make check` does without.
SLOW = Plugin\.|ExamplePlugin\.|Document|Install\.|EveryVerification
CONFIGURE = mkdir -p build && cmake --preset $(1) $(SPILLWAY_CMAKE_ARGS) $(2) > build/$(1).log 2>&1 || { cat build/$(1).log; exit 1; }
NOTE = if [ -s build/$(1)/note.txt ]; then echo "note: $$(cat build/$(1)/note.txt)"; fi
BUILD = $(call CONFIGURE,$(1),$(2)); cmake --build build/$(1)

# Where Python's tests run: the network is needed once.
VENV = build/venv
PYTEST = PYTHONPATH=$(CURDIR)/build/$(1)/python SPILLWAY_COMMAND=$(CURDIR)/build/$(1)/bin/spillway $(VENV)/bin/python -m pytest -q python/tests
NETWORKX = PYTHONPATH=$(CURDIR)/build/$(1)/python $(VENV)/bin/python scripts/networkx-suite
FOR_PYTHON = -DSPILLWAY_PYTHON=ON -DPython_EXECUTABLE=$(CURDIR)/$(VENV)/bin/python

.PHONY: all demo python networkx wheel check test test-python test-deep test-asan test-tsan gpu-test gpu-test-full bench gpu-bench fuzz lint format clean
all: build/setup-build
	@$(call BUILD,release,$(if $(CUDA),-DSPILLWAY_CUDA=$(shell echo "$(CUDA)" | tr a-z A-Z)))
	@$(call NOTE,release)

build/setup-%: scripts/setup
	@mkdir -p build
	@scripts/setup $*
	@[ -n "$$SPILLWAY_SKIP_SETUP" ] || touch $@

demo: all
	@scripts/demo

$(VENV)/ready: pyproject.toml
	@python3 -m venv $(VENV)
	@$(VENV)/bin/python -m pip install --quiet --upgrade pip
	@$(VENV)/bin/python -m pip install --quiet --group test --group wheel
	@$(VENV)/bin/python -m pip download --quiet --dest build/wheels numpy
	@touch $@

# The Python package in build/python/python, and its tests.
python: build/setup-python $(VENV)/ready
	@$(call BUILD,python,$(FOR_PYTHON))
	$(call PYTEST,python)

# NetworkX' own tests, with this backend; some five minutes.
networkx: build/setup-python $(VENV)/ready
	@$(call BUILD,python,$(FOR_PYTHON))
	$(call NETWORKX,python)

# A wheel with all libraries that it needs inside: module, command, library and headers; $(1): its folder, $(2): for pip.
define WHEEL
	@rm -rf build/wheel $(1) && mkdir -p $(1)
	@$(VENV)/bin/python -m pip wheel --quiet --no-deps --wheel-dir build/wheel . $(2)
	@PATH="$(CURDIR)/$(VENV)/bin:$$PATH" $(VENV)/bin/python -m auditwheel repair --wheel-dir $(1) build/wheel/*.whl \
	  2> build/wheel/log.txt || { cat build/wheel/log.txt; exit 1; }
	@PYTHON=$(CURDIR)/$(VENV)/bin/python PIP_FIND_LINKS=$(CURDIR)/build/wheels PIP_NO_INDEX=1 scripts/try-wheel $(1)/*.whl
endef
# Of what `make test` has compiled.
OF_DEV = --no-build-isolation -C build-dir=build/dev -C cmake.build-type=RelWithDebInfo -C cmake.define.SPILLWAY_TESTS=ON

wheel: build/setup-python $(VENV)/ready
	$(call WHEEL,dist)

# Every few minutes: no nvcc, and what is quick comes first.
check: build/setup-test
	@$(call BUILD,check)
	ctest --test-dir build/check --output-on-failure --stop-on-failure -j $(JOBS) -E '$(SLOW)|EveryAlgorithm'
	ctest --test-dir build/check --output-on-failure -j $(JOBS) -R 'EveryAlgorithm'

# Everything, with warnings as errors; then kernels on the CPU and what reads bytes that anyone may have written, under the sanitizers.
# Without a network, what Python's tests need cannot be fetched the first time.
test: build/setup-test
	@$(MAKE) --no-print-directory $(VENV)/ready || true
	@python=$$([ -e $(VENV)/ready ] && echo "$(FOR_PYTHON)"); $(call BUILD,dev,-DSPILLWAY_TEST_TIMEOUT=600 $$python)
	ctest --test-dir build/dev --output-on-failure -j $(JOBS)
	@if [ -e $(VENV)/ready ]; then $(MAKE) --no-print-directory test-python; \
	 else echo "note: the packages for Python's tests could not be fetched; those tests were not run"; fi
	@$(call NOTE,dev)

# The package in build/dev, NetworkX' tests of what its backend has, and a wheel that is tried where nothing else is.
test-python:
	$(call PYTEST,dev)
	$(call NETWORKX,dev) --quick
	$(call WHEEL,build/dev/dist,$(OF_DEV))

# What takes long: every way on every graph with kernels on the CPU, and once more looking for races; other orders each time.
DEEP = SPILLWAY_FULL_MATRIX=1 SPILLWAY_SEED=$${SPILLWAY_SEED:-$$RANDOM}
test-deep: build/setup-test
	@$(call BUILD,dev,-DSPILLWAY_TEST_TIMEOUT=7200) --target spillway_tests spillway_emulated_tests spillway_emulator_tests
	$(DEEP) ctest --test-dir build/dev --output-on-failure -j $(JOBS) -R 'EveryAlgorithm|Emulated|Emulator'
	@$(call BUILD,deep,-DSPILLWAY_TEST_TIMEOUT=7200) --target spillway_emulator_tests spillway_emulated_tests
	$(DEEP) ctest --test-dir build/deep --output-on-failure -j $(JOBS) -R 'Emulated|Emulator'

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

# Every way on every graph, and more graphs.
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
	@$(call CONFIGURE,lint)
	@scripts/lint

format: build/setup-lint
	@git ls-files '*.cpp' '*.hpp' '*.cu' '*.cuh' | xargs clang-format -i

clean:
	rm -rf build
