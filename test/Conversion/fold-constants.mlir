// RUN: xc-opt %s -xc-fold-constants | FileCheck %s

// CHECK-LABEL: func.func @reads(
// CHECK-DAG:     %[[TAKEN:.*]] = array.constant dense<[30, 10]> : tensor<2xi32>
// CHECK-DAG:     %[[CLAMPED:.*]] = array.constant dense<[20, 30]> : tensor<2xi32>
// CHECK:         return %[[TAKEN]], %[[CLAMPED]]
func.func @reads() -> (tensor<2xi32>, tensor<2xi32>) {
  %table = array.constant dense<[10, 20, 30]> : tensor<3xi32>
  %which = array.constant dense<[2, 0]> : tensor<2xi64>
  %far = array.constant dense<99> : tensor<i32>
  %0 = array.take %table[%which] axis = 0 : (tensor<3xi32>, tensor<2xi64>) -> tensor<2xi32>
  %1 = array.dynamic_slice %table[%far] : (tensor<3xi32>, tensor<i32>) -> tensor<2xi32>
  return %0, %1 : tensor<2xi32>, tensor<2xi32>
}

// Kernel ops are evaluated by their loops.
// CHECK-LABEL: func.func @lines(
// CHECK-DAG:     %[[ORDER:.*]] = array.constant dense<[0, 2, 1]> : tensor<3xi32>
// CHECK-DAG:     %[[SUMS:.*]] = array.constant dense<[10, 40, 60]> : tensor<3xi32>
// CHECK-DAG:     %[[SET:.*]] = array.constant dense<[10, 7, 20]> : tensor<3xi32>
// CHECK:         return %[[ORDER]], %[[SUMS]], %[[SET]]
func.func @lines() -> (tensor<3xi32>, tensor<3xi32>, tensor<3xi32>) {
  %x = array.constant dense<[10, 30, 20]> : tensor<3xi32>
  %at = array.constant dense<[[1], [5]]> : tensor<2x1xi32>
  %new = array.constant dense<[7, 8]> : tensor<2xi32>
  %0 = array.argsort %x axis = 0 : tensor<3xi32> -> tensor<3xi32>
  %1 = array.cumsum %x axis = 0 : tensor<3xi32> -> tensor<3xi32>
  %2 = array.scatter set, %x[%at] axes = [0] = %new : (tensor<3xi32>, tensor<2x1xi32>, tensor<2xi32>) -> tensor<3xi32>
  return %0, %1, %2 : tensor<3xi32>, tensor<3xi32>, tensor<3xi32>
}

// What is stored in another type comes back in its own.
// CHECK-LABEL: func.func @types(
// CHECK-DAG:     %[[NOT:.*]] = array.constant dense<[false, true, true]> : tensor<3xi1>
// CHECK-DAG:     %[[WRAPS:.*]] = array.constant dense<[144, 254, 2]> : tensor<3xui8>
// CHECK-DAG:     %[[ROUNDS:.*]] = array.constant dense<[0x7C00, 3.000000e+00]> : tensor<2xf16>
// CHECK:         return %[[NOT]], %[[WRAPS]], %[[ROUNDS]]
func.func @types() -> (tensor<3xi1>, tensor<3xui8>, tensor<2xf16>) {
  %b = array.constant dense<[true, false, false]> : tensor<3xi1>
  %u = array.constant dense<[200, 255, 1]> : tensor<3xui8>
  %h = array.constant dense<[65504.0, 1.0]> : tensor<2xf16>
  %two = array.constant dense<2.0> : tensor<f16>
  %0 = array.logical_not %b : tensor<3xi1>
  %1 = array.add %u, %u : (tensor<3xui8>, tensor<3xui8>) -> tensor<3xui8>
  %2 = array.fma %h, %two, %h : (tensor<2xf16>, tensor<f16>, tensor<2xf16>) -> tensor<2xf16>
  return %0, %1, %2 : tensor<3xi1>, tensor<3xui8>, tensor<2xf16>
}

// The last bit of a function is the target's, the order of a sum of floats its kernel's; what they are made of is folded.
// CHECK-LABEL: func.func @of_the_target(
// CHECK:         %[[FIRST:.*]] = array.constant dense<[3.000000e+00, 1.000000e+00]> : tensor<2xf32>
// CHECK:         array.exp %[[FIRST]]
// CHECK:         array.reduce sum, %[[FIRST]]
// CHECK:         %[[MAX:.*]] = array.constant dense<3.000000e+00> : tensor<f32>
// CHECK:         return %{{.*}}, %{{.*}}, %[[MAX]]
func.func @of_the_target() -> (tensor<2xf32>, tensor<f32>, tensor<f32>) {
  %x = array.constant dense<[1.0, 3.0]> : tensor<2xf32>
  %r = array.reverse %x axes = [0] : tensor<2xf32> -> tensor<2xf32>
  %0 = array.exp %r : tensor<2xf32>
  %1 = array.reduce sum, %r axes = [0] : tensor<2xf32> -> tensor<f32>
  %2 = array.reduce max, %r axes = [0] : tensor<2xf32> -> tensor<f32>
  return %0, %1, %2 : tensor<2xf32>, tensor<f32>, tensor<f32>
}

// A range costs a kernel nothing; its sum is one number.
// CHECK-LABEL: func.func @ranges(
// CHECK:         %[[RANGE:.*]] = array.iota
// CHECK:         %[[SUM:.*]] = array.constant dense<4950> : tensor<i32>
// CHECK:         return %[[RANGE]], %[[SUM]]
func.func @ranges() -> (tensor<100xi32>, tensor<i32>) {
  %0 = array.iota axis = 0 : tensor<100xi32>
  %1 = array.reduce sum, %0 axes = [0] : tensor<100xi32> -> tensor<i32>
  return %0, %1 : tensor<100xi32>, tensor<i32>
}

// 64 bytes of data would become 4 KiB.
// CHECK-LABEL: func.func @grows(
// CHECK:         array.tile
func.func @grows() -> tensor<1024xi32> {
  %x = array.constant dense<[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]> : tensor<16xi32>
  %0 = array.tile %x repeats = [64] : tensor<16xi32> -> tensor<1024xi32>
  return %0 : tensor<1024xi32>
}

// CHECK-LABEL: func.func @of_an_argument(
// CHECK:         array.add
func.func @of_an_argument(%x: tensor<2xi32>) -> tensor<2xi32> {
  %one = array.constant dense<[1, 2]> : tensor<2xi32>
  %0 = array.add %x, %one : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
  return %0 : tensor<2xi32>
}

// Inside of a loop, from constants outside.
// CHECK-LABEL: func.func @in_a_loop(
// CHECK:         array.while
// CHECK:           %[[LAST:.*]] = array.constant dense<9> : tensor<1xi32>
// CHECK:           array.add %{{.*}}, %[[LAST]]
func.func @in_a_loop(%x: tensor<1xi32>) -> tensor<1xi32> {
  %data = array.constant dense<[3, 9]> : tensor<2xi32>
  %limit = array.constant dense<50> : tensor<i32>
  %0 = array.while %x : (tensor<1xi32>) -> tensor<1xi32> condition {
  ^bb0(%a: tensor<1xi32>):
    %s = array.reshape %a : tensor<1xi32> -> tensor<i32>
    %c = array.compare lt, %s, %limit : (tensor<i32>, tensor<i32>) -> tensor<i1>
    array.yield %c : tensor<i1>
  } body {
  ^bb0(%a: tensor<1xi32>):
    %last = array.slice %data [1:2] : tensor<2xi32> -> tensor<1xi32>
    %n = array.add %a, %last : (tensor<1xi32>, tensor<1xi32>) -> tensor<1xi32>
    array.yield %n : tensor<1xi32>
  }
  return %0 : tensor<1xi32>
}
