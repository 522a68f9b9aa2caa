#!/usr/bin/env python3
"""Compiles random array programs, runs them and compares with a reference that bounds their error.

    run.py --build=build/dev [--device=cpu|cuda] [--target=cpu] [--count=N] [--seed=FIRST] [--seconds=S] [--out=DIR]

Programs FIRST, FIRST+1, ... are drawn from their numbers alone, so a number names a program. What fails is cut down to a
minimal program and written to DIR as NAME.mlir with its inputs as NAME.in0.npy, ... and what went wrong in its comment.
The last line is "N passed, N failed, N skipped".
"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import sys
import tempfile
import time
import traceback

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "e2e")]
os.environ["PYTHONPATH"] = os.pathsep.join(sys.path[:2])  # for the processes that run modules

import harness  # noqa: E402
import shrink  # noqa: E402
from modes import MODES  # noqa: E402


def draw(seeds, mode):
    """(cases, problems of the generator itself)."""
    cases, problems = [], []
    for seed in seeds:
        try:
            cases.append(mode.case_of(mode.draw(seed)))
        except Exception:  # a bug of the fuzzer, which must not pass for silence
            problems.append(f"FAILED seed_{seed}: the reference failed: {traceback.format_exc(limit=-2)}")
    return [case for case in cases if case], problems


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=HERE.parent.parent / "build" / "dev", type=pathlib.Path)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--target", help="what xcompile compiles for; the device's kind by default")
    parser.add_argument("--seed", type=int, default=0, help="the first program's number")
    parser.add_argument("--count", type=int, default=256)
    parser.add_argument("--seconds", type=float, help="go on until then, instead of --count programs")
    parser.add_argument("--flag", action="append", default=[], help="one more flag for xcompile")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--out", type=pathlib.Path, help="a folder for minimal programs that fail")
    parser.add_argument("--compile-only", type=pathlib.Path, metavar="DIR", help="write the modules to this folder, for another machine to run")
    parser.add_argument("--compiled", type=pathlib.Path, metavar="DIR", help="run the modules of this folder, made by --compile-only of the same programs")
    parser.add_argument("--no-shrink", action="store_true", help="only say what fails")
    modes = parser.add_mutually_exclusive_group()
    modes.add_argument("--refused", dest="mode", action="store_const", const="refused", default="values",
                       help="with sizes that the program does not work with (refuse.py)")
    modes.add_argument("--gradients", dest="mode", action="store_const", const="gradients",
                       help="the gradients of programs of f64 (gradients.py)")
    parser.add_argument("--print", action="store_true", help="print the programs instead of running them")
    args = parser.parse_args()
    mode = MODES[args.mode]
    if args.print:
        for seed in range(args.seed, args.seed + args.count):
            print(mode.draw(seed).text().replace("@NAME", f"@seed_{seed}"))
        return 0
    begin = time.monotonic()
    passed = failed = 0
    with tempfile.TemporaryDirectory() as scratch:
        if args.compiled:
            runner = harness.CompiledRunner(args.build, args.device, args.compiled)
        else:
            runner = harness.Runner(args.build, args.device, args.target or args.device.split(":")[0], args.compile_only or scratch, args.flag)
        run = runner.compile_apart if args.compile_only else runner.run

        shrinks = not (args.no_shrink or args.compile_only or args.compiled)

        def one(seeds):
            if args.seconds and time.monotonic() - begin > args.seconds:
                return 0, []
            cases, lines = draw(seeds, mode)
            if args.compile_only or args.compiled:
                cases = [case for case in cases if not case.file]  # the module has the path of its parameters
            drawn = len(cases) + len(lines)
            for case, problem in zip(cases, run(cases) if cases else []):
                if problem and mode.not_counted and re.search(mode.not_counted, problem):
                    drawn -= 1
                elif problem:
                    if shrinks:
                        case, problem = shrink.shrink(case, problem, runner, mode.case_of)
                    lines.append(f"FAILED {case.name}: {problem}" +
                                 (f"\n{case.program.text()}" if shrinks else ""))
                    if args.out:
                        shrink.write(case, problem, args.out)
            return drawn - len(lines), lines

        count = 1 << 40 if args.seconds else args.count
        groups = (range(first, min(first + mode.group, args.seed + count))
                  for first in range(args.seed, args.seed + count, mode.group))
        with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
            pending = set()
            for seeds in groups:
                pending.add(pool.submit(one, seeds))
                done, pending = concurrent.futures.wait(pending, return_when=concurrent.futures.FIRST_COMPLETED) \
                    if len(pending) > 2 * args.jobs else (set(), pending)
                for future in done:
                    good, lines = future.result()
                    passed, failed = passed + good, failed + len(lines)
                    print(*lines, sep="\n", end="\n" if lines else "", flush=True)
                if args.seconds and time.monotonic() - begin > args.seconds:
                    break
            for future in concurrent.futures.as_completed(pending):
                good, lines = future.result()
                passed, failed = passed + good, failed + len(lines)
                print(*lines, sep="\n", end="\n" if lines else "", flush=True)
    print(f"{passed + failed} programs in {time.monotonic() - begin:.1f} s on {args.device}")
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
