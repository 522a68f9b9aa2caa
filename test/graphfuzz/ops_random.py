"""Numbers from keys, and other ops whose sizes are given: a `?` of the result has an operand that has the same dim."""
import dataclasses
import math
import statistics

import numpy as np

from bounds import Num, known, rounded
from cases.generators import DIGITS, bits, unit
from op import Op
from program import Type
from tensors import FLOATS, NUMPY

inverse_normal = np.vectorize(statistics.NormalDist().inv_cdf, otypes=[np.float64])


class Sized(Op):
    """Ops with `sizes(...)`: `holders` are (operand, axis), the dims that a `?` of the result takes its size from; `data` is how
    many operands come before those."""
    data = 1

    def uses(self, node):
        return node.operands[:self.data]

    def dims(self, g, rank, position):
        """Dims, the operands that they are taken from, whose first has that position, and what `holders` is."""
        dims, operands, holders = [], [], []
        for _ in range(rank):
            dim = g.any_dim()
            if isinstance(dim, str):
                holder = g.pick_or_none(lambda type: dim in type.dims)
                if holder is None:
                    dim = g.static_dim()
                else:
                    holders.append((position + len(operands), g.types[holder].dims.index(dim)))
                    operands.append(holder)
            dims.append(dim)
        return tuple(dims), operands, holders

    def sizes(self, node):
        names = [f"%size_{node.results[0]}_{i}" for i in range(len(node.attributes["holders"]))]
        return f" sizes({', '.join(names)})" if names else ""

    def retyped(self, node, types):
        new = [dim for old, dim in zip(node.types[0].dims, types[0].dims) if isinstance(old, str)]
        holders = [holder for holder, dim in zip(node.attributes["holders"], new, strict=True) if isinstance(dim, str)]
        return dataclasses.replace(node, attributes={**node.attributes, "holders": holders}, types=types)

    def text(self, program, node):
        lines = []
        for i, (position, axis) in enumerate(node.attributes["holders"]):
            number = node.operands[position]
            lines.append(f"%size_{node.results[0]}_{i} = array.dim %{number}, {axis} : {program.types[number].mlir}")
        return "\n".join(lines + [super().text(program, node)])


class Random(Sized):
    """`attributes` are options as text, by name; the first operand is the key."""

    def draw(self, g):
        key = g.operand("u32", (2,))
        dims, operands, holders = self.dims(g, g.integer(0, 3), 1)
        return self.drawn(g, key, dims, operands, {"holders": holders, "algorithm": g.choice(["threefry", "philox"])})

    def drawn(self, g, key, dims, operands, attributes):
        floats = [dtype for dtype in g.dtypes if dtype in FLOATS] or ["f32"]
        if self.name == "random_bits":
            dtype = g.choice(["u8", "u16", "u32", "u64"])
        else:
            dtype = g.choice(floats)
        if self.name == "random_uniform":
            attributes["range"] = g.choice([(0, 1), (-1, 1), (2, 3.5)])
        return [key, *operands], attributes, [Type(dtype, dims)]

    def body(self, node, names, types):
        held = node.attributes
        options = ""
        if "range" in held and held["range"] != (0, 1):
            options = f" low = {float(held['range'][0])} high = {float(held['range'][1])}"
        if self.name == "random_truncated_normal":
            options = " lower = -1.5 upper = 0.5"
        return f"{names[0]}{options}{self.sizes(node)}{self.algorithm(node)}"

    def algorithm(self, node):
        return " algorithm = philox" if node.attributes["algorithm"] == "philox" else ""

    def signature(self, node, types):
        return f"{types[0].mlir} -> {node.types[0].mlir}"

    def evaluate(self, node, values, shapes):
        key, dtype, shape = values[0], node.types[0].dtype, shapes[0]
        algorithm, words = node.attributes["algorithm"], tuple(int(word) for word in key.values)
        if self.name == "random_bits":
            return [known(dtype, bits(algorithm, words, shape, int(dtype[1:])), key.unknown.any())]
        digits = DIGITS[dtype] if self.name == "random_uniform" else 53 if dtype == "f64" else 24
        u = unit(algorithm, words, shape, digits)
        if self.name == "random_uniform":
            low, high = node.attributes["range"]
            result = rounded(dtype, u.astype(np.longdouble) * (high - low) + low, 0.0, 2, 4 * (abs(low) + abs(high)))
        elif self.name == "random_normal":
            z = inverse_normal(u + 2.0 ** -(digits + 1))
            # u may be the multiple beside it: between -1 and 1 numbers are rounded to half as many digits as beside 0.
            result = rounded(dtype, z, 4 * 2.0 ** -digits * np.exp(z * z / 2), 64)
        elif self.name == "random_gumbel":
            result = rounded(dtype, -np.log(-np.log(np.where(u == 0, 0.5, u))), 0.0, 64, 64)
        else:
            low, high = (math.erf(x / math.sqrt(2)) for x in (-1.5, 0.5))
            result = rounded(dtype, inverse_normal((u * (high - low) + low + 1) / 2), 0.0, 64, 512)
        # At u = 0 the logarithm's argument is a number of its own choice.
        unsure = (u == 0) & (self.name == "random_gumbel") | key.unknown.any()
        return [Num(dtype, result.values, np.where(unsure, np.inf, result.error))]


class Bernoulli(Random):
    data = 2

    def drawn(self, g, key, dims, operands, attributes):
        chance = g.operand("f32", g.choice([(), dims]))
        attributes["holders"] = [(position + 1, axis) for position, axis in attributes["holders"]]
        return [key, chance, *operands], attributes, [Type("i1", dims)]

    def body(self, node, names, types):
        return f"{names[0]}, {names[1]}{self.sizes(node)}{self.algorithm(node)}"

    def signature(self, node, types):
        return Op.signature(self, node, types[:2])

    def evaluate(self, node, values, shapes):
        key, chance = values[:2]
        u = unit(node.attributes["algorithm"], tuple(int(word) for word in key.values), shapes[0], 24)
        unsure = (np.abs(u - chance.values) <= chance.error) & (chance.error > 0)
        return [known("i1", u < chance.values, np.broadcast_to(unsure, shapes[0]) | key.unknown.any())]


class Categorical(Op):
    def draw(self, g):
        logits = g.pick(lambda type: type.rank >= 1 and type.dtype == "f32")
        type = g.types[logits]
        axis = g.integer(0, type.rank - 1)
        if g.least(type.dims[axis]) < 1:
            return None
        return ([g.operand("u32", (2,)), logits], {"axis": axis, "algorithm": g.choice(["threefry", "philox"])},
                [Type(g.choice(["i32", "i64"]), type.dims[:axis] + type.dims[axis + 1:])])

    def body(self, node, names, types):
        philox = " algorithm = philox" if node.attributes["algorithm"] == "philox" else ""
        return f"{names[0]}, {names[1]} axis = {node.attributes['axis']}{philox}"

    def evaluate(self, node, values, shapes):
        key, logits = values
        axis = node.attributes["axis"]
        u = unit(node.attributes["algorithm"], tuple(int(word) for word in key.values), logits.shape, 24)
        noise = -np.log(-np.log(np.maximum(u, 2.0 ** -126)))
        sums = rounded("f32", logits.values + noise, logits.error + 2.0 ** -18 * (1 + np.abs(noise)), 2)
        if sums.values.size == 0:
            return [known(node.types[0].dtype, np.argmax(sums.values, axis), np.zeros(shapes[0], bool))]
        index = np.expand_dims(np.argmax(sums.values, axis), axis)
        best, slack = (np.take_along_axis(x, index, axis) for x in (sums.values, sums.error))
        others = np.arange(logits.shape[axis]).reshape([-1 if i == axis else 1 for i in range(sums.values.ndim)]) != index
        near = others & ~(best - sums.values > slack + sums.error)
        return [known(node.types[0].dtype, index.squeeze(axis), near.any(axis) | key.unknown.any())]


class Split(Op):
    def draw(self, g):
        count = g.integer(1, 5)
        return [g.operand("u32", (2,))], {"num": count}, [Type("u32", (count, 2))]

    def body(self, node, names, types):
        return f"{names[0]} num = {node.attributes['num']}"

    def signature(self, node, types):
        return f"{types[0].mlir} -> {node.types[0].mlir}"

    def evaluate(self, node, values, shapes):
        key, = values
        pairs = bits("threefry", tuple(int(word) for word in key.values), (shapes[0][0],), 64)
        rows = np.stack([pairs >> np.uint64(32), pairs & np.uint64(0xFFFFFFFF)], 1).astype(np.uint32)
        return [known("u32", rows, key.unknown.any())]


class SizedIota(Sized):
    data = 0

    def draw(self, g):
        dims, operands, holders = self.dims(g, g.integer(1, 3), 0)
        dtype = g.choice([dtype for dtype in g.dtypes if dtype != "i1"] or ["i32"])
        return operands, {"axis": g.integer(0, len(dims) - 1), "holders": holders}, [Type(dtype, dims)]

    def body(self, node, names, types):
        return f"axis = {node.attributes['axis']}{self.sizes(node)}"

    def signature(self, node, types):
        return node.types[0].mlir

    def evaluate(self, node, values, shapes):
        axis, dtype = node.attributes["axis"], node.types[0].dtype
        shape = [1] * len(shapes[0])
        shape[axis] = -1
        count = np.broadcast_to(np.arange(shapes[0][axis]).reshape(shape), shapes[0])
        if dtype in FLOATS:
            return [rounded(dtype, count.astype(np.longdouble), 0.0, 0)]
        return [known(dtype, count.astype(NUMPY[dtype]), False)]


class SizedBroadcast(Sized):
    """A vector or a number along new dims, some of them `?`."""

    def draw(self, g):
        operand = g.pick(lambda type: type.rank <= 1)
        type = g.types[operand]
        dims, operands, holders = self.dims(g, g.integer(1, 2), 1)
        at = g.integer(0, len(dims)) if type.rank else None
        if type.rank and isinstance(type.dims[0], str):
            # Its own size is one of sizes(...), in the order of the dims.
            if type.dims[0] not in g.symbols:
                return None
            before = sum(isinstance(dim, str) for dim in dims[:at])
            holders = holders[:before] + [(0, 0)] + holders[before:]
        dims = dims if at is None else dims[:at] + type.dims + dims[at:]
        return [operand, *operands], {"axes": [] if at is None else [at], "holders": holders}, [Type(type.dtype, dims)]

    def mnemonic(self, node):
        return "broadcast_in_dim"

    def body(self, node, names, types):
        return f"{names[0]} axes = {node.attributes['axes']}{self.sizes(node)}"

    def signature(self, node, types):
        return f"{types[0].mlir} -> {node.types[0].mlir}"

    def evaluate(self, node, values, shapes):
        shape = [1] * len(shapes[0])
        for axis, size in zip(node.attributes["axes"], values[0].shape):
            shape[axis] = size
        return [values[0].mapped(lambda x: np.broadcast_to(x.reshape(shape), shapes[0]))]


class FromIndex(Sized):
    """The size of a dim as data."""
    data = 0

    def draw(self, g):
        operand = g.pick(lambda type: type.rank >= 1)
        axis = g.integer(0, g.types[operand].rank - 1)
        dtype = g.choice([dtype for dtype in g.dtypes if dtype != "i1"] or ["i32"])
        return [operand], {"holders": [(0, axis)]}, [Type(dtype, ())]

    def retyped(self, node, types):
        return Op.retyped(self, node, types)

    def body(self, node, names, types):
        return f"%size_{node.results[0]}_0"

    def signature(self, node, types):
        return node.types[0].mlir

    def evaluate(self, node, values, shapes):
        size, dtype = values[0].shape[node.attributes["holders"][0][1]], node.types[0].dtype
        if dtype in FLOATS:
            return [rounded(dtype, np.array(size, np.longdouble), 0.0, 0)]
        return [known(dtype, np.array(size).astype(NUMPY[dtype]), False)]


RANDOM = [Random("random_bits", 0.7), Random("random_uniform", 0.7), Random("random_normal", 0.5), Random("random_gumbel", 0.3),
          Random("random_truncated_normal", 0.3), Bernoulli("random_bernoulli", 0.7), Categorical("random_categorical", 0.5),
          Split("random_split", 0.3), SizedIota("iota", 1.2), SizedBroadcast("broadcast_in_dim with sizes"), FromIndex("from_index", 0.6)]
