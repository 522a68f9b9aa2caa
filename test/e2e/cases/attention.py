"""Attention: head counts, masks, causality, types, symbolic lengths, decoding with a cache."""
import numpy as np

from harness import Case, Step, simple
import tensors
from tensors import Tensor, mlir_type


def attend(q, k, v, scale, mask=None, causal=False, offset=None, window=None, sinks=None, logsumexp=False, softcap=None):
    """In float64, [..., heads, length, width]; keys that are hidden weigh nothing, rows without keys give 0. A sink is
    one more key, whose value is 0. Scores are limited before a mask is added."""
    repeat = q.shape[-3] // k.shape[-3]
    k, v = np.repeat(k, repeat, -3), np.repeat(v, repeat, -3)
    scores = q @ k.swapaxes(-1, -2) * scale
    if softcap:
        scores = softcap * np.tanh(scores / softcap)
    if mask is not None:
        scores = np.where(mask, scores, -np.inf) if mask.dtype == bool else scores + mask
    if causal:
        offset = k.shape[-2] - q.shape[-2] if offset is None else offset
        distance = np.arange(q.shape[-2])[:, None] + offset - np.arange(k.shape[-2])
        scores = np.where((distance >= 0) & (distance < (window or np.inf)), scores, -np.inf)
    if sinks is not None:
        column = np.broadcast_to(sinks[:, None, None], scores.shape[:-1] + (1,))
        scores, v = np.concatenate([scores, column], -1), np.concatenate([v, np.zeros_like(v, shape=v.shape[:-2] + (1, v.shape[-1]))], -2)
    maximum = scores.max(-1, keepdims=True, initial=-np.inf)
    weights = np.exp(scores - np.where(np.isinf(maximum), 0, maximum))
    sums = weights.sum(-1, keepdims=True)
    result = weights @ v / np.where(sums == 0, 1, sums)
    if not logsumexp:
        return result
    with np.errstate(divide="ignore"):
        return result, (np.log(sums) + np.where(np.isinf(maximum), 0, maximum))[..., 0]


def inputs(dtype, q, k, v=None, seed=1):
    return [tensors.random(dtype, shape, seed + i, -1, 1) for i, shape in enumerate((q, k, v or k))]


def text_of(types, result, options="", scale=0.3):
    return f"%r0 = array.attention %0, %1, %2 {options} scale = {scale} : ({', '.join(types)}) -> {result}"


def at_most(scores, scale=0.3):
    """A scale, and how many scores may be held at once."""
    return f"{scale} {{array.max_scores = {scores} : i64}}"


def case(name, tensors_, options="", mask=None, types=None, result=None, scale=0.3, **reference):
    q, k, v = tensors_
    values = attend(q.values, k.values, v.values, 0.3, None if mask is None else mask.values, **reference)
    more = [] if mask is None else [mask]
    if mask is not None:
        options = f"mask(%3 : {mask.mlir}) {options}"
    types = types or [t.mlir for t in tensors_]
    result = result or mlir_type(q.dtype, values.shape)
    return simple(name, tensors_ + more, [(q.dtype, values)], text_of(types, result, options, scale), "sum",
                  types=types + [m.mlir for m in more], result_types=[result])


def shapes():
    yield case("one_head", inputs("f32", (1, 5, 8), (1, 7, 8)))
    yield case("heads", inputs("f32", (2, 3, 17, 16), (2, 3, 33, 16)))
    yield case("grouped", inputs("f32", (2, 6, 9, 16), (2, 2, 20, 16)))
    yield case("one_key_head", inputs("f32", (2, 4, 9, 16), (2, 1, 20, 16)))
    yield case("narrow_values", inputs("f32", (2, 3, 17, 16), (2, 3, 33, 16), (2, 3, 33, 5)))
    yield case("odd_width", inputs("f32", (1, 2, 12, 13), (1, 2, 12, 13)))
    yield case("one_query", inputs("f32", (2, 6, 1, 32), (2, 2, 50, 32)))
    yield case("one_key", inputs("f32", (1, 2, 3, 8), (1, 2, 1, 8)))
    yield case("tiles", inputs("f32", (1, 1, 64, 64), (1, 1, 128, 64)))
    yield case("no_batch", inputs("f32", (3, 10, 8), (3, 10, 8)))
    yield case("two_batch_dims", inputs("f32", (2, 2, 2, 5, 8), (2, 2, 1, 6, 8)), "causal", causal=True)


def types():
    for dtype in ("f16", "bf16", "f64"):
        yield case(f"of_{dtype}", inputs(dtype, (2, 4, 33, 32), (2, 2, 40, 32)), "causal", causal=True)
    for width in (64, 128):
        yield case(f"f16_wide_{width}", inputs("f16", (1, 2, 70, width), (1, 2, 130, width)))


def masks():
    shape = dict(q=(2, 4, 9, 16), k=(2, 2, 20, 16))
    for name, mask_shape in (("full", (2, 4, 9, 20)), ("heads_shared", (2, 1, 9, 20)), ("keys", (2, 1, 1, 20)), ("plane", (9, 20)),
                             ("row", (20,))):
        truth = Tensor("i1", np.random.default_rng(5).random(mask_shape) < 0.6)
        yield case(f"mask_{name}", inputs("f32", **shape), mask=truth)
        yield case(f"bias_{name}", inputs("f32", **shape), mask=tensors.random("f32", mask_shape, 6, -1, 1))
    hidden = np.random.default_rng(7).random((2, 1, 9, 20)) < 0.5
    hidden[:, :, 2] = False
    yield case("no_key_seen", inputs("f32", **shape), mask=Tensor("i1", hidden))
    yield case("bias_f16", inputs("f16", **shape), mask=tensors.random("f16", (9, 20), 8, -1, 1))
    yield case("bias_infinite", inputs("f32", **shape), mask=Tensor("f32", np.where(hidden, 0, -np.inf)))
    yield case("causal", inputs("f32", **shape), "causal", causal=True)
    yield case("causal_square", inputs("f32", (1, 2, 40, 16), (1, 2, 40, 16)), "causal", causal=True)
    yield case("causal_more_queries", inputs("f32", (1, 2, 9, 16), (1, 2, 5, 16)), "causal", causal=True)
    yield case("causal_and_mask", inputs("f32", **shape), "causal", mask=Tensor("i1", hidden), causal=True)


def windows():
    square = inputs("f32", (2, 4, 20, 16), (2, 2, 20, 16))
    for window in (1, 3, 64):
        yield case(f"window_{window}", square, f"causal window = {window}", causal=True, window=window)
    # The last query sees the last key, so the first ones see none.
    yield case("window_few_keys", inputs("f32", (1, 2, 9, 16), (1, 2, 5, 16)), "causal window = 2", causal=True, window=2)
    yield case("window_f16", inputs("f16", (1, 2, 33, 32), (1, 2, 40, 32)), "causal window = 7", causal=True, window=7)
    q, k, v = square
    scale, types, result = 0.3, ", ".join(t.mlir for t in square), mlir_type("f32", q.shape)
    for name, sinks, options, more in (
            ("plain", Tensor("f32", [0.5, -1, 3, 0]), "", {}),
            ("causal", Tensor("f32", [-np.inf, -1, 80, 0]), "causal window = 4", dict(causal=True, window=4))):
        yield simple(f"sinks_{name}", square + [sinks], [("f32", attend(q.values, k.values, v.values, scale, sinks=sinks.values, **more))],
                     f"%r0 = array.attention %0, %1, %2 {options} sinks(%3 : {sinks.mlir}) scale = 0.3 "
                     f": ({types}) -> {result}", "sum")
    sums = mlir_type("f32", q.shape[:-1])
    hidden = np.random.default_rng(7).random((20, 20)) < 0.5
    hidden[3] = False
    mask = Tensor("i1", hidden)
    want = attend(q.values, k.values, v.values, scale, mask=mask.values, logsumexp=True)
    yield simple("logsumexp", square + [mask], [("f32", want[0]), ("f32", want[1])],
                 f"%r0, %r1 = array.attention %0, %1, %2 mask(%3 : {mask.mlir}) logsumexp scale = 0.3 : ({types}) -> {result}, {sums}", "sum")
    # Two halves of the keys, attended to apart, then joined.
    want = attend(q.values, k.values, v.values, scale)
    half = "tensor<2x2x10x16xf32>"
    yield simple("logsumexp_joins", square, [("f32", want)],
                 f"""%k0 = array.slice %1 [0:2, 0:2, 0:10, 0:16] : {k.mlir} -> {half}
                     %k1 = array.slice %1 [0:2, 0:2, 10:20, 0:16] : {k.mlir} -> {half}
                     %v0 = array.slice %2 [0:2, 0:2, 0:10, 0:16] : {k.mlir} -> {half}
                     %v1 = array.slice %2 [0:2, 0:2, 10:20, 0:16] : {k.mlir} -> {half}
                     %a, %l = array.attention %0, %k0, %v0 logsumexp scale = 0.3 : ({q.mlir}, {half}, {half}) -> {result}, {sums}
                     %b, %m = array.attention %0, %k1, %v1 logsumexp scale = 0.3 : ({q.mlir}, {half}, {half}) -> {result}, {sums}
                     %n = array.logaddexp %l, %m : {sums}
                     %dl = array.sub %l, %n : {sums}
                     %dm = array.sub %m, %n : {sums}
                     %wl = array.exp %dl : {sums}
                     %wm = array.exp %dm : {sums}
                     %cl = array.expand_dims %wl axes = [3] : {sums} -> tensor<2x4x20x1xf32>
                     %cm = array.expand_dims %wm axes = [3] : {sums} -> tensor<2x4x20x1xf32>
                     %p = array.mul %a, %cl : ({result}, tensor<2x4x20x1xf32>) -> {result}
                     %o = array.mul %b, %cm : ({result}, tensor<2x4x20x1xf32>) -> {result}
                     %r0 = array.add %p, %o : {result}""", "sum")


def symbolic():
    steps = []
    for queries, keys in ((1, 1), (5, 8), (32, 32), (33, 65), (1, 100), (0, 4)):
        given = inputs("f32", (2, 4, queries, 16), (2, 2, keys, 16))
        steps.append(Step(given, [("f32", attend(*(t.values for t in given), 0.25, causal=True))]))
    yield Case("symbolic_lengths", """  func.func @NAME(%q: tensor<?x4x?x16xf32>, %k: tensor<?x2x?x16xf32>, %v: tensor<?x2x?x16xf32>)
      -> tensor<?x4x?x16xf32> {
    %r = array.attention %q, %k, %v causal scale = 0.25
       : (tensor<?x4x?x16xf32>, tensor<?x2x?x16xf32>, tensor<?x2x?x16xf32>) -> tensor<?x4x?x16xf32>
    return %r : tensor<?x4x?x16xf32>
  }
""", steps, "sum")


def parts():
    """More scores than are held at once; on the stand-in they would take minutes."""
    for name, options, more in (("plain", "", {}), ("causal", "causal", dict(causal=True)),
                                ("window", "causal window = 70", dict(causal=True, window=70))):
        given = inputs("f32", (1, 2050, 4), (1, 2100, 4))
        one = case(f"in_parts_{name}", given, options, **more)
        one.stand_in = False
        yield one
    mask = Tensor("i1", np.random.default_rng(9).random((2050, 2100)) < 0.4)
    one = case("in_parts_masked", inputs("f32", (1, 2050, 4), (1, 2100, 4)), "causal", mask=mask, causal=True)
    one.stand_in = False
    yield one


def blocks():
    """Loops over blocks of queries; so few scores are allowed that small cases have several."""
    given, loop = inputs("f32", (1, 2, 130, 8), (1, 2, 24, 8)), at_most(128)
    yield case("blocks", given, scale=loop)
    yield case("blocks_grouped_f16", inputs("f16", (2, 4, 70, 16), (2, 2, 10, 16), (2, 2, 10, 8)), scale=loop)
    mask = Tensor("i1", np.random.default_rng(9).random((1, 1, 130, 24)) < 0.4)
    yield case("blocks_masked", given, mask=mask, scale=loop)
    yield case("blocks_key_mask", given, mask=tensors.random("f32", (1, 24), 6, -1, 1), scale=loop)
    # A few parts of the queries, each with keys of its own; then parts that are loops.
    yield case("blocks_few_parts", given, "causal", causal=True, scale=at_most(4096))
    for name, options, more in (("causal", "causal", dict(causal=True)),
                                ("window", "causal window = 70", dict(causal=True, window=70))):
        one = case(f"blocks_in_parts_{name}", inputs("f32", (1, 600, 4), (1, 620, 4)), options, scale=at_most(4096), **more)
        one.stand_in = False
        yield one


def symbolic_blocks():
    """Of one module: no query, fewer than a block, a whole block, several, the last one overlapping the one before.
    No target has a kernel of f64, so its plans have both cases of the lengths."""
    sizes = (1, 1), (5, 300), (64, 64), (130, 20), (0, 4), (65, 9), (128, 3)
    for name, dtype, one_call in (("", "f32", False), ("_f64", "f64", False), ("_one_call", "f64", True)):
        query, key = f"tensor<?x4x?x16x{dtype}>", f"tensor<?x2x?x16x{dtype}>"
        steps = []
        for queries, keys in sizes:
            given = inputs(dtype, (2, 4, queries, 16), (2, 2, keys, 16))
            steps.append(Step(given, [(dtype, attend(*(t.values for t in given), 0.25, causal=True, window=11))]))
        yield Case(f"symbolic_blocks{name}", f"""  func.func @NAME(%q: {query}, %k: {key}, %v: {key}) -> {query} {{
    %r = array.attention %q, %k, %v causal window = 11 scale = {at_most(1024, 0.25)} : ({query}, {key}, {key}) -> {query}
    return %r : {query}
  }}
""", steps, "sum", one_call=one_call, recordings=2)
    head = "%q: tensor<?x4x?x16xf32>, %k: tensor<?x2x?x16xf32>, %v: tensor<?x2x?x16xf32>"
    types = "(tensor<?x4x?x16xf32>, tensor<?x2x?x16xf32>, tensor<?x2x?x16xf32>) -> tensor<?x4x?x16xf32>"
    steps = []
    for queries, keys in sizes:
        given = inputs("f32", (2, 4, queries, 16), (2, 2, keys, 16), seed=3)
        mask, sinks = tensors.random("f32", (2, 1, queries, keys), 7, -1, 1), tensors.random("f32", (4,), 8, -1, 1)
        offset = Tensor("i32", np.int32(keys // 2))
        result, logarithms = attend(*(t.values for t in given), 0.25, mask.values, causal=True, offset=keys // 2,
                                    sinks=sinks.values, logsumexp=True)
        steps.append(Step(given + [mask, offset, sinks], [("f32", result), ("f32", logarithms)]))
    # More rows than queries, which boxes of the mask would fit into.
    given = inputs("f32", (2, 4, 64, 16), (2, 2, 9, 16))
    steps.append(Step(given + [tensors.random("f32", (2, 1, 70, 9), 7, -1, 1), offset, sinks], [], error="got 64 and 70"))
    yield Case("symbolic_blocks_masked", f"""  func.func @NAME({head}, %m: tensor<2x1x?x?xf32>, %o: tensor<i32>, %s: tensor<4xf32>)
      -> (tensor<?x4x?x16xf32>, tensor<?x4x?xf32>) {{
    %r, %l = array.attention %q, %k, %v mask(%m : tensor<2x1x?x?xf32>) causal offset(%o : tensor<i32>)
       sinks(%s : tensor<4xf32>) logsumexp scale = {at_most(1024, 0.25)} : {types}, tensor<?x4x?xf32>
    return %r, %l : tensor<?x4x?x16xf32>, tensor<?x4x?xf32>
  }}
""", steps, "sum")
    # Equal sizes of different formulas.
    past, new = "tensor<1x?x4xf32>", "tensor<1x?x4xf32>"
    steps = []
    for queries, before, behind in ((70, 3, 5), (1, 2, 1)):
        q, kp, kn, vp, vn = (tensors.random("f32", (1, n, 4), 20 + i, -1, 1)
                             for i, n in enumerate((queries, before, behind, before + 1, behind - 1)))
        keys, values = (np.concatenate([a.values, b.values], 1) for a, b in ((kp, kn), (vp, vn)))
        steps.append(Step([q, kp, kn, vp, vn], [("f32", attend(q.values, keys, values, 0.25))]))
    steps.append(Step([q, kp, kn, vp, vp], [], error="got 3 and 6"))
    yield Case("symbolic_blocks_of_formulas", f"""  func.func @NAME(%q: {new}, %kp: {past}, %kn: {new}, %vp: {past}, %vn: {new}) -> {new} {{
    %k = array.concatenate %kp, %kn axis = 1 : ({past}, {new}) -> {new}
    %v = array.concatenate %vp, %vn axis = 1 : ({past}, {new}) -> {new}
    %r = array.attention %q, %k, %v scale = {at_most(64, 0.25)} : ({new}, {new}, {new}) -> {new}
    return %r : {new}
  }}
""", steps, "sum")


def visible_blocks():
    """Blocks of 64 queries and 64 keys, of which those that are hidden are left out. Of one module: few scores; whole blocks; last
    ones that overlap; more queries than keys; too many batches, and too few of either, which are blocks of queries."""
    head = "%q: tensor<?x2x?x8xTYPE>, %k: tensor<?xGx?x8xTYPE>, %v: tensor<?xGx?x8xTYPE>"
    types = "(tensor<?x2x?x8xTYPE>, tensor<?xGx?x8xTYPE>, tensor<?xGx?x8xTYPE>) -> tensor<?x2x?x8xTYPE>"
    limit = at_most(8192, 0.25)
    for name, dtype, groups, options, more, sizes in (
            ("causal", "f32", 2, "causal", dict(causal=True), ((1, 9, 9), (1, 128, 128), (1, 130, 201), (1, 201, 70), (2, 70, 70), (1, 20, 300))),
            ("window", "f32", 1, "causal window = 30", dict(causal=True, window=30), ((1, 65, 300), (1, 150, 150), (1, 140, 66))),
            ("f16", "f16", 1, "causal", dict(causal=True), ((1, 130, 100),))):
        steps = []
        for batch, queries, keys in sizes:
            given = inputs(dtype, (batch, 2, queries, 8), (batch, groups, keys, 8))
            steps.append(Step(given, [(dtype, attend(*(t.values for t in given), 0.25, **more))]))
        text = f"""  func.func @NAME({head}) -> tensor<?x2x?x8xTYPE> {{
    %r = array.attention %q, %k, %v {options} scale = {limit} : {types}
    return %r : tensor<?x2x?x8xTYPE>
  }}
"""
        yield Case(f"visible_blocks_{name}", text.replace("TYPE", dtype).replace("xGx", f"x{groups}x"), steps, "sum")
    # A number of queries that is a formula with a maximum: the host still chooses.
    steps = []
    for size in (3, 64, 300):
        x, = given = [tensors.random("f32", (1, size, 8), 5, -1, 1)]
        q = np.minimum(x.values[:, :-2:2], x.values[:, 2::2])
        steps.append(Step(given, [("f32", attend(q, x.values, x.values, 0.25, causal=True))]))
    yield Case("visible_blocks_every_other_query", f"""  func.func @NAME(%x: tensor<1x?x8xf32>) -> tensor<1x?x8xf32> {{
    %q = array.reduce_window min, %x window = [1, 2, 1] strides = [1, 2, 1] dilation = [1, 2, 1] : tensor<1x?x8xf32> -> tensor<1x?x8xf32>
    %r = array.attention %q, %x, %x causal scale = {limit} : (tensor<1x?x8xf32>, tensor<1x?x8xf32>, tensor<1x?x8xf32>) -> tensor<1x?x8xf32>
    return %r : tensor<1x?x8xf32>
  }}
""", steps, "sum")
    for name, mask_type, shape in (("masked", "tensor<1x1x?x?xf32>", lambda n, m: (1, 1, n, m)), ("key_mask", "tensor<?xi1>", lambda n, m: (m,))):
        steps = []
        for queries, keys, offset in ((130, 100, 20), (70, 140, 140), (66, 70, -30)):
            given = inputs("f32", (1, 2, queries, 8), (1, 2, keys, 8), seed=3)
            dtype = "i1" if "i1" in mask_type else "f32"
            mask = tensors.random("f32", shape(queries, keys), 7, -1, 1)
            if dtype == "i1":
                mask = Tensor("i1", mask.values < 0.3)
            sinks = tensors.random("f32", (2,), 8, -1, 1)
            wanted = attend(*(t.values for t in given), 0.25, mask.values, causal=True, offset=offset, sinks=sinks.values, logsumexp=True)
            steps.append(Step(given + [mask, Tensor("i32", np.int32(offset)), sinks], [("f32", result) for result in wanted]))
        # A `?` is not broadcast, and more columns than keys are no mask of these.
        for columns in (1, 71):
            other = Tensor(dtype, np.ones(shape(66, columns)))
            steps.append(Step(given + [other, Tensor("i32", np.int32(0)), sinks], [], error=f"= {columns}"))
        plain = [text.replace("TYPE", "f32").replace("xGx", "x2x") for text in (head, types)]
        yield Case(f"visible_blocks_{name}", f"""  func.func @NAME({plain[0]}, %m: {mask_type}, %o: tensor<i32>, %s: tensor<2xf32>)
      -> (tensor<?x2x?x8xf32>, tensor<?x2x?xf32>) {{
    %r, %l = array.attention %q, %k, %v mask(%m : {mask_type}) causal offset(%o : tensor<i32>) sinks(%s : tensor<2xf32>)
       logsumexp scale = {limit} : {plain[1]}, tensor<?x2x?xf32>
    return %r, %l : tensor<?x2x?x8xf32>, tensor<?x2x?xf32>
  }}
""", steps, "sum")


def prefill():
    """A prompt's keys and values, which the program computes, go into two caches of no tokens: attention knows that they have as many."""
    weights = [tensors.random("f32", (16, 8), seed, -1, 1) for seed in (1, 2)]
    steps = []
    for length in (1, 7, 16, 32):
        x = tensors.random("f32", (length, 16), length, -1, 1)
        keys, values = ((x.values.astype(np.float64) @ w.values)[None] for w in weights)
        steps.append(Step([x, *weights], [("f32", attend(keys, keys, values, 0.35, causal=True)[0])]))
    rows, cache, batch = "tensor<?x8xf32>", "tensor<64x8xf32>", "tensor<1x?x8xf32>"
    product = f"(tensor<?x16xf32>, tensor<16x8xf32>) -> {rows}"
    yield Case("prefill_of_caches", f"""  func.func @NAME(%x: tensor<?x16xf32> {{array.dims = ["length", ""]}}, %wk: tensor<16x8xf32>, %wv: tensor<16x8xf32>) -> {rows}
      attributes {{array.dim_range = {{length = [1, 32, 1]}}}} {{
    %zero = array.constant dense<0> : tensor<i32>
    %k = array.matmul %x, %wk : {product}
    %v = array.matmul %x, %wv : {product}
    %storage = array.constant dense<0.0> : {cache}
    %empty = array.set_extent %storage, %zero axis = 0 : ({cache}, tensor<i32>) -> {rows}
    %keys = array.append %empty, %k axis = 0 : ({rows}, {rows}) -> {rows}
    %values = array.append %empty, %v axis = 0 : ({rows}, {rows}) -> {rows}
    %q3 = array.expand_dims %k axes = [0] : {rows} -> {batch}
    %k3 = array.expand_dims %keys axes = [0] : {rows} -> {batch}
    %v3 = array.expand_dims %values axes = [0] : {rows} -> {batch}
    %y = array.attention %q3, %k3, %v3 causal scale = 0.35 : ({batch}, {batch}, {batch}) -> {batch}
    %r = array.squeeze %y axes = [0] : {batch} -> {rows}
    return %r : {rows}
  }}
""", steps, "sum")


def decode():
    """Keys and values are written at a position that only the device knows, then attended up to it."""
    heads, groups, width, capacity = 4, 2, 8, 12
    keys, values = np.zeros((1, groups, capacity, width)), np.zeros((1, groups, capacity, width))
    steps = []
    for position in range(6):
        q, k, v = inputs("f32", (1, heads, 1, width), (1, groups, 1, width), seed=10 * position + 1)
        keys[:, :, position], values[:, :, position] = k.values[:, :, 0], v.values[:, :, 0]
        result = attend(q.values, keys, values, 0.5, causal=True, offset=position)
        steps.append(Step([q, k, v, Tensor("i32", np.int32(position))], [("f32", result)]))
    cache, new = f"tensor<1x{groups}x{capacity}x{width}xf32>", f"tensor<1x{groups}x1x{width}xf32>"
    query = f"tensor<1x{heads}x1x{width}xf32>"
    yield Case("decode_with_cache", f"""  array.variable @NAME_keys : {cache}
  array.variable @NAME_values : {cache}
  func.func @NAME(%q: {query}, %k: {new}, %v: {new}, %position: tensor<i32>) -> {query} {{
    %zero = array.constant dense<0> : tensor<i32>
    %oldKeys = array.variable.read @NAME_keys : {cache}
    %oldValues = array.variable.read @NAME_values : {cache}
    %keys = array.dynamic_update_slice %oldKeys[%zero, %zero, %position, %zero] = %k
       : ({cache}, {new}, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> {cache}
    %values = array.dynamic_update_slice %oldValues[%zero, %zero, %position, %zero] = %v
       : ({cache}, {new}, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> {cache}
    array.variable.assign @NAME_keys, %keys : {cache}
    array.variable.assign @NAME_values, %values : {cache}
    %r = array.attention %q, %keys, %values causal offset(%position : tensor<i32>) scale = 0.5
       : ({query}, {cache}, {cache}) -> {query}
    return %r : {query}
  }}
""", steps, "sum")


def attend_pages(q, k, v, table, lengths, scale, softcap=None):
    """Each sequence on its own: its pages behind each other, up to its length, the queries last."""
    result = np.zeros(q.shape[:3] + v.shape[3:], q.dtype)
    for b, length in enumerate(lengths):
        keys, values = (np.concatenate(pages[np.clip(table[b], 0, len(pages) - 1)], 1)[None, :, :length] for pages in (k, v))
        result[b] = attend(q[b:b + 1], keys, values, scale, causal=True, offset=length - q.shape[2], softcap=softcap)[0]
    return result


def place_in_pages(k, v, table, lengths, seed):
    """Enters pages out of order into `table`, for the lengths of its sequences; keys and values of none are NaN then."""
    pages, _, size, _ = k.values.shape
    order = list(np.random.default_rng(seed).permutation(pages))
    for b, length in enumerate(lengths):
        for i in range(-(-length // size)):
            table[b, i] = order.pop()
            k.values[table[b, i], :, length - i * size:] = v.values[table[b, i], :, length - i * size:] = np.nan
    k.values[order], v.values[order] = np.nan, np.nan


def paged():
    """Sequences of several lengths in pages out of order; what is not used yet is NaN, or a page that does not exist."""
    def given(dtype, queries, heads, groups, lengths, pages, size, width, seed):
        q, k, v = inputs(dtype, (len(lengths), heads, queries, width), (pages, groups, size, width), seed=seed)
        most = max(-(-max(lengths) // size), 1)
        table = np.full((len(lengths), most), pages + 7)
        place_in_pages(k, v, table, lengths, seed)
        return [q, k, v, Tensor("i32", table), Tensor("i64", np.array(lengths))]

    def text(types, result):
        return (f"%r0 = array.paged_attention %0, %1, %2 table(%3 : {types[3]}) lengths(%4 : {types[4]}) scale = 0.3 : "
                f"({', '.join(types[:3])}) -> {result}")

    for name, dtype, queries, heads, groups, lengths in (("decode", "f32", 1, 4, 4, (5, 1, 0, 12)), ("grouped", "f32", 1, 6, 2, (9, 4)),
                                                         ("several_queries", "f32", 3, 2, 2, (3, 11)), ("f16", "f16", 1, 4, 2, (7, 8)),
                                                         ("bf16", "bf16", 2, 2, 1, (7, 2)), ("f64", "f64", 1, 2, 1, (6, 3))):
        tensors_ = given(dtype, queries, heads, groups, lengths, 9, 4, 8, 40)
        want = attend_pages(*(t.values for t in tensors_), 0.3)
        yield simple(f"paged_{name}", tensors_, [(dtype, want)], text([t.mlir for t in tensors_], tensors_[0].mlir), "sum")
    # Lengths beyond what the pages hold: the first queries still do not see the last places.
    for dtype in ("f32", "f16"):
        q, k, v = inputs(dtype, (3, 2, 3, 8), (6, 2, 4, 8), seed=43)
        tensors_ = [q, k, v, Tensor("i32", np.array([[5, 0], [1, 2], [4, 3]])), Tensor("i64", np.array([9, 10, 40]))]
        want = attend_pages(*(t.values for t in tensors_), 0.3)
        yield simple(f"paged_beyond_{dtype}", tensors_, [(dtype, want)], text([t.mlir for t in tensors_], q.mlir), "sum")
    types = ["tensor<?x4x1x8xf32>", "tensor<?x2x4x8xf32>", "tensor<?x2x4x8xf32>", "tensor<?x?xi32>", "tensor<?xi64>"]
    steps = []
    for lengths, pages in (((5, 1, 9), 8), ((3,), 1), ((16, 2), 9)):
        tensors_ = given("f32", 1, 4, 2, lengths, pages, 4, 8, 41)
        steps.append(Step(tensors_, [("f32", attend_pages(*(t.values for t in tensors_), 0.3))]))
    arguments = ", ".join(f"%{i}: {type}" for i, type in enumerate(types))
    yield Case("paged_symbolic", f"""  func.func @NAME({arguments}) -> {types[0]} {{
    {text(types, types[0])}
    return %r0 : {types[0]}
  }}
""", steps, "sum")


def rotate(x, positions, base, interleaved=False):
    """Rotary embedding: pairs of the last dim turned by position * base ** (-2 i / D)."""
    half = x.shape[-1] // 2
    angles = positions[..., None] * base ** (-2.0 * np.arange(half) / x.shape[-1])
    first, second = (x[..., ::2], x[..., 1::2]) if interleaved else (x[..., :half], x[..., half:])
    turned = first * np.cos(angles) - second * np.sin(angles), second * np.cos(angles) + first * np.sin(angles)
    return np.stack(turned, -1).reshape(x.shape) if interleaved else np.concatenate(turned, -1)


def rope():
    positions = Tensor("i32", [3, 0, 17, 4, 5, 6, 99])
    for dtype in ("f32", "f64", "f16", "bf16"):
        x = tensors.random(dtype, (2, 3, 7, 16), 1, -1, 1)
        for interleaved in (False, True):
            yield simple(f"rope{'_interleaved' * interleaved}_{dtype}", [x, positions],
                         [(dtype, rotate(x.values, positions.values, 1e4, interleaved))],
                         f"%r0 = array.rope %0, %1 base = 1.0e4 {'interleaved' * interleaved} : ({x.mlir}, {positions.mlir}) -> {x.mlir}",
                         "sum")
    x, places = tensors.random("f32", (2, 5, 4), 2, -1, 1), tensors.random("f32", (2, 5), 3, 0, 9)
    yield simple("rope_float_positions", [x, places], [("f32", rotate(x.values, places.values, 100.0))],
                 f"%r0 = array.rope %0, %1 base = 100.0 : ({x.mlir}, {places.mlir}) -> {x.mlir}", "sum")
    steps = []
    for length in (1, 5, 64, 0):
        x, places = tensors.random("f32", (2, length, 8), length, -1, 1), Tensor("i64", np.arange(length))
        steps.append(Step([x, places], [("f32", rotate(x.values, places.values, 1e4, True))]))
    yield Case("rope_symbolic", """  func.func @NAME(%x: tensor<2x?x8xf32>, %p: tensor<?xi64>) -> (tensor<2x?x8xf32>) {
    %r = array.rope %x, %p base = 1.0e4 interleaved : (tensor<2x?x8xf32>, tensor<?xi64>) -> tensor<2x?x8xf32>
    return %r : tensor<2x?x8xf32>
  }
""", steps, "sum")
    # Any number of features, which has to be even.
    for interleaved in (False, True):
        steps = []
        for rows, features in ((3, 8), (5, 64), (1, 2), (2, 0)):
            x, places = tensors.random("f32", (rows, features), rows, -1, 1), Tensor("i64", np.arange(rows) * 100)
            steps.append(Step([x, places], [("f32", rotate(x.values, places.values, 1e4, interleaved))]))
        steps.append(Step([tensors.random("f32", (3, 7), 1), Tensor("i64", np.arange(3))], error="array.rope: .*got 21 and 18"))
        option = "interleaved" * interleaved
        yield Case(f"rope_open_{option}", f"""  func.func @NAME(%x: tensor<?x?xf32>, %p: tensor<?xi64>) -> (tensor<?x?xf32>) {{
    %r = array.rope %x, %p base = 1.0e4 {option} : (tensor<?x?xf32>, tensor<?xi64>) -> tensor<?x?xf32>
    return %r : tensor<?x?xf32>
  }}
""", steps, "sum")


def positions():
    places = Tensor("i32", [[3, 0, 17], [4, 5, 99]])
    angles = places.values[..., None] * 1e4 ** (-2.0 * np.arange(4) / 8)
    for dtype in ("f32", "f64", "f16"):
        for options, joined in (("", np.concatenate([np.sin(angles), np.cos(angles)], -1)),
                                ("interleaved", np.stack([np.sin(angles), np.cos(angles)], -1).reshape(2, 3, 8))):
            yield simple(f"sinusoidal_{dtype}_{options}", [places], [(dtype, joined)],
                         f"%r0 = array.sinusoidal %0 size = 8 base = 1.0e4 {options} : tensor<?x3xi32> -> tensor<?x3x8x{dtype}>", "sum",
                         types=["tensor<?x3xi32>"], result_types=[f"tensor<?x3x8x{dtype}>"])
    query, key = Tensor("i64", [4, 5]), Tensor("i64", [0, 1, 2, 3, 4, 5, 6])
    slopes = {1: [2.0 ** -8], 8: [2.0 ** -h for h in range(1, 9)], 6: [2.0 ** -2, 2.0 ** -4, 2.0 ** -6, 2.0 ** -8, 2.0 ** -1, 2.0 ** -3]}
    for heads, slope in slopes.items():
        bias = -np.array(slope)[:, None, None] * np.abs(query.values[:, None] - key.values)
        yield simple(f"alibi_{heads}", [query, key], [("f32", bias)],
                     f"%r0 = array.alibi %0, %1 heads = {heads} : (tensor<?xi64>, tensor<7xi64>) -> tensor<{heads}x?x7xf32>", "rounded",
                     types=["tensor<?xi64>", "tensor<7xi64>"], result_types=[f"tensor<{heads}x?x7xf32>"])


def cases():
    for make in (shapes, types, masks, windows, symbolic, parts, blocks, symbolic_blocks, visible_blocks, decode, prefill, paged, rope, positions):
        yield from make()
