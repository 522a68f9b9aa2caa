"""Compiles kernels, runs them and compares what they write with NumPy in float64.

usage: check_kernels.py GROUP [--xc-opt=PATH] [--lld=PATH] [--only=NAME]
"""
import argparse
import importlib
import os
import sys

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from kernel_runner import DTYPES, Kernel, aligned, bf16_to_f32, build_kernel, f32_to_bf16

TOLERANCE = {"f32": 2e-6, "f64": 1e-13, "f16": 1e-3, "bf16": 8e-3}


class Case:
    """One kernel and one set of sizes. `reference` gets the inputs as float64 or integers, and returns the results."""

    def __init__(self, name, bindings, body, reference, sizes=((),), config=None, make=None, tolerance=1.0, options="",
                 arch="x86-64-v3"):
        self.name, self.bindings, self.body, self.reference = name, bindings, body, reference
        self.sizes, self.config, self.make, self.tolerance = sizes, config, make, tolerance
        self.options, self.arch = options, arch


def make_input(rng, shape, dtype):
    if dtype in ("f32", "f64", "f16"):
        return rng.standard_normal(shape).astype(DTYPES[dtype])
    if dtype == "bf16":
        return f32_to_bf16(rng.standard_normal(shape).astype(np.float32)).reshape(shape)
    return rng.integers(-100, 100, shape).astype(DTYPES[dtype])


def widen(array, dtype):
    if dtype == "bf16":
        return bf16_to_f32(array).astype(np.float64)
    return array.astype(np.float64) if dtype.startswith("f") else array


def compare(case, actual, expected, dtype):
    if not dtype.startswith(("f", "b")):
        wrong = np.flatnonzero(actual.ravel() != expected.astype(actual.dtype).ravel())
        return "" if wrong.size == 0 else f"{wrong.size} wrong, first at {wrong[0]}: {actual.ravel()[wrong[0]]} instead of {expected.ravel()[wrong[0]]}"
    values = widen(actual, dtype).ravel()
    wanted = np.asarray(expected, np.float64).ravel()
    scale = max(1.0, np.nanmax(np.abs(wanted[np.isfinite(wanted)]), initial=0))
    same = (values == wanted) | (np.isnan(values) & np.isnan(wanted))
    with np.errstate(invalid="ignore"):
        error = np.where(same, 0, np.abs(values - wanted) / scale)
    error[np.isnan(error)] = np.inf
    if error.size == 0 or error.max() <= TOLERANCE[dtype] * case.tolerance:
        return ""
    worst = int(error.argmax())
    return f"error {error[worst]:.3g} at {worst}: {values[worst]} instead of {wanted[worst]}"


def run_case(case, arguments):
    names = sorted({dim for shape, _, _ in case.bindings for dim in shape if isinstance(dim, str)})
    kernel = Kernel(build_kernel("k", case.bindings, len(names), case.body, case.arch), case.options, arguments.xc_opt,
                    arguments.lld)
    failures = []
    if case.config and kernel.config != "#cpu." + case.config:
        failures.append(f"expected the strategy {case.config}, got {kernel.config}")
    for sizes in case.sizes:
        scalars = list(sizes)
        values = dict(zip(names, scalars))
        rng = np.random.default_rng(1)
        arrays, inputs = [], []
        for position, (shape, dtype, access) in enumerate(case.bindings):
            concrete = tuple(values.get(dim, dim) for dim in shape)
            made = case.make(rng, position, concrete) if case.make else None
            if access == "read":
                array = aligned(make_input(rng, concrete, dtype) if made is None else made)
                inputs.append(widen(array, dtype))
            else:
                array = aligned(np.full(concrete, 77, DTYPES[dtype]))
            arrays.append(array)
        kernel.run(arrays, scalars)
        with np.errstate(all="ignore"):
            expected = case.reference(*inputs)
        expected = expected if isinstance(expected, tuple) else (expected,)
        written = [(array, dtype) for array, (_, dtype, access) in zip(arrays, case.bindings) if access != "read"]
        for index, ((array, dtype), wanted) in enumerate(zip(written, expected)):
            if array.shape != np.shape(wanted):
                failures.append(f"sizes {sizes}: the reference has shape {np.shape(wanted)}, not {array.shape}")
            elif message := compare(case, array, np.asarray(wanted), dtype):
                failures.append(f"sizes {sizes}, result {index}: {message}")
    return kernel.config, failures


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("group")
    parser.add_argument("--xc-opt", default="xc-opt")
    parser.add_argument("--lld", default="ld.lld")
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    cases = importlib.import_module(f"{arguments.group}_kernels").get_cases()
    failed = 0
    for case in cases:
        if arguments.only and arguments.only not in case.name:
            continue
        try:
            config, failures = run_case(case, arguments)
        except RuntimeError as error:
            config, failures = "?", [str(error)]
        failed += bool(failures)
        print(f"{'FAILED' if failures else 'ok'}: {case.name} ({config})", *failures, sep="\n  ")
    print(f"{len(cases) - failed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
