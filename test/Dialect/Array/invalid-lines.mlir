// RUN: xc-opt %s -split-input-file -verify-diagnostics

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'array.cumsum' op expected axis in [0, 2), got 2}}
  %0 = array.cumsum %x axis = 2 : tensor<4x8xf32> -> tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xi32>) {
  // expected-error @+1 {{'array.logcumsumexp' op operand #0 must be ranked tensor of float}}
  %0 = array.logcumsumexp %x axis = 1 : tensor<4x8xi32> -> tensor<4x8xi32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'array.argsort' op expected axis in [0, 2), got -1}}
  %0 = array.argsort %x axis = -1 : tensor<4x8xf32> -> tensor<4x8xi32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'array.topk' op expected axis in [0, 2), got 2}}
  %0, %1 = array.topk %x k = 2 axis = 2 : tensor<4x8xf32> -> tensor<4x2xf32>, tensor<4x2xi32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'array.topk' op expected k between 0 and the 8 elements of dim 1, got 9}}
  %0, %1 = array.topk %x k = 9 axis = 1 : tensor<4x8xf32> -> tensor<4x9xf32>, tensor<4x9xi32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'array.topk' op expected values of the operand's element type 'f32', got 'f64'}}
  %0, %1 = array.topk %x k = 2 axis = 1 : tensor<4x8xf32> -> tensor<4x2xf64>, tensor<4x2xi32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'array.partition' op expected kth in [0, 8), got 8}}
  %0 = array.partition %x kth = 8 axis = 1 : tensor<4x8xf32> -> tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'array.searchsorted' op expected a sorted vector, got 'tensor<4x8xf32>'}}
  %0 = array.searchsorted %x, %x : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi32>
  return
}

// -----

func.func @f(%e: tensor<8xf64>, %x: tensor<4xf32>) {
  // expected-error @+1 {{'array.searchsorted' op expected operands of one element type, got 'f64' and 'f32'}}
  %0 = array.searchsorted %e, %x : (tensor<8xf64>, tensor<4xf32>) -> tensor<4xi32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %m: tensor<4x7xi1>, %s: tensor<3xf32>) {
  // expected-error @+1 {{'array.masked_scatter' op expected operand and mask of one shape, got 'tensor<4x8xf32>' and 'tensor<4x7xi1>'}}
  %0 = array.masked_scatter %x, %m, %s : (tensor<4x8xf32>, tensor<4x7xi1>, tensor<3xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %m: tensor<4xi1>, %s: tensor<0xf32>) {
  // expected-error @+1 {{'array.masked_scatter' op expected a source that is not empty, got 'tensor<0xf32>'}}
  %0 = array.masked_scatter %x, %m, %s : (tensor<4xf32>, tensor<4xi1>, tensor<0xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error @+1 {{'array.nonzero' op expected a size that is not negative, got -4}}
  %0, %1 = array.nonzero %x size = -4 : tensor<8xf32> -> tensor<4x1xi32>, tensor<i32>
  return
}

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error @+1 {{'array.nonzero' op expected indices and count of one type, got 'i32' and 'i64'}}
  %0, %1 = array.nonzero %x size = 4 : tensor<8xf32> -> tensor<4x1xi32>, tensor<i64>
  return
}
