"""Arrays of symbolic sizes that may have more than 2**31 elements, called with small sizes, and with such where a device has the memory.
Each is the outer sum of two vectors, which are all that has to be brought there; of what an op makes of it, a few elements are read."""
import numpy as np

from harness import Case, Step
from tensors import Tensor, mlir_type

SIZES = {"small": [(33, 70), (1, 1), (257, 129)], "large": [(65537, 32771), (300, 200)]}


def rows_and_columns(rows, columns, dtype):
    return Tensor(dtype, np.arange(rows) * 5 % 23 - 11), Tensor(dtype, np.arange(columns) * 7 % 31 - 15)


def places(rows, columns):
    """Corners of the array, its middle, and where 32 bits end."""
    count = rows * columns
    linear = np.array([0, count - 1, count // 2, columns - 1, count - columns, min(2 ** 31 - 1, count - 1), min(2 ** 31, count - 1)], np.int64)
    return np.stack([linear // columns, linear % columns], 1)


def outer(name, size, dtype, op, reference, kind="exact", turned=False):
    """`reference(row, column, vectors)` is the element there."""
    arrow = "" if op.startswith("softmax") else f" -> {mlir_type(dtype, (None, None))}"
    whole, element = mlir_type(dtype, (None, None)), mlir_type(dtype, (7,))
    text = f"""  func.func @NAME(%x: {mlir_type(dtype, (None,))}, %y: {mlir_type(dtype, (None,))}, %at: tensor<7x2xi64>) -> {element} {{
    %a = array.expand_dims %x axes = [1] : {mlir_type(dtype, (None,))} -> {mlir_type(dtype, (None, 1))}
    %b = array.expand_dims %y axes = [0] : {mlir_type(dtype, (None,))} -> {mlir_type(dtype, (1, None))}
    %v = array.add %a, %b : ({mlir_type(dtype, (None, 1))}, {mlir_type(dtype, (1, None))}) -> {whole}
    %w = array.{op} : {whole}{arrow}
    %r = array.gather %w[%at] axes = [0, 1] : ({whole}, tensor<7x2xi64>) -> {element}
    return %r : {element}
  }}
"""
    steps, memory = [], 0
    for sizes in SIZES[size]:
        x, y = rows_and_columns(*sizes, dtype)
        at = places(*(sizes[::-1] if turned else sizes))
        steps.append(Step([x, y, Tensor("i64", at)], [(dtype, np.array([reference(i, j, x.values, y.values) for i, j in at]))]))
        memory = max(memory, 12 * np.prod(sizes, dtype=np.int64) * (1 if dtype == "i8" else 2))
    return Case(f"{name}_{size}", text, steps, kind, memory=int(memory) if size == "large" else 0, alone=size == "large")


def products(size):
    """Two thin factors of a large result."""
    depth = 16
    text = f"""  func.func @NAME(%x: tensor<?x{depth}xbf16>, %y: tensor<{depth}x?xbf16>, %at: tensor<7x2xi64>) -> tensor<7xbf16> {{
    %w = array.matmul %x, %y : (tensor<?x{depth}xbf16>, tensor<{depth}x?xbf16>) -> tensor<?x?xbf16>
    %r = array.gather %w[%at] axes = [0, 1] : (tensor<?x?xbf16>, tensor<7x2xi64>) -> tensor<7xbf16>
    return %r : tensor<7xbf16>
  }}
"""
    steps = []
    for rows, columns in SIZES[size]:
        x = Tensor("bf16", np.arange(rows * depth).reshape(rows, depth) % 7 - 3)
        y = Tensor("bf16", np.arange(columns * depth).reshape(depth, columns) % 5 - 2)
        at = places(rows, columns)
        steps.append(Step([x, y, Tensor("i64", at)], [("bf16", np.array([x.values[i] @ y.values[:, j] for i, j in at]))]))
    return Case(f"product_{size}", text, steps, "exact", memory=(16 << 30) * (size == "large"), alone=size == "large")


def softmax(i, j, x, y):
    return np.exp(y[j]) / np.exp(y).sum()


def cases():
    for size in ("small", "large"):
        yield outer("sort_rows", size, "i8", "sort %v axis = 1", lambda i, j, x, y: np.partition(x[i] + y, j)[j])
        yield outer("sort_columns", size, "i8", "sort %v axis = 0", lambda i, j, x, y: np.partition(x + y[j], i)[i])
        yield outer("scan_rows", size, "i8", "cumsum %v axis = 1", lambda i, j, x, y: (x[i] + y[:j + 1]).astype(np.int64).sum())
        yield outer("scan_columns", size, "i8", "cumsum %v axis = 0", lambda i, j, x, y: (x[:i + 1] + y[j]).astype(np.int64).sum())
        yield outer("softmax_rows", size, "bf16", "softmax %v axis = 1", softmax, "composite")
        yield outer("transpose", size, "i8", "transpose %v permutation = [1, 0]", lambda i, j, x, y: x[j] + y[i], turned=True)
        yield products(size)
