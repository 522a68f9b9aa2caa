"""Attention whose scores are limited by a hyperbolic tangent (Gemma's soft cap): the op of it, the same in smaller ops, and its gradient."""
import numpy as np

from cases.attention import attend, attend_pages, inputs
from cases.attention_gradients import gradient
from cases.fused_attention import case
from harness import Case, Step, simple
import tensors
from tensors import Tensor


def capped(name, dtype, q, k, v=None, options="", softcap=1.5, scale=0.75, **more):
    """Scores are larger than what they are limited to."""
    return case(name, dtype, q, k, v, options=options, softcap=softcap, scale=scale, **more)


def forward():
    hidden = np.random.default_rng(7).random((2, 1, 70, 290)) < 0.5
    hidden[:, :, 2], hidden[:, :, :, 100:] = False, False
    q, k = (2, 4, 70, 32), (2, 2, 290, 32)
    for dtype in ("f16", "bf16", "f32"):
        yield capped(f"tiles_{dtype}", dtype, (1, 2, 131, 64), (1, 2, 201, 64), logsumexp=True)
        yield capped(f"whole_blocks_{dtype}", dtype, (1, 2, 128, 64), (1, 2, 256, 64))
        yield capped(f"wide_{dtype}", dtype, (1, 2, 70, 256), (1, 1, 180, 256), scale=0.25)
        yield capped(f"causal_{dtype}", dtype, (1, 4, 300, 32), (1, 2, 300, 32), options="causal", causal=True, logsumexp=True)
        yield capped(f"window_{dtype}", dtype, (1, 1, 300, 32), (1, 1, 420, 32), options="causal window = 150", causal=True, window=150)
        yield capped(f"mask_{dtype}", dtype, q, k, mask=Tensor("i1", hidden), logsumexp=True)
        yield capped(f"bias_{dtype}", dtype, q, k, mask=tensors.random("f32", (70, 290), 6, -3, 3))
        yield capped(f"sinks_{dtype}", dtype, q, k, options="causal", causal=True, sinks=Tensor("f32", [0.5, -1, 3, 0]), logsumexp=True)
        # Few queries, one and several, and enough keys for parts.
        yield capped(f"one_query_{dtype}", dtype, (2, 8, 1, 64), (2, 2, 333, 64), logsumexp=True)
        yield capped(f"few_queries_{dtype}", dtype, (2, 6, 3, 64), (2, 2, 700, 64), options="causal", causal=True)
        yield capped(f"long_{dtype}", dtype, (1, 4, 1, 16), (1, 1, 9000, 16), mask=tensors.random("f32", (9000,), 6, -3, 3))
    # Such that nothing is limited, and such that everything is.
    yield capped("far", "f32", (1, 2, 40, 32), (1, 2, 70, 32), softcap=1e4)
    yield capped("near", "bf16", (1, 2, 40, 32), (1, 2, 70, 32), softcap=0.0625)
    yield capped("scale_negative", "f16", (1, 2, 40, 32), (1, 2, 300, 32), scale=-0.75)
    yield capped("f64", "f64", (1, 2, 20, 8), (1, 1, 30, 8), options="causal", causal=True, logsumexp=True)
    # What is no multiple of 8 gets zeros behind it.
    yield capped("width_12", "f16", (1, 2, 40, 12), (1, 2, 70, 12))


def symbolic():
    """Of one module, all sizes, no keys and no queries among them."""
    for dtype in ("f16", "f32"):
        steps = []
        for queries, keys in ((1, 1), (5, 300), (130, 20), (0, 4), (70, 0), (65, 129)):
            given = inputs(dtype, (2, 4, queries, 32), (2, 2, keys, 32))
            wanted = attend(*(t.values for t in given), 0.75, logsumexp=True, causal=True, softcap=1.5)
            steps.append(Step(given, [(dtype, wanted[0]), ("f32", wanted[1])]))
        q, k = f"tensor<?x4x?x32x{dtype}>", f"tensor<?x2x?x32x{dtype}>"
        yield Case(f"symbolic_{dtype}", f"""  func.func @NAME(%q: {q}, %k: {k}, %v: {k}) -> ({q}, tensor<?x4x?xf32>) {{
    %r, %l = array.attention %q, %k, %v causal logsumexp softcap = 1.5 scale = 0.75 : ({q}, {k}, {k}) -> {q}, tensor<?x4x?xf32>
    return %r, %l : {q}, tensor<?x4x?xf32>
  }}
""", steps, "sum")


def paged():
    for name, dtype, queries in (("one", "bf16", 1), ("several", "f32", 3), ("many", "f16", 20)):
        lengths = (33, 50, 20)
        q, k, v = inputs(dtype, (3, 4, queries, 16), (12, 2, 16, 16), seed=40)
        table = Tensor("i32", np.random.default_rng(4).permutation(12).reshape(3, 4))
        given = [q, k, v, table, Tensor("i64", np.array(lengths))]
        wanted = attend_pages(*(t.values for t in given), 0.75, softcap=1.5)
        yield simple(f"paged_{name}", given, [(dtype, wanted)],
                     f"%r0 = array.paged_attention %0, %1, %2 table(%3 : {table.mlir}) lengths(%4 : tensor<3xi64>) softcap = 1.5 scale = 0.75 : "
                     f"({q.mlir}, {k.mlir}, {v.mlir}) -> {q.mlir}", "sum")


def written():
    """As a program writes it that knows no such op: divided, tangents, multiplied, masked; in f32 between conversions."""
    given = inputs("bf16", (2, 4, 70, 32), (2, 4, 130, 32))
    bias = tensors.random("f32", (70, 130), 6, -3, 3)
    q, k, v = (t.mlir for t in given)
    s, n = "tensor<2x4x70x130xf32>", "tensor<2x4x70x130xbf16>"
    wanted = attend(*(t.values for t in given), 0.75, bias.values, softcap=1.5)
    yield simple("written", given + [bias], [("bf16", wanted)], f"""
    %scale = array.constant dense<0.75> : tensor<f32>
    %cap = array.constant dense<1.5> : tensor<f32>
    %p = array.matmul %0, %1 transpose_b : ({q}, {k}) -> {s}
    %a = array.mul %p, %scale : ({s}, tensor<f32>) -> {s}
    %b = array.div %a, %cap : ({s}, tensor<f32>) -> {s}
    %c = array.tanh %b : {s}
    %d = array.mul %c, %cap : ({s}, tensor<f32>) -> {s}
    %e = array.add %d, %3 : ({s}, tensor<70x130xf32>) -> {s}
    %w = array.softmax %e axis = 3 : {s}
    %x = array.convert %w : {s} -> {n}
    %r0 = array.matmul %x, %2 : ({n}, {v}) -> {q}""", "sum")


def gradients():
    hidden = np.random.default_rng(7).random((2, 1, 70, 150)) < 0.5
    hidden[:, :, 2] = False
    q, k = (2, 4, 70, 32), (2, 2, 150, 32)
    bias, keys = tensors.random("f32", (4, 70, 150), 9, -1, 1), tensors.random("f32", (1, 1, 1, 150), 9, -1, 1)
    sinks = Tensor("f32", [0.5, -1, 3, 0])
    for dtype in ("f16", "bf16", "f32"):
        for name, options, shapes, more in (("plain", "", (q, k), {}), ("causal", "causal", ((1, 2, 300, 64), (1, 2, 300, 64)), dict(causal=True)),
                                            ("wide", "", ((1, 2, 70, 136), (1, 1, 90, 136)), {}),
                                            ("masked", "", (q, k), dict(mask=Tensor("i1", hidden))),
                                            ("bias", "", (q, k), dict(mask=bias, wants_mask=True)),
                                            ("bias_of_keys", "causal", (q, k), dict(mask=keys, wants_mask=True, causal=True)),
                                            ("sinks", "causal", (q, k), dict(sinks=sinks, to_logsumexp=True, causal=True))):
            yield gradient(f"softcap_{name}_{dtype}", dtype, *shapes, options=options, softcap=1.5, **more)
    open_q, open_k = "tensor<?x4x?x32xf16>", "tensor<?x2x?x32xf16>"
    yield gradient("softcap_open", "f16", q, k, softcap=1.5, types=[open_q, open_k, open_k, None, open_q])
    yield gradient("softcap_no_keys", "f16", (2, 4, 70, 32), (2, 2, 0, 32), softcap=1.5, types=[open_q, open_k, open_k, None, open_q])
    yield gradient("softcap_f64", "f64", (1, 4, 20, 8), (1, 2, 30, 8), options="causal", causal=True, softcap=0.5)


def cases():
    for group in (forward, symbolic, paged, written, gradients):
        yield from group()
