// RUN: xc-opt %s -xc-convert-array-to-linalg -canonicalize -cse | FileCheck %s

// The words of the key are all that a kernel reads; each element enciphers its own number.
// CHECK-LABEL: func.func @threefry(
// CHECK-SAME:    %[[KEY:.*]]: tensor<2xi32>
// CHECK-DAG:     %[[K0:.*]] = tensor.extract_slice %[[KEY]][0] [1] [1] : tensor<2xi32> to tensor<i32>
// CHECK-DAG:     %[[K1:.*]] = tensor.extract_slice %[[KEY]][1] [1] [1] : tensor<2xi32> to tensor<i32>
// CHECK:         linalg.generic {{.*}} ins(%[[K0]], %[[K1]] : tensor<i32>, tensor<i32>) outs(%{{.*}} : tensor<4x8xi32>)
// CHECK:           %[[ROW:.*]] = linalg.index 0
// CHECK:           %[[COLUMN:.*]] = linalg.index 1
// CHECK-COUNT-20:  arith.shli
// CHECK-NOT:       arith.shli
// CHECK:           linalg.yield
func.func @threefry(%key: tensor<2xui32>) -> tensor<4x8xui32> {
  %0 = array.random_bits %key : tensor<2xui32> -> tensor<4x8xui32>
  return %0 : tensor<4x8xui32>
}

// CHECK-LABEL: func.func @philox(
// CHECK-SAME:    %{{.*}}: tensor<2xi32> {{{.*}}}, %[[COUNTER:.*]]: tensor<i64>
// CHECK:         linalg.generic {{.*}} ins(%{{.*}}, %{{.*}}, %[[COUNTER]] : tensor<i32>, tensor<i32>, tensor<i64>)
// CHECK:           %[[I:.*]] = linalg.index 0
// CHECK:           %[[BLOCK:.*]] = arith.divui %[[I]], %c2
// CHECK:           %[[NUMBER:.*]] = arith.index_cast %[[BLOCK]] : index to i64
// CHECK:           %[[ELEMENT:.*]] = arith.remui %[[I]], %c2
// CHECK:           arith.addi %[[NUMBER]], %{{.*}} : i64
// CHECK-COUNT-19:  arith.muli %{{.*}} : i64
// CHECK-NOT:       arith.muli
// CHECK:           %[[IS_FIRST:.*]] = arith.cmpi eq, %[[ELEMENT]], %c0
// CHECK-COUNT-2:   arith.select %[[IS_FIRST]]
// CHECK:           linalg.yield %{{.*}} : i64
func.func @philox(%key: tensor<2xui32>, %counter: tensor<ui64>, %n: index) -> tensor<?xui64> {
  %0 = array.random_bits %key counter(%counter : tensor<ui64>) sizes(%n) algorithm = philox
     : tensor<2xui32> -> tensor<?xui64>
  return %0 : tensor<?xui64>
}

// Rows of whole blocks: the innermost index alone says which word it is.
// CHECK-LABEL: func.func @philox_rows(
// CHECK:         %[[COLUMN:.*]] = linalg.index 1
// CHECK:         %[[QUOTIENT:.*]] = arith.divui %[[COLUMN]], %c4
// CHECK:         %[[WORD:.*]] = arith.remui %[[COLUMN]], %c4
// CHECK:         %[[ROW:.*]] = linalg.index 0
// CHECK:         %[[FIRST:.*]] = arith.muli %{{.*}}, %c2_i32 : i32
// CHECK:         arith.addi %[[FIRST]]
// CHECK-COUNT-3: arith.select {{.*}} : i32
func.func @philox_rows(%key: tensor<2xui32>) -> tensor<4x8xui32> {
  %0 = array.random_bits %key algorithm = philox : tensor<2xui32> -> tensor<4x8xui32>
  return %0 : tensor<4x8xui32>
}

// Others: the row-major number does.
// CHECK-LABEL: func.func @philox_odd_rows(
// CHECK:         %[[N:.*]] = arith.addi {{.*}} : i32
// CHECK:         arith.divui %[[N]], %c4_i32 : i32
// CHECK:         arith.remui %[[N]], %c4_i32 : i32
func.func @philox_odd_rows(%key: tensor<2xui32>) -> tensor<4x7xui32> {
  %0 = array.random_bits %key algorithm = philox : tensor<2xui32> -> tensor<4x7xui32>
  return %0 : tensor<4x7xui32>
}
