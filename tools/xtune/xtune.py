#!/usr/bin/env python3
#===- xtune.py - Finds the fastest layouts of a model's matrix products -------===#
#
# Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===--------------------------------------------------------------------------===#
"""Finds the fastest layouts of a model's matrix products and convolutions: on wgmma, on mma.sync, and in f32 and f64 on ordinary arithmetic.

    xtune.py build MODEL.mlir --out=DIR [--bin=DIR] [--candidates=N]   compiles them; needs no GPU
    xtune.py run --out=DIR [--bin=DIR] [--device=cuda]                 times them; needs xbench and libxcr only

`build` compiles the model, takes its products from the report, and compiles each in candidate layouts of the strategy that
the compiler chose for it, one module each; with --carry xbench lies beside them, so that DIR can be copied to a machine with a GPU. `run`
times every module over as many sets of operands as exceed the L2 cache, each call the replay of a graph, prints a table
and writes DIR/best.tuning, which xcompile --tuning= reads. Products shorter than the few microseconds that a call takes
on the host seem to differ less than they do.
"""
import argparse
import concurrent.futures
import json
import math
import os
import pathlib
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from windows import Windows  # noqa: E402 (beside this file)

L2_BYTES = 50 << 20
BYTES = {"f16": 2, "bf16": 2, "tf32": 4, "f32": 4, "f64": 8, "i8": 1, "u8": 1, "i32": 4}


class Product:
    """A matrix product of plain operands."""

    def __init__(self, words):
        sizes, self.layout = words
        self.batch, self.m, self.n, self.k = map(int, sizes.split("x"))

    def product(self):
        return self.batch, self.m, self.n, self.k, self.layout

    def sums_pixels(self):
        return False

    def is_copied(self):
        """Whether threads copy the operands ahead of their use where they multiply by ordinary arithmetic."""
        return True

    def bytes_read(self, element_bytes):
        return self.batch * element_bytes * (self.m * self.k + self.k * self.n)

    def bytes_written(self, element_bytes):
        return self.batch * element_bytes * self.m * self.n

    def module(self, name, out):
        dtype = {"tf32": "f32", "u8": "ui8"}.get(name, name)
        out = "ui32" if name == "u8" else out
        lead = f"{self.batch}x" if self.batch > 1 else ""
        m, n, k, layout = self.m, self.n, self.k, self.layout
        a = f"tensor<{lead}{f'{m}x{k}' if layout[0] == 'n' else f'{k}x{m}'}x{dtype}>"
        b = f"tensor<{lead}{f'{k}x{n}' if layout[1] == 'n' else f'{n}x{k}'}x{dtype}>"
        c = f"tensor<{lead}{m}x{n}x{out}>"
        flags = (" transpose_a" if layout[0] == "t" else "") + (" transpose_b" if layout[1] == "t" else "")
        flags += " allow_tf32" if name == "tf32" else ""
        return (f"func.func @main(%a: {a}, %b: {b}) -> {c} {{\n  %p = array.matmul %a, %b{flags} : ({a}, {b}) -> {c}\n"
                f"  return %p : {c}\n}}\n")


# Words of a key behind the types, without what is fused, by its kind; and what they are read by.
KINDS = {"matmul": (2, Product), "conv": (4, Windows)}


def parse_key(key):
    """The key of a product without what is fused to it, element types of operands and result, and what it is. None for a key of anything
    else, of two operand types or of symbolic sizes."""
    arch, kind, types, *rest = key.split()
    if kind not in KINDS:
        return None
    count, read = KINDS[kind]
    operands, out = types.split(">")
    first, second = operands.split("*")
    words = rest[:count]
    if first != second or first not in BYTES or any("?" in word or "%" in word for word in words):
        return None
    return " ".join((arch, kind, types, *words)), (first, out, read(words))


def variants_of(report):
    """Every variant of every kernel in a report of xcompile."""
    return [variant for target in json.loads(report) for kernel in target["kernels"] for variant in kernel["variants"]]


def find_products(args):
    """Keys of the model's products, without what is fused to them, and the strategy of each and what parse_key says of it. A product that
    has no key of its own, as the parts of a long sum, is timed as the plain one whose lines it takes."""
    command = [f"{args.bin}/xcompile", args.model, "-o", f"{args.out}/model.vmfb", f"--target=cuda:{args.arch}", "--report=json", *args.option]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr.strip())
    products = {}
    for variant in variants_of(done.stdout):
        parsed = parse_key(variant["key"]) if "key" in variant else None
        if parsed:
            products[parsed[0]] = (variant["strategy"], parsed[1])
    return products


def compile_candidate(args, key, name, config):
    """The candidate as a row of DIR/candidates.json, or why there is none."""
    base = pathlib.Path(args.out) / name
    dtype, out, product = parse_key(key)[1]
    pathlib.Path(f"{base}.mlir").write_text(product.module(dtype, out))
    pathlib.Path(f"{base}.tuning").write_text(f"{key} = {config}\n")
    command = [f"{args.bin}/xcompile", f"{base}.mlir", "-o", f"{base}.vmfb", f"--target=cuda:{args.arch}", f"--tuning={base}.tuning",
               "-j", "1", "--report=json"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        return f"{name}: {done.stderr.strip().splitlines()[0][-300:]}"
    taken = [variant for variant in variants_of(done.stdout) if variant["config"] == config and variant.get("key") == key]
    if not taken:
        return f"{name}: {config} was not taken for {key}"
    spills = max(variant.get("spills", 0) for variant in taken)
    if spills:
        return f"{name}: {config} spills {spills} bytes"
    return {"key": key, "config": config, "module": f"{name}.vmfb"}


def build(args):
    from candidates import candidates, double_candidates, fma_candidates, mma_candidates
    out = pathlib.Path(args.out)
    out.mkdir(parents=True, exist_ok=True)
    jobs = []
    for number, (key, (strategy, product)) in enumerate(find_products(args).items()):
        dtype, result, problem = product
        batch, m, n, k, layout = problem.product()
        if strategy == "matmul-wgmma":
            found = candidates(batch, m, n, k, layout, args.candidates, output_bytes=BYTES[result], element_bytes=BYTES[dtype],
                               of_pixels=problem.sums_pixels())
        elif strategy == "matmul-mma" and dtype == "f64":
            found = double_candidates(m, n, layout, args.candidates)
        elif strategy == "matmul-mma":
            found = mma_candidates(batch, m, n, args.candidates, BYTES[dtype])
        else:
            can_copy = dtype in ("f32", "f64") and args.arch != "sm_75" and problem.is_copied()
            found = fma_candidates(batch, m, n, k, args.candidates, max(4, BYTES[dtype]), can_copy)
        for index, config in enumerate(found):
            jobs.append((key, f"p{number}_{index}", config))
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        rows = list(pool.map(lambda job: compile_candidate(args, *job), jobs))
    for row in rows:
        if isinstance(row, str):
            print(row, file=sys.stderr)
    rows = [row for row in rows if not isinstance(row, str)]
    if not rows:
        sys.exit(f"xtune: {args.model} has no product of static sizes that {args.arch} computes in several layouts")
    (out / "candidates.json").write_text(json.dumps(rows, indent=1))
    if args.carry:
        for tool in (pathlib.Path(args.bin) / "xbench", *pathlib.Path(args.bin, "..", "lib").resolve().glob("libxcr.so*")):
            shutil.copy(tool, out)
    print(f"{len({row['key'] for row in rows})} products, {len(rows)} candidates")


def time_candidate(args, row):
    """Seconds of a call."""
    dtype, out, product = parse_key(row["key"])[1]
    set_bytes = product.bytes_read(BYTES[dtype]) + product.bytes_written(BYTES[out])
    sets = max(2, min(64, math.ceil(3 * L2_BYTES / set_bytes)))
    folder = pathlib.Path(args.out)
    xbench = folder / "xbench" if (folder / "xbench").exists() else pathlib.Path(args.bin) / "xbench"
    environment = dict(os.environ, LD_LIBRARY_PATH=f"{folder.resolve()}:{os.environ.get('LD_LIBRARY_PATH', '')}")
    done = subprocess.run([xbench, folder / row["module"], f"--device={args.device}", "--json", f"--rotate={sets}",
                           f"--duration={args.seconds}", f"--warm-up={args.seconds / 4}"], capture_output=True, text=True, env=environment)
    if done.returncode:
        sys.exit(done.stderr.strip())
    return 1 / json.loads(done.stdout)["calls_per_s"]


def run(args):
    folder = pathlib.Path(args.out)
    times = {}
    for row in json.loads((folder / "candidates.json").read_text()):
        times.setdefault(row["key"], []).append((time_candidate(args, row), row["config"]))
    lines = []
    for key, found in times.items():
        seconds, config = min(found)
        print(f"{key:60} {seconds * 1e6:10.1f} us, {max(found)[0] / seconds:.2f}x between {len(found)} candidates: {config}")
        lines.append(f"{key} = {config}\n")
    (folder / "best.tuning").write_text("".join(lines))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=("build", "run"))
    parser.add_argument("model", nargs="?")
    parser.add_argument("--out", required=True)
    parser.add_argument("--bin", default=str(pathlib.Path(shutil.which("xcompile") or "build/dev/bin/xcompile").parent))
    parser.add_argument("--arch", default="sm_90a")
    parser.add_argument("--option", action="append", default=[], help="of xcompile for the model, as --option=--gradient=main:w")
    parser.add_argument("--candidates", type=int, default=12)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--carry", action="store_true", help="copy xbench and libxcr to DIR")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--seconds", type=float, default=0.2, help="of each measurement")
    args = parser.parse_args()
    if args.command == "build" and not args.model:
        parser.error("expected a model to take products from")
    return build(args) if args.command == "build" else run(args)


if __name__ == "__main__":
    sys.exit(main())
