// RUN: xc-opt %s -pass-pipeline='builtin.module(func.func(xc-choose-layouts))' -split-input-file -verify-diagnostics | FileCheck %s

// The image and the filter are transposed, the pool between two convolutions goes along, and only the last result is turned
// back. Loops follow the result's dims.
#image = affine_map<(n, f, y, x, c, r, s) -> (n, c, y + r, x + s)>
#filter = affine_map<(n, f, y, x, c, r, s) -> (f, c, r, s)>
#result = affine_map<(n, f, y, x, c, r, s) -> (n, f, y, x)>
#window = affine_map<(n, f, y, x, r, s) -> (n, f, y * 2 + r, x * 2 + s)>
#size = affine_map<(n, f, y, x, r, s) -> (r, s)>
#pooled = affine_map<(n, f, y, x, r, s) -> (n, f, y, x)>
#id = affine_map<(n, f, y, x) -> (n, f, y, x)>
#vector = affine_map<(n, f, y, x) -> (f)>

// CHECK-DAG: #[[TOLAST:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d3, d1, d2)>
// CHECK-DAG: #[[FILTER:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d4, d5, d6, d3)>
// CHECK-DAG: #[[IMAGE:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1 + d4, d2 + d5, d6)>
// CHECK-DAG: #[[RESULT:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d2, d3)>
// CHECK-DAG: #[[FEATURE:.*]] = affine_map<(d0, d1, d2, d3) -> (d3)>
// CHECK-DAG: #[[BACK:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d2, d3, d1)>
// CHECK-LABEL: func.func @network(
// CHECK-SAME:    plan.layouts = "channels last (convolutions: 2, transposes: 4)"
// CHECK:         linalg.generic {indexing_maps = [#[[TOLAST]]
// CHECK-SAME:      outs(%{{.*}} : tensor<2x20x20x16xf32>)
// CHECK:         tensor.pad {{.*}} low[0, 1, 1, 0] high[0, 1, 1, 0]
// CHECK:         linalg.generic {indexing_maps = [#[[IMAGE]], #[[FILTER]], #[[RESULT]]]
// CHECK-SAME:      outs(%{{.*}} : tensor<2x20x20x32xf32>)
// CHECK:         linalg.generic {{.*}}#[[FEATURE]]
// CHECK-SAME:      outs(%{{.*}} : tensor<2x20x20x32xf32>)
// CHECK:         linalg.generic
// CHECK-SAME:      outs(%{{.*}} : tensor<2x10x10x32xf32>)
// CHECK:         linalg.generic {indexing_maps = [#[[IMAGE]], #[[FILTER]], #[[RESULT]]]
// CHECK-SAME:      outs(%{{.*}} : tensor<2x8x8x24xf32>)
// CHECK:         %[[LAST:.*]] = linalg.generic {indexing_maps = [#[[BACK]]
// CHECK-SAME:      outs(%{{.*}} : tensor<2x24x8x8xf32>)
// CHECK:         return %[[LAST]]
builtin.module attributes {plan.target = #plan.target<"cpu", "x86-64-v3">} {
  func.func @network(%x: tensor<2x16x20x20xf32>, %w: tensor<32x16x3x3xf32>, %b: tensor<32xf32>, %v: tensor<24x32x3x3xf32>)
      -> tensor<2x24x8x8xf32> {
    %zero = arith.constant 0.0 : f32
    %lowest = arith.constant 0xFF800000 : f32
    %pad = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
    ^bb0(%i: index, %j: index, %k: index, %l: index):
      tensor.yield %zero : f32
    } : tensor<2x16x20x20xf32> to tensor<2x16x22x22xf32>
    %e0 = tensor.empty() : tensor<2x32x20x20xf32>
    %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<2x32x20x20xf32>) -> tensor<2x32x20x20xf32>
    %c0 = linalg.generic {indexing_maps = [#image, #filter, #result],
        iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
        ins(%pad, %w : tensor<2x16x22x22xf32>, tensor<32x16x3x3xf32>) outs(%f0 : tensor<2x32x20x20xf32>) {
    ^bb0(%a: f32, %c: f32, %o: f32):
      %m = arith.mulf %a, %c : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
    } -> tensor<2x32x20x20xf32>
    %biased = linalg.generic {indexing_maps = [#id, #vector, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
        ins(%c0, %b : tensor<2x32x20x20xf32>, tensor<32xf32>) outs(%e0 : tensor<2x32x20x20xf32>) {
    ^bb0(%a: f32, %c: f32, %o: f32):
      %s = arith.addf %a, %c : f32
      linalg.yield %s : f32
    } -> tensor<2x32x20x20xf32>
    %window = tensor.empty() : tensor<2x2xi8>
    %e1 = tensor.empty() : tensor<2x32x10x10xf32>
    %f1 = linalg.fill ins(%lowest : f32) outs(%e1 : tensor<2x32x10x10xf32>) -> tensor<2x32x10x10xf32>
    %pool = linalg.generic {indexing_maps = [#window, #size, #pooled],
        iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
        ins(%biased, %window : tensor<2x32x20x20xf32>, tensor<2x2xi8>) outs(%f1 : tensor<2x32x10x10xf32>) {
    ^bb0(%a: f32, %c: i8, %o: f32):
      %s = arith.maximumf %o, %a : f32
      linalg.yield %s : f32
    } -> tensor<2x32x10x10xf32>
    %e2 = tensor.empty() : tensor<2x24x8x8xf32>
    %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<2x24x8x8xf32>) -> tensor<2x24x8x8xf32>
    %c2 = linalg.generic {indexing_maps = [#image, #filter, #result],
        iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
        ins(%pool, %v : tensor<2x32x10x10xf32>, tensor<24x32x3x3xf32>) outs(%f2 : tensor<2x24x8x8xf32>) {
    ^bb0(%a: f32, %c: f32, %o: f32):
      %m = arith.mulf %a, %c : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
    } -> tensor<2x24x8x8xf32>
    return %c2 : tensor<2x24x8x8xf32>
  }
}

// -----

// One tap: a product of matrices, which gains less than its image's transpose takes.
#image = affine_map<(n, f, y, x, c, r, s) -> (n, c, y + r, x + s)>
#filter = affine_map<(n, f, y, x, c, r, s) -> (f, c, r, s)>
#result = affine_map<(n, f, y, x, c, r, s) -> (n, f, y, x)>
// CHECK-LABEL: func.func @pointwise(
// CHECK-NOT:     plan.layouts
// CHECK-COUNT-1: linalg.generic
// CHECK-NOT:     linalg.generic
// CHECK:         return
builtin.module attributes {plan.target = #plan.target<"cpu", "x86-64-v3">} {
  func.func @pointwise(%x: tensor<16x16x20x20xf32>, %w: tensor<32x16x1x1xf32>, %f: tensor<16x32x20x20xf32>) -> tensor<16x32x20x20xf32> {
    %c = linalg.generic {indexing_maps = [#image, #filter, #result],
        iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
        ins(%x, %w : tensor<16x16x20x20xf32>, tensor<32x16x1x1xf32>) outs(%f : tensor<16x32x20x20xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %m = arith.mulf %a, %b : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
    } -> tensor<16x32x20x20xf32>
    return %c : tensor<16x32x20x20xf32>
  }
}

// -----

// Groups stay before what they hold, through reshapes on both sides; a size is asked of what is there; the index of a loop is
// that of the loop's new place. Symbolic sizes.
#image = affine_map<(n, g, f, y, c, r) -> (n, g, c, y + r)>
#filter = affine_map<(n, g, f, y, c, r) -> (g, f, c, r)>
#result = affine_map<(n, g, f, y, c, r) -> (n, g, f, y)>
#id = affine_map<(n, f, y) -> (n, f, y)>
// CHECK-LABEL: func.func @grouped(
// CHECK-SAME:    plan.layouts = "channels last (convolutions: 1, transposes: 3)"
// CHECK:         tensor.expand_shape %{{.*}} {{\[}}[0], [1], [2, 3]] output_shape [%{{.*}}, 66, 2, 8] : tensor<?x66x16xf32> into tensor<?x66x2x8xf32>
// CHECK:         linalg.generic
// CHECK-SAME:      outs(%{{.*}} : tensor<?x64x2x16xf32>)
// CHECK:         tensor.collapse_shape %{{.*}} {{\[}}[0], [1], [2, 3]] : tensor<?x64x2x16xf32> into tensor<?x64x32xf32>
// CHECK:         linalg.generic
// CHECK:           linalg.index 2
// CHECK:         } -> tensor<?x64x32xf32>
builtin.module attributes {plan.target = #plan.target<"cpu", "x86-64-v3">} {
  func.func @grouped(%x: tensor<?x16x66xf32>, %w: tensor<16x16x8x3xf32>) -> (tensor<?x32x64xf32>, index) {
    %zero = arith.constant 0.0 : f32
    %c0 = arith.constant 0 : index
    %n = tensor.dim %x, %c0 : tensor<?x16x66xf32>
    %split = tensor.expand_shape %x [[0], [1, 2], [3]] output_shape [%n, 2, 8, 66] : tensor<?x16x66xf32> into tensor<?x2x8x66xf32>
    %e = tensor.empty(%n) : tensor<?x2x16x64xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x2x16x64xf32>) -> tensor<?x2x16x64xf32>
    %c = linalg.generic {indexing_maps = [#image, #filter, #result],
        iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
        ins(%split, %w : tensor<?x2x8x66xf32>, tensor<16x16x8x3xf32>) outs(%f : tensor<?x2x16x64xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %m = arith.mulf %a, %b : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
    } -> tensor<?x2x16x64xf32>
    %merged = tensor.collapse_shape %c [[0], [1, 2], [3]] : tensor<?x2x16x64xf32> into tensor<?x32x64xf32>
    %size = tensor.dim %merged, %c0 : tensor<?x32x64xf32>
    %e1 = tensor.empty(%n) : tensor<?x32x64xf32>
    %numbered = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%merged : tensor<?x32x64xf32>) outs(%e1 : tensor<?x32x64xf32>) {
    ^bb0(%a: f32, %o: f32):
      %i = linalg.index 1 : index
      %j = arith.index_cast %i : index to i32
      %k = arith.sitofp %j : i32 to f32
      %s = arith.addf %a, %k : f32
      linalg.yield %s : f32
    } -> tensor<?x32x64xf32>
    return %numbered, %size : tensor<?x32x64xf32>, index
  }
}

// -----

// CUDA: a convolution of few features is not worth the transposes of its image; one of many is, and writes what follows as it is.
#image = affine_map<(n, f, y, x, c, r, s) -> (n, c, y + r, x + s)>
#filter = affine_map<(n, f, y, x, c, r, s) -> (f, c, r, s)>
#result = affine_map<(n, f, y, x, c, r, s) -> (n, f, y, x)>
// CHECK-LABEL: func.func @few(
// CHECK-COUNT-1: linalg.generic
// CHECK-NOT:     linalg.generic
// CHECK:         return
// CHECK-LABEL: func.func @many(
// CHECK-SAME:    plan.layouts = "channels last (convolutions: 1, transposes: 2)"
// CHECK-COUNT-2: linalg.generic
// CHECK:         %[[C:.*]] = linalg.generic
// CHECK-SAME:      outs(%{{.*}} : tensor<16x256x30x30xf32>)
// CHECK:         return %[[C]]
builtin.module attributes {plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @few(%x: tensor<16x64x32x32xf16>, %w: tensor<8x64x3x3xf16>, %f: tensor<16x8x30x30xf32>) -> tensor<16x8x30x30xf32> {
    %c = linalg.generic {indexing_maps = [#image, #filter, #result],
        iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
        ins(%x, %w : tensor<16x64x32x32xf16>, tensor<8x64x3x3xf16>) outs(%f : tensor<16x8x30x30xf32>) {
    ^bb0(%a: f16, %b: f16, %o: f32):
      %p = arith.extf %a : f16 to f32
      %q = arith.extf %b : f16 to f32
      %m = arith.mulf %p, %q : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
    } -> tensor<16x8x30x30xf32>
    return %c : tensor<16x8x30x30xf32>
  }
  func.func @many(%x: tensor<16x64x32x32xf16>, %w: tensor<256x64x3x3xf16>, %f: tensor<16x256x30x30xf32>) -> tensor<16x256x30x30xf32> {
    %c = linalg.generic {indexing_maps = [#image, #filter, #result],
        iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
        ins(%x, %w : tensor<16x64x32x32xf16>, tensor<256x64x3x3xf16>) outs(%f : tensor<16x256x30x30xf32>) {
    ^bb0(%a: f16, %b: f16, %o: f32):
      %p = arith.extf %a : f16 to f32
      %q = arith.extf %b : f16 to f32
      %m = arith.mulf %p, %q : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
    } -> tensor<16x256x30x30xf32>
    return %c : tensor<16x256x30x30xf32>
  }
}

// -----

// expected-error @+1 {{expected to be in a module with `plan.target`}}
func.func @for_no_target(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// Each group has a feature and a filter of its own, whose taps lie beside each other. Threads have features beside each other: the
// filter is turned, although the image stays as it is.
#image = affine_map<(b, y, x, f, r, s) -> (b, y + r, x + s, f)>
#filter = affine_map<(b, y, x, f, r, s) -> (f, r, s)>
#result = affine_map<(b, y, x, f, r, s) -> (b, y, x, f)>

module attributes {plan.target = #plan.target<"cuda", "sm_90a">} {
  // CHECK-LABEL: func.func @depthwise(
  // CHECK-SAME:    %[[X:.*]]: tensor<1x62x62x8xf32>, %[[W:.*]]: tensor<8x31x31xf32>
  // CHECK:         %[[TURNED:.*]] = linalg.generic {{.*}} ins(%[[W]] : tensor<8x31x31xf32>) outs(%{{.*}} : tensor<31x31x8xf32>)
  // CHECK:         linalg.generic {{.*}} ins(%[[X]], %[[TURNED]] : tensor<1x62x62x8xf32>, tensor<31x31x8xf32>)
  func.func @depthwise(%x: tensor<1x62x62x8xf32>, %w: tensor<8x31x31xf32>) -> tensor<1x32x32x8xf32> {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<1x32x32x8xf32>
    %init = linalg.fill ins(%zero : f32) outs(%e : tensor<1x32x32x8xf32>) -> tensor<1x32x32x8xf32>
    %y = linalg.generic {indexing_maps = [#image, #filter, #result], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
        ins(%x, %w : tensor<1x62x62x8xf32>, tensor<8x31x31xf32>) outs(%init : tensor<1x32x32x8xf32>) {
    ^bb0(%a: f32, %b: f32, %out: f32):
      %p = arith.mulf %a, %b : f32
      %s = arith.addf %out, %p : f32
      linalg.yield %s : f32
    } -> tensor<1x32x32x8xf32>
    return %y : tensor<1x32x32x8xf32>
  }
}

// -----

// On a GPU, images of tensor cores' types stay with their channels last from one convolution to the next: through one of a
// single tap, which is a product of their rows, and through one of several. A result that leaves the program is stored as the
// program has it, and a filter of one tap alone pays for no transpose.
#image = affine_map<(n, f, y, x, c, r, s) -> (n, c, y + r, x + s)>
#filter = affine_map<(n, f, y, x, c, r, s) -> (f, c, r, s)>
#result = affine_map<(n, f, y, x, c, r, s) -> (n, f, y, x)>
#id = affine_map<(n, f, y, x) -> (n, f, y, x)>

// CHECK-LABEL: func.func @bottleneck(
// CHECK-SAME:    plan.layouts = "channels last (convolutions: 2, transposes: 2)"
// CHECK-DAG:     linalg.generic {{.*}} outs(%{{.*}} : tensor<16x20x20x64xbf16>)
// CHECK-DAG:     linalg.generic {{.*}} outs(%{{.*}} : tensor<3x3x64x128xbf16>)
// CHECK:         linalg.generic {{.*}} outs(%{{.*}} : tensor<16x18x18x128xf32>)
// CHECK:         linalg.generic {{.*}} outs(%{{.*}} : tensor<16x18x18x128xbf16>)
// CHECK:         %[[C:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<16x256x18x18xf32>)
// CHECK:         return %[[C]]
// CHECK-LABEL: func.func @pointwise(
// CHECK-NOT:     plan.layouts
builtin.module attributes {plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @bottleneck(%x: tensor<16x64x20x20xbf16>, %w: tensor<128x64x3x3xbf16>, %v: tensor<256x128x1x1xbf16>) -> tensor<16x256x18x18xf32> {
    %zero = arith.constant 0.0 : f32
    %e0 = tensor.empty() : tensor<16x128x18x18xf32>
    %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<16x128x18x18xf32>) -> tensor<16x128x18x18xf32>
    %c0 = linalg.generic {indexing_maps = [#image, #filter, #result],
        iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
        ins(%x, %w : tensor<16x64x20x20xbf16>, tensor<128x64x3x3xbf16>) outs(%f0 : tensor<16x128x18x18xf32>) {
    ^bb0(%a: bf16, %c: bf16, %o: f32):
      %l = arith.extf %a : bf16 to f32
      %r = arith.extf %c : bf16 to f32
      %m = arith.mulf %l, %r : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
    } -> tensor<16x128x18x18xf32>
    %e1 = tensor.empty() : tensor<16x128x18x18xbf16>
    %narrow = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
        ins(%c0 : tensor<16x128x18x18xf32>) outs(%e1 : tensor<16x128x18x18xbf16>) {
    ^bb0(%a: f32, %o: bf16):
      %s = arith.truncf %a : f32 to bf16
      linalg.yield %s : bf16
    } -> tensor<16x128x18x18xbf16>
    %e2 = tensor.empty() : tensor<16x256x18x18xf32>
    %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<16x256x18x18xf32>) -> tensor<16x256x18x18xf32>
    %c1 = linalg.generic {indexing_maps = [#image, #filter, #result],
        iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
        ins(%narrow, %v : tensor<16x128x18x18xbf16>, tensor<256x128x1x1xbf16>) outs(%f2 : tensor<16x256x18x18xf32>) {
    ^bb0(%a: bf16, %c: bf16, %o: f32):
      %l = arith.extf %a : bf16 to f32
      %r = arith.extf %c : bf16 to f32
      %m = arith.mulf %l, %r : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
    } -> tensor<16x256x18x18xf32>
    return %c1 : tensor<16x256x18x18xf32>
  }

  func.func @pointwise(%x: tensor<16x64x20x20xbf16>, %w: tensor<32x64x1x1xbf16>) -> tensor<16x32x20x20xf32> {
    %zero = arith.constant 0.0 : f32
    %e0 = tensor.empty() : tensor<16x32x20x20xf32>
    %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<16x32x20x20xf32>) -> tensor<16x32x20x20xf32>
    %c0 = linalg.generic {indexing_maps = [#image, #filter, #result],
        iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
        ins(%x, %w : tensor<16x64x20x20xbf16>, tensor<32x64x1x1xbf16>) outs(%f0 : tensor<16x32x20x20xf32>) {
    ^bb0(%a: bf16, %c: bf16, %o: f32):
      %l = arith.extf %a : bf16 to f32
      %r = arith.extf %c : bf16 to f32
      %m = arith.mulf %l, %r : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
    } -> tensor<16x32x20x20xf32>
    return %c0 : tensor<16x32x20x20xf32>
  }
}

// -----

// The gradient to a filter has a part of the image with its channels last, as the convolution beside it: the part stays as it is.
#image = affine_map<(n, f, y, x, c, r, s) -> (n, y + r, x + s, c)>
#filter = affine_map<(n, f, y, x, c, r, s) -> (f, c, r, s)>
#result = affine_map<(n, f, y, x, c, r, s) -> (n, y, x, f)>
#steps = affine_map<(r, s, c, f, n, y, x) -> (n, r + y * 2, s + x * 2, c)>
#change = affine_map<(r, s, c, f, n, y, x) -> (n, y, x, f)>
#sums = affine_map<(r, s, c, f, n, y, x) -> (r, s, c, f)>
// CHECK-LABEL: func.func @part(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<16x20x20x64xbf16>
// CHECK-SAME:    plan.layouts = "channels last (convolutions: 1, transposes: 1)"
// CHECK:         %[[PART:.*]] = tensor.extract_slice %[[X]]
// CHECK:         linalg.generic {{.*}} ins(%[[PART]], %{{.*}} : tensor<16x15x15x64xbf16>, tensor<16x8x8x128xbf16>)
builtin.module attributes {plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @part(%x: tensor<16x20x20x64xbf16>, %w: tensor<128x64x3x3xbf16>, %f: tensor<16x18x18x128xf32>, %d: tensor<16x8x8x128xbf16>,
                  %g: tensor<1x1x64x128xf32>) -> (tensor<16x18x18x128xf32>, tensor<1x1x64x128xf32>) {
    %c = linalg.generic {indexing_maps = [#image, #filter, #result],
        iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
        ins(%x, %w : tensor<16x20x20x64xbf16>, tensor<128x64x3x3xbf16>) outs(%f : tensor<16x18x18x128xf32>) {
    ^bb0(%a: bf16, %b: bf16, %o: f32):
      %l = arith.extf %a : bf16 to f32
      %r = arith.extf %b : bf16 to f32
      %m = arith.mulf %l, %r : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
    } -> tensor<16x18x18x128xf32>
    %part = tensor.extract_slice %x[0, 0, 0, 0] [16, 15, 15, 64] [1, 1, 1, 1] : tensor<16x20x20x64xbf16> to tensor<16x15x15x64xbf16>
    %e = linalg.generic {indexing_maps = [#steps, #change, #sums],
        iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
        ins(%part, %d : tensor<16x15x15x64xbf16>, tensor<16x8x8x128xbf16>) outs(%g : tensor<1x1x64x128xf32>) {
    ^bb0(%a: bf16, %b: bf16, %o: f32):
      %l = arith.extf %a : bf16 to f32
      %r = arith.extf %b : bf16 to f32
      %m = arith.mulf %l, %r : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
    } -> tensor<1x1x64x128xf32>
    return %c, %e : tensor<16x18x18x128xf32>, tensor<1x1x64x128xf32>
  }
}

// -----

// A depthwise convolution is as fast with channels first, and stays as it is alone. Products beside it, whose filters are packed
// at each call otherwise, are worth the transposes of a narrow image.
#pixels = affine_map<(n, f, y, x, c, r, s) -> (n, c, y + r, x + s)>
#weights = affine_map<(n, f, y, x, c, r, s) -> (f, c, r, s)>
#places = affine_map<(n, f, y, x, c, r, s) -> (n, f, y, x)>
#image = affine_map<(n, c, y, x, r, s) -> (n, c, y + r, x + s)>
#taps = affine_map<(n, c, y, x, r, s) -> (c, r, s)>
#result = affine_map<(n, c, y, x, r, s) -> (n, c, y, x)>

// CHECK-LABEL: func.func @depthwise_alone(
// CHECK-NOT:     plan.layouts
// CHECK-LABEL: func.func @depthwise_between_products(
// CHECK-SAME:    plan.layouts = "channels last (convolutions: 3, transposes: 3)"
builtin.module attributes {plan.target = #plan.target<"cpu", "x86-64-v3">} {
  func.func @depthwise_alone(%x: tensor<1x144x58x58xf32>, %w: tensor<144x3x3xf32>) -> tensor<1x144x56x56xf32> {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<1x144x56x56xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x144x56x56xf32>) -> tensor<1x144x56x56xf32>
    %y = linalg.generic {indexing_maps = [#image, #taps, #result],
        iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
        ins(%x, %w : tensor<1x144x58x58xf32>, tensor<144x3x3xf32>) outs(%f : tensor<1x144x56x56xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %m = arith.mulf %a, %b : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
    } -> tensor<1x144x56x56xf32>
    return %y : tensor<1x144x56x56xf32>
  }

  func.func @depthwise_between_products(%x: tensor<1x96x14x14xf32>, %w: tensor<576x3x3xf32>) -> tensor<1x96x12x12xf32> {
    %zero = arith.constant 0.0 : f32
    %u = arith.constant dense<0.5> : tensor<576x96x1x1xf32>
    %v = arith.constant dense<0.25> : tensor<96x576x1x1xf32>
    %e0 = tensor.empty() : tensor<1x576x14x14xf32>
    %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<1x576x14x14xf32>) -> tensor<1x576x14x14xf32>
    %c0 = linalg.generic {indexing_maps = [#pixels, #weights, #places],
        iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
        ins(%x, %u : tensor<1x96x14x14xf32>, tensor<576x96x1x1xf32>) outs(%f0 : tensor<1x576x14x14xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %m = arith.mulf %a, %b : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
    } -> tensor<1x576x14x14xf32>
    %e1 = tensor.empty() : tensor<1x576x12x12xf32>
    %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<1x576x12x12xf32>) -> tensor<1x576x12x12xf32>
    %c1 = linalg.generic {indexing_maps = [#image, #taps, #result],
        iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
        ins(%c0, %w : tensor<1x576x14x14xf32>, tensor<576x3x3xf32>) outs(%f1 : tensor<1x576x12x12xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %m = arith.mulf %a, %b : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
    } -> tensor<1x576x12x12xf32>
    %e2 = tensor.empty() : tensor<1x96x12x12xf32>
    %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<1x96x12x12xf32>) -> tensor<1x96x12x12xf32>
    %c2 = linalg.generic {indexing_maps = [#pixels, #weights, #places],
        iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
        ins(%c1, %v : tensor<1x576x12x12xf32>, tensor<96x576x1x1xf32>) outs(%f2 : tensor<1x96x12x12xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %m = arith.mulf %a, %b : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
    } -> tensor<1x96x12x12xf32>
    return %c2 : tensor<1x96x12x12xf32>
  }
}

// -----

// So has a gradient to a filter of images with channels first on tensor cores, whose rows of both operands then run along dims of the result.
// Plain arithmetic takes so long that transposes of both are more than they gain.
#steps = affine_map<(f, c, r, s, n, y, x) -> (n, c, r + y, s + x)>
#change = affine_map<(f, c, r, s, n, y, x) -> (n, f, y, x)>
#sums = affine_map<(f, c, r, s, n, y, x) -> (f, c, r, s)>
// CHECK-DAG: #[[LAST:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d4, d2 + d5, d3 + d6, d1)>
// CHECK-DAG: #[[OTHER:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d4, d5, d6, d0)>
// CHECK-DAG: #[[FIRST:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d4, d1, d2 + d5, d3 + d6)>
// CHECK-DAG: #[[SUMS:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d2, d3)>
// CHECK-LABEL: func.func @halves(
// CHECK:         linalg.generic {indexing_maps = [#[[LAST]], #[[OTHER]], #[[SUMS]]]
// CHECK-SAME:      : tensor<16x30x30x64xbf16>, tensor<16x28x28x128xbf16>) outs(%{{.*}} : tensor<128x64x3x3xf32>)
// CHECK-LABEL: func.func @floats(
// CHECK-NOT:     plan.layouts
// CHECK:         linalg.generic {indexing_maps = [#[[FIRST]],
builtin.module attributes {plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @halves(%x: tensor<16x64x30x30xbf16>, %d: tensor<16x128x28x28xbf16>, %g: tensor<128x64x3x3xf32>) -> tensor<128x64x3x3xf32> {
    %e = linalg.generic {indexing_maps = [#steps, #change, #sums],
        iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
        ins(%x, %d : tensor<16x64x30x30xbf16>, tensor<16x128x28x28xbf16>) outs(%g : tensor<128x64x3x3xf32>) {
    ^bb0(%a: bf16, %b: bf16, %o: f32):
      %l = arith.extf %a : bf16 to f32
      %r = arith.extf %b : bf16 to f32
      %m = arith.mulf %l, %r : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
    } -> tensor<128x64x3x3xf32>
    return %e : tensor<128x64x3x3xf32>
  }
  func.func @floats(%x: tensor<16x64x30x30xf32>, %d: tensor<16x128x28x28xf32>, %g: tensor<128x64x3x3xf32>) -> tensor<128x64x3x3xf32> {
    %e = linalg.generic {indexing_maps = [#steps, #change, #sums],
        iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
        ins(%x, %d : tensor<16x64x30x30xf32>, tensor<16x128x28x28xf32>) outs(%g : tensor<128x64x3x3xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %m = arith.mulf %a, %b : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
    } -> tensor<128x64x3x3xf32>
    return %e : tensor<128x64x3x3xf32>
  }
}
