#!/usr/bin/env python3
"""Whole models: what the compiler makes of them, and their times beside torch's on a GPU.

    models.py compile --build=build/dev --out=DIR [--small] [MODEL...]          writes and compiles the models; prints a table of them
    models.py check --build=build/dev --table=FILE [--renew] [MODEL...]         compares small models with a recorded table; needs no GPU
    models.py run --out=DIR --lib=libxcr.so [--calls=N] [MODEL...]              checks and times compiled models beside torch, and with
                                                                                --jax beside JAX

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

from model_peers import PEERS, make_weights
from model_programs import MODELS

BYTES_PER_US, FLOPS_PER_US, LAUNCH_US = 3.9e6, 30e6, 1.5  # of an H200, without its tensor cores

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


def listed(results):
    return list(results) if isinstance(results, tuple) else [results]


class Work:
    """A model with weights and two sets of inputs, which are the same each time."""

    def __init__(self, torch, name):
        self.torch, self.name, self.net = torch, name, MODELS[name][0]()[0]
        self.weights = make_weights(torch, self.net)
        self.inputs = [[self.argument(value) for value in self.net.arguments] for _ in range(2)]
        self.make_peer = next(make for prefix, make in PEERS.items() if name.startswith(prefix))

    def argument(self, value):
        shape = self.net.shapes[value]
        if value == "%places":
            return self.torch.arange(*shape, device="cuda", dtype=self.torch.int32)
        if self.net.dtypes[value] == "i32":
            return self.torch.randint(0, 30522, shape, device="cuda", dtype=self.torch.int32)
        return self.torch.randn(shape, device="cuda").to(self.torch.bfloat16)

    def peer(self):
        return self.make_peer(self.torch, self.weights)

    def exact(self):
        """The results for the second inputs, in f32."""
        peer = self.make_peer(self.torch, {key: value.float() for key, value in self.weights.items()})
        return listed(peer(*(value.float() if value.is_floating_point() else value for value in self.inputs[1])))

    def time_jax(self):
        """As time_ours, of JAX, whose memory beside torch's is what it asks for."""
        import jax
        from model_peers_jax import time_jax
        weights = {key: jax.dlpack.from_dlpack(value.contiguous()) for key, value in self.weights.items()}
        inputs = [[jax.dlpack.from_dlpack(value.contiguous()) for value in given] for given in self.inputs]
        time, results = time_jax(jax, self.name, weights, inputs)
        return time, [self.torch.from_dlpack(value) for value in listed(results)]

    def time_ours(self, runtime, stream, timer):
        """Microseconds of a call, and its results for the second inputs."""
        dtypes = {self.torch.bfloat16: "bf16", self.torch.int32: "i32"}
        results = [self.torch.empty_like(value, memory_format=self.torch.contiguous_format) for value in listed(self.peer()(*self.inputs[1]))]
        save(self.torch, self.weights, self.net.scope)
        instance = runtime.instance(f"{self.name}.vmfb")
        calls = [runtime.call(instance, [(value, dtypes[value.dtype]) for value in given], [(value, "bf16") for value in results]) for given in self.inputs]
        time = timer.time(lambda i: runtime.launch(calls[i], stream), 2)
        runtime.launch(calls[1], stream)
        self.torch.cuda.synchronize()
        for call in calls:
            runtime.release("call", call)
        runtime.release("instance", instance)
        return time, results


def run(args):
    import os
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
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

    def distance(values, exact):
        """Of that result for which it is largest."""
        return float(f"{max(((value.float() - one).norm() / one.norm()).item() for value, one in zip(values, exact, strict=True)):.2g}")

    def show(row):
        row["ratio"] = round(min(row[key] for key in ("eager", "compiled", "jax") if key in row) / row["ours"], 2)
        print(json.dumps(row), flush=True)
        out.write_text(json.dumps(list(rows.values()), indent=1) + "\n")

    with torch.no_grad():
        for name in names:
            work = Work(torch, name)
            ours, results = work.time_ours(runtime, stream, timer)
            exact, peer = work.exact(), work.peer()
            rows[name] = dict(model=name, ours=round(ours, 1), error=distance(results, exact), torch_error=distance(listed(peer(*work.inputs[1])), exact),
                              eager=round(timer.time(lambda i: peer(*work.inputs[i]), 2), 1))
            del results
            if args.jax:
                time_of_jax, results = work.time_jax()
                rows[name].update(jax=round(time_of_jax, 1), jax_error=distance(results, exact))
                del results
            del exact
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
    parser.add_argument("--jax", action="store_true", help="of run: time JAX as well")
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
