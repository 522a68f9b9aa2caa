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

# Gradient descent on the mean of squares over a batch whose size is bound later: 1,000 steps are one call.
TRAINING_OF_BATCH = """  func.func @NAME(%x: tensor<?x4xf32> {array.dims = ["n", ""]}, %y: tensor<?x1xf32> {array.dims = ["n", ""]}, %steps: tensor<i32>) -> tensor<4x1xf32> {
    %zero = array.constant dense<0> : tensor<i32>
    %one = array.constant dense<1> : tensor<i32>
    %start = array.constant dense<0.0> : tensor<4x1xf32>
    %half = array.constant dense<0.5> : tensor<f32>
    %n = array.dim %x, 0 : tensor<?x4xf32>
    %count = array.from_index %n : tensor<i64>
    %rows = array.convert %count : tensor<i64> -> tensor<f32>
    %rate = array.div %half, %rows : tensor<f32>
    %r:2 = array.while %zero, %start : (tensor<i32>, tensor<4x1xf32>) -> (tensor<i32>, tensor<4x1xf32>) condition {
    ^bb0(%i: tensor<i32>, %w: tensor<4x1xf32>):
      %more = array.compare lt, %i, %steps : (tensor<i32>, tensor<i32>) -> tensor<i1>
      array.yield %more : tensor<i1>
    } body {
    ^bb0(%i: tensor<i32>, %w: tensor<4x1xf32>):
      %p = array.matmul %x, %w : (tensor<?x4xf32>, tensor<4x1xf32>) -> tensor<?x1xf32>
      %e = array.sub %p, %y : tensor<?x1xf32>
      %g = array.matmul %x, %e transpose_a : (tensor<?x4xf32>, tensor<?x1xf32>) -> tensor<4x1xf32>
      %c = array.mul %g, %rate : (tensor<4x1xf32>, tensor<f32>) -> tensor<4x1xf32>
      %v = array.sub %w, %c : tensor<4x1xf32>
      %j = array.add %i, %one : tensor<i32>
      array.yield %j, %v : tensor<i32>, tensor<4x1xf32>
    }
    return %r#1 : tensor<4x1xf32>
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


# An if in a while in a while, all over a size that is not known, and values that only the inner ones change.
NESTED = """  func.func @NAME(%x: tensor<?xf32> {array.dims = ["n"]}, %rows: tensor<i32>) -> (tensor<?xf32>, tensor<i32>) {
    %zero = array.constant dense<0> : tensor<i32>
    %one = array.constant dense<1> : tensor<i32>
    %two = array.constant dense<2> : tensor<i32>
    %r:3 = array.while %zero, %x, %zero : (tensor<i32>, tensor<?xf32>, tensor<i32>) -> (tensor<i32>, tensor<?xf32>, tensor<i32>) condition {
    ^bb0(%i: tensor<i32>, %v: tensor<?xf32>, %n: tensor<i32>):
      %more = array.compare lt, %i, %rows : (tensor<i32>, tensor<i32>) -> tensor<i1>
      array.yield %more : tensor<i1>
    } body {
    ^bb0(%i: tensor<i32>, %v: tensor<?xf32>, %n: tensor<i32>):
      %s:3 = array.while %zero, %v, %n : (tensor<i32>, tensor<?xf32>, tensor<i32>) -> (tensor<i32>, tensor<?xf32>, tensor<i32>) condition {
      ^bb0(%j: tensor<i32>, %w: tensor<?xf32>, %m: tensor<i32>):
        %more = array.compare le, %j, %i : (tensor<i32>, tensor<i32>) -> tensor<i1>
        array.yield %more : tensor<i1>
      } body {
      ^bb0(%j: tensor<i32>, %w: tensor<?xf32>, %m: tensor<i32>):
        %sum = array.add %i, %j : tensor<i32>
        %rest = array.rem %sum, %two : tensor<i32>
        %even = array.compare eq, %rest, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
        %u = array.if %even : tensor<i1> -> (tensor<?xf32>) {
          %a = array.add %w, %x : tensor<?xf32>
          array.yield %a : tensor<?xf32>
        } else {
          %b = array.neg %w : tensor<?xf32>
          array.yield %b : tensor<?xf32>
        }
        %k = array.add %j, %one : tensor<i32>
        %l = array.add %m, %one : tensor<i32>
        array.yield %k, %u, %l : tensor<i32>, tensor<?xf32>, tensor<i32>
      }
      %k = array.add %i, %one : tensor<i32>
      array.yield %k, %s#1, %s#2 : tensor<i32>, tensor<?xf32>, tensor<i32>
    }
    return %r#1, %r#2 : tensor<?xf32>, tensor<i32>
  }
"""

# One region assigns one variable, the other another; both read both.
ASSIGN = """  array.variable @NAME_a : tensor<3xf32> = dense<1.0>
  array.variable @NAME_b : tensor<3xf32> = dense<2.0>
  func.func @NAME_step(%p: tensor<i1>) -> tensor<3xf32> {
    %r = array.if %p : tensor<i1> -> (tensor<3xf32>) {
      %a = array.variable.read @NAME_a : tensor<3xf32>
      %b = array.variable.read @NAME_b : tensor<3xf32>
      %c = array.add %a, %b : tensor<3xf32>
      array.variable.assign @NAME_a, %c : tensor<3xf32>
      %again = array.variable.read @NAME_a : tensor<3xf32>
      array.yield %again : tensor<3xf32>
    } else {
      %a = array.variable.read @NAME_a : tensor<3xf32>
      array.variable.assign @NAME_b, %a : tensor<3xf32>
      array.yield %a : tensor<3xf32>
    }
    return %r : tensor<3xf32>
  }
  func.func @NAME_both() -> (tensor<3xf32>, tensor<3xf32>) {
    %a = array.variable.read @NAME_a : tensor<3xf32>
    %b = array.variable.read @NAME_b : tensor<3xf32>
    return %a, %b : tensor<3xf32>, tensor<3xf32>
  }
"""

# A function of several results, called twice and in a region.
CALLS = """  func.func private @NAME_divide(%x: tensor<4xi32>, %y: tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>) {
    %q = array.div %x, %y : tensor<4xi32>
    %r = array.rem %x, %y : tensor<4xi32>
    return %q, %r : tensor<4xi32>, tensor<4xi32>
  }
  func.func private @NAME_split(%x: tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>) {
    %ten = array.constant dense<10> : tensor<4xi32>
    %q, %r = func.call @NAME_divide(%x, %ten) : (tensor<4xi32>, tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>)
    return %q, %r : tensor<4xi32>, tensor<4xi32>
  }
  func.func @NAME(%x: tensor<4xi32>, %p: tensor<i1>) -> (tensor<4xi32>, tensor<4xi32>, tensor<4xi32>) {
    %q, %low = func.call @NAME_split(%x) : (tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>)
    %high, %middle = array.if %p : tensor<i1> -> (tensor<4xi32>, tensor<4xi32>) {
      %a, %b = func.call @NAME_split(%q) : (tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>)
      array.yield %a, %b : tensor<4xi32>, tensor<4xi32>
    } else {
      array.yield %q, %low : tensor<4xi32>, tensor<4xi32>
    }
    return %high, %middle, %low : tensor<4xi32>, tensor<4xi32>, tensor<4xi32>
  }
"""

# Values that a loop does not change, has twice, or gets from a view or a constant; the first value is used afterwards, too.
CARRIED = """  func.func @NAME(%x: tensor<2x3xf32>, %n: tensor<ui8>) -> (tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<i1>, tensor<2x3xf32>) {
    %flat = array.reshape %x : tensor<2x3xf32> -> tensor<6xf32>
    %ones = array.constant dense<1.0> : tensor<6xf32>
    %yes = array.constant dense<true> : tensor<i1>
    %one = array.constant dense<1> : tensor<ui8>
    %zero = array.constant dense<0> : tensor<ui8>
    %r:5 = array.while %n, %flat, %flat, %ones, %yes
        : (tensor<ui8>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<i1>)
        -> (tensor<ui8>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<i1>) condition {
    ^bb0(%i: tensor<ui8>, %a: tensor<6xf32>, %b: tensor<6xf32>, %c: tensor<6xf32>, %p: tensor<i1>):
      %more = array.compare gt, %i, %zero : (tensor<ui8>, tensor<ui8>) -> tensor<i1>
      array.yield %more : tensor<i1>
    } body {
    ^bb0(%i: tensor<ui8>, %a: tensor<6xf32>, %b: tensor<6xf32>, %c: tensor<6xf32>, %p: tensor<i1>):
      %j = array.sub %i, %one : tensor<ui8>
      %m = array.reshape %a : tensor<6xf32> -> tensor<3x2xf32>
      %t = array.transpose %m permutation = [1, 0] : tensor<3x2xf32> -> tensor<2x3xf32>
      %u = array.reshape %t : tensor<2x3xf32> -> tensor<6xf32>
      %v = array.add %c, %b : tensor<6xf32>
      %q = array.logical_not %p : tensor<i1>
      array.yield %j, %u, %b, %v, %q : tensor<ui8>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<i1>
    }
    %again = array.mul %x, %x : tensor<2x3xf32>
    return %r#1, %r#2, %r#3, %r#4, %again : tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<i1>, tensor<2x3xf32>
  }
"""

# The condition is a loop itself: the sum of all numbers up to a value.
CONDITION = """  func.func @NAME(%x: tensor<i32>, %limit: tensor<i32>) -> tensor<i32> {
    %zero = array.constant dense<0> : tensor<i32>
    %one = array.constant dense<1> : tensor<i32>
    %r = array.while %x : (tensor<i32>) -> tensor<i32> condition {
    ^bb0(%v: tensor<i32>):
      %s:2 = array.while %v, %zero : (tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>) condition {
      ^bb0(%i: tensor<i32>, %sum: tensor<i32>):
        %more = array.compare gt, %i, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
        array.yield %more : tensor<i1>
      } body {
      ^bb0(%i: tensor<i32>, %sum: tensor<i32>):
        %j = array.sub %i, %one : tensor<i32>
        %t = array.add %sum, %i : tensor<i32>
        array.yield %j, %t : tensor<i32>, tensor<i32>
      }
      %below = array.compare lt, %s#1, %limit : (tensor<i32>, tensor<i32>) -> tensor<i1>
      array.yield %below : tensor<i1>
    } body {
    ^bb0(%v: tensor<i32>):
      %w = array.add %v, %one : tensor<i32>
      array.yield %w : tensor<i32>
    }
    return %r : tensor<i32>
  }
"""

# What a region uses from outside begins where nothing is aligned.
VIEW = """  func.func @NAME(%x: tensor<40xf32>, %y: tensor<32xf32>, %n: tensor<i32>, %p: tensor<i1>) -> (tensor<32xf32>, tensor<32xf32>) {
    %zero = array.constant dense<0> : tensor<i32>
    %one = array.constant dense<1> : tensor<i32>
    %part = array.slice %x [3:35] : tensor<40xf32> -> tensor<32xf32>
    %r:2 = array.while %zero, %y : (tensor<i32>, tensor<32xf32>) -> (tensor<i32>, tensor<32xf32>) condition {
    ^bb0(%i: tensor<i32>, %v: tensor<32xf32>):
      %more = array.compare lt, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      array.yield %more : tensor<i1>
    } body {
    ^bb0(%i: tensor<i32>, %v: tensor<32xf32>):
      %j = array.add %i, %one : tensor<i32>
      %w = array.if %p : tensor<i1> -> (tensor<32xf32>) {
        %a = array.add %v, %part : tensor<32xf32>
        array.yield %a : tensor<32xf32>
      } else {
        %b = array.sub %v, %part : tensor<32xf32>
        array.yield %b : tensor<32xf32>
      }
      array.yield %j, %w : tensor<i32>, tensor<32xf32>
    }
    return %r#1, %part : tensor<32xf32>, tensor<32xf32>
  }
"""

# Logistic regression on one batch, the weights in a variable; the loss of every step goes to its place.
LOGISTIC = """  array.variable @NAME_w : tensor<5x3xf32> = dense<0.0>
  func.func @NAME_train(%x: tensor<32x5xf32>, %y: tensor<32x3xf32>, %steps: tensor<i32>) -> tensor<16xf32> {
    %zero = array.constant dense<0> : tensor<i32>
    %one = array.constant dense<1> : tensor<i32>
    %rate = array.constant dense<0.015625> : tensor<f32>
    %none = array.constant dense<0.0> : tensor<16xf32>
    %r:2 = array.while %zero, %none : (tensor<i32>, tensor<16xf32>) -> (tensor<i32>, tensor<16xf32>) condition {
    ^bb0(%i: tensor<i32>, %losses: tensor<16xf32>):
      %more = array.compare lt, %i, %steps : (tensor<i32>, tensor<i32>) -> tensor<i1>
      array.yield %more : tensor<i1>
    } body {
    ^bb0(%i: tensor<i32>, %losses: tensor<16xf32>):
      %w = array.variable.read @NAME_w : tensor<5x3xf32>
      %logits = array.matmul %x, %w : (tensor<32x5xf32>, tensor<5x3xf32>) -> tensor<32x3xf32>
      %log = array.log_softmax %logits axis = 1 : tensor<32x3xf32>
      %p = array.exp %log : tensor<32x3xf32>
      %hit = array.mul %log, %y : tensor<32x3xf32>
      %sum = array.reduce sum, %hit axes = [0, 1] : tensor<32x3xf32> -> tensor<f32>
      %loss = array.neg %sum : tensor<f32>
      %off = array.sub %p, %y : tensor<32x3xf32>
      %xt = array.transpose %x permutation = [1, 0] : tensor<32x5xf32> -> tensor<5x32xf32>
      %gradient = array.matmul %xt, %off : (tensor<5x32xf32>, tensor<32x3xf32>) -> tensor<5x3xf32>
      %change = array.mul %gradient, %rate : (tensor<5x3xf32>, tensor<f32>) -> tensor<5x3xf32>
      %next = array.sub %w, %change : tensor<5x3xf32>
      array.variable.assign @NAME_w, %next : tensor<5x3xf32>
      %row = array.reshape %loss : tensor<f32> -> tensor<1xf32>
      %kept = array.dynamic_update_slice %losses[%i] = %row : (tensor<16xf32>, tensor<1xf32>, tensor<i32>) -> tensor<16xf32>
      %j = array.add %i, %one : tensor<i32>
      array.yield %j, %kept : tensor<i32>, tensor<16xf32>
    }
    return %r#1 : tensor<16xf32>
  }
  func.func @NAME_weights() -> tensor<5x3xf32> {
    %w = array.variable.read @NAME_w : tensor<5x3xf32>
    return %w : tensor<5x3xf32>
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
    for count in (3, 4):
        marks = np.array([True, False, True])
        yield simple(f"if_at_least_{count}", [scalar(count, "i64"), scalar(4, "i64"), Tensor("i1", marks)],
                     [("i1", marks ^ True if count >= 4 else marks)],
                     """%p = array.compare ge, %0, %1 : (tensor<i64>, tensor<i64>) -> tensor<i1>
                        %r0 = array.if %p : tensor<i1> -> (tensor<3xi1>) {
                          %a = array.xor %2, %p : (tensor<3xi1>, tensor<i1>) -> tensor<3xi1>
                          array.yield %a : tensor<3xi1>
                        } else {
                          array.yield %2 : tensor<3xi1>
                        }""", "exact")


def nested():
    steps = []
    for n, rows in ((5, 0), (5, 1), (1, 4), (70, 3), (0, 2)):
        x = random("f32", (n,), n)
        x = Tensor("f32", np.round(x.values * 4))
        want, count = x.values, 0
        for i in range(rows):
            for j in range(i + 1):
                want = want + x.values if (i + j) % 2 == 0 else -want
                count += 1
        steps.append(Step([x, scalar(rows)], [("f32", want), ("i32", count)]))
    yield Case("nested", NESTED, steps, "exact")


def assignments():
    a, b, steps = np.full(3, 1.0), np.full(3, 2.0), []
    for p in (True, False, True, True, False):
        a, b = (a + b, b) if p else (a, a)
        steps += [Step([scalar(p, "i1")], [("f32", a)], "_step"), Step([], [("f32", a), ("f32", b)], "_both")]
    yield Case("assign", ASSIGN, steps, "exact")


def carried():
    x = random("f32", (2, 3), 8)
    steps = []
    for n in (0, 1, 2, 5):
        a, b = x.values.reshape(6), x.values.reshape(6)
        c = np.float32(1)
        for _ in range(n):
            a, c = a.reshape(3, 2).T.reshape(6), np.float32(c + np.float32(b))
        steps.append(Step([x, scalar(n, "u8")], [("f32", a), ("f32", b), ("f32", np.broadcast_to(c, 6)), ("i1", n % 2 == 0),
                                                 ("f32", x.values ** 2)]))
    yield Case("carried", CARRIED, steps, "rounded")


def logistic():
    x, labels = random("f32", (32, 5), 9), np.arange(32) % 3
    y = Tensor("f32", np.eye(3)[labels])
    weights, losses, steps = np.zeros((5, 3)), np.zeros(16), []
    for count in (3, 0, 16):
        losses = np.zeros(16)
        for i in range(count):
            logits = x.values @ weights
            log = logits - np.log(np.exp(logits).sum(1, keepdims=True))
            losses[i] = -(log * y.values).sum()
            weights = weights - x.values.T @ (np.exp(log) - y.values) * 0.015625
        steps += [Step([x, y, scalar(count)], [("f32", losses)], "_train"), Step([], [("f32", weights)], "_weights")]
    yield Case("logistic", LOGISTIC, steps, "sum")


def cases():
    yield from choices()
    yield from nested()
    yield from assignments()
    yield from carried()
    yield from logistic()
    x, y = Tensor("f32", np.arange(40)), Tensor("f32", np.arange(32) * 100)
    part = x.values[3:35]
    yield Case("view", VIEW, [Step([x, y, scalar(3), scalar(True, "i1")], [("f32", y.values + 3 * part), ("f32", part)]),
                              Step([x, y, scalar(2), scalar(False, "i1")], [("f32", y.values - 2 * part), ("f32", part)])], "exact")
    x = Tensor("i32", np.array([1234, 7, -85, 960]))
    high, middle, low = np.fix(x.values / 100), np.fix(np.fmod(x.values, 100) / 10), np.fmod(x.values, 10)
    yield Case("calls", CALLS, [Step([x, scalar(True, "i1")], [("i32", high), ("i32", middle), ("i32", low)]),
                                Step([x, scalar(False, "i1")], [("i32", np.fix(x.values / 10)), ("i32", low), ("i32", low)])],
               "exact")
    steps = []
    for start, limit in ((0, 0), (0, 1), (2, 30), (9, 3)):
        last = start
        while last * (last + 1) // 2 < limit:
            last += 1
        steps.append(Step([scalar(start), scalar(limit)], [("i32", last)]))
    yield Case("condition", CONDITION, steps, "exact")
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
    for n, count in ((1, 5), (40, 1000), (7, 0), (65, 30)):
        x, y, w = random("f32", (n, 4), n, -1, 1), random("f32", (n, 1), n + 1), np.zeros((4, 1))
        for _ in range(count):
            w = w - x.values.T @ (x.values @ w - y.values) * (0.5 / n)
        steps.append(Step([x, y, scalar(count)], [("f32", w)]))
    yield Case("training_of_batch", TRAINING_OF_BATCH, steps, "model")
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
