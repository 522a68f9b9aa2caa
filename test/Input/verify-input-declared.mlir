// RUN: xc-opt %s -pass-pipeline='builtin.module(xc-verify-input{declared=later,wrong})' -split-input-file -verify-diagnostics

// A later pass gives it a body.
func.func private @later(tensor<?xf32>) -> tensor<?xf32>
func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = func.call @later(%x) : (tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

// expected-error @below {{argument 0 of 'wrong' has type 'f32'; expected a ranked tensor}}
func.func private @wrong(f32) -> tensor<f32>

// -----

// expected-error @below {{function 'other' has no body; expected every function to be here}}
func.func private @other(tensor<f32>) -> tensor<f32>
