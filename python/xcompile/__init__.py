"""Compile array programs ahead of time, and run them on NumPy arrays and DLPack tensors.

    module = xcompile.load("model.vmfb")
    y = module.main(x)                    # NumPy in, NumPy out; torch in, torch out; no copies

    module = xcompile.load(xcompile.compile("model.mlir"))

Arrays are not copied on their way in or out. On a CUDA device calls go on the stream that the tensors' library
works on (torch's current stream) and return at once; where a library has no such stream, and on the CPU, a call
returns when it is done. The GIL is released meanwhile.
"""
import importlib as _importlib
import os as _os
import tempfile as _tempfile

from . import _arrays
from ._compile import CompileError, compile, find_tool
from ._errors import ArgumentError, Error
from ._runtime import Array, BoundCall, Function
from ._runtime import Instance as _Instance
from ._runtime import version as runtime_version

__all__ = ["Array", "ArgumentError", "BoundCall", "CompileError", "Error", "Function", "Module", "Variables", "compile", "find_tool",
           "load", "runtime_version"]
__version__ = "0.1.0"


def __getattr__(name):
    # Imported when they are first asked for.
    if name in ("jax", "onnx", "torch", "training"):
        return _importlib.import_module(f".{name}", __name__)
    raise AttributeError(f"module 'xcompile' has no attribute '{name}'")


class Variables:
    """The variables of a module, by name: `module.variables["w"]`. Thread-safe.

    Reading gives an Array over the variable's own memory, which later calls change; `.numpy()` shows it. Assigning
    copies an array of the same type and shape into it.
    """

    def __init__(self, instance):
        self._instance = instance

    def __getitem__(self, name):
        return self._instance.variable(name)

    def __setitem__(self, name, value):
        _arrays.write(self._instance.variable(name), value)

    def __iter__(self):
        return iter(self._instance.variables())

    def __len__(self):
        return len(self._instance.variables())

    def __contains__(self, name):
        return name in self._instance.variables()

    def keys(self):
        """The names."""
        return self._instance.variables()


class Module:
    """A module on a device, with variables of its own; its functions are attributes. Thread-safe.

    `module["main"]` is `module.main`, also for names that are no identifiers.
    """

    def __init__(self, instance):
        self._instance = instance
        self._functions = {}
        self.variables = Variables(instance)

    @property
    def functions(self):
        """The names of the functions."""
        return tuple(self._instance.functions())

    @property
    def device(self):
        """The device's URI: "cpu", "cuda:0"."""
        return self._instance.device

    def __getitem__(self, name):
        function = self._functions.get(name)
        if function is None:
            function = self._functions[name] = Function(self._instance, name)
        return function

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        try:
            function = self[name]
        except Error as error:
            raise AttributeError(str(error)) from None
        # Found without this method the next time.
        self.__dict__[name] = function
        return function

    def __dir__(self):
        return [*super().__dir__(), *self.functions]

    def array(self, values):
        """A copy of `values`, NumPy's or whatever numpy.asarray takes, as an Array on the module's device."""
        return _arrays.copy_to(self._instance, values)

    def save(self, path):
        """Writes all variables to a .safetensors file, which replaces what was at `path` once it is whole."""
        self._instance.save(_os.fspath(path))

    def restore(self, path, partial=False):
        """Sets all variables from a .safetensors file; nothing changes unless all fit.

        `partial`: variables that the file does not have keep their values.
        """
        self._instance.restore(_os.fspath(path), partial)

    def __repr__(self):
        return f"<xcompile.Module {', '.join(self.functions)} on {self.device}>"


def load(path, device="auto", parameters=None):
    """Loads a module (.vmfb), a path or its bytes, onto a device.

    `device`: "cpu", "cpu:4" (four threads), "cuda:0", or "auto", the first CUDA device if there is one.
    `parameters`: {scope: file} for external weights, where a file is the path of a .npy or .safetensors file, its
    bytes, or a dict {key: NumPy array}. Scopes that are not given are files beside the module.

    CPU code of a module runs unchecked in this process: load modules from sources you trust. Raises Error.
    """
    if isinstance(path, (bytes, bytearray, memoryview)):
        with _tempfile.NamedTemporaryFile(suffix=".vmfb") as file:
            file.write(path)
            file.flush()
            return load(file.name, device, parameters)
    files, memories = [], []
    for scope, source in (parameters or {}).items():
        if isinstance(source, dict):
            memories.append((scope, _arrays.safetensors(source)))
        elif isinstance(source, (bytes, bytearray, memoryview)):
            memories.append((scope, bytes(source)))
        else:
            files.append((scope, _os.fspath(source)))
    return Module(_Instance(_os.fspath(path), str(device), files, memories))
