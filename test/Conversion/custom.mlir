// RUN: xc-opt %s -xc-convert-array-to-linalg -split-input-file -verify-diagnostics | FileCheck %s

// Truth values are bytes, sizes make the destinations, and what an i32 and a grid can hold is required.
// CHECK-LABEL: func.func @f
// CHECK-SAME:  (%[[P:.*]]: tensor<?xi8>
// CHECK-DAG:   %[[N:.*]] = tensor.dim %[[P]]
// CHECK-DAG:   %[[MOST:.*]] = arith.constant 2147483647 : index
// CHECK:       plan.require %[[N]] at_most %[[MOST]], "array.custom_kernel: expected scalar 0 to fit i32"
// CHECK:       %[[ROWS:.*]] = affine.apply
// CHECK:       plan.require %[[ROWS]] at_most %{{.*}}, "array.custom_kernel: expected a grid of at most 65535 blocks along axis 1"
// CHECK:       %[[E:.*]] = tensor.empty(%[[N]]) : tensor<?xi8>
// CHECK:       kernel.custom "f"(%[[P]] : tensor<?xi8>) scalars(%[[N]]) as [i32] into(%[[E]] : tensor<?xi8>)
// CHECK-SAME:  reuse = [0] else @reference ptx
func.func @f(%p: tensor<?xi1>) -> tensor<?xi1> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %p, %c0 : tensor<?xi1>
  %q = array.custom_kernel "f"(%p) scalars(%n) as [i32] sizes(%n) grid = affine_map<()[n] -> (1, n ceildiv 4, 1)> block = [4, 1, 1]
      reuse = [0] else @reference {ptx = ".version 7.0\0A.target sm_75\0A.address_size 64\0A.visible .entry f(.param .u64 x, .param .u64 y, .param .u32 n) { ret; }"} : (tensor<?xi1>) -> tensor<?xi1>
  return %q : tensor<?xi1>
}
func.func private @reference(%p: tensor<?xi1>) -> tensor<?xi1> {
  return %p : tensor<?xi1>
}

// -----

func.func @unread(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+2 {{'array.custom_kernel' op expected '-xc-read-kernels' to have read 'f.ptx'}}
  // expected-error @+1 {{failed to legalize operation 'array.custom_kernel' that was explicitly marked illegal}}
  %y = array.custom_kernel "f"(%x) grid = affine_map<() -> (1, 1, 1)> block = [4, 1, 1] {file = "f.ptx"} : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
