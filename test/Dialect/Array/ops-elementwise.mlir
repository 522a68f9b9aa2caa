// RUN: xc-opt %s -verify-roundtrip | FileCheck %s

// One type stands for all where they are equal; else the types are spelled out.
// CHECK-LABEL: func.func @types(
func.func @types(%x: tensor<4x?xf32>, %row: tensor<?xf32>, %s: tensor<f32>) {
  // CHECK: array.add %{{.*}}, %{{.*}} : tensor<4x?xf32>
  %0 = array.add %x, %x : tensor<4x?xf32>
  // CHECK: array.add %{{.*}}, %{{.*}} : (tensor<4x?xf32>, tensor<?xf32>) -> tensor<4x?xf32>
  %1 = array.add %x, %row : (tensor<4x?xf32>, tensor<?xf32>) -> tensor<4x?xf32>
  // CHECK: array.add %{{.*}}, %{{.*}} : (tensor<f32>, tensor<4x?xf32>) -> tensor<4x?xf32>
  %2 = array.add %s, %x : (tensor<f32>, tensor<4x?xf32>) -> tensor<4x?xf32>
  // CHECK: array.exp %{{.*}} : tensor<4x?xf32> -> tensor<?x?xf32>
  %3 = array.exp %x : tensor<4x?xf32> -> tensor<?x?xf32>
  // CHECK: array.exp %{{.*}} : tensor<4x?xf32>{{$}}
  %4 = array.exp %x : (tensor<4x?xf32>) -> tensor<4x?xf32>
  return
}

// CHECK-LABEL: func.func @broadcasting(
func.func @broadcasting(%a: tensor<4x1x?xf32>, %b: tensor<8x1xf32>, %c: tensor<8x?xf32>) {
  // CHECK: -> tensor<4x8x?xf32>
  %0 = array.mul %a, %b : (tensor<4x1x?xf32>, tensor<8x1xf32>) -> tensor<4x8x?xf32>
  // CHECK: -> tensor<4x8x?xf32>
  %1 = array.mul %a, %c : (tensor<4x1x?xf32>, tensor<8x?xf32>) -> tensor<4x8x?xf32>
  return
}

// CHECK-LABEL: func.func @float_unary(
func.func @float_unary(%x: tensor<4xf32>, %h: tensor<4xf16>, %b: tensor<4xbf16>, %d: tensor<4xf64>) {
  // CHECK: array.sqrt %{{.*}} : tensor<4xf32>
  %0 = array.sqrt %x : tensor<4xf32>
  // CHECK: array.rsqrt %{{.*}} : tensor<4xf16>
  %1 = array.rsqrt %h : tensor<4xf16>
  // CHECK: array.reciprocal %{{.*}} : tensor<4xbf16>
  %2 = array.reciprocal %b : tensor<4xbf16>
  // CHECK: array.exp %{{.*}} : tensor<4xf64>
  %3 = array.exp %d : tensor<4xf64>
  // CHECK: array.exp2 %
  %4 = array.exp2 %x : tensor<4xf32>
  // CHECK: array.expm1 %
  %5 = array.expm1 %x : tensor<4xf32>
  // CHECK: array.log %
  %6 = array.log %x : tensor<4xf32>
  // CHECK: array.log2 %
  %7 = array.log2 %x : tensor<4xf32>
  // CHECK: array.log1p %
  %8 = array.log1p %x : tensor<4xf32>
  // CHECK: array.floor %
  %9 = array.floor %x : tensor<4xf32>
  // CHECK: array.ceil %
  %10 = array.ceil %x : tensor<4xf32>
  // CHECK: array.round %
  %11 = array.round %x : tensor<4xf32>
  // CHECK: array.sin %
  %12 = array.sin %x : tensor<4xf32>
  // CHECK: array.cos %
  %13 = array.cos %x : tensor<4xf32>
  // CHECK: array.tan %
  %14 = array.tan %x : tensor<4xf32>
  // CHECK: array.tanh %
  %15 = array.tanh %x : tensor<4xf32>
  // CHECK: array.erf %
  %16 = array.erf %x : tensor<4xf32>
  // CHECK: array.sigmoid %
  %17 = array.sigmoid %x : tensor<4xf32>
  // CHECK: array.silu %
  %18 = array.silu %x : tensor<4xf32>
  // CHECK: array.gelu %{{.*}} : tensor<4xf32>
  %19 = array.gelu %x : tensor<4xf32>
  // CHECK: array.gelu %{{.*}} approximate = tanh : tensor<4xf32>
  %20 = array.gelu %x approximate = tanh : tensor<4xf32>
  // CHECK: array.is_nan %{{.*}} : tensor<4xf32> -> tensor<4xi1>
  %21 = array.is_nan %x : tensor<4xf32> -> tensor<4xi1>
  // CHECK: array.is_finite %{{.*}} : tensor<4xf32> -> tensor<4xi1>
  %22 = array.is_finite %x : tensor<4xf32> -> tensor<4xi1>
  return
}

// CHECK-LABEL: func.func @number_unary(
func.func @number_unary(%x: tensor<4xf32>, %i: tensor<4xi8>, %u: tensor<4xui16>, %p: tensor<4xi1>) {
  // CHECK: array.abs %{{.*}} : tensor<4xi8>
  %0 = array.abs %i : tensor<4xi8>
  // CHECK: array.neg %{{.*}} : tensor<4xui16>
  %1 = array.neg %u : tensor<4xui16>
  // CHECK: array.sign %{{.*}} : tensor<4xf32>
  %2 = array.sign %x : tensor<4xf32>
  // CHECK: array.square %{{.*}} : tensor<4xi8>
  %3 = array.square %i : tensor<4xi8>
  // CHECK: array.relu %{{.*}} : tensor<4xf32>
  %4 = array.relu %x : tensor<4xf32>
  // CHECK: array.logical_not %{{.*}} : tensor<4xi1>
  %5 = array.logical_not %p : tensor<4xi1>
  // CHECK: array.bitwise_not %{{.*}} : tensor<4xui16>
  %6 = array.bitwise_not %u : tensor<4xui16>
  return
}

// CHECK-LABEL: func.func @binary(
func.func @binary(%x: tensor<4xf32>, %i: tensor<4xi64>, %p: tensor<4xi1>) {
  // CHECK: array.sub %
  %0 = array.sub %x, %x : tensor<4xf32>
  // CHECK: array.mul %
  %1 = array.mul %i, %i : tensor<4xi64>
  // CHECK: array.div %
  %2 = array.div %x, %x : tensor<4xf32>
  // CHECK: array.rem %
  %3 = array.rem %i, %i : tensor<4xi64>
  // CHECK: array.pow %
  %4 = array.pow %x, %x : tensor<4xf32>
  // CHECK: array.max %
  %5 = array.max %x, %x : tensor<4xf32>
  // CHECK: array.min %
  %6 = array.min %i, %i : tensor<4xi64>
  // CHECK: array.and %{{.*}}, %{{.*}} : tensor<4xi1>
  %7 = array.and %p, %p : tensor<4xi1>
  // CHECK: array.or %{{.*}}, %{{.*}} : tensor<4xi64>
  %8 = array.or %i, %i : tensor<4xi64>
  // CHECK: array.xor %
  %9 = array.xor %i, %i : tensor<4xi64>
  return
}

// CHECK-LABEL: func.func @compare(
func.func @compare(%x: tensor<4xf32>, %s: tensor<f32>) {
  // CHECK: array.compare eq, %{{.*}}, %{{.*}} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %0 = array.compare eq, %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  // CHECK: array.compare ne,
  %1 = array.compare ne, %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  // CHECK: array.compare lt,
  %2 = array.compare lt, %x, %s : (tensor<4xf32>, tensor<f32>) -> tensor<4xi1>
  // CHECK: array.compare le,
  %3 = array.compare le, %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  // CHECK: array.compare gt,
  %4 = array.compare gt, %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  // CHECK: array.compare ge,
  %5 = array.compare ge, %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  return
}

// CHECK-LABEL: func.func @ternary(
func.func @ternary(%x: tensor<4x8xf32>, %s: tensor<f32>, %p: tensor<4x1xi1>) {
  // CHECK: array.select %{{.*}}, %{{.*}}, %{{.*}} : (tensor<4x1xi1>, tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %0 = array.select %p, %x, %s : (tensor<4x1xi1>, tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  // CHECK: array.clamp %{{.*}}, %{{.*}}, %{{.*}} : (tensor<f32>, tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %1 = array.clamp %s, %x, %s : (tensor<f32>, tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  // CHECK: array.fma %{{.*}}, %{{.*}}, %{{.*}} : tensor<4x8xf32>
  %2 = array.fma %x, %x, %x : tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @conversions(
func.func @conversions(%x: tensor<?x8xf32>) {
  // CHECK: array.convert %{{.*}} : tensor<?x8xf32> -> tensor<?x8xi1>
  %0 = array.convert %x : tensor<?x8xf32> -> tensor<?x8xi1>
  // CHECK: array.convert %{{.*}} : tensor<?x8xi1> -> tensor<?x8xui8>
  %1 = array.convert %0 : tensor<?x8xi1> -> tensor<?x8xui8>
  // CHECK: array.bitcast %{{.*}} : tensor<?x8xf32> -> tensor<?x8xi32>
  %2 = array.bitcast %x : tensor<?x8xf32> -> tensor<?x8xi32>
  return
}
