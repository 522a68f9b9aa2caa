"""Random numbers: the generators against their published answers, distributions against arithmetic on the same bits."""
import math
import statistics

import numpy as np

from harness import Case, Step, simple
from tensors import Tensor, mlir_type, round_bf16

U32 = np.uint32


def rotate(x, count):
    return (x << U32(count)) | (x >> U32(32 - count))


def threefry2x32(key, counter):
    """Salmon et al. 2011, 20 rounds; `counter` is a pair of arrays."""
    with np.errstate(over="ignore"):
        words = [U32(key[0]), U32(key[1]), U32(key[0]) ^ U32(key[1]) ^ U32(0x1BD11BDA)]
        x0, x1 = counter[0] + words[0], counter[1] + words[1]
        for group in range(5):
            for count in ((13, 15, 26, 6), (17, 29, 16, 24))[group % 2]:
                x0 = x0 + x1
                x1 = rotate(x1, count) ^ x0
            x0 = x0 + words[(group + 1) % 3]
            x1 = x1 + words[(group + 2) % 3] + U32(group + 1)
    return x0, x1


def philox4x32(key, counter):
    """10 rounds; `counter` is four arrays."""
    with np.errstate(over="ignore"):
        x, k = list(counter), [U32(key[0]), U32(key[1])]
        for _ in range(10):
            p0, p1 = x[0].astype(np.uint64) * np.uint64(0xD2511F53), x[2].astype(np.uint64) * np.uint64(0xCD9E8D57)
            high, low = (lambda p: (p >> np.uint64(32)).astype(U32)), (lambda p: p.astype(U32))
            x = [high(p1) ^ x[1] ^ k[0], low(p1), high(p0) ^ x[3] ^ k[1], low(p0)]
            k = [k[0] + U32(0x9E3779B9), k[1] + U32(0xBB67AE85)]
    return x


def words(*values):
    return [np.array([value], U32) for value in values]


def check_generators():
    """The known answers that the paper's authors publish (kat_vectors of Random123)."""
    ones = 0xFFFFFFFF
    for counter, key, answer in (((0, 0), (0, 0), (0x6B200159, 0x99BA4EFE)),
                                 ((ones, ones), (ones, ones), (0x1CB996FC, 0xBB002BE7)),
                                 ((0x243F6A88, 0x85A308D3), (0x13198A2E, 0x03707344), (0xC4923A9C, 0x483DF7A0))):
        assert tuple(int(x[0]) for x in threefry2x32(key, words(*counter))) == answer
    for counter, key, answer in (((0,) * 4, (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
                                 ((ones,) * 4, (ones, ones), (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
                                 ((0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344), (0xA4093822, 0x299F31D0),
                                  (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1))):
        assert tuple(int(x[0]) for x in philox4x32(key, words(*counter))) == answer


def bits(algorithm, key, shape, width, start=0):
    """What array.random_bits says; `start` counts blocks."""
    per_block = 1 if algorithm == "threefry" else 2 if width == 64 else 4
    number = np.arange(math.prod(shape), dtype=np.uint64)
    block, element = number // np.uint64(per_block) + np.uint64(start), number % np.uint64(per_block)
    high, low = (block >> np.uint64(32)).astype(U32), block.astype(U32)
    if algorithm == "threefry":
        w0, w1 = threefry2x32(key, (high, low))
        word = w0 ^ w1
    else:
        zero = np.zeros_like(low)
        made = np.stack(philox4x32(key, (low, high, zero, zero)))
        first = (element * np.uint64(4 // per_block)).astype(np.int64)
        w0, w1 = (np.take_along_axis(made, (first + offset)[None] % 4, 0)[0] for offset in (0, 1))
        word = w0
    if width == 64:
        return ((w0.astype(np.uint64) << np.uint64(32)) | w1).reshape(shape)
    return word.astype({8: np.uint8, 16: np.uint16, 32: U32}[width]).reshape(shape)


def unit(algorithm, key, shape, digits):
    width = 64 if digits == 53 else 32
    return (bits(algorithm, key, shape, width).astype(np.uint64) >> np.uint64(width - digits)).astype(np.float64) * 2.0 ** -digits


DIGITS = {"f16": 11, "bf16": 8, "f32": 24, "f64": 53}
KEY = (0x12345678, 0x9ABCDEF0)
SHAPE = (5, 67)


def make_key(values=KEY):
    return Tensor("u32", np.array(values, U32))


def generators():
    key = make_key()
    for algorithm in ("threefry", "philox"):
        word = "" if algorithm == "threefry" else " algorithm = philox"
        for width in (8, 16, 32, 64):
            yield simple(f"{algorithm}_u{width}", [key], [(f"u{width}", bits(algorithm, KEY, SHAPE, width))],
                         f"%r0 = array.random_bits %0{word} : {key.mlir} -> {mlir_type(f'u{width}', SHAPE)}")
        for shape in ((), (1,), (0,), (3, 0), (2, 1, 2, 1, 2, 1, 2, 3), (7, 3, 8), (37, 4, 1), (1030,), (3, 2)):
            yield simple(f"{algorithm}_{len(shape)}_{math.prod(shape)}", [key], [("u32", bits(algorithm, KEY, shape, 32))],
                         f"%r0 = array.random_bits %0{word} : {key.mlir} -> {mlir_type('u32', shape)}")
        # Blocks whose number crosses 2**32, so that its high word matters.
        start = 2 ** 32 - 50
        yield simple(f"{algorithm}_counter", [key, Tensor("u64", np.uint64(start))], [("u64", bits(algorithm, KEY, (200,), 64, start))],
                     f"%r0 = array.random_bits %0 counter(%1 : tensor<ui64>){word} : {key.mlir} -> tensor<200xui64>")
        steps = [Step([make_key((n, 7)), Tensor("f32", np.zeros((n, 3)))], [("u32", bits(algorithm, (n, 7), (n, 3), 32))])
                 for n in (1, 5, 0, 300)]
        yield Case(f"{algorithm}_dynamic", f"""  func.func @NAME(%0: tensor<2xui32>, %1: tensor<?x3xf32>) -> (tensor<?x3xui32>) {{
    %n = array.dim %1, 0 : tensor<?x3xf32>
    %r = array.random_bits %0 sizes(%n){word} : tensor<2xui32> -> tensor<?x3xui32>
    return %r : tensor<?x3xui32>
  }}
""", steps)
    # Neighbours that share a block, in vectors of each length and beside other operands.
    for dtype, digits in DIGITS.items():
        u = unit("philox", KEY, (6, 72), digits)
        yield simple(f"philox_uniform_{dtype}", [key], [(dtype, u)],
                     f"%r0 = array.random_uniform %0 algorithm = philox : {key.mlir} -> {mlir_type(dtype, (6, 72))}", "exact")
        x = Tensor(dtype, np.linspace(-4, 4, 6 * 72).reshape(6, 72))
        kept = np.where(unit("philox", KEY, (6, 72), 24) < 0.5, x.values, 0)
        yield simple(f"philox_dropout_{dtype}", [key, x], [(dtype, kept)],
                     f"""%p = array.constant dense<0.5> : tensor<f32>
                         %zero = array.constant dense<0.0> : tensor<{dtype}>
                         %m = array.random_bernoulli %0, %p algorithm = philox : ({key.mlir}, tensor<f32>) -> tensor<6x72xi1>
                         %r0 = array.select %m, %1, %zero : (tensor<6x72xi1>, {x.mlir}, tensor<{dtype}>) -> {x.mlir}""", "exact")
    # Transposed, in parts and summed up, numbers stay those of their elements.
    u = unit("philox", KEY, (24, 40), 24)
    drawn = f"%u = array.random_uniform %0 algorithm = philox : {key.mlir} -> tensor<24x40xf32>"
    yield simple("philox_transposed", [key], [("f32", u.T)],
                 f"{drawn}\n%r0 = array.transpose %u permutation = [1, 0] : tensor<24x40xf32> -> tensor<40x24xf32>", "exact")
    yield simple("philox_slice", [key], [("f32", u[3:20, 5:36])],
                 f"{drawn}\n%r0 = array.slice %u [3:20, 5:36] : tensor<24x40xf32> -> tensor<17x31xf32>", "exact")
    yield simple("philox_sum_rows", [key], [("f32", u.sum(1))],
                 f"{drawn}\n%r0 = array.reduce sum, %u axes = [1] : tensor<24x40xf32> -> tensor<24xf32>", "sum")
    yield simple("philox_sum_columns", [key], [("f32", u.sum(0))],
                 f"{drawn}\n%r0 = array.reduce sum, %u axes = [0] : tensor<24x40xf32> -> tensor<40xf32>", "sum")
    # The published answer of Threefry itself, through the op.
    pi = Tensor("u64", np.uint64(0x243F6A8885A308D3))
    yield simple("threefry_published", [make_key((0x13198A2E, 0x03707344)), pi], [("u64", np.array([0xC4923A9C483DF7A0], np.uint64))],
                 "%r0 = array.random_bits %0 counter(%1 : tensor<ui64>) : tensor<2xui32> -> tensor<1xui64>")
    yield simple("philox_published", [make_key((0, 0))], [("u32", np.array([0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8], U32))],
                 "%r0 = array.random_bits %0 algorithm = philox : tensor<2xui32> -> tensor<4xui32>")
    yield simple("philox_published_pairs", [make_key((0, 0))],
                 [("u64", np.array([0x6627E8D5E169C58D, 0xBC57AC4C9B00DBD8], np.uint64))],
                 "%r0 = array.random_bits %0 algorithm = philox : tensor<2xui32> -> tensor<2xui64>")
    pairs = bits("threefry", KEY, (4,), 64)
    split = np.stack([pairs >> np.uint64(32), pairs & np.uint64(0xFFFFFFFF)], 1).astype(U32)
    yield simple("split", [key], [("u32", split)], f"%r0 = array.random_split %0 num = 4 : {key.mlir} -> tensor<4x2xui32>")


def distributions():
    key = make_key()
    for dtype, digits in DIGITS.items():
        result = mlir_type(dtype, SHAPE)
        u = unit("threefry", KEY, SHAPE, digits)
        yield simple(f"uniform_{dtype}", [key], [(dtype, u)], f"%r0 = array.random_uniform %0 : {key.mlir} -> {result}", "exact")
        scaled = u * 5 - 2
        yield simple(f"uniform_range_{dtype}", [key], [(dtype, scaled)],
                     f"%r0 = array.random_uniform %0 low = -2.0 high = 3.0 : {key.mlir} -> {result}", "sum")
    inverse = np.vectorize(statistics.NormalDist().inv_cdf, otypes=[np.float64])
    for dtype in DIGITS:
        result = mlir_type(dtype, SHAPE)
        digits = 53 if dtype == "f64" else 24
        u = unit("threefry", KEY, SHAPE, digits)
        yield simple(f"normal_{dtype}", [key], [(dtype, inverse((2 * u - 1 + 1) / 2 + 2.0 ** -60))],
                     f"%r0 = array.random_normal %0 : {key.mlir} -> {result}", "sum")
        yield simple(f"gumbel_{dtype}", [key], [(dtype, -np.log(-np.log(np.maximum(u, 2.0 ** -126))))],
                     f"%r0 = array.random_gumbel %0 : {key.mlir} -> {result}", "sum")
        low, high = math.erf(-1.5 / math.sqrt(2)), math.erf(0.5 / math.sqrt(2))
        yield simple(f"truncated_normal_{dtype}", [key], [(dtype, inverse((u * (high - low) + low + 1) / 2))],
                     f"%r0 = array.random_truncated_normal %0 lower = -1.5 upper = 0.5 : {key.mlir} -> {result}", "sum")
    u = unit("threefry", KEY, SHAPE, 24)
    yield simple("bernoulli", [key, Tensor("f32", 0.3)], [("i1", u < Tensor("f32", 0.3).values)],
                 f"%r0 = array.random_bernoulli %0, %1 : ({key.mlir}, tensor<f32>) -> {mlir_type('i1', SHAPE)}")
    chances = Tensor("f32", np.linspace(0, 1, SHAPE[1]))
    yield simple("bernoulli_each", [key, chances], [("i1", u < chances.values)],
                 f"%r0 = array.random_bernoulli %0, %1 : ({key.mlir}, {chances.mlir}) -> {mlir_type('i1', SHAPE)}")
    logits = Tensor("f32", np.log(np.array([[0.1, 0.2, 0.7, 1e-9]] * 50)))
    noise = -np.log(-np.log(np.maximum(unit("threefry", KEY, (50, 4), 24), 2.0 ** -126)))
    yield simple("categorical", [key, logits], [("i32", np.argmax(logits.values + noise, 1))],
                 f"%r0 = array.random_categorical %0, %1 axis = 1 : ({key.mlir}, {logits.mlir}) -> tensor<50xi32>")
    # Dropout: the mask is computed where it is used.
    x = Tensor("f32", np.linspace(-3, 3, SHAPE[0] * SHAPE[1]).reshape(SHAPE))
    yield simple("dropout", [key, x], [("f32", np.where(u < 0.5, x.values * 2, 0))],
                 f"""%p = array.constant dense<0.5> : tensor<f32>
                     %two = array.constant dense<2.0> : tensor<f32>
                     %zero = array.constant dense<0.0> : tensor<f32>
                     %m = array.random_bernoulli %0, %p : ({key.mlir}, tensor<f32>) -> {mlir_type('i1', SHAPE)}
                     %s = array.mul %1, %two : ({x.mlir}, tensor<f32>) -> {x.mlir}
                     %r0 = array.select %m, %s, %zero : ({mlir_type('i1', SHAPE)}, {x.mlir}, tensor<f32>) -> {x.mlir}""", "exact")


def cases():
    check_generators()
    for make in (generators, distributions):
        yield from make()
