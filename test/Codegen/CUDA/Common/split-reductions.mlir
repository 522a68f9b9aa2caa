// RUN: xc-opt %s -split-input-file -pass-pipeline="builtin.module(func.func(xc-cuda-reduce-products,canonicalize,xc-cuda-split-reductions,canonicalize,cse))" | FileCheck %s

#whole = affine_map<(d0, d1) -> (d0, d1)>
#column = affine_map<(d0, d1) -> (d1)>

// A column sum becomes the sum of 256 parts.
// CHECK-LABEL: func.func @columns
// CHECK:         %[[X:.*]] = tensor.expand_shape %{{.*}} {{\[\[}}0, 1], [2]] output_shape [128, 32, 768]
// CHECK:         %[[PARTS:.*]] = linalg.generic
// CHECK-SAME:      iterator_types = ["parallel", "reduction", "parallel"]
// CHECK-SAME:      ins(%[[X]] : tensor<128x32x768xf32>) outs(%{{.*}} : tensor<128x768xf32>)
// CHECK-SAME:      {plan.partial = #plan.partial<slices>}
// CHECK:         linalg.generic
// CHECK-SAME:      iterator_types = ["parallel", "reduction"]
// CHECK-SAME:      ins(%[[PARTS]] : tensor<128x768xf32>) outs(%{{.*}} : tensor<768xf32>)
builtin.module attributes {plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @columns(%x: tensor<4096x768xf32>) -> tensor<768xf32> {
    %zero = arith.constant 0.0 : f32
    %empty = tensor.empty() : tensor<768xf32>
    %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<768xf32>) -> tensor<768xf32>
    %sum = linalg.generic {indexing_maps = [#whole, #column], iterator_types = ["reduction", "parallel"]}
        ins(%x : tensor<4096x768xf32>) outs(%init : tensor<768xf32>) {
    ^bb0(%in: f32, %acc: f32):
      %s = arith.addf %acc, %in : f32
      linalg.yield %s : f32
    } -> tensor<768xf32>
    return %sum : tensor<768xf32>
  }
}

// -----

#whole = affine_map<(d0, d1) -> (d0, d1)>
#column = affine_map<(d0, d1) -> (d1)>

// Enough columns, or another target: nothing to do.
// CHECK-LABEL: func.func @many_columns
// CHECK-NOT:     tensor.expand_shape
builtin.module attributes {plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @many_columns(%x: tensor<128x65536xf32>, %init: tensor<65536xf32>) -> tensor<65536xf32> {
    %sum = linalg.generic {indexing_maps = [#whole, #column], iterator_types = ["reduction", "parallel"]}
        ins(%x : tensor<128x65536xf32>) outs(%init : tensor<65536xf32>) {
    ^bb0(%in: f32, %acc: f32):
      %s = arith.addf %acc, %in : f32
      linalg.yield %s : f32
    } -> tensor<65536xf32>
    return %sum : tensor<65536xf32>
  }
}

// -----

#whole = affine_map<(d0, d1) -> (d0, d1)>
#column = affine_map<(d0, d1) -> (d1)>

// CHECK-LABEL: func.func @processor
// CHECK-NOT:     tensor.expand_shape
builtin.module attributes {plan.target = #plan.target<"cpu", "x86-64-v3">} {
  func.func @processor(%x: tensor<4096x768xf32>, %init: tensor<768xf32>) -> tensor<768xf32> {
    %sum = linalg.generic {indexing_maps = [#whole, #column], iterator_types = ["reduction", "parallel"]}
        ins(%x : tensor<4096x768xf32>) outs(%init : tensor<768xf32>) {
    ^bb0(%in: f32, %acc: f32):
      %s = arith.addf %acc, %in : f32
      linalg.yield %s : f32
    } -> tensor<768xf32>
    return %sum : tensor<768xf32>
  }
}

// -----

#whole = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#column = affine_map<(d0, d1) -> (d1)>

// A gradient step's two products with a vector: rows take turns at being of one part or the next, so that both go over
// the same rows.
// CHECK-DAG:   #[[$TURN:.*]] = affine_map<(d0, d1) -> (d0 mod 125, d1)>
// CHECK-LABEL: func.func @step
// CHECK:         %[[SCORE:.*]] = linalg.generic
// CHECK-SAME:      iterator_types = ["parallel", "reduction"]
// CHECK-SAME:      ins(%arg0, %{{.*}} : tensor<10000x100xf32>, tensor<100xf32>) outs(%{{.*}} : tensor<10000xf32>)
// CHECK:         %[[PARTS:.*]] = linalg.generic
// CHECK-SAME:      #[[$TURN]]], iterator_types = ["reduction", "parallel"]
// CHECK-SAME:      ins(%arg0, %[[SCORE]] : tensor<10000x100xf32>, tensor<10000xf32>) outs(%{{.*}} : tensor<125x100xf32>)
// CHECK-SAME:      {plan.partial = #plan.partial<cyclic, 125>}
// CHECK:         linalg.generic
// CHECK-SAME:      ins(%[[PARTS]] : tensor<125x100xf32>) outs(%{{.*}} : tensor<100xf32>)
builtin.module attributes {plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @step(%x: tensor<10000x100xf32>, %w: tensor<100xf32>) -> tensor<100xf32> {
    %zero = arith.constant 0.0 : f32
    %e0 = tensor.empty() : tensor<10000xf32>
    %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<10000xf32>) -> tensor<10000xf32>
    %score = linalg.contract indexing_maps = [#whole, #column, #row]
        ins(%x, %w : tensor<10000x100xf32>, tensor<100xf32>) outs(%f0 : tensor<10000xf32>) -> tensor<10000xf32>
    %e1 = tensor.empty() : tensor<100xf32>
    %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<100xf32>) -> tensor<100xf32>
    %sum = linalg.contract indexing_maps = [#whole, #row, #column]
        ins(%x, %score : tensor<10000x100xf32>, tensor<10000xf32>) outs(%f1 : tensor<100xf32>) -> tensor<100xf32>
    return %sum : tensor<100xf32>
  }
}

// -----

#first = affine_map<(d0) -> (d0)>
#none = affine_map<(d0) -> ()>

// One long row, with the position of its greatest element: parts know where they begin.
// CHECK-LABEL: func.func @argmax
// CHECK:         tensor.expand_shape %{{.*}} into tensor<64x1024xf32>
// CHECK:         %[[PARTS:.*]]:2 = linalg.generic
// CHECK-SAME:      iterator_types = ["parallel", "reduction"]
// CHECK:           %[[PART:.*]] = linalg.index 0
// CHECK:           %[[PLACE:.*]] = linalg.index 1
// CHECK:           arith.muli %[[PART]]
// CHECK:         linalg.generic
// CHECK-SAME:      ins(%[[PARTS]]#0, %[[PARTS]]#1 : tensor<64xf32>, tensor<64xi32>)
builtin.module attributes {plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @argmax(%x: tensor<65536xf32>) -> tensor<i32> {
    %low = arith.constant 0xFF800000 : f32
    %zero = arith.constant 0 : i32
    %e0 = tensor.empty() : tensor<f32>
    %f0 = linalg.fill ins(%low : f32) outs(%e0 : tensor<f32>) -> tensor<f32>
    %e1 = tensor.empty() : tensor<i32>
    %f1 = linalg.fill ins(%zero : i32) outs(%e1 : tensor<i32>) -> tensor<i32>
    %r:2 = linalg.generic {indexing_maps = [#first, #none, #none], iterator_types = ["reduction"]}
        ins(%x : tensor<65536xf32>) outs(%f0, %f1 : tensor<f32>, tensor<i32>) {
    ^bb0(%in: f32, %best: f32, %where: i32):
      %i = linalg.index 0 : index
      %at = arith.index_cast %i : index to i32
      %more = arith.cmpf ogt, %in, %best : f32
      %v = arith.select %more, %in, %best : f32
      %w = arith.select %more, %at, %where : i32
      linalg.yield %v, %w : f32, i32
    } -> (tensor<f32>, tensor<i32>)
    return %r#1 : tensor<i32>
  }
}

// -----

#first = affine_map<(d0) -> (d0)>
#none = affine_map<(d0) -> ()>

// A symbolic length: 512 parts cover a multiple of 8 elements each, one more reduction takes the rest, and
// where both meet, positions are an operand.
// CHECK-LABEL: func.func @symbolic
// CHECK:         %[[COVERED:.*]] = tensor.extract_slice %arg0[0] [%{{.*}}] [1]
// CHECK:         tensor.expand_shape %[[COVERED]] {{\[\[}}0, 1]] output_shape [512, %[[LENGTH:.*]]]
// CHECK:         %[[PARTS:.*]]:2 = linalg.generic
// CHECK-SAME:      iterator_types = ["parallel", "reduction"]
// CHECK:           arith.muli %[[FIRST:.*]], %{{.*}}
// CHECK:         %[[TAIL:.*]] = tensor.extract_slice %arg0[%[[BEGIN:.*]]] [%{{.*}}] [1]
// CHECK:         %[[REST:.*]]:2 = linalg.generic
// CHECK-SAME:      iterator_types = ["reduction"]
// CHECK-SAME:      ins(%[[TAIL]]
// CHECK-SAME:      {plan.partial = #plan.partial<rest>}
// CHECK:           arith.addi %{{.*}}, %[[BEGIN]]
// CHECK:         %[[LAST:.*]]:2 = linalg.generic
// CHECK-SAME:      ins(%[[PARTS]]#0, %[[PARTS]]#1 : tensor<512xf32>, tensor<512xi32>)
// CHECK-SAME:      {plan.position = 1 : i64}
// CHECK:         linalg.generic
// CHECK-SAME:      ins(%[[LAST]]#0, %[[LAST]]#1, %[[REST]]#0, %[[REST]]#1
builtin.module attributes {plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @symbolic(%x: tensor<?xf32>) -> (tensor<f32>, tensor<i32>) {
    %low = arith.constant 0xFF800000 : f32
    %zero = arith.constant 0 : i32
    %e0 = tensor.empty() : tensor<f32>
    %f0 = linalg.fill ins(%low : f32) outs(%e0 : tensor<f32>) -> tensor<f32>
    %e1 = tensor.empty() : tensor<i32>
    %f1 = linalg.fill ins(%zero : i32) outs(%e1 : tensor<i32>) -> tensor<i32>
    %r:2 = linalg.generic {indexing_maps = [#first, #none, #none], iterator_types = ["reduction"]}
        ins(%x : tensor<?xf32>) outs(%f0, %f1 : tensor<f32>, tensor<i32>) {
    ^bb0(%in: f32, %best: f32, %where: i32):
      %i = linalg.index 0 : index
      %at = arith.index_cast %i : index to i32
      %more = arith.cmpf ogt, %in, %best : f32
      %v = arith.select %more, %in, %best : f32
      %w = arith.select %more, %at, %where : i32
      linalg.yield %v, %w : f32, i32
    } -> (tensor<f32>, tensor<i32>)
    return %r#0, %r#1 : tensor<f32>, tensor<i32>
  }
}

// -----

#whole = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#none = affine_map<(d0, d1) -> ()>

// 3 x 1000003 elements: parts of neither loop would do, so both become one.
// CHECK-LABEL: func.func @prime
// CHECK:         %[[FLAT:.*]] = tensor.collapse_shape %arg0 {{\[\[}}0, 1]] : tensor<3x1000003xf32> into tensor<3000009xf32>
// CHECK:         tensor.extract_slice %[[FLAT]][0] [{{.*}}] [1]
// CHECK:         linalg.generic
// CHECK-SAME:      iterator_types = ["parallel", "reduction"]
// CHECK:         tensor.extract_slice %[[FLAT]]
// CHECK:         linalg.generic
// CHECK-SAME:      iterator_types = ["reduction"]
builtin.module attributes {plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @prime(%x: tensor<3x1000003xf32>, %init: tensor<f32>) -> tensor<f32> {
    %sum = linalg.generic {indexing_maps = [#whole, #none], iterator_types = ["reduction", "reduction"]}
        ins(%x : tensor<3x1000003xf32>) outs(%init : tensor<f32>) {
    ^bb0(%in: f32, %acc: f32):
      %s = arith.addf %acc, %in : f32
      linalg.yield %s : f32
    } -> tensor<f32>
    return %sum : tensor<f32>
  }

  // 8 x 1000000 elements: 8 parts would be fewer blocks than there are multiprocessors.
  // CHECK-LABEL: func.func @few_long_rows
  // CHECK:         tensor.collapse_shape %arg0 {{\[\[}}0, 1]] : tensor<8x1000000xf32> into tensor<8000000xf32>
  // CHECK:         tensor.expand_shape %{{.*}} : tensor<8000000xf32> into tensor<1000x8000xf32>
  func.func @few_long_rows(%x: tensor<8x1000000xf32>, %init: tensor<f32>) -> tensor<f32> {
    %zero = arith.constant 0.0 : f32
    %start = linalg.fill ins(%zero : f32) outs(%init : tensor<f32>) -> tensor<f32>
    %sum = linalg.generic {indexing_maps = [#whole, #none], iterator_types = ["reduction", "reduction"]}
        ins(%x : tensor<8x1000000xf32>) outs(%start : tensor<f32>) {
    ^bb0(%in: f32, %acc: f32):
      %s = arith.addf %acc, %in : f32
      linalg.yield %s : f32
    } -> tensor<f32>
    return %sum : tensor<f32>
  }

  // Rows of symbolic length that are needed again are left to one kernel, which holds them.
  // CHECK-LABEL: func.func @held
  // CHECK-NOT:     tensor.extract_slice
  func.func @held(%x: tensor<3x?xf32>, %init: tensor<3xf32>, %empty: tensor<3x?xf32>) -> tensor<3x?xf32> {
    %sum = linalg.generic {indexing_maps = [#whole, #row], iterator_types = ["parallel", "reduction"]}
        ins(%x : tensor<3x?xf32>) outs(%init : tensor<3xf32>) {
    ^bb0(%in: f32, %acc: f32):
      %s = arith.addf %acc, %in : f32
      linalg.yield %s : f32
    } -> tensor<3xf32>
    %share = linalg.generic {indexing_maps = [#whole, #row, #whole], iterator_types = ["parallel", "parallel"]}
        ins(%x, %sum : tensor<3x?xf32>, tensor<3xf32>) outs(%empty : tensor<3x?xf32>) {
    ^bb0(%in: f32, %whole: f32, %out: f32):
      %d = arith.divf %in, %whole : f32
      linalg.yield %d : f32
    } -> tensor<3x?xf32>
    return %share : tensor<3x?xf32>
  }
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>

// One tile, and sums of 16384: 32 blocks have 512 of each.
// CHECK-DAG: #[[A:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d2, d3)>
// CHECK-DAG: #[[B:.*]] = affine_map<(d0, d1, d2, d3) -> (d2, d3, d1)>
// CHECK-LABEL: func.func @product
// CHECK:         tensor.expand_shape %arg0 {{.*}} into tensor<64x32x512xbf16>
// CHECK:         tensor.expand_shape %arg1 {{.*}} into tensor<32x512x64xbf16>
// CHECK:         %[[PARTS:.*]] = linalg.contract
// CHECK-SAME:      outs(%{{.*}} : tensor<32x64x64xf32>)
// CHECK:         linalg.generic
// CHECK-SAME:      iterator_types = ["reduction", "parallel", "parallel"]
// CHECK-SAME:      ins(%[[PARTS]] : tensor<32x64x64xf32>) outs(%arg2 : tensor<64x64xf32>)
builtin.module attributes {plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @product(%a: tensor<64x16384xbf16>, %b: tensor<16384x64xbf16>, %init: tensor<64x64xf32>) -> tensor<64x64xf32> {
    %c = linalg.contract indexing_maps = [#a, #b, #c] ins(%a, %b : tensor<64x16384xbf16>, tensor<16384x64xbf16>)
        outs(%init : tensor<64x64xf32>) -> tensor<64x64xf32>
    return %c : tensor<64x64xf32>
  }

  // Enough tiles.
  // CHECK-LABEL: func.func @large_product
  // CHECK-NOT:     tensor.expand_shape
  func.func @large_product(%a: tensor<1024x4096xbf16>, %b: tensor<4096x1024xbf16>, %init: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
    %c = linalg.contract indexing_maps = [#a, #b, #c] ins(%a, %b : tensor<1024x4096xbf16>, tensor<4096x1024xbf16>)
        outs(%init : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
    return %c : tensor<1024x1024xf32>
  }
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>

builtin.module attributes {plan.target = #plan.target<"cuda", "sm_90a">} {
  // On wgmma: so long a sum that blocks of a cluster are too few.
  // CHECK-LABEL: func.func @parts_beyond_clusters
  // CHECK:         linalg.generic {{.*}} ins(%arg0, %arg1 : {{.*}}) outs(%{{.*}} : tensor<{{[0-9]+}}x8x8xf32>)
  func.func @parts_beyond_clusters(%a: tensor<8x16376xbf16>, %b: tensor<16376x8xbf16>, %init: tensor<8x8xf32>) -> tensor<8x8xf32> {
    %c = linalg.contract indexing_maps = [#a, #b, #c] ins(%a, %b : tensor<8x16376xbf16>, tensor<16376x8xbf16>)
        outs(%init : tensor<8x8xf32>) -> tensor<8x8xf32>
    return %c : tensor<8x8xf32>
  }

  // Parts that are not equal are partial sums of the operands as they lie, the last of which ends early.
  // CHECK-LABEL: func.func @odd_sum
  // CHECK-SAME:    %[[A:.*]]: tensor<65537x128xbf16>, %[[B:.*]]: tensor<65537x128xbf16>, %[[INIT:.*]]: tensor<128x128xf32>
  // CHECK-NOT:     tensor.extract_slice
  // CHECK:         %[[SUMS:.*]] = linalg.generic {indexing_maps = [{{.*}}, {{.*}}, #[[RESULT:.*]]], {{.*}}} ins(%[[A]], %[[B]] : {{.*}}) outs(%{{.*}} : tensor<{{[0-9]+}}x128x128xf32>)
  // CHECK:         linalg.generic {{.*}} ins(%[[SUMS]] : {{.*}}) outs(%[[INIT]] :
  func.func @odd_sum(%a: tensor<65537x128xbf16>, %b: tensor<65537x128xbf16>, %init: tensor<128x128xf32>) -> tensor<128x128xf32> {
    %c = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (k, m)>, #b, #c] ins(%a, %b : tensor<65537x128xbf16>, tensor<65537x128xbf16>)
        outs(%init : tensor<128x128xf32>) -> tensor<128x128xf32>
    return %c : tensor<128x128xf32>
  }

  // TF32 across k, of a length without equal parts: the second factor is turned.
  // CHECK-LABEL: func.func @turned
  // CHECK:         linalg.generic {{.*}} ins(%arg0, %arg1 : {{.*}}) outs(%{{.*}} : tensor<{{[0-9]+}}x128x64xf32>) attrs = {plan.allow_tf32}
  func.func @turned(%a: tensor<59932x128xf32>, %b: tensor<59932x64xf32>, %init: tensor<128x64xf32>) -> tensor<128x64xf32> {
    %c = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (k, m)>, #b, #c] {plan.allow_tf32} ins(%a, %b : tensor<59932x128xf32>, tensor<59932x64xf32>)
        outs(%init : tensor<128x64xf32>) -> tensor<128x64xf32>
    return %c : tensor<128x64xf32>
  }

  // A cluster shares this sum.
  // CHECK-LABEL: func.func @cluster
  // CHECK-NOT:     tensor.expand_shape
  func.func @cluster(%a: tensor<256x8192xbf16>, %b: tensor<8192x256xbf16>, %init: tensor<256x256xf32>) -> tensor<256x256xf32> {
    %c = linalg.contract indexing_maps = [#a, #b, #c] ins(%a, %b : tensor<256x8192xbf16>, tensor<8192x256xbf16>)
        outs(%init : tensor<256x256xf32>) -> tensor<256x256xf32>
    return %c : tensor<256x256xf32>
  }
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#column = affine_map<(d0, d1) -> (d1)>

// What the sum reads, others use as well: the first step computes it itself, from what it is made of.
// CHECK-LABEL: func.func @shared_producer
// CHECK:         %[[X:.*]] = tensor.expand_shape %arg0
// CHECK:         linalg.generic {{.*}} iterator_types = ["parallel", "reduction", "parallel"]
// CHECK-SAME:      ins(%[[X]], %arg1 : tensor<128x32x64xf32>, tensor<64xf32>) outs(%{{.*}} : tensor<128x64xf32>)
// CHECK:           math.exp
builtin.module attributes {plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @shared_producer(%x: tensor<4096x64xf32>, %m: tensor<64xf32>) -> (tensor<4096x64xf32>, tensor<64xf32>) {
    %zero = arith.constant 0.0 : f32
    %empty = tensor.empty() : tensor<64xf32>
    %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<64xf32>) -> tensor<64xf32>
    %e = tensor.empty() : tensor<4096x64xf32>
    %exp = linalg.generic {indexing_maps = [#id, #column, #id], iterator_types = ["parallel", "parallel"]}
        ins(%x, %m : tensor<4096x64xf32>, tensor<64xf32>) outs(%e : tensor<4096x64xf32>) {
    ^bb0(%a: f32, %b: f32, %out: f32):
      %d = arith.subf %a, %b : f32
      %y = math.exp %d : f32
      linalg.yield %y : f32
    } -> tensor<4096x64xf32>
    %sum = linalg.generic {indexing_maps = [#id, #column], iterator_types = ["reduction", "parallel"]}
        ins(%exp : tensor<4096x64xf32>) outs(%init : tensor<64xf32>) {
    ^bb0(%in: f32, %acc: f32):
      %s = arith.addf %acc, %in : f32
      linalg.yield %s : f32
    } -> tensor<64xf32>
    return %exp, %sum : tensor<4096x64xf32>, tensor<64xf32>
  }
}

// -----

#whole = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#column = affine_map<(d0, d1) -> (d1)>
#first = affine_map<(d0) -> (d0)>
#none = affine_map<(d0) -> ()>

// Columns of which only a call knows how few they are: 32 parts, and what they leave over.
// CHECK-LABEL: func.func @narrow_columns
// CHECK:         tensor.expand_shape %{{.*}} output_shape [32, %{{.*}}, %[[N:.*]]] : tensor<?x?xf32> into tensor<32x?x?xf32>
// CHECK:         %[[PARTS:.*]] = linalg.generic
// CHECK-SAME:      outs(%{{.*}} : tensor<32x?xf32>)
// CHECK-SAME:      {plan.partial = #plan.partial<slices>}
// CHECK:         %[[REST:.*]] = linalg.generic
// CHECK-SAME:      {plan.partial = #plan.partial<rest>}
// CHECK:         linalg.generic
// CHECK-SAME:      ins(%[[PARTS]] : tensor<32x?xf32>)
// CHECK:         linalg.generic
// CHECK-SAME:      ins(%{{.*}}, %[[REST]] : tensor<?xf32>, tensor<?xf32>)
builtin.module attributes {plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @narrow_columns(%x: tensor<?x?xf32>, %empty: tensor<?xf32>) -> tensor<?xf32> {
    %zero = arith.constant 0.0 : f32
    %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?xf32>) -> tensor<?xf32>
    %sum = linalg.generic {indexing_maps = [#whole, #column], iterator_types = ["reduction", "parallel"]}
        ins(%x : tensor<?x?xf32>) outs(%start : tensor<?xf32>) {
    ^bb0(%in: f32, %acc: f32):
      %s = arith.addf %acc, %in : f32
      linalg.yield %s : f32
    } -> tensor<?xf32>
    return %sum : tensor<?xf32>
  }

  // One long row that is needed again is more than one block's work.
  // CHECK-LABEL: func.func @shared_out
  // CHECK:         tensor.expand_shape %{{.*}} : tensor<?xf32> into tensor<512x?xf32>
  // CHECK:         linalg.generic
  // CHECK-SAME:      iterator_types = ["parallel", "reduction"]
  func.func @shared_out(%x: tensor<?xf32>, %init: tensor<f32>, %empty: tensor<?xf32>) -> tensor<?xf32> {
    %zero = arith.constant 0.0 : f32
    %start = linalg.fill ins(%zero : f32) outs(%init : tensor<f32>) -> tensor<f32>
    %sum = linalg.generic {indexing_maps = [#first, #none], iterator_types = ["reduction"]}
        ins(%x : tensor<?xf32>) outs(%start : tensor<f32>) {
    ^bb0(%in: f32, %acc: f32):
      %s = arith.addf %acc, %in : f32
      linalg.yield %s : f32
    } -> tensor<f32>
    %share = linalg.generic {indexing_maps = [#first, #none, #first], iterator_types = ["parallel"]}
        ins(%x, %sum : tensor<?xf32>, tensor<f32>) outs(%empty : tensor<?xf32>) {
    ^bb0(%in: f32, %whole: f32, %out: f32):
      %d = arith.divf %in, %whole : f32
      linalg.yield %d : f32
    } -> tensor<?xf32>
    return %share : tensor<?xf32>
  }

  // A body that says what meets the accumulator: results of parts take the elements' place.
  // CHECK-LABEL: func.func @body
  // CHECK:         tensor.expand_shape %{{.*}} : tensor<1000000xf32> into tensor<{{.*}}xf32>
  // CHECK:         %[[PARTS:.*]] = linalg.generic
  // CHECK:           kernel.element 0
  // CHECK:         linalg.generic
  // CHECK-SAME:      ins(%[[PARTS]]
  // CHECK:         ^bb0(%[[PART:.*]]: f32, %[[ACC:.*]]: f32):
  // CHECK:           %[[E:.*]] = kernel.element 0, %[[PART]] : f32
  // CHECK-DAG:       arith.mulf %[[ACC]], %[[ACC]]
  // CHECK-DAG:       arith.mulf %[[E]], %[[E]]
  // CHECK-NOT:       arith.addf %[[PART]]
  func.func @body(%x: tensor<1000000xf32>, %init: tensor<f32>) -> tensor<f32> {
    %zero = arith.constant 0.0 : f32
    %start = linalg.fill ins(%zero : f32) outs(%init : tensor<f32>) -> tensor<f32>
    %norm = linalg.generic {indexing_maps = [#first, #none], iterator_types = ["reduction"]}
        ins(%x : tensor<1000000xf32>) outs(%start : tensor<f32>) {
    ^bb0(%in: f32, %acc: f32):
      %twice = arith.addf %in, %in : f32
      %e = kernel.element 0, %twice : f32
      %p = arith.mulf %acc, %acc : f32
      %q = arith.mulf %e, %e : f32
      %s = arith.addf %p, %q : f32
      %r = math.sqrt %s : f32
      linalg.yield %r : f32
    } -> tensor<f32>
    return %norm : tensor<f32>
  }
}

// -----

#x = affine_map<(kh, kw, i, o, b, h, w) -> (b, kh + h, kw + w, i)>
#dy = affine_map<(kh, kw, i, o, b, h, w) -> (b, h, w, o)>
#dw = affine_map<(kh, kw, i, o, b, h, w) -> (kh, kw, i, o)>

// The gradient to a filter without tensor cores: few tiles that each sum up over all images. The padding stays with the op that reads it.
// CHECK-DAG: #[[$X:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d4, d0 + d5 * 8 + d6, d1 + d7, d2)>
// CHECK-DAG: #[[$DY:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d4, d5, d6, d7, d3)>
// CHECK-DAG: #[[$DW:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d5, d0, d1, d2, d3)>
// CHECK-LABEL: func.func @filter_gradient
// CHECK:         %[[PADDED:.*]] = tensor.pad
// CHECK:         %[[DY:.*]] = tensor.expand_shape %arg1 {{.*}} output_shape [%{{.*}}, 7, 8, 56, 32]
// CHECK:         %[[PARTS:.*]] = linalg.generic {indexing_maps = [#[[$X]], #[[$DY]], #[[$DW]]]
// CHECK-SAME:      ins(%[[PADDED]], %[[DY]] : tensor<?x58x58x64xf32>, tensor<?x7x8x56x32xf32>) outs(%{{.*}} : tensor<7x3x3x64x32xf32>)
// CHECK:         linalg.generic
// CHECK-SAME:      ins(%[[PARTS]] : tensor<7x3x3x64x32xf32>) outs(%arg2 : tensor<3x3x64x32xf32>)
builtin.module attributes {plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @filter_gradient(%x: tensor<?x56x56x64xf32>, %dy: tensor<?x56x56x32xf32>, %init: tensor<3x3x64x32xf32>) -> tensor<3x3x64x32xf32> {
    %zero = arith.constant 0.0 : f32
    %padded = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
    ^bb0(%b: index, %h: index, %w: index, %i: index):
      tensor.yield %zero : f32
    } : tensor<?x56x56x64xf32> to tensor<?x58x58x64xf32>
    %dw = linalg.generic {indexing_maps = [#x, #dy, #dw], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
        ins(%padded, %dy : tensor<?x58x58x64xf32>, tensor<?x56x56x32xf32>) outs(%init : tensor<3x3x64x32xf32>) {
    ^bb0(%a: f32, %g: f32, %acc: f32):
      %m = arith.mulf %a, %g : f32
      %s = arith.addf %acc, %m : f32
      linalg.yield %s : f32
    } -> tensor<3x3x64x32xf32>
    return %dw : tensor<3x3x64x32xf32>
  }
}

// -----

// A product of matrices is none of columns, though their number is symbolic: its sums stay whole.
// CHECK-LABEL: func.func @open_product
// CHECK-NOT:     plan.partial
// CHECK:         linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%arg0, %arg1 :
// CHECK-NOT:     linalg.generic
#ox = affine_map<(n, f, p, c) -> (n, c, p)>
#ow = affine_map<(n, f, p, c) -> (f, c)>
#oy = affine_map<(n, f, p, c) -> (n, f, p)>
builtin.module attributes {plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @open_product(%x: tensor<?x64x?xbf16>, %w: tensor<128x64xbf16>, %init: tensor<?x128x?xf32>) -> tensor<?x128x?xf32> {
    %y = linalg.generic {indexing_maps = [#ox, #ow, #oy], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
        ins(%x, %w : tensor<?x64x?xbf16>, tensor<128x64xbf16>) outs(%init : tensor<?x128x?xf32>) {
    ^bb0(%a: bf16, %b: bf16, %acc: f32):
      %p = arith.extf %a : bf16 to f32
      %q = arith.extf %b : bf16 to f32
      %m = arith.mulf %p, %q : f32
      %s = arith.addf %acc, %m : f32
      linalg.yield %s : f32
    } -> tensor<?x128x?xf32>
    return %y : tensor<?x128x?xf32>
  }
}

// -----

// Columns of which there are enough are not split, but what they sum up is computed from what is in memory.
// CHECK-LABEL: func.func @wide_columns
// CHECK-SAME:    %[[X:.*]]: tensor<128x65536xf32>, %[[M:.*]]: tensor<128xf32>
// CHECK:         linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]
// CHECK-SAME:      ins(%[[X]], %[[M]] : tensor<128x65536xf32>, tensor<128xf32>) outs(%{{.*}} : tensor<65536xf32>)
#whole = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#across = affine_map<(d0, d1) -> (d1, d0)>
builtin.module attributes {plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @wide_columns(%x: tensor<128x65536xf32>, %m: tensor<128xf32>) -> (tensor<65536xf32>, tensor<128x65536xf32>) {
    %zero = arith.constant 0.0 : f32
    %space = tensor.empty() : tensor<128x65536xf32>
    %centred = linalg.generic {indexing_maps = [#whole, #row, #whole], iterator_types = ["parallel", "parallel"]}
        ins(%x, %m : tensor<128x65536xf32>, tensor<128xf32>) outs(%space : tensor<128x65536xf32>) {
    ^bb0(%a: f32, %b: f32, %out: f32):
      %c = arith.subf %a, %b : f32
      linalg.yield %c : f32
    } -> tensor<128x65536xf32>
    %empty = tensor.empty() : tensor<65536xf32>
    %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<65536xf32>) -> tensor<65536xf32>
    %sum = linalg.generic {indexing_maps = [#across, #row], iterator_types = ["parallel", "reduction"]}
        ins(%centred : tensor<128x65536xf32>) outs(%init : tensor<65536xf32>) {
    ^bb0(%a: f32, %acc: f32):
      %s = arith.addf %a, %acc : f32
      linalg.yield %s : f32
    } -> tensor<65536xf32>
    return %sum, %centred : tensor<65536xf32>, tensor<128x65536xf32>
  }
}

// -----

// Rows that are counted by several loops, of symbolic numbers: one loop counts them in every op that works on them, and
// another sum over the same rows has the same parts.
// CHECK-DAG:   #[[$TURN:.*]] = affine_map<(d0, d1) -> (d0 mod 264, d1)>
// CHECK-LABEL: func.func @rows_of_batches
// CHECK-SAME:    %[[X:[^ ]*]]: tensor<?x?x96xf32>
// CHECK:         %[[FLAT:.*]] = tensor.collapse_shape %[[X]] {{\[\[}}0, 1], [2]]
// CHECK:         %[[SUM:.*]] = linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]
// CHECK-SAME:      ins(%[[FLAT]] : tensor<?x96xf32>) outs(%{{.*}} : tensor<?xf32>)
// CHECK:         %[[SCALED:.*]] = linalg.generic {{.*}} iterator_types = ["parallel", "parallel"]
// CHECK-SAME:      ins(%[[FLAT]], %[[SUM]] : tensor<?x96xf32>, tensor<?xf32>)
// CHECK:         tensor.expand_shape %[[SCALED]] {{\[\[}}0, 1], [2]]
// CHECK:         linalg.generic {{.*}} #[[$TURN]]], iterator_types = ["reduction", "parallel"]
// CHECK-SAME:      ins(%[[FLAT]], %[[SUM]] : tensor<?x96xf32>, tensor<?xf32>) outs(%{{.*}} : tensor<264x96xf32>)
// CHECK:         linalg.generic {{.*}} #[[$TURN]]], iterator_types = ["reduction", "parallel"]
// CHECK-SAME:      ins(%[[FLAT]] : tensor<?x96xf32>) outs(%{{.*}} : tensor<264x96xf32>)
#whole = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#row = affine_map<(d0, d1, d2) -> (d0, d1)>
#column = affine_map<(d0, d1, d2) -> (d2)>
builtin.module attributes {plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @rows_of_batches(%x: tensor<?x?x96xf32>, %e0: tensor<?x?xf32>, %e1: tensor<?x?x96xf32>) -> (tensor<?x?x96xf32>, tensor<96xf32>, tensor<96xf32>) {
    %zero = arith.constant 0.0 : f32
    %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<?x?xf32>) -> tensor<?x?xf32>
    %sum = linalg.generic {indexing_maps = [#whole, #row], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x : tensor<?x?x96xf32>) outs(%f0 : tensor<?x?xf32>) {
    ^bb0(%a: f32, %acc: f32):
      %s = arith.addf %a, %acc : f32
      linalg.yield %s : f32
    } -> tensor<?x?xf32>
    %scaled = linalg.generic {indexing_maps = [#whole, #row, #whole], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%x, %sum : tensor<?x?x96xf32>, tensor<?x?xf32>) outs(%e1 : tensor<?x?x96xf32>) {
    ^bb0(%a: f32, %r: f32, %out: f32):
      %p = arith.mulf %a, %r : f32
      linalg.yield %p : f32
    } -> tensor<?x?x96xf32>
    %e2 = tensor.empty() : tensor<96xf32>
    %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<96xf32>) -> tensor<96xf32>
    %products = linalg.generic {indexing_maps = [#whole, #row, #column], iterator_types = ["reduction", "reduction", "parallel"]}
        ins(%x, %sum : tensor<?x?x96xf32>, tensor<?x?xf32>) outs(%f2 : tensor<96xf32>) {
    ^bb0(%a: f32, %r: f32, %acc: f32):
      %p = arith.mulf %a, %r : f32
      %s = arith.addf %p, %acc : f32
      linalg.yield %s : f32
    } -> tensor<96xf32>
    %plain = linalg.generic {indexing_maps = [#whole, #column], iterator_types = ["reduction", "reduction", "parallel"]}
        ins(%x : tensor<?x?x96xf32>) outs(%f2 : tensor<96xf32>) {
    ^bb0(%a: f32, %acc: f32):
      %s = arith.addf %a, %acc : f32
      linalg.yield %s : f32
    } -> tensor<96xf32>
    return %scaled, %products, %plain : tensor<?x?x96xf32>, tensor<96xf32>, tensor<96xf32>
  }
}

// -----

#whole = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#none = affine_map<(d0, d1) -> ()>
builtin.module attributes {plan.target = #plan.target<"cuda", "sm_90a">} {
  // Eight equal parts would be eight blocks: rather many, with a rest.
  // CHECK-LABEL: func.func @uneven_parts
  // CHECK:         tensor.extract_slice
  // CHECK:         tensor.expand_shape %{{.*}} into tensor<{{[789][0-9][0-9]|10[0-9][0-9]}}x{{.*}}xf32>
  func.func @uneven_parts(%x: tensor<100003x64xf32>, %init: tensor<f32>) -> tensor<f32> {
    %zero = arith.constant 0.0 : f32
    %start = linalg.fill ins(%zero : f32) outs(%init : tensor<f32>) -> tensor<f32>
    %sum = linalg.generic {indexing_maps = [#whole, #none], iterator_types = ["reduction", "reduction"]}
        ins(%x : tensor<100003x64xf32>) outs(%start : tensor<f32>) {
    ^bb0(%in: f32, %acc: f32):
      %s = arith.addf %acc, %in : f32
      linalg.yield %s : f32
    } -> tensor<f32>
    return %sum : tensor<f32>
  }

  // The second reduction of a row needs it again after the first one: a cluster holds it for both.
  // CHECK-LABEL: func.func @twice_reduced
  // CHECK-NOT:     tensor.expand_shape
  // CHECK:         return
  func.func @twice_reduced(%x: tensor<2x200000xf32>, %init: tensor<2xf32>) -> tensor<2xf32> {
    %zero = arith.constant 0.0 : f32
    %low = arith.constant 0xFF800000 : f32
    %least = linalg.fill ins(%low : f32) outs(%init : tensor<2xf32>) -> tensor<2xf32>
    %start = linalg.fill ins(%zero : f32) outs(%init : tensor<2xf32>) -> tensor<2xf32>
    %max = linalg.generic {indexing_maps = [#whole, #row], iterator_types = ["parallel", "reduction"]}
        ins(%x : tensor<2x200000xf32>) outs(%least : tensor<2xf32>) {
    ^bb0(%in: f32, %acc: f32):
      %m = arith.maximumf %acc, %in : f32
      linalg.yield %m : f32
    } -> tensor<2xf32>
    %sum = linalg.generic {indexing_maps = [#whole, #row, #row], iterator_types = ["parallel", "reduction"]}
        ins(%x, %max : tensor<2x200000xf32>, tensor<2xf32>) outs(%start : tensor<2xf32>) {
    ^bb0(%in: f32, %m: f32, %acc: f32):
      %d = arith.subf %in, %m : f32
      %e = math.exp %d : f32
      %s = arith.addf %acc, %e : f32
      linalg.yield %s : f32
    } -> tensor<2xf32>
    return %sum : tensor<2xf32>
  }
}

// -----

builtin.module @plain attributes {plan.target = #plan.target<"cuda", "sm_90a">} {
  // Plain arithmetic: parts where tiles are few, as many as the model of their time says.
  // CHECK-LABEL: func.func @few_tiles
  // CHECK:         tensor.expand_shape %arg0 {{.*}} into tensor<128x[[PARTS:[0-9]+]]x{{[0-9]+}}xf32>
  // CHECK:         linalg.contract {{.*}} outs(%{{.*}} : tensor<[[PARTS]]x128x128xf32>)
  // CHECK:         linalg.generic
  // CHECK-SAME:      iterator_types = ["reduction", "parallel", "parallel"]
  func.func @few_tiles(%a: tensor<128x8192xf32>, %b: tensor<8192x128xf32>, %init: tensor<128x128xf32>) -> tensor<128x128xf32> {
    %c = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%a, %b : tensor<128x8192xf32>, tensor<8192x128xf32>) outs(%init : tensor<128x128xf32>) -> tensor<128x128xf32>
    return %c : tensor<128x128xf32>
  }

  // Enough tiles.
  // CHECK-LABEL: func.func @many_tiles
  // CHECK-NOT:     tensor.expand_shape
  func.func @many_tiles(%a: tensor<4096x1024xf32>, %b: tensor<1024x4096xf32>, %init: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
    %c = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%a, %b : tensor<4096x1024xf32>, tensor<1024x4096xf32>) outs(%init : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
    return %c : tensor<4096x4096xf32>
  }

  // Tensor cores take this one: clusters share its sums.
  // CHECK-LABEL: func.func @tf32
  // CHECK-NOT:     tensor.expand_shape
  func.func @tf32(%a: tensor<1024x1024xf32>, %b: tensor<1024x1024xf32>, %init: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
    %c = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] {plan.allow_tf32}
      ins(%a, %b : tensor<1024x1024xf32>, tensor<1024x1024xf32>) outs(%init : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
    return %c : tensor<1024x1024xf32>
  }
}

// -----

#whole = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#kept = affine_map<(d0, d1, d2) -> (d0, d2)>

// Short columns that are needed again need no parts where they are many: a kernel holds them. What its ops have in common
// they compute of bf16 each, the last one, of the whole space, too.
// CHECK-LABEL: func.func @held_columns
// CHECK-SAME:    %[[X:.*]]: tensor<64x512x256xbf16>
// CHECK-NOT:     tensor.expand_shape
// CHECK:         %[[MAX:.*]] = linalg.generic {{.*}} ins(%[[X]] : tensor<64x512x256xbf16>)
// CHECK:         linalg.generic {{.*}} ins(%[[X]], %[[MAX]] : tensor<64x512x256xbf16>, tensor<64x256xf32>)
// CHECK-NOT:     linalg.generic
builtin.module attributes {plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @held_columns(%x: tensor<64x512x256xbf16>) -> tensor<64x512x256xf32> {
    %low = arith.constant 0xFF800000 : f32
    %e = tensor.empty() : tensor<64x512x256xf32>
    %k = tensor.empty() : tensor<64x256xf32>
    %init = linalg.fill ins(%low : f32) outs(%k : tensor<64x256xf32>) -> tensor<64x256xf32>
    %wide = linalg.generic {indexing_maps = [#whole, #whole], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%x : tensor<64x512x256xbf16>) outs(%e : tensor<64x512x256xf32>) {
    ^bb0(%in: bf16, %out: f32):
      %s = arith.extf %in : bf16 to f32
      linalg.yield %s : f32
    } -> tensor<64x512x256xf32>
    %max = linalg.generic {indexing_maps = [#whole, #kept], iterator_types = ["parallel", "reduction", "parallel"]}
        ins(%wide : tensor<64x512x256xf32>) outs(%init : tensor<64x256xf32>) {
    ^bb0(%in: f32, %acc: f32):
      %s = arith.maximumf %acc, %in : f32
      linalg.yield %s : f32
    } -> tensor<64x256xf32>
    %off = linalg.generic {indexing_maps = [#whole, #kept, #whole], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%wide, %max : tensor<64x512x256xf32>, tensor<64x256xf32>) outs(%e : tensor<64x512x256xf32>) {
    ^bb0(%in: f32, %m: f32, %out: f32):
      %s = arith.subf %in, %m : f32
      linalg.yield %s : f32
    } -> tensor<64x512x256xf32>
    return %off : tensor<64x512x256xf32>
  }
}

// -----

#whole = affine_map<(d0, d1) -> (d0, d1)>
#third = affine_map<(d0, d1) -> (d1, d0 * 3)>
#row = affine_map<(d0, d1) -> (d0)>

// What others use as well and is read with a stride is read from memory: loops that are split index each dim alone.
// CHECK-LABEL: func.func @strided
// CHECK-SAME:    %[[X:.*]]: tensor<?x15xf32>
// CHECK:         %[[PICKED:.*]] = linalg.generic
// CHECK-SAME:      iterator_types = ["parallel", "parallel"]
// CHECK-SAME:      ins(%[[X]] : tensor<?x15xf32>)
// CHECK:         %[[COVERED:.*]] = tensor.extract_slice %[[PICKED]][0, 0] [5, %{{.*}}] [1, 1]
// CHECK:         %[[PARTS:.*]] = tensor.expand_shape %[[COVERED]] {{\[\[}}0], [1, 2]] output_shape [5, 102, %{{.*}}]
// CHECK:         linalg.generic
// CHECK-SAME:      ins(%[[PARTS]] : tensor<5x102x?xf32>) outs(%{{.*}} : tensor<5x102xf32>)
// CHECK:         return %{{.*}}, %[[PICKED]]
builtin.module attributes {plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @strided(%x: tensor<?x15xf32>) -> (tensor<5xf32>, tensor<5x?xf32>) {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %n = tensor.dim %x, %c0 : tensor<?x15xf32>
    %e0 = tensor.empty(%n) : tensor<5x?xf32>
    %picked = linalg.generic {indexing_maps = [#third, #whole], iterator_types = ["parallel", "parallel"]}
        ins(%x : tensor<?x15xf32>) outs(%e0 : tensor<5x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<5x?xf32>
    %e1 = tensor.empty() : tensor<5xf32>
    %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<5xf32>) -> tensor<5xf32>
    %sum = linalg.generic {indexing_maps = [#whole, #row], iterator_types = ["parallel", "reduction"]}
        ins(%picked : tensor<5x?xf32>) outs(%f1 : tensor<5xf32>) {
    ^bb0(%in: f32, %acc: f32):
      %s = arith.addf %acc, %in : f32
      linalg.yield %s : f32
    } -> tensor<5xf32>
    return %sum, %picked : tensor<5xf32>, tensor<5x?xf32>
  }
}

// -----

#x = affine_map<(d0, d1, d2) -> (d2, d1)>
#g = affine_map<(d0, d1, d2) -> (d2, d0)>
#dw = affine_map<(d0, d1, d2) -> (d0, d1)>
#row = affine_map<(d0, d1, d2) -> (d0, d2)>
#w = affine_map<(d0, d1, d2) -> (d2, d1)>

// Both gradients of a layer: one product sums up over the rows that the other one reduces, and is a product all the same.
// CHECK-LABEL: func.func @gradients_of_layer(
// CHECK-NOT:     cyclic
// CHECK:         linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<2048x256xbf16>, tensor<2048x128xbf16>) outs(%{{.*}} : tensor<128x256xf32>)
// CHECK-NOT:     cyclic
// CHECK:         return
builtin.module attributes {plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @gradients_of_layer(%x: tensor<2048x256xbf16>, %d: tensor<2048x128xf32>, %w: tensor<128x256xbf16>)
      -> (tensor<128x256xf32>, tensor<2048x256xf32>) {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<2048x128xbf16>
    %g = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
        ins(%d : tensor<2048x128xf32>) outs(%e : tensor<2048x128xbf16>) {
    ^bb0(%in: f32, %out: bf16):
      %r = arith.truncf %in : f32 to bf16
      linalg.yield %r : bf16
    } -> tensor<2048x128xbf16>
    %a = tensor.empty() : tensor<128x256xf32>
    %af = linalg.fill ins(%zero : f32) outs(%a : tensor<128x256xf32>) -> tensor<128x256xf32>
    %dw = linalg.generic {indexing_maps = [#x, #g, #dw], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x, %g : tensor<2048x256xbf16>, tensor<2048x128xbf16>) outs(%af : tensor<128x256xf32>) {
    ^bb0(%in: bf16, %in2: bf16, %out: f32):
      %p = arith.extf %in : bf16 to f32
      %q = arith.extf %in2 : bf16 to f32
      %m = arith.mulf %p, %q : f32
      %r = arith.addf %out, %m : f32
      linalg.yield %r : f32
    } -> tensor<128x256xf32>
    %b = tensor.empty() : tensor<2048x256xf32>
    %bf = linalg.fill ins(%zero : f32) outs(%b : tensor<2048x256xf32>) -> tensor<2048x256xf32>
    %dx = linalg.generic {indexing_maps = [#row, #w, #dw], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%g, %w : tensor<2048x128xbf16>, tensor<128x256xbf16>) outs(%bf : tensor<2048x256xf32>) {
    ^bb0(%in: bf16, %in2: bf16, %out: f32):
      %p = arith.extf %in : bf16 to f32
      %q = arith.extf %in2 : bf16 to f32
      %m = arith.mulf %p, %q : f32
      %r = arith.addf %out, %m : f32
      linalg.yield %r : f32
    } -> tensor<2048x256xf32>
    return %dw, %dx : tensor<128x256xf32>, tensor<2048x256xf32>
  }
}

// -----

// Sums of a convolution in parts may be rounded to TF32 as the whole may.
// CHECK-LABEL: func.func @window
// CHECK:         linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<1x10x10x[[PARTS:[0-9]+]]x{{[0-9]+}}xf32>, tensor<64x3x3x[[PARTS]]x{{[0-9]+}}xf32>) outs(%{{.*}} : tensor<[[PARTS]]x1x8x8x64xf32>) attrs = {plan.allow_tf32}
#windowImage = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1 + d4, d2 + d5, d6)>
#windowFilter = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d3, d4, d5, d6)>
#windowResult = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d2, d3)>
builtin.module attributes {plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @window(%x: tensor<1x10x10x512xf32>, %w: tensor<64x3x3x512xf32>, %init: tensor<1x8x8x64xf32>) -> tensor<1x8x8x64xf32> {
    %y = linalg.generic {indexing_maps = [#windowImage, #windowFilter, #windowResult],
                         iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
        ins(%x, %w : tensor<1x10x10x512xf32>, tensor<64x3x3x512xf32>) outs(%init : tensor<1x8x8x64xf32>) attrs = {plan.allow_tf32} {
    ^bb0(%left: f32, %right: f32, %acc: f32):
      %p = arith.mulf %left, %right : f32
      %s = arith.addf %acc, %p : f32
      linalg.yield %s : f32
    } -> tensor<1x8x8x64xf32>
    return %y : tensor<1x8x8x64xf32>
  }
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#column = affine_map<(d0, d1) -> (d1)>

// Rows of symbolic number go to parts in turn, which leaves none over. Where a row is less than a line of memory, parts
// are neighbours.
// CHECK: #[[TURN:.*]] = affine_map<(d0, d1) -> (d0 mod 128, d1)>
// CHECK-LABEL: func.func @open_columns
// CHECK-NOT:     tensor.extract_slice
// CHECK:         %[[PARTS:.*]] = linalg.generic {indexing_maps = [#{{.*}}, #[[TURN]]], {{.*}}} ins(%arg0 : tensor<?x256xbf16>) outs(%{{.*}} : tensor<128x256xf32>) attrs = {plan.partial = #plan.partial<cyclic, 128>}
// CHECK:         linalg.generic {{.*}} ins(%[[PARTS]] : tensor<128x256xf32>) outs(%{{.*}} : tensor<256xf32>)
// CHECK-NOT:     linalg.generic
// CHECK-LABEL: func.func @narrow_rows
// CHECK:         linalg.generic {{.*}} outs(%{{.*}} : tensor<128x16xf32>) attrs = {plan.partial = #plan.partial<slices>}
// CHECK:         linalg.generic {{.*}} outs(%{{.*}} : tensor<16xf32>) attrs = {plan.partial = #plan.partial<rest>}
builtin.module attributes {plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @open_columns(%x: tensor<?x256xbf16>, %init: tensor<256xf32>) -> tensor<256xf32> {
    %zero = arith.constant 0.0 : f32
    %start = linalg.fill ins(%zero : f32) outs(%init : tensor<256xf32>) -> tensor<256xf32>
    %sum = linalg.generic {indexing_maps = [#id, #column], iterator_types = ["reduction", "parallel"]} ins(%x : tensor<?x256xbf16>) outs(%start : tensor<256xf32>) {
    ^bb0(%in: bf16, %out: f32):
      %wide = arith.extf %in : bf16 to f32
      %s = arith.addf %out, %wide : f32
      linalg.yield %s : f32
    } -> tensor<256xf32>
    return %sum : tensor<256xf32>
  }
  func.func @narrow_rows(%x: tensor<?x16xf32>, %init: tensor<16xf32>) -> tensor<16xf32> {
    %zero = arith.constant 0.0 : f32
    %start = linalg.fill ins(%zero : f32) outs(%init : tensor<16xf32>) -> tensor<16xf32>
    %sum = linalg.generic {indexing_maps = [#id, #column], iterator_types = ["reduction", "parallel"]} ins(%x : tensor<?x16xf32>) outs(%start : tensor<16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %s = arith.addf %out, %in : f32
      linalg.yield %s : f32
    } -> tensor<16xf32>
    return %sum : tensor<16xf32>
  }
}

// -----

#whole = affine_map<(d0, d1) -> (d0, d1)>
#column = affine_map<(d0, d1) -> (d1)>

// A column reduction computes by itself what others read as well; what one op reads from the start stays where it is.
// CHECK-LABEL: func.func @rounded_apart
// CHECK:         %[[R:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<128x65536xbf16>)
// CHECK-NEXT:    ^bb0
// CHECK-NEXT:      arith.truncf
// CHECK-NEXT:      linalg.yield
// CHECK:         linalg.generic {{.*}} ins(%[[R]], %{{.*}} : tensor<128x65536xbf16>, tensor<128x65536xbf16>)
builtin.module attributes {plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @rounded_apart(%x: tensor<128x65536xf32>, %y: tensor<128x65536xbf16>, %init: tensor<65536xf32>) -> (tensor<65536xf32>, tensor<128x65536xbf16>) {
    %empty = tensor.empty() : tensor<128x65536xbf16>
    %r = linalg.generic {indexing_maps = [#whole, #whole], iterator_types = ["parallel", "parallel"]}
        ins(%x : tensor<128x65536xf32>) outs(%empty : tensor<128x65536xbf16>) {
    ^bb0(%in: f32, %out: bf16):
      %t = arith.truncf %in : f32 to bf16
      linalg.yield %t : bf16
    } -> tensor<128x65536xbf16>
    %s = linalg.generic {indexing_maps = [#whole, #whole, #whole], iterator_types = ["parallel", "parallel"]}
        ins(%r, %y : tensor<128x65536xbf16>, tensor<128x65536xbf16>) outs(%empty : tensor<128x65536xbf16>) {
    ^bb0(%in: bf16, %other: bf16, %out: bf16):
      %a = arith.addf %in, %other : bf16
      linalg.yield %a : bf16
    } -> tensor<128x65536xbf16>
    %sum = linalg.generic {indexing_maps = [#whole, #column], iterator_types = ["reduction", "parallel"]}
        ins(%s : tensor<128x65536xbf16>) outs(%init : tensor<65536xf32>) {
    ^bb0(%in: bf16, %acc: f32):
      %w = arith.extf %in : bf16 to f32
      %a = arith.addf %acc, %w : f32
      linalg.yield %a : f32
    } -> tensor<65536xf32>
    return %sum, %s : tensor<65536xf32>, tensor<128x65536xbf16>
  }
}
