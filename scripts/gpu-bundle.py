#!/usr/bin/env python3
"""Packs all that a machine with a GPU needs to run the tests there: programs, compiled cases, references, a runner.

    gpu-bundle.py --build=build/dev --output=gpu-bundle.tar.xz [--filter=REGEX] [--target=cuda:sm_80,cuda:sm_90a] [--part=1/2]

All cases are more than one bundle may hold: `--part=1/2` and `--part=2/2` pack a half each, chosen by their names.
Unpacked there, gpu-bundle/run.sh runs it; the machine needs a C library, bash and the CUDA driver.
"""
import argparse
import lzma
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIMIT = 128 << 20  # bytes that are still convenient to carry
# Most of it are numbers of four and eight bytes, of which those at one place are alike: lp and pb.
FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 2, "lc": 1, "lp": 2, "pb": 2, "dict_size": 32 << 20}]
PROGRAMS = ("bin/xrun", "bin/xbench", "bin/xdump", "test/bin/xc-e2e", "test/bin/xcr-hal-test", "test/bin/xcr-cuda-hal-test")
CARRIED = ("libxcr.so", "libstdc++.so", "libgcc_s.so")  # of what the programs link; the C library is the machine's


def copy_stripped(source, target):
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)
    subprocess.run(["strip", "--strip-unneeded", target], check=True)
    target.chmod(0o755)


def libraries(program):
    """(name, path) of the shared libraries of |program| that have to be carried."""
    out = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    for name, path in re.findall(r"^\s*(\S+) => (\S+)", out, re.M):
        if name.startswith(CARRIED):
            yield name, pathlib.Path(path)


def stage(folder, args):
    for program in PROGRAMS:
        source = args.build / program
        copy_stripped(source, folder / "bin" / source.name)
        for name, path in libraries(source):
            if not (folder / "lib" / name).exists():
                copy_stripped(path, folder / "lib" / name)
    (folder / "data").mkdir()
    for file in [*(ROOT / "test" / "runtime" / "cuda").glob("*.ptx"), *(args.build / "test" / "runtime").glob("*.so")]:
        shutil.copyfile(file, folder / "data" / file.name)
    shutil.copyfile(ROOT / "scripts" / "gpu-bundle" / "run.sh", folder / "run.sh")
    (folder / "run.sh").chmod(0o755)
    subprocess.run(["/usr/bin/python3", ROOT / "test" / "e2e" / "run.py", f"--build={args.build}", f"--bundle={folder / 'e2e'}",
                    f"--target={args.target}", f"--filter={args.filter}", f"--share={args.part[1]}", f"--part={args.part[0] - 1}"], check=True)


def part(text):
    """(K, N) of "K/N"."""
    match = re.fullmatch(r"(\d+)/(\d+)", text)
    if not match or not 1 <= int(match[1]) <= int(match[2]):
        raise argparse.ArgumentTypeError(f"expected a part such as 1/2, got '{text}'")
    return int(match[1]), int(match[2])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=ROOT / "build" / "dev", type=pathlib.Path)
    parser.add_argument("--output", default=ROOT / "build" / "gpu-bundle.tar.xz", type=pathlib.Path)
    parser.add_argument("--filter", default="", help="only end-to-end cases whose names match")
    parser.add_argument("--target", default="cuda:sm_80,cuda:sm_90a")
    parser.add_argument("--part", type=part, default=(1, 1), metavar="K/N", help="the K-th of N parts of the cases")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="xc-bundle-") as scratch:
        folder = pathlib.Path(scratch) / "gpu-bundle"
        folder.mkdir()
        try:
            stage(folder, args)
        except (OSError, subprocess.CalledProcessError) as error:
            sys.exit(f"gpu-bundle: {error}")
        args.output.parent.mkdir(parents=True, exist_ok=True)
        with lzma.open(args.output, "wb", filters=FILTERS) as packed, tarfile.open(fileobj=packed, mode="w") as archive:
            archive.add(folder, folder.name)
    size = args.output.stat().st_size
    if size > LIMIT:
        sys.exit(f"gpu-bundle: {args.output} has {size} bytes, more than the {LIMIT} that it may; pack parts (--part=1/2) or fewer cases (--filter)")
    print(f"{args.output}: {size / (1 << 20):.1f} MiB; run gpu-bundle/run.sh where it is unpacked")


if __name__ == "__main__":
    main()
