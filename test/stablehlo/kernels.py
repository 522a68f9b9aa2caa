#!/usr/bin/env python3
"""Compiles models as JAX writes them, and as array programs: both have to become the same kernels, or as few that take as long.

    kernels.py --build=build/dev [--filter=REGEX]

The last line is "N passed, N failed, N skipped".
"""
import argparse
import collections
import json
import pathlib
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "benchmarks"))
BATCH, TOKENS, HIDDEN, HEADS, FEED_FORWARD, VOCABULARY = 8, 128, 768, 12, 3072, 30522
IMAGES, SIZE, CLASSES = 8, 64, 1000
# Where programs are not the same op by op: what may come on top of the native launches and the native time.
MORE = 0.03


def lower(function, *shapes):
    import jax
    return jax.jit(function).lower(*shapes).as_text()


def shape(*sizes, dtype="bfloat16"):
    import jax
    return jax.ShapeDtypeStruct(sizes, dtype)


# ---- Steps of gradient descent ---------------------------------------------------------------------------------------------------------


def lower_step(forward, weights, *inputs):
    """The step of `forward(weights, *inputs)`, whose results are numbers for the classes; labels are the last argument."""
    import jax
    import jax.numpy as jnp

    def loss(p, *arguments):
        logs = jax.nn.log_softmax(forward(p, *arguments[:-1]).astype(jnp.float32))
        return -jnp.mean(jnp.take_along_axis(logs, arguments[-1][..., None], -1))

    def step(p, *arguments):
        value, gradient = jax.value_and_grad(loss)(p, *arguments)
        return value, jax.tree.map(lambda weight, d: weight - d * jnp.bfloat16(0.1), p, gradient)

    return lower(step, weights, *inputs)


# ---- BERT ------------------------------------------------------------------------------------------------------------------------------

LAYER = [(HIDDEN, 3 * HIDDEN), (3 * HIDDEN,), (HIDDEN, HIDDEN), (HIDDEN,), (HIDDEN,), (HIDDEN,),
         (HIDDEN, FEED_FORWARD), (FEED_FORWARD,), (FEED_FORWARD, HIDDEN), (HIDDEN,), (HIDDEN,), (HIDDEN,)]


def layer_norm(x, scale, bias):
    import jax.numpy as jnp
    return (x - x.mean(-1, keepdims=True)) / jnp.sqrt(x.var(-1, keepdims=True) + 1e-5) * scale + bias


def layer_norm_by_squares(x, scale, bias):
    """As flax.linen.LayerNorm computes it, in f32."""
    import jax.numpy as jnp
    from jax import lax
    y = x.astype(jnp.float32)
    mean, squares = y.mean(-1, keepdims=True), lax.square(y).mean(-1, keepdims=True)
    variance = jnp.maximum(0.0, squares - lax.square(mean))
    return ((x - mean) * (lax.rsqrt(variance + 1e-5) * scale) + bias).astype(x.dtype)


def by_einsum(q, k, v):
    import jax
    import jax.numpy as jnp
    weights = jax.nn.softmax(jnp.einsum("bqhd,bkhd->bhqk", q, k) / q.shape[-1] ** 0.5, axis=-1)
    return jnp.einsum("bhqk,bkhd->bqhd", weights, v)


def by_library(q, k, v):
    import jax
    return jax.nn.dot_product_attention(q, k, v)


def encoder_layer(norm, attend, x, qkv, qkv_bias, out, out_bias, scale1, bias1, up, up_bias, down, down_bias, scale2, bias2):
    import jax
    import jax.numpy as jnp
    parts = jnp.split(x @ qkv + qkv_bias, 3, axis=-1)
    q, k, v = (part.reshape(BATCH, TOKENS, HEADS, -1) for part in parts)
    y = attend(q, k, v).reshape(BATCH, TOKENS, HIDDEN)
    x = norm(x + (y @ out + out_bias), scale1, bias1)
    return norm(x + (jax.nn.gelu(x @ up + up_bias, approximate=False) @ down + down_bias), scale2, bias2)


def bert_layer():
    def layer(*arguments):
        return encoder_layer(layer_norm, by_einsum, *arguments)
    return lower(layer, shape(BATCH, TOKENS, HIDDEN), *(shape(*sizes) for sizes in LAYER))


def bert_step(norm, attend, layers):
    def forward(p, ids):
        x = norm(p["words"][ids] + p["positions"][:TOKENS], *p["norm"])
        for weights in p["layers"]:
            x = encoder_layer(norm, attend, x, *weights)
        return x @ p["head"] + p["bias"]

    p = {"words": shape(VOCABULARY, HIDDEN), "positions": shape(512, HIDDEN), "norm": [shape(HIDDEN)] * 2,
         "layers": [[shape(*sizes) for sizes in LAYER] for _ in range(layers)], "head": shape(HIDDEN, VOCABULARY), "bias": shape(VOCABULARY)}
    return lower_step(forward, p, *[shape(BATCH, TOKENS, dtype="int32")] * 2)


# ---- Llama -----------------------------------------------------------------------------------------------------------------------------


def repeated_heads(q, k, v):
    """Keys and values as often as queries have heads, and a choice by positions."""
    import jax
    import jax.numpy as jnp
    k, v = (jnp.repeat(x, q.shape[2] // x.shape[2], axis=2) for x in (k, v))
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) * q.shape[-1] ** -0.5
    scores = jnp.where(jnp.tril(jnp.ones(scores.shape[2:], bool)), scores, -1e30)
    return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores, axis=-1), v)


def causal_by_library(q, k, v):
    import jax
    return jax.nn.dot_product_attention(q, k, v, is_causal=True)


def llama_step(attend, tokens=2048, layers=1, hidden=4096, heads=32, key_heads=8, feed_forward=14336, vocabulary=32000):
    import jax
    import jax.numpy as jnp
    from jax import lax
    width = hidden // heads

    def norm(x, scale):
        y = x.astype(jnp.float32)
        return (y * lax.rsqrt(jnp.mean(y * y, -1, keepdims=True) + 1e-6)).astype(x.dtype) * scale

    def rotate(x):
        angles = jnp.arange(tokens, dtype=jnp.float32)[:, None] * 1e4 ** (-jnp.arange(0, width, 2, dtype=jnp.float32) / width)
        cosine, sine = (f(angles)[None, :, None, :] for f in (jnp.cos, jnp.sin))
        a, b = jnp.split(x.astype(jnp.float32), 2, axis=-1)
        return jnp.concatenate([a * cosine - b * sine, b * cosine + a * sine], -1).astype(x.dtype)

    def forward(p, ids):
        x = p["words"][ids]
        for w in p["layers"]:
            y = norm(x, w["norm1"])
            q, k, v = ((y @ w[name]).reshape(1, tokens, -1, width) for name in "qkv")
            x = x + attend(rotate(q), rotate(k), v).reshape(x.shape) @ w["o"]
            y = norm(x, w["norm2"])
            x = x + (jax.nn.silu(y @ w["gate"]) * (y @ w["up"])) @ w["down"]
        return norm(x, p["norm"]) @ p["head"]

    sizes = {"q": (hidden, hidden), "k": (hidden, key_heads * width), "v": (hidden, key_heads * width), "o": (hidden, hidden), "norm1": (hidden,),
             "norm2": (hidden,), "gate": (hidden, feed_forward), "up": (hidden, feed_forward), "down": (feed_forward, hidden)}
    p = {"words": shape(vocabulary, hidden), "layers": [{name: shape(*own) for name, own in sizes.items()} for _ in range(layers)],
         "norm": shape(hidden), "head": shape(hidden, vocabulary)}
    return lower_step(forward, p, *[shape(1, tokens, dtype="int32")] * 2)


# ---- A training step of a ResNet -------------------------------------------------------------------------------------------------------


def norm_by_distances(x, scale, bias):
    """As one writes it by hand."""
    from jax import lax
    return (x - x.mean((0, 1, 2))) * lax.rsqrt(x.var((0, 1, 2)) + 1e-5) * scale + bias


def norm_by_squares(x, scale, bias):
    """As flax.linen.BatchNorm and haiku.BatchNorm compute it: the variance by the mean of squares, not below 0."""
    import jax.numpy as jnp
    from jax import lax
    mean, squares = x.mean((0, 1, 2), keepdims=True), lax.square(x).mean((0, 1, 2), keepdims=True)
    return (x - mean) * (lax.rsqrt(jnp.maximum(0.0, squares - lax.square(mean)) + 1e-5) * scale) + bias


def pick_by_axis(logs, labels):
    import jax.numpy as jnp
    return jnp.take_along_axis(logs, labels[:, None], 1)


def pick_by_index(logs, labels):
    import jax.numpy as jnp
    return logs[jnp.arange(len(labels)), labels]


def resnet_step(norm, pick):
    import jax
    import jax.numpy as jnp
    from jax import lax

    def conv(x, w, stride=1):
        pad = w.shape[0] // 2
        return lax.conv_general_dilated(x, w, (stride, stride), [(pad, pad)] * 2, dimension_numbers=("NHWC", "HWIO", "NHWC"))

    def normed(x, p, stride=1):
        y = conv(x, p["w"], stride)
        return norm(y.astype(jnp.float32), p["scale"], p["bias"]).astype(y.dtype)

    def forward(p, x):
        x = jax.nn.relu(normed(x, p["stem"], 2))
        x = lax.reduce_window(x, -jnp.inf, lax.max, (1, 3, 3, 1), (1, 2, 2, 1), [(0, 0), (1, 1), (1, 1), (0, 0)])
        for stage, block in enumerate(p["blocks"]):
            y = jax.nn.relu(normed(x, block["1"]))
            y = jax.nn.relu(normed(y, block["2"], 2 if stage else 1))
            x = jax.nn.relu(normed(y, block["3"]) + normed(x, block["short"], 2 if stage else 1))
        return x.mean((1, 2)) @ p["classes"] + p["bias"]

    def loss(p, x, labels):
        return -jnp.mean(pick(jax.nn.log_softmax(forward(p, x).astype(jnp.float32)), labels))

    def step(p, x, labels):
        value, gradient = jax.value_and_grad(loss)(p, x, labels)
        return value, jax.tree.map(lambda weight, d: weight - d * jnp.bfloat16(0.1), p, gradient)

    def weights(before, features, taps):
        return {"w": shape(taps, taps, before, features), "scale": shape(features), "bias": shape(features)}

    p = {"stem": weights(3, 64, 7), "blocks": [], "classes": shape(2048, CLASSES), "bias": shape(CLASSES)}
    for stage in range(4):
        features, before = 64 << stage, 128 << stage if stage else 64
        p["blocks"].append({"1": weights(before, features, 1), "2": weights(features, features, 3), "3": weights(features, 4 * features, 1),
                            "short": weights(before, 4 * features, 1)})
    return lower(step, p, shape(IMAGES, SIZE, SIZE, 3), shape(IMAGES, dtype="int32"))


# ---- Comparing -------------------------------------------------------------------------------------------------------------------------


def cases():
    """Name, text of JAX, name and program of the model beside it, its flags, whether all kernels have to be the same."""
    import model_programs
    resnet, text = model_programs.train_resnet(IMAGES, SIZE, classes=CLASSES)
    yield "layer of BERT", bert_layer, "bert", model_programs.train(BATCH, TOKENS)[1], [], True
    for norm in norm_by_distances, norm_by_squares:
        for pick in pick_by_axis, pick_by_index:
            yield (f"training step of a ResNet, {norm.__name__}, {pick.__name__}", lambda norm=norm, pick=pick: resnet_step(norm, pick), "resnet",
                   text, resnet.flags(), False)
    bert, text = model_programs.train_bert(BATCH, TOKENS, layers=2)
    for norm in layer_norm, layer_norm_by_squares:
        for attend in by_einsum, by_library:
            yield (f"training step of a BERT, {norm.__name__}, {attend.__name__}", lambda norm=norm, attend=attend: bert_step(norm, attend, 2),
                   "bert_step", text, bert.flags(), False)
    llama, text = model_programs.train_llama(1, 2048, 1)
    for attend in repeated_heads, causal_by_library:
        yield f"training step of a Llama, {attend.__name__}", lambda attend=attend: llama_step(attend), "llama_step", text, llama.flags(), False


def kernels(build, folder, name, text, flags=()):
    """The strategy of each launch, and the time that is expected of all of them."""
    import models
    source = folder / name
    source.write_text(text)
    done = subprocess.run([build / "bin/xcompile", source, "-o", folder / "layer.vmfb", "--target=cuda:sm_90a", "--report=json", *flags],
                          capture_output=True, text=True, check=True)
    report = json.loads(done.stdout[done.stdout.index("["):])[0]
    launched = [kernel["variants"][0]["strategy"] for kernel in report["kernels"] for _ in range(kernel["launches"])]
    return collections.Counter(launched), models.measure(report)["expected_us"]


def show(found, time):
    return f"{found.total()} launches ({', '.join(f'{name} {count}' for name, count in sorted(found.items()))}), {time} us expected"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/dev", type=pathlib.Path)
    parser.add_argument("--filter", default="")
    args = parser.parse_args()
    passed, failed, natives = 0, 0, {}
    with tempfile.TemporaryDirectory(prefix="xc-kernels-") as folder:
        for name, make, model, native, flags, has_same in cases():
            if not re.search(args.filter, name):
                continue
            if model not in natives:
                natives[model] = kernels(args.build, pathlib.Path(folder), f"{model}.mlir", native, flags)
            ours, expected = natives[model]
            found, time = kernels(args.build, pathlib.Path(folder), "jax.stablehlo.mlir", make())
            same = found == ours if has_same else found.total() <= (1 + MORE) * ours.total()
            same &= time <= (1 + MORE) * expected
            print(f"{'passed' if same else 'FAILED'} {name}: {show(found, time)}; native {show(ours, expected)}", flush=True)
            passed, failed = passed + same, failed + (not same)
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
