"""Elementwise ops."""
import math
import statistics

import numpy as np

import bounds
from bounds import Num, known, lipschitz, monotone, rounded
from op import NUMBERS, SIGNED, Op
from program import Type
from tensors import DTYPES, FLOATS, INTEGERS, NUMPY, decode

LOGICAL = ("i1",) + INTEGERS
MATH = 16  # units in the last place that an expansion of our own may take; docs/math-accuracy.md has what each reaches
LONG_HALF = np.longdouble(0.5)

erf_of = np.vectorize(lambda x: np.longdouble(math.erf(x)), otypes=[np.longdouble])
tanh_gelu = np.longdouble(math.sqrt(2 / math.pi))


def sigmoid(x):
    return np.where(x >= 0, 1 / (1 + np.exp(-np.abs(x))), np.exp(-np.abs(x)) / (1 + np.exp(-np.abs(x))))


def gelu_erf(x):
    return LONG_HALF * x * (1 + erf_of(x.astype(np.float64) / math.sqrt(2)))


def gelu_tanh(x):
    return LONG_HALF * x * (1 + np.tanh(tanh_gelu * (x + np.longdouble(0.044715) * x ** 3)))


def square(dtype, a):
    return bounds.mul(dtype, a, a)


def step(function):
    """Of functions that jump between integers: right where both ends of the interval agree."""
    def evaluate(dtype, a):
        values = function(a.values)
        same = (function(a.values + a.error) == values) & (function(a.values - a.error) == values) | (a.error == 0)
        return Num(dtype, values, np.where(same, 0.0, np.inf))
    return evaluate


def rising(function, ulps=MATH):
    return lambda dtype, a: monotone(dtype, function, a, ulps)


def bounded(function, constant, ulps=MATH, absolute=0.0):
    return lambda dtype, a: lipschitz(dtype, function, a, constant, ulps, absolute)


def scaled(function, constant):
    """Functions like x * f(x) whose f is computed as a difference: off by units of x, not of the result."""
    return lambda dtype, a: lipschitz(dtype, function, a, constant, MATH, 64 * np.abs(a.values).astype(np.float64))


def around_poles(function):
    """1/x and the like: known where the interval does not reach a pole at zero."""
    def evaluate(dtype, a):
        out = monotone(dtype, function, a, 4)
        out.error[(np.abs(a.values) <= 2 * a.error) & (a.error > 0)] = np.inf
        return out
    return evaluate


def tangent(dtype, a):
    out = monotone(dtype, np.tan, a, MATH)
    out.error[(np.abs(np.cos(a.values)) <= 4 * a.error) & (a.error > 0)] = np.inf
    return out


def erfinv(x):
    """To double precision: what f32 and narrower types are held to."""
    x = np.asarray(x, np.float64)
    inside = np.clip(np.nan_to_num(x), -1 + 2.0 ** -40, 1 - 2.0 ** -40)
    large = np.vectorize(statistics.NormalDist().inv_cdf, otypes=[np.float64])((inside + 1) / 2) / math.sqrt(2)
    small = x * (math.sqrt(math.pi) / 2) * (1 + x * x * (math.pi / 12))
    value = np.where(np.abs(x) < 1e-4, small, large)
    value = np.where(np.abs(x) == 1, np.copysign(np.inf, x), np.where(np.abs(x) > 1, np.nan, value))
    return np.where(np.isnan(x), np.nan, value).astype(np.longdouble)


FLOAT_UNARY = {
    "asin": rising(np.arcsin), "acos": rising(np.arccos), "atan": rising(np.arctan), "sinh": rising(np.sinh),
    "cosh": rising(np.cosh), "asinh": rising(np.arcsinh), "acosh": rising(np.arccosh), "atanh": rising(np.arctanh),
    "erfinv": rising(erfinv), "cbrt": rising(np.cbrt),
    "sqrt": rising(np.sqrt, 1), "rsqrt": around_poles(lambda x: 1 / np.sqrt(x)), "reciprocal": around_poles(lambda x: 1 / x),
    "exp": rising(np.exp), "exp2": rising(np.exp2), "expm1": rising(np.expm1), "log": rising(np.log, MATH),
    "log2": rising(np.log2), "log1p": rising(np.log1p), "floor": step(np.floor), "ceil": step(np.ceil),
    "round": step(np.rint), "sin": bounded(np.sin, 1, absolute=1e-2), "cos": bounded(np.cos, 1, absolute=1e-2),
    "tan": tangent, "tanh": rising(np.tanh), "erf": rising(lambda x: erf_of(x.astype(np.float64))),
    "sigmoid": rising(sigmoid, 4 * MATH), "silu": scaled(lambda x: x * sigmoid(x), 1.2),
    "gelu": scaled(gelu_erf, 1.2), "gelu approximate = tanh": scaled(gelu_tanh, 1.2),
}
NUMBER_UNARY = {"abs": np.abs, "neg": np.negative, "sign": np.sign, "relu": lambda x: np.maximum(x, x.dtype.type(0)),
                "square": lambda x: x * x}


class Unary(Op):
    def __init__(self, name, dtypes, weight=1.0):
        super().__init__(name, weight)
        self.dtypes = dtypes

    def draw(self, g):
        operand = g.pick(lambda type: type.dtype in self.dtypes)
        return [operand], {}, [g.types[operand]]

    def mnemonic(self, node):
        return self.name.split()[0]

    def body(self, node, names, types):
        return " ".join([names[0], *self.name.split(" ", 1)[1:]])

    def signature(self, node, types):
        return types[0].mlir

    def evaluate(self, node, values, shapes):
        a, = values
        if self.name in FLOAT_UNARY:
            return [FLOAT_UNARY[self.name](a.dtype, a)]
        if a.dtype not in FLOATS:
            values = {"logical_not": np.logical_not, "bitwise_not": np.invert}.get(self.name) or NUMBER_UNARY[self.name]
            return [known(a.dtype, values(a.values), a.unknown)]
        if self.name == "square":
            return [square(a.dtype, a)]
        if self.name == "sign":
            return [step(np.sign)(a.dtype, a)]
        return [Num(a.dtype, NUMBER_UNARY[self.name](a.values), a.error)]


class Classify(Unary):
    def draw(self, g):
        drawn = super().draw(g)
        return drawn and (drawn[0], {}, [Type("i1", drawn[2][0].dims)])

    def signature(self, node, types):
        return f"{types[0].mlir} -> {node.types[0].mlir}"

    def evaluate(self, node, values, shapes):
        a, = values
        return [known("i1", (np.isnan if self.name == "is_nan" else np.isfinite)(a.values), a.unknown)]


def integer_div(x, y):
    """Towards zero; all bits set for a zero divisor; wraps."""
    wide = x.astype(object), np.where(y == 0, 1, y).astype(object)
    quotient = np.array([abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1) for a, b in zip(wide[0].flat, wide[1].flat)],
                        dtype=object).reshape(x.shape)
    ones = np.iinfo(x.dtype).max if x.dtype.kind == "u" else -1
    return wrapped(np.where(y == 0, ones, quotient), x.dtype)


def integer_rem(x, y):
    quotient = integer_div(x, y)
    return np.where(y == 0, x, (x - quotient * y).astype(x.dtype))


def integer_pow(x, y):
    bits = 8 * x.dtype.itemsize

    def one(base, exponent):
        if exponent >= 0:
            return pow(base, exponent, 1 << bits)
        return -1 if base == 0 else base ** (abs(exponent) % 2) if abs(base) == 1 else 0
    return wrapped(np.array([one(a, b) for a, b in zip(x.astype(object).flat, y.astype(object).flat)],
                            dtype=object).reshape(x.shape), x.dtype)


def wrapped(values, dtype):
    bits = 8 * dtype.itemsize
    low = np.array([int(v) & ((1 << bits) - 1) for v in np.asarray(values, object).flat], dtype=np.uint64)
    return low.astype(f"u{dtype.itemsize}").view(dtype).reshape(np.shape(values))


def power(dtype, a, b):
    values = np.power(a.values, b.values)
    with np.errstate(all="ignore"):
        low = np.abs(a.values).astype(np.float64) - a.error
        change = np.abs(b.values).astype(np.float64) * a.error / low + np.abs(np.log(np.abs(a.values))).astype(np.float64) * b.error
        error = np.abs(values).astype(np.float64) * np.expm1(2 * change)
        known_base = (a.values > a.error) | ((b.error == 0) & (np.abs(a.values) > a.error))
        error = np.where((a.error == 0) & (b.error == 0), 0.0, np.where(known_base & ~np.isnan(error), error, np.inf))
        # The expansion's relative error grows with |y log x|; x * x and the like may stand for small exponents.
        ulps = MATH + 4 * np.abs(b.values * np.log(np.abs(a.values))).astype(np.float64)
    return rounded(dtype, values, error, np.where(np.isfinite(ulps), ulps, MATH))


def remainder(dtype, a, b):
    values = np.fmod(a.values, b.values)
    return Num(dtype, values, np.where((a.error == 0) & (b.error == 0), 0.0, np.inf))


def exactly(function):
    """Known where both operands are."""
    def evaluate(dtype, a, b):
        result = function(dtype, a, b)
        return Num(dtype, result.values, np.where((a.error == 0) & (b.error == 0), result.error, np.inf))
    return evaluate


def modulo(x, y):
    rest = np.fmod(x, y)
    return np.where((rest != 0) & ((rest < 0) != (y < 0)), rest + y, rest)


def float_floor_div(dtype, a, b):
    quotient = np.rint((a.values - modulo(a.values, b.values)) / b.values)
    result = rounded(dtype, quotient, 0.0, 2)
    return Num(dtype, quotient, np.where((b.values == 0) | ~np.isfinite(quotient), np.inf, result.error))


def next_number(dtype, a, b):
    if dtype != "bf16":
        to = NUMPY[dtype]
        return Num(dtype, np.nextafter(a.values.astype(to), b.values.astype(to)).astype(np.longdouble), np.zeros(a.shape))
    # The bits of a bfloat16 are the upper ones of an f32: as integers they count its numbers, away from zero.
    bits = (np.atleast_1d(a.values.astype(np.float32)).view(np.uint32) >> 16).astype(np.int64).reshape(a.shape)
    up = np.where((a.values == 0) | ((a.values < b.values) == (a.values > 0)), 1, -1)
    start = np.where(a.values == 0, np.where(b.values < 0, 0x8000, 0), bits)
    moved = (np.atleast_1d(start + up).astype(np.uint32) << 16).view(np.float32).astype(np.longdouble).reshape(a.shape)
    values = np.where(a.values == b.values, b.values, np.where(np.isnan(a.values + b.values), np.nan, moved))
    values = np.where(np.isnan(a.values) | np.isnan(b.values), np.nan, values)
    return Num(dtype, values, np.zeros(a.shape))


def angle(dtype, a, b):
    values = np.arctan2(a.values, b.values)
    x, y = np.abs(a.values).astype(np.float64), np.abs(b.values).astype(np.float64)
    nearest = np.hypot(np.maximum(x - a.error, 0), np.maximum(y - b.error, 0))
    error = (a.error + b.error) / nearest * 2
    unsure = (a.error + b.error > 0) & (~(nearest > 0) | (x <= a.error) & ~(b.values > b.error))
    return rounded(dtype, values, np.where(unsure | np.isnan(error), np.where(a.error + b.error > 0, np.inf, 0.0), error), MATH)


def log_add_exp(dtype, a, b):
    size = np.abs(a.values).astype(np.float64) + np.abs(b.values).astype(np.float64)
    size = np.where(np.isfinite(size), size, 0.0)
    return rounded(dtype, np.logaddexp(a.values, b.values), a.error + b.error, MATH, 32 * (1 + size))


def integer_floor_div(x, y):
    quotient = np.array([a // b if b else 0 for a, b in zip(x.astype(object).flat, y.astype(object).flat)], object).reshape(x.shape)
    ones = np.iinfo(x.dtype).max if x.dtype.kind == "u" else -1
    return wrapped(np.where(y == 0, ones, quotient), x.dtype)


def integer_mod(x, y):
    rest = np.array([a % b if b else a for a, b in zip(x.astype(object).flat, y.astype(object).flat)], object).reshape(x.shape)
    return wrapped(rest, x.dtype)


def shift(name):
    def function(x, y):
        bits = 8 * x.dtype.itemsize
        low, size = (1 << bits) - 1, np.shape(x)

        def one(a, b):
            outside = b < 0 or b >= bits
            if name == "shift_left":
                return 0 if outside else a << b
            if name == "shift_right_logical":
                return 0 if outside else (a & low) >> b
            signed = (a & low) - ((a & low) >> (bits - 1) << bits)
            return signed >> (bits - 1 if outside else b)
        return wrapped(np.array([one(int(a), int(b)) for a, b in zip(x.flat, y.flat)], object).reshape(size), x.dtype)
    return function


SHIFTS = ("shift_left", "shift_right_logical", "shift_right_arithmetic")
FLOAT_BINARY = {"atan2": angle, "logaddexp": log_add_exp, "floor_div": exactly(float_floor_div),
                "mod": exactly(lambda dtype, a, b: rounded(dtype, modulo(a.values, b.values), 0.0, 2)),
                "nextafter": exactly(next_number), "add": bounds.add, "sub": lambda dtype, a, b: bounds.add(dtype, a, b, sign=-1), "mul": bounds.mul,
                "div": bounds.div, "pow": power, "rem": remainder, "max": lambda dtype, a, b: bounds.maximum(a, b),
                "min": lambda dtype, a, b: bounds.maximum(a, b, -1)}
INTEGER_BINARY = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": integer_div, "rem": integer_rem,
                  "pow": integer_pow, "max": np.maximum, "min": np.minimum, "and": np.bitwise_and, "or": np.bitwise_or,
                  "xor": np.bitwise_xor, "floor_div": integer_floor_div, "mod": integer_mod,
                  **{name: shift(name) for name in SHIFTS}}


class Binary(Op):
    def __init__(self, name, dtypes, weight=1.0):
        super().__init__(name, weight)
        self.dtypes = dtypes

    def draw(self, g):
        operands, dims = g.broadcasting(2, lambda type: type.dtype in self.dtypes)
        return operands, {}, [Type(g.types[operands[0]].dtype, dims)]

    def evaluate(self, node, values, shapes):
        a, b = (value.mapped(lambda x: np.broadcast_to(x, shapes[0])) for value in values)
        if a.dtype in FLOATS:
            return [FLOAT_BINARY[self.name](a.dtype, a, b)]
        return [known(a.dtype, INTEGER_BINARY[self.name](a.values, b.values), a.unknown | b.unknown)]


DIRECTIONS = {"eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal}


class Compare(Op):
    def draw(self, g):
        operands, dims = g.broadcasting(2, lambda type: True)
        return operands, {"direction": g.choice(list(DIRECTIONS))}, [Type("i1", dims)]

    def body(self, node, names, types):
        return f"{node.attributes['direction']}, {names[0]}, {names[1]}"

    def evaluate(self, node, values, shapes):
        a, b = (value.mapped(lambda x: np.broadcast_to(x, shapes[0])) for value in values)
        error = a.error + b.error
        distance = np.abs(a.values - b.values) if a.dtype in FLOATS else np.full(shapes[0], np.inf)
        unknown = (error > 0) & ~(distance > error) | ~np.isfinite(error)
        return [known("i1", DIRECTIONS[node.attributes["direction"]](a.values, b.values), unknown)]


class Select(Op):
    def draw(self, g):
        operands, dims = g.broadcasting(2, lambda type: True)
        predicate = g.operand("i1", g.choice([dims, dims, dims[len(dims) // 2:], ()]))
        return [predicate, *operands], {}, [Type(g.types[operands[0]].dtype, dims)]

    def evaluate(self, node, values, shapes):
        p, a, b = (value.mapped(lambda x: np.broadcast_to(x, shapes[0])) for value in values)
        error = np.where(p.unknown, np.inf, np.where(p.values, a.error, b.error))
        return [Num(a.dtype, np.where(p.values, a.values, b.values), error)]


class Clamp(Op):
    def draw(self, g):
        operands, dims = g.broadcasting(3, lambda type: type.dtype in NUMBERS)
        return operands, {}, [Type(g.types[operands[0]].dtype, dims)]

    def evaluate(self, node, values, shapes):
        low, a, high = (value.mapped(lambda x: np.broadcast_to(x, shapes[0])) for value in values)
        return [bounds.maximum(bounds.maximum(a, low), high, -1)]


class Fma(Op):
    def draw(self, g):
        operands, dims = g.broadcasting(3, lambda type: type.dtype in FLOATS)
        return operands, {}, [Type(g.types[operands[0]].dtype, dims)]

    def evaluate(self, node, values, shapes):
        a, b, c = (value.mapped(lambda x: np.broadcast_to(x, shapes[0])) for value in values)
        product = a.values * b.values
        x, y = np.abs(a.values).astype(np.float64), np.abs(b.values).astype(np.float64)
        error = x * b.error + y * a.error + a.error * b.error + c.error
        # Half of long double's own rounding of the product, which the sum may uncover.
        error = error + np.abs(product).astype(np.float64) * 2.0 ** -63
        return [rounded(a.dtype, product + c.values, error)]


class Convert(Op):
    def draw(self, g):
        operand = g.pick(lambda type: True)
        type = g.types[operand]
        # Mostly to what the program computes in, so that values meet again.
        to = g.choice(g.dtypes if g.random() < 0.8 else DTYPES)
        return None if to == type.dtype else ([operand], {}, [Type(to, type.dims)])

    def signature(self, node, types):
        return f"{types[0].mlir} -> {node.types[0].mlir}"

    def evaluate(self, node, values, shapes):
        a, = values
        to = node.types[0].dtype
        if to == "i1":
            unknown = (np.abs(a.values) <= a.error) & (a.error > 0) if a.dtype in FLOATS else a.unknown
            return [known("i1", a.values != 0, unknown | a.unknown)]
        if to in FLOATS:
            if a.dtype not in FLOATS:
                result = rounded(to, a.values.astype(np.longdouble), 0.0)
                return [Num(to, result.values, np.where(a.unknown, np.inf, result.error))]
            if bounds.UNIT[to] <= bounds.UNIT[a.dtype] and {a.dtype, to} != {"f16", "bf16"}:
                return [Num(to, a.values, a.error)]  # every value fits
            # Through f32 from f64 to 16 bits would round twice: the bound is that of one.
            error = a.error + bounds.SLACK * bounds.UNIT[to] * (np.abs(a.values).astype(np.float64) + a.error) + bounds.TINY[to]
            error = np.where(np.abs(a.values) + error < bounds.LARGEST[to], error, np.inf)
            return [Num(to, a.values, np.where(np.isnan(error), np.inf, error))]
        if a.dtype in FLOATS:
            limits = np.iinfo(NUMPY[to])

            def integers(x):
                clipped = np.clip(np.trunc(x), np.longdouble(limits.min), np.longdouble(limits.max))
                return np.where(np.isnan(clipped), 0, clipped).astype(NUMPY[to])
            values = integers(a.values)
            agree = (integers(a.values + a.error) == values) & (integers(a.values - a.error) == values)
            return [known(to, values, ~(agree | (a.error == 0)) | a.unknown)]
        return [known(to, a.values.astype(NUMPY[to]), a.unknown)]


class Bitcast(Convert):
    """To another type of as many bits."""

    def draw(self, g):
        operand = g.pick(lambda type: type.dtype != "i1")
        type = g.types[operand]
        # Any bits are a number of an integer type; of floats they would be mostly absurd ones.
        others = [dtype for dtype in (INTEGERS if g.random() < 0.8 else INTEGERS + FLOATS) if width(dtype) == width(type.dtype)]
        to = g.choice(others)
        return None if to == type.dtype else ([operand], {}, [Type(to, type.dims)])

    def evaluate(self, node, values, shapes):
        a, = values
        to = node.types[0].dtype
        stored = a.tensor()
        result = decode(to, a.shape, stored.encode())
        unsure = a.error > 0
        if to in FLOATS:
            return [Num(to, result.astype(np.longdouble), np.where(unsure, np.inf, 0.0))]
        return [known(to, result, unsure)]


def width(dtype):
    return 16 if dtype == "bf16" else int(dtype[1:])


ELEMENTWISE = (
    [Unary(name, FLOATS[:3] if name == "erfinv" else FLOATS, 0.35) for name in FLOAT_UNARY] +
    [Unary(name, SIGNED + FLOATS if name == "neg" else NUMBERS, 0.5) for name in NUMBER_UNARY] +
    [Unary("logical_not", ("i1",), 0.5), Unary("bitwise_not", INTEGERS, 0.5), Classify("is_nan", FLOATS, 0.3),
     Classify("is_finite", FLOATS, 0.3)] +
    [Binary(name, NUMBERS, weight) for name, weight in (("add", 2), ("sub", 2), ("mul", 2), ("div", 1), ("max", 1), ("min", 1),
                                                        ("rem", 0.4), ("pow", 0.4), ("floor_div", 0.5), ("mod", 0.5))] +
    [Binary(name, FLOATS, 0.4) for name in ("atan2", "logaddexp", "nextafter")] + [Binary(name, INTEGERS, 0.4) for name in SHIFTS] +
    [Bitcast("bitcast", 0.6)] +
    [Binary(name, LOGICAL, 0.5) for name in ("and", "or", "xor")] +
    [Compare("compare", 1.5), Select("select", 1.5), Clamp("clamp"), Fma("fma", 0.7), Convert("convert", 2.5)])
