// RUN: xc-opt %s -split-input-file -canonicalize -xc-cuda-select-strategy -xc-cuda-emit-matmul-mma -xc-cuda-plan-shared-memory -xc-cuda-place-waits -xc-cuda-lower-registers -canonicalize -cse | FileCheck %s

// Threads load two neighbours at once: along k of A, along columns of B, which is the instructions' first operand. Factors are loaded one product
// ahead of their use, across the barrier too. Pairs of neighbours are stored.
// CHECK-LABEL: func.func @aligned
// CHECK:         nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 16, cache = cg
// CHECK-COUNT-4: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<2xf64>
// CHECK:         scf.for
// CHECK:           nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 16, cache = cg
// CHECK-COUNT-2:   llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<2xf64>
// CHECK-COUNT-2:   llvm.call_intrinsic "llvm.nvvm.mma.m16n8k8.row.col.f64"
// CHECK-COUNT-2:   llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<2xf64>
// CHECK:           tile.retire_copies 1 hold %{{.*}} : f64
// CHECK-COUNT-2:   llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<2xf64>
// CHECK-COUNT-2:   llvm.call_intrinsic "llvm.nvvm.mma.m16n8k8.row.col.f64"
// CHECK-COUNT-2:   llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<2xf64>
// CHECK:           llvm.inline_asm has_side_effects {{.*}}"~{memory}"
// CHECK:           scf.yield
// CHECK-COUNT-4: vector.store %{{.*}} : memref<4096xf64>, vector<2xf64>
builtin.module @aligned attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_90">} {
  func.func @aligned() attributes {lowering_config = #cuda.matmul_mma<tile_m = 16, tile_n = 16, tile_k = 16, warps_m = 1, warps_n = 1, stages = 3>} {
    %b0 = plan.binding 0 read align 64 : memref<64x64xf64>
    %t0 = bufferization.to_tensor %b0 restrict : memref<64x64xf64> to tensor<64x64xf64>
    %b1 = plan.binding 1 read align 64 : memref<64x64xf64>
    %t1 = bufferization.to_tensor %b1 restrict : memref<64x64xf64> to tensor<64x64xf64>
    %e = tensor.empty() : tensor<64x64xf64>
    %zero = arith.constant 0.0 : f64
    %init = linalg.fill ins(%zero : f64) outs(%e : tensor<64x64xf64>) -> tensor<64x64xf64>
    %product = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] ins(%t0, %t1 : tensor<64x64xf64>, tensor<64x64xf64>) outs(%init : tensor<64x64xf64>) -> tensor<64x64xf64>
    %b2 = plan.binding 2 write align 64 : memref<64x64xf64>
    bufferization.materialize_in_destination %product in restrict writable %b2 : (tensor<64x64xf64>, memref<64x64xf64>) -> ()
    return
  }
}

// -----

// Elements of rows that are not 16-byte aligned are copied one by one. Where m8n8k4 is all there is, four make a product.
// CHECK-LABEL: func.func @unaligned
// CHECK:         scf.for
// CHECK:           nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 8, cache = ca
// CHECK-COUNT-8:   llvm.call_intrinsic "llvm.nvvm.mma.m8n8k4.row.col.f64"
// CHECK:           scf.yield
// CHECK:         memref.store %{{.*}} : memref<{{.*}}xf64>
builtin.module @unaligned attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @unaligned() attributes {lowering_config = #cuda.matmul_mma<tile_m = 16, tile_n = 16, tile_k = 16, warps_m = 1, warps_n = 1, stages = 2>} {
    %b0 = plan.binding 0 read align 64 : memref<33x127xf64>
    %t0 = bufferization.to_tensor %b0 restrict : memref<33x127xf64> to tensor<33x127xf64>
    %b1 = plan.binding 1 read align 64 : memref<127x7xf64>
    %t1 = bufferization.to_tensor %b1 restrict : memref<127x7xf64> to tensor<127x7xf64>
    %e = tensor.empty() : tensor<33x7xf64>
    %zero = arith.constant 0.0 : f64
    %init = linalg.fill ins(%zero : f64) outs(%e : tensor<33x7xf64>) -> tensor<33x7xf64>
    %product = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] ins(%t0, %t1 : tensor<33x127xf64>, tensor<127x7xf64>) outs(%init : tensor<33x7xf64>) -> tensor<33x7xf64>
    %b2 = plan.binding 2 write align 64 : memref<33x7xf64>
    bufferization.materialize_in_destination %product in restrict writable %b2 : (tensor<33x7xf64>, memref<33x7xf64>) -> ()
    return
  }
}
