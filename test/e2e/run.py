#!/usr/bin/env python3
"""Compiles ops and small models, runs them and compares with float64 NumPy references written by hand.

    run.py --build=build/dev [--device=cpu|cuda] [--target=cpu] [--filter=REGEX] [--list]
    run.py --dynamic=all|first [...]       every case with `?` for the dims of its inputs, or for the first of each
    run.py --bundle=DIR --target=cuda:sm_80,cuda:sm_90a      compiles only, for test/bin/xc-e2e to run elsewhere

The last line is "N passed, N failed, N skipped".
"""
import argparse
import concurrent.futures
import hashlib
import importlib
import json
import os
import pathlib
import re
import sys
import tempfile
import time

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import bundle  # noqa: E402
import harness  # noqa: E402
import xcr  # noqa: E402

GROUP = 24  # cases in one module
# What is refused, as documented, where a size is known when inputs are bound only: dims beside a device-bounded one, elements of
# nothing, other places than a result's size says of a filter whose size has an extent, and gradients behind strides along a dim with an
# extent to a filter of any size, which are positions of an `array.iota` that the host cannot count.
REFUSED = (r"is a bounded dynamic dim|expected an element in dim|expected a group"
           r"|expected dim 1 of tensor<2x\?x4xf32> to be that of tensor<2x5x4xf32>"
           r"|'array\.iota' op needs on the host a size that depends on a runtime size")


def collect(pattern):
    """The cases of every file in cases/, in a fixed order."""
    cases = []
    for file in sorted((HERE / "cases").glob("*.py")):
        for case in importlib.import_module(f"cases.{file.stem}").cases():
            case.name = f"{file.stem}.{case.name}"
            if re.search(pattern, case.name):
                cases.append(case)
    names = [harness.symbol_of(case) for case in cases]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        sys.exit(f"run.py: two cases are called {sorted(twice)[0]}")
    return cases


def share_of(cases, share, part=0):
    """One in `share` cases, the same ones whatever others there are; each case is in one of as many parts."""
    return [case for case in cases if int(hashlib.sha256(case.name.encode()).hexdigest(), 16) % share == part]


def groups_of(cases):
    """Cases that share a module: those of one file, a few at a time, but those that want to be alone."""
    groups, open_groups = [], {}
    for case in cases:
        key = (case.name.split(".")[0], case.bytecode)
        if case.alone:
            groups.append([case])
            continue
        if key not in open_groups or len(open_groups[key]) == GROUP:
            open_groups[key] = []
            groups.append(open_groups[key])
        open_groups[key].append(case)
    return groups


def write_bundle(cases, args):
    """Compiles the cases into a folder; a case that does not compile is a failure."""
    writer, failed = bundle.Writer(args.bundle), 0
    with tempfile.TemporaryDirectory() as scratch:
        runner = harness.Runner(args.build, args.device, args.target or "cuda", scratch, args.flag)
        with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
            groups = groups_of(cases)
            for group, (module, problem) in zip(groups, pool.map(runner.compile, groups)):
                if module:
                    writer.add(module, group)
                else:
                    failed += len(group)
                    print(f"FAILED {', '.join(case.name for case in group)}: {problem}", flush=True)
    writer.finish()
    print(f"{len(cases) - failed} passed, {failed} failed, 0 skipped")
    return failed != 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=HERE.parent.parent / "build" / "dev", type=pathlib.Path)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--target", help="what xcompile compiles for; the device's kind by default")
    parser.add_argument("--filter", default="", help="a regular expression that names of cases must match")
    parser.add_argument("--flag", action="append", default=[], help="one more flag for xcompile")
    parser.add_argument("--dynamic", choices=("all", "first"), help="compile for sizes that are known when inputs are bound")
    parser.add_argument("--share", type=int, default=1, help="one in so many cases, chosen by their names")
    parser.add_argument("--part", type=int, default=0, help="which of so many parts, from 0 on")
    parser.add_argument("--memory", type=int, metavar="GIB", help="run cases that want up to so much memory; what a GPU has, and none of them elsewhere")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--keep", help="a folder for the modules, left behind")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--record", type=pathlib.Path, help="write the names of the cases that passed to this file, for scripts/ops-table.py")
    parser.add_argument("--bundle", help="compile only: write modules, inputs and references to this folder")
    args = parser.parse_args()
    cases = share_of(collect(args.filter), args.share, args.part)
    if args.dynamic:
        # A message says what was wrong with static sizes.
        cases = [case for case in cases if not any(step.error for step in case.steps)]
    tried = [case.name for case in cases]
    if args.list:
        for case in cases:
            print(case.name)
        return 0
    if args.bundle:
        return write_bundle(cases, args)
    kind = args.device.split(":")[0]
    is_stand_in = kind == "cuda" and "cuda_sim" in os.environ.get("XCR_CUDA_LIBRARY", "")
    # A machine that tests run on has other uses for its memory, and a CPU takes minutes for what fills it, as the stand-in does.
    has_gpu = kind == "cuda" and not is_stand_in
    room = xcr.device_memory(args.build / "lib" / "libxcr.so", args.device) if has_gpu else 0
    room = room if args.memory is None else args.memory << 30
    skipped = [case for case in cases if (is_stand_in and not case.stand_in) or case.memory > room]
    cases = [case for case in cases if case not in skipped]
    begin = time.monotonic()
    passed, refused = [], []
    failed = 0
    with tempfile.TemporaryDirectory() as scratch:
        runner = harness.Runner(args.build, args.device, args.target or kind, args.keep or scratch, args.flag, args.dynamic)
        with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
            groups = groups_of(cases)
            for group, problems in zip(groups, pool.map(runner.run, groups)):
                for case, problem in zip(group, problems):
                    if problem and args.dynamic and re.search(REFUSED, problem):
                        refused.append(case)
                        print(f"SKIPPED {case.name}: {problem}", flush=True)
                    elif problem:
                        failed += 1
                        print(f"FAILED {case.name}: {problem}", flush=True)
                    else:
                        passed.append(case.name)
    if args.record:
        args.record.write_text(json.dumps({"device": kind, "tried": tried, "passed": passed}))
    print(f"{len(cases)} cases in {time.monotonic() - begin:.1f} s on {args.device}")
    if not cases and not skipped:
        print(f"no case matches '{args.filter}'")
        failed = 1
    cases, skipped = [case for case in cases if case not in refused], skipped + refused
    print(f"{len(cases) - min(failed, len(cases))} passed, {failed} failed, {len(skipped)} skipped")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
