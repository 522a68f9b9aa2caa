// RUN: xc-opt %s -xc-lower-kernel-ops-to-loops -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func.func @rows_are_added_in_order(
// CHECK-SAME:    %[[INDICES:.*]]: memref<8x1xi32>, %[[UPDATES:.*]]: memref<8x64xf32>, %[[DEST:.*]]: memref<?x64xf32>
// CHECK:         scf.for %[[I:.*]] =
// CHECK:           %[[STORED:.*]] = memref.load %[[INDICES]][%[[I]], %{{.*}}]
// CHECK:           %[[ROW:.*]] = arith.index_cast %[[STORED]] : i32 to index
// CHECK:           %[[SIZE:.*]] = memref.dim %[[DEST]], %{{.*}}
// CHECK:           %[[FITS:.*]] = arith.cmpi ult, %[[ROW]], %[[SIZE]] : index
// CHECK:           %[[INSIDE:.*]] = arith.andi %{{.*}}, %[[FITS]]
// CHECK:           scf.if %[[INSIDE]]
// CHECK:             scf.for %[[J:.*]] =
// CHECK:               %[[UPDATE:.*]] = memref.load %[[UPDATES]][%[[I]], %[[J]]]
// CHECK:               %[[OLD:.*]] = memref.load %[[DEST]][%[[ROW]], %[[J]]]
// CHECK:               %[[SUM:.*]] = arith.addf %[[OLD]], %[[UPDATE]] : f32
// CHECK:               memref.store %[[SUM]], %[[DEST]][%[[ROW]], %[[J]]]
func.func @rows_are_added_in_order(%indices: memref<8x1xi32>, %updates: memref<8x64xf32>, %dest: memref<?x64xf32>) {
  kernel.scatter add, %indices, %updates into %dest axes = [0]
    : memref<8x1xi32>, memref<8x64xf32> into memref<?x64xf32>
  return
}

// CHECK-LABEL: func.func @unsigned_maximum(
// CHECK:         arith.index_castui %{{.*}} : i8 to index
// CHECK:         arith.maxui
func.func @unsigned_maximum(%indices: memref<8x2xi8>, %updates: memref<8xi32>, %dest: memref<3x4xi32>) {
  kernel.scatter max, %indices, %updates into %dest axes = [0, 1] unsigned_indices unsigned_elements
    : memref<8x2xi8>, memref<8xi32> into memref<3x4xi32>
  return
}

// CHECK-LABEL: func.func @set_reads_nothing(
// CHECK:         memref.load
// CHECK:         %[[UPDATE:.*]] = memref.load
// CHECK-NOT:     memref.load
// CHECK:         memref.store %[[UPDATE]]
func.func @set_reads_nothing(%indices: memref<8x1xi64>, %updates: memref<8xf32>, %dest: memref<9xf32>) {
  kernel.scatter set, %indices, %updates into %dest axes = [0] unique
    : memref<8x1xi64>, memref<8xf32> into memref<9xf32>
  return
}

// -----

func.func @tensors(%indices: tensor<8x1xi32>, %updates: tensor<8xf32>, %dest: tensor<9xf32>) -> tensor<9xf32> {
  // expected-error @below {{expected memrefs, got tensors; bufferise before lowering to loops}}
  %0 = kernel.scatter set, %indices, %updates into %dest axes = [0]
    : tensor<8x1xi32>, tensor<8xf32> into tensor<9xf32> -> tensor<9xf32>
  return %0 : tensor<9xf32>
}
