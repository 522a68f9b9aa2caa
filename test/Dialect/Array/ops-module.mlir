// RUN: xc-opt %s -verify-roundtrip | FileCheck %s

// CHECK: array.variable @dense : tensor<2xf32> = dense<[5.000000e-01, 1.000000e+00]>{{$}}
array.variable @dense : tensor<2xf32> = dense<[0.5, 1.0]>
// CHECK: array.variable @zero : tensor<1024x64xf16>{{$}}
array.variable @zero : tensor<1024x64xf16>
// CHECK: array.variable "private" @external : tensor<8xf32> = #array.parameter<"weights"::"scale">
array.variable "private" @external : tensor<8xf32> = #array.parameter<"weights"::"scale">
// CHECK: array.variable @file : tensor<8xf32> = #array.parameter<"scale.npy"> attributes {note}
array.variable @file : tensor<8xf32> = #array.parameter<"scale.npy"> attributes {note}

// CHECK-LABEL: func.func @state(
func.func @state(%x: tensor<2xf32>) -> tensor<2xf32> {
  // CHECK: %[[OLD:.*]] = array.variable.read @dense : tensor<2xf32>
  %old = array.variable.read @dense : tensor<2xf32>
  // CHECK: array.variable.assign @dense, %{{.*}} : tensor<2xf32>
  array.variable.assign @dense, %x : tensor<2xf32>
  return %old : tensor<2xf32>
}

// CHECK-LABEL: func.func @entry(
// CHECK-SAME: {array.dims = ["batch", ""], array.donated, array.name = "x"}
// CHECK-SAME: (tensor<?x8xf32> {array.alias = 0 : i64, array.name = "y"}, tensor<?x1xf32> {array.dims = ["batch", ""]})
// CHECK-SAME: attributes {array.dim_range = {batch = [1, 64, 8]}}
func.func @entry(%x: tensor<?x8xf32> {array.name = "x", array.donated, array.dims = ["batch", ""]})
    -> (tensor<?x8xf32> {array.name = "y", array.alias = 0}, tensor<?x1xf32> {array.dims = ["batch", ""]})
    attributes {array.dim_range = {batch = [1, 64, 8]}} {
  %0 = array.mean %x axes = [1] keepdims : tensor<?x8xf32> -> tensor<?x1xf32>
  return %x, %0 : tensor<?x8xf32>, tensor<?x1xf32>
}
