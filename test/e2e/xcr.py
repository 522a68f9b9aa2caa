"""The part of the runtime's C API that the tests use, through ctypes."""
import ctypes
from ctypes import POINTER, Structure, byref, c_bool, c_char_p, c_int, c_int64, c_size_t, c_uint32, c_uint64, c_void_p

import tensors


KEPT = {}  # text -> its bytes


class StringView(Structure):
    _fields_ = [("data", c_void_p), ("size", c_size_t)]

    @staticmethod
    def of(text):
        # Views lend their bytes, and ctypes copies views into other structures: the bytes are kept for good.
        data = KEPT.setdefault(text, text.encode())
        return StringView(ctypes.cast(c_char_p(data), c_void_p).value, len(data))

    def text(self):
        return ctypes.string_at(self.data, self.size).decode() if self.size else ""


class BufferOptions(Structure):
    _fields_ = [("struct_size", c_size_t), ("dtype", c_int), ("rank", c_uint32), ("shape", POINTER(c_int64)),
                ("strides", POINTER(c_int64))]


class BufferInfo(Structure):
    _fields_ = [("struct_size", c_size_t), ("dtype", c_int), ("rank", c_uint32), ("shape", POINTER(c_int64)),
                ("strides", POINTER(c_int64)), ("element_count", c_uint64), ("byte_length", c_uint64),
                ("is_contiguous", c_bool), ("address", c_uint64), ("is_host_visible", c_bool)]


class DeviceInfo(Structure):
    _fields_ = [("struct_size", c_size_t), ("uri", StringView), ("driver", StringView), ("name", StringView),
                ("arch", StringView), ("description", StringView), ("total_memory", c_uint64),
                ("processor_count", c_uint32), ("driver_version", c_uint32)]


class FunctionInfo(Structure):
    _fields_ = [("struct_size", c_size_t), ("name", StringView), ("doc", StringView), ("ordinal", c_uint32),
                ("input_count", c_uint32), ("output_count", c_uint32), ("symbol_count", c_uint32)]


class CallStatistics(Structure):
    _fields_ = [("struct_size", c_size_t), ("launches", c_uint64), ("checks", c_uint64), ("instantiations", c_uint64),
                ("patches", c_uint64), ("command_count", c_uint32), ("dispatch_count", c_uint32), ("empty_count", c_uint32),
                ("arena_bytes", c_uint64), ("has_host_loop", c_bool), ("stream_count", c_uint32)]


class ParameterSource(Structure):
    _fields_ = [("scope", StringView), ("path", StringView)]


class InstanceOptions(Structure):
    _fields_ = [("struct_size", c_size_t), ("sources", POINTER(ParameterSource)), ("source_count", c_size_t)]


class Failure(Exception):
    """A status of the library; its text is the status's message."""


class Library:
    def __init__(self, path):
        self.lib = ctypes.CDLL(path)
        self.lib.xcr_status_message.restype = StringView
        self.lib.xcr_status_message.argtypes = [c_void_p]
        self.lib.xcr_status_release.argtypes = [c_void_p]
        self.lib.xcr_status_release.restype = None
        for name in ("device", "module", "instance", "call", "buffer"):
            release = getattr(self.lib, f"xcr_{name}_release")
            release.argtypes, release.restype = [c_void_p], None
        self.lib.xcr_call_output.restype = c_void_p
        self.lib.xcr_call_output.argtypes = [c_void_p, c_uint32]
        self.lib.xcr_buffer_get_info.restype = None
        self.lib.xcr_call_get_statistics.restype = None
        self.lib.xcr_device_get_info.restype = None
        self.lib.xcr_function_get_info.restype = None

    def check(self, name, *arguments):
        """Calls xcr_NAME and raises its status."""
        function = getattr(self.lib, "xcr_" + name)
        function.restype = c_void_p
        status = function(*arguments)
        if status:
            message = self.lib.xcr_status_message(status).text()
            self.lib.xcr_status_release(status)
            raise Failure(message)

    def create(self, name, *arguments):
        """Calls xcr_NAME, whose last argument takes a new object, and returns the object."""
        out = c_void_p()
        self.check(name, *arguments, byref(out))
        return Object(self, name.split("_")[0], out)


class Object:
    """A reference that is dropped with the Python object."""

    def __init__(self, library, kind, handle):
        self.library, self.kind, self.handle = library, kind, handle

    def __del__(self):
        getattr(self.library.lib, f"xcr_{self.kind}_release")(self.handle)


class Instance:
    """One module on one device."""

    def __init__(self, library, device, path, parameters=()):
        self.library, self.device = library, device
        self.module = library.create("module_load_file", StringView.of(str(path)), None)
        sources = (ParameterSource * len(parameters))(
            *(ParameterSource(StringView.of(scope), StringView.of(str(file))) for scope, file in parameters))
        options = InstanceOptions(ctypes.sizeof(InstanceOptions), sources, len(parameters))
        self.instance = library.create("instance_create", device.handle, self.module.handle, byref(options))

    def upload(self, tensor):
        shape = (c_int64 * max(1, len(tensor.shape)))(*tensor.shape)
        options = BufferOptions(ctypes.sizeof(BufferOptions), tensors.CODES[tensor.dtype], len(tensor.shape), shape, None)
        data = tensor.encode()
        return self.library.create("buffer_create_from_host", self.device.handle, byref(options), data, c_size_t(len(data)))

    def download(self, handle):
        info = BufferInfo(struct_size=ctypes.sizeof(BufferInfo))
        self.library.lib.xcr_buffer_get_info(handle, byref(info))
        shape = tuple(info.shape[i] for i in range(info.rank))
        data = ctypes.create_string_buffer(max(1, info.byte_length))
        self.library.check("buffer_read", handle, c_uint64(0), data, c_size_t(info.byte_length))
        dtype = tensors.NAMES[info.dtype]
        return dtype, tensors.decode(dtype, shape, data.raw[:info.byte_length])

    def output_count(self, function):
        found = c_void_p()
        self.library.check("module_find_function", self.module.handle, StringView.of(function), byref(found))
        info = FunctionInfo(struct_size=ctypes.sizeof(FunctionInfo))
        self.library.lib.xcr_function_get_info(found, byref(info))
        return info.output_count

    def create_call(self, function):
        return self.library.create("call_create", self.instance.handle, StringView.of(function), None)

    def statistics(self, call):
        result = CallStatistics(struct_size=ctypes.sizeof(CallStatistics))
        self.library.lib.xcr_call_get_statistics(call.handle, byref(result))
        return result

    def run(self, function, inputs, launches=1, call=None):
        """Runs |function| and returns [(dtype, values)]. More launches run the same call again; |call| is one to use again."""
        call = call or self.create_call(function)
        for i, tensor in enumerate(inputs):
            buffer = self.upload(tensor)
            self.library.check("call_set_input", call.handle, c_uint32(i), buffer.handle)
        for _ in range(launches):
            self.library.check("call_run", call.handle)
        return [self.download(c_void_p(self.library.lib.xcr_call_output(call.handle, i)))
                for i in range(self.output_count(function))]


def open_device(library, uri):
    device = library.create("device_create", StringView.of(uri), None)
    info = DeviceInfo(struct_size=ctypes.sizeof(DeviceInfo))
    library.lib.xcr_device_get_info(device.handle, byref(info))
    return device, info.description.text() or info.uri.text()


def device_memory(path, uri):
    """Bytes of memory of a device; 0 where it cannot be opened, which the cases will say."""
    library = Library(str(path.resolve()))
    try:
        device = library.create("device_create", StringView.of(uri), None)
    except Failure:
        return 0
    info = DeviceInfo(struct_size=ctypes.sizeof(DeviceInfo))
    library.lib.xcr_device_get_info(device.handle, byref(info))
    return info.total_memory
