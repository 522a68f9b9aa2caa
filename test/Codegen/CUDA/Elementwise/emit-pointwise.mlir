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
