// RUN: xc-opt %s | xc-opt | FileCheck %s

// CHECK: #[[GRID:.*]] = affine_map<()[s0, s1] -> (s0 ceildiv 4, s1, 1)>
// CHECK-LABEL: func.func @text
// CHECK: array.custom_kernel "f"(%{{.*}}) grid = #{{.*}} block = [4, 1, 1] {ptx = "{{.*}}"} : (tensor<4xf32>) -> tensor<4xf32>
func.func @text(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = array.custom_kernel "f"(%x) grid = affine_map<() -> (1, 1, 1)> block = [4, 1, 1] {ptx = ".version 7.0\0A.target sm_75\0A.address_size 64\0A.visible .entry f(.param .u64 x, .param .u64 y) { ret; }"} : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// The file is read later, so nothing is known of its text.
// CHECK-LABEL: func.func @all_of_it
// CHECK: %{{.*}}:2 = array.custom_kernel "f"(%{{.*}}, %{{.*}}) scalars(%{{.*}}, %{{.*}}) as [i32, index] sizes(%{{[a-z0-9]*}})
// CHECK-SAME: grid = #[[GRID]] block = [4, 1, 1] shared = 1024 reuse = [1, -1] else @reference {file = "f.ptx"}
// CHECK-SAME: : (tensor<4xi1>, tensor<?xf32>) -> (tensor<?xf32>, tensor<4xi32>)
func.func @all_of_it(%p: tensor<4xi1>, %x: tensor<?xf32>, %n: index, %m: index) -> tensor<?xf32> {
  %y:2 = array.custom_kernel "f"(%p, %x) scalars(%n, %m) as [i32, index] sizes(%n)
      grid = affine_map<()[n, m] -> (n ceildiv 4, m, 1)> block = [4, 1, 1] shared = 1024 reuse = [1, -1] else @reference
      {file = "f.ptx"} : (tensor<4xi1>, tensor<?xf32>) -> (tensor<?xf32>, tensor<4xi32>)
  return %y#0 : tensor<?xf32>
}

func.func private @reference(%p: tensor<4xi1>, %x: tensor<?xf32>) -> (tensor<?xf32>, tensor<4xi32>) {
  %z = array.constant dense<0> : tensor<4xi32>
  return %x, %z : tensor<?xf32>, tensor<4xi32>
}
