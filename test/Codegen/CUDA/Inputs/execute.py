#===- execute.py - Compile kernels, run them, compare with NumPy --------------===#
#
# Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===--------------------------------------------------------------------------===#
"""execute.py --xc-opt=... --driver=libcuda_sim.so [--only=name] [--ptxas=...] [--arch=sm_80] [--grid-limit=N]

Every variant whose guards hold is run. With --ptxas the PTX is assembled too, and spills or lost performance fail."""
import argparse
import re
import subprocess
import sys
import tempfile

import numpy as np

import cases
import kernel_image
from cuda_driver import Driver, DriverError
from kernels import DTYPES, decode, random

TOLERANCES = {"f32": (2e-5, 2e-5), "f64": (1e-12, 1e-12), "f16": (2e-3, 2e-3), "bf16": (1.6e-2, 1.6e-2)}


def compile_kernel(xc_opt, text, grid_limit):
    pipeline = f"-xc-cuda-codegen=wgmma=false grid-limit={grid_limit}"
    result = subprocess.run([xc_opt, "-", pipeline], input=text, capture_output=True, text=True)
    if result.returncode != 0:
        raise DriverError("xc-opt failed: " + result.stderr.strip()[:600])
    return kernel_image.find_images(result.stdout)[0], kernel_image.find_exports(result.stdout)


def assemble(ptxas, arch, ptx):
    """The lines `name: registers, spills`; fails on spills and on warnings that report lost performance."""
    with tempfile.NamedTemporaryFile("w", suffix=".ptx") as file:
        file.write(ptx)
        file.flush()
        result = subprocess.run([ptxas, f"-arch={arch}", "-v", "-o", "/dev/null", file.name], capture_output=True, text=True)
    log = result.stdout + result.stderr
    if result.returncode != 0:
        raise DriverError("ptxas failed: " + log[:600])
    registers = re.findall(r"Used (\d+) registers", log)
    spills = [int(n) for n in re.findall(r"(\d+) bytes spill stores", log)]
    lost = re.findall(r"C75\d\d", log)
    if any(spills) or lost:
        raise DriverError(f"ptxas: {spills} bytes of spills, {lost}")
    return "registers " + "/".join(registers)


def compare(actual, expected, element):
    actual = decode(actual, element)
    if actual.shape != expected.shape:
        raise DriverError(f"expected shape {expected.shape}, got {actual.shape}")
    if element[0] == "i":
        # Integers wrap.
        expected = expected.astype(np.int64).astype(DTYPES[element])
        bad = actual != expected
    else:
        absolute, relative = TOLERANCES[element]
        scale = max(1.0, float(np.abs(expected).max())) if expected.size else 1.0
        error = np.abs(actual.astype(np.float64) - expected)
        bad = ~(error <= absolute * scale + relative * np.abs(expected))
    if bad.any():
        at = tuple(int(i) for i in np.argwhere(bad)[0])
        raise DriverError(f"{int(bad.sum())} of {bad.size} elements differ, first at {at}: expected {expected[at]}, got "
                          f"{actual[at]}")


def run_case(options, driver, kernel, reference, config):
    ptx, exports = compile_kernel(options.xc_opt, kernel.text(options.arch, config), options.grid_limit)
    report = assemble(options.ptxas, options.arch, ptx) if options.ptxas else ""
    module = driver.load(ptx)
    rng = np.random.default_rng(1)
    arrays, inputs = [], []
    for element, shape, is_output in kernel.bindings:
        shape = kernel.concrete(shape)
        array = np.full(shape, 77, dtype=DTYPES[element]) if is_output else random(rng, shape, element)
        arrays.append(array)
        if not is_output:
            inputs.append(array)
    kernel.prepare(*inputs)
    expected = reference(*inputs)
    scalars = kernel.scalar_values()
    ran = []
    for export in exports:
        if not kernel_image.holds(export, scalars):
            continue
        grid = [formula.evaluate(scalars) for formula in export["grid"]]
        if grid[0] > options.grid_limit:
            raise DriverError(f"a grid of {grid[0]} blocks")
        results = driver.launch(module, export, grid, arrays, scalars)
        outputs = [(result, element) for result, (element, _, is_output) in zip(results, kernel.bindings) if is_output]
        for (result, element), value in zip(outputs, expected):
            compare(result, np.asarray(value), element)
        ran.append(export["config"])
    if not ran:
        raise DriverError("no variant's guards hold")
    return "; ".join(ran) + "  " + report


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--xc-opt", default="xc-opt")
    parser.add_argument("--driver", required=True)
    parser.add_argument("--arch", default="sm_80")
    parser.add_argument("--ptxas", default="")
    parser.add_argument("--grid-limit", type=int, default=2**31 - 1)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    driver = Driver(options.driver)
    failures = 0
    for name, (kernel, reference), config in cases.all_cases():
        if not re.search(options.only, name):
            continue
        try:
            print(f"ok   {name}: {run_case(options, driver, kernel, reference, config)}", flush=True)
        except DriverError as error:
            failures += 1
            print(f"FAIL {name}: {error}", flush=True)
            if "CUDA_ERROR" in str(error) or ": 7" in str(error):
                driver = Driver(options.driver)
    print(f"{failures} failed")
    return failures != 0


if __name__ == "__main__":
    sys.exit(main())
