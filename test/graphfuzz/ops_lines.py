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
        return self.along(g, operand, g.types[operand], g.integer(0, g.types[operand].rank - 1))

    def body(self, node, names, types):
        held = node.attributes
        count = "".join(f" {name} = {held[name]}" for name in ("k", "kth") if name in held)
        return f"{names[0]}{count} axis = {held['axis']}" + "".join(f" {flag}" for flag in held["flags"])


class Sort(Line):
    def along(self, g, operand, type, axis):
        dtype = type.dtype if self.name == "sort" else g.choice(["i32", "i64"])
        return [operand], {"axis": axis, "flags": g.choice([[], ["descending"]])}, [Type(dtype, type.dims)]

    def evaluate(self, node, values, shapes):
        ordered, positions = in_order(values[0], node.attributes["axis"], bool(node.attributes["flags"]))
        return [ordered if self.name == "sort" else positions(node.types[0].dtype)]


class Partition(Line):
    """Sorted, as the op's description promises, so that what reads an element knows which it gets."""

    def along(self, g, operand, type, axis):
        least = g.least(type.dims[axis])
        return None if least < 1 else ([operand], {"axis": axis, "kth": g.integer(0, least - 1), "flags": []}, [type])

    def evaluate(self, node, values, shapes):
        return [in_order(values[0], node.attributes["axis"], False)[0]]


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


def accumulated(x, function, axis, flags, nothing):
    """`function` of the elements up to each, or of those before it."""
    x = np.flip(x, axis) if "reverse" in flags else x
    if "exclusive" in flags and x.shape[axis]:
        first = np.full_like(np.take(x, [0], axis), nothing)
        x = np.concatenate([first, np.take(x, range(x.shape[axis] - 1), axis)], axis)
    x = function.accumulate(x, axis, dtype=x.dtype)
    return np.flip(x, axis) if "reverse" in flags else x


class Running(Line):
    """cumprod, cummax, cummin and logcumsumexp."""

    def along(self, g, operand, type, axis):
        if self.name == "logcumsumexp" and type.dtype not in FLOATS:
            return None
        return [operand], {"axis": axis, "flags": g.choice([[], ["reverse"], ["exclusive"], ["exclusive", "reverse"]])}, [type]

    def evaluate(self, node, values, shapes):
        a, axis, flags = values[0], node.attributes["axis"], node.attributes["flags"]
        function = {"cumprod": np.multiply, "cummax": np.maximum, "cummin": np.minimum, "logcumsumexp": np.logaddexp}[self.name]
        if a.dtype in FLOATS:
            lowest, highest = -np.inf, np.inf
        else:
            lowest, highest = np.iinfo(a.values.dtype).min, np.iinfo(a.values.dtype).max
        nothing = {"cumprod": 1, "cummax": lowest, "cummin": highest, "logcumsumexp": -np.inf}[self.name]

        def running(x, function, nothing=0):
            return accumulated(x, function, axis, flags, nothing)
        unknown = running(a.unknown, np.logical_or, False)
        with np.errstate(all="ignore"):
            result = running(a.values, function, nothing)
        if a.dtype not in FLOATS:
            return [known(a.dtype, result, unknown)]
        error = running(a.error, np.maximum)
        if self.name == "logcumsumexp":
            size = np.abs(a.values).astype(np.float64)
            largest = running(np.where(np.isfinite(size), size, 0), np.maximum)
            error = error + 32 * (a.shape[axis] + 1) * bounds.UNIT[bounds.computed_in(a.dtype)] * (1 + largest)
            return [rounded(a.dtype, result, np.where(unknown, np.inf, error), 2)]
        if self.name != "cumprod":
            return [Num(a.dtype, result, error)]
        with np.errstate(all="ignore"):
            size = np.abs(a.values).astype(np.float64)
            largest = running(size + a.error, np.multiply, 1)
            steps, wide = 2 * a.shape[axis] + 2, bounds.computed_in(a.dtype)
            error = np.maximum(largest - running(size, np.multiply, 1), 0) + steps * bounds.UNIT[wide] * largest
            # A product below the smallest number may be lost on the way, to be multiplied by large ones.
            # Or the large ones come first, and overflow.
            reach = running(np.maximum(size + a.error, 1), np.multiply, 1)
            error = error + a.shape[axis] * bounds.TINY[wide] * reach
            error = np.where(unknown | np.isnan(error), np.inf, error)
        return [rounded(a.dtype, result, error, reach=reach)]


LINES = [Sort("sort", 1.2), Sort("argsort"), TopK("topk", 1.2), Partition("partition", 0.7), Running("cumprod", 0.6), Running("cummax", 0.6), Running("cummin", 0.6),
         Running("logcumsumexp", 0.6)]
