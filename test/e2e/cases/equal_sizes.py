"""Arrays whose dims are all of one size, read along several of them in one kernel.

Where sizes differ, they tell dims apart: a fusion that takes one loop for another does not fit and is not made. Squares and cubes have
only their maps to go by. So each way of joining a reduction with what is around it is tried here with equal dims: what is reduced,
along which dims, where its result is spread, and what it meets there, straight or transposed.
"""
import hashlib
import itertools

import numpy as np

from cases import attention, conv, lines, matmul
from tensors import mlir_type, random
from harness import simple
from traced import Program

# What the largest ones hold is more than one workgroup goes through alone.
SQUARES = (1, 2, 6, 33, 64, 150)
CUBES = (1, 3, 8, 30)


def is_drawn(name, share):
    """One in `share`, the same ones whatever others there are."""
    return int(hashlib.sha256(name.encode()).hexdigest(), 16) % share == 0


def base(p, kind, shape):
    """What is reduced: an input, what one op makes of it, or a product."""
    x = p.random("f32", shape, low=-2, high=2)
    if kind == "input":
        return x
    if kind == "exp":
        return p.exp(x)
    return p.matmul(x, p.weight("f32", *shape[-2:]))


def spread(p, x, axis, rank):
    """A vector along `axis` of an array of `rank` dims."""
    return p.op("expand_dims", lambda v: v.reshape([-1 if i == axis else 1 for i in range(rank)]), x,
                options=f" axes = {[i for i in range(rank) if i != axis]}", form="arrow")


def squares():
    for kind, reduction, axis, along, transposed, n in itertools.product(
            ("input", "exp", "matmul"), ("max", "sum"), (0, 1), (0, 1), (False, True), SQUARES):
        name = f"{kind}_{reduction}{axis}_along{along}{'_transposed' * transposed}_{n}"
        if n not in (6, 33) and not is_drawn(name, 4):
            continue
        p = Program()
        x = base(p, kind, (n, n))
        other = p.transpose(x, 1, 0) if transposed else x
        yield p.case(name, p.sub(other, spread(p, p.reduce(reduction, x, [axis]), along, 2)), kind="sum")


def reductions_of_reductions():
    """Rows' maxima meet columns', and the result is reduced once more."""
    for first, second, last, n in itertools.product((0, 1), (0, 1), ((0,), (1,), (0, 1)), (5, 32)):
        p = Program()
        x = p.random("f32", (n, n), low=-2, high=2)
        rows = spread(p, p.reduce("max", x, [first]), 1 - first, 2)
        centred = p.sub(x, rows)
        sums = spread(p, p.reduce("sum", p.square(centred), [second]), first, 2)
        yield p.case(f"twice_{first}{second}{''.join(map(str, last))}_{n}", p.reduce("sum", p.mul(centred, sums), last), centred,
                     kind="sum")


def cubes():
    """Two dims of three, or one, are reduced; what is left is spread in each order."""
    for axes, n in itertools.product(((0,), (1,), (2,), (0, 1), (0, 2), (1, 2)), CUBES):
        kept = 3 - len(axes)
        for along, swapped, order in itertools.product(itertools.combinations(range(3), kept), (False, True), itertools.permutations(range(3))):
            name = f"cube_{''.join(map(str, axes))}_along{''.join(map(str, along))}{'_swapped' * swapped}_by{''.join(map(str, order))}_{n}"
            if (swapped and kept == 1) or not is_drawn(name, 6):
                continue
            p = Program()
            x = p.random("f32", (n, n, n), low=-2, high=2)
            reduced = p.reduce("max", x, list(axes))
            reduced = p.transpose(reduced, 1, 0) if swapped else reduced
            wide = p.op("broadcast_in_dim", lambda v: broadcast_in_dim(v, along, (n, n, n)), reduced,
                        options=f" axes = {list(along)}", form="arrow")
            other = p.transpose(x, *order) if order != (0, 1, 2) else x
            yield p.case(name, p.sub(other, wide), kind="rounded")


def broadcast_in_dim(values, along, shape):
    """Dim i of `values` becomes dim along[i] of the result."""
    return np.broadcast_to(np.expand_dims(values, [dim for dim in range(len(shape)) if dim not in along]), shape)


def batches():
    """Products of batches as large as their matrices, with what follows along each of the three dims."""
    for axis, along, n in itertools.product((0, 1, 2), (0, 1, 2), (2, 8, 16)):
        p = Program()
        x, w = p.random("f32", (n, n, n)), p.random("f32", (n, n, n))
        product = p.matmul(x, w)
        vector = p.reduce("sum", p.reduce("max", product, [axis]), [0])
        yield p.case(f"batch_{axis}_along{along}_{n}", p.mul(product, spread(p, vector, along, 3)), kind="sum")


def norms():
    """A normalisation along one dim, scaled along another one."""
    for axis, along, n in itertools.product((0, 1), (0, 1), (4, 65)):
        p = Program()
        x, scale = p.random("f32", (n, n), low=-2, high=2), p.random("f32", (n,))
        centred = p.sub(x, p.mean(x, [axis], keepdims=True))
        variance = p.mean(p.square(centred), [axis], keepdims=True)
        normal = p.div(centred, p.sqrt(p.add(variance, 1e-3)))
        yield p.case(f"norm_{axis}_scaled{along}_{n}", p.mul(normal, spread(p, scale, along, 2)), p.transpose(normal, 1, 0),
                     kind="sum")


def residuals():
    """Products of 16-bit squares plus a square, which their epilogues read straight, transposed, or both; or plus an operand."""
    for n, way in itertools.product((64, 136, 256), ("straight", "transposed", "both", "twice", "operand")):
        p = Program()
        x, w, r = (p.random("bf16", (n, n)) for _ in range(3))
        product = p.matmul(x, p.mul(w, 1 / 16))
        turned = p.transpose(r, 1, 0)
        result = {"straight": lambda: p.relu(p.add(product, r)), "transposed": lambda: p.add(product, turned),
                  "both": lambda: p.add(p.add(product, r), turned), "twice": lambda: p.add(p.mul(product, r), r),
                  "operand": lambda: p.add(product, x)}[way]()
        yield p.case(f"residual_{way}_{n}", result, kind="through_bf16")


def families():
    """Ops with kernels of their own, all of whose dims are of one size."""
    for n in (1, 2, 8, 16):
        shape = (n, n, n, n)
        yield attention.case(f"attention_{n}", attention.inputs("f32", shape, shape))
        yield attention.case(f"attention_causal_{n}", attention.inputs("f16", shape, shape), "causal", causal=True)
        mask = random("f32", shape, 5)
        yield attention.case(f"attention_mask_{n}", attention.inputs("f32", shape, shape), mask=mask)
        x = random("f32", (n, n, n), 6)
        for options, b in (("", x.values), (" transpose_b", x.values.swapaxes(1, 2))):
            yield matmul.product(x, x, options, x.values @ b, f"_equal{options.strip()}")
        for axis in (0, 1, 2):
            yield lines.sort_case(f"sort_{n}_{axis}", x, axis)
            yield simple(f"softmax_{n}_{axis}", [x], [("f32", softmax(x.values, axis))],
                         f"%r0 = array.softmax %0 axis = {axis} : {x.mlir}", "composite")
            yield simple(f"cumsum_{n}_{axis}", [x], [("f32", np.cumsum(x.values, axis))],
                         f"%r0 = array.cumsum %0 axis = {axis} : {x.mlir} -> {x.mlir}", "sum")
            indices = random("i32", (n, n, n), 7, 0, n)
            yield simple(f"take_{n}_{axis}", [x, indices], [("f32", np.take_along_axis(x.values, indices.values, axis))],
                         f"%r0 = array.take_along_axis %0[%1] axis = {axis} : ({x.mlir}, {indices.mlir}) -> "
                         f"{mlir_type('f32', (n, n, n))}", "exact")
    for n in (1, 3, 5):
        for dims in (conv.NHWC, conv.NCHW):
            window = dict(low=[n // 2] * 2, high=[n - 1 - n // 2] * 2)
            yield conv.case(f"conv_{n}_{dims[4]}", conv.random("f32", (n,) * 4, 8), conv.random("f32", (n,) * 4, 9), dims, **window)


def softmax(values, axis):
    weights = np.exp(values - values.max(axis, keepdims=True))
    return weights / weights.sum(axis, keepdims=True)


def cases():
    yield from families()
    yield from squares()
    yield from reductions_of_reductions()
    yield from cubes()
    yield from batches()
    yield from norms()
    yield from residuals()
