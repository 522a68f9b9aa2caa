// RUN: xc-opt %s -verify-roundtrip | FileCheck %s

// CHECK-LABEL: func.func @extents(
func.func @extents(%x: tensor<64x8xf32>, %n: tensor<ui8>, %zero: tensor<f32>, %keep: tensor<64xi1>, %e: tensor<i64>) {
  // CHECK: array.set_extent %{{.*}}, %{{.*}} axis = 0 : (tensor<64x8xf32>, tensor<ui8>) -> tensor<?x8xf32>
  %0 = array.set_extent %x, %n axis = 0 : (tensor<64x8xf32>, tensor<ui8>) -> tensor<?x8xf32>
  // CHECK: array.extent %{{.*}}, 0 : tensor<?x8xf32> -> tensor<f32>
  %1 = array.extent %0, 0 : tensor<?x8xf32> -> tensor<f32>
  // CHECK: array.pad_to_bound %{{.*}}, %{{.*}} : (tensor<?x8xf32>, tensor<f32>) -> tensor<64x8xf32>
  %2 = array.pad_to_bound %0, %zero : (tensor<?x8xf32>, tensor<f32>) -> tensor<64x8xf32>
  // CHECK: array.append %{{.*}}, %{{.*}} axis = 0 : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  %3 = array.append %0, %0 axis = 0 : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  // CHECK: array.compress %{{.*}}, %{{.*}} axis = 0 : (tensor<64x8xf32>, tensor<64xi1>) -> tensor<?x8xf32>
  %4 = array.compress %x, %keep axis = 0 : (tensor<64x8xf32>, tensor<64xi1>) -> tensor<?x8xf32>
  // CHECK: array.within %{{.*}}, %{{.*}} axis = 1 : tensor<64x8xf32>, tensor<i64>
  %5 = array.within %x, %e axis = 1 : tensor<64x8xf32>, tensor<i64>
  return
}
