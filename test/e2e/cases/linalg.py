"""linalg on tensors as an input form: named ops, generics with arith and math, tensor ops, `?` dims, beside array ops."""
import dataclasses
import itertools
import math

import numpy as np

from cases.conv import convolve
from harness import Case, Step, simple
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


def window_case(name, op, x, w, dims, value="0.0", kind="sum", strides=None, dilations=None, groups=1, reference_filter=None, out=None):
    rank = dims.split("]")[0].count(",") - 1
    strides, dilations = strides or [1] * rank, dilations or [1] * rank
    out = out or x.dtype
    want = convolve(x.values.astype(np.float64), (w.values if reference_filter is None else reference_filter).astype(np.float64), dims, strides=strides,
                    filter_dilation=dilations, feature_groups=groups)
    return named(name, op, [x, w], (out, want), value, kind,
                 f"strides = dense<{strides}> : tensor<{rank}xi64>, dilations = dense<{dilations}> : tensor<{rank}xi64>")


def windows():
    x, w = random("f32", (2, 9, 8, 3), 40, -1, 1), random("f32", (3, 2, 3, 4), 41, -1, 1)
    nhwc = "[b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f]"
    yield window_case("conv_2d_nhwc_hwcf", "conv_2d_nhwc_hwcf", x, w, nhwc)
    yield window_case("conv_2d_strided", "conv_2d_nhwc_hwcf", x, w, nhwc, strides=[2, 1], dilations=[1, 2])
    nchw, oihw = Tensor("f32", x.values.transpose(0, 3, 1, 2)), Tensor("f32", w.values.transpose(3, 2, 0, 1))
    yield window_case("conv_2d_nchw_fchw", "conv_2d_nchw_fchw", nchw, oihw, "[b, f, 0, 1] x [o, i, 0, 1] -> [b, f, 0, 1]", strides=[1, 2])
    line, taps = random("f32", (2, 13, 3), 42, -1, 1), random("f32", (4, 3, 5), 43, -1, 1)
    yield window_case("conv_1d_nwc_wcf", "conv_1d_nwc_wcf", line, taps, "[b, 0, f] x [0, i, o] -> [b, 0, f]")
    half, taps = random("f16", (1, 6, 6, 8), 44, -1, 1), random("f16", (3, 3, 8, 8), 45, -1, 1)
    yield window_case("conv_2d_f16_f32", "conv_2d_nhwc_hwcf", half, taps, nhwc, out="f32")
    yield window_case("conv_2d_f16", "conv_2d_nhwc_hwcf", half, taps, nhwc)
    xi, wi = random("i8", (1, 6, 5, 4), 46), random("i8", (3, 3, 4, 3), 47)
    yield window_case("conv_2d_i8", "conv_2d_nhwc_hwcf", xi, wi, nhwc, "0", "exact", out="i32")
    depth = random("f32", (3, 3, 3), 48, -1, 1)
    yield window_case("depthwise", "depthwise_conv_2d_nhwc_hwc", x, depth, nhwc, groups=3, reference_filter=depth.values[:, :, None])
    plain, taps = random("f32", (9, 8), 49, -1, 1), random("f32", (3, 2), 50, -1, 1)
    want = sum(plain.values[i:i + 7, j:j + 7] * taps.values[i, j] for i in range(3) for j in range(2))
    yield named("conv_2d", "conv_2d", [plain, taps], ("f32", want), "0.0", "sum")
    padded = np.pad(x.values, [(0, 0), (1, 1), (0, 1), (0, 0)])
    want = convolve(padded, w.values, nhwc)
    type = mlir_type("f32", want.shape)
    yield simple("conv_2d_padded", [x, w], [("f32", np.maximum(want, 0))], f"""
      %zero = arith.constant 0.0 : f32
      %p = tensor.pad %0 low[0, 1, 0, 0] high[0, 1, 1, 0] {{
      ^bb0(%i: index, %j: index, %k: index, %l: index):
        tensor.yield %zero : f32
      }} : {x.mlir} to {mlir_type("f32", padded.shape)}
      {init("%init", type, "0.0")}
      %c = linalg.conv_2d_nhwc_hwcf ins(%p, %1 : {mlir_type("f32", padded.shape)}, {w.mlir}) outs(%init : {type}) -> {type}
      %z = arith.constant dense<0.0> : {type}
      %r0 = arith.maximumf %c, %z : {type}""", "sum")
    yield from padded_windows()
    taps = np.stack([x.values[:, i:i + 7:2, j:j + 7:2] for i in range(3) for j in range(2)])
    attributes = "strides = dense<2> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>"
    size = mlir_type("f32", (3, 2))
    for op, value, values in (("sum", "0.0", taps.sum(0)), ("max", "0xFF800000", taps.max(0)), ("min", "0x7F800000", taps.min(0))):
        type = mlir_type("f32", values.shape)
        yield simple(f"pooling_{op}", [x], [("f32", values)], f"%window = tensor.empty() : {size}\n" + init("%init", type, value) +
                     f"%r0 = linalg.pooling_nhwc_{op} {{{attributes}}} ins(%0, %window : {x.mlir}, {size}) outs(%init : {type}) -> {type}", "sum")
    turned = Tensor("f32", x.values.transpose(0, 3, 1, 2))
    type = mlir_type("f32", taps.max(0).transpose(0, 3, 1, 2).shape)
    yield simple("pooling_nchw_max", [turned], [("f32", taps.max(0).transpose(0, 3, 1, 2))],
                 f"%window = tensor.empty() : {size}\n" + init("%init", type, "0xFF800000") +
                 f"%r0 = linalg.pooling_nchw_max {{{attributes}}} ins(%0, %window : {turned.mlir}, {size}) outs(%init : {type}) -> {type}", "exact")


def pad(name, tensor, padded, low, high, value):
    """The text of `tensor` padded by `value`, and a constant for that."""
    places = ", ".join(f"%i{dim}: index" for dim in range(len(low)))
    return f"""%{name}_value = arith.constant {value} : {tensor.dtype}
      %{name} = tensor.pad %{name[-1]} low{low} high{high} {{
      ^bb0({places}):
        tensor.yield %{name}_value : {tensor.dtype}
      }} : {tensor.mlir} to {mlir_type(tensor.dtype, padded.shape)}
      """


def padded_windows():
    """Padding that windows read is computed where they load: of zeros, as wgmma's columns of pixels have them, of another number, below a
    maximum, and with windows that are gone through backwards."""
    low, high = [0, 1, 2, 0], [0, 2, 1, 0]
    around = list(zip(low, high))
    for dtype, shape, features in (("bf16", (2, 9, 9, 64), 24), ("f16", (1, 1, 3, 8), 8), ("f32", (3, 8, 8, 5), 5)):
        x, w = random(dtype, shape, 51, -1, 1), random(dtype, (3, 3, shape[3], features), 52, -1, 1)
        for name, value in (("zeros", 0.0), ("halves", 0.5)):
            padded = np.pad(x.values, around, constant_values=value)
            want = convolve(padded, w.values, "[b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f]")
            type, half = mlir_type("f32", want.shape), mlir_type(dtype, padded.shape)
            yield simple(f"padded_conv_{dtype}_{name}", [x, w], [("f32", want)], pad("p0", x, padded, low, high, value) + init("%init", type, "0.0")
                         + f"%r0 = linalg.conv_2d_nhwc_hwcf ins(%p0, %1 : {half}, {w.mlir}) outs(%init : {type}) -> {type}", "sum")
        padded = np.pad(x.values, around)
        want = convolve(padded, w.values[::-1], "[b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f]")
        loops = "(n, p, q, f, r, s, c)"
        maps = ", ".join(f"affine_map<{loops} -> ({exprs})>" for exprs in ("n, p - r + 2, q + s, c", "r, s, c, f", "n, p, q, f"))
        kinds = ", ".join(['"parallel"'] * 4 + ['"reduction"'] * 3)
        type, half = mlir_type("f32", want.shape), mlir_type(dtype, padded.shape)
        extend = "" if dtype == "f32" else f"%aw = arith.extf %a : {dtype} to f32\n%bw = arith.extf %b : {dtype} to f32\n"
        a, b = ("%a", "%b") if dtype == "f32" else ("%aw", "%bw")
        yield simple(f"padded_conv_{dtype}_backwards", [x, w], [("f32", want)], pad("p0", x, padded, low, high, 0.0) + init("%init", type, "0.0")
                     + f"""%r0 = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}}
                        ins(%p0, %1 : {half}, {w.mlir}) outs(%init : {type}) {{
                      ^bb0(%a: {dtype}, %b: {dtype}, %sum: f32):
                        {extend}%m = arith.mulf {a}, {b} : f32
                        %n = arith.addf %sum, %m : f32
                        linalg.yield %n : f32
                      }} -> {type}""", "sum")
    x = random("f32", (2, 6, 6, 6), 53, -2, -1)
    padded = np.pad(x.values, [(0, 0), (1, 1), (1, 0), (0, 0)], constant_values=-np.inf)
    want = np.stack([padded[:, i:i + 7:2, j:j + 6:2] for i in range(2) for j in range(2)]).max(0)
    type = mlir_type("f32", want.shape)
    yield simple("padded_maximum", [x], [("f32", want)], pad("p0", x, padded, [0, 1, 1, 0], [0, 1, 0, 0], "0xFF800000")
                 + "%window = tensor.empty() : tensor<2x2xf32>\n" + init("%init", type, "0xFF800000") +
                 "%r0 = linalg.pooling_nhwc_max {strides = dense<2> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>} ins(%p0, %window : "
                 f"{mlir_type('f32', padded.shape)}, tensor<2x2xf32>) outs(%init : {type}) -> {type}", "exact")


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


def symbolic():
    """Sizes from tensor.dim; each function with several of them."""
    body = """
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %n = tensor.dim %0, %c0 : tensor<?x12xf32>
    %e = tensor.empty(%n) : tensor<?x8xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x8xf32>) -> tensor<?x8xf32>
    %m = linalg.matmul ins(%0, %1 : tensor<?x12xf32>, tensor<12x8xf32>) outs(%f : tensor<?x8xf32>) -> tensor<?x8xf32>
    %b = linalg.broadcast ins(%2 : tensor<8xf32>) outs(%e : tensor<?x8xf32>) dimensions = [0]
    %s = arith.addf %m, %b : tensor<?x8xf32>
    %g = array.relu %s : tensor<?x8xf32>
    %p = array.softmax %g axis = 1 : tensor<?x8xf32>
    %k = tensor.empty() : tensor<8xf32>
    %l = linalg.fill ins(%zero : f32) outs(%k : tensor<8xf32>) -> tensor<8xf32>
    %r1 = linalg.reduce { arith.addf } ins(%p : tensor<?x8xf32>) outs(%l : tensor<8xf32>) dimensions = [0]
    %q = tensor.collapse_shape %p [[0, 1]] : tensor<?x8xf32> into tensor<?xf32>
    %r0 = tensor.pad %q low[1] high[2] {
    ^bb0(%i: index):
      tensor.yield %zero : f32
    } : tensor<?xf32> to tensor<?xf32>
"""
    text = f"""  func.func @NAME(%0: tensor<?x12xf32>, %1: tensor<12x8xf32>, %2: tensor<8xf32>) -> (tensor<?xf32>, tensor<8xf32>) {{{body}
    return %r0, %r1 : tensor<?xf32>, tensor<8xf32>
  }}
"""
    w, b, steps = random("f32", (12, 8), 91), random("f32", (8,), 92), []
    for rows in (1, 5, 64, 0):
        x = random("f32", (rows, 12), 90)
        y = np.exp(np.maximum(x.values @ w.values + b.values, 0))
        y = y / y.sum(1, keepdims=True)
        steps.append(Step([x, w, b], [("f32", np.pad(y.reshape(-1), (1, 2))), ("f32", y.sum(0))]))
    yield Case("symbolic_layer", text, steps, "sum")
    text = """  func.func @NAME(%0: tensor<?x?xf32>, %1: tensor<?x?xf32>) -> (tensor<?x?xf32>, tensor<?x?xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = tensor.dim %0, %c0 : tensor<?x?xf32>
    %m = tensor.dim %0, %c1 : tensor<?x?xf32>
    %e = tensor.empty(%m, %n) : tensor<?x?xf32>
    %t = linalg.transpose ins(%0 : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) permutation = [1, 0]
    %u = linalg.transpose ins(%1 : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) permutation = [1, 0]
    %r0 = arith.addf %t, %u : tensor<?x?xf32>
    %h = arith.subi %m, %c1 : index
    %s = tensor.extract_slice %r0[1, 0] [%h, %n] [1, 1] : tensor<?x?xf32> to tensor<?x?xf32>
    %r1 = math.exp %s : tensor<?x?xf32>
    return %r0, %r1 : tensor<?x?xf32>, tensor<?x?xf32>
  }
"""
    steps = []
    for shape in ((3, 4), (17, 1), (33, 65)):
        x, y = random("f32", shape, 93), random("f32", shape, 94)
        total = Tensor("f32", x.values + y.values).values.T
        steps.append(Step([x, y], [("f32", total), ("f32", np.exp(total[1:]))]))
    steps.append(Step([random("f32", (3, 4), 95), random("f32", (3, 5), 96)], error="4.*5|5.*4"))
    yield Case("symbolic_transpose", text, steps, "math")


def windows_of_one_place():
    """A window that has one place, with rows and columns behind it that it does not read; sizes known and not."""
    x, w = random("f32", (1, 3, 4, 5), 170), Tensor("f32", np.zeros((3, 3)))
    want = x.values[:, :, :3, :3].sum((2, 3), keepdims=True)
    attributes = "dilations = dense<1> : vector<2xi64>, strides = dense<3> : vector<2xi64>"
    for name, size in (("static", "4x5"), ("open", "?x?")):
        text = f"""  func.func @NAME(%x: tensor<1x3x{size}xf32>, %w: tensor<3x3xf32>) -> (tensor<1x3x1x1xf32>) {{
    %c = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<1x3x1x1xf32>
    %i = linalg.fill ins(%c : f32) outs(%e : tensor<1x3x1x1xf32>) -> tensor<1x3x1x1xf32>
    %r = linalg.pooling_nchw_sum {{{attributes}}} ins(%x, %w : tensor<1x3x{size}xf32>, tensor<3x3xf32>)
        outs(%i : tensor<1x3x1x1xf32>) -> tensor<1x3x1x1xf32>
    return %r : tensor<1x3x1x1xf32>
  }}
"""
        yield Case(f"pooling_one_place_{name}", text, [Step([x, w], [("f32", want)])], "sum")
    image, filters = random("f32", (1, 4, 4, 8), 171, -1, 1), random("f32", (3, 3, 8, 16), 172, -1, 1)
    want = np.einsum("nhwc,hwcf->nf", image.values[:, :3, :3], filters.values)[:, None, None]
    yield named("conv_one_place", "conv_2d_nhwc_hwcf", [image, filters], ("f32", want), "0.0", "sum",
                "dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>")
    empty = Tensor("f32", np.zeros((2, 0, 4)))
    yield simple("place_of_no_round", [empty], [("f32", np.zeros((2, 0, 1)))], init("%i", "tensor<2x0x1xf32>", "0.0") + """
      %r0 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>],
          iterator_types = ["parallel", "parallel", "reduction"]} ins(%0 : tensor<2x0x4xf32>) outs(%i : tensor<2x0x1xf32>) {
      ^bb0(%in: f32, %out: f32):
        %s = arith.addf %in, %out : f32
        linalg.yield %s : f32
      } -> tensor<2x0x1xf32>""", "exact")


def computed_slices():
    """Offsets and strides that are computed from sizes: refused where tensor leaves the slice undefined."""
    def head(name, inputs, result, op):
        return f"""  func.func @NAME({inputs}, %n: tensor<?xf32>) -> ({result}) {{
    %c0 = arith.constant 0 : index
    %c3 = arith.constant 3 : index
    %d = tensor.dim %n, %c0 : tensor<?xf32>
    %s = arith.subi %d, %c3 : index
    %r = {op}
    return %r : {result}
  }}
"""
    x, y = random("f32", (9, 4), 95), random("f32", (2, 4), 96)

    def at(n):
        return Tensor("f32", np.zeros(n + 3))

    def put(n):
        result = x.values.copy()
        result[n:2 * n + 1:n] = y.values
        return result
    below, within = "expected an offset of at least 0 in dim 0, got -1 for", "expected a slice within dim 0 .*, got {} and 9 for"
    still = "expected a stride of at least 1 in dim 0, got 1 and 0 for"
    errors = [(-1, below), (0, still), (5, within.format(11))]
    extract = head("extract", "%x: tensor<?x4xf32>", "tensor<2x4xf32>",
                   "tensor.extract_slice %x[%s, 0] [2, 4] [%s, 1] : tensor<?x4xf32> to tensor<2x4xf32>")
    yield Case("slice_extracted_at_sizes", extract, [Step([x, at(n)], [("f32", x.values[n:2 * n + 1:n])]) for n in (1, 4)] +
               [Step([x, at(n)], error=error) for n, error in errors], "exact")
    insert = head("insert", "%x: tensor<?x4xf32>, %y: tensor<2x4xf32>", "tensor<?x4xf32>",
                  "tensor.insert_slice %y into %x[%s, 0] [2, 4] [%s, 1] : tensor<2x4xf32> into tensor<?x4xf32>")
    yield Case("slice_inserted_at_sizes", insert, [Step([x, y, at(n)], [("f32", put(n))]) for n in (1, 4)] +
               [Step([x, y, at(n)], error=error) for n, error in errors], "exact")


def other_sizes():
    """What linalg on tensors leaves undefined where sizes that are known late do not fit."""
    x, y = random("f32", (5, 4), 97), random("f32", (2, 4), 98)
    yield Case("insert_of_another_size", """  func.func @NAME(%x: tensor<?x4xf32>, %y: tensor<?x4xf32>, %n: tensor<?xf32>) -> tensor<?x4xf32> {
    %c0 = arith.constant 0 : index
    %s = tensor.dim %n, %c0 : tensor<?xf32>
    %r = tensor.insert_slice %y into %x[1, 0] [%s, 4] [1, 1] : tensor<?x4xf32> into tensor<?x4xf32>
    return %r : tensor<?x4xf32>
  }
""", [Step([x, y, Tensor("f32", np.zeros(2))], [("f32", np.concatenate([x.values[:1], y.values, x.values[3:]]))]),
      Step([x, y, Tensor("f32", np.zeros(3))], error="expected dim 0 of tensor<.x4xf32> to be as large as the slice, got 2 and 3 for")], "exact")
    yield Case("expand_of_another_size", """  func.func @NAME(%x: tensor<?x4xf32>, %n: tensor<?xf32>) -> tensor<?x2x4xf32> {
    %c0 = arith.constant 0 : index
    %s = tensor.dim %n, %c0 : tensor<?xf32>
    %m = tensor.dim %x, %c0 : tensor<?x4xf32>
    %e = tensor.empty(%m) : tensor<?x4xf32>
    %a = linalg.negf ins(%x : tensor<?x4xf32>) outs(%e : tensor<?x4xf32>) -> tensor<?x4xf32>
    %r = tensor.expand_shape %a [[0, 1], [2]] output_shape [%s, 2, 4] : tensor<?x4xf32> into tensor<?x2x4xf32>
    return %r : tensor<?x2x4xf32>
  }
""", [Step([Tensor("f32", x.values[:4]), Tensor("f32", np.zeros(2))], [("f32", -x.values[:4].reshape(2, 2, 4))]),
      Step([x, Tensor("f32", np.zeros(2))], error="expected dim 0 of tensor<.x4xf32> to have the elements of the dims that it is split into, got 5 and 4 for")],
        "exact")
    yield Case("extract_of_nothing", """  func.func @NAME(%x: tensor<?xf32>, %o: tensor<?xf32>) -> tensor<?xf32> {
    %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%o : tensor<?xf32>) {
    ^bb0(%b: f32):
      %i = linalg.index 0 : index
      %v = tensor.extract %x[%i] : tensor<?xf32>
      linalg.yield %v : f32
    } -> tensor<?xf32>
    return %r : tensor<?xf32>
  }
""", [Step([Tensor("f32", x.values[0]), Tensor("f32", np.zeros(3))], [("f32", x.values[0, :3])]),
      Step([Tensor("f32", np.zeros(0)), Tensor("f32", np.zeros(0))], [("f32", np.zeros(0))]),
      Step([Tensor("f32", np.zeros(0)), Tensor("f32", np.zeros(3))],
           error="expected an element to extract in dim 0 of tensor<.xf32>, got 1 and 0 for")], "exact")


def indices():
    """Indices that are formulas over the loops, on dims of any size: what lies outside is refused."""
    def gather(name, inputs, types, maps, loops, steps, body="linalg.yield %a : f32", kinds=None):
        arguments = ", ".join(f"%{i}: {type}" for i, type in enumerate(types))
        block = ", ".join(f"%{v}: f32" for v in "abc"[:len(types)])
        ins = ", ".join(f"%{i}" for i in range(inputs)), ", ".join(types[:inputs])
        kinds = kinds or ["parallel"] * len(loops)
        return Case(f"index_{name}", f"""  func.func @NAME({arguments}) -> ({types[-1]}) {{
    %r = linalg.generic {{indexing_maps = [{", ".join(f"affine_map<({', '.join(loops)}) -> ({m})>" for m in maps)}],
        iterator_types = [{", ".join(f'"{kind}"' for kind in kinds)}]}} ins({ins[0]} : {ins[1]}) outs(%{inputs} : {types[-1]}) {{
    ^bb0({block}):
      {body}
    }} -> {types[-1]}
    return %r : {types[-1]}
  }}
""", steps, "sum")

    def zeros(n):
        return Tensor("f32", np.zeros(n))

    line, number = "tensor<?xf32>", lambda n: random("f32", (n,), 97)
    above, below = "expected all places .* to be in dim 0 of .*, got {}", "expected no place .* before the start of dim 0 of .*, got {}"
    multiply = "%m = arith.mulf %a, %b : f32\n      %s = arith.addf %m, %c : f32\n      linalg.yield %s : f32"
    w = random("f32", (3,), 98)
    steps = [Step([number(n), w, zeros(m)], [("f32", sum(w.values[j] * number(n).values[j * 3:][:2 * m:2][:m] for j in range(3)) + np.zeros(m))])
             for n, m in ((9, 2), (10, 2), (7, 1), (4, 0))]
    steps.append(Step([number(8), w, zeros(2)], error=above.format("9 and 8")))
    yield gather("sum", 2, [line, "tensor<3xf32>", line], ["i * 2 + j * 3", "j", "i"], ["i", "j"], steps, multiply, ["parallel", "reduction"])
    steps = [Step([number(4), zeros(m)], [("f32", number(4).values[np.arange(m) // 2])]) for m in (8, 7, 0)]
    steps.append(Step([number(4), zeros(9)], error=above.format("5 and 4")))
    yield gather("quotient", 1, [line, line], ["i floordiv 2", "i"], ["i"], steps)
    steps = [Step([number(n), zeros(m)], [("f32", number(n).values[np.arange(m) % 4])]) for n, m in ((4, 11), (2, 2), (0, 0))]
    steps += [Step([number(3), zeros(5)], error=above.format("4 and 3")), Step([number(1), zeros(2)], error=above.format("2 and 1"))]
    yield gather("rest", 1, [line, line], ["i mod 4", "i"], ["i"], steps)
    # What is within, though the bounds of its parts together are not.
    for name, index, sizes, at in (("half", "i - i floordiv 2", ("?", "?"), lambda i: i - i // 2), ("later_rest", "(i + 1) mod 8", ("5", "4"), lambda i: i + 1),
                                   ("start_of_period", "i - i mod 4", ("5", "8"), lambda i: i - i % 4),
                                   ("even_rest", "(i * 2) mod 8", ("7", "6"), lambda i: i * 2 % 8)):
        n, m = (int(size) if size != "?" else 5 for size in sizes)
        yield gather(name, 1, [f"tensor<{size}xf32>" for size in sizes], [index, "i"], ["i"],
                     [Step([number(n), zeros(m)], [("f32", number(n).values[at(np.arange(m))])])])
    steps = [Step([number(n), zeros(m)], [("f32", number(n).values[(np.arange(m) + 1) % 8])]) for n, m in ((8, 9), (4, 3), (1, 0))]
    steps += [Step([number(7), zeros(8)], error=above.format("8 and 7")), Step([number(3), zeros(3)], error=above.format("4 and 3"))]
    yield gather("later_rest_of_any", 1, [line, line], ["(i + 1) mod 8", "i"], ["i"], steps)
    steps = [Step([number(n), zeros(m)], [("f32", number(n).values[np.arange(m) + np.arange(m) // 2])]) for n, m in ((5, 4), (9, 4), (1, 1), (1, 0))]
    steps.append(Step([number(4), zeros(4)], error=above.format("5 and 4")))
    yield gather("growing", 1, [line, line], ["i + i floordiv 2", "i"], ["i"], steps)
    steps = [Step([number(n), zeros(m)], [("f32", number(n).values[7 - np.arange(m)])]) for n, m in ((8, 8), (9, 3), (1, 0))]
    steps += [Step([number(7), zeros(3)], error=above.format("8 and 7")), Step([number(8), zeros(9)], error=below.format("9 and 8"))]
    yield gather("reverse", 1, [line, line], ["7 - i", "i"], ["i"], steps)
    # A loop that occurs more than once: refused where one place is outside, accepted where none is.
    for name, index in (("blocks_apart", "i floordiv 4 * 8 + i mod 4"), ("blocks_reversed", "i floordiv 4 * 4 - i mod 4 + 3"),
                        ("rest_in_steps", "(i * 3) mod 5 + i"), ("falling_blocks", "i mod 3 - i floordiv 3 * 2 + 9"),
                        ("rests", "(i * 2) mod 3 + (i * 3) mod 4")):
        at = eval(f"lambda i: {index.replace('floordiv', '//').replace('mod', '%')}")
        steps = [Step([number(1), zeros(0)], [("f32", np.zeros(0))])]
        for m in range(1, 15):
            places = at(np.arange(m))
            size = places.max() + 1
            if places.min() < 0:
                steps.append(Step([number(size), zeros(m)], error=f"expected no place .* before the start of dim 0 of .*, got {9 - places.min()} and 9"))
                continue
            steps.append(Step([number(size), zeros(m)], [("f32", number(size).values[places])]))
            steps.append(Step([number(size - 1), zeros(m)], error=above.format(f"{size} and {size - 1}")))
        yield gather(name, 1, [line, line], [index, "i"], ["i"], steps)
    # Two loops of unknown size: one in blocks, one as it is; and one that shares a remainder with a loop of known size.
    steps = []
    for m, k in ((5, 3), (4, 1), (1, 2), (9, 4)):
        places = (np.arange(m) // 4 * 4 - np.arange(m) % 4 + 3)[:, None] + np.arange(k)
        x, size = number(places.max() + 1), places.max() + 1
        steps.append(Step([x, zeros(k), zeros(m)], [("f32", (x.values[places] * np.zeros(k)).sum(1))]))
        steps.append(Step([number(size - 1), zeros(k), zeros(m)], error=above.format(f"{size} and {size - 1}")))
    yield gather("blocks_and_window", 2, [line, line, line], ["i floordiv 4 * 4 - i mod 4 + j + 3", "j", "i"], ["i", "j"], steps, multiply, ["parallel", "reduction"])
    steps = []
    for m in range(1, 9):
        places = (np.arange(m)[:, None] + np.arange(3)) % 5 + np.arange(m)[:, None]
        x, size = number(places.max() + 1), places.max() + 1
        steps.append(Step([x, w, zeros(m)], [("f32", (x.values[places] * w.values).sum(1))]))
        steps.append(Step([number(size - 1), w, zeros(m)], error=above.format(f"{size} and {size - 1}")))
    yield gather("shared_rest", 2, [line, "tensor<3xf32>", line], ["(i + j) mod 5 + i", "j", "i"], ["i", "j"], steps, multiply, ["parallel", "reduction"])
    x = random("f32", (4, 3), 99)
    steps = [Step([x, zeros(3)], [("f32", x.values[2])]), Step([random("f32", (2, 3), 99), zeros(3)], error=above.format("3 and 2"))]
    yield gather("constant", 1, ["tensor<?x3xf32>", "tensor<3xf32>"], ["2, i", "i"], ["i"], steps)
    image, taps, out = "tensor<1x?x?x2xf32>", "tensor<3x2x2x4xf32>", "tensor<1x?x?x4xf32>"
    x, w = random("f32", (1, 7, 5, 2), 100), random("f32", (3, 2, 2, 4), 101)
    want = convolve(x.values, w.values, "[b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f]", strides=[2, 1])
    tops = np.array([[x.values[0, 2 * i:2 * i + 3, j:j + 2].max((0, 1)) for j in range(4)] for i in range(3)])[None]
    init, low = Tensor("f32", np.zeros((1, 3, 4, 4))), Tensor("f32", np.full((1, 3, 4, 2), -99.0))
    cut = random("f32", (1, 6, 5, 2), 100)
    yield Case("index_named", f"""  func.func @NAME(%0: {image}, %1: {taps}, %2: {out}, %3: {image}) -> ({out}, {image}) {{
    %w = tensor.empty() : tensor<3x2xf32>
    %r = linalg.conv_2d_nhwc_hwcf {{strides = dense<[2, 1]> : tensor<2xi64>}} ins(%0, %1 : {image}, {taps}) outs(%2 : {out}) -> {out}
    %s = linalg.pooling_nhwc_max {{strides = dense<[2, 1]> : tensor<2xi64>}} ins(%0, %w : {image}, tensor<3x2xf32>) outs(%3 : {image}) -> {image}
    return %r, %s : {out}, {image}
  }}
""", [Step([x, w, init, low], [("f32", want), ("f32", tops)]), Step([cut, w, init, low], error="to be in dim 1 of .*, got 7 and 6")], "sum")


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


def scalars():
    """Elements of tensors, arithmetic on them, and i64 sizes between linalg ops, as other compilers write them."""
    x, t = random("f32", (8, 4), 130), random("f32", (3,), 131)
    fill = np.full((2, 3), t.values[1] * np.float32(0.5), np.float32)
    body = "linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = [\"parallel\"]}"
    text = f"""
        %c1 = arith.constant 1 : index
        %half = arith.constant 0.5 : f32
        %element = tensor.extract %1[%c1] : tensor<3xf32>
        %scaled = arith.mulf %element, %half : f32
        %isPositive = arith.cmpf ogt, %scaled, %half : f32
        %chosen = arith.select %isPositive, %scaled, %element : f32
        %e = tensor.empty() : tensor<3xf32>
        %r0 = {body} ins(%1 : tensor<3xf32>) outs(%e : tensor<3xf32>) {{
        ^bb0(%a: f32, %out: f32):
          %s = arith.addf %a, %chosen : f32
          linalg.yield %s : f32
        }} -> tensor<3xf32>
        %i = tensor.empty() : tensor<2x3xf32>
        %r1 = linalg.fill ins(%scaled : f32) outs(%i : tensor<2x3xf32>) -> tensor<2x3xf32>
        %r2 = tensor.from_elements %element, %scaled : tensor<2xf32>
        %place = tensor.extract %2[] : tensor<i64>
        %row = arith.index_cast %place : i64 to index
        %r3 = tensor.extract_slice %0[%row, 1] [2, 3] [1, 1] : tensor<8x4xf32> to tensor<2x3xf32>"""
    chosen = fill[0, 0] if fill[0, 0] > 0.5 else t.values[1]
    for row in (0, 5):
        yield simple(f"scalars_of_data_{row}", [x, t, Tensor("i64", np.array(row))],
                     [("f32", t.values + chosen), ("f32", fill), ("f32", np.array([t.values[1], fill[0, 0]])), ("f32", x.values[row:row + 2, 1:])], text)
    rows = random("f32", (5, 4), 132)
    yield Case("scalars_of_sizes", """  func.func @NAME(%0: tensor<?x4xf32>) -> tensor<?xf32> {
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : i64
    %c8 = arith.constant 8 : i64
    %n = tensor.dim %0, %c0 : tensor<?x4xf32>
    %wide = arith.index_cast %n : index to i64
    %all = arith.muli %wide, %c4 : i64
    %isEnough = arith.cmpi sge, %all, %c8 : i64
    cf.assert %isEnough, "eight at least"
    %size = arith.index_cast %all : i64 to index
    %flat = tensor.collapse_shape %0 [[0, 1]] : tensor<?x4xf32> into tensor<?xf32>
    %e = tensor.empty(%size) : tensor<?xf32>
    %r = linalg.exp ins(%flat : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
    return %r : tensor<?xf32>
  }
""", [Step([rows], [("f32", np.exp(rows.values).ravel())]), Step([random("f32", (1, 4), 133)], error="cf.assert: eight at least")], "math")


def control():
    """Loops and choices of scf between linalg ops: scalars and places that are data."""
    x, n = random("f32", (5, 3), 134), Tensor("i64", np.array(3))
    loop = """
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %c5 = arith.constant 5 : index
        %zero = arith.constant 0.0 : f32
        %init = tensor.empty() : tensor<5x3xf32>
        %r0, %sum = scf.for %i = %c0 to %c5 step %c1 iter_args(%y = %init, %s = %zero) -> (tensor<5x3xf32>, f32) {
          %row = tensor.extract_slice %0[%i, 0] [1, 3] [1, 1] : tensor<5x3xf32> to tensor<3xf32>
          %e = tensor.empty() : tensor<3xf32>
          %n = linalg.negf ins(%row : tensor<3xf32>) outs(%e : tensor<3xf32>) -> tensor<3xf32>
          %4 = arith.constant 4 : index
          %at = arith.subi %4, %i : index
          %next = tensor.insert_slice %n into %y[%at, 0] [1, 3] [1, 1] : tensor<3xf32> into tensor<5x3xf32>
          %first = tensor.extract %0[%i, %c0] : tensor<5x3xf32>
          %t = arith.addf %s, %first : f32
          scf.yield %next, %t : tensor<5x3xf32>, f32
        }
        %r1 = tensor.from_elements %sum : tensor<f32>""".replace("%4", "%last")
    yield simple("for", [x], [("f32", -x.values[::-1]), ("f32", x.values[:, 0].sum())], loop, "sum")
    text = """
        %c1 = arith.constant 1 : i64
        %c0 = arith.constant 0 : i64
        %n = tensor.extract %1[] : tensor<i64>
        %e = tensor.empty() : tensor<5x3xf32>
        %count, %r0 = scf.while (%i = %c0, %y = %0) : (i64, tensor<5x3xf32>) -> (i64, tensor<5x3xf32>) {
          %goesOn = arith.cmpi slt, %i, %n : i64
          scf.condition(%goesOn) %i, %y : i64, tensor<5x3xf32>
        } do {
        ^bb0(%i: i64, %y: tensor<5x3xf32>):
          %j = arith.addi %i, %c1 : i64
          %z = linalg.add ins(%y, %y : tensor<5x3xf32>, tensor<5x3xf32>) outs(%e : tensor<5x3xf32>) -> tensor<5x3xf32>
          scf.yield %j, %z : i64, tensor<5x3xf32>
        }
        %r1 = tensor.from_elements %count : tensor<i64>"""
    for count in (0, 3):
        yield simple(f"while_{count}", [x, Tensor("i64", np.array(count))], [("f32", x.values * 2 ** count), ("i64", np.array(count))], text)
    choice = """
        %c2 = arith.constant 2 : i64
        %n = tensor.extract %1[] : tensor<i64>
        %isMore = arith.cmpi sgt, %n, %c2 : i64
        %e = tensor.empty() : tensor<5x3xf32>
        %r0 = scf.if %isMore -> (tensor<5x3xf32>) {
          %y = linalg.negf ins(%0 : tensor<5x3xf32>) outs(%e : tensor<5x3xf32>) -> tensor<5x3xf32>
          scf.yield %y : tensor<5x3xf32>
        } else {
          scf.yield %0 : tensor<5x3xf32>
        }"""
    yield simple("if_true", [x, n], [("f32", -x.values)], choice)
    yield simple("if_false", [x, Tensor("i64", np.array(2))], [("f32", x.values)], choice)


def torch_mlir():
    """What Torch-MLIR leaves beside linalg."""
    x, i = random("f32", (4, 9), 135), Tensor("i64", np.tile(np.arange(9), (4, 1)))
    order = np.argsort(-x.values, axis=1, kind="stable")
    yield simple("tm_sort", [x, i], [("f32", np.take_along_axis(x.values, order, 1)), ("i64", order)], """
        %r0, %r1 = tm_tensor.sort dimension(1) outs(%0, %1 : tensor<4x9xf32>, tensor<4x9xi64>) {
        ^bb0(%a: f32, %b: f32, %c: i64, %d: i64):
          %isFirst = arith.cmpf oge, %a, %b : f32
          tm_tensor.yield %isFirst : i1
        } -> tensor<4x9xf32>, tensor<4x9xi64>""")
    start = random("f32", (4,), 136)
    before = np.concatenate([np.zeros((4, 1), np.float32), np.cumsum(x.values, axis=1)[:, :-1]], axis=1) + start.values[:, None]
    yield simple("tm_scan", [x, start], [("f32", before)], """
        %e = tensor.empty() : tensor<4x9xf32>
        %r0, %last = tm_tensor.scan dimension(1) inclusive(false) ins(%0 : tensor<4x9xf32>) outs(%e, %1 : tensor<4x9xf32>, tensor<4xf32>) {
        ^bb0(%next: f32, %total: f32):
          %sum = arith.addf %next, %total : f32
          tm_tensor.yield %sum : f32
        } -> tensor<4x9xf32>, tensor<4xf32>""", "sum")
    rows, new = Tensor("i64", np.array([[2], [0], [2]])), random("f32", (3, 9), 137)
    largest = x.values.copy()
    for row, update in zip(rows.values[:, 0], new.values):
        largest[row] = np.maximum(largest[row], update)
    yield simple("tm_scatter", [x, rows, new], [("f32", largest)], """
        %r0 = tm_tensor.scatter {dimension_map = array<i64: 0>} unique_indices(false)
            ins(%2, %1 : tensor<3x9xf32>, tensor<3x1xi64>) outs(%0 : tensor<4x9xf32>) {
        ^bb0(%update: f32, %old: f32):
          %max = arith.maximumf %update, %old : f32
          tm_tensor.yield %max : f32
        } -> tensor<4x9xf32>""")
    q, k, v = (random("f32", (2, rows, 16), 138 + rows) for rows in (3, 5, 6))
    v = Tensor("f32", v.values[:, :5])
    scores = q.values @ np.swapaxes(k.values, 1, 2) / 4
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    yield simple("tm_attention", [q, k, v], [("f32", weights / weights.sum(axis=-1, keepdims=True) @ v.values)], """
        %e = tensor.empty() : tensor<2x3x16xf32>
        %r0 = tm_tensor.attention ins(%0, %1, %2 : tensor<2x3x16xf32>, tensor<2x5x16xf32>, tensor<2x5x16xf32>)
            outs(%e : tensor<2x3x16xf32>) -> tensor<2x3x16xf32>""", "composite")


def bytecode():
    """Some of the above once more, from MLIR bytecode."""
    for case in itertools.chain(contractions(), symbolic(), reductions()):
        if case.name in ("matmul", "matmul_f16", "batch_matmul", "symbolic_layer", "argmax", "softmax"):
            yield dataclasses.replace(case, name=f"bytecode_{case.name}", bytecode=True)


def cases():
    for part in (bytecode, elementwise, whole_tensors, contractions, windows, movement, reductions, several_results, generics, unsigned,
                 symbolic, windows_of_one_place, computed_slices, other_sizes, indices, scalars, control,
                 torch_mlir):
        yield from part()
