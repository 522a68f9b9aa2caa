// RUN: xc-opt %s -xc-import-stablehlo -split-input-file | FileCheck %s

// A running sum from the end, of integers: its last value is what is carried. A zero changes nothing.
// CHECK-LABEL: func @sum
// CHECK:         %[[ALL:.*]] = array.cumsum %{{.*}} axis = 1 reverse
// CHECK-NOT:     array.add
// CHECK:         array.dynamic_slice %[[ALL]]
func.func @sum(%x: tensor<2x4xi32>) -> (tensor<2x4xi32>, tensor<2xi32>) {
  %zero = stablehlo.constant dense<0> : tensor<2xi32>
  %0:2 = chlo.scan(%x) inits(%zero) dimension=1 attributes {is_reverse = true} {
  ^bb0(%a: tensor<2xi32>, %b: tensor<2xi32>):
    %s = stablehlo.add %a, %b : tensor<2xi32>
    stablehlo.return %s, %s : tensor<2xi32>, tensor<2xi32>
  } : (tensor<2x4xi32>, tensor<2xi32>) -> (tensor<2x4xi32>, tensor<2xi32>)
  return %0#0, %0#1 : tensor<2x4xi32>, tensor<2xi32>
}

// -----

// Sums of floats may be made in any order where the program says so. Data begins them.
// CHECK-LABEL: func @any_order
// CHECK:         %[[ALL:.*]] = array.cumsum
// CHECK:         array.add %{{.*}}, %[[ALL]]
// CHECK-LABEL: func @one_order
// CHECK-NOT:     array.cumsum
// CHECK:         array.while
// CHECK:           array.add
func.func @any_order(%x: tensor<4xf32>, %z: tensor<f32>) -> tensor<4xf32> {
  %0:2 = chlo.scan(%x) inits(%z) dimension=0 attributes {is_associative = true} {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s, %s : tensor<f32>, tensor<f32>
  } : (tensor<4xf32>, tensor<f32>) -> (tensor<4xf32>, tensor<f32>)
  return %0#0 : tensor<4xf32>
}
func.func @one_order(%x: tensor<4xf32>, %z: tensor<f32>) -> tensor<4xf32> {
  %0:2 = chlo.scan(%x) inits(%z) dimension=0 {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s, %s : tensor<f32>, tensor<f32>
  } : (tensor<4xf32>, tensor<f32>) -> (tensor<4xf32>, tensor<f32>)
  return %0#0 : tensor<4xf32>
}

// -----

// Nothing is sliced: a loop of so many steps.
// CHECK-LABEL: func @count
// CHECK:         array.while
// CHECK:         array.constant dense<3>
// CHECK:         array.sin
func.func @count(%z: tensor<f32>) -> tensor<f32> {
  %0 = chlo.scan() inits(%z) dimension=0 attributes {scan_dim_size = 3 : i64} {
  ^bb0(%b: tensor<f32>):
    %s = stablehlo.sine %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  } : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
