"""Programs of sizes that are known when inputs are bound: with ranges, products and sums of sizes, extents beside them; sizes of 0 and 1,
odd ones, and those at the ends of their ranges."""
import itertools

import numpy as np

from cases.conv import attributes as conv_attributes, convolve
from cases.extents import padded
from harness import Case, Step
from tensors import Tensor, random


def program(name, arguments, results, body, sizes, reference, kind="sum", ranges="", errors=()):
    """`arguments` are (value, element type, dims), dims being numbers or names; `sizes` are lists of what the names are; results are types.
    Inputs that are functions make their values of the sizes themselves."""
    texts, shapes = [], []
    for value, dtype, dims in arguments:
        text = "x".join(["?" if isinstance(dim, str) else str(dim) for dim in dims] + [dtype])
        names = ", ".join(f'"{dim}"' if isinstance(dim, str) else '""' for dim in dims)
        texts.append(f"{value}: tensor<{text}>" + (f" {{array.dims = [{names}]}}" if any(isinstance(dim, str) for dim in dims) else ""))
        shapes.append((dtype, dims))
    attributes = f" attributes {{array.dim_range = {{{ranges}}}}}" if ranges else ""
    returned, types = body.rsplit("\n", 1)[1].strip(), ", ".join(results)
    text = (f"  func.func @NAME({', '.join(texts)}) -> ({types}){attributes} {{\n{body.rsplit(chr(10), 1)[0]}\n"
            f"    return {returned} : {types}\n  }}\n")

    def inputs(environment):
        shaped = [(dtype, tuple(environment.get(dim, dim) for dim in dims)) for dtype, dims in shapes]
        return [random(dtype, shape, 70 + i, *((-1, 1) if dtype[0] in "fb" else (0, 4))) for i, (dtype, shape) in enumerate(shaped)]

    steps = []
    for environment in sizes:
        given = inputs(environment)
        with np.errstate(all="ignore"):
            wanted = reference(*(tensor.values for tensor in given))
        dtypes = [result.rstrip(">").split("x")[-1].split("<")[-1] for result in results]
        steps.append(Step(given, list(zip(dtypes, wanted))))
    steps += [Step(inputs(environment), error=message) for environment, message in errors]
    return Case(name, text, steps, kind)


def every(**sizes):
    """Every combination of sizes of the names."""
    return [dict(zip(sizes, values)) for values in itertools.product(*sizes.values())]


def fixed():
    """Ranges of one size, which kernels know; a call of another size is refused all the same."""
    for size in (0, 1, 8):
        yield program(f"only_{size}", [("%x", "f32", ("n", 5)), ("%w", "f32", (5, "n"))], ["tensor<?x?xf32>", "tensor<5xf32>", "tensor<?x5xf32>"],
                      """    %p = array.matmul %x, %w : (tensor<?x5xf32>, tensor<5x?xf32>) -> tensor<?x?xf32>
    %s = array.reduce sum, %x axes = [0] : tensor<?x5xf32> -> tensor<5xf32>
    %c = array.softmax %x axis = 1 : tensor<?x5xf32>
    %p, %s, %c""", every(n=(size,)), lambda x, w: [x @ w, x.sum(0), np.exp(x) / np.exp(x).sum(1, keepdims=True)],
                      ranges=f"n = [{size}, {size}, 1]", errors=[(dict(n=size + 1), f"{size + 1}")])
    yield program("only_multiple", [("%x", "f16", ("n", 16)), ("%w", "f16", (16, "n"))], ["tensor<?x?xf16>"],
                  """    %p = array.matmul %x, %w : (tensor<?x16xf16>, tensor<16x?xf16>) -> tensor<?x?xf16>
    %p""", every(n=(16,)), lambda x, w: [x @ w], ranges="n = [9, 24, 16]", errors=[(dict(n=24), "24"), (dict(n=0), "0")])
    # One name is known to have one size, the other turns out to be the same.
    yield program("only_by_another", [("%x", "f32", ("n",)), ("%y", "f32", ("m",))], ["tensor<?xf32>", "tensor<?xf32>"],
                  """    %s = array.add %x, %y : tensor<?xf32>
    %c = array.concatenate %s, %y axis = 0 : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
    %s, %c""", [dict(n=3, m=3)], lambda x, y: [x + y, np.concatenate([x + y, y])], ranges="n = [3, 3, 1], m = [0, 8, 1]",
                  errors=[(dict(n=3, m=4), "4"), (dict(n=4, m=4), "4")])


def products():
    """Sizes that are products, sums and quotients of sizes."""
    yield program("merged", [("%x", "f32", ("n", "m", 3)), ("%v", "f32", ("m",))], ["tensor<?xf32>", "tensor<?x3xf32>", "tensor<?xf32>"],
                  """    %a = array.reshape %x : tensor<?x?x3xf32> -> tensor<?xf32>
    %n = array.dim %x, 0 : tensor<?x?x3xf32>
    %m = array.dim %x, 1 : tensor<?x?x3xf32>
    %nm = arith.muli %n, %m : index
    %b = array.reshape %x sizes(%nm) : tensor<?x?x3xf32> -> tensor<?x3xf32>
    %c = array.reduce sum, %b axes = [1] : tensor<?x3xf32> -> tensor<?xf32>
    %d = array.neg %a : tensor<?xf32>
    %d, %b, %c""", every(n=(0, 1, 3, 8), m=(0, 1, 5)), lambda x, v: [-x.reshape(-1), x.reshape(-1, 3), x.reshape(-1, 3).sum(1)])
    yield program("split_again", [("%x", "f32", ("n", "m")), ("%y", "f32", ("n", "m"))], ["tensor<?x?xf32>", "tensor<?xf32>"],
                  """    %n = array.dim %x, 0 : tensor<?x?xf32>
    %m = array.dim %x, 1 : tensor<?x?xf32>
    %a = array.reshape %x : tensor<?x?xf32> -> tensor<?xf32>
    %b = array.cumsum %a axis = 0 : tensor<?xf32> -> tensor<?xf32>
    %c = array.reshape %b sizes(%n, %m) : tensor<?xf32> -> tensor<?x?xf32>
    %d = array.add %c, %y : tensor<?x?xf32>
    %e = array.reduce sum, %d axes = [0] : tensor<?x?xf32> -> tensor<?xf32>
    %d, %e""", every(n=(0, 1, 7, 16), m=(0, 1, 4)),
                  lambda x, y: [x.reshape(-1).cumsum().reshape(x.shape) + y, (x.reshape(-1).cumsum().reshape(x.shape) + y).sum(0)])
    yield program("heads", [("%x", "f16", ("b", "s", 64)), ("%w", "f16", (64, 64))], ["tensor<?x4x?x16xf16>", "tensor<?x?x64xf16>"],
                  """    %b = array.dim %x, 0 : tensor<?x?x64xf16>
    %s = array.dim %x, 1 : tensor<?x?x64xf16>
    %p = array.matmul %x, %w : (tensor<?x?x64xf16>, tensor<64x64xf16>) -> tensor<?x?x64xf16>
    %h = array.reshape %p sizes(%b, %s) : tensor<?x?x64xf16> -> tensor<?x?x4x16xf16>
    %t = array.transpose %h permutation = [0, 2, 1, 3] : tensor<?x?x4x16xf16> -> tensor<?x4x?x16xf16>
    %u = array.transpose %t permutation = [0, 2, 1, 3] : tensor<?x4x?x16xf16> -> tensor<?x?x4x16xf16>
    %y = array.reshape %u sizes(%b, %s) : tensor<?x?x4x16xf16> -> tensor<?x?x64xf16>
    %t, %y""", every(b=(0, 1, 3), s=(0, 1, 7, 32)),
                  lambda x, w: [(x @ w).reshape(x.shape[0], x.shape[1], 4, 16).transpose(0, 2, 1, 3), x @ w], "model",
                  ranges="b = [0, 3, 1], s = [0, 32, 1]", errors=[(dict(b=4, s=1), "4"), (dict(b=1, s=33), "33")])
    yield program("product_of_a_sum", [("%a", "f32", (5, "n")), ("%b", "f32", (5, "m")), ("%w", "f32", ("k", 7))], ["tensor<5x7xf32>", "tensor<5xf32>"],
                  """    %j = array.concatenate %a, %b axis = 1 : (tensor<5x?xf32>, tensor<5x?xf32>) -> tensor<5x?xf32>
    %p = array.matmul %j, %w : (tensor<5x?xf32>, tensor<?x7xf32>) -> tensor<5x7xf32>
    %s = array.reduce max, %j axes = [1] : tensor<5x?xf32> -> tensor<5xf32>
    %p, %s""", [dict(n=n, m=m, k=n + m) for n, m in itertools.product((1, 4, 9), (0, 1, 8))],
                  lambda a, b, w: [np.concatenate([a, b], 1) @ w, np.concatenate([a, b], 1).max(1)],
                  errors=[(dict(n=2, m=3, k=6), "5 and 6|6 and 5")])
    yield program("joined_twice", [("%a", "f32", ("n", 4)), ("%b", "f32", ("m", 4))], ["tensor<?x4xf32>", "tensor<?xf32>", "tensor<f32>"],
                  """    %j = array.concatenate %a, %b, %a axis = 0 : (tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
    %k = array.concatenate %b, %a, %a axis = 0 : (tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
    %s = array.add %j, %k : tensor<?x4xf32>
    %r = array.reduce sum, %s axes = [1] : tensor<?x4xf32> -> tensor<?xf32>
    %v = array.sort %r axis = 0 : tensor<?xf32> -> tensor<?xf32>
    %m = array.mean %s axes = [0, 1] : tensor<?x4xf32> -> tensor<f32>
    %s, %v, %m""", every(n=(0, 1, 5), m=(1, 3)), lambda a, b: (lambda s: [s, np.sort(s.sum(1)), s.mean()])(
                      np.concatenate([a, b, a]) + np.concatenate([b, a, a])), "model")
    yield program("halves", [("%x", "f32", ("n", 6))], ["tensor<?x6xf32>", "tensor<?x6xf32>"],
                  """    %n = array.dim %x, 0 : tensor<?x6xf32>
    %two = arith.constant 2 : index
    %h = arith.divui %n, %two : index
    %pairs = array.reshape %x sizes(%h) : tensor<?x6xf32> -> tensor<?x2x6xf32>
    %a = array.slice %pairs [:, 0:1, :] : tensor<?x2x6xf32> -> tensor<?x1x6xf32>
    %b = array.slice %pairs [:, 1:2, :] : tensor<?x2x6xf32> -> tensor<?x1x6xf32>
    %c = array.squeeze %a axes = [1] : tensor<?x1x6xf32> -> tensor<?x6xf32>
    %d = array.squeeze %b axes = [1] : tensor<?x1x6xf32> -> tensor<?x6xf32>
    %s = array.sub %c, %d : tensor<?x6xf32>
    %t = array.tile %s repeats = [3, 1] : tensor<?x6xf32> -> tensor<?x6xf32>
    %s, %t""", every(n=(0, 2, 8, 100)), lambda x: [x[::2] - x[1::2], np.tile(x[::2] - x[1::2], (3, 1))],
                  ranges="n = [0, 100, 2]", errors=[(dict(n=3), "3"), (dict(n=102), "102")])
    yield program("outer", [("%a", "f32", ("n",)), ("%b", "f32", ("m",))], ["tensor<?x?xf32>", "tensor<?xf32>", "tensor<f32>"],
                  """    %n = array.dim %a, 0 : tensor<?xf32>
    %m = array.dim %b, 0 : tensor<?xf32>
    %one = arith.constant 1 : index
    %c = array.reshape %a sizes(%n) : tensor<?xf32> -> tensor<?x1xf32>
    %p = array.mul %c, %b : (tensor<?x1xf32>, tensor<?xf32>) -> tensor<?x?xf32>
    %f = array.reshape %p : tensor<?x?xf32> -> tensor<?xf32>
    %r = array.reverse %f axes = [0] : tensor<?xf32> -> tensor<?xf32>
    %s = array.reduce sum, %r axes = [0] : tensor<?xf32> -> tensor<f32>
    %p, %r, %s""", every(n=(0, 1, 33), m=(0, 1, 17)), lambda a, b: [np.outer(a, b), np.outer(a, b).reshape(-1)[::-1], np.outer(a, b).sum()])


def ends():
    """Sizes at the ends of ranges, whose kernels have no other variant."""
    yield program("aligned", [("%x", "f16", ("n", "k")), ("%w", "f16", ("k", "m")), ("%b", "f16", ("m",))], ["tensor<?x?xf16>", "tensor<?xf16>"],
                  """    %p = array.matmul %x, %w : (tensor<?x?xf16>, tensor<?x?xf16>) -> tensor<?x?xf16>
    %y = array.add %p, %b : (tensor<?x?xf16>, tensor<?xf16>) -> tensor<?x?xf16>
    %r = array.relu %y : tensor<?x?xf16>
    %s = array.reduce max, %r axes = [0] : tensor<?x?xf16> -> tensor<?xf16>
    %r, %s""", [dict(n=n, k=k, m=m) for n, k, m in ((1, 8, 8), (1, 64, 128), (100, 64, 8), (33, 16, 128), (100, 8, 128))],
                  lambda x, w, b: [np.maximum(x @ w + b, 0), np.maximum(x @ w + b, 0).max(0)], "model",
                  ranges="n = [1, 100, 1], k = [8, 64, 8], m = [8, 128, 8]",
                  errors=[(dict(n=0, k=8, m=8), "0"), (dict(n=1, k=12, m=8), "12"), (dict(n=1, k=8, m=136), "136")])
    yield program("nothing_summed", [("%x", "f16", ("n", "k")), ("%w", "f16", ("k", "m"))], ["tensor<?x?xf16>"],
                  """    %p = array.matmul %x, %w : (tensor<?x?xf16>, tensor<?x?xf16>) -> tensor<?x?xf16>
    %p""", every(n=(1, 16, 65), k=(0, 8, 40), m=(0, 8, 64)), lambda x, w: [x @ w], "model", ranges="k = [0, 64, 8], m = [0, 64, 8]")
    yield program("rows_and_columns", [("%x", "f32", ("n", "m"))], ["tensor<?x?xf32>", "tensor<?xf32>", "tensor<?xf32>", "tensor<?x?xf32>"],
                  """    %t = array.transpose %x permutation = [1, 0] : tensor<?x?xf32> -> tensor<?x?xf32>
    %r = array.reduce sum, %x axes = [0] : tensor<?x?xf32> -> tensor<?xf32>
    %c = array.reduce sum, %x axes = [1] : tensor<?x?xf32> -> tensor<?xf32>
    %l = array.layer_norm %x axis = 1 epsilon = 0.1 : tensor<?x?xf32>
    %t, %r, %c, %l""", every(n=(0, 1, 40), m=(4, 64)), lambda x: [
                      x.T, x.sum(0), x.sum(1), (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 0.1)], "model",
                  ranges="n = [0, 40, 1], m = [4, 64, 4]")
    yield program("lines", [("%x", "f32", ("n", "m"))], ["tensor<?x?xf32>", "tensor<?x?xi32>", "tensor<?x?xf32>"],
                  """    %s = array.sort %x axis = 1 : tensor<?x?xf32> -> tensor<?x?xf32>
    %i = array.argsort %x axis = 1 : tensor<?x?xf32> -> tensor<?x?xi32>
    %c = array.cumsum %x axis = 1 : tensor<?x?xf32> -> tensor<?x?xf32>
    %s, %i, %c""", every(n=(0, 1, 3), m=(0, 1, 2, 31, 300)), lambda x: [np.sort(x, 1), np.argsort(x, 1, kind="stable"), x.cumsum(1)],
                  ranges="n = [0, 3, 1], m = [0, 300, 1]")
    yield program("best", [("%x", "f32", ("n", "m"))], ["tensor<?x4xf32>", "tensor<?xi32>"],
                  """    %v, %i = array.topk %x k = 4 axis = 1 : tensor<?x?xf32> -> tensor<?x4xf32>, tensor<?x4xi32>
    %a = array.argmax %x axis = 1 : tensor<?x?xf32> -> tensor<?xi32>
    %v, %a""", every(n=(0, 1, 9), m=(4, 5, 260)), lambda x: [-np.sort(-x, 1)[:, :4], x.argmax(1)], "exact",
                  ranges="m = [4, 260, 1]", errors=[(dict(n=1, m=3), "3")])
    yield program("attention", [("%q", "f16", ("b", 2, "s", 16)), ("%k", "f16", ("b", 2, "t", 16))], ["tensor<?x2x?x16xf16>"],
                  """    %y = array.attention %q, %k, %k scale = 0.25 : (tensor<?x2x?x16xf16>, tensor<?x2x?x16xf16>, tensor<?x2x?x16xf16>) -> tensor<?x2x?x16xf16>
    %y""", every(b=(0, 1, 2), s=(0, 1, 33), t=(1, 64)), attend, "model", ranges="b = [0, 2, 1], s = [0, 33, 1], t = [1, 64, 1]")


def columns():
    """Sums down columns of any length, which a GPU has in 128 parts: shorter ones than these, and with some rows more than others. A row is
    more than a line of memory or less, and dims that count rows may be several; elements with their places keep their order."""
    wide = """    %s = array.reduce sum, %x axes = [0] : tensor<?x{0}xf32> -> tensor<{0}xf32>
    %m = array.reduce max, %x axes = [0] : tensor<?x{0}xf32> -> tensor<{0}xf32>
    %a = array.argmax %x axis = 0 : tensor<?x{0}xf32> -> tensor<{0}xi32>
    %s, %m, %a"""
    for count in (8, 64):
        yield program(f"columns_{count}", [("%x", "f32", ("n", count))], [f"tensor<{count}xf32>"] * 2 + [f"tensor<{count}xi32>"], wide.format(count),
                      every(n=(1, 2, 127, 128, 129, 300, 1000)), lambda x: [x.sum(0), x.max(0), x.argmax(0)])
    yield program("columns_of_none", [("%x", "f32", ("n", 64))], ["tensor<64xf32>"],
                  """    %s = array.reduce sum, %x axes = [0] : tensor<?x64xf32> -> tensor<64xf32>
    %s""", every(n=(0, 5)), lambda x: [x.sum(0)])
    yield program("columns_of_images", [("%x", "f32", ("n", "h", 3, 40))], ["tensor<40xf32>", "tensor<40xf32>", "tensor<?x?x3x40xf32>"],
                  """    %s = array.constant dense<1.0> : tensor<40xf32>
    %y, %m, %v = array.batch_norm_training %x, %s, %s axis = 3 epsilon = 0.1
        : (tensor<?x?x3x40xf32>, tensor<40xf32>, tensor<40xf32>) -> (tensor<?x?x3x40xf32>, tensor<40xf32>, tensor<40xf32>)
    %m, %v, %y""", every(n=(1, 3, 19), h=(1, 7, 20)), lambda x: [
                      x.mean((0, 1, 2)), x.var((0, 1, 2)), (x - x.mean((0, 1, 2))) / np.sqrt(x.var((0, 1, 2)) + 0.1) + 1], "model")


def attend(q, k):
    scores = q @ k.swapaxes(2, 3) * 0.25
    e = np.exp(scores - scores.max(3, keepdims=True)) if scores.size else scores
    return [(e / e.sum(3, keepdims=True) if scores.size else e) @ k]


def windows():
    line = "[b, 0, f] x [0, i, o] -> [b, 0, f]"
    yield program("windows_in_range", [("%x", "f32", (1, "n", 4)), ("%w", "f32", (3, 4, 5))], ["tensor<1x?x5xf32>", "tensor<1x?x5xf32>"],
                  f"""    %y = array.conv %x, %w {conv_attributes(line, {})} : (tensor<1x?x4xf32>, tensor<3x4x5xf32>) -> tensor<1x?x5xf32>
    %m = array.reduce_window max, %y window = [1, 3, 1] : tensor<1x?x5xf32> -> tensor<1x?x5xf32>
    %y, %m""", every(n=(3, 4, 5, 6, 16)), lambda x, w: (lambda y: [y, np.stack([y[:, i:i + 3].max(1) for i in range(y.shape[1] - 2)], 1)
                                                                     if y.shape[1] > 2 else np.zeros((1, 0, 5))])(convolve(x, w, line)),
                  ranges="n = [3, 16, 1]")
    # What a window leaves beside what a slice does, and joined with other sizes.
    yield program("windows_and_slices", [("%x", "f32", (1, "n", 4)), ("%w", "f32", (3, 4, 4))], ["tensor<1x?x4xf32>", "tensor<1x?x8xf32>"],
                  f"""    %y = array.conv %x, %w {conv_attributes(line, {})} : (tensor<1x?x4xf32>, tensor<3x4x4xf32>) -> tensor<1x?x4xf32>
    %c = array.slice %x [:, 2:, :] : tensor<1x?x4xf32> -> tensor<1x?x4xf32>
    %s = array.add %y, %c : tensor<1x?x4xf32>
    %j = array.concatenate %y, %c axis = 2 : (tensor<1x?x4xf32>, tensor<1x?x4xf32>) -> tensor<1x?x8xf32>
    %s, %j""", every(n=(2, 3, 9)), lambda x, w: (lambda y: [y + x[:, 2:], np.concatenate([y, x[:, 2:]], 2)])(convolve(x, w, line)),
                  errors=[(dict(n=1), "2 and 1|1 and 2")])
    yield program("windows_of_sums", [("%x", "f32", ("n",)), ("%z", "f32", ("m",))], ["tensor<?xf32>", "tensor<?xf32>", "tensor<f32>"],
                  """    %j = array.concatenate %x, %z axis = 0 : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
    %y = array.reduce_window sum, %j window = [4] strides = [2] : tensor<?xf32> -> tensor<?xf32>
    %k = array.concatenate %y, %x axis = 0 : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
    %s = array.reduce sum, %y axes = [0] : tensor<?xf32> -> tensor<f32>
    %y, %k, %s""", every(n=(0, 1, 5), m=(0, 2, 4)), windows_of_sums)


def windows_of_sums(x, z):
    j = np.concatenate([x, z])
    y = np.array([j[i:i + 4].sum() for i in range(0, len(j) - 3, 2)])
    return [y, np.concatenate([y, x]), y.sum()]


def chosen():
    """Regions that sizes choose, and loops that carry sizes."""
    yield program("by_sizes", [("%x", "f32", ("n", 4))], ["tensor<4xf32>"],
                  """    %n = array.dim %x, 0 : tensor<?x4xf32>
    %rows = array.from_index %n : tensor<i64>
    %three = array.constant dense<3> : tensor<i64>
    %many = array.compare ge, %rows, %three : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %y = array.if %many : tensor<i1> -> (tensor<4xf32>) {
      %w = array.reduce_window sum, %x window = [3, 1] : tensor<?x4xf32> -> tensor<?x4xf32>
      %s = array.slice %w [0:1, :] : tensor<?x4xf32> -> tensor<1x4xf32>
      %t = array.squeeze %s axes = [0] : tensor<1x4xf32> -> tensor<4xf32>
      array.yield %t : tensor<4xf32>
    } else {
      %s = array.reduce sum, %x axes = [0] : tensor<?x4xf32> -> tensor<4xf32>
      array.yield %s : tensor<4xf32>
    }
    %y""", every(n=(0, 1, 2, 3, 20)), lambda x: [x[:3].sum(0)])
    yield program("carried", [("%x", "f32", ("n", "m")), ("%w", "f32", ("m", "m"))], ["tensor<?x?xf32>"],
                  """    %zero = array.constant dense<0> : tensor<i32>
    %one = array.constant dense<1> : tensor<i32>
    %three = array.constant dense<3> : tensor<i32>
    %i, %y = array.while %zero, %x : (tensor<i32>, tensor<?x?xf32>) -> (tensor<i32>, tensor<?x?xf32>) condition {
    ^bb0(%i: tensor<i32>, %v: tensor<?x?xf32>):
      %more = array.compare lt, %i, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
      array.yield %more : tensor<i1>
    } body {
    ^bb0(%i: tensor<i32>, %v: tensor<?x?xf32>):
      %next = array.add %i, %one : tensor<i32>
      %p = array.matmul %v, %w : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
      %t = array.tanh %p : tensor<?x?xf32>
      array.yield %next, %t : tensor<i32>, tensor<?x?xf32>
    }
    %y""", every(n=(0, 1, 5), m=(1, 4)), lambda x, w: [np.tanh(np.tanh(np.tanh(x @ w) @ w) @ w)], "model", ranges="n = [0, 5, 1], m = [1, 4, 1]")


def extents():
    """Extents in device memory beside sizes that the host knows."""
    yield program("kept_rows", [("%x", "f32", ("n", 3)), ("%z", "f32", ("m", 3))], ["tensor<i64>", "tensor<3xf32>", "tensor<?x3xf32>"],
                  """    %zero = array.constant dense<0.0> : tensor<f32>
    %first = array.slice %x [:, 0:1] : tensor<?x3xf32> -> tensor<?x1xf32>
    %score = array.squeeze %first axes = [1] : tensor<?x1xf32> -> tensor<?xf32>
    %keep = array.compare gt, %score, %zero : (tensor<?xf32>, tensor<f32>) -> tensor<?xi1>
    %rows = array.compress %x, %keep axis = 0 : (tensor<?x3xf32>, tensor<?xi1>) -> tensor<?x3xf32>
    %both = array.concatenate %rows, %z axis = 0 : (tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
    %count = array.extent %both, 0 : tensor<?x3xf32> -> tensor<i64>
    %s = array.reduce sum, %both axes = [0] : tensor<?x3xf32> -> tensor<3xf32>
    %p = array.pad_to_bound %rows, %zero : (tensor<?x3xf32>, tensor<f32>) -> tensor<?x3xf32>
    %count, %s, %p""", every(n=(0, 1, 9, 64), m=(0, 1, 4)), kept_rows, ranges="n = [0, 64, 1]")
    line = "[b, 0, f] x [0, i, o] -> [b, 0, f]"
    # The window ends where data says, and so does the result.
    for name, window in (("", {}), ("_strided", dict(strides=[2], low=[1], high=[2], filter_dilation=[2]))):
        text = f"""  func.func @NAME(%x: tensor<2x?x4xf32>, %w: tensor<5x4x3xf32>, %n: tensor<i64>) -> (tensor<i64>, tensor<3xf32>, tensor<2x3xf32>) {{
    %k = array.set_extent %w, %n axis = 0 : (tensor<5x4x3xf32>, tensor<i64>) -> tensor<?x4x3xf32>
    %y = array.conv %x, %k {conv_attributes(line, window)} : (tensor<2x?x4xf32>, tensor<?x4x3xf32>) -> tensor<2x?x3xf32>
    %e = array.extent %y, 1 : tensor<2x?x3xf32> -> tensor<i64>
    %s = array.reduce sum, %y axes = [0, 1] : tensor<2x?x3xf32> -> tensor<3xf32>
    %m = array.reduce max, %y axes = [1] : tensor<2x?x3xf32> -> tensor<2x3xf32>
    return %e, %s, %m : tensor<i64>, tensor<3xf32>, tensor<2x3xf32>
  }}
"""
        steps = []
        for size, taps in itertools.product((1, 3, 9), (1, 2, 5)):
            x, w = random("f32", (2, size, 4), 80, -1, 1), random("f32", (5, 4, 3), 81, -1, 1)
            y = convolve(x.values, w.values[:taps], line, **window)
            most = y.max(1) if y.shape[1] else np.full((2, 3), -np.inf)
            steps.append(Step([x, w, Tensor("i64", np.asarray(taps))], [("i64", np.asarray(y.shape[1])), ("f32", y.sum((0, 1))), ("f32", most)]))
        yield Case(f"window_of_an_extent{name}", text, steps, "model")
    # The image ends where data says, the window has a size that the host knows.
    text = f"""  func.func @NAME(%x: tensor<2x9x4xf32>, %w: tensor<?x4x3xf32>, %n: tensor<i64>) -> (tensor<i64>, tensor<3xf32>) {{
    %r = array.set_extent %x, %n axis = 1 : (tensor<2x9x4xf32>, tensor<i64>) -> tensor<2x?x4xf32>
    %y = array.conv %r, %w {conv_attributes(line, dict(high=[1]))} : (tensor<2x?x4xf32>, tensor<?x4x3xf32>) -> tensor<2x?x3xf32>
    %e = array.extent %y, 1 : tensor<2x?x3xf32> -> tensor<i64>
    %s = array.reduce sum, %y axes = [0, 1] : tensor<2x?x3xf32> -> tensor<3xf32>
    return %e, %s : tensor<i64>, tensor<3xf32>
  }}
"""
    steps = []
    for size, taps in itertools.product((0, 1, 4, 9), (1, 3, 12)):
        x, w = random("f32", (2, 9, 4), 82, -1, 1), random("f32", (taps, 4, 3), 83, -1, 1)
        y = convolve(x.values[:, :size], w.values, line, high=[1])
        steps.append(Step([x, w, Tensor("i64", np.asarray(size))], [("i64", np.asarray(y.shape[1])), ("f32", y.sum((0, 1)))]))
    yield Case("open_window_over_an_extent", text, steps, "model")


def kept_rows(x, z):
    rows = x[x[:, 0] > 0]
    both = np.concatenate([rows, z])
    return [np.asarray(len(both)), both.sum(0), padded(rows, len(x))]


def cases():
    for make in (fixed, products, ends, columns, windows, chosen, extents):
        yield from make()
