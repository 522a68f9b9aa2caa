"""Gradients of functions with attention, over blocks of queries where scores are many, against derivatives written out."""
import numpy as np

from harness import Case, Step, function
from tensors import Tensor, random


def attention_gradients(q, k, v, d, scale, mask=None, causal=False, window=None, sinks=None, offset=None, to_logsumexp=None, softcap=None):
    """Of grouped attention: [B, H, Q, D], [B, G, K, D]; of a mask that is added, too. `to_logsumexp`: the cotangent of its logsumexp."""
    shared = q.shape[1] // k.shape[1]
    wide_k, wide_v = k.repeat(shared, 1), v.repeat(shared, 1)
    scores = q @ wide_k.swapaxes(2, 3) * scale
    tangent = np.tanh(scores / softcap) if softcap else 0
    scores = softcap * tangent if softcap else scores
    is_added = mask is not None and mask.dtype != bool
    if mask is not None:
        scores = scores + mask if is_added else np.where(mask, scores, -np.inf)
    queries, keys = scores.shape[2:]
    if causal:
        distance = np.arange(queries)[:, None] + (keys - queries if offset is None else offset) - np.arange(keys)
        scores = np.where((distance >= 0) & (distance < (window or keys + queries)), scores, -np.inf)
    extra = np.full((1, 1, 1, 1), -np.inf) if sinks is None else sinks[:, None, None]
    most = np.maximum(scores.max(-1, keepdims=True, initial=-np.inf), extra)
    most = np.where(np.isinf(most), 0, most)
    power, sink = np.exp(scores - most), np.exp(extra - most)
    total = power.sum(-1, keepdims=True) + sink
    total = np.where(total == 0, 1, total)
    share = power / total
    to_share = d @ wide_v.swapaxes(2, 3)
    row = (share * to_share).sum(-1, keepdims=True) - (0 if to_logsumexp is None else to_logsumexp[..., None])
    to_scores = share * (to_share - row)
    group = lambda x: x.reshape(*k.shape[:2], shared, *x.shape[2:]).sum(2)  # noqa: E731
    to_products = to_scores * (1 - tangent**2) * scale
    found = [to_products @ wide_k, group(to_products.swapaxes(2, 3) @ q), group(share.swapaxes(2, 3) @ d)]
    if is_added:
        lead = to_scores.ndim - mask.ndim
        found.append(to_scores.sum(tuple(i for i in range(4) if i < lead or mask.shape[i - lead] == 1), keepdims=True).reshape(mask.shape))
    return found if sinks is None else found + [-(sink / total * row).sum((0, 2, 3))]


def attention_blocks_of_known_sizes():
    """More scores than 32 parts of the queries may hold: the attention and its gradient are loops over blocks, of queries, and where keys
    are hidden and a block of 64 queries and 64 keys may be held, of queries and keys."""
    rows, squares = (4, 140, 130, 2048), (2, 365, 370, 8192)
    for name, options, (heads, n, m, most), mask, has_sinks, more in (
            ("plain", "", rows, None, False, {}), ("hidden", "", rows, "i1", False, {}), ("masked", "", rows, "f32", True, {}),
            ("causal_rows", "causal", rows, None, False, dict(causal=True)),
            ("causal", "causal", squares, None, False, dict(causal=True)),
            ("window", "causal window = 40", squares, None, False, dict(causal=True, window=40)),
            ("causal_masked", "causal", squares, "f32", True, dict(causal=True))):
        q, d = (random("f32", (1, heads, n, 8), n + seed, -1, 1) for seed in (1, 2))
        k, v = (random("f32", (1, heads // 2, m, 8), m + seed, -1, 1) for seed in (3, 4))
        given, clauses, added, sinks = [("%q", q), ("%k", k), ("%v", v)], options, None, None
        if mask:
            b = random("f32", (n, m), 5, -1, 1)
            added = b.values if mask == "f32" else np.where(b.values > 0, 0, -np.inf)
            b = b if mask == "f32" else Tensor("i1", b.values > 0)
            given.append(("%b", b))
            clauses = f"mask(%b : {b.mlir}) {clauses}"
        if has_sinks:
            sinks = random("f32", (heads,), 6, -1, 1)
            given.append(("%s", sinks))
            clauses += f" sinks(%s : {sinks.mlir})"
        wanted = attention_gradients(*(t.values for t in (q, k, v, d)), 0.5, added, sinks=sinks.values if has_sinks else None, **more)
        if mask == "i1":
            wanted = wanted[:3]
        text = function("", [(value, t.mlir) for value, t in given], [("%r", q.mlir)],
                        f"    %r = array.attention %q, %k, %v {clauses} scale = 0.5 {{array.max_scores = {most} : i64}} : "
                        f"({q.mlir}, {k.mlir}, {k.mlir}) -> {q.mlir}")
        step = Step([t for _, t in given] + [d], [("f32", g) for g in wanted], "_vjp")
        yield Case(f"attention_known_blocks_{name}", text, [step], "model", gradients=("",))


def attention_blocks():
    """Gradients of attention over lengths that are bound later, at once, in blocks of queries, and where keys are hidden in blocks of
    queries and keys."""
    query, key = "tensor<?x4x?x8xf32>", "tensor<?x2x?x8xf32>"
    arguments = [("%q", query + ' {array.dims = ["b", "", "n", ""]}'), ("%k", key + ' {array.dims = ["b", "", "m", ""]}'),
                 ("%v", key + ' {array.dims = ["b", "", "m", ""]}')]
    result = [("%r", query)]
    most = "{array.max_scores = 4096 : i64}"
    shapes = ((1, 3, 5), (1, 70, 70), (2, 200, 150), (1, 300, 310), (1, 64, 200), (1, 1, 2000))
    for name, options, more in (("plain", "", {}), ("causal", "causal", dict(causal=True)),
                                ("window", "causal window = 40", dict(causal=True, window=40))):
        steps = []
        if more:
            most = "{array.max_scores = 16384 : i64}"
        for batch, n, m in shapes:
            if batch * n * m > 50000 and name == "window":
                continue
            q, d = (random("f32", (batch, 4, n, 8), n + seed, -1, 1) for seed in (1, 2))
            k, v = (random("f32", (batch, 2, m, 8), m + seed, -1, 1) for seed in (3, 4))
            wanted = attention_gradients(*(t.values for t in (q, k, v, d)), 0.5, **more)
            steps.append(Step([q, k, v, d], [("f32", g) for g in wanted], "_vjp"))
        text = function("", arguments, result, f"    %r = array.attention %q, %k, %v {options} scale = 0.5 {most} : ({query}, {key}, {key}) -> {query}")
        yield Case(f"attention_blocks_{name}", text, steps, "model", gradients=("",))
    yield from attention_blocks_of_known_sizes()
    sink, dims = "tensor<4xf32>", {size: f' {{array.dims = ["b", "", "{size}", ""]}}' for size in "nm"}
    for causal, dtype in (("", "f32"), ("causal", "f32"), ("causal", "f16")):
        query, key, mask = (f"tensor<{shape}x{dtype}>" for shape in ("?x4x?x8", "?x2x?x8", "?x?"))
        steps = []
        for batch, n, m in ((1, 3, 4), (2, 130, 70), (1, 90, 100)):
            q, d = (random(dtype, (batch, 4, n, 8), n + seed, -1, 1) for seed in (1, 2))
            k, v = (random(dtype, (batch, 2, m, 8), m + seed, -1, 1) for seed in (3, 4))
            b, s = random(dtype, (n, m), 5, -1, 1), random("f32", (4,), 6, -1, 1)
            wanted = attention_gradients(*(t.values for t in (q, k, v, d)), 0.5, b.values, sinks=s.values, causal=bool(causal))
            steps.append(Step([q, k, v, b, s, d], [(t.dtype, g) for t, g in zip((q, k, v, b, s), wanted)], "_vjp"))
        text = function("", [("%q", query + dims["n"]), ("%k", key + dims["m"]), ("%v", key + dims["m"]),
                             ("%b", mask + ' {array.dims = ["n", "m"]}'), ("%s", sink)], [("%r", query)],
                        f"    %r = array.attention %q, %k, %v mask(%b : {mask}) {causal} sinks(%s : {sink}) scale = 0.5 {most} : ({query}, {key}, {key}) -> {query}")
        yield Case(f"attention_blocks_{causal}masked" + ("_f16" if dtype == "f16" else ""), text, steps, "model", gradients=("",))
        if dtype != "f32":
            continue
        # Sizes that must be equal, and are symbols of their own.
        query, key = "tensor<?x4x?x?xf32>", "tensor<?x2x?x?xf32>"
        text = function("", [("%q", query), ("%k", key), ("%v", key), ("%b", mask), ("%s", sink)], [("%r", query)],
                        f"    %r = array.attention %q, %k, %v mask(%b : {mask}) {causal} sinks(%s : {sink}) scale = 0.5 {most} : ({query}, {key}, {key}) -> {query}")
        yield Case(f"attention_blocks_{causal}apart", text, steps, "model", gradients=("",))


def cases():
    yield from attention_blocks()
