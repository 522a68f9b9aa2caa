// RUN: xc-opt %s -split-input-file -xc-import-stablehlo -canonicalize -cse | FileCheck %s --implicit-check-not=stablehlo --implicit-check-not=f8E --implicit-check-not=i4

// A float of few bits is its bits at the boundary, and bf16 inside: a product of them is one of bf16.
// CHECK-LABEL: func.func @product_of_floats(
// CHECK-SAME:    %{{.*}}: tensor<4x8xui8>, %{{.*}}: tensor<8x4xui8>) -> tensor<4x4xf32>
// CHECK:         array.dot_general {{.*}} : (tensor<4x8xbf16>, tensor<8x4xbf16>) -> tensor<4x4xf32>
func.func @product_of_floats(%a: tensor<4x8xf8E4M3FN>, %b: tensor<8x4xf8E5M2>) -> tensor<4x4xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<4x8xf8E4M3FN>, tensor<8x4xf8E5M2>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

// Arithmetic is done in f32, and its result rounded to bf16 that is a number of the type.
// CHECK-LABEL: func.func private @sum_of_floats(
// CHECK-SAME:    %[[X:.*]]: tensor<4xbf16>) -> tensor<4xbf16>
// CHECK:         %[[WIDE:.*]] = array.convert %[[X]] : tensor<4xbf16> -> tensor<4xf32>
// CHECK:         array.add %[[WIDE]], %[[WIDE]] : tensor<4xf32>
// CHECK:         array.bitcast
// CHECK:         %[[Y:.*]] = array.convert {{.*}} -> tensor<4xbf16>
// CHECK:         return %[[Y]]
func.func private @sum_of_floats(%x: tensor<4xf8E4M3FN>) -> tensor<4xf8E4M3FN> {
  %0 = stablehlo.add %x, %x : tensor<4xf8E4M3FN>
  return %0 : tensor<4xf8E4M3FN>
}

// -----

// What moves elements moves carriers.
// CHECK-LABEL: func.func @moves(
// CHECK-SAME:    %[[X:.*]]: tensor<2x3xi8>) -> tensor<3x2xi8>
// CHECK-NEXT:    %[[Y:.*]] = array.transpose %[[X]]
// CHECK-NEXT:    return %[[Y]]
func.func @moves(%x: tensor<2x3xi4>) -> tensor<3x2xi4> {
  %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<2x3xi4>) -> tensor<3x2xi4>
  return %0 : tensor<3x2xi4>
}

// -----

// Integers wrap: the upper bits are copies of the sign.
// CHECK-LABEL: func.func @wraps(
// CHECK:         %[[SUM:.*]] = array.add
// CHECK:         %[[HIGH:.*]] = array.shift_left %[[SUM]]
// CHECK:         array.shift_right_arithmetic %[[HIGH]]
func.func @wraps(%x: tensor<4xi4>) -> tensor<4xi4> {
  %0 = stablehlo.add %x, %x : tensor<4xi4>
  return %0 : tensor<4xi4>
}

// -----

// Quantized numbers: their storage type, and in between what they stand for.
// CHECK-LABEL: func.func @quantized(
// CHECK-SAME:    %[[X:.*]]: tensor<2xi8>) -> tensor<2xi8>
// CHECK:         %[[WIDE:.*]] = array.convert %[[X]] : tensor<2xi8> -> tensor<2xf32>
// CHECK:         array.sub %[[WIDE]]
// CHECK:         array.mul
// CHECK:         array.round
// CHECK:         array.clamp
// CHECK:         array.convert {{.*}} -> tensor<2xi8>
func.func @quantized(%x: tensor<2x!quant.uniform<i8:f32, 0.5:-20>>) -> tensor<2x!quant.uniform<i8:f32, 0.25:3>> {
  %0 = stablehlo.uniform_quantize %x : (tensor<2x!quant.uniform<i8:f32, 0.5:-20>>) -> tensor<2x!quant.uniform<i8:f32, 0.25:3>>
  return %0 : tensor<2x!quant.uniform<i8:f32, 0.25:3>>
}
