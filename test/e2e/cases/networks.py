"""ResNet and BERT of benchmarks/networks.py at small sizes, each op beside its NumPy definition in float64."""
import importlib.util
import math
import pathlib

import numpy as np

from cases import conv, pool
from harness import simple
from tensors import Tensor, random

SOURCE = pathlib.Path(__file__).resolve().parents[3] / "benchmarks" / "networks.py"


def load():
    spec = importlib.util.spec_from_file_location("networks", SOURCE)
    networks = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(networks)
    return networks


networks = load()


class Evaluated(networks.Network):
    """A network whose weights are inputs of the case, and what it computes."""

    def __init__(self, dtype):
        super().__init__(dtype)
        self.inputs, self.values = [], {}

    def give(self, values):
        name = self.define(f"%{len(self.inputs)}", values.shape, values.dtype)
        self.inputs.append(values)
        self.values[name] = values.values
        return name

    def argument(self, name, shape, dtype=None, largest=None):
        dtype, seed = dtype or self.dtype, 70 + len(self.inputs)
        return self.give(random(dtype, shape, seed, 0, largest) if largest else random(dtype, shape, seed, -1, 1))

    def weight(self, name, shape, kind="matrix"):
        values = random(self.dtype, shape, 70 + len(self.inputs), -1, 1).values
        if kind == "matrix":
            values = values * (3 / max(1, math.prod(shape[1:]) if len(shape) == 4 else shape[0])) ** 0.5
        elif kind in ("scale", "variance"):
            values = 1 + 0.3 * values
        return self.give(Tensor(self.dtype, values))

    def record(self, name, values):
        self.values[name] = values
        return name

    def conv(self, x, w, stride):
        pad = [self.shapes[w][2] // 2] * 2
        y = conv.convolve(self.values[x], self.values[w], conv.NCHW, strides=[stride] * 2, low=pad, high=pad)
        return self.record(super().conv(x, w, stride), y)

    def batch_norm(self, x, *vectors):
        scale, bias, mean, variance = (self.values[v][:, None, None] for v in vectors)
        return self.record(super().batch_norm(x, *vectors), (self.values[x] - mean) / np.sqrt(variance + 1e-5) * scale + bias)

    def max_pool(self, x):
        window = dict(window=[1, 1, 3, 3], strides=[1, 1, 2, 2], low=[0, 0, 1, 1], high=[0, 0, 1, 1])
        return self.record(super().max_pool(x), pool.reduced("max", Tensor("f64", self.values[x]), **window))

    def mean_of_image(self, x):
        return self.record(super().mean_of_image(x), self.values[x].mean((2, 3)))

    def unary(self, name, x):
        functions = {"relu": lambda v: np.maximum(v, 0), "tanh": np.tanh,
                     "gelu": np.vectorize(lambda v: v * 0.5 * (1 + math.erf(v / math.sqrt(2))))}
        return self.record(super().unary(name, x), functions[name](self.values[x]))

    def add(self, x, y):
        return self.record(super().add(x, y), self.values[x] + self.values[y])

    def matmul(self, x, w):
        return self.record(super().matmul(x, w), self.values[x] @ self.values[w])

    def layer_norm(self, x, scale, bias):
        v = self.values[x]
        v = (v - v.mean(-1, keepdims=True)) / np.sqrt(v.var(-1, keepdims=True) + 1e-5)
        return self.record(super().layer_norm(x, scale, bias), v * self.values[scale] + self.values[bias])

    def take(self, table, ids):
        return self.record(super().take(table, ids), self.values[table][self.values[ids]])

    def reshape(self, x, shape):
        return self.record(super().reshape(x, shape), self.values[x].reshape(shape))

    def transpose(self, x, permutation):
        return self.record(super().transpose(x, permutation), self.values[x].transpose(permutation))

    def attention(self, q, k, v, mask):
        scores = self.values[q] @ self.values[k].swapaxes(-1, -2) * self.shapes[q][-1] ** -0.5 + self.values[mask]
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        y = weights @ self.values[v] / weights.sum(-1, keepdims=True)
        return self.record(super().attention(q, k, v, mask), y)

    def slice_first(self, x):
        return self.record(super().slice_first(x), self.values[x][:, :1])

    def case(self, name, results):
        for number, result in enumerate(results):
            self.lines.append(f"%r{number} = array.reshape {result} : {self.type(result)} -> {self.type(result)}")
        return simple(name, self.inputs, [(self.dtype, self.values[result]) for result in results], "\n".join(self.lines),
                      "model", alone=True)


def classifier():
    """The end of ResNet-50 for one image: means of channels, of which a product with a vector sums up parts in several blocks."""
    x, w, bias = random("f16", (1, 2048, 7, 7), 1, 0, 1), random("f16", (2048, 1000), 2, -0.1, 0.1), random("f16", (1000,), 3)
    means = Tensor("f16", x.values.astype(np.float64).mean((2, 3))).values.astype(np.float64)
    return simple("classifier", [x, w, bias], [("f16", means @ w.values.astype(np.float64) + bias.values)], f"""
        %m = array.mean %0 axes = [2, 3] : {x.mlir} -> tensor<1x2048xf16>
        %p = array.matmul %m, %1 : (tensor<1x2048xf16>, {w.mlir}) -> tensor<1x1000xf16>
        %r0 = array.add %p, %2 : (tensor<1x1000xf16>, {bias.mlir}) -> tensor<1x1000xf16>""", "model")


def cases():
    yield classifier()
    net = Evaluated("f32")
    yield net.case("resnet", [networks.resnet(net, batch=2, size=40, width=8, blocks=(2, 1, 1, 2), classes=10)])
    net = Evaluated("f32")
    yield net.case("bert", networks.bert(net, batch=2, tokens=9, layers=2, hidden=24, heads=3, feed_forward=40, vocabulary=50))
