// RUN: xc-opt %s -split-input-file -pass-pipeline="builtin.module(func.func(xc-fold-product-unit-dims))" | FileCheck %s

#a = affine_map<(b, h, m, n, k) -> (b, h, m, k)>
#b = affine_map<(b, h, m, n, k) -> (b, h, n, k)>
#c = affine_map<(b, h, m, n, k) -> (b, h, m, n)>

// CHECK-DAG:   #[[A:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>
// CHECK-DAG:   #[[B:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d2, d3)>
// CHECK-DAG:   #[[C:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
// CHECK-LABEL: func.func @batch_of_one(
// CHECK-SAME:    %[[A_ARG:.*]]: tensor<1x8x?x4xf32>, %[[B_ARG:.*]]: tensor<1x8x32x4xf32>, %[[INIT:.*]]: tensor<1x8x?x32xf32>)
// CHECK:         %[[LHS:.*]] = tensor.collapse_shape %[[A_ARG]] {{\[}}[0, 1], [2], [3]] : tensor<1x8x?x4xf32> into tensor<8x?x4xf32>
// CHECK:         %[[RHS:.*]] = tensor.collapse_shape %[[B_ARG]]
// CHECK:         %[[OUT:.*]] = tensor.collapse_shape %[[INIT]]
// CHECK:         %[[PRODUCT:.*]] = linalg.contract indexing_maps = [#[[A]], #[[B]], #[[C]]] {allow_tf32} ins(%[[LHS]], %[[RHS]] : tensor<8x?x4xf32>, tensor<8x32x4xf32>) outs(%[[OUT]] : tensor<8x?x32xf32>)
// CHECK:         tensor.expand_shape %[[PRODUCT]] {{\[}}[0, 1], [2], [3]] output_shape [1, 8, %{{.*}}, 32] : tensor<8x?x32xf32> into tensor<1x8x?x32xf32>
func.func @batch_of_one(%a: tensor<1x8x?x4xf32>, %b: tensor<1x8x32x4xf32>, %init: tensor<1x8x?x32xf32>) -> tensor<1x8x?x32xf32> {
  %0 = linalg.contract indexing_maps = [#a, #b, #c] {allow_tf32} ins(%a, %b : tensor<1x8x?x4xf32>, tensor<1x8x32x4xf32>) outs(%init : tensor<1x8x?x32xf32>) -> tensor<1x8x?x32xf32>
  return %0 : tensor<1x8x?x32xf32>
}

// -----

#a = affine_map<(b, m, n, k) -> (b, m, k)>
#b = affine_map<(b, m, n, k) -> (k, n)>
#c = affine_map<(b, m, n, k) -> (b, m, n)>

// A factor that the batch does not index is left as it is.
// CHECK-LABEL: func.func @layer(
// CHECK-SAME:    %{{.*}}: tensor<1x16x4xf32>, %[[B:.*]]: tensor<4x8xf32>
// CHECK:         linalg.contract {{.*}} ins(%{{.*}}, %[[B]] : tensor<16x4xf32>, tensor<4x8xf32>) outs(%{{.*}} : tensor<16x8xf32>)
func.func @layer(%a: tensor<1x16x4xf32>, %b: tensor<4x8xf32>, %init: tensor<1x16x8xf32>) -> tensor<1x16x8xf32> {
  %0 = linalg.contract indexing_maps = [#a, #b, #c] ins(%a, %b : tensor<1x16x4xf32>, tensor<4x8xf32>) outs(%init : tensor<1x16x8xf32>) -> tensor<1x16x8xf32>
  return %0 : tensor<1x16x8xf32>
}

// One row stays a row.
// CHECK-LABEL: func.func @one_row(
// CHECK:         linalg.contract {{.*}} ins(%{{.*}}, %{{.*}} : tensor<1x4xf32>, tensor<4x8xf32>) outs(%{{.*}} : tensor<1x8xf32>)
func.func @one_row(%a: tensor<1x1x4xf32>, %b: tensor<4x8xf32>, %init: tensor<1x1x8xf32>) -> tensor<1x1x8xf32> {
  %0 = linalg.contract indexing_maps = [#a, #b, #c] ins(%a, %b : tensor<1x1x4xf32>, tensor<4x8xf32>) outs(%init : tensor<1x1x8xf32>) -> tensor<1x1x8xf32>
  return %0 : tensor<1x1x8xf32>
}

// -----

#a = affine_map<(b, k) -> (b, k)>
#b = affine_map<(b, k) -> (b, k)>
#c = affine_map<(b, k) -> (b)>

// CHECK-LABEL: func.func @nothing_left(
// CHECK-NOT:     tensor.collapse_shape
func.func @nothing_left(%a: tensor<1x4xf32>, %b: tensor<1x4xf32>, %init: tensor<1xf32>) -> tensor<1xf32> {
  %0 = linalg.contract indexing_maps = [#a, #b, #c] ins(%a, %b : tensor<1x4xf32>, tensor<1x4xf32>) outs(%init : tensor<1xf32>) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}

// -----

#a = affine_map<(b, m, n, k) -> (b, m, k)>
#b = affine_map<(b, m, n, k) -> (b, k, n)>
#c = affine_map<(b, m, n, k) -> (b, m, n)>

// A size that only another operand tells stays, and so does a batch of several.
// CHECK-LABEL: func.func @others(
// CHECK-NOT:     tensor.collapse_shape
func.func @others(%a: tensor<?x4x4xf32>, %b: tensor<1x4x4xf32>, %init: tensor<1x4x4xf32>, %d: tensor<2x4x4xf32>, %e: tensor<2x4x4xf32>) -> (tensor<1x4x4xf32>, tensor<2x4x4xf32>) {
  %0 = linalg.contract indexing_maps = [#a, #b, #c] ins(%a, %b : tensor<?x4x4xf32>, tensor<1x4x4xf32>) outs(%init : tensor<1x4x4xf32>) -> tensor<1x4x4xf32>
  %1 = linalg.contract indexing_maps = [#a, #b, #c] ins(%d, %d : tensor<2x4x4xf32>, tensor<2x4x4xf32>) outs(%e : tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  return %0, %1 : tensor<1x4x4xf32>, tensor<2x4x4xf32>
}
