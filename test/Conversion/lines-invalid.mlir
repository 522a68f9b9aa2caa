// RUN: xc-opt %s -xc-convert-array-to-linalg -verify-diagnostics

func.func @topk(%x: tensor<?xf32>) -> (tensor<5000xf32>, tensor<5000xi32>) {
  // expected-error @+2 {{expected a k of at most 4096 along a dim of dynamic size, got 5000}}
  // expected-error @+1 {{failed to legalize operation 'array.topk'}}
  %0, %1 = array.topk %x k = 5000 axis = 0 : tensor<?xf32> -> tensor<5000xf32>, tensor<5000xi32>
  return %0, %1 : tensor<5000xf32>, tensor<5000xi32>
}
