// RUN: xc-opt %s -xc-array-test-vjp -split-input-file -verify-diagnostics

func.func @integers(%x: tensor<8xi32>) -> tensor<7xi32> {
  // expected-error @+1 {{'array.reduce_window' op has no gradient}}
  %y = array.reduce_window sum, %x window = [2] {vjp} : tensor<8xi32> -> tensor<7xi32>
  return %y : tensor<7xi32>
}
