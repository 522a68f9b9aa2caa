// RUN: xc-opt %s -verify-diagnostics -split-input-file

func.func @f(%x: tensor<4xi32>) {
  // expected-error @+1 {{'array.exp' op operand #0 must be ranked tensor of float (f16, bf16, f32, f64) values, but got 'tensor<4xi32>'}}
  %0 = array.exp %x : tensor<4xi32>
  return
}

// -----

func.func @f(%x: tensor<4xi1>) {
  // expected-error @+1 {{'array.add' op operand #0 must be ranked tensor of number (i8..i64, ui8..ui64, f16, bf16, f32, f64) values, but got 'tensor<4xi1>'}}
  %0 = array.add %x, %x : tensor<4xi1>
  return
}

// -----

func.func @f(%x: tensor<*xf32>) {
  // expected-error @+1 {{'array.exp' op operand #0 must be ranked tensor of float}}
  %0 = array.exp %x : tensor<*xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %y: tensor<5xf32>) {
  // expected-error @+1 {{'array.add' op expected shapes that broadcast, got [4] and [5]}}
  %0 = array.add %x, %y : (tensor<4xf32>, tensor<5xf32>) -> tensor<4xf32>
  return
}

// -----

// The size is known not to be 1, whatever `?` is.
func.func @f(%x: tensor<?x4xf32>, %y: tensor<2x?xf32>, %z: tensor<3x1xf32>) {
  // expected-error @+1 {{'array.fma' op expected shapes that broadcast, got [2, 4] and [3, 1]}}
  %0 = array.fma %x, %y, %z : (tensor<?x4xf32>, tensor<2x?xf32>, tensor<3x1xf32>) -> tensor<?x4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %y: tensor<4xf16>) {
  // expected-error @+1 {{'array.add' op expected operands of one element type, got 'f32' and 'f16'}}
  %0 = array.add %x, %y : (tensor<4xf32>, tensor<4xf16>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xi32>, %y: tensor<4xui32>) {
  // expected-error @+1 {{'array.compare' op expected operands of one element type, got 'i32' and 'ui32'}}
  %0 = array.compare lt, %x, %y : (tensor<4xi32>, tensor<4xui32>) -> tensor<4xi1>
  return
}

// -----

func.func @f(%p: tensor<4xi1>, %x: tensor<4xf32>, %y: tensor<4xf64>) {
  // expected-error @+1 {{'array.select' op expected operands of one element type, got 'f32' and 'f64'}}
  %0 = array.select %p, %x, %y : (tensor<4xi1>, tensor<4xf32>, tensor<4xf64>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%p: tensor<3xi1>, %x: tensor<4xf32>) {
  // expected-error @+1 {{'array.select' op expected shapes that broadcast, got [3] and [4]}}
  %0 = array.select %p, %x, %x : (tensor<3xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'array.exp' op expected a result compatible with 'tensor<4xf32>', got 'tensor<5xf32>'}}
  %0 = array.exp %x : tensor<4xf32> -> tensor<5xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'array.exp' op expected a result compatible with 'tensor<4xf32>', got 'tensor<4xf64>'}}
  %0 = array.exp %x : tensor<4xf32> -> tensor<4xf64>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected 2 operand types and one result type, got '(tensor<4xf32>) -> tensor<4xf32>'}}
  %0 = array.add %x, %x : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'array.convert' op expected operand and result of one shape, got 'tensor<4xf32>' and 'tensor<5xi32>'}}
  %0 = array.convert %x : tensor<4xf32> -> tensor<5xi32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'array.bitcast' op expected element types of equal width, got 'f32' and 'i16'}}
  %0 = array.bitcast %x : tensor<4xf32> -> tensor<4xi16>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'array.bitcast' op expected operand and result of one shape, got 'tensor<4xf32>' and 'tensor<1x4xi32>'}}
  %0 = array.bitcast %x : tensor<4xf32> -> tensor<1x4xi32>
  return
}
