// RUN: xc-opt %s -split-input-file -xc-place-updates | FileCheck %s

// A variable that is not read later: the box goes where the rest is.
// CHECK-LABEL: func.func @variable
// CHECK:         kernel.update
// CHECK-NOT:     linalg.generic
// CHECK:         return
#id = affine_map<(d0, d1) -> (d0, d1)>
builtin.module attributes {plan.target = #plan.target<"cuda", "sm_90a">} {
  array.variable @cache : tensor<64x16xf32>
  func.func @variable(%row: tensor<1x16xf32>, %i: tensor<i32>, %z: tensor<i32>) {
    %old = array.variable.read @cache : tensor<64x16xf32>
    %new = kernel.update %row at [%i, %z] into %old
      : tensor<1x16xf32> at tensor<i32>, tensor<i32> into tensor<64x16xf32> -> tensor<64x16xf32>
    array.variable.assign @cache, %new : tensor<64x16xf32>
    return
  }
}

// -----

// An argument that its owner keeps, and a result that is read element by element: one pass over all of it.
// CHECK-LABEL: func.func @fuses
// CHECK-SAME:    %[[X:.*]]: tensor<64x16xf32>, %[[ROW:.*]]: tensor<1x16xf32>, %[[I:.*]]: tensor<i32>, %[[Z:.*]]: tensor<i32>
// CHECK:         %[[NEW:.*]] = linalg.generic
// CHECK-SAME:      ins(%[[X]], %[[I]], %[[Z]] :
// CHECK:           arith.extsi
// CHECK:           arith.maxsi
// CHECK:           arith.minsi
// CHECK:           tensor.extract %[[ROW]]
// CHECK:           arith.select
// CHECK:         linalg.generic {{.*}} ins(%[[NEW]] :
#id = affine_map<(d0, d1) -> (d0, d1)>
builtin.module attributes {plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @fuses(%x: tensor<64x16xf32>, %row: tensor<1x16xf32>, %i: tensor<i32>, %z: tensor<i32>) -> tensor<64x16xf32> {
    %new = kernel.update %row at [%i, %z] into %x
      : tensor<1x16xf32> at tensor<i32>, tensor<i32> into tensor<64x16xf32> -> tensor<64x16xf32>
    %e = tensor.empty() : tensor<64x16xf32>
    %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%new : tensor<64x16xf32>) outs(%e : tensor<64x16xf32>) {
    ^bb0(%a: f32, %b: f32):
      %s = math.exp %a : f32
      linalg.yield %s : f32
    } -> tensor<64x16xf32>
    return %r : tensor<64x16xf32>
  }
}

// -----

// The same with an argument that is given up, and with one that is copied because nothing would fuse.
// CHECK-LABEL: func.func @stays
// CHECK-COUNT-2: kernel.update
#id = affine_map<(d0) -> (d0)>
builtin.module attributes {plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @stays(%x: tensor<64xf32> {array.donated}, %y: tensor<64xf32>, %u: tensor<4xf32>, %i: tensor<i32>)
      -> (tensor<64xf32>, tensor<64xf32>) {
    %new = kernel.update %u at [%i] into %x : tensor<4xf32> at tensor<i32> into tensor<64xf32> -> tensor<64xf32>
    %copied = kernel.update %u at [%i] into %y : tensor<4xf32> at tensor<i32> into tensor<64xf32> -> tensor<64xf32>
    %e = tensor.empty() : tensor<64xf32>
    %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
        ins(%new : tensor<64xf32>) outs(%e : tensor<64xf32>) {
    ^bb0(%a: f32, %b: f32):
      %s = math.exp %a : f32
      linalg.yield %s : f32
    } -> tensor<64xf32>
    return %r, %copied : tensor<64xf32>, tensor<64xf32>
  }
}

// -----

// Few updates, or such as meet in no row, leave the rest of a variable alone; many others do not.
// CHECK-LABEL: func.func @scatters
// CHECK:         kernel.scatter add, {{.*}} axes = [0] in_place
// CHECK:         kernel.scatter set, {{.*}} axes = [0] unique in_place
// CHECK:         kernel.scatter add, {{.*}} axes = [0] :
builtin.module attributes {plan.target = #plan.target<"cuda", "sm_90a">} {
  array.variable @a : tensor<1000x16xf32>
  array.variable @b : tensor<1000x16xf32>
  array.variable @c : tensor<1000x16xf32>
  func.func @scatters(%few: tensor<3x1xi32>, %u: tensor<3x16xf32>, %many: tensor<?x1xi32>, %v: tensor<?x16xf32>) {
    %a = array.variable.read @a : tensor<1000x16xf32>
    %b = array.variable.read @b : tensor<1000x16xf32>
    %c = array.variable.read @c : tensor<1000x16xf32>
    %0 = kernel.scatter add, %few, %u into %a axes = [0] : tensor<3x1xi32>, tensor<3x16xf32> into tensor<1000x16xf32> -> tensor<1000x16xf32>
    %1 = kernel.scatter set, %many, %v into %b axes = [0] unique : tensor<?x1xi32>, tensor<?x16xf32> into tensor<1000x16xf32> -> tensor<1000x16xf32>
    %2 = kernel.scatter add, %many, %v into %c axes = [0] : tensor<?x1xi32>, tensor<?x16xf32> into tensor<1000x16xf32> -> tensor<1000x16xf32>
    array.variable.assign @a, %0 : tensor<1000x16xf32>
    array.variable.assign @b, %1 : tensor<1000x16xf32>
    array.variable.assign @c, %2 : tensor<1000x16xf32>
    return
  }
}

// -----

// Many updates that never meet need no order, so that they go into a constant, too, once it is in memory; few need none in any case.
// CHECK-LABEL: func.func @unique_into_constant
// CHECK:         kernel.scatter set, {{.*}} axes = [0] unique in_place : tensor<?x1xi32>
// CHECK:         kernel.scatter set, {{.*}} axes = [0] unique :
// CHECK:         kernel.scatter set, {{.*}} axes = [0] :
builtin.module attributes {plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @unique_into_constant(%few: tensor<3x1xi32>, %u: tensor<3xf32>, %many: tensor<?x1xi32>, %v: tensor<?xf32>)
      -> (tensor<9xf32>, tensor<9xf32>, tensor<9xf32>) {
    %none = arith.constant dense<-1.0> : tensor<9xf32>
    %0 = kernel.scatter set, %many, %v into %none axes = [0] unique : tensor<?x1xi32>, tensor<?xf32> into tensor<9xf32> -> tensor<9xf32>
    %1 = kernel.scatter set, %few, %u into %none axes = [0] unique : tensor<3x1xi32>, tensor<3xf32> into tensor<9xf32> -> tensor<9xf32>
    %2 = kernel.scatter set, %many, %v into %none axes = [0] : tensor<?x1xi32>, tensor<?xf32> into tensor<9xf32> -> tensor<9xf32>
    return %0, %1, %2 : tensor<9xf32>, tensor<9xf32>, tensor<9xf32>
  }
}
