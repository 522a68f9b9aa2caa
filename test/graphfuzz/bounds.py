"""Values with a bound on their error, so that a result is compared with what its roundings allow and nothing more.

A Num holds reference values and, per element, how far a computed value may be from them: 0 is exact, infinite is unknown
(a comparison of values that are equal within their errors may go either way). Floats are computed in NumPy's long double,
whose own roundings are 2**-11 of one of float64. Everything here is sound: whatever order sums are taken in, whether
intermediate results are rounded to a 16-bit type or kept in f32, whether a product and a sum are fused.
"""
import dataclasses

import numpy as np

from tensors import FLOATS, NUMPY, Tensor

UNIT = {"f16": 2.0 ** -11, "bf16": 2.0 ** -8, "f32": 2.0 ** -24, "f64": 2.0 ** -53}
TINY = {"f16": 2.0 ** -24, "bf16": 2.0 ** -133, "f32": 2.0 ** -149, "f64": 2.0 ** -1074}
LARGEST = {"f16": 65504.0, "bf16": (2.0 - 2.0 ** -7) * 2.0 ** 127, "f32": (2.0 - 2.0 ** -23) * 2.0 ** 127,
           "f64": float(np.finfo(np.float64).max)}
# What a computed rounding may be more than the ideal one: the bound's own roundings.
SLACK = 1.01


def computed_in(dtype):
    return "f32" if dtype in ("f16", "bf16") else dtype


@dataclasses.dataclass
class Num:
    dtype: str
    values: np.ndarray
    error: np.ndarray

    @property
    def shape(self):
        return np.shape(self.values)

    @property
    def unknown(self):
        return ~np.isfinite(self.error)

    def mapped(self, move):
        """The same elements elsewhere: `move` takes and gives an array."""
        return Num(self.dtype, move(self.values), move(self.error))

    def tensor(self):
        """What an ideal computation stores."""
        return Tensor(self.dtype, self.values.astype(np.float64) if self.dtype in FLOATS else self.values)


def exact(tensor):
    values = tensor.values.astype(np.longdouble) if tensor.dtype in FLOATS else tensor.values
    return Num(tensor.dtype, values, np.zeros(np.shape(values)))


def known(dtype, values, unknown):
    """Integers, truth values: right or unknown."""
    values = np.asarray(values)
    unknown = np.broadcast_to(np.asarray(unknown, bool), values.shape)
    return Num(dtype, values.astype(NUMPY[dtype]), np.where(unknown, np.inf, 0.0))


def rounded(dtype, values, error, ulps=1.0, absolute=0.0, reach=0.0):
    """A float result: `error` is what the operands' errors make of it, `ulps` and `absolute` what computing it adds, in
    units of the type that it is computed in; storing it in a 16-bit type rounds once more. `reach` is how large a number on
    the way to it may be in some order: one that overflows makes it unknown, however small it is itself."""
    values = np.asarray(values, np.longdouble)
    error = np.broadcast_to(np.asarray(error, np.float64), values.shape)
    with np.errstate(all="ignore"):
        size = np.abs(values).astype(np.float64)
        wide = computed_in(dtype)
        total = error + SLACK * UNIT[wide] * (ulps * (size + error) + absolute)
        total = total + np.where(np.asarray(ulps) + np.asarray(absolute) > 0, TINY[wide], 0.0)
        if wide != dtype:
            total = total + SLACK * UNIT[dtype] * (size + total) + TINY[dtype]
        # Close to the largest number an overflow may or may not happen, in this type or in a product kept wider.
        fits = (size + total < LARGEST[dtype]) & (np.asarray(reach, np.float64) < LARGEST[wide])
        total = np.where(np.isfinite(total) & fits, total, np.inf)
    return Num(dtype, values, total)


def add(dtype, a, b, ulps=1.0, sign=1):
    return rounded(dtype, a.values + sign * b.values, a.error + b.error, ulps)


def mul(dtype, a, b, ulps=1.0):
    x, y = np.abs(a.values).astype(np.float64), np.abs(b.values).astype(np.float64)
    return rounded(dtype, a.values * b.values, x * b.error + y * a.error + a.error * b.error, ulps)


def div(dtype, a, b, ulps=1.0):
    with np.errstate(all="ignore"):
        quotient = a.values / b.values
        size = np.abs(b.values).astype(np.float64)
        error = (a.error + np.abs(quotient).astype(np.float64) * b.error) / (size - b.error)
        error = np.where((size > b.error) & ~np.isnan(error), error, np.inf)
    return rounded(dtype, quotient, error, ulps)


def monotone(dtype, function, a, ulps):
    """A function that only rises or only falls between the ends of each interval."""
    with np.errstate(all="ignore"):
        values = function(a.values)
        ends = [np.abs(function(a.values + s * a.error) - values) for s in (1, -1)]
        error = np.maximum(*ends).astype(np.float64)
        # What is unknown may be NaN, however near to one another the ends are.
        error = np.where(a.error == 0, 0.0, np.where(np.isnan(error) | a.unknown, np.inf, error))
    return rounded(dtype, values, error, ulps)


def lipschitz(dtype, function, a, constant, ulps, absolute=0.0):
    with np.errstate(all="ignore"):
        return rounded(dtype, function(a.values), constant * a.error, ulps, absolute)


def maximum(a, b, sign=1):
    """The larger one, or with sign -1 the smaller one; NaN where either is."""
    values = (np.maximum if sign > 0 else np.minimum)(a.values, b.values)
    return Num(a.dtype, values, np.broadcast_to(np.maximum(a.error, b.error), values.shape))


def total(dtype, a, axes, keepdims=False, slack=2.0):
    """A sum over `axes`, in any order."""
    count = int(np.prod([a.shape[axis] for axis in axes], dtype=np.int64))
    with np.errstate(all="ignore"):
        values = a.values.sum(axis=tuple(axes), keepdims=keepdims)
        error = a.error.sum(axis=tuple(axes), keepdims=keepdims)
        size = np.abs(a.values).astype(np.float64).sum(axis=tuple(axes), keepdims=keepdims)
        gathered = slack * count * UNIT[computed_in(dtype)] * (size + error)
    return rounded(dtype, values, error + gathered, reach=size + error + gathered)


def extreme(a, axes, sign, keepdims=False):
    """The largest element over `axes` (sign 1) or the smallest (sign -1), which is as far off as the worst of them."""
    if a.dtype in FLOATS:
        empty = -sign * np.inf
    elif a.dtype == "i1":
        empty = sign < 0
    else:
        limits = np.iinfo(NUMPY[a.dtype])
        empty = limits.min if sign > 0 else limits.max
    values = (np.max if sign > 0 else np.min)(a.values, axis=tuple(axes), keepdims=keepdims, initial=empty)
    error = np.max(a.error, axis=tuple(axes), keepdims=keepdims, initial=0.0)
    return Num(a.dtype, values, error)


def disagreement(num, got_values):
    """None, or what is wrong with `got_values`, the computed elements."""
    if got_values.size == 0:
        return None
    if num.dtype not in FLOATS:
        wrong = (got_values != num.values) & ~num.unknown
        excess = wrong.astype(np.float64)
    else:
        with np.errstate(all="ignore"):
            got = got_values.astype(np.longdouble)
            stored = Tensor(num.dtype, num.values.astype(np.float64)).values
            difference = np.abs(got - num.values).astype(np.float64)
            right = (got == num.values) | (got_values == stored) | (np.isnan(got) & np.isnan(num.values)) | num.unknown
            wrong = ~right & ~(difference <= num.error)
            excess = np.where(wrong, np.where(np.isfinite(difference), difference - num.error, np.inf), -np.inf)
    if not wrong.any():
        return None
    worst = np.unravel_index(np.argmax(excess), excess.shape)
    return (f"{int(wrong.sum())} of {wrong.size} elements are off, worst at {[int(i) for i in worst]}: expected "
            f"{num.values[worst]}, got {got_values[worst]}" +
            (f", allowed error {num.error[worst]:.3g}" if num.dtype in FLOATS else ""))
