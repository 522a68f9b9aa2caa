// RUN: xc-opt %s -xc-normalize-input | FileCheck %s

#id = affine_map<(d0) -> (d0)>

// What a body computes as a position is moved into the tensor; a loop that is no longer than the dim stays.
// CHECK-LABEL: func.func @clamps(
// CHECK-SAME:    %[[X:.*]]: tensor<?x4xf32>
// CHECK:         %[[SIZE:.*]] = tensor.dim %[[X]], %{{.*}}
// CHECK:         %[[LAST:.*]] = arith.subi %[[SIZE]], %{{.*}} : index
// CHECK:         linalg.generic
// CHECK:           %[[I:.*]] = linalg.index 0
// CHECK:           %[[FAR:.*]] = arith.addi
// CHECK:           %[[LOW:.*]] = arith.minsi %[[FAR]], %[[LAST]] : index
// CHECK:           %[[ROW:.*]] = arith.maxsi %[[LOW]], %{{.*}} : index
// CHECK:           tensor.extract %[[X]][%[[ROW]], %[[I]]]
func.func @clamps(%x: tensor<?x4xf32>) -> tensor<4xf32> {
  %init = tensor.empty() : tensor<4xf32>
  %y = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%init : tensor<4xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %hundred = arith.constant 100 : index
    %far = arith.addi %i, %hundred : index
    %e = tensor.extract %x[%far, %i] : tensor<?x4xf32>
    linalg.yield %e : f32
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}
