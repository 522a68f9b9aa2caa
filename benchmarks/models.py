#!/usr/bin/env python3
"""Whole models: what the compiler makes of them, and their times beside torch's on a GPU.

    models.py compile --build=build/dev --out=DIR [--small] [MODEL...]          writes and compiles the models; prints a table of them
    models.py check --build=build/dev --table=FILE [--renew] [MODEL...]         compares small models with a recorded table; needs no GPU
    models.py run --out=DIR --lib=libxcr.so [--calls=N] [MODEL...]              checks and times compiled models beside torch

Parameters are external: `run` makes them at random, for both. The table says of each model how many kernels a call launches, the bytes that
they move at least, and the time that the compiler expects of them: of a product what its model says, of another kernel the larger of
what its bytes and its operations take, and something for each launch. `check` fails where one of them has risen above the recorded one;
--renew records what is there now.
"""
import argparse
import json
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

from networks import Network, tensor

BYTES_PER_US, FLOPS_PER_US, LAUNCH_US = 3.9e6, 30e6, 1.5  # of an H200, without its tensor cores


class Model(Network):
    """bf16, images with their channels last, and what decoders need."""

    def __init__(self, scope):
        super().__init__("bf16")
        self.scope, self.weights = scope, {}

    def weight(self, name, shape, kind="matrix"):
        self.weights[name] = (tuple(shape), kind)
        return self.emit(f'array.parameter "{self.scope}"::"{name}" : {tensor(shape, self.dtype)}', shape)

    def conv(self, x, w, stride):
        (n, height, width, _), (features, size, _, _) = self.shapes[x], self.shapes[w]
        pad = size // 2
        out = [(extent + 2 * pad - size) // stride + 1 for extent in (height, width)]
        return self.op(f"conv {x}, {w} dims = <[b, 0, 1, f] x [o, 0, 1, i] -> [b, 0, 1, f]> strides = [{stride}, {stride}] "
                       f"low = [{pad}, {pad}] high = [{pad}, {pad}]", [x, w], (n, *out, features))

    def batch_norm(self, x, *norm):
        return self.op(f"batch_norm_inference {', '.join((x, *norm))} axis = 3 epsilon = 1.0e-5", [x, *norm], self.shapes[x])

    def max_pool(self, x):
        n, *sizes, channels = self.shapes[x]
        shape = (n, *((size - 1) // 2 + 1 for size in sizes), channels)
        return self.emit(f"array.reduce_window max, {x} window = [1, 3, 3, 1] strides = [1, 2, 2, 1] low = [0, 1, 1, 0] "
                         f"high = [0, 1, 1, 0] : {self.type(x)} -> {tensor(shape, self.dtype)}", shape)

    def mean_of_image(self, x):
        shape = (self.shapes[x][0], self.shapes[x][3])
        return self.emit(f"array.mean {x} axes = [1, 2] : {self.type(x)} -> {tensor(shape, self.dtype)}", shape)

    def rows(self, x, w):
        """x times the transposed matrix w."""
        return self.op(f"matmul {x}, {w} transpose_b", [x, w], self.shapes[x][:-1] + self.shapes[w][:1])

    def linear(self, x, name, columns):
        w = self.weight(f"{name}.weight", (self.shapes[x][-1], columns))
        return self.add(self.matmul(x, w), self.weight(f"{name}.bias", (columns,), "bias"))

    def norm(self, x, name):
        width = self.shapes[x][-1]
        return self.layer_norm(x, self.weight(f"{name}.scale", (width,), "scale"), self.weight(f"{name}.bias", (width,), "bias"))

    def rms_norm(self, x, name):
        scale = self.weight(name, self.shapes[x][-1:], "scale")
        return self.emit(f"array.rms_norm {x} scale({scale} : {self.type(scale)}) axis = {len(self.shapes[x]) - 1} epsilon = 1.0e-6 : "
                         f"{self.type(x)}", self.shapes[x])

    def mul(self, x, y):
        return self.op(f"mul {x}, {y}", [x, y], self.shapes[x])

    def part(self, x, dim, begin, end):
        shape = [end - begin if other == dim else size for other, size in enumerate(self.shapes[x])]
        index = ", ".join(f"{begin}:{end}" if other == dim else ":" for other in range(len(shape)))
        return self.emit(f"array.slice {x} [{index}] : {self.type(x)} -> {tensor(shape, self.dtype)}", shape)

    def attend(self, q, k, v, causal=False):
        types = ", ".join(self.type(x) for x in (q, k, v))
        return self.emit(f"array.attention {q}, {k}, {v}{' causal' if causal else ''} scale = {self.shapes[q][-1] ** -0.5:.9e} : ({types}) -> "
                         f"{self.type(q)}", self.shapes[q])


def encoder_layer(net, x, name, heads, feed_forward):
    """Attention and two layers behind one another, each with its residual sum and norm."""
    batch, tokens, hidden = net.shapes[x]
    y = net.reshape(net.linear(x, f"{name}.qkv", 3 * hidden), (batch, tokens, 3, heads, hidden // heads))
    q, k, v = (net.transpose(net.reshape(net.part(y, 2, i, i + 1), (batch, tokens, heads, hidden // heads)), (0, 2, 1, 3)) for i in range(3))
    y = net.reshape(net.transpose(net.attend(q, k, v), (0, 2, 1, 3)), (batch, tokens, hidden))
    x = net.norm(net.add(x, net.linear(y, f"{name}.out", hidden)), f"{name}.norm1")
    y = net.unary("gelu", net.linear(x, f"{name}.up", feed_forward))
    return net.norm(net.add(x, net.linear(y, f"{name}.down", hidden)), f"{name}.norm2")


def bert(batch, tokens, layers=12, hidden=768, heads=12, feed_forward=3072, vocabulary=30522):
    net = Model("bert.safetensors")
    ids = net.argument("ids", (batch, tokens), "i32", vocabulary)
    x = net.take(net.weight("words", (vocabulary, hidden)), ids)
    x = net.norm(net.add(x, net.part(net.weight("positions", (512, hidden)), 0, 0, tokens)), "embeddings")
    for layer in range(layers):
        x = encoder_layer(net, x, str(layer), heads, feed_forward)
    return net, net.program([net.linear(x, "head", vocabulary)])


def resnet(batch, size=224, blocks=(3, 4, 6, 3)):
    net = Model("resnet.safetensors")

    def normed(x, features, taps, stride, name):
        w = net.weight(f"{name}.weight", (features, taps, taps, net.shapes[x][3]))
        norm = [net.weight(f"{name}.{kind}", (features,), kind) for kind in ("scale", "bias", "mean", "variance")]
        return net.batch_norm(net.conv(x, w, stride), *norm)

    def bottleneck(x, features, stride, name):
        y = net.unary("relu", normed(x, features, 1, 1, f"{name}.1"))
        y = net.unary("relu", normed(y, features, 3, stride, f"{name}.2"))
        y = normed(y, 4 * features, 1, 1, f"{name}.3")
        if stride != 1 or net.shapes[x][3] != 4 * features:
            x = normed(x, 4 * features, 1, stride, f"{name}.short")
        return net.unary("relu", net.add(y, x))

    x = net.argument("image", (batch, size, size, 3))
    x = net.max_pool(net.unary("relu", normed(x, 64, 7, 2, "stem")))
    for stage, count in enumerate(blocks):
        for block in range(count):
            x = bottleneck(x, 64 << stage, 2 if stage and not block else 1, f"{stage}.{block}")
    return net, net.program([net.linear(net.mean_of_image(x), "classes", 1000)])


def decode(hidden, heads, key_heads, feed_forward, layers, context=1024):
    """The layers of a decoder for one token, with the keys and values of `context` tokens as inputs."""
    net, width = Model("decoder.safetensors"), hidden // heads
    x = net.argument("x", (1, hidden))
    cache = [[net.argument(f"{kind}{i}", (1, key_heads, context, width)) for kind in ("keys", "values")] for i in range(layers)]
    for layer in range(layers):
        y = net.rows(net.rms_norm(x, f"{layer}.norm1"), net.weight(f"{layer}.qkv", ((heads + 2 * key_heads) * width, hidden)))
        q = net.reshape(net.part(y, 1, 0, hidden), (1, heads, 1, width))
        y = net.reshape(net.attend(q, *cache[layer]), (1, hidden))
        x = net.add(x, net.rows(y, net.weight(f"{layer}.out", (hidden, hidden))))
        y = net.rms_norm(x, f"{layer}.norm2")
        gate, up = (net.rows(y, net.weight(f"{layer}.{kind}", (feed_forward, hidden))) for kind in ("gate", "up"))
        y = net.mul(net.unary("silu", gate), up)
        x = net.add(x, net.rows(y, net.weight(f"{layer}.down", (hidden, feed_forward))))
    return net, net.program([x])


def train(batch, tokens, hidden=768, heads=12, feed_forward=3072):
    """A layer of an encoder; `--gradient` adds its gradients to its weights, which are arguments."""
    net = Model("none")
    net.weight = lambda name, shape, kind="matrix": net.argument(name.replace(".", "_"), shape)
    x = encoder_layer(net, net.argument("x", (batch, tokens, hidden)), "layer", heads, feed_forward)
    return net, net.program([x])


GPT2, LLAMA = (768, 12, 12, 3072), (4096, 32, 8, 14336)
MODELS = {  # the model, its small form, and flags
    "bert_b1s128": (lambda: bert(1, 128), lambda: bert(1, 128, layers=2), []),
    "bert_b8s512": (lambda: bert(8, 512), lambda: bert(8, 512, layers=1), []),
    "bert_b32s512": (lambda: bert(32, 512), None, []),
    "resnet50_b1": (lambda: resnet(1), lambda: resnet(1, blocks=(1, 1)), []),
    "resnet50_b32": (lambda: resnet(32), lambda: resnet(32, blocks=(2, 1)), []),
    "decode_gpt2": (lambda: decode(*GPT2, 12), lambda: decode(*GPT2, 2), []),
    "decode_llama8b_4layers": (lambda: decode(*LLAMA, 4), lambda: decode(*LLAMA, 2), []),
    "train_layer_b8s512": (lambda: train(8, 512), lambda: train(8, 128), ["--gradient=main"]),
}

# ---- What the compiler makes of them ---------------------------------------------------------------------------------------------------


def measure(report):
    """Launches, bytes and expected microseconds of one call, of a target's report."""
    total = dict(launches=0, bytes=0, expected_us=0.0, once=report.get("init", {}).get("launches", 0))
    for kernel in report["kernels"]:
        bytes, flops, reason = int(kernel["bytes"]), int(kernel["flops"]), kernel["variants"][0].get("reason", "")
        said = re.search(r"([\d.]+) us expected", reason)
        expected = float(said[1]) if said else max(bytes / BYTES_PER_US, flops / FLOPS_PER_US) + LAUNCH_US
        total["launches"] += kernel["launches"]
        total["bytes"] += kernel["launches"] * bytes
        total["expected_us"] += kernel["launches"] * expected
    return {**total, "expected_us": round(total["expected_us"], 1)}


def compile_model(build, folder, name, small):
    model, small_model, flags = MODELS[name]
    source = folder / f"{name}.mlir"
    source.write_text((small_model if small else model)()[1])
    command = [pathlib.Path(build) / "bin/xcompile", source, "-o", folder / f"{name}.vmfb", "--target=cuda:sm_90a", "--report=json", *flags]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"models.py: {name}: {done.stderr}")
    return measure(json.loads(done.stdout[done.stdout.index("["):])[0])


def show(name, found):
    print(f"{name:24} {found['launches']:4} launches, {found['bytes'] / 1e6:10.2f} MB, {found['expected_us']:9.1f} us expected; "
          f"{found['once']} launches once an instance", flush=True)


def compile_models(args):
    args.out.mkdir(parents=True, exist_ok=True)
    for name in args.models or MODELS:
        show(name, compile_model(args.build, args.out, name, args.small))


def check(args):
    recorded = json.loads(args.table.read_text()) if args.table.exists() else {}
    found, risen = {}, []
    with tempfile.TemporaryDirectory() as folder:
        for name in args.models or [name for name, (_, small, _) in MODELS.items() if small]:
            found[name] = compile_model(args.build, pathlib.Path(folder), name, small=True)
            show(name, found[name])
            # Both are sums of rounded numbers.
            risen += [f"{name}: {key} was {old}, is {found[name][key]}" for key, old in recorded.get(name, {}).items()
                      if key != "once" and found[name][key] > old + (0.05 if key == "expected_us" else 0)]
            if name not in recorded and not args.renew:
                risen.append(f"{name} is not in {args.table}")
    if args.renew:
        args.table.write_text("{\n" + ",\n".join(f"  {json.dumps(name)}: {json.dumps(entry)}" for name, entry in {**recorded, **found}.items()) + "\n}\n")
    elif risen:
        sys.exit("models.py: a model has become worse (--renew records it, if that is meant):\n  " + "\n  ".join(risen))


# ---- Beside torch ----------------------------------------------------------------------------------------------------------------------


def make_weights(torch, net):
    """For norms around 1, for matrices such that sums of products keep their size."""
    def make(shape, kind):
        if kind in ("scale", "variance"):
            return torch.rand(shape, device="cuda") + 0.5
        fan_in = shape[-2] if len(shape) == 2 and net.scope == "bert.safetensors" else torch.Size(shape[1:]).numel()
        return torch.randn(shape, device="cuda") * (0.1 if len(shape) == 1 else fan_in ** -0.5)
    torch.manual_seed(0)
    return {name: make(*entry).to(torch.bfloat16) for name, entry in net.weights.items()}


def torch_bert(torch, w, layers, heads):
    F = torch.nn.functional

    def linear(x, name):
        return x @ w[f"{name}.weight"] + w[f"{name}.bias"]

    def norm(x, name):
        return F.layer_norm(x, x.shape[-1:], w[f"{name}.scale"], w[f"{name}.bias"], 1e-5)

    def run(ids):
        x = norm(w["words"][ids] + w["positions"][:ids.shape[1]], "embeddings")
        for i in range(layers):
            q, k, v = linear(x, f"{i}.qkv").unflatten(-1, (3, heads, -1)).permute(2, 0, 3, 1, 4)
            y = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2)
            x = norm(x + linear(y, f"{i}.out"), f"{i}.norm1")
            x = norm(x + linear(F.gelu(linear(x, f"{i}.up")), f"{i}.down"), f"{i}.norm2")
        return linear(x, "head")
    return run


def torch_resnet(torch, w, blocks):
    F = torch.nn.functional
    filters = {name: value.permute(0, 3, 1, 2) for name, value in w.items() if value.dim() == 4}  # channels last in memory

    def normed(x, name, stride, pad):
        y = F.conv2d(x, filters[f"{name}.weight"], stride=stride, padding=pad)
        return F.batch_norm(y, w[f"{name}.mean"], w[f"{name}.variance"], w[f"{name}.scale"], w[f"{name}.bias"], eps=1e-5)

    def run(image):
        x = F.max_pool2d(F.relu(normed(image.permute(0, 3, 1, 2), "stem", 2, 3)), 3, 2, 1)
        for stage, count in enumerate(blocks):
            for block in range(count):
                name, stride = f"{stage}.{block}", 2 if stage and not block else 1
                y = F.relu(normed(x, f"{name}.1", 1, 0))
                y = normed(F.relu(normed(y, f"{name}.2", stride, 1)), f"{name}.3", 1, 0)
                x = F.relu(y + (normed(x, f"{name}.short", stride, 0) if f"{name}.short.weight" in w else x))
        return x.mean((2, 3)) @ w["classes.weight"] + w["classes.bias"]
    return run


def torch_decode(torch, w, heads, key_heads, layers):
    F = torch.nn.functional

    def run(x, *cache):
        for i in range(layers):
            y = F.rms_norm(x, x.shape[-1:], w[f"{i}.norm1"], 1e-6) @ w[f"{i}.qkv"].t()
            q = y[:, :x.shape[-1]].reshape(1, heads, 1, -1)
            y = F.scaled_dot_product_attention(q, cache[2 * i], cache[2 * i + 1], enable_gqa=heads != key_heads).reshape(x.shape)
            x = x + y @ w[f"{i}.out"].t()
            y = F.rms_norm(x, x.shape[-1:], w[f"{i}.norm2"], 1e-6)
            x = x + (F.silu(y @ w[f"{i}.gate"].t()) * (y @ w[f"{i}.up"].t())) @ w[f"{i}.down"].t()
        return x
    return run


PEERS = {"bert": lambda torch, w: torch_bert(torch, w, 12, 12), "resnet50": lambda torch, w: torch_resnet(torch, w, (3, 4, 6, 3)),
         "decode_gpt2": lambda torch, w: torch_decode(torch, w, 12, 12, 12),
         "decode_llama8b": lambda torch, w: torch_decode(torch, w, 32, 8, 4)}


class Timer:
    """Microseconds of a call: many calls in one CUDA graph, over inputs that are rotated; the median of several replays."""

    def __init__(self, torch, replays=20):
        self.torch, self.replays, self.stream = torch, replays, torch.cuda.Stream()

    def time(self, call, count):
        """`call(i)` runs the model on inputs i of `count` on the current stream."""
        cuda = self.torch.cuda
        with cuda.stream(self.stream):
            for i in range(3 * count):
                call(i % count)
            begin, end = cuda.Event(True), cuda.Event(True)
            begin.record()
            call(0)
            end.record()
        cuda.synchronize()
        repeats = count * max(1, round(2000 / max(1e3 * begin.elapsed_time(end), 2) / count))
        graph = cuda.CUDAGraph()
        with cuda.graph(graph, stream=self.stream):
            for i in range(repeats):
                call(i % count)
        times = []
        for _ in range(self.replays):
            begin, end = cuda.Event(True), cuda.Event(True)
            with cuda.stream(self.stream):
                begin.record()
                graph.replay()
                end.record()
            cuda.synchronize()
            times.append(1e3 * begin.elapsed_time(end) / repeats)
        del graph
        return statistics.median(times[2:])


def save(torch, weights, path):
    """A .safetensors file of bf16 arrays."""
    header, end = {}, 0
    for name, value in weights.items():
        begin, end = end, end + 2 * value.numel()
        header[name] = {"dtype": "BF16", "shape": list(value.shape), "data_offsets": [begin, end]}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for value in weights.values():
            file.write(value.contiguous().view(torch.int16).cpu().numpy().tobytes())


class Work:
    """A model with weights and two sets of inputs, which are the same each time."""

    def __init__(self, torch, name):
        self.torch, self.name, self.net = torch, name, MODELS[name][0]()[0]
        self.weights = make_weights(torch, self.net)
        self.inputs = [[self.argument(value) for value in self.net.arguments] for _ in range(2)]
        self.make_peer = next(make for prefix, make in PEERS.items() if name.startswith(prefix))

    def argument(self, value):
        shape = self.net.shapes[value]
        if self.net.dtypes[value] == "i32":
            return self.torch.randint(0, 30522, shape, device="cuda", dtype=self.torch.int32)
        return self.torch.randn(shape, device="cuda").to(self.torch.bfloat16)

    def peer(self):
        return self.make_peer(self.torch, self.weights)

    def exact(self):
        """The result for the second inputs, in f32."""
        peer = self.make_peer(self.torch, {key: value.float() for key, value in self.weights.items()})
        return peer(*(value.float() if value.is_floating_point() else value for value in self.inputs[1]))

    def time_ours(self, runtime, stream, timer):
        """Microseconds of a call, and its result for the second inputs."""
        dtypes = {self.torch.bfloat16: "bf16", self.torch.int32: "i32"}
        result = self.torch.empty_like(self.peer()(*self.inputs[1]))
        save(self.torch, self.weights, self.net.scope)
        instance = runtime.instance(f"{self.name}.vmfb")
        calls = [runtime.call(instance, [(value, dtypes[value.dtype]) for value in given], [(result, "bf16")]) for given in self.inputs]
        time = timer.time(lambda i: runtime.launch(calls[i], stream), 2)
        runtime.launch(calls[1], stream)
        self.torch.cuda.synchronize()
        for call in calls:
            runtime.release("call", call)
        runtime.release("instance", instance)
        return time, result


def run(args):
    import os
    import torch
    from xcr_torch import Runtime
    start, out = time.monotonic(), pathlib.Path(os.environ.get("OUT", ".")).resolve() / "models.json"
    torch.backends.cudnn.benchmark = True
    timer, runtime = Timer(torch), Runtime(args.lib)
    stream = runtime.stream(timer.stream.cuda_stream)
    os.chdir(args.out)  # where the modules look for parameters
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}", flush=True)
    names = args.models or [name for name in MODELS if not name.startswith("train") and pathlib.Path(f"{name}.vmfb").exists()]
    rows = {}

    def distance(value, exact):
        return float(f"{((value.float() - exact).norm() / exact.norm()).item():.2g}")

    def show(row):
        row["ratio"] = round(min(row[key] for key in ("eager", "compiled") if key in row) / row["ours"], 2)
        print(json.dumps(row), flush=True)
        out.write_text(json.dumps(list(rows.values()), indent=1) + "\n")

    with torch.no_grad():
        for name in names:
            work = Work(torch, name)
            ours, result = work.time_ours(runtime, stream, timer)
            exact, peer = work.exact(), work.peer()
            rows[name] = dict(model=name, ours=round(ours, 1), error=distance(result, exact), torch_error=distance(peer(*work.inputs[1]), exact),
                              eager=round(timer.time(lambda i: peer(*work.inputs[i]), 2), 1))
            del exact, result
            show(rows[name])
        # Compiling takes most of the time: as long as there is some.
        for name in names:
            if time.monotonic() - start > args.seconds:
                print(f"not compiled by torch for want of time: {name}", flush=True)
                continue
            work = Work(torch, name)
            torch._dynamo.reset()
            peer = torch.compile(work.peer(), dynamic=False)
            rows[name]["compiled"] = round(timer.time(lambda i: peer(*work.inputs[i]), 2), 1)
            show(rows[name])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mode", choices=["compile", "check", "run"])
    parser.add_argument("models", nargs="*", metavar="MODEL", help=", ".join(MODELS))
    parser.add_argument("--build", default="build/dev")
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--lib", default="libxcr.so", type=lambda text: str(pathlib.Path(text).resolve()))
    parser.add_argument("--table", type=pathlib.Path)
    parser.add_argument("--seconds", type=float, default=1e9, help="of run: compile no more by torch after so many")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--renew", action="store_true")
    args = parser.parse_intermixed_args()
    if unknown := [name for name in args.models if name not in MODELS]:
        parser.error(f"{', '.join(unknown)}: expected some of {', '.join(MODELS)}")
    if args.mode == "check" and not args.table or args.mode != "check" and not args.out:
        parser.error("expected --table of check, --out of compile and run")
    dict(compile=compile_models, check=check, run=run)[args.mode](args)


if __name__ == "__main__":
    main()
