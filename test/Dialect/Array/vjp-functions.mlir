// RUN: xc-opt %s -xc-array-test-vjp | FileCheck %s

// Each op's own result serves as its cotangent.

// CHECK-LABEL: func.func @asin(
func.func @asin(%x: tensor<4xf32>) {
  // CHECK: %[[R:.*]] = array.asin
  // CHECK: %[[D:.*]] = array.rsqrt
  // CHECK: array.mul %[[R]], %[[D]]
  %r = array.asin %x {vjp} : tensor<4xf32>
  return
}

// CHECK-LABEL: func.func @acos(
func.func @acos(%x: tensor<4xf32>) {
  // CHECK: %[[R:.*]] = array.acos
  // CHECK: %[[D:.*]] = array.rsqrt
  // CHECK: %[[N:.*]] = array.neg %[[D]]
  // CHECK: array.mul %[[R]], %[[N]]
  %r = array.acos %x {vjp} : tensor<4xf32>
  return
}

// CHECK-LABEL: func.func @atan(
func.func @atan(%x: tensor<4xf32>) {
  // CHECK: %[[R:.*]] = array.atan
  // CHECK: %[[D:.*]] = array.reciprocal
  // CHECK: array.mul %[[R]], %[[D]]
  %r = array.atan %x {vjp} : tensor<4xf32>
  return
}

// CHECK-LABEL: func.func @sinh(
func.func @sinh(%x: tensor<4xf32>) {
  // CHECK: %[[R:.*]] = array.sinh
  // CHECK: %[[D:.*]] = array.cosh
  // CHECK: array.mul %[[R]], %[[D]]
  %r = array.sinh %x {vjp} : tensor<4xf32>
  return
}

// CHECK-LABEL: func.func @cosh(
func.func @cosh(%x: tensor<4xf32>) {
  // CHECK: %[[R:.*]] = array.cosh
  // CHECK: %[[D:.*]] = array.sinh
  // CHECK: array.mul %[[R]], %[[D]]
  %r = array.cosh %x {vjp} : tensor<4xf32>
  return
}

// CHECK-LABEL: func.func @asinh(
func.func @asinh(%x: tensor<4xf32>) {
  // CHECK: %[[R:.*]] = array.asinh
  // CHECK: %[[D:.*]] = array.rsqrt
  // CHECK: array.mul %[[R]], %[[D]]
  %r = array.asinh %x {vjp} : tensor<4xf32>
  return
}

// CHECK-LABEL: func.func @acosh(
func.func @acosh(%x: tensor<4xf32>) {
  // CHECK: %[[R:.*]] = array.acosh
  // CHECK: array.constant dense<-1.000000e+00>
  // CHECK: %[[D:.*]] = array.rsqrt
  // CHECK: array.mul %[[R]], %[[D]]
  %r = array.acosh %x {vjp} : tensor<4xf32>
  return
}

// CHECK-LABEL: func.func @atanh(
func.func @atanh(%x: tensor<4xf32>) {
  // CHECK: %[[R:.*]] = array.atanh
  // CHECK: %[[D:.*]] = array.reciprocal
  // CHECK: array.mul %[[R]], %[[D]]
  %r = array.atanh %x {vjp} : tensor<4xf32>
  return
}

// CHECK-LABEL: func.func @cbrt(
func.func @cbrt(%x: tensor<4xf32>) {
  // CHECK: %[[R:.*]] = array.cbrt
  // CHECK: array.mul %[[R]], %[[R]]
  // CHECK: %[[D:.*]] = array.reciprocal
  // CHECK: array.mul %[[R]], %[[D]]
  %r = array.cbrt %x {vjp} : tensor<4xf32>
  return
}

// CHECK-LABEL: func.func @erfinv(
func.func @erfinv(%x: tensor<4xf32>) {
  // CHECK: %[[R:.*]] = array.erfinv
  // CHECK: %[[S:.*]] = array.mul %[[R]], %[[R]]
  // CHECK: array.exp %[[S]]
  // CHECK: array.mul %[[R]]
  %r = array.erfinv %x {vjp} : tensor<4xf32>
  return
}

// CHECK-LABEL: func.func @atan2(
func.func @atan2(%x: tensor<4xf32>, %y: tensor<4xf32>) {
  // CHECK: %[[R:.*]] = array.atan2
  // CHECK: %[[Q:.*]] = array.div %[[R]]
  // CHECK: %[[A:.*]] = array.mul %[[Q]], %arg1
  // CHECK: %[[M:.*]] = array.mul %[[Q]], %arg0
  // CHECK: %[[B:.*]] = array.neg %[[M]]
  // CHECK: return %[[A]], %[[B]]
  %r = array.atan2 %x, %y {vjp} : tensor<4xf32>
  return
}

// CHECK-LABEL: func.func @logaddexp(
func.func @logaddexp(%x: tensor<4xf32>, %y: tensor<4xf32>) {
  // CHECK: %[[R:.*]] = array.logaddexp
  // CHECK: array.sub %arg0, %[[R]]
  // CHECK: array.exp
  // CHECK: %[[A:.*]] = array.mul %[[R]]
  // CHECK: array.sub %arg1, %[[R]]
  // CHECK: array.exp
  // CHECK: %[[B:.*]] = array.mul %[[R]]
  // CHECK: return %[[A]], %[[B]]
  %r = array.logaddexp %x, %y {vjp} : tensor<4xf32>
  return
}

// CHECK-LABEL: func.func @scatter_add(
// CHECK-SAME:    %{{.*}}: tensor<5x3xf32>, %[[I:.*]]: tensor<7x1xi32>
func.func @scatter_add(%x: tensor<5x3xf32>, %i: tensor<7x1xi32>, %u: tensor<7x3xf32>) {
  // CHECK: %[[Y:.*]] = array.scatter add
  // CHECK: array.reduce and
  // CHECK: %[[INSIDE:.*]] = array.expand_dims
  // CHECK: %[[BACK:.*]] = array.gather %[[Y]][%[[I]]] axes = [0]
  // CHECK: %[[G:.*]] = array.select %[[INSIDE]], %[[BACK]]
  // CHECK: return %[[Y]], %[[G]]
  %y = array.scatter add, %x[%i] axes = [0] = %u {vjp} : (tensor<5x3xf32>, tensor<7x1xi32>, tensor<7x3xf32>) -> tensor<5x3xf32>
  return
}

// CHECK-LABEL: func.func @scatter_set(
func.func @scatter_set(%x: tensor<5xf32>, %i: tensor<7x1xi32>, %u: tensor<7xf32>) {
  // CHECK: %[[Y:.*]] = array.scatter set
  // CHECK: %[[G:.*]] = array.select
  // CHECK: %[[KEPT:.*]] = array.scatter set, %[[Y]]
  // CHECK: return %[[KEPT]], %[[G]]
  %y = array.scatter set, %x[%i] axes = [0] = %u unique {vjp} : (tensor<5xf32>, tensor<7x1xi32>, tensor<7xf32>) -> tensor<5xf32>
  return
}
