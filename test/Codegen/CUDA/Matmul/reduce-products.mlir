// RUN: xc-opt %s -split-input-file -pass-pipeline='builtin.module(func.func(xc-cuda-reduce-products))' | FileCheck %s

// A matrix and a vector: a reduction.
// CHECK-LABEL: func.func @matrix_times_vector(
// CHECK-SAME:    %[[A:.*]]: tensor<64x32xf32>, %[[B:.*]]: tensor<32x1xf32>
// CHECK-NOT:     linalg.contract
// CHECK:         linalg.generic
// CHECK-SAME:      iterator_types = ["parallel", "parallel", "reduction"]
// CHECK-SAME:      ins(%[[A]], %[[B]] : tensor<64x32xf32>, tensor<32x1xf32>)
builtin.module attributes {plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @matrix_times_vector(%a: tensor<64x32xf32>, %b: tensor<32x1xf32>, %init: tensor<64x1xf32>) -> tensor<64x1xf32> {
    %c = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
                                          affine_map<(m, n, k) -> (m, n)>]
        ins(%a, %b : tensor<64x32xf32>, tensor<32x1xf32>) outs(%init : tensor<64x1xf32>) -> tensor<64x1xf32>
    return %c : tensor<64x1xf32>
  }

// Two matrices: tiles help.
// CHECK-LABEL: func.func @matrices(
// CHECK:         linalg.contract
  func.func @matrices(%a: tensor<64x32xf32>, %b: tensor<32x2xf32>, %init: tensor<64x2xf32>) -> tensor<64x2xf32> {
    %c = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
                                          affine_map<(m, n, k) -> (m, n)>]
        ins(%a, %b : tensor<64x32xf32>, tensor<32x2xf32>) outs(%init : tensor<64x2xf32>) -> tensor<64x2xf32>
    return %c : tensor<64x2xf32>
  }
}

// -----

// CHECK-LABEL: func.func @processor(
// CHECK:         linalg.contract
builtin.module attributes {plan.target = #plan.target<"cpu", "x86-64-v3">} {
  func.func @processor(%a: tensor<64x32xf32>, %b: tensor<32x1xf32>, %init: tensor<64x1xf32>) -> tensor<64x1xf32> {
    %c = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
                                          affine_map<(m, n, k) -> (m, n)>]
        ins(%a, %b : tensor<64x32xf32>, tensor<32x1xf32>) outs(%init : tensor<64x1xf32>) -> tensor<64x1xf32>
    return %c : tensor<64x1xf32>
  }
}
