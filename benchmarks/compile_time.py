#!/usr/bin/env python3
"""How long xcompile takes and how much memory it needs, over models and over graphs of growing size.

    compile_time.py --build=build/dev [--target=cpu] [--sizes=1000,3000,10000] [--skip-models]

Prints a table in Markdown with the commit; benchmarks/results/compile-time.md keeps one.
"""
import argparse
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent


def graph(count):
    """`count` ops in blocks of ten as networks have them: a matrix product, a bias, activations, a norm, residual sums."""
    generator = random.Random(1)
    lines, values = [], ["%x"]
    shape, weight, vector = "tensor<16x32xf32>", "tensor<32x32xf32>", "tensor<32xf32>"

    def add(text):
        values.append(f"%v{len(values)}")
        lines.append(f"    {values[-1]} = {text}")
        return values[-1]

    while len(lines) < count:
        x = values[-1]
        y = add(f"array.matmul {x}, %w : ({shape}, {weight}) -> {shape}")
        y = add(f"array.add {y}, %b : ({shape}, {vector}) -> {shape}")
        y = add(f"array.{generator.choice(['relu', 'tanh', 'gelu', 'sigmoid'])} {y} : {shape}")
        y = add(f"array.mul {y}, {x} : {shape}")
        y = add(f"array.layer_norm {y} scale(%b : {vector}) bias(%b : {vector}) axis = 1 epsilon = 1.0e-5 : {shape}")
        y = add(f"array.softmax {y} axis = 1 : {shape}")
        y = add(f"array.add {y}, {x} : {shape}")
        y = add(f"array.sub {y}, {values[max(0, len(values) - 25)]} : {shape}")
        y = add(f"array.exp {y} : {shape}")
        add(f"array.min {y}, {x} : {shape}")
    return (f"func.func @main(%x: {shape}, %w: {weight}, %b: {vector}) -> {shape} {{\n" + "\n".join(lines[:count]) +
            f"\n    return %v{count} : {shape}\n}}\n")


def transformer(layers, hidden, heads, tokens, feed_forward):
    """BERT's encoder in f16: all layers, with weights as external parameters."""
    lines, number = [], 0
    x_type = f"tensor<{tokens}x{hidden}xf16>"
    per_head = f"tensor<{heads}x{tokens}x{hidden // heads}xf16>"
    scores = f"tensor<{heads}x{tokens}x{tokens}xf16>"

    def add(text):
        nonlocal number
        number += 1
        lines.append(f"    %v{number} = {text}")
        return f"%v{number}"

    def parameter(name, *shape):
        type = "tensor<" + "".join(f"{size}x" for size in shape) + "f16>"
        return add(f'array.parameter "weights"::"{name}" : {type}'), type

    def linear(x, name, columns_in, columns_out):
        w, w_type = parameter(name + ".w", columns_in, columns_out)
        b, b_type = parameter(name + ".b", columns_out)
        out = f"tensor<{tokens}x{columns_out}xf16>"
        y = add(f"array.matmul {x}, {w} : (tensor<{tokens}x{columns_in}xf16>, {w_type}) -> {out}")
        return add(f"array.add {y}, {b} : ({out}, {b_type}) -> {out}")

    def norm(x, name):
        g, g_type = parameter(name + ".g", hidden)
        b, b_type = parameter(name + ".b", hidden)
        return add(f"array.layer_norm {x} scale({g} : {g_type}) bias({b} : {b_type}) axis = 1 epsilon = 1.0e-5 : {x_type}")

    def split(x):
        y = add(f"array.reshape {x} : {x_type} -> tensor<{tokens}x{heads}x{hidden // heads}xf16>")
        return add(f"array.transpose {y} permutation = [1, 0, 2] : tensor<{tokens}x{heads}x{hidden // heads}xf16> -> {per_head}")

    x = "%x"
    for layer in range(layers):
        q, k, v = (split(linear(x, f"{layer}.{part}", hidden, hidden)) for part in "qkv")
        s = add(f"array.matmul {q}, {k} transpose_b : ({per_head}, {per_head}) -> {scores}")
        p = add(f"array.softmax {s} axis = 2 : {scores}")
        y = add(f"array.matmul {p}, {v} : ({scores}, {per_head}) -> {per_head}")
        y = add(f"array.transpose {y} permutation = [1, 0, 2] : {per_head} -> tensor<{tokens}x{heads}x{hidden // heads}xf16>")
        y = add(f"array.reshape {y} : tensor<{tokens}x{heads}x{hidden // heads}xf16> -> {x_type}")
        y = linear(y, f"{layer}.o", hidden, hidden)
        x = norm(add(f"array.add {y}, {x} : {x_type}"), f"{layer}.n1")
        y = linear(x, f"{layer}.up", hidden, feed_forward)
        y = add(f"array.gelu {y} : tensor<{tokens}x{feed_forward}xf16>")
        y = linear(y, f"{layer}.down", feed_forward, hidden)
        x = norm(add(f"array.add {y}, {x} : {x_type}"), f"{layer}.n2")
    return f"func.func @main(%x: {x_type}) -> {x_type} {{\n" + "\n".join(lines) + f"\n    return {x} : {x_type}\n}}\n"


def compile_once(build, source, target, flags=()):
    """(seconds, peak MiB, output bytes), or what the compiler said."""
    with tempfile.TemporaryDirectory() as scratch:
        path = pathlib.Path(scratch) / "model.mlir"
        path.write_text(source)
        out = pathlib.Path(scratch) / "model.vmfb"
        begin = time.monotonic()
        process = subprocess.Popen([str(build / "bin" / "xcompile"), str(path), "-o", str(out), f"--target={target}", *flags],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        said = process.stderr.read().decode(errors="replace")
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            return said.splitlines()[0] if said else f"code {process.returncode}"
        return time.monotonic() - begin, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, out.stat().st_size


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=HERE.parent / "build" / "dev", type=pathlib.Path)
    parser.add_argument("--target", default="cpu")
    parser.add_argument("--sizes", default="1000,3000,10000", help="ops of the growing graphs")
    parser.add_argument("--skip-models", action="store_true")
    args = parser.parse_args()
    models = {}
    if not args.skip_models:
        for path in sorted((HERE.parent / "samples").glob("*/*.mlir")):
            models[f"samples/{path.parent.name}/{path.name}"] = path.read_text()
        models["BERT-base encoder, 12 layers, 128 tokens, f16"] = transformer(12, 768, 12, 128, 3072)
    for size in args.sizes.split(","):
        if size:
            models[f"graph of {size} ops"] = graph(int(size))
    commit = subprocess.run(["git", "-C", str(HERE), "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()
    print(f"Commit {commit}, target {args.target}, {os.cpu_count()} cores.\n")
    print("| program | ops | seconds | CPU seconds | per op, ms | peak MiB | file, KiB |\n|---|---|---|---|---|---|---|", flush=True)
    failed = False
    for name, source in models.items():
        ops = sum(" = array." in line for line in source.splitlines())
        result = compile_once(args.build, source, args.target)
        if isinstance(result, str):
            print(f"| {name} | {ops} | {result} | | | | |", flush=True)
            failed = True
            continue
        seconds, cpu, peak, size = result
        print(f"| {name} | {ops} | {seconds:.2f} | {cpu:.2f} | {1e3 * cpu / max(1, ops):.2f} | {peak:.0f} | {size / 1024:.0f} |",
              flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())
