// RUN: xc-opt %s -xc-array-test-vjp -split-input-file | FileCheck %s

// Each op's own result serves as its cotangent.

// The inverse of a permutation is what sorts it: no scatter.
// CHECK-LABEL: func.func @sort(
// CHECK:         %[[Y:.*]] = array.sort
// CHECK:         %[[ORDER:.*]] = array.argsort %{{.*}} axis = 1 descending : tensor<4x8xf32> -> tensor<4x8xi32>
// CHECK:         %[[RANKS:.*]] = array.argsort %[[ORDER]] axis = 1 : tensor<4x8xi32> -> tensor<4x8xi32>
// CHECK:         %[[G:.*]] = array.take_along_axis %[[Y]][%[[RANKS]]] axis = 1
// CHECK:         return %[[G]]
func.func @sort(%x: tensor<4x8xf32>) {
  %y = array.sort %x axis = 1 descending {vjp} : tensor<4x8xf32> -> tensor<4x8xf32>
  return
}

// -----

// CHECK-LABEL: func.func @topk(
// CHECK:         %[[Y:.*]], %{{.*}} = array.topk
// CHECK:         %[[ORDER:.*]] = array.argsort %{{.*}} axis = 0 : tensor<?xf32> -> tensor<?xi64>
// CHECK:         %[[RANKS:.*]] = array.argsort %[[ORDER]]
// CHECK:         %[[CHOSEN:.*]] = array.compare lt, %[[RANKS]]
// CHECK:         %[[TAKEN:.*]] = array.take_along_axis %[[Y]][%[[RANKS]]]
// CHECK:         array.select %[[CHOSEN]], %[[TAKEN]]
func.func @topk(%x: tensor<?xf32>) {
  %y, %i = array.topk %x k = 2 axis = 0 smallest {vjp} : tensor<?xf32> -> tensor<2xf32>, tensor<2xi32>
  return
}

// -----

// Products leave zeros out, so that nothing is divided by one.
// CHECK-LABEL: func.func @cumprod(
// CHECK:         %[[ZERO:.*]] = array.compare eq, %[[X:.*]], %
// CHECK:         %[[OTHERS:.*]] = array.select %[[ZERO]], %{{.*}}, %[[X]]
// CHECK:         array.cumprod %[[OTHERS]] axis = 0 :
// CHECK:         array.cumsum %{{.*}} axis = 0 reverse : tensor<8xf32>
// CHECK:         array.div %{{.*}}, %[[OTHERS]]
func.func @cumprod(%x: tensor<8xf32>) {
  %y = array.cumprod %x axis = 0 {vjp} : tensor<8xf32> -> tensor<8xf32>
  return
}

// -----

// CHECK-LABEL: func.func @cummax(
// CHECK:         %[[BEFORE:.*]] = array.cummax %[[X:.*]] axis = 1 exclusive
// CHECK:         %[[NEW:.*]] = array.compare gt, %[[X]], %[[BEFORE]]
// CHECK:         %[[WHERE:.*]] = array.select %[[NEW]]
// CHECK:         array.cummax %[[WHERE]] axis = 1 : tensor<?x8xi64>
// CHECK:         array.scatter add
func.func @cummax(%x: tensor<?x8xf32>) {
  %y = array.cummax %x axis = 1 {vjp} : tensor<?x8xf32> -> tensor<?x8xf32>
  return
}

// -----

// CHECK-LABEL: func.func @cummin(
// CHECK:         array.compare lt
// CHECK:         array.cummin %{{.*}} axis = 0 reverse : tensor<8xi64>
func.func @cummin(%x: tensor<8xf32>) {
  %y = array.cummin %x axis = 0 reverse {vjp} : tensor<8xf32> -> tensor<8xf32>
  return
}

// -----

// CHECK-LABEL: func.func @logcumsumexp(
// CHECK-COUNT-2: array.logcumsumexp %{{.*}} axis = 0 reverse
// CHECK:         array.sub
func.func @logcumsumexp(%x: tensor<8xf32>) {
  %y = array.logcumsumexp %x axis = 0 {vjp} : tensor<8xf32> -> tensor<8xf32>
  return
}

// -----

// CHECK-LABEL: func.func @take_along_axis(
// CHECK:         array.clamp
// CHECK:         array.concatenate %{{.*}}, %{{.*}} axis = 2 : (tensor<4x3x1xi64>, tensor<4x3x1xi64>) -> tensor<4x3x2xi64>
// CHECK:         array.scatter add
func.func @take_along_axis(%x: tensor<4x8xf32>, %i: tensor<4x3xi32>) {
  %y = array.take_along_axis %x[%i] axis = 1 {vjp} : (tensor<4x8xf32>, tensor<4x3xi32>) -> tensor<4x3xf32>
  return
}

// -----

// CHECK-LABEL: func.func @dynamic_slice(
// CHECK:         %[[Y:.*]] = array.dynamic_slice %{{.*}}[%[[I:.*]]]
// CHECK:         array.dynamic_update_slice %{{.*}}[%[[I]]] = %[[Y]]
func.func @dynamic_slice(%x: tensor<8xf32>, %i: tensor<i32>) {
  %y = array.dynamic_slice %x[%i] {vjp} : (tensor<8xf32>, tensor<i32>) -> tensor<3xf32>
  return
}

// -----

// CHECK-LABEL: func.func @dynamic_update_slice(
// CHECK:         %[[Y:.*]] = array.dynamic_update_slice %{{.*}}[%[[I:.*]]] =
// CHECK:         %[[KEPT:.*]] = array.dynamic_update_slice %[[Y]][%[[I]]] =
// CHECK:         %[[UPDATE:.*]] = array.dynamic_slice %[[Y]][%[[I]]]
// CHECK:         return %[[KEPT]], %[[UPDATE]]
func.func @dynamic_update_slice(%x: tensor<8xf32>, %u: tensor<3xf32>, %i: tensor<i32>) {
  %y = array.dynamic_update_slice %x[%i] = %u {vjp} : (tensor<8xf32>, tensor<3xf32>, tensor<i32>) -> tensor<8xf32>
  return
}

// -----

// Sizes that are not known: boxes, at positions that are.
// CHECK-LABEL: func.func @concatenate(
// CHECK:         array.dynamic_slice
// CHECK:         array.from_index
// CHECK:         array.dynamic_slice
func.func @concatenate(%x: tensor<?xf32>, %z: tensor<?xf32>) {
  %y = array.concatenate %x, %z axis = 0 {vjp} : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return
}

// -----

// CHECK-LABEL: func.func @slice(
// CHECK:         array.dynamic_update_slice
func.func @slice(%x: tensor<?xf32>) {
  %y = array.slice %x [1:3] {vjp} : tensor<?xf32> -> tensor<2xf32>
  return
}

// -----

// Nothing flows through a step.
// CHECK-LABEL: func.func @floor(
// CHECK:         return{{$}}
func.func @floor(%x: tensor<4xf32>) {
  %y = array.floor %x {vjp} : tensor<4xf32>
  return
}

// -----

// CHECK-LABEL: func.func @dot_general(
// CHECK-SAME:    %[[A:.*]]: tensor<3x4x2x5xf32>, %[[B:.*]]: tensor<5x2x3x6xf32>
// CHECK:         %[[Y:.*]] = array.dot_general
// CHECK:         %[[L:.*]] = array.dot_general %[[Y]], %[[B]] batch = [0] x [2] contract = [2] x [3]
// CHECK-SAME:      -> tensor<3x4x5x2xf32>
// CHECK:         array.transpose %[[L]] permutation = [0, 1, 3, 2]
// CHECK:         %[[R:.*]] = array.dot_general %[[Y]], %[[A]] batch = [0] x [0] contract = [1] x [1]
// CHECK-SAME:      -> tensor<3x6x2x5xf32>
// CHECK:         array.transpose %[[R]] permutation = [3, 2, 0, 1]
func.func @dot_general(%a: tensor<3x4x2x5xf32>, %b: tensor<5x2x3x6xf32>) {
  %y = array.dot_general %a, %b batch = [0] x [2] contract = [2, 3] x [1, 0] {vjp}
     : (tensor<3x4x2x5xf32>, tensor<5x2x3x6xf32>) -> tensor<3x4x6xf32>
  return
}
