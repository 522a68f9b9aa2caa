// RUN: xc-opt %s -pass-pipeline='builtin.module(xc-array-differentiate{function=f arguments=x})' -split-input-file -verify-diagnostics | FileCheck %s

// What the program declares gets the gradient as its body, in the types of the declaration.
// CHECK-LABEL: func.func private @f_vjp(%{{.*}}: tensor<4xf32> {array.name = "x"}, %{{.*}}: tensor<4xf32> {array.name = "d_output0"})
// CHECK-SAME:    -> (tensor<?xf32> {array.name = "d_x"}) {
// CHECK:         array.mul
// CHECK:         %[[D:.*]] = tensor.cast %{{.*}} : tensor<4xf32> to tensor<?xf32>
// CHECK:         return %[[D]]
// CHECK-NOT:   func.func private @f_vjp
// CHECK-LABEL: func.func @g(
// CHECK:         call @f_vjp(
func.func @f(%x: tensor<4xf32> {array.name = "x"}) -> tensor<4xf32> {
  %y = array.exp %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func private @f_vjp(tensor<4xf32>, tensor<4xf32>) -> tensor<?xf32>
func.func @g(%x: tensor<4xf32>, %d: tensor<4xf32>) -> tensor<?xf32> {
  %y = func.call @f_vjp(%x, %d) : (tensor<4xf32>, tensor<4xf32>) -> tensor<?xf32>
  return %y : tensor<?xf32>
}

// -----

func.func @f(%x: tensor<4xf32> {array.name = "x"}) -> tensor<4xf32> {
  %y = array.exp %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
// expected-error @below {{'f_vjp' is declared as '(tensor<4xf32>) -> tensor<4xf32>'; the gradient is '(tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>'}}
func.func private @f_vjp(tensor<4xf32>) -> tensor<4xf32>

// -----

// expected-error @below {{function 'f' has no body, so no gradient}}
func.func private @f(tensor<4xf32>) -> tensor<4xf32>
