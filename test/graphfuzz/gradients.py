"""Gradients of random programs, as --gradient adds them, against differences of the reference.

Programs of f64, whose reference is exact but for roundings of float64. A gradient is compared in a few directions of each input, where
the reference has a derivative: differences to both sides, over two distances, have to agree (they do not at the kinks of max, sorts
and roundings). Programs that see bits of floats as integers have differences, but no derivative, and where a value on the way is no
number, or its derivative is none (roots of the zeros of a padding), a select or a zero may hide that from differences, but not from a
gradient: both are left out. What has no gradient is refused when it is compiled, as docs/gradients.md says; such programs do not count.
"""
import dataclasses

import numpy as np

import fuzzcase
import generate
import harness
from program import Program, walk
from tensors import FLOATS, Tensor

STEP = 1e-5
DIRECTIONS = 3
# Where ops have values, but infinite derivatives in their first operand.
STEEP = {"sqrt": (0,), "cbrt": (0,), "pow": (0,), "asin": (-1, 1), "acos": (-1, 1), "acosh": (1,)}
NOT_COUNTED = r"has no gradient|no input of floats"


class FloatGenerator(generate.Generator):
    """Programs of f64 that are not too large, with values that are not likely to meet."""

    def __init__(self, seed):
        super().__init__(seed)
        self.dtypes = ["f64"] if self.random() < 0.8 else ["f64", "i32"]
        self.tame = False


@dataclasses.dataclass
class Along:
    """An output that is a gradient, of which some sums of products are known: [(direction, sum, error)]."""
    dtype: str
    shape: tuple
    known: list

    def disagreement(self, dtype, values):
        if dtype != self.dtype or values.shape != self.shape:
            return f"expected {self.dtype}{list(self.shape)}, got {dtype}{list(values.shape)}"
        for direction, want, error in self.known:
            got = float((values * direction).sum())
            if not abs(got - want) <= error:
                return f"elements are off: expected {want!r} along a direction, got {got!r}, allowed {error:.3g}"
        return None


def total(program, environment, data, cotangents):
    """What is differentiated: the sum of results times their cotangents."""
    values = program.evaluated(environment, data)
    return sum(float((values[number].values.astype(np.float64) * cotangent).sum())
               for number, cotangent in cotangents.items())


class NotFinite(Exception):
    """A value on the way, or its derivative, is no number."""


class FiniteProgram(Program):
    """Evaluates as long as all values and their derivatives are numbers, those of regions and those that no output needs as well."""

    def run(self, nodes, values, environment):
        values = super().run(nodes, values, environment)
        made = [values[number] for node in nodes for number in node.results]
        if not all(np.isfinite(value.values.astype(np.float64)).all() for value in made if value.dtype in FLOATS):
            raise NotFinite
        if any(np.isin(values[node.operands[0]].values, STEEP[node.op]).any() for node in nodes if node.op in STEEP):
            raise NotFinite
        return values


def is_finite(program, environment, data):
    try:
        program.as_a(FiniteProgram).evaluated(environment, data)
    except NotFinite:
        return False
    return True


def derivative(function):
    """(derivative at 0, its error), or None where there is none or it cannot be told."""
    centre = function(0.0)
    slopes = [(function(side * step) - centre) / (side * step) for step in (STEP, STEP / 4) for side in (1, -1)]
    if not np.isfinite(slopes).all():
        return None
    mean = (slopes[2] + slopes[3]) / 2
    noise = 1e-14 * (abs(centre) + 1) / STEP * 8
    scale = max(abs(mean), 1e-3)
    if max(abs(slope - mean) for slope in slopes) > 1e-3 * scale + noise:
        return None
    return mean, 1e-4 * scale + 2 * noise


def known_of(program, environment, data, number, cotangents, rng):
    shape, known = data[number].values.shape, []
    for _ in range(DIRECTIONS):
        direction = rng.standard_normal(shape) * (rng.random(shape) < 0.5)

        def along(step):
            return total(program, environment, {**data, number: Tensor("f64", data[number].values + step * direction)}, cotangents)
        found = derivative(along)
        if found:
            known.append((direction, *found))
    return known


def draw(seed):
    return FloatGenerator(seed).generate()


def case_of(program):
    """None where nothing can be told of a gradient."""
    if any(node.has_effect or node.op == "bitcast" for node in walk(program.nodes)):
        return None
    floats = [number for number in program.inputs if program.types[number].dtype in FLOATS]
    results = [number for number in program.outputs if program.types[number].dtype == "f64"]
    if not floats or not results or any(program.types[number].dtype in FLOATS and number not in results for number in program.outputs):
        return None
    rng, steps, told = np.random.default_rng(list(program.name.encode())), [], 0
    for environment, data in zip(program.environments, program.data):
        if not is_finite(program, environment, data):
            return None
        cotangents = [Tensor("f64", rng.uniform(-1, 1, program.types[number].shape(environment))) for number in results]
        weights = {}
        for number, cotangent in zip(results, cotangents):
            weights[number] = weights.get(number, 0) + cotangent.values
        expected = []
        for number in floats:
            # Of an op that takes another type only, nothing is told.
            known = known_of(program, environment, data, number, weights, rng) if data[number].dtype == "f64" else []
            told += len(known)
            expected.append(Along(data[number].dtype, data[number].values.shape, known))
        steps.append(harness.Step([data[number] for number in program.inputs] + cotangents, expected, "_vjp"))
    if not told:
        return None
    return dataclasses.replace(fuzzcase.case_of(program), steps=steps, gradients=("",))
