// RUN: xc-opt %s -xc-outline-dispatches -split-input-file | FileCheck %s

// The larger of a size and 0 is a maximum between passes, too.
// CHECK: #[[ROOM:.*]] = affine_map<()[s0, s1] -> (s0 - 2)>
// CHECK-LABEL: func.func @larger(
// CHECK:         %[[VALUE:.*]] = affine.apply #[[ROOM]]()
// CHECK:         %[[SIZE:.*]] = arith.maxsi %[[VALUE]], %{{.*}} : index
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
// CHECK: #[[ROOM:.*]] = affine_map<()[s0, s1] -> (s0 floordiv 2 - 4)>
// CHECK-LABEL: func.func @chain(
// CHECK:         %[[VALUE:.*]] = affine.apply #[[ROOM]]()
// CHECK-NEXT:    %[[ZERO:.*]] = arith.constant 0 : index
// CHECK-NEXT:    arith.maxsi %[[VALUE]], %[[ZERO]] : index
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

// Beside more than constants maxima lie in one another. What is long has a symbol of its own, whose
// definition is made once, at the start of the function.
// CHECK-LABEL: func.func @nest(
// CHECK-COUNT-8: arith.maxsi
// CHECK:         %[[SIZE9:.*]] = arith.maxsi
// CHECK:         plan.require %[[SIZE9]] at_most %{{.*}}, "room"
// CHECK:         %[[ROOM10:.*]] = affine.apply #{{.*}}()[%{{.*}}, %{{.*}}, %[[SIZE9]]]
// CHECK:         %[[SIZE10:.*]] = arith.maxsi %[[ROOM10]], %{{.*}} : index
// CHECK:         plan.require %[[SIZE10]] at_most %{{.*}}, "room"
// CHECK-NOT:     plan.require
module attributes {plan.target = #plan.target<"cpu", "x86-64-v3">} {
  func.func @nest(%x: tensor<?xf32>, %y: tensor<?xf32>) {
    %zero = arith.constant 0 : index
    %two = arith.constant 2 : index
    %sum0 = tensor.dim %x, %zero : tensor<?xf32>
    %m = tensor.dim %y, %zero : tensor<?xf32>
    %room1 = arith.subi %sum0, %two : index
    %size1 = arith.maxsi %room1, %zero : index
    %sum1 = arith.addi %size1, %m : index
    %room2 = arith.subi %sum1, %two : index
    %size2 = arith.maxsi %room2, %zero : index
    %sum2 = arith.addi %size2, %m : index
    %room3 = arith.subi %sum2, %two : index
    %size3 = arith.maxsi %room3, %zero : index
    %sum3 = arith.addi %size3, %m : index
    %room4 = arith.subi %sum3, %two : index
    %size4 = arith.maxsi %room4, %zero : index
    %sum4 = arith.addi %size4, %m : index
    %room5 = arith.subi %sum4, %two : index
    %size5 = arith.maxsi %room5, %zero : index
    %sum5 = arith.addi %size5, %m : index
    %room6 = arith.subi %sum5, %two : index
    %size6 = arith.maxsi %room6, %zero : index
    %sum6 = arith.addi %size6, %m : index
    %room7 = arith.subi %sum6, %two : index
    %size7 = arith.maxsi %room7, %zero : index
    %sum7 = arith.addi %size7, %m : index
    %room8 = arith.subi %sum7, %two : index
    %size8 = arith.maxsi %room8, %zero : index
    %sum8 = arith.addi %size8, %m : index
    %room9 = arith.subi %sum8, %two : index
    %size9 = arith.maxsi %room9, %zero : index
    %sum9 = arith.addi %size9, %m : index
    %room10 = arith.subi %sum9, %two : index
    %size10 = arith.maxsi %room10, %zero : index
    %sum10 = arith.addi %size10, %m : index
    plan.require %size9 at_most %m, "room"
    plan.require %size10 at_most %m, "room"
    return
  }
}

// -----

// Nothing is required of two sizes of which either may be larger: that is a formula however deep it is.
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

// -----

// Which of two sizes counts may depend on a third one.
// CHECK-LABEL: func.func @select(
// CHECK:         %[[FEW:.*]] = affine.apply
// CHECK:         %[[IS_FEW:.*]] = arith.cmpi ne, %[[FEW]], %{{.*}} : index
// CHECK:         %[[SIZE:.*]] = arith.select %[[IS_FEW]], %{{.*}}, %{{.*}} : index
// CHECK:         plan.require %[[SIZE]] at_most %{{.*}}, "room"
// CHECK-NOT:     plan.require
module attributes {plan.target = #plan.target<"cpu", "x86-64-v3">} {
  func.func @select(%x: tensor<?xf32>, %y: tensor<?xf32>) {
    %zero = arith.constant 0 : index
    %n = tensor.dim %x, %zero : tensor<?xf32>
    %m = tensor.dim %y, %zero : tensor<?xf32>
    %few = affine.apply affine_map<()[s0] -> (1 floordiv (s0 floordiv 9 + 1))>()[%m]
    %is_few = arith.cmpi ne, %few, %zero : index
    %size = arith.select %is_few, %n, %zero : index
    plan.require %size at_most %m, "room"
    return
  }
}
