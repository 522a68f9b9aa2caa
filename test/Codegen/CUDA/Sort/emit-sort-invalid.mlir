// RUN: xc-opt %s -split-input-file -xc-cuda-emit-sort -verify-diagnostics

builtin.module @sort attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_80">} {
  // expected-error @below {{expected two outputs, the results of kernel.sort, for #cuda.sort_in_place<threads = 1024>}}
  func.func @sort() attributes {lowering_config = #cuda.sort_in_place<threads = 1024>} {
    return
  }
}

// -----

builtin.module @tile attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @tile() attributes {lowering_config = #cuda.sort<threads = 64, rows = 1, tile = 128>} {
    %b0 = plan.binding 0 read align 16 : memref<500xf32>
    %x = bufferization.to_tensor %b0 restrict : memref<500xf32> to tensor<500xf32>
    %b1 = plan.binding 1 write align 16 : memref<500xf32>
    %b2 = plan.binding 2 write align 16 : memref<500xi32>
    %v = tensor.empty() : tensor<500xf32>
    %i = tensor.empty() : tensor<500xi32>
    // expected-error @below {{expected a line of at most 128 elements, or to keep at most half as many, for #cuda.sort<threads = 64, rows = 1, tile = 128>}}
    %0:2 = kernel.sort %x into %v, %i : tensor<500xf32> into tensor<500xf32>, tensor<500xi32> -> tensor<500xf32>, tensor<500xi32>
    bufferization.materialize_in_destination %0#0 in restrict writable %b1 : (tensor<500xf32>, memref<500xf32>) -> ()
    bufferization.materialize_in_destination %0#1 in restrict writable %b2 : (tensor<500xi32>, memref<500xi32>) -> ()
    return
  }
}

// -----

builtin.module @in_place attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @in_place() attributes {lowering_config = #cuda.sort_in_place<threads = 64>} {
    %b0 = plan.binding 0 read align 16 : memref<500xf32>
    %x = bufferization.to_tensor %b0 restrict : memref<500xf32> to tensor<500xf32>
    %b1 = plan.binding 1 write align 16 : memref<5xf32>
    %b2 = plan.binding 2 write align 16 : memref<5xi32>
    %v = tensor.empty() : tensor<5xf32>
    %i = tensor.empty() : tensor<5xi32>
    // expected-error @below {{expected whole lines without a payload for #cuda.sort_in_place}}
    %0:2 = kernel.sort %x into %v, %i keep = 5 : tensor<500xf32> into tensor<5xf32>, tensor<5xi32> -> tensor<5xf32>, tensor<5xi32>
    bufferization.materialize_in_destination %0#0 in restrict writable %b1 : (tensor<5xf32>, memref<5xf32>) -> ()
    bufferization.materialize_in_destination %0#1 in restrict writable %b2 : (tensor<5xi32>, memref<5xi32>) -> ()
    return
  }
}
