// RUN: xc-opt %s -xc-normalize-input -canonicalize | FileCheck %s

// CHECK-DAG: #[[LHS:.*]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-DAG: #[[RHS:.*]] = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK-DAG: #[[OUT:.*]] = affine_map<(d0, d1, d2) -> (d0, d1)>

// CHECK-LABEL: func.func @matmul_is_a_contraction(
// CHECK-SAME:    %[[A:.*]]: tensor<4x8xf16>, %[[B:.*]]: tensor<8x2xf16>, %[[C:.*]]: tensor<4x2xf32>
// CHECK:         %[[R:.*]] = linalg.contract indexing_maps = [#[[LHS]], #[[RHS]], #[[OUT]]]
// CHECK-SAME:      ins(%[[A]], %[[B]] : tensor<4x8xf16>, tensor<8x2xf16>) outs(%[[C]] : tensor<4x2xf32>)
// CHECK:         return %[[R]]
func.func @matmul_is_a_contraction(%a: tensor<4x8xf16>, %b: tensor<8x2xf16>, %c: tensor<4x2xf32>) -> tensor<4x2xf32> {
  %0 = linalg.matmul ins(%a, %b : tensor<4x8xf16>, tensor<8x2xf16>) outs(%c : tensor<4x2xf32>) -> tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}

// CHECK-LABEL: func.func @sixteen_bits_accumulate_in_f32(
// CHECK:         %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK:         %[[INIT:.*]] = linalg.fill ins(%[[ZERO]] : f32)
// CHECK:         %[[SUM:.*]] = linalg.contract {{.*}} outs(%[[INIT]] : tensor<4x2xf32>)
// CHECK:         linalg.generic {{.*}} ins(%[[SUM]] : tensor<4x2xf32>)
// CHECK:           arith.truncf %{{.*}} : f32 to bf16
func.func @sixteen_bits_accumulate_in_f32(%a: tensor<4x8xbf16>, %b: tensor<8x2xbf16>) -> tensor<4x2xbf16> {
  %zero = arith.constant 0.0 : bf16
  %e = tensor.empty() : tensor<4x2xbf16>
  %c = linalg.fill ins(%zero : bf16) outs(%e : tensor<4x2xbf16>) -> tensor<4x2xbf16>
  %0 = linalg.matmul ins(%a, %b : tensor<4x8xbf16>, tensor<8x2xbf16>) outs(%c : tensor<4x2xbf16>) -> tensor<4x2xbf16>
  return %0 : tensor<4x2xbf16>
}

// CHECK-LABEL: func.func @unsigned_products(
// CHECK:         linalg.contract {{.*}} {cast = #linalg.type_fn<cast_unsigned>}
func.func @unsigned_products(%a: tensor<4x8xi8>, %b: tensor<8x2xi8>, %c: tensor<4x2xi32>) -> tensor<4x2xi32> {
  %0 = linalg.matmul {cast = #linalg.type_fn<cast_unsigned>} ins(%a, %b : tensor<4x8xi8>, tensor<8x2xi8>)
                     outs(%c : tensor<4x2xi32>) -> tensor<4x2xi32>
  return %0 : tensor<4x2xi32>
}

// CHECK-LABEL: func.func @elementwise_ops_become_generics(
// CHECK-SAME:    %[[X:.*]]: tensor<4xf32>
// CHECK:         %[[INIT:.*]] = tensor.empty() : tensor<4xf32>
// CHECK:         linalg.generic {{.*}} ins(%[[X]] : tensor<4xf32>) outs(%[[INIT]] : tensor<4xf32>)
// CHECK:           math.exp
func.func @elementwise_ops_become_generics(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = math.exp %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @named_ops_become_generics(
// CHECK:         linalg.generic
// CHECK:           math.exp
func.func @named_ops_become_generics(%x: tensor<4xf32>) -> tensor<4xf32> {
  %init = tensor.empty() : tensor<4xf32>
  %0 = linalg.exp ins(%x : tensor<4xf32>) outs(%init : tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @maximum_of_sums_is_no_contraction(
// CHECK-NOT:     linalg.contract
// CHECK:         linalg.generic
func.func @maximum_of_sums_is_no_contraction(%a: tensor<4x8xf32>, %b: tensor<8x2xf32>, %c: tensor<4x2xf32>)
    -> tensor<4x2xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>,
                                        affine_map<(d0, d1, d2) -> (d0, d1)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<4x8xf32>, tensor<8x2xf32>) outs(%c : tensor<4x2xf32>) {
    ^bb0(%x: f32, %y: f32, %acc: f32):
      %1 = arith.addf %x, %y : f32
      %2 = arith.maximumf %acc, %1 : f32
      linalg.yield %2 : f32
  } -> tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}

// CHECK-LABEL: func.func @array_ops_stay(
// CHECK:         array.add
func.func @array_ops_stay(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = array.add %x, %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @windows_accumulate_in_f32(
// CHECK:         %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK:         %[[INIT:.*]] = linalg.fill ins(%[[ZERO]] : f32)
// CHECK:         %[[SUM:.*]] = linalg.generic {{.*}} outs(%[[INIT]] : tensor<1x4x4x2xf32>)
// CHECK:         ^bb0(%[[X:.*]]: f16, %[[W:.*]]: f16, %[[ACC:.*]]: f32):
// CHECK:           %[[XF:.*]] = arith.extf %[[X]]
// CHECK:           %[[WF:.*]] = arith.extf %[[W]]
// CHECK:           %[[P:.*]] = arith.mulf %[[XF]], %[[WF]] : f32
// CHECK:           arith.addf %[[ACC]], %[[P]] : f32
// CHECK:         linalg.generic {{.*}} ins(%[[SUM]] : tensor<1x4x4x2xf32>)
// CHECK:           arith.truncf %{{.*}} : f32 to f16
func.func @windows_accumulate_in_f32(%x: tensor<1x6x6x3xf16>, %w: tensor<3x3x3x2xf16>) -> tensor<1x4x4x2xf16> {
  %zero = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<1x4x4x2xf16>
  %f = linalg.fill ins(%zero : f16) outs(%e : tensor<1x4x4x2xf16>) -> tensor<1x4x4x2xf16>
  %0 = linalg.conv_2d_nhwc_hwcf ins(%x, %w : tensor<1x6x6x3xf16>, tensor<3x3x3x2xf16>) outs(%f : tensor<1x4x4x2xf16>)
       -> tensor<1x4x4x2xf16>
  return %0 : tensor<1x4x4x2xf16>
}

// A maximum rounds nothing.
// CHECK-LABEL: func.func @maximum_stays_narrow(
// CHECK-NOT:     extf
// CHECK:         arith.maximumf {{.*}} : f16
func.func @maximum_stays_narrow(%x: tensor<4x8xf16>, %init: tensor<4xf16>) -> tensor<4xf16> {
  %0 = linalg.reduce { arith.maximumf } ins(%x : tensor<4x8xf16>) outs(%init : tensor<4xf16>) dimensions = [1]
  return %0 : tensor<4xf16>
}

// CHECK-LABEL: func.func @concatenations_are_insertions(
// CHECK:         tensor.insert_slice
// CHECK:         tensor.insert_slice
func.func @concatenations_are_insertions(%x: tensor<4xf32>, %y: tensor<2xf32>) -> tensor<6xf32> {
  %0 = tensor.concat dim(0) %x, %y : (tensor<4xf32>, tensor<2xf32>) -> tensor<6xf32>
  return %0 : tensor<6xf32>
}

// Of what is written at a constant the rest stays as it was.
// CHECK-LABEL: func.func @constant_place(
// CHECK-SAME:    %[[X:.*]]: tensor<6xf32>, %[[INIT:.*]]: tensor<6x4xf32>)
// CHECK:         %[[E:.*]] = tensor.empty() : tensor<6xf32>
// CHECK:         %[[Y:.*]] = linalg.generic {{.*}} ins(%[[X]] : tensor<6xf32>) outs(%[[E]] : tensor<6xf32>)
// CHECK:         tensor.insert_slice %[[Y]] into %[[INIT]][0, 2] [6, 1] [1, 1] : tensor<6xf32> into tensor<6x4xf32>
func.func @constant_place(%x: tensor<6xf32>, %init: tensor<6x4xf32>) -> tensor<6x4xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i, 2)>], iterator_types = ["parallel"]}
      ins(%x : tensor<6xf32>) outs(%init : tensor<6x4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %c = math.exp %a : f32
    linalg.yield %c : f32
  } -> tensor<6x4xf32>
  return %0 : tensor<6x4xf32>
}

// CHECK-LABEL: func.func @constant_place_symbolic(
// CHECK:         %[[N:.*]] = tensor.dim %{{.*}}, %{{.*}} : tensor<6x?xf32>
// CHECK:         plan.require %{{.*}} at_most %[[N]], "linalg.generic: expected place 2 to be in dim 1 of
func.func @constant_place_symbolic(%x: tensor<6xf32>, %init: tensor<6x?xf32>) -> tensor<6x?xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i, 2)>], iterator_types = ["parallel"]}
      ins(%x : tensor<6xf32>) outs(%init : tensor<6x?xf32>) {
  ^bb0(%a: f32, %b: f32):
    %c = math.exp %a : f32
    linalg.yield %c : f32
  } -> tensor<6x?xf32>
  return %0 : tensor<6x?xf32>
}

// Padding stays where windows of known sizes read it, as that of array.conv does; elsewhere it is an insertion.

// CHECK-LABEL: func.func @padding_of_windows(
// CHECK:         %[[PADDED:.*]] = tensor.pad %{{.*}} low[1] high[1]
// CHECK:         linalg.generic {{.*}} ins(%[[PADDED]], %{{.*}} : tensor<10xf32>, tensor<3xf32>)
func.func @padding_of_windows(%x: tensor<8xf32>, %w: tensor<3xf32>, %init: tensor<8xf32>) -> tensor<8xf32> {
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %x low[1] high[1] {
  ^bb0(%i: index):
    tensor.yield %zero : f32
  } : tensor<8xf32> to tensor<10xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0 + d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0)>],
                       iterator_types = ["parallel", "reduction"]} ins(%p, %w : tensor<10xf32>, tensor<3xf32>) outs(%init : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %product = arith.mulf %a, %b : f32
    %next = arith.addf %sum, %product : f32
    linalg.yield %next : f32
  } -> tensor<8xf32>
  return %y : tensor<8xf32>
}

// CHECK-LABEL: func.func @padding_of_a_product(
// CHECK-NOT:     tensor.pad
// CHECK:         tensor.insert_slice
func.func @padding_of_a_product(%x: tensor<8x8xf32>, %w: tensor<16x4xf32>, %init: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0, 4] high[0, 4] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<8x8xf32> to tensor<8x16xf32>
  %y = linalg.matmul ins(%p, %w : tensor<8x16xf32>, tensor<16x4xf32>) outs(%init : tensor<8x4xf32>) -> tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}
