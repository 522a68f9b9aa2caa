// RUN: xc-opt %s -split-input-file -xc-cuda-emit-select -verify-diagnostics

builtin.module @select attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_80">} {
  // expected-error @below {{expected two outputs, the results of kernel.sort, for #cuda.select<threads = 64, items = 16, groups = 32, vector = 4>}}
  func.func @select() attributes {lowering_config = #cuda.select<threads = 64, items = 16, groups = 32, vector = 4>} {
    return
  }
}

// -----

builtin.module @groups attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @groups() attributes {lowering_config = #cuda.select<threads = 64, items = 16, groups = 32, vector = 4>} {
    %b0 = plan.binding 0 read align 16 : memref<1000xf32>
    %x = bufferization.to_tensor %b0 restrict : memref<1000xf32> to tensor<1000xf32>
    %b1 = plan.binding 1 write align 16 : memref<33xf32>
    %b2 = plan.binding 2 write align 16 : memref<33xi32>
    %v = tensor.empty() : tensor<33xf32>
    %i = tensor.empty() : tensor<33xi32>
    // expected-error @below {{expected 1 to 32 elements to be kept for #cuda.select<threads = 64, items = 16, groups = 32, vector = 4>, got 33}}
    %0:2 = kernel.sort %x into %v, %i keep = 33 : tensor<1000xf32> into tensor<33xf32>, tensor<33xi32> -> tensor<33xf32>, tensor<33xi32>
    bufferization.materialize_in_destination %0#0 in restrict writable %b1 : (tensor<33xf32>, memref<33xf32>) -> ()
    bufferization.materialize_in_destination %0#1 in restrict writable %b2 : (tensor<33xi32>, memref<33xi32>) -> ()
    return
  }
}
