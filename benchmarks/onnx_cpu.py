#!/usr/bin/env python3
"""Measures layers and blocks of networks on a CPU beside onnxruntime, from one ONNX file each.

    build/frontends/bin/python benchmarks/onnx_cpu.py [--build=build/dev] [--models=build/models] [--threads=2]
        [--filter=REGEX] [--seconds=3] [--cpu-time] [--target=cpu:x86-64-v4]

Both sides compute the same file on as many threads, with inputs in place; weights are constants of the file. They take
turns, and medians are compared. Results are compared first. With --cpu-time the figure is what all threads used, which
tells more than the clock where other work runs on the machine; onnxruntime's threads do not spin then.
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
        return self.op("Attention", q, k, v, scale=width ** -0.5, is_causal=int(causal))

    def attend_by_products(self, q, k, v, width):
        scores = self.op("MatMul", q, self.op("Transpose", k, perm=[0, 1, 3, 2]))
        scores = self.op("Mul", scores, self.constant(np.float32(width ** -0.5)))
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


def attention(batch, heads, length, width, causal=False):
    graph = Graph()
    q, k, v = (graph.input(batch, heads, length, width) for _ in range(3))
    return graph, graph.attend(q, k, v, width, causal)


def products(batch, heads, length, width):
    """Attention as exporters write it where they know no such op."""
    graph = Graph()
    q, k, v = (graph.input(batch, heads, length, width) for _ in range(3))
    return graph, graph.attend_by_products(q, k, v, width)


def bert_layer(batch, length, heads=12, width=64):
    graph, size = Graph(), heads * width
    x = graph.input(batch, length, size)
    x = graph.norm(graph.op("Add", x, graph.self_attention(x, batch, length, heads, width)), size)
    return graph, graph.norm(graph.op("Add", x, graph.feed_forward(x, size)), size)


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
    "conv n1 c64 h56 k256 r1": lambda: convolution(1, 64, 56, 256, 1),
    "conv n1 c256 h56 k512 r1 s2": lambda: convolution(1, 256, 56, 512, 1, 2),
    "depthwise n1 c128 h56 r3": lambda: convolution(1, 128, 56, 128, 3, 1, 128),
    "depthwise n1 c96 h112 r3 s2": lambda: convolution(1, 96, 112, 96, 3, 2, 96),
    "grouped n1 c128 h56 r3 g32": lambda: convolution(1, 128, 56, 128, 3, 1, 32),
    "attention b1 h12 s512 d64": lambda: attention(1, 12, 512, 64),
    "attention b1 h12 s128 d64": lambda: attention(1, 12, 128, 64),
    "attention b1 h12 s512 d64 causal": lambda: attention(1, 12, 512, 64, True),
    "attention b1 h12 s512 d64 by products": lambda: products(1, 12, 512, 64),
    "BERT-base layer b1 s128": lambda: bert_layer(1, 128),
    "BERT-base layer b1 s512": lambda: bert_layer(1, 512),
    "ViT-base block b1 s197": lambda: pre_norm_block(1, 197, 12, 64, False),
    "GPT-2 block b1 s256": lambda: pre_norm_block(1, 256, 12, 64, True),
    "ResNet-50 b1": lambda: resnet50(1),
    "U-Net block b1 c64 h64": lambda: unet_block(1, 64, 64),
}


class Bench:
    def __init__(self, args, scratch):
        self.args, self.scratch = args, pathlib.Path(scratch)
        self.library = xcr.Library(str((args.build / "lib" / "libxcr.so").resolve()))
        self.device, self.device_name = xcr.open_device(self.library, f"cpu:{args.threads}")

    def ours(self, path, inputs):
        module = self.scratch / "layer.vmfb"
        begin = time.perf_counter()
        subprocess.run([self.args.build / "bin" / "xcompile", path, "-o", module, f"--target={self.args.target}"],
                       check=True, stdout=subprocess.DEVNULL)
        seconds = time.perf_counter() - begin
        instance = xcr.Instance(self.library, self.device, module)
        call = self.library.create("call_create", instance.instance.handle, xcr.StringView.of("main"), None)
        buffers = [instance.upload(tensors.Tensor("f32", values)) for values in inputs]
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

    def theirs(self, path, inputs):
        sys.path.insert(0, str(self.args.models))
        import onnxruntime
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = self.args.threads
        if self.args.cpu_time:
            options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        binding = session.io_binding()
        for node, values in zip(session.get_inputs(), inputs):
            binding.bind_ortvalue_input(node.name, onnxruntime.OrtValue.ortvalue_from_numpy(values))
        binding.bind_output(session.get_outputs()[0].name)

        def once(keep=session):
            session.run_with_iobinding(binding)

        once()
        return once, binding.copy_outputs_to_cpu()[0]

    def measure(self, name, graph, result):
        path = self.scratch / "layer.onnx"
        onnx.save(graph.model(result), path)
        random = np.random.default_rng(2)
        inputs = [random.uniform(-1, 1, shape).astype(np.float32) for shape in graph.inputs.values()]
        run, output, seconds = self.ours(path, inputs)
        peer, want = self.theirs(path, inputs)
        error = np.abs(output - want).max() / np.abs(want).max()
        assert error < 1e-3, f"results differ by {error} of the largest"
        times = take_turns([run, peer], self.args.seconds, time.process_time if self.args.cpu_time else time.perf_counter)
        print(f"| {name} | {times[0] * 1e3:.3f} ms | {times[1] * 1e3:.3f} ms | {times[1] / times[0]:.2f}x | {seconds:.1f} s |", flush=True)
        return times[1] / times[0]


def take_turns(functions, seconds, clock):
    """The median time of each."""
    samples = [[] for _ in functions]
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(samples[0]) < 5:
        for function, times in zip(functions, samples):
            begin = clock()
            function()
            times.append(clock() - begin)
    return [float(np.median(times)) for times in samples]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=ROOT / "build" / "dev", type=pathlib.Path)
    parser.add_argument("--models", default=ROOT / "build" / "models", type=pathlib.Path)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--filter", default="")
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--cpu-time", action="store_true")
    parser.add_argument("--target", default="cpu:x86-64-v4" if "avx512vl" in open("/proc/cpuinfo").read() else "cpu")
    args = parser.parse_args()
    ratios, failed = [], False
    with tempfile.TemporaryDirectory(prefix="xc-bench-") as scratch:
        bench = Bench(args, scratch)
        print(f"{bench.device_name}, {args.threads} of {os.cpu_count()} threads, load {os.getloadavg()[0]:.1f}")
        print("| what | ours | onnxruntime | ratio | compiled in |\n|---|---|---|---|---|")
        for name, make in CASES.items():
            if not re.search(args.filter, name):
                continue
            try:
                ratios.append(bench.measure(name, *make()))
            except (AssertionError, RuntimeError, subprocess.CalledProcessError, xcr.Failure) as failure:
                print(f"| {name} | failed: {failure} |", flush=True)
                failed = True
    if ratios:
        print(f"\ngeometric mean {np.exp(np.mean(np.log(ratios))):.2f}x of {len(ratios)}")
    return failed


if __name__ == "__main__":
    sys.exit(main())
