// RUN: xc-opt %s -split-input-file -xc-array-recognize -canonicalize | FileCheck %s
// RUN: xc-opt %s -split-input-file -xc-array-recognize=mma=false -canonicalize | FileCheck %s --check-prefix=PLAIN

// Gradients of f32 have kernels of matrix instructions, where a target has these.
// CHECK-LABEL: func.func @single(
// CHECK:         array.attention %
// CHECK:         array.attention_gradient %
// CHECK-NOT:     array.dot_general
// PLAIN-LABEL: func.func @single(
// PLAIN-NOT:     array.attention
func.func @single(%q: tensor<4x32x64xf32>, %k: tensor<4x128x64xf32>, %v: tensor<4x128x64xf32>, %g: tensor<4x32x64xf32>) -> (tensor<4x32x64xf32>, tensor<4x32x64xf32>, tensor<4x128x64xf32>, tensor<4x128x64xf32>) {
  %s = array.dot_general %q, %k batch = [0] x [0] contract = [2] x [2] : (tensor<4x32x64xf32>, tensor<4x128x64xf32>) -> tensor<4x32x128xf32>
  %p = array.softmax %s axis = 2 : tensor<4x32x128xf32>
  %y = array.dot_general %p, %v batch = [0] x [0] contract = [2] x [1] : (tensor<4x32x128xf32>, tensor<4x128x64xf32>) -> tensor<4x32x64xf32>
  %dv = array.dot_general %p, %g batch = [0] x [0] contract = [1] x [1] : (tensor<4x32x128xf32>, tensor<4x32x64xf32>) -> tensor<4x128x64xf32>
  %dp = array.dot_general %g, %v batch = [0] x [0] contract = [2] x [2] : (tensor<4x32x64xf32>, tensor<4x128x64xf32>) -> tensor<4x32x128xf32>
  %pg = array.mul %p, %dp : tensor<4x32x128xf32>
  %sum = array.reduce sum, %pg axes = [2] keepdims : tensor<4x32x128xf32> -> tensor<4x32x1xf32>
  %rest = array.sub %dp, %sum : (tensor<4x32x128xf32>, tensor<4x32x1xf32>) -> tensor<4x32x128xf32>
  %ds = array.mul %p, %rest : tensor<4x32x128xf32>
  %dq = array.dot_general %ds, %k batch = [0] x [0] contract = [2] x [1] : (tensor<4x32x128xf32>, tensor<4x128x64xf32>) -> tensor<4x32x64xf32>
  %dk = array.dot_general %ds, %q batch = [0] x [0] contract = [1] x [1] : (tensor<4x32x128xf32>, tensor<4x32x64xf32>) -> tensor<4x128x64xf32>
  return %y, %dq, %dk, %dv : tensor<4x32x64xf32>, tensor<4x32x64xf32>, tensor<4x128x64xf32>, tensor<4x128x64xf32>
}

// -----

// What is recognized of 16-bit floats is the same for all targets.
// PLAIN-LABEL: func.func @half(
// PLAIN:         array.attention %
// PLAIN:         array.attention_gradient %
func.func @half(%q: tensor<4x32x64xf16>, %k: tensor<4x128x64xf16>, %v: tensor<4x128x64xf16>, %g: tensor<4x32x64xf16>) -> (tensor<4x32x64xf16>, tensor<4x32x64xf16>, tensor<4x128x64xf16>, tensor<4x128x64xf16>) {
  %s = array.dot_general %q, %k batch = [0] x [0] contract = [2] x [2] : (tensor<4x32x64xf16>, tensor<4x128x64xf16>) -> tensor<4x32x128xf16>
  %p = array.softmax %s axis = 2 : tensor<4x32x128xf16>
  %y = array.dot_general %p, %v batch = [0] x [0] contract = [2] x [1] : (tensor<4x32x128xf16>, tensor<4x128x64xf16>) -> tensor<4x32x64xf16>
  %dv = array.dot_general %p, %g batch = [0] x [0] contract = [1] x [1] : (tensor<4x32x128xf16>, tensor<4x32x64xf16>) -> tensor<4x128x64xf16>
  %dp = array.dot_general %g, %v batch = [0] x [0] contract = [2] x [2] : (tensor<4x32x64xf16>, tensor<4x128x64xf16>) -> tensor<4x32x128xf16>
  %pg = array.mul %p, %dp : tensor<4x32x128xf16>
  %sum = array.reduce sum, %pg axes = [2] keepdims : tensor<4x32x128xf16> -> tensor<4x32x1xf16>
  %rest = array.sub %dp, %sum : (tensor<4x32x128xf16>, tensor<4x32x1xf16>) -> tensor<4x32x128xf16>
  %ds = array.mul %p, %rest : tensor<4x32x128xf16>
  %dq = array.dot_general %ds, %k batch = [0] x [0] contract = [2] x [1] : (tensor<4x32x128xf16>, tensor<4x128x64xf16>) -> tensor<4x32x64xf16>
  %dk = array.dot_general %ds, %q batch = [0] x [0] contract = [1] x [1] : (tensor<4x32x128xf16>, tensor<4x32x64xf16>) -> tensor<4x128x64xf16>
  return %y, %dq, %dk, %dv : tensor<4x32x64xf16>, tensor<4x32x64xf16>, tensor<4x128x64xf16>, tensor<4x128x64xf16>
}

// -----

// No kernel takes such vectors of f32.
// CHECK-LABEL: func.func @wide(
// CHECK-NOT:     array.attention
func.func @wide(%q: tensor<4x32x264xf32>, %k: tensor<4x128x264xf32>, %v: tensor<4x128x264xf32>, %g: tensor<4x32x264xf32>) -> (tensor<4x32x264xf32>, tensor<4x32x264xf32>, tensor<4x128x264xf32>, tensor<4x128x264xf32>) {
  %s = array.dot_general %q, %k batch = [0] x [0] contract = [2] x [2] : (tensor<4x32x264xf32>, tensor<4x128x264xf32>) -> tensor<4x32x128xf32>
  %p = array.softmax %s axis = 2 : tensor<4x32x128xf32>
  %y = array.dot_general %p, %v batch = [0] x [0] contract = [2] x [1] : (tensor<4x32x128xf32>, tensor<4x128x264xf32>) -> tensor<4x32x264xf32>
  %dv = array.dot_general %p, %g batch = [0] x [0] contract = [1] x [1] : (tensor<4x32x128xf32>, tensor<4x32x264xf32>) -> tensor<4x128x264xf32>
  %dp = array.dot_general %g, %v batch = [0] x [0] contract = [2] x [2] : (tensor<4x32x264xf32>, tensor<4x128x264xf32>) -> tensor<4x32x128xf32>
  %pg = array.mul %p, %dp : tensor<4x32x128xf32>
  %sum = array.reduce sum, %pg axes = [2] keepdims : tensor<4x32x128xf32> -> tensor<4x32x1xf32>
  %rest = array.sub %dp, %sum : (tensor<4x32x128xf32>, tensor<4x32x1xf32>) -> tensor<4x32x128xf32>
  %ds = array.mul %p, %rest : tensor<4x32x128xf32>
  %dq = array.dot_general %ds, %k batch = [0] x [0] contract = [2] x [1] : (tensor<4x32x128xf32>, tensor<4x128x264xf32>) -> tensor<4x32x264xf32>
  %dk = array.dot_general %ds, %q batch = [0] x [0] contract = [1] x [1] : (tensor<4x32x128xf32>, tensor<4x32x264xf32>) -> tensor<4x128x264xf32>
  return %y, %dq, %dk, %dv : tensor<4x32x264xf32>, tensor<4x32x264xf32>, tensor<4x128x264xf32>, tensor<4x128x264xf32>
}
