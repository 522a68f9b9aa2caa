// RUN: xc-opt %s -xc-outline-control -split-input-file -verify-diagnostics | FileCheck %s

// Constants and sizes move in; tensors are captured.
// CHECK-LABEL: func.func private @captures_if0_then(
// CHECK-SAME:    %[[U:.*]]: tensor<?xf32>, %[[X:.*]]: tensor<4xf32>) -> tensor<4xf32>
// CHECK-DAG:     array.constant dense<2.000000e+00> : tensor<f32>
// CHECK-DAG:     array.dim %[[U]], 0 : tensor<?xf32>
// CHECK:         return
// CHECK-LABEL: func.func private @captures_if0_else(
// CHECK:         return %{{.*}} : tensor<4xf32>
// CHECK-LABEL: func.func @captures(
// CHECK-SAME:    %[[P:.*]]: tensor<i1>, %[[X:.*]]: tensor<4xf32>, %[[U:.*]]: tensor<?xf32>)
// CHECK:         %[[Y:.*]] = plan.branch %[[P]] then @captures_if0_then otherwise @captures_if0_else(%[[U]], %[[X]])
// CHECK:         return %[[Y]]
func.func @captures(%p: tensor<i1>, %x: tensor<4xf32>, %u: tensor<?xf32>) -> tensor<4xf32> {
  %two = array.constant dense<2.0> : tensor<f32>
  %n = array.dim %u, 0 : tensor<?xf32>
  %y = array.if %p : tensor<i1> -> (tensor<4xf32>) {
    %count = array.from_index %n : tensor<f32>
    %factor = array.mul %two, %count : tensor<f32>
    %a = array.mul %x, %factor : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    array.yield %a : tensor<4xf32>
  } else {
    array.yield %x : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

// -----

// Also a quotient of sizes, though not every divisor has one.
// CHECK-LABEL: func.func private @quotient_if0_then(
// CHECK:         arith.divui
// CHECK-LABEL: func.func @quotient(
// CHECK:         plan.branch %{{.*}} then @quotient_if0_then otherwise @quotient_if0_else(%{{.*}}, %{{.*}}) : (tensor<i1>, tensor<?x?xf32>, tensor<f32>) -> tensor<f32>
func.func @quotient(%p: tensor<i1>, %x: tensor<f32>, %u: tensor<?x?xf32>) -> tensor<f32> {
  %m = array.dim %u, 0 : tensor<?x?xf32>
  %n = array.dim %u, 1 : tensor<?x?xf32>
  %parts = arith.divui %m, %n : index
  %y = array.if %p : tensor<i1> -> (tensor<f32>) {
    %count = array.from_index %parts : tensor<f32>
    array.yield %count : tensor<f32>
  } else {
    array.yield %x : tensor<f32>
  }
  return %y : tensor<f32>
}

// -----

// A variable that the body assigns becomes a value of the loop; one that it reads is captured.
array.variable @w : tensor<4xf32>
array.variable @rate : tensor<f32>
// CHECK-LABEL: func.func private @train_while0_condition(
// CHECK-SAME:    tensor<i1>, %{{.*}}: tensor<4xf32>, %{{.*}}: tensor<f32>) -> tensor<i1>
// CHECK-LABEL: func.func private @train_while0_body(
// CHECK-SAME:    %[[MORE:.*]]: tensor<i1>, %[[W:.*]]: tensor<4xf32>, %[[RATE:.*]]: tensor<f32>) -> (tensor<i1>, tensor<4xf32>)
// CHECK:         %[[NEXT:.*]] = array.mul %[[W]], %[[RATE]]
// CHECK:         return %[[MORE]], %[[NEXT]]
// CHECK-LABEL: func.func @train(
// CHECK:         %[[OLD:.*]] = array.variable.read @w
// CHECK:         %[[R:.*]] = array.variable.read @rate
// CHECK:         %[[L:.*]]:2 = plan.loop condition @train_while0_condition body @train_while0_body inits(%{{.*}}, %[[OLD]] : tensor<i1>, tensor<4xf32>) captures(%[[R]] : tensor<f32>)
// CHECK:         array.variable.assign @w, %[[L]]#1
func.func @train(%p: tensor<i1>) -> tensor<i1> {
  %q = array.while %p : (tensor<i1>) -> tensor<i1> condition {
  ^bb0(%more: tensor<i1>):
    array.yield %more : tensor<i1>
  } body {
  ^bb0(%more: tensor<i1>):
    %w = array.variable.read @w : tensor<4xf32>
    %rate = array.variable.read @rate : tensor<f32>
    %next = array.mul %w, %rate : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    array.variable.assign @w, %next : tensor<4xf32>
    array.yield %more : tensor<i1>
  }
  return %q : tensor<i1>
}

// -----

// The inner loop is a function of its own before the outer one is.
// CHECK-LABEL: func.func private @nested_while1_body(
// CHECK:         plan.loop condition @nested_while0_condition body @nested_while0_body
// CHECK-LABEL: func.func @nested(
func.func @nested(%p: tensor<i1>) -> tensor<i1> {
  %r = array.while %p : (tensor<i1>) -> tensor<i1> condition {
  ^bb0(%a: tensor<i1>):
    array.yield %a : tensor<i1>
  } body {
  ^bb0(%a: tensor<i1>):
    %s = array.while %a : (tensor<i1>) -> tensor<i1> condition {
    ^bb0(%b: tensor<i1>):
      array.yield %b : tensor<i1>
    } body {
    ^bb0(%b: tensor<i1>):
      %c = array.logical_not %b : tensor<i1>
      array.yield %c : tensor<i1>
    }
    array.yield %s : tensor<i1>
  }
  return %r : tensor<i1>
}

// -----

array.variable @w : tensor<i1>
func.func @condition_with_effects(%p: tensor<i1>) -> tensor<i1> {
  %r = array.while %p : (tensor<i1>) -> tensor<i1> condition {
  ^bb0(%a: tensor<i1>):
    // expected-error @+1 {{'array.variable.assign' op expected a condition that assigns no variable, got an assignment of @w}}
    array.variable.assign @w, %a : tensor<i1>
    array.yield %a : tensor<i1>
  } body {
  ^bb0(%a: tensor<i1>):
    array.yield %a : tensor<i1>
  }
  return %r : tensor<i1>
}

// -----

func.func @calls_itself(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'func.call' op expected a call that can be inlined, got one of @calls_itself, which calls itself}}
  %y = func.call @calls_itself(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
