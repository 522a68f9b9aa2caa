#!/usr/bin/env python3
"""Shapes that nobody tuned, drawn from a seed: products beside cuBLAS; rows, columns and permutations beside torch.

    drawn_shapes.py build --build=build/dev --out=DIR [--tag=NAME]     compiles the modules; needs no GPU
    drawn_shapes.py run --out=DIR --lib=libxcr.so [--tags=A,B]         checks and times them; needs torch

Sides of products are log-uniform from 16 to 16,384, and 60 % of them are rounded to multiples of 8; types are bf16, f16 and
TF32, layouts nn, nt and tn. `--tag` names a compiler or its flags (those of --flags): several can be timed in one run, the last of
them is "ours". Launches are in one CUDA graph over inputs that are rotated past the L2 cache; the median of some replays
counts, the shorter of two times in turn. `run` checks each result first, prints each shape, then the geometric means.
"""
import argparse
import concurrent.futures
import gc
import json
import math
import os
import pathlib
import random
import re
import statistics
import subprocess
import sys
import time

import matmul
from memory_families import BYTES, Work, permute, tensor

LEAST, MOST, ALIGNED = 16, 16384, 0.6
ELEMENTS = 1 << 26 # of an operand of rows and permutations, at most


def draw_side(draws, least=LEAST, most=MOST):
    side = round(math.exp(draws.uniform(math.log(least), math.log(most))))
    return max(8, round(side / 8) * 8) if draws.random() < ALIGNED else side


def draw_products(seed, count):
    """Names of workloads as matmul.py writes them."""
    draws = random.Random(seed)
    for _ in range(count):
        m, n, k = (draw_side(draws) for _ in range(3))
        yield f"{draws.choice(('bf16', 'f16', 'tf32'))}_{m}x{n}x{k}_{draws.choice(('nn', 'nt', 'tn'))}"


def reduce_rows(kind, shape, axis, dtype):
    x, kept = tensor(shape, dtype), tuple(size for dim, size in enumerate(shape) if dim != axis)
    name = f"{kind}_{'rows' if axis == 1 else 'columns'}_{shape[0]}x{shape[1]}_{dtype}"
    function = {"sum": lambda torch: lambda x: x.sum(axis), "max": lambda torch: lambda x: x.amax(axis)}[kind]
    return Work(name, [(shape, dtype)], [(kept, dtype)], f"%r0 = array.reduce {kind}, %0 axes = [{axis}] : {x} -> {tensor(kept, dtype)}", function)


def softmax(shape, axis, dtype):
    return Work(f"softmax_{'rows' if axis == 1 else 'columns'}_{shape[0]}x{shape[1]}_{dtype}", [(shape, dtype)], [(shape, dtype)],
                f"%r0 = array.softmax %0 axis = {axis} : {tensor(shape, dtype)}", lambda torch: lambda x: x.softmax(axis))


def layer_norm(shape, dtype):
    x, c, column = tensor(shape, dtype), tensor(shape[1:], dtype), (shape[1:], dtype)
    return Work(f"layernorm_rows_{shape[0]}x{shape[1]}_{dtype}", [(shape, dtype), column, column], [(shape, dtype)],
                f"%r0 = array.layer_norm %0 scale(%1 : {c}) bias(%2 : {c}) axis = 1 epsilon = 1.0e-5 : {x}",
                lambda torch: lambda x, w, b: torch.nn.functional.layer_norm(x, shape[1:], w, b))


def draw_rows(seed, count):
    draws = random.Random(seed)
    for _ in range(count):
        dtype, kind = draws.choice(("f32", "bf16", "f16")), draws.choice(("rows", "rows", "columns", "transpose", "permute"))
        if kind == "permute":
            shape, order = [draw_side(draws, 4, 512) for _ in range(draws.choice((3, 4)))], None
            while math.prod(shape) > ELEMENTS:
                shape[shape.index(max(shape))] //= 2
            while order is None or order == sorted(order):
                order = draws.sample(range(len(shape)), len(shape))
            yield permute(tuple(shape), tuple(order), dtype)
            continue
        first = draw_side(draws, 16, 1 << 20)
        shape = first, draw_side(draws, 16, max(32, min(1 << 20, ELEMENTS // first)))
        if kind == "transpose":
            yield permute(shape, (1, 0), dtype)
        elif kind == "columns":
            yield draws.choice((lambda: reduce_rows("sum", shape, 0, dtype), lambda: reduce_rows("max", shape, 0, dtype), lambda: softmax(shape, 0, dtype)))()
        else:
            yield draws.choice((lambda: reduce_rows("sum", shape, 1, dtype), lambda: reduce_rows("max", shape, 1, dtype), lambda: softmax(shape, 1, dtype),
                                lambda: layer_norm(shape, dtype)))()


def list_works(args):
    """Each drawn shape once: its name, program, and Work or workload of matmul.py."""
    works = {}
    for name in [*args.shapes, *draw_products(args.seed, args.products)]:
        if name not in works:
            works[name] = matmul.mlir(matmul.parse_workload(name)[1]), matmul.parse_workload(name)[1]
    for work in draw_rows(args.seed, args.rows):
        works[work.name] = work.text, work
    return [(name, *rest) for name, rest in works.items() if re.search(args.filter, name)]


def build(args):
    folder = pathlib.Path(args.out)
    folder.mkdir(parents=True, exist_ok=True)

    def compile_one(name, text, _):
        source, module = folder / f"{name}.mlir", folder / f"{name}.{args.tag}.vmfb"
        source.write_text(text)
        done = subprocess.run([f"{args.build}/bin/xcompile", source, "-o", module, "--target=cuda:sm_90a", "-j", "1", "--report=json", *args.flags],
                              capture_output=True, text=True)
        source.unlink()
        if done.returncode:
            return name, {"error": done.stderr.strip()[-300:]}
        kernels = json.loads(done.stdout[done.stdout.index("["):])[0]["kernels"]
        return name, {"kernels": [(kernel["variants"][0]["strategy"], kernel["variants"][0].get("reason", "")) for kernel in kernels]}

    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        said = dict(pool.map(lambda item: compile_one(*item), list_works(args)))
    (folder / f"{args.tag}.json").write_text(json.dumps(said, indent=0))
    wrong = [f"{name}: {entry['error']}" for name, entry in said.items() if "error" in entry]
    print(f"{len(said)} shapes, {len(wrong)} refused", *wrong, sep="\n")


class Bench:
    """Times modules and their peers on torch's current GPU."""

    def __init__(self, torch, args):
        import xcr_torch
        self.torch, self.args, self.folder, self.queues = torch, args, pathlib.Path(args.out), {}
        self.runtime = xcr_torch.Runtime(args.lib)
        self.types = {"bf16": torch.bfloat16, "f16": torch.float16, "f32": torch.float32, "tf32": torch.float32}

    def queue(self):
        native = self.torch.cuda.current_stream().cuda_stream
        if native not in self.queues:
            self.queues[native] = self.runtime.stream(native)
        return self.queues[native]

    def tensors(self, typed):
        """Random ones; the generator fills f32, and the narrow types from that."""
        return [(self.torch.randn(*shape, device="cuda").to(self.types[dtype]), dtype) for shape, dtype in typed]

    def product(self, work):
        """Operands, the result, the peer, and the exact result and tolerance of the first operands."""
        torch, (dtype, _, m, n, k, layout, _) = self.torch, work
        kind = matmul.ELEMENTS[dtype]
        typed = [((m, k) if layout[0] == "n" else (k, m), kind), ((k, n) if layout[1] == "n" else (n, k), kind)]

        def exact(inputs):
            torch.backends.cuda.matmul.allow_tf32 = False
            wide = torch.float64 if k > 8192 and m * n < 1 << 22 else torch.float32
            (a, _), (b, _) = inputs
            found = (a.to(wide) if layout[0] == "n" else a.to(wide).mT) @ (b.to(wide) if layout[1] == "n" else b.to(wide).mT)
            torch.backends.cuda.matmul.allow_tf32 = dtype == "tf32"
            return found
        peer = matmul.find_peer(torch, work)
        return typed, [((m, n), kind)], lambda inputs, outputs: peer((inputs[0][0], inputs[1][0], None, outputs[0][0])), exact, 1e-3 if dtype == "tf32" else 5e-3

    def memory(self, work):
        function = work.function(self.torch)

        def peer(inputs, outputs):
            self.kept = function(*(value for value, _ in inputs))
        return work.inputs, work.outputs, peer, lambda inputs: function(*(value.float() for value, _ in inputs)), work.tolerance

    def time(self, name, work):
        """Microseconds of torch and of each tag; a tag whose module is wrong or missing has none."""
        torch = self.torch
        typed, results, peer, exact, tolerance = self.memory(work) if isinstance(work, Work) else self.product(work)
        moved = sum(math.prod(shape) * BYTES[dtype] for shape, dtype in typed + results)
        sets = [(self.tensors(typed), [(torch.empty(shape, device="cuda", dtype=self.types[dtype]), dtype) for shape, dtype in results])
                for _ in range(max(2, min(16, int(150e6 / moved) + 1)))]
        want, sides, images = exact(sets[0][0]), {"torch": lambda values: peer(*values)}, {}
        calls = []
        for tag in self.args.tags:
            path = self.folder / f"{name}.{tag}.vmfb"
            if not path.exists():
                continue
            image = path.read_bytes()
            if image in images.values():
                sides[tag] = sides[next(other for other, bytes in images.items() if bytes == image)]
                continue
            images[tag] = image
            instance = self.runtime.instance(path)
            bound = {id(values): self.runtime.call(instance, *values) for values in sets}
            calls += [("call", call) for call in bound.values()] + [("instance", instance)]
            for value, _ in sets[0][1]:
                value.fill_(float("nan"))
            self.runtime.launch(bound[id(sets[0])], self.queue())
            torch.cuda.synchronize()
            off = float((sets[0][1][0][0].double() - want.double()).norm() / want.double().norm())
            if not off <= tolerance:
                print(f"WRONG {name}, {tag}: off by {off}, relatively", flush=True)
                continue
            sides[tag] = lambda values, bound=bound: self.runtime.launch(bound[id(values)], self.queue())
        del want
        times = dict.fromkeys(sides, math.inf)
        for _ in range(2):
            once = {}
            for side, launch in sides.items():
                if launch not in once:
                    once[launch] = matmul.time_graph(torch, launch, sets, self.args.replays)
                times[side] = min(times[side], once[launch])
        for kind, handle in calls:
            self.runtime.release(kind, handle)
        return times


def summarize(rows, tags):
    """Geometric means of torch / ours, and the shapes that are behind."""
    for kind, least in (("product", 0.9), ("memory", 0.95)):
        for tag in tags:
            found = {name: row["torch"] / row[tag] for name, row in rows.items() if row["kind"] == kind and tag in row}
            if found:
                behind = sorted((ratio, name) for name, ratio in found.items() if ratio < least)
                print(f"{kind}, {tag}: {len(found)} shapes, geometric mean {math.exp(statistics.fmean(map(math.log, found.values()))):.3f}, "
                      f"{len(behind)} below {least}: " + ", ".join(f"{name} {ratio:.2f}" for ratio, name in behind))


def run(args):
    import torch
    torch.manual_seed(args.seed)
    torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False
    torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = False
    begin, rows, bench = time.monotonic(), {}, Bench(torch, args)
    out = pathlib.Path(os.environ.get("OUT", args.out)) / "drawn.json"
    gc.freeze() # each capture of a graph collects garbage
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, seed {args.seed}", flush=True)
    works = list_works(args)
    random.Random(args.seed).shuffle(works) # what is cut off for want of time is not of one kind
    for name, _, work in works:
        if time.monotonic() - begin > args.seconds:
            print(f"{len(works) - len(rows)} shapes left out for want of time")
            break
        times = bench.time(name, work)
        rows[name] = {"kind": "memory" if isinstance(work, Work) else "product", **{side: round(us, 2) for side, us in times.items()}}
        print(f"{name:40} torch {times['torch']:9.1f}  " + "  ".join(f"{tag} {times[tag]:9.1f} ({times['torch'] / times[tag]:.2f})" for tag in args.tags if tag in times), flush=True)
        out.write_text(json.dumps(rows))
    summarize(rows, args.tags)
    print(f"{time.monotonic() - begin:.0f} s")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, fromfile_prefix_chars="@")
    parser.add_argument("command", choices=("build", "run"))
    parser.add_argument("shapes", nargs="*", metavar="PRODUCT", help="products beside those drawn, as matmul.py names them")
    parser.add_argument("--build", default="build/dev")
    parser.add_argument("--out", required=True)
    parser.add_argument("--lib", default="build/dev/lib/libxcr.so")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--products", type=int, default=200)
    parser.add_argument("--rows", type=int, default=60)
    parser.add_argument("--filter", default="")
    parser.add_argument("--tag", default="ours")
    parser.add_argument("--tags", default=["ours"], type=lambda text: text.split(","))
    parser.add_argument("--flags", default=[], type=str.split, help="of xcompile")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--replays", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=1e9)
    args = parser.parse_intermixed_args()
    (build if args.command == "build" else run)(args)


if __name__ == "__main__":
    sys.exit(main())
