"""The models whose kernels run.py takes instructions out of: what the compiler emits for each kind of kernel that
shares memory between threads."""
import dataclasses
import struct


@dataclasses.dataclass
class Model:
    name: str
    text: str
    types: list  # of the inputs
    flags: tuple = ()
    tuning: str = ""  # what its product is to be: KEY = CONFIGURATION
    targets: tuple = ("sm_80", "sm_90a")
    kernels: str = ""  # a regular expression: which of its kernels are looked at, where others have models of their own
    kinds: tuple = ()  # of mutants, where the others are looked at in another model

    def inputs(self, zeros, span="0.5:1.5"):
        """As xrun takes them. Of zeros, too, a report must come: a store that changes nothing is still a store."""
        if zeros:
            return [f"zeros:{type}" for type in self.types]
        return [f"random:{type}:{i + 1}:" + (span if "f" in type else "0:100") for i, type in enumerate(self.types)]


def model(name, inputs, result, body, **options):
    """A model of one function; `inputs` are types, called %0, %1, ...; `body` ends with %r."""
    arguments = ", ".join(f"%{i}: tensor<{type}>" for i, type in enumerate(inputs))
    text = f"func.func @main({arguments}) -> tensor<{result}> {{\n  {body}\n  return %r : tensor<{result}>\n}}\n"
    return Model(name, text, inputs, **options)


def wgmma(name, m, n, k, layout, types, tiles, flags=""):
    """A product on warpgroups in a configuration of its own. `types`: of factors and results, as arrays have them and as the key does."""
    factor, out, key = types
    a, b = f"{m}x{k}x{factor}" if layout[0] == "n" else f"{k}x{m}x{factor}", f"{k}x{n}x{factor}" if layout[1] == "n" else f"{n}x{k}x{factor}"
    options = " transpose_a" * (layout[0] == "t") + " transpose_b" * (layout[1] == "t") + flags
    names = ("tile_m", "tile_n", "tile_k", "warpgroups", "stages", "raster", "blocks", "split", "ping_pong", "cluster_m", "cluster_n")
    config = ", ".join(f"{field} = {value}" for field, value in zip(names, tiles))
    return model(name, [a, b], f"{m}x{n}x{out}", f"%r = array.matmul %0, %1{options} : (tensor<{a}>, tensor<{b}>) -> tensor<{m}x{n}x{out}>",
                 targets=("sm_90a",), tuning=f"sm_90a matmul {key} 1x{m}x{n}x{k} {layout} = #cuda.matmul_wgmma<{config}>")


def gradient(name, heads, queries, keys):
    """The kernel of the gradient of attention to its queries, or to its keys and values, whichever `name` begins with."""
    q, k = (f"1x{heads}x{length}x16xf16" for length in (queries, keys))
    results, result = ("%r, %a, %b", q) if name.startswith("queries") else ("%a, %r, %b", k)
    types = [f"tensor<{type}>" for type in (q, k, k, q)]
    return model(f"attention_gradient_{name}", [q, k, k, q], result, f"{results} = array.attention_gradient %0, %1, %2, %3 scale = 0.2 : "
                 f"({', '.join(types)}) -> {', '.join(types[:3])}", targets=("sm_90a",), kernels="attention_gradient")


def constant(*shape):
    """A literal of f16 from 0.5 to 1.5, no two neighbours of which are equal."""
    count = 1
    for size in shape:
        count *= size
    digits = b"".join(struct.pack("<e", 0.5 + number * 37 % 101 / 101) for number in range(count)).hex().upper()
    return f'dense<"0x{digits}"> : tensor<{"x".join(map(str, shape))}xf16>'


F16, BYTES, TF32 = ("f16", "f16", "f16*f16>f16"), ("i8", "i32", "i8*i8>i32"), ("f32", "f32", "tf32*tf32>f32")

CONV_KEY = "sm_90a conv f16*f16>f16 96x96x16x3x3x16 a+d-1,b+e-1,f/96x96x16 d,e,f,c a,b,c"
FILTER_KEY = "sm_90a conv f16*f16>f32 16x2x64x2x47x41 d,e,b+f-1,c/2x47x41x64 d,e,f,a def/320,a,b,c"
NHWC = "dims = <[b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f]> low = [1, 1] high = [1, 1]"

MODELS = [
    model("sum_rows", ["3x5000xf32"], "3xf32",
          "%r = array.reduce sum, %0 axes = [1] : tensor<3x5000xf32> -> tensor<3xf32>"),
    model("sum_all", ["70000xf32"], "f32", "%r = array.reduce sum, %0 axes = [0] : tensor<70000xf32> -> tensor<f32>"),
    model("max_columns", ["600x40xf32"], "40xf32",
          "%r = array.reduce max, %0 axes = [0] : tensor<600x40xf32> -> tensor<40xf32>"),
    model("softmax", ["4x3000xf32"], "4x3000xf32", "%r = array.softmax %0 axis = 1 : tensor<4x3000xf32>"),
    model("softmax_f16", ["4x3000xf16"], "4x3000xf16", "%r = array.softmax %0 axis = 1 : tensor<4x3000xf16>"),
    # Blocks of a cluster that share a row.
    model("softmax_cluster", ["1x40000xf32"], "1x40000xf32", "%r = array.softmax %0 axis = 1 : tensor<1x40000xf32>",
          targets=("sm_90a",)),
    model("layer_norm", ["4x3000xf32", "3000xf32", "3000xf32"], "4x3000xf32",
          "%r = array.layer_norm %0 scale(%1 : tensor<3000xf32>) bias(%2 : tensor<3000xf32>) axis = 1 "
          "epsilon = 1.0e-5 : tensor<4x3000xf32>"),
    # The gradient to the filter of a depthwise convolution: threads exchange the sums of taps.
    model("depthwise_filter", ["4x16x16x32xf16", "4x14x14x32xf16"], "3x3x1x32xf16",
          "%r = array.conv %0, %1 dims = <[f, 0, 1, b] x [i, 0, 1, o] -> [0, 1, b, f]> batch_groups = 32 : "
          "(tensor<4x16x16x32xf16>, tensor<4x14x14x32xf16>) -> tensor<3x3x1x32xf16>"),
    model("transpose", ["100x70xf32"], "70x100xf32",
          "%r = array.transpose %0 permutation = [1, 0] : tensor<100x70xf32> -> tensor<70x100xf32>"),
    model("transpose_f16", ["96x64xf16"], "64x96xf16",
          "%r = array.transpose %0 permutation = [1, 0] : tensor<96x64xf16> -> tensor<64x96xf16>"),
    model("transpose_i8", ["96x64xi8"], "64x96xi8",
          "%r = array.transpose %0 permutation = [1, 0] : tensor<96x64xi8> -> tensor<64x96xi8>"),
    model("matmul_f32", ["64x96xf32", "96x64xf32"], "64x64xf32",
          "%r = array.matmul %0, %1 : (tensor<64x96xf32>, tensor<96x64xf32>) -> tensor<64x64xf32>"),
    model("matmul_mma", ["128x192xf16", "192x128xf16"], "128x128xf16",
          "%r = array.matmul %0, %1 : (tensor<128x192xf16>, tensor<192x128xf16>) -> tensor<128x128xf16>",
          flags=("--no-wgmma",)),
    model("matmul_splitk", ["32x4096xf16", "4096x32xf16"], "32x32xf16",
          "%r = array.matmul %0, %1 : (tensor<32x4096xf16>, tensor<4096x32xf16>) -> tensor<32x32xf16>",
          flags=("--no-wgmma",)),
    # More tiles of k than stages of the ring; more tiles of the result than multiprocessors, with as many tiles of k as
    # there are stages, so that the last one is filled again.
    model("matmul_wgmma", ["128x4096xf16", "4096x128xf16"], "128x128xf16",
          "%r = array.matmul %0, %1 : (tensor<128x4096xf16>, tensor<4096x128xf16>) -> tensor<128x128xf16>",
          targets=("sm_90a",), tuning="sm_90a matmul f16*f16>f16 1x128x128x4096 nn = #cuda.matmul_wgmma<tile_m = 64, tile_n = 32, "
          "tile_k = 64, warpgroups = 1, stages = 12, raster = 8, blocks = 1, split = 4, ping_pong = 0, cluster_m = 1, cluster_n = 1>"),
    # Columns of pixels, under more taps than there are stages; more tiles than multiprocessors.
    model("conv_wgmma", ["1x96x96x16xf16", "3x3x16x16xf16"], "1x96x96x16xf16",
          f"%r = array.conv %0, %1 {NHWC} : (tensor<1x96x96x16xf16>, tensor<3x3x16x16xf16>) -> tensor<1x96x96x16xf16>",
          targets=("sm_90a",), tuning=CONV_KEY + " = #cuda.matmul_wgmma<tile_m = 64, tile_n = 16, "
          "tile_k = 16, warpgroups = 1, stages = 3, raster = 8, blocks = 1, split = 1, ping_pong = 0, cluster_m = 1, cluster_n = 1>"),
    # The gradient to a filter: two taps beside each other in a tile, neither operand along the sum, and partial sums that end within images.
    model("conv_wgmma_filter", ["2x47x41x64xf16", "2x47x41x16xf16"], "16x1x2x64xf16",
          "%r = array.conv %0, %1 dims = <[f, 0, 1, b] x [i, 0, 1, o] -> [f, 0, 1, b]> low = [0, 1] "
          ": (tensor<2x47x41x64xf16>, tensor<2x47x41x16xf16>) -> tensor<16x1x2x64xf16>", targets=("sm_90a",),
          tuning=FILTER_KEY + " = #cuda.matmul_wgmma<tile_m = 64, tile_n = 128, "
          "tile_k = 64, warpgroups = 1, stages = 3, raster = 8, blocks = 1, split = 1, ping_pong = 0, cluster_m = 1, cluster_n = 1>"),
    # So long a sum that its parts are a batch of products, which another kernel adds up; fewer stages than a part has steps.
    model("matmul_wgmma_parts", ["128x16384xf16", "16384x128xf16"], "128x128xf16",
          "%r = array.matmul %0, %1 : (tensor<128x16384xf16>, tensor<16384x128xf16>) -> tensor<128x128xf16>",
          targets=("sm_90a",), tuning="sm_90a matmul f16*f16>f32 16x128x128x1024 nn = #cuda.matmul_wgmma<tile_m = 64, tile_n = 32, "
          "tile_k = 64, warpgroups = 1, stages = 4, raster = 8, blocks = 1, split = 1, ping_pong = 0, cluster_m = 1, cluster_n = 1>"),
    model("matmul_wgmma_tiles", ["3072x256xf16", "256x3072xf16"], "3072x3072xf16",
          "%r = array.matmul %0, %1 : (tensor<3072x256xf16>, tensor<256x3072xf16>) -> tensor<3072x3072xf16>",
          targets=("sm_90a",)),
    # Weights that nobody writes, of more steps than there are stages, which are filled before the kernel in front has ended.
    model("matmul_wgmma_ahead", ["64x64xf16"], "64x32xf16",
          f"""%w = array.constant {constant(64, 192)}
    %v = array.constant {constant(192, 32)}
    %y = array.matmul %0, %w : (tensor<64x64xf16>, tensor<64x192xf16>) -> tensor<64x192xf16>
    %r = array.matmul %y, %v : (tensor<64x192xf16>, tensor<192x32xf16>) -> tensor<64x32xf16>""", targets=("sm_90a",),
          tuning="sm_90a matmul f16*f16>f16 1x64x32x192 nn = #cuda.matmul_wgmma<tile_m = 64, tile_n = 32, tile_k = 64, "
          "warpgroups = 1, stages = 2, raster = 8, blocks = 1, split = 1, ping_pong = 0, cluster_m = 1, cluster_n = 1>"),
    # Ping-pong: more tiles than halves of the warpgroups, and fewer stages than two tiles have steps.
    wgmma("matmul_wgmma_ping_pong", 1536, 192, 136, "nn", F16, (64, 16, 64, 2, 4, 2, 1, 1, 1)),
    # Blocks that fetch for each other, some of whose tiles lie outside.
    wgmma("matmul_wgmma_columns", 200, 168, 136, "nn", F16, (64, 64, 64, 1, 2, 2, 1, 1, 0, 2, 1)),
    wgmma("matmul_wgmma_cluster", 72, 80, 264, "nt", F16, (64, 32, 64, 1, 3, 1, 1, 1, 0, 2, 2)),
    # An operand A that goes through registers, of bytes and of words; an operand B that threads transpose.
    wgmma("matmul_wgmma_bytes", 96, 128, 640, "nn", BYTES, (128, 32, 128, 1, 3, 1, 1, 1)),
    wgmma("matmul_wgmma_words", 96, 128, 160, "nn", TF32, (128, 32, 32, 2, 3, 1, 1, 1), flags=" allow_tf32"),
    wgmma("matmul_wgmma_turned", 128, 64, 640, "tn", BYTES, (128, 64, 128, 1, 3, 1, 1, 1)),
    wgmma("matmul_wgmma_turned_words", 128, 64, 160, "tn", TF32, (128, 64, 32, 2, 3, 1, 1, 1), flags=" allow_tf32"),
    model("cumsum", ["3x3000xf32"], "3x3000xf32", "%r = array.cumsum %0 axis = 1 : tensor<3x3000xf32> -> tensor<3x3000xf32>"),
    model("sort", ["2x1500xf32"], "2x1500xf32",
          "%r = array.sort %0 axis = 1 : tensor<2x1500xf32> -> tensor<2x1500xf32>"),
    model("argsort_digits", ["5000xf16"], "5000xi32", "%r = array.argsort %0 axis = 0 : tensor<5000xf16> -> tensor<5000xi32>"),
    model("conv_f32", ["1x8x8x16xf32", "3x3x16x32xf32"], "1x8x8x32xf32",
          f"%r = array.conv %0, %1 {NHWC} : (tensor<1x8x8x16xf32>, tensor<3x3x16x32xf32>) -> tensor<1x8x8x32xf32>"),
    model("conv_f16", ["1x8x8x32xf16", "3x3x32x64xf16"], "1x8x8x64xf16",
          f"%r = array.conv %0, %1 {NHWC} : (tensor<1x8x8x32xf16>, tensor<3x3x32x64xf16>) -> tensor<1x8x8x64xf16>",
          targets=("sm_80",)),
    model("attention", ["1x2x64x32xf16", "1x2x64x32xf16", "1x2x64x32xf16"], "1x2x64x32xf16",
          "%r = array.attention %0, %1, %2 scale = 0.2 : (tensor<1x2x64x32xf16>, tensor<1x2x64x32xf16>, "
          "tensor<1x2x64x32xf16>) -> tensor<1x2x64x32xf16>", targets=("sm_80",)),
    # More blocks of keys than there are stages, the last of which is not full.
    model("attention_blocks", ["1x1x64x32xf16", "1x1x300x32xf16", "1x1x300x32xf16"], "1x1x64x32xf16",
          "%r = array.attention %0, %1, %2 scale = 0.2 : (tensor<1x1x64x32xf16>, tensor<1x1x300x32xf16>, "
          "tensor<1x1x300x32xf16>) -> tensor<1x1x64x32xf16>", targets=("sm_80",)),
    # Of f32, whose values are read without ldmatrix.
    model("attention_blocks_f32", ["1x1x64x32xf32", "1x1x300x32xf32", "1x1x300x32xf32"], "1x1x64x32xf32",
          "%r = array.attention %0, %1, %2 scale = 0.2 : (tensor<1x1x64x32xf32>, tensor<1x1x300x32xf32>, "
          "tensor<1x1x300x32xf32>) -> tensor<1x1x64x32xf32>", targets=("sm_80",)),
    # Gradients of keys and values go over several blocks of queries, those of queries over blocks of keys.
    model("attention_gradient", ["1x1x200x32xf16", "1x1x64x32xf16", "1x1x64x32xf16", "1x1x200x32xf16"], "1x1x64x32xf16",
          "%a, %r, %b = array.attention_gradient %0, %1, %2, %3 scale = 0.2 : (tensor<1x1x200x32xf16>, tensor<1x1x64x32xf16>, "
          "tensor<1x1x64x32xf16>, tensor<1x1x200x32xf16>) -> tensor<1x1x200x32xf16>, tensor<1x1x64x32xf16>, tensor<1x1x64x32xf16>",
          targets=("sm_80",)),
    # The gradients on wgmma: a tile with more blocks of the other side than its rings have stages, and more tiles than multiprocessors.
    gradient("queries_blocks", 1, 64, 1000),
    gradient("keys_blocks", 1, 1000, 64),
    gradient("queries_tiles", 280, 64, 64),
    gradient("keys_tiles", 280, 64, 64),
    # More blocks of keys than stages, more tiles than a ring of queries holds, and keys that are hidden.
    model("attention_fused", ["1x280x140x16xf16", "1x280x260x16xf16", "1x280x260x16xf16"], "1x280x140x16xf16",
          "%r = array.attention %0, %1, %2 causal scale = 0.2 : (tensor<1x280x140x16xf16>, tensor<1x280x260x16xf16>, "
          "tensor<1x280x260x16xf16>) -> tensor<1x280x140x16xf16>", targets=("sm_90a",)),
    # One block of keys for each tile: nothing but the ring of queries holds back the next tile's.
    model("attention_fused_short", ["1x540x70x16xf16", "1x540x100x16xf16", "1x540x100x16xf16"], "1x540x70x16xf16",
          "%r = array.attention %0, %1, %2 scale = 0.2 : (tensor<1x540x70x16xf16>, tensor<1x540x100x16xf16>, "
          "tensor<1x540x100x16xf16>) -> tensor<1x540x70x16xf16>", targets=("sm_90a",)),
    # Warps that join what they have seen, and blocks: those of a cluster, or of two launches.
    model("attention_decode", ["1x4x1x16xf16", "1x2x600x16xf16", "1x2x600x16xf16"], "1x4x1x16xf16",
          "%r = array.attention %0, %1, %2 scale = 0.2 : (tensor<1x4x1x16xf16>, tensor<1x2x600x16xf16>, "
          "tensor<1x2x600x16xf16>) -> tensor<1x4x1x16xf16>"),
    # So many keys that each warp comes to a larger score than it has seen, and so does each block; bf16.
    model("attention_rescales", ["1x2x70x64xbf16", "1x2x500x64xbf16", "1x2x500x64xbf16"], "1x2x70x64xbf16",
          "%r = array.attention %0, %1, %2 scale = 0.2 : (tensor<1x2x70x64xbf16>, tensor<1x2x500x64xbf16>, "
          "tensor<1x2x500x64xbf16>) -> tensor<1x2x70x64xbf16>", kinds=("RescaleMutant",)),
    model("attention_decode_rescales", ["1x4x1x16xbf16", "1x2x9000x16xbf16", "1x2x9000x16xbf16"], "1x4x1x16xbf16",
          "%r = array.attention %0, %1, %2 scale = 0.2 : (tensor<1x4x1x16xbf16>, tensor<1x2x9000x16xbf16>, "
          "tensor<1x2x9000x16xbf16>) -> tensor<1x4x1x16xbf16>", targets=("sm_90a",), kinds=("RescaleMutant",)),
    # Queries in shared memory.
    model("attention_decode_shared", ["30x32x1x72xf16", "30x16x130x72xf16", "30x16x130x72xf16"], "30x32x1x72xf16",
          "%r = array.attention %0, %1, %2 scale = 0.2 : (tensor<30x32x1x72xf16>, tensor<30x16x130x72xf16>, "
          "tensor<30x16x130x72xf16>) -> tensor<30x32x1x72xf16>", targets=("sm_90a",)),
]

COLUMN_TREE = "the thread that sums the last values of a column is the one that stores it"
DRAIN = "the groups that are still open only fill stages with zeros that nobody reads"
OUTPUTS = "the outputs lie in a stage that nobody reads or fills behind the last tile of k"
LAST = "nobody fills the stage of the last tile of k again"
TWICE = "the wait beside it waits for the same"
WRITTEN = "no register that it orders has been written since the last fence"
PING_PONG = "it keeps the products of ping-pong warpgroups apart, whose stages the ring keeps apart"
ONCE = "a block has one tile here, and nothing else lies where its outputs did"
STARTED = "all blocks of a cluster have started, and prepared their rings, before one of them copies to another"
TURNS = "warpgroups take turns for speed alone"
IMPLIED = "what is copied before it waited for a later release of the same threads"
FIRST = "no kernel comes before a model's first one"
BEHIND = "it commits copies of keys behind the last ones, of which there are none"
AHEAD = "all of its steps, of which there is one, are filled ahead"
FILLED = "it waits for stages that the producer fills behind a wait of its own"
JOINED = "the commit behind it takes its copy along"
UNREAD = "queries that are not held are read behind the wait for the first keys, which is one for them, too"

ALONE = "a block has one tile here, whose own operands are copied once"
UNFILLED = "its rings have more stages than it fills here"
LATER = "what it frees is filled behind a wait for what is freed later"

# (model, target, kernel, number of the instruction in it): why the kernel does not need it at these sizes.
REDUNDANT = {
    ("max_columns", "sm_80", "main_k0_reduce", 4): COLUMN_TREE,
    ("max_columns", "sm_90a", "main_k0_reduce", 5): COLUMN_TREE,
    **{(name, target, kernel, number): DRAIN
       for name, kernel in (("matmul_splitk", "main_k0_matmul"), ("conv_f16", "main_k0_conv"))
       for target, number in (("sm_80", 9), ("sm_90a", 10))},
    **{("matmul_f32", target, "main_k0_matmul", number): DRAIN for target, number in (("sm_80", 10), ("sm_90a", 11))},
    ("conv_f16", "sm_80", "main_k0_conv", 10): OUTPUTS,
    ("conv_f16", "sm_90a", "main_k0_conv", 11): OUTPUTS,
    **{("attention", "sm_80", "main_k0_attention", number): BEHIND for number in (8, 9)},
    **{("attention", "sm_80", "main_k0_attention", number): DRAIN for number in (10, 11)},
    **{("attention_blocks", "sm_80", "main_k0_attention", number): JOINED for number in (8, 12)},
    **{("attention_blocks", "sm_80", "main_k0_attention", number): DRAIN for number in (14, 15)},
    **{("attention_blocks_f32", "sm_80", "main_k0_attention", number): JOINED for number in (1, 2, 8, 12)},
    **{("attention_blocks_f32", "sm_80", "main_k0_attention", number): UNREAD for number in (4, 5)},
    **{("attention_blocks_f32", "sm_80", "main_k0_attention", number): DRAIN for number in (14, 15)},
    ("matmul_splitk", "sm_80", "main_k1_reduce", 2): COLUMN_TREE,
    ("matmul_wgmma", "sm_90a", "main_k0_matmul", 14): LAST,
    ("matmul_wgmma_parts", "sm_90a", "main_k0_matmul", 10): LAST,
    **{("matmul_wgmma_parts", "sm_90a", "main_k0_matmul", number): ONCE for number in (11, 12)},
    ("matmul_wgmma_parts", "sm_90a", "main_k1_reduce", 3): COLUMN_TREE,
}
REDUNDANT |= {("conv_wgmma_filter", "sm_90a", "main_k0_conv", number): reason
              for number, reason in ((10, LAST), (11, ONCE), (12, ONCE), (15, JOINED), (21, JOINED))}
REDUNDANT |= {("conv_wgmma_filter", "sm_90a", "main_k1_reduce", 3): COLUMN_TREE}
REDUNDANT |= {("depthwise_filter", target, "main_k1_reduce", number): COLUMN_TREE for target, number in (("sm_80", 2), ("sm_90a", 3))}
REDUNDANT |= {("attention_gradient", "sm_80", kernel, number): reason
              for kernel, numbers in (("main_k0_attention", {8: BEHIND, 9: BEHIND, 10: DRAIN, 11: DRAIN}),
                                      ("main_k2_attention_gradient", {1: JOINED, 2: JOINED, 3: TWICE, 4: TWICE, 5: JOINED, 9: JOINED, 11: DRAIN, 12: DRAIN}))
              for number, reason in numbers.items()}
for name, numbers in {"queries_blocks": {8: WRITTEN, 15: ALONE, 17: ALONE, 21: IMPLIED, 23: ALONE, 24: ALONE},
                      "keys_blocks": {8: WRITTEN, 13: LATER, 17: ALONE, 19: ALONE, 23: IMPLIED, 25: ALONE, 26: ALONE},
                      "queries_tiles": {8: WRITTEN, 12: UNFILLED, 14: UNFILLED, 19: IMPLIED, 21: UNFILLED, 23: UNFILLED},
                      "keys_tiles": {8: WRITTEN, 13: UNFILLED, 14: UNFILLED, 16: UNFILLED, 21: IMPLIED, 23: UNFILLED, 25: UNFILLED}}.items():
    REDUNDANT |= {(f"attention_gradient_{name}", "sm_90a", "main_k2_attention_gradient", number): reason for number, reason in numbers.items()}
REDUNDANT |= {("matmul_wgmma_ping_pong", "sm_90a", "main_k0_matmul", 3): PING_PONG}
REDUNDANT |= {("matmul_wgmma_ahead", "sm_90a", kernel, number): reason
              for kernel, numbers in (("main_k0_matmul", {2: AHEAD, 3: AHEAD, 9: AHEAD, 11: LAST, 12: ONCE, 13: ONCE}),
                                      ("main_k1_matmul", {6: FILLED, 13: LAST, 14: ONCE, 15: ONCE}))
              for number, reason in numbers.items()}
REDUNDANT |= {("attention_fused", "sm_90a", "main_k0_attention", number): reason
              for number, reason in ((8, TURNS), (10, WRITTEN), (22, IMPLIED), (24, IMPLIED))}
REDUNDANT |= {("attention_fused_short", "sm_90a", "main_k0_attention", 15): IMPLIED}
for name, numbers in {"columns": {7: STARTED, 12: ONCE, 13: ONCE}, "cluster": {7: STARTED, 12: ONCE, 13: ONCE},
                      "bytes": {5: LAST, 8: WRITTEN, 12: WRITTEN, 16: LAST}, "words": {3: LAST, 12: LAST},
                      "turned": {9: WRITTEN, 13: WRITTEN, 17: LAST, 19: LAST}, "turned_words": {10: LAST, 12: LAST}}.items():
    REDUNDANT |= {(f"matmul_wgmma_{name}", "sm_90a", "main_k0_matmul", number): reason for number, reason in numbers.items()}


def redundant(model, target, kernel, number, instruction):
    """Why the kernel does not need an instruction, or None."""
    if instruction.startswith("griddepcontrol.wait") and kernel.startswith("main_k0_"):
        return FIRST
    return REDUNDANT.get((model, target, kernel, number))


# (model, target, kernel, number of the store in it): why nothing comes of it that it writes to the next element.
HARMLESS = {
    **{("transpose_i8", target, "main_k0_copy", number): "they store rows of the tile behind the matrix, which nobody reads"
       for target in ("sm_80", "sm_90a") for number in (13, 14, 15, 16)},
    **{("sort", target, "main_k0_sort", number): "a thread's first entries lie beside each other, before one that nobody reads"
       for target in ("sm_80", "sm_90a") for number in range(17, 33)},
    **{("depthwise_filter", target, "main_k0_conv", 10): "the element that it leaves out has a sum of the round before, which only results show"
       for target in ("sm_80", "sm_90a")},
    **{("argsort_digits", target, "main_k3_sort_digit", 54): "nobody reads the elements in order, and none of another round lies beside these"
       for target in ("sm_80", "sm_90a")},
}


def harmless(model, target, kernel, number):
    """Why a store may be off by one element, or None."""
    return HARMLESS.get((model, target, kernel, number))


SAME = "the register holds this value already"
STALE = "it holds what was put there before, which only results show"
WITHIN = "a load puts something else there: all rows of a tile are within the matrix"
FULL = "no thread comes there without an entry of a row"

# (model, target, kernel, number of the value in it): why no thread reads a register that nobody has written without it.
UNREAD = {
    **{("transpose_f16", target, "main_k0_copy", number): WITHIN for target in ("sm_80", "sm_90a") for number in (1, 2)},
    **{("sort", target, "main_k0_sort", number): FULL for target in ("sm_80", "sm_90a") for number in (1, 2, 19)},
    **{("conv_f32", target, "main_k0_conv", number): SAME for target in ("sm_80", "sm_90a") for number in (7, 8, 9)},
    **{("conv_f32", target, "main_k0_conv", 6): STALE for target in ("sm_80", "sm_90a")},
    **{("matmul_wgmma_ahead", "sm_90a", "main_k0_matmul", number): AHEAD for number in (3, 5)},
    ("attention_gradient", "sm_80", "main_k2_attention_gradient", 5): STALE,
    ("attention_gradient_queries_blocks", "sm_90a", "main_k2_attention_gradient", 6): STALE,
    ("attention_gradient_keys_blocks", "sm_90a", "main_k2_attention_gradient", 5): STALE,
    ("attention_fused", "sm_90a", "main_k0_attention", 6): STALE,
    ("attention_decode", "sm_90a", "main_k0_attention_decode", 4): SAME,
}


def unread(model, target, kernel, number):
    """Why nobody misses the value that is put into a register, or None."""
    return UNREAD.get((model, target, kernel, number))


NOTHING = "a warp comes to one block of keys here, before which it has nothing"
NO_KEYS = "it is for warps that see no keys here"
JOINS_ONCE = "what blocks have seen is joined in one round here"

# (model, target, kernel, number of the product in it): why results are the same without it.
UNSCALED = {
    **{("attention_decode", "sm_90a", "main_k0_attention_decode", number): NOTHING for number in range(1, 18)},
    **{("attention_decode", "sm_90a", "main_k0_attention_decode", number): NO_KEYS for number in (23, 24, 25)},
    **{("attention_decode_rescales", "sm_90a", "main_k1_attention_combine", number): JOINS_ONCE for number in range(1, 6)},
}


def unscaled(model, target, kernel, number):
    """Why nobody misses a rescale, or None."""
    return UNSCALED.get((model, target, kernel, number))
