"""Ifs that sizes decide, and what regions require of sizes where they run."""
import numpy as np

from cases.control import scalar
from harness import Case, Step
from tensors import Tensor, random


def by_sizes(name, condition, holds):
    """An if that the host decides, beside one in a loop; `condition` makes %p of the numbers %n and %m."""
    text = f"""  func.func @NAME(%x: tensor<?xf32>, %y: tensor<?xf32>, %limit: tensor<i32>) -> (tensor<?xf32>, tensor<?xf32>) {{
    %dn = array.dim %x, 0 : tensor<?xf32>
    %dm = array.dim %y, 0 : tensor<?xf32>
    %n = array.from_index %dn : tensor<i64>
    %m = array.from_index %dm : tensor<i64>
    %zero = array.constant dense<0> : tensor<i32>
    %one = array.constant dense<1> : tensor<i32>
    %half = array.constant dense<0.5> : tensor<f32>
    {condition}
    %a = array.neg %x : tensor<?xf32>
    %r = array.if %p : tensor<i1> -> (tensor<?xf32>) {{
      %sum = array.reduce sum, %a axes = [0] keepdims : tensor<?xf32> -> tensor<1xf32>
      %t = array.sub %a, %sum : (tensor<?xf32>, tensor<1xf32>) -> tensor<?xf32>
      array.yield %t : tensor<?xf32>
    }} else {{
      array.yield %a : tensor<?xf32>
    }}
    %h = array.mul %r, %half : (tensor<?xf32>, tensor<f32>) -> tensor<?xf32>
    %i, %z = array.while %zero, %y : (tensor<i32>, tensor<?xf32>) -> (tensor<i32>, tensor<?xf32>) condition {{
    ^bb0(%i: tensor<i32>, %v: tensor<?xf32>):
      %more = array.compare lt, %i, %limit : (tensor<i32>, tensor<i32>) -> tensor<i1>
      array.yield %more : tensor<i1>
    }} body {{
    ^bb0(%i: tensor<i32>, %v: tensor<?xf32>):
      %next = array.add %i, %one : tensor<i32>
      %w = array.if %p : tensor<i1> -> (tensor<?xf32>) {{
        %u = array.mul %v, %half : (tensor<?xf32>, tensor<f32>) -> tensor<?xf32>
        array.yield %u : tensor<?xf32>
      }} else {{
        %u = array.reverse %v axes = [0] : tensor<?xf32> -> tensor<?xf32>
        array.yield %u : tensor<?xf32>
      }}
      array.yield %next, %w : tensor<i32>, tensor<?xf32>
    }}
    return %h, %z : tensor<?xf32>, tensor<?xf32>
  }}
"""
    steps = []
    for n, m in ((1, 1), (5, 9), (300, 2), (3, 9), (0, 0), (7, 9), (2, 40)):
        x, y = random("f32", (n,), n), random("f32", (m,), m + 1)
        first = (-x.values - -x.values.sum(keepdims=True) if holds(n, m) else -x.values) * 0.5
        second = y.values * 0.125 if holds(n, m) else y.values[::-1]
        steps.append(Step([x, y, scalar(3)], [("f32", first), ("f32", second)]))
    return Case(f"by_sizes_{name}", text, steps, "sum", one_call=True, recordings=2)


def sizes_decide():
    difference = """%two = array.constant dense<2> : tensor<i64>
    %three = array.constant dense<-3> : tensor<i64>
    %twice = array.mul %n, %two : tensor<i64>
    %d = array.sub %twice, %m : tensor<i64>
    %p = array.compare {0}, %d, %three : (tensor<i64>, tensor<i64>) -> tensor<i1>"""
    for direction in ("lt", "le", "gt", "ge", "eq", "ne"):
        yield by_sizes(direction, difference.format(direction), lambda n, m, d=direction: bool(
            {"lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal, "eq": np.equal,
             "ne": np.not_equal}[d](2 * n - m, -3)))
    logic = """%five = array.constant dense<5> : tensor<i64>
    %q = array.compare lt, %n, %m : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %s = array.compare ge, %n, %five : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %p = array.{0} %q, %s : tensor<i1>"""
    for name, function in (("and", np.logical_and), ("or", np.logical_or), ("xor", np.logical_xor)):
        yield by_sizes(name, logic.format(name), lambda n, m, f=function: bool(f(n < m, n >= 5)))


def loops_over_nothing():
    """What a loop's body requires of sizes, it requires where there is an iteration."""
    rows = """  func.func @NAME(%x: tensor<?x3xf32>, %most: tensor<f32>) -> (tensor<3xf32>, tensor<i32>) {
    %n = array.dim %x, 0 : tensor<?x3xf32>
    %count = array.from_index %n : tensor<i32>
    %zero = array.constant dense<0> : tensor<i32>
    %one = array.constant dense<1> : tensor<i32>
    %sum0 = array.constant dense<0.0> : tensor<3xf32>
    %r:2 = array.while %zero, %sum0 : (tensor<i32>, tensor<3xf32>) -> (tensor<i32>, tensor<3xf32>) condition {
    ^bb0(%i: tensor<i32>, %sum: tensor<3xf32>):
      %more = array.compare lt, %i, %count : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %first = array.slice %sum [0:1] : tensor<3xf32> -> tensor<1xf32>
      %scalar = array.reshape %first : tensor<1xf32> -> tensor<f32>
      %small = array.compare lt, %scalar, %most : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %p = array.and %more, %small : tensor<i1>
      array.yield %p : tensor<i1>
    } body {
    ^bb0(%i: tensor<i32>, %sum: tensor<3xf32>):
      %row = array.take %x[%i] axis = 0 : (tensor<?x3xf32>, tensor<i32>) -> tensor<3xf32>
      %next = array.add %sum, %row : tensor<3xf32>
      %j = array.add %i, %one : tensor<i32>
      array.yield %j, %next : tensor<i32>, tensor<3xf32>
    }
    return %r#1, %r#0 : tensor<3xf32>, tensor<i32>
  }
"""
    def reference(x, most):
        total, i = np.zeros(3), 0
        while i < len(x) and total[0] < most:
            total, i = total + x[i], i + 1
        return total, i

    steps = []
    for n, most in ((0, 9), (1, 9), (4, 9), (0, 9), (4, 0.5), (4, -1)):
        x = np.ones((n, 3)) * [1, 2, 3]
        total, count = reference(x, most)
        steps.append(Step([Tensor("f32", x), Tensor("f32", np.array(most))], [("f32", total), ("i32", np.array(count))]))
    yield Case("loop_over_rows", rows, steps, "sum")

    # The inner loop decides for itself; a count down begins with the size.
    places = """  func.func @NAME(%x: tensor<?x?xf32>) -> tensor<f32> {
    %n = array.dim %x, 0 : tensor<?x?xf32>
    %m = array.dim %x, 1 : tensor<?x?xf32>
    %rows = array.from_index %n : tensor<i32>
    %columns = array.from_index %m : tensor<i64>
    %zero = array.constant dense<0> : tensor<i32>
    %none = array.constant dense<0> : tensor<i64>
    %one = array.constant dense<1> : tensor<i32>
    %step = array.constant dense<1> : tensor<i64>
    %sum0 = array.constant dense<0.0> : tensor<f32>
    %r:2 = array.while %rows, %sum0 : (tensor<i32>, tensor<f32>) -> (tensor<i32>, tensor<f32>) condition {
    ^bb0(%i: tensor<i32>, %sum: tensor<f32>):
      %more = array.compare gt, %i, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
      array.yield %more : tensor<i1>
    } body {
    ^bb0(%i: tensor<i32>, %sum: tensor<f32>):
      %k = array.sub %i, %one : tensor<i32>
      %row = array.take %x[%k] axis = 0 : (tensor<?x?xf32>, tensor<i32>) -> tensor<?xf32>
      %s:2 = array.while %none, %sum : (tensor<i64>, tensor<f32>) -> (tensor<i64>, tensor<f32>) condition {
      ^bb1(%j: tensor<i64>, %part: tensor<f32>):
        %left = array.compare lt, %j, %columns : (tensor<i64>, tensor<i64>) -> tensor<i1>
        array.yield %left : tensor<i1>
      } body {
      ^bb1(%j: tensor<i64>, %part: tensor<f32>):
        %e = array.take %row[%j] axis = 0 : (tensor<?xf32>, tensor<i64>) -> tensor<f32>
        %t = array.add %part, %e : tensor<f32>
        %l = array.add %j, %step : tensor<i64>
        array.yield %l, %t : tensor<i64>, tensor<f32>
      }
      array.yield %k, %s#1 : tensor<i32>, tensor<f32>
    }
    return %r#1 : tensor<f32>
  }
"""
    steps = []
    for shape in ((2, 3), (0, 3), (2, 0), (0, 0), (1, 1)):
        x = random("f32", shape, 5)
        steps.append(Step([x], [("f32", x.values.sum())]))
    yield Case("loop_over_places", places, steps, "sum")


def requirements_of_choices():
    """What a region requires of sizes that it is not chosen for: more than there are, equal ones, a quotient by zero, and fewer than a range allows."""
    vector, grid = "tensor<?xf32>", "tensor<?x?xf32>"

    def choose(name, condition, then, inputs, wanted, attributes="", types=(vector, vector), ranges=""):
        arguments = ", ".join(f"{n}: {t}{a}" for n, t, a in zip(("%x", "%y"), types, attributes or ("", "")))
        text = f"""  func.func @NAME({arguments}) -> tensor<f32>{ranges} {{
    %dn = array.dim %x, 0 : {vector}
    %dm = array.dim %y, 0 : {vector}
    %n = array.from_index %dn : tensor<i64>
    %m = array.from_index %dm : tensor<i64>
    %eight = array.constant dense<8> : tensor<i64>
    %p = array.compare {condition} : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %r = array.if %p : tensor<i1> -> (tensor<f32>) {{
{then}
      array.yield %t : tensor<f32>
    }} else {{
      %u = array.reduce sum, %x axes = [0] : {vector} -> tensor<f32>
      %v = array.reduce sum, %y axes = [0] : {vector} -> tensor<f32>
      %t = array.sub %u, %v : tensor<f32>
      array.yield %t : tensor<f32>
    }}
    return %r : tensor<f32>
  }}
"""
        steps = []
        for n, m in inputs:
            x, y = random("f32", (n,), n), random("f32", (m,), m + 1)
            result = wanted(x.values, y.values)
            steps.append(Step([x, y], error=result) if isinstance(result, str) else
                         Step([x, y], [("f32", x.values.sum() - y.values.sum() if result is None else result)]))
        one_call = all(s.expected for s in steps)
        return Case(f"requirements_{name}", text, steps, "sum", one_call=one_call, recordings=2 if one_call and not ranges else 1)

    yield choose("slice", "ge, %n, %eight", f"""      %s = array.slice %x [0:8] : {vector} -> tensor<8xf32>
      %t = array.reduce prod, %s axes = [0] : tensor<8xf32> -> tensor<f32>""",
                 ((3, 2), (8, 1), (40, 3), (0, 0), (9, 9)), lambda x, y: x[:8].prod() if len(x) >= 8 else None)
    # Where it is chosen, it is checked.
    yield choose("slice_chosen", "gt, %n, %m", f"""      %s = array.slice %x [0:8] : {vector} -> tensor<8xf32>
      %t = array.reduce prod, %s axes = [0] : tensor<8xf32> -> tensor<f32>""",
                 ((3, 4), (9, 4), (3, 2), (7, 0)),
                 lambda x, y: None if len(x) <= len(y) else x[:8].prod() if len(x) >= 8 else f"got 8 and {len(x)}")
    yield choose("equal", "eq, %n, %m", f"""      %s = array.mul %x, %y : {vector}
      %t = array.reduce sum, %s axes = [0] : {vector} -> tensor<f32>""",
                 ((3, 3), (3, 5), (1, 5), (5, 1), (0, 0)), lambda x, y: (x * y).sum() if len(x) == len(y) else None)
    yield choose("reshape", "eq, %n, %eight", f"""      %s = array.reshape %x : {vector} -> tensor<2x4xf32>
      %c = array.reduce prod, %s axes = [0] : tensor<2x4xf32> -> tensor<4xf32>
      %t = array.reduce sum, %c axes = [0] : tensor<4xf32> -> tensor<f32>""",
                 ((8, 3), (7, 5), (16, 5), (0, 1)), lambda x, y: x.reshape(2, 4).prod(0).sum() if len(x) == 8 else None)
    yield choose("quotient", "ge, %m, %eight", f"""      %q = arith.divui %dn, %dm : index
      %e = arith.muli %q, %dm : index
      %b = array.broadcast_in_dim %y axes = [1] sizes(%q, %dm) : {vector} -> {grid}
      %s = array.reshape %x sizes(%q, %dm) : {vector} -> {grid}
      %w = array.mul %s, %b : {grid}
      %t = array.reduce sum, %w axes = [0, 1] : {grid} -> tensor<f32>""",
                 ((3, 0), (16, 8), (5, 3), (0, 0), (27, 9), (0, 8)),
                 lambda x, y: (x.reshape(-1, len(y)) * y).sum() if len(y) >= 8 else None)
    names = (' {array.dims = ["n"]}', ' {array.dims = ["m"]}')
    ranges = " attributes {array.dim_range = {n = [16, 4096, 1], m = [0, 12, 1]}}"
    yield choose("ranges", "eq, %n, %m", f"""      %s = array.mul %x, %y : {vector}
      %t = array.reduce sum, %s axes = [0] : {vector} -> tensor<f32>""",
                 ((16, 12), (40, 0)), lambda x, y: None, names, ranges=ranges)
    yield choose("at_most", "le, %n, %eight", f"""      %z = array.constant dense<1.0> : tensor<12xf32>
      %at = array.constant dense<0> : tensor<i64>
      %s = array.dynamic_update_slice %z[%at] = %x : (tensor<12xf32>, {vector}, tensor<i64>) -> tensor<12xf32>
      %t = array.reduce prod, %s axes = [0] : tensor<12xf32> -> tensor<f32>""",
                 ((16, 12), (40, 0)), lambda x, y: None, names, ranges=ranges)


def cases():
    yield from requirements_of_choices()
    yield from sizes_decide()
    yield from loops_over_nothing()
