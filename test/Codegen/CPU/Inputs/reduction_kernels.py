"""Kernels that reduce: over rows, columns, both, with what feeds and follows the reductions."""
import numpy as np

from check_kernels import Case
from elementwise_kernels import COLUMN, MAP1, MAP2, PP, ROW, generic

PR = ("parallel", "reduction")
RP = ("reduction", "parallel")
ROWS = [(1, 1), (3, 7), (5, 8), (4, 9), (9, 1000), (0, 5), (300, 64), (2, 100003)]


def init(name, value, type_, dtype, sizes=""):
    return (f"\n    %{name}_c = arith.constant {value} : {dtype}\n    %{name}_e = tensor.empty({sizes}) : {type_}\n"
            f"    %{name} = linalg.fill ins(%{name}_c : {dtype}) outs(%{name}_e : {type_}) -> {type_}")


def softmax(rows, columns, sizes_rows, sizes, axis=1):
    matrix, vector = f"tensor<{rows}x{columns}xf32>", f"tensor<{rows if axis == 1 else columns}xf32>"
    vector_map, kinds = (COLUMN, PR) if axis == 1 else (ROW, RP)
    return (init("minf", "0xFF800000", vector, "f32", sizes_rows) + init("zero", "0.0", vector, "f32", sizes_rows) +
            generic([MAP2, vector_map], kinds, ["%a0"], [matrix], "%minf", vector, "%x: f32, %o: f32",
                    "%y = arith.maximumf %x, %o : f32\n linalg.yield %y : f32", "%max") +
            f"\n    %e = tensor.empty({sizes}) : {matrix}" +
            generic([MAP2, vector_map, MAP2], PP, ["%a0", "%max"], [matrix, vector], "%e", matrix,
                    "%x: f32, %m: f32, %o: f32",
                    "%d = arith.subf %x, %m : f32\n %y = math.exp %d : f32\n linalg.yield %y : f32", "%exp") +
            generic([MAP2, vector_map], kinds, ["%exp"], [matrix], "%zero", vector, "%x: f32, %o: f32",
                    "%y = arith.addf %x, %o : f32\n linalg.yield %y : f32", "%sum") +
            generic([MAP2, vector_map, MAP2], PP, ["%exp", "%sum"], [matrix, vector], "%e", matrix,
                    "%x: f32, %m: f32, %o: f32", "%y = arith.divf %x, %m : f32\n linalg.yield %y : f32"))


def softmax_reference(axis):
    def reference(x):
        if x.size == 0:
            return x
        e = np.exp(x - x.max(axis, keepdims=True))
        return e / e.sum(axis, keepdims=True)
    return reference


def layer_norm(rows, columns, sizes_rows, sizes, count):
    matrix, vector = f"tensor<{rows}x{columns}xf32>", f"tensor<{rows}xf32>"
    weight = f"tensor<{columns}xf32>"
    return (init("zero", "0.0", vector, "f32", sizes_rows) + f"\n    %e = tensor.empty({sizes}) : {matrix}\n" + count +
            generic([MAP2, COLUMN], PR, ["%a0"], [matrix], "%zero", vector, "%x: f32, %o: f32",
                    "%y = arith.addf %x, %o : f32\n linalg.yield %y : f32", "%sum") +
            generic([MAP1, MAP1], ["parallel"], ["%sum"], [vector], "%zero_e", vector, "%x: f32, %o: f32",
                    "%y = arith.divf %x, %n : f32\n linalg.yield %y : f32", "%mean") +
            generic([MAP2, COLUMN, COLUMN], PR, ["%a0", "%mean"], [matrix, vector], "%zero", vector,
                    "%x: f32, %m: f32, %o: f32", "%d = arith.subf %x, %m : f32\n %q = arith.mulf %d, %d : f32\n"
                    "%y = arith.addf %q, %o : f32\n linalg.yield %y : f32", "%squares") +
            generic([MAP1, MAP1], ["parallel"], ["%squares"], [vector], "%zero_e", vector, "%x: f32, %o: f32",
                    "%v = arith.divf %x, %n : f32\n %eps = arith.constant 1.0e-5 : f32\n %w = arith.addf %v, %eps : f32\n"
                    "%y = math.rsqrt %w : f32\n linalg.yield %y : f32", "%rstd") +
            generic([MAP2, COLUMN, COLUMN, ROW, ROW, MAP2], PP, ["%a0", "%mean", "%rstd", "%a1", "%a2"],
                    [matrix, vector, vector, weight, weight], "%e", matrix,
                    "%x: f32, %m: f32, %r: f32, %g: f32, %b: f32, %o: f32",
                    "%d = arith.subf %x, %m : f32\n %s = arith.mulf %d, %r : f32\n %t = arith.mulf %s, %g : f32\n"
                    "%y = arith.addf %t, %b : f32\n linalg.yield %y : f32"))


def layer_norm_reference(x, gamma, beta):
    mean = x.mean(1, keepdims=True)
    return (x - mean) / np.sqrt(((x - mean) ** 2).mean(1, keepdims=True) + 1e-5) * gamma + beta


def argmax(rows, columns, axis, sizes):
    matrix, kept = f"tensor<{rows}x{columns}xf32>", rows if axis == 1 else columns
    vector_map, kinds = (COLUMN, PR) if axis == 1 else (ROW, RP)
    return (init("minf", "0xFF800000", f"tensor<{kept}xf32>", "f32", sizes) +
            init("first", "0", f"tensor<{kept}xi32>", "i32", sizes) + f"""
    %r0, %r1 = linalg.generic {{indexing_maps = [{MAP2}, {vector_map}, {vector_map}], iterator_types = ["{kinds[0]}", "{kinds[1]}"]}}
      ins(%a0 : {matrix}) outs(%minf, %first : tensor<{kept}xf32>, tensor<{kept}xi32>) {{
      ^bb0(%x: f32, %m: f32, %i: i32):
        %k = linalg.index {axis} : index
        %n = arith.index_cast %k : index to i32
        %better = arith.cmpf ogt, %x, %m : f32
        %y = arith.select %better, %x, %m : f32
        %j = arith.select %better, %n, %i : i32
        linalg.yield %y, %j : f32, i32
    }} -> (tensor<{kept}xf32>, tensor<{kept}xi32>)""")


def reduction(maps, kinds, in_type, out_type, dtype, start, body, sizes=""):
    return init("start", start, out_type, dtype, sizes) + generic(
        maps, kinds, ["%a0"], [in_type], "%start", out_type, f"%x: {dtype}, %o: {dtype}", body)


def window(source, before, dtype="f32"):
    """Sums of 3 x 3 windows of the 6x19x37 tensor %source, padded by one; `before` computes it."""
    image, padded = f"tensor<6x19x37x{dtype}>", f"tensor<6x21x39x{dtype}>"
    return (before + init("start", "0.0", image, dtype) + f"""
    %p = tensor.pad %{source} low[0, 1, 1] high[0, 1, 1] {{
    ^bb0(%i: index, %j: index, %k: index):
      tensor.yield %start_c : {dtype}
    }} : {image} to {padded}
    %w = tensor.empty() : tensor<3x3xi8>
    %r0 = linalg.generic {{indexing_maps = [affine_map<(c, p, q, r, s) -> (c, p + r, q + s)>, affine_map<(c, p, q, r, s) -> (r, s)>,
                                           affine_map<(c, p, q, r, s) -> (c, p, q)>],
                          iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}}
      ins(%p, %w : {padded}, tensor<3x3xi8>) outs(%start : {image}) {{
      ^bb0(%x: {dtype}, %n: i8, %o: {dtype}):
        %y = arith.addf %x, %o : {dtype}
        linalg.yield %y : {dtype}
    }} -> {image}""")


def window_reference(x):
    padded = np.pad(x, ((0, 0), (1, 1), (1, 1)))
    return sum(padded[:, r:r + 19, s:s + 37] for r in range(3) for s in range(3))


def get_cases():
    add = "%y = arith.addf %x, %o : f32\n linalg.yield %y : f32"
    matrix_in = (("s0", "s1"), "f32", "read")
    d3 = "affine_map<(d0, d1, d2) -> (d0, d1, d2)>"
    cases = [
        Case("softmax_rows", [matrix_in, (("s0", "s1"), "f32", "write")], softmax("?", "?", "%s0", "%s0, %s1"),
             softmax_reference(1), ROWS, "reduction"),
        Case("softmax_static", [((33, 1000), "f32", "read"), ((33, 1000), "f32", "write")], softmax(33, 1000, "", ""),
             softmax_reference(1), config="reduction"),
        Case("softmax_one_row", [((1, 4097), "f32", "read"), ((1, 4097), "f32", "write")], softmax(1, 4097, "", ""),
             softmax_reference(1), config="reduction"),
        Case("softmax_ten_classes", [(("s0", 10), "f32", "read"), (("s0", 10), "f32", "write")],
             softmax("?", 10, "%s0", "%s0"), softmax_reference(1), [(1,), (599,)], config="reduction"),
        Case("softmax_columns", [matrix_in, (("s0", "s1"), "f32", "write")], softmax("?", "?", "%s1", "%s0, %s1", 0),
             softmax_reference(0), [(1, 1), (7, 3), (1000, 9), (20, 300), (64, 1000)], "reduction"),
        Case("layer_norm", [(("s0", 768), "f32", "read"), ((768,), "f32", "read"), ((768,), "f32", "read"),
                            (("s0", 768), "f32", "write")],
             layer_norm("?", 768, "%s0", "%s0", "%n = arith.constant 768.0 : f32\n"), layer_norm_reference,
             [(1,), (128,)], "reduction", tolerance=2),
        Case("layer_norm_odd", [((5, 77), "f32", "read"), ((77,), "f32", "read"), ((77,), "f32", "read"),
                                ((5, 77), "f32", "write")],
             layer_norm(5, 77, "", "", "%n = arith.constant 77.0 : f32\n"), layer_norm_reference, config="reduction",
             tolerance=2),
        Case("row_sum", [matrix_in, (("s0",), "f32", "write")],
             reduction([MAP2, COLUMN], PR, "tensor<?x?xf32>", "tensor<?xf32>", "f32", "0.0", add, "%s0"),
             lambda x: x.sum(1), ROWS, "reduction", tolerance=10),
        Case("column_sum", [matrix_in, (("s1",), "f32", "write")],
             reduction([MAP2, ROW], RP, "tensor<?x?xf32>", "tensor<?xf32>", "f32", "0.0", add, "%s1"),
             lambda x: x.sum(0), [(1, 1), (7, 3), (8, 5), (1000, 9), (5, 0), (0, 5), (300, 1000)], "reduction", tolerance=10),
        Case("column_sum_i32", [((70, 45), "i32", "read"), ((45,), "i32", "write")],
             reduction([MAP2, ROW], RP, "tensor<70x45xi32>", "tensor<45xi32>", "i32", "0",
                       "%y = arith.addi %x, %o : i32\n linalg.yield %y : i32"), lambda x: x.sum(0), config="reduction"),
        Case("sum_of_all", [(("s0", "s1"), "f32", "read"), ((), "f32", "write")],
             reduction([MAP2, "affine_map<(d0, d1) -> ()>"], ("reduction", "reduction"), "tensor<?x?xf32>", "tensor<f32>",
                       "f32", "0.0", add), lambda x: x.sum(), [(1, 1), (0, 3), (7, 9), (100, 1000)], "reduction", tolerance=10),
        Case("middle_axis", [((6, 50, 33), "f32", "read"), ((6, 33), "f32", "write")],
             reduction([d3, "affine_map<(d0, d1, d2) -> (d0, d2)>"], ("parallel", "reduction", "parallel"),
                       "tensor<6x50x33xf32>", "tensor<6x33xf32>", "f32", "0.0", add), lambda x: x.sum(1),
             config="reduction", tolerance=10),
        Case("outer_and_inner_axis", [((9, 5, 70), "f32", "read"), ((5,), "f32", "write")],
             reduction([d3, "affine_map<(d0, d1, d2) -> (d1)>"], ("reduction", "parallel", "reduction"),
                       "tensor<9x5x70xf32>", "tensor<5xf32>", "f32", "1.0", "%y = arith.maximumf %x, %o : f32\n linalg.yield %y : f32"),
             lambda x: np.maximum(x.max((0, 2)), 1), config="reduction"),
        Case("i8_max", [((9, 100), "i8", "read"), ((9,), "i8", "write")],
             reduction([MAP2, COLUMN], PR, "tensor<9x100xi8>", "tensor<9xi8>", "i8", "-128",
                       "%y = arith.maxsi %x, %o : i8\n linalg.yield %y : i8"), lambda x: x.max(1), config="reduction"),
        Case("bf16_sum_in_f32", [((9, 100), "bf16", "read"), ((9,), "f32", "write")],
             init("start", "0.0", "tensor<9xf32>", "f32") + generic(
                 [MAP2, COLUMN], PR, ["%a0"], ["tensor<9x100xbf16>"], "%start", "tensor<9xf32>", "%x: bf16, %o: f32",
                 "%w = arith.extf %x : bf16 to f32\n %y = arith.addf %w, %o : f32\n linalg.yield %y : f32"),
             lambda x: x.sum(1), config="reduction"),
        # Copied in vectors with what computes it, and one by one where vectors would lie across memory.
        Case("window_of_squares", [((6, 19, 37), "f32", "read"), ((6, 19, 37), "f32", "write")],
             window("q", "%e = tensor.empty() : tensor<6x19x37xf32>" + generic(
                 [d3, d3], ["parallel"] * 3, ["%a0"], ["tensor<6x19x37xf32>"], "%e", "tensor<6x19x37xf32>", "%x: f32, %o: f32",
                 "%y = arith.mulf %x, %x : f32\n linalg.yield %y : f32", "%q")),
             lambda x: window_reference(x * x), config="reduction", tolerance=10),
        Case("window_of_transposed", [((6, 37, 19), "f32", "read"), ((6, 19, 37), "f32", "write")],
             window("q", "%e = tensor.empty() : tensor<6x19x37xf32>" + generic(
                 ["affine_map<(d0, d1, d2) -> (d0, d2, d1)>", d3], ["parallel"] * 3, ["%a0"], ["tensor<6x37x19xf32>"], "%e",
                 "tensor<6x19x37xf32>", "%x: f32, %o: f32", "%y = arith.addf %x, %x : f32\n linalg.yield %y : f32", "%q")),
             lambda x: window_reference(2 * x.transpose(0, 2, 1)), config="reduction", tolerance=10),
        Case("argmax_rows", [((37, 1000), "f32", "read"), ((37,), "f32", "write"), ((37,), "i32", "write")],
             argmax(37, 1000, 1, ""), lambda x: (x.max(1), x.argmax(1)), config="reduction"),
        Case("argmax_columns", [((100, 45), "f32", "read"), ((45,), "f32", "write"), ((45,), "i32", "write")],
             argmax(100, 45, 0, ""), lambda x: (x.max(0), x.argmax(0)), config="reduction"),
        Case("argmax_dynamic", [matrix_in, (("s0",), "f32", "write"), (("s0",), "i32", "write")],
             argmax("?", "?", 1, "%s0"), lambda x: (x.max(1), x.argmax(1)), [(1, 1), (7, 10), (9, 33)], config="reduction"),
        Case("mean_as_column", [((9, 33), "f32", "read"), ((9, 33), "f32", "write")],
             init("zero", "0.0", "tensor<9xf32>", "f32") + generic(
                 [MAP2, COLUMN], PR, ["%a0"], ["tensor<9x33xf32>"], "%zero", "tensor<9xf32>", "%x: f32, %o: f32", add, "%sum") +
             "\n%k = tensor.expand_shape %sum [[0, 1]] output_shape [9, 1] : tensor<9xf32> into tensor<9x1xf32>"
             "\n%e = tensor.empty() : tensor<9x33xf32>" + generic(
                 [MAP2, "affine_map<(d0, d1) -> (d0, 0)>", MAP2], PP, ["%a0", "%k"], ["tensor<9x33xf32>", "tensor<9x1xf32>"],
                 "%e", "tensor<9x33xf32>", "%x: f32, %m: f32, %o: f32", "%y = arith.subf %x, %m : f32\n linalg.yield %y : f32"),
             lambda x: x - x.sum(1, keepdims=True), config="reduction", tolerance=4),
        Case("row_and_total_take_the_generic_kernel", [((9, 33), "f32", "read"), ((9,), "f32", "write"), ((), "f32", "write")],
             init("zero", "0.0", "tensor<9xf32>", "f32") + generic(
                 [MAP2, COLUMN], PR, ["%a0"], ["tensor<9x33xf32>"], "%zero", "tensor<9xf32>", "%x: f32, %o: f32", add) +
             init("zero0", "0.0", "tensor<f32>", "f32") + generic(
                 [MAP1, "affine_map<(d0) -> ()>"], ["reduction"], ["%r0"], ["tensor<9xf32>"], "%zero0", "tensor<f32>",
                 "%x: f32, %o: f32", add, "%r1"), lambda x: (x.sum(1), x.sum()), config="generic", tolerance=4),
    ]
    return cases
