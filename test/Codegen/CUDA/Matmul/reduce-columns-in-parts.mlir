// RUN: xc-opt %s -split-input-file -pass-pipeline="builtin.module(func.func(xc-cuda-split-reductions))" | FileCheck %s
// RUN: xc-opt %s -split-input-file -pass-pipeline="builtin.module(func.func(xc-cuda-split-reductions{column-parts=false}))" | FileCheck %s --check-prefix=OFF

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
#all = affine_map<(m, n) -> (m, n)>
#column = affine_map<(m, n) -> (n)>
#one = affine_map<(n) -> (n)>

// CHECK-DAG: #[[ALL:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[PARTS:.*]] = affine_map<(d0, d1) -> (d0 floordiv 64, d1)>
// CHECK-DAG: #[[COLUMN:.*]] = affine_map<(d0, d1) -> (d1)>
// OFF-NOT:   #plan.partial<rows

builtin.module @products attributes {plan.target = #plan.target<"cuda", "sm_90a">} {
  // Of the last part 24 rows count.
  // CHECK-LABEL: func.func @statistics(
  // CHECK:         linalg.contract
  // CHECK:         %[[Y:.*]] = linalg.generic
  // CHECK:           arith.truncf
  // CHECK:         %[[SUM:.*]] = linalg.generic {indexing_maps = [#[[ALL]], #[[PARTS]]], iterator_types = ["reduction", "parallel"]}
  // CHECK-SAME:      ins(%[[Y]] : tensor<8216x128xbf16>) outs(%{{.*}} : tensor<129x128xf32>)
  // CHECK-SAME:      plan.note = "reduces its columns in parts of 64 rows, so that 2103296 bytes are not read again", plan.partial = #plan.partial<rows, 64>
  // CHECK:         %[[CENTER:.*]] = linalg.generic {{.*}} ins(%[[SUM]] : tensor<129x128xf32>) outs(%{{.*}} : tensor<129x128xf32>) attrs = {plan.partial = #plan.partial<rows, 64>}
  // CHECK:           %[[PART:.*]] = linalg.index 0
  // CHECK:           %[[FIRST:.*]] = arith.muli %[[PART]], %c64
  // CHECK:           %[[LEFT:.*]] = arith.subi %c8216, %[[FIRST]]
  // CHECK:           arith.minsi %[[LEFT]], %c64
  // CHECK:           arith.divf
  // CHECK:         %[[SQUARES:.*]] = linalg.generic {indexing_maps = [#[[ALL]], #[[PARTS]], #[[PARTS]]], iterator_types = ["reduction", "parallel"]}
  // CHECK-SAME:      ins(%[[Y]], %[[CENTER]] : tensor<8216x128xbf16>, tensor<129x128xf32>) outs(%{{.*}} : tensor<129x128xf32>)
  // CHECK-SAME:      plan.partial = #plan.partial<rows, 64>
  // CHECK:         linalg.generic {{.*}} iterator_types = ["reduction", "parallel"]} ins(%[[SQUARES]], %[[SUM]], %{{.*}} : tensor<129x128xf32>, tensor<129x128xf32>, tensor<128xf32>)
  func.func @statistics(%a: tensor<8216x64xbf16>, %b: tensor<64x128xbf16>) -> (tensor<8216x128xbf16>, tensor<128xf32>, tensor<128xf32>) {
    %zero = arith.constant 0.0 : f32
    %count = arith.constant 8216.0 : f32
    %e = tensor.empty() : tensor<8216x128xf32>
    %i = linalg.fill ins(%zero : f32) outs(%e : tensor<8216x128xf32>) -> tensor<8216x128xf32>
    %p = linalg.contract indexing_maps = [#a, #b, #c] ins(%a, %b : tensor<8216x64xbf16>, tensor<64x128xbf16>) outs(%i : tensor<8216x128xf32>) -> tensor<8216x128xf32>
    %o = tensor.empty() : tensor<8216x128xbf16>
    %y = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<8216x128xf32>) outs(%o : tensor<8216x128xbf16>) {
    ^bb0(%v: f32, %w: bf16):
      %t = arith.truncf %v : f32 to bf16
      linalg.yield %t : bf16
    } -> tensor<8216x128xbf16>
    %f = tensor.empty() : tensor<128xf32>
    %j = linalg.fill ins(%zero : f32) outs(%f : tensor<128xf32>) -> tensor<128xf32>
    %s = linalg.generic {indexing_maps = [#all, #column], iterator_types = ["reduction", "parallel"]} ins(%y : tensor<8216x128xbf16>) outs(%j : tensor<128xf32>) {
    ^bb0(%v: bf16, %acc: f32):
      %x = arith.extf %v : bf16 to f32
      %t = arith.addf %acc, %x : f32
      linalg.yield %t : f32
    } -> tensor<128xf32>
    %m = linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]} ins(%s : tensor<128xf32>) outs(%f : tensor<128xf32>) {
    ^bb0(%v: f32, %w: f32):
      %t = arith.divf %v, %count : f32
      linalg.yield %t : f32
    } -> tensor<128xf32>
    %q = linalg.generic {indexing_maps = [#all, #column, #column], iterator_types = ["reduction", "parallel"]} ins(%y, %m : tensor<8216x128xbf16>, tensor<128xf32>) outs(%j : tensor<128xf32>) {
    ^bb0(%v: bf16, %mean: f32, %acc: f32):
      %x = arith.extf %v : bf16 to f32
      %d = arith.subf %x, %mean : f32
      %u = arith.mulf %d, %d : f32
      %t = arith.addf %acc, %u : f32
      linalg.yield %t : f32
    } -> tensor<128xf32>
    return %y, %s, %q : tensor<8216x128xbf16>, tensor<128xf32>, tensor<128xf32>
  }

  // A sum alone, of a symbolic number of rows.
  // CHECK-LABEL: func.func @sum(
  // CHECK:         %[[COUNT:.*]] = affine.apply
  // CHECK:         linalg.generic {indexing_maps = [#[[ALL]], #[[PARTS]]], iterator_types = ["reduction", "parallel"]}
  // CHECK-SAME:      outs(%{{.*}} : tensor<?x128xf32>)
  // CHECK-SAME:      plan.partial = #plan.partial<rows, 64>
  // CHECK:         linalg.generic {indexing_maps = [#[[ALL]], #[[COLUMN]]], iterator_types = ["reduction", "parallel"]}
  func.func @sum(%a: tensor<?x64xbf16>, %b: tensor<64x128xbf16>, %rows: index) -> (tensor<?x128xbf16>, tensor<128xf32>) {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty(%rows) : tensor<?x128xf32>
    %i = linalg.fill ins(%zero : f32) outs(%e : tensor<?x128xf32>) -> tensor<?x128xf32>
    %p = linalg.contract indexing_maps = [#a, #b, #c] ins(%a, %b : tensor<?x64xbf16>, tensor<64x128xbf16>) outs(%i : tensor<?x128xf32>) -> tensor<?x128xf32>
    %o = tensor.empty(%rows) : tensor<?x128xbf16>
    %y = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<?x128xf32>) outs(%o : tensor<?x128xbf16>) {
    ^bb0(%v: f32, %w: bf16):
      %t = arith.truncf %v : f32 to bf16
      linalg.yield %t : bf16
    } -> tensor<?x128xbf16>
    %f = tensor.empty() : tensor<128xf32>
    %j = linalg.fill ins(%zero : f32) outs(%f : tensor<128xf32>) -> tensor<128xf32>
    %s = linalg.generic {indexing_maps = [#all, #column], iterator_types = ["reduction", "parallel"]} ins(%y : tensor<?x128xbf16>) outs(%j : tensor<128xf32>) {
    ^bb0(%v: bf16, %acc: f32):
      %x = arith.extf %v : bf16 to f32
      %t = arith.addf %acc, %x : f32
      linalg.yield %t : f32
    } -> tensor<128xf32>
    return %y, %s : tensor<?x128xbf16>, tensor<128xf32>
  }

  // Beside the result its positive part would be stored: outputs of two forms do not pass through shared memory.
  // CHECK-LABEL: func.func @two_forms(
  // CHECK-NOT:     #plan.partial<rows
  func.func @two_forms(%a: tensor<8192x64xbf16>, %b: tensor<64x128xbf16>) -> (tensor<8192x128xbf16>, tensor<8192x128xbf16>, tensor<128xf32>) {
    %zero = arith.constant 0.0 : f32
    %none = arith.constant 0.0 : bf16
    %e = tensor.empty() : tensor<8192x128xf32>
    %i = linalg.fill ins(%zero : f32) outs(%e : tensor<8192x128xf32>) -> tensor<8192x128xf32>
    %p = linalg.contract indexing_maps = [#a, #b, #c] ins(%a, %b : tensor<8192x64xbf16>, tensor<64x128xbf16>) outs(%i : tensor<8192x128xf32>) -> tensor<8192x128xf32>
    %o = tensor.empty() : tensor<8192x128xbf16>
    %y = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<8192x128xf32>) outs(%o : tensor<8192x128xbf16>) {
    ^bb0(%v: f32, %w: bf16):
      %t = arith.truncf %v : f32 to bf16
      linalg.yield %t : bf16
    } -> tensor<8192x128xbf16>
    %r = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]} ins(%y : tensor<8192x128xbf16>) outs(%o : tensor<8192x128xbf16>) {
    ^bb0(%v: bf16, %w: bf16):
      %t = arith.maximumf %v, %none : bf16
      linalg.yield %t : bf16
    } -> tensor<8192x128xbf16>
    %f = tensor.empty() : tensor<128xf32>
    %j = linalg.fill ins(%zero : f32) outs(%f : tensor<128xf32>) -> tensor<128xf32>
    %s = linalg.generic {indexing_maps = [#all, #column], iterator_types = ["reduction", "parallel"]} ins(%y : tensor<8192x128xbf16>) outs(%j : tensor<128xf32>) {
    ^bb0(%v: bf16, %acc: f32):
      %x = arith.extf %v : bf16 to f32
      %t = arith.addf %acc, %x : f32
      linalg.yield %t : f32
    } -> tensor<128xf32>
    return %y, %r, %s : tensor<8192x128xbf16>, tensor<8192x128xbf16>, tensor<128xf32>
  }

  // A few thousand short columns, which one kernel holds with what it makes of them.
  // CHECK-LABEL: func.func @held(
  // CHECK-NOT:     #plan.partial<rows
  func.func @held(%a: tensor<512x64xbf16>, %b: tensor<64x16384xbf16>) -> tensor<512x16384xbf16> {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<512x16384xf32>
    %i = linalg.fill ins(%zero : f32) outs(%e : tensor<512x16384xf32>) -> tensor<512x16384xf32>
    %p = linalg.contract indexing_maps = [#a, #b, #c] ins(%a, %b : tensor<512x64xbf16>, tensor<64x16384xbf16>) outs(%i : tensor<512x16384xf32>) -> tensor<512x16384xf32>
    %o = tensor.empty() : tensor<512x16384xbf16>
    %y = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<512x16384xf32>) outs(%o : tensor<512x16384xbf16>) {
    ^bb0(%v: f32, %w: bf16):
      %t = arith.truncf %v : f32 to bf16
      linalg.yield %t : bf16
    } -> tensor<512x16384xbf16>
    %f = tensor.empty() : tensor<16384xf32>
    %j = linalg.fill ins(%zero : f32) outs(%f : tensor<16384xf32>) -> tensor<16384xf32>
    %s = linalg.generic {indexing_maps = [#all, #column], iterator_types = ["reduction", "parallel"]} ins(%y : tensor<512x16384xbf16>) outs(%j : tensor<16384xf32>) {
    ^bb0(%v: bf16, %acc: f32):
      %x = arith.extf %v : bf16 to f32
      %t = arith.addf %acc, %x : f32
      linalg.yield %t : f32
    } -> tensor<16384xf32>
    %r = linalg.generic {indexing_maps = [#all, #column, #all], iterator_types = ["parallel", "parallel"]} ins(%y, %s : tensor<512x16384xbf16>, tensor<16384xf32>) outs(%o : tensor<512x16384xbf16>) {
    ^bb0(%v: bf16, %sum: f32, %w: bf16):
      %x = arith.extf %v : bf16 to f32
      %d = arith.divf %x, %sum : f32
      %t = arith.truncf %d : f32 to bf16
      linalg.yield %t : bf16
    } -> tensor<512x16384xbf16>
    return %r : tensor<512x16384xbf16>
  }
}

// -----

#image = affine_map<(n, h, w, f, r, s, c) -> (n, h + r, w + s, c)>
#filter = affine_map<(n, h, w, f, r, s, c) -> (f, r, s, c)>
#result = affine_map<(n, h, w, f, r, s, c) -> (n, h, w, f)>
#all = affine_map<(n, h, w, f) -> (n, h, w, f)>
#feature = affine_map<(n, h, w, f) -> (f)>

// Rows of a convolution are positions, of a symbolic number of images.
// CHECK: #[[PARTS:.*]] = affine_map<(d0, d1, d2, d3) -> ((d0 * 196 + d1 * 14 + d2) floordiv 64, d3)>
builtin.module @convolutions attributes {plan.target = #plan.target<"cuda", "sm_90a">} {
  // CHECK-LABEL: func.func @positions(
  // CHECK:         linalg.generic {indexing_maps = [#{{.*}}, #[[PARTS]]], iterator_types = ["reduction", "reduction", "reduction", "parallel"]}
  // CHECK-SAME:      outs(%{{.*}} : tensor<?x64xf32>)
  // CHECK-SAME:      plan.partial = #plan.partial<rows, 64>
  func.func @positions(%x: tensor<?x16x16x64xbf16>, %w: tensor<64x3x3x64xbf16>, %images: index) -> (tensor<?x14x14x64xbf16>, tensor<64xf32>) {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty(%images) : tensor<?x14x14x64xf32>
    %i = linalg.fill ins(%zero : f32) outs(%e : tensor<?x14x14x64xf32>) -> tensor<?x14x14x64xf32>
    %p = linalg.generic {indexing_maps = [#image, #filter, #result], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%x, %w : tensor<?x16x16x64xbf16>, tensor<64x3x3x64xbf16>) outs(%i : tensor<?x14x14x64xf32>) {
    ^bb0(%a: bf16, %b: bf16, %acc: f32):
      %c = arith.extf %a : bf16 to f32
      %d = arith.extf %b : bf16 to f32
      %t = arith.mulf %c, %d : f32
      %u = arith.addf %acc, %t : f32
      linalg.yield %u : f32
    } -> tensor<?x14x14x64xf32>
    %o = tensor.empty(%images) : tensor<?x14x14x64xbf16>
    %y = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%p : tensor<?x14x14x64xf32>) outs(%o : tensor<?x14x14x64xbf16>) {
    ^bb0(%v: f32, %w2: bf16):
      %t = arith.truncf %v : f32 to bf16
      linalg.yield %t : bf16
    } -> tensor<?x14x14x64xbf16>
    %f = tensor.empty() : tensor<64xf32>
    %j = linalg.fill ins(%zero : f32) outs(%f : tensor<64xf32>) -> tensor<64xf32>
    %s = linalg.generic {indexing_maps = [#all, #feature], iterator_types = ["reduction", "reduction", "reduction", "parallel"]} ins(%y : tensor<?x14x14x64xbf16>) outs(%j : tensor<64xf32>) {
    ^bb0(%v: bf16, %acc: f32):
      %t = arith.extf %v : bf16 to f32
      %u = arith.addf %acc, %t : f32
      linalg.yield %u : f32
    } -> tensor<64xf32>
    return %y, %s : tensor<?x14x14x64xbf16>, tensor<64xf32>
  }
}

// -----

#image = affine_map<(n, h, w, f, r, s, c) -> (n, h + r, w + s, c)>
#filter = affine_map<(n, h, w, f, r, s, c) -> (f, r, s, c)>
#result = affine_map<(n, h, w, f, r, s, c) -> (n, h, w, f)>
#all = affine_map<(n, h, w, f) -> (n, h, w, f)>
#feature = affine_map<(n, h, w, f) -> (f)>

// Of images of symbolic size no quotient says which part a position is in. Indices name the parts of all positions, in their order.
// CHECK: #[[PARTS:.*]] = affine_map<(d0, d1, d2, d3) -> ((d0 + d1 + d2) floordiv 64, d3)>
// CHECK: #[[LINES:.*]] = affine_map<(d0, d1, d2, d3) -> ((d1 * 14 + d2) floordiv 64, d3)>
builtin.module @open attributes {plan.target = #plan.target<"cuda", "sm_90a">} {
  // CHECK-LABEL: func.func @images(
  // CHECK:         %[[IMAGES:.*]] = tensor.dim %[[Y:.*]], %c0
  // CHECK:         %[[HEIGHT:.*]] = tensor.dim %[[Y]], %c1
  // CHECK:         %[[WIDTH:.*]] = tensor.dim %[[Y]], %c2
  // CHECK:         %[[LINES_OF_ALL:.*]] = arith.muli %[[IMAGES]], %[[HEIGHT]]
  // CHECK:         %[[POSITIONS:.*]] = arith.muli %[[LINES_OF_ALL]], %[[WIDTH]]
  // CHECK:         affine.apply #{{.*}}()[%[[POSITIONS]]]
  // CHECK:         linalg.generic {indexing_maps = [#{{.*}}, #[[PARTS]]], iterator_types = ["reduction", "reduction", "reduction", "parallel"]}
  // CHECK-SAME:      outs(%{{.*}} : tensor<?x64xf32>)
  // CHECK-SAME:      plan.partial = #plan.partial<rows, 64>
  func.func @images(%x: tensor<?x?x?x64xbf16>, %w: tensor<64x3x3x64xbf16>, %images: index, %height: index, %width: index) -> (tensor<?x?x?x64xbf16>, tensor<64xf32>) {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty(%images, %height, %width) : tensor<?x?x?x64xf32>
    %i = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?x?x64xf32>) -> tensor<?x?x?x64xf32>
    %p = linalg.generic {indexing_maps = [#image, #filter, #result], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%x, %w : tensor<?x?x?x64xbf16>, tensor<64x3x3x64xbf16>) outs(%i : tensor<?x?x?x64xf32>) {
    ^bb0(%a: bf16, %b: bf16, %acc: f32):
      %c = arith.extf %a : bf16 to f32
      %d = arith.extf %b : bf16 to f32
      %t = arith.mulf %c, %d : f32
      %u = arith.addf %acc, %t : f32
      linalg.yield %u : f32
    } -> tensor<?x?x?x64xf32>
    %o = tensor.empty(%images, %height, %width) : tensor<?x?x?x64xbf16>
    %y = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%p : tensor<?x?x?x64xf32>) outs(%o : tensor<?x?x?x64xbf16>) {
    ^bb0(%v: f32, %w2: bf16):
      %t = arith.truncf %v : f32 to bf16
      linalg.yield %t : bf16
    } -> tensor<?x?x?x64xbf16>
    %f = tensor.empty() : tensor<64xf32>
    %j = linalg.fill ins(%zero : f32) outs(%f : tensor<64xf32>) -> tensor<64xf32>
    %s = linalg.generic {indexing_maps = [#all, #feature], iterator_types = ["reduction", "reduction", "reduction", "parallel"]} ins(%y : tensor<?x?x?x64xbf16>) outs(%j : tensor<64xf32>) {
    ^bb0(%v: bf16, %acc: f32):
      %t = arith.extf %v : bf16 to f32
      %u = arith.addf %acc, %t : f32
      linalg.yield %u : f32
    } -> tensor<64xf32>
    return %y, %s : tensor<?x?x?x64xbf16>, tensor<64xf32>
  }

  // One image: lines of known width.
  // CHECK-LABEL: func.func @lines(
  // CHECK:         linalg.generic {indexing_maps = [#{{.*}}, #[[LINES]]], iterator_types = ["reduction", "reduction", "reduction", "parallel"]}
  // CHECK-SAME:      plan.partial = #plan.partial<rows, 64>
  func.func @lines(%x: tensor<1x?x16x64xbf16>, %w: tensor<64x3x3x64xbf16>, %height: index) -> (tensor<1x?x14x64xbf16>, tensor<64xf32>) {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty(%height) : tensor<1x?x14x64xf32>
    %i = linalg.fill ins(%zero : f32) outs(%e : tensor<1x?x14x64xf32>) -> tensor<1x?x14x64xf32>
    %p = linalg.generic {indexing_maps = [#image, #filter, #result], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%x, %w : tensor<1x?x16x64xbf16>, tensor<64x3x3x64xbf16>) outs(%i : tensor<1x?x14x64xf32>) {
    ^bb0(%a: bf16, %b: bf16, %acc: f32):
      %c = arith.extf %a : bf16 to f32
      %d = arith.extf %b : bf16 to f32
      %t = arith.mulf %c, %d : f32
      %u = arith.addf %acc, %t : f32
      linalg.yield %u : f32
    } -> tensor<1x?x14x64xf32>
    %o = tensor.empty(%height) : tensor<1x?x14x64xbf16>
    %y = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%p : tensor<1x?x14x64xf32>) outs(%o : tensor<1x?x14x64xbf16>) {
    ^bb0(%v: f32, %w2: bf16):
      %t = arith.truncf %v : f32 to bf16
      linalg.yield %t : bf16
    } -> tensor<1x?x14x64xbf16>
    %f = tensor.empty() : tensor<64xf32>
    %j = linalg.fill ins(%zero : f32) outs(%f : tensor<64xf32>) -> tensor<64xf32>
    %s = linalg.generic {indexing_maps = [#all, #feature], iterator_types = ["reduction", "reduction", "reduction", "parallel"]} ins(%y : tensor<1x?x14x64xbf16>) outs(%j : tensor<64xf32>) {
    ^bb0(%v: bf16, %acc: f32):
      %t = arith.extf %v : bf16 to f32
      %u = arith.addf %acc, %t : f32
      linalg.yield %u : f32
    } -> tensor<64xf32>
    return %y, %s : tensor<1x?x14x64xbf16>, tensor<64xf32>
  }
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#along = affine_map<(m, n, k) -> (n, k)>
#c = affine_map<(m, n, k) -> (m, n)>
#all = affine_map<(m, n) -> (m, n)>
#column = affine_map<(m, n) -> (n)>

// Results of 32 bits, as the product has them.
builtin.module @wide attributes {plan.target = #plan.target<"cuda", "sm_90a">} {
  // Of factors of 16 bits.
  // CHECK-LABEL: func.func @halves(
  // CHECK:         plan.note = "reduces its columns in parts of 64 rows, so that 4194304 bytes are not read again", plan.partial = #plan.partial<rows, 64>
  func.func @halves(%a: tensor<8192x64xbf16>, %b: tensor<64x128xbf16>) -> (tensor<8192x128xf32>, tensor<128xf32>) {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<8192x128xf32>
    %i = linalg.fill ins(%zero : f32) outs(%e : tensor<8192x128xf32>) -> tensor<8192x128xf32>
    %p = linalg.contract indexing_maps = [#a, #b, #c] ins(%a, %b : tensor<8192x64xbf16>, tensor<64x128xbf16>) outs(%i : tensor<8192x128xf32>) -> tensor<8192x128xf32>
    %f = tensor.empty() : tensor<128xf32>
    %j = linalg.fill ins(%zero : f32) outs(%f : tensor<128xf32>) -> tensor<128xf32>
    %s = linalg.generic {indexing_maps = [#all, #column], iterator_types = ["reduction", "parallel"]} ins(%p : tensor<8192x128xf32>) outs(%j : tensor<128xf32>) {
    ^bb0(%v: f32, %acc: f32):
      %t = arith.addf %acc, %v : f32
      linalg.yield %t : f32
    } -> tensor<128xf32>
    return %p, %s : tensor<8192x128xf32>, tensor<128xf32>
  }

  // Of f32 that may be rounded, along the sum.
  // CHECK-LABEL: func.func @along(
  // CHECK:         plan.note = "reduces its columns in parts of 64 rows, so that 4194304 bytes are not read again", plan.partial = #plan.partial<rows, 64>
  func.func @along(%a: tensor<8192x64xf32>, %b: tensor<128x64xf32>) -> (tensor<8192x128xf32>, tensor<128xf32>) {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<8192x128xf32>
    %i = linalg.fill ins(%zero : f32) outs(%e : tensor<8192x128xf32>) -> tensor<8192x128xf32>
    %p = linalg.contract indexing_maps = [#a, #along, #c] {plan.allow_tf32} ins(%a, %b : tensor<8192x64xf32>, tensor<128x64xf32>) outs(%i : tensor<8192x128xf32>) -> tensor<8192x128xf32>
    %f = tensor.empty() : tensor<128xf32>
    %j = linalg.fill ins(%zero : f32) outs(%f : tensor<128xf32>) -> tensor<128xf32>
    %s = linalg.generic {indexing_maps = [#all, #column], iterator_types = ["reduction", "parallel"]} ins(%p : tensor<8192x128xf32>) outs(%j : tensor<128xf32>) {
    ^bb0(%v: f32, %acc: f32):
      %t = arith.addf %acc, %v : f32
      linalg.yield %t : f32
    } -> tensor<128xf32>
    return %p, %s : tensor<8192x128xf32>, tensor<128xf32>
  }

  // wgmma reads the second factor across the sum, and stores what it has in registers.
  // CHECK-LABEL: func.func @across(
  // CHECK-NOT:     #plan.partial<rows
  func.func @across(%a: tensor<8192x64xf32>, %b: tensor<64x128xf32>) -> (tensor<8192x128xf32>, tensor<128xf32>) {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<8192x128xf32>
    %i = linalg.fill ins(%zero : f32) outs(%e : tensor<8192x128xf32>) -> tensor<8192x128xf32>
    %p = linalg.contract indexing_maps = [#a, #b, #c] {plan.allow_tf32} ins(%a, %b : tensor<8192x64xf32>, tensor<64x128xf32>) outs(%i : tensor<8192x128xf32>) -> tensor<8192x128xf32>
    %f = tensor.empty() : tensor<128xf32>
    %j = linalg.fill ins(%zero : f32) outs(%f : tensor<128xf32>) -> tensor<128xf32>
    %s = linalg.generic {indexing_maps = [#all, #column], iterator_types = ["reduction", "parallel"]} ins(%p : tensor<8192x128xf32>) outs(%j : tensor<128xf32>) {
    ^bb0(%v: f32, %acc: f32):
      %t = arith.addf %acc, %v : f32
      linalg.yield %t : f32
    } -> tensor<128xf32>
    return %p, %s : tensor<8192x128xf32>, tensor<128xf32>
  }

  // Not on tensor cores.
  // CHECK-LABEL: func.func @exact(
  // CHECK-NOT:     #plan.partial<rows
  func.func @exact(%a: tensor<8192x64xf32>, %b: tensor<128x64xf32>) -> (tensor<8192x128xf32>, tensor<128xf32>) {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<8192x128xf32>
    %i = linalg.fill ins(%zero : f32) outs(%e : tensor<8192x128xf32>) -> tensor<8192x128xf32>
    %p = linalg.contract indexing_maps = [#a, #along, #c] ins(%a, %b : tensor<8192x64xf32>, tensor<128x64xf32>) outs(%i : tensor<8192x128xf32>) -> tensor<8192x128xf32>
    %f = tensor.empty() : tensor<128xf32>
    %j = linalg.fill ins(%zero : f32) outs(%f : tensor<128xf32>) -> tensor<128xf32>
    %s = linalg.generic {indexing_maps = [#all, #column], iterator_types = ["reduction", "parallel"]} ins(%p : tensor<8192x128xf32>) outs(%j : tensor<128xf32>) {
    ^bb0(%v: f32, %acc: f32):
      %t = arith.addf %acc, %v : f32
      linalg.yield %t : f32
    } -> tensor<128xf32>
    return %p, %s : tensor<8192x128xf32>, tensor<128xf32>
  }
}
