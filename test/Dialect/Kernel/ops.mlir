// RUN: xc-opt %s -verify-roundtrip | FileCheck %s

// CHECK-LABEL: func.func @scatter_on_tensors(
// CHECK:         kernel.scatter add, %{{.*}}, %{{.*}} into %{{.*}} axes = [0, 2] unsigned_indices unsigned_elements unique
func.func @scatter_on_tensors(%indices: tensor<7x2xi8>, %updates: tensor<7x5xi32>, %dest: tensor<4x5x6xi32>)
    -> tensor<4x5x6xi32> {
  %0 = kernel.scatter add, %indices, %updates into %dest axes = [0, 2] unsigned_indices unsigned_elements unique
    : tensor<7x2xi8>, tensor<7x5xi32>, tensor<4x5x6xi32> -> tensor<4x5x6xi32>
  return %0 : tensor<4x5x6xi32>
}

// CHECK-LABEL: func.func @scatter_on_memrefs(
// CHECK:         kernel.scatter set, %{{.*}}, %{{.*}} into %{{.*}} axes = [0]
func.func @scatter_on_memrefs(%indices: memref<?x1xi64>, %updates: memref<?x5xf16>, %dest: memref<4x5xf16>) {
  kernel.scatter set, %indices, %updates into %dest axes = [0]
    : memref<?x1xi64>, memref<?x5xf16>, memref<4x5xf16>
  return
}
