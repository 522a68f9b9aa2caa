// RUN: xc-opt %s -xc-array-resolve-extents -canonicalize -cse -split-input-file | FileCheck %s

// The extent is between 0 and the bound; nothing is copied.
// CHECK-LABEL: func.func @extent(
// CHECK-SAME: %[[N:[a-z0-9]+]]: tensor<i32>
// CHECK-DAG: %[[ZERO:.*]] = array.constant dense<0> : tensor<i64>
// CHECK-DAG: %[[BOUND:.*]] = array.constant dense<64> : tensor<i64>
// CHECK: %[[WIDE:.*]] = array.convert %[[N]] : tensor<i32> -> tensor<i64>
// CHECK: %[[LOW:.*]] = array.max %[[WIDE]], %[[ZERO]]
// CHECK: %[[EXTENT:.*]] = array.min %[[LOW]], %[[BOUND]]
// CHECK: return %[[EXTENT]]
func.func @extent(%x: tensor<64x8xf32>, %n: tensor<i32>) -> tensor<i64> {
  %0 = array.set_extent %x, %n axis = 0 : (tensor<64x8xf32>, tensor<i32>) -> tensor<?x8xf32>
  %1 = array.extent %0, 0 : tensor<?x8xf32> -> tensor<i64>
  return %1 : tensor<i64>
}

// -----

// A symbolic bound, and an unsigned count that i64 may not hold.
// CHECK-LABEL: func.func @symbolic(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<?xf32>, %[[N:[a-z0-9]+]]: tensor<ui64>
// CHECK: array.min %[[N]], %{{.*}} : tensor<ui64>
// CHECK: %[[SIZE:.*]] = tensor.dim %[[X]]
// CHECK: %[[BOUND:.*]] = array.from_index %[[SIZE]] : tensor<i64>
// CHECK: array.min %{{.*}}, %[[BOUND]]
// CHECK: array.iota axis = 0 sizes(%[[SIZE]]) : tensor<?xi64>
// CHECK: return %{{.*}} : tensor<?xf32>
func.func @symbolic(%x: tensor<?xf32>, %n: tensor<ui64>, %zero: tensor<f32>) -> tensor<?xf32> {
  %0 = array.set_extent %x, %n axis = 0 : (tensor<?xf32>, tensor<ui64>) -> tensor<?xf32>
  %1 = array.pad_to_bound %0, %zero : (tensor<?xf32>, tensor<f32>) -> tensor<?xf32>
  return %1 : tensor<?xf32>
}

// -----

// The result's type says of a dim without an extent what the operand's does not.
// CHECK-LABEL: func.func @more_is_known(
// CHECK-SAME: %[[Q:[a-z0-9]+]]: tensor<4x1x8xf32>, %[[X:[a-z0-9]+]]: tensor<?x?x8xf32>
// CHECK: %[[CACHE:.*]] = tensor.cast %[[X]] : tensor<?x?x8xf32> to tensor<2x?x8xf32>
// CHECK: array.attention %[[Q]], %[[CACHE]], %[[CACHE]] causal offset(
func.func @more_is_known(%q: tensor<4x1x8xf32>, %x: tensor<?x?x8xf32>, %n: tensor<i32>) -> tensor<4x1x8xf32> {
  %0 = array.set_extent %x, %n axis = 1 : (tensor<?x?x8xf32>, tensor<i32>) -> tensor<2x?x8xf32>
  %1 = array.attention %q, %0, %0 scale = 0.5 {array.whole} : (tensor<4x1x8xf32>, tensor<2x?x8xf32>, tensor<2x?x8xf32>) -> tensor<4x1x8xf32>
  return %1 : tensor<4x1x8xf32>
}

// -----

// Elementwise ops need nothing; the end of the chain is marked for kernels.
// CHECK-LABEL: func.func @elementwise(
// CHECK-SAME: %[[X:.*]]: tensor<64x8xf32>
// CHECK: %[[A:.*]] = array.exp %[[X]] : tensor<64x8xf32>
// CHECK: %[[B:.*]] = array.add %[[A]], %[[A]] : tensor<64x8xf32>
// CHECK: %[[W:.*]] = array.within %[[B]], %{{.*}} axis = 0 : tensor<64x8xf32>, tensor<i64>
// CHECK: array.reduce sum, %[[W]] axes = [1] : tensor<64x8xf32> -> tensor<64xf32>
func.func @elementwise(%x: tensor<64x8xf32>, %n: tensor<i64>, %zero: tensor<f32>) -> tensor<64xf32> {
  %0 = array.set_extent %x, %n axis = 0 : (tensor<64x8xf32>, tensor<i64>) -> tensor<?x8xf32>
  %1 = array.exp %0 : tensor<?x8xf32>
  %2 = array.add %1, %1 : tensor<?x8xf32>
  %3 = array.reduce sum, %2 axes = [1] : tensor<?x8xf32> -> tensor<?xf32>
  %4 = array.pad_to_bound %3, %zero : (tensor<?xf32>, tensor<f32>) -> tensor<64xf32>
  return %4 : tensor<64xf32>
}

// -----

// CHECK-LABEL: func.func @reduced(
// CHECK-SAME: %[[X:.*]]: tensor<64x8xf32>
// CHECK-DAG: %[[ZERO:.*]] = array.constant dense<0.000000e+00> : tensor<f32>
// CHECK-DAG: %[[LOWEST:.*]] = array.constant dense<0xFF800000> : tensor<f32>
// CHECK-DAG: %[[EIGHT:.*]] = array.constant dense<8> : tensor<i64>
// CHECK: %[[EXTENT:.*]] = array.min
// CHECK: %[[I:.*]] = array.iota axis = 0 : tensor<64x8xi32>
// CHECK: %[[END:.*]] = array.convert %[[EXTENT]] : tensor<i64> -> tensor<i32>
// CHECK: %[[M:.*]] = array.compare lt, %[[I]], %[[END]]
// CHECK: %[[S:.*]] = array.select %[[M]], %[[X]], %[[ZERO]]
// CHECK: array.reduce sum, %[[S]] axes = [0]
// CHECK: %[[T:.*]] = array.select %[[M]], %[[X]], %[[LOWEST]]
// CHECK: array.reduce max, %[[T]] axes = [0]
// A size that data asks for.
// CHECK: %[[COUNT:.*]] = array.mul %[[EXTENT]], %[[EIGHT]]
// CHECK: array.convert %[[COUNT]] : tensor<i64> -> tensor<f32>
func.func @reduced(%x: tensor<64x8xf32>, %n: tensor<i64>) -> (tensor<8xf32>, tensor<8xf32>, tensor<f32>) {
  %0 = array.set_extent %x, %n axis = 0 : (tensor<64x8xf32>, tensor<i64>) -> tensor<?x8xf32>
  %1 = array.reduce sum, %0 axes = [0] : tensor<?x8xf32> -> tensor<8xf32>
  %2 = array.reduce max, %0 axes = [0] : tensor<?x8xf32> -> tensor<8xf32>
  %c8 = arith.constant 8 : index
  %d = array.dim %0, 0 : tensor<?x8xf32>
  %e = arith.muli %d, %c8 : index
  %f = array.from_index %e : tensor<f32>
  return %1, %2, %f : tensor<8xf32>, tensor<8xf32>, tensor<f32>
}

// -----

// What lies behind may be NaN, so both factors are masked; integers need one mask.
// CHECK-LABEL: func.func @contracted(
// CHECK-SAME: %[[A:.*]]: tensor<64x8xf32>, %[[I:.*]]: tensor<64x8xi32>
// CHECK: %[[L:.*]] = array.select %{{.*}}, %[[A]], %{{.*}} : (tensor<64x8xi1>, tensor<64x8xf32>
// CHECK: array.matmul %[[L]], %[[L]] transpose_a
// CHECK: %[[J:.*]] = array.select %{{.*}}, %[[I]], %{{.*}} : (tensor<64x8xi1>, tensor<64x8xi32>
// CHECK: array.dot_general %[[J]], %[[I]] batch = [] x [] contract = [0] x [0]
// CHECK: %[[R:.*]] = array.matmul %[[A]], %[[A]] transpose_b
// CHECK: %[[W:.*]] = array.within %[[R]], %{{.*}} axis = 0
// CHECK: %[[V:.*]] = array.within %[[W]], %{{.*}} axis = 1
// CHECK: array.transpose %[[V]]
func.func @contracted(%a: tensor<64x8xf32>, %i: tensor<64x8xi32>, %n: tensor<i64>, %zero: tensor<f32>)
    -> (tensor<8x8xf32>, tensor<8x8xi32>, tensor<64x64xf32>) {
  %0 = array.set_extent %a, %n axis = 0 : (tensor<64x8xf32>, tensor<i64>) -> tensor<?x8xf32>
  %1 = array.set_extent %i, %n axis = 0 : (tensor<64x8xi32>, tensor<i64>) -> tensor<?x8xi32>
  %2 = array.matmul %0, %0 transpose_a : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<8x8xf32>
  %3 = array.dot_general %1, %1 batch = [] x [] contract = [0] x [0] : (tensor<?x8xi32>, tensor<?x8xi32>) -> tensor<8x8xi32>
  %4 = array.matmul %0, %0 transpose_b : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x?xf32>
  %t = array.transpose %4 permutation = [1, 0] : tensor<?x?xf32> -> tensor<?x?xf32>
  %5 = array.pad_to_bound %t, %zero : (tensor<?x?xf32>, tensor<f32>) -> tensor<64x64xf32>
  return %2, %3, %5 : tensor<8x8xf32>, tensor<8x8xi32>, tensor<64x64xf32>
}

// -----

// CHECK-LABEL: func.func @lines(
// CHECK-SAME: %[[X:.*]]: tensor<64xf32>
// CHECK-DAG: %[[NAN:.*]] = array.constant dense<0x7FC00000> : tensor<f32>
// CHECK-DAG: %[[LOWEST:.*]] = array.constant dense<0xFF800000> : tensor<f32>
// CHECK-DAG: %[[NONE:.*]] = array.constant dense<-1> : tensor<i32>
// CHECK: %[[LAST:.*]] = array.select %[[M:.*]], %[[X]], %[[NAN]]
// CHECK: array.sort %[[LAST]] axis = 0
// CHECK: %[[FIRST:.*]] = array.select %[[M]], %[[X]], %[[LOWEST]]
// CHECK: %[[V:.*]], %[[I:.*]] = array.topk %[[FIRST]] k = 4
// CHECK: array.select %{{.*}}, %[[I]], %[[NONE]] : (tensor<4xi1>
// CHECK: array.argmax %[[FIRST]] axis = 0
// CHECK: array.cumsum %[[X]] axis = 0 : tensor<64xf32>
func.func @lines(%x: tensor<64xf32>, %n: tensor<i64>, %zero: tensor<f32>)
    -> (tensor<64xf32>, tensor<4xf32>, tensor<4xi32>, tensor<i32>, tensor<64xf32>) {
  %0 = array.set_extent %x, %n axis = 0 : (tensor<64xf32>, tensor<i64>) -> tensor<?xf32>
  %1 = array.sort %0 axis = 0 : tensor<?xf32> -> tensor<?xf32>
  %2, %3 = array.topk %0 k = 4 axis = 0 : tensor<?xf32> -> tensor<4xf32>, tensor<4xi32>
  %4 = array.argmax %0 axis = 0 : tensor<?xf32> -> tensor<i32>
  %5 = array.cumsum %0 axis = 0 : tensor<?xf32> -> tensor<?xf32>
  %6 = array.pad_to_bound %1, %zero : (tensor<?xf32>, tensor<f32>) -> tensor<64xf32>
  %7 = array.pad_to_bound %5, %zero : (tensor<?xf32>, tensor<f32>) -> tensor<64xf32>
  return %6, %2, %3, %4, %7 : tensor<64xf32>, tensor<4xf32>, tensor<4xi32>, tensor<i32>, tensor<64xf32>
}

// -----

// Indices stay below the extent; updates behind theirs are skipped.
// CHECK-LABEL: func.func @indices(
// CHECK-SAME: %[[X:.*]]: tensor<64x8xf32>, %[[I:.*]]: tensor<5xi32>
// CHECK: %[[LAST:.*]] = array.sub %[[EXTENT:.*]], %{{.*}} : tensor<i64>
// CHECK: %[[LOW:.*]] = array.min %{{.*}}, %[[LAST]]
// CHECK: %[[AT:.*]] = array.max %[[LOW]],
// CHECK: %[[T:.*]] = array.take %[[X]][%[[AT]]] axis = 0 : (tensor<64x8xf32>, tensor<5xi64>)
// CHECK: %[[ANY:.*]] = array.compare gt, %[[EXTENT]],
// CHECK: array.select %[[ANY]], %[[T]],
// CHECK: %[[ROWS:.*]] = array.select %{{.*}} : (tensor<64x1xi1>, tensor<64x1xi64>, tensor<i64>) -> tensor<64x1xi64>
// CHECK: array.scatter add, %{{.*}}[%[[ROWS]]] axes = [0] = %[[X]]
func.func @indices(%x: tensor<64x8xf32>, %i: tensor<5xi32>, %rows: tensor<64x1xi32>, %to: tensor<9x8xf32>, %n: tensor<i64>)
    -> (tensor<5x8xf32>, tensor<9x8xf32>) {
  %0 = array.set_extent %x, %n axis = 0 : (tensor<64x8xf32>, tensor<i64>) -> tensor<?x8xf32>
  %1 = array.take %0[%i] axis = 0 : (tensor<?x8xf32>, tensor<5xi32>) -> tensor<5x8xf32>
  %2 = array.set_extent %rows, %n axis = 0 : (tensor<64x1xi32>, tensor<i64>) -> tensor<?x1xi32>
  %3 = array.scatter add, %to[%2] axes = [0] = %0 : (tensor<9x8xf32>, tensor<?x1xi32>, tensor<?x8xf32>) -> tensor<9x8xf32>
  return %1, %3 : tensor<5x8xf32>, tensor<9x8xf32>
}

// -----

// CHECK-LABEL: func.func @views(
// CHECK: array.transpose %{{.*}} : tensor<64x8xf32> -> tensor<8x64xf32>
// CHECK: array.reshape %{{.*}} : tensor<64x8xf32> -> tensor<64x2x4xf32>
// CHECK: array.slice %{{.*}} [3::2, :] : tensor<64x8xf32> -> tensor<31x8xf32>
func.func @views(%x: tensor<64x8xf32>, %n: tensor<i64>, %zero: tensor<f32>)
    -> (tensor<8x64xf32>, tensor<64x2x4xf32>, tensor<31x8xf32>) {
  %0 = array.set_extent %x, %n axis = 0 : (tensor<64x8xf32>, tensor<i64>) -> tensor<?x8xf32>
  %1 = array.transpose %0 permutation = [1, 0] : tensor<?x8xf32> -> tensor<8x?xf32>
  %2 = array.reshape %0 : tensor<?x8xf32> -> tensor<?x2x4xf32>
  %3 = array.slice %0 [3::2, :] : tensor<?x8xf32> -> tensor<?x8xf32>
  %4 = array.pad_to_bound %1, %zero : (tensor<8x?xf32>, tensor<f32>) -> tensor<8x64xf32>
  %5 = array.pad_to_bound %2, %zero : (tensor<?x2x4xf32>, tensor<f32>) -> tensor<64x2x4xf32>
  %6 = array.pad_to_bound %3, %zero : (tensor<?x8xf32>, tensor<f32>) -> tensor<31x8xf32>
  return %4, %5, %6 : tensor<8x64xf32>, tensor<64x2x4xf32>, tensor<31x8xf32>
}

// -----

// A cache that grows is an array and its extent; what does not fit is skipped.
// CHECK-LABEL: func.func @grows(
// CHECK: %[[R:.*]]:2 = array.while %{{.*}}, %[[EXTENT:.*]] : (tensor<64x8xf32>, tensor<i64>) -> (tensor<64x8xf32>, tensor<i64>) condition {
// CHECK: ^bb0(%{{.*}}: tensor<64x8xf32>, %[[HAD:.*]]: tensor<i64>):
// CHECK: array.compare lt, %[[HAD]]
// CHECK: } body {
// CHECK: ^bb0(%[[CACHE:.*]]: tensor<64x8xf32>, %[[AT:.*]]: tensor<i64>):
// CHECK: %[[END:.*]] = array.add %[[AT]], %{{.*}} : tensor<i64>
// CHECK: %[[NEW:.*]] = array.scatter set, %[[CACHE]][%{{.*}}] axes = [0] = %{{.*}} unique
// CHECK: %[[NEXT:.*]] = array.min %[[END]],
// CHECK: array.yield %[[NEW]], %[[NEXT]] : tensor<64x8xf32>, tensor<i64>
// CHECK: return %[[R]]#1
func.func @grows(%x: tensor<64x8xf32>, %u: tensor<1x8xf32>, %n: tensor<i64>, %most: tensor<i64>) -> tensor<i64> {
  %0 = array.set_extent %x, %n axis = 0 : (tensor<64x8xf32>, tensor<i64>) -> tensor<?x8xf32>
  %1 = array.while %0 : (tensor<?x8xf32>) -> (tensor<?x8xf32>) condition {
  ^bb0(%v: tensor<?x8xf32>):
    %had = array.extent %v, 0 : tensor<?x8xf32> -> tensor<i64>
    %more = array.compare lt, %had, %most : (tensor<i64>, tensor<i64>) -> tensor<i1>
    array.yield %more : tensor<i1>
  } body {
  ^bb0(%v: tensor<?x8xf32>):
    %2 = array.append %v, %u axis = 0 : (tensor<?x8xf32>, tensor<1x8xf32>) -> tensor<?x8xf32>
    array.yield %2 : tensor<?x8xf32>
  }
  %3 = array.extent %1, 0 : tensor<?x8xf32> -> tensor<i64>
  return %3 : tensor<i64>
}

// -----

// Two caches that grow alike are known to have one extent, which the loop carries once.
// CHECK-LABEL: func.func @caches(
// CHECK: %[[R:.*]]:3 = array.while %{{.*}}, %{{.*}}, %[[N:.*]] : (tensor<64x8xf32>, tensor<64x8xf32>, tensor<i64>)
// CHECK: } body {
// CHECK: ^bb0(%[[K:.*]]: tensor<64x8xf32>, %[[V:.*]]: tensor<64x8xf32>, %[[AT:.*]]: tensor<i64>):
// CHECK: array.scatter set, %[[K]]
// CHECK: array.scatter set, %[[V]]
// CHECK: array.yield %{{.*}}, %{{.*}}, %{{.*}} : tensor<64x8xf32>, tensor<64x8xf32>, tensor<i64>
// CHECK: %[[S:.*]] = array.add %[[R]]#0, %[[R]]#1 : tensor<64x8xf32>
// CHECK: return %{{.*}}, %[[R]]#2
func.func @caches(%x: tensor<64x8xf32>, %y: tensor<64x8xf32>, %u: tensor<1x8xf32>, %n: tensor<i64>, %most: tensor<i64>, %zero: tensor<f32>)
    -> (tensor<64x8xf32>, tensor<i64>) {
  %0 = array.set_extent %x, %n axis = 0 : (tensor<64x8xf32>, tensor<i64>) -> tensor<?x8xf32>
  %1 = array.set_extent %y, %n axis = 0 : (tensor<64x8xf32>, tensor<i64>) -> tensor<?x8xf32>
  %2:2 = array.while %0, %1 : (tensor<?x8xf32>, tensor<?x8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>) condition {
  ^bb0(%k: tensor<?x8xf32>, %v: tensor<?x8xf32>):
    %sum = array.add %k, %v : tensor<?x8xf32>
    %had = array.extent %sum, 0 : tensor<?x8xf32> -> tensor<i64>
    %more = array.compare lt, %had, %most : (tensor<i64>, tensor<i64>) -> tensor<i1>
    array.yield %more : tensor<i1>
  } body {
  ^bb0(%k: tensor<?x8xf32>, %v: tensor<?x8xf32>):
    %3 = array.append %k, %u axis = 0 : (tensor<?x8xf32>, tensor<1x8xf32>) -> tensor<?x8xf32>
    %4 = array.append %v, %u axis = 0 : (tensor<?x8xf32>, tensor<1x8xf32>) -> tensor<?x8xf32>
    array.yield %3, %4 : tensor<?x8xf32>, tensor<?x8xf32>
  }
  %5 = array.add %2#0, %2#1 : tensor<?x8xf32>
  %6 = array.pad_to_bound %5, %zero : (tensor<?x8xf32>, tensor<f32>) -> tensor<64x8xf32>
  %7 = array.extent %2#1, 0 : tensor<?x8xf32> -> tensor<i64>
  return %6, %7 : tensor<64x8xf32>, tensor<i64>
}

// -----

// Where bounds are not known to be equal, both extents stay; ops that ask for equal dims take them.
// CHECK-LABEL: func.func @symbolic_caches(
// CHECK: array.while {{.*}} : (tensor<?x8xf32>, tensor<?x8xf32>, tensor<i64>, tensor<i64>)
// CHECK: array.add %{{.*}}#0, %{{.*}}#1 : tensor<?x8xf32>
func.func @symbolic_caches(%x: tensor<?x8xf32>, %y: tensor<?x8xf32>, %u: tensor<1x8xf32>, %n: tensor<i64>, %most: tensor<i64>)
    -> tensor<8xf32> {
  %0 = array.set_extent %x, %n axis = 0 : (tensor<?x8xf32>, tensor<i64>) -> tensor<?x8xf32>
  %1 = array.set_extent %y, %n axis = 0 : (tensor<?x8xf32>, tensor<i64>) -> tensor<?x8xf32>
  %2:2 = array.while %0, %1 : (tensor<?x8xf32>, tensor<?x8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>) condition {
  ^bb0(%k: tensor<?x8xf32>, %v: tensor<?x8xf32>):
    %had = array.extent %k, 0 : tensor<?x8xf32> -> tensor<i64>
    %more = array.compare lt, %had, %most : (tensor<i64>, tensor<i64>) -> tensor<i1>
    array.yield %more : tensor<i1>
  } body {
  ^bb0(%k: tensor<?x8xf32>, %v: tensor<?x8xf32>):
    %3 = array.append %k, %u axis = 0 : (tensor<?x8xf32>, tensor<1x8xf32>) -> tensor<?x8xf32>
    %4 = array.append %v, %u axis = 0 : (tensor<?x8xf32>, tensor<1x8xf32>) -> tensor<?x8xf32>
    array.yield %3, %4 : tensor<?x8xf32>, tensor<?x8xf32>
  }
  %5 = array.add %2#0, %2#1 : tensor<?x8xf32>
  %6 = array.reduce sum, %5 axes = [0] : tensor<?x8xf32> -> tensor<8xf32>
  return %6 : tensor<8xf32>
}

// -----

// A count that is an extent already, within the same bound, is that extent.
// CHECK-LABEL: func.func @counted(
// CHECK: %[[E:.*]] = array.min
// CHECK-NOT: array.min
// CHECK: array.add %{{.*}} : tensor<64xf32>
func.func @counted(%x: tensor<64xf32>, %y: tensor<64xf32>, %n: tensor<i64>) -> tensor<f32> {
  %0 = array.set_extent %x, %n axis = 0 : (tensor<64xf32>, tensor<i64>) -> tensor<?xf32>
  %1 = array.extent %0, 0 : tensor<?xf32> -> tensor<i32>
  %2 = array.set_extent %y, %1 axis = 0 : (tensor<64xf32>, tensor<i32>) -> tensor<?xf32>
  %3 = array.add %0, %2 : tensor<?xf32>
  %4 = array.reduce sum, %3 axes = [0] : tensor<?xf32> -> tensor<f32>
  return %4 : tensor<f32>
}

// -----

// Of a dim that is split, what fills no slice of the inner dims does not count.
// CHECK-LABEL: func.func @split(
// CHECK-DAG: %[[EIGHT:.*]] = array.constant dense<8> : tensor<i64>
// CHECK: %[[N:.*]] = array.div %{{.*}}, %[[EIGHT]]
// CHECK: array.reshape %{{.*}} : tensor<64xf32> -> tensor<8x8xf32>
// CHECK: return %{{.*}}, %[[N]]
func.func @split(%x: tensor<64xf32>, %n: tensor<i64>, %zero: tensor<f32>) -> (tensor<8x8xf32>, tensor<i64>) {
  %0 = array.set_extent %x, %n axis = 0 : (tensor<64xf32>, tensor<i64>) -> tensor<?xf32>
  %1 = array.reshape %0 : tensor<?xf32> -> tensor<?x8xf32>
  %2 = array.extent %1, 0 : tensor<?x8xf32> -> tensor<i64>
  %3 = array.pad_to_bound %1, %zero : (tensor<?x8xf32>, tensor<f32>) -> tensor<8x8xf32>
  return %3, %2 : tensor<8x8xf32>, tensor<i64>
}

// -----

// What an array has behind the extent is not given up where others look at it.
// CHECK-LABEL: func.func @cast(
// CHECK: %[[Y:.*]] = array.exp
// CHECK-NOT: array.within %[[Y]]
// CHECK: return %[[Y]]
func.func @cast(%x: tensor<16x8xf32>, %n: tensor<i64>) -> (tensor<16x8xf32>, tensor<f32>) {
  %y = array.exp %x : tensor<16x8xf32>
  %0 = array.set_extent %y, %n axis = 0 : (tensor<16x8xf32>, tensor<i64>) -> tensor<?x8xf32>
  %1 = tensor.cast %0 : tensor<?x8xf32> to tensor<?x?xf32>
  %2 = array.reduce sum, %1 axes = [0, 1] : tensor<?x?xf32> -> tensor<f32>
  return %y, %2 : tensor<16x8xf32>, tensor<f32>
}

// -----

// CHECK-LABEL: func.func @branches(
// CHECK: %[[R:.*]]:2 = array.if %{{.*}} : tensor<i1> -> (tensor<64xf32>, tensor<i64>)
// CHECK: return %[[R]]#1
func.func @branches(%x: tensor<64xf32>, %n: tensor<i64>, %m: tensor<i64>, %p: tensor<i1>) -> tensor<i64> {
  %0 = array.set_extent %x, %n axis = 0 : (tensor<64xf32>, tensor<i64>) -> tensor<?xf32>
  %1 = array.if %p : tensor<i1> -> (tensor<?xf32>) {
    array.yield %0 : tensor<?xf32>
  } else {
    %2 = array.set_extent %0, %m axis = 0 : (tensor<?xf32>, tensor<i64>) -> tensor<?xf32>
    array.yield %2 : tensor<?xf32>
  }
  %3 = array.extent %1, 0 : tensor<?xf32> -> tensor<i64>
  return %3 : tensor<i64>
}

// -----

// Without extents nothing changes.
// CHECK-LABEL: func.func @none(
// CHECK-NEXT: array.exp
// CHECK-NEXT: return
func.func @none(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = array.exp %x : tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

// The extent of a dim whose size the host knows is that size, and there is nothing to fill.
// CHECK-LABEL: func.func @known(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<?xf32>
// CHECK: %[[SIZE:.*]] = tensor.dim %[[X]]
// CHECK: %[[N:.*]] = array.from_index %[[SIZE]] : tensor<i64>
// CHECK: return %[[N]], %[[X]]
func.func @known(%x: tensor<?xf32>, %zero: tensor<f32>) -> (tensor<i64>, tensor<?xf32>) {
  %0 = array.extent %x, 0 : tensor<?xf32> -> tensor<i64>
  %1 = array.pad_to_bound %x, %zero : (tensor<?xf32>, tensor<f32>) -> tensor<?xf32>
  return %0, %1 : tensor<i64>, tensor<?xf32>
}

// -----

// The padding begins at the extent, of which as many places are left.
// CHECK-LABEL: func.func @slides(
// CHECK-SAME: %[[X:.*]]: tensor<16x6x3xf32>, %[[W:.*]]: tensor<3x3x4xf32>
// CHECK-DAG: %[[ZERO:.*]] = array.constant dense<0.000000e+00> : tensor<f32>
// CHECK-DAG: %[[ONE:.*]] = array.constant dense<1> : tensor<i64>
// CHECK-DAG: %[[TWO:.*]] = array.constant dense<2> : tensor<i64>
// CHECK: %[[EXTENT:.*]] = array.min
// CHECK: %[[CUT:.*]] = array.select %{{.*}}, %[[X]], %[[ZERO]]
// CHECK: %[[SUM:.*]] = array.add %[[EXTENT]], %[[ONE]]
// CHECK: %[[PLACES:.*]] = array.div %[[SUM]], %[[TWO]]
// CHECK: array.conv %[[CUT]], %[[W]] {{.*}} -> tensor<8x6x4xf32>
// CHECK: return %{{.*}}, %[[PLACES]]
func.func @slides(%x: tensor<16x6x3xf32>, %w: tensor<3x3x4xf32>, %n: tensor<i64>, %zero: tensor<f32>) -> (tensor<8x6x4xf32>, tensor<i64>) {
  %0 = array.set_extent %x, %n axis = 0 : (tensor<16x6x3xf32>, tensor<i64>) -> tensor<?x6x3xf32>
  %1 = array.conv %0, %w dims = <[0, b, f] x [0, i, o] -> [0, b, f]> strides = [2] low = [1] high = [1]
     : (tensor<?x6x3xf32>, tensor<3x3x4xf32>) -> tensor<?x6x4xf32>
  %2 = array.extent %1, 0 : tensor<?x6x4xf32> -> tensor<i64>
  %3 = array.pad_to_bound %1, %zero : (tensor<?x6x4xf32>, tensor<f32>) -> tensor<8x6x4xf32>
  return %3, %2 : tensor<8x6x4xf32>, tensor<i64>
}

// -----

// The smaller the window is, the more places there are: room for those of one without elements.
// CHECK-LABEL: func.func @window_ends(
// CHECK-SAME: %[[X:.*]]: tensor<2x9x4xf32>, %[[W:.*]]: tensor<5x4x3xf32>
// CHECK: %[[SIZE:.*]] = array.min
// CHECK: %[[ENDED:.*]] = array.select %{{.*}}, %[[W]]
// CHECK: %[[ROOM:.*]] = array.sub %{{.*}}, %[[SIZE]]
// CHECK: %[[PLACES:.*]] = array.max %[[ROOM]]
// CHECK: array.conv %[[X]], %[[ENDED]] {{.*}} high = [5] : (tensor<2x9x4xf32>, tensor<5x4x3xf32>) -> tensor<2x10x3xf32>
// CHECK: return %{{.*}}, %[[PLACES]]
func.func @window_ends(%x: tensor<2x9x4xf32>, %w: tensor<5x4x3xf32>, %n: tensor<i64>, %zero: tensor<f32>) -> (tensor<2x10x3xf32>, tensor<i64>) {
  %0 = array.set_extent %w, %n axis = 0 : (tensor<5x4x3xf32>, tensor<i64>) -> tensor<?x4x3xf32>
  %1 = array.conv %x, %0 dims = <[b, 0, f] x [0, i, o] -> [b, 0, f]> : (tensor<2x9x4xf32>, tensor<?x4x3xf32>) -> tensor<2x?x3xf32>
  %2 = array.extent %1, 1 : tensor<2x?x3xf32> -> tensor<i64>
  %3 = array.pad_to_bound %1, %zero : (tensor<2x?x3xf32>, tensor<f32>) -> tensor<2x10x3xf32>
  return %3, %2 : tensor<2x10x3xf32>, tensor<i64>
}

// -----

// A batch is as it was; features that are summed count before their extent only, in both factors.
// CHECK-LABEL: func.func @batch_and_features(
// CHECK: %[[B:.*]] = array.min
// CHECK: %[[F:.*]] = array.min
// CHECK: %[[IN:.*]] = array.select
// CHECK: %[[FILTER:.*]] = array.select
// CHECK: %[[Y:.*]] = array.conv %[[IN]], %[[FILTER]]
// CHECK: %[[B32:.*]] = array.convert %[[B]]
// CHECK: %[[IS:.*]] = array.compare lt, %{{.*}}, %[[B32]]
// CHECK: array.select %[[IS]], %[[Y]]
func.func @batch_and_features(%x: tensor<8x6x16xf32>, %w: tensor<3x16x4xf32>, %n: tensor<i64>, %m: tensor<i64>, %zero: tensor<f32>) -> tensor<8x4x4xf32> {
  %0 = array.set_extent %x, %n axis = 0 : (tensor<8x6x16xf32>, tensor<i64>) -> tensor<?x6x16xf32>
  %1 = array.set_extent %0, %m axis = 2 : (tensor<?x6x16xf32>, tensor<i64>) -> tensor<?x6x?xf32>
  %2 = array.set_extent %w, %m axis = 1 : (tensor<3x16x4xf32>, tensor<i64>) -> tensor<3x?x4xf32>
  %3 = array.conv %1, %2 dims = <[b, 0, f] x [0, i, o] -> [b, 0, f]> : (tensor<?x6x?xf32>, tensor<3x?x4xf32>) -> tensor<?x4x4xf32>
  %4 = array.pad_to_bound %3, %zero : (tensor<?x4x4xf32>, tensor<f32>) -> tensor<8x4x4xf32>
  return %4 : tensor<8x4x4xf32>
}

// -----

// Without padding at the end no place before the extent sees what lies behind it. Of places behind it nothing comes back.
// CHECK-LABEL: func.func @pools(
// CHECK-SAME: %[[X:.*]]: tensor<9xf32>, %[[G:.*]]: tensor<7xf32>
// CHECK: array.reduce_window max, %[[X]] window = [3]
// CHECK: %[[CUT:.*]] = array.select %{{.*}}, %{{.*}}, %{{.*}} : (tensor<7xi1>
// CHECK: array.select_and_scatter max, %[[X]], %[[CUT]]
func.func @pools(%x: tensor<9xf32>, %g: tensor<7xf32>, %n: tensor<i64>, %zero: tensor<f32>) -> tensor<9xf32> {
  %0 = array.set_extent %x, %n axis = 0 : (tensor<9xf32>, tensor<i64>) -> tensor<?xf32>
  %1 = array.reduce_window max, %0 window = [3] : tensor<?xf32> -> tensor<?xf32>
  %2 = array.exp %1 : tensor<?xf32>
  %3 = array.select_and_scatter max, %0, %2 window = [3] : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  %4 = array.pad_to_bound %3, %zero : (tensor<?xf32>, tensor<f32>) -> tensor<9xf32>
  return %4 : tensor<9xf32>
}

// -----

// A box from 0 on holds 0 where there is nothing.
// CHECK-LABEL: func.func @box(
// CHECK-SAME: %[[X:.*]]: tensor<16xf32>
// CHECK: %[[CUT:.*]] = array.select %{{.*}}, %[[X]], %{{.*}}
// CHECK: array.dynamic_slice %[[CUT]][%{{.*}}] : (tensor<16xf32>, tensor<i64>) -> tensor<15xf32>
func.func @box(%x: tensor<16xf32>, %n: tensor<i64>, %zero: tensor<f32>) -> tensor<15xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %start = array.constant dense<0> : tensor<i64>
  %0 = array.set_extent %x, %n axis = 0 : (tensor<16xf32>, tensor<i64>) -> tensor<?xf32>
  %d = tensor.dim %0, %c0 : tensor<?xf32>
  %m = arith.subi %d, %c1 : index
  %1 = array.dynamic_slice %0[%start] sizes(%m) : (tensor<?xf32>, tensor<i64>) -> tensor<?xf32>
  %2 = array.pad_to_bound %1, %zero : (tensor<?xf32>, tensor<f32>) -> tensor<15xf32>
  return %2 : tensor<15xf32>
}

// -----

// The size of a window: as many places as the type says, whatever padding that takes.

// CHECK-LABEL: func.func @filter_window(
// CHECK:         %[[W:.*]] = array.select %{{.*}}, %arg1, %{{.*}} : ({{.*}}) -> tensor<5x4x4xf32>
// CHECK:         array.conv %arg0, %[[W]] {{.*}} high = [2] : (tensor<2x9x4xf32>, tensor<5x4x4xf32>) -> tensor<2x7x4xf32>
func.func @filter_window(%x: tensor<2x9x4xf32>, %w: tensor<5x4x4xf32>, %n: tensor<i64>) -> tensor<2x7x4xf32> {
  %0 = array.set_extent %w, %n axis = 0 : (tensor<5x4x4xf32>, tensor<i64>) -> tensor<?x4x4xf32>
  %1 = array.conv %x, %0 dims = <[b, 0, f] x [0, i, o] -> [b, 0, f]> low = [0] high = [0] : (tensor<2x9x4xf32>, tensor<?x4x4xf32>) -> tensor<2x7x4xf32>
  return %1 : tensor<2x7x4xf32>
}

// -----

// Attention that is whole reads the caches in place: the last query sees what is before the extent, which is an offset.

// CHECK-LABEL: func.func @attention(
// CHECK-DAG:     %[[N:.*]] = array.min
// CHECK-DAG:     %[[Q:.*]] = array.constant dense<3> : tensor<i64>
// CHECK:         %[[O:.*]] = array.sub %[[N]], %[[Q]] : tensor<i64>
// CHECK-NOT:     array.select
// CHECK:         array.attention %arg0, %arg1, %arg1 causal offset(%[[O]] : tensor<i64>) scale = 1.250000e-01 {array.open_end, array.whole}
// CHECK-SAME:      (tensor<4x3x64xf16>, tensor<2x30x64xf16>, tensor<2x30x64xf16>) -> tensor<4x3x64xf16>
func.func @attention(%q: tensor<4x3x64xf16>, %k: tensor<2x30x64xf16>, %n: tensor<i64>) -> tensor<4x3x64xf16> {
  %0 = array.set_extent %k, %n axis = 1 : (tensor<2x30x64xf16>, tensor<i64>) -> tensor<2x?x64xf16>
  %1 = array.attention %q, %0, %0 causal scale = 0.125 {array.whole} : (tensor<4x3x64xf16>, tensor<2x?x64xf16>, tensor<2x?x64xf16>) -> tensor<4x3x64xf16>
  return %1 : tensor<4x3x64xf16>
}
