"""Convolutions and pools over dims whose extent is data: the padding begins where the extent ends."""
import numpy as np

from cases.conv import attributes, convolve
from cases.extents import COUNTS, cut, of_counts, padded, scalar, ZERO
from cases.pool import scattered, windows_of
from cases.pool import attributes as pool_attributes
from harness import Case, Step, function
import tensors
from tensors import Tensor, mlir_type

FILTER = np.round(np.random.default_rng(5).uniform(-2, 2, (3, 3, 4)) * 8) / 8


def constant(name, values):
    return f"    {name} = array.constant dense<{np.asarray(values).tolist()}> : {mlir_type('f32', np.shape(values))}\n"


def fit(values, bound):
    """`values`, filled up with zeros to the shape `bound`."""
    for axis, size in enumerate(bound):
        values = padded(values, size, axis=axis)
    return values


def bounded(name, op, places, kind="sum", x_shape=(16, 6, 3), reference=None, **options):
    """`op` computes %y of %r and %w, of a type with `?` wherever `places`, the shape of %y for the bound, has the dim `axis`."""
    bound = places[0]
    types = dict(OPEN=mlir_type("f32", (None,) + places[1:]), BOUND=mlir_type("f32", places))
    for symbolic in (False, True):
        known = "?" if symbolic else str(bound)
        whole = types["BOUND"].replace(f"<{bound}x", f"<{known}x", 1)
        body = ZERO + constant("%w", FILTER) + f"    %y = {op.replace('OPEN', types['OPEN'])}\n" + \
            f"    %p = array.pad_to_bound %y, %zero : ({types['OPEN']}, tensor<f32>) -> {whole}\n" + \
            f"    %e = array.extent %y, 0 : {types['OPEN']} -> tensor<i64>\n"

        def both(rows):
            y = reference(rows)
            return [fit(y, places), np.asarray(y.shape[0])]
        yield of_counts(name + "_symbolic" * symbolic, body, [("%p", whole), ("%e", "tensor<i64>")], both, kind,
                        shape=x_shape, symbolic=symbolic, **options)


def convolutions():
    def one(name, dims, places, **window):
        return bounded(f"conv_{name}", f"array.conv %r, %w {attributes(dims, window)} : (CUT, tensor<3x3x4xf32>) -> OPEN", places,
                       reference=lambda rows: convolve(rows, FILTER, dims, **window))
    yield from one("batch", "[b, 0, f] x [0, i, o] -> [b, 0, f]", (16, 6, 4), low=[1], high=[1])
    # Windows over the dim with the extent: as many places as elements, fewer, more; spread, cut, and in steps.
    along = "[0, b, f] x [0, i, o] -> [0, b, f]"
    yield from one("along_same", along, (16, 6, 4), low=[1], high=[1])
    yield from one("along_valid", along, (14, 6, 4))
    yield from one("along_more", along, (18, 6, 4), low=[2], high=[2])
    yield from one("along_strided", along, (8, 6, 4), strides=[2], low=[0], high=[2])
    yield from one("along_dilated", along, (6, 6, 4), strides=[2], filter_dilation=[2])
    yield from one("along_spread", along, (31, 6, 4), input_dilation=[2], low=[1], high=[1])
    yield from one("along_cut", along, (12, 6, 4), low=[-1], high=[-1])
    # Blocks of places behind the extent compute nothing.
    image = "[b, 0, f] x [0, i, o] -> [b, 0, f]"
    for symbolic in (False, True):
        known = "?" if symbolic else 700
        body = ZERO + constant("%w", FILTER) + \
            f"""    %y = array.conv %r, %w {attributes(image, dict(low=[1], high=[1]))} : (CUT, tensor<3x3x4xf32>) -> tensor<?x6x4xf32>
    %m = array.reduce_window max, %y window = [1, 2, 1] strides = [1, 2, 1] : tensor<?x6x4xf32> -> tensor<?x3x4xf32>
    %s = array.reduce sum, %y axes = [0, 1] : tensor<?x6x4xf32> -> tensor<4xf32>
    %t = array.reduce sum, %m axes = [2] : tensor<?x3x4xf32> -> tensor<?x3xf32>
    %p = array.pad_to_bound %t, %zero : (tensor<?x3xf32>, tensor<f32>) -> tensor<{known}x3xf32>
"""

        def both(rows):
            y = convolve(rows, FILTER, image, low=[1], high=[1])
            return [y.sum((0, 1)), padded(np.maximum(y[:, ::2], y[:, 1::2]).sum(2), 700)]
        yield of_counts("conv_many" + "_symbolic" * symbolic, body, [("%s", "tensor<4xf32>"), ("%p", f"tensor<{known}x3xf32>")], both,
                        shape=(700, 6, 3), symbolic=symbolic, counts=(0, 3, 300, 700))
    # A residual: the sum needs as many places as there were elements.
    square = FILTER[:, :, :3]
    body = ZERO + constant("%w", square) + \
        f"""    %c = array.conv %r, %w {attributes(along, dict(low=[1], high=[1]))} : (CUT, tensor<3x3x3xf32>) -> CUT
    %y = array.add %c, %r : CUT
    %p = array.pad_to_bound %y, %zero : (CUT, tensor<f32>) -> WHOLE
"""
    for symbolic in (False, True):
        yield of_counts("conv_residual" + "_symbolic" * symbolic, body, [("%p", f"tensor<{'?' if symbolic else 16}x6x3xf32>")],
                        lambda rows: [padded(convolve(rows, square, along, low=[1], high=[1]) + rows, 16)], shape=(16, 6, 3),
                        symbolic=symbolic)


def features():
    """Summed features, of the input and the filter, and the filter's own."""
    image = np.round(np.random.default_rng(6).uniform(-2, 2, (2, 7, 16)) * 8) / 8
    dims, window = "[b, 0, f] x [i, 0, o] -> [b, 0, f]", dict(low=[1], high=[0])
    body = constant("%image", image) + f"""    %i = array.set_extent %image, %n axis = 2 : (tensor<2x7x16xf32>, tensor<i64>) -> tensor<2x7x?xf32>
    %y = array.conv %i, %r {attributes(dims, window)} : (tensor<2x7x?xf32>, CUT) -> tensor<2x6x4xf32>
"""
    yield of_counts("conv_summed_features", body, [("%y", "tensor<2x6x4xf32>")],
                    lambda w: [convolve(image[:, :, :len(w)], w, dims, **window)], shape=(16, 3, 4))
    own = "[b, 0, f] x [o, 0, i] -> [b, 0, f]"
    body = ZERO + constant("%image", image[:, :, :4]) + f"""    %y = array.conv %image, %r {attributes(own, window)} : (tensor<2x7x4xf32>, CUT) -> tensor<2x6x?xf32>
    %p = array.pad_to_bound %y, %zero : (tensor<2x6x?xf32>, tensor<f32>) -> tensor<2x6x16xf32>
"""
    yield of_counts("conv_own_features", body, [("%p", "tensor<2x6x16xf32>")],
                    lambda w: [padded(convolve(image[:, :, :4], w, own, **window), 16, axis=2)], shape=(16, 3, 4))


def pools():
    geometries = {"batch": ((16, 3, 3), dict(window=[1, 3, 1], strides=[1, 2, 1], low=[0, 1, 0])),
                  "along": ((14, 6, 3), dict(window=[3, 1, 1])),
                  "along_padded": ((9, 6, 3), dict(window=[3, 1, 1], strides=[2, 1, 1], low=[1, 0, 0], high=[2, 0, 0])),
                  "along_dilated": ((4, 6, 3), dict(window=[3, 1, 1], strides=[3, 1, 1], dilation=[2, 1, 1]))}
    fills = {"sum": 0.0, "prod": 1.0, "max": -np.inf, "min": np.inf}
    reducers = {"sum": np.sum, "prod": np.prod, "max": np.max, "min": np.min}
    for name, (places, window) in geometries.items():
        for kind in ("max", "prod") if name == "along_padded" else ("min",) if name == "along" else ("sum",):
            yield from bounded(f"{kind}_{name}", f"array.reduce_window {kind}, %r {pool_attributes(window)} : CUT -> OPEN", places,
                               reference=lambda x: reducers[kind](windows_of(x, fills[kind], **window)[0], axis=-1))
    # What an average counts of the padding, and of what lies behind the extent.
    places, window = geometries["along_padded"]

    def average(x, include):
        values, outside = windows_of(x, 0, **window)
        return values.sum(-1) / (3 if include else np.maximum((~outside).sum(-1), 1))
    for include in (False, True):
        flag = " count_include_pad" * include
        # Without that, a place of padding alone is 0 / 0: none where there is an element.
        yield from bounded("avg" + flag.replace(" ", "_"), f"array.avg_pool %r {pool_attributes(window)}{flag} : CUT -> OPEN", places,
                           reference=lambda x: average(x, include), counts=COUNTS if include else (1, 2, 5, 16, 99))
    yield from bounded("adaptive", "array.adaptive_pool max, %r axes = [1] sizes = [4] : CUT -> OPEN", (16, 4, 3),
                       reference=lambda x: np.stack([x[:, i * 6 // 4:-(-(i + 1) * 6 // 4)].max(1) for i in range(4)], 1))
    body = "    %y = array.adaptive_pool avg, %r axes = [0] sizes = [4] : CUT -> tensor<4x6x3xf32>\n"
    yield of_counts("adaptive_along", body, [("%y", "tensor<4x6x3xf32>")],
                    lambda x: [np.stack([x[i * len(x) // 4:-(-(i + 1) * len(x) // 4)].mean(0) for i in range(4)])], shape=(16, 6, 3),
                    counts=(1, 2, 5, 16, 99))


def gradients_along():
    """Where windows slide over the dim with the extent: that to the filter slides over the image what has the extent of the places."""
    x, w, one = tensors.random("f32", (16, 6, 3), 1, -1, 1), Tensor("f32", FILTER), Tensor("f32", 1.0)
    dims = "[0, b, f] x [0, i, o] -> [0, b, f]"
    for name, bound, window in (("same", 16, dict(low=[1], high=[1])), ("strided", 8, dict(strides=[2], low=[0], high=[2])),
                                ("dilated", 3, dict(strides=[4], filter_dilation=[3], low=[1], high=[1]))):
        stride, dilation = window.get("strides", [1])[0], window.get("filter_dilation", [1])[0]
        low, high = window["low"][0], window["high"][0]
        a = tensors.random("f32", (bound, 6, 4), 2, -1, 1)
        for symbolic in (False, True):
            known, places = ("?", "?") if symbolic else (16, bound)
            type_x, type_a = f"tensor<{known}x6x3xf32>", f"tensor<{places}x6x4xf32>"
            body = ZERO + f"""    %r = array.set_extent %x, %n axis = 0 : ({type_x}, tensor<i64>) -> tensor<?x6x3xf32>
    %y = array.conv %r, %w {attributes(dims, window)} : (tensor<?x6x3xf32>, tensor<3x3x4xf32>) -> tensor<?x6x4xf32>
    %p = array.pad_to_bound %y, %zero : (tensor<?x6x4xf32>, tensor<f32>) -> {type_a}
    %z = array.mul %p, %a : {type_a}
    %loss = array.reduce sum, %z axes = [0, 1, 2] : {type_a} -> tensor<f32>"""
            text = function("", [("%x", type_x), ("%w", w.mlir), ("%a", type_a), ("%n", "tensor<i64>")], [("%loss", "tensor<f32>")], body)
            steps = []
            for count in COUNTS:
                rows = cut(x.values, count)
                back, grad = np.zeros(x.shape), np.zeros(FILTER.shape)
                for place in range(max((len(rows) + low + high - 2 * dilation - 1) // stride + 1, 0)):
                    for tap in range(3):
                        at = place * stride + tap * dilation - low
                        if 0 <= at < len(rows):
                            back[at] += a.values[place] @ FILTER[tap].T
                            grad[tap] += rows[at].T @ a.values[place]
                steps.append(Step([x, w, a, scalar("i64", count), one], [("f32", back), ("f32", grad)], "_vjp"))
            yield Case(f"conv_vjp_along_{name}" + "_symbolic" * symbolic, text, steps, "sum", gradients=(":0,1",))


def filter_windows():
    """The size of a window has an extent: as many places as the result says, with zeros around the image."""
    image = np.round(np.random.default_rng(7).uniform(-2, 2, (2, 9, 3)) * 8) / 8
    dims, window = "[b, 0, f] x [0, i, o] -> [b, 0, f]", dict(low=[2], strides=[2])
    body = constant("%image", image) + \
        f"    %y = array.conv %image, %r {attributes(dims, window)} : (tensor<2x9x3xf32>, CUT) -> tensor<2x5x4xf32>\n"

    def reference(w):
        around = np.pad(image, [(0, 0), (2, 16), (0, 0)])
        return [sum((around[:, tap:tap + 9:2] @ w[tap] for tap in range(len(w))), np.zeros((2, 5, 4)))]
    yield of_counts("conv_filter_window", body, [("%y", "tensor<2x5x4xf32>")], reference, shape=(6, 3, 4), counts=(0, 1, 2, 5, 6, 99))


def gradients():
    """Of a loss that weights what there is: of convolutions over a batch, of pools along the dim with the extent."""
    x, weights = tensors.random("f32", (16, 6, 3), 1, -1, 1), tensors.random("f32", (16, 6, 4), 2, -1, 1)
    w, one = Tensor("f32", FILTER), Tensor("f32", 1.0)
    dims, window = "[b, 0, f] x [0, i, o] -> [b, 0, f]", dict(low=[1], high=[1])
    body = f"""    %r = array.set_extent %x, %n axis = 0 : (tensor<16x6x3xf32>, tensor<i64>) -> tensor<?x6x3xf32>
    %s = array.set_extent %a, %n axis = 0 : (tensor<16x6x4xf32>, tensor<i64>) -> tensor<?x6x4xf32>
    %y = array.conv %r, %w {attributes(dims, window)} : (tensor<?x6x3xf32>, tensor<3x3x4xf32>) -> tensor<?x6x4xf32>
    %z = array.mul %y, %s : tensor<?x6x4xf32>
    %loss = array.reduce sum, %z axes = [0, 1, 2] : tensor<?x6x4xf32> -> tensor<f32>"""
    text = function("", [("%x", x.mlir), ("%w", w.mlir), ("%a", weights.mlir), ("%n", "tensor<i64>")], [("%loss", "tensor<f32>")], body)
    steps = []
    for count in COUNTS:
        rows, a = cut(x.values, count), cut(weights.values, count)
        back = np.zeros(x.shape)
        spread = np.pad(a, [(0, 0), (1, 1), (0, 0)])
        for tap in range(3):
            back[:len(rows)] += np.einsum("blo,io->bli", spread[:, 2 - tap:8 - tap], FILTER[tap])
        under = np.pad(rows, [(0, 0), (1, 1), (0, 0)])
        grad = np.stack([np.einsum("bli,blo->io", under[:, tap:tap + 6], a) for tap in range(3)])
        steps.append(Step([x, w, weights, scalar("i64", count), one], [("f32", back), ("f32", grad)], "_vjp"))
    yield Case("conv_vjp", text, steps, "sum", gradients=(":0,1",))

    yield from gradients_along()
    pool = dict(window=[3, 1, 1], strides=[2, 1, 1], low=[1, 0, 0], high=[2, 0, 0])
    weights = tensors.random("f32", (9, 6, 3), 3, -1, 1)
    for kind, op in (("max", "array.reduce_window max,"), ("avg", "array.avg_pool")):
        body = f"""    %r = array.set_extent %x, %n axis = 0 : (tensor<16x6x3xf32>, tensor<i64>) -> tensor<?x6x3xf32>
    %y = {op} %r {pool_attributes(pool)}{' count_include_pad' * (kind == 'avg')} : tensor<?x6x3xf32> -> tensor<?x6x3xf32>
    %c = array.extent %y, 0 : tensor<?x6x3xf32> -> tensor<i64>
    %zero = array.constant dense<0.0> : tensor<f32>
    %p = array.pad_to_bound %y, %zero : (tensor<?x6x3xf32>, tensor<f32>) -> tensor<9x6x3xf32>
    %z = array.mul %p, %a : tensor<9x6x3xf32>
    %loss = array.reduce sum, %z axes = [0, 1, 2] : tensor<9x6x3xf32> -> tensor<f32>"""
        text = function("", [("%x", x.mlir), ("%a", weights.mlir), ("%n", "tensor<i64>")], [("%loss", "tensor<f32>")], body)
        steps = []
        for count in COUNTS[1:-1]:
            rows, back = cut(x.values, count), np.zeros(x.shape)
            places = (len(rows) + 3 - 3) // 2 + 1
            g = weights.values[:places]
            if kind == "max":
                back[:len(rows)] = scattered("max", rows, g, **pool)
            else:
                for place in range(places):
                    for at in range(max(2 * place - 1, 0), min(2 * place + 2, len(rows))):
                        back[at] += g[place] / 3
            steps.append(Step([x, weights, scalar("i64", count), one], [("f32", back)], "_vjp"))
        yield Case(f"{kind}_vjp", text, steps, "sum", gradients=(":0",))


def cases():
    for make in (convolutions, features, filter_windows, pools, gradients):
        yield from make()
