#!/usr/bin/env python3
"""Calls of modules with PyTorch tensors on a GPU: memory, streams, graphs, and what is refused.

    gpu.py --module=MODULE.vmfb          module from `gpu.py --compile=MODULE.vmfb --build=build/dev`, made on any machine

The calls need torch and a GPU: on a machine without them, gpu.py fails. PyTorch's profiler says which stream a kernel ran on, and
what was copied. `XCOMPILE_PACKAGE` names the folder of the package `xcompile`, where it is not installed.
"""
import argparse
import json
import os
import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path[:0] = filter(None, [os.environ.get("XCOMPILE_PACKAGE")])

PROGRAM = """
func.func @main(%x: tensor<?x4096xf32> {array.name = "x"}, %scale: tensor<f32> {array.name = "scale"})
    -> (tensor<?x4096xf32> {array.name = "y"}) {
  %0 = array.mul %x, %scale : (tensor<?x4096xf32>, tensor<f32>) -> tensor<?x4096xf32>
  %1 = array.softmax %0 axis = 1 : tensor<?x4096xf32>
  return %1 : tensor<?x4096xf32>
}
"""


class TorchOnGpu(unittest.TestCase):
    def setUp(self):
        import torch
        import xcompile
        self.torch = torch
        self.module = xcompile.load(MODULE, device="cuda:0")
        self.x = torch.randn(512, 4096, device="cuda")
        self.scale = torch.tensor(1.5, device="cuda")

    def want(self, x):
        return self.torch.softmax(x * self.scale, 1)

    def events(self, call):
        """(name, stream) of what ran on the device during a call."""
        from torch.profiler import ProfilerActivity, profile
        call()
        self.torch.cuda.synchronize()
        with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as trace:
            call()
            self.torch.cuda.synchronize()
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "trace.json")
            trace.export_chrome_trace(str(path))
            found = json.loads(path.read_text())["traceEvents"]
        return [(event["name"], event["args"]["stream"]) for event in found
                if event.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset")]

    def test_values(self):
        for rows in (512, 1, 4096):
            x = self.torch.randn(rows, 4096, device="cuda")
            y = self.module.main(x, self.scale)
            self.assertEqual(y.device, x.device)
            self.torch.testing.assert_close(y, self.want(x))

    def test_no_rows(self):
        self.assertEqual(tuple(self.module.main(self.x[:0], self.scale).shape), (0, 4096))

    def test_one_kernel_on_the_current_stream_and_no_copy(self):
        torch, side = self.torch, self.torch.cuda.Stream()

        def call():
            with torch.cuda.stream(side):
                y = self.x.add(1)  # one kernel of torch's
                self.module.main(y, self.scale)
        side.wait_stream(torch.cuda.current_stream())
        events = self.events(call)
        self.assertEqual(len(events), 2, events)
        self.assertEqual(events[0][1], events[1][1], events)
        self.assertFalse([name for name, _ in events if "mem" in name.lower()], events)

    def test_a_bound_call_writes_where_torch_sees_it(self):
        y = self.torch.zeros_like(self.x)
        bound = self.module.main.bind(self.x, self.scale, out=y)
        for factor in (1, 2, 3):
            self.x.mul_(factor)
            bound()
            self.torch.testing.assert_close(y, self.want(self.x))

    def test_order_with_torch_on_side_streams(self):
        """Each stream's results are of its own inputs, without a synchronisation between torch's kernels and ours."""
        torch = self.torch
        streams = [torch.cuda.Stream() for _ in range(4)]
        found = []
        for turn in range(200):
            with torch.cuda.stream(streams[turn % 4]):
                x = torch.full((64, 4096), float(turn), device="cuda")
                x[:, 0] += 1
                found.append(self.module.main(x, self.scale)[0, :2])
        torch.cuda.synchronize()
        for got in found:
            self.torch.testing.assert_close(got[0] / got[1], torch.exp(self.scale))

    def test_captured_into_a_graph_of_torch(self):
        torch, y = self.torch, self.torch.zeros_like(self.x)
        bound = self.module.main.bind(self.x, self.scale, out=y)
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            bound()
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            bound()
        self.x.normal_()
        graph.replay()
        self.torch.testing.assert_close(y, self.want(self.x))

    def test_memory_is_returned_to_torch(self):
        torch = self.torch
        self.module.main(self.x, self.scale)
        torch.cuda.synchronize()
        before = torch.cuda.memory_allocated()
        for _ in range(100):
            self.module.main(self.x, self.scale)
        torch.cuda.synchronize()
        self.assertLessEqual(torch.cuda.memory_allocated(), before + self.x.nbytes)

    def test_a_tensor_that_is_freed_while_a_bound_call_reads_it(self):
        torch = self.torch
        x = torch.randn(512, 4096, device="cuda")
        want, bound = self.want(x), self.module.main.bind(x, self.scale)
        del x
        others = [torch.full((512, 4096), 7.0, device="cuda") for _ in range(8)]
        bound()
        self.torch.testing.assert_close(bound.outputs, want)
        del others

    def test_what_is_refused(self):
        import xcompile
        torch = self.torch
        for bad, text in ((self.x.cpu(), "device"), (self.x.half(), "f32|type"), (self.x.t().contiguous().t(), "contiguous|stride"),
                          (self.x[:, :5], "4096|stride|contiguous")):
            with self.assertRaisesRegex(xcompile.ArgumentError, text):
                self.module.main(bad, self.scale)
        self.torch.testing.assert_close(self.module.main(self.x, self.scale), self.want(self.x))


def main():
    global MODULE
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/dev")
    parser.add_argument("--target", default="cuda:sm_90a")
    parser.add_argument("--compile", metavar="FILE", help="only write the module")
    parser.add_argument("--module", metavar="FILE")
    args, rest = parser.parse_known_args()
    if args.compile:
        sys.path.insert(0, os.path.join(args.build, "python"))
        import xcompile
        xcompile.compile(PROGRAM, target=args.target, output=args.compile)
        return
    MODULE = args.module
    unittest.main(argv=[sys.argv[0], "-v", *rest])


if __name__ == "__main__":
    main()
