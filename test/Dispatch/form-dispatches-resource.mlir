// RUN: xc-opt %s -xc-form-dispatches | FileCheck %s

#id = affine_map<(d0) -> (d0)>

// Elements that lie in a resource are passed to the kernel, as a constant of different elements is; equal ones are in it.
// CHECK-LABEL: func.func @weights(
// CHECK-DAG: arith.constant dense_resource<w>
// CHECK-DAG: arith.constant dense<[1.000000e+00, 2.000000e+00]>
// CHECK: plan.region
// CHECK-NOT: dense_resource
// CHECK: arith.constant dense<3.000000e+00>
// CHECK: linalg.generic
func.func @weights(%x: tensor<2xf32>) -> tensor<2xf32> {
  %w = arith.constant dense_resource<w> : tensor<2xf32>
  %c = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %s = arith.constant dense<3.0> : tensor<2xf32>
  %e = tensor.empty() : tensor<2xf32>
  %y = linalg.generic {indexing_maps = [#id, #id, #id, #id, #id], iterator_types = ["parallel"]}
      ins(%x, %w, %c, %s : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) outs(%e : tensor<2xf32>) {
  ^bb0(%a: f32, %b: f32, %d: f32, %f: f32, %out: f32):
    %0 = arith.addf %a, %b : f32
    %1 = arith.mulf %0, %d : f32
    %2 = arith.addf %1, %f : f32
    linalg.yield %2 : f32
  } -> tensor<2xf32>
  return %y : tensor<2xf32>
}

{-#
  dialect_resources: {
    builtin: {
      w: "0x040000000000803F00000040"
    }
  }
#-}
