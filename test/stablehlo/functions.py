"""The JAX functions that test/stablehlo/run.py lowers, compiles and compares.

Every entry of FUNCTIONS is (name, function, arguments); the arguments are NumPy arrays made from the name alone. Those of
GRADIENTS are run a second time as the gradient of the sum of squares of their float results. PROGRAMS are whole training
steps.
"""

import functools
import zlib

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax


def draw(name, *shapes, low=-2.0, high=2.0, dtype=np.float32):
    """Arrays of `shapes` with uniformly distributed elements that depend on `name` only."""
    generator = np.random.default_rng(zlib.crc32(name.encode()))
    return tuple(
        (
            generator.integers(int(low), int(high), size=shape)
            if np.issubdtype(dtype, np.integer)
            else generator.uniform(low, high, size=shape)
        ).astype(dtype)
        for shape in shapes
    )


FUNCTIONS, GRADIENTS, PROGRAMS = [], [], []


def add(name, function, *shapes, low=-2.0, high=2.0, gradient=True, extra=()):
    """One function of float arrays of `shapes`, followed by the arrays `extra`."""
    arguments = draw(name, *shapes, low=low, high=high) + tuple(extra)
    FUNCTIONS.append((name, function, arguments))
    if gradient:
        GRADIENTS.append((name, function, arguments))


def ints(name, *shapes, low=0, high=5):
    return draw(name, *shapes, low=low, high=high, dtype=np.int32)


# Elementwise.
add("exp_log", lambda x: jnp.log(jnp.exp(x) + 1), (4, 7))
add("trigonometry", lambda x: jnp.sin(x) * jnp.cos(x) + jnp.tan(x / 2), (5, 3))
add("inverse_trigonometry", lambda x: jnp.arcsin(x / 3) + jnp.arccos(x / 3) + jnp.arctan(x), (9,))
add("hyperbolic", lambda x: jnp.sinh(x) + jnp.cosh(x) + jnp.tanh(x), (9,))
add("inverse_hyperbolic", lambda x: jnp.arcsinh(x) + jnp.arctanh(x / 3) + jnp.arccosh(x + 4), (9,))
add("arctan2", jnp.arctan2, (4, 5), (4, 5))
add("power", lambda x, y: jnp.power(jnp.abs(x) + 0.1, y) + x**3, (6,), (6,))
add("roots", lambda x: jnp.sqrt(x) + lax.rsqrt(x) + jnp.cbrt(x), (8,), low=0.1)
add("small_exponents", lambda x: jnp.expm1(x) + jnp.log1p(x) + jnp.exp2(x), (8,), low=-0.5)
add("rounding", lambda x: jnp.floor(x) + jnp.ceil(3 * x) + jnp.round(5 * x) + jnp.trunc(x), (16,), gradient=False)
add("signs", lambda x: jnp.sign(x) * jnp.abs(x) + jnp.copysign(2.0, x), (9,))
add("remainders", lambda x, y: jnp.mod(x, y) + jnp.fmod(x, y) + jnp.floor_divide(x, y), (12,), (12,), gradient=False)
add("extremes", lambda x, y: jnp.maximum(x, y) - jnp.minimum(x, 0.5), (4, 4), (4, 4))
add("clip_where", lambda x: jnp.where(x > 0, jnp.clip(x, -1, 1), x * 2), (4, 6))
add("logistic", lambda x: jax.nn.sigmoid(x) + jax.nn.log_sigmoid(x), (8,))
add("erf_family", lambda x: lax.erf(x) + lax.erfc(x) + lax.erf_inv(x / 3), (32,))
add("lgamma", lax.lgamma, (32,), low=-3, high=6)
add("digamma", lax.digamma, (32,), low=-3, high=6, gradient=False)
add("logaddexp", jnp.logaddexp, (6,), (6,))
add("bit_arithmetic", lambda a, b: (a & b) | (a ^ b) ^ (a << 1) ^ (b >> 1) ^ ~a, gradient=False, extra=ints("bit", (16,), (16,), low=-50, high=50))
add("integer_division", lambda a, b: a // b + a % b, gradient=False, extra=ints("idiv", (16,), (16,), low=1, high=50))
add("bit_counts", lambda a: lax.population_count(a) + lax.clz(a), gradient=False, extra=ints("counts", (16,), low=-50, high=50))
add("casts", lambda x: (x * 10).astype(jnp.int32).astype(jnp.int8).astype(jnp.float32) + x.astype(jnp.bfloat16).astype(jnp.float32), (12,), gradient=False)
add("bitcast", lambda x: lax.bitcast_convert_type(x, jnp.uint32) >> jnp.uint32(3), (8,), gradient=False)
add("finite_tests", lambda x: jnp.isnan(x / 0 * 0) | jnp.isinf(1 / (x - x)) | jnp.isfinite(x), (8,), gradient=False)
add("nextafter", lambda x: jnp.nextafter(x, jnp.float32(3)), (8,), gradient=False)

# Reductions.
add("sums", lambda x: jnp.sum(x, axis=1) + jnp.mean(x) + jnp.sum(x, axis=(0, 2))[None, :3], (3, 4, 3))
add("products", lambda x: jnp.prod(x, axis=0), (3, 4))
add("maxima", lambda x: jnp.max(x, axis=1) - jnp.min(x), (4, 5))
add("variance", lambda x: jnp.var(x, axis=0) + jnp.std(x, axis=0, ddof=1), (6, 5))
add("logsumexp", lambda x: jax.scipy.special.logsumexp(x, axis=1), (4, 5))
add("softmax", lambda x: jax.nn.softmax(x, axis=-1) + jax.nn.log_softmax(x, axis=0), (4, 5))
add("argmax", lambda x: (jnp.argmax(x, axis=1), jnp.argmin(x, axis=0)), (4, 5), gradient=False)
add("any_all", lambda x: (jnp.any(x > 1.5, axis=0), jnp.all(x > -1.5)), (4, 5), gradient=False)
add("norms", lambda x: jnp.linalg.norm(x, axis=1) + jnp.linalg.norm(x, ord=1, axis=1), (4, 5))
add("median", lambda x: jnp.median(x, axis=1) + jnp.quantile(x, 0.3, axis=1), (4, 7))
add("custom_reduce", lambda x: lax.reduce(x, np.float32(0), lambda a, b: jnp.maximum(jnp.abs(a), jnp.abs(b)), (1,)), (4, 7), gradient=False)

# Shapes and movement.
add("reshape_transpose", lambda x: jnp.transpose(x.reshape(2, 3, 4), (2, 0, 1)), (6, 4))
add("broadcast", lambda x: jnp.broadcast_to(x[:, None], (4, 3)) * jnp.ones((2, 1, 1)), (4,))
add("slices", lambda x: x[1:5:2, ::-1] + x[-3:-1, :], (6, 4))
add("concatenate_stack", lambda x, y: jnp.stack([jnp.concatenate([x, y], 1), jnp.concatenate([y, x], 1)]), (2, 3), (2, 2))
add("pads", lambda x: jnp.pad(x, ((1, 2), (0, 1))) + lax.pad(x, 1.0, ((2, -1, 1), (1, 0, 0)))[:6, :4], (3, 3))
add("pad_modes", lambda x: jnp.pad(x, 2, mode="reflect") + jnp.pad(x, 2, mode="edge"), (4, 4))
add("roll_flip", lambda x: jnp.roll(x, 2, axis=1) + jnp.flip(x, 0), (4, 5))
add("tile_repeat", lambda x: jnp.tile(x, (2, 1)) + jnp.repeat(x, 2, axis=0), (2, 3))
add("triangles", lambda x: jnp.tril(x) - jnp.triu(x, 1), (5, 5))
add("diagonals", lambda x: jnp.diag(jnp.diagonal(x)) + jnp.trace(x), (4, 4))
add("meshgrid", lambda x: sum(jnp.meshgrid(x, 2 * x)), (4,))
add("iotas", lambda x: x + jnp.arange(12, dtype=jnp.float32).reshape(3, 4) + jnp.linspace(0.0, 1, 4), (3, 4))
add("squeeze_expand", lambda x: jnp.squeeze(jnp.expand_dims(x, 2), 2).T, (3, 4))
add("one_hot", lambda i: jax.nn.one_hot(i, 6), gradient=False, extra=ints("one_hot", (5,)))

# Products.
add("matmul", jnp.matmul, (4, 6), (6, 5))
add("matmul_batched", jnp.matmul, (2, 4, 6), (2, 6, 5))
add("dot_vectors", lambda x, y, m: jnp.dot(x, y) + jnp.dot(m, x).sum(), (6,), (6,), (3, 6))
add("einsum", lambda x, y: jnp.einsum("bhqd,bhkd->bhqk", x, y), (2, 3, 4, 5), (2, 3, 6, 5))
add("tensordot", lambda x, y: jnp.tensordot(x, y, axes=((0, 2), (1, 0))), (3, 4, 5), (5, 3, 2))
add("outer_kron", lambda x, y: jnp.outer(x, y).sum() + jnp.kron(x, y), (3,), (4,))
add("matmul_bf16", lambda x, y: jnp.matmul(x.astype(jnp.bfloat16), y.astype(jnp.bfloat16), preferred_element_type=jnp.float32), (4, 6), (6, 5), gradient=False)
add("matmul_int", lambda a, b: a @ b, gradient=False, extra=ints("matmul_int", (4, 6), (6, 5)))

# Positions that are data.
add("take_rows", lambda x, i: x[i], (7, 3), extra=ints("take_rows", (5,), high=7))
add("take_elements", lambda x, i, j: x[i, j], (7, 3), extra=ints("take_elements", (5,), (5,), high=3))
add("take_middle", lambda x, i: x[:, i], (2, 7, 3), extra=ints("take_middle", (2, 2), high=7))
add("take_along_axis", lambda x, i: jnp.take_along_axis(x, i, axis=1), (4, 5), extra=ints("take_along", (4, 2)))
add("take_fill", lambda x, i: jnp.take(x, i, axis=0, mode="fill"), (4, 5), extra=ints("take_fill", (6,), low=-6, high=7))
add("set_rows", lambda x, y, i: x.at[i].set(y, unique_indices=True), (7, 3), (3, 3), extra=(np.array([4, 0, 6], np.int32),))
add("add_rows", lambda x, y, i: x.at[i].add(y), (7, 3), (5, 3), extra=ints("add_rows", (5,), high=9))
add("add_elements", lambda x, y, i, j: x.at[i, j].add(y), (7, 3), (6,), extra=ints("add_elements", (6,), (6,), high=3))
add("scatter_extremes", lambda x, y, i: x.at[:, i].max(y) + x.at[:, i].min(y), (3, 7), (3, 4), gradient=False, extra=ints("scatter_extremes", (4,), high=7))
add("scatter_multiply", lambda x, y, i: x.at[i].multiply(y), (7,), (4,), gradient=False, extra=ints("scatter_multiply", (4,), high=7))
add("segment_sum", lambda x, i: jax.ops.segment_sum(x, i, num_segments=4), (9, 2), extra=ints("segment_sum", (9,), high=4))
add("bincount", lambda i: jnp.bincount(i, length=6), gradient=False, extra=ints("bincount", (12,)))
add("dynamic_slices", lambda x, i: lax.dynamic_update_slice(x, lax.dynamic_slice(x, (i, 0), (2, 3)) * 2, (0, i)), (6, 5), extra=(np.int32(3),))
add("windows_gather", lambda x, i: jax.vmap(lambda j: lax.dynamic_slice(x, (j, 0), (2, 3)))(i), (6, 5), extra=ints("windows_gather", (4,), low=-2, high=8))
add("windows_scatter", lambda x, y, i: jax.vmap(lambda a, b, j: lax.dynamic_update_slice(a, b, (j,)))(x, y, i), (4, 6), (4, 3), extra=ints("windows_scatter", (4,), low=-2, high=8))
add("searchsorted", lambda x, y: jnp.searchsorted(jnp.sort(x), y), (9,), (6,), gradient=False)
add("interp", lambda x, y: jnp.interp(x, jnp.linspace(-2, 2, 6), y), (9,), (6,))

# Order and scans.
add("sort", lambda x: jnp.sort(x, axis=1), (4, 7))
add("sort_descending", lambda x: jnp.sort(x, axis=0, descending=True), (7, 2))
add("argsort", lambda x: jnp.argsort(x, axis=1), (4, 7), gradient=False)
add("sort_pairs", lambda x, y: lax.sort((x, y), dimension=0, num_keys=1), (7,), (7,))
add("lexsort", lambda a, b: jnp.lexsort((a, b)), gradient=False, extra=ints("lexsort", (12,), (12,), high=3))
add("top_k", lambda x: lax.top_k(x, 3)[0], (4, 7))
add("top_k_indices", lambda x: lax.top_k(x, 3)[1], (4, 7), gradient=False)
add("approx_max_k", lambda x: lax.approx_max_k(x, 3), (4, 64), gradient=False)
add("approx_min_k", lambda x: lax.approx_min_k(x, 3, reduction_dimension=0), (64, 2), gradient=False)
add("cumsum", lambda x: jnp.cumsum(x, axis=1) + jnp.cumsum(x, axis=0), (4, 7))
add("cumprod_cummax", lambda x: jnp.cumprod(x, axis=0) + lax.cummax(x, axis=1, reverse=True), (4, 5))
add("cumlogsumexp", lambda x: lax.cumlogsumexp(x, axis=0), (6,))
add("associative_scan", lambda x, y: lax.associative_scan(lambda p, q: (p[0] * q[0], p[1] * q[0] + q[1]), (x, y))[1], (6,), (6,))
add("unique", lambda i: jnp.unique(i, size=4, fill_value=-1), gradient=False, extra=ints("unique", (9,), high=4))
add("nonzero", lambda x: jnp.nonzero(x > 0, size=5, fill_value=-1), (9,), gradient=False)

# Control.
add("fori_loop", lambda x: lax.fori_loop(0, 4, lambda i, v: v * 0.5 + i, x), (5,))
add("while_loop", lambda x: lax.while_loop(lambda v: jnp.sum(v) < 50, lambda v: v * 2 + 1, x), (5,), low=0.5, gradient=False)
add("cond", lambda x: lax.cond(x[0] > 0, lambda v: v * 2, lambda v: -v, x), (5,))
add("switch", lambda i, x: lax.switch(i, [lambda v: v, lambda v: v * 2, lambda v: v**2], x), gradient=False, extra=(np.int32(1), np.arange(4, dtype=np.float32)))
add("scan", lambda x, y: lax.scan(lambda c, v: (jnp.tanh(c + v), c * v), x, y), (3,), (6, 3))
add("map", lambda x: lax.map(lambda v: jnp.sum(v * v), x), (4, 3))
add("remat", jax.checkpoint(lambda x: jnp.sin(jnp.sin(x))), (5,))

# Windows.
def conv(x, w, **options):
    return lax.conv_general_dilated(x, w, dimension_numbers=("NHWC", "HWIO", "NHWC"), **options)


add("conv", lambda x, w: conv(x, w, window_strides=(1, 1), padding="SAME"), (2, 6, 6, 3), (3, 3, 3, 4))
add("conv_strided", lambda x, w: conv(x, w, window_strides=(2, 2), padding=((1, 1), (0, 1)), rhs_dilation=(1, 2)), (2, 7, 7, 2), (3, 2, 2, 4))
add("conv_depthwise", lambda x, w: conv(x, w, window_strides=(1, 1), padding="VALID", feature_group_count=4), (2, 5, 5, 4), (3, 3, 1, 8))
add("conv_transpose", lambda x, w: lax.conv_transpose(x, w, (2, 2), "SAME"), (1, 4, 4, 2), (3, 3, 2, 3))
add("conv_nchw", lambda x, w: lax.conv(x, w, (1, 1), "SAME"), (2, 3, 5, 5), (4, 3, 3, 3))
add("conv_1d", lambda x, w: jnp.convolve(x, w, mode="same"), (9,), (3,))
add("max_pool", lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID"), (2, 6, 6, 3))
add("avg_pool", lambda x: lax.reduce_window(x, 0.0, lax.add, (1, 3, 3, 1), (1, 2, 2, 1), "SAME") / 9, (2, 6, 6, 3))
add("resize", lambda x: jax.image.resize(x, (8, 10), "bilinear"), (4, 5))

# jax.nn and jax.random.
add("activations", lambda x: jax.nn.gelu(x) + jax.nn.gelu(x, approximate=False) + jax.nn.silu(x) + jax.nn.elu(x) + jax.nn.softplus(x), (12,))
add("more_activations", lambda x: jax.nn.relu6(x) + jax.nn.leaky_relu(x) + jax.nn.selu(x) + jax.nn.hard_swish(x) + jax.nn.mish(x), (12,))
add("glu", lambda x: jax.nn.glu(x, axis=1), (3, 8))
add("layer_norm", lambda x, g, b: (x - x.mean(-1, keepdims=True)) * lax.rsqrt(x.var(-1, keepdims=True) + 1e-5) * g + b, (4, 8), (8,), (8,))
add("attention", lambda q, k, v: jax.nn.dot_product_attention(q, k, v, is_causal=True), (2, 5, 2, 4), (2, 5, 2, 4), (2, 5, 2, 4))
add("cross_entropy", lambda x, i: -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(x), i[:, None], axis=1)), (6, 5), extra=ints("cross_entropy", (6,)))


def key(x):
    return jax.random.key(jnp.abs(x[0] * 100).astype(jnp.int32))


add("random_bits", lambda x: jax.random.bits(key(x), (3, 5)), (1,), gradient=False)
add("random_uniform", lambda x: jax.random.uniform(key(x), (7,)), (1,), gradient=False)
add("random_normal", lambda x: jax.random.normal(key(x), (3, 4)), (1,), gradient=False)
add("random_split", lambda x: jax.random.key_data(jax.random.split(key(x), 3)), (1,), gradient=False)
add("random_categorical", lambda x: jax.random.categorical(key(x), jnp.zeros((4, 5))), (1,), gradient=False)
add("random_permutation", lambda x: jax.random.permutation(key(x), 9), (1,), gradient=False)
add("dropout", lambda x: jnp.where(jax.random.bernoulli(key(x), 0.5, x.shape), x * 2, 0), (12,))
add("random_rbg", lambda x: jax.random.bits(jax.random.key((jnp.abs(x[0]) * 100).astype(jnp.int32), impl="rbg"), (3, 5)), (1,), gradient=False)

# Bodies of their own.
def fold(x, y):
    """Not associative: one order gives what the first element of `x` says."""
    step = lambda a, b: (a[0] + a[1] * b[0], a[1] * b[1])
    return lax.reduce((x, y), (x[0, 0], jnp.float32(1)), step, (0,))


add("scatter_sine", lambda x, i: x.at[i].apply(jnp.sin), (9,), gradient=False, extra=ints("sine_at", (4,), high=9))
add("scatter_sine_rows", lambda x, i: x.at[:, i].apply(lambda v: v * v + 1), (3, 9, 2), gradient=False, extra=(np.asarray([-20, 3, 3, 9, 8], np.int32),))
add("reduce_from_data", fold, (5, 2), (5, 2), gradient=False)
add("reduce_jitted_body", lambda x: lax.reduce(x, x[0, 0], lambda a, b: jnp.where(jnp.abs(a) > jnp.abs(b), a, b), (1,)), (4, 7), gradient=False)
add("reduce_two_dims", lambda x: lax.reduce(x, x[0, 0, 0], lambda a, b: a * 0.5 + b, (0, 2)), (2, 3, 4), gradient=False)

# Linear algebra. Matrices that are factored are far from singular.
def definite(x):
    return x @ jnp.swapaxes(x, -1, -2) + jnp.eye(x.shape[-1])


def regular(x):
    return x + 4 * jnp.eye(*x.shape[-2:])


def normal_density(x, mean, root):
    return jax.scipy.stats.multivariate_normal.logpdf(x, mean, definite(root))


def solve_both_ways(a, b):
    lower = functools.partial(jax.scipy.linalg.solve_triangular, regular(a), lower=True)
    upper = functools.partial(jax.scipy.linalg.solve_triangular, regular(a), lower=False)
    return lower(b) + upper(b, trans=1), upper(b) + lower(b, trans=1), lower(b, unit_diagonal=True)


def solve_from_right(a, b):
    return lax.linalg.triangular_solve(regular(a), b, left_side=False, lower=True, transpose_a=True)


add("cholesky", lambda x: jnp.linalg.cholesky(definite(x)), (5, 5))
add("cholesky_batch", lambda x: jnp.linalg.cholesky(definite(x), upper=True), (2, 3, 4, 4))
add("cholesky_size_1", lambda x: jnp.linalg.cholesky(definite(x)), (1, 1))
add("cholesky_indefinite", lambda x: jnp.linalg.cholesky(definite(x) * jnp.asarray([1.0, -1.0])[:, None, None]), (2, 3, 3), gradient=False)
add("cho_solve", lambda x, b: jax.scipy.linalg.cho_solve(jax.scipy.linalg.cho_factor(definite(x)), b), (4, 4), (4, 2))
add("solve_triangular", solve_both_ways, (4, 4), (4, 3))
add("solve_triangular_right", solve_from_right, (2, 4, 4), (2, 3, 4))
add("solve", lambda a, b: jnp.linalg.solve(regular(a), b), (4, 4), (4, 2))
add("solve_batch", lambda a, b: jnp.linalg.solve(regular(a), b), (3, 4, 4), (3, 4, 2))
add("inverse", lambda a: jnp.linalg.inv(regular(a)), (2, 4, 4))
add("determinant", lambda a: (jnp.linalg.det(a), jnp.linalg.slogdet(a)), (3, 4, 4))
add("lu", lambda a: jax.scipy.linalg.lu(a), (4, 4))
add("lu_wide_tall", lambda a: (lax.linalg.lu(a), lax.linalg.lu(a.T)), (3, 5), gradient=False)
add("lu_singular", lambda a: lax.linalg.lu(a * 0 + 1), (3, 3), gradient=False)
add("qr", lambda a: jnp.linalg.qr(a), (5, 3))
add("qr_batch", lambda a: jnp.linalg.qr(a), (2, 3, 3), gradient=False)
add("qr_complete", lambda a: jnp.linalg.qr(a, mode="complete"), (4, 2), gradient=False)
add("qr_of_zeros", lambda a: jnp.linalg.qr(jnp.triu(a)), (3, 3), gradient=False)
add("normal_density", normal_density, (5, 3), (3,), (3, 3))


#===----------------------------------------------------------------------===//
# Training steps
#===----------------------------------------------------------------------===//


def sgd(loss, parameters, *data):
    value, gradient = jax.value_and_grad(loss)(parameters, *data)
    return value, jax.tree.map(lambda p, g: p - 0.1 * g, parameters, gradient)


def adam(loss, state, *data):
    parameters, first, second, step = state
    value, gradient = jax.value_and_grad(loss)(parameters, *data)
    step = step + 1
    first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, first, gradient)
    second = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, second, gradient)
    count = step.astype(jnp.float32)

    def update(p, m, v):
        return p - 1e-2 * (m / (1 - 0.9**count)) / (jnp.sqrt(v / (1 - 0.999**count)) + 1e-8)

    return value, (jax.tree.map(update, parameters, first, second), first, second, step)


def entropy(logits, labels):
    return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], axis=1))


def mlp(parameters, x, labels):
    for w, b in parameters[:-1]:
        x = jax.nn.relu(x @ w + b)
    w, b = parameters[-1]
    return entropy(x @ w + b, labels)


def cnn(parameters, x, labels):
    first, second, dense = parameters
    for w in (first, second):
        x = jax.nn.relu(conv(x, w, window_strides=(1, 1), padding="SAME"))
        x = lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
    return entropy(x.reshape(x.shape[0], -1) @ dense, labels)


def norm(x):
    return (x - x.mean(-1, keepdims=True)) * lax.rsqrt(x.var(-1, keepdims=True) + 1e-5)


def transformer(parameters, tokens):
    embedding, qkv, out, up, down = parameters
    x = embedding[tokens]
    batch, length, width = x.shape
    q, k, v = jnp.split(norm(x) @ qkv, 3, axis=-1)
    heads = lambda t: t.reshape(batch, length, 2, width // 2)
    y = jax.nn.dot_product_attention(heads(q), heads(k), heads(v), is_causal=True)
    x = x + y.reshape(batch, length, width) @ out
    x = x + jax.nn.gelu(norm(x) @ up) @ down
    logits = norm(x) @ embedding.T
    return entropy(logits[:, :-1].reshape(-1, logits.shape[-1]), tokens[:, 1:].reshape(-1))


def lstm(parameters, x, labels):
    wx, wh, bias, dense = parameters

    def cell(state, v):
        h, c = state
        i, f, g, o = jnp.split(v @ wx + h @ wh + bias, 4, axis=-1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h

    zeros = jnp.zeros((x.shape[1], wh.shape[0]))
    (h, _), _ = lax.scan(cell, (zeros, zeros), x)
    return entropy(h @ dense, labels)


def program(name, step, loss, shapes, *data):
    parameters = draw(name, *shapes, low=-0.5, high=0.5)
    if loss is mlp:
        parameters = tuple(zip(parameters[::2], parameters[1::2]))
    if step is adam:
        zeros = jax.tree.map(np.zeros_like, parameters)
        parameters = (parameters, zeros, zeros, np.int32(0))
    PROGRAMS.append((name, lambda state, *rest: step(loss, state, *rest), (parameters, *data)))


program("mlp_sgd", sgd, mlp, [(12, 16), (16,), (16, 5), (5,)], *draw("mlp_x", (8, 12)), *ints("mlp_y", (8,)))
program("cnn_adam", adam, cnn, [(3, 3, 1, 4), (3, 3, 4, 8), (32, 5)], *draw("cnn_x", (4, 8, 8, 1)), *ints("cnn_y", (4,)))
program("transformer_adam", adam, transformer, [(11, 8), (8, 24), (8, 8), (8, 16), (16, 8)], *ints("tokens", (2, 6), high=11))
program("lstm_sgd", sgd, lstm, [(3, 24), (6, 24), (24,), (6, 5)], *draw("lstm_x", (7, 4, 3)), *ints("lstm_y", (4,)))
