// RUN: xc-opt %s -pass-pipeline="builtin.module(func.func(xc-narrow-results))" | FileCheck %s

#all = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// The sum is stored as it was rounded; its readers widen it.
// CHECK-LABEL: func.func @sum_of_rows(
// CHECK:         %[[S:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<8x64xbf16>)
// CHECK:           %[[T:.*]] = arith.truncf
// CHECK-NEXT:      linalg.yield %[[T]] : bf16
// CHECK:         linalg.generic {{.*}} ins(%[[S]] : tensor<8x64xbf16>)
// CHECK-NEXT:    ^bb0(%[[IN:.*]]: bf16, %[[OUT:.*]]: f32):
// CHECK-NEXT:      %[[WIDE:.*]] = arith.extf %[[IN]] : bf16 to f32
// CHECK-NEXT:      arith.addf %[[OUT]], %[[WIDE]]
func.func @sum_of_rows(%x: tensor<8x64xf32>, %init: tensor<8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8x64xf32>
  %s = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<8x64xf32>) outs(%e : tensor<8x64xf32>) {
  ^bb0(%in: f32, %out: f32):
    %a = arith.addf %in, %in : f32
    %t = arith.truncf %a : f32 to bf16
    %w = arith.extf %t : bf16 to f32
    linalg.yield %w : f32
  } -> tensor<8x64xf32>
  %m = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]} ins(%s : tensor<8x64xf32>) outs(%init : tensor<8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %a = arith.addf %out, %in : f32
    linalg.yield %a : f32
  } -> tensor<8xf32>
  return %m : tensor<8xf32>
}

// What the caller gets has the type that it asked for.
// CHECK-LABEL: func.func @returned(
// CHECK:         linalg.yield %{{.*}} : f32
func.func @returned(%x: tensor<8x64xf32>) -> tensor<8x64xf32> {
  %e = tensor.empty() : tensor<8x64xf32>
  %s = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<8x64xf32>) outs(%e : tensor<8x64xf32>) {
  ^bb0(%in: f32, %out: f32):
    %t = arith.truncf %in : f32 to bf16
    %w = arith.extf %t : bf16 to f32
    linalg.yield %w : f32
  } -> tensor<8x64xf32>
  return %s : tensor<8x64xf32>
}

// A conversion alone would become a copy.
// CHECK-LABEL: func.func @conversion(
// CHECK:         arith.extf
// CHECK:         linalg.generic {{.*}} ins(%{{.*}} : tensor<8x64xf32>)
func.func @conversion(%x: tensor<8x64xbf16>, %init: tensor<8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8x64xf32>
  %s = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<8x64xbf16>) outs(%e : tensor<8x64xf32>) {
  ^bb0(%in: bf16, %out: f32):
    %w = arith.extf %in : bf16 to f32
    linalg.yield %w : f32
  } -> tensor<8x64xf32>
  %m = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]} ins(%s : tensor<8x64xf32>) outs(%init : tensor<8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %a = arith.addf %out, %in : f32
    linalg.yield %a : f32
  } -> tensor<8xf32>
  return %m : tensor<8xf32>
}

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>

// The sum of two products is computed behind the second one: the first one is rounded where it is computed.
// CHECK-LABEL: func.func @two_products(
// CHECK:         %[[P:.*]] = linalg.contract
// CHECK:         %[[R:.*]] = linalg.generic {{.*}} ins(%[[P]] : tensor<8x64xf32>) outs(%{{.*}} : tensor<8x64xbf16>)
// CHECK:           arith.truncf
// CHECK:         %[[Q:.*]] = linalg.contract
// CHECK:         linalg.generic {{.*}} ins(%[[R]], %[[Q]] : tensor<8x64xbf16>, tensor<8x64xf32>)
// CHECK-NEXT:    ^bb0(%[[X:.*]]: bf16, %[[Y:.*]]: f32, %{{.*}}: bf16):
// CHECK-NEXT:      %[[T:.*]] = arith.truncf %[[Y]]
// CHECK-NEXT:      arith.addf %[[X]], %[[T]]
func.func @two_products(%x: tensor<8x32xbf16>, %v: tensor<32x64xbf16>, %w: tensor<32x64xbf16>, %init: tensor<8x64xf32>) -> tensor<8x64xbf16> {
  %p = linalg.contract indexing_maps = [#a, #b, #c] ins(%x, %v : tensor<8x32xbf16>, tensor<32x64xbf16>) outs(%init : tensor<8x64xf32>) -> tensor<8x64xf32>
  %q = linalg.contract indexing_maps = [#a, #b, #c] ins(%x, %w : tensor<8x32xbf16>, tensor<32x64xbf16>) outs(%init : tensor<8x64xf32>) -> tensor<8x64xf32>
  %e = tensor.empty() : tensor<8x64xbf16>
  %s = linalg.generic {indexing_maps = [#all, #all, #all], iterator_types = ["parallel", "parallel"]} ins(%p, %q : tensor<8x64xf32>, tensor<8x64xf32>) outs(%e : tensor<8x64xbf16>) {
  ^bb0(%in: f32, %other: f32, %out: bf16):
    %r = arith.truncf %in : f32 to bf16
    %t = arith.truncf %other : f32 to bf16
    %a = arith.addf %r, %t : bf16
    linalg.yield %a : bf16
  } -> tensor<8x64xbf16>
  return %s : tensor<8x64xbf16>
}

#image = affine_map<(p, f, r, c) -> (p + r, c)>
#filter = affine_map<(p, f, r, c) -> (r, c, f)>
#sums = affine_map<(p, f, r, c) -> (p, f)>
#turned = affine_map<(f, p) -> (p, f)>

// What stores sums over windows in another order has a kernel of its own. It reads them as they are rounded.
// CHECK-LABEL: func.func @transposed_windows(
// CHECK:         %[[P:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<64x32xf32>)
// CHECK:         %[[R:.*]] = linalg.generic {{.*}} ins(%[[P]] : tensor<64x32xf32>) outs(%{{.*}} : tensor<64x32xbf16>)
// CHECK:           arith.truncf
// CHECK:         linalg.generic {{.*}} ins(%[[R]] : tensor<64x32xbf16>) outs(%{{.*}} : tensor<32x64xbf16>)
// CHECK-NOT:       arith.truncf
func.func @transposed_windows(%x: tensor<66x16xbf16>, %w: tensor<3x16x32xbf16>, %init: tensor<64x32xf32>) -> tensor<32x64xbf16> {
  %s = linalg.generic {indexing_maps = [#image, #filter, #sums], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%x, %w : tensor<66x16xbf16>, tensor<3x16x32xbf16>) outs(%init : tensor<64x32xf32>) {
  ^bb0(%in: bf16, %weight: bf16, %out: f32):
    %a = arith.extf %in : bf16 to f32
    %b = arith.extf %weight : bf16 to f32
    %m = arith.mulf %a, %b : f32
    %n = arith.addf %out, %m : f32
    linalg.yield %n : f32
  } -> tensor<64x32xf32>
  %e = tensor.empty() : tensor<32x64xbf16>
  %t = linalg.generic {indexing_maps = [#turned, #all], iterator_types = ["parallel", "parallel"]} ins(%s : tensor<64x32xf32>) outs(%e : tensor<32x64xbf16>) {
  ^bb0(%in: f32, %out: bf16):
    %r = arith.truncf %in : f32 to bf16
    linalg.yield %r : bf16
  } -> tensor<32x64xbf16>
  return %t : tensor<32x64xbf16>
}

#factor_a = affine_map<(m, n, k) -> (m, k)>
#factor_b = affine_map<(m, n, k) -> (k, n)>
#product = affine_map<(m, n, k) -> (m, n)>
#column = affine_map<(i, j) -> (j)>

// A sum over rows of a product, which it rounds first, has a kernel of its own: the product is stored as it is rounded.
// CHECK-LABEL: func.func @columns_of_product(
// CHECK:         %[[P:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<8x64xf32>)
// CHECK:         %[[R:.*]] = linalg.generic {{.*}} ins(%[[P]] : tensor<8x64xf32>) outs(%{{.*}} : tensor<8x64xbf16>)
// CHECK:           arith.truncf
// CHECK:         linalg.generic {{.*}} ins(%[[R]] : tensor<8x64xbf16>) outs(%{{.*}} : tensor<64xf32>)
// CHECK-NOT:       arith.truncf
func.func @columns_of_product(%x: tensor<8x16xbf16>, %w: tensor<16x64xbf16>, %init: tensor<8x64xf32>, %sums: tensor<64xf32>) -> tensor<64xf32> {
  %p = linalg.generic {indexing_maps = [#factor_a, #factor_b, #product], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<8x16xbf16>, tensor<16x64xbf16>) outs(%init : tensor<8x64xf32>) {
  ^bb0(%in: bf16, %weight: bf16, %out: f32):
    %a = arith.extf %in : bf16 to f32
    %b = arith.extf %weight : bf16 to f32
    %m = arith.mulf %a, %b : f32
    %n = arith.addf %out, %m : f32
    linalg.yield %n : f32
  } -> tensor<8x64xf32>
  %c = linalg.generic {indexing_maps = [#all, #column], iterator_types = ["reduction", "parallel"]} ins(%p : tensor<8x64xf32>) outs(%sums : tensor<64xf32>) {
  ^bb0(%in: f32, %out: f32):
    %r = arith.truncf %in : f32 to bf16
    %a = arith.extf %r : bf16 to f32
    %b = arith.addf %out, %a : f32
    linalg.yield %b : f32
  } -> tensor<64xf32>
  return %c : tensor<64xf32>
}
