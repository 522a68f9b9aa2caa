// RUN: xc-opt %s -xc-cpu-codegen=object-file=%t.o -o /dev/null
// RUN: llvm-objdump -d %t.o | FileCheck %s --implicit-check-not=memset --implicit-check-not=memcpy

// LLVM recognises such loops as memset and memcpy, which no library provides here.
// CHECK: file format elf64-x86-64
// CHECK: vmovups
builtin.module @fill_and_copy attributes {plan.kernel, plan.target = #plan.target<"cpu", "x86-64-v3">} {
  func.func @fill_and_copy() attributes {lowering_config = #cpu.generic<version = 1>} {
    %n = plan.scalar 0 : index
    %x = plan.binding 0 read align 64 sizes(%n) : memref<?xf32>
    %y = plan.binding 1 write align 64 sizes(%n) : memref<?xf32>
    %z = plan.binding 2 write align 64 sizes(%n) : memref<?xf32>
    %t = bufferization.to_tensor %x restrict : memref<?xf32> to tensor<?xf32>
    %c = arith.constant 0.0 : f32
    %e = tensor.empty(%n) : tensor<?xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
    bufferization.materialize_in_destination %t in restrict writable %y : (tensor<?xf32>, memref<?xf32>) -> ()
    bufferization.materialize_in_destination %f in restrict writable %z : (tensor<?xf32>, memref<?xf32>) -> ()
    return
  }
}
