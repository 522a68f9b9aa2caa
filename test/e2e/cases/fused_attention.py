"""Attention that is one kernel where a target has one: 16-bit types, several tiles of queries and blocks of keys, all that the op says."""
import numpy as np

from cases.attention import attend, inputs
from cases.vjp_attention import attention_gradients
from harness import Case, Step, function, simple
import tensors
from tensors import Tensor, mlir_type


def case(name, dtype, q, k, v=None, options="", mask=None, offset=None, sinks=None, logsumexp=False, softcap=None,
         scale=0.25, **reference):
    """Operands are `[..., heads, length, width]`; what is said in `options` is said to the reference, too."""
    given = inputs(dtype, q, k, v)
    operands, clauses = list(given), []
    if mask is not None:
        clauses.append(f"mask(%{len(operands)} : {mask.mlir})")
        operands.append(mask)
    clauses.append(options)
    if offset is not None:
        clauses.append(f"offset(%{len(operands)} : tensor<i32>)")
        operands.append(Tensor("i32", np.int32(offset)))
    if sinks is not None:
        clauses.append(f"sinks(%{len(operands)} : {sinks.mlir})")
        operands.append(sinks)
    wanted = attend(*(t.values for t in given), scale, None if mask is None else mask.values, offset=offset,
                    sinks=None if sinks is None else sinks.values, logsumexp=True, softcap=softcap, **reference)
    wide = "f64" if dtype == "f64" else "f32"
    result, sums = mlir_type(dtype, wanted[0].shape), mlir_type(wide, wanted[1].shape)
    types = f"({', '.join(t.mlir for t in given)}) -> {result}"
    results, names = [(dtype, wanted[0])], "%r0"
    if logsumexp:
        clauses.append("logsumexp")
        results, names, types = results + [(wide, wanted[1])], "%r0, %r1", f"{types}, {sums}"
    if softcap:
        clauses.append(f"softcap = {softcap}")
    return simple(name, operands, results, f"{names} = array.attention %0, %1, %2 {' '.join(clauses)} scale = {scale} : {types}", "sum")


def equal_cases(name, dtype, other):
    """Where all dims are of one size, only what a kernel makes of them tells them apart."""
    for size in (16, 64, 128):
        for options, more in (("", {}), ("causal", dict(causal=True))):
            shape = (2, 2, size, size)
            yield case(f"{name}_equal_{size}{options and '_' + options}", dtype, shape, shape, options=options, logsumexp=True, **more)
    shape = (16,) * 4
    mask = np.random.default_rng(9).random(shape) < 0.7
    yield case(f"{name}_equal_all", other, shape, shape)
    yield case(f"{name}_equal_all_masked", other, shape, shape, options="causal", mask=Tensor("i1", mask), causal=True, logsumexp=True)


def mask_cases(name, dtype, other, queries, shapes, unseeing):
    """Masks and biases of `shapes`, and a mask that lets query `unseeing` see no key; names begin with `name`."""
    q, k = (2, 4, queries, 32), (2, 2, 290, 32)
    for shape_name, shape in shapes:
        yield case(f"{name}mask_{shape_name}", dtype, q, k, mask=Tensor("i1", np.random.default_rng(5).random(shape) < 0.6))
        yield case(f"{name}bias_{shape_name}", other, q, k, mask=tensors.random("f32", shape, 6, -1, 1))
    hidden = np.random.default_rng(7).random((2, 1, queries, 290)) < 0.5
    hidden[:, :, unseeing], hidden[:, :, :, 100:] = False, False
    yield case(f"{name}no_key_seen", dtype, q, k, mask=Tensor("i1", hidden), logsumexp=True)
    yield case(f"{name}bias_infinite", other, q, k, mask=Tensor("f32", np.where(hidden, 0, -np.inf)))
    yield case(f"{name}causal_and_mask", other, q, k, options="causal window = 200", mask=Tensor("i1", hidden), causal=True, window=200,
               logsumexp=True)


# Of 70 queries of 4 heads in 2 batches, and 290 keys.
MASKS = (("full", (2, 4, 70, 290)), ("heads_shared", (2, 1, 70, 290)), ("keys", (2, 1, 1, 290)), ("plane", (70, 290)), ("queries", (4, 70, 1)),
         ("row", (290,)))


def shapes():
    yield case("fused_one_tile", "bf16", (1, 1, 128, 64), (1, 1, 128, 64))
    yield case("fused_tiles", "f16", (1, 2, 256, 64), (1, 2, 352, 64))
    yield case("fused_odd_lengths", "bf16", (1, 2, 131, 64), (1, 2, 201, 64))
    yield case("fused_few_keys", "f16", (2, 1, 70, 64), (2, 1, 3, 64))
    # Blocks go over several tiles of unequal work each, every second wave backwards.
    yield case("fused_waves", "f16", (1, 66, 400, 8), (1, 66, 400, 8), options="causal", causal=True)
    yield case("fused_one_key", "bf16", (1, 2, 17, 64), (1, 2, 1, 64))
    yield case("fused_wide_128", "bf16", (1, 1, 140, 128), (1, 1, 380, 128))
    yield case("fused_wide_80", "f16", (1, 1, 70, 80), (1, 1, 200, 80))
    yield case("fused_wide_96", "bf16", (1, 1, 70, 96), (1, 1, 300, 96))
    yield case("fused_wide_256", "bf16", (1, 1, 70, 256), (1, 1, 180, 256))
    yield case("fused_narrow_8", "f16", (1, 2, 130, 8), (1, 2, 190, 8))
    yield case("fused_narrow_values", "f16", (1, 2, 70, 128), (1, 2, 150, 128), (1, 2, 150, 24))
    yield case("fused_wide_values", "bf16", (1, 2, 70, 40), (1, 2, 150, 40), (1, 2, 150, 192))
    yield case("fused_grouped", "bf16", (2, 6, 33, 64), (2, 2, 70, 64))
    yield case("fused_one_key_head", "f16", (2, 4, 33, 32), (2, 1, 70, 32))
    yield case("fused_no_batch", "f16", (3, 33, 16), (3, 40, 16))
    yield case("fused_two_batch_dims", "bf16", (2, 2, 2, 33, 16), (2, 2, 1, 40, 16), options="causal", causal=True)
    yield case("fused_scale_negative", "f16", (1, 2, 40, 32), (1, 2, 300, 32), scale=-0.5)
    yield case("fused_scale_zero", "f16", (1, 2, 40, 32), (1, 2, 300, 32), scale=0.0, logsumexp=True)


def equal_sizes():
    yield from equal_cases("fused", "bf16", "f16")
    shape = (16,) * 4
    given = inputs("f16", shape, shape)
    types = ", ".join([given[0].mlir] * 3)
    for name, order in (("heads", [0, 2, 1, 3]), ("batch", [1, 2, 0, 3])):
        moved = [t.values.transpose(order) for t in given]
        turns = "\n".join(f"    %t{i} = array.transpose %{i} permutation = {order} : {t.mlir} -> {t.mlir}" for i, t in enumerate(given))
        yield simple(f"fused_equal_transposed_{name}", given, [("f16", attend(*moved, 0.25))],
                     f"{turns}\n    %r0 = array.attention %t0, %t1, %t2 scale = 0.25 : ({types}) -> {given[0].mlir}", "sum")


def hidden_keys():
    square = (1, 2, 300, 64), (1, 2, 300, 64)
    yield case("fused_causal", "bf16", *square, options="causal", causal=True)
    yield case("fused_causal_wide", "f16", (1, 1, 200, 128), (1, 1, 500, 128), options="causal", causal=True, logsumexp=True)
    yield case("fused_causal_more_queries", "bf16", (1, 2, 300, 32), (1, 2, 70, 32), options="causal", causal=True, logsumexp=True)
    for offset in (-400, -20, 5, 150, 2**31 - 1):
        yield case(f"fused_offset_{offset}", "bf16", (1, 1, 150, 32), (1, 1, 280, 32), options="causal", causal=True, offset=offset, logsumexp=True)
    for window in (1, 30, 150, 1000):
        yield case(f"fused_window_{window}", "f16", (1, 1, 300, 32), (1, 1, 420, 32), options=f"causal window = {window}", causal=True,
                   window=window)
    yield case("fused_window_behind", "f16", (1, 1, 70, 32), (1, 1, 300, 32), options="causal window = 9", causal=True, window=9, offset=400,
               logsumexp=True)


def copied_masks():
    """Masks of which boxes come by tensor copies: rows of a multiple of 16 bytes, blocks of keys of a multiple of 128. Heads and batches share them
    or not, tiles end behind the last query, and wide vectors leave room for one stage."""
    for name, dtype, mask_type, shape, mask_shape, width, options, more in (
            ("rows", "bf16", "f32", (2, 4, 200, 288), (200, 288), 64, "", {}),
            ("heads", "f16", "f32", (2, 4, 72, 512), (4, 72, 512), 32, "", {}),
            ("batches", "bf16", "bf16", (3, 2, 130, 320), (3, 1, 130, 320), 64, "", {}),
            ("all", "f16", "f16", (2, 2, 128, 384), (2, 2, 128, 384), 48, "causal", dict(causal=True)),
            ("square", "bf16", "bf16", (2, 2, 256, 256), (256, 256), 64, "causal", dict(causal=True)),
            ("ragged", "f16", "f32", (1, 2, 70, 200), (1, 2, 70, 200), 64, "causal window = 100", dict(causal=True, window=100)),
            ("wide", "bf16", "f32", (1, 2, 200, 384), (2, 200, 384), 128, "", {}),
            ("wider", "f16", "f32", (1, 2, 70, 192), (70, 192), 192, "", {})):
        *batch, queries, keys = shape
        q, k = (*batch, queries, width), (*batch, keys, width)
        yield case(f"fused_copied_{name}", dtype, q, k, options=options, mask=tensors.random(mask_type, mask_shape, 6, -1, 1), logsumexp=True, **more)


def masks():
    yield from mask_cases("fused_", "bf16", "f16", 70, MASKS, unseeing=2)
    yield case("fused_bias_same_type", "bf16", (2, 4, 70, 32), (2, 2, 290, 32), mask=tensors.random("bf16", (70, 290), 8, -1, 1))


def sinks():
    q, k = (2, 4, 70, 32), (2, 2, 290, 32)
    for dtype in ("f32", "bf16"):
        given = Tensor(dtype, [0.5, -1, 3, 0])
        yield case(f"fused_sinks_{dtype}", "bf16", q, k, sinks=given, logsumexp=True)
    given = Tensor("f32", [-np.inf, -1, 80, 0])
    yield case("fused_sinks_causal", "f16", q, k, options="causal window = 4", sinks=given, causal=True, window=4, offset=-30, logsumexp=True)
    yield case("fused_sinks_masked", "f16", q, k, sinks=given, mask=tensors.random("f32", (70, 290), 6, -1, 1), logsumexp=True)


def symbolic():
    """Of one module, all sizes, no keys and no queries among them."""
    sizes = (1, 1), (5, 300), (128, 128), (130, 20), (0, 4), (65, 129), (70, 0), (1, 500), (300, 300)
    head = "%q: tensor<?x4x?x32xf16>, %k: tensor<?x2x?x32xf16>, %v: tensor<?x2x?x32xf16>"
    types = "(tensor<?x4x?x32xf16>, tensor<?x2x?x32xf16>, tensor<?x2x?x32xf16>) -> tensor<?x4x?x32xf16>, tensor<?x4x?xf32>"
    for name, options, more in (("plain", "", {}), ("causal", "causal", dict(causal=True)),
                                ("window", "causal window = 40", dict(causal=True, window=40))):
        steps = []
        for queries, keys in sizes:
            given = inputs("f16", (2, 4, queries, 32), (2, 2, keys, 32))
            wanted = attend(*(t.values for t in given), 0.25, logsumexp=True, **more)
            steps.append(Step(given, [("f16", wanted[0]), ("f32", wanted[1])]))
        yield Case(f"fused_symbolic_{name}", f"""  func.func @NAME({head}) -> (tensor<?x4x?x32xf16>, tensor<?x4x?xf32>) {{
    %r, %l = array.attention %q, %k, %v {options} logsumexp scale = 0.25 : {types}
    return %r, %l : tensor<?x4x?x32xf16>, tensor<?x4x?xf32>
  }}
""", steps, "sum")
    steps = []
    for queries, keys in sizes:
        given = inputs("f16", (2, 4, queries, 32), (2, 2, keys, 32), seed=3)
        mask, sink = tensors.random("f32", (2, 1, queries, keys), 7, -1, 1), tensors.random("f32", (4,), 8, -1, 1)
        wanted = attend(*(t.values for t in given), 0.25, mask.values, causal=True, offset=keys // 2, sinks=sink.values, logsumexp=True)
        steps.append(Step(given + [mask, Tensor("i32", np.int32(keys // 2)), sink], [("f16", wanted[0]), ("f32", wanted[1])]))
    # More rows than queries.
    given = inputs("f16", (2, 4, 64, 32), (2, 2, 9, 32))
    steps.append(Step(given + [tensors.random("f32", (2, 1, 70, 9), 7, -1, 1), Tensor("i32", np.int32(0)), sink], [], error="got 64 and 70"))
    yield Case("fused_symbolic_masked", f"""  func.func @NAME({head}, %m: tensor<2x1x?x?xf32>, %o: tensor<i32>, %s: tensor<4xf32>)
      -> (tensor<?x4x?x32xf16>, tensor<?x4x?xf32>) {{
    %r, %l = array.attention %q, %k, %v mask(%m : tensor<2x1x?x?xf32>) causal offset(%o : tensor<i32>)
       sinks(%s : tensor<4xf32>) logsumexp scale = 0.25 : {types}
    return %r, %l : tensor<?x4x?x32xf16>, tensor<?x4x?xf32>
  }}
""", steps, "sum")


def fusion():
    """Masks that are computed, from positions or from data, and operands that are."""
    q, k = (1, 2, 70, 32), (1, 2, 200, 32)
    given = inputs("bf16", q, k)
    bias = tensors.random("f32", (70, 200), 6, -1, 1)
    types = ", ".join(t.mlir for t in given)
    distance = np.abs(np.arange(70)[:, None] - np.arange(200))
    wanted = attend(*(t.values for t in given), 0.25, np.tanh(bias.values) * 2 - distance * 0.125)
    yield simple("fused_computed_bias", given + [bias], [("bf16", wanted)], f"""
    %i = array.iota axis = 0 : tensor<70x1xf32>
    %j = array.iota axis = 0 : tensor<200xf32>
    %d = array.sub %i, %j : (tensor<70x1xf32>, tensor<200xf32>) -> tensor<70x200xf32>
    %a = array.abs %d : tensor<70x200xf32>
    %c = array.constant dense<0.125> : tensor<f32>
    %s = array.mul %a, %c : (tensor<70x200xf32>, tensor<f32>) -> tensor<70x200xf32>
    %t = array.tanh %3 : tensor<70x200xf32>
    %u = array.add %t, %t : tensor<70x200xf32>
    %m = array.sub %u, %s : tensor<70x200xf32>
    %r0 = array.attention %0, %1, %2 mask(%m : tensor<70x200xf32>) scale = 0.25 : ({types}) -> {given[0].mlir}""", "sum")
    swapped = [tensors.random("bf16", (1, 70 if i == 0 else 200, 2, 32), i + 1, -1, 1) for i in range(3)]
    wanted = attend(*(t.values.swapaxes(1, 2) for t in swapped), 0.25)
    heads = ["tensor<1x2x70x32xbf16>", "tensor<1x2x200x32xbf16>", "tensor<1x2x200x32xbf16>"]
    turns = "\n".join(f"    %t{i} = array.transpose %{i} permutation = [0, 2, 1, 3] : {swapped[i].mlir} -> {heads[i]}" for i in range(3))
    yield simple("fused_transposed_operands", swapped, [("bf16", wanted)],
                 f"{turns}\n    %r0 = array.attention %t0, %t1, %t2 scale = 0.25 : ({', '.join(heads)}) -> {heads[0]}", "sum")


def packed():
    """Queries, keys and values out of the rows of one product, and a result whose heads follow one another in rows."""
    for name, dtype, batch, tokens, heads, width, order in (("", "bf16", 2, 131, 3, 64, [0, 2, 1, 3]), ("_one_batch", "f16", 1, 70, 2, 32, [0, 2, 1, 3]),
                                                            ("_one_head", "bf16", 3, 40, 1, 16, [0, 2, 1, 3]), ("_equal", "f16", 16, 16, 16, 16, [0, 2, 1, 3]),
                                                            ("_tokens_first", "bf16", 2, 70, 3, 24, [2, 0, 1, 3])):
        x = tensors.random(dtype, (batch, tokens, 3 * heads * width), 4, -1, 1)
        parts = x.values.reshape(batch, tokens, 3, heads, width).transpose(2, 0, 3, 1, 4)
        wanted = attend(*parts, 0.25).transpose(order)
        row, split, swapped = (mlir_type(dtype, shape) for shape in ((batch, tokens, heads * width), (batch, tokens, heads, width),
                                                                    (batch, heads, tokens, width)))
        moved, joined = mlir_type(dtype, wanted.shape), mlir_type(dtype, (*wanted.shape[:2], heads * width))
        lines = []
        for i in range(3):
            lines.append(f"%s{i} = array.slice %0 [:, :, {i * heads * width}:{(i + 1) * heads * width}] : {x.mlir} -> {row}")
            lines.append(f"%h{i} = array.reshape %s{i} : {row} -> {split}")
            lines.append(f"%t{i} = array.transpose %h{i} permutation = [0, 2, 1, 3] : {split} -> {swapped}")
        lines.append(f"%a = array.attention %t0, %t1, %t2 scale = 0.25 : ({swapped}, {swapped}, {swapped}) -> {swapped}")
        lines.append(f"%m = array.transpose %a permutation = {order} : {swapped} -> {moved}")
        lines.append(f"%r0 = array.reshape %m : {moved} -> {joined}")
        yield simple(f"fused_packed{name}", [x], [(dtype, wanted.reshape(*wanted.shape[:2], heads * width))], "\n".join(lines), "sum")
    # Both as it is and moved.
    given = inputs("f16", (2, 2, 70, 32), (2, 2, 50, 32))
    wanted = attend(*(t.values for t in given), 0.25)
    moved = mlir_type("f16", wanted.swapaxes(1, 2).shape)
    yield simple("fused_moved_and_kept", given, [("f16", wanted), ("f16", wanted.swapaxes(1, 2))], f"""
    %r0 = array.attention %0, %1, %2 scale = 0.25 : ({', '.join(t.mlir for t in given)}) -> {given[0].mlir}
    %r1 = array.transpose %r0 permutation = [0, 2, 1, 3] : {given[0].mlir} -> {moved}""", "sum")
    # Of one module, all lengths, moved where they are stored.
    steps = []
    for queries, keys in ((1, 1), (70, 300), (0, 4), (3, 0), (130, 130)):
        given = inputs("bf16", (2, 4, queries, 32), (2, 4, keys, 32))
        steps.append(Step(given, [("bf16", attend(*(t.values for t in given), 0.25).swapaxes(1, 2))]))
    types = "tensor<?x4x?x32xbf16>, tensor<?x4x?x32xbf16>, tensor<?x4x?x32xbf16>"
    yield Case("fused_moved_symbolic", f"""  func.func @NAME(%q: tensor<?x4x?x32xbf16>, %k: tensor<?x4x?x32xbf16>, %v: tensor<?x4x?x32xbf16>)
      -> tensor<?x?x4x32xbf16> {{
    %a = array.attention %q, %k, %v scale = 0.25 : ({types}) -> tensor<?x4x?x32xbf16>
    %r = array.transpose %a permutation = [0, 2, 1, 3] : tensor<?x4x?x32xbf16> -> tensor<?x?x4x32xbf16>
    return %r : tensor<?x?x4x32xbf16>
  }}
""", steps, "sum")


def gradients():
    """Of --gradient, one kernel for queries and one for keys and values where a target has them: sizes that are not multiples of tiles, grouped
    heads, keys that are hidden by position or by a mask, queries that see none, and wide vectors, of which keys and values have a kernel each."""
    offset = Tensor("i32", np.int32(-20))
    hidden = np.random.default_rng(7).random((2, 1, 70, 150)) < 0.5
    hidden[:, :, 2], hidden[:, :, :, 100:] = False, False
    # Added masks, of which no gradient is asked for.
    bias = tensors.random("f32", (4, 70, 150), 8, -2, 2)
    infinite = Tensor("bf16", np.where(hidden, 0.5, -np.inf))
    row = tensors.random("f16", (1, 150), 9, -2, 2)
    for name, dtype, q, k, width, options, more in (
            ("one_tile", "bf16", (1, 1, 128, 64), (1, 1, 128, 64), 64, "", {}),
            ("odd_lengths", "f16", (1, 2, 131, 64), (1, 2, 201, 64), 64, "", {}),
            ("wide_128", "bf16", (1, 1, 140, 128), (1, 1, 270, 128), 128, "", {}),
            ("wide_80", "f16", (1, 1, 70, 80), (1, 1, 200, 80), 80, "", {}),
            ("wide_136", "bf16", (1, 1, 40, 136), (1, 1, 70, 136), 136, "", {}),
            ("wide_192", "bf16", (1, 4, 70, 192), (1, 4, 130, 192), 128, "causal", dict(causal=True)),
            ("wide_256", "f16", (1, 4, 133, 256), (1, 2, 170, 256), 256, "causal", dict(causal=True)),
            ("wide_values", "f16", (2, 2, 70, 64), (2, 1, 150, 64), 248, "", {}),
            ("wide_window", "bf16", (1, 2, 200, 160), (1, 2, 300, 160), 160, "causal window = 70", dict(causal=True, window=70)),
            ("wide_masked", "bf16", (2, 4, 70, 256), (2, 2, 150, 256), 256, "", dict(mask=Tensor("i1", hidden))),
            ("wide_biased", "f16", (2, 4, 70, 192), (2, 2, 150, 192), 192, "", dict(mask=bias)),
            ("narrow_values", "f16", (1, 2, 70, 40), (1, 2, 150, 40), 24, "", {}),
            ("rounds", "f16", (1, 66, 260, 8), (1, 66, 260, 8), 8, "causal", dict(causal=True)),
            ("causal", "bf16", (1, 2, 300, 64), (1, 2, 300, 64), 64, "causal", dict(causal=True)),
            ("causal_more_keys", "f16", (1, 1, 150, 32), (1, 1, 400, 32), 32, "causal", dict(causal=True)),
            ("causal_more_queries", "bf16", (1, 2, 300, 32), (1, 2, 70, 32), 32, "causal", dict(causal=True)),
            ("grouped", "bf16", (2, 6, 133, 32), (2, 2, 170, 32), 32, "causal", dict(causal=True)),
            ("window", "f16", (1, 1, 300, 32), (1, 1, 420, 32), 32, "causal window = 150", dict(causal=True, window=150)),
            ("narrow_window", "f16", (1, 2, 300, 32), (1, 2, 300, 32), 32, "causal window = 9", dict(causal=True, window=9)),
            ("offset", "bf16", (1, 1, 150, 32), (1, 1, 280, 32), 32, "causal", dict(causal=True, offset=-20)),
            ("masked", "bf16", (2, 4, 70, 32), (2, 2, 150, 32), 32, "", dict(mask=Tensor("i1", hidden))),
            ("biased", "bf16", (2, 4, 70, 32), (2, 2, 150, 32), 32, "", dict(mask=bias)),
            ("biased_wide", "f16", (2, 4, 70, 128), (2, 4, 150, 128), 128, "", dict(mask=bias)),
            ("biased_infinite", "bf16", (2, 4, 70, 32), (2, 2, 150, 32), 32, "", dict(mask=infinite)),
            ("biased_row", "f16", (2, 4, 70, 64), (2, 2, 150, 64), 64, "causal", dict(mask=row, causal=True))):
        v = (*k[:-1], width)
        given = inputs(dtype, q, k, v)
        cotangent = tensors.random(dtype, (*q[:-1], width), 11, -1, 1)
        operands, clauses, mask = list(given), options, more.pop("mask", None)
        if mask:
            operands.append(mask)
            clauses = f"mask(%m : {mask.mlir}) {clauses}"
            more["mask"] = mask.values
        if "offset" in more:
            operands.append(offset)
            clauses += " offset(%m : tensor<i32>)"
        names = ["%q", "%k", "%v", "%m"]
        text = function("", [(name, t.mlir) for name, t in zip(names, operands)], [("%r", cotangent.mlir)],
                        f"    %r = array.attention %q, %k, %v {clauses} scale = 0.25 : ({', '.join(t.mlir for t in given)}) -> {cotangent.mlir}")
        wanted = attention_gradients(*(t.values for t in given), cotangent.values, 0.25, **more)
        yield Case(f"fused_gradient_{name}", text, [Step([*operands, cotangent], [(dtype, g) for g in wanted[:3]], "_vjp")], "model", gradients=(":0,1,2",))


def kind_of(dtype):
    """That of gradients in f32 of operands of `dtype`."""
    return "through_bf16" if dtype == "bf16" else "model"


def gradients_with_sinks():
    """Each sink gets what queries of its head gave it, also where they see no key, or no sink."""
    hidden = np.random.default_rng(7).random((2, 1, 70, 150)) < 0.5
    hidden[:, :, 2] = False
    for name, dtype, sink_type, given_sinks, options, width, more in (
            ("plain", "bf16", "f32", [0.5, -1, 3, 0], "", 32, {}), ("same_type", "f16", "f16", [0.5, -1, 3, 0], "causal", 32, dict(causal=True)),
            ("window", "bf16", "f32", [-np.inf, -1, 9, 0], "causal window = 9", 32, dict(causal=True, window=9)),
            ("masked", "f16", "f32", [-np.inf, -1, 9, 0], "", 32, dict(mask=Tensor("i1", hidden))),
            ("wide", "bf16", "bf16", [0.5, -1, 3, 0], "causal", 136, dict(causal=True))):
        given = inputs(dtype, (2, 4, 70, width), (2, 2, 150, width))
        cotangent, sinks = tensors.random(dtype, (2, 4, 70, width), 11, -1, 1), Tensor(sink_type, given_sinks)
        operands, clauses, mask = [*given, sinks], options, more.pop("mask", None)
        if mask:
            operands.append(mask)
            clauses = f"mask(%m : {mask.mlir}) {clauses}"
            more["mask"] = mask.values
        text = function("", [(name, t.mlir) for name, t in zip(["%q", "%k", "%v", "%s", "%m"], operands)], [("%r", cotangent.mlir)],
                        f"    %r = array.attention %q, %k, %v {clauses} sinks(%s : {sinks.mlir}) scale = 0.25 : "
                        f"({', '.join(t.mlir for t in given)}) -> {cotangent.mlir}")
        wanted = attention_gradients(*(t.values for t in given), cotangent.values, 0.25, sinks=sinks.values, **more)
        results = [(dtype, g) for g in wanted[:3]] + [(sink_type, wanted[-1])]
        yield Case(f"fused_gradient_sinks_{name}", text, [Step([*operands, cotangent], results, "_vjp")], kind_of(dtype), gradients=(":0,1,2,3",))


def gradients_of_masks():
    """A mask that is added gets what flows to all scores that it is added to: one kernel where it has queries and keys, also where all keys
    of some tiles are hidden; none where each query has one number, which changes nothing but a sink; other ops where keys alone have one."""
    for name, dtype, shape, mask_type, width, options, sink_values, more in (
            ("heads_and_batch", "bf16", (70, 150), "f32", 32, "", None, {}), ("batch", "f16", (1, 4, 70, 150), "f16", 32, "", None, {}),
            ("heads", "bf16", (2, 1, 70, 150), "bf16", 64, "causal", None, dict(causal=True)),
            ("all", "f16", (2, 4, 70, 150), "f32", 128, "causal window = 30", None, dict(causal=True, window=30)),
            ("wide", "bf16", (4, 70, 150), "f32", 256, "", [0.5, -1, 3, 0], {}),
            ("queries", "f16", (4, 70, 1), "f32", 32, "", [0.5, -1, 3, 0], {}), ("queries_without_sinks", "f16", (70, 1), "f32", 32, "", None, {}),
            ("keys", "f16", (2, 1, 1, 150), "f32", 32, "", None, {})):
        given = inputs(dtype, (2, 4, 70, width), (2, 2, 150, width))
        cotangent, mask = tensors.random(dtype, (2, 4, 70, width), 11, -1, 1), tensors.random(mask_type, shape, 9, -1, 1)
        operands, clauses, wanted_results = [*given, mask], f"mask(%m : {mask.mlir}) {options}", "0,1,2,3"
        if sink_values:
            operands.append(Tensor("f32", sink_values))
            clauses, wanted_results = f"{clauses} sinks(%s : tensor<4xf32>)", "0,1,2,3,4"
            more["sinks"] = operands[-1].values
        text = function("", [(name, t.mlir) for name, t in zip(["%q", "%k", "%v", "%m", "%s"], operands)], [("%r", cotangent.mlir)],
                        f"    %r = array.attention %q, %k, %v {clauses} scale = 0.25 : ({', '.join(t.mlir for t in given)}) -> {cotangent.mlir}")
        wanted = attention_gradients(*(t.values for t in given), cotangent.values, 0.25, mask=mask.values, **more)
        types = [dtype] * 3 + [mask_type, "f32"]
        yield Case(f"fused_gradient_of_mask_{name}", text, [Step([*operands, cotangent], list(zip(types, wanted)), "_vjp")], kind_of(dtype),
                   gradients=(f":{wanted_results}",))
    # Of one module, all lengths.
    steps = []
    for queries, keys in ((1, 1), (5, 300), (128, 128), (130, 20), (0, 4), (70, 0), (16, 16)):
        given = inputs("f16", (2, 4, queries, 32), (2, 2, keys, 32))
        mask, cotangent = tensors.random("f32", (4, queries, keys), 7, -1, 1), tensors.random("f16", (2, 4, queries, 32), 11, -1, 1)
        wanted = symbolic_wanted(given, cotangent, mask=mask.values)
        if len(wanted) == 3:
            wanted = wanted + [np.zeros(mask.values.shape)]
        steps.append(Step([*given, mask, cotangent], list(zip(["f16"] * 3 + ["f32"], wanted)), "_vjp"))
    q, k, m = "tensor<?x4x?x32xf16>", "tensor<?x2x?x32xf16>", "tensor<4x?x?xf32>"
    text = function("", [("%q", q), ("%k", k), ("%v", k), ("%m", m)], [("%r", q)],
                    f"    %r = array.attention %q, %k, %v mask(%m : {m}) scale = 0.25 : ({q}, {k}, {k}) -> {q}")
    yield Case("fused_symbolic_gradient_of_mask", text, steps, "model", gradients=(":0,1,2,3",))


def symbolic_gradients():
    """Of one module, all sizes, no keys and no queries among them."""
    sizes = (1, 1), (5, 300), (128, 128), (130, 20), (0, 4), (65, 129), (70, 0), (1, 500), (300, 300), (16, 16)
    for name, dtype, heads, groups, width, options, more in (
            ("plain", "f16", 4, 2, 32, "", {}), ("causal", "bf16", 4, 4, 64, "causal", dict(causal=True)),
            ("grouped_causal", "f16", 4, 2, 128, "causal", dict(causal=True)),
            ("window", "bf16", 2, 2, 40, "causal window = 40", dict(causal=True, window=40)),
            ("wide", "f16", 2, 1, 136, "causal", dict(causal=True))):
        steps = []
        for queries, keys in sizes:
            given = inputs(dtype, (2, heads, queries, width), (2, groups, keys, width))
            cotangent = tensors.random(dtype, (2, heads, queries, width), 11, -1, 1)
            wanted = symbolic_wanted(given, cotangent, **more)
            steps.append(Step([*given, cotangent], [(dtype, g) for g in wanted[:3]], "_vjp"))
        q, k = (f"tensor<?x{count}x?x{width}x{dtype}>" for count in (heads, groups))
        text = function("", [("%q", q), ("%k", k), ("%v", k)], [("%r", q)],
                        f"    %r = array.attention %q, %k, %v {options} scale = 0.25 : ({q}, {k}, {k}) -> {q}")
        yield Case(f"fused_symbolic_gradient_{name}", text, steps, "model", gradients=(":0,1,2",))
    steps, sink = [], Tensor("f32", [0.5, -1, 3, 0])
    for queries, keys in sizes:
        given = inputs("f16", (2, 4, queries, 32), (2, 2, keys, 32), seed=3)
        mask, cotangent = tensors.random("f32", (2, 1, queries, keys), 7, -1, 1), tensors.random("f16", (2, 4, queries, 32), 11, -1, 1)
        wanted = symbolic_wanted(given, cotangent, mask=mask.values, causal=True, offset=keys // 2, sinks=sink.values)
        steps.append(Step([*given, mask, Tensor("i32", np.int32(keys // 2)), sink, cotangent],
                          [("f16", g) for g in wanted[:3]] + [("f32", wanted[-1])], "_vjp"))
    q, k, m = "tensor<?x4x?x32xf16>", "tensor<?x2x?x32xf16>", "tensor<2x1x?x?xf32>"
    text = function("", [("%q", q), ("%k", k), ("%v", k), ("%m", m), ("%o", "tensor<i32>"), ("%s", "tensor<4xf32>")], [("%r", q)],
                    f"    %r = array.attention %q, %k, %v mask(%m : {m}) causal offset(%o : tensor<i32>) sinks(%s : tensor<4xf32>) scale = 0.25 : "
                    f"({q}, {k}, {k}) -> {q}")
    yield Case("fused_symbolic_gradient_masked", text, steps, "model", gradients=(":0,1,2,5",))


def symbolic_wanted(given, cotangent, **more):
    """Of no queries or no keys nothing flows."""
    queries, keys, values = (t.values for t in given)
    if queries.size and keys.size:
        return attention_gradients(queries, keys, values, cotangent.values, 0.25, **more)
    nothing = [np.zeros(x.shape) for x in (queries, keys, values)]
    return nothing if more.get("sinks") is None else nothing + [np.zeros(more["sinks"].shape)]


def written_gradients():
    """The op that --gradient makes, in a program itself."""
    for dtype in tensors.FLOATS:
        given = inputs(dtype, (2, 4, 30, 16), (2, 2, 50, 16)) + [tensors.random(dtype, (2, 4, 30, 16), 11, -1, 1)]
        types = [t.mlir for t in given]
        wanted = attention_gradients(*(t.values for t in given), 0.25, causal=True)
        yield simple(f"fused_written_gradient_{dtype}", given, [(dtype, value) for value in wanted],
                     "%r0, %r1, %r2 = array.attention_gradient %0, %1, %2, %3 causal scale = 0.25 : "
                     f"({', '.join(types)}) -> {', '.join(types[:3])}", "model")


def unaligned():
    """Operands that begin where 16 bytes at a time cannot be copied from: parts of a tensor, as they are and transposed."""
    q, k = (2, 4, 30, 16), (2, 2, 50, 16)
    given = inputs("f16", q, k) + [tensors.random("f16", q, 11, -1, 1)]
    size = int(np.prod(k))
    keys = tensors.random("f16", (size + 12,), 5, -1, 1)
    part = keys.values[4:4 + size].reshape(k)
    queries, _, values, cotangent = given
    row, moved = mlir_type("f16", (size,)), mlir_type("f16", k)
    view = f"""
    %s = array.slice %1 [4:{4 + size}] : {keys.mlir} -> {row}
    %k = array.reshape %s : {row} -> {moved}"""
    operands = [queries, keys, values]
    types = f"{queries.mlir}, {moved}, {values.mlir}"
    yield simple("fused_unaligned", operands, [("f16", attend(queries.values, part, values.values, 0.25))],
                 f"{view}\n    %r0 = array.attention %0, %k, %2 scale = 0.25 : ({types}) -> {queries.mlir}", "sum")
    wanted = attention_gradients(queries.values, part, values.values, cotangent.values, 0.25)
    yield simple("fused_unaligned_gradient", [*operands, cotangent], [("f16", value) for value in wanted],
                 f"{view}\n    %r0, %r1, %r2 = array.attention_gradient %0, %k, %2, %3 scale = 0.25 : ({types}, {cotangent.mlir}) -> {types}", "model")
    wide = tensors.random("f16", (2, 50, 2, 24), 5, -1, 1)
    part = wide.values[..., 4:20].swapaxes(1, 2)
    swapped = mlir_type("f16", (2, 50, 2, 16))
    yield simple("fused_unaligned_transposed", [queries, wide, values], [("f16", attend(queries.values, part, values.values, 0.25))], f"""
    %s = array.slice %1 [:, :, :, 4:20] : {wide.mlir} -> {swapped}
    %k = array.transpose %s permutation = [0, 2, 1, 3] : {swapped} -> {moved}
    %r0 = array.attention %0, %k, %2 scale = 0.25 : ({types}) -> {queries.mlir}""", "sum")


def cases():
    for group in (shapes, equal_sizes, hidden_keys, masks, copied_masks, sinks, symbolic, fusion, packed, gradients, gradients_with_sinks, gradients_of_masks,
                  symbolic_gradients, written_gradients, unaligned):
        yield from group()
