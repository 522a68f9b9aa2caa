// RUN: xc-opt %s -split-input-file -canonicalize -xc-cuda-select-strategy -xc-cuda-emit-matmul-mma -xc-cuda-plan-shared-memory -xc-cuda-place-waits -xc-cuda-lower-registers -canonicalize -cse | FileCheck %s
// RUN: xc-opt %s -split-input-file -canonicalize -xc-cuda-select-strategy -xc-cuda-emit-matmul-mma -canonicalize -cse | FileCheck %s --check-prefix=TEXT

// Fragments are loaded one product ahead of their use, across the barrier too; copies start between
// the products.
//
// What is emitted says nothing of lanes and instructions: the first product's operands come with the tile that is waited for, the second
// one's from the slot that the loop carries.
// TEXT-LABEL: func.func @async
// TEXT-NOT:     {{(^| )(nvvm|llvm)\.[a-z_]+ %}}
// TEXT:         %[[RING:.*]] = tile.ring arrivals 0 consumers 0 :
// TEXT:         tile.start_copy %{{.*}}[%[[FROM:.*]]] distance 0 inside %{{.*}} to %[[A:.*]][%[[LINE:.*]], %[[AT:.*]]] width 8
// TEXT:         %[[DOWN:.*]] = arith.addi %[[LINE]], %c8
// TEXT:         tile.start_copy %{{.*}}[%[[FROM]]] distance 512 inside %{{.*}} to %[[A]][%[[DOWN]], %[[AT]]] width 8
// TEXT:         %[[COPIED:.*]] = tile.commit_copies
// TEXT:         tile.await_copies %[[A]], %{{.*}} after %[[COPIED]], %[[COPIED]] :
// TEXT:         tile.read_operand
// TEXT:         tile.read_operand %{{.*}} transposed
// TEXT:         scf.for {{.*}} iter_args(%[[SLOT:[a-z0-9]+]] = %c0
// TEXT:           %[[THERE:.*]] = tile.slot %[[RING]][%[[SLOT]]] 0
// TEXT:           tile.read_operand %[[THERE]]
// TEXT:           tile.multiply
// TEXT:           %[[NEXT:.*]] = tile.commit_copies
// TEXT:           %[[TILES:.*]]:2 = tile.await_copies %{{.*}}, %{{.*}} after %[[NEXT]], %[[NEXT]] :
// TEXT:           tile.read_operand %[[TILES]]#0
// TEXT:           tile.read_operand %[[TILES]]#1{{.*}} transposed
// TEXT:           tile.multiply
// TEXT:         tile.drain_copies
// TEXT:         tile.reuse %[[RING]] 0
// TEXT:         tile.fragment
// TEXT:         tile.write
// TEXT:         tile.sync_warp
// TEXT:         tile.read_elements
// TEXT-NOT:     {{(^| )(nvvm|llvm)\.[a-z_]+ %}}
// TEXT:         return

// CHECK-LABEL: func.func @async
// CHECK:         nvvm.cp.async.shared.global
// CHECK:         nvvm.cp.async.commit.group
// CHECK:         tile.retire_copies 0
// CHECK:         nvvm.ldmatrix {{.*}}layout = #nvvm.mma_layout<row>
// CHECK:         nvvm.ldmatrix {{.*}}layout = #nvvm.mma_layout<col>
// CHECK:         scf.for
// CHECK:           nvvm.ldmatrix {{.*}}layout = #nvvm.mma_layout<row>
// CHECK:           nvvm.ldmatrix {{.*}}layout = #nvvm.mma_layout<col>
// CHECK:           nvvm.cp.async.shared.global
// CHECK-COUNT-2:   nvvm.mma.sync
// CHECK:           nvvm.cp.async.commit.group
// CHECK:           tile.retire_copies 0
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

// Rows of whole words are copied by as many bytes as they are aligned to.
// CHECK-LABEL: func.func @narrow
// CHECK-COUNT-4: nvvm.cp.async.shared.global {{.*}}, 4, cache =  ca
// CHECK-COUNT-2: nvvm.cp.async.shared.global {{.*}}, 8, cache =  ca
// CHECK:         nvvm.cp.async.commit.group
// CHECK-NOT:     memref.load
builtin.module @narrow attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @narrow() attributes {lowering_config = #cuda.matmul_mma<tile_m = 16, tile_n = 16, tile_k = 16, warps_m = 1, warps_n = 1, stages = 2>} {
    %b0 = plan.binding 0 read align 64 : memref<33x130xbf16>
    %t0 = bufferization.to_tensor %b0 restrict : memref<33x130xbf16> to tensor<33x130xbf16>
    %b1 = plan.binding 1 read align 64 : memref<130x12xbf16>
    %t1 = bufferization.to_tensor %b1 restrict : memref<130x12xbf16> to tensor<130x12xbf16>
    %e4 = tensor.empty() : tensor<33x12xf32>
    %cf4 = arith.constant 0.0 : f32
    %f4 = linalg.fill ins(%cf4 : f32) outs(%e4 : tensor<33x12xf32>) -> tensor<33x12xf32>
    %product = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] ins(%t0, %t1 : tensor<33x130xbf16>, tensor<130x12xbf16>) outs(%f4 : tensor<33x12xf32>) -> tensor<33x12xf32>
    %e8 = tensor.empty() : tensor<33x12xbf16>
    %g9 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%product : tensor<33x12xf32>) outs(%e8 : tensor<33x12xbf16>) {
    ^bb0(%a: f32, %b: bf16):
      %s = arith.truncf %a : f32 to bf16
      linalg.yield %s : bf16
    } -> tensor<33x12xbf16>
    %b2 = plan.binding 2 write align 64 : memref<33x12xbf16>
    bufferization.materialize_in_destination %g9 in restrict writable %b2 : (tensor<33x12xbf16>, memref<33x12xbf16>) -> ()
    return
  }
}

// -----

// Rows of single elements of 16 bits go through registers.
// CHECK-LABEL: func.func @unaligned
// CHECK-NOT:     nvvm.cp.async.shared.global
// CHECK:         scf.for
// CHECK:           memref.load
// CHECK:           llvm.store %{{.*}} : bf16, !llvm.ptr<3>
// CHECK:           tile.retire_copies 0
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

// -----

// The largest element of each part of a row, beside the product: of what is stored, rounded.
// CHECK-LABEL: func.func @rows_in_parts
// CHECK-DAG:     %[[WIDTH:.*]] = arith.constant 64 : index
// CHECK:         nvvm.mma.sync
// CHECK:         %[[NARROW:.*]] = arith.truncf %{{.*}} : vector<2xf32> to vector<2xbf16>
// CHECK:         vector.extract %[[NARROW]][0]
// CHECK:         arith.maximumf %{{.*}} : bf16
// CHECK:         llvm.store
// CHECK:         gpu.shuffle xor
// CHECK:         arith.maximumf %{{.*}} : bf16
// CHECK:         gpu.shuffle xor
// CHECK:         arith.maximumf %{{.*}} : bf16
// CHECK:         scf.if
// CHECK:           arith.divui %{{.*}}, %[[WIDTH]]
// CHECK:           memref.store
builtin.module @rows_in_parts attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @rows_in_parts() attributes {lowering_config = #cuda.matmul_mma<tile_m = 128, tile_n = 128, tile_k = 32, warps_m = 2, warps_n = 2, stages = 2>} {
    %b0 = plan.binding 0 read align 64 : memref<512x128xbf16>
    %t0 = bufferization.to_tensor %b0 restrict : memref<512x128xbf16> to tensor<512x128xbf16>
    %b1 = plan.binding 1 read align 64 : memref<128x216xbf16>
    %t1 = bufferization.to_tensor %b1 restrict : memref<128x216xbf16> to tensor<128x216xbf16>
    %e = tensor.empty() : tensor<512x216xf32>
    %zero = arith.constant 0.0 : f32
    %init = linalg.fill ins(%zero : f32) outs(%e : tensor<512x216xf32>) -> tensor<512x216xf32>
    %product = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] ins(%t0, %t1 : tensor<512x128xbf16>, tensor<128x216xbf16>) outs(%init : tensor<512x216xf32>) -> tensor<512x216xf32>
    %e2 = tensor.empty() : tensor<512x216xbf16>
    %narrow = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%product : tensor<512x216xf32>) outs(%e2 : tensor<512x216xbf16>) {
    ^bb0(%a: f32, %b: bf16):
      %s = arith.truncf %a : f32 to bf16
      linalg.yield %s : bf16
    } -> tensor<512x216xbf16>
    %o = tensor.empty() : tensor<512x4xbf16>
    %neutral = arith.constant 0xFF80 : bf16
    %start = linalg.fill ins(%neutral : bf16) outs(%o : tensor<512x4xbf16>) -> tensor<512x4xbf16>
    %parts = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1 floordiv 64)>], iterator_types = ["parallel", "reduction"]} ins(%narrow : tensor<512x216xbf16>) outs(%start : tensor<512x4xbf16>) attrs = {plan.partial = #plan.partial<columns, 64>} {
    ^bb0(%a: bf16, %acc: bf16):
      %s = arith.maximumf %acc, %a : bf16
      linalg.yield %s : bf16
    } -> tensor<512x4xbf16>
    %b2 = plan.binding 2 write align 64 : memref<512x216xbf16>
    bufferization.materialize_in_destination %narrow in restrict writable %b2 : (tensor<512x216xbf16>, memref<512x216xbf16>) -> ()
    %b3 = plan.binding 3 write align 64 : memref<512x4xbf16>
    bufferization.materialize_in_destination %parts in restrict writable %b3 : (tensor<512x4xbf16>, memref<512x4xbf16>) -> ()
    return
  }
}

// -----

// Sums that begin anew after some steps, and are added up.
// CHECK-LABEL: func.func @parts
// CHECK:         %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK:         scf.for {{.*}} iter_args(%{{[^,]*}}, %[[TOTAL:[a-z0-9]+]] = %[[ZERO]]
// CHECK:           %[[PART:[0-9a-z]+]]:{{[0-9]+}} = scf.for {{.*}} iter_args(%{{[^,]*}}, %{{[a-z0-9]+}} = %[[ZERO]]
// CHECK:             nvvm.mma.sync
// CHECK:             scf.yield
// CHECK:           arith.addf %[[TOTAL]], %[[PART]]#1 : f32
builtin.module @parts attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @parts() attributes {lowering_config = #cuda.matmul_mma<tile_m = 16, tile_n = 16, tile_k = 32, warps_m = 1, warps_n = 1, stages = 2, part_steps = 1>} {
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

// Shares of a sum of symbolic length.
// CHECK-LABEL: func.func @shares
// CHECK:         %[[N:.*]] = plan.scalar 0
// CHECK:         %[[ROUNDED:.*]] = arith.addi %[[N]], %c383
// CHECK:         %[[STEPS:.*]] = arith.divui %[[ROUNDED]], %c384
// CHECK:         %[[ONE:.*]] = arith.maxsi %[[STEPS]], %c1
// CHECK:         %[[LENGTH:.*]] = arith.muli %[[ONE]], %c64
// CHECK:         %[[SHARE:.*]] = arith.divui %{{.*}}, %c2
// CHECK:         %[[START:.*]] = arith.muli %[[SHARE]], %[[LENGTH]]
// CHECK:         %[[K:.*]] = arith.addi %[[START]]
// CHECK:         arith.cmpi slt, %[[K]], %[[N]]
builtin.module @shares attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @shares() attributes {lowering_config = #cuda.matmul_mma<tile_m = 64, tile_n = 64, tile_k = 32, warps_m = 2, warps_n = 2, stages = 2>} {
    %n = plan.scalar 0 : index
    %b0 = plan.binding 0 read align 64 sizes(%n) : memref<?x64xbf16>
    %t0 = bufferization.to_tensor %b0 restrict : memref<?x64xbf16> to tensor<?x64xbf16>
    %b1 = plan.binding 1 read align 64 sizes(%n) : memref<?x128xbf16>
    %t1 = bufferization.to_tensor %b1 restrict : memref<?x128xbf16> to tensor<?x128xbf16>
    %e = tensor.empty() : tensor<6x64x128xf32>
    %zero = arith.constant 0.0 : f32
    %init = linalg.fill ins(%zero : f32) outs(%e : tensor<6x64x128xf32>) -> tensor<6x64x128xf32>
    %sums = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (k mod 6, m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%t0, %t1 : tensor<?x64xbf16>, tensor<?x128xbf16>) outs(%init : tensor<6x64x128xf32>) attrs = {plan.shares} {
    ^bb0(%a: bf16, %b: bf16, %acc: f32):
      %l = arith.extf %a : bf16 to f32
      %r = arith.extf %b : bf16 to f32
      %p = arith.mulf %l, %r : f32
      %s = arith.addf %acc, %p : f32
      linalg.yield %s : f32
    } -> tensor<6x64x128xf32>
    %b2 = plan.binding 2 write align 64 : memref<6x64x128xf32>
    bufferization.materialize_in_destination %sums in restrict writable %b2 : (tensor<6x64x128xf32>, memref<6x64x128xf32>) -> ()
    return
  }
}
