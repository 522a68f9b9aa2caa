"""Samplers, recurrent networks and optimisers for run.py, beside those of more_programs.py; see functions.py."""

import jax
import jax.numpy as jnp
from jax import lax
from jax.scipy.special import logsumexp

from functions import draw, ints
from more_programs import KEY, model, train


# Samplers and inference.
def slice_sampling(x):
    """Neal's, with steps out and shrinking."""
    def density(v):
        return -0.5 * v**2 + jnp.log1p(0.5 * jnp.cos(3 * v))

    def draw_one(v, key):
        height, side, *keys = jax.random.split(key, 12)
        level = density(v) + jnp.log(jax.random.uniform(height))
        low = v - 0.7 * jax.random.uniform(side)
        low, high = lax.while_loop(lambda b: density(b[0]) > level, lambda b: (b[0] - 0.7, b[1]), (low, low + 0.7))
        low, high = lax.while_loop(lambda b: density(b[1]) > level, lambda b: (b[0], b[1] + 0.7), (low, high))

        def shrink(state):
            i, low, high, at = state
            at = low + (high - low) * jax.random.uniform(jnp.stack(keys)[i % 10])
            return i + 1, jnp.where(at < v, at, low), jnp.where(at < v, high, at), at
        at = lax.while_loop(lambda s: density(s[3]) <= level, shrink, (0, low, high, high + 10))[3]
        return at, at
    return lax.scan(draw_one, x, jax.random.split(KEY, 6))[1]


model("slice_sampling", jax.vmap(slice_sampling), [(3,)])


def ising_gibbs(field, spins):
    """Both colours of a checkerboard in turn."""
    rows, columns = jnp.meshgrid(jnp.arange(6), jnp.arange(8), indexing="ij")
    spins = jnp.where(spins > 0, 1.0, -1.0)

    def sweep(s, key):
        for colour, k in enumerate(jax.random.split(key)):
            near = sum(jnp.roll(s, shift, axis) for axis in (0, 1) for shift in (1, -1))
            up = jax.nn.sigmoid(2 * (0.4 * near + field))
            s = jnp.where((rows + columns) % 2 == colour, jnp.where(jax.random.uniform(k, s.shape) < up, 1.0, -1.0), s)
        return s, s.mean()
    return lax.scan(sweep, spins, jax.random.split(KEY, 5))


model("ising_gibbs", ising_gibbs, [(), (6, 8)])


def stick_breaking(v, means, x):
    left = jnp.concatenate([jnp.zeros(1), jnp.cumsum(jnp.log1p(-jax.nn.sigmoid(v)))])
    weights = left + jnp.concatenate([jax.nn.log_sigmoid(v), jnp.zeros(1)])
    return -jnp.mean(logsumexp(weights - 0.5 * jnp.sum((x[:, None] - means) ** 2, -1), -1))


train("stick_breaking_mixture", stick_breaking, [(4,), (5, 2)], *draw("sb_x", (9, 2)))


def unscented_filter(ys, gain):
    size, weight = 3, 1 / 6

    def advance(state, y):
        mean, covariance = state
        root = jnp.linalg.cholesky(3 * (covariance + 1e-3 * jnp.eye(size)))
        points = jnp.concatenate([mean + root.T, mean - root.T])
        moved = jnp.tanh(points @ gain) + 0.1 * points
        mean = moved.mean(0)
        covariance = weight * (moved - mean).T @ (moved - mean) + 0.05 * jnp.eye(size)
        seen = jnp.sum(moved**2, -1)
        spread = weight * jnp.sum((seen - seen.mean()) ** 2) + 0.1
        k = weight * (moved - mean).T @ (seen - seen.mean()) / spread
        return (mean + k * (y - seen.mean()), covariance - spread * jnp.outer(k, k)), mean
    return lax.scan(advance, (jnp.zeros(size), jnp.eye(size)), ys)[1]


model("unscented_filter", unscented_filter, [(5,), (3, 3)])


def full_rank_advi(mean, packed, x, y):
    root = jnp.zeros((4, 4)).at[jnp.tril_indices(4)].set(packed)
    root = root.at[jnp.diag_indices(4)].set(jax.nn.softplus(jnp.diag(root)))
    w = mean + jax.random.normal(KEY, (6, 4)) @ root.T
    logits = w @ x.T
    likelihood = jnp.sum(y * jax.nn.log_sigmoid(logits) + (1 - y) * jax.nn.log_sigmoid(-logits), -1)
    return -jnp.mean(likelihood - 0.5 * jnp.sum(w**2, -1)) - jnp.sum(jnp.log(jnp.diag(root)))


train("full_rank_advi", full_rank_advi, [(4,), (10,)], *draw("advi_x", (7, 4)), *ints("advi_y", (7,), high=2))


def importance_weighted(encode, decode, x):
    noise = jax.random.normal(KEY, (5, 6, 3))
    z = x @ encode + noise
    weights = -0.5 * (jnp.sum((x - z @ decode) ** 2, -1) + jnp.sum(z**2 - noise**2, -1))
    return -jnp.mean(logsumexp(weights, 0) - jnp.log(5.0))


train("importance_weighted_bound", importance_weighted, [(4, 3), (3, 4)], *draw("iw_x", (6, 4)))
train("ordinal_regression", lambda cuts, w, x, y: -jnp.mean(jnp.log(jnp.diff(jax.nn.sigmoid(jnp.pad(jnp.cumsum(jax.nn.softplus(cuts)), 1, constant_values=(-30, 30))[None] - x @ w[:, None]))[jnp.arange(8), y] + 1e-6)),
      [(3,), (4,)], *draw("or_x", (8, 4)), *ints("or_y", (8,), high=4))
train("gumbel_softmax", lambda logits, code, x: jnp.mean((jax.nn.softmax((logits + jax.random.gumbel(KEY, (6, 4))) / 0.5) @ code - x) ** 2), [(6, 4), (4, 3)], *draw("gs_x", (6, 3)))


# Recurrent networks.
def clockwork(w, u, x):
    """Groups of units that move on every second, fourth step."""
    def advance(h, step):
        t, value = step
        new = jnp.tanh(value @ u + h @ w)
        moves = jnp.repeat((t % jnp.array([1, 2, 4])) == 0, 2)
        h = jnp.where(moves, new, h)
        return h, h
    return jnp.mean(lax.scan(advance, jnp.zeros(6), (jnp.arange(8), x))[1] ** 2)


train("clockwork_rnn", clockwork, [(6, 6), (3, 6)], *draw("cw_x", (8, 3)))


def turing_memory(keys, shifts, add, x):
    """A memory that is addressed by content, shifted and sharpened."""
    def advance(state, value):
        memory, weights = state
        key = value @ keys
        content = jax.nn.softmax(5 * memory @ key / (jnp.linalg.norm(memory, axis=-1) * jnp.linalg.norm(key) + 1e-3))
        mixed = 0.7 * content + 0.3 * weights
        shift = jax.nn.softmax(value @ shifts)
        moved = sum(shift[i] * jnp.roll(mixed, i - 1) for i in range(3))
        weights = moved**2 / jnp.sum(moved**2)
        memory = memory * (1 - 0.5 * weights[:, None]) + weights[:, None] * (value @ add)
        return (memory, weights), weights @ memory
    return jnp.mean(lax.scan(advance, (jnp.full((5, 4), 0.1), jnp.full(5, 0.2)), x)[1] ** 2)


train("turing_memory", turing_memory, [(3, 4), (3, 3), (3, 4)], *draw("tm_x", (6, 3)))


def forget_pool(w, x):
    f, z = jnp.split(x @ w, 2, -1)
    f = jax.nn.sigmoid(f)
    return jnp.mean(lax.associative_scan(lambda a, b: (a[0] * b[0], b[0] * a[1] + b[1]), (f, (1 - f) * jnp.tanh(z)))[1] ** 2)


train("forget_pool", forget_pool, [(3, 8)], *draw("fp_x", (7, 3)))
model("echo_state", lambda w, u, x: (lambda h: jnp.linalg.solve(h.T @ h + 0.1 * jnp.eye(6), h.T @ x[:, 0]))(
    lax.scan(lambda h, v: (0.5 * h + 0.5 * jnp.tanh(0.4 * w @ h + u @ v),) * 2, jnp.zeros(6), x)[1]), [(6, 6), (6, 2), (12, 2)])
model("hopfield", lambda patterns, x: lax.while_loop(lambda s: (s[0] < 20) & (jnp.max(jnp.abs(s[1] - s[2])) > 1e-4), lambda s: (
    s[0] + 1, jax.nn.softmax(4 * s[1] @ patterns.T) @ patterns, s[1]), (0, x, x + 1))[:2], [(5, 6), (3, 6)])


# Optimisers.
def rosenbrock(x):
    return jnp.sum(2 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def lbfgs(x):
    """The two loops over a ring of four steps, with a step that shrinks until it is less."""
    def direction(g, s, y, rho, count):
        order = (count - 1 - jnp.arange(4)) % 4

        def back(q, i):
            a = rho[i] * (s[i] @ q)
            return q - a * y[i], a
        q, alpha = lax.scan(back, g, order)

        def forth(r, step):
            i, a = step
            return r + (a - rho[i] * (y[i] @ r)) * s[i], None
        return -lax.scan(forth, 0.1 * q, (order[::-1], alpha[::-1]))[0]

    def step(i, state):
        x, s, y, rho = state
        value, g = jax.value_and_grad(rosenbrock)(x)
        d = direction(g, s, y, rho, i)
        d = jnp.where(d @ g < 0, d, -0.1 * g)
        rate = lax.while_loop(lambda t: (rosenbrock(x + t * d) > value + 1e-4 * t * (d @ g)) & (t > 1e-3), lambda t: 0.5 * t, 1.0)
        new = x + rate * d
        ds, dy = new - x, jax.grad(rosenbrock)(new) - g
        at = i % 4
        return new, s.at[at].set(ds), y.at[at].set(dy), rho.at[at].set(jnp.where(ds @ dy > 1e-6, 1 / (ds @ dy + 1e-9), 0.0))
    zeros = jnp.zeros((4, 5))
    return lax.fori_loop(0, 4, step, (x, zeros, zeros, jnp.zeros(4)))[0]


model("lbfgs", lbfgs, [(5,)], low=-0.5, high=0.5)


def nelder_mead(simplex):
    def step(_, points):
        points = points[jnp.argsort(jax.vmap(rosenbrock)(points))]
        middle, worst = points[:-1].mean(0), points[-1]
        tries = jnp.stack([2 * middle - worst, 3 * middle - 2 * worst, 0.5 * (middle + worst)])
        values = jax.vmap(rosenbrock)(tries)
        best = jnp.argmin(values)
        return jnp.where(values[best] < rosenbrock(worst), points.at[-1].set(tries[best]), points[0] + 0.5 * (points - points[0]))
    return lax.fori_loop(0, 6, step, simplex)


model("nelder_mead", nelder_mead, [(4, 3)])


def evolution(mean, root):
    """A generation of a covariance matrix adaptation."""
    z = jax.random.normal(KEY, (10, 4))
    x = mean + z @ root.T
    _, best = lax.top_k(-jax.vmap(rosenbrock)(x), 5)
    weights = jnp.log(5.5) - jnp.log(jnp.arange(1.0, 6.0))
    weights /= weights.sum()
    moved = weights @ x[best]
    steps = (x[best] - mean) * jnp.sqrt(weights)[:, None]
    return moved, jnp.linalg.cholesky(0.8 * root @ root.T + 0.2 * steps.T @ steps + 1e-3 * jnp.eye(4))


model("evolution_strategy", evolution, [(4,), (4, 4)])


def orthogonal_step(w, x, y):
    """Muon: the gradient's nearest orthogonal matrix by Newton-Schulz."""
    g = jax.grad(lambda w: jnp.mean((jnp.tanh(x @ w) - y) ** 2))(w)
    g = g / (jnp.linalg.norm(g) + 1e-6)
    for a, b, c in [(3.4445, -4.775, 2.0315)] * 5:
        square = g @ g.T
        g = a * g + (b * square + c * square @ square) @ g
    return w - 0.02 * g


model("muon", orthogonal_step, [(4, 6), (8, 4), (8, 6)])


def factored(w, rows, columns, x, y):
    """Adafactor: second moments of rows and columns, and a step of limited size."""
    value, g = jax.value_and_grad(lambda w: jnp.mean((x @ w - y) ** 2))(w)
    squares = g * g + 1e-30
    rows, columns = 0.9 * rows**2 + 0.1 * squares.mean(1), 0.9 * columns**2 + 0.1 * squares.mean(0)
    update = g * lax.rsqrt(rows / rows.mean())[:, None] * lax.rsqrt(columns)[None]
    update /= jnp.maximum(1.0, jnp.sqrt(jnp.mean(update**2)))
    return value, w - 1e-2 * jnp.maximum(1e-3, jnp.sqrt(jnp.mean(w**2))) * update, rows, columns


model("adafactor", factored, [(4, 6), (4,), (6,), (8, 4), (8, 6)])


def root_preconditioned(w, x, y):
    """Shampoo: fourth roots of both factors by their eigenvalues."""
    g = jax.grad(lambda w: jnp.mean((x @ w - y) ** 2))(w)

    def root(m):
        values, vectors = jnp.linalg.eigh(m + 1e-2 * jnp.eye(m.shape[0]))
        return (vectors * values**-0.25) @ vectors.T
    return w - 0.1 * root(g @ g.T) @ g @ root(g.T @ g)


model("shampoo", root_preconditioned, [(3, 4), (8, 3), (8, 4)])


def sharpness_aware(w, v, x, y):
    def loss(p):
        return jnp.mean((jax.nn.relu(x @ p[0]) @ p[1] - y) ** 2)
    g = jax.grad(loss)((w, v))
    size = jnp.sqrt(sum(jnp.vdot(a, a) for a in g))
    return jax.tree.map(lambda p, d: p - 0.1 * d, (w, v), jax.grad(loss)(jax.tree.map(lambda p, d: p + 0.05 * d / size, (w, v), g)))


model("sharpness_aware", sharpness_aware, [(3, 6), (6, 2), (8, 3), (8, 2)])
model("normal_equations", lambda a, b: jax.scipy.sparse.linalg.cg(lambda v: a.T @ (a @ v) + v, b, maxiter=5)[0], [(6, 5), (5,)])
model("lion_schedule", lambda w, m, x: lax.scan(lambda s, t: ((lambda g: (s[0] - 0.01 * (1 - t / 8) * (jnp.sign(0.9 * s[1] + 0.1 * g) + 0.1 * s[0]), 0.99 * s[1] + 0.01 * g))(
    jax.grad(lambda w: jnp.sum(jnp.tanh(x @ w) ** 2))(s[0])), jnp.sum(s[0])), (w, m), jnp.arange(6.0)), [(4,), (4,), (7, 4)])
