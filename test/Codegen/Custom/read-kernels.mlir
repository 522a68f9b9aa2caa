// RUN: xc-opt %s -xc-read-kernels=directory=%S/Inputs | FileCheck %s
// RUN: not xc-opt %s -xc-read-kernels=directory=%S 2>&1 | FileCheck %s --check-prefix=MISSING

// MISSING: read-kernels.mlir:11:{{.*}}: error: 'array.custom_kernel' op cannot read its kernel from '{{.*}}f.ptx': {{[Nn]}}o such file

// A text in the model stays.
// CHECK-LABEL: func.func @f
// CHECK: array.custom_kernel {{.*}} {ptx = ".version 7.0\0A.target sm_75\0A.address_size 64\0A.visible .entry f({{.*}}"}
// CHECK: array.custom_kernel {{.*}} {ptx = ".version 7.0{{.*}}.entry g({{.*}}"}
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = array.custom_kernel "f"(%x) grid = affine_map<() -> (1, 1, 1)> block = [4, 1, 1] {file = "f.ptx"} : (tensor<4xf32>) -> tensor<4xf32>
  %z = array.custom_kernel "g"(%y) grid = affine_map<() -> (1, 1, 1)> block = [4, 1, 1] {ptx = ".version 7.0\0A.target sm_75\0A.address_size 64\0A.visible .entry g(.param .u64 x, .param .u64 y) { ret; }"} : (tensor<4xf32>) -> tensor<4xf32>
  return %z : tensor<4xf32>
}
