"""Programs with sizes that they do not work with: what the reference refuses, the module has to refuse as well.

The dims of a program's inputs lose their names, so that nothing but its ops says which sizes are equal. Then a dim of one input gets
another size. The reference runs on, with arrays of other shapes than their types say, up to an op of NumPy's that raises an error. An op
whose reference goes by the sizes of its result tells nothing, nor does a program that works.
"""
import dataclasses
import inspect
import random

import numpy as np

import fuzzcase
import generate
import harness
import ops
import shrink
from bounds import exact
from program import Program, Type, walk
from tensors import Tensor

SIZES = (2, 3, 5, 8, 17)
ATTEMPTS, CALLS = 12, 3
# How the runtime says that sizes do not fit: an op's demand, or dims that ops have made one symbol.
ERROR = r"got \d+ and \d+( for |$)|expected dim \d+ to be \d+ \(symbol|expected an element in dim"


# A program that is refused when it is compiled, since without names nothing says that a size stays.
NOT_COMPILED = "changes its size: dim|has two sizes: dim"


class Refused(Exception):
    """An op cannot work with these sizes."""


class Unknown(Exception):
    """Whether an op can is more than its reference says."""


def goes_by_operands(op):
    """Whether the reference of an op makes its result of the operands alone."""
    return inspect.getsource(type(op).evaluate).count("shapes") == 1


def tells_too_little(program):
    """Whether what no result needs may be refused: variables are assigned; a call's results need not all be used; a size that is
    static needs nothing of what it is the size of."""
    return program.bounds or any(node.has_effect or node.op in ("call", "from_index") for node in walk(program.nodes))


def is_elementwise(op):
    return type(op).__module__ == "ops_elementwise"


class OpenGenerator(generate.Generator):
    """More inputs, and most of them with dims that are known when they are bound."""

    def __init__(self, seed):
        super().__init__(seed)
        self.symbols = ["n", "m"][:self.choice([1, 2])]
        self.program.environments = [{symbol: self.choice(generate.SIZES) for symbol in self.symbols} for _ in range(2)]

    def any_dim(self):
        return self.choice(self.symbols) if self.random() < 0.7 else self.static_dim()

    def operand(self, dtype, dims, small=False):
        if any(dim in self.symbols for dim in dims) and all(dim in self.symbols or isinstance(dim, int) for dim in dims) and \
                self.random() < 0.5:
            number = self.fresh(Type(dtype, tuple(dims)))
            if small:
                self.small.add(number)
            return number
        return super().operand(dtype, dims, small)


class LooseProgram(Program):
    """Evaluates as far as shapes that its types do not have allow."""

    def run(self, nodes, values, environment):
        for node in nodes:
            op = ops.OPS[node.op]
            op.define(node, values, environment)
            is_other = any(values[operand].shape != self.types[operand].shape(environment) for operand in node.operands)
            is_told = bool(node.regions) if hasattr(op, "evaluate_within") else is_elementwise(op) or goes_by_operands(op)
            if is_other and not is_told:
                raise Unknown
            shapes = [type.shape(environment) for type in node.types]
            try:
                if is_elementwise(op):
                    shapes = [np.broadcast_shapes(*(values[operand].shape for operand in node.operands))]
                with np.errstate(all="ignore"):
                    if hasattr(op, "evaluate_within"):
                        results = op.evaluate_within(self, node, values, environment)
                    else:
                        results = op.evaluate(node, [values[operand] for operand in node.operands], shapes)
            except (ValueError, IndexError) as error:
                raise Refused(node.op) from error
            values.update(zip(node.results, results))
        return values


def is_refused(program, environment, data):
    loose = LooseProgram(**{field.name: getattr(program, field.name) for field in dataclasses.fields(program)})
    try:
        loose.run(loose.nodes, {number: exact(data[number]) for number in loose.inputs}, {**environment, "@": {}})
    except Refused:
        return True
    except Unknown:
        return False
    return False


def changed(program, rng):
    """(environment, inputs) with another size for one dim of one input; None where no dim lends itself to it."""
    index = rng.randrange(len(program.environments))
    environment = program.environments[index]
    dims = [(number, axis) for number in program.inputs for axis, dim in enumerate(program.types[number].dims)
            if isinstance(dim, str) and environment[dim] > 1]
    if not dims:
        return None
    number, axis = rng.choice(dims)
    old = program.data[index][number]
    shape = list(old.values.shape)
    shape[axis] = rng.choice([size for size in SIZES if size != shape[axis]])
    return environment, {**program.data[index], number: Tensor(old.dtype, np.resize(old.values, shape))}


def case_of(seed):
    """Calls that are refused, and then one for each environment; None where no such sizes are found."""
    program = OpenGenerator(seed).generate()
    if tells_too_little(program):
        return None
    # What nothing depends on demands nothing, in regions neither.
    program = dataclasses.replace(shrink.with_captures(program), names_dims=False)
    rng, steps = random.Random(seed), []
    for _ in range(ATTEMPTS):
        found = changed(program, rng)
        if found and len(steps) < CALLS and is_refused(program, *found):
            steps.append(harness.Step([found[1][number] for number in program.inputs], error=ERROR))
    if not steps:
        return None
    case = fuzzcase.case_of(program)
    return dataclasses.replace(case, steps=steps + case.steps)
