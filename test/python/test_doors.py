"""Models of JAX, ONNX and PyTorch as modules, where these packages are installed and xcompile reads what they write."""
import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy as np
import xcompile

JAX_MODULE = """import jax
import jax.numpy as jnp

def predict(parameters, x):
    return jnp.tanh(x @ parameters["w"] + parameters["b"])

def example_args():
    return {"b": jnp.zeros(3), "w": jnp.ones((4, 3))}, jax.ShapeDtypeStruct((2, 4), "float32")
"""
TORCH_MODULE = """import torch

def make_model():
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.Tanh()), (torch.ones(2, 4),)
"""
IDENTITY = """module @m {
  func.func public @main(%arg0: tensor<4xf32>) -> (tensor<4xf32>) {
    %0 = stablehlo.negate %arg0 : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
"""


def needs(*packages):
    missing = [package for package in packages if not importlib.util.find_spec(package)]
    return unittest.skipIf(missing, f"not installed: {', '.join(missing)}")


class DoorTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def reads(self, program, unread):
        """Skips where the compiler was built without the reader."""
        try:
            xcompile.compile(program)
        except xcompile.CompileError as error:
            if unread in str(error):
                self.skipTest(f"this xcompile does not read it: {error}")
            raise

    def run_door(self, *arguments):
        environment = dict(os.environ, PYTHONPATH=str(pathlib.Path(xcompile.__file__).parent.parent), PYTHONDONTWRITEBYTECODE="1",
                           JAX_PLATFORMS="cpu")
        done = subprocess.run([sys.executable, "-m", *arguments, "-o", "model.vmfb"], cwd=self.folder, env=environment, capture_output=True,
                              text=True, stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, 0, done.stderr)
        return xcompile.load(self.folder / "model.vmfb", "cpu")

    @needs("jax")
    def test_jax(self):
        import jax
        self.reads(IDENTITY, "dialect 'stablehlo' is unknown")
        (self.folder / "mymodule.py").write_text(JAX_MODULE)
        module = self.run_door("xcompile.jax", "mymodule:predict")
        x = np.linspace(-1, 1, 8, dtype=np.float32).reshape(2, 4)
        y = module.main(np.zeros(3, np.float32), np.ones((4, 3), np.float32), x)
        np.testing.assert_allclose(y, np.tanh(x @ np.ones((4, 3))), rtol=1e-5, atol=1e-6)
        self.assertEqual(xcompile.jax.parse_shape("bf16[2, 3]"), jax.ShapeDtypeStruct((2, 3), "bfloat16"))
        with self.assertRaisesRegex(xcompile.Error, r"such as f32\[8,4\], got 'f33\[2\]'"):
            xcompile.jax.parse_shape("f33[2]")

    @needs("jax")
    def test_complex_numbers(self):
        import jax.numpy as jnp
        path = self.folder / "complex.vmfb"
        z = (np.arange(6) + 1j * np.arange(6)[::-1]).astype(np.complex64)
        xcompile.jax.export(lambda x: jnp.fft.fft(x) * 2, (z,), output=path)
        module = xcompile.load(path, "cpu")
        y = module.main(z)
        np.testing.assert_allclose(y.view("complex64")[..., 0], 2 * np.fft.fft(z), rtol=1e-5, atol=1e-4)
        np.testing.assert_array_equal(y, module.main(np.stack([z.real, z.imag], -1)))
        with self.assertRaisesRegex(xcompile.Error, "expected parameters and variables of real numbers, got complex64 in argument 0"):
            xcompile.jax.export(lambda p, x: x * p, (z, z), output=path, parameters=[0])
        self.assertEqual(str(xcompile.jax.parse_shape("c64[2]").dtype), "complex64")

    @needs("onnx")
    def test_onnx(self):
        from onnx import TensorProto, helper
        graph = helper.make_graph([helper.make_node("Add", ["x", "y"], ["z"])], "add",
                                  [helper.make_tensor_value_info(name, TensorProto.FLOAT, [4]) for name in "xy"],
                                  [helper.make_tensor_value_info("z", TensorProto.FLOAT, [4])])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
        path = self.folder / "model.onnx"
        path.write_bytes(model.SerializeToString())
        self.reads(path, "it is an ONNX model; expected")
        x = np.arange(4, dtype=np.float32)
        for module in (self.run_door("xcompile.onnx", "model.onnx"), xcompile.load(xcompile.onnx.export(model), "cpu")):
            np.testing.assert_array_equal(module[module.functions[0]](x, x), 2 * x)

    @needs("torch", "onnxscript")
    def test_torch(self):
        import torch
        (self.folder / "mymodule.py").write_text(TORCH_MODULE)
        xcompile.torch.to_onnx(torch.nn.Identity(), (torch.ones(4),), path=self.folder / "identity.onnx")
        self.reads(self.folder / "identity.onnx", "it is an ONNX model; expected")
        module = self.run_door("xcompile.torch", "mymodule:make_model")
        sys.path.insert(0, str(self.folder))
        self.addCleanup(sys.path.remove, str(self.folder))
        import mymodule
        model, (x,) = mymodule.make_model()
        y = module[module.functions[0]](x)
        self.assertTrue(torch.allclose(y, model(x), atol=1e-5))


if __name__ == "__main__":
    unittest.main()
