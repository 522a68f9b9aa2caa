// RUN: xc-opt %s -cse -canonicalize | FileCheck %s

array.variable @w : tensor<2xf32>

// Reads merge where no assignment lies between them.
// CHECK-LABEL: func.func @reads(
func.func @reads(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  // CHECK: %[[BEFORE:.*]] = array.variable.read @w
  // CHECK-NOT: array.variable.read
  %0 = array.variable.read @w : tensor<2xf32>
  %1 = array.variable.read @w : tensor<2xf32>
  // CHECK: array.variable.assign @w
  array.variable.assign @w, %x : tensor<2xf32>
  // CHECK: %[[AFTER:.*]] = array.variable.read @w
  %2 = array.variable.read @w : tensor<2xf32>
  // CHECK: return %[[BEFORE]], %[[BEFORE]], %[[AFTER]]
  return %0, %1, %2 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}

// What is unused goes away, but an assignment is never unused.
// CHECK-LABEL: func.func @unused(
func.func @unused(%x: tensor<2xf32>) {
  // CHECK-NOT: array.variable.read
  // CHECK-NOT: array.exp
  %0 = array.variable.read @w : tensor<2xf32>
  %1 = array.exp %x : tensor<2xf32>
  // CHECK: array.variable.assign
  array.variable.assign @w, %x : tensor<2xf32>
  // CHECK: array.variable.assign
  array.variable.assign @w, %x : tensor<2xf32>
  return
}

// CHECK-LABEL: func.func @parameters(
func.func @parameters() -> (tensor<2xf32>, tensor<2xf32>) {
  // CHECK: %[[P:.*]] = array.parameter
  // CHECK: return %[[P]], %[[P]]
  %0 = array.parameter "w"::"k" : tensor<2xf32>
  %1 = array.parameter "w"::"k" : tensor<2xf32>
  return %0, %1 : tensor<2xf32>, tensor<2xf32>
}
