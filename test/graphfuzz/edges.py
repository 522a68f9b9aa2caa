#!/usr/bin/env python3
"""Varies the documented example of every op: element types, dims of size 0, 1 and `?`, special numbers.

    edges.py --build=build/dev [--filter=REGEX] [--device=cpu --target=cpu] [--device=cuda --target=cuda:sm_80] ...

What the verifier accepts has to compile for each target, has to run (or be refused when sizes are bound) on each device, and has to
give the same on all of them: integers exactly, floats as far as roundings go, NaN and infinities in the same places. The last line is
"N passed, N failed, N skipped".
"""
import argparse
import dataclasses
import os
import pathlib
import pickle
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "e2e")]

import numpy as np  # noqa: E402

import harness  # noqa: E402
import tensors  # noqa: E402
import xcr  # noqa: E402

REFERENCE = HERE.parents[1] / "docs" / "reference" / "array.md"
# Not functions of arrays, or with a region, a file or a symbol beside them.
LEFT_OUT = ("variable", "parameter", "custom_kernel", "while", "if", "yield", "reduce_with", "within", "dim", "call", "extent", "append",
            "pad_to_bound")
# A function returns what the host knows the size of: of these all up to the bound, which is the size of the operand.
BOUNDED = ("set_extent", "compress")
TYPES = ("f16", "bf16", "f64", "i1", "i8", "i32", "i64", "ui8", "ui32", "ui64")
SPECIAL = (0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e-40, 2.0 ** -140, 3e38, 0.5, -2.5, 1.5, 1e-3)
GROUP = 40  # functions in one module
TENSOR = re.compile(r"tensor<([^<>]*)>")


@dataclasses.dataclass
class Example:
    name: str
    lines: str          # one statement
    arguments: list     # (name, type text), `index` sizes among them
    results: list       # (name, type text)


def statements(text):
    """The statements of an example, a line and those that go on in it."""
    found = []
    for line in text.splitlines():
        if re.match(r"\s*%[\w, %:]+ = ", line):
            found.append(line.strip())
        elif found and line.strip() and not line.strip().startswith("//"):
            found[-1] += " " + line.strip()
    return found


def parsed(name, line):
    """An Example, or None where the statement is of another form."""
    left, _, right = line.partition(" = ")
    results = [part.strip() for part in left.split(",")]
    body, signature = right, ""
    depth = 0
    for i, c in enumerate(right):
        depth += (c in "([{<") - (c in ")]}" or c == ">" and right[i - 1] != "-")
        if c == ":" and depth == 0:
            body, signature = right[:i], right[i + 1:].strip()
    typed = dict(re.findall(r"(%\w+) : (tensor<[^<>]*>)", body))
    groups = re.findall(r"(?:sizes|from_index)\s*\(?\s*((?:%\w+(?:, )?)+)|sizes = \[([^\]]*)\]", body)
    sized = [n for group in groups for n in ", ".join(group).split(", ") if n.startswith("%")]
    free = [n for n in dict.fromkeys(re.findall(r"%\w+", body)) if n not in typed and n not in sized]
    operands, _, made = signature.rpartition(" -> ") if " -> " in signature else (signature, "", signature)
    types = re.findall(r"tensor<[^<>]*>", operands)
    made = re.findall(r"tensor<[^<>]*>", made)
    if not types and free or not made:
        return None
    if len(types) < len(free):
        types = [types[0]] * len(free) if len(types) == 1 else None
    if types is None or len(made) < len(results):
        return None
    arguments = list(zip(free, types)) + list(typed.items()) + [(n, "index") for n in sized]
    return Example(name, line, arguments, list(zip(results, made)))


def examples(pattern):
    text = REFERENCE.read_text()
    for name, section in re.findall(r"^### `array\.([\w.]+)`(.*?)(?=^### |^## )", text, re.M | re.S):
        if name.split(".")[0] in LEFT_OUT or not re.search(pattern, name):
            continue
        for block in re.findall(r"```mlir\n(.*?)```", section, re.S):
            for line in statements(block):
                if f"array.{name}" in line:
                    example = parsed(name, line)
                    if example:
                        yield example


def replaced(example, change):
    """With `change` for each tensor type's (dims, element)."""
    def one(match):
        *dims, element = match[1].split("x")
        dims, element = change(dims, element)
        return f"tensor<{'x'.join([*dims, element])}>"

    def of(text):
        return TENSOR.sub(one, text)
    return dataclasses.replace(example, lines=of(example.lines), arguments=[(n, of(t)) for n, t in example.arguments],
                               results=[(n, of(t)) for n, t in example.results])


def variants(example):
    yield "as_is", example
    elements = {TENSOR.match(t)[1].split("x")[-1] for _, t in example.arguments + example.results if t != "index"}
    if "f32" in elements or "f16" in elements or "i32" in elements or "i1" in elements:
        main = next(e for e in ("f16", "f32", "i32", "i1") if e in elements)
        for element in TYPES + ("f32",):
            if element != main:
                yield element, replaced(example, lambda dims, e: (dims, element if e == main else e))
    sizes = sorted({d for _, t in example.arguments if t != "index" for d in TENSOR.match(t)[1].split("x")[:-1]})
    for size in sizes:
        for new in ("0", "1", "?", "37"):
            if size != new:
                yield f"{size.replace('?', 'q')}_to_{new.replace('?', 'q')}", replaced(
                    example, lambda dims, e: ([new if d == size else d for d in dims], e))
    if sizes and "?" not in sizes:
        yield "all_q", replaced(example, lambda dims, e: (["?" for d in dims], e))
        yield "all_1", replaced(example, lambda dims, e: (["1" for d in dims], e))


def function(example):
    """The text of a function, whose sizes(...) are taken from an array of that size, and the types of its arguments."""
    arguments, lines = [], []
    for name, type in example.arguments:
        if type == "index":
            arguments.append((f"{name}_of", "tensor<?xi8>"))
            lines.append(f"    {name} = array.dim {name}_of, 0 : tensor<?xi8>")
        else:
            arguments.append((name, type))
    head = ", ".join(f"{n}: {t}" for n, t in arguments)
    types = ", ".join(t for _, t in example.results)
    body = "\n".join(lines + [f"    {example.lines}"])
    names = ", ".join(n for n, _ in example.results)
    if example.name in BOUNDED:
        (name, bounded), types = example.results[0], arguments[0][1]
        element = TENSOR.match(bounded)[1].split("x")[-1]
        zero = "false" if element == "i1" else "0.0" if "f" in element else "0"
        names = f"{name}_padded"
        body += (f"\n    %zero = array.constant dense<{zero}> : tensor<{element}>"
                 f"\n    {names} = array.pad_to_bound {name}, %zero : ({bounded}, tensor<{element}>) -> {types}")
    return f"  func.func @NAME({head}) -> ({types}) {{\n{body}\n    return {names} : {types}\n  }}\n", [t for _, t in arguments]


def accepted(texts, build):
    """Which texts the verifier accepts, and what it says of others."""
    chunks = ["module {\n" + text.replace("@NAME", f"@f{i}") + "}\n" for i, text in enumerate(texts)]
    firsts, line = [], 1
    for chunk in chunks:
        firsts.append(line)
        line += chunk.count("\n") + 1
    done = subprocess.run([str(build / "bin" / "xc-opt"), "-", "--split-input-file", "-o", os.devnull], input="// -----\n".join(chunks),
                          capture_output=True, text=True)
    bad = {}
    for number, said in re.findall(r"^[^\n]*?:(\d+):\d+: error: ([^\n]*)", done.stderr, re.M):
        bad.setdefault(max(i for i, first in enumerate(firsts) if first <= int(number)), said)
    return [bad.get(i) for i in range(len(texts))]


def inputs_of(types, size, seed):
    """Tensors for argument types, every `?` of this size; special numbers among the values."""
    made = []
    for number, text in enumerate(types):
        *dims, element = TENSOR.match(text)[1].split("x")
        dtype = element.replace("ui", "u")
        shape = tuple(size if d == "?" else int(d) for d in dims)
        rng = np.random.default_rng([seed, number])
        if dtype in tensors.FLOATS:
            values = np.where(rng.random(shape) < 0.2, rng.choice(SPECIAL, shape), rng.uniform(-3, 3, shape)) if seed else rng.uniform(-3, 3, shape)
        elif dtype == "i1":
            values = rng.integers(0, 2, shape)
        else:
            limits = np.iinfo(tensors.NUMPY[dtype])
            values = rng.integers(0, 5, shape)
            if seed:
                values = np.where(rng.random(shape) < 0.2, rng.choice([limits.min, limits.max, 0], shape), values)
        made.append(tensors.Tensor(dtype, values))
    return made


def work():
    """Runs every case on a device: a pickle of outcomes, each outputs or what was said."""
    library_path, device_uri, module, cases, out = pickle.load(sys.stdin.buffer)
    library = xcr.Library(library_path)
    device, _ = xcr.open_device(library, device_uri)
    instance = xcr.Instance(library, device, module)
    with open(out, "wb") as file:
        for name, calls in cases:
            for call in calls:
                try:
                    result = instance.run(name, call)
                except xcr.Failure as failure:
                    result = str(failure)
                pickle.dump(result, file)
                file.flush()


def outcomes(runner, module, cases, scratch):
    """[[outcome per call] per case]; a crash is the outcome of the call that it ends."""
    rows, begin = [], 0
    while begin < len(cases):
        out = os.path.join(scratch, "outcomes")
        part = [(harness.symbol_of(case), [step.inputs for step in case.steps]) for case in cases[begin:]]
        done = subprocess.run([sys.executable, __file__, "--work"], capture_output=True,
                              input=pickle.dumps((runner.library, runner.device, str(module), part, out)))
        results = []
        with open(out, "rb") as file:
            while True:
                try:
                    results.append(pickle.load(file))
                except EOFError:
                    break
        for case in cases[begin:]:
            row, results = results[:len(case.steps)], results[len(case.steps):]
            if len(row) < len(case.steps) or any(isinstance(r, str) and "lost" in r for r in row):
                said = done.stderr.decode(errors="replace").strip().splitlines()
                row = row + [f"crashed ({done.returncode}): {said[-1] if said else ''}"] * (len(case.steps) - len(row))
                rows.append(row)
                break
            rows.append(row)
        begin = len(rows)
    return rows


def difference(a, b):
    if isinstance(a, str) or isinstance(b, str):
        both = isinstance(a, str) and isinstance(b, str) and "crashed" not in a + b and "lost" not in a + b
        return None if both else f"{a if isinstance(a, str) else 'a result'} / {b if isinstance(b, str) else 'a result'}"
    for (dtype, x), (_, y) in zip(a, b):
        if x.shape != y.shape:
            return f"shapes {x.shape} and {y.shape}"
        if dtype in tensors.FLOATS:
            with np.errstate(all="ignore"):
                size = np.where(np.isfinite(x), np.abs(x), 0)
                near = np.abs(x - y) <= 2.0 ** (-6 if dtype == "bf16" else -9 if dtype == "f16" else -17) * (1e-30 + size + size.max(initial=0) * 0.05)
                wrong = ~((x == y) | np.isnan(x) & np.isnan(y) | near)
        else:
            wrong = x != y
        if wrong.any():
            at = tuple(int(i) for i in np.argwhere(wrong)[0])
            return f"{wrong.sum()} of {wrong.size} elements of {dtype} differ, first at {list(at)}: {x[at]!r} and {y[at]!r}"
    return None


def compiled(runner, cases):
    """[(module, cases)] and {name: what was said} of those that do not compile."""
    module, problem = runner.compile(cases)
    if module:
        return [(module, cases)], {}
    if len(cases) == 1:
        return [], {cases[0].name: problem}
    middle = len(cases) // 2
    (a, x), (b, y) = compiled(runner, cases[:middle]), compiled(runner, cases[middle:])
    return a + b, {**x, **y}


def problems_of(runners, cases, scratch):
    """{name: what is wrong}: does not compile for a target, or differs from the first device."""
    problems, results = {}, []
    for runner in runners:
        found = {}
        parts, refused = compiled(runner, cases)
        for name, problem in refused.items():
            problems.setdefault(name, f"{runner.target}: {problem}")
        for module, held in parts:
            found.update(zip((case.name for case in held), outcomes(runner, module, held, scratch)))
        results.append(found)
    for case in cases:
        for runner, found in zip(runners, results):
            for number, (one, other) in enumerate(zip(results[0].get(case.name, ()), found.get(case.name, ()))):
                problem = difference(one, other)
                if problem:
                    problems.setdefault(case.name, f"{runner.device}, call {number}: {problem}")
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=HERE.parent.parent / "build" / "dev", type=pathlib.Path)
    parser.add_argument("--device", action="append", help="one or more; the first is what others are compared with")
    parser.add_argument("--target", action="append", help="what to compile for, in the order of the devices")
    parser.add_argument("--filter", default="")
    parser.add_argument("--variant", default="")
    parser.add_argument("--refusals", action="store_true", help="print what the verifier says of variants")
    args = parser.parse_args()
    devices = args.device or ["cpu"]
    targets = args.target or [device.split(":")[0] for device in devices]
    drawn = [(f"{example.name}_{number}_{word}", *function(variant)) for number, example in enumerate(examples(args.filter))
             for word, variant in variants(example) if re.search(args.variant, word)]
    said = accepted([text for _, text, _ in drawn], args.build)
    if args.refusals:
        print(*(f"{name}: {refusal}" for (name, _, _), refusal in zip(drawn, said) if refusal), sep="\n")
    cases = []
    for (name, text, types), refusal in zip(drawn, said):
        if not refusal:
            sizes = (5, 0, 1, 33) if any("?" in type for type in types) else (0,)
            steps = [harness.Step(inputs_of(types, size, seed)) for size in sizes for seed in (0, 1)]
            cases.append(harness.Case(name, text, steps))
    failed = 0
    with tempfile.TemporaryDirectory() as scratch:
        runners = [harness.Runner(args.build, device, target, scratch) for device, target in zip(devices, targets)]
        for first in range(0, len(cases), GROUP):
            for name, problem in problems_of(runners, cases[first:first + GROUP], scratch).items():
                failed += 1
                text = next(case.text for case in cases if case.name == name)
                print(f"FAILED {name}: {problem}\n{text}", flush=True)
    print(f"{len(cases) - failed} passed, {failed} failed, {len(drawn) - len(cases)} skipped")
    return failed != 0


if __name__ == "__main__":
    if sys.argv[1:] == ["--work"]:
        work()
    else:
        sys.exit(main())
