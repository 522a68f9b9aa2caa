"""The optimisers of share/xcompile/optimizers: one step each against float64, on flat weights of any size and on a matrix."""
import pathlib

import numpy as np

from harness import Case, Step
from tensors import Tensor, random

FOLDER = pathlib.Path(__file__).resolve().parents[3] / "share" / "xcompile" / "optimizers"


def sgd_momentum(w, g, m, rate, momentum, decay):
    m = momentum * m + g + decay * w
    return w - rate * m, m


def adam(w, g, m, v, t, rate, beta1, beta2, epsilon, decay=0.0):
    m, v = beta1 * m + (1 - beta1) * g, beta2 * v + (1 - beta2) * g * g
    return w - rate * (m / (1 - beta1 ** t) / (np.sqrt(v / (1 - beta2 ** t)) + epsilon) + decay * w), m, v


def lion(w, g, m, rate, beta1, beta2, decay):
    return w - rate * (np.sign(beta1 * m + (1 - beta1) * g) + decay * w), beta2 * m + (1 - beta2) * g


def number(value):
    return Tensor("f32", value)


def step(reference, arrays, numbers, suffix):
    expected = reference(*[a.values for a in arrays], *[float(n.values) for n in numbers])
    return Step([*arrays, *numbers], [("f32", values) for values in expected], suffix)


def program(name, arrays, numbers, results):
    """The file, a function over any number of weights, and one over a matrix, which goes in and out flat."""
    flat, matrix = "tensor<?xf32>", "tensor<5x7xf32>"
    text = (FOLDER / f"{name}.mlir").read_text().replace(f"@{name}(", f"@NAME_{name}(")
    values = [f"%a{i}" for i in range(arrays)] + [f"%n{i}" for i in range(numbers)]
    types = [flat] * arrays + ["tensor<f32>"] * numbers
    call = (f"    %r:{results} = func.call @NAME_{name}(ARGUMENTS) : ({', '.join(types)}) -> ({', '.join([flat] * results)})\n")
    outputs = [f"%r#{i}" for i in range(results)]
    given = [f'{value}: {type} {{array.dims = ["n"]}}' if type == flat else f"{value}: {type}" for value, type in zip(values, types)]
    text += f"func.func @NAME_flat({', '.join(given)}) -> ({', '.join([flat] * results)}) {{\n" + call.replace("ARGUMENTS", ", ".join(values))
    text += f"    return {', '.join(outputs)} : {', '.join([flat] * results)}\n}}\n"
    text += f"func.func @NAME_matrix({', '.join(f'{value}: {type.replace(flat, matrix)}' for value, type in zip(values, types))})"
    text += f" -> ({', '.join([matrix] * results)}) {{\n"
    text += "".join(f"    %f{i} = array.reshape %a{i} : {matrix} -> {flat}\n" for i in range(arrays))
    text += call.replace("ARGUMENTS", ", ".join([f"%f{i}" for i in range(arrays)] + values[arrays:]))
    text += "".join(f"    %m{i} = array.reshape %r#{i} : {flat} -> {matrix}\n" for i in range(results))
    return text + f"    return {', '.join(f'%m{i}' for i in range(results))} : {', '.join([matrix] * results)}\n}}\n"


def case(name, reference, state, numbers, varied):
    """`state`: the ranges of what there is besides weights and gradient; `numbers`: lists of the hyper-parameters, one a step."""
    ranges = [(-1, 1), (-1, 1), *state]
    text = program(name, len(ranges), len(numbers[0]), 1 + len(state))
    steps = []
    for i, size in enumerate(varied):
        arrays = [random("f32", (size,), 10 * i + j, *span) for j, span in enumerate(ranges)]
        steps.append(step(reference, arrays, [number(n) for n in numbers[i % len(numbers)]], "_flat"))
    arrays = [random("f32", (5, 7), 100 + j, *span) for j, span in enumerate(ranges)]
    steps.append(step(reference, arrays, [number(n) for n in numbers[0]], "_matrix"))
    # The first step begins with zeros.
    zeros = [*arrays[:2], *(Tensor("f32", np.zeros((5, 7))) for _ in state)]
    steps.append(step(reference, zeros, [number(n) for n in numbers[0]], "_matrix"))
    return Case(name, text, steps, "composite")


def cases():
    sizes = (1, 63, 1025)
    yield case("sgd_momentum", sgd_momentum, [(-1, 1)], [(0.1, 0.9, 1e-3), (0.5, 0, 0)], sizes)
    moments = [(-1, 1), (0, 1)]
    yield case("adam", adam, moments, [(1, 1e-3, 0.9, 0.999, 1e-8), (2, 0.1, 0.5, 0.9, 1e-3), (1e5, 1e-2, 0.9, 0.999, 1e-8)], sizes)
    yield case("adamw", adam, moments, [(1, 1e-3, 0.9, 0.999, 1e-8, 1e-2), (7, 0.1, 0.8, 0.95, 1e-6, 0.1),
                                        (1e5, 1e-2, 0.9, 0.999, 1e-8, 0.0)], sizes)
    yield case("lion", lion, [(-1, 1)], [(1e-3, 0.9, 0.99, 1e-2), (0.1, 0.5, 0.9, 0.0)], sizes)
