// RUN: xc-opt %s -canonicalize -split-input-file | FileCheck %s

// CHECK-LABEL: func.func @neutral_operands(
// CHECK-SAME: %[[X:.*]]: tensor<4x?xf32>, %[[I:.*]]: tensor<4xi32>)
func.func @neutral_operands(%x: tensor<4x?xf32>, %i: tensor<4xi32>) -> (tensor<4x?xf32>, tensor<4x?xf32>, tensor<4x?xf32>, tensor<4x?xf32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>) {
  %one = array.constant dense<1.0> : tensor<f32>
  %zero = array.constant dense<0.0> : tensor<f32>
  %minus_zero = array.constant dense<-0.0> : tensor<f32>
  %izero = array.constant dense<0> : tensor<4xi32>
  %iones = array.constant dense<-1> : tensor<i32>
  %0 = array.mul %one, %x : (tensor<f32>, tensor<4x?xf32>) -> tensor<4x?xf32>
  %1 = array.div %x, %one : (tensor<4x?xf32>, tensor<f32>) -> tensor<4x?xf32>
  %2 = array.sub %x, %zero : (tensor<4x?xf32>, tensor<f32>) -> tensor<4x?xf32>
  %3 = array.add %x, %minus_zero : (tensor<4x?xf32>, tensor<f32>) -> tensor<4x?xf32>
  %4 = array.add %izero, %i : tensor<4xi32>
  %5 = array.and %i, %iones : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  %6 = array.xor %i, %izero : tensor<4xi32>
  // CHECK: return %[[X]], %[[X]], %[[X]], %[[X]], %[[I]], %[[I]], %[[I]]
  return %0, %1, %2, %3, %4, %5, %6 : tensor<4x?xf32>, tensor<4x?xf32>, tensor<4x?xf32>, tensor<4x?xf32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>
}

// -----

// x + 0.0 turns -0 into +0; a broadcast changes the shape.
// CHECK-LABEL: func.func @not_neutral(
func.func @not_neutral(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<2x4xf32>) {
  %zero = array.constant dense<0.0> : tensor<f32>
  %ones = array.constant dense<1.0> : tensor<2x1xf32>
  // CHECK: %[[SUM:.*]] = array.add
  %0 = array.add %x, %zero : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK: %[[PRODUCT:.*]] = array.mul
  %1 = array.mul %x, %ones : (tensor<4xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
  // CHECK: return %[[SUM]], %[[PRODUCT]]
  return %0, %1 : tensor<4xf32>, tensor<2x4xf32>
}

// -----

// CHECK-LABEL: func.func @involutions(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>, %[[P:.*]]: tensor<4xi1>)
func.func @involutions(%x: tensor<4xf32>, %p: tensor<4xi1>) -> (tensor<4xf32>, tensor<4xi1>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = array.neg %x : tensor<4xf32>
  %1 = array.neg %0 : tensor<4xf32>
  %2 = array.logical_not %p : tensor<4xi1>
  %3 = array.logical_not %2 : tensor<4xi1>
  %4 = array.max %x, %x : tensor<4xf32>
  %5 = array.convert %x : tensor<4xf32> -> tensor<4xf32>
  %true = array.constant dense<true> : tensor<i1>
  %6 = array.select %true, %x, %0 : (tensor<i1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK: return %[[X]], %[[P]], %[[X]], %[[X]], %[[X]]
  return %1, %3, %4, %5, %6 : tensor<4xf32>, tensor<4xi1>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @convert_of_convert(
// CHECK-SAME: %[[H:.*]]: tensor<4xf16>, %[[X:.*]]: tensor<4xf32>)
func.func @convert_of_convert(%h: tensor<4xf16>, %x: tensor<4xf32>) -> (tensor<4xf64>, tensor<4xf16>, tensor<4xf32>) {
  %0 = array.convert %h : tensor<4xf16> -> tensor<4xf32>
  // CHECK: %[[WIDE:.*]] = array.convert %[[H]] : tensor<4xf16> -> tensor<4xf64>
  %1 = array.convert %0 : tensor<4xf32> -> tensor<4xf64>
  %2 = array.convert %0 : tensor<4xf32> -> tensor<4xf16>
  // The rounding to 16 bits must stay.
  // CHECK: %[[NARROW:.*]] = array.convert %[[X]] : tensor<4xf32> -> tensor<4xbf16>
  %3 = array.convert %x : tensor<4xf32> -> tensor<4xbf16>
  // CHECK: %[[BACK:.*]] = array.convert %[[NARROW]]
  %4 = array.convert %3 : tensor<4xbf16> -> tensor<4xf32>
  // CHECK: return %[[WIDE]], %[[H]], %[[BACK]]
  return %1, %2, %4 : tensor<4xf64>, tensor<4xf16>, tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @float_constants(
func.func @float_constants() -> (tensor<2x3xf32>, tensor<2xf32>, tensor<2xf16>, tensor<3xf32>, tensor<3xf32>, tensor<2xf32>) {
  %row = array.constant dense<[1.0, 2.0, 4.0]> : tensor<3xf32>
  %column = array.constant dense<[[1.0], [-0.5]]> : tensor<2x1xf32>
  %nan = array.constant dense<[0x7FC00000, -3.5]> : tensor<2xf32>
  %large = array.constant dense<[1.0e10, 0.1]> : tensor<2xf32>
  // CHECK-DAG: %[[BROADCAST:.*]] = array.constant dense<{{\[\[}}1.000000e+00, 2.000000e+00, 4.000000e+00], [-5.000000e-01, -1.000000e+00, -2.000000e+00]]> : tensor<2x3xf32>
  %0 = array.mul %column, %row : (tensor<2x1xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  // NaN wins.
  // CHECK-DAG: %[[MAX:.*]] = array.constant dense<[0x7FC00000, 0.000000e+00]> : tensor<2xf32>
  %zero = array.constant dense<0.0> : tensor<f32>
  %1 = array.max %nan, %zero : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  // CHECK-DAG: %[[HALF:.*]] = array.constant dense<[0x7C00, 9.997550e-02]> : tensor<2xf16>
  %2 = array.convert %large : tensor<2xf32> -> tensor<2xf16>
  // CHECK-DAG: %[[RECIPROCAL:.*]] = array.constant dense<[1.000000e+00, 5.000000e-01, 2.500000e-01]> : tensor<3xf32>
  %3 = array.reciprocal %row : tensor<3xf32>
  // The last bit is the device's: not folded.
  // CHECK-DAG: %[[EXP:.*]] = array.exp
  %4 = array.exp %row : tensor<3xf32>
  // CHECK-DAG: %[[ROUND:.*]] = array.constant dense<[0x7FC00000, -4.000000e+00]> : tensor<2xf32>
  %5 = array.round %nan : tensor<2xf32>
  // CHECK: return %[[BROADCAST]], %[[MAX]], %[[HALF]], %[[RECIPROCAL]], %[[EXP]], %[[ROUND]]
  return %0, %1, %2, %3, %4, %5 : tensor<2x3xf32>, tensor<2xf32>, tensor<2xf16>, tensor<3xf32>, tensor<3xf32>, tensor<2xf32>
}

// -----

// CHECK-LABEL: func.func @integer_constants(
func.func @integer_constants() -> (tensor<4xi8>, tensor<4xi8>, tensor<4xi8>, tensor<4xi8>, tensor<4xi8>, tensor<4xi32>, tensor<3xui8>) {
  %a = array.constant dense<[127, -128, 7, -7]> : tensor<4xi8>
  %b = array.constant dense<[1, -1, 0, 2]> : tensor<4xi8>
  // CHECK-DAG: %[[ADD:.*]] = array.constant dense<[-128, 127, 7, -5]> : tensor<4xi8>
  %0 = array.add %a, %b : tensor<4xi8>
  // CHECK-DAG: %[[DIV:.*]] = array.constant dense<[127, -128, -1, -3]> : tensor<4xi8>
  %1 = array.div %a, %b : tensor<4xi8>
  // CHECK-DAG: %[[REM:.*]] = array.constant dense<[0, 0, 7, -1]> : tensor<4xi8>
  %2 = array.rem %a, %b : tensor<4xi8>
  // CHECK-DAG: %[[POW:.*]] = array.constant dense<[127, 0, 1, 49]> : tensor<4xi8>
  %3 = array.pow %a, %b : tensor<4xi8>
  // CHECK-DAG: %[[SIGN:.*]] = array.constant dense<[1, -1, 1, -1]> : tensor<4xi8>
  %4 = array.sign %a : tensor<4xi8>
  // CHECK-DAG: %[[WIDE:.*]] = array.constant dense<[127, -128, 7, -7]> : tensor<4xi32>
  %5 = array.convert %a : tensor<4xi8> -> tensor<4xi32>
  // Saturates; NaN is 0.
  // CHECK-DAG: %[[SATURATED:.*]] = array.constant dense<[255, 0, 0]> : tensor<3xui8>
  %x = array.constant dense<[300.0, -1.5, 0x7FC00000]> : tensor<3xf32>
  %6 = array.convert %x : tensor<3xf32> -> tensor<3xui8>
  // CHECK: return %[[ADD]], %[[DIV]], %[[REM]], %[[POW]], %[[SIGN]], %[[WIDE]], %[[SATURATED]]
  return %0, %1, %2, %3, %4, %5, %6 : tensor<4xi8>, tensor<4xi8>, tensor<4xi8>, tensor<4xi8>, tensor<4xi8>, tensor<4xi32>, tensor<3xui8>
}

// -----

// CHECK-LABEL: func.func @predicates(
func.func @predicates() -> (tensor<3xi1>, tensor<3xi1>, tensor<2xi1>, tensor<3xi1>, tensor<3xf32>) {
  %a = array.constant dense<[0x7FC00000, -0.0, 0x7F800000]> : tensor<3xf32>
  %zero = array.constant dense<0.0> : tensor<f32>
  // CHECK-DAG: %[[EQ:.*]] = array.constant dense<[false, true, false]> : tensor<3xi1>
  %0 = array.compare eq, %a, %zero : (tensor<3xf32>, tensor<f32>) -> tensor<3xi1>
  // CHECK-DAG: %[[NE:.*]] = array.constant dense<[true, false, true]> : tensor<3xi1>
  %1 = array.compare ne, %a, %zero : (tensor<3xf32>, tensor<f32>) -> tensor<3xi1>
  %u = array.constant dense<[255, 1]> : tensor<2xui8>
  %v = array.constant dense<2> : tensor<ui8>
  // CHECK-DAG: %[[GT:.*]] = array.constant dense<[true, false]> : tensor<2xi1>
  %2 = array.compare gt, %u, %v : (tensor<2xui8>, tensor<ui8>) -> tensor<2xi1>
  %3 = array.is_finite %a : tensor<3xf32> -> tensor<3xi1>
  // CHECK-DAG: %[[SELECT:.*]] = array.constant dense<[0.000000e+00, -0.000000e+00, 0.000000e+00]> : tensor<3xf32>
  %4 = array.select %3, %a, %zero : (tensor<3xi1>, tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  // CHECK: return %[[EQ]], %[[NE]], %[[GT]], %[[EQ]], %[[SELECT]]
  return %0, %1, %2, %3, %4 : tensor<3xi1>, tensor<3xi1>, tensor<2xi1>, tensor<3xi1>, tensor<3xf32>
}

// -----

// In f32 first, as kernels compute: once rounded it would be 258, and 2050.
// CHECK-LABEL: @fma_narrow
// CHECK-DAG: array.constant dense<2.600000e+02> : tensor<bf16>
// CHECK-DAG: array.constant dense<2.048000e+03> : tensor<f16>
// CHECK-NOT: array.fma
func.func @fma_narrow() -> (tensor<bf16>, tensor<f16>) {
  %a = array.constant dense<7.0> : tensor<bf16>
  %b = array.constant dense<37.0> : tensor<bf16>
  %c = array.constant dense<-9.5367431640625e-7> : tensor<bf16>
  %0 = array.fma %a, %b, %c : tensor<bf16>
  %d = array.constant dense<3.0> : tensor<f16>
  %e = array.constant dense<683.0> : tensor<f16>
  %f = array.constant dense<6.103515625e-5> : tensor<f16>
  %1 = array.fma %d, %e, %f : tensor<f16>
  return %0, %1 : tensor<bf16>, tensor<f16>
}

// -----

// Splats of any size fold, other large constants do not.
// CHECK-LABEL: func.func @large_constants(
func.func @large_constants() -> (tensor<100000xf32>, tensor<128x128xf32>) {
  %a = array.constant dense<2.0> : tensor<100000xf32>
  // CHECK-DAG: %[[SPLAT:.*]] = array.constant dense<4.000000e+00> : tensor<100000xf32>
  %0 = array.add %a, %a : tensor<100000xf32>
  %row = array.constant dense_resource<row> : tensor<128xf32>
  %column = array.constant dense<3.0> : tensor<128x1xf32>
  // CHECK-DAG: %[[SUM:.*]] = array.add
  %1 = array.add %row, %column : (tensor<128xf32>, tensor<128x1xf32>) -> tensor<128x128xf32>
  // CHECK: return %[[SPLAT]], %[[SUM]]
  return %0, %1 : tensor<100000xf32>, tensor<128x128xf32>
}

// -----

// With a negative exponent the base decides, though the power with the positive one wraps.
// CHECK-LABEL: @pow_negative
// CHECK: array.constant dense<[0, 0, 0, 0, 1, -1, 1, -1, 0]> : tensor<9xi32>
func.func @pow_negative() -> tensor<9xi32> {
  %a = array.constant dense<[2, 4, 3, 2, 1, -1, -1, 0, -2]> : tensor<9xi32>
  %b = array.constant dense<[-32, -16, -1073741824, -31, -2147483648, -3, -2147483648, -2147483648, -31]> : tensor<9xi32>
  %c = array.pow %a, %b : tensor<9xi32>
  return %c : tensor<9xi32>
}
