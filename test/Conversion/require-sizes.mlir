// RUN: xc-opt %s -xc-convert-array-to-linalg -split-input-file -verify-diagnostics | FileCheck %s

// What a slice has to be for the operand that it is added to, as a formula that no fold of its type changes.
// CHECK-LABEL: func.func @operands(
// CHECK-SAME:    %[[X:.*]]: tensor<?xf32>
// CHECK-DAG:     %[[FOUR:.*]] = arith.constant 4 : index
// CHECK-DAG:     %[[N:.*]] = tensor.dim %[[X]], %{{.*}}
// CHECK:         %[[LEFT:.*]] = affine.apply {{.*}}%[[N]]
// CHECK:         plan.require %[[LEFT]] equal %[[FOUR]], "expected operands that agree in a dim: tensor<?xf32> and tensor<4xf32>"
func.func @operands(%x: tensor<?xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %s = array.slice %x [2:] : tensor<?xf32> -> tensor<?xf32>
  %z = array.add %s, %y : (tensor<?xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %z : tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @cast(
// CHECK:         plan.require %{{.*}} equal %{{.*}}, "expected dim 0 of tensor<?xf32> to be that of tensor<4xf32>"
func.func @cast(%x: tensor<?xf32>) -> tensor<4xf32> {
  %s = array.slice %x [2:] : tensor<?xf32> -> tensor<?xf32>
  %c = tensor.cast %s : tensor<?xf32> to tensor<4xf32>
  return %c : tensor<4xf32>
}

// -----

// What two formulas require of each other is not forgotten, and is said later.
// CHECK-LABEL: func.func @left_alone(
// CHECK-NOT:     equal
func.func @left_alone(%x: tensor<?xf32>, %y: tensor<?xf32>, %z: tensor<4xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %s = array.add %x, %y : tensor<?xf32>
  %c = tensor.cast %z : tensor<4xf32> to tensor<?xf32>
  return %s, %c : tensor<?xf32>, tensor<?xf32>
}

// -----

func.func @refuted(%x: tensor<?xf32> {array.dims = ["n"]}) -> tensor<4xf32> attributes {array.dim_range = {n = [8, 16, 1]}} {
  // expected-error @+1 {{expected dim 0 of tensor<?xf32> to be that of tensor<4xf32>, got 8 to 16 and 4 by the ranges of the function's dims}}
  %c = tensor.cast %x : tensor<?xf32> to tensor<4xf32>
  return %c : tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @source_of_windows(
// CHECK:         plan.require %{{.*}} equal %{{.*}}, "array.select_and_scatter: expected dim 0 of the source to be the positions of the window along that of the operand"
// CHECK:         plan.require %{{.*}} equal %{{.*}}, "array.select_and_scatter: expected dim 1 of the source to be the positions of the window along that of the operand"
func.func @source_of_windows(%x: tensor<?x?xf32>, %s: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %dx = array.select_and_scatter max, %x, %s window = [1, 2] strides = [1, 2] : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  return %dx : tensor<?x?xf32>
}

// -----

// Where the type of a result says more than those of its operands, code that reads at positions of the result must stay inside.
// CHECK-LABEL: func.func @result_says_more(
// CHECK:         plan.require %{{.*}} equal %{{.*}}, "array.reverse: expected dim 0 of the result to be that of tensor<4xf32>"
// CHECK:         plan.require %{{.*}} equal %{{.*}}, "array.take: expected dim 1 of the result to be that of tensor<3x8xf32>"
// CHECK:         plan.require %{{.*}} equal %{{.*}}, "array.gather: expected dim 1 of the result to be that of tensor<3x8xf32>"
func.func @result_says_more(%x: tensor<?xf32>, %y: tensor<9x?xf32>, %i: tensor<3xi32>, %j: tensor<3x1xi32>) -> (tensor<4xf32>, tensor<3x8xf32>, tensor<3x8xf32>) {
  %r = array.reverse %x axes = [0] : tensor<?xf32> -> tensor<4xf32>
  %t = array.take %y[%i] axis = 0 : (tensor<9x?xf32>, tensor<3xi32>) -> tensor<3x8xf32>
  %g = array.gather %y[%j] axes = [0] : (tensor<9x?xf32>, tensor<3x1xi32>) -> tensor<3x8xf32>
  return %r, %t, %g : tensor<4xf32>, tensor<3x8xf32>, tensor<3x8xf32>
}
