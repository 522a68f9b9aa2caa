// RUN: xc-opt %s -canonicalize -split-input-file | FileCheck %s

// CHECK-LABEL: func.func @power(
// CHECK-SAME: %[[X:.*]]: tensor<4x?xf32>, %[[I:.*]]: tensor<4xi32>, %[[S:.*]]: tensor<f32>)
func.func @power(%x: tensor<4x?xf32>, %i: tensor<4xi32>, %s: tensor<f32>) -> (tensor<4x?xf32>, tensor<4x?xf32>, tensor<4xi32>, tensor<4x?xf32>, tensor<4xf32>) {
  %two = array.constant dense<2.0> : tensor<f32>
  %minus_one = array.constant dense<-1.0> : tensor<f32>
  %three = array.constant dense<3.0> : tensor<f32>
  %itwo = array.constant dense<2> : tensor<4xi32>
  %twos = array.constant dense<2.0> : tensor<4xf32>
  // CHECK: %[[SQUARE:.*]] = array.square %[[X]]
  %0 = array.pow %x, %two : (tensor<4x?xf32>, tensor<f32>) -> tensor<4x?xf32>
  // CHECK: %[[RECIPROCAL:.*]] = array.reciprocal %[[X]]
  %1 = array.pow %x, %minus_one : (tensor<4x?xf32>, tensor<f32>) -> tensor<4x?xf32>
  // CHECK: %[[ISQUARE:.*]] = array.square %[[I]]
  %2 = array.pow %i, %itwo : tensor<4xi32>
  // CHECK: %[[CUBE:.*]] = array.pow %[[X]]
  %3 = array.pow %x, %three : (tensor<4x?xf32>, tensor<f32>) -> tensor<4x?xf32>
  // CHECK: %[[BROADCAST:.*]] = array.pow %[[S]]
  %4 = array.pow %s, %twos : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK: return %[[SQUARE]], %[[RECIPROCAL]], %[[ISQUARE]], %[[CUBE]], %[[BROADCAST]]
  return %0, %1, %2, %3, %4 : tensor<4x?xf32>, tensor<4x?xf32>, tensor<4xi32>, tensor<4x?xf32>, tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @transposed_operands(
// CHECK-SAME: %[[A:.*]]: tensor<2x8x4xf32>, %[[B:.*]]: tensor<16x8xf32>)
func.func @transposed_operands(%a: tensor<2x8x4xf32>, %b: tensor<16x8xf32>) -> tensor<2x4x16xf32> {
  // CHECK-NOT: array.transpose
  // CHECK: array.matmul %[[A]], %[[B]] transpose_a transpose_b : (tensor<2x8x4xf32>, tensor<16x8xf32>) -> tensor<2x4x16xf32>
  %0 = array.transpose %a permutation = [0, 2, 1] : tensor<2x8x4xf32> -> tensor<2x4x8xf32>
  %1 = array.transpose %b permutation = [1, 0] : tensor<16x8xf32> -> tensor<8x16xf32>
  %2 = array.matmul %0, %1 : (tensor<2x4x8xf32>, tensor<8x16xf32>) -> tensor<2x4x16xf32>
  return %2 : tensor<2x4x16xf32>
}

// -----

// CHECK-LABEL: func.func @transposed_twice(
// CHECK-SAME: %[[A:.*]]: tensor<4x8xf32>, %[[B:.*]]: tensor<8x16xf32>)
func.func @transposed_twice(%a: tensor<4x8xf32>, %b: tensor<8x16xf32>) -> tensor<4x16xf32> {
  // CHECK: array.matmul %[[A]], %[[B]] : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  %0 = array.transpose %a permutation = [1, 0] : tensor<4x8xf32> -> tensor<8x4xf32>
  %1 = array.matmul %0, %b transpose_a : (tensor<8x4xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  return %1 : tensor<4x16xf32>
}

// -----

// A transposition that moves a batch dim is another thing.
// CHECK-LABEL: func.func @batch_transposed(
func.func @batch_transposed(%a: tensor<4x2x8xf32>, %b: tensor<8x16xf32>) -> tensor<2x4x16xf32> {
  // CHECK: %[[T:.*]] = array.transpose
  // CHECK: array.matmul %[[T]], %{{.*}} : (tensor<2x4x8xf32>,
  %0 = array.transpose %a permutation = [1, 0, 2] : tensor<4x2x8xf32> -> tensor<2x4x8xf32>
  %1 = array.matmul %0, %b : (tensor<2x4x8xf32>, tensor<8x16xf32>) -> tensor<2x4x16xf32>
  return %1 : tensor<2x4x16xf32>
}

// -----

// An exact conversion in between goes, unless it changes what happens to numbers that do not fit: the float saturates.
// CHECK-LABEL: func.func @converts(
// CHECK-SAME:    %[[X:.*]]: tensor<4xi8>)
// CHECK:         %[[HALF:.*]] = array.convert %[[X]] : tensor<4xi8> -> tensor<4xf16>
// CHECK:         %[[SATURATED:.*]] = array.convert %[[HALF]] : tensor<4xf16> -> tensor<4xui16>
// CHECK:         %[[WIDE:.*]] = array.convert %[[X]] : tensor<4xi8> -> tensor<4xi32>
// CHECK:         return %[[SATURATED]], %[[WIDE]]
func.func @converts(%x: tensor<4xi8>) -> (tensor<4xui16>, tensor<4xi32>) {
  %half = array.convert %x : tensor<4xi8> -> tensor<4xf16>
  %saturated = array.convert %half : tensor<4xf16> -> tensor<4xui16>
  %wide = array.convert %half : tensor<4xf16> -> tensor<4xi32>
  return %saturated, %wide : tensor<4xui16>, tensor<4xi32>
}
