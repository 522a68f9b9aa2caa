#!/usr/bin/env bash
# Runs the tests of this bundle on the GPU of this machine: the HAL's conformance suite, and every end-to-end case in graph mode and in stream
# mode. Needs a C library, bash and the CUDA driver, nothing else. The last line is "N passed, N failed, N skipped".
#
#   ./run.sh [--device=cuda:1] [--filter=REGEX]      REGEX: of end-to-end cases; with it the HAL's suite is left out
#
# XCR_CUDA_LIBRARY names another driver than libcuda.so.1.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
export LD_LIBRARY_PATH=$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} XC_TEST_DATA=$here/data
export XCR_CUDA_LIBRARY=${XCR_CUDA_LIBRARY:-libcuda.so.1}
device=cuda:0 filter=
for argument in "$@"; do
  case $argument in
    --device=*) device=${argument#*=} ;;
    --filter=*) filter=${argument#*=} ;;
    *) echo "run.sh: unknown option '$argument'; known are --device, --filter" >&2; exit 2 ;;
  esac
done
passed=0 failed=0 skipped=0
log=$(mktemp) || exit 2
trap 'rm -f "$log"' EXIT

# count NAME P F S: adds to the sums and says so.
count() {
  passed=$((passed + $2)) failed=$((failed + $3)) skipped=$((skipped + $4))
  printf '%-12s %5d passed, %d failed, %d skipped, %d s\n' "$1" "$2" "$3" "$4" $((SECONDS - begin))
}

# A suite whose last line is the counts.
run_e2e() {
  begin=$SECONDS
  "$here/bin/xc-e2e" "$here/e2e/cases.txt" "--device=$2" "--filter=$filter" > "$log" 2>&1
  if [[ $(tail -n 1 "$log") =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed,\ ([0-9]+)\ skipped$ ]]; then
    local counts=("${BASH_REMATCH[@]:1}")
    grep -E '^(FAILED|SKIPPED) ' "$log"
  else
    local counts=(0 1 0)
    tail -n 20 "$log"
  fi
  count "$1" "${counts[@]}"
}

# A GoogleTest program: what it says at its end.
run_gtest() {
  begin=$SECONDS
  "$here/bin/$1" > "$log" 2>&1
  local status=$? good bad left
  good=$(sed -n 's/^\[  PASSED  \] \([0-9]*\) test.*/\1/p' "$log")
  left=$(sed -n 's/^\[  SKIPPED \] \([0-9]*\) test.*/\1/p' "$log")
  bad=$(sed -n 's/^\[  FAILED  \] \([0-9]*\) test.*/\1/p' "$log")
  [ "$status" -eq 0 ] || [ -n "$bad" ] || bad=1
  if [ -n "$bad" ]; then grep -B 12 '^\[  FAILED  \] .*ms)$' "$log" || tail -n 20 "$log"; fi
  count "$2" "${good:-0}" "${bad:-0}" "${left:-0}"
}

"$here/bin/xrun" --list-devices
[ -n "$filter" ] || run_gtest xcr-cuda-hal-test hal
run_e2e e2e-graph "$device?launch=graph"
run_e2e e2e-stream "$device?launch=stream"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
