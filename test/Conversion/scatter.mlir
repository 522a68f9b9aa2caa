// RUN: xc-opt %s -xc-convert-array-to-linalg | FileCheck %s

// The destination of a scatter of 16-bit sums is widened, and rounded once at the end.
// CHECK-LABEL: func.func @sums_accumulate_in_f32(
// CHECK:         %[[SUM:.*]] = kernel.scatter add, %{{.*}}, %{{.*}} into %{{.*}} axes = [0] : tensor<8x1xi32>, tensor<8x4xf32> into tensor<9x4xf32>
// CHECK:         linalg.generic {{.*}} ins(%[[SUM]] : tensor<9x4xf32>)
// CHECK:           arith.truncf %{{.*}} : f32 to bf16
func.func @sums_accumulate_in_f32(%x: tensor<9x4xbf16>, %i: tensor<8x1xi32>, %u: tensor<8x4xbf16>) -> tensor<9x4xbf16> {
  %0 = array.scatter add, %x[%i] axes = [0] = %u
     : (tensor<9x4xbf16>, tensor<8x1xi32>, tensor<8x4xbf16>) -> tensor<9x4xbf16>
  return %0 : tensor<9x4xbf16>
}

// CHECK-LABEL: func.func @set_keeps_its_type(
// CHECK-SAME:    %[[X:.*]]: tensor<9x4xbf16>, %[[I:.*]]: tensor<8x1xi8> {array.dtype = "u8"}, %[[U:.*]]: tensor<8x4xbf16>
// CHECK-NEXT:    %[[R:.*]] = kernel.scatter set, %[[I]], %[[U]] into %[[X]] axes = [0] unsigned_indices unique
// CHECK-NEXT:    return %[[R]]
func.func @set_keeps_its_type(%x: tensor<9x4xbf16>, %i: tensor<8x1xui8>, %u: tensor<8x4xbf16>) -> tensor<9x4xbf16> {
  %0 = array.scatter set, %x[%i] axes = [0] = %u unique
     : (tensor<9x4xbf16>, tensor<8x1xui8>, tensor<8x4xbf16>) -> tensor<9x4xbf16>
  return %0 : tensor<9x4xbf16>
}

// The axes say how many components an index vector has.
// CHECK-LABEL: func.func @components_at_run_time(
// CHECK-SAME:    %{{.*}}: tensor<4x5xf32>, %[[I:.*]]: tensor<?x?xi32>
// CHECK:         %[[N:.*]] = tensor.dim %[[I]], %{{.*}} : tensor<?x?xi32>
// CHECK:         plan.require %[[N]] equal %{{.*}}, "array.scatter: expected index vectors of 1 components"
// CHECK:         %[[C:.*]] = tensor.cast %[[I]] : tensor<?x?xi32> to tensor<?x1xi32>
// CHECK:         kernel.scatter set, %[[C]],
// CHECK:         plan.require %{{.*}} equal %{{.*}}, "array.gather: expected index vectors of 2 components"
func.func @components_at_run_time(%x: tensor<4x5xf32>, %i: tensor<?x?xi32>, %u: tensor<?x5xf32>) -> (tensor<4x5xf32>, tensor<?xf32>) {
  %0 = array.scatter set, %x[%i] axes = [0] = %u : (tensor<4x5xf32>, tensor<?x?xi32>, tensor<?x5xf32>) -> tensor<4x5xf32>
  %1 = array.gather %x[%i] axes = [0, 1] : (tensor<4x5xf32>, tensor<?x?xi32>) -> tensor<?xf32>
  return %0, %1 : tensor<4x5xf32>, tensor<?xf32>
}
