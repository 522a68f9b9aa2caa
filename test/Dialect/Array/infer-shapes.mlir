// RUN: xc-opt %s -xc-array-infer-shapes -split-input-file | FileCheck %s

// CHECK-LABEL: func.func @through_ops(
// CHECK-SAME: %[[X:.*]]: tensor<4x8xf32>) -> (tensor<8x4xf32>, tensor<4xf32>)
func.func @through_ops(%x: tensor<4x8xf32>) -> (tensor<?x?xf32>, tensor<?xf32>) {
  // CHECK: array.exp %[[X]] : tensor<4x8xf32>
  %0 = array.exp %x : tensor<4x8xf32> -> tensor<?x?xf32>
  // CHECK: array.transpose %{{.*}} : tensor<4x8xf32> -> tensor<8x4xf32>
  %1 = array.transpose %0 permutation = [1, 0] : tensor<?x?xf32> -> tensor<?x?xf32>
  // CHECK: array.convert %{{.*}} : tensor<4x8xf32> -> tensor<4x8xi32>
  %2 = array.convert %0 : tensor<?x?xf32> -> tensor<?x?xi32>
  // CHECK: array.argmax %{{.*}} : tensor<4x8xi32> -> tensor<4xi32>
  %3 = array.argmax %2 axis = 1 : tensor<?x?xi32> -> tensor<?xi32>
  %4 = array.convert %3 : tensor<?xi32> -> tensor<?xf32>
  return %1, %4 : tensor<?x?xf32>, tensor<?xf32>
}

// -----

// CHECK-LABEL: func.func @sizes(
// CHECK-SAME: %[[X:.*]]: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<8x4xf32>, tensor<16x2xf32>, tensor<12xi32>)
func.func @sizes(%x: tensor<4x8xf32>) -> (tensor<?x8xf32>, tensor<?x4xf32>, tensor<?x2xf32>, tensor<?xi32>) {
  %0 = tensor.cast %x : tensor<4x8xf32> to tensor<?x8xf32>
  %n = array.dim %0, 0 : tensor<?x8xf32>
  %m = array.dim %0, 1 : tensor<?x8xf32>
  %row = array.slice %0 [0:1, :] : tensor<?x8xf32> -> tensor<1x8xf32>
  // CHECK: array.broadcast_in_dim %{{.*}} axes = [0, 1] : tensor<1x8xf32> -> tensor<4x8xf32>
  %1 = array.broadcast_in_dim %row axes = [0, 1] sizes(%n) : tensor<1x8xf32> -> tensor<?x8xf32>
  // CHECK: array.reshape %{{.*}} : tensor<4x8xf32> -> tensor<8x4xf32>
  %2 = array.reshape %0 sizes(%m) : tensor<?x8xf32> -> tensor<?x4xf32>
  // CHECK: array.reshape %{{.*}} : tensor<4x8xf32> -> tensor<16x2xf32>
  %3 = array.reshape %0 : tensor<?x8xf32> -> tensor<?x2xf32>
  %sum = arith.addi %n, %m : index
  // CHECK: array.iota axis = 0 : tensor<12xi32>
  %4 = array.iota axis = 0 sizes(%sum) : tensor<?xi32>
  return %1, %2, %3, %4 : tensor<?x8xf32>, tensor<?x4xf32>, tensor<?x2xf32>, tensor<?xi32>
}

// -----

// A declared type may say more than the operands do.
// CHECK-LABEL: func.func @from_result_type(
// CHECK-SAME: -> tensor<4x8xf32>
func.func @from_result_type(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  // CHECK: array.exp %{{.*}} : tensor<?x8xf32> -> tensor<4x8xf32>
  %0 = array.exp %x : tensor<?x8xf32> -> tensor<4x?xf32>
  // CHECK: array.log %{{.*}} : tensor<4x8xf32>
  %1 = array.log %0 : tensor<4x?xf32> -> tensor<?x8xf32>
  return %1 : tensor<?x8xf32>
}

// -----

// What is learnt crosses calls, in both directions.
// CHECK-LABEL: func.func @caller(
// CHECK-SAME: %[[X:.*]]: tensor<4x8xf32>) -> tensor<4x8xf32>
func.func @caller(%x: tensor<4x8xf32>) -> tensor<?x8xf32> {
  // CHECK-NOT: tensor.cast
  %0 = tensor.cast %x : tensor<4x8xf32> to tensor<?x?xf32>
  // CHECK: call @callee(%[[X]]) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = call @callee(%0) : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %2 = array.exp %1 : tensor<?x?xf32> -> tensor<?x8xf32>
  return %2 : tensor<?x8xf32>
}

// CHECK-LABEL: func.func private @callee(
// CHECK-SAME: tensor<4x8xf32>) -> tensor<4x8xf32>
func.func private @callee(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %0 = array.exp %x : tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// -----

// Calls that disagree in a dim leave it dynamic.
// CHECK-LABEL: func.func @two_callers(
func.func @two_callers(%x: tensor<4x8xf32>, %y: tensor<5x8xf32>) {
  %0 = tensor.cast %x : tensor<4x8xf32> to tensor<?x?xf32>
  %1 = tensor.cast %y : tensor<5x8xf32> to tensor<?x?xf32>
  // CHECK: %[[X:.*]] = tensor.cast %{{.*}} : tensor<4x8xf32> to tensor<?x8xf32>
  // CHECK: call @callee(%[[X]]) : (tensor<?x8xf32>) -> ()
  call @callee(%0) : (tensor<?x?xf32>) -> ()
  // CHECK: %[[Y:.*]] = tensor.cast %{{.*}} : tensor<5x8xf32> to tensor<?x8xf32>
  // CHECK: call @callee(%[[Y]]) : (tensor<?x8xf32>) -> ()
  call @callee(%1) : (tensor<?x?xf32>) -> ()
  return
}

// CHECK: func.func private @callee(%{{.*}}: tensor<?x8xf32>)
func.func private @callee(%x: tensor<?x?xf32>) {
  return
}

// -----

// A public function's arguments are its callers', and an aliased result has its argument's type.
// CHECK-LABEL: func.func @public(
// CHECK-SAME: %[[X:.*]]: tensor<?x8xf32> {array.donated}) -> (tensor<?x8xf32> {array.alias = 0 : i64})
func.func @public(%x: tensor<?x8xf32> {array.donated}) -> (tensor<?x8xf32> {array.alias = 0}) {
  // CHECK: array.exp %[[X]] : tensor<?x8xf32> -> tensor<4x8xf32>
  %0 = array.exp %x : tensor<?x8xf32> -> tensor<4x8xf32>
  // CHECK: %[[LOG:.*]] = array.log %{{.*}} : tensor<4x8xf32>
  %1 = array.log %0 : tensor<4x8xf32> -> tensor<?x8xf32>
  // CHECK: %[[CAST:.*]] = tensor.cast %[[LOG]] : tensor<4x8xf32> to tensor<?x8xf32>
  // CHECK: return %[[CAST]]
  return %1 : tensor<?x8xf32>
}

// -----

// Ops of other dialects keep the type that they were given.
// CHECK-LABEL: func.func @other_users(
func.func @other_users(%x: tensor<4xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  // CHECK: %[[EXP:.*]] = array.exp %{{.*}} : tensor<4xf32>
  // CHECK: %[[CAST:.*]] = tensor.cast %[[EXP]] : tensor<4xf32> to tensor<?xf32>
  %0 = array.exp %x : tensor<4xf32> -> tensor<?xf32>
  // CHECK: tensor.extract %[[CAST]]
  %1 = tensor.extract %0[%c0] : tensor<?xf32>
  return %1 : f32
}
