"""Programs that JAX does not print for CPUs, as text with NumPy's results, for run.py.

Every entry of TEXTS is (name, text, arguments, results).
"""

import json

import numpy as np

from functions import draw, ints

TEXTS = []


def batch_norm(name, kind, arguments, results):
    types = [f"tensor<{'x'.join(map(str, a.shape))}xf32>" for a in arguments]
    outs = [f"tensor<{'x'.join(map(str, r.shape))}xf32>" for r in results]
    values = ", ".join(f"%{i}" for i in range(len(types)))
    names = ", ".join(f"%r#{i}" for i in range(len(outs))) if len(outs) > 1 else "%r"
    count = f":{len(outs)}" if len(outs) > 1 else ""
    text = f"""func.func public @main({", ".join(f"%{i}: {t}" for i, t in enumerate(types))}) -> ({", ".join(outs)}) {{
  %r{count} = "stablehlo.batch_norm_{kind}"({values}) <{{epsilon = 1.0e-03 : f32, feature_index = 1 : i64}}> : ({", ".join(types)}) -> ({", ".join(outs)})
  return {names} : {", ".join(outs)}
}}
"""
    TEXTS.append((name, text, arguments, [np.asarray(r, np.float32) for r in results]))


def spread(value):
    return np.reshape(value, (1, -1, 1))


X, GRADIENT = draw("batch_norm", (3, 4, 5), (3, 4, 5))
SCALE, OFFSET, MEAN = draw("batch_norm_scale", (4,), (4,), (4,))
VARIANCE = draw("batch_norm_variance", (4,), low=0.5)[0]
OWN_MEAN, OWN_VARIANCE = X.mean((0, 2)), X.var((0, 2))


def normalize(mean, variance):
    return (X - spread(mean)) / np.sqrt(spread(variance) + 1e-3)


batch_norm("batch_norm_training", "training", (X, SCALE, OFFSET),
           (normalize(OWN_MEAN, OWN_VARIANCE) * spread(SCALE) + spread(OFFSET), OWN_MEAN, OWN_VARIANCE))
batch_norm("batch_norm_inference", "inference", (X, SCALE, OFFSET, MEAN, VARIANCE),
           (normalize(MEAN, VARIANCE) * spread(SCALE) + spread(OFFSET),))


def batch_norm_gradient():
    """The formula of the specification, in double precision."""
    x, g = X.astype(np.float64), GRADIENT.astype(np.float64)
    centered, deviation = x - spread(OWN_MEAN), np.sqrt(spread(OWN_VARIANCE) + 1e-3)
    count = x.size / 4
    sums, products = g.sum((0, 2)), (g * centered).sum((0, 2))
    rest = count * g - spread(sums) - spread(products) * centered / (spread(OWN_VARIANCE) + 1e-3)
    return spread(SCALE) / deviation / count * rest, (g * centered / deviation).sum((0, 2)), sums


batch_norm("batch_norm_grad", "grad", (X, SCALE, OWN_MEAN, OWN_VARIANCE, GRADIENT), batch_norm_gradient())


def attention(name, mask, config, seen, lengths=()):
    """cuDNN's attention, with positions before heads; `seen` says which keys a query sees."""
    q, k, v = (a.astype(np.float16).astype(np.float32) for a in draw(name, (2, 6, 3, 8), (2, 6, 3, 8), (2, 6, 3, 8)))
    settings = {"fmha_scale": 0.5, "mask_type": mask, "bmm1_dot_dimension_numbers": {"lhs_batch_dimensions": ["0", "2"]}, **config}
    quoted = json.dumps({"cudnn_fmha_backend_config": settings}).replace('"', "\\22")
    heads, result = "tensor<2x6x3x8xf16>", "tensor<2x3x6x8xf16>"
    numbers = "".join(f", %n{i}: tensor<2xi32>" for i in range(len(lengths)))
    text = f"""func.func public @main(%q: {heads}, %k: {heads}, %v: {heads}{numbers}) -> {result} {{
  %r:2 = stablehlo.custom_call @__cudnn$fmhaSoftmax(%q, %k, %v{"".join(f", %n{i}" for i in range(len(lengths)))}) {{backend_config = "{quoted}"}} : ({heads}, {heads}, {heads}{", tensor<2xi32>" * len(lengths)}) -> ({result}, tensor<0xui8>)
  return %r#0 : {result}
}}
"""
    scores = np.where(seen, np.einsum("bqhd,bkhd->bhqk", q, k) * 0.5, -np.inf)
    with np.errstate(invalid="ignore"):
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        weights = np.nan_to_num(weights / weights.sum(-1, keepdims=True))
    wanted = np.einsum("bhqk,bkhd->bhqd", weights, v).astype(np.float16)
    TEXTS.append((name, text, tuple(a.astype(np.float16) for a in (q, k, v)) + tuple(lengths), [wanted]))


ROWS, COLUMNS = np.arange(6)[:, None], np.arange(6)
LENGTHS = np.array([6, 4], np.int32), np.array([5, 3], np.int32)
INSIDE = (ROWS < LENGTHS[0][:, None, None, None]) & (COLUMNS < LENGTHS[1][:, None, None, None])
attention("cudnn_attention", "NO_MASK", {}, np.full((6, 6), True))
attention("cudnn_attention_causal", "CAUSAL", {"sliding_window_length": 3}, (COLUMNS <= ROWS) & (COLUMNS > ROWS - 3))
attention("cudnn_attention_lengths", "PADDING", {}, INSIDE, LENGTHS)


def select_and_scatter():
    """Of integers, where the smallest element of a window gets the product."""
    x, source = ints("select_x", (4, 6), low=-9, high=9) + ints("select_source", (2, 3), low=1, high=9)
    want = np.full_like(x, 2)
    for i in range(2):
        for j in range(3):
            window = x[2 * i:2 * i + 2, 2 * j:2 * j + 2]
            at = np.unravel_index(window.argmin(), window.shape)
            want[2 * i + at[0], 2 * j + at[1]] *= source[i, j]
    text = """func.func public @main(%x: tensor<4x6xi32>, %s: tensor<2x3xi32>) -> tensor<4x6xi32> {
  %two = stablehlo.constant dense<2> : tensor<i32>
  %r = "stablehlo.select_and_scatter"(%x, %s, %two) <{window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %p = stablehlo.compare LE, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }, {
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %m = stablehlo.multiply %a, %b : tensor<i32>
    stablehlo.return %m : tensor<i32>
  }) : (tensor<4x6xi32>, tensor<2x3xi32>, tensor<i32>) -> tensor<4x6xi32>
  return %r : tensor<4x6xi32>
}
"""
    TEXTS.append(("select_and_scatter_integers", text, (x, source), [want]))


def high_product():
    """The high words of products."""
    a, b = (np.array(values, np.int64) for values in ([2**62, -5, 2**40 + 3, -2**63], [12, 7, -2**41, 2**63 - 1]))
    want = np.array([(int(x) * int(y)) >> 64 for x, y in zip(a, b)], np.int64)
    text = """func.func public @main(%a: tensor<4xi64>, %b: tensor<4xi64>) -> tensor<4xi64> {
  %r = chlo.mulhi %a, %b : tensor<4xi64>, tensor<4xi64> -> tensor<4xi64>
  return %r : tensor<4xi64>
}
"""
    TEXTS.append(("mulhi_64", text, (a, b), [want]))


def ragged_dot(name, lists, ragged, group, shapes, sizes, want):
    """A product of `shapes` with groups of `sizes`; `want` makes it of the left operand once for each group, with zeros between them."""
    x, w = draw(name, *shapes)
    names = ("lhs_batching", "rhs_batching", "lhs_contracting", "rhs_contracting")
    dims = ", ".join(f"{kind}_dimensions = {numbers}" for kind, numbers in zip(names, lists))
    types = ", ".join(f"tensor<{'x'.join(map(str, shape))}x{element}>" for shape, element in zip((*shapes, sizes.shape), ("f32", "f32", "i32")))
    ends = sizes.cumsum(-1)
    index = np.arange(x.shape[ragged])
    inside = np.moveaxis((index >= (ends - sizes)[..., None]) & (index < ends[..., None]), -2, 0)  # groups first, the ragged dim last
    result = want(inside, x, w).astype(np.float32)
    kind = f"tensor<{'x'.join(map(str, result.shape))}xf32>"
    x_type, w_type, n_type = types.split(", ")
    text = f"""func.func public @main(%x: {x_type}, %w: {w_type}, %n: {n_type}) -> {kind} {{
  %r = "chlo.ragged_dot"(%x, %w, %n) <{{ragged_dot_dimension_numbers = #chlo.ragged_dot<{dims}, lhs_ragged_dimensions = [{ragged}], rhs_group_dimensions = {group}>}}> : ({types}) -> {kind}
  return %r : {kind}
}}
"""
    TEXTS.append((name, text, (x, w, sizes), [result]))


# Rows in groups, each times a matrix of its own; rows behind the last group are 0.
ragged_dot("ragged_dot_op", ([], [], [1], [1]), 0, [0], ((7, 4), (3, 4, 5)), np.array([2, 0, 3], np.int32),
           lambda inside, x, w: np.einsum("gm,mk,gkn->mn", inside, x, w))
ragged_dot("ragged_dot_batch", ([0], [1], [2], [2]), 1, [0], ((2, 7, 4), (3, 2, 4, 5)), np.array([[2, 0, 3], [1, 6, 0]], np.int32),
           lambda inside, x, w: np.einsum("gbm,bmk,gbkn->bmn", inside, x, w))
ragged_dot("ragged_dot_batch_alike", ([0], [0], [1], [2]), 2, [1], ((2, 4, 7), (2, 3, 4, 5)), np.array([2, 0, 3], np.int32),
           lambda inside, x, w: np.einsum("gm,bkm,bgkn->bmn", inside, x, w))
ragged_dot("ragged_dot_rows_of_rows", ([], [], [2], [1]), 1, [0], ((2, 7, 4), (3, 4, 5)), np.array([[2, 0, 3], [1, 6, 0]], np.int32),
           lambda inside, x, w: np.einsum("gbm,bmk,gkn->bmn", inside, x, w))
# Groups of what is summed up: the gradient to the matrices.
ragged_dot("ragged_dot_sums", ([], [], [0], [0]), 0, [], ((7, 4), (7, 5)), np.array([2, 0, 3], np.int32),
           lambda inside, x, w: np.einsum("gk,km,kn->gmn", inside, x, w))
ragged_dot("ragged_dot_sums_batch", ([0], [0], [2], [1]), 2, [], ((2, 4, 7), (2, 7, 5)), np.array([[2, 0, 3], [1, 6, 0]], np.int32),
           lambda inside, x, w: np.einsum("gbk,bmk,bkn->gbmn", inside, x, w))
# Groups of whole products are all of them.
ragged_dot("ragged_dot_products", ([0], [0], [2], [1]), 0, [], ((3, 4, 6), (3, 6, 5)), np.array([1, 2], np.int32),
           lambda inside, x, w: np.einsum("bmk,bkn->bmn", x, w))


def scan(name, arguments, results, body, attributes=""):
    """`chlo.scan` along dim 1 of one input; `body` gives its slice's and its carry's next values, %y and %c, of %a and %b."""
    x_type, y_type = (f"tensor<{'x'.join(map(str, a.shape))}xf32>" for a in (arguments[0], results[0]))
    part = f"tensor<{len(arguments[1])}xf32>"
    text = f"""func.func public @main(%x: {x_type}, %z: {part}) -> ({y_type}, {part}) {{
  %r:2 = chlo.scan(%x) inits(%z) dimension=1 attributes {{{attributes}}} {{
  ^bb0(%a: {part}, %b: {part}):
{"".join(f"    {line} : {part}{chr(10)}" for line in body)}    stablehlo.return %y, {"%c" if len(body) > 1 else "%y"} : {part}, {part}
  }} : ({x_type}, {part}) -> ({y_type}, {part})
  return %r#0, %r#1 : {y_type}, {part}
}}
"""
    TEXTS.append((name, text, arguments, results))


def scans():
    x, z = draw("scan", (2, 6), (2,))
    sums = x.cumsum(1) + z[:, None]
    scan("scan_sums", (x, z), [sums, sums[:, -1]], ["%y = stablehlo.add %a, %b", "%c = stablehlo.add %a, %b"])
    greatest = np.maximum(np.maximum.accumulate(x[:, ::-1], 1)[:, ::-1], z[:, None])
    scan("scan_maxima", (x, z), [greatest, greatest[:, 0]], ["%y = stablehlo.maximum %b, %a"],
         "is_reverse = true, is_associative = true")
    states = [z]
    for i in range(5, -1, -1):
        states.append(x[:, i] * states[-1] + x[:, i])
    scan("scan_filter", (x, z), [np.stack([np.sin(state) for state in states[:0:-1]], 1), states[-1]],
         ["%m = stablehlo.multiply %a, %b", "%c = stablehlo.add %m, %a", "%y = stablehlo.sine %c"], "is_reverse = true")


select_and_scatter()
high_product()
scans()
