// RUN: xc-opt %s -split-input-file -canonicalize -xc-cuda-select-strategy -xc-cuda-emit-pointwise -canonicalize -cse | FileCheck %s

// CHECK-LABEL: func.func @sum_of_rows
// CHECK:         scf.if
// CHECK:           %[[SUM:.*]] = scf.for {{.*}} iter_args(%[[ACC:.*]] = %{{.*}}) -> (f32)
// CHECK:             %[[X:.*]] = memref.load
// CHECK:             arith.addf %[[X]], %[[ACC]]
// CHECK:           memref.store %[[SUM]]
builtin.module @sum_of_rows attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @sum_of_rows() attributes {lowering_config = #cuda.pointwise<threads = 64>} {
    %b0 = plan.binding 0 read align 64 : memref<4x8xf32>
    %t0 = bufferization.to_tensor %b0 restrict : memref<4x8xf32> to tensor<4x8xf32>
    %e2 = tensor.empty() : tensor<4xf32>
    %cf2 = arith.constant 0.0 : f32
    %f2 = linalg.fill ins(%cf2 : f32) outs(%e2 : tensor<4xf32>) -> tensor<4xf32>
    %g5 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%t0 : tensor<4x8xf32>) outs(%f2 : tensor<4xf32>) {
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      linalg.yield %s : f32
    } -> tensor<4xf32>
    %b1 = plan.binding 1 write align 64 : memref<4xf32>
    bufferization.materialize_in_destination %g5 in restrict writable %b1 : (tensor<4xf32>, memref<4xf32>) -> ()
    return
  }
}

// -----

// CHECK-LABEL: func.func @padded
// CHECK:         scf.if %{{.*}} -> (f32)
// CHECK:           memref.load
// CHECK:         else
// CHECK:           scf.yield %{{.*}} : f32
builtin.module @padded attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @padded() attributes {lowering_config = #cuda.pointwise<threads = 64>} {
    %b0 = plan.binding 0 read align 64 : memref<5x7xf32>
    %t0 = bufferization.to_tensor %b0 restrict : memref<5x7xf32> to tensor<5x7xf32>
    %value = arith.constant 7.0 : f32
    %p = tensor.pad %t0 low[1, 2] high[0, 3] {
    ^bb0(%i: index, %j: index):
      tensor.yield %value : f32
    } : tensor<5x7xf32> to tensor<6x12xf32>
    %b1 = plan.binding 1 write align 64 : memref<6x12xf32>
    bufferization.materialize_in_destination %p in restrict writable %b1 : (tensor<6x12xf32>, memref<6x12xf32>) -> ()
    return
  }
}

// -----

// The part of columns that a row is in is the quotient of its number, which sizes say at run time: the index of the center only names it.
// CHECK-LABEL: func.func @named_parts
// CHECK:         scf.for %[[ROW:.*]] = %{{.*}} to
// CHECK:           memref.load
// CHECK:           %[[PART:.*]] = arith.divui %[[ROW]], %c8
// CHECK:           %[[START:.*]] = arith.muli %[[PART]], %c4
// CHECK:           %[[PLACE:.*]] = arith.addi %[[START]]
// CHECK:           memref.load %{{.*}}[%[[PLACE]]]
builtin.module @named_parts attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @named_parts() attributes {lowering_config = #cuda.pointwise<threads = 64>} {
    %h = plan.scalar 0 : index
    %w = plan.scalar 1 : index
    %p = plan.scalar 2 : index
    %b0 = plan.binding 0 read align 64 sizes(%h, %w) : memref<?x?x4xf32>
    %t0 = bufferization.to_tensor %b0 restrict : memref<?x?x4xf32> to tensor<?x?x4xf32>
    %b1 = plan.binding 1 read align 64 sizes(%p) : memref<?x4xf32>
    %t1 = bufferization.to_tensor %b1 restrict : memref<?x4xf32> to tensor<?x4xf32>
    %e = tensor.empty(%p) : tensor<?x4xf32>
    %zero = arith.constant 0.0 : f32
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x4xf32>) -> tensor<?x4xf32>
    %g = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> ((d0 + d1) floordiv 8, d2)>, affine_map<(d0, d1, d2) -> ((d0 + d1) floordiv 8, d2)>], iterator_types = ["reduction", "reduction", "parallel"]} ins(%t0, %t1 : tensor<?x?x4xf32>, tensor<?x4xf32>) outs(%f : tensor<?x4xf32>) attrs = {plan.partial = #plan.partial<rows, 8>} {
    ^bb0(%x: f32, %center: f32, %acc: f32):
      %d = arith.subf %x, %center : f32
      %u = arith.mulf %d, %d : f32
      %s = arith.addf %acc, %u : f32
      linalg.yield %s : f32
    } -> tensor<?x4xf32>
    %b2 = plan.binding 2 write align 64 sizes(%p) : memref<?x4xf32>
    bufferization.materialize_in_destination %g in restrict writable %b2 : (tensor<?x4xf32>, memref<?x4xf32>) -> ()
    return
  }
}
