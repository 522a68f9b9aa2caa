"""Scales and shifts of parameters behind convolutions and products, which are computed into filters once an instance."""
import pathlib
import tempfile

import numpy as np

from cases import conv
from harness import Case, Step
from tensors import Tensor, random, write_safetensors

SCRATCH = tempfile.TemporaryDirectory(prefix="xc-e2e-")  # lives as long as the run


def held(name, **tensors):
    """A file of parameters, the ops that read them, and the argument of the case."""
    file = pathlib.Path(SCRATCH.name) / f"{name}.safetensors"
    write_safetensors(file, tensors)
    reads = "".join(f"    %{key} = array.parameter \"{name}\"::\"{key}\" : {w.mlir}\n" for key, w in tensors.items())
    return reads, dict(parameters=((name, file),), alone=True)


def positive(dtype, shape, seed):
    return Tensor(dtype, 1 + 0.5 * random(dtype, shape, seed, -1, 1).values)


def batch_norm(dtype, name, x, w, dims, out, axis, **window):
    """Convolution, batch norm, relu: of large means, so that the shift that is left of both is no small number."""
    features = out[axis]
    x, w = random(dtype, x, 1, -1, 1), random(dtype, w, 2, -1, 1)
    scale, variance = positive(dtype, (features,), 3), positive(dtype, (features,), 4)
    bias, mean = random(dtype, (features,), 5, -1, 1), random(dtype, (features,), 6, -3, 3)
    reads, options = held(f"{name}_{dtype}", w=w, scale=scale, bias=bias, mean=mean, variance=variance)
    # Rounded to the type of the filter, which is the reason why one of 16 bits is not scaled.
    y = Tensor(dtype, conv.convolve(x.values, w.values, dims, **window)).values
    along = [1] * y.ndim
    along[axis] = features
    m, v, s, b = (t.values.reshape(along) for t in (mean, variance, scale, bias))
    attributes = " ".join(f"{key} = {value}" for key, value in window.items())
    result = Tensor(dtype, np.zeros(out)).mlir
    yield Case(f"{name}_{dtype}", f"""  func.func @NAME(%x: {x.mlir}) -> ({result}) {{
{reads}    %c = array.conv %x, %w dims = <{dims}> {attributes} : ({x.mlir}, {w.mlir}) -> {result}
    %n = array.batch_norm_inference %c, %scale, %bias, %mean, %variance axis = {axis} epsilon = 1.0e-3
       : ({result}, {scale.mlir}, {bias.mlir}, {mean.mlir}, {variance.mlir}) -> {result}
    %r = array.relu %n : {result}
    return %r : {result}
  }}
""", [Step([x], [(dtype, np.maximum((y - m) / np.sqrt(v + 1e-3) * s + b, 0))])], "sum", **options)


def products():
    """Scales along rows of a fixed first operand and along columns of a second one, several of them, and shifts of both signs."""
    for dtype in ("f32", "f64"):
        x, w = random(dtype, (7, 40), 11, -1, 1), random(dtype, (40, 24), 12, -1, 1)
        s, t, b, c = (random(dtype, (24,), 13 + i, -2, 2) for i in range(4))
        reads, options = held(f"columns_{dtype}", w=w, s=s, t=t, b=b, c=c)
        yield Case(f"scaled_columns_{dtype}", f"""  func.func @NAME(%x: {x.mlir}) -> (tensor<7x24x{dtype}>) {{
{reads}    %0 = array.matmul %x, %w : ({x.mlir}, {w.mlir}) -> tensor<7x24x{dtype}>
    %1 = array.add %b, %0 : ({b.mlir}, tensor<7x24x{dtype}>) -> tensor<7x24x{dtype}>
    %2 = array.mul %1, %s : (tensor<7x24x{dtype}>, {s.mlir}) -> tensor<7x24x{dtype}>
    %3 = array.sub %2, %c : (tensor<7x24x{dtype}>, {c.mlir}) -> tensor<7x24x{dtype}>
    %4 = array.mul %t, %3 : ({t.mlir}, tensor<7x24x{dtype}>) -> tensor<7x24x{dtype}>
    return %4 : tensor<7x24x{dtype}>
  }}
""", [Step([x], [(dtype, ((x.values @ w.values + b.values) * s.values - c.values) * t.values)])], "sum", **options)
        rows, z = random(dtype, (24, 1), 17, -2, 2), random(dtype, (40, 5), 18, -1, 1)
        first = Tensor(dtype, w.values.T)
        reads, options = held(f"rows_{dtype}", w=first, rows=rows, c=rows)
        yield Case(f"scaled_rows_{dtype}", f"""  func.func @NAME(%z: {z.mlir}) -> (tensor<24x5x{dtype}>) {{
{reads}    %0 = array.matmul %w, %z : ({first.mlir}, {z.mlir}) -> tensor<24x5x{dtype}>
    %1 = array.sub %0, %c : (tensor<24x5x{dtype}>, {rows.mlir}) -> tensor<24x5x{dtype}>
    %2 = array.mul %1, %rows : (tensor<24x5x{dtype}>, {rows.mlir}) -> tensor<24x5x{dtype}>
    return %2 : tensor<24x5x{dtype}>
  }}
""", [Step([z], [(dtype, (first.values @ z.values - rows.values) * rows.values)])], "sum", **options)


def shared():
    """A filter that two convolutions use, of which one is scaled; and a scale that an input gives."""
    x, w, s = random("f32", (7, 40), 21, -1, 1), random("f32", (40, 24), 22, -1, 1), random("f32", (24,), 23, -2, 2)
    reads, options = held("shared", w=w, s=s)
    yield Case("scaled_and_not", f"""  func.func @NAME(%x: {x.mlir}, %y: {s.mlir}) -> (tensor<7x24xf32>, tensor<7x24xf32>, tensor<7x24xf32>) {{
{reads}    %0 = array.matmul %x, %w : ({x.mlir}, {w.mlir}) -> tensor<7x24xf32>
    %1 = array.mul %0, %s : (tensor<7x24xf32>, {s.mlir}) -> tensor<7x24xf32>
    %2 = array.abs %x : {x.mlir}
    %3 = array.matmul %2, %w : ({x.mlir}, {w.mlir}) -> tensor<7x24xf32>
    %4 = array.mul %3, %y : (tensor<7x24xf32>, {s.mlir}) -> tensor<7x24xf32>
    return %0, %1, %4 : tensor<7x24xf32>, tensor<7x24xf32>, tensor<7x24xf32>
  }}
""", [Step([x, s], [("f32", x.values @ w.values), ("f32", x.values @ w.values * s.values), ("f32", np.abs(x.values) @ w.values * s.values)])],
               "sum", **options)


def cases():
    padded = dict(strides=[2, 2], low=[1, 1], high=[1, 1])
    for dtype in ("f32", "f64", "bf16"):
        yield from batch_norm(dtype, "norm_last", (2, 9, 9, 8), (3, 3, 8, 24), conv.NHWC, (2, 5, 5, 24), 3, **padded)
        yield from batch_norm(dtype, "norm_first", (2, 8, 9, 9), (24, 8, 3, 3), conv.NCHW, (2, 24, 5, 5), 1, **padded)
    yield from batch_norm("f32", "norm_pointwise", (1, 7, 7, 16), (32, 1, 1, 16), conv.KRSC, (1, 7, 7, 32), 3)
    yield from batch_norm("f32", "norm_groups", (1, 8, 8, 12), (3, 3, 4, 24), conv.NHWC, (1, 6, 6, 24), 3, feature_groups=3)
    yield from batch_norm("f32", "norm_depthwise", (1, 8, 8, 16), (3, 3, 1, 16), conv.NHWC, (1, 6, 6, 16), 3, feature_groups=16)
    yield from products()
    yield from shared()
