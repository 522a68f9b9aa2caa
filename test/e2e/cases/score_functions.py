"""Masks and biases of attention that are made of vectors, positions and tables: kernels compute what each score needs, forward and backward, of one
layer or of several that share a mask."""
import numpy as np

from cases.attention import attend, inputs
from cases.vjp_attention import attention_gradients
from harness import Case, Step, function
import tensors
from tensors import Tensor, mlir_type


class Sizes:
    """Those of one program: `text` has a `?` where a size is symbolic."""

    def __init__(self, batch, heads, groups, queries, keys, width, symbolic=False):
        self.batch, self.heads, self.groups, self.queries, self.keys, self.width = batch, heads, groups, queries, keys, width
        self.b, self.q, self.k = ("?" if symbolic else str(size) for size in (batch, queries, keys))
        self.symbolic = symbolic

    def type(self, *dims):
        *shape, element = dims
        return f"tensor<{'x'.join([*(str(dim) for dim in shape), element])}>"

    def iota(self, name, like, argument, dim, shape):
        """Positions; of a symbolic size, that of `argument`'s dim."""
        size = f" sizes(%n{name})" if self.symbolic else ""
        count = f"    %n{name} = array.dim %{argument}, {dim} : {like}\n" if self.symbolic else ""
        return f"{count}    %{name} = array.iota axis = 0{size} : {shape}\n"


def positions(s):
    """%i of queries as a column, and %j of keys."""
    q, k = s.type(s.b, s.heads, s.q, s.width, s.element), s.type(s.b, s.groups, s.k, s.width, s.element)
    return s.iota("i", q, "q", 2, s.type(s.q, 1, "i32")) + s.iota("j", k, "k", 2, s.type(s.k, "i32"))


def distances(s):
    """%d: how far keys are behind their queries, and %f in f32."""
    column, row, plane = s.type(s.q, 1, "i32"), s.type(s.k, "i32"), s.type(s.q, s.k, "i32")
    return f"""{positions(s)}    %d = array.sub %j, %i : ({row}, {column}) -> {plane}
    %f = array.convert %d : {plane} -> {s.type(s.q, s.k, 'f32')}
"""


def far(s):
    return np.arange(s.keys) - np.arange(s.queries)[:, None]


def within(s):
    """%in: which keys are before the length of their sequence."""
    lengths, row = s.type(s.b, 1, 1, 1, "i32"), s.type(s.k, "i32")
    return f"""    %length = array.expand_dims %p axes = [1, 2, 3] : {s.type(s.b, 'i32')} -> {lengths}
    %in = array.compare lt, %j, %length : ({row}, {lengths}) -> {s.type(s.b, 1, 1, s.k, 'i1')}
"""


def alibi(s):
    slopes = tensors.random("f32", (s.heads,), 31, -0.5, 0)
    whole = s.type(s.heads, s.q, s.k, "f32")
    return [("%s", slopes)], f"""{distances(s)}    %c = array.reshape %s : {slopes.mlir} -> tensor<{s.heads}x1x1xf32>
    %m = array.mul %c, %f : (tensor<{s.heads}x1x1xf32>, {s.type(s.q, s.k, 'f32')}) -> {whole}
""", whole, slopes.values[:, None, None] * far(s)


def buckets(s):
    """A table of biases by the logarithm of the distance, as T5 has them."""
    table = tensors.random("f32", (32, s.heads), 32, -2, 2)
    plane, floats, truth = s.type(s.q, s.k, "i32"), s.type(s.q, s.k, "f32"), s.type(s.q, s.k, "i1")
    gathered, whole = s.type(s.q, s.k, s.heads, "f32"), s.type(s.heads, s.q, s.k, "f32")
    text = f"""{distances(s)}    %zero = array.constant dense<0> : tensor<i32>
    %eight = array.constant dense<8> : tensor<i32>
    %most = array.constant dense<15> : tensor<i32>
    %half = array.constant dense<16> : tensor<i32>
    %scale = array.constant dense<2.8853900817779268> : tensor<f32>
    %eighth = array.constant dense<0.125> : tensor<f32>
    %little = array.constant dense<0.0625> : tensor<f32>
    %later = array.compare gt, %d, %zero : ({plane}, tensor<i32>) -> {truth}
    %base = array.select %later, %half, %zero : ({truth}, tensor<i32>, tensor<i32>) -> {plane}
    %a = array.abs %d : {plane}
    %isnear = array.compare lt, %a, %eight : ({plane}, tensor<i32>) -> {truth}
    %x = array.convert %a : {plane} -> {floats}
    %y = array.mul %x, %eighth : ({floats}, tensor<f32>) -> {floats}
    %z = array.add %y, %little : ({floats}, tensor<f32>) -> {floats}
    %l = array.log %z : {floats}
    %t = array.mul %l, %scale : ({floats}, tensor<f32>) -> {floats}
    %n = array.convert %t : {floats} -> {plane}
    %o = array.add %n, %eight : ({plane}, tensor<i32>) -> {plane}
    %p = array.min %o, %most : ({plane}, tensor<i32>) -> {plane}
    %w = array.select %isnear, %a, %p : ({truth}, {plane}, {plane}) -> {plane}
    %u = array.add %base, %w : {plane}
    %g = array.take %tab[%u] axis = 0 : ({table.mlir}, {plane}) -> {gathered}
    %m = array.transpose %g permutation = [2, 0, 1] : {gathered} -> {whole}
"""
    distance = np.abs(far(s))
    # By the sixteenth no logarithm is a whole number, which f32 might miss.
    later = np.minimum(np.trunc(np.log(distance / 8 + 0.0625) * 2.8853900817779268) + 8, 15)
    bucket = np.where(far(s) > 0, 16, 0) + np.where(distance < 8, distance, later).astype(int)
    return [("%tab", table)], text, whole, table.values[bucket].transpose(2, 0, 1)


def documents(s):
    """Queries see the keys of their own document."""
    generator = np.random.default_rng(33)
    of_queries, of_keys = (np.sort(generator.integers(0, 3, (s.batch, size)), -1) for size in (s.queries, s.keys))
    a, b = s.type(s.b, s.q, "i32"), s.type(s.b, s.k, "i32")
    column, row, whole = s.type(s.b, 1, s.q, 1, "i32"), s.type(s.b, 1, 1, s.k, "i32"), s.type(s.b, 1, s.q, s.k, "i1")
    text = f"""    %a = array.expand_dims %dq axes = [1, 3] : {a} -> {column}
    %c = array.expand_dims %dk axes = [1, 2] : {b} -> {row}
    %m = array.compare eq, %a, %c : ({column}, {row}) -> {whole}
"""
    seen = of_queries[:, None, :, None] == of_keys[:, None, None, :]
    return [("%dq", Tensor("i32", of_queries), a), ("%dk", Tensor("i32", of_keys), b)], text, whole, seen


def prefix(s):
    """Causal, but that all queries see the first keys of each sequence."""
    lengths = np.random.default_rng(34).integers(0, max(s.keys, 1), (s.batch,))
    given, column, row = s.type(s.b, "i32"), s.type(s.q, 1, "i32"), s.type(s.k, "i32")
    plane, wide, whole = s.type(s.q, s.k, "i1"), s.type(s.b, 1, 1, s.k, "i1"), s.type(s.b, 1, s.q, s.k, "i1")
    text = f"""{positions(s)}    %c = array.compare le, %j, %i : ({row}, {column}) -> {plane}
{within(s)}    %m = array.or %c, %in : ({plane}, {wide}) -> {whole}
"""
    seen = (far(s) <= 0) | (np.arange(s.keys) < lengths[:, None, None, None])
    return [("%p", Tensor("i32", lengths), given)], text, whole, seen


def padding(s):
    """A large negative number at keys behind a sequence's length."""
    lengths = np.random.default_rng(35).integers(min(1, s.keys), s.keys + 1, (s.batch,))
    given, wide, whole = s.type(s.b, "i32"), s.type(s.b, 1, 1, s.k, "i1"), s.type(s.b, 1, 1, s.k, "f32")
    text = f"""{positions(s)}{within(s)}    %shown = array.constant dense<0.0> : tensor<f32>
    %hidden = array.constant dense<-1.0e9> : tensor<f32>
    %m = array.select %in, %shown, %hidden : ({wide}, tensor<f32>, tensor<f32>) -> {whole}
"""
    return [("%p", Tensor("i32", lengths), given)], text, whole, np.where(np.arange(s.keys) < lengths[:, None, None, None], 0, -1e9)


def combined(s):
    """Slopes where documents agree and a key is within its sequence; minus infinity elsewhere, for all keys of some queries."""
    arguments, of_documents, seen_type, agree = documents(s)
    lengths = np.random.default_rng(36).integers(0, s.keys + 1, (s.batch,))
    slopes = tensors.random("f32", (s.heads,), 37, -0.5, 0)
    given, row, wide, whole = s.type(s.b, "i32"), s.type(s.k, "i32"), s.type(s.b, 1, 1, s.k, "i1"), s.type(s.b, s.heads, s.q, s.k, "f32")
    biases, both = s.type(s.heads, s.q, s.k, "f32"), s.type(s.b, 1, s.q, s.k, "i1")
    text = f"""{of_documents.replace('%m =', '%same =')}{distances(s)}{within(s)}    %both = array.and %same, %in : ({seen_type}, {wide}) -> {both}
    %c1 = array.reshape %s : {slopes.mlir} -> tensor<{s.heads}x1x1xf32>
    %bias = array.mul %c1, %f : (tensor<{s.heads}x1x1xf32>, {s.type(s.q, s.k, 'f32')}) -> {biases}
    %hidden = array.constant dense<0xFF800000> : tensor<f32>
    %m = array.select %both, %bias, %hidden : ({both}, {biases}, tensor<f32>) -> {whole}
"""
    seen = agree & (np.arange(s.keys) < lengths[:, None, None, None])
    values = np.where(seen, slopes.values[:, None, None] * far(s), -np.inf)
    return arguments + [("%p", Tensor("i32", lengths), given), ("%s", slopes)], text, whole, values


MASKS = dict(alibi=alibi, buckets=buckets, documents=documents, prefix=prefix, padding=padding, combined=combined)


def program(mask, dtype, sizes, options="", layers=1):
    """The text of one function, what it gets and what the mask is; each layer's result is the next one's queries."""
    sizes.element = dtype
    q, k = sizes.type(sizes.b, sizes.heads, sizes.q, sizes.width, dtype), sizes.type(sizes.b, sizes.groups, sizes.k, sizes.width, dtype)
    more, text, whole, values = MASKS[mask](sizes)
    arguments = [("%q", q), ("%k", k), ("%v", k)] + [(name, type[0] if type else tensor.mlir) for name, tensor, *type in more]
    given = inputs(dtype, (sizes.batch, sizes.heads, sizes.queries, sizes.width), (sizes.batch, sizes.groups, sizes.keys, sizes.width))
    query = "%q"
    for layer in range(layers):
        text += f"    %r{layer} = array.attention {query}, %k, %v mask(%m : {whole}) {options} scale = 0.25 : ({q}, {k}, {k}) -> {q}\n"
        query = f"%r{layer}"
    body = function("", arguments, [(query, q)], text.rstrip("\n"))
    return body, given, [tensor for _, tensor, *_ in more], values


def case(name, mask, dtype, sizes, options="", **more):
    text, given, others, values = program(mask, dtype, sizes, options)
    wanted = attend(*(t.values for t in given), 0.25, values, **more)
    return Case(f"score_{name}", text, [Step(given + others, [(dtype, wanted)])], "sum")


def forward():
    for mask in MASKS:
        for dtype in ("bf16", "f32"):
            yield case(f"{mask}_{dtype}", mask, dtype, Sizes(2, 4, 2, 70, 150, 32))
        yield case(f"{mask}_equal", mask, "f16", Sizes(16, 16, 16, 16, 16, 16))
        yield case(f"{mask}_ones", mask, "f16", Sizes(1, 1, 1, 1, 1, 8))
        yield case(f"{mask}_one_key", mask, "bf16", Sizes(2, 2, 1, 20, 1, 16))
        yield case(f"{mask}_decode", mask, "f16", Sizes(3, 4, 2, 1, 290, 32))
        yield case(f"{mask}_decode_f32", mask, "f32", Sizes(3, 4, 2, 1, 290, 32))
        yield case(f"{mask}_few", mask, "bf16", Sizes(2, 4, 1, 5, 90, 64))
    yield case("alibi_causal", "alibi", "bf16", Sizes(1, 2, 2, 200, 200, 64), "causal", causal=True)
    yield case("documents_causal_window", "documents", "f16", Sizes(2, 2, 1, 150, 150, 32), "causal window = 40", causal=True, window=40)
    yield case("buckets_wide", "buckets", "f16", Sizes(1, 2, 2, 140, 130, 128))


def layers():
    for mask, dtype in (("alibi", "f32"), ("documents", "f32"), ("combined", "f32")):
        text, given, others, values = program(mask, dtype, Sizes(2, 4, 2, 70, 70, 32), layers=3)
        query, key, value = (t.values for t in given)
        for _ in range(3):
            query = attend(query, key, value, 0.25, values)
        yield Case(f"score_layers_{mask}", text, [Step(given + others, [(dtype, query)])], "model")


def symbolic():
    """Of one module, all sizes; no keys, no queries and no batch among them."""
    for mask in MASKS:
        steps = []
        for batch, queries, keys in ((1, 1, 1), (2, 5, 130), (1, 64, 64), (3, 70, 20), (2, 0, 4), (2, 40, 0), (0, 3, 3), (4, 4, 4), (2, 130, 131)):
            text, given, others, values = program(mask, "f16", Sizes(batch, 4, 2, queries, keys, 32, symbolic=True))
            steps.append(Step(given + others, [("f16", attend(*(t.values for t in given), 0.25, values))]))
        yield Case(f"score_symbolic_{mask}", text, steps, "sum")


def gradients():
    """Of queries, keys and values; the mask is made anew in each kernel."""
    for mask, dtype, sizes, options, more in (
            *((mask, "bf16", Sizes(2, 4, 2, 70, 150, 32), "", {}) for mask in MASKS), ("combined", "f32", Sizes(2, 4, 2, 40, 70, 16), "", {}),
            ("alibi", "f16", Sizes(1, 2, 2, 150, 150, 128), "causal", dict(causal=True)), ("documents", "f16", Sizes(16, 16, 16, 16, 16, 16), "", {}),
            ("alibi", "f16", Sizes(1, 2, 2, 40, 70, 192), "", {}), ("prefix", "f32", Sizes(1, 1, 1, 1, 1, 8), "", {})):
        text, given, others, values = program(mask, dtype, sizes, options)
        cotangent = tensors.random(dtype, (sizes.batch, sizes.heads, sizes.queries, sizes.width), 11, -1, 1)
        wanted = attention_gradients(*(t.values for t in given), cotangent.values, 0.25, mask=values, **more)
        name = f"score_gradient_{mask}_{dtype}_{sizes.width}"
        yield Case(name, text, [Step([*given, *others, cotangent], [(dtype, g) for g in wanted[:3]], "_vjp")], "model", gradients=(":0,1,2",))
    # Two layers of one mask, whose slopes want a gradient, too: kernels of the mask's gradient have a number for each score.
    sizes = Sizes(2, 4, 2, 40, 70, 32)
    text, given, (slopes,), values = program("alibi", "f32", sizes)
    cotangent = tensors.random("f32", (2, 4, 40, 32), 11, -1, 1)
    wanted = attention_gradients(*(t.values for t in given), cotangent.values, 0.25, mask=values)
    of_slopes = (wanted[3] * far(sizes)).sum((1, 2))
    yield Case("score_gradient_of_slopes", text, [Step([*given, slopes, cotangent], [("f32", g) for g in (*wanted[:3], of_slopes)], "_vjp")], "model",
               gradients=(":0,1,2,3",))


def cases():
    for group in (forward, layers, symbolic, gradients):
        yield from group()
