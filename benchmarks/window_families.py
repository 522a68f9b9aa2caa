"""Windows of few results or of few features, channels last; peers_cuda_memory.py measures them beside cuDNN, as torch calls it."""
import math

from memory_families import BYTES, Work, tensor

SECTION = "Windows of few results or features"


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


def list_windows():
    works = [conv(2, 64, 64, features, 3, dtype) for features in (1, 2, 4) for dtype in ("f32", "f16")]
    works += [conv(32, 64, 64, features, 3, dtype) for features in (1, 4) for dtype in ("f32", "f16")]
    works += [conv(1, 16, 256, 3, 4, "f32", padding=0), conv(8, 32, 16, 3, 3, "f32"), conv(8, 32, 16, 3, 3, "f16"),
              conv(8, 32, 8, 8, 3, "f16"), conv(8, 224, 3, 8, 3, "f16"), conv(8, 56, 128, 128, 3, "f16", groups=32),
              conv(1, 62, 8, 8, 31, "f32", groups=8, padding=0), conv(8, 56, 96, 96, 7, "f32", groups=96),
              max_pool(1, 64, 8, 31, "f32"), max_pool(4, 32, 32, 3, "f32")]
    for work in works:
        work.section, work.is_compiled = SECTION, False
    return works
