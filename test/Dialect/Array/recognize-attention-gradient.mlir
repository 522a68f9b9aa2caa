// RUN: xc-opt %s -split-input-file -xc-array-recognize -canonicalize | FileCheck %s

// As JAX prints it for heads behind positions: a softmax by its parts, whose gradient is that of a quotient; products in the order
// that einsum gives; a mask by positions, where the gradient is 0, too.
// CHECK: array.recognized = {"causal mask" = 2 : i64, "gradient of a softmax" = 1 : i64, "gradient of attention" = 1 : i64
// CHECK-LABEL: func.func @causal
// CHECK-SAME:    %[[Q:.*]]: tensor<2x128x4x64xbf16>, %[[K:.*]]: tensor<2x128x4x64xbf16>, %[[V:.*]]: tensor<2x128x4x64xbf16>, %[[G:.*]]: tensor<2x128x4x64xbf16>
// CHECK-DAG:     %[[TQ:.*]] = array.transpose %[[Q]] permutation = [0, 2, 1, 3]
// CHECK-DAG:     %[[TK:.*]] = array.transpose %[[K]] permutation = [0, 2, 1, 3]
// CHECK-DAG:     %[[TV:.*]] = array.transpose %[[V]] permutation = [0, 2, 1, 3]
// CHECK:         %[[Y:.*]] = array.attention %[[TQ]], %[[TK]], %[[TV]] causal scale = 1.250000e-01
// CHECK-DAG:     %[[TG:.*]] = array.transpose %{{.*}} permutation = [0, 2, 1, 3]
// CHECK:         %[[DQ:.*]], %[[DK:.*]], %[[DV:.*]] = array.attention_gradient %[[TQ]], %[[TK]], %[[TV]], %{{.*}} causal scale = 1.250000e-01
// CHECK-NOT:     array.dot_general
// CHECK:         return
func.func @causal(%q: tensor<2x128x4x64xbf16>, %k: tensor<2x128x4x64xbf16>, %v: tensor<2x128x4x64xbf16>, %g: tensor<2x128x4x64xbf16>)
    -> (tensor<2x4x64x128xbf16>, tensor<2x4x128x64xbf16>, tensor<2x4x128x64xbf16>, tensor<2x4x64x128xbf16>) {
  %scale = array.constant dense<0.125> : tensor<bf16>
  %low = array.constant dense<-1.0e30> : tensor<bf16>
  %zero = array.constant dense<0.0> : tensor<bf16>
  %one = array.constant dense<1.0> : tensor<2x4x128x1xbf16>
  %i = array.iota axis = 0 : tensor<128x128xi32>
  %j = array.iota axis = 1 : tensor<128x128xi32>
  %seen = array.compare ge, %i, %j : (tensor<128x128xi32>, tensor<128x128xi32>) -> tensor<128x128xi1>
  %all = array.broadcast_in_dim %seen axes = [2, 3] : tensor<128x128xi1> -> tensor<2x4x128x128xi1>
  %s = array.dot_general %q, %k batch = [0, 2] x [0, 2] contract = [3] x [3] : (tensor<2x128x4x64xbf16>, tensor<2x128x4x64xbf16>) -> tensor<2x4x128x128xbf16>
  %d = array.mul %s, %scale : (tensor<2x4x128x128xbf16>, tensor<bf16>) -> tensor<2x4x128x128xbf16>
  %h = array.select %all, %d, %low : (tensor<2x4x128x128xi1>, tensor<2x4x128x128xbf16>, tensor<bf16>) -> tensor<2x4x128x128xbf16>
  %m = array.reduce max, %h axes = [3] keepdims : tensor<2x4x128x128xbf16> -> tensor<2x4x128x1xbf16>
  %x = array.sub %h, %m : (tensor<2x4x128x128xbf16>, tensor<2x4x128x1xbf16>) -> tensor<2x4x128x128xbf16>
  %e = array.exp %x : tensor<2x4x128x128xbf16>
  %w = array.convert %e : tensor<2x4x128x128xbf16> -> tensor<2x4x128x128xf32>
  %t = array.reduce sum, %w axes = [3] keepdims : tensor<2x4x128x128xf32> -> tensor<2x4x128x1xf32>
  %u = array.convert %t : tensor<2x4x128x1xf32> -> tensor<2x4x128x1xbf16>
  %p = array.div %e, %u : (tensor<2x4x128x128xbf16>, tensor<2x4x128x1xbf16>) -> tensor<2x4x128x128xbf16>
  %uu = array.mul %u, %u : tensor<2x4x128x1xbf16>
  %r = array.div %one, %uu : tensor<2x4x128x1xbf16>
  %y = array.dot_general %v, %p batch = [0, 2] x [0, 1] contract = [1] x [3] : (tensor<2x128x4x64xbf16>, tensor<2x4x128x128xbf16>) -> tensor<2x4x64x128xbf16>
  %tg = array.transpose %g permutation = [0, 2, 3, 1] : tensor<2x128x4x64xbf16> -> tensor<2x4x64x128xbf16>
  %dp = array.dot_general %tg, %v batch = [0, 1] x [0, 2] contract = [2] x [3] : (tensor<2x4x64x128xbf16>, tensor<2x128x4x64xbf16>) -> tensor<2x4x128x128xbf16>
  %dv = array.dot_general %tg, %p batch = [0, 1] x [0, 1] contract = [3] x [2] : (tensor<2x4x64x128xbf16>, tensor<2x4x128x128xbf16>) -> tensor<2x4x64x128xbf16>
  %a = array.mul %dp, %r : (tensor<2x4x128x128xbf16>, tensor<2x4x128x1xbf16>) -> tensor<2x4x128x128xbf16>
  %b = array.mul %a, %e : tensor<2x4x128x128xbf16>
  %c = array.reduce sum, %b axes = [3] : tensor<2x4x128x128xbf16> -> tensor<2x4x128xbf16>
  %ck = array.reshape %c : tensor<2x4x128xbf16> -> tensor<2x4x128x1xbf16>
  %nc = array.neg %ck : tensor<2x4x128x1xbf16>
  %quotient = array.div %dp, %u : (tensor<2x4x128x128xbf16>, tensor<2x4x128x1xbf16>) -> tensor<2x4x128x128xbf16>
  %once = array.reduce sum, %nc axes = [3] : tensor<2x4x128x1xbf16> -> tensor<2x4x128xbf16>
  %rows = array.broadcast_in_dim %once axes = [0, 1, 2] : tensor<2x4x128xbf16> -> tensor<2x4x128x128xbf16>
  %both = array.add %quotient, %rows : tensor<2x4x128x128xbf16>
  %de = array.mul %both, %e : tensor<2x4x128x128xbf16>
  %cleared = array.select %all, %de, %zero : (tensor<2x4x128x128xi1>, tensor<2x4x128x128xbf16>, tensor<bf16>) -> tensor<2x4x128x128xbf16>
  %ds = array.mul %cleared, %scale : (tensor<2x4x128x128xbf16>, tensor<bf16>) -> tensor<2x4x128x128xbf16>
  %dk = array.dot_general %ds, %q batch = [0, 1] x [0, 2] contract = [2] x [1] : (tensor<2x4x128x128xbf16>, tensor<2x128x4x64xbf16>) -> tensor<2x4x128x64xbf16>
  %dq = array.dot_general %ds, %k batch = [0, 1] x [0, 2] contract = [3] x [1] : (tensor<2x4x128x128xbf16>, tensor<2x128x4x64xbf16>) -> tensor<2x4x128x64xbf16>
  return %y, %dq, %dk, %dv : tensor<2x4x64x128xbf16>, tensor<2x4x128x64xbf16>, tensor<2x4x128x64xbf16>, tensor<2x4x64x128xbf16>
}

// -----

// The softmax's gradient by its result, distributed, in f32; a scale on queries, and behind what they get. Nothing flows to values.
// CHECK-LABEL: func.func @scaled_queries
// CHECK-SAME:    %[[Q:.*]]: tensor<4x32x64xf16>, %[[K:.*]]: tensor<4x128x64xf16>, %[[V:.*]]: tensor<4x128x64xf16>, %[[G:.*]]: tensor<4x32x64xf16>
// CHECK:         %[[Y:.*]] = array.attention %[[Q]], %[[K]], %[[V]] scale = 5.000000e-01
// CHECK:         %[[DQ:.*]], %[[DK:.*]], %{{.*}} = array.attention_gradient %[[Q]], %[[K]], %[[V]], %[[G]] scale = 5.000000e-01
// CHECK:         return %[[Y]], %[[DQ]], %[[DK]]
func.func @scaled_queries(%q: tensor<4x32x64xf16>, %k: tensor<4x128x64xf16>, %v: tensor<4x128x64xf16>, %g: tensor<4x32x64xf16>)
    -> (tensor<4x32x64xf16>, tensor<4x32x64xf16>, tensor<4x128x64xf16>) {
  %half = array.constant dense<0.5> : tensor<f16>
  %a = array.mul %q, %half : (tensor<4x32x64xf16>, tensor<f16>) -> tensor<4x32x64xf16>
  %s = array.matmul %a, %k transpose_b : (tensor<4x32x64xf16>, tensor<4x128x64xf16>) -> tensor<4x32x128xf16>
  %x = array.convert %s : tensor<4x32x128xf16> -> tensor<4x32x128xf32>
  %p = array.softmax %x axis = 2 : tensor<4x32x128xf32>
  %n = array.convert %p : tensor<4x32x128xf32> -> tensor<4x32x128xf16>
  %y = array.matmul %n, %v : (tensor<4x32x128xf16>, tensor<4x128x64xf16>) -> tensor<4x32x64xf16>
  %dp = array.matmul %g, %v transpose_b : (tensor<4x32x64xf16>, tensor<4x128x64xf16>) -> tensor<4x32x128xf16>
  %w = array.convert %dp : tensor<4x32x128xf16> -> tensor<4x32x128xf32>
  %pg = array.mul %p, %w : tensor<4x32x128xf32>
  %sum = array.reduce sum, %pg axes = [2] keepdims : tensor<4x32x128xf32> -> tensor<4x32x1xf32>
  %ps = array.mul %sum, %p : (tensor<4x32x1xf32>, tensor<4x32x128xf32>) -> tensor<4x32x128xf32>
  %d = array.sub %pg, %ps : tensor<4x32x128xf32>
  %ds = array.convert %d : tensor<4x32x128xf32> -> tensor<4x32x128xf16>
  %da = array.matmul %ds, %k : (tensor<4x32x128xf16>, tensor<4x128x64xf16>) -> tensor<4x32x64xf16>
  %dq = array.mul %da, %half : (tensor<4x32x64xf16>, tensor<f16>) -> tensor<4x32x64xf16>
  %dk = array.matmul %ds, %a transpose_a : (tensor<4x32x128xf16>, tensor<4x32x64xf16>) -> tensor<4x128x64xf16>
  return %y, %dq, %dk : tensor<4x32x64xf16>, tensor<4x32x64xf16>, tensor<4x128x64xf16>
}

// -----

// A dim of heads that share keys is summed over with the queries; -infinity hides.
// CHECK-LABEL: func.func @groups
// CHECK:         array.attention_gradient %{{.*}} mask(%{{.*}} : tensor<2x1x1x128xi1>) scale = 1.000000e+00
// CHECK-SAME:      (tensor<2x6x32x64xbf16>, tensor<2x2x128x64xbf16>, tensor<2x2x128x64xbf16>, tensor<2x6x32x64xbf16>)
// CHECK-NOT:     array.dot_general
// CHECK:         return
func.func @groups(%q: tensor<2x32x2x3x64xbf16>, %k: tensor<2x128x2x64xbf16>, %v: tensor<2x128x2x64xbf16>, %seen: tensor<2x128xi1>, %g: tensor<2x2x3x32x64xbf16>)
    -> (tensor<2x2x32x3x64xbf16>, tensor<2x2x128x64xbf16>, tensor<2x2x128x64xbf16>) {
  %low = array.constant dense<0xFF800000> : tensor<f32>
  %s = array.dot_general %q, %k batch = [0, 2] x [0, 2] contract = [4] x [3] : (tensor<2x32x2x3x64xbf16>, tensor<2x128x2x64xbf16>) -> tensor<2x2x32x3x128xf32>
  %all = array.broadcast_in_dim %seen axes = [0, 4] : tensor<2x128xi1> -> tensor<2x2x32x3x128xi1>
  %h = array.select %all, %s, %low : (tensor<2x2x32x3x128xi1>, tensor<2x2x32x3x128xf32>, tensor<f32>) -> tensor<2x2x32x3x128xf32>
  %t = array.transpose %h permutation = [0, 1, 3, 2, 4] : tensor<2x2x32x3x128xf32> -> tensor<2x2x3x32x128xf32>
  %p = array.softmax %t axis = 4 : tensor<2x2x3x32x128xf32>
  %n = array.convert %p : tensor<2x2x3x32x128xf32> -> tensor<2x2x3x32x128xbf16>
  %dp = array.dot_general %g, %v batch = [0, 1] x [0, 2] contract = [4] x [3] : (tensor<2x2x3x32x64xbf16>, tensor<2x128x2x64xbf16>) -> tensor<2x2x3x32x128xf32>
  %dv = array.dot_general %n, %g batch = [0, 1] x [0, 1] contract = [2, 3] x [2, 3] : (tensor<2x2x3x32x128xbf16>, tensor<2x2x3x32x64xbf16>) -> tensor<2x2x128x64xbf16>
  %pg = array.mul %p, %dp : tensor<2x2x3x32x128xf32>
  %sum = array.reduce sum, %pg axes = [4] keepdims : tensor<2x2x3x32x128xf32> -> tensor<2x2x3x32x1xf32>
  %away = array.sub %dp, %sum : (tensor<2x2x3x32x128xf32>, tensor<2x2x3x32x1xf32>) -> tensor<2x2x3x32x128xf32>
  %d = array.mul %p, %away : tensor<2x2x3x32x128xf32>
  %u = array.transpose %d permutation = [0, 1, 3, 2, 4] : tensor<2x2x3x32x128xf32> -> tensor<2x2x32x3x128xf32>
  %ds = array.convert %u : tensor<2x2x32x3x128xf32> -> tensor<2x2x32x3x128xbf16>
  %dq = array.dot_general %ds, %k batch = [0, 1] x [0, 2] contract = [4] x [1] : (tensor<2x2x32x3x128xbf16>, tensor<2x128x2x64xbf16>) -> tensor<2x2x32x3x64xbf16>
  %dk = array.dot_general %ds, %q batch = [0, 1] x [0, 2] contract = [2, 3] x [1, 3] : (tensor<2x2x32x3x128xbf16>, tensor<2x32x2x3x64xbf16>) -> tensor<2x2x128x64xbf16>
  return %dq, %dk, %dv : tensor<2x2x32x3x64xbf16>, tensor<2x2x128x64xbf16>, tensor<2x2x128x64xbf16>
}

// -----

// What queries get, where nobody asks for more: next to this, all that follows differs in one thing.
// CHECK-LABEL: func.func @queries_alone
// CHECK:         array.attention_gradient
// CHECK:         return
func.func @queries_alone(%q: tensor<4x32x64xf16>, %k: tensor<4x128x64xf16>, %v: tensor<4x128x64xf16>, %g: tensor<4x32x64xf16>, %z: tensor<4x32x128xf16>) -> (tensor<4x32x64xf16>) {
  %s = array.matmul %q, %k transpose_b : (tensor<4x32x64xf16>, tensor<4x128x64xf16>) -> tensor<4x32x128xf16>
  %p = array.softmax %s axis = 2 : tensor<4x32x128xf16>
  %dp = array.matmul %g, %v transpose_b : (tensor<4x32x64xf16>, tensor<4x128x64xf16>) -> tensor<4x32x128xf16>
  %pg = array.mul %p, %dp : tensor<4x32x128xf16>
  %sum = array.reduce sum, %pg axes = [2] keepdims : tensor<4x32x128xf16> -> tensor<4x32x1xf16>
  %away = array.sub %dp, %sum : (tensor<4x32x128xf16>, tensor<4x32x1xf16>) -> tensor<4x32x128xf16>
  %ds = array.mul %p, %away : tensor<4x32x128xf16>
  %dq = array.matmul %ds, %k : (tensor<4x32x128xf16>, tensor<4x128x64xf16>) -> tensor<4x32x64xf16>
  return %dq : tensor<4x32x64xf16>
}

// -----

// The sum is not of the cotangents.
// CHECK-LABEL: func.func @other_sum
// CHECK-NOT:     array.attention
// CHECK:         return
func.func @other_sum(%q: tensor<4x32x64xf16>, %k: tensor<4x128x64xf16>, %v: tensor<4x128x64xf16>, %g: tensor<4x32x64xf16>, %z: tensor<4x32x128xf16>) -> (tensor<4x32x64xf16>) {
  %s = array.matmul %q, %k transpose_b : (tensor<4x32x64xf16>, tensor<4x128x64xf16>) -> tensor<4x32x128xf16>
  %p = array.softmax %s axis = 2 : tensor<4x32x128xf16>
  %dp = array.matmul %g, %v transpose_b : (tensor<4x32x64xf16>, tensor<4x128x64xf16>) -> tensor<4x32x128xf16>
  %pg = array.mul %p, %z : tensor<4x32x128xf16>
  %sum = array.reduce sum, %pg axes = [2] keepdims : tensor<4x32x128xf16> -> tensor<4x32x1xf16>
  %away = array.sub %dp, %sum : (tensor<4x32x128xf16>, tensor<4x32x1xf16>) -> tensor<4x32x128xf16>
  %ds = array.mul %p, %away : tensor<4x32x128xf16>
  %dq = array.matmul %ds, %k : (tensor<4x32x128xf16>, tensor<4x128x64xf16>) -> tensor<4x32x64xf16>
  return %dq : tensor<4x32x64xf16>
}

// -----

// Cotangents have been changed on their way.
// CHECK-LABEL: func.func @dropped
// CHECK-NOT:     array.attention
// CHECK:         return
func.func @dropped(%q: tensor<4x32x64xf16>, %k: tensor<4x128x64xf16>, %v: tensor<4x128x64xf16>, %g: tensor<4x32x64xf16>, %z: tensor<4x32x128xf16>) -> (tensor<4x32x64xf16>) {
  %s = array.matmul %q, %k transpose_b : (tensor<4x32x64xf16>, tensor<4x128x64xf16>) -> tensor<4x32x128xf16>
  %p = array.softmax %s axis = 2 : tensor<4x32x128xf16>
  %dp = array.matmul %g, %v transpose_b : (tensor<4x32x64xf16>, tensor<4x128x64xf16>) -> tensor<4x32x128xf16>
  %d = array.mul %dp, %z : tensor<4x32x128xf16>
  %pg = array.mul %p, %d : tensor<4x32x128xf16>
  %sum = array.reduce sum, %pg axes = [2] keepdims : tensor<4x32x128xf16> -> tensor<4x32x1xf16>
  %away = array.sub %d, %sum : (tensor<4x32x128xf16>, tensor<4x32x1xf16>) -> tensor<4x32x128xf16>
  %ds = array.mul %p, %away : tensor<4x32x128xf16>
  %dq = array.matmul %ds, %k : (tensor<4x32x128xf16>, tensor<4x128x64xf16>) -> tensor<4x32x64xf16>
  return %dq : tensor<4x32x64xf16>
}

// -----

// The weights are a result, too.
// CHECK-LABEL: func.func @used
// CHECK-NOT:     array.attention
// CHECK:         return
func.func @used(%q: tensor<4x32x64xf16>, %k: tensor<4x128x64xf16>, %v: tensor<4x128x64xf16>, %g: tensor<4x32x64xf16>, %z: tensor<4x32x128xf16>) -> (tensor<4x32x64xf16>, tensor<4x32x128xf16>) {
  %s = array.matmul %q, %k transpose_b : (tensor<4x32x64xf16>, tensor<4x128x64xf16>) -> tensor<4x32x128xf16>
  %p = array.softmax %s axis = 2 : tensor<4x32x128xf16>
  %dp = array.matmul %g, %v transpose_b : (tensor<4x32x64xf16>, tensor<4x128x64xf16>) -> tensor<4x32x128xf16>
  %pg = array.mul %p, %dp : tensor<4x32x128xf16>
  %sum = array.reduce sum, %pg axes = [2] keepdims : tensor<4x32x128xf16> -> tensor<4x32x1xf16>
  %away = array.sub %dp, %sum : (tensor<4x32x128xf16>, tensor<4x32x1xf16>) -> tensor<4x32x128xf16>
  %ds = array.mul %p, %away : tensor<4x32x128xf16>
  %dq = array.matmul %ds, %k : (tensor<4x32x128xf16>, tensor<4x128x64xf16>) -> tensor<4x32x64xf16>
  return %dq, %p : tensor<4x32x64xf16>, tensor<4x32x128xf16>
}

// -----

// Queries get products with other keys.
// CHECK-LABEL: func.func @other_keys
// CHECK-NOT:     array.attention
// CHECK:         return
func.func @other_keys(%q: tensor<4x32x64xf16>, %k: tensor<4x128x64xf16>, %v: tensor<4x128x64xf16>, %g: tensor<4x32x64xf16>, %z: tensor<4x32x128xf16>) -> (tensor<4x32x64xf16>) {
  %s = array.matmul %q, %k transpose_b : (tensor<4x32x64xf16>, tensor<4x128x64xf16>) -> tensor<4x32x128xf16>
  %p = array.softmax %s axis = 2 : tensor<4x32x128xf16>
  %dp = array.matmul %g, %v transpose_b : (tensor<4x32x64xf16>, tensor<4x128x64xf16>) -> tensor<4x32x128xf16>
  %pg = array.mul %p, %dp : tensor<4x32x128xf16>
  %sum = array.reduce sum, %pg axes = [2] keepdims : tensor<4x32x128xf16> -> tensor<4x32x1xf16>
  %away = array.sub %dp, %sum : (tensor<4x32x128xf16>, tensor<4x32x1xf16>) -> tensor<4x32x128xf16>
  %ds = array.mul %p, %away : tensor<4x32x128xf16>
  %dq = array.matmul %ds, %v : (tensor<4x32x128xf16>, tensor<4x128x64xf16>) -> tensor<4x32x64xf16>
  return %dq : tensor<4x32x64xf16>
}

// -----

// Scores have been scaled, and what they get has not.
// CHECK-LABEL: func.func @unscaled
// CHECK-NOT:     array.attention
// CHECK:         return
func.func @unscaled(%q: tensor<4x32x64xf16>, %k: tensor<4x128x64xf16>, %v: tensor<4x128x64xf16>, %g: tensor<4x32x64xf16>, %z: tensor<4x32x128xf16>) -> (tensor<4x32x64xf16>) {
  %half = array.constant dense<0.5> : tensor<f16>
  %s = array.matmul %q, %k transpose_b : (tensor<4x32x64xf16>, tensor<4x128x64xf16>) -> tensor<4x32x128xf16>
  %x = array.mul %s, %half : (tensor<4x32x128xf16>, tensor<f16>) -> tensor<4x32x128xf16>
  %p = array.softmax %x axis = 2 : tensor<4x32x128xf16>
  %dp = array.matmul %g, %v transpose_b : (tensor<4x32x64xf16>, tensor<4x128x64xf16>) -> tensor<4x32x128xf16>
  %pg = array.mul %p, %dp : tensor<4x32x128xf16>
  %sum = array.reduce sum, %pg axes = [2] keepdims : tensor<4x32x128xf16> -> tensor<4x32x1xf16>
  %away = array.sub %dp, %sum : (tensor<4x32x128xf16>, tensor<4x32x1xf16>) -> tensor<4x32x128xf16>
  %ds = array.mul %p, %away : tensor<4x32x128xf16>
  %dq = array.matmul %ds, %k : (tensor<4x32x128xf16>, tensor<4x128x64xf16>) -> tensor<4x32x64xf16>
  return %dq : tensor<4x32x64xf16>
}

// -----

// There is no kernel for the gradient of f64.
// CHECK-LABEL: func.func @no_kernel
// CHECK-NOT:     array.attention
// CHECK:         return
func.func @no_kernel(%q: tensor<4x32x64xf64>, %k: tensor<4x128x64xf64>, %v: tensor<4x128x64xf64>, %g: tensor<4x32x64xf64>, %z: tensor<4x32x128xf64>) -> (tensor<4x32x64xf64>) {
  %s = array.matmul %q, %k transpose_b : (tensor<4x32x64xf64>, tensor<4x128x64xf64>) -> tensor<4x32x128xf64>
  %p = array.softmax %s axis = 2 : tensor<4x32x128xf64>
  %dp = array.matmul %g, %v transpose_b : (tensor<4x32x64xf64>, tensor<4x128x64xf64>) -> tensor<4x32x128xf64>
  %pg = array.mul %p, %dp : tensor<4x32x128xf64>
  %sum = array.reduce sum, %pg axes = [2] keepdims : tensor<4x32x128xf64> -> tensor<4x32x1xf64>
  %away = array.sub %dp, %sum : (tensor<4x32x128xf64>, tensor<4x32x1xf64>) -> tensor<4x32x128xf64>
  %ds = array.mul %p, %away : tensor<4x32x128xf64>
  %dq = array.matmul %ds, %k : (tensor<4x32x128xf64>, tensor<4x128x64xf64>) -> tensor<4x32x64xf64>
  return %dq : tensor<4x32x64xf64>
}

// -----

// The gradient of a quotient, of a softmax that is no attention: by its weights.
// CHECK-LABEL: func.func @quotient
// CHECK:         %[[P:.*]] = array.softmax %{{.*}} axis = 1
// CHECK:         %[[PG:.*]] = array.mul %[[P]], %[[G:.*]] : tensor<8x16xf32>
// CHECK:         %[[SUM:.*]] = array.reduce sum, %[[PG]] axes = [1] keepdims
// CHECK:         %[[D:.*]] = array.sub %[[G]], %[[SUM]]
// CHECK:         %[[R:.*]] = array.mul %[[P]], %[[D]]
// CHECK:         return %[[P]], %[[R]]
func.func @quotient(%x: tensor<8x16xf32>, %g: tensor<8x16xf32>) -> (tensor<8x16xf32>, tensor<8x16xf32>) {
  %m = array.reduce max, %x axes = [1] keepdims : tensor<8x16xf32> -> tensor<8x1xf32>
  %d = array.sub %x, %m : (tensor<8x16xf32>, tensor<8x1xf32>) -> tensor<8x16xf32>
  %e = array.exp %d : tensor<8x16xf32>
  %s = array.reduce sum, %e axes = [1] keepdims : tensor<8x16xf32> -> tensor<8x1xf32>
  %p = array.div %e, %s : (tensor<8x16xf32>, tensor<8x1xf32>) -> tensor<8x16xf32>
  %r = array.reciprocal %s : tensor<8x1xf32>
  %rr = array.square %r : tensor<8x1xf32>
  %eg = array.mul %e, %g : tensor<8x16xf32>
  %a = array.mul %eg, %rr : (tensor<8x16xf32>, tensor<8x1xf32>) -> tensor<8x16xf32>
  %sum = array.reduce sum, %a axes = [1] keepdims : tensor<8x16xf32> -> tensor<8x1xf32>
  %gs = array.mul %g, %r : (tensor<8x16xf32>, tensor<8x1xf32>) -> tensor<8x16xf32>
  %away = array.sub %gs, %sum : (tensor<8x16xf32>, tensor<8x1xf32>) -> tensor<8x16xf32>
  %dx = array.mul %e, %away : tensor<8x16xf32>
  return %p, %dx : tensor<8x16xf32>, tensor<8x16xf32>
}
