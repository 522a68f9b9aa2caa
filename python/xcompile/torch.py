"""PyTorch modules as modules of xcompile.

    xcompile.torch.export(model, (x,), output="model.vmfb", dynamic_shapes={"x": {0: "batch"}})

    python -m xcompile.torch mymodule:make_model -o model.vmfb

The model goes through torch.export and the ONNX exporter behind it; xcompile reads what that writes. Inputs keep the names of forward().
Weights are external parameters in a .safetensors file with the keys of state_dict(), and buffers that forward() changes are variables:
their values stay from call to call, on the device. Needs the packages torch and onnxscript here, and neither where the module runs.
"""
import os
import pathlib
import tempfile

from . import _doors
from ._compile import compile as _compile
from ._errors import Error
from ._lowered import Lowered

__all__ = ["Lowered", "export", "lower", "to_onnx"]

_BESIDE = object()


def _exporter():
    """What needs torch. Raises Error where a package is missing."""
    try:
        import onnxscript  # noqa: F401  torch.onnx.export asks for it late, and at length
        import torch  # noqa: F401
    except ImportError as error:
        raise Error(f"this needs the package {error.name}, which is not installed") from None
    from . import _torch_export
    return _torch_export


def to_onnx(model, args=(), kwargs=None, *, path, dynamic_shapes=None, input_names=None, output_names=None):
    """Writes the ONNX file of a model as it is in evaluation mode; weights are in a file beside it.

    `dynamic_shapes`: as torch.export.export takes them; a str names a size: {"x": {0: "batch"}}. What forward() changes of its buffers
    is lost: ONNX has no variables.
    """
    program = _exporter().Program(model, args, kwargs, dynamic_shapes, input_names, output_names)
    program.save(os.fspath(path))


def lower(model, args=(), kwargs=None, *, scope="model.safetensors", dynamic_shapes=None, input_names=None, output_names=None):
    """The Lowered form of a model for arguments like these; see export()."""
    program = _exporter().Program(model, args, kwargs, dynamic_shapes, input_names, output_names)
    roles, updates = program.state_to_inputs()
    with tempfile.TemporaryDirectory(prefix="xcompile-") as folder:
        source, text = os.path.join(folder, "model.onnx"), os.path.join(folder, "model.mlir")
        program.save(source)
        _compile(source, output=text, flags=["--compile-to=input"])
        function = pathlib.Path(text).read_text(encoding="utf-8")
    return Lowered(function, roles, updates, program.weights(roles), scope)


def export(model, args=(), kwargs=None, *, output=None, parameters=_BESIDE, target="cpu", flags=(), dynamic_shapes=None,
           input_names=None, output_names=None):
    """Compiles a torch.nn.Module, in evaluation mode, for arguments like these.

    `output`: the module to write; without it, the module's bytes are returned. `parameters`: the .safetensors file to write weights to,
    in the folder of `output`, whose name with that ending it is by default; None puts the weights into the module, where buffers that
    forward() changes are refused. `dynamic_shapes`: as torch.export.export takes them; a str names a size: {"x": {0: "batch"}}.

    Without `output` weights are in the module, or, where `parameters` names a file, there: give it to xcompile.load(). Raises Error where
    torch.export cannot follow the model, naming its line, and CompileError as xcompile.compile().
    """
    names = {"dynamic_shapes": dynamic_shapes, "input_names": input_names, "output_names": output_names}
    if parameters is _BESIDE:
        parameters = None if output is None else pathlib.Path(output).with_suffix(".safetensors")
    if parameters is None:
        return _export_whole(model, args, kwargs, names, output, target, flags)
    lowered = lower(model, args, kwargs, scope=pathlib.Path(parameters).name, **names)
    return lowered.compile(output, parameters, target, flags)


def _export_whole(model, args, kwargs, names, output, target, flags):
    """Compiles a model with its weights inside."""
    program = _exporter().Program(model, args, kwargs, **names)
    if program.changed_buffers:
        raise Error(f"forward() changes the buffer '{program.changed_buffers[0]}': its first value cannot be in the module; name a file "
                    "by `parameters`")
    with tempfile.TemporaryDirectory(prefix="xcompile-") as folder:
        path = os.path.join(folder, "model.onnx")
        program.save(path)
        return _compile(path, target=target, output=output, flags=flags)


def _main():
    parser = _doors.parser("torch", "MODULE:FUNCTION",
                           "Compiles the model that a function returns, as (model, args) or (model, args, dynamic_shapes).")
    weights = parser.add_mutually_exclusive_group()
    weights.add_argument("--parameters", metavar="FILE", help="the .safetensors file to write weights to; by default beside the module")
    weights.add_argument("--weights-inside", action="store_true", help="put the weights into the module")
    options = parser.parse_args()
    made = _doors.call(options.source, "(model, args)")
    if not isinstance(made, tuple) or len(made) not in (2, 3):
        raise Error(f"{options.source}() returned {type(made).__name__}: expected (model, args) or (model, args, dynamic_shapes)")
    model, args, shapes = (*made, None)[:3]
    args = args if isinstance(args, tuple) else (args,)
    parameters = None if options.weights_inside else options.parameters or _BESIDE
    export(model, args, dynamic_shapes=shapes, output=options.output, parameters=parameters, target=options.target, flags=options.flag)


if __name__ == "__main__":
    _doors.run(_main)
