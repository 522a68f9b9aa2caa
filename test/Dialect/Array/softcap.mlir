// RUN: xc-opt %s -split-input-file -xc-array-recognize -canonicalize | FileCheck %s
// RUN: xc-opt %s -split-input-file -xc-array-recognize -xc-array-keep-attention | FileCheck %s --check-prefix=KEEP
// RUN: xc-opt %s -split-input-file -xc-array-recognize -xc-array-decompose | FileCheck %s --check-prefix=STEPS

// Scores divided by what they are limited to, a tangent, multiplied; in f32, in front of a mask. The scales of all of it are one.
// CHECK-LABEL: func.func @gemma
// CHECK-SAME:    %[[Q:.*]]: tensor<2x4x64x16xbf16>, %[[K:.*]]: tensor<2x4x96x16xbf16>, %[[V:.*]]: tensor<2x4x96x16xbf16>
// CHECK:         array.attention %[[Q]], %[[K]], %[[V]] mask(%{{.*}} : tensor<1x1x64x96xf32>) softcap = 5.000000e+01 scale = 1.250000e-01
// KEEP-LABEL: func.func @gemma
// KEEP:         array.attention %{{.*}} softcap = 5.000000e+01 scale = 1.250000e-01 {array.whole}
// STEPS-LABEL: func.func @gemma
// STEPS:         %[[TENTH:.*]] = array.constant dense<2.500000e-03>
// STEPS:         %[[S:.*]] = array.mul %{{.*}}, %[[TENTH]]
// STEPS:         %[[T:.*]] = array.tanh %[[S]]
// STEPS:         %[[CAP:.*]] = array.constant dense<5.000000e+01>
// STEPS:         %[[C:.*]] = array.mul %[[T]], %[[CAP]]
// STEPS:         array.add %[[C]], %{{.*}}
func.func @gemma(%q: tensor<2x4x64x16xbf16>, %k: tensor<2x4x96x16xbf16>, %v: tensor<2x4x96x16xbf16>, %mask: tensor<64x96xf32>) -> tensor<2x4x64x16xbf16> {
  %scale = array.constant dense<0.125> : tensor<f32>
  %cap = array.constant dense<50.0> : tensor<f32>
  %p = array.matmul %q, %k transpose_b : (tensor<2x4x64x16xbf16>, tensor<2x4x96x16xbf16>) -> tensor<2x4x64x96xbf16>
  %s = array.convert %p : tensor<2x4x64x96xbf16> -> tensor<2x4x64x96xf32>
  %a = array.mul %s, %scale : (tensor<2x4x64x96xf32>, tensor<f32>) -> tensor<2x4x64x96xf32>
  %b = array.div %a, %cap : (tensor<2x4x64x96xf32>, tensor<f32>) -> tensor<2x4x64x96xf32>
  %t = array.tanh %b : tensor<2x4x64x96xf32>
  %c = array.mul %cap, %t : (tensor<f32>, tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
  %m = array.add %c, %mask : (tensor<2x4x64x96xf32>, tensor<64x96xf32>) -> tensor<2x4x64x96xf32>
  %w = array.softmax %m axis = 3 : tensor<2x4x64x96xf32>
  %n = array.convert %w : tensor<2x4x64x96xf32> -> tensor<2x4x64x96xbf16>
  %y = array.matmul %n, %v : (tensor<2x4x64x96xbf16>, tensor<2x4x96x16xbf16>) -> tensor<2x4x64x16xbf16>
  return %y : tensor<2x4x64x16xbf16>
}

// -----

// Not what is masked before, what is turned over, or what is limited twice.
// CHECK-LABEL: func.func @masked_before
// CHECK-NOT:     array.attention
func.func @masked_before(%q: tensor<4x32x64xf32>, %k: tensor<4x128x64xf32>, %mask: tensor<32x128xf32>) -> tensor<4x32x64xf32> {
  %s = array.matmul %q, %k transpose_b : (tensor<4x32x64xf32>, tensor<4x128x64xf32>) -> tensor<4x32x128xf32>
  %m = array.add %s, %mask : (tensor<4x32x128xf32>, tensor<32x128xf32>) -> tensor<4x32x128xf32>
  %t = array.tanh %m : tensor<4x32x128xf32>
  %w = array.softmax %t axis = 2 : tensor<4x32x128xf32>
  %y = array.matmul %w, %k : (tensor<4x32x128xf32>, tensor<4x128x64xf32>) -> tensor<4x32x64xf32>
  return %y : tensor<4x32x64xf32>
}
// CHECK-LABEL: func.func @negative
// CHECK-NOT:     array.attention
func.func @negative(%q: tensor<4x32x64xf32>, %k: tensor<4x128x64xf32>) -> tensor<4x32x64xf32> {
  %cap = array.constant dense<-50.0> : tensor<f32>
  %s = array.matmul %q, %k transpose_b : (tensor<4x32x64xf32>, tensor<4x128x64xf32>) -> tensor<4x32x128xf32>
  %t = array.tanh %s : tensor<4x32x128xf32>
  %c = array.mul %t, %cap : (tensor<4x32x128xf32>, tensor<f32>) -> tensor<4x32x128xf32>
  %w = array.softmax %c axis = 2 : tensor<4x32x128xf32>
  %y = array.matmul %w, %k : (tensor<4x32x128xf32>, tensor<4x128x64xf32>) -> tensor<4x32x64xf32>
  return %y : tensor<4x32x64xf32>
}
// CHECK-LABEL: func.func @twice
// CHECK-NOT:     array.attention
func.func @twice(%q: tensor<4x32x64xf32>, %k: tensor<4x128x64xf32>) -> tensor<4x32x64xf32> {
  %s = array.matmul %q, %k transpose_b : (tensor<4x32x64xf32>, tensor<4x128x64xf32>) -> tensor<4x32x128xf32>
  %t = array.tanh %s : tensor<4x32x128xf32>
  %u = array.tanh %t : tensor<4x32x128xf32>
  %w = array.softmax %u axis = 2 : tensor<4x32x128xf32>
  %y = array.matmul %w, %k : (tensor<4x32x128xf32>, tensor<4x128x64xf32>) -> tensor<4x32x64xf32>
  return %y : tensor<4x32x64xf32>
}
