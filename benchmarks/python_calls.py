#!/usr/bin/env python3
"""What a call from Python costs beside the same call from C, with a kernel of a few elements.

    python_calls.py --build=build/dev [--repeats=200] [--device=cpu:1] [--module=MODULE.vmfb]

On the CPU device a call runs the kernel, which takes next to nothing. On a CUDA device it launches: a figure is the time until
the call returns, and the device is waited for behind each 100 calls, outside the time. Each figure is the least over repeats,
which other work on the machine disturbs least. Runs a C program that it compiles with cc against the build tree. `--compile`
writes the module only, for a machine without the compiler.
"""
import argparse
import importlib
import os
import pathlib
import subprocess
import sys
import tempfile
import timeit

MODEL = """module {
  func.func @main(%x: tensor<4xf32> {array.name = "x"}) -> (tensor<4xf32> {array.name = "y"}) {
    %y = array.add %x, %x : tensor<4xf32>
    return %y : tensor<4xf32>
  }
}
"""
PROGRAM = r"""
#include <xcr/xcr.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
static void check(xcr_status_t status) {
  if (xcr_is_ok(status)) return;
  fprintf(stderr, "%s\n", xcr_status_message(status).data);
  exit(1);
}
int main(int argc, char **argv) {
  const int64_t shape[] = {4};
  const float x[] = {1, 2, 3, 4};
  xcr_device_t *device; xcr_module_t *module; xcr_instance_t *instance; xcr_buffer_t *input; xcr_call_t *call;
  xcr_buffer_options_t options = XCR_BUFFER_OPTIONS_INIT;
  double best = 1e9;
  options.dtype = XCR_DTYPE_F32; options.rank = 1; options.shape = shape;
  int launches = strncmp(argv[3], "cuda", 4) == 0, calls = launches ? 100 : 1000;
  xcr_stream_t *stream;
  check(xcr_device_create(xcr_string(argv[3]), NULL, &device));
  check(xcr_stream_create(device, NULL, &stream));
  check(xcr_module_load_file(xcr_string(argv[1]), NULL, &module));
  check(xcr_instance_create(device, module, NULL, &instance));
  check(xcr_buffer_create_from_host(device, &options, x, sizeof(x), &input));
  check(xcr_call_create(instance, xcr_string("main"), NULL, &call));
  check(xcr_call_set_input(call, 0, input));
  for (int r = 0; r < atoi(argv[2]); ++r) {
    struct timespec a, b;
    clock_gettime(CLOCK_MONOTONIC, &a);
    for (int i = 0; i < calls; ++i) check(launches ? xcr_call_launch(call, stream) : xcr_call_run(call));
    clock_gettime(CLOCK_MONOTONIC, &b);
    check(xcr_stream_synchronize(stream));
    double us = ((b.tv_sec - a.tv_sec) * 1e9 + (b.tv_nsec - a.tv_nsec)) / 1e3 / calls;
    if (us < best) best = us;
  }
  printf("%.3f\n", best);
  return 0;
}
"""


def seconds_of(call, calls, wait, repeats):
    """The least seconds that a call took."""
    best = float("inf")
    for _ in range(repeats):
        best = min(best, timeit.timeit(call, number=calls) / calls)
        wait()
    return best


def time_in_c(module, device, build, root, repeats, folder):
    source, program = pathlib.Path(folder, "calls.c"), os.path.join(folder, "calls")
    source.write_text(PROGRAM)
    subprocess.run(["cc", "-O2", "-D_GNU_SOURCE", source, "-o", program, f"-I{root / 'runtime' / 'include'}", f"-L{build / 'lib'}", "-lxcr",
                    f"-Wl,-rpath,{build / 'lib'}"], check=True)
    return float(subprocess.run([program, module, str(repeats), device], check=True, capture_output=True, text=True).stdout)


def ways_to_call(xcompile, module, device, torch):
    """Name to call. Each on memory of the device."""
    import numpy as np
    main_, loaded = xcompile.load(module, device=device).main, xcompile.load(module, device=device)
    ways = {}
    if device.startswith("cpu"):
        x, array = np.ones(4, np.float32), loaded.array(np.ones(4, np.float32))
        ways = {"bound call": main_.bind(x), "call, NumPy array": lambda: main_(x), "call, xcompile.Array": lambda: loaded.main(array)}
    if torch:
        tensor = torch.ones(4, device="cpu" if device.startswith("cpu") else "cuda")
        ways["bound call, torch tensor"] = main_.bind(tensor)
        ways["call, torch tensor"] = lambda: main_(tensor)
        ways["torch itself, x + x"] = lambda: tensor + tensor
    return ways


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/dev", type=pathlib.Path)
    parser.add_argument("--repeats", default=200, type=int)
    parser.add_argument("--device", default="cpu:1")
    parser.add_argument("--target", default="", help="what to compile for; the device's kind by default")
    parser.add_argument("--compile", metavar="FILE")
    parser.add_argument("--module", metavar="FILE")
    args = parser.parse_args()
    build, root = args.build.resolve(), pathlib.Path(__file__).resolve().parent.parent
    sys.path.insert(0, str(build / "python"))
    import xcompile
    is_gpu = args.device.startswith("cuda")
    target = args.target or ("cuda:sm_90a" if is_gpu else "cpu")
    if args.compile:
        xcompile.compile(MODEL, output=args.compile, target=target)
        return
    has_torch = subprocess.run([sys.executable, "-c", "import torch"], capture_output=True).returncode == 0
    torch = importlib.import_module("torch") if has_torch else None
    if is_gpu and not torch:
        parser.error("a CUDA device needs the package torch, whose tensors lie on it")
    with tempfile.TemporaryDirectory() as folder:
        module = args.module or xcompile.compile(MODEL, output=os.path.join(folder, "model.vmfb"), target=target)
        c = time_in_c(module, args.device, build, root, args.repeats, folder)
        ways = ways_to_call(xcompile, module, args.device, torch)
    wait = torch.cuda.synchronize if is_gpu else lambda: None
    print(f"{'C API':28} {c:6.2f} us")
    for name, call in ways.items():
        us = seconds_of(call, 100 if is_gpu else 1000, wait, args.repeats) * 1e6
        print(f"{name:28} {us:6.2f} us, {us - c:5.2f} us above C")


if __name__ == "__main__":
    main()
