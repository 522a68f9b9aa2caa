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
