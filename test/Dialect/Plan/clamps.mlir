// RUN: xc-opt %s -xc-outline-dispatches -split-input-file | FileCheck %s

// The larger of a size and 0 is a formula with a sign.
// CHECK: #[[CLAMP:.*]] = affine_map<()[s0, s1] -> ((s0 - 2) * (-((-(s0 - 2)) floordiv 4611686018427387904)))>
// CHECK-LABEL: func.func @larger(
// CHECK:         %[[SIZE:.*]] = affine.apply #[[CLAMP]]()
// CHECK:         plan.require %[[SIZE]] at_most
module attributes {plan.target = #plan.target<"cpu", "x86-64-v3">} {
  func.func @larger(%x: tensor<?xf32>, %y: tensor<?xf32>) {
    %zero = arith.constant 0 : index
    %two = arith.constant 2 : index
    %n = tensor.dim %x, %zero : tensor<?xf32>
    %m = tensor.dim %y, %zero : tensor<?xf32>
    %room = arith.subi %n, %two : index
    %size = arith.maxsi %room, %zero : index
    plan.require %size at_most %m, "room"
    return
  }
}

// -----

// Of three in one another the outermost does, as it is 0 where the inner ones are.
// CHECK: affine_map<()[s0, s1] -> ((s0 floordiv 2 - 4) * (-((-(s0 floordiv 2 - 4)) floordiv 4611686018427387904)))>
// CHECK-LABEL: func.func @chain(
module attributes {plan.target = #plan.target<"cpu", "x86-64-v3">} {
  func.func @chain(%x: tensor<?xf32>, %y: tensor<?xf32>) {
    %zero = arith.constant 0 : index
    %two = arith.constant 2 : index
    %n = tensor.dim %x, %zero : tensor<?xf32>
    %m = tensor.dim %y, %zero : tensor<?xf32>
    %room0 = arith.subi %n, %two : index
    %size0 = arith.maxsi %room0, %zero : index
    %room1 = arith.subi %size0, %two : index
    %size1 = arith.maxsi %room1, %zero : index
    %half = arith.divui %size1, %two : index
    %room2 = arith.subi %half, %two : index
    %size2 = arith.maxsi %room2, %zero : index
    plan.require %size2 at_most %m, "room"
    return
  }
}

// -----

// Ranges say which of two is larger, and what the larger one is at most.
// CHECK: #[[LEFT:.*]] = affine_map<()[s0, s1, s2] -> (s0 - 2)>
// CHECK-LABEL: func.func @in_range(
// CHECK:         %[[SIZE:.*]] = affine.apply #[[LEFT]]()
// CHECK:         plan.require %[[SIZE]] at_most
// CHECK-NOT:     plan.require
module attributes {plan.target = #plan.target<"cpu", "x86-64-v3">} {
  func.func @in_range(%x: tensor<?xf32> {array.dims = ["n"]}, %y: tensor<?xf32>, %z: tensor<?xf32> {array.dims = ["l"]})
      attributes {array.dim_range = {n = [2, -1, 1], l = [0, 9, 1]}} {
    %zero = arith.constant 0 : index
    %two = arith.constant 2 : index
    %seven = arith.constant 7 : index
    %n = tensor.dim %x, %zero : tensor<?xf32>
    %m = tensor.dim %y, %zero : tensor<?xf32>
    %l = tensor.dim %z, %zero : tensor<?xf32>
    %room = arith.subi %n, %two : index
    %size = arith.maxsi %room, %zero : index
    plan.require %size at_most %m, "room"
    %other = arith.subi %l, %two : index
    %bounded = arith.maxsi %other, %zero : index
    plan.require %bounded at_most %seven, "bound"
    return
  }
}

// -----

// Beside more than constants clamps lie in one another. What is long has a symbol of its own, whose
// definition stands at the start of the function and is no part of other maps.
// CHECK-LABEL: func.func @nest(
// CHECK:         %[[PART:.*]] = affine.apply #map{{.*}}()[
// CHECK:         %[[SIZE2:.*]] = arith.addi %[[PART]], %{{.*}} : index
// CHECK:         %[[SIZE3:.*]] = affine.apply #{{.*}}()[%{{.*}}, %{{.*}}, %[[SIZE2]]]
// CHECK:         plan.require %[[SIZE3]] at_most %{{.*}}, "room"
// CHECK-NOT:     plan.require
module attributes {plan.target = #plan.target<"cpu", "x86-64-v3">} {
  func.func @nest(%x: tensor<?xf32>, %y: tensor<?xf32>) {
    %zero = arith.constant 0 : index
    %two = arith.constant 2 : index
    %minus3 = arith.constant -3 : index
    %n = tensor.dim %x, %zero : tensor<?xf32>
    %m = tensor.dim %y, %zero : tensor<?xf32>
    %room0 = arith.subi %n, %two : index
    %size0 = arith.maxsi %room0, %zero : index
    %sum0 = arith.addi %size0, %m : index
    %room1 = arith.subi %sum0, %two : index
    %size1 = arith.maxsi %room1, %zero : index
    %sum1 = arith.addi %size1, %m : index
    %room2 = arith.addi %sum1, %minus3 : index
    %size2 = arith.maxsi %room2, %zero : index
    %sum2 = arith.addi %size2, %m : index
    %room3 = arith.subi %sum2, %two : index
    %size3 = arith.maxsi %room3, %zero : index
    plan.require %size3 at_most %m, "room"
    return
  }
}

// -----

// Nothing is demanded of two sizes of which either may be larger: that is a formula however deep it is.
// CHECK-LABEL: func.func @compare(
// CHECK:         plan.require %{{.*}} at_most %{{.*}}, "room"
// CHECK-NOT:     plan.require
module attributes {plan.target = #plan.target<"cpu", "x86-64-v3">} {
  func.func @compare(%x: tensor<?xf32>, %y: tensor<?xf32>, %z: tensor<?xf32>, %w: tensor<?xf32>) {
    %zero = arith.constant 0 : index
    %n = tensor.dim %x, %zero : tensor<?xf32>
    %m = tensor.dim %y, %zero : tensor<?xf32>
    %k = tensor.dim %z, %zero : tensor<?xf32>
    %l = tensor.dim %w, %zero : tensor<?xf32>
    %a = arith.maxsi %n, %m : index
    %b = arith.maxsi %a, %k : index
    %c = arith.minsi %b, %l : index
    plan.require %c at_most %n, "room"
    return
  }
}
