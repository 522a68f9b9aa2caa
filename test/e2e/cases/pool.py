"""Reductions of sliding windows: kinds, strides, padding, dilation, types, averages, and the gradient of max pooling."""
import itertools

import numpy as np

from harness import Case, Step, over_sizes, simple
import tensors
from tensors import FLOATS, Tensor, mlir_type


def windows_of(x, fill, window, strides=None, low=None, high=None, dilation=None):
    """[places..., taps]: what each window holds, `fill` where that is padding; and which of it is padding."""
    rank = x.ndim
    strides, dilation = strides or [1] * rank, dilation or [1] * rank
    low, high = low or [0] * rank, high or [0] * rank
    padded = np.pad(x, list(zip(low, high)), constant_values=fill)
    outside = np.pad(np.zeros(x.shape, bool), list(zip(low, high)), constant_values=True)
    places = [max((n - (k - 1) * d - 1) // s + 1, 0) for n, k, d, s in zip(padded.shape, window, dilation, strides)]
    taps = [tuple(slice(t * d, t * d + (o - 1) * s + 1 if o else 0, s) for t, d, o, s in zip(tap, dilation, places, strides))
            for tap in itertools.product(*map(range, window))]
    return np.stack([padded[tap] for tap in taps], -1), np.stack([outside[tap] for tap in taps], -1)


def lowest(dtype):
    return -np.inf if dtype in FLOATS else np.iinfo(tensors.NUMPY[dtype]).min


def highest(dtype):
    return np.inf if dtype in FLOATS else np.iinfo(tensors.NUMPY[dtype]).max


KINDS = {"sum": (lambda d: 0, np.sum), "prod": (lambda d: 1, np.prod), "max": (lowest, np.max), "min": (highest, np.min),
         "and": (lambda d: True if d == "i1" else -1, np.bitwise_and.reduce), "or": (lambda d: 0, np.bitwise_or.reduce)}


def attributes(window):
    return " ".join(f"{name} = {window[name]}" for name in ("window", "strides", "low", "high", "dilation") if name in window)


def reduced(kind, x, **window):
    fill, reduce = KINDS[kind]
    values, _ = windows_of(x.values, fill(x.dtype), **window)
    return reduce(values, axis=-1).astype(x.values.dtype)


def case(name, kind, x, types=None, result=None, **window):
    values = reduced(kind, x, **window)
    types, result = types or [x.mlir], result or mlir_type(x.dtype, values.shape)
    tolerance = "sum" if kind in ("sum", "prod") else "exact"
    return simple(name, [x], [(x.dtype, values)],
                  f"%r0 = array.reduce_window {kind}, %0 {attributes(window)} : {types[0]} -> {result}", tolerance, types=types,
                  result_types=[result])


POOL = dict(window=[1, 3, 3, 1], strides=[1, 2, 2, 1], low=[0, 1, 1, 0], high=[0, 1, 1, 0])


def geometry():
    x = tensors.random("f32", (2, 9, 10, 5), 1, -1, 1)
    yield case("max_3x3", "max", x, **POOL)
    yield case("max_channels_first", "max", Tensor("f32", x.values.transpose(0, 3, 1, 2)), window=[1, 1, 3, 2],
               strides=[1, 1, 2, 2], low=[0, 0, 1, 0], high=[0, 0, 0, 1])
    yield case("sum_dilated", "sum", x, window=[1, 2, 3, 1], dilation=[1, 3, 2, 1], low=[0, 2, 0, 0])
    yield case("all_dims", "sum", x, window=[2, 2, 3, 2], strides=[1, 1, 2, 3], high=[1, 0, 0, 1])
    yield case("one_element", "max", x, window=[1, 1, 1, 1], strides=[1, 2, 3, 1])
    yield case("whole", "max", x, window=[1, 9, 10, 1])
    yield case("one_place", "sum", x, window=[1, 4, 3, 1], strides=[1, 9, 8, 1], high=[0, 1, 0, 0])
    yield case("too_wide", "max", x, window=[1, 12, 3, 1])
    yield case("vector", "sum", tensors.random("f32", (100,), 2, -1, 1), window=[7], low=[3], high=[3])
    yield case("cube", "max", tensors.random("f32", (1, 5, 6, 7, 3), 3, -1, 1), window=[1, 2, 3, 2, 1], strides=[1, 2, 1, 2, 1])
    nan = Tensor("f32", np.where(np.arange(900).reshape(2, 9, 10, 5) % 37 == 0, np.nan, x.values))
    yield case("max_of_nan", "max", nan, **POOL)
    yield case("only_padding", "max", Tensor("f32", np.ones((1, 2, 2, 1))), window=[1, 1, 1, 1], low=[0, 1, 1, 0],
               high=[0, 1, 1, 0])
    none = Tensor("f32", np.zeros((0, 5, 9)))
    yield simple("of_nothing", [none], [("f32", np.zeros((1, 3, 3)))],
                 f"""%y = array.reciprocal %0 : {none.mlir}
                     %r0 = array.reduce_window sum, %y window = [2, 1, 1] strides = [3, 2, 3] low = [1, 0, 0] high = [1, 0, 0]
                         : {none.mlir} -> tensor<1x3x3xf32>""")
    y = reduced("max", x, **POOL)
    yield simple("then_relu", [x], [("f32", np.maximum(y, 0))],
                 f"""%y = array.reduce_window max, %0 {attributes(POOL)} : {x.mlir} -> {mlir_type("f32", y.shape)}
                     %r0 = array.relu %y : {mlir_type("f32", y.shape)}""", "exact")
    yield case("symbolic", "max", x, types=["tensor<?x?x?x5xf32>"], result="tensor<?x?x?x5xf32>", **POOL)


def shared():
    """Long windows of few results, each shared by threads."""
    x = tensors.random("f32", (2, 14, 15, 6), 20, -1, 1)
    first = Tensor("f32", x.values.transpose(0, 3, 1, 2))
    for kind in ("sum", "max"):
        yield case(f"shared_{kind}", kind, x, window=[1, 9, 8, 1])
        yield case(f"shared_{kind}_channels_first", kind, first, window=[1, 1, 9, 8])
        yield case(f"shared_{kind}_padded", kind, first, window=[1, 1, 8, 12], strides=[1, 1, 2, 3], low=[0, 0, 3, 4], high=[0, 0, 4, 5])
    yield case("shared_dilated", "max", x, window=[1, 5, 6, 1], dilation=[1, 3, 2, 1], low=[0, 2, 3, 0])
    nan = Tensor("f32", np.where(np.arange(x.values.size).reshape(x.values.shape) % 97 == 0, np.nan, x.values))
    yield case("shared_max_of_nan", "max", nan, window=[1, 7, 6, 1])
    for length in (399, 400):
        yield case(f"shared_vector_{length}", "max", tensors.random("f32", (3, 500), 21, -1, 1), window=[1, length])
    for dtype, kind in (("f16", "max"), ("f64", "sum"), ("u8", "max"), ("i1", "or")):
        y = tensors.random(dtype, (3, 13, 16), 22, *((-1, 1) if dtype in FLOATS else ()))
        yield case(f"shared_{dtype}", kind, y, window=[1, 4, 8])
    yield case("shared_symbolic", "max", x, types=["tensor<?x?x?x6xf32>"], result="tensor<?x?x?x6xf32>", window=[1, 9, 8, 1])


def types():
    for dtype, kinds in {"f16": ("sum", "max"), "bf16": ("sum", "min"), "f64": ("sum", "prod", "max"), "i32": ("sum", "max"),
                         "u8": ("max", "min", "or"), "i8": ("min", "and"), "i64": ("sum", "prod"), "i1": ("and", "or")}.items():
        x = tensors.random(dtype, (1, 7, 6, 8), 4, *((-1, 1) if dtype in FLOATS else ()))
        for kind in kinds:
            yield case(f"{kind}_{dtype}", kind, x, **POOL)


def padded_innermost():
    """Windows of one element, but with padding, along the innermost dim: lanes of a vector are elements and padding."""
    for dtype, window in (("f16", dict(window=[1, 2, 1], low=[0, 0, 2])), ("f32", dict(window=[1, 3, 1], high=[0, 1, 2])),
                          ("bf16", dict(window=[1, 3, 1], low=[0, 1, 1], high=[0, 1, 1]))):
        x = tensors.random(dtype, (3, 8, 8), 41, -1, 1)
        for kind in ("sum", "max"):
            size = mlir_type(dtype, reduced(kind, x, **window).shape).replace("tensor<3x", "tensor<?x")
            yield case(f"padded_innermost_{kind}_{dtype}", kind, x, types=[x.mlir.replace("tensor<3x", "tensor<?x")], result=size, **window)


def averages():
    for dtype in FLOATS:
        x = tensors.random(dtype, (2, 7, 8, 5), 5, -1, 1)
        values, outside = windows_of(x.values, 0, **POOL)
        for name, count, flag in (("", (~outside).sum(-1), ""), ("_include_pad", 9, " count_include_pad")):
            mean = values.sum(-1) / count
            yield simple(f"avg_{dtype}{name}", [x], [(dtype, mean)],
                         f"%r0 = array.avg_pool %0 {attributes(POOL)}{flag} : {x.mlir} -> {mlir_type(dtype, mean.shape)}", "sum")
    plain = dict(window=[1, 2, 2, 1], strides=[1, 2, 2, 1])
    x = tensors.random("f32", (2, 8, 8, 5), 6, -1, 1)
    mean = windows_of(x.values, 0, **plain)[0].mean(-1)
    yield simple("avg_plain", [x], [("f32", mean)],
                 f"%r0 = array.avg_pool %0 {attributes(plain)} : tensor<?x?x8x5xf32> -> tensor<?x?x4x5xf32>", "sum",
                 types=["tensor<?x?x8x5xf32>"], result_types=["tensor<?x?x4x5xf32>"])


def scattered(kind, x, g, window, strides=None, low=None, high=None, dilation=None):
    """Each g added to the first extremum of its window, NaN before all others."""
    rank = x.ndim
    strides, dilation, low = strides or [1] * rank, dilation or [1] * rank, low or [0] * rank
    result = np.zeros(x.shape)
    for place in np.ndindex(*g.shape):
        best = None
        for tap in itertools.product(*map(range, window)):
            at = tuple(p * s + t * d - l for p, s, t, d, l in zip(place, strides, tap, dilation, low))
            if any(not 0 <= i < n for i, n in zip(at, x.shape)):
                continue
            better = best is None or (not np.isnan(x[best]) and
                                      (np.isnan(x[at]) or (x[at] > x[best] if kind == "max" else x[at] < x[best])))
            best = at if better else best
        if best is not None:
            result[best] += g[place]
    return result


def scatters():
    for name, dtype, kind, window in (
            ("overlapping", "f32", "max", POOL),
            ("shared", "f32", "max", dict(window=[1, 5, 4, 1])),
            ("apart", "f32", "max", dict(window=[1, 2, 2, 1], strides=[1, 2, 2, 1])),
            ("one_place", "f32", "max", dict(window=[1, 3, 2, 1], strides=[1, 9, 8, 1])),
            ("min_dilated", "f32", "min", dict(window=[1, 2, 2, 1], strides=[1, 1, 2, 1], dilation=[1, 3, 2, 1], low=[0, 2, 0, 0])),
            ("of_f16", "f16", "max", POOL), ("of_bf16", "bf16", "max", POOL), ("of_f64", "f64", "max", POOL),
            ("min_of_f16", "f16", "min", POOL), ("min_of_bf16", "bf16", "min", POOL), ("min_of_f64", "f64", "min", POOL)):
        # Few different values: ties have to go to the first.
        x = Tensor(dtype, np.random.default_rng(7).integers(-3, 4, (2, 6, 7, 3)))
        g = tensors.random(dtype, windows_of(x.values, 0, **window)[0].shape[:-1], 8, -1, 1)
        yield simple(f"scatter_{name}", [x, g], [(dtype, scattered(kind, x.values, g.values, **window))],
                     f"%r0 = array.select_and_scatter {kind}, %0, %1 {attributes(window)} : ({x.mlir}, {g.mlir}) -> {x.mlir}", "sum")
    # Channels that strips of windows have, rows and columns that their strips do not divide, and images of any size.
    for name, dtype, shape, window, types in (
            ("strips_f16", "f16", (2, 13, 18, 8), POOL, None), ("strips_bf16", "bf16", (1, 16, 12, 16), POOL, None),
            ("strips_symbolic", "f32", (2, 11, 9, 8), POOL, "tensor<?x?x?x8xf32>"),
            ("strips_line", "f32", (3, 17, 8), dict(window=[1, 4, 1], strides=[1, 3, 1], low=[0, 2, 0], high=[0, 1, 0]), None),
            ("volume", "f32", (1, 5, 6, 7, 4), dict(window=[1, 3, 2, 3, 1], strides=[1, 2, 2, 3, 1], low=[0, 1, 0, 2, 0]), None),
            ("wider_strides", "f32", (2, 9, 11, 4), dict(window=[1, 2, 1, 1], strides=[1, 5, 3, 1], low=[0, 1, 0, 0]), None),
            ("many_elements", "f32", (1, 40, 40, 4), dict(window=[1, 16, 16, 1], strides=[1, 7, 8, 1]), None)):
        x = Tensor(dtype, np.random.default_rng(17).integers(-3, 4, shape))
        g = tensors.random(dtype, windows_of(x.values, 0, **window)[0].shape[:-1], 18, -1, 1)
        of_x, of_g = types or x.mlir, types or g.mlir
        yield simple(f"scatter_{name}", [x, g], [(dtype, scattered("max", x.values, g.values, **{k: v for k, v in window.items() if k != "high"}))],
                     f"%r0 = array.select_and_scatter max, %0, %1 {attributes(window)} : ({of_x}, {of_g}) -> {of_x}", "sum",
                     **(dict(types=[types] * 2, result_types=[types]) if types else {}))
    x = Tensor("f32", np.where(np.arange(84).reshape(1, 6, 7, 2) % 9 == 0, np.nan, -np.inf))
    g = tensors.random("f32", (1, 3, 4, 2), 9, -1, 1)
    yield simple("scatter_nan_inf", [x, g], [("f32", scattered("max", x.values, g.values, **POOL))],
                 f"""%r0 = array.select_and_scatter max, %0, %1 {attributes(POOL)}
                     : (tensor<?x?x?x2xf32>, tensor<?x?x?x2xf32>) -> tensor<?x?x?x2xf32>""", "sum",
                 types=["tensor<?x?x?x2xf32>"] * 2, result_types=["tensor<?x?x?x2xf32>"])


def adapted(kind, x, axes, sizes):
    """Each dim of `axes` in as many windows as `sizes` says, one dim after the other."""
    for axis, size in zip(axes, sizes):
        n = x.shape[axis]
        parts = [np.take(x, range(o * n // size, -(-(o + 1) * n // size)), axis) for o in range(size)]
        x = np.concatenate([(np.max if kind == "max" else np.mean)(part, axis, keepdims=True) for part in parts], axis)
    return x


def adaptive():
    for dtype in FLOATS:
        x = tensors.random(dtype, (2, 7, 10, 3), 10, -1, 1)
        for kind in ("avg", "max"):
            y = adapted(kind, x.values, [1, 2], [3, 4])
            yield simple(f"adaptive_{kind}_{dtype}", [x], [(dtype, y)],
                         f"%r0 = array.adaptive_pool {kind}, %0 axes = [1, 2] sizes = [3, 4] : {x.mlir} -> {mlir_type(dtype, y.shape)}",
                         "sum" if kind == "avg" else "exact")
    x = tensors.random("f32", (2, 3, 8, 9), 11, -1, 1)
    for name, sizes in (("even", [4, 3]), ("global", [1, 1]), ("more_than_there_are", [11, 9]), ("same", [8, 9])):
        for kind in ("avg", "max"):
            y = adapted(kind, x.values, [2, 3], sizes)
            yield simple(f"adaptive_{kind}_{name}", [x], [("f32", y)],
                         f"%r0 = array.adaptive_pool {kind}, %0 axes = [2, 3] sizes = {sizes} : tensor<?x3x8x9xf32> -> "
                         f"tensor<?x3x{sizes[0]}x{sizes[1]}xf32>", "sum" if kind == "avg" else "exact",
                         types=["tensor<?x3x8x9xf32>"], result_types=[f"tensor<?x3x{sizes[0]}x{sizes[1]}xf32>"])
    # Images of any size, in one call one after the other.
    for name, sizes in (("uneven", [3, 4]), ("global", [1, 1]), ("more", [11, 1])):
        for kind in ("avg", "max"):
            result = f"tensor<?x3x{sizes[0]}x{sizes[1]}xf32>"
            images = [tensors.random("f32", (2, 3, height, width), 13, -1, 1) for height, width in ((8, 9), (1, 1), (17, 4))]
            yield over_sizes(f"adaptive_{kind}_open_{name}", images, lambda a: adapted(kind, a, [2, 3], sizes), "tensor<?x3x?x?xf32>", result,
                             f"array.adaptive_pool {kind}, %x axes = [2, 3] sizes = {sizes}", "sum" if kind == "avg" else "exact")
    # Types that are computed in another one, where batch and channels are any number, too.
    for dtype in ("f16", "bf16"):
        images = [tensors.random(dtype, (batch, height, width, 3), 15, -1, 1) for batch, height, width in ((2, 8, 9), (1, 1, 1), (3, 17, 4))]
        for name, channels in (("", "3"), ("_channels", "?")):
            yield over_sizes(f"adaptive_max_open_{dtype}{name}", images, lambda a: adapted("max", a, [1, 2], [3, 4]),
                             f"tensor<?x?x?x{channels}x{dtype}>", f"tensor<?x3x4x{channels}x{dtype}>",
                             "array.adaptive_pool max, %x axes = [1, 2] sizes = [3, 4]", "exact")
    # Into any number of windows, 0 too.
    for kind in ("avg", "max"):
        steps = []
        for width, size in ((9, 4), (4, 4), (12, 3), (3, 7), (1, 1), (5, 1), (6, 0)):
            a = tensors.random("f32", (2, width, 3), 14, -1, 1)
            y = adapted(kind, a.values, [1], [size]) if size else np.zeros((2, 0, 3))
            steps.append(Step([a, Tensor("i1", np.zeros(size))], [("f32", y)]))
        # Windows over nothing.
        nothing = np.full((2, 3, 3), np.nan if kind == "avg" else -np.inf)
        steps.append(Step([Tensor("f32", np.zeros((2, 0, 3))), Tensor("i1", np.zeros(3))], [("f32", nothing)]))
        yield Case(f"adaptive_{kind}_to_open", f"""  func.func @NAME(%x: tensor<2x?x3xf32>, %like: tensor<?xi1>) -> tensor<2x?x3xf32> {{
    %n = array.dim %like, 0 : tensor<?xi1>
    %y = array.adaptive_pool {kind}, %x axes = [1] sizes = [%n] : tensor<2x?x3xf32> -> tensor<2x?x3xf32>
    return %y : tensor<2x?x3xf32>
  }}
""", steps, "sum" if kind == "avg" else "exact")
        nothing = Tensor("f32", np.zeros((2, 0, 3)))
        yield simple(f"adaptive_{kind}_of_nothing", [nothing], [("f32", np.full((2, 4, 3), np.nan if kind == "avg" else -np.inf))],
                     f"%r0 = array.adaptive_pool {kind}, %0 axes = [1] sizes = [4] : {nothing.mlir} -> tensor<2x4x3xf32>")
        yield simple(f"adaptive_{kind}_to_nothing", [x], [("f32", np.zeros((2, 3, 8, 0)))],
                     f"%r0 = array.adaptive_pool {kind}, %0 axes = [2, 3] sizes = [8, 0] : {x.mlir} -> tensor<2x3x8x0xf32>")
    odd = Tensor("f32", np.where(np.arange(35) % 6 == 0, np.inf, np.where(np.arange(35) % 17 == 1, np.nan, 1.0)))
    for kind in ("avg", "max"):
        yield simple(f"adaptive_{kind}_inf_nan", [odd], [("f32", adapted(kind, odd.values, [0], [8]))],
                     f"%r0 = array.adaptive_pool {kind}, %0 axes = [0] sizes = [8] : tensor<35xf32> -> tensor<8xf32>", "sum")


def padded():
    """Padding that an op of its own made, of what counts as nothing in the window and of what does not."""
    x = tensors.random("f32", (1, 6, 7, 2), 12, -1, 1)
    for kind, value in (("sum", 0.0), ("max", -np.inf), ("max", 0.25)):
        wide = np.pad(x.values, ((0, 0), (1, 2), (3, 0), (0, 0)), constant_values=value)
        y = reduced(kind, Tensor("f32", wide), **POOL)
        number = "0xFF800000" if np.isinf(value) else value
        yield simple(f"{kind}_of_padding_{value}", [x], [("f32", y)],
                     f"""%v = array.constant dense<{number}> : tensor<f32>
                         %p = array.pad %0, %v low = [0, 1, 3, 0] high = [0, 2, 0, 0] : ({x.mlir}, tensor<f32>) -> tensor<1x9x10x2xf32>
                         %r0 = array.reduce_window {kind}, %p {attributes(POOL)} : tensor<1x9x10x2xf32> -> {mlir_type("f32", y.shape)}""",
                     "sum")


def cases():
    for make in (geometry, shared, types, padded_innermost, averages, scatters, adaptive, padded):
        yield from make()
