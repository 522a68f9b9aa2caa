"""Attention of few queries to many keys: groups of heads in rows of one product, keys divided among warps, blocks and launches."""
import numpy as np

from cases.attention import attend, attend_pages, inputs, place_in_pages
from cases.fused_attention import case, mask_cases
from harness import Case, Step, simple
import tensors
from tensors import Tensor


def shapes():
    # Odd lengths, groups of 1, 4, 8 and those that fill neither 8 rows nor 16, more rows than a block has.
    for keys in (1, 15, 16, 17, 1000, 4097):
        yield case(f"keys_{keys}", "bf16", (1, 8, 1, 64), (1, 2, keys, 64), logsumexp=True)
    for heads, groups in ((3, 3), (4, 1), (8, 1), (5, 1), (12, 1), (16, 1), (23, 1), (32, 1)):
        yield case(f"group_{heads}_{groups}", "f16", (2, heads, 1, 32), (2, groups, 333, 32), logsumexp=True)
    for width in (8, 24, 64, 80, 128, 136, 256):
        yield case(f"width_{width}", "bf16", (1, 8, 1, width), (1, 1, 300, width))
    yield case("wide_16_rows", "f16", (1, 16, 1, 256), (1, 1, 150, 256), scale=0.06)
    # Of several steps: queries of 256 elements leave no registers for sums, of 1 head on sm_80 alone.
    yield case("wide_steps", "bf16", (1, 16, 1, 256), (1, 1, 1100, 256), scale=0.06, logsumexp=True)
    yield case("wide_queries", "f16", (1, 4, 3, 256), (1, 1, 1100, 256), options="causal", causal=True, scale=0.06, logsumexp=True)
    yield case("wide_heads", "bf16", (1, 3, 1, 256), (1, 3, 600, 256), scale=0.06)
    yield case("wide_values_16_rows", "f16", (1, 16, 1, 128), (1, 1, 1100, 128), (1, 1, 1100, 256), scale=0.06)
    yield case("narrow_values", "f16", (1, 4, 1, 128), (1, 2, 150, 128), (1, 2, 150, 24), scale=0.1)
    yield case("wide_values", "bf16", (1, 4, 1, 40), (1, 2, 150, 40), (1, 2, 150, 192))
    yield case("several_queries", "bf16", (2, 6, 3, 64), (2, 2, 700, 64), logsumexp=True)
    yield case("many_rows", "f16", (1, 8, 15, 32), (1, 2, 400, 32))
    yield case("no_batch", "f16", (3, 1, 16), (3, 40, 16))
    yield case("two_batch_dims", "bf16", (2, 2, 2, 2, 16), (2, 2, 1, 90, 16), options="causal", causal=True)
    yield case("many_heads", "bf16", (9, 32, 1, 16), (9, 32, 50, 16))
    # So many that 16 warps of a multiprocessor share its registers, and take queries from shared memory.
    yield case("shared_queries", "bf16", (30, 16, 1, 72), (30, 16, 130, 72), logsumexp=True)
    yield case("shared_grouped", "f16", (33, 24, 1, 104), (33, 8, 150, 104), options="causal window = 60", causal=True, window=60, logsumexp=True)
    # Rows that begin at multiples of 8 bytes: the last 16 of a vector overlap those before. Others have a kernel on CPUs alone.
    for width in (12, 20, 36, 84, 100, 252):
        yield case(f"uneven_{width}", "f16", (2, 8, 1, width), (2, 2, 150, width), scale=0.1, logsumexp=True)
    yield case("uneven_values", "bf16", (1, 8, 3, 64), (1, 2, 333, 64), (1, 2, 333, 44), options="causal", causal=True, logsumexp=True)
    yield case("uneven_keys", "f16", (1, 16, 1, 60), (1, 1, 333, 60), (1, 1, 333, 128), options="causal window = 40", causal=True, window=40)
    yield case("uneven_long", "bf16", (1, 4, 1, 28), (1, 1, 9000, 28), logsumexp=True)
    yield case("uneven_equal", "f16", (12, 12, 12, 12), (12, 12, 12, 12), logsumexp=True)
    yield case("uneven_masked", "f16", (2, 4, 2, 20), (2, 2, 290, 20), mask=tensors.random("f32", (2, 4, 2, 290), 6, -1, 1))
    for width in (1, 3, 7, 33, 130, 500):
        yield case(f"odd_{width}", "bf16", (2, 6, 2, width), (2, 2, 70, width), scale=0.1, logsumexp=True)
        yield case(f"odd_single_{width}", "f32", (2, 3, 1, width), (2, 3, 70, width), scale=0.1)
    yield case("scale_negative", "f16", (1, 2, 1, 32), (1, 2, 300, 32), scale=-0.5)
    yield case("scale_zero", "f16", (1, 2, 1, 32), (1, 2, 300, 32), scale=0.0, logsumexp=True)
    # So long, of so few heads, that parts have results in memory.
    yield case("long", "bf16", (1, 4, 1, 16), (1, 1, 9000, 16), logsumexp=True)
    yield case("long_causal", "f16", (1, 2, 3, 16), (1, 1, 8300, 16), options="causal", causal=True, offset=5000, logsumexp=True)
    yield case("long_hidden", "f16", (1, 2, 3, 16), (1, 1, 8300, 16), options="causal", causal=True, offset=-9, logsumexp=True)


def hidden_keys():
    q, k = (1, 4, 3, 32), (1, 2, 420, 32)
    yield case("causal", "bf16", q, k, options="causal", causal=True)
    for offset in (-400, -2, 0, 5, 150, 2**31 - 1):
        yield case(f"offset_{offset}", "bf16", q, k, options="causal", causal=True, offset=offset, logsumexp=True)
    for window in (1, 30, 150, 1000):
        yield case(f"window_{window}", "f16", q, k, options=f"causal window = {window}", causal=True, window=window, logsumexp=True)
    yield case("window_behind", "f16", q, k, options="causal window = 9", causal=True, window=9, offset=600, logsumexp=True)
    given = Tensor("f32", [-np.inf, -1, 80, 0])
    yield case("sinks", "bf16", q, k, sinks=Tensor("bf16", [0.5, -1, 3, 0]), logsumexp=True)
    yield case("sinks_causal", "f16", q, k, options="causal window = 4", sinks=given, causal=True, window=4, offset=-30, logsumexp=True)
    yield case("sinks_long", "f16", (1, 4, 1, 16), (1, 1, 8300, 16), sinks=given, logsumexp=True)


def masks():
    shapes = (("full", (2, 4, 2, 290)), ("keys", (2, 1, 1, 290)), ("plane", (2, 290)), ("queries", (4, 2, 1)), ("row", (290,)))
    yield from mask_cases("", "bf16", "f16", 2, shapes, unseeing=1)


def symbolic(name, dtype):
    """Of one module, all lengths, no keys and no sequences among them; what is behind the length in the cache is large."""
    steps = []
    for batch, keys, length in ((1, 1, 1), (2, 300, 40), (1, 0, 0), (3, 17, 16), (0, 5, 3), (1, 500, 500), (2, 40, 0)):
        q, k, v = inputs(dtype, (batch, 4, 1, 32), (batch, 2, keys, 32))
        wanted = attend(q.values, k.values[:, :, :length], v.values[:, :, :length], 0.25, logsumexp=True)
        k.values[:, :, length:] = v.values[:, :, length:] = 1000
        steps.append(Step([q, k, v, Tensor("i64", np.int64(length - 1))], [(dtype, wanted[0]), ("f32", wanted[1])]))
    yield Case(name, """  func.func @NAME(%q: tensor<?x4x1x32xf16>, %k: tensor<?x2x?x32xf16>, %v: tensor<?x2x?x32xf16>, %o: tensor<i64>)
      -> (tensor<?x4x1x32xf16>, tensor<?x4x1xf32>) {
    %r, %l = array.attention %q, %k, %v causal offset(%o : tensor<i64>) logsumexp scale = 0.25
       : (tensor<?x4x1x32xf16>, tensor<?x2x?x32xf16>, tensor<?x2x?x32xf16>) -> tensor<?x4x1x32xf16>, tensor<?x4x1xf32>
    return %r, %l : tensor<?x4x1x32xf16>, tensor<?x4x1xf32>
  }
""".replace("xf16", f"x{dtype}"), steps, "sum")


def extents(name, dtype):
    """Caches that end at an extent: what lies behind it is NaN, or keys that would be seen."""
    def text(q, k, clauses, more=""):
        grown = k.replace("xKEYSx", "x?x")
        k = k.replace("KEYS", str(CACHED))
        sums = q[:q.rindex("x", 0, q.rindex("x"))] + "xf32>"
        return f"""  func.func @NAME(%q: {q}, %ks: {k}, %vs: {k}, %n: tensor<i32>{more}) -> ({q}, {sums}) {{
    %k = array.set_extent %ks, %n axis = 2 : ({k}, tensor<i32>) -> {grown}
    %v = array.set_extent %vs, %n axis = 2 : ({k}, tensor<i32>) -> {grown}
    %r, %l = array.attention %q, %k, %v {clauses} logsumexp scale = 0.25 : ({q}, {grown}, {grown}) -> {q}, {sums}
    return %r, %l : {q}, {sums}
  }}
"""

    def steps(q, k, counts, sinks=(), **reference):
        for count in counts:
            given = inputs(dtype, q, k)
            seen = [t.values[:, :, :count].copy() for t in given[1:]]
            wanted = attend(given[0].values, *seen, 0.25, logsumexp=True, sinks=sinks[0].values if sinks else None, **reference)
            given[1].values[:, :, count:] = 100 if count % 2 else np.nan
            given[2].values[:, :, count:] = np.nan
            yield Step([*given, Tensor("i32", np.int32(count)), *sinks], [(dtype, wanted[0]), ("f32", wanted[1])])

    CACHED, one, three, cache = 300, f"tensor<2x4x1x32x{dtype}>", f"tensor<2x4x3x32x{dtype}>", f"tensor<2x2xKEYSx32x{dtype}>"
    shape = (2, 2, CACHED, 32)
    yield Case(f"{name}extent", text(one, cache, ""), list(steps((2, 4, 1, 32), shape, (0, 1, 16, 17, 299, CACHED))), "sum")
    yield Case(f"{name}extent_causal", text(three, cache, "causal"), list(steps((2, 4, 3, 32), shape, (0, 2, 3, 40, CACHED), causal=True)), "sum")
    sinks = [Tensor("f32", [0.5, -1, 3, 0])]
    yield Case(f"{name}extent_window", text(three, cache, "causal window = 30 sinks(%s : tensor<4xf32>)", ", %s: tensor<4xf32>"),
               list(steps((2, 4, 3, 32), shape, (1, 35, 200), sinks, causal=True, window=30)), "sum")
    # Batches that the host knows beside keys that the device counts.
    batches = [step for batch in (1, 3) for step in steps((batch, 4, 1, 32), (batch, 2, CACHED, 32), (0, 17, CACHED))]
    yield Case(f"{name}extent_symbolic_batch", text(f"tensor<?x4x1x32x{dtype}>", f"tensor<?x2xKEYSx32x{dtype}>", ""), batches, "sum")
    # Not of one offset: each query sees all keys before the extent.
    yield Case(f"{name}extent_all_seen", text(three, cache, ""), list(steps((2, 4, 3, 32), shape, (0, 2, 40))), "sum")
    CACHED = 9000
    yield Case(f"{name}extent_long", text(f"tensor<1x4x1x16x{dtype}>", f"tensor<1x1xKEYSx16x{dtype}>", ""),
               list(steps((1, 4, 1, 16), (1, 1, CACHED, 16), (3, 5000))), "sum")
    # A loop grows its caches in place.
    head, cache, grown = f"tensor<4x1x16x{dtype}>", f"tensor<2x12x16x{dtype}>", f"tensor<2x?x16x{dtype}>"
    carried = f"tensor<i32>, {head}, {grown}, {grown}"
    yield Case(f"{name}extent_loop", f"""  func.func @NAME(%q0: {head}, %ks: {cache}, %vs: {cache}, %had: tensor<i32>, %steps: tensor<i32>) -> ({head}, tensor<i32>) {{
    %zero = array.constant dense<0> : tensor<i32>
    %one = array.constant dense<1> : tensor<i32>
    %k0 = array.set_extent %ks, %had axis = 1 : ({cache}, tensor<i32>) -> {grown}
    %v0 = array.set_extent %vs, %had axis = 1 : ({cache}, tensor<i32>) -> {grown}
    %r:4 = array.while %zero, %q0, %k0, %v0 : ({carried}) -> ({carried}) condition {{
    ^bb0(%i: tensor<i32>, %q: {head}, %k: {grown}, %v: {grown}):
      %more = array.compare lt, %i, %steps : (tensor<i32>, tensor<i32>) -> tensor<i1>
      array.yield %more : tensor<i1>
    }} body {{
    ^bb0(%i: tensor<i32>, %q: {head}, %k: {grown}, %v: {grown}):
      %next = array.add %i, %one : tensor<i32>
      %own = array.slice %q [0:2, :, :] : {head} -> tensor<2x1x16x{dtype}>
      %other = array.slice %q [2:4, :, :] : {head} -> tensor<2x1x16x{dtype}>
      %k1 = array.append %k, %own axis = 1 : ({grown}, tensor<2x1x16x{dtype}>) -> {grown}
      %v1 = array.append %v, %other axis = 1 : ({grown}, tensor<2x1x16x{dtype}>) -> {grown}
      %a = array.attention %q, %k1, %v1 scale = 0.5 : ({head}, {grown}, {grown}) -> {head}
      array.yield %next, %a, %k1, %v1 : {carried}
    }}
    %n = array.extent %r#3, 1 : {grown} -> tensor<i32>
    return %r#1, %n : {head}, tensor<i32>
  }}
""", [grow(dtype, had, turns) for had, turns in ((0, 5), (3, 9), (0, 0), (10, 6))], "sum")


def grow(dtype, had, turns):
    """A step of the loop: as many tokens as there is room for are remembered."""
    q, k, v = inputs(dtype, (4, 1, 16), (2, 12, 16))
    token, keys, values = q.values, k.values[:, :had].copy(), v.values[:, :had].copy()
    k.values[:, had:] = v.values[:, had:] = np.nan
    for _ in range(turns):
        if keys.shape[1] < 12:
            keys, values = np.concatenate([keys, token[:2]], 1), np.concatenate([values, token[2:]], 1)
        token = Tensor(dtype, attend(token, keys, values, 0.5)).values
    return Step([q, k, v, Tensor("i32", np.int32(had)), Tensor("i32", np.int32(turns))], [(dtype, token), ("i32", np.int32(keys.shape[1]))])


def fusion():
    """Operands that are slices and transposed: of one product's columns, and of a cache with tokens before heads."""
    qkv, k, v = tensors.random("bf16", (2, 6 * 32), 1, -1, 1), *(tensors.random("bf16", (2, 70, 2, 32), i, -1, 1) for i in (2, 3))
    q = qkv.values[:, 64:].reshape(2, 4, 1, 32)
    wanted = attend(q, k.values.swapaxes(1, 2), v.values.swapaxes(1, 2), 0.25)
    heads = "tensor<2x2x70x32xbf16>"
    turns = "\n".join(f"%t{i} = array.transpose %{i} permutation = [0, 2, 1, 3] : {k.mlir} -> {heads}" for i in (1, 2))
    yield simple("operands_in_place", [qkv, k, v], [("bf16", wanted)], f"""
    %s = array.slice %0 [:, 64:192] : {qkv.mlir} -> tensor<2x128xbf16>
    %q = array.reshape %s : tensor<2x128xbf16> -> tensor<2x4x1x32xbf16>
    {turns}
    %r0 = array.attention %q, %t1, %t2 scale = 0.25 : (tensor<2x4x1x32xbf16>, {heads}, {heads}) -> tensor<2x4x1x32xbf16>""", "sum")


def paged():
    """Pages out of order, of sizes that 4 and 16 divide or do not; what is not used is NaN, or a page that does not exist."""
    def given(dtype, queries, heads, groups, lengths, size, width, seed):
        pages = sum(-(-length // size) for length in lengths) + 2
        q, k, v = inputs(dtype, (len(lengths), heads, queries, width), (pages, groups, size, width), seed=seed)
        table = np.full((len(lengths), max(-(-max(lengths) // size), 1)), pages + 7)
        place_in_pages(k, v, table, lengths, seed)
        return [q, k, v, Tensor("i32", table), Tensor("i64", np.array(lengths))]

    def text(types):
        return (f"%r0 = array.paged_attention %0, %1, %2 table(%3 : {types[3]}) lengths(%4 : {types[4]}) scale = 0.25 : "
                f"({', '.join(types[:3])}) -> {types[0]}")

    def pages(name, dtype, *sizes):
        tensors_ = given(dtype, *sizes)
        wanted = attend_pages(*(t.values for t in tensors_), 0.25)
        return simple(name, tensors_, [(dtype, wanted)], text([t.mlir for t in tensors_]), "sum")

    for size in (1, 4, 6, 16, 64):
        yield pages(f"paged_by_{size}", "bf16", 1, 8, 2, (70, 1, 0, 33), size, 64, 40 + size)
    for name, dtype in (("", "f16"), ("single_", "f32")):
        yield pages(f"{name}paged_several_queries", dtype, 3, 6, 2, (3, 500), 16, 80, 50)
        yield pages(f"{name}paged_long", dtype, 1, 4, 1, (8500,), 20, 16, 51)
    for size in (6, 16):
        yield pages(f"single_paged_by_{size}", "f32", 1, 8, 2, (70, 1, 0, 33), size, 64, 40 + size)
    for name, dtype in (("", "f16"), ("single_", "f32")):
        types = [f"tensor<?x4x1x32x{dtype}>", *[f"tensor<?x2x?x32x{dtype}>"] * 2, "tensor<?x?xi32>", "tensor<?xi64>"]
        steps = []
        for lengths, size in (((5, 1, 9), 4), ((3,), 16), ((160, 2), 10)):
            tensors_ = given(dtype, 1, 4, 2, lengths, size, 32, 41)
            steps.append(Step(tensors_, [(dtype, attend_pages(*(t.values for t in tensors_), 0.25))]))
        arguments = ", ".join(f"%{i}: {type}" for i, type in enumerate(types))
        yield Case(f"{name}paged_symbolic", f"""  func.func @NAME({arguments}) -> {types[0]} {{
    {text(types)}
    return %r0 : {types[0]}
  }}
""", steps, "sum")


def single():
    """Of f32: each word is an element, and products are three of TF32."""
    for keys in (1, 17, 1000, 4097):
        yield case(f"single_keys_{keys}", "f32", (1, 8, 1, 64), (1, 2, keys, 64), logsumexp=True)
    for heads, groups in ((3, 3), (5, 1), (8, 1), (12, 1), (16, 1), (23, 1)):
        yield case(f"single_group_{heads}_{groups}", "f32", (2, heads, 1, 32), (2, groups, 333, 32), logsumexp=True)
    for width in (8, 24, 64, 80, 128, 136, 200, 256):
        yield case(f"single_width_{width}", "f32", (1, 8, 1, width), (1, 1, 300, width))
    yield case("single_16_rows_128", "f32", (1, 16, 1, 128), (1, 1, 150, 128), scale=0.06)
    yield case("single_16_rows_256", "f32", (1, 16, 1, 256), (1, 1, 150, 256), scale=0.06, logsumexp=True)
    yield case("single_narrow_values", "f32", (1, 12, 1, 200), (1, 1, 150, 200), (1, 1, 150, 24), scale=0.1)
    yield case("single_wide_values", "f32", (1, 12, 1, 40), (1, 1, 150, 40), (1, 1, 150, 192), logsumexp=True)
    yield case("single_width_12", "f32", (1, 2, 1, 12), (1, 2, 70, 12))
    yield case("single_several_queries", "f32", (2, 6, 3, 64), (2, 2, 700, 64), logsumexp=True)
    yield case("single_many_rows", "f32", (1, 8, 15, 32), (1, 2, 400, 32))
    yield case("single_no_batch", "f32", (3, 1, 16), (3, 40, 16))
    yield case("single_two_batch_dims", "f32", (2, 2, 2, 2, 16), (2, 2, 1, 90, 16), options="causal", causal=True)
    yield case("single_many_heads", "f32", (9, 32, 1, 16), (9, 32, 50, 16))
    yield case("single_scale_negative", "f32", (1, 2, 1, 32), (1, 2, 300, 32), scale=-0.5)
    yield case("single_long", "f32", (1, 4, 1, 16), (1, 1, 9000, 16), logsumexp=True)
    yield case("single_long_causal", "f32", (1, 2, 3, 16), (1, 1, 8300, 16), options="causal", causal=True, offset=5000, logsumexp=True)
    q, k, sinks = (1, 4, 3, 32), (1, 2, 420, 32), Tensor("f32", [-np.inf, -1, 80, 0])
    for offset in (-400, -2, 150, 2**31 - 1):
        yield case(f"single_offset_{offset}", "f32", q, k, options="causal", causal=True, offset=offset, logsumexp=True)
    for window in (1, 150):
        yield case(f"single_window_{window}", "f32", q, k, options=f"causal window = {window}", causal=True, window=window, logsumexp=True)
    yield case("single_sinks", "f32", q, k, sinks=sinks, logsumexp=True)
    yield case("single_sinks_causal", "f32", q, k, options="causal window = 4", sinks=sinks, causal=True, window=4, offset=-30, logsumexp=True)
    yield case("single_sinks_long", "f32", (1, 4, 1, 16), (1, 1, 8300, 16), sinks=sinks, logsumexp=True)
    yield from mask_cases("single_", "f32", "f32", 2, (("full", (2, 4, 2, 290)), ("keys", (2, 1, 1, 290)), ("queries", (4, 2, 1))), unseeing=1)
    yield from symbolic("single_symbolic", "f32")
    yield from extents("single_", "f32")


def digits():
    """Of f32, numbers whose lower digits a sum needs: large ones that cancel, and many of one sign."""
    generator = np.random.default_rng(3)
    q, k = (Tensor("f32", np.round(generator.uniform(-1, 1, shape) * 2 ** 23) / 2 ** 20) for shape in ((1, 2, 1, 64), (1, 2, 300, 64)))
    v = Tensor("f32", generator.uniform(1, 2, (1, 2, 300, 64)).astype(np.float32))
    yield simple("single_large_scores", [q, k, v], [("f32", attend(q.values, k.values, v.values, 0.01))],
                 f"%r0 = array.attention %0, %1, %2 scale = 0.01 : ({q.mlir}, {k.mlir}, {v.mlir}) -> {q.mlir}", "sum")
    keys = Tensor("f32", np.zeros((1, 1, 4000, 8)))
    values = Tensor("f32", generator.uniform(1, 2, (1, 1, 4000, 8)).astype(np.float32))
    few = Tensor("f32", generator.uniform(-1, 1, (1, 1, 3, 8)).astype(np.float32))
    yield simple("single_mean", [few, keys, values], [("f32", attend(few.values, keys.values, values.values, 1))],
                 f"%r0 = array.attention %0, %1, %2 scale = 1.0 : ({few.mlir}, {keys.mlir}, {values.mlir}) -> {few.mlir}", "composite")


def norms():
    """Products of one token's norm: of short vectors each row of a product sums up the norm by itself; long ones are normed first."""
    for dtype, width, rows in (("f32", 512, 600), ("f16", 264, 1024), ("f32", 3000, 100)):
        x, scale = tensors.random(dtype, (1, width), 1, -1, 1), tensors.random(dtype, (width,), 2, 0.5, 1.5)
        gate, up, down = (tensors.random(dtype, shape, seed, -0.1, 0.1) for seed, shape in ((3, (rows, width)), (4, (rows, width)), (5, (width, rows))))
        normed = x.values / np.sqrt(np.square(x.values).mean() + 0.001) * scale.values
        first, second = normed @ gate.values.T, normed @ up.values.T
        wanted = x.values + (first / (1 + np.exp(-first)) * second) @ down.values.T
        row = f"tensor<1x{rows}x{dtype}>"
        yield simple(f"norm_and_products_{dtype}_{width}", [x, scale, gate, up, down], [(dtype, wanted)], f"""
        %n = array.rms_norm %0 scale(%1 : {scale.mlir}) axis = 1 epsilon = 0.001 : {x.mlir}
        %g = array.matmul %n, %2 transpose_b : ({x.mlir}, {gate.mlir}) -> {row}
        %u = array.matmul %n, %3 transpose_b : ({x.mlir}, {up.mlir}) -> {row}
        %s = array.silu %g : {row}
        %h = array.mul %s, %u : {row}
        %d = array.matmul %h, %4 transpose_b : ({row}, {down.mlir}) -> {x.mlir}
        %r0 = array.add %0, %d : {x.mlir}""", "sum" if dtype == "f32" else "model")


def packed():
    """Queries out of rows that hold more than them, from `first` on: of several sequences, and of a number of them that is open."""
    for name, dtype, heads, groups, width, first in (("", "bf16", 4, 2, 32, 0), ("_equal", "f16", 8, 8, 8, 0), ("_queries_last", "f16", 4, 1, 64, 64),
                                                     ("_single", "f32", 4, 2, 16, 0), ("_anywhere", "f16", 4, 2, 16, 3)):
        last = first + heads * width
        steps = []
        for batch in (8, 3, 1):
            x, keys, values = inputs(dtype, (batch, last + 24), (batch, groups, 77, width), (batch, groups, 77, width))
            taken = x.values[:, first:last].reshape(batch, heads, 1, width)
            steps.append(Step([x, keys, values], [(dtype, attend(taken, keys.values, values.values, 0.25).reshape(batch, -1))]))
        for batch in (8, "?"):
            row, part, split, cache = (f"tensor<{batch}x{sizes}x{dtype}>" for sizes in (last + 24, last - first, f"{heads}x1x{width}", f"{groups}x77x{width}"))
            is_open = batch == "?"
            sizes = "sizes(%batch) " * is_open
            dim = f"    %zero = arith.constant 0 : index\n    %batch = tensor.dim %x, %zero : {row}\n" * is_open
            yield Case(f"packed{name}" + "_symbolic" * is_open, f"""  func.func @NAME(%x: {row}, %k: {cache}, %v: {cache}) -> {part} {{
{dim}    %s = array.slice %x [:, {first}:{last}] : {row} -> {part}
    %q = array.reshape %s {sizes}: {part} -> {split}
    %a = array.attention %q, %k, %v scale = 0.25 : ({split}, {cache}, {cache}) -> {split}
    %r = array.reshape %a {sizes}: {split} -> {part}
    return %r : {part}
  }}
""", steps if is_open else steps[:1], "sum")


def cases():
    yield from symbolic("symbolic", "f16")
    yield from extents("", "f16")
    for make in (shapes, hidden_keys, masks, fusion, packed, paged, single, digits, norms):
        yield from make()
