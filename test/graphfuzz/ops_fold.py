"""Reductions with a body: how the body combines two elements, and what that makes of many."""
import dataclasses

import numpy as np

import bounds
from bounds import Num, known
from op import NUMBERS, Op
from ops_reduce import reduced_dims
from program import Type
from tensors import FLOATS, INTEGERS, NUMPY, mlir_element

LOGICAL = ("i1",) + INTEGERS
LOWEST = {"f16": "0xFC00", "bf16": "0xFF80", "f32": "0xFF800000", "f64": "0xFFF0000000000000"}


@dataclasses.dataclass
class Body:
    """`text` is made for operands %a0, %a1 combined so far and elements %b0, %b1, with T0 and T1 for their types."""
    dtypes: tuple
    text: str
    yields: tuple
    starts: object    # dtype -> the numbers over no elements, as text
    evaluate: object  # (operands, axes) -> Nums without the reduced dims
    second: object = None  # the element type of a second operand, for a type of the first


def one(op):
    return f"%r0 = array.{op} %a0, %b0 : T0"


def zero(dtype):
    return ["false" if dtype == "i1" else "0.0" if dtype in FLOATS else "0"]


def lowest(dtype):
    return [LOWEST[dtype] if dtype in FLOATS else str(np.iinfo(NUMPY[dtype]).min)]


def exactly(function, start):
    """Of integers and truth values, in any order the same."""
    def evaluate(operands, axes):
        a, = operands
        values = np.moveaxis(a.values, axes, range(len(axes)))
        values = values.reshape((count_of(a, axes),) + values.shape[len(axes):])
        values = np.concatenate([np.full((1,) + values.shape[1:], start, values.dtype), values])
        return known(a.dtype, function.reduce(values, 0, dtype=values.dtype), a.unknown.any(axes))
    return evaluate


def size_of(a):
    return np.abs(a.values).astype(np.float64) + a.error


def count_of(a, axes):
    return int(np.prod([a.shape[axis] for axis in axes], dtype=np.int64))


def within_reach(num, reach):
    """Unknown where on the way to it infinity may have come in."""
    return Num(num.dtype, num.values, np.where(reach < bounds.LARGEST[num.dtype] / 2, num.error, np.inf))


def summed(operands, axes):
    """In the operands' own type, as all bodies compute."""
    a, = operands
    if a.dtype not in FLOATS:
        return [exactly(np.add, 0)(operands, axes)]
    size = size_of(a).sum(axes)
    error = a.error.sum(axes) + 2 * count_of(a, axes) * (bounds.UNIT[a.dtype] * size + bounds.TINY[a.dtype])
    return [within_reach(bounds.rounded(a.dtype, a.values.sum(axes), error), size)]


def largest(operands, axes):
    return [bounds.extreme(operands[0], axes, 1)]


def norm(operands, axes):
    """sqrt(a * a + b * b) again and again; squares may be too small or too large for the type."""
    a, = operands
    size, count = size_of(a), count_of(a, axes)
    values = np.sqrt((a.values * a.values).sum(axes))
    squares = (size * size).sum(axes)
    error = np.sqrt((a.error * a.error).sum(axes)) + 8 * count * bounds.UNIT[a.dtype] * np.sqrt(squares)
    error = error + count * 2 * np.sqrt(bounds.TINY[a.dtype])
    return [within_reach(bounds.rounded(a.dtype, values, error), squares)]


def complex_product(operands, axes):
    a, b = operands
    count = count_of(a, axes)
    product = (a.values + 1j * b.values).prod(axes)
    size = np.hypot(size_of(a), size_of(b))
    reach = size.prod(axes)
    exact = np.hypot(np.abs(a.values).astype(np.float64), np.abs(b.values).astype(np.float64)).prod(axes)
    error = np.maximum(reach - exact, 0) + 8 * (count + 1) * bounds.UNIT[a.dtype] * reach
    error = error + 4 * count * bounds.TINY[a.dtype] * np.maximum(size, 1).prod(axes)
    reach = 2 * np.maximum(size, 1).prod(axes)
    return [within_reach(bounds.rounded(a.dtype, part, error), reach) for part in (product.real, product.imag)]


def marked(operands, axes):
    """The maximum and the largest mark beside it, 0 over no elements."""
    a, mark = operands
    best = bounds.extreme(a, axes, 1)
    held = np.expand_dims(best.values, axes)
    marks = np.where(a.values == held, mark.values, 0).max(axes, initial=0).astype(NUMPY[mark.dtype])
    if a.dtype in FLOATS:
        with np.errstate(all="ignore"):
            reach = a.error + np.expand_dims(best.error, axes)
            unsure = ((reach > 0) & ~(held - a.values > reach)).any(axes) | np.isnan(a.values).any(axes)
        best = Num(a.dtype, best.values, np.where(np.isnan(best.values), np.inf, best.error))
    else:
        unsure = a.unknown.any(axes)
    return [best, known(mark.dtype, marks, unsure | mark.unknown.any(axes))]


BODIES = {
    "add": Body(NUMBERS, one("add"), ("%r0",), zero, summed),
    "xor": Body(LOGICAL, one("xor"), ("%r0",), zero, lambda operands, axes: [exactly(np.bitwise_xor, 0)(operands, axes)]),
    "or": Body(LOGICAL, one("or"), ("%r0",), zero, lambda operands, axes: [exactly(np.bitwise_or, 0)(operands, axes)]),
    "mul": Body(INTEGERS, one("mul"), ("%r0",), lambda dtype: ["1"], lambda operands, axes: [exactly(np.multiply, 1)(operands, axes)]),
    "max": Body(NUMBERS, one("max"), ("%r0",), lowest, largest),
    "norm": Body(FLOATS, "%p = array.square %a0 : T0\n%q = array.square %b0 : T0\n%s = array.add %p, %q : T0\n%r0 = array.sqrt %s : T0",
                 ("%r0",), zero, norm),
    "complex": Body(FLOATS, """%ac = array.mul %a0, %b0 : T0
%bd = array.mul %a1, %b1 : T1
%ad = array.mul %a0, %b1 : T0
%bc = array.mul %a1, %b0 : T0
%r0 = array.sub %ac, %bd : T0
%r1 = array.add %ad, %bc : T0""", ("%r0", "%r1"), lambda dtype: ["1.0", "0.0"], complex_product, lambda dtype: dtype),
    "marked": Body(NUMBERS, """%more = array.compare gt, %b0, %a0 : (T0, T0) -> tensor<i1>
%r0 = array.select %more, %b0, %a0 : (tensor<i1>, T0, T0) -> T0
%same = array.compare eq, %b0, %a0 : (T0, T0) -> tensor<i1>
%larger = array.max %a1, %b1 : T1
%l = array.select %same, %larger, %a1 : (tensor<i1>, T1, T1) -> T1
%r1 = array.select %more, %b1, %l : (tensor<i1>, T1, T1) -> T1""", ("%r0", "%r1"), lambda dtype: lowest(dtype) + ["0"], marked,
                   lambda dtype: "u8"),
}


class ReduceWith(Op):
    def draw(self, g):
        operand = g.pick(lambda type: type.rank >= 1)
        type = g.types[operand]
        name = g.choice([name for name, body in BODIES.items() if type.dtype in body.dtypes])
        operands = [operand]
        if BODIES[name].second:
            operands.append(g.operand(BODIES[name].second(type.dtype), type.dims))
        axes = [axis for axis in range(type.rank) if g.random() < 0.5] or [type.rank - 1]
        keepdims = g.random() < 0.4
        dims = reduced_dims(type.dims, axes, keepdims)
        return operands, {"body": name, "axes": axes, "keepdims": keepdims}, [Type(g.types[number].dtype, dims) for number in operands]

    def text(self, program, node):
        body, scalars = BODIES[node.attributes["body"]], [f"tensor<{mlir_element(type.dtype)}>" for type in node.types]
        types = [program.types[number].mlir for number in node.operands]
        starts = ", ".join(number if type.dtype == "i1" else f"{number} : {mlir_element(type.dtype)}"
                           for number, type in zip(body.starts(node.types[0].dtype), node.types))
        arguments = ", ".join(f"%{side}{i}: {scalar}" for side in "ab" for i, scalar in enumerate(scalars))
        lines = body.text.replace("T0", scalars[0]).replace("T1", scalars[-1])
        results, operands = (", ".join(f"%{number}" for number in numbers) for numbers in (node.results, node.operands))
        return (f"{results} = array.reduce_with {operands} axes = {node.attributes['axes']} init = [{starts}]"
                f"{' keepdims' if node.attributes['keepdims'] else ''} : ({', '.join(types)}) -> "
                f"({', '.join(type.mlir for type in node.types)}) {{\n^bb0({arguments}):\n" +
                "\n".join("  " + line for line in lines.splitlines()) +
                f"\n  array.yield {', '.join(body.yields)} : {', '.join(scalars)}\n}}")

    def evaluate(self, node, values, shapes):
        results = BODIES[node.attributes["body"]].evaluate(values, tuple(node.attributes["axes"]))
        return [result.mapped(lambda x: x.reshape(shape)) for result, shape in zip(results, shapes)]


FOLDS = [ReduceWith("reduce_with", 2)]
