"""Ops that make, move and view elements."""
import numpy as np

from bounds import Num
from op import Op, Same
from program import Type
from tensors import FLOATS, NUMPY


class Broadcast(Same):
    def draw(self, g):
        operand = g.pick(lambda type: type.is_static and type.rank < 4)
        type = g.types[operand]
        dims = [g.static_dim() if dim == 1 and g.random() < 0.5 else dim for dim in type.dims]
        axes = list(range(len(dims)))
        for _ in range(g.integer(0, 4 - len(dims))):
            at = g.integer(0, len(dims))
            dims.insert(at, g.static_dim())
            axes = [axis + (axis >= at) for axis in axes]
        return [operand], {"axes": axes}, [Type(type.dtype, tuple(dims))]

    def body(self, node, names, types):
        return f"{names[0]} axes = {node.attributes['axes']}"

    def evaluate(self, node, values, shapes):
        a, = values
        shape = [1] * len(shapes[0])
        for axis, size in zip(node.attributes["axes"], a.shape):
            shape[axis] = size
        return [a.mapped(lambda x: np.broadcast_to(x.reshape(shape), shapes[0]))]


class Reshape(Same):
    """Static: any factorisation. Symbolic: merges or splits dims, so that at most one `?` results."""

    def draw(self, g):
        operand = g.pick(lambda type: sum(isinstance(dim, str) for dim in type.dims) <= 2)
        type = g.types[operand]
        if type.is_static:
            count = int(np.prod(type.dims, dtype=np.int64))
            dims = self.factors(g, count) if count else tuple(g.shuffled(type.dims))
        elif type.rank >= 2 and g.random() < 0.7:
            at = g.integer(0, type.rank - 2)
            pair = type.dims[at:at + 2]
            merged = pair[0] * pair[1] if all(isinstance(dim, int) for dim in pair) else f"({pair[0]}*{pair[1]})"
            dims = type.dims[:at] + (merged,) + type.dims[at + 2:]
        else:
            at = g.integer(0, type.rank)
            dims = type.dims[:at] + (1,) + type.dims[at:]
        if len(dims) > 5 or sum(isinstance(dim, str) for dim in dims) > 1 or 0 in dims and not type.is_static:
            return None
        return [operand], {}, [Type(type.dtype, dims)]

    @staticmethod
    def factors(g, count):
        dims = []
        while count > 1 and len(dims) < 3:
            divisors = [d for d in range(2, count + 1) if count % d == 0]
            dims.append(g.choice(divisors))
            count //= dims[-1]
        dims += [count] if count > 1 else []
        dims += [1] * g.integer(0, 4 - len(dims) if len(dims) < 3 else 0)
        return tuple(g.shuffled(dims))

    def evaluate(self, node, values, shapes):
        return [values[0].mapped(lambda x: x.reshape(shapes[0]))]


class ExpandDims(Same):
    def draw(self, g):
        operand = g.pick(lambda type: type.rank < 4)
        type, at = g.types[operand], g.integer(0, g.types[operand].rank)
        return [operand], {"axes": [at]}, [Type(type.dtype, type.dims[:at] + (1,) + type.dims[at:])]

    def body(self, node, names, types):
        return f"{names[0]} axes = {node.attributes['axes']}"

    def evaluate(self, node, values, shapes):
        return [values[0].mapped(lambda x: x.reshape(shapes[0]))]


class Squeeze(ExpandDims):
    def draw(self, g):
        operand = g.pick(lambda type: 1 in type.dims)
        type = g.types[operand]
        at = type.dims.index(1)
        return [operand], {"axes": [at]}, [Type(type.dtype, type.dims[:at] + type.dims[at + 1:])]


class Transpose(Same):
    def draw(self, g):
        operand = g.pick(lambda type: type.rank >= 2)
        type = g.types[operand]
        permutation = g.shuffled(range(type.rank))
        return [operand], {"permutation": permutation}, [Type(type.dtype, tuple(type.dims[i] for i in permutation))]

    def body(self, node, names, types):
        return f"{names[0]} permutation = {node.attributes['permutation']}"

    def evaluate(self, node, values, shapes):
        return [values[0].mapped(lambda x: x.transpose(node.attributes["permutation"]))]


class Reverse(Same):
    def draw(self, g):
        operand = g.pick(lambda type: type.rank >= 1)
        axes = [axis for axis in range(g.types[operand].rank) if g.random() < 0.6] or [0]
        return [operand], {"axes": axes}, [g.types[operand]]

    def body(self, node, names, types):
        return f"{names[0]} axes = {node.attributes['axes']}"

    def evaluate(self, node, values, shapes):
        return [values[0].mapped(lambda x: np.flip(x, node.attributes["axes"]))]


class Slice(Same):
    def draw(self, g):
        operand = g.pick(lambda type: type.rank >= 1)
        type, ranges, dims = g.types[operand], [], []
        for dim in type.dims:
            if isinstance(dim, str):
                start = g.integer(0, min(2, g.least(dim)))
                ranges.append((start, None, 1))
                dims.append(f"({dim}-{start})" if start else dim)
            elif g.random() < 0.4:
                ranges.append((0, dim, 1))
                dims.append(dim)
            else:
                start = g.integer(0, dim)
                limit = g.integer(start, dim) if g.random() < 0.7 else dim
                stride = g.choice([1, 1, 2, 3])
                ranges.append((start, limit, stride))
                dims.append(-(-(limit - start) // stride))
        return [operand], {"ranges": ranges}, [Type(type.dtype, tuple(dims))]

    def body(self, node, names, types):
        def written(start, limit, stride):
            return f"{start}:{'' if limit is None else limit}" + (f":{stride}" if stride > 1 else "")
        return f"{names[0]} [" + ", ".join(written(*r) for r in node.attributes["ranges"]) + "]"

    def evaluate(self, node, values, shapes):
        return [values[0].mapped(lambda x: x[tuple(slice(*r) for r in node.attributes["ranges"])])]


def clamped_starts(starts, shape, box):
    return tuple(slice(s, s + b) for s, b in
                 ((min(max(int(v.values), 0), size - b), b) for v, size, b in zip(starts, shape, box)))


class DynamicSlice(Op):
    def draw(self, g):
        operand = g.pick(lambda type: type.rank >= 1 and type.is_static)
        type = g.types[operand]
        box = tuple(g.integer(min(1, dim), dim) for dim in type.dims)
        starts = [g.operand(g.choice(["i32", "i64"]), (), small=True) for _ in type.dims]
        return [operand, *starts], {}, [Type(type.dtype, box)]

    def body(self, node, names, types):
        return f"{names[0]}[{', '.join(names[1:])}]"

    def evaluate(self, node, values, shapes):
        a, *starts = values
        result = a.mapped(lambda x: x[clamped_starts(starts, a.shape, shapes[0])])
        unknown = any(bool(start.unknown) for start in starts)
        return [Num(a.dtype, result.values, np.where(unknown, np.inf, result.error))]


class DynamicUpdateSlice(Op):
    def draw(self, g):
        operand = g.pick(lambda type: type.rank >= 1 and type.is_static)
        type = g.types[operand]
        box = tuple(g.integer(min(1, dim), dim) for dim in type.dims)
        update = g.operand(type.dtype, box)
        starts = [g.operand("i32", (), small=True) for _ in type.dims]
        return [operand, update, *starts], {}, [type]

    def body(self, node, names, types):
        return f"{names[0]}[{', '.join(names[2:])}] = {names[1]}"

    def evaluate(self, node, values, shapes):
        a, update, *starts = values
        box = clamped_starts(starts, a.shape, update.shape)
        numbers, error = a.values.copy(), a.error.copy()
        numbers[box], error[box] = update.values, update.error
        unknown = any(bool(start.unknown) for start in starts)
        return [Num(a.dtype, numbers, np.where(unknown, np.inf, error))]


class Concatenate(Op):
    def draw(self, g):
        first = g.pick(lambda type: type.rank >= 1)
        type = g.types[first]
        axis = g.integer(0, type.rank - 1)
        operands, sizes = [first], [type.dims[axis]]
        for _ in range(g.integer(0, 2)):
            other = type.dims[axis] if isinstance(type.dims[axis], str) or g.random() < 0.3 else g.static_dim()
            operands.append(g.operand(type.dtype, type.dims[:axis] + (other,) + type.dims[axis + 1:]))
            sizes.append(g.types[operands[-1]].dims[axis])
        total = sum(sizes) if all(isinstance(size, int) for size in sizes) else "(" + "+".join(map(str, sizes)) + ")"
        total = sizes[0] if len(sizes) == 1 else total
        return operands, {"axis": axis}, [Type(type.dtype, type.dims[:axis] + (total,) + type.dims[axis + 1:])]

    def body(self, node, names, types):
        return f"{', '.join(names)} axis = {node.attributes['axis']}"

    def evaluate(self, node, values, shapes):
        axis = node.attributes["axis"]
        return [Num(values[0].dtype, np.concatenate([v.values for v in values], axis),
                    np.concatenate([v.error for v in values], axis))]


class Split(Same):
    def draw(self, g):
        operand = g.pick(lambda type: type.is_static and any(dim >= 2 for dim in type.dims))
        type = g.types[operand]
        axis = g.choice([i for i, dim in enumerate(type.dims) if dim >= 2])
        cut = g.integer(1, type.dims[axis] - 1)
        parts = [cut, type.dims[axis] - cut]
        return ([operand], {"axis": axis, "parts": parts},
                [Type(type.dtype, type.dims[:axis] + (part,) + type.dims[axis + 1:]) for part in parts])

    def body(self, node, names, types):
        return f"{names[0]} axis = {node.attributes['axis']} parts = {node.attributes['parts']}"

    def signature(self, node, types):
        return f"{types[0].mlir} -> {', '.join(type.mlir for type in node.types)}"

    def evaluate(self, node, values, shapes):
        cut = node.attributes["parts"][0]
        parts = [np.split(x, [cut], node.attributes["axis"]) for x in (values[0].values, values[0].error)]
        return [Num(values[0].dtype, *pair) for pair in zip(*parts)]


class Pad(Op):
    def draw(self, g):
        operand = g.pick(lambda type: type.rank >= 1)
        type = g.types[operand]
        low, high, interior, dims = [], [], [], []
        for dim in type.dims:
            lo, hi, mid = g.integer(0, 2), g.integer(0, 2), g.choice([0, 0, 0, 1, 2])
            if isinstance(dim, str):
                mid = 0
                dims.append(f"({dim}+{lo + hi})" if lo + hi else dim)
            else:
                dims.append(dim + lo + hi + max(0, dim - 1) * mid)
            low, high, interior = low + [lo], high + [hi], interior + [mid]
        value = g.operand(type.dtype, ())
        return [operand, value], {"low": low, "high": high, "interior": interior}, [Type(type.dtype, tuple(dims))]

    def body(self, node, names, types):
        return f"{names[0]}, {names[1]} " + " ".join(f"{key} = {node.attributes[key]}" for key in ("low", "high", "interior"))

    def evaluate(self, node, values, shapes):
        a, value = values
        box = tuple(slice(lo, lo + (size + max(0, size - 1) * mid), mid + 1) for lo, size, mid in
                    zip(node.attributes["low"], a.shape, node.attributes["interior"]))

        def padded(x, fill):
            out = np.full(shapes[0], fill, x.dtype)
            out[box] = x
            return out
        return [Num(a.dtype, padded(a.values, value.values), padded(a.error, value.error))]


class Constant(Op):
    """Splats and short lists."""

    def draw(self, g):
        dtype = g.choice(g.dtypes)
        dims = () if g.random() < 0.5 else (g.static_dim(),) if g.random() < 0.5 else (g.integer(1, 3), g.integer(1, 3))
        count = int(np.prod(dims, dtype=np.int64))
        splat = not dims or count > 16 or count == 0 or g.random() < 0.5

        def one():
            if dtype == "i1":
                return g.random() < 0.5
            number = g.integer(0 if dtype.startswith("u") else -9, 9)
            return number / 4 if dtype in FLOATS else number
        return [], {"values": one() if splat else [one() for _ in range(count)]}, [Type(dtype, dims)]

    def text(self, program, node):
        def written(value):
            return str(value).lower() if isinstance(value, bool) else f"{value:e}" if isinstance(value, float) else str(value)
        values, type = node.attributes["values"], node.types[0]
        if isinstance(values, list):
            nested = [written(value) for value in values]
            for dim in reversed(type.dims):
                nested = [f"[{', '.join(nested[i:i + dim])}]" for i in range(0, len(nested), dim)]
            literal, = nested
        else:
            literal = written(values)
        literal = "" if 0 in type.dims else literal
        return f"%{node.results[0]} = array.constant dense<{literal}> : {type.mlir}"

    def evaluate(self, node, values, shapes):
        dtype, held = node.types[0].dtype, node.attributes["values"]
        numbers = np.array(held, dtype=np.longdouble if dtype in FLOATS else NUMPY[dtype])
        numbers = numbers.reshape(shapes[0]) if isinstance(held, list) else np.full(shapes[0], numbers)
        return [Num(dtype, numbers, np.zeros(shapes[0]))]


SHAPES = [Broadcast("broadcast_in_dim", 1.5), Reshape("reshape", 3), ExpandDims("expand_dims"), Squeeze("squeeze"),
          Transpose("transpose", 3), Reverse("reverse"), Slice("slice", 3), DynamicSlice("dynamic_slice"),
          DynamicUpdateSlice("dynamic_update_slice"), Concatenate("concatenate", 2), Split("split"), Pad("pad", 1.5),
          Constant("constant", 2)]
