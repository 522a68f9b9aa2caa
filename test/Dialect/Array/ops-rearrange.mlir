// RUN: xc-opt %s -verify-roundtrip | FileCheck %s

// CHECK-LABEL: func.func @rearrange(
func.func @rearrange(%x: tensor<?x4x8xf32>, %v: tensor<?x4xi8>, %open: tensor<?x?xi8>) {
  // CHECK: array.roll %{{.*}} shifts = [1, -2] axes = [0, 2] : tensor<?x4x8xf32> -> tensor<?x4x8xf32>
  %0 = array.roll %x shifts = [1, -2] axes = [0, 2] : tensor<?x4x8xf32> -> tensor<?x4x8xf32>
  // CHECK: array.tile %{{.*}} repeats = [2, 1, 3] : tensor<?x4x8xf32> -> tensor<?x4x24xf32>
  %1 = array.tile %x repeats = [2, 1, 3] : tensor<?x4x8xf32> -> tensor<?x4x24xf32>
  // CHECK: array.repeat %{{.*}} repeats = 3 axis = 1 : tensor<?x4x8xf32> -> tensor<?x12x8xf32>
  %2 = array.repeat %x repeats = 3 axis = 1 : tensor<?x4x8xf32> -> tensor<?x12x8xf32>
  // CHECK: array.diagonal %{{.*}} offset = 6 : tensor<?x4x8xf32> -> tensor<?x2xf32>
  %3 = array.diagonal %x offset = 6 : tensor<?x4x8xf32> -> tensor<?x2xf32>
  // CHECK: array.diag %{{.*}} offset = -1 : tensor<?x4xi8> -> tensor<?x5x5xi8>
  %4 = array.diag %v offset = -1 : tensor<?x4xi8> -> tensor<?x5x5xi8>
  // CHECK: array.diagonal %{{.*}} : tensor<?x?xi8> -> tensor<?xi8>
  %7 = array.diagonal %open : tensor<?x?xi8> -> tensor<?xi8>
  // CHECK: array.diag %{{.*}} offset = 2 : tensor<?x?xi8> -> tensor<?x?x?xi8>
  %8 = array.diag %open offset = 2 : tensor<?x?xi8> -> tensor<?x?x?xi8>
  // CHECK: array.tril %{{.*}} : tensor<?x4x8xf32> -> tensor<?x4x8xf32>
  %5 = array.tril %x : tensor<?x4x8xf32> -> tensor<?x4x8xf32>
  // CHECK: array.triu %{{.*}} offset = 2 : tensor<?x4x8xf32> -> tensor<?x4x8xf32>
  %6 = array.triu %x offset = 2 : tensor<?x4x8xf32> -> tensor<?x4x8xf32>
  return
}
