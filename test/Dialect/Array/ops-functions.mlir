// RUN: xc-opt %s -verify-roundtrip | FileCheck %s

// CHECK-LABEL: func.func @unary(
func.func @unary(%x: tensor<4x?xf32>) {
  // CHECK: array.asin %{{.*}} : tensor<4x?xf32>
  %0 = array.asin %x : tensor<4x?xf32>
  // CHECK: array.acos %{{.*}} : tensor<4x?xf32>
  %1 = array.acos %x : tensor<4x?xf32>
  // CHECK: array.atan %{{.*}} : tensor<4x?xf32>
  %2 = array.atan %x : tensor<4x?xf32>
  // CHECK: array.sinh %{{.*}} : tensor<4x?xf32>
  %3 = array.sinh %x : tensor<4x?xf32>
  // CHECK: array.cosh %{{.*}} : tensor<4x?xf32>
  %4 = array.cosh %x : tensor<4x?xf32>
  // CHECK: array.asinh %{{.*}} : tensor<4x?xf32>
  %5 = array.asinh %x : tensor<4x?xf32>
  // CHECK: array.acosh %{{.*}} : tensor<4x?xf32>
  %6 = array.acosh %x : tensor<4x?xf32>
  // CHECK: array.atanh %{{.*}} : tensor<4x?xf32>
  %7 = array.atanh %x : tensor<4x?xf32>
  // CHECK: array.cbrt %{{.*}} : tensor<4x?xf32>
  %8 = array.cbrt %x : tensor<4x?xf32>
  // CHECK: array.erfinv %{{.*}} : tensor<4x?xf32>
  %9 = array.erfinv %x : tensor<4x?xf32>
  return
}

// CHECK-LABEL: func.func @binary(
func.func @binary(%x: tensor<4x?xf32>, %s: tensor<f32>, %i: tensor<4xui8>) {
  // CHECK: array.atan2 %{{.*}}, %{{.*}} : (tensor<4x?xf32>, tensor<f32>) -> tensor<4x?xf32>
  %0 = array.atan2 %x, %s : (tensor<4x?xf32>, tensor<f32>) -> tensor<4x?xf32>
  // CHECK: array.logaddexp %{{.*}}, %{{.*}} : tensor<4x?xf32>
  %1 = array.logaddexp %x, %x : tensor<4x?xf32>
  // CHECK: array.nextafter %{{.*}}, %{{.*}} : tensor<4x?xf32>
  %2 = array.nextafter %x, %x : tensor<4x?xf32>
  // CHECK: array.floor_div %{{.*}}, %{{.*}} : tensor<4x?xf32>
  %3 = array.floor_div %x, %x : tensor<4x?xf32>
  // CHECK: array.mod %{{.*}}, %{{.*}} : tensor<4xui8>
  %4 = array.mod %i, %i : tensor<4xui8>
  // CHECK: array.shift_left %{{.*}}, %{{.*}} : tensor<4xui8>
  %5 = array.shift_left %i, %i : tensor<4xui8>
  // CHECK: array.shift_right_logical %{{.*}}, %{{.*}} : tensor<4xui8>
  %6 = array.shift_right_logical %i, %i : tensor<4xui8>
  // CHECK: array.shift_right_arithmetic %{{.*}}, %{{.*}} : tensor<4xui8>
  %7 = array.shift_right_arithmetic %i, %i : tensor<4xui8>
  return
}
