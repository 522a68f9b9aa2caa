"""Cases that work on arrays in variables: made, computed with and looked at, a few elements each, within the module.

So arrays that no file could hold can be checked: their elements are formulas of their positions, and what is looked at is computed in
NumPy from the positions alone. The same case with small arrays runs everywhere, which checks the formulas."""
import math
import re

import numpy as np

from harness import Case, Step
from tensors import mlir_type

MODULUS = 113  # of the numbers of elements, so that an offset by any power of two shows


def number(shape, *at):
    """The numbers of elements at these positions, one array for each dim."""
    total = np.int64(0)
    for extent, position in zip(shape, at):
        total = total * extent + position
    return total


def numbered(shape, modulus=MODULUS, less=0):
    """How an array's elements follow from their positions: their number modulo `modulus`, `less` taken off."""
    return lambda *at: number(shape, *at) % modulus - less


def fill(name, dtype, shape, modulus=MODULUS, less=0):
    """Ops that make %name as `numbered` says."""
    wide, total = mlir_type("i64", shape), None
    text = ""
    for axis, stride in enumerate(math.prod(shape[axis + 1:]) for axis in range(len(shape))):
        text += (f"%{name}i{axis} = array.iota axis = {axis} : {wide}\n%{name}s{axis} = array.constant dense<{stride}> : tensor<i64>\n"
                 f"%{name}o{axis} = array.mul %{name}i{axis}, %{name}s{axis} : ({wide}, tensor<i64>) -> {wide}\n")
        if axis:
            text += f"%{name}n{axis} = array.add {total}, %{name}o{axis} : {wide}\n"
        total = f"%{name}n{axis}" if axis else f"%{name}o0"
    return text + f"""%{name}m = array.constant dense<{modulus}> : tensor<i64>
%{name}r = array.rem {total}, %{name}m : ({wide}, tensor<i64>) -> {wide}
%{name}l = array.constant dense<{less}> : tensor<i64>
%{name}d = array.sub %{name}r, %{name}l : ({wide}, tensor<i64>) -> {wide}
%{name} = array.convert %{name}d : {wide} -> {mlir_type(dtype, shape)}
"""


def pieces(shape):
    """[(first position, size)] of each dim, for pieces at the ends, in the middle and where 32 bits end."""
    count = math.prod(shape)
    chosen = []
    for place in (0, count // 2, 2 ** 31 - 4, 2 ** 31, 2 ** 32 - 4, 2 ** 32, count - 1):
        if place < count:
            sizes = [min(extent, 3) for extent in shape[:-1]] + [min(shape[-1], 7)]
            first = [min(int(position), extent - size) for position, extent, size in zip(np.unravel_index(place, shape), shape, sizes)]
            if (piece := list(zip(first, sizes))) not in chosen:
                chosen.append(piece)
    return chosen


class Program:
    """A case whose arrays are variables; `call` adds a function that assigns some of them, `look` one that returns pieces."""

    def __init__(self, name):
        self.name, self.types, self.text, self.steps = name, {}, "", []

    def variable(self, name, dtype, shape):
        self.types[name] = (dtype, shape)
        self.text += f"  array.variable @NAME_{name} : {mlir_type(dtype, shape)}\n"

    def type(self, name):
        return mlir_type(*self.types[name])

    def make(self, name, dtype, shape, **formula):
        """A variable that is filled by formula."""
        self.variable(name, dtype, shape)
        self.call(fill("made", dtype, shape, **formula), **{name: "made"})

    def function(self, suffix, body, results=()):
        reads = "".join(f"    %{name} = array.variable.read @NAME_{name} : {self.type(name)}\n"
                        for name in self.types if re.search(rf"%{name}\b", body))
        types = ", ".join(type for _, type in results)
        values = ", ".join(value for value, _ in results) + f" : {types}" if results else ""
        self.text += (f"  func.func @NAME_{suffix}() -> ({types}) {{\n{reads}"
                      + "".join(f"    {line.strip()}\n" for line in body.strip().splitlines()) + f"    return {values}\n  }}\n")

    def call(self, body, **assigned):
        """Computes with variables, each the value of its name, and assigns them."""
        suffix = f"call{len(self.steps)}"
        for name, value in assigned.items():
            body += f"\narray.variable.assign @NAME_{name}, %{value} : {self.type(name)}"
        self.function(suffix, body)
        self.steps.append(Step([], [], f"_{suffix}"))

    def look(self, name, formula):
        """Compares pieces of a variable with `formula` of their positions."""
        dtype, shape = self.types[name]
        body, results, expected = "", [], []
        for i, piece in enumerate(pieces(shape)):
            type = mlir_type(dtype, [size for _, size in piece])
            ranges = ", ".join(f"{first}:{first + size}" for first, size in piece)
            body += f"%look{i} = array.slice %{name} [{ranges}] : {self.type(name)} -> {type}\n"
            results.append((f"%look{i}", type))
            at = np.ix_(*(np.arange(first, first + size, dtype=np.int64) for first, size in piece))
            expected.append((dtype, np.broadcast_to(formula(*at), [size for _, size in piece])))
        suffix = f"look{len(self.steps)}"
        self.function(suffix, body, results)
        self.steps.append(Step([], expected, f"_{suffix}"))

    def see(self, body, results):
        """Compares whole results of ops: `results` are [(value, dtype, values)]."""
        suffix = f"see{len(self.steps)}"
        self.function(suffix, body, [(f"%{value}", mlir_type(dtype, np.shape(values))) for value, dtype, values in results])
        self.steps.append(Step([], [(dtype, values) for _, dtype, values in results], f"_{suffix}"))

    def case(self, kind="exact", scratch=0):
        """Large ones want memory for their variables and values that are about to be theirs, and what kernels pass to each other: `scratch`
        GiB, of xcompile's report for the target that wants more."""
        bytes = 2 * sum(math.prod(shape) * BYTES[dtype] for dtype, shape in self.types.values())
        is_large = bytes >= 2 ** 31
        return Case(self.name, self.text, self.steps, kind, memory=bytes + (scratch << 30) if is_large else 0, alone=is_large)


BYTES = {"i1": 1, "i8": 1, "u8": 1, "bf16": 2, "f16": 2, "i32": 4, "f32": 4, "i64": 8}
