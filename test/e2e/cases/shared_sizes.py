"""Chains of ops whose sizes name the size before them twice: written out, formulas would double with each op."""
import numpy as np

from harness import Case, Step, function
from tensors import random

LINE = "tensor<?xf32>"


def line(n):
    return [random("f32", (n,), 3, -1, 1)]


def join(i):
    return f"    %v{i} = array.concatenate %a{i}, %b{i} axis = 0 : ({LINE}, {LINE}) -> {LINE}\n"


def chain(name, layers, layer, compute, sizes, errors=()):
    """`layer(i, value)` is the text of layer i, which makes %v{i}; `compute` what each one does."""
    text, value = "", "%x"
    for i in range(layers):
        text += layer(i, value)
        value = f"%v{i}"
    steps = []
    for n in sizes:
        y = line(n)[0].values
        for _ in range(layers):
            y = compute(y)
        steps.append(Step(line(n), [("f32", y)]))
    steps += [Step(line(n), error=error) for n, error in errors]
    return Case(name, function("", [("%x", LINE)], [(value, LINE)], text.rstrip("\n")), steps, "rounded")


def strided(i, value):
    return (f"    %a{i} = array.slice {value} [::2] : {LINE} -> {LINE}\n"
            f"    %b{i} = array.slice {value} [::3] : {LINE} -> {LINE}\n" + join(i))


def pooled(i, value):
    return (f"    %a{i} = array.reduce_window max, {value} window = [3] strides = [2] : {LINE} -> {LINE}\n"
            f"    %b{i} = array.reduce_window min, {value} window = [2] : {LINE} -> {LINE}\n" + join(i))


def pool(x):
    return np.concatenate([np.array([x[i:i + w].max() if w == 3 else x[i:i + w].min() for i in range(0, len(x) - w + 1, s)], x.dtype) for w, s in ((3, 2), (2, 1))])


def paired(i, value):
    return (f"    %d{i} = array.dim {value}, 0 : {LINE}\n"
            f"    %a{i} = array.reshape {value} sizes(%d{i}) : {LINE} -> tensor<?x1xf32>\n"
            f"    %b{i} = array.reshape {value} sizes(%d{i}) : {LINE} -> tensor<1x?xf32>\n"
            f"    %p{i} = array.max %a{i}, %b{i} : (tensor<?x1xf32>, tensor<1x?xf32>) -> tensor<?x?xf32>\n"
            f"    %v{i} = array.reshape %p{i} : tensor<?x?xf32> -> {LINE}\n")


def in_regions():
    """The chain in a region that sizes choose, with a chain around it, too."""
    inner, value = "", "%o3"
    for i in range(12):
        inner += strided(i, value).replace("    %", "      %")
        value = f"%v{i}"
    outer, around = "", "%x"
    for i in range(4):
        outer += strided(i, around).replace(f"%a{i}", f"%s{i}").replace(f"%b{i}", f"%t{i}").replace(f"%v{i}", f"%o{i}")
        around = f"%o{i}"
    text = outer + f"""    %d = array.dim %x, 0 : {LINE}
    %n = array.from_index %d : tensor<i64>
    %limit = array.constant dense<40> : tensor<i64>
    %few = array.compare le, %n, %limit : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %s = array.if %few : tensor<i1> -> (tensor<f32>) {{
{inner}      %y = array.reduce sum, {value} axes = [0] : {LINE} -> tensor<f32>
      array.yield %y : tensor<f32>
    }} else {{
      %z = array.reduce max, %o3 axes = [0] : {LINE} -> tensor<f32>
      array.yield %z : tensor<f32>
    }}"""
    steps = []
    for n in (1, 5, 40, 41):
        y = line(n)[0].values
        for i in range(16 if n <= 40 else 4):
            y = np.concatenate([y[::2], y[::3]])
        steps.append(Step(line(n), [("f32", y.sum() if n <= 40 else y.max())]))
    yield Case("in_regions", function("", [("%x", LINE)], [("%s", "tensor<f32>")], text), steps, "sum", recordings=2)


def cases():
    yield chain("strided", 40, strided, lambda x: np.concatenate([x[::2], x[::3]]), (0, 1, 2, 5, 64, 1000))
    yield chain("pooled", 24, pooled, pool, (0, 1, 2, 3))
    yield chain("paired", 16, paired, lambda x: np.maximum.outer(x, x).reshape(-1), (0, 1), [(2, "overflows 64 bits")])
    yield from in_regions()
