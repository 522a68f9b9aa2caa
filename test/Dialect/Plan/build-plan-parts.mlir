// RUN: xc-opt %s -pass-pipeline='builtin.module(builtin.module(xc-build-plan))' -split-input-file | FileCheck %s --implicit-check-not=plan.copy

// Parts go where the whole is to be, from the first one on, and wait for each other no more than what makes them does. What reads the
// whole waits for all of them.
// CHECK-LABEL: plan.function @result
// CHECK:         plan.launch @part [#plan.range<read, input 0, {{.*}}>, #plan.range<write, output 0, offset = 0, length = 48>] {{.*}} after []
// CHECK-NEXT:    plan.launch @part [#plan.range<read, input 1, {{.*}}>, #plan.range<read_write, output 0, offset = 0, length = 48>] {{.*}} after []
// CHECK-NEXT:    plan.launch @part [#plan.range<read, input 0, {{.*}}>, #plan.range<read_write, output 0, offset = 0, length = 48>] {{.*}} after []
// CHECK-NEXT:    plan.launch @use [#plan.range<read, output 0, offset = 0, length = 48>, #plan.range<write, output 1, {{.*}}>] {{.*}} after [0, 1, 2]
module {
  module @target attributes {plan.target = #plan.target<"cuda", "sm_90a">} {
    func.func @result(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<12xf32>, tensor<12xf32>) {
      %a = plan.dispatch @part(%x : tensor<4xf32>) -> (tensor<12xf32>) reuse [-1] {plan.parts = array<i64: 0>}
      %b = plan.dispatch @part(%y : tensor<4xf32>) -> (tensor<12xf32>) reuse [-1] updates [0] inits(%a : tensor<12xf32>) {plan.parts = array<i64: 0>}
      %c = plan.dispatch @part(%x : tensor<4xf32>) -> (tensor<12xf32>) reuse [-1] updates [0] inits(%b : tensor<12xf32>) {plan.parts = array<i64: 0>}
      %u = plan.dispatch @use(%c : tensor<12xf32>) -> (tensor<12xf32>) reuse [-1]
      return %c, %u : tensor<12xf32>, tensor<12xf32>
    }
    module @part attributes {plan.kernel} {}
    module @use attributes {plan.kernel} {}
  }
}

// -----

// Memory that something else was in: each part waits for what used it there.
// CHECK-LABEL: plan.function @reused
// CHECK:         plan.launch @use [#plan.range<read, input 0, {{.*}}>, #plan.range<write, arena 0, offset = 0, length = 48>] {{.*}} after []
// CHECK-NEXT:    plan.launch @use [#plan.range<read, arena 0, offset = 0, length = 48>, #plan.range<write, output 1, {{.*}}>] {{.*}} after [0]
// CHECK-NEXT:    plan.launch @part [#plan.range<read, input 1, {{.*}}>, #plan.range<write, arena 0, offset = 0, length = 48>] {{.*}} after [1]
// CHECK-NEXT:    plan.launch @part [#plan.range<read, input 1, {{.*}}>, #plan.range<read_write, arena 0, offset = 0, length = 48>] {{.*}} after [1]
// CHECK-NEXT:    plan.launch @use [#plan.range<read, arena 0, offset = 0, length = 48>, #plan.range<write, output 0, {{.*}}>] {{.*}} after [2, 3]
module {
  module @target attributes {plan.target = #plan.target<"cuda", "sm_90a">} {
    func.func @reused(%x: tensor<12xf32>, %y: tensor<4xf32>) -> (tensor<12xf32>, tensor<12xf32>) {
      %p = plan.dispatch @use(%x : tensor<12xf32>) -> (tensor<12xf32>) reuse [-1]
      %q = plan.dispatch @use(%p : tensor<12xf32>) -> (tensor<12xf32>) reuse [-1]
      %a = plan.dispatch @part(%y : tensor<4xf32>) -> (tensor<12xf32>) reuse [-1] {plan.parts = array<i64: 0>}
      %b = plan.dispatch @part(%y : tensor<4xf32>) -> (tensor<12xf32>) reuse [-1] updates [0] inits(%a : tensor<12xf32>) {plan.parts = array<i64: 0>}
      %u = plan.dispatch @use(%b : tensor<12xf32>) -> (tensor<12xf32>) reuse [-1]
      return %u, %q : tensor<12xf32>, tensor<12xf32>
    }
    module @part attributes {plan.kernel} {}
    module @use attributes {plan.kernel} {}
  }
}

// -----

// A variable is where its parts go, too.
// CHECK-LABEL: plan.function @variable
// CHECK:         plan.launch @part [#plan.range<read, input 0, {{.*}}>, #plan.range<write, variable 0, offset = 0, length = 32>] {{.*}} after []
// CHECK-NEXT:    plan.launch @part [#plan.range<read, input 1, {{.*}}>, #plan.range<read_write, variable 0, offset = 0, length = 32>] {{.*}} after []
module {
  module @target attributes {plan.target = #plan.target<"cuda", "sm_90a">} {
    array.variable @v : tensor<8xf32>
    func.func @variable(%x: tensor<4xf32>, %y: tensor<4xf32>) {
      %a = plan.dispatch @part(%x : tensor<4xf32>) -> (tensor<8xf32>) reuse [-1] {plan.parts = array<i64: 0>}
      %b = plan.dispatch @part(%y : tensor<4xf32>) -> (tensor<8xf32>) reuse [-1] updates [0] inits(%a : tensor<8xf32>) {plan.parts = array<i64: 0>}
      array.variable.assign @v, %b : tensor<8xf32>
      return
    }
    module @part attributes {plan.kernel} {}
  }
}
