#===- windows.py - Convolutions of tuning keys as programs ---------------------===#
#
# Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===--------------------------------------------------------------------------===#
"""A key of a product with windows says which loops index its operands and its result (ConvolutionKey.cpp). So the product can be written
down as the linalg op that it is, whatever it was made of: a convolution, one of its gradients, packed pixels or groups.

    32x56x56x64x3x3x64 a,b+e-1,c+f-1,g/32x56x56x64 d,e,f,g a,b,c,d
"""
import math
import re

MLIR_TYPES = {"tf32": "f32", "u8": "i8"}
SUMS = {"bf16": "f32", "f16": "f32", "tf32": "f32", "f32": "f32", "f64": "f64", "i8": "i32", "u8": "i32"}


def parse_index(text):
    """`2b+e-3` as the steps of its loops, and a constant."""
    loops, constant = {}, 0
    for sign, number, loop in re.findall(r"([+-]?)(\d*)([a-z]?)", text):
        if not number and not loop:
            continue
        value = int(f"{sign}{number or 1}")
        if loop:
            loops[loop] = value
        else:
            constant = value
    return loops, constant


class Operand:
    """The indices of an operand, its shape, and how it must be padded for them."""

    def __init__(self, text, sizes):
        indices, _, shape = text.partition("/")
        self.indices = [parse_index(index) for index in indices.split(",")]
        self.loops = set().union(*(loops for loops, _ in self.indices))
        self.shape = list(map(int, shape.split("x"))) if shape else [sizes[next(iter(loops))] for loops, _ in self.indices]
        self.low, self.high = [], []
        for (loops, constant), size in zip(self.indices, self.shape):
            reached = [step * (sizes[loop] - 1) for loop, step in loops.items()]
            self.low.append(max(0, -(constant + sum(min(0, far) for far in reached))))
            self.high.append(max(0, constant + sum(max(0, far) for far in reached) + 1 - size))

    def padded_shape(self):
        return [low + size + high for low, size, high in zip(self.low, self.shape, self.high)]

    def map_exprs(self):
        """What the map of the linalg op says, over the padded operand. Far steps come first, as in the compiler's own maps."""
        return ", ".join(" + ".join([f"{loop} * {step}" if step != 1 else loop
                                     for loop, step in sorted(loops.items(), key=lambda item: -abs(item[1]))]
                                    + [str(constant + low)] * (constant + low != 0 or not loops))
                         for (loops, constant), low in zip(self.indices, self.low))


class Windows:
    """A product of two operands, as the words of a key behind its types have it."""

    def __init__(self, words):
        sizes, first, second, result = words
        loops = [chr(ord("a") + number) for number in range(len(sizes.split("x")))]
        self.sizes = dict(zip(loops, map(int, sizes.split("x"))))
        self.operands = [Operand(first, self.sizes), Operand(second, self.sizes)]
        # A quotient or a rest is the index of a partial sum: which there are, the compiler decides again.
        self.result = [index for index in result.split(",") if len(index) == 1 and index != "-"]
        self.parts = 1
        for index in result.split(","):
            position, is_quotient, length = index.partition("/")
            if is_quotient:
                self.parts = math.ceil(math.prod(self.sizes[loop] for loop in position) / int(length))

    def count(self, loops):
        return math.prod(self.sizes[loop] for loop in loops)

    def product(self):
        """The matrix product that it is: batch, m, n, k and layout, B being the operand that the result's rows run along."""
        a, b = self.operands
        if self.result and self.result[-1] in a.loops - b.loops:
            a, b = b, a
        kept = set(self.result)
        batch, m, n = a.loops & b.loops & kept, (a.loops & kept) - b.loops, (b.loops & kept) - a.loops
        k = set(self.sizes) - kept

        def runs_along(operand, loops):
            return any(operand.indices[-1][0].get(loop) == 1 for loop in loops)
        layout = ("t" if runs_along(a, m) else "n") + ("n" if runs_along(b, n) else "t")
        return self.parts * self.count(batch), self.count(m), self.count(n), math.ceil(self.count(k) / self.parts), layout

    def sums_pixels(self):
        """True of gradients to filters, where neither operand runs along what is summed up."""
        return self.product()[-1] == "tn"

    def is_copied(self):
        return False

    def bytes_read(self, element_bytes):
        return element_bytes * sum(math.prod(operand.shape) for operand in self.operands)

    def bytes_written(self, element_bytes):
        return element_bytes * self.parts * self.count(self.result)

    def module(self, dtype, out):
        """A program of the product alone, whose operands are arguments."""
        element, total = MLIR_TYPES.get(dtype, dtype), SUMS[dtype]

        def tensor(shape, kind):
            return f"tensor<{''.join(f'{size}x' for size in shape)}{kind}>"
        zero, zero_sum = ("0" if kind[0] == "i" else "0.0" for kind in (element, total))
        lines, names = [f"%zero = arith.constant {zero} : {element}", f"%none = arith.constant {zero_sum} : {total}"], []
        for number, operand in enumerate(self.operands):
            names.append(f"%x{number}")
            if any(operand.low + operand.high):
                names[-1] = f"%p{number}"
                places = ", ".join(f"%i{dim}: index" for dim in range(len(operand.shape)))
                lines += [f"{names[-1]} = tensor.pad %x{number} low{operand.low} high{operand.high} {{", f"^bb0({places}):",
                          f"  tensor.yield %zero : {element}",
                          f"}} : {tensor(operand.shape, element)} to {tensor(operand.padded_shape(), element)}"]
        shape = [self.sizes[loop] for loop in self.result]
        sums, loops = tensor(shape, total), ", ".join(self.sizes)
        maps = ", ".join(f"affine_map<({loops}) -> ({exprs})>"
                         for exprs in [*(operand.map_exprs() for operand in self.operands), ", ".join(self.result)])
        kinds = ", ".join('"parallel"' if loop in self.result else '"reduction"' for loop in self.sizes)
        types = ", ".join(tensor(operand.padded_shape(), element) for operand in self.operands)
        allowed = "plan.allow_tf32, " if dtype == "tf32" else ""
        extend = {"i": "arith.extui" if dtype == "u8" else "arith.extsi"}.get(element[0], "arith.extf")
        suffix = "i" if total[0] == "i" else "f"
        lines += [f"%empty = tensor.empty() : {sums}", f"%init = linalg.fill ins(%none : {total}) outs(%empty : {sums}) -> {sums}",
                  f"%sums = linalg.generic {{{allowed}indexing_maps = [{maps}], iterator_types = [{kinds}]}} ins({', '.join(names)} : {types})"
                  f" outs(%init : {sums}) {{", f"^bb0(%a: {element}, %b: {element}, %sum: {total}):"]
        wide = [f"%{name}" for name in "ab"]
        if element != total:
            lines += [f"  %{name}_wide = {extend} %{name} : {element} to {total}" for name in "ab"]
            wide = [f"%{name}_wide" for name in "ab"]
        lines += [f"  %product = arith.mul{suffix} {', '.join(wide)} : {total}", f"  %next = arith.add{suffix} %sum, %product : {total}",
                  f"  linalg.yield %next : {total}", f"}} -> {sums}"]
        result, name = tensor(shape, out), "%sums"
        if out != total:
            name = "%rounded"
            lines += [f"{name} = array.convert %sums : {sums} -> {result}"]
        arguments = ", ".join(f"%x{number}: {tensor(operand.shape, element)}" for number, operand in enumerate(self.operands))
        body = "\n  ".join([*lines, f"return {name} : {result}"])
        return f"func.func @main({arguments}) -> {result} {{\n  {body}\n}}\n"
