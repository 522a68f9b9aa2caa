"""Programs about images as users have them: training steps, networks, and what stands before and behind them."""
import statistics

import numpy as np

from cases import conv, pool
from cases.generators import KEY, bits, unit
from tensors import Tensor
from traced import Program

NHWC, NCHW = conv.NHWC, conv.NCHW


def convolved(p, x, w, dims=NHWC, dtype=None, **window):
    return p.op("conv", lambda v, k: conv.convolve(v, k, dims, **window), x, w, options=" " + conv.attributes(dims, window), dtype=dtype)


def batch_norm(p, x, scale, shift, axis):
    """Normalised, mean, variance."""
    def function(v, s, b):
        axes = tuple(i for i in range(v.ndim) if i != axis)
        shape = [-1 if i == axis else 1 for i in range(v.ndim)]
        mean, variance = v.mean(axes), v.var(axes)
        return (v - mean.reshape(shape)) / np.sqrt(variance.reshape(shape) + 1e-5) * s.reshape(shape) + b.reshape(shape), mean, variance
    results = [list(part) for part in zip(*(function(*arrays) for arrays in zip(x.arrays, scale.arrays, shift.arrays)))]
    types = f"({x.type}, {scale.type}, {scale.type})"
    return p.emit_all(f"array.batch_norm_training {x.name}, {scale.name}, {shift.name} axis = {axis} epsilon = 1.0e-5 : "
                      f"({x.type}, {scale.type}, {shift.type}) -> {types}", [x.dtype] * 3, results)


def max_pool(p, x, **window):
    return p.op("reduce_window max,", lambda v: pool.reduced("max", Tensor("f64", v), **window), x, options=" " + pool.attributes(window), form="arrow")


def resnet_block():
    """Forward in training: batch statistics kept as running averages, a projection, and the loss."""
    p = Program(2)
    x = p.random("f32", (2, 9, 9, 6), (3, 9, 9, 6))
    w1, w2, w3 = p.weight("f32", 3, 3, 6, 8), p.weight("f32", 3, 3, 8, 8), p.weight("f32", 1, 1, 6, 8)
    scales = [p.random("f32", (8,), low=0.5, high=1.5) for _ in range(2)]
    shifts = [p.random("f32", (8,)) for _ in range(2)]
    running = p.random("f32", (8,))
    same = dict(low=[1, 1], high=[1, 1])
    y = convolved(p, x, w1, strides=[2, 2], **same)
    y, mean, variance = batch_norm(p, y, scales[0], shifts[0], 3)
    y = p.relu(y)
    y, _, _ = batch_norm(p, convolved(p, y, w2, **same), scales[1], shifts[1], 3)
    y = p.relu(p.add(y, convolved(p, x, w3, strides=[2, 2])))
    kept = p.add(p.mul(running, 0.9), p.mul(mean, 0.1))
    return p.case("resnet_block", p.mean(y, [1, 2]), kept, variance)


def mobilenet():
    """Inverted residual with squeeze and excitation, channels first, f16."""
    p = Program(2)
    x = p.random("f16", (1, 8, 7, 11), (4, 8, 7, 11))
    expand, depth, project = p.weight("f16", 24, 8, 1, 1), p.random("f16", (24, 1, 3, 3), low=-0.5, high=0.5), p.weight("f16", 8, 24, 1, 1)
    y = convolved(p, x, expand, NCHW)
    y = p.min(p.relu(y), 6.0)
    y = convolved(p, y, depth, NCHW, low=[1, 1], high=[1, 1], feature_groups=24)
    squeeze, excite = p.weight("f16", 24, 6), p.weight("f16", 6, 24)
    s = p.mean(y, [2, 3])
    s = p.sigmoid(p.matmul(p.silu(p.matmul(s, squeeze)), excite))
    s = p.op("expand_dims", lambda v: v[:, :, None, None], s, options=" axes = [2, 3]", form="arrow")
    y = p.add(convolved(p, p.mul(y, s), project, NCHW), x)
    return p.case("mobilenet", y)


def unet():
    """Down, up by a transposed convolution and by resizing, joined with what was before."""
    p = Program(2)
    x = p.random("f32", (2, 8, 10, 3), (1, 8, 10, 3))
    first, second = p.weight("f32", 3, 3, 3, 4), p.weight("f32", 3, 3, 4, 8)
    same = dict(low=[1, 1], high=[1, 1])
    a = p.relu(convolved(p, x, first, **same))
    d = max_pool(p, a, window=[1, 2, 2, 1], strides=[1, 2, 2, 1])
    d = p.relu(convolved(p, d, second, **same))
    up = convolved(p, d, p.weight("f32", 2, 2, 8, 4), low=[1, 1], high=[1, 1], input_dilation=[2, 2])

    def doubled(v):
        for axis in (1, 2):
            n = v.shape[axis]
            at = np.clip((np.arange(2 * n) + 0.5) / 2 - 0.5, 0, n - 1)
            low = np.floor(at).astype(int)
            share = (at - low).reshape([-1 if i == axis else 1 for i in range(4)])
            v = np.take(v, low, axis) * (1 - share) + np.take(v, np.minimum(low + 1, n - 1), axis) * share
        return v
    smooth = p.op("resize linear,", doubled, d, options=" axes = [1, 2] sizes = [8, 10]", form="arrow")
    y = convolved(p, p.concatenate(3, a, up, smooth), p.weight("f32", 3, 3, 16, 2), **same)
    y = p.log_softmax(y, 3)
    best = p.op("argmax", lambda v: v.argmax(3), y, options=" axis = 3", dtype="i32", form="arrow")
    mask = p.convert(best, "u8")
    large = p.op("resize nearest,", lambda v: v.repeat(2, 1).repeat(2, 2), mask, options=" axes = [1, 2] sizes = [16, 20]", form="arrow")
    return p.case("unet", y, large)


def vision_transformer():
    """Patches by a strided convolution, a token in front, positions, one block, bf16."""
    p = Program(2)
    x = p.random("bf16", (2, 16, 12, 3), (3, 16, 12, 3))
    patches = convolved(p, x, p.weight("bf16", 4, 4, 3, 16), strides=[4, 4])
    tokens = p.reshape(patches, lambda v: (v.shape[0], 12, 16))
    token = p.random("bf16", (1, 1, 16))
    batch = p.dim(x, 0)
    token = p.emit(f"array.broadcast_in_dim {token.name} axes = [0, 1, 2] sizes({batch}) : {token.type} -> tensor<?x1x16xbf16>", "bf16",
                   [np.broadcast_to(t, (v.shape[0], 1, 16)) for t, v in zip(token.arrays, x.arrays)])
    h = p.add(p.concatenate(1, token, tokens), p.random("bf16", (13, 16)))
    n = p.layer_norm(h, p.random("bf16", (16,)), p.random("bf16", (16,)), 2)
    parts = []
    for _ in range(3):
        part = p.reshape(p.matmul(n, p.weight("bf16", 16, 16)), lambda v: (v.shape[0], 13, 2, 8))
        parts.append(p.transpose(part, 0, 2, 1, 3))

    def attend(q, k, v):
        s = q @ k.swapaxes(-1, -2) * 0.35355
        e = np.exp(s - s.max(-1, keepdims=True))
        return e / e.sum(-1, keepdims=True) @ v
    a = p.op("attention", attend, *parts, options=" scale = 0.35355")
    a = p.reshape(p.transpose(a, 0, 2, 1, 3), lambda v: (v.shape[0], 13, 16))
    h = p.add(h, p.matmul(a, p.weight("bf16", 16, 16)))
    first = p.reshape(p.slice(h, (0, None), (0, 1), (0, None)), lambda v: (v.shape[0], 16))
    return p.case("vision_transformer", p.matmul(first, p.weight("bf16", 16, 10)))


def group_norm_video():
    """A 3-D convolution over frames, group and instance norm, channels first."""
    p = Program(2)
    x = p.random("f32", (1, 4, 5, 6, 7), (2, 4, 5, 6, 7))
    dims = "[b, f, 0, 1, 2] x [o, i, 0, 1, 2] -> [b, f, 0, 1, 2]"
    y = convolved(p, x, p.weight("f32", 6, 4, 3, 3, 3), dims, low=[1, 1, 1], high=[1, 1, 1], strides=[1, 2, 2])

    def norm(groups):
        def function(v, s, b):
            g = v.reshape(v.shape[0], groups, -1)
            g = (g - g.mean(2, keepdims=True)) / np.sqrt(g.var(2, keepdims=True) + 1e-5)
            return g.reshape(v.shape) * s[:, None, None, None] + b[:, None, None, None]
        return function
    for groups in (2, 6):
        y = p.op("group_norm", norm(groups), y, p.random("f32", (6,)), p.random("f32", (6,)), options=f" axis = 1 groups = {groups} epsilon = 1.0e-5")
        y = p.silu(y)
    return p.case("group_norm_video", y)


def augmentation():
    """Bytes in: flipped where a coin says so, padded, cut at a random place, coloured, normalised."""
    p = Program(2)
    x = p.random("u8", (2, 10, 12, 3), (5, 10, 12, 3), low=0, high=255)
    key = p.argument("u32", np.array(KEY, np.uint32))
    f = p.mul(p.convert(x, "f32"), 1 / 255)
    flipped = p.op("reverse", lambda v: v[:, :, ::-1], f, options=" axes = [2]", form="arrow")
    n = p.dim(x, 0)
    coin = p.emit(f"array.random_uniform {key.name} sizes({n}) : {key.type} -> tensor<?xf32>", "f32",
                  [unit("threefry", KEY, (len(v),), 24) for v in x.arrays])
    heads = p.compare("lt", coin, 0.5)
    heads = p.op("expand_dims", lambda v: v[:, None, None, None], heads, options=" axes = [1, 2, 3]", form="arrow")
    f = p.select(heads, flipped, f)
    zero = p.constant("f32", 0.0)
    f = p.op("pad", lambda v, z: np.pad(v, [(0, 0), (2, 2), (2, 2), (0, 0)]), f, zero, options=" low = [0, 2, 2, 0] high = [0, 2, 2, 0]")
    starts = [int(b % 5) for b in bits("threefry", KEY, (2,), 32)]
    drawn = p.emit(f"array.random_bits {key.name} : {key.type} -> tensor<2xui32>", "u32", [bits("threefry", KEY, (2,), 32)] * 2)
    drawn = p.convert(p.rem(drawn, 5), "i32")
    row, column = (p.reshape(p.slice(drawn, (i, i + 1)), ()) for i in (0, 1))
    none = p.constant("i32", 0)
    f = p.emit(f"array.dynamic_slice {f.name}[{none.name}, {row.name}, {column.name}, {none.name}] sizes({n}) : "
               f"({f.type}, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<?x10x12x3xf32>", "f32",
               [v[:, starts[0]:starts[0] + 10, starts[1]:starts[1] + 12] for v in f.arrays])
    f = p.div(p.sub(f, p.constant("f32", [0.485, 0.456, 0.406])), p.constant("f32", [0.229, 0.224, 0.225]))
    return p.case("augmentation", f, p.transpose(f, 0, 3, 1, 2))


def non_maximum_suppression():
    """Boxes in order of their scores; each that is kept hides those that overlap it: a loop."""
    p = Program()
    corners = np.array([[0, 0, 4, 4], [1, 1, 5, 5], [6, 6, 9, 9], [6, 6, 8, 9], [0, 7, 2, 9], [0, 6, 3, 9], [4, 0, 6, 2]])
    boxes, scores = p.argument("f32", corners), p.argument("f32", [0.9, 0.8, 0.7, 0.75, 0.3, 0.6, 0.1])
    order = p.op("argsort", lambda v: np.argsort(-v, kind="stable"), scores, options=" axis = 0 descending", dtype="i32", form="arrow")
    b = p.take(boxes, order, 0)
    sides = [p.slice(b, (0, None), (i, i + 1)) for i in range(4)]
    rows = [p.transpose(side, 1, 0) for side in sides]
    high = [p.min(sides[i], rows[i]) for i in (2, 3)]
    low = [p.max(sides[i], rows[i]) for i in (0, 1)]
    width, height = (p.relu(p.sub(h, l)) for h, l in zip(high, low))
    common = p.mul(width, height)
    area = p.mul(p.sub(sides[2], sides[0]), p.sub(sides[3], sides[1]))
    union = p.sub(p.add(area, p.transpose(area, 1, 0)), common)
    over = p.compare("gt", p.div(common, union), 0.4)
    places = p.emit("array.iota axis = 0 : tensor<7xi32>", "i32", [np.arange(7)])
    alive = p.constant("i1", np.ones(7, bool))

    # Row i of `over`, where i itself is alive, takes out those behind it.
    def turn(i, keep):
        row = p.emit(f"array.take {over.name}[{i.name}] axis = 0 : ({over.type}, {i.type}) -> tensor<7xi1>", "i1",
                     [v[int(at)] for v, at in zip(over.arrays, i.arrays)])
        mine = p.emit(f"array.take {keep.name}[{i.name}] axis = 0 : ({keep.type}, {i.type}) -> tensor<i1>", "i1",
                      [v[int(at)] for v, at in zip(keep.arrays, i.arrays)])
        hit = getattr(p, "and")(getattr(p, "and")(row, mine), p.compare("gt", places, i))
        return [getattr(p, "and")(keep, p.logical_not(hit))]
    keep, = p.count_to(7, [alive], turn)
    rows, count = p.emit_all(f"array.nonzero {keep.name} size = 5 : {keep.type} -> tensor<5x1xi32>, tensor<i32>", ["i32", "i32"],
                             [[np.pad(np.argwhere(keep.arrays[0])[:5], [(0, max(0, 5 - keep.arrays[0].sum())), (0, 0)], constant_values=-1)],
                              [np.array(keep.arrays[0].sum())]])
    return p.case("non_maximum_suppression", keep, rows, count)


def diffusion():
    """A few steps of denoising in a loop, with fresh noise from a counter, f16."""
    inverse = np.vectorize(statistics.NormalDist().inv_cdf, otypes=[np.float64])
    p = Program()
    key, x = p.argument("u32", np.array(KEY, np.uint32)), p.random("f32", (2, 6, 6, 4))
    w = p.weight("f32", 3, 3, 4, 4)

    def step(i, x):
        number = p.convert(i, "u32")
        mixed = p.add(key, number)
        key_now = tuple(int(v) for v in mixed.arrays[0])
        noise = p.emit(f"array.random_normal {mixed.name} algorithm = philox : {mixed.type} -> {x.type}", "f32",
                       [inverse(unit("philox", key_now, (2, 6, 6, 4), 24) + 2.0 ** -25)])
        rate = p.mul(p.convert(i, "f32"), 0.1)
        guess = p.tanh(convolved(p, x, w, low=[1, 1], high=[1, 1]))
        y = p.div(p.sub(x, p.mul(guess, 0.3)), p.sqrt(p.sub(p.constant("f32", 1.5), rate)))
        return [p.add(y, p.mul(noise, p.mul(rate, 0.2)))]
    y, = p.count_to(4, [x], step)
    return p.case("diffusion", y)


def cases():
    with np.errstate(all="ignore"):
        for make in (resnet_block, mobilenet, unet, vision_transformer, group_norm_video, augmentation, non_maximum_suppression, diffusion):
            yield make()
