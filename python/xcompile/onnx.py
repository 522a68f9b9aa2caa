"""ONNX models as modules.

    xcompile.onnx.export("model.onnx", output="model.vmfb", target="cuda:sm_90a,cpu")

    python -m xcompile.onnx model.onnx -o model.vmfb

xcompile reads the file itself; the package onnx is not needed, but for a ModelProto of it.
"""
import os
import tempfile

from . import _doors
from ._compile import compile as _compile

__all__ = ["export"]


def export(model, *, output=None, target="cpu", flags=()):
    """Compiles a model: a path, the bytes of a file, or an onnx.ModelProto. See xcompile.compile(), whose result and errors it has."""
    if hasattr(model, "SerializeToString"):
        model = model.SerializeToString()
    if not isinstance(model, (bytes, bytearray)):
        return _compile(os.fspath(model), target=target, output=output, flags=flags)
    with tempfile.TemporaryDirectory(prefix="xcompile-") as folder:
        path = os.path.join(folder, "model.onnx")
        with open(path, "wb") as file:
            file.write(model)
        return _compile(path, target=target, output=output, flags=flags)


def _main():
    options = _doors.parser("onnx", "MODEL.onnx", "Compiles an ONNX model.").parse_args()
    export(options.source, output=options.output, target=options.target, flags=options.flag)


if __name__ == "__main__":
    _doors.run(_main)
