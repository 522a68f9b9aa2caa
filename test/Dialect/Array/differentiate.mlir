// RUN: xc-opt %s -split-input-file -pass-pipeline='builtin.module(xc-array-differentiate{function=f},canonicalize,cse)' | FileCheck %s
// RUN: xc-opt %s -split-input-file -pass-pipeline='builtin.module(xc-array-differentiate{function=f arguments=w},canonicalize,cse)' | FileCheck %s --check-prefix=ONE

// What flows back adds up; names say whose cotangents they are.
// CHECK-LABEL: func.func @f(
// CHECK-LABEL: func.func @f_vjp(
// CHECK-SAME:    %[[X:.*]]: tensor<4x3xf32>, %[[W:.*]]: tensor<3xf32> {array.name = "w"}, %[[N:.*]]: tensor<4xi32>,
// CHECK-SAME:    %[[D:.*]]: tensor<4x3xf32> {array.name = "d_y"}, %[[E:.*]]: tensor<3xf32> {array.name = "d_output2"}
// CHECK-SAME:    -> (tensor<4x3xf32> {array.name = "d_input0"}, tensor<3xf32> {array.name = "d_w"})
// CHECK-DAG:     %[[DX:.*]] = array.mul %[[D]], %[[W]]
// CHECK-DAG:     %[[P:.*]] = array.mul %[[D]], %[[X]]
// CHECK-DAG:     %[[S:.*]] = array.reduce sum, %[[P]] axes = [0]
// CHECK-DAG:     %[[DW:.*]] = array.add %{{.*}}, %{{.*}} : tensor<3xf32>
// CHECK:         return %[[DX]], %[[DW]]

// To one input only what it needs is computed.
// ONE-LABEL: func.func @f_vjp(
// ONE-SAME:    -> (tensor<3xf32> {array.name = "d_w"})
// ONE:         array.mul
// ONE-NOT:     array.mul
// ONE:         return
func.func @f(%x: tensor<4x3xf32>, %w: tensor<3xf32> {array.name = "w"}, %n: tensor<4xi32>)
    -> (tensor<4x3xf32> {array.name = "y"}, tensor<4xi32>, tensor<3xf32>) {
  %y = array.mul %x, %w : (tensor<4x3xf32>, tensor<3xf32>) -> tensor<4x3xf32>
  return %y, %n, %w : tensor<4x3xf32>, tensor<4xi32>, tensor<3xf32>
}

// -----

// An input that no result depends on has zeros; ops without a gradient beside the way are no matter.
// CHECK-LABEL: func.func @f_vjp(
// CHECK:         %[[Z:.*]] = array.{{constant|broadcast_in_dim}}{{.*}}tensor<2xf32>
// CHECK:         return %{{.*}}, %[[Z]]
func.func @f(%x: tensor<4xf32>, %w: tensor<2xf32> {array.name = "w"}) -> (tensor<4xf32>, tensor<4xf32>) {
  %c = array.constant dense<1.0> : tensor<4xf32>
  %u = array.nextafter %c, %c : tensor<4xf32>
  %y = array.mul %x, %u : tensor<4xf32>
  return %y, %u : tensor<4xf32>, tensor<4xf32>
}

// -----

// An added mask of attention: the op for gradients has one for it where somebody asks for that.
// CHECK-LABEL: func.func @f_vjp(
// CHECK:         array.attention_gradient %{{.*}} mask(%{{.*}} : tensor<5x7xf32>) to_mask scale = 5.000000e-01
// ONE-LABEL: func.func @f_vjp(
// ONE:         array.attention_gradient %{{.*}} mask(%{{.*}} : tensor<5x7xf32>) scale = 5.000000e-01
func.func @f(%q: tensor<2x5x8xf16> {array.name = "w"}, %k: tensor<2x7x8xf16>, %m: tensor<5x7xf32>) -> tensor<2x5x8xf16> {
  %y = array.attention %q, %k, %k mask(%m : tensor<5x7xf32>) scale = 0.5 : (tensor<2x5x8xf16>, tensor<2x7x8xf16>, tensor<2x7x8xf16>) -> tensor<2x5x8xf16>
  return %y : tensor<2x5x8xf16>
}
