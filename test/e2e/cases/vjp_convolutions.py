"""Gradients of functions with convolutions, by the kernels that images, filters and groups of different sizes get."""
import numpy as np

from cases import conv
from harness import Case, Step, function
from tensors import Tensor, random


def without_places():
    """A convolution in groups whose window is too long for its input: nothing flows back."""
    x, w = random("f32", (2, 1, 9), 1), random("f32", (3, 3, 12), 2)
    body = """    %y = array.conv %x, %w dims = <[b, 0, f] x [0, i, o] -> [b, 0, f]> strides = [3] high = [1] feature_groups = 3
           : (tensor<2x1x9xf32>, tensor<3x3x12xf32>) -> tensor<2x0x12xf32>"""
    text = function("", [("%x", x.mlir), ("%w", w.mlir)], [("%y", "tensor<2x0x12xf32>")], body)
    zeros = [("f32", np.zeros(x.shape)), ("f32", np.zeros(w.shape))]
    yield Case("conv_without_places", text, [Step([x, w, Tensor("f32", np.zeros((2, 0, 12)))], zeros, "_vjp")], gradients=("",))


def pull_back(x, w, d, window, groups=1):
    """The gradients of a convolution (conv.KRSC, of any rank) to its image and its filter, one tap and one group at a time."""
    low, high = window["low"], window["high"]
    padded = np.pad(x, [(0, 0), *zip(low, high), (0, 0)])
    dx, dw = np.zeros(padded.shape), np.zeros(w.shape)
    inputs, outputs = w.shape[-1], w.shape[0] // groups
    inner, axes = slice(1, x.ndim - 1), range(x.ndim - 1)
    for g, *tap in np.ndindex(groups, *w.shape[inner]):
        place = (slice(None), *(slice(t * step, t * step + (n - 1) * stride + 1, stride) for t, step, n, stride in zip(
            tap, window.get("filter_dilation", [1] * len(tap)), d.shape[inner], window.get("strides", [1] * len(tap)))),
            slice(g * inputs, (g + 1) * inputs))
        own = slice(g * outputs, (g + 1) * outputs)
        dw[(own, *tap)] = np.tensordot(d[..., own], padded[place], (axes, axes))
        dx[place] += d[..., own] @ w[(own, *tap)]
    return dx[(slice(None), *(slice(begin, begin + size) for begin, size in zip(low, x.shape[inner])))], dw


def pixels():
    """Convolutions of 16-bit types: back to the image they are convolutions with the reversed filter, whose images come by columns of pixels
    on sm_90a, and back to the filter sums of such columns: in parts that end within images, and with taps beside each other in a tile where
    channels are a multiple of 64. Behind strides the phases of the image's gradient are computed together."""
    for name, dtype, dims, shape, (r, s), window in (
            ("same", "bf16", conv.NHWC, (2, 7, 9, 32), (3, 3), dict(low=[1, 1], high=[1, 1])),
            ("asymmetric", "f16", conv.NHWC, (1, 8, 7, 16), (3, 2), dict(low=[0, 1], high=[2, 0])),
            ("dilated", "f16", conv.KRSC, (2, 9, 8, 24), (3, 3), dict(low=[2, 3], high=[2, 3], filter_dilation=[2, 3])),
            ("one_by_one", "bf16", conv.KRSC, (2, 5, 6, 16), (1, 1), dict(low=[1, 0], high=[0, 1])),
            ("strided", "f16", conv.NHWC, (2, 9, 8, 16), (3, 3), dict(low=[1, 1], high=[1, 1], strides=[2, 1])),
            ("strided_both", "bf16", conv.KRSC, (2, 9, 10, 16), (3, 3), dict(low=[1, 1], high=[1, 1], strides=[2, 2])),
            ("strided_far", "f16", conv.KRSC, (1, 11, 10, 16), (2, 4), dict(low=[0, 1], high=[1, 2], strides=[3, 2])),
            ("strided_one", "bf16", conv.KRSC, (2, 7, 8, 16), (1, 1), dict(low=[0, 0], high=[0, 0], strides=[2, 2])),
            ("panels", "bf16", conv.KRSC, (3, 15, 17, 64), (3, 3), dict(low=[1, 1], high=[1, 1])),
            ("panels_first", "f16", conv.NHWC, (2, 19, 18, 128), (3, 2), dict(low=[0, 1], high=[2, 0], strides=[1, 2])),
            ("tails", "f16", conv.KRSC, (3, 16, 15, 72), (2, 3), dict(low=[1, 2], high=[0, 2], filter_dilation=[1, 2])),
            ("tails_first", "bf16", conv.NHWC, (3, 16, 15, 24), (3, 2), dict(low=[1, 0], high=[1, 1])),
            ("product", "bf16", conv.KRSC, (3, 15, 17, 32), (1, 1), dict(low=[0, 0], high=[0, 0])),
            # Positions enough for partial sums, which end within images.
            ("parts", "bf16", conv.KRSC, (3, 53, 47, 64), (1, 2), dict(low=[0, 1], high=[0, 0])),
            ("parts_first", "f16", conv.NHWC, (5, 73, 41, 16), (2, 1), dict(low=[1, 0], high=[1, 0], strides=[2, 1])),
            ("parts_product", "bf16", conv.KRSC, (3, 51, 49, 24), (1, 1), dict(low=[0, 0], high=[0, 0]))):
        outputs = 40
        x = random(dtype, shape, 40, -1, 1)
        w = random(dtype, (r, s, shape[3], outputs) if dims == conv.NHWC else (outputs, r, s, shape[3]), 41, -1, 1)
        y = conv.convolve(x.values, w.values, dims, **window)
        d = random(dtype, y.shape, 42, -1, 1)
        taps = w.values.transpose(3, 0, 1, 2) if dims == conv.NHWC else w.values
        dx, dw = pull_back(x.values, taps, d.values, window)
        text = function("", [("%x", x.mlir), ("%w", w.mlir)], [("%y", d.mlir)],
                        f"    %y = array.conv %x, %w {conv.attributes(dims, window)} : ({x.mlir}, {w.mlir}) -> {d.mlir}")
        wanted = [(dtype, dx), (dtype, dw.transpose(1, 2, 3, 0) if dims == conv.NHWC else dw)]
        yield Case(f"pixels_{name}", text, [Step([x, w, d], wanted, "_vjp")], "sum", gradients=("",))


def channels_first():
    """Back to filters of images with channels first, which mma.sync sums up in parts of the positions of all images."""
    for name, dtype, shape, taps, outputs, window in (
            ("product", "bf16", (4, 32, 31, 26), (1, 1), 40, dict(low=[0, 0], high=[0, 0])),
            ("small_images", "f16", (70, 24, 7, 7), (1, 1), 64, dict(low=[0, 0], high=[0, 0])),
            ("strided", "bf16", (6, 32, 41, 40), (1, 1), 24, dict(low=[0, 0], high=[0, 0], strides=[2, 2])),
            ("windows", "f16", (5, 16, 29, 28), (3, 3), 24, dict(low=[1, 1], high=[1, 1]))):
        x, w = random(dtype, shape, 49, -1, 1), random(dtype, (outputs, shape[1], *taps), 50, -1, 1)
        y = conv.convolve(x.values, w.values, conv.NCHW, **window)
        d = random(dtype, y.shape, 51, -1, 1)
        _, dw = pull_back(*(values.transpose(0, 2, 3, 1) for values in (x.values, w.values, d.values)), window)
        text = function("", [("%x", x.mlir), ("%w", w.mlir)], [("%y", d.mlir)],
                        f"    %y = array.conv %x, %w {conv.attributes(conv.NCHW, window)} : ({x.mlir}, {w.mlir}) -> {d.mlir}")
        yield Case(f"channels_first_{name}", text, [Step([x, w, d], [(dtype, dw.transpose(0, 3, 1, 2))], "_vjp")], "sum", gradients=(":1",))


def depthwise():
    """Convolutions of channels one by one: back to the filter threads hold the sums of a row of taps, and blocks share the rows of all
    images."""
    lines, volumes = conv.KRSC.replace("0, 1", "0"), conv.KRSC.replace("0, 1", "0, 1, 2")
    for name, dtype, shape, taps, window in (
            ("same", "bf16", (2, 17, 19, 32), (3, 3), dict(low=[1, 1], high=[1, 1])),
            ("strided", "f16", (4, 29, 27, 24), (3, 3), dict(low=[1, 1], high=[1, 1], strides=[2, 2])),
            ("wide", "bf16", (2, 15, 21, 40), (7, 7), dict(low=[3, 3], high=[3, 3])),
            ("asymmetric", "f32", (3, 16, 20, 20), (2, 5), dict(low=[1, 4], high=[0, 2])),
            ("dilated", "f16", (2, 16, 21, 72), (3, 2), dict(low=[2, 1], high=[2, 2], filter_dilation=[2, 3])),
            ("square", "f16", (24, 24, 24, 24), (3, 3), dict(low=[1, 1], high=[1, 1])),
            ("line", "bf16", (5, 300, 16), (9,), dict(low=[4], high=[4])),
            ("long_line", "f32", (6, 240, 12), (37,), dict(low=[36], high=[0])),
            ("volume", "bf16", (2, 6, 9, 14, 16), (3, 2, 3), dict(low=[1, 0, 1], high=[1, 1, 1], strides=[1, 1, 2])),
            ("few", "bf16", (1, 5, 6, 8), (3, 3), dict(low=[1, 1], high=[1, 1]))):
        channels, dims = shape[-1], {3: lines, 4: conv.KRSC, 5: volumes}[len(shape)]
        x, w = random(dtype, shape, 43, -1, 1), random(dtype, (channels, *taps, 1), 44, -1, 1)
        y = conv.convolve(x.values, w.values, dims, feature_groups=channels, **window)
        d = random(dtype, y.shape, 45, -1, 1)
        dx, dw = pull_back(x.values, w.values, d.values, window, channels)
        text = function("", [("%x", x.mlir), ("%w", w.mlir)], [("%y", d.mlir)],
                        f"    %y = array.conv %x, %w {conv.attributes(dims, dict(window, feature_groups=channels))}"
                        f" : ({x.mlir}, {w.mlir}) -> {d.mlir}")
        yield Case(f"depthwise_{name}", text, [Step([x, w, d], [(dtype, dx), (dtype, dw)], "_vjp")], "sum", gradients=("",))


def packed():
    """Small groups of 16-bit types, some of which are packed into one (PackGroups.cpp), and images of few channels, whose pixels are packed where
    there are many positions (PackPixels.cpp)."""
    for name, dtype, shape, taps, outputs, groups, window in (
            ("groups", "f16", (2, 9, 8, 128), (3, 3), 128, 32, dict(low=[1, 1], high=[1, 1])),
            ("groups_widening", "bf16", (2, 7, 9, 64), (3, 2), 128, 8, dict(low=[1, 0], high=[0, 1], strides=[2, 1])),
            ("groups_all", "f16", (3, 8, 8, 24), (3, 3), 48, 6, dict(low=[1, 1], high=[1, 1])),
            ("groups_parts", "bf16", (3, 31, 29, 128), (3, 3), 128, 4, dict(low=[1, 1], high=[1, 1])),
            ("pixels", "bf16", (2, 131, 130, 3), (7, 7), 24, 1, dict(low=[3, 3], high=[3, 3], strides=[2, 2])),
            ("pixels_one_channel", "f16", (1, 93, 92, 1), (3, 5), 16, 1, dict(low=[1, 2], high=[1, 2], filter_dilation=[2, 1])),
            ("pixels_of_24_channels", "bf16", (1, 92, 93, 24), (3, 3), 40, 1, dict(low=[1, 1], high=[1, 1])),
            ("pixels_of_20_channels", "f16", (1, 93, 95, 20), (2, 3), 16, 1, dict(low=[0, 1], high=[1, 1], strides=[1, 1]))):
        x, w = random(dtype, shape, 46, -1, 1), random(dtype, (outputs, *taps, shape[3] // groups), 47, -1, 1)
        grouped = dict(window, feature_groups=groups)
        y = conv.convolve(x.values, w.values, conv.KRSC, **grouped)
        d = random(dtype, y.shape, 48, -1, 1)
        dx, dw = pull_back(x.values, w.values, d.values, window, groups)
        text = function("", [("%x", x.mlir), ("%w", w.mlir)], [("%y", d.mlir)],
                        f"    %y = array.conv %x, %w {conv.attributes(conv.KRSC, grouped)} : ({x.mlir}, {w.mlir}) -> {d.mlir}")
        yield Case(f"packed_{name}", text, [Step([x, w, d], [(dtype, dx), (dtype, dw)], "_vjp")], "sum", gradients=("",))


def cases():
    yield from pixels()
    yield from channels_first()
    yield from depthwise()
    yield from packed()
    yield from without_places()
