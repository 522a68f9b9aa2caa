// RUN: xc-opt %s -xc-convert-array-to-linalg -split-input-file | FileCheck %s

// Indices of type i32 count up to 2147483647 elements, which symbolic sizes are asked for.
// CHECK-LABEL: func.func @argmax(
// CHECK-DAG:     %[[MOST:.*]] = arith.constant 2147483647 : index
// CHECK:         %[[N:.*]] = tensor.dim %arg0{{.*}}
// CHECK-NEXT:    plan.require %{{.*}} at_most %[[N]]
// CHECK-NEXT:    %[[N:.*]] = tensor.dim %arg0
// CHECK:         plan.require %[[N]] at_most %[[MOST]], "array.argmax: expected at most 2147483647 elements to count in i32"
func.func @argmax(%x: tensor<?xf32>) -> tensor<i32> {
  %i = array.argmax %x axis = 0 : tensor<?xf32> -> tensor<i32>
  return %i : tensor<i32>
}

// -----

// Those of type i64 count all that there are.
// CHECK-LABEL: func.func @wide(
// CHECK-NOT:     to count in
// CHECK:         return
func.func @wide(%x: tensor<?xf32>) -> (tensor<i64>, tensor<?xi64>) {
  %i = array.argmin %x axis = 0 : tensor<?xf32> -> tensor<i64>
  %j = array.argsort %x axis = 0 : tensor<?xf32> -> tensor<?xi64>
  return %i, %j : tensor<i64>, tensor<?xi64>
}

// -----

// CHECK-LABEL: func.func @argsort(
// CHECK:         plan.require %{{.*}} at_most %{{.*}}, "array.argsort: expected at most 2147483647 elements to count in i32"
func.func @argsort(%x: tensor<4x?xf32>) -> tensor<4x?xi32> {
  %i = array.argsort %x axis = 1 : tensor<4x?xf32> -> tensor<4x?xi32>
  return %i : tensor<4x?xi32>
}

// -----

// CHECK-LABEL: func.func @topk(
// CHECK:         plan.require %{{.*}} at_most %{{.*}}, "array.topk: expected at most 2147483647 elements to count in i32"
func.func @topk(%x: tensor<4x?xf32>) -> (tensor<4x2xf32>, tensor<4x2xi32>) {
  %v, %i = array.topk %x k = 2 axis = 1 : tensor<4x?xf32> -> tensor<4x2xf32>, tensor<4x2xi32>
  return %v, %i : tensor<4x2xf32>, tensor<4x2xi32>
}

// -----

// CHECK-LABEL: func.func @searchsorted(
// CHECK:         plan.require %{{.*}} at_most %{{.*}}, "array.searchsorted: expected at most 2147483647 elements to count in i32"
func.func @searchsorted(%x: tensor<?xf32>, %y: tensor<4xf32>) -> tensor<4xi32> {
  %i = array.searchsorted %x, %y : (tensor<?xf32>, tensor<4xf32>) -> tensor<4xi32>
  return %i : tensor<4xi32>
}
