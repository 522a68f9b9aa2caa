"""Functions of complex numbers and Fourier transforms for run.py; see functions.py."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from functions import add, draw


def complexes(name, *shapes):
    """Complex arrays whose parts lie in [-2, 2)."""
    pairs = [draw(f"{name}{i}", shape, shape) for i, shape in enumerate(shapes)]
    return tuple((re + 1j * im).astype(np.complex64) for re, im in pairs)


def add_complex(name, function, *shapes, gradient=True):
    add(name, function, gradient=gradient, extra=complexes(name, *shapes))


# Arithmetic.
add_complex("complex_arithmetic", lambda a, b: a * b + a / b - a, (7,), (7,))
add_complex("complex_parts", lambda a: (jnp.real(a), jnp.imag(a), jnp.conj(a), jnp.abs(a), jnp.angle(a)), (7,))
add("complex_make", lambda x, y: lax.complex(x, y) * (1 + 2j), (7,), (7,))
add_complex("complex_exp_log", lambda a: jnp.exp(a) + jnp.log(a) + jnp.expm1(a) + jnp.log1p(a), (7,))
add_complex("complex_roots", lambda a: jnp.sqrt(a) + lax.rsqrt(a) + a**3 + jnp.sign(a), (7,))
add_complex("complex_power", lambda a, b: a**b, (7,), (7,))
add_complex("complex_trigonometry", lambda a: jnp.sin(a) + jnp.cos(a) + jnp.tan(a) + jnp.sinh(a) + jnp.cosh(a) + jnp.tanh(a), (7,))
add_complex("complex_compare", lambda a, b: jnp.where(a == b, a, b) + jnp.where(a != b, a, 2 * b) + jnp.isfinite(a), (7,), (7,), gradient=False)
add_complex("complex_casts", lambda a: (jnp.real(a).astype(jnp.complex64), a.astype(jnp.complex64) + 1), (7,))
add_complex("complex_logistic", lambda a: jax.nn.sigmoid(a), (7,), gradient=False)

# Inverse functions, near 0 and where squares leave the range.
INVERSE = dict(acos=jnp.arccos, acosh=jnp.arccosh, asin=jnp.arcsin, asinh=jnp.arcsinh, atan=jnp.arctan, atanh=jnp.arctanh)
PARTS = [0.5, -2.0, 3e20, -7e30, np.inf, -np.inf]
EXTREMES = np.array([complex(re, im) for re in PARTS for im in PARTS], np.complex64)
for name, function in INVERSE.items():
    add_complex(f"complex_{name}", function, (7,))
    add(f"complex_{name}_of_extremes", function, gradient=False, extra=(EXTREMES,))

# Shapes and products.
add_complex("complex_shapes", lambda a: jnp.concatenate([a.T.reshape(2, 6), jnp.flip(a.reshape(2, 6), 1)])[1:3, ::2] + jnp.pad(a, 1)[:2, :3], (4, 3))
add_complex("complex_matmul", lambda a, b: a @ b, (4, 5), (5, 3))
add_complex("complex_einsum", lambda a, b: jnp.einsum("bij,bkj->bik", a, jnp.conj(b)), (2, 3, 4), (2, 5, 4))
add_complex("complex_sums", lambda a: jnp.sum(a, 0) + jnp.mean(a, 0) + jnp.prod(a, 0), (4, 3))
add_complex("complex_gather", lambda a: a[jnp.array([2, 0, 1])] + a.at[jnp.array([0, 2])].add(1j)[:3], (4, 3))
add_complex("complex_cumsum", lambda a: jnp.cumsum(a, 0), (5, 3))
add_complex("complex_conv", lambda a, b: jnp.convolve(a, b), (7,), (3,))
add_complex("complex_norm", lambda a: jnp.linalg.norm(a) + jnp.abs(jnp.vdot(a, a)), (7,))
add_complex("complex_dynamic_slice", lambda a: lax.dynamic_update_slice(a, lax.dynamic_slice(a, (1,), (2,)) * 2j, (3,)), (7,))
add_complex("complex_cholesky", lambda a: jnp.linalg.cholesky(a @ jnp.conj(a.T) + jnp.eye(3)), (3, 3), gradient=False)
add_complex("complex_solve", lambda a, b: jnp.linalg.solve(a + 5 * jnp.eye(3), b), (3, 3), (3, 2), gradient=False)

# Control.
add_complex("complex_scan", lambda a, b: lax.scan(lambda c, v: (c * v * 0.5 + v, jnp.abs(c)), a, b), (3,), (5, 3))
add_complex("complex_while", lambda a: lax.while_loop(lambda z: jnp.sum(jnp.abs(z)) < 50, lambda z: z * (1 + 1j) + 0.1, a), (4,), gradient=False)
add_complex("complex_cond", lambda a: lax.cond(jnp.real(a[0]) > 0, lambda z: z * 1j, jnp.conj, a), (4,))
add("mandelbrot", lambda x, y: lax.fori_loop(0, 8, lambda i, z: jnp.where(jnp.abs(z) < 4, z * z + x + 1j * y, z), jnp.zeros(9, jnp.complex64)), (9,), (9,), gradient=False)

# Fourier transforms.
add_complex("fft", jnp.fft.fft, (3, 8))
add_complex("ifft", jnp.fft.ifft, (3, 12))
for size in (1, 2, 3, 7, 15, 16, 30, 31, 64, 100, 101, 128, 210):
    add_complex(f"fft_{size}", lambda a: (jnp.fft.fft(a), jnp.fft.ifft(a)), (2, size), gradient=size in (7, 30))
    add(f"rfft_{size}", jnp.fft.rfft, (2, size), gradient=size in (7, 30))
    add_complex(f"irfft_{size}", lambda a, size=size: jnp.fft.irfft(a, size), (2, size // 2 + 1), gradient=size in (7, 30))
add("fft_1024", lambda x: jnp.abs(jnp.fft.rfft(x)), (1024,), gradient=False)
add_complex("fft_2d", lambda a: jnp.fft.ifft2(jnp.fft.fft2(a) * 2), (2, 6, 5))
add("rfft_2d", lambda x: jnp.fft.irfft2(jnp.fft.rfft2(x), (6, 5)) + jnp.abs(jnp.fft.rfftn(x)).sum(), (6, 5))
add_complex("fft_3d", jnp.fft.fftn, (3, 4, 5), gradient=False)
add("fft_convolve", lambda x, w: jax.scipy.signal.fftconvolve(x, w), (16,), (5,))
add("fft_shift", lambda x: jnp.fft.fftshift(jnp.fft.fft(x)) * jnp.fft.fftfreq(8), (8,))
add("dct", lambda x: jax.scipy.fft.dct(x) + jax.scipy.fft.idct(x), (3, 8))
add("spectrogram", lambda x: jax.scipy.signal.stft(x, nperseg=16)[2], (64,), gradient=False)
add("welch", lambda x: jax.scipy.signal.welch(x, nperseg=16)[1], (64,), gradient=False)
add("poisson_spectral", lambda f: jnp.real(jnp.fft.ifft(jnp.fft.fft(f - f.mean()) / (-(2 * jnp.pi * jnp.fft.fftfreq(16, 1 / 16)) ** 2).at[0].set(1.0))), (16,))
add("hilbert", lambda x: jnp.abs(jnp.fft.ifft(jnp.fft.fft(x) * jnp.where(jnp.arange(16) < 8, 2.0, 0.0))), (16,))
