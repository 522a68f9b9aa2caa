// RUN: xc-opt %s -pass-pipeline='builtin.module(xc-verify-input{gradients=loss})' -split-input-file -verify-diagnostics

// A later pass gives it a body.
func.func private @loss_vjp(tensor<?xf32>) -> tensor<?xf32>
func.func @loss(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = func.call @loss_vjp(%x) : (tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

func.func @loss(%x: tensor<f32>) -> tensor<f32> {
  return %x : tensor<f32>
}
// expected-error @below {{argument 0 of 'loss_vjp' has type 'f32'; expected a ranked tensor}}
func.func private @loss_vjp(f32) -> tensor<f32>

// -----

func.func @loss(%x: tensor<f32>) -> tensor<f32> {
  return %x : tensor<f32>
}
// expected-error @below {{function 'other' has no body; expected every function to be here}}
func.func private @other(tensor<f32>) -> tensor<f32>

// -----

func.func @loss(%x: tensor<f32>) -> tensor<f32> {
  return %x : tensor<f32>
}
func.func @cost(%x: tensor<f32>) -> tensor<f32> {
  return %x : tensor<f32>
}
// expected-error @below {{function 'cost_vjp' has no body; --gradient=cost makes it}}
func.func private @cost_vjp(tensor<f32>) -> tensor<f32>

// -----

// expected-error @unknown {{--gradient=loss: there is no function 'loss'; did you mean 'lose'?}}
module {
  func.func @lose(%x: tensor<f32>) -> tensor<f32> {
    return %x : tensor<f32>
  }
}
