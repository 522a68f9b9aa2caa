"""Small models written with plain JAX for run.py: inference and training steps of what people build; see functions.py."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.scipy.special import logsumexp

from functions import PROGRAMS, definite, draw, ints


def model(name, function, shapes, *data, low=-1.0, high=1.0):
    PROGRAMS.append((name, function, (*draw(name, *shapes, low=low, high=high), *data)))


def step(loss, rate=0.1):
    """One step of gradient descent: the loss and the parameters behind it."""
    def run(*arguments, count):
        value, gradients = jax.value_and_grad(loss, tuple(range(count)))(*arguments)
        return value, tuple(p - rate * g for p, g in zip(arguments, gradients))
    return run


def train(name, loss, shapes, *data, low=-0.7, high=0.7):
    count = len(shapes)
    model(name, lambda *arguments: step(loss)(*arguments, count=count), shapes, *data, low=low, high=high)


KEY = jax.random.key(7)


def norm(x, scale=1.0, bias=0.0):
    return (x - x.mean(-1, keepdims=True)) * lax.rsqrt(x.var(-1, keepdims=True) + 1e-5) * scale + bias


# Probabilistic models.
def vae(enc, dec, x):
    mean, spread = jnp.split(jnp.tanh(x @ enc), 2, axis=-1)
    z = mean + jnp.exp(0.5 * spread) * jax.random.normal(KEY, mean.shape)
    logits = z @ dec
    likelihood = jnp.sum(jnp.maximum(logits, 0) - logits * x + jnp.log1p(jnp.exp(-jnp.abs(logits))), -1)
    return jnp.mean(likelihood + 0.5 * jnp.sum(jnp.exp(spread) + mean**2 - 1 - spread, -1))


train("vae", vae, [(6, 8), (4, 6)], *draw("vae_x", (5, 6), low=0, high=1))


def gmm_em(means, x):
    def iterate(_, state):
        means, weights, variances = state
        logs = jnp.log(weights) - 0.5 * jnp.sum((x[:, None] - means) ** 2, -1) / variances - jnp.log(variances)
        r = jax.nn.softmax(logs, axis=1)
        n = r.sum(0)
        means = r.T @ x / n[:, None]
        variances = jnp.sum(r * jnp.sum((x[:, None] - means) ** 2, -1), 0) / (2 * n) + 1e-3
        return means, n / x.shape[0], variances
    return lax.fori_loop(0, 5, iterate, (means, jnp.full(3, 1 / 3), jnp.ones(3)))


model("gmm_em", gmm_em, [(3, 2)], *draw("gmm_x", (20, 2)))


def hmm_forward(transition, emission, observations):
    a, b = jax.nn.log_softmax(transition, 1), jax.nn.log_softmax(emission, 1)
    def advance(alpha, o):
        alpha = logsumexp(alpha[:, None] + a, axis=0) + b[:, o]
        return alpha, alpha
    last, _ = lax.scan(advance, jnp.log(jnp.full(3, 1 / 3)) + b[:, observations[0]], observations[1:])
    return -logsumexp(last)


train("hmm_forward", hmm_forward, [(3, 3), (3, 4)], *ints("hmm_o", (9,), high=4))


def viterbi(transition, emission, observations):
    def forward(score, o):
        options = score[:, None] + transition
        return options.max(0) + emission[:, o], options.argmax(0)
    last, back = lax.scan(forward, emission[:, observations[0]], observations[1:])
    def backward(state, pointers):
        return pointers[state], state
    first, path = lax.scan(backward, last.argmax(), back, reverse=True)
    return first, path


model("viterbi", viterbi, [(3, 3), (3, 4)], *ints("viterbi_o", (9,), high=4))


def kalman(a, c, ys):
    def advance(state, y):
        m, p = state
        m, p = a @ m, a @ p @ a.T + 0.1 * jnp.eye(3)
        s = c @ p @ c.T + 0.2 * jnp.eye(2)
        k = jnp.linalg.solve(s, c @ p).T
        m, p = m + k @ (y - c @ m), p - k @ s @ k.T
        return (m, p), m
    return lax.scan(advance, (jnp.zeros(3), jnp.eye(3)), ys)


model("kalman", kalman, [(3, 3), (2, 3), (6, 2)], low=-0.8, high=0.8)


def kalman_likelihood(a, c, ys):
    def advance(state, y):
        m, p = state
        m, p = a @ m, a @ p @ a.T + 0.1 * jnp.eye(3)
        s = c @ p @ c.T + 0.2 * jnp.eye(2)
        e = y - c @ m
        k = jnp.linalg.solve(s, c @ p).T
        return (m + k @ e, p - k @ s @ k.T), jax.scipy.stats.multivariate_normal.logpdf(e, jnp.zeros(2), s)
    return -jnp.sum(lax.scan(advance, (jnp.zeros(3), jnp.eye(3)), ys)[1])


train("kalman_likelihood", kalman_likelihood, [(3, 3), (2, 3)], *draw("kl_y", (6, 2)))


def metropolis(x):
    density = lambda v: -0.5 * jnp.sum(v**2) - 0.1 * jnp.sum(v**4)
    def advance(state, key):
        k1, k2 = jax.random.split(key)
        proposal = state + 0.5 * jax.random.normal(k1, state.shape)
        accept = jnp.log(jax.random.uniform(k2)) < density(proposal) - density(state)
        state = jnp.where(accept, proposal, state)
        return state, (state, accept)
    return lax.scan(advance, x, jax.random.split(KEY, 12))


model("mcmc_metropolis", metropolis, [(3,)])


def hmc(x):
    potential = lambda v: 0.5 * jnp.sum(v**2) + 0.1 * jnp.sum(v**4)
    force = jax.grad(potential)
    def advance(q, key):
        k1, k2 = jax.random.split(key)
        p = jax.random.normal(k1, q.shape)
        def leap(_, s):
            q, p = s
            p = p - 0.05 * force(q)
            q = q + 0.1 * p
            return q, p - 0.05 * force(q)
        qn, pn = lax.fori_loop(0, 5, leap, (q, p))
        change = potential(q) + 0.5 * p @ p - potential(qn) - 0.5 * pn @ pn
        return jnp.where(jnp.log(jax.random.uniform(k2)) < change, qn, q), change
    return lax.scan(advance, x, jax.random.split(KEY, 6))


model("mcmc_hmc", hmc, [(3,)])


def particle_filter(ys, x):
    def advance(particles, step):
        y, key = step
        k1, k2 = jax.random.split(key)
        particles = 0.9 * particles + 0.3 * jax.random.normal(k1, particles.shape)
        logs = -0.5 * (y - particles) ** 2 / 0.2
        chosen = jax.random.categorical(k2, logs, shape=particles.shape)
        return particles[chosen], logsumexp(logs)
    return lax.scan(advance, x, (ys, jax.random.split(KEY, ys.shape[0])))[1]


model("particle_filter", particle_filter, [(5,), (16,)])


def gp_regression(scales, x, y, xs):
    kernel = lambda a, b: jnp.exp(-0.5 * jnp.sum(((a[:, None] - b) / jnp.exp(scales)) ** 2, -1))
    root = jnp.linalg.cholesky(kernel(x, x) + 0.1 * jnp.eye(x.shape[0]))
    alpha = jax.scipy.linalg.cho_solve((root, True), y)
    v = jax.scipy.linalg.solve_triangular(root, kernel(x, xs), lower=True)
    return kernel(xs, x) @ alpha, 1 - jnp.sum(v**2, 0), 0.5 * y @ alpha + jnp.sum(jnp.log(jnp.diag(root)))


model("gp_regression", gp_regression, [(2,), (8, 2), (8,), (4, 2)])
train("gp_training", lambda scales, x, y: gp_regression(scales, x, y, x)[2], [(2,)], *draw("gp_x", (8, 2), (8,)))
train("bayes_logistic", lambda w, s, x, y: jnp.mean(jax.nn.softplus((1 - 2 * y) * (x @ (w + jnp.exp(s) * jax.random.normal(KEY, w.shape))))) + 0.5 * jnp.sum(w**2 + jnp.exp(2 * s) - 2 * s),
      [(4,), (4,)], *draw("bayes_x", (9, 4)), *ints("bayes_y", (9,), high=2))


def flow(w1, w2, x):
    log_det = 0.0
    for w in (w1, w2):
        a, b = jnp.split(x, 2, axis=-1)
        scale, shift = jnp.split(jnp.tanh(a @ w), 2, axis=-1)
        x = jnp.concatenate([b * jnp.exp(scale) + shift, a], -1)
        log_det += scale.sum(-1)
    return -jnp.mean(log_det - 0.5 * jnp.sum(x**2, -1))


train("normalising_flow", flow, [(2, 4), (2, 4)], *draw("flow_x", (7, 4)))
train("poisson_regression", lambda w, x, y: -jnp.mean(jax.scipy.stats.poisson.logpmf(y, jnp.exp(x @ w))), [(3,)], *draw("pr_x", (8, 3)), *ints("pr_y", (8,)))
train("student_regression", lambda w, s, x, y: -jnp.mean(jax.scipy.stats.t.logpdf(y, jnp.exp(s) + 1, x @ w)), [(3,), ()], *draw("st_x", (8, 3), (8,)))
train("beta_likelihood", lambda a, b, x: -jnp.mean(jax.scipy.stats.beta.logpdf(x, jnp.exp(a), jnp.exp(b))), [(), ()], *draw("bl_x", (9,), low=0.1, high=0.9))


def dirichlet_multinomial(alpha, counts):
    a = jnp.exp(alpha)
    g = jax.scipy.special.gammaln
    return -jnp.mean(g(a.sum()) - g(a.sum() + counts.sum(-1)) + jnp.sum(g(a + counts) - g(a), -1))


train("dirichlet_multinomial", dirichlet_multinomial, [(4,)], *ints("dm_x", (5, 4), high=9))


# Decomposition and clustering.
def kmeans(centers, x):
    def iterate(_, c):
        nearest = jnp.argmin(jnp.sum((x[:, None] - c) ** 2, -1), 1)
        hot = jax.nn.one_hot(nearest, c.shape[0])
        return hot.T @ x / jnp.maximum(hot.sum(0), 1)[:, None]
    return lax.fori_loop(0, 5, iterate, centers)


model("kmeans", kmeans, [(3, 2), (20, 2)])
model("pca", lambda x: (lambda w, v: (w, jnp.abs((x - x.mean(0)) @ v[:, ::-1][:, :2])))(*jnp.linalg.eigh(jnp.cov(x.T))), [(20, 4)])
model("pca_svd", lambda x: jnp.linalg.svd(x - x.mean(0), full_matrices=False)[1] ** 2, [(12, 4)])
model("power_iteration", lambda x: lax.fori_loop(0, 20, lambda i, v: (lambda w: w / jnp.linalg.norm(w))(definite(x) @ v), jnp.ones(4)), [(4, 4)])
model("whitening", lambda x: (lambda w, v: v @ jnp.diag(w**-0.5) @ v.T)(*jnp.linalg.eigh(definite(x))), [(4, 4)])
model("ridge", lambda x, y: jnp.linalg.solve(x.T @ x + 0.5 * jnp.eye(3), x.T @ y), [(9, 3), (9,)])
model("lasso_ista", lambda x, y: lax.fori_loop(0, 20, lambda i, w: (lambda u: jnp.sign(u) * jnp.maximum(jnp.abs(u) - 0.01, 0))(w - 0.05 * x.T @ (x @ w - y)), jnp.zeros(3)), [(9, 3), (9,)])
model("sinkhorn", lambda c: jnp.exp(lax.fori_loop(0, 20, lambda i, l: (lambda m: m - logsumexp(m, 0))(l - logsumexp(l, 1, keepdims=True)), -c / 0.3)), [(5, 5)])
model("nmf", lambda w, h, x: lax.fori_loop(0, 5, lambda i, s: (lambda w, h: (w * (x @ h.T) / (w @ h @ h.T + 1e-6), h))(s[0], s[1] * (s[0].T @ x) / (s[0].T @ s[0] @ s[1] + 1e-6)), (w, h)),
      [(5, 2), (2, 6), (5, 6)], low=0.1)

# Recurrent models.
def gru(wx, wh, x):
    def cell(h, v):
        z, r, n = jnp.split(v @ wx, 3, -1)
        zh, rh, nh = jnp.split(h @ wh, 3, -1)
        z, n = jax.nn.sigmoid(z + zh), jnp.tanh(n + jax.nn.sigmoid(r + rh) * nh)
        return (1 - z) * n + z * h, h
    return lax.scan(cell, jnp.zeros((x.shape[1], wh.shape[0])), x)[0]


train("gru", lambda wx, wh, x: jnp.mean(gru(wx, wh, x) ** 2), [(3, 12), (4, 12)], *draw("gru_x", (6, 2, 3)))
model("gru_bidirectional", lambda a, b, c, d, x: jnp.concatenate([gru(a, b, x), gru(c, d, x[::-1])], -1), [(3, 12), (4, 12), (3, 12), (4, 12), (6, 2, 3)])


def lstm(wx, wh, x):
    def cell(state, v):
        h, c = state
        i, f, g, o = jnp.split(v @ wx + h @ wh, 4, -1)
        c = jax.nn.sigmoid(f + 1) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h
    zeros = jnp.zeros((x.shape[1], wh.shape[0]))
    return lax.scan(cell, (zeros, zeros), x)[1]


train("lstm_two_layers", lambda a, b, c, d, x: jnp.mean(lstm(c, d, lstm(a, b, x)) ** 2), [(3, 16), (4, 16), (4, 16), (4, 16)], *draw("l2_x", (5, 2, 3)))
train("rnn_dropout", lambda a, b, x: jnp.mean(lax.scan(lambda h, v: ((lambda n: jnp.where(jax.random.bernoulli(KEY, 0.8, n.shape), n / 0.8, 0))(jnp.tanh(v @ a + h @ b)), h), jnp.zeros((2, 4)), x)[0] ** 2),
      [(3, 4), (4, 4)], *draw("rd_x", (5, 2, 3)))


def linear_recurrence(a, b, x):
    """A diagonal state space model by an associative scan."""
    decay = jnp.broadcast_to(jax.nn.sigmoid(a), x.shape[:1] + a.shape)
    combine = lambda p, q: (p[0] * q[0], q[0] * p[1] + q[1])
    return lax.associative_scan(combine, (decay, x @ b))[1]


train("state_space", lambda a, b, c, x: jnp.mean((linear_recurrence(a, b, x) @ c) ** 2), [(6,), (3, 6), (6, 2)], *draw("ss_x", (8, 3)))


def complex_recurrence(radius, angle, b, c, x):
    """The linear recurrent unit, whose states are complex."""
    decay = jnp.exp(-jnp.exp(radius) + 1j * angle)
    combine = lambda p, q: (p[0] * q[0], q[0] * p[1] + q[1])
    states = lax.associative_scan(combine, (jnp.broadcast_to(decay, (x.shape[0], decay.shape[0])), (x @ b).astype(jnp.complex64)))[1]
    return jnp.mean(jnp.real(states @ c.astype(jnp.complex64)) ** 2)


train("linear_recurrent_unit", complex_recurrence, [(4,), (4,), (3, 4), (4, 2)], *draw("lru_x", (8, 3)))


def ctc(logits, labels):
    logs = jax.nn.log_softmax(logits)
    extended = jnp.zeros(2 * labels.shape[0] + 1, jnp.int32).at[1::2].set(labels + 1)
    same = jnp.concatenate([jnp.array([True, True]), extended[2:] == extended[:-2]])
    start = jnp.where(jnp.arange(extended.shape[0]) < 2, logs[0][extended], -1e9)
    def advance(alpha, row):
        one, two = jnp.roll(alpha, 1).at[0].set(-1e9), jnp.roll(alpha, 2).at[:2].set(-1e9)
        alpha = logsumexp(jnp.stack([alpha, one, jnp.where(same, -1e9, two)]), axis=0) + row[extended]
        return alpha, None
    last = lax.scan(advance, start, logs[1:])[0]
    return -jnp.logaddexp(last[-1], last[-2])


train("ctc_loss", ctc, [(8, 5)], *ints("ctc_y", (3,), high=4))
train("crf", lambda t, e, y: -(jnp.sum(e[jnp.arange(6), y]) + jnp.sum(t[y[:-1], y[1:]]) - logsumexp(lax.scan(lambda a, v: (logsumexp(a[:, None] + t, 0) + v, None), e[0], e[1:])[0])),
      [(4, 4), (6, 4)], *ints("crf_y", (6,), high=4))


# Convolutional networks.
def conv(x, w, stride=1, **options):
    return lax.conv_general_dilated(x, w, (stride, stride), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"), **options)


def batch_norm(x, scale, bias):
    mean, var = x.mean((0, 1, 2)), x.var((0, 1, 2))
    return (x - mean) * lax.rsqrt(var + 1e-5) * scale + bias


def resnet(w1, w2, w3, scale, bias, dense, x, y):
    h = jax.nn.relu(batch_norm(conv(x, w1), scale, bias))
    h = h + jax.nn.relu(batch_norm(conv(h, w2), scale, bias))
    h = jax.nn.relu(conv(h, w3, 2))
    logits = h.mean((1, 2)) @ dense
    return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(logits), y[:, None], 1))


train("resnet_batch_norm", resnet, [(3, 3, 2, 4), (3, 3, 4, 4), (3, 3, 4, 4), (4,), (4,), (4, 3)], *draw("rn_x", (4, 6, 6, 2)), *ints("rn_y", (4,), high=3))
train("mobilenet_block", lambda a, b, c, x: jnp.mean((x + conv(jax.nn.relu6(conv(jax.nn.relu6(conv(x, a)), b, feature_group_count=6)), c)) ** 2),
      [(1, 1, 3, 6), (3, 3, 1, 6), (1, 1, 6, 3)], *draw("mb_x", (2, 5, 5, 3)))


def unet(d1, d2, u1, out, x):
    a = jax.nn.silu(conv(x, d1))
    b = jax.nn.silu(conv(a, d2, 2))
    up = jax.image.resize(b, (*a.shape[:3], b.shape[-1]), "nearest")
    return conv(jax.nn.silu(conv(jnp.concatenate([a, up], -1), u1)), out)


train("diffusion_step", lambda d1, d2, u1, out, x: jnp.mean((unet(d1, d2, u1, out, jnp.sqrt(0.7) * x + jnp.sqrt(0.3) * jax.random.normal(KEY, x.shape)) - jax.random.normal(KEY, x.shape)) ** 2),
      [(3, 3, 2, 4), (3, 3, 4, 4), (3, 3, 8, 4), (3, 3, 4, 2)], *draw("df_x", (2, 6, 6, 2)))
model("diffusion_sampling", lambda d1, d2, u1, out, x: lax.fori_loop(0, 4, lambda i, v: v - 0.1 * unet(d1, d2, u1, out, v) + 0.05 * jax.random.normal(jax.random.fold_in(KEY, i), v.shape), x),
      [(3, 3, 2, 4), (3, 3, 4, 4), (3, 3, 8, 4), (3, 3, 4, 2), (1, 6, 6, 2)], low=-0.5, high=0.5)
train("group_norm_conv", lambda w, g, x: jnp.mean((norm(conv(x, w).reshape(2, 36, 2, 2).transpose(0, 2, 1, 3).reshape(2, 2, 72)) * g) ** 3), [(3, 3, 2, 4), ()], *draw("gn_x", (2, 6, 6, 2)))
train("gan_step", lambda g, d, z, x: jnp.mean(jax.nn.softplus(-(x @ d))) + jnp.mean(jax.nn.softplus(jnp.tanh(z @ g) @ d)), [(3, 4), (4, 1)], *draw("gan", (6, 3), (6, 4)))
train("spectral_filter", lambda w, x: jnp.mean((jnp.fft.irfft(jnp.fft.rfft(x) * w, 12) - x) ** 2), [(7,)], *draw("sf_x", (3, 12)))


def fourier_layer(re, im, mix, x):
    modes = re.shape[0]
    spectrum = jnp.fft.rfft(x, axis=0)
    mixed = jnp.einsum("mc,mcd->md", spectrum[:modes], re + 1j * im)
    back = jnp.fft.irfft(jnp.zeros((spectrum.shape[0], mixed.shape[1]), mixed.dtype).at[:modes].set(mixed), x.shape[0], axis=0)
    return jnp.mean(jax.nn.gelu(back + x @ mix) ** 2)


train("fourier_neural_operator", fourier_layer, [(4, 3, 3), (4, 3, 3), (3, 3)], *draw("fno_x", (16, 3)))
train("fnet", lambda a, b, x: jnp.mean((jax.nn.gelu(norm(x + jnp.real(jnp.fft.fft2(x))) @ a) @ b) ** 2), [(4, 8), (8, 4)], *draw("fnet_x", (2, 6, 4)))


# Transformers.
def attention(q, k, v, mask=None):
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / np.sqrt(q.shape[-1])
    scores = scores if mask is None else jnp.where(mask, scores, -1e9)
    return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores, -1), v)


def rotate(x):
    angles = jnp.arange(x.shape[1])[:, None] * 10.0 ** -jnp.arange(x.shape[-1] // 2)
    a, b = jnp.split(x, 2, -1)
    c, s = jnp.cos(angles)[:, None], jnp.sin(angles)[:, None]
    return jnp.concatenate([a * c - b * s, a * s + b * c], -1)


def rotate_complex(x):
    angles = jnp.arange(x.shape[1])[:, None] * 10.0 ** -jnp.arange(x.shape[-1] // 2)
    z = lax.complex(x[..., ::2], x[..., 1::2]) * jnp.exp(1j * angles)[:, None]
    return jnp.stack([jnp.real(z), jnp.imag(z)], -1).reshape(x.shape)


def decoder(embed, qkv, out, up, down, tokens, turn=rotate):
    x = embed[tokens]
    b, n, d = x.shape
    q, k, v = (p.reshape(b, n, 2, -1) for p in jnp.split(norm(x) @ qkv, 3, -1))
    x = x + attention(turn(q), turn(k), v, jnp.tril(jnp.ones((n, n), bool))).reshape(b, n, d) @ out
    gate, value = jnp.split(norm(x) @ up, 2, -1)
    x = x + (jax.nn.silu(gate) * value) @ down
    logs = jax.nn.log_softmax(norm(x) @ embed.T)
    return -jnp.mean(jnp.take_along_axis(logs[:, :-1], tokens[:, 1:, None], -1))


DECODER = [(11, 8), (8, 24), (8, 8), (8, 32), (16, 8)]
train("llama_step", decoder, DECODER, *ints("llama_y", (2, 6), high=11))
train("llama_complex_rotation", lambda *a: decoder(*a, turn=rotate_complex), DECODER, *ints("llama_y", (2, 6), high=11))


def cached_decode(q, cache_k, cache_v, k, v, at):
    cache_k, cache_v = lax.dynamic_update_slice(cache_k, k, (0, at, 0, 0)), lax.dynamic_update_slice(cache_v, v, (0, at, 0, 0))
    return attention(q, cache_k, cache_v, jnp.arange(cache_k.shape[1]) <= at), cache_k, cache_v


model("decode_with_cache", cached_decode, [(2, 1, 2, 4), (2, 8, 2, 4), (2, 8, 2, 4), (2, 1, 2, 4), (2, 1, 2, 4)], np.int32(3))


def experts(router, w1, w2, x):
    weights, chosen = lax.top_k(jax.nn.softmax(x @ router), 2)
    mix = jnp.sum(jax.nn.one_hot(chosen, router.shape[1]) * weights[..., None], 1)
    return jnp.mean(jnp.einsum("te,etd->td", mix, jnp.einsum("etf,efd->etd", jax.nn.relu(jnp.einsum("td,edf->etf", x, w1)), w2)) ** 2)


train("mixture_of_experts", experts, [(4, 3), (3, 4, 8), (3, 8, 4)], *draw("moe_x", (6, 4)))
train("vision_transformer", lambda p, qkv, o, x: jnp.mean((lambda t: t + attention(*(z.reshape(2, 4, 2, 4) for z in jnp.split(norm(t) @ qkv, 3, -1))).reshape(2, 4, 8) @ o)(x.reshape(2, 2, 3, 2, 3, 1).transpose(0, 1, 3, 2, 4, 5).reshape(2, 4, 9) @ p) ** 2),
      [(9, 8), (8, 24), (8, 8)], *draw("vit_x", (2, 6, 6, 1)))
train("linear_attention", lambda a, b, c, x: jnp.mean((lambda q, k, v: lax.scan(lambda s, i: (s + jnp.outer(i[1], i[2]), (s + jnp.outer(i[1], i[2])).T @ i[0]), jnp.zeros((4, 4)), (q, k, v))[1])(jax.nn.elu(x @ a) + 1, jax.nn.elu(x @ b) + 1, x @ c) ** 2),
      [(4, 4), (4, 4), (4, 4)], *draw("la_x", (7, 4)))
model("beam_search", lambda t: lax.fori_loop(0, 4, lambda i, s: (lambda best, at: (best, s[1][at // 5].at[:, i].set(at % 5)))(*lax.top_k((s[0][:, None] + jax.nn.log_softmax(t)[s[1][:, i - 1]]).reshape(-1), 3)), (jnp.zeros(3), jnp.zeros((3, 4), jnp.int32))), [(5, 5)])
model("nucleus_sampling", lambda x: (lambda o: jax.random.categorical(KEY, jnp.where(jnp.cumsum(jax.nn.softmax(x[o])) < 0.9, x[o], -1e9)))(jnp.argsort(-x)), [(12,)], low=-3, high=3)
train("clip_loss", lambda a, b, t, x, y: (lambda s: -jnp.mean(jnp.diag(jax.nn.log_softmax(s)) + jnp.diag(jax.nn.log_softmax(s.T))))(jnp.exp(t) * (lambda u: u / jnp.linalg.norm(u, axis=1, keepdims=True))(x @ a) @ (lambda u: u / jnp.linalg.norm(u, axis=1, keepdims=True))(y @ b).T),
      [(4, 3), (5, 3), ()], *draw("clip", (6, 4), (6, 5)))
train("lora", lambda a, b, w, x: jnp.mean((x @ (w + a @ b)) ** 2), [(6, 2), (2, 5)], *draw("lora", (6, 5), (4, 6)))


# Graphs, equations and control.
def graph_network(w1, w2, x, source, target):
    for w in (w1, w2):
        messages = jax.nn.relu(jnp.concatenate([x[source], x[target]], -1) @ w)
        x = x + jax.ops.segment_sum(messages, target, num_segments=x.shape[0])
    return jnp.mean(x**2)


train("graph_network", graph_network, [(8, 4), (8, 4)], *draw("gnn_x", (6, 4)), *ints("gnn_e", (10,), (10,), high=6))


def graph_attention(w, a, x, source, target):
    h = x @ w
    score = jax.nn.leaky_relu(jnp.concatenate([h[source], h[target]], -1) @ a)
    score = jnp.exp(score - jax.ops.segment_max(score, target, 6)[target])
    score = score / jax.ops.segment_sum(score, target, 6)[target]
    return jnp.mean(jax.ops.segment_sum(score[:, None] * h[source], target, 6) ** 2)


train("graph_attention", graph_attention, [(4, 3), (6,)], *draw("gat_x", (6, 4)), *ints("gat_e", (12,), (12,), high=6))
model("pagerank", lambda a: lax.while_loop(lambda s: s[1] > 1e-4, lambda s: (lambda n: (n, jnp.abs(n - s[0]).sum()))(0.85 * (jnp.abs(a) / jnp.abs(a).sum(0)) @ s[0] + 0.15 / 6), (jnp.full(6, 1 / 6), jnp.float32(1)))[0], [(6, 6)])


def runge_kutta(field, y, steps, h):
    def advance(y, _):
        k1 = field(y)
        k2 = field(y + 0.5 * h * k1)
        k3 = field(y + 0.5 * h * k2)
        k4 = field(y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        return y, y
    return lax.scan(advance, y, None, length=steps)[1]


model("lorenz", lambda y: runge_kutta(lambda v: jnp.array([10 * (v[1] - v[0]), v[0] * (28 - v[2]) - v[1], v[0] * v[1] - 8 / 3 * v[2]]), y, 10, 0.01), [(3,)])
train("neural_ode", lambda a, b, y: jnp.mean((runge_kutta(lambda v: jnp.tanh(v @ a) @ b, y, 5, 0.1)[-1] - 1) ** 2), [(3, 8), (8, 3)], *draw("node_y", (2, 3)))
train("pinn", lambda a, b, x: jnp.mean(jax.vmap(lambda t: jax.grad(jax.grad(lambda s: jnp.sum(jnp.tanh(s * a) * b)))(t) + jnp.sum(jnp.tanh(t * a) * b))(x) ** 2), [(5,), (5,)], *draw("pinn_x", (6,)))
model("heat_equation", lambda u: lax.fori_loop(0, 10, lambda i, v: v.at[1:-1].add(0.2 * (v[2:] - 2 * v[1:-1] + v[:-2])), u), [(12,)])
model("spectral_burgers", lambda u: lax.fori_loop(0, 5, lambda i, v: v - 0.01 * v * jnp.real(jnp.fft.ifft(1j * jnp.fft.fftfreq(16, 1 / 16) * jnp.fft.fft(v))), u), [(16,)])
model("game_of_life", lambda u: lax.fori_loop(0, 3, lambda i, g: (lambda n: jnp.where((n == 3) | ((g == 1) & (n == 2)), 1, 0))(sum(jnp.roll(g, (a, b), (0, 1)) for a in (-1, 0, 1) for b in (-1, 0, 1) if a or b)), (u > 0).astype(jnp.int32)), [(6, 6)])
model("lqr", lambda a, b: lax.fori_loop(0, 10, lambda i, p: jnp.eye(3) + a.T @ p @ a - a.T @ p @ b @ jnp.linalg.solve(jnp.eye(2) + b.T @ p @ b, b.T @ p @ a), jnp.eye(3)), [(3, 3), (3, 2)], low=-0.6, high=0.6)
train("policy_gradient", lambda w, x, a, r: -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(x @ w), a[:, None], 1)[:, 0] * lax.scan(lambda g, v: (0.9 * g + v, 0.9 * g + v), 0.0, r, reverse=True)[1]),
      [(4, 3)], *draw("pg_x", (6, 4)), *ints("pg_a", (6,), high=3), *draw("pg_r", (6,)))
train("q_learning", lambda w, x, a, r: jnp.mean((jnp.take_along_axis(x[:-1] @ w, a[:, None], 1)[:, 0] - lax.stop_gradient(r + 0.9 * jnp.max(x[1:] @ w, 1))) ** 2),
      [(4, 3)], *draw("ql_x", (7, 4)), *ints("ql_a", (6,), high=3), *draw("ql_r", (6,)))
train("ppo", lambda w, x, a, old, adv: (lambda ratio: -jnp.mean(jnp.minimum(ratio * adv, jnp.clip(ratio, 0.8, 1.2) * adv)))(jnp.exp(jnp.take_along_axis(jax.nn.log_softmax(x @ w), a[:, None], 1)[:, 0] - old)),
      [(4, 3)], *draw("ppo_x", (6, 4)), *ints("ppo_a", (6,), high=3), *draw("ppo_o", (6,), (6,), low=-1.5, high=-0.5))

# Losses and optimisers.
train("losses", lambda x, y: jnp.mean(jnp.where(jnp.abs(x - y) < 1, 0.5 * (x - y) ** 2, jnp.abs(x - y) - 0.5)) + jnp.mean(jnp.maximum(0, 1 - x * jnp.sign(y))) + jnp.mean(jnp.log(jnp.cosh(x - y))), [(9,)], *draw("loss_y", (9,)))
train("focal_triplet", lambda a, p, n: jnp.mean(jnp.maximum(0, jnp.sum((a - p) ** 2, 1) - jnp.sum((a - n) ** 2, 1) + 0.5)) + jnp.mean((1 - jax.nn.sigmoid(a)) ** 2 * jax.nn.softplus(-a)), [(5, 3), (5, 3), (5, 3)])


def lamb(w, m, v, x, y):
    value, g = jax.value_and_grad(lambda w: jnp.mean((jnp.tanh(x @ w) - y) ** 2))(w)
    norm_g = jnp.sqrt(jnp.sum(g**2))
    g = jnp.where(norm_g > 0.1, g * 0.1 / norm_g, g)
    m, v = 0.9 * m + 0.1 * g, 0.99 * v + 0.01 * g**2
    update = m / (jnp.sqrt(v) + 1e-6) + 0.01 * w
    return value, w - 0.1 * jnp.linalg.norm(w) / jnp.linalg.norm(update) * update, m, v


model("lamb_clipped", lamb, [(4, 3), (4, 3), (4, 3), (6, 4), (6, 3)], low=0.01)
model("mixed_precision_step", lambda w, x, y: (lambda g: w - 0.1 * g.astype(jnp.float32) / 128)(jax.grad(lambda w: 128 * jnp.mean((x.astype(jnp.bfloat16) @ w.astype(jnp.bfloat16)).astype(jnp.float32) ** 2))(w)), [(4, 3), (6, 4), (6, 3)])
model("newton_step", lambda w, x, y: w - jnp.linalg.solve(jax.hessian(lambda w: jnp.mean(jax.nn.softplus(x @ w)) + 0.5 * w @ w)(w), jax.grad(lambda w: jnp.mean(jax.nn.softplus(x @ w)) + 0.5 * w @ w)(w)), [(3,), (6, 3), (6,)])
model("maml", lambda w, x, y: jax.grad(lambda w: jnp.mean((x @ (w - 0.1 * jax.grad(lambda u: jnp.mean((x @ u - y) ** 2))(w)) - y) ** 2))(w), [(3,), (6, 3), (6,)])
