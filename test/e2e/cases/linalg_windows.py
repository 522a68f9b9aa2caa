"""linalg on tensors: convolutions and pools, of images that are padded, too."""
import numpy as np

from cases.conv import convolve
from cases.linalg import init, named
from harness import Case, Step, simple
from tensors import Tensor, mlir_type, random


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


def cases():
    for part in (windows, windows_of_one_place):
        yield from part()
