"""Parts that are computed and put side by side: products, convolutions and elementwise ops that store their box of the whole."""
import numpy as np

from cases.conv import NCHW, NHWC, convolve, random
from harness import Case, Step, simple
from tensors import mlir_type

SAME = "low = [1, 1] high = [1, 1]"


def conv_text(result, image, filter, types, dims=NHWC):
    return f"{result} = array.conv {image}, {filter} dims = <{dims}> {SAME} : ({types[0]}, {types[1]}) -> {types[2]}"


def convolutions():
    """Two convolutions of different images, channels last and first, whose boxes begin at multiples of 16 bytes and anywhere."""
    for dtype in ("f16", "bf16", "f32"):
        for widths in ((48, 64), (20, 37), (64, 3)):
            for name, dims, axis in (("last", NHWC, 3), ("first", NCHW, 1)):
                def image(channels, seed, count=2):
                    shape = (count, 9, 10, channels) if dims == NHWC else (count, channels, 9, 10)
                    return random(dtype, shape, seed)

                def weights(channels, features, seed):
                    return random(dtype, (3, 3, channels, features) if dims == NHWC else (features, channels, 3, 3), seed)

                x, y = image(32, 1), image(16, 2)
                v, w = weights(32, widths[0], 3), weights(16, widths[1], 4)
                parts = [convolve(a.values, b.values, dims, low=[1, 1], high=[1, 1]) for a, b in ((x, v), (y, w))]
                whole = np.concatenate(parts, axis)
                types = [mlir_type(dtype, part.shape) for part in parts]
                yield simple(f"joined_convolutions_{dtype}_{name}_{widths[0]}_{widths[1]}", [x, y, v, w], [(dtype, whole)], f"""
                    {conv_text("%a", "%0", "%2", (x.mlir, v.mlir, types[0]), dims)}
                    {conv_text("%b", "%1", "%3", (y.mlir, w.mlir, types[1]), dims)}
                    %r0 = array.concatenate %a, %b axis = {axis} : ({types[0]}, {types[1]}) -> {mlir_type(dtype, whole.shape)}""", "sum")


def dense():
    """As DenseNet: what a convolution reads beside its result, twice over; and an input that is copied between two parts."""
    dtype = "f16"
    x = random(dtype, (2, 7, 9, 24), 1)
    v, w = random(dtype, (3, 3, 24, 16), 2), random(dtype, (3, 3, 40, 8), 3)
    relu = np.maximum(x.values.astype(np.float64), 0)
    first = np.concatenate([relu, convolve(relu, v.values, NHWC, low=[1, 1], high=[1, 1])], 3)
    rounded = first.astype(np.float16).astype(np.float64)
    second = np.concatenate([first, convolve(rounded, w.values, NHWC, low=[1, 1], high=[1, 1])], 3)
    a, b, c, d = (mlir_type(dtype, (2, 7, 9, n)) for n in (16, 40, 8, 48))
    yield simple("joined_dense_block", [x, v, w], [(dtype, second)], f"""
        %e = array.relu %0 : {x.mlir}
        {conv_text("%a", "%e", "%1", (x.mlir, v.mlir, a))}
        %b = array.concatenate %e, %a axis = 3 : ({x.mlir}, {a}) -> {b}
        {conv_text("%c", "%b", "%2", (b, w.mlir, c))}
        %r0 = array.concatenate %b, %c axis = 3 : ({b}, {c}) -> {d}""", "sum")
    parts = [convolve(x.values, v.values, NHWC, low=[1, 1], high=[1, 1]), x.values, np.exp(x.values.astype(np.float64))]
    whole = np.concatenate(parts, 3)
    yield simple("joined_around_an_input", [x, v], [(dtype, whole)], f"""
        {conv_text("%a", "%0", "%1", (x.mlir, v.mlir, a))}
        %e = array.exp %0 : {x.mlir}
        %r0 = array.concatenate %a, %0, %e axis = 3 : ({a}, {x.mlir}, {x.mlir}) -> {mlir_type(dtype, whole.shape)}""", "sum")


def products():
    """Products along columns and along rows, with an epilogue, of one row, with sums so long that they are split, and of tiles that
    are whole."""
    for dtype in ("f16", "f32"):
        for axis, shapes in ((1, ((70, 40, 64), (70, 96, 37))), (0, ((70, 40, 64), (33, 96, 64))), (1, ((1, 40, 64), (1, 96, 32))),
                             (1, ((16, 4096, 24), (16, 64, 8))), (1, ((256, 64, 128), (256, 64, 64)))):
            operands = [random(dtype, shape, 10 + i) for i, (m, k, n) in enumerate(shapes) for shape in ((m, k), (k, n))]
            parts = [operands[i].values.astype(np.float64) @ operands[i + 1].values for i in (0, 2)]
            parts[1] = np.maximum(parts[1], 0)
            whole = np.concatenate(parts, axis)
            a, b = (mlir_type(dtype, part.shape) for part in parts)
            (m, k, _), (_, _, n) = shapes
            yield simple(f"joined_products_{dtype}_{axis}_{m}x{k}x{n}", operands, [(dtype, whole)], f"""
                %a = array.matmul %0, %1 : ({operands[0].mlir}, {operands[1].mlir}) -> {a}
                %p = array.matmul %2, %3 : ({operands[2].mlir}, {operands[3].mlir}) -> {b}
                %b = array.relu %p : {b}
                %r0 = array.concatenate %a, %b axis = {axis} : ({a}, {b}) -> {mlir_type(dtype, whole.shape)}""", "sum")


def others():
    """Reductions, elementwise ops, a pool and a depthwise convolution; over a symbolic batch; and a whole that is
    read again."""
    x, w = random("f32", (5, 8, 9, 16), 1), random("f32", (3, 3, 1, 16), 2)
    values = x.values.astype(np.float64)
    padded = np.pad(values, [(0, 0), (1, 1), (1, 1), (0, 0)], constant_values=-np.inf)
    pooled = np.max([padded[:, i:i + 8, j:j + 9] for i in range(3) for j in range(3)], 0)
    depthwise = convolve(x.values, w.values, NHWC, low=[1, 1], high=[1, 1], feature_groups=16)
    whole = np.concatenate([pooled, depthwise, np.tanh(values)], 3)
    t, r = "tensor<?x8x9x16xf32>", "tensor<?x8x9x48xf32>"
    text = f"""  func.func @NAME(%x: {t}, %w: {w.mlir}) -> ({r}, {t}) {{
    %a = array.reduce_window max, %x window = [1, 3, 3, 1] low = [0, 1, 1, 0] high = [0, 1, 1, 0] : {t} -> {t}
    %b = array.conv %x, %w dims = <{NHWC}> {SAME} feature_groups = 16 : ({t}, {w.mlir}) -> {t}
    %c = array.tanh %x : {t}
    %y = array.concatenate %a, %b, %c axis = 3 : ({t}, {t}, {t}) -> {r}
    return %y, %c : {r}, {t}
  }}
"""
    yield Case("joined_windows_of_a_symbolic_batch", text,
               [Step([random("f32", (5, 8, 9, 16), 1), w], [("f32", whole), ("f32", np.tanh(values))])], "sum")
    rows = random("f32", (33, 40), 3)
    exact = rows.values.astype(np.float64)
    shifted = np.exp(exact - exact.max(1, keepdims=True))
    soft = shifted / shifted.sum(1, keepdims=True)
    less = exact - exact.sum(1, keepdims=True)
    whole = np.concatenate([soft, less, exact * 2], 1)
    yield simple("joined_rows", [rows], [("f32", whole), ("f32", whole.sum(0))], f"""
        %a = array.softmax %0 axis = 1 : {rows.mlir}
        %m = array.reduce sum, %0 axes = [1] : {rows.mlir} -> tensor<33xf32>
        %k = array.broadcast_in_dim %m axes = [0] : tensor<33xf32> -> {rows.mlir}
        %b = array.sub %0, %k : {rows.mlir}
        %c = array.add %0, %0 : {rows.mlir}
        %r0 = array.concatenate %a, %b, %c axis = 1 : ({rows.mlir}, {rows.mlir}, {rows.mlir}) -> tensor<33x120xf32>
        %r1 = array.reduce sum, %r0 axes = [0] : tensor<33x120xf32> -> tensor<120xf32>""", "sum")


def nested():
    """A whole that is a part of another one, read once and read twice."""
    x, y = random("f32", (6, 8), 1), random("f32", (6, 4), 2)
    a, b = np.exp(x.values.astype(np.float64)), np.tanh(y.values.astype(np.float64))
    for name, kept in (("", False), ("_kept", True)):
        inner = np.concatenate([a, b], 1)
        whole = np.concatenate([inner, b, a], 1)
        outputs = [("f32", whole)] + [("f32", inner)] * kept
        yield simple(f"joined_nested{name}", [x, y], outputs, f"""
            %a = array.exp %0 : tensor<6x8xf32>
            %b = array.tanh %1 : tensor<6x4xf32>
            {"%r1" if kept else "%i"} = array.concatenate %a, %b axis = 1 : (tensor<6x8xf32>, tensor<6x4xf32>) -> tensor<6x12xf32>
            %r0 = array.concatenate {"%r1" if kept else "%i"}, %b, %a axis = 1 : (tensor<6x12xf32>, tensor<6x4xf32>, tensor<6x8xf32>) -> tensor<6x24xf32>""", "sum")


def cases():
    yield from convolutions()
    yield from dense()
    yield from products()
    yield from others()
    yield from nested()
