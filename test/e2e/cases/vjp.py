"""Gradients of whole functions, as --gradient adds them, against derivatives written out or taken numerically in float64."""
import numpy as np

from cases.gradients import numerical
from harness import Case, Step, function
from tensors import Tensor, random


def softmax(x):
    power = np.exp(x - x.max(-1, keepdims=True))
    return power / power.sum(-1, keepdims=True)


def pulled_back(function, operands, cotangents):
    """Cotangents of `operands`: the gradient of the sum of results times `cotangents`."""
    total = lambda *x: sum((np.asarray(y) * c).sum() for y, c in zip(function(*x), cotangents))  # noqa: E731
    shift = 10 - total(*operands)
    # `numerical` differentiates |y|^2 / 2, which is a sum s, kept above zero, where y is sqrt(2 s).
    return numerical(lambda *x: [np.sqrt(2 * (total(*x) + shift))], operands)


def network():
    """A layer norm, two matrices and the loss of a classifier, with the batch open; gradients to three inputs, by name and by number."""
    w1, w2 = random("f32", (6, 8), 2, -1, 1), random("f32", (8, 3), 3, -1, 1)
    scale = random("f32", (6,), 4, 0.5, 1.5)
    body = """    %n = array.layer_norm %x scale(%s : tensor<6xf32>) axis = 1 epsilon = 0.1 : tensor<?x6xf32>
    %h = array.matmul %n, %w1 : (tensor<?x6xf32>, tensor<6x8xf32>) -> tensor<?x8xf32>
    %a = array.tanh %h : tensor<?x8xf32>
    %z = array.matmul %a, %w2 : (tensor<?x8xf32>, tensor<8x3xf32>) -> tensor<?x3xf32>
    %l = array.logsumexp %z axes = [1] : tensor<?x3xf32> -> tensor<?xf32>
    %o = array.one_hot %t depth = 3 : tensor<?xi32> -> tensor<?x3xf32>
    %p = array.mul %z, %o : tensor<?x3xf32>
    %q = array.reduce sum, %p axes = [1] : tensor<?x3xf32> -> tensor<?xf32>
    %d = array.sub %l, %q : tensor<?xf32>
    %loss = array.mean %d axes = [0] : tensor<?xf32> -> tensor<f32>"""
    arguments = [("%x", 'tensor<?x6xf32> {array.dims = ["n", ""]}'), ("%t", 'tensor<?xi32> {array.dims = ["n"]}'),
                 ("%s", 'tensor<6xf32> {array.name = "scale"}'), ("%w1", 'tensor<6x8xf32> {array.name = "w1"}'), ("%w2", "tensor<8x3xf32>")]
    text = function("", arguments, [("%loss", "tensor<f32>")], body)
    one, steps = Tensor("f32", 1.0), []
    for batch in (1, 5):
        x, t = random("f32", (batch, 6), 1, -1, 1), Tensor("i32", np.arange(batch) % 3)

        def loss(s, a, b):
            mean, variance = x.values.mean(1, keepdims=True), x.values.var(1, keepdims=True)
            z = np.tanh((x.values - mean) / np.sqrt(variance + 0.1) * s @ a) @ b
            return [-np.log(softmax(z)[np.arange(batch), t.values]).mean()]
        weights = [scale, w1, w2]
        values = [w.values for w in weights]
        wanted = pulled_back(loss, values, [1.0])
        steps.append(Step([x, t, *weights], [("f32", loss(*values)[0])]))
        steps.append(Step([x, t, *weights, one], [("f32", wanted[1]), ("f32", wanted[2]), ("f32", wanted[0])], "_vjp"))
    yield Case("network", text, steps, "model", gradients=(":w1,4,scale",))


def several_results():
    """Two results of floats, one of integers; an input that nothing depends on, one that is a result itself."""
    x, y, unused = random("f32", (3, 4), 5), random("f32", (4,), 6), random("f32", (2,), 7)
    body = """    %a = array.mul %x, %y : (tensor<3x4xf32>, tensor<4xf32>) -> tensor<3x4xf32>
    %b = array.exp %a : tensor<3x4xf32>
    %i = array.argmax %a axis = 1 : tensor<3x4xf32> -> tensor<3xi32>"""
    text = function("", [("%x", x.mlir), ("%y", y.mlir), ("%u", unused.mlir)], [("%b", x.mlir), ("%i", "tensor<3xi32>"), ("%y", y.mlir)], body)
    d, e = random("f32", (3, 4), 8), random("f32", (4,), 9)
    a = x.values * y.values
    flow = d.values * np.exp(a)
    yield Case("several_results", text,
               [Step([x, y, unused], [("f32", np.exp(a)), ("i32", a.argmax(1)), ("f32", y.values)]),
                Step([x, y, unused, d, e], [("f32", flow * y.values), ("f32", (flow * x.values).sum(0) + e.values), ("f32", np.zeros(2))], "_vjp")],
               "composite", gradients=("",))


def attention():
    """Causal attention and a convolution, through their own gradients."""
    q, k, v = (random("f32", (1, 5, 4), seed, -1, 1) for seed in (10, 11, 12))
    filter, d = random("f32", (2, 4, 3), 13, -1, 1), random("f32", (1, 4, 3), 14, -1, 1)
    body = f"""    %a = array.attention %q, %k, %v causal scale = 0.5 : ({q.mlir}, {k.mlir}, {v.mlir}) -> {q.mlir}
    %y = array.conv %a, %w dims = <[b, 0, f] x [0, i, o] -> [b, 0, f]> : ({q.mlir}, {filter.mlir}) -> {d.mlir}"""
    text = function("", [("%q", q.mlir), ("%k", k.mlir), ("%v", v.mlir), ("%w", filter.mlir)], [("%y", d.mlir)], body)

    def compute(q, k, v, w):
        scores = np.where(np.tril(np.ones((5, 5), bool)), q @ k.swapaxes(1, 2) * 0.5, -np.inf)
        a = softmax(scores) @ v
        return [np.stack([np.einsum("bki,kio->bo", a[:, i:i + 2], w) for i in range(4)], 1)]
    operands = [q, k, v, filter]
    wanted = pulled_back(compute, [o.values for o in operands], [d.values])
    yield Case("attention", text, [Step([*operands, d], [("f32", g) for g in wanted], "_vjp")], "model", gradients=("",))


def cotangent_sizes():
    """Cotangents that are not as large as their results, which ops on the way back would take."""
    line, rows = "tensor<?xf32>", "tensor<?x4xf32>"
    x = random("f32", (4,), 15)
    for name, op, back in (("sort", f"array.sort %x axis = 0 : {line} -> {line}", lambda d: d[np.argsort(np.argsort(x.values))]),
                           ("cumsum", f"array.cumsum %x axis = 0 : {line} -> {line}", lambda d: d[::-1].cumsum()[::-1]),
                           ("reverse", f"array.reverse %x axes = [0] : {line} -> {line}", lambda d: d[::-1]),
                           ("neg", f"array.neg %x : {line}", lambda d: -d)):
        text = function("", [("%x", line)], [("%y", line)], f"    %y = {op}")
        d = random("f32", (4,), 16)
        steps = [Step([x, d], [("f32", back(d.values))], "_vjp")]
        for size in (1, 3, 5):
            steps.append(Step([x, random("f32", (size,), 17)], function="_vjp",
                              error=f"expected dim 0 of 'd_output0' to be that of the result whose cotangent it is, got {size} and 4"))
        yield Case(f"cotangent_of_{name}", text, steps, "sum", gradients=("",))
    # Of several results each has its own.
    x, d, e = random("f32", (3, 4), 18), random("f32", (3,), 19), random("f32", (3, 4), 20)
    text = function("", [("%x", rows)], [("%s", line), ("%t", rows)], f"""    %s = array.reduce sum, %x axes = [1] : {rows} -> {line}
    %t = array.neg %x : {rows}""")
    yield Case("cotangents_of_several", text, [
        Step([x, d, e], [("f32", d.values[:, None] - e.values)], "_vjp"),
        Step([x, random("f32", (1,), 19), e], function="_vjp", error="dim 0 of 'd_output0' .*got 1 and 3"),
        Step([x, d, random("f32", (1, 4), 20)], function="_vjp", error="dim 0 of 'd_output1' .*got 1 and 3")], "sum", gradients=("",))


def cases():
    yield from network()
    yield from several_results()
    yield from attention()
    yield from cotangent_sizes()
