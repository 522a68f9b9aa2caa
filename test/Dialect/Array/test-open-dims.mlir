// RUN: xc-opt %s -xc-array-test-open-dims | FileCheck %s
// RUN: xc-opt %s -xc-array-test-open-dims=only-first | FileCheck %s --check-prefix=FIRST

// CHECK-LABEL: func.func @inferred(
// CHECK-SAME:    %[[X:.*]]: tensor<?x?xf32>) -> tensor<?x?xf32>
// CHECK:         %[[Y:.*]] = array.transpose %[[X]] permutation = [1, 0] : tensor<?x?xf32> -> tensor<?x?xf32>
// CHECK:         return %[[Y]]
// FIRST-LABEL: func.func @inferred(
// FIRST-SAME:    %{{.*}}: tensor<?x8xf32>) -> tensor<8x?xf32>
func.func @inferred(%x: tensor<4x8xf32>) -> tensor<8x4xf32> {
  %y = array.transpose %x permutation = [1, 0] : tensor<4x8xf32> -> tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}

// What is broadcast stays so.
// CHECK-LABEL: func.func @broadcast(
// CHECK-SAME:    %{{.*}}: tensor<?x?xf32>, %{{.*}}: tensor<1x?xf32>) -> tensor<?x?xf32>
func.func @broadcast(%x: tensor<4x8xf32>, %y: tensor<1x8xf32>) -> tensor<4x8xf32> {
  %z = array.add %x, %y : (tensor<4x8xf32>, tensor<1x8xf32>) -> tensor<4x8xf32>
  return %z : tensor<4x8xf32>
}

// Other ops keep their types. A cast is made where its value is, since bodies of linalg ops have none.
// CHECK-LABEL: func.func @kept(
// CHECK-SAME:    %[[X:.*]]: tensor<?x?xf32>, %[[P:.*]]: tensor<?xindex>) -> tensor<32xf32>
// CHECK-DAG:     %[[X0:.*]] = tensor.cast %[[X]] : tensor<?x?xf32> to tensor<4x8xf32>
// CHECK-DAG:     %[[P0:.*]] = tensor.cast %[[P]] : tensor<?xindex> to tensor<32xindex>
// CHECK:         linalg.generic
// CHECK-SAME:    ins(%[[P0]]
// CHECK:         tensor.extract %[[X0]]
func.func @kept(%x: tensor<4x8xf32>, %p: tensor<32xindex>) -> tensor<32xf32> {
  %c0 = arith.constant 0 : index
  %e = tensor.empty() : tensor<32xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%p : tensor<32xindex>) outs(%e : tensor<32xf32>) {
  ^bb0(%place: index, %o: f32):
    %r = tensor.extract %x[%c0, %place] : tensor<4x8xf32>
    linalg.yield %r : f32
  } -> tensor<32xf32>
  return %y : tensor<32xf32>
}

// CHECK-LABEL: func.func @called(
// CHECK-SAME:    tensor<4xf32>) -> tensor<4xf32>
func.func @called(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// CHECK-LABEL: func.func @caller(
// CHECK-SAME:    %[[X:.*]]: tensor<?xf32>) -> tensor<4xf32>
// CHECK:         %[[X0:.*]] = tensor.cast %[[X]] : tensor<?xf32> to tensor<4xf32>
// CHECK:         call @called(%[[X0]])
func.func @caller(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = func.call @called(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// CHECK-LABEL: func.func @alias(
// CHECK-SAME:    %{{.*}}: tensor<?xf32>) -> (tensor<4xf32> {array.alias = 0 : i64})
func.func @alias(%x: tensor<4xf32> {array.donated}, %y: tensor<4xf32>) -> (tensor<4xf32> {array.alias = 0 : i64}) {
  %z = array.add %x, %y : tensor<4xf32>
  return %z : tensor<4xf32>
}

// Of a private function others know the types: who declares its gradient does.
// CHECK-LABEL: func.func private @hidden(
// CHECK-SAME:    %{{.*}}: tensor<4xf32>) -> tensor<4xf32>
func.func private @hidden(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = array.exp %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
