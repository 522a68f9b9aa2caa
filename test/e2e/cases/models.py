"""Small whole networks: the transformer encoder of the samples, a training step over several calls, residual blocks."""
import argparse
import importlib.util
import pathlib
import re
import tempfile

import numpy as np

from cases import conv, pool
from harness import Case, Step, simple
from tensors import Tensor, mlir_type, random

SAMPLES = pathlib.Path(__file__).resolve().parents[3] / "samples"
SCRATCH = tempfile.TemporaryDirectory(prefix="xc-e2e-")  # lives as long as the run


def encoder():
    spec = importlib.util.spec_from_file_location("encoder", SAMPLES / "transformer_encoder" / "generate.py")
    generate = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generate)
    args = argparse.Namespace(weights="external", layers=2, tokens=17, width=48, heads=4, hidden=100, seed=3)
    weights = generate.random_weights(args)
    file = pathlib.Path(SCRATCH.name) / "weights.safetensors"
    generate.write_safetensors(file, weights)
    x = random("f32", (args.tokens, args.width), 1)
    text = generate.program(args).replace("@main", "@NAME")
    text = re.sub(r'\{array\.name = "\w+"\}', "", text[text.index("module {") + 9:text.rindex("}")])
    yield Case("transformer_encoder", text, [Step([x], [("f32", generate.reference(args, weights, x.values))])], "model",
               parameters=(("weights", file),), alone=True)


def digits():
    """Steps of samples/digits from given weights, each loss against float64."""
    text = (SAMPLES / "digits" / "digits.mlir").read_text()
    text = text[text.index("module {") + 9:text.rindex("}")]
    text = re.sub(r"@(\w+)", r"@NAME_\1", text)
    generator = np.random.default_rng(4)
    w1, w2 = generator.normal(0, 0.2, (64, 128)), generator.normal(0, 0.2, (128, 10))
    weights = {"w1": Tensor("f32", w1), "w2": Tensor("f32", w2)}
    for name, tensor in weights.items():
        text += f"""  func.func @NAME_set_{name}(%x: {tensor.mlir}) {{
    array.variable.assign @NAME_{name}, %x : {tensor.mlir}
    return
  }}
"""
    state = [weights["w1"].values, np.zeros(128), weights["w2"].values, np.zeros(10)]
    momentum = [np.zeros_like(s) for s in state]
    steps = [Step([weights[name]], [], f"_set_{name}") for name in weights]
    for number, rows in enumerate((64, 64, 46, 64, 1)):
        images = random("u8", (rows, 64), number, 0, 17)
        labels = random("i32", (rows,), number, 0, 10)
        rate = Tensor("f32", 0.1)
        x = images.values / 16.0
        z = x @ state[0] + state[1]
        h = np.maximum(z, 0)
        logits = h @ state[2] + state[3]
        log_p = logits - logits.max(1, keepdims=True)
        log_p -= np.log(np.exp(log_p).sum(1, keepdims=True))
        loss = -log_p[np.arange(rows), labels.values].mean()
        d = np.exp(log_p)
        d[np.arange(rows), labels.values] -= 1
        d /= rows
        dz = (d @ state[2].T) * (z > 0)
        for i, gradient in enumerate((x.T @ dz, dz.sum(0), h.T @ d, d.sum(0))):
            momentum[i] = 0.9 * momentum[i] + gradient + 1e-3 * state[i]
            state[i] = state[i] - rate.values * momentum[i]
        steps.append(Step([images, labels, rate], [("f32", loss)], "_train_step"))
    yield Case("digits_training", text, steps, "model", alone=True)


def relu(x):
    return np.maximum(x, 0)


def residual_network(dtype="f32"):
    """Two residual blocks as in ResNet: convolution, batch norm and relu, the second block at half the size; pooling before,
    the mean over the image and a product behind."""
    nhwc = "[b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f]"
    inputs, lines, types = [], [], {}

    def given(shape, scale=1.0, positive=False):
        values = random(dtype, shape, 50 + len(inputs), -1, 1).values * scale
        inputs.append(Tensor(dtype, np.abs(values) + 0.5 if positive else values))
        return f"%{len(inputs) - 1}", inputs[-1].values

    def emit(text, values):
        name = f"%v{len(lines)}"
        types[name] = mlir_type(dtype, values.shape)
        lines.append(f"{name} = {text} -> {types[name]}")
        return name, values

    def type_of(name):
        return types.get(name) or inputs[int(name[1:])].mlir

    def convolution(x, filters, size, stride):
        w = given((size, size, x[1].shape[3], filters), 0.3)
        pad = [size // 2] * 2
        window = dict(strides=[stride] * 2, low=pad, high=pad)
        return emit(f"array.conv {x[0]}, {w[0]} {conv.attributes(nhwc, window)} : ({type_of(x[0])}, {type_of(w[0])})",
                    conv.convolve(x[1], w[1], nhwc, **window))

    def norm(x):
        vectors = [given(x[1].shape[3:], positive=i == 3) for i in range(4)]
        scale, bias, mean, variance = (v[1] for v in vectors)
        names = ", ".join([x[0]] + [v[0] for v in vectors])
        return emit(f"array.batch_norm_inference {names} axis = 3 epsilon = 1.0e-3 : "
                    f"({', '.join([type_of(x[0])] + [type_of(v[0]) for v in vectors])})",
                    (x[1] - mean) / np.sqrt(variance + 1e-3) * scale + bias)

    def activate(x):
        return emit(f"array.relu {x[0]} : {type_of(x[0])}", relu(x[1]))

    def block(x, filters, stride):
        y = norm(convolution(activate(norm(convolution(x, filters, 3, stride))), filters, 3, 1))
        short = x if stride == 1 else norm(convolution(x, filters, 1, stride))
        return activate(emit(f"array.add {y[0]}, {short[0]} : ({type_of(y[0])}, {type_of(short[0])})", y[1] + short[1]))

    x = activate(norm(convolution(given((2, 16, 16, 3)), 8, 7, 2)))
    pooling = dict(window=[1, 3, 3, 1], strides=[1, 2, 2, 1], low=[0, 1, 1, 0], high=[0, 1, 1, 0])
    x = emit(f"array.reduce_window max, {x[0]} {pool.attributes(pooling)} : {type_of(x[0])}",
             pool.reduced("max", Tensor(dtype, x[1]), **pooling))
    x = block(block(x, 8, 1), 16, 2)
    x = emit(f"array.mean {x[0]} axes = [1, 2] : {type_of(x[0])}", x[1].mean((1, 2)))
    w = given((16, 10))
    x = emit(f"array.matmul {x[0]}, {w[0]} : ({type_of(x[0])}, {type_of(w[0])})", x[1] @ w[1])
    lines[-1] = lines[-1].replace(x[0], "%r0", 1)
    yield simple(f"residual_network_{dtype}", inputs, [(dtype, x[1])], "\n".join(lines), "model")


def cases():
    yield from encoder()
    yield from digits()
    yield from residual_network()
