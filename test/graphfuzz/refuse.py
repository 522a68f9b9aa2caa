"""Programs with sizes that they do not work with: what the reference refuses, the module has to refuse as well.

The dims of a program's inputs lose their names, so that nothing but its ops says which sizes are equal. Then a dim of one input gets
another size. The reference runs on, with arrays of other shapes than their types say, up to an op of NumPy's that raises an error. An op
whose reference goes by the sizes of its result tells nothing, nor does one of which no result, region that is run or assignment needs
more than sizes, nor does a program that works. Programs with device-bounded dims are left out: what the types of results say of such dims is
not required of the sizes that inputs are bound with (compiler/Conversion/StateRequirements.cpp).

Refused calls come first, so those after them find what variables start with.
"""
import dataclasses
import functools
import inspect
import random

import numpy as np

import fuzzcase
import generate
import harness
import ops
import shrink
from program import Program, Type
from tensors import Tensor

SIZES = (2, 3, 5, 8, 17)
ATTEMPTS = 48
# How the runtime says that sizes do not fit: an op's requirement, or dims that ops have made one symbol.
ERROR = r"got \d+ and \d+( for |$)|expected dim \d+ to be \d+ \(symbol|expected an element in dim"


# A program that is refused when it is compiled, since without names nothing says that a size stays.
NOT_COUNTED = "changes its size: dim|has two sizes: dim"


class Refused(Exception):
    """An op cannot work with these sizes."""


class Unknown(Exception):
    """Whether an op can is more than its reference says."""


@functools.cache
def goes_by_operands(op):
    """Whether the reference of an op makes its result of the operands alone."""
    return inspect.getsource(type(op).evaluate).count("shapes") == 1


def add_used(nodes, used):
    """Adds to `used` the numbers of values of which those that it has, and assignments, need more than sizes."""
    for node in reversed(nodes):
        if not node.has_effect and not used.intersection(node.results):
            continue
        if not node.regions:
            used.update(ops.OPS[node.op].uses(node))
        elif node.op == "while":
            add_used_by_loop(node, used)
        else:
            used.update(node.operands[:1] if node.op == "if" else ())
            for region in node.regions:
                used.update(made for made, result in zip(region.outputs, node.results) if result in used)
                add_used(region.nodes, used)


def add_used_by_loop(node, used):
    """What a value is carried for may need another one that is carried."""
    body, = node.regions
    limit, inits, carried = node.operands[0], node.operands[1:len(body.arguments)], body.arguments[1:]
    before = -1
    while before != len(used):
        before = len(used)
        needed = [i for i, result in enumerate(node.results) if result in used or carried[i] in used]
        used.update(body.outputs[i] for i in needed)
        add_used(body.nodes, used)
    used.update([limit] + [inits[i] for i in needed])


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

    @functools.cached_property
    def required(self):
        """Numbers of values that the program needs more than sizes of."""
        used = set(self.outputs)
        add_used(self.nodes, used)
        return used

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
                raise (Refused if self.required.intersection(node.results) else Unknown)(node.op) from error
            values.update(zip(node.results, results))
        return values


def is_refused(loose, environment, data):
    try:
        loose.evaluated(environment, data)
    except Refused:
        return True
    except Unknown:
        return False
    return False


def changed(program):
    """[(environment, inputs)] with another size for one dim of one input, in any order."""
    found = []
    for environment, data in zip(program.environments, program.data):
        for number in program.inputs:
            old = data[number]
            for axis, dim in enumerate(program.types[number].dims):
                size = old.values.shape[axis]
                for other in SIZES if isinstance(dim, str) and size > 1 else ():
                    shape = old.values.shape[:axis] + (other,) + old.values.shape[axis + 1:]
                    if other != size:
                        found.append((environment, {**data, number: Tensor(old.dtype, np.resize(old.values, shape))}))
    random.Random(program.name).shuffle(found)
    return found


def draw(seed):
    return dataclasses.replace(OpenGenerator(seed).generate(), names_dims=False)


def case_of(program):
    """Calls that are refused, and then one for each environment; None where no such sizes are found."""
    if program.bounds:
        return None
    # What nothing depends on requires nothing, in regions neither.
    program = shrink.with_captures(program)
    loose = program.as_a(LooseProgram)
    steps = [harness.Step([data[number] for number in program.inputs], error=ERROR)
             for environment, data in changed(program)[:ATTEMPTS] if is_refused(loose, environment, data)]
    if not steps:
        return None
    case = fuzzcase.case_of(program)
    return dataclasses.replace(case, steps=steps + case.steps)
