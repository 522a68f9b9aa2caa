// RUN: xc-opt %s -xc-array-test-vjp | FileCheck %s
// What the gradients compute is checked by test/e2e/cases/gradients.py.

// CHECK-LABEL: func.func @conv(
// CHECK-SAME:    %[[X:.*]]: tensor<?x7x7x4xf32>, %[[W:.*]]: tensor<3x3x4x6xf32>
// CHECK:         %[[Y:.*]] = array.conv
// CHECK:         %[[R:.*]] = array.reverse %[[W]] axes = [0, 1]
// CHECK:         %[[DX:.*]] = array.conv %[[Y]], %[[R]] dims = <[b, 0, 1, f] x [0, 1, o, i] -> [b, 0, 1, f]>
// CHECK-SAME:      strides = [1, 1] low = [1, 1] high = [1, 1] input_dilation = [2, 2] filter_dilation = [1, 1]
// CHECK:         %[[DW:.*]] = array.conv %[[X]], %[[Y]] dims = <[f, 0, 1, b] x [i, 0, 1, o] -> [0, 1, b, f]>
// CHECK-SAME:      strides = [1, 1] low = [1, 1] high = [1, 1] input_dilation = [1, 1] filter_dilation = [2, 2]
// CHECK:         return %[[DX]], %[[DW]]
func.func @conv(%x: tensor<?x7x7x4xf32>, %w: tensor<3x3x4x6xf32>) -> tensor<?x4x4x6xf32> {
  %y = array.conv %x, %w dims = <[b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f]> strides = [2, 2] low = [1, 1] high = [1, 1] {vjp}
     : (tensor<?x7x7x4xf32>, tensor<3x3x4x6xf32>) -> tensor<?x4x4x6xf32>
  return %y : tensor<?x4x4x6xf32>
}

// CHECK-LABEL: func.func @depthwise(
// CHECK:         array.conv {{.*}} feature_groups = 4 {vjp} :
// CHECK:         array.conv {{.*}} feature_groups = 4 :
// CHECK:         array.conv {{.*}} batch_groups = 4 :
func.func @depthwise(%x: tensor<1x7x7x4xf32>, %w: tensor<3x3x1x4xf32>) -> tensor<1x5x5x4xf32> {
  %y = array.conv %x, %w dims = <[b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f]> feature_groups = 4 {vjp}
     : (tensor<1x7x7x4xf32>, tensor<3x3x1x4xf32>) -> tensor<1x5x5x4xf32>
  return %y : tensor<1x5x5x4xf32>
}

// CHECK-LABEL: func.func @max_pool(
// CHECK:         array.select_and_scatter max, %{{.*}}, %{{.*}} window = [1, 2] strides = [1, 2]
func.func @max_pool(%x: tensor<?x8xf32>) -> tensor<?x4xf32> {
  %y = array.reduce_window max, %x window = [1, 2] strides = [1, 2] {vjp} : tensor<?x8xf32> -> tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}

// CHECK-LABEL: func.func @sum_pool(
// CHECK:         array.pad %{{.*}} low = [0, 1] high = [0, 1] interior = [0, 1] : (tensor<?x4xf32>, tensor<f32>) -> tensor<?x9xf32>
// CHECK:         array.reduce_window sum, %{{.*}} window = [1, 2] dilation = [1, 1] : tensor<?x9xf32> -> tensor<?x8xf32>
func.func @sum_pool(%x: tensor<?x8xf32>) -> tensor<?x4xf32> {
  %y = array.reduce_window sum, %x window = [1, 2] strides = [1, 2] {vjp} : tensor<?x8xf32> -> tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}

// CHECK-LABEL: func.func @attention(
// CHECK-COUNT-5: array.matmul
func.func @attention(%q: tensor<2x5x8xf32>, %k: tensor<2x7x8xf32>) -> tensor<2x5x8xf32> {
  %y = array.attention %q, %k, %k scale = 0.5 {vjp} : (tensor<2x5x8xf32>, tensor<2x7x8xf32>, tensor<2x7x8xf32>) -> tensor<2x5x8xf32>
  return %y : tensor<2x5x8xf32>
}

// More scores than are held at once: the gradient goes over the queries in parts, too, and adds up what the keys get.
// CHECK-LABEL: func.func @attention_in_parts(
// CHECK-NOT:     tensor<1x4096x4096xf32>
// CHECK-COUNT-20: array.matmul
// CHECK-NOT:     array.matmul
// CHECK:         array.concatenate
// CHECK-NOT:     tensor<1x4096x4096xf32>
// CHECK:         return
func.func @attention_in_parts(%q: tensor<1x4096x8xf32>) -> tensor<1x4096x8xf32> {
  %y = array.attention %q, %q, %q causal scale = 0.5 {vjp}
     : (tensor<1x4096x8xf32>, tensor<1x4096x8xf32>, tensor<1x4096x8xf32>) -> tensor<1x4096x8xf32>
  return %y : tensor<1x4096x8xf32>
}

// The logarithm of the sums has a gradient as well, which each score's share of it adds to.
// CHECK-LABEL: func.func @attention_with_logsumexp(
// CHECK:         %[[Y:.*]], %[[L:.*]] = array.attention
// CHECK:         %[[E:.*]] = array.expand_dims %[[L]]
// CHECK:         array.sub %{{.*}}, %[[E]]
func.func @attention_with_logsumexp(%q: tensor<2x5x8xf32>, %k: tensor<2x7x8xf32>) -> (tensor<2x5x8xf32>, tensor<2x5xf32>) {
  %y, %l = array.attention %q, %k, %k logsumexp scale = 0.5 {vjp} : (tensor<2x5x8xf32>, tensor<2x7x8xf32>, tensor<2x7x8xf32>) -> tensor<2x5x8xf32>, tensor<2x5xf32>
  return %y, %l : tensor<2x5x8xf32>, tensor<2x5xf32>
}
