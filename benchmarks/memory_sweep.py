"""Memory-bound work of many kinds, in shapes for which nothing was chosen; peers_cuda_memory.py measures it beside torch."""
from memory_families import Work, permute, tensor


def make(name, inputs, outputs, body, function, bound=None, moved=None, tolerance=0.01):
    """`IN0`, `OUT0` and so on in the body stand for types; `moved` is of the bytes that move, where those are not all."""
    for prefix, values in (("IN", inputs), ("OUT", outputs)):
        for i, value in reversed(list(enumerate(values))):
            body = body.replace(f"{prefix}{i}", tensor(*value))
    work = Work(name, inputs, outputs, body, lambda torch: function(torch), bound)
    work.bytes, work.tolerance = moved or work.bytes, tolerance
    return work


def size(shape, dtype):
    return "x".join(map(str, shape)) + f"_{dtype}"


def same(name, shape, dtype, body, function, **more):
    return make(f"{name}_{size(shape, dtype)}", [(shape, dtype)], [(shape, dtype)], body, function, **more)


def row_kernels():
    for shape, dtype in (((4097, 1000), "f32"), ((16384, 128), "bf16"), ((64, 131072), "bf16"), ((2048, 2048), "f16")):
        yield same("softmax", shape, dtype, "%r0 = array.softmax %0 axis = 1 : IN0", lambda torch: lambda x: torch.softmax(x, -1))
    for shape, dtype in (((16384, 1024), "bf16"), ((2048, 8192), "f32"), ((512, 768), "bf16")):
        yield make(f"layernorm_{size(shape, dtype)}", [(shape, dtype), (shape[1:], dtype), (shape[1:], dtype)], [(shape, dtype)],
                   "%r0 = array.layer_norm %0 scale(%1 : IN1) bias(%2 : IN2) axis = 1 epsilon = 1.0e-5 : IN0",
                   lambda torch: lambda x, w, b: torch.nn.functional.layer_norm(x, w.shape, w, b))
    shape = (32768, 5120)
    yield make(f"rmsnorm_{size(shape, 'f16')}", [(shape, "f16"), (shape[1:], "f16")], [(shape, "f16")],
               "%r0 = array.rms_norm %0 scale(%1 : IN1) axis = 1 epsilon = 1.0e-6 : IN0",
               lambda torch: lambda x, w: torch.nn.functional.rms_norm(x, w.shape, w, 1e-6))
    shape, wide = (8192, 4096), ((8192, 4096), "f32")
    yield make("residual_rmsnorm_cast_8192x4096", [wide, (shape, "bf16"), (shape[1:], "f32")], [(shape, "bf16"), wide], """
               %x = array.convert %1 : IN1 -> IN0
               %r1 = array.add %0, %x : IN0
               %y = array.rms_norm %r1 scale(%2 : IN2) axis = 1 epsilon = 1.0e-6 : IN0
               %r0 = array.convert %y : IN0 -> OUT0""", lambda torch: lambda a, b, w: residual_norm(torch, a, b, w))
    yield same("softmax_middle", (64, 512, 256), "f32", "%r0 = array.softmax %0 axis = 1 : IN0",
               lambda torch: lambda x: torch.softmax(x, 1))
    shape = (16, 12, 512, 512)
    yield make("masked_softmax_16x12x512x512_bf16", [(shape, "bf16"), ((16, 1, 1, 512), "i32")], [(shape, "bf16")], """
               %zero = array.constant dense<0> : tensor<i32>
               %low = array.constant dense<-30000.0> : tensor<bf16>
               %p = array.compare ne, %1, %zero : (IN1, tensor<i32>) -> tensor<16x1x1x512xi1>
               %x = array.select %p, %0, %low : (tensor<16x1x1x512xi1>, IN0, tensor<bf16>) -> IN0
               %r0 = array.softmax %x axis = 3 : IN0""",
               lambda torch: lambda x, m: torch.softmax(x.masked_fill(m == 0, -30000.0), -1), bound=2)
    shape, dtype = (32, 256, 56, 56), "f32"
    yield make(f"group_norm_{size(shape, dtype)}", [(shape, dtype), ((256,), dtype), ((256,), dtype)], [(shape, dtype)],
               "%r0 = array.group_norm %0, %1, %2 axis = 1 groups = 32 epsilon = 1.0e-5 : (IN0, IN1, IN2) -> OUT0",
               lambda torch: lambda x, w, b: torch.nn.functional.group_norm(x, 32, w, b))
    yield make(f"batchnorm_inference_{size(shape, dtype)}", [(shape, dtype)] + [((256,), dtype)] * 2, [(shape, dtype)], """
               %mean = array.constant dense<0.5> : IN1
               %variance = array.constant dense<2.0> : IN1
               %r0 = array.batch_norm_inference %0, %1, %2, %mean, %variance axis = 1 epsilon = 1.0e-5
                 : (IN0, IN1, IN1, IN1, IN1) -> OUT0""", batch_norm)
    table, ids = ((50257, 768), "f32"), ((16384,), "i32")
    yield make("embedding_layernorm_16384x768_f32", [table, ids, ((768,), "f32"), ((768,), "f32")], [((16384, 768), "f32")], """
               %e = array.take %0[%1] axis = 0 : (IN0, IN1) -> OUT0
               %r0 = array.layer_norm %e scale(%2 : IN2) bias(%3 : IN3) axis = 1 epsilon = 1.0e-5 : OUT0""",
               lambda torch: lambda t, i, w, b: torch.nn.functional.layer_norm(t[i], w.shape, w, b), bound=50257,
               moved=2 * 16384 * 768 * 4)
    logits, labels = ((8192, 32000), "bf16"), ((8192, 1), "i32")
    yield make("cross_entropy_8192x32000_bf16", [logits, labels], [((8192, 1), "f32")], """
               %x = array.convert %0 : IN0 -> tensor<8192x32000xf32>
               %l = array.log_softmax %x axis = 1 : tensor<8192x32000xf32>
               %t = array.take_along_axis %l[%1] axis = 1 : (tensor<8192x32000xf32>, IN1) -> OUT0
               %r0 = array.neg %t : OUT0""",
               lambda torch: lambda x, y: -torch.log_softmax(x.float(), 1).gather(1, y.long()), bound=32000)


def residual_norm(torch, a, b, w):
    total = a + b.float()
    return torch.nn.functional.rms_norm(total, w.shape, w, 1e-6).to(torch.bfloat16), total


def batch_norm(torch):
    mean, variance = torch.full((256,), 0.5, device="cuda"), torch.full((256,), 2.0, device="cuda")
    return lambda x, w, b: torch.nn.functional.batch_norm(x, mean, variance, w, b, False, 0.0, 1e-5)


def reductions():
    def reduce(name, shape, dtype, out, kind, body, function, **more):
        return make(f"{name}_{size(shape, dtype)}", [(shape, dtype)], [(out, kind)], body, function, **more)

    for shape, dtype in (((16384, 1000), "bf16"), ((32, 100000), "f32")):
        yield reduce("argmax", shape, dtype, shape[:1], "i32", "%r0 = array.argmax %0 axis = 1 : IN0 -> OUT0",
                     lambda torch: lambda x: x.argmax(1))
    yield reduce("argmax0", (8192, 4096), "f32", (4096,), "i32", "%r0 = array.argmax %0 axis = 0 : IN0 -> OUT0",
                 lambda torch: lambda x: x.argmax(0))
    yield reduce("sum_all", (1 << 26,), "f32", (), "f32", "%r0 = array.reduce sum, %0 axes = [0] : IN0 -> OUT0",
                 lambda torch: lambda x: x.sum(), tolerance=0.5)
    yield reduce("norm_all", (4096, 8192), "bf16", (), "f32", """
                 %x = array.convert %0 : IN0 -> tensor<4096x8192xf32>
                 %s = array.square %x : tensor<4096x8192xf32>
                 %t = array.reduce sum, %s axes = [0, 1] : tensor<4096x8192xf32> -> OUT0
                 %r0 = array.sqrt %t : OUT0""", lambda torch: lambda x: x.float().square().sum().sqrt())
    yield reduce("max_all", (1000, 33333), "f32", (), "f32", "%r0 = array.reduce max, %0 axes = [0, 1] : IN0 -> OUT0",
                 lambda torch: lambda x: x.max())
    yield reduce("var0", (16384, 2048), "f32", (2048,), "f32", "%r0 = array.var %0 axes = [0] : IN0 -> OUT0",
                 lambda torch: lambda x: x.var(0, correction=0))
    yield reduce("var1", (16384, 2048), "f32", (16384,), "f32", "%r0 = array.var %0 axes = [1] : IN0 -> OUT0",
                 lambda torch: lambda x: x.var(1, correction=0))
    yield reduce("var1", (32, 262144), "f32", (32,), "f32", "%r0 = array.var %0 axes = [1] : IN0 -> OUT0",
                 lambda torch: lambda x: x.var(1, correction=0))
    yield reduce("logsumexp1", (32, 262144), "f32", (32,), "f32", "%r0 = array.logsumexp %0 axes = [1] : IN0 -> OUT0",
                 lambda torch: lambda x: x.logsumexp(1))
    yield reduce("max0", (16384, 2048), "bf16", (2048,), "bf16", "%r0 = array.reduce max, %0 axes = [0] : IN0 -> OUT0",
                 lambda torch: lambda x: x.amax(0))
    yield reduce("min1", (40000, 700), "f32", (40000,), "f32", "%r0 = array.reduce min, %0 axes = [1] : IN0 -> OUT0",
                 lambda torch: lambda x: x.amin(1))
    yield reduce("sum0", (100003, 64), "f32", (64,), "f32", "%r0 = array.reduce sum, %0 axes = [0] : IN0 -> OUT0",
                 lambda torch: lambda x: x.sum(0))
    yield reduce("mean02", (64, 256, 1024), "f32", (256,), "f32", "%r0 = array.mean %0 axes = [0, 2] : IN0 -> OUT0",
                 lambda torch: lambda x: x.mean((0, 2)), tolerance=0.05)
    yield reduce("sum1", (256, 512, 300), "bf16", (256, 300), "bf16", "%r0 = array.reduce sum, %0 axes = [1] : IN0 -> OUT0",
                 lambda torch: lambda x: x.sum(1))
    yield reduce("mean23", (64, 512, 28, 28), "f32", (64, 512), "f32", "%r0 = array.mean %0 axes = [2, 3] : IN0 -> OUT0",
                 lambda torch: lambda x: x.mean((2, 3)), tolerance=0.05)


def scans_and_orders():
    for axis in (0, 1):
        yield same(f"cumsum{axis}", (4096, 4096), "f32", f"%r0 = array.cumsum %0 axis = {axis} : IN0 -> OUT0",
                   lambda torch, axis=axis: lambda x: x.cumsum(axis))
    shape, few = (1024, 50257), (1024, 50)
    yield make("top50_1024x50257_f32", [(shape, "f32")], [(few, "f32"), (few, "i32")],
               "%r0, %r1 = array.topk %0 k = 50 axis = 1 : IN0 -> OUT0, OUT1", lambda torch: lambda x: x.topk(50, 1)[0])
    yield same("sort", (16384, 256), "f32", "%r0 = array.sort %0 axis = 1 : IN0 -> OUT0", lambda torch: lambda x: x.sort(1)[0])
    table, ids, many = ((50257, 768), "bf16"), ((32768,), "i32"), ((32768, 768), "bf16")
    yield make("take_32768_of_50257x768_bf16", [table, ids], [many], "%r0 = array.take %0[%1] axis = 0 : (IN0, IN1) -> OUT0",
               lambda torch: lambda t, i: t[i], bound=50257, moved=2 * 32768 * 768 * 2)
    yield make("scatter_65536_to_100000x128_f32", [((65536, 1), "i32"), ((65536, 128), "f32")], [((100000, 128), "f32")], """
               %zero = array.constant dense<0.0> : tensor<f32>
               %z = array.broadcast_in_dim %zero axes = [] : tensor<f32> -> OUT0
               %r0 = array.scatter add, %z[%0] axes = [0] = %1 : (OUT0, IN0, IN1) -> OUT0""",
               lambda torch: lambda i, x: torch.zeros(100000, 128, device="cuda").index_add_(0, i[:, 0], x), bound=100000)
    yield make("take_along_axis_4096x4096_f32", [((4096, 4096), "f32"), ((4096, 4096), "i32")], [((4096, 4096), "f32")],
               "%r0 = array.take_along_axis %0[%1] axis = 1 : (IN0, IN1) -> OUT0",
               lambda torch: lambda x, i: x.gather(1, i.long()), bound=4096)


def copies():
    parts = [((4096, width), "f32") for width in (1000, 2047, 1537)]
    yield make("concat_3_4096x4584_f32", parts, [((4096, 4584), "f32")],
               "%r0 = array.concatenate %0, %1, %2 axis = 1 : (IN0, IN1, IN2) -> OUT0",
               lambda torch: lambda a, b, c: torch.cat([a, b, c], 1))
    parts = [((rows, 3001), "bf16") for rows in (1000, 5001, 2333)]
    yield make("concat0_3_8334x3001_bf16", parts, [((8334, 3001), "bf16")],
               "%r0 = array.concatenate %0, %1, %2 axis = 0 : (IN0, IN1, IN2) -> OUT0",
               lambda torch: lambda a, b, c: torch.cat([a, b, c], 0))
    yield make("pad_64x3x224x224_f16", [((64, 3, 224, 224), "f16")], [((64, 3, 230, 230), "f16")], """
               %zero = array.constant dense<0.0> : tensor<f16>
               %r0 = array.pad %0, %zero low = [0, 0, 3, 3] high = [0, 0, 3, 3] interior = [0, 0, 0, 0] : (IN0, tensor<f16>) -> OUT0""",
               lambda torch: lambda x: torch.nn.functional.pad(x, (3, 3, 3, 3)))
    whole, half = ((8192, 8192), "f32"), ((8192, 4096), "f32")
    yield make("slice_every_second_column_8192x8192_f32", [whole], [half], "%r0 = array.slice %0 [:, 0:8192:2] : IN0 -> OUT0",
               lambda torch: lambda x: x[:, ::2].contiguous())
    yield make("slice_every_third_row_9000x4096_bf16", [((9000, 4096), "bf16")], [((3000, 4096), "bf16")],
               "%r0 = array.slice %0 [0:9000:3, :] : IN0 -> OUT0", lambda torch: lambda x: x[::3].contiguous(),
               moved=2 * 3000 * 4096 * 2)
    for shape, order, dtype in (((64, 128, 32, 64), (0, 2, 1, 3), "f32"), ((64, 128, 32, 64), (0, 2, 1, 3), "bf16"),
                                ((64, 128, 32, 64), (0, 2, 1, 3), "i8"), ((128, 1000, 333), (0, 2, 1), "f32"),
                                ((128, 1000, 333), (2, 1, 0), "bf16"), ((32, 3, 512, 512), (0, 2, 3, 1), "i8"),
                                ((64, 224, 224, 3), (0, 3, 1, 2), "f32"), ((16, 64, 64, 320), (0, 3, 1, 2), "bf16"),
                                ((8, 16, 32, 64, 128), (4, 2, 0, 3, 1), "f32"), ((1 << 20, 24), (1, 0), "f32")):
        yield permute(shape, order, dtype)
    shape = (32, 32, 1024, 128)
    yield make("rope_32x32x1024x128_bf16", [(shape, "bf16")], [(shape, "bf16")], """
               %p = array.iota axis = 0 : tensor<1024xi32>
               %r0 = array.rope %0, %p base = 1.0e4 : (IN0, tensor<1024xi32>) -> OUT0""", rope)
    yield make("reverse_8192x4097_f32", [((8192, 4097), "f32")], [((8192, 4097), "f32")],
               "%r0 = array.reverse %0 axes = [1] : IN0 -> OUT0", lambda torch: lambda x: x.flip(1))
    yield make("tril_64x1024x1024_bf16", [((64, 1024, 1024), "bf16")], [((64, 1024, 1024), "bf16")],
               "%r0 = array.tril %0 : IN0 -> OUT0", lambda torch: lambda x: x.tril())


def rope(torch):
    angles = torch.arange(1024, device="cuda")[:, None] * 1e4 ** (-torch.arange(64, device="cuda") / 64)[None, :]
    cos, sin = angles.cos(), angles.sin()

    def turn(x):
        a, b = x.float().chunk(2, -1)
        return torch.cat([a * cos - b * sin, b * cos + a * sin], -1).to(x.dtype)
    return turn


def elementwise():
    shape = (8192, 11008)
    yield make("swiglu_8192x11008_bf16", [(shape, "bf16")] * 2, [(shape, "bf16")], """
               %a = array.silu %0 : IN0
               %r0 = array.mul %a, %1 : IN0""", lambda torch: lambda a, b: torch.nn.functional.silu(a) * b)
    for dtype in ("f32", "bf16"):
        for name in ("sigmoid", "silu", "tanh", "log1p", "sin"):
            yield function_of(name, (8192, 4096), dtype)
    shape = (1000, 33333)
    yield make("mish_1000x33333_f32", [(shape, "f32")], [(shape, "f32")], """
               %one = array.exp %0 : IN0
               %a = array.log1p %one : IN0
               %b = array.tanh %a : IN0
               %r0 = array.mul %b, %0 : IN0""", lambda torch: lambda x: x * torch.tanh(torch.log1p(torch.exp(x))))
    whole = ((4096, 4096), "f32")
    yield make("adam_4096x4096_f32", [whole] * 4, [whole] * 3, """
               %b1 = array.constant dense<0.9> : tensor<f32>
               %c1 = array.constant dense<0.1> : tensor<f32>
               %b2 = array.constant dense<0.999> : tensor<f32>
               %c2 = array.constant dense<0.001> : tensor<f32>
               %e = array.constant dense<1.0e-8> : tensor<f32>
               %lr = array.constant dense<1.0e-3> : tensor<f32>
               %m0 = array.mul %2, %b1 : (IN0, tensor<f32>) -> IN0
               %m1 = array.mul %1, %c1 : (IN0, tensor<f32>) -> IN0
               %r1 = array.add %m0, %m1 : IN0
               %a = array.square %3 : IN0
               %v0 = array.mul %a, %b2 : (IN0, tensor<f32>) -> IN0
               %g2 = array.square %1 : IN0
               %v1 = array.mul %g2, %c2 : (IN0, tensor<f32>) -> IN0
               %r2 = array.add %v0, %v1 : IN0
               %s = array.sqrt %r2 : IN0
               %d = array.add %s, %e : (IN0, tensor<f32>) -> IN0
               %q = array.div %r1, %d : IN0
               %u = array.mul %q, %lr : (IN0, tensor<f32>) -> IN0
               %r0 = array.sub %0, %u : IN0""", lambda torch: lambda p, g, m, v: adam(torch, p, g, m, v))
    shape, column = (8192, 4096), ((8192, 1), "f32")
    yield make("scale_rows_8192x4096_f32", [(shape, "f32"), column], [(shape, "f32")],
               "%r0 = array.mul %0, %1 : (IN0, IN1) -> OUT0", lambda torch: lambda x, s: x * s)
    yield make("outer_add_8192x4096_f32", [column, ((1, 4096), "f32")], [(shape, "f32")],
               "%r0 = array.add %0, %1 : (IN0, IN1) -> OUT0", lambda torch: lambda a, b: a + b)
    yield make("dropout_8192x4096_bf16", [(shape, "bf16"), ((2,), "ui32")], [(shape, "bf16")], """
               %p = array.constant dense<0.9> : tensor<f32>
               %s = array.constant dense<1.11> : tensor<bf16>
               %zero = array.constant dense<0.0> : tensor<bf16>
               %m = array.random_bernoulli %1, %p sizes() algorithm = philox : (IN1, tensor<f32>) -> tensor<8192x4096xi1>
               %x = array.mul %0, %s : (IN0, tensor<bf16>) -> IN0
               %r0 = array.select %m, %x, %zero : (tensor<8192x4096xi1>, IN0, tensor<bf16>) -> IN0""",
               lambda torch: lambda x, k: torch.nn.functional.dropout(x, 0.1), tolerance=2.0)
    yield make("quantize_8192x4096_f32_to_i8", [(shape, "f32"), ((1,), "f32")], [(shape, "i8")], """
               %q = array.div %0, %1 : (IN0, IN1) -> IN0
               %r = array.round %q : IN0
               %r0 = array.convert %r : IN0 -> OUT0""",
               lambda torch: lambda x, s: (x / s).round().clamp(-128, 127).to(torch.int8), tolerance=0.05)
    yield make("dequantize_8192x4096_i8_to_bf16", [(shape, "i8"), ((8192, 1), "bf16")], [(shape, "bf16")], """
               %q = array.convert %0 : IN0 -> OUT0
               %r0 = array.mul %q, %1 : (OUT0, IN1) -> OUT0""",
               lambda torch: lambda x, s: x.to(torch.bfloat16) * s)


def function_of(name, shape, dtype):
    """Of random numbers, without their signs where it has no value for some."""
    if name == "log1p":
        return same(name, shape, dtype, f"%x = array.abs %0 : IN0\n%r0 = array.{name} %x : IN0",
                    lambda torch: lambda x: getattr(torch, name)(x.abs()))
    return same(name, shape, dtype, f"%r0 = array.{name} %0 : IN0",
                lambda torch: torch.nn.functional.silu if name == "silu" else getattr(torch, name))


def adam(torch, p, g, m, v):
    first, second = m * 0.9 + g * 0.1, v.square() * 0.999 + g.square() * 0.001
    return p - first / (second.sqrt() + 1e-8) * 1e-3, first, second


def list_sweep():
    for group in (row_kernels(), reductions(), scans_and_orders(), copies(), elementwise()):
        for work in group:
            work.section = "Work for which nothing was chosen"
            yield work
