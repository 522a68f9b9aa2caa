// RUN: xc-opt %s -split-input-file -canonicalize -xc-cuda-select-strategy -xc-cuda-emit-matmul-fma -canonicalize -cse | FileCheck %s

// While one buffer is multiplied, the next tiles are under way to the other one.
// CHECK-LABEL: func.func @small_tile
// CHECK-SAME:    block = [16, 1, 1]
// CHECK-DAG:     %[[A:.*]] = memref.alloc() {cuda.shared_offset = 0 : i64} : memref<160xf32, #gpu.address_space<workgroup>>
// CHECK-DAG:     %[[B:.*]] = memref.alloc() {cuda.shared_offset = 640 : i64} : memref<160xf32, #gpu.address_space<workgroup>>
// CHECK:         gpu.barrier
// CHECK:         scf.for
// CHECK:           scf.if
// CHECK-COUNT-2:     vector.load %{{.*}} : memref<4096xf32>, vector<4xf32>
// CHECK:           vector.load %[[A]]
// CHECK:           vector.load %[[B]]
// CHECK-COUNT-16:  math.fma
// CHECK:           memref.store %{{.*}}, %[[A]]
// CHECK:           vector.store %{{.*}}, %[[B]]
// CHECK:           gpu.barrier
// CHECK-COUNT-4: vector.store %{{.*}} : memref<4096xf32>, vector<4xf32>
builtin.module @small_tile attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @small_tile() attributes {lowering_config = #cuda.matmul_fma<tile_m = 16, tile_n = 16, tile_k = 4, thread_m = 4, thread_n = 4>} {
    %b0 = plan.binding 0 read align 64 : memref<64x64xf32>
    %t0 = bufferization.to_tensor %b0 restrict : memref<64x64xf32> to tensor<64x64xf32>
    %b1 = plan.binding 1 read align 64 : memref<64x64xf32>
    %t1 = bufferization.to_tensor %b1 restrict : memref<64x64xf32> to tensor<64x64xf32>
    %e4 = tensor.empty() : tensor<64x64xf32>
    %cf4 = arith.constant 0.0 : f32
    %f4 = linalg.fill ins(%cf4 : f32) outs(%e4 : tensor<64x64xf32>) -> tensor<64x64xf32>
    %product = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] ins(%t0, %t1 : tensor<64x64xf32>, tensor<64x64xf32>) outs(%f4 : tensor<64x64xf32>) -> tensor<64x64xf32>
    %b2 = plan.binding 2 write align 64 : memref<64x64xf32>
    bufferization.materialize_in_destination %product in restrict writable %b2 : (tensor<64x64xf32>, memref<64x64xf32>) -> ()
    return
  }
}

// -----

// Ragged sizes: elements outside are zeros, and are not stored.
// CHECK-LABEL: func.func @ragged
// CHECK:         scf.if %{{.*}} -> (f32)
// CHECK:           memref.load
// CHECK:         else
// CHECK:         math.fma
builtin.module @ragged attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @ragged() attributes {lowering_config = #cuda.matmul_fma<tile_m = 16, tile_n = 16, tile_k = 4, thread_m = 4, thread_n = 4>} {
    %b0 = plan.binding 0 read align 64 : memref<17x5xf32>
    %t0 = bufferization.to_tensor %b0 restrict : memref<17x5xf32> to tensor<17x5xf32>
    %b1 = plan.binding 1 read align 64 : memref<5x19xf32>
    %t1 = bufferization.to_tensor %b1 restrict : memref<5x19xf32> to tensor<5x19xf32>
    %e4 = tensor.empty() : tensor<17x19xf32>
    %cf4 = arith.constant 0.0 : f32
    %f4 = linalg.fill ins(%cf4 : f32) outs(%e4 : tensor<17x19xf32>) -> tensor<17x19xf32>
    %product = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] ins(%t0, %t1 : tensor<17x5xf32>, tensor<5x19xf32>) outs(%f4 : tensor<17x19xf32>) -> tensor<17x19xf32>
    %b2 = plan.binding 2 write align 64 : memref<17x19xf32>
    bufferization.materialize_in_destination %product in restrict writable %b2 : (tensor<17x19xf32>, memref<17x19xf32>) -> ()
    return
  }
}

// -----

// Two tiles are on their way while the third one is multiplied: of A, which is turned on the way, single elements, of B vectors.
// The factors of the next k are loaded before those at hand are multiplied, across the barrier, too.
// CHECK-LABEL: func.func @copied
// CHECK-SAME:    block = [64, 1, 1]
// CHECK-COUNT-8: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 4, cache = ca
// CHECK:         nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 16, cache = cg
builtin.module @copied attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @copied() attributes {lowering_config = #cuda.matmul_fma<tile_m = 32, tile_n = 32, tile_k = 8, thread_m = 4, thread_n = 4, stages = 3>} {
    %b0 = plan.binding 0 read align 64 : memref<64x64xf32>
    %t0 = bufferization.to_tensor %b0 restrict : memref<64x64xf32> to tensor<64x64xf32>
    %b1 = plan.binding 1 read align 64 : memref<64x64xf32>
    %t1 = bufferization.to_tensor %b1 restrict : memref<64x64xf32> to tensor<64x64xf32>
    %e4 = tensor.empty() : tensor<64x64xf32>
    %cf4 = arith.constant 0.0 : f32
    %f4 = linalg.fill ins(%cf4 : f32) outs(%e4 : tensor<64x64xf32>) -> tensor<64x64xf32>
    %product = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] ins(%t0, %t1 : tensor<64x64xf32>, tensor<64x64xf32>) outs(%f4 : tensor<64x64xf32>) -> tensor<64x64xf32>
    %b2 = plan.binding 2 write align 64 : memref<64x64xf32>
    bufferization.materialize_in_destination %product in restrict writable %b2 : (tensor<64x64xf32>, memref<64x64xf32>) -> ()
    return
  }
}

// -----

// Rows that are not aligned are copied element by element, and those outside are zeros: of rows, how many are left is compared,
// none where k is outside.
// CHECK-LABEL: func.func @copied_ragged
// CHECK-NOT:     nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 16
// CHECK:         scf.for
// CHECK:           %[[INSIDE_K:.*]] = arith.cmpi slt, %{{.*}}, %c13
// CHECK:           %[[ROOM:.*]] = arith.select %[[INSIDE_K]]
// CHECK:           %[[INSIDE:.*]] = arith.cmpi sgt, %[[ROOM]]
// CHECK:           %[[BYTES:.*]] = arith.select %[[INSIDE]], %{{.*}}, %{{.*}} : i32
// CHECK:           nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 4, cache = ca, %[[BYTES]]
builtin.module @copied_ragged attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @copied_ragged() attributes {lowering_config = #cuda.matmul_fma<tile_m = 32, tile_n = 32, tile_k = 8, thread_m = 4, thread_n = 4, stages = 3>} {
    %b0 = plan.binding 0 read align 64 : memref<17x13xf32>
    %t0 = bufferization.to_tensor %b0 restrict : memref<17x13xf32> to tensor<17x13xf32>
    %b1 = plan.binding 1 read align 64 : memref<13x19xf32>
    %t1 = bufferization.to_tensor %b1 restrict : memref<13x19xf32> to tensor<13x19xf32>
    %e4 = tensor.empty() : tensor<17x19xf32>
    %cf4 = arith.constant 0.0 : f32
    %f4 = linalg.fill ins(%cf4 : f32) outs(%e4 : tensor<17x19xf32>) -> tensor<17x19xf32>
    %product = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] ins(%t0, %t1 : tensor<17x13xf32>, tensor<13x19xf32>) outs(%f4 : tensor<17x19xf32>) -> tensor<17x19xf32>
    %b2 = plan.binding 2 write align 64 : memref<17x19xf32>
    bufferization.materialize_in_destination %product in restrict writable %b2 : (tensor<17x19xf32>, memref<17x19xf32>) -> ()
    return
  }
}

// -----

// Rows of A are as far apart as only the launch knows: each is reached from the one before, at an address that LLVM does not see
// through, and so keeps no register for.
// CHECK-LABEL: func.func @copied_symbolic
// CHECK:         scf.for
// CHECK:           %[[FIRST:.*]] = llvm.inline_asm asm_dialect = att "mov.b64
// CHECK:           nvvm.cp.async.shared.global %{{.*}}, %[[FIRST]], 4, cache =  ca
// CHECK:           %[[NEXT:.*]] = llvm.getelementptr %[[FIRST]][%{{.*}}]
// CHECK:           %[[SECOND:.*]] = llvm.inline_asm asm_dialect = att "mov.b64 $0, $1;", "=l,l" %[[NEXT]]
// CHECK:           nvvm.cp.async.shared.global %{{.*}}, %[[SECOND]], 4, cache = ca
builtin.module @copied_symbolic attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @copied_symbolic() attributes {lowering_config = #cuda.matmul_fma<tile_m = 32, tile_n = 32, tile_k = 8, thread_m = 4, thread_n = 4, stages = 3>} {
    %k = plan.scalar 0 : index
    %b0 = plan.binding 0 read align 64 sizes(%k) : memref<64x?xf32>
    %t0 = bufferization.to_tensor %b0 restrict : memref<64x?xf32> to tensor<64x?xf32>
    %b1 = plan.binding 1 read align 64 sizes(%k) : memref<?x64xf32>
    %t1 = bufferization.to_tensor %b1 restrict : memref<?x64xf32> to tensor<?x64xf32>
    %e4 = tensor.empty() : tensor<64x64xf32>
    %cf4 = arith.constant 0.0 : f32
    %f4 = linalg.fill ins(%cf4 : f32) outs(%e4 : tensor<64x64xf32>) -> tensor<64x64xf32>
    %product = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] ins(%t0, %t1 : tensor<64x?xf32>, tensor<?x64xf32>) outs(%f4 : tensor<64x64xf32>) -> tensor<64x64xf32>
    %b2 = plan.binding 2 write align 64 : memref<64x64xf32>
    bufferization.materialize_in_destination %product in restrict writable %b2 : (tensor<64x64xf32>, memref<64x64xf32>) -> ()
    return
  }
}

// -----

// Two blocks share a tile: each does half of the steps, sends the other one half of its sums, and stores its own half of all. What keeps a
// second block off the multiprocessor is filled up behind the place for sums.
// CHECK-LABEL: func.func @shared_sum
// CHECK-SAME:    cluster = [2, 1, 1], shared = 115728,
// CHECK:         tile.arrive_blocks
// CHECK:         scf.for
// CHECK:           math.fma
// CHECK:         tile.wait_blocks
// CHECK-COUNT-16: tile.store_in
// CHECK:         tile.arrive_blocks
// CHECK-NEXT:    tile.wait_blocks
// CHECK-COUNT-4: arith.addf
// CHECK:         vector.store %{{.*}} : memref<4096xf32>, vector<4xf32>
// CHECK-COUNT-4: arith.addf
// CHECK:         vector.store %{{.*}} : memref<4096xf32>, vector<4xf32>
// CHECK-NOT:     arith.addf
// CHECK-NOT:     vector.store
builtin.module @shared_sum attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @shared_sum() attributes {lowering_config = #cuda.matmul_fma<tile_m = 32, tile_n = 32, tile_k = 16, thread_m = 4, thread_n = 4, stages = 4, split = 2>} {
    %b0 = plan.binding 0 read align 64 : memref<64x512xf32>
    %t0 = bufferization.to_tensor %b0 restrict : memref<64x512xf32> to tensor<64x512xf32>
    %b1 = plan.binding 1 read align 64 : memref<512x64xf32>
    %t1 = bufferization.to_tensor %b1 restrict : memref<512x64xf32> to tensor<512x64xf32>
    %e4 = tensor.empty() : tensor<64x64xf32>
    %cf4 = arith.constant 0.0 : f32
    %f4 = linalg.fill ins(%cf4 : f32) outs(%e4 : tensor<64x64xf32>) -> tensor<64x64xf32>
    %product = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] ins(%t0, %t1 : tensor<64x512xf32>, tensor<512x64xf32>) outs(%f4 : tensor<64x64xf32>) -> tensor<64x64xf32>
    %b2 = plan.binding 2 write align 64 : memref<64x64xf32>
    bufferization.materialize_in_destination %product in restrict writable %b2 : (tensor<64x64xf32>, memref<64x64xf32>) -> ()
    return
  }
}
