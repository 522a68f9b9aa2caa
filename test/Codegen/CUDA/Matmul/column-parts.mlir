// RUN: xc-opt %s -split-input-file -canonicalize -xc-cuda-select-strategy -xc-cuda-emit-matmul-wgmma -xc-cuda-emit-matmul-mma -canonicalize -cse | FileCheck %s

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
#all = affine_map<(m, n) -> (m, n)>
#parts = affine_map<(m, n) -> (m floordiv 64, n)>

// A thread adds up 16 rows of two columns of what is staged, two rows of every eight at a time, and does not count rows from 600 on. Two shuffles join
// four threads, one of which stores; then the same for squares of distances from the part's mean.
// CHECK-LABEL: func.func @wgmma()
// CHECK:         tile.store
// CHECK:         %[[SUMS:.*]]:2 = scf.for %{{.*}} = %c0 to %c64 step %c32 iter_args
// CHECK-COUNT-8:   tile.read_elements %{{.*}} -> vector<2xbf16>
// CHECK:           %[[ROW:.*]] = arith.cmpi slt, %{{.*}}, %c600
// CHECK:           arith.extf
// CHECK:           %[[SUM:.*]] = arith.addf
// CHECK:           arith.select %[[ROW]], %[[SUM]]
// CHECK-COUNT-4: gpu.shuffle xor
// CHECK:         scf.if
// CHECK:           vector.store %{{.*}}, %{{.*}} : memref<2560xf32>, vector<2xf32>
// CHECK:         %[[CENTER:.*]] = arith.divf
// CHECK:         scf.for
// CHECK-COUNT-8:   tile.read_elements %{{.*}} -> vector<2xbf16>
// CHECK:           arith.subf %{{.*}}, %[[CENTER]] : vector<2xf32>
// CHECK-COUNT-4: gpu.shuffle xor
// CHECK:         scf.if
// CHECK:           vector.store %{{.*}}, %{{.*}} : memref<2560xf32>, vector<2xf32>
// The same again of the other half of the columns.
// CHECK-COUNT-8: gpu.shuffle xor
// CHECK-NOT:     gpu.shuffle
builtin.module @wgmma attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @wgmma() attributes {lowering_config = #cuda.matmul_wgmma<tile_m = 128, tile_n = 128, tile_k = 64, warpgroups = 2, stages = 3, raster = 8, blocks = 1, split = 1>} {
    %b0 = plan.binding 0 read align 64 : memref<600x128xbf16>
    %t0 = bufferization.to_tensor %b0 restrict : memref<600x128xbf16> to tensor<600x128xbf16>
    %b1 = plan.binding 1 read align 64 : memref<128x256xbf16>
    %t1 = bufferization.to_tensor %b1 restrict : memref<128x256xbf16> to tensor<128x256xbf16>
    %e = tensor.empty() : tensor<600x256xf32>
    %zero = arith.constant 0.0 : f32
    %count = arith.constant 64.0 : f32
    %init = linalg.fill ins(%zero : f32) outs(%e : tensor<600x256xf32>) -> tensor<600x256xf32>
    %product = linalg.contract indexing_maps = [#a, #b, #c] ins(%t0, %t1 : tensor<600x128xbf16>, tensor<128x256xbf16>) outs(%init : tensor<600x256xf32>) -> tensor<600x256xf32>
    %o = tensor.empty() : tensor<600x256xbf16>
    %y = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]} ins(%product : tensor<600x256xf32>) outs(%o : tensor<600x256xbf16>) {
    ^bb0(%v: f32, %w: bf16):
      %t = arith.truncf %v : f32 to bf16
      linalg.yield %t : bf16
    } -> tensor<600x256xbf16>
    %f = tensor.empty() : tensor<10x256xf32>
    %start = linalg.fill ins(%zero : f32) outs(%f : tensor<10x256xf32>) -> tensor<10x256xf32>
    %s = linalg.generic {indexing_maps = [#all, #parts], iterator_types = ["reduction", "parallel"]} ins(%y : tensor<600x256xbf16>) outs(%start : tensor<10x256xf32>) attrs = {plan.partial = #plan.partial<rows, 64>} {
    ^bb0(%v: bf16, %acc: f32):
      %x = arith.extf %v : bf16 to f32
      %t = arith.addf %acc, %x : f32
      linalg.yield %t : f32
    } -> tensor<10x256xf32>
    %m = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]} ins(%s : tensor<10x256xf32>) outs(%f : tensor<10x256xf32>) attrs = {plan.partial = #plan.partial<rows, 64>} {
    ^bb0(%v: f32, %w: f32):
      %t = arith.divf %v, %count : f32
      linalg.yield %t : f32
    } -> tensor<10x256xf32>
    %q = linalg.generic {indexing_maps = [#all, #parts, #parts], iterator_types = ["reduction", "parallel"]} ins(%y, %m : tensor<600x256xbf16>, tensor<10x256xf32>) outs(%start : tensor<10x256xf32>) attrs = {plan.partial = #plan.partial<rows, 64>} {
    ^bb0(%v: bf16, %mean: f32, %acc: f32):
      %x = arith.extf %v : bf16 to f32
      %d = arith.subf %x, %mean : f32
      %u = arith.mulf %d, %d : f32
      %t = arith.addf %acc, %u : f32
      linalg.yield %t : f32
    } -> tensor<10x256xf32>
    %b2 = plan.binding 2 write align 64 : memref<600x256xbf16>
    %b3 = plan.binding 3 write align 64 : memref<10x256xf32>
    %b4 = plan.binding 4 write align 64 : memref<10x256xf32>
    bufferization.materialize_in_destination %y in restrict writable %b2 : (tensor<600x256xbf16>, memref<600x256xbf16>) -> ()
    bufferization.materialize_in_destination %s in restrict writable %b3 : (tensor<10x256xf32>, memref<10x256xf32>) -> ()
    bufferization.materialize_in_destination %q in restrict writable %b4 : (tensor<10x256xf32>, memref<10x256xf32>) -> ()
    return
  }
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
#all = affine_map<(m, n) -> (m, n)>
#parts = affine_map<(m, n) -> (m floordiv 64, n)>

// A warp has 64 rows of its columns: a thread eight of each pair, and three shuffles join those of eight threads.
// CHECK-LABEL: func.func @mma()
// CHECK:         tile.fragment
// CHECK:         arith.select
// CHECK-COUNT-6: gpu.shuffle xor
// CHECK:         scf.if
// CHECK:           vector.store %{{.*}}, %{{.*}} : memref<2560xf32>, vector<2xf32>
// CHECK:         arith.divf
// CHECK-COUNT-6: gpu.shuffle xor
// CHECK:         scf.if
// CHECK:           vector.store %{{.*}}, %{{.*}} : memref<2560xf32>, vector<2xf32>
builtin.module @mma attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @mma() attributes {lowering_config = #cuda.matmul_mma<tile_m = 128, tile_n = 128, tile_k = 32, warps_m = 2, warps_n = 4, stages = 3>} {
    %b0 = plan.binding 0 read align 64 : memref<600x128xbf16>
    %t0 = bufferization.to_tensor %b0 restrict : memref<600x128xbf16> to tensor<600x128xbf16>
    %b1 = plan.binding 1 read align 64 : memref<128x256xbf16>
    %t1 = bufferization.to_tensor %b1 restrict : memref<128x256xbf16> to tensor<128x256xbf16>
    %e = tensor.empty() : tensor<600x256xf32>
    %zero = arith.constant 0.0 : f32
    %count = arith.constant 64.0 : f32
    %init = linalg.fill ins(%zero : f32) outs(%e : tensor<600x256xf32>) -> tensor<600x256xf32>
    %product = linalg.contract indexing_maps = [#a, #b, #c] ins(%t0, %t1 : tensor<600x128xbf16>, tensor<128x256xbf16>) outs(%init : tensor<600x256xf32>) -> tensor<600x256xf32>
    %o = tensor.empty() : tensor<600x256xbf16>
    %y = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]} ins(%product : tensor<600x256xf32>) outs(%o : tensor<600x256xbf16>) {
    ^bb0(%v: f32, %w: bf16):
      %t = arith.truncf %v : f32 to bf16
      linalg.yield %t : bf16
    } -> tensor<600x256xbf16>
    %f = tensor.empty() : tensor<10x256xf32>
    %start = linalg.fill ins(%zero : f32) outs(%f : tensor<10x256xf32>) -> tensor<10x256xf32>
    %s = linalg.generic {indexing_maps = [#all, #parts], iterator_types = ["reduction", "parallel"]} ins(%y : tensor<600x256xbf16>) outs(%start : tensor<10x256xf32>) attrs = {plan.partial = #plan.partial<rows, 64>} {
    ^bb0(%v: bf16, %acc: f32):
      %x = arith.extf %v : bf16 to f32
      %t = arith.addf %acc, %x : f32
      linalg.yield %t : f32
    } -> tensor<10x256xf32>
    %m = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]} ins(%s : tensor<10x256xf32>) outs(%f : tensor<10x256xf32>) attrs = {plan.partial = #plan.partial<rows, 64>} {
    ^bb0(%v: f32, %w: f32):
      %t = arith.divf %v, %count : f32
      linalg.yield %t : f32
    } -> tensor<10x256xf32>
    %q = linalg.generic {indexing_maps = [#all, #parts, #parts], iterator_types = ["reduction", "parallel"]} ins(%y, %m : tensor<600x256xbf16>, tensor<10x256xf32>) outs(%start : tensor<10x256xf32>) attrs = {plan.partial = #plan.partial<rows, 64>} {
    ^bb0(%v: bf16, %mean: f32, %acc: f32):
      %x = arith.extf %v : bf16 to f32
      %d = arith.subf %x, %mean : f32
      %u = arith.mulf %d, %d : f32
      %t = arith.addf %acc, %u : f32
      linalg.yield %t : f32
    } -> tensor<10x256xf32>
    %b2 = plan.binding 2 write align 64 : memref<600x256xbf16>
    %b3 = plan.binding 3 write align 64 : memref<10x256xf32>
    %b4 = plan.binding 4 write align 64 : memref<10x256xf32>
    bufferization.materialize_in_destination %y in restrict writable %b2 : (tensor<600x256xbf16>, memref<600x256xbf16>) -> ()
    bufferization.materialize_in_destination %s in restrict writable %b3 : (tensor<10x256xf32>, memref<10x256xf32>) -> ()
    bufferization.materialize_in_destination %q in restrict writable %b4 : (tensor<10x256xf32>, memref<10x256xf32>) -> ()
    return
  }
}
