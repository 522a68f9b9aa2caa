// RUN: xc-opt %s -verify-roundtrip | FileCheck %s

// CHECK-LABEL: func.func @choose(
// CHECK:         array.if %{{.*}} : tensor<i1> -> (tensor<4xf32>, tensor<i32>) {
// CHECK:           array.yield %{{.*}}, %{{.*}} : tensor<4xf32>, tensor<i32>
// CHECK:         } else {
func.func @choose(%p: tensor<i1>, %x: tensor<4xf32>, %n: tensor<i32>) -> tensor<4xf32> {
  %y, %m = array.if %p : tensor<i1> -> (tensor<4xf32>, tensor<i32>) {
    %a = array.exp %x : tensor<4xf32>
    array.yield %a, %n : tensor<4xf32>, tensor<i32>
  } else {
    array.yield %x, %n : tensor<4xf32>, tensor<i32>
  }
  return %y : tensor<4xf32>
}

// CHECK-LABEL: func.func @nothing_to_give(
// CHECK:         array.if %{{.*}} : tensor<i1> {
func.func @nothing_to_give(%p: tensor<i1>) {
  array.if %p : tensor<i1> {
  } else {
  }
  return
}

// A description of a shape may say more or less than another one.
// CHECK-LABEL: func.func @repeat(
// CHECK:         array.while %{{.*}} : (tensor<?xf32>) -> tensor<4xf32> condition {
// CHECK:         } body {
func.func @repeat(%x: tensor<?xf32>, %p: tensor<i1>) -> tensor<4xf32> {
  %y = array.while %x : (tensor<?xf32>) -> tensor<4xf32> condition {
  ^bb0(%v: tensor<?xf32>):
    array.yield %p : tensor<i1>
  } body {
  ^bb0(%v: tensor<4xf32>):
    array.yield %v : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}
