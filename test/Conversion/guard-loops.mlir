// RUN: xc-opt %s -xc-guard-loops -split-input-file | FileCheck %s

// Without elements there is no iteration: the initial values are the result.
// CHECK:       #[[SOME_MAP:.*]] = affine_map<()[s0] -> (-(1 floordiv (s0 + 1)) + 1)>
// CHECK-LABEL: func.func @over_rows(
// CHECK-SAME:    %[[X:.*]]: tensor<?x3xf32>)
// CHECK-DAG:     %[[ZERO:.*]] = array.constant dense<0> : tensor<i32>
// CHECK-DAG:     %[[SUM:.*]] = array.constant dense<0.000000e+00> : tensor<3xf32>
// CHECK-NOT:     array.compare lt
// CHECK:         %[[N:.*]] = tensor.dim %[[X]], %{{.*}}
// CHECK:         %[[SOME:.*]] = affine.apply #[[SOME_MAP]]()[%[[N]]]
// CHECK:         %[[NUMBER:.*]] = array.from_index %[[SOME]] : tensor<i64>
// CHECK:         %[[GUARD:.*]] = array.compare gt, %[[NUMBER]], %{{.*}}
// CHECK-NEXT:    %[[R:.*]]:2 = array.if %[[GUARD]]
// CHECK-NEXT:      %[[W:.*]]:2 = array.while %[[ZERO]], %[[SUM]]
// CHECK:             array.take %[[X]]
// CHECK:           array.yield %[[W]]#0, %[[W]]#1
// CHECK:         } else {
// CHECK-NEXT:      array.yield %[[ZERO]], %[[SUM]]
// CHECK:         return %[[R]]#1
func.func @over_rows(%x: tensor<?x3xf32>) -> tensor<3xf32> {
  %size = array.dim %x, 0 : tensor<?x3xf32>
  %n = array.from_index %size : tensor<i32>
  %zero = array.constant dense<0> : tensor<i32>
  %one = array.constant dense<1> : tensor<i32>
  %sum = array.constant dense<0.0> : tensor<3xf32>
  %r:2 = array.while %zero, %sum : (tensor<i32>, tensor<3xf32>) -> (tensor<i32>, tensor<3xf32>) condition {
  ^bb0(%i: tensor<i32>, %s: tensor<3xf32>):
    %p = array.compare lt, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    array.yield %p : tensor<i1>
  } body {
  ^bb0(%i: tensor<i32>, %s: tensor<3xf32>):
    %row = array.take %x[%i] axis = 0 : (tensor<?x3xf32>, tensor<i32>) -> tensor<3xf32>
    %t = array.add %s, %row : tensor<3xf32>
    %j = array.add %i, %one : tensor<i32>
    array.yield %j, %t : tensor<i32>, tensor<3xf32>
  }
  return %r#1 : tensor<3xf32>
}

// -----

// What data decides as well is a conjunction of which sizes make one part false. A value whose size changes is cast.
// CHECK-LABEL: func.func @until_done(
// CHECK:         %[[R:.*]]:2 = array.if
// CHECK:           array.while
// CHECK:         } else {
// CHECK-NEXT:      %[[Y:.*]] = tensor.cast %{{.*}} : tensor<4xf32> to tensor<?xf32>
// CHECK-NEXT:      array.yield %{{.*}}, %[[Y]]
func.func @until_done(%x: tensor<?xf32>, %y: tensor<4xf32>, %done: tensor<i1>) -> tensor<?xf32> {
  %size = array.dim %x, 0 : tensor<?xf32>
  %n = array.from_index %size : tensor<i64>
  %one = array.constant dense<1> : tensor<i64>
  %r:2 = array.while %n, %y : (tensor<i64>, tensor<4xf32>) -> (tensor<i64>, tensor<?xf32>) condition {
  ^bb0(%i: tensor<i64>, %s: tensor<?xf32>):
    %more = array.compare ge, %i, %one : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %p = array.and %more, %done : tensor<i1>
    array.yield %p : tensor<i1>
  } body {
  ^bb0(%i: tensor<i64>, %s: tensor<?xf32>):
    %j = array.sub %i, %one : tensor<i64>
    array.yield %j, %s : tensor<i64>, tensor<?xf32>
  }
  return %r#1 : tensor<?xf32>
}

// -----

// A range that has no 0 leaves an iteration; data decides; of 32 bits, a size need not fit where it is not bounded.
// CHECK-LABEL: func.func @always(
// CHECK-NOT:     {{array.if|affine.apply|tensor.dim}}
func.func @always(%x: tensor<?xf32> {array.dims = ["n"]}, %z: tensor<?xf32>, %most: tensor<i64>) -> (tensor<i64>, tensor<i64>, tensor<i32>)
    attributes {array.dim_range = {n = [1, 64, 1]}} {
  %size = array.dim %x, 0 : tensor<?xf32>
  %n = array.from_index %size : tensor<i64>
  %large = array.dim %z, 0 : tensor<?xf32>
  %m = array.from_index %large : tensor<i32>
  %limit = array.constant dense<100> : tensor<i32>
  %zero = array.constant dense<0> : tensor<i64>
  %one = array.constant dense<1> : tensor<i64>
  %a = array.while %zero : (tensor<i64>) -> (tensor<i64>) condition {
  ^bb0(%i: tensor<i64>):
    %p = array.compare lt, %i, %n : (tensor<i64>, tensor<i64>) -> tensor<i1>
    array.yield %p : tensor<i1>
  } body {
  ^bb0(%i: tensor<i64>):
    %j = array.add %i, %one : tensor<i64>
    array.yield %j : tensor<i64>
  }
  %b = array.while %zero : (tensor<i64>) -> (tensor<i64>) condition {
  ^bb0(%i: tensor<i64>):
    %p = array.compare lt, %i, %most : (tensor<i64>, tensor<i64>) -> tensor<i1>
    array.yield %p : tensor<i1>
  } body {
  ^bb0(%i: tensor<i64>):
    %j = array.add %i, %one : tensor<i64>
    array.yield %j : tensor<i64>
  }
  %c = array.while %m : (tensor<i32>) -> (tensor<i32>) condition {
  ^bb0(%i: tensor<i32>):
    %p = array.compare lt, %i, %limit : (tensor<i32>, tensor<i32>) -> tensor<i1>
    array.yield %p : tensor<i1>
  } body {
  ^bb0(%i: tensor<i32>):
    %j = array.add %i, %i : tensor<i32>
    array.yield %j : tensor<i32>
  }
  return %a, %b, %c : tensor<i64>, tensor<i64>, tensor<i32>
}
