// RUN: xc-opt %s -split-input-file -verify-diagnostics

func.func @f(%key: tensor<3xui32>) {
  // expected-error @+1 {{'array.random_bits' op expected a key of two words, got 'tensor<3xui32>'}}
  %0 = array.random_bits %key : tensor<3xui32> -> tensor<4xui32>
  return
}

// -----

func.func @f(%key: tensor<2xui32>) {
  // expected-error @+1 {{'array.random_normal' op expected 1 sizes for result 'tensor<?xf32>', got 0}}
  %0 = array.random_normal %key : tensor<2xui32> -> tensor<?xf32>
  return
}

// -----

func.func @f(%key: tensor<2xui32>) {
  // expected-error @+1 {{'array.random_uniform' op expected finite bounds of which the first is lower, got 1.000000 and 1.000000}}
  %0 = array.random_uniform %key low = 1.0 : tensor<2xui32> -> tensor<4xf32>
  return
}

// -----

func.func @f(%key: tensor<2xui32>) {
  // expected-error @+1 {{'array.random_truncated_normal' op expected finite bounds of which the first is lower, got 2.000000 and -2.000000}}
  %0 = array.random_truncated_normal %key lower = 2.0 upper = -2.0 : tensor<2xui32> -> tensor<4xf32>
  return
}

// -----

func.func @f(%key: tensor<2xui32>, %p: tensor<3xf32>) {
  // expected-error @+1 {{'array.random_bernoulli' op expected a probability that broadcasts to 'tensor<4xi1>', got 'tensor<3xf32>'}}
  %0 = array.random_bernoulli %key, %p : (tensor<2xui32>, tensor<3xf32>) -> tensor<4xi1>
  return
}

// -----

func.func @f(%key: tensor<2xui32>) {
  // expected-error @+1 {{'array.random_split' op expected a number of keys that is not negative, got -1}}
  %0 = array.random_split %key num = -1 : tensor<2xui32> -> tensor<0x2xui32>
  return
}

// -----

func.func @f(%key: tensor<2xui32>, %l: tensor<4x0xf32>) {
  // expected-error @+1 {{'array.random_categorical' op expected dim 1 not to be empty, got 'tensor<4x0xf32>'}}
  %0 = array.random_categorical %key, %l axis = 1 : (tensor<2xui32>, tensor<4x0xf32>) -> tensor<4xi32>
  return
}
