"""Gradients of whole functions, as --gradient adds them, against derivatives written out or taken numerically in float64."""
import numpy as np

from cases.gradients import numerical
from harness import Case, Step, function
from tensors import FLOATS, Tensor, random


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


def jumps():
    """What only jumps has no slope anywhere else: to what is multiplied with it it is a constant."""
    for dtype in FLOATS:
        x, y, d = random(dtype, (40,), 31, -3, 3), random(dtype, (40,), 32, 0.5, 2), random(dtype, (40,), 33)
        functions = {"floor": np.floor, "ceil": np.ceil, "round": np.rint, "sign": np.sign}
        body = "\n".join([f"    %{op} = array.{op} %x : {x.mlir}" for op in functions] +
                         [f"    %floor_div = array.floor_div %x, %y : {x.mlir}", f"    %a = array.add %floor, %ceil : {x.mlir}",
                          f"    %b = array.mul %round, %sign : {x.mlir}", f"    %c = array.add %a, %b : {x.mlir}",
                          f"    %k = array.add %c, %floor_div : {x.mlir}", f"    %r = array.mul %k, %y : {x.mlir}"])
        k = np.floor(x.values) + np.ceil(x.values) + np.rint(x.values) * np.sign(x.values) + np.floor(x.values / y.values)
        text = function("", [("%x", x.mlir), ("%y", y.mlir)], [("%r", x.mlir)], body)
        yield Case(f"jumps_{dtype}", text,
                   [Step([x, y], [(dtype, k * y.values)]), Step([x, y, d], [(dtype, np.zeros(40)), (dtype, k * d.values)], "_vjp")],
                   gradients=("",))


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


def extents():
    """Dims whose extents data sets: through filters, counts, caches that grow, and back to their bounds."""
    x, d = random("f32", (6, 3), 70), random("f32", (3,), 71)
    keep = np.array([1, 0, 1, 1, 0, 1], bool)
    body = """    %one = array.constant dense<1.0> : tensor<f32>
    %rows = array.compress %x, %keep axis = 0 : (tensor<6x3xf32>, tensor<6xi1>) -> tensor<?x3xf32>
    %power = array.exp %rows : tensor<?x3xf32>
    %scaled = array.mul %power, %s : (tensor<?x3xf32>, tensor<3xf32>) -> tensor<?x3xf32>
    %mean = array.reduce sum, %scaled axes = [0] : tensor<?x3xf32> -> tensor<3xf32>"""
    s = random("f32", (3,), 72)
    text = function("", [("%x", x.mlir), ("%s", s.mlir), ("%keep", "tensor<6xi1>")], [("%mean", d.mlir)], body)
    steps = []
    for mask in (keep, ~keep, np.zeros(6, bool)):
        wanted = pulled_back(lambda x, s, mask=mask: [(np.exp(x[mask]) * s).sum(0)], [x.values, s.values], [d.values])
        steps.append(Step([x, s, Tensor("i1", mask), d], [("f32", g) for g in wanted], "_vjp"))
    yield Case("compress", text, steps, "composite", gradients=("",))
    f, d = Tensor("f32", 0.5), random("f32", (6, 3), 73)
    body = """    %first = array.set_extent %x, %n axis = 0 : (tensor<6x3xf32>, tensor<i32>) -> tensor<?x3xf32>
    %square = array.mul %first, %first : tensor<?x3xf32>
    %y = array.pad_to_bound %square, %f : (tensor<?x3xf32>, tensor<f32>) -> tensor<6x3xf32>"""
    text, steps = function("", [("%x", x.mlir), ("%f", "tensor<f32>"), ("%n", "tensor<i32>")], [("%y", d.mlir)], body), []
    for n in (4, 0, 9, -1):
        def run(x, f, n=min(max(n, 0), 6)):
            return [np.concatenate([x[:n] ** 2, np.full((6 - n, 3), f)])]
        wanted = pulled_back(run, [x.values, f.values], [d.values])
        steps.append(Step([x, f, Tensor("i32", n), d], [("f32", wanted[0]), ("f32", np.reshape(wanted[1], ()))], "_vjp"))
    yield Case("set_extent", text, steps, "sum", gradients=("",))
    u, d = random("f32", (2, 3), 74), random("f32", (3,), 75)
    body = """    %first = array.set_extent %x, %n axis = 0 : (tensor<6x3xf32>, tensor<i32>) -> tensor<?x3xf32>
    %more = array.append %first, %u axis = 0 : (tensor<?x3xf32>, tensor<2x3xf32>) -> tensor<?x3xf32>
    %square = array.mul %more, %more : tensor<?x3xf32>
    %y = array.reduce sum, %square axes = [0] : tensor<?x3xf32> -> tensor<3xf32>"""
    text, steps = function("", [("%x", x.mlir), ("%u", u.mlir), ("%n", "tensor<i32>")], [("%y", d.mlir)], body), []
    for n in (0, 3, 5, 6):
        def run(x, u, n=n):
            return [(np.concatenate([x[:n], u])[:6] ** 2).sum(0)]
        wanted = pulled_back(run, [x.values, u.values], [d.values])
        steps.append(Step([x, u, Tensor("i32", n), d], [("f32", g) for g in wanted], "_vjp"))
    yield Case("append", text, steps, "sum", gradients=("",))


def norms():
    """Gradients of norms over the last dim: one pass over rows, however many there are and whatever counts them."""
    shapes = {"odd": ("339x800", [(339, 800)]), "batches": ("3x115x769", [(3, 115, 769)]), "short": ("4097x66", [(4097, 66)]),
              "symbolic": ("?x100", [(1, 100), (7, 100), (1200, 100), (0, 100)]), "symbolic_wide": ("?x1032", [(3, 1032), (270, 1032)]),
              "symbolic_batches": ("?x?x96", [(2, 3, 96), (4, 133, 96)])}
    for name, (text, sizes) in shapes.items():
        for dtype in ("f32", "bf16"):
            columns, axis = sizes[0][-1], len(sizes[0]) - 1
            x, c = f"tensor<{text}x{dtype}>", f"tensor<{columns}x{dtype}>"
            body = f"    %y = array.layer_norm %x scale(%s : {c}) bias(%b : {c}) axis = {axis} epsilon = 0.1 : {x}"
            program = function("", [("%x", x), ("%s", c), ("%b", c)], [("%y", x)], body)
            scale, bias, steps = random(dtype, (columns,), 2, 0.5, 1.5), random(dtype, (columns,), 3), []
            for shape in sizes:
                value, flow = random(dtype, shape, 4, -1, 1), random(dtype, shape, 5, -1, 1)
                centred = value.values - value.values.mean(-1, keepdims=True)
                inverse = 1 / np.sqrt((centred ** 2).mean(-1, keepdims=True) + 0.1)
                z, h = centred * inverse, flow.values * scale.values
                back = inverse * (h - h.mean(-1, keepdims=True) - z * (h * z).mean(-1, keepdims=True))
                leading = tuple(range(axis))
                steps.append(Step([value, scale, bias, flow], [(dtype, back), (dtype, (flow.values * z).sum(leading)),
                                                               (dtype, flow.values.sum(leading))], "_vjp"))
            yield Case(f"layer_norm_{name}_{dtype}", program, steps, "model" if dtype == "f32" else "sum", gradients=("",))


def cases():
    yield from extents()
    yield from norms()
    yield from network()
    yield from jumps()
    yield from several_results()
    yield from attention()
    yield from cotangent_sizes()
