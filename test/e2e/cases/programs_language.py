"""Programs about text as users have them: encoders, decoders with caches, mixtures of experts, recurrences, sampling."""
import numpy as np

from cases.generators import KEY, unit
from cases.matmul import grouped
from cases.programs_vision import convolved
from traced import Program


def attend(q, k, v, scale, seen=None, bias=0.0):
    groups = q.shape[-3] // k.shape[-3]
    k, v = (np.repeat(x, groups, -3) for x in (k, v))
    s = q @ k.swapaxes(-1, -2) * scale + bias
    s = np.where(True if seen is None else seen, s, -np.inf)
    e = np.exp(s - s.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True) @ v


def heads(p, x, count):
    """[B, T, H * D] to [B, H, T, D]."""
    batch, length = p.dim(x, 0), p.dim(x, 1)
    y = p.reshape(x, lambda v: (*v.shape[:2], count, v.shape[2] // count), [name for name, size in zip((batch, length), x.shape) if size is None])
    return p.transpose(y, 0, 2, 1, 3)


def joined(p, x):
    batch, length = p.dim(x, 0), p.dim(x, 2)
    y = p.transpose(x, 0, 2, 1, 3)
    return p.reshape(y, lambda v: (*v.shape[:2], v.shape[2] * v.shape[3]), [name for name, size in zip((batch, length), (x.shape[0], x.shape[2])) if size is None])


def bert():
    """Embeddings of three kinds, a padding mask from lengths, one layer, and a loss with smoothed labels."""
    p = Program(3)
    sizes = ((2, 5), (1, 9), (4, 7))
    ids = p.random("i32", *sizes, low=0, high=50)
    kinds = p.random("i32", *sizes, low=0, high=2)
    lengths = p.random("i32", *((b,) for b, _ in sizes), low=1, high=6)
    table, kind_table, places = p.random("f32", (50, 16)), p.random("f32", (2, 16)), p.random("f32", (12, 16))
    length = p.dim(ids, 1)
    order = p.emit(f"array.iota axis = 0 sizes({length}) : tensor<?xi32>", "i32", [np.arange(v.shape[1]) for v in ids.arrays])
    h = p.add(p.add(p.take(table, ids, 0), p.take(kind_table, kinds, 0)), p.take(places, order, 0))
    h = p.layer_norm(h, p.random("f32", (16,)), p.random("f32", (16,)), 2)
    column = p.op("expand_dims", lambda v: v[:, None], lengths, options=" axes = [1]", form="arrow")
    batch = p.dim(ids, 0)
    wide = p.emit(f"array.broadcast_in_dim {order.name} axes = [1] sizes({batch}, {length}) : {order.type} -> tensor<?x?xi32>", "i32",
                  [np.broadcast_to(o, v.shape) for o, v in zip(order.arrays, ids.arrays)])
    seen = p.compare("lt", wide, column)
    hidden = p.select(seen, 0.0, p.constant("f32", -1e9))
    hidden = p.op("expand_dims", lambda v: v[:, None, None], hidden, options=" axes = [1, 2]", form="arrow")
    q, k, v = (heads(p, p.matmul(h, p.weight("f32", 16, 16)), 4) for _ in range(3))
    n = p.mul(p.matmul(q, k, tb=True), 0.5)
    a = p.matmul(p.softmax(p.add(n, hidden), 3), v)
    h = p.add(h, p.matmul(joined(p, a), p.weight("f32", 16, 16)))
    h = p.layer_norm(h, p.random("f32", (16,)), p.random("f32", (16,)), 2)
    h = p.add(h, p.matmul(p.gelu(p.matmul(h, p.weight("f32", 16, 32))), p.weight("f32", 32, 16)))
    logits = p.matmul(h, table, tb=True)
    log_p = p.log_softmax(logits, 2)
    truth = p.op("one_hot", lambda i: (i[..., None] == np.arange(50)).astype(float), ids, options=" depth = 50", dtype="f32", form="arrow")
    smooth = p.add(p.mul(truth, 0.9), 0.1 / 50)
    loss = p.neg(p.reduce("sum", p.mul(smooth, log_p), [2]))
    counted = p.select(seen, loss, 0.0)
    mean = p.div(p.reduce("sum", counted, [0, 1]), p.reduce("sum", p.convert(seen, "f32"), [0, 1]))
    return p.case("bert", h, mean)


def llama():
    """A block with grouped queries, rotary positions behind an offset, SwiGLU; f16, batch and sequence open."""
    p = Program(2)
    x = p.random("f16", (2, 6, 32), (1, 11, 32))
    start = p.argument("i32", 3, 0)
    length = p.dim(x, 1)
    order = p.emit(f"array.iota axis = 0 sizes({length}) : tensor<?xi32>", "i32", [np.arange(v.shape[1]) for v in x.arrays])
    places = p.add(order, start)
    n = p.rms_norm(x, p.random("f16", (32,)), 2)

    def rotate(v, at):
        angles = at[:, None] * 1e4 ** (-2.0 * np.arange(4) / 8)
        a, b = v[..., :4], v[..., 4:]
        return np.concatenate([a * np.cos(angles) - b * np.sin(angles), a * np.sin(angles) + b * np.cos(angles)], -1)
    q, k, v = (heads(p, p.matmul(n, p.weight("f16", 32, 8 * count)), count) for count in (4, 2, 2))
    q, k = (p.op("rope", rotate, y, places, options=" base = 1.0e4") for y in (q, k))
    a = p.op("attention", lambda q, k, v: attend(q, k, v, 0.3535, np.tril(np.ones((q.shape[-2], k.shape[-2]), bool))), q, k, v,
             options=" causal scale = 0.3535")
    h = p.add(x, p.matmul(joined(p, a), p.weight("f16", 32, 32)))
    n = p.rms_norm(h, p.random("f16", (32,)), 2)
    gate, up = p.matmul(n, p.weight("f16", 32, 48)), p.matmul(n, p.weight("f16", 32, 48))
    return p.case("llama", p.add(h, p.matmul(p.mul(p.silu(gate), up), p.weight("f16", 48, 32))))


def gpt_decode():
    """Six tokens, greedily, in one loop: a cache that is written at the place of the turn."""
    p = Program()
    table, w = p.random("f32", (20, 8), low=-2, high=2), [p.weight("f32", 8, 8) for _ in range(4)]
    first = p.argument("i32", [[3], [7]])
    cache = [p.argument("f32", np.zeros((2, 2, 8, 4))) for _ in range(2)]
    out = p.argument("i32", np.zeros((2, 6)))

    def turn(i, token, keys, values, out):
        zero = p.constant("i32", 0)
        h = p.take(table, p.reshape(token, (2,)), 0)
        q, k, v = (p.reshape(p.matmul(h, m), (2, 2, 1, 4)) for m in w[:3])
        at = int(i.arrays[0])

        def written(c, new):
            c = c.copy()
            c[:, :, at:at + 1] = new
            return c
        keys, values = (p.emit(f"array.dynamic_update_slice {c.name}[{zero.name}, {zero.name}, {i.name}, {zero.name}] = {new.name} : "
                               f"({c.type}, {new.type}, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> {c.type}", "f32",
                               [written(c.arrays[0], new.arrays[0])]) for c, new in ((keys, k), (values, v)))
        a = p.emit(f"array.attention {q.name}, {keys.name}, {values.name} causal offset({i.name} : tensor<i32>) scale = 0.5 : "
                   f"({q.type}, {keys.type}, {values.type}) -> {q.type}", "f32",
                   [attend(q.arrays[0], keys.arrays[0], values.arrays[0], 0.5, np.arange(8) <= at)])
        h = p.add(h, p.matmul(p.reshape(a, (2, 8)), w[3]))
        best = p.op("argmax", lambda v: v.argmax(1)[:, None], p.matmul(h, table, tb=True), options=" axis = 1 keepdims", dtype="i32", form="arrow")
        new = out.arrays[0].copy()
        new[:, at:at + 1] = best.arrays[0]
        out = p.emit(f"array.dynamic_update_slice {out.name}[{zero.name}, {i.name}] = {best.name} : "
                     f"({out.type}, {best.type}, tensor<i32>, tensor<i32>) -> {out.type}", "i32", [new])
        return [best, keys, values, out]
    token, keys, values, out = p.count_to(6, [first, *cache, out], turn)
    return p.case("gpt_decode", out, keys)


def one_token(dtype, *batches):
    """Queries, keys and values of one token from one product, rotated to a place that is data, and written to a cache."""
    p = Program(len(batches))
    x = p.random(dtype, *((n, 16) for n in batches))
    place, cache = p.argument("i32", 5), p.argument(dtype, *(np.zeros((n, 2, 8, 8)) for n in batches))
    qkv = p.matmul(x, p.weight(dtype, 16, 48))
    parts = [p.slice(qkv, (None, None), (at, at + 16)) for at in (0, 16, 32)]
    sizes = f" sizes({p.dim(x, 0)})" if x.shape[0] is None else ""
    q, k, v = (p.op("reshape", lambda y: y.reshape(-1, 2, 1, 8), y, options=sizes, form="arrow") for y in parts)
    at, zero = p.reshape(place, (1,)), p.constant("i32", 0)

    def rotate(y, at):
        angles = at * 1e4 ** (-2.0 * np.arange(4) / 8)
        a, b = y[..., :4], y[..., 4:]
        return np.concatenate([a * np.cos(angles) - b * np.sin(angles), a * np.sin(angles) + b * np.cos(angles)], -1)
    q, k = (p.op("rope", rotate, y, at, options=" base = 1.0e4") for y in (q, k))

    def written(c, new):
        return np.concatenate([c[:, :, :5], new, c[:, :, 6:]], 2)
    keys = p.emit(f"array.dynamic_update_slice {cache.name}[{zero.name}, {zero.name}, {place.name}, {zero.name}] = {k.name} : "
                  f"({cache.type}, {k.type}, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> {cache.type}", dtype,
                  p.each(written, cache, k))
    return p.case(f"one_token_{dtype}_{'open' if sizes else 'static'}", q, k, v, keys)


def mixture_of_experts():
    """Two experts of four for each token: tokens sorted by expert, products in groups, put back with their weights."""
    p = Program(2)
    x = p.random("f32", (5, 8), (12, 8))
    gates = p.matmul(x, p.weight("f32", 8, 4))
    shares = p.softmax(gates, 1)
    order = [np.argsort(-v, 1, kind="stable")[:, :2] for v in shares.arrays]
    rows = p.emit_all(f"array.topk {shares.name} k = 2 axis = 1 : {shares.type} -> tensor<?x2xf32>, tensor<?x2xi32>", ["f32", "i32"],
                      [[np.take_along_axis(v, i, 1) for v, i in zip(shares.arrays, order)], order])
    share, expert = rows
    share = p.div(share, p.reduce("sum", share, [1], keepdims=True))
    flat = p.reshape(expert, (-1,))
    sorted_by = p.op("argsort", lambda v: np.argsort(v, kind="stable"), flat, options=" axis = 0", dtype="i32", form="arrow")
    token = p.op("div", lambda v, t: v // t, sorted_by, p.constant("i32", 2))
    hot = p.op("one_hot", lambda i: (i[:, None] == np.arange(4)), flat, options=" depth = 4", dtype="i32", form="arrow")
    counts = p.reduce("sum", hot, [0])
    taken = p.take(x, token, 0)
    up = p.op("grouped_matmul", grouped, taken, p.weight("f32", 4, 8, 16), counts)
    down = p.op("grouped_matmul", grouped, p.silu(up), p.weight("f32", 4, 16, 8), counts)
    weights = p.take(p.reshape(share, (-1,)), sorted_by, 0)
    column = p.op("expand_dims", lambda v: v[:, None], weights, options=" axes = [1]", form="arrow")
    parts = p.mul(down, column)
    zero = p.mul(x, 0.0)
    at = p.op("expand_dims", lambda v: v[:, None], token, options=" axes = [1]", form="arrow")

    def added(z, i, u):
        z = z.copy()
        np.add.at(z, i[:, 0], u)
        return z
    arrays = p.each(added, zero, at, parts)
    y = p.emit(f"array.scatter add, {zero.name}[{at.name}] axes = [0] = {parts.name} : ({zero.type}, {at.type}, {parts.type}) -> {zero.type}",
               "f32", arrays)
    return p.case("mixture_of_experts", y, counts)


def lstm():
    """Over time in a loop, sequences of different lengths held at their ends; f32, batch open."""
    p = Program(2)
    x, lengths = p.random("f32", (3, 7, 5), (1, 7, 5)), p.argument("i32", [7, 2, 4], [5])
    w, u, b = p.weight("f32", 5, 24), p.weight("f32", 6, 24), p.random("f32", (24,))
    inputs = p.transpose(p.add(p.matmul(x, w), b), 1, 0, 2)
    batch = p.dim(x, 0)
    zero = p.constant("f32", 0.0)
    h, c = (p.emit(f"array.broadcast_in_dim {zero.name} axes = [] sizes({batch}) : tensor<f32> -> tensor<?x6xf32>", "f32",
                   [np.zeros((len(v), 6)) for v in x.arrays]) for _ in range(2))

    def turn(i, h, c):
        now = p.emit(f"array.take {inputs.name}[{i.name}] axis = 0 : ({inputs.type}, tensor<i32>) -> tensor<?x24xf32>", "f32",
                     [v[int(at)] for v, at in zip(inputs.arrays, i.arrays)])
        g = p.add(now, p.matmul(h, u))
        parts = p.emit_all(f"array.split {g.name} axis = 1 parts = [6, 6, 6, 6] : {g.type} -> {', '.join(['tensor<?x6xf32>'] * 4)}",
                           ["f32"] * 4, [[v[:, 6 * j:6 * j + 6] for v in g.arrays] for j in range(4)])
        new_c = p.add(p.mul(p.sigmoid(parts[0]), c), p.mul(p.sigmoid(parts[1]), p.tanh(parts[2])))
        new_h = p.mul(p.sigmoid(parts[3]), p.tanh(new_c))
        on = p.op("expand_dims", lambda v: v[:, None], p.compare("gt", lengths, i), options=" axes = [1]", form="arrow")
        return [p.select(on, new_h, h), p.select(on, new_c, c)]
    h, c = p.count_to(7, [h, c], turn)
    return p.case("lstm", h, c)


def wavenet():
    """Causal dilated convolutions of one dim, gated, with a sum over the layers; length open."""
    p = Program(2)
    x, skip = p.random("f32", (1, 21, 4), (2, 9, 4)), None
    for dilation in (1, 2, 4):
        window = dict(low=[dilation], high=[0], filter_dilation=[dilation])
        dims = "[b, 0, f] x [0, i, o] -> [b, 0, f]"
        a, b = (convolved(p, x, p.weight("f32", 2, 4, 4), dims, **window) for _ in range(2))
        z = p.mul(p.tanh(a), p.sigmoid(b))
        skip = z if skip is None else p.add(skip, z)
        x = p.add(x, z)
    return p.case("wavenet", p.relu(skip), p.op("cumsum", lambda v: np.cumsum(v, 1), x, options=" axis = 1", form="arrow"))


def ctc():
    """The forward variables of connectionist temporal classification, in logarithms, over time in a loop."""
    p = Program(2)
    log_p = p.log_softmax(p.random("f32", (2, 6, 5), (3, 6, 5)), 2)
    labels = p.random("i32", (2, 3), (3, 3), low=1, high=5)
    zero = p.constant("i32", 0)
    blanks = p.op("pad", lambda v, z: np.stack([np.insert(row, [0, 1, 2, 3], 0) for row in v]), labels, zero,
                  options=" low = [0, 1] high = [0, 1] interior = [0, 1]")
    lowest = -1e30
    before = p.op("pad", lambda v, z: np.pad(v, [(0, 0), (2, 0)], constant_values=-1)[:, :7], p.slice(blanks, (0, None), (0, 5)), p.constant("i32", -1),
                  options=" low = [0, 2] high = [0, 0]")
    may_skip = getattr(p, "and")(p.compare("ne", blanks, 0), p.compare("ne", blanks, before))
    by_time = p.transpose(log_p, 1, 0, 2)

    def at_time(i):
        now = p.emit(f"array.take {by_time.name}[{i.name}] axis = 0 : ({by_time.type}, tensor<i32>) -> tensor<?x5xf32>", "f32",
                     [v[int(t)] for v, t in zip(by_time.arrays, i.arrays)])
        return p.emit(f"array.take_along_axis {now.name}[{blanks.name}] axis = 1 : ({now.type}, {blanks.type}) -> tensor<?x7xf32>", "f32",
                      [np.take_along_axis(v, i, 1) for v, i in zip(now.arrays, blanks.arrays)])
    start = p.constant("i1", [True, True, False, False, False, False, False])
    alpha = p.select(start, at_time(zero), p.constant("f32", lowest))

    def shifted(x, by):
        return p.op("pad", lambda v, z: np.pad(v, [(0, 0), (by, 0)], constant_values=lowest)[:, :7], p.slice(x, (0, None), (0, 7 - by)),
                    p.constant("f32", lowest), options=f" low = [0, {by}] high = [0, 0]")

    def turn(i, alpha):
        one = p.constant("i32", 1)
        skip = p.select(may_skip, shifted(alpha, 2), p.constant("f32", lowest))
        return [p.add(p.logaddexp(p.logaddexp(alpha, shifted(alpha, 1)), skip), at_time(p.add(i, one)))]
    alpha, = p.count_to(5, [alpha], turn)
    end = p.op("logsumexp", lambda v: np.log(np.exp(v).sum(1)), p.slice(alpha, (0, None), (5, 7)), options=" axes = [1]", form="arrow")
    return p.case("ctc", alpha, end)


def beam_search():
    """One step: scores of all beams and words, the best of them, and their caches put in order."""
    p = Program(2)
    scores, logits = p.random("f32", (2, 3), (4, 3)), p.random("f32", (2, 3, 11), (4, 3, 11))
    cache = p.random("f16", (2, 3, 2, 4), (4, 3, 2, 4))
    total = p.add(p.op("expand_dims", lambda v: v[..., None], scores, options=" axes = [2]", form="arrow"), p.log_softmax(logits, 2))
    flat = p.reshape(total, lambda v: (v.shape[0], 33))
    order = [np.argsort(-v, 1, kind="stable")[:, :3] for v in flat.arrays]
    best, place = p.emit_all(f"array.topk {flat.name} k = 3 axis = 1 : {flat.type} -> tensor<?x3xf32>, tensor<?x3xi32>", ["f32", "i32"],
                             [[np.take_along_axis(v, i, 1) for v, i in zip(flat.arrays, order)], order])
    beam, word = p.op("div", lambda v, n: v // n, place, p.constant("i32", 11)), p.op("rem", np.fmod, place, p.constant("i32", 11))
    batch = p.dim(beam, 0)
    number = p.emit(f"array.iota axis = 0 sizes({batch}) : tensor<?x3x1xi32>", "i32",
                    [np.broadcast_to(np.arange(len(v))[:, None, None], (len(v), 3, 1)) for v in beam.arrays])
    pair = p.concatenate(2, number, p.op("expand_dims", lambda v: v[..., None], beam, options=" axes = [2]", form="arrow"))
    arrays = p.each(lambda c, i: c[i[..., 0], i[..., 1]], cache, pair)
    moved = p.emit(f"array.gather {cache.name}[{pair.name}] axes = [0, 1] : ({cache.type}, {pair.type}) -> {cache.type}", "f16", arrays)
    return p.case("beam_search", best, word, moved)


def sampling():
    """The top of the words, those that make up 0.8 of it, and one of them by Gumbel noise; embedding bag of the result."""
    p = Program(2)
    logits, key = p.random("f32", (3, 17), (5, 17), low=-3, high=3), p.argument("u32", np.array(KEY, np.uint32))
    scaled = p.div(logits, 0.7)
    ranked = p.op("sort", lambda v: -np.sort(-v, 1), scaled, options=" axis = 1 descending", form="arrow")
    share = p.softmax(ranked, 1)
    mass = p.op("cumsum", lambda v: np.cumsum(v, 1) - v, share, options=" axis = 1 exclusive", form="arrow")
    least = p.reduce("min", p.select(p.compare("lt", mass, 0.8), ranked, 1e30), [1], keepdims=True)
    kept = p.select(p.compare("ge", scaled, least), scaled, -1e30)
    rows = p.dim(kept, 0)
    noise = p.emit(f"array.random_gumbel {key.name} sizes({rows}) : {key.type} -> tensor<?x17xf32>", "f32",
                   [-np.log(-np.log(unit("threefry", KEY, v.shape, 24))) for v in kept.arrays])
    word = p.op("argmax", lambda v: v.argmax(1), p.add(kept, noise), options=" axis = 1", dtype="i64", form="arrow")
    table = p.random("bf16", (17, 6))
    bag = p.mean(p.take(table, word, 0), [0])
    return p.case("sampling", word, bag)


def quantised():
    """Bytes times bytes, with scales for each row and each column, a zero point, and a step back to bytes."""
    p = Program(2)
    x = p.random("f32", (4, 32), (7, 32))
    w, ws = p.random("i8", (32, 24), low=-127, high=127), p.random("f32", (24,), low=0.005, high=0.01)
    largest = p.reduce("max", p.abs(x), [1], keepdims=True)
    scale = p.mul(largest, 1 / 127)
    exactly = [np.rint(v / s) for v, s in zip(x.arrays, scale.arrays)]
    q = p.convert(p.round(p.div(x, scale)), "i8")
    y = p.convert(p.matmul(q, w, dtype="i32"), "f32")
    y = p.mul(p.mul(y, scale), ws)
    low, high = p.constant("f32", -127.0), p.constant("f32", 127.0)
    back = p.op("clamp", lambda l, v, h: np.clip(v, l, h), low, p.round(p.mul(y, 4.0)), high)
    assert all(np.abs(v).max() <= 127 for v in exactly)
    return p.case("quantised", y, back)


def cases():
    with np.errstate(all="ignore"):
        for make in (bert, llama, gpt_decode, mixture_of_experts, lstm, wavenet, ctc, beam_search, sampling, quantised):
            yield make()
        for dtype, batches in (("f32", (3,)), ("f16", (3,)), ("f32", (3, 1))):
            yield one_token(dtype, *batches)
