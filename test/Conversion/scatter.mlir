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
