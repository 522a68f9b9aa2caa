#!/usr/bin/env bash
# Runs the tests of this bundle on the GPU of this machine: the HAL's conformance suite for each driver and mode, and every end-to-end case in
# graph mode and in stream mode. Needs a C library, bash and the CUDA driver, nothing else. The last line is "N passed, N failed, N skipped".
#
#   ./run.sh [--device=cuda:1] [--filter=REGEX] [--limit=SECONDS]      REGEX: of end-to-end cases; with it the HAL's suite is left out.
#                                                                      A case that has not ended after SECONDS (300) has failed.
#   ./run.sh --sanitizer[=memcheck,racecheck,synccheck] [--jobs=N] [...]
#
# The second form runs the end-to-end cases alone, under compute-sanitizer: many in one process, N processes side by side, once for each tool (all
# three if none is named), as stream launches; memcheck as graphs, too, in one process: beside others its version 2025.3 ends loops in graphs
# with an illegal address, of which it reports nothing. The other two look at one kernel at a time, the same in either mode, and
# their version 2025.3 breaks on conditional nodes: it reported divergent barriers in correct kernels of a loop's body, or crashed. A finding
# is a failure; cases for more than a GiB of memory are skipped. XCR_CUDA_LIBRARY names another driver than libcuda.so.1, COMPUTE_SANITIZER the program.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
export LD_LIBRARY_PATH=$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} XC_TEST_DATA=$here/data
export XCR_CUDA_LIBRARY=${XCR_CUDA_LIBRARY:-libcuda.so.1}
device=cuda:0 filter='' limit=300 tools='''' jobs=$(getconf _NPROCESSORS_ONLN)
for argument in "$@"; do
  case $argument in
    --device=*) device=${argument#*=} ;;
    --filter=*) filter=${argument#*=} ;;
    --limit=*) limit=${argument#*=} ;;
    --sanitizer) tools=memcheck,racecheck,synccheck ;;
    --sanitizer=*) tools=${argument#*=} ;;
    --jobs=*) jobs=${argument#*=} ;;
    *) echo "run.sh: unknown option '$argument'; known are --device, --filter, --limit, --sanitizer, --jobs" >&2; exit 2 ;;
  esac
done
export XC_TEST_CUDA_DEVICE=$device
passed=0 failed=0 skipped=0
logs=$(mktemp -d) || exit 2
trap 'rm -rf "$logs"' EXIT

# count NAME P F S: adds to the sums and says so.
count() {
  passed=$((passed + $2)) failed=$((failed + $3)) skipped=$((skipped + $4))
  printf '%-18s %5d passed, %d failed, %d skipped, %d s\n' "$1" "$2" "$3" "$4" $((SECONDS - begin))
}

# read_counts FILE: the numbers of its last line to `counts`; false where that is something else.
read_counts() {
  [[ $(tail -n 1 "$1") =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed,\ ([0-9]+)\ skipped$ ]] && counts=("${BASH_REMATCH[@]:1}")
}

# run_e2e NAME DEVICE
run_e2e() {
  local counts=(0 1 0) log=$logs/e2e
  begin=$SECONDS
  "$here/bin/xc-e2e" "$here/e2e/cases.txt" "--device=$2" ${filter:+"--filter=$filter"} "--limit=$limit" > "$log" 2>&1
  if read_counts "$log"; then
    grep -E '^(FAILED|SKIPPED) ' "$log"
  else
    tail -n 20 "$log"
  fi
  count "$1" "${counts[@]}"
}

# run_gtest NAME PROGRAM FILTER: a GoogleTest program counts at its end.
run_gtest() {
  local log=$logs/gtest status=0 good bad left
  begin=$SECONDS
  "$here/bin/$2" "--gtest_filter=$3" > "$log" 2>&1 || status=$?
  good=$(sed -n 's/^\[  PASSED  \] \([0-9]*\) test.*/\1/p' "$log")
  left=$(sed -n 's/^\[  SKIPPED \] \([0-9]*\) test.*/\1/p' "$log")
  bad=$(sed -n 's/^\[  FAILED  \] \([0-9]*\) test.*/\1/p' "$log")
  [ "$status" -eq 0 ] || [ -n "$bad" ] || bad=1
  if [ -n "$bad" ]; then grep -B 12 '^\[  FAILED  \] .*ms)$' "$log" || tail -n 20 "$log"; fi
  count "$1" "${good:-0}" "${bad:-0}" "${left:-0}"
}

# run_sanitizer TOOL DEVICE NAME: each of the processes takes its share of the modules. A process with findings ends with code 97.
run_sanitizer() {
  local good=0 bad=0 left=0 shard counts pids=() status
  begin=$SECONDS
  rm -f "$logs"/*
  for ((shard = 1; shard <= jobs; ++shard)); do
    "${COMPUTE_SANITIZER:-compute-sanitizer}" "--tool=$1" --error-exitcode=97 --report-api-errors=no "--log-file=$logs/$shard.findings" \
      "$here/bin/xc-e2e" "$here/e2e/cases.txt" "--device=$2" ${filter:+"--filter=$filter"} --limit=0 --one-process "--shard=$shard/$jobs" \
      --memory=$((1 << 30)) > "$logs/$shard" 2>&1 &
    pids+=($!)
  done
  for ((shard = 1; shard <= jobs; ++shard)); do
    status=0 counts=(0 1 0)
    wait "${pids[shard - 1]}" || status=$?
    if read_counts "$logs/$shard"; then
      grep -E '^(FAILED|SKIPPED) ' "$logs/$shard"
      # What the tool says at its end shows that it watched.
      grep -qE ' (ERROR SUMMARY: 0 errors|RACECHECK SUMMARY: 0 hazards)' "$logs/$shard.findings" || status=${status/#0/no summary}
      if [ "$status" != 0 ] && [ "${counts[1]}" -eq 0 ]; then
        echo "FAILED $1, process $shard of $jobs: code $status"
        head -n 60 "$logs/$shard.findings" 2>&1
        counts[1]=1
      fi
    else
      echo "FAILED $1, process $shard of $jobs: code $status, no counts"
      tail -n 20 "$logs/$shard"
      tail -n 20 "$logs/$shard.findings" 2>&1
    fi
    good=$((good + counts[0])) bad=$((bad + counts[1])) left=$((left + counts[2]))
  done
  count "$3" "$good" "$bad" "$left"
}

"$here/bin/xrun" --list-devices
if [ -n "$tools" ]; then
  for tool in ${tools//,/ }; do
    [ "$tool" != memcheck ] || jobs=1 run_sanitizer "$tool" "$device?launch=graph" "$tool-graph"
    run_sanitizer "$tool" "$device?launch=stream" "$tool-stream"
  done
else
  if [ -z "$filter" ]; then
    run_gtest hal-cpu xcr-hal-test '*'
    for mode in graph stream auto; do
      run_gtest "hal-cuda-$mode" xcr-cuda-hal-test "*/cuda_$mode"
    done
    run_gtest hal-cuda-other xcr-cuda-hal-test '-*/cuda_graph:*/cuda_stream:*/cuda_auto'
  fi
  run_e2e e2e-graph "$device?launch=graph"
  run_e2e e2e-stream "$device?launch=stream"
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
