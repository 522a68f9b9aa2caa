// RUN: xc-opt %s -split-input-file -canonicalize -xc-cuda-select-strategy -xc-cuda-emit-digit-sort -canonicalize -cse | FileCheck %s

// A thread adds to the counters of 16 elements' digits, and stores one of the counters.
// CHECK-LABEL: func.func @count_digits()
// CHECK-SAME:    lowering_config = #cuda.count_digits<threads = 256, items = 16>
// CHECK-COUNT-16: memref.load %{{.*}} : memref<10000xf32>
// CHECK:         gpu.barrier
// CHECK-COUNT-16: llvm.atomicrmw add %{{.*}}, %{{.*}} syncscope("block") monotonic
// CHECK:         gpu.barrier
// CHECK:         memref.store %{{.*}} : memref<768xi32>
builtin.module @count_digits attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @count_digits() {
    %b0 = plan.binding 0 read align 16 : memref<10000xf32>
    %x = bufferization.to_tensor %b0 restrict : memref<10000xf32> to tensor<10000xf32>
    %b1 = plan.binding 1 write align 16 : memref<256x3xi32>
    %c = tensor.empty() : tensor<256x3xi32>
    %0 = kernel.count_digits %x into %c digit = 2 tile = 4096 : tensor<10000xf32> into tensor<256x3xi32> -> tensor<256x3xi32>
    bufferization.materialize_in_destination %0 in restrict writable %b1 : (tensor<256x3xi32>, memref<256x3xi32>) -> ()
    return
  }
}

// -----

// Eight votes for each of 16 elements, places in shared memory, and the tile in order.
// CHECK-LABEL: func.func @sort_digit()
// CHECK-SAME:    lowering_config = #cuda.sort_digit<threads = 256, items = 16>
// CHECK-COUNT-16: memref.load %{{.*}} : memref<8192xf32>
// CHECK-COUNT-8: nvvm.vote.sync ballot
// CHECK:         nvvm.bar.warp.sync
// CHECK:         nvvm.bar.warp.sync
// CHECK-COUNT-120: nvvm.vote.sync ballot
// CHECK-NOT:     nvvm.vote.sync
// CHECK:         gpu.barrier
// CHECK:         gpu.barrier
// CHECK:         gpu.barrier
// CHECK-COUNT-16: memref.store %{{.*}} : memref<4096xf32, #gpu.address_space<workgroup>>
// CHECK:         gpu.barrier
// CHECK-COUNT-16: memref.store %{{.*}} : memref<8192xf32>
builtin.module @sort_digit attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @sort_digit() {
    %b0 = plan.binding 0 read align 16 : memref<8192xf32>
    %x = bufferization.to_tensor %b0 restrict : memref<8192xf32> to tensor<8192xf32>
    %b1 = plan.binding 1 read align 16 : memref<256x2xi32>
    %e = bufferization.to_tensor %b1 restrict : memref<256x2xi32> to tensor<256x2xi32>
    %b2 = plan.binding 2 write align 16 : memref<8192xf32>
    %v = tensor.empty() : tensor<8192xf32>
    %0 = kernel.sort_digit %x by %e into %v digit = 0 tile = 4096
      : tensor<8192xf32> by tensor<256x2xi32> into tensor<8192xf32> -> tensor<8192xf32>
    bufferization.materialize_in_destination %0 in restrict writable %b2 : (tensor<8192xf32>, memref<8192xf32>) -> ()
    return
  }
}

// -----

// A thread adds up what few tiles have of its digit.
// CHECK-LABEL: func.func @sort_few_tiles()
// CHECK-COUNT-4: vector.load %{{.*}} : memref<4096xi32>, vector<4xi32>
// CHECK-NOT:     memref<4096xi32>
builtin.module @sort_few_tiles attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @sort_few_tiles() {
    %b0 = plan.binding 0 read align 16 : memref<32768xf32>
    %x = bufferization.to_tensor %b0 restrict : memref<32768xf32> to tensor<32768xf32>
    %b1 = plan.binding 1 read align 16 : memref<256x16xi32>
    %c = bufferization.to_tensor %b1 restrict : memref<256x16xi32> to tensor<256x16xi32>
    %b2 = plan.binding 2 write align 16 : memref<32768xf32>
    %v = tensor.empty() : tensor<32768xf32>
    %0 = kernel.sort_digit %x by %c into %v digit = 0 tile = 2048 adds_counts
      : tensor<32768xf32> by tensor<256x16xi32> into tensor<32768xf32> -> tensor<32768xf32>
    bufferization.materialize_in_destination %0 in restrict writable %b2 : (tensor<32768xf32>, memref<32768xf32>) -> ()
    return
  }
}
