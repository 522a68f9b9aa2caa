"""Windows over images whose rows are innermost, each channel by itself: lanes of vectors are neighbours in a row (the direction
"images" of the CPU's reductions). Rows shorter and longer than vectors and bands, strides, dilation, padding on either side."""
import numpy as np

from cases.conv import NCHW, attributes as conv_attributes, case as conv_case, convolve, random
from cases.pool import attributes as pool_attributes, case as pool_case, windows_of
from harness import Case, Step, function, simple
from tensors import Tensor, mlir_type

LINE = "[b, f, 0] x [o, i, 0] -> [b, f, 0]"
CUBE = "[b, f, 0, 1, 2] x [o, i, 0, 1, 2] -> [b, f, 0, 1, 2]"
SAME = dict(low=[1, 1], high=[1, 1])


def depthwise(name, shape, taps=(3, 3), dtype="f32", dims=NCHW, multiplier=1, seed=0, **window):
    channels = shape[1]
    return conv_case(f"image_rows_{name}", random(dtype, shape, 300 + seed), random(dtype, (channels * multiplier, 1) + taps, 301 + seed),
                     dims, feature_groups=channels, **window)


def convolutions():
    for seed, (height, width) in enumerate(((1, 1), (1, 17), (3, 2), (5, 7), (16, 16), (33, 47), (40, 40))):
        for stride in (1, 2, 3):
            yield depthwise(f"{height}x{width}_by_{stride}", (2, 3, height, width), seed=seed, strides=[stride, stride], **SAME)
    yield depthwise("equal", (4, 4, 4, 4), **SAME)
    yield depthwise("one_image", (1, 1, 30, 31), **SAME)
    # Several parts of a row, several bands of rows.
    yield depthwise("wide", (1, 2, 9, 1100), **SAME)
    yield depthwise("wide_strided", (1, 2, 9, 1501), strides=[1, 2], **SAME)
    yield depthwise("tall", (1, 2, 300, 70), **SAME)
    yield depthwise("tall_strided", (1, 2, 301, 70), strides=[2, 1], **SAME)
    yield depthwise("valid", (2, 3, 20, 37))
    yield depthwise("low", (2, 3, 20, 37), low=[2, 5], high=[0, 0])
    yield depthwise("high", (2, 3, 20, 37), low=[0, 0], high=[4, 20], strides=[1, 2])
    yield depthwise("cut", (2, 3, 20, 37), low=[-2, -3], high=[1, -5])
    yield depthwise("only_padding", (2, 3, 2, 2), low=[0, 19], high=[3, 21])
    yield depthwise("dilated", (2, 3, 24, 39), filter_dilation=[2, 3], low=[2, 3], high=[2, 3])
    yield depthwise("dilated_strided", (2, 3, 24, 39), filter_dilation=[3, 3], strides=[2, 2], low=[2, 3], high=[2, 3])
    yield depthwise("dilated_far", (1, 2, 5, 900), filter_dilation=[1, 400], low=[1, 400], high=[1, 400])
    yield depthwise("five", (2, 3, 19, 28), (5, 5), low=[2, 2], high=[2, 2])
    yield depthwise("uneven_taps", (2, 3, 19, 28), (2, 7), low=[0, 3], high=[1, 3], strides=[1, 2])
    yield depthwise("many_taps", (1, 2, 20, 40), (11, 13), low=[5, 6], high=[5, 6])
    yield depthwise("too_many_taps", (1, 2, 20, 40), (19, 19), low=[9, 9], high=[9, 9])
    for stride in (4, 7, 16, 17):
        yield depthwise(f"by_{stride}", (2, 3, 20, 301), strides=[1, stride], **SAME)
    yield depthwise("multiplied", (2, 3, 19, 28), multiplier=2, **SAME)
    yield depthwise("spread", (2, 3, 9, 11), input_dilation=[2, 2], low=[1, 2], high=[2, 1])
    yield depthwise("of_1d", (2, 5, 77), (4,), dims=LINE, low=[3], high=[0])
    yield depthwise("of_1d_strided", (2, 5, 77), (4,), dims=LINE, low=[1], high=[2], strides=[2])
    yield depthwise("of_3d", (1, 2, 5, 6, 21), (2, 3, 3), dims=CUBE, low=[1, 0, 1], high=[0, 1, 1], strides=[1, 2, 1])
    for dtype in ("f16", "bf16", "f64", "i32", "i8"):
        yield depthwise(f"of_{dtype}", (2, 3, 13, 37), dtype=dtype, **SAME)
        yield depthwise(f"of_{dtype}_strided", (2, 3, 13, 37), dtype=dtype, strides=[2, 2], **SAME)
    few = random("f32", (2, 6, 11, 23), 330)
    yield conv_case("image_rows_grouped", few, random("f32", (6, 2, 3, 3), 331), NCHW, feature_groups=3, **SAME)


def pools():
    x = random("f32", (2, 3, 18, 37), 340)
    edges = dict(low=[0, 0, 1, 1], high=[0, 0, 1, 1])
    for kind in ("max", "min", "sum", "prod"):
        for stride in (1, 2):
            yield pool_case(f"image_rows_{kind}_by_{stride}", kind, x, window=[1, 1, 3, 3], strides=[1, 1, stride, stride], **edges)
    nan = Tensor("f32", np.where(np.arange(x.values.size).reshape(x.values.shape) % 37 == 0, np.nan, x.values))
    yield pool_case("image_rows_max_of_nan", "max", nan, window=[1, 1, 3, 3], **edges)
    yield pool_case("image_rows_line", "max", x, window=[1, 1, 1, 4], low=[0, 0, 0, 3])
    yield pool_case("image_rows_column", "max", x, window=[1, 1, 4, 1], low=[0, 0, 3, 0])
    yield pool_case("image_rows_over_channels", "sum", x, window=[1, 2, 2, 2], low=[0, 1, 0, 1])
    for dtype, kind in (("u8", "max"), ("i8", "min"), ("i64", "sum"), ("i1", "or"), ("f16", "max"), ("bf16", "sum")):
        y = random(dtype, (2, 9, 41), 341) if dtype != "i1" else Tensor("i1", np.arange(2 * 9 * 41).reshape(2, 9, 41) % 5 == 0)
        yield pool_case(f"image_rows_{kind}_{dtype}", kind, y, window=[1, 3, 2], strides=[1, 1, 2], low=[0, 1, 1], high=[0, 1, 0])
    window = dict(window=[1, 1, 3, 3], strides=[1, 1, 2, 2], **edges)
    values, outside = windows_of(x.values, 0, **window)
    mean = values.sum(-1) / (~outside).sum(-1)
    yield simple("image_rows_mean", [x], [("f32", mean)],
                 f"%r0 = array.avg_pool %0 {pool_attributes(window)} : {x.mlir} -> {mlir_type('f32', mean.shape)}", "sum")


def fused():
    """What is computed before windows, once an element, and behind them, for the lanes that there are."""
    x, w = random("f32", (2, 5, 13, 21), 350), random("f32", (5, 1, 3, 3), 351)
    bias = random("f32", (5, 1, 1), 352)
    window = dict(SAME, feature_groups=5)
    y = np.maximum(convolve(np.exp(x.values), w.values, NCHW, **window) + bias.values, 0) + x.values
    yield simple("image_rows_fused", [x, w, bias], [("f32", y)],
                 f"""%e = array.exp %0 : {x.mlir}
                     %y = array.conv %e, %1 {conv_attributes(NCHW, window)} : ({x.mlir}, {w.mlir}) -> {x.mlir}
                     %z = array.add %y, %2 : ({x.mlir}, {bias.mlir}) -> {x.mlir}
                     %m = array.relu %z : {x.mlir}
                     %r0 = array.add %m, %0 : {x.mlir}""", "sum")
    back = convolve(x.values[:, :, :, ::-1], w.values, NCHW, **window)
    yield simple("image_rows_reversed", [x, w], [("f32", back)],
                 f"""%e = array.reverse %0 axes = [3] : {x.mlir} -> {x.mlir}
                     %r0 = array.conv %e, %1 {conv_attributes(NCHW, window)} : ({x.mlir}, {w.mlir}) -> {x.mlir}""", "sum")
    both = mlir_type("f32", (2, 5, 13, 42))
    joined = windows_of(np.concatenate([x.values, -x.values], 3), -np.inf, window=[1, 1, 2, 3], high=[0, 0, 1, 2])[0].max(-1)
    yield simple("image_rows_joined", [x], [("f32", joined)],
                 f"""%n = array.neg %0 : {x.mlir}
                     %c = array.concatenate %0, %n axis = 3 : ({x.mlir}, {x.mlir}) -> {both}
                     %r0 = array.reduce_window max, %c window = [1, 1, 2, 3] high = [0, 0, 1, 2] : {both} -> {both}""", "exact")
    # A quotient of whole numbers behind the sums: none of lanes that do not exist.
    n, d = random("i32", (3, 7, 19), 353), Tensor("i32", np.arange(3 * 7 * 19).reshape(3, 7, 19) % 11 + 1)
    pad = dict(window=[1, 3, 3], low=[0, 1, 1], high=[0, 1, 1])
    total = windows_of(n.values, 0, **pad)[0].sum(-1).astype(np.int64)
    yield simple("image_rows_quotient", [n, d], [("i32", total // d.values)],
                 f"""%s = array.reduce_window sum, %0 {pool_attributes(pad)} : {n.mlir} -> {n.mlir}
                     %r0 = array.div %s, %1 : {n.mlir}""", "exact")


def open_sizes():
    """One function, called with images of each size."""
    w = random("f32", (3, 1, 3, 3), 360)
    for stride in (1, 2):
        window = dict(SAME, strides=[stride, stride], feature_groups=3)
        steps = []
        for seed, (batch, height, width) in enumerate(((2, 9, 11), (1, 1, 1), (3, 3, 3), (1, 40, 300), (2, 5, 16), (0, 4, 4))):
            x = random("f32", (batch, 3, height, width), 361 + seed)
            steps.append(Step([x, w], [("f32", convolve(x.values, w.values, NCHW, **window))]))
        body = f"    %y = array.conv %x, %w {conv_attributes(NCHW, window)} : (tensor<?x3x?x?xf32>, {w.mlir}) -> tensor<?x3x?x?xf32>"
        text = function("", [("%x", "tensor<?x3x?x?xf32>"), ("%w", w.mlir)], [("%y", "tensor<?x3x?x?xf32>")], body)
        yield Case(f"image_rows_open_by_{stride}", text, steps, "sum")


def cases():
    for make in (convolutions, pools, fused, open_sizes):
        yield from make()
