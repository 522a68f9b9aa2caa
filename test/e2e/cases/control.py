"""Ifs and whiles that depend on data, calls between functions."""
import numpy as np

from harness import Case, Step, simple
from tensors import Tensor, random


def collatz(start):
    count = 0
    while start != 1:
        start = start // 2 if start % 2 == 0 else 3 * start + 1
        count += 1
    return count


COUNT = """  func.func @NAME(%x: tensor<4xf32>, %limit: tensor<i32>) -> (tensor<i32>, tensor<4xf32>) {
    %zero = array.constant dense<0> : tensor<i32>
    %one = array.constant dense<1> : tensor<i32>
    %half = array.constant dense<0.5> : tensor<f32>
    %n, %y = array.while %zero, %x : (tensor<i32>, tensor<4xf32>) -> (tensor<i32>, tensor<4xf32>) condition {
    ^bb0(%i: tensor<i32>, %v: tensor<4xf32>):
      %more = array.compare lt, %i, %limit : (tensor<i32>, tensor<i32>) -> tensor<i1>
      array.yield %more : tensor<i1>
    } body {
    ^bb0(%i: tensor<i32>, %v: tensor<4xf32>):
      %next = array.add %i, %one : tensor<i32>
      %w = array.mul %v, %half : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
      array.yield %next, %w : tensor<i32>, tensor<4xf32>
    }
    return %n, %y : tensor<i32>, tensor<4xf32>
  }
"""

# Both values change at once, and a reduction in between needs memory of its own.
FIBONACCI = """  func.func @NAME(%n: tensor<i32>, %a0: tensor<3xi64>, %b0: tensor<3xi64>) -> (tensor<3xi64>, tensor<i64>) {
    %zero = array.constant dense<0> : tensor<i32>
    %one = array.constant dense<1> : tensor<i32>
    %nothing = array.constant dense<0> : tensor<i64>
    %r:4 = array.while %zero, %a0, %b0, %nothing
        : (tensor<i32>, tensor<3xi64>, tensor<3xi64>, tensor<i64>) -> (tensor<i32>, tensor<3xi64>, tensor<3xi64>, tensor<i64>) condition {
    ^bb0(%i: tensor<i32>, %a: tensor<3xi64>, %b: tensor<3xi64>, %s: tensor<i64>):
      %more = array.compare lt, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      array.yield %more : tensor<i1>
    } body {
    ^bb0(%i: tensor<i32>, %a: tensor<3xi64>, %b: tensor<3xi64>, %s: tensor<i64>):
      %next = array.add %i, %one : tensor<i32>
      %c = array.add %a, %b : tensor<3xi64>
      %part = array.reduce sum, %c axes = [0] : tensor<3xi64> -> tensor<i64>
      %t = array.add %s, %part : tensor<i64>
      array.yield %next, %b, %c, %t : tensor<i32>, tensor<3xi64>, tensor<3xi64>, tensor<i64>
    }
    return %r#1, %r#3 : tensor<3xi64>, tensor<i64>
  }
"""

COLLATZ = """  func.func private @NAME_triple(%x: tensor<i64>) -> tensor<i64> {
    %one = array.constant dense<1> : tensor<i64>
    %three = array.constant dense<3> : tensor<i64>
    %a = array.mul %x, %three : tensor<i64>
    %b = array.add %a, %one : tensor<i64>
    return %b : tensor<i64>
  }
  func.func @NAME(%x: tensor<i64>) -> tensor<i32> {
    %zero = array.constant dense<0> : tensor<i32>
    %step = array.constant dense<1> : tensor<i32>
    %last = array.constant dense<1> : tensor<i64>
    %two = array.constant dense<2> : tensor<i64>
    %even = array.constant dense<0> : tensor<i64>
    %r:2 = array.while %x, %zero : (tensor<i64>, tensor<i32>) -> (tensor<i64>, tensor<i32>) condition {
    ^bb0(%v: tensor<i64>, %n: tensor<i32>):
      %more = array.compare ne, %v, %last : (tensor<i64>, tensor<i64>) -> tensor<i1>
      array.yield %more : tensor<i1>
    } body {
    ^bb0(%v: tensor<i64>, %n: tensor<i32>):
      %rest = array.rem %v, %two : tensor<i64>
      %p = array.compare eq, %rest, %even : (tensor<i64>, tensor<i64>) -> tensor<i1>
      %w = array.if %p : tensor<i1> -> (tensor<i64>) {
        %h = array.div %v, %two : tensor<i64>
        array.yield %h : tensor<i64>
      } else {
        %t = func.call @NAME_triple(%v) : (tensor<i64>) -> tensor<i64>
        array.yield %t : tensor<i64>
      }
      %m = array.add %n, %step : tensor<i32>
      array.yield %w, %m : tensor<i64>, tensor<i32>
    }
    return %r#1 : tensor<i32>
  }
"""

# Gradient descent on 0.5 * |x - target|^2 with the weights in a variable: 1,000 steps are one call.
TRAINING = """  array.variable @NAME_w : tensor<8xf32> = dense<0.0>
  func.func @NAME_train(%target: tensor<8xf32>, %steps: tensor<i32>) -> (tensor<i32>) {
    %zero = array.constant dense<0> : tensor<i32>
    %one = array.constant dense<1> : tensor<i32>
    %rate = array.constant dense<0.0078125> : tensor<f32>
    %n = array.while %zero : (tensor<i32>) -> (tensor<i32>) condition {
    ^bb0(%i: tensor<i32>):
      %more = array.compare lt, %i, %steps : (tensor<i32>, tensor<i32>) -> tensor<i1>
      array.yield %more : tensor<i1>
    } body {
    ^bb0(%i: tensor<i32>):
      %w = array.variable.read @NAME_w : tensor<8xf32>
      %gradient = array.sub %w, %target : tensor<8xf32>
      %change = array.mul %gradient, %rate : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
      %next = array.sub %w, %change : tensor<8xf32>
      array.variable.assign @NAME_w, %next : tensor<8xf32>
      %j = array.add %i, %one : tensor<i32>
      array.yield %j : tensor<i32>
    }
    return %n : tensor<i32>
  }
  func.func @NAME_weights() -> (tensor<8xf32>) {
    %w = array.variable.read @NAME_w : tensor<8xf32>
    return %w : tensor<8xf32>
  }
"""

SYMBOLIC = """  func.func @NAME(%x: tensor<?x3xf32> {array.dims = ["n", ""]}, %steps: tensor<i32>) -> (tensor<?x3xf32>) {
    %zero = array.constant dense<0> : tensor<i32>
    %one = array.constant dense<1> : tensor<i32>
    %r:2 = array.while %zero, %x : (tensor<i32>, tensor<?x3xf32>) -> (tensor<i32>, tensor<?x3xf32>) condition {
    ^bb0(%i: tensor<i32>, %v: tensor<?x3xf32>):
      %more = array.compare lt, %i, %steps : (tensor<i32>, tensor<i32>) -> tensor<i1>
      array.yield %more : tensor<i1>
    } body {
    ^bb0(%i: tensor<i32>, %v: tensor<?x3xf32>):
      %next = array.add %i, %one : tensor<i32>
      %m = array.reduce max, %v axes = [0] keepdims : tensor<?x3xf32> -> tensor<1x3xf32>
      %w = array.sub %v, %m : (tensor<?x3xf32>, tensor<1x3xf32>) -> tensor<?x3xf32>
      %u = array.add %w, %x : tensor<?x3xf32>
      array.yield %next, %u : tensor<i32>, tensor<?x3xf32>
    }
    return %r#1 : tensor<?x3xf32>
  }
"""

# Values that only change places, and one that stays: nothing is computed in the body but the counter.
SWAP = """  func.func @NAME(%n: tensor<i32>, %a0: tensor<5xf32>, %b0: tensor<5xf32>, %c0: tensor<5xf32>)
      -> (tensor<5xf32>, tensor<5xf32>, tensor<5xf32>) {
    %zero = array.constant dense<0> : tensor<i32>
    %one = array.constant dense<1> : tensor<i32>
    %r:4 = array.while %zero, %a0, %b0, %c0 : (tensor<i32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>)
        -> (tensor<i32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>) condition {
    ^bb0(%i: tensor<i32>, %a: tensor<5xf32>, %b: tensor<5xf32>, %c: tensor<5xf32>):
      %more = array.compare lt, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      array.yield %more : tensor<i1>
    } body {
    ^bb0(%i: tensor<i32>, %a: tensor<5xf32>, %b: tensor<5xf32>, %c: tensor<5xf32>):
      %next = array.add %i, %one : tensor<i32>
      array.yield %next, %b, %a, %c : tensor<i32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>
    }
    return %r#1, %r#2, %r#3 : tensor<5xf32>, tensor<5xf32>, tensor<5xf32>
  }
"""


def scalar(value, dtype="i32"):
    return Tensor(dtype, np.array(value))


def choices():
    x, y = random("f32", (6, 5), 1), random("f32", (6, 5), 2)
    text = """%r0, %r1 = array.if %0 : tensor<i1> -> (tensor<6x5xf32>, tensor<6xf32>) {
          %s = array.add %1, %2 : tensor<6x5xf32>
          %t = array.reduce max, %s axes = [1] : tensor<6x5xf32> -> tensor<6xf32>
          array.yield %s, %t : tensor<6x5xf32>, tensor<6xf32>
        } else {
          %m = array.reduce min, %1 axes = [1] : tensor<6x5xf32> -> tensor<6xf32>
          array.yield %2, %m : tensor<6x5xf32>, tensor<6xf32>
        }"""
    for p in (True, False):
        total = x.values + y.values
        want = [("f32", total), ("f32", total.max(1))] if p else [("f32", y.values), ("f32", x.values.min(1))]
        yield simple(f"if_{p}", [scalar(p, "i1"), x, y], want, text, "rounded")


def cases():
    yield from choices()
    x = random("f32", (4,), 3)
    steps = []
    for limit in (0, 1, 7, 30):
        steps.append(Step([x, scalar(limit)], [("i32", max(limit, 0)), ("f32", x.values * 0.5 ** limit)]))
    yield Case("count", COUNT, steps, "exact")
    a, b = np.array([0, 1, 2]), np.array([1, 3, -1])
    steps = []
    for n in (0, 1, 2, 40):
        p, q, total = a.copy(), b.copy(), 0
        for _ in range(n):
            p, q = q, p + q
            total += q.sum()
        steps.append(Step([scalar(n), Tensor("i64", a), Tensor("i64", b)], [("i64", p), ("i64", total)]))
    yield Case("fibonacci", FIBONACCI, steps, "exact")
    yield Case("collatz", COLLATZ, [Step([scalar(v, "i64")], [("i32", collatz(v))]) for v in (1, 2, 7, 27)], "exact")
    target = Tensor("f32", np.arange(8))
    weights = np.zeros(8)
    for _ in range(1000):
        weights -= (weights - target.values) * 0.0078125
    yield Case("training", TRAINING, [Step([target, scalar(1000)], [("i32", 1000)], "_train"),
                                      Step([], [("f32", weights)], "_weights")], "sum")
    steps = []
    for n, count in ((1, 3), (7, 4), (33, 2), (7, 0)):
        v = random("f32", (n, 3), 4)
        want = v.values
        for _ in range(count):
            want = want - want.max(0, keepdims=True) + v.values
        steps.append(Step([v, scalar(count)], [("f32", want)]))
    yield Case("symbolic", SYMBOLIC, steps, "composite")
    a, b, c = (random("f32", (5,), seed) for seed in (5, 6, 7))
    steps = []
    for n in (0, 1, 2, 3):
        first, second = (b, a) if n % 2 else (a, b)
        steps.append(Step([scalar(n), a, b, c], [("f32", first.values), ("f32", second.values), ("f32", c.values)]))
    yield Case("swap", SWAP, steps, "exact")
