"""Writes model.onnx into a folder: an RNN with lengths, of which time and batch are open. With --check, compares what came out."""
import pathlib
import subprocess
import sys

import numpy

FOLDER = pathlib.Path(sys.argv[1])
TEXT = """
ir_version: 8
opset_import { version: 17 }
graph {
  name: "g"
  node { op_type: "RNN" input: "x" input: "w" input: "r" input: "" input: "lengths" output: "y" output: "last"
         attribute { name: "hidden_size" type: INT i: 2 } }
  initializer { name: "w" data_type: 1 dims: 1 dims: 2 dims: 2 float_data: [0.5, -0.25, 0.125, 0.75] }
  initializer { name: "r" data_type: 1 dims: 1 dims: 2 dims: 2 float_data: [0.25, 0.5, -0.5, 0.125] }
  input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_param: "time" } dim { dim_param: "batch" } dim { dim_value: 2 } } } } }
  input { name: "lengths" type { tensor_type { elem_type: 6 shape { dim { dim_param: "batch" } } } } }
  output { name: "y" type { tensor_type { elem_type: 1 } } }
  output { name: "last" type { tensor_type { elem_type: 1 } } }
}
"""


def compute(time, batch, length):
    w, r = numpy.array([[0.5, -0.25], [0.125, 0.75]]), numpy.array([[0.25, 0.5], [-0.5, 0.125]])
    state, outputs = numpy.zeros((batch, 2)), numpy.zeros((time, 1, batch, 2))
    for step in range(length):
        state = outputs[step, 0] = numpy.tanh(numpy.ones((batch, 2)) @ w.T + state @ r.T)
    return outputs


if "--check" in sys.argv:
    for name, sizes in (("three", (9, 3, 9)), ("one", (4, 1, 2))):
        found, wanted = numpy.load(FOLDER / f"{name}.npy"), compute(*sizes)
        assert found.shape == wanted.shape, (found.shape, wanted.shape)
        numpy.testing.assert_allclose(found, wanted, rtol=1e-6)
else:
    with open(FOLDER / "model.onnx", "wb") as model:
        subprocess.run(["protoc", "--encode=onnx.ModelProto", "-I", "/usr/include", "onnx/onnx.proto"], input=TEXT.encode(), stdout=model,
                       check=True)
