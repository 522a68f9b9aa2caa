// RUN: xc-opt %s -split-input-file -xc-cuda-emit-scan -xc-cuda-emit-sort -xc-cuda-emit-select -xc-cuda-emit-merge -xc-cuda-emit-digit-sort -verify-diagnostics

builtin.module @scan attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_80">} {
  // expected-error @below {{expected one output, the result of kernel.scan, for #cuda.row_scan<threads = 32, rows = 4, vector = 4>}}
  func.func @scan() attributes {lowering_config = #cuda.row_scan<threads = 32, rows = 4, vector = 4>} {
    return
  }
}

// -----

builtin.module @sort attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_80">} {
  // expected-error @below {{expected two outputs, the results of kernel.sort, for #cuda.sort_in_place<threads = 1024>}}
  func.func @sort() attributes {lowering_config = #cuda.sort_in_place<threads = 1024>} {
    return
  }
}

// -----

builtin.module @merge attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_80">} {
  // expected-error @below {{expected two outputs, the results of kernel.merge, for #cuda.merge<threads = 256, items = 16>}}
  func.func @merge() attributes {lowering_config = #cuda.merge<threads = 256, items = 16>} {
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

// -----

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
