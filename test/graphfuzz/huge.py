#!/usr/bin/env python3
"""Writes numbers near the ends of 64 bits into the documented example of every op: each is refused, or compiles; nothing crashes.

    huge.py --build=build/dev [--filter=REGEX] [--share=N]

Numbers of attributes are replaced one by one, and sizes of types, by numbers whose sums and products leave 64 bits. Where the
verifier names the type that results would have, it gets that, so that what lies behind the verifier sees it as well. The last line
is "N passed, N failed, N skipped".
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import zlib

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import edges  # noqa: E402

NUMBERS = (-2 ** 63, -2 ** 62, -1, 2 ** 31, 2 ** 32 + 1, 2 ** 48, 2 ** 62, 2 ** 63 - 1)
# Of integers only: those of floats, names, types and values are left.
INTEGER = re.compile(r"(?<![\w.%\"#@:])-?\d+(?![\w.])")
SIZES = (2 ** 31, 2 ** 40, 2 ** 62)
SECONDS = 600  # what one program may take before it counts as one that never ends


def with_numbers(example):
    """(what, text): the example with one number of an attribute replaced."""
    types = [match.span() for match in edges.TENSOR.finditer(example.lines)]
    for match in INTEGER.finditer(example.lines):
        if any(begin <= match.start() < end for begin, end in types):
            continue
        for number in NUMBERS:
            lines = example.lines[:match.start()] + str(number) + example.lines[match.end():]
            yield f"{match[0]} at {match.start()} as {number}", edges.dataclasses.replace(example, lines=lines)


def with_sizes(example):
    """(what, text): the example with one size of its types replaced, wherever that size stands."""
    sizes = {d for _, t in example.arguments if t != "index" for d in edges.TENSOR.match(t)[1].split("x")[:-1]}
    for size in sorted(sizes - {"?"}):
        for new in SIZES:
            yield f"size {size} as {new}", edges.replaced(
                example, lambda dims, element: ([str(new) if d == size else d for d in dims], element))


def inferred(example, said):
    """The example with the result types that the verifier would have had."""
    match = re.search(r"inferred type\(s\) ((?:'[^']*'(?:, )?)+) are incompatible", said or "")
    if not match:
        return None
    types = re.findall(r"'([^']*)'", match[1])
    if len(types) != len(example.results):
        return None
    lines = example.lines
    for (_, old), new in zip(example.results, types):
        place = lines.rfind(old)
        lines = lines[:place] + new + lines[place + len(old):]
    return edges.dataclasses.replace(example, lines=lines, results=[(n, t) for (n, _), t in zip(example.results, types)])


def said_of(tool, text, *flags):
    """(exit status, what was said) of a program; a crash has a negative status."""
    try:
        done = subprocess.run([tool, "-", *flags], input=text, capture_output=True, text=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return -1, f"took more than {SECONDS} s"
    return done.returncode, done.stderr


def module_of(example):
    return edges.function(example)[0].replace("@NAME", "@main").join(("module {\n", "}\n"))


def problem_of(example, build, scratch):
    """What is wrong with how an example is taken; None where it compiles or is refused."""
    compiler, out = str(build / "bin" / "xcompile"), os.path.join(scratch, "out.vmfb")
    flags = ("-o", out, "--target=cpu,cuda:sm_90a", "--ptxas=off")
    status, said = said_of(compiler, module_of(example), *flags)
    fitting = inferred(example, said)
    if status == 1 and fitting:
        status, said = said_of(compiler, module_of(fitting), *flags)
    if status in (0, 1) and (status == 0 or "error:" in said):
        return None
    return f"status {status}: {said.strip().splitlines()[0] if said.strip() else 'nothing said'}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=HERE.parent.parent / "build" / "dev", type=pathlib.Path)
    parser.add_argument("--filter", default="")
    parser.add_argument("--share", type=int, default=1, help="one program in so many, chosen by a hash of what it is")
    args = parser.parse_args()
    passed = failed = skipped = 0
    with tempfile.TemporaryDirectory() as scratch:
        for number, example in enumerate(edges.examples(args.filter)):
            for what, variant in (*with_numbers(example), *with_sizes(example)):
                name = f"{example.name} {number}: {what}"
                if zlib.crc32(name.encode()) % args.share:
                    skipped += 1
                    continue
                problem = problem_of(variant, args.build, scratch)
                passed, failed = passed + (not problem), failed + bool(problem)
                if problem:
                    print(f"FAILED {name}: {problem}\n{variant.lines}", flush=True)
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
