// RUN: xc-opt %s -split-input-file -canonicalize -xc-cuda-select-strategy -xc-cuda-emit-scan -canonicalize -cse | FileCheck %s

// A block scans a row in iterations: vectors, warps by shuffles, totals of warps in shared memory.
// CHECK-LABEL: func.func @row()
// CHECK-SAME:    lowering_config = #cuda.row_scan<threads = 256, rows = 1, vector = 4>
// CHECK:         memref.alloc() {cuda.shared_offset = 0 : i64} : memref<16xf32, #gpu.address_space<workgroup>>
// CHECK:         scf.for
// CHECK:           vector.load
// CHECK-COUNT-6:   gpu.shuffle {{ *}}up
// CHECK:           gpu.barrier
// CHECK:           vector.store
builtin.module @row attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @row() {
    %b0 = plan.binding 0 read align 16 : memref<8x16384xf32>
    %x = bufferization.to_tensor %b0 restrict : memref<8x16384xf32> to tensor<8x16384xf32>
    %b1 = plan.binding 1 write align 16 : memref<8x16384xf32>
    %e = tensor.empty() : tensor<8x16384xf32>
    %0 = kernel.scan sum, %x into %e axis = 1 : tensor<8x16384xf32> into tensor<8x16384xf32> -> tensor<8x16384xf32>
    bufferization.materialize_in_destination %0 in restrict writable %b1 : (tensor<8x16384xf32>, memref<8x16384xf32>) -> ()
    return
  }
}

// -----

// Short rows: some threads of a warp each, and no shared memory.
// CHECK-LABEL: func.func @short_rows()
// CHECK-SAME:    lowering_config = #cuda.row_scan<threads = 16, rows = 8, vector = 4>
// CHECK-NOT:     memref.alloc
// CHECK-COUNT-5: gpu.shuffle {{ *}}up
// CHECK-NOT:     gpu.shuffle
builtin.module @short_rows attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @short_rows() {
    %b0 = plan.binding 0 read align 16 : memref<100x64xf32>
    %x = bufferization.to_tensor %b0 restrict : memref<100x64xf32> to tensor<100x64xf32>
    %b1 = plan.binding 1 write align 16 : memref<100x64xf32>
    %e = tensor.empty() : tensor<100x64xf32>
    %0 = kernel.scan sum, %x into %e axis = 1 : tensor<100x64xf32> into tensor<100x64xf32> -> tensor<100x64xf32>
    bufferization.materialize_in_destination %0 in restrict writable %b1 : (tensor<100x64xf32>, memref<100x64xf32>) -> ()
    return
  }
}

// -----

// Columns: a thread's lanes are neighbouring lines; four rows are loaded before the first is stored.
// CHECK-LABEL: func.func @columns()
// CHECK-SAME:    lowering_config = #cuda.column_scan<threads = 128, vector = 4>
// CHECK:         scf.for
// CHECK-COUNT-4:   vector.load
// CHECK-COUNT-4:   vector.store
// CHECK-NOT:     gpu.shuffle
builtin.module @columns attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @columns() {
    %b0 = plan.binding 0 read align 16 : memref<64x1048576xf32>
    %x = bufferization.to_tensor %b0 restrict : memref<64x1048576xf32> to tensor<64x1048576xf32>
    %b1 = plan.binding 1 write align 16 : memref<64x1048576xf32>
    %e = tensor.empty() : tensor<64x1048576xf32>
    %0 = kernel.scan max, %x into %e axis = 0 : tensor<64x1048576xf32> into tensor<64x1048576xf32> -> tensor<64x1048576xf32>
    bufferization.materialize_in_destination %0 in restrict writable %b1 : (tensor<64x1048576xf32>, memref<64x1048576xf32>) -> ()
    return
  }
}
