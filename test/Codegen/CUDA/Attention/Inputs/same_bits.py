#===- same_bits.py - A kernel's results under other orders of blocks ----------===#
#
# Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===--------------------------------------------------------------------------===#
"""same_bits.py MODEL --driver=libcuda_sim.so INPUT...: compiles a model of one function for both kinds of tensor cores, runs it on the stand-in with
one and with several threads and with other orders of its kernels, and says for each target whether all outputs have the same bits."""
import argparse
import hashlib
import os
import pathlib
import subprocess
import tempfile

ORDERS = ((1, 0), (1, 7), (4, 0), (4, 3), (3, 5))  # threads of the stand-in, seed of the order in which a graph's nodes run


def run(args, module, target, threads, seed, folder):
    """A digest of the outputs."""
    environment = dict(os.environ, XCR_CUDA_LIBRARY=args.driver, PTXSIM_ARCH=target, PTXSIM_THREADS=str(threads), PTXSIM_GRAPH_SEED=str(seed))
    outputs = [folder / f"{name}.npy" for name in args.output]
    subprocess.run(["xrun", module, "--device=cuda:0?launch=graph", *(f"--input={value}" for value in args.input),
                    *(f"--output={name}=@{path}" for name, path in zip(args.output, outputs))], env=environment, check=True)
    return hashlib.sha256(b"".join(path.read_bytes() for path in outputs)).hexdigest()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("model")
    parser.add_argument("input", nargs="+")
    parser.add_argument("--driver", required=True)
    parser.add_argument("--output", action="append")
    args = parser.parse_args()
    for target in ("sm_80", "sm_90a"):
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(scratch)
            module = folder / "model.vmfb"
            subprocess.run(["xcompile", args.model, "-o", module, f"--target=cuda:{target}", "--ptxas=off"], check=True, capture_output=True)
            digests = {run(args, module, target, *order, folder) for order in ORDERS}
            print(f"{target}: {len(digests)} different of {len(ORDERS)} runs")


main()
