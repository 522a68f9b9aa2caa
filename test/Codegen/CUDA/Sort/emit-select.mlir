// RUN: xc-opt %s -split-input-file -canonicalize -xc-cuda-select-strategy -xc-cuda-emit-select -canonicalize -cse | FileCheck %s

// Few elements of a long line: vectors to registers, the first of each group by shuffles, the limit, and what comes up to it.
// CHECK-LABEL: func.func @select()
// CHECK-SAME:    lowering_config = #cuda.select<threads = 256, items = 16, groups = 32, vector = 4>
// CHECK-COUNT-4: vector.load {{.*}} vector<4xf32>
// CHECK:         gpu.shuffle {{ *}}xor
// CHECK:         gpu.barrier
// CHECK:         scf.for
// CHECK:         gpu.barrier
// CHECK-COUNT-5: gpu.shuffle {{ *}}up
// CHECK:         scf.for
// Of a line of any length piece after piece, and what was kept is among the candidates.
// CHECK-LABEL: func.func @select_symbolic
// CHECK-SAME:    lowering_config = #cuda.select<threads = 256, items = 16, groups = 128, vector = {{[14]}}>
// CHECK:         scf.for
// CHECK:           gpu.shuffle {{ *}}xor
builtin.module @select attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @select() {
    %b0 = plan.binding 0 read align 16 : memref<100x4096xf32>
    %x = bufferization.to_tensor %b0 restrict : memref<100x4096xf32> to tensor<100x4096xf32>
    %b1 = plan.binding 1 write align 16 : memref<100x8xf32>
    %b2 = plan.binding 2 write align 16 : memref<100x8xi32>
    %v = tensor.empty() : tensor<100x8xf32>
    %i = tensor.empty() : tensor<100x8xi32>
    %0:2 = kernel.sort %x into %v, %i descending keep = 8
      : tensor<100x4096xf32> into tensor<100x8xf32>, tensor<100x8xi32> -> tensor<100x8xf32>, tensor<100x8xi32>
    bufferization.materialize_in_destination %0#0 in restrict writable %b1 : (tensor<100x8xf32>, memref<100x8xf32>) -> ()
    bufferization.materialize_in_destination %0#1 in restrict writable %b2 : (tensor<100x8xi32>, memref<100x8xi32>) -> ()
    return
  }
  func.func @select_symbolic() {
    %n = plan.scalar 0 : index
    %b0 = plan.binding 0 read align 16 sizes(%n) : memref<?xf32>
    %x = bufferization.to_tensor %b0 restrict : memref<?xf32> to tensor<?xf32>
    %b1 = plan.binding 1 write align 16 : memref<50xf32>
    %b2 = plan.binding 2 write align 16 : memref<50xi32>
    %v = tensor.empty() : tensor<50xf32>
    %i = tensor.empty() : tensor<50xi32>
    %0:2 = kernel.sort %x into %v, %i descending keep = 50
      : tensor<?xf32> into tensor<50xf32>, tensor<50xi32> -> tensor<50xf32>, tensor<50xi32>
    bufferization.materialize_in_destination %0#0 in restrict writable %b1 : (tensor<50xf32>, memref<50xf32>) -> ()
    bufferization.materialize_in_destination %0#1 in restrict writable %b2 : (tensor<50xi32>, memref<50xi32>) -> ()
    return
  }
}
