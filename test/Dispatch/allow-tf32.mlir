// RUN: xc-opt %s -pass-pipeline="builtin.module(func.func(xc-allow-tf32))" | FileCheck %s

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>

// CHECK-LABEL: func.func @products(
// CHECK:         linalg.contract {{.*}} {plan.allow_tf32} ins(%{{.*}} : tensor<4x8xf32>
// CHECK:         linalg.matmul {plan.allow_tf32} ins(%{{.*}} : tensor<4x8xf32>
func.func @products(%a: tensor<4x8xf32>, %b: tensor<8x4xf32>, %init: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = linalg.contract indexing_maps = [#a, #b, #c] ins(%a, %b : tensor<4x8xf32>, tensor<8x4xf32>) outs(%init : tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = linalg.matmul ins(%a, %b : tensor<4x8xf32>, tensor<8x4xf32>) outs(%0 : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}

// CHECK-LABEL: func.func @attention(
// CHECK:         kernel.attention {{.*}} {plan.allow_tf32} : tensor<2x20x16xf32>
// CHECK:         kernel.attention_gradient {{.*}} {plan.allow_tf32} : tensor<2x20x16xf32>
// CHECK:         kernel.attention {{.*}} scale = 1.000000e+00 : tensor<2x20x16xf16>
// CHECK:         kernel.attention_decode {{.*}} {plan.allow_tf32} : tensor<2x1x16xf32>
func.func @attention(%q: tensor<2x20x16xf32>, %l: tensor<2x20xf32>, %h: tensor<2x20x16xf16>, %t: tensor<2x1x16xf32>) -> (tensor<2x20x16xf32>, tensor<2x20x16xf32>, tensor<2x20x16xf16>, tensor<2x1x16xf32>) {
  %r = kernel.attention %q, %q, %q into %q scale = 1.0 : tensor<2x20x16xf32>, tensor<2x20x16xf32>, tensor<2x20x16xf32> into tensor<2x20x16xf32> -> tensor<2x20x16xf32>
  %g = kernel.attention_gradient %q, %q, %q, %q, %l, %l into %q scale = 1.0
    : tensor<2x20x16xf32>, tensor<2x20x16xf32>, tensor<2x20x16xf32>, tensor<2x20x16xf32>, tensor<2x20xf32>, tensor<2x20xf32> into tensor<2x20x16xf32> -> tensor<2x20x16xf32>
  %s = kernel.attention %h, %h, %h into %h scale = 1.0 : tensor<2x20x16xf16>, tensor<2x20x16xf16>, tensor<2x20x16xf16> into tensor<2x20x16xf16> -> tensor<2x20x16xf16>
  %d = kernel.attention_decode %t, %q, %q into %t scale = 1.0 splits = 1 : tensor<2x1x16xf32>, tensor<2x20x16xf32>, tensor<2x20x16xf32> into tensor<2x1x16xf32> -> tensor<2x1x16xf32>
  return %r, %g, %s, %d : tensor<2x20x16xf32>, tensor<2x20x16xf32>, tensor<2x20x16xf16>, tensor<2x1x16xf32>
}

// Other types and other ops are left as they are.
// CHECK-LABEL: func.func @others(
// CHECK-NOT:     allow_tf32
func.func @others(%a: tensor<4x8xf64>, %b: tensor<8x4xf64>, %init: tensor<4x4xf64>, %x: tensor<4x4xf32>) -> (tensor<4x4xf64>, tensor<4x4xf32>) {
  %0 = linalg.contract indexing_maps = [#a, #b, #c] ins(%a, %b : tensor<4x8xf64>, tensor<8x4xf64>) outs(%init : tensor<4x4xf64>) -> tensor<4x4xf64>
  %1 = linalg.add ins(%x, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%x : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0, %1 : tensor<4x4xf64>, tensor<4x4xf32>
}
