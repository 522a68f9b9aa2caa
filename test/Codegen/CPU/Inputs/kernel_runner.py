"""Compiles one kernel module with xc-opt, links it, and calls it as the runtime would (schemas/cpu_kernel_abi.h)."""
import ctypes
import os
import re
import subprocess
import tempfile

import numpy as np

DTYPES = {"f32": np.float32, "f64": np.float64, "f16": np.float16, "bf16": np.uint16, "i8": np.int8, "i16": np.int16,
          "i32": np.int32, "i64": np.int64}


def bf16_to_f32(bits):
    return (bits.astype(np.uint32) << 16).view(np.float32)


def f32_to_bf16(values):
    bits = np.asarray(values, np.float32).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


class Formula:
    """Evaluates the text of a formula without functions."""

    def __init__(self, text, symbols):
        self.tokens = re.findall(r"\d+|s\d+|ceildiv|floordiv|mod|[-+*()]", text)
        self.symbols = symbols

    def take(self):
        return self.tokens.pop(0)

    def atom(self):
        token = self.take()
        if token == "(":
            value = self.sum()
            self.take()
            return value
        if token == "-":
            return -self.atom()
        return self.symbols[int(token[1:])] if token[0] == "s" else int(token)

    def product(self):
        value = self.atom()
        while self.tokens and self.tokens[0] in ("*", "ceildiv", "floordiv", "mod"):
            operator, right = self.take(), self.atom()
            if operator == "*":
                value *= right
            elif operator == "ceildiv":
                value = -(-value // right)
            elif operator == "floordiv":
                value //= right
            else:
                value %= right
        return value

    def sum(self):
        value = self.product()
        while self.tokens and self.tokens[0] in ("+", "-"):
            value = value + self.product() if self.take() == "+" else value - self.product()
        return value


def split_top_level(text):
    parts, depth, start = [], 0, 0
    for position, char in enumerate(text):
        depth += (char == "(") - (char == ")")
        if char == "," and depth == 0:
            parts.append(text[start:position])
            start = position + 1
    return parts + [text[start:]]


def aligned(array, alignment=64):
    """A copy of |array| whose address is a multiple of |alignment|."""
    raw = np.zeros(array.nbytes + alignment, np.uint8)
    start = -raw.ctypes.data % alignment
    view = raw[start:start + array.nbytes].view(array.dtype).reshape(array.shape)
    view[...] = array
    return view


class Kernel:
    """A kernel module, compiled and loaded."""

    def __init__(self, text, options="", xc_opt="xc-opt", lld="ld.lld"):
        self.directory = tempfile.TemporaryDirectory()
        path = lambda name: os.path.join(self.directory.name, name)
        with open(path("kernel.mlir"), "w") as file:
            file.write(text)
        result = subprocess.run([xc_opt, path("kernel.mlir"), f"-xc-cpu-codegen=object-file={path('kernel.o')} {options}"],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if result.returncode != 0:
            raise RuntimeError(f"the kernel does not compile:\n{result.stderr}\n{text}")
        subprocess.run([lld, "-shared", "-z", "defs", path("kernel.o"), "-o", path("kernel.so")], check=True)
        self.library = ctypes.CDLL(path("kernel.so"))
        self.name = re.search(r'name = "([^"]+)"', result.stdout).group(1)
        self.config = re.search(r"config = (#cpu\.\w+)", result.stdout).group(1)
        launch = re.search(r"grid = \[(.*?)\], block.*?scratch = (\d+)", result.stdout)
        self.grid = split_top_level(launch.group(1))
        self.scratch = int(launch.group(2))
        self.function = getattr(self.library, self.name)

    def get_grid(self, scalars):
        return [Formula(part, scalars).sum() for part in self.grid]

    def run(self, bindings, scalars=()):
        """Runs every workgroup, last one first: their order must not matter."""
        pointers = (ctypes.c_void_p * len(bindings))(*[array.ctypes.data for array in bindings])
        numbers = (ctypes.c_int64 * max(1, len(scalars)))(*scalars)
        scratch = aligned(np.full(max(1, self.scratch), 0xAB, np.uint8))
        x, y, z = self.get_grid(scalars)
        call = lambda i, j, k: self.function(pointers, numbers, ctypes.c_void_p(scratch.ctypes.data), ctypes.c_int64(i),
                                             ctypes.c_int64(j), ctypes.c_int64(k))
        for k in reversed(range(z)):
            for j in reversed(range(y)):
                for i in reversed(range(x)):
                    call(i, j, k)


def build_kernel(name, bindings, scalars, body, arch="x86-64-v3"):
    """Text of a kernel module. |bindings|: (shape, type, access) with None for a dynamic dim taken from the next scalar
    in `sizes`; |body| uses %a0, %a1, ... for the tensors read and defines %r0, %r1, ... for those written."""
    lines = [f'builtin.module @{name} attributes {{plan.kernel, plan.target = #plan.target<"cpu", "{arch}">}} {{',
             f"  func.func @{name}() {{"]
    for index in range(scalars):
        lines.append(f"    %s{index} = plan.scalar {index} : index")
    reads, writes = [], []
    for ordinal, (shape, dtype, access) in enumerate(bindings):
        dims = "".join("?x" if isinstance(dim, str) else f"{dim}x" for dim in shape)
        sizes = [f"%{dim}" for dim in shape if isinstance(dim, str)]
        suffix = f" sizes({', '.join(sizes)})" if sizes else ""
        lines.append(f"    %b{ordinal} = plan.binding {ordinal} {access} align 64{suffix} : memref<{dims}{dtype}>")
        (reads if access == "read" else writes).append((ordinal, f"{dims}{dtype}"))
    for index, (ordinal, type_) in enumerate(reads):
        lines.append(f"    %a{index} = bufferization.to_tensor %b{ordinal} restrict : memref<{type_}> to tensor<{type_}>")
    lines.append(body)
    for index, (ordinal, type_) in enumerate(writes):
        lines.append(f"    bufferization.materialize_in_destination %r{index} in restrict writable %b{ordinal} : "
                     f"(tensor<{type_}>, memref<{type_}>) -> ()")
    lines += ["    return", "  }", "}"]
    return "\n".join(lines)
