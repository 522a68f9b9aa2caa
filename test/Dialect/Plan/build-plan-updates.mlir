// RUN: xc-opt %s -pass-pipeline='builtin.module(builtin.module(xc-build-plan))' -split-input-file | FileCheck %s --implicit-check-not=plan.copy

// What a chain of updates makes of a variable is in the variable all along, and what reads it in between comes before the next one.
// CHECK-LABEL: plan.function @chain
// CHECK:         plan.launch @update [#plan.range<read, input 0, {{.*}}>, #plan.range<read_write, variable 0, {{.*}}>] {{.*}} after []
// CHECK-NEXT:    plan.launch @use [#plan.range<read, variable 0, {{.*}}>, #plan.range<write, output 0, {{.*}}>] {{.*}} after [0]
// CHECK-NEXT:    plan.launch @update [#plan.range<read, input 0, {{.*}}>, #plan.range<read_write, variable 0, {{.*}}>] {{.*}} after [1]
module {
  module @target attributes {plan.target = #plan.target<"cpu", "x86-64-v3">} {
    array.variable @v : tensor<8xf32>
    func.func @chain(%u: tensor<4xf32>) -> tensor<8xf32> {
      %old = array.variable.read @v : tensor<8xf32>
      %a = plan.dispatch @update(%u : tensor<4xf32>) -> (tensor<8xf32>) reuse [-1] updates [0] inits(%old : tensor<8xf32>)
      %r = plan.dispatch @use(%a : tensor<8xf32>) -> (tensor<8xf32>) reuse [-1]
      %b = plan.dispatch @update(%u : tensor<4xf32>) -> (tensor<8xf32>) reuse [-1] updates [0] inits(%a : tensor<8xf32>)
      array.variable.assign @v, %b : tensor<8xf32>
      return %r : tensor<8xf32>
    }
    module @update attributes {plan.kernel} {}
    module @use attributes {plan.kernel} {}
  }
}

// -----

// The old value is needed again, so it is copied; a repeated value is filled in.
// CHECK-LABEL: plan.function @copied
// CHECK:         plan.copy <read, input 1, {{.*}}> to <write, output 0, {{.*}}> after []
// CHECK-NEXT:    plan.launch @update [#plan.range<read, input 0, {{.*}}>, #plan.range<read_write, output 0, {{.*}}>] {{.*}} after [0]
// CHECK-NEXT:    plan.launch @use [#plan.range<read, input 1, {{.*}}>, #plan.range<write, output 1, {{.*}}>] {{.*}} after []
// CHECK-NEXT:    plan.fill <write, output 2, {{.*}}> with 0 size 4 after []
// CHECK-NEXT:    plan.launch @update [#plan.range<read, input 0, {{.*}}>, #plan.range<read_write, output 2, {{.*}}>] {{.*}} after [3]
module {
  module @target attributes {plan.target = #plan.target<"cpu", "x86-64-v3">} {
    func.func @copied(%u: tensor<4xf32>, %old: tensor<8xf32> {array.donated}) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
      %a = plan.dispatch @update(%u : tensor<4xf32>) -> (tensor<8xf32>) reuse [-1] updates [0] inits(%old : tensor<8xf32>)
      %b = plan.dispatch @use(%old : tensor<8xf32>) -> (tensor<8xf32>) reuse [-1]
      %zero = arith.constant dense<0.0> : tensor<8xf32>
      %c = plan.dispatch @update(%u : tensor<4xf32>) -> (tensor<8xf32>) reuse [-1] updates [0] inits(%zero : tensor<8xf32>)
      return %a, %b, %c : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
    }
    module @update attributes {plan.kernel} {}
    module @use attributes {plan.kernel} {}
  }
}

// -----

// A loop whose value is a variable, and one whose value is given up and a result: both stay where they are.
// CHECK-LABEL: plan.function @loops
// CHECK:         plan.control loop <read, arena 0, {{.*}}> after [] {
// CHECK-NEXT:      plan.launch @test [#plan.range<read, variable 0, {{.*}}>
// CHECK-NEXT:    } {
// CHECK-NEXT:      plan.launch @update [#plan.range<read_write, variable 0, {{.*}}>] {{.*}} after []
// CHECK-NEXT:    }
// CHECK-NEXT:    plan.control loop <read, arena 0, {{.*}}> after {{.*}} {
// CHECK-NEXT:      plan.launch @test [#plan.range<read, input 0, {{.*}}>
// CHECK-NEXT:    } {
// CHECK-NEXT:      plan.launch @update [#plan.range<read_write, input 0, {{.*}}>] {{.*}} after []
// CHECK-NEXT:    }
module {
  module @target attributes {plan.target = #plan.target<"cpu", "x86-64-v3">} {
    array.variable @v : tensor<8xf32>
    func.func private @condition(%v: tensor<8xf32>) -> tensor<i8> {
      %p = plan.dispatch @test(%v : tensor<8xf32>) -> (tensor<i8>) reuse [-1]
      return %p : tensor<i8>
    }
    func.func private @body(%v: tensor<8xf32>) -> tensor<8xf32> {
      %w = plan.dispatch @update() -> (tensor<8xf32>) reuse [-1] updates [0] inits(%v : tensor<8xf32>)
      return %w : tensor<8xf32>
    }
    func.func private @condition2(%v: tensor<8xf32>) -> tensor<i8> {
      %p = plan.dispatch @test(%v : tensor<8xf32>) -> (tensor<i8>) reuse [-1]
      return %p : tensor<i8>
    }
    func.func private @body2(%v: tensor<8xf32>) -> tensor<8xf32> {
      %w = plan.dispatch @update() -> (tensor<8xf32>) reuse [-1] updates [0] inits(%v : tensor<8xf32>)
      return %w : tensor<8xf32>
    }
    func.func @loops(%x: tensor<8xf32> {array.donated}) -> (tensor<8xf32> {array.alias = 0 : i64}) {
      %old = array.variable.read @v : tensor<8xf32>
      %y = plan.loop condition @condition body @body inits(%old : tensor<8xf32>) -> tensor<8xf32>
      array.variable.assign @v, %y : tensor<8xf32>
      %z = plan.loop condition @condition2 body @body2 inits(%x : tensor<8xf32>) -> tensor<8xf32>
      return %z : tensor<8xf32>
    }
    module @test attributes {plan.kernel} {}
    module @update attributes {plan.kernel} {}
  }
}
