# Shared by the scripts beside it: where things are, and the build. Sourced, not run.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD
prefix=$root/build/install
jobs=$(nproc)
# What `cmake --install` puts under the prefix.
installed_targets=(xcompile xc-opt xrun xbench xdump xcr xcr_static cuda_sim)

# configure PRESET: only when there is no build tree yet; ninja looks after changes itself. These trees are built whole, which
# takes about half the time with several sources in a compilation.
configure() {
  [ -f "build/$1/build.ninja" ] || cmake --preset "$1" -DXC_UNITY=ON
}

# build PRESET [target...]
build() {
  local preset=$1
  shift
  cmake --build "build/$preset" --parallel "$jobs" ${1:+--target "$@"}
}

# Puts the dev build under $prefix and builds the samples against it.
install_and_build_samples() {
  # Without a component of its own: all but the CUDA stand-in, which packages may leave out.
  cmake --install build/dev --component Unspecified --prefix "$prefix" > /dev/null
  cmake --install build/dev --component ptxsim --prefix "$prefix" > /dev/null
  [ -f build/samples/build.ninja ] ||
    cmake -S samples -B build/samples -G Ninja -DCMAKE_PREFIX_PATH="$prefix" > /dev/null
  cmake --build build/samples > /dev/null
}
