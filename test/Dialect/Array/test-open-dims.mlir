// RUN: xc-opt %s -xc-array-test-open-dims | FileCheck %s
// RUN: xc-opt %s -xc-array-test-open-dims=only-first | FileCheck %s --check-prefix=FIRST

// CHECK-LABEL: func.func @inferred(
// CHECK-SAME:    %[[X:.*]]: tensor<?x?xf32>) -> tensor<?x?xf32>
// CHECK:         %[[Y:.*]] = array.transpose %[[X]] permutation = [1, 0] : tensor<?x?xf32> -> tensor<?x?xf32>
// CHECK:         return %[[Y]]
// FIRST-LABEL: func.func @inferred(
// FIRST-SAME:    %{{.*}}: tensor<?x8xf32>) -> tensor<8x?xf32>
func.func @inferred(%x: tensor<4x8xf32>) -> tensor<8x4xf32> {
  %y = array.transpose %x permutation = [1, 0] : tensor<4x8xf32> -> tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}

// What is broadcast stays so.
// CHECK-LABEL: func.func @broadcast(
// CHECK-SAME:    %{{.*}}: tensor<?x?xf32>, %{{.*}}: tensor<1x?xf32>) -> tensor<?x?xf32>
func.func @broadcast(%x: tensor<4x8xf32>, %y: tensor<1x8xf32>) -> tensor<4x8xf32> {
  %z = array.add %x, %y : (tensor<4x8xf32>, tensor<1x8xf32>) -> tensor<4x8xf32>
  return %z : tensor<4x8xf32>
}

// A rotation needs a static last dim, and a reshape says its sizes.
// CHECK-LABEL: func.func @kept(
// CHECK-SAME:    %[[X:.*]]: tensor<?x?xf32>, %[[P:.*]]: tensor<?xi32>) -> tensor<32xf32>
// CHECK-DAG:     %[[X0:.*]] = tensor.cast %[[X]] : tensor<?x?xf32> to tensor<4x8xf32>
// CHECK-DAG:     %[[P0:.*]] = tensor.cast %[[P]] : tensor<?xi32> to tensor<4xi32>
// CHECK:         array.rope %[[X0]], %[[P0]]
func.func @kept(%x: tensor<4x8xf32>, %p: tensor<4xi32>) -> tensor<32xf32> {
  %y = array.rope %x, %p base = 1.0e4 : (tensor<4x8xf32>, tensor<4xi32>) -> tensor<4x8xf32>
  %z = array.reshape %y : tensor<4x8xf32> -> tensor<32xf32>
  return %z : tensor<32xf32>
}

// CHECK-LABEL: func.func @called(
// CHECK-SAME:    tensor<4xf32>) -> tensor<4xf32>
func.func @called(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// CHECK-LABEL: func.func @caller(
// CHECK-SAME:    %[[X:.*]]: tensor<?xf32>) -> tensor<4xf32>
// CHECK:         %[[X0:.*]] = tensor.cast %[[X]] : tensor<?xf32> to tensor<4xf32>
// CHECK:         call @called(%[[X0]])
func.func @caller(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = func.call @called(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// CHECK-LABEL: func.func @alias(
// CHECK-SAME:    %{{.*}}: tensor<?xf32>) -> (tensor<4xf32> {array.alias = 0 : i64})
func.func @alias(%x: tensor<4xf32> {array.donated}, %y: tensor<4xf32>) -> (tensor<4xf32> {array.alias = 0 : i64}) {
  %z = array.add %x, %y : tensor<4xf32>
  return %z : tensor<4xf32>
}
