// RUN: xc-opt %s -split-input-file -pass-pipeline="builtin.module(func.func(xc-cuda-pack-groups))" | FileCheck %s
// RUN: xc-opt %s -split-input-file -pass-pipeline="builtin.module(func.func(xc-cuda-pack-groups{wgmma=false}))" | FileCheck %s --check-prefix=PLAIN

// PLAIN-LABEL: func.func @forward(
// PLAIN-NOT:     tensor.collapse_shape

#image = affine_map<(n, p, g, f, r, c) -> (n, p + r, g, c)>
#filter = affine_map<(n, p, g, f, r, c) -> (g, f, r, c)>
#result = affine_map<(n, p, g, f, r, c) -> (n, p, g, f)>
#line = affine_map<(a, b, c, d) -> (a, b, c, d)>

// The filter is spread over pairs of 16 groups; what converts the result follows the product.
// CHECK-DAG:   #[[$OWN:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d4, d2, d3, d5)>
// CHECK-DAG:   #[[$IMAGE:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1 + d4, d2, d5)>
// CHECK-LABEL: func.func @forward(
// CHECK-SAME:    %[[X:.*]]: tensor<8x56x32x4xf16>, %[[W:.*]]: tensor<32x4x3x4xf16>
// CHECK:         %[[FLAT:.*]] = tensor.collapse_shape %[[X]] {{\[\[}}0], [1], [2, 3]] : tensor<8x56x32x4xf16> into tensor<8x56x128xf16>
// CHECK:         %[[PACKED:.*]] = tensor.expand_shape %[[FLAT]] {{\[\[}}0], [1], [2, 3]] output_shape [8, 56, 2, 64]
// CHECK:         %[[PADDED:.*]] = tensor.pad %[[PACKED]] low[0, 1, 0, 0] high[0, 1, 0, 0]
// CHECK:         %[[APART:.*]] = tensor.expand_shape %[[W]] {{.*}} output_shape [2, 16, 4, 3, 4]
// CHECK:         %[[SPREAD:.*]] = linalg.generic {indexing_maps = [#[[$OWN]], {{.*}} ins(%[[APART]] : tensor<2x16x4x3x4xf16>)
// CHECK:           %[[I:.*]] = linalg.index 4
// CHECK:           %[[J:.*]] = linalg.index 1
// CHECK:           %[[SAME:.*]] = arith.cmpi eq, %[[I]], %[[J]]
// CHECK:           arith.select %[[SAME]]
// CHECK:         -> tensor<2x16x4x3x16x4xf16>
// CHECK:         %[[W2:.*]] = tensor.collapse_shape %[[SPREAD]] {{.*}} into tensor<2x64x3x64xf16>
// CHECK:         linalg.generic {indexing_maps = [#[[$IMAGE]], {{.*}} ins(%[[PADDED]], %[[W2]] : tensor<8x58x2x64xf16>, tensor<2x64x3x64xf16>)
// CHECK:         arith.truncf
// CHECK:         -> tensor<8x56x2x64xf16>
// CHECK:         tensor.expand_shape {{.*}} output_shape [8, 56, 32, 4]
builtin.module @groups attributes {plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @forward(%x: tensor<8x56x32x4xf16>, %w: tensor<32x4x3x4xf16>) -> tensor<8x56x32x4xf16> {
    %zero = arith.constant 0.0 : f16
    %padded = tensor.pad %x low[0, 1, 0, 0] high[0, 1, 0, 0] {
    ^bb0(%a: index, %b: index, %c: index, %d: index):
      tensor.yield %zero : f16
    } : tensor<8x56x32x4xf16> to tensor<8x58x32x4xf16>
    %none = arith.constant 0.0 : f32
    %empty = tensor.empty() : tensor<8x56x32x4xf32>
    %init = linalg.fill ins(%none : f32) outs(%empty : tensor<8x56x32x4xf32>) -> tensor<8x56x32x4xf32>
    %y = linalg.generic {indexing_maps = [#image, #filter, #result], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
        ins(%padded, %w : tensor<8x58x32x4xf16>, tensor<32x4x3x4xf16>) outs(%init : tensor<8x56x32x4xf32>) {
    ^bb0(%i: f16, %f: f16, %sum: f32):
      %a = arith.extf %i : f16 to f32
      %b = arith.extf %f : f16 to f32
      %p = arith.mulf %a, %b : f32
      %s = arith.addf %sum, %p : f32
      linalg.yield %s : f32
    } -> tensor<8x56x32x4xf32>
    %half = tensor.empty() : tensor<8x56x32x4xf16>
    %z = linalg.generic {indexing_maps = [#line, #line], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
        ins(%y : tensor<8x56x32x4xf32>) outs(%half : tensor<8x56x32x4xf16>) {
    ^bb0(%i: f32, %o: f16):
      %t = arith.truncf %i : f32 to f16
      linalg.yield %t : f16
    } -> tensor<8x56x32x4xf16>
    return %z : tensor<8x56x32x4xf16>
  }
}

// -----

#image = affine_map<(g, f, r, c, n, p) -> (n, p + r, g, c)>
#output = affine_map<(g, f, r, c, n, p) -> (n, p, g, f)>
#filter = affine_map<(g, f, r, c, n, p) -> (g, f, r, c)>

// Of the gradient to the filter the blocks on the diagonal are taken.
// CHECK-DAG:   #[[$DIAGONAL:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d1, d4)>
// CHECK-LABEL: func.func @to_filter(
// CHECK:         linalg.generic {{.*}} ins({{.*}} : tensor<8x58x2x64xbf16>, tensor<8x56x2x64xbf16>) outs({{.*}} : tensor<2x64x3x64xf32>)
// CHECK:         %[[APART:.*]] = tensor.expand_shape {{.*}} output_shape [2, 8, 8, 3, 8, 8]
// CHECK:         linalg.generic {indexing_maps = [#[[$DIAGONAL]], {{.*}} ins(%[[APART]]
// CHECK:         tensor.collapse_shape {{.*}} into tensor<16x8x3x8xf32>
builtin.module @gradient attributes {plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @to_filter(%x: tensor<8x58x16x8xbf16>, %d: tensor<8x56x16x8xbf16>) -> tensor<16x8x3x8xf32> {
    %none = arith.constant 0.0 : f32
    %empty = tensor.empty() : tensor<16x8x3x8xf32>
    %init = linalg.fill ins(%none : f32) outs(%empty : tensor<16x8x3x8xf32>) -> tensor<16x8x3x8xf32>
    %y = linalg.generic {indexing_maps = [#image, #output, #filter], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
        ins(%x, %d : tensor<8x58x16x8xbf16>, tensor<8x56x16x8xbf16>) outs(%init : tensor<16x8x3x8xf32>) {
    ^bb0(%i: bf16, %f: bf16, %sum: f32):
      %a = arith.extf %i : bf16 to f32
      %b = arith.extf %f : bf16 to f32
      %p = arith.mulf %a, %b : f32
      %s = arith.addf %sum, %p : f32
      linalg.yield %s : f32
    } -> tensor<16x8x3x8xf32>
    return %y : tensor<16x8x3x8xf32>
  }
  // Thirteen groups of 40 channels have no whole steps together.
  // CHECK-LABEL: func.func @too_many(
  // CHECK-NOT:     tensor.expand_shape
  func.func @too_many(%x: tensor<8x58x13x40xbf16>, %d: tensor<8x56x13x40xbf16>) -> tensor<13x40x3x40xf32> {
    %none = arith.constant 0.0 : f32
    %empty = tensor.empty() : tensor<13x40x3x40xf32>
    %init = linalg.fill ins(%none : f32) outs(%empty : tensor<13x40x3x40xf32>) -> tensor<13x40x3x40xf32>
    %y = linalg.generic {indexing_maps = [#image, #output, #filter], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
        ins(%x, %d : tensor<8x58x13x40xbf16>, tensor<8x56x13x40xbf16>) outs(%init : tensor<13x40x3x40xf32>) {
    ^bb0(%i: bf16, %f: bf16, %sum: f32):
      %a = arith.extf %i : bf16 to f32
      %b = arith.extf %f : bf16 to f32
      %p = arith.mulf %a, %b : f32
      %s = arith.addf %sum, %p : f32
      linalg.yield %s : f32
    } -> tensor<13x40x3x40xf32>
    return %y : tensor<13x40x3x40xf32>
  }
}
