"""Compiles cases, many to a module, runs them in processes of their own and compares with their references."""
import dataclasses
import itertools
import os
import pathlib
import pickle
import re
import subprocess
import sys

import numpy as np

import tensors
import tolerances
import xcr


@dataclasses.dataclass
class Step:
    """One call. Either `expected`, a list of (dtype, float64 or integer values) or of objects with a method
    `disagreement(dtype, values)` that says what is wrong or None; or `error`, a regular expression."""
    inputs: list
    expected: list = None
    function: str = ""          # what comes behind the case's name: "_assign"; empty for the only function
    error: str = None
    launches: int = 1           # of the same bound call


@dataclasses.dataclass
class Case:
    """`text` holds functions (and variables) whose names begin with @NAME, which is replaced by a unique one."""
    name: str
    text: str
    steps: list
    kind: str = "rounded"       # of the tolerance
    parameters: tuple = ()      # (scope, file) of external parameters
    alone: bool = False         # in a module of its own: for sizes or flags that others must not share
    bytecode: bool = False      # compiled from MLIR bytecode instead of text
    stand_in: bool = True       # False: would take minutes where a CPU executes the kernels
    memory: int = 0             # bytes that a device must have: large cases run where they can
    one_call: bool = False      # all steps are launches of one call
    recordings: int = 1         # how often one call's plan is recorded: more where sizes choose among its commands
    flags: tuple = ()           # of xcompile, for a case that is alone
    gradients: tuple = ()       # ("", ":x,y"): what --gradient gets behind the function's name, for function "_vjp"


def function(name_suffix, arguments, results, body):
    """The text of one function: `arguments` and `results` are [(value, type)], `body` the ops."""
    inputs = ", ".join(f"{value}: {type}" for value, type in arguments)
    types = [type for _, type in results]
    returned = f"    return {', '.join(value for value, _ in results)} : {', '.join(types)}" if results else "    return"
    return f"  func.func @NAME{name_suffix}({inputs}) -> ({', '.join(types)}) {{\n{body}\n{returned}\n  }}\n"


def simple(name, inputs, outputs, body, kind="rounded", types=None, result_types=None, **options):
    """A case of one function and one call. `inputs` are Tensors, called %0, %1, ... in `body`, which ends with %r0, ...
    `outputs` are (dtype, values). `types` replaces the static types of the inputs, `result_types` of the results."""
    types = types or [tensor.mlir for tensor in inputs]
    results = result_types or [tensors.mlir_type(dtype, np.shape(values)) for dtype, values in outputs]
    text = function("", [(f"%{i}", type) for i, type in enumerate(types)],
                    [(f"%r{i}", type) for i, type in enumerate(results)],
                    "\n".join("    " + line.strip() for line in body.strip().splitlines()))
    return Case(name, text, [Step(inputs, outputs)], kind, **options)


def over_sizes(name, inputs, reference, type, result, op, kind):
    """One function of one input of type `type`, called with each of `inputs`."""
    text = f"""  func.func @NAME(%x: {type}) -> {result} {{
    %y = {op} : {type} -> {result}
    return %y : {result}
  }}
"""
    return Case(name, text, [Step([x], [(x.dtype, reference(x.values))]) for x in inputs], kind)


def symbol_of(case):
    return re.sub(r"\W", "_", case.name)


def module_text(cases):
    parts = [f"// {case.name}\n" + re.sub(r"@NAME", "@" + symbol_of(case), case.text) for case in cases]
    return "module {\n" + "\n".join(parts) + "}\n"


# ---- Comparing ---------------------------------------------------------------------------------------------------------

def compare(kind, got, want):
    """None, or what is wrong with one output. Both are (dtype, values)."""
    (got_type, got_values), (want_type, want_values) = got, want
    want_values = np.asarray(want_values)
    if got_type != want_type or got_values.shape != want_values.shape:
        return f"expected {want_type}{list(want_values.shape)}, got {got_type}{list(got_values.shape)}"
    if got_values.size == 0:
        return None
    if got_type not in tensors.FLOATS:
        wrong = got_values != want_values.astype(got_values.dtype)
        if not wrong.any():
            return None
        worst = np.unravel_index(np.argmax(wrong), wrong.shape)
        return (f"{wrong.sum()} of {wrong.size} elements differ, first at {[int(i) for i in worst]}: "
                f"expected {want_values[worst]}, got {got_values[worst]}")
    want_values = want_values.astype(np.float64)
    absolute, relative = tolerances.tolerance(kind, want_type)
    with np.errstate(all="ignore"):
        # What rounds to infinity in this type is infinity; the sign of zero is not compared.
        rounded = tensors.Tensor(want_type, want_values).values
        want_values = np.where(np.isinf(rounded), rounded, want_values)
        error = np.abs(got_values - want_values)
        excess = error - (absolute + relative * np.abs(want_values))
        same = (got_values == want_values) | (np.isnan(got_values) & np.isnan(want_values)) | (got_values == rounded)
        excess = np.where(same, -np.inf, np.where(np.isnan(excess) | np.isinf(error), np.inf, excess))
        wrong = excess > 0
        if not wrong.any():
            return None
        worst = np.unravel_index(np.argmax(excess), excess.shape)
        ulps = error[worst] / (tolerances.UNIT[want_type] * max(abs(want_values[worst]), 1e-300))
    return (f"{wrong.sum()} of {wrong.size} elements are off, worst at {[int(i) for i in worst]}: expected "
            f"{want_values[worst]!r}, got {got_values[worst]!r}, error {error[worst]:.3g} ({ulps:.3g} ulp; "
            f"allowed {absolute:.3g} + {relative:.3g} relative)")


def run_step(instance, case, step, call=None):
    """None, or what is wrong."""
    name = symbol_of(case) + step.function
    try:
        outputs = instance.run(name, step.inputs, step.launches, call)
    except xcr.Failure as failure:
        if step.error is None:
            return f"failed: {failure}"
        return None if re.search(step.error, str(failure)) else f"expected an error like '{step.error}', got '{failure}'"
    if step.error is not None:
        return f"expected an error like '{step.error}', got none"
    if len(outputs) != len(step.expected):
        return f"expected {len(step.expected)} outputs, got {len(outputs)}"
    for i, (got, want) in enumerate(zip(outputs, step.expected)):
        problem = want.disagreement(*got) if hasattr(want, "disagreement") else compare(case.kind, got, want)
        if problem:
            return (f"output {i}: " if len(outputs) > 1 else "") + problem
    return None


# ---- Running -------------------------------------------------------------------------------------------------------------

def work():
    """A process of its own: reads (library, device, module, cases) and writes one line of each case's outcome, so that a
    crash loses one case only."""
    library_path, device_uri, module, cases = pickle.load(sys.stdin.buffer)
    library = xcr.Library(library_path)
    device, _ = xcr.open_device(library, device_uri)
    instances = {}
    for index, case in enumerate(cases):
        key = case.parameters
        print(f"begin {index}", flush=True)
        problem = None
        try:
            if key not in instances:
                instances[key] = xcr.Instance(library, device, module, key)
            call = instances[key].create_call(symbol_of(case)) if case.one_call else None
            for number, step in enumerate(case.steps):
                problem = run_step(instances[key], case, step, call)
                recorded = instances[key].statistics(call).instantiations if call else 1
                is_last = number == len(case.steps) - 1
                if not problem and call and (recorded > case.recordings or is_last and recorded != case.recordings):
                    problem = f"expected a plan that is recorded {case.recordings} times, got {recorded} instantiations"
                if problem:
                    problem = (f"call {number}: " if len(case.steps) > 1 else "") + problem
                    break
        except xcr.Failure as failure:
            problem = f"cannot be loaded: {failure}"
        print(f"end {index} {problem or ''}".replace("\n", " "), flush=True)


class Runner:
    def __init__(self, build, device, target, directory, flags=(), dynamic=None):
        self.build, self.device, self.target, self.dynamic = pathlib.Path(build), device, target, dynamic
        self.directory, self.flags = pathlib.Path(directory), list(flags)
        self.directory.mkdir(parents=True, exist_ok=True)
        self.library = str((self.build / "lib" / "libxcr.so").resolve())
        self.numbers = itertools.count()

    def compile(self, cases):
        """(module, None) or (None, what the compiler said)."""
        stem = self.directory / f"module{next(self.numbers)}"
        source, module = stem.with_suffix(".mlir"), stem.with_suffix(".vmfb")
        text = module_text(cases)
        passes = [f"-xc-array-test-open-dims=only-first={'true' if self.dynamic == 'first' else 'false'}"] if self.dynamic else []
        if "vjp}" in text:
            # Such functions return the gradient of the op instead, whose own result is the cotangent.
            passes.append("-xc-array-test-vjp")
        if passes:
            text, said = self.rewrite(text, passes)
            if text is None:
                return None, said
        source.write_text(text)
        if any(case.bytecode for case in cases):
            done = subprocess.run([str(self.build / "bin" / "xc-opt"), str(source), "--emit-bytecode", "-o", str(source) + "bc"],
                                  capture_output=True, text=True)
            if done.returncode != 0:
                return None, "xc-opt failed: " + (done.stderr.splitlines() or ["it said nothing"])[0]
            source = pathlib.Path(str(source) + "bc")
        gradients = [f"--gradient={symbol_of(case)}{wanted}" for case in cases for wanted in case.gradients]
        command = [str(self.build / "bin" / "xcompile"), str(source), "-o", str(module), f"--target={self.target}", *gradients, *self.flags]
        command += [flag for case in cases for flag in case.flags]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=600)
        except subprocess.TimeoutExpired:
            return None, "the compiler took more than 600 s"
        except OSError as error:
            return None, f"xcompile cannot be run: {error}"
        if done.returncode == 0:
            return module, None
        said = [line for line in done.stderr.splitlines() if "error" in line] or done.stderr.splitlines()
        return None, f"xcompile {('ended with signal ' + str(-done.returncode)) if done.returncode < 0 else 'failed'}: " + \
            (said[0] if said else "it said nothing")

    def compile_apart(self, cases):
        """Compiles a group under a name of its own, by which a CompiledRunner finds it; the problem of each case."""
        module, problem = self.compile(cases)
        if module:
            module.rename(self.directory / compiled_name(cases))
        return [problem] * len(cases)

    def rewrite(self, text, passes):
        """(text, None) or (None, what xc-opt said)."""
        done = subprocess.run([str(self.build / "bin" / "xc-opt"), "-", *passes], input=text, capture_output=True, text=True)
        if done.returncode == 0:
            return done.stdout, None
        said = [line for line in done.stderr.splitlines() if "error" in line] or done.stderr.splitlines()
        return None, "xc-opt failed: " + (said or ["it said nothing"])[0]

    def run_module(self, module, cases):
        """The problem of each case, None where there is none."""
        problems = [None] * len(cases)
        begin = 0
        while begin < len(cases):
            part = cases[begin:]
            done = subprocess.run([sys.executable, __file__], input=pickle.dumps((self.library, self.device, str(module), part)),
                                  capture_output=True, env=dict(os.environ, PYTHONDONTWRITEBYTECODE="1"))
            last = -1
            for line in done.stdout.decode(errors="replace").splitlines():
                word, _, rest = line.partition(" ")
                index, _, problem = rest.partition(" ")
                if word == "begin":
                    last = int(index)
                    problems[begin + last] = "crashed"
                elif word == "end":
                    problems[begin + int(index)] = problem or None
            said = done.stderr.decode(errors="replace").strip().splitlines()
            lost = next((i for i in range(begin, len(cases)) if "is lost" in (problems[i] or "")), None)
            if lost is not None:  # the stand-in says why
                problems[lost] += f": {' / '.join(said[:4])}"
            if done.returncode == 0:
                break
            how = f"signal {-done.returncode}" if done.returncode < 0 else (said[-1] if said else f"code {done.returncode}")
            problems[begin + max(last, 0)] = f"ended the process: {how}"
            begin += max(last, 0) + 1
        return problems

    def run(self, cases):
        """Compiles and runs a group; where it does not compile, halves of it, down to the case that does not."""
        module, problem = self.compile(cases)
        if module:
            return self.run_module(module, cases)
        if len(cases) == 1:
            return [problem]
        middle = len(cases) // 2
        return self.run(cases[:middle]) + self.run(cases[middle:])


class CompiledRunner(Runner):
    """Runs what compile_apart of a Runner left in `directory`, where there is no compiler."""

    def __init__(self, build, device, directory):
        super().__init__(build, device, None, directory)

    def run(self, cases):
        module = self.directory / compiled_name(cases)
        return self.run_module(module, cases) if module.exists() else [f"{module.name} is missing"] * len(cases)


def compiled_name(cases):
    return f"{symbol_of(cases[0])}-{symbol_of(cases[-1])}.vmfb"


if __name__ == "__main__":
    work()
