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
// CHECK:         %[[PRODUCT:.*]] = linalg.contract indexing_maps = [#[[A]], #[[B]], #[[C]]] {plan.allow_tf32} ins(%[[LHS]], %[[RHS]] : tensor<8x?x4xf32>, tensor<8x32x4xf32>) outs(%[[OUT]] : tensor<8x?x32xf32>)
// CHECK:         tensor.expand_shape %[[PRODUCT]] {{\[}}[0, 1], [2], [3]] output_shape [1, 8, %{{.*}}, 32] : tensor<8x?x32xf32> into tensor<1x8x?x32xf32>
func.func @batch_of_one(%a: tensor<1x8x?x4xf32>, %b: tensor<1x8x32x4xf32>, %init: tensor<1x8x?x32xf32>) -> tensor<1x8x?x32xf32> {
  %0 = linalg.contract indexing_maps = [#a, #b, #c] {plan.allow_tf32} ins(%a, %b : tensor<1x8x?x4xf32>, tensor<1x8x32x4xf32>) outs(%init : tensor<1x8x?x32xf32>) -> tensor<1x8x?x32xf32>
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

// -----

#a = affine_map<(b, m, n, k) -> (b, m, k)>
#b = affine_map<(b, m, n, k) -> (b, k, n)>
#c = affine_map<(b, m, n, k) -> (b, m, n)>
#from = affine_map<(b, k, n) -> (k, n)>
#to = affine_map<(b, k, n) -> (b, k, n)>

// A weight that is repeated for each batch is read as it is: the batches are rows of one product.
// CHECK-DAG:   #[[A:.*]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-DAG:   #[[B:.*]] = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK-DAG:   #[[C:.*]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-LABEL: func.func @repeated_weight(
// CHECK-SAME:    %{{.*}}: tensor<128x1x4xf32>, %[[W:.*]]: tensor<4x8xf32>
// CHECK:         linalg.contract indexing_maps = [#[[A]], #[[B]], #[[C]]] ins(%{{.*}}, %[[W]] : tensor<128x4xf32>, tensor<4x8xf32>) outs(%{{.*}} : tensor<128x8xf32>)
func.func @repeated_weight(%x: tensor<128x1x4xf32>, %w: tensor<4x8xf32>, %init: tensor<128x1x8xf32>) -> tensor<128x1x8xf32> {
  %e = tensor.empty() : tensor<128x4x8xf32>
  %r = linalg.generic {indexing_maps = [#from, #to], iterator_types = ["parallel", "parallel", "parallel"]} ins(%w : tensor<4x8xf32>) outs(%e : tensor<128x4x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<128x4x8xf32>
  %0 = linalg.contract indexing_maps = [#a, #b, #c] ins(%x, %r : tensor<128x1x4xf32>, tensor<128x4x8xf32>) outs(%init : tensor<128x1x8xf32>) -> tensor<128x1x8xf32>
  return %0 : tensor<128x1x8xf32>
}

// -----

#m = affine_map<(m, n, k) -> (m, k)>
#n = affine_map<(m, n, k) -> (k, n)>
#o = affine_map<(m, n, k) -> (m, n)>
#row = affine_map<(m, k) -> (k)>
#all = affine_map<(m, k) -> (m, k)>

// Rows that are all alike stay: a product's loops are those of its operands.
// CHECK-LABEL: func.func @repeated_row(
// CHECK:         linalg.contract {{.*}} : tensor<16x4xf32>, tensor<4x8xf32>) outs(%{{.*}} : tensor<16x8xf32>)
func.func @repeated_row(%x: tensor<4xf32>, %w: tensor<4x8xf32>, %init: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %e = tensor.empty() : tensor<16x4xf32>
  %r = linalg.generic {indexing_maps = [#row, #all], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4xf32>) outs(%e : tensor<16x4xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<16x4xf32>
  %0 = linalg.contract indexing_maps = [#m, #n, #o] ins(%r, %w : tensor<16x4xf32>, tensor<4x8xf32>) outs(%init : tensor<16x8xf32>) -> tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

#m = affine_map<(m, n, k) -> (m, k)>
#n = affine_map<(m, n, k) -> (k, n)>
#o = affine_map<(m, n, k) -> (m, n)>
#column = affine_map<(k, n) -> (n)>
#all = affine_map<(k, n) -> (k, n)>

// Repeated terms of a sum stay: both operands of a product have the loops that are summed over.
// CHECK-LABEL: func.func @repeated_terms(
// CHECK:         linalg.contract {{.*}} : tensor<16x4xf32>, tensor<4x8xf32>) outs(%{{.*}} : tensor<16x8xf32>)
func.func @repeated_terms(%x: tensor<16x4xf32>, %w: tensor<8xf32>, %init: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  %r = linalg.generic {indexing_maps = [#column, #all], iterator_types = ["parallel", "parallel"]} ins(%w : tensor<8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<4x8xf32>
  %0 = linalg.contract indexing_maps = [#m, #n, #o] ins(%x, %r : tensor<16x4xf32>, tensor<4x8xf32>) outs(%init : tensor<16x8xf32>) -> tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

#in = affine_map<(d0, d1, d2, d3) -> (d0, d2 * 3 + d3)>
#win = affine_map<(d0, d1, d2, d3) -> (d3)>
#out = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>

// A window of several places reads all of its operand, and no size is asked for by an op.
// CHECK-LABEL: func.func @several_places(
// CHECK-NEXT:    linalg.generic
func.func @several_places(%x: tensor<?x7xf32>, %w: tensor<3xf32>, %init: tensor<?x1x2xf32>) -> tensor<?x1x2xf32> {
  %0 = linalg.generic {indexing_maps = [#in, #win, #out], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%x, %w : tensor<?x7xf32>, tensor<3xf32>) outs(%init : tensor<?x1x2xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.maximumf %c, %a : f32
    linalg.yield %m : f32
  } -> tensor<?x1x2xf32>
  return %0 : tensor<?x1x2xf32>
}

// -----

#x = affine_map<(n, p, f, c, r) -> (n, p + r, c)>
#w = affine_map<(n, p, f, c, r) -> (f, r, c)>
#y = affine_map<(n, p, f, c, r) -> (n, p, f)>

// A window of one tap reads all of an image with as many places as elements, whatever their number is. Of one with fewer places it reads a part.
// CHECK-LABEL: func.func @one_tap(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<?x?x4xf32>
// CHECK:         linalg.generic {{.*}} ins(%[[X]], %{{.*}} : tensor<?x?x4xf32>, tensor<8x1x4xf32>)
// CHECK:         %[[PART:.*]] = tensor.extract_slice %[[X]][0, 0, 0] [%{{.*}}, %{{.*}}, 4] [1, 1, 1]
// CHECK:         linalg.generic {{.*}} ins(%[[PART]], %{{.*}} : tensor<?x?x4xf32>, tensor<8x1x4xf32>)
func.func @one_tap(%x: tensor<?x?x4xf32>, %w: tensor<8x1x4xf32>) -> (tensor<?x?x8xf32>, tensor<?x?x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?x?x4xf32>
  %p = tensor.dim %x, %c1 : tensor<?x?x4xf32>
  %q = arith.subi %p, %c1 : index
  %e = tensor.empty(%n, %p) : tensor<?x?x8xf32>
  %f = tensor.empty(%n, %q) : tensor<?x?x8xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  %j = linalg.fill ins(%zero : f32) outs(%f : tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  %0 = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %w : tensor<?x?x4xf32>, tensor<8x1x4xf32>) outs(%i : tensor<?x?x8xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %acc, %m : f32
    linalg.yield %s : f32
  } -> tensor<?x?x8xf32>
  %1 = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %w : tensor<?x?x4xf32>, tensor<8x1x4xf32>) outs(%j : tensor<?x?x8xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %acc, %m : f32
    linalg.yield %s : f32
  } -> tensor<?x?x8xf32>
  return %0, %1 : tensor<?x?x8xf32>, tensor<?x?x8xf32>
}

// -----

// A slice that is all of what it is taken of is that, whatever its size is written as.
// CHECK-LABEL: func.func @whole_slice(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<?x4xf32>
// CHECK-NOT:     tensor.extract_slice %[[X]]
// CHECK:         %[[PART:.*]] = tensor.extract_slice %[[X]][1, 0]
// CHECK:         return %[[X]], %[[PART]]
func.func @whole_slice(%x: tensor<?x4xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c0 : tensor<?x4xf32>
  %more = arith.addi %n, %c1 : index
  %same = arith.subi %more, %c1 : index
  %less = arith.subi %n, %c1 : index
  %0 = tensor.extract_slice %x[0, 0] [%same, 4] [1, 1] : tensor<?x4xf32> to tensor<?x4xf32>
  %1 = tensor.extract_slice %x[1, 0] [%less, 4] [1, 1] : tensor<?x4xf32> to tensor<?x4xf32>
  return %0, %1 : tensor<?x4xf32>, tensor<?x4xf32>
}
