// RUN: xc-opt %s -xc-array-test-vjp -verify-diagnostics -split-input-file

func.func @f(%x: tensor<4xi32>) {
  // expected-error @+1 {{has no gradient}}
  %y = array.add %x, %x {vjp} : tensor<4xi32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{has no gradient}}
  %y = array.nextafter %x, %x {vjp} : tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xi32>) {
  // expected-error @+1 {{has no gradient}}
  %y = array.reduce prod, %x axes = [0] {vjp} : tensor<4xi32> -> tensor<i32>
  return
}

// -----

func.func @f(%x: tensor<4x4xi8>) {
  // expected-error @+1 {{has no gradient}}
  %y = array.matmul %x, %x {vjp} : (tensor<4x4xi8>, tensor<4x4xi8>) -> tensor<4x4xi32>
  return
}

// -----

func.func @f(%x: tensor<4xi32>) {
  // expected-error @+1 {{has no gradient}}
  %y = array.sort %x axis = 0 {vjp} : tensor<4xi32> -> tensor<4xi32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{has no gradient}}
  %y = array.custom_kernel "f"(%x) grid = affine_map<() -> (1, 1, 1)> block = [4, 1, 1] {file = "f.ptx", vjp} : (tensor<4xf32>) -> tensor<4xf32>
  return
}
