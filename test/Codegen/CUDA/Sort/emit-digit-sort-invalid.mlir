// RUN: xc-opt %s -split-input-file -xc-cuda-emit-digit-sort -verify-diagnostics

builtin.module @digits attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @digits() attributes {lowering_config = #cuda.count_digits<threads = 256, items = 16>} {
    %b0 = plan.binding 0 read align 16 : memref<50xf32>
    %x = bufferization.to_tensor %b0 restrict : memref<50xf32> to tensor<50xf32>
    %b1 = plan.binding 1 write align 16 : memref<256x1xi32>
    %c = tensor.empty() : tensor<256x1xi32>
    // expected-error @below {{expected tiles of 4096 elements for #cuda.count_digits<threads = 256, items = 16>, got 64}}
    %0 = kernel.count_digits %x into %c digit = 2 tile = 64 : tensor<50xf32> into tensor<256x1xi32> -> tensor<256x1xi32>
    bufferization.materialize_in_destination %0 in restrict writable %b1 : (tensor<256x1xi32>, memref<256x1xi32>) -> ()
    return
  }
}
