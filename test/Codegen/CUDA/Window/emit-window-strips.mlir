// RUN: xc-opt %s -xc-cuda-emit-window-strips -split-input-file -verify-diagnostics | FileCheck %s

// Two positions under a window of three read four elements, each once, and padding is selected.
// CHECK-LABEL: func.func @strips
// CHECK-COUNT-4: vector.load %{{.*}} : memref<768xf32>, vector<4xf32>
// CHECK-COUNT-6: math.fma %{{.*}} : vector<4xf32>
// CHECK-COUNT-2: vector.store
// CHECK-NOT:     vector.store
builtin.module attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @strips() attributes {lowering_config = #cuda.window_strips<threads = 128, vector = 4, strip = 2, rows = 1>, cuda.index_bits = 32 : i32} {
    %x = plan.binding 0 read align 16 : memref<4x12x16xf32>
    %w = plan.binding 1 read align 16 : memref<3x16xf32>
    %y = plan.binding 2 write align 16 : memref<4x12x16xf32>
    %xt = bufferization.to_tensor %x restrict : memref<4x12x16xf32> to tensor<4x12x16xf32>
    %wt = bufferization.to_tensor %w restrict : memref<3x16xf32> to tensor<3x16xf32>
    %zero = arith.constant 0.0 : f32
    %padded = tensor.pad %xt low[0, 1, 0] high[0, 1, 0] {
    ^bb0(%i: index, %j: index, %k: index):
      tensor.yield %zero : f32
    } : tensor<4x12x16xf32> to tensor<4x14x16xf32>
    %e = tensor.empty() : tensor<4x12x16xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x12x16xf32>) -> tensor<4x12x16xf32>
    %r = linalg.generic {
      indexing_maps = [affine_map<(n, q, c, s) -> (n, q + s, c)>, affine_map<(n, q, c, s) -> (s, c)>, affine_map<(n, q, c, s) -> (n, q, c)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%padded, %wt : tensor<4x14x16xf32>, tensor<3x16xf32>) outs(%f : tensor<4x12x16xf32>) {
    ^bb0(%a: f32, %b: f32, %acc: f32):
      %p = arith.mulf %a, %b : f32
      %s = arith.addf %acc, %p : f32
      linalg.yield %s : f32
    } -> tensor<4x12x16xf32>
    bufferization.materialize_in_destination %r in restrict writable %y : (tensor<4x12x16xf32>, memref<4x12x16xf32>) -> ()
    return
  }
}

// -----

// Two rows of positions are under four rows of the image, of four elements each; the 9 factors are loaded once.
// CHECK-LABEL: func.func @shared_rows
// CHECK-NOT:     scf.for
// CHECK-COUNT-25: vector.load
// CHECK-NOT:     vector.load
// CHECK:         return
builtin.module attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @shared_rows() attributes {lowering_config = #cuda.window_strips<threads = 128, vector = 4, strip = 2, rows = 2>, cuda.index_bits = 32 : i32} {
    %x = plan.binding 0 read align 16 : memref<14x14x16xf32>
    %w = plan.binding 1 read align 16 : memref<3x3x16xf32>
    %y = plan.binding 2 write align 16 : memref<12x12x16xf32>
    %xt = bufferization.to_tensor %x restrict : memref<14x14x16xf32> to tensor<14x14x16xf32>
    %wt = bufferization.to_tensor %w restrict : memref<3x3x16xf32> to tensor<3x3x16xf32>
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<12x12x16xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<12x12x16xf32>) -> tensor<12x12x16xf32>
    %r = linalg.generic {
      indexing_maps = [affine_map<(p, q, c, r, s) -> (p + r, q + s, c)>, affine_map<(p, q, c, r, s) -> (r, s, c)>, affine_map<(p, q, c, r, s) -> (p, q, c)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%xt, %wt : tensor<14x14x16xf32>, tensor<3x3x16xf32>) outs(%f : tensor<12x12x16xf32>) {
    ^bb0(%a: f32, %b: f32, %acc: f32):
      %p = arith.mulf %a, %b : f32
      %s = arith.addf %acc, %p : f32
      linalg.yield %s : f32
    } -> tensor<12x12x16xf32>
    bufferization.materialize_in_destination %r in restrict writable %y : (tensor<12x12x16xf32>, memref<12x12x16xf32>) -> ()
    return
  }
}

// -----

// Windows that are turned begin at the lowest row of the image.
// CHECK-LABEL: func.func @turned_windows
// CHECK-COUNT-4: vector.store
builtin.module attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @turned_windows() attributes {lowering_config = #cuda.window_strips<threads = 128, vector = 4, strip = 2, rows = 2>, cuda.index_bits = 32 : i32} {
    %x = plan.binding 0 read align 16 : memref<14x14x16xf32>
    %w = plan.binding 1 read align 16 : memref<3x3x16xf32>
    %y = plan.binding 2 write align 16 : memref<12x12x16xf32>
    %xt = bufferization.to_tensor %x restrict : memref<14x14x16xf32> to tensor<14x14x16xf32>
    %wt = bufferization.to_tensor %w restrict : memref<3x3x16xf32> to tensor<3x3x16xf32>
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<12x12x16xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<12x12x16xf32>) -> tensor<12x12x16xf32>
    %r = linalg.generic {
      indexing_maps = [affine_map<(p, q, c, r, s) -> (p - r + 2, q + s, c)>, affine_map<(p, q, c, r, s) -> (r, s, c)>, affine_map<(p, q, c, r, s) -> (p, q, c)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%xt, %wt : tensor<14x14x16xf32>, tensor<3x3x16xf32>) outs(%f : tensor<12x12x16xf32>) {
    ^bb0(%a: f32, %b: f32, %acc: f32):
      %p = arith.mulf %a, %b : f32
      %s = arith.addf %acc, %p : f32
      linalg.yield %s : f32
    } -> tensor<12x12x16xf32>
    bufferization.materialize_in_destination %r in restrict writable %y : (tensor<12x12x16xf32>, memref<12x12x16xf32>) -> ()
    return
  }
}

// -----

// Of the last rows some are not there, and are not stored.
// CHECK-LABEL: func.func @ragged_rows
// CHECK-COUNT-2: vector.store
// CHECK-COUNT-3: scf.if
builtin.module attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @ragged_rows() attributes {lowering_config = #cuda.window_strips<threads = 128, vector = 4, strip = 2, rows = 4>, cuda.index_bits = 32 : i32} {
    %x = plan.binding 0 read align 16 : memref<12x14x16xf32>
    %w = plan.binding 1 read align 16 : memref<3x3x16xf32>
    %y = plan.binding 2 write align 16 : memref<10x12x16xf32>
    %xt = bufferization.to_tensor %x restrict : memref<12x14x16xf32> to tensor<12x14x16xf32>
    %wt = bufferization.to_tensor %w restrict : memref<3x3x16xf32> to tensor<3x3x16xf32>
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<10x12x16xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<10x12x16xf32>) -> tensor<10x12x16xf32>
    %r = linalg.generic {
      indexing_maps = [affine_map<(p, q, c, r, s) -> (p + r, q + s, c)>, affine_map<(p, q, c, r, s) -> (r, s, c)>, affine_map<(p, q, c, r, s) -> (p, q, c)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%xt, %wt : tensor<12x14x16xf32>, tensor<3x3x16xf32>) outs(%f : tensor<10x12x16xf32>) {
    ^bb0(%a: f32, %b: f32, %acc: f32):
      %p = arith.mulf %a, %b : f32
      %s = arith.addf %acc, %p : f32
      linalg.yield %s : f32
    } -> tensor<10x12x16xf32>
    bufferization.materialize_in_destination %r in restrict writable %y : (tensor<10x12x16xf32>, memref<10x12x16xf32>) -> ()
    return
  }
}

// -----

// The largest element of each window and where it is: both of each of two positions, of four elements that are loaded once.
// CHECK-LABEL: func.func @value_and_place
// CHECK-COUNT-4: vector.load %{{.*}} : memref<768xf32>, vector<4xf32>
// CHECK-NOT:     vector.load
// CHECK-COUNT-12: arith.select %{{.*}} : vector<4xi1>, vector<4x{{f32|i32}}>
// CHECK-COUNT-2: vector.store {{.*}} vector<4xi32>
// CHECK-NOT:     vector.store
// CHECK:         return
builtin.module attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @value_and_place() attributes {lowering_config = #cuda.window_strips<threads = 128, vector = 4, strip = 2, rows = 1>, cuda.index_bits = 32 : i32} {
    %x = plan.binding 0 read align 16 : memref<4x12x16xf32>
    %y = plan.binding 1 write align 16 : memref<4x10x16xi32>
    %xt = bufferization.to_tensor %x restrict : memref<4x12x16xf32> to tensor<4x12x16xf32>
    %lowest = arith.constant 0xFF800000 : f32
    %none = arith.constant 2147483647 : i32
    %w = tensor.empty() : tensor<3xi8>
    %e = tensor.empty() : tensor<4x10x16xf32>
    %ei = tensor.empty() : tensor<4x10x16xi32>
    %f = linalg.fill ins(%lowest : f32) outs(%e : tensor<4x10x16xf32>) -> tensor<4x10x16xf32>
    %fi = linalg.fill ins(%none : i32) outs(%ei : tensor<4x10x16xi32>) -> tensor<4x10x16xi32>
    %r:2 = linalg.generic {
      indexing_maps = [affine_map<(n, q, c, s) -> (n, q + s, c)>, affine_map<(n, q, c, s) -> (s)>, affine_map<(n, q, c, s) -> (n, q, c)>, affine_map<(n, q, c, s) -> (n, q, c)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%xt, %w : tensor<4x12x16xf32>, tensor<3xi8>) outs(%f, %fi : tensor<4x10x16xf32>, tensor<4x10x16xi32>) {
    ^bb0(%a: f32, %b: i8, %best: f32, %where: i32):
      %s = linalg.index 3 : index
      %at = arith.index_cast %s : index to i32
      %more = arith.cmpf ogt, %a, %best : f32
      %value = arith.select %more, %a, %best : f32
      %place = arith.select %more, %at, %where : i32
      linalg.yield %value, %place : f32, i32
    } -> (tensor<4x10x16xf32>, tensor<4x10x16xi32>)
    bufferization.materialize_in_destination %r#1 in restrict writable %y : (tensor<4x10x16xi32>, memref<4x10x16xi32>) -> ()
    return
  }
}

// -----

builtin.module attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_90a">} {
  // expected-error@+1 {{expected windows of channels for #cuda.window_strips<threads = 128, vector = 4, strip = 2, rows = 1>: there is more than one reduction}}
  func.func @no_windows() attributes {lowering_config = #cuda.window_strips<threads = 128, vector = 4, strip = 2, rows = 1>} {
    %x = plan.binding 0 read align 16 : memref<16xf32>
    %y = plan.binding 1 write align 16 : memref<16xf32>
    %xt = bufferization.to_tensor %x restrict : memref<16xf32> to tensor<16xf32>
    bufferization.materialize_in_destination %xt in restrict writable %y : (tensor<16xf32>, memref<16xf32>) -> ()
    return
  }
}
