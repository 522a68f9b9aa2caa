"""Elements at positions that are data."""
import numpy as np

import bounds
from bounds import Num, known, rounded
from op import NUMBERS, Op, Same
from program import Type
from tensors import FLOATS, NUMPY


def clamped(indices, size):
    return np.clip(np.asarray(indices.values, np.int64), 0, size - 1)


class Take(Op):
    def draw(self, g):
        operand = g.pick(lambda type: type.rank >= 1)
        type = g.types[operand]
        axis = g.integer(0, type.rank - 1)
        if g.least(type.dims[axis]) < 1:
            return None
        indices = g.operand(g.choice(["i32", "i64"]), tuple(g.any_dim() for _ in range(g.integer(0, 2))), small=True)
        dims = type.dims[:axis] + g.types[indices].dims + type.dims[axis + 1:]
        return [operand, indices], {"axis": axis}, [Type(type.dtype, dims)]

    def body(self, node, names, types):
        return f"{names[0]}[{names[1]}] axis = {node.attributes['axis']}"

    def evaluate(self, node, values, shapes):
        a, indices = values
        axis = node.attributes["axis"]
        result = a.mapped(lambda x: np.take(x, clamped(indices, a.shape[axis]), axis))
        shape = [1] * axis + list(indices.shape) + [1] * (len(a.shape) - axis - 1)
        return [Num(a.dtype, result.values, np.where(indices.unknown.reshape(shape), np.inf, result.error))]


class TakeAlongAxis(Op):
    def draw(self, g):
        operand = g.pick(lambda type: type.rank >= 1)
        type = g.types[operand]
        axis = g.integer(0, type.rank - 1)
        if g.least(type.dims[axis]) < 1:
            return None
        dims = type.dims[:axis] + (g.any_dim(),) + type.dims[axis + 1:]
        indices = g.operand("i32", dims, small=True)
        return [operand, indices], {"axis": axis}, [Type(type.dtype, g.types[indices].dims)]

    def body(self, node, names, types):
        return f"{names[0]}[{names[1]}] axis = {node.attributes['axis']}"

    def evaluate(self, node, values, shapes):
        a, indices = values
        axis = node.attributes["axis"]
        result = a.mapped(lambda x: np.take_along_axis(x, clamped(indices, a.shape[axis]), axis))
        return [Num(a.dtype, result.values, np.where(indices.unknown, np.inf, result.error))]


def index_vectors(g, type):
    """Axes of an operand and the dims of the index vectors' batch."""
    axes = sorted(g.shuffled(range(type.rank))[:g.integer(1, min(2, type.rank))])
    if any(g.least(type.dims[axis]) < 1 for axis in axes):
        return None
    batch = tuple(g.any_dim() for _ in range(g.integer(1, 2)))
    return axes, g.operand("i32", batch + (len(axes),), small=True)


class Gather(Op):
    def draw(self, g):
        operand = g.pick(lambda type: 1 <= type.rank <= 3)
        found = index_vectors(g, g.types[operand])
        if not found:
            return None
        axes, indices = found
        type = g.types[operand]
        dims = g.types[indices].dims[:-1] + tuple(dim for i, dim in enumerate(type.dims) if i not in axes)
        return [operand, indices], {"axes": axes}, [Type(type.dtype, dims)]

    def body(self, node, names, types):
        return f"{names[0]}[{names[1]}] axes = {node.attributes['axes']}"

    def evaluate(self, node, values, shapes):
        a, indices = values
        axes = node.attributes["axes"]
        place = tuple(clamped(indices.mapped(lambda x: x[..., i]), a.shape[axis]) for i, axis in enumerate(axes))
        result = a.mapped(lambda x: np.moveaxis(x, axes, range(len(axes)))[place])
        unknown = indices.unknown.any(-1)
        unknown = unknown.reshape(unknown.shape + (1,) * (len(shapes[0]) - unknown.ndim))
        return [Num(a.dtype, result.values, np.where(unknown, np.inf, result.error))]


class Scatter(Op):
    def draw(self, g):
        operand = g.pick(lambda type: 1 <= type.rank <= 3)
        found = index_vectors(g, g.types[operand])
        if not found:
            return None
        axes, indices = found
        type = g.types[operand]
        dims = g.types[indices].dims[:-1] + tuple(dim for i, dim in enumerate(type.dims) if i not in axes)
        updates = g.operand(type.dtype, dims)
        if g.types[updates].dims != dims:
            return None
        kinds = ["add", "set", "max", "min", "mul"] if type.dtype != "i1" else ["set"]
        return [operand, indices, updates], {"axes": axes, "kind": g.choice(kinds)}, [type]

    def body(self, node, names, types):
        return f"{node.attributes['kind']}, {names[0]}[{names[1]}] axes = {node.attributes['axes']} = {names[2]}"

    def evaluate(self, node, values, shapes):
        a, indices, updates = values
        axes, kind = node.attributes["axes"], node.attributes["kind"]

        def front(x):
            return np.moveaxis(x, axes, range(len(axes))).copy()
        out, error = front(a.values), front(a.error)
        size = np.abs(out).astype(np.float64) if a.dtype in FLOATS else np.zeros(out.shape)
        reach = size + error  # the largest that an element is on the way
        hits = np.zeros(out.shape)
        for place in np.ndindex(*indices.shape[:-1]):
            vector = tuple(int(i) for i in indices.values[place])
            if not all(0 <= i < s for i, s in zip(vector, out.shape)):
                continue
            new, wrong = updates.values[place], updates.error[place]
            hits[vector] += 1
            if kind == "set":
                out[vector], error[vector] = new, wrong
            elif kind == "add":
                out[vector] = out[vector] + new
                error[vector] = error[vector] + wrong
                size[vector] += np.abs(new).astype(np.float64) if a.dtype in FLOATS else 0
            elif kind == "mul" and a.dtype not in FLOATS:
                out[vector], error[vector] = out[vector] * new, np.maximum(error[vector], wrong)
            elif kind == "mul":
                with np.errstate(all="ignore"):
                    far = (np.abs(out[vector]) + error[vector]) * (np.abs(new) + wrong) - np.abs(out[vector] * new)
                    out[vector] = out[vector] * new
                    # Each product is rounded, perhaps to a number below the smallest one.
                    step = bounds.UNIT[a.dtype] * np.abs(out[vector]) + bounds.TINY[a.dtype]
                    error[vector] = np.where(np.isnan(far), np.inf, np.maximum(far, 0) + 2 * step)
                    reach[vector] = np.maximum(reach[vector], np.abs(out[vector]) + error[vector])
            else:
                out[vector] = (np.maximum if kind == "max" else np.minimum)(out[vector], new)
                error[vector] = np.maximum(error[vector], wrong)
        if indices.unknown.any():
            error[...] = np.inf
        back = (lambda x: np.moveaxis(x, range(len(axes)), axes))
        if a.dtype in FLOATS and kind in ("add", "mul"):
            # 16-bit types may round after each update, and overflow.
            if kind == "add":
                gathered = hits * bounds.UNIT[a.dtype] * 2 * (size + error)
                error = error + gathered
                reach = size + error
            error = np.where(reach < bounds.LARGEST[a.dtype], error, np.inf)
            return [rounded(a.dtype, back(out), back(error), np.where(back(hits) > 0, 1.0, 0.0))]
        return [Num(a.dtype, back(out), back(error))]


class OneHot(Same):
    def draw(self, g):
        indices = g.operand("i32", tuple(g.any_dim() for _ in range(g.integer(0, 2))), small=True)
        depth = g.integer(1, 9)
        dtype = g.choice(g.dtypes)
        return [indices], {"depth": depth}, [Type(dtype, g.types[indices].dims + (depth,))]

    def body(self, node, names, types):
        return f"{names[0]} depth = {node.attributes['depth']}"

    def evaluate(self, node, values, shapes):
        indices, = values
        dtype = node.types[0].dtype
        hot = indices.values[..., None] == np.arange(node.attributes["depth"])
        unknown = np.broadcast_to(indices.unknown[..., None], hot.shape)
        if dtype in FLOATS:
            return [Num(dtype, hot.astype(np.longdouble), np.where(unknown, np.inf, 0.0))]
        return [known(dtype, hot.astype(NUMPY[dtype]), unknown)]


class SearchSorted(Op):
    """Of a vector that is sorted first."""

    def draw(self, g):
        line = g.pick(lambda type: type.rank == 1 and type.dtype in NUMBERS)
        dtype = g.types[line].dtype
        places = g.operand(dtype, tuple(g.any_dim() for _ in range(g.integer(0, 2))))
        return [line, places], {"right": g.random() < 0.5}, [Type(g.choice(["i32", "i64"]), g.types[places].dims)]

    def text(self, program, node):
        line, tag = node.operands[0], f"%sorted_{node.results[0]}"
        type = program.types[line].mlir
        return (f"{tag} = array.sort %{line} axis = 0 : {type} -> {type}\n" +
                super().text(program, node).replace(f"%{line},", f"{tag},", 1))

    def body(self, node, names, types):
        return ", ".join(names) + (" right" if node.attributes["right"] else "")

    def evaluate(self, node, values, shapes):
        line, places = values
        index = np.searchsorted(np.sort(line.values), places.values, "right" if node.attributes["right"] else "left")
        flat = places.mapped(lambda x: x.reshape(-1, 1))
        reach = line.error + flat.error
        if line.dtype in FLOATS:
            with np.errstate(all="ignore"):
                near = (reach > 0) & ~(np.abs(line.values - flat.values) > reach)
        else:
            near = reach > 0
        return [known(node.types[0].dtype, index, near.any(-1).reshape(shapes[0]))]


def is_zero(a):
    """Which elements are zero, and of which that is not known."""
    unsure = (np.abs(a.values) <= a.error) & (a.error > 0) if a.dtype in FLOATS else a.unknown
    return a.values == 0, unsure


class NonZero(Same):
    def draw(self, g):
        operand = g.pick(lambda type: type.rank >= 1)
        size, counted = g.choice([1, 3, 7, 40]), g.choice(["i32", "i64"])
        return [operand], {"size": size}, [Type(counted, (size, g.types[operand].rank)), Type(counted, ())]

    def body(self, node, names, types):
        return f"{names[0]} size = {node.attributes['size']}"

    def signature(self, node, types):
        return f"{types[0].mlir} -> {', '.join(type.mlir for type in node.types)}"

    def evaluate(self, node, values, shapes):
        zero, unsure = is_zero(values[0])
        where, rows = np.argwhere(~zero), np.full(shapes[0], -1)
        rows[:len(where)] = where[:shapes[0][0]]
        dtype = node.types[0].dtype
        return [known(dtype, rows, unsure.any()), known(dtype, np.array(len(where)), unsure.any())]


class MaskedScatter(Op):
    def draw(self, g):
        operand = g.pick(lambda type: type.rank >= 1)
        type = g.types[operand]
        mask, source = g.operand("i1", type.dims), g.operand(type.dtype, (g.any_dim(),))
        return None if g.least(g.types[source].dims[0]) < 1 else ([operand, mask, source], {}, [type])

    def evaluate(self, node, values, shapes):
        a, mask, source = values
        place = np.clip(np.cumsum(mask.values.reshape(-1)).reshape(shapes[0]) - 1, 0, source.shape[0] - 1)
        numbers, error = (np.where(mask.values, new[place], old) for new, old in
                          ((source.values, a.values), (source.error, a.error)))
        return [Num(a.dtype, numbers, np.where(mask.unknown.any(), np.inf, error))]


INDEXING = [Take("take", 1.5), TakeAlongAxis("take_along_axis"), Gather("gather"), Scatter("scatter"), OneHot("one_hot", 0.7),
            SearchSorted("searchsorted"), NonZero("nonzero", 0.8), MaskedScatter("masked_scatter", 0.8)]
