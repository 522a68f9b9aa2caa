"""Variables, donated inputs, results in place, several calls of one function."""
import pathlib
import tempfile

import numpy as np

from harness import Case, Step
from tensors import Tensor, random

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


def cases():
    for make in (variables, donation, arena, aliases, parameters):
        yield from make()
