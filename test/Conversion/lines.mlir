// RUN: xc-opt %s -xc-convert-array-to-linalg -canonicalize -cse | FileCheck %s

// CHECK-LABEL: func.func @scans(
// CHECK-SAME:    %[[X:.*]]: tensor<4x?xf16>, %[[U:.*]]: tensor<6xi8>
func.func @scans(%x: tensor<4x?xf16>, %u: tensor<6xui8>) -> (tensor<4x?xf16>, tensor<6xui8>) {
  // CHECK: %[[SIZE:.*]] = tensor.dim %[[X]], %{{.*}}
  // CHECK: %[[E:.*]] = tensor.empty(%[[SIZE]]) : tensor<4x?xf16>
  // CHECK: kernel.scan sum, %[[X]] into %[[E]] axis = 1 exclusive : tensor<4x?xf16> into tensor<4x?xf16> -> tensor<4x?xf16>
  %0 = array.cumsum %x axis = 1 exclusive : tensor<4x?xf16> -> tensor<4x?xf16>
  // CHECK: kernel.scan max, %[[U]] into %{{.*}} axis = 0 reverse unsigned_elements :
  %1 = array.cummax %u axis = 0 reverse : tensor<6xui8> -> tensor<6xui8>
  return %0, %1 : tensor<4x?xf16>, tensor<6xui8>
}

// Sorted is the last dim; others are brought there and back.
// CHECK-LABEL: func.func @sorts(
// CHECK-SAME:    %[[X:.*]]: tensor<9x4xf32>
func.func @sorts(%x: tensor<9x4xf32>) -> (tensor<9x4xf32>, tensor<9x4xi64>) {
  // CHECK: %[[T:.*]] = linalg.generic {{.*}} ins(%[[X]] : tensor<9x4xf32>) outs(%{{.*}} : tensor<4x9xf32>)
  // CHECK: %[[S:.*]]:2 = kernel.sort %[[T]] into %{{.*}}, %{{.*}} :
  // CHECK-SAME: tensor<4x9xf32> into tensor<4x9xf32>, tensor<4x9xi32>
  // CHECK: linalg.generic {{.*}} ins(%[[S]]#0 : tensor<4x9xf32>) outs(%{{.*}} : tensor<9x4xf32>)
  %0 = array.sort %x axis = 0 : tensor<9x4xf32> -> tensor<9x4xf32>
  // CHECK: kernel.sort %[[X]] into %{{.*}}, %{{.*}} descending :
  // CHECK-SAME: tensor<9x4xf32> into tensor<9x4xf32>, tensor<9x4xi64>
  %1 = array.argsort %x axis = 1 descending : tensor<9x4xf32> -> tensor<9x4xi64>
  return %0, %1 : tensor<9x4xf32>, tensor<9x4xi64>
}

// CHECK-LABEL: func.func @topk(
func.func @topk(%x: tensor<?x100xf32>) -> (tensor<?x3xf32>, tensor<?x3xi32>) {
  // CHECK: kernel.sort %{{.*}} into %{{.*}}, %{{.*}} descending keep = 3 :
  %0, %1 = array.topk %x k = 3 axis = 1 : tensor<?x100xf32> -> tensor<?x3xf32>, tensor<?x3xi32>
  return %0, %1 : tensor<?x3xf32>, tensor<?x3xi32>
}

// Three steps halve what eight places leave.
// CHECK-LABEL: func.func @searchsorted(
// CHECK-SAME:    %[[SORTED:.*]]: tensor<7xi32>
func.func @searchsorted(%sorted: tensor<7xi32>, %x: tensor<5xi32>) -> tensor<5xi32> {
  // CHECK-COUNT-3: tensor.extract %[[SORTED]]
  // CHECK-NOT: tensor.extract
  %0 = array.searchsorted %sorted, %x : (tensor<7xi32>, tensor<5xi32>) -> tensor<5xi32>
  return %0 : tensor<5xi32>
}
