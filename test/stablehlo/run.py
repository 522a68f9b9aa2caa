#!/usr/bin/env python3
"""Lowers JAX functions to StableHLO, compiles what JAX prints, runs it and compares with JAX's own result on the CPU.

    run.py --build=build/dev [--device=cpu|cuda] [--target=cpu] [--filter=REGEX] [--share=N] [--list]
    run.py --mutate=300       damaged texts of the same programs: each has to be compiled, or refused with an error

Needs the environment that `scripts/setup.sh --frontends` makes: build/frontends/bin/python test/stablehlo/run.py.
The last line is "N passed, N failed, N skipped".
"""
import argparse
import collections
import concurrent.futures
import hashlib
import itertools
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
os.environ.setdefault("JAX_PLATFORMS", "cpu")
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "e2e")]

import numpy as np  # noqa: E402

import tensors  # noqa: E402
import tolerances  # noqa: E402
import xcr  # noqa: E402

try:
    import jax
    import jax.numpy as jnp
except ImportError:
    sys.exit("run.py: JAX is not here; scripts/setup.sh --frontends makes an environment that has it, build/frontends")

import attention_programs  # noqa: E402, F401
import complex_functions  # noqa: E402, F401
import functions  # noqa: E402
import more_functions  # noqa: E402, F401
import more_programs  # noqa: E402, F401
import search_programs  # noqa: E402, F401
import texts  # noqa: E402
import user_programs  # noqa: E402, F401

NAMES = {np.dtype(bool): "i1", np.dtype(np.float16): "f16", np.dtype(jnp.bfloat16): "bf16"}


def dtype_of(array):
    name = NAMES.get(array.dtype)
    return name or {"i": "i", "u": "u", "f": "f"}[array.dtype.kind] + str(8 * array.dtype.itemsize)


def is_float(value):
    return jnp.issubdtype(value.dtype, jnp.floating)


def is_inexact(value):
    return jnp.issubdtype(value.dtype, jnp.inexact)


def as_port(value):
    """The array that a module takes or gives for one of JAX: complex numbers have their parts in a last dim."""
    value = np.asarray(value)
    return np.stack([value.real, value.imag], axis=-1) if np.iscomplexobj(value) else value


def gradient_of(function, arguments):
    """The gradient of the sum of squares of the function's inexact results to its inexact arguments."""
    floats = [i for i, argument in enumerate(arguments) if is_inexact(argument)]

    def loss(values, *rest):
        everything = list(rest)
        for place, value in zip(floats, values):
            everything.insert(place, value)
        results = jax.tree.leaves(function(*everything))
        return sum(jnp.sum(jnp.real(result * jnp.conj(result))) for result in results if is_inexact(result))

    others = [argument for i, argument in enumerate(arguments) if i not in floats]
    return jax.grad(loss), ([arguments[i] for i in floats], *others)


class Case:
    def __init__(self, name, function, arguments, kind):
        self.name, self.function, self.arguments, self.kind = name, function, arguments, kind

    def lower(self):
        lowered = jax.jit(self.function, keep_unused=True).lower(*self.arguments)
        return lowered.as_text(), [as_port(v) for v in jax.tree.leaves(lowered.compile()(*self.arguments))]

    def inputs(self):
        return [as_port(value) for value in jax.tree.leaves(self.arguments)]


class TextCase(Case):
    def __init__(self, name, text, arguments, results):
        super().__init__(name, None, arguments, "sum")
        self.text, self.results = text, results

    def lower(self):
        return self.text, self.results


def collect(pattern, share):
    cases = [Case(*entry, "sum") for entry in functions.FUNCTIONS]
    for name, function, arguments in functions.GRADIENTS:
        cases.append(Case(f"{name}.grad", *gradient_of(function, arguments), "gradient"))
    cases += [Case(*entry, "model") for entry in functions.PROGRAMS]
    cases += [TextCase(*entry) for entry in texts.TEXTS]
    return [case for case in cases if re.search(pattern, case.name)
            and int(hashlib.sha256(case.name.encode()).hexdigest(), 16) % share == 0]


def difference(got, want, kind):
    """What is wrong with an output, or nothing."""
    dtype, values = got
    if dtype != dtype_of(want) or values.shape != want.shape:
        return f"is {dtype} {values.shape}, expected {dtype_of(want)} {want.shape}"
    if dtype not in tensors.FLOATS:
        wrong = values != want
    else:
        want = want.astype(np.float64)
        absolute, relative = tolerances.tolerance(kind, dtype)
        with np.errstate(invalid="ignore"):
            near = np.abs(values - want) <= absolute + relative * np.abs(want)
        wrong = ~(near | (values == want) | (np.isnan(values) & np.isnan(want)))
    if not wrong.any():
        return ""
    worst = np.unravel_index(np.argmax(wrong), wrong.shape)
    return f"differs in {int(wrong.sum())} of {wrong.size} elements, first at {tuple(map(int, worst))}: {values[worst]}, expected {want[worst]}"


class Runner:
    def __init__(self, args, scratch):
        self.args, self.scratch = args, scratch
        self.compiler = pathlib.Path(args.build) / "bin" / "xcompile"
        self.library = xcr.Library(str((pathlib.Path(args.build) / "lib" / "libxcr.so").resolve()))
        self.device, _ = xcr.open_device(self.library, args.device)

    def compile(self, name, text):
        """(module, error, exit status)."""
        source = pathlib.Path(self.scratch) / f"{name}.stablehlo.mlir"
        source.write_text(text)
        module = source.with_suffix(".vmfb")
        done = subprocess.run([self.compiler, source, "-o", module, f"--target={self.args.target}", "-j1", "--ptxas=off"],
                              capture_output=True, text=True)
        return module, done.stderr, done.returncode

    def check(self, case, lowered, compiled):
        (text, wanted), (module, error, status) = lowered, compiled
        if status:
            return next((line for line in error.splitlines() if "error" in line), error[-300:])
        inputs = [tensors.Tensor(dtype_of(v), v.astype(np.float64) if is_float(v) else v) for v in case.inputs()]
        outputs = xcr.Instance(self.library, self.device, module).run("main", inputs)
        if len(outputs) != len(wanted):
            return f"has {len(outputs)} outputs, expected {len(wanted)}"
        problems = (difference(got, want, case.kind) for got, want in zip(outputs, wanted))
        return next((f"output {i} {problem}" for i, problem in enumerate(problems) if problem), "")


def write_table(path, counts):
    """Puts a table of ops, with how many programs hold each, between the marks of a page."""
    rows = [f"| `{op}` | {count} |" for op, count in sorted(counts.items())]
    columns = [rows[i::3] for i in range(3)]
    lines = ["| op | programs | op | programs | op | programs |", "|---|---|---|---|---|---|"]
    for group in itertools.zip_longest(*columns, fillvalue="| | |"):
        lines.append(group[0] + "".join(cell[1:] for cell in group[1:]))
    page = pathlib.Path(path)
    start, end = "<!-- table -->\n", "<!-- end of table -->"
    head, rest = page.read_text().split(start)
    page.write_text(head + start + "\n".join(lines) + "\n" + end + rest.split(end)[1])


def run_cases(runner, cases, jobs):
    passed = failed = 0
    ops = collections.Counter()
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        started = []
        for case in cases:
            lowered = case.lower()
            started.append((case, lowered, pool.submit(runner.compile, case.name, lowered[0])))
        for case, lowered, future in started:
            try:
                problem = runner.check(case, lowered, future.result())
            except xcr.Failure as failure:
                problem = str(failure)
            passed, failed = passed + (not problem), failed + bool(problem)
            if problem:
                print(f"FAILED {case.name}: {problem}", flush=True)
            else:
                ops.update(set(re.findall(r"\b(?:stablehlo|chlo)\.(?!return\b)[a-z_]\w*(?=[ (\"])", lowered[0])))
    if runner.args.table:
        write_table(runner.args.table, ops)
    return passed, failed


def mutate(text, generator):
    """The text with one piece taken out, doubled, or put in the place of another."""
    tokens = re.findall(r"[\w.]+|\W", text)
    for _ in range(generator.randint(1, 3)):
        place, other = generator.randrange(len(tokens)), generator.randrange(len(tokens))
        change = generator.randrange(5)
        if change == 0:
            del tokens[place]
        elif change == 1:
            tokens.insert(place, tokens[place])
        elif change == 2:
            tokens[place] = tokens[other]
        elif change == 3 and tokens[place].isdigit():
            tokens[place] = generator.choice(["0", "1", "7", "-1", "2147483648", "9223372036854775807"])
        else:
            del tokens[place:place + generator.randint(1, 12)]
    return "".join(tokens)


def run_mutants(runner, cases, count, jobs):
    generator = random.Random(25)
    texts = [case.lower()[0] for case in cases]
    mutants = [(f"mutant{i}", mutate(generator.choice(texts), generator)) for i in range(count)]
    passed = failed = 0
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for (name, _), (_, error, status) in zip(mutants, pool.map(lambda mutant: runner.compile(*mutant), mutants)):
            # A clear error says where; a signal, or the failure of the compiler itself, is none.
            good = status == 0 or (status == 1 and "error: " in error and "PLEASE submit" not in error)
            passed, failed = passed + good, failed + (not good)
            if not good:
                print(f"FAILED {name}: exit status {status}: {error[-400:]}")
                keep = runner.args.keep
                if keep:
                    source = pathlib.Path(runner.scratch) / f"{name}.stablehlo.mlir"
                    pathlib.Path(keep).mkdir(parents=True, exist_ok=True)
                    (pathlib.Path(keep) / source.name).write_text(source.read_text())
    return passed, failed


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default="build/dev")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--target", default="cpu")
    parser.add_argument("--filter", default="")
    parser.add_argument("--share", type=int, default=1, help="one in so many cases, the same ones whatever others there are")
    parser.add_argument("--mutate", type=int, default=0, help="compile so many damaged texts instead")
    parser.add_argument("--keep", help="folder for damaged texts that are not refused as they should be")
    parser.add_argument("--table", help="page to write a table of the ops of programs that pass to")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--list", action="store_true")
    args = parser.parse_args()
    cases = collect(args.filter, args.share)
    if args.list:
        print("\n".join(case.name for case in cases))
        return 0
    with tempfile.TemporaryDirectory() as scratch:
        runner = Runner(args, scratch)
        passed, failed = run_mutants(runner, cases, args.mutate, args.jobs) if args.mutate else run_cases(runner, cases, args.jobs)
    if not passed + failed:
        print("FAILED: no case is called that")
        failed = 1
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
