"""Sorts and running totals along a dim."""
import numpy as np

import bounds
from bounds import Num, known, rounded
from op import NUMBERS, Same
from program import Type
from tensors import FLOATS


def order_of(x, axis, descending):
    """Stable; NaN last, or first where descending."""
    if not descending:
        return np.argsort(x, axis, kind="stable")
    return x.shape[axis] - 1 - np.flip(np.argsort(np.flip(x, axis), axis, kind="stable"), axis)


def in_order(a, axis, descending):
    """Values in order, each as far off as the worst of its line, and their positions, unknown where two are close."""
    order = order_of(a.values, axis, descending)
    values = np.take_along_axis(a.values, order, axis)
    worst = np.max(a.error, axis=axis, keepdims=True, initial=0.0)
    if a.dtype in FLOATS:
        with np.errstate(all="ignore"):
            apart = np.abs(np.diff(values, axis=axis)).astype(np.float64)
            unclear = ((worst > 0) & ~(apart > 2 * worst)).any(axis, keepdims=True)
    else:
        unclear = ~np.isfinite(worst)
    return (Num(a.dtype, values, np.broadcast_to(worst, values.shape)),
            lambda dtype: known(dtype, order, np.broadcast_to(unclear, order.shape)))


class Line(Same):
    def draw(self, g):
        operand = g.pick(lambda type: type.rank >= 1 and type.dtype in NUMBERS)
        return None if operand is None else self.along(g, operand, g.types[operand], g.integer(0, g.types[operand].rank - 1))

    def body(self, node, names, types):
        held = node.attributes
        count = f" k = {held['k']}" if "k" in held else ""
        return f"{names[0]}{count} axis = {held['axis']}" + "".join(f" {flag}" for flag in held["flags"])


class Sort(Line):
    def along(self, g, operand, type, axis):
        dtype = type.dtype if self.name == "sort" else g.choice(["i32", "i64"])
        return [operand], {"axis": axis, "flags": g.choice([[], ["descending"]])}, [Type(dtype, type.dims)]

    def evaluate(self, node, values, shapes):
        ordered, positions = in_order(values[0], node.attributes["axis"], bool(node.attributes["flags"]))
        return [ordered if self.name == "sort" else positions(node.types[0].dtype)]


class TopK(Line):
    def along(self, g, operand, type, axis):
        least = g.least(type.dims[axis])
        if least < 1:
            return None
        count = g.integer(1, min(least, 9))
        dims = type.dims[:axis] + (count,) + type.dims[axis + 1:]
        return ([operand], {"axis": axis, "k": count, "flags": g.choice([[], ["smallest"]])},
                [Type(type.dtype, dims), Type(g.choice(["i32", "i64"]), dims)])

    def signature(self, node, types):
        return f"{types[0].mlir} -> {', '.join(type.mlir for type in node.types)}"

    def evaluate(self, node, values, shapes):
        axis, count = node.attributes["axis"], node.attributes["k"]
        ordered, positions = in_order(values[0], axis, not node.attributes["flags"])
        return [x.mapped(lambda x: np.take(x, range(count), axis)) for x in (ordered, positions(node.types[1].dtype))]


class Running(Line):
    """cumprod, cummax and cummin."""

    def along(self, g, operand, type, axis):
        return [operand], {"axis": axis, "flags": g.choice([[], ["reverse"]])}, [type]

    def evaluate(self, node, values, shapes):
        a, axis = values[0], node.attributes["axis"]
        function = {"cumprod": np.multiply, "cummax": np.maximum, "cummin": np.minimum}[self.name]

        def running(x, function):
            x = np.flip(x, axis) if node.attributes["flags"] else x
            x = function.accumulate(x, axis, dtype=x.dtype)
            return np.flip(x, axis) if node.attributes["flags"] else x
        unknown = running(a.unknown, np.logical_or)
        with np.errstate(all="ignore"):
            result = running(a.values, function)
        if a.dtype not in FLOATS:
            return [known(a.dtype, result, unknown)]
        if self.name != "cumprod":
            return [Num(a.dtype, result, running(a.error, np.maximum))]
        with np.errstate(all="ignore"):
            size = np.abs(a.values).astype(np.float64)
            largest = running(size + a.error, np.multiply)
            steps, wide = 2 * a.shape[axis] + 2, bounds.computed_in(a.dtype)
            error = np.maximum(largest - running(size, np.multiply), 0) + steps * bounds.UNIT[wide] * largest
            # A product below the smallest number may be lost on the way, to be multiplied by large ones.
            error = error + a.shape[axis] * bounds.TINY[wide] * running(np.maximum(size + a.error, 1), np.multiply)
            error = np.where(unknown | np.isnan(error), np.inf, error)
        return [rounded(a.dtype, result, error)]


LINES = [Sort("sort", 1.2), Sort("argsort"), TopK("topk", 1.2), Running("cumprod", 0.6), Running("cummax", 0.6), Running("cummin", 0.6)]
