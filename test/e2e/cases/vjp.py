"""Gradients of whole functions, as --gradient adds them, against derivatives written out or taken numerically in float64."""
import numpy as np

from cases import conv
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


def choices():
    """array.if on data and on sizes: values from outside that both, one or none of the regions use, one that a region yields as it is."""
    x, y, z, d = (random("f32", (3, 4), seed) for seed in (21, 22, 23, 24))
    matrix = x.mlir
    body = f"""    %h = array.tanh %x : {matrix}
    %a = array.if %p : tensor<i1> -> ({matrix}) {{
      %u = array.mul %h, %y : {matrix}
      %v = array.mul %u, %y : {matrix}
      array.yield %v : {matrix}
    }} else {{
      array.yield %h : {matrix}
    }}
    %b = array.mul %a, %z : {matrix}"""
    text = function("", [("%x", matrix), ("%y", matrix), ("%z", matrix), ("%p", "tensor<i1>")], [("%b", matrix)], body)
    steps = []
    for p in (True, False):
        wanted = pulled_back(lambda x, y, z, p=p: [np.tanh(x) * (y * y if p else 1) * z], [x.values, y.values, z.values], [d.values])
        steps.append(Step([x, y, z, Tensor("i1", p), d], [("f32", w) for w in wanted], "_vjp"))
    yield Case("if", text, steps, "composite", gradients=("",))
    rows = "tensor<?x4xf32>"
    body = f"""    %n = array.dim %x, 0 : {rows}
    %count = array.from_index %n : tensor<i64>
    %three = array.constant dense<3> : tensor<i64>
    %p = array.compare ge, %count, %three : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %r = array.if %p : tensor<i1> -> (tensor<4xf32>) {{
      %s = array.slice %x [0:3, :] : {rows} -> tensor<3x4xf32>
      %t = array.reduce prod, %s axes = [0] : tensor<3x4xf32> -> tensor<4xf32>
      array.yield %t : tensor<4xf32>
    }} else {{
      %t = array.reduce sum, %x axes = [0] : {rows} -> tensor<4xf32>
      array.yield %t : tensor<4xf32>
    }}"""
    text, steps = function("", [("%x", rows)], [("%r", "tensor<4xf32>")], body), []
    d = random("f32", (4,), 25)
    for n in (5, 3, 2, 1, 4):
        x = random("f32", (n, 4), 30 + n)
        wanted = pulled_back(lambda x: [x[:3].prod(0) if len(x) >= 3 else x.sum(0)], [x.values], [d.values])
        steps.append(Step([x, d], [("f32", wanted[0])], "_vjp"))
    yield Case("if_on_sizes", text, steps, "composite", gradients=("",))


def loops():
    """array.while: rounds that a constant, a size or data below a constant bounds, counted up and down, in one another and in an if."""
    h, w, d = random("f32", (2, 3), 40, -1, 1), random("f32", (3, 3), 41, -1, 1), random("f32", (2, 3), 42)
    matrix, square = h.mlir, w.mlir
    numbers = """    %zero = array.constant dense<0> : tensor<i32>
    %one = array.constant dense<1> : tensor<i32>
    %two = array.constant dense<2> : tensor<i32>
    %seven = array.constant dense<7> : tensor<i32>
"""

    def loop(condition, step="add", start="%zero", by="%one"):
        return numbers + f"""    %n, %r = array.while {start}, %h : (tensor<i32>, {matrix}) -> (tensor<i32>, {matrix}) condition {{
    ^bb0(%i: tensor<i32>, %v: {matrix}):
{condition}
      array.yield %more : tensor<i1>
    }} body {{
    ^bb0(%i: tensor<i32>, %v: {matrix}):
      %next = array.{step} %i, {by} : tensor<i32>
      %m = array.matmul %v, %w : ({matrix}, {square}) -> {matrix}
      %t = array.tanh %m : {matrix}
      array.yield %next, %t : tensor<i32>, {matrix}
    }}"""

    def rounds(count):
        def run(h, w):
            for _ in range(count):
                h = np.tanh(h @ w)
            return [h]
        return run

    less = "      %more = array.compare {0}, %i, {1} : (tensor<i32>, tensor<i32>) -> tensor<i1>"
    bounded = less.format("lt", "%seven").replace("%more", "%few") + """
      %now = array.compare lt, %i, %limit : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %more = array.and %now, %few : tensor<i1>"""
    least = "      %least = array.min %limit, %seven : tensor<i32>\n" + less.format("lt", "%least")
    for name, text, counts in (("up", loop(less.format("lt", "%seven"), by="%two"), (4,)),
                               ("closed", loop(less.format("le", "%two")), (3,)),
                               ("down", loop(less.format("gt", "%zero"), "sub", "%seven", "%two"), (4,)),
                               ("none", loop(less.format("lt", "%zero")), (0,)),
                               ("until", loop(bounded), (0, 1, 4, 7)),
                               ("least", loop(least), (0, 3, 7))):
        arguments = [("%h", matrix), ("%w", square), ("%limit", "tensor<i32>")]
        steps = []
        for count in counts:
            wanted = pulled_back(rounds(count), [h.values, w.values], [d.values])
            steps.append(Step([h, w, Tensor("i32", count), d], [("f32", g) for g in wanted], "_vjp"))
        yield Case(f"while_{name}", function("", arguments, [("%r", matrix)], text), steps, "model", gradients=("",))
    yield recurrence()
    yield nested_loops()
    yield unchanged()
    yield growing()


def unchanged():
    """A value that no round changes, which is not kept of each."""
    h, w, d = random("f32", (2, 3), 40, -1, 1), random("f32", (3, 3), 41, -1, 1), random("f32", (2, 3), 42)
    matrix, square = h.mlir, w.mlir
    text = function("", [("%h", matrix), ("%w", square)], [("%r", matrix)], f"""    %zero = array.constant dense<0> : tensor<i32>
    %one = array.constant dense<1> : tensor<i32>
    %four = array.constant dense<4> : tensor<i32>
    %u = array.sin %w : {square}
    %n, %r, %x = array.while %zero, %h, %u : (tensor<i32>, {matrix}, {square}) -> (tensor<i32>, {matrix}, {square}) condition {{
    ^bb0(%i: tensor<i32>, %v: {matrix}, %s: {square}):
      %more = array.compare lt, %i, %four : (tensor<i32>, tensor<i32>) -> tensor<i1>
      array.yield %more : tensor<i1>
    }} body {{
    ^bb0(%i: tensor<i32>, %v: {matrix}, %s: {square}):
      %next = array.add %i, %one : tensor<i32>
      %m = array.matmul %v, %s : ({matrix}, {square}) -> {matrix}
      %t = array.tanh %m : {matrix}
      array.yield %next, %t, %s : tensor<i32>, {matrix}, {square}
    }}""")

    def run(h, w):
        for _ in range(4):
            h = np.tanh(h @ np.sin(w))
        return [h]
    wanted = pulled_back(run, [h.values, w.values], [d.values])
    return Case("while_unchanged", text, [Step([h, w, d], [("f32", g) for g in wanted], "_vjp")], "model", gradients=("",))


def growing():
    """Rows that become more, as an array of the bound's size and a count; the dim with an extent is inside of each round."""
    room, line = "tensor<6x4xf32>", "tensor<4xf32>"
    text = function("", [("%x", line)], [("%r", line)], f"""    %zero = array.constant dense<0> : tensor<i32>
    %one = array.constant dense<1> : tensor<i32>
    %four = array.constant dense<4> : tensor<i32>
    %none = array.constant dense<0.0> : {room}
    %n, %r, %all = array.while %zero, %x, %none : (tensor<i32>, {line}, {room}) -> (tensor<i32>, {line}, {room}) condition {{
    ^bb0(%i: tensor<i32>, %v: {line}, %s: {room}):
      %more = array.compare lt, %i, %four : (tensor<i32>, tensor<i32>) -> tensor<i1>
      array.yield %more : tensor<i1>
    }} body {{
    ^bb0(%i: tensor<i32>, %v: {line}, %s: {room}):
      %next = array.add %i, %one : tensor<i32>
      %row = array.expand_dims %v axes = [0] : {line} -> tensor<1x4xf32>
      %t = array.dynamic_update_slice %s[%i, %zero] = %row : ({room}, tensor<1x4xf32>, tensor<i32>, tensor<i32>) -> {room}
      %rows = array.set_extent %t, %next axis = 0 : ({room}, tensor<i32>) -> tensor<?x4xf32>
      %mean = array.mean %rows axes = [0] : tensor<?x4xf32> -> {line}
      %sum = array.add %mean, %v : {line}
      %w = array.sin %sum : {line}
      array.yield %next, %w, %t : tensor<i32>, {line}, {room}
    }}""")

    def run(x):
        rows = []
        for _ in range(4):
            rows.append(x)
            x = np.sin(np.mean(rows, 0) + x)
        return [x]
    x, d = random("f32", (4,), 62, -1, 1), random("f32", (4,), 63)
    return Case("while_growing", text, [Step([x, d], [("f32", g) for g in pulled_back(run, [x.values], [d.values])], "_vjp")], "model",
                gradients=("",))



def recurrence():
    """A round for each row of an input whose number is open; the state's sizes are open, too."""
    rows, line = "tensor<?x?xf32>", "tensor<?xf32>"
    body = f"""    %zero = array.constant dense<0> : tensor<i64>
    %one = array.constant dense<1> : tensor<i64>
    %dm = array.dim %x, 1 : {rows}
    %i, %r = array.while %zero, %h : (tensor<i64>, {line}) -> (tensor<i64>, {line}) condition {{
    ^bb0(%i: tensor<i64>, %v: {line}):
      %dn = array.dim %x, 0 : {rows}
      %n = array.from_index %dn : tensor<i64>
      %more = array.compare lt, %i, %n : (tensor<i64>, tensor<i64>) -> tensor<i1>
      array.yield %more : tensor<i1>
    }} body {{
    ^bb0(%i: tensor<i64>, %v: {line}):
      %next = array.add %i, %one : tensor<i64>
      %row = array.dynamic_slice %x [%i, %zero] sizes(%dm) : ({rows}, tensor<i64>, tensor<i64>) -> tensor<1x?xf32>
      %u = array.squeeze %row axes = [0] : tensor<1x?xf32> -> {line}
      %p = array.mul %v, %a : ({line}, tensor<f32>) -> {line}
      %q = array.mul %p, %v : {line}
      %t = array.add %q, %u : {line}
      array.yield %next, %t : tensor<i64>, {line}
    }}"""
    text = function("", [("%x", rows + ' {array.dims = ["n", "m"]}'), ("%h", line + ' {array.dims = ["m"]}'), ("%a", "tensor<f32>")],
                    [("%r", line)], body)
    steps = []

    def run(x, h, a):
        for row in x:
            h = h * a * h + row
        return [h]
    for n, m in ((1, 2), (4, 3), (2, 5)):
        x, h, d = random("f32", (n, m), n), random("f32", (m,), m, -1, 1), random("f32", (m,), 50)
        a = Tensor("f32", 0.375)
        wanted = pulled_back(run, [x.values, h.values, a.values], [d.values])
        steps.append(Step([x, h, a, d], [("f32", np.reshape(g, o.values.shape)) for g, o in zip(wanted, (x, h, a))], "_vjp"))
    return Case("recurrence", text, steps, "model", gradients=("",))


def nested_loops():
    """A loop with a loop and an if in its body, in an if; a value that begins without gradient and takes one on; a variable that is read."""
    vector = "tensor<4xf32>"
    text = f"""  array.variable @NAME_v : {vector} = dense<[0.5, -1.0, 2.0, 0.25]>
""" + function("", [("%x", vector), ("%p", "tensor<i1>")], [("%r", vector)], f"""    %zero = array.constant dense<0> : tensor<i32>
    %one = array.constant dense<1> : tensor<i32>
    %three = array.constant dense<3> : tensor<i32>
    %ones = array.constant dense<1.0> : {vector}
    %r = array.if %p : tensor<i1> -> ({vector}) {{
      %n:3 = array.while %zero, %x, %ones : (tensor<i32>, {vector}, {vector}) -> (tensor<i32>, {vector}, {vector}) condition {{
      ^bb0(%i: tensor<i32>, %v: {vector}, %s: {vector}):
        %more = array.compare lt, %i, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
        array.yield %more : tensor<i1>
      }} body {{
      ^bb0(%i: tensor<i32>, %v: {vector}, %s: {vector}):
        %next = array.add %i, %one : tensor<i32>
        %read = array.variable.read @NAME_v : {vector}
        %odd = array.compare eq, %i, %one : (tensor<i32>, tensor<i32>) -> tensor<i1>
        %k:2 = array.while %zero, %v : (tensor<i32>, {vector}) -> (tensor<i32>, {vector}) condition {{
        ^bb0(%j: tensor<i32>, %u: {vector}):
          %again = array.compare lt, %j, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
          %below = array.compare le, %j, %i : (tensor<i32>, tensor<i32>) -> tensor<i1>
          %both = array.and %again, %below : tensor<i1>
          array.yield %both : tensor<i1>
        }} body {{
        ^bb0(%j: tensor<i32>, %u: {vector}):
          %then = array.add %j, %one : tensor<i32>
          %e = array.sin %u : {vector}
          %f = array.mul %e, %read : {vector}
          array.yield %then, %f : tensor<i32>, {vector}
        }}
        %g = array.if %odd : tensor<i1> -> ({vector}) {{
          %l = array.mul %k#1, %s : {vector}
          array.yield %l : {vector}
        }} else {{
          %l = array.add %k#1, %x : {vector}
          array.yield %l : {vector}
        }}
        array.yield %next, %g, %v : tensor<i32>, {vector}, {vector}
      }}
      %o = array.mul %n#1, %n#2 : {vector}
      array.yield %o : {vector}
    }} else {{
      array.yield %ones : {vector}
    }}
    array.variable.assign @NAME_v, %ones : {vector}""")
    x, d = random("f32", (4,), 60, -1, 1), random("f32", (4,), 61)

    def run(x, read):
        v, s = x, np.ones(4)
        for i in range(3):
            u = v
            for _ in range(min(i + 1, 3)):
                u = np.sin(u) * read
            v, s = (u * s if i == 1 else u + x), v
        return [v * s]
    steps = []
    for p, read in ((True, np.array([0.5, -1, 2, 0.25])), (True, np.ones(4)), (False, None)):
        wanted = pulled_back(lambda x, r=read: run(x, r), [x.values], [d.values])[0] if p else np.zeros(4)
        steps.append(Step([x, Tensor("i1", p), d], [("f32", wanted)], "_vjp"))
    return Case("nested_loops", text, steps, "model", gradients=("",))


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


def attention_gradients(q, k, v, d, scale, mask=None, causal=False, window=None, sinks=None, offset=None, to_logsumexp=None, softcap=None):
    """Of grouped attention: [B, H, Q, D], [B, G, K, D]; of a mask that is added, too. `to_logsumexp`: the cotangent of its logsumexp."""
    shared = q.shape[1] // k.shape[1]
    wide_k, wide_v = k.repeat(shared, 1), v.repeat(shared, 1)
    scores = q @ wide_k.swapaxes(2, 3) * scale
    tangent = np.tanh(scores / softcap) if softcap else 0
    scores = softcap * tangent if softcap else scores
    is_added = mask is not None and mask.dtype != bool
    if mask is not None:
        scores = scores + mask if is_added else np.where(mask, scores, -np.inf)
    queries, keys = scores.shape[2:]
    if causal:
        distance = np.arange(queries)[:, None] + (keys - queries if offset is None else offset) - np.arange(keys)
        scores = np.where((distance >= 0) & (distance < (window or keys + queries)), scores, -np.inf)
    extra = np.full((1, 1, 1, 1), -np.inf) if sinks is None else sinks[:, None, None]
    most = np.maximum(scores.max(-1, keepdims=True, initial=-np.inf), extra)
    most = np.where(np.isinf(most), 0, most)
    power, sink = np.exp(scores - most), np.exp(extra - most)
    total = power.sum(-1, keepdims=True) + sink
    total = np.where(total == 0, 1, total)
    share = power / total
    to_share = d @ wide_v.swapaxes(2, 3)
    row = (share * to_share).sum(-1, keepdims=True) - (0 if to_logsumexp is None else to_logsumexp[..., None])
    to_scores = share * (to_share - row)
    group = lambda x: x.reshape(*k.shape[:2], shared, *x.shape[2:]).sum(2)  # noqa: E731
    to_products = to_scores * (1 - tangent**2) * scale
    found = [to_products @ wide_k, group(to_products.swapaxes(2, 3) @ q), group(share.swapaxes(2, 3) @ d)]
    if is_added:
        lead = to_scores.ndim - mask.ndim
        found.append(to_scores.sum(tuple(i for i in range(4) if i < lead or mask.shape[i - lead] == 1), keepdims=True).reshape(mask.shape))
    return found if sinks is None else found + [-(sink / total * row).sum((0, 2, 3))]


def attention_blocks_of_known_sizes():
    """More scores than 32 parts of the queries may hold: the attention and its gradient are loops over blocks, of queries, and where keys
    are hidden and a block of 64 queries and 64 keys may be held, of queries and keys."""
    rows, squares = (4, 140, 130, 2048), (2, 365, 370, 8192)
    for name, options, (heads, n, m, most), mask, has_sinks, more in (
            ("plain", "", rows, None, False, {}), ("hidden", "", rows, "i1", False, {}), ("masked", "", rows, "f32", True, {}),
            ("causal_rows", "causal", rows, None, False, dict(causal=True)),
            ("causal", "causal", squares, None, False, dict(causal=True)),
            ("window", "causal window = 40", squares, None, False, dict(causal=True, window=40)),
            ("causal_masked", "causal", squares, "f32", True, dict(causal=True))):
        q, d = (random("f32", (1, heads, n, 8), n + seed, -1, 1) for seed in (1, 2))
        k, v = (random("f32", (1, heads // 2, m, 8), m + seed, -1, 1) for seed in (3, 4))
        given, clauses, added, sinks = [("%q", q), ("%k", k), ("%v", v)], options, None, None
        if mask:
            b = random("f32", (n, m), 5, -1, 1)
            added = b.values if mask == "f32" else np.where(b.values > 0, 0, -np.inf)
            b = b if mask == "f32" else Tensor("i1", b.values > 0)
            given.append(("%b", b))
            clauses = f"mask(%b : {b.mlir}) {clauses}"
        if has_sinks:
            sinks = random("f32", (heads,), 6, -1, 1)
            given.append(("%s", sinks))
            clauses += f" sinks(%s : {sinks.mlir})"
        wanted = attention_gradients(*(t.values for t in (q, k, v, d)), 0.5, added, sinks=sinks.values if has_sinks else None, **more)
        if mask == "i1":
            wanted = wanted[:3]
        text = function("", [(value, t.mlir) for value, t in given], [("%r", q.mlir)],
                        f"    %r = array.attention %q, %k, %v {clauses} scale = 0.5 {{array.max_scores = {most} : i64}} : "
                        f"({q.mlir}, {k.mlir}, {k.mlir}) -> {q.mlir}")
        step = Step([t for _, t in given] + [d], [("f32", g) for g in wanted], "_vjp")
        yield Case(f"attention_known_blocks_{name}", text, [step], "model", gradients=("",))


def attention_blocks():
    """Gradients of attention over lengths that are bound later, at once, in blocks of queries, and where keys are hidden in blocks of
    queries and keys."""
    query, key = "tensor<?x4x?x8xf32>", "tensor<?x2x?x8xf32>"
    arguments = [("%q", query + ' {array.dims = ["b", "", "n", ""]}'), ("%k", key + ' {array.dims = ["b", "", "m", ""]}'),
                 ("%v", key + ' {array.dims = ["b", "", "m", ""]}')]
    result = [("%r", query)]
    most = "{array.max_scores = 4096 : i64}"
    shapes = ((1, 3, 5), (1, 70, 70), (2, 200, 150), (1, 300, 310), (1, 64, 200), (1, 1, 2000))
    for name, options, more in (("plain", "", {}), ("causal", "causal", dict(causal=True)),
                                ("window", "causal window = 40", dict(causal=True, window=40))):
        steps = []
        if more:
            most = "{array.max_scores = 16384 : i64}"
        for batch, n, m in shapes:
            if batch * n * m > 50000 and name == "window":
                continue
            q, d = (random("f32", (batch, 4, n, 8), n + seed, -1, 1) for seed in (1, 2))
            k, v = (random("f32", (batch, 2, m, 8), m + seed, -1, 1) for seed in (3, 4))
            wanted = attention_gradients(*(t.values for t in (q, k, v, d)), 0.5, **more)
            steps.append(Step([q, k, v, d], [("f32", g) for g in wanted], "_vjp"))
        text = function("", arguments, result, f"    %r = array.attention %q, %k, %v {options} scale = 0.5 {most} : ({query}, {key}, {key}) -> {query}")
        yield Case(f"attention_blocks_{name}", text, steps, "model", gradients=("",))
    yield from attention_blocks_of_known_sizes()
    sink, dims = "tensor<4xf32>", {size: f' {{array.dims = ["b", "", "{size}", ""]}}' for size in "nm"}
    for causal, dtype in (("", "f32"), ("causal", "f32"), ("causal", "f16")):
        query, key, mask = (f"tensor<{shape}x{dtype}>" for shape in ("?x4x?x8", "?x2x?x8", "?x?"))
        steps = []
        for batch, n, m in ((1, 3, 4), (2, 130, 70), (1, 90, 100)):
            q, d = (random(dtype, (batch, 4, n, 8), n + seed, -1, 1) for seed in (1, 2))
            k, v = (random(dtype, (batch, 2, m, 8), m + seed, -1, 1) for seed in (3, 4))
            b, s = random(dtype, (n, m), 5, -1, 1), random("f32", (4,), 6, -1, 1)
            wanted = attention_gradients(*(t.values for t in (q, k, v, d)), 0.5, b.values, sinks=s.values, causal=bool(causal))
            steps.append(Step([q, k, v, b, s, d], [(t.dtype, g) for t, g in zip((q, k, v, b, s), wanted)], "_vjp"))
        text = function("", [("%q", query + dims["n"]), ("%k", key + dims["m"]), ("%v", key + dims["m"]),
                             ("%b", mask + ' {array.dims = ["n", "m"]}'), ("%s", sink)], [("%r", query)],
                        f"    %r = array.attention %q, %k, %v mask(%b : {mask}) {causal} sinks(%s : {sink}) scale = 0.5 {most} : ({query}, {key}, {key}) -> {query}")
        yield Case(f"attention_blocks_{causal}masked" + ("_f16" if dtype == "f16" else ""), text, steps, "model", gradients=("",))
        if dtype != "f32":
            continue
        # Sizes that must be equal, and are symbols of their own.
        query, key = "tensor<?x4x?x?xf32>", "tensor<?x2x?x?xf32>"
        text = function("", [("%q", query), ("%k", key), ("%v", key), ("%b", mask), ("%s", sink)], [("%r", query)],
                        f"    %r = array.attention %q, %k, %v mask(%b : {mask}) {causal} sinks(%s : {sink}) scale = 0.5 {most} : ({query}, {key}, {key}) -> {query}")
        yield Case(f"attention_blocks_{causal}apart", text, steps, "model", gradients=("",))


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


def without_places():
    """A convolution in groups whose window is too long for its input: nothing flows back."""
    x, w = random("f32", (2, 1, 9), 1), random("f32", (3, 3, 12), 2)
    body = """    %y = array.conv %x, %w dims = <[b, 0, f] x [0, i, o] -> [b, 0, f]> strides = [3] high = [1] feature_groups = 3
           : (tensor<2x1x9xf32>, tensor<3x3x12xf32>) -> tensor<2x0x12xf32>"""
    text = function("", [("%x", x.mlir), ("%w", w.mlir)], [("%y", "tensor<2x0x12xf32>")], body)
    zeros = [("f32", np.zeros(x.shape)), ("f32", np.zeros(w.shape))]
    yield Case("conv_without_places", text, [Step([x, w, Tensor("f32", np.zeros((2, 0, 12)))], zeros, "_vjp")], gradients=("",))


def pull_back(x, w, d, window, groups=1):
    """The gradients of a convolution (conv.KRSC, of any rank) to its image and its filter, one tap and one group at a time."""
    low, high = window["low"], window["high"]
    padded = np.pad(x, [(0, 0), *zip(low, high), (0, 0)])
    dx, dw = np.zeros(padded.shape), np.zeros(w.shape)
    inputs, outputs = w.shape[-1], w.shape[0] // groups
    inner, axes = slice(1, x.ndim - 1), range(x.ndim - 1)
    for g, *tap in np.ndindex(groups, *w.shape[inner]):
        place = (slice(None), *(slice(t * step, t * step + (n - 1) * stride + 1, stride) for t, step, n, stride in zip(
            tap, window.get("filter_dilation", [1] * len(tap)), d.shape[inner], window.get("strides", [1] * len(tap)))),
            slice(g * inputs, (g + 1) * inputs))
        own = slice(g * outputs, (g + 1) * outputs)
        dw[(own, *tap)] = np.tensordot(d[..., own], padded[place], (axes, axes))
        dx[place] += d[..., own] @ w[(own, *tap)]
    return dx[(slice(None), *(slice(begin, begin + size) for begin, size in zip(low, x.shape[inner])))], dw


def pixels():
    """Convolutions of 16-bit types: back to the image they are convolutions with the reversed filter, whose images come by columns of pixels
    on sm_90a, and back to the filter sums of such columns: in parts that end within images, and with taps beside each other in a tile where
    channels are a multiple of 64. Behind strides the phases of the image's gradient are computed together."""
    for name, dtype, dims, shape, (r, s), window in (
            ("same", "bf16", conv.NHWC, (2, 7, 9, 32), (3, 3), dict(low=[1, 1], high=[1, 1])),
            ("asymmetric", "f16", conv.NHWC, (1, 8, 7, 16), (3, 2), dict(low=[0, 1], high=[2, 0])),
            ("dilated", "f16", conv.KRSC, (2, 9, 8, 24), (3, 3), dict(low=[2, 3], high=[2, 3], filter_dilation=[2, 3])),
            ("one_by_one", "bf16", conv.KRSC, (2, 5, 6, 16), (1, 1), dict(low=[1, 0], high=[0, 1])),
            ("strided", "f16", conv.NHWC, (2, 9, 8, 16), (3, 3), dict(low=[1, 1], high=[1, 1], strides=[2, 1])),
            ("strided_both", "bf16", conv.KRSC, (2, 9, 10, 16), (3, 3), dict(low=[1, 1], high=[1, 1], strides=[2, 2])),
            ("strided_far", "f16", conv.KRSC, (1, 11, 10, 16), (2, 4), dict(low=[0, 1], high=[1, 2], strides=[3, 2])),
            ("strided_one", "bf16", conv.KRSC, (2, 7, 8, 16), (1, 1), dict(low=[0, 0], high=[0, 0], strides=[2, 2])),
            ("panels", "bf16", conv.KRSC, (3, 15, 17, 64), (3, 3), dict(low=[1, 1], high=[1, 1])),
            ("panels_first", "f16", conv.NHWC, (2, 19, 18, 128), (3, 2), dict(low=[0, 1], high=[2, 0], strides=[1, 2])),
            ("tails", "f16", conv.KRSC, (3, 16, 15, 72), (2, 3), dict(low=[1, 2], high=[0, 2], filter_dilation=[1, 2])),
            ("tails_first", "bf16", conv.NHWC, (3, 16, 15, 24), (3, 2), dict(low=[1, 0], high=[1, 1])),
            ("product", "bf16", conv.KRSC, (3, 15, 17, 32), (1, 1), dict(low=[0, 0], high=[0, 0])),
            # Positions enough for partial sums, which end within images.
            ("parts", "bf16", conv.KRSC, (3, 53, 47, 64), (1, 2), dict(low=[0, 1], high=[0, 0])),
            ("parts_first", "f16", conv.NHWC, (5, 73, 41, 16), (2, 1), dict(low=[1, 0], high=[1, 0], strides=[2, 1])),
            ("parts_product", "bf16", conv.KRSC, (3, 51, 49, 24), (1, 1), dict(low=[0, 0], high=[0, 0]))):
        outputs = 40
        x = random(dtype, shape, 40, -1, 1)
        w = random(dtype, (r, s, shape[3], outputs) if dims == conv.NHWC else (outputs, r, s, shape[3]), 41, -1, 1)
        y = conv.convolve(x.values, w.values, dims, **window)
        d = random(dtype, y.shape, 42, -1, 1)
        taps = w.values.transpose(3, 0, 1, 2) if dims == conv.NHWC else w.values
        dx, dw = pull_back(x.values, taps, d.values, window)
        text = function("", [("%x", x.mlir), ("%w", w.mlir)], [("%y", d.mlir)],
                        f"    %y = array.conv %x, %w {conv.attributes(dims, window)} : ({x.mlir}, {w.mlir}) -> {d.mlir}")
        wanted = [(dtype, dx), (dtype, dw.transpose(1, 2, 3, 0) if dims == conv.NHWC else dw)]
        yield Case(f"pixels_{name}", text, [Step([x, w, d], wanted, "_vjp")], "sum", gradients=("",))


def channels_first():
    """Back to filters of images with channels first, which mma.sync sums up in parts of the positions of all images."""
    for name, dtype, shape, taps, outputs, window in (
            ("product", "bf16", (4, 32, 31, 26), (1, 1), 40, dict(low=[0, 0], high=[0, 0])),
            ("small_images", "f16", (70, 24, 7, 7), (1, 1), 64, dict(low=[0, 0], high=[0, 0])),
            ("strided", "bf16", (6, 32, 41, 40), (1, 1), 24, dict(low=[0, 0], high=[0, 0], strides=[2, 2])),
            ("windows", "f16", (5, 16, 29, 28), (3, 3), 24, dict(low=[1, 1], high=[1, 1]))):
        x, w = random(dtype, shape, 49, -1, 1), random(dtype, (outputs, shape[1], *taps), 50, -1, 1)
        y = conv.convolve(x.values, w.values, conv.NCHW, **window)
        d = random(dtype, y.shape, 51, -1, 1)
        _, dw = pull_back(*(values.transpose(0, 2, 3, 1) for values in (x.values, w.values, d.values)), window)
        text = function("", [("%x", x.mlir), ("%w", w.mlir)], [("%y", d.mlir)],
                        f"    %y = array.conv %x, %w {conv.attributes(conv.NCHW, window)} : ({x.mlir}, {w.mlir}) -> {d.mlir}")
        yield Case(f"channels_first_{name}", text, [Step([x, w, d], [(dtype, dw.transpose(0, 3, 1, 2))], "_vjp")], "sum", gradients=(":1",))


def depthwise():
    """Convolutions of channels one by one: back to the filter threads hold the sums of a row of taps, and blocks share the rows of all
    images."""
    lines, volumes = conv.KRSC.replace("0, 1", "0"), conv.KRSC.replace("0, 1", "0, 1, 2")
    for name, dtype, shape, taps, window in (
            ("same", "bf16", (2, 17, 19, 32), (3, 3), dict(low=[1, 1], high=[1, 1])),
            ("strided", "f16", (4, 29, 27, 24), (3, 3), dict(low=[1, 1], high=[1, 1], strides=[2, 2])),
            ("wide", "bf16", (2, 15, 21, 40), (7, 7), dict(low=[3, 3], high=[3, 3])),
            ("asymmetric", "f32", (3, 16, 20, 20), (2, 5), dict(low=[1, 4], high=[0, 2])),
            ("dilated", "f16", (2, 16, 21, 72), (3, 2), dict(low=[2, 1], high=[2, 2], filter_dilation=[2, 3])),
            ("square", "f16", (24, 24, 24, 24), (3, 3), dict(low=[1, 1], high=[1, 1])),
            ("line", "bf16", (5, 300, 16), (9,), dict(low=[4], high=[4])),
            ("long_line", "f32", (6, 240, 12), (37,), dict(low=[36], high=[0])),
            ("volume", "bf16", (2, 6, 9, 14, 16), (3, 2, 3), dict(low=[1, 0, 1], high=[1, 1, 1], strides=[1, 1, 2])),
            ("few", "bf16", (1, 5, 6, 8), (3, 3), dict(low=[1, 1], high=[1, 1]))):
        channels, dims = shape[-1], {3: lines, 4: conv.KRSC, 5: volumes}[len(shape)]
        x, w = random(dtype, shape, 43, -1, 1), random(dtype, (channels, *taps, 1), 44, -1, 1)
        y = conv.convolve(x.values, w.values, dims, feature_groups=channels, **window)
        d = random(dtype, y.shape, 45, -1, 1)
        dx, dw = pull_back(x.values, w.values, d.values, window, channels)
        text = function("", [("%x", x.mlir), ("%w", w.mlir)], [("%y", d.mlir)],
                        f"    %y = array.conv %x, %w {conv.attributes(dims, dict(window, feature_groups=channels))}"
                        f" : ({x.mlir}, {w.mlir}) -> {d.mlir}")
        yield Case(f"depthwise_{name}", text, [Step([x, w, d], [(dtype, dx), (dtype, dw)], "_vjp")], "sum", gradients=("",))


def packed():
    """Small groups of 16-bit types, some of which are packed into one (PackGroups.cpp), and images of few channels, whose pixels are packed where
    there are many positions (PackPixels.cpp)."""
    for name, dtype, shape, taps, outputs, groups, window in (
            ("groups", "f16", (2, 9, 8, 128), (3, 3), 128, 32, dict(low=[1, 1], high=[1, 1])),
            ("groups_widening", "bf16", (2, 7, 9, 64), (3, 2), 128, 8, dict(low=[1, 0], high=[0, 1], strides=[2, 1])),
            ("groups_all", "f16", (3, 8, 8, 24), (3, 3), 48, 6, dict(low=[1, 1], high=[1, 1])),
            ("groups_parts", "bf16", (3, 31, 29, 128), (3, 3), 128, 4, dict(low=[1, 1], high=[1, 1])),
            ("pixels", "bf16", (2, 131, 130, 3), (7, 7), 24, 1, dict(low=[3, 3], high=[3, 3], strides=[2, 2])),
            ("pixels_one_channel", "f16", (1, 93, 92, 1), (3, 5), 16, 1, dict(low=[1, 2], high=[1, 2], filter_dilation=[2, 1])),
            ("pixels_of_24_channels", "bf16", (1, 92, 93, 24), (3, 3), 40, 1, dict(low=[1, 1], high=[1, 1])),
            ("pixels_of_20_channels", "f16", (1, 93, 95, 20), (2, 3), 16, 1, dict(low=[0, 1], high=[1, 1], strides=[1, 1]))):
        x, w = random(dtype, shape, 46, -1, 1), random(dtype, (outputs, *taps, shape[3] // groups), 47, -1, 1)
        grouped = dict(window, feature_groups=groups)
        y = conv.convolve(x.values, w.values, conv.KRSC, **grouped)
        d = random(dtype, y.shape, 48, -1, 1)
        dx, dw = pull_back(x.values, w.values, d.values, window, groups)
        text = function("", [("%x", x.mlir), ("%w", w.mlir)], [("%y", d.mlir)],
                        f"    %y = array.conv %x, %w {conv.attributes(conv.KRSC, grouped)} : ({x.mlir}, {w.mlir}) -> {d.mlir}")
        yield Case(f"packed_{name}", text, [Step([x, w, d], [(dtype, dx), (dtype, dw)], "_vjp")], "sum", gradients=("",))


def cases():
    yield from pixels()
    yield from channels_first()
    yield from depthwise()
    yield from attention_blocks()
    yield from choices()
    yield from loops()
    yield from extents()
    yield from norms()
    yield from network()
    yield from jumps()
    yield from several_results()
    yield from attention()
    yield from cotangent_sizes()
    yield from without_places()
