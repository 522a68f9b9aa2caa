#!/usr/bin/env python3
"""Writes a transformer encoder in array ops, and on request its weights and a reference result.

    generate.py --output=encoder.mlir                       the program; weights are external parameters
    generate.py --output=encoder.mlir --data=DIR            also DIR/{weights.safetensors,x.npy,y.npy}
    generate.py --output=encoder.mlir --weights=splat       each weight is one repeated constant

    xcompile encoder.mlir -o encoder.vmfb
    xrun encoder.vmfb --parameters=weights=DIR/weights.safetensors --input=@DIR/x.npy --expect=@DIR/y.npy

The layers are those of BERT: attention, then two dense layers with a gelu between them, each added to
its input and normalised. y.npy is computed with NumPy in float64 and rounded to float32.
"""
import argparse
import json
import math
import pathlib
import struct

import numpy as np

EPSILON = 1e-5


def weight_shapes(width, hidden):
    """Name and shape of the weights of one layer, in the order in which they are used."""
    shapes = {}
    for name in ("query", "key", "value", "output"):
        shapes[f"{name}.weight"] = (width, width)
        shapes[f"{name}.bias"] = (width,)
    shapes["norm1.scale"] = shapes["norm1.bias"] = (width,)
    shapes["up.weight"], shapes["up.bias"] = (width, hidden), (hidden,)
    shapes["down.weight"], shapes["down.bias"] = (hidden, width), (width,)
    shapes["norm2.scale"] = shapes["norm2.bias"] = (width,)
    return shapes


def tensor(*dims):
    return "tensor<" + "".join(f"{dim}x" for dim in dims) + "f32>"


class Writer:
    """The text of one function; values are numbered."""

    def __init__(self, args):
        self.args = args
        self.lines = []
        self.count = 0

    def op(self, text, indent="    "):
        self.count += 1
        self.lines.append(f"{indent}%v{self.count} = {text}")
        return f"%v{self.count}"

    def weight(self, layer, name, shape):
        if self.args.weights == "splat":
            value = 1.0 if name.endswith("scale") else 0.01
            return self.op(f"array.constant dense<{value}> : {tensor(*shape)}")
        return self.op(f'array.parameter "weights"::"layer{layer}.{name}" : {tensor(*shape)}')

    def dense(self, x, rows, weights, shape):
        weight, bias = weights
        product = self.op(f"array.matmul {x}, {weight} : ({tensor(rows, shape[0])}, {tensor(*shape)}) "
                          f"-> {tensor(rows, shape[1])}")
        return self.op(f"array.add {product}, {bias} : ({tensor(rows, shape[1])}, {tensor(shape[1])}) "
                       f"-> {tensor(rows, shape[1])}")

    def add_and_norm(self, x, y, scale, bias):
        rows, width = self.args.tokens, self.args.width
        total = self.op(f"array.add {x}, {y} : {tensor(rows, width)}")
        return self.op(f"array.layer_norm {total} scale({scale} : {tensor(width)}) bias({bias} : {tensor(width)}) "
                       f"axis = 1 epsilon = {EPSILON:e} : {tensor(rows, width)}")

    def split_heads(self, x):
        rows, width, heads = self.args.tokens, self.args.width, self.args.heads
        apart = tensor(rows, heads, width // heads)
        parted = self.op(f"array.reshape {x} : {tensor(rows, width)} -> {apart}")
        return self.op(f"array.transpose {parted} permutation = [1, 0, 2] : {apart} -> "
                       f"{tensor(heads, rows, width // heads)}")

    def attention(self, query, key, value):
        rows, width, heads = self.args.tokens, self.args.width, self.args.heads
        size = width // heads
        query, key, value = (self.split_heads(x) for x in (query, key, value))
        head, square = tensor(heads, rows, size), tensor(heads, rows, rows)
        scores = self.op(f"array.matmul {query}, {key} transpose_b : ({head}, {head}) -> {square}")
        scale = self.op(f"array.constant dense<{1 / math.sqrt(size):.9e}> : tensor<f32>")
        scaled = self.op(f"array.mul {scores}, {scale} : ({square}, tensor<f32>) -> {square}")
        shares = self.op(f"array.softmax {scaled} axis = 2 : {square}")
        mixed = self.op(f"array.matmul {shares}, {value} : ({square}, {head}) -> {head}")
        together = tensor(rows, heads, size)
        joined = self.op(f"array.transpose {mixed} permutation = [1, 0, 2] : {head} -> {together}")
        return self.op(f"array.reshape {joined} : {together} -> {tensor(rows, width)}")

    def layer(self, index, x):
        rows, width, hidden = self.args.tokens, self.args.width, self.args.hidden
        shapes = weight_shapes(width, hidden)
        weights = {name: self.weight(index, name, shape) for name, shape in shapes.items()}
        pair = lambda name: (weights[f"{name}.weight"], weights[f"{name}.bias"])
        query, key, value = (self.dense(x, rows, pair(name), (width, width)) for name in ("query", "key", "value"))
        mixed = self.dense(self.attention(query, key, value), rows, pair("output"), (width, width))
        x = self.add_and_norm(x, mixed, weights["norm1.scale"], weights["norm1.bias"])
        up = self.dense(x, rows, pair("up"), (width, hidden))
        active = self.op(f"array.gelu {up} : {tensor(rows, hidden)}")
        down = self.dense(active, rows, pair("down"), (hidden, width))
        return self.add_and_norm(x, down, weights["norm2.scale"], weights["norm2.bias"])


def program(args):
    writer = Writer(args)
    shape = tensor(args.tokens, args.width)
    x = "%x"
    for index in range(args.layers):
        writer.lines.append(f"    // Layer {index}.")
        x = writer.layer(index, x)
    return "\n".join([
        f"// A transformer encoder: {args.layers} layers, {args.tokens} tokens, {args.width} wide.",
        "module {",
        f'  func.func @main(%x: {shape} {{array.name = "x"}}) -> ({shape} {{array.name = "y"}}) {{',
        *writer.lines,
        f"    return {x} : {shape}",
        "  }",
        "}", ""])


def random_weights(args):
    generator = np.random.default_rng(args.seed)
    weights = {}
    for index in range(args.layers):
        for name, shape in weight_shapes(args.width, args.hidden).items():
            spread = 1 / math.sqrt(shape[0]) if len(shape) == 2 else 0.1
            values = generator.standard_normal(shape) * spread + (1 if name.endswith("scale") else 0)
            weights[f"layer{index}.{name}"] = values.astype(np.float32)
    return weights


def write_safetensors(path, tensors):
    """The format: length of the header, the header in JSON, the tensors' bytes."""
    header, offset = {}, 0
    for name, values in tensors.items():
        header[name] = {"dtype": "F32", "shape": list(values.shape), "data_offsets": [offset, offset + values.nbytes]}
        offset += values.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for values in tensors.values():
            file.write(values.tobytes())


def erf(x):
    return np.vectorize(math.erf, otypes=[np.float64])(x)


def normalise(x, scale, bias):
    mean = x.mean(axis=1, keepdims=True)
    variance = ((x - mean) ** 2).mean(axis=1, keepdims=True)
    return (x - mean) / np.sqrt(variance + EPSILON) * scale + bias


def reference(args, weights, x):
    """The same encoder in float64, written without looking at the program."""
    x = x.astype(np.float64)
    rows, heads = args.tokens, args.heads
    for index in range(args.layers):
        w = {name: weights[f"layer{index}.{name}"].astype(np.float64) for name in weight_shapes(args.width, args.hidden)}
        dense = lambda x, name: x @ w[f"{name}.weight"] + w[f"{name}.bias"]
        query, key, value = (dense(x, name).reshape(rows, heads, -1).swapaxes(0, 1) for name in ("query", "key", "value"))
        scores = query @ key.swapaxes(1, 2) / math.sqrt(args.width // heads)
        shares = np.exp(scores - scores.max(axis=2, keepdims=True))
        shares /= shares.sum(axis=2, keepdims=True)
        mixed = dense((shares @ value).swapaxes(0, 1).reshape(rows, -1), "output")
        x = normalise(x + mixed, w["norm1.scale"], w["norm1.bias"])
        up = dense(x, "up")
        down = dense(up * 0.5 * (1 + erf(up / math.sqrt(2))), "down")
        x = normalise(x + down, w["norm2.scale"], w["norm2.bias"])
    return x


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", required=True, type=pathlib.Path)
    parser.add_argument("--data", type=pathlib.Path)
    parser.add_argument("--weights", choices=("external", "splat"), default="external")
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--tokens", type=int, default=128)
    parser.add_argument("--width", type=int, default=768)
    parser.add_argument("--heads", type=int, default=12)
    parser.add_argument("--hidden", type=int, default=3072)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    if args.width % args.heads:
        parser.error(f"the width {args.width} is not a multiple of the {args.heads} heads")
    if args.data and args.weights == "splat":
        parser.error("--data goes with external weights")
    args.output.write_text(program(args))
    if args.data:
        args.data.mkdir(parents=True, exist_ok=True)
        weights = random_weights(args)
        x = np.random.default_rng(args.seed + 1).standard_normal((args.tokens, args.width)).astype(np.float32)
        write_safetensors(args.data / "weights.safetensors", weights)
        np.save(args.data / "x.npy", x)
        np.save(args.data / "y.npy", reference(args, weights, x).astype(np.float32))


if __name__ == "__main__":
    main()
