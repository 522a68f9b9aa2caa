#===- arch_gate.py - What ptxas makes of kernels on every target --------------===#
#
# Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===--------------------------------------------------------------------------===#
"""Compiles one of each kind of kernel for one target of each generation, and a third of them for each other target that this ptxas knows; the
samples and the encoder for the target that is measured and another one; long rows for each generation; and the memory-bound kernels that are
measured against others. What is chosen is chosen by hashes of names; --all: everything for all targets. Checks what came out: no spills, no warnings,
and no kernel that falls back."""
import argparse
import hashlib
import json
import pathlib
import re
import subprocess
import sys

TARGETS = ("sm_75", "sm_80", "sm_86", "sm_87", "sm_89", "sm_90", "sm_90a", "sm_100a", "sm_103a", "sm_110a", "sm_120a", "sm_121a")
MEASURED = "sm_90a"
FEW_TARGETS = ("sm_80", MEASURED, "sm_120a")
GRADIENTS = ((16, 262144, "bf16"), (1000, 12288, "bf16"), (1000, 12288, "f32"), (4096, 8192, "bf16"), (4096, 2048, "f16"))


def write_encoder(args, folder):
    output = folder / "encoder.mlir"
    generate = pathlib.Path(args.source) / "samples" / "transformer_encoder" / "generate.py"
    subprocess.run([sys.executable, "-B", generate, f"--output={output}", "--weights=splat", "--layers=1"], check=True)
    return output


def write_measured(args, folder):
    """The programs of benchmarks/peers_cuda_memory.py in one module."""
    sys.path.insert(0, str(pathlib.Path(args.source) / "benchmarks"))
    sys.dont_write_bytecode = True
    import peers_cuda_memory as measured
    works = list(measured.list_work())
    for rows, columns, dtype in GRADIENTS:
        whole, column = ((rows, columns), dtype), ((columns,), dtype)
        works.append(measured.Work(f"layernorm_vjp_{rows}x{columns}_{dtype}", [whole, column, whole], [whole, column, column],
                                   measured.layer_norm_gradient(rows, columns, dtype)))
    output = folder / "measured.mlir"
    output.write_text("\n".join(work.text.replace("@main", f"@{work.name}") for work in works))
    return output


def write_optimized(args, folder):
    """The sample that trains, behind the optimiser that it calls."""
    source = pathlib.Path(args.source)
    output = folder / "adamw.mlir"
    output.write_text((source / "share" / "xcompile" / "optimizers" / "adamw.mlir").read_text()
                      + (source / "samples" / "adamw" / "classifier.mlir").read_text())
    return output


def hash_of(*names):
    return int(hashlib.sha256(" ".join(names).encode()).hexdigest(), 16)


def choose_targets(args, model, targets):
    """Those that a program is compiled for."""
    others = [arch for arch in targets if arch != MEASURED]
    chosen = others if args.all else others[hash_of(model.name) % len(others):][:1] if others else []
    return [arch for arch in targets if arch == MEASURED or arch in chosen]


def choose_kinds(args, model, arch, folder):
    """The functions of a module that it is compiled for `arch` with, as a module of their own."""
    functions = re.split(r"^(?=func\.func )", model.read_text(), flags=re.M)[1:]
    chosen = [text for text in functions if args.all or hash_of(re.match(r"func\.func @(\w+)", text)[1], arch) % 3 == 0]
    output = folder / f"{model.stem}_{arch}.mlir"
    output.write_text("".join(chosen or functions[:1]))
    return output


# What programs want beside their text.
FLAGS = {"adamw.mlir": ["--gradient=loss:w1,b1,w2,b2"]}


def check(args, model, targets, output):
    """The problems of one model."""
    done = subprocess.run(["xcompile", model, *FLAGS.get(model.name, ()), "-o", output, "--target=" + ",".join(f"cuda:{arch}" for arch in targets),
                           f"--ptxas={args.ptxas}", "--report=json"], capture_output=True, text=True)
    if done.returncode:
        return [done.stderr.strip()]
    problems = [line for line in done.stderr.splitlines() if "warning" in line or "C75" in line]
    kernels = 0
    for table in json.loads(done.stdout):
        for kernel in table["kernels"]:
            kernels += 1
            if kernel["generic"]:
                problems.append(f"{table['target']}: {kernel['name']} falls back")
            for variant in kernel["variants"]:
                if "registers" not in variant:
                    problems.append(f"{table['target']}: nothing known about {variant['name']}")
                elif variant["spills"]:
                    problems.append(f"{table['target']}: {variant['name']} spills {variant['spills']} bytes: {variant['reason']}")
    print(f"{model.name}: {kernels} kernels")
    return problems


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--source", required=True)
    parser.add_argument("--ptxas", required=True)
    parser.add_argument("--scratch", required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("--all", action="store_true", help="everything for all targets")
    args = parser.parse_args()
    folder = pathlib.Path(args.scratch)
    folder.mkdir(parents=True, exist_ok=True)
    known = re.findall(r"sm_\w+", subprocess.run([args.ptxas, "--help"], capture_output=True, text=True, check=True).stdout)
    targets = [arch for arch in TARGETS if arch in known]
    here = pathlib.Path(__file__).parent
    programs = [write_encoder(args, folder), write_optimized(args, folder),
                *sorted(path for path in (pathlib.Path(args.source) / "samples").glob("*/*.mlir") if path.parent.name != "adamw")]
    kinds = here / "arch_gate.mlir"
    models = [(kinds, [arch for arch in targets if arch in FEW_TARGETS])]
    models += [(choose_kinds(args, kinds, arch, folder), [arch]) for arch in targets if arch not in FEW_TARGETS]
    models += [(model, choose_targets(args, model, targets)) for model in programs]
    if MEASURED in targets:
        models += [(model, [MEASURED]) for model in (here / "arch_gate_rows.mlir", write_measured(args, folder))]
    models.append((here / "arch_gate_long_rows.mlir", [arch for arch in targets if arch in FEW_TARGETS]))
    failed = 0
    for model, archs in models:
        if not re.search(args.only, model.name):
            continue
        for problem in check(args, model, archs, folder / f"{model.stem}.vmfb"):
            failed += 1
            print(f"FAIL {model.name}: {problem}")
    print(f"{len(targets)} targets, {failed} failed")


main()
