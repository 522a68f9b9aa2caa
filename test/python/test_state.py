"""Functions of JAX whose state the module keeps, and training steps of Lowered models. samples/models has whole programs."""
import importlib.util
import pathlib
import tempfile
import unittest

import numpy as np
import xcompile
from xcompile import _lowered, _text, training

HAS_JAX = importlib.util.find_spec("jax") is not None

# loss = mean((w x + b - y)^2), and the prediction.
LINE = """module {
  func.func @main(%arg0: tensor<8xf32> {array.name = "x"}, %arg1: tensor<8xf32> {array.name = "y"}, %arg2: tensor<f32> {array.name = "line.w"},
                  %arg3: tensor<f32> {array.name = "b"}) -> (tensor<f32> {array.name = "loss"}, tensor<8xf32> {array.name = "prediction"}) {
    %0 = array.mul %arg0, %arg2 : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
    %1 = array.add %0, %arg3 : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
    %2 = array.sub %1, %arg1 : tensor<8xf32>
    %3 = array.mul %2, %2 : tensor<8xf32>
    %4 = array.mean %3 axes = [0] : tensor<8xf32> -> tensor<f32>
    return %4, %1 : tensor<f32>, tensor<8xf32>
  }
}
"""


def line(scope="line.safetensors"):
    roles = [_text.Role("input"), _text.Role("input"), _text.Role("parameter", "line.w"), _text.Role("parameter", "b")]
    return _lowered.Lowered(LINE, roles, [None, None], {"line.w": np.float32(2)}, scope)


class TrainingTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def test_optimizers(self):
        """Each moves a line towards others, as its formula says at first."""
        x = np.linspace(-1, 1, 8, dtype=np.float32)
        y = 3 * x + 1
        begin = {"w": 2.0, "b": 0.0}
        gradient = {"w": np.mean(2 * (2 * x - y) * x), "b": np.mean(2 * (2 * x - y))}
        first = {"adam": lambda w, g: w - 0.1 * np.sign(g), "adamw": lambda w, g: w - 0.1 * (np.sign(g) + 0.5 * w),
                 "lion": lambda w, g: w - 0.1 * (np.sign(g) + 0.5 * w), "sgd_momentum": lambda w, g: w - 0.1 * (g + 0.5 * w)}
        for name, formula in first.items():
            path = training.export(line(), output=self.folder / "line.vmfb", optimizer=name, **({} if name == "adam" else {"decay": 0.5}))
            module = xcompile.load(path, "cpu")
            before, _ = module.evaluate(x, y)
            loss, prediction = module.train_step(x=x, y=y, rate=np.float32(0.1))
            self.assertEqual(loss, before)
            np.testing.assert_allclose(prediction, 2 * x, rtol=1e-6)
            for key, short in (("line.w", "w"), ("b", "b")):
                np.testing.assert_allclose(module.variables[key].numpy(), formula(begin[short], gradient[short]), rtol=1e-4, err_msg=name)
            self.assertEqual(module.variables["steps"].numpy(), 1)
            for _ in range(100):
                last, _ = module.train_step(x=x, y=y, rate=np.float32(0.02))
            self.assertLess(last, loss)

    def test_refused(self):
        changed = line()
        changed.roles[3] = _text.Role("variable", "b")
        for model, settings, text in ((line(), {"optimizer": "adagrad"}, "no optimiser 'adagrad'; known are adam, adamw, lion, sgd_momentum"),
                                      (line(), {"momentum": 1}, "adamw has no setting 'momentum'; it has beta1, beta2, epsilon, decay"),
                                      (changed, {}, "without variables"), (line("other.safetensors"), {}, "scope='other.safetensors'")):
            with self.assertRaisesRegex(xcompile.Error, text):
                training.export(model, output=self.folder / "line.vmfb", **settings)
        for old, new, text in (("tensor<f32> {array.name = \"loss\"}", "tensor<f64>", "loss, tensor<f32>, got tensor<f64>"),
                               ("%arg3: tensor<f32>", "%arg3: tensor<f16>", "weights of f32, got 'b'")):
            model = line()
            model.function = model.function.replace(old, new)
            with self.assertRaisesRegex(xcompile.Error, text):
                training.program(model)


@unittest.skipUnless(HAS_JAX, "JAX is not installed")
class JaxStateTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name) / "model.vmfb"

    def test_variables_and_parameters(self):
        import jax.numpy as jnp

        def step(model, state, x):
            total = state["total"] + x @ model["w"][0]
            return {"total": total, "calls": state["calls"] + 1}, {"y": total * 2, "parts": (x, x + 1)}
        model, state = {"w": [jnp.arange(6, dtype="float32").reshape(2, 3)]}, {"total": jnp.ones(3), "calls": jnp.int32(0)}
        xcompile.jax.export(step, (model, state, jnp.zeros(2)), parameters=[0], variables=[1], output=self.path)
        module = xcompile.load(self.path, "cpu")
        self.assertEqual([port[0] for port in module.main.inputs], ["x"])
        self.assertEqual([port[0] for port in module.main.outputs], ["parts.0", "parts.1", "y"])
        self.assertEqual(sorted(module.variables), ["state.calls", "state.total"])
        x = np.array([1, 2], np.float32)
        for call in range(1, 4):
            y = module.main(x)[2]
            np.testing.assert_allclose(y, 2 * (1 + call * (x @ np.arange(6).reshape(2, 3))))
        self.assertEqual(module.variables["state.calls"].numpy(), 3)
        # Parameters by their paths, from memory; the first values of variables are in the same file.
        other = {"model.w.0": np.zeros((2, 3), np.float32), "state.total": np.ones(3, np.float32)}
        np.testing.assert_array_equal(xcompile.load(self.path, "cpu", parameters={"model.safetensors": other}).main(x)[2], [2, 2, 2])

    def test_open_sizes(self):
        import jax
        import jax.numpy as jnp
        from jax import export

        def f(w, x, y):
            h = jnp.tanh(x @ w)
            return (jax.nn.softmax(h, -1), jnp.var(h, 0), x.reshape(-1), jnp.arange(x.shape[0]) * 2, jnp.concatenate([x, x + 1]),
                    jnp.einsum("bi,ci->bc", h, y), jnp.max(x, 1, keepdims=True) - x, jnp.broadcast_to(w.sum(), (x.shape[0], 2)))
        batch, = export.symbolic_shape("batch")
        shapes = [jax.ShapeDtypeStruct(shape, "float32") for shape in ((4, 3), (batch, 4), (batch, 3))]
        module = xcompile.load(xcompile.jax.export(f, shapes), "cpu")
        self.assertEqual([port[2] for port in module.main.inputs], [(4, 3), ("batch", 4), ("batch", 3)])
        for size in (1, 3, 8):
            inputs = [np.random.default_rng(size).standard_normal(shape, np.float32) for shape in ((4, 3), (size, 4), (size, 3))]
            for got, want in zip(module.main(*inputs), f(*inputs), strict=True):
                np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)
        with self.assertRaisesRegex(xcompile.ArgumentError, "symbol 'batch'"):
            module.main(inputs[0], inputs[1], inputs[2][:2])
        with self.assertRaisesRegex(xcompile.CompileError, "it is supported with sizes that are numbers alone"):
            xcompile.jax.export(lambda x: jnp.sort(x, 0), shapes[1:2])

    def test_refused(self):
        import jax.numpy as jnp
        one = (jnp.ones(2),)
        for function, args, options, text in ((lambda s: s, one, {"variables": [1]}, "different arguments of 1, got .* and .1."),
                                              (lambda s: s, one, {"variables": [0], "parameters": [0]}, "different arguments"),
                                              (lambda s: s, one, {"variables": [0]}, "return a tuple that begins with as many new ones"),
                                              (lambda s: (s[:1], s), one, {"variables": [0]}, "types and shapes of argument 0")):
            with self.assertRaisesRegex(xcompile.Error, text):
                xcompile.jax.export(function, args, output=self.path, **options)
        with self.assertRaisesRegex(xcompile.Error, "`output` or `weights`"):
            xcompile.jax.export(lambda s: (s, s), one, variables=[0])


if __name__ == "__main__":
    unittest.main()
