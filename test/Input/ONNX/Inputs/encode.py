"""Writes x.onnx for each x.txtpb in a folder."""
import pathlib
import subprocess
import sys

for path in pathlib.Path(sys.argv[1]).glob("*.txtpb"):
    with open(path, "rb") as text, open(path.with_suffix(".onnx"), "wb") as model:
        subprocess.run(["protoc", "--encode=onnx.ModelProto", "-I", "/usr/include", "onnx/onnx.proto"], stdin=text, stdout=model, check=True)
