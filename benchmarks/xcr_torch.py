"""Calls of the runtime on torch's tensors and streams, through the C API: what a program that embeds both would do."""
import ctypes
from ctypes import POINTER, Structure, byref, c_char_p, c_int, c_int64, c_size_t, c_uint32, c_void_p

DTYPES = {"i8": 2, "i32": 4, "ui32": 8, "f16": 10, "bf16": 11, "f32": 12}  # xcr_dtype_t


class StringView(Structure):
    _fields_ = [("data", c_char_p), ("size", c_size_t)]


class BufferOptions(Structure):
    _fields_ = [("struct_size", c_size_t), ("dtype", c_int), ("rank", c_uint32), ("shape", POINTER(c_int64)), ("strides", c_void_p)]


class StreamOptions(Structure):
    _fields_ = [("struct_size", c_size_t), ("flags", c_uint32), ("native_stream", c_void_p)]


def text(value):
    data = str(value).encode()
    return StringView(data, len(data))


class Runtime:
    """libxcr on the GPU, in the context that torch uses. Objects live as long as the process."""

    def __init__(self, path):
        self.lib = ctypes.CDLL(str(path))
        self.lib.xcr_status_message.restype = StringView
        self.lib.xcr_status_message.argtypes = [c_void_p]
        self.device = self.create("device_create", text("cuda:0"), None)

    def check(self, name, *arguments):
        function = getattr(self.lib, "xcr_" + name)
        function.restype = c_void_p
        status = function(*arguments)
        if status:
            raise RuntimeError(f"xcr_{name}: {self.lib.xcr_status_message(status).data.decode()}")

    def create(self, name, *arguments):
        out = c_void_p()
        self.check(name, *arguments, byref(out))
        return out

    def release(self, kind, handle):
        function = getattr(self.lib, f"xcr_{kind}_release")
        function.argtypes, function.restype = [c_void_p], None
        function(handle)

    def stream(self, native):
        """A stream that puts its work on a CUstream, which somebody may capture."""
        return self.create("stream_create", self.device, byref(StreamOptions(ctypes.sizeof(StreamOptions), 0, native)))

    def instance(self, path):
        module = self.create("module_load_file", text(path), None)
        return self.create("instance_create", self.device, module, None)

    def buffer(self, tensor, dtype):
        shape = (c_int64 * max(1, tensor.dim()))(*tensor.shape)
        options = BufferOptions(ctypes.sizeof(BufferOptions), DTYPES[dtype], tensor.dim(), shape, None)
        size = c_size_t(tensor.numel() * tensor.element_size())
        return self.create("buffer_wrap", self.device, byref(options), c_void_p(tensor.data_ptr()), size, None, None)

    def call(self, instance, inputs, outputs, function="main"):
        """A call with torch's tensors bound, each beside its type; launch(call, stream) is then all there is to do."""
        call = self.create("call_create", instance, text(function), None)
        for kind, tensors in (("input", inputs), ("output", outputs)):
            for i, (tensor, dtype) in enumerate(tensors):
                buffer = self.buffer(tensor, dtype)
                self.check(f"call_set_{kind}", call, c_uint32(i), buffer)
                self.release("buffer", buffer)
        return call

    def launch(self, call, stream):
        self.check("call_launch", call, stream)
