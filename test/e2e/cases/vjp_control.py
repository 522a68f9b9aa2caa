"""Gradients of functions with ifs and loops, as --gradient adds them, against derivatives taken numerically in float64."""
import numpy as np

from cases.vjp import pulled_back
from harness import Case, Step, function
from tensors import Tensor, random


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


def cases():
    yield from choices()
    yield from loops()
