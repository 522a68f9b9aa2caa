#!/usr/bin/env python3
"""Measures what launching costs on a GPU, beside the bare driver, torch and JAX, in one run.

    peers_cuda_launch.py --compile=DIR [--build=build/dev]                 where the compiler is; needs no GPU
    peers_cuda_launch.py --models=DIR --program=xc-bench-launch [--output=FILE.md]   where the GPU, torch and jax are

The first makes the modules, the second runs them. Rows: what was measured, ours, the peer, their ratio, and the figure
to reach. Chains are 200 dependent ops on 1024 elements, each a kernel of its own on every side: ours is compiled with
--no-fusion, torch's is a CUDA graph of eager ops, JAX's has an optimization_barrier behind each op. One launch after
another, waiting every 50; medians of 40 rounds.
"""
import argparse
import datetime
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
LENGTH = 200
TYPE = "tensor<1024xf32>"
# Each is a kernel of its own in the module of 20 kernels.
TWENTY = ["sin", "cos", "exp2", "tanh", "abs", "sqrt", "exp", "log1p", "erf", "expm1", "neg", "floor", "ceil", "round", "sign",
          "tan", "log2", "rsqrt", "log", "relu"]


def main_of(lines, results):
    types = ", ".join([TYPE] * len(results))
    return "\n".join([f"func.func @main(%x: {TYPE}) -> ({types}) {{", *lines, f"  return {', '.join(results)} : {types}", "}", ""])


def chain(op, operand=""):
    values = ["%x"] + [f"%v{i}" for i in range(LENGTH)]
    lines = [f"  %one = array.constant dense<1.0> : {TYPE}"] if operand else []
    lines += [f"  {values[i + 1]} = array.{op} {values[i]}{operand} : {TYPE}" for i in range(LENGTH)]
    return main_of(lines, values[-1:])


def fan():
    """Every kernel reads the input."""
    values = ["%x"] + [f"%v{i}" for i in range(LENGTH)]
    return main_of([f"  {values[i + 1]} = array.add {values[i]}, %x : {TYPE}" for i in range(LENGTH)], values[-1:])


def twenty():
    values = ["%x"] + [f"%v{i}" for i in range(len(TWENTY))]
    lines = [f"  {values[i + 1]} = array.{op} {values[i]} : {TYPE}" for i, op in enumerate(TWENTY)]
    return main_of(lines, values[-1:])


def compile_models(directory, build):
    directory.mkdir(parents=True, exist_ok=True)
    sources = {"chain_add": chain("add", ", %one"), "chain_sin": chain("sin"), "fan": fan(), "twenty": twenty()}
    for name, text in sources.items():
        (directory / f"{name}.mlir").write_text(text)
        # Kernels for sm_80 do not begin before those in front of them have ended.
        for suffix, target in (("", "sm_90a"),) + ((("_sm80", "sm_80"),) if name.startswith("chain") else ()):
            subprocess.run([build / "bin" / "xcompile", directory / f"{name}.mlir", "-o", directory / f"{name}{suffix}.vmfb",
                            f"--target=cuda:{target}", "--no-fusion"], check=True)


def throughput(launch, wait):
    """Microseconds a launch."""
    for _ in range(20):
        launch()
    wait()
    samples = []
    for _ in range(40):
        begin = time.perf_counter()
        for _ in range(50):
            launch()
        wait()
        samples.append((time.perf_counter() - begin) / 50 * 1e6)
    return statistics.median(samples)


def measure_torch():
    import torch
    x = torch.rand(1024, device="cuda")

    def measure(step):
        def run(value):
            for _ in range(LENGTH):
                value = step(value)
            return value
        side = torch.cuda.Stream()
        with torch.cuda.stream(side):
            run(x)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            run(x)
        return throughput(graph.replay, torch.cuda.synchronize)
    return {"chain_add": measure(lambda v: v + 1.0), "chain_sin": measure(torch.sin)}, f"torch {torch.__version__}"


def measure_jax():
    os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"
    import jax
    import jax.numpy as jnp
    x = jax.random.uniform(jax.random.key(0), (1024,))

    def measure(step):
        def run(value):
            for _ in range(LENGTH):
                value = jax.lax.optimization_barrier(step(value))
            return value
        compiled, last = jax.jit(run), []

        def launch():
            last[:] = [compiled(x)]
        return throughput(launch, lambda: jax.block_until_ready(last[0]))
    return {"chain_add": measure(lambda v: v + 1.0), "chain_sin": measure(jnp.sin)}, f"JAX {jax.__version__}"


def describe_machine():
    query = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"], check=True,
                           capture_output=True, text=True).stdout.split("\n")[0]
    return query.replace(", ", ", driver ")


def row(what, ours, peer, ratio, reach, is_reached):
    return f"| {what} | {ours} | {peer} | {ratio} | {reach} | {'yes' if is_reached else 'no'} |"


def table(ours, torch_times, torch_name, jax_times, jax_name):
    rows = ["| what | ours | peer, same run | ratio | to reach | reached |", "|---|---|---|---|---|---|"]
    for name, words in (("chain_add", "add"), ("chain_sin", "sin")):
        best = min(torch_times[name], jax_times[name])
        peer = f"{torch_name}, graph: {torch_times[name]:.1f} us; {jax_name}: {jax_times[name]:.1f} us"
        # Code for sm_80 knows no early launches, so that its graph has plain edges.
        for edges, mine, least in (("programmatic", ours[name + "_us"], 1.3), ("plain", ours[name + "_sm80_us"], 1.0)):
            rows.append(row(f"chain of {LENGTH} {words}, 1024 elements, {edges} edges", f"{mine:.1f} us", peer, f"{best / mine:.2f}x",
                            f">= {least}x", best >= least * mine))
    for name, words in (("twenty", "20 kernels"), ("chain_add", f"{LENGTH} kernels")):
        mine, bare = ours[f"host_{name}_us"], ours[f"host_{name}_bare_us"]
        rows.append(row(f"host cost of a bound call, {words}", f"{mine:.2f} us", f"bare cuGraphLaunch: {bare:.2f} us",
                        f"+{mine - bare:.2f} us", "<= +1 us", mine - bare <= 1))
    mine, bare = ours["patch_us"], ours["patch_bare_us"]
    rows.append(row(f"another input for {ours['patches']} kernels", f"{mine:.1f} us", f"bare SetParams: {bare:.1f} us",
                    f"{mine / bare:.2f}x", "<= 1.2x", mine <= 1.2 * bare))
    rows.append(row("file to first result, 20 kernels with cubin", f"{ours['first_result_ms']:.1f} ms",
                    f"again: {ours['first_result_again_ms']:.1f} ms", "-", "<= 20 ms", ours["first_result_ms"] <= 20))
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=ROOT / "build" / "dev", type=pathlib.Path)
    parser.add_argument("--compile", type=pathlib.Path, metavar="DIR")
    parser.add_argument("--models", type=pathlib.Path, metavar="DIR")
    parser.add_argument("--program", type=pathlib.Path, help="xc-bench-launch")
    parser.add_argument("--commit", default="?", help="what to say that was measured")
    parser.add_argument("--output", type=pathlib.Path, metavar="FILE.md")
    args = parser.parse_args()
    if args.compile:
        return compile_models(args.compile, args.build)
    if not args.models or not args.program:
        parser.error("expected --compile, or --models and --program")
    # Ours twice, around the peers: what else the machine does should meet all.
    runs = [json.loads(subprocess.run([args.program, args.models], check=True, capture_output=True, text=True).stdout)]
    peers = [*measure_torch(), *measure_jax()]
    runs.append(json.loads(subprocess.run([args.program, args.models], check=True, capture_output=True, text=True).stdout))
    lines = ["# Launching on a GPU, beside its peers", "",
             f"{datetime.date.today()}, commit {args.commit}, {describe_machine()}. Made by `benchmarks/peers_cuda_launch.py`, which says how.",
             "Ours ran before and after the peers: two tables.", ""]
    for run in runs:
        lines += [*table(run, *peers), ""]
    text = "\n".join(lines)
    print(text)
    if args.output:
        args.output.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
