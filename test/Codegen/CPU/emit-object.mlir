// RUN: xc-opt %s -xc-cpu-emit-object=emit-assembly=true -split-input-file -verify-diagnostics | FileCheck %s

// The IR is gone; what is left are the bytes and the text.
// CHECK:      module @add attributes {
// CHECK-SAME: plan.assembly = "{{.*}}vaddss
// CHECK-SAME: plan.image = "\7FELF
// CHECK-NOT:  llvm.func
builtin.module @add attributes {plan.target = #plan.target<"cpu", "x86-64-v3">} {
  llvm.func @add(%a: f32, %b: f32) -> f32 {
    %0 = llvm.fadd %a, %b : f32
    llvm.return %0 : f32
  }
}

// -----

// expected-error@+1 {{kernel calls_library needs functions that a kernel cannot call: expf}}
builtin.module @calls_library attributes {plan.target = #plan.target<"cpu", "x86-64-v3">} {
  llvm.func @k(%a: f32) -> f32 {
    %0 = llvm.intr.exp(%a) : (f32) -> f32
    llvm.return %0 : f32
  }
}

// -----

// expected-error@+1 {{unknown CPU 'z80'; the known ones are}}
builtin.module @unknown attributes {plan.target = #plan.target<"cpu", "z80">} {
}
