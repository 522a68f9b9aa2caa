"""Ops that put elements elsewhere by rules of their own: rolled, repeated, kept beside a diagonal."""
import numpy as np

from op import Same
from program import Type


class Roll(Same):
    def draw(self, g):
        operand = g.pick(lambda type: type.rank >= 1)
        axes = [axis for axis in range(g.types[operand].rank) if g.random() < 0.5] or [0]
        return [operand], {"axes": axes, "shifts": [g.integer(-9, 9) for _ in axes]}, [g.types[operand]]

    def body(self, node, names, types):
        return f"{names[0]} shifts = {node.attributes['shifts']} axes = {node.attributes['axes']}"

    def evaluate(self, node, values, shapes):
        shifts, axes = node.attributes["shifts"], node.attributes["axes"]
        return [values[0].mapped(lambda x: np.roll(x, shifts, axes))]


class Tile(Same):
    """The whole again and again, along every dim that is known."""

    def draw(self, g):
        operand = g.pick(lambda type: 1 <= type.rank <= 3)
        type = g.types[operand]
        repeats = [g.integer(1, 3) if isinstance(dim, int) else 1 for dim in type.dims]
        dims = tuple(dim * count if isinstance(dim, int) else dim for dim, count in zip(type.dims, repeats))
        return [operand], {"repeats": repeats}, [Type(type.dtype, dims)]

    def body(self, node, names, types):
        return f"{names[0]} repeats = {node.attributes['repeats']}"

    def evaluate(self, node, values, shapes):
        return [values[0].mapped(lambda x: np.tile(x, node.attributes["repeats"]))]


class Repeat(Same):
    """Each element several times, along a dim that is known."""

    def draw(self, g):
        operand = g.pick(lambda type: any(isinstance(dim, int) for dim in type.dims))
        type = g.types[operand]
        axis = g.choice([axis for axis, dim in enumerate(type.dims) if isinstance(dim, int)])
        count = g.integer(1, 3)
        dims = type.dims[:axis] + (type.dims[axis] * count,) + type.dims[axis + 1:]
        return [operand], {"repeats": count, "axis": axis}, [Type(type.dtype, dims)]

    def body(self, node, names, types):
        return f"{names[0]} repeats = {node.attributes['repeats']} axis = {node.attributes['axis']}"

    def evaluate(self, node, values, shapes):
        return [values[0].mapped(lambda x: np.repeat(x, node.attributes["repeats"], node.attributes["axis"]))]


class Beside(Same):
    """Ops with a diagonal, `offset` beside the main one."""

    def body(self, node, names, types):
        offset = node.attributes["offset"]
        return names[0] + (f" offset = {offset}" if offset else "")


class Triangle(Beside):
    """Zeros above or below a diagonal of the last two dims: `keep` is NumPy's function."""

    def __init__(self, name, keep, weight=0.7):
        super().__init__(name, weight)
        self.keep = keep

    def draw(self, g):
        operand = g.pick(lambda type: type.rank >= 2)
        return [operand], {"offset": g.choice([0, 0, 1, -2, 9])}, [g.types[operand]]

    def evaluate(self, node, values, shapes):
        return [values[0].mapped(lambda x: self.keep(x, node.attributes["offset"]))]


class Diag(Beside):
    """Vectors on a diagonal of matrices of zeros."""

    def draw(self, g):
        operand = g.pick(lambda type: 1 <= type.rank <= 3 and isinstance(type.dims[-1], int))
        type, offset = g.types[operand], g.choice([0, 0, 1, -1, 3])
        size = type.dims[-1] + abs(offset)
        return [operand], {"offset": offset}, [Type(type.dtype, type.dims[:-1] + (size, size))]

    def evaluate(self, node, values, shapes):
        def placed(x):
            out = np.zeros(shapes[0], x.dtype)
            offset, row = node.attributes["offset"], np.arange(x.shape[-1])
            out[..., row + max(-offset, 0), row + max(offset, 0)] = x
            return out
        return [values[0].mapped(placed)]


class Diagonal(Beside):
    def draw(self, g):
        operand = g.pick(lambda type: type.rank >= 2 and all(isinstance(dim, int) for dim in type.dims[-2:]))
        type, offset = g.types[operand], g.choice([0, 0, 1, -1, 5, -7])
        rows, columns = type.dims[-2:]
        size = max(min(rows + min(offset, 0), columns - max(offset, 0)), 0)
        return [operand], {"offset": offset}, [Type(type.dtype, type.dims[:-2] + (size,))]

    def evaluate(self, node, values, shapes):
        return [values[0].mapped(lambda x: np.diagonal(x, node.attributes["offset"], -2, -1))]


REARRANGED = [Roll("roll"), Tile("tile", 0.7), Repeat("repeat", 0.7), Triangle("tril", np.tril), Triangle("triu", np.triu),
              Diag("diag", 0.5), Diagonal("diagonal", 0.5)]
