// RUN: xc-opt %s -canonicalize -cse -split-input-file | FileCheck %s

// CHECK-LABEL: func.func @no_ops(
// CHECK-SAME: %[[X:.*]]: tensor<4x8xf32>, %[[V:.*]]: tensor<f32>)
func.func @no_ops(%x: tensor<4x8xf32>, %v: tensor<f32>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) {
  %0 = array.reshape %x : tensor<4x8xf32> -> tensor<4x8xf32>
  %1 = array.broadcast_in_dim %x axes = [0, 1] : tensor<4x8xf32> -> tensor<4x8xf32>
  %2 = array.transpose %x permutation = [0, 1] : tensor<4x8xf32> -> tensor<4x8xf32>
  %3 = array.reverse %x axes = [] : tensor<4x8xf32> -> tensor<4x8xf32>
  %4 = array.slice %x [:, 0:8] : tensor<4x8xf32> -> tensor<4x8xf32>
  %5 = array.concatenate %x axis = 0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %6 = array.pad %x, %v low = [0, 0] high = [0, 0] interior = [0, 0] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %7 = array.reduce max, %x axes = [] : tensor<4x8xf32> -> tensor<4x8xf32>
  // CHECK: return %[[X]], %[[X]], %[[X]], %[[X]], %[[X]], %[[X]], %[[X]], %[[X]]
  return %0, %1, %2, %3, %4, %5, %6, %7 : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

// CHECK-LABEL: func.func @inverse_pairs(
// CHECK-SAME: %[[X:.*]]: tensor<4x?xf32>, %[[Y:.*]]: tensor<4x8xf32>)
func.func @inverse_pairs(%x: tensor<4x?xf32>, %y: tensor<4x8xf32>) -> (tensor<4x?xf32>, tensor<4x?xf32>, tensor<4x8xf32>) {
  %0 = array.transpose %x permutation = [1, 0] : tensor<4x?xf32> -> tensor<?x4xf32>
  %1 = array.transpose %0 permutation = [1, 0] : tensor<?x4xf32> -> tensor<4x?xf32>
  %2 = array.reverse %x axes = [1] : tensor<4x?xf32> -> tensor<4x?xf32>
  %3 = array.reverse %2 axes = [1] : tensor<4x?xf32> -> tensor<4x?xf32>
  %4 = array.reshape %y : tensor<4x8xf32> -> tensor<2x16xf32>
  %5 = array.reshape %4 : tensor<2x16xf32> -> tensor<4x8xf32>
  // CHECK: return %[[X]], %[[X]], %[[Y]]
  return %1, %3, %5 : tensor<4x?xf32>, tensor<4x?xf32>, tensor<4x8xf32>
}

// -----

// CHECK-LABEL: func.func @merged(
// CHECK-SAME: %[[X:.*]]: tensor<2x3x4xf32>, %[[V:.*]]: tensor<4xf32>)
func.func @merged(%x: tensor<2x3x4xf32>, %v: tensor<4xf32>) -> (tensor<3x4x2xf32>, tensor<24xf32>, tensor<5x6x4xf32>, tensor<7x3x4xf32>) {
  // CHECK-DAG: %[[T:.*]] = array.transpose %[[X]] permutation = [1, 2, 0]
  %0 = array.transpose %x permutation = [2, 0, 1] : tensor<2x3x4xf32> -> tensor<4x2x3xf32>
  %1 = array.transpose %0 permutation = [2, 0, 1] : tensor<4x2x3xf32> -> tensor<3x4x2xf32>
  // CHECK-DAG: %[[R:.*]] = array.reshape %[[X]] : tensor<2x3x4xf32> -> tensor<24xf32>
  %2 = array.reshape %x : tensor<2x3x4xf32> -> tensor<6x4xf32>
  %3 = array.reshape %2 : tensor<6x4xf32> -> tensor<24xf32>
  // CHECK-DAG: %[[B:.*]] = array.broadcast_in_dim %[[V]] axes = [2] : tensor<4xf32> -> tensor<5x6x4xf32>
  %4 = array.broadcast_in_dim %v axes = [1] : tensor<4xf32> -> tensor<6x4xf32>
  %5 = array.broadcast_in_dim %4 axes = [1, 2] : tensor<6x4xf32> -> tensor<5x6x4xf32>
  %empty = array.slice %x [1:1, :, :] : tensor<2x3x4xf32> -> tensor<0x3x4xf32>
  %row = array.slice %x [0:1, :, :] : tensor<2x3x4xf32> -> tensor<1x3x4xf32>
  // CHECK-DAG: %[[ROW:.*]] = array.slice %[[X]] [:1, :, :]
  // CHECK-DAG: %[[C:.*]] = array.concatenate %[[X]], %[[X]], %[[ROW]], %[[X]] axis = 0
  %6 = array.concatenate %x, %row axis = 0 : (tensor<2x3x4xf32>, tensor<1x3x4xf32>) -> tensor<3x3x4xf32>
  %7 = array.concatenate %x, %6, %empty, %x axis = 0 : (tensor<2x3x4xf32>, tensor<3x3x4xf32>, tensor<0x3x4xf32>, tensor<2x3x4xf32>) -> tensor<7x3x4xf32>
  // CHECK: return %[[T]], %[[R]], %[[B]], %[[C]]
  return %1, %3, %5, %7 : tensor<3x4x2xf32>, tensor<24xf32>, tensor<5x6x4xf32>, tensor<7x3x4xf32>
}

// -----

// CHECK-LABEL: func.func @moved_constants(
func.func @moved_constants() -> (tensor<3x2xi32>, tensor<2x3xi32>, tensor<1x2xi32>, tensor<6xi32>, tensor<3x3xi32>, tensor<5x4xi32>, tensor<4x4xi32>) {
  %x = array.constant dense<[[0, 1, 2], [3, 4, 5]]> : tensor<2x3xi32>
  %row = array.constant dense<9> : tensor<1x3xi32>
  %nine = array.constant dense<9> : tensor<i32>
  // CHECK-DAG: %[[T:.*]] = array.constant dense<{{\[\[}}0, 3], [1, 4], [2, 5]]> : tensor<3x2xi32>
  %0 = array.transpose %x permutation = [1, 0] : tensor<2x3xi32> -> tensor<3x2xi32>
  // CHECK-DAG: %[[REVERSE:.*]] = array.constant dense<{{\[\[}}2, 1, 0], [5, 4, 3]]> : tensor<2x3xi32>
  %1 = array.reverse %x axes = [1] : tensor<2x3xi32> -> tensor<2x3xi32>
  // CHECK-DAG: %[[SLICE:.*]] = array.constant dense<{{\[\[}}3, 5]]> : tensor<1x2xi32>
  %2 = array.slice %x [1:, ::2] : tensor<2x3xi32> -> tensor<1x2xi32>
  // CHECK-DAG: %[[FLAT:.*]] = array.constant dense<[0, 1, 2, 3, 4, 5]> : tensor<6xi32>
  %3 = array.reshape %x : tensor<2x3xi32> -> tensor<6xi32>
  // CHECK-DAG: %[[JOINED:.*]] = array.constant dense<{{\[\[}}0, 1, 2], [3, 4, 5], [9, 9, 9]]> : tensor<3x3xi32>
  %4 = array.concatenate %x, %row axis = 0 : (tensor<2x3xi32>, tensor<1x3xi32>) -> tensor<3x3xi32>
  // CHECK-DAG: %[[SPREAD:.*]] = array.constant dense<9> : tensor<5x4xi32>
  %5 = array.broadcast_in_dim %nine axes = [] : tensor<i32> -> tensor<5x4xi32>
  // CHECK-DAG: %[[PADDED:.*]] = array.constant dense<9> : tensor<4x4xi32>
  %6 = array.pad %row, %nine low = [3, 1] high = [0, 0] : (tensor<1x3xi32>, tensor<i32>) -> tensor<4x4xi32>
  // CHECK: return %[[T]], %[[REVERSE]], %[[SLICE]], %[[FLAT]], %[[JOINED]], %[[SPREAD]], %[[PADDED]]
  return %0, %1, %2, %3, %4, %5, %6 : tensor<3x2xi32>, tensor<2x3xi32>, tensor<1x2xi32>, tensor<6xi32>, tensor<3x3xi32>, tensor<5x4xi32>, tensor<4x4xi32>
}

// -----

// Sizes are worked out without the tensors.
// CHECK-LABEL: func.func @sizes(
// CHECK-SAME: %[[X:.*]]: tensor<?x8xf32>, %[[Y:.*]]: tensor<?x8xf32>)
func.func @sizes(%x: tensor<?x8xf32>, %y: tensor<?x8xf32>) -> (index, index, index, tensor<f32>) {
  // CHECK-DAG: %[[C8:.*]] = arith.constant 8 : index
  // CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
  // CHECK-DAG: %[[A:.*]] = tensor.dim %[[X]], %[[C0]]
  // CHECK-DAG: %[[B:.*]] = tensor.dim %[[Y]], %[[C0]]
  // CHECK-DAG: %[[SUM:.*]] = arith.addi %[[A]], %[[B]]
  %0 = array.concatenate %x, %y axis = 0 : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  %1 = array.exp %0 : tensor<?x8xf32>
  %2 = array.dim %1, 0 : tensor<?x8xf32>
  %3 = array.dim %1, 1 : tensor<?x8xf32>
  // CHECK-DAG: %[[PRODUCT:.*]] = arith.muli %[[A]], %[[C8]]
  %4 = array.reshape %x : tensor<?x8xf32> -> tensor<?xf32>
  %5 = array.dim %4, 0 : tensor<?xf32>
  // CHECK-DAG: %[[F8:.*]] = array.constant dense<8.000000e+00> : tensor<f32>
  %6 = array.from_index %3 : tensor<f32>
  // CHECK: return %[[SUM]], %[[C8]], %[[PRODUCT]], %[[F8]]
  return %2, %3, %5, %6 : index, index, index, tensor<f32>
}

// -----

// CHECK-LABEL: func.func @constant_sizes(
// CHECK-SAME: %[[X:.*]]: tensor<4x6xf32>, %[[N:.*]]: index)
func.func @constant_sizes(%x: tensor<4x6xf32>, %n: index) -> (tensor<?x?xi32>, tensor<?x3xf32>, tensor<?x4x6xf32>) {
  %c5 = arith.constant 5 : index
  // CHECK-DAG: %[[IOTA:.*]] = array.iota axis = 0 sizes(%[[N]]) : tensor<5x?xi32>
  // CHECK-DAG: %[[CAST:.*]] = tensor.cast %[[IOTA]] : tensor<5x?xi32> to tensor<?x?xi32>
  %0 = array.iota axis = 0 sizes(%c5, %n) : tensor<?x?xi32>
  // CHECK-DAG: %[[RESHAPE:.*]] = array.reshape %[[X]] : tensor<4x6xf32> -> tensor<8x3xf32>
  // CHECK-DAG: %[[CAST1:.*]] = tensor.cast %[[RESHAPE]]
  %1 = array.reshape %x : tensor<4x6xf32> -> tensor<?x3xf32>
  // CHECK-DAG: %[[BROADCAST:.*]] = array.broadcast_in_dim %[[X]] axes = [1, 2] : tensor<4x6xf32> -> tensor<5x4x6xf32>
  // CHECK-DAG: %[[CAST2:.*]] = tensor.cast %[[BROADCAST]]
  %2 = array.broadcast_in_dim %x axes = [1, 2] sizes(%c5) : tensor<4x6xf32> -> tensor<?x4x6xf32>
  // CHECK: return %[[CAST]], %[[CAST1]], %[[CAST2]]
  return %0, %1, %2 : tensor<?x?xi32>, tensor<?x3xf32>, tensor<?x4x6xf32>
}

// -----

// A size that cannot be right is left for run time to report.
// CHECK-LABEL: func.func @contradictions(
func.func @contradictions(%x: tensor<4x6xf32>) -> (tensor<?x6xf32>, tensor<?x6xf32>) {
  %c5 = arith.constant 5 : index
  // CHECK: array.reshape %{{.*}} sizes(%{{.*}}) : tensor<4x6xf32> -> tensor<?x6xf32>
  %0 = array.reshape %x sizes(%c5) : tensor<4x6xf32> -> tensor<?x6xf32>
  // CHECK: array.broadcast_in_dim %{{.*}} sizes(%{{.*}}) : tensor<4x6xf32> -> tensor<?x6xf32>
  %1 = array.broadcast_in_dim %x axes = [0, 1] sizes(%c5) : tensor<4x6xf32> -> tensor<?x6xf32>
  return %0, %1 : tensor<?x6xf32>, tensor<?x6xf32>
}

// Integers, and extrema of floats: sums of those depend on the order, which is the device's.
// CHECK-LABEL: func.func @reduce_constants(
// CHECK-DAG:     array.constant dense<[5, 7, 9]> : tensor<3xi32>
// CHECK-DAG:     array.constant dense<[{{\[}}3.000000e+00], [0x7FC00000]]> : tensor<2x1xf32>
// CHECK-DAG:     array.constant dense<-128> : tensor<i8>
// CHECK-DAG:     array.constant dense<true> : tensor<i1>
// CHECK:         array.reduce sum
// CHECK-NOT:     array.reduce
func.func @reduce_constants() -> (tensor<3xi32>, tensor<2x1xf32>, tensor<i8>, tensor<i1>, tensor<f32>) {
  %i = array.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %f = array.constant dense<[[1.0, 3.0], [0x7FC00000, 2.0]]> : tensor<2x2xf32>
  %b = array.constant dense<64> : tensor<2xi8>
  %p = array.constant dense<[true, false]> : tensor<2xi1>
  %0 = array.reduce sum, %i axes = [0] : tensor<2x3xi32> -> tensor<3xi32>
  %1 = array.reduce max, %f axes = [1] keepdims : tensor<2x2xf32> -> tensor<2x1xf32>
  %2 = array.reduce sum, %b axes = [0] : tensor<2xi8> -> tensor<i8>
  %3 = array.reduce or, %p axes = [0] : tensor<2xi1> -> tensor<i1>
  %4 = array.reduce sum, %f axes = [0, 1] : tensor<2x2xf32> -> tensor<f32>
  return %0, %1, %2, %3, %4 : tensor<3xi32>, tensor<2x1xf32>, tensor<i8>, tensor<i1>, tensor<f32>
}

// One element is added to 0, which -0 does not change.
// CHECK-LABEL: func.func @sum_of_one(
// CHECK-DAG:     array.constant dense<[0.000000e+00, 1.000000e+00]> : tensor<2xf32>
// CHECK-DAG:     array.constant dense<[-0.000000e+00, 1.000000e+00]> : tensor<2xf32>
func.func @sum_of_one() -> (tensor<2xf32>, tensor<2xf32>) {
  %x = array.constant dense<[[-0.0], [1.0]]> : tensor<2x1xf32>
  %0 = array.reduce sum, %x axes = [1] : tensor<2x1xf32> -> tensor<2xf32>
  %1 = array.reduce prod, %x axes = [1] : tensor<2x1xf32> -> tensor<2xf32>
  return %0, %1 : tensor<2xf32>, tensor<2xf32>
}

// CHECK-LABEL: func.func @square_roots(
// CHECK-DAG:     array.constant dense<[1.41421354, 0.000000e+00, 0x7FC00000]> : tensor<3xf32>
// CHECK-DAG:     array.constant dense<1.4142135623730951> : tensor<f64>
// CHECK-NOT:     array.sqrt
func.func @square_roots() -> (tensor<3xf32>, tensor<f64>) {
  %f = array.constant dense<[2.0, 0.0, -1.0]> : tensor<3xf32>
  %d = array.constant dense<2.0> : tensor<f64>
  %0 = array.sqrt %f : tensor<3xf32>
  %1 = array.sqrt %d : tensor<f64>
  return %0, %1 : tensor<3xf32>, tensor<f64>
}

// -----

// CHECK-LABEL: func.func @slice_of_joined
// CHECK-SAME:    %[[X:.*]]: tensor<4x2xi32>, %[[Y:.*]]: tensor<4x1xi32>
// CHECK:         %[[Z:.*]] = array.slice
// CHECK:         return %[[X]], %[[Y]], %[[Z]]
func.func @slice_of_joined(%x: tensor<4x2xi32>, %y: tensor<4x1xi32>) -> (tensor<4x2xi32>, tensor<4x1xi32>, tensor<4x2xi32>) {
  %j = array.concatenate %x, %y axis = 1 : (tensor<4x2xi32>, tensor<4x1xi32>) -> tensor<4x3xi32>
  %a = array.slice %j [:4, :2] : tensor<4x3xi32> -> tensor<4x2xi32>
  %b = array.slice %j [:4, 2:3] : tensor<4x3xi32> -> tensor<4x1xi32>
  %c = array.slice %j [:4, 1:3] : tensor<4x3xi32> -> tensor<4x2xi32>
  return %a, %b, %c : tensor<4x2xi32>, tensor<4x1xi32>, tensor<4x2xi32>
}
