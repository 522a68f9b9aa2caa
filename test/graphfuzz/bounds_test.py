#!/usr/bin/env python3
"""Says of which ops the reference expects a finite result that f32 cannot reach, and of which it would not see a wrong one.

Each op adds or multiplies numbers whose result fits in f32 while what is on the way to it overflows. Computed in f32, one
after the other, they give infinity or NaN, which the reference has to allow. Scaled down so that nothing overflows, it has
to take what f32 gives, and twice that for wrong.
"""
import pathlib
import sys
import types

import numpy as np

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "e2e")]

import bounds  # noqa: E402
import ops  # noqa: E402
from tensors import Tensor  # noqa: E402

NUMBERS = {np.add: [3e38, 3e38, -3e38, -1e38], np.multiply: [1e20, 1e20, 1e-10, 1e-20]}
SMALLER = {np.add: 1 / 8, np.multiply: 1e-5}  # times this, nothing overflows
ONES, PLACES = Tensor("f32", np.ones(4, np.float32)), Tensor("i32", np.zeros((4, 1), np.int32))
WINDOW = {"window": [4], "strides": [1], "low": [0], "high": [0], "dilation": [1]}
CONV = {"dims": "[b, 0, f] x [0, i, o] -> [b, 0, f]",
        "window": {"strides": [1], "low": [0], "high": [0], "input_dilation": [1], "filter_dilation": [1]}}


def f32(values):
    return Tensor("f32", np.array(values, np.float32))


def shaped(tensor, *shape):
    return Tensor(tensor.dtype, tensor.values.reshape(shape))


def all_of(steps):
    return steps


def last(steps):
    return steps[-1:]


# Op, attributes, how it combines numbers, the operands made of them, and which of the results after each of them it gives.
CASES = [
    ("reduce", {"kind": "sum", "axes": [0], "keepdims": True}, np.add, lambda x: [x], last),
    ("reduce", {"kind": "prod", "axes": [0], "keepdims": True}, np.multiply, lambda x: [x], last),
    ("mean", {"axes": [0], "keepdims": True}, np.add, lambda x: [x], lambda steps: steps[-1:] / 4),
    ("cumsum", {"axis": 0, "exclusive": False, "reverse": False}, np.add, lambda x: [x], all_of),
    ("cumprod", {"axis": 0, "flags": []}, np.multiply, lambda x: [x], all_of),
    ("reduce_window", {"kind": "sum", "window": WINDOW}, np.add, lambda x: [x], last),
    ("reduce_window", {"kind": "prod", "window": WINDOW}, np.multiply, lambda x: [x], last),
    ("avg_pool", {"window": WINDOW, "padding": False}, np.add, lambda x: [x], lambda steps: steps[-1:] / 4),
    ("adaptive_pool", {"kind": "avg", "axes": [0], "sizes": [1]}, np.add, lambda x: [x], lambda steps: steps[-1:] / 4),
    # The four windows all select the one in the middle.
    ("select_and_scatter", {"kind": "max", "window": WINDOW}, np.add, lambda x: [f32([0, 0, 0, 1, 0, 0, 0]), x],
     lambda steps: np.array([0, 0, 0, steps[-1], 0, 0, 0])),
    ("scatter", {"kind": "add", "axes": [0]}, np.add, lambda x: [f32([0]), PLACES, x], last),
    ("scatter", {"kind": "mul", "axes": [0]}, np.multiply, lambda x: [f32([1]), PLACES, x], last),
    ("matmul", {"transpose_a": False, "transpose_b": False}, np.add, lambda x: [shaped(x, 1, 4), shaped(ONES, 4, 1)],
     lambda steps: steps[-1:].reshape(1, 1)),
    ("dot_general", {"lhs_batch": [], "rhs_batch": [], "lhs_contract": [0], "rhs_contract": [0]}, np.add, lambda x: [x, ONES],
     lambda steps: steps[-1]),
    ("grouped_matmul", {"transpose_b": False}, np.add,
     lambda x: [shaped(x, 1, 4), shaped(ONES, 1, 4, 1), Tensor("i32", np.array([1], np.int32))], lambda steps: steps[-1:].reshape(1, 1)),
    ("conv", CONV, np.add, lambda x: [shaped(x, 1, 4, 1), shaped(ONES, 4, 1, 1)], lambda steps: steps[-1:].reshape(1, 1, 1)),
    ("reduce_with", {"body": "add", "axes": [0], "keepdims": True}, np.add, lambda x: [x], last),
]


def disagreement(name, attributes, operands, got):
    result = types.SimpleNamespace(dtype="f32")
    node = types.SimpleNamespace(attributes=attributes, types=[result])
    num, = ops.OPS[name].evaluate(node, [bounds.exact(operand) for operand in operands], [np.shape(got)])
    return bounds.disagreement(num, np.asarray(got, np.float32))


def problems():
    for name, attributes, combine, operands, pick in CASES:
        kind = f"{name} {attributes.get('kind', '')}".strip()
        numbers = np.array(NUMBERS[combine], np.float32)
        smaller = numbers * np.float32(SMALLER[combine])
        with np.errstate(over="ignore", invalid="ignore"):
            steps = combine.accumulate(numbers)
        if np.isfinite(steps[-1]):
            yield f"{kind}: expected {numbers} to overflow on the way, got {steps}"
        problem = disagreement(name, attributes, operands(f32(numbers)), pick(steps))
        if problem:
            yield f"{kind}: takes an overflow on the way for wrong: {problem}"
        fine = pick(combine.accumulate(smaller))
        problem = disagreement(name, attributes, operands(f32(smaller)), fine)
        if problem:
            yield f"{kind}: takes what f32 gives for wrong: {problem}"
        if not disagreement(name, attributes, operands(f32(smaller)), 2 * fine):
            yield f"{kind}: takes twice {fine} for right"


def main():
    found = list(problems())
    print(*found, sep="\n", end="\n" if found else "")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
