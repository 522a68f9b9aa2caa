// RUN: xc-opt %s -xc-outline-dispatches -split-input-file -verify-diagnostics | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>

module attributes {plan.target = #plan.target<"cpu", "x86-64-v3">} {
  // The input's size is one scalar, used for both bindings; the input's memory may be taken over.
  // CHECK-LABEL: func.func @main(
  // CHECK-SAME:    %[[X:.*]]: tensor<?x64xf32>
  // CHECK:         %[[N:.*]] = tensor.dim %[[X]]
  // CHECK:         plan.dispatch @main_k0_exp(%[[X]] : tensor<?x64xf32>) scalars(%{{.*}}) -> (tensor<?x64xf32>) dims(%{{.*}}) reuse [0]
  // CHECK:       module @main_k0_exp attributes {plan.kernel, plan.target = #plan.target<"cpu", "x86-64-v3">} {
  // CHECK:         func.func @main_k0_exp()
  // CHECK:           %[[S:.*]] = plan.scalar 0 : index
  // CHECK:           %[[IN:.*]] = plan.binding 0 read align 16 may_alias sizes(%[[S]]) : memref<?x64xf32>
  // CHECK:           bufferization.to_tensor %[[IN]] restrict
  // CHECK:           %[[OUT:.*]] = plan.binding 1 write align 16 may_alias sizes(%[[S]]) : memref<?x64xf32>
  // CHECK:           %[[Y:.*]] = linalg.exp
  // CHECK:           bufferization.materialize_in_destination %[[Y]] in restrict writable %[[OUT]]
  func.func @main(%x: tensor<?x64xf32>) -> tensor<?x64xf32> {
    %c0 = arith.constant 0 : index
    %n = tensor.dim %x, %c0 : tensor<?x64xf32>
    %y = plan.region -> (tensor<?x64xf32>) dims(%n) reusable(%x : tensor<?x64xf32>) attributes {reuse = array<i64: 0>} {
      %e = tensor.empty(%n) : tensor<?x64xf32>
      %r = linalg.exp ins(%x : tensor<?x64xf32>) outs(%e : tensor<?x64xf32>) -> tensor<?x64xf32>
      plan.yield %r : tensor<?x64xf32>
    }
    return %y : tensor<?x64xf32>
  }
}

// -----

module attributes {plan.target = #plan.target<"cpu", "x86-64-v3">} {
  // A row's alignment follows from its offset: 3 * 6 floats.
  // CHECK-LABEL: func.func @view_of_a_row(
  // CHECK:         plan.binding 0 read align 8 : memref<6xf32>
  func.func @view_of_a_row(%x: tensor<8x6xf32>) -> tensor<6xf32> {
    %row = tensor.extract_slice %x[3, 0] [1, 6] [1, 1] : tensor<8x6xf32> to tensor<6xf32>
    %y = plan.region -> (tensor<6xf32>) {
      %e = tensor.empty() : tensor<6xf32>
      %r = linalg.exp ins(%row : tensor<6xf32>) outs(%e : tensor<6xf32>) -> tensor<6xf32>
      plan.yield %r : tensor<6xf32>
    }
    return %y : tensor<6xf32>
  }
}

// -----

// A region of a control op captures a view: its kernels know no more of the address than that has. The loop's value is a
// buffer of its own.
// CHECK-LABEL: module @body_k0_addf
// CHECK:         plan.binding 0 read align 16
// CHECK:         plan.binding 1 read align 8
module attributes {plan.target = #plan.target<"cpu", "x86-64-v3">} {
  func.func private @condition(%v: tensor<4xf32>, %row: tensor<4xf32>) -> tensor<i8> {
    %t = arith.constant dense<0> : tensor<i8>
    return %t : tensor<i8>
  }
  func.func private @body(%v: tensor<4xf32>, %row: tensor<4xf32>) -> tensor<4xf32> {
    %w = plan.region -> (tensor<4xf32>) {
      %e = tensor.empty() : tensor<4xf32>
      %r = linalg.add ins(%v, %row : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
      plan.yield %r : tensor<4xf32>
    }
    return %w : tensor<4xf32>
  }
  func.func @captured_view(%x: tensor<10xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
    %row = tensor.extract_slice %x[2] [4] [1] : tensor<10xf32> to tensor<4xf32>
    %z = plan.loop condition @condition body @body inits(%y : tensor<4xf32>) captures(%row : tensor<4xf32>) -> tensor<4xf32>
    return %z : tensor<4xf32>
  }
}

// -----

module attributes {plan.target = #plan.target<"cpu", "x86-64-v3">} {
  func.func @unknown_size(%x: tensor<4xindex>) -> tensor<?xf32> {
    %c0 = arith.constant 0 : index
    %n = tensor.extract %x[%c0] : tensor<4xindex>
    // expected-error @+1 {{expected a size that is a formula over the dynamic dims of the function's inputs}}
    %y = plan.region -> (tensor<?xf32>) dims(%n) {
      %zero = arith.constant 0.0 : f32
      %e = tensor.empty(%n) : tensor<?xf32>
      %r = linalg.fill ins(%zero : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
      plan.yield %r : tensor<?xf32>
    }
    return %y : tensor<?xf32>
  }
}

// -----

// expected-error @+1 {{expected a module with a target}}
module {
}

// -----

#id = affine_map<(d0) -> (d0)>

// Sizes that ops require to be equal and that may not be are required to be, once, in terms of the inputs' sizes. What follows from
// one symbol is proven. Sizes of two inputs that must be equal become one symbol, as everywhere.
module attributes {plan.target = #plan.target<"cpu", "x86-64-v3">} {
  // CHECK-LABEL: func.func @loops_agree(
  // CHECK-SAME:    %[[X:.*]]: tensor<?xf32> {array.dims = ["arg0.0"]}, %{{.*}}: tensor<?xf32> {array.dims = ["arg0.0"]}, %{{.*}}: tensor<8xf32>
  // CHECK-DAG:     %[[N:.*]] = tensor.dim %[[X]]
  // CHECK-DAG:     %[[EIGHT:.*]] = arith.constant 8 : index
  // CHECK:         plan.require %[[N]] equal %[[EIGHT]], "expected operands that agree in a dim: tensor<?xf32> and tensor<8xf32>"
  // CHECK-NOT:     plan.require
  // CHECK:         plan.dispatch
  func.func @loops_agree(%x: tensor<?xf32>, %y: tensor<?xf32>, %z: tensor<8xf32>) -> tensor<8xf32> {
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %n = tensor.dim %x, %c0 : tensor<?xf32>
    %twice = arith.muli %n, %c2 : index
    %sum = arith.addi %n, %n : index
    plan.require %twice equal %sum, "expected what is proven"
    %r = plan.region -> (tensor<8xf32>) {
      %e = tensor.empty() : tensor<8xf32>
      %s = linalg.generic {indexing_maps = [#id, #id, #id, #id], iterator_types = ["parallel"]}
          ins(%x, %y, %z : tensor<?xf32>, tensor<?xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) {
      ^bb0(%a: f32, %b: f32, %c: f32, %o: f32):
        %t = arith.addf %a, %b : f32
        linalg.yield %t : f32
      } -> tensor<8xf32>
      plan.yield %s : tensor<8xf32>
    }
    return %r : tensor<8xf32>
  }

  // A size of an input that has to be what an op makes of another's is one scalar with that, beside the other size.
  // CHECK-LABEL: func.func @equal_sizes(
  // CHECK:         plan.require %{{.*}} equal %{{.*}}, "expected all but one"
  // CHECK:         plan.dispatch @equal_sizes_k0{{.*}} scalars(%{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}) -> (tensor<?xf32>)
  func.func @equal_sizes(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
    %c0 = arith.constant 0 : index
    %n = tensor.dim %x, %c0 : tensor<?xf32>
    %m = tensor.dim %y, %c0 : tensor<?xf32>
    %less = affine.apply affine_map<()[n] -> (n - 1)>()[%n]
    plan.require %m equal %less, "expected all but one"
    %r = plan.region -> (tensor<?xf32>) dims(%less) {
      %part = tensor.extract_slice %x[1] [%less] [1] : tensor<?xf32> to tensor<?xf32>
      %e = tensor.empty(%less) : tensor<?xf32>
      %s = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
          ins(%part, %y : tensor<?xf32>, tensor<?xf32>) outs(%e : tensor<?xf32>) {
      ^bb0(%a: f32, %b: f32, %o: f32):
        %t = arith.addf %a, %b : f32
        linalg.yield %t : f32
      } -> tensor<?xf32>
      plan.yield %s : tensor<?xf32>
    }
    return %r : tensor<?xf32>
  }

  // CHECK-LABEL: func.func @requires_are_formulas(
  // CHECK:         %[[F:.*]] = affine.apply
  // CHECK:         plan.require %[[F]] at_most %{{.*}}, "expected few"
  func.func @requires_are_formulas(%x: tensor<?x?xf32>, %y: tensor<?xf32>) -> tensor<?x?xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = tensor.dim %x, %c0 : tensor<?x?xf32>
    %m = tensor.dim %x, %c1 : tensor<?x?xf32>
    %k = tensor.dim %y, %c0 : tensor<?xf32>
    %nm = arith.muli %n, %m : index
    plan.require %nm at_most %k, "expected few"
    return %x : tensor<?x?xf32>
  }
}

// -----

module attributes {plan.target = #plan.target<"cpu", "x86-64-v3">} {
  func.func @never(%x: tensor<4xf32>) -> tensor<4xf32> {
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    // expected-error @+1 {{expected a match, got 4 and 3}}
    plan.require %c4 equal %c3, "expected a match"
    return %x : tensor<4xf32>
  }
}

// -----

module attributes {plan.target = #plan.target<"cpu", "x86-64-v3">} {
  func.func @data(%x: tensor<4xf32>, %i: index) -> tensor<4xf32> {
    %c4 = arith.constant 4 : index
    // expected-error @+1 {{expected a match; it depends on sizes that are no formulas over the dynamic dims of the function's inputs, so that it cannot be checked}}
    plan.require %c4 equal %i, "expected a match"
    return %x : tensor<4xf32>
  }
}

// -----

// What the user says of a size: kernels get an eighth of it, and know the most that this can be. The sizes of both inputs are
// one, so what is known of either holds.
// CHECK:         #[[EIGHTH:.*]] = affine_map<()[s0] -> (s0 floordiv 8)>
// CHECK-LABEL: func.func @ranges(
// CHECK-SAME:    array.dims = ["n"]
// CHECK-SAME:    array.dims = ["n"]
// CHECK-SAME:    array.dim_range = {n = [8, 4096, 24]}
// CHECK:         %[[PASSED:.*]] = affine.apply #[[EIGHTH]]()[%{{.*}}]
// CHECK:         plan.dispatch @ranges_k0_addf({{.*}}) scalars(%[[PASSED]])
// CHECK-LABEL: module @ranges_k0_addf
// CHECK-DAG:     %[[EIGHT:.*]] = arith.constant 8 : index
// CHECK-DAG:     %[[S:.*]] = plan.scalar 0 max 512 : index
// CHECK:         %[[N:.*]] = arith.muli %[[S]], %[[EIGHT]]
// CHECK:         plan.binding 0 read align 16 sizes(%[[N]]) : memref<?xf32>
#vector = affine_map<(d0) -> (d0)>
module attributes {plan.target = #plan.target<"cpu", "x86-64-v3">} {
  func.func @ranges(%x: tensor<?xf32> {array.dims = ["n"]}, %y: tensor<?xf32> {array.dims = ["m"]}) -> tensor<?xf32>
      attributes {array.dim_range = {n = [1, 4096, 3], m = [8, -1, 8]}} {
    %c0 = arith.constant 0 : index
    %n = tensor.dim %x, %c0 : tensor<?xf32>
    %z = plan.region -> (tensor<?xf32>) dims(%n) {
      %e = tensor.empty(%n) : tensor<?xf32>
      %r = linalg.add ins(%x, %y : tensor<?xf32>, tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
      plan.yield %r : tensor<?xf32>
    }
    return %z : tensor<?xf32>
  }
}

// -----

// The name of the one that has one; a row of a matrix whose rows are multiples of 8 floats is aligned.
// CHECK-LABEL: func.func @named_later(
// CHECK-SAME:    array.dims = ["", "columns"]
// CHECK-SAME:    array.dims = ["columns"]
// CHECK-LABEL: module @named_later_k1_addf
// CHECK:         plan.binding 0 read align 16
module attributes {plan.target = #plan.target<"cpu", "x86-64-v3">} {
  func.func @named_later(%x: tensor<4x?xf32>, %y: tensor<?xf32> {array.dims = ["columns"]}) -> tensor<?xf32>
      attributes {array.dim_range = {columns = [0, -1, 8]}} {
    %c0 = arith.constant 0 : index
    %n = tensor.dim %y, %c0 : tensor<?xf32>
    %row = tensor.extract_slice %x[1, 0] [1, %n] [1, 1] : tensor<4x?xf32> to tensor<?xf32>
    %wide = plan.region -> (tensor<4x?xf32>) dims(%n) {
      %e = tensor.empty(%n) : tensor<4x?xf32>
      %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>,
                                            affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
          ins(%x, %y : tensor<4x?xf32>, tensor<?xf32>) outs(%e : tensor<4x?xf32>) {
      ^bb0(%a: f32, %b: f32, %o: f32):
        %s = arith.addf %a, %b : f32
        linalg.yield %s : f32
      } -> tensor<4x?xf32>
      plan.yield %r : tensor<4x?xf32>
    }
    %z = plan.region -> (tensor<?xf32>) dims(%n) {
      %e = tensor.empty(%n) : tensor<?xf32>
      %r = linalg.add ins(%row, %y : tensor<?xf32>, tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
      plan.yield %r : tensor<?xf32>
    }
    return %z : tensor<?xf32>
  }
}

// -----

// Names of kernels are letters, digits and underscores, whatever the function is called, and those of no other symbol.
// CHECK-LABEL: module @names
module @names attributes {plan.target = #plan.target<"cpu", "x86-64-v3">} {
  // CHECK: array.variable @main_k0_exp
  array.variable @main_k0_exp : tensor<4xf32>
  // CHECK: func.func @"../a-b"
  // CHECK:   plan.dispatch @___a_b_k0_exp(
  func.func @"../a-b"(%x: tensor<4xf32>) -> tensor<4xf32> {
    %y = plan.region -> (tensor<4xf32>) {
      %e = tensor.empty() : tensor<4xf32>
      %r = linalg.exp ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
      plan.yield %r : tensor<4xf32>
    }
    return %y : tensor<4xf32>
  }
  // CHECK: func.func @___a.b
  // CHECK:   plan.dispatch @___a_b_k0_exp_0(
  func.func @___a.b(%x: tensor<4xf32>) -> tensor<4xf32> {
    %y = plan.region -> (tensor<4xf32>) {
      %e = tensor.empty() : tensor<4xf32>
      %r = linalg.exp ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
      plan.yield %r : tensor<4xf32>
    }
    return %y : tensor<4xf32>
  }
  // CHECK: func.func @"1"
  // CHECK:   plan.dispatch @_1_k0_exp(
  func.func @"1"(%x: tensor<4xf32>) -> tensor<4xf32> {
    %y = plan.region -> (tensor<4xf32>) {
      %e = tensor.empty() : tensor<4xf32>
      %r = linalg.exp ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
      plan.yield %r : tensor<4xf32>
    }
    return %y : tensor<4xf32>
  }
  // CHECK: func.func @main(
  // CHECK:   plan.dispatch @main_k0_exp_1(
  func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    %y = plan.region -> (tensor<4xf32>) {
      %e = tensor.empty() : tensor<4xf32>
      %r = linalg.exp ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
      plan.yield %r : tensor<4xf32>
    }
    return %y : tensor<4xf32>
  }
  // The functions keep their names; a kernel and its function share theirs.
  // CHECK: module @main_k0_exp_1
  // CHECK:   func.func @main_k0_exp_1()
}

// -----

// Functions of regions know what is known of the sizes around them: equal formulas have one name, and its range. So four times a multiple
// of 8 is a multiple of 32 there, too.
// CHECK-LABEL: func.func private @then(
// CHECK-SAME:      tensor<?xf32> {array.dims = ["= s0 * 4"]}, %{{.*}}: tensor<?xf32> {array.dims = ["= s0 * 4"]}
// CHECK-SAME:      array.dim_range = {"= s0 * 4" = [32, 256, 32]}
// CHECK-LABEL: func.func @then_k0_exp
// CHECK:         %[[C:.*]] = arith.constant 32 : index
// CHECK:         %[[N:.*]] = plan.scalar 0 max 8 : index
// CHECK:         arith.muli %[[N]], %[[C]]
#line = affine_map<(d0) -> (d0)>
builtin.module attributes {plan.target = #plan.target<"cpu", "x86-64-v3">} {
  func.func private @then(%v: tensor<?xf32>, %w: tensor<?xf32>) -> tensor<?xf32> {
    %zero = arith.constant 0 : index
    %n = tensor.dim %v, %zero : tensor<?xf32>
    %y = plan.region -> (tensor<?xf32>) dims(%n) {
      %e = tensor.empty(%n) : tensor<?xf32>
      %r = linalg.generic {indexing_maps = [#line, #line], iterator_types = ["parallel"]} ins(%v : tensor<?xf32>) outs(%e : tensor<?xf32>) {
      ^bb0(%a: f32, %b: f32):
        %s = math.exp %a : f32
        linalg.yield %s : f32
      } -> tensor<?xf32>
      plan.yield %r : tensor<?xf32>
    }
    return %y : tensor<?xf32>
  }
  func.func private @otherwise(%v: tensor<?xf32>, %w: tensor<?xf32>) -> tensor<?xf32> {
    return %v : tensor<?xf32>
  }
  func.func @main(%x: tensor<?x4xf32> {array.dims = ["n", ""]}, %p: tensor<i8>) -> tensor<?xf32>
      attributes {array.dim_range = {n = [8, 64, 8]}} {
    %flat = tensor.collapse_shape %x [[0, 1]] : tensor<?x4xf32> into tensor<?xf32>
    %y = plan.branch %p then @then otherwise @otherwise(%flat, %flat) : (tensor<i8>, tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
    return %y : tensor<?xf32>
  }
}

// -----

// No size in the range is the other one.
builtin.module attributes {plan.target = #plan.target<"cpu", "x86-64-v3">} {
  func.func @disjoint(%x: tensor<?xf32> {array.dims = ["n"]}) -> tensor<?xf32> attributes {array.dim_range = {n = [1, 64, 8]}} {
    %c0 = arith.constant 0 : index
    %c128 = arith.constant 128 : index
    %n = tensor.dim %x, %c0 : tensor<?xf32>
    // expected-error @+1 {{expected a match, got 1 to 64, a multiple of 8 and 128 by the ranges of the function's dims}}
    plan.require %n equal %c128, "expected a match"
    return %x : tensor<?xf32>
  }
}

// -----

builtin.module attributes {plan.target = #plan.target<"cpu", "x86-64-v3">} {
  func.func @indivisible(%x: tensor<?xf32> {array.dims = ["n"]}) -> tensor<?xf32> attributes {array.dim_range = {n = [0, -1, 8]}} {
    %c0 = arith.constant 0 : index
    %c12 = arith.constant 12 : index
    %n = tensor.dim %x, %c0 : tensor<?xf32>
    // expected-error @+1 {{expected a match, got at least 0, a multiple of 8 and 12 by the ranges of the function's dims}}
    plan.require %n equal %c12, "expected a match"
    return %x : tensor<?xf32>
  }
}

// -----

builtin.module attributes {plan.target = #plan.target<"cpu", "x86-64-v3">} {
  func.func @too_large(%x: tensor<?xf32> {array.dims = ["n"]}) -> tensor<?xf32> attributes {array.dim_range = {n = [5, -1, 1]}} {
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    %n = tensor.dim %x, %c0 : tensor<?xf32>
    // expected-error @+1 {{expected few, got at least 5 and 4 by the ranges of the function's dims}}
    plan.require %n at_most %c4, "expected few"
    return %x : tensor<?xf32>
  }
}

// -----

// Two names of one size, and no size that both ranges have.
#line = affine_map<(d0) -> (d0)>
builtin.module attributes {plan.target = #plan.target<"cpu", "x86-64-v3">} {
  // expected-error @+1 {{expected dim 'n' of 'apart' to have a size, got ranges that leave none: 8 to 4; several names are one size where an op requires it}}
  func.func @apart(%x: tensor<?xf32> {array.dims = ["n"]}, %y: tensor<?xf32> {array.dims = ["m"]}) -> tensor<?xf32>
      attributes {array.dim_range = {n = [1, 4, 1], m = [8, 9, 1]}} {
    %r = linalg.generic {indexing_maps = [#line, #line], iterator_types = ["parallel"]} ins(%x : tensor<?xf32>) outs(%y : tensor<?xf32>) {
    ^bb0(%a: f32, %b: f32):
      linalg.yield %a : f32
    } -> tensor<?xf32>
    return %r : tensor<?xf32>
  }
}

// -----

// What a region requires may hold for no size that there is: sizes do not choose it then.
// CHECK-LABEL: func.func private @not_chosen(
// CHECK:         plan.require %{{.*}} at_most %{{.*}}, "expected few"
module attributes {plan.target = #plan.target<"cpu", "x86-64-v3">} {
  func.func private @not_chosen(%v: tensor<?xf32>) -> tensor<?xf32> {
    %c0 = arith.constant 0 : index
    %c8 = arith.constant 8 : index
    %n = tensor.dim %v, %c0 : tensor<?xf32>
    plan.require %n at_most %c8, "expected few"
    return %v : tensor<?xf32>
  }
  func.func private @chosen(%v: tensor<?xf32>) -> tensor<?xf32> {
    return %v : tensor<?xf32>
  }
  func.func @by_sizes(%x: tensor<?xf32> {array.dims = ["n"]}) -> tensor<?xf32> attributes {array.dim_range = {n = [16, 64, 1]}} {
    %c0 = arith.constant 0 : index
    %n = tensor.dim %x, %c0 : tensor<?xf32>
    %few = affine.apply affine_map<()[s0] -> (1 floordiv (s0 floordiv 9 + 1))>()[%n]
    %y = plan.branch %few then @not_chosen otherwise @chosen(%x) : (index, tensor<?xf32>) -> tensor<?xf32>
    return %y : tensor<?xf32>
  }
}

// -----

// Where data chooses, it may.
module attributes {plan.target = #plan.target<"cpu", "x86-64-v3">} {
  func.func private @then(%v: tensor<?xf32>) -> tensor<?xf32> {
    %c0 = arith.constant 0 : index
    %c8 = arith.constant 8 : index
    %n = tensor.dim %v, %c0 : tensor<?xf32>
    // expected-error @+1 {{expected few, got 16 to 64 and 8 by the ranges of the function's dims}}
    plan.require %n at_most %c8, "expected few"
    return %v : tensor<?xf32>
  }
  func.func private @otherwise(%v: tensor<?xf32>) -> tensor<?xf32> {
    return %v : tensor<?xf32>
  }
  func.func @by_data(%p: tensor<i8>, %x: tensor<?xf32> {array.dims = ["n"]}) -> tensor<?xf32> attributes {array.dim_range = {n = [16, 64, 1]}} {
    %y = plan.branch %p then @then otherwise @otherwise(%x) : (tensor<i8>, tensor<?xf32>) -> tensor<?xf32>
    return %y : tensor<?xf32>
  }
}

// -----

module attributes {plan.target = #plan.target<"cpu", "x86-64-v3">} {
  func.func @element_from_outside(%x: tensor<4xf32>, %i: tensor<f32>) -> tensor<4xf32> {
    %s = tensor.extract %i[] : tensor<f32>
    %y = plan.region -> (tensor<4xf32>) {
      %e = tensor.empty() : tensor<4xf32>
      // expected-error @+1 {{expected only tensors and index values from outside the kernel, got 'f32'}}
      %r = linalg.fill ins(%s : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
      plan.yield %r : tensor<4xf32>
    }
    return %y : tensor<4xf32>
  }
}

// -----

// What may be negative, as no size is, is not proven by ranges of sizes.
// CHECK-LABEL: func.func @offset(
// CHECK:         plan.require %{{.*}} at_least %{{.*}}, "expected an offset"
// CHECK-NOT:     plan.require
builtin.module attributes {plan.target = #plan.target<"cpu", "x86-64-v3">} {
  func.func @offset(%x: tensor<?xf32> {array.dims = ["n"]}) -> tensor<?xf32> attributes {array.dim_range = {n = [1, 64, 1]}} {
    %c0 = arith.constant 0 : index
    %c5 = arith.constant 5 : index
    %n = tensor.dim %x, %c0 : tensor<?xf32>
    %offset = arith.subi %n, %c5 : index
    plan.require %offset at_least %c0, "expected an offset"
    plan.require %c5 at_least %c0, "expected what is proven"
    return %x : tensor<?xf32>
  }
}

// -----

builtin.module attributes {plan.target = #plan.target<"cpu", "x86-64-v3">} {
  func.func @negative(%x: tensor<4xf32>) -> tensor<4xf32> {
    %c0 = arith.constant 0 : index
    %offset = arith.constant -1 : index
    // expected-error @+1 {{expected an offset, got -1}}
    plan.require %offset at_least %c0, "expected an offset"
    return %x : tensor<4xf32>
  }
}
