"""Writes model.onnx into a folder: a product with a weight of 4 KiB, all ones or what the second argument says, and a bias of 0.5."""
import pathlib
import subprocess
import sys

TEXT = """
ir_version: 8
opset_import { version: 17 }
graph {
  name: "g"
  node { op_type: "MatMul" input: "x" input: "w" output: "product" }
  node { op_type: "Add" input: "product" input: "b" output: "y" }
  initializer { name: "w" data_type: 1 dims: 32 dims: 32 ONES }
  initializer { name: "b" data_type: 1 dims: 1 float_data: 0.5 }
  input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 1 } dim { dim_value: 32 } } } } }
  output { name: "y" type { tensor_type { elem_type: 1 } } }
}
"""
with open(pathlib.Path(sys.argv[1]) / "model.onnx", "wb") as model:
    subprocess.run(["protoc", "--encode=onnx.ModelProto", "-I", "/usr/include", "onnx/onnx.proto"],
                   input=TEXT.replace("ONES", f"float_data: {(sys.argv + ['1'])[2]} " * 1024).encode(), stdout=model, check=True)
