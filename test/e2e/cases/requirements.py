"""What ops require of sizes: a function refuses other ones, and its gradient refuses the same, also where nothing is left of the op.

Each entry of REQUIREMENTS is a function of arrays `%a`, `%b`, ... whose sizes are known when inputs are bound, with shapes that the op
takes and shapes that it does not. Its gradient is compared with one that is taken numerically in float64.
"""
import dataclasses
import re

import numpy as np

from cases.vjp import pulled_back
from harness import Case, Step, function
from tensors import Tensor, random

# The op's own words, or those of dims that the op has made one symbol.
REFUSED = r"got [0-9]+ and [0-9]+ for |expected dim [0-9]+ to be [0-9]+ \(symbol .*, got [0-9]+|expected an element in dim"


@dataclasses.dataclass
class Requirement:
    name: str
    types: list             # of the inputs: "?x4", "?x1xi32"
    ops: str                # they end with %y, of type `result`
    result: str
    reference: object       # of the inputs' values
    taken: list             # shapes of the inputs, where the op works
    refused: list
    differentiable: bool = True


def typed(sizes):
    return f"tensor<{sizes}>" if re.search("i32|i64|i1", sizes) else f"tensor<{sizes}xf32>"


def layer_norm(x, scale):
    mean, variance = x.mean(1, keepdims=True), x.var(1, keepdims=True)
    return (x - mean) / np.sqrt(variance + 0.1) * scale


def batch_norm(x, scale, bias, mean):
    return (x - mean) / np.sqrt(np.exp(mean) + 0.1) * scale + bias


def group_norm(x, scale, bias):
    parts = x.reshape(x.shape[0], 2, -1)
    parts = (parts - parts.mean(2, keepdims=True)) / np.sqrt(parts.var(2, keepdims=True) + 0.1)
    return parts.reshape(x.shape) * scale + bias


def attend(q, k, v):
    scores = np.exp(q @ k.swapaxes(1, 2) * 0.5)
    return scores / scores.sum(-1, keepdims=True) @ v


def conv(x, w):
    """One dim, all channels."""
    return np.stack([sum(x[:, i + t] @ w[t] for t in range(w.shape[0])) for i in range(x.shape[1] - w.shape[0] + 1)], 1)


def updated(x, u):
    y = x.copy()
    y[:, :u.shape[1]] = u
    return y


def scattered(x, indices, updates):
    y = x.copy()
    np.add.at(y, indices[:, 0], updates)
    return y


def elementwise(name, reference):
    return Requirement(name, ["?x4", "?x4"], f"%y = array.{name} %a, %b : tensor<?x4xf32>", "?x4", reference,
                  [((3, 4), (3, 4))], [((4, 4), (3, 4)), ((1, 4), (3, 4)), ((3, 4), (1, 4))])


def window(name, op, reference):
    return Requirement(name, ["?x3"], f"%y = {op} window = [3, 1] strides = [1, 1] : tensor<?x3xf32> -> tensor<3x3xf32>", "3x3",
                  lambda x: np.stack([reference(x[i:i + 3], 0) for i in range(len(x) - 2)]), [((5, 3),)], [((1, 3),), ((6, 3),)])


SLICE = "%s = array.slice %a [0:3, :] : tensor<?x4xf32> -> tensor<3x4xf32>\n"
REQUIREMENTS = [
    elementwise("add", np.add), elementwise("sub", np.subtract), elementwise("mul", np.multiply), elementwise("max", np.maximum),
    Requirement("clamp", ["?", "?", "?"], "%y = array.clamp %a, %b, %c : tensor<?xf32>", "?",
           lambda low, x, high: np.minimum(np.maximum(low, x), high), [((3,), (3,), (3,))],
           [((4,), (3,), (3,)), ((3,), (3,), (2,))]),
    Requirement("select", ["?xi1", "?", "?"], "%y = array.select %a, %b, %c : (tensor<?xi1>, tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>",
           "?", np.where, [((3,), (3,), (3,))], [((3,), (2,), (3,)), ((2,), (3,), (3,))]),
    Requirement("select_of_the_same", ["?xi1", "?"], "%y = array.select %a, %b, %b : (tensor<?xi1>, tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>",
           "?", lambda p, x: x, [((3,), (3,))], [((3,), (2,)), ((2,), (3,))]),
    Requirement("slice", ["?x4"], SLICE.replace("%s", "%y"), "3x4", lambda x: x[:3], [((3, 4),), ((5, 4),)], [((2, 4),), ((0, 4),)]),
    Requirement("slice_with_stride", ["?"], "%y = array.slice %a [1:6:2] : tensor<?xf32> -> tensor<3xf32>", "3", lambda x: x[1:6:2],
           [((6,),)], [((5,),)]),
    Requirement("slice_of_slice", ["?x4"], SLICE + "%y = array.slice %s [0:2, :] : tensor<3x4xf32> -> tensor<2x4xf32>", "2x4", lambda x: x[:2],
           [((3, 4),)], [((2, 4),)]),
    Requirement("slice_of_concatenate", ["?x4", "?x4"], """%s = array.concatenate %a, %b axis = 1 : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x8xf32>
           %y = array.slice %s [:, 0:4] : tensor<?x8xf32> -> tensor<?x4xf32>""", "?x4", lambda a, b: a, [((2, 4), (2, 4))], [((2, 4), (3, 4))]),
    Requirement("reshape", ["?"], "%y = array.reshape %a : tensor<?xf32> -> tensor<3xf32>", "3", lambda x: x, [((3,),)], [((5,),), ((2,),)]),
    Requirement("reshape_of_reshape", ["?"], """%s = array.reshape %a : tensor<?xf32> -> tensor<3x4xf32>
           %y = array.reshape %s : tensor<3x4xf32> -> tensor<2x6xf32>""", "2x6", lambda x: x.reshape(2, 6), [((12,),)], [((11,),), ((24,),)]),
    Requirement("cast", ["?x4"], "%y = tensor.cast %a : tensor<?x4xf32> to tensor<3x4xf32>", "3x4", lambda x: x, [((3, 4),)], [((4, 4),)]),
    Requirement("cast_and_back", ["?x4"], """%s = tensor.cast %a : tensor<?x4xf32> to tensor<3x4xf32>
           %y = tensor.cast %s : tensor<3x4xf32> to tensor<?x4xf32>""", "?x4", lambda x: x, [((3, 4),)], [((4, 4),)]),
    Requirement("broadcast_in_dim", ["?"], "%y = array.broadcast_in_dim %a axes = [1] : tensor<?xf32> -> tensor<2x3xf32>", "2x3",
           lambda x: np.broadcast_to(x, (2, 3)), [((3,),)], [((4,),)], differentiable=False),
    Requirement("split", ["?x2"], "%y, %s = array.split %a axis = 0 parts = [2, 1] : tensor<?x2xf32> -> tensor<2x2xf32>, tensor<1x2xf32>", "2x2",
           lambda x: x[:2], [((3, 2),)], [((2, 2),), ((4, 2),)]),
    Requirement("concatenate", ["?x2", "?x3"], "%y = array.concatenate %a, %b axis = 1 : (tensor<?x2xf32>, tensor<?x3xf32>) -> tensor<?x5xf32>", "?x5",
           lambda a, b: np.concatenate([a, b], 1), [((4, 2), (4, 3))], [((4, 2), (3, 3)), ((1, 2), (3, 3))]),
    Requirement("matmul", ["?x?", "?x?"], "%y = array.matmul %a, %b : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>", "?x?",
           np.matmul, [((2, 3), (3, 4))], [((2, 3), (4, 4)), ((2, 1), (3, 4))]),
    Requirement("dot_general", ["?x2x?", "?x?x3"], """%y = array.dot_general %a, %b batch = [0] x [0] contract = [2] x [1]
           : (tensor<?x2x?xf32>, tensor<?x?x3xf32>) -> tensor<?x2x3xf32>""", "?x2x3", np.matmul, [((2, 2, 4), (2, 4, 3))],
           [((2, 2, 4), (3, 4, 3)), ((2, 2, 4), (2, 5, 3))]),
    Requirement("conv", ["?x6x?", "3x?x2"], """%y = array.conv %a, %b dims = <[b, 0, f] x [0, i, o] -> [b, 0, f]>
           : (tensor<?x6x?xf32>, tensor<3x?x2xf32>) -> tensor<?x4x2xf32>""", "?x4x2", conv, [((2, 6, 3), (3, 3, 2))],
           [((2, 6, 3), (3, 4, 2)), ((2, 6, 4), (3, 2, 2))]),
    Requirement("dynamic_update_slice", ["2x?", "2x?"], """%i = array.constant dense<0> : tensor<i32>
           %y = array.dynamic_update_slice %a[%i, %i] = %b : (tensor<2x?xf32>, tensor<2x?xf32>, tensor<i32>, tensor<i32>) -> tensor<2x?xf32>""",
           "2x?", updated, [((2, 5), (2, 3))], [((2, 3), (2, 5))]),
    Requirement("dynamic_slice", ["?"], """%i = array.constant dense<0> : tensor<i32>
           %y = array.dynamic_slice %a[%i] : (tensor<?xf32>, tensor<i32>) -> tensor<3xf32>""", "3", lambda x: x[:3], [((5,),)], [((2,),)]),
    Requirement("scatter", ["5x4", "?x1xi32", "?x4"], """%y = array.scatter add, %a[%b] axes = [0] = %c
           : (tensor<5x4xf32>, tensor<?x1xi32>, tensor<?x4xf32>) -> tensor<5x4xf32>""", "5x4", scattered, [((5, 4), (3, 1), (3, 4))],
           [((5, 4), (3, 1), (2, 4))]),
    Requirement("take_along_axis", ["?x5", "?x2xi32"], """%y = array.take_along_axis %a[%b] axis = 1
           : (tensor<?x5xf32>, tensor<?x2xi32>) -> tensor<?x2xf32>""", "?x2", lambda x, i: np.take_along_axis(x, i, 1), [((3, 5), (3, 2))],
           [((3, 5), (2, 2))]),
    Requirement("take", ["?x2", "2xi32"], "%y = array.take %a[%b] axis = 0 : (tensor<?x2xf32>, tensor<2xi32>) -> tensor<2x2xf32>", "2x2",
           lambda x, i: x[i], [((3, 2), (2,))], [((0, 2), (2,))]),
    Requirement("topk", ["?"], "%y, %s = array.topk %a k = 3 axis = 0 : tensor<?xf32> -> tensor<3xf32>, tensor<3xi32>", "3",
           lambda x: np.sort(x)[::-1][:3], [((5,),)], [((2,),)]),
    Requirement("layer_norm", ["2x?", "?"], "%y = array.layer_norm %a scale(%b : tensor<?xf32>) axis = 1 epsilon = 0.1 : tensor<2x?xf32>", "2x?",
           layer_norm, [((2, 5), (5,))], [((2, 5), (4,))]),
    Requirement("batch_norm", ["2x?", "?", "?", "?"], """%s = array.exp %d : tensor<?xf32>
           %y = array.batch_norm_inference %a, %b, %c, %d, %s axis = 1 epsilon = 0.1
           : (tensor<2x?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) -> tensor<2x?xf32>""", "2x?",
           batch_norm, [((2, 3), (3,), (3,), (3,))], [((2, 3), (4,), (3,), (3,)), ((2, 3), (3,), (1,), (3,)), ((2, 3), (3,), (3,), (2,))]),
    Requirement("group_norm", ["2x?", "?", "?"], """%y = array.group_norm %a, %b, %c axis = 1 groups = 2 epsilon = 0.1
           : (tensor<2x?xf32>, tensor<?xf32>, tensor<?xf32>) -> tensor<2x?xf32>""", "2x?", group_norm, [((2, 6), (6,), (6,))],
           [((2, 5), (5,), (5,)), ((2, 6), (4,), (6,)), ((2, 6), (6,), (4,))]),
    Requirement("attention", ["1x?x4", "1x?x4", "1x?x4"], """%y = array.attention %a, %b, %c scale = 0.5
           : (tensor<1x?x4xf32>, tensor<1x?x4xf32>, tensor<1x?x4xf32>) -> tensor<1x?x4xf32>""", "1x?x4", attend,
           [((1, 3, 4), (1, 5, 4), (1, 5, 4))], [((1, 3, 4), (1, 5, 4), (1, 6, 4))]),
    window("avg_pool", "array.avg_pool %a", np.mean), window("max_pool", "array.reduce_window max, %a", np.max),
    Requirement("product_with_zero", ["?", "?"], """%z = array.constant dense<0> : tensor<i32>
           %i = array.convert %a : tensor<?xf32> -> tensor<?xi32>
           %j = array.convert %b : tensor<?xf32> -> tensor<?xi32>
           %s = array.add %i, %j : tensor<?xi32>
           %y = array.mul %s, %z : (tensor<?xi32>, tensor<i32>) -> tensor<?xi32>""", "?xi32", lambda a, b: np.zeros(a.shape, np.int32),
           [((3,), (3,))], [((3,), (4,))], differentiable=False),
    Requirement("product_with_zero_of_floats", ["?", "?"], """%z = array.constant dense<0.0> : tensor<f32>
           %s = array.add %a, %b : tensor<?xf32>
           %y = array.mul %s, %z : (tensor<?xf32>, tensor<f32>) -> tensor<?xf32>""", "?", lambda a, b: 0 * (a + b),
           [((3,), (3,))], [((3,), (4,))]),
    Requirement("difference_with_itself", ["?", "?"], """%s = array.add %a, %b : tensor<?xf32>
           %t = array.add %a, %b : tensor<?xf32>
           %y = array.sub %s, %t : tensor<?xf32>""", "?", lambda a, b: 0 * (a + b), [((3,), (3,))], [((3,), (4,))]),
    Requirement("size_of_result", ["?", "?"], """%s = array.add %a, %b : tensor<?xf32>
           %n = array.dim %s, 0 : tensor<?xf32>
           %y = array.from_index %n : tensor<f32>""", "", lambda a, b: np.float64(a.size), [((3,), (3,))], [((3,), (4,))]),
    Requirement("if_that_data_chooses", ["?", "i1"], """%y = array.if %b : tensor<i1> -> (tensor<3xf32>) {
             %s = array.slice %a [0:3] : tensor<?xf32> -> tensor<3xf32>
             array.yield %s : tensor<3xf32>
           } else {
             %s = array.slice %a [1:4] : tensor<?xf32> -> tensor<3xf32>
             array.yield %s : tensor<3xf32>
           }""", "3", lambda x, p: x[:3] if p else x[1:4], [((5,), ())], [((3,), ()), ((2,), ())]),
    Requirement("if_that_sizes_choose", ["?", "?"], """%m = array.constant dense<3> : tensor<i64>
           %n = array.dim %a, 0 : tensor<?xf32>
           %r = array.from_index %n : tensor<i64>
           %p = array.compare ge, %r, %m : (tensor<i64>, tensor<i64>) -> tensor<i1>
           %y = array.if %p : tensor<i1> -> (tensor<3xf32>) {
             %s = array.slice %a [0:3] : tensor<?xf32> -> tensor<3xf32>
             array.yield %s : tensor<3xf32>
           } else {
             %s = array.slice %b [0:3] : tensor<?xf32> -> tensor<3xf32>
             array.yield %s : tensor<3xf32>
           }""", "3", lambda a, b: a[:3] if len(a) >= 3 else b[:3], [((5,), (2,)), ((1,), (4,))], [((2,), (2,))]),
    Requirement("while", ["?", "?"], """%zero = array.constant dense<0> : tensor<i32>
           %one = array.constant dense<1> : tensor<i32>
           %two = array.constant dense<2> : tensor<i32>
           %n, %y = array.while %zero, %a : (tensor<i32>, tensor<?xf32>) -> (tensor<i32>, tensor<?xf32>) condition {
           ^bb0(%i: tensor<i32>, %v: tensor<?xf32>):
             %more = array.compare lt, %i, %two : (tensor<i32>, tensor<i32>) -> tensor<i1>
             array.yield %more : tensor<i1>
           } body {
           ^bb0(%i: tensor<i32>, %v: tensor<?xf32>):
             %next = array.add %i, %one : tensor<i32>
             %sum = array.add %v, %b : tensor<?xf32>
             array.yield %next, %sum : tensor<i32>, tensor<?xf32>
           }""", "?", lambda a, b: a + 2 * b, [((3,), (3,))], [((3,), (2,))]),
]


def values(requirement, shapes):
    inputs = []
    for number, (sizes, shape) in enumerate(zip(requirement.types, shapes)):
        if "i32" in sizes:
            inputs.append(Tensor("i32", np.arange(int(np.prod(shape))).reshape(shape) % 2))
        elif "i1" in sizes:
            inputs.append(Tensor("i1", np.arange(int(np.prod(shape))).reshape(shape) % 2 == 0))
        else:
            inputs.append(random("f32", shape, 10 + number, -1, 1))
    return inputs


def case_of(requirement):
    """The function, which returns a sum so that its gradient needs nothing of a linear op but sizes, and that gradient."""
    rank = 0 if requirement.result in ("", "i32") else requirement.result.replace("xi32", "").count("x") + 1
    element = "i32" if "i32" in requirement.result else "f32"
    body = "\n".join("    " + line.strip() for line in requirement.ops.strip().splitlines())
    if rank:
        body += f"\n    %sum = array.reduce sum, %y axes = {list(range(rank))} : {typed(requirement.result)} -> tensor<{element}>"
    text = function("", [(f"%{letter}", typed(type)) for letter, type in zip("abcd", requirement.types)],
                    [("%sum" if rank else "%y", f"tensor<{element}>")], body)
    one, steps = Tensor("f32", 1.0), []
    for shapes in requirement.taken:
        inputs = values(requirement, shapes)
        is_float = [tensor.dtype == "f32" for tensor in inputs]

        def total(*floats):
            floats = iter(floats)
            return [requirement.reference(*(next(floats) if known else tensor.values for tensor, known in zip(inputs, is_float))).sum()]
        floats = [tensor.values for tensor, known in zip(inputs, is_float) if known]
        steps.append(Step(inputs, [(element, total(*floats)[0])]))
        if requirement.differentiable:
            steps.append(Step([*inputs, one], [("f32", gradient) for gradient in pulled_back(total, floats, [1.0])], "_vjp"))
    for shapes in requirement.refused:
        inputs = values(requirement, shapes)
        steps.append(Step(inputs, error=REFUSED))
        if requirement.differentiable:
            steps.append(Step([*inputs, one], function="_vjp", error=REFUSED))
    return Case(requirement.name, text, steps, "model", gradients=("",) if requirement.differentiable else ())


def cases():
    return [case_of(requirement) for requirement in REQUIREMENTS]
