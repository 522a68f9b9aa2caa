"""Memory-bound work of other kinds, and of shapes that are hard; peers_cuda_memory.py measures it beside torch."""
import itertools
import math
import re

L2_BYTES = 60 << 20
BYTES = {"f32": 4, "bf16": 2, "f16": 2, "i32": 4, "ui32": 4, "i8": 1}


def tensor(shape, dtype):
    return f"tensor<{''.join(f'{size}x' for size in shape)}{dtype}>"


class Work:
    """A program, the bytes that it has to move, and what torch calls it. Inputs and outputs are pairs of a shape and a type."""

    def __init__(self, name, inputs, outputs, body, function=None, bound=None, is_random=False, jax_function=None):
        self.name, self.inputs, self.outputs, self.function, self.is_random = name, inputs, outputs, function, is_random
        # What JAX calls it, of one input, where it is measured too.
        self.jax_function = jax_function
        self.section, self.is_compiled = None, True
        # How far results may be from torch's, of their norm.
        self.tolerance = 0.01
        # Integers are random ones below `bound`.
        self.bound = bound
        self.entry, self.flags = "main", []
        self.bytes = sum(math.prod(shape) * BYTES[dtype] for shape, dtype in inputs + outputs)
        arguments = ", ".join(f"%{i}: {tensor(*typed)}" for i, typed in enumerate(inputs))
        results = ", ".join(tensor(*typed) for typed in outputs)
        names = ", ".join(f"%r{i}" for i in range(len(outputs)))
        self.text = f"func.func @main({arguments}) -> ({results}) {{\n{body}\nreturn {names} : {results}\n}}\n"

    @property
    def sets(self):
        return max(2, min(64, 2 * L2_BYTES // self.bytes + 2))

    @property
    def calls(self):
        return self.sets * max(1, 32 // self.sets)


def rows(rows, columns, dtype):
    x, r = tensor((rows, columns), dtype), tensor((rows,), dtype)
    size = f"{rows}x{columns}_{dtype}"
    whole, row, column = ((rows, columns), dtype), ((rows,), dtype), ((columns,), dtype)
    c = tensor((columns,), dtype)
    yield Work(f"softmax_{size}", [whole], [whole], f"%r0 = array.softmax %0 axis = 1 : {x}",
               lambda torch: lambda x: torch.softmax(x, -1))
    yield Work(f"rowsum_{size}", [whole], [row], f"%r0 = array.reduce sum, %0 axes = [1] : {x} -> {r}",
               lambda torch: lambda x: x.sum(1))
    yield Work(f"layernorm_{size}", [whole, column, column], [whole],
               f"%r0 = array.layer_norm %0 scale(%1 : {c}) bias(%2 : {c}) axis = 1 epsilon = 1.0e-5 : {x}",
               lambda torch: lambda x, w, b: torch.nn.functional.layer_norm(x, (columns,), w, b))


def rms_norm_gradient(rows, columns, dtype):
    x, c = tensor((rows, columns), dtype), tensor((columns,), dtype)
    f, g, k = tensor((rows, columns), "f32"), tensor((columns,), "f32"), tensor((rows, 1), "f32")
    body = f"""
      %x = array.convert %0 : {x} -> {f}
      %w = array.convert %1 : {c} -> {g}
      %dy = array.convert %2 : {x} -> {f}
      %square = array.mul %x, %x : {f}
      %mean = array.mean %square axes = [1] keepdims : {f} -> {k}
      %epsilon = array.constant dense<1.0e-6> : tensor<f32>
      %me = array.add %mean, %epsilon : ({k}, tensor<f32>) -> {k}
      %rstd = array.rsqrt %me : {k}
      %xhat = array.mul %x, %rstd : ({f}, {k}) -> {f}
      %wdy = array.mul %dy, %w : ({f}, {g}) -> {f}
      %wx = array.mul %wdy, %xhat : {f}
      %m = array.mean %wx axes = [1] keepdims : {f} -> {k}
      %p = array.mul %xhat, %m : ({f}, {k}) -> {f}
      %q = array.sub %wdy, %p : {f}
      %dx = array.mul %q, %rstd : ({f}, {k}) -> {f}
      %dyx = array.mul %dy, %xhat : {f}
      %dg = array.reduce sum, %dyx axes = [0] : {f} -> {g}
      %r0 = array.convert %dx : {f} -> {x}
      %r1 = array.convert %dg : {g} -> {c}"""

    def gradient(torch):
        def step(x, w, dy):
            x, w, dy = x.float(), w.float(), dy.float()
            rstd = torch.rsqrt((x * x).mean(1, keepdim=True) + 1e-6)
            xhat, wdy = x * rstd, dy * w
            dx = (wdy - xhat * (wdy * xhat).mean(1, keepdim=True)) * rstd
            kind = {"f32": torch.float32, "bf16": torch.bfloat16}[dtype]
            return dx.to(kind), (dy * xhat).sum(0).to(kind)
        return step

    whole, column = ((rows, columns), dtype), ((columns,), dtype)
    return Work(f"rmsnorm_vjp_{rows}x{columns}_{dtype}", [whole, column, whole], [whole, column], body, gradient)


def layer_norm_gradient(shape, dtype):
    """What --gradient makes of a layer norm over the last dim: cotangents of the operand, the scale and the bias."""
    whole, column = (shape, dtype), (shape[-1:], dtype)
    x, c = tensor(*whole), tensor(*column)

    def gradient(torch):
        def step(x, w, b, dy):
            kind = dy.dtype
            x, w, dy = x.float(), w.float(), dy.float()
            centred = x - x.mean(-1, keepdim=True)
            rstd = torch.rsqrt((centred * centred).mean(-1, keepdim=True) + 1e-5)
            z, h = centred * rstd, dy * w
            dx = rstd * (h - h.mean(-1, keepdim=True) - z * (h * z).mean(-1, keepdim=True))
            rows = tuple(range(dy.dim() - 1))
            return dx.to(kind), (dy * z).sum(rows).to(kind), dy.sum(rows).to(kind)
        return step

    size = "x".join(map(str, shape))
    work = Work(f"layernorm_gradient_{size}_{dtype}", [whole, column, column, whole], [whole, column, column], "", gradient)
    work.text = f"""func.func @main(%x: {x}, %w: {c}, %b: {c}) -> {x} {{
      %y = array.layer_norm %x scale(%w : {c}) bias(%b : {c}) axis = {len(shape) - 1} epsilon = 1.0e-5 : {x}
      return %y : {x}
    }}
    """
    work.entry, work.flags = "main_vjp", ["--gradient=main"]
    return work


def permute(shape, order, dtype):
    turned = tuple(shape[dim] for dim in order)
    return Work(f"permute_{'x'.join(map(str, shape))}_{''.join(map(str, order))}_{dtype}", [(shape, dtype)],
                [(turned, dtype)],
                f"%r0 = array.transpose %0 permutation = {list(order)} : {tensor(shape, dtype)} -> {tensor(turned, dtype)}",
                lambda torch: lambda x: x.permute(order).contiguous())


def channels(rows, features):
    """Statistics of columns, which are then needed for all of them."""
    x, c = tensor((rows, features), "f32"), tensor((features,), "f32")
    whole, column = ((rows, features), "f32"), ((features,), "f32")
    yield Work(f"batchnorm_{rows}x{features}_f32", [whole, column, column], [whole, column, column],
               f"%r0, %r1, %r2 = array.batch_norm_training %0, %1, %2 axis = 1 epsilon = 1.0e-5 : ({x}, {c}, {c}) -> ({x}, {c}, {c})",
               lambda torch: lambda x, w, b: torch.native_batch_norm(x, w, b, None, None, True, 0.1, 1e-5)[0])
    yield Work(f"softmax_columns_{rows}x{features}_f32", [whole], [whole], f"%r0 = array.softmax %0 axis = 0 : {x}",
               lambda torch: lambda x: torch.softmax(x, 0))


def moves():
    def wide(*shape):
        return shape, "f32"

    def text(*shape):
        return tensor(shape, "f32")

    yield permute((32, 512, 12, 64), (0, 2, 1, 3), "bf16")
    yield permute((32, 64, 56, 56), (0, 2, 3, 1), "f32")
    yield permute((64, 512, 1024), (2, 0, 1), "f32")
    yield permute((64, 512, 1024), (1, 0, 2), "f32")
    yield permute((16, 384, 3, 1024), (2, 0, 3, 1), "bf16")
    yield Work("concat_8192x2048_twice_f32", [wide(8192, 2048)] * 2, [wide(8192, 4096)],
               f"%r0 = array.concatenate %0, %1 axis = 1 : ({text(8192, 2048)}, {text(8192, 2048)}) -> {text(8192, 4096)}",
               lambda torch: lambda a, b: torch.cat([a, b], 1))
    yield Work("slice_8192x4097_f32", [wide(8192, 4097)], [wide(8192, 4000)],
               f"%r0 = array.slice %0 [:, 1:4001] : {text(8192, 4097)} -> {text(8192, 4000)}",
               lambda torch: lambda x: x[:, 1:4001].contiguous())
    yield Work("pad_32x64x56x56_f32", [wide(32, 64, 56, 56)], [wide(32, 64, 58, 58)],
               f"""%zero = array.constant dense<0.0> : tensor<f32>
               %r0 = array.pad %0, %zero low = [0, 0, 1, 1] high = [0, 0, 1, 1] interior = [0, 0, 0, 0] : ({text(32, 64, 56, 56)}, tensor<f32>) -> {text(32, 64, 58, 58)}""",
               lambda torch: lambda x: torch.nn.functional.pad(x, (1, 1, 1, 1)))
    rows, width, ids = 50257, 768, 16384
    take = Work(f"take_{ids}_of_{rows}x{width}_f32", [wide(rows, width), ((ids,), "i32")], [wide(ids, width)],
                f"%r0 = array.take %0[%1] axis = 0 : ({text(rows, width)}, tensor<{ids}xi32>) -> {text(ids, width)}",
                lambda torch: lambda table, index: table[index], bound=rows)
    take.bytes = 2 * ids * width * 4
    yield take
    yield Work(f"scatter_{ids}_to_{rows}x{width}_f32", [((ids, 1), "i32"), wide(ids, width)], [wide(rows, width)],
               f"""%zero = array.constant dense<0.0> : tensor<f32>
               %z = array.broadcast_in_dim %zero axes = [] : tensor<f32> -> {text(rows, width)}
               %r0 = array.scatter add, %z[%0] axes = [0] = %1 : ({text(rows, width)}, tensor<{ids}x1xi32>, {text(ids, width)}) -> {text(rows, width)}""",
               lambda torch: lambda index, x: torch.zeros(rows, width, device="cuda").index_add_(0, index[:, 0], x),
               bound=rows)


def lines():
    def work(name, shape, dtype, outputs, body, function, jax_function=None):
        return Work(f"{name}_{'x'.join(map(str, shape))}_{dtype}", [(shape, dtype)], outputs,
                    body.replace("TYPE", tensor(shape, dtype)), function, jax_function=jax_function)

    big = (8192, 4096)
    yield work("argmax", big, "f32", [((8192,), "i32")], "%r0 = array.argmax %0 axis = 1 : TYPE -> tensor<8192xi32>",
               lambda torch: lambda x: x.argmax(1))
    yield work("log_softmax", big, "f32", [(big, "f32")], "%r0 = array.log_softmax %0 axis = 1 : TYPE",
               lambda torch: lambda x: torch.log_softmax(x, 1))
    yield work("log_softmax", (2048, 50257), "bf16", [((2048, 50257), "bf16")],
               "%r0 = array.log_softmax %0 axis = 1 : TYPE", lambda torch: lambda x: torch.log_softmax(x, 1))
    for shape, axis in ((big, 1), (big, 0), ((16, 1 << 20), 1)):
        yield work(f"cumsum{axis}", shape, "f32", [(shape, "f32")],
                   f"%r0 = array.cumsum %0 axis = {axis} : TYPE -> TYPE", lambda torch, axis=axis: lambda x: x.cumsum(axis))
    for shape in ((4096, 1024), (64, 65536), (1, 1 << 22)):
        yield work("sort", shape, "f32", [(shape, "f32")], "%r0 = array.sort %0 axis = 1 : TYPE -> TYPE",
                   lambda torch: lambda x: x.sort(1)[0], lambda jax: lambda x: jax.numpy.sort(x, 1))
    line = (1, 1 << 22)
    yield work("argsort", line, "f32", [(line, "i32")], f"%r0 = array.argsort %0 axis = 1 : TYPE -> {tensor(line, 'i32')}",
               lambda torch: lambda x: x.argsort(dim=1, stable=True), lambda jax: lambda x: jax.numpy.argsort(x, 1))
    numbers = work("sort", line, "i32", [(line, "i32")], "%r0 = array.sort %0 axis = 1 : TYPE -> TYPE",
                   lambda torch: lambda x: x.sort(1)[0])
    numbers.bound = 1 << 30
    yield numbers
    yield work("sort", line, "bf16", [(line, "bf16")], "%r0 = array.sort %0 axis = 1 : TYPE -> TYPE",
               lambda torch: lambda x: x.sort(1)[0])
    for shape, k in ((big, 8), ((32, 50257), 50), ((1, 1 << 24), 50)):
        few = (shape[0], k)
        yield work(f"top{k}", shape, "f32", [(few, "f32"), (few, "i32")],
                   f"%r0, %r1 = array.topk %0 k = {k} axis = 1 : TYPE -> {tensor(few, 'f32')}, {tensor(few, 'i32')}",
                   lambda torch, k=k: lambda x: x.topk(k, 1)[0])


def elements():
    whole, row = ((8192, 4096), "f32"), ((4096,), "f32")
    t, r = tensor(*whole), tensor(*row)
    yield Work("tanh_of_a_b_plus_row_8192x4096_f32", [whole, whole, row], [whole],
               f"""%a = array.mul %0, %1 : {t}
               %b = array.add %a, %2 : ({t}, {r}) -> {t}
               %r0 = array.tanh %b : {t}""", lambda torch: lambda a, b, c: torch.tanh(a * b + c))
    half = ((8192, 4096), "bf16")
    yield Work("convert_8192x4096_f32_to_bf16", [whole], [half], f"%r0 = array.convert %0 : {t} -> {tensor(*half)}",
               lambda torch: lambda x: x.to(torch.bfloat16))
    for op, torch_op in (("uniform", "rand"), ("normal", "randn")):
        for name, words in (("", ""), ("_philox", " algorithm = philox")):
            yield Work(f"{op}{name}_8192x4096_f32", [((2,), "ui32")], [whole],
                       f"%r0 = array.random_{op} %0{words} : tensor<2xui32> -> {t}",
                       lambda torch, torch_op=torch_op: lambda key: getattr(torch, torch_op)(8192, 4096, device="cuda"),
                       bound=1 << 30, is_random=True,
                       # JAX's are Threefry's, as ours are without a word; torch's are Philox's.
                       jax_function=None if words else
                       lambda jax, op=op: lambda key: getattr(jax.random, op)(jax.random.wrap_key_data(key), (8192, 4096)))


def more_rows():
    """Rows of lengths that users have: odd ones, short ones, vocabularies, and few long ones."""
    for shape, dtype in (((262144, 33), "f32"), ((262144, 33), "bf16"), ((98304, 197), "f16"), ((32768, 1000), "bf16"),
                         ((16384, 3000), "f16"), ((8192, 12288), "bf16"), ((2048, 50257), "bf16"), ((2048, 50257), "f32"),
                         ((1024, 128256), "bf16"), ((2, 131072), "f32"), ((16, 32768), "f32"), ((32, 1 << 20), "f32")):
        yield from rows(*shape, dtype)
    x, r = tensor((2048, 50257), "bf16"), tensor((50257,), "bf16")
    whole, row = ((2048, 50257), "bf16"), ((50257,), "bf16")
    yield Work("add_row_2048x50257_bf16", [whole, row], [whole], f"%r0 = array.add %0, %1 : ({x}, {r}) -> {x}",
               lambda torch: lambda a, b: a + b)


def more_moves():
    """Columns that are few or many, and moves of odd sizes and narrow types."""
    def column_sums(shape, dtype):
        x, c = tensor(shape, dtype), tensor(shape[1:], dtype)
        return Work(f"colsum_{shape[0]}x{shape[1]}_{dtype}", [(shape, dtype)], [(shape[1:], dtype)],
                    f"%r0 = array.reduce sum, %0 axes = [0] : {x} -> {c}", lambda torch: lambda x: x.sum(0))

    for shape, dtype in (((1 << 20, 16), "f32"), ((1 << 20, 33), "f32"), ((262144, 100), "bf16"), ((64, 1 << 20), "f32"),
                         ((2048, 50257), "bf16")):
        yield column_sums(shape, dtype)
    for shape, dtype in (((4097, 8191), "f32"), ((4097, 8191), "bf16"), ((8192, 8192), "i8"), ((8191, 8191), "i8")):
        yield permute(shape, (1, 0), dtype)

    def move(name, shape, dtype, out, body, function):
        return Work(f"{name}_{'x'.join(map(str, shape))}_{dtype}", [(shape, dtype)], [(out, dtype)],
                    body.replace("IN", tensor(shape, dtype)).replace("OUT", tensor(out, dtype)), function)

    yield move("slice", (16384, 4097), "bf16", (16384, 4000), "%r0 = array.slice %0 [:, 1:4001] : IN -> OUT",
               lambda torch: lambda x: x[:, 1:4001].contiguous())
    yield move("pad", (16384, 3999), "bf16", (16384, 4001), """%zero = array.constant dense<0.0> : tensor<bf16>
               %r0 = array.pad %0, %zero low = [0, 1] high = [0, 1] interior = [0, 0] : (IN, tensor<bf16>) -> OUT""",
               lambda torch: lambda x: torch.nn.functional.pad(x, (1, 1)))
    half = tensor((16384, 2047), "bf16")
    yield Work("concat_16384x2047_twice_bf16", [((16384, 2047), "bf16")] * 2, [((16384, 4094), "bf16")],
               f"%r0 = array.concatenate %0, %1 axis = 1 : ({half}, {half}) -> {tensor((16384, 4094), 'bf16')}",
               lambda torch: lambda a, b: torch.cat([a, b], 1))
    for width, dtype, ids in ((8, "f32", 1 << 21), (64, "bf16", 1 << 20)):
        table, many = (1 << 20, width), (ids, width)
        take = Work(f"take_{ids}_of_{1 << 20}x{width}_{dtype}", [(table, dtype), ((ids,), "i32")], [(many, dtype)],
                    f"%r0 = array.take %0[%1] axis = 0 : ({tensor(table, dtype)}, tensor<{ids}xi32>) -> {tensor(many, dtype)}",
                    lambda torch: lambda table, index: table[index], bound=1 << 20)
        take.bytes = 2 * ids * width * BYTES[dtype] + 4 * ids
        yield take
    for shape, axis in (((8192, 4096), 1), ((8192, 4097), 1), ((256, 131072), 0)):
        totals = Work(f"cumsum{axis}_{'x'.join(map(str, shape))}_bf16", [(shape, "bf16")], [(shape, "bf16")],
                      f"%r0 = array.cumsum %0 axis = {axis} : {tensor(shape, 'bf16')} -> {tensor(shape, 'bf16')}",
                      lambda torch, axis=axis: lambda x: x.cumsum(axis))
        # Ours are rounded to bf16 at other places than torch's.
        totals.tolerance = 0.05
        yield totals


ROWS, OTHERS, ORDERS = "Rows of other lengths, and columns", "Other work and shapes", "Sorts, top-k and random numbers"
# In these sections torch.compile is asked for what it may do better than torch eager: the others it mostly hands on, after minutes.
COMPILED = re.compile("8x100000|add_row|rowsum_2048x50257|colsum_2048x50257|permute_32x64|permute_32x512|permute_64x512x1024_201|concat|slice|"
                      "pad|take_16384|scatter|tanh|convert|uniform|normal")


def find_section(name):
    if re.match("sort|argsort|top|uniform|normal|scatter", name):
        return ORDERS
    return ROWS if re.match("(softmax|rowsum|layernorm|log_softmax|add_row|colsum)_[0-9]", name) else OTHERS


def list_families():
    groups = [rows(8, 100000, "f32"), rows(1 << 20, 32, "f32"), rows(64, 262144, "f32"), rows(1024, 100000, "bf16"),
              [rms_norm_gradient(32768, 1024, "f32"), rms_norm_gradient(8192, 4096, "bf16"), rms_norm_gradient(4097, 768, "f32")],
              [layer_norm_gradient(shape, dtype) for shape, dtype in
               (((4096, 768), "f32"), ((4097, 768), "f32"), ((8, 512, 1024), "bf16"), ((16, 2048, 1024), "f32"))], channels(32 * 56 * 56, 64),
              channels(4096, 4096), moves(), lines(), elements(), more_rows(), more_moves()]
    for work in itertools.chain(*groups):
        work.section, work.is_compiled = find_section(work.name), bool(COMPILED.search(work.name))
        yield work
