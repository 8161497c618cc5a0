#!/usr/bin/env bash
# Builds and runs the tests whose labels match, under the sanitizers of a CMake preset.
#   scripts/test_sanitized.sh (asan|tsan) LABEL_REGEX
# Only the programs of those tests are built: the whole tree takes several times longer.
set -euo pipefail

preset=$1
labels=$2
build=build/$preset
jobs=${JOBS:-$(nproc)}

cmake --preset "$preset" --log-level=WARNING >/dev/null
targets=$(scripts/list_test_programs.py "$build" "$labels")
# shellcheck disable=SC2086  # one word a target
cmake --build "$build" --parallel "$jobs" --target $targets

# The sanitizers of older compilers map their shadow memory at fixed places, which the strong address randomisation of
# newer kernels can occupy. Containers may forbid the personality call: then without.
fixed_addresses=()
if setarch "$(uname -m)" --addr-no-randomize true 2>/dev/null; then
  fixed_addresses=(setarch "$(uname -m)" --addr-no-randomize)
fi
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_stack_use_after_return=1:strict_string_checks=1}
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1}
export TSAN_OPTIONS=${TSAN_OPTIONS:-second_deadlock_stack=1}
export LASTBIT_TEST_SMALL=1
results=$build/test-results
rm -rf "$results"
mkdir -p "$results"
GTEST_OUTPUT="xml:$PWD/$results/" "${fixed_addresses[@]}" ctest --test-dir "$build" --output-on-failure \
  --no-tests=error --no-label-summary --parallel "$jobs" --label-regex "$labels" --output-junit test-results/ctest.junit
