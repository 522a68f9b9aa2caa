// RUN: xc-opt %s -xc-state-requirements | FileCheck %s
// RUN: xc-opt %s -xc-state-requirements -canonicalize -cse | FileCheck %s --check-prefix=KEPT
// RUN: xc-opt %s -xc-state-requirements | FileCheck %s --check-prefix=GUARD

// Both slices say what they require, of which the second one's is known to hold.
// CHECK-LABEL: func.func @slices
// CHECK-SAME: %[[X:[^:]*]]: tensor<?x4xf32>
// CHECK: %[[N:.*]] = tensor.dim %[[X]], %c0
// CHECK: %[[THREE:.*]] = arith.constant 3 : index
// CHECK: plan.require %[[THREE]] at_most %[[N]], "array.slice: expected a slice within dim 0 of the operand"
// CHECK-NOT: plan.require
// CHECK: array.slice
func.func @slices(%x: tensor<?x4xf32>) -> tensor<2x4xf32> {
  %a = array.slice %x [0:3, :] : tensor<?x4xf32> -> tensor<3x4xf32>
  %b = array.slice %a [0:2, :] : tensor<3x4xf32> -> tensor<2x4xf32>
  return %b : tensor<2x4xf32>
}

// What folds take away stays required.
// KEPT-LABEL: func.func @same
// KEPT: plan.require %{{.*}} equal
// KEPT-NOT: = array.select
// KEPT: return
func.func @same(%p: tensor<?xi1>, %x: tensor<?xf32>) -> tensor<?xf32> {
  %a = array.select %p, %x, %x : (tensor<?xi1>, tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %a : tensor<?xf32>
}

// What elementwise ops require is said of the sizes of inputs, once.
// CHECK-LABEL: func.func @sums
// CHECK: plan.require %{{.*}} equal %{{.*}}, "expected operands that agree in a dim: tensor<?xf32> and tensor<?xf32>"
// CHECK-NOT: plan.require
// CHECK: return
func.func @sums(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %a = array.add %x, %y : tensor<?xf32>
  %b = array.mul %a, %y : tensor<?xf32>
  return %b : tensor<?xf32>
}

// Nothing is required by an op that no result depends on, or that needs no check.
// CHECK-LABEL: func.func @unused
// CHECK-NOT: plan.require
// CHECK: return
func.func @unused(%x: tensor<?xf32>, %y: tensor<?xf32>, %z: tensor<4xf32>) -> tensor<?xf32> {
  %a = array.add %x, %y : tensor<?xf32>
  %b = array.exp %x : tensor<?xf32>
  return %b : tensor<?xf32>
}

// A named dim is one size.
// CHECK-LABEL: func.func @named
// CHECK-NOT: plan.require
// CHECK: return
func.func @named(%x: tensor<?xf32> {array.dims = ["n"]}, %y: tensor<?xf32> {array.dims = ["n"]}) -> tensor<?xf32> {
  %a = array.add %x, %y : tensor<?xf32>
  return %a : tensor<?xf32>
}

// Of a region that sizes choose, both sides are 0 where it is not chosen.
// CHECK-LABEL: func.func @regions
// CHECK: tensor.dim
// CHECK-COUNT-2: affine.apply
// CHECK: plan.require %{{.*}} at_most %{{.*}}, "array.slice: expected a slice within dim 0 of the operand"
// CHECK-COUNT-2: affine.apply
// CHECK: plan.require %{{.*}} at_most %{{.*}}, "array.slice: expected a slice within dim 0 of the operand"
// CHECK: array.if
// CHECK-NOT: plan.require
// CHECK: return
func.func @regions(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<3xf32> {
  %limit = array.constant dense<3> : tensor<i64>
  %n = array.dim %x, 0 : tensor<?xf32>
  %rows = array.from_index %n : tensor<i64>
  %few = array.compare lt, %rows, %limit : (tensor<i64>, tensor<i64>) -> tensor<i1>
  %z = array.if %few : tensor<i1> -> (tensor<3xf32>) {
    %a = array.slice %y [0:3] : tensor<?xf32> -> tensor<3xf32>
    array.yield %a : tensor<3xf32>
  } else {
    %a = array.slice %x [0:3] : tensor<?xf32> -> tensor<3xf32>
    array.yield %a : tensor<3xf32>
  }
  return %z : tensor<3xf32>
}

// Ops say what they require also where passes that know what extents mean refuse the function.
// CHECK-LABEL: func.func @refused_later
// CHECK: plan.require %{{.*}} equal %{{.*}}, "expected operands that agree in a dim: tensor<?xf32> and tensor<?xf32>"
// CHECK-NOT: plan.require
// CHECK: return
func.func @refused_later(%x: tensor<?xf32>, %y: tensor<?xf32>, %m: tensor<i64>, %n: tensor<i64>) -> tensor<f32> {
  %a = array.add %x, %y : tensor<?xf32>
  %b = array.set_extent %a, %m axis = 0 : (tensor<?xf32>, tensor<i64>) -> tensor<?xf32>
  %c = array.set_extent %a, %n axis = 0 : (tensor<?xf32>, tensor<i64>) -> tensor<?xf32>
  %d = array.add %b, %c : tensor<?xf32>
  %e = array.reduce sum, %d axes = [0] : tensor<?xf32> -> tensor<f32>
  return %e : tensor<f32>
}

// A product requires equal inner dims, and a result whose type says more than those of its operands that they are so.
// CHECK-LABEL: func.func @product
// CHECK: plan.require %{{.*}} equal %{{.*}}, "expected operands that agree in a dim: tensor<?x?xf32> and tensor<?x8xf32>"
// CHECK: plan.require %{{.*}} equal %c4{{.*}}, "expected operands that agree in a dim: tensor<?x?xf32> and tensor<4x8xf32>"
// CHECK-NOT: plan.require
// CHECK: return
func.func @product(%x: tensor<?x?xf32>, %y: tensor<?x8xf32>) -> tensor<4x8xf32> {
  %a = array.matmul %x, %y : (tensor<?x?xf32>, tensor<?x8xf32>) -> tensor<4x8xf32>
  return %a : tensor<4x8xf32>
}

// A composite requires what its parts do, in its own name.
// CHECK-LABEL: func.func @composite
// CHECK: plan.require %{{.*}} at_most %{{.*}}, "array.partition: expected at least 3 elements in dim 0 of the operand"
// CHECK: return
func.func @composite(%x: tensor<?xf32>) -> tensor<?xf32> {
  %a = array.partition %x kth = 2 axis = 0 : tensor<?xf32> -> tensor<?xf32>
  return %a : tensor<?xf32>
}

// Attention says it of its operands, however many scores are held at once.
// CHECK-LABEL: func.func @attention
// CHECK-SAME: %[[Q:[^:]*]]: tensor<?x2x?x8xf32>, %[[K:[^:]*]]: tensor<?x2x?x8xf32>, %[[V:[^:]*]]: tensor<?x2x?x8xf32>
// CHECK-DAG: %[[BATCH:.*]] = tensor.dim %[[Q]], %c0
// CHECK-DAG: %[[KEY_BATCH:.*]] = tensor.dim %[[K]], %c0
// CHECK-DAG: %[[KEYS:.*]] = tensor.dim %[[K]], %c2
// CHECK-DAG: %[[VALUE_BATCH:.*]] = tensor.dim %[[V]], %c0
// CHECK-DAG: %[[VALUES:.*]] = tensor.dim %[[V]], %c2
// CHECK: plan.require %[[BATCH]] equal %[[KEY_BATCH]]
// CHECK: plan.require %[[BATCH]] equal %[[VALUE_BATCH]]
// CHECK: plan.require %[[KEYS]] equal %[[VALUES]]
// CHECK-NOT: plan.require
// CHECK: return
func.func @attention(%q: tensor<?x2x?x8xf32>, %k: tensor<?x2x?x8xf32>, %v: tensor<?x2x?x8xf32>) -> tensor<?x2x?x8xf32> {
  %y = array.attention %q, %k, %v scale = 1.0 : (tensor<?x2x?x8xf32>, tensor<?x2x?x8xf32>, tensor<?x2x?x8xf32>) -> tensor<?x2x?x8xf32>
  return %y : tensor<?x2x?x8xf32>
}

// What the type of a composite's result knows is required where its operands do not tell.
// CHECK-LABEL: func.func @result_type
// CHECK: plan.require %{{.*}} equal %c4, "expected dim 0 of tensor<?xf32> to be that of tensor<4xf32>"
// CHECK-NOT: plan.require
// CHECK: return
func.func @result_type(%x: tensor<?x8xf32>) -> tensor<4xf32> {
  %y = array.mean %x axes = [1] : tensor<?x8xf32> -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// A loop that has no iteration for some sizes requires where there may be one. What it carries has the sizes that it
// begins with.
// CHECK-LABEL: func.func @loop
// CHECK: plan.require %{{.*}} at_most %{{.*}}, "array.slice: expected a slice within dim 0 of the operand"
// CHECK-NOT: plan.require
// CHECK: array.while
// GUARD-LABEL: func.func @loop
// GUARD: %[[GUARD:.*]] = arith.cmpi ne
// GUARD: arith.select %[[GUARD]], %c2{{.*}}, %c0
func.func @loop(%x: tensor<?xf32>) -> tensor<?xf32> {
  %zero = array.constant dense<0> : tensor<i64>
  %one = array.constant dense<1> : tensor<i64>
  %n = array.dim %x, 0 : tensor<?xf32>
  %count = array.from_index %n : tensor<i64>
  %r:2 = array.while %zero, %x : (tensor<i64>, tensor<?xf32>) -> (tensor<i64>, tensor<?xf32>) condition {
  ^bb0(%i: tensor<i64>, %a: tensor<?xf32>):
    %more = array.compare lt, %i, %count : (tensor<i64>, tensor<i64>) -> tensor<i1>
    array.yield %more : tensor<i1>
  } body {
  ^bb0(%i: tensor<i64>, %a: tensor<?xf32>):
    %next = array.add %i, %one : tensor<i64>
    %s = array.slice %a [1:2] : tensor<?xf32> -> tensor<1xf32>
    %b = array.add %a, %s : (tensor<?xf32>, tensor<1xf32>) -> tensor<?xf32>
    array.yield %next, %b : tensor<i64>, tensor<?xf32>
  }
  return %r#1 : tensor<?xf32>
}

// Of regions that constants choose, however they are computed, the one that is never chosen requires nothing.
// CHECK-LABEL: func.func @constant_choice
// CHECK: plan.require %c2{{.*}} at_most
// CHECK-NOT: plan.require
// CHECK: array.if
func.func @constant_choice(%x: tensor<?xf32>) -> tensor<2xf32> {
  %a = array.constant dense<1.0> : tensor<f32>
  %b = array.constant dense<2.0> : tensor<f32>
  %less = array.compare lt, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %y = array.if %less : tensor<i1> -> (tensor<2xf32>) {
    %s = array.slice %x [0:2] : tensor<?xf32> -> tensor<2xf32>
    array.yield %s : tensor<2xf32>
  } else {
    %s = array.slice %x [4:6] : tensor<?xf32> -> tensor<2xf32>
    array.yield %s : tensor<2xf32>
  }
  return %y : tensor<2xf32>
}

// A bounded dynamic dim counts with its bound, and is nothing that the host chooses by: both regions require.
// CHECK-LABEL: func.func @bounded
// CHECK: plan.require %{{.*}} equal %{{.*}}, "array.append: expected dim 1 of tensor<1x?xf32> to be dim 1 of tensor<?x?xf32>"
// CHECK: plan.require %c3{{.*}} at_most %{{.*}}, "array.slice: expected a slice within dim 1 of the operand"
// CHECK: plan.require %c5{{.*}} at_most %{{.*}}, "array.slice: expected a slice within dim 1 of the operand"
// CHECK-NOT: plan.require
// CHECK: array.set_extent
func.func @bounded(%x: tensor<?x?xf32>, %y: tensor<1x?xf32>, %n: tensor<i64>) -> tensor<?x1xf32> {
  %zero = array.constant dense<0.0> : tensor<f32>
  %four = array.constant dense<4> : tensor<i64>
  %a = array.set_extent %x, %n axis = 0 : (tensor<?x?xf32>, tensor<i64>) -> tensor<?x?xf32>
  %b = array.append %a, %y axis = 0 : (tensor<?x?xf32>, tensor<1x?xf32>) -> tensor<?x?xf32>
  %d = array.dim %b, 0 : tensor<?x?xf32>
  %rows = array.from_index %d : tensor<i64>
  %few = array.compare lt, %rows, %four : (tensor<i64>, tensor<i64>) -> tensor<i1>
  %c = array.if %few : tensor<i1> -> (tensor<?x1xf32>) {
    %s = array.slice %b [:, 2:3] : tensor<?x?xf32> -> tensor<?x1xf32>
    array.yield %s : tensor<?x1xf32>
  } else {
    %s = array.slice %b [:, 4:5] : tensor<?x?xf32> -> tensor<?x1xf32>
    array.yield %s : tensor<?x1xf32>
  }
  %p = array.pad_to_bound %c, %zero : (tensor<?x1xf32>, tensor<f32>) -> tensor<?x1xf32>
  return %p : tensor<?x1xf32>
}

// What regions yield, and a loop begins with, is as large as the results' types say.
// CHECK-LABEL: func.func @passed_on
// CHECK: plan.require %{{.*}} equal %c3{{.*}}, "expected dim 0 of tensor<?xf32> to be that of tensor<3xf32>"
// CHECK: plan.require %{{.*}} equal %c3{{.*}}, "expected dim 0 of tensor<?xf32> to be that of tensor<3xf32>"
// CHECK-NOT: plan.require
// CHECK: array.if
func.func @passed_on(%p: tensor<i1>, %x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<3xf32> {
  %z = array.if %p : tensor<i1> -> (tensor<3xf32>) {
    array.yield %x : tensor<?xf32>
  } else {
    array.yield %y : tensor<?xf32>
  }
  return %z : tensor<3xf32>
}

// To ask changes nothing: shape functions of a window, of parts put together and of what is resized build no op.
// CHECK-LABEL: func.func @asked
// CHECK-NEXT: array.reduce_window
// CHECK-NEXT: array.concatenate
// CHECK-NEXT: array.dim
// CHECK-NEXT: array.adaptive_pool
// CHECK-NEXT: array.expand_dims
// CHECK-NEXT: return
func.func @asked(%x: tensor<?x?xf32>) -> tensor<?x1x?xf32> {
  %w = array.reduce_window max, %x window = [2, 1] strides = [2, 1] : tensor<?x?xf32> -> tensor<?x?xf32>
  %c = array.concatenate %w, %w axis = 0 : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  %n = array.dim %x, 1 : tensor<?x?xf32>
  %p = array.adaptive_pool max, %c axes = [0] sizes = [%n] : tensor<?x?xf32> -> tensor<?x?xf32>
  %e = array.expand_dims %p axes = [1] : tensor<?x?xf32> -> tensor<?x1x?xf32>
  return %e : tensor<?x1x?xf32>
}
