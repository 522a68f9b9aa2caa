"""Attention, to keys and values that lie in rows or in pages."""
import numpy as np

import bounds
from bounds import Num, rounded
from op import Op
from ops_contract import contracted
from ops_reduce import exp, final
from program import Type
from tensors import FLOATS


def attended(q, k, v, seen, scale, bias=None, sinks=None):
    """(what queries get, logarithm of the sum of their weights). `seen` says which keys each query sees: one that sees none gives 0."""
    wide = bounds.computed_in(q.dtype)
    k, v = (x.mapped(lambda x: np.repeat(x, q.shape[-3] // x.shape[-3], -3)) for x in (k, v))
    scores = contracted(wide, q, k.mapped(lambda x: np.swapaxes(x, -1, -2)), np.matmul)
    scores = rounded(wide, scores.values * scale, scores.error * scale)
    if bias is not None:
        scores = bounds.add(wide, scores, bias)
    # What is hidden weighs nothing, and is not what the others are compared with.
    least = np.where(seen, scores.values, np.inf).min(-1, keepdims=True, initial=np.inf)
    scores = Num(wide, np.where(seen, scores.values, np.where(np.isinf(least), 0, least)), np.where(seen, scores.error, 0.0))
    highest = bounds.extreme(scores, (scores.values.ndim - 1,), 1, True)
    if sinks is not None:
        sinks = Num(wide, sinks.values, sinks.error).mapped(lambda x: np.broadcast_to(x[:, None, None], highest.shape))
        highest = bounds.maximum(highest, sinks)
    weights = exp(bounds.add(wide, scores, highest, 1, -1))
    weights = Num(wide, np.where(seen, weights.values, 0), np.where(seen, weights.error, 0.0))
    sums = bounds.total(wide, weights, (weights.values.ndim - 1,), True)
    some = seen.any(-1, keepdims=True)
    counts = some if sinks is None else np.ones_like(some)
    if sinks is not None:
        # Where there is no key the sink alone is what counts.
        highest = Num(wide, np.where(some, highest.values, sinks.values), np.where(some, highest.error, sinks.error))
        sums = bounds.add(wide, sums, exp(bounds.add(wide, sinks, highest, 1, -1)))
    sums = Num(wide, np.where(counts, sums.values, 1), np.where(counts, sums.error, 0.0))
    logarithm = bounds.add(wide, bounds.monotone(wide, np.log, sums, 16), highest, 2)
    logarithm = Num(wide, np.where(counts, logarithm.values, -np.inf), np.where(counts, logarithm.error, 0.0))
    shares = final(q.dtype, bounds.div(wide, weights, sums))
    result = final(q.dtype, contracted(wide, shares, v, np.matmul))
    return Num(q.dtype, np.where(some, result.values, 0), result.error), final(wide, logarithm).mapped(lambda x: x[..., 0])


class Attention(Op):
    def draw(self, g):
        query = g.pick_or_none(lambda type: 3 <= type.rank <= 4 and type.dtype in FLOATS)
        if query is None:
            floats = [dtype for dtype in g.dtypes if dtype in FLOATS] or ["f32"]
            query = g.operand(g.choice(floats), (g.choice([1, 2, 4]), g.any_dim(), g.choice([1, 4, 8])))
        type = g.types[query]
        *batch, heads, queries, width = type.dims
        if isinstance(heads, str) or heads == 0 or isinstance(width, str) or width == 0:
            return None
        keys = g.choice([queries, g.any_dim()])
        if g.least(keys) < 1:
            return None
        groups = g.choice([heads] + [n for n in (1, 2) if heads % n == 0])
        operands = [query] + [g.operand(type.dtype, (*batch, groups, keys, width)) for _ in range(2)]
        kind = g.choice(["", "", "causal", "mask", "bias"])
        if kind in ("mask", "bias"):
            operands.append(g.operand("i1" if kind == "mask" else "f32", (queries, keys)))
        attributes = {"kind": kind, "scale": g.choice([0.25, 0.5, 1.0])}
        if kind == "causal" and g.random() < 0.4:
            attributes["window"] = g.integer(1, 9)
        if kind == "causal" and g.random() < 0.4:
            attributes["offset"] = len(operands)
            operands.append(g.operand(g.choice(["i32", "i64"]), (), small=True))
        if g.random() < 0.3:
            attributes["sinks"] = len(operands)
            operands.append(g.operand(type.dtype, (heads,)))
        wide = bounds.computed_in(type.dtype)
        attributes["logsumexp"] = g.random() < 0.3
        return operands, attributes, [type] + ([Type(wide, type.dims[:-1])] if attributes["logsumexp"] else [])

    def body(self, node, names, types):
        held = node.attributes
        options = f" mask({names[3]} : {types[3].mlir})" if held["kind"] in ("mask", "bias") else ""
        options += " causal" if held["kind"] == "causal" else ""
        options += f" window = {held['window']}" if "window" in held else ""
        options += "".join(f" {name}({names[held[name]]} : {types[held[name]].mlir})" for name in ("offset", "sinks") if name in held)
        options += " logsumexp" if held["logsumexp"] else ""
        return f"{', '.join(names[:3])}{options} scale = {held['scale']}"

    def signature(self, node, types):
        return f"({', '.join(type.mlir for type in types[:3])}) -> {', '.join(type.mlir for type in node.types)}"

    def evaluate(self, node, values, shapes):
        held, (q, k, v, *rest) = node.attributes, values
        kind, shape = held["kind"], q.shape[:-1] + k.shape[-2:-1]
        seen, unsure = np.ones(shape, bool), np.zeros(shape[:-1] + (1,), bool)
        if kind == "mask":
            seen, unsure = seen & rest[0].values, unsure | rest[0].unknown.any(-1, keepdims=True)
        if kind == "causal":
            offset = int(values[held["offset"]].values) if "offset" in held else k.shape[-2] - q.shape[-2]
            behind = np.arange(q.shape[-2])[:, None] + offset - np.arange(k.shape[-2])
            seen = seen & (behind >= 0) & (behind < held.get("window", np.inf))
            unsure = unsure | ("offset" in held and bool(values[held["offset"]].unknown))
        results = attended(q, k, v, seen, held["scale"], rest[0] if kind == "bias" else None,
                           values[held["sinks"]] if "sinks" in held else None)
        return [Num(result.dtype, result.values, np.where(unsure.reshape(unsure.shape[:result.values.ndim]), np.inf, result.error))
                for result in results[:len(shapes)]]


class PagedAttention(Op):
    def draw(self, g):
        query = g.pick_or_none(lambda type: type.rank == 4 and type.dtype in FLOATS) if g.random() < 0.6 else None
        if query is None:
            floats = [dtype for dtype in g.dtypes if dtype in FLOATS] or ["f32"]
            query = g.operand(g.choice(floats), (g.any_dim(), g.choice([1, 2, 4]), g.integer(1, 3), g.choice([1, 4, 8])))
        type = g.types[query]
        batch, heads, queries, width = type.dims
        if any(isinstance(dim, str) or dim == 0 for dim in (heads, width)):
            return None
        groups = g.choice([heads] + [n for n in (1, 2) if heads % n == 0])
        pages, size, out = g.integer(1, 5), g.choice([1, 2, 4, 8]), g.choice([width, width, 3])
        held = [g.operand(type.dtype, (pages, groups, size, last)) for last in (width, out)]
        table = g.operand(g.choice(["i32", "i64"]), (batch, g.integer(1, 4)), small=True)
        lengths = g.operand(g.choice(["i32", "i64"]), (batch,), small=True)
        return ([query, *held, table, lengths], {"scale": g.choice([0.25, 0.5, 1.0])}, [Type(type.dtype, type.dims[:3] + (out,))])

    def body(self, node, names, types):
        return (f"{', '.join(names[:3])} table({names[3]} : {types[3].mlir}) lengths({names[4]} : {types[4].mlir}) "
                f"scale = {node.attributes['scale']}")

    def signature(self, node, types):
        return super().signature(node, types[:3])

    def evaluate(self, node, values, shapes):
        q, k, v, table, lengths = values
        places = table.shape[1] * k.shape[2]
        used = np.arange(places) < lengths.values[:, None]
        last = lengths.values.astype(np.int64)[:, None] - q.shape[2] + np.arange(q.shape[2])
        seen = np.broadcast_to((np.arange(places) <= last[..., None])[:, None], q.shape[:3] + (places,))

        def behind_each_other(x):
            rows = x[np.clip(table.values, 0, len(x) - 1)]  # [B, N, G, S, D]
            return np.moveaxis(rows, 2, 1).reshape(len(rows), x.shape[1], places, x.shape[3])
        k, v = (x.mapped(behind_each_other) for x in (k, v))
        # What is not used yet may be anything.
        k, v = (x.mapped(lambda x: np.where(used[:, None, :, None], x, 0)) for x in (k, v))
        result, _ = attended(q, k, v, seen, node.attributes["scale"])
        unknown = (table.unknown.any(1) | lengths.unknown).reshape(-1, 1, 1, 1)
        return [Num(q.dtype, result.values, np.where(unknown, np.inf, result.error))]


ATTENTION = [Attention("attention", 3), PagedAttention("paged_attention")]
