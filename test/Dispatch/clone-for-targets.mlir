// RUN: xc-opt %s -xc-clone-for-targets=targets=cpu:x86-64-v3,cuda:sm_90a | FileCheck %s
// RUN: not xc-opt %s -xc-clone-for-targets=targets=cpu 2>&1 | FileCheck %s --check-prefix=BAD

// BAD: expected targets as kind:arch, got cpu

// CHECK:       module @target_0 attributes {plan.target = #plan.target<"cpu", "x86-64-v3">} {
// CHECK-NEXT:    func.func @main
// CHECK:       module @target_1 attributes {plan.target = #plan.target<"cuda", "sm_90a">} {
// CHECK-NEXT:    func.func @main
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
