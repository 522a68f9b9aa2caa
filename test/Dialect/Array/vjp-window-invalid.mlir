// RUN: xc-opt %s -xc-array-test-vjp -split-input-file -verify-diagnostics

// How the batch splits into groups is not known.
func.func @batch_groups(%x: tensor<?x7x7x4xf32>, %w: tensor<3x3x4x6xf32>) -> tensor<?x5x5x6xf32> {
  // expected-error @+1 {{'array.conv' op has no gradient}}
  %y = array.conv %x, %w dims = <[b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f]> batch_groups = 2 {vjp}
     : (tensor<?x7x7x4xf32>, tensor<3x3x4x6xf32>) -> tensor<?x5x5x6xf32>
  return %y : tensor<?x5x5x6xf32>
}

// -----

func.func @integers(%x: tensor<8xi32>) -> tensor<7xi32> {
  // expected-error @+1 {{'array.reduce_window' op has no gradient}}
  %y = array.reduce_window sum, %x window = [2] {vjp} : tensor<8xi32> -> tensor<7xi32>
  return %y : tensor<7xi32>
}

// -----

// Places that hold nothing but padding would have to be cut.
func.func @symbolic_pool(%x: tensor<?xf32>) -> tensor<?xf32> {
  // expected-error @+1 {{'array.avg_pool' op has no gradient}}
  %y = array.avg_pool %x window = [2] low = [3] {vjp} : tensor<?xf32> -> tensor<?xf32>
  return %y : tensor<?xf32>
}
