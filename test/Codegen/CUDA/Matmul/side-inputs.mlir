// RUN: xc-opt %s -canonicalize -xc-cuda-select-strategy -xc-cuda-emit-matmul-wgmma -canonicalize -cse | FileCheck %s

// The residual comes in slots of operand A, 64 columns a stage: the producer fetches two more stages behind the steps of each tile. A warpgroup
// waits for both of them, since it stages 128 columns at a time, reads the words of 64 rows in front of each 64 columns, and releases
// them when all of it has read.
// CHECK-LABEL: func.func @residual
// CHECK:         %[[RESIDUAL:.*]] = plan.binding 2
// CHECK-DAG:     %[[MAP:.*]] = tile.tensor_map %[[RESIDUAL]] {{.*}} -> <128x64xbf16>
// CHECK-DAG:     %[[RING:.*]] = tile.ring
// CHECK:         tile.persistent
// CHECK:           scf.for
// CHECK-COUNT-2:     tile.load
// CHECK:           tile.wait_empty %[[RING]]
// CHECK-NEXT:      tile.publish %[[RING]][%{{.*}}] bytes 16384
// CHECK:           tile.load %[[MAP]]
// CHECK:           tile.wait_empty %[[RING]]
// CHECK-NEXT:      tile.publish %[[RING]][%{{.*}}] bytes 16384
// CHECK:           tile.load %[[MAP]]
// CHECK-NOT:       tile.load
// CHECK:         tile.persistent
// CHECK:           tile.await %
// CHECK:           tile.release %[[RING]]
// CHECK-COUNT-2:   tile.wait_full %[[RING]]
// CHECK:           tile.read_words
// CHECK:           llvm.bitcast %{{.*}} : i32 to vector<2xbf16>
// CHECK-COUNT-4:   tile.write_fragment
// CHECK:           tile.read_words
// CHECK-COUNT-4:   tile.write_fragment
// CHECK:           tile.sync_warpgroup
// CHECK-COUNT-2:   tile.release %[[RING]]
builtin.module @residual attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @residual() attributes {lowering_config = #cuda.matmul_wgmma<tile_m = 128, tile_n = 128, tile_k = 64, warpgroups = 2, stages = 3, raster = 8, blocks = 1, split = 1>} {
    %b0 = plan.binding 0 read align 64 : memref<512x128xbf16>
    %t0 = bufferization.to_tensor %b0 restrict : memref<512x128xbf16> to tensor<512x128xbf16>
    %b1 = plan.binding 1 read align 64 : memref<128x512xbf16>
    %t1 = bufferization.to_tensor %b1 restrict : memref<128x512xbf16> to tensor<128x512xbf16>
    %b2 = plan.binding 2 read align 64 : memref<512x512xbf16>
    %t2 = bufferization.to_tensor %b2 restrict : memref<512x512xbf16> to tensor<512x512xbf16>
    %e = tensor.empty() : tensor<512x512xf32>
    %zero = arith.constant 0.0 : f32
    %init = linalg.fill ins(%zero : f32) outs(%e : tensor<512x512xf32>) -> tensor<512x512xf32>
    %product = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] ins(%t0, %t1 : tensor<512x128xbf16>, tensor<128x512xbf16>) outs(%init : tensor<512x512xf32>) -> tensor<512x512xf32>
    %o = tensor.empty() : tensor<512x512xbf16>
    %sum = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%product, %t2 : tensor<512x512xf32>, tensor<512x512xbf16>) outs(%o : tensor<512x512xbf16>) {
    ^bb0(%a: f32, %r: bf16, %b: bf16):
      %w = arith.extf %r : bf16 to f32
      %s = arith.addf %a, %w : f32
      %n = arith.truncf %s : f32 to bf16
      linalg.yield %n : bf16
    } -> tensor<512x512xbf16>
    %b3 = plan.binding 3 write align 64 : memref<512x512xbf16>
    bufferization.materialize_in_destination %sum in restrict writable %b3 : (tensor<512x512xbf16>, memref<512x512xbf16>) -> ()
    return
  }
}
