// RUN: xc-opt %s -pass-pipeline='builtin.module(builtin.module(xc-cpu-loops))' | FileCheck %s

// The first part of code generation: what is left are loops over memory and vectors, with the launch that they need; the LLVM
// dialect and the image come later.
// CHECK-LABEL: func.func @k()
// CHECK-SAME:    plan.launch = #plan.launch_config<
// CHECK-NOT:     linalg.
// CHECK:         scf.for
// CHECK:           vector.load
// CHECK:           arith.negf
// CHECK:           vector.store
// CHECK-NOT:     llvm.
// CHECK-NOT:     plan.image
builtin.module {
  builtin.module @k attributes {plan.kernel, plan.target = #plan.target<"cpu", "x86-64-v3">} {
    func.func @k() {
      %x = plan.binding 0 read align 16 : memref<4096xf32>
      %y = plan.binding 1 write align 16 : memref<4096xf32>
      %t = bufferization.to_tensor %x restrict : memref<4096xf32> to tensor<4096xf32>
      %e = tensor.empty() : tensor<4096xf32>
      %r = linalg.negf ins(%t : tensor<4096xf32>) outs(%e : tensor<4096xf32>) -> tensor<4096xf32>
      bufferization.materialize_in_destination %r in restrict writable %y : (tensor<4096xf32>, memref<4096xf32>) -> ()
      return
    }
  }
}
