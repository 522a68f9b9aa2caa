"""Convolutions, pools, and norms over several dims."""
import numpy as np

import bounds
from bounds import Num, rounded
from cases import conv, pool
from op import NUMBERS, Op, Same
from ops_contract import ACCUMULATED, contracted
from ops_reduce import final, mean_of, reduced, variance_of, widened
from program import Type
from tensors import FLOATS


def clamped(dim):
    """`dim`, a formula or a number, or 0 where it is negative."""
    return f"max({dim},0)" if isinstance(dim, str) else max(dim, 0)


def places(dim, size, stride, low, high, dilation=1):
    """How many places a window has along a dim."""
    extent = (size - 1) * dilation + 1
    number = f"({dim}+{low + high - extent})//{stride}+1"
    return clamped(number if isinstance(dim, str) else eval(number))


class Conv(Op):
    def draw(self, g):
        operand = g.pick(lambda type: 3 <= type.rank <= 4 and type.dtype in NUMBERS)
        type = g.types[operand]
        rank = type.rank - 2
        spatial = [str(i) for i in range(rank)]
        inputs, filters = g.choice([(["b"] + spatial + ["f"], spatial + ["i", "o"]), (["b", "f"] + spatial, ["o", "i"] + spatial)])
        features = type.dims[inputs.index("f")]
        if isinstance(features, str) or features == 0:
            return None
        groups = g.choice([1, 1, 1] + [n for n in (2, 3, features) if features % n == 0])
        batch = type.dims[0]
        batch_groups = g.choice([1, 1, 1] + [n for n in (2, 3) if groups == 1 and isinstance(batch, int) and batch % n == 0])
        sizes = {"i": features // groups, "o": groups * batch_groups * g.integer(1, 4)}
        window = {name: [] for name in ("strides", "low", "high", "input_dilation", "filter_dilation")}
        results = {"b": batch if batch_groups == 1 else batch // batch_groups, "f": sizes["o"]}
        for label in spatial:
            size, dim = g.integer(1, 3), type.dims[inputs.index(label)]
            stride, dilation = g.choice([1, 1, 1, 2, 3]), g.choice([1, 1, 2])
            low, high, spread = g.integer(-1, 2), g.integer(-1, 2), g.choice([1, 1, 1, 2, 3])
            for name, number in zip(window, (stride, low, high, spread, dilation)):
                window[name].append(number)
            if spread != 1:
                dim = clamped(f"({dim}-1)*{spread}+1" if isinstance(dim, str) else (dim - 1) * spread + 1)
            sizes[label], results[label] = size, places(dim, size, stride, low, high, dilation)
        kernel = g.operand(type.dtype, tuple(sizes[label] for label in filters))
        dims = " ".join([f"[{', '.join(inputs)}]", "x", f"[{', '.join(filters)}]", "->", f"[{', '.join(inputs)}]"])
        to = g.choice([type.dtype, ACCUMULATED.get(type.dtype, type.dtype)])
        return ([operand, kernel], {"dims": dims, "window": dict(window, feature_groups=groups, batch_groups=batch_groups)},
                [Type(to, tuple(results[label] for label in inputs))])

    def body(self, node, names, types):
        return f"{names[0]}, {names[1]} {conv.attributes(node.attributes['dims'], node.attributes['window'])}"

    def evaluate(self, node, values, shapes):
        a, b = values
        return [contracted(node.types[0].dtype, a, b,
                           lambda x, y: conv.convolve(x, y, node.attributes["dims"], **node.attributes["window"]))]


class Pool(Same):
    def draw(self, g):
        operand = g.pick(lambda type: 1 <= type.rank <= 4)
        type = g.types[operand]
        window, dims = self.window(g, type)
        kinds = ["sum", "sum", "max", "min", "prod"] if type.dtype != "i1" else []
        kinds += ["and", "or"] if type.dtype not in FLOATS else []
        return [operand], {"kind": g.choice(kinds), "window": window}, [Type(type.dtype, tuple(dims))]

    def window(self, g, type):
        """What is written of a window, and the dims of its places."""
        window = {name: [] for name in ("window", "strides", "low", "high", "dilation")}
        dims = []
        for dim in type.dims:
            size = g.choice([1, 1, 2, 3])
            stride, dilation = g.choice([1, 1, 2, 3]), g.choice([1, 1, 2])
            low, high = (g.integer(0, size - 1) for _ in range(2))
            for name, number in zip(window, (size, stride, low, high, dilation)):
                window[name].append(number)
            dims.append(places(dim, size, stride, low, high, dilation))
        return window, dims

    def body(self, node, names, types):
        return f"{node.attributes['kind']}, {names[0]} {pool.attributes(node.attributes['window'])}"

    def evaluate(self, node, values, shapes):
        a, kind = values[0], node.attributes["kind"]
        fill = pool.KINDS[kind][0](a.dtype)
        held = Num(a.dtype, pool.windows_of(a.values, fill, **node.attributes["window"])[0],
                   pool.windows_of(a.error, 0, **node.attributes["window"])[0])
        return [reduced(kind, held, (held.values.ndim - 1,), False)]


class AvgPool(Pool):
    def draw(self, g):
        operand = g.pick(lambda type: 1 <= type.rank <= 4 and type.dtype in FLOATS)
        window, dims = self.window(g, g.types[operand])
        return [operand], {"window": window, "padding": g.random() < 0.4}, [Type(g.types[operand].dtype, tuple(dims))]

    def body(self, node, names, types):
        return f"{names[0]} {pool.attributes(node.attributes['window'])}" + (" count_include_pad" if node.attributes["padding"] else "")

    def evaluate(self, node, values, shapes):
        a = widened(values[0])
        numbers, outside = pool.windows_of(a.values, 0, **node.attributes["window"])
        held = Num(a.dtype, numbers, pool.windows_of(a.error, 0, **node.attributes["window"])[0])
        sums = bounds.total(a.dtype, held, (numbers.ndim - 1,))
        count = np.full(sums.shape, numbers.shape[-1]) if node.attributes["padding"] else (~outside).sum(-1)
        with np.errstate(all="ignore"):
            return [final(values[0].dtype, rounded(a.dtype, sums.values / count.astype(np.longdouble),
                                                   np.where(count > 0, sums.error / count, 0.0), 3))]


class AdaptivePool(Same):
    def draw(self, g):
        operand = g.pick(lambda type: type.dtype in FLOATS and any(isinstance(dim, int) and dim > 0 for dim in type.dims))
        type = g.types[operand]
        known = [axis for axis, dim in enumerate(type.dims) if isinstance(dim, int) and dim > 0]
        axes = sorted(g.shuffled(known)[:g.integer(1, 2)])
        sizes = [g.choice([1, 1, 2, 3, 4, type.dims[axis]]) for axis in axes]
        dims = tuple(sizes[axes.index(axis)] if axis in axes else dim for axis, dim in enumerate(type.dims))
        return [operand], {"kind": g.choice(["avg", "max"]), "axes": axes, "sizes": sizes}, [Type(type.dtype, dims)]

    def body(self, node, names, types):
        return f"{node.attributes['kind']}, {names[0]} axes = {node.attributes['axes']} sizes = {node.attributes['sizes']}"

    def evaluate(self, node, values, shapes):
        a = widened(values[0])
        for axis, size in zip(node.attributes["axes"], node.attributes["sizes"]):
            count, parts = a.shape[axis], []
            for o in range(size):
                part = a.mapped(lambda x: np.take(x, range(o * count // size, -(-(o + 1) * count // size)), axis))
                if node.attributes["kind"] == "max":
                    parts.append(bounds.extreme(part, (axis,), 1, True))
                else:
                    parts.append(mean_of(part, (axis,)))
            a = Num(a.dtype, *(np.concatenate([getattr(part, name) for part in parts], axis) for name in ("values", "error")))
        return [a if node.attributes["kind"] == "max" and a.dtype == values[0].dtype else
                Num(values[0].dtype, a.values, a.error) if node.attributes["kind"] == "max" else final(values[0].dtype, a)]


class SelectAndScatter(Pool):
    """Sums of what windows give back to the element that each selects."""

    def draw(self, g):
        operand = g.pick(lambda type: 1 <= type.rank <= 4 and type.dtype in FLOATS)
        type = g.types[operand]
        window, dims = self.window(g, type)
        return [operand, g.operand(type.dtype, tuple(dims))], {"kind": g.choice(["max", "min"]), "window": window}, [type]

    def body(self, node, names, types):
        return f"{node.attributes['kind']}, {names[0]}, {names[1]} {pool.attributes(node.attributes['window'])}"

    def signature(self, node, types):
        return Op.signature(self, node, types)

    def evaluate(self, node, values, shapes):
        a, source = values
        numbers, wrong = a.values.reshape(-1), a.error.reshape(-1)
        number_of = np.arange(numbers.size).reshape(a.shape)
        taps, _ = pool.windows_of(number_of, -1, **node.attributes["window"])
        taps = taps.reshape(-1, taps.shape[-1])
        sums, size = np.zeros(numbers.size, np.longdouble), np.zeros(numbers.size)
        error, hits = np.zeros(numbers.size), np.zeros(numbers.size)
        for held, new, off in zip(taps, source.values.reshape(-1), source.error.reshape(-1)):
            held = held[held >= 0]
            if not held.size:
                continue
            # A NaN is selected before all others, and of equal ones the first.
            order = numbers[held] if node.attributes["kind"] == "max" else -numbers[held]
            chosen = held[np.argmax(order)]
            reach = wrong[held] + wrong[chosen]
            near = held[(reach > 0) & ~(np.abs(numbers[held] - numbers[chosen]) > reach) & (held != chosen)]
            error[near] = np.inf
            error[chosen] += np.inf if near.size else off
            sums[chosen] += new
            size[chosen] += abs(float(new)) + off
            hits[chosen] += 1
        gathered = 2 * hits * bounds.UNIT[bounds.computed_in(a.dtype)] * size
        error = np.where(np.isnan(error), np.inf, error + gathered)
        sums, error, hits, reach = (x.reshape(a.shape) for x in (sums, error, hits, size + gathered))
        return [rounded(a.dtype, sums, error, np.where(hits > 0, 1.0, 0.0), reach=reach)]


def normalized(a, axes):
    centred, spread = variance_of(a, axes)
    shifted = rounded(a.dtype, spread.values + np.longdouble(1e-3), spread.error)
    root = bounds.monotone(a.dtype, lambda x: np.sqrt(np.maximum(x, np.longdouble(1e-3))), shifted, 4)
    return bounds.div(a.dtype, centred, root, 3), spread


class DimNorm(Op):
    """group_norm and batch_norm_training: statistics of a dim, or of parts of it."""

    def draw(self, g):
        grouped = self.name == "group_norm"
        operand = g.pick(lambda type: 2 <= type.rank <= 4 and type.dtype in FLOATS)
        type = g.types[operand]
        axis = g.integer(1 if grouped else 0, type.rank - 1)
        size = type.dims[axis]
        if any(g.least(dim) < 1 for dim in type.dims) or (grouped and isinstance(size, str)):
            return None
        groups = g.choice([n for n in (1, 2, 3, size) if size % n == 0]) if grouped else 0
        # Of one element there is no variance to speak of.
        operands = [operand] + [g.operand(type.dtype, (size,)) for _ in range(2)]
        vector = Type(type.dtype, (size,))
        return operands, {"axis": axis, "groups": groups}, [type] if grouped else [type, vector, vector]

    def body(self, node, names, types):
        groups = f" groups = {node.attributes['groups']}" if node.attributes["groups"] else ""
        return f"{', '.join(names)} axis = {node.attributes['axis']}{groups} epsilon = 1.0e-3"

    def evaluate(self, node, values, shapes):
        a, scale, bias = (widened(value) for value in values)
        axis, groups, shape = node.attributes["axis"], node.attributes["groups"], values[0].shape
        row = [-1 if i == axis else 1 for i in range(len(shape))]
        scale, bias = (x.mapped(lambda x: x.reshape(row)) for x in (scale, bias))
        if groups:
            split = shape[:axis] + (groups, shape[axis] // groups) + shape[axis + 1:]
            axes = tuple(i for i in range(1, len(split)) if i != axis)
            result = normalized(a.mapped(lambda x: x.reshape(split)), axes)[0].mapped(lambda x: x.reshape(shape))
        else:
            axes = tuple(i for i in range(len(shape)) if i != axis)
            result, variance = normalized(a, axes)
        result = final(values[0].dtype, bounds.add(a.dtype, bounds.mul(a.dtype, result, scale), bias))
        if groups:
            return [result]
        return [result] + [final(values[0].dtype, x).mapped(lambda x: x.reshape(-1)) for x in (mean_of(a, axes), variance)]


class BatchNormInference(Op):
    """With a square as the variance, which is not negative."""

    def draw(self, g):
        operand = g.pick(lambda type: 1 <= type.rank <= 4 and type.dtype in FLOATS)
        type = g.types[operand]
        axis = g.integer(0, type.rank - 1)
        vectors = [g.operand(type.dtype, (type.dims[axis],)) for _ in range(4)]
        return [operand, *vectors], {"axis": axis}, [type]

    def text(self, program, node):
        root, square = node.operands[4], f"%square_{node.results[0]}"
        return f"{square} = array.square %{root} : {program.types[root].mlir}\n" + super().text(program, node)

    def body(self, node, names, types):
        return f"{', '.join(names[:4])}, %square_{node.results[0]} axis = {node.attributes['axis']} epsilon = 1.0e-3"

    def evaluate(self, node, values, shapes):
        axis, rank = node.attributes["axis"], len(shapes[0])
        row = [-1 if i == axis else 1 for i in range(rank)]
        spread = bounds.mul(values[4].dtype, values[4], values[4])
        a, scale, bias, mean, spread = (widened(value if i == 0 else value.mapped(lambda x: x.reshape(row)))
                                        for i, value in enumerate((*values[:4], spread)))
        shifted = rounded(a.dtype, spread.values + np.longdouble(1e-3), spread.error)
        root = bounds.monotone(a.dtype, lambda x: np.sqrt(np.maximum(x, np.longdouble(1e-3))), shifted, 4)
        factor = bounds.div(a.dtype, scale, root, 3)
        # Two products and a sum, or a difference and a product.
        whole = bounds.mul(a.dtype, bounds.add(a.dtype, a, mean, 1, -1), factor)
        parts = bounds.add(a.dtype, bounds.mul(a.dtype, a, factor), bounds.mul(a.dtype, mean, factor), 1, -1)
        result = bounds.add(a.dtype, Num(a.dtype, whole.values, np.maximum(whole.error, parts.error)), bias)
        return [final(values[0].dtype, result)]


WINDOWS = [Conv("conv", 4), Pool("reduce_window", 1.5), AvgPool("avg_pool"), AdaptivePool("adaptive_pool", 0.8),
           SelectAndScatter("select_and_scatter"), DimNorm("group_norm", 0.7), DimNorm("batch_norm_training", 0.7),
           BatchNormInference("batch_norm_inference", 0.8)]
