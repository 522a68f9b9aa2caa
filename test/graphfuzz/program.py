"""Array programs as data: generated, written as MLIR, evaluated with error bounds, cut down.

A dim is an int or a formula over symbols, as text: "n", "(n*4)", "(n+m)". Equal texts are equal sizes. An environment
gives each symbol a size; a program has one or more of them, with inputs for each. Symbols called "x3" are extents: device-bounded
dims, whose size is data. `bounds` has the dim that each is at most; evaluating the op that makes it sets it. While a program is
evaluated, "@" in the environment is the state: the present values of variables, by name.
"""
import dataclasses
import re

import numpy as np

from bounds import exact
from tensors import mlir_element


@dataclasses.dataclass(frozen=True)
class Type:
    dtype: str
    dims: tuple

    @property
    def rank(self):
        return len(self.dims)

    @property
    def mlir(self):
        sizes = "".join(f"{'?' if isinstance(dim, str) else dim}x" for dim in self.dims)
        return f"tensor<{sizes}{mlir_element(self.dtype)}>"

    @property
    def is_static(self):
        return not any(isinstance(dim, str) for dim in self.dims)

    def shape(self, environment):
        return shape_of(self.dims, environment)


def names_in(dim):
    """The symbols of a dim."""
    return set(re.findall(r"[a-z]\w*", dim)) - {"max", "min"} if isinstance(dim, str) else set()


def shape_of(dims, environment):
    return tuple(eval(dim, {}, environment) if isinstance(dim, str) else dim for dim in dims)


@dataclasses.dataclass
class Node:
    """One op: `op` names an entry of ops.OPS, `results` are the numbers of its values."""
    op: str
    operands: list
    attributes: dict
    results: list
    types: list

    @property
    def regions(self):
        return self.attributes.get("regions", ())

    @property
    def has_effect(self):
        """Whether it is needed although nothing uses its results."""
        return any(node.op == "variable.assign" for node in walk([self]))

    def mapped(self, change):
        if not self.regions:
            return change(self)
        regions = [region.mapped(change) for region in self.regions]
        return change(dataclasses.replace(self, attributes={**self.attributes, "regions": regions}))


def walk(nodes):
    """All nodes, those of regions behind the one that they are in."""
    for node in nodes:
        yield node
        for region in node.regions:
            yield from walk(region.nodes)


@dataclasses.dataclass
class Region:
    """Nodes inside a node: see ops_control.py."""
    arguments: list
    nodes: list
    outputs: list

    def made(self):
        return [number for node in self.nodes for number in node.results]

    def free(self):
        """Numbers from outside, in order of use."""
        inside = {*self.arguments, *self.made()}
        used = [operand for node in self.nodes for operand in node.operands] + self.outputs
        return [number for number in dict.fromkeys(used) if number not in inside]

    def pruned(self):
        needed, nodes = set(self.outputs), []
        for node in reversed(self.nodes):
            if node.has_effect or needed.intersection(node.results):
                needed.update(node.operands)
                nodes.insert(0, node)
        return Region(self.arguments, nodes, self.outputs)

    def lines(self, program, end, types_before=""):
        """The nodes, and `end` with the outputs."""
        outputs = ", ".join(f"%{number}" for number in self.outputs)
        types = ", ".join(program.types[number].mlir for number in self.outputs)
        return ["  " + line for line in program.lines(self.nodes) + [f"{end} {outputs} : {types_before}{types}"]]

    def mapped(self, change):
        """With every node replaced by change(node), inner ones first."""
        return Region(self.arguments, [node.mapped(change) for node in self.nodes], self.outputs)


@dataclasses.dataclass
class Program:
    name: str
    types: dict = dataclasses.field(default_factory=dict)        # number of a value -> Type
    inputs: list = dataclasses.field(default_factory=list)       # numbers of values
    nodes: list = dataclasses.field(default_factory=list)
    outputs: list = dataclasses.field(default_factory=list)
    environments: list = dataclasses.field(default_factory=lambda: [{}])
    data: list = dataclasses.field(default_factory=list)         # per environment: number -> Tensor
    bounds: dict = dataclasses.field(default_factory=dict)       # extent -> dim
    names_dims: bool = True                                      # whether the text says which dims of inputs are equal

    def next_value(self):
        return max(self.types, default=-1) + 1

    def text(self):
        """The function, called @NAME, with its ops one to a line."""
        import ops
        lines = ["    " + line for line in self.lines(self.nodes)]
        variables = {node.attributes["variable"] for node in walk(self.nodes) if "variable" in node.attributes}
        declared = "".join(variable.text for variable in sorted(variables, key=lambda variable: variable.name))
        called = "".join(ops.OPS[node.op].function(self, node) for node in walk(self.nodes) if node.op == "call")
        arguments = ", ".join(f"%{number}: {self.types[number].mlir}{self.names_of_dims(number)}" for number in self.inputs)
        types = ", ".join(self.types[number].mlir for number in self.outputs)
        returned = ", ".join(f"%{number}" for number in self.outputs)
        return declared + called + (f"  func.func @NAME({arguments}) -> ({types}) {{\n" + "\n".join(lines) +
                f"\n    return {returned} : {types}\n  }}\n")

    def lines(self, nodes):
        import ops
        return [line for node in nodes for line in ops.OPS[node.op].text(self, node).splitlines()]

    def bound(self, dim):
        """How large a dim can be, as a dim of static and host-symbolic sizes."""
        while names_in(dim) & self.bounds.keys():
            dim = re.sub(r"\bx\d+\b", lambda match: str(self.bounds[match[0]]), dim)
        return dim if names_in(dim) or isinstance(dim, int) else eval(dim)

    def with_extents(self, environment):
        """The environment in which every extent is its bound."""
        return {**environment, **{name: shape_of((self.bound(name),), environment)[0] for name in self.bounds}}

    def is_bounded(self, number):
        return any(names_in(dim) & self.bounds.keys() for dim in self.types[number].dims)

    def names_of_dims(self, number):
        type = self.types[number]
        if type.is_static or not self.names_dims:
            return ""
        return " {array.dims = [" + ", ".join(f'"{dim}"' if isinstance(dim, str) else '""' for dim in type.dims) + "]}"

    def evaluations(self):
        """For each call in turn every value as a Num, by number: variables hold what the call before left in them."""
        state = {}
        for environment, data in zip(self.environments, self.data):
            yield self.evaluated(environment, data, state)

    def evaluated(self, environment, data, state=None):
        """Every value of one call as a Num, by number; of the first one where there is no state."""
        inputs = {number: exact(data[number]) for number in self.inputs}
        return self.run(self.nodes, inputs, {**environment, "@": {} if state is None else state})

    def as_a(self, kind):
        """The same as a `kind` of program, which may evaluate in another way."""
        return kind(**{field.name: getattr(self, field.name) for field in dataclasses.fields(self)})

    def run(self, nodes, values, environment):
        """`values` with those that the nodes make of them."""
        import ops
        for node in nodes:
            op = ops.OPS[node.op]
            op.define(node, values, environment)
            shapes = [type.shape(environment) for type in node.types]
            with np.errstate(all="ignore"):
                if hasattr(op, "evaluate_within"):
                    results = op.evaluate_within(self, node, values, environment)
                else:
                    results = op.evaluate(node, [values[operand] for operand in node.operands], shapes)
            for number, type, shape, result in zip(node.results, node.types, shapes, results):
                if result.dtype != type.dtype or result.shape != shape or np.shape(result.error) != shape:
                    raise AssertionError(f"{node.op}: the reference gives {result.dtype}{result.shape} with errors of shape "
                                         f"{np.shape(result.error)}, the type says {type.dtype}{shape}")
                values[number] = result
        return values

    def used(self):
        """Numbers of the values that the outputs need."""
        needed = set(self.outputs)
        for node in reversed(self.nodes):
            if node.has_effect or needed.intersection(node.results):
                needed.update(node.operands)
        return needed

    def pruned(self):
        """Without what no output needs."""
        needed = self.used()
        return dataclasses.replace(self, inputs=[number for number in self.inputs if number in needed],
                                   nodes=[node for node in self.nodes if node.has_effect or needed.intersection(node.results)])
