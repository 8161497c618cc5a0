#!/usr/bin/env bash
# Runs the kernel tests as compiled AVX-512 code: on the processor where it has the instructions, else inside Bochs, an
# emulator of x86-64 processors (reported as *emulated*; the same programs, on smaller shapes).
#   scripts/test_avx512.sh BUILD [--emulate]       --emulate: inside Bochs even where the processor has AVX-512
# BUILD is a configured build folder. Exit codes: 0 passed, 1 a test failed or did not run, 4 the environment failed.
set -euo pipefail

build=$1
mode=${2:-}
jobs=${JOBS:-$(nproc)}

processor_has_avx512() {
  local feature
  for feature in avx512f avx512cd avx512bw avx512dq avx512vl; do
    grep -qw -m 1 "$feature" /proc/cpuinfo || return 1
  done
}

mapfile -t programs < <(scripts/list_test_programs.py "$build" '^kernel$')
[[ ${#programs[@]} -gt 0 ]] || exit 1
cmake --build "$build" --parallel "$jobs" --target "${programs[@]}" elementary_exhaustive

if [[ "$mode" != --emulate ]] && processor_has_avx512; then
  echo "test-avx512: this processor has AVX-512: running ${#programs[@]} programs natively"
  LASTBIT_ISA=avx512 ctest --test-dir "$build" --output-on-failure --no-tests=error --no-label-summary \
    --parallel "$jobs" --label-regex '^kernel$'
  exit
fi

echo "test-avx512: running ${#programs[@]} programs *emulated*, on a Skylake-X inside Bochs"
scripts/setup.sh --emulator
folder=$build/bochs
# LASTBIT_TEST_KERNEL_SET leaves out the other sets, which need no emulator; LASTBIT_TEST_SMALL the large shapes: what
# takes a second on a processor takes minutes in here.
export EMULATED_ENVIRONMENT=$'GTEST_COLOR=no\nLASTBIT_ISA=avx512\nLASTBIT_TEST_KERNEL_SET=avx512\nLASTBIT_TEST_SMALL=1'
# The test of the elementary functions asks MPFR a million times; the exhaustive program with a stride asks less.
elementary="elementary_exhaustive --set avx512 --stride 262139 --threads 1"
scripts/bochs/run.sh "$folder" "${programs[@]/#/$build/tests/}" "$build/bin/$elementary"

# A program that passes without having run a test proves nothing.
console=$folder/console.txt
tr -d '\r' <"$folder/serial.txt" >"$console"
failures=0
complain() {
  echo "test-avx512: $*" >&2
  failures=$((failures + 1))
}
grep -q "^init: processor avx2=1 fma=1 avx512f=1 cd=1 bw=1 dq=1 vl=1" "$console" ||
  complain "the emulated processor lacks AVX-512"
tests=0
for program in "${programs[@]}"; do
  output=$(sed -n "\#^init: begin /tests/$program\$#,\#^init: end /tests/$program #p" "$console")
  grep -q "^init: end /tests/$program exit code 0\$" <<<"$output" || complain "$program failed"
  passed=$(sed -n 's/^\[  PASSED  \] \([0-9]*\) tests\{0,1\}\..*/\1/p' <<<"$output" | tail -n 1)
  [[ ${passed:-0} -gt 0 ]] || complain "$program ran no test"
  ! grep -q '^\[  SKIPPED \]' <<<"$output" || complain "$program skipped tests"
  tests=$((tests + ${passed:-0}))
done
grep -q "^init: end /tests/$elementary exit code 0\$" "$console" || complain "$elementary failed"
if [[ $failures -gt 0 ]]; then
  echo "test-avx512: *emulated*: FAILED ($failures problems)"
  exit 1
fi
echo "test-avx512: *emulated*: ${#programs[@]} programs, $tests tests passed, and $elementary"
