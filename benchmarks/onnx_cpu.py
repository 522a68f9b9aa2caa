#!/usr/bin/env python3
"""Measures layers and blocks of networks on a CPU beside onnxruntime, and IREE, from one ONNX file each.

    build/frontends/bin/python benchmarks/onnx_cpu.py [--build=build/dev] [--models=build/models] [--threads=2]
        [--filter=REGEX] [--seconds=3] [--cpu-time] [--best] [--target=cpu:x86-64-v4] [--iree=VENV]

All sides compute the same file on as many threads, with inputs in place; weights are constants of the file. They take
turns, and medians are compared. Results are compared first. With --cpu-time the figure is what all threads used, which
tells more than the clock where other work runs on the machine; onnxruntime's threads do not spin then. With --best it is the
least time instead of the median, which other work moves less; each call is made twice then, and the second one counts.

IREE comes from a virtual environment with iree-base-compiler, iree-base-runtime and onnx, for this machine's CPU. It has
no Attention op: its file spells attention in products.
"""
import argparse
import ctypes
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "test" / "e2e"))

import tensors  # noqa: E402
import xcr  # noqa: E402


class Graph:
    """An ONNX graph of f32, written by calls that add a node each; values are names."""

    spells_attention = False  # in products, for importers that lack the op

    def __init__(self):
        self.nodes, self.inputs, self.weights = [], {}, []
        self.random = np.random.default_rng(1)

    def input(self, *shape):
        name = f"x{len(self.inputs)}"
        self.inputs[name] = shape
        return name

    def weight(self, *shape, scale=None):
        scale = scale or 1 / np.sqrt(max(1, np.prod(shape[1:])))
        return self.constant((self.random.uniform(-1, 1, shape) * scale).astype(np.float32))

    def constant(self, values):
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.asarray(values), name))
        return name

    def op(self, kind, *operands, outputs=1, **attributes):
        names = [f"v{len(self.nodes)}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(kind, list(operands), names, **attributes))
        return names[0] if outputs == 1 else names

    def model(self, result):
        inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in self.inputs.items()]
        output = helper.make_tensor_value_info(result, TensorProto.FLOAT, None)
        graph = helper.make_graph(self.nodes, "layer", inputs, [output], self.weights)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)], ir_version=11)

    # ---- Layers --------------------------------------------------------------------------------------------------------

    def conv(self, x, channels, features, size=1, stride=1, groups=1, relu=False):
        pad = size // 2
        y = self.op("Conv", x, self.weight(features, channels // groups, size, size), self.weight(features),
                    kernel_shape=[size, size], strides=[stride, stride], pads=[pad] * 4, group=groups)
        return self.op("Relu", y) if relu else y

    def linear(self, x, inputs, outputs):
        return self.op("Add", self.op("MatMul", x, self.weight(inputs, outputs)), self.weight(outputs))

    def norm(self, x, width):
        return self.op("LayerNormalization", x, self.weight(width), self.weight(width), axis=-1, epsilon=1e-5)

    def gelu(self, x):
        inner = self.op("Add", self.op("Erf", self.op("Mul", x, self.constant(np.float32(np.sqrt(0.5))))), self.constant(np.float32(1)))
        return self.op("Mul", self.op("Mul", x, inner), self.constant(np.float32(0.5)))

    def heads(self, x, batch, length, heads, width):
        y = self.op("Reshape", x, self.constant(np.array([batch, length, heads, width], np.int64)))
        return self.op("Transpose", y, perm=[0, 2, 1, 3])

    def attend(self, q, k, v, width, causal=False):
        if self.spells_attention:
            return self.attend_by_products(q, k, v, width, np.prod(self.inputs["x0"][1:-1]) if causal else 0)
        return self.op("Attention", q, k, v, scale=width ** -0.5, is_causal=int(causal))

    def attend_by_products(self, q, k, v, width, causal_length=0):
        scores = self.op("MatMul", q, self.op("Transpose", k, perm=[0, 1, 3, 2]))
        scores = self.op("Mul", scores, self.constant(np.float32(width ** -0.5)))
        if causal_length:
            mask = np.triu(np.full((causal_length, causal_length), -1e30, np.float32), 1)
            scores = self.op("Add", scores, self.constant(mask))
        return self.op("MatMul", self.op("Softmax", scores, axis=-1), v)

    def self_attention(self, x, batch, length, heads, width, causal=False):
        size = heads * width
        q, k, v = (self.heads(self.linear(x, size, size), batch, length, heads, width) for _ in range(3))
        y = self.op("Transpose", self.attend(q, k, v, width, causal), perm=[0, 2, 1, 3])
        return self.linear(self.op("Reshape", y, self.constant(np.array([batch, length, size], np.int64))), size, size)

    def feed_forward(self, x, size):
        return self.linear(self.gelu(self.linear(x, size, 4 * size)), 4 * size, size)


def convolution(batch, channels, height, features, size, stride=1, groups=1):
    graph = Graph()
    x = graph.input(batch, channels, height, height)
    return graph, graph.conv(x, channels, features, size, stride, groups)


def pool(kind, batch, channels, height, size, stride):
    graph = Graph()
    x = graph.input(batch, channels, height, height)
    return graph, graph.op(kind, x, kernel_shape=[size, size], strides=[stride, stride], pads=[size // 2] * 4)


def inverted_residuals(batch, channels, height, blocks):
    """Blocks as MobileNet has them: a product to six times the channels, a depthwise convolution, and a product back."""
    graph, wide = Graph(), 6 * channels
    x = graph.input(batch, channels, height, height)
    for _ in range(blocks):
        y = graph.conv(graph.conv(x, channels, wide, relu=True), wide, wide, 3, groups=wide, relu=True)
        x = graph.op("Add", x, graph.conv(y, wide, channels))
    return graph, x


def attention(batch, heads, length, width, causal=False):
    graph = Graph()
    q, k, v = (graph.input(batch, heads, length, width) for _ in range(3))
    return graph, graph.attend(q, k, v, width, causal)


def products(batch, heads, length, width):
    """Attention as exporters write it where they know no such op."""
    graph = Graph()
    q, k, v = (graph.input(batch, heads, length, width) for _ in range(3))
    return graph, graph.attend_by_products(q, k, v, width)


def bert(batch, length, heads=12, width=64, layers=1):
    graph, size = Graph(), heads * width
    x = graph.input(batch, length, size)
    for _ in range(layers):
        x = graph.norm(graph.op("Add", x, graph.self_attention(x, batch, length, heads, width)), size)
        x = graph.norm(graph.op("Add", x, graph.feed_forward(x, size)), size)
    return graph, x


def pre_norm_block(batch, length, heads, width, causal):
    graph, size = Graph(), heads * width
    x = graph.input(batch, length, size)
    x = graph.op("Add", x, graph.self_attention(graph.norm(x, size), batch, length, heads, width, causal))
    return graph, graph.op("Add", x, graph.feed_forward(graph.norm(x, size), size))


def resnet50(batch):
    graph = Graph()
    x = graph.conv(graph.input(batch, 3, 224, 224), 3, 64, 7, 2, relu=True)
    x = graph.op("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    channels = 64
    for width, blocks, stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
        for block in range(blocks):
            step = stride if block == 0 else 1
            y = graph.conv(x, channels, width, relu=True)
            y = graph.conv(y, width, width, 3, step, relu=True)
            y = graph.conv(y, width, 4 * width)
            if block == 0:
                x = graph.conv(x, channels, 4 * width, 1, step)
            x, channels = graph.op("Relu", graph.op("Add", x, y)), 4 * width
    x = graph.op("Flatten", graph.op("GlobalAveragePool", x))
    return graph, graph.linear(x, 2048, 1000)


def unet_block(batch, channels, height):
    """Two convolutions, a way down and up again, and a skip connection, as a U-Net has them at each level."""
    graph = Graph()
    x = graph.input(batch, channels, height, height)
    skip = graph.conv(graph.conv(x, channels, channels, 3, relu=True), channels, channels, 3, relu=True)
    down = graph.op("MaxPool", skip, kernel_shape=[2, 2], strides=[2, 2])
    down = graph.conv(down, channels, 2 * channels, 3, relu=True)
    down = graph.conv(down, 2 * channels, 2 * channels, 3, relu=True)
    up = graph.op("ConvTranspose", down, graph.weight(2 * channels, channels, 2, 2), kernel_shape=[2, 2], strides=[2, 2])
    y = graph.conv(graph.op("Concat", skip, up, axis=1), 2 * channels, channels, 3, relu=True)
    return graph, graph.conv(y, channels, channels, 3, relu=True)


CASES = {
    "conv n32 c64 h56 k64 r3": lambda: convolution(32, 64, 56, 64, 3),
    "conv n1 c64 h56 k64 r3": lambda: convolution(1, 64, 56, 64, 3),
    "conv n8 c256 h14 k256 r3": lambda: convolution(8, 256, 14, 256, 3),
    "conv n1 c256 h14 k256 r3": lambda: convolution(1, 256, 14, 256, 3),
    "conv n8 c512 h7 k512 r3": lambda: convolution(8, 512, 7, 512, 3),
    "conv n1 c512 h7 k512 r3": lambda: convolution(1, 512, 7, 512, 3),
    "conv n1 c3 h224 k64 r7 s2": lambda: convolution(1, 3, 224, 64, 7, 2),
    "conv n8 c3 h224 k64 r7 s2": lambda: convolution(8, 3, 224, 64, 7, 2),
    "conv n32 c256 h14 k256 r3": lambda: convolution(32, 256, 14, 256, 3),
    "conv n32 c512 h7 k512 r3": lambda: convolution(32, 512, 7, 512, 3),
    "conv n128 c128 h28 k128 r3": lambda: convolution(128, 128, 28, 128, 3),
    "conv n32 c3 h224 k64 r7 s2": lambda: convolution(32, 3, 224, 64, 7, 2),
    "conv n32 c256 h56 k64 r1": lambda: convolution(32, 256, 56, 64, 1),
    "conv n1 c64 h56 k256 r1": lambda: convolution(1, 64, 56, 256, 1),
    "conv n1 c256 h56 k512 r1 s2": lambda: convolution(1, 256, 56, 512, 1, 2),
    "depthwise n1 c128 h56 r3": lambda: convolution(1, 128, 56, 128, 3, 1, 128),
    "depthwise n1 c96 h112 r3 s2": lambda: convolution(1, 96, 112, 96, 3, 2, 96),
    "depthwise n32 c144 h56 r3": lambda: convolution(32, 144, 56, 144, 3, 1, 144),
    "depthwise n32 c144 h56 r3 s2": lambda: convolution(32, 144, 56, 144, 3, 2, 144),
    "max pool n8 c64 h112 r3 s2": lambda: pool("MaxPool", 8, 64, 112, 3, 2),
    "average pool n8 c64 h56 r3": lambda: pool("AveragePool", 8, 64, 56, 3, 1),
    "inverted residuals n1 c24 h56": lambda: inverted_residuals(1, 24, 56, 3),
    "inverted residuals n1 c96 h14": lambda: inverted_residuals(1, 96, 14, 4),
    "grouped n1 c128 h56 r3 g32": lambda: convolution(1, 128, 56, 128, 3, 1, 32),
    "grouped n8 c128 h56 r3 g32": lambda: convolution(8, 128, 56, 128, 3, 1, 32),
    "attention b1 h12 s512 d64": lambda: attention(1, 12, 512, 64),
    "attention b1 h12 s128 d64": lambda: attention(1, 12, 128, 64),
    "attention b1 h12 s512 d64 causal": lambda: attention(1, 12, 512, 64, True),
    "attention b1 h12 s512 d64 by products": lambda: products(1, 12, 512, 64),
    "BERT-base layer b1 s128": lambda: bert(1, 128),
    "BERT-base layer b1 s512": lambda: bert(1, 512),
    "ViT-base block b1 s197": lambda: pre_norm_block(1, 197, 12, 64, False),
    "GPT-2 block b1 s256": lambda: pre_norm_block(1, 256, 12, 64, True),
    "ResNet-50 b1": lambda: resnet50(1),
    "U-Net block b1 c64 h64": lambda: unet_block(1, 64, 64),
    "all-MiniLM-L6 layers b1 s128": lambda: bert(1, 128, 12, 32, 6),
}

# Files under --models: the shapes of their inputs, and values of those that are fixed.
FILES = {
    "magika": ("magika/models/standard_v3_3/model.onnx", {"bytes": (1, 2048)}, {}),
    "silero-vad": ("silero_vad/data/silero_vad.onnx", {"input": (1, 576), "state": (2, 1, 128)}, {"sr": 16000}),
    "rapidocr detection 320x320": ("rapidocr_onnxruntime/models/ch_PP-OCRv4_det_infer.onnx", {"x": (1, 3, 320, 320)}, {}),
    "rapidocr recognition 48x320": ("rapidocr_onnxruntime/models/ch_PP-OCRv4_rec_infer.onnx", {"x": (1, 3, 48, 320)}, {}),
    "rapidocr direction 48x192": ("rapidocr_onnxruntime/models/ch_ppocr_mobile_v2.0_cls_infer.onnx", {"x": (1, 3, 48, 192)}, {}),
}


def build(make, random):
    """A model of a graph, its inputs, and nothing fixed."""
    graph, result = make()
    return graph.model(result), {name: random.uniform(-1, 1, shape).astype(np.float32) for name, shape in graph.inputs.items()}, {}


def load(path, shapes, fixed, random):
    """A model of a file, with inputs of known shapes where it names their dims."""
    model = onnx.load(path)
    inputs = {}
    for node in model.graph.input:
        kind = node.type.tensor_type
        if node.name not in shapes:
            continue
        for dim, size in zip(kind.shape.dim, shapes[node.name]):
            if dim.WhichOneof("value"):
                dim.dim_value = size
        whole = kind.elem_type == TensorProto.INT32
        inputs[node.name] = (random.integers(0, 256, shapes[node.name], np.int32) if whole
                             else random.uniform(-1, 1, shapes[node.name]).astype(np.float32))
    return model, inputs, fixed


class Bench:
    def __init__(self, args, scratch):
        self.args, self.scratch = args, pathlib.Path(scratch)
        self.library = xcr.Library(str((args.build / "lib" / "libxcr.so").resolve()))
        self.device, self.device_name = xcr.open_device(self.library, f"cpu:{args.threads}")

    def ours(self, path, inputs, fixed):
        module = self.scratch / "layer.vmfb"
        begin = time.perf_counter()
        subprocess.run([self.args.build / "bin" / "xcompile", path, "-o", module, f"--target={self.args.target}",
                        *(f"--fix-input={name}={value}" for name, value in fixed.items())], check=True, stdout=subprocess.DEVNULL)
        seconds = time.perf_counter() - begin
        instance = xcr.Instance(self.library, self.device, module)
        call = self.library.create("call_create", instance.instance.handle, xcr.StringView.of("main"), None)
        types = {np.dtype(np.float32): "f32", np.dtype(np.int32): "i32"}
        buffers = [instance.upload(tensors.Tensor(types[values.dtype], values)) for values in inputs.values()]
        for i, buffer in enumerate(buffers):
            self.library.check("call_set_input", call.handle, ctypes.c_uint32(i), buffer.handle)
        run = self.library.lib.xcr_call_run
        run.restype = ctypes.c_void_p

        def once(keep=(instance, buffers)):
            if run(call.handle):
                raise RuntimeError("the call failed")

        once()
        result = instance.download(ctypes.c_void_p(self.library.lib.xcr_call_output(call.handle, 0)))[1]
        return once, result, seconds

    def onnxruntime(self, path, inputs, fixed):
        sys.path.insert(0, str(self.args.models))
        import onnxruntime
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        options.intra_op_num_threads = self.args.threads
        if self.args.cpu_time:
            options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        binding = session.io_binding()
        for node in session.get_inputs():
            values = inputs[node.name] if node.name in inputs else np.array(fixed[node.name], np.int64)
            binding.bind_ortvalue_input(node.name, onnxruntime.OrtValue.ortvalue_from_numpy(values))
        for node in session.get_outputs():
            binding.bind_output(node.name)

        def once(keep=session):
            session.run_with_iobinding(binding)

        once()
        return once, binding.copy_outputs_to_cpu()[0]

    def iree(self, model, inputs):
        """Compiled by the command-line tools, run by the runtime's Python package."""
        source, imported, module = (self.scratch / name for name in ("iree.onnx", "iree.mlir", "iree.vmfb"))
        onnx.save(onnx.shape_inference.infer_shapes(model), source)
        tools = self.args.iree / "bin"
        subprocess.run([tools / "iree-import-onnx", source, "-o", imported], check=True, capture_output=True)
        subprocess.run([tools / "iree-compile", imported, "-o", module, "--iree-hal-target-device=local",
                        "--iree-hal-local-target-device-backends=llvm-cpu", "--iree-llvmcpu-target-cpu=host", "--iree-opt-level=O3",
                        "--iree-llvmcpu-stack-allocation-limit=262144"],
                       check=True, capture_output=True)
        sys.path.append(str(next(self.args.iree.glob("lib/python*/site-packages"))))
        import iree.runtime
        iree.runtime.flags.parse_flags(f"--task_topology_max_group_count={self.args.threads}")
        config = iree.runtime.Config("local-task")
        loaded = iree.runtime.load_vm_module(iree.runtime.VmModule.mmap(config.vm_instance, str(module)), config)
        function = loaded[next(name for name in loaded.vm_module.function_names if "$" not in name and not name.startswith("__"))]
        arguments = [iree.runtime.asdevicearray(config.device, values) for values in inputs.values()]

        def once():
            return function(*arguments)

        return once, np.asarray(once().to_host())

    def measure(self, name, model, inputs, fixed, spelled):
        """The ratios to each peer; `spelled`: the model for IREE, or None."""
        path = self.scratch / "layer.onnx"
        onnx.save(model, path)
        run, output, seconds = self.ours(path, inputs, fixed)
        peers = [self.onnxruntime(path, inputs, fixed)]
        if spelled is not None:
            peers.append(self.iree(spelled, inputs))
        for _, want in peers:
            error = np.abs(output - want).max() / np.abs(want).max()
            assert error < 1e-3, f"results differ by {error} of the largest"
        times = take_turns([run, *(once for once, _ in peers)], self.args.seconds,
                           time.process_time if self.args.cpu_time else time.perf_counter, self.args.best)
        ratios = [peer / times[0] for peer in times[1:]]
        columns = [f"{times[0] * 1e3:.3f} ms"] + [f"{time * 1e3:.3f} ms | {ratio:.2f}x" for time, ratio in zip(times[1:], ratios)]
        print(f"| {name} | {' | '.join(columns)} | {seconds:.1f} s |", flush=True)
        return ratios


def take_turns(functions, seconds, clock, best):
    """The median time of each, or its least."""
    samples = [[] for _ in functions]
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(samples[0]) < 5:
        for function, times in zip(functions, samples):
            if best:  # what the others left in the caches goes
                function()
            begin = clock()
            function()
            times.append(clock() - begin)
    return [float((np.min if best else np.median)(times)) for times in samples]


def make_case(name, args):
    """The model, its inputs, those that are fixed, and the model as IREE can read it."""
    if name in FILES:
        path, shapes, fixed = FILES[name]
        case = load(args.models / path, shapes, fixed, np.random.default_rng(2))
        return *case, (case[0] if args.iree else None)
    case = build(CASES[name], np.random.default_rng(2))
    if not args.iree:
        return *case, None
    Graph.spells_attention = True
    spelled = build(CASES[name], np.random.default_rng(2))[0]
    Graph.spells_attention = False
    return *case, spelled


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=ROOT / "build" / "dev", type=pathlib.Path)
    parser.add_argument("--models", default=ROOT / "build" / "models", type=pathlib.Path)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--filter", default="")
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--cpu-time", action="store_true")
    parser.add_argument("--best", action="store_true")
    parser.add_argument("--iree", type=pathlib.Path, help="a virtual environment with IREE's compiler and runtime")
    parser.add_argument("--target", default="cpu:x86-64-v4" if "avx512vl" in open("/proc/cpuinfo").read() else "cpu")
    args = parser.parse_args()
    ratios, failed = [], False
    peers = ["onnxruntime"] + (["IREE"] if args.iree else [])
    with tempfile.TemporaryDirectory(prefix="xc-bench-") as scratch:
        bench = Bench(args, scratch)
        print(f"{bench.device_name}, {args.threads} of {os.cpu_count()} threads, load {os.getloadavg()[0]:.1f}")
        print(f"| what | ours | {' | '.join(f'{peer} | ratio' for peer in peers)} | compiled in |\n|---|---|{'---|---|' * len(peers)}---|")
        for name in [*CASES, *FILES]:
            if not re.search(args.filter, name):
                continue
            try:
                ratios.append(bench.measure(name, *make_case(name, args)))
            except (AssertionError, RuntimeError, subprocess.CalledProcessError, xcr.Failure) as failure:
                print(f"| {name} | failed: {failure} |", flush=True)
                failed = True
    for peer, values in zip(peers, zip(*ratios)):
        print(f"\ngeometric mean {np.exp(np.mean(np.log(values))):.2f}x of {len(values)} beside {peer}")
    return failed


if __name__ == "__main__":
    sys.exit(main())
