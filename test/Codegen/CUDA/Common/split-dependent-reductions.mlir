// RUN: xc-opt %s -split-input-file -pass-pipeline="builtin.module(func.func(xc-cuda-split-reductions,canonicalize,cse))" | FileCheck %s

#whole = affine_map<(d0, d1) -> (d0, d1)>
#column = affine_map<(d0, d1) -> (d1)>

// Squares of distances from a mean of columns: each part of 1024 elements has a mean of its own, and parts are blocks enough for a
// few of them on each multiprocessor.
// CHECK-LABEL: func.func @columns(
// CHECK:         %[[X:.*]] = tensor.expand_shape %{{.*}} {{\[\[}}0, 1], [2]] output_shape [16, 1024, 2048]
// CHECK:         %[[SUMS:.*]] = linalg.generic
// CHECK-SAME:      iterator_types = ["parallel", "reduction", "parallel"]
// CHECK-SAME:      ins(%[[X]] : tensor<16x1024x2048xf32>) outs(%{{.*}} : tensor<16x2048xf32>)
// CHECK-SAME:      {cuda.in_parts}
// CHECK:         %[[CENTERS:.*]] = linalg.generic
// CHECK-SAME:      ins(%[[SUMS]] : tensor<16x2048xf32>)
// CHECK:           arith.mulf %{{.*}}, %{{.*}} : f32
// CHECK:         %[[SQUARES:.*]] = linalg.generic
// CHECK-SAME:      ins(%[[X]], %[[CENTERS]] : tensor<16x1024x2048xf32>, tensor<16x2048xf32>)
// CHECK-SAME:      {cuda.in_parts}
// CHECK:         %[[SUM:.*]] = linalg.generic
// CHECK-SAME:      iterator_types = ["reduction", "parallel"]
// CHECK-SAME:      ins(%[[SUMS]] : tensor<16x2048xf32>) outs(%{{.*}} : tensor<2048xf32>)
// CHECK:         %[[MEAN:.*]] = linalg.generic
// CHECK-SAME:      ins(%[[SUM]] : tensor<2048xf32>)
// CHECK:         linalg.generic
// CHECK-SAME:      iterator_types = ["reduction", "parallel"]
// CHECK-SAME:      ins(%[[SQUARES]], %[[SUMS]], %[[MEAN]] : tensor<16x2048xf32>, tensor<16x2048xf32>, tensor<2048xf32>)
// CHECK:           %[[DISTANCE:.*]] = arith.subf
// CHECK:           %[[SQUARE:.*]] = arith.mulf %[[DISTANCE]], %[[DISTANCE]]
// CHECK:           arith.mulf %[[SQUARE]], %{{.*}}
builtin.module attributes {plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @columns(%x: tensor<16384x2048xf32>) -> tensor<2048xf32> {
    %zero = arith.constant 0.0 : f32
    %count = arith.constant 16384.0 : f32
    %empty = tensor.empty() : tensor<2048xf32>
    %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<2048xf32>) -> tensor<2048xf32>
    %sum = linalg.generic {indexing_maps = [#whole, #column], iterator_types = ["reduction", "parallel"]}
        ins(%x : tensor<16384x2048xf32>) outs(%init : tensor<2048xf32>) {
    ^bb0(%in: f32, %out: f32):
      %r = arith.addf %out, %in : f32
      linalg.yield %r : f32
    } -> tensor<2048xf32>
    %mean = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
        ins(%sum : tensor<2048xf32>) outs(%empty : tensor<2048xf32>) {
    ^bb0(%in: f32, %out: f32):
      %r = arith.divf %in, %count : f32
      linalg.yield %r : f32
    } -> tensor<2048xf32>
    %squares = linalg.generic {indexing_maps = [#whole, #column, #column], iterator_types = ["reduction", "parallel"]}
        ins(%x, %mean : tensor<16384x2048xf32>, tensor<2048xf32>) outs(%init : tensor<2048xf32>) {
    ^bb0(%in: f32, %m: f32, %out: f32):
      %d = arith.subf %in, %m : f32
      %s = arith.mulf %d, %d : f32
      %r = arith.addf %out, %s : f32
      linalg.yield %r : f32
    } -> tensor<2048xf32>
    return %squares : tensor<2048xf32>
  }
}

// -----

#whole = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// Exponentials of distances from a maximum of long rows. A part of nothing but -infinity is at no
// distance from its maximum.
// CHECK-LABEL: func.func @rows(
// CHECK:         tensor.expand_shape %{{.*}} {{\[\[}}0], [1, 2]] output_shape [32, 16, 16384]
// CHECK:         %[[MAXIMA:.*]] = linalg.generic
// CHECK-SAME:      iterator_types = ["parallel", "parallel", "reduction"]
// CHECK:           arith.maximumf
// CHECK:         linalg.generic
// CHECK:           %[[IS_FINITE:.*]] = arith.cmpf one
// CHECK:           arith.select %[[IS_FINITE]]
// CHECK:         %[[SUMS:.*]] = linalg.generic
// CHECK:           math.exp
// CHECK:         %[[MAXIMUM:.*]] = linalg.generic
// CHECK-SAME:      ins(%[[MAXIMA]] : tensor<32x16xf32>)
// CHECK:           arith.maximumf
// CHECK:         linalg.generic
// CHECK-SAME:      iterator_types = ["parallel", "reduction"]
// CHECK-SAME:      ins(%[[SUMS]], %[[MAXIMA]], %[[MAXIMUM]] : tensor<32x16xf32>, tensor<32x16xf32>, tensor<32xf32>)
// CHECK:           %[[FACTOR:.*]] = math.exp
// CHECK:           arith.mulf %{{.*}}, %[[FACTOR]]
builtin.module attributes {plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @rows(%x: tensor<32x262144xf32>) -> (tensor<32xf32>, tensor<32xf32>) {
    %zero = arith.constant 0.0 : f32
    %least = arith.constant 0xFF800000 : f32
    %empty = tensor.empty() : tensor<32xf32>
    %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<32xf32>) -> tensor<32xf32>
    %start = linalg.fill ins(%least : f32) outs(%empty : tensor<32xf32>) -> tensor<32xf32>
    %max = linalg.generic {indexing_maps = [#whole, #row], iterator_types = ["parallel", "reduction"]}
        ins(%x : tensor<32x262144xf32>) outs(%start : tensor<32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %r = arith.maximumf %out, %in : f32
      linalg.yield %r : f32
    } -> tensor<32xf32>
    %sum = linalg.generic {indexing_maps = [#whole, #row, #row], iterator_types = ["parallel", "reduction"]}
        ins(%x, %max : tensor<32x262144xf32>, tensor<32xf32>) outs(%init : tensor<32xf32>) {
    ^bb0(%in: f32, %m: f32, %out: f32):
      %d = arith.subf %in, %m : f32
      %s = math.exp %d : f32
      %r = arith.addf %out, %s : f32
      linalg.yield %r : f32
    } -> tensor<32xf32>
    return %max, %sum : tensor<32xf32>, tensor<32xf32>
  }
}

// -----

#whole = affine_map<(d0, d1) -> (d0, d1)>
#column = affine_map<(d0, d1) -> (d1)>

// Distances of other elements than those that were summed up.
// CHECK-LABEL: func.func @of_others(
// CHECK-NOT:     cuda.in_parts
builtin.module attributes {plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @of_others(%x: tensor<16384x2048xf32>, %y: tensor<16384x2048xf32>) -> tensor<2048xf32> {
    %zero = arith.constant 0.0 : f32
    %empty = tensor.empty() : tensor<2048xf32>
    %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<2048xf32>) -> tensor<2048xf32>
    %sum = linalg.generic {indexing_maps = [#whole, #column], iterator_types = ["reduction", "parallel"]}
        ins(%x : tensor<16384x2048xf32>) outs(%init : tensor<2048xf32>) {
    ^bb0(%in: f32, %out: f32):
      %r = arith.addf %out, %in : f32
      linalg.yield %r : f32
    } -> tensor<2048xf32>
    %squares = linalg.generic {indexing_maps = [#whole, #column, #column], iterator_types = ["reduction", "parallel"]}
        ins(%y, %sum : tensor<16384x2048xf32>, tensor<2048xf32>) outs(%init : tensor<2048xf32>) {
    ^bb0(%in: f32, %m: f32, %out: f32):
      %d = arith.subf %in, %m : f32
      %s = arith.mulf %d, %d : f32
      %r = arith.addf %out, %s : f32
      linalg.yield %r : f32
    } -> tensor<2048xf32>
    return %squares : tensor<2048xf32>
  }
}

// -----

#whole = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// Rows that one kernel each holds.
// CHECK-LABEL: func.func @short_rows(
// CHECK-NOT:     cuda.in_parts
builtin.module attributes {plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @short_rows(%x: tensor<32x4096xf32>) -> tensor<32xf32> {
    %zero = arith.constant 0.0 : f32
    %empty = tensor.empty() : tensor<32xf32>
    %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<32xf32>) -> tensor<32xf32>
    %sum = linalg.generic {indexing_maps = [#whole, #row], iterator_types = ["parallel", "reduction"]}
        ins(%x : tensor<32x4096xf32>) outs(%init : tensor<32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %r = arith.addf %out, %in : f32
      linalg.yield %r : f32
    } -> tensor<32xf32>
    %squares = linalg.generic {indexing_maps = [#whole, #row, #row], iterator_types = ["parallel", "reduction"]}
        ins(%x, %sum : tensor<32x4096xf32>, tensor<32xf32>) outs(%init : tensor<32xf32>) {
    ^bb0(%in: f32, %m: f32, %out: f32):
      %d = arith.subf %in, %m : f32
      %s = arith.mulf %d, %d : f32
      %r = arith.addf %out, %s : f32
      linalg.yield %r : f32
    } -> tensor<32xf32>
    return %squares : tensor<32xf32>
  }
}

// -----

#whole = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#column = affine_map<(d0, d1, d2) -> (d2)>

// The norm of a batch of images: its loops are one, whose parts are cut anywhere. Both read the same tensor still.
// CHECK-LABEL: func.func @images(
// CHECK:         %[[C:.*]] = tensor.collapse_shape %{{.*}} {{\[\[}}0, 1], [2]] : tensor<48x196x512xbf16> into tensor<9408x512xbf16>
// CHECK:         %[[X:.*]] = tensor.expand_shape %[[C]] {{\[\[}}0, 1], [2]] output_shape [49, 192, 512]
// CHECK:         %[[SUMS:.*]] = linalg.generic
// CHECK-SAME:      ins(%[[X]] : tensor<49x192x512xbf16>) outs(%{{.*}} : tensor<49x512xf32>)
// CHECK:         linalg.generic {{.*}} ins(%[[X]], %{{.*}} : tensor<49x192x512xbf16>, tensor<49x512xf32>)
// CHECK-NOT:     ins({{.*}}48x196x512
builtin.module attributes {plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @images(%x: tensor<48x196x512xbf16>) -> tensor<512xf32> {
    %zero = arith.constant 0.0 : f32
    %count = arith.constant 9408.0 : f32
    %empty = tensor.empty() : tensor<512xf32>
    %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<512xf32>) -> tensor<512xf32>
    %sum = linalg.generic {indexing_maps = [#whole, #column], iterator_types = ["reduction", "reduction", "parallel"]}
        ins(%x : tensor<48x196x512xbf16>) outs(%init : tensor<512xf32>) {
    ^bb0(%in: bf16, %out: f32):
      %w = arith.extf %in : bf16 to f32
      %r = arith.addf %out, %w : f32
      linalg.yield %r : f32
    } -> tensor<512xf32>
    %mean = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
        ins(%sum : tensor<512xf32>) outs(%empty : tensor<512xf32>) {
    ^bb0(%in: f32, %out: f32):
      %r = arith.divf %in, %count : f32
      linalg.yield %r : f32
    } -> tensor<512xf32>
    %squares = linalg.generic {indexing_maps = [#whole, #column, #column], iterator_types = ["reduction", "reduction", "parallel"]}
        ins(%x, %mean : tensor<48x196x512xbf16>, tensor<512xf32>) outs(%init : tensor<512xf32>) {
    ^bb0(%in: bf16, %m: f32, %out: f32):
      %w = arith.extf %in : bf16 to f32
      %d = arith.subf %w, %m : f32
      %s = arith.mulf %d, %d : f32
      %r = arith.addf %out, %s : f32
      linalg.yield %r : f32
    } -> tensor<512xf32>
    return %squares : tensor<512xf32>
  }
}
