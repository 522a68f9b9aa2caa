// RUN: xc-opt %s -verify-roundtrip | FileCheck %s

// CHECK-LABEL: func.func @random(
func.func @random(%key: tensor<2xui32>, %c: tensor<ui64>, %n: index, %p: tensor<f32>, %l: tensor<4x?xf32>) {
  // CHECK: array.random_bits %{{.*}} : tensor<2xui32> -> tensor<4x8xui32>
  %0 = array.random_bits %key : tensor<2xui32> -> tensor<4x8xui32>
  // CHECK: array.random_bits %{{.*}} counter(%{{.*}} : tensor<ui64>) sizes(%{{.*}}) algorithm = philox : tensor<2xui32> -> tensor<?xui64>
  %1 = array.random_bits %key counter(%c : tensor<ui64>) sizes(%n) algorithm = philox : tensor<2xui32> -> tensor<?xui64>
  // CHECK: array.random_split %{{.*}} num = 3 : tensor<2xui32> -> tensor<3x2xui32>
  %2 = array.random_split %key num = 3 : tensor<2xui32> -> tensor<3x2xui32>
  // CHECK: array.random_uniform %{{.*}} low = -1.000000e+00 high = 2.000000e+00 sizes(%{{.*}}) : tensor<2xui32> -> tensor<?xf32>
  %3 = array.random_uniform %key low = -1.0 high = 2.0 sizes(%n) : tensor<2xui32> -> tensor<?xf32>
  // CHECK: array.random_normal %{{.*}} algorithm = philox : tensor<2xui32> -> tensor<4xbf16>
  %4 = array.random_normal %key algorithm = philox : tensor<2xui32> -> tensor<4xbf16>
  // CHECK: array.random_gumbel %{{.*}} sizes(%{{.*}}) : tensor<2xui32> -> tensor<?xf64>
  %5 = array.random_gumbel %key sizes(%n) : tensor<2xui32> -> tensor<?xf64>
  // CHECK: array.random_truncated_normal %{{.*}} lower = -2.000000e+00 upper = 2.000000e+00 : tensor<2xui32> -> tensor<f32>
  %6 = array.random_truncated_normal %key lower = -2.0 upper = 2.0 : tensor<2xui32> -> tensor<f32>
  // CHECK: array.random_bernoulli %{{.*}}, %{{.*}} : (tensor<2xui32>, tensor<f32>) -> tensor<4x8xi1>
  %7 = array.random_bernoulli %key, %p : (tensor<2xui32>, tensor<f32>) -> tensor<4x8xi1>
  // CHECK: array.random_categorical %{{.*}}, %{{.*}} axis = 1 : (tensor<2xui32>, tensor<4x?xf32>) -> tensor<4xi32>
  %8 = array.random_categorical %key, %l axis = 1 : (tensor<2xui32>, tensor<4x?xf32>) -> tensor<4xi32>
  return
}
