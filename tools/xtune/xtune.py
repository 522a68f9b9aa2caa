#!/usr/bin/env python3
#===- xtune.py - Finds the fastest layouts of a model's matrix products -------===#
#
# Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===--------------------------------------------------------------------------===#
"""Finds the fastest layouts of a model's matrix products: on wgmma, on mma.sync, and in f32 and f64 on ordinary arithmetic.

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

L2_BYTES = 50 << 20
BYTES = {"f16": 2, "bf16": 2, "tf32": 4, "f32": 4, "f64": 8, "i8": 1, "u8": 1, "i32": 4}


def parse_key(key):
    """The key of a product without what is fused to it, and what it consists of: element types of operands and result, batch, m, n,
    k and layout. None for a key of anything else, of two operand types or of symbolic sizes."""
    arch, kind, *rest = key.split()
    if kind != "matmul":
        return None
    types, sizes, layout = rest[:3]
    operands, out = types.split(">")
    first, second = operands.split("*")
    if first != second or first not in BYTES or "?" in sizes:
        return None
    return " ".join((arch, kind, types, sizes, layout)), (first, out, *map(int, sizes.split("x")), layout)


def variants_of(report):
    """Every variant of every kernel in a report of xcompile."""
    return [variant for target in json.loads(report) for kernel in target["kernels"] for variant in kernel["variants"]]


def find_products(args):
    """Keys of the model's products, without what is fused to them, and the strategy of each and what it consists of. A product that
    has no key of its own, as the parts of a long sum, is timed as the plain one whose lines it takes."""
    command = [f"{args.bin}/xcompile", args.model, "-o", f"{args.out}/model.vmfb", f"--target=cuda:{args.arch}", "--report=json"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr.strip())
    products = {}
    for variant in variants_of(done.stdout):
        parsed = parse_key(variant["key"]) if "key" in variant else None
        if parsed:
            products[parsed[0]] = (variant["strategy"], parsed[1])
    return products


def make_module(product):
    name, out, batch, m, n, k, layout = product
    dtype = {"tf32": "f32", "u8": "ui8"}.get(name, name)
    out = "ui32" if name == "u8" else out
    lead = f"{batch}x" if batch > 1 else ""
    a = f"tensor<{lead}{f'{m}x{k}' if layout[0] == 'n' else f'{k}x{m}'}x{dtype}>"
    b = f"tensor<{lead}{f'{k}x{n}' if layout[1] == 'n' else f'{n}x{k}'}x{dtype}>"
    c = f"tensor<{lead}{m}x{n}x{out}>"
    flags = (" transpose_a" if layout[0] == "t" else "") + (" transpose_b" if layout[1] == "t" else "")
    flags += " allow_tf32" if name == "tf32" else ""
    return f"func.func @main(%a: {a}, %b: {b}) -> {c} {{\n  %p = array.matmul %a, %b{flags} : ({a}, {b}) -> {c}\n  return %p : {c}\n}}\n"


def compile_candidate(args, key, product, name, config):
    """The candidate as a row of DIR/candidates.json, or why there is none."""
    base = pathlib.Path(args.out) / name
    pathlib.Path(f"{base}.mlir").write_text(make_module(product))
    pathlib.Path(f"{base}.tuning").write_text(f"{key} = {config}\n")
    command = [f"{args.bin}/xcompile", f"{base}.mlir", "-o", f"{base}.vmfb", f"--target=cuda:{args.arch}", f"--tuning={base}.tuning",
               "-j", "1", "--report=json"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        return f"{name}: {done.stderr.strip()[-300:]}"
    taken = [variant for variant in variants_of(done.stdout) if variant["config"] == config]
    if not taken:
        return f"{name}: {config} was not taken"
    spills = max(variant.get("spills", 0) for variant in taken)
    if spills:
        return f"{name}: {config} spills {spills} bytes"
    return {"key": key, "product": product, "config": config, "module": f"{name}.vmfb"}


def build(args):
    from candidates import candidates, double_candidates, fma_candidates, mma_candidates
    out = pathlib.Path(args.out)
    out.mkdir(parents=True, exist_ok=True)
    jobs = []
    for number, (key, (strategy, product)) in enumerate(find_products(args).items()):
        dtype, result, batch, m, n, k, layout = product
        if strategy == "matmul-wgmma":
            found = candidates(batch, m, n, k, layout, args.candidates, output_bytes=BYTES[result], element_bytes=BYTES[dtype])
        elif strategy == "matmul-mma" and dtype == "f64":
            found = double_candidates(m, n, layout, args.candidates)
        elif strategy == "matmul-mma":
            found = mma_candidates(batch, m, n, args.candidates, BYTES[dtype])
        else:
            can_copy = dtype in ("f32", "f64") and args.arch != "sm_75"
            found = fma_candidates(batch, m, n, k, args.candidates, max(4, BYTES[dtype]), can_copy)
        for index, config in enumerate(found):
            jobs.append((key, product, f"p{number}_{index}", config))
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
    dtype, out, batch, m, n, k, _ = row["product"]
    set_bytes = batch * (BYTES[dtype] * (m * k + k * n) + BYTES[out] * m * n)
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
