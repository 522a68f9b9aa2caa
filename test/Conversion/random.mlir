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
// CHECK-COUNT-18: arith.muli %{{.*}} : i64
// CHECK:          linalg.yield %{{.*}} : i64
func.func @philox(%key: tensor<2xui32>, %counter: tensor<ui64>, %n: index) -> tensor<?xui64> {
  %0 = array.random_bits %key counter(%counter : tensor<ui64>) sizes(%n) algorithm = philox
     : tensor<2xui32> -> tensor<?xui64>
  return %0 : tensor<?xui64>
}
