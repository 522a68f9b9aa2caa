// RUN: xc-opt %s -xc-convert-array-to-linalg -cse | FileCheck %s

// CHECK-LABEL: func.func @reshapes_are_views(
// CHECK-SAME:    %[[X:.*]]: tensor<?x6xf32>
// CHECK:         %[[N:.*]] = tensor.dim %[[X]], %{{.*}}
// CHECK:         tensor.expand_shape %[[X]] {{\[}}[0], [1, 2]] output_shape [%[[N]], 2, 3]
// CHECK:         tensor.collapse_shape %[[X]] {{\[}}[0, 1]]
func.func @reshapes_are_views(%x: tensor<?x6xf32>) -> (tensor<?x2x3xf32>, tensor<?xf32>) {
  %0 = array.reshape %x : tensor<?x6xf32> -> tensor<?x2x3xf32>
  %1 = array.reshape %x : tensor<?x6xf32> -> tensor<?xf32>
  return %0, %1 : tensor<?x2x3xf32>, tensor<?xf32>
}

// CHECK-LABEL: func.func @slices_are_views(
// CHECK-SAME:    %[[X:.*]]: tensor<?x6xf32>
// CHECK:         %[[N:.*]] = tensor.dim %[[X]], %{{.*}}
// CHECK:         %[[M:.*]] = arith.subi %[[N]], %{{.*}}
// CHECK:         tensor.extract_slice %[[X]][1, 0] [%[[M]], 3] [1, 2] : tensor<?x6xf32> to tensor<?x3xf32>
func.func @slices_are_views(%x: tensor<?x6xf32>) -> tensor<?x3xf32> {
  %0 = array.slice %x [1:, 0:6:2] : tensor<?x6xf32> -> tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}

// CHECK-LABEL: func.func @parts_are_inserted(
// CHECK-SAME:    %[[A:.*]]: tensor<2x4xf32>, %[[B:.*]]: tensor<3x4xf32>
// CHECK:         %[[INIT:.*]] = tensor.empty() : tensor<5x4xf32>
// CHECK:         %[[FIRST:.*]] = tensor.insert_slice %[[A]] into %[[INIT]][0, 0] [2, 4] [1, 1]
// CHECK:         tensor.insert_slice %[[B]] into %[[FIRST]][2, 0] [3, 4] [1, 1]
func.func @parts_are_inserted(%a: tensor<2x4xf32>, %b: tensor<3x4xf32>) -> tensor<5x4xf32> {
  %0 = array.concatenate %a, %b axis = 0 : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<5x4xf32>
  return %0 : tensor<5x4xf32>
}

// CHECK-LABEL: func.func @pad_with_a_constant(
// CHECK-SAME:    %[[X:.*]]: tensor<4x3xf32>
// CHECK:         %[[BACK:.*]] = linalg.fill ins(%{{.*}} : f32) outs(%{{.*}} : tensor<6x7xf32>)
// CHECK:         tensor.insert_slice %[[X]] into %[[BACK]][1, 0] [4, 3] [1, 2]
func.func @pad_with_a_constant(%x: tensor<4x3xf32>) -> tensor<6x7xf32> {
  %zero = array.constant dense<0.0> : tensor<f32>
  %0 = array.pad %x, %zero low = [1, 0] high = [1, 2] interior = [0, 1] : (tensor<4x3xf32>, tensor<f32>) -> tensor<6x7xf32>
  return %0 : tensor<6x7xf32>
}

// CHECK-LABEL: func.func @a_size_that_may_be_1(
// CHECK-SAME:    %[[X:.*]]: tensor<?xf32>
// CHECK:         %[[N:.*]] = tensor.dim %[[X]], %{{.*}}
// CHECK:         linalg.generic
// CHECK:           %[[J:.*]] = linalg.index 1
// CHECK:           %[[ONE:.*]] = arith.cmpi eq, %[[N]], %{{.*}}
// CHECK:           %[[AT:.*]] = arith.select %[[ONE]], %{{.*}}, %[[J]]
// CHECK:           tensor.extract %[[X]][%[[AT]]]
func.func @a_size_that_may_be_1(%x: tensor<?xf32>) -> tensor<4x8xf32> {
  %0 = array.broadcast_in_dim %x axes = [1] : tensor<?xf32> -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @transpose_is_a_map(
// CHECK:         linalg.generic {indexing_maps = [#{{.*}}, #{{.*}}], iterator_types = ["parallel", "parallel"]}
// CHECK-SAME:      ins(%{{.*}} : tensor<4x8xf32>) outs(%{{.*}} : tensor<8x4xf32>)
func.func @transpose_is_a_map(%x: tensor<4x8xf32>) -> tensor<8x4xf32> {
  %0 = array.transpose %x permutation = [1, 0] : tensor<4x8xf32> -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// CHECK-LABEL: func.func @positions_are_clamped(
// CHECK:         linalg.generic
// CHECK:           %[[LOWERED:.*]] = arith.minsi
// CHECK:           %[[I:.*]] = arith.maxsi %[[LOWERED]], %{{.*}} : index
// CHECK:           tensor.extract %{{.*}}[%[[I]],
func.func @positions_are_clamped(%x: tensor<4x8xf32>, %i: tensor<i32>, %j: tensor<i32>) -> tensor<1x8xf32> {
  %0 = array.dynamic_slice %x[%i, %j] : (tensor<4x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x8xf32>
  return %0 : tensor<1x8xf32>
}

// CHECK-LABEL: func.func @counting(
// CHECK:           %[[I:.*]] = linalg.index 0
// CHECK:           arith.index_cast %[[I]] : index to i64
// CHECK:           arith.sitofp
func.func @counting(%x: tensor<?xf32>) -> (tensor<4xf32>, tensor<f32>) {
  %0 = array.iota axis = 0 : tensor<4xf32>
  %n = array.dim %x, 0 : tensor<?xf32>
  %1 = array.from_index %n : tensor<f32>
  return %0, %1 : tensor<4xf32>, tensor<f32>
}

// -----

// tensor.extract_slice takes no offset behind the last element, even of nothing.
// CHECK-LABEL: func.func @empty_slice(
// CHECK-NOT:     tensor.extract_slice
func.func @empty_slice(%x: tensor<3x1xf32>) -> tensor<3x0xf32> {
  %0 = array.slice %x [0:3, 1:1] : tensor<3x1xf32> -> tensor<3x0xf32>
  return %0 : tensor<3x0xf32>
}

// No elements do not say how large a dim is, so the size that is asked for does.
// CHECK-LABEL: func.func @reshape_of_nothing(
// CHECK-SAME:    %[[X:.*]]: tensor<0x?xf32>, %[[N:.*]]: index
// CHECK:         tensor.empty(%[[N]]) : tensor<0x?xf32>
// CHECK-NOT:     tensor.collapse_shape
func.func @reshape_of_nothing(%x: tensor<0x?xf32>, %n: index) -> tensor<0x?xf32> {
  %0 = array.reshape %x sizes(%n) : tensor<0x?xf32> -> tensor<0x?xf32>
  return %0 : tensor<0x?xf32>
}

// What a `?` would have to be beside a dim of no elements is no number but 0, whatever the type calls it.
// CHECK-LABEL: func.func @inferred_of_nothing(
// CHECK:         %[[EMPTY:.*]] = tensor.empty() : tensor<0xf32>
// CHECK:         %[[Y:.*]] = tensor.cast %[[EMPTY]] : tensor<0xf32> to tensor<?xf32>
// CHECK:         return %[[Y]]
func.func @inferred_of_nothing(%x: tensor<?x0xf32>) -> tensor<?xf32> {
  %0 = array.reshape %x : tensor<?x0xf32> -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// A dim that is given its own size is not repeated.
// CHECK-LABEL: func.func @broadcast_of_own_size(
// CHECK-SAME:    %[[X:.*]]: tensor<?xf32>
// CHECK-NOT:     plan.require
// CHECK:         linalg.generic {{.*}} ins(%[[X]] : tensor<?xf32>)
func.func @broadcast_of_own_size(%x: tensor<?xf32>) -> tensor<3x?xf32> {
  %zero = arith.constant 0 : index
  %n = tensor.dim %x, %zero : tensor<?xf32>
  %0 = array.broadcast_in_dim %x axes = [1] sizes(%n) : tensor<?xf32> -> tensor<3x?xf32>
  return %0 : tensor<3x?xf32>
}

// Element counts that types do not tell are compared when inputs are bound.
// CHECK-LABEL: func.func @reshape_requires_equal_counts(
// CHECK-SAME:    %[[X:.*]]: tensor<?x?xf32>
// CHECK-DAG:     %[[FOUR:.*]] = arith.constant 4 : index
// CHECK-DAG:     %[[N:.*]] = arith.muli
// CHECK:         plan.require %[[N]] equal %[[FOUR]], "array.reshape: expected as many elements in tensor<?x?xf32> as in tensor<4xf32>"
func.func @reshape_requires_equal_counts(%x: tensor<?x?xf32>) -> tensor<4xf32> {
  %0 = array.reshape %x : tensor<?x?xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @a_divided_size_needs_no_check(
// CHECK-NOT:     plan.require
// CHECK:         return
func.func @a_divided_size_needs_no_check(%x: tensor<?x6xf32>) -> tensor<?x3xf32> {
  %0 = array.reshape %x : tensor<?x6xf32> -> tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}

// CHECK-LABEL: func.func @other_requirements(
// CHECK:         plan.require %{{.*}} at_most %{{.*}}, "array.slice: expected a slice within dim 0 of the operand"
// CHECK:         plan.require %{{.*}} equal %{{.*}}, "array.concatenate: expected dim 1 of tensor<3x?xf32> to be dim 1 of tensor<?x?xf32>"
// CHECK:         plan.require %{{.*}} one_or_equal %{{.*}}, "array.broadcast_in_dim: expected dim 0 of the operand to be 1 or the result's dim 1"
// CHECK:         plan.require %{{.*}} at_most %{{.*}}, "array.dynamic_slice: expected a box that fits into dim 0 of the operand"
func.func @other_requirements(%x: tensor<?x?xf32>, %y: tensor<3x?xf32>, %z: tensor<?xf32>, %i: tensor<i32>)
    -> (tensor<2x?xf32>, tensor<?x?xf32>, tensor<4x8xf32>, tensor<5xf32>) {
  %0 = array.slice %x [1:3, :] : tensor<?x?xf32> -> tensor<2x?xf32>
  %1 = array.concatenate %x, %y axis = 0 : (tensor<?x?xf32>, tensor<3x?xf32>) -> tensor<?x?xf32>
  %2 = array.broadcast_in_dim %z axes = [1] : tensor<?xf32> -> tensor<4x8xf32>
  %3 = array.dynamic_slice %z[%i] : (tensor<?xf32>, tensor<i32>) -> tensor<5xf32>
  return %0, %1, %2, %3 : tensor<2x?xf32>, tensor<?x?xf32>, tensor<4x8xf32>, tensor<5xf32>
}

// A cast to a type that says less does not hide what follows from the source.
// CHECK-LABEL: func.func @behind_a_cast(
// CHECK-SAME:    %[[X:.*]]: tensor<4x8xf32>
// CHECK-DAG:     tensor.expand_shape %{{.*}} output_shape [8, 4] : tensor<32xf32> into tensor<8x4xf32>
// CHECK-DAG:     tensor.expand_shape %{{.*}} output_shape [2, 16] : tensor<32xf32> into tensor<2x16xf32>
func.func @behind_a_cast(%x: tensor<4x8xf32>) -> (tensor<?x4xf32>, tensor<2x?xf32>) {
  %0 = tensor.cast %x : tensor<4x8xf32> to tensor<?x8xf32>
  %m = array.dim %0, 1 : tensor<?x8xf32>
  %1 = array.reshape %0 sizes(%m) : tensor<?x8xf32> -> tensor<?x4xf32>
  %2 = array.reshape %0 : tensor<?x8xf32> -> tensor<2x?xf32>
  return %1, %2 : tensor<?x4xf32>, tensor<2x?xf32>
}

// The body says what is of interest, so that fusion takes it along.
// CHECK-LABEL: func.func @within(
// CHECK-SAME:    %[[X:.*]]: tensor<?x6xf32>, %[[N:.*]]: tensor<i64>
// CHECK:         linalg.generic {{.*}} ins(%[[X]], %[[N]] : tensor<?x6xf32>, tensor<i64>)
// CHECK:         ^bb0(%[[A:.*]]: f32, %[[COUNT:.*]]: i64, %{{.*}}: f32):
// CHECK:           %[[I:.*]] = linalg.index 0 : index
// CHECK:           %[[EXTENT:.*]] = arith.index_cast %[[COUNT]] : i64 to index
// CHECK:           %[[Y:.*]] = kernel.within %[[A]], %[[I]] before %[[EXTENT]] : f32
// CHECK:           linalg.yield %[[Y]] : f32
func.func @within(%x: tensor<?x6xf32>, %n: tensor<i64>) -> tensor<?x6xf32> {
  %0 = array.within %x, %n axis = 0 : tensor<?x6xf32>, tensor<i64>
  return %0 : tensor<?x6xf32>
}

// From the first element on a slice is a view; of a part, such as the outputs that a transposed convolution has, still one.
// CHECK-LABEL: func.func @from_the_first(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<?x?xf16>
// CHECK-NOT:     tensor.extract{{ }}
// CHECK:         %[[PART:.*]] = tensor.extract_slice %[[X]][0, 1] [%{{.*}}, %arg1] [1, 1]
// CHECK:         return %[[PART]]
func.func @from_the_first(%x: tensor<?x?xf16>, %n: index) -> tensor<?x?xf16> {
  %zero = array.constant dense<0> : tensor<i64>
  %c0 = arith.constant 0 : index
  %b = tensor.dim %x, %c0 : tensor<?x?xf16>
  %y = array.slice %x [:, 1:] : tensor<?x?xf16> -> tensor<?x?xf16>
  %z = array.dynamic_slice %y[%zero, %zero] sizes(%b, %n) : (tensor<?x?xf16>, tensor<i64>, tensor<i64>) -> tensor<?x?xf16>
  return %z : tensor<?x?xf16>
}

// A size that is known although the types have a `?`.
// CHECK-LABEL: func.func @sizes_that_types_do_not_say(
// CHECK:         %[[ROWS:.*]] = tensor.expand_shape %{{.*}} {{\[}}[0, 1]] output_shape [8, 1] : tensor<8xf32> into tensor<8x1xf32>
// CHECK:         %[[OPEN:.*]] = tensor.cast %[[ROWS]] : tensor<8x1xf32> to tensor<?x1xf32>
// CHECK:         return %[[OPEN]]
func.func @sizes_that_types_do_not_say(%x: tensor<?x8x3xf32>) -> tensor<?x1xf32> {
  %0 = tensor.cast %x : tensor<?x8x3xf32> to tensor<?x?x3xf32>
  %1 = array.reduce sum, %0 axes = [0, 2] keepdims : tensor<?x?x3xf32> -> tensor<1x?x1xf32>
  %2 = array.reshape %1 : tensor<1x?x1xf32> -> tensor<?x1xf32>
  return %2 : tensor<?x1xf32>
}
