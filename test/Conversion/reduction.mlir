// RUN: xc-opt %s -xc-convert-array-to-linalg | FileCheck %s

// CHECK-LABEL: func.func @sum_of_16_bits(
// CHECK:         %[[INIT:.*]] = linalg.fill ins(%{{.*}} : f32) outs(%{{.*}} : tensor<?xf32>)
// CHECK:         %[[SUM:.*]] = linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]} {{.*}} outs(%[[INIT]] : tensor<?xf32>)
// CHECK:           %[[X:.*]] = arith.extf
// CHECK:           arith.addf %{{.*}}, %[[X]] : f32
// CHECK:         %[[ROUNDED:.*]] = linalg.generic {{.*}} ins(%[[SUM]] : tensor<?xf32>)
// CHECK:         tensor.expand_shape %[[ROUNDED]] {{\[}}[0, 1]]
func.func @sum_of_16_bits(%x: tensor<?x6xbf16>) -> tensor<?x1xbf16> {
  %0 = array.reduce sum, %x axes = [1] keepdims : tensor<?x6xbf16> -> tensor<?x1xbf16>
  return %0 : tensor<?x1xbf16>
}

// CHECK-LABEL: func.func @nan_wins(
// CHECK:         %[[LOWEST:.*]] = arith.constant 0xFF800000 : f32
// CHECK:         linalg.fill ins(%[[LOWEST]] : f32)
// CHECK:         iterator_types = ["reduction", "reduction"]
// CHECK:           arith.maximumf
func.func @nan_wins(%x: tensor<4x6xf32>) -> tensor<f32> {
  %0 = array.reduce max, %x axes = [0, 1] : tensor<4x6xf32> -> tensor<f32>
  return %0 : tensor<f32>
}

// CHECK-LABEL: func.func @unsigned_minimum(
// CHECK:         %[[HIGHEST:.*]] = arith.constant -1 : i8
// CHECK:         linalg.fill ins(%[[HIGHEST]] : i8)
// CHECK:           arith.minui
func.func @unsigned_minimum(%x: tensor<6xui8>) -> tensor<ui8> {
  %0 = array.reduce min, %x axes = [0] : tensor<6xui8> -> tensor<ui8>
  return %0 : tensor<ui8>
}

// The lowest index among equals, whatever the order of evaluation.
// CHECK-LABEL: func.func @argmax(
// CHECK:         %[[R:.*]]:2 = linalg.generic
// CHECK-SAME:      plan.breaks_ties
// CHECK:         ^bb0(%[[X:.*]]: f32, %[[BEST:.*]]: f32, %[[AT:.*]]: i64):
// CHECK:           %[[I:.*]] = arith.index_cast
// CHECK:           %[[EARLIER:.*]] = arith.cmpi slt, %[[I]], %[[AT]]
// CHECK:           arith.cmpf ugt, %[[X]], %[[BEST]]
// CHECK:           %[[TIE:.*]] = arith.andi %{{.*}}, %[[EARLIER]]
// CHECK:           %[[WINS:.*]] = arith.ori %{{.*}}, %[[TIE]]
// CHECK:           arith.select %[[WINS]], %[[X]], %[[BEST]]
// CHECK:           arith.select %[[WINS]], %[[I]], %[[AT]]
// CHECK:         return %[[R]]#1
func.func @argmax(%x: tensor<?x6xf32>) -> tensor<?xi64> {
  %0 = array.argmax %x axis = 1 : tensor<?x6xf32> -> tensor<?xi64>
  return %0 : tensor<?xi64>
}

// CHECK-LABEL: func.func @no_axes(
// CHECK-SAME:    %[[X:.*]]: tensor<4xf32>
// CHECK-NEXT:    return %[[X]]
func.func @no_axes(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = array.reduce sum, %x axes = [] : tensor<4xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @reduce_with(
// CHECK-SAME:    %[[X:.*]]: tensor<4x?xf32>, %[[P:.*]]: tensor<4x?xi8>
// CHECK:         linalg.generic
// CHECK-SAME:      iterator_types = ["parallel", "reduction"]
// CHECK-SAME:      ins(%[[X]], %[[P]] : tensor<4x?xf32>, tensor<4x?xi8>)
// CHECK:         ^bb0(%[[C:.*]]: f32, %[[D:.*]]: i8, %[[A:.*]]: f32, %[[B:.*]]: i8):
// CHECK:           %[[E:.*]] = kernel.element 0, %[[C]] : f32
// CHECK:           kernel.element 1, %[[D]] : i8
// CHECK:           %[[SUM:.*]] = arith.addf %[[A]], %[[E]]
// CHECK:           %[[OR:.*]] = arith.ori
// CHECK:           %[[BYTE:.*]] = arith.extui %[[OR]] : i1 to i8
// CHECK:           linalg.yield %[[SUM]], %[[BYTE]] : f32, i8
func.func @reduce_with(%x: tensor<4x?xf32>, %p: tensor<4x?xi1>) -> (tensor<4x1xf32>, tensor<4x1xi1>) {
  %0, %1 = array.reduce_with %x, %p axes = [1] init = [0.0 : f32, false] keepdims
      : (tensor<4x?xf32>, tensor<4x?xi1>) -> (tensor<4x1xf32>, tensor<4x1xi1>) {
  ^bb0(%a: tensor<f32>, %b: tensor<i1>, %c: tensor<f32>, %d: tensor<i1>):
    %s = array.add %a, %c : tensor<f32>
    %o = array.or %b, %d : tensor<i1>
    array.yield %s, %o : tensor<f32>, tensor<i1>
  }
  return %0, %1 : tensor<4x1xf32>, tensor<4x1xi1>
}

// An element is as wide as a sum, and rounded as one.
// CHECK-LABEL: func.func @reduce_with_half(
// CHECK:         ^bb0(%[[C:.*]]: f16, %[[A:.*]]: f32):
// CHECK-DAG:       %[[WIDE:.*]] = arith.extf %[[C]] : f16 to f32
// CHECK-DAG:       kernel.element 0, %[[WIDE]] : f32
// CHECK-COUNT-2:   arith.truncf
func.func @reduce_with_half(%x: tensor<4x8xf16>) -> tensor<4xf16> {
  %0 = array.reduce_with %x axes = [1] init = [0.0 : f16] : (tensor<4x8xf16>) -> (tensor<4xf16>) {
  ^bb0(%a: tensor<f16>, %b: tensor<f16>):
    %s = array.max %a, %b : tensor<f16>
    array.yield %s : tensor<f16>
  }
  return %0 : tensor<4xf16>
}
