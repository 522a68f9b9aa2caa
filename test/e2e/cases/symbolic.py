"""Dims that are known when inputs are bound: one compiled function, many sizes, sizes that disagree."""
import re

import numpy as np

from cases import pool
from harness import Case, Step
from tensors import Tensor, random

SIZES = (1, 7, 8, 9, 33, 64, 257, 0)


def over_sizes(name, text, shape_of, reference, kind="rounded", sizes=SIZES, dtypes=("f32",), errors=()):
    steps = []
    for size in sizes:
        inputs = [random(dtype, shape, 40 + i) for i, (dtype, shape) in enumerate(zip(dtypes, shape_of(size)))]
        results = reference(*(tensor.values for tensor in inputs))
        steps.append(Step(inputs, [("f32", result) for result in results]))
    return Case(name, text, steps + list(errors), kind)


def softmax(x):
    e = np.exp(x - x.max(1, keepdims=True)) if x.size else x
    return e / e.sum(1, keepdims=True) if x.size else x


def several_ops():
    """Kernels of several symbols in one function, and sizes of one that are formulas of the results of another."""
    yield over_sizes("several_ops", """  func.func @NAME(%x: tensor<?x?xf32>, %z: tensor<?xf32>) -> (tensor<?x?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) {
    %a = array.softmax %x axis = 1 : tensor<?x?xf32>
    %c = array.reduce sum, %a axes = [0] : tensor<?x?xf32> -> tensor<?xf32>
    %f = array.cumsum %z axis = 0 : tensor<?xf32> -> tensor<?xf32>
    %s = array.sort %z axis = 0 : tensor<?xf32> -> tensor<?xf32>
    return %a, %c, %f, %s : tensor<?x?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>
  }
""", lambda n: [(n, 5), (3 * n + 1,)], lambda x, z: [softmax(x), softmax(x).sum(0), z.cumsum(), np.sort(z)], "sum",
                     sizes=(1, 7, 300), dtypes=("f32", "f32"))


def elementwise():
    yield over_sizes("elementwise", """  func.func @NAME(%a: tensor<?x17xf32>, %b: tensor<?x17xf32>) -> (tensor<?x17xf32>) {
    %s = array.add %a, %b : tensor<?x17xf32>
    %m = array.mul %s, %a : tensor<?x17xf32>
    return %m : tensor<?x17xf32>
  }
""", lambda n: [(n, 17), (n, 17)], lambda a, b: [(a + b) * a], "composite", dtypes=("f32", "f32"),
        errors=[Step([random("f32", (3, 17), 1), random("f32", (4, 17), 2)], error=r"3\b.*4\b|4\b.*3\b"),
                Step([random("f32", (3, 16), 1), random("f32", (3, 17), 2)], error="16"),
                Step([random("f32", (3,), 1), random("f32", (3, 17), 2)], error="rank|dimension"),
                Step([random("f64", (3, 17), 1), random("f32", (3, 17), 2)], error="f64"),
                Step([random("f32", (3, 17), 1)], error="bound|input 1|missing")])
    yield over_sizes("inner_dim", """  func.func @NAME(%a: tensor<5x?xf32>) -> (tensor<5x?xf32>) {
    %s = array.neg %a : tensor<5x?xf32>
    return %s : tensor<5x?xf32>
  }
""", lambda n: [(5, n)], lambda a: [-a], "exact")
    yield over_sizes("row_broadcast", """  func.func @NAME(%a: tensor<?x?xf32>, %b: tensor<?xf32>) -> (tensor<?x?xf32>) {
    %s = array.sub %a, %b : (tensor<?x?xf32>, tensor<?xf32>) -> tensor<?x?xf32>
    return %s : tensor<?x?xf32>
  }
""", lambda n: [(n, n + 2), (n + 2,)], lambda a, b: [a - b], dtypes=("f32", "f32"))


def ranges():
    """Multiples of 8, of at most 4096: kernels get an eighth of the size, and have no other variant for what cannot be. The
    second input's name is the one that is known, the first one's size turns out to be the same."""
    text = """  func.func @NAME(%a: tensor<?x?xf32>, %b: tensor<?xf32> {array.dims = ["columns"]}, %w: tensor<?x24xf16> {array.dims = ["k", ""]},
                  %x: tensor<?x?xf16> {array.dims = ["rows", "k"]}) -> (tensor<?x?xf32>, tensor<?x24xf16>, tensor<?xf32>)
      attributes {array.dim_range = {columns = [8, 4096, 8], k = [16, 64, 16], rows = [0, 100, 4]}} {
    %s = array.add %a, %b : (tensor<?x?xf32>, tensor<?xf32>) -> tensor<?x?xf32>
    %t = array.transpose %s permutation = [1, 0] : tensor<?x?xf32> -> tensor<?x?xf32>
    %p = array.matmul %x, %w : (tensor<?x?xf16>, tensor<?x24xf16>) -> tensor<?x24xf16>
    %r = array.reduce sum, %t axes = [0] : tensor<?x?xf32> -> tensor<?xf32>
    return %t, %p, %r : tensor<?x?xf32>, tensor<?x24xf16>, tensor<?xf32>
  }
"""
    def inputs(rows, columns, k):
        return [random("f32", (3, columns), 50, -1, 1), random("f32", (columns,), 51, -1, 1), random("f16", (k, 24), 52, -1, 1),
                random("f16", (rows, k), 53, -1, 1)]

    steps = []
    for rows, columns, k in ((4, 8, 16), (100, 136, 64), (0, 4096, 32)):
        given = inputs(rows, columns, k)
        a, b, w, x = (tensor.values for tensor in given)
        steps.append(Step(given, [("f32", (a + b).T), ("f16", x @ w), ("f32", (a + b).sum(1))]))
    errors = [Step(inputs(4, 12, 16), error=r"12\b.*8\b|8\b.*12\b"), Step(inputs(4, 8, 128), error=r"128\b.*64\b|64\b.*128\b"),
              Step(inputs(2, 8, 16), error=r"2\b.*4\b|4\b.*2\b"), Step(inputs(4, 0, 16), error=r"\b0\b.*8\b|8\b.*\b0\b")]
    yield Case("ranges", text, steps + errors, "sum")
    yield over_sizes("range_without_end", """  func.func @NAME(%a: tensor<?xf32> {array.dims = ["n"]}) -> (tensor<?xf32>)
      attributes {array.dim_range = {n = [8, -1, 4]}} {
    %s = array.neg %a : tensor<?xf32>
    return %s : tensor<?xf32>
  }
""", lambda n: [(n,)], lambda a: [-a], "exact", sizes=(8, 12, 100_000),
                     errors=[Step([random("f32", (4,), 1)], error=r"at least 8, got 4"), Step([random("f32", (9,), 1)], error=r"a multiple of 4, got 9")])


def named():
    text = """  func.func @NAME(%a: tensor<?x?xf32> {array.dims = ["rows", "columns"]}, %b: tensor<?xf32> {array.dims = ["columns"]})
      -> (tensor<?xf32>) attributes {array.dim_range = {columns = [1, 64, 1]}} {
    %m = array.mul %a, %b : (tensor<?x?xf32>, tensor<?xf32>) -> tensor<?x?xf32>
    %s = array.reduce sum, %m axes = [1] : tensor<?x?xf32> -> tensor<?xf32>
    return %s : tensor<?xf32>
  }
"""
    yield over_sizes("named_dims", text, lambda n: [(n + 1, min(n + 3, 64)), (min(n + 3, 64),)], lambda a, b: [(a * b).sum(1)],
                     "sum", dtypes=("f32", "f32"),
                     errors=[Step([random("f32", (3, 5), 1), random("f32", (6,), 2)], error="columns"),
                             Step([random("f32", (3, 65), 1), random("f32", (65,), 2)], error="65.*64|64.*65")])


def kernels():
    yield over_sizes("softmax_rows", """  func.func @NAME(%x: tensor<?x45xf32>) -> (tensor<?x45xf32>) {
    %y = array.softmax %x axis = 1 : tensor<?x45xf32>
    return %y : tensor<?x45xf32>
  }
""", lambda n: [(n, 45)], lambda x: [softmax(x)], "composite")
    yield over_sizes("softmax_columns", """  func.func @NAME(%x: tensor<6x?xf32>) -> (tensor<6x?xf32>) {
    %y = array.softmax %x axis = 1 : tensor<6x?xf32>
    return %y : tensor<6x?xf32>
  }
""", lambda n: [(6, n)], lambda x: [softmax(x)], "composite", sizes=SIZES[:-1])
    for axis in (0, 1):
        yield over_sizes(f"sum_{axis}", f"""  func.func @NAME(%x: tensor<?x?xf32>) -> (tensor<?xf32>) {{
    %y = array.reduce sum, %x axes = [{axis}] : tensor<?x?xf32> -> tensor<?xf32>
    return %y : tensor<?xf32>
  }}
""", lambda n: [(n, 19)], lambda x: [x.sum(axis)], "sum")
    yield over_sizes("mean_all", """  func.func @NAME(%x: tensor<?x8xf32>) -> (tensor<f32>) {
    %y = array.mean %x axes = [0, 1] : tensor<?x8xf32> -> tensor<f32>
    return %y : tensor<f32>
  }
""", lambda n: [(n, 8)], lambda x: [x.mean()], "sum", sizes=SIZES[:-1])
    yield over_sizes("matmul_m", """  func.func @NAME(%a: tensor<?x40xf32>, %b: tensor<40x24xf32>) -> (tensor<?x24xf32>) {
    %c = array.matmul %a, %b : (tensor<?x40xf32>, tensor<40x24xf32>) -> tensor<?x24xf32>
    return %c : tensor<?x24xf32>
  }
""", lambda n: [(n, 40), (40, 24)], lambda a, b: [a @ b], "sum", dtypes=("f32", "f32"))
    yield over_sizes("matmul_k", """  func.func @NAME(%a: tensor<?x12xf32>, %b: tensor<?x24xf32>) -> (tensor<12x24xf32>) {
    %c = array.matmul %a, %b transpose_a : (tensor<?x12xf32>, tensor<?x24xf32>) -> tensor<12x24xf32>
    return %c : tensor<12x24xf32>
  }
""", lambda n: [(n, 12), (n, 24)], lambda a, b: [a.T @ b], "sum", dtypes=("f32", "f32"))
    yield over_sizes("matmul_all", """  func.func @NAME(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>) -> (tensor<?x?xf32>) {
    %c = array.matmul %a, %b : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
    return %c : tensor<?x?xf32>
  }
""", lambda n: [(n, n + 1), (n + 1, n + 2)], lambda a, b: [a @ b], "sum", dtypes=("f32", "f32"))
    yield over_sizes("batched_matmul", """  func.func @NAME(%a: tensor<?x9x8xf32>, %b: tensor<?x8x5xf32>) -> (tensor<?x9x5xf32>) {
    %c = array.matmul %a, %b : (tensor<?x9x8xf32>, tensor<?x8x5xf32>) -> tensor<?x9x5xf32>
    return %c : tensor<?x9x5xf32>
  }
""", lambda n: [(n, 9, 8), (n, 8, 5)], lambda a, b: [a @ b], "sum", dtypes=("f32", "f32"), sizes=(1, 2, 3, 0))


def shapes():
    yield over_sizes("concatenate", """  func.func @NAME(%a: tensor<?x5xf32>, %b: tensor<4x5xf32>) -> (tensor<?x5xf32>) {
    %c = array.concatenate %a, %b axis = 0 : (tensor<?x5xf32>, tensor<4x5xf32>) -> tensor<?x5xf32>
    return %c : tensor<?x5xf32>
  }
""", lambda n: [(n, 5), (4, 5)], lambda a, b: [np.concatenate([a, b])], "exact", dtypes=("f32", "f32"))
    yield over_sizes("transpose", """  func.func @NAME(%a: tensor<?x?xf32>) -> (tensor<?x?xf32>) {
    %c = array.transpose %a permutation = [1, 0] : tensor<?x?xf32> -> tensor<?x?xf32>
    return %c : tensor<?x?xf32>
  }
""", lambda n: [(n, n + 5)], lambda a: [a.T], "exact")
    yield over_sizes("reshape", """  func.func @NAME(%a: tensor<?x6xf32>) -> (tensor<?x2x3xf32>) {
    %c = array.reshape %a : tensor<?x6xf32> -> tensor<?x2x3xf32>
    %d = array.neg %c : tensor<?x2x3xf32>
    return %d : tensor<?x2x3xf32>
  }
""", lambda n: [(n, 6)], lambda a: [-a.reshape(-1, 2, 3)], "exact")
    yield over_sizes("flatten", """  func.func @NAME(%a: tensor<?x6xf32>) -> (tensor<?xf32>) {
    %c = array.reshape %a : tensor<?x6xf32> -> tensor<?xf32>
    return %c : tensor<?xf32>
  }
""", lambda n: [(n, 6)], lambda a: [a.reshape(-1)], "exact")
    yield over_sizes("slice_tail", """  func.func @NAME(%a: tensor<?x6xf32>) -> (tensor<?x6xf32>) {
    %c = array.slice %a [1:, :] : tensor<?x6xf32> -> tensor<?x6xf32>
    %d = array.neg %c : tensor<?x6xf32>
    return %d : tensor<?x6xf32>
  }
""", lambda n: [(n, 6)], lambda a: [-a[1:]], "exact", sizes=SIZES[:-1])
    yield over_sizes("count", """  func.func @NAME(%a: tensor<?x3xf32>) -> (tensor<f32>, tensor<?xf32>) {
    %n = array.dim %a, 0 : tensor<?x3xf32>
    %f = array.from_index %n : tensor<f32>
    %i = array.iota axis = 0 sizes(%n) : tensor<?xf32>
    return %f, %i : tensor<f32>, tensor<?xf32>
  }
""", lambda n: [(n, 3)], lambda a: [np.float64(len(a)), np.arange(len(a), dtype=np.float64)], "exact")
    yield over_sizes("broadcast_to", """  func.func @NAME(%a: tensor<?x3xf32>, %b: tensor<3xf32>) -> (tensor<?x3xf32>) {
    %n = array.dim %a, 0 : tensor<?x3xf32>
    %c = array.broadcast_in_dim %b axes = [1] sizes(%n) : tensor<3xf32> -> tensor<?x3xf32>
    return %c : tensor<?x3xf32>
  }
""", lambda n: [(n, 3), (3,)], lambda a, b: [np.broadcast_to(b, a.shape)], "exact", dtypes=("f32", "f32"))
    # Of no elements, whose number says nothing about the other dim.
    x = random("f32", (4, 5), 4)
    yield Case("no_repeats", """  func.func @NAME(%x: tensor<?x?xf32>, %v: tensor<?xf32>) -> (tensor<?x?xf32>, tensor<?x?xf32>, tensor<0x?xf32>) {
    %r = array.tile %x repeats = [0, 2] : tensor<?x?xf32> -> tensor<?x?xf32>
    %s = array.repeat %x repeats = 0 axis = 1 : tensor<?x?xf32> -> tensor<?x?xf32>
    %n = array.dim %v, 0 : tensor<?xf32>
    %t = array.slice %x [0:0, :] : tensor<?x?xf32> -> tensor<0x?xf32>
    %u = array.reshape %t sizes(%n) : tensor<0x?xf32> -> tensor<0x?xf32>
    return %r, %s, %u : tensor<?x?xf32>, tensor<?x?xf32>, tensor<0x?xf32>
  }
""", [Step([x, random("f32", (3,), 5)], [("f32", np.zeros(shape)) for shape in ((0, 10), (4, 0), (0, 3))])], "exact")
    table = random("f32", (20, 6), 3)
    yield Case("embedding", """  func.func @NAME(%t: tensor<20x6xf32>, %i: tensor<2x?xi32>) -> (tensor<2x?x6xf32>) {
    %c = array.take %t[%i] axis = 0 : (tensor<20x6xf32>, tensor<2x?xi32>) -> tensor<2x?x6xf32>
    return %c : tensor<2x?x6xf32>
  }
""", [Step([table, index], [("f32", table.values[index.values])])
      for index in (Tensor("i32", random("i32", (2, n), n, 0, 20).values) for n in (1, 5, 33, 0))], "exact")


def refused(name, text, good, bad, reference, kind="exact"):
    """Sizes that an op can work with and sizes that it cannot; `bad` is a list of (shapes, what the message says)."""
    def inputs(shapes):
        return [Tensor("i32", np.zeros(shape, np.int32)) if dtype == "i32" else random(dtype, shape, 60 + i)
                for i, (dtype, shape) in enumerate(shapes)]
    steps = []
    for shapes in good:
        given = inputs(shapes)
        steps.append(Step(given, [("f32", result) for result in reference(*(tensor.values for tensor in given))]))
    for shapes, message in bad:
        steps.append(Step(inputs(shapes), error=message))
    return Case(name, text, steps, kind)


def f32(*shapes):
    return [("f32", shape) for shape in shapes]


def requirements():
    """Sizes that only a call shows to disagree: no op may read or write beyond what is there, or drop elements."""
    yield refused("reshape_to_a_size", """  func.func @NAME(%x: tensor<?x?xf32> {array.name = "x"}) -> (tensor<4xf32>) {
    %y = array.reshape %x : tensor<?x?xf32> -> tensor<4xf32>
    return %y : tensor<4xf32>
  }
""", [f32((2, 2)), f32((1, 4))],
        [(f32((3, 3)), r"array.reshape: expected as many elements in .*, got 9 and 4 for x.0 = 3, x.1 = 3"),
         (f32((0, 5)), "got 0 and 4"), (f32((1, 3)), "got 3 and 4")], lambda x: [x.reshape(4)])
    yield refused("reshape_with_a_remainder", """  func.func @NAME(%x: tensor<?x8xf32>) -> (tensor<?x3xf32>) {
    %y = array.reshape %x : tensor<?x8xf32> -> tensor<?x3xf32>
    %z = array.neg %y : tensor<?x3xf32>
    return %z : tensor<?x3xf32>
  }
""", [f32((3, 8)), f32((6, 8)), f32((0, 8))], [(f32((2, 8)), "got 16 and 15"), (f32((1, 8)), "got 8 and 6")],
        lambda x: [-x.reshape(-1, 3)])
    yield refused("reshape_to_computed_sizes", """  func.func @NAME(%x: tensor<?x?xf32>, %w: tensor<?xf32>) -> (tensor<?x?xf32>) {
    %both = array.concatenate %x, %x axis = 0 : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
    %a = array.dim %x, 1 : tensor<?x?xf32>
    %b = array.dim %w, 0 : tensor<?xf32>
    %y = array.reshape %both sizes(%a, %b) : tensor<?x?xf32> -> tensor<?x?xf32>
    return %y : tensor<?x?xf32>
  }
""", [f32((2, 3), (4,)), f32((5, 2), (10,))], [(f32((2, 3), (3,)), "got 12 and 9"), (f32((2, 3), (5,)), "got 12 and 15")],
        lambda x, w: [np.concatenate([x, x]).reshape(x.shape[1], len(w))])
    yield refused("sum_of_sizes", """  func.func @NAME(%x: tensor<?xf32>, %w: tensor<?xf32>) -> (tensor<?xf32>) {
    %both = array.concatenate %x, %x axis = 0 : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
    %y = array.add %both, %w : tensor<?xf32>
    return %y : tensor<?xf32>
  }
""", [f32((3,), (6,)), f32((1,), (2,))], [(f32((3,), (5,)), "expected operands that agree in a dim.*6 and 5|5 and 6")],
        lambda x, w: [np.concatenate([x, x]) + w], "rounded")
    yield refused("sources_of_windows", """  func.func @NAME(%x: tensor<?x?xf32>, %s: tensor<?x?xf32>) -> (tensor<?x?xf32>) {
    %d = array.select_and_scatter max, %x, %s window = [1, 2] strides = [1, 2] : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
    return %d : tensor<?x?xf32>
  }
""", [f32((3, 8), (3, 4)), f32((1, 5), (1, 2)), f32((0, 2), (0, 1))],
        [(f32((5, 8), (3, 4)), "array.select_and_scatter: expected dim 0 of the source .*, got 3 and 5"),
         (f32((3, 8), (5, 4)), "dim 0 of the source .*, got 5 and 3"), (f32((300, 8), (1, 4)), "got 1 and 300"),
         (f32((3, 8), (3, 8)), "dim 1 of the source .*, got 8 and 4"), (f32((3, 3), (3, 3)), "got 3 and 1")],
        lambda x, s: [pool.scattered("max", x, s, window=[1, 2], strides=[1, 2])])
    yield refused("masks_of_rows", """  func.func @NAME(%x: tensor<?x4xf32>, %m: tensor<?xf32>) -> (tensor<?x4xf32>) {
    %zero = array.constant dense<0.0> : tensor<f32>
    %keep = array.compare gt, %m, %zero : (tensor<?xf32>, tensor<f32>) -> tensor<?xi1>
    %y = array.compress %x, %keep axis = 0 : (tensor<?x4xf32>, tensor<?xi1>) -> tensor<?x4xf32>
    %p = array.pad_to_bound %y, %zero : (tensor<?x4xf32>, tensor<f32>) -> tensor<?x4xf32>
    return %p : tensor<?x4xf32>
  }
""", [f32((3, 4), (3,)), f32((1, 4), (1,)), f32((0, 4), (0,))],
        [(f32((2, 4), (3,)), "array.compress: .*got 3 and 2"), (f32((3, 4), (2,)), "got 2 and 3"),
         (f32((3, 4), (1,)), "got 1 and 3")],
        lambda x, m: [np.concatenate([x[m > 0], np.zeros_like(x[~(m > 0)])])])
    # Sizes that are formulas, where something says what number they are: folds of types must not forget the formula.
    yield refused("a_slice_beside_a_number", """  func.func @NAME(%x: tensor<?xf32>, %w: tensor<4xf32>) -> (tensor<4xf32>) {
    %s = array.slice %x [2:] : tensor<?xf32> -> tensor<?xf32>
    %y = array.add %s, %w : (tensor<?xf32>, tensor<4xf32>) -> tensor<4xf32>
    return %y : tensor<4xf32>
  }
""", [f32((6,), (4,))], [(f32((7,), (4,)), "got 5 and 4"), (f32((5,), (4,)), "got 3 and 4")], lambda x, w: [x[2:] + w], "rounded")
    for name, text, good, bad, want in (
            ("slice", "array.slice %x [::2] : tensor<?xf32> -> tensor<4xf32>", (7, 8), ((2, "got 1 and 4"), (9, "got 5 and 4")), lambda x: x[::2]),
            ("slice_from", "array.slice %x [1:] : tensor<?xf32> -> tensor<4xf32>", (5,), ((2, "got 1 and 4"), (6, "got 5 and 4")), lambda x: x[1:]),
            ("pad", "array.pad %x, %z low = [1] high = [2] : (tensor<?xf32>, tensor<f32>) -> tensor<4xf32>", (1,), ((0, "got 3 and 4"), (2, "got 5 and 4")),
             lambda x: np.pad(x, (1, 2))),
            ("concatenation", "array.concatenate %x, %x axis = 0 : (tensor<?xf32>, tensor<?xf32>) -> tensor<4xf32>", (2,), ((1, "got 2 and 4"), (3, "got 6 and 4")),
             lambda x: np.concatenate([x, x])),
            ("box", "tensor.extract_slice %x [1] [4] [2] : tensor<?xf32> to tensor<4xf32>", (8, 11), ((7, "got 8 and 7"), (0, "got 8 and 0")), lambda x: x[1:8:2])):
        yield refused(f"a_{name}_of_a_number", f"""  func.func @NAME(%x: tensor<?xf32>) -> (tensor<4xf32>) {{
    %z = array.constant dense<0.0> : tensor<f32>
    %s = {text}
    %y = array.neg %s : tensor<4xf32>
    return %y : tensor<4xf32>
  }}
""", [f32((n,)) for n in good], [(f32((n,)), got) for n, got in bad], lambda x, want=want: [-want(x)])
    yield refused("parts_of_numbers", """  func.func @NAME(%x: tensor<?xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
    %a, %b = array.split %x axis = 0 parts = [3, 3] : tensor<?xf32> -> tensor<3xf32>, tensor<3xf32>
    return %a, %b : tensor<3xf32>, tensor<3xf32>
  }
""", [f32((6,))], [(f32((8,)), "got 5 and 3"), (f32((4,)), "got 1 and 3")], lambda x: [x[:3], x[3:]])
    yield refused("a_box_written", """  func.func @NAME(%x: tensor<?xf32>, %c: tensor<3xf32>) -> (tensor<?xf32>) {
    %y = tensor.insert_slice %c into %x [1] [3] [1] : tensor<3xf32> into tensor<?xf32>
    return %y : tensor<?xf32>
  }
""", [f32((4,), (3,)), f32((6,), (3,))], [(f32((3,), (3,)), "got 4 and 3")], lambda x, c: [np.concatenate([x[:1], c, x[4:]])])
    yield refused("a_slice_as_a_number", """  func.func @NAME(%x: tensor<?xf32>) -> (tensor<4xf32>) {
    %s = array.slice %x [::2] : tensor<?xf32> -> tensor<?xf32>
    %y = tensor.cast %s : tensor<?xf32> to tensor<4xf32>
    return %y : tensor<4xf32>
  }
""", [f32((7,)), f32((8,))], [(f32((9,)), "got 5 and 4"), (f32((6,)), "got 3 and 4")], lambda x: [x[::2]])
    yield refused("a_pool_as_a_number", """  func.func @NAME(%x: tensor<?xf32>) -> (tensor<4xf32>) {
    %s = array.slice %x [2:] : tensor<?xf32> -> tensor<?xf32>
    %m = array.reduce_window max, %s window = [2] strides = [2] : tensor<?xf32> -> tensor<?xf32>
    %y = tensor.cast %m : tensor<?xf32> to tensor<4xf32>
    return %y : tensor<4xf32>
  }
""", [f32((10,)), f32((11,))], [(f32((12,)), "got 5 and 4"), (f32((9,)), "got 3 and 4")],
        lambda x: [np.maximum(x[2:10:2], x[3:10:2])])
    yield refused("a_product_as_a_number", """  func.func @NAME(%x: tensor<?x3xf32>, %w: tensor<3x5xf32>) -> (tensor<4x5xf32>) {
    %s = array.slice %x [2:, :] : tensor<?x3xf32> -> tensor<?x3xf32>
    %m = array.matmul %s, %w : (tensor<?x3xf32>, tensor<3x5xf32>) -> tensor<?x5xf32>
    %y = tensor.cast %m : tensor<?x5xf32> to tensor<4x5xf32>
    return %y : tensor<4x5xf32>
  }
""", [f32((6, 3), (3, 5))], [(f32((7, 3), (3, 5)), "got 5 and 4"), (f32((3, 3), (3, 5)), "got 1 and 4")], lambda x, w: [x[2:] @ w], "sum")
    yield refused("a_size_beside_none", """  func.func @NAME(%x: tensor<?xf32>, %w: tensor<4xf32>) -> (tensor<4xf32>) {
    %y = array.add %x, %w : (tensor<?xf32>, tensor<4xf32>) -> tensor<4xf32>
    return %y : tensor<4xf32>
  }
""", [f32((4,), (4,))], [(f32((5,), (4,)), "4 and 5|5 and 4"), (f32((3,), (4,)), "4 and 3|3 and 4")],
        lambda x, w: [x + w], "rounded")
    yield refused("product_over_a_size", """  func.func @NAME(%a: tensor<3x?xf32>, %b: tensor<8x5xf32>) -> (tensor<3x5xf32>) {
    %c = array.matmul %a, %b : (tensor<3x?xf32>, tensor<8x5xf32>) -> tensor<3x5xf32>
    return %c : tensor<3x5xf32>
  }
""", [f32((3, 8), (8, 5))], [(f32((3, 9), (8, 5)), "8 and 9|9 and 8"), (f32((3, 1), (8, 5)), "8 and 1|1 and 8")],
        lambda a, b: [a @ b], "sum")
    yield refused("slice_within", """  func.func @NAME(%x: tensor<?x3xf32>) -> (tensor<3x3xf32>) {
    %y = array.slice %x [2:5, :] : tensor<?x3xf32> -> tensor<3x3xf32>
    return %y : tensor<3x3xf32>
  }
""", [f32((5, 3)), f32((9, 3))], [(f32((4, 3)), "expected a slice within dim 0 of the operand, got 5 and 4")],
        lambda x: [x[2:5]])
    yield refused("box_that_fits", """  func.func @NAME(%x: tensor<?xf32>, %i: tensor<i32>) -> (tensor<4xf32>) {
    %y = array.dynamic_slice %x[%i] : (tensor<?xf32>, tensor<i32>) -> tensor<4xf32>
    return %y : tensor<4xf32>
  }
""", [f32((4,)) + [("i32", ())], f32((9,)) + [("i32", ())]],
        [(f32((3,)) + [("i32", ())], "expected a box that fits into dim 0 of the operand, got 4 and 3")], lambda x, i: [x[:4]])
    yield refused("update_that_fits", """  func.func @NAME(%x: tensor<?xf32>, %u: tensor<?xf32>, %i: tensor<i32>) -> (tensor<?xf32>) {
    %y = array.dynamic_update_slice %x[%i] = %u : (tensor<?xf32>, tensor<?xf32>, tensor<i32>) -> tensor<?xf32>
    return %y : tensor<?xf32>
  }
""", [f32((4,), (2,)) + [("i32", ())], f32((4,), (4,)) + [("i32", ())]],
        [(f32((3,), (4,)) + [("i32", ())], "got 4 and 3")], lambda x, u, i: [np.concatenate([u, x[len(u):]])])
    yield refused("parts_that_join", """  func.func @NAME(%a: tensor<2x?xf32>, %b: tensor<3x?xf32>) -> (tensor<5x?xf32>) {
    %y = array.concatenate %a, %b axis = 0 : (tensor<2x?xf32>, tensor<3x?xf32>) -> tensor<5x?xf32>
    return %y : tensor<5x?xf32>
  }
""", [f32((2, 4), (3, 4))], [(f32((2, 4), (3, 5)), r"array.concatenate: .*got 5 and 4"), (f32((2, 4), (3, 3)), "got 3 and 4")],
        lambda a, b: [np.concatenate([a, b])])
    yield refused("broadcast_of_one", """  func.func @NAME(%x: tensor<?xf32>) -> (tensor<2x6xf32>) {
    %y = array.broadcast_in_dim %x axes = [1] : tensor<?xf32> -> tensor<2x6xf32>
    return %y : tensor<2x6xf32>
  }
""", [f32((6,)), f32((1,))], [(f32((5,)), "to be 1 or the result's dim 1, got 5 and 6"), (f32((7,)), "got 7 and 6")],
        lambda x: [np.broadcast_to(x, (2, 6))])
    yield refused("window_without_places", """  func.func @NAME(%x: tensor<?x5xf32>) -> (tensor<0x3xf32>) {
    %y = array.reduce_window max, %x window = [3, 3] : tensor<?x5xf32> -> tensor<0x3xf32>
    return %y : tensor<0x3xf32>
  }
""", [f32((2, 5)), f32((0, 5))], [(f32((3, 5)), "as many positions of the window along dim 0 of the operand as the result has, got 1 and 0"), (f32((7, 5)), "got 5 and 0")],
        lambda x: [np.zeros((0, 3))])
    yield refused("indices_beside", """  func.func @NAME(%x: tensor<?x7xf32>, %i: tensor<?x1xi32>) -> (tensor<?x1xf32>) {
    %y = array.take_along_axis %x[%i] axis = 1 : (tensor<?x7xf32>, tensor<?x1xi32>) -> tensor<?x1xf32>
    return %y : tensor<?x1xf32>
  }
""", [f32((3, 7)) + [("i32", (3, 1))]], [(f32((3, 7)) + [("i32", (4, 1))], "got 4 and 3")], lambda x, i: [x[:, :1]])
    yield refused("scattered_rows", """  func.func @NAME(%x: tensor<5x3xf32>, %i: tensor<?x1xi32>, %u: tensor<?x3xf32>) -> (tensor<5x3xf32>) {
    %y = array.scatter add, %x[%i] axes = [0] = %u : (tensor<5x3xf32>, tensor<?x1xi32>, tensor<?x3xf32>) -> tensor<5x3xf32>
    return %y : tensor<5x3xf32>
  }
""", [f32((5, 3)) + [("i32", (2, 1)), ("f32", (2, 3))]],
        [(f32((5, 3)) + [("i32", (3, 1)), ("f32", (2, 3))], "got 2 and 3")],
        lambda x, i, u: [np.concatenate([x[:1] + u.sum(0), x[1:]])], "sum")
    yield refused("components_to_scatter_to", """  func.func @NAME(%x: tensor<5x3xf32>, %i: tensor<?x?xi32>, %u: tensor<?x3xf32>) -> (tensor<5x3xf32>) {
    %y = array.scatter add, %x[%i] axes = [0] = %u : (tensor<5x3xf32>, tensor<?x?xi32>, tensor<?x3xf32>) -> tensor<5x3xf32>
    return %y : tensor<5x3xf32>
  }
""", [f32((5, 3)) + [("i32", (2, 1)), ("f32", (2, 3))]],
        [(f32((5, 3)) + [("i32", (2, 2)), ("f32", (2, 3))], "array.scatter: expected index vectors of 1 components, got 2 and 1")],
        lambda x, i, u: [np.concatenate([x[:1] + u.sum(0), x[1:]])], "sum")
    yield refused("components_to_gather_from", """  func.func @NAME(%x: tensor<5x3xf32>, %i: tensor<4x?xi32>) -> (tensor<4xf32>) {
    %y = array.gather %x[%i] axes = [0, 1] : (tensor<5x3xf32>, tensor<4x?xi32>) -> tensor<4xf32>
    return %y : tensor<4xf32>
  }
""", [f32((5, 3)) + [("i32", (4, 2))]],
        [(f32((5, 3)) + [("i32", (4, 1))], "array.gather: expected index vectors of 2 components, got 1 and 2")],
        lambda x, i: [np.repeat(x[0, 0], 4)])


def temporaries():
    """Results of many symbolic sizes, which take turns in the call's memory."""
    def growing(x, y):
        for _ in range(8):
            x = softmax(np.concatenate([x, y]).T).T
        return [x]

    some, lines, last = "tensor<?x4xf32>", [], "%x"
    for i in range(8):
        lines += [f"    %c{i} = array.concatenate {last}, %y axis = 0 : ({some}, {some}) -> {some}",
                  f"    %s{i} = array.softmax %c{i} axis = 0 : {some}"]
        last = f"%s{i}"
    text = f"  func.func @NAME(%x: {some}, %y: {some}) -> ({some}) {{\n" + "\n".join(lines) + f"\n    return {last} : {some}\n  }}\n"
    yield over_sizes("growing", text, lambda n: [(n, 4), (n // 2 + 1, 4)], growing, "sum", sizes=(1, 5, 33, 200), dtypes=("f32", "f32"))
    # Rows that are no multiple of what buffers are aligned to, some of which live longer than others.
    widths = (16, 10, 300, 7, 64, 3)
    weights = [("f32", (a, b)) for a, b in zip(widths, widths[1:])]
    lines = []
    for i, (a, b) in enumerate(zip(widths, widths[1:])):
        lines += [f"    %m{i} = array.matmul %s{i}, %w{i} : (tensor<?x{a}xf32>, tensor<{a}x{b}xf32>) -> tensor<?x{b}xf32>",
                  f"    %s{i + 1} = array.softmax %m{i} axis = 1 : tensor<?x{b}xf32>"]
    results = ", ".join(f"tensor<?x{width}xf32>" for width in (10, 7, 3))
    text = f"""  func.func @NAME(%s0: tensor<?x16xf32>, {', '.join(f'%w{i}: tensor<{a}x{b}xf32>' for i, (_, (a, b)) in enumerate(weights))}) -> ({results}) {{
{chr(10).join(lines)}
    %a = array.reduce sum, %s1 axes = [1] keepdims : tensor<?x10xf32> -> tensor<?x1xf32>
    %b = array.mul %m0, %a : (tensor<?x10xf32>, tensor<?x1xf32>) -> tensor<?x10xf32>
    %c = array.cumsum %m3 axis = 1 : tensor<?x64xf32> -> tensor<?x64xf32>
    %d = array.slice %c [:, 0:7] : tensor<?x64xf32> -> tensor<?x7xf32>
    %e = array.add %d, %s3 : tensor<?x7xf32>
    return %b, %e, %s5 : {results}
  }}
"""

    def rows(x, *weights):
        products, parts = [], [x]
        for w in weights:
            products.append(parts[-1] @ w)
            parts.append(softmax(products[-1]))
        return [products[0] * parts[1].sum(1, keepdims=True), products[3].cumsum(1)[:, :7] + parts[3], parts[5]]

    yield over_sizes("open_batch", text, lambda n: [(n, 16)] + [shape for _, shape in weights], rows, "sum", sizes=(1, 2, 7, 65),
                     dtypes=("f32",) * (1 + len(weights)))


LENGTHS = (1, 7, 4095, 4096, 4104, 9001, 0)


def few_results():
    """Reductions to so few results that the length decides how many blocks have something to do."""
    def case(name, argument, body, result, shape_of, reference, kind="sum", sizes=LENGTHS, values=lambda x: x):
        steps = []
        for size in sizes:
            x = random("f32", shape_of(size), 50)
            x = Tensor("f32", values(x.values))
            steps.append(Step([x], [(re.search(r"[fi]32", result)[0], np.asarray(reference(x.values)))]))
        text = f"  func.func @NAME(%a: {argument}) -> ({result}) {{\n    {body}\n    return %r : {result}\n  }}\n"
        return Case(name, text, steps, kind)

    yield case("sum_all", "tensor<?xf32>", "%r = array.reduce sum, %a axes = [0] : tensor<?xf32> -> tensor<f32>", "tensor<f32>",
               lambda n: (n,), lambda a: a.sum())
    yield case("sum_all_of_two", "tensor<?x?xf32>", "%r = array.reduce sum, %a axes = [0, 1] : tensor<?x?xf32> -> tensor<f32>",
               "tensor<f32>", lambda n: (n % 90, n // 90), lambda a: a.sum())
    yield case("max_of_rows", "tensor<3x?xf32>", "%r = array.reduce max, %a axes = [1] : tensor<3x?xf32> -> tensor<3xf32>",
               "tensor<3xf32>", lambda n: (3, n), lambda a: a.max(1, initial=-np.inf), "exact")
    yield case("sum_of_columns", "tensor<?x70xf32>", "%r = array.reduce sum, %a axes = [0] : tensor<?x70xf32> -> tensor<70xf32>",
               "tensor<70xf32>", lambda n: (n, 70), lambda a: a.sum(0), sizes=(1, 127, 128, 1000, 0))
    for op, reference in (("argmax", np.argmax), ("argmin", np.argmin)):
        yield case(op, "tensor<?xf32>", f"%r = array.{op} %a axis = 0 : tensor<?xf32> -> tensor<i32>", "tensor<i32>",
                   lambda n: (n,), reference, "exact", sizes=LENGTHS[:-1], values=lambda x: np.floor(x * 8))
    yield case("var_all", "tensor<?xf32>", "%r = array.var %a axes = [0] : tensor<?xf32> -> tensor<f32>", "tensor<f32>",
               lambda n: (n,), lambda a: a.var(), sizes=LENGTHS[:-1])
    # Rows that are needed again, and columns of which only a call knows how few they are.
    yield case("softmax_all", "tensor<?xf32>", "%r = array.softmax %a axis = 0 : tensor<?xf32>", "tensor<?xf32>", lambda n: (n,),
               lambda a: softmax(a[None])[0], "composite", sizes=LENGTHS[:-1])
    yield case("layer_norm_of_two", "tensor<2x?xf32>", "%r = array.layer_norm %a axis = 1 epsilon = 1.0e-5 : tensor<2x?xf32>",
               "tensor<2x?xf32>", lambda n: (2, n),
               lambda a: (a - a.mean(1, keepdims=True)) / np.sqrt(a.var(1, keepdims=True) + 1e-5), sizes=LENGTHS[1:-1])
    for op, kind, reference in (("reduce sum,", "sum", np.sum), ("reduce max,", "exact", np.max), ("argmin", "exact", np.argmin)):
        axis, result = ("axis = 0", "tensor<?xi32>") if op == "argmin" else ("axes = [0]", "tensor<?xf32>")
        yield case(f"{op.strip(',').replace(' ', '_')}_of_narrow_columns", "tensor<?x?xf32>",
                   f"%r = array.{op} %a {axis} : tensor<?x?xf32> -> {result}", result, lambda n: (n, 3 + n % 5),
                   lambda a, reference=reference: reference(a, 0), kind, sizes=(1, 31, 32, 33, 500, 2049),
                   values=lambda x: np.floor(x * 8))
    yield case("sum_of_long_columns", "tensor<600x?xf32>", "%r = array.reduce sum, %a axes = [0] : tensor<600x?xf32> -> tensor<?xf32>",
               "tensor<?xf32>", lambda n: (600, n), lambda a: a.sum(0), sizes=(1, 8, 33, 0))


def walks():
    """One call over many sizes within their ranges: its plan is recorded once, then only patched."""
    sizes = [8 * n for n in (1, 2, 3, 5, 8, 4, 16, 7, 1, 11, 12, 6, 9, 15, 10, 2, 13, 14, 16, 3)]

    def layer(x, w, rounds):
        for _ in range(rounds):
            x = np.maximum(x @ w, 0) - x.mean(0)
        return x

    steps = []
    for n in sizes:
        x, w = random("f32", (n, 16), 60 + n, -1, 1), random("f32", (16, 16), 61, -0.25, 0.25)
        y = layer(x.values, w.values, 2)
        e = np.exp(y - y.max(1, keepdims=True))
        steps.append(Step([x, w], [("f32", e / e.sum(1, keepdims=True)), ("f32", np.sort(y[:, 3]))]))
    yield Case("walk", """  func.func @NAME(%x: tensor<?x16xf32> {array.dims = ["n", ""]}, %w: tensor<16x16xf32>) -> (tensor<?x16xf32>, tensor<?xf32>)
      attributes {array.dim_range = {n = [8, 128, 8]}} {
    %zero = array.constant dense<0.0> : tensor<f32>
    %a = array.matmul %x, %w : (tensor<?x16xf32>, tensor<16x16xf32>) -> tensor<?x16xf32>
    %b = array.max %a, %zero : (tensor<?x16xf32>, tensor<f32>) -> tensor<?x16xf32>
    %m = array.mean %x axes = [0] : tensor<?x16xf32> -> tensor<16xf32>
    %c = array.sub %b, %m : (tensor<?x16xf32>, tensor<16xf32>) -> tensor<?x16xf32>
    %d = array.matmul %c, %w : (tensor<?x16xf32>, tensor<16x16xf32>) -> tensor<?x16xf32>
    %e = array.max %d, %zero : (tensor<?x16xf32>, tensor<f32>) -> tensor<?x16xf32>
    %n = array.mean %c axes = [0] : tensor<?x16xf32> -> tensor<16xf32>
    %f = array.sub %e, %n : (tensor<?x16xf32>, tensor<16xf32>) -> tensor<?x16xf32>
    %s = array.softmax %f axis = 1 : tensor<?x16xf32>
    %t = array.transpose %f permutation = [1, 0] : tensor<?x16xf32> -> tensor<16x?xf32>
    %u = array.slice %t [3:4, :] : tensor<16x?xf32> -> tensor<1x?xf32>
    %v = array.squeeze %u axes = [0] : tensor<1x?xf32> -> tensor<?xf32>
    %o = array.sort %v axis = 0 : tensor<?xf32> -> tensor<?xf32>
    return %s, %o : tensor<?x16xf32>, tensor<?xf32>
  }
""", steps, "sum", one_call=True)

    # With regions, of which the kernels know as well that rows are multiples of 8.
    steps = []
    for rounds, n in enumerate(sizes):
        x, w = random("f32", (n, 16), 80 + n, -1, 1), random("f32", (16, 16), 81, -0.25, 0.25)
        y = layer(x.values, w.values, rounds % 4)
        steps.append(Step([x, w, Tensor("i32", np.int32(rounds % 4)), Tensor("i1", np.bool_(rounds % 3 == 0))],
                          [("f32", 2 * y if rounds % 3 == 0 else y - 1)]))
    yield Case("walk_control", """  func.func @NAME(%x: tensor<?x16xf32> {array.dims = ["n", ""]}, %w: tensor<16x16xf32>, %rounds: tensor<i32>, %p: tensor<i1>)
      -> (tensor<?x16xf32>) attributes {array.dim_range = {n = [8, 128, 8]}} {
    %start = array.constant dense<0> : tensor<i32>
    %step = array.constant dense<1> : tensor<i32>
    %zero = array.constant dense<0.0> : tensor<f32>
    %one = array.constant dense<1.0> : tensor<f32>
    %r:2 = array.while %start, %x : (tensor<i32>, tensor<?x16xf32>) -> (tensor<i32>, tensor<?x16xf32>) condition {
    ^bb0(%i: tensor<i32>, %v: tensor<?x16xf32>):
      %more = array.compare lt, %i, %rounds : (tensor<i32>, tensor<i32>) -> tensor<i1>
      array.yield %more : tensor<i1>
    } body {
    ^bb0(%i: tensor<i32>, %v: tensor<?x16xf32>):
      %j = array.add %i, %step : tensor<i32>
      %a = array.matmul %v, %w : (tensor<?x16xf32>, tensor<16x16xf32>) -> tensor<?x16xf32>
      %b = array.max %a, %zero : (tensor<?x16xf32>, tensor<f32>) -> tensor<?x16xf32>
      %m = array.mean %v axes = [0] : tensor<?x16xf32> -> tensor<16xf32>
      %c = array.sub %b, %m : (tensor<?x16xf32>, tensor<16xf32>) -> tensor<?x16xf32>
      array.yield %j, %c : tensor<i32>, tensor<?x16xf32>
    }
    %y = array.if %p : tensor<i1> -> (tensor<?x16xf32>) {
      %d = array.add %r#1, %r#1 : tensor<?x16xf32>
      array.yield %d : tensor<?x16xf32>
    } else {
      %d = array.sub %r#1, %one : (tensor<?x16xf32>, tensor<f32>) -> tensor<?x16xf32>
      array.yield %d : tensor<?x16xf32>
    }
    return %y : tensor<?x16xf32>
  }
""", steps, "sum", one_call=True)


def beside_empty_dims():
    """A dim of `?` elements beside one that is known to have none: there is nothing to view, to take or to gather."""
    def case(name, operand, empty, result, shape, op):
        return over_inputs(name, f"(%x: {operand})", result, f"{op} : {operand} -> {result}",
                           [Step([Tensor("f32", np.zeros(empty))], [("f32", np.zeros(shape))])])

    def by_index(name, operand, indices, result, op, shape):
        nothing = Tensor("f32", np.zeros((0, 3)))
        return over_inputs(name, f"(%x: {operand}, %i: {indices})", result, f"{op} : ({operand}, {indices}) -> {result}",
                           [Step([nothing, Tensor("i32", np.zeros(shape(0), np.int32))], [("f32", np.zeros((0, 3)))]),
                            Step([nothing, Tensor("i32", np.zeros(shape(2), np.int32))], error="expected an element in dim 0 of the operand")])

    def over_inputs(name, inputs, result, op, steps):
        return Case(name, f"""  func.func @NAME{inputs} -> ({result}) {{
    %r = {op}
    return %r : {result}
  }}
""", steps, "exact")

    yield case("reshape_of_empty_rows", "tensor<?x0xf32>", (5, 0), "tensor<?xf32>", (0,), "array.reshape %x")
    yield case("reshape_of_no_rows", "tensor<0x?xf32>", (0, 5), "tensor<?x2x0xf32>", (0, 2, 0), "array.reshape %x")
    yield case("diagonal_of_empty_rows", "tensor<?x0xf32>", (5, 0), "tensor<?xf32>", (0,), "array.diagonal %x offset = -1")
    yield case("diagonal_of_no_rows", "tensor<0x?xf32>", (0, 5), "tensor<?xf32>", (0,), "array.diagonal %x offset = 0")
    yield by_index("take_of_no_rows", "tensor<0x3xf32>", "tensor<?xi32>", "tensor<?x3xf32>", "array.take %x[%i] axis = 0", lambda n: (n,))
    yield by_index("gather_of_no_rows", "tensor<0x3xf32>", "tensor<?x1xi32>", "tensor<?x3xf32>", "array.gather %x[%i] axes = [0]",
                   lambda n: (n, 1))


def cases():
    for make in (walks, several_ops, elementwise, ranges, named, kernels, shapes, requirements, temporaries, few_results, beside_empty_dims):
        yield from make()
