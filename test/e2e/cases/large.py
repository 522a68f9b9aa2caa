"""More than 2**31 elements in one array, which only 64-bit index arithmetic reaches. These cases run where a device has the memory: on a
GPU (`run.py --device=cuda`, or the bundle), never on the CPU or on the stand-in."""
import numpy as np

from harness import Case, Step
from tensors import Tensor

COUNT = 2 ** 31 + 4099  # elements, one byte each; odd, so that a tail remains
MEMORY = 16 << 30
PLACES = [0, 2 ** 31 - 5, 2 ** 31, COUNT - 7]  # where seven elements are looked at


def pattern(first, count):
    """What element i holds: its number modulo 113, so that any offset by a power of two shows."""
    return (np.arange(first, first + count, dtype=np.int64) % 113).astype(np.int8)


def slices(source):
    text, names = "", []
    for i, first in enumerate(PLACES):
        names.append(f"%s{i}")
        text += (f"    %s{i} = array.slice %{source} [{first}:{first + 7}]"
                 f"        : tensor<{COUNT}xi8> -> tensor<7xi8>\n")
    return text, ", ".join(names)


def sum_below(n):
    """The sum of i % 113 over i < n."""
    return n // 113 * (112 * 113 // 2) + (n % 113) * (n % 113 - 1) // 2


def one_dim():
    kind, result = f"tensor<{COUNT}xi8>", ", ".join(["tensor<7xi8>"] * len(PLACES))
    text, names = slices("v")
    # A variable holds the array between calls, so that each kernel works on all of it in memory.
    yield Case("elementwise_and_reduce", f"""  array.variable @NAME_v : {kind}
  func.func @NAME_fill() {{
    %i = array.iota axis = 0 : tensor<{COUNT}xi64>
    %m = array.constant dense<113> : tensor<i64>
    %r = array.rem %i, %m : (tensor<{COUNT}xi64>, tensor<i64>) -> tensor<{COUNT}xi64>
    %b = array.convert %r : tensor<{COUNT}xi64> -> {kind}
    array.variable.assign @NAME_v, %b : {kind}
    return
  }}
  func.func @NAME_look() -> ({result}) {{
    %v = array.variable.read @NAME_v : {kind}
{text}    return {names} : {result}
  }}
  func.func @NAME_add(%x: tensor<i8>) {{
    %v = array.variable.read @NAME_v : {kind}
    %w = array.add %v, %x : ({kind}, tensor<i8>) -> {kind}
    array.variable.assign @NAME_v, %w : {kind}
    return
  }}
  func.func @NAME_sum() -> (tensor<i64>) {{
    %v = array.variable.read @NAME_v : {kind}
    %w = array.convert %v : {kind} -> tensor<{COUNT}xi64>
    %s = array.reduce sum, %w axes = [0] : tensor<{COUNT}xi64> -> tensor<i64>
    return %s : tensor<i64>
  }}
""", [Step([], [], "_fill"),
      Step([], [("i8", pattern(first, 7)) for first in PLACES], "_look"),
      Step([Tensor("i8", 3)], [], "_add"),
      Step([], [("i8", pattern(first, 7) + 3) for first in PLACES], "_look"),
      Step([], [("i64", np.int64(sum_below(COUNT) + 3 * COUNT))], "_sum")],
               "exact", memory=MEMORY, alone=True)


def two_dims():
    """A transpose and reductions of both axes, whose offsets pass 2**31 in the last rows."""
    rows, columns = 32771, 65537
    kind, turned = f"tensor<{rows}x{columns}xi8>", f"tensor<{columns}x{rows}xi8>"
    wide = f"tensor<{rows}x{columns}xi64>"
    first = np.arange(rows, dtype=np.int64) * columns
    residues = np.bincount(first % 113, minlength=113)
    of_columns = np.array([(residues * ((np.arange(113) + c) % 113)).sum() for c in range(113)])
    last = np.array([(first[rows - 4:] + c) % 113 for c in range(columns - 3, columns)], np.int8)
    yield Case("transpose_and_sums", f"""  array.variable @NAME_v : {kind}
  array.variable @NAME_w : {turned}
  func.func @NAME_fill() {{
    %i = array.iota axis = 0 : {wide}
    %n = array.constant dense<{columns}> : tensor<i64>
    %s = array.mul %i, %n : ({wide}, tensor<i64>) -> {wide}
    %j = array.iota axis = 1 : {wide}
    %k = array.add %s, %j : {wide}
    %m = array.constant dense<113> : tensor<i64>
    %r = array.rem %k, %m : ({wide}, tensor<i64>) -> {wide}
    %b = array.convert %r : {wide} -> {kind}
    array.variable.assign @NAME_v, %b : {kind}
    return
  }}
  func.func @NAME_turn() {{
    %v = array.variable.read @NAME_v : {kind}
    %t = array.transpose %v permutation = [1, 0] : {kind} -> {turned}
    array.variable.assign @NAME_w, %t : {turned}
    return
  }}
  func.func @NAME_look() -> (tensor<3x4xi8>) {{
    %w = array.variable.read @NAME_w : {turned}
    %s = array.slice %w [{columns - 3}:{columns}, {rows - 4}:{rows}] : {turned} -> tensor<3x4xi8>
    return %s : tensor<3x4xi8>
  }}
  func.func @NAME_sums() -> (tensor<{rows}xi64>, tensor<{columns}xi64>) {{
    %v = array.variable.read @NAME_v : {kind}
    %w = array.convert %v : {kind} -> {wide}
    %r = array.reduce sum, %w axes = [1] : {wide} -> tensor<{rows}xi64>
    %c = array.reduce sum, %w axes = [0] : {wide} -> tensor<{columns}xi64>
    return %r, %c : tensor<{rows}xi64>, tensor<{columns}xi64>
  }}
""", [Step([], [], "_fill"), Step([], [], "_turn"), Step([], [("i8", last)], "_look"),
      Step([], [("i64", sum_below(first + columns) - sum_below(first)), ("i64", of_columns[np.arange(columns) % 113])], "_sums")],
               "exact", memory=2 * MEMORY, alone=True)


def cases():
    yield from one_dim()
    yield from two_dims()
