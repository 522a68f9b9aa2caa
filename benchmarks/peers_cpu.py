#!/usr/bin/env python3
"""Measures xcompile on a CPU beside what a user would pick instead, in one run on one machine.

    peers_cpu.py [--build=build/dev] [--samples=build/samples] [--threads=2] [--only=matmul,...] [--output=FILE.md]

Rows: what was measured, ours, the peer, their ratio, and the figure to reach. Peers are NumPy on OpenBLAS (checked at
run time), the copy bandwidth of as many threads, a float64 reference. Rounds of ours and the peer alternate, and
medians are compared, so that what else the machine does meets both.
"""
import argparse
import concurrent.futures
import datetime
import json
import math
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "test" / "e2e"))

if __name__ == "__main__" and "XC_BENCH_THREADS" not in os.environ:
    # OpenBLAS reads its number of threads when it is loaded.
    threads = next((a.split("=")[1] for a in sys.argv if a.startswith("--threads=")), "2")
    os.environ.update(XC_BENCH_THREADS=threads, OPENBLAS_NUM_THREADS=threads)
    os.execv(sys.executable, [sys.executable, *sys.argv])

import ctypes  # noqa: E402

import numpy as np  # noqa: E402

import tensors  # noqa: E402
import xcr  # noqa: E402

ROWS, COLUMNS = 4096, 1024


def median_times(functions, seconds=3.0, rounds_at_least=7):
    """The median time of each function; they take turns."""
    for function in functions:
        function()
    samples = [[] for _ in functions]
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(samples[0]) < rounds_at_least:
        for function, times in zip(functions, samples):
            begin = time.perf_counter()
            function()
            times.append(time.perf_counter() - begin)
    return [float(np.median(times)) for times in samples]


class Bench:
    def __init__(self, args, scratch):
        self.args, self.scratch = args, pathlib.Path(scratch)
        self.bin = args.build / "bin"
        self.library = xcr.Library(str((args.build / "lib" / "libxcr.so").resolve()))
        self.device, self.device_name = xcr.open_device(self.library, f"cpu:{args.threads}")
        self.rows = []

    def add(self, what, ours, peer, ratio, reach, good):
        self.rows.append((what, ours, peer, ratio, reach, "yes" if good else "no"))
        print(" | ".join(self.rows[-1]), flush=True)

    def compile(self, name, text, *flags):
        source, module = self.scratch / f"{name}.mlir", self.scratch / f"{name}.vmfb"
        source.write_text(text)
        subprocess.run([self.bin / "xcompile", source, "-o", module, "--target=cpu:native", *flags], check=True)
        return module

    def bound(self, module, *inputs):
        """A function that runs `main` once with these inputs bound, and its first output's values."""
        instance = xcr.Instance(self.library, self.device, module)
        call = self.library.create("call_create", instance.instance.handle, xcr.StringView.of("main"), None)
        buffers = [instance.upload(tensor) for tensor in inputs]
        for i, buffer in enumerate(buffers):
            self.library.check("call_set_input", call.handle, ctypes.c_uint32(i), buffer.handle)
        # The raw call, so that ctypes costs as little as it can.
        run = self.library.lib.xcr_call_run

        def once(keep=(instance, buffers)):
            if run(call.handle):
                raise RuntimeError("the call failed")

        run.restype = ctypes.c_void_p
        once()
        output = instance.download(ctypes.c_void_p(self.library.lib.xcr_call_output(call.handle, 0)))[1]
        return once, output

    # ---- The rows -----------------------------------------------------------------------------------------------------

    def matmul(self):
        n = 1024
        type_ = f"tensor<{n}x{n}xf32>"
        module = self.compile("matmul", f"""module {{
  func.func @main(%a: {type_}, %b: {type_}) -> {type_} {{
    %c = array.matmul %a, %b : ({type_}, {type_}) -> {type_}
    return %c : {type_}
  }}
}}
""")
        a, b = (tensors.random("f32", (n, n), seed) for seed in (1, 2))
        x, y = a.values.astype(np.float32), b.values.astype(np.float32)
        blas = openblas(self.args.threads)
        once, output = self.bound(module, a, b)
        error = np.abs(output - a.values @ b.values).max()
        assert error < 1e-2, f"the product is wrong by {error}"
        out = np.empty_like(x)
        ours, peer = median_times([once, lambda: np.matmul(x, y, out=out)], 6)
        flops = 2 * n ** 3
        self.add(f"f32 matmul {n}^3, {self.args.threads} threads", f"{flops / ours * 1e-9:.1f} GFLOP/s",
                 f"NumPy, {blas}: {flops / peer * 1e-9:.1f} GFLOP/s", f"{peer / ours:.2f}x", ">= 0.6x", peer / ours >= 0.6)

    def rows_of_memory(self):
        x = tensors.random("f32", (ROWS, COLUMNS), 3, -4, 4)
        scale, bias = tensors.random("f32", (COLUMNS,), 4), tensors.random("f32", (COLUMNS,), 5)
        values = x.values.astype(np.float32)
        g, h = scale.values.astype(np.float32), bias.values.astype(np.float32)
        type_, vector = f"tensor<{ROWS}x{COLUMNS}xf32>", f"tensor<{COLUMNS}xf32>"

        def softmax():
            e = values - values.max(1, keepdims=True)
            np.exp(e, out=e)
            e /= e.sum(1, keepdims=True)
            return e

        def layer_norm():
            c = values - values.mean(1, keepdims=True)
            c /= np.sqrt((c * c).mean(1, keepdims=True) + np.float32(1e-5))
            c *= g
            c += h
            return c

        def gelu():
            # Products, since NumPy's power is slow, and in place, since new arrays are.
            inner = values * values
            inner *= np.float32(0.044715)
            inner += np.float32(1)
            inner *= values
            inner *= np.float32(math.sqrt(2 / math.pi))
            np.tanh(inner, out=inner)
            inner += np.float32(1)
            inner *= values
            inner *= np.float32(0.5)
            return inner

        def gelu_erf():
            # erf from five products and an exponential, absolute error 1.5e-7: Abramowitz and Stegun, 7.1.26.
            z = np.abs(values)
            z *= np.float32(math.sqrt(0.5))
            t = z * np.float32(0.3275911)
            t += np.float32(1)
            np.reciprocal(t, out=t)
            series = t * np.float32(1.061405429)
            for coefficient in (-1.453152027, 1.421413741, -0.284496736, 0.254829592):
                series += np.float32(coefficient)
                series *= t
            z *= z
            np.negative(z, out=z)
            np.exp(z, out=z)
            series *= z
            np.subtract(np.float32(1), series, out=series)
            np.copysign(series, values, out=series)
            series += np.float32(1)
            series *= values
            series *= np.float32(0.5)
            return series

        bodies = {
            "softmax": (f"%r = array.softmax %x axis = 1 : {type_}", softmax, 0.6),
            "layer_norm": (f"%r = array.layer_norm %x scale(%g : {vector}) bias(%h : {vector}) axis = 1 epsilon = 1.0e-5 : {type_}",
                           layer_norm, 0.6),
            "gelu (tanh)": (f"%r = array.gelu %x approximate = tanh : {type_}", gelu, 0.8),
            "gelu (erf)": (f"%r = array.gelu %x : {type_}", gelu_erf, 0.8),
        }
        copy = copier(values, self.args.threads)
        moved = 2 * values.nbytes
        for name, (body, reference, share) in bodies.items():
            module = self.compile(name.split()[0], f"""module {{
  func.func @main(%x: {type_}, %g: {vector}, %h: {vector}) -> {type_} {{
    {body}
    return %r : {type_}
  }}
}}
""")
            once, output = self.bound(module, x, scale, bias)
            error = np.abs(output - reference()).max()
            assert error < 1e-3, f"{name} is wrong by {error}"
            ours, copied, peer = median_times([once, copy, reference])
            self.add(f"{name} {ROWS}x{COLUMNS} f32, {self.args.threads} threads", f"{moved / ours * 1e-9:.1f} GB/s",
                     f"copy {moved / copied * 1e-9:.1f} GB/s; NumPy {moved / peer * 1e-9:.2f} GB/s",
                     f"{100 * copied / ours:.0f} % of copy, {peer / ours:.1f}x NumPy",
                     f">= {100 * share:.0f} % of copy, or >= 3x NumPy",
                     copied / ours >= share or peer / ours >= 3)

    def digits(self):
        module = self.scratch / "digits.vmfb"
        subprocess.run([self.bin / "xcompile", ROOT / "samples/digits/digits.mlir", "-o", module, "--target=cpu"], check=True)
        program = [self.args.samples / "digits" / "digits", module, ROOT / "samples/digits/data/digits.csv", "--device=cpu"]
        accuracies, losses = [], None
        for seed in range(1, 6):
            flags = [f"--seed={seed}"] + (["--print-steps"] if seed == 1 else [])
            out = subprocess.run([*map(str, program), *flags], check=True, capture_output=True, text=True).stdout
            accuracies.append(float(re.search(r"^accuracy: (\S+) %$", out, re.M).group(1)))
            if seed == 1:
                losses = [float(loss) for loss in re.findall(r"^step \d+: loss (\S+)$", out, re.M)]
        median = float(np.median(accuracies))
        self.add("digits, fixed split, median of 5 seeds", f"{median:.1f} %", f"seeds: {', '.join(map(str, accuracies))}", "-",
                 ">= 97 %", median >= 97)
        want = digits_reference(seed=1, steps=20)
        error = max(abs(a - b) / b for a, b in zip(losses, want))
        self.add("digits, first 20 losses", f"last {losses[19]:.7f}", f"float64 NumPy: {want[19]:.7f}",
                 f"largest relative error {error:.1e}", "<= 1e-5", error <= 1e-5)

    def encoder(self):
        source, module = self.scratch / "encoder.mlir", self.scratch / "encoder.vmfb"
        subprocess.run([sys.executable, ROOT / "samples/transformer_encoder/generate.py", f"--output={source}"], check=True)
        begin = time.perf_counter()
        process = subprocess.Popen([self.bin / "xcompile", source, "-o", module, "--target=cpu,cuda:sm_90a", "-j2"])
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - begin
        process.returncode = os.waitstatus_to_exitcode(status)
        assert process.returncode == 0, f"xcompile ended with {process.returncode}"
        tables = json.loads(subprocess.run([self.bin / "xdump", module, "--json"], check=True, capture_output=True, text=True).stdout)
        kernels = [len(executable["exports"]) for executable in tables["executables"]]
        dispatches = [len(plan["dispatches"]) for plan in tables["functions"][0]["plans"]]
        memory = usage.ru_maxrss / 1024
        self.add("transformer encoder (12 x 128 x 768), compile for cpu + sm_90a, -j2", f"{seconds:.1f} s, {memory:.0f} MB",
                 f"{dispatches} dispatches run {kernels} kernels", "-", "<= 20 s, <= 2 GB", seconds <= 20 and memory <= 2000)

    def library_size(self):
        stripped = self.scratch / "libxcr.so"
        shutil.copy((self.args.build / "lib" / "libxcr.so").resolve(), stripped)
        subprocess.run(["strip", stripped], check=True)
        size = stripped.stat().st_size
        self.add("libxcr.so, stripped", f"{size / 1e6:.3f} MB", "-", "-", "<= 1 MB", size <= 1_000_000)

    def host_cost(self):
        type_ = "tensor<4x4xf32>"
        chain = "\n".join(f"    %{i + 1} = array.matmul %{i}, %w : ({type_}, {type_}) -> {type_}" for i in range(10))
        module = self.compile("chain", f"""module {{
  func.func @main(%0: {type_}, %w: {type_}) -> {type_} {{
{chain}
    return %10 : {type_}
  }}
}}
""")
        report = json.loads(subprocess.run([self.bin / "xbench", module, "--json", f"--device=cpu:{self.args.threads}"], check=True,
                                           capture_output=True, text=True).stdout)
        commands = sum(kernel["commands"] for kernel in report["kernels"])
        latency = report["latency_s"]["median"] * 1e6
        self.add(f"a bound call of {commands} tiny kernels", f"{latency:.2f} us from launch to end",
                 f"kernels timed one by one, clock included: {report['kernel_s'] * 1e6:.2f} us", "-", "<= 5 us", latency <= 5 and commands >= 10)


def openblas(threads):
    """What NumPy multiplies with; an error unless it is OpenBLAS on |threads| threads."""
    np.ones((64, 64), np.float32) @ np.ones((64, 64), np.float32)
    path = next((line.split()[-1] for line in open("/proc/self/maps") if "openblas" in line), None)
    if not path:
        sys.exit("peers_cpu.py: NumPy does not use OpenBLAS here (install libopenblas0-pthread)")
    blas = ctypes.CDLL(path)
    blas.openblas_get_config.restype = ctypes.c_char_p
    if blas.openblas_get_num_threads() != threads:
        sys.exit(f"peers_cpu.py: OpenBLAS runs {blas.openblas_get_num_threads()} threads, not {threads}")
    config = blas.openblas_get_config().decode().split()
    return f"{config[0]} {config[1]} {blas.openblas_get_num_threads()} threads"


def copier(values, threads):
    """A function that copies |values| with as many threads, a part each."""
    target = np.empty_like(values)
    parts = list(zip(np.array_split(target, threads), np.array_split(values, threads)))
    pool = concurrent.futures.ThreadPoolExecutor(threads - 1) if threads > 1 else None

    def copy():
        waiting = [pool.submit(np.copyto, *part) for part in parts[1:]]
        np.copyto(*parts[0])
        for part in waiting:
            part.result()

    return copy


class SplitMix:
    """The generator of samples/digits."""

    def __init__(self, seed):
        self.state = seed

    def next(self):
        mask = (1 << 64) - 1
        self.state = (self.state + 0x9E3779B97F4A7C15) & mask
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        return z ^ (z >> 31)

    def uniform(self, limit, count):
        return np.array([np.float32(limit * (2 * ((self.next() >> 11) * 2.0 ** -53) - 1)) for _ in range(count)], np.float64)


def digits_reference(seed, steps, epochs=30, batch=64):
    """The losses of the first steps of samples/digits, in float64, written from the formulas."""
    data = np.loadtxt(ROOT / "samples/digits/data/digits.csv", delimiter=",")
    data = data[np.arange(len(data)) % 3 != 0]
    x, labels = data[:, :64] / 16, data[:, 64].astype(int)
    random = SplitMix(seed)
    w1 = random.uniform(math.sqrt(6 / 64), 64 * 128).reshape(64, 128)
    w2 = random.uniform(math.sqrt(6 / 128), 128 * 10).reshape(128, 10)
    state = [w1, np.zeros(128), w2, np.zeros(10)]
    momentum = [np.zeros_like(s) for s in state]
    order = list(range(len(x)))
    losses, batches = [], -(-len(x) // batch)
    for step in range(steps):
        if step % batches == 0:
            for i in range(len(order), 1, -1):
                j = random.next() % i
                order[i - 1], order[j] = order[j], order[i - 1]
        part = order[step % batches * batch:(step % batches + 1) * batch]
        rows, want = x[part], labels[part]
        z = rows @ state[0] + state[1]
        h = np.maximum(z, 0)
        logits = h @ state[2] + state[3]
        log_p = logits - logits.max(1, keepdims=True)
        log_p -= np.log(np.exp(log_p).sum(1, keepdims=True))
        losses.append(-log_p[np.arange(len(part)), want].mean())
        d = np.exp(log_p)
        d[np.arange(len(part)), want] -= 1
        d /= len(part)
        dz = (d @ state[2].T) * (z > 0)
        rate = 0.1 * (1 - step / (epochs * batches))
        for i, gradient in enumerate((rows.T @ dz, dz.sum(0), h.T @ d, d.sum(0))):
            momentum[i] = 0.9 * momentum[i] + gradient + 1e-3 * state[i]
            state[i] = state[i] - rate * momentum[i]
    return losses


def processor():
    for line in open("/proc/cpuinfo"):
        if line.startswith("model name"):
            return line.split(":")[1].strip()
    return platform.machine()


def markdown(bench):
    commit = subprocess.run(["git", "-C", ROOT, "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()
    head = ("what", "ours", "peer, same run", "ratio", "to reach", "reached")
    lines = ["# xcompile on a CPU, beside its peers", "",
             f"{datetime.date.today()}, commit {commit}, {processor()}, {bench.args.threads} of {os.cpu_count()} threads. "
             f"Made by `benchmarks/peers_cpu.py`. Compiled with `--target=cpu:native`; digits for the default CPU, x86-64-v3, "
             f"the encoder for it and sm_90a.", "", "| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in bench.rows]) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=ROOT / "build" / "dev", type=pathlib.Path)
    parser.add_argument("--samples", default=ROOT / "build" / "samples", type=pathlib.Path)
    parser.add_argument("--threads", type=int, default=2)
    names = ("matmul", "rows_of_memory", "digits", "encoder", "library_size", "host_cost")
    parser.add_argument("--only", default=",".join(names), help="which of " + ", ".join(names))
    parser.add_argument("--output", default=ROOT / "benchmarks" / "results" / "cpu.md", type=pathlib.Path)
    args = parser.parse_args()
    unknown = [name for name in args.only.split(",") if name not in names]
    if unknown:
        parser.error(f"unknown row '{unknown[0]}'; known are {', '.join(names)}")
    with tempfile.TemporaryDirectory(prefix="xc-bench-") as scratch:
        bench = Bench(args, scratch)
        print(f"device: {bench.device_name}")
        for name in args.only.split(","):
            try:
                getattr(bench, name)()
            except (AssertionError, OSError, RuntimeError, subprocess.CalledProcessError, xcr.Failure) as failure:
                bench.rows.append((name, f"failed: {failure}", "-", "-", "-", "no"))
                print(f"{name} failed: {failure}", flush=True)
        if args.only == ",".join(names):
            args.output.write_text(markdown(bench))
            print(f"written to {args.output}")
    return any(row[5] == "no" for row in bench.rows)


if __name__ == "__main__":
    sys.exit(main())
