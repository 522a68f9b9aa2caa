// RUN: xc-opt %s -split-input-file -xc-array-narrow-weights -verify-diagnostics | FileCheck %s
// RUN: xc-opt %s -split-input-file -xc-array-narrow-weights=type=f16 -verify-diagnostics | FileCheck %s --check-prefix=F16
// RUN: not xc-opt %s -split-input-file -xc-array-narrow-weights=type=f64 2>&1 | FileCheck %s --check-prefix=TYPE

// TYPE: expected bf16 or f16 as the type of weights, got 'f64'

// A product takes the narrow weight and rounds its other operand; sums and result are f32.
// CHECK-LABEL: func.func @product(
// CHECK-SAME:    %[[X:.*]]: tensor<?x32xf32>
// CHECK:         %[[W:.*]] = array.parameter "w"::"w" : tensor<32x32xbf16>
// CHECK:         %[[N:.*]] = array.convert %[[X]] : tensor<?x32xf32> -> tensor<?x32xbf16>
// CHECK:         array.matmul %[[N]], %[[W]] : (tensor<?x32xbf16>, tensor<32x32xbf16>) -> tensor<?x32xf32>
// F16-LABEL: func.func @product(
// F16:         array.matmul %{{.*}}, %{{.*}} : (tensor<?x32xf16>, tensor<32x32xf16>) -> tensor<?x32xf32>
func.func @product(%x: tensor<?x32xf32>) -> tensor<?x32xf32> {
  %w = array.parameter "w"::"w" : tensor<32x32xf32>
  %y = array.matmul %x, %w allow_tf32 : (tensor<?x32xf32>, tensor<32x32xf32>) -> tensor<?x32xf32>
  return %y : tensor<?x32xf32>
}

// -----

// Moved weights are weights; a lookup gives f32. What else reads one reads it in f32, as does a function that has no product.
// CHECK-LABEL: func.func @moved(
// CHECK:         %[[W:.*]] = array.parameter "w"::"table" : tensor<64x32xbf16>
// CHECK:         %[[F:.*]] = array.convert %[[W]] : tensor<64x32xbf16> -> tensor<64x32xf32>
// CHECK:         %[[R:.*]] = array.take %[[W]]{{.*}} -> tensor<4x32xbf16>
// CHECK:         %[[X:.*]] = array.convert %[[R]] : tensor<4x32xbf16> -> tensor<4x32xf32>
// CHECK:         %[[T:.*]] = array.transpose %[[W]]{{.*}} : tensor<64x32xbf16> -> tensor<32x64xbf16>
// CHECK:         %[[S:.*]] = array.slice %[[T]]
// CHECK:         %[[Y:.*]] = array.matmul %[[R]], %[[S]] : (tensor<4x32xbf16>, tensor<32x16xbf16>) -> tensor<4x16xf32>
// CHECK:         %[[Z:.*]] = array.reduce sum, %[[F]]
// CHECK:         return %[[Y]], %[[X]], %[[Z]]
// CHECK-LABEL: func.func @elsewhere(
// CHECK:         array.convert %{{.*}} : tensor<64x32xbf16> -> tensor<64x32xf32>
func.func @moved(%ids: tensor<4xi32>) -> (tensor<4x16xf32>, tensor<4x32xf32>, tensor<64xf32>) {
  %w = array.parameter "w"::"table" : tensor<64x32xf32>
  %x = array.take %w[%ids] axis = 0 : (tensor<64x32xf32>, tensor<4xi32>) -> tensor<4x32xf32>
  %t = array.transpose %w permutation = [1, 0] : tensor<64x32xf32> -> tensor<32x64xf32>
  %s = array.slice %t [:, :16] : tensor<32x64xf32> -> tensor<32x16xf32>
  %y = array.matmul %x, %s : (tensor<4x32xf32>, tensor<32x16xf32>) -> tensor<4x16xf32>
  %z = array.reduce sum, %w axes = [1] : tensor<64x32xf32> -> tensor<64xf32>
  return %y, %x, %z : tensor<4x16xf32>, tensor<4x32xf32>, tensor<64xf32>
}
func.func @elsewhere() -> tensor<64x32xf32> {
  %w = array.parameter "w"::"table" : tensor<64x32xf32>
  %y = array.exp %w : tensor<64x32xf32>
  return %y : tensor<64x32xf32>
}

// -----

// Small weights save nothing; norms' scales, what is added, and what Winograd's algorithm transforms are in f32.
// CHECK-LABEL: func.func @stay(
// CHECK-NOT:     bf16
func.func @stay(%x: tensor<4x32xf32>, %i: tensor<1x8x8x32xf32>) -> (tensor<4x8xf32>, tensor<4x32xf32>, tensor<1x6x6x32xf32>) {
  %w = array.parameter "w"::"small" : tensor<32x8xf32>
  %p = array.parameter "w"::"positions" : tensor<64x32xf32>
  %f = array.parameter "w"::"filter" : tensor<3x3x32x32xf32>
  %y = array.matmul %x, %w : (tensor<4x32xf32>, tensor<32x8xf32>) -> tensor<4x8xf32>
  %s = array.slice %p [:4, :] : tensor<64x32xf32> -> tensor<4x32xf32>
  %z = array.add %x, %s : tensor<4x32xf32>
  %c = array.conv %i, %f dims = <[b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f]> algorithm = winograd
     : (tensor<1x8x8x32xf32>, tensor<3x3x32x32xf32>) -> tensor<1x6x6x32xf32>
  return %y, %z, %c : tensor<4x8xf32>, tensor<4x32xf32>, tensor<1x6x6x32xf32>
}

// -----

// Of a product in a loop.
// CHECK-LABEL: func.func @loop(
// CHECK:         %[[W:.*]] = array.parameter "w"::"w" : tensor<32x32xbf16>
// CHECK:         array.while
// CHECK:           array.matmul %{{.*}}, %[[W]]
func.func @loop(%x: tensor<4x32xf32>, %p: tensor<i1>) -> tensor<4x32xf32> {
  %w = array.parameter "w"::"w" : tensor<32x32xf32>
  %y = array.while %x : (tensor<4x32xf32>) -> tensor<4x32xf32> condition {
  ^bb0(%v: tensor<4x32xf32>):
    array.yield %p : tensor<i1>
  } body {
  ^bb0(%v: tensor<4x32xf32>):
    %r = array.matmul %v, %w : (tensor<4x32xf32>, tensor<32x32xf32>) -> tensor<4x32xf32>
    array.yield %r : tensor<4x32xf32>
  }
  return %y : tensor<4x32xf32>
}
