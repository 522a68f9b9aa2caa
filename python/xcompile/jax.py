"""JAX functions as modules.

    xcompile.jax.export(train_step, (params, x), output="step.vmfb", target="cuda:sm_90a,cpu")

    python -m xcompile.jax mymodule:train_step -o step.vmfb --args=mymodule:example_args

The function is lowered by jax.jit(...).lower(...) to StableHLO, which xcompile reads. Leaves of the arguments, in the order
of jax.tree_util.tree_leaves, are the module's inputs, those of the result its outputs. Needs the package jax here, and not
where the module runs.
"""
import re

from . import _doors
from ._compile import compile as _compile
from ._errors import Error

__all__ = ["export", "lower"]

_TYPES = {"i1": "bool", "bool": "bool", "f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64"}
_TYPES.update({f"{letter}{bits}": f"{word}{bits}" for letter, word in (("i", "int"), ("s", "int"), ("u", "uint"))
               for bits in (8, 16, 32, 64)})


def _jax():
    try:
        import jax
    except ImportError:
        raise Error("this needs the package jax, which is not installed") from None
    return jax


def lower(function, args=(), kwargs=None):
    """The StableHLO text of a function for arguments like these: arrays, jax.ShapeDtypeStruct, or trees of them.

    `function`: anything callable; what jax.jit gave keeps its static and donated arguments.
    """
    function = function if hasattr(function, "lower") else _jax().jit(function)
    return function.lower(*args, **(kwargs or {})).as_text()


def export(function, args=(), kwargs=None, *, output=None, target="cpu", flags=()):
    """Compiles a function for arguments like these; see lower() and xcompile.compile(), whose result and errors it has."""
    return _compile(lower(function, args, kwargs), target=target, output=output, flags=flags)


def parse_shape(text):
    """The jax.ShapeDtypeStruct of "f32[8,4]"."""
    match = re.fullmatch(r"(\w+)\[([\d, ]*)\]", text)
    if not match or match.group(1) not in _TYPES:
        raise Error(f"expected a type and sizes such as f32[8,4], got '{text}'")
    jax = _jax()
    sizes = tuple(int(size) for size in match.group(2).split(",") if size.strip())
    return jax.ShapeDtypeStruct(sizes, jax.numpy.dtype(_TYPES[match.group(1)]))


def _main():
    parser = _doors.parser("jax", "MODULE:FUNCTION", "Compiles a JAX function.")
    parser.add_argument("--args", metavar="MODULE:FUNCTION", help="a function that returns a tuple of example arguments")
    parser.add_argument("--shape", action="append", metavar="TYPE[SIZES]", help="an argument, such as f32[8,4]; may be repeated")
    options = parser.parse_args()
    function = _doors.resolve(options.source)
    if options.shape:
        args = tuple(parse_shape(shape) for shape in options.shape)
    else:
        module = options.source.partition(":")[0]
        args = _doors.resolve(options.args or f"{module}:example_args")()
        args = args if isinstance(args, tuple) else (args,)
    export(function, args, output=options.output, target=options.target, flags=options.flag)


if __name__ == "__main__":
    _doors.run(_main)
