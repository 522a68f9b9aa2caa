#!/usr/bin/env python3
"""Compiles a layer of BERT as JAX writes it, and as an array program: both have to become the same kernels.

    kernels.py --build=build/dev

The last line is "N passed, N failed, N skipped".
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "benchmarks"))
BATCH, TOKENS, HIDDEN, HEADS, FEED_FORWARD = 8, 128, 768, 12, 3072


def from_jax():
    import jax
    import jax.numpy as jnp

    def norm(x, scale, bias):
        return (x - x.mean(-1, keepdims=True)) / jnp.sqrt(x.var(-1, keepdims=True) + 1e-5) * scale + bias

    def layer(x, qkv, qkv_bias, out, out_bias, scale1, bias1, up, up_bias, down, down_bias, scale2, bias2):
        parts = jnp.split(x @ qkv + qkv_bias, 3, axis=-1)
        q, k, v = (part.reshape(BATCH, TOKENS, HEADS, -1) for part in parts)
        weights = jax.nn.softmax(jnp.einsum("bqhd,bkhd->bhqk", q, k) / 8, axis=-1)
        y = jnp.einsum("bhqk,bkhd->bqhd", weights, v).reshape(BATCH, TOKENS, HIDDEN)
        x = norm(x + (y @ out + out_bias), scale1, bias1)
        return norm(x + (jax.nn.gelu(x @ up + up_bias, approximate=False) @ down + down_bias), scale2, bias2)

    shapes = [(BATCH, TOKENS, HIDDEN), (HIDDEN, 3 * HIDDEN), (3 * HIDDEN,), (HIDDEN, HIDDEN), (HIDDEN,), (HIDDEN,), (HIDDEN,),
              (HIDDEN, FEED_FORWARD), (FEED_FORWARD,), (FEED_FORWARD, HIDDEN), (HIDDEN,), (HIDDEN,), (HIDDEN,)]
    return jax.jit(layer).lower(*(jax.ShapeDtypeStruct(shape, jnp.bfloat16) for shape in shapes)).as_text()


def native():
    import model_programs
    return model_programs.train(BATCH, TOKENS)[1]


def kernels(build, folder, name, text):
    """The strategy of each launch, and the time that is expected of all of them."""
    import models
    source = folder / name
    source.write_text(text)
    done = subprocess.run([build / "bin/xcompile", source, "-o", folder / "layer.vmfb", "--target=cuda:sm_90a", "--report=json"],
                          capture_output=True, text=True, check=True)
    report = json.loads(done.stdout[done.stdout.index("["):])[0]
    launched = [kernel["variants"][0]["strategy"] for kernel in report["kernels"] for _ in range(kernel["launches"])]
    return sorted(launched), models.measure(report)["expected_us"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/dev", type=pathlib.Path)
    build = parser.parse_args().build
    with tempfile.TemporaryDirectory(prefix="xc-kernels-") as folder:
        ours, expected = kernels(build, pathlib.Path(folder), "native.mlir", native())
        found, time = kernels(build, pathlib.Path(folder), "jax.stablehlo.mlir", from_jax())
    same = ours == found and time <= 1.03 * expected
    print(f"{'passed' if same else 'FAILED'} layer of BERT: {found}, {time} us expected; native {ours}, {expected} us")
    print(f"{int(same)} passed, {int(not same)} failed, 0 skipped")
    return not same


if __name__ == "__main__":
    sys.exit(main())
