"""Statistics of the columns of products and convolutions, which kernels on tensor cores reduce in parts of 64 rows. Elements are small integers,
so that results are exact in 16 bits: what is compared are the statistics alone. Rows end within a part, or within a tile."""
import numpy as np

from cases.conv import NHWC, attributes, convolve
from harness import Case, Step, simple
from tensors import Tensor, mlir_type


def integers(dtype, shape, seed, low, high):
    return Tensor(dtype, np.random.default_rng(seed).integers(low, high + 1, shape))


def factors(dtype, rows, depth, columns, seed=1):
    """Of a product whose elements are far from zero, but near each other: 2 x the sum of `depth` of 5, 6 and 7."""
    return integers(dtype, (*rows, depth), seed, 5, 7), Tensor(dtype, np.full((depth, columns), 2) - (np.arange(columns) % 2))


def statistics(y):
    wide = y.reshape(-1, y.shape[-1]).astype(np.float64)
    return [wide.mean(0), wide.var(0)]


def measured(y_type, rank, columns):
    """Ops that give the mean and the variance of %r0."""
    wide, kept, axes = y_type.replace("bf16", "f32").replace("xf16", "xf32"), f"tensor<{columns}xf32>", list(range(rank - 1))
    convert = "" if wide == y_type else f"""
    %wide = array.convert %r0 : {y_type} -> {wide}"""
    of = "%wide" if convert else "%r0"
    return convert + f"""
    %r1 = array.mean {of} axes = {axes} : {wide} -> {kept}
    %r2 = array.var {of} axes = {axes} : {wide} -> {kept}"""


def products():
    for dtype, rows, depth, columns in (("bf16", (4161,), 16, 72), ("f16", (4095,), 16, 72), ("bf16", (4224,), 16, 64), ("bf16", (3, 1367), 16, 72),
                                        ("bf16", (2049,), 8, 264), ("bf16", (4097,), 16, 66), ("bf16", (8231,), 24, 33)):
        x, w = factors(dtype, rows, depth, columns)
        y = x.values.astype(np.float64) @ w.values.astype(np.float64)
        kind = mlir_type(dtype, y.shape)
        body = f"%r0 = array.matmul %0, %1 : ({x.mlir}, {w.mlir}) -> {kind}" + measured(kind, y.ndim, columns)
        yield simple(f"product_{dtype}_{'x'.join(map(str, (*rows, depth, columns)))}", [x, w], [(dtype, y), *(("f32", v) for v in statistics(y))], body, "sum")


def sums():
    """A sum alone, and a least element, which no row of zeros is."""
    x, w = factors("bf16", (4161,), 16, 72)
    y = x.values.astype(np.float64) @ w.values.astype(np.float64)
    kind = mlir_type("bf16", y.shape)
    yield simple("sum", [x, w], [("bf16", y), ("f32", (y * y).sum(0))], f"""%r0 = array.matmul %0, %1 : ({x.mlir}, {w.mlir}) -> {kind}
    %wide = array.convert %r0 : {kind} -> tensor<4161x72xf32>
    %square = array.mul %wide, %wide : tensor<4161x72xf32>
    %r1 = array.reduce sum, %square axes = [0] : tensor<4161x72xf32> -> tensor<72xf32>""", "sum")
    yield simple("minimum", [x, w], [("bf16", y), ("f32", y.min(0))], f"""%r0 = array.matmul %0, %1 : ({x.mlir}, {w.mlir}) -> {kind}
    %wide = array.convert %r0 : {kind} -> tensor<4161x72xf32>
    %r1 = array.reduce min, %wide axes = [0] : tensor<4161x72xf32> -> tensor<72xf32>""", "sum")


def both():
    """Rows and columns of one product, in parts."""
    x, w = factors("bf16", (4161,), 16, 136)
    y = x.values.astype(np.float64) @ w.values.astype(np.float64)
    kind = mlir_type("bf16", y.shape)
    body = f"%r0 = array.matmul %0, %1 : ({x.mlir}, {w.mlir}) -> {kind}" + measured(kind, 2, 136)
    yield simple("both", [x, w], [("bf16", y), *(("f32", v) for v in statistics(y)), ("f32", y.sum(1))],
                 body + "\n    %r3 = array.reduce sum, %wide axes = [1] : tensor<4161x136xf32> -> tensor<4161xf32>", "sum")


def convolutions():
    for image, filter, window in (((3, 37, 41, 8), (3, 3, 8, 64), dict(low=[1, 1], high=[1, 1])),
                                  ((5, 67, 61, 8), (3, 3, 8, 72), dict(strides=[2, 2], low=[1, 0], high=[0, 1])),
                                  ((2, 47, 47, 16), (1, 1, 16, 64), {})):
        x = integers("bf16", image, 5, 0, 2)
        w = integers("bf16", filter, 6, 0, 1)
        y = convolve(x.values.astype(np.float64), w.values.astype(np.float64), NHWC, **window)
        y = np.minimum(y, 256)
        kind = mlir_type("bf16", y.shape)
        limit = f"""array.conv %0, %1 {attributes(NHWC, window)} : ({x.mlir}, {w.mlir}) -> {kind}
    %most = array.constant dense<256.0> : {kind}
    %r0 = array.min %y, %most : {kind}"""
        yield simple(f"convolution_{'x'.join(map(str, image))}_{filter[0]}", [x, w], [("bf16", y), *(("f32", v) for v in statistics(y))],
                     f"%y = {limit}" + measured(kind, 4, filter[3]), "sum")


def filter_gradients():
    """The gradient to a filter, whose rows are taps and channels: they go on from tap to tap, or each tap is a product of its own."""
    for channels in (128, 136):
        x, g = integers("bf16", (2, 8, 9, channels), 7, 0, 1), integers("bf16", (2, 6, 7, 256), 8, 0, 1)
        y = np.stack([np.stack([np.einsum("nhwc,nhwf->cf", x.values[:, i:i + 6, j:j + 7].astype(np.float64), g.values.astype(np.float64))
                                for j in range(3)]) for i in range(3)])
        kind = mlir_type("bf16", y.shape)
        body = (f"%r0 = array.conv %0, %1 dims = <[f, 0, 1, b] x [i, 0, 1, o] -> [0, 1, b, f]> : ({x.mlir}, {g.mlir}) -> {kind}" + measured(kind, 4, 256))
        yield simple(f"filter_gradient_{channels}", [x, g], [("bf16", y), *(("f32", v) for v in statistics(y))], body, "sum")


def joined():
    """Two results side by side in one tensor, where their kernels store them, and the statistics of each."""
    x, w = factors("bf16", (4161,), 16, 72)
    y = x.values.astype(np.float64) @ w.values.astype(np.float64)
    other = Tensor("bf16", w.values[:, ::-1] * 0.5)
    z = x.values.astype(np.float64) @ other.values.astype(np.float64)
    kind, wide, kept, both = "tensor<4161x72xbf16>", "tensor<4161x72xf32>", "tensor<72xf32>", "tensor<4161x144xbf16>"
    body = "".join(f"""    %{name} = array.matmul %0, %{operand} : ({x.mlir}, {w.mlir}) -> {kind}
    %wide_{name} = array.convert %{name} : {kind} -> {wide}
    %r{result} = array.var %wide_{name} axes = [0] : {wide} -> {kept}
""" for name, operand, result in (("y", 1, 1), ("z", 2, 2)))
    yield simple("joined", [x, w, other], [("bf16", np.concatenate([y, z], 1)), ("f32", y.var(0)), ("f32", z.var(0))],
                 body + f"    %r0 = array.concatenate %y, %z axis = 1 : ({kind}, {kind}) -> {both}", "sum")


def normalized():
    """As in training: the statistics of what is stored, and all of it by them."""
    x, w = factors("bf16", (4161,), 16, 72)
    y = x.values.astype(np.float64) @ w.values.astype(np.float64)
    mean, variance = statistics(y)
    kind, kept = mlir_type("bf16", y.shape), "tensor<72xbf16>"
    yield simple("normalized", [x, w], [("bf16", (y - mean) / np.sqrt(variance + 1)), ("bf16", mean), ("bf16", variance)], f"""
    %y = array.matmul %0, %1 : ({x.mlir}, {w.mlir}) -> {kind}
    %one = array.constant dense<1.0> : {kept}
    %zero = array.constant dense<0.0> : {kept}
    %r0, %r1, %r2 = array.batch_norm_training %y, %one, %zero axis = 1 epsilon = 1.0 : ({kind}, {kept}, {kept}) -> ({kind}, {kept}, {kept})""", "sum")


def symbolic():
    """Rows of a number that a call says, and batches of images."""
    w = factors("bf16", (1,), 16, 72)[1]
    kind, wide, kept = "tensor<?x72xbf16>", "tensor<?x72xf32>", "tensor<72xf32>"
    body = f"""    %r0 = array.matmul %x, %w : (tensor<?x16xbf16>, {w.mlir}) -> {kind}
    %wide = array.convert %r0 : {kind} -> {wide}
    %r1 = array.mean %wide axes = [0] : {wide} -> {kept}
    %r2 = array.var %wide axes = [0] : {wide} -> {kept}"""
    steps = []
    for rows in (1, 63, 64, 65, 200, 4161):
        x = factors("bf16", (rows,), 16, 72, rows)[0]
        y = x.values.astype(np.float64) @ w.values.astype(np.float64)
        steps.append(Step([x, w], [("bf16", y), *(("f32", v) for v in statistics(y))]))
    yield Case("rows", f"""  func.func @NAME(%x: tensor<?x16xbf16>, %w: {w.mlir}) -> ({kind}, {kept}, {kept}) {{
{body}
    return %r0, %r1, %r2 : {kind}, {kept}, {kept}
  }}
""", steps, "sum")
    text = f"""  func.func @NAME(%x: tensor<?x16xbf16>, %w: {w.mlir}) -> ({kind}, {kept}) {{
    %r0 = array.matmul %x, %w : (tensor<?x16xbf16>, {w.mlir}) -> {kind}
    %wide = array.convert %r0 : {kind} -> {wide}
    %r1 = array.reduce sum, %wide axes = [0] : {wide} -> {kept}
    return %r0, %r1 : {kind}, {kept}
  }}
"""
    steps = []
    for rows in (0, 1, 129, 4161):
        x = factors("bf16", (rows,), 16, 72, rows)[0]
        y = x.values.astype(np.float64) @ w.values.astype(np.float64)
        steps.append(Step([x, w], [("bf16", y), ("f32", y.sum(0))]))
    yield Case("rows_or_none", text, steps, "sum")
    window = dict(low=[1, 1], high=[1, 1])
    kind, wide, kept = "tensor<?x13x11x64xbf16>", "tensor<?x13x11x64xf32>", "tensor<64xf32>"
    w = integers("bf16", (3, 3, 8, 64), 6, 0, 1)
    body = f"""    %r0 = array.conv %x, %w {attributes(NHWC, window)} : (tensor<?x13x11x8xbf16>, {w.mlir}) -> {kind}
    %wide = array.convert %r0 : {kind} -> {wide}
    %r1 = array.mean %wide axes = [0, 1, 2] : {wide} -> {kept}
    %r2 = array.var %wide axes = [0, 1, 2] : {wide} -> {kept}"""
    steps = []
    for images in (1, 2, 31):
        x = integers("bf16", (images, 13, 11, 8), images, 0, 2)
        y = convolve(x.values.astype(np.float64), w.values.astype(np.float64), NHWC, **window)
        steps.append(Step([x, w], [("bf16", y), *(("f32", v) for v in statistics(y))]))
    yield Case("images", f"""  func.func @NAME(%x: tensor<?x13x11x8xbf16>, %w: {w.mlir}) -> ({kind}, {kept}, {kept}) {{
{body}
    return %r0, %r1, %r2 : {kind}, {kept}, {kept}
  }}
""", steps, "sum")


def open_images():
    """Images of sizes that a call says, all of them or some, whose rows go on from one line and image to the next; and of none."""
    pad = dict(low=[1, 1], high=[1, 1])
    for name, outer, channels, sizes, window, filter in (
            ("images", "?x?x?", 8, ((1, 1, 1), (1, 7, 9), (2, 8, 8), (3, 13, 11), (1, 5, 823), (31, 13, 11)), pad, (3, 3, 64)),
            ("images_deep", "?x?x?", 64, ((1, 1, 1), (1, 7, 9), (2, 8, 8), (3, 13, 11), (6, 37, 41)), pad, (3, 3, 64)),
            ("images_deep_strided", "?x?x?", 64, ((1, 2, 2), (3, 13, 11), (4, 67, 75)), dict(strides=[2, 2], **pad), (3, 3, 72)),
            ("images_strided", "?x?x?", 8, ((1, 3, 3), (2, 19, 17), (3, 63, 47)), dict(strides=[2, 2], low=[1, 0], high=[0, 1]), (3, 3, 72)),
            ("images_points", "?x?x?", 8, ((1, 1, 1), (2, 33, 31), (3, 40, 40)), {}, (1, 1, 64)),
            ("lines", "?x?x11", 8, ((1, 1, 11), (2, 8, 11), (5, 37, 11)), pad, (3, 3, 64)),
            ("two", "2x?x?", 8, ((2, 1, 1), (2, 9, 7), (2, 64, 32)), pad, (3, 3, 64)),
            ("single", "1x?x?", 64, ((1, 1, 1), (1, 9, 7), (1, 64, 65)), pad, (3, 3, 64)),
            ("single_lines", "1x?x13", 8, ((1, 1, 13), (1, 9, 13), (1, 321, 13)), pad, (3, 3, 64))):
        # Of all channels a few count, so that results are exact.
        w = integers("bf16", (*filter[:2], channels, filter[2]), 6, 0, 1)
        w = Tensor("bf16", w.values * (np.arange(channels) % (channels // 8) == 0)[:, None])
        steps = []
        for image in sizes:
            x = integers("bf16", (*image, channels), sum(image), 0, 2)
            y = convolve(x.values.astype(np.float64), w.values.astype(np.float64), NHWC, **window)
            steps.append(Step([x, w], [("bf16", y), *(("f32", v) for v in statistics(y))]))
        inner = "x".join("?" if size == "?" else str(found) for size, found in zip(outer.split("x"), y.shape))
        kind, kept, given = f"tensor<{inner}x{filter[2]}xbf16>", f"tensor<{filter[2]}xf32>", f"tensor<{outer}x{channels}xbf16>"
        yield Case(f"open_{name}", f"""  func.func @NAME(%x: {given}, %w: {w.mlir}) -> ({kind}, {kept}, {kept}) {{
    %r0 = array.conv %x, %w {attributes(NHWC, window)} : ({given}, {w.mlir}) -> {kind}{measured(kind, 4, filter[2])}
    return %r0, %r1, %r2 : {kind}, {kept}, {kept}
  }}
""", steps, "sum")
    kind, wide, kept, window = "tensor<?x?x?x64xbf16>", "tensor<?x?x?x64xf32>", "tensor<64xf32>", pad
    w = integers("bf16", (3, 3, 8, 64), 6, 0, 1)
    steps = []
    for image in ((0, 8, 8), (2, 0, 5), (2, 5, 0), (1, 1, 2), (3, 25, 29)):
        x = integers("bf16", (*image, 8), 7, 0, 2)
        y = convolve(x.values.astype(np.float64), w.values.astype(np.float64), NHWC, **window) if x.values.size else np.zeros((*image, 64))
        steps.append(Step([x, w], [("bf16", y), ("f32", y.sum((0, 1, 2)))]))
    yield Case("open_images_or_none", f"""  func.func @NAME(%x: tensor<?x?x?x8xbf16>, %w: {w.mlir}) -> ({kind}, {kept}) {{
    %r0 = array.conv %x, %w {attributes(NHWC, window)} : (tensor<?x?x?x8xbf16>, {w.mlir}) -> {kind}
    %wide = array.convert %r0 : {kind} -> {wide}
    %r1 = array.reduce sum, %wide axes = [0, 1, 2] : {wide} -> {kept}
    return %r0, %r1 : {kind}, {kept}
  }}
""", steps, "sum")
    kind, kept = "tensor<?x?x72xbf16>", "tensor<72xf32>"
    w, steps = factors("bf16", (1,), 16, 72)[1], []
    for rows in ((1, 1), (3, 67), (64, 2), (5, 833)):
        x = factors("bf16", rows, 16, 72, sum(rows))[0]
        y = x.values.astype(np.float64) @ w.values.astype(np.float64)
        steps.append(Step([x, w], [("bf16", y), *(("f32", v) for v in statistics(y))]))
    yield Case("open_sequences", f"""  func.func @NAME(%x: tensor<?x?x16xbf16>, %w: {w.mlir}) -> ({kind}, {kept}, {kept}) {{
    %r0 = array.matmul %x, %w : (tensor<?x?x16xbf16>, {w.mlir}) -> {kind}{measured(kind, 3, 72)}
    return %r0, %r1, %r2 : {kind}, {kept}, {kept}
  }}
""", steps, "sum")


def wide_results():
    """Results of 32 bits: of operands of 16, and of 32 that may be rounded."""
    for dtype, rows, depth, columns in (("bf16", (4161,), 16, 72), ("f16", (4224,), 16, 128), ("bf16", (3, 1367), 16, 72), ("bf16", (4097,), 16, 66),
                                        ("bf16", (4097,), 64, 32), ("f32", (4161,), 16, 72), ("f32", (4224,), 32, 128), ("f32", (4097,), 33, 33)):
        x, w = factors(dtype, rows, depth, columns)
        transposed = Tensor(dtype, np.ascontiguousarray(w.values.T))
        y = x.values.astype(np.float64) @ w.values.astype(np.float64)
        kind, across = mlir_type("f32", y.shape), f"tensor<{depth}x{columns}x{mlir_type(dtype, (1,)).split('x')[1][:-1]}>"
        tf32 = " allow_tf32" if dtype == "f32" else ""
        name = f"{dtype}_{'x'.join(map(str, (*rows, depth, columns)))}"
        body = f"%r0 = array.matmul %0, %1{tf32} : ({x.mlir}, {w.mlir}) -> {kind}" + measured(kind, y.ndim, columns)
        yield simple(f"wide_{name}", [x, w], [("f32", y), *(("f32", v) for v in statistics(y))], body, "sum")
        body = f"""%w = array.transpose %1 permutation = [1, 0] : {transposed.mlir} -> {across}
    %r0 = array.matmul %0, %w{tf32} : ({x.mlir}, {across}) -> {kind}""" + measured(kind, y.ndim, columns)
        yield simple(f"wide_transposed_{name}", [x, transposed], [("f32", y), *(("f32", v) for v in statistics(y))], body, "sum")
    window = dict(low=[1, 1], high=[1, 1])
    ohwi = "[b, 0, 1, f] x [o, 0, 1, i] -> [b, 0, 1, f]"
    w = integers("f32", (64, 3, 3, 32), 6, 0, 1)
    for name, outer, sizes in (("wide_images", "3x37x41", ((3, 37, 41),)), ("wide_open_images", "?x?x?", ((1, 1, 1), (1, 7, 9), (2, 8, 8), (5, 37, 41)))):
        steps = []
        for image in sizes:
            x = integers("f32", (*image, 32), sum(image), 0, 2)
            y = convolve(x.values.astype(np.float64), w.values.transpose(1, 2, 3, 0).astype(np.float64), NHWC, **window)
            steps.append(Step([x, w], [("f32", y), *(("f32", v) for v in statistics(y))]))
        given, kind, kept = f"tensor<{outer}x32xf32>", f"tensor<{outer}x64xf32>", "tensor<64xf32>"
        yield Case(name, f"""  func.func @NAME(%x: {given}, %w: {w.mlir}) -> ({kind}, {kept}, {kept}) {{
    %r0 = array.conv %x, %w dims = <{ohwi}> low = [1, 1] high = [1, 1] allow_tf32 : ({given}, {w.mlir}) -> {kind}{measured(kind, 4, 64)}
    return %r0, %r1, %r2 : {kind}, {kept}, {kept}
  }}
""", steps, "sum")


def cases():
    for group in (products, sums, both, convolutions, filter_gradients, joined, normalized, symbolic, open_images, wide_results):
        yield from group()
