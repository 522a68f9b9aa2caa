// RUN: xc-opt %s -xc-dedup-kernels -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func.func @main
// CHECK:         plan.dispatch @k0(
// CHECK:         plan.dispatch @k0(
// CHECK:         plan.dispatch @k2(
// CHECK:       module @k0
// CHECK-NOT:   module @k1
// CHECK:       module @k2
func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %a = plan.dispatch @k0(%x : tensor<4xf32>) -> (tensor<4xf32>) reuse [-1]
  %b = plan.dispatch @k1(%a : tensor<4xf32>) -> (tensor<4xf32>) reuse [-1]
  %c = plan.dispatch @k2(%b : tensor<4xf32>) -> (tensor<4xf32>) reuse [-1]
  return %a, %b, %c : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
module @k0 attributes {plan.kernel} {
  func.func @k0() {
    %x = plan.binding 0 read align 16 : memref<4xf32>
    return
  }
}
module @k1 attributes {plan.kernel} {
  func.func @k1() {
    %x = plan.binding 0 read align 16 : memref<4xf32>
    return
  }
}
module @k2 attributes {plan.kernel} {
  func.func @k2() {
    %x = plan.binding 0 read align 64 : memref<4xf32>
    return
  }
}

// -----

func.func @without_body(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = plan.dispatch @k0(%x : tensor<4xf32>) -> (tensor<4xf32>) reuse [-1]
  return %a : tensor<4xf32>
}
// expected-error @+1 {{expected a kernel with a name and one func.func}}
module @k0 attributes {plan.kernel} {}
