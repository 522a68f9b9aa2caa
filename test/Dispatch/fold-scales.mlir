// RUN: xc-opt %s -pass-pipeline='builtin.module(func.func(xc-fold-scales,canonicalize))' -split-input-file | FileCheck %s

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
#all = affine_map<(i, j) -> (i, j)>
#last = affine_map<(i, j) -> (j)>
#first = affine_map<(i, j) -> (i)>

// A batch norm: the weights are scaled in place of the result, and of both shifts one is left.
// CHECK-LABEL: func.func @norm(
// CHECK-SAME:    %[[X:.*]]: tensor<8x64xf32>)
// CHECK-DAG:     %[[W:.*]] = array.parameter "m"::"w"
// CHECK-DAG:     %[[MEAN:.*]] = array.parameter "m"::"mean"
// CHECK-DAG:     %[[SCALE:.*]] = array.parameter "m"::"scale"
// CHECK-DAG:     %[[BIAS:.*]] = array.parameter "m"::"bias"
// CHECK:         %[[MOVED:.*]] = linalg.generic {{.*}} ins(%[[MEAN]], %[[SCALE]] :
// CHECK:           arith.mulf
// CHECK:         %[[SHIFT:.*]] = linalg.generic {{.*}} ins(%[[BIAS]], %[[MOVED]] :
// CHECK:           arith.subf
// CHECK:         %[[SCALED:.*]] = linalg.generic {{.*}} ins(%[[W]], %[[SCALE]] : tensor<64x16xf32>, tensor<16xf32>)
// CHECK:           arith.mulf
// CHECK:         %[[P:.*]] = linalg.contract {{.*}} ins(%[[X]], %[[SCALED]] :
// CHECK:         %[[Y:.*]] = linalg.generic {{.*}} ins(%[[P]], %[[SHIFT]] : tensor<8x16xf32>, tensor<16xf32>)
// CHECK:           arith.addf
// CHECK:         return %[[Y]]
func.func @norm(%x: tensor<8x64xf32>) -> tensor<8x16xf32> {
  %zero = arith.constant 0.0 : f32
  %w = array.parameter "m"::"w" : tensor<64x16xf32>
  %mean = array.parameter "m"::"mean" : tensor<16xf32>
  %scale = array.parameter "m"::"scale" : tensor<16xf32>
  %bias = array.parameter "m"::"bias" : tensor<16xf32>
  %e = tensor.empty() : tensor<8x16xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x16xf32>) -> tensor<8x16xf32>
  %p = linalg.contract indexing_maps = [#a, #b, #c] ins(%x, %w : tensor<8x64xf32>, tensor<64x16xf32>) outs(%f : tensor<8x16xf32>) -> tensor<8x16xf32>
  %d = linalg.generic {indexing_maps = [#all, #last, #all], iterator_types = ["parallel", "parallel"]} ins(%p, %mean : tensor<8x16xf32>, tensor<16xf32>) outs(%e : tensor<8x16xf32>) {
  ^bb0(%in: f32, %v: f32, %out: f32):
    %r = arith.subf %in, %v : f32
    linalg.yield %r : f32
  } -> tensor<8x16xf32>
  %s = linalg.generic {indexing_maps = [#last, #all, #all], iterator_types = ["parallel", "parallel"]} ins(%scale, %d : tensor<16xf32>, tensor<8x16xf32>) outs(%e : tensor<8x16xf32>) {
  ^bb0(%v: f32, %in: f32, %out: f32):
    %r = arith.mulf %in, %v : f32
    linalg.yield %r : f32
  } -> tensor<8x16xf32>
  %y = linalg.generic {indexing_maps = [#all, #last, #all], iterator_types = ["parallel", "parallel"]} ins(%s, %bias : tensor<8x16xf32>, tensor<16xf32>) outs(%e : tensor<8x16xf32>) {
  ^bb0(%in: f32, %v: f32, %out: f32):
    %r = arith.addf %in, %v : f32
    linalg.yield %r : f32
  } -> tensor<8x16xf32>
  return %y : tensor<8x16xf32>
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
#all = affine_map<(i, j) -> (i, j)>
#last = affine_map<(i, j) -> (j)>
#first = affine_map<(i, j) -> (i)>

// What stands behind the last scale alone is left as it is, and a scale along the other operand's rows is none of the weights.
// CHECK-LABEL: func.func @rows(
// CHECK:         linalg.contract {{.*}} ins(%{{.*}}, %[[SCALED:.*]] :
// CHECK:         linalg.generic {{.*}} ins(%{{.*}}, %[[BIAS:param.*]] : tensor<8x16xf32>, tensor<16xf32>)
// CHECK:           arith.addf
// CHECK:         linalg.generic
// CHECK:           arith.mulf
// CHECK-NOT:     linalg.generic
func.func @rows(%x: tensor<8x64xf32>) -> tensor<8x16xf32> {
  %zero = arith.constant 0.0 : f32
  %w = array.parameter "m"::"w" : tensor<64x16xf32>
  %scale = array.parameter "m"::"scale" : tensor<16xf32>
  %bias = array.parameter "m"::"bias" : tensor<16xf32>
  %rows = array.parameter "m"::"rows" : tensor<8xf32>
  %e = tensor.empty() : tensor<8x16xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x16xf32>) -> tensor<8x16xf32>
  %p = linalg.contract indexing_maps = [#a, #b, #c] ins(%x, %w : tensor<8x64xf32>, tensor<64x16xf32>) outs(%f : tensor<8x16xf32>) -> tensor<8x16xf32>
  %s = linalg.generic {indexing_maps = [#all, #last, #all], iterator_types = ["parallel", "parallel"]} ins(%p, %scale : tensor<8x16xf32>, tensor<16xf32>) outs(%e : tensor<8x16xf32>) {
  ^bb0(%in: f32, %v: f32, %out: f32):
    %r = arith.mulf %in, %v : f32
    linalg.yield %r : f32
  } -> tensor<8x16xf32>
  %t = linalg.generic {indexing_maps = [#all, #last, #all], iterator_types = ["parallel", "parallel"]} ins(%s, %bias : tensor<8x16xf32>, tensor<16xf32>) outs(%e : tensor<8x16xf32>) {
  ^bb0(%in: f32, %v: f32, %out: f32):
    %r = arith.addf %in, %v : f32
    linalg.yield %r : f32
  } -> tensor<8x16xf32>
  %y = linalg.generic {indexing_maps = [#all, #first, #all], iterator_types = ["parallel", "parallel"]} ins(%t, %rows : tensor<8x16xf32>, tensor<8xf32>) outs(%e : tensor<8x16xf32>) {
  ^bb0(%in: f32, %v: f32, %out: f32):
    %r = arith.mulf %in, %v : f32
    linalg.yield %r : f32
  } -> tensor<8x16xf32>
  return %y : tensor<8x16xf32>
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
#all = affine_map<(i, j) -> (i, j)>
#last = affine_map<(i, j) -> (j)>

// Left alone: weights of 16 bits, weights that something else reads, too, and a scale that an input gives.
// CHECK-LABEL: func.func @left(
// CHECK-DAG:     %[[N:.*]] = array.parameter "m"::"narrow"
// CHECK-DAG:     %[[W:.*]] = array.parameter "m"::"w"
// CHECK-DAG:     %[[V:.*]] = array.parameter "m"::"v"
// CHECK:         linalg.contract {{.*}} ins(%{{.*}}, %[[N]] :
// CHECK:         linalg.contract {{.*}} ins(%{{.*}}, %[[W]] :
// CHECK:         linalg.contract {{.*}} ins(%{{.*}}, %[[V]] :
func.func @left(%x: tensor<8x64xf32>, %h: tensor<8x64xbf16>, %s: tensor<16xf32>) -> (tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<64x16xf32>) {
  %zero = arith.constant 0.0 : f32
  %narrow = array.parameter "m"::"narrow" : tensor<64x16xbf16>
  %w = array.parameter "m"::"w" : tensor<64x16xf32>
  %v = array.parameter "m"::"v" : tensor<64x16xf32>
  %scale = array.parameter "m"::"scale" : tensor<16xf32>
  %e = tensor.empty() : tensor<8x16xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x16xf32>) -> tensor<8x16xf32>
  %0 = linalg.contract indexing_maps = [#a, #b, #c] ins(%h, %narrow : tensor<8x64xbf16>, tensor<64x16xbf16>) outs(%f : tensor<8x16xf32>) -> tensor<8x16xf32>
  %1 = linalg.contract indexing_maps = [#a, #b, #c] ins(%x, %w : tensor<8x64xf32>, tensor<64x16xf32>) outs(%f : tensor<8x16xf32>) -> tensor<8x16xf32>
  %2 = linalg.contract indexing_maps = [#a, #b, #c] ins(%x, %v : tensor<8x64xf32>, tensor<64x16xf32>) outs(%f : tensor<8x16xf32>) -> tensor<8x16xf32>
  %3 = linalg.generic {indexing_maps = [#all, #last, #all], iterator_types = ["parallel", "parallel"]} ins(%0, %scale : tensor<8x16xf32>, tensor<16xf32>) outs(%e : tensor<8x16xf32>) {
  ^bb0(%in: f32, %t: f32, %out: f32):
    %r = arith.mulf %in, %t : f32
    linalg.yield %r : f32
  } -> tensor<8x16xf32>
  %4 = linalg.generic {indexing_maps = [#all, #last, #all], iterator_types = ["parallel", "parallel"]} ins(%1, %scale : tensor<8x16xf32>, tensor<16xf32>) outs(%e : tensor<8x16xf32>) {
  ^bb0(%in: f32, %t: f32, %out: f32):
    %r = arith.mulf %in, %t : f32
    linalg.yield %r : f32
  } -> tensor<8x16xf32>
  %5 = linalg.generic {indexing_maps = [#all, #last, #all], iterator_types = ["parallel", "parallel"]} ins(%2, %s : tensor<8x16xf32>, tensor<16xf32>) outs(%e : tensor<8x16xf32>) {
  ^bb0(%in: f32, %t: f32, %out: f32):
    %r = arith.mulf %in, %t : f32
    linalg.yield %r : f32
  } -> tensor<8x16xf32>
  return %3, %4, %5, %w : tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<64x16xf32>
}
