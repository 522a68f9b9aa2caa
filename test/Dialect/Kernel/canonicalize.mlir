// RUN: xc-opt %s -canonicalize | FileCheck %s

// An element of a reduction stays, and one of what reduces nothing is its value.

// CHECK-LABEL: func.func @reduction(
// CHECK:         kernel.element 0
func.func @reduction(%x: tensor<3x4xf32>, %init: tensor<3xf32>) -> tensor<3xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>],
                       iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<3x4xf32>) outs(%init : tensor<3xf32>) {
  ^bb0(%in: f32, %out: f32):
    %e = kernel.element 0, %in : f32
    %1 = arith.addf %out, %e : f32
    linalg.yield %1 : f32
  } -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// CHECK-LABEL: func.func @pointwise(
// CHECK:       ^bb0(%[[IN:.+]]: f32, %[[OUT:.+]]: f32):
// CHECK-NEXT:    %[[SUM:.+]] = arith.addf %[[OUT]], %[[IN]] : f32
// CHECK-NEXT:    linalg.yield %[[SUM]]
func.func @pointwise(%x: tensor<3xf32>, %init: tensor<3xf32>) -> tensor<3xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
                       iterator_types = ["parallel"]}
      ins(%x : tensor<3xf32>) outs(%init : tensor<3xf32>) {
  ^bb0(%in: f32, %out: f32):
    %e = kernel.element 0, %in : f32
    %1 = arith.addf %out, %e : f32
    linalg.yield %1 : f32
  } -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
