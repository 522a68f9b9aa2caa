"""Gradients of convolutions in the types that tensor cores take, and in f32 and f64 beside, by --gradient: `<name>_vjp` gets what comes back
of the result.

Operands are small integers, so that no sum is rounded; those of the results are, once.
"""
import itertools

import numpy as np

from cases import conv
from harness import Case, Step
from tensors import Tensor, mlir_type

ROWS = "[b, 0, f] x [o, 0, i] -> [b, 0, f]"
FILTER_LAST = "[b, 0, 1, f] x [o, 0, 1, i] -> [b, 0, 1, f]"
TAPS_FIRST = "[b, 0, 1, f] x [0, 1, o, i] -> [b, 0, 1, f]"
VOLUMES = "[b, 0, 1, 2, f] x [o, 0, 1, 2, i] -> [b, 0, 1, 2, f]"


def integers(dtype, shape, seed):
    return Tensor(dtype, np.random.RandomState(seed).randint(-2, 3, shape).astype(np.float64))


def pull_back(x, w, cotangent, dims, strides=None, low=None, high=None, filter_dilation=None, feature_groups=1):
    """What comes back to both operands: each tap's term of conv.convolve, read the other way round."""
    inputs, filters, outputs = conv.labels(dims)
    spatial = [str(i) for i in range(len(inputs) - 2)]
    strides, filter_dilation = (given or [1] * len(spatial) for given in (strides, filter_dilation))
    low, high = (given or [0] * len(spatial) for given in (low, high))
    order = [[have.index(label) for label in want + spatial] for have, want in ((inputs, ["b", "f"]), (filters, ["i", "o"]), (outputs, ["b", "f"]))]
    x, w, cotangent = (array.transpose(axes) for array, axes in zip((x, w, cotangent), order))
    padded = np.pad(x, [(0, 0), (0, 0), *zip(low, high)])
    to_x, to_w = np.zeros(padded.shape), np.zeros(w.shape)
    channels, features = w.shape[0], w.shape[1] // feature_groups
    for group, tap in itertools.product(range(feature_groups), itertools.product(*map(range, w.shape[2:]))):
        window = tuple(slice(t * d, t * d + (n - 1) * s + 1, s) for t, d, n, s in zip(tap, filter_dilation, cotangent.shape[2:], strides))
        read = (slice(None), slice(group * channels, (group + 1) * channels), *window)
        own = slice(group * features, (group + 1) * features)
        weights = (slice(None), own, *tap)
        to_w[weights] = np.einsum("bip,bop->io", *(part.reshape(*part.shape[:2], -1) for part in (padded[read], cotangent[:, own])))
        to_x[read] += np.einsum("bo...,io->bi...", cotangent[:, own], w[weights])
    to_x = to_x[(slice(None), slice(None), *(slice(begin, begin + size) for begin, size in zip(low, x.shape[2:])))]
    return to_x.transpose(np.argsort(order[0])), to_w.transpose(np.argsort(order[1]))


def pulled_back(name, dtype, image, filter, dims=FILTER_LAST, tf32=False, **window):
    x, w = integers(dtype, image, 1), integers(dtype, filter, 2)
    y = Tensor(dtype, conv.convolve(x.values, w.values, dims, **window))
    back = integers(dtype, y.values.shape, 3)
    gradients = pull_back(x.values, w.values, back.values, dims, **window)
    result = mlir_type(dtype, y.values.shape)
    text = f"""  func.func @NAME(%0: {x.mlir}, %1: {w.mlir}) -> {result} {{
    %r = array.conv %0, %1 {conv.attributes(dims, window)}{" allow_tf32" if tf32 else ""} : ({x.mlir}, {w.mlir}) -> {result}
    return %r : {result}
  }}
"""
    return Case(f"{name}_{'tf32' if tf32 else dtype}", text, [Step([x, w, back], [(dtype, gradient) for gradient in gradients], "_vjp")],
                "sum", gradients=("",))


def cases():
    for dtype, tf32 in (("f16", False), ("bf16", False), ("f32", True), ("f32", False), ("f64", False)):
        one = lambda name, *shapes, dtype=dtype, tf32=tf32, **window: pulled_back(name, dtype, *shapes, tf32=tf32, **window)  # noqa: E731
        # One size for all that a loop may be of; the filter goes over the edges on all sides.
        yield one("equal", (8, 8, 8, 8), (8, 8, 8, 8), low=[4, 4], high=[3, 3])
        yield one("equal_channels_first", (8, 8, 8, 8), (8, 8, 8, 8), dims=conv.NCHW, low=[4, 4], high=[3, 3])
        yield one("equal_strided", (8, 8, 8, 8), (8, 8, 8, 8), strides=[2, 2], low=[4, 4], high=[3, 3])
        yield one("ones", (1, 1, 1, 1), (1, 1, 1, 1))
        # Sums so long that blocks share them, over taps and channels, which are no multiples of what boxes bring.
        yield one("long_sums", (2, 14, 14, 100), (100, 3, 3, 100), low=[1, 1], high=[1, 1])
        yield one("long_sums_strided", (2, 15, 14, 72), (104, 3, 3, 72), strides=[2, 2], low=[1, 1], high=[1, 0])
        yield one("long_sums_dilated", (1, 12, 13, 64), (72, 3, 3, 64), filter_dilation=[2, 2], low=[2, 1], high=[2, 3])
        yield one("long_sums_channels_first", (1, 64, 9, 11), (72, 64, 3, 3), dims=conv.NCHW, low=[1, 1], high=[1, 1])
        # The same of filters whose taps are outermost, with channels or with features innermost.
        yield one("long_sums_taps_first", (2, 8, 8, 64), (3, 3, 64, 64), dims=conv.NHWC, low=[1, 1], high=[1, 1])
        yield one("long_sums_taps_first_channels_last", (8, 8, 8, 64), (3, 3, 72, 64), dims=TAPS_FIRST, low=[1, 1], high=[1, 1])
        # So many positions that blocks share them, in either order of the images.
        yield one("positions", (6, 23, 21, 16), (24, 3, 3, 16), low=[1, 1], high=[1, 1])
        yield one("positions_channels_first", (6, 16, 23, 21), (24, 16, 3, 3), dims=conv.NCHW, low=[1, 1], high=[1, 1])
        yield one("positions_strided_channels_first", (3, 8, 29, 28), (8, 8, 3, 3), dims=conv.NCHW, strides=[2, 2], low=[1, 1], high=[1, 1])
        yield one("one_image_channels_first", (1, 4, 1, 64), (4, 4, 1, 3), dims=conv.NCHW, low=[0, 1], high=[0, 1])
        yield one("large_filter", (2, 13, 12, 16), (24, 9, 9, 16), low=[4, 4], high=[4, 4])
        yield one("points", (2, 9, 7, 128), (96, 1, 1, 128), strides=[2, 2])
        yield one("groups", (2, 9, 8, 64), (64, 3, 3, 32), feature_groups=2, low=[1, 1], high=[1, 1])
        yield one("narrow_groups", (2, 9, 8, 64), (32, 3, 3, 16), feature_groups=4, strides=[2, 2], low=[1, 1], high=[1, 1])
        yield one("rows", (3, 50, 48), (56, 7, 48), dims=ROWS, low=[4], high=[2], filter_dilation=[2])
        yield one("volumes", (2, 5, 6, 7, 32), (48, 3, 2, 3, 32), dims=VOLUMES, low=[1, 0, 2], high=[0, 1, 1])
        yield one("volumes_in_groups", (1, 3, 5, 3, 64), (80, 3, 3, 3, 32), dims=VOLUMES, strides=[3, 3, 1], low=[2, 1, 0], high=[2, 2, 1],
                  filter_dilation=[1, 2, 1], feature_groups=2)
        # Behind strides the phases of a group's channels, of one channel each or of several.
        yield one("depthwise_strided", (2, 9, 10, 24), (24, 3, 3, 1), feature_groups=24, strides=[2, 2], low=[1, 1], high=[1, 1])
        yield one("depthwise_strided_far", (1, 11, 12, 8), (8, 2, 5, 1), feature_groups=8, strides=[3, 2], low=[0, 1], high=[1, 2])
        yield one("depthwise_strided_dilated", (2, 13, 12, 8), (8, 3, 3, 1), feature_groups=8, strides=[2, 2], low=[3, 3], high=[3, 3],
                  filter_dilation=[3, 3])
        yield one("depthwise_strided_alike", (2, 11, 12, 8), (8, 3, 3, 1), feature_groups=8, strides=[2, 2], low=[2, 2], high=[2, 2],
                  filter_dilation=[2, 2])
        yield one("depthwise_strided_twofold", (2, 7, 8, 8), (16, 3, 3, 1), feature_groups=8, strides=[2, 2], low=[1, 1], high=[1, 1])
        yield one("depthwise_strided_channels_first", (2, 8, 9, 10), (8, 1, 3, 3), dims=conv.NCHW, feature_groups=8, strides=[2, 2], low=[1, 1],
                  high=[1, 1])
        yield one("depthwise_strided_equal", (4, 4, 4, 4), (4, 4, 4, 1), feature_groups=4, strides=[2, 2], low=[2, 2], high=[1, 1])
        yield one("depthwise_strided_one", (1, 1, 1, 4), (4, 3, 3, 1), feature_groups=4, strides=[2, 2], low=[1, 1], high=[1, 1])
        yield one("depthwise_strided_rows", (3, 21, 16), (16, 5, 1), dims=ROWS, feature_groups=16, strides=[2], low=[2], high=[1])
        yield one("groups_strided", (2, 9, 8, 128), (128, 3, 3, 64), feature_groups=2, strides=[2, 2], low=[1, 1], high=[1, 1])
        yield one("groups_strided_channels_first", (2, 12, 7, 9), (18, 4, 3, 3), dims=conv.NCHW, feature_groups=3, strides=[2, 2], low=[1, 1],
                  high=[1, 1])
        yield one("strided_dilated_alike", (2, 11, 12, 16), (24, 3, 3, 16), strides=[2, 2], low=[2, 2], high=[2, 2], filter_dilation=[2, 2])
        # Elements that lie apart: in images that end before a step does, begin or end with zeros of their own, or have steps of their own
        # along each dim; with neighbours along features, along steps, or none.
        yield one("points_cut", (2, 8, 9, 64), (72, 1, 1, 64), strides=[2, 2])
        yield one("points_padded", (2, 9, 8, 64), (72, 1, 1, 64), strides=[2, 2], low=[1, 0], high=[1, 2])
        yield one("points_far", (2, 10, 14, 40), (24, 1, 1, 40), strides=[3, 4])
        yield one("points_one", (1, 2, 2, 64), (64, 1, 1, 64), strides=[2, 3])
        yield one("points_odd", (3, 9, 8, 7), (5, 1, 1, 7), strides=[2, 2])
        yield one("points_channels_first", (2, 24, 9, 12), (16, 24, 1, 1), dims=conv.NCHW, strides=[2, 2])
        yield one("points_in_groups", (2, 9, 8, 128), (128, 1, 1, 64), feature_groups=2, strides=[2, 2])
        yield one("points_rows", (3, 21, 64), (32, 1, 64), dims=ROWS, strides=[4])
        yield one("points_volumes", (1, 5, 4, 7, 32), (48, 1, 1, 1, 32), dims=VOLUMES, strides=[2, 2, 3])
        yield one("strided_dilated_between", (2, 11, 12, 64), (64, 3, 3, 64), strides=[2, 2], low=[1, 1], high=[1, 2], filter_dilation=[2, 2])
        yield one("strided_dilated_threefold", (1, 12, 13, 32), (24, 3, 2, 32), strides=[3, 3], low=[3, 1], high=[3, 2], filter_dilation=[3, 3])
        # Phases of which an image has a part: its first and last positions are in the middle of them.
        yield one("strided_cut", (2, 9, 11, 64), (72, 3, 3, 64), strides=[2, 2], low=[1, 1], high=[1, 1])
        yield one("strided_cut_before", (2, 10, 11, 64), (64, 4, 2, 64), strides=[3, 2], low=[2, 1], high=[1, 0])
        # Windows that reach further than the image does.
        yield one("padded", (2, 3, 4, 16), (8, 5, 7, 16), low=[2, 3], high=[2, 3])
