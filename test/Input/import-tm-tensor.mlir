// RUN: xc-opt %s -split-input-file -verify-diagnostics -xc-import-tm-tensor | FileCheck %s --implicit-check-not=tm_tensor

// CHECK-LABEL: func.func @scans
// CHECK-SAME: %[[X:.*]]: tensor<3x4xf32>, %[[I:.*]]: tensor<4xi64>, %[[START:.*]]: tensor<i64>
func.func @scans(%x: tensor<3x4xf32>, %i: tensor<4xi64>, %start: tensor<i64>) -> (tensor<3x4xf32>, tensor<4xi64>) {
  %a = tensor.empty() : tensor<3x4xf32>
  %b = tensor.empty() : tensor<3xf32>
  // CHECK: %[[SUMS:.*]] = array.cumsum %[[X]] axis = 1 : tensor<3x4xf32>
  %y:2 = tm_tensor.scan dimension(1) inclusive(true) ins(%x : tensor<3x4xf32>) outs(%a, %b : tensor<3x4xf32>, tensor<3xf32>) {
  ^bb0(%next: f32, %total: f32):
    %sum = arith.addf %next, %total : f32
    tm_tensor.yield %sum : f32
  } -> tensor<3x4xf32>, tensor<3xf32>
  %c = tensor.empty() : tensor<4xi64>
  // What comes before the first element is where the second output starts.
  // CHECK: %[[LARGEST:.*]] = array.cummax %[[I]] axis = 0 exclusive
  // CHECK: %[[FIRST:.*]] = array.expand_dims %[[START]]
  // CHECK: %[[BOTH:.*]] = array.max %[[LARGEST]], %[[FIRST]]
  %z:2 = tm_tensor.scan dimension(0) inclusive(false) ins(%i : tensor<4xi64>) outs(%c, %start : tensor<4xi64>, tensor<i64>) {
  ^bb0(%next: i64, %total: i64):
    %max = arith.maxsi %total, %next : i64
    tm_tensor.yield %max : i64
  } -> tensor<4xi64>, tensor<i64>
  // CHECK: return %[[SUMS]], %[[BOTH]]
  return %y#0, %z#0 : tensor<3x4xf32>, tensor<4xi64>
}

// -----

// CHECK-LABEL: func.func @scatters
// CHECK-SAME: %[[X:.*]]: tensor<8x2xf32>, %[[ROWS:.*]]: tensor<3x1xi64>, %[[NEW:.*]]: tensor<3x2xf32>
func.func @scatters(%x: tensor<8x2xf32>, %rows: tensor<3x1xi64>, %new: tensor<3x2xf32>) -> (tensor<8x2xf32>, tensor<8x2xf32>) {
  // CHECK: array.scatter set, %[[X]][%[[ROWS]]] axes = [0] = %[[NEW]] unique
  %a = tm_tensor.scatter {dimension_map = array<i64: 0>} unique_indices(true) ins(%new, %rows : tensor<3x2xf32>, tensor<3x1xi64>) outs(%x : tensor<8x2xf32>) {
  ^bb0(%update: f32, %old: f32):
    tm_tensor.yield %update : f32
  } -> tensor<8x2xf32>
  // CHECK: array.scatter mul, %[[X]][%[[ROWS]]] axes = [0] = %[[NEW]] :
  %b = tm_tensor.scatter {dimension_map = array<i64: 0>} unique_indices(false) ins(%new, %rows : tensor<3x2xf32>, tensor<3x1xi64>) outs(%x : tensor<8x2xf32>) {
  ^bb0(%update: f32, %old: f32):
    %product = arith.mulf %update, %old : f32
    tm_tensor.yield %product : f32
  } -> tensor<8x2xf32>
  return %a, %b : tensor<8x2xf32>, tensor<8x2xf32>
}

// -----

// CHECK-LABEL: func.func @orders
// CHECK-SAME: %[[X:.*]]: tensor<2x8xf32>, %[[I:.*]]: tensor<2x8xi64>
func.func @orders(%x: tensor<2x8xf32>, %i: tensor<2x8xi64>) -> (tensor<2x8xf32>, tensor<2x8xi64>, tensor<2x8xf32>) {
  // CHECK: %[[PLACES:.*]] = array.argsort %[[X]] axis = 1 descending : tensor<2x8xf32> -> tensor<2x8xi64>
  // CHECK: array.take_along_axis %[[X]][%[[PLACES]]] axis = 1
  // CHECK: array.take_along_axis %[[I]][%[[PLACES]]] axis = 1
  %y:2 = tm_tensor.sort dimension(1) outs(%x, %i : tensor<2x8xf32>, tensor<2x8xi64>) {
  ^bb0(%a: f32, %b: f32, %c: i64, %d: i64):
    %first = arith.cmpf oge, %a, %b : f32
    tm_tensor.yield %first : i1
  } -> tensor<2x8xf32>, tensor<2x8xi64>
  // The larger argument first, but of the second and the first element.
  // CHECK: array.sort %[[X]] axis = 1 : tensor<2x8xf32>
  %z = tm_tensor.sort dimension(1) outs(%x : tensor<2x8xf32>) {
  ^bb0(%a: f32, %b: f32):
    %first = arith.cmpf oge, %b, %a : f32
    tm_tensor.yield %first : i1
  } -> tensor<2x8xf32>
  return %y#0, %y#1, %z : tensor<2x8xf32>, tensor<2x8xi64>, tensor<2x8xf32>
}

// -----

// CHECK-LABEL: func.func @first_of_an_order
// CHECK-SAME: %[[X:.*]]: tensor<2x8xf32>
func.func @first_of_an_order(%x: tensor<2x8xf32>) -> (tensor<2x3xf32>, tensor<2x3xi32>) {
  %a = tensor.empty() : tensor<2x3xf32>
  %b = tensor.empty() : tensor<2x3xi32>
  // CHECK: %[[VALUES:.*]], %[[PLACES:.*]] = array.topk %[[X]] k = 3 axis = 1 smallest
  // CHECK: array.convert %[[PLACES]] : tensor<2x3xi64> -> tensor<2x3xi32>
  %y:2 = tm_tensor.topk dimension(1) ins(%x : tensor<2x8xf32>) outs(%a, %b : tensor<2x3xf32>, tensor<2x3xi32>) {
  ^bb0(%next: f32, %kept: f32):
    %smaller = arith.cmpf olt, %next, %kept : f32
    tm_tensor.yield %smaller : i1
  } -> tensor<2x3xf32>, tensor<2x3xi32>
  return %y#0, %y#1 : tensor<2x3xf32>, tensor<2x3xi32>
}

// -----

// CHECK-LABEL: func.func @attention
func.func @attention(%q: tensor<2x4x16xf32>, %k: tensor<2x6x16xf32>, %v: tensor<2x6x16xf32>, %m: tensor<2x4x6xf32>) -> tensor<2x4x16xf32> {
  %init = tensor.empty() : tensor<2x4x16xf32>
  // CHECK: array.attention %arg0, %arg1, %arg2 mask(%arg3 : tensor<2x4x6xf32>) scale = 2.500000e-01
  %y = tm_tensor.attention ins(%q, %k, %v, %m : tensor<2x4x16xf32>, tensor<2x6x16xf32>, tensor<2x6x16xf32>, tensor<2x4x6xf32>) outs(%init : tensor<2x4x16xf32>) -> tensor<2x4x16xf32>
  return %y : tensor<2x4x16xf32>
}

// -----

func.func @other_body(%x: tensor<4xf32>, %a: tensor<4xf32>, %b: tensor<f32>) -> tensor<4xf32> {
  // expected-error @below {{'tm_tensor.scan' is not supported: its body is no sum, product, maximum or minimum of its two arguments}}
  %y:2 = tm_tensor.scan dimension(0) inclusive(true) ins(%x : tensor<4xf32>) outs(%a, %b : tensor<4xf32>, tensor<f32>) {
  ^bb0(%next: f32, %total: f32):
    %difference = arith.subf %total, %next : f32
    tm_tensor.yield %difference : f32
  } -> tensor<4xf32>, tensor<f32>
  return %y#0 : tensor<4xf32>
}

// -----

func.func @last_total(%x: tensor<4xf32>, %a: tensor<4xf32>, %b: tensor<f32>) -> tensor<f32> {
  // expected-error @below {{'tm_tensor.scan' is not supported: its second result, the last total, is used}}
  %y:2 = tm_tensor.scan dimension(0) inclusive(true) ins(%x : tensor<4xf32>) outs(%a, %b : tensor<4xf32>, tensor<f32>) {
  ^bb0(%next: f32, %total: f32):
    %sum = arith.addf %total, %next : f32
    tm_tensor.yield %sum : f32
  } -> tensor<4xf32>, tensor<f32>
  return %y#1 : tensor<f32>
}

// -----

func.func @no_order(%x: tensor<4xi32>) -> tensor<4xi32> {
  // expected-error @below {{'tm_tensor.sort' is not supported: its body does not order by one operand, up or down, in signed integers or floats}}
  %y = tm_tensor.sort dimension(0) outs(%x : tensor<4xi32>) {
  ^bb0(%a: i32, %b: i32):
    %first = arith.cmpi ult, %a, %b : i32
    tm_tensor.yield %first : i1
  } -> tensor<4xi32>
  return %y : tensor<4xi32>
}

// -----

func.func @inner_dim(%x: tensor<8x2xf32>, %rows: tensor<3x1xi64>, %new: tensor<3x8xf32>) -> tensor<8x2xf32> {
  // expected-error @below {{'tm_tensor.scatter' is not supported: its updates are not whole slices behind the dims that indices are of}}
  %y = tm_tensor.scatter {dimension_map = array<i64: 1>} unique_indices(true) ins(%new, %rows : tensor<3x8xf32>, tensor<3x1xi64>) outs(%x : tensor<8x2xf32>) {
  ^bb0(%update: f32, %old: f32):
    tm_tensor.yield %update : f32
  } -> tensor<8x2xf32>
  return %y : tensor<8x2xf32>
}

// -----

func.func @complex(%x: tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>> {
  // expected-error @below {{'tm_tensor.sort' has a tensor of type 'tensor<4xcomplex<f32>>'; supported element types are}}
  %y = tm_tensor.sort dimension(0) outs(%x : tensor<4xcomplex<f32>>) {
  ^bb0(%a: complex<f32>, %b: complex<f32>):
    %first = arith.constant true
    tm_tensor.yield %first : i1
  } -> tensor<4xcomplex<f32>>
  return %y : tensor<4xcomplex<f32>>
}

// -----

func.func @dimension(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'tm_tensor.sort' op expected a dimension of 'tensor<4xf32>', got 1}}
  %y = tm_tensor.sort dimension(1) outs(%x : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %first = arith.cmpf olt, %a, %b : f32
    tm_tensor.yield %first : i1
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @depth(%x: tensor<8xf32>, %rows: tensor<3x2xi64>, %new: tensor<3xf32>) -> tensor<8xf32> {
  // expected-error @below {{'tm_tensor.scatter' op expected rows of 1 integers as indices, got 'tensor<3x2xi64>'}}
  %y = tm_tensor.scatter {dimension_map = array<i64: 0>} unique_indices(true) ins(%new, %rows : tensor<3xf32>, tensor<3x2xi64>) outs(%x : tensor<8xf32>) {
  ^bb0(%update: f32, %old: f32):
    tm_tensor.yield %update : f32
  } -> tensor<8xf32>
  return %y : tensor<8xf32>
}
