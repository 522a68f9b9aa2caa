"""Texts of array programs: signatures, and functions around others that keep state."""
import unittest

import numpy as np
import xcompile
from xcompile import _text

# As xcompile prints them. Names and attributes hold what a careless reader would take for the end of a list.
FUNCTION = """module {
  func.func @main(%arg0: tensor<2xf32> {array.name = "x, (y)"}, %arg1: tensor<?x2xf32> {array.dims = ["n", ""], array.name = "w.0"},
                  %arg2: tensor<2xf32> {array.name = "seen"}) -> (tensor<2xf32> {array.name = "sum->"}, tensor<2xf32>) {
    %0 = array.add %arg0, %arg2 : tensor<2xf32>
    %1 = array.reduce sum, %arg1 axes = [0] : tensor<?x2xf32> -> tensor<2xf32>
    %2 = array.add %0, %1 : tensor<2xf32>
    return %2, %0 : tensor<2xf32>, tensor<2xf32>
  }
}
"""


class TextTest(unittest.TestCase):
    def test_signature(self):
        inputs, results = _text.signature(FUNCTION)
        self.assertEqual([port.name for port in inputs], ["x, (y)", "w.0", "seen"])
        self.assertEqual(inputs[1].attributes, 'array.dims = ["n", ""], array.name = "w.0"')
        self.assertEqual([str(port) for port in results], ['tensor<2xf32> {array.name = "sum->"}', "tensor<2xf32>"])
        one = _text.signature("func.func private @f() -> tensor<?x2xi8> {\n}", "f")
        self.assertEqual(one, _text.Signature([], [_text.Port("tensor<?x2xi8>", "")]))
        self.assertEqual(_text.signature("func.func @f(%arg0: tensor<f32>) {", "f").results, [])
        placed = _text.signature('func.func @f(%arg0: tensor<?xf32> {a = 1} loc("x"), %arg1: tensor<f32> loc(unknown)) {', "f")
        self.assertEqual([str(port) for port in placed.inputs], ["tensor<?xf32> {a = 1}", "tensor<f32>"])
        with self.assertRaisesRegex(xcompile.Error, "no function 'g'"):
            _text.signature(FUNCTION, "g")
        with self.assertRaisesRegex(xcompile.Error, "expected one of"):
            _text.signature('func.func @main(%arg0: tensor<2xf32> {array.name = "x"}')

    def test_state(self):
        text = FUNCTION.replace("tensor<?x2xf32>", "tensor<3x2xf32>").replace('array.dims = ["n", ""], ', "")
        roles = [_text.Role("input"), _text.Role("parameter", "w.0"), _text.Role("variable", "seen")]
        program = _text.keep_state(text, roles, [None, "seen"], "scope", {"seen": ""})
        w = np.arange(6, dtype=np.float32).reshape(3, 2)
        module = xcompile.load(xcompile.compile(program), "cpu", parameters={"scope": {"w.0": w}})
        x = np.array([1, 2], np.float32)
        self.assertEqual(list(module.variables), ["seen"])
        for call in range(1, 4):
            np.testing.assert_array_equal(module.main(x), call * x + w.sum(0))
        np.testing.assert_array_equal(module.variables["seen"].numpy(), 3 * x)
        begun = _text.keep_state(text, roles, [None, "seen"], "scope", {"seen": "dense<[5.0, 7.0]>"})
        module = xcompile.load(xcompile.compile(begun), "cpu", parameters={"scope": {"w.0": w}})
        np.testing.assert_array_equal(module.main(x), [5, 7] + x + w.sum(0))
        with self.assertRaisesRegex(xcompile.Error, "expected 2 inputs and 1 results, got 3 and 2"):
            _text.keep_state(text, roles[1:], ["seen"], "scope", {"seen": ""})
        # A parameter in front of the inputs, and a function that gives nothing but its state.
        text = text.replace("return %2, %0 : tensor<2xf32>, tensor<2xf32>", "return %0 : tensor<2xf32>")
        text = text.replace('(tensor<2xf32> {array.name = "sum->"}, tensor<2xf32>)', "tensor<2xf32>")
        roles = [_text.Role("variable", "seen"), _text.Role("input"), _text.Role("input")]
        module = xcompile.load(xcompile.compile(_text.keep_state(text, roles, ["seen"], "scope", {"seen": ""})), "cpu")
        module.main(w, x)
        module.main(w, x)
        np.testing.assert_array_equal(module.variables["seen"].numpy(), 2 * x)

    def test_names(self):
        self.assertEqual([_text.symbol("layer1.0.w"), _text.symbol("0.w"), _text.symbol('a"b')], ["layer1.0.w", '"0.w"', '"a\\"b"'])


if __name__ == "__main__":
    unittest.main()
