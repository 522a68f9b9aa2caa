// RUN: xc-opt %s -pass-pipeline='builtin.module(builtin.module(xc-build-plan))' -split-input-file -verify-diagnostics | FileCheck %s

// The values of the loop are computed in the output's memory all along, since the body needs none of the old ones later.
// CHECK-LABEL: plan.function @in_place
// CHECK:         plan.copy <read, input 0, {{.*}}> to <write, output 0, {{.*}}> after []
// CHECK-NEXT:    plan.control loop <read, arena 0, {{.*}}> after [0] {
// CHECK-NEXT:      plan.launch @test [#plan.range<read, output 0, {{.*}}>, #plan.range<write, arena 0, {{.*}}>] {{.*}} after []
// CHECK-NEXT:    } {
// CHECK-NEXT:      plan.launch @step [#plan.range<read, output 0, {{.*}}>, #plan.range<write, output 0, {{.*}}>] {{.*}} after []
// CHECK-NEXT:    }
module {
  module @target attributes {plan.target = #plan.target<"cpu", "x86-64-v3">} {
    func.func private @condition(%v: tensor<4xf32>) -> tensor<i8> {
      %p = plan.dispatch @test(%v : tensor<4xf32>) -> (tensor<i8>) reuse [-1]
      return %p : tensor<i8>
    }
    func.func private @body(%v: tensor<4xf32>) -> tensor<4xf32> {
      %w = plan.dispatch @step(%v : tensor<4xf32>) -> (tensor<4xf32>) reuse [0]
      return %w : tensor<4xf32>
    }
    func.func @in_place(%x: tensor<4xf32>) -> tensor<4xf32> {
      %y = plan.loop condition @condition body @body inits(%x : tensor<4xf32>) -> tensor<4xf32>
      return %y : tensor<4xf32>
    }
    module @test attributes {plan.kernel} {}
    module @step attributes {plan.kernel} {}
  }
}

// -----

// What the loop is the first to write needs no first value.
// CHECK-LABEL: plan.function @unwritten
// CHECK-NOT:     plan.copy
// CHECK-NOT:     plan.fill
// CHECK:         plan.control loop <read, arena 0, {{.*}}> after [] {
// CHECK:         } {
// CHECK-NEXT:      plan.launch @step [#plan.range<read, output 0, {{.*}}>, #plan.range<write, output 0, {{.*}}>] {{.*}} after []
// CHECK-NEXT:    }
module {
  module @target attributes {plan.target = #plan.target<"cpu", "x86-64-v3">} {
    func.func private @condition(%v: tensor<4xf32>) -> tensor<i8> {
      %p = plan.dispatch @test(%v : tensor<4xf32>) -> (tensor<i8>) reuse [-1]
      return %p : tensor<i8>
    }
    func.func private @body(%v: tensor<4xf32>) -> tensor<4xf32> {
      %w = plan.dispatch @step(%v : tensor<4xf32>) -> (tensor<4xf32>) reuse [0]
      return %w : tensor<4xf32>
    }
    func.func @unwritten() -> tensor<4xf32> {
      %e = tensor.empty() : tensor<4xf32>
      %y = plan.loop condition @condition body @body inits(%e : tensor<4xf32>) -> tensor<4xf32>
      return %y : tensor<4xf32>
    }
    module @test attributes {plan.kernel} {}
    module @step attributes {plan.kernel} {}
  }
}

// -----

// Two values that change places: one is saved first.
// CHECK-LABEL: plan.function @swap
// CHECK:         plan.control loop
// CHECK:         } {
// CHECK-NEXT:      plan.copy <read, output 1, {{.*}}> to <write, arena 0, {{.*}}> after []
// CHECK-NEXT:      plan.copy <read, output 0, {{.*}}> to <write, arena 0, {{.*}}> after []
// CHECK-NEXT:      plan.copy <read, arena 0, {{.*}}> to <write, output 0, {{.*}}> after [0, 1]
// CHECK-NEXT:      plan.copy <read, arena 0, {{.*}}> to <write, output 1, {{.*}}> after [0, 1]
module {
  module @target attributes {plan.target = #plan.target<"cpu", "x86-64-v3">} {
    func.func private @condition(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<i8> {
      %p = plan.dispatch @test(%a : tensor<4xf32>) -> (tensor<i8>) reuse [-1]
      return %p : tensor<i8>
    }
    func.func private @body(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
      return %b, %a : tensor<4xf32>, tensor<4xf32>
    }
    func.func @swap(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
      %a, %b = plan.loop condition @condition body @body inits(%x, %y : tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>, tensor<4xf32>
      return %a, %b : tensor<4xf32>, tensor<4xf32>
    }
    module @test attributes {plan.kernel} {}
  }
}

// -----

// What runs behind an if waits for it.
// CHECK-LABEL: plan.function @branch
// CHECK:         plan.control <read, input 0, {{.*}}> after [] {
// CHECK-NEXT:      plan.launch @step [#plan.range<read, input 1, {{.*}}>, #plan.range<write, arena 0, {{.*}}>] {{.*}} after []
// CHECK-NEXT:    } {
// CHECK-NEXT:      plan.copy <read, input 1, {{.*}}> to <write, arena 0, {{.*}}> after []
// CHECK-NEXT:    }
// CHECK-NEXT:    plan.launch @step [#plan.range<read, arena 0, {{.*}}>, #plan.range<write, output 0, {{.*}}>] {{.*}} after [0]
module {
  module @target attributes {plan.target = #plan.target<"cpu", "x86-64-v3">} {
    func.func private @then(%v: tensor<4xf32>) -> tensor<4xf32> {
      %w = plan.dispatch @step(%v : tensor<4xf32>) -> (tensor<4xf32>) reuse [-1]
      return %w : tensor<4xf32>
    }
    func.func private @otherwise(%v: tensor<4xf32>) -> tensor<4xf32> {
      return %v : tensor<4xf32>
    }
    func.func @branch(%p: tensor<i8>, %x: tensor<4xf32>) -> tensor<4xf32> {
      %y = plan.branch %p then @then otherwise @otherwise(%x) : (tensor<i8>, tensor<4xf32>) -> tensor<4xf32>
      %z = plan.dispatch @step(%y : tensor<4xf32>) -> (tensor<4xf32>) reuse [-1]
      return %z : tensor<4xf32>
    }
    module @step attributes {plan.kernel} {}
  }
}

// -----

module {
  module @target attributes {plan.target = #plan.target<"cpu", "x86-64-v3">} {
    func.func private @condition(%v: tensor<?xf32>, %w: tensor<?xf32>) -> tensor<i8> {
      %p = plan.dispatch @test(%v : tensor<?xf32>) -> (tensor<i8>) reuse [-1]
      return %p : tensor<i8>
    }
    func.func private @body(%v: tensor<?xf32>, %w: tensor<?xf32>) -> tensor<?xf32> {
      // expected-error @+1 {{value 0 of array.while changes its size: dim 0 is s0 before an iteration and s1 after it, s0 being arg0.0, s1 being arg1.0}}
      return %w : tensor<?xf32>
    }
    func.func @grows(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
      %r = plan.loop condition @condition body @body inits(%x : tensor<?xf32>) captures(%y : tensor<?xf32>) -> tensor<?xf32>
      return %r : tensor<?xf32>
    }
    module @test attributes {plan.kernel} {}
  }
}

// -----

// A requirement says that the value keeps its size: of the function or of the region itself, by one symbol or over two steps.
// CHECK:         plan.function @keeps
// CHECK:         plan.control
module {
  module @target attributes {plan.target = #plan.target<"cpu", "x86-64-v3">} {
    func.func private @condition(%v: tensor<?xf32>, %w: tensor<?xf32>, %u: tensor<?xf32>) -> tensor<i8> {
      %p = plan.dispatch @test(%v : tensor<?xf32>) -> (tensor<i8>) reuse [-1]
      return %p : tensor<i8>
    }
    func.func private @body(%v: tensor<?xf32>, %w: tensor<?xf32>, %u: tensor<?xf32>) -> tensor<?xf32> {
      %c0 = arith.constant 0 : index
      %n = tensor.dim %v, %c0 : tensor<?xf32>
      %m = tensor.dim %u, %c0 : tensor<?xf32>
      plan.require %n equal %m, "expected equal sizes"
      return %w : tensor<?xf32>
    }
    func.func @keeps(%x: tensor<?xf32>, %y: tensor<?xf32>, %z: tensor<?xf32>) -> tensor<?xf32> {
      %c0 = arith.constant 0 : index
      %n = tensor.dim %y, %c0 : tensor<?xf32>
      %m = tensor.dim %z, %c0 : tensor<?xf32>
      plan.require %n equal %m, "expected equal sizes"
      %r = plan.loop condition @condition body @body inits(%x : tensor<?xf32>) captures(%y, %z : tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
      return %r : tensor<?xf32>
    }
    module @test attributes {plan.kernel} {}
  }
}

// -----

// Where both regions of an if give as much, that is the size of its result.
// CHECK:         plan.function @dynamic {{.*}} outputs [{dims = [#plan.formula<s0 * 2>],
module {
  module @target attributes {plan.target = #plan.target<"cpu", "x86-64-v3">} {
    func.func private @then(%v: tensor<?xf32>) -> tensor<?xf32> {
      %c0 = arith.constant 0 : index
      %n = tensor.dim %v, %c0 : tensor<?xf32>
      %m = affine.apply affine_map<()[s0] -> (s0 * 2)>()[%n]
      %w = plan.dispatch @twice(%v : tensor<?xf32>) -> (tensor<?xf32>) dims(%m) reuse [-1]
      return %w : tensor<?xf32>
    }
    func.func @dynamic(%p: tensor<i8>, %x: tensor<?xf32>) -> tensor<?xf32> {
      %y = plan.branch %p then @then otherwise @then(%x) : (tensor<i8>, tensor<?xf32>) -> tensor<?xf32>
      return %y : tensor<?xf32>
    }
    module @twice attributes {plan.kernel} {}
  }
}

// -----

// Both regions give one shape: sizes that are two formulas are to be equal.
// CHECK:         plan.function @unlike {{.*}} requirements = [{comparison = 0 : i32, left = #plan.formula<s1>, {{.*}}right = #plan.formula<s0>, what = "expected dim 0 of tensor<?xf32> to have the size that it has around a region"}]
module {
  module @target attributes {plan.target = #plan.target<"cpu", "x86-64-v3">} {
    func.func private @then(%v: tensor<?xf32>, %w: tensor<?xf32>) -> tensor<?xf32> {
      return %v : tensor<?xf32>
    }
    func.func private @otherwise(%v: tensor<?xf32>, %w: tensor<?xf32>) -> tensor<?xf32> {
      return %w : tensor<?xf32>
    }
    func.func @unlike(%p: tensor<i8>, %x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
      %z = plan.branch %p then @then otherwise @otherwise(%x, %y) : (tensor<i8>, tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
      return %z : tensor<?xf32>
    }
  }
}

// -----

// Sizes that a region takes for one, and that are two formulas around it, are to be equal.
// CHECK:         plan.function @same {{.*}} requirements = [{comparison = 0 : i32, left = #plan.formula<s1 + 1>, {{.*}}right = #plan.formula<s0 * 2>, what = "expected dim 0 of tensor<?xf32> to have the size that the other values of its region ask for"}]
module {
  module @target attributes {plan.target = #plan.target<"cpu", "x86-64-v3">} {
    func.func private @then(%v: tensor<?xf32> {array.dims = ["n"]}, %w: tensor<?xf32> {array.dims = ["n"]}) -> tensor<?xf32> {
      return %v : tensor<?xf32>
    }
    func.func @same(%p: tensor<i8>, %x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
      %c0 = arith.constant 0 : index
      %m = tensor.dim %x, %c0 : tensor<?xf32>
      %n = tensor.dim %y, %c0 : tensor<?xf32>
      %twice = affine.apply affine_map<()[s0] -> (s0 * 2)>()[%m]
      %more = affine.apply affine_map<()[s0] -> (s0 + 1)>()[%n]
      %v = plan.dispatch @twice(%x : tensor<?xf32>) -> (tensor<?xf32>) dims(%twice) reuse [-1]
      %w = plan.dispatch @more(%y : tensor<?xf32>) -> (tensor<?xf32>) dims(%more) reuse [-1]
      %z = plan.branch %p then @then otherwise @then(%v, %w) : (tensor<i8>, tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
      return %z : tensor<?xf32>
    }
    module @twice attributes {plan.kernel} {}
    module @more attributes {plan.kernel} {}
  }
}

// -----

// Sizes decide: a formula instead of a byte, and one arena that is as large as what is chosen needs.
// CHECK-LABEL: plan.function @choose
// CHECK-SAME:    arena select(1 floordiv (s0 floordiv 9 + 1), ((s0 * 4) ceildiv 256) * 256, 0) attributes
// CHECK:         plan.choose 1 floordiv (s0 floordiv 9 + 1) after [] {
// CHECK-NEXT:      plan.launch @twice [#plan.range<read, input 0, {{.*}}>, #plan.range<write, arena 0, {{.*}}>] {{.*}} after []
// CHECK-NEXT:      plan.launch @twice [#plan.range<read, arena 0, {{.*}}>, #plan.range<write, output 0, {{.*}}>] {{.*}} after [0]
// CHECK-NEXT:    } {
// CHECK-NEXT:      plan.copy <read, input 0, {{.*}}> to <write, output 0, {{.*}}> after []
// CHECK-NEXT:    }
// CHECK-NEXT:  }
module {
  module @target attributes {plan.target = #plan.target<"cpu", "x86-64-v3">} {
    func.func private @then(%v: tensor<?xf32>) -> tensor<?xf32> {
      %c0 = arith.constant 0 : index
      %n = tensor.dim %v, %c0 : tensor<?xf32>
      %w = plan.dispatch @twice(%v : tensor<?xf32>) -> (tensor<?xf32>) dims(%n) reuse [-1]
      %z = plan.dispatch @twice(%w : tensor<?xf32>) -> (tensor<?xf32>) dims(%n) reuse [-1]
      return %z : tensor<?xf32>
    }
    func.func private @otherwise(%v: tensor<?xf32>) -> tensor<?xf32> {
      return %v : tensor<?xf32>
    }
    func.func @choose(%x: tensor<?xf32>) -> tensor<?xf32> {
      %c0 = arith.constant 0 : index
      %n = tensor.dim %x, %c0 : tensor<?xf32>
      %few = affine.apply affine_map<()[s0] -> (1 floordiv (s0 floordiv 9 + 1))>()[%n]
      %y = plan.branch %few then @then otherwise @otherwise(%x) : (index, tensor<?xf32>) -> tensor<?xf32>
      return %y : tensor<?xf32>
    }
    module @twice attributes {plan.kernel} {}
  }
}

// -----

// What a region requires counts where sizes choose it: else both sides are 0.
// CHECK:         plan.function @require {{.*}} requirements = [{comparison = 1 : i32, left = #plan.formula<select(1 floordiv (s0 floordiv 9 + 1), s0, 0)>,
// CHECK-SAME:      right = #plan.formula<select(1 floordiv (s0 floordiv 9 + 1), 8, 0)>, what = "expected few"}]
module {
  module @target attributes {plan.target = #plan.target<"cpu", "x86-64-v3">} {
    func.func private @then(%v: tensor<?xf32>) -> tensor<?xf32> {
      %c0 = arith.constant 0 : index
      %c8 = arith.constant 8 : index
      %n = tensor.dim %v, %c0 : tensor<?xf32>
      plan.require %n at_most %c8, "expected few"
      return %v : tensor<?xf32>
    }
    func.func private @otherwise(%v: tensor<?xf32>) -> tensor<?xf32> {
      return %v : tensor<?xf32>
    }
    func.func @require(%x: tensor<?xf32>) -> tensor<?xf32> {
      %c0 = arith.constant 0 : index
      %n = tensor.dim %x, %c0 : tensor<?xf32>
      %few = affine.apply affine_map<()[s0] -> (1 floordiv (s0 floordiv 9 + 1))>()[%n]
      %y = plan.branch %few then @then otherwise @otherwise(%x) : (index, tensor<?xf32>) -> tensor<?xf32>
      return %y : tensor<?xf32>
    }
  }
}

// -----

module {
  module @target attributes {plan.target = #plan.target<"cpu", "x86-64-v3">} {
    func.func private @then(%v: tensor<4xf32>) -> tensor<4xf32> {
      return %v : tensor<4xf32>
    }
    func.func @no_formula(%x: tensor<4xf32>, %i: tensor<i32>) -> tensor<4xf32> {
      %element = tensor.extract %i[] : tensor<i32>
      %n = arith.index_cast %element : i32 to index
      // expected-error @+1 {{expected data, or a formula over the dynamic dims of the function's inputs, as the condition}}
      %y = plan.branch %n then @then otherwise @then(%x) : (index, tensor<4xf32>) -> tensor<4xf32>
      return %y : tensor<4xf32>
    }
  }
}

// -----

module {
  module @target attributes {plan.target = #plan.target<"cpu", "x86-64-v3">} {
    func.func private @then(%v: tensor<?xf32>) -> tensor<?xf32> {
      %c0 = arith.constant 0 : index
      %n = tensor.dim %v, %c0 : tensor<?xf32>
      %w = plan.dispatch @some(%v : tensor<?xf32>) -> (tensor<?xf32>) dims(%n) reuse [-1]
      return %w : tensor<?xf32>
    }
    func.func private @otherwise(%v: tensor<?xf32>) -> tensor<?xf32> {
      %c0 = arith.constant 0 : index
      %n = tensor.dim %v, %c0 : tensor<?xf32>
      %m = affine.apply affine_map<()[s0] -> (s0 + 1)>()[%n]
      %w = plan.dispatch @some(%v : tensor<?xf32>) -> (tensor<?xf32>) dims(%m) reuse [-1]
      // expected-error @+1 {{value 0 of array.if has two sizes: dim 0 is s0 in one region and s0 + 1 in the other, s0 being arg1.0}}
      return %w : tensor<?xf32>
    }
    func.func @never(%p: tensor<i8>, %x: tensor<?xf32>) -> tensor<?xf32> {
      %z = plan.branch %p then @then otherwise @otherwise(%x) : (tensor<i8>, tensor<?xf32>) -> tensor<?xf32>
      return %z : tensor<?xf32>
    }
    module @some attributes {plan.kernel} {}
  }
}
