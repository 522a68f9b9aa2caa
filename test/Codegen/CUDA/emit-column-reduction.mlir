// RUN: xc-opt %s -split-input-file -canonicalize -xc-cuda-select-strategy -xc-cuda-emit-column-reduction -canonicalize -cse | FileCheck %s

// CHECK-LABEL: func.func @down
// CHECK-SAME:    block = [128, 1, 1], cluster = [1, 1, 1], shared = 2048
// CHECK:         %[[SHARED:.*]] = memref.alloc() {cuda.shared_offset = 0 : i64} : memref<512xf32, #gpu.address_space<workgroup>>
// CHECK:         scf.for {{.*}} -> (vector<4xf32>)
// CHECK-COUNT-4:   vector.load %{{.*}} {alignment = 16 : i64} : memref<4096000xf32>, vector<4xf32>
// CHECK:         vector.store %{{.*}}, %[[SHARED]]
// CHECK:         gpu.barrier
// CHECK:         scf.if
// CHECK:           vector.load %[[SHARED]]
// CHECK:           vector.store %{{.*}}, %[[SHARED]]
// CHECK:         gpu.barrier
builtin.module @down attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @down() attributes {lowering_config = #cuda.column_reduction<threads = 32, rows = 4, vector = 4>} {
    %b0 = plan.binding 0 read align 64 : memref<1000x4096xf32>
    %t0 = bufferization.to_tensor %b0 restrict : memref<1000x4096xf32> to tensor<1000x4096xf32>
    %e2 = tensor.empty() : tensor<4096xf32>
    %cf2 = arith.constant 0.0 : f32
    %f2 = linalg.fill ins(%cf2 : f32) outs(%e2 : tensor<4096xf32>) -> tensor<4096xf32>
    %g5 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>], iterator_types = ["reduction", "parallel"]} ins(%t0 : tensor<1000x4096xf32>) outs(%f2 : tensor<4096xf32>) {
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      linalg.yield %s : f32
    } -> tensor<4096xf32>
    %b1 = plan.binding 1 write align 64 : memref<4096xf32>
    bufferization.materialize_in_destination %g5 in restrict writable %b1 : (tensor<4096xf32>, memref<4096xf32>) -> ()
    return
  }
}
