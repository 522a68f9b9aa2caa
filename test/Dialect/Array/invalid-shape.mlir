// RUN: xc-opt %s -verify-diagnostics -split-input-file

func.func @f() {
  // expected-error @+1 {{expected the scope of a parameter not to be empty}}
  %0 = array.parameter ""::"key" : tensor<4xf32>
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{'array.iota' op expected axis in [0, 2), got 2}}
  %0 = array.iota axis = 2 : tensor<4x8xi32>
  return
}

// -----

func.func @f(%n: index) {
  // expected-error @+1 {{'array.iota' op expected 0 sizes for result 'tensor<4xi32>', got 1}}
  %0 = array.iota axis = 0 sizes(%n) : tensor<4xi32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'array.dim' op expected axis in [0, 2), got 2}}
  %0 = array.dim %x, 2 : tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error @+1 {{'array.broadcast_in_dim' op expected operand and result of one element type, got 'f32' and 'f64'}}
  %0 = array.broadcast_in_dim %x axes = [1] : tensor<8xf32> -> tensor<4x8xf64>
  return
}

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error @+1 {{'array.broadcast_in_dim' op expected 1 sizes for result 'tensor<?x8xf32>', got 0}}
  %0 = array.broadcast_in_dim %x axes = [1] : tensor<8xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error @+1 {{'array.broadcast_in_dim' op expected an axis for each dim of 'tensor<8xf32>', got [0, 1]}}
  %0 = array.broadcast_in_dim %x axes = [0, 1] : tensor<8xf32> -> tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'array.broadcast_in_dim' op expected strictly increasing axes in [0, 2), got [1, 0]}}
  %0 = array.broadcast_in_dim %x axes = [1, 0] : tensor<4x8xf32> -> tensor<8x4xf32>
  return
}

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error @+1 {{'array.broadcast_in_dim' op expected operand dims of size 1 or the result's, got 'tensor<8xf32>' and 'tensor<4x8xf32>'}}
  %0 = array.broadcast_in_dim %x axes = [0] : tensor<8xf32> -> tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'array.reshape' op expected operand and result of one element type, got 'f32' and 'f16'}}
  %0 = array.reshape %x : tensor<4x8xf32> -> tensor<32xf16>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'array.reshape' op expected shapes of equally many elements, got 'tensor<4x8xf32>' and 'tensor<31xf32>'}}
  %0 = array.reshape %x : tensor<4x8xf32> -> tensor<31xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'array.reshape' op expected the static dims of 'tensor<?x5xf32>' to divide the 32 elements of 'tensor<4x8xf32>'}}
  %0 = array.reshape %x : tensor<4x8xf32> -> tensor<?x5xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'array.reshape' op expected shapes of equally many elements, got 'tensor<4x8xf32>' and 'tensor<?x0xf32>'}}
  %0 = array.reshape %x : tensor<4x8xf32> -> tensor<?x0xf32>
  return
}

// -----

func.func @f(%x: tensor<?x8xf32>) {
  // expected-error @+1 {{'array.reshape' op expected 2 sizes for result 'tensor<?x?xf32>', got 0}}
  %0 = array.reshape %x : tensor<?x8xf32> -> tensor<?x?xf32>
  return
}

// -----

func.func @f(%x: tensor<?xf32>, %n: index) {
  // expected-error @+1 {{'array.reshape' op expected fewer than 2^63 elements, got 'tensor<4294967296x4294967296x?xf32>'}}
  %0 = array.reshape %x sizes(%n) : tensor<?xf32> -> tensor<4294967296x4294967296x?xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'array.expand_dims' op expected strictly increasing axes in [0, 3), got [4]}}
  %0 = array.expand_dims %x axes = [4] : tensor<4x8xf32> -> tensor<4x8x1xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'array.squeeze' op expected strictly increasing axes in [0, 2), got [-1]}}
  %0 = array.squeeze %x axes = [-1] : tensor<4x8xf32> -> tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'array.squeeze' op expected dim 0 to have size 1, got 'tensor<4x8xf32>'}}
  %0 = array.squeeze %x axes = [0] : tensor<4x8xf32> -> tensor<8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'array.transpose' op expected a permutation of the 2 dims of 'tensor<4x8xf32>', got [0, 0]}}
  %0 = array.transpose %x permutation = [0, 0] : tensor<4x8xf32> -> tensor<4x4xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'array.transpose' op expected a result compatible with 'tensor<8x4xf32>', got 'tensor<4x8xf32>'}}
  %0 = array.transpose %x permutation = [1, 0] : tensor<4x8xf32> -> tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'array.reverse' op expected strictly increasing axes in [0, 2), got [0, 0]}}
  %0 = array.reverse %x axes = [0, 0] : tensor<4x8xf32> -> tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'array.slice' op expected a range for each dim of 'tensor<4x8xf32>', got 1}}
  %0 = array.slice %x [:] : tensor<4x8xf32> -> tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'array.slice' op expected 0 <= start <= limit <= 8 for dim 1, got start 2 and limit 9}}
  %0 = array.slice %x [:, 2:9] : tensor<4x8xf32> -> tensor<4x7xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'array.slice' op expected 0 <= start <= limit <= 4 for dim 0, got start 3 and limit 2}}
  %0 = array.slice %x [3:2, :] : tensor<4x8xf32> -> tensor<0x8xf32>
  return
}

// -----

func.func @f(%x: tensor<?xf32>) {
  // expected-error @+1 {{'array.slice' op expected 0 <= start <= limit <= ? for dim 0, got start -1 and limit ?}}
  %0 = array.slice %x [-1:] : tensor<?xf32> -> tensor<?xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'array.slice' op expected a stride of at least 1 for dim 0, got 0}}
  %0 = array.slice %x [::0, :] : tensor<4x8xf32> -> tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %i: tensor<i32>) {
  // expected-error @+1 {{'array.dynamic_slice' op expected a start for each dim of 'tensor<4x8xf32>', got 1}}
  %0 = array.dynamic_slice %x[%i] : (tensor<4x8xf32>, tensor<i32>) -> tensor<1x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %i: tensor<i32>) {
  // expected-error @+1 {{'array.dynamic_slice' op expected a box within 'tensor<4x8xf32>', got 'tensor<5x8xf32>'}}
  %0 = array.dynamic_slice %x[%i, %i] : (tensor<4x8xf32>, tensor<i32>, tensor<i32>) -> tensor<5x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %i: tensor<i32>) {
  // expected-error @+1 {{'array.dynamic_slice' op expected operand and result of one element type, got 'f32' and 'f16'}}
  %0 = array.dynamic_slice %x[%i, %i] : (tensor<4x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x8xf16>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %i: tensor<1xi32>) {
  // expected-error @+1 {{'array.dynamic_slice' op operand #1 must be variadic of rank-0 tensor of integer (i8..i64, ui8..ui64) values, but got 'tensor<1xi32>'}}
  %0 = array.dynamic_slice %x[%i, %i] : (tensor<4x8xf32>, tensor<1xi32>, tensor<1xi32>) -> tensor<1x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %u: tensor<5x1xf32>, %i: tensor<i32>) {
  // expected-error @+1 {{'array.dynamic_update_slice' op expected an update within 'tensor<4x8xf32>', got 'tensor<5x1xf32>'}}
  %0 = array.dynamic_update_slice %x[%i, %i] = %u : (tensor<4x8xf32>, tensor<5x1xf32>, tensor<i32>, tensor<i32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %i: tensor<i32>) {
  // expected-error @+1 {{'array.dynamic_update_slice' op expected a start for each dim of 'tensor<4x8xf32>', got 1}}
  %0 = array.dynamic_update_slice %x[%i] = %x : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<i32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'array.concatenate' op expected axis in [0, 2), got 2}}
  %0 = array.concatenate %x, %x axis = 2 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x16xf32>
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{'array.concatenate' op expected at least one operand}}
  %0 = "array.concatenate"() {axis = 0 : i64} : () -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %y: tensor<4xf32>) {
  // expected-error @+1 {{'array.concatenate' op expected operands of one rank, got 'tensor<4x8xf32>' and 'tensor<4xf32>'}}
  %0 = array.concatenate %x, %y axis = 0 : (tensor<4x8xf32>, tensor<4xf32>) -> tensor<5x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %y: tensor<4x9xf32>) {
  // expected-error @+1 {{'array.concatenate' op expected operands equal in all dims but 0, got 'tensor<4x8xf32>' and 'tensor<4x9xf32>'}}
  %0 = array.concatenate %x, %y axis = 0 : (tensor<4x8xf32>, tensor<4x9xf32>) -> tensor<8x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'array.split' op expected parts that add up to 8, got [4, 3]}}
  %0:2 = array.split %x axis = 1 parts = [4, 3] : tensor<4x8xf32> -> tensor<4x4xf32>, tensor<4x3xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'array.split' op expected parts that are not negative, got [9, -1]}}
  %0:2 = array.split %x axis = 1 parts = [9, -1] : tensor<4x8xf32> -> tensor<4x4xf32>, tensor<4x3xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'array.split' op expected 2 results, got 1}}
  %0 = array.split %x axis = 1 parts = [4, 4] : tensor<4x8xf32> -> tensor<4x4xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %v: tensor<f32>) {
  // expected-error @+1 {{'array.pad' op expected an amount for each dim of 'tensor<4x8xf32>', got 1}}
  %0 = array.pad %x, %v low = [1] high = [0, 0] : (tensor<4x8xf32>, tensor<f32>) -> tensor<5x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %v: tensor<f32>) {
  // expected-error @+1 {{'array.pad' op expected amounts that are not negative, got [-1, 0]}}
  %0 = array.pad %x, %v low = [-1, 0] high = [0, 0] : (tensor<4x8xf32>, tensor<f32>) -> tensor<3x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %v: tensor<f32>) {
  // expected-error @+1 {{'array.pad' op expected amounts of at most 2147483648, got [9223372036854775807, 0]}}
  %0 = array.pad %x, %v low = [9223372036854775807, 0] high = [9223372036854775807, 0] : (tensor<4x8xf32>, tensor<f32>) -> tensor<2x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %v: tensor<i32>) {
  // expected-error @+1 {{'array.pad' op expected operands of one element type, got 'f32' and 'i32'}}
  %0 = array.pad %x, %v low = [0, 0] high = [0, 0] : (tensor<4x8xf32>, tensor<i32>) -> tensor<4x8xf32>
  return
}
