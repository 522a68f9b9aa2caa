// RUN: xc-opt %s -split-input-file -pass-pipeline="builtin.module(func.func(xc-merge-products))" | FileCheck %s

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
#all = affine_map<(m, n) -> (m, n)>
#column = affine_map<(m, n) -> (n)>
#turned = affine_map<(m, n) -> (n, m)>
#heads = affine_map<(h, m, d) -> (m, h, d)>
#id = affine_map<(h, m, d) -> (h, m, d)>

// Weights and biases lie side by side; each result is a slice, behind the reshape where there is one.
// CHECK-LABEL: func.func @query_and_key(
// CHECK-SAME:    %[[X:.*]]: tensor<?x64xbf16>
// CHECK-DAG:     %[[WQ:.*]] = array.parameter "m"::"wq"
// CHECK-DAG:     %[[WK:.*]] = array.parameter "m"::"wk"
// CHECK-DAG:     %[[BQ:.*]] = array.parameter "m"::"bq"
// CHECK-DAG:     %[[BK:.*]] = array.parameter "m"::"bk"
// CHECK:         %[[W0:.*]] = tensor.insert_slice %[[WQ]] into %{{.*}}[0, 0] [64, 32] [1, 1] : tensor<64x32xbf16> into tensor<64x48xbf16>
// CHECK:         %[[W1:.*]] = tensor.insert_slice %[[WK]] into %[[W0]][0, 32] [64, 16] [1, 1]
// CHECK:         %[[P:.*]] = linalg.contract {{.*}} ins(%[[X]], %[[W1]] : tensor<?x64xbf16>, tensor<64x48xbf16>) outs(%{{.*}} : tensor<?x48xf32>)
// CHECK:         %[[B0:.*]] = tensor.insert_slice %[[BQ]]
// CHECK:         %[[B1:.*]] = tensor.insert_slice %[[BK]] into %[[B0]][32] [16] [1]
// CHECK:         %[[S:.*]] = linalg.generic {{.*}} ins(%[[P]], %[[B1]] : tensor<?x48xf32>, tensor<48xbf16>) outs(%{{.*}} : tensor<?x48xbf16>)
// CHECK:         %[[E:.*]] = tensor.expand_shape %[[S]] {{\[}}[0], [1, 2]] output_shape {{.*}} : tensor<?x48xbf16> into tensor<?x6x8xbf16>
// CHECK:         %[[Q:.*]] = tensor.extract_slice %[[E]][0, 0, 0] [%{{.*}}, 4, 8] [1, 1, 1]
// CHECK:         %[[K:.*]] = tensor.extract_slice %[[S]][0, 32] [%{{.*}}, 16] [1, 1]
// CHECK-NOT:     linalg.contract
// CHECK:         linalg.generic {{.*}} ins(%[[Q]] : tensor<?x4x8xbf16>)
// CHECK:         linalg.generic {{.*}} ins(%[[K]] : tensor<?x16xbf16>)
module @gpu attributes {plan.target = #plan.target<"cuda", "sm_90a">} {
func.func @query_and_key(%x: tensor<?x64xbf16>) -> (tensor<4x?x8xbf16>, tensor<?x16xbf16>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %x, %c0 : tensor<?x64xbf16>
  %wq = array.parameter "m"::"wq" : tensor<64x32xbf16>
  %eq = tensor.empty(%m) : tensor<?x32xf32>
  %fq = linalg.fill ins(%zero : f32) outs(%eq : tensor<?x32xf32>) -> tensor<?x32xf32>
  %pq = linalg.contract indexing_maps = [#a, #b, #c] ins(%x, %wq : tensor<?x64xbf16>, tensor<64x32xbf16>) outs(%fq : tensor<?x32xf32>) -> tensor<?x32xf32>
  %bq = array.parameter "m"::"bq" : tensor<32xbf16>
  %oq = tensor.empty(%m) : tensor<?x32xbf16>
  %sq = linalg.generic {indexing_maps = [#all, #column, #all], iterator_types = ["parallel", "parallel"]} ins(%pq, %bq : tensor<?x32xf32>, tensor<32xbf16>) outs(%oq : tensor<?x32xbf16>) {
  ^bb0(%in: f32, %bias: bf16, %out: bf16):
    %w = arith.extf %bias : bf16 to f32
    %s = arith.addf %in, %w : f32
    %t = arith.truncf %s : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<?x32xbf16>
  %rq = tensor.expand_shape %sq [[0], [1, 2]] output_shape [%m, 4, 8] : tensor<?x32xbf16> into tensor<?x4x8xbf16>
  %hq = tensor.empty(%m) : tensor<4x?x8xbf16>
  %q = linalg.generic {indexing_maps = [#heads, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%rq : tensor<?x4x8xbf16>) outs(%hq : tensor<4x?x8xbf16>) {
  ^bb0(%in: bf16, %out: bf16):
    linalg.yield %in : bf16
  } -> tensor<4x?x8xbf16>
  %wk = array.parameter "m"::"wk" : tensor<64x16xbf16>
  %ek = tensor.empty(%m) : tensor<?x16xf32>
  %fk = linalg.fill ins(%zero : f32) outs(%ek : tensor<?x16xf32>) -> tensor<?x16xf32>
  %pk = linalg.contract indexing_maps = [#a, #b, #c] ins(%x, %wk : tensor<?x64xbf16>, tensor<64x16xbf16>) outs(%fk : tensor<?x16xf32>) -> tensor<?x16xf32>
  %bk = array.parameter "m"::"bk" : tensor<16xbf16>
  %ok = tensor.empty(%m) : tensor<?x16xbf16>
  %sk = linalg.generic {indexing_maps = [#all, #column, #all], iterator_types = ["parallel", "parallel"]} ins(%pk, %bk : tensor<?x16xf32>, tensor<16xbf16>) outs(%ok : tensor<?x16xbf16>) {
  ^bb0(%in: f32, %bias: bf16, %out: bf16):
    %w = arith.extf %bias : bf16 to f32
    %s = arith.addf %in, %w : f32
    %t = arith.truncf %s : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<?x16xbf16>
  %k = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]} ins(%sk : tensor<?x16xbf16>) outs(%ok : tensor<?x16xbf16>) {
  ^bb0(%in: bf16, %out: bf16):
    %n = arith.negf %in : bf16
    linalg.yield %n : bf16
  } -> tensor<?x16xbf16>
  return %q, %k : tensor<4x?x8xbf16>, tensor<?x16xbf16>
}

// Weights that a model's file holds are constants.
// CHECK-LABEL: func.func @constants(
// CHECK-SAME:    %[[X:.*]]: tensor<8x64xf32>
// CHECK-DAG:     %[[W0:.*]] = arith.constant dense_resource<w0>
// CHECK-DAG:     %[[W1:.*]] = arith.constant dense_resource<w1>
// CHECK:         %[[A:.*]] = tensor.insert_slice %[[W0]] into
// CHECK:         %[[B:.*]] = tensor.insert_slice %[[W1]] into %[[A]][0, 16] [64, 16] [1, 1]
// CHECK:         linalg.contract {{.*}} ins(%[[X]], %[[B]] : tensor<8x64xf32>, tensor<64x32xf32>)
// CHECK-NOT:     linalg.contract
func.func @constants(%x: tensor<8x64xf32>) -> (tensor<16x8xf32>, tensor<16x8xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x16xf32>
  %t = tensor.empty() : tensor<16x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x16xf32>) -> tensor<8x16xf32>
  %w0 = arith.constant dense_resource<w0> : tensor<64x16xf32>
  %w1 = arith.constant dense_resource<w1> : tensor<64x16xf32>
  %p0 = linalg.contract indexing_maps = [#a, #b, #c] ins(%x, %w0 : tensor<8x64xf32>, tensor<64x16xf32>) outs(%f : tensor<8x16xf32>) -> tensor<8x16xf32>
  %p1 = linalg.contract indexing_maps = [#a, #b, #c] ins(%x, %w1 : tensor<8x64xf32>, tensor<64x16xf32>) outs(%f : tensor<8x16xf32>) -> tensor<8x16xf32>
  %r0 = linalg.generic {indexing_maps = [#all, #turned], iterator_types = ["parallel", "parallel"]} ins(%p0 : tensor<8x16xf32>) outs(%t : tensor<16x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %n = arith.negf %in : f32
    linalg.yield %n : f32
  } -> tensor<16x8xf32>
  %r1 = linalg.generic {indexing_maps = [#all, #turned], iterator_types = ["parallel", "parallel"]} ins(%p1 : tensor<8x16xf32>) outs(%t : tensor<16x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %n = arith.addf %in, %in : f32
    linalg.yield %n : f32
  } -> tensor<16x8xf32>
  return %r0, %r1 : tensor<16x8xf32>, tensor<16x8xf32>
}

// A result that somebody needs whole, and weights that are neither parameters nor constants, keep their products.
// CHECK-LABEL: func.func @apart(
// CHECK-COUNT-4: linalg.contract
func.func @apart(%x: tensor<8x64xf32>, %w: tensor<64x16xf32>) -> (tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x16xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x16xf32>) -> tensor<8x16xf32>
  %w0 = array.parameter "m"::"w0" : tensor<64x16xf32>
  %w1 = array.parameter "m"::"w1" : tensor<64x16xf32>
  %p0 = linalg.contract indexing_maps = [#a, #b, #c] ins(%x, %w0 : tensor<8x64xf32>, tensor<64x16xf32>) outs(%f : tensor<8x16xf32>) -> tensor<8x16xf32>
  %p1 = linalg.contract indexing_maps = [#a, #b, #c] ins(%x, %w1 : tensor<8x64xf32>, tensor<64x16xf32>) outs(%f : tensor<8x16xf32>) -> tensor<8x16xf32>
  %p2 = linalg.contract indexing_maps = [#a, #b, #c] ins(%x, %w : tensor<8x64xf32>, tensor<64x16xf32>) outs(%f : tensor<8x16xf32>) -> tensor<8x16xf32>
  %p3 = linalg.contract indexing_maps = [#a, #b, #c] ins(%x, %w : tensor<8x64xf32>, tensor<64x16xf32>) outs(%f : tensor<8x16xf32>) -> tensor<8x16xf32>
  %r2 = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]} ins(%p2 : tensor<8x16xf32>) outs(%e : tensor<8x16xf32>) {
  ^bb0(%in: f32, %out: f32):
    %n = arith.negf %in : f32
    linalg.yield %n : f32
  } -> tensor<8x16xf32>
  return %p0, %p1, %r2, %p3 : tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>
}
}
