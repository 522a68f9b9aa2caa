#!/usr/bin/env python3
"""A convolutional classifier of handwritten digits in JAX, trained by Adam: exports one step, from weights to weights.

    cnn.py --output=step.vmfb [--target=cuda:sm_90a,cpu]        the step, and step.safetensors with the first weights beside it
    cnn.py --losses=losses.txt --digits=digits.csv --steps=1000  what JAX itself computes

Needs the packages jax and xcompile. cnn.cpp trains with the module and needs no Python.
"""
import argparse
import pathlib

import jax
import jax.numpy as jnp
import numpy as np

BATCH, CLASSES, RATE = 64, 10, 1e-3


def first_state():
    """Weights and their moments, and how many steps have been done."""
    keys = jax.random.split(jax.random.key(0), 3)

    def layer(key, *shape):
        return {"w": jax.random.normal(key, shape) * (2 / np.prod(shape[:-1])) ** 0.5, "b": jnp.zeros(shape[-1])}
    weights = {"conv1": layer(keys[0], 3, 3, 1, 8), "conv2": layer(keys[1], 3, 3, 8, 16), "dense": layer(keys[2], 64, CLASSES)}
    zeros = jax.tree.map(jnp.zeros_like, weights)
    return {"weights": weights, "m": zeros, "v": zeros, "steps": jnp.float32(0)}


def logits(weights, images):
    x = images.reshape(-1, 8, 8, 1)
    for name in ("conv1", "conv2"):
        x = jax.lax.conv_general_dilated(x, weights[name]["w"], (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
        x = jax.nn.relu(x + weights[name]["b"])
        x = jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
    return x.reshape(x.shape[0], -1) @ weights["dense"]["w"] + weights["dense"]["b"]


def train_step(state, images, labels):
    """(state, images in 0 to 1, labels) -> (state, {"loss": the mean cross entropy before the step})."""
    def loss_of(weights):
        log_p = jax.nn.log_softmax(logits(weights, images))
        return -jnp.mean(jnp.take_along_axis(log_p, labels[:, None], 1))
    loss, gradient = jax.value_and_grad(loss_of)(state["weights"])
    steps = state["steps"] + 1
    m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, state["m"], gradient)
    v = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, state["v"], gradient)
    rate = RATE * jnp.sqrt(1 - 0.999 ** steps) / (1 - 0.9 ** steps)
    weights = jax.tree.map(lambda w, m, v: w - rate * m / (jnp.sqrt(v) + 1e-8), state["weights"], m, v)
    return {"weights": weights, "m": m, "v": v, "steps": steps}, {"loss": loss}


def example_args():
    return first_state(), jax.ShapeDtypeStruct((BATCH, 64), "float32"), jax.ShapeDtypeStruct((BATCH,), "int32")


def losses(digits, steps):
    """The losses of `steps` steps in JAX, on the images in the order of the file, again and again."""
    rows = np.loadtxt(digits, delimiter=",", dtype=np.float32)
    state, step, found = first_state(), jax.jit(train_step), []
    for number in range(steps):
        batch = rows[np.arange(number * BATCH, (number + 1) * BATCH) % len(rows)]
        state, result = step(state, batch[:, :64] / 16, batch[:, 64].astype(np.int32))
        found.append(float(result["loss"]))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=pathlib.Path, help="the module (.vmfb) to write")
    parser.add_argument("--target", default="cpu")
    parser.add_argument("--losses", type=pathlib.Path, help="a file for JAX's own losses, one a line")
    parser.add_argument("--digits", type=pathlib.Path)
    parser.add_argument("--steps", default=1000, type=int)
    args = parser.parse_args()
    if args.output:
        import xcompile
        xcompile.jax.export(train_step, example_args(), variables=[0], output=args.output, target=args.target)
    if args.losses:
        args.losses.write_text("".join(f"{loss:.9g}\n" for loss in losses(args.digits, args.steps)))


if __name__ == "__main__":
    main()
