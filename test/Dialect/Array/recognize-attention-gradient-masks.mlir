// RUN: xc-opt %s -split-input-file -xc-array-recognize -canonicalize | FileCheck %s

// What the program sums up for a mask that is added.
// CHECK-LABEL: func.func @bias
// CHECK-SAME:    %[[Q:.*]]: tensor<2x4x32x16xbf16>, %[[K:.*]]: tensor<2x4x128x16xbf16>, %[[V:.*]]: tensor<2x4x128x16xbf16>, %[[G:.*]]: tensor<2x4x32x16xbf16>, %[[B:.*]]: tensor<4x32x128xbf16>
// CHECK:         %[[MASK:.*]] = array.expand_dims %[[B]] axes = [0]
// CHECK:         %[[Y:.*]] = array.attention %[[Q]], %[[K]], %[[V]] mask(%[[MASK]] : tensor<1x4x32x128xbf16>)
// CHECK:         %[[DQ:.*]], %{{.*}}, %[[DV:.*]], %[[DM:.*]] = array.attention_gradient %[[Q]], %[[K]], %[[V]], %[[G]] mask(%[[MASK]] : tensor<1x4x32x128xbf16>) to_mask scale = 1.000000e+00
// CHECK:         %[[DB:.*]] = array.squeeze %[[DM]] axes = [0]
// CHECK:         return %[[Y]], %[[DQ]], %[[DV]], %[[DB]]
func.func @bias(%q: tensor<2x4x32x16xbf16>, %k: tensor<2x4x128x16xbf16>, %v: tensor<2x4x128x16xbf16>, %g: tensor<2x4x32x16xbf16>, %b: tensor<4x32x128xbf16>) -> (tensor<2x4x32x16xbf16>, tensor<2x4x32x16xbf16>, tensor<2x4x128x16xbf16>, tensor<4x32x128xbf16>) {
  %zero = array.constant dense<0.0> : tensor<bf16>
  %s = array.matmul %q, %k transpose_b : (tensor<2x4x32x16xbf16>, tensor<2x4x128x16xbf16>) -> tensor<2x4x32x128xbf16>
  %h = array.add %s, %b : (tensor<2x4x32x128xbf16>, tensor<4x32x128xbf16>) -> tensor<2x4x32x128xbf16>
  %p = array.softmax %h axis = 3 : tensor<2x4x32x128xbf16>
  %y = array.matmul %p, %v : (tensor<2x4x32x128xbf16>, tensor<2x4x128x16xbf16>) -> tensor<2x4x32x16xbf16>
  %dp = array.matmul %g, %v transpose_b : (tensor<2x4x32x16xbf16>, tensor<2x4x128x16xbf16>) -> tensor<2x4x32x128xbf16>
  %dv = array.matmul %p, %g transpose_a : (tensor<2x4x32x128xbf16>, tensor<2x4x32x16xbf16>) -> tensor<2x4x128x16xbf16>
  %pg = array.mul %p, %dp : tensor<2x4x32x128xbf16>
  %sum = array.reduce sum, %pg axes = [3] keepdims : tensor<2x4x32x128xbf16> -> tensor<2x4x32x1xbf16>
  %away = array.sub %dp, %sum : (tensor<2x4x32x128xbf16>, tensor<2x4x32x1xbf16>) -> tensor<2x4x32x128xbf16>
  %m = array.mul %p, %away : tensor<2x4x32x128xbf16>
  %dq = array.matmul %m, %k : (tensor<2x4x32x128xbf16>, tensor<2x4x128x16xbf16>) -> tensor<2x4x32x16xbf16>
  %db = array.reduce sum, %m axes = [0] : tensor<2x4x32x128xbf16> -> tensor<4x32x128xbf16>
  return %y, %dq, %dv, %db : tensor<2x4x32x16xbf16>, tensor<2x4x32x16xbf16>, tensor<2x4x128x16xbf16>, tensor<4x32x128xbf16>
}

// -----

// The sum is over another dim than the one that the mask lacks.
// CHECK-LABEL: func.func @other_sum
// CHECK-NOT:     array.attention
func.func @other_sum(%q: tensor<2x4x32x16xbf16>, %k: tensor<2x4x128x16xbf16>, %v: tensor<2x4x128x16xbf16>, %g: tensor<2x4x32x16xbf16>, %b: tensor<4x32x128xbf16>) -> (tensor<2x4x32x16xbf16>, tensor<2x4x32x16xbf16>, tensor<2x4x128x16xbf16>, tensor<2x32x128xbf16>) {
  %zero = array.constant dense<0.0> : tensor<bf16>
  %s = array.matmul %q, %k transpose_b : (tensor<2x4x32x16xbf16>, tensor<2x4x128x16xbf16>) -> tensor<2x4x32x128xbf16>
  %h = array.add %s, %b : (tensor<2x4x32x128xbf16>, tensor<4x32x128xbf16>) -> tensor<2x4x32x128xbf16>
  %p = array.softmax %h axis = 3 : tensor<2x4x32x128xbf16>
  %y = array.matmul %p, %v : (tensor<2x4x32x128xbf16>, tensor<2x4x128x16xbf16>) -> tensor<2x4x32x16xbf16>
  %dp = array.matmul %g, %v transpose_b : (tensor<2x4x32x16xbf16>, tensor<2x4x128x16xbf16>) -> tensor<2x4x32x128xbf16>
  %dv = array.matmul %p, %g transpose_a : (tensor<2x4x32x128xbf16>, tensor<2x4x32x16xbf16>) -> tensor<2x4x128x16xbf16>
  %pg = array.mul %p, %dp : tensor<2x4x32x128xbf16>
  %sum = array.reduce sum, %pg axes = [3] keepdims : tensor<2x4x32x128xbf16> -> tensor<2x4x32x1xbf16>
  %away = array.sub %dp, %sum : (tensor<2x4x32x128xbf16>, tensor<2x4x32x1xbf16>) -> tensor<2x4x32x128xbf16>
  %m = array.mul %p, %away : tensor<2x4x32x128xbf16>
  %dq = array.matmul %m, %k : (tensor<2x4x32x128xbf16>, tensor<2x4x128x16xbf16>) -> tensor<2x4x32x16xbf16>
  %db = array.reduce sum, %m axes = [1] : tensor<2x4x32x128xbf16> -> tensor<2x32x128xbf16>
  return %y, %dq, %dv, %db : tensor<2x4x32x16xbf16>, tensor<2x4x32x16xbf16>, tensor<2x4x128x16xbf16>, tensor<2x32x128xbf16>
}

// -----

// Data may hide all keys of a query by a finite number: then nothing flows back, but values get their even share.
// CHECK-LABEL: func.func @hidden
// CHECK-SAME:    %[[G:[a-z0-9]+]]: tensor<2x4x32x16xbf16>, %[[SEEN:[a-z0-9]+]]: tensor<2x1x1x128xi1>
// CHECK:         array.attention %{{.*}} mask(%[[MASK:.*]] : tensor<2x1x1x128xf32>)
// CHECK:         %[[ANY:.*]] = array.reduce or, %[[SEEN]] axes = [3] keepdims
// CHECK:         %[[REST:.*]] = array.select %[[ANY]], %{{.*}}, %[[G]] :
// CHECK:         %[[OWN:.*]] = array.select %[[ANY]], %[[G]], %{{.*}} :
// CHECK:         %[[SUM:.*]] = array.reduce sum, %{{.*}} axes = [2] keepdims
// CHECK:         %[[EVEN:.*]] = array.div %[[SUM]]
// CHECK:         %{{.*}}, %{{.*}}, %[[DV:.*]] = array.attention_gradient %{{.*}}, %[[OWN]] mask(%[[MASK]] : tensor<2x1x1x128xf32>)
// CHECK:         array.add %{{.*}}, %[[EVEN]]
func.func @hidden(%q: tensor<2x4x32x16xbf16>, %k: tensor<2x4x128x16xbf16>, %v: tensor<2x4x128x16xbf16>, %g: tensor<2x4x32x16xbf16>, %seen: tensor<2x1x1x128xi1>) -> (tensor<2x4x32x16xbf16>, tensor<2x4x32x16xbf16>, tensor<2x4x128x16xbf16>) {
  %zero = array.constant dense<0.0> : tensor<bf16>
  %s = array.matmul %q, %k transpose_b : (tensor<2x4x32x16xbf16>, tensor<2x4x128x16xbf16>) -> tensor<2x4x32x128xbf16>
  %low = array.constant dense<-1.0e9> : tensor<bf16>
  %h = array.select %seen, %s, %low : (tensor<2x1x1x128xi1>, tensor<2x4x32x128xbf16>, tensor<bf16>) -> tensor<2x4x32x128xbf16>
  %p = array.softmax %h axis = 3 : tensor<2x4x32x128xbf16>
  %y = array.matmul %p, %v : (tensor<2x4x32x128xbf16>, tensor<2x4x128x16xbf16>) -> tensor<2x4x32x16xbf16>
  %dp = array.matmul %g, %v transpose_b : (tensor<2x4x32x16xbf16>, tensor<2x4x128x16xbf16>) -> tensor<2x4x32x128xbf16>
  %dv = array.matmul %p, %g transpose_a : (tensor<2x4x32x128xbf16>, tensor<2x4x32x16xbf16>) -> tensor<2x4x128x16xbf16>
  %pg = array.mul %p, %dp : tensor<2x4x32x128xbf16>
  %sum = array.reduce sum, %pg axes = [3] keepdims : tensor<2x4x32x128xbf16> -> tensor<2x4x32x1xbf16>
  %away = array.sub %dp, %sum : (tensor<2x4x32x128xbf16>, tensor<2x4x32x1xbf16>) -> tensor<2x4x32x128xbf16>
  %m = array.mul %p, %away : tensor<2x4x32x128xbf16>
  %ds = array.select %seen, %m, %zero : (tensor<2x1x1x128xi1>, tensor<2x4x32x128xbf16>, tensor<bf16>) -> tensor<2x4x32x128xbf16>
  %dq = array.matmul %ds, %k : (tensor<2x4x32x128xbf16>, tensor<2x4x128x16xbf16>) -> tensor<2x4x32x16xbf16>
  return %y, %dq, %dv : tensor<2x4x32x16xbf16>, tensor<2x4x32x16xbf16>, tensor<2x4x128x16xbf16>
}

// -----

// Another choice clears what keys get.
// CHECK-LABEL: func.func @cleared_otherwise
// CHECK-NOT:     array.attention
func.func @cleared_otherwise(%q: tensor<2x4x32x16xbf16>, %k: tensor<2x4x128x16xbf16>, %v: tensor<2x4x128x16xbf16>, %g: tensor<2x4x32x16xbf16>, %seen: tensor<2x1x1x128xi1>, %other: tensor<2x1x1x128xi1>) -> (tensor<2x4x32x16xbf16>, tensor<2x4x32x16xbf16>, tensor<2x4x128x16xbf16>) {
  %zero = array.constant dense<0.0> : tensor<bf16>
  %s = array.matmul %q, %k transpose_b : (tensor<2x4x32x16xbf16>, tensor<2x4x128x16xbf16>) -> tensor<2x4x32x128xbf16>
  %low = array.constant dense<-1.0e9> : tensor<bf16>
  %h = array.select %seen, %s, %low : (tensor<2x1x1x128xi1>, tensor<2x4x32x128xbf16>, tensor<bf16>) -> tensor<2x4x32x128xbf16>
  %p = array.softmax %h axis = 3 : tensor<2x4x32x128xbf16>
  %y = array.matmul %p, %v : (tensor<2x4x32x128xbf16>, tensor<2x4x128x16xbf16>) -> tensor<2x4x32x16xbf16>
  %dp = array.matmul %g, %v transpose_b : (tensor<2x4x32x16xbf16>, tensor<2x4x128x16xbf16>) -> tensor<2x4x32x128xbf16>
  %dv = array.matmul %p, %g transpose_a : (tensor<2x4x32x128xbf16>, tensor<2x4x32x16xbf16>) -> tensor<2x4x128x16xbf16>
  %pg = array.mul %p, %dp : tensor<2x4x32x128xbf16>
  %sum = array.reduce sum, %pg axes = [3] keepdims : tensor<2x4x32x128xbf16> -> tensor<2x4x32x1xbf16>
  %away = array.sub %dp, %sum : (tensor<2x4x32x128xbf16>, tensor<2x4x32x1xbf16>) -> tensor<2x4x32x128xbf16>
  %m = array.mul %p, %away : tensor<2x4x32x128xbf16>
  %ds = array.select %other, %m, %zero : (tensor<2x1x1x128xi1>, tensor<2x4x32x128xbf16>, tensor<bf16>) -> tensor<2x4x32x128xbf16>
  %dq = array.matmul %ds, %k : (tensor<2x4x32x128xbf16>, tensor<2x4x128x16xbf16>) -> tensor<2x4x32x16xbf16>
  return %y, %dq, %dv : tensor<2x4x32x16xbf16>, tensor<2x4x32x16xbf16>, tensor<2x4x128x16xbf16>
}

// -----

// Heads that keys share are repeated, and what values get is summed up over them.
// CHECK-LABEL: func.func @repeated
// CHECK-SAME:    %[[Q:.*]]: tensor<2x4x32x16xbf16>, %[[K:.*]]: tensor<2x2x128x16xbf16>, %[[V:.*]]: tensor<2x2x128x16xbf16>, %[[G:.*]]: tensor<2x4x32x16xbf16>)
// CHECK:         %[[Y:.*]] = array.attention %[[Q]], %[[K]], %[[V]] scale
// CHECK:         %[[DQ:.*]], %{{.*}}, %[[DV:.*]] = array.attention_gradient %[[Q]], %[[K]], %[[V]], %[[G]] scale
// CHECK-NEXT:    return %[[Y]], %[[DQ]], %[[DV]]
func.func @repeated(%q: tensor<2x4x32x16xbf16>, %k: tensor<2x2x128x16xbf16>, %v: tensor<2x2x128x16xbf16>, %g: tensor<2x4x32x16xbf16>) -> (tensor<2x4x32x16xbf16>, tensor<2x4x32x16xbf16>, tensor<2x2x128x16xbf16>) {
  %zero = array.constant dense<0.0> : tensor<bf16>
  %kr = array.repeat %k repeats = 2 axis = 1 : tensor<2x2x128x16xbf16> -> tensor<2x4x128x16xbf16>
  %vr = array.repeat %v repeats = 2 axis = 1 : tensor<2x2x128x16xbf16> -> tensor<2x4x128x16xbf16>
  %s = array.matmul %q, %kr transpose_b : (tensor<2x4x32x16xbf16>, tensor<2x4x128x16xbf16>) -> tensor<2x4x32x128xbf16>
  %p = array.softmax %s axis = 3 : tensor<2x4x32x128xbf16>
  %y = array.matmul %p, %vr : (tensor<2x4x32x128xbf16>, tensor<2x4x128x16xbf16>) -> tensor<2x4x32x16xbf16>
  %dp = array.matmul %g, %vr transpose_b : (tensor<2x4x32x16xbf16>, tensor<2x4x128x16xbf16>) -> tensor<2x4x32x128xbf16>
  %dv = array.matmul %p, %g transpose_a : (tensor<2x4x32x128xbf16>, tensor<2x4x32x16xbf16>) -> tensor<2x4x128x16xbf16>
  %pg = array.mul %p, %dp : tensor<2x4x32x128xbf16>
  %sum = array.reduce sum, %pg axes = [3] keepdims : tensor<2x4x32x128xbf16> -> tensor<2x4x32x1xbf16>
  %away = array.sub %dp, %sum : (tensor<2x4x32x128xbf16>, tensor<2x4x32x1xbf16>) -> tensor<2x4x32x128xbf16>
  %m = array.mul %p, %away : tensor<2x4x32x128xbf16>
  %dq = array.matmul %m, %kr : (tensor<2x4x32x128xbf16>, tensor<2x4x128x16xbf16>) -> tensor<2x4x32x16xbf16>
  %dvr = array.reshape %dv : tensor<2x4x128x16xbf16> -> tensor<2x2x2x128x16xbf16>
  %dvs = array.reduce sum, %dvr axes = [2] : tensor<2x2x2x128x16xbf16> -> tensor<2x2x128x16xbf16>
  return %y, %dq, %dvs : tensor<2x4x32x16xbf16>, tensor<2x4x32x16xbf16>, tensor<2x2x128x16xbf16>
}
