"""linalg on tensors as other compilers write it: scalars and loops between its ops, Torch-MLIR's ops, and bytecode."""
import dataclasses
import itertools

import numpy as np

from cases.linalg import contractions, reductions
from cases.linalg_sizes import symbolic
from harness import Case, Step, simple
from tensors import Tensor, random


def scalars():
    """Elements of tensors, arithmetic on them, and i64 sizes between linalg ops, as other compilers write them."""
    x, t = random("f32", (8, 4), 130), random("f32", (3,), 131)
    fill = np.full((2, 3), t.values[1] * np.float32(0.5), np.float32)
    body = "linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = [\"parallel\"]}"
    text = f"""
        %c1 = arith.constant 1 : index
        %half = arith.constant 0.5 : f32
        %element = tensor.extract %1[%c1] : tensor<3xf32>
        %scaled = arith.mulf %element, %half : f32
        %isPositive = arith.cmpf ogt, %scaled, %half : f32
        %chosen = arith.select %isPositive, %scaled, %element : f32
        %e = tensor.empty() : tensor<3xf32>
        %r0 = {body} ins(%1 : tensor<3xf32>) outs(%e : tensor<3xf32>) {{
        ^bb0(%a: f32, %out: f32):
          %s = arith.addf %a, %chosen : f32
          linalg.yield %s : f32
        }} -> tensor<3xf32>
        %i = tensor.empty() : tensor<2x3xf32>
        %r1 = linalg.fill ins(%scaled : f32) outs(%i : tensor<2x3xf32>) -> tensor<2x3xf32>
        %r2 = tensor.from_elements %element, %scaled : tensor<2xf32>
        %place = tensor.extract %2[] : tensor<i64>
        %row = arith.index_cast %place : i64 to index
        %r3 = tensor.extract_slice %0[%row, 1] [2, 3] [1, 1] : tensor<8x4xf32> to tensor<2x3xf32>"""
    chosen = fill[0, 0] if fill[0, 0] > 0.5 else t.values[1]
    for row in (0, 5):
        yield simple(f"scalars_of_data_{row}", [x, t, Tensor("i64", np.array(row))],
                     [("f32", t.values + chosen), ("f32", fill), ("f32", np.array([t.values[1], fill[0, 0]])), ("f32", x.values[row:row + 2, 1:])], text)
    rows = random("f32", (5, 4), 132)
    yield Case("scalars_of_sizes", """  func.func @NAME(%0: tensor<?x4xf32>) -> tensor<?xf32> {
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : i64
    %c8 = arith.constant 8 : i64
    %n = tensor.dim %0, %c0 : tensor<?x4xf32>
    %wide = arith.index_cast %n : index to i64
    %all = arith.muli %wide, %c4 : i64
    %isEnough = arith.cmpi sge, %all, %c8 : i64
    cf.assert %isEnough, "eight at least"
    %size = arith.index_cast %all : i64 to index
    %flat = tensor.collapse_shape %0 [[0, 1]] : tensor<?x4xf32> into tensor<?xf32>
    %e = tensor.empty(%size) : tensor<?xf32>
    %r = linalg.exp ins(%flat : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
    return %r : tensor<?xf32>
  }
""", [Step([rows], [("f32", np.exp(rows.values).ravel())]), Step([random("f32", (1, 4), 133)], error="cf.assert: eight at least")], "math")


def control():
    """Loops and choices of scf between linalg ops: scalars and places that are data."""
    x, n = random("f32", (5, 3), 134), Tensor("i64", np.array(3))
    loop = """
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %c5 = arith.constant 5 : index
        %zero = arith.constant 0.0 : f32
        %init = tensor.empty() : tensor<5x3xf32>
        %r0, %sum = scf.for %i = %c0 to %c5 step %c1 iter_args(%y = %init, %s = %zero) -> (tensor<5x3xf32>, f32) {
          %row = tensor.extract_slice %0[%i, 0] [1, 3] [1, 1] : tensor<5x3xf32> to tensor<3xf32>
          %e = tensor.empty() : tensor<3xf32>
          %n = linalg.negf ins(%row : tensor<3xf32>) outs(%e : tensor<3xf32>) -> tensor<3xf32>
          %4 = arith.constant 4 : index
          %at = arith.subi %4, %i : index
          %next = tensor.insert_slice %n into %y[%at, 0] [1, 3] [1, 1] : tensor<3xf32> into tensor<5x3xf32>
          %first = tensor.extract %0[%i, %c0] : tensor<5x3xf32>
          %t = arith.addf %s, %first : f32
          scf.yield %next, %t : tensor<5x3xf32>, f32
        }
        %r1 = tensor.from_elements %sum : tensor<f32>""".replace("%4", "%last")
    yield simple("for", [x], [("f32", -x.values[::-1]), ("f32", x.values[:, 0].sum())], loop, "sum")
    text = """
        %c1 = arith.constant 1 : i64
        %c0 = arith.constant 0 : i64
        %n = tensor.extract %1[] : tensor<i64>
        %e = tensor.empty() : tensor<5x3xf32>
        %count, %r0 = scf.while (%i = %c0, %y = %0) : (i64, tensor<5x3xf32>) -> (i64, tensor<5x3xf32>) {
          %goesOn = arith.cmpi slt, %i, %n : i64
          scf.condition(%goesOn) %i, %y : i64, tensor<5x3xf32>
        } do {
        ^bb0(%i: i64, %y: tensor<5x3xf32>):
          %j = arith.addi %i, %c1 : i64
          %z = linalg.add ins(%y, %y : tensor<5x3xf32>, tensor<5x3xf32>) outs(%e : tensor<5x3xf32>) -> tensor<5x3xf32>
          scf.yield %j, %z : i64, tensor<5x3xf32>
        }
        %r1 = tensor.from_elements %count : tensor<i64>"""
    for count in (0, 3):
        yield simple(f"while_{count}", [x, Tensor("i64", np.array(count))], [("f32", x.values * 2 ** count), ("i64", np.array(count))], text)
    choice = """
        %c2 = arith.constant 2 : i64
        %n = tensor.extract %1[] : tensor<i64>
        %isMore = arith.cmpi sgt, %n, %c2 : i64
        %e = tensor.empty() : tensor<5x3xf32>
        %r0 = scf.if %isMore -> (tensor<5x3xf32>) {
          %y = linalg.negf ins(%0 : tensor<5x3xf32>) outs(%e : tensor<5x3xf32>) -> tensor<5x3xf32>
          scf.yield %y : tensor<5x3xf32>
        } else {
          scf.yield %0 : tensor<5x3xf32>
        }"""
    yield simple("if_true", [x, n], [("f32", -x.values)], choice)
    yield simple("if_false", [x, Tensor("i64", np.array(2))], [("f32", x.values)], choice)


def torch_mlir():
    """What Torch-MLIR leaves beside linalg."""
    x, i = random("f32", (4, 9), 135), Tensor("i64", np.tile(np.arange(9), (4, 1)))
    order = np.argsort(-x.values, axis=1, kind="stable")
    yield simple("tm_sort", [x, i], [("f32", np.take_along_axis(x.values, order, 1)), ("i64", order)], """
        %r0, %r1 = tm_tensor.sort dimension(1) outs(%0, %1 : tensor<4x9xf32>, tensor<4x9xi64>) {
        ^bb0(%a: f32, %b: f32, %c: i64, %d: i64):
          %isFirst = arith.cmpf oge, %a, %b : f32
          tm_tensor.yield %isFirst : i1
        } -> tensor<4x9xf32>, tensor<4x9xi64>""")
    start = random("f32", (4,), 136)
    before = np.concatenate([np.zeros((4, 1), np.float32), np.cumsum(x.values, axis=1)[:, :-1]], axis=1) + start.values[:, None]
    yield simple("tm_scan", [x, start], [("f32", before)], """
        %e = tensor.empty() : tensor<4x9xf32>
        %r0, %last = tm_tensor.scan dimension(1) inclusive(false) ins(%0 : tensor<4x9xf32>) outs(%e, %1 : tensor<4x9xf32>, tensor<4xf32>) {
        ^bb0(%next: f32, %total: f32):
          %sum = arith.addf %next, %total : f32
          tm_tensor.yield %sum : f32
        } -> tensor<4x9xf32>, tensor<4xf32>""", "sum")
    rows, new = Tensor("i64", np.array([[2], [0], [2]])), random("f32", (3, 9), 137)
    largest = x.values.copy()
    for row, update in zip(rows.values[:, 0], new.values):
        largest[row] = np.maximum(largest[row], update)
    yield simple("tm_scatter", [x, rows, new], [("f32", largest)], """
        %r0 = tm_tensor.scatter {dimension_map = array<i64: 0>} unique_indices(false)
            ins(%2, %1 : tensor<3x9xf32>, tensor<3x1xi64>) outs(%0 : tensor<4x9xf32>) {
        ^bb0(%update: f32, %old: f32):
          %max = arith.maximumf %update, %old : f32
          tm_tensor.yield %max : f32
        } -> tensor<4x9xf32>""")
    q, k, v = (random("f32", (2, rows, 16), 138 + rows) for rows in (3, 5, 6))
    v = Tensor("f32", v.values[:, :5])
    scores = q.values @ np.swapaxes(k.values, 1, 2) / 4
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    yield simple("tm_attention", [q, k, v], [("f32", weights / weights.sum(axis=-1, keepdims=True) @ v.values)], """
        %e = tensor.empty() : tensor<2x3x16xf32>
        %r0 = tm_tensor.attention ins(%0, %1, %2 : tensor<2x3x16xf32>, tensor<2x5x16xf32>, tensor<2x5x16xf32>)
            outs(%e : tensor<2x3x16xf32>) -> tensor<2x3x16xf32>""", "composite")


def bytecode():
    """Some other cases once more, from MLIR bytecode."""
    for case in itertools.chain(contractions(), symbolic(), reductions()):
        if case.name in ("matmul", "matmul_f16", "batch_matmul", "symbolic_layer", "argmax", "softmax"):
            yield dataclasses.replace(case, name=f"bytecode_{case.name}", bytecode=True)


def cases():
    for part in (bytecode, scalars, control, torch_mlir):
        yield from part()
