#!/usr/bin/env bash
# From nothing to a trained network: installs what is missing, builds xcompile and its Python package, compiles samples/digits, trains and runs it.
cd "$(dirname "$0")/.."
. scripts/common.sh

echo "== packages"
scripts/setup.sh
echo "== build (the first one takes a while)"
mkdir -p build
quietly() {
  "$@" > build/quickstart.log 2>&1 || {
    tail -n 40 build/quickstart.log >&2
    echo "quickstart.sh: failed: $* (all of it in build/quickstart.log)" >&2
    exit 1
  }
}
quietly configure dev
quietly build dev "${installed_targets[@]}" xcompile-python
quietly install_and_build_samples

echo "== xcompile samples/digits/digits.mlir"
"$prefix/bin/xcompile" samples/digits/digits.mlir -o build/digits.vmfb
echo "== digits"
build/samples/digits/digits build/digits.vmfb samples/digits/data/digits.csv
