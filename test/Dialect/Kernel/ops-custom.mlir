// RUN: xc-opt %s | xc-opt | FileCheck %s

// CHECK-LABEL: func.func @custom
// CHECK: kernel.custom "f"(%{{.*}} : tensor<4xf32>) into(%{{.*}} : tensor<4xf32>) grid = #{{.*}} block = [4, 1, 1] ptx = "{{.*}}" -> tensor<4xf32>
func.func @custom(%x: tensor<4xf32>, %e: tensor<4xf32>) -> tensor<4xf32> {
  %y = kernel.custom "f"(%x : tensor<4xf32>) into(%e : tensor<4xf32>) grid = affine_map<() -> (1, 1, 1)> block = [4, 1, 1] ptx = ".version 7.0\0A.target sm_75\0A.address_size 64\0A.visible .entry f(.param .u64 x, .param .u64 y) { ret; }" -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// CHECK-LABEL: func.func @no_inputs
// CHECK: kernel.custom "f"() scalars(%{{.*}}) as [i64] into(%{{.*}} : tensor<4xf32>)
// CHECK-SAME: shared = 16 reuse = [-1] else @g ptx
func.func @no_inputs(%n: index, %e: tensor<4xf32>) -> tensor<4xf32> {
  %y = kernel.custom "f"() scalars(%n) as [i64] into(%e : tensor<4xf32>) grid = affine_map<()[n] -> (n, 1, 1)> block = [4, 1, 1]
      shared = 16 reuse = [-1] else @g ptx = ".version 7.0\0A.target sm_75\0A.address_size 64\0A.visible .entry f(.param .u64 x, .param .u64 y) { ret; }" -> tensor<4xf32>
  return %y : tensor<4xf32>
}
