"""Writes cases, their compiled modules, inputs and references into a folder, for test/e2e/bundle/xc-e2e.cpp to run."""
import hashlib
import pathlib
import shutil

import numpy as np

import harness
import tensors
import tolerances


# Bits of a significand.
BITS = {"bf16": 8, "f16": 11, "f32": 24}
MORE = 12


def shorten(values, dtype):
    """References, rounded to 12 bits more than the type has that they are compared in: the others are noise that does not compress."""
    if dtype not in BITS:
        return values
    significand, exponent = np.frexp(values)
    scale = 2.0 ** (BITS[dtype] + MORE)
    with np.errstate(all="ignore"):
        rounded = np.ldexp(np.rint(significand * scale) / scale, exponent)
    return np.where(np.isfinite(rounded), rounded, values)


class Writer:
    """Collects the statements of cases.txt (its form is in test/e2e/bundle/CaseFile.h) and the files that they name."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        (self.folder / "data").mkdir(parents=True, exist_ok=True)
        self.lines, self.modules, self.written = [], 0, {}

    def file(self, data, suffix):
        """The name of a file with these bytes; equal bytes are kept once."""
        name = f"data/{hashlib.sha256(data).hexdigest()[:16]}{suffix}"
        if name not in self.written:
            (self.folder / name).write_bytes(data)
            self.written[name] = True
        return name

    def array(self, values):
        path = self.folder / "array.npy"
        np.save(path, values)
        data = path.read_bytes()
        path.unlink()
        return self.file(data, ".npy")

    def tensor(self, tensor):
        # As the tools take it: NumPy has no bfloat16, its bits are two-byte voids.
        dtype = "V2" if tensor.dtype == "bf16" else tensors.NUMPY[tensor.dtype]
        return self.array(np.frombuffer(tensor.encode(), dtype).reshape(tensor.shape))

    def step(self, case, step):
        self.lines.append(f"call {harness.symbol_of(case)}{step.function} {step.launches}")
        self.lines += [f"input {tensor.dtype} {self.tensor(tensor)}" for tensor in step.inputs]
        if step.error is not None:
            if "\\d" in step.error:
                raise ValueError(f"xc-e2e reads extended regular expressions, which have no \\d: {step.error}")
            self.lines.append(f"error {step.error}")
            return
        for dtype, values in step.expected:
            absolute, relative = tolerances.tolerance(case.kind, dtype)
            kept = np.float64 if dtype in tensors.FLOATS else tensors.NUMPY[dtype]
            # Integers are compared modulo their type, as harness.compare does.
            name = self.array(shorten(np.asarray(values).astype(kept), dtype))
            self.lines.append(f"want {dtype} {absolute!r} {relative!r} {name}")

    def add(self, module, cases):
        name = f"module{self.modules}.vmfb"
        self.modules += 1
        shutil.copyfile(module, self.folder / name)
        self.lines.append(f"module {name}")
        for case in cases:
            self.lines.append(f"case {case.memory} {case.name}")
            for scope, path in case.parameters:
                path = pathlib.Path(path)
                self.lines.append(f"parameters {scope} {self.file(path.read_bytes(), path.suffix)}")
            for step in case.steps:
                self.step(case, step)

    def finish(self):
        (self.folder / "cases.txt").write_text("\n".join(self.lines) + "\n")
