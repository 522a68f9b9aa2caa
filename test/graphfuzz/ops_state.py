"""What lives longer than a call: parameters, which a file holds, and variables, which calls of one instance share.

A read and an assignment name a Variable, which the text of the program declares. Its value is in the state that evaluating
a program takes and leaves behind, so that the next call finds it.
"""
import dataclasses

import numpy as np

from bounds import exact
from op import Op
from program import Type, walk
from tensors import FLOATS, Tensor

MOST = 3  # variables in a program
FILE = "@FILE"  # stands for the path of the file that holds a program's parameters


@dataclasses.dataclass(frozen=True)
class Variable:
    name: str
    type: Type
    start: str     # how the value that it starts with is written: nothing, a number or a parameter
    value: Tensor  # the same as a tensor
    key: str = ""  # of the parameter

    @property
    def text(self):
        return f"  array.variable @NAME_{self.name} : {self.type.mlir}{self.start}\n"


def named(key):
    return f'"{FILE}"::"{key}"'


def values_of(g, type):
    """What an input of this type could hold."""
    return g.values(type, {}, False)


def static_type(g):
    """Of a value that there is, so that both meet, or of its own."""
    number = g.pick_or_none(lambda type: type.is_static)
    if number is not None and g.random() < 0.7:
        return g.types[number]
    type = Type(g.choice(g.dtypes), tuple(g.static_dim() for _ in range(g.choice([0, 1, 2, 2, 3]))))
    return type if g.fits(type.dims) else None


class Parameter(Op):
    def draw(self, g):
        type = static_type(g)
        return type and ([], {"key": f"p{g.program.next_value()}", "value": values_of(g, type)}, [type])

    def body(self, node, names, types):
        return named(node.attributes["key"])

    def signature(self, node, types):
        return node.types[0].mlir

    def evaluate(self, node, values, shapes):
        return [exact(node.attributes["value"])]


def variable_of(g, type):
    """One that holds such values, perhaps a new one."""
    same = [variable for variable in g.variables if variable.type == type]
    if same and (len(g.variables) == MOST or g.random() < 0.8):
        return g.choice(same)
    if len(g.variables) == MOST:
        return None
    name, shape, kind = f"v{len(g.variables)}", type.shape({}), g.random()
    if kind < 0.4:
        start, value, key = "", Tensor(type.dtype, np.zeros(shape)), ""
    elif kind < 0.7:
        number = g.random() < 0.5 if type.dtype == "i1" else g.integer(0, 9)
        written = str(number).lower() if type.dtype == "i1" else f"{float(number):e}" if type.dtype in FLOATS else str(number)
        start, value, key = f" = dense<{'' if 0 in type.dims else written}>", Tensor(type.dtype, np.full(shape, number)), ""
    else:
        start, value, key = f" = #array.parameter<{named(name)}>", values_of(g, type), name
    g.variables.append(Variable(name, type, start, value, key))
    return g.variables[-1]


class State(Op):
    def mnemonic(self, node):
        return f"{self.name} @NAME_{node.attributes['variable'].name}"


class Read(State):
    def draw(self, g):
        if g.variables and g.random() < 0.7:
            variable = g.choice(g.variables)
        else:
            type = static_type(g)
            variable = type and variable_of(g, type)
        return variable and ([], {"variable": variable}, [variable.type])

    def signature(self, node, types):
        return node.types[0].mlir

    def evaluate_within(self, program, node, values, environment):
        variable = node.attributes["variable"]
        return [environment["@"].get(variable.name) or exact(variable.value)]


class Assign(State):
    def draw(self, g):
        held = [variable.type for variable in g.variables]
        number = g.pick_or_none(lambda type: type in held) if g.random() < 0.7 else None
        number = g.pick(lambda type: type.is_static) if number is None else number
        variable = variable_of(g, g.types[number])
        return variable and ([number], {"variable": variable}, [])

    def text(self, program, node):
        number = node.operands[0]
        return f"array.{self.mnemonic(node)}, %{number} : {program.types[number].mlir}"

    def evaluate_within(self, program, node, values, environment):
        environment["@"][node.attributes["variable"].name] = values[node.operands[0]]
        return []


def parameters_of(program):
    """Tensors by key."""
    held = [node.attributes for node in walk(program.nodes)]
    found = {attributes["key"]: attributes["value"] for attributes in held if "key" in attributes}
    variables = [attributes["variable"] for attributes in held if "variable" in attributes]
    return {**found, **{variable.key: variable.value for variable in variables if variable.key}}


STATE = [Parameter("parameter"), Read("variable.read"), Assign("variable.assign", 2)]
