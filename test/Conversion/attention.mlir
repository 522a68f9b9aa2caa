// RUN: xc-opt %s -xc-convert-array-to-linalg | FileCheck %s

// Kernel ops have the sizes of the queries' type, where operands of array ops may have a `?`.
// CHECK-LABEL: func.func @open_rows(
// CHECK-SAME:    %{{.*}}: tensor<4x8x16xf16>, %{{.*}}: tensor<2x?x16xf16>, %{{.*}}: tensor<4x8x16xf16>, %[[S:[a-z0-9]+]]: tensor<?xf32>, %[[L:[a-z0-9]+]]: tensor<4x?xf32>, %[[D:[a-z0-9]+]]: tensor<?x8xf32>)
// CHECK-DAG:     %[[SUMS:.*]] = tensor.cast %[[L]] : tensor<4x?xf32> to tensor<4x8xf32>
// CHECK-DAG:     %[[DELTA:.*]] = tensor.cast %[[D]] : tensor<?x8xf32> to tensor<4x8xf32>
// CHECK-DAG:     %[[SINKS:.*]] = tensor.cast %[[S]] : tensor<?xf32> to tensor<4xf32>
// CHECK:         kernel.attention_gradient %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[SUMS]], %[[DELTA]] sinks(%[[SINKS]] : tensor<4xf32>)
// CHECK-DAG:     plan.require %{{.*}} equal %{{.*}}, "expected dim 0 of tensor<?xf32> to be that of tensor<4xf32>"
func.func @open_rows(%q: tensor<4x8x16xf16>, %k: tensor<2x?x16xf16>, %g: tensor<4x8x16xf16>, %s: tensor<?xf32>, %l: tensor<4x?xf32>, %d: tensor<?x8xf32>)
    -> (tensor<4x8x16xf16>, tensor<2x?x16xf16>, tensor<2x?x16xf16>) {
  %0:3 = array.attention_gradient %q, %k, %k, %g sinks(%s : tensor<?xf32>) rows(%l, %d : tensor<4x?xf32>, tensor<?x8xf32>) scale = 0.25 {array.whole}
      : (tensor<4x8x16xf16>, tensor<2x?x16xf16>, tensor<2x?x16xf16>, tensor<4x8x16xf16>) -> tensor<4x8x16xf16>, tensor<2x?x16xf16>, tensor<2x?x16xf16>
  return %0#0, %0#1, %0#2 : tensor<4x8x16xf16>, tensor<2x?x16xf16>, tensor<2x?x16xf16>
}

// CHECK-LABEL: func.func @open_sinks(
// CHECK:         %[[SINKS:.*]] = tensor.cast %{{.*}} : tensor<?xf32> to tensor<4xf32>
// CHECK:         kernel.attention %{{.*}} sinks(%[[SINKS]] : tensor<4xf32>)
func.func @open_sinks(%q: tensor<4x8x16xf16>, %k: tensor<2x?x16xf16>, %s: tensor<?xf32>) -> tensor<4x8x16xf16> {
  %0 = array.attention %q, %k, %k sinks(%s : tensor<?xf32>) scale = 0.25 {array.whole} : (tensor<4x8x16xf16>, tensor<2x?x16xf16>, tensor<2x?x16xf16>) -> tensor<4x8x16xf16>
  return %0 : tensor<4x8x16xf16>
}
