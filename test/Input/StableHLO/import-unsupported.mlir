// RUN: not xc-opt %s -xc-import-stablehlo 2>&1 | FileCheck %s
// RUN: xc-opt %s -xc-import-stablehlo=stub-unsupported 2>&1 | FileCheck %s --check-prefix=STUB

// All that cannot be imported is named in one run, and how much that is.
// CHECK: :14:{{.*}} error: 'stablehlo.unary_einsum' is not supported (2 times): there are no array ops that compute it
// CHECK: :15:{{.*}} note: also here
// CHECK: :16:{{.*}} error: 'stablehlo.custom_call' is not supported: @lapack_sgees_ffi is none of the calls that are known
// CHECK: error: 3 of 4 ops cannot be imported; 1 can
// STUB: warning: 'stablehlo.unary_einsum' is not supported (2 times)
// STUB: warning: 3 of 4 ops cannot be imported; 1 can
// STUB: array.broadcast_in_dim
// STUB: array.add
func.func @main(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = "stablehlo.unary_einsum"(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = "stablehlo.unary_einsum"(%0) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = stablehlo.custom_call @lapack_sgees_ffi(%1) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = stablehlo.add %2, %0 : tensor<4x4xf32>
  return %3 : tensor<4x4xf32>
}
