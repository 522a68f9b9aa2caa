"""Arrays of every element type of the compiler, bfloat16 included, as NumPy arrays of a type that holds their values.

Floats are kept as float64 values that the type has (f16, bf16 and f32 are subsets), integers as themselves, truth
values as bool.
"""
import json

import numpy as np

NUMPY = {"i1": np.bool_, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64,
         "u8": np.uint8, "u16": np.uint16, "u32": np.uint32, "u64": np.uint64,
         "f16": np.float16, "f32": np.float32, "f64": np.float64}
FLOATS = ("f16", "bf16", "f32", "f64")
INTEGERS = ("i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64")
DTYPES = ("i1",) + INTEGERS + FLOATS
# XCR_DTYPE_* in xcr.h.
CODES = {name: code for code, name in enumerate(
    ("i1", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f16", "bf16", "f32", "f64"), 1)}
NAMES = {code: name for name, code in CODES.items()}


def mlir_element(dtype):
    return "u" + "i" + dtype[1:] if dtype.startswith("u") else dtype


def mlir_type(dtype, shape):
    return "tensor<" + "".join(f"{'?' if d is None else d}x" for d in shape) + mlir_element(dtype) + ">"


def round_bf16(values):
    """float64 to the nearest bfloat16, ties to even, as float64. Exact: no second rounding through float32."""
    values = np.asarray(values, np.float64)
    with np.errstate(all="ignore"):
        mantissa, exponent = np.frexp(values)
        # 8 bits of mantissa, fewer below the smallest normal number, 2**-126.
        bits = np.clip(8 - np.maximum(-125 - exponent, 0), -1, 8)
        scale = np.exp2(bits.astype(np.float64))
        rounded = np.ldexp(np.rint(mantissa * scale) / scale, exponent)
    rounded = np.where(np.isfinite(values), rounded, values)
    return np.where(np.isfinite(rounded) & (np.abs(rounded) >= 2.0 ** 128), np.copysign(np.inf, rounded), rounded)


class Tensor:
    """Values under an element type. `exact` numbers are kept; others are rounded to the type."""

    def __init__(self, dtype, values):
        self.dtype = dtype
        values = np.asarray(values)
        with np.errstate(all="ignore"):
            if dtype == "bf16":
                self.values = round_bf16(values)
            elif dtype in FLOATS:
                self.values = values.astype(np.float64).astype(NUMPY[dtype]).astype(np.float64)
            else:
                self.values = values.astype(NUMPY[dtype])

    @property
    def shape(self):
        return self.values.shape

    @property
    def mlir(self):
        return mlir_type(self.dtype, self.shape)

    def encode(self):
        """The bytes that the runtime takes."""
        if self.dtype == "bf16":
            return (self.values.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16).tobytes()
        return np.ascontiguousarray(self.values.astype(NUMPY[self.dtype])).tobytes()


def decode(dtype, shape, data):
    """The values of bytes that the runtime gave."""
    if dtype == "bf16":
        bits = np.frombuffer(data, np.uint16).astype(np.uint32) << 16
        return bits.view(np.float32).astype(np.float64).reshape(shape)
    values = np.frombuffer(data, NUMPY[dtype]).reshape(shape)
    return values.astype(np.float64) if dtype in FLOATS else values


def write_safetensors(path, held):
    """A file of tensors by key, as https://huggingface.co/docs/safetensors describes it."""
    names = {"i1": "BOOL", "f16": "F16", "bf16": "BF16", "f32": "F32", "f64": "F64"}
    header, parts, at = {}, [], 0
    for key, tensor in held.items():
        parts.append(tensor.encode())
        name = names.get(tensor.dtype, tensor.dtype.upper())
        header[key] = {"dtype": name, "shape": list(tensor.shape), "data_offsets": [at, at + len(parts[-1])]}
        at += len(parts[-1])
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(len(text).to_bytes(8, "little") + text + b"".join(parts))


def random(dtype, shape, seed, low=None, high=None):
    """Reproducible values: floats in [-2, 2), integers small enough that products make sense, or as told."""
    generator = np.random.default_rng([seed, CODES[dtype], *shape])
    if dtype == "i1":
        return Tensor(dtype, generator.integers(0, 2, shape))
    if dtype in FLOATS:
        low, high = -2 if low is None else low, 2 if high is None else high
        return Tensor(dtype, generator.uniform(low, high, shape))
    low = (-100 if dtype.startswith("i") else 0) if low is None else low
    high = (100 if dtype == "i8" else 120) if high is None else high
    return Tensor(dtype, generator.integers(low, high, shape))
