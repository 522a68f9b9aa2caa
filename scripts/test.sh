#!/usr/bin/env bash
# Sets everything up and runs every test that needs no GPU. The last line is "N passed, N failed, N skipped".
#
#   scripts/test.sh                 all stages
#   scripts/test.sh e2e lint        only these: lint site tidy ctest ptxsim lit e2e cuda graphfuzz onnx stablehlo torch tools python install samples models bundle asan fuzz tsan
cd "$(dirname "$0")/.."
. scripts/common.sh

all_stages=(lint site tidy ctest ptxsim lit e2e cuda graphfuzz onnx stablehlo torch tools python install samples models bundle asan fuzz tsan)
stages=("${@:-${all_stages[@]}}")
logs=$root/build/test-logs
fuzz_seconds=${XC_FUZZ_SECONDS:-60}
e2e_share=${XC_E2E_SHARE:-3}
cuda_share=${XC_CUDA_SHARE:-8}
stablehlo_share=${XC_STABLEHLO_SHARE:-6}

for stage in "${stages[@]}"; do
  if [[ " ${all_stages[*]} " != *" $stage "* ]]; then
    echo "test.sh: unknown stage '$stage'; known are ${all_stages[*]}" >&2
    exit 2
  fi
done

# add P F S: adds to the sums, which are made at the end, since some stages run beside others.
add() {
  echo "$1 $2 $3" >> "$logs/counts.txt"
}

# run NAME command...: a suite whose last line is "N passed, N failed, N skipped". What it wrote is shown where
# something failed; a suite that ends without that line, or fails with all passed, counts as one failure.
run() {
  local name=$1 log="$logs/$1.log" begin=$SECONDS status=0 line
  shift
  "$@" > "$log" 2>&1 < /dev/null || status=$?
  line=$(tail -n 1 "$log")
  if [[ $line =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed,\ ([0-9]+)\ skipped$ ]]; then
    local counts=("${BASH_REMATCH[@]:1}")
    if [ "$status" -ne 0 ] && [ "${counts[1]}" -eq 0 ]; then counts[1]=1; fi
  else
    local counts=(0 1 0)
  fi
  add "${counts[@]}"
  if [ "${counts[1]}" -gt 0 ]; then
    tail -n 60 "$log"
    echo "   (all of it in ${log#"$root"/})"
  fi
  printf '%-8s %5d passed, %d failed, %d skipped, %d s\n' "$name" "${counts[@]}" $((SECONDS - begin))
}

# make NAME command...: a step without tests of its own; a failure counts as one.
make_step() {
  local log="$logs/$1.log" name=$1 begin=$SECONDS
  shift
  if "$@" > "$log" 2>&1 < /dev/null; then
    printf '%-8s done, %d s\n' "$name" $((SECONDS - begin))
    return 0
  fi
  tail -n 60 "$log"
  printf '%-8s failed (all of it in %s)\n' "$name" "${log#"$root"/}"
  add 0 1 0
  return 1
}

configure_and_build() {
  configure "$1" && build "$@"
}

configure_and_build_ptxsim() {
  [ -f build/ptxsim/build.ninja ] ||
    cmake -S tools/ptxsim -B build/ptxsim -G Ninja -DCMAKE_C_COMPILER=clang-22 -DCMAKE_CXX_COMPILER=clang++-22 -DXC_UNITY=ON
  build ptxsim
}

# Runs the programs of a build tree through CTest and counts the GoogleTest cases inside them. Most of the time they wait
# for threads of their own, so more of them run at once than there are cores.
run_ctest() {
  local tree=build/$1
  shift
  rm -rf "$tree/test-results"
  ctest --test-dir "$tree" --parallel $((3 * jobs)) --output-on-failure --timeout 600 --no-tests=error \
    --output-junit "$root/$tree/test-results.xml" "$@" || true
  /usr/bin/python3 scripts/count-tests.py ctest "$tree/test-results.xml" "$tree/test-results"
}

run_lit() {
  /usr/bin/python3 "$(llvm-config-22 --bindir)/lit" -sv --output build/dev/lit-results.json build/dev/test || true
  /usr/bin/python3 scripts/count-tests.py lit build/dev/lit-results.json
}

# Whether the documentation site builds; skipped where mkdocs cannot be installed.
run_site() {
  local status=0
  scripts/docs-site.sh || status=$?
  case $status in
    0) echo "1 passed, 0 failed, 0 skipped" ;;
    3) echo "0 passed, 0 failed, 1 skipped" ;;
    *) echo "0 passed, 1 failed, 0 skipped" ;;
  esac
}

# fuzz FUZZER: from fresh seeds and from what earlier runs found worth keeping.
fuzz() {
  local bin=build/asan/test/bin name words
  name=$(basename "$1")
  mkdir -p "build/fuzz/$name" "build/fuzz/$name-seeds" "build/fuzz/$name-found"
  [ "$name" != loader-fuzz ] || "$bin/xcr-fuzz-seeds" "build/fuzz/$name-seeds"
  words=test/fuzz/$name.dict
  [ -f "$words" ] && words=-dict=$words || words=
  # What the loader looks at is bounded by the bytes of the file, so no input takes a minute.
  "$1" -max_total_time="$fuzz_seconds" -timeout=60 $words -rss_limit_mb=2048 -print_final_stats=1 \
    -artifact_prefix="build/fuzz/$name-found/" "build/fuzz/$name" "build/fuzz/$name-seeds"
}

# Every fuzzer of the asan build, side by side: each has one thread.
run_fuzzers() {
  local fuzzer good=0 bad=0 job running=()
  for fuzzer in build/asan/test/bin/*-fuzz; do
    [ -x "$fuzzer" ] || { echo "no fuzzer was built"; return 1; }
    fuzz "$fuzzer" &
    running+=($!)
  done
  for job in "${running[@]}"; do
    if wait "$job"; then good=$((good + 1)); else bad=$((bad + 1)); fi
  done
  echo "$good passed, $bad failed, 0 skipped"
}

# On the CPU, then in fewer steps as PTX on the stand-in, whose checks are on.
run_samples() {
  local arch
  local exporters=(--jax=build/frontends/bin/python --package=build/dev/python)
  [ ! -x build/torch-env/bin/python ] || exporters+=(--torch=build/torch-env/bin/python)
  run samples /usr/bin/python3 test/samples/run.py --prefix "$prefix" --build build/samples "${exporters[@]}"
  for arch in sm_80 sm_90a; do
    XCR_CUDA_LIBRARY=$root/build/dev/lib/libcuda_sim.so PTXSIM_ARCH=$arch run "samples-$arch" \
      /usr/bin/python3 test/samples/run.py --prefix "$prefix" --build build/samples --device=cuda --target=cuda:$arch --quick "${exporters[@]}"
  done
}

echo "== set-up"
scripts/setup.sh
mkdir -p "$logs"
: > "$logs/counts.txt"

run_stage() {
  case $1 in
    lint) run lint /usr/bin/python3 scripts/lint.py ;;
    site) run site run_site ;;
    tidy) run tidy scripts/tidy.sh build/dev ;;
    ctest) run ctest run_ctest dev ;;
    ptxsim) # the driver stand-in as a project of its own; the compiler's cache has most of it from the whole build
      make_step ptxsim-build configure_and_build_ptxsim && run ptxsim run_ctest ptxsim ;;
    lit) run lit run_lit ;;
    e2e) # a third of the cases (XC_E2E_SHARE=1: all)
      run e2e /usr/bin/python3 test/e2e/run.py --build build/dev --device=cpu --share="$e2e_share" --record="$logs/ran-cpu.json"
      # fewer of them once more, with sizes that are known when inputs are bound
      run e2e-dynamic /usr/bin/python3 test/e2e/run.py --build build/dev --device=cpu --dynamic=all --share=$((2 * e2e_share)) ;;
    cuda) # an eighth of the cases (XC_CUDA_SHARE=1: all) as PTX, on the stand-in for the driver: as stream launches on an older GPU, as graphs
      # on a Hopper GPU, there with an allocation for each temporary, so that what runs from one into the next is seen.
      for way in sm_80-stream sm_90a-graph; do
        local apart=() temporaries=arena
        if [ $way = sm_90a-graph ]; then apart=(--flag=--no-reuse) temporaries=separate; fi
        XCR_TEMPORARIES=$temporaries XCR_CUDA_LIBRARY=$root/build/dev/lib/libcuda_sim.so PTXSIM_ARCH=${way%-*} run "cuda-$way" \
          /usr/bin/python3 test/e2e/run.py --build build/dev --device="cuda:0?launch=${way#*-}" --target=cuda:${way%-*} "${apart[@]}" --share="$cuda_share" \
          --record="$logs/ran-cuda-$way.json"
      done
      # fewer of them with sizes that are known when inputs are bound
      XCR_CUDA_LIBRARY=$root/build/dev/lib/libcuda_sim.so PTXSIM_ARCH=sm_90a run cuda-dynamic \
        /usr/bin/python3 test/e2e/run.py --build build/dev --device="cuda:0?launch=graph" --target=cuda:sm_90a --dynamic=all --share=$((6 * cuda_share))
      # A sixth of the plans of several kernels once more, in another order that the edges of their graphs allow; and a third
      # of the kernels without one of their barriers each, which must be found.
      PTXSIM_GRAPH_SEED=5 XCR_CUDA_LIBRARY=$root/build/dev/lib/libcuda_sim.so PTXSIM_ARCH=sm_90a run cuda-seeded \
        /usr/bin/python3 test/e2e/run.py --build build/dev --device="cuda:0?launch=graph" --target=cuda:sm_90a --filter='^(models|state|gradients|attention)' --share=6
      run mutants /usr/bin/python3 test/ptxsim/mutants/run.py --build build/dev --share=3 ;;
    graphfuzz) # a fixed number of random programs; test/graphfuzz/run.py --seconds=600 looks for more
      run graphfuzz-cpu /usr/bin/python3 test/graphfuzz/run.py --build build/dev --device=cpu --count=320
      run graphfuzz-refused /usr/bin/python3 test/graphfuzz/run.py --build build/dev --device=cpu --refused --count=256
      run graphfuzz-gradients /usr/bin/python3 test/graphfuzz/run.py --build build/dev --device=cpu --gradients --count=48
      XCR_CUDA_LIBRARY=$root/build/dev/lib/libcuda_sim.so PTXSIM_ARCH=sm_90a run graphfuzz-cuda \
        /usr/bin/python3 test/graphfuzz/run.py --build build/dev --device=cuda --target=cuda:sm_90a --seed=10000 --count=160 ;;
    stablehlo) # a fixed share of the functions (XC_STABLEHLO_SHARE=1: all), and damaged texts of them
      make_step frontends scripts/setup.sh --frontends &&
        run stablehlo build/frontends/bin/python test/stablehlo/run.py --build build/dev --share="$stablehlo_share" &&
        run stablehlo-damaged build/frontends/bin/python test/stablehlo/run.py --build build/dev --share="$stablehlo_share" --mutate=300 &&
        run stablehlo-kernels build/frontends/bin/python test/stablehlo/kernels.py --build build/dev &&
        run python-jax build/frontends/bin/python test/python/run.py --build build/dev --filter='[Jj]ax|test_onnx' ;;
    torch) # PyTorch is large, so no stage installs it: docs/testing.md says how to
      run torch "$(command -v build/torch-env/bin/python || echo /usr/bin/python3)" test/torch/run.py --build build/dev ;;
    tools) run tools /usr/bin/python3 test/tools/run.py --build build/dev ;;
    python) run python /usr/bin/python3 test/python/run.py --build build/dev ;;
    onnx) # a fixed sample of the node tests of the onnx package, and mutated models; test/onnx/run.py runs all of them
      make_step onnx-setup scripts/setup.sh --frontends &&
        run onnx-nodes build/frontends/bin/python -W ignore test/onnx/run.py --build build/dev --sample 0/24
      run onnx-mutants /usr/bin/python3 test/onnx/mutate.py --build build/dev --count 300 ;;
    install) run install /usr/bin/python3 test/install/run.py --build build/dev ;;
    samples) make_step samples-setup scripts/setup.sh --frontends && make_step samples-build install_and_build_samples && run_samples ;;
    models) # trained models beside onnxruntime, the ops that its optimiser writes, and the programs of samples/models
      make_step models-setup scripts/setup.sh --frontends && make_step models-build install_and_build_samples &&
        run models build/frontends/bin/python -W ignore test/models/compare.py --build build/dev &&
        run models-ops build/frontends/bin/python -W ignore test/onnx/microsoft.py --build build/dev &&
        run models-samples build/frontends/bin/python -W ignore test/models/samples.py ;;
    bundle) run bundle /usr/bin/python3 test/bundle/run.py --build build/dev ;;
    asan) # other orders are for the thread sanitizer, and neither looks at variants of devices again
      make_step asan-build configure_and_build asan && run asan run_ctest asan -E 'delayed|seeded|sm80|old-driver' ;;
    fuzz) make_step fuzz-build configure_and_build asan && run fuzz run_fuzzers ;;
    tsan) # allocations that must fail return null, as they do without the sanitizer
      make_step tsan-build configure_and_build tsan &&
        TSAN_OPTIONS="allocator_may_return_null=1 suppressions=$root/test/tsan.supp" \
          run tsan run_ctest tsan -E 'without|sm80|old-driver|fault-test-' ;;
  esac
}

# Stages that need the dev build are failures without it, not absences.
if [[ " ${stages[*]} " =~ \ (tidy|ctest|lit|e2e|cuda|graphfuzz|onnx|stablehlo|torch|tools|python|install|samples|models|bundle)\  ]]; then
  dev_built=true
  make_step dev-build configure_and_build dev || dev_built=false
fi
run_checked() {
  case $1 in
    tidy | ctest | lit | e2e | cuda | graphfuzz | onnx | stablehlo | torch | tools | python | install | samples | models | bundle)
      if ! $dev_built; then
        echo "$1   not run: the build failed"
        add 0 1 0
        return 0
      fi ;;
  esac
  run_stage "$1" || true
}

# run_all STAGE...: those of the wanted stages that are among these, one after the other.
run_all() {
  local stage
  for stage in "$@"; do
    [[ " ${stages[*]} " != *" $stage "* ]] || run_checked "$stage"
  done
}

# Most stages keep all cores busy. Those of one job each run as two queues beside each other; samples and models share what they build.
run_all lint site tidy ctest ptxsim lit e2e cuda graphfuzz onnx stablehlo
run_all samples models > "$logs/second-queue.txt" &
second_queue=$!
run_all torch tools python install bundle
wait "$second_queue" || add 0 1 0
cat "$logs/second-queue.txt"
run_all asan fuzz tsan

# docs/ops.md says what ran: made of the cases that passed, it is the same.
if [[ " ${stages[*]} " == *" e2e "* && " ${stages[*]} " == *" cuda "* ]] && $dev_built; then
  for way in sm_80-stream sm_90a-graph; do
    make_step "ops-table-$way" /usr/bin/python3 scripts/ops-table.py --check --ran="$logs/ran-cpu.json" --ran="$logs/ran-cuda-$way.json" || true
  done
fi

read -r passed failed skipped < <(awk '{ p += $1; f += $2; s += $3 } END { print p + 0, f + 0, s + 0 }' "$logs/counts.txt")
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
