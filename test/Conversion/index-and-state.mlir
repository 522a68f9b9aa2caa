// RUN: xc-opt %s -xc-convert-array-to-linalg | FileCheck %s

// CHECK-LABEL: func.func @rows_of_a_table(
// CHECK-SAME:    %[[T:.*]]: tensor<1000x64xf32>, %[[I:.*]]: tensor<2x?xi32>
// CHECK:         linalg.generic {{.*}} ins(%[[I]] : tensor<2x?xi32>) outs(%{{.*}} : tensor<2x?x64xf32>)
// CHECK:         ^bb0(%[[STORED:.*]]: i32, %{{.*}}: f32):
// CHECK:           %[[INDEX:.*]] = arith.index_cast %[[STORED]] : i32 to index
// CHECK:           %[[LOWERED:.*]] = arith.minsi %[[INDEX]], %{{.*}} : index
// CHECK:           %[[ROW:.*]] = arith.maxsi %[[LOWERED]], %{{.*}} : index
// CHECK:           %[[COLUMN:.*]] = linalg.index 2
// CHECK:           tensor.extract %[[T]][%[[ROW]], %[[COLUMN]]]
func.func @rows_of_a_table(%t: tensor<1000x64xf32>, %i: tensor<2x?xi32>) -> tensor<2x?x64xf32> {
  %0 = array.take %t[%i] axis = 0 : (tensor<1000x64xf32>, tensor<2x?xi32>) -> tensor<2x?x64xf32>
  return %0 : tensor<2x?x64xf32>
}

// CHECK-LABEL: func.func @unsigned_index_vectors(
// CHECK:           %[[INDEX:.*]] = arith.index_castui %{{.*}} : i8 to index
// CHECK:           %[[LOWERED:.*]] = arith.minsi %[[INDEX]], %{{.*}} : index
// CHECK:           arith.maxsi %[[LOWERED]], %{{.*}} : index
// CHECK:           tensor.extract %{{.*}} : tensor<4x5x6xf32>
func.func @unsigned_index_vectors(%x: tensor<4x5x6xf32>, %i: tensor<7x2xui8>) -> tensor<7x5xf32> {
  %0 = array.gather %x[%i] axes = [0, 2] : (tensor<4x5x6xf32>, tensor<7x2xui8>) -> tensor<7x5xf32>
  return %0 : tensor<7x5xf32>
}

// Read as signed, these could be negative; and what 32 bits cannot hold is compared on 64.
// CHECK-LABEL: func.func @wide_unsigned_indices(
// CHECK:           %[[HIGHEST:.*]] = arith.minui
// CHECK:           %[[LOWERED:.*]] = arith.minsi %[[HIGHEST]], %{{.*}} : i64
// CHECK:           %[[RAISED:.*]] = arith.maxsi %[[LOWERED]], %{{.*}} : i64
// CHECK:           arith.index_cast %[[RAISED]] : i64 to index
func.func @wide_unsigned_indices(%x: tensor<9xf32>, %i: tensor<7xui64>) -> tensor<7xf32> {
  %0 = array.take %x[%i] axis = 0 : (tensor<9xf32>, tensor<7xui64>) -> tensor<7xf32>
  return %0 : tensor<7xf32>
}

// CHECK-LABEL: func.func @wide_starts(
// CHECK:           %[[START:.*]] = arith.extui %{{.*}} : i32 to i64
// CHECK:           %[[LOWERED:.*]] = arith.minsi %[[START]], %{{.*}} : i64
// CHECK:           %[[RAISED:.*]] = arith.maxsi %[[LOWERED]], %{{.*}} : i64
// CHECK:           arith.index_cast %[[RAISED]] : i64 to index
func.func @wide_starts(%x: tensor<9xf32>, %i: tensor<ui32>) -> tensor<4xf32> {
  %0 = array.dynamic_slice %x[%i] : (tensor<9xf32>, tensor<ui32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK: array.variable @mask : tensor<4xi8> = dense<1> attributes {array.dtype = "i1"}
array.variable @mask : tensor<4xi1> = dense<true>
// CHECK: array.variable @scale : tensor<4xf32> = #array.parameter<"weights"::"scale">{{$}}
array.variable @scale : tensor<4xf32> = #array.parameter<"weights"::"scale">

// CHECK-LABEL: func.func @variables_in_storage(
// CHECK:         %[[OLD:.*]] = array.variable.read @mask : tensor<4xi8>
// CHECK:         array.parameter {array.dtype = "i1"} "mask.npy" : tensor<4xi8>
// CHECK:         array.variable.assign @mask, %{{.*}} : tensor<4xi8>
func.func @variables_in_storage() -> tensor<4xi1> {
  %0 = array.variable.read @mask : tensor<4xi1>
  %1 = array.parameter "mask.npy" : tensor<4xi1>
  %2 = array.xor %0, %1 : tensor<4xi1>
  array.variable.assign @mask, %2 : tensor<4xi1>
  return %0 : tensor<4xi1>
}
