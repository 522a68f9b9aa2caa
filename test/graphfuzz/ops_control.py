"""Ifs, whiles and calls: ops with programs of their own inside.

Values of a region have numbers that the whole program has only once, and a region uses values from outside by their
numbers; the node names all of those as operands. Ifs have one region for each choice, whiles a body, calls a function.
"""
import numpy as np

from bounds import Num, exact
from op import Op
from program import Region, Type, walk
from tensors import Tensor

DEPTH = 2  # of regions in regions
INDEX, TRUTH = Type("i32", ()), Type("i1", ())


def unknown(num):
    return Num(num.dtype, num.values, np.full(np.shape(num.values), np.inf))


class Control(Op):
    def attempt(self, g, draw):
        """What `draw` gives, with nothing left behind where that is nothing."""
        if g.depth == DEPTH:
            return None
        start = g.program.next_value()
        g.depth += 1
        drawn = None
        try:
            drawn = draw()
        finally:
            g.depth -= 1
            if drawn is None:
                g.forget(start)
            else:
                g.hide(start)
        return drawn

    def region(self, g, arguments=(), size=4):
        """Nodes drawn over what is visible and `arguments`."""
        outside, g.program.nodes = g.program.nodes, []
        try:
            for _ in range(g.integer(1, size)):
                g.add_op()
            return Region(list(arguments), g.program.nodes, [])
        finally:
            g.program.nodes = outside


class If(Control):
    def draw(self, g):
        return self.attempt(g, lambda: self.choose(g))

    def choose(self, g):
        condition = g.operand("i1", ())
        first_number = g.program.next_value()
        then = self.region(g)
        made = then.made()
        if not made:
            return None
        then.outputs = [made[-1]] + ([g.choice(made)] if g.random() < 0.4 else [])
        types = [g.types[number] for number in then.outputs]
        g.hide(first_number)
        other = self.region(g)
        local = set(other.made())
        for type in types:
            # Where it has made nothing of this type, what is outside does.
            number = next((n for n in reversed(list(g.types)) if n in local and g.types[n] == type), None)
            other.outputs.append(g.operand(type.dtype, type.dims) if number is None else number)
        regions = [region.pruned() for region in (then, other)]
        captures = dict.fromkeys(number for region in regions for number in region.free())
        return [condition, *captures], {"regions": regions}, types

    def text(self, program, node):
        results = ", ".join(f"%{number}" for number in node.results)
        types = ", ".join(type.mlir for type in node.types)
        then, other = ("\n".join(region.lines(program, "array.yield")) for region in node.attributes["regions"])
        return f"{results} = array.if %{node.operands[0]} : tensor<i1> -> ({types}) {{\n{then}\n}} else {{\n{other}\n}}"

    def evaluate_within(self, program, node, values, environment):
        condition = values[node.operands[0]]
        chosen = node.attributes["regions"][0 if condition.values else 1]
        inside = program.run(chosen.nodes, dict(values), environment)
        results = [inside[number] for number in chosen.outputs]
        if not condition.unknown:
            return results
        for inner in walk([node]):
            if inner.op == "variable.assign":
                variable = inner.attributes["variable"]
                environment["@"][variable.name] = unknown(environment["@"].get(variable.name) or exact(variable.value))
        return [unknown(result) for result in results]


class While(Control):
    """Counts up to an input; the first argument of the body is the counter, the first operand the limit."""

    def draw(self, g):
        return self.attempt(g, lambda: self.repeat(g))

    def repeat(self, g):
        limit = g.fresh(INDEX)
        g.small.add(limit)
        inits = [g.pick(lambda type: True) for _ in range(g.choice([1, 1, 2, 3]))]
        types = [g.types[number] for number in inits]
        arguments = []
        for type in [INDEX, *types]:
            arguments.append(g.program.next_value())
            g.types[arguments[-1]] = type
        g.small.add(arguments[0])
        body = self.region(g, arguments)
        local = body.made()
        for type, argument in zip(types, arguments[1:]):
            options = [number for number in local if g.types[number] == type]
            others = [number for number in arguments[1:] if g.types[number] == type]
            body.outputs.append(g.choice(options) if options else g.choice(others) if g.random() < 0.5 else argument)
        body = body.pruned()
        return [limit, *inits, *dict.fromkeys(body.free())], {"regions": [body]}, types

    def text(self, program, node):
        body, = node.attributes["regions"]
        tag, counter = node.results[0], body.arguments[0]
        count = len(body.arguments) - 1
        types = ", ".join(["tensor<i32>"] + [type.mlir for type in node.types])
        inits = ", ".join([f"%zero_{tag}"] + [f"%{number}" for number in node.operands[1:1 + count]])
        arguments = [(f"%{number}", program.types[number].mlir) for number in body.arguments]
        results = ", ".join([f"%count_{tag}"] + [f"%{number}" for number in node.results])
        return "\n".join([
            f"%zero_{tag} = array.constant dense<0> : tensor<i32>",
            f"%one_{tag} = array.constant dense<1> : tensor<i32>",
            f"{results} = array.while {inits} : ({types}) -> ({types}) condition {{",
            f"^bb0({', '.join(f'%test_{name[1:]}: {type}' for name, type in arguments)}):",
            f"  %more_{tag} = array.compare lt, %test_{counter}, %{node.operands[0]} : (tensor<i32>, tensor<i32>) -> tensor<i1>",
            f"  array.yield %more_{tag} : tensor<i1>",
            "} body {",
            f"^bb0({', '.join(f'{name}: {type}' for name, type in arguments)}):",
            f"  %next_{tag} = array.add %{counter}, %one_{tag} : tensor<i32>",
            *body.lines(program, f"array.yield %next_{tag},", "tensor<i32>, "),
            "}"])

    def evaluate_within(self, program, node, values, environment):
        body, = node.attributes["regions"]
        state = [values[number] for number in node.operands[1:len(body.arguments)]]
        for i in range(int(values[node.operands[0]].values)):
            inside = {**values, **dict(zip(body.arguments, [exact(Tensor("i32", np.array(i))), *state]))}
            inside = program.run(body.nodes, inside, environment)
            state = [inside[number] for number in body.outputs]
        return state


class Call(Control):
    def draw(self, g):
        return self.attempt(g, lambda: self.outline(g))

    def outline(self, g):
        function = self.region(g, size=5)
        made = function.made()
        if not made:
            return None
        function.outputs = [made[-1]] + ([g.choice(made)] if g.random() < 0.5 else [])
        types = [g.types[number] for number in function.outputs]
        function = function.pruned()
        return list(dict.fromkeys(function.free())), {"regions": [function]}, types

    def text(self, program, node):
        results = ", ".join(f"%{number}" for number in node.results)
        operands = ", ".join(f"%{number}" for number in node.operands)
        types = [program.types[number] for number in node.operands]
        return f"{results} = func.call @NAME_f{node.results[0]}({operands}) : {self.signature(node, types)}"

    def function(self, program, node):
        """The text of what is called; its arguments have the numbers of the operands."""
        region, = node.attributes["regions"]
        arguments = ", ".join(f"%{number}: {program.types[number].mlir}" for number in node.operands)
        types = ", ".join(type.mlir for type in node.types)
        lines = "\n".join("  " + line for line in region.lines(program, "return"))
        return f"  func.func private @NAME_f{node.results[0]}({arguments}) -> ({types}) {{\n{lines}\n  }}\n"

    def evaluate_within(self, program, node, values, environment):
        function, = node.attributes["regions"]
        inside = program.run(function.nodes, dict(values), environment)
        return [inside[number] for number in function.outputs]


CONTROL = (If("if", 4.0), While("while", 4.0), Call("call", 2.0))
