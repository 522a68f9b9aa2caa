"""Draws programs: a seed gives the same program everywhere."""
import random as random_module

import numpy as np

import ops
import ops_extent
from program import Node, Program, Type, names_in, shape_of
from tensors import FLOATS, INTEGERS, Tensor

SIZES = (1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 64, 65)
EQUAL_SHARE = 0.55     # of the programs: all dims of one size
EQUAL_SIZES = (1, 2, 3, 4, 5, 7, 8, 9, 15, 16)  # of which a cube is still small
LARGEST_VALUE = 4096  # elements


class Impossible(Exception):
    """No operand of a needed type can be had, so the op is not drawn."""


class Generator:
    def __init__(self, seed):
        self.rng = random_module.Random(seed)
        self.program = Program(f"seed_{seed}")
        self.types = self.program.types
        floats = self.choice([["f32"], ["f32"], ["f32"], ["f32", "bf16"], ["f16", "f32"], ["f16"], ["bf16"], ["f64"]])
        integers = self.choice([["i32"], ["i32"], ["i64", "i32"], ["i8", "i32"], [self.choice(INTEGERS)]])
        kind = self.random()
        self.dtypes = floats if kind < 0.4 else floats + integers if kind < 0.7 else floats + integers + ["i1"] \
            if kind < 0.9 else integers + ["i1"]
        self.symbols = ["n", "m"][:self.choice([0, 0, 0, 1, 1, 2])]
        self.is_equal = self.random() < EQUAL_SHARE
        self.draw_equal_sizes() if self.is_equal else self.draw_sizes()
        self.hidden, self.depth = set(), 0  # values of regions that have ended; regions around the one that is drawn
        self.variables = []
        self.extents = {}  # name -> (number of the count, dim that it is an extent of)
        self.tame = self.random() < 0.5  # small whole numbers and halves, so that little is rounded

    # ---- Chance ------------------------------------------------------------------------------------------------------

    def random(self):
        return self.rng.random()

    def integer(self, low, high):
        return self.rng.randint(low, high)

    def choice(self, options):
        return options[self.rng.randrange(len(options))]

    def shuffled(self, options):
        options = list(options)
        self.rng.shuffle(options)
        return options

    # ---- Sizes -------------------------------------------------------------------------------------------------------

    def draw_sizes(self):
        self.sizes = [self.choice(SIZES) for _ in range(3)] + ([0] if self.random() < 0.04 else []) + \
            ([self.choice((100, 129, 256, 300))] if self.random() < 0.1 else [])
        if self.symbols:
            self.program.environments = [{symbol: self.choice(SIZES + (0,)) for symbol in self.symbols} for _ in range(3)]

    def draw_equal_sizes(self):
        """One size for all dims, symbols too: nothing but maps tells dims apart then."""
        size = self.choice(EQUAL_SIZES)
        self.sizes = [size]
        if self.symbols:
            self.program.environments = [{symbol: other for symbol in self.symbols}
                                         for other in (size, self.choice(EQUAL_SIZES), self.choice((0, 1)))]

    def static_dim(self):
        return 1 if not self.is_equal and self.random() < 0.12 else self.choice(self.sizes)

    def any_dim(self):
        return self.choice(self.symbols) if self.symbols and self.random() < 0.4 else self.static_dim()

    def least(self, dim):
        if names_in(dim) & self.program.bounds.keys():
            return 0
        return min(shape_of((dim,), environment)[0] for environment in self.program.environments)

    def fits(self, dims):
        return all(np.prod(shape_of(dims, self.program.with_extents(environment)), dtype=np.int64) <= LARGEST_VALUE
                   for environment in self.program.environments)

    # ---- Operands ----------------------------------------------------------------------------------------------------

    def fresh(self, type):
        if not self.fits(type.dims) or any(isinstance(dim, str) and dim not in self.symbols for dim in type.dims):
            raise Impossible
        number = self.program.next_value()
        self.types[number] = type
        self.program.inputs.append(number)
        return number

    def pick(self, accepts):
        """A value of an accepted type, more likely one of the latest."""
        found = self.pick_or_none(accepts)
        if found is None:
            raise Impossible
        return found

    def pick_or_none(self, accepts):
        found = [number for number in self.types if number not in self.hidden and accepts(self.types[number])]
        if not found:
            return None
        return self.choice(found[-3:]) if self.random() < 0.6 else self.choice(found)

    def operand(self, dtype, dims, small=False):
        """A value of exactly this type; `small` asks for integers that make sense as indices."""
        type = Type(dtype, tuple(dims))
        same = [number for number in self.types if number not in self.hidden and self.types[number] == type and
                (not small or number in self.small)]
        if same and self.random() < 0.8:
            return self.choice(same)
        number = self.fresh(type)
        if small:
            self.small.add(number)
        return number

    def broadcasting(self, count, accepts):
        """(values of one element type whose shapes broadcast, dims of the result)."""
        first = self.pick(accepts)
        type = self.types[first]
        operands, dims = [first], type.dims
        for _ in range(count - 1):
            kind = self.random()
            if kind < 0.55:
                other = dims
            elif kind < 0.75:
                other = dims[self.integer(0, len(dims)):]
            elif kind < 0.9:
                other = tuple(1 if self.random() < 0.5 else dim for dim in dims)
            else:
                other = tuple(self.any_dim() if dim == 1 and self.random() < 0.7 else dim for dim in dims)
            operand = self.operand(type.dtype, other)
            padded = (1,) * (len(dims) - len(other)) + other
            dims = tuple(b if a == 1 else a for a, b in zip(dims, padded))
            operands.append(operand)
        order = self.shuffled(range(count))
        return [operands[i] for i in order], dims

    # ---- Regions -----------------------------------------------------------------------------------------------------

    def forget(self, start):
        """Takes back all values from `start` on."""
        for number in [number for number in self.types if number >= start]:
            del self.types[number]
        self.program.inputs = [number for number in self.program.inputs if number < start]
        self.small = {number for number in self.small if number < start}
        self.hidden = {number for number in self.hidden if number < start}

    def hide(self, start):
        """Values from `start` on are those of a region; inputs stay visible."""
        self.hidden.update(number for number in self.types if number >= start and number not in self.program.inputs)

    # ---- Programs ----------------------------------------------------------------------------------------------------

    def add_op(self):
        names = list(ops.OPS)
        op = ops.OPS[self.rng.choices(names, [ops.OPS[name].weight for name in names])[0]]
        inputs = len(self.program.inputs)
        try:
            drawn = op.draw(self)
            if not drawn or not all(self.fits(type.dims) and type.rank <= 6 for type in drawn[2]):
                raise Impossible
            if not ops_extent.has_meaning(self, op, *drawn):
                raise Impossible
        except Impossible:
            for number in self.program.inputs[inputs:]:
                self.types.pop(number, None)
            del self.program.inputs[inputs:]
            return
        operands, attributes, types = drawn
        results = [self.program.next_value() + i for i in range(len(types))]
        self.types.update(zip(results, types))
        self.program.nodes.append(Node(op.name, list(operands), attributes, results, list(types)))

    def generate(self):
        self.small = set()
        for _ in range(self.integer(1, 3)):
            try:
                self.fresh(Type(self.choice(self.dtypes), tuple(self.any_dim() for _ in range(self.choice([0, 1, 2, 2, 2, 3, 3, 4])))))
            except Impossible:
                pass
        size = self.choice([3, 4, 6, 8, 12, 16])
        for _ in range(10 * size):
            if len(self.program.nodes) < size:
                self.add_op()
        if not self.program.nodes:
            number = self.fresh(Type("f32", ()))
            self.program.nodes.append(Node("neg", [number], {}, [number + 1], [self.types[number]]))
            self.types[number + 1] = self.types[number]
        final = self.final_values()
        consumed = {operand for node in self.program.nodes for operand in node.operands}
        made = [result for node in self.program.nodes for result in node.results]
        ends = [number for number in made if number not in consumed and number not in final]
        inner = [number for number in made if number in consumed]
        outputs = self.shuffled(ends)[:self.choice([1, 2, 3, 4])]
        if inner and self.random() < 0.4:
            outputs.append(self.choice(inner))
        self.program.outputs = [self.padded(number) for number in outputs] + final
        self.program = self.program.pruned()
        if any(node.has_effect for node in self.program.nodes) and not self.symbols:
            self.program.environments = [{}, {}, {}]
        self.program.data = [{number: self.values(self.types[number], environment, number in self.small)
                              for number in self.program.inputs} for environment in self.program.environments]
        return self.program

    def final_values(self):
        """What variables hold in the end, so that every assignment counts."""
        first = self.program.next_value()
        for variable in self.variables:
            number = self.program.next_value()
            self.types[number] = variable.type
            self.program.nodes.append(Node("variable.read", [], {"variable": variable}, [number], [variable.type]))
        return list(range(first, self.program.next_value()))

    def padded(self, number):
        """An array of the size of the bounds where that is what a function can return."""
        if not self.program.is_bounded(number):
            return number
        operands, attributes, types = ops.OPS["pad_to_bound"].of(self, number)
        result = self.program.next_value()
        self.types[result] = types[0]
        self.program.nodes.append(Node("pad_to_bound", operands, attributes, [result], types))
        return result

    def values(self, type, environment, small):
        shape = type.shape(environment)
        rng = np.random.default_rng(self.rng.getrandbits(32))
        if type.dtype == "i1":
            return Tensor("i1", rng.integers(0, 2, shape))
        if type.dtype in FLOATS:
            if self.tame:
                return Tensor(type.dtype, rng.integers(-6, 7, shape) / 2)
            return Tensor(type.dtype, rng.uniform(-3, 3, shape))
        if small:
            return Tensor(type.dtype, rng.integers(-2, 12, shape))
        if self.tame or rng.random() < 0.5:
            return Tensor(type.dtype, rng.integers(0 if type.dtype.startswith("u") else -9, 10, shape))
        limits = np.iinfo({"i": np.int64, "u": np.uint64}[type.dtype[0]]) if type.dtype[1:] == "64" else \
            np.iinfo(f"{'u' if type.dtype[0] == 'u' else ''}int{type.dtype[1:]}")
        return Tensor(type.dtype, rng.integers(limits.min, limits.max, shape, limits.dtype, endpoint=True))


def generate(seed):
    return Generator(seed).generate()
