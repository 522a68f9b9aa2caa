#!/usr/bin/env python3
"""Measures the errors of the expanded math functions, run as native code, in ulp.

Builds one function per math op and type over vectors, lowers them with xc-opt (`-xc-expand-math`) and LLVM's own
tools, and compares the results with the C library's long double functions (reference.c).

    measure_math.py --xc-opt build/dev/bin/xc-opt --llvm /usr/lib/llvm-22/bin [--quick] [--markdown docs/math-accuracy.md]

Runs for this machine's own CPU. Ends with an error if a function exceeds its bound.
"""
import argparse
import ctypes
import os
import platform
import subprocess
import sys
import tempfile

import numpy as np

# name -> bound in ulp (f32, f64)
UNARY = {
    "exp": (1, 1), "exp2": (1.5, 1.5), "expm1": (2, 2), "log": (1, 1), "log2": (1, 1), "log10": (1, 1), "log1p": (2, 2),
    "sin": (2, 1), "cos": (2, 1), "tan": (3.5, 3), "asin": (2.5, 2.5), "acos": (2, 2), "atan": (2, 2),
    "sinh": (3, 3), "cosh": (2, 2), "tanh": (3, 3), "asinh": (4, 4), "acosh": (4, 4), "atanh": (4, 4),
    "erf": (2, 2), "erfc": (4, 4), "cbrt": (1.5, 1.5), "rsqrt": (1.5, 1.5), "round": (0, 0),
}
BINARY = {"powf": (1, 1), "atan2": (2, 2), "remf": (0, 0)}
TYPES = {"f32": (np.float32, np.uint32, 8), "f64": (np.float64, np.uint64, 4)}


def kernel(name, element, lanes, binary):
    """A loop over the arguments in vectors, and the name's own op in it."""
    dialect = "arith" if name == "remf" else "math"
    vector, memref = f"vector<{lanes}x{element}>", f"memref<?x{element}>"
    second_arg = f", %z: {memref}" if binary else ""
    load_second = f"%w = vector.load %z[%i] : {memref}, {vector}" if binary else ""
    operands = "%v, %w" if binary else "%v"
    return f"""
func.func @{name}_{element}(%x: {memref}{second_arg}, %y: {memref}) attributes {{llvm.emit_c_interface}} {{
  %c0 = arith.constant 0 : index
  %step = arith.constant {lanes} : index
  %n = memref.dim %x, %c0 : {memref}
  scf.for %i = %c0 to %n step %step {{
    %v = vector.load %x[%i] : {memref}, {vector}
    {load_second}
    %r = {dialect}.{name} {operands} : {vector}
    vector.store %r, %y[%i] : {memref}, {vector}
  }}
  return
}}"""


LOWERING = ["--convert-scf-to-cf", "--convert-vector-to-llvm", "--expand-strided-metadata", "--finalize-memref-to-llvm",
            "--convert-math-to-llvm", "--convert-arith-to-llvm", "--convert-func-to-llvm", "--convert-cf-to-llvm",
            "--reconcile-unrealized-casts"]


def has_fma():
    """Whether this machine fuses; every AArch64 does."""
    if platform.machine() == "aarch64":
        return True
    with open("/proc/cpuinfo") as file:
        return " fma " in file.read()


def run(command, text=None):
    result = subprocess.run(command, input=text, stdout=subprocess.PIPE, check=False)
    if result.returncode != 0:
        sys.exit(f"failed: {' '.join(command)}")
    return result.stdout


def build(options, names, directory):
    """Compiles the kernels of all names for this machine; returns the loaded libraries."""
    source = "\n".join(kernel(name, element, lanes, name in BINARY)
                       for name in names for element, (_, _, lanes) in TYPES.items())
    fuses = has_fma() and not options.no_fma
    expand = f"-xc-expand-math=has-fma={'true' if fuses else 'false'}"
    expanded = run([options.xc_opt, "-", expand], source.encode())
    lowered = run([os.path.join(options.llvm, "mlir-opt"), "-", *LOWERING], expanded)
    ir = run([os.path.join(options.llvm, "mlir-translate"), "-", "--mlir-to-llvmir"], lowered)
    obj, kernels, reference = (os.path.join(directory, f) for f in ("kernels.o", "kernels.so", "reference.so"))
    run([os.path.join(options.llvm, "llc"), "-", "-O2", "-mcpu=native", "-relocation-model=pic", "-filetype=obj", "-o", obj], ir)
    # No library may be needed: the expansions leave no call.
    run([options.cc, "-shared", "-nostdlib", "-Wl,-z,defs", obj, "-o", kernels])
    here = os.path.dirname(os.path.abspath(__file__))
    run([options.cc, "-O2", "-shared", "-fPIC", os.path.join(here, "reference.c"), "-o", reference, "-lm"])
    library = ctypes.CDLL(reference)
    library.measure.restype = ctypes.c_double
    return ctypes.CDLL(kernels), library


class MemRef(ctypes.Structure):
    _fields_ = [("allocated", ctypes.c_void_p), ("aligned", ctypes.c_void_p), ("offset", ctypes.c_int64),
                ("size", ctypes.c_int64), ("stride", ctypes.c_int64)]

    def __init__(self, array):
        super().__init__(array.ctypes.data, array.ctypes.data, 0, array.size, 1)


def edge_values(dtype):
    info = np.finfo(dtype)
    halves = np.arange(0, 12.5, 0.5)
    values = np.concatenate([
        [0.0, info.smallest_subnormal, info.tiny, info.tiny * (1 - info.eps), info.max, np.inf, np.nan, 1 - info.eps / 2,
         1 + info.eps, np.pi, np.pi / 2, np.pi / 4, np.e, np.log(info.max), -np.log(info.tiny),
         0.41421356, 0.4142136, 2.4142135, 0.5, 1e10, 1e15, 1e22, 1e30], halves, 2.0 ** np.arange(-20, 40)]).astype(dtype)
    values = np.concatenate([values, np.nextafter(values, dtype(np.inf)), np.nextafter(values, dtype(0))])
    return np.concatenate([values, -values])


def samples(element, quick, rng):
    """Numbers of every exponent and sign, and denser where functions do most."""
    dtype, bits, _ = TYPES[element]
    if element == "f32":
        stride = 1021 if quick else 61
        everywhere = np.arange(0, 1 << 32, stride, dtype=np.uint64).astype(np.uint32).view(dtype)
    else:
        everywhere = rng.integers(0, 1 << 64, 1 << (18 if quick else 23), dtype=bits).view(dtype)
    count = 1 << (16 if quick else 21)
    dense = [rng.uniform(-limit, limit, count) for limit in (0.1, 1, 1.5, 4, 30, 110, 800, 1e5, 1e7)]
    near_one = 1 + rng.uniform(-1, 1, count) * 2.0 ** rng.integers(-30, 0, count)
    return np.concatenate([edge_values(dtype), everywhere, *(d.astype(dtype) for d in dense), near_one.astype(dtype)])


def pairs(name, element, quick, rng):
    dtype = TYPES[element][0]
    edges = edge_values(dtype)
    x, z = (grid.ravel() for grid in np.meshgrid(edges, edges))
    count = 1 << (17 if quick else 22)
    scale = lambda spread: 2.0 ** rng.uniform(-spread, spread, count) * rng.choice([-1.0, 1.0], count)
    spread = 120 if element == "f32" else 1000
    more_x, more_z = [scale(spread), scale(4)], [scale(spread), scale(4)]
    if name == "powf":
        # Bases and exponents with results in range.
        base = np.abs(scale(spread))
        limit = (88 if element == "f32" else 708) / np.maximum(np.abs(np.log(base)), 1e-6)
        more_x.append(base)
        more_z.append(rng.uniform(-1, 1, count) * limit)
        more_x.append(-np.abs(scale(4)))
        more_z.append(rng.integers(-20, 20, count).astype(float))
    with np.errstate(over="ignore"):
        return np.concatenate([x, *more_x]).astype(dtype), np.concatenate([z, *more_z]).astype(dtype)


def padded(array, lanes):
    return np.ascontiguousarray(np.concatenate([array, np.ones(-array.size % lanes, array.dtype)]))


def measure(libraries, name, element, options, rng):
    kernels, reference = libraries
    lanes = TYPES[element][2]
    if name in BINARY:
        inputs = [padded(a, lanes) for a in pairs(name, element, options.quick, rng)]
    else:
        inputs = [padded(samples(element, options.quick, rng), lanes)]
    result = np.empty_like(inputs[0])
    function = getattr(kernels, f"_mlir_ciface_{name}_{element}")
    function(*(ctypes.byref(MemRef(a)) for a in [*inputs, result]))
    worst = ctypes.c_int64(0)
    second = inputs[1].ctypes.data if len(inputs) > 1 else None
    error = reference.measure(name.encode(), int(element == "f32"), ctypes.c_void_p(inputs[0].ctypes.data),
                              ctypes.c_void_p(second), ctypes.c_void_p(result.ctypes.data),
                              ctypes.c_int64(result.size), ctypes.byref(worst))
    if error < 0:
        sys.exit(f"reference.c knows no function {name}")
    at = ", ".join(f"{a[worst.value]!r}" for a in inputs)
    return error, at, result[worst.value]


def markdown(rows):
    table = "\n".join(f"| {name} | {f32:.2f} | {f64:.2f} |" for name, f32, f64 in rows)
    return f"""# Accuracy of the math functions

Largest errors found, in units in the last place, of the functions as `-xc-expand-math` builds them (with fused
multiply-add), over all exponents, denormals, infinities and NaN included, and over dense samples where the functions
do most. Measured by `test/math/measure_math.py` against the C library's long double functions. An error of 0.5 is
correct rounding. f16 and bf16 are computed in f32 and rounded once more.

| function | f32 | f64 |
|---|---|---|
{table}

`--fast-math` allows more: denormal results of some functions may be zero, sin, cos and tan lose accuracy above 2^16
(f32) and 2^20 (f64), and pow has a relative error that grows with |y log x|.
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--xc-opt", required=True)
    parser.add_argument("--llvm", default="", help="folder of mlir-opt, mlir-translate and llc, if not on the PATH")
    parser.add_argument("--cc", default="cc")
    parser.add_argument("--quick", action="store_true", help="fewer samples")
    parser.add_argument("--no-fma", action="store_true", help="expand as for a target without fused multiply-add")
    parser.add_argument("--only", help="comma-separated names")
    parser.add_argument("--markdown", help="file to write the table to")
    options = parser.parse_args()
    bounds = {**UNARY, **BINARY}
    names = options.only.split(",") if options.only else list(bounds)
    unknown = [name for name in names if name not in bounds]
    if unknown:
        sys.exit(f"unknown functions: {', '.join(unknown)}; known are {', '.join(bounds)}")
    failures, rows = 0, []
    with tempfile.TemporaryDirectory() as directory, np.errstate(over="ignore"):
        libraries = build(options, names, directory)
        for name in names:
            errors = []
            for index, element in enumerate(TYPES):
                error, at, got = measure(libraries, name, element, options, np.random.default_rng(1))
                bound = bounds[name][index] * (2 if options.no_fma else 1)
                exceeded = not error <= bound
                failures += exceeded
                errors.append(error)
                print(f"{name:6} {element}: {error:8.3f} ulp at {at} -> {got!r}{'  EXCEEDS ' + str(bound) if exceeded else ''}")
            rows.append((name, *errors))
    if options.markdown:
        with open(options.markdown, "w") as file:
            file.write(markdown(rows))
    if failures:
        sys.exit(f"{failures} functions exceed their bounds")
    print("all functions are within their bounds")


if __name__ == "__main__":
    main()
