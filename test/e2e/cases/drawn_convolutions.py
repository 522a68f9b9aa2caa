"""Convolutions drawn at random: layouts, sizes, windows and what follows, in combinations that nobody writes by hand. A case's number alone decides
what is drawn, and its name tells it.

Operands are small integers, so that no sum is rounded, not even where TF32 is allowed. Batches and images of open sizes get two sizes each.
"""
import dataclasses
import math
import random

import numpy as np

from cases import conv, conv_gradients
from harness import Case, Step, function
from tensors import Tensor, mlir_type

COUNT = 320                 # of any size and type
WHOLE = 80                  # behind them: what kernels on tensor cores take in whole tiles
MOST_PRODUCTS = 1 << 24     # of one call
PLACES = {1: (1, 7, 16, 33, 50, 64), 2: (1, 4, 7, 8, 9, 14, 16), 3: (1, 2, 3, 4, 5, 6)}
TYPES = ("f16", "f16", "f16", "bf16", "bf16", "bf16", "f32", "tf32", "tf32", "i8")
WHOLE_TYPES = ("f16", "bf16", "bf16", "tf32")


@dataclasses.dataclass
class Drawn:
    """Sizes are by label: `image` has those of the operand, `filter` those of the filter."""
    dtype: str
    result: str             # element type
    tf32: bool
    dims: list              # labels of the image, the filter and the result
    image: dict
    filter: dict
    window: dict
    opened: tuple = ()      # labels of the image whose sizes are `?`
    other: dict = None      # the image of a second call, where sizes are open
    fused: tuple = ()       # "bias", "residual", "relu", "sum" or "statistics"

    @property
    def attributes(self):
        sides = [f"[{', '.join(side)}]" for side in self.dims]
        return f"{sides[0]} x {sides[1]} -> {sides[2]}"

    def result_sizes(self, image):
        """By label; None where the window does not fit."""
        sizes = {"b": image["b"], "f": self.filter["o"]}
        for i, (stride, low, high, dilation) in enumerate(zip(*(self.window[key] for key in ("strides", "low", "high", "filter_dilation")))):
            rest = image[str(i)] + low + high - (self.filter[str(i)] - 1) * dilation - 1
            if rest < 0:
                return None
            sizes[str(i)] = rest // stride + 1
        return sizes

    def products(self, image):
        """How many the definition adds up; None where the window does not fit."""
        sizes = self.result_sizes(image)
        return sizes and math.prod(sizes.values()) * math.prod(self.filter.values()) // self.filter["o"]


def draw_dims(rng, places, whole):
    """Most images have channels last or first and most filters an order of their own; of whole tiles, one that keeps taps together."""
    last, first = ["b", *places, "f"], ["b", "f", *places]
    order = lambda labels: rng.sample(labels, len(labels))  # noqa: E731
    image = rng.choice((last, last, last, first, first, order(last)))
    filter = rng.choice((["o", *places, "i"], order(["o", *places, "i"]), order(["o", *places, "i"])))
    if whole:
        image, filter = rng.choice((last, last, first)), sum(order([["o"], places, ["i"]]), [])
    return [image, filter, rng.choice((image, image, image, last, order(last)))]


def draw_window(rng, rank, taps):
    """Of one kind along all dims, or of its own along each."""
    alike = rng.random() < 0.6

    def along_each(choose):
        drawn = [choose(i) for i in range(rank)]
        return [drawn[0]] * rank if alike else drawn

    low = along_each(lambda i: rng.choice((0, taps[i] // 2, taps[i] // 2, 1)))
    high = low if rng.random() < 0.5 else along_each(lambda i: rng.choice((0, 0, 1, 2, taps[i] // 2)))
    return {"strides": along_each(lambda i: rng.choice((1, 1, 1, 2, 2, 3))), "low": low, "high": high,
            "filter_dilation": along_each(lambda i: rng.choice((1, 1, 1, 2, 3)))}


def draw_image(rng, rank, channels):
    sizes = [rng.choice(PLACES[rank])] * rank if rng.random() < 0.5 else [rng.choice(PLACES[rank]) for _ in range(rank)]
    return {"b": rng.choice((1, 1, 2, 3, 8)), "f": channels, **{str(i): size for i, size in enumerate(sizes)}}


def draw_channels(rng, whole):
    """(channels, features, groups): one group, a few, or as many as channels."""
    if whole:
        return rng.choice((64, 64, 128)), rng.choice((64, 64, 72, 128)), rng.choice((1, 1, 1, 1, 2))
    kind = rng.random()
    channels, features = rng.choice((3, 8, 16, 64, 64, 72, 100, 128)), rng.choice((8, 10, 16, 64, 64, 72, 96, 128))
    if kind < 0.15:
        return channels, channels * rng.choice((1, 1, 2)), channels
    groups = rng.choice((2, 2, 4, 8)) if kind < 0.3 else 1
    return (channels, features, groups) if channels % groups == features % groups == 0 else (channels, features, 1)


def draw_once(rng, whole):
    rank = rng.choice((1, 2, 2, 2, 2, 2, 2, 3))
    places = [str(i) for i in range(rank)]
    dtype = rng.choice(WHOLE_TYPES if whole else TYPES)
    channels, features, groups = draw_channels(rng, whole)
    image = draw_image(rng, rank, channels)
    size = rng.choice((1, 2, 3, 3, 3, 5))
    taps = [size] * rank if rng.random() < 0.7 else [rng.choice((1, 2, 3, 4)) for _ in range(rank)]
    window = draw_window(rng, rank, taps)
    special = rng.random()
    if special < 0.07:      # a window as large as the image
        taps = [image[place] for place in places]
        window = {"strides": [1] * rank, "low": [0] * rank, "high": [0] * rank, "filter_dilation": [1] * rank}
    elif special < 0.12:    # one size for all, which only maps tell apart
        image, taps, features, groups, channels = {label: 8 for label in image}, [8] * rank, 8, 1, 8
        window.update(low=[4] * rank, high=[3] * rank, filter_dilation=[1] * rank)
    elif special < 0.16:    # one image, read as it lies, with padding behind alone
        image["b"], taps = 1, [1] * rank
        window.update(strides=[1] * rank, low=[0] * rank, high=[1] * rank)
    filter = {"o": features, "i": channels // groups, **dict(zip(places, taps))}
    wide = dtype in ("f16", "bf16") and rng.random() < 0.08
    drawn = Drawn("f32" if dtype == "tf32" else dtype, "i32" if dtype == "i8" else "f32" if wide or dtype == "tf32" else dtype, dtype == "tf32",
                  draw_dims(rng, places, whole), image, filter, dict(window, feature_groups=groups))
    if rng.random() < 0.3:
        drawn.opened = rng.choice((("b",), ("b",), tuple(places), ("b", *places), ("0",)))
        drawn.other = dict(image, **{label: size for label, size in draw_image(rng, rank, channels).items() if label in drawn.opened})
    if dtype != "i8":
        drawn.fused = tuple(name for name, chance in (("bias", 0.3), ("residual", 0.2), ("relu", 0.3)) if rng.random() < chance)
        drawn.fused += rng.choice(((),) * 8 + (("sum",), ("statistics",)))
    return drawn


def draw(number):
    """The first that fits and is small enough."""
    rng = random.Random(number)
    while True:
        drawn = draw_once(rng, number >= COUNT)
        products = [drawn.products(image) for image in (drawn.image, drawn.other) if image]
        if all(products) and max(products) <= MOST_PRODUCTS:
            return drawn


def name_of(number, drawn):
    """What was drawn, but for what is usual."""
    by = lambda sizes: "x".join(map(str, sizes))  # noqa: E731
    places, window = [label for label in drawn.image if label not in "bf"], drawn.window
    parts = [f"{number:03}", "tf32" if drawn.tf32 else drawn.dtype, *("".join(side) for side in drawn.dims)]
    parts += [by(drawn.image[label] for label in drawn.dims[0]), "by", by(drawn.filter[place] for place in places), "to", str(drawn.filter["o"])]
    for key, word in (("strides", "strides"), ("low", "low"), ("high", "high"), ("filter_dilation", "dilated")):
        if any(size != (key in ("strides", "filter_dilation")) for size in window[key]):
            parts += [word, by(window[key])]
    if window["feature_groups"] > 1:
        parts += ["groups", str(window["feature_groups"])]
    if drawn.result == "f32" != drawn.dtype:
        parts.append("wide")
    if drawn.opened:
        parts += ["open", "".join(drawn.opened)]
    return "_".join([*parts, *drawn.fused])


def integers(dtype, shape, *seed):
    """Sums of some thousand products of them are within the numbers that the type tells from their neighbours."""
    most = 1 if dtype == "bf16" else 2
    return Tensor(dtype, np.random.default_rng(seed).integers(-most, most + 1, shape).astype(np.int64 if dtype == "i8" else np.float64))


def ahead_of_places(drawn, features):
    """The shape of one value for each feature of the result: their number, and a 1 for each dim behind."""
    behind = drawn.dims[2][drawn.dims[2].index("f") + 1:]
    return (features, *[1] * len(behind))


def but_features(drawn):
    return tuple(axis for axis, label in enumerate(drawn.dims[2]) if label != "f")


def text_of(drawn, inputs, outputs):
    """The function; `inputs` and `outputs` are (value, type)."""
    types = dict(inputs)
    y = outputs[0][1]
    value = lambda number: f"%v{number}"  # noqa: E731
    lines = [f"{value(0)} = array.conv %x, %w {conv.attributes(drawn.attributes, drawn.window)}{' allow_tf32' if drawn.tf32 else ''} : "
             f"({types['%x']}, {types['%w']}) -> {y}"]
    for name in drawn.fused:
        at = len(lines)
        if name == "bias":
            lines.append(f"{value(at)} = array.add {value(at - 1)}, %bias : ({y}, {types['%bias']}) -> {y}")
        elif name == "residual":
            lines.append(f"{value(at)} = array.add {value(at - 1)}, %residual : {y}")
        elif name == "relu":
            lines.append(f"{value(at)} = array.relu {value(at - 1)} : {y}")
    last, axes = value(len(lines) - 1), list(but_features(drawn))
    if len(outputs) > 1:
        wide = y.replace(f"x{drawn.result}>", "xf32>")
        if drawn.result != "f32":
            lines.append(f"%wide = array.convert {last} : {y} -> {wide}")
        measured = "%wide" if drawn.result != "f32" else last
        ops = {"sum": ["array.reduce sum,"], "statistics": ["array.mean", "array.var"]}[drawn.fused[-1]]
        lines += [f"{name} = {op} {measured} axes = {axes} : {wide} -> {type}" for op, (name, type) in zip(ops, outputs[1:])]
    outputs = [(last, y), *outputs[1:]]
    return function("", inputs, outputs, "\n".join("    " + line for line in lines))


def reference(drawn, operands):
    """Each output's element type and values, before they are rounded, and the result of the convolution and what relu lets through."""
    y = conv.convolve(operands["x"].values, operands["w"].values, drawn.attributes, **drawn.window)
    for name in ("bias", "residual"):
        if name in drawn.fused:
            y = y + operands[name].values
    passed = y > 0 if "relu" in drawn.fused else np.ones(y.shape)
    y = y * passed
    outputs, axes = [(drawn.result, y)], but_features(drawn)
    if "sum" in drawn.fused:
        outputs.append(("f32", y.sum(axes)))
    if "statistics" in drawn.fused:
        outputs += [("f32", y.mean(axes)), ("f32", y.var(axes))]
    return outputs, passed


def gradients(drawn, operands, passed, back):
    """What comes back to each operand from what comes back to the result, and to the sum where there is one."""
    wide = back[0].values
    if len(back) > 1:
        wide = wide + np.expand_dims(back[1].values, but_features(drawn))
    wide = wide * passed
    values = dict(zip("xw", conv_gradients.pull_back(operands["x"].values, operands["w"].values, wide, drawn.attributes, **drawn.window)))
    values["bias"] = wide.sum(but_features(drawn)).reshape(operands["bias"].shape) if "bias" in operands else None
    values["residual"] = wide
    return [(operands[name].dtype, values[name]) for name in operands]


def steps(drawn, number, image, with_gradients):
    """The calls with one size of the image, and the static shapes."""
    sizes = drawn.result_sizes(image)
    shape = tuple(sizes[label] for label in drawn.dims[2])
    operands = {"x": integers(drawn.dtype, tuple(image[label] for label in drawn.dims[0]), number, 0),
                "w": integers(drawn.dtype, tuple(drawn.filter[label] for label in drawn.dims[1]), number, 1)}
    if "bias" in drawn.fused:
        operands["bias"] = integers(drawn.result, ahead_of_places(drawn, sizes["f"]), number, 2)
    if "residual" in drawn.fused:
        operands["residual"] = integers(drawn.result, shape, number, 3)
    outputs, passed = reference(drawn, operands)
    inputs = list(operands.values())
    yield Step(inputs, outputs)
    if with_gradients:
        back = [integers(dtype, values.shape, number, 4 + i) for i, (dtype, values) in enumerate(outputs)]
        yield Step(inputs + back, gradients(drawn, operands, passed, back), "_vjp")


def drawn_case(number):
    drawn = draw(number)
    # Gradients of variances are no integers.
    with_gradients = drawn.dtype != "i8" and "statistics" not in drawn.fused
    calls = [step for image in (drawn.image, drawn.other) if image for step in steps(drawn, number, image, with_gradients)]
    opened = lambda labels, shape: [None if label in drawn.opened else size for label, size in zip(labels, shape)]  # noqa: E731
    first = calls[0]
    names = ["x", "w", *(name for name in drawn.fused if name in ("bias", "residual"))]
    labels = {"x": drawn.dims[0], "residual": drawn.dims[2]}
    inputs = [(f"%{name}", mlir_type(tensor.dtype, opened(labels[name], tensor.shape) if name in labels else tensor.shape))
              for name, tensor in zip(names, first.inputs)]
    outputs = [(f"%r{i}", mlir_type(dtype, opened(drawn.dims[2], values.shape) if i == 0 else values.shape))
               for i, (dtype, values) in enumerate(first.expected)]
    return Case(name_of(number, drawn), text_of(drawn, inputs, outputs), calls, "sum", gradients=("",) if with_gradients else ())


def cases():
    for number in range(COUNT + WHOLE):
        yield drawn_case(number)
