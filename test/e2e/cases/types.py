"""Element types: ops that move or compare elements with every one of them, norms and the like with every float."""
import numpy as np

from harness import Case, Step, simple
from tensors import DTYPES, FLOATS, Tensor, mlir_type, random


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


def cases():
    for dtype in DTYPES:
        for make in (moves, scattered, compared, variable):
            yield make(dtype)
    for dtype in FLOATS:
        yield norms(dtype)
        yield trained(dtype)
