#!/usr/bin/env python3
"""A GPT-2-shaped generator of bytes in JAX, with random weights: one call reads a prompt and writes the text that follows.

    generator.py --output=generator.vmfb [--target=...]   the generator, and generator.safetensors with its weights beside it
    generator.py --text=text.txt --prompt=TEXT --seed=7   what JAX itself writes

The prompt fills the KV cache at once; then a loop on the device takes a token from the distribution, appends its key and value, and
goes on. Needs the packages jax and xcompile. generator.cpp runs the module and needs no Python.
"""
import argparse
import pathlib

import jax
import jax.numpy as jnp
import numpy as np

LAYERS, WIDTH, HEADS, WORDS, PROMPT, LENGTH = 2, 64, 4, 256, 16, 64


def weights():
    generator = np.random.default_rng(3)

    def matrix(*shape):
        return (generator.standard_normal(shape) / shape[0] ** 0.5).astype(np.float32)

    def norm():
        return {"scale": np.ones(WIDTH, np.float32), "bias": np.zeros(WIDTH, np.float32)}
    layers = [{"norm1": norm(), "qkv": matrix(WIDTH, 3 * WIDTH), "out": matrix(WIDTH, WIDTH), "norm2": norm(),
               "up": matrix(WIDTH, 4 * WIDTH), "down": matrix(4 * WIDTH, WIDTH)} for _ in range(LAYERS)]
    return {"words": matrix(WORDS, WIDTH) * 16, "positions": matrix(LENGTH, WIDTH) * 8, "layers": layers, "norm": norm(),
            "last": 2 * matrix(WIDTH, WORDS)}


def normalize(x, norm):
    mean = x.mean(-1, keepdims=True)
    return (x - mean) * jax.lax.rsqrt(jnp.square(x - mean).mean(-1, keepdims=True) + 1e-5) * norm["scale"] + norm["bias"]


def forward(model, tokens, first, cache):
    """Logits behind the last of `tokens`, which stand at `first` and behind, and the cache with their keys and values."""
    count = tokens.shape[0]
    x = model["words"][tokens] + jax.lax.dynamic_slice_in_dim(model["positions"], first, count)
    seen = jnp.arange(LENGTH)[None] <= first + jnp.arange(count)[:, None]
    filled = []
    for layer, (keys, values) in zip(model["layers"], cache):
        q, k, v = (part.reshape(count, HEADS, -1) for part in jnp.split(normalize(x, layer["norm1"]) @ layer["qkv"], 3, -1))
        keys = jax.lax.dynamic_update_slice_in_dim(keys, k, first, 0)
        values = jax.lax.dynamic_update_slice_in_dim(values, v, first, 0)
        scores = jnp.einsum("qhd,khd->hqk", q, keys) / (WIDTH // HEADS) ** 0.5
        shares = jax.nn.softmax(jnp.where(seen, scores, -jnp.inf), -1)
        x = x + jnp.einsum("hqk,khd->qhd", shares, values).reshape(count, WIDTH) @ layer["out"]
        x = x + jax.nn.gelu(normalize(x, layer["norm2"]) @ layer["up"]) @ layer["down"]
        filled.append((keys, values))
    return normalize(x[-1], model["norm"]) @ model["last"], filled


def generate(model, prompt, seed, temperature):
    """(weights, tokens of the prompt, a number, a temperature) -> the prompt and what follows, LENGTH tokens."""
    cache = [(jnp.zeros((LENGTH, HEADS, WIDTH // HEADS)),) * 2 for _ in range(LAYERS)]
    logits, cache = forward(model, prompt, 0, cache)
    tokens = jnp.zeros(LENGTH, jnp.int32).at[:PROMPT].set(prompt)

    def step(position, state):
        tokens, logits, cache, key = state
        key, own = jax.random.split(key)
        token = jax.random.categorical(own, logits / temperature).astype(jnp.int32)
        tokens = tokens.at[position].set(token)
        return (tokens, *forward(model, token[None], position, cache), key)
    return {"tokens": jax.lax.fori_loop(PROMPT, LENGTH, step, (tokens, logits, cache, jax.random.key(seed)))[0]}


def example_args():
    return weights(), jax.ShapeDtypeStruct((PROMPT,), "int32"), jax.ShapeDtypeStruct((), "int32"), jax.ShapeDtypeStruct((), "float32")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=pathlib.Path, help="the module (.vmfb) to write")
    parser.add_argument("--target", default="cpu")
    parser.add_argument("--text", type=pathlib.Path, help="a file for what JAX itself writes, a number for each token")
    parser.add_argument("--prompt", default="The compiler says")
    parser.add_argument("--seed", default=7, type=int)
    parser.add_argument("--temperature", default=0.8, type=float)
    args = parser.parse_args()
    if args.output:
        import xcompile
        xcompile.jax.export(generate, example_args(), parameters=[0], output=args.output, target=args.target)
    if args.text:
        prompt = np.frombuffer(args.prompt.encode().ljust(PROMPT)[:PROMPT], np.uint8).astype(np.int32)
        tokens = jax.jit(generate)(weights(), prompt, args.seed, args.temperature)["tokens"]
        args.text.write_text(" ".join(map(str, np.asarray(tokens))) + "\n")


if __name__ == "__main__":
    main()
