#!/usr/bin/env python3
"""Makes the bundle for machines with a GPU, with a few of the cases, unpacks it elsewhere and runs it on the stand-in.

    run.py --build=build/dev

The last line is "N passed, N failed, N skipped": what the bundle's runner counts, and the tests of the runner itself.
"""
import argparse
import pathlib
import re
import subprocess
import sys
import tarfile
import tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Modules of several cases each, for what has to run often.
FEW = r"^(symbolic\.(softmax|sum)_|state\.(counter|swap|momentum)$)"
COUNTS = re.compile(r"^(\d+) passed, (\d+) failed, (\d+) skipped$")


class Failed(Exception):
    pass


class Bundle:
    def __init__(self, folder, driver):
        self.folder, self.driver = folder, driver

    def run(self, *options, **environment):
        """(passed, failed, skipped), what it printed and its exit code, in an environment that has nothing else."""
        done = subprocess.run([self.folder / "run.sh", *options], capture_output=True, text=True, timeout=600,
                              env={"PATH": "/usr/bin:/bin", "XCR_CUDA_LIBRARY": str(self.driver), **environment})
        match = COUNTS.match((done.stdout.splitlines() or [""])[-1])
        if not match:
            raise Failed(f"run.sh {' '.join(options)}: no counts in {done.stdout}{done.stderr}")
        return tuple(map(int, match.groups())), done.stdout, done.returncode


def expect(condition, what):
    if not condition:
        raise Failed(what)


def one_wrong_reference_fails_in_both_modes(bundle):
    """Changes the first reference of one case, which no other case shares, and puts it back."""
    text = (bundle.folder / "e2e" / "cases.txt").read_text()
    statements = text[text.index("case 0 symbolic.softmax_rows\n"):].splitlines()
    path = bundle.folder / "e2e" / next(line for line in statements if line.startswith("want ")).split()[-1]
    kept = path.read_bytes()
    values = np.load(path)
    values.flat[-1] += 0.5
    np.save(path, values)
    counts, out, code = bundle.run("--filter=^symbolic\\.softmax_rows$")
    path.write_bytes(kept)
    expect(counts == (0, 2, 0) and code == 1, f"{counts}, exit code {code}: {out}")
    expect(out.count("FAILED symbolic.softmax_rows: ") == 2 and "elements are off" in out, out)


def a_broken_module_costs_its_own_cases(bundle):
    """A module that is cut short fails its cases; those of other modules pass."""
    counts, _, code = bundle.run(f"--filter={FEW}")
    expect(counts[0] > 10 and counts[1:] == (0, 0) and code == 0, f"{counts}, exit code {code}")
    text = (bundle.folder / "e2e" / "cases.txt").read_text()
    module = re.findall(r"^module (\S+)$", text[:text.index(" symbolic.sum_all\n")], re.M)[-1]
    path = bundle.folder / "e2e" / module
    kept = path.read_bytes()
    path.write_bytes(kept[:1000])
    broken, out, code = bundle.run(f"--filter={FEW}")
    path.write_bytes(kept)
    expect(broken[1] > 0 and broken[0] > 0 and code == 1 and "cannot be loaded" in out, f"{broken}, exit code {code}: {out}")


def without_a_driver_nothing_passes(bundle):
    counts, out, code = Bundle(bundle.folder, "/nowhere/libcuda.so.1").run(f"--filter={FEW}")
    expect(counts[0] == 0 and counts[1] > 0 and code == 1, f"{counts}, exit code {code}: {out}")


def large_cases_wait_for_a_large_device(bundle):
    counts, out, _ = bundle.run("--filter=^large\\.")
    expect(counts[:2] == (0, 0) and counts[2] > 0 and "needs 17179869184 bytes of memory" in out, out)


def a_case_that_hangs_costs_itself(bundle):
    """Streams that wait for seconds before each operation: each of the two modes goes on after the limit."""
    counts, out, code = bundle.run("--filter=^symbolic\\.softmax_rows$", "--limit=1", PTXSIM_STREAM_DELAY="10000000")
    expect(counts == (0, 2, 0) and code == 1, f"{counts}, exit code {code}: {out}")
    expect(out.count("FAILED symbolic.softmax_rows: it had not ended after 1 seconds") == 2, out)


# Runs what it is given, and finds something in the first share under the tool that FIND names.
SANITIZER = r"""#!/usr/bin/env bash
SUMMARY="ERROR SUMMARY: 0 errors"
while [[ $1 == --* ]]; do
  case $1 in --tool=*) tool=${1#*=} ;; --log-file=*) log=${1#*=} ;; esac
  shift
done
"$@" || exit
[ "$FIND" = silence ] || echo "========= $SUMMARY" > "$log"
[[ $tool == "$FIND" && $* == *--shard=1/3* ]] || exit 0
echo "a finding of $tool" >> "$log"
exit 97
"""


def findings_of_a_sanitizer_are_failures(bundle):
    """Every case runs once for each tool and mode, in shares unless as graphs, and a finding costs a failure."""
    program = bundle.folder / "sanitizer"
    program.write_text(SANITIZER)
    program.chmod(0o755)
    (passed, *_), _, _ = bundle.run(f"--filter={FEW}")
    options = ("--sanitizer", "--jobs=3", f"--filter={FEW}")
    counts, out, code = bundle.run(*options, COMPUTE_SANITIZER=str(program), FIND="")
    expect(counts == (2 * passed, 0, 0) and code == 0, f"{counts}, exit code {code}: {out}")
    expect(all(name in out for name in ("memcheck-graph", "memcheck-stream", "racecheck-stream", "synccheck-stream")), out)
    counts, out, code = bundle.run(*options, COMPUTE_SANITIZER=str(program), FIND="synccheck")
    expect(counts == (2 * passed, 1, 0) and code == 1 and "a finding of synccheck" in out, f"{counts}, exit code {code}: {out}")
    counts, out, code = bundle.run("--sanitizer=memcheck", *options[1:], COMPUTE_SANITIZER=str(program), FIND="silence")
    expect(counts[1] == 4 and code == 1 and "no summary" in out, f"{counts}, exit code {code}: {out}")
    counts, out, code = bundle.run("--sanitizer=memcheck", *options[1:], COMPUTE_SANITIZER="/nowhere/compute-sanitizer")
    expect(counts == (0, 4, 0) and code == 1, f"{counts}, exit code {code}: {out}")


TESTS = (one_wrong_reference_fails_in_both_modes, a_broken_module_costs_its_own_cases, without_a_driver_nothing_passes,
         large_cases_wait_for_a_large_device, a_case_that_hangs_costs_itself, findings_of_a_sanitizer_are_failures)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=ROOT / "build" / "dev", type=pathlib.Path)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="xc-bundle-test-") as scratch:
        scratch = pathlib.Path(scratch)
        subprocess.run(["/usr/bin/python3", ROOT / "scripts" / "gpu-bundle.py", f"--build={args.build}", f"--output={scratch / 'b.tar.xz'}",
                        r"--filter=^(symbolic\.(softmax|sum)|state\.|large\.)"], check=True)
        with tarfile.open(scratch / "b.tar.xz") as archive:
            archive.extractall(scratch)
        bundle = Bundle(scratch / "gpu-bundle", (args.build / "lib" / "libcuda_sim.so").resolve())
        (passed, failed, skipped), out, _ = bundle.run()
        if failed:
            print(out)
        for test in TESTS:
            try:
                test(bundle)
                passed += 1
            except (Failed, OSError, ValueError, AttributeError, StopIteration) as failure:
                print(f"FAILED {test.__name__}: {failure}")
                failed += 1
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
