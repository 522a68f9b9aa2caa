"""Loading, compiling, variables, parameters and checkpoints."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy as np
import programs
import xcompile


def read_safetensors(path):
    data = pathlib.Path(path).read_bytes()
    size = int.from_bytes(data[:8], "little")
    types = {"F32": "<f4", "I64": "<i8"}
    return {key: np.frombuffer(data[8 + size:][slice(*entry["data_offsets"])], types[entry["dtype"]]).reshape(entry["shape"])
            for key, entry in json.loads(data[8:8 + size]).items() if key != "__metadata__"}


class ModuleTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.ones = np.ones(4, np.float32)

    def load(self):
        return xcompile.load(programs.compiled(programs.MODEL), device="cpu:1")

    def test_variables(self):
        module = self.load()
        self.assertEqual(list(module.variables), ["total", "calls"])
        self.assertIn("total", module.variables)
        module.observe(self.ones)
        module.observe(self.ones)
        np.testing.assert_array_equal(module.variables["total"].numpy(), 2 * self.ones)
        self.assertEqual(module.variables["calls"].numpy(), 2)
        module.variables["total"] = np.arange(4, dtype=np.float32)
        module.observe(self.ones)
        np.testing.assert_array_equal(module.variables["total"].numpy(), [1, 2, 3, 4])
        for value, text in ((np.zeros(3, np.float32), r"shape \(4,\), got f32 of shape \(3,\)"), (np.zeros(4), "expected f32.*got f64")):
            with self.assertRaisesRegex(xcompile.ArgumentError, text):
                module.variables["total"] = value
        with self.assertRaisesRegex(xcompile.Error, "no variable 'x'; the module has: 'total', 'calls'"):
            module.variables["x"]

    def test_checkpoints(self):
        module, path = self.load(), self.folder / "checkpoint.safetensors"
        module.observe(self.ones)
        module.save(path)
        saved = read_safetensors(path)
        np.testing.assert_array_equal(saved["total"], self.ones)
        self.assertEqual(saved["calls"], 1)
        other = self.load()
        other.restore(path)
        other.observe(self.ones)
        np.testing.assert_array_equal(other.variables["total"].numpy(), 2 * self.ones)
        with self.assertRaises(xcompile.Error) as caught:
            other.restore(self.folder / "none")
        self.assertEqual(caught.exception.code, "NOT_FOUND")
        path.write_bytes(path.read_bytes()[:-1])
        with self.assertRaises(xcompile.Error) as caught:
            other.restore(path)
        self.assertEqual(caught.exception.code, "CORRUPT")

    def test_parameters(self):
        data, w = programs.compiled(programs.WEIGHTS), np.arange(4, dtype=np.float32)
        for parameters in ({"weights": {"w": w}}, {"weights": xcompile._arrays.safetensors({"w": w})}):
            module = xcompile.load(data, "cpu:1", parameters)
            np.testing.assert_array_equal(module.main(2 * self.ones), 2 * w)
        np.save(self.folder / "w.npy", w + 1)
        module = xcompile.load(data, "cpu:1", {"weights": self.folder / "w.npy"})
        np.testing.assert_array_equal(module.main(self.ones), w + 1)
        for parameters, code in (({}, "NOT_FOUND"), ({"wights": b"x"}, "NOT_FOUND"), ({"weights": b"x"}, "CORRUPT"),
                                 ({"weights": {"w": w[:2]}}, "INVALID_ARGUMENT")):
            with self.assertRaises(xcompile.Error) as caught:
                xcompile.load(data, "cpu:1", parameters)
            self.assertEqual(caught.exception.code, code)

    def test_loading_what_is_no_module(self):
        path = self.folder / "text.vmfb"
        path.write_text("no module")
        for source, code in ((path, "INCOMPATIBLE"), (self.folder / "none.vmfb", "NOT_FOUND"), (b"", "INCOMPATIBLE"),
                             (programs.compiled(programs.MODEL)[:5000], "CORRUPT")):
            with self.assertRaises(xcompile.Error) as caught:
                xcompile.load(source, "cpu")
            self.assertEqual(caught.exception.code, code)
        with self.assertRaises(xcompile.Error) as caught:
            xcompile.load(programs.compiled(programs.MODEL), "tpu")
        self.assertEqual(caught.exception.code, "NOT_FOUND")

    def test_compiling(self):
        source, output = self.folder / "model.mlir", self.folder / "model.vmfb"
        source.write_text(programs.MODEL)
        self.assertEqual(xcompile.compile(source, output=output), str(output))
        np.testing.assert_array_equal(xcompile.load(output, "cpu:1").two(self.ones)[0], 2 * self.ones)
        self.assertEqual(xcompile.compile(str(source), flags=["-O1"])[:4], output.read_bytes()[:4])

    def test_compile_errors(self):
        with self.assertRaises(xcompile.CompileError) as caught:
            xcompile.compile("module {\n  func.func @main() -> tensor<f33> {\n")
        self.assertIn("program.mlir:2:", str(caught.exception))
        self.assertIn("f33", caught.exception.diagnostics)
        self.assertNotIn(tempfile.gettempdir(), caught.exception.diagnostics)
        with self.assertRaisesRegex(xcompile.CompileError, "there is no file 'none.mlir'"):
            xcompile.compile("none.mlir")
        with self.assertRaisesRegex(xcompile.CompileError, "tpu"):
            xcompile.compile(programs.MODEL, target="tpu")
        with self.assertRaisesRegex(xcompile.CompileError, "none"):
            xcompile.compile(programs.MODEL, output=self.folder / "none" / "model.vmfb")
        with self.assertRaisesRegex(xcompile.CompileError, "more than 0.0001 s"):
            xcompile.compile(programs.MODEL, timeout=0.0001)

    def test_doors_say_what_is_wrong(self):
        environment = dict(os.environ, PYTHONPATH=str(pathlib.Path(xcompile.__file__).parent.parent))
        environment["PYTHONDONTWRITEBYTECODE"] = "1"
        (self.folder / "mymodule.py").write_text("def f(x): return x\ndef wrong(): return 3\npair = (1, 2)\n")
        wanted = {("jax", "mymodule"): "expected MODULE:NAME, got 'mymodule'", ("jax", "nomodule:f"): "there is no module 'nomodule'",
                  ("jax", "mymodule:g"): "module 'mymodule' has no 'g'", ("torch", "mymodule:wrong"): "expected (model, args)",
                  ("onnx", "none.onnx"): "there is no file 'none.onnx'", ("jax", "mymodule:f"): "has no 'example_args'",
                  ("jax", "mymodule:f", "--args=mymodule:pair"): "expected 'mymodule:pair' to be a function that returns a tuple of example "
                  "arguments, got tuple", ("torch", "mymodule:pair"): "expected 'mymodule:pair' to be a function that returns (model, args), got tuple"}
        for (door, *words), text in wanted.items():
            done = subprocess.run([sys.executable, "-m", f"xcompile.{door}", *words, "-o", "out.vmfb"], env=environment, cwd=self.folder,
                                  capture_output=True, text=True, stdin=subprocess.DEVNULL)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
            self.assertIn(text, done.stderr)
        self.assertFalse((self.folder / "out.vmfb").exists())

    def test_docs_and_stubs(self):
        """Everything public has a docstring, and the stubs name all of it."""
        stubs = "".join((pathlib.Path(xcompile.__file__).parent / name).read_text() for name in ("__init__.pyi", "_runtime.pyi"))
        for name in xcompile.__all__:
            value = getattr(xcompile, name)
            self.assertTrue(value.__doc__, name)
            self.assertRegex(stubs, rf"(class|def) {name}\b")
            if isinstance(value, type) and value.__module__.startswith("xcompile"):
                for attribute in vars(value):
                    if not attribute.startswith("_") and not isinstance(vars(value)[attribute], str):
                        self.assertTrue(getattr(value, attribute).__doc__, f"{name}.{attribute}")
                        self.assertRegex(stubs, rf"\b{attribute}\b", name)


if __name__ == "__main__":
    unittest.main()
