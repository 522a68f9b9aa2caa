"""Attention of f32 that is one kernel where a target has one: several tiles and blocks, sizes of no multiple, all that the op says."""
import numpy as np

from cases.attention import attend, inputs
from cases.fused_attention import MASKS, case, equal_cases, mask_cases, symbolic_wanted
from cases.vjp_attention import attention_gradients
from harness import Case, Step, function, simple
import tensors
from tensors import Tensor, mlir_type


def shapes():
    yield case("single_one_tile", "f32", (1, 1, 128, 64), (1, 1, 128, 64))
    yield case("single_odd_lengths", "f32", (1, 2, 131, 64), (1, 2, 201, 64), logsumexp=True)
    yield case("single_few_keys", "f32", (2, 1, 70, 64), (2, 1, 3, 64))
    yield case("single_one_key", "f32", (1, 2, 17, 64), (1, 2, 1, 64))
    yield case("single_waves", "f32", (1, 66, 200, 8), (1, 66, 200, 8), options="causal", causal=True)
    for width, queries, keys in ((8, 130, 190), (16, 40, 70), (24, 33, 90), (40, 70, 150), (80, 70, 200), (96, 20, 120), (128, 140, 180), (136, 20, 70),
                                 (192, 70, 100), (256, 70, 90)):
        yield case(f"single_wide_{width}", "f32", (1, 2, queries, width), (1, 2, keys, width), logsumexp=True)
    yield case("single_narrow_values", "f32", (1, 2, 70, 128), (1, 2, 150, 128), (1, 2, 150, 24))
    yield case("single_wide_values", "f32", (1, 2, 70, 40), (1, 2, 150, 40), (1, 2, 150, 192))
    yield case("single_grouped", "f32", (2, 6, 33, 64), (2, 2, 70, 64))
    yield case("single_one_key_head", "f32", (2, 4, 33, 32), (2, 1, 70, 32))
    yield case("single_no_batch", "f32", (3, 33, 16), (3, 40, 16))
    yield case("single_two_batch_dims", "f32", (2, 2, 2, 33, 16), (2, 2, 1, 40, 16), options="causal", causal=True)
    yield case("single_scale_negative", "f32", (1, 2, 40, 32), (1, 2, 300, 32), scale=-0.5)
    yield case("single_scale_zero", "f32", (1, 2, 40, 32), (1, 2, 300, 32), scale=0.0, logsumexp=True)
    # What is no multiple of 8 gets zeros behind it.
    yield case("single_width_12", "f32", (1, 2, 40, 12), (1, 2, 70, 12))


def digits():
    """Numbers whose lower digits a sum needs: large ones that cancel, and many of one sign."""
    generator = np.random.default_rng(3)
    q, k = (Tensor("f32", np.round(generator.uniform(-1, 1, shape) * 2 ** 23) / 2 ** 20) for shape in ((1, 2, 40, 64), (1, 2, 70, 64)))
    v = Tensor("f32", generator.uniform(1, 2, (1, 2, 70, 64)).astype(np.float32))
    yield simple("single_large_scores", [q, k, v], [("f32", attend(q.values, k.values, v.values, 0.01))],
                 f"%r0 = array.attention %0, %1, %2 scale = 0.01 : ({q.mlir}, {k.mlir}, {v.mlir}) -> {q.mlir}", "sum")
    keys = Tensor("f32", np.zeros((1, 1, 2000, 8)))
    values = Tensor("f32", generator.uniform(1, 2, (1, 1, 2000, 8)).astype(np.float32))
    few = Tensor("f32", generator.uniform(-1, 1, (1, 1, 16, 8)).astype(np.float32))
    yield simple("single_mean", [few, keys, values], [("f32", attend(few.values, keys.values, values.values, 1))],
                 f"%r0 = array.attention %0, %1, %2 scale = 1.0 : ({few.mlir}, {keys.mlir}, {values.mlir}) -> {few.mlir}", "composite")


def equal_sizes():
    yield from equal_cases("single", "f32", "f32")
    yield case("single_ones", "f32", (1, 1, 16, 8), (1, 1, 1, 8), logsumexp=True)


def hidden_keys():
    yield case("single_causal", "f32", (1, 2, 300, 64), (1, 2, 300, 64), options="causal", causal=True)
    yield case("single_causal_wide", "f32", (1, 1, 100, 128), (1, 1, 250, 128), options="causal", causal=True, logsumexp=True)
    yield case("single_causal_more_queries", "f32", (1, 2, 200, 32), (1, 2, 70, 32), options="causal", causal=True, logsumexp=True)
    for offset in (-400, -20, 5, 2**31 - 1):
        yield case(f"single_offset_{offset}", "f32", (1, 1, 150, 32), (1, 1, 180, 32), options="causal", causal=True, offset=offset, logsumexp=True)
    for window in (1, 30, 1000):
        yield case(f"single_window_{window}", "f32", (1, 1, 200, 32), (1, 1, 320, 32), options=f"causal window = {window}", causal=True,
                   window=window)


def masks():
    yield from mask_cases("single_", "f32", "f32", 70, MASKS, unseeing=2)
    q, k = (2, 4, 70, 32), (2, 2, 290, 32)
    sinks = Tensor("f32", [-np.inf, -1, 80, 0])
    yield case("single_sinks", "f32", q, k, sinks=sinks, logsumexp=True)
    yield case("single_sinks_causal", "f32", q, k, options="causal window = 4", sinks=sinks, causal=True, window=4, offset=-30, logsumexp=True)
    yield case("single_sinks_masked", "f32", q, k, sinks=sinks, mask=tensors.random("f32", (70, 290), 6, -1, 1), logsumexp=True)


def symbolic():
    """Of one module, all sizes, no keys and no queries among them."""
    head = "%q: tensor<?x4x?x32xf32>, %k: tensor<?x2x?x32xf32>, %v: tensor<?x2x?x32xf32>"
    types = "(tensor<?x4x?x32xf32>, tensor<?x2x?x32xf32>, tensor<?x2x?x32xf32>) -> tensor<?x4x?x32xf32>, tensor<?x4x?xf32>"
    for name, options, more in (("plain", "", {}), ("causal", "causal", dict(causal=True)),
                                ("window", "causal window = 40", dict(causal=True, window=40))):
        steps = []
        for queries, keys in ((1, 1), (5, 300), (128, 128), (130, 20), (0, 4), (65, 129), (70, 0), (1, 200), (200, 200)):
            given = inputs("f32", (2, 4, queries, 32), (2, 2, keys, 32))
            wanted = attend(*(t.values for t in given), 0.25, logsumexp=True, **more)
            steps.append(Step(given, [("f32", wanted[0]), ("f32", wanted[1])]))
        yield Case(f"single_symbolic_{name}", f"""  func.func @NAME({head}) -> (tensor<?x4x?x32xf32>, tensor<?x4x?xf32>) {{
    %r, %l = array.attention %q, %k, %v {options} logsumexp scale = 0.25 : {types}
    return %r, %l : tensor<?x4x?x32xf32>, tensor<?x4x?xf32>
  }}
""", steps, "sum")


def moved():
    """Queries, keys and values out of the rows of one product, and a result whose heads follow one another in rows; one that begins between
    16 bytes."""
    for batch, tokens, heads, width in ((2, 131, 3, 64), (16, 16, 16, 16), (3, 40, 1, 8)):
        x = tensors.random("f32", (batch, tokens, 3 * heads * width), 4, -1, 1)
        parts = x.values.reshape(batch, tokens, 3, heads, width).transpose(2, 0, 3, 1, 4)
        wanted = attend(*parts, 0.25).transpose(0, 2, 1, 3)
        row, split, swapped = (mlir_type("f32", shape) for shape in ((batch, tokens, heads * width), (batch, tokens, heads, width),
                                                                    (batch, heads, tokens, width)))
        lines = []
        for i in range(3):
            lines.append(f"%s{i} = array.slice %0 [:, :, {i * heads * width}:{(i + 1) * heads * width}] : {x.mlir} -> {row}")
            lines.append(f"%h{i} = array.reshape %s{i} : {row} -> {split}")
            lines.append(f"%t{i} = array.transpose %h{i} permutation = [0, 2, 1, 3] : {split} -> {swapped}")
        lines.append(f"%a = array.attention %t0, %t1, %t2 scale = 0.25 : ({swapped}, {swapped}, {swapped}) -> {swapped}")
        lines.append(f"%m = array.transpose %a permutation = [0, 2, 1, 3] : {swapped} -> {split}")
        lines.append(f"%r0 = array.reshape %m : {split} -> {row}")
        yield simple(f"single_packed_{tokens}", [x], [("f32", wanted.reshape(batch, tokens, heads * width))], "\n".join(lines), "sum")
    q, k = (2, 4, 30, 16), (2, 2, 50, 16)
    size = int(np.prod(k))
    queries, _, values = inputs("f32", q, k)
    keys = tensors.random("f32", (size + 6,), 5, -1, 1)
    row, view = mlir_type("f32", (size,)), mlir_type("f32", k)
    yield simple("single_unaligned", [queries, keys, values], [("f32", attend(queries.values, keys.values[2:2 + size].reshape(k), values.values, 0.25))],
                 f"%s = array.slice %1 [2:{2 + size}] : {keys.mlir} -> {row}\n    %k = array.reshape %s : {row} -> {view}\n"
                 f"    %r0 = array.attention %0, %k, %2 scale = 0.25 : ({queries.mlir}, {view}, {values.mlir}) -> {queries.mlir}", "sum")


def gradient(name, q, k, width, options="", mask=None, mask_flows=False, sinks=None, offset=None, **more):
    """What queries, keys and values get, and a mask and sinks where they are to."""
    given, cotangent = inputs("f32", q, k, (*k[:-1], width)), tensors.random("f32", (*q[:-1], width), 11, -1, 1)
    operands, clauses, results = list(given), [], [0, 1, 2]
    if mask is not None:
        clauses.append(f"mask(%a{len(operands)} : {mask.mlir})")
        results += [len(operands)] * mask_flows
        operands.append(mask)
        more["mask"] = mask.values
    clauses.append(options)
    if offset is not None:
        clauses.append(f"offset(%a{len(operands)} : tensor<i32>)")
        operands.append(Tensor("i32", np.int32(offset)))
        more["offset"] = offset
    if sinks is not None:
        clauses.append(f"sinks(%a{len(operands)} : {sinks.mlir})")
        results.append(len(operands))
        operands.append(sinks)
        more["sinks"] = sinks.values
    text = function("", [(f"%a{i}", t.mlir) for i, t in enumerate(operands)], [("%r", cotangent.mlir)],
                    f"    %r = array.attention %a0, %a1, %a2 {' '.join(clauses)} scale = 0.25 : "
                    f"({', '.join(t.mlir for t in given)}) -> {cotangent.mlir}")
    wanted = attention_gradients(*(t.values for t in given), cotangent.values, 0.25, **more)
    kept = wanted[:4 if mask_flows else 3] + ([wanted[-1]] if sinks is not None else [])
    return Case(f"single_gradient_{name}", text, [Step([*operands, cotangent], [("f32", g) for g in kept], "_vjp")], "sum",
                gradients=(":" + ",".join(str(i) for i in results),))


def gradients():
    """Of --gradient, one kernel for queries and one for keys and values where a target has them, or one for each of long vectors."""
    hidden = np.random.default_rng(7).random((2, 1, 70, 150)) < 0.5
    hidden[:, :, 2], hidden[:, :, :, 100:] = False, False
    for name, q, k, width, options, more in (
            ("one_tile", (1, 1, 128, 64), (1, 1, 128, 64), 64, "", {}), ("odd_lengths", (1, 2, 131, 64), (1, 2, 101, 64), 64, "", {}),
            ("equal", (16,) * 4, (16,) * 4, 16, "causal", dict(causal=True)), ("one_key", (1, 2, 17, 8), (1, 2, 1, 8), 8, "", {}),
            ("wide_80", (1, 1, 70, 80), (1, 1, 100, 80), 80, "", {}), ("wide_128", (1, 1, 70, 128), (1, 1, 90, 128), 128, "", {}),
            ("wide_192", (1, 2, 40, 192), (1, 1, 70, 192), 136, "causal", dict(causal=True)), ("wide_256", (1, 2, 40, 256), (1, 2, 30, 256), 256, "", {}),
            ("narrow_values", (1, 2, 70, 40), (1, 2, 150, 40), 24, "", {}), ("wide_values", (2, 2, 70, 64), (2, 1, 90, 64), 104, "", {}),
            ("causal", (1, 2, 200, 64), (1, 2, 200, 64), 64, "causal", dict(causal=True)),
            ("causal_more_queries", (1, 2, 200, 32), (1, 2, 70, 32), 32, "causal", dict(causal=True)),
            ("grouped", (2, 6, 73, 32), (2, 2, 90, 32), 32, "causal", dict(causal=True)),
            ("window", (1, 1, 150, 32), (1, 1, 200, 32), 32, "causal window = 50", dict(causal=True, window=50)),
            ("offset", (1, 1, 150, 32), (1, 1, 180, 32), 32, "causal", dict(causal=True, offset=-20)),
            ("masked", (2, 4, 70, 32), (2, 2, 150, 32), 32, "", dict(mask=Tensor("i1", hidden))),
            ("biased", (2, 4, 70, 32), (2, 2, 150, 32), 32, "", dict(mask=tensors.random("f32", (4, 70, 150), 8, -2, 2))),
            ("of_mask", (2, 4, 70, 32), (2, 2, 150, 32), 32, "", dict(mask=tensors.random("f32", (4, 70, 150), 8, -2, 2), mask_flows=True)),
            ("of_mask_wide", (2, 4, 40, 128), (2, 2, 50, 128), 128, "causal", dict(mask=tensors.random("f32", (2, 1, 40, 50), 8, -2, 2), mask_flows=True,
                                                                                  causal=True)),
            ("of_sinks", (2, 4, 70, 32), (2, 2, 150, 32), 32, "causal", dict(sinks=Tensor("f32", [0.5, -1, 3, 0]), causal=True)),
            ("few_queries", (2, 2, 5, 32), (2, 2, 40, 32), 32, "", {}), ("width_12", (2, 2, 40, 12), (2, 2, 40, 12), 12, "", {})):
        yield gradient(name, q, k, width, options, **more)
    steps = []
    for queries, keys in ((1, 1), (5, 100), (128, 128), (130, 20), (0, 4), (70, 0), (16, 16)):
        given, cotangent = inputs("f32", (2, 4, queries, 32), (2, 2, keys, 32)), tensors.random("f32", (2, 4, queries, 32), 11, -1, 1)
        wanted = symbolic_wanted(given, cotangent, causal=True)
        steps.append(Step([*given, cotangent], [("f32", g) for g in wanted[:3]], "_vjp"))
    q, k = "tensor<?x4x?x32xf32>", "tensor<?x2x?x32xf32>"
    text = function("", [("%q", q), ("%k", k), ("%v", k)], [("%r", q)], f"    %r = array.attention %q, %k, %v causal scale = 0.25 : ({q}, {k}, {k}) -> {q}")
    yield Case("single_symbolic_gradient", text, steps, "sum", gradients=(":0,1,2",))


def cases():
    for group in (shapes, digits, equal_sizes, hidden_keys, masks, symbolic, moved, gradients):
        yield from group()
