"""Compares the ops that onnxruntime's transformer optimiser writes (domain com.microsoft) with onnxruntime.

    microsoft.py --build build/dev --models build/models [--filter REGEX] [--device cpu] [--target cpu]

Each case is a model of one node, which both run on the same inputs. Ends with "N passed, N failed, N skipped".
"""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy
import onnx
from onnx import TensorProto, helper

F32, I32, I64 = TensorProto.FLOAT, TensorProto.INT32, TensorProto.INT64
TYPES = {numpy.dtype("float32"): F32, numpy.dtype("int32"): I32, numpy.dtype("int64"): I64}
random = numpy.random.default_rng(5)


def floats(*shape):
    return random.standard_normal(shape).astype(numpy.float32)


def ints(*values):
    return numpy.array(values, numpy.int32)


class Case:
    """One node: inputs by position, None where one is left out, and types of outputs, of which the first are compared; `fixed` inputs are
    weights of the model."""

    def __init__(self, op, inputs, outputs=(F32,), fixed=(), domain="com.microsoft", compared=None, **attributes):
        self.inputs, self.compared = inputs, len(outputs) if compared is None else compared
        names = ["" if value is None else f"x{index}" for index, value in enumerate(inputs)]
        results = [onnx.ValueInfoProto(name=f"y{index}", type=helper.make_tensor_type_proto(element, None))
                   for index, element in enumerate(outputs)]
        node = helper.make_node(op, names, [result.name for result in results], domain=domain, **attributes)
        self.names = [name for name, value in zip(names, inputs) if value is not None and int(name[1:]) not in fixed]
        infos = [helper.make_tensor_value_info(name, TYPES[inputs[int(name[1:])].dtype], inputs[int(name[1:])].shape)
                 for name in self.names]
        weights = [onnx.numpy_helper.from_array(inputs[index], f"x{index}") for index in fixed]
        graph = helper.make_graph([node], "case", infos, results, weights)
        opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
        self.model = helper.make_model(graph, opset_imports=opsets, ir_version=8)

    def feeds(self):
        return {name: self.inputs[int(name[1:])] for name in self.names}


def rotation(places, size):
    angles = numpy.outer(numpy.arange(places), 1.0 / 10000 ** (numpy.arange(size // 2) / (size // 2)))
    return numpy.cos(angles).astype(numpy.float32), numpy.sin(angles).astype(numpy.float32)


def group_query(batch, queries, lengths, past, total, *, packed=False, bias=False, **attributes):
    """Four heads of 16, two of keys; `lengths` are those of the samples, less one."""
    size, heads, shared = 16, 4, 2
    if packed:
        inputs = [floats(batch, queries, (heads + 2 * shared) * size), None, None]
    else:
        inputs = [floats(batch, queries, heads * size), floats(batch, queries, shared * size), floats(batch, queries, shared * size)]
    inputs += [floats(batch, shared, past, size), floats(batch, shared, past, size)] if past else [None, None]
    inputs += [ints(*lengths), numpy.array(total, numpy.int32)]
    if attributes.get("do_rotary"):
        inputs += list(rotation(32, size))
    if bias:
        inputs += [None] * (10 - len(inputs)) + [floats(batch, 1, queries, total)]
    return Case("GroupQueryAttention", inputs, [F32] * 3, fixed=(6,), num_heads=heads, kv_num_heads=shared, **attributes)


def quantized_lstm(direction):
    """Weights of 8 bits, [directions, features, gates * hidden], with scales and zero points. Only seven of the bits are used:
    where the processor has no dot products of bytes, onnxruntime adds pairs of products in 16 bits, which saturate."""
    directions, features, hidden = 1 + (direction == "bidirectional"), 6, 8
    def weights(rows):
        return random.integers(-64, 64, (directions, rows, 4 * hidden)).astype(numpy.int8)
    scales = [random.uniform(0.003, 0.006, directions).astype(numpy.float32), random.integers(-9, 9, directions).astype(numpy.int8)]
    inputs = [floats(5, 1, features), weights(features), weights(hidden), floats(directions, 8 * hidden), None, None, None, None]
    return Case("DynamicQuantizeLSTM", [*inputs, *scales, *scales], (F32, F32, F32), fixed=(1, 2, 3, 8, 9, 10, 11), hidden_size=hidden,
                direction=direction)


def cases():
    x, row = floats(2, 5, 32), floats(32)
    yield "gelu", Case("Gelu", [x])
    yield "bias-gelu", Case("BiasGelu", [x, row])
    yield "fast-gelu", Case("FastGelu", [x])
    yield "fast-gelu-bias", Case("FastGelu", [x, row])
    yield "quick-gelu", Case("QuickGelu", [x], alpha=1.5)
    yield "fused-matmul", Case("FusedMatMul", [floats(2, 5, 7), floats(2, 9, 7)], transB=1, alpha=0.5)
    yield "skip-layer-norm", Case("SkipLayerNormalization", [x, floats(2, 5, 32), row, floats(32), floats(32)], epsilon=1e-5)
    yield "skip-layer-norm-no-beta", Case("SkipLayerNormalization", [x, floats(2, 5, 32), row])
    yield "skip-rms-norm", Case("SkipSimplifiedLayerNormalization", [x, floats(2, 5, 32), row], epsilon=1e-5)
    yield "rms-norm", Case("SimplifiedLayerNormalization", [x, row], domain="", axis=-1, epsilon=1e-5)
    ids, segments = random.integers(0, 11, (2, 5)).astype(numpy.int32), ints(0, 1, 1, 0, 1, 1, 0, 0, 1, 0).reshape(2, 5)
    tables = [floats(11, 32), floats(8, 32), floats(2, 32), row, floats(32)]
    yield "embed-layer-norm", Case("EmbedLayerNormalization", [ids, segments, *tables], (F32, I32), epsilon=1e-5)
    weights, bias = floats(32, 96) * 0.2, floats(96)
    yield "attention", Case("Attention", [x, weights, bias], num_heads=4)
    yield "attention-causal", Case("Attention", [x, weights, bias], num_heads=4, unidirectional=1)
    mask = ints(1, 1, 1, 0, 0, 1, 1, 1, 1, 1).reshape(2, 5)
    yield "attention-mask", Case("Attention", [x, weights, bias, mask], num_heads=4)
    yield "attention-lengths", Case("Attention", [x, weights, bias, ints(3, 5)], num_heads=4)
    yield "attention-past", Case("Attention", [x, weights, bias, None, floats(2, 2, 4, 3, 8)], (F32, F32), num_heads=4, unidirectional=1)
    yield "attention-bias", Case("Attention", [x, weights, bias, None, None, floats(2, 4, 5, 5)], num_heads=4)
    heads = [floats(2, 5, 32), floats(2, 7, 32), floats(2, 7, 32)]
    yield "multi-head", Case("MultiHeadAttention", heads, num_heads=4)
    yield "multi-head-bias", Case("MultiHeadAttention", [*heads, floats(96)], num_heads=4)
    cosine, sine = rotation(16, 8)
    places = numpy.array([[0, 1, 2, 3, 4], [3, 4, 5, 6, 7]], numpy.int64)
    yield "rotary", Case("RotaryEmbedding", [floats(2, 4, 5, 8), places, cosine, sine])
    yield "rotary-interleaved", Case("RotaryEmbedding", [floats(2, 4, 5, 8), places, cosine, sine], interleaved=1)
    yield "rotary-flat", Case("RotaryEmbedding", [x, places, cosine, sine], num_heads=4)
    yield "quantized-lstm", quantized_lstm("forward")
    yield "quantized-lstm-both", quantized_lstm("bidirectional")
    yield "gqa-prompt", group_query(2, 5, (4, 4), 0, 5)
    yield "gqa-prompt-rotary", group_query(2, 5, (4, 4), 0, 5, do_rotary=1)
    yield "gqa-packed", group_query(2, 5, (4, 4), 0, 5, packed=True, do_rotary=1, rotary_interleaved=1)
    yield "gqa-decode", group_query(2, 1, (6, 6), 6, 7, do_rotary=1)
    yield "gqa-several", group_query(1, 3, (8,), 6, 9, do_rotary=1)
    # Behind what a sample has, its cache may hold anything.
    yield "gqa-lengths", group_query(2, 1, (6, 3), 6, 7, do_rotary=1, compared=1)
    yield "gqa-window", group_query(1, 5, (4,), 0, 5, local_window_size=2)
    yield "gqa-bias", group_query(2, 5, (4, 4), 0, 5, bias=True)


def call(*command):
    done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}: exit code {done.returncode}\n{done.stdout[-1000:]}")


def compare(case, build, device, target, folder):
    import onnxruntime
    onnx.save(case.model, folder / "case.onnx")
    session = onnxruntime.InferenceSession(str(folder / "case.onnx"), providers=["CPUExecutionProvider"])
    wanted = session.run(None, case.feeds())
    call(build / "bin" / "xcompile", folder / "case.onnx", "-o", folder / "case.vmfb", f"--target={target}", "-j1")
    command = [build / "bin" / "xrun", folder / "case.vmfb", f"--device={device}"]
    for name, value in case.feeds().items():
        numpy.save(folder / f"{name}.npy", value)
        command.append(f"--input=@{folder / name}.npy")
    command += [f"--output=@{folder}/y{index}.npy" for index in range(len(wanted))]
    call(*command)
    for index, value in enumerate(wanted[:case.compared]):
        found = numpy.load(folder / f"y{index}.npy")
        if found.shape != value.shape or found.dtype != value.dtype:
            raise RuntimeError(f"output {index}: {found.dtype}{list(found.shape)}, expected {value.dtype}{list(value.shape)}")
        if not numpy.allclose(found, value, rtol=1e-4, atol=2e-5):
            raise RuntimeError(f"output {index}: the largest difference is {numpy.abs(found - value).max()}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--models", default="build/models", type=pathlib.Path)
    parser.add_argument("--filter", default="")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--target", default="cpu")
    arguments = parser.parse_args()
    sys.path.append(str(arguments.models))
    passed = failed = 0
    for name, case in cases():
        if not re.search(arguments.filter, name):
            continue
        try:
            with tempfile.TemporaryDirectory(prefix="xc-microsoft-") as folder:
                compare(case, arguments.build, arguments.device, arguments.target, pathlib.Path(folder))
            passed += 1
        except Exception as failure:  # onnxruntime raises types of its own
            print(f"FAILED {name}: {failure}", flush=True)
            failed += 1
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
