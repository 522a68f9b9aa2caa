// RUN: xc-opt %s -pass-pipeline='builtin.module(func.func(xc-form-dispatches))' | FileCheck %s

// Splats are part of the kernel that uses them. Other constants are bound, whatever holds their elements: a resource is what
// an imported model has its weights in.

#left = affine_map<(m, n, k) -> (m, k)>
#right = affine_map<(m, n, k) -> (k, n)>
#result = affine_map<(m, n, k) -> (m, n)>

// CHECK-LABEL: func.func @weights(
// CHECK-DAG:     %[[RESOURCE:.*]] = arith.constant dense_resource<weights> : tensor<2x2xf32>
// CHECK-DAG:     %[[DENSE:.*]] = arith.constant dense<{{\[\[}}1.000000e+00, {{.*}}> : tensor<2x2xf32>
// CHECK:         tensor.dim
// CHECK:         plan.region
// CHECK-NOT:       dense_resource
// CHECK-NOT:       dense<{{\[\[}}
// CHECK:           arith.constant dense<5.000000e-01> : tensor<2x2xf32>
// CHECK-NOT:       dense<{{\[\[}}
// CHECK:         return
func.func @weights(%x: tensor<?x2xf32>) -> (tensor<?x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %resource = arith.constant dense_resource<weights> : tensor<2x2xf32>
  %dense = arith.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %splat = arith.constant dense<0.5> : tensor<2x2xf32>
  %n = tensor.dim %x, %c0 : tensor<?x2xf32>
  %empty = tensor.empty(%n) : tensor<?x2xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x2xf32>) -> tensor<?x2xf32>
  %a = linalg.contract indexing_maps = [#left, #right, #result] ins(%x, %resource : tensor<?x2xf32>, tensor<2x2xf32>)
      outs(%init : tensor<?x2xf32>) -> tensor<?x2xf32>
  %b = linalg.contract indexing_maps = [#left, #right, #result] ins(%x, %dense : tensor<?x2xf32>, tensor<2x2xf32>)
      outs(%init : tensor<?x2xf32>) -> tensor<?x2xf32>
  %c = linalg.contract indexing_maps = [#left, #right, #result] ins(%x, %splat : tensor<?x2xf32>, tensor<2x2xf32>)
      outs(%init : tensor<?x2xf32>) -> tensor<?x2xf32>
  return %a, %b, %c : tensor<?x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>
}

{-#
  dialect_resources: {
    builtin: {
      weights: "0x04000000000080400000803f0000004000004040"
    }
  }
#-}
