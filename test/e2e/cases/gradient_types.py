"""The gradient of each op in the element types that gradients.py and derivatives.py, which are in f32, leave: of each op the smallest
case in which something flows."""
import math
import re
from statistics import NormalDist

import numpy as np

from cases import derivatives, gradients
from harness import simple
from tensors import Tensor

TYPES = ("f16", "bf16", "f64")
STEP = np.longdouble(2.0) ** -16
# Formulas by way of math.erf and the like, which know 16 digits: too few to differentiate numerically as far as f64 is held to.
SHORT = ("erf", "erfinv", "gelu")
# Which operand is the least or largest decides; rounding must not make two of them equal.
ORDERED = ("max", "min", "select_and_scatter min", "select_and_scatter max")


def numerical(function, operands):
    """As gradients.numerical, to some 14 digits: through four points, in long double."""
    found = []
    for i, operand in enumerate(operands):
        gradient = np.zeros(operand.shape, np.longdouble)
        for at in np.ndindex(*operand.shape):
            for times, weight in ((1, 8), (-1, -8), (2, -1), (-2, 1)):
                moved = [o.astype(np.longdouble) for o in operands]
                moved[i][at] += times * STEP
                gradient[at] += weight * sum((np.asarray(y, np.longdouble) ** 2).sum() / 2 for y in function(*moved))
        found.append((gradient / (12 * STEP)).astype(np.float64))
    return found


def retyped(text, dtype):
    return re.sub(r"\bf32\b|(?<=x)f32\b", dtype, text)


def apart(operands):
    """Distinct multiples of 1/64 in the same order."""
    order = np.argsort(np.concatenate([o.values.ravel() for o in operands]), kind="stable")
    ranks = (np.argsort(order) - len(order) // 2) / 64
    ends = np.cumsum([o.values.size for o in operands])[:-1]
    return [Tensor(o.dtype, part.reshape(o.shape)) for o, part in zip(operands, np.split(ranks, ends))]


def in_type(dtype, made_of, options):
    name, operands, function, text, out_types = made_of[:5]
    if named(text) in ORDERED:
        operands = apart(operands)
    options = {**options, "types": [retyped(type, dtype) for type in options["types"]] if options.get("types") else None}
    options["constants"] = [Tensor(dtype, c.values) if c.dtype == "f32" else c for c in options.get("constants", ())]
    return gradients.differentiated(f"{name}_{dtype}", [Tensor(dtype, o.values) for o in operands], function, retyped(text, dtype),
                                    [retyped(type, dtype) for type in out_types], dtype=dtype, numerical=numerical, **options)


def named(text):
    """The op that is differentiated, with its kind."""
    return re.search(r"%y = array\.(\w+(?: \w+(?=,))?)", text)[1]


def written_out():
    """Of SHORT: the derivative times the value, which is the cotangent."""
    x, half = Tensor("f64", np.linspace(-2, 2, 8)), Tensor("f64", np.linspace(-0.8, 0.8, 8))
    erf, bell = np.vectorize(math.erf)(x.values), np.exp(-x.values ** 2 / 2) / math.sqrt(2 * math.pi)
    share = (1 + np.vectorize(math.erf)(x.values / math.sqrt(2))) / 2
    inverse = np.array([NormalDist().inv_cdf((v + 1) / 2) / math.sqrt(2) for v in half.values])
    for op, operand, gradient in (("erf", x, erf * 2 / math.sqrt(math.pi) * np.exp(-x.values ** 2)),
                                  ("erfinv", half, inverse * math.sqrt(math.pi) / 2 * np.exp(inverse ** 2)),
                                  ("gelu", x, x.values * share * (share + x.values * bell))):
        yield simple(f"{op}_f64", [operand], [("f64", gradient)], f"%r0 = array.{op} %0 {{vjp}} : {operand.mlir}", "model")


def cases():
    yield from written_out()
    smallest = {}
    for module in (gradients, derivatives):
        for case in module.cases():
            made_of, options = gradients.latest or (("",), {})
            if made_of[0] != case.name or options.get("dtype", "f32") != "f32" or any(o.dtype != "f32" for o in made_of[1]):
                continue
            size = sum(o.values.size for o in made_of[1])
            op = named(made_of[3])
            if op in smallest and smallest[op][0] <= size or not any(np.any(values) for _, values in case.steps[0].expected):
                continue
            types = [dtype for dtype in TYPES if dtype != "f64" or case.name not in SHORT]
            # Made before the next case is asked for, which changes what the formula refers to.
            smallest[op] = size, [in_type(dtype, made_of, options) for dtype in types]
    for _, made in smallest.values():
        yield from made
