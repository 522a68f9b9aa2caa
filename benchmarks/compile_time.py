#!/usr/bin/env python3
"""How long xcompile takes and how much memory it needs, over models and over programs of growing size.

    compile_time.py --build=build/dev [--target=cpu] [--sizes=1000,3000,10000] [--growing=100,300] [--skip-models]

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

import networks

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


def growing(pairs):
    """`pairs` of a concatenation and a softmax over rows whose numbers are symbols: every size is a formula of its own."""
    type, lines, last = "tensor<?x4xf32>", [], "%x"
    for i in range(pairs):
        lines += [f"    %c{i} = array.concatenate {last}, %y axis = 0 : ({type}, {type}) -> {type}",
                  f"    %s{i} = array.softmax %c{i} axis = 0 : {type}"]
        last = f"%s{i}"
    return f"func.func @main(%x: {type}, %y: {type}) -> {type} {{\n" + "\n".join(lines) + f"\n    return {last} : {type}\n}}\n"


def ifs(count):
    """`count` ifs on one condition, one after the other."""
    type, lines, last = "tensor<64x64xf32>", [], "%x"
    for i in range(count):
        lines.append(f"""    %v{i} = array.if %p : tensor<i1> -> ({type}) {{
      %e{i} = array.exp {last} : {type}
      array.yield %e{i} : {type}
    }} else {{
      array.yield {last} : {type}
    }}""")
        last = f"%v{i}"
    return (f"func.func @main(%x: {type}, %p: tensor<i1>) -> {type} {{\n" + "\n".join(lines) + f"\n    return {last} : {type}\n}}\n")


def whiles(count):
    """`count` loops, one after the other."""
    type, lines, last = "tensor<i32>", [], "%x"
    for i in range(count):
        lines.append(f"""    %v{i} = array.while {last} : ({type}) -> ({type}) condition {{
    ^bb0(%a: {type}):
      %m = array.compare lt, %a, %limit : ({type}, {type}) -> tensor<i1>
      array.yield %m : tensor<i1>
    }} body {{
    ^bb0(%a: {type}):
      %m = array.add %a, %one : {type}
      array.yield %m : {type}
    }}""")
        last = f"%v{i}"
    return (f"func.func @main(%x: {type}, %limit: {type}, %one: {type}) -> {type} {{\n" + "\n".join(lines) +
            f"\n    return {last} : {type}\n}}\n")


def calls(count):
    """`count` private functions, each of which calls the one before it."""
    type = "tensor<64x64xf32>"
    functions = [f"func.func private @f0(%x: {type}) -> {type} {{\n  %y = array.exp %x : {type}\n  return %y : {type}\n}}"]
    for i in range(1, count):
        functions.append(f"func.func private @f{i}(%x: {type}) -> {type} {{\n  %0 = func.call @f{i - 1}(%x) : ({type}) -> {type}\n"
                         f"  %y = array.exp %0 : {type}\n  return %y : {type}\n}}")
    return "\n".join(functions) + (f"\nfunc.func @main(%x: {type}) -> {type} {{\n  %0 = func.call @f{count - 1}(%x) : ({type}) -> {type}\n"
                                   f"  return %0 : {type}\n}}\n")


def entries(count):
    """`count` public functions."""
    type = "tensor<64x64xf32>"
    return "\n".join(f"func.func @f{i}(%x: {type}) -> {type} {{\n  %y = array.exp %x : {type}\n  return %y : {type}\n}}"
                     for i in range(count)) + "\n"


SHAPES = {"graph of {} ops": graph, "{} ifs in a row": ifs, "{} whiles in a row": whiles, "chain of {} calls": calls,
          "{} public functions": entries}


def network(write, **sizes):
    """A model in f16, with weights as external parameters."""
    net = networks.Network("f16")
    results = write(net, **sizes)
    return net.program([results] if isinstance(results, str) else results)


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
    parser.add_argument("--sizes", default="1000,3000,10000", help="ops, ifs, whiles or functions of the growing programs")
    parser.add_argument("--growing", default="100,300", help="sizes of chains in which each is a symbol more than the one before")
    parser.add_argument("--skip-models", action="store_true")
    args = parser.parse_args()
    models = {}
    if not args.skip_models:
        for path in sorted((HERE.parent / "samples").glob("*/*.mlir")):
            models[f"samples/{path.parent.name}/{path.name}"] = path.read_text()
        models["BERT-base, 12 layers, 128 tokens, f16"] = network(networks.bert)
        models["ResNet-50, 224 x 224, f16"] = network(networks.resnet)
    for name, write in SHAPES.items():
        for size in args.sizes.split(","):
            if size:
                models[name.format(size)] = write(int(size))
    for size in args.growing.split(","):
        if size:
            models[f"{size} sizes that grow"] = growing(int(size))
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
