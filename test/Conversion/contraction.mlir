// RUN: xc-opt %s -xc-convert-array-to-linalg | FileCheck %s

// CHECK-DAG: #[[A:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>
// CHECK-DAG: #[[BT:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d2, d3)>
// CHECK-DAG: #[[C:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
// CHECK-DAG: #[[W:.*]] = affine_map<(d0, d1, d2, d3) -> (d3, d2)>

// CHECK-LABEL: func.func @batch_and_transposed(
// CHECK-SAME:    %[[Q:.*]]: tensor<?x64x32xf32>, %[[K:.*]]: tensor<?x64x32xf32>
// CHECK:         %[[INIT:.*]] = linalg.fill ins(%{{.*}} : f32)
// CHECK:         %[[R:.*]] = linalg.contract indexing_maps = [#[[A]], #[[BT]], #[[C]]]
// CHECK-SAME:      ins(%[[Q]], %[[K]] : tensor<?x64x32xf32>, tensor<?x64x32xf32>) outs(%[[INIT]] : tensor<?x64x64xf32>)
// CHECK:         return %[[R]]
func.func @batch_and_transposed(%q: tensor<?x64x32xf32>, %k: tensor<?x64x32xf32>) -> tensor<?x64x64xf32> {
  %0 = array.matmul %q, %k transpose_b : (tensor<?x64x32xf32>, tensor<?x64x32xf32>) -> tensor<?x64x64xf32>
  return %0 : tensor<?x64x64xf32>
}

// CHECK-LABEL: func.func @sixteen_bits_accumulate_in_f32(
// CHECK:         %[[SUM:.*]] = linalg.contract indexing_maps = [#[[A]], #[[W]], #[[C]]] {{.*}} -> tensor<2x4x16xf32>
// CHECK:         linalg.generic {{.*}} ins(%[[SUM]] : tensor<2x4x16xf32>)
// CHECK:           arith.truncf %{{.*}} : f32 to f16
func.func @sixteen_bits_accumulate_in_f32(%x: tensor<2x4x8xf16>, %w: tensor<8x16xf16>) -> tensor<2x4x16xf16> {
  %0 = array.matmul %x, %w : (tensor<2x4x8xf16>, tensor<8x16xf16>) -> tensor<2x4x16xf16>
  return %0 : tensor<2x4x16xf16>
}

// CHECK-LABEL: func.func @unsigned_and_tf32(
// CHECK:         linalg.contract {{.*}} {cast = #linalg.type_fn<cast_unsigned>} {{.*}} -> tensor<4x2xi32>
// CHECK:         linalg.contract {{.*}} {plan.allow_tf32} {{.*}} -> tensor<4x2xf32>
func.func @unsigned_and_tf32(%a: tensor<4x8xui8>, %b: tensor<8x2xui8>, %c: tensor<4x8xf32>, %d: tensor<8x2xf32>)
    -> (tensor<4x2xui32>, tensor<4x2xf32>) {
  %0 = array.matmul %a, %b : (tensor<4x8xui8>, tensor<8x2xui8>) -> tensor<4x2xui32>
  %1 = array.matmul %c, %d allow_tf32 : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
  return %0, %1 : tensor<4x2xui32>, tensor<4x2xf32>
}

// CHECK-LABEL: func.func @dot_general(
// CHECK:         linalg.contract {{.*}} ins(%{{.*}} : tensor<4x5x6xf32>, tensor<6x4x7xf32>) {{.*}} -> tensor<4x5x7xf32>
func.func @dot_general(%a: tensor<4x5x6xf32>, %b: tensor<6x4x7xf32>) -> tensor<4x5x7xf32> {
  %0 = array.dot_general %a, %b batch = [0] x [1] contract = [2] x [0]
     : (tensor<4x5x6xf32>, tensor<6x4x7xf32>) -> tensor<4x5x7xf32>
  return %0 : tensor<4x5x7xf32>
}

// -----

// Nothing is summed over, so this is no contraction.
// CHECK-LABEL: func.func @all_pairs(
// CHECK-NOT:     linalg.contract
// CHECK:         linalg.generic {{.*}} iterator_types = ["parallel", "parallel"]
// CHECK:           arith.extsi %{{.*}} : i8 to i32
// CHECK:           arith.muli %{{.*}}, %{{.*}} : i32
func.func @all_pairs(%a: tensor<3xi8>, %b: tensor<5xi8>) -> tensor<3x5xi32> {
  %0 = array.dot_general %a, %b batch = [] x [] contract = [] x [] : (tensor<3xi8>, tensor<5xi8>) -> tensor<3x5xi32>
  return %0 : tensor<3x5xi32>
}
