// RUN: xc-opt %s -xc-cpu-codegen="arch=aarch64 object-file=%t.o" | FileCheck %s --check-prefix=EXPORT
// RUN: llvm-objdump -d %t.o | FileCheck %s

// EXPORT: plan.exports = [{config = #cpu.matmul<version = 1, tile = [66, 72, 64], registers = [11, 8], lanes = 4>
// EXPORT-SAME: name = "matmul_bias"

// CHECK:       file format elf64-littleaarch64
// CHECK-LABEL: <matmul_bias>:
// CHECK:       fmla v{{[0-9]+}}.4s, v{{[0-9]+}}.4s
builtin.module @matmul_bias attributes {plan.kernel, plan.target = #plan.target<"cpu", "aarch64">} {
  func.func @matmul_bias() {
    %x = plan.binding 0 read align 64 : memref<66x64xf32>
    %w = plan.binding 1 read align 64 : memref<64x72xf32>
    %b = plan.binding 2 read align 64 : memref<72xf32>
    %y = plan.binding 3 write align 64 : memref<66x72xf32>
    %tx = bufferization.to_tensor %x restrict : memref<66x64xf32> to tensor<66x64xf32>
    %tw = bufferization.to_tensor %w restrict : memref<64x72xf32> to tensor<64x72xf32>
    %tb = bufferization.to_tensor %b restrict : memref<72xf32> to tensor<72xf32>
    %c = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<66x72xf32>
    %z = linalg.fill ins(%c : f32) outs(%e : tensor<66x72xf32>) -> tensor<66x72xf32>
    %p = linalg.matmul ins(%tx, %tw : tensor<66x64xf32>, tensor<64x72xf32>) outs(%z : tensor<66x72xf32>) -> tensor<66x72xf32>
    %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
        ins(%p, %tb : tensor<66x72xf32>, tensor<72xf32>) outs(%e : tensor<66x72xf32>) {
      ^bb0(%v: f32, %bias: f32, %o: f32):
        %s = arith.addf %v, %bias : f32
        linalg.yield %s : f32
    } -> tensor<66x72xf32>
    bufferization.materialize_in_destination %r in restrict writable %y : (tensor<66x72xf32>, memref<66x72xf32>) -> ()
    return
  }
}
