#!/usr/bin/env python3
"""Packs the Python package of a build tree as a wheel that needs nothing but Python and the C library.

    wheel.py --build=build/dev --output=build/wheels                      compiler, runtime and tools
    wheel.py --build=build/dev --output=build/wheels --without-compiler   the runtime, as xcompile-runtime: the same package without
                                                                          bin/; install one of the two

Libraries that the compiler and the tools need are put into the wheel and found there; patchelf sets where. The platform tag says the oldest
glibc that has every symbol that is asked for. The last line is the wheel's path.
"""
import argparse
import base64
import hashlib
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
TOOLS = ("xcompile", "xrun", "xbench", "xdump")
# What every Linux with a C library has.
SYSTEM = re.compile(r"(libc|libm|libpthread|libdl|librt|ld-linux-x86-64)\.so")
SUMMARY = "An ahead-of-time array compiler for NVIDIA GPUs and CPUs, and the runtime of what it compiled"


def run(*command):
    return subprocess.run([str(part) for part in command], check=True, capture_output=True, text=True, stdin=subprocess.DEVNULL).stdout


def dependencies(path):
    """{name: path} of the libraries that the loader finds for a program, those of the system left out."""
    found = {}
    for line in run("ldd", path).splitlines():
        match = re.match(r"\s*(\S+) => (.*?)(?: \(0x\w+\))?$", line)
        if not match or SYSTEM.match(match.group(1)):
            continue
        if match.group(2) == "not found":
            sys.exit(f"wheel.py: {path} needs {match.group(1)}, which is not there")
        found[match.group(1)] = pathlib.Path(match.group(2)).resolve()
    return found


def add_programs(build, package):
    """The tools, the libraries that they need, and where these are looked for."""
    (package / "bin").mkdir()
    (package / "lib").mkdir(exist_ok=True)
    for name in TOOLS:
        target = package / "bin" / name
        shutil.copy2(build / "bin" / name, target)
        for library, path in dependencies(target).items():
            if not (package / "lib" / library).exists():
                shutil.copy2(path, package / "lib" / library)
        run("patchelf", "--set-rpath", "$ORIGIN/../lib", target)
    for library in (package / "lib").iterdir():
        run("patchelf", "--set-rpath", "$ORIGIN", library)


def needed_glibc(folder):
    """The newest version of glibc's symbols that a file in the folder asks for."""
    newest = (2, 17)
    for path in folder.rglob("*"):
        if path.is_file() and not path.is_symlink() and path.open("rb").read(4) == b"\x7fELF":
            versions = re.findall(r"\*UND\*.*\(GLIBC_(\d+)\.(\d+)", run("objdump", "-T", path))
            newest = max([newest, *((int(major), int(minor)) for major, minor in versions)])
    return newest


def metadata(name, version):
    return (f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\nSummary: {SUMMARY}\n"
            "License: Apache-2.0 WITH LLVM-exception\nRequires-Python: >=3.11\nProvides-Extra: numpy\n"
            "Requires-Dist: numpy; extra == \"numpy\"\nDescription-Content-Type: text/markdown\n\n"
            + (ROOT / "docs" / "python.md").read_text(encoding="utf-8"))


def pack(folder, output, level):
    """Zips the folder, whose RECORD it adds; names in order and one time, so that the same files give the same bytes."""
    info = next(folder.glob("*.dist-info"))
    record = []
    with zipfile.ZipFile(output, "w", zipfile.ZIP_DEFLATED, compresslevel=level) as wheel:
        def add(name, data, mode):
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.external_attr = (0o100000 | mode) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, data)
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            name, data = path.relative_to(folder).as_posix(), path.read_bytes()
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record.append(f"{name},sha256={digest},{len(data)}\n")
            add(name, data, 0o755 if path.stat().st_mode & 0o100 else 0o644)
        add(f"{info.name}/RECORD", "".join(record) + f"{info.name}/RECORD,,\n", 0o644)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/dev", type=pathlib.Path)
    parser.add_argument("--output", default="build/wheels", type=pathlib.Path)
    parser.add_argument("--without-compiler", action="store_true")
    parser.add_argument("--level", default=6, type=int, choices=range(10), metavar="0..9", help="how hard to compress")
    args = parser.parse_args()
    if not args.without_compiler and not shutil.which("patchelf"):
        sys.exit("wheel.py: needs patchelf; on Debian: apt-get install patchelf")
    name = "xcompile_runtime" if args.without_compiler else "xcompile"
    version = re.search(r'__version__ = "(.+?)"', (ROOT / "python" / "xcompile" / "__init__.py").read_text()).group(1)
    args.output.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="xc-wheel-") as scratch:
        folder = pathlib.Path(scratch)
        run("cmake", "--install", args.build, "--component", "python", "--prefix", folder)
        package = folder / "xcompile"
        (package / "lib").mkdir()
        shutil.copy2((args.build / "lib" / "libxcr.so.0").resolve(), package / "lib" / "libxcr.so.0")
        shutil.copytree(ROOT / "runtime" / "include", package / "include")
        if not args.without_compiler:
            add_programs(args.build, package)
        major, minor = needed_glibc(folder)
        tag = f"cp311-abi3-manylinux_{major}_{minor}_x86_64"
        info = folder / f"{name}-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(metadata(name.replace("_", "-"), version), encoding="utf-8")
        (info / "WHEEL").write_text(f"Wheel-Version: 1.0\nGenerator: xcompile wheel.py\nRoot-Is-Purelib: false\nTag: {tag}\n")
        shutil.copy2(ROOT / "LICENSE", info / "LICENSE")
        wheel = args.output / f"{name}-{version}-{tag}.whl"
        pack(folder, wheel, args.level)
    print(wheel)


if __name__ == "__main__":
    main()
