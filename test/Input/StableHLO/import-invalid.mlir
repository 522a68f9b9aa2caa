// RUN: xc-opt %s -xc-import-stablehlo -split-input-file -verify-diagnostics

// expected-error @+1 {{3 of 3 ops cannot be imported; 0 can}}
module {
  func.func @complex(%x: tensor<8xcomplex<f32>>, %y: tensor<8xf32>) -> (tensor<8xcomplex<f32>>, tensor<8xi1>, tensor<4xcomplex<f32>>) {
    // expected-error @+1 {{'stablehlo.remainder' is not supported: it works on complex numbers, or on tuples}}
    %0 = stablehlo.remainder %x, %x : tensor<8xcomplex<f32>>
    // expected-error @+1 {{'stablehlo.compare' is not supported: it compares complex numbers, which have no order}}
    %1 = stablehlo.compare LT, %x, %x : (tensor<8xcomplex<f32>>, tensor<8xcomplex<f32>>) -> tensor<8xi1>
    // expected-error @+1 {{'stablehlo.fft' is not supported: its length is 7 where its operand has 8 elements; supported are 1 to 4194304}}
    %2 = stablehlo.fft %y, type = RFFT, length = [7] : (tensor<8xf32>) -> tensor<4xcomplex<f32>>
    return %0, %1, %2 : tensor<8xcomplex<f32>>, tensor<8xi1>, tensor<4xcomplex<f32>>
  }
}

// -----

// expected-error @+1 {{1 of 1 ops cannot be imported; 0 can}}
module {
  func.func @tuple(%x: tuple<tensor<8xf32>>) -> tensor<8xf32> {
    // expected-error @+1 {{'stablehlo.get_tuple_element' is not supported: its operand is no tuple with such an element}}
    %0 = stablehlo.get_tuple_element %x[1] : (tuple<tensor<8xf32>>) -> tensor<8xf32>
    return %0 : tensor<8xf32>
  }
}

// -----

// expected-error @+1 {{1 of 1 ops cannot be imported; 0 can}}
module {
  func.func @open_size(%x: tensor<?xf32>, %i: tensor<1xi32>) -> tensor<?xf32> {
    // expected-error @+1 {{'stablehlo.real_dynamic_slice' is not supported: it works on tensor<?xf32>; it is supported with sizes that are numbers alone}}
    %0 = stablehlo.real_dynamic_slice %x, %i, %i, %i : (tensor<?xf32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<?xf32>
    return %0 : tensor<?xf32>
  }
}

// -----

// expected-error @+1 {{3 of 3 ops cannot be imported; 0 can}}
module {
  func.func @sizes_from_data(%n: tensor<1xi32>, %x: tensor<4xf32>) -> (tensor<?xi32>, tensor<?x4xf32>, tensor<?xf32>) {
    // expected-error @+1 {{'stablehlo.dynamic_iota' is not supported: its sizes are not sums and products of sizes that are known before anything runs}}
    %0 = stablehlo.dynamic_iota %n, dim = 0 : (tensor<1xi32>) -> tensor<?xi32>
    // expected-error @+1 {{'stablehlo.dynamic_broadcast_in_dim' is not supported: its sizes are not sums and products}}
    %1 = stablehlo.dynamic_broadcast_in_dim %x, %n, dims = [1] : (tensor<4xf32>, tensor<1xi32>) -> tensor<?x4xf32>
    // expected-error @+1 {{'stablehlo.dynamic_reshape' is not supported: its sizes are not sums and products}}
    %2 = stablehlo.dynamic_reshape %x, %n : (tensor<4xf32>, tensor<1xi32>) -> tensor<?xf32>
    return %0, %1, %2 : tensor<?xi32>, tensor<?x4xf32>, tensor<?xf32>
  }
}

// -----

// expected-error @+1 {{1 of 3 ops cannot be imported; 2 can}}
module {
  func.func @comparator(%x: tensor<4xf32>) -> tensor<4xf32> {
    %c = stablehlo.constant dense<1.0> : tensor<f32>
    // expected-error @+1 {{'stablehlo.sort' is not supported: its comparator does not order by operands in ascending or descending order}}
    %0 = "stablehlo.sort"(%x) <{dimension = 0 : i64}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.abs %a : tensor<f32>
      %p = stablehlo.compare LT, %s, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    }) : (tensor<4xf32>) -> tensor<4xf32>
    %1 = stablehlo.add %0, %0 : tensor<4xf32>
    return %1 : tensor<4xf32>
  }
}

// -----

// expected-error @+1 {{2 of 4 ops cannot be imported; 2 can}}
module {
  func.func @bodies(%x: tensor<4x1025xf32>, %z: tensor<f32>) -> tensor<4xf32> {
    %s = stablehlo.constant dense<4> : tensor<1xi64>
    // expected-error @+1 {{'stablehlo.reduce' is not supported: it has more than 1024 elements, a body of its own, and initial values that are data}}
    %0 = stablehlo.reduce(%x init: %z) applies stablehlo.power across dimensions = [1] : (tensor<4x1025xf32>, tensor<f32>) -> tensor<4xf32>
    // expected-error @+1 {{'stablehlo.rng' is not supported: its numbers are left to the implementation; use a generator with a key}}
    %1 = stablehlo.rng %z, %z, %s, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

// expected-error @+1 {{1 of 1 ops cannot be imported; 0 can}}
module {
  func.func @no_options(%a: tensor<4x4xf32>, %b: tensor<4x3xf32>) -> tensor<4x3xf32> {
    // expected-error @+1 {{is not supported: it does not say which side, triangle, diagonal and transpose it is of}}
    %0 = stablehlo.custom_call @lapack_strsm_ffi(%a, %b) {mhlo.backend_config = {uplo = 76 : ui8}}
      : (tensor<4x4xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
    return %0 : tensor<4x3xf32>
  }
}

// -----

// expected-error @+1 {{1 of 1 ops cannot be imported; 0 can}}
module {
  func.func @no_fit(%a: tensor<4x4xf32>, %b: tensor<3x4xf32>) -> tensor<3x4xf32> {
    // expected-error @+1 {{is not supported: its operands do not fit each other}}
    %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true,
      transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = true}>
      : (tensor<4x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
    return %0 : tensor<3x4xf32>
  }
}

// -----

// expected-error @+1 {{1 of 1 ops cannot be imported; 0 can}}
module {
  func.func @no_square(%a: tensor<4x3xf32>) -> tensor<4x3xf32> {
    // expected-error @+1 {{is not supported: it is not of square matrices of floats}}
    %0 = stablehlo.cholesky %a, lower = true : tensor<4x3xf32>
    return %0 : tensor<4x3xf32>
  }
}
