#!/usr/bin/env python3
"""Reductions over the rows of matrix products beside torch.compile, and beside the product alone, in one run on a GPU.

    product_rows.py build --xcompile=PROGRAM --out=DIR [--tag=NAME]     compiles the modules; needs no GPU
    product_rows.py run --out=DIR --library=libxcr.so [--tags=A,B]      checks and times them; needs torch

`--tag` names a compiler: modules of several of them, before and after a change, can be timed in one run. Launches are in one
CUDA graph over inputs that are rotated past the L2 cache; medians of 20 replays.
"""
import argparse
import math
import pathlib
import subprocess
import sys
import time

SHAPES = ((8192, 8192, 1024), (4096, 4096, 1024), (8192, 2048, 2048))
# Reductions, in the words of both sides; torch's functions get the product and accumulate as ours do.
KINDS = {
    "product": ("", [], lambda torch, y: [y]),
    "squares": ("%q = array.mul %f, %f : WIDE\n  %r0 = array.reduce sum, %q axes = [1] : WIDE -> ROW", ["ROW"],
                lambda torch, y: [y.float().square().sum(1)]),
    "max": ("%r0 = array.reduce max, %f axes = [1] : WIDE -> ROW", ["ROW"], lambda torch, y: [y.float().amax(1)]),
    "both": ("%q = array.mul %f, %f : WIDE\n  %r0 = array.reduce sum, %q axes = [1] : WIDE -> ROW\n"
             "  %s = array.abs %f : WIDE\n  %r1 = array.reduce max, %s axes = [1] : WIDE -> ROW", ["ROW", "ROW"],
             lambda torch, y: [y.float().square().sum(1), y.float().abs().amax(1)]),
}


def works():
    for m, n, k in SHAPES:
        yield f"product_{m}x{n}x{k}", m, n, k, "product", True
        for kind in ("squares", "max", "both"):
            for with_result in (False, True):
                yield f"{kind}{'_and_product' if with_result else ''}_{m}x{n}x{k}", m, n, k, kind, with_result


def mlir(m, n, k, kind, with_result):
    body, results, _ = KINDS[kind]
    y, wide, row = f"tensor<{m}x{n}xbf16>", f"tensor<{m}x{n}xf32>", f"tensor<{m}xf32>"
    types = [row for _ in results] + ([y] if with_result else [])
    names = [f"%r{i}" for i in range(len(results))] + (["%y"] if with_result else [])
    convert = f"%f = array.convert %y : {y} -> {wide}\n  " if results else ""
    return (f"func.func @main(%a: tensor<{m}x{k}xbf16>, %b: tensor<{k}x{n}xbf16>) -> ({', '.join(types)}) {{\n"
            f"  %y = array.matmul %a, %b : (tensor<{m}x{k}xbf16>, tensor<{k}x{n}xbf16>) -> {y}\n"
            f"  {convert}{body.replace('WIDE', wide).replace('ROW', row)}\n  return {', '.join(names)} : {', '.join(types)}\n}}\n")


def build(args):
    folder = pathlib.Path(args.out)
    folder.mkdir(parents=True, exist_ok=True)
    for name, *work in works():
        source = folder / f"{name}.mlir"
        source.write_text(mlir(*work))
        done = subprocess.run([args.xcompile, source, "-o", folder / f"{name}.{args.tag}.vmfb", "--target=cuda:sm_90a", "--report"],
                              check=True, capture_output=True, text=True)
        (folder / f"{name}.{args.tag}.txt").write_text(done.stdout + done.stderr)


def run(args):
    import torch

    import matmul
    import xcr_torch
    folder = pathlib.Path(args.out)
    torch.manual_seed(0)
    runtime = xcr_torch.Runtime(args.library)
    queues = {}

    def queue():
        native = torch.cuda.current_stream().cuda_stream
        if native not in queues:
            queues[native] = runtime.stream(native)
        return queues[native]

    print("| workload (bf16, M x N x K) | torch.compile, us | " + " | ".join(f"{tag}, us" for tag in args.tags) + " | torch / ours |")
    print("|---|---|" + "---|" * (len(args.tags) + 1))
    for name, m, n, k, kind, with_result in works():
        count = max(2, math.ceil(150e6 / (2 * (m * k + k * n + m * n))))
        inputs = [(torch.randn(m, k, device="cuda").bfloat16(), torch.randn(k, n, device="cuda").bfloat16()) for _ in range(count)]
        function = KINDS[kind][2]
        step = lambda a, b: function(torch, a @ b) + ([a @ b] if with_result and kind != "product" else [])
        results = len(KINDS[kind][1])
        sides = {}
        for tag in args.tags:
            instance = runtime.instance(folder / f"{name}.{tag}.vmfb")
            sets = []
            for a, b in inputs:
                outputs = [(torch.full((m,), float("nan"), device="cuda"), "f32") for _ in range(results)]
                if with_result:
                    outputs.append((torch.full((m, n), float("nan"), device="cuda", dtype=torch.bfloat16), "bf16"))
                call = runtime.call(instance, [(a, "bf16"), (b, "bf16")], outputs)
                sets.append((call, outputs))
            runtime.launch(sets[0][0], queue())
            torch.cuda.synchronize()
            for (got, _), want in zip(sets[0][1], step(*inputs[0])):
                off = float((got.double() - want.double()).norm() / want.double().norm())
                if not off < 5e-3:
                    sys.exit(f"{name}, {tag}: the result is off by {off}, relatively")
            sides[tag] = (lambda values: runtime.launch(values[0], queue())), sets

        def peer(a, b):
            y = a @ b
            return function(torch, y) + ([y] if with_result and kind != "product" else [])
        torch._dynamo.reset()
        compiled = torch.compile(peer, mode="max-autotune-no-cudagraphs" if args.autotune else None)
        kept = []

        def launch_peer(values):
            kept.append(compiled(*values))
            del kept[:-4]
        sides["torch"] = launch_peer, inputs
        times = dict.fromkeys(sides, math.inf)
        for _ in range(2):
            for side, (launch, sets) in sides.items():
                time.sleep(0.1)
                times[side] = min(times[side], matmul.time_graph(torch, launch, sets, 20))
        ours = times[args.tags[-1]]
        print(f"| {name} | {times['torch']:.1f} | " + " | ".join(f"{times[tag]:.1f}" for tag in args.tags) +
              f" | {times['torch'] / ours:.2f} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=("build", "run"))
    parser.add_argument("--out", required=True)
    parser.add_argument("--xcompile", default="build/dev/bin/xcompile")
    parser.add_argument("--library", default="build/dev/lib/libxcr.so")
    parser.add_argument("--tag", default="ours")
    parser.add_argument("--tags", default=["ours"], type=lambda text: text.split(","))
    parser.add_argument("--autotune", action="store_true", help="torch.compile looks for the fastest kernels")
    args = parser.parse_args()
    (build if args.command == "build" else run)(args)


if __name__ == "__main__":
    main()
