"""Matrix products."""
import numpy as np

import bounds
from bounds import known, rounded
from op import NUMBERS, Op
from program import Type
from tensors import FLOATS, NUMPY

ACCUMULATED = {"f16": "f32", "bf16": "f32", "i8": "i32", "u8": "u32"}


def contracted(to, a, b, multiply):
    """`multiply` is the contraction of two arrays."""
    if a.dtype not in FLOATS:
        wide = np.uint64 if a.dtype == "u64" else np.int64
        unknown = multiply(a.unknown.astype(np.int64), np.ones(b.shape, np.int64)) + \
            multiply(np.ones(a.shape, np.int64), b.unknown.astype(np.int64))
        return known(to, multiply(a.values.astype(wide), b.values.astype(wide)).astype(NUMPY[to]), unknown > 0)
    x, y = np.abs(a.values).astype(np.float64), np.abs(b.values).astype(np.float64)
    values = multiply(a.values, b.values)
    count = multiply(np.ones(a.shape), np.ones(b.shape))
    error = multiply(x, b.error) + multiply(a.error, y + b.error)
    size = multiply(x + a.error, y + b.error)
    # Twice the roundings of a sum in any order: matrix units drop bits where f32 would round.
    gathered = 2 * (count + 1) * bounds.UNIT[bounds.computed_in(a.dtype)] * size
    error = error + gathered
    error = np.where(np.isnan(error), np.inf, error)
    result = rounded(bounds.computed_in(a.dtype), values, error, reach=size + gathered)
    return rounded(to, result.values, result.error)


class MatMul(Op):
    def draw(self, g):
        lhs = g.pick_or_none(lambda type: type.rank >= 2 and type.dtype in NUMBERS)
        if lhs is None:
            lhs = g.operand(g.choice([d for d in g.dtypes if d != "i1"] or ["f32"]), (g.any_dim(), g.any_dim()))
        type = g.types[lhs]
        transpose_a, transpose_b = g.random() < 0.3, g.random() < 0.4
        rows, inner = type.dims[-1 if transpose_a else -2], type.dims[-2 if transpose_a else -1]
        columns = g.any_dim()
        batch = g.choice([type.dims[:-2], (), tuple(1 for _ in type.dims[:-2])])
        shape = (columns, inner) if transpose_b else (inner, columns)
        rhs = g.operand(type.dtype, batch + shape)
        to = g.choice([type.dtype, ACCUMULATED.get(type.dtype, type.dtype)])
        return ([lhs, rhs], {"transpose_a": transpose_a, "transpose_b": transpose_b},
                [Type(to, type.dims[:-2] + (rows, g.types[rhs].dims[-2 if transpose_b else -1]))])

    def body(self, node, names, types):
        return ", ".join(names) + "".join(f" {flag}" for flag in ("transpose_a", "transpose_b") if node.attributes[flag])

    def evaluate(self, node, values, shapes):
        a, b = (value.mapped(lambda x: np.swapaxes(x, -1, -2)) if node.attributes[flag] else value
                for value, flag in zip(values, ("transpose_a", "transpose_b")))
        return [contracted(node.types[0].dtype, a, b, np.matmul)]


class DotGeneral(Op):
    def draw(self, g):
        lhs = g.pick(lambda type: 1 <= type.rank <= 4 and type.dtype in NUMBERS)
        type = g.types[lhs]
        order = g.shuffled(range(type.rank))
        batches = g.integer(0, min(1, type.rank - 1))
        contracts = g.integer(0 if type.rank <= 2 else 1, min(2, type.rank - batches))
        lhs_batch, lhs_contract = order[:batches], order[batches:batches + contracts]
        chosen = [type.dims[i] for i in lhs_batch + lhs_contract]
        free = [g.any_dim() for _ in range(g.integer(0, 1))]
        places = g.shuffled(range(len(chosen) + len(free)))
        dims = [None] * len(places)
        for place, dim in zip(places, chosen + free):
            dims[place] = dim
        rhs = g.operand(type.dtype, tuple(dims))
        rest = [type.dims[i] for i in range(type.rank) if i not in lhs_batch + lhs_contract]
        attributes = {"lhs_batch": lhs_batch, "lhs_contract": lhs_contract, "rhs_batch": places[:batches],
                      "rhs_contract": places[batches:batches + contracts]}
        to = g.choice([type.dtype, ACCUMULATED.get(type.dtype, type.dtype)])
        return [lhs, rhs], attributes, [Type(to, tuple([type.dims[i] for i in lhs_batch] + rest + free))]

    def body(self, node, names, types):
        held = node.attributes
        return (f"{names[0]}, {names[1]} batch = {held['lhs_batch']} x {held['rhs_batch']} "
                f"contract = {held['lhs_contract']} x {held['rhs_contract']}")

    def evaluate(self, node, values, shapes):
        held, (a, b) = node.attributes, values
        letters = iter("abcdefghijklm")
        lhs, rhs, batch = [None] * len(a.shape), [None] * len(b.shape), []
        for key in ("batch", "contract"):
            for i, j in zip(held["lhs_" + key], held["rhs_" + key]):
                lhs[i] = rhs[j] = next(letters)
                batch += [lhs[i]] if key == "batch" else []
        lhs, rhs = ([letter or next(letters) for letter in side] for side in (lhs, rhs))
        shared = set(lhs) & set(rhs)
        out = "".join(batch + [c for c in lhs if c not in shared] + [c for c in rhs if c not in shared])
        formula = f"{''.join(lhs)},{''.join(rhs)}->{out}"
        return [contracted(node.types[0].dtype, a, b, lambda x, y: np.einsum(formula, x, y, optimize=False))]


class GroupedMatMul(Op):
    def draw(self, g):
        lhs = g.pick(lambda type: type.rank == 2 and type.dtype in NUMBERS and isinstance(type.dims[1], int))
        type, groups, columns = g.types[lhs], g.integer(1, 4), g.static_dim()
        transpose_b = g.random() < 0.4
        shape = (columns, type.dims[1]) if transpose_b else (type.dims[1], columns)
        rhs = g.operand(type.dtype, (groups, *shape))
        sizes = g.operand(g.choice(["i32", "i64"]), (groups,), small=True)
        to = g.choice([type.dtype, ACCUMULATED.get(type.dtype, type.dtype)])
        return [lhs, rhs, sizes], {"transpose_b": transpose_b}, [Type(to, (type.dims[0], columns))]

    def body(self, node, names, types):
        return ", ".join(names) + (" transpose_b" if node.attributes["transpose_b"] else "")

    def evaluate(self, node, values, shapes):
        a, b, sizes = values
        if node.attributes["transpose_b"]:
            b = b.mapped(lambda x: np.swapaxes(x, -1, -2))
        ends = np.minimum(np.cumsum(np.maximum(sizes.values.astype(np.int64), 0)), a.shape[0])

        def multiply(x, y):
            result = np.zeros(shapes[0], np.result_type(x, y))
            for group, (begin, end) in enumerate(zip([0, *ends], ends)):
                result[begin:end] = x[begin:end] @ y[group]
            return result
        result = contracted(node.types[0].dtype, a, b, multiply)
        return [bounds.Num(result.dtype, result.values, np.where(sizes.unknown.any(), np.inf, result.error))]


CONTRACTIONS = [MatMul("matmul", 5), DotGeneral("dot_general", 1.5), GroupedMatMul("grouped_matmul", 1.2)]
