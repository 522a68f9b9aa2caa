"""Attention with the gradient that JAX takes of it, as libraries and users spell it, for run.py; see functions.py.

Sizes are large enough for kernels of attention as a whole. Every program returns the result, and what queries, keys and values get.
"""

import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from functions import PROGRAMS, draw

BATCH, TOKENS, HEADS, WIDTH = 2, 32, 4, 16
SEEN = np.tril(np.ones((TOKENS, TOKENS), bool))


def repeated(q, *keys):
    """Heads of keys and values as often as queries have them."""
    return (q, *(jnp.repeat(x, q.shape[2] // x.shape[2], axis=2) for x in keys))


def by_einsum(q, k, v):
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / WIDTH**0.5
    return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores, axis=-1), v)


def causal(q, k, v, hidden=-1e30):
    q, k, v = repeated(q, k, v)
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k, preferred_element_type=jnp.float32) * WIDTH**-0.5
    scores = jnp.where(jnp.tril(jnp.ones((TOKENS, TOKENS), bool)), scores, hidden)
    return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores, axis=-1).astype(q.dtype), v)


def grouped(q, k, v):
    """Heads that share keys as a dim of their own, softmax in f32."""
    split = q.reshape(*q.shape[:2], k.shape[2], -1, WIDTH)
    scores = jnp.einsum("bqgnd,bkgd->bgnqk", split, k).astype(jnp.float32) / np.sqrt(WIDTH)
    scores = jnp.where(SEEN, scores, jnp.finfo(jnp.float32).min)
    weights = jax.nn.softmax(scores, axis=-1).astype(q.dtype)
    return jnp.einsum("bgnqk,bkgd->bqgnd", weights, v).reshape(q.shape)


def as_flax(q, k, v):
    """flax.linen.dot_product_attention: queries are scaled, a mask of numbers is compared with 0."""
    q, k, v = repeated(q, k, v)
    q = q / jnp.sqrt(WIDTH).astype(q.dtype)
    places = jnp.broadcast_to(jnp.arange(TOKENS), (BATCH, TOKENS))
    mask = (places[:, None, :, None] >= places[:, None, None, :]).astype(jnp.float32)
    scores = jnp.where(mask, jnp.einsum("...qhd,...khd->...hqk", q, k), jnp.finfo(q.dtype).min)
    return jnp.einsum("...hqk,...khd->...qhd", jax.nn.softmax(scores).astype(q.dtype), v)


def by_hand(q, k, v):
    """Heads first, scaled queries, numbers that are added, a softmax of its own."""
    q, k, v = (x.transpose(0, 2, 1, 3) for x in repeated(q, k, v))
    scores = (q * WIDTH**-0.5) @ k.transpose(0, 1, 3, 2)
    scores = scores + jnp.where(SEEN, 0, -1e9).astype(scores.dtype)
    weights = jnp.exp(scores - lax.stop_gradient(scores.max(-1, keepdims=True)))
    return (weights / weights.sum(-1, keepdims=True) @ v).transpose(0, 2, 1, 3)


@jax.custom_jvp
def softmax(x):
    e = jnp.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


@softmax.defjvp
def softmax_jvp(primals, tangents):
    y = softmax(*primals)
    return y, y * (tangents[0] - (y * tangents[0]).sum(-1, keepdims=True))


def by_weights(q, k, v):
    """The softmax's gradient by its own result."""
    return jnp.einsum("bhqk,bkhd->bqhd", softmax(jnp.einsum("bqhd,bkhd->bhqk", q, k) / 4), v)


def padded(q, k, v):
    """Keys behind a sequence's end are hidden by -infinity."""
    ends = np.array([TOKENS - 5, TOKENS - 9])
    seen = jnp.arange(TOKENS)[None, :] < ends[:, None]
    scores = jnp.where(seen[:, None, None, :], jnp.einsum("bqhd,bkhd->bhqk", q, k) / 4, -jnp.inf)
    return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores, axis=-1), v)


def hidden_rows(q, k, v):
    """A row that is hidden throughout has even weights, through which nothing flows back."""
    ends = np.array([TOKENS, 0])
    seen = jnp.arange(TOKENS)[None, :] < ends[:, None]
    scores = jnp.where(seen[:, None, None, :], jnp.einsum("bqhd,bkhd->bhqk", q, k) / 4, -1e9)
    return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores, axis=-1), v)


def hidden_pairs(q, k, v):
    """flax.linen.make_attention_mask of tokens that are there: what is none sees nothing, and heads share keys."""
    there = jnp.arange(TOKENS)[None, :] < np.array([TOKENS - 7, 3])[:, None]
    seen = (there[:, :, None] & there[:, None, :] & SEEN)[:, None, None]
    split = q.reshape(*q.shape[:2], k.shape[2], -1, WIDTH)
    scores = jnp.where(seen, jnp.einsum("bqgnd,bkgd->bgnqk", split, k) / 4, jnp.finfo(q.dtype).min)
    return jnp.einsum("bgnqk,bkgd->bqgnd", jax.nn.softmax(scores, axis=-1), v).reshape(q.shape)


def dropped(q, k, v):
    """Some weights are dropped: no attention as the op computes it."""
    keeps = draw("attention_dropped", (TOKENS, TOKENS), low=0, high=2, dtype=np.int32)[0].astype(bool)
    weights = jax.nn.softmax(jnp.einsum("bqhd,bkhd->bhqk", q, k) / 4, axis=-1)
    return jnp.einsum("bhqk,bkhd->bqhd", jnp.where(keeps, weights * 2, 0).astype(q.dtype), v)


def in_a_loop(q, k, v):
    """Layers of a loop, whose forward part is computed again in the loop of the gradient."""
    def layer(x, _):
        return causal(x, k, v).astype(x.dtype), None
    return lax.scan(jax.checkpoint(layer), q, None, length=2)[0]


def of_one_tensor(q, k, v):
    """One tensor for queries, keys and values."""
    return by_einsum(q, q, q) + 0 * k + 0 * v


ANGLES = np.arange(TOKENS)[:, None] * 1e4 ** (-np.arange(0, WIDTH, 2) / WIDTH)


def rotate(x):
    cosine, sine = (jnp.asarray(f(ANGLES)[None, :, None], jnp.float32) for f in (np.cos, np.sin))
    a, b = jnp.split(x.astype(jnp.float32), 2, axis=-1)
    return jnp.concatenate([a * cosine - b * sine, b * cosine + a * sine], -1).astype(x.dtype)


def rotate_whole(x):
    """The other half beside each one, with angles for all of a head, which differ here."""
    angles = np.concatenate([ANGLES, 2 * ANGLES], -1)[None, :, None]
    turned = jnp.concatenate([-x[..., WIDTH // 2:], x[..., :WIDTH // 2]], -1)
    return x * jnp.asarray(np.cos(angles), x.dtype) + turned * jnp.asarray(np.sin(angles), x.dtype)


def attention(name, function, heads_of_keys=HEADS, bias=None, dtypes=(jnp.float32, jnp.bfloat16)):
    """`function` of queries, keys and values, and of what has the shape `bias`, if that is given."""
    def run(w, *operands):
        def loss(*operands):
            y = function(*operands)
            return jnp.sum((y * w).astype(jnp.float32)), y
        gradients, y = jax.grad(loss, tuple(range(len(operands))), has_aux=True)(*operands)
        return y, gradients

    keys = (BATCH, TOKENS, heads_of_keys, WIDTH)
    queries = (BATCH, TOKENS, HEADS, WIDTH)
    for dtype in dtypes:
        arguments = draw(f"attention_{name}", queries, queries, keys, keys, *([bias] if bias else []), low=-1)
        PROGRAMS.append((f"attention_{name}_{jnp.dtype(dtype).name}", run, tuple(np.asarray(jnp.asarray(x, dtype)) for x in arguments)))


attention("by_einsum", by_einsum)
attention("causal", causal, 2)
attention("causal_infinite", functools.partial(causal, hidden=-jnp.inf))
attention("grouped", grouped, 2)
attention("as_flax", as_flax, 2)
attention("by_hand", by_hand, 2)
attention("by_weights", by_weights)
attention("padded", padded)
attention("hidden_rows", hidden_rows)
attention("hidden_pairs", hidden_pairs, 2)
attention("lengths", lambda q, k, v: jax.nn.dot_product_attention(q, k, v, key_value_seq_lengths=jnp.array([TOKENS, 5])), 2)
attention("one_head", hidden_pairs, 1)
attention("dropped", dropped)
attention("self", of_one_tensor)
attention("of_jax", jax.nn.dot_product_attention)
attention("of_jax_causal", functools.partial(jax.nn.dot_product_attention, is_causal=True), 2)
attention("of_jax_window", functools.partial(jax.nn.dot_product_attention, is_causal=True, local_window_size=(7, 0)), 1)
attention("rotated", lambda q, k, v: by_einsum(rotate(q), rotate(k), v))
attention("rotated_whole", lambda q, k, v: by_einsum(rotate_whole(q), rotate_whole(k), v))
attention("in_a_loop", in_a_loop)
attention("remat", jax.checkpoint(by_einsum))
attention("bias", lambda q, k, v, b: jax.nn.dot_product_attention(q, k, v, bias=b), bias=(1, HEADS, TOKENS, TOKENS))
attention("bias_of_tokens", lambda q, k, v, b: jax.nn.dot_product_attention(q, k, v, bias=b), bias=(BATCH, 1, TOKENS, TOKENS))
attention("bias_of_groups", lambda q, k, v, b: jax.nn.dot_product_attention(q, k, v, bias=b), 2, bias=(1, HEADS, TOKENS, TOKENS))
attention("whole_bias", lambda q, k, v, b: jax.nn.dot_product_attention(q, k, v, bias=b), bias=(BATCH, HEADS, TOKENS, TOKENS))
