// RUN: xc-opt %s -split-input-file -canonicalize -xc-cuda-select-strategy -xc-cuda-emit-transpose -canonicalize -cse | FileCheck %s

// Threads run along the input's rows when they load, along the output's when they store.
// CHECK-LABEL: func.func @square
// CHECK-DAG:     %[[TILE:.*]] = memref.alloc() {cuda.shared_offset = 0 : i64} : memref<1056xf32, #gpu.address_space<workgroup>>
// CHECK-DAG:     %[[C32:.*]] = arith.constant 32 : index
// CHECK:         %[[THREAD:.*]] = gpu.thread_id {{ *}}x
// CHECK:         %[[ACROSS:.*]] = arith.remui %[[THREAD]], %[[C32]] : index
// CHECK:         %[[DOWN:.*]] = arith.divui %[[THREAD]], %[[C32]] : index
// CHECK:         %[[TO:.*]] = arith.addi %[[THREAD]], %[[DOWN]]
// CHECK:         memref.store %{{.*}}, %[[TILE]][%[[TO]]]
// CHECK:         gpu.barrier
// CHECK:         %[[COLUMN:.*]] = arith.muli %[[ACROSS]], %[[C32]]
// CHECK:         %[[SUM:.*]] = arith.addi %[[COLUMN]], %[[DOWN]]
// CHECK:         %[[FROM:.*]] = arith.addi %[[SUM]], %[[ACROSS]]
// CHECK:         memref.load %[[TILE]][%[[FROM]]]
builtin.module @square attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @square() attributes {lowering_config = #cuda.transpose<threads = 256, tile = 32, vector = 1>} {
    %b0 = plan.binding 0 read align 64 : memref<64x96xf32>
    %t0 = bufferization.to_tensor %b0 restrict : memref<64x96xf32> to tensor<64x96xf32>
    %e2 = tensor.empty() : tensor<96x64xf32>
    %g3 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%t0 : tensor<64x96xf32>) outs(%e2 : tensor<96x64xf32>) {
    ^bb0(%a: f32, %b: f32):
      linalg.yield %a : f32
    } -> tensor<96x64xf32>
    %b1 = plan.binding 1 write align 64 : memref<96x64xf32>
    bufferization.materialize_in_destination %g3 in restrict writable %b1 : (tensor<96x64xf32>, memref<96x64xf32>) -> ()
    return
  }
}

// -----

// Two 16-bit elements at a time.
// CHECK-LABEL: func.func @narrow
// CHECK:         vector.load %{{.*}} {alignment = 4 : i64} : memref<8192xbf16>, vector<2xbf16>
// CHECK:         gpu.barrier
// CHECK:         vector.store %{{.*}} {alignment = 4 : i64} : memref<8192xbf16>, vector<2xbf16>
builtin.module @narrow attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @narrow() attributes {lowering_config = #cuda.transpose<threads = 256, tile = 64, vector = 2>} {
    %b0 = plan.binding 0 read align 64 : memref<64x128xbf16>
    %t0 = bufferization.to_tensor %b0 restrict : memref<64x128xbf16> to tensor<64x128xbf16>
    %e2 = tensor.empty() : tensor<128x64xbf16>
    %g3 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%t0 : tensor<64x128xbf16>) outs(%e2 : tensor<128x64xbf16>) {
    ^bb0(%a: bf16, %b: bf16):
      linalg.yield %a : bf16
    } -> tensor<128x64xbf16>
    %b1 = plan.binding 1 write align 64 : memref<128x64xbf16>
    bufferization.materialize_in_destination %g3 in restrict writable %b1 : (tensor<128x64xbf16>, memref<128x64xbf16>) -> ()
    return
  }
}

// -----

// Squares of four inputs that the shared memory of this target's blocks has room for: those of 128 x 128 would want 512
// bytes too many.
// CHECK-LABEL: func.func @squares
// CHECK-SAME:    lowering_config = #cuda.transpose<threads = 256, tile = 64, vector = 2>
// CHECK-SAME:    block = [256, 1, 1], cluster = [1, 1, 1], shared = 16896
#across = affine_map<(d0, d1) -> (d1, d0)>
#along = affine_map<(d0, d1) -> (d0, d1)>
builtin.module @squares attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_75">} {
  func.func @squares() {
    %b0 = plan.binding 0 read align 64 : memref<512x1024xi8>
    %t0 = bufferization.to_tensor %b0 restrict : memref<512x1024xi8> to tensor<512x1024xi8>
    %b1 = plan.binding 1 read align 64 : memref<512x1024xi8>
    %t1 = bufferization.to_tensor %b1 restrict : memref<512x1024xi8> to tensor<512x1024xi8>
    %b2 = plan.binding 2 read align 64 : memref<512x1024xi8>
    %t2 = bufferization.to_tensor %b2 restrict : memref<512x1024xi8> to tensor<512x1024xi8>
    %b3 = plan.binding 3 read align 64 : memref<512x1024xi8>
    %t3 = bufferization.to_tensor %b3 restrict : memref<512x1024xi8> to tensor<512x1024xi8>
    %e = tensor.empty() : tensor<1024x512xi8>
    %sum = linalg.generic {indexing_maps = [#across, #across, #across, #across, #along], iterator_types = ["parallel", "parallel"]}
        ins(%t0, %t1, %t2, %t3 : tensor<512x1024xi8>, tensor<512x1024xi8>, tensor<512x1024xi8>, tensor<512x1024xi8>) outs(%e : tensor<1024x512xi8>) {
    ^bb0(%a: i8, %b: i8, %c: i8, %d: i8, %out: i8):
      %ab = arith.addi %a, %b : i8
      %cd = arith.addi %c, %d : i8
      %s = arith.addi %ab, %cd : i8
      linalg.yield %s : i8
    } -> tensor<1024x512xi8>
    %b4 = plan.binding 4 write align 64 : memref<1024x512xi8>
    bufferization.materialize_in_destination %sum in restrict writable %b4 : (tensor<1024x512xi8>, memref<1024x512xi8>) -> ()
    return
  }
}
