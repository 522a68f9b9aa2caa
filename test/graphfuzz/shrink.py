"""Cuts a failing program down: one output, fewer sizes, fewer ops, plainer inputs, as long as it fails the same way.

What a mode makes of a program (modes.py) is its own affair: a candidate of which it makes no case is passed over.
"""
import dataclasses
import re
import shutil

import numpy as np

from ops import OPS
from program import Type, names_in, walk
from tensors import FLOATS, Tensor

ATTEMPTS = 400


def kind_of(problem):
    """What failures have in common although sizes and values change: crash, refusal, wrong result."""
    problem = re.sub(r"[^: ]*\.mlir:[:\d]*", "", re.sub(r"^(call \d+: )?(output \d+: )?", "", problem))
    return "wrong" if "elements are off" in problem else re.sub(r"%?[-+]?\d[\w.+-]*|'[^']*'|\(.*?\)", "#", problem)[:60]


def with_static(program, names):
    """With symbols as the numbers that they are in the one environment that there is."""
    environment, = program.environments

    def static(dim):
        if isinstance(dim, int):
            return dim
        dim = re.sub(r"[a-z]\w*", lambda match: str(environment[match[0]]) if match[0] in names else match[0], dim)
        return dim if names_in(dim) else eval(dim)
    types = {number: Type(type.dtype, tuple(map(static, type.dims))) for number, type in program.types.items()}
    nodes = [node.mapped(lambda inner: OPS[inner.op].retyped(inner, [types[number] for number in inner.results]))
             for node in program.nodes]
    bounds = {name: static(dim) for name, dim in program.bounds.items()}
    left = {name: size for name, size in environment.items() if name not in names}
    return dataclasses.replace(program, types=types, nodes=nodes, bounds=bounds, environments=[left])


def with_environments(program, indices):
    return dataclasses.replace(program, environments=[program.environments[i] for i in indices], data=[program.data[i] for i in indices])


def replaced_by_input(program, node):
    """The node's values come from outside."""
    if any(isinstance(dim, str) and not (dim.isidentifier() or not program.names_dims) for type in node.types for dim in type.dims) or \
            any(program.is_bounded(number) for number in node.results):
        return None
    data = []
    for held, values in zip(program.data, program.evaluations()):
        data.append({**held, **{number: values[number].tensor() for number in node.results}})
    return dataclasses.replace(program, nodes=[other for other in program.nodes if other is not node],
                               inputs=program.inputs + node.results, data=data).pruned()


def renamed(program, names):
    """With other values in place of some: `names` maps old numbers to new ones, also inside regions."""
    def of(numbers):
        return [names.get(number, number) for number in numbers]

    def change(node):
        regions = [dataclasses.replace(region, outputs=of(region.outputs)) for region in node.regions]
        attributes = {**node.attributes, "regions": regions} if regions else node.attributes
        return dataclasses.replace(node, operands=of(node.operands), attributes=attributes)
    nodes = [node.mapped(change) for node in program.nodes]
    return dataclasses.replace(program, nodes=nodes, outputs=of(program.outputs)).pruned()


def unwrapped(program, node):
    """One region's nodes in place of the node that holds them; a loop that is not run."""
    index = next(i for i, other in enumerate(program.nodes) if other is node)
    before, after = program.nodes[:index], program.nodes[index + 1:]
    if node.op == "while":
        inits = node.operands[1:1 + len(node.results)]
        yield renamed(dataclasses.replace(program, nodes=before + after), dict(zip(node.results, inits)))
        return
    for region in node.regions:
        yield renamed(dataclasses.replace(program, nodes=before + region.nodes + after), dict(zip(node.results, region.outputs)))


def with_smaller_regions(program, node):
    """Without one of the nodes inside: what it makes is what it is made of."""
    for inner in list(walk([node]))[1:]:
        for operand in inner.operands:
            if len(inner.results) == 1 and program.types[operand] == inner.types[0]:
                names = {inner.results[0]: operand}
                nodes = [dataclasses.replace(other, attributes={**other.attributes, "regions": [
                    trimmed(region, inner, names) for region in other.regions]}) if other is node else other
                    for other in program.nodes]
                yield with_captures(dataclasses.replace(program, nodes=nodes))


def trimmed(region, without, names):
    """`region` without a node, wherever it is inside, and with other names for its results."""
    nodes = []
    for node in region.nodes:
        if node is without:
            continue
        attributes = node.attributes
        if node.regions:
            attributes = {**attributes, "regions": [trimmed(inner, without, names) for inner in node.regions]}
        operands = [names.get(number, number) for number in node.operands]
        nodes.append(dataclasses.replace(node, operands=operands, attributes=attributes))
    return dataclasses.replace(region, nodes=nodes, outputs=[names.get(number, number) for number in region.outputs])


def with_captures(program):
    """With operands that say what the regions use now."""
    def change(node):
        if not node.regions:
            return node
        regions = [region.pruned() for region in node.regions]
        captures = dict.fromkeys(number for region in regions for number in region.free())
        fixed = {"if": 1, "while": 1 + len(node.results), "call": 0}[node.op]
        return dataclasses.replace(node, operands=node.operands[:fixed] + list(captures),
                                   attributes={**node.attributes, "regions": regions})
    return dataclasses.replace(program, nodes=[node.mapped(change) for node in program.nodes]).pruned()


def plainer(program, number):
    """An input's values as small numbers, then as all the same."""
    for make in (lambda size: np.arange(size) % 4, lambda size: np.ones(size), lambda size: np.zeros(size)):
        data = []
        for held in program.data:
            old = held[number]
            values = make(old.values.size).reshape(old.shape)
            data.append({**held, number: Tensor(old.dtype, values if old.dtype in FLOATS else values.astype(np.int64))})
        yield dataclasses.replace(program, data=data)


def candidates(program):
    """Smaller programs, the boldest first."""
    if len(program.outputs) > 1:
        for output in program.outputs:
            yield dataclasses.replace(program, outputs=[output]).pruned()
    if len(program.environments) > 1:
        calls = range(len(program.environments))
        yield from (with_environments(program, [index]) for index in calls)
        yield from (with_environments(program, [i for i in calls if i != index]) for index in calls)
    else:
        symbols = list(program.environments[0])
        yield from (with_static(program, names) for names in dict.fromkeys([tuple(symbols), *((name,) for name in symbols)]) if names)
    for node in reversed(program.nodes):
        replaced = replaced_by_input(program, node)
        if replaced:
            yield replaced
    for node in reversed(program.nodes):
        for operand in node.operands:
            if len(node.results) == 1 and program.types[operand] == node.types[0]:
                yield renamed(program, {node.results[0]: operand})
    for node in reversed(program.nodes):
        if node.regions:
            yield from unwrapped(program, node)
            yield from with_smaller_regions(program, node)
    # An end that is cut off leaves what it needs as outputs.
    for node in reversed(program.nodes):
        if set(node.results) & set(program.outputs) and node.operands:
            for operand in dict.fromkeys(node.operands):
                if operand not in program.inputs:
                    yield dataclasses.replace(program, outputs=[operand]).pruned()
    for number in program.inputs:
        for other in program.inputs:
            if other < number and program.types[other] == program.types[number]:
                yield renamed(program, {number: other})


def failing_call(problem):
    """The number of the step that a problem is about."""
    found = re.match(r"call (\d+): ", problem)
    return int(found[1]) if found else 0


def shrink(case, problem, runner, case_of):
    """The smallest case found that fails like this one, and how it fails. `case_of` makes a case of a program, or None where
    a program is none for the mode that the case was drawn in."""
    kind, attempts = kind_of(problem), 0

    def fails(smaller):
        nonlocal attempts
        if smaller is None:
            return None
        attempts += 1
        said, = runner.run([smaller])
        return (smaller, said) if said and kind_of(said) == kind else None

    progress = True
    while progress and attempts < ATTEMPTS:
        progress = False
        for program in candidates(case.program):
            found = fails(case_of(program))
            if found:
                (case, problem), progress = found, True
                break
    for number in case.program.inputs:
        for program in plainer(case.program, number):
            found = fails(case_of(program))
            if found:
                case, problem = found
    # Of the calls that the mode makes of a program, the one that fails.
    found = len(case.steps) > 1 and fails(dataclasses.replace(case, steps=[case.steps[failing_call(problem)]]))
    return found or (case, problem)


def write(case, problem, directory):
    """The program, what went wrong, and the inputs of the call where it did."""
    directory.mkdir(parents=True, exist_ok=True)
    stem = directory / case.name
    said = problem.splitlines() + [f"compiled with --gradient=main{wanted}" for wanted in case.gradients]
    text = "".join(f"// {line}\n" for line in said) + "module {\n" + case.text.replace("@NAME", "@main") + "}\n"
    if case.file:
        shutil.copy(case.file, stem.with_suffix(".safetensors"))
        text = text.replace(str(case.file), f"{case.name}.safetensors")
    stem.with_suffix(".mlir").write_text(text)
    for i, tensor in enumerate(case.steps[failing_call(problem)].inputs):
        values = tensor.values.astype(np.float32) if tensor.dtype == "bf16" else \
            tensor.values.astype(np.dtype({"f16": "f2", "f32": "f4", "f64": "f8"}.get(tensor.dtype, tensor.values.dtype)))
        np.save(f"{stem}.in{i}.npy", values)
