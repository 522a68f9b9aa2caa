// RUN: xc-opt %s -split-input-file -verify-diagnostics

func.func @f(%x: tensor<64x8xf32>, %n: tensor<i64>) {
  // expected-error @+1 {{'array.set_extent' op expected axis in [0, 2), got 2}}
  %0 = array.set_extent %x, %n axis = 2 : (tensor<64x8xf32>, tensor<i64>) -> tensor<64x?xf32>
  return
}

// -----

func.func @f(%x: tensor<64x8xf32>, %n: tensor<i64>) {
  // expected-error @+1 {{'array.set_extent' op expected a result like 'tensor<?x8xf32>', got 'tensor<64x8xf32>'}}
  %0 = array.set_extent %x, %n axis = 0 : (tensor<64x8xf32>, tensor<i64>) -> tensor<64x8xf32>
  return
}

// -----

func.func @f(%x: tensor<64x8xf32>, %n: tensor<i64>) {
  // expected-error @+1 {{'array.set_extent' op expected a result like 'tensor<?x8xf32>', got 'tensor<?x9xf32>'}}
  %0 = array.set_extent %x, %n axis = 0 : (tensor<64x8xf32>, tensor<i64>) -> tensor<?x9xf32>
  return
}

// -----

func.func @f(%x: tensor<?x8xf32>) {
  // expected-error @+1 {{'array.extent' op expected axis in [0, 2), got -1}}
  %0 = array.extent %x, -1 : tensor<?x8xf32> -> tensor<i64>
  return
}

// -----

func.func @f(%x: tensor<?x8xf32>, %zero: tensor<f32>) {
  // expected-error @+1 {{'array.pad_to_bound' op expected a result like 'tensor<?x8xf32>', got 'tensor<64x9xf32>'}}
  %0 = array.pad_to_bound %x, %zero : (tensor<?x8xf32>, tensor<f32>) -> tensor<64x9xf32>
  return
}

// -----

func.func @f(%x: tensor<?x8xf32>, %zero: tensor<i32>) {
  // expected-error @+1 {{'array.pad_to_bound' op expected a value of the operand's element type 'f32', got 'i32'}}
  %0 = array.pad_to_bound %x, %zero : (tensor<?x8xf32>, tensor<i32>) -> tensor<64x8xf32>
  return
}

// -----

func.func @f(%x: tensor<64x8xf32>, %u: tensor<1x8xf32>) {
  // expected-error @+1 {{'array.append' op expected dim 0 of the operand to be ?, got 'tensor<64x8xf32>'}}
  %0 = array.append %x, %u axis = 0 : (tensor<64x8xf32>, tensor<1x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @f(%x: tensor<?x8xf32>, %u: tensor<8xf32>) {
  // expected-error @+1 {{'array.append' op expected an update like 'tensor<?x8xf32>', got 'tensor<8xf32>'}}
  %0 = array.append %x, %u axis = 0 : (tensor<?x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @f(%x: tensor<?x8xf32>, %u: tensor<1x7xf32>) {
  // expected-error @+1 {{'array.append' op expected operand and update equal in all dims but 0, got 'tensor<?x8xf32>' and 'tensor<1x7xf32>'}}
  %0 = array.append %x, %u axis = 0 : (tensor<?x8xf32>, tensor<1x7xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @f(%x: tensor<64x8xf32>, %m: tensor<8xi1>) {
  // expected-error @+1 {{'array.compress' op expected a mask of 64 elements, got 'tensor<8xi1>'}}
  %0 = array.compress %x, %m axis = 0 : (tensor<64x8xf32>, tensor<8xi1>) -> tensor<?x8xf32>
  return
}

// -----

func.func @f(%x: tensor<64x8xf32>, %n: tensor<i64>) {
  // expected-error @+1 {{'array.within' op expected axis in [0, 2), got 3}}
  %0 = array.within %x, %n axis = 3 : tensor<64x8xf32>, tensor<i64>
  return
}
