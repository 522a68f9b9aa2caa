"""Gather, scatter and what is made of them."""
import numpy as np

from harness import simple
from tensors import Tensor, mlir_type, random


def takes():
    for dtype in ("f32", "bf16", "i64"):
        table = random(dtype, (50, 13), 1)
        index = Tensor("i32", random("i32", (4, 7), 2, 0, 50).values)
        yield simple(f"take_rows_{dtype}", [table, index], [(dtype, table.values[index.values])],
                     f"%r0 = array.take %0[%1] axis = 0 : ({table.mlir}, {index.mlir}) -> {mlir_type(dtype, (4, 7, 13))}", "exact")
    table = random("f32", (6, 20, 5), 3)
    for axis in (0, 1, 2):
        index = Tensor("i64", random("i64", (9,), 4, 0, table.shape[axis]).values)
        result = np.take(table.values, index.values, axis)
        yield simple(f"take_axis{axis}", [table, index], [("f32", result)],
                     f"%r0 = array.take %0[%1] axis = {axis} : ({table.mlir}, {index.mlir}) -> {mlir_type('f32', result.shape)}", "exact")
    x, index = random("f32", (5,), 5), Tensor("i32", [-3, 0, 4, 5, 99])
    yield simple("take_clamps", [x, index], [("f32", x.values[[0, 0, 4, 4, 4]])],
                 f"%r0 = array.take %0[%1] axis = 0 : ({x.mlir}, {index.mlir}) -> tensor<5xf32>", "exact")
    index = Tensor("i32", 2)
    table = random("f32", (4, 9), 6)
    yield simple("take_scalar", [table, index], [("f32", table.values[2])],
                 f"%r0 = array.take %0[%1] axis = 0 : ({table.mlir}, tensor<i32>) -> tensor<9xf32>", "exact")
    index = random("i32", (8, 1), 7, 0, 10)
    x = random("f32", (8, 10), 8)
    yield simple("take_along_axis", [x, index], [("f32", np.take_along_axis(x.values, index.values.astype(np.int64), 1))],
                 f"%r0 = array.take_along_axis %0[%1] axis = 1 : ({x.mlir}, {index.mlir}) -> tensor<8x1xf32>", "exact")
    # The embedding, scaled: a gather with a consumer.
    table, index = random("f32", (30, 16), 9), random("i32", (11,), 10, 0, 30)
    yield simple("embedding_scaled", [table, index], [("f32", table.values[index.values] * 4)],
                 f"""%s = array.constant dense<4.0> : tensor<f32>
                     %e = array.take %0[%1] axis = 0 : ({table.mlir}, {index.mlir}) -> tensor<11x16xf32>
                     %r0 = array.mul %e, %s : (tensor<11x16xf32>, tensor<f32>) -> tensor<11x16xf32>""", "exact")


def gathers():
    x = random("f32", (4, 5, 6), 11)
    points = Tensor("i32", np.stack([random("i32", (7,), 12, 0, 4).values, random("i32", (7,), 13, 0, 6).values], 1))
    p = points.values
    yield simple("gather_outer_dims", [x, points], [("f32", x.values[p[:, 0], :, p[:, 1]])],
                 f"%r0 = array.gather %0[%1] axes = [0, 2] : ({x.mlir}, {points.mlir}) -> tensor<7x5xf32>", "exact")
    points = Tensor("i32", np.stack([random("i32", (2, 3), 14, 0, 4).values, random("i32", (2, 3), 15, 0, 5).values,
                                     random("i32", (2, 3), 16, 0, 6).values], 2))
    p = points.values
    yield simple("gather_elements", [x, points], [("f32", x.values[p[..., 0], p[..., 1], p[..., 2]])],
                 f"%r0 = array.gather %0[%1] axes = [0, 1, 2] : ({x.mlir}, {points.mlir}) -> tensor<2x3xf32>", "exact")


def scatters():
    unique = np.array([3, 0, 7, 5, 9])[:, None]
    repeated = np.array([3, 0, 3, 3, 9])[:, None]
    base, rows = random("f32", (10, 6), 17), random("f32", (5, 6), 18)
    for kind, index in (("set", unique), ("add", repeated), ("max", repeated), ("min", repeated), ("mul", repeated)):
        for dtype in ("f32", "i32", "f64") if kind in ("add", "max") else ("f32",):
            a, u = (random(dtype, t.shape, 19 + i) for i, t in enumerate((base, rows)))
            result = a.values.copy()
            ufunc = {"add": np.add, "max": np.maximum, "min": np.minimum, "mul": np.multiply}.get(kind)
            if ufunc:
                ufunc.at(result, index[:, 0], u.values)
            else:
                result[index[:, 0]] = u.values
            yield simple(f"scatter_{kind}_{dtype}", [a, Tensor("i32", index), u], [(dtype, result)],
                         f"%r0 = array.scatter {kind}, %0[%1] axes = [0] = %2 : ({a.mlir}, tensor<5x1xi32>, {u.mlir}) -> {a.mlir}",
                         "sum" if ufunc else "exact")
    outside = Tensor("i32", [[-1], [2], [10], [1000], [4]])
    result = base.values.copy()
    for row, i in enumerate(outside.values[:, 0]):
        if 0 <= i < 10:
            result[i] += rows.values[row]
    yield simple("scatter_skips_outside", [base, outside, rows], [("f32", result)],
                 f"%r0 = array.scatter add, %0[%1] axes = [0] = %2 : ({base.mlir}, tensor<5x1xi32>, {rows.mlir}) -> {base.mlir}", "sum")
    zeros = np.zeros((5, 4))
    points = random("i32", (60, 2), 20, 0, 4)
    values = random("f32", (60,), 21)
    np.add.at(zeros, (points.values[:, 0], points.values[:, 1]), values.values)
    yield simple("scatter_add_elements", [points, values], [("f32", zeros)],
                 f"""%z = array.constant dense<0.0> : tensor<5x4xf32>
                     %r0 = array.scatter add, %z[%0] axes = [0, 1] = %1
                         : (tensor<5x4xf32>, {points.mlir}, {values.mlir}) -> tensor<5x4xf32>""", "sum")
    # The gradient of an embedding: far more updates than rows.
    index, gradient = random("i32", (500, 1), 22, 0, 20), random("f32", (500, 33), 23)
    total = np.zeros((20, 33))
    np.add.at(total, index.values[:, 0], gradient.values)
    yield simple("embedding_gradient", [index, gradient], [("f32", total)],
                 f"""%z = array.constant dense<0.0> : tensor<20x33xf32>
                     %r0 = array.scatter add, %z[%0] axes = [0] = %1
                         : (tensor<20x33xf32>, {index.mlir}, {gradient.mlir}) -> tensor<20x33xf32>""", "sum")


def one_hots():
    label = Tensor("i32", [3, 0, 9, -1, 10, 5])
    for dtype in ("f32", "i1", "bf16", "i64"):
        result = (label.values[:, None] == np.arange(10)).astype(np.float64)
        yield simple(f"one_hot_{dtype}", [label], [(dtype, Tensor(dtype, result).values)],
                     f"%r0 = array.one_hot %0 depth = 10 : {label.mlir} -> {mlir_type(dtype, result.shape)}", "exact")


def cases():
    for make in (takes, gathers, scatters, one_hots):
        yield from make()
