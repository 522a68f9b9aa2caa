"""Element types of operands behind the first one: indices, starts, counts, positions, chances; and of results that have a type of their own."""
import numpy as np

from cases.attention import attend_pages, rotate
from cases.generators import KEY, unit
from cases.types import Body
from harness import simple
from tensors import DTYPES, FLOATS, INTEGERS, NUMPY, Tensor, mlir_type, random

NUMBERS = INTEGERS + FLOATS


def indices(dtype):
    x, u = random("f32", (6, 7), 1), random("f32", (3, 7), 2)
    rows, columns = Tensor(dtype, [4, 0, 3]), Tensor(dtype, np.arange(18).reshape(6, 3) % 7)
    points, start = Tensor(dtype, [[1, 6], [4, 0]]), Tensor(dtype, np.array(2))
    body, a = Body(x, u, rows, columns, points, start), x.values
    t = f"({x.mlir}"
    body.add(f"array.take %0[%2] axis = 0 : {t}, {rows.mlir})", "f32", a[[4, 0, 3]])
    body.add(f"array.take_along_axis %0[%3] axis = 1 : {t}, {columns.mlir})", "f32", np.take_along_axis(a, columns.values.astype(np.int64), 1))
    body.add(f"array.gather %0[%4] axes = [0, 1] : {t}, {points.mlir})", "f32", a[[1, 4], [6, 0]])
    body.add(f"array.dynamic_slice %0[%5, %5] : {t}, {start.mlir}, {start.mlir})", "f32", a[2:5, 2:6])
    updated = a.copy()
    updated[2:5, 0:7] = u.values
    body.add(f"array.dynamic_update_slice %0[%5, %5] = %1 : {t}, {u.mlir}, {start.mlir}, {start.mlir})", "f32", updated)
    body.add(f"array.one_hot %2 depth = 5 : {rows.mlir}", "f32", np.eye(5)[[4, 0, 3]])
    return body.case(f"indices_{dtype}")


def scattered(dtype):
    x, u, at = random("f32", (6, 5), 3), random("f32", (3, 5), 4), Tensor(dtype, [[4], [90], [1]])
    result = x.values.copy()
    result[[4, 1]] = u.values[[0, 2]]
    body = Body(x, u, at)
    body.add(f"array.scatter set, %0[%2] axes = [0] = %1 : ({x.mlir}, {at.mlir}, {u.mlir})", "f32", result)
    return body.case(f"scattered_{dtype}")


def paged(dtype):
    q, k, v = random("f32", (2, 2, 2, 4), 5, -1, 1), random("f32", (3, 2, 4, 4), 6, -1, 1), random("f32", (3, 2, 4, 4), 7, -1, 1)
    table, lengths = Tensor(dtype, [[2, 0], [1, 2]]), Tensor(dtype, [7, 3])
    pages = attend_pages(q.values, k.values, v.values, table.values.astype(np.int64), lengths.values.astype(np.int64), 0.5)
    body = Body(q, k, v, table, lengths)
    body.add(f"array.paged_attention %0, %1, %2 table(%3 : {table.mlir}) lengths(%4 : {lengths.mlir}) scale = 0.5 : "
             f"({q.mlir}, {k.mlir}, {v.mlir})", "f32", pages)
    return body.case(f"paged_{dtype}", "sum")


def counted(dtype):
    """Extents from counts of every integer type."""
    x, count, zero = random("f32", (5, 4), 8), Tensor(dtype, np.array(3)), Tensor("f32", np.zeros(()))
    kept = x.values.copy()
    kept[3:] = 0
    return simple(f"counted_{dtype}", [x, count, zero], [("f32", kept)], f"""
      %some = array.set_extent %0, %1 axis = 0 : ({x.mlir}, {count.mlir}) -> tensor<?x4xf32>
      %r0 = array.pad_to_bound %some, %2 : (tensor<?x4xf32>, tensor<f32>) -> {x.mlir}""", "exact")


def measured(dtype):
    """An extent as a number of every type."""
    x, count = random("f32", (5, 4), 9), Tensor("i32", np.array(3))
    return simple(f"measured_{dtype}", [x, count], [(dtype, np.array(3))], f"""
      %some = array.set_extent %0, %1 axis = 0 : ({x.mlir}, {count.mlir}) -> tensor<?x4xf32>
      %r0 = array.extent %some, 0 : tensor<?x4xf32> -> {mlir_type(dtype, ())}""", "exact")


def positions(dtype):
    queries, keys, x = Tensor(dtype, [0, 3, 9]), Tensor(dtype, [1, 5]), random("f32", (2, 3, 8), 10, -1, 1)
    slopes, places = 2.0 ** (-2 * np.arange(1, 5)), queries.values.astype(np.float64)[:, None]
    angles = places * 1e4 ** (-np.arange(4) / 4)
    body = Body(queries, keys, x)
    body.add(f"array.alibi %0, %1 heads = 4 : ({queries.mlir}, {keys.mlir})", "f32",
             -slopes[:, None, None] * np.abs(places - keys.values.astype(np.float64)))
    body.add(f"array.sinusoidal %0 size = 8 base = 1.0e4 : {queries.mlir}", "f32", np.concatenate([np.sin(angles), np.cos(angles)], 1))
    body.add(f"array.rope %2, %0 base = 1.0e4 : ({x.mlir}, {queries.mlir})", "f32", rotate(x.values, places[:, 0], 1e4))
    return body.case(f"positions_{dtype}", "composite")


def one_hot(dtype):
    labels, hot = Tensor("i32", [3, 0, 7, -1, 4]), np.zeros((5, 5))
    hot[[0, 1, 4], [3, 0, 4]] = 1
    body = Body(labels)
    body.add(f"array.one_hot %0 depth = 5 : {labels.mlir}", dtype, Tensor(dtype, hot).values)
    return body.case(f"one_hot_{dtype}")


def chances(dtype):
    key, each = Tensor("u32", np.array(KEY)), Tensor(dtype, np.linspace(0, 1, 40))
    logits = Tensor(dtype, np.log(np.array([[0.1, 0.2, 0.6, 0.1]] * 50)))
    digits = 53 if dtype == "f64" else 24
    u = unit("threefry", KEY, (50, 4), digits)
    body = Body(key, each, logits)
    body.add(f"array.random_bernoulli %0, %1 : ({key.mlir}, {each.mlir})", "i1", unit("threefry", KEY, (7, 40), digits) < each.values)
    for counted_in in ("i32", "i64"):
        body.add(f"array.random_categorical %0, %2 axis = 1 : ({key.mlir}, {logits.mlir})", counted_in,
                 np.argmax(logits.values - np.log(-np.log(np.maximum(u, 2.0 ** -126))), 1))
    return body.case(f"chances_{dtype}")


def reinterpreted(dtype):
    """Between floats and integers of as many bits, there and back; NaN keeps its bits as long as nothing computes."""
    bits = {"f16": "u16", "bf16": "i16", "f32": "i32", "f64": "u64"}[dtype]
    x = Tensor(dtype, [1.5, -0.0, np.inf, -2.75, 0.1, 1e-3])
    raw = np.frombuffer(x.encode(), NUMPY[bits])
    body = Body(x, Tensor(bits, raw))
    body.add(f"array.bitcast %0 : {x.mlir}", bits, raw)
    body.add(f"array.bitcast %1 : {mlir_type(bits, raw.shape)}", dtype, x.values)
    return body.case(f"reinterpreted_{dtype}")


def cases():
    for dtype in INTEGERS:
        for make in (indices, scattered, paged, counted):
            yield make(dtype)
    for dtype in NUMBERS:
        yield positions(dtype)
        yield measured(dtype)
    for dtype in DTYPES:
        yield one_hot(dtype)
    for dtype in FLOATS:
        yield chances(dtype)
        yield reinterpreted(dtype)
