"""Arrays of eight dims, as many as there may be."""
import numpy as np

from cases.types import Body
from tensors import Tensor, random

SHAPE = (2, 3, 1, 2, 3, 2, 2, 5)


def moved():
    x, places, value = random("f32", SHAPE, 1), Tensor("i32", [1, 0]), Tensor("f32", 1.5)
    pairs = Tensor("i32", [[1, 0], [0, 4], [1, 2]])
    body, a, type = Body(x, places, value, pairs), x.values, x.mlir
    order = (7, 2, 0, 5, 1, 3, 6, 4)
    body.add(f"array.transpose %0 permutation = {list(order)} : {type}", "f32", a.transpose(order))
    body.add(f"array.reshape %0 : {type}", "f32", a.reshape(6, 1, 6, 1, 4, 1, 5, 1))
    body.add(f"array.slice %0 [:, 1:3, :, 0:1, 0:3:2, :, 1:2, 1:4] : {type}", "f32", a[:, 1:3, :, 0:1, ::2, :, 1:, 1:4])
    body.add(f"array.pad %0, %2 low = {[1] * 8} high = {[0] * 8} : ({type}, tensor<f32>)", "f32",
             np.pad(a, [(1, 0)] * 8, constant_values=1.5))
    for axis in (0, 4, 7):
        body.add(f"array.reverse %0 axes = [{axis}] : {type}", "f32", np.flip(a, axis))
        body.add(f"array.concatenate %0, %0 axis = {axis} : ({type}, {type})", "f32", np.concatenate([a, a], axis))
        body.add(f"array.take %0[%1] axis = {axis} : ({type}, {places.mlir})", "f32", np.take(a, places.values, axis))
        body.add(f"array.argmax %0 axis = {axis} : {type}", "i32", a.argmax(axis))
    body.add(f"array.gather %0[%3] axes = [0, 7] : ({type}, {pairs.mlir})", "f32", np.stack([a[i, ..., j] for i, j in pairs.values]))
    window = (1, 2, 1, 2, 1, 1, 2, 2)
    body.add(f"array.reduce_window max, %0 window = {list(window)} : {type}", "f32",
             np.lib.stride_tricks.sliding_window_view(a, window).max(tuple(range(8, 16))))
    return body.case("moved")


def computed():
    x, y, matrices = random("f32", SHAPE, 2), random("f32", (1, 3, 1, 1, 3, 1, 2, 1), 3), random("f32", (*SHAPE[:6], 5, 4), 4)
    scale, pairs, keys = random("f32", (2, 5), 5), Tensor("i32", [[1, 0], [0, 4], [1, 2]]), random("f32", SHAPE, 6)
    updates = random("f32", (3, *SHAPE[1:7]), 7)
    body, a, type = Body(x, y, matrices, scale, pairs, updates, keys), x.values, x.mlir
    body.add(f"array.add %0, %1 : ({type}, {y.mlir})", "f32", a + y.values)
    for axes in ([0], [7], [0, 2, 4, 6], [1, 3, 5, 7], list(range(8))):
        body.add(f"array.reduce sum, %0 axes = {axes} : {type}", "f32", a.sum(tuple(axes)))
        body.add(f"array.reduce max, %0 axes = {axes} keepdims : {type}", "f32", a.max(tuple(axes), keepdims=True))
    for axis in (0, 7):
        power = np.exp(a - a.max(axis, keepdims=True))
        body.add(f"array.softmax %0 axis = {axis} : {type}", "f32", power / power.sum(axis, keepdims=True))
    body.add(f"array.matmul %0, %2 : ({type}, {matrices.mlir})", "f32", a @ matrices.values)
    normed = (a - a.mean((6, 7), keepdims=True)) / np.sqrt(a.var((6, 7), keepdims=True) + 0.1) * scale.values
    body.add(f"array.layer_norm %0 scale(%3 : {scale.mlir}) axis = 6 epsilon = 0.1 : {type}", "f32", normed)
    sums = a.copy()
    for (i, j), update in zip(pairs.values, updates.values):
        sums[i, ..., j] += update
    body.add(f"array.scatter add, %0[%4] axes = [0, 7] = %5 : ({type}, {pairs.mlir}, {updates.mlir})", "f32", sums)
    scores = np.exp(a @ keys.values.swapaxes(-1, -2) * 0.5)
    body.add(f"array.attention %0, %6, %6 scale = 0.5 : ({type}, {type}, {type})", "f32",
             scores / scores.sum(-1, keepdims=True) @ keys.values)
    return body.case("computed", "sum")


def cases():
    yield moved()
    yield computed()
