// RUN: xc-opt %s -xc-import-tosa -split-input-file -verify-diagnostics

// A shape whose parts only the run would tell.
func.func @symbolic_start(%x: tensor<6xf32>, %first: tensor<1xi32>) -> tensor<6xf32> {
  %all = tosa.const_shape {values = dense<[2, 6, 3]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %count = "tosa.const"() <{values = dense<1> : tensor<1xi32>}> : () -> tensor<1xi32>
  // expected-error @+1 {{'tosa.slice_shape' has a start or size that is not a constant}}
  %shape = tosa.slice_shape %all, %first, %count : (!tosa.shape<3>, tensor<1xi32>, tensor<1xi32>) -> !tosa.shape<1>
  %y = tosa.reshape %x, %shape : (tensor<6xf32>, !tosa.shape<1>) -> tensor<6xf32>
  return %y : tensor<6xf32>
}

// -----

// The sum of start and size is no i32, in which the verifier of the op counts.
func.func @too_many(%x: tensor<6xf32>) -> tensor<6xf32> {
  %all = tosa.const_shape {values = dense<[2, 6, 3]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %first = "tosa.const"() <{values = dense<2147483647> : tensor<1xi32>}> : () -> tensor<1xi32>
  %count = "tosa.const"() <{values = dense<1> : tensor<1xi32>}> : () -> tensor<1xi32>
  // expected-error @+1 {{'tosa.slice_shape' takes 1 numbers from number 2147483647 on of a shape that has 3}}
  %shape = tosa.slice_shape %all, %first, %count : (!tosa.shape<3>, tensor<1xi32>, tensor<1xi32>) -> !tosa.shape<1>
  %y = tosa.reshape %x, %shape : (tensor<6xf32>, !tosa.shape<1>) -> tensor<6xf32>
  return %y : tensor<6xf32>
}
