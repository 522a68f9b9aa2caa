// RUN: xc-opt %s -xc-verify-input -split-input-file -verify-diagnostics

// Everything that is supported.
array.variable @w : tensor<4xf32>
func.func @main(%x: tensor<?x4xf32>, %p: tensor<4xi1>, %u: tensor<2xui8>) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x4xf32>
  %w = array.variable.read @w : tensor<4xf32>
  %0 = array.add %x, %w : (tensor<?x4xf32>, tensor<4xf32>) -> tensor<?x4xf32>
  %init = tensor.empty(%n) : tensor<?x4xf32>
  %1 = linalg.exp ins(%0 : tensor<?x4xf32>) outs(%init : tensor<?x4xf32>) -> tensor<?x4xf32>
  %2 = arith.addf %1, %1 : tensor<?x4xf32>
  return %2 : tensor<?x4xf32>
}

// -----

// expected-error @below {{argument 1 of 'main' has type 'memref<4xf32>'; expected a ranked tensor}}
func.func @main(%x: tensor<4xf32>, %y: memref<4xf32>) {
  return
}

// -----

// expected-error @below {{result 0 of 'main' has type 'f32'; expected a ranked tensor}}
func.func @main() -> f32 {
  %0 = arith.constant 1.0 : f32
  return %0 : f32
}

// -----

// expected-error @below {{argument 0 of 'main' has type 'tensor<*xf32>'; expected a ranked tensor}}
func.func @main(%x: tensor<*xf32>) {
  return
}

// -----

// expected-error @below {{argument 0 of 'main' has type 'tensor<4xi4>'; supported element types are i1, i8, i16}}
func.func @main(%x: tensor<4xi4>) {
  return
}

// -----

// expected-error @below {{argument 0 of 'main' has type 'tensor<4xf32, "sparse">'; expected a tensor without an encoding, got "sparse"}}
func.func @main(%x: tensor<4xf32, "sparse">) {
  return
}

// -----

// expected-error @below {{argument 0 of 'main' has type 'tensor<4611686018427387904x4xf32>'; its size in bytes does not fit into 63 bits}}
func.func @main(%x: tensor<4611686018427387904x4xf32>) {
  return
}

// -----

func.func @main(%x: tensor<1xi8>) -> tensor<i8> {
  // expected-error @below {{result 0 of 'array.broadcast_in_dim' has type 'tensor<4294967296x2147483648xi8>'; its size in bytes does not fit into 63 bits}}
  %0 = array.broadcast_in_dim %x axes = [0] : tensor<1xi8> -> tensor<4294967296x2147483648xi8>
  %1 = array.reduce sum, %0 axes = [0, 1] : tensor<4294967296x2147483648xi8> -> tensor<i8>
  return %1 : tensor<i8>
}

// -----

// expected-error @below {{function 'main' has no body; expected every function to be here}}
func.func private @main(%x: tensor<4xf32>)

// -----

// expected-error @below {{function 'main' has 2 blocks; expected one: control flow is array.if and array.while}}
func.func @main() {
  cf.br ^next
^next:
  return
}

// -----

func.func @main(%x: tensor<4xf32>, %n: tensor<i1>) -> tensor<4xf32> {
  %true = arith.constant true
  // expected-error @below {{'scf.if' is not supported; supported are array ops, func, linalg on tensors}}
  %0 = scf.if %true -> tensor<4xf32> {
    scf.yield %x : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  // expected-error @below {{'tensor.extract' is not supported outside of linalg bodies}}
  %0 = tensor.extract %x[%c0] : tensor<4xf32>
  %1 = tensor.splat %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = arith.constant 1.0 : f32
  // expected-error @below {{'math.exp' computes a scalar of type 'f32' outside of a tensor op; expected a tensor (of rank 0 for a scalar) or an index}}
  %0 = math.exp %a : f32
  return %x : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4xf32>, %init: tensor<4xf32>) -> tensor<4xf32> {
  %0 = linalg.map ins(%x : tensor<4xf32>) outs(%init : tensor<4xf32>) (%in: f32, %out: f32) {
    %true = arith.constant true
    // expected-error @below {{'scf.if' is not supported in the body of a linalg op}}
    %1 = scf.if %true -> f32 {
      scf.yield %in : f32
    } else {
      scf.yield %out : f32
    }
    linalg.yield %1 : f32
  }
  return %0 : tensor<4xf32>
}

// -----

func.func @main() {
  return
}
// expected-error @below {{'memref.global' is not supported in a module; supported are func.func and array.variable}}
memref.global @g : memref<4xf32>

// -----

// expected-error @below {{expected at least one public function}}
module {
  func.func private @helper() {
    return
  }
}

// -----

func.func @main(
    // expected-note @below {{input 0 is here}}
    %x: tensor<4xf32> {array.name = "x"},
    // expected-error @below {{inputs 0 and 1 of 'main' are both called 'x'}}
    %y: tensor<4xf32> {array.name = "x"}) {
  return
}

// -----

func.func @main(
    // expected-note @below {{input 0 is here}}
    %x: tensor<4xf32> {array.name = "input1"},
    // expected-error @below {{inputs 0 and 1 of 'main' are both called 'input1'}}
    %y: tensor<4xf32>) {
  return
}

// -----

// expected-error @below {{outputs 0 and 1 of 'main' are both called 'y'}}
func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32> {array.name = "y"}, tensor<4xf32> {array.name = "y"}) {
  // expected-note @below {{output 0 is computed here}}
  %0 = array.abs %x : tensor<4xf32>
  // expected-note @below {{output 1 is computed here}}
  %1 = array.neg %x : tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'main' calls itself: main -> main; recursive calls are not supported}}
  %0 = call @main(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// Two calls of one function are none.
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @twice(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = call @twice(%0) : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
func.func private @twice(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @once(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = call @once(%0) : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
func.func private @once(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'affine.for' is not supported; control flow is array.if and array.while}}
  affine.for %i = 0 to 4 {
  }
  return %x : tensor<4xf32>
}

// -----

// Every element of a result is written once.
func.func @main(%x: tensor<4xf32>, %init: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // expected-error @below {{result 0 of 'linalg.generic' is written at affine_map<(d0) -> (d0, d0)>; expected different loops of the op, or constants, as its indices}}
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i, i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<4xf32>) outs(%init : tensor<4x4xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // expected-note @below {{it is this tensor.empty}}
  %0 = tensor.empty() : tensor<4xf32>
  // expected-error @below {{'func.return' reads operand 1, whose elements have no values; expected an op that computes them, such as linalg.fill}}
  return %x, %0 : tensor<4xf32>, tensor<4xf32>
}

// -----

func.func @main(%x: tensor<16x8xf32>, %init: tensor<2x2x8x4xf32>) -> tensor<2x2x8x4xf32> {
  // expected-error @below {{'linalg.pack' is not supported; supported of linalg are the structured ops and linalg.softmax}}
  %0 = linalg.pack %x inner_dims_pos = [0, 1] inner_tiles = [8, 4] into %init : tensor<16x8xf32> -> tensor<2x2x8x4xf32>
  return %0 : tensor<2x2x8x4xf32>
}

// -----

func.func @main() -> tensor<4xi64> {
  // expected-error @below {{'tensor.generate' is not supported outside of linalg bodies; supported of tensor are cast, collapse_shape, concat, dim, empty, expand_shape, extract_slice, from_elements, insert_slice, pad and splat}}
  %0 = tensor.generate {
  ^bb0(%i: index):
    %n = arith.index_cast %i : index to i64
    tensor.yield %n : i64
  } : tensor<4xi64>
  return %0 : tensor<4xi64>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'array.constant' has elements that are not supported; expected dense<...> or dense_resource<...>}}
  %0 = array.constant sparse<0, 1.0> : tensor<4xf32>
  %1 = array.add %x, %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// expected-error @below {{'array.variable' has elements that are not supported; expected dense<...> or dense_resource<...>}}
array.variable @v : tensor<4xf32> = sparse<0, 1.0>
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'arith.constant' has 0 bytes in resource 'absent'; expected 16 for 'tensor<4xf32>'}}
  %0 = arith.constant dense_resource<absent> : tensor<4xf32>
  %1 = array.add %x, %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<32xf32>) {
  // expected-note @below {{it is this tensor.empty}}
  %0 = tensor.empty() : tensor<4x8xf32>
  %1 = tensor.collapse_shape %0 [[0, 1]] : tensor<4x8xf32> into tensor<32xf32>
  // expected-error @below {{'func.return' reads operand 1, whose elements have no values; expected an op that computes them, such as linalg.fill}}
  return %x, %1 : tensor<4x8xf32>, tensor<32xf32>
}

// -----

#id = affine_map<(d0) -> (d0)>
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-note @below {{it is this tensor.empty}}
  %0 = tensor.empty() : tensor<4xf32>
  // expected-error @below {{'linalg.generic' reads operand 1, whose elements have no values; expected an op that computes them, such as linalg.fill}}
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<4xf32>) outs(%0 : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %b : f32
  } -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// What has no elements has all of its values.
func.func @main() -> tensor<0x4xf32> {
  %0 = tensor.empty() : tensor<0x4xf32>
  return %0 : tensor<0x4xf32>
}

// -----

// expected-error @below {{'func.func' op expected a name: programs find functions and variables by theirs}}
func.func @""(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// expected-error @below {{'array.variable' op expected a name}}
array.variable @"" : tensor<4xf32>
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<3xf32> {
  // expected-error @below {{'array.reduce_window' has no attribute 'stride'; did you mean 'strides'? known are dilation, high, kind, low, strides, window}}
  %0 = array.reduce_window max, %x window = [2] {stride = array<i64: 2>} : tensor<4xf32> -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----

// Attributes of a dialect are not the op's own.
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = array.neg %x {tool.note = "mine"} : tensor<4xf32>
  return %0 : tensor<4xf32>
}
