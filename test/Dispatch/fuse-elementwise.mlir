// RUN: xc-opt %s -pass-pipeline='builtin.module(func.func(xc-fuse-elementwise))' -split-input-file | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>

// CHECK-LABEL: func.func @chain(
// CHECK:         linalg.generic
// CHECK:           math.exp
// CHECK:           arith.addf
// CHECK-NOT:     linalg.generic
func.func @chain(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %e = tensor.empty() : tensor<8x4xf32>
  %a = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) {
  ^bb0(%in: f32, %o: f32):
    %r = math.exp %in : f32
    linalg.yield %r : f32
  } -> tensor<8x4xf32>
  %b = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) {
  ^bb0(%in: f32, %o: f32):
    %r = arith.addf %in, %in : f32
    linalg.yield %r : f32
  } -> tensor<8x4xf32>
  return %b : tensor<8x4xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#one = affine_map<(d0) -> (d0)>

// An exponential of 8 values is not computed again for each of 8 x 4.
// CHECK-LABEL: func.func @broadcast_of_something_dear(
// CHECK-COUNT-2: linalg.generic
func.func @broadcast_of_something_dear(%x: tensor<8xf32>, %y: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %s = tensor.empty() : tensor<8xf32>
  %e = tensor.empty() : tensor<8x4xf32>
  %a = linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]} ins(%x : tensor<8xf32>) outs(%s : tensor<8xf32>) {
  ^bb0(%in: f32, %o: f32):
    %r = math.exp %in : f32
    linalg.yield %r : f32
  } -> tensor<8xf32>
  %b = linalg.generic {indexing_maps = [#row, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%a, %y : tensor<8xf32>, tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) {
  ^bb0(%in: f32, %in2: f32, %o: f32):
    %r = arith.addf %in, %in2 : f32
    linalg.yield %r : f32
  } -> tensor<8x4xf32>
  return %b : tensor<8x4xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// Over nothing, a reduction is its initial value, whatever its body has become.
// CHECK-LABEL: func.func @nothing(
// CHECK:         %[[INIT:.*]] = linalg.fill
// CHECK:         return %[[INIT]]
func.func @nothing(%x: tensor<4x0xf32>) -> tensor<4xi32> {
  %zero = arith.constant 0 : i32
  %all = arith.constant -1 : i32
  %e = tensor.empty() : tensor<4xi32>
  %init = linalg.fill ins(%all : i32) outs(%e : tensor<4xi32>) -> tensor<4xi32>
  %r = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x0xf32>) outs(%init : tensor<4xi32>) {
  ^bb0(%in: f32, %out: i32):
    linalg.yield %zero : i32
  } -> tensor<4xi32>
  return %r : tensor<4xi32>
}

// -----

#one = affine_map<(d0) -> (d0)>

// Of nine sines, which are long in machine code, not all are fused.
// CHECK-LABEL: func.func @chain_of_something_long(
// CHECK-COUNT-2: linalg.generic
// CHECK-NOT:     linalg.generic
func.func @chain_of_something_long(%x: tensor<8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %v0 = linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]} ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%in: f32, %o: f32):
    %r = math.sin %in : f32
    linalg.yield %r : f32
  } -> tensor<8xf32>
  %v1 = linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]} ins(%v0 : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%in: f32, %o: f32):
    %r = math.sin %in : f32
    linalg.yield %r : f32
  } -> tensor<8xf32>
  %v2 = linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]} ins(%v1 : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%in: f32, %o: f32):
    %r = math.sin %in : f32
    linalg.yield %r : f32
  } -> tensor<8xf32>
  %v3 = linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]} ins(%v2 : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%in: f32, %o: f32):
    %r = math.sin %in : f32
    linalg.yield %r : f32
  } -> tensor<8xf32>
  %v4 = linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]} ins(%v3 : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%in: f32, %o: f32):
    %r = math.sin %in : f32
    linalg.yield %r : f32
  } -> tensor<8xf32>
  %v5 = linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]} ins(%v4 : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%in: f32, %o: f32):
    %r = math.sin %in : f32
    linalg.yield %r : f32
  } -> tensor<8xf32>
  %v6 = linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]} ins(%v5 : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%in: f32, %o: f32):
    %r = math.sin %in : f32
    linalg.yield %r : f32
  } -> tensor<8xf32>
  %v7 = linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]} ins(%v6 : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%in: f32, %o: f32):
    %r = math.sin %in : f32
    linalg.yield %r : f32
  } -> tensor<8xf32>
  %v8 = linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]} ins(%v7 : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%in: f32, %o: f32):
    %r = math.sin %in : f32
    linalg.yield %r : f32
  } -> tensor<8xf32>
  return %v8 : tensor<8xf32>
}

// -----

#positions = affine_map<(d0, d1) -> (d0, d1)>
#kept = affine_map<(d0, d1) -> (d0)>

// A result that nobody reads tells how long a loop is; as an input it does, too.
// CHECK-LABEL: func.func @shape_of_loops(
// CHECK:         %[[SHAPE:.*]] = tensor.empty(%{{.*}}) : tensor<4x?xindex>
// CHECK:         linalg.generic
// CHECK-SAME:      ins(%[[SHAPE]] : tensor<4x?xindex>) outs(%{{.*}} : tensor<4xf32>)
// CHECK:           tensor.extract
// CHECK:           linalg.yield %{{.*}} : f32
func.func @shape_of_loops(%x: tensor<?xf32>, %n: index) -> tensor<4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%n) : tensor<4x?xindex>
  %s = tensor.empty() : tensor<4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%s : tensor<4xf32>) -> tensor<4xf32>
  %r:2 = linalg.generic {indexing_maps = [#positions, #kept], iterator_types = ["parallel", "reduction"]}
    outs(%e, %f : tensor<4x?xindex>, tensor<4xf32>) {
  ^bb0(%unread: index, %o: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %at = arith.addi %i, %j : index
    %v = tensor.extract %x[%at] : tensor<?xf32>
    %t = arith.addf %o, %v : f32
    linalg.yield %at, %t : index, f32
  } -> (tensor<4x?xindex>, tensor<4xf32>)
  return %r#1 : tensor<4xf32>
}

// -----

#factor = affine_map<(m, n, k) -> (m, k)>
#weights = affine_map<(m, n, k) -> (k, n)>
#product = affine_map<(m, n, k) -> (m, n)>
#each = affine_map<(d0, d1) -> (d0, d1)>

// A product of matrices takes the conversion of a factor, which tensor cores can follow, and leaves the
// arithmetic to a kernel before it.
// CHECK-LABEL: func.func @factor_of_product(
// CHECK:         %[[RELU:.*]] = linalg.generic
// CHECK:           arith.maximumf
// CHECK-NEXT:      linalg.yield
// CHECK:         linalg.generic
// CHECK-SAME:      ins(%[[RELU]], %{{.*}} : tensor<64x128xbf16>, tensor<128x32xbf16>)
// CHECK-NOT:       arith.maximumf
// CHECK:           arith.extf
// CHECK:           arith.mulf
func.func @factor_of_product(%x: tensor<64x128xbf16>, %w: tensor<128x32xbf16>) -> tensor<64x32xf32> {
  %zero = arith.constant 0.0 : bf16
  %zero32 = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x128xbf16>
  %e32 = tensor.empty() : tensor<64x128xf32>
  %w32 = tensor.empty() : tensor<128x32xf32>
  %relu = linalg.generic {indexing_maps = [#each, #each], iterator_types = ["parallel", "parallel"]}
    ins(%x : tensor<64x128xbf16>) outs(%e : tensor<64x128xbf16>) {
  ^bb0(%in: bf16, %o: bf16):
    %r = arith.maximumf %in, %zero : bf16
    linalg.yield %r : bf16
  } -> tensor<64x128xbf16>
  %wide = linalg.generic {indexing_maps = [#each, #each], iterator_types = ["parallel", "parallel"]}
    ins(%relu : tensor<64x128xbf16>) outs(%e32 : tensor<64x128xf32>) {
  ^bb0(%in: bf16, %o: f32):
    %r = arith.extf %in : bf16 to f32
    linalg.yield %r : f32
  } -> tensor<64x128xf32>
  %wide_w = linalg.generic {indexing_maps = [#each, #each], iterator_types = ["parallel", "parallel"]}
    ins(%w : tensor<128x32xbf16>) outs(%w32 : tensor<128x32xf32>) {
  ^bb0(%in: bf16, %o: f32):
    %r = arith.extf %in : bf16 to f32
    linalg.yield %r : f32
  } -> tensor<128x32xf32>
  %s = tensor.empty() : tensor<64x32xf32>
  %f = linalg.fill ins(%zero32 : f32) outs(%s : tensor<64x32xf32>) -> tensor<64x32xf32>
  %p = linalg.generic {indexing_maps = [#factor, #weights, #product], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%wide, %wide_w : tensor<64x128xf32>, tensor<128x32xf32>) outs(%f : tensor<64x32xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %r = arith.addf %o, %m : f32
    linalg.yield %r : f32
  } -> tensor<64x32xf32>
  return %p : tensor<64x32xf32>
}

// -----

#each = affine_map<(d0, d1) -> (d0, d1)>
#vector = affine_map<(d0, d1) -> (d1)>
#sums = affine_map<(d0, d1) -> (d0)>
#one = affine_map<(d0) -> (d0)>

// Sums over the rows of a matrix read the vector again for each of them: what is computed in f32 is rounded where it is
// made, and read at half the width.
// CHECK-LABEL: func.func @rounded_once(
// CHECK:         linalg.generic
// CHECK:           math.exp
// CHECK:           arith.truncf
// CHECK:         linalg.generic
// CHECK-SAME:      ins(%{{.*}}, %{{.*}} : tensor<64xbf16>, tensor<8x64xbf16>)
// CHECK-NOT:       arith.truncf
func.func @rounded_once(%x: tensor<64xf32>, %w: tensor<8x64xbf16>) -> tensor<8xf32> {
  %zero = arith.constant 0.0 : f32
  %e32 = tensor.empty() : tensor<64xf32>
  %e16 = tensor.empty() : tensor<64xbf16>
  %exp = linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]} ins(%x : tensor<64xf32>) outs(%e32 : tensor<64xf32>) {
  ^bb0(%in: f32, %o: f32):
    %r = math.exp %in : f32
    linalg.yield %r : f32
  } -> tensor<64xf32>
  %rounded = linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]} ins(%exp : tensor<64xf32>) outs(%e16 : tensor<64xbf16>) {
  ^bb0(%in: f32, %o: bf16):
    %r = arith.truncf %in : f32 to bf16
    linalg.yield %r : bf16
  } -> tensor<64xbf16>
  %s = tensor.empty() : tensor<8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%s : tensor<8xf32>) -> tensor<8xf32>
  %p = linalg.generic {indexing_maps = [#vector, #each, #sums], iterator_types = ["parallel", "reduction"]}
    ins(%rounded, %w : tensor<64xbf16>, tensor<8x64xbf16>) outs(%f : tensor<8xf32>) {
  ^bb0(%a: bf16, %b: bf16, %o: f32):
    %wide = arith.extf %a : bf16 to f32
    %wide_b = arith.extf %b : bf16 to f32
    %m = arith.mulf %wide, %wide_b : f32
    %r = arith.addf %o, %m : f32
    linalg.yield %r : f32
  } -> tensor<8xf32>
  return %p : tensor<8xf32>
}

// -----

#each = affine_map<(d0, d1) -> (d0, d1)>
#vector = affine_map<(d0, d1) -> (d1)>

// A distance in f32 is computed where it is read, of elements of half its size; so is a vector that is repeated.
// CHECK-LABEL: func.func @read_twice(
// CHECK-SAME:    %[[X:.*]]: tensor<64x128xbf16>, %[[M:.*]]: tensor<128xf32>
// CHECK:         linalg.generic
// CHECK-SAME:      ins(%[[X]], %[[M]] : tensor<64x128xbf16>, tensor<128xf32>)
// CHECK-SAME:      outs(%{{.*}} : tensor<128xf32>)
// CHECK:           arith.extf
// CHECK:           arith.subf
// CHECK:           arith.mulf
// CHECK:         linalg.generic
// CHECK-SAME:      ins(%[[X]], %[[M]]
// CHECK:           arith.extf
// CHECK:           arith.subf
// CHECK:           arith.truncf
// CHECK-NOT:     linalg.generic
func.func @read_twice(%x: tensor<64x128xbf16>, %m: tensor<128xf32>) -> (tensor<128xf32>, tensor<64x128xbf16>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x128xf32>
  %h = tensor.empty() : tensor<64x128xbf16>
  %v = tensor.empty() : tensor<128xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%v : tensor<128xf32>) -> tensor<128xf32>
  %b = linalg.generic {indexing_maps = [#vector, #each], iterator_types = ["parallel", "parallel"]} ins(%m : tensor<128xf32>) outs(%e : tensor<64x128xf32>) {
  ^bb0(%in: f32, %o: f32):
    linalg.yield %in : f32
  } -> tensor<64x128xf32>
  %d = linalg.generic {indexing_maps = [#each, #each, #each], iterator_types = ["parallel", "parallel"]} ins(%x, %b : tensor<64x128xbf16>, tensor<64x128xf32>) outs(%e : tensor<64x128xf32>) {
  ^bb0(%in: bf16, %in2: f32, %o: f32):
    %w = arith.extf %in : bf16 to f32
    %r = arith.subf %w, %in2 : f32
    linalg.yield %r : f32
  } -> tensor<64x128xf32>
  %s = linalg.generic {indexing_maps = [#each, #vector], iterator_types = ["reduction", "parallel"]} ins(%d : tensor<64x128xf32>) outs(%fill : tensor<128xf32>) {
  ^bb0(%in: f32, %o: f32):
    %q = arith.mulf %in, %in : f32
    %r = arith.addf %o, %q : f32
    linalg.yield %r : f32
  } -> tensor<128xf32>
  %y = linalg.generic {indexing_maps = [#each, #each], iterator_types = ["parallel", "parallel"]} ins(%d : tensor<64x128xf32>) outs(%h : tensor<64x128xbf16>) {
  ^bb0(%in: f32, %o: bf16):
    %r = arith.truncf %in : f32 to bf16
    linalg.yield %r : bf16
  } -> tensor<64x128xbf16>
  return %s, %y : tensor<128xf32>, tensor<64x128xbf16>
}

// -----

#each = affine_map<(d0, d1) -> (d0, d1)>
#turned = affine_map<(d0, d1) -> (d1, d0)>
#vector = affine_map<(d0, d1) -> (d1)>

// Read once and kept: of two tensors, of another order, and what is returned.
// CHECK-LABEL: func.func @kept(
// CHECK-COUNT-3: linalg.generic {{.*}} outs(%{{.*}} : tensor<64x128xf32>)
// CHECK-COUNT-2: linalg.generic {{.*}} outs(%{{.*}} : tensor<128xf32>)
// CHECK-NOT:     linalg.generic
func.func @kept(%x: tensor<64x128xf32>, %y: tensor<64x128xf32>, %z: tensor<128x64xf32>) -> (tensor<128xf32>, tensor<128xf32>, tensor<64x128xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x128xf32>
  %v = tensor.empty() : tensor<128xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%v : tensor<128xf32>) -> tensor<128xf32>
  %p = linalg.generic {indexing_maps = [#each, #each, #each], iterator_types = ["parallel", "parallel"]} ins(%x, %y : tensor<64x128xf32>, tensor<64x128xf32>) outs(%e : tensor<64x128xf32>) {
  ^bb0(%in: f32, %in2: f32, %o: f32):
    %r = arith.mulf %in, %in2 : f32
    linalg.yield %r : f32
  } -> tensor<64x128xf32>
  %t = linalg.generic {indexing_maps = [#turned, #each], iterator_types = ["parallel", "parallel"]} ins(%z : tensor<128x64xf32>) outs(%e : tensor<64x128xf32>) {
  ^bb0(%in: f32, %o: f32):
    linalg.yield %in : f32
  } -> tensor<64x128xf32>
  %n = linalg.generic {indexing_maps = [#each, #each], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<64x128xf32>) outs(%e : tensor<64x128xf32>) {
  ^bb0(%in: f32, %o: f32):
    %r = arith.negf %in : f32
    linalg.yield %r : f32
  } -> tensor<64x128xf32>
  %a = linalg.generic {indexing_maps = [#each, #each, #each, #vector], iterator_types = ["reduction", "parallel"]} ins(%p, %t, %n : tensor<64x128xf32>, tensor<64x128xf32>, tensor<64x128xf32>) outs(%fill : tensor<128xf32>) {
  ^bb0(%in: f32, %in2: f32, %in3: f32, %o: f32):
    %q = arith.mulf %in, %in2 : f32
    %s = arith.mulf %q, %in3 : f32
    %r = arith.addf %o, %s : f32
    linalg.yield %r : f32
  } -> tensor<128xf32>
  %b = linalg.generic {indexing_maps = [#each, #each, #vector], iterator_types = ["reduction", "parallel"]} ins(%p, %t : tensor<64x128xf32>, tensor<64x128xf32>) outs(%fill : tensor<128xf32>) {
  ^bb0(%in: f32, %in2: f32, %o: f32):
    %q = arith.addf %in, %in2 : f32
    %r = arith.addf %o, %q : f32
    linalg.yield %r : f32
  } -> tensor<128xf32>
  return %a, %b, %n : tensor<128xf32>, tensor<128xf32>, tensor<64x128xf32>
}

// -----

#a = affine_map<(d0, d1, d2) -> (d0, d2)>
#b = affine_map<(d0, d1, d2) -> (d2, d1)>
#c = affine_map<(d0, d1, d2) -> (d0, d1)>
#id = affine_map<(d0, d1) -> (d0, d1)>
#column = affine_map<(d0, d1) -> (d1)>

// Scale and bias of the first product are one op, apart from the sum, which is computed with the second product. (They are not where a
// reduction has all of it in its kernel.)
// CHECK-LABEL: func.func @shortcut(
// CHECK:         %[[P:.*]] = linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction"]
// CHECK:         %[[N:.*]] = linalg.generic {{.*}} ins(%[[P]], %{{.*}}, %{{.*}} : tensor<64x32xf32>, tensor<32xf32>, tensor<32xf32>) outs(%{{.*}} : tensor<64x32xbf16>)
// CHECK:           arith.mulf
// CHECK:           arith.addf
// CHECK:           arith.truncf
// CHECK:         %[[Q:.*]] = linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction"]
// CHECK:         linalg.generic {{.*}} ins(%[[N]], %[[Q]], %{{.*}}, %{{.*}} : tensor<64x32xbf16>, tensor<64x32xf32>, tensor<32xf32>, tensor<32xf32>) outs(%{{.*}} : tensor<64x32xbf16>)
// CHECK-NOT:     linalg.generic
// CHECK-LABEL: func.func @reduced(
// CHECK-COUNT-2: linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction"]
// CHECK:         linalg.generic {{.*}} iterator_types = ["reduction", "parallel"]
// CHECK-NOT:     linalg.generic
func.func @shortcut(%x: tensor<64x128xbf16>, %y: tensor<64x128xbf16>, %w: tensor<128x32xbf16>, %v: tensor<128x32xbf16>, %scale: tensor<32xf32>, %bias: tensor<32xf32>, %scale2: tensor<32xf32>, %bias2: tensor<32xf32>) -> tensor<64x32xbf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x32xf32>
  %h = tensor.empty() : tensor<64x32xbf16>
  %zeros = linalg.fill ins(%zero : f32) outs(%e : tensor<64x32xf32>) -> tensor<64x32xf32>
  %p = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<64x128xbf16>, tensor<128x32xbf16>) outs(%zeros : tensor<64x32xf32>) {
  ^bb0(%l: bf16, %r: bf16, %o: f32):
    %g = arith.extf %l : bf16 to f32
    %f = arith.extf %r : bf16 to f32
    %m = arith.mulf %g, %f : f32
    %n = arith.addf %o, %m : f32
    linalg.yield %n : f32
  } -> tensor<64x32xf32>
  %ps = linalg.generic {indexing_maps = [#id, #column, #id], iterator_types = ["parallel", "parallel"]} ins(%p, %scale : tensor<64x32xf32>, tensor<32xf32>) outs(%e : tensor<64x32xf32>) {
  ^bb0(%in: f32, %k: f32, %o: f32):
    %m = arith.mulf %in, %k : f32
    linalg.yield %m : f32
  } -> tensor<64x32xf32>
  %pb = linalg.generic {indexing_maps = [#id, #column, #id], iterator_types = ["parallel", "parallel"]} ins(%ps, %bias : tensor<64x32xf32>, tensor<32xf32>) outs(%e : tensor<64x32xf32>) {
  ^bb0(%in: f32, %k: f32, %o: f32):
    %m = arith.addf %in, %k : f32
    linalg.yield %m : f32
  } -> tensor<64x32xf32>
  %pn = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%pb : tensor<64x32xf32>) outs(%h : tensor<64x32xbf16>) {
  ^bb0(%in: f32, %o: bf16):
    %m = arith.truncf %in : f32 to bf16
    linalg.yield %m : bf16
  } -> tensor<64x32xbf16>
  %q = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]} ins(%y, %v : tensor<64x128xbf16>, tensor<128x32xbf16>) outs(%zeros : tensor<64x32xf32>) {
  ^bb0(%l: bf16, %r: bf16, %o: f32):
    %g = arith.extf %l : bf16 to f32
    %f = arith.extf %r : bf16 to f32
    %m = arith.mulf %g, %f : f32
    %n = arith.addf %o, %m : f32
    linalg.yield %n : f32
  } -> tensor<64x32xf32>
  %qs = linalg.generic {indexing_maps = [#id, #column, #id], iterator_types = ["parallel", "parallel"]} ins(%q, %scale2 : tensor<64x32xf32>, tensor<32xf32>) outs(%e : tensor<64x32xf32>) {
  ^bb0(%in: f32, %k: f32, %o: f32):
    %m = arith.mulf %in, %k : f32
    linalg.yield %m : f32
  } -> tensor<64x32xf32>
  %qb = linalg.generic {indexing_maps = [#id, #column, #id], iterator_types = ["parallel", "parallel"]} ins(%qs, %bias2 : tensor<64x32xf32>, tensor<32xf32>) outs(%e : tensor<64x32xf32>) {
  ^bb0(%in: f32, %k: f32, %o: f32):
    %m = arith.addf %in, %k : f32
    linalg.yield %m : f32
  } -> tensor<64x32xf32>
  %qn = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%qb : tensor<64x32xf32>) outs(%h : tensor<64x32xbf16>) {
  ^bb0(%in: f32, %o: bf16):
    %m = arith.truncf %in : f32 to bf16
    linalg.yield %m : bf16
  } -> tensor<64x32xbf16>
  %sum = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%pn, %qn : tensor<64x32xbf16>, tensor<64x32xbf16>) outs(%h : tensor<64x32xbf16>) {
  ^bb0(%in: bf16, %other: bf16, %out: bf16):
    %m = arith.addf %in, %other : bf16
    linalg.yield %m : bf16
  } -> tensor<64x32xbf16>
  return %sum : tensor<64x32xbf16>
}
func.func @reduced(%x: tensor<64x128xbf16>, %y: tensor<64x128xbf16>, %w: tensor<128x32xbf16>, %v: tensor<128x32xbf16>, %scale: tensor<32xf32>, %bias: tensor<32xf32>, %scale2: tensor<32xf32>, %bias2: tensor<32xf32>) -> tensor<32xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x32xf32>
  %h = tensor.empty() : tensor<64x32xbf16>
  %zeros = linalg.fill ins(%zero : f32) outs(%e : tensor<64x32xf32>) -> tensor<64x32xf32>
  %p = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<64x128xbf16>, tensor<128x32xbf16>) outs(%zeros : tensor<64x32xf32>) {
  ^bb0(%l: bf16, %r: bf16, %o: f32):
    %g = arith.extf %l : bf16 to f32
    %f = arith.extf %r : bf16 to f32
    %m = arith.mulf %g, %f : f32
    %n = arith.addf %o, %m : f32
    linalg.yield %n : f32
  } -> tensor<64x32xf32>
  %ps = linalg.generic {indexing_maps = [#id, #column, #id], iterator_types = ["parallel", "parallel"]} ins(%p, %scale : tensor<64x32xf32>, tensor<32xf32>) outs(%e : tensor<64x32xf32>) {
  ^bb0(%in: f32, %k: f32, %o: f32):
    %m = arith.mulf %in, %k : f32
    linalg.yield %m : f32
  } -> tensor<64x32xf32>
  %pb = linalg.generic {indexing_maps = [#id, #column, #id], iterator_types = ["parallel", "parallel"]} ins(%ps, %bias : tensor<64x32xf32>, tensor<32xf32>) outs(%e : tensor<64x32xf32>) {
  ^bb0(%in: f32, %k: f32, %o: f32):
    %m = arith.addf %in, %k : f32
    linalg.yield %m : f32
  } -> tensor<64x32xf32>
  %pn = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%pb : tensor<64x32xf32>) outs(%h : tensor<64x32xbf16>) {
  ^bb0(%in: f32, %o: bf16):
    %m = arith.truncf %in : f32 to bf16
    linalg.yield %m : bf16
  } -> tensor<64x32xbf16>
  %q = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]} ins(%y, %v : tensor<64x128xbf16>, tensor<128x32xbf16>) outs(%zeros : tensor<64x32xf32>) {
  ^bb0(%l: bf16, %r: bf16, %o: f32):
    %g = arith.extf %l : bf16 to f32
    %f = arith.extf %r : bf16 to f32
    %m = arith.mulf %g, %f : f32
    %n = arith.addf %o, %m : f32
    linalg.yield %n : f32
  } -> tensor<64x32xf32>
  %qs = linalg.generic {indexing_maps = [#id, #column, #id], iterator_types = ["parallel", "parallel"]} ins(%q, %scale2 : tensor<64x32xf32>, tensor<32xf32>) outs(%e : tensor<64x32xf32>) {
  ^bb0(%in: f32, %k: f32, %o: f32):
    %m = arith.mulf %in, %k : f32
    linalg.yield %m : f32
  } -> tensor<64x32xf32>
  %qb = linalg.generic {indexing_maps = [#id, #column, #id], iterator_types = ["parallel", "parallel"]} ins(%qs, %bias2 : tensor<64x32xf32>, tensor<32xf32>) outs(%e : tensor<64x32xf32>) {
  ^bb0(%in: f32, %k: f32, %o: f32):
    %m = arith.addf %in, %k : f32
    linalg.yield %m : f32
  } -> tensor<64x32xf32>
  %qn = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%qb : tensor<64x32xf32>) outs(%h : tensor<64x32xbf16>) {
  ^bb0(%in: f32, %o: bf16):
    %m = arith.truncf %in : f32 to bf16
    linalg.yield %m : bf16
  } -> tensor<64x32xbf16>
  %sum = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%pn, %qn : tensor<64x32xbf16>, tensor<64x32xbf16>) outs(%h : tensor<64x32xbf16>) {
  ^bb0(%in: bf16, %other: bf16, %out: bf16):
    %m = arith.addf %in, %other : bf16
    linalg.yield %m : bf16
  } -> tensor<64x32xbf16>
  %c = tensor.empty() : tensor<32xf32>
  %start = linalg.fill ins(%zero : f32) outs(%c : tensor<32xf32>) -> tensor<32xf32>
  %all = linalg.generic {indexing_maps = [#id, #column], iterator_types = ["reduction", "parallel"]} ins(%sum : tensor<64x32xbf16>) outs(%start : tensor<32xf32>) {
  ^bb0(%in: bf16, %out: f32):
    %m = arith.extf %in : bf16 to f32
    %a = arith.addf %out, %m : f32
    linalg.yield %a : f32
  } -> tensor<32xf32>
  return %all : tensor<32xf32>
}

// -----

#same = affine_map<(d0, d1) -> (d0, d1)>
#moved = affine_map<(d0, d1, d2) -> (d0 + d2, d1)>
#length = affine_map<(d0, d1, d2) -> (d2)>
#kept = affine_map<(d0, d1, d2) -> (d0, d1)>

// What is widened for the windows that read it padded is padded as it is, and widened where it is read.
// CHECK-LABEL: func.func @pad_before_widening(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<8x16xbf16>
// CHECK:         %[[PADDED:.*]] = tensor.pad %[[X]] low[1, 0] high[1, 0]
// CHECK:           tensor<8x16xbf16> to tensor<10x16xbf16>
// CHECK:         linalg.generic {{.*}} ins(%[[PADDED]], %{{.*}} : tensor<10x16xbf16>, tensor<3xf32>)
// CHECK:           arith.extf
// CHECK:           arith.addf
func.func @pad_before_widening(%x: tensor<8x16xbf16>, %init: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x16xf32>
  %window = tensor.empty() : tensor<3xf32>
  %wide = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<8x16xbf16>) outs(%e : tensor<8x16xf32>) {
  ^bb0(%a: bf16, %o: f32):
    %w = arith.extf %a : bf16 to f32
    linalg.yield %w : f32
  } -> tensor<8x16xf32>
  %padded = tensor.pad %wide low[1, 0] high[1, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<8x16xf32> to tensor<10x16xf32>
  %y = linalg.generic {indexing_maps = [#moved, #length, #kept], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%padded, %window : tensor<10x16xf32>, tensor<3xf32>) outs(%init : tensor<8x16xf32>) {
  ^bb0(%a: f32, %l: f32, %o: f32):
    %s = arith.addf %o, %a : f32
    linalg.yield %s : f32
  } -> tensor<8x16xf32>
  return %y : tensor<8x16xf32>
}
