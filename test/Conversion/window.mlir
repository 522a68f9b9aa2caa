// RUN: xc-opt %s -xc-convert-array-to-linalg | FileCheck %s

// CHECK-DAG: #[[X:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1 * 2 + d4, d2 * 2 + d5 * 3, d6)>
// CHECK-DAG: #[[W:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d4, d5, d6, d3)>
// CHECK-DAG: #[[Y:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d2, d3)>
// CHECK-DAG: #[[DEPTH_X:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1 + d4, d2 + d5, d3)>
// CHECK-DAG: #[[GROUP_X:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1 + d4, d2, d5)>
// CHECK-DAG: #[[GROUP_W:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d4, d5, d2, d3)>
// CHECK-DAG: #[[PHASE_X:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7, d8) -> (d0, d1 + d6, d3 + d7, d8)>
// CHECK-DAG: #[[PHASE_W:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7, d8) -> (d6, d7, d8, d2, d4, d5)>
// CHECK-DAG: #[[PHASE_Y:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7, d8) -> (d0, d1, d2, d3, d4, d5)>
// CHECK-DAG: #[[DILATED_X:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1 + d4 * 3, d5)>
// CHECK-DAG: #[[POOL_X:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1 * 2 + d3, d2)>
// CHECK-DAG: #[[POOL_K:.*]] = affine_map<(d0, d1, d2, d3) -> (d3)>
// CHECK-DAG: #[[POOL_Y:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>

// Padding stays a tensor.pad before the generic; 16-bit floats accumulate in f32 and round behind it.
// CHECK-LABEL: func.func @padded(
// CHECK-SAME:    %[[ARG:.*]]: tensor<?x8x9x4xf16>
// CHECK:         %[[PAD:.*]] = tensor.pad %[[ARG]] low[0, 1, 2, 0] high[0, 1, 0, 0]
// CHECK:         %[[SUM:.*]] = linalg.generic {indexing_maps = [#[[X]], #[[W]], #[[Y]]],
// CHECK-SAME:      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
// CHECK-SAME:      ins(%[[PAD]], %{{.*}} : tensor<?x10x11x4xf16>, tensor<3x3x4x6xf16>) outs(%{{.*}} : tensor<?x4x3x6xf32>)
// CHECK:           arith.mulf
// CHECK:           arith.addf
// CHECK:         linalg.generic {{.*}} ins(%[[SUM]] : tensor<?x4x3x6xf32>)
// CHECK:           arith.truncf
func.func @padded(%x: tensor<?x8x9x4xf16>, %w: tensor<3x3x4x6xf16>) -> tensor<?x4x3x6xf16> {
  %0 = array.conv %x, %w dims = <[b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f]> strides = [2, 2] low = [1, 2] high = [1, 0]
       filter_dilation = [1, 3] : (tensor<?x8x9x4xf16>, tensor<3x3x4x6xf16>) -> tensor<?x4x3x6xf16>
  return %0 : tensor<?x4x3x6xf16>
}

// A group of one feature is that feature: nothing is reshaped.
// CHECK-LABEL: func.func @depthwise(
// CHECK-NOT:     tensor.expand_shape
// CHECK:         linalg.generic {indexing_maps = [#[[DEPTH_X]], #[[W]], #[[Y]]]
func.func @depthwise(%x: tensor<2x8x9x4xf32>, %w: tensor<3x3x1x4xf32>) -> tensor<2x6x7x4xf32> {
  %0 = array.conv %x, %w dims = <[b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f]> feature_groups = 4
     : (tensor<2x8x9x4xf32>, tensor<3x3x1x4xf32>) -> tensor<2x6x7x4xf32>
  return %0 : tensor<2x6x7x4xf32>
}

// CHECK-LABEL: func.func @grouped(
// CHECK-DAG:     %[[GX:.*]] = tensor.expand_shape %{{.*}} {{\[}}[0], [1], [2, 3]] output_shape [2, 8, 2, 3]
// CHECK-DAG:     %[[GW:.*]] = tensor.expand_shape %{{.*}} {{\[}}[0], [1], [2, 3]] output_shape [3, 3, 2, 5]
// CHECK:         %[[GY:.*]] = linalg.generic {indexing_maps = [#[[GROUP_X]], #[[GROUP_W]], {{.*}} ins(%[[GX]], %[[GW]]
// CHECK:         tensor.collapse_shape %[[GY]] {{\[}}[0], [1], [2, 3]]
func.func @grouped(%x: tensor<2x8x6xi32>, %w: tensor<3x3x10xi32>) -> tensor<2x6x10xi32> {
  %0 = array.conv %x, %w dims = <[b, 0, f] x [0, i, o] -> [b, 0, f]> feature_groups = 2
     : (tensor<2x8x6xi32>, tensor<3x3x10xi32>) -> tensor<2x6x10xi32>
  return %0 : tensor<2x6x10xi32>
}

// CHECK-LABEL: func.func @unsigned(
// CHECK:           arith.extui %{{.*}} : i8 to i32
// CHECK:           arith.muli
func.func @unsigned(%x: tensor<2x8x6xui8>, %w: tensor<3x6x4xui8>) -> tensor<2x6x4xui32> {
  %0 = array.conv %x, %w dims = <[b, 0, f] x [0, i, o] -> [b, 0, f]> : (tensor<2x8x6xui8>, tensor<3x6x4xui8>) -> tensor<2x6x4xui32>
  return %0 : tensor<2x6x4xui32>
}

// A filter that fits nowhere.
// CHECK-LABEL: func.func @too_wide(
// CHECK-NOT:     linalg.generic
// CHECK:         linalg.fill {{.*}} -> tensor<2x0x4xf32>
func.func @too_wide(%x: tensor<2x2x6xf32>, %w: tensor<3x6x4xf32>) -> tensor<2x0x4xf32> {
  %0 = array.conv %x, %w dims = <[b, 0, f] x [0, i, o] -> [b, 0, f]> : (tensor<2x2x6xf32>, tensor<3x6x4xf32>) -> tensor<2x0x4xf32>
  return %0 : tensor<2x0x4xf32>
}

// Without places, in groups, for a batch of symbolic size.
// CHECK-LABEL: func.func @no_places(
// CHECK-NOT:     linalg.generic
// CHECK:         linalg.fill {{.*}} -> tensor<?x0x2xf32>
func.func @no_places(%x: tensor<?x0x4xf32>, %w: tensor<3x2x2xf32>) -> tensor<?x0x2xf32> {
  %0 = array.conv %x, %w dims = <[b, 0, f] x [0, i, o] -> [b, 0, f]> feature_groups = 2 : (tensor<?x0x4xf32>, tensor<3x2x2xf32>) -> tensor<?x0x2xf32>
  return %0 : tensor<?x0x2xf32>
}

// Operands know that there are no places where the result's type does not.
// CHECK-LABEL: func.func @no_known_places(
// CHECK-NOT:     linalg.generic
// CHECK:         linalg.fill {{.*}} -> tensor<?x0x2x?xf32>
func.func @no_known_places(%x: tensor<?x0x?xf32>, %w: tensor<1x?x?xf32>) -> tensor<?x?x?xf32> {
  %0 = array.conv %x, %w dims = <[b, 0, f] x [0, i, o] -> [b, 0, f]> feature_groups = 2 : (tensor<?x0x?xf32>, tensor<1x?x?xf32>) -> tensor<?x?x?xf32>
  return %0 : tensor<?x?x?xf32>
}

// An image without elements, in which a filter that has none either would have one place.
// CHECK-LABEL: func.func @no_image(
// CHECK-NOT:     linalg.generic
// CHECK:         linalg.fill {{.*}} -> tensor<?x?x1x2x?xf32>
func.func @no_image(%x: tensor<?x0x3x?xf32>, %w: tensor<?x1x?x?xf32>) -> tensor<?x?x1x?xf32> {
  %0 = array.conv %x, %w dims = <[b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f]> strides = [1, 3] feature_groups = 2
     : (tensor<?x0x3x?xf32>, tensor<?x1x?x?xf32>) -> tensor<?x?x1x?xf32>
  return %0 : tensor<?x?x1x?xf32>
}

// CHECK-LABEL: func.func @no_known_windows(
// CHECK-NOT:     linalg.generic
// CHECK:         linalg.fill {{.*}} -> tensor<?x0xf32>
func.func @no_known_windows(%x: tensor<?x2xf32>) -> tensor<?x?xf32> {
  %0 = array.reduce_window max, %x window = [1, 3] : tensor<?x2xf32> -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// Of an input that is spread by 2 and 3, phases beside positions, each of which reads 2 elements. 8 of 8, and 11 of 12 outputs are asked for.
// CHECK-LABEL: func.func @phases(
// CHECK-SAME:    %[[ARG:.*]]: tensor<?x4x4x2xf16>
// CHECK:         %[[PAD:.*]] = tensor.pad %[[ARG]] low[0, 0, 1, 0] high[0, 1, 0, 0]
// CHECK:         linalg.generic {indexing_maps = [#[[PHASE_X]], #[[PHASE_W]], #[[PHASE_Y]]]
// CHECK-SAME:      ins(%[[PAD]], %{{.*}} : tensor<?x5x5x2xf16>, tensor<2x2x2x2x3x5xf16>) outs(%{{.*}} : tensor<?x4x2x4x3x5xf32>)
// CHECK:         %[[ALL:.*]] = tensor.collapse_shape %{{.*}} {{\[\[}}0], [1, 2], [3, 4], [5]] : tensor<?x4x2x4x3x5xf16> into tensor<?x8x12x5xf16>
// CHECK:         tensor.extract_slice %[[ALL]][0, 0, 0, 0] [%{{.*}}, 8, 11, 5] [1, 1, 1, 1]
func.func @phases(%x: tensor<?x4x4x2xf16>, %w: tensor<3x4x2x5xf16>) -> tensor<?x8x11x5xf16> {
  %0 = array.conv %x, %w dims = <[b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f]> low = [1, 3] high = [2, 1] input_dilation = [2, 3]
     : (tensor<?x4x4x2xf16>, tensor<3x4x2x5xf16>) -> tensor<?x8x11x5xf16>
  return %0 : tensor<?x8x11x5xf16>
}

// Under a dilated filter each phase has every other tap, and reads every third element. Its outputs are then put into their order:
// outputs 0, 1, 2, ... are at positions 0, 0, 1, ... of phases 1, 0, 1, ...
// CHECK-LABEL: func.func @dilated_phases(
// CHECK-SAME:    %[[ARG:.*]]: tensor<?x6x2xf16>
// CHECK-DAG:     %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG:     %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG:     %[[C3:.*]] = arith.constant 3 : index
// CHECK-DAG:     %[[BACK:.*]] = arith.constant -3 : index
// CHECK:         %[[PAD:.*]] = tensor.pad %[[ARG]] low[0, 1, 0] high[0, 2, 0]
// CHECK:         linalg.generic {indexing_maps = [#[[DILATED_X]], #{{.*}}, #{{.*}}]
// CHECK-SAME:      ins(%[[PAD]], %{{.*}} : tensor<?x9x2xf16>, tensor<2x2x2x5xf16>) outs(%{{.*}} : tensor<?x6x2x5xf32>)
// CHECK:         %[[ALL:.*]] = tensor.collapse_shape %{{.*}} {{\[\[}}0], [1, 2], [3]] : tensor<?x6x2x5xf16> into tensor<?x12x5xf16>
// CHECK:         linalg.generic {{.*}} outs(%{{.*}} : tensor<?x8x5xf16>)
// CHECK:           %[[OUTPUT:.*]] = linalg.index 1 : index
// CHECK:           %[[COUNT:.*]] = arith.addi %[[OUTPUT]], %[[C1]]
// CHECK:           %[[PHASE:.*]] = arith.remui %[[COUNT]], %[[C2]]
// CHECK:           %[[AFTER:.*]] = arith.addi %[[OUTPUT]], %[[C3]]
// CHECK:           %[[TAP:.*]] = arith.muli %[[PHASE]], %[[BACK]]
// CHECK:           %[[SUM:.*]] = arith.addi %[[AFTER]], %[[TAP]]
// CHECK:           %[[POSITION:.*]] = arith.divui %[[SUM]], %[[C2]]
// CHECK:           %[[LINE:.*]] = arith.muli %[[POSITION]], %[[C2]]
// CHECK:           %[[AT:.*]] = arith.addi %[[LINE]], %[[PHASE]]
// CHECK:           tensor.extract %[[ALL]][%{{.*}}, %[[AT]], %{{.*}}]
func.func @dilated_phases(%x: tensor<?x6x2xf16>, %w: tensor<3x2x5xf16>) -> tensor<?x8x5xf16> {
  %0 = array.conv %x, %w dims = <[b, 0, f] x [0, i, o] -> [b, 0, f]> low = [2] high = [1] input_dilation = [2] filter_dilation = [3]
     : (tensor<?x6x2xf16>, tensor<3x2x5xf16>) -> tensor<?x8x5xf16>
  return %0 : tensor<?x8x5xf16>
}

// Of an image of symbolic size there are as many positions as elements. Of one of no elements the padding has a place: one position of it.
// CHECK-LABEL: func.func @open_phases(
// CHECK-SAME:    %[[ARG:.*]]: tensor<?x?x?x2xf16>
// CHECK:         %[[PAD:.*]] = tensor.pad %[[ARG]] low[0, 0, 0, 0] high[0, %{{.*}}, %{{.*}}, 0]
// CHECK:         linalg.generic {{.*}} ins(%[[PAD]], %{{.*}} : tensor<?x?x?x2xf16>, tensor<1x1x2x2x2x5xf16>) outs(%{{.*}} : tensor<?x?x2x?x2x5xf32>)
// CHECK:         %[[ALL:.*]] = tensor.collapse_shape %{{.*}} {{\[\[}}0], [1, 2], [3, 4], [5]] : tensor<?x?x2x?x2x5xf16> into tensor<?x?x?x5xf16>
// CHECK:         tensor.extract_slice %[[ALL]][0, 0, 0, 0] [%{{.*}}, %{{.*}}, %{{.*}}, 5] [1, 1, 1, 1]
func.func @open_phases(%x: tensor<?x?x?x2xf16>, %w: tensor<2x2x2x5xf16>) -> tensor<?x?x?x5xf16> {
  %0 = array.conv %x, %w dims = <[b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f]> low = [1, 1] high = [1, 1] input_dilation = [2, 2]
     : (tensor<?x?x?x2xf16>, tensor<2x2x2x5xf16>) -> tensor<?x?x?x5xf16>
  return %0 : tensor<?x?x?x5xf16>
}

// Of channels one by one each phase is a sum of its taps of the channel; groups of several are a loop of image, filter and result.
// CHECK-LABEL: func.func @depthwise_phases(
// CHECK:         linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<2x6x3xf16>, tensor<2x2x3x1xf16>) outs(%{{.*}} : tensor<2x5x2x3xf32>)
// CHECK:         tensor.collapse_shape %{{.*}} {{\[\[}}0], [1, 2], [3]] : tensor<2x5x2x3xf16> into tensor<2x10x3xf16>
func.func @depthwise_phases(%x: tensor<2x5x3xf16>, %w: tensor<3x3x1xf16>) -> tensor<2x10x3xf16> {
  %0 = array.conv %x, %w dims = <[b, 0, f] x [0, o, i] -> [b, 0, f]> low = [1] high = [2] input_dilation = [2] feature_groups = 3
     : (tensor<2x5x3xf16>, tensor<3x3x1xf16>) -> tensor<2x10x3xf16>
  return %0 : tensor<2x10x3xf16>
}

// CHECK-LABEL: func.func @grouped_phases(
// CHECK-SAME:    %[[ARG:.*]]: tensor<2x6x5xf16>
// CHECK:         %[[GROUPS:.*]] = tensor.expand_shape %[[ARG]] {{\[\[}}0], [1, 2], [3]] output_shape [2, 3, 2, 5]
// CHECK:         %[[PAD:.*]] = tensor.pad %[[GROUPS]] low[0, 0, 0, 0] high[0, 0, 0, 1]
// CHECK:         linalg.generic {{.*}} ins(%[[PAD]], %{{.*}} : tensor<2x3x2x6xf16>, tensor<2x2x2x3x4xf16>) outs(%{{.*}} : tensor<2x3x4x5x2xf32>)
// CHECK:         tensor.collapse_shape %{{.*}} {{\[\[}}0], [1, 2], [3, 4]] : tensor<2x3x4x5x2xf16> into tensor<2x12x10xf16>
func.func @grouped_phases(%x: tensor<2x6x5xf16>, %w: tensor<3x2x12xf16>) -> tensor<2x12x10xf16> {
  %0 = array.conv %x, %w dims = <[b, f, 0] x [0, i, o] -> [b, f, 0]> low = [1] high = [2] input_dilation = [2] feature_groups = 3
     : (tensor<2x6x5xf16>, tensor<3x2x12xf16>) -> tensor<2x12x10xf16>
  return %0 : tensor<2x12x10xf16>
}

// CHECK-LABEL: func.func @max_pool(
// CHECK-DAG:     %[[LOWEST:.*]] = arith.constant 0xFF800000 : f32
// CHECK-DAG:     %[[SIZES:.*]] = tensor.empty() : tensor<3xi8>
// CHECK-DAG:     %[[P:.*]] = tensor.pad %{{.*}} low[0, 1, 0] high[0, 0, 0]
// CHECK:         linalg.generic {indexing_maps = [#[[POOL_X]], #[[POOL_K]], #[[POOL_Y]]]
// CHECK-SAME:      ins(%[[P]], %[[SIZES]]
// CHECK:           arith.maximumf
func.func @max_pool(%x: tensor<?x8x4xf32>) -> tensor<?x4x4xf32> {
  %0 = array.reduce_window max, %x window = [1, 3, 1] strides = [1, 2, 1] low = [0, 1, 0] high = [0, 0, 0]
     : tensor<?x8x4xf32> -> tensor<?x4x4xf32>
  return %0 : tensor<?x4x4xf32>
}

// Selection, then a sum over the windows that may have selected an element: no scatter.
// CHECK-LABEL: func.func @select_and_scatter(
// CHECK:         %[[S:.*]]:2 = linalg.generic {{.*}} outs(%{{.*}}, %{{.*}} : tensor<?x4x4xf32>, tensor<?x4x4xi32>)
// CHECK:         %[[N:.*]] = linalg.generic {{.*}} ins(%[[S]]#1 : tensor<?x4x4xi32>)
// CHECK-NEXT:    ^bb0(
// CHECK-NEXT:      arith.trunci
// CHECK:         linalg.generic {{.*}}"parallel", "parallel", "parallel"]} outs(%{{.*}} : tensor<?x8x4xf32>)
// CHECK:           tensor.extract %[[N]]
// CHECK:           arith.cmpi eq
// CHECK:           tensor.extract
// CHECK:           arith.addf
func.func @select_and_scatter(%x: tensor<?x8x4xf32>, %g: tensor<?x4x4xf32>) -> tensor<?x8x4xf32> {
  %0 = array.select_and_scatter max, %x, %g window = [1, 2, 1] strides = [1, 2, 1]
     : (tensor<?x8x4xf32>, tensor<?x4x4xf32>) -> tensor<?x8x4xf32>
  return %0 : tensor<?x8x4xf32>
}

// A row is under two windows of three at most, two apart: a loop over those, not over the taps. Padding has no number.
// CHECK-LABEL: func.func @overlapping_windows(
// CHECK-DAG:     %[[NONE:.*]] = arith.constant 2147483647 : i32
// CHECK:         arith.select %{{.*}}, %{{.*}}, %[[NONE]] : i32
// CHECK:         %[[CANDIDATES:.*]] = tensor.empty() : tensor<2xi8>
// CHECK:         linalg.generic {{.*}} ins(%[[CANDIDATES]] : tensor<2xi8>) outs(%{{.*}} : tensor<9x4xf32>)
// CHECK-COUNT-1:   arith.remui
// CHECK-NOT:       arith.remui
// CHECK:         return
func.func @overlapping_windows(%x: tensor<9x4xf32>, %g: tensor<5x4xf32>) -> tensor<9x4xf32> {
  %0 = array.select_and_scatter max, %x, %g window = [3, 1] strides = [2, 1] low = [1, 0] high = [1, 0]
     : (tensor<9x4xf32>, tensor<5x4xf32>) -> tensor<9x4xf32>
  return %0 : tensor<9x4xf32>
}

// Windows of 256 elements have numbers that are no bytes.
// CHECK-LABEL: func.func @many_elements(
// CHECK-NOT:     arith.trunci
// CHECK:         return
func.func @many_elements(%x: tensor<600xf32>, %g: tensor<3xf32>) -> tensor<600xf32> {
  %0 = array.select_and_scatter max, %x, %g window = [256] strides = [128] : (tensor<600xf32>, tensor<3xf32>) -> tensor<600xf32>
  return %0 : tensor<600xf32>
}

// The loop over the only place goes later on, and the window then says how large the operand is.
// CHECK-LABEL: func.func @one_place(
// CHECK-SAME:    %[[X:.*]]: tensor<4x3xf32>
// CHECK:         %[[READ:.*]] = tensor.extract_slice %[[X]][0, 0] [4, 2] [1, 1]
// CHECK:         linalg.generic {{.*}} ins(%[[READ]],
func.func @one_place(%x: tensor<4x3xf32>) -> tensor<4x1xf32> {
  %y = array.reduce_window sum, %x window = [1, 2] strides = [1, 2] : tensor<4x3xf32> -> tensor<4x1xf32>
  return %y : tensor<4x1xf32>
}
