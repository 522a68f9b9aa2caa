// RUN: xc-opt %s -split-input-file -xc-array-recognize -canonicalize | FileCheck %s

// A constant that hides later keys, beside keys and values that are repeated for two query heads each.
// CHECK: array.recognized = {"causal mask" = 1 : i64, movement = 1 : i64, "shared heads" = 1 : i64}
// CHECK-LABEL: func.func @repeated
// CHECK-SAME:    %[[Q:.*]]: tensor<1x4x3x8xf16>, %[[K:.*]]: tensor<1x2x3x8xf16>, %[[V:.*]]: tensor<1x2x3x8xf16>
// CHECK:         array.attention %[[Q]], %[[K]], %[[V]] causal scale = 1.000000e+00
func.func @repeated(%q: tensor<1x4x3x8xf16>, %k: tensor<1x2x3x8xf16>, %v: tensor<1x2x3x8xf16>) -> tensor<1x4x3x8xf16> {
  %mask = array.constant dense<[[[[true, false, false], [true, true, false], [true, true, true]]]]> : tensor<1x1x3x3xi1>
  %e = array.expand_dims %k axes = [2] : tensor<1x2x3x8xf16> -> tensor<1x2x1x3x8xf16>
  %b = array.broadcast_in_dim %e axes = [0, 1, 2, 3, 4] : tensor<1x2x1x3x8xf16> -> tensor<1x2x2x3x8xf16>
  %kk = array.reshape %b : tensor<1x2x2x3x8xf16> -> tensor<1x4x3x8xf16>
  %vv = array.repeat %v repeats = 2 axis = 1 : tensor<1x2x3x8xf16> -> tensor<1x4x3x8xf16>
  %y = array.attention %q, %kk, %vv mask(%mask : tensor<1x1x3x3xi1>) scale = 1.0 : (tensor<1x4x3x8xf16>, tensor<1x4x3x8xf16>, tensor<1x4x3x8xf16>) -> tensor<1x4x3x8xf16>
  return %y : tensor<1x4x3x8xf16>
}

// -----

// A sliding window of positions, and keys that data hides, which stay.
// CHECK-LABEL: func.func @window
// CHECK-SAME:    %[[SEEN:.*]]: tensor<4x1x1x64xi1>
// CHECK:         %[[OFFSET:.*]] = array.constant dense<16> : tensor<i64>
// CHECK:         array.attention %{{.*}} mask(%{{.*}} : tensor<4x1x1x64xi1>) causal window = 8 offset(%[[OFFSET]] : tensor<i64>) scale
func.func @window(%q: tensor<4x2x32x8xf16>, %k: tensor<4x2x64x8xf16>, %seen: tensor<4x1x1x64xi1>) -> tensor<4x2x32x8xf16> {
  %first = array.constant dense<16> : tensor<i64>
  %size = array.constant dense<8> : tensor<i64>
  %i0 = array.iota axis = 0 : tensor<32x1xi64>
  %i = array.add %i0, %first : (tensor<32x1xi64>, tensor<i64>) -> tensor<32x1xi64>
  %j = array.iota axis = 0 : tensor<64xi64>
  %late = array.compare le, %j, %i : (tensor<64xi64>, tensor<32x1xi64>) -> tensor<32x64xi1>
  %begin = array.sub %i, %size : (tensor<32x1xi64>, tensor<i64>) -> tensor<32x1xi64>
  %early = array.compare gt, %j, %begin : (tensor<64xi64>, tensor<32x1xi64>) -> tensor<32x64xi1>
  %both = array.and %late, %early : tensor<32x64xi1>
  %mask = array.and %both, %seen : (tensor<32x64xi1>, tensor<4x1x1x64xi1>) -> tensor<4x1x32x64xi1>
  %y = array.attention %q, %k, %k mask(%mask : tensor<4x1x32x64xi1>) scale = 1.0 : (tensor<4x2x32x8xf16>, tensor<4x2x64x8xf16>, tensor<4x2x64x8xf16>) -> tensor<4x2x32x8xf16>
  return %y : tensor<4x2x32x8xf16>
}

// -----

// Numbers that are added: later keys are hidden, and each query sees the first.
// CHECK-LABEL: func.func @added
// CHECK:         array.attention %{{[^ ]*}}, %{{[^ ]*}}, %{{[^ ]*}} causal scale
// All keys are seen.
// CHECK:         array.attention %{{[^ ]*}}, %{{[^ ]*}}, %{{[^ ]*}} scale
func.func @added(%q: tensor<2x32x8xf16>) -> (tensor<2x32x8xf16>, tensor<2x32x8xf16>) {
  %zero = array.constant dense<0.0> : tensor<f32>
  %low = array.constant dense<-3.0e38> : tensor<f32>
  %i = array.iota axis = 0 : tensor<32x32xi32>
  %j = array.iota axis = 1 : tensor<32x32xi32>
  %late = array.compare gt, %j, %i : (tensor<32x32xi32>, tensor<32x32xi32>) -> tensor<32x32xi1>
  %mask = array.select %late, %low, %zero : (tensor<32x32xi1>, tensor<f32>, tensor<f32>) -> tensor<32x32xf32>
  %y = array.attention %q, %q, %q mask(%mask : tensor<32x32xf32>) scale = 1.0 : (tensor<2x32x8xf16>, tensor<2x32x8xf16>, tensor<2x32x8xf16>) -> tensor<2x32x8xf16>
  %all = array.constant dense<true> : tensor<1x32x32xi1>
  %z = array.attention %q, %q, %q mask(%all : tensor<1x32x32xi1>) scale = 1.0 : (tensor<2x32x8xf16>, tensor<2x32x8xf16>, tensor<2x32x8xf16>) -> tensor<2x32x8xf16>
  return %y, %z : tensor<2x32x8xf16>, tensor<2x32x8xf16>
}

// -----

// Left as they are: a bias that hides nothing, earlier keys hidden, and rows that see nothing by a finite number.
// CHECK-LABEL: func.func @others
// CHECK-NOT:     causal
func.func @others(%q: tensor<2x32x8xf16>, %bias: tensor<32x32xf16>) -> (tensor<2x32x8xf16>, tensor<2x32x8xf16>, tensor<2x32x8xf16>) {
  %zero = array.constant dense<0.0> : tensor<f32>
  %low = array.constant dense<-3.0e38> : tensor<f32>
  %i = array.iota axis = 0 : tensor<32x32xi32>
  %j = array.iota axis = 1 : tensor<32x32xi32>
  %a = array.attention %q, %q, %q mask(%bias : tensor<32x32xf16>) scale = 1.0 : (tensor<2x32x8xf16>, tensor<2x32x8xf16>, tensor<2x32x8xf16>) -> tensor<2x32x8xf16>
  %early = array.compare ge, %j, %i : (tensor<32x32xi32>, tensor<32x32xi32>) -> tensor<32x32xi1>
  %b = array.attention %q, %q, %q mask(%early : tensor<32x32xi1>) scale = 1.0 : (tensor<2x32x8xf16>, tensor<2x32x8xf16>, tensor<2x32x8xf16>) -> tensor<2x32x8xf16>
  %strict = array.compare lt, %j, %i : (tensor<32x32xi32>, tensor<32x32xi32>) -> tensor<32x32xi1>
  %mask = array.select %strict, %zero, %low : (tensor<32x32xi1>, tensor<f32>, tensor<f32>) -> tensor<32x32xf32>
  %c = array.attention %q, %q, %q mask(%mask : tensor<32x32xf32>) scale = 1.0 : (tensor<2x32x8xf16>, tensor<2x32x8xf16>, tensor<2x32x8xf16>) -> tensor<2x32x8xf16>
  return %a, %b, %c : tensor<2x32x8xf16>, tensor<2x32x8xf16>, tensor<2x32x8xf16>
}
