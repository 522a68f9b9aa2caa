#!/usr/bin/env python3
"""Says whether failures of each mode of run.py are cut down: what fails is the fuzzer's own reference, spoiled on purpose.

The build is that of the xcompile on the PATH.
"""
import contextlib
import os
import pathlib
import re
import shutil
import sys
import tempfile
from unittest import mock

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "e2e")]
os.environ["PYTHONPATH"] = os.pathsep.join(sys.path[:2])  # for the processes that run modules

import harness  # noqa: E402
import ops  # noqa: E402
import refuse  # noqa: E402
import shrink  # noqa: E402
from bounds import Num  # noqa: E402
from modes import MODES  # noqa: E402
from program import walk  # noqa: E402

LEAST = 6      # ops of programs that are cut down
SEEDS = 4000   # among which some program has the op in the right place


@contextlib.contextmanager
def spoiled(name, spoil):
    """Evaluates an op as spoil(node, results, values, shapes) says."""
    op = ops.OPS[name]
    evaluate = op.evaluate
    with mock.patch.object(op, "evaluate", lambda node, values, shapes: spoil(evaluate(node, values, shapes), values, shapes)):
        yield


def doubled(results, values, shapes):
    return [Num(result.dtype, result.values * 2, result.error) for result in results]


def refusing(results, values, shapes):
    """Of sizes that an op takes, the reference says that it does not."""
    if values[0].shape != shapes[0]:
        raise ValueError
    return results


def ops_of(program):
    return [node.op for node in walk(program.nodes)]


def in_region(name):
    """Whether a program has an op in regions only."""
    return lambda program: name in ops_of(program) and name not in [node.op for node in program.nodes]


def outside(name):
    """Whether it has it outside of regions."""
    return lambda program: name in [node.op for node in program.nodes]


# Mode, what is spoiled, which programs are tried, and the one op that is to be left; any op where it is None.
TRIALS = {
    "a value": ("values", lambda: spoiled("exp", doubled), outside("exp"), "exp"),
    "a value of a region": ("values", lambda: spoiled("exp", doubled), in_region("exp"), "exp"),
    "a gradient": ("gradients", lambda: spoiled("exp", doubled), outside("exp"), "exp"),
    "sizes that are taken": ("refused", lambda: spoiled("reverse", refusing), outside("reverse"), "reverse"),
    "sizes that are taken in a region": ("refused", lambda: spoiled("reverse", refusing), in_region("reverse"), "reverse"),
    "what is said of sizes": ("refused", lambda: mock.patch.object(refuse, "ERROR", "no such message"), lambda program: True, None),
}


def failing(mode, is_tried, runner):
    """The first case that is large enough and fails, and how."""
    for seed in range(SEEDS):
        program = mode.draw(seed)
        if len(ops_of(program)) >= LEAST and is_tried(program):
            case = mode.case_of(program)
            problem = case and runner.run([case])[0]
            if problem and not (mode.not_counted and re.search(mode.not_counted, problem)):
                return case, problem
    return None, None


def trial(mode, spoil, is_tried, left, runner):
    """None, or what is wrong."""
    with spoil():
        case, problem = failing(mode, is_tried, runner)
        if not case:
            return f"none of {SEEDS} programs fails"
        smaller, said = shrink.shrink(case, problem, runner, mode.case_of)
    found = ops_of(smaller.program)
    if len(found) != 1 or left not in (None, *found):
        return (f"expected {left or 'one op'} to be left of the {len(ops_of(case.program))} ops of {case.name}, got "
                f"{', '.join(found)}: {said}\n{smaller.program.text()}")
    if shrink.kind_of(said) != shrink.kind_of(problem):
        return f"expected {case.name} to fail with '{problem}' when it is cut down, got '{said}'"
    if len(smaller.steps) != 1:
        return f"expected one call to be left of {case.name}, got {len(smaller.steps)}"
    return None


def static_sizes(mode):
    """None, or what is wrong with a program whose op is given sizes, once those are numbers."""
    for seed in range(SEEDS):
        program = mode.draw(seed)
        if "sizes(" in program.text():
            program = shrink.with_environments(program, [0])
            program = shrink.with_static(program, set(program.environments[0]))
            return f"expected no sizes of static results, got\n{program.text()}" if "sizes(" in program.text() else None
    return f"none of {SEEDS} programs gives sizes"


def kinds():
    """None, or what is wrong where two errors are told apart whatever the folder is called."""
    told = [shrink.kind_of(f"xcompile failed: {place}:6:10: error: {what}") for place, what in (
        ("tmpop1z/module0.mlir", "'a.b' op expected a view"), ("tmp9f/module12.mlir", "'a.c' op expected a view"),
        ("tmp9f/module12.mlir", "'a.c' op expected 0 sizes"))]
    return None if told[0] == told[1] != told[2] else f"expected two kinds of errors, got {told}"


def main():
    problems = [f"static sizes: {problem}" for problem in [static_sizes(MODES["values"])] if problem]
    problems += [f"kinds: {problem}" for problem in [kinds()] if problem]
    with tempfile.TemporaryDirectory() as scratch:
        runner = harness.Runner(pathlib.Path(shutil.which("xcompile")).parents[1], "cpu", "cpu", scratch)
        for name, (mode, *how) in TRIALS.items():
            problem = trial(MODES[mode], *how, runner)
            problems += [f"{name}: {problem}"] if problem else []
    print(*problems, sep="\n", end="\n" if problems else "")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
