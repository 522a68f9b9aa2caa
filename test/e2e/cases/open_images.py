"""Convolutions of images whose height and width are known when inputs are bound: several sizes for each module.

On a GPU they take the kernels of images of known size (Convolution.h, PackPixels.cpp, PackGroups.cpp, WindowStrips.h)."""
import itertools

import numpy as np

from cases.conv import KRSC, NCHW, NHWC, attributes, convolve, labels, random
from harness import Case, Step, function
from tensors import Tensor

# Batch, height and width: odd ones, the smallest, all equal, many positions.
SIZES = ((2, 9, 11), (1, 1, 1), (8, 8, 8), (3, 5, 2), (1, 33, 40))


def gradients(x, w, y, dims, strides=None, low=None, high=None, filter_dilation=None, feature_groups=1):
    """What flows back to x and w from y, in float64."""
    inputs, filters, outputs = labels(dims)
    spatial = [str(i) for i in range(len(inputs) - 2)]
    strides, filter_dilation = (v or [1] * len(spatial) for v in (strides, filter_dilation))
    low, high = (v or [0] * len(spatial) for v in (low, high))
    inner, outer, own = (["b", "f"] + spatial, ["b", "f"] + spatial, ["i", "o"] + spatial)
    x, w, y = (values.transpose([names.index(label) for label in order])
               for values, names, order in ((x, inputs, inner), (w, filters, own), (y, outputs, outer)))
    padded = np.pad(x, [(0, 0), (0, 0)] + list(zip(low, high)))
    to_x, to_w = np.zeros(padded.shape), np.zeros(w.shape)
    per_group, channels, places = w.shape[1] // feature_groups, w.shape[0], int(np.prod(y.shape[2:]))
    for g, tap in itertools.product(range(feature_groups), itertools.product(*map(range, w.shape[2:]))):
        features, part = slice(g * per_group, (g + 1) * per_group), slice(g * channels, (g + 1) * channels)
        window = (slice(None), part) + tuple(slice(t * d, t * d + (n - 1) * s + 1 if n else 0, s)
                                             for t, d, n, s in zip(tap, filter_dilation, y.shape[2:], strides))
        to_x[window] += np.einsum("bo...,io->bi...", y[:, features], w[(slice(None), features) + tap])
        to_w[(slice(None), features) + tap] += np.einsum("bip,bop->io", padded[window].reshape(len(y), channels, places),
                                                                     y[:, features].reshape(len(y), per_group, places))
    to_x = to_x[(...,) + tuple(slice(l, l + n) for l, n in zip(low, x.shape[2:]))]
    return (to_x.transpose([inner.index(label) for label in inputs]), to_w.transpose([own.index(label) for label in filters]))


def open_type(dims, shape, dtype, batch="?"):
    """The type of an image with the labels `dims`, whose batch and spatial dims are open."""
    return f"tensor<{'x'.join(str(n) if label == 'f' else batch if label == 'b' else '?' for label, n in zip(dims, shape))}x{dtype}>"


def over_images(name, channels, w, dims=KRSC, dtype="f16", sizes=SIZES, batch="?", gradient=None, more="", **window):
    """One function, called with images of each size. With `gradient` that of the function to its inputs, too."""
    inputs, _, outputs = labels(dims)
    w = random(dtype, w, 121)
    steps = []
    for seed, (n, *places) in enumerate(sizes):
        shape = [n if label == "b" else channels if label == "f" else places[int(label)] for label in inputs]
        x = random(dtype, tuple(shape), 122 + seed)
        y = convolve(x.values, w.values, dims, **window)
        steps.append(Step([x, w], [(dtype, y)]))
        if gradient is not None:
            back = random(dtype, y.shape, 140 + seed)
            flow = gradients(x.values, w.values, back.values, dims, **window)
            steps.append(Step([x, w, back], [(dtype, flow["xw".index(which)]) for which in gradient], "_vjp"))
    features = y.shape[outputs.index("f")]
    image = open_type(inputs, [channels if label == "f" else 0 for label in inputs], dtype, batch)
    result = open_type(outputs, [features if label == "f" else 0 for label in outputs], dtype, batch)
    text = function("", [("%x", image), ("%w", w.mlir)], [("%y", result)],
                    f"    %y = array.conv %x, %w {attributes(dims, window)}{more} : ({image}, {w.mlir}) -> {result}")
    asked = () if gradient is None else (":" + ",".join(str("xw".index(which)) for which in gradient),)
    return Case(f"open_images_{name}", text, steps, "sum", gradients=asked)


SAME = dict(low=[1, 1], high=[1, 1])


def columns():
    """Columns of pixels (Convolution.h): what moves their corners, and what makes of one size another."""
    yield over_images("same", 64, (24, 3, 3, 64), **SAME)
    yield over_images("same_bf16", 16, (40, 3, 3, 16), dtype="bf16", **SAME)
    yield over_images("strided", 16, (24, 3, 3, 16), strides=[2, 2], **SAME)
    yield over_images("strided_apart", 16, (24, 3, 3, 16), strides=[3, 2], low=[0, 2], high=[3, 1])
    yield over_images("one_by_one", 32, (24, 1, 1, 32))
    yield over_images("one_by_one_strided", 32, (24, 1, 1, 32), strides=[2, 2])
    yield over_images("seven", 16, (16, 7, 7, 16), strides=[2, 2], low=[3, 3], high=[3, 3])
    yield over_images("patches", 24, (40, 2, 2, 24), strides=[2, 2])
    yield over_images("dilated", 16, (24, 3, 3, 16), filter_dilation=[2, 3], low=[2, 3], high=[2, 3])
    yield over_images("first", 16, (3, 3, 16, 24), NHWC, **SAME)
    yield over_images("channels_first", 16, (24, 16, 3, 3), NCHW, "bf16", **SAME)
    yield over_images("channels_first_strided", 16, (24, 16, 3, 3), NCHW, strides=[2, 2], **SAME)
    yield over_images("channels_first_one_by_one", 32, (24, 32, 1, 1), NCHW)
    yield over_images("groups_of_a_line", 128, (48, 3, 3, 64), feature_groups=2, **SAME)
    # Sizes that a window does not fit into have no positions.
    yield over_images("valid", 16, (24, 3, 3, 16), sizes=SIZES + ((2, 2, 9), (1, 3, 3), (0, 5, 6), (2, 0, 4)))
    yield over_images("wide_windows", 16, (16, 5, 4, 16), sizes=((1, 5, 4), (2, 4, 9), (2, 9, 3), (1, 12, 13)), strides=[2, 1])
    # Corners behind what a tensor map holds.
    yield over_images("cut", 16, (24, 3, 3, 16), sizes=((2, 9, 11), (1, 3, 40)), low=[1, -2], high=[-3, 1])
    yield over_images("height", 16, (24, 3, 3, 16), batch="3", sizes=((3, 9, 11), (3, 6, 6)), **SAME)
    yield over_images("of_1d", 16, (24, 5, 16), "[b, 0, f] x [o, 0, i] -> [b, 0, f]", sizes=((2, 30), (1, 1), (16, 16), (3, 301)), strides=[2], low=[2],
                      high=[2])
    yield over_images("of_3d", 16, (24, 3, 3, 3, 16), "[b, 0, 1, 2, f] x [o, 0, 1, 2, i] -> [b, 0, 1, 2, f]",
                      sizes=((2, 5, 6, 4), (1, 1, 1, 1), (4, 4, 4, 4), (1, 3, 9, 7)), strides=[1, 2, 1], low=[1, 1, 1], high=[1, 1, 1])


def flows():
    """Gradients to images and to filters, together and alone."""
    small = SIZES[:4] + ((2, 13, 12),)
    for dtype in ("f16", "bf16"):
        yield over_images(f"gradient_{dtype}", 16, (24, 3, 3, 16), dtype=dtype, sizes=small, gradient="xw", **SAME)
    yield over_images("gradient_line", 64, (64, 3, 3, 64), sizes=small, gradient="xw", **SAME)
    yield over_images("gradient_strided", 16, (24, 3, 3, 16), sizes=small, gradient="xw", strides=[2, 2], **SAME)
    yield over_images("gradient_strided_line", 64, (64, 3, 3, 64), sizes=small + ((0, 5, 6), (2, 0, 4)), gradient="xw", strides=[2, 2], **SAME)
    yield over_images("gradient_seven", 16, (16, 7, 7, 16), dtype="bf16", sizes=small + ((1, 2, 6),), gradient="xw", strides=[2, 2], low=[3, 3], high=[3, 3])
    yield over_images("gradient_apart", 16, (24, 4, 3, 16), sizes=small, gradient="xw", strides=[3, 2], low=[1, 0], high=[2, 1])
    yield over_images("gradient_strided_dilated", 16, (24, 3, 3, 16), sizes=small, gradient="xw", strides=[2, 2], filter_dilation=[2, 3], low=[2, 3], high=[2, 3])
    yield over_images("gradient_strided_dilated_apart", 16, (24, 3, 2, 16), sizes=small, gradient="xw", strides=[3, 4], filter_dilation=[2, 6],
                      low=[2, 3], high=[1, 4])
    yield over_images("gradient_strided_valid", 16, (24, 5, 5, 16), sizes=small + ((1, 4, 9),), gradient="xw", strides=[2, 2])
    yield over_images("gradient_strided_first", 16, (24, 16, 3, 3), NCHW, sizes=small, gradient="xw", strides=[2, 2], **SAME)
    yield over_images("gradient_strided_f32", 5, (6, 3, 3, 5), dtype="f32", sizes=small, gradient="xw", strides=[2, 2], **SAME)
    yield over_images("gradient_of_1d", 16, (24, 5, 16), "[b, 0, f] x [o, 0, i] -> [b, 0, f]", sizes=((2, 30), (1, 1), (16, 16), (3, 301), (2, 0)), gradient="xw",
                      strides=[2], low=[2], high=[2])
    yield over_images("gradient_one_by_one", 16, (24, 1, 1, 16), sizes=small, gradient="xw")
    yield over_images("gradient_one_by_one_strided", 16, (24, 1, 1, 16), sizes=small, gradient="xw", strides=[2, 2])
    yield over_images("gradient_patches", 16, (24, 2, 2, 16), sizes=small, gradient="xw", strides=[2, 2])
    yield over_images("gradient_dilated", 16, (24, 3, 3, 16), sizes=small, gradient="xw", filter_dilation=[2, 2], low=[2, 2], high=[2, 2])
    yield over_images("gradient_channels_first", 16, (24, 16, 3, 3), NCHW, sizes=small, gradient="xw", **SAME)
    yield over_images("gradient_depthwise", 24, (24, 3, 3, 1), sizes=small, gradient="xw", feature_groups=24, **SAME)
    # Rows that strips end in, and leave something of; rows of which most blocks have none.
    rows = ((2, 3, 14), (1, 2, 15), (3, 1, 29), (0, 4, 5), (2, 0, 7), (2, 7, 0), (1, 90, 3))
    yield over_images("gradient_depthwise_rows", 32, (32, 3, 3, 1), dtype="bf16", sizes=small + rows, gradient="xw", feature_groups=32, **SAME)
    yield over_images("gradient_depthwise_equal", 8, (8, 8, 8, 1), sizes=((8, 8, 8), (8, 15, 8)), gradient="xw", feature_groups=8)
    yield over_images("gradient_depthwise_five", 12, (12, 5, 5, 1), dtype="f32", sizes=small + rows, gradient="w", feature_groups=12, strides=[2, 1],
                      low=[2, 2], high=[2, 2])
    yield over_images("gradient_depthwise_valid", 16, (16, 3, 4, 1), sizes=small + rows, gradient="w", feature_groups=16, strides=[1, 2])
    yield over_images("gradient_depthwise_dilated", 16, (16, 3, 3, 1), sizes=small + rows, gradient="w", feature_groups=16, filter_dilation=[2, 3],
                      low=[2, 3], high=[2, 3])
    yield over_images("gradient_depthwise_padded", 16, (16, 3, 3, 1), sizes=small + rows + ((1, 0, 4), (1, 4, 0)), gradient="w", feature_groups=16,
                      low=[3, 3], high=[3, 3])
    yield over_images("gradient_depthwise_strided", 24, (24, 3, 3, 1), sizes=small, gradient="xw", feature_groups=24, strides=[2, 2], **SAME)


def spread():
    """Transposed convolutions, whose phases are computed together (SpreadConv.h): with parts of a phase left over, and of images of nothing."""
    some = SIZES + ((2, 0, 3),)
    yield over_images("spread", 32, (24, 2, 2, 32), sizes=some, low=[1, 1], high=[1, 1], input_dilation=[2, 2])
    yield over_images("spread_odd", 16, (24, 3, 3, 16), sizes=some, low=[1, 1], high=[1, 1], input_dilation=[2, 2])
    yield over_images("spread_apart", 16, (24, 4, 3, 16), dtype="bf16", sizes=some, low=[2, 3], high=[1, 0], input_dilation=[2, 3])
    yield over_images("spread_one_way", 16, (24, 3, 4, 16), sizes=some, strides=[2, 1], low=[1, 2], high=[1, 1], input_dilation=[1, 2])
    yield over_images("spread_cut", 16, (24, 3, 3, 16), sizes=some, low=[-1, 1], high=[1, -2], input_dilation=[2, 2])
    yield over_images("spread_element", 16, (24, 1, 1, 16), sizes=some, input_dilation=[2, 2])
    # With dilation, which may have a factor in common with the spread.
    dilated = dict(sizes=some, input_dilation=[2, 3])
    yield over_images("spread_dilated", 16, (24, 3, 3, 16), filter_dilation=[2, 2], low=[2, 2], high=[2, 2], **dilated)
    yield over_images("spread_dilated_apart", 16, (24, 3, 4, 16), dtype="bf16", filter_dilation=[3, 4], low=[5, 4], high=[0, 9], **dilated)
    yield over_images("spread_dilated_f32", 5, (3, 2, 5, 6), NHWC, dtype="f32", filter_dilation=[5, 2], low=[0, 2], high=[1, 0], **dilated)
    yield over_images("spread_dilated_cut", 16, (24, 3, 2, 16), filter_dilation=[3, 1], low=[-1, 0], high=[4, -2], **dilated)
    yield over_images("spread_factors", 16, (24, 3, 2, 16), sizes=some, input_dilation=[4, 6], filter_dilation=[2, 4], low=[3, 5], high=[2, 7])
    yield over_images("spread_factors_valid", 16, (24, 3, 2, 16), sizes=some, input_dilation=[2, 4], filter_dilation=[4, 4], high=[1, 0])
    yield over_images("spread_factors_cut", 16, (24, 2, 1, 16), sizes=some, input_dilation=[2, 2], filter_dilation=[2, 3], low=[-1, 1], high=[0, -2])
    yield over_images("spread_factors_in_groups", 32, (32, 3, 3, 16), sizes=some, input_dilation=[2, 2], filter_dilation=[2, 2], low=[3, 2], high=[1, 2],
                      feature_groups=2)
    yield over_images("spread_f32", 5, (3, 3, 5, 6), NHWC, dtype="f32", sizes=some, low=[2, 1], high=[0, 1], input_dilation=[2, 2])
    yield over_images("spread_channels_first", 16, (24, 16, 2, 2), NCHW, sizes=some, low=[1, 1], high=[1, 1], input_dilation=[2, 2])


def others():
    """Few channels, small groups, and a group for each channel; other types."""
    yield over_images("stem", 3, (16, 7, 7, 3), sizes=SIZES + ((1, 131, 130),), dtype="bf16", strides=[2, 2], low=[3, 3], high=[3, 3])
    yield over_images("stem_first", 3, (3, 3, 3, 16), NHWC, strides=[2, 2], **SAME)
    yield over_images("stem_channels_first", 3, (16, 3, 7, 7), NCHW, strides=[2, 2], low=[3, 3], high=[3, 3])
    yield over_images("small_groups", 64, (64, 3, 3, 4), feature_groups=16, **SAME)
    yield over_images("small_groups_strided", 128, (128, 3, 3, 8), dtype="bf16", feature_groups=16, strides=[2, 2], **SAME)
    for dtype in ("bf16", "f32"):
        yield over_images(f"depthwise_{dtype}", 40, (40, 3, 3, 1), dtype=dtype, feature_groups=40, **SAME)
        yield over_images(f"depthwise_strided_{dtype}", 24, (24, 3, 3, 1), dtype=dtype, feature_groups=24, strides=[2, 2], **SAME)
    yield over_images("depthwise_seven", 16, (16, 7, 7, 1), feature_groups=16, low=[3, 3], high=[3, 3])
    yield over_images("depthwise_valid", 16, (16, 3, 3, 1), dtype="f32", feature_groups=16, sizes=((2, 9, 11), (1, 2, 5), (1, 3, 3), (2, 20, 21)))
    yield over_images("depthwise_channels_first", 16, (16, 1, 3, 3), NCHW, feature_groups=16, **SAME)
    yield over_images("f32", 16, (24, 3, 3, 16), dtype="f32", strides=[2, 1], **SAME)
    exact = random("i32", (24, 3, 3, 32), 130)
    x = [Tensor("i8", random("i32", (n, h, w, 32), 131).values - 4) for n, h, w in SIZES]
    weights = Tensor("i8", exact.values - 4)
    text = function("", [("%x", "tensor<?x?x?x32xi8>"), ("%w", weights.mlir)], [("%y", "tensor<?x?x?x24xi32>")],
                    f"    %y = array.conv %x, %w {attributes(KRSC, SAME)} : (tensor<?x?x?x32xi8>, {weights.mlir}) -> tensor<?x?x?x24xi32>")
    yield Case("open_images_i8", text, [Step([image, weights], [("i32", convolve(image.values, weights.values, KRSC, **SAME))]) for image in x], "sum")


def constant_filters():
    """Filters that CPUs put into panels once, of images of which the filter alone knows the channels."""
    w = random("f32", (3, 3, 5, 16), 160)
    image, data = "tensor<?x?x?x?xf32>", w.values.astype("<f4").tobytes().hex().upper()
    text = function("", [("%x", image)], [("%y", "tensor<?x?x?x16xf32>")],
                    f"""    %w = array.constant dense<"0x{data}"> : {w.mlir}
    %y = array.conv %x, %w {attributes(NHWC, SAME)} : ({image}, {w.mlir}) -> tensor<?x?x?x16xf32>""")
    steps = []
    for seed, (n, *places) in enumerate(SIZES):
        x = random("f32", (n, *places, 5), 161 + seed)
        steps.append(Step([x], [("f32", convolve(x.values, w.values, NHWC, **SAME))]))
    yield Case("open_images_constant_filter", text, steps, "sum")


def fused():
    """Scale, shift, a residual and relu behind a convolution of open size, and one behind another."""
    w, v = random("bf16", (32, 3, 3, 32), 150), random("bf16", (32, 3, 3, 32), 151)
    w, v = (Tensor("bf16", tensor.values / 8) for tensor in (w, v))
    scale, shift = random("bf16", (32,), 152), random("bf16", (32,), 153)
    image, line = "tensor<?x?x?x32xbf16>", "tensor<32xbf16>"
    steps = []
    for seed, (n, *places) in enumerate(SIZES):
        x = random("bf16", (n, *places, 32), 154 + seed)
        a = Tensor("bf16", np.maximum(convolve(x.values, w.values, KRSC, **SAME) * scale.values + shift.values, 0))
        steps.append(Step([x, w, v, scale, shift], [("bf16", convolve(a.values, v.values, KRSC, **SAME) + x.values)]))
    text = function("", [("%x", image), ("%w", w.mlir), ("%v", v.mlir), ("%g", line), ("%b", line)], [("%r", image)],
                    f"""    %y = array.conv %x, %w {attributes(KRSC, SAME)} : ({image}, {w.mlir}) -> {image}
    %s = array.mul %y, %g : ({image}, {line}) -> {image}
    %t = array.add %s, %b : ({image}, {line}) -> {image}
    %a = array.relu %t : {image}
    %z = array.conv %a, %v {attributes(KRSC, SAME)} : ({image}, {v.mlir}) -> {image}
    %r = array.add %z, %x : {image}""")
    yield Case("open_images_fused", text, steps, "model")


def cases():
    for make in (columns, flows, spread, others, constant_filters, fused):
        yield from make()
