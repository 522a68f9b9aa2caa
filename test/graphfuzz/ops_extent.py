"""Device-bounded dims: ops that make them, change them and leave them, and which others know a meaning for them."""
import numpy as np

from bounds import Num, known
from op import Op, Same
from program import Type, names_in

LINES = ("sort", "argsort", "cumsum", "cumprod", "cummax", "cummin", "logcumsumexp", "softmax", "log_softmax")
# What docs/dynamic-sizes.md says, but for takes and scatters, whose references know no extents.
MEANINGFUL = {
    "reduce", "logsumexp", "layer_norm", "rms_norm", "matmul", "dot_general", "transpose", "reverse", "pad", "slice", "concatenate",
    "expand_dims", "squeeze", "select", "compare", "clamp", "fma", "convert", "bitcast", "set_extent", "append", "extent", "pad_to_bound",
    *LINES}


def has_meaning(g, op, operands, attributes, types):
    """Whether the op may have these operands and results, as far as extents go."""
    bounded = [number for number in operands if g.program.is_bounded(number)]
    if op.name in ("set_extent", "compress", "append"):
        return g.depth == 0
    if not bounded:
        return True
    if op.name in ("layer_norm", "rms_norm"):
        # Scale and bias are arrays, and of one row without elements there is no mean.
        return not any(names_in(dim) & g.program.bounds.keys() for dim in g.types[operands[0]].dims[attributes["axis"]:])
    return op.name in MEANINGFUL or hasattr(op, "dtypes")


class SetExtent(Op):
    """Of an input, or the same extent for another array of that size."""

    def draw(self, g):
        operand = g.pick(lambda type: type.rank >= 1)
        if g.depth:
            return None
        type = g.types[operand]
        axis = g.integer(0, type.rank - 1)
        dim = type.dims[axis]
        found = [(name, number) for name, (number, of) in g.extents.items() if of == dim]
        if found and g.random() < 0.6:
            name, count = g.choice(found)
        else:
            count = g.fresh(Type(g.choice(["i32", "i64"]), ()))
            g.small.add(count)
            name = f"x{len(g.program.bounds)}"
            g.program.bounds[name] = dim
            g.extents[name] = (count, dim)
        return [operand, count], {"axis": axis, "extent": name}, [Type(type.dtype, type.dims[:axis] + (name,) + type.dims[axis + 1:])]

    def body(self, node, names, types):
        return f"{names[0]}, {names[1]} axis = {node.attributes['axis']}"

    def define(self, node, values, environment):
        size = values[node.operands[0]].shape[node.attributes["axis"]]
        environment[node.attributes["extent"]] = min(max(int(values[node.operands[1]].values), 0), size)

    def evaluate(self, node, values, shapes):
        axis = node.attributes["axis"]
        return [values[0].mapped(lambda x: np.take(x, range(shapes[0][axis]), axis))]


class Compress(SetExtent):
    """By a mask that comes from outside, so that how many are kept is certain."""

    def draw(self, g):
        operand = g.pick(lambda type: type.rank >= 1)
        if g.depth or g.program.is_bounded(operand):
            return None
        type = g.types[operand]
        axis = g.integer(0, type.rank - 1)
        mask = g.fresh(Type("i1", (type.dims[axis],)))
        name = f"x{len(g.program.bounds)}"
        g.program.bounds[name] = type.dims[axis]
        return [operand, mask], {"axis": axis, "extent": name}, [Type(type.dtype, type.dims[:axis] + (name,) + type.dims[axis + 1:])]

    def define(self, node, values, environment):
        environment[node.attributes["extent"]] = int(values[node.operands[1]].values.sum())

    def evaluate(self, node, values, shapes):
        return [values[0].mapped(lambda x: np.compress(values[1].values, x, node.attributes["axis"]))]


class Append(Op):
    def draw(self, g):
        operand = g.pick(lambda type: any(dim in g.program.bounds for dim in type.dims if isinstance(dim, str)))
        type = g.types[operand]
        axis = next(i for i, dim in enumerate(type.dims) if dim in g.program.bounds)
        if sum(bool(names_in(dim) & g.program.bounds.keys()) for dim in type.dims) > 1:
            return None
        size = g.choice([g.integer(1, 3), type.dims[axis]])
        update = g.operand(type.dtype, type.dims[:axis] + (size,) + type.dims[axis + 1:])
        grown = f"min({type.dims[axis]}+{size},{g.program.bound(type.dims[axis])})"
        return [operand, update], {"axis": axis}, [Type(type.dtype, type.dims[:axis] + (grown,) + type.dims[axis + 1:])]

    def body(self, node, names, types):
        return f"{names[0]}, {names[1]} axis = {node.attributes['axis']}"

    def evaluate(self, node, values, shapes):
        axis = node.attributes["axis"]
        joined = [np.concatenate([getattr(value, name) for value in values], axis) for name in ("values", "error")]
        return [Num(values[0].dtype, *(np.take(x, range(shapes[0][axis]), axis) for x in joined))]


class Extent(Same):
    def draw(self, g):
        operand = g.pick(lambda type: any(names_in(dim) & g.program.bounds.keys() for dim in type.dims))
        return [operand], {"axis": g.integer(0, g.types[operand].rank - 1)}, [Type(g.choice(["i32", "i64"]), ())]

    def body(self, node, names, types):
        return f"{names[0]}, {node.attributes['axis']}"

    def evaluate(self, node, values, shapes):
        return [known(node.types[0].dtype, np.array(values[0].shape[node.attributes["axis"]]), False)]


class PadToBound(Op):
    def draw(self, g):
        operand = g.pick(lambda type: any(names_in(dim) & g.program.bounds.keys() for dim in type.dims))
        return self.of(g, operand)

    def of(self, g, operand):
        type = g.types[operand]
        value = g.operand(type.dtype, ())
        return [operand, value], {}, [Type(type.dtype, tuple(g.program.bound(dim) for dim in type.dims))]

    def evaluate(self, node, values, shapes):
        a, value = values

        def padded(x, fill):
            out = np.full(shapes[0], fill, x.dtype)
            out[tuple(slice(0, size) for size in x.shape)] = x
            return out
        return [Num(a.dtype, padded(a.values, value.values), padded(a.error, value.error))]


EXTENTS = [SetExtent("set_extent", 2.5), Compress("compress"), Append("append", 4), Extent("extent", 2), PadToBound("pad_to_bound")]
