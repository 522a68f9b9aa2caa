#!/usr/bin/env python3
"""Installs a build, moves what was installed elsewhere, and builds a user's project against it.

    run.py --build=build/dev

The last line is "N passed, N failed, N skipped".
"""
import argparse
import base64
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
MODEL = """module {
  func.func @main(%a: tensor<3xf32> {array.name = "a"}, %b: tensor<3xf32> {array.name = "b"}) -> (tensor<3xf32> {array.name = "sum"}) {
    %s = array.add %a, %b : tensor<3xf32>
    return %s : tensor<3xf32>
  }
}
"""
WANT = re.compile(r"^\d+: 11 22 33$")


def run(*command, **options):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, stdin=subprocess.DEVNULL, **options)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout.strip()


def expect_sum(text):
    if not WANT.match(text):
        raise RuntimeError(f"expected '<version>: 11 22 33', got '{text}'")


class Place:
    def __init__(self, build, folder):
        self.folder, self.build = folder, build.resolve()
        # Configured for one prefix, used from another: nothing installed may name the first.
        run("cmake", "--install", build, "--component", "Unspecified", "--prefix", folder / "prefix-at-configuration")
        self.prefix = folder / "moved"
        shutil.move(folder / "prefix-at-configuration", self.prefix)
        self.libraries = next(path.parent for path in self.prefix.rglob("libxcr.so"))
        (folder / "add.mlir").write_text(MODEL)
        self.module = folder / "add.vmfb"

    def tools_run_from_anywhere(self):
        run(self.prefix / "bin" / "xcompile", self.folder / "add.mlir", "-o", self.module, "--target=cpu")
        out = run(self.prefix / "bin" / "xrun", self.module, "--device=cpu", "--input=3xf32=1 2 3", "--input=3xf32=10 20 30")
        if "[11. 22. 33.]" not in out:
            raise RuntimeError(f"expected [11. 22. 33.] from the installed xrun, got {out}")

    def cmake_package(self):
        run("cmake", "-G", "Ninja", "-S", HERE, "-B", self.folder / "cmake", f"-DCMAKE_PREFIX_PATH={self.prefix}")
        run("cmake", "--build", self.folder / "cmake")
        for program in ("xcr", "xcr_static", "cpp17", "cpp20"):
            expect_sum(run(self.folder / "cmake" / f"user-{program}", self.module))

    def pkg_config(self):
        environment = dict(os.environ, PKG_CONFIG_PATH=str(self.libraries / "pkgconfig"))
        flags = run("pkg-config", "--cflags", "--libs", "xcr", env=environment).split()
        program = self.folder / "user-pkg-config"
        run("cc", "-std=c99", HERE / "user.c", "-o", program, *flags)
        expect_sum(run(program, self.module, env=dict(os.environ, LD_LIBRARY_PATH=str(self.libraries))))

    def library_is_small_and_plain(self):
        """Under 1 MB stripped, exports xcr_* only, needs nothing but libc's parts."""
        library = self.folder / "stripped.so"
        shutil.copy((self.libraries / "libxcr.so").resolve(), library)
        run("strip", library)
        if library.stat().st_size > 1_000_000:
            raise RuntimeError(f"libxcr.so takes {library.stat().st_size} bytes stripped")
        names = [line.split()[-1] for line in run("nm", "-D", "--defined-only", library).splitlines()]
        strange = [name for name in names if not re.match(r"xcr_\w+$", name)]
        if strange or not names:
            raise RuntimeError(f"libxcr.so exports {strange or 'nothing'}")
        needed = set(re.findall(r"NEEDED.*\[(.+?)\]", run("readelf", "-d", library)))
        extra = {name for name in needed if not re.match(r"(libc|libm|libpthread|libdl|ld-linux.*)\.so", name)}
        if extra:
            raise RuntimeError(f"libxcr.so needs {sorted(extra)}")

    def library_loads_on_older_systems(self):
        """No symbol newer than glibc 2.28."""
        table = run("objdump", "-T", self.libraries / "libxcr.so")
        needed = {tuple(map(int, version.split("."))) for version in re.findall(r"\*UND\*.*\(GLIBC_([\d.]+)\)", table)}
        if not needed or max(needed) > (2, 28):
            newest = sorted(line.split()[-1] for line in table.splitlines() if re.search(r"GLIBC_2\.(29|[3-9]\d)\)", line))
            raise RuntimeError(f"libxcr.so needs {newest or 'no symbol'} of glibc; 2.28 has none of these")

    def wheels(self):
        """Wheels unpack to packages that work by themselves: in an environment without PATH, with no library but the C library's."""
        script = "import sys, numpy, xcompile\n" \
                 "source = xcompile.compile(sys.argv[1]) if sys.argv[1].endswith('.mlir') else sys.argv[1]\n" \
                 "print('0:', *map(int, xcompile.load(source, 'cpu').main(numpy.float32([1, 2, 3]), numpy.float32([10, 20, 30]))))"
        for source, flags in ((self.folder / "add.mlir", ()), (self.module, ("--without-compiler",))):
            folder = self.folder / f"wheel{len(flags)}"
            wheel = run(sys.executable, ROOT / "scripts" / "wheel.py", f"--build={self.build}", f"--output={folder}", "--level=0", *flags)
            version = tuple(map(int, re.search(r"cp311-abi3-manylinux_(\d+)_(\d+)_x86_64\.whl$", wheel).groups()))
            if flags and version > (2, 28):
                raise RuntimeError(f"the runtime's wheel needs glibc {version}")
            with zipfile.ZipFile(wheel) as archive:
                info = next(name for name in archive.namelist() if name.endswith("/RECORD"))
                for line in archive.read(info).decode().splitlines():
                    name, digest, size = line.rsplit(",", 2)
                    data = archive.read(name)
                    wanted = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
                    if name != info and (digest != f"sha256={wanted}" or int(size) != len(data)):
                        raise RuntimeError(f"{wheel}: RECORD is wrong about {name}")
                for entry in archive.infolist():
                    path = pathlib.Path(archive.extract(entry, folder))
                    path.chmod(entry.external_attr >> 16 & 0o777)
            for program in [folder / "xcompile" / "_runtime.abi3.so", *(folder / "xcompile").glob("bin/*")]:
                for line in run("ldd", program).splitlines():
                    if "=>" in line and str(folder) not in line and not re.match(r"\s*(libc|libm|libdl|libpthread|librt)\.so", line):
                        raise RuntimeError(f"{program.name} of the wheel needs {line.strip()}")
            # An empty PATH would mean the system's directories.
            expect_sum(run(sys.executable, "-c", script, source, env={"PATH": "/nowhere", "PYTHONPATH": str(folder)}))

    def nothing_names_the_build(self):
        """No installed text file holds the path that it was configured or first installed with."""
        for path in self.prefix.rglob("*"):
            if path.is_file() and path.suffix in (".cmake", ".pc", ".h", ".hpp") and "prefix-at-configuration" in path.read_text():
                raise RuntimeError(f"{path.relative_to(self.prefix)} names the prefix of the installation")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/dev", type=pathlib.Path)
    args = parser.parse_args()
    tests = ("tools_run_from_anywhere", "wheels", "cmake_package", "pkg_config", "library_is_small_and_plain", "library_loads_on_older_systems",
             "nothing_names_the_build")
    passed = failed = 0
    with tempfile.TemporaryDirectory(prefix="xc-install-") as folder:
        try:
            place = Place(args.build, pathlib.Path(folder))
        except (RuntimeError, StopIteration, OSError) as failure:
            print(f"FAILED installation: {failure}")
            print(f"0 passed, {len(tests)} failed, 0 skipped")
            return 1
        for name in tests:
            try:
                getattr(place, name)()
                passed += 1
            except (RuntimeError, OSError) as failure:
                print(f"FAILED {name}: {failure}")
                failed += 1
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
