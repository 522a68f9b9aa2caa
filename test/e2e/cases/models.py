"""Small whole networks: the transformer encoder of the samples, and a training step over several calls."""
import argparse
import importlib.util
import pathlib
import re
import tempfile

import numpy as np

from harness import Case, Step
from tensors import Tensor, random

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


def cases():
    yield from encoder()
    yield from digits()
