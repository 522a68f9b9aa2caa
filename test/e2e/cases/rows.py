"""Reductions over the rows of matrix products, which the product's kernel begins where that saves enough memory traffic: alone or
beside the product, several of them, on each layout and type that tensor cores know, at sizes around parts and tiles."""
import numpy as np

from harness import Case, Step
import tensors
from tensors import Tensor, mlir_type


def quarters(dtype, shape, seed):
    """Numbers whose products and sums are exact, so that rounding to 16 bits is the only one on either side."""
    if dtype in ("i8", "u8"):
        return tensors.random(dtype, shape, seed)
    return Tensor(dtype, np.round(tensors.random(dtype, shape, seed, -1, 1).values * 4) / 4)


def rows_case(name, dtype, k, n, layout, body, reference, out, sizes, results=(), flags="", batch=(), kind="sum", static=False):
    """One function for each number of rows in `sizes`, or one for all of them, whose result's rows are symbolic. `body` makes %r0 to
    %rN of the product %y; `reference` computes them from it, in the order of `results`: their (dtype, has columns)."""
    def shape(m, *rest):
        return "x".join(str(size) for size in (*batch, m, *rest))

    def make(sizes, suffix, symbol):
        wide = {"i8": "i32", "u8": "u32"}.get(dtype, dtype)
        a_shape = (lambda m: (*batch, k, m)) if layout[0] == "t" else (lambda m: (*batch, m, k))
        b_shape = (*batch, n, k) if layout[1] == "t" else (*batch, k, n)
        b = quarters(dtype, b_shape, 91)
        element = {"u8": "ui8", "u32": "ui32"}
        text = lambda t: element.get(t, t)
        a_text = f"tensor<{'x'.join(str(s) for s in a_shape(symbol))}x{text(dtype)}>"
        y = f"tensor<{shape(symbol, n)}x{text(wide)}>"
        types = [f"tensor<{shape(symbol, n) if columns else shape(symbol)}x{text(t)}>" for t, columns in results]
        operands = (" transpose_a" if layout[0] == "t" else "") + (" transpose_b" if layout[1] == "t" else "") + flags
        lines = body.replace("$y", y).replace("$r", f"tensor<{shape(symbol)}x{text(wide)}>")
        function = f"""  func.func @NAME(%a: {a_text}, %b: {b.mlir}) -> ({', '.join(types)}) {{
    %y = array.matmul %a, %b{operands} : ({a_text}, {b.mlir}) -> {y}
{lines}
    return {', '.join(f'%r{i}' for i in range(len(types)))} : {', '.join(types)}
  }}
"""
        steps = []
        for m in sizes:
            a = quarters(dtype, a_shape(m), 90)
            left = a.values.swapaxes(-1, -2) if layout[0] == "t" else a.values
            right = b.values.swapaxes(-1, -2) if layout[1] == "t" else b.values
            if dtype in ("i8", "u8"):
                left, right = left.astype(np.int64), right.astype(np.int64)
            value = Tensor(wide, left @ right).values
            steps.append(Step([a, b], [(t, r) for (t, _), r in zip(results, reference(value))]))
        return Case(name + suffix, function, steps, kind)

    if static:
        for m in sizes:
            yield make([m], f"_{m}", m)
    else:
        yield make(sizes, "", "?")


def squares(y, dtype):
    """Each is rounded to the product's type."""
    return Tensor(dtype, y * y).values.sum(-1)


SQUARES = """    %q = array.mul %y, %y : $y
    %r0 = array.reduce sum, %q axes = [AXIS] : $y -> $r"""
MAXIMUM = "    %r1 = array.reduce max, %y axes = [AXIS] : $y -> $r"


def on_axis(text, axis):
    return text.replace("AXIS", str(axis))


def alone():
    """No rows, one, around a warp's, and a tile's; columns of whole parts and of others."""
    for dtype in ("f16", "bf16"):
        for n in (256, 264, 200, 201):
            yield from rows_case(f"squares_{dtype}_{n}", dtype, 40, n, "nn", on_axis(SQUARES, 1), lambda y: [squares(y, dtype)], dtype,
                                 (0, 1, 17, 64, 130), [(dtype, False)])
    for layout in ("nt", "tn", "tt"):
        yield from rows_case(f"squares_bf16_{layout}", "bf16", 72, 328, layout, on_axis(SQUARES, 1), lambda y: [squares(y, "bf16")], "bf16",
                             (8, 72, 136), [("bf16", False)])
    for layout in ("nn", "nt", "tn", "tt"):
        for n in (256, 204):
            yield from rows_case(f"squares_tf32_{layout}_{n}", "f32", 36, n, layout, on_axis(SQUARES, 1), lambda y: [squares(y, "f32")],
                                 "f32", (4, 68, 132), [("f32", False)], flags=" allow_tf32")
            yield from rows_case(f"sum_i8_{layout}_{n}", "i8", 48, n + 12, layout,
                                 "    %r0 = array.reduce sum, %y axes = [1] : $y -> $r", lambda y: [y.sum(-1)], "i32", (16, 80, 144),
                                 [("i32", False)], kind="exact")
    yield from rows_case("extremes_u8", "u8", 48, 272, "nn", """    %r0 = array.reduce min, %y axes = [1] : $y -> $r
    %r1 = array.reduce max, %y axes = [1] : $y -> $r""", lambda y: [y.min(-1), y.max(-1)], "u32", (16, 65),
                         [("u32", False), ("u32", False)], kind="exact")


def beside():
    """With the product, and two reductions of it; and of a product of known size."""
    def both(dtype):
        return lambda y: [squares(y, dtype), np.abs(y).max(-1), y]

    amax = """    %s = array.abs %y : $y
    %r1 = array.reduce max, %s axes = [AXIS] : $y -> $r
    %z = array.constant dense<0.0> : tensor<ELEMENT>
    %r2 = array.add %y, %z : ($y, tensor<ELEMENT>) -> $y"""
    for dtype, n in (("bf16", 256), ("f16", 300), ("bf16", 333)):
        yield from rows_case(f"squares_amax_{dtype}_{n}", dtype, 64, n, "nn", on_axis(SQUARES + "\n" + amax, 1).replace("ELEMENT", dtype),
                             both(dtype), dtype, (1, 64, 200), [(dtype, False), (dtype, False), (dtype, True)])
    for n in (128, 150):
        yield from rows_case(f"squares_amax_tf32_{n}", "f32", 64, n, "nn", on_axis(SQUARES + "\n" + amax, 1).replace("ELEMENT", "f32"),
                             both("f32"), "f32", (1, 136), [("f32", False), ("f32", False), ("f32", True)], flags=" allow_tf32")
    yield from rows_case("squares_static", "bf16", 64, 1024, "nt", on_axis(SQUARES, 1), lambda y: [squares(y, "bf16")], "bf16", (256, 200),
                         [("bf16", False)], static=True)
    for n in (256, 200):
        yield from rows_case(f"squares_maximum_batch_{n}", "bf16", 40, n, "nn", on_axis(SQUARES + "\n" + MAXIMUM, 2),
                             lambda y: [squares(y, "bf16"), y.max(-1)], "bf16", (1, 72), [("bf16", False), ("bf16", False)], batch=(3,))


def fused():
    """With a bias and a residual, both of another kernel's inputs; a sum of products with a vector; softmax keeps its own kernel."""
    sizes, n = (1, 65, 130), 264
    bias, g, w = (Tensor("bf16", tensors.random("bf16", (n,), seed, -1, 1).values) for seed in (92, 93, 94))
    b = quarters("bf16", (72, n), 95)
    steps = []
    for m in sizes:
        a, x = quarters("bf16", (m, 72), 96), quarters("bf16", (m, n), 97)
        h = Tensor("bf16", Tensor("bf16", a.values @ b.values).values + x.values).values
        steps.append(Step([a, b, x, g], [("bf16", h), ("f32", (h * h).mean(-1)), ("f32", (h * g.values).sum(-1))]))
    yield Case("residual_mean_square", f"""  func.func @NAME(%a: tensor<?x72xbf16>, %b: {b.mlir}, %x: tensor<?x{n}xbf16>, %g: {g.mlir})
      -> (tensor<?x{n}xbf16>, tensor<?xf32>, tensor<?xf32>) {{
    %p = array.matmul %a, %b : (tensor<?x72xbf16>, {b.mlir}) -> tensor<?x{n}xbf16>
    %h = array.add %p, %x : (tensor<?x{n}xbf16>, tensor<?x{n}xbf16>) -> tensor<?x{n}xbf16>
    %f = array.convert %h : tensor<?x{n}xbf16> -> tensor<?x{n}xf32>
    %q = array.mul %f, %f : tensor<?x{n}xf32>
    %s = array.mean %q axes = [1] : tensor<?x{n}xf32> -> tensor<?xf32>
    %w = array.convert %g : {g.mlir} -> tensor<{n}xf32>
    %v = array.mul %f, %w : (tensor<?x{n}xf32>, tensor<{n}xf32>) -> tensor<?x{n}xf32>
    %d = array.reduce sum, %v axes = [1] : tensor<?x{n}xf32> -> tensor<?xf32>
    return %h, %s, %d : tensor<?x{n}xbf16>, tensor<?xf32>, tensor<?xf32>
  }}
""", steps, "sum")


def cases():
    for make in (alone, beside, fused):
        yield from make()
