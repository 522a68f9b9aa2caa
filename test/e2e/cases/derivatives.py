"""Gradients of elementwise functions, of ops that move elements, of scatters, and of composites through what they consist of."""
import math

import numpy as np

from cases import attention, conv, functions, pool
from cases.gradients import case, random
from harness import simple
from tensors import Tensor, mlir_type

LINE = "tensor<8xf32>"
ERF = np.vectorize(math.erf)
# Operand ranges where the function is smooth, at a distance from its poles.
UNARY = {"abs": (np.abs, 0.2, 2), "neg": (np.negative, -2, 2), "square": (np.square, -2, 2), "sqrt": (np.sqrt, 0.3, 3),
         "rsqrt": (lambda x: x ** -0.5, 0.3, 3), "reciprocal": (lambda x: 1 / x, 0.5, 3), "exp": (np.exp, -2, 2),
         "exp2": (np.exp2, -2, 2), "expm1": (np.expm1, -2, 2), "log": (np.log, 0.3, 5), "log2": (np.log2, 0.3, 5),
         "log1p": (np.log1p, -0.5, 3), "sin": (np.sin, -3, 3), "cos": (np.cos, -3, 3), "tan": (np.tan, -1, 1),
         "tanh": (np.tanh, -2, 2), "erf": (ERF, -2, 2), "asin": (np.arcsin, -0.9, 0.9), "acos": (np.arccos, -0.9, 0.9),
         "atan": (np.arctan, -3, 3), "sinh": (np.sinh, -2, 2), "cosh": (np.cosh, -2, 2), "asinh": (np.arcsinh, -3, 3),
         "acosh": (np.arccosh, 1.2, 4), "atanh": (np.arctanh, -0.9, 0.9), "cbrt": (np.cbrt, 0.3, 4),
         "sigmoid": (lambda x: 1 / (1 + np.exp(-x)), -3, 3), "silu": (lambda x: x / (1 + np.exp(-x)), -3, 3),
         "relu": (lambda x: np.maximum(x, 0), 0.1, 2), "gelu": (lambda x: x * (1 + ERF(x / 2 ** 0.5)) / 2, -3, 3)}
BINARY = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "pow": np.power, "atan2": np.arctan2,
          "logaddexp": np.logaddexp, "max": np.maximum, "min": np.minimum}


def elementwise():
    for op, (function, low, high) in UNARY.items():
        # No multiple of the step is a kink.
        x = Tensor("f32", np.linspace(low, high, 8) + 0.01 * (low < 0))
        yield case(op, [x], lambda a: [function(a)], f"%y = array.{op} %0 {{vjp}} : {LINE}", [LINE])
    x = Tensor("f32", np.linspace(-2.7, 2.7, 8))
    yield case("convert", [x], lambda a: [a], f"%y = array.convert %0 {{vjp}} : {LINE} -> tensor<8xf64>", ["tensor<8xf64>"])
    x = Tensor("f32", np.linspace(-3, 3, 8))
    inner = lambda a: np.sqrt(2 / np.pi) * (a + 0.044715 * a ** 3)  # noqa: E731
    yield case("gelu_tanh", [x], lambda a: [a * (1 + np.tanh(inner(a))) / 2], f"%y = array.gelu %0 approximate = tanh {{vjp}} : {LINE}", [LINE])
    x = Tensor("f32", np.linspace(-0.8, 0.8, 8))
    yield case("erfinv", [x], lambda a: [functions.erfinv(a)], f"%y = array.erfinv %0 {{vjp}} : {LINE}", [LINE])
    # Each operand broadcast along one dim of the result.
    x, y = Tensor("f32", np.linspace(0.5, 2, 6).reshape(3, 2)), Tensor("f32", [[[1.1]], [[1.7]]])
    for op, function in BINARY.items():
        yield case(op, [x, y], lambda a, b: [function(a, b)],
                   f"%y = array.{op} %0, %1 {{vjp}} : ({x.mlir}, {y.mlir}) -> tensor<2x3x2xf32>", ["tensor<2x3x2xf32>"])
    z = Tensor("f32", [0.3, 2.5])
    yield case("fma", [x, y, z], lambda a, b, c: [a * b + c],
               f"%y = array.fma %0, %1, %2 {{vjp}} : ({x.mlir}, {y.mlir}, {z.mlir}) -> tensor<2x3x2xf32>", ["tensor<2x3x2xf32>"])
    low, high = Tensor("f32", [0.7, 0.9]), Tensor("f32", np.float32(1.5))
    yield case("clamp", [low, x, high], lambda a, b, c: [np.minimum(np.maximum(a, b), c)],
               f"%y = array.clamp %0, %1, %2 {{vjp}} : ({low.mlir}, {x.mlir}, {high.mlir}) -> {x.mlir}", [x.mlir])
    mask = Tensor("i1", [[True], [False], [True]])
    yield case("select", [x, z], lambda a, b: [np.where(mask.values, a, b)],
               f"%y = array.select %2, %0, %1 {{vjp}} : ({mask.mlir}, {x.mlir}, {z.mlir}) -> {x.mlir}", [x.mlir], constants=[mask])


def reductions():
    x = random((3, 5, 2), 1)
    for op, function in (("mean", lambda a: a.mean(1)), ("var", lambda a: a.var(1)),
                         ("logsumexp", lambda a: np.log(np.exp(a).sum(1)))):
        yield case(op, [x], lambda a: [function(a)], f"%y = array.{op} %0 axes = [1] {{vjp}} : {x.mlir} -> tensor<3x2xf32>",
                   ["tensor<3x2xf32>"])
    yield case("var_corrected", [x], lambda a: [a.var((0, 2), ddof=1, keepdims=True)],
               f"%y = array.var %0 axes = [0, 2] keepdims correction = 1 {{vjp}} : {x.mlir} -> tensor<1x5x1xf32>", ["tensor<1x5x1xf32>"])
    yield case("var_symbolic", [x], lambda a: [a.var(1)], "%y = array.var %0 axes = [1] {vjp} : tensor<3x?x2xf32> -> tensor<3x2xf32>",
               ["tensor<3x2xf32>"], types=["tensor<3x?x2xf32>"])

    def softmax(a):
        weights = np.exp(a - a.max(1, keepdims=True))
        return weights / weights.sum(1, keepdims=True)
    yield case("softmax", [x], lambda a: [softmax(a)], f"%y = array.softmax %0 axis = 1 {{vjp}} : {x.mlir}", [x.mlir])
    yield case("log_softmax", [x], lambda a: [np.log(softmax(a))], f"%y = array.log_softmax %0 axis = 1 {{vjp}} : {x.mlir}", [x.mlir])
    for kind in ("sum", "max", "min"):
        yield case(f"reduce_{kind}", [x], lambda a: [getattr(a, kind)((0, 2))],
                   f"%y = array.reduce {kind}, %0 axes = [0, 2] {{vjp}} : {x.mlir} -> tensor<5xf32>", ["tensor<5xf32>"])
    a, b = random((2, 3, 4), 2), random((5, 4), 3)
    yield case("matmul", [a, b], lambda a, b: [a @ b.T],
               f"%y = array.matmul %0, %1 transpose_b {{vjp}} : ({a.mlir}, {b.mlir}) -> tensor<2x3x5xf32>", ["tensor<2x3x5xf32>"])
    for options in ("", "exclusive", "reverse"):
        def sums(a):
            total = np.cumsum(a[:, ::-1], 1)[:, ::-1] if options == "reverse" else np.cumsum(a, 1)
            return [total - a if options == "exclusive" else total]
        yield case(f"cumsum_{options}", [x], sums, f"%y = array.cumsum %0 axis = 1 {options} {{vjp}} : {x.mlir} -> {x.mlir}", [x.mlir])


def moves():
    x, square = random((3, 4), 4), random((4, 4), 5)
    table = [("transpose", "permutation = [1, 0]", lambda a: a.T), ("reverse", "axes = [1]", lambda a: a[:, ::-1]),
             ("reshape", "", lambda a: a.reshape(2, 6)), ("slice", "[1:3, 0:4:2]", lambda a: a[1:3, 0:4:2]),
             ("broadcast_in_dim", "axes = [0, 2]", lambda a: np.broadcast_to(a[:, None], (3, 2, 4))),
             ("tile", "repeats = [2, 3]", lambda a: np.tile(a, (2, 3))), ("repeat", "repeats = 3 axis = 1", lambda a: np.repeat(a, 3, 1)),
             ("roll", "shifts = [1, -2] axes = [0, 1]", lambda a: np.roll(a, (1, -2), (0, 1))), ("tril", "offset = 1", lambda a: np.tril(a, 1)),
             ("triu", "", np.triu), ("diag", "offset = 1", lambda a: np.stack([np.diag(r, 1) for r in a])),
             ("expand_dims", "axes = [1]", lambda a: a[:, None]), ("partition", "kth = 2 axis = 1", lambda a: np.sort(a, 1))]
    for op, options, function in table:
        result = mlir_type("f32", function(x.values).shape)
        yield case(op, [x], lambda a: [function(a)], f"%y = array.{op} %0 {options} {{vjp}} : {x.mlir} -> {result}", [result])
    thin = random((3, 1, 4), 14)
    yield case("squeeze", [thin], lambda a: [a[:, 0]], f"%y = array.squeeze %0 axes = [1] {{vjp}} : {thin.mlir} -> tensor<3x4xf32>",
               ["tensor<3x4xf32>"])
    yield case("diagonal", [square], lambda a: [np.diagonal(a, -1)],
               f"%y = array.diagonal %0 offset = -1 {{vjp}} : {square.mlir} -> tensor<3xf32>", ["tensor<3xf32>"])
    # Twice as many, between: corners fall together with elements.
    def doubled(a):
        at = (np.arange(8) + 0.5) / 2 - 0.5
        low = np.floor(at).astype(int)
        part = at - low
        return [a[:, np.clip(low, 0, 3)] * (1 - part) + a[:, np.clip(low + 1, 0, 3)] * part]
    yield case("resize", [x], doubled, f"%y = array.resize linear, %0 axes = [1] sizes = [8] {{vjp}} : {x.mlir} -> tensor<3x8xf32>",
               ["tensor<3x8xf32>"])
    for mode, sizes in (("nearest", (8, 3)), ("cubic", (7,))):
        for size in sizes:
            yield case(f"resize_{mode}_{size}", [x], lambda a: [functions.resampled(mode, a, size, False)],
                       f"%y = array.resize {mode}, %0 axes = [1] sizes = [{size}] {{vjp}} : {x.mlir} -> tensor<3x{size}xf32>",
                       [f"tensor<3x{size}xf32>"])
    yield case("split", [x], lambda a: [a[:, :3], a[:, 3:]],
               f"%y = array.split %0 axis = 1 parts = [3, 1] {{vjp}} : {x.mlir} -> tensor<3x3xf32>, tensor<3x1xf32>",
               ["tensor<3x3xf32>", "tensor<3x1xf32>"])
    mask, source = Tensor("i1", [[0, 1, 1, 0], [1, 0, 0, 0], [0, 0, 1, 1]]), random((7,), 6)

    def filled(a, s):
        a = a.copy()
        a[mask.values] = s[:5]
        return [a]
    yield case("masked_scatter", [x, source], filled,
               f"%y = array.masked_scatter %0, %2, %1 {{vjp}} : ({x.mlir}, {mask.mlir}, {source.mlir}) -> {x.mlir}", [x.mlir],
               constants=[mask])
    heads, places = random((1, 2, 3, 4), 7), Tensor("i32", [2, 0, 5])
    for options, interleaved in (("", False), ("interleaved", True)):
        yield case(f"rope_{options}", [heads], lambda a: [attention.rotate(a, places.values, 100.0, interleaved)],
                   f"%y = array.rope %0, %1 base = 100.0 {options} {{vjp}} : ({heads.mlir}, {places.mlir}) -> {heads.mlir}", [heads.mlir],
                   constants=[places])


def symbolic_moves():
    """Of `?` that the op is given the sizes of, or takes them from the operand."""
    x, blocks, square, thin = random((3, 4), 15), random((2, 3, 4), 16), random((2, 1, 3, 3), 17), random((3, 1, 4), 18)
    some, pairs = "tensor<?x?xf32>", "tensor<?x?x4xf32>"
    table = [("expand_dims", x, some, "axes = [1]", "tensor<?x1x?xf32>", lambda a: a[:, None]),
             ("squeeze", thin, "tensor<?x1x?xf32>", "axes = [1]", some, lambda a: a[:, 0]),
             ("tile", x, some, "repeats = [2, 3]", some, lambda a: np.tile(a, (2, 3))),
             ("repeat", x, some, "repeats = 3 axis = 1", some, lambda a: np.repeat(a, 3, 1)),
             ("diag", blocks, pairs, "offset = -1", "tensor<?x?x5x5xf32>", lambda a: np.stack([[np.diag(r, -1) for r in m] for m in a])),
             ("diagonal", square, "tensor<?x?x3x3xf32>", "", "tensor<?x?x3xf32>", lambda a: np.diagonal(a, 0, 2, 3)),
             ("diag", x, some, "offset = 1", "tensor<?x?x?xf32>", lambda a: np.stack([np.diag(r, 1) for r in a])),
             ("diagonal", x, some, "offset = -1", "tensor<?xf32>", lambda a: np.diagonal(a, -1)),
             ("slice", x, some, "[:, 1:4:2]", "tensor<?x2xf32>", lambda a: a[:, 1:4:2]),
             ("reshape", blocks, pairs, "sizes(%n, %m)", "tensor<?x?x2x2xf32>", lambda a: a.reshape(2, 3, 2, 2)),
             ("broadcast_in_dim", x, some, "axes = [0, 2] sizes(%n, %m, %m)", "tensor<?x?x?xf32>",
              lambda a: np.repeat(a[:, None], 4, 1))]
    for op, operand, type, options, result, function in table:
        sizes = [f"%{name} = array.dim %0, {dim} : {type}\n    " for dim, name in enumerate("nm") if f"%{name}" in options]
        name = f"{op}_symbolic" + ("_vectors" if op.startswith("diag") and operand is x else "")
        yield case(name, [operand], lambda a: [function(a)],
                   "".join(sizes) + f"%y = array.{op} %0 {options} {{vjp}} : {type} -> {result}", [result], types=[type])
    def spread(a, v):
        padded = np.full((6, 12), v)
        padded[1::2, :10:3] = a
        return [padded]

    yield case("pad_spread_symbolic", [x, random((), 24)], spread, "%y = array.pad %0, %1 low = [1, 0] high = [0, 2] interior = [1, 2] {vjp} "
               f": ({some}, tensor<f32>) -> {some}", [some], types=[some, "tensor<f32>"])
    # Whether a dim is repeated is known at run time.
    for name, operand, count in (("repeated", random((3, 1), 21), 5), ("own", random((3, 5), 22), 5), ("one", random((3, 1), 23), 1)):
        yield case(f"broadcast_{name}_at_run_time", [operand], lambda a: [np.stack([np.broadcast_to(a, (3, count))] * 2)],
                   "%n = array.dim %0, 0 : tensor<?x?xf32>\n    %m = array.dim %1, 0 : tensor<?xf32>\n    "
                   "%y = array.broadcast_in_dim %0 axes = [1, 2] sizes(%n, %m) {vjp} : tensor<?x?xf32> -> tensor<2x?x?xf32>",
                   ["tensor<2x?x?xf32>"], constants=[random((count,), 20)], types=["tensor<?x?xf32>", "tensor<?xf32>"])
    w = random((4,), 19)
    yield case("rows_symbolic", [w], lambda a: [np.stack([a] * 3)],
               "%n = array.dim %1, 0 : tensor<?xf32>\n    "
               "%y = array.broadcast_in_dim %0 axes = [1] sizes(%n) {vjp} : tensor<4xf32> -> tensor<?x4xf32>",
               ["tensor<?x4xf32>"], constants=[random((3,), 20)], types=[w.mlir, "tensor<?xf32>"])


def scatters():
    base, rows = random((4, 3), 8), random((5, 3), 9)
    index = Tensor("i32", [[2], [0], [2], [7], [2]])
    kept = index.values[:, 0] < 4

    def scattered(ufunc):
        def function(a, u):
            a = a.copy()
            ufunc.at(a, index.values[kept, 0], u[kept])
            return [a]
        return function
    text = f"[%2] axes = [0] = %1 {{vjp}} : ({base.mlir}, {index.mlir}, {rows.mlir}) -> {base.mlir}"
    some = f"[%2] axes = [0] = %1 {{vjp}} : (tensor<?x3xf32>, tensor<?x1xi32>, tensor<?x3xf32>) -> tensor<?x3xf32>"
    types = ["tensor<?x3xf32>", "tensor<?x3xf32>", "tensor<?x1xi32>"]
    for kind, ufunc in (("add", np.add), ("mul", np.multiply), ("max", np.maximum), ("min", np.minimum)):
        yield case(f"scatter_{kind}", [base, rows], scattered(ufunc), f"%y = array.scatter {kind}, %0{text}", [base.mlir],
                   constants=[index])
        yield case(f"scatter_{kind}_symbolic", [base, rows], scattered(ufunc), f"%y = array.scatter {kind}, %0{some}", types[:1],
                   constants=[index], types=types)
    # One zero among the updates of row 2, two among those of row 0.
    zeros, index = Tensor("f32", [[0, 1, 0], [0, 2, 3], [0, 3, 4], [5, 6, 7], [2, 0, 0]]), Tensor("i32", [[0], [0], [0], [9], [2]])
    kept = index.values[:, 0] < 4
    yield case("scatter_mul_zeros", [base, zeros], scattered(np.multiply), f"%y = array.scatter mul, %0{text}", [base.mlir],
               constants=[index])
    # Ties share.
    ties, updates = Tensor("f32", [1, 5]), Tensor("f32", [1, 3, 3, 5])
    index = Tensor("i32", [[0], [0], [0], [1]])
    yield simple("scatter_max_ties", [ties, index, updates], [("f32", [0, 2.5]), ("f32", [0, 1.5, 1.5, 2.5])],
                 f"%r0 = array.scatter max, %0[%1] axes = [0] = %2 {{vjp}} : ({ties.mlir}, {index.mlir}, {updates.mlir}) -> {ties.mlir}",
                 "exact", result_types=[ties.mlir])
    unique = Tensor("i32", [[1], [0], [7]])
    part = random((3, 3), 10)

    def placed(a, u):
        a = a.copy()
        a[[1, 0]] = u[:2]
        return [a]
    yield case("scatter_set", [base, part], placed,
               f"%y = array.scatter set, %0[%2] axes = [0] = %1 unique {{vjp}} : ({base.mlir}, {unique.mlir}, {part.mlir}) -> {base.mlir}",
               [base.mlir], constants=[unique])
    points = Tensor("i32", [[1, 2], [3, 0], [1, 2]])
    p = points.values
    yield case("gather", [base], lambda a: [a[p[:, 0], p[:, 1]]],
               f"%y = array.gather %0[%1] axes = [0, 1] {{vjp}} : ({base.mlir}, {points.mlir}) -> tensor<3xf32>", ["tensor<3xf32>"],
               constants=[points])


def windows():
    image = Tensor("f32", np.where(np.arange(60).reshape(1, 5, 6, 2) % 7 == 3, 0, random((1, 5, 6, 2), 11).values))
    for name, window in (("overlapping", pool.POOL), ("sparse", dict(window=[1, 2, 1, 1], strides=[1, 3, 2, 1]))):
        for kind, type in (("", image.mlir), ("_symbolic", "tensor<1x?x?x2xf32>")):
            y = pool.reduced("prod", image, **window)
            result = type if kind else mlir_type("f32", y.shape)
            yield case(f"prod_pool_{name}{kind}", [image], lambda a: [pool.reduced("prod", Tensor("f64", a), **window)],
                       f"%y = array.reduce_window prod, %0 {pool.attributes(window)} {{vjp}} : {type} -> {result}", [result], types=[type])

    def one(name, x, w, dims, types, result, **window):
        return case(f"conv_{name}", [x, w], lambda a, b: [conv.convolve(a, b, dims, **window)],
                    f"%y = array.conv %0, %1 {conv.attributes(dims, window)} {{vjp}} : ({', '.join(types)}) -> {result}", [result], types=types)
    x, w = random((2, 7, 8, 2), 12), random((3, 2, 2, 3), 13)
    some = ["tensor<?x?x?x2xf32>", w.mlir]
    for name, window in (("strided", dict(strides=[2, 3], low=[1, 0], high=[1, 1])),
                         ("strided_evenly", dict(strides=[2, 2], low=[0, 1], high=[0, 1])),
                         ("strided_dilated", dict(strides=[3, 2], filter_dilation=[2, 3], low=[1, 2], high=[2, 1])),
                         ("strided_transposed", dict(strides=[2, 3], input_dilation=[3, 2], low=[1, 1], high=[2, 0])),
                         ("padded_too_far", dict(low=[1, 2], high=[3, 0])), ("cut", dict(low=[-1, 1], high=[1, 0])),
                         ("padded_too_far_strided", dict(strides=[2, 2], low=[3, 0], high=[0, 4]))):
        yield one(f"symbolic_{name}", x, w, conv.NHWC, some, "tensor<?x?x?x3xf32>", **window)
    xc, wc = Tensor("f32", x.values.transpose(0, 3, 1, 2)), Tensor("f32", w.values.transpose(3, 2, 0, 1))
    yield one("symbolic_nchw_strided", xc, wc, conv.NCHW, ["tensor<?x2x?x?xf32>", wc.mlir], "tensor<?x3x?x?xf32>", strides=[2, 3],
              low=[1, 0], high=[1, 1])
    for name, rank, shape, kernel in (("1d", 1, (2, 9, 3), (3, 3, 2)), ("3d", 3, (1, 4, 3, 5, 2), (2, 2, 3, 2, 2))):
        spatial = ", ".join(map(str, range(rank)))
        dims = f"[b, {spatial}, f] x [{spatial}, i, o] -> [b, {spatial}, f]"
        x, w = random(shape, 14), random(kernel, 15)
        window = dict(strides=[2] * rank, low=[1] * rank)
        yield one(name, x, w, dims, [x.mlir, w.mlir], mlir_type("f32", conv.convolve(x.values, w.values, dims, **window).shape), **window)


def masked_attention():
    for name, q, k, shape in (("each", (2, 4, 3), (2, 5, 3), (2, 4, 5)), ("keys", (2, 4, 3), (2, 5, 3), (5,)),
                              ("rows", (2, 4, 3), (2, 5, 3), (1, 4, 1)), ("grouped", (1, 4, 3, 4), (1, 2, 5, 4), (4, 3, 5)),
                              ("one_head", (1, 4, 3, 4), (1, 2, 5, 4), (1, 1, 3, 5))):
        operands, mask = attention.inputs("f32", q, k), random(shape, 16)
        yield case(f"attention_mask_{name}", operands + [mask], lambda q, k, v, m: [attention.attend(q, k, v, 0.5, m)],
                   f"%y = array.attention %0, %1, %2 mask(%3 : {mask.mlir}) scale = 0.5 {{vjp}} : "
                   f"({', '.join(o.mlir for o in operands)}) -> {operands[0].mlir}", [operands[0].mlir])


def cases():
    for make in (elementwise, reductions, moves, symbolic_moves, scatters, windows, masked_attention):
        yield from make()
