// RUN: xc-opt %s -split-input-file -pass-pipeline="builtin.module(func.func(xc-cuda-pack-pixels))" | FileCheck %s
// RUN: xc-opt %s -split-input-file -pass-pipeline="builtin.module(func.func(xc-cuda-pack-pixels{wgmma=false}))" | FileCheck %s --check-prefix=PLAIN

// PLAIN-LABEL: func.func @stem(
// PLAIN-NOT:     tensor.collapse_shape

#image = affine_map<(n, p, q, f, r, s, c) -> (n, p * 2 + r, q * 2 + s, c)>
#filter = affine_map<(n, p, q, f, r, s, c) -> (f, r, s, c)>
#result = affine_map<(n, p, q, f, r, s, c) -> (n, p, q, f)>

// Rows of 7 taps of 3 channels are lines of 32 elements, 8 apart; all padding is in the copy.
// CHECK-DAG:   #[[$IMAGE:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1 * 2 + d4, d2 * 8 + d5)>
// CHECK-DAG:   #[[$FILTER:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d3, d4, d5)>
// CHECK-LABEL: func.func @stem(
// CHECK-SAME:    %[[X:.*]]: tensor<32x224x224x3xbf16>, %[[W:.*]]: tensor<64x7x7x3xbf16>
// CHECK:         %[[WIDE:.*]] = tensor.pad %[[X]] low[0, 3, 3, 0] high[0, 2, 13, 1]
// CHECK:         %[[LINES:.*]] = tensor.collapse_shape %[[WIDE]] {{\[\[}}0], [1], [2, 3]] : tensor<32x229x240x4xbf16> into tensor<32x229x960xbf16>
// CHECK:         %[[SPREAD:.*]] = tensor.pad %[[W]] low[0, 0, 0, 0] high[0, 0, 1, 1]
// CHECK:         %[[ROWS:.*]] = tensor.collapse_shape %[[SPREAD]] {{.*}} into tensor<64x7x32xbf16>
// CHECK:         linalg.generic {indexing_maps = [#[[$IMAGE]], #[[$FILTER]], {{.*}} ins(%[[LINES]], %[[ROWS]]
builtin.module @pixels attributes {plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @stem(%x: tensor<32x224x224x3xbf16>, %w: tensor<64x7x7x3xbf16>) -> tensor<32x112x112x64xf32> {
    %zero = arith.constant 0.0 : bf16
    %padded = tensor.pad %x low[0, 3, 3, 0] high[0, 2, 2, 0] {
    ^bb0(%a: index, %b: index, %c: index, %d: index):
      tensor.yield %zero : bf16
    } : tensor<32x224x224x3xbf16> to tensor<32x229x229x3xbf16>
    %none = arith.constant 0.0 : f32
    %empty = tensor.empty() : tensor<32x112x112x64xf32>
    %init = linalg.fill ins(%none : f32) outs(%empty : tensor<32x112x112x64xf32>) -> tensor<32x112x112x64xf32>
    %y = linalg.generic {indexing_maps = [#image, #filter, #result], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
        ins(%padded, %w : tensor<32x229x229x3xbf16>, tensor<64x7x7x3xbf16>) outs(%init : tensor<32x112x112x64xf32>) {
    ^bb0(%i: bf16, %f: bf16, %sum: f32):
      %a = arith.extf %i : bf16 to f32
      %b = arith.extf %f : bf16 to f32
      %p = arith.mulf %a, %b : f32
      %s = arith.addf %sum, %p : f32
      linalg.yield %s : f32
    } -> tensor<32x112x112x64xf32>
    return %y : tensor<32x112x112x64xf32>
  }
}

// -----

#image = affine_map<(f, r, s, c, n, p, q) -> (n, p + r, q + s, c)>
#output = affine_map<(f, r, s, c, n, p, q) -> (n, p, q, f)>
#filter = affine_map<(f, r, s, c, n, p, q) -> (f, r, s, c)>

// Gradients to filters want panels of 64: of rows of 3 taps of 24 channels two.
// CHECK-DAG:   #[[$IMAGE:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d3, d1 + d4, d5 * 24 + d2)>
// CHECK-DAG:   #[[$TAKEN:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2 * 24 + d3)>
// CHECK-LABEL: func.func @to_filter(
// CHECK:         linalg.generic {indexing_maps = [#[[$IMAGE]], {{.*}} outs({{.*}} : tensor<96x3x128xf32>)
// CHECK:         linalg.generic {indexing_maps = [#[[$TAKEN]], {{.*}} ins({{.*}} : tensor<96x3x128xf32>) outs({{.*}} : tensor<96x3x3x24xf32>)
builtin.module @gradient attributes {plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @to_filter(%x: tensor<32x58x58x24xbf16>, %d: tensor<32x56x56x96xbf16>) -> tensor<96x3x3x24xf32> {
    %none = arith.constant 0.0 : f32
    %empty = tensor.empty() : tensor<96x3x3x24xf32>
    %init = linalg.fill ins(%none : f32) outs(%empty : tensor<96x3x3x24xf32>) -> tensor<96x3x3x24xf32>
    %y = linalg.generic {indexing_maps = [#image, #output, #filter], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
        ins(%x, %d : tensor<32x58x58x24xbf16>, tensor<32x56x56x96xbf16>) outs(%init : tensor<96x3x3x24xf32>) {
    ^bb0(%i: bf16, %f: bf16, %sum: f32):
      %a = arith.extf %i : bf16 to f32
      %b = arith.extf %f : bf16 to f32
      %p = arith.mulf %a, %b : f32
      %s = arith.addf %sum, %p : f32
      linalg.yield %s : f32
    } -> tensor<96x3x3x24xf32>
    return %y : tensor<96x3x3x24xf32>
  }
  // Images of 2 x 12 x 12 positions are read by threads.
  // CHECK-LABEL: func.func @few_positions(
  // CHECK-NOT:     tensor.collapse_shape
  func.func @few_positions(%x: tensor<2x14x14x3xbf16>, %d: tensor<2x12x12x96xbf16>) -> tensor<96x3x3x3xf32> {
    %none = arith.constant 0.0 : f32
    %empty = tensor.empty() : tensor<96x3x3x3xf32>
    %init = linalg.fill ins(%none : f32) outs(%empty : tensor<96x3x3x3xf32>) -> tensor<96x3x3x3xf32>
    %y = linalg.generic {indexing_maps = [#image, #output, #filter], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
        ins(%x, %d : tensor<2x14x14x3xbf16>, tensor<2x12x12x96xbf16>) outs(%init : tensor<96x3x3x3xf32>) {
    ^bb0(%i: bf16, %f: bf16, %sum: f32):
      %a = arith.extf %i : bf16 to f32
      %b = arith.extf %f : bf16 to f32
      %p = arith.mulf %a, %b : f32
      %s = arith.addf %sum, %p : f32
      linalg.yield %s : f32
    } -> tensor<96x3x3x3xf32>
    return %y : tensor<96x3x3x3xf32>
  }
}
