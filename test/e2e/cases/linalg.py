"""linalg on tensors as an input form: named ops, generics with arith and math, and tensor ops."""
import math

import numpy as np

from harness import simple
from tensors import Tensor, mlir_type, random

erf = np.vectorize(math.erf, otypes=[np.float64])
UNARY = {"exp": np.exp, "abs": np.abs, "ceil": np.ceil, "floor": np.floor, "negf": np.negative, "round": lambda x: np.copysign(np.floor(np.abs(x) + 0.5), x),
         "tanh": np.tanh, "erf": erf, "square": np.square}
POSITIVE = {"log": np.log, "sqrt": np.sqrt, "rsqrt": lambda x: 1 / np.sqrt(x), "reciprocal": lambda x: 1 / x}
BINARY = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "max": np.maximum, "min": np.minimum}


def init(name, type, value=None, sizes=""):
    """An init of `type`: empty, or filled with `value`."""
    text = f"{name}_empty = tensor.empty({sizes}) : {type}\n" if value is not None else f"{name} = tensor.empty({sizes}) : {type}\n"
    if value is None:
        return text
    element = type[:-1].split("x")[-1].split("<")[-1]
    return text + (f"{name}_value = arith.constant {value} : {element}\n"
                   f"{name} = linalg.fill ins({name}_value : {element}) outs({name}_empty : {type}) -> {type}\n")


def named(name, op, inputs, output, value=None, kind="rounded", attributes="", **options):
    """One named op on all inputs; its init is empty, or filled with `value`."""
    dtype, values = output
    type = mlir_type(dtype, np.shape(values))
    operands = ", ".join(f"%{i}" for i in range(len(inputs)))
    types = ", ".join(x.mlir for x in inputs)
    if attributes and not attributes.startswith(("indexing_maps", "kind")):
        attributes = f"{{{attributes}}}"
    attributes = f" {attributes}"
    return simple(name, inputs, [output], init("%init", type, value) +
                  f"%r0 = linalg.{op}{attributes} ins({operands} : {types}) outs(%init : {type}) -> {type}", kind, **options)


def elementwise():
    x, y = random("f32", (5, 37), 1), random("f32", (5, 37), 2)
    positive = Tensor("f32", np.abs(x.values) + 0.1)
    for op, function in {**UNARY, **POSITIVE}.items():
        a = positive if op in POSITIVE else x
        kind = "math" if op in ("exp", "tanh", "erf", "log", "rsqrt") else "rounded"
        yield named(op, op, [a], ("f32", function(a.values)), kind=kind)
    for op, function in BINARY.items():
        yield named(op, op, [x, y], ("f32", function(x.values, y.values)))
    yield named("powf", "powf", [positive, y], ("f32", positive.values ** y.values), kind="composite")
    i, j = random("i32", (5, 37), 3), random("i32", (5, 37), 4, 1, 9)
    for op, function in {**BINARY, "div": lambda a, b: np.fix(a / b)}.items():
        yield named(f"{op}_i32", op, [i, j], ("i32", function(i.values, j.values)))
    yield named("div_unsigned", "div_unsigned", [i, j], ("i32", (i.values.view(np.uint32) // j.values.view(np.uint32)).view(np.int32)))
    p = random("i1", (5, 37), 5)
    yield named("select", "select", [p, x, y], ("f32", np.where(p.values, x.values, y.values)), kind="exact")
    yield named("copy", "copy", [x], ("f32", x.values), kind="exact")
    yield named("exp_f16", "exp", [random("f16", (5, 37), 6)], ("f16", np.exp(random("f16", (5, 37), 6).values)), kind="math")
    half = random("f16", (5, 37), 7)
    yield named("copy_f16_f32", "copy", [half], ("f32", half.values), kind="exact")
    yield named("elementwise", "elementwise", [x, y], ("f32", x.values * y.values), attributes="kind=#linalg.elementwise_kind<mul>")


def whole_tensors():
    """arith and math on tensors, scalars as tensors of rank 0, constants."""
    x, y = random("f32", (7, 9), 10), random("f32", (7, 9), 11)
    i, j = random("i32", (7, 9), 12), random("i32", (7, 9), 13)
    t, u = x.mlir, i.mlir
    yield simple("arith_f32", [x, y], [("f32", np.where(x.values < y.values, x.values * y.values, np.maximum(x.values, y.values)))],
                 f"%a = arith.mulf %0, %1 : {t}\n%b = arith.maximumf %0, %1 : {t}\n%c = arith.cmpf olt, %0, %1 : {t}\n"
                 f"%r0 = arith.select %c, %a, %b : tensor<7x9xi1>, {t}")
    yield simple("arith_i32", [i, j], [("i32", (i.values & j.values) ^ (i.values << 3)), ("f32", i.values), ("i64", i.values), ("i8", j.values)],
                 f"%three = arith.constant dense<3> : {u}\n%a = arith.andi %0, %1 : {u}\n%s = arith.shli %0, %three : {u}\n"
                 f"%r0 = arith.xori %a, %s : {u}\n%r1 = arith.sitofp %0 : {u} to tensor<7x9xf32>\n%r2 = arith.extsi %0 : {u} to tensor<7x9xi64>\n"
                 f"%r3 = arith.trunci %1 : {u} to tensor<7x9xi8>")
    yield simple("math_f32", [x], [("f32", np.sin(x.values) * np.cos(x.values) + np.exp(-np.abs(x.values)))],
                 f"%s = math.sin %0 : {t}\n%c = math.cos %0 : {t}\n%a = math.absf %0 : {t}\n%n = arith.negf %a : {t}\n%e = math.exp %n : {t}\n"
                 f"%r0 = math.fma %s, %c, %e : {t}", "composite")
    z = Tensor("f32", np.array(1.5))
    yield simple("rank_0", [z], [("f32", np.tanh(1.5) + 2)],
                 "%two = arith.constant dense<2.0> : tensor<f32>\n%t = math.tanh %0 : tensor<f32>\n%r0 = arith.addf %t, %two : tensor<f32>", "math")
    w = random("f32", (9,), 14)
    dense = ", ".join(repr(float(v)) for v in w.values)
    yield simple("constant", [x], [("f32", x.values + w.values)], f"""
      %w = arith.constant dense<[{dense}]> : tensor<9xf32>
      %e = tensor.empty() : {t}
      %b = linalg.broadcast ins(%w : tensor<9xf32>) outs(%e : {t}) dimensions = [0]
      %r0 = arith.addf %0, %b : {t}""")


def contractions():
    a, b, c = random("f32", (17, 33), 20), random("f32", (33, 19), 21), random("f32", (17, 19), 22)
    yield named("matmul", "matmul", [a, b], ("f32", a.values @ b.values), "0.0", "sum")
    yield simple("matmul_accumulates", [a, b, c], [("f32", a.values @ b.values + c.values)],
                 f"%r0 = linalg.matmul ins(%0, %1 : {a.mlir}, {b.mlir}) outs(%2 : {c.mlir}) -> {c.mlir}", "sum")
    bt = Tensor("f32", b.values.T)
    yield named("matmul_transposed", "matmul", [a, bt], ("f32", a.values @ b.values), "0.0", "sum", attributes=
                "indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]")
    at = Tensor("f32", a.values.T)
    yield named("matmul_transposed_a", "matmul", [at, b], ("f32", a.values @ b.values), "0.0", "sum", attributes=
                "indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]")
    for dtype in ("f16", "bf16"):
        h, g = random(dtype, (16, 64), 23, -1, 1), random(dtype, (64, 24), 24, -1, 1)
        yield named(f"matmul_{dtype}", "matmul", [h, g], (dtype, h.values @ g.values), "0.0", "sum")
        yield named(f"matmul_{dtype}_f32", "matmul", [h, g], ("f32", h.values @ g.values), "0.0", "sum")
    i, j = random("i8", (5, 12), 25), random("i8", (12, 7), 26)
    yield named("matmul_i8_i32", "matmul", [i, j], ("i32", i.values.astype(int) @ j.values.astype(int)), "0", "exact")
    unsigned = i.values.view(np.uint8).astype(int) @ j.values.view(np.uint8).astype(int)
    yield named("matmul_unsigned", "matmul", [i, j], ("i32", unsigned), "0", "exact", "cast = #linalg.type_fn<cast_unsigned>")
    d, e = random("f64", (5, 12), 27), random("f64", (12, 7), 28)
    yield named("matmul_f64", "matmul", [d, e], ("f64", d.values @ e.values), "0.0", "sum")
    p, q = random("f32", (3, 8, 17), 29), random("f32", (3, 17, 9), 30)
    yield named("batch_matmul", "batch_matmul", [p, q], ("f32", p.values @ q.values), "0.0", "sum")
    yield named("batch_reduce_matmul", "batch_reduce_matmul", [p, q], ("f32", (p.values @ q.values).sum(0)), "0.0", "sum")
    v, w, r = random("f32", (33,), 31), random("f32", (33,), 32), random("f32", (17,), 33)
    yield named("matvec", "matvec", [a, v], ("f32", a.values @ v.values), "0.0", "sum")
    yield named("vecmat", "vecmat", [r, a], ("f32", r.values @ a.values), "0.0", "sum")
    yield named("dot", "dot", [v, w], ("f32", np.array(v.values @ w.values)), "0.0", "sum")
    s, t = random("f32", (3, 17), 34), random("f32", (3, 8), 35)
    yield named("batch_matvec", "batch_matvec", [p, s], ("f32", np.einsum("bmk,bk->bm", p.values, s.values)), "0.0", "sum")
    yield named("batch_vecmat", "batch_vecmat", [t, p], ("f32", np.einsum("bm,bmk->bk", t.values, p.values)), "0.0", "sum")
    yield named("contract", "contract", [p, q], ("f32", np.einsum("bmk,bkn->mbn", p.values, q.values)), "0.0", "sum", attributes=
                "indexing_maps = [affine_map<(b, m, n, k) -> (b, m, k)>, affine_map<(b, m, n, k) -> (b, k, n)>, affine_map<(b, m, n, k) -> (m, b, n)>]")
    tiles, filters = random("f32", (2, 3, 4, 5), 36), random("f32", (6, 3, 7, 5), 37)
    yield named("mmt4d", "mmt4d", [tiles, filters], ("f32", np.einsum("mkab,nkcb->mnac", tiles.values, filters.values)), "0.0", "sum")


def movement():
    x, v = random("f32", (3, 5, 7), 60), random("f32", (5,), 61)
    t = x.mlir
    yield simple("transpose", [x], [("f32", x.values.transpose(2, 0, 1))],
                 f"%e = tensor.empty() : tensor<7x3x5xf32>\n%r0 = linalg.transpose ins(%0 : {t}) outs(%e : tensor<7x3x5xf32>) permutation = [2, 0, 1]", "exact")
    yield simple("broadcast", [v], [("f32", np.broadcast_to(v.values[:, None], (3, 5, 7)))],
                 f"%e = tensor.empty() : {t}\n%r0 = linalg.broadcast ins(%0 : tensor<5xf32>) outs(%e : {t}) dimensions = [0, 2]", "exact")
    yield simple("fill", [], [("f32", np.full((3, 4), 2.5)), ("i32", np.full(9, -7))],
                 init("%r0", "tensor<3x4xf32>", "2.5") + init("%r1", "tensor<9xi32>", "-7"), "exact")
    yield simple("pad", [x], [("f32", np.pad(x.values, [(1, 0), (0, 2), (3, 1)], constant_values=1.5))], f"""
      %c = arith.constant 1.5 : f32
      %r0 = tensor.pad %0 low[1, 0, 3] high[0, 2, 1] {{
      ^bb0(%i: index, %j: index, %k: index):
        tensor.yield %c : f32
      }} : {t} to tensor<4x7x11xf32>""", "exact")
    want = np.zeros((2, 4, 7))
    want[:, 1:3] = x.values[1:3, 0:4:2]
    yield simple("slices", [x], [("f32", want), ("f32", x.values[0, 2])], f"""
      %s = tensor.extract_slice %0[1, 0, 0] [2, 2, 7] [1, 2, 1] : {t} to tensor<2x2x7xf32>
      %z = arith.constant dense<0.0> : tensor<2x4x7xf32>
      %r0 = tensor.insert_slice %s into %z[0, 1, 0] [2, 2, 7] [1, 1, 1] : tensor<2x2x7xf32> into tensor<2x4x7xf32>
      %r1 = tensor.extract_slice %0[0, 2, 0] [1, 1, 7] [1, 1, 1] : {t} to tensor<7xf32>""", "exact")
    want = x.values.copy()
    want[:, 1:5:2] = 0.5
    yield simple("insert_strided", [x], [("f32", want)], f"""
      %h = arith.constant dense<0.5> : tensor<3x2x7xf32>
      %r0 = tensor.insert_slice %h into %0[0, 1, 0] [3, 2, 7] [1, 2, 1] : tensor<3x2x7xf32> into {t}""", "exact")
    yield simple("reshapes", [x], [("f32", x.values.reshape(15, 7)), ("f32", x.values.reshape(3, 5, 1, 7) * 2)], f"""
      %r0 = tensor.collapse_shape %0 [[0, 1], [2]] : {t} into tensor<15x7xf32>
      %e = tensor.expand_shape %0 [[0], [1, 2], [3]] output_shape [3, 5, 1, 7] : {t} into tensor<3x5x1x7xf32>
      %r1 = arith.addf %e, %e : tensor<3x5x1x7xf32>""", "exact")
    yield simple("concat", [x, x], [("f32", np.concatenate([x.values, x.values], 1))],
                 f"%r0 = tensor.concat dim(1) %0, %1 : ({t}, {t}) -> tensor<3x10x7xf32>", "exact")
    i = random("i64", (4, 1), 62, 0, 5)
    yield simple("gather", [v, i], [("f32", v.values[i.values[:, 0]])], f"""
      %e = tensor.empty() : tensor<4xf32>
      %ii = tensor.collapse_shape %1 [[0, 1]] : tensor<4x1xi64> into tensor<4xi64>
      %r0 = linalg.generic {{indexing_maps = [affine_map<(d) -> (d)>, affine_map<(d) -> (d)>], iterator_types = ["parallel"]}}
          ins(%ii : tensor<4xi64>) outs(%e : tensor<4xf32>) {{
      ^bb0(%p: i64, %o: f32):
        %n = arith.index_cast %p : i64 to index
        %g = tensor.extract %0[%n] : tensor<5xf32>
        linalg.yield %g : f32
      }} -> tensor<4xf32>""", "exact")
    yield simple("splat", [], [("f32", np.full((3, 4), 2.5))], "%c = arith.constant 2.5 : f32\n%r0 = tensor.splat %c : tensor<3x4xf32>", "exact")
    yield simple("from_elements", [], [("f32", np.array([2.5, 1]))],
                 "%c = arith.constant 2.5 : f32\n%d = arith.constant 1.0 : f32\n%r0 = tensor.from_elements %c, %d : tensor<2xf32>", "exact")


def reduction(name, body, x, dims, output, value, kind="sum"):
    dtype, values = output
    type = mlir_type(dtype, np.shape(values))
    return simple(name, [x], [output], init("%init", type, value) + f"%r0 = linalg.reduce {{ {body} }} ins(%0 : {x.mlir}) outs(%init : {type}) dimensions = {dims}", kind)


def reductions():
    x = random("f32", (5, 9, 13), 70)
    for dims in ([0], [1], [2], [0, 2], [0, 1, 2]):
        yield reduction(f"reduce_add_{len(dims)}{dims[0]}", "arith.addf", x, dims, ("f32", x.values.sum(tuple(dims))), "0.0")
    yield reduction("reduce_max", "arith.maximumf", x, [1], ("f32", x.values.max(1)), "0xFF800000")
    yield reduction("reduce_mul", "arith.mulf", x, [2], ("f32", x.values.prod(2)), "1.0")
    i = random("i32", (7, 11), 71)
    yield reduction("reduce_minsi", "arith.minsi", i, [1], ("i32", i.values.min(1)), "2147483647", "exact")
    yield reduction("reduce_xori", "arith.xori", i, [0], ("i32", np.bitwise_xor.reduce(i.values, 0)), "0", "exact")
    # 16-bit floats accumulate in f32, as those of array ops do.
    long = random("f16", (6, 700), 74, 0, 1)
    yield reduction("reduce_add_f16", "arith.addf", long, [1], ("f16", long.values.sum(1)), "0.0")
    # More than one op in the body, an init that counts, two results.
    s = random("f32", (9,), 72)
    m = random("f32", (9, 21), 73)
    yield simple("reduce_squares", [m, s], [("f32", (m.values ** 2).sum(1) + s.values)], f"""
      %r0 = linalg.reduce ins(%0 : {m.mlir}) outs(%1 : {s.mlir}) dimensions = [1]
        (%in: f32, %out: f32) {{
          %q = arith.mulf %in, %in : f32
          %a = arith.addf %q, %out : f32
          linalg.yield %a : f32
        }}""", "sum")
    yield simple("argmax", [m], [("f32", m.values.max(1)), ("i32", m.values.argmax(1))], init("%low", "tensor<9xf32>", "0xFF800000") + init("%zero", "tensor<9xi32>", "0") + f"""
      %r0, %r1 = linalg.generic {{indexing_maps = [affine_map<(d, e) -> (d, e)>, affine_map<(d, e) -> (d)>, affine_map<(d, e) -> (d)>],
                                 iterator_types = ["parallel", "reduction"]}} ins(%0 : {m.mlir}) outs(%low, %zero : tensor<9xf32>, tensor<9xi32>) {{
      ^bb0(%in: f32, %best: f32, %at: i32):
        %n = linalg.index 1 : index
        %k = arith.index_cast %n : index to i32
        %more = arith.cmpf ogt, %in, %best : f32
        %v = arith.select %more, %in, %best : f32
        %w = arith.select %more, %k, %at : i32
        linalg.yield %v, %w : f32, i32
      }} -> (tensor<9xf32>, tensor<9xi32>)""", "exact")
    e = np.exp(m.values - m.values.max(1, keepdims=True))
    yield simple("softmax", [m], [("f32", e / e.sum(1, keepdims=True))],
                 f"%e = tensor.empty() : {m.mlir}\n%r0 = linalg.softmax dimension(1) ins(%0 : {m.mlir}) outs(%e : {m.mlir}) -> {m.mlir}", "composite")


def generics():
    x, y = random("f32", (6, 8), 80), random("f32", (8,), 81)
    yield simple("generic_outer", [x, y], [("f32", np.exp(x.values.T) + y.values[:, None]), ("f32", x.values.T * 0.5)], f"""
      %e = tensor.empty() : tensor<8x6xf32>
      %half = arith.constant 0.5 : f32
      %r0, %r1 = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
                                iterator_types = ["parallel", "parallel"]}} ins(%0, %1 : {x.mlir}, {y.mlir}) outs(%e, %e : tensor<8x6xf32>, tensor<8x6xf32>) {{
      ^bb0(%a: f32, %b: f32, %o: f32, %p: f32):
        %c = math.exp %a : f32
        %d = arith.addf %c, %b : f32
        %f = arith.mulf %a, %half : f32
        linalg.yield %d, %f : f32, f32
      }} -> (tensor<8x6xf32>, tensor<8x6xf32>)""", "composite")
    i, j = np.indices((5, 7))
    yield simple("generic_index", [], [("i64", i * 10 + j)], """
      %e = tensor.empty() : tensor<5x7xi64>
      %r0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<5x7xi64>) {
      ^bb0(%o: i64):
        %i = linalg.index 0 : index
        %j = linalg.index 1 : index
        %k = affine.apply affine_map<(i, j) -> (i * 10 + j)>(%i, %j)
        %c = arith.index_cast %k : index to i64
        linalg.yield %c : i64
      } -> tensor<5x7xi64>""", "exact")
    yield simple("generic_accumulates", [x, y], [("f32", y.values + x.values.sum(0))], f"""
      %r0 = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>], iterator_types = ["reduction", "parallel"]}}
          ins(%0 : {x.mlir}) outs(%1 : {y.mlir}) {{
      ^bb0(%a: f32, %o: f32):
        %c = arith.addf %o, %a : f32
        linalg.yield %c : f32
      }} -> {y.mlir}""", "sum")
    into = random("f32", (8, 5), 82)
    for place in (0, 4):
        written = into.values.copy()
        written[:, place] = x.values.sum(0) + into.values[:, place]
        for name, types in (("", (x.mlir, into.mlir)), ("_symbolic", ("tensor<?x?xf32>",) * 2)):
            yield simple(f"generic_at_constant_{place}{name}", [x, into], [("f32", written)], f"""
      %r0 = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j, {place})>], iterator_types = ["reduction", "parallel"]}}
          ins(%0 : {types[0]}) outs(%1 : {types[1]}) {{
      ^bb0(%a: f32, %o: f32):
        %c = arith.addf %o, %a : f32
        linalg.yield %c : f32
      }} -> {types[1]}""", "sum", types=list(types), result_types=[types[1]])
    written = into.values.copy()
    written[3] = np.exp(written[3])
    yield simple("generic_of_one_row", [into], [("f32", written)], f"""
      %r0 = linalg.generic {{indexing_maps = [affine_map<(i) -> (3, i)>, affine_map<(i) -> (3, i)>], iterator_types = ["parallel"]}}
          ins(%0 : {into.mlir}) outs(%0 : {into.mlir}) {{
      ^bb0(%a: f32, %o: f32):
        %c = math.exp %a : f32
        linalg.yield %c : f32
      }} -> {into.mlir}""", "math")
    yield simple("map", [x, x], [("f32", x.values * x.values + 1)], f"""
      %e = tensor.empty() : {x.mlir}
      %one = arith.constant 1.0 : f32
      %r0 = linalg.map ins(%0, %1 : {x.mlir}, {x.mlir}) outs(%e : {x.mlir})
        (%a: f32, %b: f32, %o: f32) {{
          %c = arith.mulf %a, %b : f32
          %d = arith.addf %c, %one : f32
          linalg.yield %d : f32
        }}""", "composite")


def several_results():
    """Reductions that share what they combine: each result is combined with its own partial results."""
    for shape, axis in (((6, 4), 1), ((37, 300), 1), ((300, 37), 0), ((3, 20000), 1), ((20000, 3), 0)):
        for dtype, add, largest in (("f32", "addf", "maximumf"), ("i32", "addi", "maxsi")):
            x = random(dtype, shape, 110)
            kept = (shape[1 - axis],)
            start, low = random(dtype, kept, 111), random(dtype, kept, 112)
            vector, out = mlir_type(dtype, kept), "(i)" if axis == 1 else "(j)"
            iterators = '["parallel", "reduction"]' if axis == 1 else '["reduction", "parallel"]'
            maps = f"affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> {out}>, affine_map<(i, j) -> {out}>"
            yield simple(f"sum_and_maximum_{dtype}_{shape[0]}_{shape[1]}", [x, start, low],
                         [(dtype, start.values + x.values.sum(axis)), (dtype, np.maximum(low.values, x.values.max(axis)))],
                         f"""%r0, %r1 = linalg.generic {{indexing_maps = [{maps}], iterator_types = {iterators}}}
                               ins(%0 : {x.mlir}) outs(%1, %2 : {vector}, {vector}) {{
                             ^bb0(%a: {dtype}, %s: {dtype}, %m: {dtype}):
                               %t = arith.{add} %s, %a : {dtype}
                               %n = arith.{largest} %m, %a : {dtype}
                               linalg.yield %t, %n : {dtype}, {dtype}
                             }} -> ({vector}, {vector})""", "sum")


def unsigned():
    """Bodies pass unsigned integers on."""
    for dtype in ("u8", "u16", "u32", "u64"):
        x = random(dtype, (6, 4), 120)
        element = mlir_type(dtype, ())[len("tensor<"):-1]
        yield simple(f"unsigned_{dtype}", [x], [(dtype, np.repeat(x.values[:, ::-1], 2, 0)), (dtype, x.values.T)],
                     f"""%e = tensor.empty() : {mlir_type(dtype, (12, 4))}
                         %r0 = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i floordiv 2, 3 - j)>, affine_map<(i, j) -> (i, j)>],
                                                iterator_types = ["parallel", "parallel"]}}
                             ins(%0 : {x.mlir}) outs(%e : {mlir_type(dtype, (12, 4))}) {{
                         ^bb0(%a: {element}, %b: {element}):
                           linalg.yield %a : {element}
                         }} -> {mlir_type(dtype, (12, 4))}
                         %f = tensor.empty() : {mlir_type(dtype, (4, 6))}
                         %r1 = linalg.transpose ins(%0 : {x.mlir}) outs(%f : {mlir_type(dtype, (4, 6))}) permutation = [1, 0]""", "exact")


def cases():
    for part in (elementwise, whole_tensors, contractions, movement, reductions, several_results, generics, unsigned):
        yield from part()
