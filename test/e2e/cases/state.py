"""Variables, donated inputs, results in place, several calls of one function."""
import pathlib
import tempfile

import numpy as np

from harness import Case, Step
from tensors import DTYPES, Tensor, mlir_type, random, write_safetensors

SCRATCH = tempfile.TemporaryDirectory(prefix="xc-e2e-")  # lives as long as the run


def variables():
    yield Case("counter", """  array.variable @NAME_count : tensor<i64>
  func.func @NAME() -> (tensor<i64>) {
    %one = array.constant dense<1> : tensor<i64>
    %old = array.variable.read @NAME_count : tensor<i64>
    %new = array.add %old, %one : tensor<i64>
    array.variable.assign @NAME_count, %new : tensor<i64>
    return %new : tensor<i64>
  }
""", [Step([], [("i64", np.int64(1))]), Step([], [("i64", np.int64(2))]), Step([], [("i64", np.int64(12))], launches=10)])

    start = random("f32", (5, 9), 1)
    text = "[" + ", ".join("[" + ", ".join(f"{float(v)!r}" for v in row) + "]" for row in start.values) + "]"
    yield Case("initial_value", f"""  array.variable @NAME_w : tensor<5x9xf32> = dense<{text}>
  func.func @NAME() -> (tensor<5x9xf32>) {{
    %w = array.variable.read @NAME_w : tensor<5x9xf32>
    return %w : tensor<5x9xf32>
  }}
""", [Step([], [("f32", start.values)])], "exact")

    a, b = random("f32", (70, 33), 2), random("f32", (70, 33), 3)
    read = ("  func.func @NAME_get() -> (tensor<70x33xf32>) {\n    %v = array.variable.read @NAME_v : tensor<70x33xf32>\n"
            "    return %v : tensor<70x33xf32>\n  }\n")
    yield Case("assign_and_read", """  array.variable @NAME_v : tensor<70x33xf32> = dense<0.5>
  func.func @NAME_set(%x: tensor<70x33xf32>) {
    array.variable.assign @NAME_v, %x : tensor<70x33xf32>
    return
  }
""" + read, [Step([], [("f32", np.full((70, 33), 0.5))], "_get"), Step([a], [], "_set"), Step([], [("f32", a.values)], "_get"),
             Step([b], [], "_set"), Step([], [("f32", b.values)], "_get")], "exact")

    # Repeated values are written by fills, of patterns of every size; -0 is no zero.
    yield Case("repeated_values", """  array.variable @NAME_v : tensor<7x33xf32> = dense<0.0>
  array.variable @NAME_n : tensor<7x33xf32> = dense<-0.0>
  func.func @NAME() -> (tensor<5xi8>, tensor<3x5xf16>, tensor<7x33xf32>, tensor<9xi64>, tensor<21xi1>, tensor<7x33xf32>, tensor<7x33xf32>) {
    %b = array.constant dense<-3> : tensor<5xi8>
    %h = array.constant dense<1.5> : tensor<3x5xf16>
    %f = array.constant dense<-2.25> : tensor<7x33xf32>
    %l = array.constant dense<-81985529216486896> : tensor<9xi64>
    %t = array.constant dense<true> : tensor<21xi1>
    %v = array.variable.read @NAME_v : tensor<7x33xf32>
    %n = array.variable.read @NAME_n : tensor<7x33xf32>
    %one = array.constant dense<1.0> : tensor<7x33xf32>
    %r = array.div %one, %n : tensor<7x33xf32>
    array.variable.assign @NAME_v, %f : tensor<7x33xf32>
    return %b, %h, %f, %l, %t, %v, %r : tensor<5xi8>, tensor<3x5xf16>, tensor<7x33xf32>, tensor<9xi64>, tensor<21xi1>, tensor<7x33xf32>, tensor<7x33xf32>
  }
""", [Step([], [("i8", np.full(5, -3)), ("f16", np.full((3, 5), 1.5)), ("f32", np.full((7, 33), -2.25)),
                ("i64", np.full(9, -81985529216486896)), ("i1", np.full(21, True)), ("f32", np.full((7, 33), before)),
                ("f32", np.full((7, 33), -np.inf))]) for before in (0.0, -2.25)], "exact")

    # A value read before an assignment stays what it was, though the variable is overwritten in between.
    yield Case("read_before_assign", """  array.variable @NAME_v : tensor<70x33xf32> = dense<2.0>
  func.func @NAME(%x: tensor<70x33xf32>) -> (tensor<70x33xf32>, tensor<70x33xf32>) {
    %old = array.variable.read @NAME_v : tensor<70x33xf32>
    array.variable.assign @NAME_v, %x : tensor<70x33xf32>
    %new = array.variable.read @NAME_v : tensor<70x33xf32>
    %sum = array.add %old, %new : tensor<70x33xf32>
    return %old, %sum : tensor<70x33xf32>, tensor<70x33xf32>
  }
""", [Step([a], [("f32", np.full((70, 33), 2.0)), ("f32", a.values + 2)]),
      Step([b], [("f32", a.values), ("f32", a.values + b.values)])])

    yield Case("swap", """  array.variable @NAME_a : tensor<40xf32> = dense<1.0>
  array.variable @NAME_b : tensor<40xf32> = dense<2.0>
  func.func @NAME() -> (tensor<40xf32>, tensor<40xf32>) {
    %a = array.variable.read @NAME_a : tensor<40xf32>
    %b = array.variable.read @NAME_b : tensor<40xf32>
    array.variable.assign @NAME_a, %b : tensor<40xf32>
    array.variable.assign @NAME_b, %a : tensor<40xf32>
    %x = array.variable.read @NAME_a : tensor<40xf32>
    %y = array.variable.read @NAME_b : tensor<40xf32>
    return %x, %y : tensor<40xf32>, tensor<40xf32>
  }
""", [Step([], [("f32", np.full(40, 2.0)), ("f32", np.full(40, 1.0))]),
      Step([], [("f32", np.full(40, 1.0)), ("f32", np.full(40, 2.0))])], "exact")

    yield Case("assigned_twice", """  array.variable @NAME_v : tensor<9xf32>
  func.func @NAME(%x: tensor<9xf32>) -> (tensor<9xf32>) {
    %square = array.mul %x, %x : tensor<9xf32>
    array.variable.assign @NAME_v, %square : tensor<9xf32>
    %once = array.variable.read @NAME_v : tensor<9xf32>
    %twice = array.add %once, %x : tensor<9xf32>
    array.variable.assign @NAME_v, %twice : tensor<9xf32>
    %end = array.variable.read @NAME_v : tensor<9xf32>
    return %end : tensor<9xf32>
  }
""", [Step([Tensor("f32", np.arange(9))], [("f32", np.arange(9) ** 2 + np.arange(9.0))])])

    # A matrix product whose result replaces its own operand needs a place in between.
    w, x = random("f32", (20, 20), 4), random("f32", (20, 20), 5)
    yield Case("product_into_operand", """  array.variable @NAME_w : tensor<20x20xf32>
  func.func @NAME_set(%x: tensor<20x20xf32>) {
    array.variable.assign @NAME_w, %x : tensor<20x20xf32>
    return
  }
  func.func @NAME_step(%x: tensor<20x20xf32>) -> (tensor<20x20xf32>) {
    %w = array.variable.read @NAME_w : tensor<20x20xf32>
    %p = array.matmul %w, %x : (tensor<20x20xf32>, tensor<20x20xf32>) -> tensor<20x20xf32>
    array.variable.assign @NAME_w, %p : tensor<20x20xf32>
    return %p : tensor<20x20xf32>
  }
""", [Step([w], [], "_set"), Step([x], [("f32", w.values @ x.values)], "_step"),
      Step([x], [("f32", w.values @ x.values @ x.values)], "_step")], "sum")

    row, at = random("f32", (1, 8), 6), Tensor("i32", 3)
    cache = np.zeros((16, 8))
    cache[3] = row.values
    yield Case("cache_updated_in_place", """  array.variable @NAME_cache : tensor<16x8xf32>
  func.func @NAME(%row: tensor<1x8xf32>, %at: tensor<i32>) -> (tensor<8xf32>) {
    %zero = array.constant dense<0> : tensor<i32>
    %old = array.variable.read @NAME_cache : tensor<16x8xf32>
    %new = array.dynamic_update_slice %old[%at, %zero] = %row
         : (tensor<16x8xf32>, tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<16x8xf32>
    array.variable.assign @NAME_cache, %new : tensor<16x8xf32>
    %sum = array.reduce sum, %new axes = [0] : tensor<16x8xf32> -> tensor<8xf32>
    return %sum : tensor<8xf32>
  }
""", [Step([row, at], [("f32", row.values[0])]), Step([row, Tensor("i32", 5)], [("f32", 2 * row.values[0])]),
      Step([row, Tensor("i32", 5)], [("f32", 2 * row.values[0])])], "sum")


def donation():
    x, y = random("f32", (50, 21), 7), random("f32", (50, 21), 8)
    yield Case("donated_alias", """  func.func @NAME(%x: tensor<50x21xf32> {array.donated}, %y: tensor<50x21xf32>)
      -> (tensor<50x21xf32> {array.alias = 0 : i64}) {
    %s = array.sub %x, %y : tensor<50x21xf32>
    return %s : tensor<50x21xf32>
  }
""", [Step([x, y], [("f32", x.values - y.values)])])
    yield Case("donated_scratch", """  func.func @NAME(%x: tensor<50x21xf32> {array.donated}) -> (tensor<50x21xf32>) {
    %t = array.tanh %x : tensor<50x21xf32>
    %s = array.mul %t, %t : tensor<50x21xf32>
    return %s : tensor<50x21xf32>
  }
""", [Step([x], [("f32", np.tanh(x.values) ** 2)])], "composite")
    # The old value is still needed after the new one exists: in place would be wrong.
    yield Case("donated_still_used", """  func.func @NAME(%x: tensor<50x21xf32> {array.donated}) -> (tensor<50x21xf32>, tensor<21xf32>) {
    %n = array.reduce sum, %x axes = [0] : tensor<50x21xf32> -> tensor<21xf32>
    %s = array.sub %x, %n : (tensor<50x21xf32>, tensor<21xf32>) -> tensor<50x21xf32>
    %m = array.reduce max, %x axes = [0] : tensor<50x21xf32> -> tensor<21xf32>
    return %s, %m : tensor<50x21xf32>, tensor<21xf32>
  }
""", [Step([x], [("f32", x.values - x.values.sum(0)), ("f32", x.values.max(0))])], "sum")


def arena():
    """Slots that are used again: a result must not be overwritten while something still reads it."""
    x = random("f32", (64, 64), 9)
    e = x.values
    a = np.tanh(e)
    b = a @ a
    c = b.sum(1, keepdims=True)
    d = b / (1 + np.abs(c))
    f = d @ a + e
    yield Case("lifetimes", """  func.func @NAME(%x: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x1xf32>) {
    %one = array.constant dense<1.0> : tensor<f32>
    %a = array.tanh %x : tensor<64x64xf32>
    %b = array.matmul %a, %a : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %c = array.reduce sum, %b axes = [1] keepdims : tensor<64x64xf32> -> tensor<64x1xf32>
    %size = array.abs %c : tensor<64x1xf32>
    %scale = array.add %size, %one : (tensor<64x1xf32>, tensor<f32>) -> tensor<64x1xf32>
    %d = array.div %b, %scale : (tensor<64x64xf32>, tensor<64x1xf32>) -> tensor<64x64xf32>
    %p = array.matmul %d, %a : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %f = array.add %p, %x : tensor<64x64xf32>
    return %f, %c : tensor<64x64xf32>, tensor<64x1xf32>
  }
""", [Step([x], [("f32", f), ("f32", c)], launches=3)], "model")


def aliases():
    """Results that lie in the buffers of donated inputs."""
    x, w = random("f32", (20, 20), 7), random("f32", (20, 20), 8)
    yield Case("alias", """  func.func @NAME(%x: tensor<?x20xf32> {array.donated}, %w: tensor<20x20xf32>) -> (tensor<?x20xf32> {array.alias = 0}) {
    %p = array.matmul %x, %w : (tensor<?x20xf32>, tensor<20x20xf32>) -> tensor<?x20xf32>
    %y = array.add %p, %x : tensor<?x20xf32>
    return %y : tensor<?x20xf32>
  }
""", [Step([x, w], [("f32", x.values @ w.values + x.values)])], "sum")
    # Rows that do not fill a block, and columns: surplus threads must not read what others write.
    for rows, columns in ((16, 16), (3, 16), (100, 24), (5, 130)):
        v, y = random("f32", (rows, columns), rows), random("f32", (rows, columns), columns)
        for axis in (0, 1):
            e = np.exp(v.values - v.values.max(axis, keepdims=True))
            for dims in (f"{rows}x{columns}", f"?x{columns}"):
                t = f"tensor<{dims}xf32>"
                yield Case(f"alias_softmax_{rows}x{columns}_{axis}" + "_open" * (dims[0] == "?"), f"""  func.func @NAME(%v: {t}, %y: {t} {{array.donated}})
      -> ({t} {{array.alias = 1}}) {{
    %w = array.softmax %v axis = {axis} : {t}
    %o = array.mul %w, %y : {t}
    return %o : {t}
  }}
""", [Step([v, y], [("f32", e / e.sum(axis, keepdims=True) * y.values)])], "composite")
    yield Case("alias_in_turn", """  func.func @NAME(%x: tensor<20x20xf32> {array.donated}, %w: tensor<20x20xf32> {array.donated})
      -> (tensor<20x20xf32> {array.alias = 1}, tensor<20x20xf32> {array.alias = 0}, tensor<20x20xf32>, tensor<20xf32>) {
    %n = array.neg %w : tensor<20x20xf32>
    %s = array.reduce sum, %x axes = [0] : tensor<20x20xf32> -> tensor<20xf32>
    return %x, %n, %w, %s : tensor<20x20xf32>, tensor<20x20xf32>, tensor<20x20xf32>, tensor<20xf32>
  }
""", [Step([x, w], [("f32", x.values), ("f32", -w.values), ("f32", w.values), ("f32", x.values.sum(0))])], "sum")
    yield Case("alias_and_variable", """  array.variable @NAME_last : tensor<20x20xf32>
  func.func @NAME_step(%x: tensor<20x20xf32> {array.donated}) -> (tensor<20x20xf32> {array.alias = 0}) {
    %n = array.neg %x : tensor<20x20xf32>
    array.variable.assign @NAME_last, %x : tensor<20x20xf32>
    return %n : tensor<20x20xf32>
  }
  func.func @NAME_read() -> (tensor<20x20xf32>) {
    %v = array.variable.read @NAME_last : tensor<20x20xf32>
    return %v : tensor<20x20xf32>
  }
""", [Step([x], [("f32", -x.values)], "_step"), Step([], [("f32", x.values)], "_read")], "exact")


def update(name, shapes, inputs, body, step, kind="sum"):
    """Variables @NAME_<v> that a step assigns from what it reads of them, three times; `step` is the same in NumPy."""
    types = {v: f"tensor<{'x'.join(map(str, shape))}xf32>" for v, shape in shapes.items()}
    start = {v: random("f32", shape, 20 + i) for i, (v, shape) in enumerate(shapes.items())}
    text = "".join(f"  array.variable @NAME_{v} : {type}\n" for v, type in types.items())
    arguments = ", ".join(f"%{v}: {type}" for v, type in types.items())
    text += f"  func.func @NAME_set({arguments}) {{\n" + \
        "".join(f"    array.variable.assign @NAME_{v}, %{v} : {type}\n" for v, type in types.items()) + "    return\n  }\n"
    text += f"  func.func @NAME_get() -> ({', '.join(types.values())}) {{\n" + \
        "".join(f"    %{v} = array.variable.read @NAME_{v} : {type}\n" for v, type in types.items()) + \
        f"    return {', '.join('%' + v for v in types)} : {', '.join(types.values())}\n  }}\n"
    arguments = ", ".join(f"%{i}: {x.mlir}" for i, x in enumerate(inputs))
    text += f"  func.func @NAME_step({arguments}) {{\n" + \
        "".join(f"    %{v} = array.variable.read @NAME_{v} : {type}\n" for v, type in types.items()) + body + \
        "".join(f"    array.variable.assign @NAME_{v}, %{v}_new : {type}\n" for v, type in types.items()) + "    return\n  }\n"
    now = {v: x.values for v, x in start.items()}
    for _ in range(3):
        now = dict(zip(now, step(*now.values(), *(x.values for x in inputs))))
    return Case(name, text, [Step(list(start.values()), [], "_set"), Step(inputs, [], "_step", launches=3),
                             Step([], [("f32", values) for values in now.values()], "_get")], kind)


def updates():
    """Steps of training, where new values take the place of old ones, and steps where they must not."""
    x, g, rate = random("f32", (37, 30), 10, -0.5, 0.5), random("f32", (37, 21), 11, -0.5, 0.5), Tensor("f32", 0.05)
    t, v = "tensor<30x21xf32>", "tensor<21xf32>"

    def momentum(w, m, b, c, x, g, rate):
        m, c = 0.9 * m + x.T @ g + 0.01 * w, 0.9 * c + g.sum(0)
        return w - rate * m, m, b - rate * c, c
    yield update("momentum", {"w": (30, 21), "m": (30, 21), "b": (21,), "c": (21,)}, [x, g, rate], f"""
    %friction = array.constant dense<0.9> : tensor<f32>
    %decay = array.constant dense<0.01> : tensor<f32>
    %dw = array.matmul %0, %1 transpose_a : (tensor<37x30xf32>, tensor<37x21xf32>) -> {t}
    %db = array.reduce sum, %1 axes = [0] : tensor<37x21xf32> -> {v}
    %m0 = array.mul %m, %friction : ({t}, tensor<f32>) -> {t}
    %m1 = array.add %m0, %dw : {t}
    %pull = array.mul %w, %decay : ({t}, tensor<f32>) -> {t}
    %m_new = array.add %m1, %pull : {t}
    %way = array.mul %m_new, %2 : ({t}, tensor<f32>) -> {t}
    %w_new = array.sub %w, %way : {t}
    %c0 = array.mul %c, %friction : ({v}, tensor<f32>) -> {v}
    %c_new = array.add %c0, %db : {v}
    %down = array.mul %c_new, %2 : ({v}, tensor<f32>) -> {v}
    %b_new = array.sub %b, %down : {v}
""", momentum)

    def adam(w, m, s, d):
        m, s = 0.9 * m + 0.1 * d, 0.99 * s + 0.01 * d * d
        return w - 0.1 * m / (np.sqrt(np.abs(s)) + 0.5), m, s
    q = "tensor<33x65xf32>"
    yield update("adam", {"w": (33, 65), "m": (33, 65), "s": (33, 65)}, [random("f32", (33, 65), 12)], f"""
    %k0 = array.constant dense<0.9> : {q}
    %k1 = array.constant dense<0.1> : {q}
    %k2 = array.constant dense<0.99> : {q}
    %k3 = array.constant dense<0.01> : {q}
    %k4 = array.constant dense<0.5> : {q}
    %m0 = array.mul %m, %k0 : {q}
    %m1 = array.mul %0, %k1 : {q}
    %m_new = array.add %m0, %m1 : {q}
    %s0 = array.mul %s, %k2 : {q}
    %d2 = array.mul %0, %0 : {q}
    %s1 = array.mul %d2, %k3 : {q}
    %s_new = array.add %s0, %s1 : {q}
    %size = array.abs %s_new : {q}
    %root = array.sqrt %size : {q}
    %below = array.add %root, %k4 : {q}
    %way = array.div %m_new, %below : {q}
    %part = array.mul %way, %k1 : {q}
    %w_new = array.sub %w, %part : {q}
""", adam)

    # Each new value needs both old ones.
    r = "tensor<24x24xf32>"
    yield update("rotation", {"a": (24, 24), "b": (24, 24)}, [random("f32", (24, 24), 13, -0.5, 0.5)], f"""
    %p = array.mul %b, %0 : {r}
    %a_new = array.add %a, %p : {r}
    %q = array.mul %a, %0 : {r}
    %b_new = array.sub %b, %q : {r}
""", lambda a, b, g: (a + b * g, b - a * g))
    # The old value is read elsewhere, too: in its transpose, in a slice, in a product, in a sum.
    yield update("transposed", {"a": (24, 24), "b": (24, 24)}, [random("f32", (24, 24), 14, -0.5, 0.5)], f"""
    %turned = array.transpose %a permutation = [1, 0] : {r} -> {r}
    %p = array.matmul %0, %b : ({r}, {r}) -> {r}
    %a0 = array.add %a, %p : {r}
    %a_new = array.add %a0, %turned : {r}
    %b_new = array.sub %b, %a : {r}
""", lambda a, b, g: (a + g @ b + a.T, b - a))
    yield update("sliced", {"a": (24, 24), "b": (24,)}, [random("f32", (24, 24), 15, -0.5, 0.5)], f"""
    %column = array.slice %a [:, 3:4] : {r} -> tensor<24x1xf32>
    %p = array.add %a, %column : ({r}, tensor<24x1xf32>) -> {r}
    %a_new = array.mul %p, %0 : {r}
    %row = array.slice %a [5:6, :] : {r} -> tensor<1x24xf32>
    %flat = array.reshape %row : tensor<1x24xf32> -> tensor<24xf32>
    %b_new = array.add %b, %flat : tensor<24xf32>
""", lambda a, b, g: ((a + a[:, 3:4]) * g, b + a[5]))
    yield update("own_product", {"a": (24, 24), "b": (24,)}, [random("f32", (24, 24), 16, -0.2, 0.2)], f"""
    %p = array.matmul %a, %0 : ({r}, {r}) -> {r}
    %a_new = array.sub %a, %p : {r}
    %sum = array.reduce sum, %a axes = [0] : {r} -> tensor<24xf32>
    %b_new = array.add %b, %sum : tensor<24xf32>
""", lambda a, b, g: (a - a @ g, b + a.sum(0)))


def parameters():
    """Data that the module names only: a .npy file is a scope of its own."""
    x, w = random("f32", (3, 4), 1), random("f32", (4,), 2)
    file = pathlib.Path(SCRATCH.name) / "scale.npy"
    np.save(file, w.values.astype(np.float32))
    yield Case("parameter", """  func.func @NAME(%x: tensor<3x4xf32>) -> (tensor<3x4xf32>) {
    %w = array.parameter "scale.npy" : tensor<4xf32>
    %y = array.mul %x, %w : (tensor<3x4xf32>, tensor<4xf32>) -> tensor<3x4xf32>
    return %y : tensor<3x4xf32>
  }
""", [Step([x], [("f32", x.values * w.values)])], "rounded", parameters=(("scale.npy", file),), alone=True)


    # Of each type, in one file of many; a variable starts as one of them.
    held = {f"of_{dtype}": random(dtype, (3, 5), 3) for dtype in DTYPES}
    file = pathlib.Path(SCRATCH.name) / "types.safetensors"
    write_safetensors(file, held)
    reads = "".join(f"    %{key} = array.parameter \"types\"::\"{key}\" : {w.mlir}\n" for key, w in held.items())
    starts = "".join(f"  array.variable @NAME_{key} : {w.mlir} = #array.parameter<\"types\"::\"{key}\">\n" for key, w in held.items())
    begun = "".join(f"    %v_{key} = array.variable.read @NAME_{key} : {w.mlir}\n" for key, w in held.items())
    turned = "".join(f"    %t_{key} = array.transpose %v_{key} permutation = [1, 0] : {w.mlir} -> {mlir_type(w.dtype, (5, 3))}\n"
                     for key, w in held.items())
    results = [f"%{key}" for key in held] + [f"%t_{key}" for key in held]
    types = ", ".join([w.mlir for w in held.values()] + [mlir_type(w.dtype, (5, 3)) for w in held.values()])
    yield Case("parameter_types", f"""{starts}  func.func @NAME() -> ({types}) {{
{reads}{begun}{turned}    return {', '.join(results)} : {types}
  }}
""", [Step([], [(w.dtype, w.values) for w in held.values()] + [(w.dtype, w.values.T) for w in held.values()])], "exact",
               parameters=(("types", file),), alone=True)


def narrow_weights():
    """Weights of f32 that a flag makes narrow: a table and a product's as parameters, a constant, and a filter; a bias is none."""
    for dtype in ("bf16", "f16"):
        def narrow(values):
            return Tensor(dtype, values).values
        rows, ids = random("f32", (37, 48), 4), Tensor("i32", np.array([3, 0, 36, 3, 7]))
        w, v, bias = random("f32", (48, 40), 5), random("f32", (30, 40), 6), random("f32", (40,), 7)
        z, image, filters = random("f32", (5, 40), 10), random("f32", (2, 6, 7, 16), 8), random("f32", (3, 3, 16, 24), 9)
        held = {"rows": Tensor(dtype, rows.values), "w": Tensor(dtype, w.values), "bias": bias}
        file = pathlib.Path(SCRATCH.name) / f"narrow_{dtype}.safetensors"
        write_safetensors(file, held)
        found = narrow(rows.values)[ids.values]
        windows = np.lib.stride_tricks.sliding_window_view(narrow(image.values), (3, 3), (1, 2))
        yield Case(f"narrow_weights_{dtype}", f"""  func.func @NAME(%ids: tensor<5xi32>, %z: tensor<5x40xf32>, %i: tensor<?x6x7x16xf32>)
      -> (tensor<5x48xf32>, tensor<5x40xf32>, tensor<5x30xf32>, tensor<?x4x5x24xf32>) {{
    %rows = array.parameter "narrow"::"rows" : tensor<37x48xf32>
    %w = array.parameter "narrow"::"w" : tensor<48x40xf32>
    %bias = array.parameter "narrow"::"bias" : tensor<40xf32>
    %v = array.constant dense<"0x{v.encode().hex()}"> : tensor<30x40xf32>
    %f = array.constant dense<"0x{filters.encode().hex()}"> : tensor<3x3x16x24xf32>
    %x = array.take %rows[%ids] axis = 0 : (tensor<37x48xf32>, tensor<5xi32>) -> tensor<5x48xf32>
    %p = array.matmul %x, %w : (tensor<5x48xf32>, tensor<48x40xf32>) -> tensor<5x40xf32>
    %h = array.add %p, %bias : (tensor<5x40xf32>, tensor<40xf32>) -> tensor<5x40xf32>
    %y = array.matmul %z, %v transpose_b : (tensor<5x40xf32>, tensor<30x40xf32>) -> tensor<5x30xf32>
    %c = array.conv %i, %f dims = <[b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f]>
       : (tensor<?x6x7x16xf32>, tensor<3x3x16x24xf32>) -> tensor<?x4x5x24xf32>
    return %x, %h, %y, %c : tensor<5x48xf32>, tensor<5x40xf32>, tensor<5x30xf32>, tensor<?x4x5x24xf32>
  }}
""", [Step([ids, z, image], [("f32", found), ("f32", found @ narrow(w.values) + bias.values), ("f32", narrow(z.values) @ narrow(v.values).T),
                          ("f32", np.einsum("byxchw,hwco->byxo", windows, narrow(filters.values)))])], "sum",
                   parameters=(("narrow", file),), alone=True, flags=(f"--weights-type={dtype}",))


def parts():
    """Parts that are written into memory which holds the rest: variables, donated arguments, values of loops, and what has to be
    copied first because it is needed again."""
    rng = np.random.default_rng(11)
    rows, width, layers = 24, 10, 3
    cache, steps = np.zeros((layers, rows, width)), []
    for at in (0, 5, 23, 40, -3, 5):
        new, bias = random("f32", (layers, 1, width), 100 + at), random("f32", (width,), 200 + at)
        start = min(max(at, 0), rows - 1)
        for layer in range(layers):
            cache[layer, start] = new.values[layer, 0] + bias.values
        steps.append(Step([new, bias, Tensor("i32", np.int32(at))], [("f32", cache[1].copy()), ("f32", cache.sum((1, 2)))]))
    body = "\n".join(f"""    %l{i} = array.constant dense<{i}> : tensor<i32>
    %p{i} = array.slice %new [{i}:{i + 1}:1, 0:1:1, 0:{width}:1] : tensor<{layers}x1x{width}xf32> -> tensor<1x1x{width}xf32>
    %q{i} = array.add %p{i}, %bias : (tensor<1x1x{width}xf32>, tensor<{width}xf32>) -> tensor<1x1x{width}xf32>
    %c{i + 1} = array.dynamic_update_slice %c{i}[%l{i}, %at, %zero] = %q{i}
       : (tensor<{layers}x{rows}x{width}xf32>, tensor<1x1x{width}xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<{layers}x{rows}x{width}xf32>"""
                      for i in range(layers))
    yield Case("update_chain", f"""  array.variable @NAME_c : tensor<{layers}x{rows}x{width}xf32>
  func.func @NAME(%new: tensor<{layers}x1x{width}xf32>, %bias: tensor<{width}xf32>, %at: tensor<i32>) -> (tensor<{rows}x{width}xf32>, tensor<{layers}xf32>) {{
    %zero = array.constant dense<0> : tensor<i32>
    %c0 = array.variable.read @NAME_c : tensor<{layers}x{rows}x{width}xf32>
{body}
    array.variable.assign @NAME_c, %c{layers} : tensor<{layers}x{rows}x{width}xf32>
    %s = array.slice %c{layers} [1:2:1, 0:{rows}:1, 0:{width}:1] : tensor<{layers}x{rows}x{width}xf32> -> tensor<1x{rows}x{width}xf32>
    %r = array.squeeze %s axes = [0] : tensor<1x{rows}x{width}xf32> -> tensor<{rows}x{width}xf32>
    %t = array.reduce sum, %c{layers} axes = [1, 2] : tensor<{layers}x{rows}x{width}xf32> -> tensor<{layers}xf32>
    return %r, %t : tensor<{rows}x{width}xf32>, tensor<{layers}xf32>
  }}
""", steps, "sum")

    # The old value is needed again, so the update is made in a copy.
    old, steps = np.zeros((rows, width)), []
    for at in (3, 7):
        u = random("f32", (2, width), 300 + at)
        new = old.copy()
        new[at:at + 2] = u.values
        steps.append(Step([u, Tensor("i64", np.int64(at))], [("f32", new), ("f32", old), ("f32", new - old)]))
        old = new
    yield Case("update_of_what_is_needed", f"""  array.variable @NAME_c : tensor<{rows}x{width}xf32>
  func.func @NAME(%u: tensor<2x{width}xf32>, %at: tensor<i64>) -> (tensor<{rows}x{width}xf32>, tensor<{rows}x{width}xf32>, tensor<{rows}x{width}xf32>) {{
    %zero = array.constant dense<0> : tensor<i64>
    %old = array.variable.read @NAME_c : tensor<{rows}x{width}xf32>
    %new = array.dynamic_update_slice %old[%at, %zero] = %u
       : (tensor<{rows}x{width}xf32>, tensor<2x{width}xf32>, tensor<i64>, tensor<i64>) -> tensor<{rows}x{width}xf32>
    %d = array.sub %new, %old : tensor<{rows}x{width}xf32>
    array.variable.assign @NAME_c, %new : tensor<{rows}x{width}xf32>
    return %new, %old, %d : tensor<{rows}x{width}xf32>, tensor<{rows}x{width}xf32>, tensor<{rows}x{width}xf32>
  }}
""", steps)

    # What is written depends on what was there.
    old, steps = np.zeros(rows), []
    for at in (3, 20, 3):
        u = random("f32", (4,), 310 + at)
        new, start = old.copy(), min(at, rows - 4)
        new[start:start + 4] = np.where(u.values > 0, u.values, old[start:start + 4][::-1])
        steps.append(Step([u, Tensor("u8", np.uint8(at))], [("f32", new)]))
        old = new
    yield Case("masked_update", f"""  array.variable @NAME_c : tensor<{rows}xf32>
  func.func @NAME(%u: tensor<4xf32>, %at: tensor<ui8>) -> (tensor<{rows}xf32>) {{
    %old = array.variable.read @NAME_c : tensor<{rows}xf32>
    %box = array.dynamic_slice %old[%at] : (tensor<{rows}xf32>, tensor<ui8>) -> tensor<4xf32>
    %turned = array.reverse %box axes = [0] : tensor<4xf32> -> tensor<4xf32>
    %zero = array.constant dense<0.0> : tensor<f32>
    %p = array.compare gt, %u, %zero : (tensor<4xf32>, tensor<f32>) -> tensor<4xi1>
    %w = array.select %p, %u, %turned : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %new = array.dynamic_update_slice %old[%at] = %w : (tensor<{rows}xf32>, tensor<4xf32>, tensor<ui8>) -> tensor<{rows}xf32>
    array.variable.assign @NAME_c, %new : tensor<{rows}xf32>
    return %new : tensor<{rows}xf32>
  }}
""", steps)

    x, u = random("f32", (rows, width), 320), random("f32", (3, 4), 321)
    updated = x.values.copy()
    updated[5:8, 6:10] = u.values
    yield Case("update_of_donated", f"""  func.func @NAME(%x: tensor<{rows}x{width}xf32> {{array.donated}}, %u: tensor<3x4xf32>, %i: tensor<i32>, %j: tensor<i32>)
      -> (tensor<{rows}x{width}xf32> {{array.alias = 0}}) {{
    %r = array.dynamic_update_slice %x[%i, %j] = %u
       : (tensor<{rows}x{width}xf32>, tensor<3x4xf32>, tensor<i32>, tensor<i32>) -> tensor<{rows}x{width}xf32>
    return %r : tensor<{rows}x{width}xf32>
  }}
""", [Step([x, u, Tensor("i32", np.int32(5)), Tensor("i32", np.int32(99))], [("f32", updated)])], "exact")

    # Rows that meet, rows that are outside, and kinds; the first update of a row brings the others with it.
    for kind, combine in (("set", None), ("add", np.add), ("max", np.maximum)):
        table, steps = np.zeros((rows, width)), []
        for call in range(2):
            where = rng.integers(-2, rows + 2, (9, 1))
            where[3] = where[1]
            u = random("f32", (9, width), 330 + call)
            for (row,), values in zip(where, u.values):
                if 0 <= row < rows:
                    table[row] = values if combine is None else combine(table[row], values)
            steps.append(Step([Tensor("i32", where), u], [("f32", table.copy())]))
        yield Case(f"scatter_into_variable_{kind}", f"""  array.variable @NAME_t : tensor<{rows}x{width}xf32>
  func.func @NAME(%i: tensor<9x1xi32>, %u: tensor<9x{width}xf32>) -> (tensor<{rows}x{width}xf32>) {{
    %old = array.variable.read @NAME_t : tensor<{rows}x{width}xf32>
    %new = array.scatter {kind}, %old[%i] axes = [0] = %u
       : (tensor<{rows}x{width}xf32>, tensor<9x1xi32>, tensor<9x{width}xf32>) -> tensor<{rows}x{width}xf32>
    array.variable.assign @NAME_t, %new : tensor<{rows}x{width}xf32>
    return %new : tensor<{rows}x{width}xf32>
  }}
""", steps, "sum")

    # A loop writes a row of a variable in each round.
    start, limit = random("f32", (1, width), 340), 7
    held, row, steps = np.zeros((rows, width)), None, []
    for call in range(2):
        row = start.values
        for i in range(limit):
            row = row * 0.5 + 1
            held[i] = row
        steps.append(Step([start, Tensor("i32", np.int32(limit))], [("f32", held.copy())]))
    yield Case("update_in_loop", f"""  array.variable @NAME_c : tensor<{rows}x{width}xf32>
  func.func @NAME(%x: tensor<1x{width}xf32>, %limit: tensor<i32>) -> (tensor<{rows}x{width}xf32>) {{
    %zero = array.constant dense<0> : tensor<i32>
    %one = array.constant dense<1> : tensor<i32>
    %half = array.constant dense<0.5> : tensor<f32>
    %unit = array.constant dense<1.0> : tensor<f32>
    %r:2 = array.while %zero, %x : (tensor<i32>, tensor<1x{width}xf32>) -> (tensor<i32>, tensor<1x{width}xf32>) condition {{
    ^bb0(%i: tensor<i32>, %row: tensor<1x{width}xf32>):
      %p = array.compare lt, %i, %limit : (tensor<i32>, tensor<i32>) -> tensor<i1>
      array.yield %p : tensor<i1>
    }} body {{
    ^bb0(%i: tensor<i32>, %row: tensor<1x{width}xf32>):
      %m = array.mul %row, %half : (tensor<1x{width}xf32>, tensor<f32>) -> tensor<1x{width}xf32>
      %n = array.add %m, %unit : (tensor<1x{width}xf32>, tensor<f32>) -> tensor<1x{width}xf32>
      %old = array.variable.read @NAME_c : tensor<{rows}x{width}xf32>
      %new = array.dynamic_update_slice %old[%i, %zero] = %n
         : (tensor<{rows}x{width}xf32>, tensor<1x{width}xf32>, tensor<i32>, tensor<i32>) -> tensor<{rows}x{width}xf32>
      array.variable.assign @NAME_c, %new : tensor<{rows}x{width}xf32>
      %next = array.add %i, %one : tensor<i32>
      array.yield %next, %n : tensor<i32>, tensor<1x{width}xf32>
    }}
    %end = array.variable.read @NAME_c : tensor<{rows}x{width}xf32>
    return %end : tensor<{rows}x{width}xf32>
  }}
""", steps)


def cases():
    for make in (variables, donation, arena, aliases, updates, parts, parameters, narrow_weights):
        yield from make()
