"""Programs written once: each call adds an op to the text of a function and computes the same in NumPy's float64.

A value holds an array for each step of the case; a dim that differs between steps is `?` in the text.
"""
import math

import numpy as np

import tensors
from harness import Case, Step
from tensors import FLOATS, Tensor

erf = np.vectorize(math.erf, otypes=[np.float64])


class Value:
    def __init__(self, name, dtype, arrays):
        self.name, self.dtype, self.arrays = name, dtype, arrays

    @property
    def shape(self):
        """With None where steps differ."""
        return tuple(sizes[0] if len(set(sizes)) == 1 else None for sizes in zip(*(np.shape(x) for x in self.arrays)))

    @property
    def rank(self):
        return np.ndim(self.arrays[0])

    @property
    def type(self):
        return tensors.mlir_type(self.dtype, self.shape)


class Program:
    """Every method that makes a value is an op, or some of them. `steps` is how often the function is called."""

    def __init__(self, steps=1):
        self.steps, self.count, self.lines, self.arguments, self.quiet = steps, 0, [], [], False

    def name(self):
        self.count += 1
        return f"%v{self.count}"

    # ---- What goes in ------------------------------------------------------------------------------------------------

    def argument(self, dtype, *arrays):
        arrays = [Tensor(dtype, x).values for x in (arrays * self.steps if len(arrays) == 1 else arrays)]
        self.arguments.append(Value(f"%a{len(self.arguments)}", dtype, arrays))
        return self.arguments[-1]

    def random(self, dtype, *shapes, low=-1, high=1):
        """Of one shape, or of one for each step."""
        seed = 1000 + len(self.arguments)
        if dtype not in FLOATS and dtype != "i1" and (low, high) == (-1, 1):
            low, high = None, None
        return self.argument(dtype, *(tensors.random(dtype, shape, seed + i, low, high).values for i, shape in enumerate(shapes)))

    def weight(self, dtype, *shape):
        """About as large as keeps a product of it in the size of its operand; the last dim but one is summed over."""
        return self.random(dtype, shape, low=-(3 / max(1, math.prod(shape[:-1]))) ** 0.5, high=(3 / max(1, math.prod(shape[:-1]))) ** 0.5)

    def constant(self, dtype, values):
        values = Tensor(dtype, values).values
        written = np.vectorize(lambda x: str(bool(x)).lower() if dtype == "i1" else f"{float(x):.17e}" if dtype in FLOATS else str(int(x)),
                               otypes=[object])(values).tolist()
        literal = str(written).replace("'", "") if np.ndim(values) else written
        return self.emit(f"array.constant dense<{literal}> : {tensors.mlir_type(dtype, np.shape(values))}", dtype, [values] * self.steps)

    # ---- Ops ---------------------------------------------------------------------------------------------------------

    def emit(self, text, dtype, arrays):
        return self.emit_all(text, [dtype], [arrays])[0]

    def emit_all(self, text, dtypes, results):
        values = [Value(self.name(), dtype, arrays) for dtype, arrays in zip(dtypes, results)]
        if not self.quiet:
            self.lines.append(f"{', '.join(value.name for value in values)} = {text}")
        return values

    def each(self, function, *operands):
        with np.errstate(all="ignore"):
            return [np.asarray(function(*arrays)) for arrays in zip(*(operand.arrays for operand in operands))]

    def op(self, name, function, *operands, options="", dtype=None, form="function"):
        """`form` says what stands behind the colon: the operands' and the result's types as a function's, with an arrow
        alone ("arrow"), or one type for all ("same")."""
        dtype = dtype or operands[0].dtype
        arrays = self.each(function, *operands)
        result = tensors.mlir_type(dtype, Value("", dtype, arrays).shape)
        names, types = ", ".join(x.name for x in operands), ", ".join(x.type for x in operands)
        types = {"function": f"({types}) -> {result}", "arrow": f"{types} -> {result}", "same": result}[form]
        return self.emit(f"array.{name} {names}{options} : {types}", dtype, arrays)

    def lift(self, x, like):
        return x if isinstance(x, Value) else self.constant(like.dtype, x)

    def binary(self, name, function, a, b, dtype=None):
        like = a if isinstance(a, Value) else b
        return self.op(name, function, self.lift(a, like), self.lift(b, like), dtype=dtype or like.dtype)

    def compare(self, direction, a, b):
        function = {"eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal}
        return self.binary(f"compare {direction},", function[direction], a, b, "i1")

    def select(self, p, a, b):
        like = a if isinstance(a, Value) else b
        return self.op("select", np.where, p, self.lift(a, like), self.lift(b, like), dtype=like.dtype)

    def convert(self, x, dtype):
        return self.op("convert", lambda v: Tensor(dtype, v).values, x, dtype=dtype, form="arrow")

    def matmul(self, a, b, ta=False, tb=False, dtype=None):
        def product(x, y):
            return np.matmul(np.swapaxes(x, -1, -2) if ta else x, np.swapaxes(y, -1, -2) if tb else y)
        if a.dtype not in FLOATS:
            return self.op("matmul", lambda x, y: product(x.astype(np.int64), y.astype(np.int64)), a, b,
                           options=" transpose_a" * ta + " transpose_b" * tb, dtype=dtype)
        return self.op("matmul", product, a, b, options=" transpose_a" * ta + " transpose_b" * tb, dtype=dtype)

    def reduce(self, kind, x, axes, keepdims=False):
        function = {"sum": np.sum, "max": np.max, "min": np.min, "prod": np.prod, "or": np.any, "and": np.all}[kind]
        return self.op(f"reduce {kind},", lambda v: function(v, axis=tuple(axes), keepdims=keepdims), x,
                       options=f" axes = {list(axes)}" + " keepdims" * keepdims, form="arrow")

    def mean(self, x, axes, keepdims=False):
        return self.op("mean", lambda v: np.mean(v, axis=tuple(axes), keepdims=keepdims), x,
                       options=f" axes = {list(axes)}" + " keepdims" * keepdims, form="arrow")

    def transpose(self, x, *order):
        return self.op("transpose", lambda v: v.transpose(order), x, options=f" permutation = {list(order)}", form="arrow")

    def dim(self, x, axis):
        """For `sizes` of other ops."""
        name = self.name()
        if not self.quiet:
            self.lines.append(f"{name} = array.dim {x.name}, {axis} : {x.type}")
        return name

    def reshape(self, x, shape, sizes=()):
        """`shape` is a function of a step's array, or its dims, of which one may be -1."""
        options = f" sizes({', '.join(sizes)})" if sizes else ""
        return self.op("reshape", lambda v: v.reshape(shape(v) if callable(shape) else shape), x, options=options, form="arrow")

    def slice(self, x, *ranges):
        """Ranges as (start, limit) or (start, limit, stride); a limit of None is the end."""
        written = ", ".join(":".join("" if n is None else str(n) for n in r) for r in ranges)
        return self.op("slice", lambda v: v[tuple(slice(*r) for r in ranges)], x, options=f" [{written}]", form="arrow")

    def concatenate(self, axis, *xs):
        return self.op("concatenate", lambda *vs: np.concatenate(vs, axis), *xs, options=f" axis = {axis}")

    def softmax(self, x, axis):
        def function(v):
            e = np.exp(v - v.max(axis, keepdims=True))
            return e / e.sum(axis, keepdims=True)
        return self.op("softmax", function, x, options=f" axis = {axis}", form="same")

    def log_softmax(self, x, axis):
        def function(v):
            v = v - v.max(axis, keepdims=True)
            return v - np.log(np.exp(v).sum(axis, keepdims=True))
        return self.op("log_softmax", function, x, options=f" axis = {axis}", form="same")

    def layer_norm(self, x, scale, bias, axis):
        def function(v, s, b):
            axes = tuple(range(axis, v.ndim))
            return (v - v.mean(axes, keepdims=True)) / np.sqrt(v.var(axes, keepdims=True) + 1e-5) * s + b
        arrays = self.each(function, x, scale, bias)
        return self.emit(f"array.layer_norm {x.name} scale({scale.name} : {scale.type}) bias({bias.name} : {bias.type}) axis = {axis} "
                         f"epsilon = 1.0e-5 : {x.type}", x.dtype, arrays)

    def rms_norm(self, x, scale, axis):
        def function(v, s):
            return v / np.sqrt((v * v).mean(tuple(range(axis, v.ndim)), keepdims=True) + 1e-6) * s
        return self.emit(f"array.rms_norm {x.name} scale({scale.name} : {scale.type}) axis = {axis} epsilon = 1.0e-6 : {x.type}",
                         x.dtype, self.each(function, x, scale))

    def take(self, x, indices, axis):
        arrays = self.each(lambda v, i: np.take(v, np.clip(i, 0, v.shape[axis] - 1), axis), x, indices)
        result = Value("", x.dtype, arrays).type
        return self.emit(f"array.take {x.name}[{indices.name}] axis = {axis} : ({x.type}, {indices.type}) -> {result}", x.dtype, arrays)

    def __getattr__(self, name):
        if name in UNARY:
            return lambda x: self.op(name, UNARY[name], x, form="same")
        if name in BINARY:
            return lambda a, b: self.binary(name, BINARY[name], a, b)
        raise AttributeError(name)

    # ---- Loops -------------------------------------------------------------------------------------------------------

    def region(self, body, arguments, end="array.yield"):
        """(lines, values) of what `body` makes of the arguments."""
        outside, self.lines = self.lines, []
        values = body(*arguments)
        values = values if isinstance(values, (list, tuple)) else [values]
        lines, self.lines = self.lines, outside
        lines.append(f"{end} {', '.join(x.name for x in values)} : {', '.join(x.type for x in values)}")
        return ["  " + line for line in lines], values

    def loop(self, inits, condition, body):
        """array.while; all steps go around equally often."""
        types = ", ".join(x.type for x in inits)
        if not self.quiet:
            texts = []
            for part in (condition, body):
                arguments = [Value(self.name(), x.dtype, x.arrays) for x in inits]
                head = f"^bb0({', '.join(f'{x.name}: {x.type}' for x in arguments)}):"
                texts.append("\n".join([head] + self.region(part, arguments)[0]))
        before, self.quiet = self.quiet, True
        state = list(inits)
        while condition(*state).arrays[0]:
            state = list(body(*state))
        self.quiet = before
        text = "" if self.quiet else (f"array.while {', '.join(x.name for x in inits)} : ({types}) -> ({types}) condition {{\n{texts[0]}\n"
                                      f"}} body {{\n{texts[1]}\n}}")
        return self.emit_all(text, [x.dtype for x in inits], [x.arrays for x in state])

    def count_to(self, limit, inits, body):
        """A loop whose body gets a counter first."""
        zero, one, end = (self.constant("i32", n) for n in (0, 1, limit))
        return self.loop([zero, *inits], lambda i, *_: self.compare("lt", i, end),
                         lambda i, *state: [self.add(i, one), *body(i, *state)])[1:]

    # ---- What comes out ----------------------------------------------------------------------------------------------

    def case(self, name, *results, kind="model", **options):
        arguments = ", ".join(f"{x.name}: {x.type}" for x in self.arguments)
        types = ", ".join(x.type for x in results)
        body = "\n".join("    " + line for text in self.lines for line in text.splitlines())
        text = (f"  func.func @NAME({arguments}) -> ({types}) {{\n{body}\n    return {', '.join(x.name for x in results)} : {types}\n  }}\n")
        steps = [Step([Tensor(x.dtype, x.arrays[i]) for x in self.arguments], [(x.dtype, x.arrays[i]) for x in results])
                 for i in range(self.steps)]
        return Case(name, text, steps, kind, **options)


def gelu(x):
    return 0.5 * x * (1 + erf(x / math.sqrt(2)))


UNARY = {"exp": np.exp, "log": np.log, "log1p": np.log1p, "tanh": np.tanh, "sqrt": np.sqrt, "rsqrt": lambda x: 1 / np.sqrt(x), "neg": np.negative,
         "abs": np.abs, "square": np.square, "sigmoid": lambda x: 1 / (1 + np.exp(-x)), "relu": lambda x: np.maximum(x, 0),
         "silu": lambda x: x / (1 + np.exp(-x)), "gelu": gelu, "sin": np.sin, "cos": np.cos, "floor": np.floor, "round": np.rint,
         "reciprocal": lambda x: 1 / x, "logical_not": np.logical_not, "sign": np.sign}
BINARY = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": lambda x, y: x / y if x.dtype.kind == "f" else x // y,
          "max": np.maximum, "min": np.minimum, "pow": np.power, "and": np.logical_and, "or": np.logical_or, "rem": np.fmod, "mod": np.mod,
          "floor_div": np.floor_divide, "logaddexp": np.logaddexp, "atan2": np.arctan2}
