// RUN: xc-opt %s -split-input-file -canonicalize -xc-cuda-select-strategy -xc-cuda-emit-matmul-mma -canonicalize -cse | FileCheck %s

// Fragments are loaded one product ahead of their use, across the barrier too; copies start between
// the products.
// CHECK-LABEL: func.func @async
// CHECK:         nvvm.cp.async.shared.global
// CHECK:         nvvm.cp.async.commit.group
// CHECK:         nvvm.cp.async.wait.group 0
// CHECK:         gpu.barrier
// CHECK:         nvvm.ldmatrix {{.*}}layout = #nvvm.mma_layout<row>
// CHECK:         nvvm.ldmatrix {{.*}}layout = #nvvm.mma_layout<col>
// CHECK:         scf.for
// CHECK:           nvvm.ldmatrix {{.*}}layout = #nvvm.mma_layout<row>
// CHECK:           nvvm.ldmatrix {{.*}}layout = #nvvm.mma_layout<col>
// CHECK:           nvvm.cp.async.shared.global
// CHECK-COUNT-2:   nvvm.mma.sync
// CHECK:           nvvm.cp.async.commit.group
// CHECK:           nvvm.cp.async.wait.group 0
// CHECK:           gpu.barrier
// CHECK:           nvvm.ldmatrix {{.*}}layout = #nvvm.mma_layout<row>
// CHECK:           nvvm.ldmatrix {{.*}}layout = #nvvm.mma_layout<col>
// CHECK-COUNT-2:   nvvm.mma.sync
// CHECK:           scf.yield
// Outputs pass through the operands' room, so that a thread stores eight neighbours.
// CHECK:         nvvm.cp.async.wait.group 0
// CHECK:         gpu.barrier
// CHECK-COUNT-4: llvm.store %{{.*}} : vector<2xbf16>, !llvm.ptr<3>
// CHECK:         nvvm.bar.warp.sync
// CHECK:         %[[ROW:.*]] = llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<8xbf16>
// CHECK:         vector.store %[[ROW]], %{{.*}} : memref<4096xbf16>, vector<8xbf16>
// CHECK-NOT:     vector.store
builtin.module @async attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @async() attributes {lowering_config = #cuda.matmul_mma<tile_m = 16, tile_n = 16, tile_k = 32, warps_m = 1, warps_n = 1, stages = 2>} {
    %b0 = plan.binding 0 read align 64 : memref<64x64xbf16>
    %t0 = bufferization.to_tensor %b0 restrict : memref<64x64xbf16> to tensor<64x64xbf16>
    %b1 = plan.binding 1 read align 64 : memref<64x64xbf16>
    %t1 = bufferization.to_tensor %b1 restrict : memref<64x64xbf16> to tensor<64x64xbf16>
    %e4 = tensor.empty() : tensor<64x64xf32>
    %cf4 = arith.constant 0.0 : f32
    %f4 = linalg.fill ins(%cf4 : f32) outs(%e4 : tensor<64x64xf32>) -> tensor<64x64xf32>
    %product = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] ins(%t0, %t1 : tensor<64x64xbf16>, tensor<64x64xbf16>) outs(%f4 : tensor<64x64xf32>) -> tensor<64x64xf32>
    %e8 = tensor.empty() : tensor<64x64xbf16>
    %g9 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%product : tensor<64x64xf32>) outs(%e8 : tensor<64x64xbf16>) {
    ^bb0(%a: f32, %b: bf16):
      %s = arith.truncf %a : f32 to bf16
      linalg.yield %s : bf16
    } -> tensor<64x64xbf16>
    %b2 = plan.binding 2 write align 64 : memref<64x64xbf16>
    bufferization.materialize_in_destination %g9 in restrict writable %b2 : (tensor<64x64xbf16>, memref<64x64xbf16>) -> ()
    return
  }
}

// -----

// Rows that are not 16-byte aligned go through registers.
// CHECK-LABEL: func.func @unaligned
// CHECK-NOT:     nvvm.cp.async.shared.global
// CHECK:         scf.for
// CHECK:           memref.load
// CHECK:           memref.store %{{.*}} #gpu.address_space<workgroup>>
// CHECK:           gpu.barrier
// CHECK:           nvvm.mma.sync
// CHECK:           scf.yield
builtin.module @unaligned attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @unaligned() attributes {lowering_config = #cuda.matmul_mma<tile_m = 16, tile_n = 16, tile_k = 16, warps_m = 1, warps_n = 1, stages = 2>} {
    %b0 = plan.binding 0 read align 64 : memref<33x127xbf16>
    %t0 = bufferization.to_tensor %b0 restrict : memref<33x127xbf16> to tensor<33x127xbf16>
    %b1 = plan.binding 1 read align 64 : memref<127x7xbf16>
    %t1 = bufferization.to_tensor %b1 restrict : memref<127x7xbf16> to tensor<127x7xbf16>
    %e4 = tensor.empty() : tensor<33x7xf32>
    %cf4 = arith.constant 0.0 : f32
    %f4 = linalg.fill ins(%cf4 : f32) outs(%e4 : tensor<33x7xf32>) -> tensor<33x7xf32>
    %product = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] ins(%t0, %t1 : tensor<33x127xbf16>, tensor<127x7xbf16>) outs(%f4 : tensor<33x7xf32>) -> tensor<33x7xf32>
    %e8 = tensor.empty() : tensor<33x7xbf16>
    %g9 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%product : tensor<33x7xf32>) outs(%e8 : tensor<33x7xbf16>) {
    ^bb0(%a: f32, %b: bf16):
      %s = arith.truncf %a : f32 to bf16
      linalg.yield %s : bf16
    } -> tensor<33x7xbf16>
    %b2 = plan.binding 2 write align 64 : memref<33x7xbf16>
    bufferization.materialize_in_destination %g9 in restrict writable %b2 : (tensor<33x7xbf16>, memref<33x7xbf16>) -> ()
    return
  }
}
