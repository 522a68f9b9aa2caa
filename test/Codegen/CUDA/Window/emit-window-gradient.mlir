// RUN: xc-opt %s -xc-cuda-emit-window-gradient -split-input-file -verify-diagnostics | FileCheck %s

// A strip of two positions of the outputs' gradient meets four elements of the image, each loaded where it is first needed; three sums
// are kept, exchanged and stored.
// CHECK-LABEL: func.func @parts
// CHECK:         scf.for {{.*}} iter_args({{.*}}) -> (vector<4xf32>, vector<4xf32>, vector<4xf32>)
// CHECK-COUNT-2:   vector.load
// CHECK:           math.fma
// CHECK:           vector.load
// CHECK:           math.fma
// CHECK:           vector.load
// CHECK:           math.fma
// CHECK:           vector.load
// CHECK-COUNT-2:   math.fma
// CHECK:           vector.load
// CHECK:           math.fma
// CHECK-NOT:       vector.load
// CHECK-COUNT-3: vector.store %{{.*}} : memref<384xf32, #gpu.address_space<workgroup>>, vector<4xf32>
// CHECK:         gpu.barrier
// CHECK:         memref.store %{{.*}} : memref<144xf32>
builtin.module attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @parts() attributes {lowering_config = #cuda.window_gradient<vector = 4, chunks = 4, workers = 8, strip = 2>, cuda.index_bits = 32 : i32} {
    %x = plan.binding 0 read align 16 : memref<9x12x16xf32>
    %d = plan.binding 1 read align 16 : memref<9x12x16xf32>
    %y = plan.binding 2 write align 16 : memref<3x3x16xf32>
    %xt = bufferization.to_tensor %x restrict : memref<9x12x16xf32> to tensor<9x12x16xf32>
    %dt = bufferization.to_tensor %d restrict : memref<9x12x16xf32> to tensor<9x12x16xf32>
    %zero = arith.constant 0.0 : f32
    %padded = tensor.pad %xt low[0, 1, 0] high[0, 1, 0] {
    ^bb0(%i: index, %j: index, %k: index):
      tensor.yield %zero : f32
    } : tensor<9x12x16xf32> to tensor<9x14x16xf32>
    %e = tensor.empty() : tensor<3x3x16xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<3x3x16xf32>) -> tensor<3x3x16xf32>
    %r = linalg.generic {
      indexing_maps = [affine_map<(s, c, n, q) -> (n, q + s, c)>, affine_map<(s, c, n, q) -> (n, q, c)>, affine_map<(s, c, n, q) -> (n floordiv 4, s, c)>],
      iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%padded, %dt : tensor<9x14x16xf32>, tensor<9x12x16xf32>) outs(%f : tensor<3x3x16xf32>) {
    ^bb0(%a: f32, %b: f32, %acc: f32):
      %p = arith.mulf %a, %b : f32
      %s = arith.addf %acc, %p : f32
      linalg.yield %s : f32
    } -> tensor<3x3x16xf32>
    bufferization.materialize_in_destination %r in restrict writable %y : (tensor<3x3x16xf32>, memref<3x3x16xf32>) -> ()
    return
  }
}

// -----

builtin.module attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_90a">} {
  // expected-error@+1 {{expected partial sums of a gradient to a filter for #cuda.window_gradient<vector = 4, chunks = 4, workers = 8, strip = 2>: it reduces nothing, or more than once}}
  func.func @no_sums() attributes {lowering_config = #cuda.window_gradient<vector = 4, chunks = 4, workers = 8, strip = 2>} {
    %x = plan.binding 0 read align 16 : memref<16xf32>
    %y = plan.binding 1 write align 16 : memref<16xf32>
    %xt = bufferization.to_tensor %x restrict : memref<16xf32> to tensor<16xf32>
    bufferization.materialize_in_destination %xt in restrict writable %y : (tensor<16xf32>, memref<16xf32>) -> ()
    return
  }
}

// -----

// Each of three neighbours, here of four threads, has a row of the window; a row that is padding is left out. Tap 2 of row 1 is the sixth.
// CHECK-LABEL: func.func @rows
// CHECK:         scf.for {{.*}} iter_args({{.*}}) -> (vector<4xf32>, vector<4xf32>, vector<4xf32>)
// CHECK:           %[[INSIDE:.*]] = arith.andi
// CHECK-NEXT:      scf.if %[[INSIDE]] -> (vector<4xf32>, vector<4xf32>, vector<4xf32>)
// CHECK-COUNT-6:     math.fma
// CHECK-NOT:         math.fma
// CHECK:         vector.store %{{.*}} : memref<1152xf32, #gpu.address_space<workgroup>>, vector<4xf32>
// CHECK:         memref.store %{{.*}} : memref<432xf32>
builtin.module attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @rows() attributes {lowering_config = #cuda.window_gradient<vector = 4, chunks = 4, workers = 8, strip = 2>, cuda.index_bits = 32 : i32} {
    %x = plan.binding 0 read align 16 : memref<9x12x16xf32>
    %d = plan.binding 1 read align 16 : memref<9x12x16xf32>
    %y = plan.binding 2 write align 16 : memref<3x3x3x16xf32>
    %xt = bufferization.to_tensor %x restrict : memref<9x12x16xf32> to tensor<9x12x16xf32>
    %dt = bufferization.to_tensor %d restrict : memref<9x12x16xf32> to tensor<9x12x16xf32>
    %zero = arith.constant 0.0 : f32
    %padded = tensor.pad %xt low[1, 1, 0] high[1, 1, 0] {
    ^bb0(%i: index, %j: index, %k: index):
      tensor.yield %zero : f32
    } : tensor<9x12x16xf32> to tensor<11x14x16xf32>
    %e = tensor.empty() : tensor<3x3x3x16xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<3x3x3x16xf32>) -> tensor<3x3x3x16xf32>
    %r = linalg.generic {
      indexing_maps = [affine_map<(r, s, c, p, q) -> (p + r, q + s, c)>, affine_map<(r, s, c, p, q) -> (p, q, c)>,
                       affine_map<(r, s, c, p, q) -> (p floordiv 4, r, s, c)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%padded, %dt : tensor<11x14x16xf32>, tensor<9x12x16xf32>) outs(%f : tensor<3x3x3x16xf32>) {
    ^bb0(%a: f32, %b: f32, %acc: f32):
      %p = arith.mulf %a, %b : f32
      %s = arith.addf %acc, %p : f32
      linalg.yield %s : f32
    } -> tensor<3x3x3x16xf32>
    bufferization.materialize_in_destination %r in restrict writable %y : (tensor<3x3x3x16xf32>, memref<3x3x3x16xf32>) -> ()
    return
  }
}

// -----

builtin.module attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_90a">} {
  // expected-error@+1 {{expected at most 512 threads for #cuda.window_gradient<vector = 4, chunks = 4, workers = 64, strip = 2>, got a window of 3 rows}}
  func.func @threads() attributes {lowering_config = #cuda.window_gradient<vector = 4, chunks = 4, workers = 64, strip = 2>, cuda.index_bits = 32 : i32} {
    %x = plan.binding 0 read align 16 : memref<11x14x16xf32>
    %d = plan.binding 1 read align 16 : memref<9x12x16xf32>
    %y = plan.binding 2 write align 16 : memref<3x3x3x16xf32>
    %xt = bufferization.to_tensor %x restrict : memref<11x14x16xf32> to tensor<11x14x16xf32>
    %dt = bufferization.to_tensor %d restrict : memref<9x12x16xf32> to tensor<9x12x16xf32>
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<3x3x3x16xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<3x3x3x16xf32>) -> tensor<3x3x3x16xf32>
    %r = linalg.generic {
      indexing_maps = [affine_map<(r, s, c, p, q) -> (p + r, q + s, c)>, affine_map<(r, s, c, p, q) -> (p, q, c)>,
                       affine_map<(r, s, c, p, q) -> (p floordiv 4, r, s, c)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%xt, %dt : tensor<11x14x16xf32>, tensor<9x12x16xf32>) outs(%f : tensor<3x3x3x16xf32>) {
    ^bb0(%a: f32, %b: f32, %acc: f32):
      %p = arith.mulf %a, %b : f32
      %s = arith.addf %acc, %p : f32
      linalg.yield %s : f32
    } -> tensor<3x3x3x16xf32>
    bufferization.materialize_in_destination %r in restrict writable %y : (tensor<3x3x3x16xf32>, memref<3x3x3x16xf32>) -> ()
    return
  }
}

// -----

// Shares of a symbolic number of rows: as many for each block, none for the last ones where there are few, or the image has no elements. What strips
// leave over of a row of symbolic length is added position by position.
// CHECK-LABEL: func.func @shares
// CHECK:         %[[ROWS:.*]] = plan.scalar 0
// CHECK:         %[[LENGTH:.*]] = plan.scalar 1
// CHECK:         %[[SHARE:.*]] = arith.divui %{{.*}}, %c5
// CHECK:         %[[FIRST:.*]] = arith.muli %{{.*}}, %[[SHARE]]
// CHECK:         %[[LEFT:.*]] = arith.subi %[[ROWS]], %[[FIRST]]
// CHECK:         %[[OWN:.*]] = arith.minsi %[[SHARE]], %[[LEFT]]
// CHECK:         %[[ANY:.*]] = arith.maxsi %[[OWN]], %{{.*}} : index
// CHECK:         %[[IMAGE:.*]] = arith.cmpi sge, %[[LENGTH]], %{{.*}} : index
// CHECK:         arith.select %[[IMAGE]], %[[ANY]], %{{.*}} : index
// CHECK:         scf.for
// CHECK:           %[[WHOLE:.*]] = arith.cmpi sge, %[[LENGTH]], %{{.*}} : index
// CHECK-NEXT:      scf.if %[[WHOLE]]
// CHECK-COUNT-6:     math.fma
// CHECK:           %[[BEGIN:.*]] = arith.select %[[WHOLE]], %[[LENGTH]], %{{.*}} : index
// CHECK:           scf.for %{{.*}} = %[[BEGIN]] to %[[LENGTH]]
// CHECK-COUNT-3:     math.fma
// CHECK-NOT:         math.fma
// CHECK:         vector.store
builtin.module attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @shares() attributes {lowering_config = #cuda.window_gradient<vector = 4, chunks = 4, workers = 8, strip = 2>, cuda.index_bits = 32 : i32} {
    %n = plan.scalar 0 : index
    %q = plan.scalar 1 : index
    %x = plan.binding 0 read align 16 sizes(%n, %q) : memref<?x?x16xf32>
    %d = plan.binding 1 read align 16 sizes(%n, %q) : memref<?x?x16xf32>
    %y = plan.binding 2 write align 16 : memref<5x3x16xf32>
    %xt = bufferization.to_tensor %x restrict : memref<?x?x16xf32> to tensor<?x?x16xf32>
    %dt = bufferization.to_tensor %d restrict : memref<?x?x16xf32> to tensor<?x?x16xf32>
    %zero = arith.constant 0.0 : f32
    %padded = tensor.pad %xt low[0, 1, 0] high[0, 1, 0] {
    ^bb0(%i: index, %j: index, %k: index):
      tensor.yield %zero : f32
    } : tensor<?x?x16xf32> to tensor<?x?x16xf32>
    %e = tensor.empty() : tensor<5x3x16xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<5x3x16xf32>) -> tensor<5x3x16xf32>
    %r = linalg.generic {
      indexing_maps = [affine_map<(s, c, n, q) -> (n, q + s, c)>, affine_map<(s, c, n, q) -> (n, q, c)>, affine_map<(s, c, n, q) -> ((n + q) mod 5, s, c)>],
      iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%padded, %dt : tensor<?x?x16xf32>, tensor<?x?x16xf32>) outs(%f : tensor<5x3x16xf32>) attrs = {plan.shares} {
    ^bb0(%a: f32, %b: f32, %acc: f32):
      %p = arith.mulf %a, %b : f32
      %s = arith.addf %acc, %p : f32
      linalg.yield %s : f32
    } -> tensor<5x3x16xf32>
    bufferization.materialize_in_destination %r in restrict writable %y : (tensor<5x3x16xf32>, memref<5x3x16xf32>) -> ()
    return
  }
}
