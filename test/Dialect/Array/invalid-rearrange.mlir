// RUN: xc-opt %s -split-input-file -verify-diagnostics

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'array.roll' op expected a shift for each of axes [0, 1], got [1]}}
  %0 = array.roll %x shifts = [1] axes = [0, 1] : tensor<4x8xf32> -> tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'array.tile' op expected a count for each dim of 'tensor<4x8xf32>', got [2]}}
  %0 = array.tile %x repeats = [2] : tensor<4x8xf32> -> tensor<8x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'array.tile' op expected counts that are not negative, got [2, -1]}}
  %0 = array.tile %x repeats = [2, -1] : tensor<4x8xf32> -> tensor<8x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'array.repeat' op expected counts that are not negative, got [-2]}}
  %0 = array.repeat %x repeats = -2 axis = 0 : tensor<4x8xf32> -> tensor<8x8xf32>
  return
}

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error @+1 {{'array.diagonal' op expected matrices, got 'tensor<8xf32>'}}
  %0 = array.diagonal %x : tensor<8xf32> -> tensor<8xf32>
  return
}

// -----

func.func @f(%x: tensor<f32>) {
  // expected-error @+1 {{'array.diag' op expected vectors, got 'tensor<f32>'}}
  %0 = array.diag %x : tensor<f32> -> tensor<8x8xf32>
  return
}

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error @+1 {{'array.tril' op expected matrices, got 'tensor<8xf32>'}}
  %0 = array.tril %x : tensor<8xf32> -> tensor<8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'array.tile' op expected at most 281474976710656 elements, got 4611686018427387904 times 8}}
  %0 = array.tile %x repeats = [1, 4611686018427387904] : tensor<4x8xf32> -> tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'array.repeat' op expected at most 281474976710656 elements, got 9223372036854775807 times 4}}
  %0 = array.repeat %x repeats = 9223372036854775807 axis = 0 : tensor<4x8xf32> -> tensor<4x8xf32>
  return
}
