"""xcompile.torch: names, sizes, weights and state of exported modules, and what it refuses. test/torch has whole models."""
import importlib.util
import json
import logging
import pathlib
import tempfile
import unittest

import numpy as np
import xcompile

MISSING = [package for package in ("torch", "onnxscript") if not importlib.util.find_spec(package)]
if not MISSING:
    import torch
    from torch import nn


def header_of(path):
    data = pathlib.Path(path).read_bytes()
    return json.loads(data[8:8 + int.from_bytes(data[:8], "little")])


@unittest.skipIf(MISSING, f"not installed: {', '.join(MISSING)}")
class TorchExportTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        # torch explains at length what it could not follow.
        logging.disable(logging.WARNING)
        cls.addClassCleanup(logging.disable, logging.NOTSET)

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name) / "model.vmfb"
        torch.manual_seed(1)

    def module_of(self, forward, **buffers):
        """A module with these buffers and this forward()."""
        made = type("Made", (nn.Module,), {"forward": forward})()
        for name, value in buffers.items():
            made.register_buffer(name, value)
        return made

    def test_weights_by_reference(self):
        tied = nn.Sequential(nn.Linear(4, 4, bias=False), nn.ReLU(), nn.Linear(4, 4))
        tied[2].weight = tied[0].weight
        x = torch.randn(3, 4)
        self.assertEqual(xcompile.torch.export(tied, (x,), output=self.path), str(self.path))
        module = xcompile.load(self.path, "cpu")
        torch.testing.assert_close(module.main(x), tied(x).detach())
        self.assertEqual(sorted(header_of(self.path.with_suffix(".safetensors"))), ["0.weight", "2.bias"])
        self.assertLess(self.path.stat().st_size, 100_000)
        # Other weights of the same shapes, from memory.
        other = {"0.weight": np.eye(4, dtype=np.float32), "2.bias": np.ones(4, np.float32)}
        module = xcompile.load(self.path, "cpu", parameters={"model.safetensors": other})
        torch.testing.assert_close(module.main(x), x.relu() + 1)

    def test_weights_inside(self):
        model, x = nn.Linear(4, 3), torch.randn(2, 4)
        module = xcompile.load(xcompile.torch.export(model, (x,)), "cpu")
        torch.testing.assert_close(module.main(x), model(x).detach())
        changing = self.module_of(lambda self, x: self.sum.add_(x) * 1, sum=torch.zeros(4))
        with self.assertRaisesRegex(xcompile.Error, "changes the buffer 'sum'.*name a file by `parameters`"):
            xcompile.torch.export(changing, (torch.ones(4),))

    def test_training_mode_comes_back(self):
        model = nn.Sequential(nn.Dropout(0.5), nn.BatchNorm1d(4))
        model[1].eval()
        x = torch.randn(5, 4)
        module = xcompile.load(xcompile.torch.export(model, (x,)), "cpu")
        self.assertEqual([model.training, model[0].training, model[1].training], [True, True, False])
        torch.testing.assert_close(module.main(x), model.eval()(x).detach())

    def test_names_and_sizes(self):
        model = self.module_of(lambda self, left, right=None: {"sum": left + right, "parts": (left * 2, right * 3)})
        a, b = torch.randn(2, 3), torch.randn(2, 3)
        lowered = xcompile.torch.lower(model, (a,), {"right": b}, dynamic_shapes={"left": {0: "rows"}, "right": {0: "rows"}})
        module = xcompile.load(xcompile.compile(lowered.text), "cpu")
        self.assertEqual([port[0] for port in module.main.inputs], ["left", "right"])
        self.assertEqual([port[0] for port in module.main.outputs], ["sum", "parts_0", "parts_1"])
        self.assertIn('array.dims = ["rows", ""]', lowered.text)
        a, b = torch.randn(5, 3), torch.randn(5, 3)
        torch.testing.assert_close(module.main(a, right=b)[2], b * 3)
        with self.assertRaisesRegex(xcompile.Error, "rows"):
            module.main(a, right=b[:4])
        named = xcompile.torch.lower(model, (a, b), input_names=["right", "left"], output_names=["x"])
        self.assertIn('array.name = "x"', named.text)
        with self.assertRaisesRegex(xcompile.Error, "at most 2 names of inputs, got 3"):
            xcompile.torch.lower(model, (a, b), input_names=["a", "b", "c"])

    def test_short_floats(self):
        model, x = nn.Linear(8, 8).to(torch.bfloat16), torch.randn(2, 8, dtype=torch.bfloat16)
        xcompile.torch.export(model, (x,), output=self.path)
        y = xcompile.load(self.path, "cpu").main(x)
        self.assertEqual(y.dtype, torch.bfloat16)
        torch.testing.assert_close(y, model(x).detach())

    def test_refused(self):
        x = torch.randn(4)

        def writes_input(self, x):
            x.add_(1)
            return x * 2
        captured = torch.zeros(4)

        def writes_captured(self, x):
            captured.add_(x)
            return captured * 2

        def branches(self, x):
            return x if x.sum() > 0 else -x

        def decomposes(self, x):
            return torch.linalg.eigvals(x.reshape(2, 2)).abs()
        for forward, text in ((writes_input, "forward.. changes its input 'x'"), (writes_captured, "changes a tensor that is no buffer"),
                              (branches, r"torch.export cannot follow the model: .*test_torch_export.py"),
                              (decomposes, r"nothing in ONNX for aten.linalg_eig\w*.default \(1 time\)")):
            with self.assertRaisesRegex(xcompile.Error, text):
                xcompile.torch.lower(self.module_of(forward), (x,))
        with self.assertRaisesRegex(xcompile.Error, "expected a torch.nn.Module, got function"):
            xcompile.torch.lower(writes_input, (x,))

    def test_saved_weights(self):
        shapes = {"a": torch.randn(3, 4).t(), "b": torch.randn(3).to(torch.bfloat16), "c": torch.tensor(2.0, dtype=torch.float64),
                  "d": torch.randn(2).to(torch.float16)}
        model = self.module_of(lambda self, x: x + self.a.sum() + self.b.sum() + self.c + self.d.sum(), **shapes)
        x = torch.randn(2, dtype=torch.float64)
        xcompile.torch.export(model, (x,), output=self.path)
        torch.testing.assert_close(xcompile.load(self.path, "cpu").main(x), model(x), rtol=1e-2, atol=1e-2)
        self.assertEqual({key: value["dtype"] for key, value in header_of(self.path.with_suffix(".safetensors")).items()},
                         {"a": "F32", "b": "BF16", "c": "F64", "d": "F16"})
        if not importlib.util.find_spec("safetensors"):
            self.skipTest("not installed: safetensors")
        from safetensors.torch import load_file
        read = load_file(self.path.with_suffix(".safetensors"))
        for key, value in shapes.items():
            self.assertTrue(torch.equal(read[key], value), key)


if __name__ == "__main__":
    unittest.main()
