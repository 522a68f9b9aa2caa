// RUN: xc-opt %s -xc-convert-array-to-linalg -canonicalize -cse | FileCheck %s

// (n0 - 1) * 2 + (3 - 1) * 3 + 1, where there is an iteration.
// CHECK-LABEL: func.func @sum
// CHECK-SAME:    (%[[X:.*]]: tensor<?xf32>, %{{.*}}: tensor<3xf32>, %[[O:.*]]: tensor<?xf32>)
// CHECK-DAG:     %[[N:.*]] = tensor.dim %[[O]]
// CHECK-DAG:     %[[SIZE:.*]] = tensor.dim %[[X]]
// CHECK-DAG:     %[[LIVE:.*]] = arith.ceildivui %[[N]], %c281474976710656
// CHECK-DAG:     %[[TWICE:.*]] = arith.muli %[[N]], %c2
// CHECK-DAG:     %[[END:.*]] = arith.addi %[[TWICE]], %c5
// CHECK:         %[[LAST:.*]] = arith.muli %[[LIVE]], %[[END]]
// CHECK:         plan.require %[[LAST]] at_most %[[SIZE]], "linalg.generic: expected all places d0 * 2 + d1 * 3 to be in dim 0 of tensor<?xf32>"
// CHECK-NOT:     plan.require
func.func @sum(%x: tensor<?xf32>, %w: tensor<3xf32>, %o: tensor<?xf32>) -> tensor<?xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i * 2 + j * 3)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]} ins(%x, %w : tensor<?xf32>, tensor<3xf32>) outs(%o : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %m, %c : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// On either side.
// CHECK-LABEL: func.func @reverse
// CHECK:         plan.require %{{.*}} at_most %{{.*}}, "linalg.generic: expected all places -d0 + 7 to be in dim 0 of tensor<?xf32>"
// CHECK:         plan.require %{{.*}} at_most %c8, "linalg.generic: expected no place -d0 + 7 before the start of dim 0 of tensor<?xf32>"
func.func @reverse(%x: tensor<?xf32>, %o: tensor<?xf32>) -> tensor<?xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (7 - i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<?xf32>) outs(%o : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// CHECK-LABEL: func.func @constant
// CHECK-SAME:    (%[[X:.*]]: tensor<?x3xf32>
// CHECK:         %[[SIZE:.*]] = tensor.dim %[[X]]
// CHECK:         plan.require %c3 at_most %[[SIZE]], "linalg.generic: expected all places 2 to be in dim 0 of tensor<?x3xf32>"
// CHECK-NOT:     plan.require
func.func @constant(%x: tensor<?x3xf32>, %o: tensor<3xf32>) -> tensor<3xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (2, i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<?x3xf32>) outs(%o : tensor<3xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<3xf32>
  return %r : tensor<3xf32>
}

// Nothing to check at run time, nor where all indices are loops.
// CHECK-LABEL: func.func @known
// CHECK-NOT:     plan.require
func.func @known(%x: tensor<4xf32>, %o: tensor<7xf32>, %y: tensor<?xf32>) -> (tensor<7xf32>, tensor<?xf32>) {
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i mod 4)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<4xf32>) outs(%o : tensor<7xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<7xf32>
  %s = linalg.exp ins(%y : tensor<?xf32>) outs(%y : tensor<?xf32>) -> tensor<?xf32>
  return %r, %s : tensor<7xf32>, tensor<?xf32>
}

// Upstream's verifier looks at the last iteration only, which is at place 1. This is refused when requirements are listed.
// CHECK-LABEL: func.func @period
// CHECK:         plan.require %c4 at_most %c2, "linalg.generic: expected all places d0 mod 4 to be in dim 0 of tensor<2xf32>"
func.func @period(%x: tensor<2xf32>, %o: tensor<6xf32>) -> tensor<6xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i mod 4)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<2xf32>) outs(%o : tensor<6xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<6xf32>
  return %r : tensor<6xf32>
}

// There is an iteration where no loop is empty, however many iterations there are together.
// CHECK-LABEL: func.func @many
// CHECK-SAME:    (%{{.*}}: tensor<?xf32>, %[[P:.*]]: tensor<?xf32>, %[[O:.*]]: tensor<?xf32>)
// CHECK-DAG:     %[[N:.*]] = tensor.dim %[[O]]
// CHECK-DAG:     %[[M:.*]] = tensor.dim %[[P]]
// CHECK-DAG:     %[[A:.*]] = arith.ceildivui %[[N]], %c281474976710656
// CHECK-DAG:     %[[B:.*]] = arith.ceildivui %[[M]], %c281474976710656
// CHECK:         arith.muli %[[B]], %[[A]]
// CHECK:         plan.require %{{.*}} at_most %{{.*}}, "linalg.generic: expected all places d0 + d1 to be in dim 0 of tensor<?xf32>"
func.func @many(%x: tensor<?xf32>, %p: tensor<?xf32>, %o: tensor<?xf32>) -> tensor<?xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i + j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]} ins(%x, %p : tensor<?xf32>, tensor<?xf32>) outs(%o : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %m, %c : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// The index rises with its loop, which occurs twice: the last iteration is the largest, n - 1 + (n - 1) / 4 * 4.
// CHECK-LABEL: func.func @blocks_apart
// CHECK-SAME:    (%[[X:.*]]: tensor<?xf32>, %[[O:.*]]: tensor<?xf32>)
// CHECK-DAG:     %[[N:.*]] = tensor.dim %[[O]]
// CHECK-DAG:     %[[SIZE:.*]] = tensor.dim %[[X]]
// CHECK-DAG:     %[[LIVE:.*]] = arith.ceildivui %[[N]], %c281474976710656
// CHECK-DAG:     %[[LAST:.*]] = arith.addi %[[N]], %c-1
// CHECK-DAG:     %[[BLOCKS:.*]] = arith.divui %[[LAST]], %c4
// CHECK-DAG:     %[[GAPS:.*]] = arith.muli %[[BLOCKS]], %c4
// CHECK-DAG:     %[[END:.*]] = arith.addi %[[N]], %[[GAPS]]
// CHECK:         %[[PLACES:.*]] = arith.muli %[[LIVE]], %[[END]]
// CHECK:         plan.require %[[PLACES]] at_most %[[SIZE]], "linalg.generic: expected all places (d0 floordiv 4) * 8 + d0 mod 4 to be in dim 0 of tensor<?xf32>"
// CHECK-NOT:     plan.require
func.func @blocks_apart(%x: tensor<?xf32>, %o: tensor<?xf32>) -> tensor<?xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i floordiv 4 * 8 + i mod 4)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<?xf32>) outs(%o : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// It falls and rises: 1, 0, 3, 2 and so on, of which all iterations take n + n mod 2 places, and one iteration 2.
// CHECK-LABEL: func.func @pairs_reversed
// CHECK-SAME:    (%[[X:.*]]: tensor<?xf32>, %[[O:.*]]: tensor<?xf32>)
// CHECK-DAG:     %[[N:.*]] = tensor.dim %[[O]]
// CHECK-DAG:     %[[SIZE:.*]] = tensor.dim %[[X]]
// CHECK-DAG:     %[[LIVE:.*]] = arith.ceildivui %[[N]], %c281474976710656
// CHECK-DAG:     %[[PAIRS:.*]] = arith.divui %[[N]], %c2
// CHECK-DAG:     %[[SOME:.*]] = arith.ceildivui %[[PAIRS]], %c281474976710656
// CHECK-DAG:     %[[WHOLE:.*]] = arith.muli %[[PAIRS]], %c2
// CHECK-DAG:     %[[BEGUN:.*]] = arith.subi %[[N]], %[[WHOLE]]
// CHECK-DAG:     %[[NEXT:.*]] = arith.addi %[[BEGUN]], %c1
// CHECK-DAG:     %[[IS_BEGUN:.*]] = arith.divui %[[NEXT]], %c2
// CHECK-DAG:     %[[MORE:.*]] = arith.muli %[[IS_BEGUN]], %c2
// CHECK-DAG:     %[[ALL:.*]] = arith.addi %[[WHOLE]], %[[MORE]]
// CHECK-DAG:     %[[AFTER_FIRST:.*]] = arith.addi %[[ALL]], %c-2
// CHECK-DAG:     %[[LATER:.*]] = arith.muli %[[SOME]], %[[AFTER_FIRST]]
// CHECK-DAG:     %[[END:.*]] = arith.addi %[[LATER]], %c2
// CHECK:         %[[PLACES:.*]] = arith.muli %[[LIVE]], %[[END]]
// CHECK:         plan.require %[[PLACES]] at_most %[[SIZE]], "linalg.generic: expected all places (d0 floordiv 2) * 2 - d0 mod 2 + 1 to be in dim 0 of tensor<?xf32>"
func.func @pairs_reversed(%x: tensor<?xf32>, %o: tensor<?xf32>) -> tensor<?xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i floordiv 2 * 2 - i mod 2 + 1)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<?xf32>) outs(%o : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// A period of 65,536 iterations is looked at to its end, where the index falls: of iterations enough for one it takes 65,536 places.
// CHECK-LABEL: func.func @long_period
// CHECK-SAME:    (%[[X:.*]]: tensor<2xf32>, %[[O:.*]]: tensor<65537xf32>)
// CHECK:         plan.require %c65536 at_most %c2, "linalg.generic: expected all places d0 mod 65536 + d0 floordiv 65536 to be in dim 0 of tensor<2xf32>"
func.func @long_period(%x: tensor<2xf32>, %o: tensor<65537xf32>) -> tensor<65537xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i mod 65536 + i floordiv 65536)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<2xf32>) outs(%o : tensor<65537xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<65537xf32>
  return %r : tensor<65537xf32>
}
