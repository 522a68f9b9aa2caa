// RUN: xc-opt %s -xc-import-stablehlo | FileCheck %s

// Sizes that are data in StableHLO become arithmetic on indices, through the call that hands them on.
// CHECK-LABEL: func.func public @main(
// CHECK-SAME: %[[X:.*]]: tensor<?x4xf32>, %[[Y:.*]]: tensor<3xf32>
// CHECK: %[[N:.*]] = array.dim %[[X]], 0
// CHECK: array.add %[[X]], %[[X]] : tensor<?x4xf32>
// CHECK: array.reduce sum
// CHECK: array.broadcast_in_dim %[[Y]] axes = [1] sizes(%[[N]]) : tensor<3xf32> -> tensor<?x3xf32>
// CHECK: %[[COUNT:.*]] = arith.muli %[[N]], %{{.*}} : index
// CHECK: array.reshape %{{.*}} sizes(%[[COUNT]]) : tensor<?x4xf32> -> tensor<?xf32>
// CHECK: %[[FEWER:.*]] = arith.subi %[[N]], %{{.*}} : index
// CHECK: array.iota axis = 0 sizes(%[[FEWER]])
// CHECK: array.concatenate {{.*}} : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
// CHECK-NOT: func.func
func.func public @main(%x: tensor<?x4xf32>, %y: tensor<3xf32>)
    -> (tensor<?xf32>, tensor<?x3xf32>, tensor<?xf32>, tensor<?xi32>, tensor<?x4xf32>) {
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x4xf32>) -> tensor<i32>
  %0:5 = call @inner(%n, %x, %y)
       : (tensor<i32>, tensor<?x4xf32>, tensor<3xf32>) -> (tensor<?xf32>, tensor<?x3xf32>, tensor<?xf32>, tensor<?xi32>, tensor<?x4xf32>)
  return %0#0, %0#1, %0#2, %0#3, %0#4 : tensor<?xf32>, tensor<?x3xf32>, tensor<?xf32>, tensor<?xi32>, tensor<?x4xf32>
}

func.func private @inner(%n: tensor<i32>, %x: tensor<?x4xf32>, %y: tensor<3xf32>)
    -> (tensor<?xf32>, tensor<?x3xf32>, tensor<?xf32>, tensor<?xi32>, tensor<?x4xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %four = stablehlo.constant dense<4> : tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<1xi32>
  %twice = stablehlo.add %x, %x : tensor<?x4xf32>
  %sum = stablehlo.reduce(%twice init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<?x4xf32>, tensor<f32>) -> tensor<?xf32>
  %size = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %shape = stablehlo.concatenate %size, %three, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %rows = stablehlo.dynamic_broadcast_in_dim %y, %shape, dims = [1] : (tensor<3xf32>, tensor<2xi32>) -> tensor<?x3xf32>
  %count = stablehlo.multiply %n, %four : tensor<i32>
  %counts = stablehlo.reshape %count : (tensor<i32>) -> tensor<1xi32>
  %flat = stablehlo.dynamic_reshape %twice, %counts : (tensor<?x4xf32>, tensor<1xi32>) -> tensor<?xf32>
  %fewer = stablehlo.subtract %n, %one : tensor<i32>
  %fewers = stablehlo.reshape %fewer : (tensor<i32>) -> tensor<1xi32>
  %numbers = stablehlo.dynamic_iota %fewers, dim = 0 : (tensor<1xi32>) -> tensor<?xi32>
  %both = stablehlo.concatenate %x, %twice, dim = 0 : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  return %sum, %rows, %flat, %numbers, %both : tensor<?xf32>, tensor<?x3xf32>, tensor<?xf32>, tensor<?xi32>, tensor<?x4xf32>
}
