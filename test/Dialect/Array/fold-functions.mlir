// RUN: xc-opt %s -canonicalize | FileCheck %s

// CHECK-LABEL: func.func @integers(
func.func @integers() -> (tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>) {
  %a = array.constant dense<[7, -7, -1, 5]> : tensor<4xi32>
  %b = array.constant dense<[2, 2, 33, 0]> : tensor<4xi32>
  // CHECK-DAG: %[[DIV:.*]] = array.constant dense<[3, -4, -1, -1]> : tensor<4xi32>
  %0 = array.floor_div %a, %b : tensor<4xi32>
  // CHECK-DAG: %[[MOD:.*]] = array.constant dense<[1, 1, 32, 5]> : tensor<4xi32>
  %1 = array.mod %a, %b : tensor<4xi32>
  // CHECK-DAG: %[[LEFT:.*]] = array.constant dense<[28, -28, 0, 5]> : tensor<4xi32>
  %2 = array.shift_left %a, %b : tensor<4xi32>
  // CHECK-DAG: %[[LOGICAL:.*]] = array.constant dense<[1, 1073741822, 0, 5]> : tensor<4xi32>
  %3 = array.shift_right_logical %a, %b : tensor<4xi32>
  // CHECK-DAG: %[[ARITHMETIC:.*]] = array.constant dense<[1, -2, -1, 5]> : tensor<4xi32>
  %4 = array.shift_right_arithmetic %a, %b : tensor<4xi32>
  // CHECK: return %[[DIV]], %[[MOD]], %[[LEFT]], %[[LOGICAL]], %[[ARITHMETIC]]
  return %0, %1, %2, %3, %4 : tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>
}

// CHECK-LABEL: func.func @floats(
func.func @floats() -> (tensor<4xf32>, tensor<4xf32>) {
  %a = array.constant dense<[7.0, -7.0, 6.0, 1.0]> : tensor<4xf32>
  %b = array.constant dense<[2.0, 2.0, -3.0, 1.0]> : tensor<4xf32>
  // CHECK-DAG: %[[MOD:.*]] = array.constant dense<[1.000000e+00, 1.000000e+00, -0.000000e+00, 0.000000e+00]>
  %0 = array.mod %a, %b : tensor<4xf32>
  // CHECK-DAG: %[[NEXT:.*]] = array.constant dense<[6.99999952, -6.99999952, 5.99999952, 1.000000e+00]>
  %1 = array.nextafter %a, %b : tensor<4xf32>
  // CHECK: return %[[MOD]], %[[NEXT]]
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @identities(
// CHECK-SAME:    %[[X:.*]]: tensor<4xui8>
func.func @identities(%x: tensor<4xui8>) -> (tensor<4xui8>, tensor<4xui8>, tensor<4xui8>) {
  %zero = array.constant dense<0> : tensor<4xui8>
  %0 = array.shift_left %x, %zero : tensor<4xui8>
  %1 = array.shift_right_logical %x, %zero : tensor<4xui8>
  %2 = array.shift_right_arithmetic %x, %zero : tensor<4xui8>
  // CHECK: return %[[X]], %[[X]], %[[X]]
  return %0, %1, %2 : tensor<4xui8>, tensor<4xui8>, tensor<4xui8>
}
