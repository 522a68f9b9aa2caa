// RUN: xc-opt %s -xc-cpu-normalize-kernel -split-input-file | FileCheck %s

// CHECK-LABEL: func.func @named_op_becomes_generic
// CHECK-NOT:     linalg.exp
// CHECK:         linalg.generic
// CHECK:           math.exp
func.func @named_op_becomes_generic(%x: tensor<8xf32>, %init: tensor<8xf32>) -> tensor<8xf32> {
  %0 = linalg.exp ins(%x : tensor<8xf32>) outs(%init : tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// CHECK-LABEL: func.func @fill_stays
// CHECK:         linalg.fill
func.func @fill_stays(%c: f32, %init: tensor<8xf32>) -> tensor<8xf32> {
  %0 = linalg.fill ins(%c : f32) outs(%init : tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// CHECK-LABEL: func.func @reshapes_of_bindings_are_of_memory
// CHECK:         %[[X:.*]] = plan.binding 0
// CHECK:         %[[Y:.*]] = plan.binding 1
// CHECK:         %[[C:.*]] = memref.collapse_shape %[[X]] {{\[\[}}0, 1]]
// CHECK:         %[[T:.*]] = bufferization.to_tensor %[[C]]
// CHECK:         %[[R:.*]] = linalg.generic {{.*}} ins(%[[T]]
// CHECK:         %[[M:.*]] = memref.collapse_shape %[[Y]] {{\[\[}}0, 1]]
// CHECK:         bufferization.materialize_in_destination %[[R]] in restrict writable %[[M]]
func.func @reshapes_of_bindings_are_of_memory() {
  %x = plan.binding 0 read align 64 : memref<4x6xf32>
  %y = plan.binding 1 write align 64 : memref<8x3xf32>
  %t = bufferization.to_tensor %x restrict : memref<4x6xf32> to tensor<4x6xf32>
  %c = tensor.collapse_shape %t [[0, 1]] : tensor<4x6xf32> into tensor<24xf32>
  %init = tensor.empty() : tensor<24xf32>
  %r = linalg.exp ins(%c : tensor<24xf32>) outs(%init : tensor<24xf32>) -> tensor<24xf32>
  %e = tensor.expand_shape %r [[0, 1]] output_shape [8, 3] : tensor<24xf32> into tensor<8x3xf32>
  bufferization.materialize_in_destination %e in restrict writable %y : (tensor<8x3xf32>, memref<8x3xf32>) -> ()
  return
}

// -----

// The factors of a product get the type of the sum before the product.
// CHECK-LABEL: func.func @casts_leave_products
// CHECK:         linalg.generic
// CHECK:           ^bb0(%{{.*}}: bf16, %{{.*}}: f32):
// CHECK:             arith.extf
// CHECK:         linalg.generic
// CHECK:           ^bb0(%{{.*}}: bf16, %{{.*}}: f32):
// CHECK:             arith.extf
// CHECK:         linalg.generic
// CHECK:           ^bb0(%[[A:.*]]: f32, %[[B:.*]]: f32, %[[C:.*]]: f32):
// CHECK-NEXT:        %[[P:.*]] = arith.mulf %[[A]], %[[B]]
// CHECK-NEXT:        arith.addf
func.func @casts_leave_products(%a: tensor<4x6xbf16>, %b: tensor<6x5xbf16>, %c: tensor<4x5xf32>) -> tensor<4x5xf32> {
  %0 = linalg.matmul ins(%a, %b : tensor<4x6xbf16>, tensor<6x5xbf16>) outs(%c : tensor<4x5xf32>) -> tensor<4x5xf32>
  return %0 : tensor<4x5xf32>
}
