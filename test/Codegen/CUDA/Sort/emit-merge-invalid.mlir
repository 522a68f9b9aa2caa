// RUN: xc-opt %s -split-input-file -xc-cuda-emit-merge -verify-diagnostics

builtin.module @merge attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_80">} {
  // expected-error @below {{expected two outputs, the results of kernel.merge, for #cuda.merge<threads = 256, items = 16>}}
  func.func @merge() attributes {lowering_config = #cuda.merge<threads = 256, items = 16>} {
    return
  }
}

// -----

builtin.module @runs attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @runs() attributes {lowering_config = #cuda.merge<threads = 256, items = 16>} {
    %b0 = plan.binding 0 read align 16 : memref<50xf32>
    %x = bufferization.to_tensor %b0 restrict : memref<50xf32> to tensor<50xf32>
    %b1 = plan.binding 1 read align 16 : memref<50xi32>
    %p = bufferization.to_tensor %b1 restrict : memref<50xi32> to tensor<50xi32>
    %b2 = plan.binding 2 write align 16 : memref<50xf32>
    %b3 = plan.binding 3 write align 16 : memref<50xi32>
    %v = tensor.empty() : tensor<50xf32>
    %i = tensor.empty() : tensor<50xi32>
    // expected-error @below {{expected runs of a multiple of 4096 elements for #cuda.merge<threads = 256, items = 16>, got 20}}
    %0:2 = kernel.merge %x, %p into %v, %i run = 20
      : tensor<50xf32>, tensor<50xi32> into tensor<50xf32>, tensor<50xi32> -> tensor<50xf32>, tensor<50xi32>
    bufferization.materialize_in_destination %0#0 in restrict writable %b2 : (tensor<50xf32>, memref<50xf32>) -> ()
    bufferization.materialize_in_destination %0#1 in restrict writable %b3 : (tensor<50xi32>, memref<50xi32>) -> ()
    return
  }
}
