// RUN: xc-opt %s -xc-hoist-parameters -split-input-file | FileCheck %s

#row = affine_map<(i) -> (i)>
#all = affine_map<(i, j) -> (i, j)>
#last = affine_map<(i, j) -> (j)>
#swap = affine_map<(i, j) -> (j, i)>

// What is computed of parameters leaves, up to what takes more memory than they do: the broadcast stays.
// CHECK-LABEL: func.func @norm(
// CHECK-DAG:     %[[SCALE:.*]] = plan.packed 0 : tensor<64xf32>
// CHECK-NOT:     array.parameter
// CHECK:         %[[WIDE:.*]] = linalg.generic {{.*}} ins(%[[SCALE]] : tensor<64xf32>) outs(%{{.*}} : tensor<8x64xf32>)
// CHECK-NOT:     math.rsqrt
// CHECK:         linalg.generic {{.*}} ins(%{{.*}}, %[[WIDE]] : tensor<8x64xf32>, tensor<8x64xf32>)
// CHECK:         return
func.func @norm(%x: tensor<8x64xf32>) -> tensor<8x64xf32> {
  %g = array.parameter "m"::"scale" : tensor<64xf32>
  %v = array.parameter "m"::"variance" : tensor<64xf32>
  %e = tensor.empty() : tensor<64xf32>
  %s = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]} ins(%v : tensor<64xf32>) outs(%e : tensor<64xf32>) {
  ^bb0(%in: f32, %out: f32):
    %r = math.rsqrt %in : f32
    linalg.yield %r : f32
  } -> tensor<64xf32>
  %p = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]} ins(%g, %s : tensor<64xf32>, tensor<64xf32>) outs(%e : tensor<64xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %r = arith.mulf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<64xf32>
  %f = tensor.empty() : tensor<8x64xf32>
  %w = linalg.generic {indexing_maps = [#last, #all], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<64xf32>) outs(%f : tensor<8x64xf32>) {
  ^bb0(%a: f32, %out: f32):
    linalg.yield %a : f32
  } -> tensor<8x64xf32>
  %y = linalg.generic {indexing_maps = [#all, #all, #all], iterator_types = ["parallel", "parallel"]} ins(%x, %w : tensor<8x64xf32>, tensor<8x64xf32>) outs(%f : tensor<8x64xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %r = arith.mulf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<8x64xf32>
  return %y : tensor<8x64xf32>
}

// Another function that needs the same gets the same result; a transposed weight is one as well.
// CHECK-LABEL: func.func @shares(
// CHECK-DAG:     plan.packed 0 : tensor<64xf32>
// CHECK-DAG:     plan.packed 1 : tensor<16x64xf32>
func.func @shares() -> (tensor<64xf32>, tensor<16x64xf32>) {
  %g = array.parameter "m"::"scale" : tensor<64xf32>
  %v = array.parameter "m"::"variance" : tensor<64xf32>
  %m = array.parameter "m"::"matrix" : tensor<64x16xf32>
  %e = tensor.empty() : tensor<64xf32>
  %s = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]} ins(%v : tensor<64xf32>) outs(%e : tensor<64xf32>) {
  ^bb0(%in: f32, %out: f32):
    %r = math.rsqrt %in : f32
    linalg.yield %r : f32
  } -> tensor<64xf32>
  %p = linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]} ins(%g, %s : tensor<64xf32>, tensor<64xf32>) outs(%e : tensor<64xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %r = arith.mulf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<64xf32>
  %f = tensor.empty() : tensor<16x64xf32>
  %t = linalg.generic {indexing_maps = [#swap, #all], iterator_types = ["parallel", "parallel"]} ins(%m : tensor<64x16xf32>) outs(%f : tensor<16x64xf32>) {
  ^bb0(%a: f32, %out: f32):
    linalg.yield %a : f32
  } -> tensor<16x64xf32>
  return %p, %t : tensor<64xf32>, tensor<16x64xf32>
}

// CHECK-LABEL: func.func private @init() -> (tensor<64xf32>, tensor<16x64xf32>)
// CHECK-SAME:    plan.hoisted = ["tensor<64xf32> of scale, variance", "tensor<16x64xf32> of matrix"], plan.init
// CHECK:         array.parameter "m"::"scale"
// CHECK:         math.rsqrt
// CHECK-NOT:     math.rsqrt
// CHECK:         return %{{.*}}, %{{.*}} : tensor<64xf32>, tensor<16x64xf32>

// -----

#row = affine_map<(i) -> (i)>

// Variables change; views cost nothing where they are; what no parameter goes into stays, as does what a wider type takes.
// CHECK-LABEL: func.func @stays(
// CHECK-NOT:     plan.packed
// CHECK:         array.variable.read
// CHECK:         math.exp
// CHECK-NOT:     plan.init
array.variable @v : tensor<64xf32>
func.func @stays() -> (tensor<64xf32>, tensor<8x8xf32>, tensor<4xf32>, tensor<64xf32>) {
  %v = array.variable.read @v : tensor<64xf32>
  %e = tensor.empty() : tensor<64xf32>
  %s = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]} ins(%v : tensor<64xf32>) outs(%e : tensor<64xf32>) {
  ^bb0(%in: f32, %out: f32):
    %r = math.exp %in : f32
    linalg.yield %r : f32
  } -> tensor<64xf32>
  %w = array.parameter "m"::"w" : tensor<64xf32>
  %view = tensor.expand_shape %w [[0, 1]] output_shape [8, 8] : tensor<64xf32> into tensor<8x8xf32>
  %f = tensor.empty() : tensor<4xf32>
  %n = linalg.generic {indexing_maps = [#row], iterator_types = ["parallel"]} outs(%f : tensor<4xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %j = arith.index_cast %i : index to i32
    %r = arith.sitofp %j : i32 to f32
    linalg.yield %r : f32
  } -> tensor<4xf32>
  %h = array.parameter "m"::"h" : tensor<64xbf16>
  %c = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]} ins(%h : tensor<64xbf16>) outs(%e : tensor<64xf32>) {
  ^bb0(%in: bf16, %out: f32):
    %r = arith.extf %in : bf16 to f32
    linalg.yield %r : f32
  } -> tensor<64xf32>
  return %s, %view, %n, %c : tensor<64xf32>, tensor<8x8xf32>, tensor<4xf32>, tensor<64xf32>
}

// -----

// A second run adds what has come since, and drops what nothing reads any more. Rows that are padded for the copy engine may take
// more memory than before; the slice that cuts the padding off again stays.
// CHECK-LABEL: func.func @again(
// CHECK:         %[[P:.*]] = plan.packed 0 : tensor<16x8xbf16>
// CHECK:         %[[S:.*]] = tensor.extract_slice %[[P]][0, 0] [16, 5] [1, 1]
// CHECK:         return %[[S]]
func.func @again() -> tensor<16x5xbf16> {
  %zero = arith.constant 0.0 : bf16
  %t = plan.packed 1 : tensor<16x5xbf16>
  %p = tensor.pad %t low[0, 0] high[0, 3] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : bf16
  } : tensor<16x5xbf16> to tensor<16x8xbf16>
  %s = tensor.extract_slice %p[0, 0] [16, 5] [1, 1] : tensor<16x8xbf16> to tensor<16x5xbf16>
  return %s : tensor<16x5xbf16>
}

// CHECK:       func.func private @init() -> tensor<16x8xbf16>
// CHECK:         array.parameter "m"::"b"
// CHECK-NOT:     array.parameter
// CHECK:         tensor.pad
func.func private @init() -> (tensor<16x5xbf16>, tensor<16x5xbf16>) attributes {plan.init} {
  %a = array.parameter "m"::"a" : tensor<16x5xbf16>
  %b = array.parameter "m"::"b" : tensor<16x5xbf16>
  return %a, %b : tensor<16x5xbf16>, tensor<16x5xbf16>
}

// -----

#row = affine_map<(i) -> (i)>

// The program may have a function of that name.
// CHECK-LABEL: func.func @init(
// CHECK:         plan.packed 0
// CHECK:       func.func private @init_0() -> tensor<64xf32>
func.func @init() -> tensor<64xf32> {
  %v = array.parameter "m"::"v" : tensor<64xf32>
  %e = tensor.empty() : tensor<64xf32>
  %s = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]} ins(%v : tensor<64xf32>) outs(%e : tensor<64xf32>) {
  ^bb0(%in: f32, %out: f32):
    %r = math.exp %in : f32
    linalg.yield %r : f32
  } -> tensor<64xf32>
  return %s : tensor<64xf32>
}

// -----

#own = affine_map<(i, j) -> (i)>
#all = affine_map<(i, j) -> (i, j)>

// A filter with zeros between its elements takes more than the parameter, and is small.
// CHECK-LABEL: func.func @spread(
// CHECK:         plan.packed 0 : tensor<64x64xbf16>
// CHECK-NEXT:    return
func.func @spread() -> tensor<64x64xbf16> {
  %v = array.parameter "m"::"v" : tensor<64xbf16>
  %zero = arith.constant 0.0 : bf16
  %e = tensor.empty() : tensor<64x64xbf16>
  %s = linalg.generic {indexing_maps = [#own, #all], iterator_types = ["parallel", "parallel"]} ins(%v : tensor<64xbf16>) outs(%e : tensor<64x64xbf16>) {
  ^bb0(%in: bf16, %out: bf16):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %same = arith.cmpi eq, %i, %j : index
    %r = arith.select %same, %in, %zero : bf16
    linalg.yield %r : bf16
  } -> tensor<64x64xbf16>
  return %s : tensor<64x64xbf16>
}
