"""PyTorch modules as modules of xcompile.

    xcompile.torch.export(model, (x,), output="model.vmfb", dynamic_shapes={"x": {0: "batch"}})

    python -m xcompile.torch mymodule:make_model -o model.vmfb

The model goes through torch.export and torch.onnx.export(dynamo=True) to an ONNX file, which xcompile reads; inputs keep the
names of forward(). Needs the packages torch and onnxscript here, and neither where the module runs.
"""
import os
import tempfile

from . import _doors
from ._compile import compile as _compile
from ._errors import Error

__all__ = ["export", "to_onnx"]


def _torch():
    try:
        import onnxscript  # noqa: F401  torch.onnx.export asks for it late, and at length
        import torch
    except ImportError as error:
        raise Error(f"this needs the package {error.name}, which is not installed") from None
    return torch


def to_onnx(model, args=(), kwargs=None, *, path, dynamic_shapes=None, input_names=None, output_names=None):
    """Writes the ONNX file of a model in evaluation mode; weights are in a file beside it.

    `dynamic_shapes`: as torch.export.export takes them; a str names a size: {"x": {0: "batch"}}.
    """
    torch = _torch()
    was_training = getattr(model, "training", False)
    if was_training:
        model.eval()
    try:
        program = torch.onnx.export(model, tuple(args), kwargs=kwargs, dynamo=True, dynamic_shapes=_dims(torch, dynamic_shapes),
                                    input_names=input_names, output_names=output_names, verbose=False)
    finally:
        if was_training:
            model.train()
    program.save(os.fspath(path), external_data=True)


def _dims(torch, shapes):
    """The same tree with torch.export.Dim for names; equal names are one size."""
    dims = {}

    def convert(value):
        if isinstance(value, str):
            return dims.setdefault(value, torch.export.Dim(value))
        if isinstance(value, dict):
            return {key: convert(inner) for key, inner in value.items()}
        if isinstance(value, (list, tuple)):
            return type(value)(convert(inner) for inner in value)
        return value

    return convert(shapes)


def export(model, args=(), kwargs=None, *, output=None, target="cpu", flags=(), dynamic_shapes=None, input_names=None, output_names=None):
    """Compiles a torch.nn.Module for arguments like these; see to_onnx() and xcompile.compile(), whose result and errors it has."""
    with tempfile.TemporaryDirectory(prefix="xcompile-") as folder:
        path = os.path.join(folder, "model.onnx")
        to_onnx(model, args, kwargs, path=path, dynamic_shapes=dynamic_shapes, input_names=input_names, output_names=output_names)
        return _compile(path, target=target, output=output, flags=flags)


def _main():
    parser = _doors.parser("torch", "MODULE:FUNCTION", "Compiles the model that a function returns, as (model, args) or (model, args, dynamic_shapes).")
    options = parser.parse_args()
    made = _doors.resolve(options.source)()
    if not isinstance(made, tuple) or len(made) not in (2, 3):
        raise Error(f"{options.source}() returned {type(made).__name__}: expected (model, args) or (model, args, dynamic_shapes)")
    model, args, shapes = (*made, None)[:3]
    args = args if isinstance(args, tuple) else (args,)
    export(model, args, dynamic_shapes=shapes, output=options.output, target=options.target, flags=options.flag)


if __name__ == "__main__":
    _doors.run(_main)
