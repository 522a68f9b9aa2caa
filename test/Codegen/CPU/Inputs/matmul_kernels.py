"""Matrix products: layouts, batches, 16-bit floats, integers, prologue and epilogue, odd sizes."""
import numpy as np

from check_kernels import Case
from elementwise_kernels import MAP2, PP, ROW, generic
from reduction_kernels import init

SIZES = [(1, 1, 1), (7, 9, 8), (2, 3, 33), (6, 16, 5), (7, 17, 257), (100, 50, 300), (200, 270, 64), (0, 3, 4), (3, 4, 0),
         (192, 256, 256)]
D3 = "(d0, d1, d2)"
LAYOUTS = {"nn": ("(d0, d2)", "(d2, d1)"), "nt": ("(d0, d2)", "(d1, d2)"), "tn": ("(d2, d0)", "(d2, d1)"),
           "tt": ("(d2, d0)", "(d1, d2)")}


def contract(layout, lhs, rhs, out, lhs_type, rhs_type, out_type, result="%r0"):
    a, b = LAYOUTS[layout]
    return f"""
    {result} = linalg.contract indexing_maps = [affine_map<{D3} -> {a}>, affine_map<{D3} -> {b}>, affine_map<{D3} -> (d0, d1)>]
      ins({lhs}, {rhs} : {lhs_type}, {rhs_type}) outs({out} : {out_type}) -> {out_type}"""


def layout_case(layout):
    # Scalars in order of name: k, m, n.
    a_shape = ("s1", "s0") if layout[0] == "n" else ("s0", "s1")
    b_shape = ("s0", "s2") if layout[1] == "n" else ("s2", "s0")
    sizes = [(k, m, n) for m, n, k in SIZES]
    dynamic = "tensor<?x?xf32>"
    return Case(f"dynamic_{layout}", [(a_shape, "f32", "read"), (b_shape, "f32", "read"), (("s1", "s2"), "f32", "write")],
                init("zero", "0.0", dynamic, "f32", "%s1, %s2") + contract(layout, "%a0", "%a1", "%zero", dynamic, dynamic, dynamic),
                lambda a, b: (a if layout[0] == "n" else a.T) @ (b if layout[1] == "n" else b.T), sizes, "matmul", tolerance=20)


def static_case(m, n, k, dtype="f32", out="f32", arch="x86-64-v3", config="matmul"):
    zero = "0.0" if out.startswith("f") else "0"
    return Case(f"{m}x{n}x{k}_{dtype}_{out}_{arch}",
                [((m, k), dtype, "read"), ((k, n), dtype, "read"), ((m, n), out, "write")],
                init("zero", zero, f"tensor<{m}x{n}x{out}>", out) +
                contract("nn", "%a0", "%a1", "%zero", f"tensor<{m}x{k}x{dtype}>", f"tensor<{k}x{n}x{dtype}>", f"tensor<{m}x{n}x{out}>"),
                lambda a, b: a.astype(np.float64 if out.startswith("f") else np.int64) @ b.astype(np.float64 if out.startswith("f") else np.int64),
                config=config, tolerance=20, arch=arch)


def gelu(x):
    from math import erf
    return 0.5 * x * (1 + np.vectorize(erf, otypes=[float])(x / np.sqrt(2)))


def get_cases():
    cases = [layout_case(layout) for layout in LAYOUTS]
    cases += [static_case(*size) for size in [(64, 64, 64), (65, 10, 64), (2, 2, 2), (13, 7, 300), (300, 300, 300)]]
    cases += [static_case(1, 100, 64, config="reduction"), static_case(100, 1, 64, config="reduction"),
              static_case(33, 40, 50, "f64", "f64"), static_case(33, 40, 50, "bf16"), static_case(33, 40, 50, "f16"),
              static_case(33, 40, 50, "i8", "i32"), static_case(33, 40, 50, "i32", "i32"),
              static_case(33, 40, 50, arch="x86-64-v2")]
    m = "tensor<100x{}xf32>"
    cases += [
        Case("bias_gelu", [((100, 70), "f32", "read"), ((70, 50), "f32", "read"), ((50,), "f32", "read"), ((100, 50), "f32", "write")],
             init("zero", "0.0", m.format(50), "f32") +
             contract("nn", "%a0", "%a1", "%zero", m.format(70), "tensor<70x50xf32>", m.format(50), "%p") +
             generic([MAP2, ROW, MAP2], PP, ["%p", "%a2"], [m.format(50), "tensor<50xf32>"], "%zero_e", m.format(50),
                     "%x: f32, %b: f32, %o: f32", "%s = arith.addf %x, %b : f32\n %c = arith.constant 0.70710678118 : f32\n"
                     "%t = arith.mulf %s, %c : f32\n %e = math.erf %t : f32\n %one = arith.constant 1.0 : f32\n"
                     "%half = arith.constant 0.5 : f32\n %u = arith.addf %e, %one : f32\n %v = arith.mulf %u, %s : f32\n"
                     "%y = arith.mulf %v, %half : f32\n linalg.yield %y : f32"),
             lambda a, b, c: gelu(a @ b + c), config="matmul", tolerance=20),
        Case("prologue_and_two_results", [((30, 70), "f32", "read"), ((70, 50), "f32", "read"), ((30, 50), "f32", "read"),
                                          ((30, 50), "f32", "write"), ((50, 30), "f32", "write")],
             "%e0 = tensor.empty() : tensor<30x70xf32>" + init("zero", "0.0", "tensor<30x50xf32>", "f32") +
             "\n%e1 = tensor.empty() : tensor<50x30xf32>" +
             generic([MAP2, MAP2], PP, ["%a0"], ["tensor<30x70xf32>"], "%e0", "tensor<30x70xf32>", "%x: f32, %o: f32",
                     "%c = arith.constant 0.0 : f32\n %y = arith.maximumf %x, %c : f32\n linalg.yield %y : f32", "%relu") +
             contract("nn", "%relu", "%a1", "%zero", "tensor<30x70xf32>", "tensor<70x50xf32>", "tensor<30x50xf32>", "%p") +
             generic([MAP2, MAP2, MAP2], PP, ["%p", "%a2"], ["tensor<30x50xf32>", "tensor<30x50xf32>"], "%zero_e",
                     "tensor<30x50xf32>", "%x: f32, %r: f32, %o: f32", "%y = arith.addf %x, %r : f32\n linalg.yield %y : f32") +
             generic(["affine_map<(d0, d1) -> (d1, d0)>", MAP2], PP, ["%p"], ["tensor<30x50xf32>"], "%e1",
                     "tensor<50x30xf32>", "%x: f32, %o: f32", "linalg.yield %x : f32", "%r1"),
             lambda a, b, c: (np.maximum(a, 0) @ b + c, (np.maximum(a, 0) @ b).T), config="matmul", tolerance=20),
        Case("batched", [((3, 2, 20, 30), "f32", "read"), ((3, 2, 25, 30), "f32", "read"), ((3, 2, 20, 25), "f32", "write")],
             init("zero", "0.0", "tensor<3x2x20x25xf32>", "f32") + """
    %r0 = linalg.contract indexing_maps = [affine_map<(b, h, m, n, k) -> (b, h, m, k)>, affine_map<(b, h, m, n, k) -> (b, h, n, k)>,
                                           affine_map<(b, h, m, n, k) -> (b, h, m, n)>]
      ins(%a0, %a1 : tensor<3x2x20x30xf32>, tensor<3x2x25x30xf32>) outs(%zero : tensor<3x2x20x25xf32>) -> tensor<3x2x20x25xf32>""",
             lambda a, b: a @ b.transpose(0, 1, 3, 2), config="matmul", tolerance=20),
        Case("accumulates_into_a_tensor", [((20, 30), "f32", "read"), ((30, 25), "f32", "read"), ((20, 25), "f32", "read"),
                                           ((20, 25), "f32", "write")],
             "%r0 = linalg.matmul ins(%a0, %a1 : tensor<20x30xf32>, tensor<30x25xf32>) outs(%a2 : tensor<20x25xf32>) -> tensor<20x25xf32>",
             lambda a, b, c: c + a @ b, config="matmul", tolerance=20),
        Case("bf16_result", [((20, 30), "bf16", "read"), ((30, 25), "bf16", "read"), ((20, 25), "bf16", "write")],
             init("zero", "0.0", "tensor<20x25xf32>", "f32") + "\n%e = tensor.empty() : tensor<20x25xbf16>" +
             contract("nn", "%a0", "%a1", "%zero", "tensor<20x30xbf16>", "tensor<30x25xbf16>", "tensor<20x25xf32>", "%p") +
             generic([MAP2, MAP2], PP, ["%p"], ["tensor<20x25xf32>"], "%e", "tensor<20x25xbf16>", "%x: f32, %o: bf16",
                     "%y = arith.truncf %x : f32 to bf16\n linalg.yield %y : bf16"),
             lambda a, b: a @ b, config="matmul"),
    ]
    return cases
