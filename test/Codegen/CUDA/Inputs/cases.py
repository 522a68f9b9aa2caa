#===- cases.py - Which kernels are run, in which sizes ------------------------===#
#
# Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===--------------------------------------------------------------------------===#
"""Sizes 1, below, at and above what a vector, a warp or a tile holds, odd ones, and zero."""
import kernels as k


def all_cases():
    """Yields (name, (kernel, reference), config or None)."""
    for rows, columns in ((1, 1), (3, 5), (7, 33), (64, 128), (127, 256), (300, 1024), (0, 4)):
        yield f"gelu_{rows}x{columns}", k.gelu([rows, columns]), None
    yield "gelu_wide_vectors", k.gelu([37, 128]), "#cuda.elementwise<threads = 64, vector = 4, unroll = 2>"
    yield "gelu_bf16", k.gelu([33, 96], "bf16"), "#cuda.elementwise<threads = 64, vector = 8, unroll = 2>"
    for n in (0, 1, 7, 33, 130):
        yield f"gelu_symbolic_{n}", k.gelu(["n", 64], sizes={"n": n}), None
        yield f"gelu_symbolic_inner_{n}", k.gelu([9, "n"], sizes={"n": n}), None
    yield "gelu_symbolic_inner_64", k.gelu([9, "n"], sizes={"n": 64}), None
    yield "gelu_generic", k.gelu([5, 33]), "#cuda.pointwise<threads = 64>"

    for shape, order in (((1, 1), (1, 0)), ((7, 33), (1, 0)), ((64, 96), (1, 0)), ((127, 65), (1, 0)),
                         ((5, 33, 34), (0, 2, 1)), ((5, 33, 34), (2, 0, 1)), ((3, 4, 5, 6), (0, 2, 1, 3))):
        yield f"transpose_{'x'.join(map(str, shape))}_{''.join(map(str, order))}", k.transpose(list(shape), order), None
    yield "transpose_bf16", k.transpose([70, 66], (1, 0), "bf16"), None
    yield "transpose_symbolic", k.transpose(["m", "n"], (1, 0), sizes={"m": 35, "n": 67}), None

    for rows, columns in ((1, 1), (3, 2), (5, 10), (9, 33), (4, 100), (7, 128), (3, 1000), (2, 1024), (3, 1025), (2, 4096),
                          (1, 20000), (1, 40000)):
        yield f"softmax_{rows}x{columns}", k.softmax(rows, columns), None
    for n in (0, 1, 5, 130):
        yield f"softmax_symbolic_rows_{n}", k.softmax("n", 64, sizes={"n": n}), None
    for n in (1, 33, 128, 1100):
        yield f"softmax_symbolic_columns_{n}", k.softmax(6, "n", sizes={"n": n}), None
    yield "softmax_bf16", k.softmax(5, 256, "bf16"), None
    yield "softmax_down", k.softmax(37, 40, axis=0), None
    yield "softmax_generic", k.softmax(5, 9), "#cuda.pointwise<threads = 32>"
    for rows, columns in ((1, 1), (5, 64), (6, 768), (3, 1023), (2, 5000)):
        yield f"layer_norm_{rows}x{columns}", k.layer_norm(rows, columns), None
    yield "layer_norm_symbolic", k.layer_norm("n", 96, sizes={"n": 11}), None

    for shape, axes in (((7, 33), (0,)), ((7, 33), (1,)), ((100, 64), (0,)), ((1000, 256), (0,)), ((33, 7), (0, 1)),
                        ((5, 40, 64), (1,)), ((5, 40, 64), (0, 2)), ((5, 40, 64), (0, 1)), ((0, 5), (0,)), ((5, 0), (1,)),
                        ((3000,), (0,)), ((6, 4, 3), (2,))):
        name = f"sum_{'x'.join(map(str, shape))}_{''.join(map(str, axes))}"
        yield name, k.reduce_sum(list(shape), axes), None
    yield "sum_i32", k.reduce_sum([50, 70], (0,), "i32"), None
    yield "sum_i64", k.reduce_sum([50, 70], (1,), "i64"), None
    yield "sum_f64", k.reduce_sum([9, 300], (1,), "f64"), None
    yield "sum_down_symbolic", k.reduce_sum(["m", "n"], (0,), sizes={"m": 45, "n": 68}), None
    for rows, columns in ((1, 1), (5, 33), (4, 128), (3, 3000)):
        yield f"argmax_{rows}x{columns}", k.argmax(rows, columns), None
    for rows, columns in ((7, 10), (4, 130), (4, 3000)):
        yield f"argmax_nan_{rows}x{columns}", k.argmax_with_nan(rows, columns), None
    yield "argmax_nan_down", k.argmax_with_nan(50, 40, axis=0), None
    yield "argmax_down", k.argmax(50, 40, axis=0), None
    yield "argmax_symbolic", k.argmax("m", "n", sizes={"m": 5, "n": 77}), None

    def strips(vector, strip, rows):
        return f"#cuda.window_strips<threads = 64, vector = {vector}, strip = {strip}, rows = {rows}>"
    for rows in (1, 2, 3, 4, 8):
        yield f"depthwise_rows_{rows}", k.depthwise([11, 13, 12], 3), strips(4, 3, rows)
        yield f"depthwise_strided_rows_{rows}", k.depthwise([14, 15, 16], 3, (2, 2), element="bf16"), strips(8, 2, rows)
        yield f"depthwise_turned_rows_{rows}", k.depthwise([9, 7, 10], 3, turned=True, element="f16"), strips(2, 4, rows)
    yield "depthwise_wide", k.depthwise([13, 10, 4], 5, (3, 1), padding=2), strips(2, 2, 4)
    yield "depthwise_strides_apart", k.depthwise([10, 13, 4], 2, (1, 3), padding=0), strips(4, 2, 3)
    yield "depthwise_turned_strided", k.depthwise([17, 9, 8], 5, (2, 1), padding=3, turned=True), strips(2, 2, 3)
    yield "depthwise_no_overlap", k.depthwise([12, 12, 4], 2, (2, 2), padding=0), strips(4, 2, 3)
    yield "depthwise_one_row", k.depthwise([1, 9, 8], 3), strips(4, 2, 4)

    for m, n, kk in ((2, 2, 1), (7, 33, 5), (33, 7, 40), (64, 64, 64), (127, 130, 33), (16, 64, 32), (4, 100, 17), (9, 9, 0)):
        yield f"matmul_{m}x{n}x{kk}", k.matmul(m, n, kk), None
    big = "#cuda.matmul_fma<tile_m = 128, tile_n = 128, tile_k = 8, thread_m = 8, thread_n = 8>"
    yield "matmul_big_tile", k.matmul(130, 140, 20), big
    for ta in (False, True):
        for tb in (False, True):
            yield f"matmul_layout_{int(ta)}{int(tb)}", k.matmul(36, 40, 24, transpose_a=ta, transpose_b=tb), None
    yield "matmul_bias", k.matmul(40, 48, 16, bias=True), None
    yield "matmul_batched", k.matmul(17, 20, 9, batch=3), None
    yield "matmul_f64", k.matmul(33, 35, 17, "f64"), None
    yield "matmul_i32", k.matmul(33, 35, 17, "i32"), None
    yield "matmul_i8", k.matmul(32, 32, 32, "i8"), None
    for m, n, kk in ((1, 1, 1), (7, 33, 127), (64, 64, 64)):
        sizes = {"m": m, "n": n, "k": kk}
        yield f"matmul_symbolic_{m}x{n}x{kk}", k.matmul("m", "n", "k", sizes=sizes), None
    yield "matmul_vector", k.matmul(1, 100, 70), None
    yield "matmul_vector_transposed", k.matmul(1, 100, 70, transpose_b=True), None
    for m, n, kk in ((16, 8, 16), (64, 64, 64), (130, 72, 48), (33, 7, 127), (1, 33, 7)):
        for ta in (False, True):
            for tb in (False, True):
                yield (f"matmul_bf16_{m}x{n}x{kk}_{int(ta)}{int(tb)}",
                       k.matmul(m, n, kk, "bf16", transpose_a=ta, transpose_b=tb), None)
    yield "matmul_f16_bias", k.matmul(64, 64, 32, "f16", bias=True), None
    yield "matmul_bf16_symbolic", k.matmul("m", "n", "k", "bf16", sizes={"m": 40, "n": 24, "k": 56}), None

    # f32 on tensor cores, which ignore the last 13 bits of the mantissas: the inputs have none.
    tf32 = "#cuda.matmul_mma<tile_m = 64, tile_n = 64, tile_k = 32, warps_m = 2, warps_n = 2, stages = 3>"
    narrow = "#cuda.matmul_mma<tile_m = 32, tile_n = 16, tile_k = 16, warps_m = 1, warps_n = 1, stages = 2>"
    for m, n, kk in ((64, 64, 64), (130, 72, 48), (33, 7, 127)):
        for ta in (False, True):
            for tb in (False, True):
                product = k.matmul(m, n, kk, transpose_a=ta, transpose_b=tb, mantissa_bits=10)
                yield f"matmul_tf32_{m}x{n}x{kk}_{int(ta)}{int(tb)}", product, tf32
    yield "matmul_tf32_narrow", k.matmul(64, 48, 40, mantissa_bits=10), narrow
    yield "matmul_tf32_narrow_transposed", k.matmul(64, 48, 40, transpose_a=True, transpose_b=True, mantissa_bits=10), narrow
    yield "matmul_tf32_bias", k.matmul(64, 64, 32, bias=True, mantissa_bits=10), tf32

    # f64 on tensor cores: rows of 16-byte chunks, and such as are copied element by element.
    double = "#cuda.matmul_mma<tile_m = 64, tile_n = 64, tile_k = 16, warps_m = 2, warps_n = 2, stages = 3>"
    wide = "#cuda.matmul_mma<tile_m = 128, tile_n = 64, tile_k = 16, warps_m = 2, warps_n = 2, stages = 4>"
    for m, n, kk in ((64, 64, 64), (130, 72, 48), (33, 7, 127)):
        for ta in (False, True):
            for tb in (False, True):
                product = k.matmul(m, n, kk, "f64", transpose_a=ta, transpose_b=tb)
                yield f"matmul_double_{m}x{n}x{kk}_{int(ta)}{int(tb)}", product, double
    for m, n, kk in ((256, 128, 64), (131, 67, 33)):
        yield f"matmul_double_wide_{m}x{n}x{kk}", k.matmul(m, n, kk, "f64"), wide
    yield "matmul_double_bias", k.matmul(64, 64, 32, "f64", bias=True), double
    yield "matmul_double_symbolic", k.matmul("m", "n", "k", "f64", sizes={"m": 40, "n": 24, "k": 56}), double

    yield "gather_rows", k.gather(10, 33, 7), None
    yield "gather_rows_wide", k.gather(10, 64, 40), None
    for left, right in ((4, 8), (3, 5), (1, 64)):
        yield f"concatenate_{left}_{right}", k.concatenate(6, left, right), None
    yield "concatenate_vectors", k.concatenate(6, 4, 8), "#cuda.elementwise<threads = 32, vector = 4, unroll = 1>"
    yield "concatenate_across_vectors", k.concatenate(6, 3, 5), "#cuda.elementwise<threads = 32, vector = 4, unroll = 1>"
    yield "pad_odd", k.pad(5, 7, (1, 2), (0, 3)), None
    yield "pad_vectors", k.pad(5, 8, (1, 4), (2, 4)), "#cuda.elementwise<threads = 32, vector = 4, unroll = 1>"
    yield "slice_strided", k.strided_slice(6, 29, 2, 3), None
    for kind in ("set", "add", "max", "min", "mul"):
        yield f"scatter_{kind}", k.scatter(kind, [10, 33], (0,), 20), None
    yield "scatter_inner_axis", k.scatter("add", [7, 9, 5], (1,), 12), None
    yield "scatter_two_axes", k.scatter("add", [7, 9, 5], (0, 2), 40), None
    yield "scatter_all_axes", k.scatter("add", [11], (0,), 40), None
    yield "scatter_i32", k.scatter("add", [10, 4], (0,), 30, "i32"), None
    yield "scatter_none", k.scatter("add", [10, 4], (0,), 0), None
    yield "scatter_generic", k.scatter("add", [10, 33], (0,), 20), "#cuda.pointwise<threads = 64>"
