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


FILL = """    %i = array.iota axis = 0 : tensor<COUNTxi64>
    %m = array.constant dense<113> : tensor<i64>
    %r = array.rem %i, %m : (tensor<COUNTxi64>, tensor<i64>) -> tensor<COUNTxi64>
    %b = array.convert %r : tensor<COUNTxi64> -> KIND
"""


def moved():
    """Elements at positions that are data, and the two parts of an array changing places."""
    kind, half = f"tensor<{COUNT}xi8>", COUNT // 2 + 3
    at = np.array(PLACES + [COUNT - 1])
    before = np.concatenate([pattern(place, 1) for place in at])
    text, names = slices("v")
    looks = [("i8", (np.arange(first, first + 7) + half) % COUNT % 113) for first in PLACES]
    result = ", ".join(["tensor<7xi8>"] * len(PLACES))
    fill = FILL.replace("COUNT", str(COUNT)).replace("KIND", kind)
    yield Case("gather_scatter_concatenate", f"""  array.variable @NAME_v : {kind}
  func.func @NAME_fill() {{
{fill}    array.variable.assign @NAME_v, %b : {kind}
    return
  }}
  func.func @NAME_take(%at: tensor<{len(at)}xi64>) -> tensor<{len(at)}xi8> {{
    %v = array.variable.read @NAME_v : {kind}
    %t = array.take %v[%at] axis = 0 : ({kind}, tensor<{len(at)}xi64>) -> tensor<{len(at)}xi8>
    return %t : tensor<{len(at)}xi8>
  }}
  func.func @NAME_add(%at: tensor<{len(at)}x1xi64>, %u: tensor<{len(at)}xi8>) {{
    %v = array.variable.read @NAME_v : {kind}
    %w = array.scatter add, %v[%at] axes = [0] = %u : ({kind}, tensor<{len(at)}x1xi64>, tensor<{len(at)}xi8>) -> {kind}
    array.variable.assign @NAME_v, %w : {kind}
    return
  }}
  func.func @NAME_put(%at: tensor<i64>, %u: tensor<2xi8>) {{
    %v = array.variable.read @NAME_v : {kind}
    %w = array.dynamic_update_slice %v[%at] = %u : ({kind}, tensor<2xi8>, tensor<i64>) -> {kind}
    array.variable.assign @NAME_v, %w : {kind}
    return
  }}
  func.func @NAME_turn() {{
    %v = array.variable.read @NAME_v : {kind}
    %a = array.slice %v [0:{half}] : {kind} -> tensor<{half}xi8>
    %b = array.slice %v [{half}:{COUNT}] : {kind} -> tensor<{COUNT - half}xi8>
    %w = array.concatenate %b, %a axis = 0 : (tensor<{COUNT - half}xi8>, tensor<{half}xi8>) -> {kind}
    array.variable.assign @NAME_v, %w : {kind}
    return
  }}
  func.func @NAME_look() -> ({result}) {{
    %v = array.variable.read @NAME_v : {kind}
{text}    return {names} : {result}
  }}
""", [Step([], [], "_fill"), Step([Tensor("i64", at)], [("i8", before)], "_take"), Step([], [], "_turn"), Step([], looks, "_look"),
      Step([], [], "_fill"), Step([Tensor("i64", at[:, None]), Tensor("i8", np.arange(1, 6))], [], "_add"),
      Step([Tensor("i64", at[2] + 1), Tensor("i8", [-5, -6])], [], "_put"),
      Step([Tensor("i64", at)], [("i8", before + np.arange(1, 6))], "_take"),
      Step([Tensor("i64", [at[2] + 1, at[2] + 2, at[2] + 3, 1, 1])], [("i8", [-5, -6, *pattern(at[2] + 3, 1), 1, 1])], "_take")],
               "exact", memory=MEMORY, alone=True)


def product():
    """A matrix product with more than 2**31 results; all numbers are small integers, so bf16 has them exactly."""
    rows, columns, depth = 65537, 32771, 16
    kind = f"tensor<{rows}x{columns}xbf16>"

    def part(i, j):
        k = np.arange(depth)
        return (((i[:, None] * depth + k) % 7 - 3) @ ((k[:, None] * columns + j) % 5 - 2)).astype(np.float64)
    ends = [(np.arange(3), np.arange(4)), (np.arange(rows - 3, rows), np.arange(columns - 4, columns))]

    def matrix(name, shape, modulus, offset):
        type = f"tensor<{shape[0]}x{shape[1]}xi64>"
        return f"""    %{name}i = array.iota axis = 0 : {type}
    %{name}s = array.constant dense<{shape[1]}> : tensor<i64>
    %{name}b = array.mul %{name}i, %{name}s : ({type}, tensor<i64>) -> {type}
    %{name}j = array.iota axis = 1 : {type}
    %{name}n = array.add %{name}b, %{name}j : {type}
    %{name}m = array.constant dense<{modulus}> : tensor<i64>
    %{name}r = array.rem %{name}n, %{name}m : ({type}, tensor<i64>) -> {type}
    %{name}o = array.constant dense<{offset}> : tensor<i64>
    %{name}d = array.sub %{name}r, %{name}o : ({type}, tensor<i64>) -> {type}
    %{name} = array.convert %{name}d : {type} -> {type.replace("i64", "bf16")}
"""
    yield Case("product", f"""  array.variable @NAME_v : {kind}
  func.func @NAME_compute() {{
{matrix("a", (rows, depth), 7, 3)}{matrix("w", (depth, columns), 5, 2)}    %y = array.matmul %a, %w : (tensor<{rows}x{depth}xbf16>, tensor<{depth}x{columns}xbf16>) -> {kind}
    array.variable.assign @NAME_v, %y : {kind}
    return
  }}
  func.func @NAME_look() -> (tensor<3x4xbf16>, tensor<3x4xbf16>) {{
    %v = array.variable.read @NAME_v : {kind}
    %a = array.slice %v [0:3, 0:4] : {kind} -> tensor<3x4xbf16>
    %b = array.slice %v [{rows - 3}:{rows}, {columns - 4}:{columns}] : {kind} -> tensor<3x4xbf16>
    return %a, %b : tensor<3x4xbf16>, tensor<3x4xbf16>
  }}
""", [Step([], [], "_compute"), Step([], [("bf16", part(*end)) for end in ends], "_look")], "exact", memory=MEMORY, alone=True)


def cases():
    yield from moved()
    yield from product()
    yield from one_dim()
    yield from two_dims()
