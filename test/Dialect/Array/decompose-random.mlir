// RUN: xc-opt %s -xc-array-decompose | FileCheck %s

// CHECK-LABEL: func.func @uniform(
// CHECK-SAME:    %[[KEY:.*]]: tensor<2xui32>
func.func @uniform(%key: tensor<2xui32>) -> (tensor<8xf32>, tensor<8xf64>, tensor<8xbf16>) {
  // CHECK: %[[BITS:.*]] = array.random_bits %[[KEY]] : tensor<2xui32> -> tensor<8xui32>
  // CHECK: %[[EIGHT:.*]] = array.constant dense<8> : tensor<ui32>
  // CHECK: %[[KEPT:.*]] = array.shift_right_logical %[[BITS]], %[[EIGHT]]
  // CHECK: %[[NUMBER:.*]] = array.convert %[[KEPT]] : tensor<8xui32> -> tensor<8xf32>
  // CHECK: %[[UNIT:.*]] = array.constant dense<5.96046448E-8> : tensor<f32>
  // CHECK: array.mul %[[NUMBER]], %[[UNIT]]
  %0 = array.random_uniform %key : tensor<2xui32> -> tensor<8xf32>
  // CHECK: array.random_bits %[[KEY]] algorithm = philox : tensor<2xui32> -> tensor<8xui64>
  // CHECK: array.constant dense<11> : tensor<ui64>
  %1 = array.random_uniform %key algorithm = philox : tensor<2xui32> -> tensor<8xf64>
  // CHECK: array.constant dense<24> : tensor<ui32>
  // The bfloat16 below 2.
  // CHECK: %[[LAST:.*]] = array.constant dense<1.9921875> : tensor<f32>
  // CHECK: %[[INSIDE:.*]] = array.min %{{.*}}, %[[LAST]]
  // CHECK: array.convert %[[INSIDE]] : tensor<8xf32> -> tensor<8xbf16>
  %2 = array.random_uniform %key low = -1.0 high = 2.0 : tensor<2xui32> -> tensor<8xbf16>
  return %0, %1, %2 : tensor<8xf32>, tensor<8xf64>, tensor<8xbf16>
}

// CHECK-LABEL: func.func @distributions(
// CHECK-SAME:    %[[KEY:.*]]: tensor<2xui32>, %[[P:.*]]: tensor<f32>, %[[LOGITS:.*]]: tensor<4x?xf16>
func.func @distributions(%key: tensor<2xui32>, %p: tensor<f32>, %logits: tensor<4x?xf16>)
    -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xi1>, tensor<4xi32>) {
  // CHECK: %[[INVERSE:.*]] = array.erfinv %{{.*}} : tensor<8xf32>
  // CHECK: %[[ROOT:.*]] = array.constant dense<1.41421354> : tensor<f32>
  // CHECK: array.mul %[[INVERSE]], %[[ROOT]]
  %0 = array.random_normal %key : tensor<2xui32> -> tensor<8xf32>
  // CHECK: %[[LOG:.*]] = array.log
  // CHECK: %[[NEG:.*]] = array.neg %[[LOG]]
  // CHECK: %[[OUTER:.*]] = array.log %[[NEG]]
  // CHECK: array.neg %[[OUTER]]
  %1 = array.random_gumbel %key : tensor<2xui32> -> tensor<8xf32>
  // CHECK: array.erfinv
  // CHECK: array.constant dense<-2.000000e+00>
  // CHECK: array.constant dense<3.000000e+00>
  %2 = array.random_truncated_normal %key lower = -2.0 upper = 3.0 : tensor<2xui32> -> tensor<8xf32>
  // CHECK: %[[U:.*]] = array.mul
  // CHECK: array.compare lt, %[[U]], %[[P]]
  %3 = array.random_bernoulli %key, %p : (tensor<2xui32>, tensor<f32>) -> tensor<8xi1>
  // CHECK: %[[WIDE:.*]] = array.convert %[[LOGITS]] : tensor<4x?xf16> -> tensor<4x?xf32>
  // CHECK: array.random_bits %[[KEY]] sizes(%{{.*}}) : tensor<2xui32> -> tensor<4x?xui32>
  // CHECK: %[[NOISY:.*]] = array.add %[[WIDE]], %{{.*}}
  // CHECK: array.argmax %[[NOISY]] axis = 1 : tensor<4x?xf32> -> tensor<4xi32>
  %4 = array.random_categorical %key, %logits axis = 1 : (tensor<2xui32>, tensor<4x?xf16>) -> tensor<4xi32>
  return %0, %1, %2, %3, %4 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xi1>, tensor<4xi32>
}

// CHECK-LABEL: func.func @split(
func.func @split(%key: tensor<2xui32>) -> tensor<3x2xui32> {
  // CHECK: %[[BITS:.*]] = array.random_bits %{{.*}} : tensor<2xui32> -> tensor<3xui64>
  // CHECK: array.shift_right_logical %[[BITS]]
  // CHECK: array.convert %[[BITS]] : tensor<3xui64> -> tensor<3xui32>
  // CHECK: array.concatenate %{{.*}}, %{{.*}} axis = 1 : (tensor<3x1xui32>, tensor<3x1xui32>) -> tensor<3x2xui32>
  %0 = array.random_split %key num = 3 : tensor<2xui32> -> tensor<3x2xui32>
  return %0 : tensor<3x2xui32>
}
