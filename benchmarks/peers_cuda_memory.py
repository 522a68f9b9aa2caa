#!/usr/bin/env python3
"""Measures memory-bound kernels on a GPU beside what a user would pick instead, in one run on one machine.

    peers_cuda_memory.py compile --folder=DIR [--xcompile=build/dev/bin/xcompile] [--only=REGEX]
    peers_cuda_memory.py run --folder=DIR [--library=build/dev/lib/libxcr.so] [--xbench=build/dev/bin/xbench] [--only=REGEX]
                             [--peers=eager,compile,jax] [--output=FILE.md]
    peers_cuda_memory.py warm [--only=REGEX] [--share=I/N]     fills the caches of torch.compile and JAX, so that run waits less;
                                                               several may run at once, each with every N-th work

The first writes and compiles the modules, on any machine; the second times them, and the same work in torch eager,
torch.compile and JAX (for memory_families.py's work as it says there), and prints a table for each section. Ours and torch's are measured alike: many calls captured in one CUDA graph by
torch.cuda.graph, each on other inputs and outputs of random numbers, more than twice the L2 cache in all; the time of a
replay between two events, over the number of calls. JAX captures nothing of a user's: all its calls are one program. Our
results are compared with torch's. All figures are medians.
"""
import argparse
import json
import pathlib
import re
import statistics
import subprocess
import sys
import time

import memory_families
import memory_sweep
import window_families
import xcr_torch
from memory_families import Work, tensor

ROOT = pathlib.Path(__file__).resolve().parent.parent
SHAPES = [(32768, 1024, "f32"), (4096, 768, "f32"), (128, 65536, "f32"), (8192, 4096, "bf16")]


def layer_norm_gradient(rows, columns, dtype):
    x, c = tensor((rows, columns), dtype), tensor((columns,), dtype)
    f, g, k = tensor((rows, columns), "f32"), tensor((columns,), "f32"), tensor((rows, 1), "f32")
    return f"""
      %x = array.convert %0 : {x} -> {f}
      %w = array.convert %1 : {c} -> {g}
      %dy = array.convert %2 : {x} -> {f}
      %mean = array.mean %x axes = [1] keepdims : {f} -> {k}
      %c = array.sub %x, %mean : ({f}, {k}) -> {f}
      %square = array.mul %c, %c : {f}
      %var = array.mean %square axes = [1] keepdims : {f} -> {k}
      %epsilon = array.constant dense<1.0e-5> : tensor<f32>
      %ve = array.add %var, %epsilon : ({k}, tensor<f32>) -> {k}
      %rstd = array.rsqrt %ve : {k}
      %xhat = array.mul %c, %rstd : ({f}, {k}) -> {f}
      %wdy = array.mul %dy, %w : ({f}, {g}) -> {f}
      %m1 = array.mean %wdy axes = [1] keepdims : {f} -> {k}
      %wx = array.mul %wdy, %xhat : {f}
      %m2 = array.mean %wx axes = [1] keepdims : {f} -> {k}
      %a = array.sub %wdy, %m1 : ({f}, {k}) -> {f}
      %p = array.mul %xhat, %m2 : ({f}, {k}) -> {f}
      %q = array.sub %a, %p : {f}
      %dx = array.mul %q, %rstd : ({f}, {k}) -> {f}
      %dyx = array.mul %dy, %xhat : {f}
      %dg = array.reduce sum, %dyx axes = [0] : {f} -> {g}
      %db = array.reduce sum, %dy axes = [0] : {f} -> {g}
      %r0 = array.convert %dx : {f} -> {x}
      %r1 = array.convert %dg : {g} -> {c}
      %r2 = array.convert %db : {g} -> {c}"""


def list_work():
    for rows, columns, dtype in SHAPES:
        whole, row, column = (rows, columns), (rows,), (columns,)
        x, r, c = (tensor(shape, dtype) for shape in (whole, row, column))
        turned = tensor((columns, rows), dtype)

        def work(op, inputs, outputs, body):
            made = Work(f"{op}_{rows}x{columns}_{dtype}", [(shape, dtype) for shape in inputs],
                        [(shape, dtype) for shape in outputs], body)
            made.op, made.rows, made.columns, made.dtype = op, rows, columns, dtype
            return made

        yield work("gelu", [whole], [whole], f"%r0 = array.gelu %0 : {x}")
        yield work("softmax", [whole], [whole], f"%r0 = array.softmax %0 axis = 1 : {x}")
        yield work("layernorm", [whole, column, column], [whole],
                   f"%r0 = array.layer_norm %0 scale(%1 : {c}) bias(%2 : {c}) axis = 1 epsilon = 1.0e-5 : {x}")
        yield work("rmsnorm", [whole, column], [whole],
                   f"%r0 = array.rms_norm %0 scale(%1 : {c}) axis = 1 epsilon = 1.0e-6 : {x}")
        yield work("rowsum", [whole], [row], f"%r0 = array.reduce sum, %0 axes = [1] : {x} -> {r}")
        yield work("colsum", [whole], [column], f"%r0 = array.reduce sum, %0 axes = [0] : {x} -> {c}")
        yield work("transpose", [whole], [(columns, rows)],
                   f"%r0 = array.transpose %0 permutation = [1, 0] : {x} -> {turned}")
        yield work("layernorm_vjp", [whole, column, whole], [whole, column, column],
                   layer_norm_gradient(rows, columns, dtype))


# ---- Ours ---------------------------------------------------------------------------------------------------------------


def compile_all(args, works):
    args.folder.mkdir(parents=True, exist_ok=True)
    for work in works:
        source, module = args.folder / f"{work.name}.mlir", args.folder / f"{work.name}.vmfb"
        source.write_text(work.text)
        subprocess.run([args.xcompile, source, "-o", module, f"--target={args.target}", *work.flags], check=True)
    subprocess.run([args.xcompile, ROOT / "samples" / "logistic_regression" / "logistic_regression.mlir", "-o",
                    args.folder / "logistic_regression.vmfb", f"--target={args.target}"], check=True)
    print(f"{len(works) + 1} modules in {args.folder}")


class Ours:
    """Our calls in a graph that torch captures."""

    def __init__(self, args, torch):
        self.torch, self.folder = torch, args.folder
        self.runtime = xcr_torch.Runtime(args.library)
        self.stream = torch.torch.cuda.Stream()
        self.queue = self.runtime.stream(self.stream.cuda_stream)

    def time(self, work):
        torch, runtime = self.torch.torch, self.runtime
        instance = runtime.instance(self.folder / f"{work.name}.vmfb")
        sets = [(self.torch.make_inputs(work),
                 [torch.empty(shape, device="cuda", dtype=self.torch.types[dtype]) for shape, dtype in work.outputs])
                for _ in range(work.sets)]
        calls = [runtime.call(instance, [(value, dtype) for value, (_, dtype) in zip(inputs, work.inputs)],
                              [(value, dtype) for value, (_, dtype) in zip(outputs, work.outputs)], work.entry)
                 for inputs, outputs in sets]
        torch.cuda.synchronize()
        for call in calls:
            runtime.launch(call, self.queue)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=self.stream):
            for i in range(work.calls):
                runtime.launch(calls[i % len(calls)], self.queue)
        for _, outputs in sets:
            for output in outputs:
                output.fill_(float("nan") if output.is_floating_point() else -1)
        time_of_call = self.torch.time_replays(graph, work.calls)
        self.compare(work, sets[-1])
        del graph
        for call in calls:
            runtime.release("call", call)
        runtime.release("instance", instance)
        return time_of_call

    def compare(self, work, bound):
        inputs, outputs = bound
        if work.function:
            if work.is_random:
                return
            want = work.function(self.torch.torch)(*inputs)
            want = (want if self.torch.torch.is_tensor(want) else want[0]).double()
        else:
            step = self.torch.function(work, *inputs[1:])
            if not step:
                return
            want = step(inputs[0]).double()
        off = ((want - outputs[0].double()).norm() / want.norm()).item()
        if not off < work.tolerance:
            sys.exit(f"{work.name}: the result is off by {off}, relatively")


# ---- Peers --------------------------------------------------------------------------------------------------------------


class Torch:
    def __init__(self):
        import torch
        self.torch = torch
        self.types = {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16, "i8": torch.int8,
                      "i32": torch.int32, "ui32": torch.int32}
        torch._dynamo.config.cache_size_limit = 1 << 12
        # Windows of f32 are computed in f32 by both, and cuDNN may try what is fastest.
        torch.backends.cudnn.allow_tf32, torch.backends.cudnn.benchmark = False, True

    def make_inputs(self, work):
        torch = self.torch
        return [torch.randn(shape, device="cuda").to(self.types[dtype]) if self.types[dtype].is_floating_point
                else torch.randint(0, work.bound or 100, shape, device="cuda", dtype=self.types[dtype])
                for shape, dtype in work.inputs]

    def function(self, work, weight=None, bias=None):
        F, columns = self.torch.nn.functional, work.columns
        if weight is None:
            weight = self.torch.randn(columns, device="cuda").to(self.types[work.dtype])
            bias = self.torch.randn_like(weight)
        return {
            "gelu": lambda x: F.gelu(x), "softmax": lambda x: self.torch.softmax(x, -1),
            "layernorm": lambda x: F.layer_norm(x, (columns,), weight, bias),
            "rmsnorm": lambda x: F.rms_norm(x, (columns,), weight),
            "rowsum": lambda x: x.sum(1), "colsum": lambda x: x.sum(0), "transpose": lambda x: x.t().contiguous(),
        }.get(work.op)

    def gradient(self, work):
        """Only the backward part: the forward's statistics are given, as in a training step."""
        torch = self.torch
        weight = torch.randn(work.columns, device="cuda").to(self.types[work.dtype])
        bias = torch.randn_like(weight)

        def step(x, dy, mean, rstd):
            return torch.ops.aten.native_layer_norm_backward(dy, x, (work.columns,), mean, rstd, weight, bias,
                                                             [True, True, True])
        return step, lambda x: torch.ops.aten.native_layer_norm(x, (work.columns,), weight, bias, 1e-5)[1:]

    def time(self, work, compiled):
        torch = self.torch
        if work.function:
            step = work.function(torch)
            return self.time_graph(torch.compile(step) if compiled else step,
                                   [self.make_inputs(work) for _ in range(work.sets)])
        x = [torch.randn(work.rows, work.columns, device="cuda").to(self.types[work.dtype]) for _ in range(work.sets)]
        if work.op == "layernorm_vjp":
            step, statistics_of = self.gradient(work)
            argument_sets = [(a, torch.randn_like(a), *statistics_of(a)) for a in x]
        else:
            step, argument_sets = self.function(work), [(a,) for a in x]
        if compiled:
            step = torch.compile(step)
        return self.time_graph(step, argument_sets)

    def time_if_captured(self, work, compiled):
        """None, and a line of why, where torch does what no graph can hold."""
        try:
            return self.time(work, compiled)
        except self.torch.AcceleratorError as error:
            print(f"{work.name}: torch: {str(error).splitlines()[0]}", file=sys.stderr)
            self.torch.cuda.synchronize()
            return None

    def time_graph(self, step, argument_sets):
        torch = self.torch
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            for arguments in argument_sets[:3]:
                step(*arguments)
        torch.cuda.synchronize()
        calls = len(argument_sets) * max(1, 32 // len(argument_sets))
        graph, results = torch.cuda.CUDAGraph(), []
        with torch.cuda.graph(graph):
            for i in range(calls):
                # Kept, so that each call writes to memory of its own.
                results.append(step(*argument_sets[i % len(argument_sets)]))
        return self.time_replays(graph, calls)

    def time_replays(self, graph, calls):
        torch, times = self.torch, []
        for i in range(25):
            begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            begin.record()
            graph.replay()
            end.record()
            torch.cuda.synchronize()
            if i >= 5:
                times.append(begin.elapsed_time(end) * 1e3 / calls)
        return statistics.median(times)


def time_jax_calls(function, sets, jax):
    """All calls are one program."""
    calls = jax.jit(lambda values: [jax.lax.optimization_barrier(function(value)) for value in values])
    jax.block_until_ready(calls(sets))
    rounds, times = max(1, 32 // len(sets)), []
    for _ in range(9):
        begin = time.perf_counter()
        results = [calls(sets) for _ in range(rounds)]
        jax.block_until_ready(results)
        times.append((time.perf_counter() - begin) * 1e6 / (rounds * len(sets)))
        del results
    return statistics.median(times)


def time_jax_family(work):
    if not work.jax_function:
        return None
    import jax
    key = jax.random.key(0)
    ((shape, dtype),) = work.inputs

    def make(i):
        words = jax.random.bits(jax.random.fold_in(key, i), shape)
        if dtype == "ui32":
            return words
        return jax.random.normal(jax.random.fold_in(key, i), shape, {"f32": jax.numpy.float32}[dtype])
    return time_jax_calls(work.jax_function(jax), [make(i) for i in range(work.sets)], jax)


def time_jax(work):
    if work.function:
        return time_jax_family(work)
    import jax
    import jax.numpy as jnp
    dtype = {"f32": jnp.float32, "bf16": jnp.bfloat16}[work.dtype]
    key = jax.random.key(0)
    weight = jax.random.normal(key, (work.columns,), dtype)

    def layer_norm(x):
        wide = x.astype(jnp.float32)
        centred = wide - wide.mean(-1, keepdims=True)
        scaled = centred * jax.lax.rsqrt((centred * centred).mean(-1, keepdims=True) + 1e-5)
        return scaled.astype(dtype) * weight + weight

    def rms_norm(x):
        wide = x.astype(jnp.float32)
        return (wide * jax.lax.rsqrt((wide * wide).mean(-1, keepdims=True) + 1e-6)).astype(dtype) * weight

    function = {"gelu": lambda x: jax.nn.gelu(x, approximate=False), "softmax": jax.nn.softmax, "layernorm": layer_norm,
                "rmsnorm": rms_norm, "rowsum": lambda x: x.sum(1), "colsum": lambda x: x.sum(0),
                "transpose": lambda x: jax.lax.optimization_barrier(x.T)}.get(work.op)
    if not function:
        return None
    sets = [jax.random.normal(jax.random.fold_in(key, i), (work.rows, work.columns), dtype) for i in range(work.sets)]
    return time_jax_calls(function, sets, jax)


def time_steps():
    """Microseconds of a step of logistic regression by torch.compile, in a graph of one step and of a hundred."""
    import torch
    rows, features = 10000, 100
    x = torch.randn(rows, features, device="cuda")
    y = (x @ torch.randn(features, device="cuda") > 0).float()
    w = torch.zeros(features, device="cuda")

    def step():
        w.sub_(0.1 * (x.t() @ (torch.sigmoid(x @ w) - y)) / rows)

    compiled = torch.compile(step)
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for _ in range(5):
            compiled()
    torch.cuda.synchronize()
    times = []
    for steps in (1, 100):
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            for _ in range(steps):
                compiled()
        samples = []
        for _ in range(9):
            torch.cuda.synchronize()
            begin = time.perf_counter()
            for _ in range(2000 // steps):
                graph.replay()
            torch.cuda.synchronize()
            samples.append((time.perf_counter() - begin) * 1e6 / (2000 // steps * steps))
        times.append(statistics.median(samples))
    return times


def run_steps(args):
    module = args.folder / "logistic_regression.vmfb"
    done = subprocess.run([args.xbench, module, "--function=step", "--json", "--warm-up=0.2", "--duration=1"],
                          capture_output=True, text=True, check=True)
    ours = 1e6 / json.loads(done.stdout)["calls_per_s"]
    one, hundred = time_steps()
    print(f"\n## Logistic regression\n\n10000 x 100: ours {ours:.2f} us a step, one step a launch ({1e6 / ours:.0f} steps/s); "
          f"torch.compile in a graph of one step {one:.2f} us ({one / ours:.2f}x), of 100 steps {hundred:.2f} us "
          f"({hundred / ours:.2f}x)", file=args.output, flush=True)


def warm_all(args, works):
    torch = Torch()
    index, count = (int(part) for part in args.share.split("/"))
    for work in works[index::count]:
        if work.is_compiled and (work.function or torch.function(work)):
            torch.time(work, compiled=True)
        time_jax(work)


def print_section(args, title, works, torch, ours_of):
    out = args.output
    print(f"\n## {title}\n\n| workload | ours, us | GB/s | torch eager | torch.compile | JAX | best peer / ours |\n"
          "|---|---|---|---|---|---|---|", file=out)
    ratios = []
    for work in works:
        ours = ours_of.time(work)
        # A gradient is given the forward's statistics, which torch.compile would compute.
        is_compiled = "compile" in args.peers and work.is_compiled and (work.function or work.op != "layernorm_vjp")
        peers = [torch.time_if_captured(work, compiled=False) if "eager" in args.peers else None,
                 torch.time_if_captured(work, compiled=True) if is_compiled else None,
                 time_jax(work) if "jax" in args.peers else None]
        known = [peer for peer in peers if peer]
        ratios.append(min(known) / ours if known else float("nan"))
        cells = " | ".join(f"{peer:.1f}" if peer else "-" for peer in peers)
        print(f"| {work.name} | {ours:.1f} | {work.bytes / ours * 1e-3:.0f} | {cells} | {ratios[-1]:.2f} |", file=out, flush=True)
    print(f"\nGeometric mean of best peer / ours {statistics.geometric_mean(ratios):.2f}, least {min(ratios):.2f}.", file=out, flush=True)


def run_all(args, works):
    torch = Torch()
    ours_of = Ours(args, torch)
    sections = {}
    for work in works:
        sections.setdefault(work.section or "Main shapes", []).append(work)
    for title, members in sections.items():
        print_section(args, title, members, torch, ours_of)
    if re.search(args.only, "logistic_regression"):
        run_steps(args)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("compile", "warm", "run"))
    parser.add_argument("--folder", type=pathlib.Path)
    parser.add_argument("--xcompile", default="build/dev/bin/xcompile")
    parser.add_argument("--library", default="build/dev/lib/libxcr.so")
    parser.add_argument("--xbench", default="build/dev/bin/xbench")
    parser.add_argument("--target", default="cuda:sm_90a")
    parser.add_argument("--only", default="")
    parser.add_argument("--share", default="0/1")
    parser.add_argument("--output", type=argparse.FileType("w"), default=sys.stdout)
    parser.add_argument("--peers", default="eager,compile,jax", type=lambda text: text.split(","))
    args = parser.parse_args()
    if args.what != "warm" and not args.folder:
        parser.error("expected --folder=DIR")
    every = [*list_work(), *memory_families.list_families(), *memory_sweep.list_sweep(), *window_families.list_windows()]
    works = [work for work in every if re.search(args.only, work.name)]
    {"compile": compile_all, "warm": warm_all, "run": run_all}[args.what](args, works)


if __name__ == "__main__":
    main()
