"""Less common elementwise functions, and ops that move elements to other places."""
import math
import statistics

import numpy as np

from harness import Case, Step, over_sizes, simple
from tensors import FLOATS, INTEGERS, NUMPY, Tensor, mlir_type, random

SHAPE = (3, 37)
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, np.inf, -np.inf, np.nan, 1e-40, -1e-40, 3e38, -3e38, 7.0, -7.0, 1e4]
quantile = np.vectorize(statistics.NormalDist().inv_cdf, otypes=[np.float64])


def erfinv(x):
    """By Newton's method on math.erf, from the normal distribution's quantile."""
    def one(value):
        if math.isnan(value) or abs(value) > 1:
            return math.nan
        if abs(value) == 1:
            return math.copysign(math.inf, value)
        y = statistics.NormalDist().inv_cdf((1 + value) / 2) / math.sqrt(2) if value > -1 + 1e-12 else -5.0
        for _ in range(3):
            error = math.erf(y) - value if abs(value) < 0.5 else math.copysign(1, value) * ((1 - abs(value)) - math.erfc(abs(y)))
            y -= error / (2 / math.sqrt(math.pi) * math.exp(-y * y))
        return y
    return np.vectorize(one, otypes=[np.float64])(x)


UNARY = {"asin": (np.arcsin, (-1, 1)), "acos": (np.arccos, (-1, 1)), "atan": (np.arctan, (-9, 9)), "sinh": (np.sinh, (-9, 9)),
         "cosh": (np.cosh, (-9, 9)), "asinh": (np.arcsinh, (-9, 9)), "acosh": (np.arccosh, (1, 9)), "atanh": (np.arctanh, (-0.99, 0.99)),
         "cbrt": (np.cbrt, (-9, 9)), "erfinv": (erfinv, (-0.999, 0.999))}


def unary():
    for op, (reference, (low, high)) in UNARY.items():
        for dtype in FLOATS:
            x = random(dtype, SHAPE, 1, low, high)
            x = Tensor(dtype, np.clip(x.values, low, high))
            yield simple(f"{op}_{dtype}", [x], [(dtype, reference(x.values))], f"%r0 = array.{op} %0 : {x.mlir}", "math")
        for dtype in ("f32", "f64"):
            x = Tensor(dtype, SPECIAL)
            yield simple(f"{op}_special_{dtype}", [x], [(dtype, reference(x.values))], f"%r0 = array.{op} %0 : {x.mlir}", "math")
    tail = Tensor("f32", 1 - 2.0 ** -np.arange(1, 25))
    yield simple("erfinv_tail", [tail], [("f32", erfinv(tail.values))], f"%r0 = array.erfinv %0 : {tail.mlir}", "math")


def floor_mod(a, b):
    with np.errstate(all="ignore"):
        return np.floor_divide(a, b), np.mod(a, b)


def integer_floor_mod(a, b):
    """By zero: all bits set, and the dividend."""
    quotient, rest = floor_mod(a, np.where(b == 0, b.dtype.type(1), b))
    lowest = np.iinfo(a.dtype).min
    if a.dtype.kind == "i":
        wraps = (a == lowest) & (b == -1)
        quotient, rest = np.where(wraps, lowest, quotient), np.where(wraps, 0, rest)
    all_set = a.dtype.type(-1) if a.dtype.kind == "i" else np.iinfo(a.dtype).max
    return np.where(b == 0, all_set, quotient).astype(a.dtype), np.where(b == 0, a, rest).astype(a.dtype)


def next_after(dtype, a, b):
    if dtype == "bf16":
        # The 16 high bits of a float32.
        bits = a.astype(np.float32).view(np.uint32) >> 16
        zero, up = (bits & 0x7FFF) == 0, a < b
        bits = np.where(zero, np.where(np.signbit(b), 0x8001, 1), np.where(up == (a > 0), bits + 1, bits - 1))
        moved = (bits.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
        return np.where(np.isnan(a) | np.isnan(b), np.nan, np.where(a == b, b, moved))
    kind = NUMPY[dtype]
    return np.nextafter(a.astype(kind), b.astype(kind)).astype(np.float64)


def binary():
    with np.errstate(all="ignore"):
        pairs = np.array([(x, y) for x in SPECIAL for y in SPECIAL])
        for dtype in FLOATS:
            operands = [(random(dtype, SHAPE, 2, -9, 9), random(dtype, SHAPE, 3, -4, 4))]
            if dtype in ("f32", "f64"):
                operands.append((Tensor(dtype, pairs[:, 0]), Tensor(dtype, pairs[:, 1])))
            for number, (a, b) in enumerate(operands):
                quotient, rest = floor_mod(a.values, b.values)
                if number == 0:
                    yield simple(f"floor_div_{dtype}", [a, b], [(dtype, quotient)], f"%r0 = array.floor_div %0, %1 : {a.mlir}", "exact")
                for op, result, kind in (("mod", rest, "rounded"), ("atan2", np.arctan2(a.values, b.values), "math"),
                                         ("logaddexp", np.logaddexp(a.values, b.values), "math"),
                                         ("nextafter", next_after(dtype, a.values, b.values), "exact")):
                    yield simple(f"{op}_{dtype}_{number}", [a, b], [(dtype, result)], f"%r0 = array.{op} %0, %1 : {a.mlir}", kind)
        a, b = Tensor("f32", [7, -7, 7, -7, 1, -1, 5, 0, -0.0, 3, np.nan]), Tensor("f32", [2, 2, -2, -2, np.inf, np.inf, 0, 3, 3, np.nan, 1])
        yield simple("floor_div_special", [a, b], [("f32", floor_mod(a.values, b.values)[0])], f"%r0 = array.floor_div %0, %1 : {a.mlir}",
                     "exact")
        for dtype in INTEGERS:
            edges = [np.iinfo(NUMPY[dtype]).min, np.iinfo(NUMPY[dtype]).max, 0, 1, 3, 7, 100] + ([-1, -3, -7] if dtype[0] == "i" else [])
            a, b = (Tensor(dtype, np.array(v, dtype=object)) for v in zip(*[(x, y) for x in edges for y in edges]))
            quotient, rest = integer_floor_mod(a.values, b.values)
            yield simple(f"floor_div_{dtype}", [a, b], [(dtype, quotient)], f"%r0 = array.floor_div %0, %1 : {a.mlir}")
            yield simple(f"mod_{dtype}", [a, b], [(dtype, rest)], f"%r0 = array.mod %0, %1 : {a.mlir}")
            width = 8 * NUMPY[dtype]().itemsize
            counts = Tensor(dtype, np.array([0, 1, width - 1, width, width + 1, 100] + ([-1] if dtype[0] == "i" else [])
                                            + ([1 << 32, (1 << 32) + 3, edges[0]] if width == 64 else [])))
            a = Tensor(dtype, np.array(edges[:2] + [5] + edges[2:6], dtype=object)[:, None])
            results = shifts(a.values, counts.values, width)
            shape = (7, counts.shape[0])
            for op, result in zip(("shift_left", "shift_right_logical", "shift_right_arithmetic"), results):
                yield simple(f"{op}_{dtype}", [a, counts], [(dtype, result)],
                             f"%r0 = array.{op} %0, %1 : ({a.mlir}, {counts.mlir}) -> {mlir_type(dtype, shape)}")


def shifts(a, b, width):
    """By Python's integers."""
    left, logical, arithmetic = (np.empty(np.broadcast_shapes(a.shape, b.shape), object) for _ in range(3))
    for place in np.ndindex(left.shape):
        x, count = int(a[place[0], 0]), int(b[place[1]])
        bits = x % (1 << width)
        signed = bits - (1 << width) if bits >> (width - 1) else bits
        big = not 0 <= count < width
        wrap = (lambda v: v % (1 << width) - ((1 << width) if a.dtype.kind == "i" and v % (1 << width) >> (width - 1) else 0))
        left[place] = wrap(0 if big else bits << count)
        logical[place] = wrap(0 if big else bits >> count)
        arithmetic[place] = wrap(signed >> (width - 1 if big else count))
    return left, logical, arithmetic


def rearranged():
    for dtype in ("f32", "i1", "bf16", "u8"):
        x = random(dtype, (5, 7), 4)
        yield simple(f"roll_{dtype}", [x], [(dtype, np.roll(x.values, (2, -9), (0, 1)))],
                     f"%r0 = array.roll %0 shifts = [2, -9] axes = [0, 1] : {x.mlir} -> {x.mlir}", "exact")
        for repeats in ((1, 1), (2, 3), (1, 4), (0, 2)):
            result = np.tile(x.values, repeats)
            yield simple(f"tile_{dtype}_{repeats[0]}{repeats[1]}", [x], [(dtype, result)],
                         f"%r0 = array.tile %0 repeats = {list(repeats)} : {x.mlir} -> {mlir_type(dtype, result.shape)}", "exact")
        for axis, count in ((0, 3), (1, 2), (1, 0), (0, 1)):
            result = np.repeat(x.values, count, axis)
            yield simple(f"repeat_{dtype}_{axis}{count}", [x], [(dtype, result)],
                         f"%r0 = array.repeat %0 repeats = {count} axis = {axis} : {x.mlir} -> {mlir_type(dtype, result.shape)}", "exact")
        cube = random(dtype, (2, 5, 4), 5)
        for offset in (0, 1, -1, 3, -4, 4, -5, 9):
            result = np.diagonal(cube.values, offset, 1, 2)
            name = str(offset).replace("-", "m")
            yield simple(f"diagonal_{dtype}_{name}", [cube], [(dtype, result)],
                         f"%r0 = array.diagonal %0 offset = {offset} : {cube.mlir} -> {mlir_type(dtype, result.shape)}", "exact")
            for op, reference in (("tril", np.tril), ("triu", np.triu)):
                yield simple(f"{op}_{dtype}_{name}", [cube], [(dtype, reference(cube.values, offset))],
                             f"%r0 = array.{op} %0 offset = {offset} : {cube.mlir} -> {cube.mlir}", "exact")
        lines = random(dtype, (2, 4), 6)
        for offset in (0, 2, -1):
            result = np.stack([np.diag(line, offset) for line in lines.values])
            yield simple(f"diag_{dtype}_{str(offset).replace('-', 'm')}", [lines], [(dtype, result)],
                         f"%r0 = array.diag %0 offset = {offset} : {lines.mlir} -> {mlir_type(dtype, result.shape)}", "exact")
    none = Tensor("f32", np.zeros((3, 0)))
    yield simple("diag_empty", [none], [("f32", np.zeros((3, 2, 2)))], f"%r0 = array.diag %0 offset = 2 : {none.mlir} -> tensor<3x2x2xf32>")
    yield simple("roll_empty", [none], [("f32", none.values)], f"%r0 = array.roll %0 shifts = [1] axes = [1] : {none.mlir} -> {none.mlir}")
    x = random("f32", (6, 5), 7)
    yield simple("rearrange_dynamic", [x], [("f32", np.roll(x.values, -4, 0)), ("f32", np.tile(x.values, (2, 3))),
                                            ("f32", np.repeat(x.values, 2, 0)), ("f32", np.tril(x.values, 1))],
                 """%r0 = array.roll %0 shifts = [-4] axes = [0] : tensor<?x?xf32> -> tensor<?x?xf32>
                    %r1 = array.tile %0 repeats = [2, 3] : tensor<?x?xf32> -> tensor<?x?xf32>
                    %r2 = array.repeat %0 repeats = 2 axis = 0 : tensor<?x?xf32> -> tensor<?x?xf32>
                    %r3 = array.tril %0 offset = 1 : tensor<?x?xf32> -> tensor<?x?xf32>""", "exact",
                 types=["tensor<?x?xf32>"], result_types=["tensor<?x?xf32>"] * 4)


def cubic_weights(position, count):
    """(indices, weights) of cubic convolution with a = -0.75; the edge goes on."""
    a, base = -0.75, math.floor(position)
    pairs = []
    for place in range(base - 1, base + 3):
        t = abs(position - place)
        weight = (a + 2) * t ** 3 - (a + 3) * t ** 2 + 1 if t <= 1 else a * t ** 3 - 5 * a * t ** 2 + 8 * a * t - 4 * a if t < 2 else 0
        pairs.append((min(max(place, 0), count - 1), weight))
    return pairs


def resampled(mode, x, size, corners):
    """Dim 1 of `x` at `size` places."""
    count, result = x.shape[1], []
    for o in range(size):
        position = (o * (count - 1) / (size - 1) if size > 1 else 0) if corners else (o + 0.5) * count / size - 0.5
        if mode == "cubic":
            result.append(sum(x[:, place] * weight for place, weight in cubic_weights(position, count)))
            continue
        inside = min(max(position, 0), count - 1)
        low = math.floor(inside + 0.5) if mode == "nearest" else math.floor(inside)
        part = 0 if mode == "nearest" else inside - low
        result.append(x[:, min(low, count - 1)] * (1 - part) + x[:, min(low + 1, count - 1)] * part)
    return np.stack(result, 1)


def open_resizes():
    """Images of any size to one."""
    for mode in ("nearest", "linear", "cubic"):
        for size, corners in ((6, False), (6, True), (1, True)):
            images = [random("f32", (2, count, 3), 9) for count in (7, 1, 20, 6)]
            word = " align_corners" if corners else ""
            yield over_sizes(f"resize_open_{mode}_{size}_{corners:d}", images, lambda x: resampled(mode, x, size, corners), "tensor<2x?x3xf32>",
                                  f"tensor<2x{size}x3xf32>", f"array.resize {mode}, %x axes = [1] sizes = [{size}]{word}",
                                  "exact" if mode == "nearest" else "sum")


def resizes_to_open_sizes():
    """Images to the sizes of others."""
    for mode in ("nearest", "linear", "cubic"):
        for corners in (False, True):
            word = " align_corners" if corners else ""
            text = f"""  func.func @NAME(%x: tensor<2x?x3xf32>, %like: tensor<?xi1>) -> tensor<2x?x3xf32> {{
    %n = array.dim %like, 0 : tensor<?xi1>
    %y = array.resize {mode}, %x axes = [1] sizes = [%n]{word} : tensor<2x?x3xf32> -> tensor<2x?x3xf32>
    return %y : tensor<2x?x3xf32>
  }}
"""
            steps = []
            for count, size in ((7, 6), (6, 6), (1, 5), (20, 1), (3, 33), (4, 0)):
                x = random("f32", (2, count, 3), 9)
                result = resampled(mode, x.values, size, corners) if size else np.zeros((2, 0, 3))
                steps.append(Step([x, Tensor("i1", np.zeros(size))], [("f32", result)]))
            yield Case(f"resize_to_open_{mode}_{corners:d}", text, steps, "exact" if mode == "nearest" else "sum")


def open_diagonals():
    for offset in (0, 1, -2):
        name = str(offset).replace("-", "m")
        matrices = [random("f32", (2, *shape), 5) for shape in ((5, 4), (3, 9), (1, 1), (2, 3), (0, 4), (4, 0))]
        yield over_sizes(f"diagonal_open_{name}", matrices, lambda x: np.diagonal(x, offset, 1, 2) if min(x.shape) else np.zeros((2, 0)),
                         "tensor<?x?x?xf32>", "tensor<?x?xf32>", f"array.diagonal %x offset = {offset}", "exact")
        lines = [random("f32", (2, count), 6) for count in (4, 1, 17)] + [Tensor("f32", np.zeros((2, 0)))]
        yield over_sizes(f"diag_open_{name}", lines, lambda x: np.stack([np.diag(line, offset) for line in x]),
                         "tensor<?x?xf32>", "tensor<?x?x?xf32>", f"array.diag %x offset = {offset}", "exact")


def cubic_resizes():
    for size, corners in ((16, False), (3, False), (16, True), (1, True), (7, False)):
        x = random("f32", (2, 7, 3), 8)
        result = np.zeros((2, size, 3))
        for o in range(size):
            position = (o * 6 / (size - 1) if size > 1 else 0) if corners else (o + 0.5) * 7 / size - 0.5
            for place, weight in cubic_weights(position, 7):
                result[:, o] += x.values[:, place] * weight
        word = " align_corners" if corners else ""
        yield simple(f"resize_cubic_{size}_{corners:d}", [x], [("f32", result)],
                     f"%r0 = array.resize cubic, %0 axes = [1] sizes = [{size}]{word} : {x.mlir} -> {mlir_type('f32', result.shape)}", "sum")


def many_resizes():
    """Images so large that a thread on a GPU has several neighbours, channels last and first, whose strips come out even or not."""
    for name, mode, dtype, shape, axes, sizes, corners in (
            ("twice", "linear", "f32", (2, 64, 64, 96), (1, 2), (128, 128), False),
            ("twice_bf16", "linear", "bf16", (2, 64, 64, 96), (1, 2), (128, 128), False),
            ("corners", "linear", "f32", (2, 64, 64, 96), (1, 2), (128, 128), True),
            ("odd", "linear", "f32", (2, 65, 67, 96), (1, 2), (130, 134), False),
            ("thirds", "linear", "f32", (8, 128, 128, 3), (1, 2), (192, 192), False),
            ("first", "linear", "bf16", (2, 96, 64, 64), (2, 3), (128, 128), False),
            ("lines", "cubic", "f32", (16, 512, 160), (1,), (1024,), False),
            ("volume", "linear", "f32", (2, 16, 32, 32, 32), (1, 2, 3), (32, 64, 64), False)):
        x = random(dtype, shape, 9)
        result = x.values
        for axis, size in zip(axes, sizes):
            result = np.moveaxis(resampled(mode, np.moveaxis(result, axis, 1), size, corners), 1, axis)
        word = " align_corners" * corners
        yield simple(f"resize_many_{name}", [x], [(dtype, result)],
                     f"%r0 = array.resize {mode}, %0 axes = {list(axes)} sizes = {list(sizes)}{word} : "
                     f"{x.mlir} -> {mlir_type(dtype, result.shape)}", "sum")


def resizes_of_symbolic_batches():
    """With what comes before and behind."""
    text = """  func.func @NAME(%x: tensor<?x16x12x64xf32>) -> tensor<?x32x25x64xf32> {
    %n = array.neg %x : tensor<?x16x12x64xf32>
    %r = array.resize linear, %n axes = [1, 2] sizes = [32, 25] : tensor<?x16x12x64xf32> -> tensor<?x32x25x64xf32>
    %y = array.relu %r : tensor<?x32x25x64xf32>
    return %y : tensor<?x32x25x64xf32>
  }
"""
    steps = []
    for count in (3, 1, 0):
        x = random("f32", (count, 16, 12, 64), 9)
        rows = resampled("linear", -x.values, 32, False)
        result = np.swapaxes(resampled("linear", np.swapaxes(rows, 1, 2), 25, False), 1, 2)
        steps.append(Step([x], [("f32", np.maximum(result, 0))]))
    yield Case("resize_symbolic_batch", text, steps, "sum")


def nearest_resizes():
    """Masks and images of bytes have no floats to interpolate between."""
    for dtype in ("i1",) + INTEGERS:
        x = random(dtype, (2, 3, 4, 1), 9)
        yield simple(f"resize_nearest_{dtype}", [x], [(dtype, x.values.repeat(2, 1)[:, :, [1, 3]])],
                     f"%r0 = array.resize nearest, %0 axes = [1, 2] sizes = [6, 2] : {x.mlir} -> {mlir_type(dtype, (2, 6, 2, 1))}", "exact")


def cases():
    with np.errstate(all="ignore"):
        for make in (unary, binary, rearranged, open_diagonals, cubic_resizes, open_resizes, resizes_to_open_sizes, many_resizes, resizes_of_symbolic_batches,
                     nearest_resizes):
            yield from make()
