"""Products, convolutions, pools, attention and resizes of arrays with more than 2**31 elements, and the same of small ones, which run
everywhere. Elements are small integers, so that sums in f32 are exact; what a device has not the memory for is skipped there."""
import itertools

import numpy as np

from cases.conv import NCHW, NHWC
from held import Program, numbered

A, B = {"modulus": 7, "less": 3}, {"modulus": 5, "less": 2}     # what a first and a second factor hold
IMAGES = {"small": (2, 19, 17, 8), "large": (33, 2897, 2897, 8)}
# Rows that boxes take as they are, and rows that are at no multiple of 16 bytes.
MATRICES = {"small": ((152, 136), (131, 77)), "large": ((65552, 32784), (65537, 32771))}
RESULT = {"bf16": "bf16", "i8": "i32", "f32": "f32"}


def summed(depth, term):
    """The sum of term(*position, k) over k below `depth`."""
    return lambda *at: term(*(position[..., None] for position in at), np.arange(depth)).sum(-1)


def large_results(size):
    batches, rows, depth = {"small": (3, 70, 16), "large": (2051, 1032, 16)}[size]
    a, b = (batches, rows, depth), (batches, depth, rows)
    of_a, of_b = numbered(a, **A), numbered(b, **B)
    for dtype in ("bf16", "i8", "f32"):
        p = Program(f"batches_{dtype}_{size}")
        p.make("a", dtype, a, **A)
        p.make("b", dtype, b, **B)
        p.variable("w", RESULT[dtype], (batches, rows, rows))
        p.call(f"%y = array.matmul %a, %b : ({p.type('a')}, {p.type('b')}) -> {p.type('w')}", w="y")
        p.look("w", summed(depth, lambda n, i, j, k: of_a(n, i, k) * of_b(n, k, j)))
        yield p.case()


def large_factors(size):
    """A large matrix and a few columns, summed over its columns and over its rows."""
    for shape, dtype in itertools.product(MATRICES[size], ("bf16", "i8", "f32", "tf32")):
        rows, columns = shape
        stored, flag = dtype.replace("tf32", "f32"), " allow_tf32" * (dtype == "tf32")
        result, few = RESULT[stored].replace("bf16", "f32"), 24
        of_a, of_right, of_left = numbered(shape, **A), numbered((columns, few), **B), numbered((rows, few), **B)
        p = Program(f"matrix_{rows}_{dtype}_{size}")
        p.make("a", stored, shape, **A)
        p.make("r", stored, (columns, few), **B)
        p.make("l", stored, (rows, few), **B)
        p.variable("y", result, (rows, few))
        p.variable("z", result, (columns, few))
        p.variable("v", result, (rows, 1))
        p.call(f"%s = array.matmul %a, %r{flag} : ({p.type('a')}, {p.type('r')}) -> {p.type('y')}", y="s")
        p.look("y", summed(columns, lambda i, j, k: of_a(i, k) * of_right(k, j)))
        p.call(f"%s = array.dot_general %a, %l batch = [] x [] contract = [0] x [0]{flag} : ({p.type('a')}, {p.type('l')}) -> {p.type('z')}", z="s")
        p.look("z", summed(rows, lambda i, j, k: of_a(k, i) * of_left(k, j)))
        column = p.type("r").replace(f"x{few}x", "x1x")
        p.call(f"""%c = array.slice %r [0:{columns}, 3:4] : {p.type('r')} -> {column}
            %s = array.matmul %a, %c{flag} : ({p.type('a')}, {column}) -> {p.type('v')}""", v="s")
        p.look("v", summed(columns, lambda i, j, k: of_a(i, k) * of_right(k, j + 3)))
        yield p.case()


def convolutions(size):
    images, height, width, channels = IMAGES[size]
    for name, dims, filter, groups, pad in (("3x3", NHWC, (3, 3, channels, channels), 1, 1), ("1x1", NHWC, (1, 1, channels, channels), 1, 0),
                                            ("depthwise", NHWC, (3, 3, 1, channels), channels, 0), ("first", NCHW, (channels, channels, 3, 3), 1, 0)):
        first = dims == NCHW
        taps = filter[-1] if first else filter[0]
        shape = (images, channels, height, width) if first else (images, height, width, channels)
        less = taps - 1 - 2 * pad
        out = (images, channels, height - less, width - less) if first else (images, height - less, width - less, channels)
        inside = channels // groups
        of_x, of_w = numbered(shape, **A), numbered(filter, **B)

        def term(n, y, x, f, k):
            tap_y, tap_x, c = k // (taps * inside), k // inside % taps, k % inside
            y, x, from_channel = y + tap_y - pad, x + tap_x - pad, f if groups > 1 else c
            w = of_w(f, c, tap_y, tap_x) if first else of_w(tap_y, tap_x, c, f)
            value = of_x(n, from_channel, y, x) if first else of_x(n, y, x, from_channel)
            return np.where((y >= 0) & (y < height) & (x >= 0) & (x < width), value, 0) * w
        p = Program(f"conv_{name}_{size}")
        p.make("x", "bf16", shape, **A)
        p.make("f", "bf16", filter, **B)
        p.variable("w", "bf16", out)
        p.call(f"%s = array.conv %x, %f dims = <{dims}> low = [{pad}, {pad}] high = [{pad}, {pad}]"
               f"{f' feature_groups = {groups}' if groups > 1 else ''} : ({p.type('x')}, {p.type('f')}) -> {p.type('w')}", w="s")
        turned = (lambda n, f, y, x, k: term(n, y, x, f, k)) if first else term
        p.look("w", summed(taps * taps * inside, turned))
        yield p.case()


def pools(size):
    images, height, width, channels = shape = IMAGES[size]
    of_x = numbered(shape, **A)
    p = Program(f"pools_{size}")
    p.make("x", "bf16", shape, **A)
    p.variable("w", "bf16", (images, height - 2, width - 2, channels))
    for op, reduced in (("reduce_window max,", np.max), ("avg_pool", np.mean)):
        p.call(f"%s = array.{op} %x window = [1, 3, 3, 1] : {p.type('x')} -> {p.type('w')}", w="s")
        k = np.arange(9)
        p.look("w", lambda n, y, x, c: reduced(of_x(n[..., None], y[..., None] + k // 3, x[..., None] + k % 3, c[..., None]), axis=-1))
    yield p.case("rounded")


def attention(size):
    """Queries that see the keys whose places differ from theirs by multiples of the head's size, so that the result is a mean of values."""
    batches, heads, length, depth = shape = {"small": (2, 3, 128, 64), "large": (1025, 32, 1024, 64)}[size]
    whole, of_v = "x".join(map(str, shape)), numbered(shape, **A)
    p = Program(f"attention_{size}")
    p.variable("q", "bf16", shape)
    p.call(f"""%s = array.iota axis = 2 : tensor<{whole}xi32>
        %d = array.iota axis = 3 : tensor<{whole}xi32>
        %n = array.constant dense<{depth}> : tensor<i32>
        %r = array.rem %s, %n : (tensor<{whole}xi32>, tensor<i32>) -> tensor<{whole}xi32>
        %e = array.compare eq, %r, %d : (tensor<{whole}xi32>, tensor<{whole}xi32>) -> tensor<{whole}xi1>
        %f = array.convert %e : tensor<{whole}xi1> -> {p.type('q')}""", q="f")
    p.make("v", "bf16", shape, **A)
    p.variable("w", "bf16", shape)

    def mean(n, h, s, d, k):
        return np.where(k * depth <= s, of_v(n, h, s % depth + np.minimum(k, s // depth) * depth, d) / (s // depth + 1), 0)
    p.call(f"%y = array.attention %q, %q, %v causal scale = 64.0 : ({p.type('q')}, {p.type('q')}, {p.type('v')}) -> {p.type('w')}", w="y")
    p.look("w", summed(length // depth, mean))
    yield p.case("sum", scratch=22)


def resizes(size):
    images, height, width, channels = {"small": (2, 11, 13, 2), "large": (9, 5463, 5463, 2)}[size]
    of_x = numbered((images, height, width, channels), **A)

    def corners(place, count):
        """[(place, weight)] of twice as many places."""
        place = np.clip((place + 0.5) / 2 - 0.5, 0, count - 1)
        low = np.floor(place).astype(np.int64)
        return [(low, low + 1 - place), (np.minimum(low + 1, count - 1), place - low)]

    def linear(n, y, x, c):
        return sum(of_x(n, i, j, c) * u * v for (i, u), (j, v) in itertools.product(corners(y, height), corners(x, width)))
    p = Program(f"resize_{size}")
    p.make("x", "bf16", (images, height, width, channels), **A)
    p.variable("w", "bf16", (images, 2 * height, 2 * width, channels))
    for mode, formula in (("linear", linear), ("nearest", lambda n, y, x, c: of_x(n, y // 2, x // 2, c))):
        p.call(f"%s = array.resize {mode}, %x axes = [1, 2] sizes = [{2 * height}, {2 * width}] : {p.type('x')} -> {p.type('w')}", w="s")
        p.look("w", formula)
    yield p.case("sum", scratch=4)


def cases():
    for size in ("small", "large"):
        for make in (large_results, large_factors, convolutions, pools, attention, resizes):
            yield from make(size)
