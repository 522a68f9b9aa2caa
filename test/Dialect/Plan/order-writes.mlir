// RUN: xc-opt %s -pass-pipeline='builtin.module(builtin.module(func.func(xc-order-writes)))' -split-input-file | FileCheck %s
// RUN: xc-opt %s -pass-pipeline='builtin.module(builtin.module(func.func(xc-order-writes),xc-build-plan))' -split-input-file | FileCheck %s --check-prefix=PLAN --implicit-check-not=plan.copy

// What reads the old weights comes before what writes the new ones there; the others stay where they are.
// CHECK-LABEL: func.func @step
// CHECK:         %[[OLD:.*]] = array.variable.read @w
// CHECK:         plan.dispatch @grow(%{{.*}}, %[[B:.*]] :
// CHECK:         plan.dispatch @use(%[[OLD]] :
// CHECK:         %[[NEW:.*]] = plan.dispatch @grow(%{{.*}}, %[[OLD]] :
// CHECK:         plan.dispatch @use(%{{.*}} :
// CHECK:         array.variable.assign @w, %[[NEW]]
// CHECK:         array.variable.assign @b
// CHECK-NEXT:    return
// PLAN-LABEL: plan.function @step
module {
  module @target attributes {plan.target = #plan.target<"cpu", "x86-64-v3">} {
    array.variable @w : tensor<8xf32>
    array.variable @b : tensor<8xf32>
    func.func @step(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
      %old = array.variable.read @w : tensor<8xf32>
      %bias = array.variable.read @b : tensor<8xf32>
      %new = plan.dispatch @grow(%x, %old : tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>) reuse [1]
      %more = plan.dispatch @grow(%x, %bias : tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>) reuse [1]
      array.variable.assign @w, %new : tensor<8xf32>
      array.variable.assign @b, %more : tensor<8xf32>
      %loss = plan.dispatch @use(%old : tensor<8xf32>) -> (tensor<8xf32>) reuse [-1]
      %rest = plan.dispatch @use(%x : tensor<8xf32>) -> (tensor<8xf32>) reuse [-1]
      return %loss, %rest : tensor<8xf32>, tensor<8xf32>
    }
    module @grow attributes {plan.kernel} {}
    module @use attributes {plan.kernel} {}
  }
}

// -----

// What needs the new value stays behind it, and so does what reads the old one there.
// CHECK-LABEL: func.func @needed
// CHECK:         plan.dispatch @grow
// CHECK:         plan.dispatch @use
// CHECK:         plan.dispatch @grow
// PLAN-LABEL: plan.function @needed
// PLAN:         plan.copy
module {
  module @target attributes {plan.target = #plan.target<"cpu", "x86-64-v3">} {
    array.variable @w : tensor<8xf32>
    func.func @needed(%x: tensor<8xf32>) -> tensor<8xf32> {
      %old = array.variable.read @w : tensor<8xf32>
      %new = plan.dispatch @grow(%x, %old : tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>) reuse [1]
      %y = plan.dispatch @use(%new : tensor<8xf32>) -> (tensor<8xf32>) reuse [-1]
      %z = plan.dispatch @grow(%y, %old : tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>) reuse [-1]
      array.variable.assign @w, %new : tensor<8xf32>
      return %z : tensor<8xf32>
    }
    module @grow attributes {plan.kernel} {}
    module @use attributes {plan.kernel} {}
  }
}
