"""Programs about numbers as users have them: clustering, transforms, filters, integrators, optimisers, counting."""
import numpy as np

from harness import Case, Step
import tensors
from traced import Program


def k_means():
    """Distances by a product, the nearest centre, new centres by scatters, until they rest or ten times."""
    p = Program()
    x, start = p.random("f32", (40, 3)), p.random("f32", (4, 3))
    ones, zero3, zero1 = p.constant("f32", np.ones(40)), p.constant("f32", np.zeros((4, 3))), p.constant("f32", np.zeros(4))

    def turn(i, c):
        far = p.sub(p.reduce("sum", p.square(c), [1]), p.mul(p.matmul(x, c, tb=True), 2.0))
        near = p.op("argmin", lambda v: v.argmin(1)[:, None], far, options=" axis = 1 keepdims", dtype="i32", form="arrow")

        def added(z, i, u):
            z = z.copy()
            np.add.at(z, i[:, 0], u)
            return z
        sums = p.emit(f"array.scatter add, {zero3.name}[{near.name}] axes = [0] = {x.name} : ({zero3.type}, {near.type}, {x.type}) -> {zero3.type}",
                      "f32", p.each(added, zero3, near, x))
        counts = p.emit(f"array.scatter add, {zero1.name}[{near.name}] axes = [0] = {ones.name} : ({zero1.type}, {near.type}, {ones.type}) -> {zero1.type}",
                        "f32", p.each(added, zero1, near, ones))
        column = p.op("expand_dims", lambda v: v[:, None], counts, options=" axes = [1]", form="arrow")
        return [p.select(p.compare("gt", column, 0.0), p.div(sums, p.max(column, 1.0)), c)]
    centres, = p.count_to(10, [start], turn)
    return p.case("k_means", centres)


def power_iteration():
    """Principal components one after the other, f64, each by a loop inside of a loop."""
    p = Program()
    x = p.random("f64", (30, 5))
    centred = p.sub(x, p.mean(x, [0], keepdims=True))
    spread = p.div(p.matmul(centred, centred, ta=True), 29.0)
    zero = p.constant("f64", np.zeros((2, 5)))

    def component(i, spread, found):
        start = p.constant("f64", [[1.0], [0.5], [-0.25], [2.0], [-1.0]])

        def turn(j, v):
            y = p.matmul(spread, v)
            return [p.div(y, p.sqrt(p.reduce("sum", p.square(y), [0, 1])))]
        v, = p.count_to(60, [start], turn)
        value = p.matmul(p.transpose(v, 1, 0), p.matmul(spread, v))
        none = p.constant("i32", 0)
        new = found.arrays[0].copy()
        new[int(i.arrays[0])] = v.arrays[0][:, 0]
        row = p.transpose(v, 1, 0)
        found = p.emit(f"array.dynamic_update_slice {found.name}[{i.name}, {none.name}] = {row.name} : ({found.type}, {row.type}, tensor<i32>, tensor<i32>)"
                       f" -> {found.type}", "f64", [new])
        return [p.sub(spread, p.mul(p.matmul(v, row), value)), found]
    spread, found = p.count_to(2, [spread, zero], component)
    return p.case("power_iteration", found, spread)


def neighbours():
    """The three nearest rows of a table for each query, and the vote of their labels; queries open, i64."""
    p = Program(2)
    q, table, labels = p.random("f32", (4, 6), (9, 6)), p.random("f32", (50, 6)), p.random("i64", (50,), low=0, high=5)
    far = p.add(p.sub(p.reduce("sum", p.square(q), [1], keepdims=True), p.mul(p.matmul(q, table, tb=True), 2.0)), p.reduce("sum", p.square(table), [1]))
    order = [np.argsort(v, 1, kind="stable")[:, :3] for v in far.arrays]
    best, at = p.emit_all(f"array.topk {far.name} k = 3 axis = 1 smallest : {far.type} -> tensor<?x3xf32>, tensor<?x3xi64>", ["f32", "i64"],
                          [[np.take_along_axis(v, i, 1) for v, i in zip(far.arrays, order)], order])
    votes = p.op("one_hot", lambda i: i[..., None] == np.arange(5), p.take(labels, at, 0), options=" depth = 5", dtype="i32", form="arrow")
    return p.case("neighbours", best, p.op("argmax", lambda v: v.argmax(1), p.reduce("sum", votes, [1]), options=" axis = 1", dtype="i64", form="arrow"))


def fourier():
    """A discrete Fourier transform by two products, a filter in the spectrum, and back; f64."""
    p = Program(2)
    x = p.random("f64", (2, 24), (5, 24))
    def angles():
        i, j = (p.emit(f"array.iota axis = {axis} : tensor<24x24xf64>", "f64", [np.broadcast_to(np.arange(24.0).reshape(shape), (24, 24))] * 2)
                for axis, shape in ((0, (24, 1)), (1, (1, 24))))
        return p.mul(p.mod(p.mul(i, j), 24.0), 2 * np.pi / 24)
    a = angles()
    real, imaginary = p.matmul(x, p.cos(a)), p.neg(p.matmul(x, p.sin(a)))
    keep = p.compare("lt", p.emit("array.iota axis = 0 : tensor<24xi32>", "i32", [np.arange(24)] * 2), 6)
    real, imaginary = (p.select(keep, v, 0.0) for v in (real, imaginary))
    back = p.div(p.sub(p.matmul(real, p.cos(a)), p.matmul(imaginary, p.sin(a))), 24.0)
    power = p.add(p.square(real), p.square(imaginary))
    return p.case("fourier", back, power, p.op("atan2", np.arctan2, p.slice(imaginary, (0, None), (1, 5)), p.slice(real, (0, None), (1, 5))))


def kalman():
    """Positions seen with noise, with speed; a matrix inverse of two by two; over time in a loop."""
    p = Program(2)
    seen = p.random("f32", (3, 12), (1, 12))
    step, noise = p.constant("f32", [[1.0, 1.0], [0.0, 1.0]]), p.constant("f32", [[0.01, 0.0], [0.0, 0.02]])
    by_time = p.transpose(seen, 1, 0)
    zero, rows = p.constant("f32", 0.0), p.dim(seen, 0)
    state = p.emit(f"array.broadcast_in_dim {zero.name} axes = [] sizes({rows}) : tensor<f32> -> tensor<?x2xf32>", "f32", [np.zeros((len(v), 2)) for v in seen.arrays])

    def turn(i, x, cov):
        x = p.matmul(x, step, tb=True)
        cov = p.add(p.matmul(p.matmul(step, cov), step, tb=True), noise)
        now = p.emit(f"array.take {by_time.name}[{i.name}] axis = 0 : ({by_time.type}, tensor<i32>) -> tensor<?xf32>", "f32",
                     [v[int(t)] for v, t in zip(by_time.arrays, i.arrays)])
        first = p.slice(cov, (0, 2), (0, 1))
        gain = p.div(first, p.add(p.slice(cov, (0, 1), (0, 1)), 0.3))
        off = p.sub(p.op("expand_dims", lambda v: v[:, None], now, options=" axes = [1]", form="arrow"), p.slice(x, (0, None), (0, 1)))
        x = p.add(x, p.mul(off, p.transpose(gain, 1, 0)))
        return [x, p.sub(cov, p.matmul(gain, p.slice(cov, (0, 1), (0, 2))))]
    x, cov = p.count_to(12, [state, p.constant("f32", np.eye(2))], turn)
    return p.case("kalman", x, cov)


def runge_kutta():
    """Lorenz's system, many starts at once, until a time that is data."""
    p = Program(2)
    x, h = p.random("f64", (3, 4), (3, 9)), 0.01
    end = p.argument("f64", 0.2)

    def slope(s):
        a, b, c = (p.slice(s, (i, i + 1), (0, None)) for i in range(3))
        return p.concatenate(0, p.mul(p.sub(b, a), 10.0), p.sub(p.mul(a, p.sub(p.constant("f64", 28.0), c)), b), p.sub(p.mul(a, b), p.mul(c, 8 / 3)))

    def turn(t, s):
        k1 = slope(s)
        k2 = slope(p.add(s, p.mul(k1, h / 2)))
        k3 = slope(p.add(s, p.mul(k2, h / 2)))
        k4 = slope(p.add(s, p.mul(k3, h)))
        return [p.add(t, h), p.add(s, p.mul(p.add(p.add(k1, k4), p.mul(p.add(k2, k3), 2.0)), h / 6))]
    t, s = p.loop([p.constant("f64", 0.005), x], lambda t, s: p.compare("lt", t, end), turn)
    return p.case("runge_kutta", s)


def adam():
    """Two steps of a logistic model by hand: clipped by the global norm, Adam with decay; batch open."""
    p = Program(2)
    x, y = p.random("f32", (8, 6), (3, 6)), p.random("i32", (8,), (3,), low=0, high=3)
    w, b = p.weight("f32", 6, 3), p.random("f32", (3,))
    moments = [p.constant("f32", np.zeros(shape)) for shape in ((6, 3), (3,), (6, 3), (3,))]
    truth = p.op("one_hot", lambda i: (i[..., None] == np.arange(3)).astype(float), y, options=" depth = 3", dtype="f32", form="arrow")
    rows = p.dim(x, 0)
    count = p.emit(f"array.from_index {rows} : tensor<f32>", "f32", [np.array(float(len(v))) for v in x.arrays])

    def turn(i, w, b, *state):
        error = p.div(p.sub(p.softmax(p.add(p.matmul(x, w), b), 1), truth), count)
        gradients = [p.matmul(x, error, ta=True), p.reduce("sum", error, [0])]
        norm = p.sqrt(p.add(p.reduce("sum", p.square(gradients[0]), [0, 1]), p.reduce("sum", p.square(gradients[1]), [0])))
        factor = p.min(p.div(p.constant("f32", 0.1), p.add(norm, 1e-6)), 1.0)
        t = p.convert(p.add(i, p.constant("i32", 1)), "f32")
        weights, new = [], []
        for value, g, m, v in zip((w, b), gradients, state[:2], state[2:]):
            g = p.mul(g, factor)
            m, v = p.add(p.mul(m, 0.9), p.mul(g, 0.1)), p.add(p.mul(v, 0.999), p.mul(p.square(g), 0.001))
            m_hat = p.div(m, p.sub(p.constant("f32", 1.0), p.op("pow", np.power, p.constant("f32", 0.9), t)))
            v_hat = p.div(v, p.sub(p.constant("f32", 1.0), p.op("pow", np.power, p.constant("f32", 0.999), t)))
            weights.append(p.sub(p.mul(value, 0.9999), p.mul(p.div(m_hat, p.add(p.sqrt(v_hat), 1e-4)), 0.01)))
            new.append((m, v))
        return [*weights, new[0][0], new[1][0], new[0][1], new[1][1]]
    w, b, *_ = p.count_to(3, [w, b, *moments], turn)
    return p.case("adam", w, b)


def counting():
    """A histogram of bytes, sums of segments, the rows of a sparse matrix, and running counts; numbers open."""
    p = Program(2)
    x = p.random("u8", (37,), (101,), low=0, high=15)
    zero, one = p.constant("i32", np.zeros(16, int)), p.constant("i32", 1)
    at = p.op("expand_dims", lambda v: v[:, None], p.convert(x, "i32"), options=" axes = [1]", form="arrow")
    n = p.dim(x, 0)
    ones = p.emit(f"array.broadcast_in_dim {one.name} axes = [] sizes({n}) : tensor<i32> -> tensor<?xi32>", "i32", [np.ones(len(v), int) for v in x.arrays])

    def added(z, i, u):
        z = z.copy()
        np.add.at(z, i[:, 0], u)
        return z
    histogram = p.emit(f"array.scatter add, {zero.name}[{at.name}] axes = [0] = {ones.name} : ({zero.type}, {at.type}, {ones.type}) -> {zero.type}", "i32",
                       p.each(added, zero, at, ones))
    share = p.op("cumsum", lambda v: np.cumsum(v), histogram, options=" axis = 0", form="arrow")
    first = p.op("searchsorted", lambda s, v: np.searchsorted(s, v, "right"), share, p.constant("i32", [0, 5, 20]), options=" right", dtype="i64")
    # A sparse matrix of rows, columns and values, times a dense one.
    rows, columns = p.random("i32", (12,), low=0, high=6), p.random("i32", (12,), low=0, high=7)
    values, dense = p.random("f16", (12,)), p.random("f16", (7, 3))
    parts = p.mul(p.take(dense, columns, 0), p.op("expand_dims", lambda v: v[:, None], values, options=" axes = [1]", form="arrow"))
    none = p.constant("f16", np.zeros((6, 3)))
    row = p.op("expand_dims", lambda v: v[:, None], rows, options=" axes = [1]", form="arrow")
    product = p.emit(f"array.scatter add, {none.name}[{row.name}] axes = [0] = {parts.name} : ({none.type}, {row.type}, {parts.type}) -> {none.type}", "f16",
                     p.each(added, none, row, parts))
    return p.case("counting", histogram, first, product)


def rank_eight():
    """Odd sizes in eight dims: transposed, summed, normalised, joined."""
    p = Program(2)
    x = p.random("f32", (1, 2, 3, 1, 2, 3, 1, 5), (2, 2, 3, 1, 2, 3, 1, 5))
    y = p.transpose(x, 7, 0, 5, 3, 1, 6, 2, 4)
    z = p.softmax(p.reduce("max", y, [2, 4], keepdims=True), 0)
    w = p.mul(p.sub(y, p.mean(y, [1, 6], keepdims=True)), z)
    return p.case("rank_eight", w, p.reduce("sum", p.concatenate(3, w, y), [0, 2, 4, 6]))


def generic():
    """linalg on tensors: a row-wise distance of strings' codes, with a map of its own."""
    x, y = tensors.random("f32", (6, 5), 61), tensors.random("f32", (4, 5), 62)
    want = np.abs(x.values[:, None] - y.values[None]).sum(2)
    text = """  func.func @NAME(%x: tensor<?x5xf32>, %y: tensor<4x5xf32>) -> (tensor<?x4xf32>) {
    %zero = arith.constant 0.0 : f32
    %c0 = arith.constant 0 : index
    %n = tensor.dim %x, %c0 : tensor<?x5xf32>
    %e = tensor.empty(%n) : tensor<?x4xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x4xf32>) -> tensor<?x4xf32>
    %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>],
                         iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x, %y : tensor<?x5xf32>, tensor<4x5xf32>) outs(%f : tensor<?x4xf32>) {
    ^bb0(%a: f32, %b: f32, %s: f32):
      %d = arith.subf %a, %b : f32
      %m = math.absf %d : f32
      %t = arith.addf %s, %m : f32
      linalg.yield %t : f32
    } -> tensor<?x4xf32>
    return %r : tensor<?x4xf32>
  }
"""
    return Case("generic", text, [Step([x, y], [("f32", want)])], "sum")


def trained():
    """A loop that calls the gradient of a function beside it: a line is fitted to points, whose number is open."""
    text = """  func.func @NAME(%x: tensor<?x3xf32>, %t: tensor<?xf32>, %w: tensor<3xf32>) -> tensor<f32> {
    %p = array.dot_general %x, %w batch = [] x [] contract = [1] x [0] : (tensor<?x3xf32>, tensor<3xf32>) -> tensor<?xf32>
    %d = array.sub %p, %t : tensor<?xf32>
    %s = array.square %d : tensor<?xf32>
    %m = array.mean %s axes = [0] : tensor<?xf32> -> tensor<f32>
    return %m : tensor<f32>
  }
  func.func private @NAME_vjp(tensor<?x3xf32>, tensor<?xf32>, tensor<3xf32>, tensor<f32>) -> tensor<?xf32>
  func.func @NAME_train(%x: tensor<?x3xf32>, %t: tensor<?xf32>, %w: tensor<3xf32>) -> (tensor<3xf32>, tensor<f32>) {
    %zero = array.constant dense<0> : tensor<i32>
    %one = array.constant dense<1> : tensor<i32>
    %rounds = array.constant dense<60> : tensor<i32>
    %unit = array.constant dense<1.0> : tensor<f32>
    %rate = array.constant dense<0.05> : tensor<f32>
    %r:2 = array.while %zero, %w : (tensor<i32>, tensor<3xf32>) -> (tensor<i32>, tensor<3xf32>) condition {
    ^bb0(%i: tensor<i32>, %v: tensor<3xf32>):
      %more = array.compare lt, %i, %rounds : (tensor<i32>, tensor<i32>) -> tensor<i1>
      array.yield %more : tensor<i1>
    } body {
    ^bb0(%i: tensor<i32>, %v: tensor<3xf32>):
      %g = func.call @NAME_vjp(%x, %t, %v, %unit) : (tensor<?x3xf32>, tensor<?xf32>, tensor<3xf32>, tensor<f32>) -> tensor<?xf32>
      %s = array.mul %g, %rate : (tensor<?xf32>, tensor<f32>) -> tensor<?xf32>
      %next = array.sub %v, %s : (tensor<3xf32>, tensor<?xf32>) -> tensor<3xf32>
      %k = array.add %i, %one : tensor<i32>
      array.yield %k, %next : tensor<i32>, tensor<3xf32>
    }
    %loss = func.call @NAME(%x, %t, %r#1) : (tensor<?x3xf32>, tensor<?xf32>, tensor<3xf32>) -> tensor<f32>
    return %r#1, %loss : tensor<3xf32>, tensor<f32>
  }
"""
    steps = []
    for n in (9, 1):
        x, t, w = tensors.random("f32", (n, 3), 40), tensors.random("f32", (n,), 41), tensors.random("f32", (3,), 42)
        v = w.values
        for _ in range(60):
            v = v - 0.05 * 2 / n * (x.values @ v - t.values) @ x.values
        steps.append(Step([x, t, w], [("f32", v), ("f32", np.mean((x.values @ v - t.values) ** 2))], "_train"))
        steps.append(Step([x, t, w], [("f32", np.mean((x.values @ w.values - t.values) ** 2))]))
    steps.append(Step([x, tensors.random("f32", (2,), 43), w], function="_train", error="expected dim 0 to be 1 .*got 2|got 1 and 2|got 2 and 1"))
    return Case("trained", text, steps, "model", gradients=(":2",))


def newton():
    """Gradients of gradients, called: the sum of fourth powers, by its slope and its curvature."""
    text = """  func.func private @NAME(%x: tensor<5xf64>) -> tensor<f64> {
    %a = array.square %x : tensor<5xf64>
    %b = array.square %a : tensor<5xf64>
    %s = array.reduce sum, %b axes = [0] : tensor<5xf64> -> tensor<f64>
    return %s : tensor<f64>
  }
  func.func private @NAME_vjp(tensor<5xf64>, tensor<f64>) -> tensor<5xf64>
  func.func private @NAME_vjp_vjp(tensor<5xf64>, tensor<f64>, tensor<5xf64>) -> (tensor<5xf64>, tensor<f64>)
  func.func @NAME_step(%x: tensor<5xf64>) -> tensor<5xf64> {
    %one = array.constant dense<1.0> : tensor<f64>
    %ones = array.constant dense<1.0> : tensor<5xf64>
    %g = func.call @NAME_vjp(%x, %one) : (tensor<5xf64>, tensor<f64>) -> tensor<5xf64>
    %h:2 = func.call @NAME_vjp_vjp(%x, %one, %ones) : (tensor<5xf64>, tensor<f64>, tensor<5xf64>) -> (tensor<5xf64>, tensor<f64>)
    %s = array.div %g, %h#0 : tensor<5xf64>
    %y = array.sub %x, %s : tensor<5xf64>
    return %y : tensor<5xf64>
  }
"""
    x = tensors.random("f64", (5,), 44, 1, 2)
    return Case("newton", text, [Step([x], [("f64", x.values * 2 / 3)], "_step")], "composite", gradients=("", "_vjp"))


def cases():
    with np.errstate(all="ignore"):
        for make in (k_means, power_iteration, neighbours, fourier, kalman, runge_kutta, adam, trained, newton, counting, rank_eight, generic):
            yield make()
