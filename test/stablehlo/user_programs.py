"""Programs as users of JAX write them, for run.py: layers, losses, optimisers, samplers, mixed types; see functions.py."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from functions import PROGRAMS, add, definite, draw, ints
from more_programs import KEY, model, train

F16, BF16 = jnp.float16, jnp.bfloat16


def entries(name, function, *arguments):
    """One program of arguments of any type."""
    PROGRAMS.append((name, function, arguments))


def bytes_of(name, shape):
    return draw(name, shape, low=0, high=256, dtype=np.int32)[0].astype(np.uint8)


# Constants of many truth values are printed in hexadecimal digits.
MASK = draw("big_mask", (24, 20), low=0, high=2, dtype=np.int32)[0].astype(bool)
add("constant_mask", lambda x: jnp.where(MASK, x, -x), (24, 20))
entries("sparse_mask_attention", lambda q, k, v: jax.nn.softmax(jnp.where(MASK[:20, :20], q @ k.T, -1e30)) @ v, *draw("sma", (20, 4), (20, 4), (20, 4)))


# Optimisers over trees of parameters.
def clip_by_global_norm(tree, limit):
    size = jnp.sqrt(sum(jnp.sum(jnp.square(leaf)) for leaf in jax.tree.leaves(tree)))
    return jax.tree.map(lambda leaf: leaf * jnp.minimum(1.0, limit / (size + 1e-6)), tree)


def tree_step(update):
    def loss(tree, x, y):
        h = jax.nn.gelu(x @ tree["in"]["w"] + tree["in"]["b"])
        return jnp.mean((h @ tree["out"]["w"] + tree["out"]["b"] - y) ** 2)

    def run(a, b, c, d, x, y, count):
        tree = {"in": {"w": a, "b": b}, "out": {"w": c, "b": d}}
        value, gradient = jax.value_and_grad(loss)(tree, x, y)
        return value, update(tree, clip_by_global_norm(gradient, 0.5), count)
    return run


TREE = (*draw("tree", (4, 6), (6,), (6, 2), (2,)), *draw("tree_x", (8, 4), (8, 2)), np.int32(7))


def nadamw(tree, gradient, count):
    t = count.astype(jnp.float32) + 1
    rate = 0.5 * 1e-2 * (1 + jnp.cos(jnp.pi * jnp.minimum(t, 100) / 100))
    first = jax.tree.map(lambda g: 0.1 * g, gradient)
    second = jax.tree.map(lambda g: 0.001 * g * g, gradient)
    hat = jax.tree.map(lambda m, g: (0.9 * m + 0.1 * g) / (1 - 0.9**t), first, gradient)
    return jax.tree.map(lambda p, m, v: p - rate * (m / (jnp.sqrt(v / (1 - 0.999**t)) + 1e-8) + 0.01 * p), tree, hat, second)


def adafactor(tree, gradient, count):
    def update(p, g):
        if g.ndim < 2:
            return p - 0.01 * g * lax.rsqrt(g * g + 1e-30)
        rows, columns = jnp.mean(g * g + 1e-30, 1), jnp.mean(g * g + 1e-30, 0)
        u = g * lax.rsqrt(rows[:, None] / jnp.mean(rows) * columns[None])
        return p - 0.01 * u / jnp.maximum(1.0, jnp.sqrt(jnp.mean(u * u)))
    return jax.tree.map(update, tree, gradient)


def lion(tree, gradient, count):
    return jax.tree.map(lambda p, g: p - 0.01 * (jnp.sign(0.1 * g) + 0.1 * p), tree, gradient)


def muon(tree, gradient, count):
    def orthogonal(g):
        x = g / (jnp.linalg.norm(g) + 1e-7)
        for _ in range(3):
            a = x @ x.T
            x = 3.4445 * x + (-4.7750 * a + 2.0315 * a @ a) @ x
        return x
    return jax.tree.map(lambda p, g: p - 0.02 * (orthogonal(g) if g.ndim == 2 else g), tree, gradient)


entries("optimizer_nadamw_cosine", tree_step(nadamw), *TREE)
entries("optimizer_adafactor", tree_step(adafactor), *TREE)
entries("optimizer_lion", tree_step(lion), *TREE)
entries("optimizer_muon", tree_step(muon), *TREE)
entries("gradient_accumulation", lambda w, x, y: lax.scan(lambda g, b: (g + jax.grad(lambda w: jnp.mean((b[0] @ w - b[1]) ** 2))(w), None), jnp.zeros_like(w), (x, y))[0] / 4,
        *draw("ga", (3, 2), (4, 5, 3), (4, 5, 2)))
entries("lbfgs_two_loops", lambda g, s, y: (lambda first: lax.scan(lambda r, i: (r + s[i] * (first[1][3 - i] - jnp.dot(y[i], r) / jnp.dot(y[i], s[i])), None), first[0], jnp.arange(4))[0])(
    lax.scan(lambda q, i: (lambda a: (q - a * y[i], a))(jnp.dot(s[i], q) / jnp.dot(y[i], s[i])), g, jnp.arange(3, -1, -1))), *draw("lbfgs", (6,), (4, 6), (4, 6), low=0.3))


# Layers whose types are mixed.
@functools.partial(jax.checkpoint, policy=jax.checkpoint_policies.dots_saveable)
def block(x, w1, w2, scale):
    y = (x.astype(jnp.float32) * lax.rsqrt(jnp.mean(jnp.square(x.astype(jnp.float32)), -1, keepdims=True) + 1e-6) * scale).astype(BF16)
    return x + jax.nn.silu(y @ w1.astype(BF16)) @ w2.astype(BF16)


train("remat_bf16_blocks", lambda w1, w2, s, x: jnp.mean(lax.scan(lambda h, p: (block(h, *p), None), x.astype(BF16), (w1, w2, s))[0].astype(jnp.float32) ** 2).astype(BF16),
      [(2, 4, 8), (2, 8, 4), (2, 4)], *draw("rbb_x", (6, 4)))
entries("loss_scaling_f16", lambda w, x, scale: (lambda g: (jnp.where(jnp.all(jnp.isfinite(g)), w - 0.1 * g / scale, w), jnp.where(jnp.all(jnp.isfinite(g)), scale * 2, scale / 2)))(
    jax.grad(lambda w: scale * jnp.mean((x.astype(F16) @ w.astype(F16)).astype(jnp.float32) ** 2))(w)), *draw("lsf", (4, 3), (5, 4)), np.float32(64))
entries("f16_norm_of_large", lambda x: jnp.sqrt(jnp.sum(jnp.square(x.astype(F16).astype(jnp.float32)), -1)).astype(F16), draw("fnl", (4, 9), low=-200, high=200)[0])
entries("int8_quantized_matmul", lambda x, w: (lambda q, s: lax.dot_general(q, w, (((1,), (0,)), ((), ())), preferred_element_type=jnp.int32).astype(jnp.float32) * s)(
    *(lambda s: (jnp.clip(jnp.round(x / s), -127, 127).astype(jnp.int8), s))(jnp.max(jnp.abs(x), 1, keepdims=True) / 127)), draw("iqm", (5, 8))[0],
    draw("iqm_w", (8, 3), low=-90, high=90, dtype=np.int32)[0].astype(np.int8))
entries("fp8_matmul", lambda x, w: lax.dot_general(x.astype(jnp.float8_e4m3fn), w.astype(jnp.float8_e5m2), (((1,), (0,)), ((), ())), preferred_element_type=jnp.float32), *draw("fp8", (5, 8), (8, 3)))
entries("fp8_fake_quantization", lambda x: sum((x * 30).astype(t).astype(jnp.float32) for t in (jnp.float8_e4m3fn, jnp.float8_e5m2, jnp.float8_e4m3b11fnuz, jnp.float8_e4m3fnuz, jnp.float8_e5m2fnuz, jnp.float8_e3m4, jnp.float8_e4m3)), draw("fp8q", (64,), low=-0.4, high=0.4)[0])
entries("int4_weights", lambda x, w: x @ (lambda q: (q.astype(jnp.float32) + jnp.max(q).astype(jnp.float32)))(w.astype(jnp.int4)), draw("i4", (4, 6))[0], draw("i4w", (6, 3), low=-8, high=8, dtype=np.int32)[0].astype(np.int8))
entries("uint8_image_pipeline", lambda image: (lambda x: (x - jnp.array([0.48, 0.45, 0.4])) / jnp.array([0.23, 0.22, 0.22]))(jax.image.resize(image.astype(jnp.float32) / 255, (2, 6, 6, 3), "linear")[:, :, ::-1]), bytes_of("uip", (2, 9, 7, 3)))
entries("uint8_histogram_equalization", lambda image: (lambda c: ((c - c.min()) * 255 // jnp.maximum(c.max() - c.min(), 1))[image.astype(jnp.int32)].astype(jnp.uint8))(jnp.cumsum(jnp.bincount(image.reshape(-1), length=256))), bytes_of("uhe", (6, 6)))
entries("image_bicubic_antialias", lambda x: jax.image.resize(x, (1, 4, 5, 2), "cubic") + jax.image.resize(x, (1, 4, 5, 2), "lanczos3"), draw("iba", (1, 9, 11, 2))[0])
entries("map_coordinates_nearest", lambda x, c: jax.scipy.ndimage.map_coordinates(x, [c[0] * 4, c[1] * 4], order=1, mode="nearest"), *draw("mc", (6, 6), (2, 9), low=0, high=1))


# Convolutions and their gradients, as lax spells them.
def conv(x, w, **options):
    return lax.conv_general_dilated(x, w, dimension_numbers=("NHWC", "HWIO", "NHWC"), **options)


train("conv_gradient_dilated", lambda w, x: jnp.mean(conv(x, w, window_strides=(2, 1), padding=((2, 1), (0, 2)), rhs_dilation=(2, 1)) ** 2), [(3, 2, 3, 4)], *draw("cgd_x", (2, 9, 8, 3)))
train("conv_gradient_grouped", lambda w, x: jnp.mean(conv(x, w, window_strides=(2, 2), padding="SAME", feature_group_count=2) ** 2), [(3, 3, 2, 4)], *draw("cgg_x", (2, 7, 7, 4)))
train("conv_gradient_lhs_dilated", lambda w, x: jnp.mean(conv(x, w, window_strides=(1, 1), padding=((1, 2), (2, 1)), lhs_dilation=(2, 2)) ** 2), [(3, 3, 3, 2)], *draw("cgl_x", (2, 4, 4, 3)))
train("conv_gradient_3d", lambda w, x: jnp.mean(lax.conv_general_dilated(x, w, (1, 2, 1), "SAME", dimension_numbers=("NDHWC", "DHWIO", "NDHWC")) ** 2), [(2, 3, 3, 2, 3)], *draw("cg3_x", (1, 4, 5, 4, 2)))
entries("conv_second_derivative", lambda w, x: jax.grad(lambda w: jnp.sum(jax.grad(lambda x: jnp.sum(jnp.tanh(conv(x, w, window_strides=(2, 2), padding="SAME"))))(x) ** 2))(w), *draw("csd", (3, 3, 2, 2), (1, 5, 5, 2), low=-0.5, high=0.5))
train("batch_norm_running", lambda s, b, x: (lambda m, v: jnp.mean(((x - m) * lax.rsqrt(v + 1e-5) * s + b) ** 3))(x.mean((0, 1, 2)), x.var((0, 1, 2))), [(4,), (4,)], *draw("bnr_x", (3, 5, 5, 4)))
train("pooling_mixture", lambda a, x: jnp.mean((a[0] * lax.reduce_window(x, -jnp.inf, lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME") + a[1] * lax.reduce_window(x, 0.0, lax.add, (1, 3, 3, 1), (1, 2, 2, 1), ((0, 0), (1, 0), (0, 1), (0, 0)))) ** 2), [(2,)], *draw("pm_x", (2, 8, 8, 3)))
train("patch_extraction", lambda w, x: jnp.mean((lax.conv_general_dilated_patches(x, (3, 3), (2, 2), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC")) @ w) ** 2), [(27, 4)], *draw("pe_x", (2, 7, 7, 3)))


# Recurrence, sparsity and order.
def mamba(a, b, c, d, x):
    step = jax.nn.softplus(x @ d)
    decay = jnp.exp(-step[..., None] * jnp.exp(a))
    drive = (step * x)[..., None] * (x @ b)[:, None, :]
    states = lax.associative_scan(lambda p, q: (p[0] * q[0], q[0] * p[1] + q[1]), (decay, drive))[1]
    return jnp.mean(jnp.sum(states * (x @ c)[:, None, :], -1) ** 2)


train("mamba_selective_scan", mamba, [(3, 4), (3, 4), (3, 4), (3, 3)], *draw("mb2_x", (9, 3)))
train("xlstm_cell", lambda w, x: jnp.mean(lax.scan(lambda s, v: (lambda i, f, o, z: (lambda m: (lambda c, n: ((c, n, m), o * c / jnp.maximum(n, 1)))(jnp.exp(f + s[2] - m) * s[0] + jnp.exp(i - m) * z, jnp.exp(f + s[2] - m) * s[1] + jnp.exp(i - m)))(jnp.maximum(f + s[2], i)))(*jnp.split(v @ w, 4)), (jnp.zeros(4), jnp.zeros(4), jnp.zeros(4)), x)[1] ** 2),
      [(3, 16)], *draw("xl_x", (6, 3)))
entries("early_stop_decoding", lambda t: lax.while_loop(lambda s: (s[0] < 8) & jnp.any(s[2]), lambda s: (lambda n: (s[0] + 1, s[1].at[:, s[0]].set(jnp.where(s[2], n, -1)), s[2] & (n != 2)))(jnp.argmax(t[s[1][:, s[0] - 1]], -1).astype(jnp.int32)), (jnp.int32(1), jnp.zeros((3, 8), jnp.int32).at[:, 0].set(jnp.array([0, 1, 3])), jnp.array([True, True, True])))[1], draw("esd", (5, 5))[0])
entries("sparse_csr_product", lambda d, j, p, x: jax.ops.segment_sum(d * x[j], jnp.cumsum(jnp.zeros(10, jnp.int32).at[p[1:-1]].add(1)), num_segments=4), draw("csr", (10,))[0], ints("csr_j", (10,), high=6)[0], np.array([0, 3, 3, 7, 10], np.int32), draw("csr_x", (6,))[0])
train("segment_softmax", lambda x, i: jnp.sum((lambda e: e / jax.ops.segment_sum(e, i, 4)[i])(jnp.exp(x - lax.stop_gradient(jax.ops.segment_max(x, i, 4))[i])) ** 2), [(12,)], *ints("sgs_i", (12,), high=4))
entries("top_k_routing_capacity", lambda x: (lambda w, e: (lambda place: (jnp.where(place < 3, w, 0), jnp.zeros((4, 3), jnp.int32).at[e, place].set(jnp.arange(10), mode="drop")))(jnp.take_along_axis(jnp.cumsum(jax.nn.one_hot(e, 4, dtype=jnp.int32), 0), e[:, None], 1)[:, 0] - 1))(jnp.max(x, 1), jnp.argmax(x, 1)), draw("tkr", (10, 4))[0])
entries("nms_boxes", lambda b, s: (lambda o: (lambda b: lax.fori_loop(0, 6, lambda i, keep: keep & ~(keep[i] & (jnp.arange(6) > i) & ((lambda w, h: w * h / ((b[:, 2] - b[:, 0]) * (b[:, 3] - b[:, 1]) + (b[i, 2] - b[i, 0]) * (b[i, 3] - b[i, 1]) - w * h))(jnp.maximum(jnp.minimum(b[:, 2], b[i, 2]) - jnp.maximum(b[:, 0], b[i, 0]), 0), jnp.maximum(jnp.minimum(b[:, 3], b[i, 3]) - jnp.maximum(b[:, 1], b[i, 1]), 0)) > 0.3)), jnp.ones(6, bool)))(b[o]))(jnp.argsort(-s)),
        np.concatenate([draw("nms", (6, 2), low=0, high=1)[0], draw("nms2", (6, 2), low=1.2, high=2)[0]], 1), draw("nms_s", (6,))[0])
entries("sort_by_two_keys", lambda a, b, x: lax.sort((a, b, x), num_keys=2), *ints("s2", (16,), (16,), high=4), draw("s2x", (16,))[0])
entries("sort_bf16_and_u8", lambda x, y: (jnp.sort(x.astype(BF16)).astype(jnp.float32), jnp.argsort(y, descending=True), jnp.sort(y)), draw("sbu", (17,))[0], bytes_of("sbu8", (17,)))
train("soft_sort", lambda x: jnp.sum((jax.nn.softmax(-jnp.abs(jnp.sort(x)[::-1][:, None] - x[None]) / 0.3, -1) @ jnp.arange(6.0)) ** 2), [(6,)])
train("dynamic_time_warping", lambda x, y: (lambda d: lax.scan(lambda row, r: (lambda new: (new, None))(lax.scan(lambda c, v: (lambda m: (m, m))(v[0] + jnp.minimum(jnp.minimum(c, v[1]), v[2])), jnp.inf, (r, row[:-1], row[1:]))[1]) if False else (lambda out: (jnp.concatenate([jnp.array([1e9]), out]), None))(lax.scan(lambda c, v: (lambda m: (m, m))(v[0] + jnp.minimum(jnp.minimum(c, v[1]), v[2])), 1e9, (r, row[:-1], row[1:]))[1]), jnp.full(6, 1e9).at[0].set(0.0), d)[0][-1])((x[:, None] - y[None]) ** 2),
      [(6,)], *draw("dtw_y", (5,)))


# Derivatives of their own, spectra, linear algebra, random numbers.
@jax.custom_vjp
def straight_through(x):
    return jnp.round(x)


straight_through.defvjp(lambda x: (jnp.round(x), None), lambda _, g: (jnp.clip(g, -1, 1),))
train("straight_through_estimator", lambda w, x: jnp.mean((straight_through(4 * (x @ w)) / 4 - 0.3) ** 2), [(3, 4)], *draw("ste_x", (5, 3)))


@jax.custom_jvp
def safe_log(x):
    return jnp.log(jnp.maximum(x, 1e-6))


safe_log.defjvp(lambda primals, tangents: (safe_log(primals[0]), tangents[0] / jnp.maximum(primals[0], 1e-2)))
train("custom_jvp_entropy", lambda x: -jnp.sum(jax.nn.softmax(x) * safe_log(jax.nn.softmax(x))), [(3, 7)])
entries("hutchinson_trace", lambda a, x: jnp.mean(jax.vmap(lambda v: jnp.dot(v, jax.jvp(jax.grad(lambda x: jnp.sum(jnp.tanh(x @ a) ** 2)), (x,), (v,))[1]))(jax.random.rademacher(KEY, (4, 5), dtype=jnp.float32))), *draw("ht", (5, 5), (5,)))
entries("jacobian_fisher", lambda w, x: (lambda j: j.T @ j)(jax.jacrev(lambda w: jax.nn.log_softmax(jnp.tanh(x @ w.reshape(4, 3))))(w).reshape(-1, 12)), *draw("jf", (12,), (5, 4)))
train("stft_loss", lambda x, y: sum(jnp.mean(jnp.abs(jnp.log(spectrum(x, n) + 1e-3) - jnp.log(spectrum(y, n) + 1e-3))) for n in (8, 16)), [(64,)], *draw("stft_y", (64,)))
train("spectral_norm_layer", lambda w, u, x: jnp.mean((x @ (w / (lambda v: jnp.dot(lax.stop_gradient(v), w @ lax.stop_gradient((w.T @ v) / jnp.linalg.norm(w.T @ v))))(u / jnp.linalg.norm(u)))) ** 2), [(4, 3)], *draw("snl", (4,), (5, 4)))
train("gaussian_process", lambda l, s, x, y: (lambda k: 0.5 * y @ jax.scipy.linalg.cho_solve((k, True), y) + jnp.sum(jnp.log(jnp.diagonal(k))))(jnp.linalg.cholesky(jnp.exp(s) * jnp.exp(-0.5 * jnp.sum((x[:, None] - x[None]) ** 2, -1) / jnp.exp(l)) + 0.1 * jnp.eye(7))), [(), ()], *draw("gp", (7, 2), (7,)))
train("wasserstein_sinkhorn", lambda x, y: (lambda c: (lambda fg: jnp.sum(jnp.exp((fg[0][:, None] + fg[1][None] - c) / 0.5) * c))(lax.fori_loop(0, 6, lambda i, fg: (lambda f: (f, 0.5 * (jnp.log(1 / 4) - jax.nn.logsumexp((f[:, None] - c) / 0.5, 0))))(0.5 * (jnp.log(1 / 5) - jax.nn.logsumexp((fg[1][None] - c) / 0.5, 1))), (jnp.zeros(5), jnp.zeros(4)))))(jnp.sum((x[:, None] - y[None]) ** 2, -1)), [(5, 2)], *draw("ws_y", (4, 2)))
entries("hamiltonian_monte_carlo", lambda x: lax.scan(lambda s, k: (lambda p: (lambda q, r: (lambda a: (jnp.where(a, q, s), a))(jnp.log(jax.random.uniform(k)) < 0.5 * jnp.sum(p**2 - r**2) + energy(s) - energy(q)))(*lax.fori_loop(0, 5, lambda i, v: (lambda h: (v[0] + 0.1 * h, h - 0.05 * jax.grad(energy)(v[0] + 0.1 * h)))(v[1] - 0.05 * jax.grad(energy)(v[0])), (s, p))))(jax.random.normal(k, s.shape)), x, jax.random.split(KEY, 4)), draw("hmc", (3,))[0])
entries("particle_filter_resampling", lambda y: lax.scan(lambda s, v: (lambda p: (lambda w: (p[jnp.searchsorted(jnp.cumsum(w), (jnp.arange(16) + 0.5) / 16)], jnp.sum(w * p)))(jax.nn.softmax(-0.5 * (v[0] - p) ** 2)))(0.9 * s + 0.3 * jax.random.normal(v[1], (16,))), jnp.zeros(16), (y, jax.random.split(KEY, 5)))[1], draw("pf", (5,))[0])
train("normalizing_flow", lambda w, b, s, x: -jnp.mean((lambda z, d: jnp.sum(-0.5 * z**2, -1) + d)(*functools.reduce(lambda c, i: (lambda keep, change: (lambda t, l: (jnp.concatenate([change * jnp.exp(l) + t, keep], -1), c[1] + jnp.sum(l, -1)))(keep @ w[i] + b[i], jnp.tanh(keep @ s[i])))(*jnp.split(c[0], 2, -1)), range(2), (x, jnp.zeros(6))))), [(2, 2, 2), (2, 2), (2, 2, 2)], *draw("nf_x", (6, 4)))
train("vq_vae_codebook", lambda e, c, x: (lambda z: (lambda i: jnp.mean((lax.stop_gradient(z) - c[i]) ** 2) + 0.25 * jnp.mean((z - lax.stop_gradient(c[i])) ** 2) + jnp.mean((z + lax.stop_gradient(c[i] - z)) ** 2))(jnp.argmin(jnp.sum((z[:, None] - c[None]) ** 2, -1), 1)))(x @ e), [(4, 3), (6, 3)], *draw("vq_x", (7, 4)))
train("noise_contrastive", lambda a, x, y: -jnp.mean(jnp.diagonal(jax.nn.log_softmax((x @ a) @ y.T / 0.1)) * jnp.exp(-jnp.arange(6.0) / 6)), [(4, 4)], *draw("nce", (6, 4), (6, 4)))
train("label_smoothing_bf16", lambda w, x, y: jnp.mean(-jnp.sum((jax.nn.one_hot(y, 5) * 0.9 + 0.02) * jax.nn.log_softmax((x.astype(BF16) @ w.astype(BF16)).astype(jnp.float32)), -1)), [(4, 5)], *draw("lsb_x", (6, 4)), *ints("lsb_y", (6,), high=5))
entries("bit_packing", lambda b: (lambda w: ((w[:, None] >> jnp.arange(8, dtype=jnp.uint8)) & 1).reshape(-1) ^ b)(jnp.sum(b.reshape(-1, 8).astype(jnp.uint8) << jnp.arange(8, dtype=jnp.uint8), 1).astype(jnp.uint8)), (bytes_of("bp", (24,)) & 1))
entries("hash_embedding", lambda t, i: (lambda h: t[(h ^ (h >> 15)) % jnp.uint32(t.shape[0])])(i.astype(jnp.uint32) * jnp.uint32(2654435761)), draw("he", (7, 3))[0], ints("he_i", (9,), high=1000)[0])
entries("matrix_exponential_ode", lambda a, x: jax.vmap(lambda t: jax.scipy.linalg.expm(t * a) @ x)(jnp.linspace(0.0, 1, 3)), *draw("meo", (3, 3), (3,)))
entries("whitening_of_batch", lambda x: (lambda c: (x - x.mean(0)) @ (lambda w, v: (v * lax.rsqrt(w)) @ v.T)(*jnp.linalg.eigh(c)))(definite(jnp.cov(x.T))), draw("wh", (9, 3))[0])
entries("block_sparse_update", lambda x, u, i: lax.fori_loop(0, 3, lambda k, s: lax.dynamic_update_slice(s, lax.dynamic_slice(s, (i[k], 0), (2, 4)) * 0.5 + u[k], (i[k], 0)), x), *draw("bsu", (8, 4), (3, 2, 4)), np.array([0, 5, 3], np.int32))
entries("complex_filter_bank", lambda x, w: jnp.abs(jnp.fft.ifft(jnp.fft.fft(x)[None] * jnp.exp(-(jnp.arange(16)[None] - w[:, None]) ** 2 / 4 + 1j * w[:, None]))), *draw("cfb", (16,), (3,)))


def spectrum(x, n):
    frames = jax.vmap(lambda i: lax.dynamic_slice(x, (i,), (n,)))(jnp.arange(0, 64 - n + 1, n // 2))
    return jnp.abs(jnp.fft.rfft(frames * jnp.hanning(n)))


def energy(x):
    return 0.5 * jnp.sum(x**2) + 0.1 * jnp.sum(jnp.cos(3 * x))
