// RUN: xc-opt %s -split-input-file -xc-cuda-select-strategy -xc-cuda-emit-attention -canonicalize -cse | FileCheck %s

// One warp fetches queries, keys and values by rings of their own, and two warpgroups multiply. Scores of the next block of keys are
// begun before the sums of values of the block before, and weights stay in registers.
// CHECK-LABEL: func.func @attention()
// CHECK-SAME:    lowering_config = #cuda.attention<warpgroups = 2, keys = 128,
// CHECK:         %[[QUERIES:.*]] = tile.ring arrivals 1 consumers 2
// CHECK:         %[[KEYS:.*]] = tile.ring arrivals 1 consumers 2
// CHECK:         %[[VALUES:.*]] = tile.ring arrivals 1 consumers 2
// CHECK:         tile.roles counts [1, 2] registers [40, 232]
// CHECK:           tile.load {{.*}} signal %[[QUERIES]]
// CHECK:           tile.load {{.*}} signal %[[KEYS]]
// CHECK:           scf.for
// CHECK:             tile.load {{.*}} signal %[[KEYS]]
// CHECK:             tile.load {{.*}} signal %[[VALUES]]
// CHECK:           tile.persistent
// CHECK:             scf.for
// CHECK:               %[[SCORES:.*]], %[[BEGUN:.*]] = tile.dot
// CHECK:               %[[SUMS:.*]], %{{.*}} = tile.dot %{{.*}} accumulate
// CHECK-SAME:            !tile.reg<64x128xbf16, operand>
// CHECK:               tile.await %[[SCORES]] after %[[BEGUN]]
// CHECK:               tile.reduce_rows max
// CHECK:               math.exp2
// CHECK:               tile.reduce_rows add
// CHECK:               tile.convert_layout {{.*}} -> <64x128xbf16, operand>
// CHECK:               tile.await %[[SUMS]]
builtin.module @attention attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @attention() {
    %0 = plan.binding 0 read align 16 : memref<2x16x4096x128xbf16>
    %1 = bufferization.to_tensor %0 restrict : memref<2x16x4096x128xbf16> to tensor<2x16x4096x128xbf16>
    %2 = plan.binding 1 write align 16 : memref<2x16x4096x128xbf16>
    %3 = tensor.empty() : tensor<2x16x4096x128xbf16>
    %4 = kernel.attention %1, %1, %1 into %3 scale = 1.000000e-01 : tensor<2x16x4096x128xbf16>, tensor<2x16x4096x128xbf16>, tensor<2x16x4096x128xbf16> into tensor<2x16x4096x128xbf16> -> tensor<2x16x4096x128xbf16>
    bufferization.materialize_in_destination %4 in restrict writable %2 : (tensor<2x16x4096x128xbf16>, memref<2x16x4096x128xbf16>) -> ()
    return
  }
}

// -----

// Boxes of a mask come in a ring beside that of keys, and are read while the scores are computed: by all threads of a warpgroup before one of
// them gives the stage back. No key is behind the last one, so places are not looked at.
// CHECK-LABEL: func.func @mask()
// CHECK-SAME:    lowering_config = #cuda.attention<{{.*}}mask_stages = 2>
// CHECK:         %[[MASKS:.*]] = tile.ring arrivals 1 consumers 2 : <2, <128x128xf32>>
// CHECK:           tile.load {{.*}} signal %[[MASKS]]
// CHECK:           tile.persistent
// CHECK:               %[[SCORES:.*]], %[[BEGUN:.*]] = tile.dot
// CHECK:               tile.wait_full %[[MASKS]]
// CHECK:               %[[MASK:.*]] = tile.map() at(%{{.*}}, %{{.*}}) width 2 {
// CHECK:                 tile.read_elements %{{.*}}[%{{.*}}, %{{.*}}] : <128x128xf32> -> vector<2xf32>
// CHECK:               } : !tile.reg<64x128xf32, accumulator>
// CHECK:               tile.barrier_sync %{{.*}} threads 128
// CHECK:                 tile.release %[[MASKS]]
// CHECK:               %[[DONE:.*]] = tile.await %[[SCORES]] after %[[BEGUN]]
// CHECK:               tile.map(%[[DONE]], %[[MASK]] :
// CHECK-NOT:             arith.cmpi
// CHECK:                 math.fma
// CHECK:               tile.reduce_rows max
builtin.module @mask attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @mask() {
    %0 = plan.binding 0 read align 16 : memref<2x16x1024x64xbf16>
    %q = bufferization.to_tensor %0 restrict : memref<2x16x1024x64xbf16> to tensor<2x16x1024x64xbf16>
    %1 = plan.binding 1 read align 16 : memref<2x16x1024x64xbf16>
    %k = bufferization.to_tensor %1 restrict : memref<2x16x1024x64xbf16> to tensor<2x16x1024x64xbf16>
    %b = plan.binding 2 read align 16 : memref<1024x1024xf32>
    %m = bufferization.to_tensor %b restrict : memref<1024x1024xf32> to tensor<1024x1024xf32>
    %2 = plan.binding 3 write align 16 : memref<2x16x1024x64xbf16>
    %e = tensor.empty() : tensor<2x16x1024x64xbf16>
    %r = kernel.attention %q, %k, %k mask(%m : tensor<1024x1024xf32>) into %e scale = 1.000000e-01 : tensor<2x16x1024x64xbf16>, tensor<2x16x1024x64xbf16>, tensor<2x16x1024x64xbf16> into tensor<2x16x1024x64xbf16> -> tensor<2x16x1024x64xbf16>
    bufferization.materialize_in_destination %r in restrict writable %2 : (tensor<2x16x1024x64xbf16>, memref<2x16x1024x64xbf16>) -> ()
    return
  }
}

// -----

// Of rows that boxes cannot be copied of, threads load two numbers at a time.
// CHECK-LABEL: func.func @plain_mask()
// CHECK-NOT:     mask_stages
// CHECK:         tile.persistent
// CHECK:               %[[SCORES:.*]], %[[BEGUN:.*]] = tile.dot
// CHECK:               %[[MASK:.*]] = tile.map() at(%{{.*}}, %{{.*}}) width 2 {
// CHECK:                 vector.load %{{.*}} {alignment = 8 : i64} : memref<1046528xf32>, vector<2xf32>
// CHECK:               } : !tile.reg<64x128xf32, accumulator>
// CHECK:               tile.await %[[SCORES]] after %[[BEGUN]]
builtin.module @plain_mask attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @plain_mask() {
    %0 = plan.binding 0 read align 16 : memref<2x16x1024x64xbf16>
    %q = bufferization.to_tensor %0 restrict : memref<2x16x1024x64xbf16> to tensor<2x16x1024x64xbf16>
    %1 = plan.binding 1 read align 16 : memref<2x16x1022x64xbf16>
    %k = bufferization.to_tensor %1 restrict : memref<2x16x1022x64xbf16> to tensor<2x16x1022x64xbf16>
    %b = plan.binding 2 read align 16 : memref<1024x1022xf32>
    %m = bufferization.to_tensor %b restrict : memref<1024x1022xf32> to tensor<1024x1022xf32>
    %2 = plan.binding 3 write align 16 : memref<2x16x1024x64xbf16>
    %e = tensor.empty() : tensor<2x16x1024x64xbf16>
    %r = kernel.attention %q, %k, %k mask(%m : tensor<1024x1022xf32>) into %e scale = 1.000000e-01 : tensor<2x16x1024x64xbf16>, tensor<2x16x1022x64xbf16>, tensor<2x16x1022x64xbf16> into tensor<2x16x1024x64xbf16> -> tensor<2x16x1024x64xbf16>
    bufferization.materialize_in_destination %r in restrict writable %2 : (tensor<2x16x1024x64xbf16>, memref<2x16x1024x64xbf16>) -> ()
    return
  }
}

// -----

// What is no attention is left alone.
// CHECK-LABEL: func.func @scan()
// CHECK:         kernel.scan
builtin.module @scan attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @scan() {
    %b0 = plan.binding 0 read align 16 : memref<100x64xf32>
    %x = bufferization.to_tensor %b0 restrict : memref<100x64xf32> to tensor<100x64xf32>
    %b1 = plan.binding 1 write align 16 : memref<100x64xf32>
    %e = tensor.empty() : tensor<100x64xf32>
    %0 = kernel.scan sum, %x into %e axis = 1 : tensor<100x64xf32> into tensor<100x64xf32> -> tensor<100x64xf32>
    bufferization.materialize_in_destination %0 in restrict writable %b1 : (tensor<100x64xf32>, memref<100x64xf32>) -> ()
    return
  }
}
