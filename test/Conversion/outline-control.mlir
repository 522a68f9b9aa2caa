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

// -----

// A condition that is made of sizes is a formula over them, 1 or 0: n + 1 < 2 m is n + 2 <= 2 m.
// CHECK:       #[[LESS_MAP:.*]] = affine_map<()[s0, s1] -> (-(1 floordiv ((s0 * 2) floordiv (s1 + 2) + 1)) + 1)>
// CHECK-LABEL: func.func @sizes(
// CHECK-SAME:    %[[X:.*]]: tensor<?xf32>, %[[Y:.*]]: tensor<?xf32>)
// CHECK-DAG:     %[[N:.*]] = tensor.dim %[[X]], %{{.*}}
// CHECK-DAG:     %[[M:.*]] = tensor.dim %[[Y]], %{{.*}}
// CHECK:         %[[LESS:.*]] = affine.apply #[[LESS_MAP]]()[%[[M]], %[[N]]]
// CHECK:         plan.branch %[[LESS]] then @sizes_if0_then otherwise @sizes_if0_else(%[[X]]) : (index, tensor<?xf32>) -> tensor<?xf32>
func.func @sizes(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %one = array.constant dense<1> : tensor<i64>
  %two = array.constant dense<2> : tensor<i64>
  %n = array.dim %x, 0 : tensor<?xf32>
  %m = array.dim %y, 0 : tensor<?xf32>
  %dn = array.from_index %n : tensor<i64>
  %dm = array.from_index %m : tensor<i64>
  %left = array.add %dn, %one : tensor<i64>
  %right = array.mul %dm, %two : tensor<i64>
  %less = array.compare lt, %left, %right : (tensor<i64>, tensor<i64>) -> tensor<i1>
  %z = array.if %less : tensor<i1> -> (tensor<?xf32>) {
    %a = array.exp %x : tensor<?xf32>
    array.yield %a : tensor<?xf32>
  } else {
    array.yield %x : tensor<?xf32>
  }
  return %z : tensor<?xf32>
}

// -----

// What is subtracted counts on the other side, so that no number is negative: 10 - n > -3 is n < 13.
// CHECK:       #[[GREATER_MAP:.*]] = affine_map<()[s0] -> (-(1 floordiv (13 floordiv (s0 + 1) + 1)) + 1)>
// CHECK-LABEL: func.func @difference(
// CHECK:         %[[N:.*]] = tensor.dim
// CHECK:         %[[GREATER:.*]] = affine.apply #[[GREATER_MAP]]()[%[[N]]]
// CHECK:         plan.branch %[[GREATER]] {{.*}} : (index, tensor<?xf32>)
func.func @difference(%x: tensor<?xf32>) -> tensor<?xf32> {
  %least = array.constant dense<-3> : tensor<i64>
  %n = array.dim %x, 0 : tensor<?xf32>
  %ten = arith.constant 10 : index
  %rest = arith.subi %ten, %n : index
  %d = array.from_index %rest : tensor<i64>
  %p = array.compare gt, %d, %least : (tensor<i64>, tensor<i64>) -> tensor<i1>
  %y = array.if %p : tensor<i1> -> (tensor<?xf32>) {
    %a = array.exp %x : tensor<?xf32>
    array.yield %a : tensor<?xf32>
  } else {
    array.yield %x : tensor<?xf32>
  }
  return %y : tensor<?xf32>
}

// -----

// Data is data, also beside sizes, and so are sizes of 32 bits, which may wrap.
// CHECK-LABEL: func.func @data(
// CHECK:         plan.branch %{{.*}} : (tensor<i1>, tensor<?xf32>)
// CHECK:         plan.branch %{{.*}} : (tensor<i1>, tensor<?xf32>)
func.func @data(%p: tensor<i1>, %x: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %n = array.dim %x, 0 : tensor<?xf32>
  %wide = array.from_index %n : tensor<i64>
  %narrow = array.from_index %n : tensor<i32>
  %four = array.constant dense<4> : tensor<i64>
  %five = array.constant dense<5> : tensor<i32>
  %few = array.compare le, %wide, %four : (tensor<i64>, tensor<i64>) -> tensor<i1>
  %both = array.and %few, %p : tensor<i1>
  %y = array.if %both : tensor<i1> -> (tensor<?xf32>) {
    %a = array.exp %x : tensor<?xf32>
    array.yield %a : tensor<?xf32>
  } else {
    array.yield %x : tensor<?xf32>
  }
  %many = array.compare ge, %narrow, %five : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %z = array.if %many : tensor<i1> -> (tensor<?xf32>) {
    %a = array.exp %x : tensor<?xf32>
    array.yield %a : tensor<?xf32>
  } else {
    array.yield %x : tensor<?xf32>
  }
  return %y, %z : tensor<?xf32>, tensor<?xf32>
}

// A count that comes from outside is data, too.
// CHECK-LABEL: func.func @argument(
// CHECK:         plan.branch %{{.*}} : (tensor<i1>, tensor<?xf32>)
func.func @argument(%n: tensor<i64>, %x: tensor<?xf32>) -> tensor<?xf32> {
  %four = array.constant dense<4> : tensor<i64>
  %few = array.compare le, %n, %four : (tensor<i64>, tensor<i64>) -> tensor<i1>
  %y = array.if %few : tensor<i1> -> (tensor<?xf32>) {
    %a = array.exp %x : tensor<?xf32>
    array.yield %a : tensor<?xf32>
  } else {
    array.yield %x : tensor<?xf32>
  }
  return %y : tensor<?xf32>
}

// -----

// What constants decide is no branch: 3 = 3, and not 3 < 3.
// CHECK-LABEL: func.func @constants(
// CHECK-SAME:    %[[X:.*]]: tensor<4xf32>)
// CHECK-NOT:     plan.branch
// CHECK:         %[[E:.*]] = array.exp %[[X]]
// CHECK-NOT:     array.log
// CHECK:         return %[[E]]
func.func @constants(%x: tensor<4xf32>) -> tensor<4xf32> {
  %three = array.constant dense<3> : tensor<i64>
  %same = array.compare eq, %three, %three : (tensor<i64>, tensor<i64>) -> tensor<i1>
  %less = array.compare lt, %three, %three : (tensor<i64>, tensor<i64>) -> tensor<i1>
  %odd = array.xor %same, %less : tensor<i1>
  %y = array.if %odd : tensor<i1> -> (tensor<4xf32>) {
    %a = array.exp %x : tensor<4xf32>
    array.yield %a : tensor<4xf32>
  } else {
    %a = array.log %x : tensor<4xf32>
    array.yield %a : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

// -----

// A range can leave one region only.
// CHECK-LABEL: func.func @range(
// CHECK-NOT:     plan.branch
// CHECK:         array.exp
// CHECK-NOT:     array.log
func.func @range(%x: tensor<?x4xf32> {array.dims = ["n", ""]}) -> tensor<?x4xf32> attributes {array.dim_range = {n = [0, 16, 1]}} {
  %most = array.constant dense<64> : tensor<i64>
  %four = arith.constant 4 : index
  %n = array.dim %x, 0 : tensor<?x4xf32>
  %elements = arith.muli %n, %four : index
  %count = array.from_index %elements : tensor<i64>
  %few = array.compare le, %count, %most : (tensor<i64>, tensor<i64>) -> tensor<i1>
  %y = array.if %few : tensor<i1> -> (tensor<?x4xf32>) {
    %a = array.exp %x : tensor<?x4xf32>
    array.yield %a : tensor<?x4xf32>
  } else {
    %a = array.log %x : tensor<?x4xf32>
    array.yield %a : tensor<?x4xf32>
  }
  return %y : tensor<?x4xf32>
}

// -----

// The other one, too, by the least sizes.
// CHECK-LABEL: func.func @least(
// CHECK-NOT:     plan.branch
// CHECK:         array.log
// CHECK-NOT:     array.exp
// CHECK:         return
func.func @least(%x: tensor<?x?xf32> {array.dims = ["n", "m"]}) -> tensor<?x?xf32> attributes {array.dim_range = {m = [4, -1, 4], n = [17, 17, 1]}} {
  %most = array.constant dense<64> : tensor<i64>
  %n = array.dim %x, 0 : tensor<?x?xf32>
  %m = array.dim %x, 1 : tensor<?x?xf32>
  %elements = arith.muli %n, %m : index
  %count = array.from_index %elements : tensor<i64>
  %few = array.compare le, %count, %most : (tensor<i64>, tensor<i64>) -> tensor<i1>
  %y = array.if %few : tensor<i1> -> (tensor<?x?xf32>) {
    %a = array.exp %x : tensor<?x?xf32>
    array.yield %a : tensor<?x?xf32>
  } else {
    %a = array.log %x : tensor<?x?xf32>
    array.yield %a : tensor<?x?xf32>
  }
  return %y : tensor<?x?xf32>
}

// -----

// What fuses with the regions' ops moves in: the tanh is in both, the negation where it is used; the cosine is used elsewhere, too.
// CHECK-LABEL: func.func private @fused_if0_then(
// CHECK:         %[[T:.*]] = array.tanh
// CHECK:         %[[E:.*]] = array.exp %[[T]]
// CHECK:         %[[S:.*]] = array.transpose %[[E]]
// CHECK:         %[[A:.*]] = array.add %[[S]]
// CHECK:         return %[[A]]
// CHECK-LABEL: func.func private @fused_if0_else(
// CHECK-DAG:     %[[T:.*]] = array.tanh
// CHECK-DAG:     %[[N:.*]] = array.neg
// CHECK:         %[[M:.*]] = array.mul %[[T]], %[[N]]
// CHECK:         %[[S:.*]] = array.transpose %[[M]]
// CHECK:         %[[A:.*]] = array.add %[[S]]
// CHECK:         return %[[A]]
// CHECK-LABEL: func.func @fused(
// CHECK-NEXT:    array.cos
// CHECK-NOT:     array.{{tanh|neg|transpose}}
// CHECK:         %[[Y:.*]] = plan.branch
// CHECK:         array.sub %[[Y]]
func.func @fused(%x: tensor<?x4xf32>, %b: tensor<?xf32>) -> tensor<4x?xf32> {
  %c = array.cos %b : tensor<?xf32>
  %t = array.tanh %x : tensor<?x4xf32>
  %m = array.neg %x : tensor<?x4xf32>
  %most = array.constant dense<64> : tensor<i64>
  %n = array.dim %x, 0 : tensor<?x4xf32>
  %count = array.from_index %n : tensor<i64>
  %few = array.compare le, %count, %most : (tensor<i64>, tensor<i64>) -> tensor<i1>
  %y = array.if %few : tensor<i1> -> (tensor<?x4xf32>) {
    %a = array.exp %t : tensor<?x4xf32>
    array.yield %a : tensor<?x4xf32>
  } else {
    %a = array.mul %t, %m : tensor<?x4xf32>
    array.yield %a : tensor<?x4xf32>
  }
  %z = array.transpose %y permutation = [1, 0] : tensor<?x4xf32> -> tensor<4x?xf32>
  %w = array.add %z, %c : (tensor<4x?xf32>, tensor<?xf32>) -> tensor<4x?xf32>
  %sine = array.sin %c : tensor<?xf32>
  %v = array.sub %w, %sine : (tensor<4x?xf32>, tensor<?xf32>) -> tensor<4x?xf32>
  return %v : tensor<4x?xf32>
}

// -----

// Regions that were outlined before keep their names. A tensor without values is made where it is needed.
func.func private @again_if0_then(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// CHECK-LABEL: func.func private @again_if1_then(
// CHECK-SAME:    %[[X:[^,]*]]: tensor<4xf32>)
// CHECK:         tensor.empty() : tensor<4xf32>
// CHECK-LABEL: func.func @again(
// CHECK:         plan.branch %{{.*}} then @again_if1_then otherwise @again_if1_else(
func.func @again(%p: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %empty = tensor.empty() : tensor<4xf32>
  %y = array.if %p : tensor<i1> -> (tensor<4xf32>) {
    %a = array.add %empty, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    array.yield %a : tensor<4xf32>
  } else {
    array.yield %x : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

// -----

// The larger of a number and a size is a size.
// CHECK-LABEL: func.func @largest(
// CHECK:         plan.branch %{{.*}} : (index, tensor<?xf32>)
func.func @largest(%x: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %n = array.dim %x, 0 : tensor<?xf32>
  %less = arith.subi %n, %c1 : index
  %rest = arith.maxsi %less, %c0 : index
  %half = arith.divui %rest, %c2 : index
  %even = affine.apply affine_map<()[s0] -> (s0 * 2)>()[%half]
  %d = array.from_index %even : tensor<i64>
  %least = array.constant dense<512> : tensor<i64>
  %p = array.compare ge, %d, %least : (tensor<i64>, tensor<i64>) -> tensor<i1>
  %y = array.if %p : tensor<i1> -> (tensor<?xf32>) {
    %a = array.exp %x : tensor<?xf32>
    array.yield %a : tensor<?xf32>
  } else {
    array.yield %x : tensor<?xf32>
  }
  return %y : tensor<?xf32>
}

// -----

// Within a loop, a choice takes along the inputs whose sizes it names, and no others.
// CHECK-LABEL: func.func private @within_loop_while1_body(
// CHECK-SAME:    %[[I:.*]]: tensor<i64>, %[[V:.*]]: tensor<4xf32>, %[[X:.*]]: tensor<?xf32>)
// CHECK:         %[[N:.*]] = tensor.dim %[[X]], %{{.*}}
// CHECK:         %[[FEW:.*]] = affine.apply #{{.*}}()[%[[N]]]
// CHECK:         plan.branch %[[FEW]] then @within_loop_if0_then otherwise @within_loop_if0_else(%[[V]]) : (index, tensor<4xf32>) -> tensor<4xf32>
func.func @within_loop(%y: tensor<?xf32>, %x: tensor<?xf32>, %v: tensor<4xf32>) -> (tensor<i64>, tensor<4xf32>) {
  %zero = array.constant dense<0> : tensor<i64>
  %one = array.constant dense<1> : tensor<i64>
  %four = array.constant dense<4> : tensor<i64>
  %r:2 = array.while %zero, %v : (tensor<i64>, tensor<4xf32>) -> (tensor<i64>, tensor<4xf32>) condition {
  ^bb0(%i: tensor<i64>, %a: tensor<4xf32>):
    %p = array.compare lt, %i, %four : (tensor<i64>, tensor<i64>) -> tensor<i1>
    array.yield %p : tensor<i1>
  } body {
  ^bb0(%i: tensor<i64>, %a: tensor<4xf32>):
    %size = array.dim %x, 0 : tensor<?xf32>
    %n = array.from_index %size : tensor<i64>
    %few = array.compare le, %n, %four : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %b = array.if %few : tensor<i1> -> (tensor<4xf32>) {
      %e = array.exp %a : tensor<4xf32>
      array.yield %e : tensor<4xf32>
    } else {
      array.yield %a : tensor<4xf32>
    }
    %j = array.add %i, %one : tensor<i64>
    array.yield %j, %b : tensor<i64>, tensor<4xf32>
  }
  return %r#0, %r#1 : tensor<i64>, tensor<4xf32>
}
