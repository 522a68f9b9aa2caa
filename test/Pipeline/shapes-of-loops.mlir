// A reduction of numbers that it counts by itself reads a tensor only to know how long its loops are. Where it is split, that is still an
// initial value within its kernels, not a part of a tensor that nobody makes.
// RUN: rm -rf %t && mkdir %t
// RUN: xcompile %s -o %t/module.vmfb --target=cuda:sm_90a --ptxas=off --dump-dir=%t/dump
// RUN: FileCheck %s < %t/dump/4-dispatch.mlir

// CHECK-LABEL: func.func @variance(
// CHECK-NOT:     tensor.empty
// CHECK:         plan.dispatch
// CHECK-NOT:     tensor.empty
// CHECK:         return
func.func @variance(%x: tensor<7x?xi32> {array.dims = ["", "n"]}) -> (tensor<f32>, tensor<?x7xf32>) {
  %n = array.dim %x, 1 : tensor<7x?xi32>
  %i = array.iota axis = 0 sizes(%n) : tensor<?x7xf32>
  %v = array.var %i axes = [0, 1] : tensor<?x7xf32> -> tensor<f32>
  return %v, %i : tensor<f32>, tensor<?x7xf32>
}
