"""Ops that compute with places: embeddings of positions, and other sizes for images."""
from fractions import Fraction
import math

import numpy as np

import bounds
from bounds import Num, rounded
from cases.functions import cubic_weights
from op import NUMBERS, Op, Same
from program import Type
from tensors import FLOATS


def angles_of(positions, width, base):
    """Angles [..., D / 2] and how far off they are, computed in f32 or better."""
    rates = np.longdouble(base) ** (-2 * np.arange(width // 2, dtype=np.longdouble) / width)
    angles = positions.values.astype(np.longdouble)[..., None] * rates
    size = np.abs(angles).astype(np.float64)
    return angles, np.broadcast_to(positions.error[..., None] * np.float64(1), size.shape), size


class Rope(Op):
    def draw(self, g):
        operand = g.pick(lambda type: type.rank >= 1 and type.dtype in FLOATS and isinstance(type.dims[-1], int) and
                         type.dims[-1] % 2 == 0 and type.dims[-1] > 0)
        type = g.types[operand]
        positions = g.operand(g.choice(["i32", "i64"]), g.choice([type.dims[-2:-1], type.dims[:-1], ()]), small=True)
        return [operand, positions], {"base": g.choice([100.0, 1e4]), "interleaved": g.random() < 0.5}, [type]

    def body(self, node, names, types):
        return f"{names[0]}, {names[1]} base = {node.attributes['base']:e}" + (" interleaved" if node.attributes["interleaved"] else "")

    def evaluate(self, node, values, shapes):
        x, positions = values
        width, wide = x.shape[-1], bounds.computed_in(x.dtype)
        positions = positions.mapped(lambda p: np.broadcast_to(p, x.shape[:-1]))
        angles, error, size = angles_of(positions, width, node.attributes["base"])
        error = error + 32 * bounds.UNIT[wide] * (1 + size)

        def pairs(v):
            return (v[..., 0::2], v[..., 1::2]) if node.attributes["interleaved"] else (v[..., :width // 2], v[..., width // 2:])

        def joined(first, second):
            if node.attributes["interleaved"]:
                return np.stack([first, second], -1).reshape(x.shape)
            return np.concatenate([first, second], -1)
        (a, b), (ea, eb) = pairs(x.values), pairs(x.error)
        values = joined(a * np.cos(angles) - b * np.sin(angles), a * np.sin(angles) + b * np.cos(angles))
        reach = np.abs(a).astype(np.float64) + np.abs(b).astype(np.float64) + ea + eb
        each = ea + eb + error * reach
        return [rounded(x.dtype, values, joined(each, each), 2)]


class Sinusoidal(Same):
    def draw(self, g):
        positions = g.operand(g.choice(["i32", "i64"]), tuple(g.any_dim() for _ in range(g.integer(0, 2))), small=True)
        floats = [dtype for dtype in g.dtypes if dtype in FLOATS] or ["f32"]
        size = g.choice([2, 4, 6, 16])
        return ([positions], {"size": size, "base": g.choice([100.0, 1e4]), "interleaved": g.random() < 0.5},
                [Type(g.choice(floats), g.types[positions].dims + (size,))])

    def body(self, node, names, types):
        held = node.attributes
        return f"{names[0]} size = {held['size']} base = {held['base']:e}" + (" interleaved" if held["interleaved"] else "")

    def evaluate(self, node, values, shapes):
        dtype = node.types[0].dtype
        angles, error, size = angles_of(values[0], node.attributes["size"], node.attributes["base"])
        error = error + 32 * bounds.UNIT[bounds.computed_in(dtype)] * (1 + size)

        def joined(first, second):
            if node.attributes["interleaved"]:
                return np.stack([first, second], -1).reshape(shapes[0])
            return np.concatenate([first, second], -1)
        return [rounded(dtype, joined(np.sin(angles), np.cos(angles)), joined(error, error), 2)]


class Alibi(Op):
    def draw(self, g):
        query, key = (g.operand("i32", (g.any_dim(),), small=True) for _ in range(2))
        heads = g.choice([1, 2, 3, 6, 8])
        floats = [dtype for dtype in g.dtypes if dtype in FLOATS] or ["f32"]
        return [query, key], {"heads": heads}, [Type(g.choice(floats), (heads, *g.types[query].dims, *g.types[key].dims))]

    def body(self, node, names, types):
        return f"{names[0]}, {names[1]} heads = {node.attributes['heads']}"

    def evaluate(self, node, values, shapes):
        query, key = values
        heads, dtype = node.attributes["heads"], node.types[0].dtype
        lower = 1 << int(math.log2(heads))
        slopes = [2.0 ** (-8 * (h + 1) / lower) for h in range(lower)]
        slopes += [2.0 ** (-8 * (h + 1) / (2 * lower)) for h in range(0, 2 * lower, 2)][:heads - lower]
        far = np.abs(query.values.astype(np.longdouble)[:, None] - key.values.astype(np.longdouble))
        error = np.broadcast_to((query.error[:, None] + key.error)[None], shapes[0])
        return [rounded(dtype, -np.array(slopes, np.longdouble)[:, None, None] * far, error, 4)]


def taps(mode, size, count, corners):
    """For each of `size` places the (element, weight) pairs of `count` elements that it is made of."""
    for o in range(size):
        if corners:
            position = Fraction(o * (count - 1), size - 1) if size > 1 else Fraction(0)
        else:
            position = (o + Fraction(1, 2)) * count / size - Fraction(1, 2)
        if mode == "nearest":
            yield [(min(max(math.floor(position + Fraction(1, 2)), 0), count - 1), 1)]
        elif mode == "cubic":
            yield cubic_weights(position, count)
        else:
            base = math.floor(position)
            yield [(min(max(base + i, 0), count - 1), float(position - base) if i else float(1 - position + base)) for i in (0, 1)]


class Resize(Same):
    def draw(self, g):
        operand = g.pick(lambda type: type.dtype in NUMBERS and any(isinstance(dim, int) and dim > 0 for dim in type.dims))
        type = g.types[operand]
        known = [axis for axis, dim in enumerate(type.dims) if isinstance(dim, int) and dim > 0]
        axes = sorted(g.shuffled(known)[:g.integer(1, 2)])
        sizes = [g.choice([1, 2, 3, 5, 8, type.dims[axis], 2 * type.dims[axis]]) for axis in axes]
        mode = g.choice(["nearest", "linear", "linear", "cubic"]) if type.dtype in FLOATS else "nearest"
        dims = tuple(sizes[axes.index(axis)] if axis in axes else dim for axis, dim in enumerate(type.dims))
        return ([operand], {"mode": mode, "axes": axes, "sizes": sizes, "corners": g.random() < 0.4}, [Type(type.dtype, dims)])

    def body(self, node, names, types):
        held = node.attributes
        return f"{held['mode']}, {names[0]} axes = {held['axes']} sizes = {held['sizes']}" + (" align_corners" if held["corners"] else "")

    def evaluate(self, node, values, shapes):
        a, held = values[0], node.attributes
        if held["mode"] == "nearest":
            for axis, size in zip(held["axes"], held["sizes"]):
                places = [pair[0][0] for pair in taps("nearest", size, a.shape[axis], held["corners"])]
                a = a.mapped(lambda x: np.take(x, places, axis))
            return [a]
        numbers, error = a.values, a.error
        # What a place sums up, in sizes, and the same of places that are a little off.
        sums = reach = np.abs(a.values).astype(np.float64) + a.error
        for axis, size in zip(held["axes"], held["sizes"]):
            count = a.shape[axis]
            weights, near = np.zeros((size, count)), np.zeros((size, count))
            for o, pairs in enumerate(taps(held["mode"], size, count, held["corners"])):
                for place, weight in pairs:
                    weights[o, place] += float(weight)
                    near[o, place] += 2.0  # a place that is a little off moves some weight to each of its neighbours
            def along(x, matrix):
                with np.errstate(all="ignore"):
                    return np.moveaxis(np.tensordot(matrix.astype(x.dtype), np.moveaxis(x, axis, 0), 1), 0, axis)
            if np.isinf(error).any():
                return [Num(a.dtype, np.zeros(shapes[0], np.longdouble), np.full(shapes[0], np.inf))]
            numbers, error, reach = along(numbers, weights), along(error, np.abs(weights)), along(reach, near)
            sums = along(sums, np.abs(weights))
        error = error + 64 * bounds.UNIT[bounds.computed_in(a.dtype)] * reach
        return [rounded(a.dtype, numbers, error, 2, reach=sums)]


POSITIONS = [Rope("rope"), Sinusoidal("sinusoidal", 0.4), Alibi("alibi", 0.3), Resize("resize", 1.5)]
