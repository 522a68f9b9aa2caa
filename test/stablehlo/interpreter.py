#!/usr/bin/env python3
"""Runs the tests of StableHLO's interpreter: programs with constants and the results that the specification gives them.

    interpreter.py --source=STABLEHLO --build=build/dev [--device=cpu] [--target=cpu] [--filter=REGEX] [--share=N]

STABLEHLO is a checkout of openxla/stablehlo; its folders stablehlo/tests/interpret, stablehlo/tests/math and stablehlo/testdata are read. What
the tests have as constants becomes arguments, so that kernels compute the results. Where an op wants them as constants (sizes of
dynamic_reshape), they stay constants. Programs of several devices, and those that the interpreter itself does not run, are left out and counted.
The last line is "N passed, N failed, N skipped".
"""
import argparse
import collections
import concurrent.futures
import hashlib
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "e2e"))

import numpy as np  # noqa: E402

import tensors  # noqa: E402
import tolerances  # noqa: E402
import xcr  # noqa: E402

TYPE = r"tensor<(?:[^<>\n]|<[^<>\n]*>)*>"
CONSTANT = re.compile(rf"[ \t]*(%\w+) = stablehlo\.constant (dense<.*?>) : ({TYPE})[ \t]*\n", re.S)
CALL = re.compile(rf"[ \t]*(%\w+)(?::(\d+))? = call @(inputs|expected|samples)\w*\(\) : \(\) -> (\(.*\)|{TYPE})[ \t]*\n")
AGAINST_CONSTANT = re.compile(
    rf"[ \t]*\"?check\.expect_(eq|almost_eq)_const\"?\(?\s?(%[\w#]+)(?:,\s*|\) <\{{value = )(dense<.*?>)\s*:\s*({TYPE})([^\n]*)\n", re.S)
AGAINST_VALUE = re.compile(rf"[ \t]*check\.expect_(eq|almost_eq|close) (%[\w#]+), (%[\w#]+)([^\n]*?) : ({TYPE})[^\n]*\n")
CUSTOM = re.compile(rf"[ \t]*(?:%\w+ = )?stablehlo\.custom_call @check\.(?:expect_)?(eq|almost_eq|close)\((%[\w#]+), (%[\w#]+)\)[^\n]*: \(({TYPE})[^\n]*\n")
# Ops of several devices, of hosts, and of the interpreter alone.
ELSEWHERE = re.compile(r"run_parallel|infeed|outfeed|interpreter\.|stablehlo\.(send|recv)\b|num_replicas = [^1]|ulp_difference_float")
# Sums of several terms, whose order is nobody's.
SUMS = re.compile(r"stablehlo\.(dot_general|dot|convolution|reduce|reduce_window|fft|while)\b")

Check = collections.namedtuple("Check", "kind got want tolerance type")


class Program:
    """A function with checks, cut into the constants that it starts from and the ops between them and its results."""

    def __init__(self, name, text):
        self.name = name
        head = re.search(r"func\.func (?:public )?@\w+\(\)[^\n]*\{[^\n]*\n(?=(?:(?!func\.func).)*check\.)", text, re.S)
        end = re.compile(r"^[ \t]*(?:func\.)?return[^\n]*\n", re.M).search(text, head.end())
        self.before, body, self.after = text[:head.start()], text[head.end():end.start()], text[end.end():]
        self.statements, self.types, self.checks = [], {}, []
        body = AGAINST_CONSTANT.sub(self.take_constant_check, body)
        body = AGAINST_VALUE.sub(lambda m: self.add_check(m[1], m[2], m[3], m[4], m[5]), body)
        body = CUSTOM.sub(lambda m: self.add_check(m[1], m[2], m[3], "", m[4]), body)
        body = CALL.sub(self.take_call, body)
        self.body = CONSTANT.sub(lambda m: self.take(m[0], {m[1]: m[3]}) if self.is_outside(body, m.start()) else m[0], body)

    @staticmethod
    def is_outside(body, place):
        """Whether a place is in no region."""
        return body.count("{", 0, place) == body.count("}", 0, place)

    def take(self, statement, types):
        self.statements.append(statement)
        self.types.update(types)
        return ""

    def take_constant_check(self, match):
        name = f"%wanted{len(self.checks)}"
        self.take(f"  {name} = stablehlo.constant {match[3]} : {match[4]}\n", {name: match[4]})
        return self.add_check(match[1], match[2], name, match[5], match[4])

    def add_check(self, kind, got, want, options, kind_of):
        given = re.search(r"(?:tolerance|max_ulp_difference) = ([\d.e-]+)", options)
        self.checks.append(Check(kind, got, want, float(given[1]) if given else {"eq": 0, "almost_eq": 1e-4, "close": 3}[kind], kind_of))
        return ""

    def take_call(self, match):
        types = re.findall(TYPE, match[4])
        names = [f"{match[1]}#{i}" for i in range(len(types))] if match[2] else [match[1]]
        return self.take(match[0], dict(zip(names, types)))

    def text(self, arguments, body, results):
        def plain(name):
            return "%given" + name[1:].replace("#", "_") if "#" in name else name

        types = ", ".join(kind for _, kind in results)
        parameters = ", ".join(f"{plain(name)}: {kind}" for name, kind in arguments)
        for name, _ in arguments:
            body = re.sub(re.escape(name) + r"\b", plain(name), body)
        names = {name for name, _ in arguments}
        returned = ", ".join(plain(name) if name in names else name for name, _ in results)
        ending = f"  return {returned} : {types}\n" if results else "  return\n"
        return f"{self.before}func.func public @main({parameters}) -> ({types}) {{\n{body}{ending}{self.after}"

    def given(self):
        """What gives the constants."""
        return self.text([], "".join(self.statements), list(self.types.items()))

    def results(self):
        """Name and type of each value that is computed and checked."""
        named = {name: check.type for check in self.checks for name in (check.got, check.want)}
        return [(name, kind) for name, kind in named.items() if name not in self.types]

    def used(self):
        """The constants that the ops take."""
        return [name for name in self.types if re.search(re.escape(name) + r"\b(?!#)", self.body)]

    def computed(self):
        return self.text([(name, self.types[name]) for name in self.used()], self.body, self.results())

    def folded(self):
        """The same with the constants in it."""
        return self.text([], "".join(self.statements) + self.body, self.results())


def read_programs(root):
    """(programs, how many are left out)."""
    programs, left = [], 0
    for folder in ("tests/interpret", "tests/math", "testdata"):
        for path in sorted((root / folder).rglob("*.mlir")):
            text = path.read_text()
            if "--interpret" not in text or "dynamic" in path.parts or "RUN-DISABLED" in text:
                left += text.count("check.") > 0
                continue
            pieces = re.split(r"^(?:// )+-----.*$", text, flags=re.M)
            for number, piece in enumerate(pieces):
                if "check." not in piece:
                    continue
                if ELSEWHERE.search(piece):
                    left += 1
                else:
                    name = f"{folder.split('/')[-1]}/{path.stem}" + (f".{number}" if len(pieces) > 1 else "")
                    programs.append(Program(name, re.sub(r"^\s*//.*$", "", piece, flags=re.M)))
    return programs, left


def distance_allowed(check, kind, dtype, want):
    """How far each element may be: what the test says, or our own tolerance for `kind` where that is more."""
    if check.kind == "eq":
        return np.zeros(want.shape)
    absolute, relative = tolerances.tolerance(kind, dtype)
    size = np.where(np.isfinite(want), np.abs(want), 0.0)
    # At most so many times the distance of neighbours.
    given = check.tolerance * (2 * tolerances.UNIT[dtype] * size if check.kind == "close" else 1.0)
    return np.maximum(given, absolute + relative * size)


def difference(check, kind, got, want):
    (dtype, got), (other, want) = got, want
    if dtype != other or got.shape != want.shape:
        return f"is {dtype} {got.shape}, expected {other} {want.shape}"
    if dtype not in tensors.FLOATS:
        wrong = got != want
    else:
        with np.errstate(invalid="ignore"):
            near = np.abs(got - want) <= distance_allowed(check, kind, dtype, want)
        wrong = ~(near | (got == want) | (np.isnan(got) & np.isnan(want)))
    if not wrong.any():
        return ""
    place = np.unravel_index(np.argmax(wrong), wrong.shape)
    return f"differs in {int(wrong.sum())} of {wrong.size} elements, first at {tuple(map(int, place))}: {got[place]}, expected {want[place]}"


class Runner:
    def __init__(self, args, scratch):
        self.args, self.scratch = args, pathlib.Path(scratch)
        self.library = xcr.Library(str((args.build / "lib" / "libxcr.so").resolve()))
        self.devices = {name: xcr.open_device(self.library, name)[0] for name in {"cpu", args.device}}

    def compile(self, name, text, target):
        """(module, error)."""
        source = self.scratch / (re.sub(r"\W", "_", name) + ".mlir")
        source.write_text(text)
        module = source.with_suffix(".vmfb")
        done = subprocess.run([self.args.build / "bin" / "xcompile", source, "-o", module, f"--target={target}", "-j1", "--ptxas=off"],
                              capture_output=True, text=True)
        return module, next((line for line in done.stderr.splitlines() if "error" in line), done.stderr[-300:]) if done.returncode else ""

    def build(self, program):
        given = self.compile(f"{program.name}.given", program.given(), "cpu") if program.types else (None, "")
        computed = self.compile(program.name, program.computed(), self.args.target)
        is_folded = bool(computed[1])
        if is_folded:
            folded = self.compile(f"{program.name}.folded", program.folded(), self.args.target)
            computed = computed if folded[1] else folded
            is_folded = not folded[1]
        return given, computed, is_folded

    def run(self, device, module, inputs):
        return xcr.Instance(self.library, self.devices[device], module).run("main", inputs)

    def check(self, program, built):
        given, computed, is_folded = built
        for _, error in (computed, given):
            if error:
                return re.sub(r"^.*?error: ", "", error)
        values = dict(zip(program.types, self.run("cpu", given[0], []))) if given[0] else {}
        inputs = [] if is_folded else [tensors.Tensor(*values[name]) for name in program.used()]
        values.update(zip((name for name, _ in program.results()), self.run(self.args.device, computed[0], inputs)))
        kind = "sum" if SUMS.search(program.body + program.before + program.after) else "composite"
        problems = (difference(check, kind, values[check.got], values[check.want]) for check in program.checks)
        return next((f"result {i} {problem}" for i, problem in enumerate(problems) if problem), "")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--source", type=pathlib.Path, required=True)
    parser.add_argument("--build", default="build/dev", type=pathlib.Path)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--target", default="cpu")
    parser.add_argument("--filter", default="")
    parser.add_argument("--share", type=int, default=1, help="one in so many programs, the same ones whatever others there are")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--show", action="store_true", help="print the text that is compiled")
    args = parser.parse_args()
    programs, left = read_programs(args.source / "stablehlo")
    programs = [program for program in programs if re.search(args.filter, program.name)
                and int(hashlib.sha256(program.name.encode()).hexdigest(), 16) % args.share == 0]
    failed = constants = 0
    with tempfile.TemporaryDirectory(prefix="xc-interpreter-") as scratch:
        runner = Runner(args, scratch)
        with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
            for program, built in zip(programs, pool.map(runner.build, programs)):
                if args.show:
                    print(program.computed())
                try:
                    problem = runner.check(program, built)
                except xcr.Failure as failure:
                    problem = str(failure)
                failed, constants = failed + bool(problem), constants + built[2]
                if problem:
                    print(f"FAILED {program.name}: {problem}", flush=True)
    if not programs:
        print(f"FAILED: no program in {args.source} is called that")
        failed = 1
    print(f"{constants} with their constants in the program")
    print(f"{max(0, len(programs) - failed)} passed, {failed} failed, {left} skipped")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
