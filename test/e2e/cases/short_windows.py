"""Windows over dims that may be too short for them: sizes 0, 1, one less than the window, as large as it, and more, in one function
and in its gradient. Where the window fits nowhere there are no places, as where sizes are known when the module is compiled."""
import numpy as np

from cases.conv import NHWC, attributes as conv_attributes, convolve
from cases.pool import attributes as pool_attributes, windows_of
from cases.vjp import pulled_back
from harness import Case, Step, function
from tensors import Tensor, random

LINE = "[b, 0, f] x [0, i, o] -> [b, 0, f]"


def extent(size, dilation=1):
    return (size - 1) * dilation + 1 if size else 0


def lengths(span):
    return sorted({0, 1, max(span - 1, 0), span, span + 1, 9})


def image_gradients(x, w, d, strides=(1, 1), low=(0, 0), high=(0, 0)):
    """What a convolution of images gives back, one tap at a time."""
    padded = np.pad(x, [(0, 0), (low[0], high[0]), (low[1], high[1]), (0, 0)])
    back, dw = np.zeros(padded.shape), np.zeros(w.shape)
    for i, j in np.ndindex(*w.shape[:2]):
        rows, columns = (slice(t, t + (n - 1) * s + 1 if n else t, s) for t, n, s in zip((i, j), d.shape[1:3], strides))
        dw[i, j] = np.einsum("bxyi,bxyo->io", padded[:, rows, columns], d)
        back[:, rows, columns] += np.einsum("bxyo,io->bxyi", d, w[i, j])
    return [back[:, low[0]:low[0] + x.shape[1], low[1]:low[1] + x.shape[2]], dw]


def case(name, body, types, results, inputs_of, compute, sizes, kind="sum", dtype="f32", pull=None):
    """`compute` of `inputs_of(size)` for each size, and what it gives back for a cotangent: `pull` says it, or differences do."""
    pull = pull or (lambda *operands: pulled_back(lambda *x: [compute(*x)], operands[:-1], operands[-1:]))
    names = [f"%{i}" for i in range(len(types))]
    text = function("", list(zip(names, types)), [("%y", results)], f"    {body}")
    steps = []
    for size in sizes:
        inputs = inputs_of(size)
        values = [tensor.values for tensor in inputs]
        y = compute(*values)
        d = random(dtype, y.shape, 90, -1, 1)
        steps.append(Step(inputs, [(dtype, y)]))
        steps.append(Step([*inputs, d], [(dtype, g) for g in pull(*values, d.values)], "_vjp"))
    return Case(name, text, steps, kind, gradients=("",))


def convolutions():
    for name, k, window in (
            ("conv", 3, {}), ("conv_strided", 3, dict(strides=[2])), ("conv_padded", 5, dict(low=[1], high=[1])), ("conv_spread", 3, dict(input_dilation=[2])),
            ("conv_dilated", 4, dict(strides=[3], low=[2], filter_dilation=[2])), ("conv_patches", 4, dict(strides=[4])),
            ("conv_points", 1, dict(strides=[2])), ("conv_groups", 3, dict(feature_groups=2)), ("conv_cut", 2, dict(low=[-1], high=[1]))):
        w = random("f32", (k, 4 // window.get("feature_groups", 1), 6), 1, -1, 1)
        span = extent(k, window.get("filter_dilation", [1])[0]) - window.get("low", [0])[0] - window.get("high", [0])[0]
        yield case(name, f"%y = array.conv %0, %1 {conv_attributes(LINE, window)} : (tensor<2x?x4xf32>, {w.mlir}) -> tensor<2x?x6xf32>",
                   ["tensor<2x?x4xf32>", w.mlir], "tensor<2x?x6xf32>", lambda n, w=w: [random("f32", (2, n, 4), 2, -1, 1), w],
                   lambda x, w, window=window: convolve(x, w, LINE, **window), lengths(span))
    # The filter's size is not known either.
    for name, window in (("conv_open", {}), ("conv_open_strided", dict(strides=[2], low=[1], filter_dilation=[2]))):
        sizes = [(n, k) for n in (0, 1, 2, 5) for k in (0, 1, 2, 3)]
        yield case(name, f"%y = array.conv %0, %1 {conv_attributes(LINE, window)} : (tensor<1x?x2xf32>, tensor<?x2x3xf32>) -> tensor<1x?x3xf32>",
                   ["tensor<1x?x2xf32>", "tensor<?x2x3xf32>"], "tensor<1x?x3xf32>",
                   lambda size: [random("f32", (1, size[0], 2), 3, -1, 1), random("f32", (size[1], 2, 3), 4, -1, 1)],
                   lambda x, w, window=window: convolve(x, w, LINE, **window), sizes)
    # Images, on the kernels of matrix products.
    for dtype in ("f32", "f16"):
        w = Tensor(dtype, random(dtype, (3, 3, 16, 16), 5, -1, 1).values / 8)
        for name, window in (("valid", {}), ("same", dict(low=[1, 1], high=[1, 1])), ("strided", dict(strides=[2, 2]))):
            image = f"tensor<?x?x?x16x{dtype}>"
            yield case(f"conv_image_{name}_{dtype}", f"%y = array.conv %0, %1 {conv_attributes(NHWC, window)} : ({image}, {w.mlir}) -> {image}",
                       [image, w.mlir], image, lambda n, w=w, t=dtype: [random(t, (1, n, 3, 16), 6, -1, 1), w],
                       lambda x, w, window=window: convolve(x, w, NHWC, **window), (0, 1, 2, 3, 4), "model", dtype,
                       lambda x, w, d, window=window: image_gradients(x, w, d, **window))


def chain():
    """Windows on what windows leave: each may be the first that is too short."""
    w = random("f32", (3, 4, 4), 7, -1, 1)
    line = "tensor<1x?x4xf32>"
    window = dict(window=[1, 2, 1], strides=[1, 2, 1])
    body = f"""%a = array.conv %0, %1 {conv_attributes(LINE, {})} : ({line}, {w.mlir}) -> {line}
    %b = array.conv %a, %1 {conv_attributes(LINE, dict(strides=[2]))} : ({line}, {w.mlir}) -> {line}
    %c = array.reduce_window sum, %b {pool_attributes(window)} : {line} -> {line}
    %y = array.conv %c, %1 {conv_attributes(LINE, {})} : ({line}, {w.mlir}) -> {line}"""

    def compute(x, w):
        b = convolve(convolve(x, w, LINE), w, LINE, strides=[2])
        return convolve(windows_of(b, 0, **window)[0].sum(-1), w, LINE)
    yield case("chain", body, [line, w.mlir], line, lambda n: [random("f32", (1, n, 4), 8, -1, 1), w], compute, (0, 1, 2, 3, 5, 9, 14, 15, 20), "model")


def forked():
    """Windows on what several windows leave together, many times."""
    lines, value = [], "%x"
    for i in range(10):
        lines.append(f"""    %a{i} = array.reduce_window max, {value} window = [3] : tensor<?xf32> -> tensor<?xf32>
    %b{i} = array.reduce_window min, {value} window = [5] : tensor<?xf32> -> tensor<?xf32>
    %v{i} = array.concatenate %a{i}, %b{i} axis = 0 : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>""")
        value = f"%v{i}"

    def compute(x):
        for _ in range(10):
            x = np.concatenate([windows_of(x, -np.inf, window=[3])[0].max(-1), windows_of(x, np.inf, window=[5])[0].min(-1)])
        return x
    inputs = {n: [random("f32", (n,), 14, -1, 1)] for n in (0, 2, 3, 5, 6, 7, 8)}
    steps = [Step(inputs[n], [("f32", compute(inputs[n][0].values))]) for n in inputs]
    yield Case("forked", function("", [("%x", "tensor<?xf32>")], [(value, "tensor<?xf32>")], "\n".join(lines)), steps, "exact")


def pools():
    for name, window in (
            ("", dict(window=[1, 3, 1])), ("_strided", dict(window=[1, 3, 1], strides=[1, 2, 1])), ("_apart", dict(window=[1, 2, 1], strides=[1, 2, 1])),
            ("_padded", dict(window=[1, 4, 1], strides=[1, 2, 1], low=[0, 1, 0])), ("_dilated", dict(window=[1, 3, 1], dilation=[1, 2, 1]))):
        span = extent(window["window"][1], window.get("dilation", [1, 1])[1]) - window.get("low", [0, 0])[1]
        line = "tensor<2x?x3xf32>"
        for kind, fill, reduce in (("sum", 0, np.sum), ("prod", 1, np.prod), ("max", -np.inf, np.max), ("min", np.inf, np.min)):
            yield case(f"{kind}{name}", f"%y = array.reduce_window {kind}, %0 {pool_attributes(window)} : {line} -> {line}", [line], line,
                       lambda n: [random("f32", (2, n, 3), 9, -1, 1)],
                       lambda x, fill=fill, reduce=reduce, window=window: reduce(windows_of(x, fill, **window)[0], axis=-1), lengths(span), "model")

        def average(x, window=window):
            values, outside = windows_of(x, 0, **window)
            return values.sum(-1) / (~outside).sum(-1)
        yield case(f"avg{name}", f"%y = array.avg_pool %0 {pool_attributes(window)} : {line} -> {line}", [line], line,
                   lambda n: [random("f32", (2, n, 3), 10, -1, 1)], average, [n for n in lengths(span) if n > 0], "model")


def tosa():
    """The same windows as TOSA writes them."""
    image, w, bias = "tensor<1x?x3x4xf32>", random("f32", (4, 3, 2, 4), 11, -1, 1), random("f32", (4,), 12, -1, 1)
    zero = "%z = \"tosa.const\"() {values = dense<0.0> : tensor<1xf32>} : () -> tensor<1xf32>\n    "
    scalar = "tensor<1xf32>"
    ohwi = "[b, 0, 1, f] x [o, 0, 1, i] -> [b, 0, 1, f]"
    steps = lambda inputs_of, compute: [Step(inputs_of(n), [("f32", compute(*(t.values for t in inputs_of(n))))]) for n in (0, 1, 2, 3, 6)]  # noqa: E731
    picture = lambda n: random("f32", (1, n, 3, 4), 13, -1, 1)  # noqa: E731
    yield Case("tosa_conv", function("", [("%x", image), ("%w", w.mlir), ("%b", bias.mlir)], [("%y", "tensor<1x?x2x4xf32>")], f"""    {zero}
    %y = tosa.conv2d %x, %w, %b, %z, %z {{acc_type = f32, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>}}
       : ({image}, {w.mlir}, {bias.mlir}, {scalar}, {scalar}) -> tensor<1x?x2x4xf32>"""),
               steps(lambda n: [picture(n), w, bias], lambda x, w, b: convolve(x, w, ohwi) + b), "sum")
    window = dict(window=[1, 3, 2, 1], strides=[1, 1, 1, 1])
    attrs = "kernel = array<i64: 3, 2>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>"
    yield Case("tosa_max", function("", [("%x", image)], [("%y", "tensor<1x?x2x4xf32>")],
                                    f"    %y = tosa.max_pool2d %x {{{attrs}}} : ({image}) -> tensor<1x?x2x4xf32>"),
               steps(lambda n: [picture(n)], lambda x: windows_of(x, -np.inf, **window)[0].max(-1)), "exact")
    yield Case("tosa_avg", function("", [("%x", image)], [("%y", "tensor<1x?x2x4xf32>")],
                                    f"    {zero}%y = tosa.avg_pool2d %x, %z, %z {{{attrs}, acc_type = f32}} : ({image}, {scalar}, {scalar}) -> tensor<1x?x2x4xf32>"),
               steps(lambda n: [picture(n)], lambda x: windows_of(x, 0, **window)[0].mean(-1)), "sum")


def cases():
    for make in (convolutions, chain, forked, pools, tosa):
        yield from make()
