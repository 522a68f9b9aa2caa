#!/usr/bin/env python3
"""What a call from Python costs beside the same call from C, on the CPU device, where a kernel of a few elements takes next to nothing.

    python_calls.py --build=build/dev [--repeats=200]

Each figure is the least over repeats of 1,000 calls, which other work on the machine disturbs least. Runs a C program that it
compiles with cc against the build tree.
"""
import argparse
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
  check(xcr_device_create(xcr_string("cpu:1"), NULL, &device));
  check(xcr_module_load_file(xcr_string(argv[1]), NULL, &module));
  check(xcr_instance_create(device, module, NULL, &instance));
  check(xcr_buffer_create_from_host(device, &options, x, sizeof(x), &input));
  check(xcr_call_create(instance, xcr_string("main"), NULL, &call));
  check(xcr_call_set_input(call, 0, input));
  for (int r = 0; r < atoi(argv[2]); ++r) {
    struct timespec a, b;
    clock_gettime(CLOCK_MONOTONIC, &a);
    for (int i = 0; i < 1000; ++i) check(xcr_call_run(call));
    clock_gettime(CLOCK_MONOTONIC, &b);
    double us = ((b.tv_sec - a.tv_sec) * 1e9 + (b.tv_nsec - a.tv_nsec)) / 1e6;
    if (us < best) best = us;
  }
  printf("%.3f\n", best);
  return 0;
}
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/dev", type=pathlib.Path)
    parser.add_argument("--repeats", default=200, type=int)
    args = parser.parse_args()
    build, root = args.build.resolve(), pathlib.Path(__file__).resolve().parent.parent
    sys.path.insert(0, str(build / "python"))
    import numpy as np
    import xcompile
    with tempfile.TemporaryDirectory() as folder:
        module = xcompile.compile(MODEL, output=os.path.join(folder, "model.vmfb"))
        source, program = pathlib.Path(folder, "calls.c"), os.path.join(folder, "calls")
        source.write_text(PROGRAM)
        subprocess.run(["cc", "-O2", "-D_GNU_SOURCE", source, "-o", program, f"-I{root / 'runtime' / 'include'}", f"-L{build / 'lib'}", "-lxcr",
                        f"-Wl,-rpath,{build / 'lib'}"], check=True)
        c = float(subprocess.run([program, module, str(args.repeats)], check=True, capture_output=True, text=True).stdout)
        main_ = xcompile.load(module, device="cpu:1").main
        loaded = xcompile.load(module, device="cpu:1")
    x, array = np.ones(4, np.float32), loaded.array(np.ones(4, np.float32))
    ways = {"bound call": main_.bind(x), "call, NumPy array": lambda: main_(x), "call, xcompile.Array": lambda: loaded.main(array)}
    if "torch" in sys.modules or subprocess.run([sys.executable, "-c", "import torch"], capture_output=True).returncode == 0:
        import torch
        tensor = torch.ones(4)
        ways["bound call, torch tensor"] = main_.bind(tensor)
        ways["call, torch tensor"] = lambda: main_(tensor)
    print(f"{'C API, xcr_call_run':28} {c:6.2f} us")
    for name, call in ways.items():
        us = min(timeit.repeat(call, number=1000, repeat=args.repeats)) * 1e3
        print(f"{name:28} {us:6.2f} us, {us - c:5.2f} us above C")


if __name__ == "__main__":
    main()
