// RUN: xc-opt %s -split-input-file -xc-cpu-normalize-kernel -xc-cpu-select-strategy=arch=x86-64-v3 | FileCheck %s --check-prefix=CPU
// RUN: xc-opt %s -split-input-file -canonicalize -xc-cuda-select-strategy | FileCheck %s --check-prefix=CUDA

// Both targets find products by one analysis of the body.

// The factors and the accumulator may be in any order.
// CPU-LABEL:  func.func @swapped()
// CPU-SAME:     lowering_config = #cpu.matmul<
// CUDA-LABEL: func.func @swapped()
// CUDA-SAME:    lowering_config = #cuda.matmul_fma<
builtin.module @swapped attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @swapped() {
    %x = plan.binding 0 read align 64 : memref<256x128xf32>
    %y = plan.binding 1 read align 64 : memref<128x192xf32>
    %z = plan.binding 2 write align 64 : memref<256x192xf32>
    %a = bufferization.to_tensor %x restrict : memref<256x128xf32> to tensor<256x128xf32>
    %b = bufferization.to_tensor %y restrict : memref<128x192xf32> to tensor<128x192xf32>
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<256x192xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<256x192xf32>) -> tensor<256x192xf32>
    %r = linalg.generic {
        indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
        iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%a, %b : tensor<256x128xf32>, tensor<128x192xf32>) outs(%f : tensor<256x192xf32>) {
    ^bb0(%p: f32, %q: f32, %acc: f32):
      %mul = arith.mulf %q, %p : f32
      %sum = arith.addf %mul, %acc : f32
      linalg.yield %sum : f32
    } -> tensor<256x192xf32>
    bufferization.materialize_in_destination %r in restrict writable %z : (tensor<256x192xf32>, memref<256x192xf32>) -> ()
    return
  }
}

// -----

// Each factor may be extended or converted.
// CPU-LABEL:  func.func @casts()
// CPU-SAME:     lowering_config = #cpu.matmul<
// CUDA-LABEL: func.func @casts()
// CUDA-SAME:    lowering_config = #cuda.matmul_fma<
builtin.module @casts attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @casts() {
    %x = plan.binding 0 read align 64 : memref<256x128xf16>
    %y = plan.binding 1 read align 64 : memref<128x192xi32>
    %z = plan.binding 2 write align 64 : memref<256x192xf32>
    %a = bufferization.to_tensor %x restrict : memref<256x128xf16> to tensor<256x128xf16>
    %b = bufferization.to_tensor %y restrict : memref<128x192xi32> to tensor<128x192xi32>
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<256x192xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<256x192xf32>) -> tensor<256x192xf32>
    %r = linalg.generic {
        indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
        iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%a, %b : tensor<256x128xf16>, tensor<128x192xi32>) outs(%f : tensor<256x192xf32>) {
    ^bb0(%p: f16, %q: i32, %acc: f32):
      %u = arith.extf %p : f16 to f32
      %v = arith.sitofp %q : i32 to f32
      %mul = arith.mulf %u, %v : f32
      %sum = arith.addf %acc, %mul : f32
      linalg.yield %sum : f32
    } -> tensor<256x192xf32>
    bufferization.materialize_in_destination %r in restrict writable %z : (tensor<256x192xf32>, memref<256x192xf32>) -> ()
    return
  }
}

// -----

// Only the CPU truncates factors: a producer does it, before they are packed.
// CPU-LABEL:  func.func @truncated()
// CPU-SAME:     lowering_config = #cpu.matmul<
// CUDA-LABEL: func.func @truncated()
// CUDA-SAME:    lowering_config = #cuda.row_reduction<
builtin.module @truncated attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @truncated() {
    %x = plan.binding 0 read align 64 : memref<256x128xf64>
    %y = plan.binding 1 read align 64 : memref<128x192xf32>
    %z = plan.binding 2 write align 64 : memref<256x192xf32>
    %a = bufferization.to_tensor %x restrict : memref<256x128xf64> to tensor<256x128xf64>
    %b = bufferization.to_tensor %y restrict : memref<128x192xf32> to tensor<128x192xf32>
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<256x192xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<256x192xf32>) -> tensor<256x192xf32>
    %r = linalg.generic {
        indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
        iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%a, %b : tensor<256x128xf64>, tensor<128x192xf32>) outs(%f : tensor<256x192xf32>) {
    ^bb0(%p: f64, %q: f32, %acc: f32):
      %u = arith.truncf %p : f64 to f32
      %mul = arith.mulf %u, %q : f32
      %sum = arith.addf %acc, %mul : f32
      linalg.yield %sum : f32
    } -> tensor<256x192xf32>
    bufferization.materialize_in_destination %r in restrict writable %z : (tensor<256x192xf32>, memref<256x192xf32>) -> ()
    return
  }
}

// -----

// The square of one input is no product of two.
// CPU-LABEL:  func.func @square()
// CPU-SAME:     lowering_config = #cpu.reduction<
// CUDA-LABEL: func.func @square()
// CUDA-SAME:    lowering_config = #cuda.row_reduction<
builtin.module @square attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @square() {
    %x = plan.binding 0 read align 64 : memref<256x128xf32>
    %y = plan.binding 1 read align 64 : memref<128x192xf32>
    %z = plan.binding 2 write align 64 : memref<256x192xf32>
    %a = bufferization.to_tensor %x restrict : memref<256x128xf32> to tensor<256x128xf32>
    %b = bufferization.to_tensor %y restrict : memref<128x192xf32> to tensor<128x192xf32>
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<256x192xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<256x192xf32>) -> tensor<256x192xf32>
    %r = linalg.generic {
        indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
        iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%a, %b : tensor<256x128xf32>, tensor<128x192xf32>) outs(%f : tensor<256x192xf32>) {
    ^bb0(%p: f32, %q: f32, %acc: f32):
      %mul = arith.mulf %p, %p : f32
      %sum = arith.addf %acc, %mul : f32
      linalg.yield %sum : f32
    } -> tensor<256x192xf32>
    bufferization.materialize_in_destination %r in restrict writable %z : (tensor<256x192xf32>, memref<256x192xf32>) -> ()
    return
  }
}

// -----

// Nor is one of factors that the body computes by other ops than casts.
// CPU-LABEL:  func.func @negated()
// CPU-SAME:     lowering_config = #cpu.reduction<
// CUDA-LABEL: func.func @negated()
// CUDA-SAME:    lowering_config = #cuda.row_reduction<
builtin.module @negated attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @negated() {
    %x = plan.binding 0 read align 64 : memref<256x128xf32>
    %y = plan.binding 1 read align 64 : memref<128x192xf32>
    %z = plan.binding 2 write align 64 : memref<256x192xf32>
    %a = bufferization.to_tensor %x restrict : memref<256x128xf32> to tensor<256x128xf32>
    %b = bufferization.to_tensor %y restrict : memref<128x192xf32> to tensor<128x192xf32>
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<256x192xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<256x192xf32>) -> tensor<256x192xf32>
    %r = linalg.generic {
        indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
        iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%a, %b : tensor<256x128xf32>, tensor<128x192xf32>) outs(%f : tensor<256x192xf32>) {
    ^bb0(%p: f32, %q: f32, %acc: f32):
      %u = arith.negf %p : f32
      %mul = arith.mulf %u, %q : f32
      %sum = arith.addf %acc, %mul : f32
      linalg.yield %sum : f32
    } -> tensor<256x192xf32>
    bufferization.materialize_in_destination %r in restrict writable %z : (tensor<256x192xf32>, memref<256x192xf32>) -> ()
    return
  }
}
