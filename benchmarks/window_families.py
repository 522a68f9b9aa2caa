"""Windows of few results or of few features, pools, resizes and statistics of batch norm, channels last.

peers_cuda_memory.py measures them beside cuDNN and torch's own kernels, as torch calls them.
"""
import math

from memory_families import BYTES, Work, tensor

SECTION, STREAMED = "Windows of few results or features", "Pools, resizes and statistics of batch norm"


def conv(batch, size, features_in, features_out, window, dtype, stride=1, groups=1, padding=None):
    padding = window // 2 if padding is None else padding
    places = (size + 2 * padding - window) // stride + 1
    x, w = (batch, size, size, features_in), (features_out, window, window, features_in // groups)
    y = (batch, places, places, features_out)
    name = f"conv_{batch}x{size}x{size}_{features_in}to{features_out}_{window}x{window}" + (f"_groups{groups}" if groups > 1 else "")
    work = Work(f"{name}_{dtype}", [(x, dtype), (w, dtype)], [(y, dtype)],
                f"%r0 = array.conv %0, %1 dims = <[b, 0, 1, f] x [o, 0, 1, i] -> [b, 0, 1, f]> strides = [{stride}, {stride}] "
                f"low = [{padding}, {padding}] high = [{padding}, {padding}]" + (f" feature_groups = {groups}" if groups > 1 else "") +
                f" : ({tensor(x, dtype)}, {tensor(w, dtype)}) -> {tensor(y, dtype)}",
                # torch's channels-last tensors are ours in memory.
                lambda torch: lambda a, b: torch.nn.functional.conv2d(a.permute(0, 3, 1, 2), b.permute(0, 3, 1, 2), stride=stride,
                                                                     padding=padding, groups=groups).permute(0, 2, 3, 1))
    work.flops = 2 * math.prod(y) * window * window * features_in // groups
    work.tolerance = 1e-5 if BYTES[dtype] == 4 else 5e-3
    return work


def max_pool(batch, size, features, window, dtype):
    places = size - window + 1
    x, y = (batch, size, size, features), (batch, places, places, features)
    work = Work(f"max_pool_{batch}x{size}x{size}x{features}_{window}x{window}_{dtype}", [(x, dtype)], [(y, dtype)],
                f"%r0 = array.reduce_window max, %0 window = [1, {window}, {window}, 1] strides = [1, 1, 1, 1]"
                f" : {tensor(x, dtype)} -> {tensor(y, dtype)}",
                lambda torch: lambda a: torch.nn.functional.max_pool2d(a.permute(0, 3, 1, 2), window, 1).permute(0, 2, 3, 1))
    work.tolerance = 1e-6
    return work


def pool(kind, batch, size, features, window, stride, dtype):
    """Padded by half the window where that is odd; an average's padding counts."""
    padding = window // 2 if window % 2 else 0
    places = (size + 2 * padding - window) // stride + 1
    x, y = (batch, size, size, features), (batch, places, places, features)
    around = f"window = [1, {window}, {window}, 1] strides = [1, {stride}, {stride}, 1] low = [0, {padding}, {padding}, 0] high = [0, {padding}, {padding}, 0]"
    op = f"reduce_window max, %0 {around}" if kind == "max" else f"avg_pool %0 {around} count_include_pad"
    work = Work(f"{kind}_pool_{batch}x{size}x{size}x{features}_{window}x{window}_s{stride}_{dtype}", [(x, dtype)], [(y, dtype)],
                f"%r0 = array.{op} : {tensor(x, dtype)} -> {tensor(y, dtype)}",
                lambda torch: lambda a: getattr(torch.nn.functional, f"{kind}_pool2d")(a.permute(0, 3, 1, 2), window, stride, padding).permute(0, 2, 3, 1))
    return work


def mean_pool(batch, size, features, dtype):
    x, y = (batch, size, size, features), (batch, features)
    return Work(f"mean_pool_{batch}x{size}x{size}x{features}_{dtype}", [(x, dtype)], [(y, dtype)],
                f"%r0 = array.mean %0 axes = [1, 2] : {tensor(x, dtype)} -> {tensor(y, dtype)}", lambda torch: lambda a: a.mean((1, 2)))


def resize(mode, batch, size, features, to, dtype):
    x, y = (batch, size, size, features), (batch, to, to, features)
    options = dict(mode="nearest-exact") if mode == "nearest" else dict(mode="bilinear", align_corners=False)
    return Work(f"resize_{mode}_{batch}x{size}x{size}x{features}_to{to}_{dtype}", [(x, dtype)], [(y, dtype)],
                f"%r0 = array.resize {mode}, %0 axes = [1, 2] sizes = [{to}, {to}] : {tensor(x, dtype)} -> {tensor(y, dtype)}",
                lambda torch: lambda a: torch.nn.functional.interpolate(a.permute(0, 3, 1, 2), size=(to, to), **options).permute(0, 2, 3, 1))


def statistics(batch, size, features, dtype):
    """Mean and variance of each feature, as a batch norm in training needs them."""
    x, c = (batch, size, size, features), (features,)
    types = f"({tensor(x, dtype)}, {tensor(c, dtype)}, {tensor(c, dtype)}) -> ({tensor(x, dtype)}, {tensor(c, dtype)}, {tensor(c, dtype)})"
    work = Work(f"statistics_{batch}x{size}x{size}x{features}_{dtype}", [(x, dtype), (c, dtype), (c, dtype)], [(c, dtype), (c, dtype)],
                f"%y, %r0, %r1 = array.batch_norm_training %0, %1, %2 axis = 3 epsilon = 1.0e-5 : {types}",
                lambda torch: lambda a, w, b: torch.var_mean(a, (0, 1, 2), correction=0)[1])
    return work


def copy(batch, size, features, dtype):
    """A negation, which reads and writes as many bytes as a copy."""
    shape = (batch, size, size, features)
    return Work(f"copy_{batch}x{size}x{size}x{features}_{dtype}", [(shape, dtype)], [(shape, dtype)],
                f"%r0 = array.neg %0 : {tensor(shape, dtype)}", lambda torch: lambda a: -a)


def list_streamed():
    yield from (copy(*shape, "bf16") for shape in ((16, 56, 256), (32, 56, 256), (64, 56, 256)))
    yield from (pool("max", 32, 112, 64, 3, 2, dtype) for dtype in ("bf16", "f32"))
    yield from (pool("max", 64, 112, 64, 2, 2, "bf16"), pool("avg", 64, 56, 256, 2, 2, "bf16"), pool("avg", 64, 56, 128, 3, 1, "bf16"))
    yield from (mean_pool(128, 28, 512, "bf16"), mean_pool(1024, 7, 2048, "bf16"))
    yield from (resize(mode, 8, 64, 320, 128, dtype) for mode in ("nearest", "linear") for dtype in ("bf16", "f32"))
    yield from (statistics(32, 112, 64, "bf16"), statistics(32, 56, 256, "bf16"), statistics(32, 56, 256, "f32"))


def list_windows():
    works = [conv(2, 64, 64, features, 3, dtype) for features in (1, 2, 4) for dtype in ("f32", "f16")]
    works += [conv(32, 64, 64, features, 3, dtype) for features in (1, 4) for dtype in ("f32", "f16")]
    works += [conv(1, 16, 256, 3, 4, "f32", padding=0), conv(8, 32, 16, 3, 3, "f32"), conv(8, 32, 16, 3, 3, "f16"),
              conv(8, 32, 8, 8, 3, "f16"), conv(8, 224, 3, 8, 3, "f16"), conv(8, 56, 128, 128, 3, "f16", groups=32),
              conv(1, 62, 8, 8, 31, "f32", groups=8, padding=0), conv(8, 56, 96, 96, 7, "f32", groups=96),
              max_pool(1, 64, 8, 31, "f32"), max_pool(4, 32, 32, 3, "f32")]
    for work in works:
        work.section, work.is_compiled = SECTION, False
    streamed = list(list_streamed())
    for work in streamed:
        work.section, work.is_compiled = STREAMED, False
    return works + streamed
