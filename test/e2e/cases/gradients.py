"""Gradients that ops know themselves: the function returns the gradient of |y|^2 / 2, since y itself is the cotangent.

The references differentiate by definition: every op here is linear in its operand or has a short formula, written out
below; a numerical derivative in float64 stands in where the formula is what is tested.
"""
import numpy as np

from cases import attention, conv, matmul, pool
from harness import simple
import tensors
from tensors import Tensor, mlir_type


def numerical(function, operands):
    """The gradient of |function(*operands)|^2 / 2 by central differences, which float64 gives to some 10 digits."""
    gradients = []
    for i, operand in enumerate(operands):
        gradient = np.zeros(operand.shape)
        for at in np.ndindex(*operand.shape):
            sides = []
            for step in (1e-5, -1e-5):
                moved = [o.copy() for o in operands]
                moved[i][at] += step
                sides.append(sum((np.asarray(y) ** 2).sum() / 2 for y in function(*moved)))
            gradient[at] = (sides[0] - sides[1]) / 2e-5
        gradients.append(gradient)
    return gradients


# What the latest case was made of: gradient_types.py makes others of it before it asks for the next.
latest = None


def case(*made_of, **options):
    global latest
    latest = made_of, options
    return differentiated(*made_of, **options)


def differentiated(name, operands, function, text, out_types, kind="gradient", dtype="f32", constants=(), types=None, numerical=numerical):
    """`text` has one op with results %y, ... of `out_types`, marked by {vjp}. Nothing flows back to `constants`, which
    follow the operands."""
    gradients = numerical(lambda *x: function(*x), [o.values for o in operands])
    names = ["%r0"] + [f"%r{i}" for i in range(1, len(out_types))]
    case = simple(name, [*operands, *constants], [(dtype, g) for g in gradients], text.replace("%y", ", ".join(names), 1), kind,
                  types=types, result_types=out_types)
    return case


def random(shape, seed, dtype="f32"):
    return tensors.random(dtype, shape, seed, -1, 1)


def convolutions():
    def one(name, x, w, dims=conv.NHWC, **window):
        x, w = random(x, 1), random(w, 2)
        y = conv.convolve(x.values, w.values, dims, **window)
        result = mlir_type("f32", y.shape)
        return case(f"conv_{name}", [x, w], lambda a, b: [conv.convolve(a, b, dims, **window)],
                    f"%y = array.conv %0, %1 {conv.attributes(dims, window)} {{vjp}} : ({x.mlir}, {w.mlir}) -> {result}", [result])

    for name, window in (("symbolic", dict(low=[1, 1], high=[2, 0])), ("symbolic_dilated", dict(filter_dilation=[1, 2], high=[0, 2])),
                         ("symbolic_transposed", dict(input_dilation=[2, 1], low=[1, 1]))):
        x, w = random((2, 5, 6, 2), 1), random((3, 2, 2, 3), 2)
        types, result = ["tensor<?x?x?x2xf32>", w.mlir], "tensor<?x?x?x3xf32>"
        yield case(f"conv_{name}", [x, w], lambda a, b: [conv.convolve(a, b, conv.NHWC, **window)],
                   f"%y = array.conv %0, %1 {conv.attributes(conv.NHWC, window)} {{vjp}} : ({', '.join(types)}) -> {result}", [result],
                   types=types)
    # Filters of sizes that are known later, in steps, spread, padded by more than they reach and by less than nothing, and in groups.
    for name, groups, window in (("plain", {}, dict(low=[1, 1], high=[1, 0])), ("strided", {}, dict(strides=[2, 3], high=[1, 2])),
                                 ("dilated", {}, dict(strides=[1, 2], filter_dilation=[2, 1], low=[1, 0])),
                                 ("transposed", {}, dict(input_dilation=[2, 3], low=[1, 2], high=[2, 0])),
                                 ("padded_too_far", {}, dict(low=[3, 0], high=[0, 4], strides=[2, 1])),
                                 ("cut", {}, dict(low=[-1, 0], high=[0, -2])),
                                 # Of no places nothing comes back.
                                 ("no_places", {}, dict(strides=[4, 4], filter_dilation=[3, 3])), ("grouped", dict(feature_groups=2), dict(low=[1, 1])),
                                 ("batch_groups", dict(batch_groups=2), dict(strides=[2, 1]))):
        grouped = bool(groups)
        x, w = random((2, 5, 6, 4 if "feature_groups" in groups else 2), 1), random((3, 2, 2, 4 if grouped else 3), 2)
        types = ["tensor<?x?x?x?xf32>"] * 2
        options = dict(window, **groups)
        yield case(f"conv_symbolic_filter_{name}", [x, w], lambda a, b: [conv.convolve(a, b, conv.NHWC, **options)],
                   f"%y = array.conv %0, %1 {conv.attributes(conv.NHWC, options)} {{vjp}} : ({', '.join(types)}) -> {types[0]}",
                   types[:1], types=types)
    yield one("plain", (1, 5, 6, 3), (3, 3, 3, 4))
    yield one("strided", (2, 6, 7, 2), (3, 2, 2, 3), strides=[2, 3], low=[1, 0], high=[0, 2])
    yield one("dilated", (1, 7, 6, 2), (2, 3, 2, 3), filter_dilation=[3, 2], low=[1, 2], high=[2, 1])
    yield one("strided_dilated", (1, 8, 9, 2), (3, 3, 2, 3), strides=[2, 3], filter_dilation=[3, 2], low=[1, 2], high=[2, 1])
    yield one("strided_dilated_factors", (1, 9, 10, 2), (2, 3, 2, 3), strides=[2, 4], filter_dilation=[4, 2], low=[2, 1], high=[0, 3])
    yield one("transposed", (1, 3, 4, 2), (3, 3, 2, 3), input_dilation=[2, 3], low=[1, 2], high=[2, 0])
    yield one("padded_too_far", (1, 4, 4, 2), (2, 2, 2, 2), low=[3, 0], high=[0, 2])
    yield one("nchw", (1, 2, 5, 6), (3, 2, 3, 3), conv.NCHW, low=[1, 1], high=[1, 1])
    yield one("grouped", (1, 5, 4, 6), (2, 3, 2, 9), feature_groups=3, strides=[2, 1])
    yield one("grouped_nchw", (1, 4, 5, 4), (6, 2, 2, 2), conv.NCHW, feature_groups=2)
    yield one("batch_groups", (6, 5, 4, 2), (2, 3, 2, 6), batch_groups=3, strides=[2, 1])
    yield one("batch_groups_nchw", (4, 3, 5, 4), (6, 3, 2, 2), conv.NCHW, batch_groups=2, low=[1, 0])
    yield one("depthwise", (1, 5, 5, 4), (3, 3, 1, 4), feature_groups=4, low=[1, 1], high=[1, 1])
    # Sums over so many places that blocks share them; too many for numerical derivatives.
    x, w = random((2, 33, 36, 5), 1), random((3, 3, 5, 6), 2)
    window = dict(low=[1, 1], high=[1, 1])
    y = conv.convolve(x.values, w.values, conv.NHWC, **window)
    padded = np.pad(x.values, ((0, 0), (1, 1), (1, 1), (0, 0)))
    dx, dw = np.zeros(padded.shape), np.zeros(w.values.shape)
    for i, j in np.ndindex(3, 3):
        place = (slice(None), slice(i, i + 33), slice(j, j + 36))
        dw[i, j] = np.einsum("bhwi,bhwo->io", padded[place], y)
        dx[place] += np.einsum("bhwo,io->bhwi", y, w.values[i, j])
    for type in (x.mlir, "tensor<?x33x36x5xf32>"):
        result = type.replace("5xf32", "6xf32")
        yield simple(f"conv_long_sums_{type}", [x, w], [("f32", dx[:, 1:-1, 1:-1]), ("f32", dw)],
                     f"%r0 = array.conv %0, %1 {conv.attributes(conv.NHWC, window)} {{vjp}} : ({type}, {w.mlir}) -> {result}",
                     "model", types=[type, w.mlir], result_types=[result])


def pools():
    x = random((2, 5, 6, 2), 3)
    for kind in ("sum", "max", "min"):
        for name, window in (("overlapping", pool.POOL), ("sparse", dict(window=[1, 2, 1, 1], strides=[1, 3, 2, 1])),
                             ("dilated", dict(window=[1, 2, 2, 1], dilation=[1, 2, 3, 1], low=[0, 2, 0, 0]))):
            y = pool.reduced(kind, x, **window)
            yield case(f"{kind}_pool_{name}", [x], lambda a: [pool.reduced(kind, Tensor("f64", a), **window)],
                       f"%y = array.reduce_window {kind}, %0 {pool.attributes(window)} {{vjp}} : {x.mlir} -> "
                       f"{mlir_type('f32', y.shape)}", [mlir_type("f32", y.shape)])
    # Places of nothing but padding, at both ends of a size that is known later.
    far = dict(window=[2, 1], low=[3, 0], high=[4, 0], strides=[2, 1])
    row = random((5, 3), 4)
    yield case("sum_pool_symbolic_padded_too_far", [row], lambda a: [pool.reduced("sum", Tensor("f64", a), **far)],
               f"%y = array.reduce_window sum, %0 {pool.attributes(far)} {{vjp}} : tensor<?x3xf32> -> tensor<?x3xf32>",
               ["tensor<?x3xf32>"], types=["tensor<?x3xf32>"])
    # The gradient of a gradient of max pooling: what a place gets back is where it selected.
    for kind, window in (("max", pool.POOL), ("min", dict(window=[1, 2, 2, 1], strides=[1, 1, 2, 1], dilation=[1, 3, 2, 1], low=[0, 2, 0, 0]))):
        places = mlir_type("f32", pool.windows_of(x.values, 0, **window)[0].shape[:-1])
        source = random(pool.windows_of(x.values, 0, **window)[0].shape[:-1], 61)
        yield case(f"select_and_scatter_{kind}", [x, source], lambda a, s: [pool.scattered(kind, a, s, **window)],
                   f"%y = array.select_and_scatter {kind}, %0, %1 {pool.attributes(window)} {{vjp}} : ({x.mlir}, {places}) -> {x.mlir}",
                   [x.mlir])
    for flag in ("", "count_include_pad"):
        def mean(a):
            values, outside = pool.windows_of(a, 0, **pool.POOL)
            return [values.sum(-1) / (9 if flag else (~outside).sum(-1))]
        result = mlir_type("f32", mean(x.values)[0].shape)
        yield case(f"avg_pool_{flag}", [x], mean,
                   f"%y = array.avg_pool %0 {pool.attributes(pool.POOL)} {flag} {{vjp}} : {x.mlir} -> {result}", [result])


def attentions():
    def one(name, q, k, v=None, options="", **reference):
        operands = attention.inputs("f32", q, k, v)
        result = mlir_type("f32", q[:-1] + (v or k)[-1:])
        return case(f"attention_{name}", operands, lambda *x: [attention.attend(*x, 0.5, **reference)],
                    f"%y = array.attention %0, %1, %2 {options} scale = 0.5 {{vjp}} : ({', '.join(o.mlir for o in operands)}) "
                    f"-> {result}", [result])

    yield one("plain", (2, 4, 3), (2, 5, 3))
    yield one("narrow_values", (2, 4, 3), (2, 5, 3), (2, 5, 2))
    yield one("grouped_causal", (1, 4, 3, 4), (1, 2, 5, 4), options="causal", causal=True)
    yield one("window", (2, 6, 3), (2, 6, 3), options="causal window = 2", causal=True, window=2)
    operands, sinks = attention.inputs("f32", (2, 4, 3, 4), (2, 2, 5, 4)), random((4,), 9)
    yield case("attention_sinks", operands + [sinks],
               lambda q, k, v, t: [attention.attend(q, k, v, 0.5, causal=True, sinks=t)],
               "%y = array.attention %0, %1, %2 causal sinks(%3 : tensor<4xf32>) scale = 0.5 {vjp} : "
               f"({', '.join(o.mlir for o in operands)}) -> tensor<2x4x3x4xf32>", ["tensor<2x4x3x4xf32>"])


def attention_with_logsumexp():
    for name, q, k, options, reference in (("plain", (2, 4, 3), (2, 5, 3), "", {}),
                                           ("grouped_causal", (1, 4, 3, 4), (1, 2, 5, 4), "causal", dict(causal=True))):
        operands = attention.inputs("f32", q, k)
        types = [operands[0].mlir, mlir_type("f32", q[:-1])]
        yield case(f"attention_logsumexp_{name}", operands, lambda *x: attention.attend(*x, 0.5, logsumexp=True, **reference),
                   f"%y = array.attention %0, %1, %2 {options} logsumexp scale = 0.5 {{vjp}} : "
                   f"({', '.join(o.mlir for o in operands)}) -> {', '.join(types)}", types)


def attention_in_parts():
    """More scores than are held at once, against the formulas."""
    for name, options, window in (("plain", "", None), ("causal", "causal", 10 ** 9), ("window", "causal window = 70", 70)):
        yield attention_in_parts_of(f"few_{name}", 130, 150, options, window, "array.max_scores = 8192 : i64, ")
        one = attention_in_parts_of(name, 2050, 2100, options, window)
        one.stand_in = False  # it would take minutes
        yield one


def attention_in_parts_of(name, queries, keys, options, window, attributes=""):
    operands = attention.inputs("f32", (1, queries, 4), (1, keys, 4))
    q, k, v = (o.values[0] for o in operands)
    distance = np.arange(queries)[:, None] + keys - queries - np.arange(keys)
    seen = (distance >= 0) & (distance < window) if window else np.ones((queries, keys), bool)
    shares = np.where(seen, np.exp(q @ k.T * 0.5), 0)
    shares /= shares.sum(-1, keepdims=True)
    g = shares @ v
    to_shares = g @ v.T
    to_scores = shares * (to_shares - (shares * to_shares).sum(-1, keepdims=True)) * 0.5
    return simple(f"attention_in_parts_{name}", operands,
                  [("f32", x[None]) for x in (to_scores @ k, to_scores.T @ q, shares.T @ g)],
                  f"%r0 = array.attention %0, %1, %2 {options} scale = 0.5 {{{attributes}vjp}} : "
                  f"({', '.join(o.mlir for o in operands)}) -> {operands[0].mlir}", "model",
                  result_types=[operands[0].mlir])


def adaptive_pools():
    x = random((2, 5, 7, 2), 10)
    for kind in ("avg", "max"):
        for name, sizes in (("uneven", [3, 4]), ("more", [7, 3]), ("one", [1, 1])):
            y = pool.adapted(kind, x.values, [1, 2], sizes)
            yield case(f"adaptive_{kind}_{name}", [x], lambda a: [pool.adapted(kind, a, [1, 2], sizes)],
                       f"%y = array.adaptive_pool {kind}, %0 axes = [1, 2] sizes = {sizes} {{vjp}} : {x.mlir} -> {mlir_type('f32', y.shape)}",
                       [mlir_type("f32", y.shape)])
            open_type = "tensor<2x?x?x2xf32>"
            yield case(f"adaptive_{kind}_{name}_open", [x], lambda a: [pool.adapted(kind, a, [1, 2], sizes)],
                       f"%y = array.adaptive_pool {kind}, %0 axes = [1, 2] sizes = {sizes} {{vjp}} : {open_type} -> {mlir_type('f32', y.shape)}",
                       [mlir_type("f32", y.shape)], types=[open_type])


def accumulated(function, x, axis, exclusive, reverse, first):
    """`function.accumulate` of lines; with `exclusive` of the elements before, beginning with `first`."""
    x = np.flip(x, axis) if reverse else x
    if exclusive:
        x = np.concatenate([np.full_like(np.take(x, [0], axis), first), np.delete(x, -1, axis)], axis)
    y = function.accumulate(x, axis)
    return np.flip(y, axis) if reverse else y


def paged_attention():
    """Pages in another order than they were written in, of which one is not full."""
    q, k, v = random((2, 4, 1, 8), 60), random((5, 2, 4, 8), 61), random((5, 2, 4, 8), 62)
    table, lengths = Tensor("i32", [[3, 1], [0, 4]]), Tensor("i64", [7, 4])
    yield case("paged_attention", [q, k, v],
               lambda a, b, c: [attention.attend_pages(a, b, c, table.values, lengths.values, 0.3)],
               f"%y = array.paged_attention %0, %1, %2 table(%3 : {table.mlir}) lengths(%4 : {lengths.mlir}) scale = 0.3 {{vjp}} : "
               f"({q.mlir}, {k.mlir}, {v.mlir}) -> {q.mlir}", [q.mlir], constants=[table, lengths])


def lines():
    x = random((3, 7), 11)
    zeros = Tensor("f32", [[1, 2, 0, 3, 4, 5, 2], [1, 0, 2, 0, 3, 1, 1], [2, 1, 0.5, 3, 1, 2, 0]])
    text = "%y = array.{op} %0 axis = {axis} {options} {{vjp}} : " + f"{x.mlir} -> {x.mlir}"
    for op, function, first in (("cumprod", np.multiply, 1), ("cummax", np.maximum, 0), ("cummin", np.minimum, 0),
                                ("logcumsumexp", np.logaddexp, -1e4)):
        for axis, exclusive, reverse in ((1, False, False), (0, False, True), (1, True, False), (1, True, True)):
            options = " ".join(["exclusive"] * exclusive + ["reverse"] * reverse)
            # What is before the first element is no finite number, whose square cannot be differentiated.
            if exclusive and op != "cumprod":
                continue
            yield case(f"{op}_{axis}{'_exclusive' * exclusive}{'_reverse' * reverse}", [zeros if op == "cumprod" else x],
                       lambda a: [accumulated(function, a, axis, exclusive, reverse, first)],
                       text.format(op=op, axis=axis, options=options), [x.mlir])
    for options in ("", "descending"):
        sign = -1 if options else 1
        yield case(f"sort_{options}", [x], lambda a: [sign * np.sort(sign * a, 1)], text.format(op="sort", axis=1, options=options),
                   [x.mlir])
    yield case("sort_symbolic", [x], lambda a: [np.sort(a, 0)], "%y = array.sort %0 axis = 0 {vjp} : tensor<?x?xf32> -> tensor<?x?xf32>",
               ["tensor<?x?xf32>"], types=["tensor<?x?xf32>"])
    for options, sign in (("", -1), ("smallest", 1)):
        yield case(f"topk_{options}", [x], lambda a: [sign * np.sort(sign * a, 1)[:, :3]],
                   f"%y = array.topk %0 k = 3 axis = 1 {options} {{vjp}} : {x.mlir} -> tensor<3x3xf32>, tensor<3x3xi32>",
                   ["tensor<3x3xf32>", "tensor<3x3xi32>"])


def indexed():
    x = random((4, 5), 12)
    where = Tensor("i32", [[0, 2, 2, 9], [4, -1, 0, 0], [1, 1, 1, 1], [3, 2, 1, 0]])
    clamped = np.clip(where.values, 0, 4)
    for name, type in (("", x.mlir), ("_symbolic", "tensor<?x?xf32>")):
        yield case(f"take_along_axis{name}", [x], lambda a: [np.take_along_axis(a, clamped, 1)],
                   f"%y = array.take_along_axis %0[%1] axis = 1 {{vjp}} : ({type}, {where.mlir}) -> tensor<4x4xf32>",
                   ["tensor<4x4xf32>"], constants=[where], types=[type, where.mlir])
    rows = Tensor("i32", [1, 7, 1])
    yield case("take_symbolic", [x], lambda a: [a[np.clip(rows.values, 0, 3)]],
               "%y = array.take %0[%1] axis = 0 {vjp} : (tensor<?x5xf32>, tensor<3xi32>) -> tensor<3x5xf32>", ["tensor<3x5xf32>"],
               constants=[rows], types=["tensor<?x5xf32>", "tensor<3xi32>"])
    start, zero = Tensor("i32", np.int32(3)), Tensor("i32", np.int32(0))
    # The box begins where it fits.
    yield case("dynamic_slice", [x], lambda a: [a[2:, :3]],
               f"%y = array.dynamic_slice %0[%1, %2] {{vjp}} : ({x.mlir}, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>",
               ["tensor<2x3xf32>"], constants=[start, zero])

    def updated(a, u):
        a = a.copy()
        a[2:, :3] = u
        return [a]

    update = random((2, 3), 13)
    yield case("dynamic_update_slice", [x, update], updated,
               f"%y = array.dynamic_update_slice %0[%2, %3] = %1 {{vjp}} : ({x.mlir}, {update.mlir}, tensor<i32>, tensor<i32>) -> {x.mlir}",
               [x.mlir], constants=[start, zero])
    some = "tensor<?x?xf32>"
    yield case("slice_symbolic", [x], lambda a: [a[1:3, 1:]], f"%y = array.slice %0 [1:3, 1:] {{vjp}} : {some} -> tensor<2x?xf32>",
               ["tensor<2x?xf32>"], types=[some])
    yield case("concatenate_symbolic", [x, random((2, 5), 14)], lambda a, b: [np.concatenate([a, b])],
               f"%y = array.concatenate %0, %1 axis = 0 {{vjp}} : ({some}, {some}) -> {some}", [some], types=[some] * 2)
    value = Tensor("f32", np.float32(0.5))
    yield case("pad_symbolic", [x, value], lambda a, v: [np.pad(a, ((1, 0), (0, 2)), constant_values=v)],
               f"%y = array.pad %0, %1 low = [1, 0] high = [0, 2] {{vjp}} : ({some}, tensor<f32>) -> {some}", [some],
               types=[some, "tensor<f32>"])
    image = random((1, 7, 8, 1), 15)
    type = "tensor<1x?x?x1xf32>"
    window = dict(window=[1, 3, 2, 1], strides=[1, 3, 2, 1], low=[0, 1, 0, 0], high=[0, 1, 1, 0])
    yield case("sum_pool_symbolic", [image], lambda a: [pool.reduced("sum", Tensor("f64", a), **window)],
               f"%y = array.reduce_window sum, %0 {pool.attributes(window)} {{vjp}} : {type} -> {type}", [type], types=[type])


def arithmetic():
    x, y = Tensor("f32", [[1.25, -2.25, 7, -3.5], [0.5, 5.5, -6.5, 4.25]]), Tensor("f32", [0.75, 1.75, -2, 3])
    for op, function in (("rem", np.fmod), ("mod", np.mod)):
        yield case(op, [x, y], lambda a, b: [function(a, b)], f"%y = array.{op} %0, %1 {{vjp}} : ({x.mlir}, {y.mlir}) -> {x.mlir}", [x.mlir])
    zeros = Tensor("f32", [[1, 2, 3, 4], [2, 0, 3, 5], [0, 1, 2, 0]])
    yield case("reduce_prod", [zeros], lambda a: [a.prod(1)], "%y = array.reduce prod, %0 axes = [1] {vjp} : tensor<3x4xf32> -> tensor<3xf32>",
               ["tensor<3xf32>"])
    a, b = random((3, 4, 2, 5), 16), random((5, 2, 3, 6), 17)
    yield case("dot_general", [a, b], lambda a, b: [np.einsum("bmkl,lkbn->bmn", a, b)],
               f"%y = array.dot_general %0, %1 batch = [0] x [2] contract = [2, 3] x [1, 0] {{vjp}} : ({a.mlir}, {b.mlir}) -> tensor<3x4x6xf32>",
               ["tensor<3x4x6xf32>"])
    sizes = Tensor("i32", [3, 0, 4, 1])
    for options, shape in (("", (4, 3, 5)), ("transpose_b", (4, 5, 3))):
        rows, matrices = random((10, 3), 18), random(shape, 19)
        yield case(f"grouped_matmul_{options}", [rows, matrices],
                   lambda a, b: [matmul.grouped(a, b.swapaxes(1, 2) if options else b, sizes.values)],
                   f"%y = array.grouped_matmul %0, %1, %2 {options} {{vjp}} : ({rows.mlir}, {matrices.mlir}, {sizes.mlir}) -> tensor<10x5xf32>",
                   ["tensor<10x5xf32>"], constants=[sizes])
    types = ["tensor<?x3xf32>", "tensor<?x3x5xf32>", "tensor<?xi32>"]
    rows, matrices = random((10, 3), 18), random((4, 3, 5), 19)
    yield case("grouped_matmul_open", [rows, matrices], lambda a, b: [matmul.grouped(a, b, sizes.values)],
               f"%y = array.grouped_matmul %0, %1, %2 {{vjp}} : ({', '.join(types)}) -> tensor<?x5xf32>", ["tensor<?x5xf32>"],
               constants=[sizes], types=types)


def norms():
    x, scale, bias = random((4, 3, 6), 4), random((6,), 5), random((6,), 6)
    centred = lambda a, axes: a - a.mean(axes, keepdims=True)  # noqa: E731

    def normed(a, axes):
        c = centred(a, axes)
        return c / np.sqrt((c ** 2).mean(axes, keepdims=True) + 0.1)

    yield case("layer_norm", [x, scale, bias], lambda a, s, b: [normed(a, 2) * s + b],
               f"%y = array.layer_norm %0 scale(%1 : {scale.mlir}) bias(%2 : {bias.mlir}) axis = 2 epsilon = 0.1 {{vjp}} : {x.mlir}",
               [x.mlir])
    yield case("layer_norm_plain", [x], lambda a: [normed(a, (1, 2))], f"%y = array.layer_norm %0 axis = 1 epsilon = 0.1 {{vjp}} : {x.mlir}",
               [x.mlir])
    yield case("rms_norm", [x, scale], lambda a, s: [a / np.sqrt((a ** 2).mean(2, keepdims=True) + 0.1) * s],
               f"%y = array.rms_norm %0 scale(%1 : {scale.mlir}) axis = 2 epsilon = 0.1 {{vjp}} : {x.mlir}", [x.mlir])
    mean, variance = random((6,), 7), Tensor("f32", np.abs(random((6,), 8).values) + 0.5)
    vectors = ", ".join([x.mlir] + [scale.mlir] * 4)
    yield case("batch_norm_inference", [x, scale, bias, mean, variance],
               lambda a, s, b, m, v: [(a - m) / np.sqrt(v + 0.1) * s + b],
               f"%y = array.batch_norm_inference %0, %1, %2, %3, %4 axis = 2 epsilon = 0.1 {{vjp}} : ({vectors}) -> {x.mlir}", [x.mlir])
    yield case("batch_norm_training", [x, scale, bias],
               lambda a, s, b: [normed(a, (0, 1)) * s + b, a.mean((0, 1)), (centred(a, (0, 1)) ** 2).mean((0, 1))],
               f"%y = array.batch_norm_training %0, %1, %2 axis = 2 epsilon = 0.1 {{vjp}} : ({x.mlir}, {scale.mlir}, {bias.mlir}) "
               f"-> ({x.mlir}, {scale.mlir}, {scale.mlir})", [x.mlir, scale.mlir, scale.mlir])

    def grouped(a, s, b):
        return [normed(a.reshape(4, 3, 2, 3), (1, 3)).reshape(a.shape) * s + b]

    yield case("group_norm", [x, scale, bias], grouped,
               f"%y = array.group_norm %0, %1, %2 axis = 2 groups = 2 epsilon = 0.1 {{vjp}} "
               f": ({x.mlir}, {scale.mlir}, {bias.mlir}) -> {x.mlir}", [x.mlir])
    some, vector = "tensor<?x3x?xf32>", "tensor<?xf32>"
    yield case("group_norm_open", [x, scale, bias], grouped,
               f"%y = array.group_norm %0, %1, %2 axis = 2 groups = 2 epsilon = 0.1 {{vjp}} : ({some}, {vector}, {vector}) -> {some}",
               [some], types=[some, vector, vector])


def cases():
    for make in (convolutions, pools, adaptive_pools, attentions, attention_with_logsumexp,
                 attention_in_parts, paged_attention, lines, indexed, arithmetic, norms):
        yield from make()
