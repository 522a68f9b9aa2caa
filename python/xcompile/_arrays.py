"""Arrays of other libraries: how they come in and go out. Nothing here imports one that the program has not imported."""
import json
import struct
import sys
from typing import NamedTuple

from . import _errors, _runtime

# Element types that NumPy knows through ml_dtypes only.
_SHORT_FLOATS = {"bf16": ("bfloat16", "u16"), "f8e4m3": ("float8_e4m3fn", "u8"), "f8e5m2": ("float8_e5m2", "u8")}
# Their names in .safetensors files.
SHORT_TENSORS = {"bfloat16": "BF16", "float8_e4m3fn": "F8_E4M3", "float8_e5m2": "F8_E5M2"}
_SAFETENSORS = {"?": "BOOL", "b": "I8", "h": "I16", "i": "I32", "l": "I64", "q": "I64", "B": "U8", "H": "U16", "I": "U32", "L": "U64",
                "Q": "U64", "e": "F16", "f": "F32", "d": "F64"}


def _numpy():
    try:
        import numpy
    except ImportError:
        raise _errors.Error("this needs NumPy, which is not installed") from None
    return numpy


def _short_floats():
    """{name of the type in ml_dtypes: (ours, the unsigned type of that size)}."""
    return {numpy_name: (ours, unsigned) for ours, (numpy_name, unsigned) in _SHORT_FLOATS.items()}


def to_numpy(array):
    """An Array as a NumPy array: its own memory where the host sees it, else a copy."""
    numpy = _numpy()
    short = _SHORT_FLOATS.get(array.dtype)
    if short:
        try:
            import ml_dtypes
        except ImportError:
            raise TypeError(f"NumPy has no type for {array.dtype} without the package ml_dtypes; torch.from_dlpack(array) "
                            "takes it") from None
        return to_numpy(array._as(short[1])).view(getattr(ml_dtypes, short[0]))
    if array.device.startswith("cpu"):
        return numpy.asarray(array)
    names = {"i1": "bool", "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64", "u8": "uint8", "u16": "uint16", "u32": "uint32",
             "u64": "uint64", "f16": "float16", "f32": "float32", "f64": "float64"}
    host = numpy.empty(array.shape, names[array.dtype])
    array._read_into(host)
    return host


def split_complex(array):
    """A complex NumPy array as a real one, whose last dim holds the real and the imaginary part."""
    return array[..., None].view(array.real.dtype)


def unusual_array(array):
    """(array with the same memory and a type that the buffer protocol knows, our name of the type)."""
    name = getattr(getattr(array, "dtype", None), "name", None)
    if name in ("complex64", "complex128"):
        return split_complex(array), "f32" if name == "complex64" else "f64"
    known = _short_floats().get(name)
    if not known:
        raise TypeError(f"no element type for arrays of {name or type(array).__name__}")
    return array.view(_numpy().dtype(f"u{2 if known[1] == 'u16' else 1}")), known[0]


def unusual_result(array):
    """What a function gives where NumPy arrays came in and numpy.asarray is no help: on a GPU, and for types that NumPy lacks, the Array."""
    if not array.device.startswith("cpu") or (array.dtype in _SHORT_FLOATS and "ml_dtypes" not in sys.modules):
        return array
    return to_numpy(array)


def write(array, values):
    """Copies `values` into an Array of the same type and shape."""
    numpy = _numpy()
    if isinstance(values, _runtime.Array):
        values = to_numpy(values)
    elif not isinstance(values, numpy.ndarray) and hasattr(values, "__dlpack__") and getattr(values, "is_cpu", True):
        values = numpy.from_dlpack(values.detach() if hasattr(values, "detach") else values)
    host = numpy.ascontiguousarray(values).reshape(numpy.shape(values))
    if host.dtype.kind == "c":
        host = split_complex(host)
    dtype = _name_of(host)
    if dtype != array.dtype or host.shape != array.shape:
        raise _errors.ArgumentError(f"expected {array.dtype} of shape {array.shape}, got {dtype} of shape {host.shape}")
    array._write_from(host.reshape(-1).view("u1") if host.size else b"")


def _name_of(host):
    """Our name of a NumPy array's type."""
    short = _short_floats().get(host.dtype.name)
    if short:
        return short[0]
    kinds = {"b": "i1", "i": f"i{8 * host.itemsize}", "u": f"u{8 * host.itemsize}", "f": f"f{8 * host.itemsize}"}
    name = kinds.get(host.dtype.kind)
    if name is None or not host.dtype.isnative:
        raise TypeError(f"no element type for arrays of {host.dtype}")
    return name


def copy_to(instance, values):
    """A new Array with the values of a NumPy array."""
    host = _numpy().asarray(values)
    if host.dtype.kind == "c":
        host = split_complex(_numpy().ascontiguousarray(host))
    array = instance.array(_name_of(host), host.shape)
    write(array, host)
    return array


class Bits(NamedTuple):
    """An array of floats that NumPy lacks, as unsigned integers of their size. `dtype` is its name in .safetensors files."""

    dtype: str
    bits: object


def _stored(key, values):
    """(type in .safetensors files, NumPy array of that many bytes) of an array."""
    if isinstance(values, Bits):
        return values
    host = _numpy().asarray(values)
    dtype = SHORT_TENSORS.get(host.dtype.name) or _SAFETENSORS.get(host.dtype.char)
    if dtype is None or not host.dtype.isnative:
        raise TypeError(f"parameter '{key}': no element type for arrays of {host.dtype}")
    return Bits(dtype, host)


def safetensors_parts(arrays):
    """The bytes of a .safetensors file with these arrays, NumPy's or Bits, piece by piece.

    The widest types come first, so that each array lies at a multiple of its elements' size.
    """
    stored = sorted(((key, *_stored(key, values)) for key, values in arrays.items()), key=lambda one: -one[2].itemsize)
    header, begin = {}, 0
    for key, dtype, host in stored:
        header[key] = {"dtype": dtype, "shape": list(host.shape), "data_offsets": [begin, begin + host.nbytes]}
        begin += host.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    yield struct.pack("<Q", len(text)) + text
    for _, _, host in stored:
        yield host.tobytes()


def safetensors(arrays):
    """The bytes of a .safetensors file with these arrays; see safetensors_parts()."""
    return b"".join(safetensors_parts(arrays))


def _torch_adapter(torch):
    names = {"i1": torch.bool, "i8": torch.int8, "i16": torch.int16, "i32": torch.int32, "i64": torch.int64, "u8": torch.uint8,
             "f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32, "f64": torch.float64}
    for ours, name in (("u16", "uint16"), ("u32", "uint32"), ("u64", "uint64"), ("f8e4m3", "float8_e4m3fn"), ("f8e5m2", "float8_e5m2")):
        if hasattr(torch, name):
            names[ours] = getattr(torch, name)
    to_capsule, empty, strided = torch.utils.dlpack.to_dlpack, torch.empty, torch.strided
    raw_stream = getattr(torch._C, "_cuda_getCurrentRawStream", None)

    def capsule(tensor, stream):
        # The stream is torch's current one, so torch has nothing to wait for.
        if tensor.requires_grad:
            raise TypeError("the tensor requires a gradient, which does not flow through a module; pass tensor.detach()")
        if tensor.layout is not strided or tensor.is_conj() or tensor.is_neg():
            raise TypeError("expected a dense tensor that is neither conjugate nor negative lazily; pass tensor.resolve_conj().resolve_neg()")
        if not tensor.data_ptr() and tensor.numel():
            raise TypeError("the tensor has no memory: its storage was freed, or it is a meta or fake tensor")
        return to_capsule(tensor)

    def current(ordinal):
        native = raw_stream(ordinal) if raw_stream else torch.cuda.current_stream(ordinal).cuda_stream
        return native or 1  # torch's default stream is the legacy one

    def allocate(dtype, shape):
        return empty(shape, dtype=names[dtype], device=torch.device("cuda", torch.cuda.current_device()))

    return capsule, torch.from_dlpack, current, allocate


def _dlpack_capsule(tensor, stream):
    return tensor.__dlpack__() if stream is None else tensor.__dlpack__(stream=stream)


def _dlpack_adapter(tensor):
    library = sys.modules.get(type(tensor).__module__.partition(".")[0])
    jax = sys.modules.get("jax")
    if jax is not None and isinstance(tensor, jax.Array):
        return _dlpack_capsule, jax.dlpack.from_dlpack, None, None
    convert = getattr(library, "from_dlpack", None)
    return _dlpack_capsule, convert or (lambda array: array), None, None


def adapter_of(value):
    """(capsule, convert, stream, allocate) for values of this type; see Adapter in runtime.cpp."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        return _torch_adapter(torch)
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(value, (numpy.ndarray, numpy.generic)):
        return None, numpy.asarray, None, None
    if hasattr(value, "__dlpack__"):
        return _dlpack_adapter(value)
    try:
        memoryview(value)
    except TypeError:
        raise TypeError(f"expected an array (NumPy's, or with __dlpack__), got {type(value).__name__}") from None
    return None, numpy.asarray if numpy is not None else lambda array: array, None, None


_runtime.set_hooks(adapter_of, to_numpy, unusual_array, unusual_result, _errors.Error, _errors.ArgumentError)
