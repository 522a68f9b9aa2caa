"""Elementwise kernels: broadcasts, transposes, slices, gathers, 16-bit floats, integers, odd sizes."""
import numpy as np

from check_kernels import Case

ODD = [(1,), (7,), (8,), (9,), (31,), (32,), (33,), (1000,), (0,), (100003,)]


def generic(maps, iterators, ins, in_types, out, out_type, arguments, body, result="%r0"):
    ins_text = f"ins({', '.join(ins)} : {', '.join(in_types)}) " if ins else ""
    return f"""
    {result} = linalg.generic {{indexing_maps = [{', '.join(maps)}], iterator_types = [{', '.join(f'"{i}"' for i in iterators)}]}}
      {ins_text}outs({out} : {out_type}) {{
      ^bb0({arguments}):
        {body}
    }} -> {out_type}"""


MAP1 = "affine_map<(d0) -> (d0)>"
MAP2 = "affine_map<(d0, d1) -> (d0, d1)>"
MAP2T = "affine_map<(d0, d1) -> (d1, d0)>"
ROW = "affine_map<(d0, d1) -> (d1)>"
COLUMN = "affine_map<(d0, d1) -> (d0)>"
PP = ("parallel", "parallel")


def unary(dtype, body, shape="?", sizes="%s0"):
    type_ = f"tensor<{shape}x{dtype}>"
    return f"    %e = tensor.empty({sizes}) : {type_}\n" + generic(
        [MAP1, MAP1], ["parallel"], ["%a0"], [type_], "%e", type_, f"%x: {dtype}, %o: {dtype}", body)


def get_cases():
    cases = [
        Case("double", [(("s0",), "f32", "read"), (("s0",), "f32", "write")],
             unary("f32", "%y = arith.addf %x, %x : f32\n linalg.yield %y : f32"), lambda x: x + x, ODD, "elementwise"),
        Case("exp", [(("s0",), "f32", "read"), (("s0",), "f32", "write")],
             unary("f32", "%y = math.exp %x : f32\n linalg.yield %y : f32"), np.exp, ODD, "elementwise"),
        Case("named_tanh_f64", [((33, 5), "f64", "read"), ((33, 5), "f64", "write")],
             "%e = tensor.empty() : tensor<33x5xf64>\n"
             "%r0 = linalg.tanh ins(%a0 : tensor<33x5xf64>) outs(%e : tensor<33x5xf64>) -> tensor<33x5xf64>", np.tanh),
        Case("i8_wraps", [(("s0",), "i8", "read"), (("s0",), "i8", "write")],
             unary("i8", "%y = arith.muli %x, %x : i8\n linalg.yield %y : i8"),
             lambda x: (x.astype(np.int64) ** 2).astype(np.int8), ODD, "elementwise"),
        Case("bf16_in_f32", [(("s0",), "bf16", "read"), (("s0",), "bf16", "write")],
             unary("bf16", "%w = arith.extf %x : bf16 to f32\n %m = arith.mulf %w, %w : f32\n"
                   "%y = arith.truncf %m : f32 to bf16\n linalg.yield %y : bf16"), lambda x: x * x, ODD, "elementwise"),
        Case("bf16_directly", [(("s0",), "bf16", "read"), (("s0",), "bf16", "write")],
             unary("bf16", "%y = arith.mulf %x, %x : bf16\n linalg.yield %y : bf16"), lambda x: x * x, ODD),
    ]
    for arch in ("x86-64-v3", "x86-64-v2"):
        cases.append(Case(f"f16_{arch}", [(("s0",), "f16", "read"), (("s0",), "f16", "write")],
                          unary("f16", "%w = arith.extf %x : f16 to f32\n %m = arith.mulf %w, %w : f32\n"
                                "%y = arith.truncf %m : f32 to f16\n linalg.yield %y : f16"),
                          lambda x: x * x, ODD, "elementwise", arch=arch))
    cases += [
        Case("row_broadcast", [(("s0", "s1"), "f32", "read"), (("s1",), "f32", "read"), (("s0", "s1"), "f32", "write")],
             "%e = tensor.empty(%s0, %s1) : tensor<?x?xf32>" + generic(
                 [MAP2, ROW, MAP2], PP, ["%a0", "%a1"], ["tensor<?x?xf32>", "tensor<?xf32>"], "%e", "tensor<?x?xf32>",
                 "%x: f32, %b: f32, %o: f32", "%y = arith.addf %x, %b : f32\n linalg.yield %y : f32"),
             lambda x, b: x + b, [(3, 5), (1, 1), (0, 4), (4, 0), (9, 1000), (1000, 9), (2, 40000)], "elementwise"),
        Case("column_broadcast", [((50, 33), "f32", "read"), ((50,), "f32", "read"), ((50, 33), "f32", "write")],
             "%e = tensor.empty() : tensor<50x33xf32>" + generic(
                 [MAP2, COLUMN, MAP2], PP, ["%a0", "%a1"], ["tensor<50x33xf32>", "tensor<50xf32>"], "%e",
                 "tensor<50x33xf32>", "%x: f32, %b: f32, %o: f32", "%y = arith.subf %x, %b : f32\n linalg.yield %y : f32"),
             lambda x, b: x - b[:, None], config="elementwise"),
        Case("transpose", [(("s0", "s1"), "f32", "read"), (("s1", "s0"), "f32", "write")],
             "%e = tensor.empty(%s1, %s0) : tensor<?x?xf32>" + generic(
                 [MAP2T, MAP2], PP, ["%a0"], ["tensor<?x?xf32>"], "%e", "tensor<?x?xf32>", "%x: f32, %o: f32",
                 "linalg.yield %x : f32"), lambda x: x.T, [(3, 5), (1, 1), (100, 70), (129, 257), (8, 1000)], "elementwise"),
        Case("permute_3d", [((7, 11, 13), "f32", "read"), ((13, 7, 11), "f32", "write")],
             "%e = tensor.empty() : tensor<13x7x11xf32>" + generic(
                 ["affine_map<(d0, d1, d2) -> (d1, d2, d0)>", "affine_map<(d0, d1, d2) -> (d0, d1, d2)>"],
                 ["parallel"] * 3, ["%a0"], ["tensor<7x11x13xf32>"], "%e", "tensor<13x7x11xf32>", "%x: f32, %o: f32",
                 "linalg.yield %x : f32"), lambda x: x.transpose(2, 0, 1)),
        Case("two_results_of_two_shapes", [((6, 70), "f32", "read"), ((6, 70), "f32", "write"), ((70, 6), "f32", "write")],
             "%e = tensor.empty() : tensor<6x70xf32>\n %f = tensor.empty() : tensor<70x6xf32>" + generic(
                 [MAP2, MAP2], PP, ["%a0"], ["tensor<6x70xf32>"], "%e", "tensor<6x70xf32>", "%x: f32, %o: f32",
                 "%y = arith.addf %x, %x : f32\n linalg.yield %y : f32") + generic(
                 [MAP2T, MAP2], PP, ["%r0"], ["tensor<6x70xf32>"], "%f", "tensor<70x6xf32>", "%x: f32, %o: f32",
                 "linalg.yield %x : f32", "%r1"), lambda x: (2 * x, 2 * x.T)),
        Case("strided_slice", [((100, 64), "f32", "read"), ((20, 10), "f32", "write")],
             "%t = tensor.extract_slice %a0[10, 3] [20, 10] [2, 5] : tensor<100x64xf32> to tensor<20x10xf32>\n"
             "%e = tensor.empty() : tensor<20x10xf32>" + generic(
                 [MAP2, MAP2], PP, ["%t"], ["tensor<20x10xf32>"], "%e", "tensor<20x10xf32>", "%x: f32, %o: f32",
                 "%y = arith.negf %x : f32\n linalg.yield %y : f32"), lambda x: -x[10:50:2, 3:53:5], config="elementwise"),
        Case("leading_slice", [((9, 6), "f32", "read"), ((9, 4), "f32", "write")],
             "%t = tensor.extract_slice %a0[0, 0] [9, 4] [1, 1] : tensor<9x6xf32> to tensor<9x4xf32>\n"
             "%e = tensor.empty() : tensor<9x4xf32>" + generic(
                 [MAP2, MAP2], PP, ["%t"], ["tensor<9x4xf32>"], "%e", "tensor<9x4xf32>", "%x: f32, %o: f32",
                 "%y = arith.negf %x : f32\n linalg.yield %y : f32"), lambda x: -x[:, :4], config="elementwise"),
        Case("reshape_between", [((12, 10), "f32", "read"), ((30, 4), "f32", "write")],
             "%e = tensor.empty() : tensor<12x10xf32>" + generic(
                 [MAP2, MAP2], PP, ["%a0"], ["tensor<12x10xf32>"], "%e", "tensor<12x10xf32>", "%x: f32, %o: f32",
                 "%y = arith.addf %x, %x : f32\n linalg.yield %y : f32", "%d") +
             "\n%c = tensor.collapse_shape %d [[0, 1]] : tensor<12x10xf32> into tensor<120xf32>"
             "\n%x4 = tensor.expand_shape %c [[0, 1]] output_shape [30, 4] : tensor<120xf32> into tensor<30x4xf32>"
             "\n%g = tensor.empty() : tensor<30x4xf32>" + generic(
                 [MAP2, MAP2], PP, ["%x4"], ["tensor<30x4xf32>"], "%g", "tensor<30x4xf32>", "%x: f32, %o: f32",
                 "%y = arith.negf %x : f32\n linalg.yield %y : f32"), lambda x: (-2 * x).reshape(30, 4)),
        Case("concatenate_columns", [((5, 3), "f32", "read"), ((5, 40), "f32", "read"), ((5, 43), "f32", "write")],
             "%e = tensor.empty() : tensor<5x43xf32>\n"
             "%p = tensor.insert_slice %a0 into %e[0, 0] [5, 3] [1, 1] : tensor<5x3xf32> into tensor<5x43xf32>\n"
             "%r0 = tensor.insert_slice %a1 into %p[0, 3] [5, 40] [1, 1] : tensor<5x40xf32> into tensor<5x43xf32>",
             lambda x, y: np.concatenate([x, y], 1), config="elementwise"),
        Case("pad", [((5, 30), "f32", "read"), ((8, 40), "f32", "write")],
             "%z = arith.constant 1.5 : f32\n"
             "%r0 = tensor.pad %a0 low[1, 4] high[2, 6] {\n ^bb0(%i: index, %j: index):\n tensor.yield %z : f32\n"
             "} : tensor<5x30xf32> to tensor<8x40xf32>",
             lambda x: np.pad(x, ((1, 2), (4, 6)), constant_values=1.5), config="elementwise"),
        Case("take_rows", [((50, 33), "f32", "read"), ((20,), "i32", "read"), ((20, 33), "f32", "write")],
             "%e = tensor.empty() : tensor<20x33xf32>" + generic(
                 [COLUMN, MAP2], PP, ["%a1"], ["tensor<20xi32>"], "%e", "tensor<20x33xf32>", "%i: i32, %o: f32",
                 "%k = arith.index_cast %i : i32 to index\n %j = linalg.index 1 : index\n"
                 "%y = tensor.extract %a0[%k, %j] : tensor<50x33xf32>\n linalg.yield %y : f32"),
             lambda x, i: x[i], config="elementwise",
             make=lambda rng, position, shape: rng.integers(0, 50, shape).astype(np.int32) if position == 1 else None),
        Case("take_elements", [((50,), "f32", "read"), ((77,), "i64", "read"), ((77,), "f32", "write")],
             "%e = tensor.empty() : tensor<77xf32>" + generic(
                 [MAP1, MAP1], ["parallel"], ["%a1"], ["tensor<77xi64>"], "%e", "tensor<77xf32>", "%i: i64, %o: f32",
                 "%k = arith.index_cast %i : i64 to index\n"
                 "%y = tensor.extract %a0[%k] : tensor<50xf32>\n linalg.yield %y : f32"),
             lambda x, i: x[i], config="elementwise",
             make=lambda rng, position, shape: rng.integers(0, 50, shape) if position == 1 else None),
        Case("iota", [((10, 45), "i32", "write")],
             "%e = tensor.empty() : tensor<10x45xi32>" + generic(
                 [MAP2], PP, [], [], "%e", "tensor<10x45xi32>", "%o: i32",
                 "%i = linalg.index 0 : index\n %j = linalg.index 1 : index\n %c = arith.constant 100 : index\n"
                 "%m = arith.muli %i, %c : index\n %n = arith.addi %m, %j : index\n"
                 "%y = arith.index_cast %n : index to i32\n linalg.yield %y : i32"),
             lambda: np.arange(10)[:, None] * 100 + np.arange(45), config="elementwise"),
        Case("fill", [((10, 45), "f32", "write")],
             "%e = tensor.empty() : tensor<10x45xf32>\n %c = arith.constant 2.5 : f32\n"
             "%r0 = linalg.fill ins(%c : f32) outs(%e : tensor<10x45xf32>) -> tensor<10x45xf32>",
             lambda: np.full((10, 45), 2.5), config="elementwise"),
        Case("no_dims", [((), "f32", "read"), ((), "f32", "write")],
             "%e = tensor.empty() : tensor<f32>" + generic(
                 ["affine_map<() -> ()>", "affine_map<() -> ()>"], [], ["%a0"], ["tensor<f32>"], "%e", "tensor<f32>",
                 "%x: f32, %o: f32", "%y = math.exp %x : f32\n linalg.yield %y : f32"), np.exp, config="elementwise"),
        Case("dense_constant_takes_the_generic_kernel", [((4,), "f32", "read"), ((4,), "f32", "write")],
             "%c = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>\n %e = tensor.empty() : tensor<4xf32>" + generic(
                 [MAP1, MAP1, MAP1], ["parallel"], ["%a0", "%c"], ["tensor<4xf32>", "tensor<4xf32>"], "%e", "tensor<4xf32>",
                 "%x: f32, %b: f32, %o: f32", "%y = arith.mulf %x, %b : f32\n linalg.yield %y : f32"),
             lambda x: x * np.arange(1, 5), config="generic"),
    ]
    return cases
