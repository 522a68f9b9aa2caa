// RUN: xc-opt %s -verify-roundtrip | FileCheck %s

// CHECK-LABEL: func.func @sources(
func.func @sources(%n: index) {
  // CHECK: %[[CST:cst.*]] = array.constant dense<0.000000e+00> : tensor<4x8xf32>
  %0 = array.constant dense<0.0> : tensor<4x8xf32>
  // CHECK: array.constant dense<[2, 0, 1]> : tensor<3xui8>
  %1 = array.constant dense<[2, 0, 1]> : tensor<3xui8>
  // CHECK: %param = array.parameter "weights"::"encoder.0" : tensor<768xf32>
  %2 = array.parameter "weights"::"encoder.0" : tensor<768xf32>
  // CHECK: array.parameter {note = 1 : i64} "mask.npy" : tensor<4x4xi1>
  %3 = array.parameter {note = 1} "mask.npy" : tensor<4x4xi1>
  // CHECK: array.iota axis = 1 : tensor<4x8xi32>
  %4 = array.iota axis = 1 : tensor<4x8xi32>
  // CHECK: array.iota axis = 0 sizes(%{{.*}}) : tensor<?xbf16>
  %5 = array.iota axis = 0 sizes(%n) : tensor<?xbf16>
  return
}

// CHECK-LABEL: func.func @sizes(
func.func @sizes(%x: tensor<?x6xf32>, %row: tensor<6xf32>) {
  // CHECK: %[[N:.*]] = array.dim %{{.*}}, 0 : tensor<?x6xf32>
  %n = array.dim %x, 0 : tensor<?x6xf32>
  // CHECK: array.from_index %[[N]] : tensor<f32>
  %0 = array.from_index %n : tensor<f32>
  // CHECK: array.broadcast_in_dim %{{.*}} axes = [1] : tensor<6xf32> -> tensor<4x6xf32>
  %1 = array.broadcast_in_dim %row axes = [1] : tensor<6xf32> -> tensor<4x6xf32>
  // CHECK: array.broadcast_in_dim %{{.*}} axes = [1] sizes(%[[N]]) : tensor<6xf32> -> tensor<?x6xf32>
  %2 = array.broadcast_in_dim %row axes = [1] sizes(%n) : tensor<6xf32> -> tensor<?x6xf32>
  // CHECK: array.reshape %{{.*}} : tensor<?x6xf32> -> tensor<?x2x3xf32>
  %3 = array.reshape %x : tensor<?x6xf32> -> tensor<?x2x3xf32>
  // CHECK: array.reshape %{{.*}} sizes(%[[N]], %[[N]]) : tensor<?x6xf32> -> tensor<?x?x6xf32>
  %4 = array.reshape %x sizes(%n, %n) : tensor<?x6xf32> -> tensor<?x?x6xf32>
  // CHECK: array.expand_dims %{{.*}} axes = [0, 2] : tensor<6xf32> -> tensor<1x6x1xf32>
  %5 = array.expand_dims %row axes = [0, 2] : tensor<6xf32> -> tensor<1x6x1xf32>
  // CHECK: array.squeeze %{{.*}} axes = [0] : tensor<?x6xf32> -> tensor<6xf32>
  %6 = array.squeeze %x axes = [0] : tensor<?x6xf32> -> tensor<6xf32>
  return
}

// CHECK-LABEL: func.func @moves(
func.func @moves(%x: tensor<4x?xf32>, %value: tensor<f32>) {
  // CHECK: array.transpose %{{.*}} permutation = [1, 0] : tensor<4x?xf32> -> tensor<?x4xf32>
  %0 = array.transpose %x permutation = [1, 0] : tensor<4x?xf32> -> tensor<?x4xf32>
  // CHECK: array.reverse %{{.*}} axes = [0, 1] : tensor<4x?xf32> -> tensor<4x?xf32>
  %1 = array.reverse %x axes = [0, 1] : tensor<4x?xf32> -> tensor<4x?xf32>
  // CHECK: array.slice %{{.*}} [1:4:2, :] : tensor<4x?xf32> -> tensor<2x?xf32>
  %2 = array.slice %x [1:4:2, 0::1] : tensor<4x?xf32> -> tensor<2x?xf32>
  // CHECK: array.slice %{{.*}} [:4, 3:9] : tensor<4x?xf32> -> tensor<4x6xf32>
  %3 = array.slice %x [0:4, 3:9] : tensor<4x?xf32> -> tensor<4x6xf32>
  // CHECK: array.concatenate %{{.*}}, %{{.*}} axis = 1 : (tensor<4x6xf32>, tensor<4x?xf32>) -> tensor<4x?xf32>
  %4 = array.concatenate %3, %x axis = 1 : (tensor<4x6xf32>, tensor<4x?xf32>) -> tensor<4x?xf32>
  // CHECK: array.split %{{.*}} axis = 1 parts = [4, 2] : tensor<4x6xf32> -> tensor<4x4xf32>, tensor<4x2xf32>
  %5:2 = array.split %3 axis = 1 parts = [4, 2] : tensor<4x6xf32> -> tensor<4x4xf32>, tensor<4x2xf32>
  // CHECK: array.pad %{{.*}}, %{{.*}} low = [1, 0] high = [0, 2] : (tensor<4x6xf32>, tensor<f32>) -> tensor<5x8xf32>
  %6 = array.pad %3, %value low = [1, 0] high = [0, 2] : (tensor<4x6xf32>, tensor<f32>) -> tensor<5x8xf32>
  // CHECK: array.pad %{{.*}}, %{{.*}} low = [0, 0] high = [0, 0] interior = [0, 1]
  %7 = array.pad %3, %value low = [0, 0] high = [0, 0] interior = [0, 1] : (tensor<4x6xf32>, tensor<f32>) -> tensor<4x11xf32>
  return
}

// CHECK-LABEL: func.func @dynamic_positions(
func.func @dynamic_positions(%x: tensor<4x8xf32>, %u: tensor<1x8xf32>, %s: tensor<f32>, %i: tensor<i32>, %n: index) {
  // CHECK: array.dynamic_slice %{{.*}}[%{{.*}}, %{{.*}}] : (tensor<4x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x8xf32>
  %0 = array.dynamic_slice %x[%i, %i] : (tensor<4x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x8xf32>
  // CHECK: array.dynamic_slice %{{.*}}[%{{.*}}, %{{.*}}] sizes(%{{.*}}) : (tensor<4x8xf32>, tensor<i32>, tensor<i32>) -> tensor<?x8xf32>
  %1 = array.dynamic_slice %x[%i, %i] sizes(%n) : (tensor<4x8xf32>, tensor<i32>, tensor<i32>) -> tensor<?x8xf32>
  // CHECK: array.dynamic_slice %{{.*}}[] : (tensor<f32>) -> tensor<f32>
  %2 = array.dynamic_slice %s[] : (tensor<f32>) -> tensor<f32>
  // CHECK: array.dynamic_update_slice %{{.*}}[%{{.*}}, %{{.*}}] = %{{.*}} : (tensor<4x8xf32>, tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<4x8xf32>
  %3 = array.dynamic_update_slice %x[%i, %i] = %u : (tensor<4x8xf32>, tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<4x8xf32>
  return
}
