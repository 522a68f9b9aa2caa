// RUN: xc-opt %s -pass-pipeline='builtin.module(func.func(xc-promote-variables))' | FileCheck %s

array.variable @w : tensor<4xf32>
array.variable @v : tensor<4xf32>

// CHECK-LABEL: func.func @forwards_and_keeps_the_last(
// CHECK-SAME:    %[[A:.*]]: tensor<4xf32>, %[[B:.*]]: tensor<4xf32>
func.func @forwards_and_keeps_the_last(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[V:.*]] = array.variable.read @v
  // CHECK-NEXT: array.variable.assign @w, %[[B]]
  // CHECK-NEXT: return %[[A]], %[[V]]
  array.variable.assign @w, %a : tensor<4xf32>
  %r = array.variable.read @w : tensor<4xf32>
  array.variable.assign @w, %b : tensor<4xf32>
  %v = array.variable.read @v : tensor<4xf32>
  return %r, %v : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @reads_once(
func.func @reads_once() -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK: %[[W:.*]] = array.variable.read @w
  // CHECK-NOT: array.variable.read
  // CHECK: return %[[W]], %[[W]]
  %r = array.variable.read @w : tensor<4xf32>
  %s = array.variable.read @w : tensor<4xf32>
  return %r, %s : tensor<4xf32>, tensor<4xf32>
}
