"""Reductions, scans, and the ops made of them: means, softmax, norms."""
import numpy as np

from harness import Case, Step, over_sizes, simple
from tensors import DTYPES, FLOATS, Tensor, mlir_type, random

# Below, at and above a vector and a row tile; rows that fit no tile; one row; many rows.
SHAPES = [(1, 1), (5, 7), (4, 8), (3, 9), (2, 16), (7, 1000), (64, 64), (1, 4097), (300, 3), (65, 129)]


def reduced(kind, dtype, values, axes, keepdims):
    axes = tuple(axes)
    if kind in ("sum", "prod"):
        wide = values.astype(np.float64) if dtype in FLOATS else values
        result = getattr(np, kind)(wide, axis=axes, keepdims=keepdims, dtype=wide.dtype)
    elif kind in ("max", "min"):
        limits = (-np.inf, np.inf) if dtype in FLOATS else (np.iinfo(values.dtype).min, np.iinfo(values.dtype).max)
        result = getattr(np, kind)(values, axis=axes, keepdims=keepdims, initial=limits[kind == "min"])
    elif dtype == "i1":
        result = (np.all if kind == "and" else np.any)(values, axis=axes, keepdims=keepdims)
    else:
        ufunc = np.bitwise_and if kind == "and" else np.bitwise_or
        result = ufunc.reduce(values, axis=axes, keepdims=keepdims)
    return result


def reduction(kind, x, axes, keepdims=False, tag=""):
    result = reduced(kind, x.dtype, x.values, axes, keepdims)
    keep = " keepdims" if keepdims else ""
    name = f"{kind}_{x.mlir}_{''.join(map(str, axes))}{keep.strip()}{tag}"
    tolerance = "sum" if x.dtype in FLOATS and kind in ("sum", "prod") else "exact"
    return simple(name, [x], [(x.dtype, result)],
                  f"%r0 = array.reduce {kind}, %0 axes = {list(axes)}{keep} : {x.mlir} -> {mlir_type(x.dtype, result.shape)}",
                  tolerance)


def reductions():
    for shape in SHAPES:
        for axes in ((1,), (0,), (0, 1)):
            yield reduction("sum", random("f32", shape, 1), axes)
        yield reduction("max", random("f32", shape, 1), (1,))
    for dtype in ("f64", "f16", "bf16", "i32", "i8", "u8", "i64", "u32"):
        low, high = (0.5, 1.5) if dtype in FLOATS else (0, 3)
        for kind in ("sum", "prod", "max", "min"):
            few = random(dtype, (9, 13), 2, *((low, high) if kind == "prod" else (None, None)))
            yield reduction(kind, few, (1,))
        if dtype not in FLOATS:
            for kind in ("and", "or"):
                yield reduction(kind, random(dtype, (9, 13), 3), (0,))
    for kind in ("and", "or"):
        for axes in ((0,), (1,), (0, 1)):
            yield reduction(kind, Tensor("i1", random("f32", (5, 37), 4, 0, 1).values > (0.1 if kind == "and" else 0.9)), axes)
    cube = random("f32", (5, 9, 17), 5)
    for axes in ((0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2)):
        yield reduction("sum", cube, axes)
        yield reduction("max", cube, axes, keepdims=True)
    yield reduction("sum", cube, ())
    for kind in ("sum", "prod", "max", "min"):
        yield reduction(kind, Tensor("f32", np.zeros((3, 0))), (1,), tag="_empty")
        yield reduction(kind, Tensor("f32", np.zeros((0, 3))), (1,), tag="_none")
    # Dims that are reduced together, of unknown size, and with nothing in them all the same.
    nothing = Tensor("i1", np.zeros((3, 8, 0), bool))
    yield simple("or_of_nothing", [nothing], [("i1", False)],
                 "%r0 = array.reduce or, %0 axes = [0, 1, 2] : tensor<?x8x0xi1> -> tensor<i1>", types=["tensor<?x8x0xi1>"])
    # What is compared with itself is known: a reduction of a constant, which reads nothing.
    yield simple("or_of_a_constant", [Tensor("i32", np.arange(24).reshape(3, 8))], [("i1", np.ones(8, bool))],
                 """%c = array.compare eq, %0, %0 : (tensor<?x8xi32>, tensor<?x8xi32>) -> tensor<?x8xi1>
                    %r0 = array.reduce or, %c axes = [0] : tensor<?x8xi1> -> tensor<8xi1>""", types=["tensor<?x8xi32>"])
    # Zeros and all bits set are what `and` makes of each other, unless there are no zeros.
    yield simple("and_of_no_zeros", [random("bf16", (4, 5, 1), 1)], [("u64", np.full((4, 5), 2 ** 64 - 1, np.uint64))],
                 """%s = array.slice %0 [0:4, 0:5, 1:1] : tensor<4x5x1xbf16> -> tensor<4x5x0xbf16>
                    %c = array.convert %s : tensor<4x5x0xbf16> -> tensor<4x5x0xui64>
                    %r0 = array.reduce and, %c axes = [2] : tensor<4x5x0xui64> -> tensor<4x5xui64>""")
    with_nan = random("f32", (4, 40), 6)
    with_nan.values[1, 17] = np.nan
    with_nan.values[2, 0] = -np.inf
    for kind in ("max", "min"):
        yield reduction(kind, with_nan, (1,), tag="_nan")
    # 16-bit floats accumulate in f32: 4096 ones are 4096, which a sum in f16 or bf16 never reaches.
    for dtype in ("f16", "bf16"):
        yield reduction("sum", Tensor(dtype, np.ones((2, 4096))), (1,), tag="_wide")
    x = random("f32", (33, 65), 7)
    for dtype in ("f32", "bf16"):
        zeros = Tensor(dtype, [[-0.0], [1.0], [0.0]])
        yield simple(f"sum_of_minus_zero_{dtype}", [zeros], [(dtype, np.array([np.inf, 1, np.inf]))],
                     f"%s = array.reduce sum, %0 axes = [1] : {zeros.mlir} -> tensor<3x{dtype}>\n"
                     f"    %r0 = array.reciprocal %s : tensor<3x{dtype}>", "exact")
    yield simple("fused_producer_consumer", [x], [("f32", np.sqrt((x.values ** 2).sum(1)))],
                 """%s = array.square %0 : tensor<33x65xf32>
                    %t = array.reduce sum, %s axes = [1] : tensor<33x65xf32> -> tensor<33xf32>
                    %r0 = array.sqrt %t : tensor<33xf32>""", "sum")


def arguments():
    for op, reference in (("argmax", np.argmax), ("argmin", np.argmin)):
        for shape in ((1, 1), (5, 7), (3, 16), (4, 1000), (65, 33)):
            for dtype in ("f32", "i32") if shape == (5, 7) else ("f32",):
                x = random(dtype, shape, 8)
                for axis in (0, 1):
                    index = reference(x.values, axis)
                    yield simple(f"{op}_{x.mlir}_{axis}", [x], [("i32", index)],
                                 f"%r0 = array.{op} %0 axis = {axis} : {x.mlir} -> {mlir_type('i32', index.shape)}")
        ties = Tensor("f32", [[1, 3, 3, 2], [5, 5, 5, 5], [np.nan, 9, np.nan, -9], [-np.inf] * 4])
        want = [[1, 0, 0, 0], [0, 0, 0, 0]][op == "argmin"]
        yield simple(f"{op}_ties", [ties], [("i64", np.array(want)[:, None])],
                     f"%r0 = array.{op} %0 axis = 1 keepdims : {ties.mlir} -> tensor<4x1xi64>")
        steps = [Step([random("f32", shape, 8)], [("i32", reference(random("f32", shape, 8).values, 1))]) for shape in ((5, 7), (1, 1))]
        steps += [Step([Tensor("f32", np.zeros((0, 0)))], [("i32", np.zeros(0))]),
                  Step([Tensor("f32", np.zeros((3, 0)))], error=f"array.{op}: expected an element in dim 1 of the operand, to find the index of")]
        yield Case(f"{op}_dynamic", f"""  func.func @NAME(%0: tensor<?x?xf32>) -> (tensor<?xi32>) {{
    %r = array.{op} %0 axis = 1 : tensor<?x?xf32> -> tensor<?xi32>
    return %r : tensor<?xi32>
  }}
""", steps, "exact")


def moments():
    for dtype in FLOATS:
        x = random(dtype, (17, 45), 9)
        for axes in ((1,), (0,), (0, 1)):
            mean = x.values.mean(axes)
            yield simple(f"mean_{dtype}_{''.join(map(str, axes))}", [x], [(dtype, mean)],
                         f"%r0 = array.mean %0 axes = {list(axes)} : {x.mlir} -> {mlir_type(dtype, mean.shape)}", "sum")
        variance = x.values.var(1, ddof=1)
        yield simple(f"var_{dtype}", [x], [(dtype, variance)],
                     f"%r0 = array.var %0 axes = [1] correction = 1 : {x.mlir} -> {mlir_type(dtype, variance.shape)}", "sum")
    # About the mean, so that a large mean does not cancel the variance away.
    x = Tensor("f32", random("f32", (4, 100), 10).values + 4096)
    yield simple("var_shifted", [x], [("f32", x.values.var(1))],
                 f"%r0 = array.var %0 axes = [1] : {x.mlir} -> tensor<4xf32>", "sum")
    # What both passes need is kept, with its dims the other way round than those of the input.
    for dtype in FLOATS:
        x = random(dtype, (7, 24), 12, 0.1, 4)
        roots = Tensor(dtype, np.cbrt(x.values.T))
        yield simple(f"var_transposed_{dtype}", [x], [(dtype, roots.values.var()), (dtype, roots.values.var(1))],
                     f"""%x = array.transpose %0 permutation = [1, 0] : {x.mlir} -> {roots.mlir}
                         %y = array.cbrt %x : {roots.mlir}
                         %r0 = array.var %y axes = [0, 1] : {roots.mlir} -> {mlir_type(dtype, ())}
                         %r1 = array.var %y axes = [1] : {roots.mlir} -> {mlir_type(dtype, (24,))}""", "composite")
    x = random("f32", (6, 50), 11, -100, 100)
    sums = np.log(np.exp(x.values - x.values.max(1, keepdims=True)).sum(1)) + x.values.max(1)
    yield simple("logsumexp", [x], [("f32", sums)],
                 f"%r0 = array.logsumexp %0 axes = [1] : {x.mlir} -> tensor<6xf32>", "composite")


def in_parts():
    """Reductions that depend on others of the same elements, which GPUs do part by part: of columns, of two dims of three, and of few long rows."""
    for dtype, shape, axis in (("f32", (4096, 80), 0), ("f16", (2560, 112), 0), ("f64", (4160, 64), 0), ("f32", (4, 1024, 72), 1), ("f32", (20, 40960), 1)):
        x = random(dtype, shape, 81, 40, 42)
        wide = x.values.astype(np.float64)
        kept = Tensor(dtype, wide.mean(axis))
        yield simple(f"var_in_parts_{dtype}_{'x'.join(map(str, shape))}", [x], [(dtype, wide.var(axis)), (dtype, wide.mean(axis))],
                     f"""%r0 = array.var %0 axes = [{axis}] : {x.mlir} -> {kept.mlir}
                         %r1 = array.mean %0 axes = [{axis}] : {x.mlir} -> {kept.mlir}""", "sum")
        # Some parts are of nothing but -infinity, and in column or row 2 all are.
        holed = wide.copy()
        lines = np.moveaxis(holed, axis, -1)
        lines[..., 128:2300] = -np.inf
        np.moveaxis(lines, -2, 0)[2] = -np.inf
        y = Tensor(dtype, holed)
        best = y.values.astype(np.float64).max(axis, keepdims=True)
        shift = np.where(np.isfinite(best), best, 0)
        want = np.log(np.exp(y.values.astype(np.float64) - shift).sum(axis, keepdims=True)) + shift
        yield simple(f"logsumexp_in_parts_{dtype}_{'x'.join(map(str, shape))}", [y], [(dtype, want.squeeze(axis))],
                     f"%r0 = array.logsumexp %0 axes = [{axis}] : {y.mlir} -> {kept.mlir}", "sum")
    # Of one infinity the sum is infinite, whatever part it is in.
    x = random("f32", (4160, 24), 7)
    x.values[1000, 3], x.values[2000, 5] = np.inf, -np.inf
    with np.errstate(invalid="ignore"):
        top = x.values.astype(np.float64).max(0)
        want = np.where(np.isinf(top), top, np.log(np.exp(x.values.astype(np.float64) - top).sum(0)) + top)
    yield simple("logsumexp_in_parts_of_infinity", [x], [("f32", want)], f"%r0 = array.logsumexp %0 axes = [0] : {x.mlir} -> tensor<24xf32>", "sum")
    x, w, b = random("f32", (4096, 80), 82, 3, 5), random("f32", (80,), 83), random("f32", (80,), 84)
    mean, var = x.values.mean(0), x.values.var(0)
    yield simple("batch_norm_in_parts", [x, w, b], [("f32", (x.values - mean) / np.sqrt(var + 1e-5) * w.values + b.values), ("f32", mean), ("f32", var)],
                 f"%r0, %r1, %r2 = array.batch_norm_training %0, %1, %2 axis = 1 epsilon = 1.0e-5 : ({x.mlir}, {w.mlir}, {b.mlir}) -> ({x.mlir}, {w.mlir}, {b.mlir})", "sum")
    # An image with its features last, then first: the loops of the batch and of places are one where they are neighbours.
    for shape, axis in ((8, 16, 32, 80), 3), ((8, 80, 16, 32), 1):
        image, others = random("f32", shape, 85 + axis, 3, 5), tuple(dim for dim in range(4) if dim != axis)
        mean, var = image.values.mean(others, keepdims=True), image.values.var(others, keepdims=True)
        scale, bias = (value.values.reshape(mean.shape) for value in (w, b))
        yield simple(f"batch_norm_of_image_in_parts_{axis}", [image, w, b], [
            ("f32", (image.values - mean) / np.sqrt(var + 1e-5) * scale + bias), ("f32", mean.squeeze()), ("f32", var.squeeze())],
                     f"%r0, %r1, %r2 = array.batch_norm_training %0, %1, %2 axis = {axis} epsilon = 1.0e-5 : "
                     f"({image.mlir}, {w.mlir}, {b.mlir}) -> ({image.mlir}, {w.mlir}, {b.mlir})", "sum")
    e = np.exp(x.values - x.values.max(0))
    yield simple("softmax_in_parts", [x], [("f32", e / e.sum(0))], f"%r0 = array.softmax %0 axis = 0 : {x.mlir}", "sum")


def held_columns():
    """Columns that GPUs hold in registers, since they are short, many and needed again: their last elements are some threads' only, and
    the last columns few for a block."""
    for dtype, shape, axis in (("f32", (3, 37, 4500), 1), ("bf16", (2, 90, 8712), 1), ("f32", (75, 4507), 0)):
        x = random(dtype, shape, 181, -3, 3)
        wide = x.values.astype(np.float64)
        e = np.exp(wide - wide.max(axis, keepdims=True))
        name = f"{dtype}_{'x'.join(map(str, shape))}"
        yield simple(f"softmax_held_{name}", [x], [(dtype, e / e.sum(axis, keepdims=True))],
                     f"%r0 = array.softmax %0 axis = {axis} : {x.mlir}", "composite")
        kept = Tensor(dtype, wide.mean(axis))
        yield simple(f"var_held_{name}", [x], [(dtype, wide.var(axis))], f"%r0 = array.var %0 axes = [{axis}] : {x.mlir} -> {kept.mlir}", "sum")


def visited_once():
    """Variances of columns whose elements GPUs visit once, by means of a few elements each, which are far from that of all: of any number of
    rows, the last of them some threads' only, and of a number that parts divide, but not what a thread has at a time."""
    def levels(shape, seed):
        x = random("f32", shape, seed, 300, 301)
        x.values[:] += 20 * np.arange(shape[0], dtype=np.float32)[:, None] // 16
        return x

    def variance(values):
        return values.astype(np.float64).var(0)

    yield over_sizes("var_visited_once_dynamic", [levels((rows, 16392), rows) for rows in (1, 31, 256, 299)], variance, "tensor<?x16392xf32>",
                     "tensor<16392xf32>", "array.var %x axes = [0]", "sum")
    for dtype, shape in (("bf16", (4032, 192)), ("f16", (20160, 36))):
        x = Tensor(dtype, levels(shape, 91).values / 16)
        wide = x.values.astype(np.float64)
        yield simple(f"var_visited_once_{dtype}", [x], [("f32", wide.var(0)), ("f32", wide.mean(0))],
                     f"""%w = array.convert %0 : {x.mlir} -> {mlir_type('f32', shape)}
                         %r0 = array.var %w axes = [0] : {mlir_type('f32', shape)} -> {mlir_type('f32', shape[1:])}
                         %r1 = array.mean %w axes = [0] : {mlir_type('f32', shape)} -> {mlir_type('f32', shape[1:])}""", "sum")


def together():
    """Reductions of one kind to one shape in one kernel, of which one is computed of what another one needs as well."""
    x = random("f32", (12, 4), 17)
    rest = x.values - x.values.max(0)
    for kind, function in (("sum", np.sum), ("max", np.max)):
        yield simple(f"{kind}_together", [x], [("f32", function(rest)), ("f32", function(rest * rest))],
                     f"""%t = array.reduce max, %0 axes = [0] : {x.mlir} -> tensor<4xf32>
                         %m = array.sub %0, %t : ({x.mlir}, tensor<4xf32>) -> {x.mlir}
                         %r0 = array.reduce {kind}, %m axes = [0, 1] : {x.mlir} -> tensor<f32>
                         %q = array.mul %m, %m : {x.mlir}
                         %r1 = array.reduce {kind}, %q axes = [0, 1] : {x.mlir} -> tensor<f32>""", "sum")


def scans():
    for dtype in ("f32", "i32", "bf16"):
        x = random(dtype, (5, 37), 12)
        for axis in (0, 1):
            result = np.cumsum(x.values, axis, dtype=x.values.dtype)
            yield simple(f"cumsum_{dtype}_{axis}", [x], [(dtype, result)],
                         f"%r0 = array.cumsum %0 axis = {axis} : {x.mlir} -> {x.mlir}", "sum")
    x = random("i32", (3, 8), 13)
    exclusive = np.cumsum(x.values, 1) - x.values
    yield simple("cumsum_exclusive", [x], [("i32", exclusive)],
                 f"%r0 = array.cumsum %0 axis = 1 exclusive : {x.mlir} -> {x.mlir}")
    backwards = np.cumsum(x.values[:, ::-1], 1)[:, ::-1]
    yield simple("cumsum_reverse", [x], [("i32", backwards)],
                 f"%r0 = array.cumsum %0 axis = 1 reverse : {x.mlir} -> {x.mlir}")


def softmaxes():
    def softmax(values, axis):
        shares = np.exp(values - values.max(axis, keepdims=True))
        return shares / shares.sum(axis, keepdims=True)

    def log_softmax(values, axis):
        shifted = values - values.max(axis, keepdims=True)
        return shifted - np.log(np.exp(shifted).sum(axis, keepdims=True))

    for op, reference, kind in (("softmax", softmax, "composite"), ("log_softmax", log_softmax, "composite")):
        for shape in SHAPES:
            x = random("f32", shape, 14, -8, 8)
            yield simple(f"{op}_{x.mlir}", [x], [("f32", reference(x.values, 1))], f"%r0 = array.{op} %0 axis = 1 : {x.mlir}", kind)
        for dtype in ("f64", "f16", "bf16"):
            x = random(dtype, (9, 45), 15, -8, 8)
            yield simple(f"{op}_{dtype}", [x], [(dtype, reference(x.values, 1))], f"%r0 = array.{op} %0 axis = 1 : {x.mlir}", kind)
        cube = random("f32", (4, 9, 17), 16, -8, 8)
        for axis in (0, 1, 2):
            yield simple(f"{op}_axis{axis}", [cube], [("f32", reference(cube.values, axis))],
                         f"%r0 = array.{op} %0 axis = {axis} : {cube.mlir}", kind)
        huge = Tensor("f32", [[1e4, 1e4 - 1, -1e4], [-3e38, -3e38, -3e38], [88, 89, 90]])
        yield simple(f"{op}_huge", [huge], [("f32", reference(huge.values, 1))], f"%r0 = array.{op} %0 axis = 1 : {huge.mlir}", kind)

    # Several values that are dear to compute, each needed twice, in one kernel.
    for axis in (0, 1):
        x, g = random("f32", (8, 64), 60, -3, 3), random("f32", (8, 64), 61, -3, 3)
        p, q, s = softmax(x.values, axis), softmax(g.values, axis), 1 / (1 + np.exp(-g.values))
        t = "tensor<8x64xf32>"
        yield Case(f"softmax_minus_softmax_{axis}", f"""  func.func @NAME(%x: {t}, %g: {t}) -> ({t}, {t}) {{
    %p = array.softmax %x axis = {axis} : {t}
    %q = array.softmax %g axis = {axis} : {t}
    %o = array.sub %p, %q : {t}
    return %o, %q : {t}, {t}
  }}
""", [Step([x, g], [("f32", p - q), ("f32", q)])], "composite")
        yield Case(f"softmax_gated_{axis}", f"""  func.func @NAME(%x: {t}, %g: {t}) -> ({t}, {t}, {t}) {{
    %s = array.sigmoid %g : {t}
    %h = array.tanh %g : {t}
    %p = array.softmax %x axis = {axis} : {t}
    %o = array.mul %p, %s : {t}
    %u = array.sub %p, %h : {t}
    return %s, %o, %u : {t}, {t}, {t}
  }}
""", [Step([x, g], [("f32", s), ("f32", p * s), ("f32", p - np.tanh(g.values))])], "composite")


def norms():
    for shape, axis in (((5, 7), 1), ((9, 64), 1), ((3, 65), 1), ((2, 1000), 1), ((4, 3, 8), 2), ((4, 3, 8), 1)):
        for dtype in ("f32", "bf16") if shape == (9, 64) else ("f32",):
            x = random(dtype, shape, 17)
            scale, bias = random(dtype, shape[axis:], 18), random(dtype, shape[axis:], 19)
            axes = tuple(range(axis, len(shape)))
            centred = x.values - x.values.mean(axes, keepdims=True)
            norm = centred / np.sqrt((centred ** 2).mean(axes, keepdims=True) + 1e-5)
            yield simple(f"layer_norm_{x.mlir}_{axis}", [x, scale, bias], [(dtype, norm * scale.values + bias.values)],
                         f"%r0 = array.layer_norm %0 scale(%1 : {scale.mlir}) bias(%2 : {bias.mlir}) axis = {axis} "
                         f"epsilon = 1.0e-5 : {x.mlir}", "sum")
            rms = x.values / np.sqrt((x.values ** 2).mean(axes, keepdims=True) + 1e-6) * scale.values
            yield simple(f"rms_norm_{x.mlir}_{axis}", [x, scale], [(dtype, rms)],
                         f"%r0 = array.rms_norm %0 scale(%1 : {scale.mlir}) axis = {axis} epsilon = 1.0e-6 : {x.mlir}", "sum")
    x = random("f32", (6, 33), 20)
    centred = x.values - x.values.mean(1, keepdims=True)
    yield simple("layer_norm_plain", [x], [("f32", centred / np.sqrt((centred ** 2).mean(1, keepdims=True) + 1e-5))],
                 f"%r0 = array.layer_norm %0 axis = 1 epsilon = 1.0e-5 : {x.mlir}", "sum")
    x = random("f32", (8, 5), 21)
    scale, bias, mean = (random("f32", (5,), seed) for seed in (22, 23, 24))
    variance = random("f32", (5,), 25, 0.5, 2)
    result = (x.values - mean.values) / np.sqrt(variance.values + 1e-5) * scale.values + bias.values
    v = "tensor<5xf32>"
    yield simple("batch_norm_inference", [x, scale, bias, mean, variance], [("f32", result)],
                 f"%r0 = array.batch_norm_inference %0, %1, %2, %3, %4 axis = 1 epsilon = 1.0e-5 "
                 f": ({x.mlir}, {v}, {v}, {v}, {v}) -> {x.mlir}", "sum")
    own_mean, own_variance = x.values.mean(0), x.values.var(0)
    result = (x.values - own_mean) / np.sqrt(own_variance + 1e-5) * scale.values + bias.values
    yield simple("batch_norm_training", [x, scale, bias], [("f32", result), ("f32", own_mean), ("f32", own_variance)],
                 f"%r0, %r1, %r2 = array.batch_norm_training %0, %1, %2 axis = 1 epsilon = 1.0e-5 "
                 f": ({x.mlir}, {v}, {v}) -> ({x.mlir}, {v}, {v})", "sum")


def few_long_rows():
    """Several reductions of a row whose blocks are few, and a row that is all there is."""
    for shape in ((1, 100003), (3, 40000)):
        x = random("f32", shape, 64, -4, 4)
        sums = np.log(np.exp(x.values).sum(1))
        yield simple(f"logsumexp_long_{x.mlir}", [x], [("f32", sums)],
                     f"%r0 = array.logsumexp %0 axes = [1] : {x.mlir} -> {mlir_type('f32', sums.shape)}", "composite")
        x = random("bf16", shape, 65)
        yield simple(f"var_long_{x.mlir}", [x], [("bf16", x.values.var(1))],
                     f"%r0 = array.var %0 axes = [1] : {x.mlir} -> {mlir_type('bf16', shape[:1])}", "sum")
    x, scale, bias = random("f32", (1, 66004), 66), random("f32", (66004,), 67), random("f32", (66004,), 68)
    normed = (x.values - x.values.mean(1)) / np.sqrt(x.values.var(1) + 1e-5) * scale.values + bias.values
    yield simple("layer_norm_of_one_row", [x, scale, bias], [("f32", normed)],
                 f"%r0 = array.layer_norm %0 scale(%1 : {scale.mlir}) bias(%2 : {bias.mlir}) axis = 1 epsilon = 1.0e-5 : {x.mlir}", "sum")
    yield reduction("sum", random("f32", (20011, 16), 69), (0, 1), tag="_uneven")


def large():
    """What takes a second kernel, or more of a row than registers hold."""
    yield reduction("sum", random("f32", (4096, 70), 30), (0,), tag="_two_steps")
    yield reduction("max", random("bf16", (2048, 136), 31), (0,), tag="_two_steps")
    yield reduction("sum", random("f32", (300, 1000), 32), (0, 1), tag="_two_steps")
    yield reduction("prod", random("f64", (70000,), 33, 0.9998, 1.0002), (0,), tag="_two_steps")
    # No number of parts divides these.
    yield reduction("sum", random("f32", (100003,), 43), (0,), tag="_uneven")
    yield reduction("max", random("bf16", (3, 40009), 44), (1,), tag="_uneven")
    yield reduction("sum", random("f32", (4099, 70), 45), (0,), tag="_uneven")
    yield reduction("sum", random("f32", (211, 307), 46), (0, 1), tag="_uneven")
    yield reduction("sum", random("f32", (3, 29989), 47), (0, 1), tag="_uneven")
    yield reduction("sum", random("f32", (67, 61, 65), 48), (0, 1), tag="_uneven")
    values = np.floor(random("f32", (70001,), 49, -50, 50).values)
    for tag, place in (("", None), ("_last", 70000), ("_rest", 69999)):
        x = Tensor("f32", values.copy())
        if place:
            x.values[place] = 77
        for op in ("argmax", "argmin"):
            yield simple(f"{op}_uneven{tag}", [x], [("i32", getattr(np, op)(x.values))],
                         f"%r0 = array.{op} %0 axis = 0 : {x.mlir} -> tensor<i32>", "exact")
    for shape, axis in (((2, 40009), 1), ((2, 40960), 1), ((20011, 20), 0), ((20480, 20), 0)):
        x = Tensor("f32", np.floor(random("f32", shape, 51, -50, 50).values))
        index = x.values.argmax(axis)
        yield simple(f"argmax_long_{x.mlir}", [x], [("i32", index)],
                     f"%r0 = array.argmax %0 axis = {axis} : {x.mlir} -> {mlir_type('i32', index.shape)}", "exact")
    x = random("f32", (50021,), 50)
    yield simple("var_uneven", [x], [("f32", x.values.var())], f"%r0 = array.var %0 axes = [0] : {x.mlir} -> tensor<f32>", "sum")
    x = Tensor("f32", np.floor(random("f32", (65536,), 34, -50, 50).values))
    yield simple("argmax_two_steps", [x], [("i64", x.values.argmax(0))],
                 f"%r0 = array.argmax %0 axis = 0 : {x.mlir} -> tensor<i64>", "exact")
    for shape in ((2, 40000), (1, 66000)):
        x = random("f32", shape, 35, -8, 8)
        shares = np.exp(x.values - x.values.max(1, keepdims=True))
        yield simple(f"softmax_long_{x.mlir}", [x], [("f32", shares / shares.sum(1, keepdims=True))],
                     f"%r0 = array.softmax %0 axis = 1 : {x.mlir}", "composite")
    # What follows the second step goes over another space than that.
    x = random("f32", (4096, 66), 52, -8, 8)
    shares = np.exp(x.values - x.values.max(0))
    yield simple("softmax_of_columns", [x], [("f32", shares / shares.sum(0))], f"%r0 = array.softmax %0 axis = 0 : {x.mlir}", "composite")
    x = random("f32", (140000,), 53, 0.5, 1.5)
    yield simple("share_of_sum", [x], [("f32", x.values / x.values.sum())],
                 f"""%s = array.reduce sum, %0 axes = [0] keepdims : {x.mlir} -> tensor<1xf32>
                     %r0 = array.div %0, %s : ({x.mlir}, tensor<1xf32>) -> {x.mlir}""", "sum")
    x, scale, bias = random("f32", (4096, 66), 54), random("f32", (66,), 55), random("f32", (66,), 56)
    normed = (x.values - x.values.mean(0)) / np.sqrt(x.values.var(0) + 1e-5) * scale.values + bias.values
    yield simple("batch_norm_of_columns", [x, scale, bias], [("f32", normed), ("f32", x.values.mean(0)), ("f32", x.values.var(0))],
                 f"%r0, %r1, %r2 = array.batch_norm_training %0, %1, %2 axis = 1 epsilon = 1.0e-5 "
                 f": ({x.mlir}, {scale.mlir}, {scale.mlir}) -> ({x.mlir}, {scale.mlir}, {scale.mlir})", "sum")
    # Rows of different lengths that meet in their sums.
    x, y = random("f32", (40, 256), 57), random("f32", (40, 100), 58)
    sums = x.values.sum(1)
    yield simple("rows_of_two_lengths", [x, y], [("f32", y.values + sums[:, None]), ("f32", (y.values * sums[:, None]).sum(1))],
                 f"""%s = array.reduce sum, %0 axes = [1] keepdims : {x.mlir} -> tensor<40x1xf32>
                     %r0 = array.add %1, %s : ({y.mlir}, tensor<40x1xf32>) -> {y.mlir}
                     %q = array.mul %1, %s : ({y.mlir}, tensor<40x1xf32>) -> {y.mlir}
                     %r1 = array.reduce sum, %q axes = [1] : {y.mlir} -> tensor<40xf32>""", "sum")
    # Reductions of one input, whose rows are read once.
    x = random("f32", (37, 1030), 64, -2, 2)
    yield simple("several_of_one_input", [x],
                 [("f32", x.values.sum(1)), ("f32", (x.values ** 2).sum(1)), ("f32", x.values.max(1)), ("i32", x.values.argmax(1))],
                 f"""%r0 = array.reduce sum, %0 axes = [1] : {x.mlir} -> tensor<37xf32>
                     %q = array.mul %0, %0 : {x.mlir}
                     %r1 = array.reduce sum, %q axes = [1] : {x.mlir} -> tensor<37xf32>
                     %r2 = array.reduce max, %0 axes = [1] : {x.mlir} -> tensor<37xf32>
                     %r3 = array.argmax %0 axis = 1 : {x.mlir} -> tensor<37xi32>""", "sum")
    # Rows that fill registers and shared memory, of one input and of two, and rows of which nothing stays.
    x = random("f32", (3, 34001), 63, -3, 3)
    shares = np.exp(x.values - x.values.max(1, keepdims=True))
    yield simple("softmax_of_cluster", [x], [("f32", shares / shares.sum(1, keepdims=True))],
                 f"%r0 = array.softmax %0 axis = 1 : {x.mlir}", "composite")
    x, scale = random("f32", (2, 34000), 59, -2, 2), random("f32", (34000,), 60)
    yield simple("rms_norm_long", [x, scale],
                 [("f32", x.values / np.sqrt((x.values ** 2).mean(1, keepdims=True) + 1e-6) * scale.values)],
                 f"%r0 = array.rms_norm %0 scale(%1 : {scale.mlir}) axis = 1 epsilon = 1.0e-6 : {x.mlir}", "sum")
    x, y = random("f32", (2, 20000), 61, -3, 3), random("f32", (2, 20000), 62, -2, 2)
    shares = np.exp(x.values * y.values - (x.values * y.values).max(1, keepdims=True))
    yield simple("softmax_of_product_long", [x, y], [("f32", shares / shares.sum(1, keepdims=True))],
                 f"""%p = array.mul %0, %1 : {x.mlir}
                     %r0 = array.softmax %p axis = 1 : {x.mlir}""", "composite")
    yield from few_long_rows()
    # Rows that the blocks of a cluster share; of 16 bits, ones that begin wherever the one before ends.
    yield from odd_rows()
    for dtype, shape in (("f32", (2048, 132)), ("bf16", (2048, 136)), ("f32", (512, 1060)), ("f32", (128, 2056)), ("bf16", (136, 8208))):
        yield layer_norm_gradient(dtype, shape)
    x, y, w = (random("f32", shape, seed) for shape, seed in (((5000, 100), 40), ((5000,), 41), ((100,), 42)))
    off = 1 / (1 + np.exp(-x.values @ w.values)) - y.values
    yield simple("gradient_step", [x, y, w], [("f32", w.values - x.values.T @ off / 5000)],
                 f"""%c = array.reshape %2 : {w.mlir} -> tensor<100x1xf32>
                     %s = array.matmul %0, %c : ({x.mlir}, tensor<100x1xf32>) -> tensor<5000x1xf32>
                     %v = array.reshape %s : tensor<5000x1xf32> -> {y.mlir}
                     %p = array.sigmoid %v : {y.mlir}
                     %o = array.sub %p, %1 : {y.mlir}
                     %q = array.reshape %o : {y.mlir} -> tensor<5000x1xf32>
                     %g = array.matmul %0, %q transpose_a : ({x.mlir}, tensor<5000x1xf32>) -> tensor<100x1xf32>
                     %h = array.reshape %g : tensor<100x1xf32> -> {w.mlir}
                     %n = array.constant dense<5.0e3> : tensor<f32>
                     %d = array.div %h, %n : ({w.mlir}, tensor<f32>) -> {w.mlir}
                     %r0 = array.sub %2, %d : {w.mlir}""", "sum")


def odd_rows():
    """Rows of 16-bit elements whose length is odd, from few threads for each to several blocks."""
    for dtype, shape in (("bf16", (2, 40003)), ("f16", (3, 9001)), ("bf16", (5, 1027)), ("f16", (37, 197)), ("bf16", (41, 33)),
                         ("bf16", (3, 5, 51)), ("f16", (7, 17)), ("bf16", (1, 8195)), ("bf16", (67, 8209))):
        x, axis = random(dtype, shape, 80, -3, 3), len(shape) - 1
        logs = x.values - x.values.max(-1, keepdims=True)
        logs = logs - np.log(np.exp(logs).sum(-1, keepdims=True))
        yield simple(f"log_softmax_odd_{x.mlir}", [x], [(dtype, logs)], f"%r0 = array.log_softmax %0 axis = {axis} : {x.mlir}",
                     "composite")
        scale, bias = random(dtype, shape[-1:], 81), random(dtype, shape[-1:], 82)
        off = x.values - x.values.mean(-1, keepdims=True)
        normed = off / np.sqrt((off * off).mean(-1, keepdims=True) + 1e-5) * scale.values + bias.values
        yield simple(f"layer_norm_odd_{x.mlir}", [x, scale, bias], [(dtype, normed)],
                     f"%r0 = array.layer_norm %0 scale(%1 : {scale.mlir}) bias(%2 : {bias.mlir}) axis = {axis} "
                     f"epsilon = 1.0e-5 : {x.mlir}", "composite")
        sums = mlir_type(dtype, shape[:-1])
        yield simple(f"sum_odd_{x.mlir}", [x], [(dtype, x.values.sum(-1))],
                     f"%r0 = array.reduce sum, %0 axes = [{axis}] : {x.mlir} -> {sums}", "sum")
    # Several inputs, of which one begins elsewhere, and two results.
    x, y = random("bf16", (9, 131), 83, -2, 2), random("bf16", (9, 132), 84, -2, 2)
    p = x.values * y.values[:, 1:]
    shares = np.exp(p - p.max(1, keepdims=True))
    yield simple("softmax_of_odd_product", [x, y], [("bf16", shares / shares.sum(1, keepdims=True)), ("bf16", p.max(1))],
                 f"""%s = array.slice %1 [:, 1:132] : {y.mlir} -> {x.mlir}
                     %p = array.mul %0, %s : {x.mlir}
                     %r0 = array.softmax %p axis = 1 : {x.mlir}
                     %r1 = array.reduce max, %p axes = [1] : {x.mlir} -> tensor<9xbf16>""", "composite")


def layer_norm_gradient(dtype, shape):
    """Gradients of layer_norm by its input, scale and bias: sums along rows, and of those along columns."""
    rows, columns = shape
    x, dy, scale = random(dtype, shape, 36), random(dtype, shape, 37), random(dtype, (columns,), 38)
    mean = x.values.mean(1, keepdims=True)
    rstd = 1 / np.sqrt(x.values.var(1, keepdims=True) + 1e-5)
    xhat, wdy = (x.values - mean) * rstd, dy.values * scale.values
    dx = (wdy - wdy.mean(1, keepdims=True) - xhat * (wdy * xhat).mean(1, keepdims=True)) * rstd
    f, c, k = (f"tensor<{size}xf32>" for size in (f"{rows}x{columns}", columns, f"{rows}x1"))

    def convert(result, operand, source, target):
        return f"{result} = array.convert {operand} : {source} -> {target}\n"

    return simple(f"layer_norm_gradient_{x.mlir}", [x, dy, scale],
                  [(dtype, dx), (dtype, (dy.values * xhat).sum(0)), (dtype, dy.values.sum(0))],
                  convert("%x", "%0", x.mlir, f) + convert("%dy", "%1", x.mlir, f) + convert("%g", "%2", scale.mlir, c) +
                  f"""%mean = array.mean %x axes = [1] keepdims : {f} -> {k}
                      %c = array.sub %x, %mean : ({f}, {k}) -> {f}
                      %sq = array.mul %c, %c : {f}
                      %var = array.mean %sq axes = [1] keepdims : {f} -> {k}
                      %eps = array.constant dense<1.0e-5> : tensor<f32>
                      %ve = array.add %var, %eps : ({k}, tensor<f32>) -> {k}
                      %rstd = array.rsqrt %ve : {k}
                      %xhat = array.mul %c, %rstd : ({f}, {k}) -> {f}
                      %wdy = array.mul %dy, %g : ({f}, {c}) -> {f}
                      %m1 = array.mean %wdy axes = [1] keepdims : {f} -> {k}
                      %wx = array.mul %wdy, %xhat : {f}
                      %m2 = array.mean %wx axes = [1] keepdims : {f} -> {k}
                      %a = array.sub %wdy, %m1 : ({f}, {k}) -> {f}
                      %p = array.mul %xhat, %m2 : ({f}, {k}) -> {f}
                      %q = array.sub %a, %p : {f}
                      %dx = array.mul %q, %rstd : ({f}, {k}) -> {f}
                      %dyx = array.mul %dy, %xhat : {f}
                      %dg = array.reduce sum, %dyx axes = [0] : {f} -> {c}
                      %db = array.reduce sum, %dy axes = [0] : {f} -> {c}
                   """ + convert("%r0", "%dx", f, x.mlir) + convert("%r1", "%dg", c, scale.mlir) +
                  convert("%r2", "%db", c, scale.mlir), "sum")


def bodies():
    """Reductions with a body: products of complex numbers, the maximum with the largest mark beside it, sums of other types."""
    shape = (3, 37)
    re, im = random("f32", shape, 70, -1, 1), random("f32", shape, 71, -1, 1)
    scalar = "tensor<f32>"

    def complex_product(axis, types, results):
        product = (re.values + 1j * im.values).prod(axis)
        return simple(f"with_complex_product_{axis}_{types[0][7]}", [re, im], [("f32", product.real), ("f32", product.imag)],
                      f"""%r0, %r1 = array.reduce_with %0, %1 axes = [{axis}] init = [1.0 : f32, 0.0 : f32] : ({", ".join(types)}) -> ({", ".join(results)}) {{
                          ^bb0(%a: {scalar}, %b: {scalar}, %c: {scalar}, %d: {scalar}):
                          %ac = array.mul %a, %c : {scalar}
                          %bd = array.mul %b, %d : {scalar}
                          %ad = array.mul %a, %d : {scalar}
                          %bc = array.mul %b, %c : {scalar}
                          %x = array.sub %ac, %bd : {scalar}
                          %y = array.add %ad, %bc : {scalar}
                          array.yield %x, %y : {scalar}, {scalar}
                          }}""", "sum", types=types, result_types=results)

    def norm(name, shape, axes, type, result, x=None, dtype="f32"):
        """By pairs, of what an op before it computes: the body says what partial results become."""
        x = Tensor(dtype, x) if x is not None else random(dtype, shape, 75, -1, 1)
        element = f"tensor<{dtype}>"
        return simple(f"with_norm_{name}", [x], [(dtype, np.sqrt(((2 * x.values) ** 2).sum(axes)))],
                      f"""%y = array.add %0, %0 : {type}
                          %r0 = array.reduce_with %y axes = {list(axes)} init = [0.0 : {dtype}] : ({type}) -> ({result}) {{
                          ^bb0(%a: {element}, %b: {element}):
                          %p = array.square %a : {element}
                          %q = array.square %b : {element}
                          %s = array.add %p, %q : {element}
                          %t = array.sqrt %s : {element}
                          array.yield %t : {element}
                          }}""", "model", types=[type], result_types=[result])

    for n in (70001, 1, 4100):
        yield norm(f"all_{n}", (n,), (0,), "tensor<?xf32>", "tensor<f32>")
    yield norm("rows", (3, 70000), (1,), "tensor<3x70000xf32>", "tensor<3xf32>")
    yield norm("columns", (30011, 9), (0,), "tensor<30011x9xf32>", "tensor<9xf32>")
    yield norm("two", (2, 300, 170), (0, 2), "tensor<2x300x170xf32>", "tensor<300xf32>")
    yield norm("narrow", (600, 5), (0,), "tensor<?x?xf32>", "tensor<?xf32>")
    yield norm("empty", (0, 5), (0,), "tensor<?x?xf32>", "tensor<?xf32>")
    yield norm("f16", (40, 33), (1,), "tensor<40x33xf16>", "tensor<40xf16>", dtype="f16")
    yield complex_product(1, [re.mlir] * 2, ["tensor<3xf32>"] * 2)
    yield complex_product(0, ["tensor<?x?xf32>"] * 2, ["tensor<?xf32>"] * 2)
    x, mark = Tensor("f32", np.random.default_rng(72).integers(-4, 4, shape)), random("u8", shape, 73)
    highest = x.values.max(1, keepdims=True)
    marks = np.where(x.values == highest, mark.values, 0).max(1, keepdims=True)
    yield simple("with_mark_of_maximum", [x, mark], [("f32", highest), ("u8", marks)],
                 f"""%r0, %r1 = array.reduce_with %0, %1 axes = [1] init = [0xFF800000 : f32, 0 : ui8] keepdims : ({x.mlir}, {mark.mlir}) -> (tensor<3x1xf32>, tensor<3x1xui8>) {{
                     ^bb0(%best: tensor<f32>, %m: tensor<ui8>, %y: tensor<f32>, %n: tensor<ui8>):
                     %more = array.compare gt, %y, %best : (tensor<f32>, tensor<f32>) -> tensor<i1>
                     %v = array.select %more, %y, %best : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
                     %same = array.compare eq, %y, %best : (tensor<f32>, tensor<f32>) -> tensor<i1>
                     %larger = array.max %n, %m : tensor<ui8>
                     %l = array.select %same, %larger, %m : (tensor<i1>, tensor<ui8>, tensor<ui8>) -> tensor<ui8>
                     %k = array.select %more, %n, %l : (tensor<i1>, tensor<ui8>, tensor<ui8>) -> tensor<ui8>
                     array.yield %v, %k : tensor<f32>, tensor<ui8>
                     }}""", "exact")
    for dtype in DTYPES:
        number = "false" if dtype == "i1" else "0.0" if dtype in FLOATS else "0"
        values = random(dtype, (5, 9), 74, *((-1, 1) if dtype in FLOATS else ()))
        element = values.mlir[values.mlir.rindex("x") + 1:-1]
        op, want = ("xor", np.bitwise_xor.reduce(values.values, 0)) if dtype == "i1" else \
            ("add", np.add.reduce(values.values, 0, dtype=values.values.dtype))
        yield simple(f"with_{op}_{dtype}", [values], [(dtype, want)],
                     f"""%r0 = array.reduce_with %0 axes = [0] init = [{number if dtype == "i1" else f"{number} : {element}"}] : ({values.mlir}) -> (tensor<9x{element}>) {{
                         ^bb0(%a: tensor<{element}>, %b: tensor<{element}>):
                         %s = array.{op} %a, %b : tensor<{element}>
                         array.yield %s : tensor<{element}>
                         }}""", "composite" if dtype in FLOATS else "exact")
    yield simple("with_nothing", [Tensor("f32", np.zeros((3, 0)))], [("f32", np.full(3, 7.0))],
                 """%r0 = array.reduce_with %0 axes = [1] init = [7.0 : f32] : (tensor<3x0xf32>) -> (tensor<3xf32>) {
                    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
                    %r = array.relu %b : tensor<f32>
                    %s = array.add %a, %r : tensor<f32>
                    array.yield %s : tensor<f32>
                    }""", "exact")
    # A reduction of one element in another one: each knows its own.
    one = random("f32", (9, 1), 76, -1, 1)
    one.values[4] = 0
    for n, result in ((1, "tensor<9x1xf32>"), (0, "tensor<1x1xf32>")):
        sums = one.values.sum(n, keepdims=True)
        yield simple(f"with_one_element_{n}", [one], [("i32", np.int32(np.count_nonzero(sums)))],
                     f"""%y = array.reduce_with %0 axes = [{n}] init = [0.0 : f32] keepdims : (tensor<9x1xf32>) -> ({result}) {{
                         ^bb0(%a: tensor<f32>, %b: tensor<f32>):
                         %s = array.add %a, %b : tensor<f32>
                         array.yield %s : tensor<f32>
                         }}
                         %places, %r0 = array.nonzero %y size = 9 : {result} -> tensor<9x2xi32>, tensor<i32>""", "exact")


def cases():
    with np.errstate(all="ignore"):
        for make in (reductions, bodies, arguments, moments, in_parts, held_columns, visited_once, together, scans, softmaxes, norms, large):
            yield from make()
