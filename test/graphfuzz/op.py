"""What an op of the generator is."""
import dataclasses

from tensors import FLOATS, INTEGERS

NUMBERS = INTEGERS + FLOATS
SIGNED = tuple(dtype for dtype in INTEGERS if dtype.startswith("i"))


class Op:
    """`weight` says how often it is tried."""

    def __init__(self, name, weight=1.0):
        self.name, self.weight = name, weight

    def draw(self, g):
        """(operands, attributes, result types) for the generator, or None where it has nothing to offer."""
        raise NotImplementedError

    def body(self, node, names, types):
        """What stands between the op's name and the colon; `types` are those of the operands."""
        return ", ".join(names)

    def signature(self, node, types):
        """What comes behind the colon."""
        operands = ", ".join(type.mlir for type in types)
        results = ", ".join(type.mlir for type in node.types)
        return f"({operands}) -> {results if len(node.types) == 1 else f'({results})'}"

    def text(self, program, node):
        names = [f"%{number}" for number in node.operands]
        types = [program.types[number] for number in node.operands]
        results = ", ".join(f"%{number}" for number in node.results)
        return f"{results} = array.{self.mnemonic(node)} {self.body(node, names, types)} : {self.signature(node, types)}"

    def mnemonic(self, node):
        return self.name

    def retyped(self, node, types):
        """The node with results of these types, some of whose dims are numbers now."""
        return dataclasses.replace(node, types=types)

    def uses(self, node):
        """The operands of which it needs more than sizes."""
        return node.operands

    def define(self, node, values, environment):
        """Sets the extents that the op makes; `values` are all values by number."""

    def evaluate(self, node, values, shapes):
        """The results as Nums; `shapes` are the results' sizes."""
        raise NotImplementedError


class Same(Op):
    """Operand and result types as `operand -> result`."""

    def signature(self, node, types):
        return f"{types[0].mlir} -> {node.types[0].mlir}"
