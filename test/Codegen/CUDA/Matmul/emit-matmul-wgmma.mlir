// RUN: xc-opt %s -split-input-file -canonicalize -xc-cuda-select-strategy -xc-cuda-emit-matmul-wgmma -canonicalize -cse | FileCheck %s
// RUN: xc-opt %s -split-input-file -canonicalize -xc-cuda-select-strategy -xc-cuda-emit-matmul-wgmma -xc-cuda-lower-schedule -xc-cuda-place-waits -canonicalize -cse | FileCheck %s --check-prefix=FENCE

// CHECK-DAG: #[[SIZES:.*]] = affine_map<() -> (512, 128)>
// CHECK-DAG: #[[STRIDES:.*]] = affine_map<() -> (128, 1)>

// B's rows are contiguous, so its tile is k x columns, and read transposed.
// CHECK-LABEL: func.func @boxes
// CHECK-SAME:    plan.launch = #plan.launch_config<grid = [16, 1, 1], block = [384, 1, 1]
// CHECK-DAG:     tile.tensor_map %{{.*}} {sizes = #[[SIZES]], strides = #[[STRIDES]]} : memref<65536xbf16> -> {{.*}}<128x64xbf16>
// CHECK-DAG:     tile.tensor_map %{{.*}} -> {{.*}}<64x64xbf16>
// CHECK:         %[[RING:.*]] = tile.ring arrivals 1 consumers 2 : {{.*}}<3, {{.*}}<128x64xbf16>, {{.*}}<64x128xbf16>>
// CHECK:         gpu.barrier
// CHECK:         tile.roles counts [1, 2] registers [40, 232] {
// CHECK:           nvvm.elect.sync
// CHECK:           tile.persistent
// CHECK:             scf.for
// CHECK:               tile.wait_empty %[[RING]]
// CHECK:               tile.publish %[[RING]][%{{.*}}] bytes 32768
// CHECK-COUNT-2:       tile.load
// CHECK:         }, {
// CHECK:           tile.persistent
// CHECK:             %[[NONE:.*]] = tile.nothing
// CHECK:             %[[LAST:.*]]:5 = scf.for {{.*}} %[[BEFORE:[a-z0-9]+]] = %[[NONE]])
// CHECK:               tile.wait_full %[[RING]]
// CHECK:               %[[SUMS:.*]], %[[STARTED:.*]] = tile.dot {{.*}} accumulate %{{.*}} : {{.*}} if %{{.*}} k 64 {transposed_b}
// CHECK:               tile.release %[[RING]][%{{.*}}] after %[[BEFORE]] :
// CHECK:               scf.yield {{.*}}, %[[SUMS]], %[[STARTED]] :
// CHECK:             tile.await %[[LAST]]#3 after %[[LAST]]#4 : {{.*}}<64x128xf32, accumulator>
// CHECK:             tile.release %[[RING]][%{{.*}}] after %[[LAST]]#4 :
// CHECK:             tile.wait_stores 0 read
// CHECK:             arith.truncf %{{.*}} : vector<2xf32> to vector<2xbf16>
// CHECK:             tile.write_fragment
// CHECK-COUNT-2:     tile.store
// CHECK:           tile.wait_stores 0{{$}}
// FENCE-LABEL: func.func @boxes
// The product of the step before is done when this step's has been started; the last one's is waited for behind the loop.
// FENCE:         tile.dot
// FENCE-NOT:     tile.dot
// FENCE:         tile.await after %{{.*}} pending 1
// FENCE-NEXT:    scf.if
// FENCE-NEXT:      tile.release
// FENCE:         tile.await %{{.*}} after %{{.*}} pending 0 :
// FENCE-NEXT:    scf.if
// FENCE-NEXT:      tile.release
// FENCE:         tile.write_fragment
// FENCE:         tile.fence_async
// FENCE-NEXT:    tile.sync_warpgroup
// FENCE-NOT:     tile.fence_async
// FENCE:         tile.wait_stores 0{{$}}
builtin.module @boxes attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @boxes() attributes {lowering_config = #cuda.matmul_wgmma<tile_m = 128, tile_n = 128, tile_k = 64, warpgroups = 2, stages = 3, raster = 8, blocks = 1, split = 1>} {
    %b0 = plan.binding 0 read align 64 : memref<512x128xbf16>
    %t0 = bufferization.to_tensor %b0 restrict : memref<512x128xbf16> to tensor<512x128xbf16>
    %b1 = plan.binding 1 read align 64 : memref<128x512xbf16>
    %t1 = bufferization.to_tensor %b1 restrict : memref<128x512xbf16> to tensor<128x512xbf16>
    %e = tensor.empty() : tensor<512x512xf32>
    %zero = arith.constant 0.0 : f32
    %init = linalg.fill ins(%zero : f32) outs(%e : tensor<512x512xf32>) -> tensor<512x512xf32>
    %product = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] ins(%t0, %t1 : tensor<512x128xbf16>, tensor<128x512xbf16>) outs(%init : tensor<512x512xf32>) -> tensor<512x512xf32>
    %o = tensor.empty() : tensor<512x512xbf16>
    %narrow = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%product : tensor<512x512xf32>) outs(%o : tensor<512x512xbf16>) {
    ^bb0(%a: f32, %b: bf16):
      %s = arith.truncf %a : f32 to bf16
      linalg.yield %s : bf16
    } -> tensor<512x512xbf16>
    %b2 = plan.binding 2 write align 64 : memref<512x512xbf16>
    bufferization.materialize_in_destination %narrow in restrict writable %b2 : (tensor<512x512xbf16>, memref<512x512xbf16>) -> ()
    return
  }
}

// -----

// Columns that are no multiple of 16 are stored by the threads that hold them, row by row where the tile is not whole.
// CHECK-LABEL: func.func @direct
// CHECK-NOT:     tile.alloc
// CHECK:         tile.await %{{.*}} after %{{.*}} : {{.*}}<64x56xf32, accumulator>
// CHECK-NOT:     tile.store
// CHECK:         scf.if
// CHECK:           vector.store %{{.*}} : memref<12800xf32>, vector<2xf32>
builtin.module @direct attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @direct() attributes {lowering_config = #cuda.matmul_wgmma<tile_m = 64, tile_n = 56, tile_k = 64, warpgroups = 1, stages = 2, raster = 8, blocks = 1, split = 1>} {
    %b0 = plan.binding 0 read align 64 : memref<100x64xbf16>
    %t0 = bufferization.to_tensor %b0 restrict : memref<100x64xbf16> to tensor<100x64xbf16>
    %b1 = plan.binding 1 read align 64 : memref<64x128xbf16>
    %t1 = bufferization.to_tensor %b1 restrict : memref<64x128xbf16> to tensor<64x128xbf16>
    %e = tensor.empty() : tensor<100x128xf32>
    %zero = arith.constant 0.0 : f32
    %init = linalg.fill ins(%zero : f32) outs(%e : tensor<100x128xf32>) -> tensor<100x128xf32>
    %product = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] ins(%t0, %t1 : tensor<100x64xbf16>, tensor<64x128xbf16>) outs(%init : tensor<100x128xf32>) -> tensor<100x128xf32>
    %b2 = plan.binding 2 write align 64 : memref<100x128xf32>
    bufferization.materialize_in_destination %product in restrict writable %b2 : (tensor<100x128xf32>, memref<100x128xf32>) -> ()
    return
  }
}

// -----

// No box reaches rows of an odd length: threads store them from shared memory, neighbours beside neighbours.
// CHECK-LABEL: func.func @odd_rows
// CHECK:         %[[STAGING:.*]] = tile.alloc : <64x64xbf16>
// CHECK:         tile.write_fragment %{{.*}} to %[[STAGING]]
// CHECK:         %[[ONE:.*]] = tile.read_elements %[[STAGING]]{{.*}} -> bf16
// CHECK:         memref.store %[[ONE]]
builtin.module @odd_rows attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @odd_rows() attributes {lowering_config = #cuda.matmul_wgmma<tile_m = 64, tile_n = 64, tile_k = 64, warpgroups = 1, stages = 2, raster = 8, blocks = 1, split = 1>} {
    %b0 = plan.binding 0 read align 64 : memref<100x64xbf16>
    %t0 = bufferization.to_tensor %b0 restrict : memref<100x64xbf16> to tensor<100x64xbf16>
    %b1 = plan.binding 1 read align 64 : memref<101x64xbf16>
    %t1 = bufferization.to_tensor %b1 restrict : memref<101x64xbf16> to tensor<101x64xbf16>
    %e = tensor.empty() : tensor<100x101xf32>
    %zero = arith.constant 0.0 : f32
    %init = linalg.fill ins(%zero : f32) outs(%e : tensor<100x101xf32>) -> tensor<100x101xf32>
    %product = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] ins(%t0, %t1 : tensor<100x64xbf16>, tensor<101x64xbf16>) outs(%init : tensor<100x101xf32>) -> tensor<100x101xf32>
    %e2 = tensor.empty() : tensor<100x101xbf16>
    %narrow = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]} ins(%product : tensor<100x101xf32>) outs(%e2 : tensor<100x101xbf16>) {
    ^bb0(%wide: f32, %out: bf16):
      %rounded = arith.truncf %wide : f32 to bf16
      linalg.yield %rounded : bf16
    } -> tensor<100x101xbf16>
    %b2 = plan.binding 2 write align 64 : memref<100x101xbf16>
    bufferization.materialize_in_destination %narrow in restrict writable %b2 : (tensor<100x101xbf16>, memref<100x101xbf16>) -> ()
    return
  }
}

// -----

// An operand A of five rows takes eight in shared memory, which wgmma reads for each eight of its own; those that no box brings are zero.
// CHECK-LABEL: func.func @few_rows
// CHECK:         tile.tensor_map %{{.*}} : memref<320xbf16> -> {{.*}}<5x64xbf16>
// CHECK:         tile.ring {{.*}}<8x64xbf16>, {{.*}}<64x64xbf16>>
// CHECK:         tile.publish %{{.*}} bytes 8832
// CHECK:         tile.dot {{.*}} : {{.*}}<8x64xbf16>, {{.*}}<64x64xbf16> -> {{.*}}<64x64xf32, accumulator>
builtin.module @few_rows attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @few_rows() attributes {lowering_config = #cuda.matmul_wgmma<tile_m = 64, tile_n = 64, tile_k = 64, warpgroups = 1, stages = 2, raster = 8, blocks = 1, split = 1>} {
    %b0 = plan.binding 0 read align 64 : memref<5x64xbf16>
    %t0 = bufferization.to_tensor %b0 restrict : memref<5x64xbf16> to tensor<5x64xbf16>
    %b1 = plan.binding 1 read align 64 : memref<64x128xbf16>
    %t1 = bufferization.to_tensor %b1 restrict : memref<64x128xbf16> to tensor<64x128xbf16>
    %e = tensor.empty() : tensor<5x128xf32>
    %zero = arith.constant 0.0 : f32
    %init = linalg.fill ins(%zero : f32) outs(%e : tensor<5x128xf32>) -> tensor<5x128xf32>
    %product = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] ins(%t0, %t1 : tensor<5x64xbf16>, tensor<64x128xbf16>) outs(%init : tensor<5x128xf32>) -> tensor<5x128xf32>
    %b2 = plan.binding 2 write align 64 : memref<5x128xf32>
    bufferization.materialize_in_destination %product in restrict writable %b2 : (tensor<5x128xf32>, memref<5x128xf32>) -> ()
    return
  }
}

// -----

// A tile of 80 columns: one panel of B and a quarter of one, whose boxes have a map of their own; sums of f32 are staged by panels of 32
// columns, of which the third is half full.
// CHECK-LABEL: func.func @tails
// CHECK-DAG:     %[[WHOLE:.*]] = tile.tensor_map %{{.*}} : memref<20480xbf16> -> {{.*}}<64x64xbf16>
// CHECK-DAG:     %[[TAIL:.*]] = tile.tensor_map %{{.*}} : memref<20480xbf16> -> {{.*}}<64x16xbf16, span = 128>
// CHECK-DAG:     %[[OUT:.*]] = tile.tensor_map %{{.*}} : memref<32000xf32> -> {{.*}}<64x32xf32>
// CHECK-DAG:     %[[OUTTAIL:.*]] = tile.tensor_map %{{.*}} : memref<32000xf32> -> {{.*}}<64x16xf32, span = 128>
// CHECK:         tile.ring {{.*}}<64x64xbf16>, {{.*}}<64x80xbf16>>
// CHECK:         tile.publish %{{.*}} bytes 18432
// CHECK:         tile.load %[[WHOLE]]
// CHECK:         tile.load %[[TAIL]]
// CHECK:         tile.write %{{.*}} to %{{.*}} : vector<2xf32>, {{.*}}<64x32xf32>
// CHECK-COUNT-2: tile.store %{{.*}} to %[[OUT]][
// CHECK:         tile.store %{{.*}} to %[[OUTTAIL]][
builtin.module @tails attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @tails() attributes {lowering_config = #cuda.matmul_wgmma<tile_m = 64, tile_n = 80, tile_k = 64, warpgroups = 1, stages = 2, raster = 8, blocks = 1, split = 1>} {
    %b0 = plan.binding 0 read align 64 : memref<100x64xbf16>
    %t0 = bufferization.to_tensor %b0 restrict : memref<100x64xbf16> to tensor<100x64xbf16>
    %b1 = plan.binding 1 read align 64 : memref<64x320xbf16>
    %t1 = bufferization.to_tensor %b1 restrict : memref<64x320xbf16> to tensor<64x320xbf16>
    %e = tensor.empty() : tensor<100x320xf32>
    %zero = arith.constant 0.0 : f32
    %init = linalg.fill ins(%zero : f32) outs(%e : tensor<100x320xf32>) -> tensor<100x320xf32>
    %product = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] ins(%t0, %t1 : tensor<100x64xbf16>, tensor<64x320xbf16>) outs(%init : tensor<100x320xf32>) -> tensor<100x320xf32>
    %b2 = plan.binding 2 write align 64 : memref<100x320xf32>
    bufferization.materialize_in_destination %product in restrict writable %b2 : (tensor<100x320xf32>, memref<100x320xf32>) -> ()
    return
  }
}

// -----

// f32 that may be rounded, B's rows contiguous: B is operand A of wgmma, read transposed in halves of a step, and each warp
// releases a stage. A thread's four neighbours of a row of the product are stored together.
// CHECK-LABEL: func.func @across
// CHECK-DAG:     tile.tensor_map %{{.*}} {sizes = {{.*}}, strides = {{.*}}, tf32} : memref<65536xf32> -> {{.*}}<32x32xf32>
// CHECK-DAG:     tile.tensor_map %{{.*}} {sizes = {{.*}}, strides = {{.*}}, tf32} : memref<32768xf32> -> {{.*}}<64x32xf32>
// CHECK:         %[[RING:.*]] = tile.ring arrivals 1 consumers 8 : {{.*}}<3, {{.*}}<32x256xf32>, {{.*}}<64x32xf32>>
// CHECK:           tile.wait_full %[[RING]]
// CHECK:           %[[F:.*]]:2 = tile.read_fragments %{{.*}} from 0 : {{.*}}<32x256xf32> -> {{.*}}<64x16xf32, operand>, {{.*}}<64x16xf32, operand>
// CHECK:           %{{.*}}, %[[FIRST:.*]] = tile.dot %[[F]]#0, %{{.*}} accumulate %{{.*}} if %{{.*}} k 16 {tf32}
// CHECK:           %{{.*}}, %[[OTHER:.*]] = tile.dot %[[F]]#1, %{{.*}} accumulate %{{.*}} if %{{.*}} k 16 {tf32}
// CHECK:           nvvm.bar.warp.sync
// CHECK:           tile.release %[[RING]][%{{.*}}] after %{{.*}}, %{{.*}} :
// CHECK:           %[[G:.*]]:2 = tile.read_fragments %{{.*}} from 16 :
// CHECK:           tile.dot %[[G]]#0, %{{.*}} from 16 accumulate %{{.*}} k 16 {tf32}
// CHECK:           tile.dot %[[G]]#1, %{{.*}} from 16 accumulate %{{.*}} k 16 {tf32}
// CHECK:           tile.await after %[[FIRST]], %[[OTHER]]
// CHECK:         tile.await %{{.*}}, %{{.*}} after %{{.*}}, %{{.*}} :
// FENCE-LABEL: func.func @across
// FENCE:         scf.for {{.*}} %[[USED:[a-z0-9]+]] = %{{[a-z0-9]+}}, %[[BESIDE:[a-z0-9]+]] = %{{[a-z0-9]+}})
// FENCE:           tile.await after %{{.*}}, %{{.*}} keep %[[USED]], %[[BESIDE]] : {{.*}} pending 2
// FENCE:           %[[G:.*]]:2 = tile.read_fragments %{{.*}} from 16 :
// FENCE:           tile.await after %{{.*}}, %{{.*}} keep %{{.*}} pending 2
// FENCE:           scf.yield {{.*}}, %[[G]]#0, %[[G]]#1 :
// FENCE:         tile.await %{{.*}}, %{{.*}} after %{{.*}}, %{{.*}} keep %{{.*}} pending 0 :
// CHECK:         vector.store %{{.*}} : memref<131072xf32>, vector<4xf32>
builtin.module @across attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @across() attributes {lowering_config = #cuda.matmul_wgmma<tile_m = 256, tile_n = 64, tile_k = 32, warpgroups = 2, stages = 3, raster = 8, blocks = 1, split = 1>} {
    %b0 = plan.binding 0 read align 64 : memref<256x128xf32>
    %t0 = bufferization.to_tensor %b0 restrict : memref<256x128xf32> to tensor<256x128xf32>
    %b1 = plan.binding 1 read align 64 : memref<128x512xf32>
    %t1 = bufferization.to_tensor %b1 restrict : memref<128x512xf32> to tensor<128x512xf32>
    %e = tensor.empty() : tensor<256x512xf32>
    %zero = arith.constant 0.0 : f32
    %init = linalg.fill ins(%zero : f32) outs(%e : tensor<256x512xf32>) -> tensor<256x512xf32>
    %product = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] ins(%t0, %t1 : tensor<256x128xf32>, tensor<128x512xf32>) outs(%init : tensor<256x512xf32>) -> tensor<256x512xf32>
    %b2 = plan.binding 2 write align 64 : memref<256x512xf32>
    bufferization.materialize_in_destination %product in restrict writable %b2 : (tensor<256x512xf32>, memref<256x512xf32>) -> ()
    return
  }
}

// -----

// Neither operand contiguous along k: the second one, A, is loaded by the threads that fetch and stored turned. All of them wait for
// the stage; one starts the copies of B, each warp signals its stores.
// CHECK-LABEL: func.func @turned
// CHECK:         tile.tensor_map %{{.*}} {sizes = {{.*}}, strides = {{.*}}, tf32} : memref<65536xf32> -> {{.*}}<32x32xf32>
// CHECK-NOT:     tile.tensor_map
// CHECK:         %[[RING:.*]] = tile.ring arrivals 5 consumers 8 : {{.*}}<3, {{.*}}<32x256xf32>, {{.*}}<64x32xf32>>
// CHECK:         tile.roles counts [1, 2] registers [72, 216]
// CHECK:           llvm.load
// CHECK:           scf.for
// CHECK:             tile.wait_empty %[[RING]]
// CHECK:             scf.if
// CHECK:               tile.publish %[[RING]][%{{.*}}] bytes 32768 :
// CHECK:               tile.load
// CHECK:             }
// CHECK:             nvvm.convert.float.to.tf32 %{{.*}} {rnd = #nvvm.fp_rnd_mode<rna>}
// CHECK:             tile.write %{{.*}} : vector<4xf32>, {{.*}}<64x32xf32>
// CHECK-COUNT-4:     llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr<1> -> f32
// CHECK:             tile.write
// CHECK:             nvvm.bar.warp.sync
// CHECK:               tile.publish %[[RING]][%{{.*}}] bytes 0 :
// CHECK:           tile.read_fragments
// FENCE-LABEL: func.func @turned
// FENCE:         tile.write
// FENCE:         tile.fence_async
// FENCE-NEXT:    nvvm.bar.warp.sync
// FENCE-NEXT:    scf.if
// FENCE-NEXT:      tile.publish
// FENCE-NOT:     tile.fence_async
// FENCE:         return
builtin.module @turned attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @turned() attributes {lowering_config = #cuda.matmul_wgmma<tile_m = 256, tile_n = 64, tile_k = 32, warpgroups = 2, stages = 3, raster = 8, blocks = 1, split = 1>} {
    %b0 = plan.binding 0 read align 64 : memref<128x256xf32>
    %t0 = bufferization.to_tensor %b0 restrict : memref<128x256xf32> to tensor<128x256xf32>
    %b1 = plan.binding 1 read align 64 : memref<128x512xf32>
    %t1 = bufferization.to_tensor %b1 restrict : memref<128x512xf32> to tensor<128x512xf32>
    %e = tensor.empty() : tensor<256x512xf32>
    %zero = arith.constant 0.0 : f32
    %init = linalg.fill ins(%zero : f32) outs(%e : tensor<256x512xf32>) -> tensor<256x512xf32>
    %product = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] ins(%t0, %t1 : tensor<128x256xf32>, tensor<128x512xf32>) outs(%init : tensor<256x512xf32>) -> tensor<256x512xf32>
    %b2 = plan.binding 2 write align 64 : memref<256x512xf32>
    bufferization.materialize_in_destination %product in restrict writable %b2 : (tensor<256x512xf32>, memref<256x512xf32>) -> ()
    return
  }
}

// -----

// Slices and permutations of what is in memory are boxes of it: they begin at an offset, and dims have the strides of the whole.
// CHECK-DAG: #[[COLUMNS:.*]] = affine_map<() -> (4, 512, 128)>
// CHECK-DAG: #[[APART:.*]] = affine_map<() -> (196608, 384, 1)>
// CHECK-DAG: #[[START:.*]] = affine_map<() -> (128)>
// CHECK-DAG: #[[HEADS:.*]] = affine_map<() -> (128, 4, 128)>
// CHECK-DAG: #[[TURNED:.*]] = affine_map<() -> (512, 128, 1)>
// CHECK-LABEL: func.func @in_place
// CHECK-DAG:     tile.tensor_map %{{.*}} {offset = #[[START]], sizes = #[[COLUMNS]], strides = #[[APART]]} : memref<786432xbf16> -> {{.*}}<1x128x64xbf16>
// CHECK-DAG:     tile.tensor_map %{{.*}} {sizes = #[[HEADS]], strides = #[[TURNED]]} : memref<65536xbf16> -> {{.*}}<64x1x64xbf16>
builtin.module @in_place attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @in_place() attributes {lowering_config = #cuda.matmul_wgmma<tile_m = 128, tile_n = 128, tile_k = 64, warpgroups = 2, stages = 3, raster = 8, blocks = 1, split = 1>} {
    %b0 = plan.binding 0 read align 64 : memref<4x512x384xbf16>
    %t0 = bufferization.to_tensor %b0 restrict : memref<4x512x384xbf16> to tensor<4x512x384xbf16>
    %slice = tensor.extract_slice %t0[0, 0, 128] [4, 512, 128] [1, 1, 1] : tensor<4x512x384xbf16> to tensor<4x512x128xbf16>
    %b1 = plan.binding 1 read align 64 : memref<128x4x128xbf16>
    %t1 = bufferization.to_tensor %b1 restrict : memref<128x4x128xbf16> to tensor<128x4x128xbf16>
    %t = tensor.empty() : tensor<4x128x128xbf16>
    %turned = linalg.generic {indexing_maps = [affine_map<(h, k, n) -> (k, h, n)>, affine_map<(h, k, n) -> (h, k, n)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%t1 : tensor<128x4x128xbf16>) outs(%t : tensor<4x128x128xbf16>) {
    ^bb0(%a: bf16, %b: bf16):
      linalg.yield %a : bf16
    } -> tensor<4x128x128xbf16>
    %e = tensor.empty() : tensor<4x512x128xf32>
    %zero = arith.constant 0.0 : f32
    %init = linalg.fill ins(%zero : f32) outs(%e : tensor<4x512x128xf32>) -> tensor<4x512x128xf32>
    %product = linalg.contract indexing_maps = [affine_map<(h, m, n, k) -> (h, m, k)>, affine_map<(h, m, n, k) -> (h, k, n)>, affine_map<(h, m, n, k) -> (h, m, n)>] ins(%slice, %turned : tensor<4x512x128xbf16>, tensor<4x128x128xbf16>) outs(%init : tensor<4x512x128xf32>) -> tensor<4x512x128xf32>
    %b2 = plan.binding 2 write align 64 : memref<4x512x128xf32>
    bufferization.materialize_in_destination %product in restrict writable %b2 : (tensor<4x512x128xf32>, memref<4x512x128xf32>) -> ()
    return
  }
}

// -----

// The squares of rows in parts of 64 columns, which four lanes share; the last part has 24. Nothing else is stored.
// CHECK-LABEL: func.func @rows_in_parts
// CHECK-DAG:     %[[WIDTH:.*]] = arith.constant 64 : index
// CHECK:         tile.await %{{.*}} after %{{.*}} : {{.*}}<64x128xf32, accumulator>
// CHECK:         %[[PAIR:.*]] = tile.fragment %{{.*}}[0, 0]
// CHECK:         %[[SQUARES:.*]] = arith.mulf %[[PAIR]], %[[PAIR]] : vector<2xf32>
// CHECK:         vector.extract %[[SQUARES]][0]
// CHECK:         vector.extract %[[SQUARES]][1]
// CHECK:         arith.addf %{{.*}} : f32
// CHECK:         gpu.shuffle xor
// CHECK:         gpu.shuffle xor
// CHECK:         scf.if
// CHECK:           arith.divui %{{.*}}, %[[WIDTH]]
// CHECK:           memref.store
// CHECK-COUNT-6: gpu.shuffle xor
// CHECK-NOT:     gpu.shuffle
// CHECK-NOT:     tile.store
builtin.module @rows_in_parts attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @rows_in_parts() attributes {lowering_config = #cuda.matmul_wgmma<tile_m = 128, tile_n = 128, tile_k = 64, warpgroups = 2, stages = 3, raster = 8, blocks = 1, split = 1>} {
    %b0 = plan.binding 0 read align 64 : memref<512x128xbf16>
    %t0 = bufferization.to_tensor %b0 restrict : memref<512x128xbf16> to tensor<512x128xbf16>
    %b1 = plan.binding 1 read align 64 : memref<128x216xbf16>
    %t1 = bufferization.to_tensor %b1 restrict : memref<128x216xbf16> to tensor<128x216xbf16>
    %e = tensor.empty() : tensor<512x216xf32>
    %zero = arith.constant 0.0 : f32
    %init = linalg.fill ins(%zero : f32) outs(%e : tensor<512x216xf32>) -> tensor<512x216xf32>
    %product = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] ins(%t0, %t1 : tensor<512x128xbf16>, tensor<128x216xbf16>) outs(%init : tensor<512x216xf32>) -> tensor<512x216xf32>
    %o = tensor.empty() : tensor<512x4xf32>
    %neutral = arith.constant -0.0 : f32
    %start = linalg.fill ins(%neutral : f32) outs(%o : tensor<512x4xf32>) -> tensor<512x4xf32>
    %parts = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1 floordiv 64)>], iterator_types = ["parallel", "reduction"]} ins(%product : tensor<512x216xf32>) outs(%start : tensor<512x4xf32>) attrs = {plan.partial = #plan.partial<columns, 64>} {
    ^bb0(%a: f32, %acc: f32):
      %q = arith.mulf %a, %a : f32
      %s = arith.addf %q, %acc : f32
      linalg.yield %s : f32
    } -> tensor<512x4xf32>
    %b2 = plan.binding 2 write align 64 : memref<512x4xf32>
    bufferization.materialize_in_destination %parts in restrict writable %b2 : (tensor<512x4xf32>, memref<512x4xf32>) -> ()
    return
  }
}

// -----

// The bias is loaded ahead of the products, all of the tile's columns of it.
// CHECK-LABEL: func.func @bias
// CHECK:         }, {
// CHECK:           tile.persistent
// CHECK-COUNT-16:    vector.load {{.*}} : memref<512xbf16>, vector<2xbf16>
// CHECK:             scf.for
// CHECK:               tile.dot
// CHECK:             tile.await %
// CHECK-NOT:         vector.load
// CHECK:             tile.store
builtin.module @bias attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @bias() attributes {lowering_config = #cuda.matmul_wgmma<tile_m = 128, tile_n = 128, tile_k = 64, warpgroups = 2, stages = 3, raster = 8, blocks = 1, split = 1>} {
    %b0 = plan.binding 0 read align 64 : memref<512x128xbf16>
    %t0 = bufferization.to_tensor %b0 restrict : memref<512x128xbf16> to tensor<512x128xbf16>
    %b1 = plan.binding 1 read align 64 : memref<128x512xbf16>
    %t1 = bufferization.to_tensor %b1 restrict : memref<128x512xbf16> to tensor<128x512xbf16>
    %b2 = plan.binding 2 read align 64 : memref<512xbf16>
    %t2 = bufferization.to_tensor %b2 restrict : memref<512xbf16> to tensor<512xbf16>
    %e = tensor.empty() : tensor<512x512xf32>
    %zero = arith.constant 0.0 : f32
    %init = linalg.fill ins(%zero : f32) outs(%e : tensor<512x512xf32>) -> tensor<512x512xf32>
    %product = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] ins(%t0, %t1 : tensor<512x128xbf16>, tensor<128x512xbf16>) outs(%init : tensor<512x512xf32>) -> tensor<512x512xf32>
    %o = tensor.empty() : tensor<512x512xbf16>
    %narrow = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%product, %t2 : tensor<512x512xf32>, tensor<512xbf16>) outs(%o : tensor<512x512xbf16>) {
    ^bb0(%a: f32, %c: bf16, %b: bf16):
      %w = arith.extf %c : bf16 to f32
      %z = arith.addf %a, %w : f32
      %s = arith.truncf %z : f32 to bf16
      linalg.yield %s : bf16
    } -> tensor<512x512xbf16>
    %b3 = plan.binding 3 write align 64 : memref<512x512xbf16>
    bufferization.materialize_in_destination %narrow in restrict writable %b3 : (tensor<512x512xbf16>, memref<512x512xbf16>) -> ()
    return
  }
}

// -----

// Beside the sums of 128 x 128 by one warpgroup there are registers for the bias alone; the scale, of f32, is loaded for the outputs, and
// again for the second half of the rows.
// CHECK-LABEL: func.func @scale_and_bias
// CHECK:         }, {
// CHECK:           tile.persistent
// CHECK-COUNT-16:    vector.load {{.*}} : memref<512xbf16>, vector<2xbf16>
// CHECK:             scf.for
// CHECK:               tile.dot
// CHECK:             tile.await %
// CHECK-COUNT-16:    vector.load {{.*}} : memref<512xf32>, vector<2xf32>
// CHECK:             tile.store
// CHECK-COUNT-16:    vector.load {{.*}} : memref<512xf32>, vector<2xf32>
// CHECK-NOT:         vector.load
// CHECK:             tile.store
builtin.module @scale_and_bias attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @scale_and_bias() attributes {lowering_config = #cuda.matmul_wgmma<tile_m = 128, tile_n = 128, tile_k = 64, warpgroups = 1, stages = 3, raster = 8, blocks = 2, split = 1>} {
    %b0 = plan.binding 0 read align 64 : memref<512x128xbf16>
    %t0 = bufferization.to_tensor %b0 restrict : memref<512x128xbf16> to tensor<512x128xbf16>
    %b1 = plan.binding 1 read align 64 : memref<128x512xbf16>
    %t1 = bufferization.to_tensor %b1 restrict : memref<128x512xbf16> to tensor<128x512xbf16>
    %b2 = plan.binding 2 read align 64 : memref<512xbf16>
    %t2 = bufferization.to_tensor %b2 restrict : memref<512xbf16> to tensor<512xbf16>
    %b3 = plan.binding 3 read align 64 : memref<512xf32>
    %t3 = bufferization.to_tensor %b3 restrict : memref<512xf32> to tensor<512xf32>
    %e = tensor.empty() : tensor<512x512xf32>
    %zero = arith.constant 0.0 : f32
    %init = linalg.fill ins(%zero : f32) outs(%e : tensor<512x512xf32>) -> tensor<512x512xf32>
    %product = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] ins(%t0, %t1 : tensor<512x128xbf16>, tensor<128x512xbf16>) outs(%init : tensor<512x512xf32>) -> tensor<512x512xf32>
    %o = tensor.empty() : tensor<512x512xbf16>
    %narrow = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%product, %t2, %t3 : tensor<512x512xf32>, tensor<512xbf16>, tensor<512xf32>) outs(%o : tensor<512x512xbf16>) {
    ^bb0(%a: f32, %c: bf16, %g: f32, %b: bf16):
      %w = arith.extf %c : bf16 to f32
      %y = arith.mulf %a, %g : f32
      %z = arith.addf %y, %w : f32
      %s = arith.truncf %z : f32 to bf16
      linalg.yield %s : bf16
    } -> tensor<512x512xbf16>
    %b4 = plan.binding 4 write align 64 : memref<512x512xbf16>
    bufferization.materialize_in_destination %narrow in restrict writable %b4 : (tensor<512x512xbf16>, memref<512x512xbf16>) -> ()
    return
  }
}

// -----

// Weights that no call writes fill the ring before the kernel waits for those in front; those who multiply wait as well.
// CHECK-LABEL: func.func @ahead
// CHECK-NOT:     nvvm.griddepcontrol
// CHECK:         gpu.barrier
// CHECK-NEXT:    tile.roles counts
// CHECK:           tile.persistent
// CHECK:             scf.if
// CHECK:               scf.for
// CHECK:                 tile.publish
// CHECK-COUNT-1:         tile.load
// CHECK-NOT:             tile.load
// CHECK:               nvvm.griddepcontrol wait
// CHECK:             scf.for
// CHECK:               scf.if
// CHECK:                 tile.wait_empty
// CHECK:                 tile.publish
// CHECK-COUNT-1:         tile.load
// CHECK-COUNT-1:       tile.load
// CHECK:         }, {
// CHECK:           nvvm.griddepcontrol wait
// CHECK-NEXT:      nvvm.griddepcontrol launch_dependents
builtin.module @ahead attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @ahead() attributes {plan.fixed_bindings = array<i64: 1>, lowering_config = #cuda.matmul_wgmma<tile_m = 128, tile_n = 128, tile_k = 64, warpgroups = 2, stages = 3, raster = 8, blocks = 1, split = 1>} {
    %b0 = plan.binding 0 read align 64 : memref<512x128xbf16>
    %t0 = bufferization.to_tensor %b0 restrict : memref<512x128xbf16> to tensor<512x128xbf16>
    %b1 = plan.binding 1 read align 64 : memref<128x512xbf16>
    %t1 = bufferization.to_tensor %b1 restrict : memref<128x512xbf16> to tensor<128x512xbf16>
    %e = tensor.empty() : tensor<512x512xf32>
    %zero = arith.constant 0.0 : f32
    %init = linalg.fill ins(%zero : f32) outs(%e : tensor<512x512xf32>) -> tensor<512x512xf32>
    %product = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] ins(%t0, %t1 : tensor<512x128xbf16>, tensor<128x512xbf16>) outs(%init : tensor<512x512xf32>) -> tensor<512x512xf32>
    %o = tensor.empty() : tensor<512x512xbf16>
    %narrow = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%product : tensor<512x512xf32>) outs(%o : tensor<512x512xbf16>) {
    ^bb0(%a: f32, %b: bf16):
      %s = arith.truncf %a : f32 to bf16
      linalg.yield %s : bf16
    } -> tensor<512x512xbf16>
    %b2 = plan.binding 2 write align 64 : memref<512x512xbf16>
    bufferization.materialize_in_destination %narrow in restrict writable %b2 : (tensor<512x512xbf16>, memref<512x512xbf16>) -> ()
    return
  }
}

// -----

// Shares of a sum of symbolic length have as many steps each, at least one, of sizes that are known when inputs are bound. Of a cluster that shares a
// share, a block that has nothing to do of it goes behind the end of all: what follows is the next share's.
// CHECK-LABEL: func.func @shares
// CHECK:         %[[N:.*]] = plan.scalar 0
// CHECK:         %[[ROUNDED:.*]] = arith.addi %[[N]], %c383
// CHECK:         %[[STEPS:.*]] = arith.divui %[[ROUNDED]], %c384
// CHECK:         %[[ONE:.*]] = arith.maxsi %[[STEPS]], %c1
// CHECK:         %[[LENGTH:.*]] = arith.muli %[[ONE]], %c64
// CHECK:         ^bb0(%{{.*}}: index, %{{.*}}: index, %[[SHARE:.*]]: index, %{{.*}}: index, %{{.*}}: index):
// CHECK:           %[[START:.*]] = arith.muli %[[SHARE]], %[[LENGTH]]
// CHECK:           scf.for %[[STEP:[a-z0-9]+]] =
// CHECK:             %[[BEHIND:.*]] = arith.muli %[[STEP]], %c64
// CHECK:             %[[K:.*]] = arith.addi %[[START]], %[[BEHIND]]
// CHECK:             %[[OWN:.*]] = arith.cmpi slt, %[[BEHIND]], %[[LENGTH]]
// CHECK:             arith.select %[[OWN]], %[[K]], %[[N]]
builtin.module @shares attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @shares() attributes {lowering_config = #cuda.matmul_wgmma<tile_m = 64, tile_n = 128, tile_k = 64, warpgroups = 1, stages = 4, raster = 8, blocks = 1, split = 2>} {
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
