"""Gradients that ops know themselves: the function returns the gradient of |y|^2 / 2, since y itself is the cotangent.

The references differentiate by definition: every op here is linear in its operand or has a short formula, written out
below; a numerical derivative in float64 stands in where the formula is what is tested.
"""
import numpy as np

from cases import attention, conv, pool
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


def case(name, operands, function, text, out_types, kind="model", dtype="f32"):
    """`text` has one op with results %y, ... of `out_types`, marked by {vjp}."""
    gradients = numerical(lambda *x: function(*x), [o.values for o in operands])
    names = ["%r0"] + [f"%r{i}" for i in range(1, len(out_types))]
    case = simple(name, operands, [(dtype, g) for g in gradients], text.replace("%y", ", ".join(names), 1), kind,
                  result_types=out_types)
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

    yield one("plain", (1, 5, 6, 3), (3, 3, 3, 4))
    yield one("strided", (2, 6, 7, 2), (3, 2, 2, 3), strides=[2, 3], low=[1, 0], high=[0, 2])
    yield one("dilated", (1, 7, 6, 2), (2, 3, 2, 3), filter_dilation=[3, 2], low=[1, 2], high=[2, 1])
    yield one("transposed", (1, 3, 4, 2), (3, 3, 2, 3), input_dilation=[2, 3], low=[1, 2], high=[2, 0])
    yield one("padded_too_far", (1, 4, 4, 2), (2, 2, 2, 2), low=[3, 0], high=[0, 2])
    yield one("nchw", (1, 2, 5, 6), (3, 2, 3, 3), conv.NCHW, low=[1, 1], high=[1, 1])
    yield one("grouped", (1, 5, 4, 6), (2, 3, 2, 9), feature_groups=3, strides=[2, 1])
    yield one("grouped_nchw", (1, 4, 5, 4), (6, 2, 2, 2), conv.NCHW, feature_groups=2)
    yield one("depthwise", (1, 5, 5, 4), (3, 3, 1, 4), feature_groups=4, low=[1, 1], high=[1, 1])


def pools():
    x = random((2, 5, 6, 2), 3)
    for kind in ("sum", "max", "min"):
        for name, window in (("overlapping", pool.POOL), ("sparse", dict(window=[1, 2, 1, 1], strides=[1, 3, 2, 1])),
                             ("dilated", dict(window=[1, 2, 2, 1], dilation=[1, 2, 3, 1], low=[0, 2, 0, 0]))):
            y = pool.reduced(kind, x, **window)
            yield case(f"{kind}_pool_{name}", [x], lambda a: [pool.reduced(kind, Tensor("f64", a), **window)],
                       f"%y = array.reduce_window {kind}, %0 {pool.attributes(window)} {{vjp}} : {x.mlir} -> "
                       f"{mlir_type('f32', y.shape)}", [mlir_type("f32", y.shape)])
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


def cases():
    for make in (convolutions, pools, attentions, norms):
        yield from make()
