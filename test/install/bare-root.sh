#!/usr/bin/env bash
# Installs the wheels in a bare root of a Debian release that has Python and nothing else, and runs a model there.
#
#   bare-root.sh FOLDER [RELEASE]     FOLDER: where the wheels are and the roots go, kept for the next time; RELEASE: bookworm by default
#
# Needs root, debootstrap and Debian's packages; no stage of scripts/test.sh runs it. The last line is "N passed, N failed, N skipped".
set -euo pipefail
folder=$(cd "$1" && pwd)
release=${2:-bookworm}
root=$folder/$release
mirror=${DEBIAN_MIRROR:-http://deb.debian.org/debian}
if ! command -v debootstrap > /dev/null || [ "$(id -u)" -ne 0 ]; then
  echo "skipped: needs debootstrap, as root"
  echo "0 passed, 0 failed, 1 skipped"
  exit 0
fi
[ -x "$root/usr/bin/python3" ] || debootstrap --variant=minbase --include=python3,python3-venv "$release" "$root" "$mirror"
rm -rf "$root/srv/trial"
mkdir -p "$root/srv/trial"
cp "$folder"/xcompile*.whl "$root/srv/trial"
cat > "$root/srv/trial/model.mlir" << 'END'
func.func @main(%x: tensor<3xf32> {array.name = "x"}) -> tensor<3xf32> {
  %y = array.add %x, %x : tensor<3xf32>
  return %y : tensor<3xf32>
}
END
cat > "$root/srv/trial/run.py" << 'END'
import array, sys, xcompile
module = xcompile.load(xcompile.compile("model.mlir") if len(sys.argv) == 1 else sys.argv[1], "cpu")
assert memoryview(module.main(array.array("f", [1, 2, 3]))).tolist() == [2, 4, 6]
END
# Programs find the libraries beside them by their own path, for which the loader asks /proc.
trap 'umount "$root/proc"' EXIT
mount -t proc proc "$root/proc"
chroot "$root" /bin/bash -euc '
  cd /srv/trial
  python3 -m venv whole && whole/bin/pip install --quiet --no-index xcompile-*.whl && whole/bin/python run.py
  whole/bin/python -c "import xcompile; xcompile.compile(\"model.mlir\", output=\"model.vmfb\")"
  python3 -m venv runtime && runtime/bin/pip install --quiet --no-index xcompile_runtime-*.whl && runtime/bin/python run.py model.vmfb'
echo "2 passed, 0 failed, 0 skipped"
