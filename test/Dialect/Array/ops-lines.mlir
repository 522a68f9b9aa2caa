// RUN: xc-opt %s -verify-roundtrip | FileCheck %s

// CHECK-LABEL: func.func @scans(
func.func @scans(%x: tensor<4x?xf32>, %i: tensor<8xui8>) {
  // CHECK: array.cumsum %{{.*}} axis = 1 exclusive reverse : tensor<4x?xf32> -> tensor<4x?xf32>
  %0 = array.cumsum %x axis = 1 exclusive reverse : tensor<4x?xf32> -> tensor<4x?xf32>
  // CHECK: array.cumprod %{{.*}} axis = 0 : tensor<8xui8> -> tensor<8xui8>
  %1 = array.cumprod %i axis = 0 : tensor<8xui8> -> tensor<8xui8>
  // CHECK: array.cummax %{{.*}} axis = 0 reverse : tensor<4x?xf32> -> tensor<4x?xf32>
  %2 = array.cummax %x axis = 0 reverse : tensor<4x?xf32> -> tensor<4x?xf32>
  // CHECK: array.cummin %{{.*}} axis = 0 exclusive : tensor<4x?xf32> -> tensor<4x?xf32>
  %3 = array.cummin %x axis = 0 exclusive : tensor<4x?xf32> -> tensor<4x?xf32>
  // CHECK: array.logcumsumexp %{{.*}} axis = 1 : tensor<4x?xf32> -> tensor<4x?xf32>
  %4 = array.logcumsumexp %x axis = 1 : tensor<4x?xf32> -> tensor<4x?xf32>
  return
}

// CHECK-LABEL: func.func @sorts(
func.func @sorts(%x: tensor<4x?xf32>, %e: tensor<9xf32>) {
  // CHECK: array.sort %{{.*}} axis = 1 descending : tensor<4x?xf32> -> tensor<4x?xf32>
  %0 = array.sort %x axis = 1 descending : tensor<4x?xf32> -> tensor<4x?xf32>
  // CHECK: array.argsort %{{.*}} axis = 0 : tensor<4x?xf32> -> tensor<4x?xi32>
  %1 = array.argsort %x axis = 0 : tensor<4x?xf32> -> tensor<4x?xi32>
  // CHECK: array.topk %{{.*}} k = 2 axis = 0 smallest : tensor<4x?xf32> -> tensor<2x?xf32>, tensor<2x?xi64>
  %2, %3 = array.topk %x k = 2 axis = 0 smallest : tensor<4x?xf32> -> tensor<2x?xf32>, tensor<2x?xi64>
  // CHECK: array.partition %{{.*}} kth = 3 axis = 0 : tensor<4x?xf32> -> tensor<4x?xf32>
  %4 = array.partition %x kth = 3 axis = 0 : tensor<4x?xf32> -> tensor<4x?xf32>
  // CHECK: array.searchsorted %{{.*}}, %{{.*}} right : (tensor<9xf32>, tensor<4x?xf32>) -> tensor<4x?xi32>
  %5 = array.searchsorted %e, %x right : (tensor<9xf32>, tensor<4x?xf32>) -> tensor<4x?xi32>
  return
}

// CHECK-LABEL: func.func @masks(
func.func @masks(%x: tensor<4x?xf32>, %m: tensor<4x?xi1>, %s: tensor<?xf32>) {
  // CHECK: array.masked_scatter %{{.*}}, %{{.*}}, %{{.*}} : (tensor<4x?xf32>, tensor<4x?xi1>, tensor<?xf32>) -> tensor<4x?xf32>
  %0 = array.masked_scatter %x, %m, %s : (tensor<4x?xf32>, tensor<4x?xi1>, tensor<?xf32>) -> tensor<4x?xf32>
  // CHECK: array.nonzero %{{.*}} size = 9 : tensor<4x?xf32> -> tensor<9x2xi32>, tensor<i32>
  %1, %2 = array.nonzero %x size = 9 : tensor<4x?xf32> -> tensor<9x2xi32>, tensor<i32>
  return
}
