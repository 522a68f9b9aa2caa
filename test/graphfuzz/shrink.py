"""Cuts a failing program down: one output, fewer sizes, fewer ops, plainer inputs, as long as it fails the same way."""
import dataclasses
import re

import numpy as np

from fuzzcase import case_of
from program import Type
from tensors import FLOATS, Tensor

ATTEMPTS = 400


def kind_of(problem):
    """What failures have in common although sizes and values change: crash, refusal, wrong result."""
    problem = re.sub(r"%?[-+]?\d[\w.+-]*|'[^']*'|\(.*?\)", "#", re.sub(r"^(call \d+: )?(output \d+: )?", "", problem))
    return "wrong" if "elements are off" in problem else re.sub(r"[^:]*\.mlir:[#:\d]*", "", problem)[:60]


def static(program, index):
    """With the sizes of one environment."""
    environment = program.environments[index]
    types = {number: Type(type.dtype, type.shape(environment)) for number, type in program.types.items()}
    nodes = [dataclasses.replace(node, types=[types[number] for number in node.results]) for node in program.nodes]
    return dataclasses.replace(program, types=types, nodes=nodes, environments=[{}], data=[program.data[index]])


def with_one_environment(program, index):
    return dataclasses.replace(program, environments=[program.environments[index]], data=[program.data[index]])


def replaced_by_input(program, node):
    """The node's values come from outside."""
    if any(isinstance(dim, str) and not dim.isidentifier() for type in node.types for dim in type.dims):
        return None
    data = []
    for environment, held in zip(program.environments, program.data):
        values = program.evaluate(environment, held)
        data.append({**held, **{number: values[number].tensor() for number in node.results}})
    return dataclasses.replace(program, nodes=[other for other in program.nodes if other is not node],
                               inputs=program.inputs + node.results, data=data).pruned()


def renamed(program, old, new):
    nodes = [dataclasses.replace(node, operands=[new if operand == old else operand for operand in node.operands])
             for node in program.nodes]
    outputs = [new if output == old else output for output in program.outputs]
    return dataclasses.replace(program, nodes=nodes, outputs=outputs).pruned()


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
        for index in range(len(program.environments)):
            yield with_one_environment(program, index)
    elif program.environments != [{}]:
        yield static(program, 0)
    for node in reversed(program.nodes):
        replaced = replaced_by_input(program, node)
        if replaced:
            yield replaced
    for node in reversed(program.nodes):
        for operand in node.operands:
            if len(node.results) == 1 and program.types[operand] == node.types[0]:
                yield renamed(program, node.results[0], operand)
    # An end that is cut off leaves what it needs as outputs.
    for node in reversed(program.nodes):
        if set(node.results) & set(program.outputs) and node.operands:
            for operand in dict.fromkeys(node.operands):
                if operand not in program.inputs:
                    yield dataclasses.replace(program, outputs=[operand]).pruned()
    for number in program.inputs:
        for other in program.inputs:
            if other < number and program.types[other] == program.types[number]:
                yield renamed(program, number, other)


def shrink(case, problem, runner):
    """The smallest case found that fails like this one, and how it fails."""
    kind, attempts = kind_of(problem), 0

    def fails(program):
        nonlocal attempts
        attempts += 1
        smaller = case_of(dataclasses.replace(program, name=case.name))
        said, = runner.run([smaller])
        return (smaller, said) if said and kind_of(said) == kind else None

    progress = True
    while progress and attempts < ATTEMPTS:
        progress = False
        for program in candidates(case.program):
            found = fails(program)
            if found:
                (case, problem), progress = found, True
                break
    for number in case.program.inputs:
        for program in plainer(case.program, number):
            found = fails(program)
            if found:
                case, problem = found
    return case, problem


def write(case, problem, directory):
    directory.mkdir(parents=True, exist_ok=True)
    stem = directory / case.name
    text = "".join(f"// {line}\n" for line in problem.splitlines()) + "module {\n" + \
        case.text.replace("@NAME", "@main") + "}\n"
    stem.with_suffix(".mlir").write_text(text)
    for i, tensor in enumerate(case.steps[0].inputs):
        values = tensor.values.astype(np.float32) if tensor.dtype == "bf16" else \
            tensor.values.astype(np.dtype({"f16": "f2", "f32": "f4", "f64": "f8"}.get(tensor.dtype, tensor.values.dtype)))
        np.save(f"{stem}.in{i}.npy", values)
