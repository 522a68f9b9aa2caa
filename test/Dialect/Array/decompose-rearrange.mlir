// RUN: xc-opt %s -xc-array-decompose | FileCheck %s

// CHECK-LABEL: func.func @roll(
// CHECK-SAME:    %[[X:.*]]: tensor<4x?xf32>
func.func @roll(%x: tensor<4x?xf32>) -> tensor<4x?xf32> {
  // CHECK: %[[BACK:.*]] = array.slice %[[X]] [3:4, :]
  // CHECK: %[[FRONT:.*]] = array.slice %[[X]] [:3, :]
  // CHECK: %[[ROLLED:.*]] = array.concatenate %[[BACK]], %[[FRONT]] axis = 0
  // CHECK: array.iota axis = 0
  // CHECK: %[[FROM:.*]] = array.mod
  // CHECK: array.take %[[ROLLED]][%[[FROM]]] axis = 1
  %0 = array.roll %x shifts = [5, 2] axes = [0, 1] : tensor<4x?xf32> -> tensor<4x?xf32>
  return %0 : tensor<4x?xf32>
}

// CHECK-LABEL: func.func @tile(
// CHECK-SAME:    %[[X:.*]]: tensor<4x5xf32>
func.func @tile(%x: tensor<4x5xf32>) -> (tensor<8x5xf32>, tensor<12x5xf32>) {
  // CHECK: %[[SPREAD:.*]] = array.broadcast_in_dim %[[X]] axes = [1, 2] : tensor<4x5xf32> -> tensor<2x4x5xf32>
  // CHECK: array.reshape %[[SPREAD]] : tensor<2x4x5xf32> -> tensor<8x5xf32>
  %0 = array.tile %x repeats = [2, 1] : tensor<4x5xf32> -> tensor<8x5xf32>
  // CHECK: %[[EACH:.*]] = array.broadcast_in_dim %[[X]] axes = [0, 2] : tensor<4x5xf32> -> tensor<4x3x5xf32>
  // CHECK: array.reshape %[[EACH]] : tensor<4x3x5xf32> -> tensor<12x5xf32>
  %1 = array.repeat %x repeats = 3 axis = 0 : tensor<4x5xf32> -> tensor<12x5xf32>
  return %0, %1 : tensor<8x5xf32>, tensor<12x5xf32>
}

// CHECK-LABEL: func.func @diagonals(
// CHECK-SAME:    %[[X:.*]]: tensor<2x4x5xf32>, %[[V:.*]]: tensor<3xf32>
func.func @diagonals(%x: tensor<2x4x5xf32>, %v: tensor<3xf32>) -> (tensor<2x3xf32>, tensor<4x4xf32>) {
  // CHECK: %[[FLAT:.*]] = array.reshape %[[X]] : tensor<2x4x5xf32> -> tensor<2x20xf32>
  // CHECK: array.slice %[[FLAT]] [:, 5:18:6]
  %0 = array.diagonal %x offset = -1 : tensor<2x4x5xf32> -> tensor<2x3xf32>
  // CHECK: %[[PADDED:.*]] = array.pad %[[V]], %{{.*}} low = [1] high = [4] interior = [4]
  // CHECK: array.reshape %[[PADDED]] : tensor<16xf32> -> tensor<4x4xf32>
  %1 = array.diag %v offset = 1 : tensor<3xf32> -> tensor<4x4xf32>
  return %0, %1 : tensor<2x3xf32>, tensor<4x4xf32>
}

// What a slice cannot say, since its limits are static, is taken or selected.
// CHECK-LABEL: func.func @diagonals_open(
// CHECK-SAME:    %[[X:.*]]: tensor<?x?xf32>, %[[V:.*]]: tensor<?xf32>
func.func @diagonals_open(%x: tensor<?x?xf32>, %v: tensor<?xf32>) -> (tensor<?xf32>, tensor<?x?xf32>) {
  // CHECK: %[[COUNT:.*]] = arith.maxsi
  // CHECK: %[[I:.*]] = array.iota axis = 0 sizes(%[[COUNT]]) : tensor<?xi64>
  // CHECK: %[[ROW:.*]] = array.add %[[I]],
  // CHECK: %[[OFFSET:.*]] = array.mul %[[ROW]],
  // CHECK: %[[PLACE:.*]] = array.add %[[OFFSET]], %[[I]]
  // CHECK: %[[FLAT:.*]] = array.reshape %[[X]]
  // CHECK: array.take %[[FLAT]][%[[PLACE]]] axis = 0
  %0 = array.diagonal %x offset = -1 : tensor<?x?xf32> -> tensor<?xf32>
  // CHECK: %[[PADDED:.*]] = array.pad %[[V]], %{{.*}} low = [0] high = [2]
  // CHECK: %[[ON:.*]] = array.compare eq
  // CHECK: %[[ROWS:.*]] = array.reshape %[[PADDED]] {{.*}}: tensor<?xf32> -> tensor<?x1xf32>
  // CHECK: array.select %[[ON]], %[[ROWS]]
  %1 = array.diag %v offset = 2 : tensor<?xf32> -> tensor<?x?xf32>
  return %0, %1 : tensor<?xf32>, tensor<?x?xf32>
}

// CHECK-LABEL: func.func @triangles(
func.func @triangles(%x: tensor<?x4xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>) {
  // CHECK: array.compare le
  // CHECK: array.select
  %0 = array.tril %x : tensor<?x4xf32> -> tensor<?x4xf32>
  // CHECK: array.compare ge
  %1 = array.triu %x offset = 1 : tensor<?x4xf32> -> tensor<?x4xf32>
  return %0, %1 : tensor<?x4xf32>, tensor<?x4xf32>
}
