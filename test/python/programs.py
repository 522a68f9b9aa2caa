"""Modules that the tests run, compiled once."""
import functools

import xcompile

DTYPES = {"i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64", "u8": "uint8", "u16": "uint16", "u32": "uint32", "u64": "uint64",
          "f16": "float16", "f32": "float32", "f64": "float64"}

MODEL = """module {
  array.variable @total : tensor<4xf32>
  array.variable @calls : tensor<i64>

  func.func @main(%x: tensor<?x4xf32> {array.name = "x", array.dims = ["batch", ""]}, %s: tensor<f32> {array.name = "scale"})
      -> (tensor<?x4xf32> {array.name = "y"}) attributes {array.dim_range = {batch = [0, 64, 1]}} {
    %y = array.mul %x, %s : (tensor<?x4xf32>, tensor<f32>) -> tensor<?x4xf32>
    return %y : tensor<?x4xf32>
  }
  func.func @two(%x: tensor<4xf32> {array.name = "x"}) -> (tensor<4xf32> {array.name = "twice"}, tensor<f32> {array.name = "sum"}) {
    %t = array.add %x, %x : tensor<4xf32>
    %s = array.reduce sum, %x axes = [0] : tensor<4xf32> -> tensor<f32>
    return %t, %s : tensor<4xf32>, tensor<f32>
  }
  func.func @observe(%x: tensor<4xf32> {array.name = "x"}) {
    %one = array.constant dense<1> : tensor<i64>
    %old = array.variable.read @total : tensor<4xf32>
    %new = array.add %old, %x : tensor<4xf32>
    array.variable.assign @total, %new : tensor<4xf32>
    %n = array.variable.read @calls : tensor<i64>
    %m = array.add %n, %one : tensor<i64>
    array.variable.assign @calls, %m : tensor<i64>
    return
  }
  func.func @in_place(%x: tensor<4xf32> {array.name = "x", array.donated}) -> (tensor<4xf32> {array.name = "y", array.alias = 0}) {
    %y = array.add %x, %x : tensor<4xf32>
    return %y : tensor<4xf32>
  }
  func.func @short(%x: tensor<4xf32> {array.name = "x"}) -> (tensor<4xbf16> {array.name = "y"}) {
    %y = array.convert %x : tensor<4xf32> -> tensor<4xbf16>
    return %y : tensor<4xbf16>
  }
  func.func @negate(%x: tensor<4xi1> {array.name = "x"}) -> (tensor<4xi1> {array.name = "y"}) {
    %y = array.logical_not %x : tensor<4xi1>
    return %y : tensor<4xi1>
  }
}
"""

WEIGHTS = """module {
  func.func @main(%x: tensor<4xf32> {array.name = "x"}) -> (tensor<4xf32> {array.name = "y"}) {
    %w = array.parameter "weights"::"w" : tensor<4xf32>
    %y = array.mul %x, %w : tensor<4xf32>
    return %y : tensor<4xf32>
  }
}
"""

# Long enough for a thread to do something beside it.
LOOP = """module {
  func.func @main(%x: tensor<1024xf32> {array.name = "x"}) -> (tensor<1024xf32> {array.name = "y"}) {
    %zero = array.constant dense<0> : tensor<i32>
    %one = array.constant dense<1> : tensor<i32>
    %rounds = array.constant dense<20000> : tensor<i32>
    %r:2 = array.while %zero, %x : (tensor<i32>, tensor<1024xf32>) -> (tensor<i32>, tensor<1024xf32>) condition {
    ^bb0(%i: tensor<i32>, %a: tensor<1024xf32>):
      %more = array.compare lt, %i, %rounds : (tensor<i32>, tensor<i32>) -> tensor<i1>
      array.yield %more : tensor<i1>
    } body {
    ^bb0(%i: tensor<i32>, %a: tensor<1024xf32>):
      %b = array.cos %a : tensor<1024xf32>
      %next = array.add %i, %one : tensor<i32>
      array.yield %next, %b : tensor<i32>, tensor<1024xf32>
    }
    return %r#1 : tensor<1024xf32>
  }
}
"""


def dtype_program():
    """One function for each element type: y = x + x."""
    functions = []
    for ours in DTYPES:
        mlir = ours.replace("u", "ui") if ours.startswith("u") else ours
        functions.append(f"""  func.func @{ours}(%x: tensor<2x3x{mlir}>) -> tensor<2x3x{mlir}> {{
    %y = array.add %x, %x : tensor<2x3x{mlir}>
    return %y : tensor<2x3x{mlir}>
  }}
""")
    return "module {\n" + "".join(functions) + "}\n"


@functools.lru_cache(maxsize=None)
def compiled(text, target="cpu"):
    return xcompile.compile(text, target=target)
