// RUN: xc-opt %s -split-input-file -canonicalize -xc-cuda-select-strategy -xc-cuda-emit-elementwise -xc-cuda-emit-row-reduction -xc-cuda-emit-matmul-fma -canonicalize -cse | FileCheck %s

// A block begins at element 64 * 4 * block of rows of 128 elements: blocks of rows behind the extent load nothing.
// CHECK-LABEL: func.func @rows
// CHECK-DAG:     %[[X:.*]] = plan.binding 0 read align 64 : memref<8192xf32>
// CHECK-DAG:     %[[N:.*]] = plan.binding 1 read align 64 : memref<1xi64>
// CHECK-DAG:     %[[INNER:.*]] = arith.constant 128 : index
// CHECK:         %[[FIRST:.*]] = arith.muli %[[BLOCK:.*]], %{{.*}} : index
// CHECK:         %[[COUNT:.*]] = memref.load %[[N]]
// CHECK:         %[[EXTENT:.*]] = arith.index_cast %[[COUNT]] : i64 to index
// CHECK:         %[[ROW:.*]] = arith.divui %[[FIRST]], %[[INNER]] : index
// CHECK:         %[[NEEDED:.*]] = arith.cmpi slt, %[[ROW]], %[[EXTENT]] : index
// CHECK:         scf.if %[[NEEDED]] {
// CHECK:           vector.load %[[X]]
// CHECK:           vector.store
// CHECK:         } else {
// CHECK-NOT:       vector.load
// CHECK:           vector.store
// CHECK:         return
builtin.module @rows attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @rows() attributes {lowering_config = #cuda.elementwise<threads = 64, vector = 4, unroll = 1>} {
    %b0 = plan.binding 0 read align 64 : memref<64x128xf32>
    %t0 = bufferization.to_tensor %b0 restrict : memref<64x128xf32> to tensor<64x128xf32>
    %b1 = plan.binding 1 read align 64 : memref<i64>
    %t1 = bufferization.to_tensor %b1 restrict : memref<i64> to tensor<i64>
    %e = tensor.empty() : tensor<64x128xf32>
    %g = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> ()>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%t0, %t1 : tensor<64x128xf32>, tensor<i64>) outs(%e : tensor<64x128xf32>) {
    ^bb0(%a: f32, %n: i64, %o: f32):
      %i = linalg.index 0 : index
      %m = arith.index_cast %n : i64 to index
      %s = arith.addf %a, %a : f32
      %w = kernel.within %s, %i before %m : f32
      linalg.yield %w : f32
    } -> tensor<64x128xf32>
    %b2 = plan.binding 2 write align 64 : memref<64x128xf32>
    bufferization.materialize_in_destination %g in restrict writable %b2 : (tensor<64x128xf32>, memref<64x128xf32>) -> ()
    return
  }
}

// -----

// An inner dim: blocks that lie in one slice, behind the extent.
// CHECK-LABEL: func.func @inner
// CHECK-DAG:     %[[SIZE:.*]] = arith.constant 64 : index
// CHECK:         %[[AT:.*]] = arith.remui %[[ROW:.*]], %[[SIZE]] : index
// CHECK:         %[[BEFORE:.*]] = arith.cmpi slt, %[[AT]], %{{.*}} : index
// CHECK:         %[[SLICE:.*]] = arith.divui %[[ROW]], %[[SIZE]] : index
// CHECK:         %[[OTHER:.*]] = arith.cmpi ne, %[[SLICE]], %{{.*}} : index
// CHECK:         %[[NEEDED:.*]] = arith.ori %[[BEFORE]], %[[OTHER]] : i1
// CHECK:         scf.if %[[NEEDED]] {
builtin.module @inner attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @inner() attributes {lowering_config = #cuda.elementwise<threads = 64, vector = 4, unroll = 1>} {
    %b0 = plan.binding 0 read align 64 : memref<3x64x128xf32>
    %t0 = bufferization.to_tensor %b0 restrict : memref<3x64x128xf32> to tensor<3x64x128xf32>
    %b1 = plan.binding 1 read align 64 : memref<i64>
    %t1 = bufferization.to_tensor %b1 restrict : memref<i64> to tensor<i64>
    %e = tensor.empty() : tensor<3x64x128xf32>
    %g = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> ()>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%t0, %t1 : tensor<3x64x128xf32>, tensor<i64>) outs(%e : tensor<3x64x128xf32>) {
    ^bb0(%a: f32, %n: i64, %o: f32):
      %i = linalg.index 1 : index
      %m = arith.index_cast %n : i64 to index
      %w = kernel.within %a, %i before %m : f32
      linalg.yield %w : f32
    } -> tensor<3x64x128xf32>
    %b2 = plan.binding 2 write align 64 : memref<3x64x128xf32>
    bufferization.materialize_in_destination %g in restrict writable %b2 : (tensor<3x64x128xf32>, memref<3x64x128xf32>) -> ()
    return
  }
}

// -----

// Rows of a reduction: four a block. All threads of a block compute, or none.
// CHECK-LABEL: func.func @sums
// CHECK-DAG:     %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK:         %[[FIRST:.*]] = arith.muli %{{.*}}, %{{.*}} : index
// CHECK:         %[[NEEDED:.*]] = arith.cmpi slt, %[[FIRST]], %{{.*}} : index
// CHECK:         scf.if %[[NEEDED]] {
// CHECK:           vector.load
// CHECK:           gpu.shuffle
// CHECK:         } else {
// CHECK-NOT:       gpu.shuffle
// CHECK:           memref.store %[[ZERO]]
// CHECK:         return
builtin.module @sums attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @sums() attributes {lowering_config = #cuda.row_reduction<threads = 32, rows = 4, vector = 4, chunks = 1>} {
    %b0 = plan.binding 0 read align 64 : memref<64x128xf32>
    %t0 = bufferization.to_tensor %b0 restrict : memref<64x128xf32> to tensor<64x128xf32>
    %b1 = plan.binding 1 read align 64 : memref<i64>
    %t1 = bufferization.to_tensor %b1 restrict : memref<i64> to tensor<i64>
    %e = tensor.empty() : tensor<64xf32>
    %zero = arith.constant 0.0 : f32
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
    %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%t0 : tensor<64x128xf32>) outs(%f : tensor<64xf32>) {
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      linalg.yield %s : f32
    } -> tensor<64xf32>
    %g = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%r, %t1 : tensor<64xf32>, tensor<i64>) outs(%e : tensor<64xf32>) {
    ^bb0(%a: f32, %n: i64, %o: f32):
      %i = linalg.index 0 : index
      %m = arith.index_cast %n : i64 to index
      %w = kernel.within %a, %i before %m : f32
      linalg.yield %w : f32
    } -> tensor<64xf32>
    %b2 = plan.binding 2 write align 64 : memref<64xf32>
    bufferization.materialize_in_destination %g in restrict writable %b2 : (tensor<64xf32>, memref<64xf32>) -> ()
    return
  }
}

// -----

// Tiles of a product, by their first row: no step along k.
// CHECK-LABEL: func.func @tiles
// CHECK:         %[[NEEDED:.*]] = arith.cmpi slt, %{{.*}}, %{{.*}} : index
// CHECK:         %[[STEPS:.*]] = arith.select %[[NEEDED]], %c16, %c0 : index
// CHECK:         scf.for %{{.*}} = %c0 to %[[STEPS]]
// CHECK:           math.fma
// CHECK:         vector.store
builtin.module @tiles attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @tiles() attributes {lowering_config = #cuda.matmul_fma<tile_m = 16, tile_n = 16, tile_k = 4, thread_m = 4, thread_n = 4>} {
    %b0 = plan.binding 0 read align 64 : memref<64x64xf32>
    %t0 = bufferization.to_tensor %b0 restrict : memref<64x64xf32> to tensor<64x64xf32>
    %b1 = plan.binding 1 read align 64 : memref<64x64xf32>
    %t1 = bufferization.to_tensor %b1 restrict : memref<64x64xf32> to tensor<64x64xf32>
    %b2 = plan.binding 2 read align 64 : memref<i64>
    %t2 = bufferization.to_tensor %b2 restrict : memref<i64> to tensor<i64>
    %e = tensor.empty() : tensor<64x64xf32>
    %zero = arith.constant 0.0 : f32
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
    %p = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] ins(%t0, %t1 : tensor<64x64xf32>, tensor<64x64xf32>) outs(%f : tensor<64x64xf32>) -> tensor<64x64xf32>
    %g = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> ()>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%p, %t2 : tensor<64x64xf32>, tensor<i64>) outs(%e : tensor<64x64xf32>) {
    ^bb0(%a: f32, %n: i64, %o: f32):
      %i = linalg.index 0 : index
      %m = arith.index_cast %n : i64 to index
      %w = kernel.within %a, %i before %m : f32
      linalg.yield %w : f32
    } -> tensor<64x64xf32>
    %b3 = plan.binding 3 write align 64 : memref<64x64xf32>
    bufferization.materialize_in_destination %g in restrict writable %b3 : (tensor<64x64xf32>, memref<64x64xf32>) -> ()
    return
  }
}

// -----

// What is computed of what need not be computed: the sums of rows behind the extent.
// CHECK-LABEL: func.func @derived
// CHECK:         %[[NEEDED:.*]] = arith.cmpi slt, %{{.*}}, %{{.*}} : index
// CHECK-NEXT:    scf.if %[[NEEDED]] {
// CHECK:           gpu.shuffle
builtin.module @derived attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @derived() attributes {lowering_config = #cuda.row_reduction<threads = 32, rows = 4, vector = 4, chunks = 1>} {
    %b0 = plan.binding 0 read align 64 : memref<64x128xf32>
    %t0 = bufferization.to_tensor %b0 restrict : memref<64x128xf32> to tensor<64x128xf32>
    %b1 = plan.binding 1 read align 64 : memref<i64>
    %t1 = bufferization.to_tensor %b1 restrict : memref<i64> to tensor<i64>
    %e = tensor.empty() : tensor<64xf32>
    %zero = arith.constant 0.0 : f32
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
    %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> ()>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%t0, %t1 : tensor<64x128xf32>, tensor<i64>) outs(%f : tensor<64xf32>) {
    ^bb0(%a: f32, %n: i64, %b: f32):
      %i = linalg.index 0 : index
      %m = arith.index_cast %n : i64 to index
      %w = kernel.within %a, %i before %m : f32
      %x = math.exp %w : f32
      %s = arith.addf %b, %x : f32
      linalg.yield %s : f32
    } -> tensor<64xf32>
    %b2 = plan.binding 2 write align 64 : memref<64xf32>
    bufferization.materialize_in_destination %r in restrict writable %b2 : (tensor<64xf32>, memref<64xf32>) -> ()
    return
  }
}

// -----

// A choice may replace what is not specified: all is computed.
// CHECK-LABEL: func.func @replaced
// CHECK-NOT:     scf.if
// CHECK:         arith.select
// CHECK-NOT:     scf.if
// CHECK:         return
builtin.module @replaced attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @replaced() attributes {lowering_config = #cuda.elementwise<threads = 64, vector = 4, unroll = 1>} {
    %b0 = plan.binding 0 read align 64 : memref<64x128xf32>
    %t0 = bufferization.to_tensor %b0 restrict : memref<64x128xf32> to tensor<64x128xf32>
    %b1 = plan.binding 1 read align 64 : memref<i64>
    %t1 = bufferization.to_tensor %b1 restrict : memref<i64> to tensor<i64>
    %e = tensor.empty() : tensor<64x128xf32>
    %zero = arith.constant 0.0 : f32
    %g = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> ()>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%t0, %t1 : tensor<64x128xf32>, tensor<i64>) outs(%e : tensor<64x128xf32>) {
    ^bb0(%a: f32, %n: i64, %o: f32):
      %i = linalg.index 0 : index
      %m = arith.index_cast %n : i64 to index
      %w = kernel.within %a, %i before %m : f32
      %c = arith.cmpi slt, %i, %m : index
      %y = arith.select %c, %w, %zero : f32
      linalg.yield %y : f32
    } -> tensor<64x128xf32>
    %b2 = plan.binding 2 write align 64 : memref<64x128xf32>
    bufferization.materialize_in_destination %g in restrict writable %b2 : (tensor<64x128xf32>, memref<64x128xf32>) -> ()
    return
  }
}
