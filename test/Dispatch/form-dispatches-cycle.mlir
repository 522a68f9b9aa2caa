// RUN: xc-opt %s -pass-pipeline='builtin.module(func.func(xc-form-dispatches))' -split-input-file | FileCheck %s

#vector = affine_map<(d0) -> (d0)>
#row = affine_map<(d0, d1) -> (d0)>
#id = affine_map<(d0, d1) -> (d0, d1)>
#a = affine_map<(b, m, n, k) -> (b, m, k)>
#b = affine_map<(b, m, n, k) -> (n, k)>
#c = affine_map<(b, m, n, k) -> (b, m, n)>

// %rows and %masked are one kernel, which reads %wide. The product reads that kernel through a reshape, which lies
// before %wide: what reads the product and %wide is a kernel of its own.
// CHECK-LABEL: func.func @through_reshape(
// CHECK:         %[[WIDE:.*]] = plan.region
// CHECK:           arith.extsi
// CHECK:         %[[ROWS:.*]]:2 = plan.region
// CHECK:           math.exp
// CHECK:           arith.select
// CHECK:         %[[RESHAPED:.*]] = tensor.expand_shape %[[ROWS]]#0
// CHECK:         plan.region
// CHECK:           linalg.contract {{.*}} ins(%[[RESHAPED]],
// CHECK:         plan.region
// CHECK:           linalg.generic {{.*}} ins(%[[WIDE]],
// CHECK:             arith.sitofp
func.func @through_reshape(%x: tensor<16x8xf32>, %y: tensor<1x8xf32>, %lengths: tensor<16xi32>) -> (tensor<16x8xf32>, tensor<16xf32>) {
  %zero = arith.constant 0.0 : f32
  %none = arith.constant 0 : i64
  %e = tensor.empty() : tensor<16x8xf32>
  %rows = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<16x8xf32>) outs(%e : tensor<16x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = math.exp %in : f32
    linalg.yield %0 : f32
  } -> tensor<16x8xf32>
  %reshaped = tensor.expand_shape %rows [[0, 1], [2]] output_shape [4, 4, 8] : tensor<16x8xf32> into tensor<4x4x8xf32>
  %w = tensor.empty() : tensor<16xi64>
  %wide = linalg.generic {indexing_maps = [#vector, #vector], iterator_types = ["parallel"]} ins(%lengths : tensor<16xi32>) outs(%w : tensor<16xi64>) {
  ^bb0(%in: i32, %out: i64):
    %0 = arith.extsi %in : i32 to i64
    linalg.yield %0 : i64
  } -> tensor<16xi64>
  %masked = linalg.generic {indexing_maps = [#row, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%wide, %rows : tensor<16xi64>, tensor<16x8xf32>) outs(%e : tensor<16x8xf32>) {
  ^bb0(%length: i64, %in: f32, %out: f32):
    %0 = arith.cmpi sgt, %length, %none : i64
    %1 = arith.select %0, %in, %zero : f32
    linalg.yield %1 : f32
  } -> tensor<16x8xf32>
  %p = tensor.empty() : tensor<4x4x1xf32>
  %init = linalg.fill ins(%zero : f32) outs(%p : tensor<4x4x1xf32>) -> tensor<4x4x1xf32>
  %product = linalg.contract indexing_maps = [#a, #b, #c] ins(%reshaped, %y : tensor<4x4x8xf32>, tensor<1x8xf32>) outs(%init : tensor<4x4x1xf32>) -> tensor<4x4x1xf32>
  %column = tensor.collapse_shape %product [[0, 1, 2]] : tensor<4x4x1xf32> into tensor<16xf32>
  %s = tensor.empty() : tensor<16xf32>
  %scores = linalg.generic {indexing_maps = [#vector, #vector, #vector], iterator_types = ["parallel"]} ins(%wide, %column : tensor<16xi64>, tensor<16xf32>) outs(%s : tensor<16xf32>) {
  ^bb0(%length: i64, %in: f32, %out: f32):
    %0 = arith.sitofp %length : i64 to f32
    %1 = arith.mulf %0, %in : f32
    linalg.yield %1 : f32
  } -> tensor<16xf32>
  return %masked, %scores : tensor<16x8xf32>, tensor<16xf32>
}

// -----

#vector = affine_map<(d0) -> (d0)>
#row = affine_map<(d0, d1) -> (d0)>
#id = affine_map<(d0, d1) -> (d0, d1)>
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (n, k)>
#c = affine_map<(m, n, k) -> (m, n)>

// The same where all of the product lies before %wide.
// CHECK-LABEL: func.func @through_kernel(
// CHECK:         %[[WIDE:.*]] = plan.region
// CHECK:           arith.extsi
// CHECK:         %[[ROWS:.*]]:2 = plan.region
// CHECK:           math.exp
// CHECK:           arith.select
// CHECK:         plan.region
// CHECK:           linalg.contract {{.*}} ins(%[[ROWS]]#0,
// CHECK:         plan.region
// CHECK:           linalg.generic {{.*}} ins(%[[WIDE]],
// CHECK:             arith.sitofp
func.func @through_kernel(%x: tensor<16x8xf32>, %y: tensor<1x8xf32>, %lengths: tensor<16xi32>) -> (tensor<16x8xf32>, tensor<16xf32>) {
  %zero = arith.constant 0.0 : f32
  %none = arith.constant 0 : i64
  %e = tensor.empty() : tensor<16x8xf32>
  %rows = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<16x8xf32>) outs(%e : tensor<16x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = math.exp %in : f32
    linalg.yield %0 : f32
  } -> tensor<16x8xf32>
  %p = tensor.empty() : tensor<16x1xf32>
  %init = linalg.fill ins(%zero : f32) outs(%p : tensor<16x1xf32>) -> tensor<16x1xf32>
  %product = linalg.contract indexing_maps = [#a, #b, #c] ins(%rows, %y : tensor<16x8xf32>, tensor<1x8xf32>) outs(%init : tensor<16x1xf32>) -> tensor<16x1xf32>
  %column = tensor.collapse_shape %product [[0, 1]] : tensor<16x1xf32> into tensor<16xf32>
  %w = tensor.empty() : tensor<16xi64>
  %wide = linalg.generic {indexing_maps = [#vector, #vector], iterator_types = ["parallel"]} ins(%lengths : tensor<16xi32>) outs(%w : tensor<16xi64>) {
  ^bb0(%in: i32, %out: i64):
    %0 = arith.extsi %in : i32 to i64
    linalg.yield %0 : i64
  } -> tensor<16xi64>
  %masked = linalg.generic {indexing_maps = [#row, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%wide, %rows : tensor<16xi64>, tensor<16x8xf32>) outs(%e : tensor<16x8xf32>) {
  ^bb0(%length: i64, %in: f32, %out: f32):
    %0 = arith.cmpi sgt, %length, %none : i64
    %1 = arith.select %0, %in, %zero : f32
    linalg.yield %1 : f32
  } -> tensor<16x8xf32>
  %s = tensor.empty() : tensor<16xf32>
  %scores = linalg.generic {indexing_maps = [#vector, #vector, #vector], iterator_types = ["parallel"]} ins(%wide, %column : tensor<16xi64>, tensor<16xf32>) outs(%s : tensor<16xf32>) {
  ^bb0(%length: i64, %in: f32, %out: f32):
    %0 = arith.sitofp %length : i64 to f32
    %1 = arith.mulf %0, %in : f32
    linalg.yield %1 : f32
  } -> tensor<16xf32>
  return %masked, %scores : tensor<16x8xf32>, tensor<16xf32>
}
