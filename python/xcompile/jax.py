"""JAX functions as modules.

    xcompile.jax.export(train_step, (params, x), output="step.vmfb", target="cuda:sm_90a,cpu")

    python -m xcompile.jax mymodule:train_step -o step.vmfb --args=mymodule:example_args

The function is lowered by jax.jit(...).lower(...) to StableHLO, which xcompile reads. Leaves of the arguments, in the order
of jax.tree_util.tree_leaves, are the module's inputs, those of the result its outputs. Needs the package jax here, and not
where the module runs. A complex array is one of floats with a last dim of 2: NumPy's are taken as such, and a result `y` is
`y.view("complex64")[..., 0]`.

    xcompile.jax.export(train_step, (state, x), variables=[0], output="step.vmfb")

Here `state` stays in the module: its leaves are variables, which each call reads and gives their new values, and which begin as the arrays
that were given here. With `parameters=[0]` the leaves of an argument are external parameters instead.
"""
import inspect
import pathlib
import re

from . import _doors, _text
from ._compile import compile as _compile
from ._errors import Error
from ._lowered import Lowered

__all__ = ["Lowered", "export", "lower", "lower_with_state"]

_TYPES = {"i1": "bool", "bool": "bool", "f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64"}
_TYPES.update(c64="complex64", c128="complex128")
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

    `function`: anything callable; what jax.jit gave keeps its static and donated arguments. Sizes of jax.export.symbolic_shape stay open.
    """
    function = function if hasattr(function, "lower") else _jax().jit(function)
    return _text_of(function, args, kwargs or {})


def _text_of(function, args, kwargs):
    """The StableHLO text of what jax.jit gave."""
    jax = _jax()
    leaves = jax.tree_util.tree_leaves((args, kwargs))
    if all(isinstance(size, int) for leaf in leaves for size in getattr(leaf, "shape", ())):
        return function.lower(*args, **kwargs).as_text()
    from jax import export as exporter
    exported = exporter.export(function)(*args, **kwargs)
    kept = [exported.in_avals[index] for index in exported.module_kept_var_idx]
    return _text.name_sizes(exported.mlir_module(), [[size if isinstance(size, int) else str(size) for size in aval.shape] for aval in kept])


def lower_with_state(function, args, *, parameters=(), variables=(), scope="model.safetensors"):
    """The Lowered form of a function whose state is kept in the module; see export(), whose arguments it has.

    The function's arguments `variables`, numbers, are trees of variables: it returns a tuple that begins with new ones, and the rest are its
    results. The arguments `parameters` are trees of external parameters. Keys are the leaves' paths: {"conv": {"w": ...}} has "conv.w",
    behind the argument's name where there are several such arguments. Arrays among the leaves are the first values.
    """
    jax, count = _jax(), len(args)
    unknown = [number for number in (*parameters, *variables) if not 0 <= number < count]
    if unknown or set(parameters) & set(variables):
        raise Error(f"expected `parameters` and `variables` to be different arguments of {count}, got {list(parameters)} and {list(variables)}")
    names = _names_of(function, count)
    kinds = {**{number: "parameter" for number in parameters}, **{number: "variable" for number in variables}}
    roles, inputs, weights = [], [], {}
    for number, (name, argument) in enumerate(zip(names, args)):
        kind = kinds.get(number, "input")
        for path, leaf in jax.tree_util.tree_flatten_with_path(argument)[0]:
            if kind != "input" and jax.numpy.issubdtype(leaf.dtype, jax.numpy.complexfloating):
                raise Error(f"expected parameters and variables of real numbers, got {leaf.dtype} in argument {number}; complex ones can be inputs")
            parts = ([name] if kind == "input" or len(kinds) > 1 else []) + ([_path(jax, path)] if path else [])
            key = ".".join(parts) or name
            roles.append(_text.Role(kind, key))
            if kind == "input":
                inputs.append(key)
            elif not isinstance(leaf, jax.ShapeDtypeStruct) and (kind == "parameter" or jax.numpy.any(leaf)):
                weights[key] = leaf
    updates, results = _updates(jax, function, args, variables, [role.key for role in roles if role.kind == "variable"])
    text = _text_of(jax.jit(lambda *values: function(*values), keep_unused=True), args, {})
    named = _text.name_ports(text, [role.key for role in roles], [update or result for update, result in zip(updates, results)])
    return Lowered(named, roles, updates, weights, scope)


def _names_of(function, count):
    """Names of a function's arguments, "arg0" where it has none."""
    try:
        found = [name for name, parameter in inspect.signature(function).parameters.items() if parameter.kind in (0, 1)]
    except (TypeError, ValueError):
        found = []
    return (found + [f"arg{i}" for i in range(len(found), count)])[:count]


def _path(jax, path):
    return jax.tree_util.keystr(path, simple=True, separator=".")


def _updates(jax, function, args, variables, keys):
    """For each leaf of the function's result, the key of the variable whose new value it is, or None; and its name."""
    result = jax.eval_shape(function, *args)
    if variables and (not isinstance(result, tuple) or len(result) < len(variables)):
        raise Error(f"expected a function with {len(variables)} argument(s) of variables to return a tuple that begins with as many new ones")
    rest = result[len(variables):] if variables else result
    for number, new in zip(variables, result if variables else ()):
        old = jax.eval_shape(lambda value: value, args[number])
        if jax.tree.map(lambda leaf: (leaf.shape, leaf.dtype), old) != jax.tree.map(lambda leaf: (leaf.shape, leaf.dtype), new):
            raise Error(f"expected new variables of the trees, types and shapes of argument {number}, {old}, got {new}")
    if isinstance(rest, tuple) and len(rest) == 1:
        rest = rest[0]
    names = [_path(jax, path) or "result" for path, _ in jax.tree_util.tree_flatten_with_path(rest)[0]]
    names = [f"output{name}" if name.isdigit() else name for name in names]
    return [*keys, *(None for _ in names)], ["" for _ in keys] + names


def export(function, args=(), kwargs=None, *, output=None, parameters=(), variables=(), weights=None, target="cpu", flags=()):
    """Compiles a function for arguments like these; see lower() and xcompile.compile(), whose result and errors it has.

    `variables`, `parameters`: numbers of arguments that the module keeps or reads from a file itself; see lower_with_state(). Their first values
    are written to the file `weights`, which has to lie beside the module, by default `output` with the ending .safetensors.
    """
    if not parameters and not variables:
        return _compile(lower(function, args, kwargs), target=target, output=output, flags=flags)
    if kwargs:
        raise Error("expected positional arguments alone beside `variables` and `parameters`")
    if output is None and weights is None:
        raise Error("expected `output` or `weights` to say where first values of variables and parameters go")
    weights = pathlib.Path(weights or pathlib.Path(output).with_suffix(".safetensors"))
    lowered = lower_with_state(function, args, parameters=parameters, variables=variables, scope=weights.name)
    return lowered.compile(output, weights, target, flags)


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
    parser.add_argument("--variables", action="append", type=int, default=[], metavar="N", help="argument N is kept in the module: its leaves are "
                        "variables; may be repeated")
    parser.add_argument("--parameters", action="append", type=int, default=[], metavar="N", help="leaves of argument N are external parameters; "
                        "may be repeated")
    options = parser.parse_args()
    function = _doors.resolve(options.source)
    if options.shape:
        args = tuple(parse_shape(shape) for shape in options.shape)
    else:
        module = options.source.partition(":")[0]
        args = _doors.call(options.args or f"{module}:example_args", "a tuple of example arguments")
        args = args if isinstance(args, tuple) else (args,)
    export(function, args, output=options.output, variables=options.variables, parameters=options.parameters, target=options.target,
           flags=options.flag)


if __name__ == "__main__":
    _doors.run(_main)
