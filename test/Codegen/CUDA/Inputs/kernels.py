#===- kernels.py - Kernel modules and what they compute -----------------------===#
#
# Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===--------------------------------------------------------------------------===#
"""Kernel modules as code generation gets them (docs/architecture.md), each with its NumPy reference."""
import math

import numpy as np

DTYPES = {"f32": np.float32, "f64": np.float64, "f16": np.float16, "bf16": np.uint16, "i32": np.int32, "i64": np.int64,
          "i8": np.int8}


def to_bf16(x):
    bits = np.asarray(x, dtype=np.float32).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


def from_bf16(x):
    return (x.astype(np.uint32) << 16).view(np.float32)


def decode(array, element):
    return from_bf16(array) if element == "bf16" else array


def random(rng, shape, element):
    if element[0] == "i":
        return rng.integers(-9, 12, shape).astype(DTYPES[element])
    values = rng.standard_normal(shape).astype(np.float32)
    return to_bf16(values) if element == "bf16" else values.astype(DTYPES[element])


class Kernel:
    """Collects the text of a kernel module. A dim that is a name ("n") is symbolic; `sizes` says what it is."""

    def __init__(self, name, sizes=None):
        self.name, self.sizes, self.scalars = name, sizes or {}, sorted(sizes or {})
        self.lines, self.bindings = [], []  # bindings: (element, shape with names, is output)
        self.prepare = lambda *inputs: None  # changes the random inputs in place
        for i, scalar in enumerate(self.scalars):
            self.lines.append(f"%size_{scalar} = plan.scalar {i} : index")

    def type(self, shape, element, kind="tensor"):
        return f"{kind}<{''.join(('?' if isinstance(d, str) else str(d)) + 'x' for d in shape)}{element}>"

    def names(self, shape):
        return ", ".join(f"%size_{d}" for d in shape if isinstance(d, str))

    def bind(self, shape, element, access):
        number = len(self.bindings)
        sizes = f" sizes({self.names(shape)})" if self.names(shape) else ""
        self.lines.append(f"%b{number} = plan.binding {number} {access} align 64{sizes} : "
                          f"{self.type(shape, element, 'memref')}")
        self.bindings.append((element, tuple(shape), access != "read"))
        return number

    def input(self, shape, element="f32"):
        number = self.bind(shape, element, "read")
        self.lines.append(f"%t{number} = bufferization.to_tensor %b{number} restrict : "
                          f"{self.type(shape, element, 'memref')} to {self.type(shape, element)}")
        return f"%t{number}"

    def empty(self, shape, element):
        name = f"%e{len(self.lines)}"
        self.lines.append(f"{name} = tensor.empty({self.names(shape)}) : {self.type(shape, element)}")
        return name

    def fill(self, shape, element, value):
        name, empty = f"%f{len(self.lines)}", self.empty(shape, element)
        self.lines.append(f"%c{name[1:]} = arith.constant {value} : {element}")
        self.lines.append(f"{name} = linalg.fill ins(%c{name[1:]} : {element}) outs({empty} : "
                          f"{self.type(shape, element)}) -> {self.type(shape, element)}")
        return name

    def generic(self, loops, inputs, outputs, body):
        """`loops`: "p" or "r" each. `inputs`: (value, map, shape, element); `outputs` the same with inits."""
        maps = ", ".join(f"affine_map<({', '.join(f'd{i}' for i in range(len(loops)))}) -> ({m})>"
                         for _, m, _, _ in inputs + outputs)
        kinds = ", ".join('"parallel"' if kind == "p" else '"reduction"' for kind in loops)
        name = f"%g{len(self.lines)}"
        types = lambda operands: ", ".join(self.type(s, e) for _, _, s, e in operands)
        values = lambda operands: ", ".join(v for v, _, _, _ in operands)
        ins = f"ins({values(inputs)} : {types(inputs)}) " if inputs else ""
        count = f":{len(outputs)}" if len(outputs) > 1 else ""
        results = types(outputs) if len(outputs) == 1 else f"({types(outputs)})"
        arguments = ", ".join(f"%{'abcdefgh'[i]}: {e}" for i, (_, _, _, e) in enumerate(inputs + outputs))
        self.lines.append(f"{name}{count} = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}} "
                          f"{ins}outs({values(outputs)} : {types(outputs)}) {{\n    ^bb0({arguments}):\n"
                          f"      {body.strip()}\n    }} -> {results}")
        return name

    def map(self, inputs, shape, element, body):
        """Elementwise over `shape`; inputs: (value, map, shape, element)."""
        dims = ", ".join(f"d{i}" for i in range(len(shape)))
        return self.generic("p" * len(shape), inputs, [(self.empty(shape, element), dims, shape, element)], body)

    def output(self, value, shape, element="f32"):
        number = self.bind(shape, element, "write")
        self.lines.append(f"bufferization.materialize_in_destination {value} in restrict writable %b{number} : "
                          f"({self.type(shape, element)}, {self.type(shape, element, 'memref')}) -> ()")

    def text(self, arch, config=None):
        attributes = f' attributes {{lowering_config = {config}}}' if config else ""
        body = "\n".join("    " + line for line in self.lines)
        return (f'builtin.module @{self.name} attributes {{plan.kernel, plan.target = #plan.target<"cuda", "{arch}">}} '
                f'{{\n  func.func @{self.name}(){attributes} {{\n{body}\n    return\n  }}\n}}\n')

    def concrete(self, shape):
        return tuple(self.sizes[d] if isinstance(d, str) else d for d in shape)

    def scalar_values(self):
        return [self.sizes[scalar] for scalar in self.scalars]


def gelu(shape, element="f32", sizes=None):
    kernel = Kernel("gelu", sizes)
    dims = ", ".join(f"d{i}" for i in range(len(shape)))
    x, b = kernel.input(shape, element), kernel.input(shape[-1:], element)
    wide = element in ("f16", "bf16")
    body = f"""%x = {'arith.extf %a : ' + element + ' to f32' if wide else 'arith.addf %a, %zero : f32'}
      %y = {'arith.extf %b : ' + element + ' to f32' if wide else 'arith.addf %b, %zero : f32'}
      %s = arith.addf %x, %y : f32
      %k = arith.constant 0.70710678 : f32
      %m = arith.mulf %s, %k : f32
      %t = math.erf %m : f32
      %one = arith.constant 1.0 : f32
      %u = arith.addf %t, %one : f32
      %v = arith.mulf %u, %s : f32
      %half = arith.constant 0.5 : f32
      %w = arith.mulf %v, %half : f32
      {'%z = arith.truncf %w : f32 to ' + element if wide else ''}
      linalg.yield {'%z' if wide else '%w'} : {element}"""
    kernel.lines.append("%zero = arith.constant 0.0 : f32")
    kernel.output(kernel.map([(x, dims, shape, element), (b, dims.split(", ")[-1], shape[-1:], element)], shape, element,
                             body), shape, element)

    def reference(x, b):
        s = decode(x, element).astype(np.float64) + decode(b, element).astype(np.float64)
        return [0.5 * s * (1 + np.vectorize(math.erf, otypes=[float])(s * 0.70710678))]
    return kernel, reference


def transpose(shape, permutation, element="f32", sizes=None):
    kernel = Kernel("transpose", sizes)
    x = kernel.input(shape, element)
    out = [shape[p] for p in permutation]
    places = ", ".join(f"d{permutation.index(i)}" for i in range(len(shape)))
    kernel.output(kernel.map([(x, places, shape, element)], out, element, f"linalg.yield %a : {element}"), out, element)
    return kernel, lambda x: [decode(x, element).transpose(permutation)]


ROW, FULL = "d0", "d0, d1"


def softmax(rows, columns, element="f32", sizes=None, axis=1):
    kernel = Kernel("softmax", sizes)
    shape = [rows, columns]
    kept, loops, place = ([rows], "pr", "d0") if axis == 1 else ([columns], "rp", "d1")
    x = kernel.input(shape, element)
    if element != "f32":
        x = kernel.map([(x, FULL, shape, element)], shape, "f32",
                       f"%x = arith.extf %a : {element} to f32\n      linalg.yield %x : f32")
    largest = kernel.generic(loops, [(x, FULL, shape, "f32")],
                             [(kernel.fill(kept, "f32", "0xFF800000"), place, kept, "f32")],
                             "%m = arith.maximumf %a, %b : f32\n      linalg.yield %m : f32")
    e = kernel.map([(x, FULL, shape, "f32"), (largest, place, kept, "f32")], shape, "f32",
                   "%s = arith.subf %a, %b : f32\n      %e = math.exp %s : f32\n      linalg.yield %e : f32")
    total = kernel.generic(loops, [(e, FULL, shape, "f32")], [(kernel.fill(kept, "f32", "0.0"), place, kept, "f32")],
                           "%s = arith.addf %a, %b : f32\n      linalg.yield %s : f32")
    tail = f"%z = arith.truncf %d : f32 to {element}\n      linalg.yield %z : {element}" if element != "f32" else \
        "linalg.yield %d : f32"
    kernel.output(kernel.map([(e, FULL, shape, "f32"), (total, place, kept, "f32")], shape, element,
                             f"%d = arith.divf %a, %b : f32\n      {tail}"), shape, element)

    def reference(x):
        x = decode(x, element).astype(np.float64)
        e = np.exp(x - x.max(axis=axis, keepdims=True)) if x.size else x
        return [e / e.sum(axis=axis, keepdims=True)]
    return kernel, reference


def layer_norm(rows, columns, sizes=None):
    """Mean and variance as keepdims views, scale and bias along the row."""
    kernel = Kernel("layer_norm", sizes)
    shape, kept, keep = [rows, columns], [rows], [rows, 1]
    x, scale, bias = kernel.input(shape), kernel.input([columns]), kernel.input([columns])
    inverse = 1.0 / kernel.concrete(shape)[1]
    add = "%s = arith.addf %a, %b : f32\n      linalg.yield %s : f32"
    total = kernel.generic("pr", [(x, FULL, shape, "f32")], [(kernel.fill(kept, "f32", "0.0"), ROW, kept, "f32")], add)
    wide = f"%w{len(kernel.lines)}"
    count = kernel.names(kept) or str(rows)
    kernel.lines.append(f"{wide} = tensor.expand_shape {total} [[0, 1]] output_shape [{count}, 1] : "
                        f"{kernel.type(kept, 'f32')} into {kernel.type(keep, 'f32')}")
    centred = kernel.map([(x, FULL, shape, "f32"), (wide, "d0, 0", keep, "f32")], shape, "f32",
                         f"%i = arith.constant {inverse!r} : f32\n      %m = arith.mulf %b, %i : f32\n"
                         "      %d = arith.subf %a, %m : f32\n      linalg.yield %d : f32")
    squares = kernel.generic("pr", [(centred, FULL, shape, "f32")],
                             [(kernel.fill(kept, "f32", "0.0"), ROW, kept, "f32")],
                             "%q = arith.mulf %a, %a : f32\n      %s = arith.addf %b, %q : f32\n      linalg.yield %s : f32")
    kernel.output(kernel.map(
        [(centred, FULL, shape, "f32"), (squares, ROW, kept, "f32"), (scale, "d1", [columns], "f32"),
         (bias, "d1", [columns], "f32")], shape, "f32",
        f"%i = arith.constant {inverse!r} : f32\n      %v = arith.mulf %b, %i : f32\n"
        "      %eps = arith.constant 1.0e-5 : f32\n      %w = arith.addf %v, %eps : f32\n"
        "      %r = math.rsqrt %w : f32\n      %n = arith.mulf %a, %r : f32\n      %m = arith.mulf %n, %c : f32\n"
        "      %o = arith.addf %m, %d : f32\n      linalg.yield %o : f32"), shape)

    def reference(x, scale, bias):
        x = x.astype(np.float64)
        centred = x - x.mean(axis=1, keepdims=True)
        return [centred / np.sqrt((centred ** 2).mean(axis=1, keepdims=True) + 1e-5) * scale + bias]
    return kernel, reference


def reduce_sum(shape, axes, element="f32", sizes=None):
    kernel = Kernel("reduce_sum", sizes)
    kept = [d for i, d in enumerate(shape) if i not in axes]
    dims = ", ".join(f"d{i}" for i in range(len(shape)))
    places = ", ".join(f"d{i}" for i in range(len(shape)) if i not in axes)
    op, zero = ("arith.addi", "0") if element[0] == "i" else ("arith.addf", "0.0")
    x = kernel.input(shape, element)
    total = kernel.generic("".join("r" if i in axes else "p" for i in range(len(shape))), [(x, dims, shape, element)],
                           [(kernel.fill(kept, element, zero), places, kept, element)],
                           f"%s = {op} %a, %b : {element}\n      linalg.yield %s : {element}")
    kernel.output(total, kept, element)
    wide = np.int64 if element[0] == "i" else np.float64
    return kernel, lambda x: [x.astype(wide).sum(axis=tuple(axes))]


def argmax(rows, columns, axis=1, sizes=None):
    kernel = Kernel("argmax", sizes)
    shape = [rows, columns]
    kept, loops, place = ([rows], "pr", "d0") if axis == 1 else ([columns], "rp", "d1")
    x = kernel.input(shape)
    both = kernel.generic(
        loops, [(x, FULL, shape, "f32")],
        [(kernel.fill(kept, "f32", "0xFF800000"), place, kept, "f32"), (kernel.fill(kept, "i32", "0"), place, kept, "i32")],
        f"%i = linalg.index {axis} : index\n      %j = arith.index_cast %i : index to i32\n"
        "      %m = arith.cmpf ogt, %a, %b : f32\n      %v = arith.select %m, %a, %b : f32\n"
        "      %w = arith.select %m, %j, %c : i32\n      linalg.yield %v, %w : f32, i32")
    kernel.output(f"{both}#1", kept, "i32")
    return kernel, lambda x: [x.argmax(axis=axis)]


def matmul(m, n, k, element="f32", transpose_a=False, transpose_b=False, bias=False, batch=None, sizes=None,
           mantissa_bits=23):
    kernel = Kernel("matmul", sizes)
    wide = {"f16": "f32", "bf16": "f32", "i8": "i32"}.get(element, element)
    lead, letters = ([batch], "b, ") if batch else ([], "")
    shape_a = lead + ([k, m] if transpose_a else [m, k])
    shape_b = lead + ([n, k] if transpose_b else [k, n])
    shape_c = lead + [m, n]
    a, b = kernel.input(shape_a, element), kernel.input(shape_b, element)
    extra = kernel.input([n], wide) if bias else None
    maps = [f"affine_map<({letters}m, n, k) -> ({letters}{x})>"
            for x in ("k, m" if transpose_a else "m, k", "n, k" if transpose_b else "k, n", "m, n")]
    init = kernel.fill(shape_c, wide, "0" if wide[0] == "i" else "0.0")
    kernel.lines.append(f"%product = linalg.contract indexing_maps = [{', '.join(maps)}] ins({a}, {b} : "
                        f"{kernel.type(shape_a, element)}, {kernel.type(shape_b, element)}) outs({init} : "
                        f"{kernel.type(shape_c, wide)}) -> {kernel.type(shape_c, wide)}")
    value, out = "%product", wide
    dims = ", ".join(f"d{i}" for i in range(len(shape_c)))
    if bias:
        value = kernel.map([(value, dims, shape_c, wide), (extra, dims.split(", ")[-1], [n], wide)], shape_c, wide,
                           f"%s = arith.addf %a, %b : {wide}\n      linalg.yield %s : {wide}")
    if element in ("f16", "bf16"):
        value, out = kernel.map([(value, dims, shape_c, wide)], shape_c, element,
                                f"%s = arith.truncf %a : {wide} to {element}\n      linalg.yield %s : {element}"), element
    kernel.output(value, shape_c, out)

    def reference(a, b, *rest):
        number = np.int64 if wide[0] == "i" else np.float64
        a, b = decode(a, element).astype(number), decode(b, element).astype(number)
        c = (a.swapaxes(-1, -2) if transpose_a else a) @ (b.swapaxes(-1, -2) if transpose_b else b)
        return [c + rest[0] if bias else c]

    def prepare(a, b, *rest):
        for factor in (a, b):
            factor.view(np.uint32)[...] &= np.uint32(0xFFFFFFFF << (23 - mantissa_bits) & 0xFFFFFFFF)
    if mantissa_bits < 23:
        kernel.prepare = prepare
    return kernel, reference


def gather(rows, columns, count, sizes=None):
    """take(x, indices) along rows; indices are clamped."""
    kernel = Kernel("gather", sizes)
    x, i = kernel.input([rows, columns]), kernel.input([count], "i32")
    last = kernel.concrete([rows])[0] - 1
    kernel.output(kernel.map(
        [(i, "d0", [count], "i32")], [count, columns], "f32",
        f"%i = arith.index_cast %a : i32 to index\n      %z = arith.constant 0 : index\n"
        f"      %l = arith.constant {last} : index\n      %p = arith.maxsi %i, %z : index\n"
        "      %q = arith.minsi %p, %l : index\n      %j = linalg.index 1 : index\n"
        f"      %v = tensor.extract {x}[%q, %j] : {kernel.type([rows, columns], 'f32')}\n      linalg.yield %v : f32"),
        [count, columns])
    return kernel, lambda x, i: [x[np.clip(i, 0, last)]]


def concatenate(rows, left, right):
    kernel = Kernel("concatenate")
    a, b = kernel.input([rows, left]), kernel.input([rows, right])
    out = [rows, left + right]
    kinds = [kernel.type(s, "f32") for s in ([rows, left], [rows, right], out)]
    empty = kernel.empty(out, "f32")
    kernel.lines.append(f"%i0 = tensor.insert_slice {a} into {empty}[0, 0] [{rows}, {left}] [1, 1] : {kinds[0]} into {kinds[2]}")
    kernel.lines.append(f"%i1 = tensor.insert_slice {b} into %i0[0, {left}] [{rows}, {right}] [1, 1] : {kinds[1]} into {kinds[2]}")
    kernel.output("%i1", out)
    return kernel, lambda a, b: [np.concatenate([a, b], axis=1)]


def pad(rows, columns, low, high):
    kernel = Kernel("pad")
    x = kernel.input([rows, columns])
    out = [rows + low[0] + high[0], columns + low[1] + high[1]]
    kernel.lines.append("%value = arith.constant 7.0 : f32")
    kernel.lines.append(f"%p = tensor.pad {x} low[{low[0]}, {low[1]}] high[{high[0]}, {high[1]}] {{\n    ^bb0(%i: index, %j: index):\n"
                        f"      tensor.yield %value : f32\n    }} : {kernel.type([rows, columns], 'f32')} to {kernel.type(out, 'f32')}")
    kernel.output("%p", out)
    return kernel, lambda x: [np.pad(x, list(zip(low, high)), constant_values=7.0)]


def depthwise(image, taps, strides=(1, 1), padding=1, turned=False, element="f32"):
    """Windows of an image [h, w, c] times a filter [taps, taps, c]; `turned`: of its taps from the last one on."""
    kernel = Kernel("depthwise")
    c = image[-1]
    x, f = kernel.input(image, element), kernel.input([taps, taps, c], element)
    wide = [image[0] + 2 * padding, image[1] + 2 * padding, c]
    places = [(wide[dim] - taps) // strides[dim] + 1 for dim in (0, 1)]
    kernel.lines.append(f"%zero = arith.constant 0.0 : {element}")
    kernel.lines.append(f"%p = tensor.pad {x} low[{padding}, {padding}, 0] high[{padding}, {padding}, 0] {{\n    ^bb0(%i: index, %j: index, %k: index):\n"
                        f"      tensor.yield %zero : {element}\n    }} : {kernel.type(image, element)} to {kernel.type(wide, element)}")
    out = [*places, c]
    rows, columns = ((f"d{i} * {stride} - d{i + 3} + {taps - 1}" if turned else f"d{i} * {stride} + d{i + 3}") for i, stride in enumerate(strides))
    widened = "".join(f"%{name}{name} = arith.extf %{name} : {element} to f32\n      " for name in "ab") if element != "f32" else ""
    a, b = ("%aa", "%bb") if widened else ("%a", "%b")
    sums = kernel.generic("ppprr", [("%p", f"{rows}, {columns}, d2", wide, element), (f, "d3, d4, d2", [taps, taps, c], element)],
                          [(kernel.fill(out, "f32", "0.0"), "d0, d1, d2", out, "f32")],
                          f"""{widened}%m = arith.mulf {a}, {b} : f32
      %s = arith.addf %c, %m : f32
      linalg.yield %s : f32""")
    result = sums if element == "f32" else kernel.map([(sums, "d0, d1, d2", out, "f32")], out, element,
                                                      f"%n = arith.truncf %a : f32 to {element}\n      linalg.yield %n : {element}")
    kernel.output(result, out, element)

    def reference(x, f):
        x, f = decode(x, element), decode(f, element)
        padded = np.pad(x, [(padding, padding), (padding, padding), (0, 0)])
        total = np.zeros((*places, c))
        for r in range(taps):
            for s in range(taps):
                top, left = (taps - 1 - r, taps - 1 - s) if turned else (r, s)
                total += padded[top:, left:][:(places[0] - 1) * strides[0] + 1:strides[0], :(places[1] - 1) * strides[1] + 1:strides[1]] * f[r, s]
        return [total]
    return kernel, reference


def strided_slice(rows, columns, start, step):
    kernel = Kernel("strided_slice")
    x = kernel.input([rows, columns])
    out = [rows, (columns - start + step - 1) // step]
    kernel.lines.append(f"%s = tensor.extract_slice {x}[0, {start}] [{out[0]}, {out[1]}] [1, {step}] : "
                        f"{kernel.type([rows, columns], 'f32')} to {kernel.type(out, 'f32')}")
    kernel.output("%s", out)
    return kernel, lambda x: [x[:, start::step]]


def scatter(kind, dest, axes, count, element="f32", seed=0):
    """`count` updates along `axes` of `dest`; some index vectors are outside, some repeat."""
    kernel = Kernel("scatter")
    window = [d for i, d in enumerate(dest) if i not in axes]
    index_shape, update_shape = [count, len(axes)], [count] + window
    x, i, u = kernel.input(dest, element), kernel.input(index_shape, "i32"), kernel.input(update_shape, element)
    kernel.lines.append(f"%r = kernel.scatter {kind}, {i}, {u} into {x} axes = {list(axes)} : {kernel.type(index_shape, 'i32')}, "
                        f"{kernel.type(update_shape, element)} into {kernel.type(dest, element)} -> {kernel.type(dest, element)}")
    kernel.output("%r", dest, element)

    def reference(x, i, u):
        result = np.moveaxis(x.copy(), axes, range(len(axes)))
        apply = {"set": lambda a, b: b, "add": np.add, "max": np.maximum, "min": np.minimum, "mul": np.multiply}[kind]
        for at, update in zip(i, u):
            if all(0 <= c < dest[a] for c, a in zip(at, axes)):
                result[tuple(at)] = apply(result[tuple(at)], update)
        return [np.moveaxis(result, range(len(axes)), axes)]
    return kernel, reference


def argmax_with_nan(rows, columns, axis=1):
    """The first of the largest elements, NaN above all, in the form that array.argmax is lowered to."""
    kernel = Kernel("argmax_with_nan")
    shape = [rows, columns]
    kept, loops, place = ([rows], "pr", "d0") if axis == 1 else ([columns], "rp", "d1")
    x = kernel.input(shape)
    both = kernel.generic(
        loops, [(x, FULL, shape, "f32")],
        [(kernel.fill(kept, "f32", "0xFF800000"), place, kept, "f32"),
         (kernel.fill(kept, "i32", str(2 ** 31 - 1)), place, kept, "i32")],
        f"%i = linalg.index {axis} : index\n      %j = arith.index_cast %i : index to i32\n"
        "      %earlier = arith.cmpi slt, %j, %c : i32\n      %nan = arith.cmpf uno, %a, %a : f32\n"
        "      %other = arith.cmpf uno, %b, %b : f32\n      %more = arith.cmpf ogt, %a, %b : f32\n"
        "      %number = arith.cmpf ord, %b, %b : f32\n      %first = arith.andi %nan, %number : i1\n"
        "      %equal = arith.cmpf oeq, %a, %b : f32\n      %both = arith.andi %nan, %other : i1\n"
        "      %same = arith.ori %equal, %both : i1\n      %above = arith.ori %more, %first : i1\n"
        "      %tie = arith.andi %same, %earlier : i1\n      %take = arith.ori %above, %tie : i1\n"
        "      %v = arith.select %take, %a, %b : f32\n      %w = arith.select %take, %j, %c : i32\n"
        "      linalg.yield %v, %w : f32, i32")
    kernel.output(f"{both}#1", kept, "i32")

    def prepare(x):
        # Few different values: ties. Some rows have NaN.
        x[...] = np.round(x)
        x[::3, columns // 2::5] = np.nan
    kernel.prepare = prepare
    return kernel, lambda x: [x.argmax(axis=axis)]
