// RUN: xc-opt %s -xc-state-demands | FileCheck %s
// RUN: xc-opt %s -xc-state-demands -canonicalize -cse | FileCheck %s --check-prefix=KEPT

// Both slices say what they demand, of which the second one's is known to hold.
// CHECK-LABEL: func.func @slices
// CHECK-SAME: %[[X:[^:]*]]: tensor<?x4xf32>
// CHECK: %[[N:.*]] = tensor.dim %[[X]], %c0
// CHECK: %[[THREE:.*]] = arith.constant 3 : index
// CHECK: plan.require %[[THREE]] at_most %[[N]], "array.slice: expected a slice within dim 0 of the operand"
// CHECK-NOT: plan.require
// CHECK: array.slice
func.func @slices(%x: tensor<?x4xf32>) -> tensor<2x4xf32> {
  %a = array.slice %x [0:3, :] : tensor<?x4xf32> -> tensor<3x4xf32>
  %b = array.slice %a [0:2, :] : tensor<3x4xf32> -> tensor<2x4xf32>
  return %b : tensor<2x4xf32>
}

// What folds take away stays demanded.
// KEPT-LABEL: func.func @same
// KEPT: plan.require %{{.*}} equal
// KEPT-NOT: = array.select
// KEPT: return
func.func @same(%p: tensor<?xi1>, %x: tensor<?xf32>) -> tensor<?xf32> {
  %a = array.select %p, %x, %x : (tensor<?xi1>, tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %a : tensor<?xf32>
}

// What elementwise ops demand is said of the sizes of inputs, once.
// CHECK-LABEL: func.func @sums
// CHECK: plan.require %{{.*}} equal %{{.*}}, "expected operands that agree in a dim: tensor<?xf32> and tensor<?xf32>"
// CHECK-NOT: plan.require
// CHECK: return
func.func @sums(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %a = array.add %x, %y : tensor<?xf32>
  %b = array.mul %a, %y : tensor<?xf32>
  return %b : tensor<?xf32>
}

// Nothing is demanded by an op that no result depends on, or that needs no check.
// CHECK-LABEL: func.func @unused
// CHECK-NOT: plan.require
// CHECK: return
func.func @unused(%x: tensor<?xf32>, %y: tensor<?xf32>, %z: tensor<4xf32>) -> tensor<?xf32> {
  %a = array.add %x, %y : tensor<?xf32>
  %b = array.exp %x : tensor<?xf32>
  return %b : tensor<?xf32>
}

// A named dim is one size.
// CHECK-LABEL: func.func @named
// CHECK-NOT: plan.require
// CHECK: return
func.func @named(%x: tensor<?xf32> {array.dims = ["n"]}, %y: tensor<?xf32> {array.dims = ["n"]}) -> tensor<?xf32> {
  %a = array.add %x, %y : tensor<?xf32>
  return %a : tensor<?xf32>
}

// Of a region that sizes choose, both sides are 0 where it is not chosen.
// CHECK-LABEL: func.func @regions
// CHECK: tensor.dim
// CHECK-COUNT-2: affine.apply
// CHECK: plan.require %{{.*}} at_most %{{.*}}, "array.slice: expected a slice within dim 0 of the operand"
// CHECK-COUNT-2: affine.apply
// CHECK: plan.require %{{.*}} at_most %{{.*}}, "array.slice: expected a slice within dim 0 of the operand"
// CHECK: array.if
// CHECK-NOT: plan.require
// CHECK: return
func.func @regions(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<3xf32> {
  %limit = array.constant dense<3> : tensor<i64>
  %n = array.dim %x, 0 : tensor<?xf32>
  %rows = array.from_index %n : tensor<i64>
  %few = array.compare lt, %rows, %limit : (tensor<i64>, tensor<i64>) -> tensor<i1>
  %z = array.if %few : tensor<i1> -> (tensor<3xf32>) {
    %a = array.slice %y [0:3] : tensor<?xf32> -> tensor<3xf32>
    array.yield %a : tensor<3xf32>
  } else {
    %a = array.slice %x [0:3] : tensor<?xf32> -> tensor<3xf32>
    array.yield %a : tensor<3xf32>
  }
  return %z : tensor<3xf32>
}

// A function that cannot be lowered as it is written is left to the passes that say why.
// CHECK-LABEL: func.func @not_lowered
// CHECK-NOT: plan.require
// CHECK: return
func.func @not_lowered(%x: tensor<?xf32>, %y: tensor<?xf32>, %m: tensor<i64>, %n: tensor<i64>) -> tensor<f32> {
  %a = array.add %x, %y : tensor<?xf32>
  %b = array.set_extent %a, %m axis = 0 : (tensor<?xf32>, tensor<i64>) -> tensor<?xf32>
  %c = array.set_extent %a, %n axis = 0 : (tensor<?xf32>, tensor<i64>) -> tensor<?xf32>
  %d = array.add %b, %c : tensor<?xf32>
  %e = array.reduce sum, %d axes = [0] : tensor<?xf32> -> tensor<f32>
  return %e : tensor<f32>
}

// A product demands equal inner dims, and a result whose type says more than those of its operands that they are so.
// CHECK-LABEL: func.func @product
// CHECK: plan.require %{{.*}} equal %{{.*}}, "expected operands that agree in a dim: tensor<?x?xf32> and tensor<?x8xf32>"
// CHECK: plan.require %{{.*}} equal %c4{{.*}}, "expected operands that agree in a dim: tensor<?x?xf32> and tensor<4x8xf32>"
// CHECK-NOT: plan.require
// CHECK: return
func.func @product(%x: tensor<?x?xf32>, %y: tensor<?x8xf32>) -> tensor<4x8xf32> {
  %a = array.matmul %x, %y : (tensor<?x?xf32>, tensor<?x8xf32>) -> tensor<4x8xf32>
  return %a : tensor<4x8xf32>
}

// A composite demands what its parts do, in its own name.
// CHECK-LABEL: func.func @composite
// CHECK: plan.require %{{.*}} at_most %{{.*}}, "array.partition: expected at least 3 elements in dim 0 of the operand"
// CHECK: return
func.func @composite(%x: tensor<?xf32>) -> tensor<?xf32> {
  %a = array.partition %x kth = 2 axis = 0 : tensor<?xf32> -> tensor<?xf32>
  return %a : tensor<?xf32>
}
