"""Convolutions: dims, strides, padding, dilations, groups, types, gradients, and what is fused behind them."""
import itertools

import numpy as np

from harness import Case, Step, simple
import tensors
from tensors import FLOATS, Tensor, mlir_type

NHWC = "[b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f]"
NCHW = "[b, f, 0, 1] x [o, i, 0, 1] -> [b, f, 0, 1]"


def random(dtype, shape, seed):
    return tensors.random(dtype, shape, seed, *((-1, 1) if dtype in FLOATS else (0, 9)))


def labels(dims):
    """The three lists of labels of a dims attribute."""
    sides = dims.replace("->", "x").split(" x ")
    return [[label.strip() for label in side.strip(" []").split(",")] for side in sides]


def convolve(x, w, dims, strides=None, low=None, high=None, input_dilation=None, filter_dilation=None, feature_groups=1,
             batch_groups=1):
    """The definition, one tap and one group at a time, in float64 or integers."""
    inputs, filters, outputs = labels(dims)
    if x.dtype.kind in "iu":
        x, w = x.astype(np.int64), w.astype(np.int64)
    rank = len(inputs) - 2
    spatial = [str(i) for i in range(rank)]
    strides, input_dilation, filter_dilation = (v or [1] * rank for v in (strides, input_dilation, filter_dilation))
    low, high = (v or [0] * rank for v in (low, high))
    x = x.transpose([inputs.index(label) for label in ["b", "f"] + spatial])
    w = w.transpose([filters.index(label) for label in ["i", "o"] + spatial])
    size = lambda n, d: (n - 1) * d + 1 if n else 0  # noqa: E731
    spread = np.zeros(x.shape[:2] + tuple(size(n, d) for n, d in zip(x.shape[2:], input_dilation)), x.dtype)
    spread[(...,) + tuple(slice(None, None, d) for d in input_dilation)] = x
    x = np.pad(spread, [(0, 0), (0, 0)] + [(max(l, 0), max(h, 0)) for l, h in zip(low, high)])
    x = x[(...,) + tuple(slice(max(-l, 0), n - max(-h, 0)) for l, h, n in zip(low, high, x.shape[2:]))]
    places = [max((n - size(k, d)) // s + 1, 0) for n, k, d, s in zip(x.shape[2:], w.shape[2:], filter_dilation, strides)]
    batch, groups = x.shape[0] // batch_groups, feature_groups * batch_groups
    per_group = w.shape[1] // groups
    y = np.zeros([batch, w.shape[1]] + places, x.dtype)
    for g in range(groups):
        part = x[g * batch:(g + 1) * batch] if batch_groups > 1 else x[:, g * w.shape[0]:(g + 1) * w.shape[0]]
        for tap in itertools.product(*map(range, w.shape[2:])):
            window = tuple(slice(t * d, t * d + (o - 1) * s + 1 if o else 0, s)
                           for t, d, o, s in zip(tap, filter_dilation, places, strides))
            features = slice(g * per_group, (g + 1) * per_group)
            y[:, features] += np.einsum("bi...,io->bo...", part[(...,) + window], w[(slice(None), features) + tap])
    return y.transpose([(["b", "f"] + spatial).index(label) for label in outputs])


def attributes(dims, window):
    names = ("strides", "low", "high", "input_dilation", "filter_dilation", "feature_groups", "batch_groups", "algorithm")
    return " ".join([f"dims = <{dims}>"] + [f"{name} = {window[name]}" for name in names if name in window])


def case(name, x, w, dims=NHWC, out=None, kind="sum", types=None, result=None, **window):
    values = convolve(x.values, w.values, dims, **{name: value for name, value in window.items() if name != "algorithm"})
    out = out or x.dtype
    types = types or [x.mlir, w.mlir]
    result = result or mlir_type(out, values.shape)
    return simple(name, [x, w], [(out, values)],
                  f"%r0 = array.conv %0, %1 {attributes(dims, window)} : ({types[0]}, {types[1]}) -> {result}", kind,
                  types=types, result_types=[result])


def windows():
    x, w = random("f32", (2, 9, 10, 8), 1), random("f32", (3, 3, 8, 12), 2)
    yield case("valid", x, w)
    yield case("same", x, w, low=[1, 1], high=[1, 1])
    yield case("strided", x, w, strides=[2, 3], low=[1, 0], high=[0, 2])
    yield case("dilated", x, w, filter_dilation=[2, 3], low=[2, 1], high=[0, 3])
    # One image of windows of one element with padding behind alone: its rows are no images. One filter with features between its taps and channels.
    for groups in (1, 2):
        yield case(f"padded_behind_in_{groups}", random("f16", (1, 7, 5, 128), 1), random("f16", (1, 1, 128 // groups, 72), 2), high=[1, 1],
                   feature_groups=groups)
    yield case("features_between", random("bf16", (2, 8, 8, 64), 1), random("bf16", (3, 3, 64, 64), 2), "[b, 0, 1, f] x [0, 1, o, i] -> [b, 0, 1, f]",
               low=[1, 1], high=[1, 1])
    yield case("transposed", x, w, input_dilation=[2, 2], low=[2, 1], high=[1, 2])
    # Sums wider than the operands, of one tap and of several.
    half = random("bf16", (2, 5, 4, 8), 81)
    yield case("spread_element_wide_sums", half, random("bf16", (1, 1, 8, 12), 82), out="f32", input_dilation=[2, 3], high=[1, 2])
    yield case("spread_wide_sums", half, random("bf16", (3, 3, 8, 12), 83), out="f32", input_dilation=[2, 2], low=[2, 1], high=[1, 2])
    for number, (spread, dilation, low, high) in enumerate((([2, 2], [2, 3], [3, 1], [0, 2]), ([2, 3], [3, 2], [2, 4], [4, 1]),
                                                            ([4, 6], [2, 4], [1, 5], [3, 0]), ([3, 2], [3, 5], [-1, 0], [5, -3]),
                                                            ([3, 5], [4, 2], [0, 0], [0, 0]), ([6, 3], [4, 6], [8, 1], [1, 7]))):
        yield case(f"transposed_dilated_{number}", x, w, input_dilation=spread, filter_dilation=dilation, low=low, high=high)
    yield case("transposed_dilated_shared", random("f32", (1, 5, 6, 24), 86), random("f32", (4, 4, 24, 3), 87), input_dilation=[2, 4],
               filter_dilation=[3, 2], low=[3, 2], high=[4, 6])
    yield case("all_at_once", x, w, strides=[2, 1], input_dilation=[3, 2], filter_dilation=[1, 2], low=[0, 3], high=[4, 1])
    # Gradients to filters of strided convolutions, whose images are taken apart by phases.
    back = "[f, 0, 1, b] x [i, 0, 1, o] -> [0, 1, b, f]"
    image, cotangent = random("f32", (4, 9, 11, 3), 84), random("f32", (4, 4, 5, 8), 85)
    yield case("gradient_of_strided", image, cotangent, back, filter_dilation=[2, 2], low=[1, 1], high=[0, -2])
    yield case("gradient_of_uneven_strides", image, cotangent, back, filter_dilation=[2, 1], low=[0, 0], high=[1, -4])
    yield case("gradient_of_wide_strides", image, cotangent, back, filter_dilation=[3, 2], low=[2, -1], high=[1, 0])
    yield case("gradient_of_strided_bf16", random("bf16", (4, 9, 11, 3), 86), random("bf16", (4, 4, 5, 8), 87), back, filter_dilation=[2, 2])
    yield case("gradient_of_strided_tap", random("bf16", (4, 8, 8, 8), 88), random("bf16", (4, 4, 4, 16), 89), back, filter_dilation=[2, 2],
               high=[-1, -1])
    yield case("cut", x, w, low=[-2, 1], high=[1, -3])
    yield case("too_wide", random("f32", (1, 2, 9, 4), 3), random("f32", (3, 3, 4, 4), 4))
    yield case("one_place", random("f32", (2, 4, 5, 3), 42), random("f32", (3, 2, 3, 6), 43), strides=[2, 4])
    yield case("one_place_grouped", random("f32", (2, 4, 5, 3), 42), random("f32", (3, 2, 1, 6), 43), strides=[2, 4], high=[0, 1],
               feature_groups=3)
    for name, shape, options in (("", (3, 2, 3, 6), {}), ("_dilated", (2, 2, 3, 6), {"filter_dilation": [2, 3]})):
        yield case(f"one_place_symbolic{name}", random("f32", (2, 4, 5, 3), 42), random("f32", shape, 43), strides=[2, 4],
                   types=["tensor<?x?x?x?xf32>"] * 2, result="tensor<?x1x1x?xf32>", **options)
    yield case("one_by_one", x, random("f32", (1, 1, 8, 5), 5))
    yield case("one_by_one_strided", x, random("f32", (1, 1, 8, 5), 5), strides=[2, 2])
    yield case("to_one_feature", x, random("f32", (3, 3, 8, 1), 6), low=[1, 1], high=[1, 1])
    yield case("from_three", random("f32", (1, 20, 20, 3), 7), random("f32", (7, 7, 3, 16), 8), strides=[2, 2], low=[3, 3],
               high=[3, 3])
    # Vectors along the places would begin anywhere in the image, and lie in its padding in part.
    for dtype in ("bf16", "f16", "f32"):
        for low, high in (([1, 2], [0, 1]), ([0, 1], [0, 1]), ([0, 8], [0, 3])):
            yield case(f"one_by_one_padded_{dtype}_{low[1]}", random(dtype, (2, 8, 4, 13), 64), random(dtype, (16, 8, 1, 1), 65), NCHW, low=low,
                       high=high)
    yield case("empty_batch", Tensor("f32", np.zeros((0, 5, 5, 4))), random("f32", (3, 3, 4, 4), 9))


def shared():
    """Long windows of few results, each shared by threads; tiles of few features."""
    x = random("f32", (2, 9, 10, 40), 50)
    same = dict(low=[1, 1], high=[1, 1])
    for features in (1, 2, 3, 8):
        yield case(f"shared_{features}", x, random("f32", (3, 3, 40, features), 51), **same)
    yield case("shared_strided", x, random("f32", (3, 3, 40, 1), 52), strides=[2, 3], filter_dilation=[2, 1], low=[1, 0], high=[2, 3])
    yield case("shared_nchw", random("f32", (2, 40, 9, 10), 53), random("f32", (1, 40, 3, 3), 54), NCHW, **same)
    yield case("shared_transposed", random("f32", (1, 5, 6, 24), 55), random("f32", (4, 4, 24, 3), 56), input_dilation=[2, 2],
               low=[2, 2], high=[2, 2])
    yield case("shared_depthwise", random("f32", (1, 17, 18, 8), 57), random("f32", (13, 13, 1, 8), 58), feature_groups=8, low=[6, 6],
               high=[6, 6])
    yield case("shared_one_by_few", random("f32", (1, 2, 2, 24), 59), random("f32", (3, 3, 24, 50), 60), **same)
    for dtype in ("f16", "f64", "i32"):
        x = random(dtype, (1, 7, 8, 24), 61)
        yield case(f"shared_{dtype}", x, random(dtype, (3, 3, 24, 1), 62), **same)
        yield case(f"shared_two_{dtype}", x, random(dtype, (3, 3, 24, 2), 63), **same)
    x, w = random("f32", (3, 6, 7, 24), 64), random("f32", (3, 3, 24, 1), 65)
    yield case("shared_symbolic", x, w, types=["tensor<?x6x7x24xf32>", w.mlir], result="tensor<?x6x7x1xf32>", **same)
    w = random("f32", (3, 3, 24, 3), 66)
    yield case("shared_symbolic_three", x, w, types=["tensor<?x?x7x24xf32>", w.mlir], result="tensor<?x?x7x3xf32>", **same)


def ranks():
    yield case("of_1d", random("f32", (2, 30, 6), 10), random("f32", (5, 6, 7), 11), "[b, 0, f] x [0, i, o] -> [b, 0, f]",
               strides=[2], low=[2], high=[2])
    yield case("of_3d", random("f32", (1, 5, 6, 7, 4), 12), random("f32", (2, 3, 3, 4, 6), 13),
               "[b, 0, 1, 2, f] x [0, 1, 2, i, o] -> [b, 0, 1, 2, f]", strides=[1, 2, 1], low=[1, 0, 1], high=[0, 1, 1])
    yield case("of_0d", random("f32", (4, 6), 14), random("f32", (6, 5), 15), "[b, f] x [i, o] -> [b, f]")


def dim_orders():
    x, w = random("f32", (2, 6, 9, 10), 16), random("f32", (8, 6, 3, 3), 17)
    yield case("nchw", x, w, NCHW, low=[1, 1], high=[1, 1])
    yield case("nchw_strided", x, w, NCHW, strides=[2, 2], low=[0, 1], high=[1, 1])
    yield case("odd_order", random("f32", (7, 2, 5, 8), 18), random("f32", (5, 3, 4, 3), 19),
               "[0, b, f, 1] x [i, 0, o, 1] -> [f, 1, 0, b]", low=[1, 1], high=[0, 1])


def groups():
    x = random("f32", (2, 7, 8, 12), 20)
    yield case("grouped", x, random("f32", (3, 3, 4, 15), 21), feature_groups=3, low=[1, 1], high=[1, 1])
    yield case("depthwise", x, random("f32", (3, 3, 1, 12), 22), feature_groups=12, low=[1, 1], high=[1, 1], strides=[2, 1])
    yield case("depthwise_multiplied", x, random("f32", (3, 2, 1, 24), 23), feature_groups=12)
    yield case("grouped_nchw", random("f32", (2, 6, 8, 9), 24), random("f32", (4, 3, 3, 3), 25), NCHW, feature_groups=2)
    yield case("depthwise_nchw", random("f32", (2, 6, 8, 9), 26), random("f32", (6, 1, 3, 3), 27), NCHW, feature_groups=6,
               low=[1, 1], high=[1, 1])
    yield case("batch_groups", random("f32", (6, 7, 8, 4), 28), random("f32", (3, 3, 4, 9), 29), batch_groups=3)


def types():
    for dtype in ("f16", "bf16", "f64", "i32", "u8", "i64"):
        x, w = random(dtype, (1, 8, 9, 16), 30), random(dtype, (3, 3, 16, 24), 31)
        if dtype == "u8":
            yield case("of_u8", x, w, out="u32")
            continue
        yield case(f"of_{dtype}", x, w, low=[1, 1], high=[1, 1])
        yield case(f"nchw_{dtype}", Tensor(dtype, x.values.transpose(0, 3, 1, 2)),
                   Tensor(dtype, w.values.transpose(3, 2, 0, 1)), NCHW, low=[1, 1], high=[1, 1])
        yield case(f"depthwise_{dtype}", x, Tensor(dtype, w.values[:, :, :1, :16]), feature_groups=16)
    x, w = random("i8", (1, 8, 9, 16), 32), random("i8", (3, 3, 16, 24), 33)
    yield case("of_i8", x, w, out="i32")
    x, w = random("f16", (1, 8, 9, 16), 34), random("f16", (3, 3, 16, 24), 35)
    yield case("f16_to_f32", x, w, out="f32", strides=[2, 2])


def symbolic():
    x, w = random("f32", (3, 10, 11, 4), 36), random("f32", (3, 3, 4, 6), 37)
    yield case("symbolic_batch", x, w, types=["tensor<?x10x11x4xf32>", w.mlir], result="tensor<?x10x11x6xf32>", low=[1, 1],
               high=[1, 1])
    yield case("symbolic_image", x, w, types=["tensor<?x?x?x4xf32>", w.mlir], result="tensor<?x?x?x6xf32>", low=[1, 1],
               high=[1, 1], strides=[2, 2])
    yield case("symbolic_filter", x, w, types=["tensor<?x?x?x?xf32>", "tensor<?x?x?x?xf32>"], result="tensor<?x?x?x?xf32>")
    x, w = random("f32", (2, 9, 10, 8), 36), random("f32", (3, 3, 8, 5), 37)
    yield case("symbolic_cut", x, w, types=["tensor<?x?x?x?xf32>"] * 2, result="tensor<?x?x?x?xf32>", low=[-2, 1], high=[-1, -3],
               input_dilation=[2, 1])
    # One place, which reads nothing but padding.
    x, w = random("f32", (3, 1, 1), 38), random("f32", (2, 1, 1), 39)
    yield case("symbolic_of_padding", x, w, "[b, f, 0] x [o, i, 0] -> [b, f, 0]", types=["tensor<?x1x1xf32>", w.mlir],
               result="tensor<?x2x1xf32>", strides=[2], low=[1])


def winograd():
    """The same sums from fewer products: odd and even sizes, all that comes before and behind the blocks."""
    def one(name, x, w, dims=NHWC, dtype="f32", **more):
        return case(f"winograd_{name}", random(dtype, x, 70), random(dtype, w, 71), dims, algorithm="winograd", **more)

    yield one("same", (2, 9, 10, 8), (3, 3, 8, 12), low=[1, 1], high=[1, 1])
    yield one("valid", (1, 8, 5, 4), (3, 3, 4, 20))
    yield one("f64", (1, 8, 7, 4), (3, 3, 4, 6), dtype="f64", low=[1, 0], high=[0, 2])
    yield one("nchw", (2, 6, 9, 10), (8, 6, 3, 3), NCHW, low=[1, 1], high=[1, 1])
    yield one("odd_order", (7, 2, 5, 8), (5, 3, 4, 3), "[0, b, f, 1] x [i, 0, o, 1] -> [f, 1, 0, b]", low=[1, 1], high=[0, 1])
    yield one("of_1d", (2, 30, 6), (3, 6, 7), "[b, 0, f] x [0, i, o] -> [b, 0, f]", low=[2], high=[1])
    yield one("of_3d", (1, 5, 6, 4, 4), (3, 3, 3, 4, 6), "[b, 0, 1, 2, f] x [0, 1, 2, i, o] -> [b, 0, 1, 2, f]",
              low=[1, 0, 1], high=[0, 1, 1])
    yield one("spread_and_cut", (2, 9, 10, 8), (3, 3, 8, 5), input_dilation=[2, 1], low=[-2, 1], high=[1, -3])
    yield one("too_wide", (1, 2, 9, 4), (3, 3, 4, 4))
    yield one("empty_batch", (0, 5, 5, 4), (3, 3, 4, 4))
    yield one("symbolic_batch", (3, 10, 11, 4), (3, 3, 4, 6), types=["tensor<?x10x11x4xf32>", "tensor<3x3x4x6xf32>"],
              result="tensor<?x10x11x6xf32>", low=[1, 1], high=[1, 1])
    some = "tensor<?x?x?x?xf32>"
    yield one("symbolic", (2, 9, 10, 8), (3, 3, 8, 12), types=[some, some], result=some, low=[1, 1], high=[1, 1])


def panels():
    """What a product on a CPU packs in several blocks: more rows than a panel has, several parts of the sum, edges of all of them."""
    def one(name, x, w, dims=NHWC, dtype="f32", **more):
        return case(f"panels_{name}", random(dtype, x, 90), random(dtype, w, 91), dims, **more)

    same = dict(low=[1, 1], high=[1, 1])
    yield one("blocks", (2, 20, 21, 40), (3, 3, 40, 70), **same)
    yield one("deep", (1, 7, 7, 300), (3, 3, 300, 33), **same)
    yield one("equal", (8, 8, 8, 8), (3, 3, 8, 8), **same)
    yield one("uneven", (1, 33, 35, 24), (3, 5, 24, 33), strides=[2, 1], filter_dilation=[1, 2], low=[2, 0], high=[1, 3])
    yield one("one_row", (1, 1, 50, 16), (1, 3, 16, 20), low=[0, 1], high=[0, 1])
    yield one("one_tap", (2, 9, 9, 40), (1, 1, 40, 65), strides=[2, 2])
    yield one("nchw", (2, 24, 15, 17), (40, 24, 3, 3), NCHW, **same)
    yield one("grouped", (2, 9, 10, 64), (3, 3, 32, 48), feature_groups=2, **same)
    yield one("f64", (1, 9, 10, 20), (3, 3, 20, 18), dtype="f64", **same)
    yield one("bf16", (1, 9, 10, 24), (3, 3, 24, 40), dtype="bf16", **same)
    # Pixels with few channels: a row of taps is one run of memory, in the middle of the image and at its borders.
    stem = dict(strides=[2, 2], low=[3, 3], high=[3, 3])
    yield one("runs", (1, 31, 29, 3), (7, 7, 3, 64), **stem)
    yield one("runs_nchw", (2, 3, 30, 31), (24, 3, 7, 7), NCHW, **stem)
    yield one("runs_unpadded", (2, 15, 17, 3), (5, 5, 3, 20))
    yield one("runs_uneven", (1, 12, 19, 4), (3, 3, 4, 32), low=[0, 2], high=[1, 0], strides=[1, 3])
    yield one("runs_wider_than_image", (1, 9, 3, 2), (3, 5, 2, 16), low=[1, 2], high=[1, 2])
    yield one("runs_dilated", (1, 12, 19, 3), (3, 3, 3, 16), filter_dilation=[1, 2], **same)
    # Rows of several loops that lie along the innermost one, whose size is not known.
    x, w = random("f32", (2, 20, 25), 90), random("f32", (20, 40, 1), 91)
    yield case("panels_symbolic_rows", x, w, "[b, f, 0] x [i, o, 0] -> [b, 0, f]", types=["tensor<?x20x?xf32>", w.mlir],
               result="tensor<?x?x40xf32>")
    yield one("runs_symbolic", (2, 14, 15, 3), (3, 3, 3, 16), types=["tensor<?x?x?x3xf32>", "tensor<3x3x3x16xf32>"],
              result="tensor<?x?x?x16xf32>", **same)


def fused():
    x, w, bias = random("f32", (2, 8, 8, 8), 38), random("f32", (3, 3, 8, 16), 39), random("f32", (16,), 40)
    y = convolve(x.values, w.values, NHWC, low=[1, 1], high=[1, 1])
    yield simple("bias_relu", [x, w, bias], [("f32", np.maximum(y + bias.values, 0))],
                 f"""%y = array.conv %0, %1 dims = <{NHWC}> low = [1, 1] high = [1, 1] : ({x.mlir}, {w.mlir}) -> tensor<2x8x8x16xf32>
                     %z = array.add %y, %2 : (tensor<2x8x8x16xf32>, tensor<16xf32>) -> tensor<2x8x8x16xf32>
                     %r0 = array.relu %z : tensor<2x8x8x16xf32>""", "sum")
    v = random("f32", (3, 3, 16, 8), 41)
    yield simple("two_in_a_row", [x, w, v], [("f32", convolve(np.maximum(y, 0), v.values, NHWC, low=[1, 1], high=[1, 1]))],
                 f"""%y = array.conv %0, %1 dims = <{NHWC}> low = [1, 1] high = [1, 1] : ({x.mlir}, {w.mlir}) -> tensor<2x8x8x16xf32>
                     %z = array.relu %y : tensor<2x8x8x16xf32>
                     %r0 = array.conv %z, %2 dims = <{NHWC}> low = [1, 1] high = [1, 1]
                         : (tensor<2x8x8x16xf32>, {v.mlir}) -> tensor<2x8x8x8xf32>""", "model")


def padded():
    """Padding by an op of its own, before a convolution that pads, cuts or spreads as well."""
    x, w = random("f32", (1, 6, 7, 3), 30), random("f32", (3, 3, 3, 4), 31)
    for name, window, interior in (("plain", {}, [0, 0, 0, 0]), ("more", dict(low=[1, 0], high=[0, 2]), [0, 0, 0, 0]),
                                   ("cut", dict(low=[-2, 0], high=[1, -2]), [0, 0, 0, 0]), ("spread", {}, [0, 1, 2, 0]),
                                   ("spread_twice", dict(input_dilation=[2, 1]), [0, 0, 0, 0])):
        wide = np.zeros((1, (6 - 1) * (interior[1] + 1) + 1, (7 - 1) * (interior[2] + 1) + 1, 3))
        wide[:, ::interior[1] + 1, ::interior[2] + 1] = x.values
        wide = np.pad(wide, ((0, 0), (1, 2), (2, 1), (0, 0)))
        y = convolve(wide, w.values, NHWC, **window)
        type = mlir_type("f32", wide.shape)
        yield simple(f"padded_{name}", [x, w], [("f32", y)],
                     f"""%z = array.constant dense<0.0> : tensor<f32>
                         %p = array.pad %0, %z low = [0, 1, 2, 0] high = [0, 2, 1, 0] interior = {interior} : ({x.mlir}, tensor<f32>) -> {type}
                         %r0 = array.conv %p, %1 {attributes(NHWC, window)} : ({type}, {w.mlir}) -> {mlir_type("f32", y.shape)}""", "sum")


def channels_first():
    """Chains whose tensors change to channels last inside, on the CPU and on CUDA: what lies between convolutions goes along,
    what is used by others (a sum over all, a reshape, a result) is turned back."""
    for dtype, batch in (("f32", 2), ("f16", "?")):
        x, bias = random(dtype, (2, 16, 14, 15), 50), random(dtype, (48, 1, 1), 51)
        w, v, u = random(dtype, (32, 16, 3, 3), 52), random(dtype, (48, 48, 3, 3), 53), random(dtype, (48, 1, 3, 3), 54)
        w, v, u = (Tensor(dtype, tensor.values / 8) for tensor in (w, v, u))
        pad = dict(low=[1, 1], high=[1, 1])
        a = np.maximum(convolve(x.values, w.values, NCHW, **pad), 0)
        b = np.concatenate([a, x.values], 1)
        c = convolve(b, v.values, NCHW, **pad) + bias.values + b
        d = convolve(c, u.values, NCHW, feature_groups=48, **pad)[:, 8:40, ::2, 1:]
        type_of = lambda *shape: f"tensor<{'x'.join(map(str, (batch,) + shape))}x{dtype}>"  # noqa: E731
        t16, t32, t48, cut = type_of(16, 14, 15), type_of(32, 14, 15), type_of(48, 14, 15), type_of(32, 7, 14)
        total = f"tensor<{dtype}>"
        yield simple(f"channels_first_{dtype}", [x, w, v, u, bias], [(dtype, d), (dtype, c.sum()), (dtype, a.reshape(-1, 32 * 14 * 15))],
                     f"""%y = array.conv %0, %1 {attributes(NCHW, pad)} : ({t16}, {w.mlir}) -> {t32}
                         %a = array.relu %y : {t32}
                         %b = array.concatenate %a, %0 axis = 1 : ({t32}, {t16}) -> {t48}
                         %z = array.conv %b, %2 {attributes(NCHW, pad)} : ({t48}, {v.mlir}) -> {t48}
                         %s = array.add %z, %4 : ({t48}, {bias.mlir}) -> {t48}
                         %c = array.add %s, %b : {t48}
                         %d = array.conv %c, %3 {attributes(NCHW, dict(pad, feature_groups=48))} : ({t48}, {u.mlir}) -> {t48}
                         %r0 = array.slice %d [:, 8:40, ::2, 1:] : {t48} -> {cut}
                         %r1 = array.reduce sum, %c axes = [0, 1, 2, 3] : {t48} -> {total}
                         %r2 = array.reshape %a : {t32} -> {type_of(32 * 14 * 15)}""", "model",
                     types=[t16, w.mlir, v.mlir, u.mlir, bias.mlir], result_types=[cut, total, type_of(32 * 14 * 15)])


def bottleneck():
    """Convolutions of one tap, several and one with channels first, as PyTorch has them: on CUDA images change to channels last
    between them, and the last result is stored with its channels first."""
    for dtype in ("f16", "bf16"):
        x, scale = random(dtype, (2, 64, 12, 12), 95), random(dtype, (64, 1, 1), 96)
        w, v, u = random(dtype, (64, 64, 1, 1), 97), random(dtype, (64, 64, 3, 3), 98), random(dtype, (64, 64, 1, 1), 99)
        w, v, u = (Tensor(dtype, tensor.values / 8) for tensor in (w, v, u))
        rounded = lambda values: Tensor(dtype, values).values  # noqa: E731
        a = rounded(np.maximum(convolve(x.values, w.values, NCHW) * scale.values, 0))
        b = rounded(np.maximum(convolve(a, v.values, NCHW, low=[1, 1], high=[1, 1]), 0))
        type, same = x.mlir, attributes(NCHW, dict(low=[1, 1], high=[1, 1]))
        yield simple(f"bottleneck_{dtype}", [x, w, v, u, scale], [(dtype, convolve(b, u.values, NCHW) + x.values)],
                     f"""%y = array.conv %0, %1 {attributes(NCHW, {})} : ({type}, {w.mlir}) -> {type}
                         %s = array.mul %y, %4 : ({type}, {scale.mlir}) -> {type}
                         %a = array.relu %s : {type}
                         %z = array.conv %a, %2 {same} : ({type}, {v.mlir}) -> {type}
                         %b = array.relu %z : {type}
                         %c = array.conv %b, %3 {attributes(NCHW, {})} : ({type}, {u.mlir}) -> {type}
                         %r0 = array.add %c, %0 : {type}""", "model")


KRSC = "[b, 0, 1, f] x [o, 0, 1, i] -> [b, 0, 1, f]"


def pixels():
    """Images of 16-bit types whose pixels are aligned: on sm_90a columns of them are copied by hardware, see Convolution.h."""
    def one(name, x, w, dims=NHWC, dtype="f16", **window):
        return case(f"pixels_{name}", random(dtype, x, 80), random(dtype, w, 81), dims, **window)

    same = dict(low=[1, 1], high=[1, 1])
    for dtype in ("f16", "bf16"):
        yield one(f"{dtype}", (2, 9, 11, 64), (3, 3, 64, 24), dtype=dtype, **same)
        yield one(f"krsc_{dtype}", (3, 7, 5, 72), (40, 3, 3, 72), KRSC, dtype, **same)
    # Channels that are not whole steps, fewer than a line, and as many as a step under each tap.
    for channels in (8, 16, 24, 40, 96):
        yield one(f"{channels}_channels", (1, 6, 7, channels), (3, 3, channels, 16), **same)
    yield one("valid", (2, 9, 8, 16), (3, 3, 16, 24))
    yield one("one_by_one_strided", (2, 9, 10, 16), (1, 1, 16, 32), strides=[2, 2])
    yield one("one_by_one_padded", (2, 4, 5, 16), (1, 1, 16, 32), low=[1, 0], high=[0, 2])
    yield one("stem", (1, 17, 15, 8), (7, 7, 8, 16), strides=[2, 2], low=[3, 3], high=[3, 3])
    yield one("asymmetric", (2, 10, 11, 16), (3, 3, 16, 24), strides=[3, 2], low=[0, 2], high=[3, 1])
    yield one("dilated", (2, 9, 10, 16), (3, 2, 16, 24), filter_dilation=[2, 3], low=[2, 1], high=[0, 3])
    yield one("dilated_strided", (1, 13, 12, 16), (3, 3, 16, 16), strides=[2, 3], filter_dilation=[3, 2], low=[4, 1], high=[1, 2])
    yield one("even_window", (2, 8, 7, 16), (2, 4, 16, 16), low=[1, 2], high=[0, 1])
    yield one("wide_padding", (1, 3, 4, 16), (3, 3, 16, 16), low=[5, 4], high=[6, 3])
    yield one("equal_sizes", (8, 8, 8, 8), (8, 8, 8, 8), low=[4, 4], high=[3, 3])
    yield one("cut", (2, 9, 10, 16), (3, 3, 16, 16), low=[-2, 1], high=[1, -3])
    yield one("one_row", (1, 1, 40, 16), (1, 5, 16, 16), low=[0, 2], high=[0, 2])
    yield one("one_column", (2, 30, 1, 16), (3, 1, 16, 24), low=[1, 0], high=[1, 0])
    yield one("few_positions", (1, 3, 3, 64), (3, 3, 64, 32), low=[1, 1], high=[0, 0])
    yield one("long_sum", (1, 4, 4, 512), (3, 3, 512, 64), **same)
    yield one("many_tiles", (3, 20, 21, 16), (3, 3, 16, 136), **same)
    yield one("of_1d", (2, 30, 16), (5, 16, 24), "[b, 0, f] x [0, i, o] -> [b, 0, f]", strides=[2], low=[2], high=[2])
    yield one("of_3d", (2, 5, 4, 6, 16), (2, 3, 3, 16, 24), "[b, 0, 1, 2, f] x [0, 1, 2, i, o] -> [b, 0, 1, 2, f]", strides=[1, 2, 1],
              low=[1, 0, 1], high=[0, 1, 1])
    # Corners and steps that the hardware does not have.
    yield one("far_corner", (1, 2, 3, 16), (3, 3, 16, 16), low=[130, 0], high=[0, 2])
    yield one("long_stride", (1, 40, 12, 16), (3, 3, 16, 16), strides=[9, 3])
    x, w = random("f16", (3, 10, 11, 16), 82), random("f16", (3, 3, 16, 24), 83)
    yield case("pixels_symbolic_batch", x, w, types=["tensor<?x10x11x16xf16>", w.mlir], result="tensor<?x10x11x24xf16>", **same)
    # Numbers that TF32 has.
    x, w = (Tensor("f32", random("i32", shape, seed).values - 4.0) for shape, seed in (((2, 6, 7, 32), 91), ((24, 3, 3, 32), 92)))
    y = convolve(x.values, w.values, KRSC, **same)
    yield simple("pixels_tf32", [x, w], [("f32", y)],
                 f"%r0 = array.conv %0, %1 {attributes(KRSC, same)} allow_tf32 : ({x.mlir}, {w.mlir}) -> {mlir_type('f32', y.shape)}", "sum")
    x, w = random("i8", (2, 6, 7, 32), 84), random("i8", (24, 3, 3, 32), 85)
    yield case("pixels_i8", x, w, KRSC, out="i32", **same)


def pixels_fused():
    """What is fused behind such a convolution: bias, scale and shift, a residual, relu, and rounding."""
    for dtype, features in (("bf16", 64), ("f16", 40)):
        x, w = random(dtype, (2, 7, 9, 32), 86), random(dtype, (3, 3, 32, features), 87)
        scale, shift = random(dtype, (features,), 88), random(dtype, (features,), 89)
        residual = random(dtype, (2, 7, 9, features), 90)
        y = convolve(x.values, w.values, NHWC, low=[1, 1], high=[1, 1])
        type, line = residual.mlir, scale.mlir
        yield simple(f"pixels_fused_{dtype}", [x, w, scale, shift, residual],
                     [(dtype, np.maximum(y * scale.values + shift.values + residual.values, 0))],
                     f"""%y = array.conv %0, %1 dims = <{NHWC}> low = [1, 1] high = [1, 1] : ({x.mlir}, {w.mlir}) -> {type}
                         %a = array.mul %y, %2 : ({type}, {line}) -> {type}
                         %b = array.add %a, %3 : ({type}, {line}) -> {type}
                         %c = array.add %b, %4 : {type}
                         %r0 = array.relu %c : {type}""", "model")


def strips():
    """Depthwise convolutions with channels innermost, whose threads compute strips of neighbouring positions where these are many."""
    def one(name, shape, taps, dtype="bf16", dims=NHWC, **window):
        return case(f"strips_{name}", random(dtype, shape, 93), random(dtype, (*taps, 1, shape[-1]), 94), dims,
                    feature_groups=shape[-1], **window)

    same = dict(low=[1, 1], high=[1, 1])
    yield one("whole", (2, 24, 28, 56), (3, 3), **same)
    yield one("ragged", (2, 31, 29, 40), (3, 3), "f16", **same)
    yield one("valid", (1, 40, 37, 64), (3, 3))
    yield one("strided", (2, 47, 45, 72), (3, 3), strides=[2, 2], **same)
    yield one("strided_apart", (4, 33, 77, 24), (2, 3), "f16", strides=[1, 3], low=[0, 2], high=[1, 1])
    yield one("wide", (1, 33, 34, 64), (7, 7), low=[3, 3], high=[3, 3])
    yield one("asymmetric", (1, 41, 49, 36), (5, 2), "f32", low=[4, 0], high=[1, 1])
    yield one("dilated", (2, 29, 30, 44), (3, 3), "f32", filter_dilation=[2, 3], low=[2, 1], high=[0, 3])
    yield one("wide_padding", (32, 3, 4, 64), (3, 3), low=[4, 3], high=[3, 5])
    yield one("of_1d", (2, 1999, 40), (5,), dims="[b, 0, f] x [0, i, o] -> [b, 0, f]", strides=[2], low=[2], high=[2])
    yield one("of_3d", (2, 9, 11, 12, 32), (3, 2, 3), dims="[b, 0, 1, 2, f] x [0, 1, 2, i, o] -> [b, 0, 1, 2, f]", low=[1, 0, 1], high=[1, 1, 1])
    x, w = random("bf16", (3, 22, 31, 40), 95), random("bf16", (3, 3, 1, 40), 96)
    yield case("strips_symbolic_batch", x, w, types=["tensor<?x22x31x40xbf16>", w.mlir], result="tensor<?x22x31x40xbf16>", feature_groups=40, **same)
    yield case("strips_symbolic_image", x, w, types=["tensor<3x?x?x40xbf16>", w.mlir], result="tensor<3x?x?x40xbf16>", feature_groups=40, **same)
    shift, residual = random("bf16", (40,), 97), random("bf16", (3, 22, 31, 40), 98)
    y = convolve(x.values, w.values, NHWC, feature_groups=40, **same)
    type, line = residual.mlir, shift.mlir
    yield simple("strips_fused", [x, w, shift, residual], [("bf16", np.maximum(y + shift.values, 0) + residual.values)],
                 f"""%y = array.conv %0, %1 dims = <{NHWC}> low = [1, 1] high = [1, 1] feature_groups = 40 : ({x.mlir}, {w.mlir}) -> {type}
                     %a = array.add %y, %2 : ({type}, {line}) -> {type}
                     %b = array.relu %a : {type}
                     %r0 = array.add %b, %3 : {type}""", "model")


def packed_groups():
    """Small groups of 16-bit types, some of which become one with a filter that is mostly zeros (PackGroups.cpp)."""
    def one(name, x, w, groups, dims=KRSC, dtype="f16", **window):
        return case(f"packed_groups_{name}", random(dtype, x, 100), random(dtype, w, 101), dims, feature_groups=groups, **window)

    same = dict(low=[1, 1], high=[1, 1])
    for dtype in ("f16", "bf16"):
        yield one(f"{dtype}", (2, 9, 8, 128), (128, 3, 3, 4), 32, dtype=dtype, **same)
    yield one("halves", (2, 7, 9, 256), (256, 3, 3, 32), 8, **same)
    yield one("widening", (2, 9, 8, 64), (128, 3, 3, 4), 16, strides=[2, 1], **same)
    yield one("narrowing", (1, 8, 9, 256), (64, 3, 3, 32), 8, **same)
    yield one("all", (3, 8, 8, 24), (48, 3, 3, 4), 6, **same)
    yield one("no_divisor", (2, 8, 7, 120), (120, 3, 3, 24), 5, **same)
    yield one("too_many", (1, 7, 7, 520), (520, 3, 3, 40), 13, **same)
    yield one("equal", (8, 8, 8, 8), (8, 8, 8, 4), 2, low=[4, 4], high=[3, 3])
    yield one("first", (2, 9, 8, 128), (3, 3, 8, 128), 16, NHWC, **same)
    yield one("channels_first", (2, 128, 9, 8), (128, 8, 3, 3), 16, NCHW, **same)
    yield one("of_1d", (2, 40, 64), (64, 3, 8), 8, "[b, 0, f] x [o, 0, i] -> [b, 0, f]", low=[1], high=[1])
    yield one("dilated", (2, 11, 9, 128), (128, 3, 3, 16), 8, filter_dilation=[2, 1], low=[2, 1], high=[2, 1])
    x, w = random("bf16", (3, 10, 11, 64), 102), random("bf16", (64, 3, 3, 8), 103)
    yield case("packed_groups_symbolic_batch", x, w, KRSC, types=["tensor<?x10x11x64xbf16>", w.mlir], result="tensor<?x10x11x64xbf16>",
               feature_groups=8, **same)
    images, filters = random("bf16", (9, 9, 5), 110), random("bf16", (12, 9, 1), 111)
    yield case("packed_groups_symbolic_image", images, filters, "[b, f, 0] x [o, i, 0] -> [b, f, 0]", types=["tensor<9x9x?xbf16>", filters.mlir],
               result="tensor<3x12x?xbf16>", low=[1], high=[2], batch_groups=3)
    shift, residual = random("bf16", (64,), 104), random("bf16", (3, 10, 11, 64), 105)
    y = convolve(x.values, w.values, KRSC, feature_groups=8, **same)
    type, line = residual.mlir, shift.mlir
    yield simple("packed_groups_fused", [x, w, shift, residual], [("bf16", np.maximum(y + shift.values + residual.values, 0))],
                 f"""%y = array.conv %0, %1 {attributes(KRSC, dict(same, feature_groups=8))} : ({x.mlir}, {w.mlir}) -> {type}
                     %a = array.add %y, %2 : ({type}, {line}) -> {type}
                     %b = array.add %a, %3 : {type}
                     %r0 = array.relu %b : {type}""", "model")


def packed_pixels():
    """Images of few channels and many positions, whose rows of windows are lines of packed pixels (PackPixels.cpp)."""
    def one(name, x, w, dims=KRSC, dtype="bf16", **window):
        return case(f"packed_pixels_{name}", random(dtype, x, 106), random(dtype, w, 107), dims, **window)

    stem = dict(strides=[2, 2], low=[3, 3], high=[3, 3])
    yield one("stem", (2, 131, 130, 3), (24, 7, 7, 3), **stem)
    yield one("channels_first", (2, 3, 130, 131), (16, 3, 7, 7), NCHW, "f16", **stem)
    yield one("first", (1, 93, 92, 3), (5, 6, 3, 16), NHWC, low=[2, 2], high=[2, 2])
    yield one("one_channel", (1, 93, 92, 1), (16, 5, 17, 1), dtype="f16", low=[2, 8], high=[1, 9])
    yield one("four_channels", (2, 131, 130, 4), (16, 3, 5, 4), strides=[2, 2], low=[0, 1], high=[1, 0])
    yield one("wide", (1, 93, 95, 2), (16, 2, 11, 2), filter_dilation=[3, 1], low=[2, 5], high=[1, 5])
    yield one("dilated_rows", (1, 93, 95, 3), (8, 3, 6, 3), filter_dilation=[1, 2], low=[1, 5], high=[1, 5])
    yield one("uneven_strides", (2, 96, 137, 3), (8, 3, 6, 3), strides=[1, 3], low=[1, 2], high=[1, 2])
    yield one("of_1d", (4, 4100, 1), (8, 25, 1), "[b, 0, f] x [o, 0, i] -> [b, 0, f]", strides=[2], low=[12], high=[12])
    yield one("few_elements", (1, 93, 92, 3), (16, 3, 3, 3), low=[1, 1], high=[1, 1])
    x, w = random("bf16", (2, 182, 181, 3), 108), random("bf16", (24, 7, 7, 3), 109)
    yield case("packed_pixels_symbolic_batch", x, w, KRSC, types=["tensor<?x182x181x3xbf16>", w.mlir], result="tensor<?x91x91x24xbf16>", **stem)


def constant_filters():
    """Filters that are constants, which CPUs put into panels once, and groups that share a vector there."""
    def one(name, x, w, dims=NHWC, **window):
        x, w = random("f32", x, 110), random("f32", w, 111)
        values = convolve(x.values, w.values, dims, **window)
        data = w.values.astype("<f4").tobytes().hex().upper()
        return simple(f"constant_filter_{name}", [x], [("f32", np.maximum(values, 0))],
                      f"""%w = array.constant dense<"0x{data}"> : {w.mlir}
                          %y = array.conv %0, %w {attributes(dims, window)} : ({x.mlir}, {w.mlir}) -> {mlir_type("f32", values.shape)}
                          %r0 = array.relu %y : {mlir_type("f32", values.shape)}""", "sum")
    same = {"low": [1, 1], "high": [1, 1]}
    for features in (8, 16, 20, 24, 48):
        yield one(f"{features}", (2, 9, 10, 5), (3, 3, 5, features), **same)
    yield one("one_position", (1, 3, 3, 6), (3, 3, 6, 16))
    yield one("long_sums", (1, 6, 5, 70), (3, 3, 70, 32), **same)
    yield one("stem", (1, 23, 21, 3), (7, 7, 3, 16), strides=[2, 2], low=[3, 3], high=[3, 3])
    yield one("nchw", (2, 6, 9, 11), (16, 6, 3, 3), NCHW, strides=[2, 1], low=[1, 0], high=[0, 1])
    # A CPU's kernel stores results with channels first: squares of sixteen by sixteen or less, which may cross images.
    yield one("nchw_equal", (16, 16, 4, 4), (16, 16, 3, 3), NCHW, **same)
    yield one("nchw_crossing", (3, 5, 7, 9), (40, 5, 3, 3), NCHW, **same)
    yield one("nchw_rows", (1, 3, 33, 35), (17, 3, 5, 5), NCHW, strides=[2, 2], low=[2, 2], high=[2, 2])
    yield one("nchw_one_position", (2, 6, 3, 3), (32, 6, 3, 3), NCHW)
    yield one("pointwise_nchw", (2, 6, 5, 7), (16, 6, 1, 1), NCHW)
    yield one("pointwise_nchw_strided", (2, 6, 5, 7), (16, 6, 1, 1), NCHW, strides=[2, 3])
    for groups, channels, features in ((8, 2, 2), (9, 4, 2), (16, 3, 2), (4, 4, 4), (33, 4, 4), (8, 1, 4), (5, 2, 4), (2, 8, 8), (6, 3, 5)):
        yield one(f"groups_{groups}_{channels}_{features}", (2, 7, 6, groups * channels), (3, 3, channels, groups * features),
                  feature_groups=groups, **same)
    yield one("groups_nchw", (1, 64, 9, 10), (64, 4, 3, 3), NCHW, feature_groups=16, strides=[2, 1], **same)
    yield one("groups_of_one_tap", (2, 5, 6, 32), (1, 1, 2, 32), feature_groups=16)


def known_places():
    """A result of known size says how large the operand has to be."""
    w, x = random("f32", (2, 1, 3), 60), random("f32", (1, 1, 6), 63)
    # Without places, whatever the batch.
    filters, images = random("f32", (3, 1, 2, 2), 64), random("f32", (2, 1, 1, 4), 65)
    yield case("no_places", images, filters, types=["tensor<?x1x1x4xf32>", filters.mlir], result="tensor<?x0x1x2xf32>", strides=[1, 3], low=[-1, 1],
               high=[0, 1], feature_groups=2)
    yield case("no_places_of_open", images, filters, types=["tensor<?x1x1x?xf32>", "tensor<?x1x?x?xf32>"],
               result="tensor<?x?x1x?xf32>", strides=[1, 3], low=[-1, 1], high=[0, 1], feature_groups=2)
    yield Case("known_places", """  func.func @NAME(%0: tensor<1x1x?xf32>, %1: tensor<2x1x3xf32>) -> (tensor<1x2x4xf32>) {
    %r = array.conv %0, %1 dims = <[b, f, 0] x [o, i, 0] -> [b, f, 0]> : (tensor<1x1x?xf32>, tensor<2x1x3xf32>) -> tensor<1x2x4xf32>
    return %r : tensor<1x2x4xf32>
  }
""", [Step([x, w], [("f32", convolve(x.values, w.values, "[b, f, 0] x [o, i, 0] -> [b, f, 0]"))]),
      Step([random("f32", (1, 1, 4), 63), w], error="got 2 and 4")], "sum")


def cases():
    for make in (windows, shared, ranks, dim_orders, groups, types, symbolic, winograd, panels, fused, padded, channels_first, bottleneck,
                 pixels, pixels_fused, strips, packed_groups, packed_pixels, constant_filters,
                 known_places):
        yield from make()
