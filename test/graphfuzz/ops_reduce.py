"""Reductions, scans, and the ops made of them."""
import numpy as np

import bounds
from bounds import Num, known, rounded
from op import NUMBERS, Op, Same
from ops_elementwise import LOGICAL
from program import Type
from tensors import FLOATS, NUMPY


def reduced_dims(dims, axes, keepdims):
    return tuple(1 if axis in axes else dim for axis, dim in enumerate(dims) if keepdims or axis not in axes)


def axes_text(node):
    return f"axes = {node.attributes['axes']}" + (" keepdims" if node.attributes["keepdims"] else "")


def product(dtype, a, axes, keepdims):
    count = int(np.prod([a.shape[axis] for axis in axes], dtype=np.int64))
    values = a.values.prod(axis=axes, keepdims=keepdims)
    size = np.abs(a.values).astype(np.float64)
    largest = (size + a.error).prod(axis=axes, keepdims=keepdims)
    error = largest - size.prod(axis=axes, keepdims=keepdims)
    error = np.maximum(error, 0) + (2 * count + 2) * bounds.UNIT[bounds.computed_in(dtype)] * largest + \
        count * bounds.TINY[bounds.computed_in(dtype)] * np.maximum(1.0, largest)
    # In some order the large ones come first: infinity, which a zero makes a NaN of.
    reach = np.maximum(size + a.error, 1.0).prod(axis=axes, keepdims=keepdims)
    return rounded(dtype, values, error, reach=reach)


def reduced(kind, a, axes, keepdims):
    if kind in ("max", "min"):
        return bounds.extreme(a, axes, 1 if kind == "max" else -1, keepdims)
    if a.dtype in FLOATS:
        return (bounds.total if kind == "sum" else product)(a.dtype, a, axes, keepdims)
    unknown = a.unknown.any(axis=axes, keepdims=keepdims)
    if a.dtype == "i1":
        return known("i1", (np.all if kind == "and" else np.any)(a.values, axis=axes, keepdims=keepdims), unknown)
    function = {"sum": np.add, "prod": np.multiply, "and": np.bitwise_and, "or": np.bitwise_or}[kind]
    values = a.values
    for axis in sorted(axes, reverse=True):
        values = function.reduce(values, axis=axis, keepdims=keepdims, dtype=NUMPY[a.dtype]) if values.shape[axis] else \
            np.full([s for i, s in enumerate(values.shape) if i != axis or keepdims] if not keepdims else
                    [1 if i == axis else s for i, s in enumerate(values.shape)],
                    {"sum": 0, "prod": 1, "and": np.array(-1).astype(NUMPY[a.dtype]), "or": 0}[kind], NUMPY[a.dtype])
    return known(a.dtype, values, unknown)


class Reduce(Same):
    def draw(self, g):
        operand = g.pick(lambda type: type.rank >= 1)
        type = g.types[operand]
        kinds = ["max", "min"] if type.dtype != "i1" else []
        kinds += ["sum", "sum", "sum", "prod"] if type.dtype in NUMBERS else []
        kinds += ["and", "or"] if type.dtype in LOGICAL else []
        axes = [axis for axis in range(type.rank) if g.random() < 0.5] or [type.rank - 1]
        keepdims = g.random() < 0.4
        return ([operand], {"kind": g.choice(kinds), "axes": axes, "keepdims": keepdims},
                [Type(type.dtype, reduced_dims(type.dims, axes, keepdims))])

    def body(self, node, names, types):
        return f"{node.attributes['kind']}, {names[0]} {axes_text(node)}"

    def evaluate(self, node, values, shapes):
        return [reduced(node.attributes["kind"], values[0], tuple(node.attributes["axes"]), node.attributes["keepdims"])]


# ---- Composites: the textbook form, computed in f32 for 16-bit types, with a factor for other ways to do it ------------

LOOSE = 4.0


def final(dtype, num):
    """A composite's bound, widened, in its own type."""
    return rounded(dtype, num.values, LOOSE * num.error, 2)


def widened(a):
    return Num(bounds.computed_in(a.dtype), a.values, a.error)


def exp(a):
    return bounds.monotone(a.dtype, np.exp, a, 16)


def mean_of(a, axes):
    count = int(np.prod([a.shape[axis] for axis in axes], dtype=np.int64))
    sums = bounds.total(a.dtype, a, axes, True)
    with np.errstate(all="ignore"):
        return rounded(a.dtype, sums.values / np.longdouble(count), sums.error / count if count else np.inf, 3)


def variance_of(a, axes, correction=0):
    count = int(np.prod([a.shape[axis] for axis in axes], dtype=np.int64)) - correction
    centred = bounds.add(a.dtype, a, mean_of(a, axes), 2, -1)
    sums = bounds.total(a.dtype, bounds.mul(a.dtype, centred, centred, 2), axes, True)
    with np.errstate(all="ignore"):
        if count <= 0:
            return Num(a.dtype, np.full(sums.shape, np.nan, np.longdouble), np.full(sums.shape, np.inf))
        return centred, rounded(a.dtype, sums.values / np.longdouble(count), sums.error / count, 3)


def log_sum_exp(a, axes):
    largest = bounds.extreme(a, axes, 1, True)
    sums = bounds.total(a.dtype, exp(bounds.add(a.dtype, a, largest, 1, -1)), axes, True)
    return bounds.add(a.dtype, bounds.monotone(a.dtype, np.log, sums, 16), largest, 2)


class Moment(Same):
    def draw(self, g):
        operand = g.pick(lambda type: type.rank >= 1 and type.dtype in FLOATS)
        type = g.types[operand]
        axes = [axis for axis in range(type.rank) if g.random() < 0.5] or [type.rank - 1]
        if any(g.least(type.dims[axis]) < 2 for axis in axes):
            return None
        keepdims = g.random() < 0.4
        attributes = {"axes": axes, "keepdims": keepdims}
        if self.name == "var":
            attributes["correction"] = g.integer(0, 1)
        return [operand], attributes, [Type(type.dtype, reduced_dims(type.dims, axes, keepdims))]

    def body(self, node, names, types):
        correction = f" correction = {node.attributes['correction']}" if node.attributes.get("correction") else ""
        return f"{names[0]} {axes_text(node)}{correction}"

    def evaluate(self, node, values, shapes):
        a, axes = widened(values[0]), tuple(node.attributes["axes"])
        if self.name == "mean":
            result = mean_of(a, axes)
        elif self.name == "var":
            result = variance_of(a, axes, node.attributes["correction"])[1]
        else:
            result = log_sum_exp(a, axes)
        return [final(values[0].dtype, result).mapped(lambda x: x.reshape(shapes[0]))]


class SoftmaxLike(Op):
    def draw(self, g):
        operand = g.pick(lambda type: type.rank >= 1 and type.dtype in FLOATS)
        type = g.types[operand]
        axis = g.integer(0, type.rank - 1)
        return None if g.least(type.dims[axis]) < 1 else ([operand], {"axis": axis}, [type])

    def body(self, node, names, types):
        return f"{names[0]} axis = {node.attributes['axis']}"

    def signature(self, node, types):
        return types[0].mlir

    def evaluate(self, node, values, shapes):
        a, axes = widened(values[0]), (node.attributes["axis"],)
        if self.name == "log_softmax":
            return [final(values[0].dtype, bounds.add(a.dtype, a, log_sum_exp(a, axes), 1, -1))]
        shares = exp(bounds.add(a.dtype, a, bounds.extreme(a, axes, 1, True), 1, -1))
        return [final(values[0].dtype, bounds.div(a.dtype, shares, bounds.total(a.dtype, shares, axes, True)))]


class Norm(Op):
    """layer_norm and rms_norm, with scale (and bias) or without."""

    def draw(self, g):
        operand = g.pick(lambda type: type.rank >= 1 and type.dtype in FLOATS)
        type = g.types[operand]
        axis = g.integer(max(0, type.rank - 2), type.rank - 1)
        inner = type.dims[axis:]
        if any(g.least(dim) < 1 for dim in inner):
            return None
        operands = [operand]
        if g.random() < 0.7:
            operands.append(g.operand(type.dtype, inner))
            if self.name == "layer_norm":
                operands.append(g.operand(type.dtype, inner))
        return operands, {"axis": axis}, [type]

    def body(self, node, names, types):
        extra = "".join(f" {word}({name} : {type.mlir})" for word, name, type in zip(("scale", "bias"), names[1:], types[1:]))
        return f"{names[0]}{extra} axis = {node.attributes['axis']} epsilon = 1.0e-3"

    def signature(self, node, types):
        return types[0].mlir

    def evaluate(self, node, values, shapes):
        a, *rest = [widened(value) for value in values]
        axes = tuple(range(node.attributes["axis"], len(a.shape)))
        if self.name == "layer_norm":
            centred, spread = variance_of(a, axes)
        else:
            centred, spread = a, mean_of(bounds.mul(a.dtype, a, a), axes)
        shifted = rounded(a.dtype, spread.values + np.longdouble(1e-3), spread.error)
        # A sum of squares is never below zero, whatever its rounding.
        root = bounds.monotone(a.dtype, lambda x: np.sqrt(np.maximum(x, np.longdouble(1e-3))), shifted, 4)
        result = bounds.div(a.dtype, centred, root, 3)
        if rest:
            result = bounds.mul(a.dtype, result, rest[0])
        if len(rest) > 1:
            result = bounds.add(a.dtype, result, rest[1])
        return [final(values[0].dtype, result)]


class Arg(Same):
    def draw(self, g):
        operand = g.pick(lambda type: type.rank >= 1 and type.dtype in NUMBERS)
        type = g.types[operand]
        axis, keepdims = g.integer(0, type.rank - 1), g.random() < 0.4
        if g.least(type.dims[axis]) < 1:
            return None
        return ([operand], {"axis": axis, "keepdims": keepdims},
                [Type(g.choice(["i32", "i64"]), reduced_dims(type.dims, [axis], keepdims))])

    def body(self, node, names, types):
        return f"{names[0]} axis = {node.attributes['axis']}" + (" keepdims" if node.attributes["keepdims"] else "")

    def evaluate(self, node, values, shapes):
        a, axis = values[0], node.attributes["axis"]
        index = (np.argmax if self.name == "argmax" else np.argmin)(a.values, axis)
        unknown = a.unknown.any(axis)
        if a.dtype in FLOATS and a.values.size:
            # Known where no other element comes close enough to win, or all that could are exact.
            place = np.expand_dims(index, axis)
            best = np.take_along_axis(a.values, place, axis)
            reach = np.take_along_axis(a.error, place, axis) + a.error
            near = (reach > 0) & ~(np.abs(a.values - best) > reach)
            near &= np.arange(a.shape[axis]).reshape([-1 if i == axis else 1 for i in range(a.values.ndim)]) != place
            unknown = unknown | near.any(axis)
        return [known(node.types[0].dtype, index, unknown).mapped(lambda x: x.reshape(shapes[0]))]


class CumSum(Same):
    def draw(self, g):
        operand = g.pick(lambda type: type.rank >= 1 and type.dtype in NUMBERS)
        type = g.types[operand]
        flags = {"axis": g.integer(0, type.rank - 1), "exclusive": g.random() < 0.3, "reverse": g.random() < 0.3}
        return [operand], flags, [type]

    def body(self, node, names, types):
        flags = "".join(f" {flag}" for flag in ("exclusive", "reverse") if node.attributes[flag])
        return f"{names[0]} axis = {node.attributes['axis']}{flags}"

    def evaluate(self, node, values, shapes):
        a, axis = values[0], node.attributes["axis"]

        def running(x):
            x = np.flip(x, axis) if node.attributes["reverse"] else x
            sums = np.cumsum(x, axis, dtype=x.dtype)
            if node.attributes["exclusive"] and sums.shape[axis]:
                before = np.take(sums, range(sums.shape[axis] - 1), axis)
                sums = np.concatenate([np.zeros_like(np.take(sums, [0], axis)), before], axis)
            return np.flip(sums, axis) if node.attributes["reverse"] else sums
        if a.dtype not in FLOATS:
            return [known(a.dtype, running(a.values), running(a.unknown.astype(np.int64)) > 0)]
        size = running(np.abs(a.values).astype(np.float64) + a.error)
        gathered = 2 * a.shape[axis] * bounds.UNIT[bounds.computed_in(a.dtype)] * size
        # What is unknown stays unknown behind it; an infinite error minus itself would be none.
        return [rounded(a.dtype, running(a.values), running(a.error) + gathered, reach=size + gathered)]


REDUCTIONS = [Reduce("reduce", 5), Moment("mean"), Moment("var", 0.6), Moment("logsumexp", 0.6), SoftmaxLike("softmax", 1.5),
              SoftmaxLike("log_softmax", 0.7), Norm("layer_norm"), Norm("rms_norm", 0.7), Arg("argmax", 0.8),
              Arg("argmin", 0.8), CumSum("cumsum", 1.2)]
