"""Gradients of attention that kernels of their own take where a target has them, apart from what fused_attention.py has: the cotangent of
logsumexp, few queries, masks with numbers for keys alone, vectors of any number of elements."""
import numpy as np

from cases.attention import attend, inputs
from cases.fused_attention import kind_of
from cases.vjp_attention import attention_gradients
from harness import Case, Step, function, simple
import tensors
from tensors import Tensor, mlir_type


def gradient(name, dtype, q, k, width=None, options="", mask=None, sinks=None, to_logsumexp=False, wants_mask=False, only_logsumexp=False,
             types=None, softcap=None, **more):
    """`q` and `k` are shapes, `width` the elements of values. `types` replaces those of queries, keys, values, the mask and the result."""
    width = width or k[-1]
    given = inputs(dtype, q, k, (*k[:-1], width))
    cotangent = tensors.random(dtype, (*q[:-1], width), 11, -1, 1)
    operands, clauses, names, results = list(given), options, ["%q", "%k", "%v"], "0,1,2"
    static = [t.mlir for t in given] + [mask.mlir if mask else None, cotangent.mlir]
    types = types or static
    if mask:
        clauses, names = f"mask(%m : {types[3]}) {clauses}", names + ["%m"]
        operands.append(mask)
    if wants_mask:
        results += ",3"
    if sinks is not None:
        results += f",{len(operands)}"
        clauses, names = f"{clauses} sinks(%s : {sinks.mlir})", names + ["%s"]
        operands.append(sinks)
    arguments = [(name, t) for name, t in zip(names, types[:3] + [types[3]] * bool(mask) + [sinks.mlir if sinks else ""])]
    cap = f"softcap = {softcap} " if softcap else ""
    body = f"array.attention %q, %k, %v {clauses} %s {cap}scale = 0.25 : ({', '.join(types[:3])}) -> {types[4]}"
    flows, rows = [cotangent], tensors.random("f32", q[:-1], 12, -1, 1)
    if to_logsumexp or only_logsumexp:
        row = types[4].rsplit("x", 2)[0] + "xf32>"
        flows = [rows] if only_logsumexp else [cotangent, rows]
        outputs = [("%l", row)] if only_logsumexp else [("%r", types[4]), ("%l", row)]
        body = f"    %r, %l = {body.replace(' %s ', ' logsumexp ')}, {row}"
    else:
        outputs, body = [("%r", types[4])], f"    %r = {body.replace(' %s ', ' ')}"
    wanted = attention_gradients(*(t.values for t in given), cotangent.values * (not only_logsumexp), 0.25, softcap=softcap,
                                 mask=mask.values if mask else None, sinks=sinks.values if sinks else None,
                                 to_logsumexp=rows.values if to_logsumexp or only_logsumexp else None, **more)
    expected = list(zip([dtype] * 3, wanted))
    if wants_mask:
        expected.append((mask.dtype, wanted[3]))
    if sinks is not None:
        expected.append((sinks.dtype, wanted[-1]))
    step = Step([*operands, *flows], expected, "_vjp")
    return Case(f"attention_gradient_{name}", function("", arguments, outputs, body), [step],
                kind_of(dtype) if wants_mask or sinks is not None else "model", gradients=(f":{results}",))


def of_logsumexp():
    hidden = np.random.default_rng(7).random((2, 1, 70, 150)) < 0.5
    hidden[:, :, 2] = False
    sinks = Tensor("f32", [0.5, -1, 3, 0])
    for dtype in ("f16", "bf16"):
        yield gradient(f"logsumexp_{dtype}", dtype, (2, 4, 70, 32), (2, 2, 150, 32), to_logsumexp=True)
    yield gradient("logsumexp_alone", "f16", (2, 4, 70, 32), (2, 2, 150, 32), only_logsumexp=True)
    yield gradient("logsumexp_causal", "bf16", (1, 2, 300, 64), (1, 2, 300, 64), options="causal", to_logsumexp=True, causal=True)
    yield gradient("logsumexp_wide", "f16", (1, 2, 70, 136), (1, 1, 90, 136), to_logsumexp=True)
    yield gradient("logsumexp_equal", "f16", (16, 16, 16, 16), (16, 16, 16, 16), to_logsumexp=True)
    yield gradient("logsumexp_masked", "f16", (2, 4, 70, 32), (2, 2, 150, 32), mask=Tensor("i1", hidden), to_logsumexp=True)
    yield gradient("logsumexp_sinks", "bf16", (2, 4, 70, 32), (2, 2, 150, 32), options="causal window = 9", sinks=sinks, to_logsumexp=True,
                   causal=True, window=9)
    # Rows with a number each, which logsumexp notices; some of them see no key.
    rows = tensors.random("f32", (4, 70, 1), 9, -1, 1)
    yield gradient("logsumexp_mask_of_queries", "f16", (2, 4, 70, 32), (2, 2, 50, 32), options="causal", mask=rows, wants_mask=True,
                   to_logsumexp=True, causal=True)
    yield gradient("logsumexp_mask_of_queries_sinks", "f16", (2, 4, 70, 32), (2, 2, 50, 32), options="causal", mask=rows, wants_mask=True,
                   sinks=sinks, to_logsumexp=True, causal=True)
    yield gradient("logsumexp_mask", "f16", (2, 4, 70, 32), (2, 2, 150, 32), mask=tensors.random("f32", (4, 70, 150), 9, -1, 1),
                   wants_mask=True, to_logsumexp=True)
    q, k = "tensor<?x4x?x32xf16>", "tensor<?x2x?x32xf16>"
    yield gradient("logsumexp_open", "f16", (2, 4, 70, 32), (2, 2, 150, 32), to_logsumexp=True, types=[q, k, k, None, q])


def of_single():
    """f32, whose kernels are others, with all of it."""
    yield gradient("f32_logsumexp", "f32", (2, 4, 70, 32), (2, 2, 150, 32), options="causal", to_logsumexp=True, causal=True)
    yield gradient("f32_logsumexp_wide", "f32", (1, 2, 70, 136), (1, 1, 90, 136), to_logsumexp=True)
    yield gradient("f32_few", "f32", (2, 4, 5, 32), (2, 2, 70, 32), to_logsumexp=True)
    yield gradient("f32_few_equal", "f32", (8, 8, 8, 8), (8, 8, 8, 8))
    yield gradient("f32_padded", "f32", (2, 4, 70, 36), (2, 2, 90, 36), width=20)
    yield gradient("f32_padded_few", "f32", (2, 4, 3, 20), (2, 2, 90, 20), to_logsumexp=True)
    yield gradient("f32_mask_of_keys", "f32", (2, 4, 70, 32), (2, 2, 150, 32), mask=tensors.random("f32", (2, 1, 1, 150), 9, -1, 1), wants_mask=True)
    yield gradient("f32_mask_of_keys_few", "f32", (2, 4, 5, 32), (2, 2, 150, 32), mask=tensors.random("f32", (2, 1, 1, 150), 9, -1, 1),
                   wants_mask=True, to_logsumexp=True)
    q, k = "tensor<?x4x?x32xf32>", "tensor<?x2x?x32xf32>"
    yield gradient("f32_open", "f32", (2, 4, 70, 32), (2, 2, 150, 32), to_logsumexp=True, types=[q, k, k, None, q])


def few_queries():
    for queries in (1, 2, 15):
        yield gradient(f"few_{queries}", "f16", (2, 4, queries, 64), (2, 2, 150, 64))
    yield gradient("few_causal", "bf16", (1, 4, 7, 32), (1, 1, 140, 32), options="causal", causal=True)
    yield gradient("few_keys", "f16", (1, 2, 3, 16), (1, 2, 3, 16))
    yield gradient("few_equal", "bf16", (8, 8, 8, 8), (8, 8, 8, 8))
    yield gradient("few_logsumexp", "f16", (2, 4, 5, 32), (2, 2, 70, 32), to_logsumexp=True)
    yield gradient("few_wide", "bf16", (1, 2, 4, 256), (1, 2, 70, 256))
    yield gradient("few_masked", "f16", (2, 4, 5, 32), (2, 2, 70, 32), mask=tensors.random("f32", (2, 1, 5, 70), 9, -1, 1), wants_mask=True,
                   sinks=Tensor("f32", [0.5, -1, 3, 0]))


def masks_of_keys():
    for name, dtype, shape, mask_type, q, k, options, more in (
            ("batch", "f16", (2, 1, 1, 150), "f32", (2, 4, 70, 32), (2, 2, 150, 32), "", {}),
            ("vector", "bf16", (150,), "f32", (2, 4, 70, 32), (2, 2, 150, 32), "", {}),
            ("heads", "f16", (4, 1, 150), "f32", (2, 4, 70, 64), (2, 1, 150, 64), "causal", dict(causal=True)),
            ("all", "bf16", (2, 4, 1, 150), "bf16", (2, 4, 170, 128), (2, 2, 150, 128), "causal window = 30", dict(causal=True, window=30)),
            ("wide", "f16", (2, 1, 1, 150), "f16", (2, 4, 70, 256), (2, 4, 150, 256), "", {}),
            ("one_query", "f16", (2, 1, 1, 150), "f32", (2, 4, 1, 32), (2, 2, 150, 32), "", {}),
            ("few_keys", "f16", (1, 1, 3), "f16", (1, 2, 70, 16), (1, 2, 3, 16), "", {}),
            ("equal", "f16", (8, 1, 1, 8), "f32", (8, 8, 8, 8), (8, 8, 8, 8), "", {})):
        yield gradient(f"mask_of_keys_{name}", dtype, q, k, options=options, mask=tensors.random(mask_type, shape, 9, -1, 1), wants_mask=True, **more)
    mask = tensors.random("f32", (2, 1, 1, 150), 9, -1, 1)
    yield gradient("mask_of_keys_sinks", "f16", (2, 4, 70, 32), (2, 2, 150, 32), mask=mask, wants_mask=True, to_logsumexp=True,
                   sinks=Tensor("f32", [0.5, -1, 3, 0]))
    q, k, m = "tensor<?x4x?x32xf16>", "tensor<?x2x?x32xf16>", "tensor<?x1x1x?xf32>"
    yield gradient("mask_of_keys_open", "f16", (2, 4, 70, 32), (2, 2, 150, 32), mask=mask, wants_mask=True, types=[q, k, k, m, q])
    # Of one module, all lengths; of no queries nothing flows.
    steps = []
    for queries, keys in ((1, 1), (5, 300), (128, 128), (0, 4), (70, 0), (16, 16)):
        given = inputs("f16", (2, 4, queries, 32), (2, 2, keys, 32))
        bias, cotangent = tensors.random("f32", (2, 1, 1, keys), 7, -1, 1), tensors.random("f16", (2, 4, queries, 32), 11, -1, 1)
        wanted = [np.zeros(t.values.shape) for t in (*given, bias)]
        if queries and keys:
            wanted = attention_gradients(*(t.values for t in given), cotangent.values, 0.25, mask=bias.values)
        steps.append(Step([*given, bias, cotangent], list(zip(["f16"] * 3 + ["f32"], wanted)), "_vjp"))
    text = function("", [("%q", q), ("%k", k), ("%v", k), ("%m", m)], [("%r", q)],
                    f"    %r = array.attention %q, %k, %v mask(%m : {m}) scale = 0.25 : ({q}, {k}, {k}) -> {q}")
    yield Case("attention_gradient_mask_of_keys_lengths", text, steps, "model", gradients=(":0,1,2,3",))


def widths():
    """Vectors of no multiple of 8, of queries and keys, of values, of both."""
    for dtype, width, values in (("f16", 20, 20), ("bf16", 36, 36), ("f16", 100, 100), ("bf16", 32, 20), ("f16", 20, 64), ("f16", 7, 1), ("bf16", 130, 130),
                                 ("f16", 250, 3)):
        q, k, v = (2, 4, 70, width), (2, 2, 90, width), (2, 2, 90, values)
        name = f"{width}_{values}_{dtype}"
        given = inputs(dtype, q, k, v)
        result = mlir_type(dtype, (*q[:-1], values))
        wanted = attend(*(t.values for t in given), 0.25, causal=True, logsumexp=True)
        yield simple(f"attention_width_{name}", given, [(dtype, wanted[0]), ("f32", wanted[1])],
                     f"%r0, %r1 = array.attention %0, %1, %2 causal logsumexp scale = 0.25 : ({', '.join(t.mlir for t in given)}) -> {result}, "
                     f"{mlir_type('f32', q[:-1])}", "sum")
        yield gradient(f"width_{name}", dtype, q, k, values, options="causal", causal=True)
    yield gradient("width_masked", "f16", (2, 4, 70, 20), (2, 2, 90, 20), mask=tensors.random("f32", (4, 70, 90), 9, -1, 1), wants_mask=True,
                   sinks=Tensor("f32", [0.5, -1, 3, 0]), to_logsumexp=True)
    yield gradient("width_few", "bf16", (2, 4, 3, 20), (2, 2, 90, 20))
    q, k = "tensor<?x4x?x20xf16>", "tensor<?x2x?x20xf16>"
    yield gradient("width_open", "f16", (2, 4, 70, 20), (2, 2, 90, 20), types=[q, k, k, None, q])
    yield gradient("width_equal", "f16", (12, 12, 12, 12), (12, 12, 12, 12))


def moved():
    """Tokens before heads: rows are read, and those of all gradients stored, where they are."""
    def text(types, swapped, options):
        turns = "\n".join(f"    %t{name} = array.transpose %{name} permutation = [0, 2, 1, 3] : {a} -> {b}" for name, a, b in zip("qkv", types, swapped))
        return function("", [(f"%{name}", t) for name, t in zip("qkv", types)], [("%r", types[0])], f"""{turns}
    %a = array.attention %tq, %tk, %tv {options} scale = 0.25 : ({', '.join(swapped)}) -> {swapped[0]}
    %r = array.transpose %a permutation = [0, 2, 1, 3] : {swapped[0]} -> {types[0]}""")

    def step(dtype, batch, queries, keys, heads, groups, width, **more):
        given = [tensors.random(dtype, (batch, rows, count, width), i, -1, 1)
                 for i, (rows, count) in enumerate(((queries, heads), (keys, groups), (keys, groups), (queries, heads)))]
        values = [t.values.swapaxes(1, 2) for t in given]
        if queries and keys:
            wanted = attention_gradients(*values, 0.25, **more)
        else:
            wanted = [np.zeros(v.shape) for v in values]
        return Step(given, [(dtype, g.swapaxes(1, 2)) for g in wanted[:3]], "_vjp")

    def shapes(dtype, batch, queries, keys, heads, groups, width):
        whole = ((batch, queries, heads, width), *((batch, keys, groups, width),) * 2)
        return [mlir_type(dtype, shape) for shape in whole], [mlir_type(dtype, (b, h, t, w)) for b, t, h, w in whole]

    for name, dtype, sizes, options, more in (
            ("plain", "bf16", (2, 131, 70, 3, 3, 64), "", {}), ("grouped", "f16", (2, 70, 200, 4, 2, 32), "causal", dict(causal=True)),
            ("one_batch", "bf16", (1, 70, 130, 2, 2, 128), "", {}), ("one_head", "f16", (3, 40, 50, 1, 1, 16), "", {}),
            ("equal", "f16", (16, 16, 16, 16, 16, 16), "causal", dict(causal=True)), ("wide", "bf16", (2, 40, 70, 2, 1, 256), "", {}),
            ("padded", "f16", (2, 70, 50, 2, 2, 20), "", {}), ("single", "f32", (2, 70, 50, 4, 2, 32), "causal", dict(causal=True))):
        yield Case(f"attention_gradient_moved_{name}", text(*shapes(dtype, *sizes), options), [step(dtype, *sizes, **more)], "model",
                   gradients=(":0,1,2",))
    steps = [step("f16", 2, queries, keys, 4, 2, 32) for queries, keys in ((1, 1), (70, 300), (0, 4), (3, 0), (130, 130))]
    types = ["tensor<?x?x4x32xf16>", *["tensor<?x?x2x32xf16>"] * 2]
    swapped = ["tensor<?x4x?x32xf16>", *["tensor<?x2x?x32xf16>"] * 2]
    yield Case("attention_gradient_moved_symbolic", text(types, swapped, ""), steps, "model", gradients=(":0,1,2",))
    # All of one product's rows: what flows to each part is put into one tensor.
    x, cotangent = tensors.random("bf16", (2, 70, 3 * 2 * 32), 4, -1, 1), tensors.random("bf16", (2, 70, 2, 32), 11, -1, 1)
    parts = x.values.reshape(2, 70, 3, 2, 32).transpose(2, 0, 3, 1, 4)
    wanted = attention_gradients(*parts, cotangent.values.swapaxes(1, 2), 0.25)
    joined = np.stack([g.swapaxes(1, 2) for g in wanted[:3]], 2).reshape(x.values.shape)
    split, heads, row = "tensor<2x70x2x32xbf16>", "tensor<2x2x70x32xbf16>", "tensor<2x70x64xbf16>"
    lines = "\n".join(f"""    %s{i} = array.slice %x [:, :, {64 * i}:{64 * i + 64}] : {x.mlir} -> {row}
    %h{i} = array.reshape %s{i} : {row} -> {split}
    %t{i} = array.transpose %h{i} permutation = [0, 2, 1, 3] : {split} -> {heads}""" for i in range(3))
    yield Case("attention_gradient_moved_parts", function("", [("%x", x.mlir)], [("%r", split)], f"""{lines}
    %a = array.attention %t0, %t1, %t2 scale = 0.25 : ({heads}, {heads}, {heads}) -> {heads}
    %r = array.transpose %a permutation = [0, 2, 1, 3] : {heads} -> {split}"""), [Step([x, cotangent], [("bf16", joined)], "_vjp")], "model",
               gradients=(":0",))


def cases():
    for group in (of_logsumexp, of_single, few_queries, masks_of_keys, widths, moved):
        yield from group()
