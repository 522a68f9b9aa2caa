"""TOSA as an input form: what each op computes, by the specification, and a small network."""
import math

import numpy as np

from cases.conv import convolve
from cases.pool import windows_of
from harness import Case, Step, simple
from tensors import Tensor, mlir_type, random

erf = np.vectorize(math.erf, otypes=[np.float64])
UNARY = {"abs": np.abs, "ceil": np.ceil, "floor": np.floor, "exp": np.exp, "sin": np.sin, "cos": np.cos, "tanh": np.tanh, "erf": erf,
         "sigmoid": lambda x: 1 / (1 + np.exp(-x)), "reciprocal": lambda x: 1 / x}
POSITIVE = {"log": np.log, "rsqrt": lambda x: 1 / np.sqrt(x)}
BINARY = {"add": np.add, "sub": np.subtract, "maximum": np.maximum, "minimum": np.minimum}
INTEGER = {"bitwise_and": np.bitwise_and, "bitwise_or": np.bitwise_or, "bitwise_xor": np.bitwise_xor,
           "logical_left_shift": np.left_shift}
COMPARE = {"equal": np.equal, "greater": np.greater, "greater_equal": np.greater_equal}
LOGICAL = {"logical_and": np.logical_and, "logical_or": np.logical_or, "logical_xor": np.logical_xor}
REDUCE = {"reduce_sum": np.sum, "reduce_max": np.max, "reduce_min": np.min, "reduce_product": np.prod}


def constant(name, dtype, values):
    """A tosa.const of rank 1."""
    values = np.atleast_1d(values)
    text = "[" + ", ".join(repr(float(v)) if dtype.startswith("f") else str(int(v)) for v in values) + "]"
    type = mlir_type(dtype, values.shape)
    return f'{name} = "tosa.const"() <{{values = dense<{text}> : {type}}}> : () -> {type}'


def shape(name, values):
    count = len(values)
    return f"{name} = tosa.const_shape {{values = dense<{list(values)}> : tensor<{count}xindex>}} : () -> !tosa.shape<{count}>"


def array(values):
    return "array<i64: " + ", ".join(map(str, values)) + ">"


def case(name, op, inputs, outputs, before="", operands="", kind="rounded", attributes="", types="", result=""):
    """One op on all inputs, then `operands` of `types`. With `result` the types of several results stand in brackets."""
    names = ", ".join([f"%{i}" for i in range(len(inputs))] + ([operands] if operands else []))
    input_types = ", ".join([x.mlir for x in inputs] + ([types] if types else []))
    results = ", ".join(f"%r{i}" for i in range(len(outputs)))
    output_types = ", ".join(mlir_type(dtype, np.shape(values)) for dtype, values in outputs)
    output_types = f"({output_types})" if result else output_types
    attributes = f"{{{attributes}}} " if attributes else ""
    return simple(name, inputs, outputs, f"{before}\n{results} = tosa.{op} {names} {attributes}: ({input_types}) -> {output_types}", kind)


def elementwise():
    x, y = random("f32", (3, 37), 1), random("f32", (3, 1), 2)
    positive = Tensor("f32", np.abs(x.values) + 0.1)
    for op, function in {**UNARY, **POSITIVE}.items():
        a = positive if op in POSITIVE or op == "reciprocal" else x
        yield case(op, op, [a], [("f32", function(a.values))], kind="composite" if op == "sigmoid" else "math")
    for op, function in BINARY.items():
        yield case(op, op, [x, y], [("f32", function(x.values, y.values))])
    yield case("pow", "pow", [positive, y], [("f32", positive.values ** y.values)], kind="composite")
    i, j = random("i32", (3, 37), 3), random("i32", (1, 37), 4, 1, 9)
    for op, function in INTEGER.items():
        yield case(op, op, [i, j], [("i32", function(i.values, j.values))])
    yield case("intdiv", "intdiv", [i, j], [("i32", np.fix(i.values / j.values))])
    yield case("logical_right_shift", "logical_right_shift", [i, j], [("i32", (i.values.view(np.uint32) >> j.values.astype(np.uint32)))])
    yield case("bitwise_not", "bitwise_not", [i], [("i32", ~i.values)])
    for op, function in COMPARE.items():
        yield case(op, op, [x, y], [("i1", function(x.values, y.values))])
    p, q = random("i1", (3, 37), 5), random("i1", (3, 1), 6)
    for op, function in LOGICAL.items():
        yield case(op, op, [p, q], [("i1", function(p.values, q.values))])
    yield case("logical_not", "logical_not", [p], [("i1", ~p.values)])
    yield case("select", "select", [p, x, y], [("f32", np.where(p.values, x.values, y.values))])
    yield case("identity", "identity", [x], [("f32", x.values)])
    yield case("clamp", "clamp", [x], [("f32", np.clip(x.values, -0.5, 1.25))], attributes="min_val = -0.5 : f32, max_val = 1.25 : f32")
    nan = Tensor("f32", np.where(x.values > 1, np.nan, x.values))
    numbers = np.where(x.values > 1, -np.inf, x.values)
    yield case("clamp_nan", "clamp", [nan], [("f32", np.clip(nan.values, 0, 1))], attributes="min_val = 0.0 : f32, max_val = 1.0 : f32")
    yield case("clamp_ignore", "clamp", [nan], [("f32", np.clip(numbers, 0, 1))],
               attributes="min_val = 0.0 : f32, max_val = 1.0 : f32, nan_mode = IGNORE")
    yield case("maximum_nan", "maximum", [nan, y], [("f32", np.maximum(nan.values, y.values))])
    yield case("maximum_ignore", "maximum", [nan, y], [("f32", np.fmax(nan.values, y.values))], attributes="nan_mode = IGNORE")
    yield case("reduce_max_ignore", "reduce_max", [nan], [("f32", numbers.max(1, keepdims=True))],
               attributes="axis = 1 : i32, nan_mode = IGNORE")
    for op, function in (("reduce_max", np.fmax), ("reduce_min", np.fmin)):
        nans = Tensor("f32", np.array([[np.nan, np.nan, np.nan], [-np.inf, np.nan, np.inf], [np.nan, 2.0, 1.0]]))
        yield case(f"{op}_all_nan", op, [nans], [("f32", function.reduce(nans.values, axis=1, keepdims=True))],
                   attributes="axis = 1 : i32, nan_mode = IGNORE")
    yield case("argmax_ignore", "argmax", [nan], [("i32", numbers.argmax(1))], attributes="axis = 1 : i32, nan_mode = IGNORE")
    halves = Tensor("f32", np.array([0.5, 1.5, 2.5, -0.5, -1.5, 200.0, -200.0, 3.49]))
    yield case("cast_f32_i8", "cast", [halves], [("i8", np.clip(np.rint(halves.values), -128, 127))])
    yield case("cast_i32_f16", "cast", [i], [("f16", i.values)])
    yield case("cast_i32_i1", "cast", [i], [("i1", i.values != 0)])


def integers():
    a, b = random("i32", (5, 9), 7, -2 ** 30, 2 ** 30), random("i32", (5, 9), 8, -2 ** 30, 2 ** 30)
    wide = a.values.astype(object) * b.values.astype(object)
    rounded = np.array([[(v + 2 ** 30) >> 31 for v in row] for row in wide], dtype=np.int64)
    yield case("mul_shift", "mul", [a, b], [("i32", rounded)], constant("%s", "i8", 31), "%s", types="tensor<1xi8>")
    c, d = random("i8", (5, 9), 9), random("i8", (5, 9), 10)
    yield case("mul_i8", "mul", [c, d], [("i32", c.values.astype(int) * d.values)], constant("%s", "i8", 0), "%s", types="tensor<1xi8>")
    x, y = random("f32", (5, 9), 11), random("f32", (5, 1), 12)
    yield case("mul_f32", "mul", [x, y], [("f32", x.values * y.values)], constant("%s", "i8", 0), "%s", types="tensor<1xi8>")
    s = random("i32", (5, 9), 13, 0, 8)
    for is_round in (False, True):
        last = np.where(s.values > 0, (a.values >> np.maximum(s.values - 1, 0)) & 1, 0) if is_round else 0
        yield case(f"shift_{is_round}", "arithmetic_right_shift", [a, s], [("i32", (a.values >> s.values) + last)],
                   attributes=f"round = {str(is_round).lower()}")
    table = random("i8", (256,), 14)
    yield case("table_i8", "table", [c, table], [("i8", table.values[c.values.astype(int) + 128])])
    long, fine = random("i16", (513,), 15, -30000, 30000), random("i16", (5, 9), 16, -32768, 32767)
    cell, part = (fine.values.astype(int) >> 7) + 256, fine.values.astype(int) & 127
    base = long.values.astype(int)[cell]
    yield case("table_i16", "table", [fine, long], [("i32", base * 128 + (long.values.astype(int)[cell + 1] - base) * part)])
    zp = constant("%z0", "i8", 3) + "\n" + constant("%z1", "i8", -2)
    yield case("negate_i8", "negate", [c], [("i8", np.clip(1 - c.values.astype(int), -128, 127))], zp, "%z0, %z1", types="tensor<1xi8>, tensor<1xi8>")
    none = constant("%z", "f32", 0)
    yield case("negate_f32", "negate", [x], [("f32", -x.values)], none, "%z, %z", types="tensor<1xf32>, tensor<1xf32>")
    for mode in ("SINGLE_ROUND", "DOUBLE_ROUND"):
        multipliers, shifts = np.array([1 << 30, 1518500250, 1 << 30]), np.array([33, 36, 30])
        v = random("i32", (4, 3), 17, -10000, 10000)
        product = (v.values.astype(np.int64) - 0) * multipliers
        add = np.int64(1) << (shifts - 1)
        if mode == "DOUBLE_ROUND":
            add = add + np.where(shifts > 31, np.where(v.values >= 0, 1 << 30, -(1 << 30)), 0)
        want = np.clip(((product + add) >> shifts) + 5, -128, 127)
        before = "\n".join([constant("%m", "i32", multipliers), constant("%s", "i8", shifts), constant("%i", "i32", 0), constant("%o", "i8", 5)])
        scale = [v, Tensor("i32", np.broadcast_to(multipliers, v.values.shape)), Tensor("i8", np.broadcast_to(shifts, v.values.shape))]
        yield case(f"apply_scale_{mode}", "apply_scale", scale, [("i32", (product + add) >> shifts)], attributes=f"rounding_mode = {mode}")
        yield case(f"rescale_{mode}", "rescale", [v], [("i8", want)], before, "%m, %s, %i, %o",
                   types="tensor<3xi32>, tensor<3xi8>, tensor<1xi32>, tensor<1xi8>",
                   attributes=f"rounding_mode = {mode}, scale32 = true, per_channel = true, input_unsigned = false, output_unsigned = false")


    # Bytes that stand for 0 to 255, on either side.
    u = random("i8", (4, 3), 60, -128, 128)
    before = "\n".join([constant("%m", "i32", 1 << 30), constant("%s", "i8", 30)])
    for name, source, target in (("from_unsigned", 128, 0), ("to_unsigned", 0, 200), ("unsigned", 128, 10)):
        value = u.values.astype(np.int64) % 256 if source else u.values.astype(np.int64)
        want = value - source + target
        want = np.clip(want, 0, 255) if target else np.clip(want, -128, 127)
        signs = f"input_unsigned = {str(source > 0).lower()}, output_unsigned = {str(target > 0).lower()}"
        zeros = "\n".join([constant("%i", "i8", (source + 128) % 256 - 128), constant("%o", "i8", (target + 128) % 256 - 128)])
        yield case(f"rescale_{name}", "rescale", [u], [("i8", (want + 128) % 256 - 128)], before + "\n" + zeros, "%m, %s, %i, %o",
                   types="tensor<1xi32>, tensor<1xi8>, tensor<1xi8>, tensor<1xi8>",
                   attributes=f"rounding_mode = SINGLE_ROUND, scale32 = true, per_channel = false, {signs}")
    bits = Tensor("i32", [0, 1, -1, 2, 255, 256, 65535, 65536, 2 ** 30, 2 ** 31 - 1, -2 ** 31])
    zeros = [32 - (int(v) % 2 ** 32).bit_length() for v in bits.values]
    yield case("clz", "clz", [bits], [("i32", zeros)])


def transforms():
    for height, width in ((4, 8), (1, 1), (2, 16)):
        real, imaginary = random("f32", (2, height, width), 61, -1, 1), random("f32", (2, height, width), 62, -1, 1)
        given = real.values + 1j * imaginary.values
        for inverse in (False, True):
            want = np.fft.ifft2(given) * height * width if inverse else np.fft.fft2(given)
            yield case(f"fft2d_{height}_{width}_{inverse}", "fft2d", [real, imaginary], [("f32", want.real), ("f32", want.imag)], kind="sum",
                       attributes=f"inverse = {str(inverse).lower()}", result="pair")
        want = np.fft.rfft2(real.values)
        yield case(f"rfft2d_{height}_{width}", "rfft2d", [real], [("f32", want.real), ("f32", want.imag)], kind="sum", result="pair")


def reductions():
    x = random("f32", (4, 5, 6), 18)
    for op, function in REDUCE.items():
        for axis in (0, 2):
            yield case(f"{op}_{axis}", op, [x], [("f32", function(x.values, axis=axis, keepdims=True))], kind="sum", attributes=f"axis = {axis} : i32")
    p = random("i1", (4, 5), 19)
    yield case("reduce_all", "reduce_all", [p], [("i1", p.values.all(1, keepdims=True))], attributes="axis = 1 : i32")
    yield case("reduce_any", "reduce_any", [p], [("i1", p.values.any(0, keepdims=True))], attributes="axis = 0 : i32")
    yield case("argmax", "argmax", [x], [("i32", x.values.argmax(1))], attributes="axis = 1 : i32")
    a, b = random("f32", (2, 5, 7), 20), random("f32", (2, 7, 3), 21)
    yield case("matmul_f32", "matmul", [a, b], [("f32", a.values @ b.values)], constant("%z", "f32", 0), "%z, %z", kind="sum",
               types="tensor<1xf32>, tensor<1xf32>")
    a, b = random("i8", (2, 5, 7), 22), random("i8", (2, 7, 3), 23)
    for za, zb in ((0, 0), (3, -4), (0, 5)):
        want = (a.values.astype(int) - za) @ (b.values.astype(int) - zb)
        yield case(f"matmul_i8_{za}_{zb}", "matmul", [a, b], [("i32", want)], constant("%a", "i8", za) + "\n" + constant("%b", "i8", zb), "%a, %b",
                   types="tensor<1xi8>, tensor<1xi8>")


def movement():
    x, y = random("f32", (2, 3, 4), 24), random("f32", (2, 5, 4), 25)
    yield case("concat", "concat", [x, y], [("f32", np.concatenate([x.values, y.values], 1))], attributes="axis = 1 : i32")
    yield case("reverse", "reverse", [x], [("f32", x.values[:, ::-1])], attributes="axis = 1 : i32")
    yield case("transpose", "transpose", [x], [("f32", x.values.transpose(2, 0, 1))], attributes="perms = array<i32: 2, 0, 1>")
    yield case("reshape", "reshape", [x], [("f32", x.values.reshape(6, 4))], shape("%s", (6, 4)), "%s", types="!tosa.shape<2>")
    yield case("reshape_minus_one", "reshape", [x], [("f32", x.values.reshape(4, 6))], shape("%s", (4, -1)), "%s", types="!tosa.shape<2>")
    yield case("slice_rest", "slice", [x], [("f32", x.values[1:, 1:3, 2:])], shape("%s", (1, 1, 2)) + "\n" + shape("%n", (-1, 2, -1)), "%s, %n",
               types="!tosa.shape<3>, !tosa.shape<3>", kind="exact")
    yield case("slice", "slice", [x], [("f32", x.values[0:2, 1:3, 2:3])], shape("%s", (0, 1, 2)) + "\n" + shape("%n", (2, 2, 1)), "%s, %n",
               types="!tosa.shape<3>, !tosa.shape<3>")
    yield case("tile", "tile", [x], [("f32", np.tile(x.values, (2, 1, 3)))], shape("%s", (2, 1, 3)), "%s", types="!tosa.shape<3>")
    yield case("pad", "pad", [x], [("f32", np.pad(x.values, [(1, 0), (0, 2), (3, 1)], constant_values=1.5))],
               shape("%s", (1, 0, 0, 2, 3, 1)) + "\n" + constant("%c", "f32", 1.5), "%s, %c", types="!tosa.shape<6>, tensor<1xf32>")
    i = random("i32", (2, 6), 26, 0, 3)
    batch = np.arange(2)[:, None]
    yield case("gather", "gather", [x, i], [("f32", x.values[batch, i.values])])
    places, updates = Tensor("i32", np.array([[2, 0], [1, 2]])), random("f32", (2, 2, 4), 27)
    want = x.values.copy()
    want[batch, places.values] = updates.values
    yield case("scatter", "scatter", [x, places, updates], [("f32", want)])


CONV = "acc_type = {acc}, pad = {pad}, stride = {stride}, dilation = {dilation}"
ZERO = constant("%z", "f32", 0)


def conv(name, op, x, w, dims, rank, values_of_filter=None, acc="f32", zeros=(0, 0), kind="sum", pad=None, stride=None, dilation=None, groups=1):
    pad, stride, dilation = pad or [0] * (2 * rank), stride or [1] * rank, dilation or [1] * rank
    out = {"i8": "i32"}.get(x.dtype, x.dtype)
    numbers = np.float64 if out.startswith("f") else np.int64
    filter_values = w.values if values_of_filter is None else values_of_filter
    want = convolve(x.values.astype(numbers) - zeros[0], filter_values.astype(numbers) - zeros[1], dims, strides=stride, low=pad[::2],
                    high=pad[1::2], filter_dilation=dilation, feature_groups=groups)
    bias = random(out, (want.shape[-1],), 40)
    before = constant("%z0", x.dtype, zeros[0]) + "\n" + constant("%z1", x.dtype, zeros[1])
    types = f"{mlir_type(x.dtype, (1,))}, {mlir_type(x.dtype, (1,))}"
    return case(name, op, [x, w, bias], [(out, want + bias.values)], before, "%z0, %z1", kind, types=types,
                attributes=CONV.format(acc=acc, pad=array(pad), stride=array(stride), dilation=array(dilation)))


def transposed(x, w, bias, pad, stride):
    """Every input element adds the filter, times itself, to where it is."""
    (n, ih, iw, _), (oc, kh, kw, _) = x.shape, w.shape
    full = np.zeros((n, (ih - 1) * stride[0] + kh, (iw - 1) * stride[1] + kw, oc))
    for y in range(ih):
        for z in range(iw):
            full[:, y * stride[0]:y * stride[0] + kh, z * stride[1]:z * stride[1] + kw] += np.einsum("ni,ohwi->nhwo", x[:, y, z], w)
    full = np.pad(full, [(0, 0), (max(pad[0], 0), max(pad[1], 0)), (max(pad[2], 0), max(pad[3], 0)), (0, 0)])
    rows, columns = full.shape[1:3]
    return full[:, max(-pad[0], 0):rows - max(-pad[1], 0), max(-pad[2], 0):columns - max(-pad[3], 0)] + bias


def windows():
    ohwi = "[b, 0, 1, f] x [o, 0, 1, i] -> [b, 0, 1, f]"
    x, w = random("f32", (2, 9, 8, 3), 28, -1, 1), random("f32", (4, 3, 2, 3), 29, -1, 1)
    yield conv("conv2d", "conv2d", x, w, ohwi, 2)
    yield conv("conv2d_window", "conv2d", x, w, ohwi, 2, pad=[1, 1, 2, 1], stride=[2, 1], dilation=[1, 2])
    yield conv("conv2d_f16", "conv2d", random("f16", (1, 6, 6, 8), 30, -1, 1), random("f16", (8, 3, 3, 8), 31, -1, 1), ohwi, 2, pad=[1, 1, 1, 1])
    xi, wi = random("i8", (1, 6, 5, 4), 32), random("i8", (3, 3, 3, 4), 33)
    yield conv("conv2d_i8", "conv2d", xi, wi, ohwi, 2, acc="i32", kind="exact")
    yield conv("conv2d_i8_zero_point", "conv2d", xi, wi, ohwi, 2, acc="i32", kind="exact", zeros=(-7, 0))
    x3, w3 = random("f32", (1, 4, 5, 6, 2), 34, -1, 1), random("f32", (3, 2, 3, 2, 2), 35, -1, 1)
    yield conv("conv3d", "conv3d", x3, w3, "[b, 0, 1, 2, f] x [o, 0, 1, 2, i] -> [b, 0, 1, 2, f]", 3, pad=[1, 0, 0, 1, 1, 1])
    wd = random("f32", (3, 3, 3, 2), 36, -1, 1)
    yield conv("depthwise", "depthwise_conv2d", x, wd, "[b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f]", 2, pad=[1, 1, 1, 1],
               values_of_filter=wd.values.reshape(3, 3, 1, 6), groups=3)
    xt, wt, bias = random("f32", (2, 4, 5, 3), 37, -1, 1), random("f32", (4, 3, 2, 3), 38, -1, 1), random("f32", (4,), 39)
    for pad, stride in (([0, 0, 0, 0], [2, 2]), ([-1, 1, 0, -1], [1, 3])):
        want = transposed(xt.values, wt.values, bias.values, pad, stride)
        yield case(f"transposed_{stride[0]}", "transpose_conv2d", [xt, wt, bias], [("f32", want)], ZERO, "%z, %z", "sum",
                   types="tensor<1xf32>, tensor<1xf32>", attributes=f"acc_type = f32, out_pad = {array(pad)}, stride = {array(stride)}")
    attributes = f"kernel = {array((3, 2))}, stride = {array((2, 2))}, pad = {array((1, 1, 0, 0))}"
    taps, outside = windows_of(x.values, 0, [1, 3, 2, 1], [1, 2, 2, 1], [0, 1, 0, 0], [0, 1, 0, 0])
    yield case("max_pool2d", "max_pool2d", [x], [("f32", np.where(outside, -np.inf, taps).max(-1))], kind="exact", attributes=attributes)
    yield case("avg_pool2d", "avg_pool2d", [x], [("f32", taps.sum(-1) / (~outside).sum(-1))], ZERO, "%z, %z", "sum",
               types="tensor<1xf32>, tensor<1xf32>", attributes=attributes + ", acc_type = f32")
    for dtype, zeros in (("i8", (3, -5)), ("i16", (0, 0))):
        image = random(dtype, x.values.shape, 63, *((-128, 128) if dtype == "i8" else (-32768, 32768)))
        taps, outside = windows_of(image.values.astype(np.int64) - zeros[0], 0, [1, 3, 2, 1], [1, 2, 2, 1], [0, 1, 0, 0], [0, 1, 0, 0])
        count = (~outside).sum(-1)
        shift = np.vectorize(lambda n: (int(n) - 1).bit_length())(count)
        multiplier = (((1 << 30) + 1) << shift) // count
        limits = np.iinfo(image.values.dtype)
        mean = ((taps.sum(-1) * multiplier + (np.int64(1) << (29 + shift))) >> (30 + shift)) + zeros[1]
        before = constant("%i", dtype, zeros[0]) + "\n" + constant("%o", dtype, zeros[1])
        yield case(f"avg_pool2d_{dtype}", "avg_pool2d", [image], [(dtype, np.clip(mean, limits.min, limits.max))], before, "%i, %o",
                   types=f"tensor<1x{dtype}>, tensor<1x{dtype}>", attributes=attributes + ", acc_type = i32")


def resized(x, scale, offset, border, mode):
    """One result element after the other."""
    (yn, yd, xn, xd), (n, ih, iw, c) = scale, x.shape
    oh, ow = ((ih - 1) * yn - offset[0] + border[0]) // yd + 1, ((iw - 1) * xn - offset[1] + border[1]) // xd + 1
    out = np.zeros((n, oh, ow, c))
    for oy in range(oh):
        for ox in range(ow):
            (iy, ry), (ix, rx) = divmod(oy * yd + offset[0], yn), divmod(ox * xd + offset[1], xn)
            y0, y1, x0, x1 = max(iy, 0), min(iy + 1, ih - 1), max(ix, 0), min(ix + 1, iw - 1)
            dy, dx = ry / yn, rx / xn
            if mode == "NEAREST_NEIGHBOR":
                out[:, oy, ox] = x[:, y1 if dy >= 0.5 else y0, x1 if dx >= 0.5 else x0]
            else:
                out[:, oy, ox] = (x[:, y0, x0] * (1 - dy) * (1 - dx) + x[:, y0, x1] * (1 - dy) * dx + x[:, y1, x0] * dy * (1 - dx) +
                                  x[:, y1, x1] * dy * dx)
    return out


def resizes():
    x = random("f32", (2, 4, 5, 3), 41)
    for mode in ("NEAREST_NEIGHBOR", "BILINEAR"):
        for number, (scale, offset, border) in enumerate((((2, 1, 2, 1), (0, 0), (0, 0)), ((4, 2, 6, 2), (-1, -2), (1, 2)), ((1, 2, 3, 4), (1, 0), (0, 0)))):
            want = resized(x.values, scale, offset, border, mode)
            before = "\n".join([shape("%s", scale), shape("%o", offset), shape("%b", border)])
            yield case(f"resize_{mode.lower()}_{number}", "resize", [x], [("f32", want)], before, "%s, %o, %b", "composite",
                       types="!tosa.shape<4>, !tosa.shape<2>, !tosa.shape<2>", attributes=f"mode = {mode}")
    i = random("i8", (1, 3, 3, 2), 42)
    before = "\n".join([shape("%s", (2, 1, 2, 1)), shape("%o", (0, 0)), shape("%b", (0, 0))])
    yield case("resize_i8", "resize", [i], [("i32", 4 * resized(i.values, (2, 1, 2, 1), (0, 0), (0, 0), "BILINEAR"))], before, "%s, %o, %b", "exact",
               types="!tosa.shape<4>, !tosa.shape<2>, !tosa.shape<2>", attributes="mode = BILINEAR")


CONTROL = """  tosa.variable @NAME_v = dense<1.0> : tensor<4xf32>
  func.func @NAME_step(%p: tensor<i1>, %x: tensor<4xf32>, %n: tensor<i32>) -> (tensor<4xf32>, tensor<i32>) {
    %r = tosa.cond_if %p (%in = %x) : tensor<i1> (tensor<4xf32>) -> tensor<4xf32> {
    ^bb0(%a: tensor<4xf32>):
      %v = tosa.variable_read @NAME_v : tensor<4xf32>
      %s = tosa.add %a, %v : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      tosa.yield %s : tensor<4xf32>
    } else {
    ^bb0(%a: tensor<4xf32>):
      tosa.yield %a : tensor<4xf32>
    }
    tosa.variable_write @NAME_v, %r : tensor<4xf32>
    %one = "tosa.const"() <{values = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %m, %k = tosa.while_loop (%i = %n, %j = %one) : (tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>) {
      %zero = "tosa.const"() <{values = dense<0> : tensor<i32>}> : () -> tensor<i32>
      %more = tosa.greater %i, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
      tosa.yield %more : tensor<i1>
    } do {
    ^bb0(%i: tensor<i32>, %j: tensor<i32>):
      %h = tosa.sub %i, %one : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %d = tosa.add %j, %j : (tensor<i32>, tensor<i32>) -> tensor<i32>
      tosa.yield %h, %d : tensor<i32>, tensor<i32>
    }
    return %r, %k : tensor<4xf32>, tensor<i32>
  }
"""


def control():
    x, v, steps = Tensor("f32", np.arange(4)), np.ones(4), []
    for p, n in ((True, 0), (True, 5), (False, 1)):
        v = x.values + v if p else x.values
        steps.append(Step([Tensor("i1", np.array(p)), x, Tensor("i32", np.array(n))], [("f32", v), ("i32", 2 ** n)], "_step"))
    yield Case("control", CONTROL, steps, "exact")


def shape_op(name, op, *operands):
    return f"{name} = tosa.{op}_shape {', '.join(operands)} : ({', '.join(['!tosa.shape<1>'] * len(operands))}) -> !tosa.shape<1>"


def number(name, value):
    return shape(name, [value])


# What exporters of dynamic models write: sizes of inputs and numbers, put together to shapes.
COMPUTED = {
    "reshape": (["%k = tosa.concat_shape %n, %c3, %c2 : (!tosa.shape<1>, !tosa.shape<1>, !tosa.shape<1>) -> !tosa.shape<3>",
                 "%y = tosa.reshape %x, %k : (tensor<?x6xf32>, !tosa.shape<3>) -> tensor<?x3x2xf32>"],
                lambda x: x.reshape(len(x), 3, 2)),
    "inferred": ([shape("%rest", [-1]), shape_op("%h", "div_floor", "%n", "%c2"),
                  "%k = tosa.concat_shape %h, %rest, %c2 : (!tosa.shape<1>, !tosa.shape<1>, !tosa.shape<1>) -> !tosa.shape<3>",
                  "%y = tosa.reshape %x, %k : (tensor<?x6xf32>, !tosa.shape<3>) -> tensor<?x?x2xf32>"],
                 lambda x: x.reshape(len(x) // 2, -1, 2)),
    "product": ([shape_op("%all", "mul", "%n", "%c6"),
                 "%y = tosa.reshape %x, %all : (tensor<?x6xf32>, !tosa.shape<1>) -> tensor<?xf32>"], np.ravel),
    "slice": ([shape_op("%h", "div_ceil", "%n", "%c3"), shape_op("%m", "sub", "%n", "%h"),
               "%first = tosa.concat_shape %h, %c3 : (!tosa.shape<1>, !tosa.shape<1>) -> !tosa.shape<2>",
               "%size = tosa.concat_shape %m, %c2 : (!tosa.shape<1>, !tosa.shape<1>) -> !tosa.shape<2>",
               "%y = tosa.slice %x, %first, %size : (tensor<?x6xf32>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<?x2xf32>"],
              lambda x: x[-(-len(x) // 3):, 3:5]),
    "tile": (["%k = tosa.concat_shape %c2, %n : (!tosa.shape<1>, !tosa.shape<1>) -> !tosa.shape<2>",
              "%y = tosa.tile %x, %k : (tensor<?x6xf32>, !tosa.shape<2>) -> tensor<?x?xf32>"], lambda x: np.tile(x, (2, len(x)))),
    "remainder": ([shape_op("%m", "mod", "%n", "%c3"), shape_op("%h", "add", "%m", "%c2"),
                   "%k = tosa.concat_shape %h, %c2 : (!tosa.shape<1>, !tosa.shape<1>) -> !tosa.shape<2>",
                   "%y = tosa.tile %x, %k : (tensor<?x6xf32>, !tosa.shape<2>) -> tensor<?x12xf32>"],
                  lambda x: np.tile(x, (len(x) % 3 + 2, 2))),
}


def computed_shapes():
    for name, (lines, function) in COMPUTED.items():
        body = "\n".join("    " + line for line in [
            "%n = tosa.dim %x {axis = 0 : i32} : (tensor<?x6xf32>) -> !tosa.shape<1>", number("%c2", 2), number("%c3", 3),
            number("%c6", 6), *lines])
        type = "tensor<" + lines[-1].rsplit("tensor<", 1)[1]
        text = f"  func.func @NAME(%x: tensor<?x6xf32>) -> {type} {{\n{body}\n    return %y : {type}\n  }}\n"
        inputs = [random("f32", (n, 6), 60) for n in (4, 8)]
        yield Case(f"shape_{name}", text, [Step([x], [("f32", function(x.values))]) for x in inputs], "exact")
    # Slices at computed places are refused where they are not in their operand.
    sizes = [number("%c2", 2), number("%c3", 3), shape_op("%m", "sub", "%n", "%c2")]
    for name, start, size, good, bad in (
            ("size", "%c3", "%m", (), {4: "within dim 0 of the operand, got 5 and 4", 1: "a size of at least 0 in dim 0, got -1 for"}),
            ("start", "%m", "%c3", (), {5: "within dim 0 of the operand, got 6 and 5", 1: "a start of at least 0 in dim 0, got -1 for"}),
            ("both", "%m", "%c2", (2, 5), {1: "a start of at least 0 in dim 0, got -1 for"})):
        body = "\n".join("    " + line for line in ["%n = tosa.dim %x {axis = 0 : i32} : (tensor<?xf32>) -> !tosa.shape<1>", *sizes])
        text = f"""  func.func @NAME(%x: tensor<?xf32>) -> tensor<?xf32> {{\n{body}
    %y = tosa.slice %x, {start}, {size} : (tensor<?xf32>, !tosa.shape<1>, !tosa.shape<1>) -> tensor<?xf32>
    return %y : tensor<?xf32>\n  }}\n"""
        inputs = [random("f32", (n,), 62) for n in good]
        yield Case(f"slice_within_{name}", text, [Step([x], [("f32", x.values[-2:])]) for x in inputs] +
                   [Step([random("f32", (n,), 62)], error=message) for n, message in bad.items()], "exact")
    # Numbers of constants: max(exp2(log2_ceil(5)), exp2(log2_floor(9))) = 8, and min(8, 24) of 24 elements.
    x = random("f32", (4, 6), 61)
    lines = [number("%five", 5), number("%nine", 9), number("%many", 24), shape_op("%a", "log2_ceil", "%five"),
             shape_op("%b", "log2_floor", "%nine"), shape_op("%c", "exp2", "%a"), shape_op("%d", "exp2", "%b"),
             shape_op("%e", "max", "%c", "%d"), shape_op("%f", "min", "%e", "%many"), shape_op("%g", "div_floor", "%many", "%f"),
             "%all = tosa.concat_shape %many, %g, %f : (!tosa.shape<1>, !tosa.shape<1>, !tosa.shape<1>) -> !tosa.shape<3>",
             '%first = "tosa.const"() <{values = dense<1> : tensor<1xi32>}> : () -> tensor<1xi32>',
             '%count = "tosa.const"() <{values = dense<2> : tensor<1xi32>}> : () -> tensor<1xi32>',
             "%k = tosa.slice_shape %all, %first, %count : (!tosa.shape<3>, tensor<1xi32>, tensor<1xi32>) -> !tosa.shape<2>",
             f"%r0 = tosa.reshape %0, %k : ({x.mlir}, !tosa.shape<2>) -> tensor<3x8xf32>"]
    yield simple("shape_of_constants", [x], [("f32", x.values.reshape(3, 8))], "\n".join(lines), "exact")


# Two convolutions with pools, the batch size open; weights are constants, as an exporter writes them.
def network():
    w1, b1 = random("f32", (8, 3, 3, 1), 50, -0.5, 0.5), random("f32", (8,), 51, -0.5, 0.5)
    w2, b2 = random("f32", (3, 3, 8, 2), 52, -0.5, 0.5), random("f32", (16,), 53, -0.5, 0.5)
    w3, b3 = random("f32", (1, 16, 10), 54, -0.5, 0.5), random("f32", (1, 1, 10), 55, -0.5, 0.5)
    dense = lambda name, x: (f'{name} = "tosa.const"() <{{values = dense<{np.vectorize(lambda v: float(v), otypes=[object])(x.values).tolist()}> : '  # noqa: E731
                             f'{x.mlir}}}> : () -> {x.mlir}')
    text = "\n".join(f"    {line}" for line in [
        dense("%w1", w1), dense("%b1", b1), dense("%w2", w2), dense("%b2", b2), dense("%w3", w3), dense("%b3", b3), ZERO,
        "%c1 = tosa.conv2d %x, %w1, %b1, %z, %z {acc_type = f32, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>, "
        "dilation = array<i64: 1, 1>} : (tensor<?x12x12x1xf32>, tensor<8x3x3x1xf32>, tensor<8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<?x12x12x8xf32>",
        "%a1 = tosa.clamp %c1 {min_val = 0.0 : f32, max_val = 6.0 : f32} : (tensor<?x12x12x8xf32>) -> tensor<?x12x12x8xf32>",
        "%p1 = tosa.max_pool2d %a1 {kernel = array<i64: 2, 2>, stride = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>} : "
        "(tensor<?x12x12x8xf32>) -> tensor<?x6x6x8xf32>",
        "%c2 = tosa.depthwise_conv2d %p1, %w2, %b2, %z, %z {acc_type = f32, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>, "
        "dilation = array<i64: 1, 1>} : (tensor<?x6x6x8xf32>, tensor<3x3x8x2xf32>, tensor<16xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<?x4x4x16xf32>",
        "%a2 = tosa.tanh %c2 : (tensor<?x4x4x16xf32>) -> tensor<?x4x4x16xf32>",
        "%p2 = tosa.avg_pool2d %a2, %z, %z {kernel = array<i64: 4, 4>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, acc_type = f32} : "
        "(tensor<?x4x4x16xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<?x1x1x16xf32>",
        "%shape = tosa.const_shape {values = dense<[1, -1, 16]> : tensor<3xindex>} : () -> !tosa.shape<3>",
        "%f = tosa.reshape %p2, %shape : (tensor<?x1x1x16xf32>, !tosa.shape<3>) -> tensor<1x?x16xf32>",
        "%m = tosa.matmul %f, %w3, %z, %z : (tensor<1x?x16xf32>, tensor<1x16x10xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x?x10xf32>",
        "%s = tosa.add %m, %b3 : (tensor<1x?x10xf32>, tensor<1x1x10xf32>) -> tensor<1x?x10xf32>",
        "%e = tosa.exp %s : (tensor<1x?x10xf32>) -> tensor<1x?x10xf32>",
        "%t = tosa.reduce_sum %e {axis = 2 : i32} : (tensor<1x?x10xf32>) -> tensor<1x?x1xf32>",
        "%i = tosa.reciprocal %t : (tensor<1x?x1xf32>) -> tensor<1x?x1xf32>",
        constant("%shift", "i8", 0),
        "%y = tosa.mul %e, %i, %shift : (tensor<1x?x10xf32>, tensor<1x?x1xf32>, tensor<1xi8>) -> tensor<1x?x10xf32>"])
    function = f"  func.func @NAME(%x: tensor<?x12x12x1xf32>) -> tensor<1x?x10xf32> {{\n{text}\n    return %y : tensor<1x?x10xf32>\n  }}\n"
    steps = []
    for batch in (1, 5):
        x = random("f32", (batch, 12, 12, 1), 56)
        y = convolve(x.values, w1.values, "[b, 0, 1, f] x [o, 0, 1, i] -> [b, 0, 1, f]", low=[1, 1], high=[1, 1]) + b1.values
        y = np.clip(y, 0, 6).reshape(batch, 6, 2, 6, 2, 8).max((2, 4))
        y = np.tanh(convolve(y, w2.values.reshape(3, 3, 1, 16), "[b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f]", feature_groups=8) + b2.values)
        y = np.exp(y.mean((1, 2)) @ w3.values[0] + b3.values[0])
        steps.append(Step([x], [("f32", (y / y.sum(1, keepdims=True))[None])]))
    yield Case("network", function, steps, "model")


def cases():
    for part in (elementwise, integers, transforms, reductions, movement, windows, resizes, computed_shapes, control, network):
        yield from part()
