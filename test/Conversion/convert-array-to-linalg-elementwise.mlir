// RUN: xc-opt %s -xc-convert-array-to-linalg -cse | FileCheck %s --implicit-check-not=unrealized_conversion_cast

// CHECK-DAG: #[[ID:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[LAST:.*]] = affine_map<(d0, d1) -> (d1)>
// CHECK-DAG: #[[NONE:.*]] = affine_map<(d0, d1) -> ()>

// CHECK-LABEL: func.func @broadcasts_are_maps(
// CHECK-SAME:    %[[A:.*]]: tensor<4x?xf32>, %[[B:.*]]: tensor<?xf32>
// CHECK:         %[[N:.*]] = tensor.dim %[[A]], %{{.*}}
// CHECK:         %[[INIT:.*]] = tensor.empty(%[[N]]) : tensor<4x?xf32>
// CHECK:         linalg.generic {indexing_maps = [#[[ID]], #[[LAST]], #[[ID]]], iterator_types = ["parallel", "parallel"]}
// CHECK-SAME:      ins(%[[A]], %[[B]] : tensor<4x?xf32>, tensor<?xf32>) outs(%[[INIT]] : tensor<4x?xf32>)
// CHECK:           arith.addf
func.func @broadcasts_are_maps(%a: tensor<4x?xf32>, %b: tensor<?xf32>) -> tensor<4x?xf32> {
  %0 = array.add %a, %b : (tensor<4x?xf32>, tensor<?xf32>) -> tensor<4x?xf32>
  return %0 : tensor<4x?xf32>
}

// CHECK-LABEL: func.func @repeated_dims_are_collapsed(
// CHECK-SAME:    %[[A:.*]]: tensor<4x8xf32>, %[[B:.*]]: tensor<1x8xf32>, %[[C:.*]]: tensor<1x1xf32>
// CHECK:         %[[ROW:.*]] = tensor.collapse_shape %[[B]] {{\[}}[0, 1]] : tensor<1x8xf32> into tensor<8xf32>
// CHECK:         linalg.generic {indexing_maps = [#[[ID]], #[[LAST]], #[[ID]]]{{.*}} ins(%[[A]], %[[ROW]]
// CHECK:         %[[ONE:.*]] = tensor.collapse_shape %[[C]] [] : tensor<1x1xf32> into tensor<f32>
// CHECK:         linalg.generic {indexing_maps = [#[[ID]], #[[NONE]], #[[ID]]]{{.*}} ins(%{{.*}}, %[[ONE]]
func.func @repeated_dims_are_collapsed(%a: tensor<4x8xf32>, %b: tensor<1x8xf32>, %c: tensor<1x1xf32>) -> tensor<4x8xf32> {
  %0 = array.mul %a, %b : (tensor<4x8xf32>, tensor<1x8xf32>) -> tensor<4x8xf32>
  %1 = array.sub %0, %c : (tensor<4x8xf32>, tensor<1x1xf32>) -> tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @splats_move_into_the_body(
// CHECK-SAME:    %[[A:.*]]: tensor<8xf32>
// CHECK:         %[[HALF:.*]] = arith.constant 5.000000e-01 : f32
// CHECK:         linalg.generic {{.*}} ins(%[[A]] : tensor<8xf32>)
// CHECK:           arith.mulf %{{.*}}, %[[HALF]] : f32
func.func @splats_move_into_the_body(%a: tensor<8xf32>) -> tensor<8xf32> {
  %half = array.constant dense<0.5> : tensor<f32>
  %0 = array.mul %a, %half : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// CHECK-LABEL: func.func @truth_values_are_bytes(
// CHECK-SAME:    %[[P:[a-z0-9]*]]: tensor<8xi8> {array.dtype = "i1"}
// CHECK-SAME:    -> (tensor<8xi8> {array.dtype = "i1"})
// CHECK:         linalg.generic {{.*}} ins(%{{.*}}, %[[P]] : tensor<8xi8>, tensor<8xi8>) outs(%{{.*}} : tensor<8xi8>)
// CHECK:           %[[ANY:.*]] = arith.ori %{{.*}}, %{{.*}} : i1
// CHECK:           %[[BYTE:.*]] = arith.extui %[[ANY]] : i1 to i8
// CHECK:           linalg.yield %[[BYTE]] : i8
func.func @truth_values_are_bytes(%a: tensor<8xf32>, %b: tensor<8xf32>, %p: tensor<8xi1>) -> tensor<8xi1> {
  %0 = array.compare ne, %a, %b : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xi1>
  %1 = array.or %0, %p : tensor<8xi1>
  return %1 : tensor<8xi1>
}

// CHECK-LABEL: func.func @unsigned_is_in_the_op(
// CHECK-SAME:    %{{.*}}: tensor<8xi32> {array.dtype = "u32"}
// CHECK:           arith.maxui
// CHECK:           arith.cmpi ult
// CHECK:           arith.uitofp
func.func @unsigned_is_in_the_op(%a: tensor<8xui32>, %b: tensor<8xui32>) -> (tensor<8xi1>, tensor<8xf32>) {
  %0 = array.max %a, %b : tensor<8xui32>
  %1 = array.compare lt, %0, %b : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xi1>
  %2 = array.convert %0 : tensor<8xui32> -> tensor<8xf32>
  return %1, %2 : tensor<8xi1>, tensor<8xf32>
}

// CHECK-LABEL: func.func @sixteen_bits_are_computed_in_f32(
// CHECK:           %[[X:.*]] = arith.extf %{{.*}} : bf16 to f32
// CHECK:           %[[Y:.*]] = math.exp %[[X]] : f32
// CHECK:           %[[R:.*]] = arith.truncf %[[Y]] : f32 to bf16
// CHECK:           linalg.yield %[[R]] : bf16
func.func @sixteen_bits_are_computed_in_f32(%a: tensor<8xbf16>) -> tensor<8xbf16> {
  %0 = array.exp %a : tensor<8xbf16>
  return %0 : tensor<8xbf16>
}

// CHECK-LABEL: func.func @choices_move_values_as_they_are(
// CHECK-NOT:       arith.extf
// CHECK:           arith.select %{{.*}}, %{{.*}}, %{{.*}} : bf16
func.func @choices_move_values_as_they_are(%p: tensor<8xi1>, %a: tensor<8xbf16>, %b: tensor<8xbf16>) -> tensor<8xbf16> {
  %0 = array.select %p, %a, %b : (tensor<8xi1>, tensor<8xbf16>, tensor<8xbf16>) -> tensor<8xbf16>
  return %0 : tensor<8xbf16>
}

// Neither a divisor of 0 nor the lowest number over -1 reaches the division.
// CHECK-LABEL: func.func @division_never_traps(
// CHECK:         ^bb0(%[[X:.*]]: i32, %[[Y:.*]]: i32, %{{.*}}: i32):
// CHECK:           %[[ZERO:.*]] = arith.cmpi eq, %[[Y]], %{{.*}} : i32
// CHECK:           %[[TRAPS:.*]] = arith.ori %[[ZERO]], %{{.*}} : i1
// CHECK:           %[[SAFE:.*]] = arith.select %[[TRAPS]], %{{.*}}, %[[Y]] : i32
// CHECK:           %[[Q:.*]] = arith.divsi %[[X]], %[[SAFE]] : i32
// CHECK:           arith.select %{{.*}}, %{{.*}}, %[[Q]] : i32
func.func @division_never_traps(%a: tensor<8xi32>, %b: tensor<8xi32>) -> tensor<8xi32> {
  %0 = array.div %a, %b : tensor<8xi32>
  return %0 : tensor<8xi32>
}

// Out of range and NaN never reach the conversion.
// CHECK-LABEL: func.func @conversion_to_integers_saturates(
// CHECK:         ^bb0(%[[X:.*]]: f32, %{{.*}}: i8):
// CHECK:           %[[INSIDE:.*]] = arith.andi
// CHECK:           %[[SAFE:.*]] = arith.select %[[INSIDE]], %[[X]], %{{.*}} : f32
// CHECK:           %[[I:.*]] = arith.fptosi %[[SAFE]] : f32 to i8
// CHECK:           %[[HIGH:.*]] = arith.select %{{.*}}, %{{.*}}, %[[I]] : i8
// CHECK:           %[[LOW:.*]] = arith.select %{{.*}}, %{{.*}}, %[[HIGH]] : i8
// CHECK:           linalg.yield %[[LOW]] : i8
func.func @conversion_to_integers_saturates(%a: tensor<8xf32>) -> tensor<8xi8> {
  %0 = array.convert %a : tensor<8xf32> -> tensor<8xi8>
  return %0 : tensor<8xi8>
}

// CHECK-LABEL: func.func @constants_in_storage(
// CHECK-DAG:     arith.constant dense<[1, 0, 1]> : tensor<3xi8>
// CHECK-DAG:     arith.constant dense<[1, -1]> : tensor<2xi8>
func.func @constants_in_storage() -> (tensor<3xi1>, tensor<2xui8>) {
  %0 = array.constant dense<[true, false, true]> : tensor<3xi1>
  %1 = array.constant dense<[1, 255]> : tensor<2xui8>
  return %0, %1 : tensor<3xi1>, tensor<2xui8>
}

// CHECK-LABEL: func.func @bitcasts_of_integers_are_nothing(
// CHECK-SAME:    %[[A:.*]]: tensor<8xi32>
// CHECK-NEXT:    return %[[A]]
func.func @bitcasts_of_integers_are_nothing(%a: tensor<8xi32>) -> tensor<8xui32> {
  %0 = array.bitcast %a : tensor<8xi32> -> tensor<8xui32>
  return %0 : tensor<8xui32>
}

// CHECK-LABEL: func.func @composites_are_decomposed(
// CHECK-NOT:     array.
// CHECK:         math.exp
func.func @composites_are_decomposed(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = array.silu %a : tensor<8xf32>
  return %0 : tensor<8xf32>
}
