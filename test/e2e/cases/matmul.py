"""Matrix products: sizes around the tiles, layouts, batches, types, and what is fused before and behind them."""
import math

import numpy as np

from harness import simple
import tensors
from tensors import FLOATS, Tensor, mlir_type

erf = np.vectorize(math.erf, otypes=[np.float64])


def random(dtype, shape, seed):
    """Terms of size one, as the tolerance of sums wants them."""
    return tensors.random(dtype, shape, seed, *((-1, 1) if dtype in FLOATS else ()))


def product(a, b, body="", result=None, tag="", out=None):
    result = np.matmul(a.values, b.values) if result is None else result
    out = out or a.dtype
    return simple(f"{a.mlir}_{b.mlir}{tag}", [a, b], [(out, result)],
                  f"%r0 = array.matmul %0, %1{body} : ({a.mlir}, {b.mlir}) -> {mlir_type(out, result.shape)}", "sum")


def sizes():
    for m, k, n in ((1, 1, 1), (2, 3, 4), (7, 7, 7), (8, 8, 8), (9, 9, 9), (15, 17, 16), (16, 16, 31), (31, 33, 32), (64, 64, 64),
                    (65, 63, 66), (1, 64, 64), (64, 64, 1), (1, 300, 1), (100, 1, 100), (128, 256, 130), (257, 129, 255),
                    (13, 1000, 10), (1000, 10, 13), (384, 384, 384)):
        yield product(random("f32", (m, k), 1), random("f32", (k, n), 2))
    # Few tiles with long sums, which blocks share; the last one no number of blocks divides.
    for dtype, m, k, n in (("f32", 20, 4096, 33), ("bf16", 32, 4096, 48), ("f32", 9, 4099, 17)):
        yield product(random(dtype, (m, k), 1), random(dtype, (k, n), 2), tag="_long")
    yield product(random("f16", (2, 16, 2048), 1), random("f16", (2, 2048, 24), 2), tag="_long")
    # Of whose sums equal parts leave something over: as rows of factors, and across them. So many terms of f32 are small ones.
    for dtype, out, m, k, n in (("f16", "f16", 24, 16385, 40), ("bf16", "bf16", 16, 9001, 16), ("f64", "f64", 9, 2503, 10), ("i8", "i32", 32, 10000, 48),
                                ("i8", "i32", 32, 10001, 48), ("f32", "f32", 12, 10001, 20)):
        for options in ("", " transpose_a"):
            a, b = random(dtype, (m, k), 3), random(dtype, (k, n), 4)
            if dtype == "f32":
                a = Tensor(dtype, a.values / 4)
            result = a.values.astype(np.int64) @ b.values.astype(np.int64) if dtype == "i8" else a.values @ b.values
            yield product(Tensor(dtype, a.values.T) if options else a, b, options, result, "_over" + options.replace(" transpose", "_t"), out)
    # Sums of bytes in bytes, which tensor cores have not: their parts leave a rest.
    for dtype in ("i8", "u8"):
        a, b = (Tensor(dtype, tensors.random(dtype, shape, seed).values % 2) for shape, seed in (((64, 4100), 3), ((4100, 64), 4)))
        yield product(a, b, "", (a.values.astype(np.int64) @ b.values.astype(np.int64)).astype(a.values.dtype), "_over", dtype)
    for k in (10000, 8193):
        a, b = Tensor("f32", coarse((k, 32), 5).values / 4), Tensor("f32", coarse((k, 12), 6).values / 4)
        yield product(a, b, " transpose_a allow_tf32", a.values.T @ b.values, "_over_tf32")
        # Rows of no multiple of 16 bytes: the parts are of the operands as they lie.
        a, b = Tensor("f32", coarse((32, k + 1), 5).values / 4), Tensor("f32", coarse((k + 1, 11), 6).values / 4)
        yield product(a, b, " allow_tf32", a.values @ b.values, "_over_tf32")
    # Rows of results that begin anywhere, of several tiles.
    for n in (1001, 1002):
        a, b = coarse((200, 40), 7), coarse((n, 40), 8)
        yield product(a, b, " transpose_b allow_tf32", a.values @ b.values.T, "_odd_rows")
        a, b = random("bf16", (200, 40), 7), random("bf16", (n, 40), 8)
        yield product(a, b, " transpose_b", a.values @ b.values.T, "_odd_rows")
    # A row that streams a matrix, whose rows are a line for a block of most multiprocessors.
    yield product(random("f32", (1, 517), 1), random("f32", (517, 4100), 2), tag="_streamed")
    for m, k, n in ((0, 4, 5), (4, 5, 0), (4, 0, 5)):
        yield product(random("f32", (m, k), 1), random("f32", (k, n), 2), tag="_empty")


def layouts():
    for m, k, n in ((5, 6, 7), (33, 65, 17), (64, 128, 64)):
        a, b = random("f32", (m, k), 3), random("f32", (k, n), 4)
        at, bt = Tensor("f32", a.values.T), Tensor("f32", b.values.T)
        result = a.values @ b.values
        yield product(at, b, " transpose_a", result, "_ta")
        yield product(a, bt, " transpose_b", result, "_tb")
        yield product(at, bt, " transpose_a transpose_b", result, "_tab")


def symbolic_layouts():
    """Rows that are as far apart as only the launch knows, aligned and not."""
    for m, k, n in ((70, 100, 36), (33, 129, 65)):
        a, b = random("f32", (m, k), 3), random("f32", (k, n), 4)
        at, bt = Tensor("f32", a.values.T), Tensor("f32", b.values.T)
        any_matrix = "tensor<?x?xf32>"
        for tag, left, right, options in (("nn", a, b, ""), ("tn", at, b, " transpose_a"), ("nt", a, bt, " transpose_b"),
                                          ("tt", at, bt, " transpose_a transpose_b")):
            yield simple(f"symbolic_{m}_{k}_{n}_{tag}", [left, right], [("f32", a.values @ b.values)],
                         f"%r0 = array.matmul %0, %1{options} : ({any_matrix}, {any_matrix}) -> {any_matrix}", "sum",
                         [any_matrix, any_matrix], [any_matrix])
    x, w = random("f32", (3, 13, 40), 5), random("f32", (40, 36), 6)
    yield simple("symbolic_rows_of_two_dims", [x, w], [("f32", x.values @ w.values)],
                 "%r0 = array.dot_general %0, %1 batch = [] x [] contract = [2] x [0] : "
                 "(tensor<?x?x?xf32>, tensor<?x36xf32>) -> tensor<?x?x36xf32>", "sum", ["tensor<?x?x?xf32>", "tensor<?x36xf32>"],
                 ["tensor<?x?x36xf32>"])


def shared_sums():
    """Sums that blocks of a cluster share, whose parts are not all of a length, or empty."""
    for m, k, n in ((40, 1000, 72), (64, 520, 64), (9, 1040, 130)):
        a, b = random("f32", (m, k), 41), random("f32", (k, n), 42)
        for tag, left, right, options in (("nn", a, b, ""), ("nt", a, Tensor("f32", b.values.T), " transpose_b"),
                                          ("tn", Tensor("f32", a.values.T), b, " transpose_a")):
            yield product(left, right, options, a.values @ b.values, f"_shared_sum_{tag}")


def numbers_of_rows():
    """Rows of symbolic number, few and many, and sums of symbolic length, for each of which there are variants."""
    for dtype in ("f32", "bf16"):
        for rows in (1, 8, 13, 40, 200, 600):
            x, w = random(dtype, (rows, 512), 43), random(dtype, (512, 72), 44)
            yield simple(f"rows_of_symbolic_number_{dtype}_{rows}", [x, w], [(dtype, x.values @ w.values)],
                         f"%r0 = array.matmul %0, %1 : (tensor<?x512x{dtype}>, {w.mlir}) -> tensor<?x72x{dtype}>", "sum",
                         [f"tensor<?x512x{dtype}>", w.mlir], [f"tensor<?x72x{dtype}>"])
        for length in (40, 8200):
            x, w = random(dtype, (24, length), 45), random(dtype, (length, 16), 46)
            if dtype == "f32":
                x = Tensor(dtype, x.values / 4)
            yield simple(f"sum_of_symbolic_length_{dtype}_{length}", [x, w], [(dtype, x.values @ w.values)],
                         f"%r0 = array.matmul %0, %1 : (tensor<24x?x{dtype}>, tensor<?x16x{dtype}>) -> tensor<24x16x{dtype}>", "sum",
                         [f"tensor<24x?x{dtype}>", f"tensor<?x16x{dtype}>"], None)


def batches():
    for left, right in (((3, 5, 6), (3, 6, 7)), ((2, 3, 9, 8), (2, 3, 8, 5)), ((4, 17, 33), (1, 33, 9)), ((1, 17, 33), (4, 33, 9)),
                        ((2, 1, 5, 6), (3, 6, 7)), ((5, 6), (4, 6, 7)), ((12, 32, 64), (12, 64, 32))):
        yield product(random("f32", left, 5), random("f32", right, 6))
    q, k = random("f32", (3, 20, 8), 7), random("f32", (3, 30, 8), 8)
    yield product(q, k, " transpose_b", q.values @ k.values.swapaxes(1, 2), "_tb")
    a, b = random("f32", (4, 5, 6), 9), random("f32", (6, 4, 7), 10)
    yield simple("dot_general_batch", [a, b], [("f32", np.einsum("bik,kbj->bij", a.values, b.values))],
                 f"%r0 = array.dot_general %0, %1 batch = [0] x [1] contract = [2] x [0] "
                 f": ({a.mlir}, {b.mlir}) -> tensor<4x5x7xf32>", "sum")
    a, b = random("f32", (4, 5, 6), 11), random("f32", (6, 5, 3), 12)
    yield simple("dot_general_two", [a, b], [("f32", np.einsum("ijk,kjl->il", a.values, b.values))],
                 f"%r0 = array.dot_general %0, %1 batch = [] x [] contract = [1, 2] x [1, 0] "
                 f": ({a.mlir}, {b.mlir}) -> tensor<4x3xf32>", "sum")


def types():
    for dtype in ("f64", "f16", "bf16", "i32", "i64"):
        yield product(random(dtype, (19, 40), 13), random(dtype, (40, 23), 14))
    for dtype in ("i8", "u8", "i16", "u16"):
        # In tiles whose lines in shared memory are vectors of the smallest types.
        yield product(random(dtype, (8, 9), 13), random(dtype, (9, 8), 14), tag="_vectors")
        yield product(random(dtype, (70, 40), 13), random(dtype, (40, 64), 14), tag="_vectors")
    for dtype in ("f16", "bf16"):
        a, b = random(dtype, (19, 300), 15), random(dtype, (300, 23), 16)
        yield product(a, b, out="f32", tag="_to_f32")
    for dtype, out in (("i8", "i32"), ("u8", "u32")):
        a, b = random(dtype, (19, 300), 17), random(dtype, (300, 23), 18)
        wide = np.int64 if dtype == "i8" else np.uint64
        yield product(a, b, result=a.values.astype(wide) @ b.values.astype(wide), out=out, tag=f"_to_{out}")


def tensor_cores():
    """16-bit products whose rows are 16-byte aligned, which tensor copies and warpgroups take on a Hopper GPU."""
    for dtype, (m, k, n) in (("bf16", (64, 64, 64)), ("bf16", (136, 72, 200)), ("f16", (8, 128, 16)), ("f16", (257, 200, 264)),
                             ("bf16", (1, 64, 64)), ("bf16", (320, 8, 136)), ("f16", (16, 2048, 64)), ("bf16", (40, 1000, 24)),
                             ("f16", (32, 1, 40)), ("bf16", (1, 1040, 520)), ("f16", (520, 1040, 1))):
        a, b = random(dtype, (m, k), 30), random(dtype, (k, n), 31)
        yield product(a, b, tag="_warpgroups")
        if m % 8 == 0:
            yield product(Tensor(dtype, a.values.T), b, " transpose_a", a.values @ b.values, "_warpgroups_ta")
            yield product(Tensor(dtype, a.values.T), Tensor(dtype, b.values.T), " transpose_a transpose_b", a.values @ b.values,
                          "_warpgroups_tab")
        yield product(a, Tensor(dtype, b.values.T), " transpose_b", a.values @ b.values, "_warpgroups_tb")
    for left, right in (((3, 40, 64), (3, 64, 72)), ((2, 3, 24, 64), (2, 3, 64, 40)), ((4, 72, 64), (1, 64, 24)), ((2, 1, 24, 64), (3, 64, 40)),
                        ((72, 64), (3, 64, 40)), ((2, 1, 40, 64), (2, 3, 64, 48)), ((40, 64), (3, 64, 16))):
        yield product(random("bf16", left, 32), random("bf16", right, 33), tag="_warpgroups")
    # So few tiles and so long a sum that clusters are not enough: parts, one of them with an uneven last step, and their sum.
    for dtype, m, k, n, body in (("bf16", 16, 16384, 24, ""), ("f16", 24, 13000, 16, " transpose_b"), ("bf16", 8, 16376, 8, " transpose_a")):
        a, b = random(dtype, (m, k), 44), random(dtype, (k, n), 45)
        yield product(Tensor(dtype, a.values.T) if "_a" in body else a, Tensor(dtype, b.values.T) if "_b" in body else b, body,
                      a.values @ b.values, "_warpgroups_parts")
    # Of quarters, so that no sum of so many is rounded, whatever the order.
    a, b = (Tensor("f16", np.round(random("f16", shape, seed).values * 4) / 4) for shape, seed in (((2, 16, 16384), 46), ((2, 16384, 16), 47)))
    yield product(a, b, out="f32", tag="_warpgroups_parts")
    a, b = random("bf16", (72, 136), 34), random("bf16", (136, 88), 35)
    bias, residual = random("f32", (88,), 36), random("f32", (72, 88), 37)
    z = a.values @ b.values + bias.values
    c = residual.mlir
    # Rounded once, in the end.
    yield simple("warpgroups_bias_gelu_residual", [a, b, bias, residual],
                 [("bf16", z * 0.5 * (1 + np.tanh(math.sqrt(2 / math.pi) * (z + 0.044715 * z**3))) + residual.values)],
                 f"""%p = array.matmul %0, %1 : ({a.mlir}, {b.mlir}) -> {c}
                     %z = array.add %p, %2 : ({c}, {bias.mlir}) -> {c}
                     %g = array.gelu %z approximate = tanh : {c}
                     %s = array.add %g, %3 : {c}
                     %r0 = array.convert %s : {c} -> {mlir_type("bf16", (72, 88))}""", "sum")
    yield product(a, b, out="f32", tag="_warpgroups_to_f32")
    # Results lie where the residual did, which other blocks still read: tiles are narrower than what comes of it at a time.
    a, b, c, d = random("bf16", (128, 64), 48), random("bf16", (64, 288), 49), random("bf16", (128, 64), 50), random("bf16", (64, 288), 51)
    t, z = mlir_type("bf16", (128, 288)), random("bf16", (288, 128), 52)
    powers = np.exp(a.values @ b.values + tensors.round_bf16(c.values @ d.values))
    yield simple("warpgroups_residual_in_place", [a, b, c, d, z], [("bf16", (powers / powers.sum(1, keepdims=True)).T + z.values)],
                 f"""%r = array.matmul %2, %3 : ({c.mlir}, {d.mlir}) -> {t}
                     %p = array.matmul %0, %1 : ({a.mlir}, {b.mlir}) -> {t}
                     %q = array.add %p, %r : {t}
                     %s = array.softmax %q axis = 1 : {t}
                     %t = array.transpose %s permutation = [1, 0] : {t} -> {z.mlir}
                     %r0 = array.add %t, %4 : {z.mlir}""", "through_bf16")
    a, b = random("f16", (5, 24, 64), 38), random("f16", (64, 40), 39)
    yield simple("warpgroups_rows_of_two_dims", [a, b], [("f16", a.values @ b.values)],
                 f"%r0 = array.dot_general %0, %1 batch = [] x [] contract = [2] x [0] "
                 f": ({a.mlir}, {b.mlir}) -> tensor<5x24x40xf16>", "sum")
    # What only run time knows: one kernel relies on sizes that are multiples of 8, the other one does not.
    for m, k, n in ((40, 72, 64), (33, 63, 65), (0, 8, 16), (70, 8, 8)):
        a, b = random("bf16", (m, k), 40), random("bf16", (k, n), 41)
        yield simple(f"warpgroups_symbolic_{m}_{k}_{n}", [a, b], [("bf16", a.values @ b.values)],
                     "%r0 = array.matmul %0, %1 : (tensor<?x?xbf16>, tensor<?x?xbf16>) -> tensor<?x?xbf16>", "sum",
                     ["tensor<?x?xbf16>", "tensor<?x?xbf16>"], ["tensor<?x?xbf16>"])
    for m in (0, 1, 65):
        a, b = random("bf16", (m, 72), 42), random("bf16", (72, 64), 43)
        yield simple(f"warpgroups_symbolic_rows_{m}", [a, b], [("bf16", a.values @ b.values)],
                     "%r0 = array.matmul %0, %1 : (tensor<?x72xbf16>, tensor<72x64xbf16>) -> tensor<?x64xbf16>", "sum",
                     ["tensor<?x72xbf16>", "tensor<72x64xbf16>"], ["tensor<?x64xbf16>"])


def operands_in_place():
    """Factors that are slices or permutations of tensors in memory are copied from there, by boxes where these are aligned."""
    random_bf16 = lambda shape, seed: random("bf16", shape, seed)
    qkv, w = random_bf16((72, 192), 70), random_bf16((64, 88), 71)
    for start in (0, 64, 12):  # that at 12 is not aligned to 16 bytes
        part = "tensor<72x64xbf16>"
        yield simple(f"slice_of_columns_{start}", [qkv, w], [("bf16", qkv.values[:, start:start + 64] @ w.values)],
                     f"""%s = array.slice %0 [0:72, {start}:{start + 64}] : {qkv.mlir} -> {part}
                         %r0 = array.matmul %s, %1 : ({part}, {w.mlir}) -> tensor<72x88xbf16>""", "sum")
    # What follows the slice in memory is no part of the last, uneven step.
    b = random_bf16((40, 88), 72)
    yield simple("slice_with_an_uneven_step", [qkv, b], [("bf16", qkv.values[8:48, 16:56] @ b.values)],
                 f"""%s = array.slice %0 [8:48, 16:56] : {qkv.mlir} -> tensor<40x40xbf16>
                     %r0 = array.matmul %s, %1 : (tensor<40x40xbf16>, {b.mlir}) -> tensor<40x88xbf16>""", "sum")
    yield simple("slice_of_every_third_row", [qkv, b], [("bf16", qkv.values[1:72:3, 16:56] @ b.values)],
                 f"""%s = array.slice %0 [1:72:3, 16:56] : {qkv.mlir} -> tensor<24x40xbf16>
                     %r0 = array.matmul %s, %1 : (tensor<24x40xbf16>, {b.mlir}) -> tensor<24x88xbf16>""", "sum")
    q, k = random_bf16((2, 40, 3, 64), 73), random_bf16((2, 72, 3, 64), 74)
    heads, others = "tensor<2x3x40x64xbf16>", "tensor<2x3x72x64xbf16>"
    scores = np.einsum("bqhd,bkhd->bhqk", q.values, k.values)
    yield simple("heads_in_place", [q, k], [("bf16", scores)],
                 f"""%q = array.transpose %0 permutation = [0, 2, 1, 3] : {q.mlir} -> {heads}
                     %k = array.transpose %1 permutation = [0, 2, 1, 3] : {k.mlir} -> {others}
                     %r0 = array.matmul %q, %k transpose_b : ({heads}, {others}) -> tensor<2x3x40x72xbf16>""", "sum")
    # Boxes run along each loop once, and forwards.
    c, w = random_bf16((40, 40, 64), 77), random_bf16((64, 88), 78)
    for name, part, map_, source in (("diagonal", c.values[range(40), range(40)], "(d0, d1) -> (d0, d0, d1)", c),
                                     ("backwards", c.values[7, ::-1], "(d0, d1) -> (7, 39 - d0, d1)", c)):
        yield simple(f"factor_{name}", [source, w], [("bf16", part @ w.values)],
                     f"""%e = tensor.empty() : tensor<40x64xbf16>
                         %d = linalg.generic {{indexing_maps = [affine_map<{map_}>, affine_map<(d0, d1) -> (d0, d1)>],
                                               iterator_types = ["parallel", "parallel"]}}
                             ins(%0 : {source.mlir}) outs(%e : tensor<40x64xbf16>) {{
                         ^bb0(%x: bf16, %y: bf16):
                           linalg.yield %x : bf16
                         }} -> tensor<40x64xbf16>
                         %r0 = array.matmul %d, %1 : (tensor<40x64xbf16>, {w.mlir}) -> tensor<40x88xbf16>""", "sum")
    # So often used that it is computed before, in a kernel of its own.
    a, b = random("f32", (24, 64), 75), random_bf16((64, 520), 76)
    yield simple("computed_before", [a, b], [("bf16", Tensor("bf16", np.maximum(a.values, 0)).values @ b.values)],
                 f"""%x = array.relu %0 : {a.mlir}
                     %n = array.convert %x : {a.mlir} -> tensor<24x64xbf16>
                     %r0 = array.matmul %n, %1 : (tensor<24x64xbf16>, {b.mlir}) -> tensor<24x520xbf16>""", "sum")


def coarse(shape, seed):
    """Terms of size one with no more digits than TF32 has, so that sums are as exact as those of f32."""
    return Tensor("f32", np.round(random("f32", shape, seed).values * 1024) / 1024)


def rounded_to_tf32():
    """Factors between two numbers of TF32, as many a quarter above one as a quarter below the next: rounded to the nearest, their
    sums are those of f32, and cut off they are short by 1e-3 of themselves."""
    step = 2.0**-10
    for m, k, n in ((64, 64, 72), (136, 64, 200), (33, 64, 65), (130, 60, 67)):
        a = np.broadcast_to(1 + step * np.where(np.arange(k) % 2, 0.25, 0.75), (m, k)) * 2.0 ** (np.arange(m) % 3)[:, None]
        b = np.broadcast_to(1 + step * np.where(np.arange(k) // 2 % 2, 0.25, 0.75)[:, None], (k, n)) * 2.0 ** (np.arange(n) % 3)
        for ta in (False, True):
            for tb in (False, True):
                yield product(Tensor("f32", a.T if ta else a), Tensor("f32", b.T if tb else b),
                              " transpose_a" * ta + " transpose_b" * tb + " allow_tf32", a @ b, "_tf32_rounded" + "_ta" * ta + "_tb" * tb)


def doubles_on_tensor_cores():
    """Products of f64: rows that are 16-byte aligned and rows that are not, in all orders, batches, and what is fused to them."""
    for m, k, n in ((64, 64, 64), (130, 72, 94), (67, 33, 45), (257, 48, 130), (24, 700, 18), (40, 1, 34)):
        a, b = random("f64", (m, k), 80), random("f64", (k, n), 81)
        for ta in (False, True):
            for tb in (False, True):
                yield product(Tensor("f64", a.values.T) if ta else a, Tensor("f64", b.values.T) if tb else b,
                              " transpose_a" * ta + " transpose_b" * tb, a.values @ b.values, "_double" + "_ta" * ta + "_tb" * tb)
    for left, right in (((3, 40, 64), (3, 64, 72)), ((40, 33), (3, 33, 48)), ((2, 1, 24, 20), (3, 20, 35))):
        yield product(random("f64", left, 82), random("f64", right, 83), tag="_double")
    # So few tiles that blocks share their sums, which no number of blocks divides.
    yield product(random("f64", (36, 5003), 84), random("f64", (5003, 20), 85), tag="_double_parts")
    a, b, bias = random("f64", (67, 50), 86), random("f64", (50, 70), 87), random("f64", (70,), 88)
    z = a.values @ b.values + bias.values
    c = mlir_type("f64", (67, 70))
    yield simple("double_bias_relu", [a, b, bias], [("f64", np.maximum(z, 0)), ("f32", z)],
                 f"""%p = array.matmul %0, %1 : ({a.mlir}, {b.mlir}) -> {c}
                     %z = array.add %p, %2 : ({c}, {bias.mlir}) -> {c}
                     %r0 = array.relu %z : {c}
                     %r1 = array.convert %z : {c} -> {mlir_type("f32", (67, 70))}""", "sum")
    # Factors that are computed pass through registers.
    yield simple("double_computed", [a, b], [("f64", np.maximum(a.values, 0) @ (b.values * b.values))],
                 f"""%x = array.relu %0 : {a.mlir}
                     %y = array.mul %1, %1 : ({b.mlir}, {b.mlir}) -> {b.mlir}
                     %r0 = array.matmul %x, %y : ({a.mlir}, {b.mlir}) -> {c}""", "sum")
    for m, k, n in ((40, 72, 64), (33, 63, 65), (0, 8, 16), (70, 0, 8)):
        a, b = random("f64", (m, k), 89), random("f64", (k, n), 90)
        yield simple(f"double_symbolic_{m}_{k}_{n}", [a, b], [("f64", a.values @ b.values)],
                     "%r0 = array.matmul %0, %1 : (tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>", "sum",
                     ["tensor<?x?xf64>", "tensor<?x?xf64>"], ["tensor<?x?xf64>"])


def bytes_on_tensor_cores():
    """Products of bytes: rows that vectors of 16, of 4 and of no bytes divide, in all orders, and batches with a shared factor."""
    for dtype, out in (("i8", "i32"), ("u8", "u32")):
        wide = np.int64 if dtype == "i8" else np.uint64
        for m, k, n in ((64, 96, 80), (36, 44, 52), (67, 33, 45), (130, 260, 136), (16, 8, 24)):
            a, b = random(dtype, (m, k), 70), random(dtype, (k, n), 71)
            result = a.values.astype(wide) @ b.values.astype(wide)
            for ta in (False, True):
                for tb in (False, True):
                    yield product(Tensor(dtype, a.values.T) if ta else a, Tensor(dtype, b.values.T) if tb else b,
                                  " transpose_a" * ta + " transpose_b" * tb, result, "_bytes" + "_ta" * ta + "_tb" * tb, out)
        for left, right in (((3, 24, 64), (3, 64, 48)), ((40, 64), (3, 64, 48)), ((3, 40, 20), (20, 12))):
            a, b = random(dtype, left, 72), random(dtype, right, 73)
            yield product(a, b, result=a.values.astype(wide) @ b.values.astype(wide), tag="_bytes", out=out)


def symbolic_with_unaligned_rows():
    """Products whose factors have rows of an odd length, and a symbolic number of them: large ones are copied to where boxes reach them."""
    b = random("bf16", (256, 1001), 76)
    for rows in (0, 1, 70):
        a = random("bf16", (rows, 256), 77)
        yield simple(f"unaligned_weight_{rows}", [a, b], [("bf16", a.values @ b.values)],
                     f"%r0 = array.matmul %0, %1 : (tensor<?x256xbf16>, {b.mlir}) -> tensor<?x1001xbf16>", "sum",
                     ["tensor<?x256xbf16>", b.mlir], ["tensor<?x1001xbf16>"])
    for rows in (1, 40):
        a, b = random("f16", (rows, 1600), 78), random("f16", (rows, 1001), 79)
        yield simple(f"unaligned_rows_{rows}", [a, b], [("f16", a.values.T @ b.values)],
                     "%r0 = array.matmul %0, %1 transpose_a : (tensor<?x1600xf16>, tensor<?x1001xf16>) -> tensor<1600x1001xf16>", "sum",
                     ["tensor<?x1600xf16>", "tensor<?x1001xf16>"], ["tensor<1600x1001xf16>"])


def unaligned_rows():
    """Rows of two, four and eight bytes more than whole chunks: threads copy them so narrowly, or copies in wider rows are multiplied."""
    for dtype, options in (("bf16", ""), ("f16", ""), ("f32", " allow_tf32")):
        for m, k, n in ((70, 66, 130), (68, 36, 20), (67, 35, 33), (130, 706, 101)):
            a, b = random(dtype, (m, k), 90), random(dtype, (k, n), 91)
            if dtype == "f32": # no bits that rounding to TF32 would drop
                a, b = coarse((m, k), 90), coarse((k, n), 91)
            result, tag = a.values @ b.values, "_unaligned"
            yield product(a, b, options, result, tag)
            yield product(a, Tensor(dtype, b.values.T), " transpose_b" + options, result, tag + "_tb")
            yield product(Tensor(dtype, a.values.T), b, " transpose_a" + options, result, tag + "_ta")


def odd_columns_beside_others():
    """Results with rows of an odd length, whose last element has no neighbour that could be loaded with it."""
    a, b, c = random("bf16", (64, 2, 8), 94), random("bf16", (64, 8, 3), 95), random("bf16", (64, 2, 3), 96)
    yield simple("odd_columns_beside_others", [a, b, c], [("bf16", c.values - a.values @ np.abs(b.values))],
                 f"""%m = array.abs %1 : {b.mlir}
                     %p = array.matmul %0, %m : ({a.mlir}, {b.mlir}) -> {c.mlir}
                     %r0 = array.sub %2, %p : {c.mlir}""", "sum")


def integers_of_few_rows():
    """Matrix times vector in integers, from either side and in all orders, and matrices of a few rows."""
    for dtype, out in (("i8", "i32"), ("u8", "u32"), ("i16", "i16"), ("i32", "i32"), ("i64", "i64")):
        wide = np.uint64 if out == "u32" else np.int64
        for m, k, n in ((1, 600, 70), (70, 600, 1), (1, 64, 4096), (8, 256, 400)):
            if m > 1 and n > 1 and dtype != "i8":
                continue
            a, b = random(dtype, (m, k), 74), random(dtype, (k, n), 75)
            result = a.values.astype(wide) @ b.values.astype(wide)
            for options, left, right in (("", a, b), (" transpose_b", a, Tensor(dtype, b.values.T)), (" transpose_a", Tensor(dtype, a.values.T), b)):
                yield product(left, right, options, result, "_few" + options.replace(" transpose", "_t"), out)


def warpgroups_of_other_widths():
    """Products of elements of 4 and of 1 byte on warpgroups, which take operands along k only, or across it through registers."""
    allowed = " allow_tf32"
    for m, k, n in ((64, 32, 64), (136, 72, 200), (8, 136, 264), (333, 1000, 132), (4, 4, 520)):
        a, b = coarse((m, k), 50), coarse((k, n), 51)
        yield product(a, b, allowed, tag="_tf32")
        yield product(a, Tensor("f32", b.values.T), " transpose_b" + allowed, a.values @ b.values, "_tf32_tb")
        if m % 4 == 0:
            yield product(Tensor("f32", a.values.T), b, " transpose_a" + allowed, a.values @ b.values, "_tf32_ta")
            yield product(Tensor("f32", a.values.T), Tensor("f32", b.values.T), " transpose_a transpose_b" + allowed,
                          a.values @ b.values, "_tf32_tab")
    yield product(coarse((3, 40, 64), 52), coarse((3, 64, 72), 53), allowed, tag="_tf32")
    yield product(coarse((2, 1, 24, 64), 52), coarse((3, 64, 40), 53), allowed, tag="_tf32")
    a, b = coarse((72, 136), 54), coarse((136, 88), 55)
    bias, residual = random("f32", (88,), 56), random("f32", (72, 88), 57)
    z = a.values @ b.values + bias.values
    c = residual.mlir
    yield simple("tf32_bias_gelu_residual", [a, b, bias, residual],
                 [("f32", z * 0.5 * (1 + np.tanh(math.sqrt(2 / math.pi) * (z + 0.044715 * z**3))) + residual.values),
                  ("bf16", z)],
                 f"""%p = array.matmul %0, %1 allow_tf32 : ({a.mlir}, {b.mlir}) -> {c}
                     %z = array.add %p, %2 : ({c}, {bias.mlir}) -> {c}
                     %g = array.gelu %z approximate = tanh : {c}
                     %r0 = array.add %g, %3 : {c}
                     %r1 = array.convert %z : {c} -> {mlir_type("bf16", (72, 88))}""", "sum")
    for m, k, n in ((40, 72, 64), (33, 63, 65), (0, 8, 16), (70, 8, 8)):
        a, b = coarse((m, k), 58), coarse((k, n), 59)
        yield simple(f"tf32_symbolic_{m}_{k}_{n}", [a, b], [("f32", a.values @ b.values)],
                     "%r0 = array.matmul %0, %1 allow_tf32 : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>", "sum",
                     ["tensor<?x?xf32>", "tensor<?x?xf32>"], ["tensor<?x?xf32>"])
    for m, k, n in ((144, 160, 208), (48, 304, 80), (16, 16, 400)):
        a, b = random("i8", (m, k), 60), random("i8", (k, n), 61)
        result = a.values.astype(np.int64) @ b.values.astype(np.int64)
        for ta in (False, True):
            for tb in (False, True):
                yield product(Tensor("i8", a.values.T) if ta else a, Tensor("i8", b.values.T) if tb else b,
                              " transpose_a" * ta + " transpose_b" * tb, result, "_to_i32" + "_ta" * ta + "_tb" * tb, "i32")


def fused():
    a, b = random("f32", (37, 50), 19), random("f32", (50, 70), 20)
    bias, residual = random("f32", (70,), 21), random("f32", (37, 70), 22)
    z = a.values @ b.values + bias.values
    c = residual.mlir
    yield simple("bias_gelu_residual", [a, b, bias, residual], [("f32", z * 0.5 * (1 + erf(z / math.sqrt(2))) + residual.values)],
                 f"""%p = array.matmul %0, %1 : ({a.mlir}, {b.mlir}) -> {c}
                     %z = array.add %p, %2 : ({c}, {bias.mlir}) -> {c}
                     %g = array.gelu %z : {c}
                     %r0 = array.add %g, %3 : {c}""", "sum")
    x = Tensor("u8", random("u8", (37, 50), 23).values % 17)
    yield simple("converted_operand", [x, b], [("f32", (x.values / 16.0) @ b.values)],
                 f"""%s = array.constant dense<0.0625> : tensor<f32>
                     %f = array.convert %0 : {x.mlir} -> {a.mlir}
                     %x = array.mul %f, %s : ({a.mlir}, tensor<f32>) -> {a.mlir}
                     %r0 = array.matmul %x, %1 : ({a.mlir}, {b.mlir}) -> {c}""", "sum")
    h = np.maximum(z, 0)
    yield simple("used_twice", [a, b, bias], [("f32", h), ("f32", h.sum(0))],
                 f"""%p = array.matmul %0, %1 : ({a.mlir}, {b.mlir}) -> {c}
                     %z = array.add %p, %2 : ({c}, {bias.mlir}) -> {c}
                     %r0 = array.relu %z : {c}
                     %r1 = array.reduce sum, %r0 axes = [0] : {c} -> tensor<70xf32>""", "sum")
    shares = np.exp(z - z.max(1, keepdims=True))
    yield simple("then_softmax", [a, b, bias], [("f32", shares / shares.sum(1, keepdims=True))],
                 f"""%p = array.matmul %0, %1 : ({a.mlir}, {b.mlir}) -> {c}
                     %z = array.add %p, %2 : ({c}, {bias.mlir}) -> {c}
                     %r0 = array.softmax %z axis = 1 : {c}""", "sum")
    w = random("f32", (70, 20), 24)
    yield simple("two_in_a_row", [a, b, w], [("f32", a.values @ b.values @ w.values)],
                 f"""%p = array.matmul %0, %1 : ({a.mlir}, {b.mlir}) -> {c}
                     %r0 = array.matmul %p, %2 : ({c}, {w.mlir}) -> tensor<37x20xf32>""", "model")


def constant_weights():
    """A weight that is a constant may be packed at compile time or by the init plan."""
    a = random("f32", (9, 4), 25)
    w = np.arange(12).reshape(4, 3) / 4 - 1
    text = "[" + ", ".join("[" + ", ".join(f"{v:.2f}" for v in row) + "]" for row in w) + "]"
    yield simple("constant_weight", [a], [("f32", a.values @ w)],
                 f"""%w = array.constant dense<{text}> : tensor<4x3xf32>
                     %r0 = array.matmul %0, %w : ({a.mlir}, tensor<4x3xf32>) -> tensor<9x3xf32>""", "sum")
    # Columns of one, two and three vectors, and of none that are full; sums of one part and of several.
    for m, k, n in ((1, 5, 16), (2, 5, 16), (7, 33, 48), (13, 40, 24), (9, 3, 8), (33, 513, 96), (5, 6, 20), (16, 16, 16), (130, 1, 32)):
        a, w = random("f32", (m, k), 90), random("f32", (k, n), 91)
        data = w.values.astype("<f4").tobytes().hex().upper()
        yield simple(f"constant_weight_{m}x{k}x{n}", [a], [("f32", a.values @ w.values)],
                     f"""%w = array.constant dense<"0x{data}"> : {w.mlir}
                         %r0 = array.matmul %0, %w : ({a.mlir}, {w.mlir}) -> tensor<{m}x{n}xf32>""", "sum")
    a, w = random("f32", (3, 7, 20), 92), random("f32", (3, 20, 32), 93)
    data = w.values.astype("<f4").tobytes().hex().upper()
    yield simple("constant_weights_of_a_batch", [a], [("f32", a.values @ w.values)],
                 f"""%w = array.constant dense<"0x{data}"> : {w.mlir}
                     %r0 = array.matmul %0, %w : ({a.mlir}, {w.mlir}) -> tensor<3x7x32xf32>""", "sum")


def grouped(a, b, sizes):
    """Rows of a in groups of `sizes`, each times its matrix; 0 behind the last."""
    ends = np.minimum(np.cumsum(np.maximum(sizes, 0)), len(a))
    result = np.zeros((len(a), b.shape[2]))
    for group, (begin, end) in enumerate(zip([0, *ends], ends)):
        result[begin:end] = a[begin:end] @ b[group]
    return result


def groups():
    for name, dtype, rows, sizes in (("decode", "f32", 3, [0, 1, 0, 0, 2]), ("uneven", "f32", 70, [40, 0, 3, 27]), ("rest", "f32", 20, [4, 5]),
                                     ("too_many", "f32", 9, [4, -3, 4, 7, 2]), ("one", "f32", 12, [12]), ("f16", "f16", 130, [100, 30]),
                                     ("bf16", "bf16", 33, [11, 22, 0]), ("i8", "i8", 12, [5, 7]), ("u8", "u8", 12, [5, 7])):
        a, b = random(dtype, (rows, 16), 50), random(dtype, (len(sizes), 16, 24), 51)
        count = Tensor("i32", sizes)
        out = {"i8": "i32", "u8": "u32"}.get(dtype, dtype)
        wide = a.values if out == dtype else a.values.astype(np.int64)
        yield simple(f"grouped_{name}", [a, b, count], [(out, grouped(wide, b.values.astype(wide.dtype), count.values))],
                     f"%r0 = array.grouped_matmul %0, %1, %2 : ({a.mlir}, {b.mlir}, {count.mlir}) -> {mlir_type(out, (rows, 24))}", "sum")
    b, count = random("f32", (3, 24, 16), 52), Tensor("i64", [2, 0, 60])
    for rows in (1, 2, 65, 200, 0):
        a = random("f32", (rows, 16), 53)
        yield simple(f"grouped_symbolic_{rows}", [a, b, count], [("f32", grouped(a.values, b.values.swapaxes(1, 2), count.values))],
                     "%r0 = array.grouped_matmul %0, %1, %2 transpose_b : (tensor<?x16xf32>, tensor<3x24x16xf32>, tensor<3xi64>) -> tensor<?x24xf32>",
                     "sum", types=["tensor<?x16xf32>", b.mlir, count.mlir], result_types=["tensor<?x24xf32>"])
    # Sizes whose sum no i64 holds: the first that are not negative take all rows.
    a, count = random("f32", (9, 16), 57), Tensor("i64", [-2 ** 63, 2, 2 ** 63 - 1, 2 ** 63 - 1, 5])
    b = random("f32", (5, 16, 24), 58)
    yield simple("grouped_huge_sizes", [a, b, count], [("f32", grouped(a.values, b.values, np.array([0, 2, 7, 0, 0])))],
                 f"%r0 = array.grouped_matmul %0, %1, %2 : ({a.mlir}, {b.mlir}, {count.mlir}) -> tensor<9x24xf32>", "sum")
    open_types = ["tensor<?x16xf32>", "tensor<?x16x24xf32>", "tensor<?xi32>"]
    for rows, sizes in ((70, [40, 0, 3, 27]), (20, [4, 5]), (9, [4, -3, 4, 7, 2]), (5, [5]), (0, [0, 0])):
        a, b, count = random("f32", (rows, 16), 54), random("f32", (len(sizes), 16, 24), 55), Tensor("i32", np.array(sizes, int))
        yield simple(f"grouped_open_{rows}", [a, b, count], [("f32", grouped(a.values, b.values, count.values))],
                     f"%r0 = array.grouped_matmul %0, %1, %2 : ({', '.join(open_types)}) -> tensor<?x24xf32>", "sum",
                     types=open_types, result_types=["tensor<?x24xf32>"])
    none = Tensor("i32", np.zeros(0, int))
    yield simple("grouped_none", [a := random("f32", (3, 16), 56), Tensor("f32", np.zeros((0, 16, 24))), none], [("f32", np.zeros((3, 24)))],
                 f"%r0 = array.grouped_matmul %0, %1, %2 : ({a.mlir}, tensor<0x16x24xf32>, {none.mlir}) -> tensor<3x24xf32>")


def cases():
    for make in (sizes, layouts, symbolic_layouts, shared_sums, numbers_of_rows, batches, types, tensor_cores, operands_in_place, rounded_to_tf32, doubles_on_tensor_cores, bytes_on_tensor_cores, integers_of_few_rows, symbolic_with_unaligned_rows, unaligned_rows, odd_columns_beside_others,
                 warpgroups_of_other_widths, fused, constant_weights, groups):
        yield from make()
