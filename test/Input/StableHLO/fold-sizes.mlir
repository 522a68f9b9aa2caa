// RUN: xc-opt %s -split-input-file -xc-import-stablehlo -verify-diagnostics | FileCheck %s

// Sizes that are constants are those of the static op.
// CHECK-LABEL: func.func @constants(
// CHECK-SAME:    %[[X:.*]]: tensor<4xf32>, %[[V:.*]]: tensor<f32>
// CHECK-DAG:     array.pad %[[X]], %[[V]]
// CHECK-DAG:     array.slice %[[X]] [1:3]
func.func @constants(%x: tensor<4xf32>, %v: tensor<f32>) -> (tensor<6xf32>, tensor<2xf32>) {
  %0 = stablehlo.constant dense<0> : tensor<1xi32>
  %1 = stablehlo.constant dense<1> : tensor<1xi32>
  %3 = stablehlo.constant dense<3> : tensor<1xi32>
  %pad = stablehlo.dynamic_pad %x, %v, %1, %1, %0 : (tensor<4xf32>, tensor<f32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<6xf32>
  %slice = stablehlo.real_dynamic_slice %x, %1, %3, %1 : (tensor<4xf32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<2xf32>
  return %pad, %slice : tensor<6xf32>, tensor<2xf32>
}

// -----

// expected-error @+1 {{1 of 2 ops cannot be imported; 1 can}}
module {
  func.func @data(%x: tensor<4xf32>, %n: tensor<1xi32>) -> tensor<2xf32> {
    %1 = stablehlo.constant dense<1> : tensor<1xi32>
    // expected-error @+1 {{'stablehlo.real_dynamic_slice' is not supported: there are no array ops that compute it}}
    %0 = stablehlo.real_dynamic_slice %x, %n, %n, %1 : (tensor<4xf32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<2xf32>
    return %0 : tensor<2xf32>
  }
}

// -----

func.func @wrong(%x: tensor<4xf32>) -> tensor<2xf32> {
  %1 = stablehlo.constant dense<1> : tensor<2xi32>
  // expected-error @+1 {{expected 1 numbers in start_indices, got 2}}
  %0 = stablehlo.real_dynamic_slice %x, %1, %1, %1 : (tensor<4xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
