#!/usr/bin/env python3
"""From a process's begin to its first answer: a model whose parameters are in a file, on a GPU.

    models.py compile --build=build/dev --out=DIR bert_b1s128               compiles the model
    cold_start.py --modules=DIR --xrun=build/dev/bin/xrun [MODEL...]        measures it; needs torch, for random parameters and the bus

Each start is a process of its own, xrun with random inputs, that loads the module and the parameters, calls main once and reads
the results back. The file is in the page cache. `driver` is a process that lists the devices and ends, which includes making a context for
each. `bus` is what torch copies from pinned memory, of as many bytes. The aim is 0.3 s and the upload at 80 % of that rate.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import time

from model_peers import make_weights
from model_programs import MODELS
from models import save

FIXED_SECONDS, BUS_SHARE = 0.3, 0.8


def time_process(command, folder, count):
    """Seconds of `count` runs, one after the other."""
    times = []
    for _ in range(count):
        begin = time.perf_counter()
        subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
        times.append(time.perf_counter() - begin)
    return times


def measure_bus(torch, size):
    """Bytes a second from pinned memory to the GPU."""
    source, target = torch.empty(size, dtype=torch.uint8).pin_memory(), torch.empty(size, dtype=torch.uint8, device="cuda")
    times = []
    for _ in range(5):
        begin = time.perf_counter()
        target.copy_(source, non_blocking=True)
        torch.cuda.synchronize()
        times.append(time.perf_counter() - begin)
    return size / min(times)


def describe_input(net, value):
    shape = "x".join(map(str, net.shapes[value]))
    return f"--input=zeros:{shape}xi32" if net.dtypes[value] == "i32" else f"--input=random:{shape}xbf16:1"


def measure(torch, name, args):
    folder, net = pathlib.Path(args.modules).resolve(), MODELS[name][0]()[0]
    save(torch, make_weights(torch, net), folder / net.scope)
    size = os.path.getsize(folder / net.scope)
    bus = measure_bus(torch, size)
    torch.cuda.empty_cache()
    xrun = str(pathlib.Path(args.xrun).resolve())
    command = [xrun, f"{name}.vmfb", "--device=cuda", *(describe_input(net, value) for value in net.arguments)]
    starts = time_process(command, folder, args.count)
    driver = time_process([xrun, "--list-devices"], folder, args.count)
    os.remove(folder / net.scope)
    row = dict(model=name, megabytes=round(size / 1e6), start_s=round(statistics.median(starts), 3), least_s=round(min(starts), 3),
               driver_s=round(statistics.median(driver), 3), bus_gb_s=round(bus / 1e9, 1), aim_s=round(FIXED_SECONDS + size / bus / BUS_SHARE, 3))
    print(json.dumps(row), flush=True)


def main():
    import torch
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", default=["bert_b1s128"], metavar="MODEL")
    parser.add_argument("--modules", required=True)
    parser.add_argument("--xrun", default="build/dev/bin/xrun")
    parser.add_argument("--count", type=int, default=7)
    args = parser.parse_args()
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}", flush=True)
    with torch.no_grad():
        for name in args.models:
            measure(torch, name, args)


if __name__ == "__main__":
    main()
