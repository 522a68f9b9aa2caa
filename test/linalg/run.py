"""Compiles and runs the ONNX backend node tests in the form of linalg on tensors, and compares what comes out.

    run.py --build build/dev --cases FOLDER [--filter REGEX] [--jobs N] [--results FILE] [--classes]

lower.py writes FOLDER. Each case is compiled with xcompile, run with xrun, and its outputs compared in shape, type and value with what
ONNX says, in the tolerance of the case. Where data decides sizes, which xcompile refuses, the case with its short inputs as constants is
tried (fixed.mlir). Needs NumPy only.

Ends with "N passed, N failed, N skipped": failed are cases that crash, or are refused or differ and are not in refused.txt; skipped are
those in refused.txt, which gives a reason for each. A case in that list that passes is a failure, too.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy

HERE = pathlib.Path(__file__).resolve().parent
Result = collections.namedtuple("Result", "name kind why fixed")


def call(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", timeout=300)
    return done.returncode, done.stdout


def widen_bfloat16(array):
    return (array.astype(numpy.uint32) << 16).view(numpy.float32)


def difference(found, wanted, name, rtol, atol):
    if found.shape != wanted.shape:
        return f"shape {list(found.shape)}, expected {list(wanted.shape)}"
    if found.dtype != wanted.dtype:
        return f"type {found.dtype}, expected {wanted.dtype}"
    if name == "bfloat16":
        found, wanted = widen_bfloat16(found), widen_bfloat16(wanted)
    if wanted.dtype.kind in "biu":
        return None if numpy.array_equal(found, wanted) else f"{(found != wanted).sum()} of {wanted.size} elements differ"
    found, wanted = found.astype(numpy.float64), wanted.astype(numpy.float64)
    close = numpy.isclose(found, wanted, rtol=rtol, atol=atol, equal_nan=True)
    return None if close.all() else f"{(~close).sum()} of {wanted.size} elements differ"


class Runner:
    def __init__(self, build, device, target):
        self.xcompile, self.xrun = (str(pathlib.Path(build).resolve() / "bin" / name) for name in ("xcompile", "xrun"))
        self.device, self.target = device, target

    def run(self, case):
        about = json.loads((case / "case.json").read_text())
        result = None
        for text, fixed in (("model.mlir", False), ("fixed.mlir", True)):
            if (case / text).exists():
                tried = self.try_text(case, case / text, about, fixed)
                if result is None or tried.kind == "pass":
                    result = tried
                if tried.kind != "refused":
                    break
        return result

    def try_text(self, case, text, about, fixed):
        with tempfile.TemporaryDirectory() as folder:
            module = f"{folder}/model.vmfb"
            code, message = call([self.xcompile, str(text), "-o", module, f"--target={self.target}", "-j1"])
            if code not in (0, 1):
                return Result(case.name, "crash", f"xcompile exits with {code}: {message[-300:]}", fixed)
            if code == 1:
                return Result(case.name, "refused", find_error(message), fixed)
            for number in range(about["sets"]):
                why = self.execute(module, folder, case, about, number, fixed)
                if why:
                    return Result(case.name, *why, fixed)
        return Result(case.name, "pass", "", fixed)

    def execute(self, module, folder, case, about, number, fixed):
        command = [self.xrun, module, f"--device={self.device}"]
        for index, name in enumerate(about["inputs"]):
            if not (fixed and name in about["fixed"]):
                command.append(f"--input=@{case}/in{number}_{index}.npy")
        for index in range(len(about["outputs"])):
            command.append(f"--output=@{folder}/out{index}.npy")
        code, text = call(command)
        if code != 0:
            return ("wrong" if code == 1 else "crash"), f"xrun exits with {code}: {text.strip()[-300:]}"
        for index, element in enumerate(about["outputs"]):
            wanted = numpy.load(case / f"out{number}_{index}.npy")
            found = numpy.load(f"{folder}/out{index}.npy")
            why = difference(found.view(wanted.dtype) if element == "bfloat16" else found, wanted, element, about["rtol"], about["atol"])
            if why:
                return "wrong", f"output {index}: {why}"
        return None


def find_error(text):
    errors = re.findall(r"error: (.*)", text)
    return errors[0] if errors else " ".join(text.split())[-300:]


def generalize(why):
    """The message without what differs between cases of one class."""
    why = re.sub(r"tensor<[^>]*>", "TENSOR", why)
    return re.sub(r"-?\d+", "N", why)[:170]


def read_refused():
    refused = {}
    for line in (HERE / "refused.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            name, _, why = line.partition(" ")
            refused[name] = why.strip()
    return refused


def print_classes(results):
    classes = collections.defaultdict(list)
    for result in results:
        if result.kind != "pass":
            classes[f"{result.kind}: {generalize(result.why)}"].append(result.name)
    for why, names in sorted(classes.items(), key=lambda entry: -len(entry[1])):
        print(f"{len(names):4} {why}\n     {' '.join(names[:4])}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True)
    parser.add_argument("--cases", required=True)
    parser.add_argument("--filter", default="")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--target", default="cpu")
    parser.add_argument("--results", help="write a line for each case to this file")
    parser.add_argument("--classes", action="store_true", help="group what does not pass by its message")
    arguments = parser.parse_args()
    cases = [path.parent for path in sorted(pathlib.Path(arguments.cases).glob("*/case.json")) if re.search(arguments.filter, path.parent.name)]
    if not cases:
        parser.error(f"no case in {arguments.cases} matches '{arguments.filter}'")
    runner, refused = Runner(arguments.build, arguments.device, arguments.target), read_refused()
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        results = list(pool.map(runner.run, cases))
    passed = failed = skipped = 0
    for result in results:
        if result.kind in ("refused", "wrong") and result.name in refused:
            skipped += 1
        elif result.kind == "pass" and result.name not in refused:
            passed += 1
        else:
            failed += 1
            known = " (listed in refused.txt)" if result.name in refused else ""
            print(f"{result.kind}: {result.name}{known}: {result.why}", flush=True)
    if arguments.results:
        lines = [f"{result.kind:8} {result.name} {'fixed ' if result.fixed else ''}{result.why}" for result in results]
        pathlib.Path(arguments.results).write_text("\n".join(lines) + "\n")
    if arguments.classes:
        print_classes(results)
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 0 if failed == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
