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

// CHECK-LABEL: func.func @conv_of_padding(
// CHECK-SAME:    %[[X:.*]]: tensor<1x?x7x3xf32>
// CHECK-NOT:     array.pad
// CHECK:         array.conv %[[X]], %{{.*}} low = [1, 1] high = [3, 1] input_dilation = [1, 3]
func.func @conv_of_padding(%x: tensor<1x?x7x3xf32>, %w: tensor<3x3x3x4xf32>) -> tensor<1x?x?x4xf32> {
  %zero = array.constant dense<-0.0> : tensor<f32>
  %p = array.pad %x, %zero low = [0, 1, 2, 0] high = [0, 2, 1, 0] interior = [0, 0, 2, 0]
     : (tensor<1x?x7x3xf32>, tensor<f32>) -> tensor<1x?x22x3xf32>
  %y = array.conv %p, %w dims = <[b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f]> low = [0, -1] high = [1, 0]
     : (tensor<1x?x22x3xf32>, tensor<3x3x3x4xf32>) -> tensor<1x?x?x4xf32>
  return %y : tensor<1x?x?x4xf32>
}

// Not zeros; features that are padded; padding that is spread.
// CHECK-LABEL: func.func @conv_of_other_padding(
// CHECK-COUNT-3: array.pad
func.func @conv_of_other_padding(%x: tensor<1x5x2xf32>, %w: tensor<3x2x4xf32>, %v: tensor<3x4x4xf32>)
    -> (tensor<1x5x4xf32>, tensor<1x3x4xf32>, tensor<1x11x4xf32>) {
  %zero = array.constant dense<0.0> : tensor<f32>
  %one = array.constant dense<1.0> : tensor<f32>
  %0 = array.pad %x, %one low = [0, 1, 0] high = [0, 1, 0] : (tensor<1x5x2xf32>, tensor<f32>) -> tensor<1x7x2xf32>
  %a = array.conv %0, %w dims = <[b, 0, f] x [0, i, o] -> [b, 0, f]> : (tensor<1x7x2xf32>, tensor<3x2x4xf32>) -> tensor<1x5x4xf32>
  %1 = array.pad %x, %zero low = [0, 0, 1] high = [0, 0, 1] : (tensor<1x5x2xf32>, tensor<f32>) -> tensor<1x5x4xf32>
  %b = array.conv %1, %v dims = <[b, 0, f] x [0, i, o] -> [b, 0, f]> : (tensor<1x5x4xf32>, tensor<3x4x4xf32>) -> tensor<1x3x4xf32>
  %2 = array.pad %x, %zero low = [0, 1, 0] high = [0, 1, 0] : (tensor<1x5x2xf32>, tensor<f32>) -> tensor<1x7x2xf32>
  %c = array.conv %2, %w dims = <[b, 0, f] x [0, i, o] -> [b, 0, f]> input_dilation = [2]
     : (tensor<1x7x2xf32>, tensor<3x2x4xf32>) -> tensor<1x11x4xf32>
  return %a, %b, %c : tensor<1x5x4xf32>, tensor<1x3x4xf32>, tensor<1x11x4xf32>
}

// CHECK-LABEL: func.func @window_of_padding(
// CHECK-NOT:     array.pad
// CHECK:         array.reduce_window max, %{{.*}} window = [3] low = [1] high = [3]
// CHECK:         array.reduce_window min, %{{.*}} window = [3] low = [1] high = [2]
func.func @window_of_padding(%x: tensor<5xf32>, %i: tensor<5xui8>) -> (tensor<7xf32>, tensor<6xui8>) {
  %lowest = array.constant dense<0xFF800000> : tensor<f32>
  %0 = array.pad %x, %lowest low = [1] high = [2] : (tensor<5xf32>, tensor<f32>) -> tensor<8xf32>
  %a = array.reduce_window max, %0 window = [3] high = [1] : tensor<8xf32> -> tensor<7xf32>
  %highest = array.constant dense<255> : tensor<ui8>
  %1 = array.pad %i, %highest low = [1] high = [2] : (tensor<5xui8>, tensor<ui8>) -> tensor<8xui8>
  %b = array.reduce_window min, %1 window = [3] : tensor<8xui8> -> tensor<6xui8>
  return %a, %b : tensor<7xf32>, tensor<6xui8>
}

// Zeros count in a maximum, and elements apart are not padding.
// CHECK-LABEL: func.func @window_of_other_padding(
// CHECK-COUNT-2: array.pad
func.func @window_of_other_padding(%x: tensor<5xf32>) -> (tensor<6xf32>, tensor<7xf32>) {
  %zero = array.constant dense<0.0> : tensor<f32>
  %0 = array.pad %x, %zero low = [1] high = [2] : (tensor<5xf32>, tensor<f32>) -> tensor<8xf32>
  %a = array.reduce_window max, %0 window = [3] : tensor<8xf32> -> tensor<6xf32>
  %1 = array.pad %x, %zero low = [0] high = [0] interior = [1] : (tensor<5xf32>, tensor<f32>) -> tensor<9xf32>
  %b = array.reduce_window sum, %1 window = [3] : tensor<9xf32> -> tensor<7xf32>
  return %a, %b : tensor<6xf32>, tensor<7xf32>
}

// -----

// CHECK-LABEL: func.func @sizes_that_are_constants(
// CHECK:         array.adaptive_pool max, %{{.*}} axes = [1] sizes = [2] : tensor<?x6xf32> -> tensor<?x2xf32>
// CHECK:         array.resize nearest, %{{.*}} axes = [0, 1] sizes = [%{{.*}}, 5] : tensor<?x6xf32> -> tensor<?x5xf32>
func.func @sizes_that_are_constants(%x: tensor<?x6xf32>, %m: index) -> (tensor<?x?xf32>, tensor<?x?xf32>) {
  %n = arith.constant 2 : index
  %five = arith.constant 5 : index
  %0 = array.adaptive_pool max, %x axes = [1] sizes = [%n] : tensor<?x6xf32> -> tensor<?x?xf32>
  %1 = array.resize nearest, %x axes = [0, 1] sizes = [%m, %five] : tensor<?x6xf32> -> tensor<?x?xf32>
  return %0, %1 : tensor<?x?xf32>, tensor<?x?xf32>
}

// -----

// A rotary embedding splits the halves of angles that heads share.
// CHECK-LABEL: func.func @split_before_broadcast(
// CHECK-SAME:    %[[X:.*]]: tensor<8x6xf32>, %[[Y:.*]]: tensor<1x6xf32>
// CHECK-DAG:     %[[XS:.*]] = array.reshape %[[X]] : tensor<8x6xf32> -> tensor<8x2x3xf32>
// CHECK-DAG:     %[[XB:.*]] = array.broadcast_in_dim %[[XS]] axes = [1, 2, 3] : tensor<8x2x3xf32> -> tensor<4x8x2x3xf32>
// CHECK-DAG:     %[[YS:.*]] = array.reshape %[[Y]] : tensor<1x6xf32> -> tensor<1x2x3xf32>
// CHECK-DAG:     %[[YB:.*]] = array.broadcast_in_dim %[[YS]] axes = [0, 2, 3] : tensor<1x2x3xf32> -> tensor<2x4x2x3xf32>
// CHECK-DAG:     %[[M:.*]] = array.reshape %{{.*}} : tensor<4x8x6xf32> -> tensor<32x6xf32>
// CHECK:         return %[[XB]], %[[YB]], %[[M]]
func.func @split_before_broadcast(%x: tensor<8x6xf32>, %y: tensor<1x6xf32>) -> (tensor<4x8x2x3xf32>, tensor<2x4x2x3xf32>, tensor<32x6xf32>) {
  %b = array.broadcast_in_dim %x axes = [1, 2] : tensor<8x6xf32> -> tensor<4x8x6xf32>
  %r = array.reshape %b : tensor<4x8x6xf32> -> tensor<4x8x2x3xf32>
  %c = array.broadcast_in_dim %y axes = [0, 1] : tensor<1x6xf32> -> tensor<8x6xf32>
  %s = array.reshape %c : tensor<8x6xf32> -> tensor<2x4x2x3xf32>
  %t = array.reshape %b : tensor<4x8x6xf32> -> tensor<32x6xf32>
  return %r, %s, %t : tensor<4x8x2x3xf32>, tensor<2x4x2x3xf32>, tensor<32x6xf32>
}
