// RUN: xc-opt %s -pass-pipeline='builtin.module(func.func(xc-form-dispatches))' -split-input-file | FileCheck %s

#image = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1 + d3, d4)>
#filter = affine_map<(d0, d1, d2, d3, d4) -> (d3, d4, d2)>
#place = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2)>
#id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>

// Padding is computed where the convolution loads, with its constant; what follows works on the product. Two that read
// one padded tensor each pad for themselves.
// CHECK-LABEL: func.func @padded(
// CHECK:         plan.region
// CHECK:           arith.constant
// CHECK:           tensor.pad
// CHECK:           linalg.generic
// CHECK:             arith.mulf
// CHECK:           linalg.generic
// CHECK:             arith.maximumf
// CHECK:         plan.region
// CHECK:           tensor.pad
// CHECK:           linalg.generic
// CHECK-NOT:     plan.region
func.func @padded(%x: tensor<2x8x4xf32>, %w: tensor<3x4x6xf32>, %v: tensor<3x4x6xf32>)
    -> (tensor<2x8x6xf32>, tensor<2x8x6xf32>) {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<2x8x6xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<2x8x6xf32>) -> tensor<2x8x6xf32>
  %pad = tensor.pad %x low[0, 1, 0] high[0, 1, 0] {
  ^bb0(%i: index, %j: index, %k: index):
    tensor.yield %zero : f32
  } : tensor<2x8x4xf32> to tensor<2x10x4xf32>
  %conv = linalg.generic {indexing_maps = [#image, #filter, #place],
      iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%pad, %w : tensor<2x10x4xf32>, tensor<3x4x6xf32>) outs(%init : tensor<2x8x6xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %c, %m : f32
    linalg.yield %s : f32
  } -> tensor<2x8x6xf32>
  %relu = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%conv : tensor<2x8x6xf32>) outs(%empty : tensor<2x8x6xf32>) {
  ^bb0(%a: f32, %b: f32):
    %m = arith.maximumf %a, %zero : f32
    linalg.yield %m : f32
  } -> tensor<2x8x6xf32>
  %other = linalg.generic {indexing_maps = [#image, #filter, #place],
      iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%pad, %v : tensor<2x10x4xf32>, tensor<3x4x6xf32>) outs(%init : tensor<2x8x6xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %c, %m : f32
    linalg.yield %s : f32
  } -> tensor<2x8x6xf32>
  return %relu, %other : tensor<2x8x6xf32>, tensor<2x8x6xf32>
}

// -----

#window = affine_map<(d0, d1, d2) -> (d0, d1 * 2 + d2)>
#size = affine_map<(d0, d1, d2) -> (d2)>
#places = affine_map<(d0, d1, d2) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#all = affine_map<(d0, d1) -> (d0, d1)>

// A window does not join what produces its image, nor does a reduction of its result join it.
// CHECK-LABEL: func.func @apart(
// CHECK:         plan.region
// CHECK:           math.exp
// CHECK:         plan.region
// CHECK:           arith.maximumf
// CHECK:         plan.region
// CHECK:           arith.addf
func.func @apart(%x: tensor<8x64xf32>) -> tensor<8xf32> {
  %zero = arith.constant 0.0 : f32
  %all = tensor.empty() : tensor<8x64xf32>
  %some = tensor.empty() : tensor<8x32xf32>
  %rows = tensor.empty() : tensor<8xf32>
  %size = tensor.empty() : tensor<2xi8>
  %exp = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<8x64xf32>) outs(%all : tensor<8x64xf32>) {
  ^bb0(%a: f32, %b: f32):
    %m = math.exp %a : f32
    linalg.yield %m : f32
  } -> tensor<8x64xf32>
  %init = linalg.fill ins(%zero : f32) outs(%some : tensor<8x32xf32>) -> tensor<8x32xf32>
  %pool = linalg.generic {indexing_maps = [#window, #size, #places], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%exp, %size : tensor<8x64xf32>, tensor<2xi8>) outs(%init : tensor<8x32xf32>) {
  ^bb0(%a: f32, %k: i8, %c: f32):
    %m = arith.maximumf %a, %c : f32
    linalg.yield %m : f32
  } -> tensor<8x32xf32>
  %none = linalg.fill ins(%zero : f32) outs(%rows : tensor<8xf32>) -> tensor<8xf32>
  %sum = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%pool : tensor<8x32xf32>) outs(%none : tensor<8xf32>) {
  ^bb0(%a: f32, %c: f32):
    %m = arith.addf %a, %c : f32
    linalg.yield %m : f32
  } -> tensor<8xf32>
  return %sum : tensor<8xf32>
}

// -----

// Padding that is no window's is a kernel of its own, whose size is that of what it pads.
// CHECK-LABEL: func.func @padded_rows(
// CHECK-SAME:    %[[X:.*]]: tensor<?x1xf32>
// CHECK:         %[[ROWS:.*]] = tensor.dim %[[X]]
// CHECK:         %[[PAD:.*]] = plan.region
// CHECK-SAME:      %[[ROWS]]
// CHECK:           tensor.pad
// CHECK:         plan.region
// CHECK:           linalg.generic {{.*}} ins(%[[PAD]]
func.func @padded_rows(%x: tensor<?x1xf32>, %n: index) -> tensor<?x2xf32> {
  %zero = arith.constant 0.0 : f32
  %pad = tensor.pad %x low[0, 1] high[0, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<?x1xf32> to tensor<?x2xf32>
  %empty = tensor.empty(%n) : tensor<?x2xf32>
  %twice = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, 0)>, affine_map<(d0, d1) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel"]} ins(%pad : tensor<?x2xf32>) outs(%empty : tensor<?x2xf32>) {
  ^bb0(%a: f32, %c: f32):
    %s = arith.addf %a, %a : f32
    linalg.yield %s : f32
  } -> tensor<?x2xf32>
  return %twice : tensor<?x2xf32>
}

// -----

#image = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1 + d3, d4)>
#filter = affine_map<(d0, d1, d2, d3, d4) -> (d3, d4, d2)>
#place = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2)>
#from = affine_map<(d0, d1, d2) -> (d0, d2, d1)>
#id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>

// A CPU's kernel stores the transpose of a convolution with enough features; of few it does not.
module attributes {plan.target = #plan.target<"cpu", "x86-64-v3">} {
  // CHECK-LABEL: func.func @transpose_behind_convolution(
  // CHECK-COUNT-1: plan.region
  // CHECK-NOT:     plan.region
  func.func @transpose_behind_convolution(%x: tensor<2x8x4xf32>, %w: tensor<3x4x16xf32>) -> tensor<2x16x6xf32> {
    %zero = arith.constant 0.0 : f32
    %empty = tensor.empty() : tensor<2x6x16xf32>
    %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<2x6x16xf32>) -> tensor<2x6x16xf32>
    %conv = linalg.generic {indexing_maps = [#image, #filter, #place],
        iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
        ins(%x, %w : tensor<2x8x4xf32>, tensor<3x4x16xf32>) outs(%init : tensor<2x6x16xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %m = arith.mulf %a, %b : f32
      %s = arith.addf %c, %m : f32
      linalg.yield %s : f32
    } -> tensor<2x6x16xf32>
    %to = tensor.empty() : tensor<2x16x6xf32>
    %r = linalg.generic {indexing_maps = [#from, #id], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%conv : tensor<2x6x16xf32>) outs(%to : tensor<2x16x6xf32>) {
    ^bb0(%a: f32, %b: f32):
      linalg.yield %a : f32
    } -> tensor<2x16x6xf32>
    return %r : tensor<2x16x6xf32>
  }

  // CHECK-LABEL: func.func @few_features(
  // CHECK-COUNT-2: plan.region
  func.func @few_features(%x: tensor<2x8x4xf32>, %w: tensor<3x4x8xf32>) -> tensor<2x8x6xf32> {
    %zero = arith.constant 0.0 : f32
    %empty = tensor.empty() : tensor<2x6x8xf32>
    %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<2x6x8xf32>) -> tensor<2x6x8xf32>
    %conv = linalg.generic {indexing_maps = [#image, #filter, #place],
        iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
        ins(%x, %w : tensor<2x8x4xf32>, tensor<3x4x8xf32>) outs(%init : tensor<2x6x8xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %m = arith.mulf %a, %b : f32
      %s = arith.addf %c, %m : f32
      linalg.yield %s : f32
    } -> tensor<2x6x8xf32>
    %to = tensor.empty() : tensor<2x8x6xf32>
    %r = linalg.generic {indexing_maps = [#from, #id], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%conv : tensor<2x6x8xf32>) outs(%to : tensor<2x8x6xf32>) {
    ^bb0(%a: f32, %b: f32):
      linalg.yield %a : f32
    } -> tensor<2x8x6xf32>
    return %r : tensor<2x8x6xf32>
  }
}
