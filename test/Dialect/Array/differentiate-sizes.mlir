// RUN: xc-opt %s -pass-pipeline='builtin.module(xc-array-differentiate{function=f},canonicalize,cse)' | FileCheck %s

// Cotangents are as large as their results.
// CHECK-LABEL: func.func @f_vjp(
// CHECK-SAME:    %[[X:.*]]: tensor<?x3xf32>, %[[D:.*]]: tensor<?x3xf32> {array.name = "d_output0"}
// CHECK-DAG:     %[[N:.*]] = tensor.dim %[[D]], %c0
// CHECK-DAG:     %[[M:.*]] = tensor.dim %[[X]], %c0
// CHECK:         plan.require %[[N]] equal %[[M]], "f_vjp: expected dim 0 of 'd_output0' to be that of the result whose cotangent it is"
// CHECK-NOT:     plan.require
// CHECK:         return
func.func @f(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %y = array.neg %x : tensor<?x3xf32>
  return %y : tensor<?x3xf32>
}
