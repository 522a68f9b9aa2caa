"""linalg on tensors with `?` dims: what is computed, and which sizes, slices and indices are refused."""
import numpy as np

from cases.conv import convolve
from cases.linalg import init
from harness import Case, Step
from tensors import Tensor, random


def symbolic():
    """Sizes from tensor.dim; each function with several of them."""
    body = """
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %n = tensor.dim %0, %c0 : tensor<?x12xf32>
    %e = tensor.empty(%n) : tensor<?x8xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x8xf32>) -> tensor<?x8xf32>
    %m = linalg.matmul ins(%0, %1 : tensor<?x12xf32>, tensor<12x8xf32>) outs(%f : tensor<?x8xf32>) -> tensor<?x8xf32>
    %b = linalg.broadcast ins(%2 : tensor<8xf32>) outs(%e : tensor<?x8xf32>) dimensions = [0]
    %s = arith.addf %m, %b : tensor<?x8xf32>
    %g = array.relu %s : tensor<?x8xf32>
    %p = array.softmax %g axis = 1 : tensor<?x8xf32>
    %k = tensor.empty() : tensor<8xf32>
    %l = linalg.fill ins(%zero : f32) outs(%k : tensor<8xf32>) -> tensor<8xf32>
    %r1 = linalg.reduce { arith.addf } ins(%p : tensor<?x8xf32>) outs(%l : tensor<8xf32>) dimensions = [0]
    %q = tensor.collapse_shape %p [[0, 1]] : tensor<?x8xf32> into tensor<?xf32>
    %r0 = tensor.pad %q low[1] high[2] {
    ^bb0(%i: index):
      tensor.yield %zero : f32
    } : tensor<?xf32> to tensor<?xf32>
"""
    text = f"""  func.func @NAME(%0: tensor<?x12xf32>, %1: tensor<12x8xf32>, %2: tensor<8xf32>) -> (tensor<?xf32>, tensor<8xf32>) {{{body}
    return %r0, %r1 : tensor<?xf32>, tensor<8xf32>
  }}
"""
    w, b, steps = random("f32", (12, 8), 91), random("f32", (8,), 92), []
    for rows in (1, 5, 64, 0):
        x = random("f32", (rows, 12), 90)
        y = np.exp(np.maximum(x.values @ w.values + b.values, 0))
        y = y / y.sum(1, keepdims=True)
        steps.append(Step([x, w, b], [("f32", np.pad(y.reshape(-1), (1, 2))), ("f32", y.sum(0))]))
    yield Case("symbolic_layer", text, steps, "sum")
    text = """  func.func @NAME(%0: tensor<?x?xf32>, %1: tensor<?x?xf32>) -> (tensor<?x?xf32>, tensor<?x?xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = tensor.dim %0, %c0 : tensor<?x?xf32>
    %m = tensor.dim %0, %c1 : tensor<?x?xf32>
    %e = tensor.empty(%m, %n) : tensor<?x?xf32>
    %t = linalg.transpose ins(%0 : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) permutation = [1, 0]
    %u = linalg.transpose ins(%1 : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) permutation = [1, 0]
    %r0 = arith.addf %t, %u : tensor<?x?xf32>
    %h = arith.subi %m, %c1 : index
    %s = tensor.extract_slice %r0[1, 0] [%h, %n] [1, 1] : tensor<?x?xf32> to tensor<?x?xf32>
    %r1 = math.exp %s : tensor<?x?xf32>
    return %r0, %r1 : tensor<?x?xf32>, tensor<?x?xf32>
  }
"""
    steps = []
    for shape in ((3, 4), (17, 1), (33, 65)):
        x, y = random("f32", shape, 93), random("f32", shape, 94)
        total = Tensor("f32", x.values + y.values).values.T
        steps.append(Step([x, y], [("f32", total), ("f32", np.exp(total[1:]))]))
    steps.append(Step([random("f32", (3, 4), 95), random("f32", (3, 5), 96)], error="4.*5|5.*4"))
    yield Case("symbolic_transpose", text, steps, "math")


def computed_slices():
    """Offsets and strides that are computed from sizes: refused where tensor leaves the slice undefined."""
    def head(name, inputs, result, op):
        return f"""  func.func @NAME({inputs}, %n: tensor<?xf32>) -> ({result}) {{
    %c0 = arith.constant 0 : index
    %c3 = arith.constant 3 : index
    %d = tensor.dim %n, %c0 : tensor<?xf32>
    %s = arith.subi %d, %c3 : index
    %r = {op}
    return %r : {result}
  }}
"""
    x, y = random("f32", (9, 4), 95), random("f32", (2, 4), 96)

    def at(n):
        return Tensor("f32", np.zeros(n + 3))

    def put(n):
        result = x.values.copy()
        result[n:2 * n + 1:n] = y.values
        return result
    below, within = "expected an offset of at least 0 in dim 0, got -1 for", "expected a slice within dim 0 .*, got {} and 9 for"
    still = "expected a stride of at least 1 in dim 0, got 1 and 0 for"
    errors = [(-1, below), (0, still), (5, within.format(11))]
    extract = head("extract", "%x: tensor<?x4xf32>", "tensor<2x4xf32>",
                   "tensor.extract_slice %x[%s, 0] [2, 4] [%s, 1] : tensor<?x4xf32> to tensor<2x4xf32>")
    yield Case("slice_extracted_at_sizes", extract, [Step([x, at(n)], [("f32", x.values[n:2 * n + 1:n])]) for n in (1, 4)] +
               [Step([x, at(n)], error=error) for n, error in errors], "exact")
    insert = head("insert", "%x: tensor<?x4xf32>, %y: tensor<2x4xf32>", "tensor<?x4xf32>",
                  "tensor.insert_slice %y into %x[%s, 0] [2, 4] [%s, 1] : tensor<2x4xf32> into tensor<?x4xf32>")
    yield Case("slice_inserted_at_sizes", insert, [Step([x, y, at(n)], [("f32", put(n))]) for n in (1, 4)] +
               [Step([x, y, at(n)], error=error) for n, error in errors], "exact")


def other_sizes():
    """What linalg on tensors leaves undefined where sizes that are known late do not fit."""
    x, y = random("f32", (5, 4), 97), random("f32", (2, 4), 98)
    yield Case("insert_of_another_size", """  func.func @NAME(%x: tensor<?x4xf32>, %y: tensor<?x4xf32>, %n: tensor<?xf32>) -> tensor<?x4xf32> {
    %c0 = arith.constant 0 : index
    %s = tensor.dim %n, %c0 : tensor<?xf32>
    %r = tensor.insert_slice %y into %x[1, 0] [%s, 4] [1, 1] : tensor<?x4xf32> into tensor<?x4xf32>
    return %r : tensor<?x4xf32>
  }
""", [Step([x, y, Tensor("f32", np.zeros(2))], [("f32", np.concatenate([x.values[:1], y.values, x.values[3:]]))]),
      Step([x, y, Tensor("f32", np.zeros(3))], error="expected dim 0 of tensor<.x4xf32> to be as large as the slice, got 2 and 3 for")], "exact")
    yield Case("expand_of_another_size", """  func.func @NAME(%x: tensor<?x4xf32>, %n: tensor<?xf32>) -> tensor<?x2x4xf32> {
    %c0 = arith.constant 0 : index
    %s = tensor.dim %n, %c0 : tensor<?xf32>
    %m = tensor.dim %x, %c0 : tensor<?x4xf32>
    %e = tensor.empty(%m) : tensor<?x4xf32>
    %a = linalg.negf ins(%x : tensor<?x4xf32>) outs(%e : tensor<?x4xf32>) -> tensor<?x4xf32>
    %r = tensor.expand_shape %a [[0, 1], [2]] output_shape [%s, 2, 4] : tensor<?x4xf32> into tensor<?x2x4xf32>
    return %r : tensor<?x2x4xf32>
  }
""", [Step([Tensor("f32", x.values[:4]), Tensor("f32", np.zeros(2))], [("f32", -x.values[:4].reshape(2, 2, 4))]),
      Step([x, Tensor("f32", np.zeros(2))], error="expected dim 0 of tensor<.x4xf32> to have the elements of the dims that it is split into, got 5 and 4 for")],
        "exact")
    yield Case("extract_of_nothing", """  func.func @NAME(%x: tensor<?xf32>, %o: tensor<?xf32>) -> tensor<?xf32> {
    %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%o : tensor<?xf32>) {
    ^bb0(%b: f32):
      %i = linalg.index 0 : index
      %v = tensor.extract %x[%i] : tensor<?xf32>
      linalg.yield %v : f32
    } -> tensor<?xf32>
    return %r : tensor<?xf32>
  }
""", [Step([Tensor("f32", x.values[0]), Tensor("f32", np.zeros(3))], [("f32", x.values[0, :3])]),
      Step([Tensor("f32", np.zeros(0)), Tensor("f32", np.zeros(0))], [("f32", np.zeros(0))]),
      Step([Tensor("f32", np.zeros(0)), Tensor("f32", np.zeros(3))],
           error="expected an element to extract in dim 0 of tensor<.xf32>, got 1 and 0 for")], "exact")


def indices():
    """Indices that are formulas over the loops, on dims of any size: what lies outside is refused."""
    def gather(name, inputs, types, maps, loops, steps, body="linalg.yield %a : f32", kinds=None):
        arguments = ", ".join(f"%{i}: {type}" for i, type in enumerate(types))
        block = ", ".join(f"%{v}: f32" for v in "abc"[:len(types)])
        ins = ", ".join(f"%{i}" for i in range(inputs)), ", ".join(types[:inputs])
        kinds = kinds or ["parallel"] * len(loops)
        return Case(f"index_{name}", f"""  func.func @NAME({arguments}) -> ({types[-1]}) {{
    %r = linalg.generic {{indexing_maps = [{", ".join(f"affine_map<({', '.join(loops)}) -> ({m})>" for m in maps)}],
        iterator_types = [{", ".join(f'"{kind}"' for kind in kinds)}]}} ins({ins[0]} : {ins[1]}) outs(%{inputs} : {types[-1]}) {{
    ^bb0({block}):
      {body}
    }} -> {types[-1]}
    return %r : {types[-1]}
  }}
""", steps, "sum")

    def zeros(n):
        return Tensor("f32", np.zeros(n))

    line, number = "tensor<?xf32>", lambda n: random("f32", (n,), 97)
    above, below = "expected all places .* to be in dim 0 of .*, got {}", "expected no place .* before the start of dim 0 of .*, got {}"
    multiply = "%m = arith.mulf %a, %b : f32\n      %s = arith.addf %m, %c : f32\n      linalg.yield %s : f32"
    w = random("f32", (3,), 98)
    steps = [Step([number(n), w, zeros(m)], [("f32", sum(w.values[j] * number(n).values[j * 3:][:2 * m:2][:m] for j in range(3)) + np.zeros(m))])
             for n, m in ((9, 2), (10, 2), (7, 1), (4, 0))]
    steps.append(Step([number(8), w, zeros(2)], error=above.format("9 and 8")))
    yield gather("sum", 2, [line, "tensor<3xf32>", line], ["i * 2 + j * 3", "j", "i"], ["i", "j"], steps, multiply, ["parallel", "reduction"])
    steps = [Step([number(4), zeros(m)], [("f32", number(4).values[np.arange(m) // 2])]) for m in (8, 7, 0)]
    steps.append(Step([number(4), zeros(9)], error=above.format("5 and 4")))
    yield gather("quotient", 1, [line, line], ["i floordiv 2", "i"], ["i"], steps)
    steps = [Step([number(n), zeros(m)], [("f32", number(n).values[np.arange(m) % 4])]) for n, m in ((4, 11), (2, 2), (0, 0))]
    steps += [Step([number(3), zeros(5)], error=above.format("4 and 3")), Step([number(1), zeros(2)], error=above.format("2 and 1"))]
    yield gather("rest", 1, [line, line], ["i mod 4", "i"], ["i"], steps)
    # What is within, though the bounds of its parts together are not.
    for name, index, sizes, at in (("half", "i - i floordiv 2", ("?", "?"), lambda i: i - i // 2), ("later_rest", "(i + 1) mod 8", ("5", "4"), lambda i: i + 1),
                                   ("start_of_period", "i - i mod 4", ("5", "8"), lambda i: i - i % 4),
                                   ("even_rest", "(i * 2) mod 8", ("7", "6"), lambda i: i * 2 % 8)):
        n, m = (int(size) if size != "?" else 5 for size in sizes)
        yield gather(name, 1, [f"tensor<{size}xf32>" for size in sizes], [index, "i"], ["i"],
                     [Step([number(n), zeros(m)], [("f32", number(n).values[at(np.arange(m))])])])
    steps = [Step([number(n), zeros(m)], [("f32", number(n).values[(np.arange(m) + 1) % 8])]) for n, m in ((8, 9), (4, 3), (1, 0))]
    steps += [Step([number(7), zeros(8)], error=above.format("8 and 7")), Step([number(3), zeros(3)], error=above.format("4 and 3"))]
    yield gather("later_rest_of_any", 1, [line, line], ["(i + 1) mod 8", "i"], ["i"], steps)
    steps = [Step([number(n), zeros(m)], [("f32", number(n).values[np.arange(m) + np.arange(m) // 2])]) for n, m in ((5, 4), (9, 4), (1, 1), (1, 0))]
    steps.append(Step([number(4), zeros(4)], error=above.format("5 and 4")))
    yield gather("growing", 1, [line, line], ["i + i floordiv 2", "i"], ["i"], steps)
    steps = [Step([number(n), zeros(m)], [("f32", number(n).values[7 - np.arange(m)])]) for n, m in ((8, 8), (9, 3), (1, 0))]
    steps += [Step([number(7), zeros(3)], error=above.format("8 and 7")), Step([number(8), zeros(9)], error=below.format("9 and 8"))]
    yield gather("reverse", 1, [line, line], ["7 - i", "i"], ["i"], steps)
    # A loop that occurs more than once: refused where one place is outside, accepted where none is.
    for name, index in (("blocks_apart", "i floordiv 4 * 8 + i mod 4"), ("blocks_reversed", "i floordiv 4 * 4 - i mod 4 + 3"),
                        ("rest_in_steps", "(i * 3) mod 5 + i"), ("falling_blocks", "i mod 3 - i floordiv 3 * 2 + 9"),
                        ("rests", "(i * 2) mod 3 + (i * 3) mod 4")):
        at = eval(f"lambda i: {index.replace('floordiv', '//').replace('mod', '%')}")
        steps = [Step([number(1), zeros(0)], [("f32", np.zeros(0))])]
        for m in range(1, 15):
            places = at(np.arange(m))
            size = places.max() + 1
            if places.min() < 0:
                steps.append(Step([number(size), zeros(m)], error=f"expected no place .* before the start of dim 0 of .*, got {9 - places.min()} and 9"))
                continue
            steps.append(Step([number(size), zeros(m)], [("f32", number(size).values[places])]))
            steps.append(Step([number(size - 1), zeros(m)], error=above.format(f"{size} and {size - 1}")))
        yield gather(name, 1, [line, line], [index, "i"], ["i"], steps)
    # Two loops of unknown size: one in blocks, one as it is; and one that shares a remainder with a loop of known size.
    steps = []
    for m, k in ((5, 3), (4, 1), (1, 2), (9, 4)):
        places = (np.arange(m) // 4 * 4 - np.arange(m) % 4 + 3)[:, None] + np.arange(k)
        x, size = number(places.max() + 1), places.max() + 1
        steps.append(Step([x, zeros(k), zeros(m)], [("f32", (x.values[places] * np.zeros(k)).sum(1))]))
        steps.append(Step([number(size - 1), zeros(k), zeros(m)], error=above.format(f"{size} and {size - 1}")))
    yield gather("blocks_and_window", 2, [line, line, line], ["i floordiv 4 * 4 - i mod 4 + j + 3", "j", "i"], ["i", "j"], steps, multiply, ["parallel", "reduction"])
    steps = []
    for m in range(1, 9):
        places = (np.arange(m)[:, None] + np.arange(3)) % 5 + np.arange(m)[:, None]
        x, size = number(places.max() + 1), places.max() + 1
        steps.append(Step([x, w, zeros(m)], [("f32", (x.values[places] * w.values).sum(1))]))
        steps.append(Step([number(size - 1), w, zeros(m)], error=above.format(f"{size} and {size - 1}")))
    yield gather("shared_rest", 2, [line, "tensor<3xf32>", line], ["(i + j) mod 5 + i", "j", "i"], ["i", "j"], steps, multiply, ["parallel", "reduction"])
    x = random("f32", (4, 3), 99)
    steps = [Step([x, zeros(3)], [("f32", x.values[2])]), Step([random("f32", (2, 3), 99), zeros(3)], error=above.format("3 and 2"))]
    yield gather("constant", 1, ["tensor<?x3xf32>", "tensor<3xf32>"], ["2, i", "i"], ["i"], steps)
    image, taps, out = "tensor<1x?x?x2xf32>", "tensor<3x2x2x4xf32>", "tensor<1x?x?x4xf32>"
    x, w = random("f32", (1, 7, 5, 2), 100), random("f32", (3, 2, 2, 4), 101)
    want = convolve(x.values, w.values, "[b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f]", strides=[2, 1])
    tops = np.array([[x.values[0, 2 * i:2 * i + 3, j:j + 2].max((0, 1)) for j in range(4)] for i in range(3)])[None]
    init, low = Tensor("f32", np.zeros((1, 3, 4, 4))), Tensor("f32", np.full((1, 3, 4, 2), -99.0))
    cut = random("f32", (1, 6, 5, 2), 100)
    yield Case("index_named", f"""  func.func @NAME(%0: {image}, %1: {taps}, %2: {out}, %3: {image}) -> ({out}, {image}) {{
    %w = tensor.empty() : tensor<3x2xf32>
    %r = linalg.conv_2d_nhwc_hwcf {{strides = dense<[2, 1]> : tensor<2xi64>}} ins(%0, %1 : {image}, {taps}) outs(%2 : {out}) -> {out}
    %s = linalg.pooling_nhwc_max {{strides = dense<[2, 1]> : tensor<2xi64>}} ins(%0, %w : {image}, tensor<3x2xf32>) outs(%3 : {image}) -> {image}
    return %r, %s : {out}, {image}
  }}
""", [Step([x, w, init, low], [("f32", want), ("f32", tops)]), Step([cut, w, init, low], error="to be in dim 1 of .*, got 7 and 6")], "sum")


def cases():
    for part in (symbolic, computed_slices, other_sizes, indices):
        yield from part()
