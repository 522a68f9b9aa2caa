// RUN: xc-opt %s -xc-import-stablehlo -split-input-file | FileCheck %s --implicit-check-not=stablehlo. --implicit-check-not=chlo.

// What says something to JAX or to a compiler for several devices goes; what is donated is donated here, too.
// CHECK: module {
// CHECK: func.func public @signature(%{{.*}}: tensor<4xf32> {array.donated}) -> (tensor<4xf32> {array.alias = 0 : i64})
module attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @signature(%x: tensor<4xf32> {mhlo.sharding = "{replicated}", tf.aliasing_output = 0 : i32}) -> (tensor<4xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.custom_call @Sharding(%x) {mhlo.sharding = "{replicated}"} : (tensor<4xf32>) -> tensor<4xf32>
    %1 = stablehlo.add %0, %0 : tensor<4xf32>
    return %1 : tensor<4xf32>
  }
}

// -----

// Truth values have no sums: their sum is that one of them is true.
// CHECK-LABEL: func.func @truth(
// CHECK:         array.or
// CHECK:         array.and
// CHECK:         array.logical_not
func.func @truth(%p: tensor<4xi1>, %q: tensor<4xi1>) -> tensor<4xi1> {
  %0 = stablehlo.add %p, %q : tensor<4xi1>
  %1 = stablehlo.multiply %0, %q : tensor<4xi1>
  %2 = stablehlo.not %1 : tensor<4xi1>
  return %2 : tensor<4xi1>
}

// -----

// The order of IEEE 754 that tells zeros and NaNs apart is that of integers.
// CHECK-LABEL: func.func @total_order(
// CHECK:         array.bitcast %{{.*}} : tensor<4xf32> -> tensor<4xi32>
// CHECK:         array.compare lt, %{{.*}} : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
// CHECK:         return
func.func @total_order(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xi1> {
  %0 = stablehlo.compare LT, %a, %b, TOTALORDER : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  return %0 : tensor<4xi1>
}

// -----

// CHECK-LABEL: func.func @unordered_dims(
// CHECK:         array.transpose %{{.*}} permutation = [1, 0]
// CHECK:         array.broadcast_in_dim %{{.*}} axes = [0, 2] : tensor<8x4xf32> -> tensor<8x3x4xf32>
func.func @unordered_dims(%x: tensor<4x8xf32>) -> tensor<8x3x4xf32> {
  %0 = stablehlo.broadcast_in_dim %x, dims = [2, 0] : (tensor<4x8xf32>) -> tensor<8x3x4xf32>
  return %0 : tensor<8x3x4xf32>
}

// -----

// Negative padding cuts.
// CHECK-LABEL: func.func @pad(
// CHECK:         array.pad %{{.*}} low = [1] high = [0] interior = [1]
// CHECK:         array.slice %{{.*}} [:6]
func.func @pad(%x: tensor<4xf32>, %v: tensor<f32>) -> tensor<6xf32> {
  %0 = stablehlo.pad %x, %v, low = [1], high = [-2], interior = [1] : (tensor<4xf32>, tensor<f32>) -> tensor<6xf32>
  return %0 : tensor<6xf32>
}

// -----

// An initial value that is not neutral is combined with the result.
// CHECK-LABEL: func.func @reduce(
// CHECK-SAME:    %[[X:.*]]: tensor<4x8xf32>, %[[Z:.*]]: tensor<f32>)
// CHECK:         %[[S:.*]] = array.reduce sum, %[[X]] axes = [1]
// CHECK-NEXT:    array.reduce max, %[[X]] axes = [1]
// CHECK-NEXT:    %[[M:.*]] = array.max %[[Z]], %{{.*}}
// CHECK-NEXT:    return %[[S]], %[[M]]
func.func @reduce(%x: tensor<4x8xf32>, %z: tensor<f32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %c) applies stablehlo.add across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = stablehlo.reduce(%x init: %z) applies stablehlo.maximum across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// -----

// A window over all elements so far is a scan.
// CHECK-LABEL: func.func @scan(
// CHECK:         array.cumsum %{{.*}} axis = 1 :
// CHECK:         array.cumsum %{{.*}} axis = 1 reverse
func.func @scan(%x: tensor<4x7xf32>) -> (tensor<4x7xf32>, tensor<4x7xf32>) {
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %c) <{padding = dense<[[0, 0], [6, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 1, 7>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<4x7xf32>, tensor<f32>) -> tensor<4x7xf32>
  %1 = "stablehlo.reduce_window"(%x, %c) <{padding = dense<[[0, 0], [0, 6]]> : tensor<2x2xi64>, window_dimensions = array<i64: 1, 7>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<4x7xf32>, tensor<f32>) -> tensor<4x7xf32>
  return %0, %1 : tensor<4x7xf32>, tensor<4x7xf32>
}

// -----

// Rows at indices are one gather; the whole dims come last there.
// CHECK-LABEL: func.func @gather(
// CHECK:         array.gather %{{.*}}[%{{.*}}] axes = [0] : (tensor<7x3xf32>, tensor<5x1xi32>) -> tensor<5x3xf32>
func.func @gather(%x: tensor<7x3xf32>, %i: tensor<5x1xi32>) -> tensor<5x3xf32> {
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 3>}> : (tensor<7x3xf32>, tensor<5x1xi32>) -> tensor<5x3xf32>
  return %0 : tensor<5x3xf32>
}

// -----

// A comparator of one key is a sort, of two keys two that keep the order of what is equal.
// CHECK-LABEL: func.func @sort(
// CHECK:         array.sort %{{.*}} axis = 0 descending : tensor<4xi32>
// CHECK:         array.argsort %[[B:.*]] axis = 0 :
// CHECK:         array.take_along_axis
// CHECK:         array.argsort
// CHECK:         return
func.func @sort(%a: tensor<4xi32>, %b: tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>) {
  %0 = "stablehlo.sort"(%a) <{dimension = 0 : i64}> ({
  ^bb0(%x: tensor<i32>, %y: tensor<i32>):
    %p = stablehlo.compare GT, %x, %y : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<4xi32>) -> tensor<4xi32>
  %1:2 = "stablehlo.sort"(%0, %b) <{dimension = 0 : i64}> ({
  ^bb0(%x: tensor<i32>, %y: tensor<i32>, %z: tensor<i32>, %w: tensor<i32>):
    %p = stablehlo.compare LT, %z, %w : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %q = stablehlo.compare LT, %x, %y : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %e = stablehlo.compare EQ, %x, %y : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %r = stablehlo.and %e, %p : tensor<i1>
    %s = stablehlo.or %q, %r : tensor<i1>
    stablehlo.return %s : tensor<i1>
  }) : (tensor<4xi32>, tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>)
  return %1#0, %1#1 : tensor<4xi32>, tensor<4xi32>
}

// -----

// CHECK-LABEL: func.func @control(
// CHECK:         array.while
// CHECK:         array.yield
// CHECK:         array.if
// CHECK:         } else {
// CHECK:         array.if
func.func @control(%n: tensor<i32>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %0:2 = stablehlo.while(%i = %n, %v = %x) : tensor<i32>, tensor<4xf32> cond {
    %c = stablehlo.constant dense<6> : tensor<i32>
    %q = stablehlo.compare LT, %i, %c : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %q : tensor<i1>
  } do {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.add %i, %c : tensor<i32>
    stablehlo.return %j, %v : tensor<i32>, tensor<4xf32>
  }
  %1 = "stablehlo.case"(%n) ({
    stablehlo.return %x : tensor<4xf32>
  }, {
    stablehlo.return %0#1 : tensor<4xf32>
  }, {
    %2 = stablehlo.negate %x : tensor<4xf32>
    stablehlo.return %2 : tensor<4xf32>
  }) : (tensor<i32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// What a loop carries and never changes is seen from outside; what changes places is not that.
// CHECK-LABEL: func.func @carried(
// CHECK-SAME:    %[[N:.*]]: tensor<i32>, %[[W:.*]]: tensor<4xf32>, %[[X:.*]]: tensor<4xf32>, %[[Y:.*]]: tensor<4xf32>)
// CHECK:         %[[R:.*]]:3 = array.while %{{.*}}, %[[X]], %[[Y]] : (tensor<i32>, tensor<4xf32>, tensor<4xf32>)
// CHECK:           array.compare lt, %{{.*}}, %[[N]]
// CHECK:           %[[NEXT:.*]] = array.mul %[[A:.*]], %[[W]]
// CHECK:           array.yield %{{.*}}, %{{.*}}, %[[NEXT]]
// CHECK:         return %[[W]], %[[R]]#2
func.func @carried(%n: tensor<i32>, %w: tensor<4xf32>, %x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0:5 = stablehlo.while(%m = %n, %v = %w, %i = %zero, %a = %x, %b = %y) : tensor<i32>, tensor<4xf32>, tensor<i32>, tensor<4xf32>, tensor<4xf32> cond {
    %q = stablehlo.compare LT, %i, %m : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %q : tensor<i1>
  } do {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.add %i, %c : tensor<i32>
    %next = stablehlo.multiply %a, %v : tensor<4xf32>
    stablehlo.return %m, %v, %j, %b, %next : tensor<i32>, tensor<4xf32>, tensor<i32>, tensor<4xf32>, tensor<4xf32>
  }
  return %0#1, %0#4 : tensor<4xf32>, tensor<4xf32>
}

// -----

// How values are spread over devices changes none of them.
// CHECK-NOT: sdy
// CHECK-LABEL: func.func @shardings(
// CHECK-SAME:    %[[X:.*]]: tensor<4x8xf32>)
// CHECK-NEXT:    return %[[X]]
sdy.mesh @mesh = <["x"=2, "y"=1]> {stablehlo.mesh = {axes = [{name = "x", size = 2 : i64}]}}
func.func @shardings(%x: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {?}], replicated={"y"}>}) -> tensor<4x8xf32> {
  %0 = sdy.sharding_constraint %x <@mesh, [{"x":(1)2}, {}]> : tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
