// RUN: xc-opt %s -split-input-file -verify-diagnostics

func.func @scalar_indices(%i: tensor<i32>, %u: tensor<5xf32>, %d: tensor<5xf32>) -> tensor<5xf32> {
  // expected-error @below {{expected indices of rank 1 or more and signless integers, got 'tensor<i32>'}}
  %0 = kernel.scatter set, %i, %u into %d axes = [] : tensor<i32>, tensor<5xf32>, tensor<5xf32> -> tensor<5xf32>
  return %0 : tensor<5xf32>
}

// -----

func.func @element_types(%i: tensor<4x1xi32>, %u: tensor<4xf16>, %d: tensor<5xf32>) -> tensor<5xf32> {
  // expected-error @below {{expected updates and destination of one signless integer or float type, got 'f16' and 'f32'}}
  %0 = kernel.scatter set, %i, %u into %d axes = [0] : tensor<4x1xi32>, tensor<4xf16>, tensor<5xf32> -> tensor<5xf32>
  return %0 : tensor<5xf32>
}

// -----

func.func @axes(%i: tensor<4x2xi32>, %u: tensor<4xf32>, %d: tensor<5x6xf32>) -> tensor<5x6xf32> {
  // expected-error @below {{expected strictly increasing axes in [0, 2), got [1, 0]}}
  %0 = kernel.scatter set, %i, %u into %d axes = [1, 0]
    : tensor<4x2xi32>, tensor<4xf32>, tensor<5x6xf32> -> tensor<5x6xf32>
  return %0 : tensor<5x6xf32>
}

// -----

func.func @components(%i: tensor<4x3xi32>, %u: tensor<4x6xf32>, %d: tensor<5x6xf32>) -> tensor<5x6xf32> {
  // expected-error @below {{expected index vectors of 1 components, got 3}}
  %0 = kernel.scatter set, %i, %u into %d axes = [0]
    : tensor<4x3xi32>, tensor<4x6xf32>, tensor<5x6xf32> -> tensor<5x6xf32>
  return %0 : tensor<5x6xf32>
}

// -----

func.func @update_shape(%i: tensor<4x1xi32>, %u: tensor<4x7xf32>, %d: tensor<5x6xf32>) -> tensor<5x6xf32> {
  // expected-error @below {{expected updates of shape [4, 6], got [4, 7]}}
  %0 = kernel.scatter set, %i, %u into %d axes = [0]
    : tensor<4x1xi32>, tensor<4x7xf32>, tensor<5x6xf32> -> tensor<5x6xf32>
  return %0 : tensor<5x6xf32>
}

// -----

func.func @mixed(%i: tensor<4x1xi32>, %u: memref<4x6xf32>, %d: memref<5x6xf32>) {
  // expected-error @below {{expected only tensors or only memrefs, got 'tensor<4x1xi32>', 'memref<4x6xf32>' and 'memref<5x6xf32>'}}
  kernel.scatter set, %i, %u into %d axes = [0] : tensor<4x1xi32>, memref<4x6xf32>, memref<5x6xf32>
  return
}

// -----

func.func @no_result(%i: tensor<4x1xi32>, %u: tensor<4x6xf32>, %d: tensor<5x6xf32>) {
  // expected-error @below {{expected one result of the destination's type}}
  kernel.scatter set, %i, %u into %d axes = [0] : tensor<4x1xi32>, tensor<4x6xf32>, tensor<5x6xf32>
  return
}
