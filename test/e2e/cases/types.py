"""Element types: ops that move or compare elements with every one of them, arithmetic with every integer, norms and the like with every
float."""
import numpy as np

from cases.functions import cubic_weights
from harness import Case, Step, simple
from tensors import DTYPES, FLOATS, INTEGERS, NUMPY, Tensor, mlir_type, random

NUMBERS = INTEGERS + FLOATS
FOLDS = {"sum": np.add, "prod": np.multiply, "max": np.maximum, "min": np.minimum, "and": np.bitwise_and, "or": np.bitwise_or}


class Body:
    """Collects the results of a function of several ops."""

    def __init__(self, *inputs):
        self.inputs, self.outputs, self.lines = list(inputs), [], []

    def add(self, text, dtype, values):
        """`text` is an op without its result type."""
        values = np.asarray(values)
        self.lines.append(f"%r{len(self.outputs)} = {text} -> {mlir_type(dtype, values.shape)}")
        self.outputs.append((dtype, values))

    def case(self, name, kind="exact"):
        return simple(name, self.inputs, self.outputs, "\n".join(self.lines), kind)


def small(dtype, shape, seed, high=9):
    """Numbers whose products are small, and which come more than once."""
    return random(dtype, shape, seed, 0 if dtype.startswith("u") else -high, high)


def moves(dtype):
    x, y, v = random(dtype, (5, 7), 1), random(dtype, (5, 4), 2), random(dtype, (), 3)
    rows, mask, start = Tensor("i32", [4, 0, 3]), random("i1", (5, 7), 4), Tensor("i64", 2)
    columns = Tensor("u8", random("u8", (5, 3), 5, 0, 7).values)
    points = Tensor("i16", [[1, 6], [4, 0]])
    body = Body(x, y, v, rows, mask, start, columns, points)
    a, b, s = x.values, y.values, v.values
    t = f"({x.mlir}"
    body.add(f"array.concatenate %0, %1 axis = 1 : {t}, {y.mlir})", dtype, np.concatenate([a, b], 1))
    spread = np.full((10, 9), s)
    spread[1:10:2, 1:8] = a
    body.add(f"array.pad %0, %2 low = [1, 1] high = [0, 1] interior = [1, 0] : {t}, {v.mlir})", dtype, spread)
    body.add(f"array.slice %0 [1:5:2, 2:7] : {x.mlir}", dtype, a[1:5:2, 2:7])
    body.add(f"array.reverse %0 axes = [0, 1] : {x.mlir}", dtype, a[::-1, ::-1])
    body.add(f"array.transpose %0 permutation = [1, 0] : {x.mlir}", dtype, a.T)
    body.add(f"array.reshape %0 : {x.mlir}", dtype, a.reshape(7, 5))
    body.add(f"array.broadcast_in_dim %0 axes = [0, 2] : {x.mlir}", dtype, np.broadcast_to(a[:, None], (5, 3, 7)))
    body.add(f"array.take %0[%3] axis = 0 : {t}, {rows.mlir})", dtype, a[rows.values])
    body.add(f"array.take_along_axis %0[%6] axis = 1 : {t}, {columns.mlir})", dtype,
             np.take_along_axis(a, columns.values.astype(np.int64), 1))
    body.add(f"array.gather %0[%7] axes = [0, 1] : {t}, {points.mlir})", dtype, a[points.values[:, 0], points.values[:, 1]])
    body.add(f"array.select %4, %0, %2 : ({mask.mlir}, {x.mlir}, {v.mlir})", dtype, np.where(mask.values, a, s))
    body.add(f"array.dynamic_slice %0[%5, %5] : {t}, {start.mlir}, {start.mlir})", dtype, a[2:5, 2:6])
    updated = a.copy()
    updated[0:5, 2:6] = b
    body.add(f"array.dynamic_update_slice %0[%5, %5] = %1 : {t}, {y.mlir}, {start.mlir}, {start.mlir})", dtype, updated)
    return body.case(f"moves_{dtype}")


def scattered(dtype):
    x, u, index = random(dtype, (6, 5), 6), random(dtype, (3, 5), 7), Tensor("u16", [[4], [9], [1]])
    result = x.values.copy()
    result[[4, 1]] = u.values[[0, 2]]
    body = Body(x, u, index)
    body.add(f"array.scatter set, %0[%2] axes = [0] = %1 unique : ({x.mlir}, {index.mlir}, {u.mlir})", dtype, result)
    return body.case(f"scatter_{dtype}")


def compared(dtype):
    x, y = random(dtype, (4, 9), 8), random(dtype, (9,), 9)
    body = Body(x, y)
    # Some are equal.
    x.values[:, ::3] = y.values[::3]
    a, b = x.values, y.values
    for direction, function in (("eq", np.equal), ("ne", np.not_equal), ("lt", np.less), ("le", np.less_equal), ("gt", np.greater),
                                ("ge", np.greater_equal)):
        body.add(f"array.compare {direction}, %0, %1 : ({x.mlir}, {y.mlir})", "i1", function(a, b))
    if dtype != "i1":
        for op, function in (("max", np.maximum), ("min", np.minimum)):
            body.add(f"array.{op} %0, %1 : ({x.mlir}, {y.mlir})", dtype, function(a, b))
        low, high = np.minimum(a, b), np.maximum(a, b)
        body.add(f"array.clamp %1, %0, %1 : ({y.mlir}, {x.mlir}, {y.mlir})", dtype, np.broadcast_to(b, a.shape))
        body.lines += [f"%low = array.min %0, %1 : ({x.mlir}, {y.mlir}) -> {x.mlir}", f"%high = array.max %0, %1 : ({x.mlir}, {y.mlir}) -> {x.mlir}"]
        body.add(f"array.clamp %low, %1, %high : ({x.mlir}, {y.mlir}, {x.mlir})", dtype, np.minimum(np.maximum(low, b), high))
        for kind in ("max", "min"):
            body.add(f"array.reduce {kind}, %0 axes = [1] : {x.mlir}", dtype, getattr(a, kind)(1))
    return body.case(f"compare_{dtype}")


def variable(dtype):
    first, second = random(dtype, (3, 5), 10), random(dtype, (3, 5), 11)
    type = first.mlir
    zero = "false" if dtype == "i1" else "0.0" if dtype in FLOATS else "0"
    text = f"""  array.variable @NAME_v : {type} = dense<{zero}>
  func.func @NAME(%x: {type}) -> ({type}) {{
    %old = array.variable.read @NAME_v : {type}
    array.variable.assign @NAME_v, %x : {type}
    return %old : {type}
  }}
"""
    return Case(f"variable_{dtype}", text, [Step([first], [(dtype, np.zeros((3, 5)))]), Step([second], [(dtype, first.values)]),
                                            Step([first], [(dtype, second.values)])], "exact")


def norms(dtype):
    x, scale, bias, mean = random(dtype, (6, 3, 8), 12), *(random(dtype, (8,), seed) for seed in (13, 14, 15))
    variance = random(dtype, (8,), 16, 0.5, 2)
    body = Body(x, scale, bias, mean, variance)
    a, s, b, v = x.values, scale.values, bias.values, mean.mlir

    def normed(a, axes):
        return (a - a.mean(axes, keepdims=True)) / np.sqrt(a.var(axes, keepdims=True) + 0.1)
    body.add(f"array.batch_norm_inference %0, %1, %2, %3, %4 axis = 2 epsilon = 0.1 : ({x.mlir}, {v}, {v}, {v}, {v})", dtype,
             (a - mean.values) / np.sqrt(variance.values + 0.1) * s + b)
    body.add(f"array.group_norm %0, %1, %2 axis = 2 groups = 2 epsilon = 0.1 : ({x.mlir}, {v}, {v})", dtype,
             normed(a.reshape(6, 3, 2, 4), (1, 3)).reshape(a.shape) * s + b)
    for op, function in (("logsumexp", lambda a: np.log(np.exp(a).sum(1))), ("var", lambda a: a.var(1))):
        body.add(f"array.{op} %0 axes = [1] : {x.mlir}", dtype, function(a))
    for mode, corners in (("nearest", False), ("linear", True)):
        at = np.arange(5) * (2 / 4) if corners else (np.arange(5) + 0.5) * 3 / 5 - 0.5
        low = np.clip(np.floor(at if corners else at + 0.5).astype(int), 0, 2)
        part = (at - low)[:, None] if corners else 0.0
        resized = a[:, low] * (1 - part) + a[:, np.minimum(low + 1, 2)] * part
        body.add(f"array.resize {mode}, %0 axes = [1] sizes = [5]{' align_corners' * corners} : {x.mlir}", dtype, resized)
    return body.case(f"norms_{dtype}", "composite")


def trained(dtype):
    x, scale, bias = random(dtype, (9, 4), 17), random(dtype, (4,), 18), random(dtype, (4,), 19)
    mean, variance = x.values.mean(0), x.values.var(0)
    v = scale.mlir
    return simple(f"batch_norm_training_{dtype}", [x, scale, bias],
                  [(dtype, (x.values - mean) / np.sqrt(variance + 0.1) * scale.values + bias.values), (dtype, mean), (dtype, variance)],
                  f"%r0, %r1, %r2 = array.batch_norm_training %0, %1, %2 axis = 1 epsilon = 0.1 : ({x.mlir}, {v}, {v}) -> ({x.mlir}, {v}, {v})",
                  "composite")


def rearranged(dtype):
    x = random(dtype, (4, 6), 20)
    x.values[1, ::2] = 0
    a, body = x.values, Body(x)
    for op in ("tril", "triu"):
        body.add(f"array.{op} %0 : {x.mlir}", dtype, getattr(np, op)(a))
    body.add(f"array.roll %0 shifts = [2] axes = [1] : {x.mlir}", dtype, np.roll(a, 2, 1))
    body.add(f"array.repeat %0 repeats = 3 axis = 1 : {x.mlir}", dtype, np.repeat(a, 3, 1))
    body.add(f"array.tile %0 repeats = [2, 3] : {x.mlir}", dtype, np.tile(a, (2, 3)))
    body.add(f"array.diagonal %0 offset = 1 : {x.mlir}", dtype, np.diagonal(a, 1))
    body.add(f"array.diag %0 offset = 0 : {x.mlir}", dtype, a[:, :, None] * np.eye(6, dtype=a.dtype))
    body.lines.append(f"%wide = array.expand_dims %0 axes = [1] : {x.mlir} -> {mlir_type(dtype, (4, 1, 6))}")
    body.add(f"array.squeeze %wide axes = [1] : {mlir_type(dtype, (4, 1, 6))}", dtype, a)
    return body.case(f"rearranged_{dtype}")


def chosen(dtype):
    """Elements that truth values choose."""
    x, mask, rows = random(dtype, (4, 6), 21), random("i1", (4, 6), 22), Tensor("i1", [True, False, True, True])
    x.values[1, ::2] = 0
    a, source, zero = x.values, random(dtype, (24,), 23), Tensor(dtype, np.zeros(()))
    filled, kept = a.copy(), np.zeros_like(a)
    filled[mask.values] = source.values[:mask.values.sum()]
    kept[:3] = a[rows.values]
    places, found = np.full((24, 2), -1), np.argwhere(a)
    places[:len(found)] = found
    some = mlir_type(dtype, (None, 6))
    text = f"""%r0, %r1 = array.nonzero %0 size = 24 : {x.mlir} -> tensor<24x2xi32>, tensor<i32>
        %r2 = array.masked_scatter %0, %1, %3 : ({x.mlir}, {mask.mlir}, {source.mlir}) -> {x.mlir}
        %some = array.compress %0, %2 axis = 0 : ({x.mlir}, {rows.mlir}) -> {some}
        %r3 = array.pad_to_bound %some, %4 : ({some}, {zero.mlir}) -> {x.mlir}
        %row = array.slice %0 [1:2, :] : {x.mlir} -> {mlir_type(dtype, (1, 6))}
        %more = array.append %some, %row axis = 0 : ({some}, {mlir_type(dtype, (1, 6))}) -> {some}
        %r6 = array.pad_to_bound %more, %4 : ({some}, {zero.mlir}) -> {x.mlir}
        %r4, %r5 = array.split %0 axis = 1 parts = [4, 2] : {x.mlir} -> {mlir_type(dtype, (4, 4))}, {mlir_type(dtype, (4, 2))}"""
    outputs = [("i32", places), ("i32", len(found)), (dtype, filled), (dtype, kept), (dtype, a[:, :4]), (dtype, a[:, 4:]),
               (dtype, np.concatenate([a[rows.values], a[1:2]]))]
    return simple(f"chosen_{dtype}", [x, mask, rows, source, zero], outputs, text, "exact")


def combined(dtype):
    """Scatters of each kind, to places some of which come twice: the last update stays."""
    x, index, updates = small(dtype, (4, 6), 24, 5), Tensor("i32", [[1], [3], [1]]), small(dtype, (3, 6), 25, 5)
    body = Body(x, index, updates)
    for kind, ufunc in (("add", np.add), ("mul", np.multiply), ("max", np.maximum), ("min", np.minimum), ("set", lambda old, new: new)):
        result = x.values.copy()
        for row, update in zip(index.values[:, 0], updates.values):
            result[row] = ufunc(result[row], update)
        body.add(f"array.scatter {kind}, %0[%1] axes = [0] = %2 : ({x.mlir}, {index.mlir}, {updates.mlir})", dtype, result)
    return body.case(f"scatter_kinds_{dtype}", "sum")


def found(dtype):
    """Places of extrema, of edges and of what has a rank."""
    x, edges = small(dtype, (5, 33), 26, 50), Tensor(dtype, np.sort(small(dtype, (20,), 27, 50).values))
    body = Body(x, edges)
    for op in ("argmax", "argmin"):
        for axis, result in ((1, "i32"), (0, "i64")):
            body.add(f"array.{op} %0 axis = {axis} : {x.mlir}", result, getattr(np, op)(x.values, axis))
    body.add(f"array.searchsorted %1, %0 : ({edges.mlir}, {x.mlir})", "i32", np.searchsorted(edges.values, x.values))
    # The smallest in order: as the order of the others is open, they are cut off.
    body.lines.append(f"%part = array.partition %0 kth = 3 axis = 1 : {x.mlir} -> {x.mlir}")
    body.add(f"array.slice %part [:, 3:4] : {x.mlir}", dtype, np.sort(x.values, 1)[:, 3:4])
    return body.case(f"found_{dtype}")


def arithmetic(dtype):
    x, y, power = small(dtype, (3, 11), 28), small(dtype, (3, 11), 29), random(dtype, (3, 11), 30, 0, 4)
    y.values[y.values == 0] = 3
    a, b, body = x.values, y.values, Body(x, y, power)
    for op, function in (("abs", np.abs), ("sign", np.sign), ("square", np.square), ("relu", lambda a: np.maximum(a, 0)),
                         ("neg", np.negative), ("bitwise_not", np.invert)):
        body.add(f"array.{op} %0 : {x.mlir}", dtype, function(a).astype(a.dtype))
    quotient = np.sign(a) * np.sign(b) * (np.abs(a) // np.abs(b))
    for op, result in (("add", a + b), ("sub", a - b), ("mul", a * b), ("and", a & b), ("or", a | b), ("xor", a ^ b), ("div", quotient),
                       ("rem", a - quotient * b)):
        body.add(f"array.{op} %0, %1 : ({x.mlir}, {y.mlir})", dtype, result)
    product = np.ones_like(a)
    for i in range(3):
        product = np.where(i < power.values, product * a, product)
    body.add(f"array.pow %0, %2 : ({x.mlir}, {power.mlir})", dtype, product)
    body.add(f"array.one_hot %2 depth = 5 : {power.mlir}", "f32", np.eye(5)[power.values.astype(np.int64)])
    other = ("u" if dtype[0] == "i" else "i") + dtype[1:]
    body.add(f"array.bitcast %0 : {x.mlir}", other, a.view(NUMPY[other]))
    return body.case(f"arithmetic_{dtype}")


def folded(dtype):
    x = small(dtype, (4, 9), 31)
    body, windows = Body(x), np.lib.stride_tricks.sliding_window_view(x.values, 3, 1)
    for kind, ufunc in FOLDS.items():
        if kind in ("and", "or") and dtype in FLOATS:
            continue
        body.add(f"array.reduce {kind}, %0 axes = [1] : {x.mlir}", dtype, ufunc.reduce(x.values, 1, dtype=x.values.dtype))
        body.add(f"array.reduce_window {kind}, %0 window = [1, 3] : {x.mlir}", dtype, ufunc.reduce(windows, -1, dtype=x.values.dtype))
    return body.case(f"folded_{dtype}", "sum")


def products(dtype):
    x, w = small(dtype, (7, 12), 32, 5), small(dtype, (12, 10), 33, 5)
    image, filter = small(dtype, (1, 6, 3), 34, 5), small(dtype, (3, 3, 4), 35, 5)
    type = x.values.dtype
    exact = np.int64 if dtype in INTEGERS else np.float64
    body = Body(x, w, image, filter)
    product = (x.values.astype(exact) @ w.values.astype(exact)).astype(type)
    body.add(f"array.matmul %0, %1 : ({x.mlir}, {w.mlir})", dtype, product)
    body.add(f"array.dot_general %1, %0 batch = [] x [] contract = [0] x [1] : ({w.mlir}, {x.mlir})", dtype, product.T)
    windows = np.lib.stride_tricks.sliding_window_view(image.values[0].astype(exact), 3, 0)
    body.add(f"array.conv %2, %3 dims = <[b, 0, f] x [0, i, o] -> [b, 0, f]> : ({image.mlir}, {filter.mlir})", dtype,
             np.einsum("pik,kio->po", windows, filter.values.astype(exact))[None].astype(type))
    return body.case(f"products_{dtype}", "sum")


def grouped(dtype):
    wide = np.float64 if dtype in FLOATS else np.int64
    rows, matrices, counts = small(dtype, (5, 8), 50), small(dtype, (2, 8, 4), 51), Tensor("i64", [2, 3])
    a, w = rows.values.astype(wide), matrices.values.astype(wide)
    body = Body(rows, matrices, counts)
    body.add(f"array.grouped_matmul %0, %1, %2 : ({rows.mlir}, {matrices.mlir}, {counts.mlir})", dtype, np.concatenate([a[:2] @ w[0], a[2:] @ w[1]]))
    return body.case(f"grouped_{dtype}", "sum")


def made(dtype):
    """Values that come from no operand of their type."""
    x, element = random(dtype, (5, 3), 52), mlir_type(dtype, ())
    point = ".0" if dtype in FLOATS else ""
    return simple(f"made_{dtype}", [x], [(dtype, np.tile(np.arange(7), (3, 1))), (dtype, np.array([1, 2, 3])), (dtype, np.array(5))], f"""
      %n = array.dim %0, 0 : {mlir_type(dtype, (5, 3)).replace("5x3", "?x3")}
      %r0 = array.iota axis = 1 : {mlir_type(dtype, (3, 7))}
      %r1 = array.constant dense<[1{point}, 2{point}, 3{point}]> : {mlir_type(dtype, (3,))}
      %r2 = array.from_index %n : {element}""", "exact", types=[x.mlir.replace("5x3", "?x3")])


def decided(dtype):
    x, condition = random(dtype, (5, 3), 53), Tensor("i1", np.array(False))
    return simple(f"decided_{dtype}", [condition, x], [(dtype, x.values)], f"""
      %r0 = array.if %0 : tensor<i1> -> ({x.mlir}) {{
        %a = array.add %1, %1 : {x.mlir}
        array.yield %a : {x.mlir}
      }} else {{
        array.yield %1 : {x.mlir}
      }}""", "exact")


def looped(dtype):
    """A loop that carries elements."""
    x, rounds = random(dtype, (4, 6), 54), Tensor("i32", 3)
    return simple(f"looped_{dtype}", [x, rounds], [(dtype, np.roll(x.values, 3, 1))], f"""
      %zero = array.constant dense<0> : tensor<i32>
      %one = array.constant dense<1> : tensor<i32>
      %n, %r0 = array.while %zero, %0 : (tensor<i32>, {x.mlir}) -> (tensor<i32>, {x.mlir}) condition {{
      ^bb0(%i: tensor<i32>, %v: {x.mlir}):
        %more = array.compare lt, %i, %1 : (tensor<i32>, tensor<i32>) -> tensor<i1>
        array.yield %more : tensor<i1>
      }} body {{
      ^bb0(%i: tensor<i32>, %v: {x.mlir}):
        %next = array.add %i, %one : tensor<i32>
        %w = array.roll %v shifts = [1] axes = [1] : {x.mlir} -> {x.mlir}
        array.yield %next, %w : tensor<i32>, {x.mlir}
      }}""", "exact")


def bounded(dtype):
    """Elements before a runtime size."""
    x, count, zero = random(dtype, (5, 4), 55), Tensor("i32", 3), Tensor(dtype, np.zeros(()))
    some, kept = mlir_type(dtype, (None, 4)), x.values.copy()
    kept[3:] = 0
    return simple(f"bounded_{dtype}", [x, count, zero], [(dtype, kept), ("i64", 3), (dtype, kept)], f"""
      %some = array.set_extent %0, %1 axis = 0 : ({x.mlir}, {count.mlir}) -> {some}
      %r1 = array.extent %some, 0 : {some} -> tensor<i64>
      %r0 = array.pad_to_bound %some, %2 : ({some}, {zero.mlir}) -> {x.mlir}
      %n = array.convert %1 : tensor<i32> -> tensor<i64>
      %i = array.iota axis = 0 : tensor<5x4xi64>
      %m = array.compare lt, %i, %n : (tensor<5x4xi64>, tensor<i64>) -> tensor<5x4xi1>
      %w = array.within %0, %n axis = 0 : {x.mlir}, tensor<i64>
      %r2 = array.select %m, %w, %2 : (tensor<5x4xi1>, {x.mlir}, {zero.mlir}) -> {x.mlir}""", "exact")


def positions(dtype):
    queries, keys = Tensor("i32", [0, 3, 9]), Tensor("i32", [1, 5])
    slopes, places = 2.0 ** (-2 * np.arange(1, 5)), queries.values[:, None]
    angles = places * 1e4 ** (-np.arange(4) / 4)
    body = Body(queries, keys)
    body.add(f"array.alibi %0, %1 heads = 4 : ({queries.mlir}, {keys.mlir})", dtype, -slopes[:, None, None] * np.abs(places - keys.values))
    body.add(f"array.sinusoidal %0 size = 8 base = 1.0e4 : {queries.mlir}", dtype, np.concatenate([np.sin(angles), np.cos(angles)], 1))
    return body.case(f"positions_{dtype}", "composite")


def floats(dtype):
    x, scale, special = random(dtype, (5, 24), 36), random(dtype, (24,), 37), Tensor(dtype, [1, np.nan, np.inf, -np.inf, 0])
    rows, matrices, counts = random(dtype, (6, 8), 38), random(dtype, (2, 8, 5), 39), Tensor("i32", [4, 2])
    body = Body(x, scale, special, rows, matrices, counts)
    a, s = x.values, scale.values
    body.add(f"array.is_nan %2 : {special.mlir}", "i1", np.isnan(special.values))
    body.add(f"array.is_finite %2 : {special.mlir}", "i1", np.isfinite(special.values))
    bits = {"f16": "u16", "bf16": "i16", "f32": "u32", "f64": "i64"}[dtype]
    body.add(f"array.bitcast %1 : {scale.mlir}", bits, np.frombuffer(scale.encode(), NUMPY[bits]))
    for op in ("argmax", "argmin"):
        body.add(f"array.{op} %2 axis = 0 : {special.mlir}", "i32", 1)
    normed = (a - a.mean(1, keepdims=True)) / np.sqrt(a.var(1, keepdims=True) + 0.1) * s + s
    body.add(f"array.layer_norm %0 scale(%1 : {scale.mlir}) bias(%1 : {scale.mlir}) axis = 1 epsilon = 0.1 : {x.mlir}", dtype, normed)
    body.add(f"array.rms_norm %0 scale(%1 : {scale.mlir}) axis = 1 epsilon = 0.1 : {x.mlir}", dtype,
             a / np.sqrt(np.square(a).mean(1, keepdims=True) + 0.1) * s)
    resized = np.stack([sum(a[:, place] * weight for place, weight in cubic_weights((o + 0.5) * 4 - 0.5, 24)) for o in range(6)], 1)
    body.add(f"array.resize cubic, %0 axes = [1] sizes = [6] : {x.mlir}", dtype, resized)
    body.add(f"array.grouped_matmul %3, %4, %5 : ({rows.mlir}, {matrices.mlir}, {counts.mlir})", dtype,
             np.concatenate([rows.values[:4] @ matrices.values[0], rows.values[4:] @ matrices.values[1]]))
    return body.case(f"floats_{dtype}", "sum")


def cases():
    for dtype in INTEGERS:
        yield arithmetic(dtype)
    for dtype in NUMBERS:
        for make in (found, combined, folded, products, made, decided):
            yield make(dtype)
        if dtype not in ("i8", "u8"):  # as matmul: sums of bytes are i32
            yield grouped(dtype)
    for dtype in DTYPES:
        for make in (rearranged, chosen, looped, bounded):
            yield make(dtype)
    for dtype in FLOATS:
        yield floats(dtype)
        yield positions(dtype)
    for dtype in DTYPES:
        for make in (moves, scattered, compared, variable):
            yield make(dtype)
    for dtype in FLOATS:
        yield norms(dtype)
        yield trained(dtype)
