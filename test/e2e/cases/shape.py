"""Ops that make, move and view elements. All are exact."""
import numpy as np

from harness import simple
from tensors import Tensor, mlir_type, random


def case(name, x, result, body, dtype="f32"):
    return simple(name, [x] if isinstance(x, Tensor) else x, [(dtype, result)],
                  f"%r0 = {body} -> {mlir_type(dtype, np.shape(result))}", "exact")


def sources():
    for dtype in ("f32", "bf16", "i32", "u8", "i64", "f64"):
        shape = (5, 19)
        for axis in (0, 1):
            index = np.indices(shape)[axis]
            yield simple(f"iota_{dtype}_{axis}", [], [(dtype, Tensor(dtype, index).values)],
                         f"%r0 = array.iota axis = {axis} : {mlir_type(dtype, shape)}", "exact")
    yield simple("constant_splat", [], [("f32", np.full((9, 5), 2.5))],
                 "%r0 = array.constant dense<2.5> : tensor<9x5xf32>", "exact")
    yield simple("constant_dense", [], [("i32", np.array([[1, -2, 3], [4, 5, -6]]))],
                 "%r0 = array.constant dense<[[1, -2, 3], [4, 5, -6]]> : tensor<2x3xi32>", "exact")
    yield simple("constant_truth", [], [("i1", np.array([True, False, True]))],
                 "%r0 = array.constant dense<[true, false, true]> : tensor<3xi1>", "exact")
    x = random("f32", (2, 3), 1)
    yield simple("constant_operand", [x], [("f32", x.values * np.array([[1, 2, 3], [4, 5, 6]]))],
                 """%c = array.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
                    %r0 = array.mul %0, %c : tensor<2x3xf32>""")


def broadcasts_and_reshapes():
    for shape, result, axes in (((8,), (4, 8), [1]), ((8,), (8, 4), [0]), ((), (3, 5), []), ((1, 7), (6, 7), [0, 1]),
                                ((3, 1), (3, 9), [0, 1]), ((5,), (2, 5, 3), [1]), ((33,), (65, 33), [1])):
        x = random("f32", shape, 2)
        spread = [1] * len(result)
        for dim, axis in enumerate(axes):
            spread[axis] = shape[dim]
        yield case(f"broadcast_{x.mlir}_{'x'.join(map(str, result))}", x,
                   np.broadcast_to(x.values.reshape(spread), result),
                   f"array.broadcast_in_dim %0 axes = {axes} : {x.mlir}")
    for shape, result in (((4, 6), (2, 12)), ((4, 6), (24,)), ((24,), (2, 3, 4)), ((), (1, 1)), ((1,), ()), ((0, 3), (3, 0)),
                          ((2, 3, 4), (6, 4)), ((6, 35), (14, 15))):
        x = random("f32", shape, 3)
        yield case(f"reshape_{x.mlir}_{'x'.join(map(str, result))}", x, x.values.reshape(result),
                   f"array.reshape %0 : {x.mlir}")
    x = random("f32", (3, 1, 5), 4)
    yield case("squeeze", x, x.values.squeeze(1), f"array.squeeze %0 axes = [1] : {x.mlir}")
    yield case("expand_dims", x, x.values[:, None], f"array.expand_dims %0 axes = [1] : {x.mlir}")


def transposes():
    for shape, permutation in (((4, 8), [1, 0]), ((65, 33), [1, 0]), ((1, 7), [1, 0]), ((2, 3, 5), [2, 0, 1]),
                               ((2, 3, 5), [0, 2, 1]), ((2, 3, 5), [1, 0, 2]), ((2, 3, 4, 5), [3, 1, 0, 2]), ((0, 4), [1, 0]),
                               ((128, 200), [1, 0]), ((2, 33, 7, 6), [0, 2, 3, 1]), ((2, 5, 7, 33), [3, 0, 1, 2])):
        x = random("f32", shape, 5)
        yield case(f"transpose_{x.mlir}_{''.join(map(str, permutation))}", x, x.values.transpose(permutation),
                   f"array.transpose %0 permutation = {permutation} : {x.mlir}")
    for dtype in ("i8", "bf16", "f64", "i1"):
        x = random(dtype, (17, 9), 6)
        yield case(f"transpose_{dtype}", x, x.values.T, f"array.transpose %0 permutation = [1, 0] : {x.mlir}", dtype)
    # So many that squares of a GPU are large, which are not whole at the ends.
    x = random("f16", (1027, 2113), 6)
    yield case("transpose_many_odd", x, x.values.T, f"array.transpose %0 permutation = [1, 0] : {x.mlir}", "f16")
    x = random("f32", (40, 40), 6)
    yield simple("transpose_beside_its_inverse", [x], [("f32", x.values.T), ("f32", -x.values)],
                 f"""%r0 = array.transpose %0 permutation = [1, 0] : {x.mlir} -> {x.mlir}
                     %t = array.neg %r0 : {x.mlir}
                     %r1 = array.transpose %t permutation = [1, 0] : {x.mlir} -> {x.mlir}""", "exact")
    for axes in ([0], [1], [0, 2], [0, 1, 2]):
        x = random("f32", (3, 5, 4), 7)
        yield case(f"reverse_{''.join(map(str, axes))}", x, np.flip(x.values, axes), f"array.reverse %0 axes = {axes} : {x.mlir}")


def slices():
    x = random("f32", (9, 20), 8)
    for name, text, result in (("box", "[2:7, 3:11]", x.values[2:7, 3:11]), ("strided", "[0:9:2, 1:20:3]", x.values[::2, 1::3]),
                               ("rows", "[3:, :]", x.values[3:]), ("empty", "[4:4, :]", x.values[4:4]),
                               ("last", "[8:9, 19:20]", x.values[8:9, 19:20]), ("all", "[:, :]", x.values)):
        yield case(f"slice_{name}", x, result, f"array.slice %0 {text} : {x.mlir}")
    # A view that goes into a kernel, beside the whole.
    yield simple("slice_used", [x], [("f32", x.values[2:7] + x.values[4:9])],
                 f"""%a = array.slice %0 [2:7, :] : {x.mlir} -> tensor<5x20xf32>
                     %b = array.slice %0 [4:9, :] : {x.mlir} -> tensor<5x20xf32>
                     %r0 = array.add %a, %b : tensor<5x20xf32>""")
    for start in ((2, 5), (0, 0), (-3, 30), (8, 12)):
        i, j = Tensor("i32", start[0]), Tensor("i32", start[1])
        r, c = min(max(start[0], 0), 6), min(max(start[1], 0), 13)
        yield simple(f"dynamic_slice_{start[0]}_{start[1]}".replace("-", "m"), [x, i, j],
                     [("f32", x.values[r:r + 3, c:c + 7])],
                     f"%r0 = array.dynamic_slice %0[%1, %2] : ({x.mlir}, tensor<i32>, tensor<i32>) -> tensor<3x7xf32>", "exact")
        u = random("f32", (3, 7), 9)
        updated = x.values.copy()
        updated[r:r + 3, c:c + 7] = u.values
        yield simple(f"dynamic_update_slice_{start[0]}_{start[1]}".replace("-", "m"), [x, u, i, j], [("f32", updated)],
                     f"%r0 = array.dynamic_update_slice %0[%2, %3] = %1 "
                     f": ({x.mlir}, {u.mlir}, tensor<i32>, tensor<i32>) -> {x.mlir}", "exact")


def joins():
    for shapes, axis in ((((2, 4), (3, 4)), 0), (((5, 3), (5, 9)), 1), (((2, 3), (2, 1), (2, 7)), 1), (((0, 4), (3, 4)), 0),
                         (((4,), (4,), (4,)), 0), (((33, 20), (33, 45)), 1)):
        parts = [random("f32", shape, 10 + i) for i, shape in enumerate(shapes)]
        result = np.concatenate([part.values for part in parts], axis)
        types = ", ".join(part.mlir for part in parts)
        yield case(f"concatenate_{'_'.join('x'.join(map(str, s)) for s in shapes)}_{axis}", parts, result,
                   f"array.concatenate {', '.join(f'%{i}' for i in range(len(parts)))} axis = {axis} : ({types})")
    x = random("f32", (3, 6), 20)
    yield simple("split", [x], [("f32", x.values[:, :4]), ("f32", x.values[:, 4:])],
                 f"%r0, %r1 = array.split %0 axis = 1 parts = [4, 2] : {x.mlir} -> tensor<3x4xf32>, tensor<3x2xf32>", "exact")
    # Joins of computed parts.
    a, b = random("f32", (7, 5), 21), random("f32", (9, 5), 22)
    yield simple("concatenate_computed", [a, b], [("f32", np.concatenate([a.values * a.values, -b.values]))],
                 f"""%s = array.mul %0, %0 : {a.mlir}
                     %n = array.neg %1 : {b.mlir}
                     %r0 = array.concatenate %s, %n axis = 0 : ({a.mlir}, {b.mlir}) -> tensor<16x5xf32>""")
    for low, high, interior in (([1, 0], [1, 2], [0, 1]), ([0, 0], [0, 0], [2, 0]), ([3, 3], [3, 3], None), ([0, 5], [0, 0], None)):
        x, value = random("f32", (4, 3), 23), Tensor("f32", 7.5)
        inner = interior or [0, 0]
        sizes = [l + h + n + max(n - 1, 0) * i for l, h, n, i in zip(low, high, x.shape, inner)]
        result = np.full(sizes, 7.5)
        result[tuple(slice(l, l + (n - 1) * (i + 1) + 1, i + 1) for l, n, i in zip(low, x.shape, inner))] = x.values
        text = f" interior = {interior}" if interior else ""
        yield simple(f"pad_{low}_{high}_{inner}", [x, value], [("f32", result)],
                     f"%r0 = array.pad %0, %1 low = {low} high = {high}{text} : ({x.mlir}, tensor<f32>) -> "
                     f"{mlir_type('f32', sizes)}", "exact")


def outputs():
    """What a function may return: an input, one value twice, a view, a constant, nothing."""
    x = random("f32", (6, 4), 24)
    yield simple("return_input", [x], [("f32", x.values)], "%r0 = array.reshape %0 : tensor<6x4xf32> -> tensor<6x4xf32>", "exact")
    yield simple("return_views", [x], [("f32", x.values.reshape(24)), ("f32", x.values[2:5])],
                 f"""%r0 = array.reshape %0 : {x.mlir} -> tensor<24xf32>
                     %r1 = array.slice %0 [2:5, :] : {x.mlir} -> tensor<3x4xf32>""", "exact")
    twice = simple("return_twice", [x], [("f32", -x.values), ("f32", -x.values)], f"%r0 = array.neg %0 : {x.mlir}", "exact")
    twice.text = twice.text.replace("%r0, %r1 :", "%r0, %r0 :")
    yield twice
    same = simple("return_argument", [x], [("f32", x.values)], "", "exact")
    same.text = same.text.replace("return %r0", "return %0")
    yield same


def in_place():
    """A value that is read at its place and turned around must not be overwritten while it is read."""
    x = random("i32", (3, 64), 90, 0, 5)
    y = x.values @ x.values.T
    yield simple("reversed_in_place", [x], [("i32", (y * y[::-1, ::-1])[2:])],
                 """%y = array.matmul %0, %0 transpose_b : (tensor<3x64xi32>, tensor<3x64xi32>) -> tensor<3x3xi32>
                    %z = array.reverse %y axes = [0, 1] : tensor<3x3xi32> -> tensor<3x3xi32>
                    %p = array.mul %y, %z : tensor<3x3xi32>
                    %r0 = array.slice %p [2:3, 0:3] : tensor<3x3xi32> -> tensor<1x3xi32>""")


def cases():
    for make in (sources, broadcasts_and_reshapes, transposes, slices, joins, outputs, in_place):
        yield from make()
