"""Sorts, scans, softmax, searches, copies and random numbers of arrays with more than 2**31 elements, and the same of small ones, which
run everywhere. What a device has not the memory for is skipped there."""
import numpy as np

from cases import generators
from cases.large import sum_below
from held import MODULUS, Program, number, numbered
from tensors import mlir_type

LINE = {"small": 2 ** 12 + 39, "large": 2 ** 31 + 4099}
ROWS = {"small": (17, 205), "large": (1048577, 2051)}       # many short ones
SQUARE = {"small": (131, 77), "large": (65537, 32771)}


class SortedLine:
    """The numbers below `count` modulo MODULUS in order, equals in the order of their places."""

    def __init__(self, count):
        counts = (count - 1 - np.arange(MODULUS)) // MODULUS + 1
        self.ends, self.begins = np.cumsum(counts), np.cumsum(counts) - counts

    def value(self, place):
        return np.searchsorted(self.ends, place, "right")

    def index(self, place):
        value = self.value(place)
        return value + MODULUS * (place - self.begins[value])


def sorts_of_a_line(size):
    count = LINE[size]
    line, kind = SortedLine(count), mlir_type("i8", (count,))
    p = Program(f"sort_line_{size}")
    p.make("v", "i8", (count,))
    p.variable("w", "i8", (count,))
    p.call(f"%s = array.sort %v axis = 0 : {kind} -> {kind}", w="s")
    p.look("w", line.value)
    p.see(f"""%x = array.constant dense<[0, 56, 112, 113]> : tensor<4xi8>
        %i = array.searchsorted %w, %x : ({kind}, tensor<4xi8>) -> tensor<4xi64>""",
          [("i", "i64", np.array([*line.begins[[0, 56, 112]], count]))])
    yield p.case(scratch=16)

    p = Program(f"argsort_line_{size}")
    p.make("v", "i8", (count,))
    p.variable("i", "i64", (count,))
    p.call(f"%s = array.argsort %v axis = 0 : {kind} -> {p.type('i')}", i="s")
    p.look("i", line.index)
    p.see(f"%a, %b = array.topk %v k = 5 axis = 0 : {kind} -> tensor<5xi8>, tensor<5xi64>",
          [("a", "i8", np.full(5, 112)), ("b", "i64", 112 + MODULUS * np.arange(5))])
    yield p.case(scratch=4)


def sorts_of_rows(size):
    for axis, shape in ((1, ROWS[size]), (0, ROWS[size][::-1])):
        kind, most = mlir_type("i8", shape), 3
        kept = (shape[0], most) if axis else (most, shape[1])

        def along(result):
            """What `result` makes of whole rows (or columns), at the places that are asked for."""
            def formula(*at):
                place = [at[0], np.arange(shape[1])[None]] if axis else [np.arange(shape[0])[:, None], at[1]]
                return np.take_along_axis(result(numbered(shape)(*place)), at[axis], axis)
            return formula
        p = Program(f"sort_axis{axis}_{size}")
        p.make("v", "i8", shape)
        for name, dtype, dims in (("w", "i8", shape), ("a", "i8", kept), ("b", "i64", kept)):
            p.variable(name, dtype, dims)
        p.call(f"%s = array.sort %v axis = {axis} : {kind} -> {kind}", w="s")
        p.look("w", along(lambda x: np.sort(x, axis)))
        p.call(f"%x, %y = array.topk %v k = {most} axis = {axis} : {kind} -> {p.type('a')}, {p.type('b')}", a="x", b="y")
        p.look("a", along(lambda x: -np.sort(-x, axis)))
        p.look("b", along(lambda x: np.argsort(-x, axis, "stable")))
        yield p.case(scratch=12)


def scans(size):
    count = LINE[size]
    kind = mlir_type("i8", (count,))
    p = Program(f"scan_line_{size}")
    p.make("v", "i8", (count,))
    p.variable("w", "i8", (count,))
    p.call(f"%s = array.cumsum %v axis = 0 : {kind} -> {kind}", w="s")
    p.look("w", lambda at: sum_below(at + 1))
    p.call(f"%s = array.cumsum %v axis = 0 exclusive reverse : {kind} -> {kind}", w="s")
    p.look("w", lambda at: sum_below(count) - sum_below(at + 1))
    yield p.case()

    for axis, shape in ((1, ROWS[size]), (0, ROWS[size][::-1]), (0, SQUARE[size]), (1, SQUARE[size])):
        kind = mlir_type("i8", shape)
        name = f"{'square_' if shape == SQUARE[size] else ''}axis{axis}"

        def formula(*at):
            if axis == 1:
                first = at[0] * shape[1]
                return sum_below(first + at[1] + 1) - sum_below(first)
            residues = number(shape, np.arange(shape[0])[:, None], at[1]) % MODULUS
            return np.take_along_axis(np.cumsum(residues, 0), at[0], 0)
        p = Program(f"scan_{name}_{size}")
        p.make("v", "i8", shape)
        p.variable("w", "i8", shape)
        p.call(f"%s = array.cumsum %v axis = {axis} : {kind} -> {kind}", w="s")
        p.look("w", formula)
        yield p.case()


def searches(size):
    """One element that differs from all others, behind the 2**31st."""
    count = LINE[size]
    kind, place = mlir_type("i8", (count,)), count - 1000
    truth = kind.replace("i8", "i1")
    p = Program(f"search_{size}")
    p.variable("v", "i8", (count,))
    p.call(f"""%i = array.iota axis = 0 : {mlir_type('i64', (count,))}
        %p = array.constant dense<{place}> : tensor<i64>
        %e = array.compare eq, %i, %p : ({mlir_type('i64', (count,))}, tensor<i64>) -> {truth}
        %x = array.convert %e : {truth} -> {kind}""", v="x")
    p.see(f"%i = array.argmax %v axis = 0 : {kind} -> tensor<i64>", [("i", "i64", np.int64(place))])
    p.see(f"%i, %n = array.nonzero %v size = 3 : {kind} -> tensor<3x1xi64>, tensor<i64>", [("n", "i64", np.int64(1))])
    p.see(f"%m = array.reduce max, %v axes = [0] : {kind} -> tensor<i8>", [("m", "i8", np.int8(1))])
    p.see(f"""%i, %n = array.nonzero %v size = 3 : {kind} -> tensor<3x1xi64>, tensor<i64>
        %f = array.slice %i [0:1, 0:1] : tensor<3x1xi64> -> tensor<1x1xi64>""", [("f", "i64", np.array([[place]]))])
    yield p.case(scratch=34)


def softmaxes(size):
    """Rows, columns and all of an array."""
    shape, dtype = SQUARE[size], "bf16"
    values = numbered(shape, 7, 3)

    def softmax(axis):
        def formula(*at):
            place = [at[0], np.arange(shape[1])[None]] if axis else [np.arange(shape[0])[:, None], at[1]]
            return np.exp(values(*at)) / np.exp(values(*place)).sum(axis, keepdims=True)
        return formula

    def norm(*at):
        row = values(at[0], np.arange(shape[1])[None])
        return (values(*at) - row.mean(1, keepdims=True)) / np.sqrt(row.var(1, keepdims=True) + 1e-5)
    for name, op, formula in (("softmax_axis1", "softmax %v axis = 1", softmax(1)), ("softmax_axis0", "softmax %v axis = 0", softmax(0)),
                              ("layer_norm", "layer_norm %v axis = 1 epsilon = 1.0e-5", norm)):
        p = Program(f"{name}_{size}")
        p.make("v", dtype, shape, modulus=7, less=3)
        p.variable("w", dtype, shape)
        p.call(f"%s = array.{op} : {p.type('v')}", w="s")
        p.look("w", formula)
        yield p.case("composite")

    count = LINE[size]
    counts = (count - 1 - np.arange(7)) // 7 + 1
    total = (counts * np.exp(np.arange(7) - 3)).sum()
    p = Program(f"softmax_line_{size}")
    p.make("v", "bf16", (count,), modulus=7, less=3)
    p.variable("w", "bf16", (count,))
    p.call(f"%s = array.softmax %v axis = 0 : {p.type('v')}", w="s")
    p.look("w", lambda at: np.exp(at % 7 - 3) / total)
    yield p.case("composite")


def rows_at_places(size):
    """A large table and a large result."""
    table, rows = {"small": 7, "large": 1031}[size], ROWS[size][0]
    columns = ROWS[size][1]
    p = Program(f"take_{size}")
    p.make("t", "i8", (table, columns))
    p.make("i", "i64", (rows,), modulus=table)
    p.variable("w", "i8", (rows, columns))
    p.call(f"%s = array.take %t[%i] axis = 0 : ({p.type('t')}, {p.type('i')}) -> {p.type('w')}", w="s")
    p.look("w", lambda i, j: number((table, columns), i % table, j) % MODULUS)
    p.call(f"%s = array.reverse %w axes = [0, 1] : {p.type('w')} -> {p.type('w')}", w="s")
    p.look("w", lambda i, j: number((table, columns), (rows - 1 - i) % table, columns - 1 - j) % MODULUS)
    yield p.case(scratch=2)

    # Few rows of a large table, read and added to.
    shape, kept = ROWS[size], 5
    p = Program(f"gather_scatter_{size}")
    p.make("v", "i8", shape)
    p.make("u", "i8", (kept, shape[1]), modulus=11)
    places = np.array([0, shape[0] // 2, shape[0] - 2, 1, shape[0] - 1])
    p.variable("w", "i8", (kept, shape[1]))
    rows_read = f"%i = array.constant dense<{places.tolist()}> : tensor<{kept}xi64>"
    p.call(f"""{rows_read}
        %s = array.take %v[%i] axis = 0 : ({p.type('v')}, tensor<{kept}xi64>) -> {p.type('w')}""", w="s")
    p.look("w", lambda i, j: number(shape, places[i], j) % MODULUS)
    p.call(f"""%i = array.constant dense<{places[:, None].tolist()}> : tensor<{kept}x1xi64>
        %s = array.scatter add, %v[%i] axes = [0] = %u : ({p.type('v')}, tensor<{kept}x1xi64>, {p.type('u')}) -> {p.type('v')}""", v="s")
    p.call(f"""{rows_read}
        %s = array.take %v[%i] axis = 0 : ({p.type('v')}, tensor<{kept}xi64>) -> {p.type('w')}""", w="s")
    p.look("w", lambda i, j: number(shape, places[i], j) % MODULUS + number((kept, shape[1]), i, j) % 11)
    columns_read = np.array([0, shape[1] - 1, shape[1] // 2])
    p.variable("c", "i8", (shape[0], 3))
    p.make("v2", "i8", shape)
    p.call(f"""%i = array.constant dense<{columns_read.tolist()}> : tensor<3xi64>
        %s = array.take %v2[%i] axis = 1 : ({p.type('v2')}, tensor<3xi64>) -> {p.type('c')}""", c="s")
    p.look("c", lambda i, j: number(shape, i, columns_read[j]) % MODULUS)
    yield p.case()


def copies(size):
    """Concatenation along rows, padding, rolls and transposes of three and four dims."""
    rows, columns = ROWS[size]
    left = columns // 2
    p = Program(f"concatenate_pad_roll_{size}")
    p.make("a", "i8", (rows, left))
    p.make("b", "i8", (rows, columns - left), modulus=11)
    p.variable("w", "i8", (rows, columns))
    p.call(f"%s = array.concatenate %a, %b axis = 1 : ({p.type('a')}, {p.type('b')}) -> {p.type('w')}", w="s")

    def joined(i, j):
        return np.where(j < left, number((rows, left), i, j) % MODULUS, number((rows, columns - left), i, j - left) % 11)
    p.look("w", joined)
    p.variable("x", "i8", (rows + 3, columns + 2))
    p.call(f"""%z = array.constant dense<-1> : tensor<i8>
        %s = array.pad %w, %z low = [1, 2] high = [2, 0] : ({p.type('w')}, tensor<i8>) -> {p.type('x')}""", x="s")
    p.look("x", lambda i, j: np.where((i < 1) | (i > rows) | (j < 2), -1, joined(i - 1, j - 2)))
    p.call(f"%s = array.roll %w shifts = [2, -3] axes = [0, 1] : {p.type('w')} -> {p.type('w')}", w="s")
    p.look("w", lambda i, j: joined((i - 2) % rows, (j + 3) % columns))
    yield p.case(scratch=4)

    for name, permutation, shape in (("021", (0, 2, 1), {"small": (3, 37, 41), "large": (129, 4099, 4099)}[size]),
                                     ("0213", (0, 2, 1, 3), {"small": (3, 41, 5, 33), "large": (33, 16411, 31, 129)}[size]),
                                     ("210", (2, 1, 0), {"small": (37, 5, 41), "large": (4099, 129, 4099)}[size])):
        p = Program(f"transpose_{name}_{size}")
        p.make("v", "i8", shape)
        p.variable("w", "i8", tuple(shape[axis] for axis in permutation))
        p.call(f"%s = array.transpose %v permutation = {list(permutation)} : {p.type('v')} -> {p.type('w')}", w="s")
        p.look("w", lambda *at: number(shape, *(at[permutation.index(axis)] for axis in range(len(shape)))) % MODULUS)
        yield p.case()


def random_numbers(size):
    """More than 2**32 of them: both words of the counter."""
    count = {"small": LINE["small"], "large": 2 ** 32 + 4099}[size]
    key = (7, 2 ** 31 + 5)
    for algorithm, in_block in (("threefry", 1), ("philox", 4)):
        def formula(at):
            first, last = int(at[0]) // in_block, int(at[-1]) // in_block
            made = generators.bits(algorithm, key, ((last + 1 - first) * in_block,), 8, start=first)
            return made[at - first * in_block]
        p = Program(f"random_{algorithm}_{size}")
        p.variable("w", "u8", (count,))
        p.call(f"""%k = array.constant dense<{list(key)}> : tensor<2xui32>
            %s = array.random_bits %k algorithm = {algorithm} : tensor<2xui32> -> {p.type('w')}""", w="s")
        p.look("w", formula)
        yield p.case()


def cases():
    for size in ("small", "large"):
        for make in (sorts_of_a_line, sorts_of_rows, scans, searches, softmaxes, rows_at_places, copies, random_numbers):
            yield from make(size)
