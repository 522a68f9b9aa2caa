"""Dims whose extent is data: filters, caches that grow, and what computes on them."""
import numpy as np

from harness import Case, Step
from tensors import Tensor, random

COUNTS = (0, 1, 5, 16, 99, -3)      # of 16: none, one, some, all, more than there are, less than none


def scalar(dtype, number):
    return Tensor(dtype, np.asarray(number))


def cut(x, count):
    return x[:min(max(count, 0), len(x))]


def padded(rows, bound, fill=0.0, axis=0):
    width = [(0, 0)] * rows.ndim
    width[axis] = (0, bound - rows.shape[axis])
    return np.pad(rows, width, constant_values=fill)


def softmax(x, axis):
    if x.size == 0:
        return x
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def poisoned(dtype, shape, count, seed=7):
    """Random rows, those from `count` on NaN: what lies behind the extent must not matter."""
    x = random(dtype, shape, seed)
    values = np.array(x.values)
    values[min(max(count, 0), len(values)):] = np.nan
    return Tensor(dtype, values)


def of_counts(name, body, results, reference, kind="sum", dtype="f32", shape=(16, 6), counts=COUNTS, symbolic=False,
              count_type="i64"):
    """A function of x and n that computes on %r, the first n rows of x."""
    rows = "?" if symbolic else shape[0]
    whole = f"tensor<{'x'.join(str(size) for size in (rows,) + shape[1:])}x{dtype}>"
    cut_type = f"tensor<{'x'.join(str(size) for size in ('?',) + shape[1:])}x{dtype}>"
    types = ", ".join(type.replace("ROWS", str(rows)) for _, type in results)
    values = ", ".join(value for value, _ in results)
    text = (f"  func.func @NAME(%x: {whole}, %n: tensor<{count_type}>) -> ({types}) {{\n"
            f"    %r = array.set_extent %x, %n axis = 0 : ({whole}, tensor<{count_type}>) -> {cut_type}\n"
            + body.replace("CUT", cut_type).replace("WHOLE", whole).replace("ROWS", str(rows)) +
            f"    return {values} : {types}\n  }}\n")
    steps = []
    for count in counts:
        x = poisoned(dtype, shape, count)
        outputs = reference(cut(np.asarray(x.values, np.float64), count))
        dtypes = [type.rstrip(">").split("x")[-1].split("<")[-1] for _, type in results]
        steps.append(Step([x, scalar(count_type, count)], list(zip(dtypes, outputs))))
    return Case(name, text, steps, kind)


ZERO = "    %zero = array.constant dense<0.0> : tensor<f32>\n"


def pad(value, of, result):
    return f"    {value} = array.pad_to_bound {of}, %zero : (CUT, tensor<f32>) -> {result}\n"


def reductions():
    def with_errors(function):
        def reference(rows):
            with np.errstate(all="ignore"), np.testing.suppress_warnings() as quiet:
                quiet.filter(RuntimeWarning)
                return function(rows)
        return reference

    yield of_counts("extent", "    %e = array.extent %r, 0 : CUT -> tensor<i32>\n", [("%e", "tensor<i32>")],
                    lambda rows: [np.asarray(len(rows))], "exact", count_type="i32")
    body = """    %s = array.reduce sum, %r axes = [0] : CUT -> tensor<6xf32>
    %m = array.mean %r axes = [0] : CUT -> tensor<6xf32>
    %v = array.var %r axes = [0, 1] : CUT -> tensor<f32>
    %b = array.reduce max, %r axes = [0] : CUT -> tensor<6xf32>
    %l = array.logsumexp %r axes = [0] : CUT -> tensor<6xf32>
"""
    results = [("%s", "tensor<6xf32>"), ("%m", "tensor<6xf32>"), ("%v", "tensor<f32>"), ("%b", "tensor<6xf32>"),
               ("%l", "tensor<6xf32>")]
    reference = with_errors(lambda rows: [rows.sum(0), rows.mean(0), rows.var(), rows.max(0, initial=-np.inf),
                                          np.log(np.exp(rows).sum(0))])
    for symbolic in (False, True):
        yield of_counts("reduce" + "_symbolic" * symbolic, body, results, reference, symbolic=symbolic)
    yield of_counts("reduce_rows", ZERO + """    %e = array.exp %r : CUT
    %s = array.reduce sum, %e axes = [1] : CUT -> tensor<?xf32>
    %p = array.pad_to_bound %s, %zero : (tensor<?xf32>, tensor<f32>) -> tensor<ROWSxf32>
""", [("%p", "tensor<ROWSxf32>")], lambda rows: [padded(np.exp(rows).sum(1), 16)])
    yield of_counts("argmax", """    %i = array.argmax %r axis = 0 : CUT -> tensor<6xi32>
    %j = array.argmin %r axis = 0 : CUT -> tensor<6xi32>
""", [("%i", "tensor<6xi32>"), ("%j", "tensor<6xi32>")], lambda rows: [rows.argmax(0), rows.argmin(0)], "exact",
                    counts=COUNTS[1:-1])
    for symbolic in (False, True):
        yield of_counts("softmax" + "_symbolic" * symbolic, ZERO + """    %a = array.softmax %r axis = 0 : CUT
    %b = array.softmax %r axis = 1 : CUT
    %c = array.log_softmax %r axis = 0 : CUT
""" + pad("%p", "%a", "WHOLE") + pad("%q", "%b", "WHOLE") + pad("%o", "%c", "WHOLE"),
                        [("%p", "tensor<ROWSx6xf32>"), ("%q", "tensor<ROWSx6xf32>"), ("%o", "tensor<ROWSx6xf32>")],
                        with_errors(lambda rows: [padded(softmax(rows, 0), 16), padded(softmax(rows, 1), 16),
                                                  padded(np.log(softmax(rows, 0)), 16)]), "composite", symbolic=symbolic)
    yield of_counts("layer_norm", ZERO + """    %a = array.layer_norm %r axis = 1 epsilon = 1.0e-5 : CUT
    %b = array.layer_norm %r axis = 0 epsilon = 1.0e-5 : CUT
""" + pad("%p", "%a", "WHOLE") + pad("%q", "%b", "WHOLE"),
                    [("%p", "tensor<ROWSx6xf32>"), ("%q", "tensor<ROWSx6xf32>")],
                    with_errors(lambda rows: [
                        padded((rows - rows.mean(1, keepdims=True)) / np.sqrt(rows.var(1, keepdims=True) + 1e-5), 16),
                        padded((rows - rows.mean()) / np.sqrt(rows.var() + 1e-5), 16)]), "composite")


def products():
    body = ZERO + """    %w = array.constant dense<[[1.0, -2.0], [0.5, 3.0], [2.0, 1.0], [-1.0, 0.25], [0.0, 1.0], [4.0, -3.0]]> : tensor<6x2xf32>
    %y = array.matmul %r, %w : (CUT, tensor<6x2xf32>) -> tensor<?x2xf32>
    %g = array.matmul %r, %r transpose_a : (CUT, CUT) -> tensor<6x6xf32>
    %d = array.dot_general %r, %y batch = [] x [] contract = [0] x [0] : (CUT, tensor<?x2xf32>) -> tensor<6x2xf32>
    %k = array.matmul %r, %r transpose_b : (CUT, CUT) -> tensor<?x?xf32>
    %s = array.reduce sum, %k axes = [1] : tensor<?x?xf32> -> tensor<?xf32>
    %p = array.pad_to_bound %y, %zero : (tensor<?x2xf32>, tensor<f32>) -> tensor<ROWSx2xf32>
    %q = array.pad_to_bound %s, %zero : (tensor<?xf32>, tensor<f32>) -> tensor<ROWSxf32>
"""
    w = np.array([[1.0, -2.0], [0.5, 3.0], [2.0, 1.0], [-1.0, 0.25], [0.0, 1.0], [4.0, -3.0]])
    results = [("%p", "tensor<ROWSx2xf32>"), ("%g", "tensor<6x6xf32>"), ("%d", "tensor<6x2xf32>"), ("%q", "tensor<ROWSxf32>")]
    for symbolic in (False, True):
        yield of_counts("matmul" + "_symbolic" * symbolic, body, results,
                        lambda rows: [padded(rows @ w, 16), rows.T @ rows, rows.T @ (rows @ w), padded((rows @ rows.T).sum(1), 16)],
                        "sum", symbolic=symbolic)
    # Enough rows for several tiles, of which most have nothing to do: the products first, then their softmax.
    several = ZERO + """    %less = array.constant dense<0.0625> : tensor<f32>
    %h = array.matmul %r, %r transpose_a : (CUT, CUT) -> tensor<40x40xf32>
    %g = array.mul %h, %less : (tensor<40x40xf32>, tensor<f32>) -> tensor<40x40xf32>
    %l = array.matmul %r, %g : (CUT, tensor<40x40xf32>) -> CUT
    %y = array.tanh %l : CUT
    %z = array.matmul %y, %g : (CUT, tensor<40x40xf32>) -> CUT
    %t = array.tanh %z : CUT
    %s = array.softmax %t axis = 1 : CUT
""" + pad("%p", "%s", "WHOLE")

    def twice(rows):
        g = rows.T @ rows / 16
        return [padded(softmax(np.tanh(np.tanh(rows @ g) @ g), 1), 300)]

    yield of_counts("matmul_chain", several, [("%p", "tensor<ROWSx40xf32>")], twice, "model", shape=(300, 40),
                    counts=(0, 1, 64, 65, 300))
    tall = ZERO + """    %less = array.constant dense<0.00390625> : tensor<f32>
    %h = array.matmul %r, %r transpose_a : (CUT, CUT) -> tensor<40x40xf32>
    %g = array.mul %h, %less : (tensor<40x40xf32>, tensor<f32>) -> tensor<40x40xf32>
    %y = array.matmul %r, %g : (CUT, tensor<40x40xf32>) -> CUT
    %z = array.relu %y : CUT
""" + pad("%p", "%z", "WHOLE")
    for dtype in ("f32", "f16"):
        text = tall if dtype == "f32" else tall.replace("f32", "f16")
        yield of_counts(f"matmul_tall_{dtype}", text, [("%p", f"tensor<ROWSx40x{dtype}>")],
                        lambda rows: [padded(np.maximum(rows @ (rows.T @ rows) / 256, 0), 300)],
                        "sum" if dtype == "f32" else "model", dtype, (300, 40), (0, 1, 64, 65, 300))


def lines():
    for descending in (False, True):
        flag = " descending" if descending else ""
        yield of_counts("sort" + "_descending" * descending, ZERO + f"""    %a = array.sort %r axis = 0{flag} : CUT -> CUT
    %i = array.argsort %r axis = 0{flag} : CUT -> tensor<?x6xi32>
    %none = array.constant dense<-1> : tensor<i32>
    %q = array.pad_to_bound %i, %none : (tensor<?x6xi32>, tensor<i32>) -> tensor<ROWSx6xi32>
""" + pad("%p", "%a", "WHOLE"), [("%p", "tensor<ROWSx6xf32>"), ("%q", "tensor<ROWSx6xi32>")],
                        lambda rows, sign=-1 if descending else 1: [
                            padded(sign * np.sort(sign * rows, 0), 16),
                            padded(np.argsort(sign * rows, 0, kind="stable"), 16, -1)], "exact")
    yield of_counts("topk", "    %v, %i = array.topk %r k = 3 axis = 0 : CUT -> tensor<3x6xf32>, tensor<3x6xi32>\n",
                    [("%v", "tensor<3x6xf32>"), ("%i", "tensor<3x6xi32>")],
                    lambda rows: [padded(-np.sort(-rows, 0)[:3], 3, -np.inf),
                                  padded(np.argsort(-rows, 0, kind="stable")[:3], 3, -1)], "exact")
    yield of_counts("scans", ZERO + """    %a = array.cumsum %r axis = 0 : CUT -> CUT
    %b = array.cumsum %r axis = 0 reverse : CUT -> CUT
    %c = array.cummax %r axis = 0 exclusive reverse : CUT -> CUT
""" + pad("%p", "%a", "WHOLE") + pad("%q", "%b", "WHOLE") + pad("%o", "%c", "WHOLE"),
                    [("%p", "tensor<ROWSx6xf32>"), ("%q", "tensor<ROWSx6xf32>"), ("%o", "tensor<ROWSx6xf32>")],
                    lambda rows: [padded(np.cumsum(rows, 0), 16), padded(np.cumsum(rows[::-1], 0)[::-1], 16),
                                  padded(np.concatenate([np.maximum.accumulate(rows[::-1], 0)[::-1][1:],
                                                         np.full((min(len(rows), 1), 6), -np.inf)]), 16)])
    yield of_counts("searchsorted", """    %c = array.slice %r [:, 0:1] : CUT -> tensor<?x1xf32>
    %d = array.squeeze %c axes = [1] : tensor<?x1xf32> -> tensor<?xf32>
    %s = array.sort %d axis = 0 : tensor<?xf32> -> tensor<?xf32>
    %v = array.constant dense<[-9.0, 0.0, 9.0]> : tensor<3xf32>
    %i = array.searchsorted %s, %v right : (tensor<?xf32>, tensor<3xf32>) -> tensor<3xi32>
""", [("%i", "tensor<3xi32>")], lambda rows: [np.searchsorted(np.sort(rows[:, 0]), [-9.0, 0.0, 9.0], "right")], "exact")


def shapes():
    yield of_counts("views", ZERO + """    %t = array.transpose %r permutation = [1, 0] : CUT -> tensor<6x?xf32>
    %s = array.reduce sum, %t axes = [1] : tensor<6x?xf32> -> tensor<6xf32>
    %h = array.reshape %r : CUT -> tensor<?x2x3xf32>
    %u = array.reduce sum, %h axes = [0, 2] : tensor<?x2x3xf32> -> tensor<2xf32>
    %f = array.reshape %r : CUT -> tensor<?xf32>
    %m = array.mean %f axes = [0] keepdims : tensor<?xf32> -> tensor<1xf32>
    %o = array.slice %r [3::2, :] : CUT -> CUT
    %a = array.reduce sum, %o axes = [0] : CUT -> tensor<6xf32>
    %e = array.extent %o, 0 : CUT -> tensor<i64>
""", [("%s", "tensor<6xf32>"), ("%u", "tensor<2xf32>"), ("%a", "tensor<6xf32>"), ("%e", "tensor<i64>")],
                    lambda rows: [rows.sum(0), rows.reshape(-1, 2, 3).sum((0, 2)), rows[3::2].sum(0), np.asarray(len(rows[3::2]))])
    def behind(rows):
        with np.errstate(all="ignore"):
            return [rows[3:].sum(0) / np.float64(len(rows[3:])), np.asarray(len(rows[3:])), np.asarray(len(rows[3:]) + 1)]

    yield of_counts("behind", ZERO + """    %s = array.slice %r [3:, :] : CUT -> CUT
    %m = array.mean %s axes = [0] : CUT -> tensor<6xf32>
    %d = array.dim %s, 0 : CUT
    %i = array.from_index %d : tensor<i64>
    %b = array.constant dense<[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]]> : tensor<1x6xf32>
    %c = array.concatenate %s, %b axis = 0 : (CUT, tensor<1x6xf32>) -> CUT
    %e = array.extent %c, 0 : CUT -> tensor<i64>
""", [("%m", "tensor<6xf32>"), ("%i", "tensor<i64>"), ("%e", "tensor<i64>")], behind)
    yield of_counts("reverse", ZERO + "    %a = array.reverse %r axes = [0, 1] : CUT -> CUT\n" + pad("%p", "%a", "WHOLE"),
                    [("%p", "tensor<ROWSx6xf32>")], lambda rows: [padded(rows[::-1, ::-1], 16)], "exact")
    yield of_counts("pad", ZERO + """    %one = array.constant dense<1.0> : tensor<f32>
    %a = array.pad %r, %one low = [1, 0] high = [2, 0] interior = [1, 0] : (CUT, tensor<f32>) -> CUT
    %p = array.pad_to_bound %a, %zero : (CUT, tensor<f32>) -> tensor<34x6xf32>
""", [("%p", "tensor<34x6xf32>")], lambda rows: [padded(spread(rows), 34)], "exact")
    for symbolic in (False, True):
        yield of_counts("concatenate" + "_symbolic" * symbolic, ZERO + """    %b = array.constant dense<[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]]> : tensor<1x6xf32>
    %y = array.concatenate %r, %b, %r, %b axis = 0 : (CUT, tensor<1x6xf32>, CUT, tensor<1x6xf32>) -> CUT
    %e = array.extent %y, 0 : CUT -> tensor<i64>
    %s = array.cumsum %y axis = 0 : CUT -> CUT
    %t = array.concatenate %r, %r axis = 1 : (CUT, CUT) -> tensor<?x12xf32>
    %u = array.reduce sum, %t axes = [0] : tensor<?x12xf32> -> tensor<12xf32>
""" + ("" if symbolic else "    %p = array.pad_to_bound %s, %zero : (CUT, tensor<f32>) -> tensor<34x6xf32>\n"),
                        [("%e", "tensor<i64>"), ("%u", "tensor<12xf32>")] + ([] if symbolic else [("%p", "tensor<34x6xf32>")]),
                        lambda rows, symbolic=symbolic: [np.asarray(2 * len(rows) + 2), np.tile(rows.sum(0), 2)] +
                        ([] if symbolic else [padded(np.cumsum(join(rows), 0), 34)]), symbolic=symbolic)


def join(rows):
    one = np.arange(1.0, 7.0)[None]
    return np.concatenate([rows, one, rows, one])


def spread(rows, between=1):
    parts = [np.ones((1, 6))]
    for i, row in enumerate(rows):
        parts += [np.ones((between, 6))] * (i > 0) + [row[None]]
    return np.concatenate(parts + [np.ones((2, 6))])


def indices():
    taken = np.array([0, 3, -1, 40, 1])

    def take(rows):
        if len(rows) == 0:
            return np.zeros((5, 6))
        return rows[np.clip(taken, 0, len(rows) - 1)]

    yield of_counts("take", """    %i = array.constant dense<[0, 3, -1, 40, 1]> : tensor<5xi32>
    %t = array.take %r[%i] axis = 0 : (CUT, tensor<5xi32>) -> tensor<5x6xf32>
    %j = array.constant dense<[[0, 2], [40, 3]]> : tensor<2x2xi64>
    %g = array.gather %r[%j] axes = [0, 1] : (CUT, tensor<2x2xi64>) -> tensor<2xf32>
""", [("%t", "tensor<5x6xf32>"), ("%g", "tensor<2xf32>")],
                    lambda rows: [take(rows), np.array([rows[0, 2], rows[-1, 3]]) if len(rows) else np.zeros(2)], "exact")
    # Of the rows that a table is read at and added to, only some count.
    text = """  func.func @NAME(%table: tensor<10x3xf32>, %all: tensor<8xi32>, %n: tensor<i32>) -> (tensor<8x3xf32>, tensor<10x3xf32>) {
    %zero = array.constant dense<0.0> : tensor<f32>
    %i = array.set_extent %all, %n axis = 0 : (tensor<8xi32>, tensor<i32>) -> tensor<?xi32>
    %t = array.take %table[%i] axis = 0 : (tensor<10x3xf32>, tensor<?xi32>) -> tensor<?x3xf32>
    %u = array.exp %t : tensor<?x3xf32>
    %c = array.expand_dims %i axes = [1] : tensor<?xi32> -> tensor<?x1xi32>
    %s = array.scatter add, %table[%c] axes = [0] = %u : (tensor<10x3xf32>, tensor<?x1xi32>, tensor<?x3xf32>) -> tensor<10x3xf32>
    %p = array.pad_to_bound %u, %zero : (tensor<?x3xf32>, tensor<f32>) -> tensor<8x3xf32>
    return %p, %s : tensor<8x3xf32>, tensor<10x3xf32>
  }
"""
    table, steps = random("f32", (10, 3), 3), []
    all_rows = np.array([3, 9, 3, 0, 5, 5, 1, 2])
    for count in (0, 1, 4, 8, 20):
        values, rows = np.asarray(table.values, np.float64), cut(all_rows, count)
        updates, sums = np.exp(values[rows]), values.copy()
        np.add.at(sums, rows, updates)
        steps.append(Step([table, Tensor("i32", all_rows), scalar("i32", count)],
                          [("f32", padded(updates, 8)), ("f32", sums)]))
    yield Case("bounded_indices", text, steps, "sum")


def filters():
    text = """  func.func @NAME(%x: tensor<ROWSx6xf32>, %least: tensor<f32>) -> (tensor<i64>, tensor<6xf32>, tensor<ROWSx6xf32>, tensor<ROWSx6xf32>, tensor<6x6xf32>) {
    %zero = array.constant dense<0.0> : tensor<f32>
    %c = array.slice %x [:, 0:1] : tensor<ROWSx6xf32> -> tensor<ROWSx1xf32>
    %v = array.squeeze %c axes = [1] : tensor<ROWSx1xf32> -> tensor<ROWSxf32>
    %keep = array.compare gt, %v, %least : (tensor<ROWSxf32>, tensor<f32>) -> tensor<ROWSxi1>
    %y = array.compress %x, %keep axis = 0 : (tensor<ROWSx6xf32>, tensor<ROWSxi1>) -> tensor<?x6xf32>
    %e = array.extent %y, 0 : tensor<?x6xf32> -> tensor<i64>
    %m = array.mean %y axes = [0] : tensor<?x6xf32> -> tensor<6xf32>
    %s = array.softmax %y axis = 0 : tensor<?x6xf32>
    %o = array.sort %y axis = 0 : tensor<?x6xf32> -> tensor<?x6xf32>
    %g = array.matmul %y, %y transpose_a : (tensor<?x6xf32>, tensor<?x6xf32>) -> tensor<6x6xf32>
    %p = array.pad_to_bound %s, %zero : (tensor<?x6xf32>, tensor<f32>) -> tensor<ROWSx6xf32>
    %q = array.pad_to_bound %o, %zero : (tensor<?x6xf32>, tensor<f32>) -> tensor<ROWSx6xf32>
    return %e, %m, %p, %q, %g : tensor<i64>, tensor<6xf32>, tensor<ROWSx6xf32>, tensor<ROWSx6xf32>, tensor<6x6xf32>
  }
"""

    def steps(sizes):
        for size in sizes:
            x = random("f32", (size, 6), 11)
            rows = np.asarray(x.values, np.float64)
            for least in (10.0, -10.0, 0.0, np.sort(rows[:, 0])[-2]):
                kept = rows[rows[:, 0] > np.float32(least)]
                with np.errstate(all="ignore"):
                    mean = kept.sum(0) / len(kept) if len(kept) else np.full(6, np.nan)
                yield Step([x, scalar("f32", least)],
                           [("i64", np.asarray(len(kept))), ("f32", mean), ("f32", padded(softmax(kept, 0), size)),
                            ("f32", padded(np.sort(kept, 0), size)), ("f32", kept.T @ kept)])

    yield Case("filter", text.replace("ROWS", "40"), list(steps((40,))), "sum")
    yield Case("filter_symbolic", text.replace("ROWS", "?"), list(steps((40, 3))), "sum")


DECODE = """  func.func @NAME(%q0: tensor<2x1x4xf32>, %start: tensor<2xBOUNDx4xf32>, %had: tensor<i32>, %steps: tensor<i32>) -> (tensor<2x1x4xf32>, tensor<2xBOUNDx4xf32>, tensor<i32>) {
    %zero = array.constant dense<0> : tensor<i32>
    %one = array.constant dense<1> : tensor<i32>
    %nothing = array.constant dense<0.0> : tensor<f32>
    %cache0 = array.set_extent %start, %had axis = 1 : (tensor<2xBOUNDx4xf32>, tensor<i32>) -> tensor<2x?x4xf32>
    %r:3 = array.while %zero, %q0, %cache0 : (tensor<i32>, tensor<2x1x4xf32>, tensor<2x?x4xf32>) -> (tensor<i32>, tensor<2x1x4xf32>, tensor<2x?x4xf32>) condition {
    ^bb0(%i: tensor<i32>, %q: tensor<2x1x4xf32>, %c: tensor<2x?x4xf32>):
      %more = array.compare lt, %i, %steps : (tensor<i32>, tensor<i32>) -> tensor<i1>
      array.yield %more : tensor<i1>
    } body {
    ^bb0(%i: tensor<i32>, %q: tensor<2x1x4xf32>, %c: tensor<2x?x4xf32>):
      %next = array.add %i, %one : tensor<i32>
      %k = array.tanh %q : tensor<2x1x4xf32>
      %grown = array.append %c, %k axis = 1 : (tensor<2x?x4xf32>, tensor<2x1x4xf32>) -> tensor<2x?x4xf32>
      %v = array.exp %grown : tensor<2x?x4xf32>
      %a = array.attention %q, %grown, %v scale = 0.5 : (tensor<2x1x4xf32>, tensor<2x?x4xf32>, tensor<2x?x4xf32>) -> tensor<2x1x4xf32>
      array.yield %next, %a, %grown : tensor<i32>, tensor<2x1x4xf32>, tensor<2x?x4xf32>
    }
    %cache = array.pad_to_bound %r#2, %nothing : (tensor<2x?x4xf32>, tensor<f32>) -> tensor<2xBOUNDx4xf32>
    %n = array.extent %r#2, 1 : tensor<2x?x4xf32> -> tensor<i32>
    return %r#1, %cache, %n : tensor<2x1x4xf32>, tensor<2xBOUNDx4xf32>, tensor<i32>
  }
"""


def decode(q, cache, steps, bound):
    for _ in range(steps):
        if cache.shape[1] < bound:
            cache = np.concatenate([cache, np.tanh(q)], 1)
        weights = softmax(q @ cache.transpose(0, 2, 1) * 0.5, 2)
        q = weights @ np.exp(cache)
    return q, cache


def loops():
    def steps(bound, counts):
        for had, number in counts:
            q = random("f32", (2, 1, 4), 5)
            start = np.array(random("f32", (2, bound, 4), 6).values)
            start[:, had:] = np.nan
            result, cache = decode(np.asarray(q.values, np.float64), np.asarray(start[:, :had], np.float64), number, bound)
            yield Step([q, Tensor("f32", start), scalar("i32", had), scalar("i32", number)],
                       [("f32", result), ("f32", padded(cache, bound, axis=1)), ("i32", np.asarray(cache.shape[1]))])

    yield Case("decode_loop", DECODE.replace("BOUND", "12"), list(steps(12, ((0, 5), (3, 9), (0, 0), (10, 6)))), "composite")
    yield Case("decode_loop_symbolic", DECODE.replace("BOUND", "?"), list(steps(12, ((0, 5), (3, 9)))) + list(steps(7, ((2, 4),))),
               "composite")
    text = """  func.func @NAME(%x: tensor<9x4xf32>, %n: tensor<i32>, %p: tensor<i1>) -> (tensor<4xf32>, tensor<i32>) {
    %two = array.constant dense<2> : tensor<i32>
    %y = array.set_extent %x, %n axis = 0 : (tensor<9x4xf32>, tensor<i32>) -> tensor<?x4xf32>
    %z = array.if %p : tensor<i1> -> (tensor<?x4xf32>) {
      %a = array.exp %y : tensor<?x4xf32>
      array.yield %a : tensor<?x4xf32>
    } else {
      %b = array.set_extent %y, %two axis = 0 : (tensor<?x4xf32>, tensor<i32>) -> tensor<?x4xf32>
      array.yield %b : tensor<?x4xf32>
    }
    %s = array.reduce sum, %z axes = [0] : tensor<?x4xf32> -> tensor<4xf32>
    %e = array.extent %z, 0 : tensor<?x4xf32> -> tensor<i32>
    return %s, %e : tensor<4xf32>, tensor<i32>
  }
"""
    branches = []
    for count in (0, 1, 5, 9):
        for choice in (False, True):
            x = poisoned("f32", (9, 4), count)
            rows = cut(np.asarray(x.values, np.float64), count)
            rows = np.exp(rows) if choice else rows[:2]
            branches.append(Step([x, scalar("i32", count), scalar("i1", choice)],
                                 [("f32", rows.sum(0)), ("i32", np.asarray(len(rows)))]))
    yield Case("branches", text, branches, "sum")


CACHES = """  func.func @NAME(%q0: tensor<2x1x4xf32>, %ks: tensor<2xBOUNDx4xf32>, %vs: tensor<2xBOUNDx4xf32>, %had: tensor<i32>, %steps: tensor<i32>) -> (tensor<2x1x4xf32>, tensor<2x1x4xf32>, tensor<i32>) {
    %zero = array.constant dense<0> : tensor<i32>
    %one = array.constant dense<1> : tensor<i32>
    %k0 = array.set_extent %ks, %had axis = 1 : (tensor<2xBOUNDx4xf32>, tensor<i32>) -> tensor<2x?x4xf32>
    %v0 = array.set_extent %vs, %had axis = 1 : (tensor<2xBOUNDx4xf32>, tensor<i32>) -> tensor<2x?x4xf32>
    %r:4 = array.while %zero, %q0, %k0, %v0 : (tensor<i32>, tensor<2x1x4xf32>, tensor<2x?x4xf32>, tensor<2x?x4xf32>) -> (tensor<i32>, tensor<2x1x4xf32>, tensor<2x?x4xf32>, tensor<2x?x4xf32>) condition {
    ^bb0(%i: tensor<i32>, %q: tensor<2x1x4xf32>, %k: tensor<2x?x4xf32>, %v: tensor<2x?x4xf32>):
      %more = array.compare lt, %i, %steps : (tensor<i32>, tensor<i32>) -> tensor<i1>
      array.yield %more : tensor<i1>
    } body {
    ^bb0(%i: tensor<i32>, %q: tensor<2x1x4xf32>, %k: tensor<2x?x4xf32>, %v: tensor<2x?x4xf32>):
      %next = array.add %i, %one : tensor<i32>
      %key = array.tanh %q : tensor<2x1x4xf32>
      %value = array.cos %q : tensor<2x1x4xf32>
GROW      %a = array.attention %q, %k1, %v1 scale = 0.5 : (tensor<2x1x4xf32>, tensor<2x?x4xf32>, tensor<2x?x4xf32>) -> tensor<2x1x4xf32>
      array.yield %next, %a, %k1, %v1 : tensor<i32>, tensor<2x1x4xf32>, tensor<2x?x4xf32>, tensor<2x?x4xf32>
    }
    %b = array.attention %r#1, %r#2, %r#3 scale = 0.5 : (tensor<2x1x4xf32>, tensor<2x?x4xf32>, tensor<2x?x4xf32>) -> tensor<2x1x4xf32>
    %n = array.extent %r#3, 1 : tensor<2x?x4xf32> -> tensor<i32>
    return %r#1, %b, %n : tensor<2x1x4xf32>, tensor<2x1x4xf32>, tensor<i32>
  }
"""
APPEND = """      KEYS = array.append %k, %key axis = 1 : (tensor<2x?x4xf32>, tensor<2x1x4xf32>) -> tensor<2x?x4xf32>
      VALUES = array.append %v, %value axis = 1 : (tensor<2x?x4xf32>, tensor<2x1x4xf32>) -> tensor<2x?x4xf32>
"""
# Both by one token; the keys' count set for the values; only in every other turn.
GROWTHS = {
    "append": APPEND.replace("KEYS", "%k1").replace("VALUES", "%v1"),
    "set": APPEND.replace("KEYS", "%k2").replace("VALUES", "%v2") + """      %n = array.extent %k2, 1 : tensor<2x?x4xf32> -> tensor<i64>
      %k1 = array.set_extent %k2, %n axis = 1 : (tensor<2x?x4xf32>, tensor<i64>) -> tensor<2x?x4xf32>
      %v1 = array.set_extent %v2, %n axis = 1 : (tensor<2x?x4xf32>, tensor<i64>) -> tensor<2x?x4xf32>
""",
    "sometimes": """      %odd = array.and %i, %one : tensor<i32>
      %skips = array.compare eq, %odd, %one : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %k1, %v1 = array.if %skips : tensor<i1> -> (tensor<2x?x4xf32>, tensor<2x?x4xf32>) {
        array.yield %k, %v : tensor<2x?x4xf32>, tensor<2x?x4xf32>
      } else {
""" + APPEND.replace("KEYS", "%k2").replace("VALUES", "%v2") + """        array.yield %k2, %v2 : tensor<2x?x4xf32>, tensor<2x?x4xf32>
      }
""",
}


def caches():
    """A decode loop with a cache of keys and one of values, which grow alike."""
    def steps(counts, sometimes):
        for bound, had, number in counts:
            q = random("f32", (2, 1, 4), 5)
            stored = [np.array(random("f32", (2, bound, 4), seed).values) for seed in (6, 7)]
            for start in stored:
                start[:, had:] = np.nan
            x, k, v = (np.asarray(a, np.float64) for a in (q.values, stored[0][:, :had], stored[1][:, :had]))

            def attend(x, k, v):
                return softmax(x @ k.transpose(0, 2, 1) * 0.5, 2) @ v

            for turn in range(number):
                if k.shape[1] < bound and not (sometimes and turn % 2):
                    k, v = np.concatenate([k, np.tanh(x)], 1), np.concatenate([v, np.cos(x)], 1)
                x = attend(x, k, v)
            yield Step([q, *(Tensor("f32", start) for start in stored), scalar("i32", had), scalar("i32", number)],
                       [("f32", x), ("f32", attend(x, k, v)), ("i32", np.asarray(k.shape[1]))])

    for name, grow in GROWTHS.items():
        for bound in ("12", "?"):
            counts = [(12, 0, 5), (12, 3, 12)] + ([(7, 2, 4)] if bound == "?" else [])
            yield Case(f"two_caches_{name}" + "_symbolic" * (bound == "?"), CACHES.replace("BOUND", bound).replace("GROW", grow),
                       list(steps(counts, name == "sometimes")), "composite")


def sized_alike():
    """Sizes that views give, and those that data of the same size asks for."""
    def numbered(rows):
        return rows + np.arange(len(rows))[:, None]

    text = """    %v = VIEW : CUT -> CUT
    %c = array.slice %v [:, 0:1] : CUT -> tensor<?x1xf32>
    %q = array.squeeze %c axes = [1] : tensor<?x1xf32> -> tensor<?xf32>
    %z = array.constant dense<0.0> : tensor<f32>
    %p = array.compare gt, %q, %z : (tensor<?xf32>, tensor<f32>) -> tensor<?xi1>
    %w = array.compress %v, %p axis = 0 : (CUT, tensor<?xi1>) -> CUT
    %s = array.reduce sum, %w axes = [0] : CUT -> tensor<6xf32>
    %d = array.dim %v, 0 : CUT
    %i = array.iota axis = 0 sizes(%d) : CUT
    %a = array.add %v, %i : CUT
    %t = array.reduce sum, %a axes = [0] : CUT -> tensor<6xf32>
"""
    results = [("%s", "tensor<6xf32>"), ("%t", "tensor<6xf32>")]
    for symbolic in (False, True):
        yield of_counts("strided" + "_symbolic" * symbolic, text.replace("VIEW", "array.slice %r [2::3, :]"), results,
                        lambda rows: [rows[2::3][rows[2::3, 0] > 0].sum(0), numbered(rows[2::3]).sum(0)], symbolic=symbolic)
    spread_text = """    %one = array.constant dense<1.0> : tensor<f32>
    %v = array.pad %r, %one low = [1, 0] high = [2, 0] interior = [2, 0] : (CUT, tensor<f32>) -> CUT
    %d = array.dim %v, 0 : CUT
    %i = array.iota axis = 0 sizes(%d) : CUT
    %a = array.add %v, %i : CUT
    %t = array.reduce sum, %a axes = [0] : CUT -> tensor<6xf32>
"""
    yield of_counts("spread", spread_text, results[1:], lambda rows: [numbered(spread(rows, 2)).sum(0)])
    yield of_counts("split", """    %f = array.reshape %r : CUT -> tensor<?xf32>
    %m = array.mul %f, %f : tensor<?xf32>
    %g = array.reshape %m : tensor<?xf32> -> tensor<?x2x6xf32>
    %s = array.reduce sum, %g axes = [0] : tensor<?x2x6xf32> -> tensor<2x6xf32>
    %n2 = array.extent %g, 0 : tensor<?x2x6xf32> -> tensor<i32>
""", [("%s", "tensor<2x6xf32>"), ("%n2", "tensor<i32>")],
                    lambda rows: [(rows[:len(rows) // 2 * 2] ** 2).reshape(-1, 2, 6).sum(0), np.asarray(len(rows) // 2)])
    # What is cut and cast is also looked at as a whole.
    text = """  func.func @NAME(%x: tensor<16x6xf32>, %n: tensor<i32>) -> (tensor<16x6xf32>, tensor<f32>) {
    %y = array.exp %x : tensor<16x6xf32>
    %r = array.set_extent %y, %n axis = 0 : (tensor<16x6xf32>, tensor<i32>) -> tensor<?x6xf32>
    %c = tensor.cast %r : tensor<?x6xf32> to tensor<?x?xf32>
    %s = array.reduce sum, %c axes = [0, 1] : tensor<?x?xf32> -> tensor<f32>
    return %y, %s : tensor<16x6xf32>, tensor<f32>
  }
"""
    x = random("f32", (16, 6), 8)
    whole = np.exp(np.asarray(x.values, np.float64))
    yield Case("also_whole", text, [Step([x, scalar("i32", count)], [("f32", whole), ("f32", whole[:count].sum())])
                                    for count in (0, 5, 16)], "sum")


def many_rows():
    """Kernels of several blocks, most of which have nothing to do."""
    def reference(rows):
        y = np.tanh(rows) + rows.mean(1, keepdims=True)
        return [padded(y, 500), padded(softmax(y, 1), 500), y.sum(0)]

    yield of_counts("many_rows", ZERO + """    %t = array.tanh %r : CUT
    %m = array.mean %r axes = [1] keepdims : CUT -> tensor<?x1xf32>
    %y = array.add %t, %m : (CUT, tensor<?x1xf32>) -> CUT
    %s = array.softmax %y axis = 1 : CUT
    %u = array.reduce sum, %y axes = [0] : CUT -> tensor<130xf32>
""" + pad("%p", "%y", "WHOLE") + pad("%q", "%s", "WHOLE"),
                    [("%p", "tensor<ROWSx130xf32>"), ("%q", "tensor<ROWSx130xf32>"), ("%u", "tensor<130xf32>")], reference,
                    shape=(500, 130), counts=(0, 1, 33, 499, 500))
    # The extent's dim is neither the first nor the last.
    text = """  func.func @NAME(%x: tensor<3x50x40xf32>, %n: tensor<i32>) -> (tensor<3x50x40xf32>, tensor<3x50xf32>) {
    %zero = array.constant dense<0.0> : tensor<f32>
    %r = array.set_extent %x, %n axis = 1 : (tensor<3x50x40xf32>, tensor<i32>) -> tensor<3x?x40xf32>
    %e = array.exp %r : tensor<3x?x40xf32>
    %s = array.reduce sum, %e axes = [2] : tensor<3x?x40xf32> -> tensor<3x?xf32>
    %l = array.log %s : tensor<3x?xf32>
    %p = array.pad_to_bound %e, %zero : (tensor<3x?x40xf32>, tensor<f32>) -> tensor<3x50x40xf32>
    %q = array.pad_to_bound %l, %zero : (tensor<3x?xf32>, tensor<f32>) -> tensor<3x50xf32>
    return %p, %q : tensor<3x50x40xf32>, tensor<3x50xf32>
  }
"""
    steps = []
    for count in (0, 1, 26, 50):
        x = random("f32", (3, 50, 40), 9)
        rows = np.exp(np.asarray(x.values, np.float64)[:, :count])
        steps.append(Step([x, scalar("i32", count)],
                          [("f32", padded(rows, 50, axis=1)), ("f32", padded(np.log(rows.sum(2)), 50, axis=1))]))
    yield Case("inner_dim", text, steps, "sum")


def marked():
    """What a program says itself that it does not look at."""
    text = """  func.func @NAME(%x: tensor<40x9xf32>, %n: tensor<i64>) -> (tensor<40x9xf32>) {
    %e = array.exp %x : tensor<40x9xf32>
    %w = array.within %e, %n axis = 0 : tensor<40x9xf32>, tensor<i64>
    %zero = array.constant dense<0.0> : tensor<f32>
    %i = array.iota axis = 0 : tensor<40x9xi64>
    %m = array.compare lt, %i, %n : (tensor<40x9xi64>, tensor<i64>) -> tensor<40x9xi1>
    %y = array.select %m, %w, %zero : (tensor<40x9xi1>, tensor<40x9xf32>, tensor<f32>) -> tensor<40x9xf32>
    return %y : tensor<40x9xf32>
  }
"""
    steps = []
    for count in (0, 7, 40):
        x = random("f32", (40, 9), 13)
        steps.append(Step([x, scalar("i64", count)], [("f32", padded(np.exp(np.asarray(x.values, np.float64)[:count]), 40))]))
    yield Case("marked", text, steps, "math")


def cases():
    for make in (reductions, products, lines, shapes, indices, filters, loops, caches, sized_alike, many_rows, marked):
        yield from make()
