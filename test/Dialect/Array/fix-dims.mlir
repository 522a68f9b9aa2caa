// RUN: xc-opt %s -xc-array-fix-dims | FileCheck %s
// RUN: xc-opt %s -xc-array-fix-dims -xc-array-infer-shapes -canonicalize | FileCheck %s --check-prefix=SHAPES

// CHECK-LABEL: func.func @one_size(
// CHECK-SAME:    %[[X:.*]]: tensor<?x?xf32> {array.dims = ["n", "m"]})
// CHECK:         %[[FIXED:.*]] = tensor.cast %[[X]] : tensor<?x?xf32> to tensor<8x?xf32>
// CHECK:         %[[OPEN:.*]] = tensor.cast %[[FIXED]] : tensor<8x?xf32> to tensor<?x?xf32>
// CHECK:         array.neg %[[OPEN]]
// SHAPES-LABEL: func.func @one_size(
// SHAPES-SAME:    tensor<?x?xf32> {array.dims = ["n", "m"]}) -> tensor<8x?xf32>
// SHAPES:         array.neg %{{.*}} : tensor<8x?xf32>
func.func @one_size(%x: tensor<?x?xf32> {array.dims = ["n", "m"]}) -> tensor<?x?xf32>
    attributes {array.dim_range = {n = [8, 8, 1], m = [1, 8, 1]}} {
  %y = array.neg %x : tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}

// Of all sizes from 5 to 12 one is a multiple of 8. Sizes are made of it.
// SHAPES-LABEL: func.func @one_multiple(
// SHAPES:         array.iota axis = 0 : tensor<8xi32>
func.func @one_multiple(%x: tensor<?xf32> {array.dims = ["n"]}) -> tensor<?xi32>
    attributes {array.dim_range = {n = [5, 12, 8]}} {
  %n = array.dim %x, 0 : tensor<?xf32>
  %y = array.iota axis = 0 sizes(%n) : tensor<?xi32>
  return %y : tensor<?xi32>
}

// Two multiples, no upper bound, no name of this one.
// CHECK-LABEL: func.func @several_sizes(
// CHECK-NOT:     tensor.cast
func.func @several_sizes(%x: tensor<?x?x?xf32> {array.dims = ["n", "m", ""]}) -> tensor<?x?x?xf32>
    attributes {array.dim_range = {n = [0, 8, 8], m = [8, -1, 8]}} {
  %y = array.neg %x : tensor<?x?x?xf32>
  return %y : tensor<?x?x?xf32>
}
