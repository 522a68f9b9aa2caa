// RUN: xc-opt %s -split-input-file -pass-pipeline='builtin.module(xc-array-differentiate{function=f},canonicalize,cse)' | FileCheck %s

// A region is computed again, and what it yields flows back to what it sees.
// CHECK-LABEL: func.func @f_vjp(
// CHECK-SAME:    %[[X:.*]]: tensor<4xf32>, %[[P:.*]]: tensor<i1>, %[[D:.*]]: tensor<4xf32>
// CHECK:         %[[DX:.*]] = array.if %[[P]] : tensor<i1> -> (tensor<4xf32>) {
// CHECK-NEXT:      %[[E:.*]] = array.exp %[[X]]
// CHECK-NEXT:      %[[G:.*]] = array.mul %[[D]], %[[E]]
// CHECK-NEXT:      array.yield %[[G]]
// CHECK-NEXT:    } else {
// CHECK-NEXT:      array.yield %[[D]]
// CHECK-NEXT:    }
// CHECK-NEXT:    return %[[DX]]
func.func @f(%x: tensor<4xf32>, %p: tensor<i1>) -> tensor<4xf32> {
  %0 = array.if %p : tensor<i1> -> (tensor<4xf32>) {
    %a = array.exp %x : tensor<4xf32>
    array.yield %a : tensor<4xf32>
  } else {
    array.yield %x : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// -----

// The first loop keeps what its iterations begin with, as far as it is needed; the second one reads it from behind.
// CHECK-LABEL: func.func @f_vjp(
// CHECK-SAME:    %[[X:.*]]: tensor<4xf32>, %[[D:.*]]: tensor<4xf32>
// CHECK:         %[[ROOM:.*]] = array.constant dense<0.000000e+00> : tensor<5x4xf32>
// CHECK:         %[[KEPT:.*]]:4 = array.while %{{.*}}, %[[X]], %{{.*}}, %[[ROOM]] :
// CHECK:         body
// CHECK:         ^{{.*}}(%{{.*}}: tensor<i32>, %[[V:.*]]: tensor<4xf32>, %[[ROUND:.*]]: tensor<i64>, %[[ALL:.*]]: tensor<5x4xf32>):
// CHECK:           %[[ONE:.*]] = array.expand_dims %[[V]] axes = [0]
// CHECK:           array.dynamic_update_slice %[[ALL]][%[[ROUND]], %{{.*}}] = %[[ONE]]
// CHECK:         %[[BACK:.*]]:2 = array.while %[[KEPT]]#2, %[[D]] :
// CHECK:         body
// CHECK:         ^{{.*}}(%[[T:.*]]: tensor<i64>, %{{.*}}: tensor<4xf32>):
// CHECK:           %[[LAST:.*]] = array.sub %[[T]], %{{.*}}
// CHECK:           array.dynamic_slice %[[KEPT]]#3[%[[LAST]], %{{.*}}]
// CHECK:           array.cos
// CHECK:           array.yield %[[LAST]]
// CHECK:         return %[[BACK]]#1
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %zero = array.constant dense<0> : tensor<i32>
  %two = array.constant dense<2> : tensor<i32>
  %nine = array.constant dense<9> : tensor<i32>
  %n, %y = array.while %zero, %x : (tensor<i32>, tensor<4xf32>) -> (tensor<i32>, tensor<4xf32>) condition {
  ^bb0(%i: tensor<i32>, %v: tensor<4xf32>):
    %more = array.compare lt, %i, %nine : (tensor<i32>, tensor<i32>) -> tensor<i1>
    array.yield %more : tensor<i1>
  } body {
  ^bb0(%i: tensor<i32>, %v: tensor<4xf32>):
    %next = array.add %i, %two : tensor<i32>
    %w = array.sin %v : tensor<4xf32>
    array.yield %next, %w : tensor<i32>, tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

// -----

// What no iteration changes is not kept of each.
// CHECK-LABEL: func.func @f_vjp(
// CHECK-SAME:    %[[X:.*]]: tensor<4xf32>, %[[S:.*]]: tensor<4xf32>, %[[D:.*]]: tensor<4xf32>
// CHECK:         array.while %{{.*}}, %[[X]], %[[S]], %{{.*}}, %{{.*}} : (tensor<i32>, tensor<4xf32>, tensor<4xf32>, tensor<i64>, tensor<5x4xf32>) ->
// CHECK:         array.while
// CHECK:         body
// CHECK-DAG:       array.mul %{{.*}}, %[[S]]
func.func @f(%x: tensor<4xf32>, %s: tensor<4xf32>) -> tensor<4xf32> {
  %zero = array.constant dense<0> : tensor<i32>
  %one = array.constant dense<1> : tensor<i32>
  %five = array.constant dense<5> : tensor<i32>
  %n, %y, %t = array.while %zero, %x, %s : (tensor<i32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<i32>, tensor<4xf32>, tensor<4xf32>) condition {
  ^bb0(%i: tensor<i32>, %v: tensor<4xf32>, %u: tensor<4xf32>):
    %more = array.compare lt, %i, %five : (tensor<i32>, tensor<i32>) -> tensor<i1>
    array.yield %more : tensor<i1>
  } body {
  ^bb0(%i: tensor<i32>, %v: tensor<4xf32>, %u: tensor<4xf32>):
    %next = array.add %i, %one : tensor<i32>
    %w = array.mul %v, %u : tensor<4xf32>
    array.yield %next, %w, %u : tensor<i32>, tensor<4xf32>, tensor<4xf32>
  }
  return %y : tensor<4xf32>
}
