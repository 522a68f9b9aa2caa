"""Gather, scatter and what is made of them."""
import numpy as np

from harness import Case, Step, simple
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


def wide_indices():
    """Indices whose low 32 bits are those of another element."""
    x, update = random("f32", (5,), 70), random("f32", (4,), 71)
    for dtype, numbers in (("i64", [2**32 + 1, -(2**32) + 3, 2**63 - 1, -(2**63)]), ("u64", [2**32 + 1, 2**63 + 2, 2**64 - 1, 3]),
                           ("u32", [2**32 - 1, 2**31, 2**31 + 2, 3])):
        index = Tensor(dtype, np.array(numbers, dtype={"i": np.int64, "u": np.uint64}[dtype[0]]))
        clamped = np.array([min(max(i, 0), 4) for i in numbers])
        yield simple(f"wide_{dtype}", [x, index], [("f32", x.values[clamped])] * 3,
                     f"""%r0 = array.take %0[%1] axis = 0 : ({x.mlir}, {index.mlir}) -> tensor<4xf32>
                         %r1 = array.take_along_axis %0[%1] axis = 0 : ({x.mlir}, {index.mlir}) -> tensor<4xf32>
                         %v = array.reshape %1 : {index.mlir} -> {mlir_type(dtype, (4, 1))}
                         %r2 = array.gather %0[%v] axes = [0] : ({x.mlir}, {mlir_type(dtype, (4, 1))}) -> tensor<4xf32>""", "exact")
        want = x.values.copy()
        for i, value in zip(numbers, update.values):
            if 0 <= i < 5:
                want[i] = value
        vectors = Tensor(dtype, index.values[:, None])
        yield simple(f"wide_scatter_{dtype}", [x, vectors, update], [("f32", want)],
                     f"%r0 = array.scatter set, %0[%1] axes = [0] = %2 : ({x.mlir}, {vectors.mlir}, {update.mlir}) -> {x.mlir}", "exact")
        for number, start in enumerate(numbers):
            first, box = Tensor(dtype, index.values[number]), Tensor("f32", update.values[:2])
            at = min(max(start, 0), 3)
            replaced = x.values.copy()
            replaced[at:at + 2] = box.values
            yield simple(f"wide_slice_{dtype}_{number}", [x, first, box], [("f32", x.values[at:at + 2]), ("f32", replaced)],
                         f"""%r0 = array.dynamic_slice %0[%1] : ({x.mlir}, {first.mlir}) -> tensor<2xf32>
                             %r1 = array.dynamic_update_slice %0[%1] = %2 : ({x.mlir}, {box.mlir}, {first.mlir}) -> {x.mlir}""", "exact")


def computed():
    """Gathers of what other ops compute, which is computed where it is read."""
    x, index = random("f32", (40, 100), 41), random("i32", (40, 1), 42, 0, 100)
    wide = x.values.astype(np.float64)
    log_softmax = wide - np.log(np.exp(wide).sum(1, keepdims=True))
    yield simple("of_log_softmax", [x, index], [("f32", -np.take_along_axis(log_softmax, index.values.astype(np.int64), 1))],
                 f"""%l = array.log_softmax %0 axis = 1 : {x.mlir}
                     %t = array.take_along_axis %l[%1] axis = 1 : ({x.mlir}, {index.mlir}) -> tensor<40x1xf32>
                     %r0 = array.neg %t : tensor<40x1xf32>""", "composite")
    yield simple("of_log_softmax_beside_it", [x, index],
                 [("f32", np.take_along_axis(log_softmax, index.values.astype(np.int64), 1)), ("f32", log_softmax)],
                 f"""%r1 = array.log_softmax %0 axis = 1 : {x.mlir}
                     %r0 = array.take_along_axis %r1[%1] axis = 1 : ({x.mlir}, {index.mlir}) -> tensor<40x1xf32>""", "composite")
    table, rows = random("bf16", (50, 24), 43), random("i32", (70,), 44, 0, 50)
    yield simple("of_a_converted_table", [table, rows], [("f32", table.values[rows.values].astype(np.float32))],
                 f"""%t = array.convert %0 : {table.mlir} -> tensor<50x24xf32>
                     %r0 = array.take %t[%1] axis = 0 : (tensor<50x24xf32>, {rows.mlir}) -> tensor<70x24xf32>""", "exact")
    turned, first = random("f32", (24, 50), 45), random("i32", (9,), 46, 0, 50)
    yield simple("of_a_transposed_sum", [turned, first], [("f32", (turned.values.T + turned.values.T[:1])[first.values])],
                 f"""%t = array.transpose %0 permutation = [1, 0] : {turned.mlir} -> tensor<50x24xf32>
                     %f = array.slice %t [0:1, :] : tensor<50x24xf32> -> tensor<1x24xf32>
                     %s = array.add %t, %f : (tensor<50x24xf32>, tensor<1x24xf32>) -> tensor<50x24xf32>
                     %r0 = array.take %s[%1] axis = 0 : (tensor<50x24xf32>, {first.mlir}) -> tensor<9x24xf32>""", "composite")
    line = random("f32", (37,), 47)
    yield simple("of_positions", [line], [("f32", (line.values * np.arange(37))[::-1])],
                 f"""%i = array.iota axis = 0 : tensor<37xf32>
                     %s = array.mul %0, %i : {line.mlir}
                     %r0 = array.reverse %s axes = [0] : {line.mlir} -> {line.mlir}""", "exact")


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


def many_updates():
    """So many that they are sorted by row first: runs of one row, rows without any, indices outside."""
    for kind, dtype in (("add", "f32"), ("add", "bf16"), ("add", "i64"), ("set", "f32"), ("max", "f16"), ("mul", "f64"), ("min", "u8")):
        count, window = (4096, 5) if kind == "add" else (5000, 3)
        base, index = random(dtype, (37, window), 24), random("i32", (count, 1), 25, -2, 39)
        index = Tensor("i32", np.where(np.arange(count)[:, None] % 3 == 0, 7, index.values))
        low, high = (0.999, 1.001) if kind == "mul" else (None, None)
        updates = random(dtype, (count, window), 26, low, high)
        if dtype in ("bf16", "f32") and kind == "add":
            updates = Tensor(dtype, np.round(updates.values))  # sums are exact
        result = base.values.copy()
        ufunc = {"add": np.add, "max": np.maximum, "min": np.minimum, "mul": np.multiply}.get(kind)
        for row, update in zip(index.values[:, 0], updates.values):
            if 0 <= row < 37:
                result[row] = ufunc(result[row], update) if ufunc else update
        yield simple(f"scatter_many_{kind}_{dtype}", [base, index, updates], [(dtype, result)],
                     f"%r0 = array.scatter {kind}, %0[%1] axes = [0] = %2 : ({base.mlir}, {index.mlir}, {updates.mlir}) -> {base.mlir}",
                     "sum" if ufunc else "exact")
    base, points, values = random("i32", (6, 4, 5), 27), random("u8", (70, 60, 2), 28, 0, 8), random("i32", (70, 60, 4), 29)
    result = base.values.copy()
    for point, value in zip(points.values.reshape(-1, 2), values.values.reshape(-1, 4)):
        if point[0] < 6 and point[1] < 5:
            result[point[0], :, point[1]] += value
    yield simple("scatter_many_points", [base, points, values], [("i32", result)],
                 f"%r0 = array.scatter add, %0[%1] axes = [0, 2] = %2 : ({base.mlir}, {points.mlir}, {values.mlir}) -> {base.mlir}")
    # Numbers of updates, and of rows, that a call decides.
    for kind, rows, window in (("add", "37", "5x"), ("set", "?", ""), ("add", "?", ""), ("max", "?", "?x")):
        steps = []
        for row_count, count, width in ((37, 1, 5), (37, 5000, 5), (37, 300, 5), (37, 0, 5)):
            shape = (width,) if window else ()
            row_count = row_count if rows == "37" else 3 * row_count + count
            base = Tensor("f32", np.round(random("f32", (row_count, *shape), 30).values))
            index = random("i32", (count, 1), 31, -2, row_count + 2)
            updates = Tensor("f32", np.round(random("f32", (count, *shape), 32).values))
            result = base.values.copy()
            ufunc = {"add": np.add, "max": np.maximum}.get(kind)
            for row, update in zip(index.values[:, 0], updates.values):
                if 0 <= row < row_count:
                    result[row] = ufunc(result[row], update) if ufunc else update
            steps.append(Step([base, index, updates], [("f32", result)]))
        dest = f"tensor<{rows}x{window}f32>"
        yield Case(f"scatter_{kind}_of_{dest}", f"""  func.func @NAME(%x: {dest}, %i: tensor<?x1xi32>, %u: tensor<?x{window}f32>) -> ({dest}) {{
    %r = array.scatter {kind}, %x[%i] axes = [0] = %u : ({dest}, tensor<?x1xi32>, tensor<?x{window}f32>) -> {dest}
    return %r : {dest}
  }}
""", steps, "sum")


def masks():
    for dtype in ("f32", "i1", "bf16", "i64"):
        x, mask, source = random(dtype, (5, 7), 30), random("i1", (5, 7), 31), random(dtype, (40,), 32)
        result = x.values.copy()
        result[mask.values] = source.values[:mask.values.sum()]
        yield simple(f"masked_scatter_{dtype}", [x, mask, source], [(dtype, result)],
                     f"%r0 = array.masked_scatter %0, %1, %2 : ({x.mlir}, {mask.mlir}, {source.mlir}) -> {x.mlir}", "exact")
        holes = Tensor(dtype, np.where(mask.values, x.values, 0))
        where = np.argwhere(holes.values)
        for size in (3, 50, 0):
            rows = np.full((size, 2), -1)
            rows[:len(where)] = where[:size]
            yield simple(f"nonzero_{dtype}_{size}", [holes], [("i32", rows), ("i32", np.array(len(where)))],
                         f"%r0, %r1 = array.nonzero %0 size = {size} : {holes.mlir} -> tensor<{size}x2xi32>, tensor<i32>")
    x = Tensor("f32", [[0.0, -0.0, np.nan, 1], [np.inf, 0, 0, -2], [0, 0, 0, 5]])
    rows = np.array([[0, 2], [0, 3], [1, 0], [1, 3], [2, 3], [-1, -1]])
    for value in (0, 3):
        yield simple(f"nonzero_scalar_{value}", [Tensor("f32", np.float64(value))], [("i32", np.zeros((2, 0), int)), ("i32", np.array(value != 0))],
                     "%r0, %r1 = array.nonzero %0 size = 2 : tensor<f32> -> tensor<2x0xi32>, tensor<i32>")
    none = Tensor("f32", np.zeros((0, 3)))
    yield simple("masked_scatter_to_nothing", [none, Tensor("i1", none.values), Tensor("f32", np.zeros(0))], [("f32", none.values)],
                 "%r0 = array.masked_scatter %0, %1, %2 : (tensor<0x3xf32>, tensor<0x3xi1>, tensor<0xf32>) -> tensor<0x3xf32>")
    yield simple("nonzero_dynamic", [x], [("i64", rows), ("i64", np.array(5))],
                 "%r0, %r1 = array.nonzero %0 size = 6 : tensor<?x?xf32> -> tensor<6x2xi64>, tensor<i64>", types=["tensor<?x?xf32>"])


def one_hots():
    label = Tensor("i32", [3, 0, 9, -1, 10, 5])
    for dtype in ("f32", "i1", "bf16", "i64"):
        result = (label.values[:, None] == np.arange(10)).astype(np.float64)
        yield simple(f"one_hot_{dtype}", [label], [(dtype, Tensor(dtype, result).values)],
                     f"%r0 = array.one_hot %0 depth = 10 : {label.mlir} -> {mlir_type(dtype, result.shape)}", "exact")


def nothing_to_take():
    """Indices are clamped into a dim, so that one without elements is refused, unless nothing is taken."""
    x, source, mask = random("f32", (3,), 21), random("f32", (2,), 22), Tensor("i1", [True, False, True])
    want = x.values.copy()
    want[[0, 2]] = source.values
    # In the name of the op that was written, not of those that it is made of.
    yield Case("masked_scatter_of_nothing", """  func.func @NAME(%x: tensor<?xf32>, %m: tensor<?xi1>, %s: tensor<?xf32>) -> (tensor<?xf32>) {
    %r = array.masked_scatter %x, %m, %s : (tensor<?xf32>, tensor<?xi1>, tensor<?xf32>) -> tensor<?xf32>
    return %r : tensor<?xf32>
  }
""", [Step([x, mask, source], [("f32", want)]),
      Step([x, mask, Tensor("f32", np.zeros(0))], error="array.masked_scatter: expected an element in dim 0")], "exact")
    yield Case("random_categorical_of_nothing", """  func.func @NAME(%k: tensor<2xui32>, %x: tensor<?xf32>) -> (tensor<i32>) {
    %r = array.random_categorical %k, %x axis = 0 : (tensor<2xui32>, tensor<?xf32>) -> tensor<i32>
    return %r : tensor<i32>
  }
""", [Step([Tensor("u32", [1, 2]), Tensor("f32", [0.5])], [("i32", np.array(0))]),
      Step([Tensor("u32", [1, 2]), Tensor("f32", np.zeros(0))], error="array.random_categorical: expected an element in dim 0")], "exact")
    for op, indices, result in (("take", "tensor<?xi32>", "tensor<?x3xf32>"), ("take_along_axis", "tensor<?x3xi32>", "tensor<?x3xf32>"),
                                ("gather", "tensor<?x1xi32>", "tensor<?x3xf32>")):
        axes = "axes = [0]" if op == "gather" else "axis = 0"
        shape = {"take": (), "take_along_axis": (3,), "gather": (1,)}[op]
        table = random("f32", (4, 3), 20)
        index = Tensor("i32", np.zeros((2, *shape)))
        steps = [Step([table, index], [("f32", table.values[[0, 0]])]),
                 Step([Tensor("f32", np.zeros((0, 3))), Tensor("i32", np.zeros((0, *shape)))], [("f32", np.zeros((0, 3)))]),
                 Step([Tensor("f32", np.zeros((0, 3))), index], error="expected an element in dim 0 of the operand, to take")]
        yield Case(f"{op}_of_nothing", f"""  func.func @NAME(%x: tensor<?x3xf32>, %i: {indices}) -> ({result}) {{
    %r = array.{op} %x[%i] {axes} : (tensor<?x3xf32>, {indices}) -> {result}
    return %r : {result}
  }}
""", steps, "exact")


def cases():
    for make in (nothing_to_take, takes, wide_indices, computed, gathers, scatters, many_updates, masks, one_hots):
        yield from make()
