"""How far a result may be from the float64 reference: |got - want| <= absolute + relative * |want|.

The one place for tolerances. `relative` is in units in the last place (ulp) of the type, counted at the reference, so
that a table entry reads as "how many roundings are allowed"; integers, truth values and copies are exact.
"""

# Half the distance between 1 and the next number, so that a correctly rounded result is off by at most 1 of these.
UNIT = {"f16": 2.0 ** -11, "bf16": 2.0 ** -8, "f32": 2.0 ** -24, "f64": 2.0 ** -53}

# kind -> (relative ulp, absolute in units of UNIT). What an element may differ by.
KINDS = {
    # Copies, selections, comparisons, conversions: nothing is rounded but once.
    "exact": {"f16": (0, 0), "bf16": (0, 0), "f32": (0, 0), "f64": (0, 0)},
    # One operation of IEEE 754: correctly rounded. 16-bit types compute in f32 and round twice.
    "rounded": {"f16": (1.01, 0), "bf16": (1.01, 0), "f32": (1.01, 0), "f64": (1.01, 0)},
    # Our expansions of exp, log, sin, ...: docs/math-accuracy.md has what each reaches.
    "math": {"f16": (1.1, 0), "bf16": (1.1, 0), "f32": (8, 1e-3), "f64": (8, 1e-3)},
    # A few operations after one another (sigmoid, gelu, softmax, norms).
    "composite": {"f16": (4, 2), "bf16": (4, 2), "f32": (64, 16), "f64": (64, 16)},
    # Sums of up to some thousand terms of size one, in any order; the absolute part covers cancellation.
    "sum": {"f16": (2, 2), "bf16": (2, 2), "f32": (128, 1024), "f64": (128, 1024)},
    # The gradient of one op, whose own result flows back; f32 and f64 are compared with differences, which know fewer digits.
    "gradient": {"f16": (6, 6), "bf16": (6, 6), "f32": (4096, 4096), "f64": (4096, 4096)},
    # Gradients in f32 of what bf16 operands make: through results and weights that are rounded to bf16, twice.
    "through_bf16": {"bf16": (64, 64), "f32": (2 * 2 ** 16, 2 * 2 ** 16)},
    # Whole networks.
    "model": {"f16": (64, 64), "bf16": (64, 64), "f32": (4096, 4096), "f64": (4096, 4096)},
}

# The smallest numbers that a type tells from zero; results below are not held to their relative error.
TINY = {"f16": 2.0 ** -24, "bf16": 2.0 ** -133, "f32": 2.0 ** -149, "f64": 2.0 ** -1074}


def tolerance(kind, dtype):
    """(absolute, relative) for elements of |dtype|; zeros for types that are not floats."""
    if dtype not in UNIT:
        return 0.0, 0.0
    relative, absolute = KINDS[kind][dtype]
    tiny = 0.0 if kind == "exact" else TINY[dtype]
    return absolute * UNIT[dtype] + tiny, relative * UNIT[dtype]
