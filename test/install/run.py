#!/usr/bin/env python3
"""Installs a build, moves what was installed elsewhere, and builds a user's project against it.

    run.py --build=build/dev

The last line is "N passed, N failed, N skipped".
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
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
        self.folder = folder
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

    def nothing_names_the_build(self):
        """No installed text file holds the path that it was configured or first installed with."""
        for path in self.prefix.rglob("*"):
            if path.is_file() and path.suffix in (".cmake", ".pc", ".h", ".hpp") and "prefix-at-configuration" in path.read_text():
                raise RuntimeError(f"{path.relative_to(self.prefix)} names the prefix of the installation")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/dev", type=pathlib.Path)
    args = parser.parse_args()
    tests = ("tools_run_from_anywhere", "cmake_package", "pkg_config", "library_is_small_and_plain", "library_loads_on_older_systems",
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
