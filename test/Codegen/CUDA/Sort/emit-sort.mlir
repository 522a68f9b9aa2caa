// RUN: xc-opt %s -split-input-file -canonicalize -xc-cuda-select-strategy -xc-cuda-emit-sort -canonicalize -cse | FileCheck %s

// Keys and positions are one integer, in shared memory between steps in registers; a stage for each doubling of what is in order.
// CHECK-LABEL: func.func @sort()
// CHECK-SAME:    lowering_config = #cuda.sort<threads = 128, rows = 16, tile = 64>
// CHECK-DAG:     memref.alloc() {cuda.shared_offset = 0 : i64} : memref<1088xi64, #gpu.address_space<workgroup>>
// CHECK-COUNT-8: memref.store
// CHECK:         gpu.barrier
// CHECK-COUNT-8: memref.load
// CHECK-COUNT-38: arith.select
// CHECK-COUNT-8: memref.store
// CHECK:         gpu.barrier
// CHECK:         scf.for
// CHECK:           gpu.barrier
// CHECK:           scf.while
// CHECK:             gpu.barrier
builtin.module @sort attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @sort() {
    %b0 = plan.binding 0 read align 16 : memref<100x50xf32>
    %x = bufferization.to_tensor %b0 restrict : memref<100x50xf32> to tensor<100x50xf32>
    %b1 = plan.binding 1 write align 16 : memref<100x8xf32>
    %b2 = plan.binding 2 write align 16 : memref<100x8xi32>
    %v = tensor.empty() : tensor<100x8xf32>
    %i = tensor.empty() : tensor<100x8xi32>
    %0:2 = kernel.sort %x into %v, %i descending keep = 8
      : tensor<100x50xf32> into tensor<100x8xf32>, tensor<100x8xi32> -> tensor<100x8xf32>, tensor<100x8xi32>
    bufferization.materialize_in_destination %0#0 in restrict writable %b1 : (tensor<100x8xf32>, memref<100x8xf32>) -> ()
    bufferization.materialize_in_destination %0#1 in restrict writable %b2 : (tensor<100x8xi32>, memref<100x8xi32>) -> ()
    return
  }
}

// -----

// Bits of narrow elements and positions are a word, whose minima and maxima are instructions.
// CHECK-LABEL: func.func @sort_narrow()
// CHECK-SAME:    lowering_config = #cuda.sort<threads = 128, rows = 2, tile = 1024>
// CHECK:         memref.alloc() {cuda.shared_offset = 0 : i64} : memref<2112xi32, #gpu.address_space<workgroup>>
// CHECK:         arith.minui
// CHECK:         arith.maxui
// Keys of 64 bits have their positions beside them.
// CHECK-LABEL: func.func @sort_wide()
// CHECK-DAG:     memref.alloc() {cuda.shared_offset = 0 : i64} : memref<2176xi64, #gpu.address_space<workgroup>>
// CHECK-DAG:     memref.alloc() {cuda.shared_offset = 17408 : i64} : memref<2112xi32, #gpu.address_space<workgroup>>
builtin.module @sort_kinds attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @sort_narrow() {
    %b0 = plan.binding 0 read align 16 : memref<10x1000xbf16>
    %x = bufferization.to_tensor %b0 restrict : memref<10x1000xbf16> to tensor<10x1000xbf16>
    %b1 = plan.binding 1 write align 16 : memref<10x1000xbf16>
    %b2 = plan.binding 2 write align 16 : memref<10x1000xi32>
    %v = tensor.empty() : tensor<10x1000xbf16>
    %i = tensor.empty() : tensor<10x1000xi32>
    %0:2 = kernel.sort %x into %v, %i
      : tensor<10x1000xbf16> into tensor<10x1000xbf16>, tensor<10x1000xi32> -> tensor<10x1000xbf16>, tensor<10x1000xi32>
    bufferization.materialize_in_destination %0#0 in restrict writable %b1 : (tensor<10x1000xbf16>, memref<10x1000xbf16>) -> ()
    bufferization.materialize_in_destination %0#1 in restrict writable %b2 : (tensor<10x1000xi32>, memref<10x1000xi32>) -> ()
    return
  }
  func.func @sort_wide() {
    %b0 = plan.binding 0 read align 16 : memref<10x1000xf64>
    %x = bufferization.to_tensor %b0 restrict : memref<10x1000xf64> to tensor<10x1000xf64>
    %b1 = plan.binding 1 write align 16 : memref<10x1000xf64>
    %b2 = plan.binding 2 write align 16 : memref<10x1000xi32>
    %v = tensor.empty() : tensor<10x1000xf64>
    %i = tensor.empty() : tensor<10x1000xi32>
    %0:2 = kernel.sort %x into %v, %i
      : tensor<10x1000xf64> into tensor<10x1000xf64>, tensor<10x1000xi32> -> tensor<10x1000xf64>, tensor<10x1000xi32>
    bufferization.materialize_in_destination %0#0 in restrict writable %b1 : (tensor<10x1000xf64>, memref<10x1000xf64>) -> ()
    bufferization.materialize_in_destination %0#1 in restrict writable %b2 : (tensor<10x1000xi32>, memref<10x1000xi32>) -> ()
    return
  }
}

// -----

// A line of any size is sorted where its result is.
// CHECK-LABEL: func.func @in_place()
// CHECK-SAME:    lowering_config = #cuda.sort_in_place<threads = 1024>
// CHECK-NOT:     memref.alloc
// CHECK:         scf.while
builtin.module @in_place attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @in_place() {
    %n = plan.scalar 0 : index
    %b0 = plan.binding 0 read align 16 sizes(%n) : memref<?xf32>
    %x = bufferization.to_tensor %b0 restrict : memref<?xf32> to tensor<?xf32>
    %b1 = plan.binding 1 write align 16 sizes(%n) : memref<?xf32>
    %b2 = plan.binding 2 write align 16 sizes(%n) : memref<?xi64>
    %v = tensor.empty(%n) : tensor<?xf32>
    %i = tensor.empty(%n) : tensor<?xi64>
    %0:2 = kernel.sort %x into %v, %i : tensor<?xf32> into tensor<?xf32>, tensor<?xi64> -> tensor<?xf32>, tensor<?xi64>
    bufferization.materialize_in_destination %0#0 in restrict writable %b1 : (tensor<?xf32>, memref<?xf32>) -> ()
    bufferization.materialize_in_destination %0#1 in restrict writable %b2 : (tensor<?xi64>, memref<?xi64>) -> ()
    return
  }
}
