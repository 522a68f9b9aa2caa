// RUN: xc-opt %s -xc-array-infer-shapes -verify-diagnostics -split-input-file

func.func @operands(%x: tensor<4xf32>, %y: tensor<5xf32>) -> tensor<?xf32> {
  %0 = array.exp %y : tensor<5xf32> -> tensor<?xf32>
  // expected-error @+1 {{'array.add' op expected shapes that broadcast, got [4] and [5]}}
  %1 = array.add %x, %0 : (tensor<4xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %1 : tensor<?xf32>
}

// -----

func.func @result(%y: tensor<5xf32>) {
  %0 = array.exp %y : tensor<5xf32> -> tensor<?xf32>
  // expected-error @+1 {{'array.log' op expected a result compatible with 'tensor<5xf32>', which its operands imply, got 'tensor<4xf32>'}}
  %1 = array.log %0 : tensor<?xf32> -> tensor<4xf32>
  return
}
