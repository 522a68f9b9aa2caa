// RUN: xc-opt %s -xc-inline-calls -symbol-dce -split-input-file -verify-diagnostics | FileCheck %s --implicit-check-not=call
// RUN: xc-opt %s -xc-inline-calls -split-input-file -verify-diagnostics -mlir-print-debuginfo | FileCheck %s --check-prefix=WHERE
// RUN: xc-opt %s -xc-inline-calls -split-input-file -verify-diagnostics | FileCheck %s --check-prefix=DECLARED

// CHECK-NOT: func.func private
func.func private @first(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = array.exp %x : tensor<4xf32> loc("exp")
  return %0 : tensor<4xf32>
}

func.func private @second(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = func.call @first(%y) : (tensor<4xf32>) -> tensor<4xf32> loc("inner")
  %1 = array.sub %x, %0 : tensor<4xf32>
  return %1, %x : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @chain(
// CHECK-SAME: %[[A:.*]]: tensor<4xf32>, %[[B:.*]]: tensor<4xf32>)
// CHECK-NEXT: %[[EXP:.*]] = array.exp %[[B]]
// CHECK-NEXT: %[[SUB:.*]] = array.sub %[[A]], %[[EXP]]
// CHECK-NEXT: return %[[SUB]], %[[A]]
// WHERE-DAG: #[[EXP:.*]] = loc("exp")
// WHERE-DAG: #[[INNER:.*]] = loc("inner")
// WHERE-DAG: #[[OUTER:.*]] = loc("outer")
// WHERE-DAG: #[[CALL:.*]] = loc(callsite(#[[INNER]] at #[[OUTER]]))
// WHERE-DAG: loc(callsite(#[[EXP]] at #[[CALL]]))
func.func @chain(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0:2 = func.call @second(%a, %b) : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) loc("outer")
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xf32>
}

// Also in regions, and as often as it is called.
// CHECK-LABEL: func.func @region(
// CHECK: array.exp
// CHECK: array.if
// CHECK-NEXT: array.exp
func.func @region(%a: tensor<4xf32>, %p: tensor<i1>) -> tensor<4xf32> {
  %0 = func.call @first(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = array.if %p : tensor<i1> -> (tensor<4xf32>) {
    %2 = func.call @first(%0) : (tensor<4xf32>) -> tensor<4xf32>
    array.yield %2 : tensor<4xf32>
  } else {
    array.yield %a : tensor<4xf32>
  }
  return %1 : tensor<4xf32>
}

// Where a gradient is declared, its function is read though nothing calls it.
// DECLARED-LABEL: func.func private @loss(
// DECLARED-NEXT: array.exp
// DECLARED-NEXT: return
func.func private @loss(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = func.call @first(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

func.func private @loss_vjp(tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>

// -----

func.func @calls_itself(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'calls_itself' calls itself: calls_itself -> calls_itself; recursive calls are not supported}}
  %0 = func.call @calls_itself(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
