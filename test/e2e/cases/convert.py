"""Conversion between every two element types, and reinterpretation of bits."""
import numpy as np

from harness import simple
from tensors import DTYPES, FLOATS, NUMPY, Tensor, mlir_type, random

FLOAT_VALUES = [0, -0.0, 0.4, 0.5, 0.6, -0.5, -0.6, 1, 1.5, 2.5, -2.5, 100.25, -100.75, 127.5, 200, 300, -300, 40000, 70000,
                -70000, 3e9, -3e9, 5e9, 1e19, -1e19, 3e38, 1e-40, np.inf, -np.inf, np.nan, 65504, 65520, 1 / 3]


def values_of(dtype):
    if dtype in FLOATS:
        return Tensor(dtype, FLOAT_VALUES)
    if dtype == "i1":
        return Tensor(dtype, [0, 1] * 9)
    limits = np.iinfo(NUMPY[dtype])
    edge = [limits.min, limits.max, limits.max // 2, limits.min // 2, 0, 1, 2, 100, 77]
    return Tensor(dtype, np.array(edge, dtype=NUMPY[dtype]))


def converted(x, to):
    """What array.convert says: floats saturate and NaN gives 0; integers keep their low bits."""
    values = x.values
    if to == "i1":
        return values != 0
    if to in FLOATS:
        # Integers beyond 53 bits: one rounding to the type, which float64 in between would make two.
        if x.dtype in ("i64", "u64") and to == "f32":
            return values.astype(np.float32).astype(np.float64)
        return values.astype(np.float64)
    if x.dtype in FLOATS:
        limits = np.iinfo(NUMPY[to])
        out = []
        for value in values:
            if np.isnan(value):
                out.append(0)
            elif np.isinf(value):
                out.append(limits.max if value > 0 else limits.min)
            else:
                out.append(min(max(int(value), limits.min), limits.max))
        return np.array(out, dtype=NUMPY[to])
    return values.astype(NUMPY[to])


def cases():
    with np.errstate(all="ignore"):
        for source in DTYPES:
            for to in DTYPES:
                if source == to:
                    continue
                x = values_of(source)
                # A rounding is the most that happens; f64 to a 16-bit type must not round twice.
                yield simple(f"{source}_to_{to}", [x], [(to, Tensor(to, converted(x, to)).values)],
                             f"%r0 = array.convert %0 : {x.mlir} -> {mlir_type(to, x.shape)}", "exact")
        for source, to in (("f32", "i32"), ("f32", "u32"), ("i32", "f32"), ("f64", "u64"), ("f16", "u16"), ("i8", "u8")):
            x = random(source, (41,), 1)
            bits = np.frombuffer(x.encode(), NUMPY[to])
            yield simple(f"bitcast_{source}_{to}", [x], [(to, bits.astype(np.float64) if to in FLOATS else bits)],
                         f"%r0 = array.bitcast %0 : {x.mlir} -> {mlir_type(to, x.shape)}", "exact")
        # A chain whose middle type decides the answer.
        x = random("f32", (50,), 2, -300, 300)
        yield simple("f32_to_i8_to_f32", [x], [("f32", converted(x, "i8").astype(np.float64))],
                     f"""%i = array.convert %0 : {x.mlir} -> tensor<50xi8>
                         %r0 = array.convert %i : tensor<50xi8> -> {x.mlir}""", "exact")
