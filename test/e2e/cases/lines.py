"""Ops along lines: running totals, sorts, searches."""
import numpy as np

from harness import Case, Step, simple
from tensors import FLOATS, INTEGERS, NUMPY, Tensor, mlir_type, random


# ---- Scans -------------------------------------------------------------------------------------------------------------

def totals(ufunc, values, axis, exclusive, reverse, neutral):
    """Running totals, one element after the other."""
    x = np.moveaxis(values, axis, 0)
    x = x[::-1] if reverse else x
    out = np.empty_like(x)
    total = np.full(x.shape[1:], neutral, x.dtype)
    for i, element in enumerate(x):
        after = ufunc(total, element).astype(x.dtype)
        out[i] = total if exclusive else after
        total = after
    out = out[::-1] if reverse else out
    return np.moveaxis(out, 0, axis)


def logaddexp(a, b):
    return np.logaddexp(a, b)


def lowest(dtype):
    return -np.inf if dtype in FLOATS else np.iinfo(NUMPY[dtype]).min


def highest(dtype):
    return np.inf if dtype in FLOATS else np.iinfo(NUMPY[dtype]).max


SCANS = {"cumsum": (np.add, lambda d: 0, "sum"), "cumprod": (np.multiply, lambda d: 1, "sum"),
         "cummax": (np.maximum, lowest, "exact"), "cummin": (np.minimum, highest, "exact"),
         "logcumsumexp": (logaddexp, lambda d: -np.inf, "sum")}


def scan(name, op, x, axis, exclusive=False, reverse=False):
    ufunc, neutral, kind = SCANS[op]
    flags = (" exclusive" if exclusive else "") + (" reverse" if reverse else "")
    with np.errstate(all="ignore"):
        result = totals(ufunc, x.values, axis, exclusive, reverse, neutral(x.dtype))
    return simple(name, [x], [(x.dtype, result)], f"%r0 = array.{op} %0 axis = {axis}{flags} : {x.mlir} -> {x.mlir}", kind)


def scans():
    for op in SCANS:
        for dtype in FLOATS + (INTEGERS if op != "logcumsumexp" else ()):
            near_one = (0.7, 1.4) if op == "cumprod" and dtype in FLOATS else (None, None)
            x = random(dtype, (5, 37), 1, *near_one)
            for axis in (0, 1):
                yield scan(f"{op}_{dtype}_{axis}", op, x, axis)
        for exclusive, reverse in ((True, False), (False, True), (True, True)):
            for axis in (0, 1):
                x = random("f32", (33, 40), 2, 0.9, 1.1)
                yield scan(f"{op}_{exclusive:d}{reverse:d}_{axis}", op, x, axis, exclusive, reverse)
    # Around warps, blocks, rounds and segments; rank 1 to 8; none.
    for shape, axis in (((1,), 0), ((31,), 0), ((32,), 0), ((33,), 0), ((1024,), 0), ((1025,), 0), ((5000,), 0), ((20001,), 0),
                        ((2, 9000), 1), ((40000,), 0), ((700, 3), 0), ((3, 1000, 5), 1), ((2, 600, 64), 1), ((0, 4), 0), ((4, 0), 1),
                        ((4, 0), 0), ((2, 1, 3, 1, 2, 1, 2, 5), 2), ((2, 1, 3, 1, 2, 1, 2, 5), 7)):
        # Whole numbers, so that sums are exact in any order.
        x = Tensor("f32", np.round(random("f32", shape, 3).values))
        yield scan(f"cumsum_{x.mlir}_{axis}", "cumsum", x, axis)
        yield scan(f"cumsum_back_{x.mlir}_{axis}", "cumsum", x, axis, exclusive=True, reverse=True)
    x = random("i32", (3, 17000), 4)
    yield scan("cummax_long", "cummax", x, 1)
    yield scan("cumsum_long_back", "cumsum", x, 1, reverse=True)
    holes = Tensor("f32", [[1, np.nan, 2, np.inf], [3, -np.inf, np.inf, 0], [-0.0, 0, -np.inf, -np.inf]])
    for op in SCANS:
        yield scan(f"{op}_special", op, holes, 1)
    sizes = [(3, n) for n in (1, 31, 33, 257, 0, 4100)] + [(0, 5)]
    for axis in (0, 1):
        steps = []
        for shape in sizes:
            x = random("f32", shape, 5)
            steps.append(Step([x], [("f32", np.cumsum(x.values, axis))]))
        yield Case(f"cumsum_dynamic_{axis}", f"""  func.func @NAME(%0: tensor<?x?xf32>) -> (tensor<?x?xf32>) {{
    %r = array.cumsum %0 axis = {axis} : tensor<?x?xf32> -> tensor<?x?xf32>
    return %r : tensor<?x?xf32>
  }}
""", steps, "sum")
    # Lines of symbolic length, around the segments that they are cut into, and segments of those.
    for op, shapes, axis, flags in (("cumsum", [(n,) for n in (1, 8191, 8192, 8193, 40001, 0)], 0, (False, False)),
                                    ("cummax", [(n,) for n in (5, 8193, 24576)], 0, (True, True)),
                                    ("cumsum", [(3, n) for n in (7, 16385, 0)], 1, (False, True)),
                                    ("cumsum", [(n, 2) for n in (1, 255, 256, 257, 1000, 66000, 0)], 0, (False, False)),
                                    ("cumsum", [(2, n, 3) for n in (513, 40)], 1, (True, True))):
        type = "tensor<" + "x".join("?" if dim == axis else str(size) for dim, size in enumerate(shapes[0])) + "xf32>"
        words = "".join(f" {word}" for word, flag in zip(("exclusive", "reverse"), flags) if flag)
        ufunc, neutral, kind = SCANS[op]
        steps = []
        for shape in shapes:
            x = Tensor("f32", np.round(random("f32", shape, 6).values))
            steps.append(Step([x], [("f32", totals(ufunc, x.values, axis, *flags, neutral("f32")))]))
        yield Case(f"{op}_of_{type}{''.join(map(str, map(int, flags)))}", f"""  func.func @NAME(%0: {type}) -> ({type}) {{
    %r = array.{op} %0 axis = {axis}{words} : {type} -> {type}
    return %r : {type}
  }}
""", steps, kind)


# ---- Sorts -------------------------------------------------------------------------------------------------------------

def order(values, axis, descending=False):
    """The stable order: NaN last, or first where descending; equals as they come."""
    if not descending:
        return np.argsort(values, axis, kind="stable")
    if values.dtype.kind == "f":
        # +0 and -0 are equal, and so are their negatives.
        keys = np.where(np.isnan(values), -np.inf, -values)
        rank = np.where(np.isnan(values), 0, 1)
        indices = np.argsort(keys, axis, kind="stable")
        return np.take_along_axis(indices, np.argsort(np.take_along_axis(rank, indices, axis), axis, kind="stable"), axis)
    return np.argsort(-values.astype(object), axis, kind="stable")


def sort_case(name, x, axis, descending=False):
    indices = order(x.values, axis, descending)
    word = " descending" if descending else ""
    counts = mlir_type("i32", x.shape)
    return simple(name, [x], [(x.dtype, np.take_along_axis(x.values, indices, axis)), ("i32", indices)],
                  f"""%r0 = array.sort %0 axis = {axis}{word} : {x.mlir} -> {x.mlir}
                      %r1 = array.argsort %0 axis = {axis}{word} : {x.mlir} -> {counts}""", "exact")


def topk_case(name, x, k, axis, smallest=False, count="i32"):
    indices = np.take(order(x.values, axis, not smallest), np.arange(k), axis)
    result = np.take_along_axis(x.values, indices, axis)
    word = " smallest" if smallest else ""
    types = f"{mlir_type(x.dtype, result.shape)}, {mlir_type(count, result.shape)}"
    return simple(name, [x], [(x.dtype, result), (count, indices)],
                  f"%r0, %r1 = array.topk %0 k = {k} axis = {axis}{word} : {x.mlir} -> {types}", "exact")


def sorts():
    for dtype in FLOATS + INTEGERS:
        # Many equals: only a stable sort gives these indices.
        x = random(dtype, (4, 50), 6, 0, 9)
        x = Tensor(dtype, np.floor(x.values) if dtype in FLOATS else x.values)
        yield sort_case(f"sort_{dtype}", x, 1)
        yield sort_case(f"sort_down_{dtype}", random(dtype, (50, 3), 7), 0, descending=True)
        yield topk_case(f"topk_{dtype}", x, 5, 1)
        x = random(dtype, (2, 600), 17, 0, 30)
        yield topk_case(f"topk_long_{dtype}", Tensor(dtype, np.floor(x.values) if dtype in FLOATS else x.values), 6, 1)
    special = Tensor("f32", [[np.nan, 1, -np.inf, np.inf, 0.0, -0.0, -np.nan, 1e-40, -1e-40, 3], [2] * 10])
    for descending in (False, True):
        yield sort_case(f"sort_special_{descending:d}", special, 1, descending)
        yield topk_case(f"topk_special_{descending:d}", special, 4, 1, descending)
    for shape, axis in (((1,), 0), ((2,), 0), ((3,), 0), ((31,), 0), ((64,), 0), ((65,), 0), ((2000,), 0), ((4096,), 0), ((4097,), 0),
                        ((13000,), 0), ((2, 8193), 1), ((130, 7), 1), ((0, 3), 1), ((3, 0), 1), ((2, 33, 4), 1), ((1, 2, 1, 2, 1, 2, 1, 9), 7)):
        x = random("f32", shape, 8, -50, 50)
        yield sort_case(f"sort_{x.mlir}_{axis}", Tensor("f32", np.round(x.values)), axis)
    # By digits, of each width but 64 bits; NaN, infinities and zeros of both signs among others; lines that are some tiles, and whose keys are computed.
    for dtype in FLOATS + INTEGERS:
        x = random(dtype, (1, 17000), 20, 0, 90)
        x = Tensor(dtype, np.floor(x.values) if dtype in FLOATS else x.values)
        yield sort_case(f"sort_long_{dtype}", x, 1)
    special = random("f32", (17000,), 21, -1e30, 1e30).values
    special[::700], special[5::600], special[2::900], special[:50], special[8000:8100:3] = np.nan, np.inf, -np.nan, -np.inf, -0.0
    special[8001:8100:3], special[100:120] = 0.0, 1e-40
    for descending in (False, True):
        yield sort_case(f"sort_long_special_{descending:d}", Tensor("f32", special), 0, descending)
    yield sort_case("sort_long_down_i16", random("i16", (20480,), 22), 0, True)
    x = random("f32", (20480,), 23, -9, 9)
    yield simple("sort_long_computed", [x], [("f32", np.sort(-x.values))], f"""%n = array.neg %0 : {x.mlir}
                 %r0 = array.sort %n axis = 0 : {x.mlir} -> {x.mlir}""", "exact")
    for shape, k in (((3, 5000), 8), ((1, 20000), 100), ((140, 2500), 3), ((130, 4500), 5), ((2, 3000), 1500), ((300, 64), 8), ((2, 4), 4), ((2, 4), 0)):
        x = Tensor("f32", np.round(random("f32", shape, 9, -900, 900).values))
        yield topk_case(f"topk_{k}_of_{x.mlir}", x, k, 1)
    # Groups of neighbours that hold nearly all of the largest: far more than 6 come up to the limit, and are sorted.
    x = random("f32", (2, 4096), 18, 2, 3).values
    group = np.arange(4096) % 1024 // 32
    x[:, group >= 7] -= 9
    x[:, 224] = 1
    yield topk_case("topk_crowded", Tensor("f32", x), 8, 1)
    special = np.zeros((2, 5000), np.float32)
    special[0, ::700], special[0, 5::600], special[1, 2::900], special[1, :50] = np.nan, np.inf, -np.nan, -np.inf
    for smallest in (False, True):
        yield topk_case(f"topk_long_special_{smallest:d}", Tensor("f32", special), 20, 1, smallest)
    yield topk_case("topk_smallest_i64", random("f32", (6, 100), 10), 7, 0 + 1, smallest=True, count="i64")
    yield topk_case("topk_axis0", random("f32", (60, 5), 11), 6, 0)
    x = random("f32", (4, 100), 12)
    yield simple("partition", [x], [("f32", np.sort(x.values, 1))], f"%r0 = array.partition %0 kth = 10 axis = 1 : {x.mlir} -> {x.mlir}",
                 "exact")
    dynamic = []
    for n in (1, 2, 3, 33, 1000, 4096, 5000, 17000):
        x = Tensor("f32", np.round(random("f32", (2, n), 13, -99, 99).values))
        dynamic.append(Step([x], [("f32", np.sort(x.values, 1)), ("i64", order(x.values, 1))]))
    yield Case("sort_dynamic", """  func.func @NAME(%0: tensor<2x?xf32>) -> (tensor<2x?xf32>, tensor<2x?xi64>) {
    %s = array.sort %0 axis = 1 : tensor<2x?xf32> -> tensor<2x?xf32>
    %i = array.argsort %0 axis = 1 : tensor<2x?xf32> -> tensor<2x?xi64>
    return %s, %i : tensor<2x?xf32>, tensor<2x?xi64>
  }
""", dynamic, "exact")
    dynamic = []
    for n in (4, 5, 33, 1000, 4096, 5000, 17000):
        x = Tensor("f32", np.round(random("f32", (2, n), 13, -99, 99).values))
        best = order(x.values, 1, True)[:, :4]
        dynamic.append(Step([x], [("f32", np.take_along_axis(x.values, best, 1)), ("i32", best)]))
    dynamic += [Step([random("f32", (2, n), 13)], error=f"array.topk: expected at least 4 elements in dim 1 of the operand, got 4 and {n}")
                for n in (3, 0)]
    yield Case("topk_dynamic", """  func.func @NAME(%0: tensor<2x?xf32>) -> (tensor<2x4xf32>, tensor<2x4xi32>) {
    %v, %j = array.topk %0 k = 4 axis = 1 : tensor<2x?xf32> -> tensor<2x4xf32>, tensor<2x4xi32>
    return %v, %j : tensor<2x4xf32>, tensor<2x4xi32>
  }
""", dynamic, "exact")
    x = random("f32", (3, 6), 18)
    yield Case("partition_dynamic", """  func.func @NAME(%0: tensor<3x?xf32>) -> (tensor<3x?xf32>) {
    %r = array.partition %0 kth = 3 axis = 1 : tensor<3x?xf32> -> tensor<3x?xf32>
    return %r : tensor<3x?xf32>
  }
""", [Step([x], [("f32", np.sort(x.values, 1))]),
      Step([random("f32", (3, 3), 18)], error="array.partition: expected at least 4 elements in dim 1 of the operand, got 4 and 3")], "exact")
    steps = []
    for rows, n in ((3, 1), (5, 255), (2, 256), (2, 257), (1, 4096), (2, 4097), (0, 4), (3, 0)):
        x = Tensor("f16", np.round(random("f16", (rows, n), 15, -99, 99).values))
        steps.append(Step([x], [("f16", np.sort(x.values, 1)), ("i32", order(x.values, 1))]))
    yield Case("sort_dynamic_rows", """  func.func @NAME(%0: tensor<?x?xf16>) -> (tensor<?x?xf16>, tensor<?x?xi32>) {
    %s = array.sort %0 axis = 1 : tensor<?x?xf16> -> tensor<?x?xf16>
    %i = array.argsort %0 axis = 1 : tensor<?x?xf16> -> tensor<?x?xi32>
    return %s, %i : tensor<?x?xf16>, tensor<?x?xi32>
  }
""", steps, "exact")
    steps = []
    for rows, n in ((3, 9), (2, 600), (2, 4097), (130, 9000), (0, 14)):
        x = Tensor("f16", np.round(random("f16", (rows, n), 19, -99, 99).values))
        best = order(x.values, 1, True)[:, :9]
        steps.append(Step([x], [("f16", np.take_along_axis(x.values, best, 1)), ("i32", best)]))
    steps.append(Step([random("f16", (3, 8), 19)], error="expected at least 9 elements in dim 1 of the operand, got 9 and 8"))
    yield Case("topk_dynamic_rows", """  func.func @NAME(%0: tensor<?x?xf16>) -> (tensor<?x9xf16>, tensor<?x9xi32>) {
    %v, %i = array.topk %0 k = 9 axis = 1 : tensor<?x?xf16> -> tensor<?x9xf16>, tensor<?x9xi32>
    return %v, %i : tensor<?x9xf16>, tensor<?x9xi32>
  }
""", steps, "exact")
    # Descending, one line, payloads of 8 bytes; the first elements of what is longer than any tile, and ties among them.
    steps, best_steps = [], []
    for n in (0, 1, 700, 2049, 9000):
        x = Tensor("i64", random("i64", (n,), 14, 0, 300).values)
        down, best = order(x.values, 0, True), order(x.values, 0)[:700]
        steps.append(Step([x], [("i64", x.values[down]), ("i32", down)]))
        if n >= 700:
            best_steps.append(Step([x], [("i64", x.values[best]), ("i64", best)]))
    yield Case("sort_dynamic_line", """  func.func @NAME(%0: tensor<?xi64>) -> (tensor<?xi64>, tensor<?xi32>) {
    %s = array.sort %0 axis = 0 descending : tensor<?xi64> -> tensor<?xi64>
    %i = array.argsort %0 axis = 0 descending : tensor<?xi64> -> tensor<?xi32>
    return %s, %i : tensor<?xi64>, tensor<?xi32>
  }
""", steps, "exact")
    steps = []
    for n in (4097, 9001):
        x = Tensor("f64", np.round(random("f64", (n,), 24, -99, 99).values))
        steps.append(Step([x], [("f64", np.sort(x.values)), ("i64", order(x.values, 0))]))
    yield Case("sort_dynamic_line_f64", """  func.func @NAME(%0: tensor<?xf64>) -> (tensor<?xf64>, tensor<?xi64>) {
    %s = array.sort %0 axis = 0 : tensor<?xf64> -> tensor<?xf64>
    %i = array.argsort %0 axis = 0 : tensor<?xf64> -> tensor<?xi64>
    return %s, %i : tensor<?xf64>, tensor<?xi64>
  }
""", steps, "exact")
    yield Case("topk_dynamic_line", """  func.func @NAME(%0: tensor<?xi64>) -> (tensor<700xi64>, tensor<700xi64>) {
    %v, %j = array.topk %0 k = 700 axis = 0 smallest : tensor<?xi64> -> tensor<700xi64>, tensor<700xi64>
    return %v, %j : tensor<700xi64>, tensor<700xi64>
  }
""", best_steps, "exact")


def searches():
    for dtype in ("f32", "f64", "bf16", "i32", "u8", "i64"):
        for size in (0, 1, 2, 7, 64, 100):
            if size == 0 and dtype != "f32":
                continue
            edges = Tensor(dtype, np.sort(random(dtype, (size,), 14, 0, 9).values))
            x = random(dtype, (6, 11), 15, -1 if dtype[0] != "u" else 0, 11)
            if dtype in FLOATS:
                edges, x = (Tensor(dtype, np.round(t.values)) for t in (edges, x))
            for side in ("left", "right"):
                result = np.searchsorted(edges.values, x.values, side)
                word = " right" if side == "right" else ""
                yield simple(f"searchsorted_{dtype}_{size}_{side}", [edges, x], [("i32", result)],
                             f"%r0 = array.searchsorted %0, %1{word} : ({edges.mlir}, {x.mlir}) -> {mlir_type('i32', x.shape)}")
    edges, x = Tensor("f32", [-np.inf, -1, 0, 3, np.inf, np.nan, np.nan]), Tensor("f32", [np.nan, np.inf, -np.inf, -0.0, 3, 2])
    yield simple("searchsorted_special", [edges, x], [("i64", np.searchsorted(edges.values, x.values))],
                 f"%r0 = array.searchsorted %0, %1 : ({edges.mlir}, {x.mlir}) -> {mlir_type('i64', x.shape)}")
    steps = []
    # A vector without elements has none that may be looked at.
    for n in (1, 5, 0, 300):
        edges, x = Tensor("f32", np.sort(random("f32", (n,), 16).values)), random("f32", (n + 3,), 17)
        steps.append(Step([edges, x], [("i32", np.searchsorted(edges.values, x.values))]))
    steps.append(Step([random("f32", (0,), 16), random("f32", (0,), 17)], [("i32", np.zeros(0))]))
    yield Case("searchsorted_dynamic", """  func.func @NAME(%0: tensor<?xf32>, %1: tensor<?xf32>) -> (tensor<?xi32>) {
    %r = array.searchsorted %0, %1 : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xi32>
    return %r : tensor<?xi32>
  }
""", steps, "exact")
    steps, x, y = [], random("f32", (3, 4), 17), random("f32", (), 18)
    for n in (7, 0):
        edges = Tensor("f32", np.sort(random("f32", (n,), 16).values))
        steps.append(Step([edges, x, y], [("i64", np.searchsorted(edges.values, x.values)), ("i32", np.searchsorted(edges.values, y.values))]))
    yield Case("searchsorted_dynamic_ranks", """  func.func @NAME(%0: tensor<?xf32>, %1: tensor<3x4xf32>, %2: tensor<f32>) -> (tensor<3x4xi64>, tensor<i32>) {
    %r = array.searchsorted %0, %1 : (tensor<?xf32>, tensor<3x4xf32>) -> tensor<3x4xi64>
    %s = array.searchsorted %0, %2 : (tensor<?xf32>, tensor<f32>) -> tensor<i32>
    return %r, %s : tensor<3x4xi64>, tensor<i32>
  }
""", steps, "exact")


def cases():
    for make in (scans, sorts, searches):
        yield from make()
