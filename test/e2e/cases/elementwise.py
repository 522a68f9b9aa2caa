"""Ops that make one element out of one element (of each operand)."""
import math

import numpy as np

from harness import simple
from tensors import FLOATS, Tensor, mlir_type, random

erf = np.vectorize(math.erf, otypes=[np.float64])
SHAPE = (3, 37)
# One element, around vectors and tiles, odd, more than one workgroup, none.
SHAPES = [(), (1,), (7,), (8,), (9,), (31, 33), (64, 64), (65, 127), (3, 1, 5), (1000, 67), (0, 4), (4, 0)]
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, np.inf, -np.inf, np.nan, 1e-40, -1e-40, 3e38, -3e38, 1e-30, 88.0, -88.0, 1e4]

# name -> (kind, reference in float64, domain)
UNARY = {
    "abs": ("exact", np.abs, None), "neg": ("exact", np.negative, None), "sign": ("exact", np.sign, None),
    "square": ("rounded", np.square, None), "sqrt": ("rounded", np.sqrt, (0, 9)),
    "rsqrt": ("math", lambda x: 1 / np.sqrt(x), (0.01, 9)), "reciprocal": ("rounded", lambda x: 1 / x, (0.1, 9)),
    "exp": ("math", np.exp, (-20, 11)), "exp2": ("math", np.exp2, (-20, 15)), "expm1": ("math", np.expm1, (-3, 8)),
    "log": ("math", np.log, (0.001, 90)), "log2": ("math", np.log2, (0.001, 90)), "log1p": ("math", np.log1p, (-0.9, 90)),
    "floor": ("exact", np.floor, (-9, 9)), "ceil": ("exact", np.ceil, (-9, 9)), "round": ("exact", np.rint, (-9, 9)),
    "sin": ("math", np.sin, (-30, 30)), "cos": ("math", np.cos, (-30, 30)), "tan": ("math", np.tan, (-1.4, 1.4)),
    "tanh": ("math", np.tanh, (-9, 9)), "erf": ("math", erf, (-4, 4)),
    "sigmoid": ("composite", lambda x: 1 / (1 + np.exp(-x)), (-20, 20)),
    "silu": ("composite", lambda x: x / (1 + np.exp(-x)), (-20, 20)),
    "relu": ("exact", lambda x: np.where(np.isnan(x), x, np.maximum(x, 0)), None),
    "gelu": ("composite", lambda x: 0.5 * x * (1 + erf(x / math.sqrt(2))), (-5, 5)),
}
# Absolute errors of gelu's left tail are those of erf near -1.
LOOSE = {"gelu": "sum", "silu": "composite", "tan": "composite"}


def unary_floats():
    for op, (kind, reference, domain) in UNARY.items():
        for dtype in FLOATS:
            low, high = domain or (None, None)
            shapes = SHAPES if dtype == "f32" and op in ("abs", "exp", "gelu") else [SHAPE]
            for shape in shapes:
                x = random(dtype, shape, 1, low, high)
                yield simple(f"{op}_{x.mlir}", [x], [(dtype, reference(x.values))],
                             f"%r0 = array.{op} %0 : {x.mlir}", LOOSE.get(op, kind))
    x = random("f32", SHAPE, 1, -5, 5)
    inner = math.sqrt(2 / math.pi) * (x.values + 0.044715 * x.values ** 3)
    yield simple("gelu_tanh", [x], [("f32", 0.5 * x.values * (1 + np.tanh(inner)))],
                 f"%r0 = array.gelu %0 approximate = tanh : {x.mlir}", "sum")


def special_values():
    """NaN, infinities, signed zeros and denormals through ops whose answer is exact there, or known."""
    with np.errstate(all="ignore"):
        for dtype in ("f32", "f64"):
            x = Tensor(dtype, SPECIAL)
            for op in ("abs", "neg", "sign", "floor", "ceil", "round", "relu", "sqrt", "exp", "log", "sin", "cos", "tanh",
                       "erf", "expm1", "log1p", "exp2", "log2"):
                reference = UNARY[op][1]
                kind = "exact" if UNARY[op][0] == "exact" else "math"
                yield simple(f"{op}_special_{dtype}", [x], [(dtype, reference(x.values))],
                             f"%r0 = array.{op} %0 : {x.mlir}", kind)


def narrow_denormals():
    """bf16 has the exponents of f32, so that its denormals are those of f32: exp ends in them, and what exp is a part of."""
    x = Tensor("bf16", [0, -86, -87, -88, -90, -91.5, -104])
    want = np.exp(x.values)
    yield simple("exp_denormal_bf16", [x], [("bf16", want), ("bf16", want * 2), ("bf16", 1 / (1 + np.exp(-x.values)))],
                 f"""%r0 = array.exp %0 : {x.mlir}
                     %y = array.exp %0 : {x.mlir}
                     %r1 = array.add %y, %y : {x.mlir}
                     %r2 = array.sigmoid %0 : {x.mlir}""", "math")


def overflowing_exp():
    """The last numbers before exp overflows, and many behind: infinity, whatever the product with log2(e) rounds off."""
    x = Tensor("f32", np.concatenate([np.float32(88.72283) + np.arange(-8, 9) * np.float32(2.0 ** -17), np.linspace(88.73, 104, 103)]))
    with np.errstate(over="ignore"):
        want = np.exp(x.values.astype(np.float64))
    yield simple("exp_overflow_f32", [x], [("f32", want)], f"%r0 = array.exp %0 : {x.mlir}", "math")


def tanh_of_log1p():
    for dtype in ("f32", "f64"):
        x = random(dtype, SHAPE, 5, -20, 40)
        y = Tensor(dtype, np.concatenate([x.values.ravel(), [0, -0.0, 1e30, np.inf, -np.inf, np.nan]]))
        e = np.exp(y.values.astype(np.float64))
        with np.errstate(all="ignore"):
            want = np.tanh(np.log1p(e))
        yield simple(f"tanh_of_log1p_{dtype}", [y], [(dtype, want)], f"""%e = array.exp %0 : {y.mlir}
                     %l = array.log1p %e : {y.mlir}
                     %r0 = array.tanh %l : {y.mlir}""", "math")


def unary_integers():
    for dtype in ("i8", "u8", "i32", "i64"):
        x = random(dtype, SHAPE, 2)
        for op, reference in (("abs", np.abs), ("square", np.square), ("sign", np.sign),
                              ("relu", lambda v: np.maximum(v, v.dtype.type(0)))) + \
                ((("neg", np.negative),) if dtype != "u8" else ()):
            yield simple(f"{op}_{dtype}", [x], [(dtype, reference(x.values))], f"%r0 = array.{op} %0 : {x.mlir}")
        yield simple(f"bitwise_not_{dtype}", [x], [(dtype, ~x.values)], f"%r0 = array.bitwise_not %0 : {x.mlir}")
    x = random("i1", SHAPE, 2)
    yield simple("logical_not", [x], [("i1", ~x.values)], f"%r0 = array.logical_not %0 : {x.mlir}")
    x = Tensor("f32", SPECIAL)
    for op, reference in (("is_nan", np.isnan), ("is_finite", np.isfinite)):
        yield simple(op, [x], [("i1", reference(x.values))], f"%r0 = array.{op} %0 : {x.mlir} -> {mlir_type('i1', x.shape)}")


def truncating_div(a, b):
    """Towards zero; by zero: all bits set; the lowest number by -1: itself."""
    out = np.full(a.shape, -1 if a.dtype.kind == "i" else np.iinfo(a.dtype).max, a.dtype)
    ok = b != 0
    quotient = np.abs(a[ok].astype(object)) // np.abs(b[ok].astype(object))
    signs = np.where((a[ok] < 0) != (b[ok] < 0), -1, 1)
    bits = 8 * a.dtype.itemsize
    wrapped = [int(q) * int(s) % (1 << bits) for q, s in zip(quotient, signs)]
    out[ok] = np.array(wrapped, np.uint64).astype(a.dtype)
    return out


def truncating_rem(a, b):
    out = a.copy()
    ok = b != 0
    out[ok] = np.array([int(math.fmod(int(x), int(y))) for x, y in zip(a[ok], b[ok])], a.dtype)
    return out


def nan_max(a, b):
    return np.where(np.isnan(a) | np.isnan(b), np.nan, np.maximum(a, b))


def nan_min(a, b):
    return np.where(np.isnan(a) | np.isnan(b), np.nan, np.minimum(a, b))


def binary_floats():
    ops = {"add": ("rounded", np.add), "sub": ("rounded", np.subtract), "mul": ("rounded", np.multiply),
           "div": ("rounded", np.divide), "rem": ("exact", np.fmod), "max": ("exact", nan_max), "min": ("exact", nan_min)}
    with np.errstate(all="ignore"):
        for op, (kind, reference) in ops.items():
            for dtype in FLOATS:
                shapes = SHAPES if dtype == "f32" and op == "add" else [SHAPE]
                for shape in shapes:
                    a, b = random(dtype, shape, 3), random(dtype, shape, 4)
                    yield simple(f"{op}_{a.mlir}", [a, b], [(dtype, reference(a.values, b.values))],
                                 f"%r0 = array.{op} %0, %1 : {a.mlir}", kind)
            pairs = np.array([(x, y) for x in SPECIAL for y in SPECIAL])
            a, b = Tensor("f32", pairs[:, 0]), Tensor("f32", pairs[:, 1])
            yield simple(f"{op}_special", [a, b], [("f32", reference(a.values, b.values))],
                         f"%r0 = array.{op} %0, %1 : {a.mlir}", kind)
        for dtype in FLOATS:
            a, b = random(dtype, SHAPE, 3, 0.1, 4), random(dtype, SHAPE, 4, -3, 3)
            yield simple(f"pow_{dtype}", [a, b], [(dtype, a.values ** b.values)], f"%r0 = array.pow %0, %1 : {a.mlir}",
                         "math" if dtype != "f32" else "composite")
        a = Tensor("f32", [-2, -2, 0, 0, -8, 1, np.inf, 2, -1])
        b = Tensor("f32", [3, 0.5, 0, 2, 2, np.nan, -1, -1, np.inf])
        yield simple("pow_special", [a, b], [("f32", [-8, np.nan, 1, 0, 64, 1, 0, 0.5, 1])],
                     f"%r0 = array.pow %0, %1 : {a.mlir}", "math")


def binary_integers():
    ops = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": truncating_div, "rem": truncating_rem,
           "max": np.maximum, "min": np.minimum, "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}
    with np.errstate(all="ignore"):
        for dtype in ("i8", "u8", "i16", "i32", "u32", "i64", "u64"):
            limits = np.iinfo(random(dtype, (1,), 0).values.dtype)
            a, b = random(dtype, SHAPE, 5), random(dtype, SHAPE, 6)
            a.values[0, :4] = [limits.min, limits.min, limits.max, 5]
            b.values[0, :4] = [limits.max, 1, 0, 0]
            if dtype.startswith("i"):
                b.values[0, 0] = -1
            for op, reference in ops.items():
                yield simple(f"{op}_{dtype}", [a, b], [(dtype, reference(a.values, b.values))],
                             f"%r0 = array.{op} %0, %1 : {a.mlir}")
    a, b = random("i1", SHAPE, 5), random("i1", SHAPE, 6)
    for op in ("and", "or", "xor"):
        yield simple(f"{op}_i1", [a, b], [("i1", ops[op](a.values, b.values))], f"%r0 = array.{op} %0, %1 : {a.mlir}")
    a, b = Tensor("i32", [2, -3, 7, -1, 5, 0, 10]), Tensor("i32", [10, 3, 0, -5, -1, -1, 20])
    yield simple("pow_i32", [a, b], [("i32", [1024, -27, 1, -1, 0, -1, 1661992960])], f"%r0 = array.pow %0, %1 : {a.mlir}")


def comparisons():
    ops = {"eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal}
    for dtype in ("f32", "f64", "bf16", "i32", "u8", "i1"):
        if dtype in FLOATS:
            pairs = np.array([(x, y) for x in SPECIAL for y in SPECIAL])
            a, b = Tensor(dtype, pairs[:, 0]), Tensor(dtype, pairs[:, 1])
        else:
            a, b = random(dtype, SHAPE, 7, 0, 2 if dtype == "i1" else 4), random(dtype, SHAPE, 8, 0, 4)
        for direction, reference in ops.items():
            truth = mlir_type("i1", a.shape)
            yield simple(f"compare_{direction}_{dtype}", [a, b], [("i1", reference(a.values, b.values))],
                         f"%r0 = array.compare {direction}, %0, %1 : ({a.mlir}, {b.mlir}) -> {truth}")


def ternary():
    for dtype in ("f32", "bf16", "i32", "i1"):
        p, a, b = random("i1", SHAPE, 9), random(dtype, SHAPE, 10), random(dtype, SHAPE, 11)
        yield simple(f"select_{dtype}", [p, a, b], [(dtype, np.where(p.values, a.values, b.values))],
                     f"%r0 = array.select %0, %1, %2 : ({p.mlir}, {a.mlir}, {b.mlir}) -> {a.mlir}", "exact")
    for dtype in ("f32", "f16", "i32"):
        low, x, high = Tensor(dtype, -1), random(dtype, SHAPE, 12), Tensor(dtype, 1)
        yield simple(f"clamp_{dtype}", [low, x, high], [(dtype, np.clip(x.values, -1, 1))],
                     f"%r0 = array.clamp %0, %1, %2 : ({low.mlir}, {x.mlir}, {high.mlir}) -> {x.mlir}", "exact")
    a = Tensor("f32", [1 + 2.0 ** -12] * 9)
    c = Tensor("f32", [-1 - 2.0 ** -11] * 9)
    yield simple("fma_rounds_once", [a, a, c], [("f32", a.values * a.values + c.values)],
                 f"%r0 = array.fma %0, %1, %2 : {a.mlir}", "exact")
    # That of 16 bits is rounded to f32 first, which makes a tie of what lies beside one.
    for dtype, numbers, wanted in (("bf16", (7, 37, -2.0 ** -20), 260), ("f16", (3, 683, 2.0 ** -14), 2048)):
        a, b, c = (Tensor(dtype, [number] * 3) for number in numbers)
        yield simple(f"fma_{dtype}", [a, b, c], [(dtype, np.full(3, wanted))], f"%r0 = array.fma %0, %1, %2 : {a.mlir}", "exact")
    for dtype in ("f32", "f64"):
        a, b, c = (random(dtype, SHAPE, seed) for seed in (13, 14, 15))
        exact = a.values.astype(np.longdouble) * b.values + c.values
        yield simple(f"fma_{dtype}", [a, b, c], [(dtype, exact.astype(np.float64))], f"%r0 = array.fma %0, %1, %2 : {a.mlir}")


def narrow_functions():
    """Functions that have short forms where 16 bits are wanted, of all numbers of 16 bits; cos and sin of huge ones take another way."""
    bits = np.arange(1 << 16, dtype=np.uint32)
    for dtype, values in (("f16", bits.astype(np.uint16).view(np.float16).astype(np.float64)),
                          ("bf16", (bits << 16).view(np.float32).astype(np.float64))):
        x = Tensor(dtype, np.where(np.isnan(values), np.nan, values))
        for op in ("log", "log1p", "sin", "cos"):
            yield simple(f"all_{op}_{dtype}", [x], [(dtype, getattr(np, op)(x.values))], f"%r0 = array.{op} %0 : {x.mlir}", "math")


def broadcasts():
    for left, right in (((5, 7), ()), ((), (5, 7)), ((5, 7), (7,)), ((5, 7), (5, 1)), ((5, 1), (1, 7)), ((2, 1, 3), (4, 1)),
                        ((1,), (9,)), ((0, 3), (3,)), ((33, 65), (65,)), ((33, 65), (33, 1))):
        a, b = random("f32", left, 16), random("f32", right, 17)
        result = a.values - b.values
        yield simple(f"broadcast_{a.mlir}_{b.mlir}", [a, b], [("f32", result)],
                     f"%r0 = array.sub %0, %1 : ({a.mlir}, {b.mlir}) -> {mlir_type('f32', result.shape)}")


def chains():
    """Several ops in one kernel, a value used twice, and values that leave the kernel halfway."""
    a, b = random("f32", (130, 77), 18), random("f32", (77,), 19)
    half = np.tanh(a.values + b.values)
    yield simple("chain_two_results", [a, b], [("f32", half * half + a.values), ("f32", half)], f"""
        %s = array.add %0, %1 : ({a.mlir}, {b.mlir}) -> {a.mlir}
        %r1 = array.tanh %s : {a.mlir}
        %q = array.mul %r1, %r1 : {a.mlir}
        %r0 = array.add %q, %0 : {a.mlir}""", "composite")


def cases():
    with np.errstate(all="ignore"):
        for make in (unary_floats, special_values, narrow_denormals, overflowing_exp, tanh_of_log1p, narrow_functions, unary_integers, binary_floats, binary_integers, comparisons, ternary,
                     broadcasts, chains):
            yield from make()
