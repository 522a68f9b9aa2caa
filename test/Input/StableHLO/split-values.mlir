// RUN: xc-opt %s -split-input-file -xc-import-stablehlo | FileCheck %s --implicit-check-not=stablehlo

// A complex argument, or result, of a public function has its parts in a last dim.
// CHECK-LABEL: func.func @ports(
// CHECK-SAME:    %[[X:.*]]: tensor<4x2xf32>) -> (tensor<4x2xf32> {array.name = "y"})
// CHECK-DAG:     %[[RE:.*]] = array.slice %[[X]] [:4, :1]
// CHECK-DAG:     %[[IM:.*]] = array.slice %[[X]] [:4, 1:2]
// CHECK:         array.concatenate {{.*}} axis = 1 : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x2xf32>
func.func @ports(%x: tensor<4xcomplex<f32>>) -> (tensor<4xcomplex<f32>> {array.name = "y"}) {
  %0 = call @twice(%x) : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
  return %0 : tensor<4xcomplex<f32>>
}

// Other functions have two.
// CHECK-LABEL: func.func private @twice(
// CHECK-SAME:    %[[RE:.*]]: tensor<4xf32>, %[[IM:.*]]: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
// CHECK-DAG:     array.add %[[RE]], %[[RE]]
// CHECK-DAG:     array.add %[[IM]], %[[IM]]
func.func private @twice(%x: tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>> {
  %0 = stablehlo.add %x, %x : tensor<4xcomplex<f32>>
  return %0 : tensor<4xcomplex<f32>>
}

// -----

// What moves elements is done for each part; a loop carries both.
// CHECK-LABEL: func.func @loop(
// CHECK:         array.transpose {{.*}} tensor<2x3xf32>
// CHECK:         array.transpose {{.*}} tensor<2x3xf32>
// CHECK:         array.while {{.*}}tensor<3x2xf32>, tensor<3x2xf32>, tensor<i32>
func.func @loop(%re: tensor<2x3xf32>, %n: tensor<i32>) -> tensor<3x2xf32> {
  %x = stablehlo.complex %re, %re : tensor<2x3xcomplex<f32>>
  %t = stablehlo.transpose %x, dims = [1, 0] : (tensor<2x3xcomplex<f32>>) -> tensor<3x2xcomplex<f32>>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %r:2 = stablehlo.while(%a = %t, %i = %n) : tensor<3x2xcomplex<f32>>, tensor<i32>
  cond {
    %p = stablehlo.compare LT, %i, %one : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %b = stablehlo.negate %a : tensor<3x2xcomplex<f32>>
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %b, %j : tensor<3x2xcomplex<f32>>, tensor<i32>
  }
  %y = stablehlo.imag %r#0 : (tensor<3x2xcomplex<f32>>) -> tensor<3x2xf32>
  return %y : tensor<3x2xf32>
}

// -----

// Sums are taken of each part; other reductions of both together.
// CHECK-LABEL: func.func @sum(
// CHECK:         array.reduce sum
// CHECK:         array.reduce sum
func.func @sum(%x: tensor<4xcomplex<f32>>) -> tensor<complex<f32>> {
  %zero = stablehlo.constant dense<(0.0, 0.0)> : tensor<complex<f32>>
  %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0]
    : (tensor<4xcomplex<f32>>, tensor<complex<f32>>) -> tensor<complex<f32>>
  return %0 : tensor<complex<f32>>
}

// -----

// Tuples are their elements.
// CHECK-LABEL: func.func @tuples(
// CHECK-SAME:    %[[A:.*]]: tensor<4xf32>, %[[B:.*]]: tensor<2xi32>) -> (tensor<2xi32>, tensor<4xf32>)
// CHECK:         return %[[B]], %[[A]]
func.func @tuples(%t: tuple<tensor<4xf32>, tuple<tensor<2xi32>>>) -> (tensor<2xi32>, tuple<tensor<4xf32>>) {
  %a = stablehlo.get_tuple_element %t[0] : (tuple<tensor<4xf32>, tuple<tensor<2xi32>>>) -> tensor<4xf32>
  %b = stablehlo.get_tuple_element %t[1] : (tuple<tensor<4xf32>, tuple<tensor<2xi32>>>) -> tuple<tensor<2xi32>>
  %c = stablehlo.get_tuple_element %b[0] : (tuple<tensor<2xi32>>) -> tensor<2xi32>
  %d = stablehlo.tuple %a : tuple<tensor<4xf32>>
  return %c, %d : tensor<2xi32>, tuple<tensor<4xf32>>
}

// -----

// A transform of 100 points is 10 of 10 points, twice.
// CHECK-LABEL: func.func @fourier(
// CHECK:         array.dot_general {{.*}} (tensor<20x10xf32>, tensor<3x10x10xf32>) -> tensor<20x3x10xf32>
// CHECK:         array.dot_general {{.*}} (tensor<30x20xf32>, tensor<20x20xf32>) -> tensor<30x20xf32>
// CHECK:         array.slice {{.*}} [:3, :51]
func.func @fourier(%x: tensor<3x100xf32>) -> tensor<3x51xcomplex<f32>> {
  %0 = stablehlo.fft %x, type = RFFT, length = [100] : (tensor<3x100xf32>) -> tensor<3x51xcomplex<f32>>
  return %0 : tensor<3x51xcomplex<f32>>
}
