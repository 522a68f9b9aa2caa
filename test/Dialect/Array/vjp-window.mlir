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
// CHECK:         array.conv {{.*}} feature_groups = 4 :
// CHECK:         array.conv {{.*}} feature_groups = 4 :
// CHECK:         array.conv {{.*}} batch_groups = 4 :
func.func @depthwise(%x: tensor<1x7x7x4xf32>, %w: tensor<3x3x1x4xf32>) -> tensor<1x5x5x4xf32> {
  %y = array.conv %x, %w dims = <[b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f]> feature_groups = 4 {vjp}
     : (tensor<1x7x7x4xf32>, tensor<3x3x1x4xf32>) -> tensor<1x5x5x4xf32>
  return %y : tensor<1x5x5x4xf32>
}

// Groups of the batch as groups of features, there and back.
// CHECK-LABEL: func.func @batch_groups(
// CHECK:         array.transpose {{.*}} : tensor<2x3x7x7x4xf32> -> tensor<3x7x7x2x4xf32>
// CHECK:         %[[DX:.*]] = array.conv {{.*}} feature_groups = 2 {{.*}} -> tensor<3x7x7x8xf32>
// CHECK:         %[[DW:.*]] = array.conv {{.*}} batch_groups = 2 {{.*}} -> tensor<3x3x4x6xf32>
// CHECK:         array.transpose {{.*}} : tensor<3x7x7x2x4xf32> -> tensor<2x3x7x7x4xf32>
// CHECK:         return %{{.*}}, %[[DW]] : tensor<6x7x7x4xf32>
func.func @batch_groups(%x: tensor<6x7x7x4xf32>, %w: tensor<3x3x4x6xf32>) -> tensor<3x5x5x6xf32> {
  %y = array.conv %x, %w dims = <[b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f]> batch_groups = 2 {vjp}
     : (tensor<6x7x7x4xf32>, tensor<3x3x4x6xf32>) -> tensor<3x5x5x6xf32>
  return %y : tensor<3x5x5x6xf32>
}

// CHECK-LABEL: func.func @select_and_scatter(
// CHECK:         %[[FIRST:.*]] = array.argmax %{{.*}} axis = 2 keepdims
// CHECK:         array.take_along_axis %{{.*}}[%[[FIRST]]] axis = 2
func.func @select_and_scatter(%x: tensor<?x8xf32>, %y: tensor<?x4xf32>) -> tensor<?x8xf32> {
  %z = array.select_and_scatter max, %x, %y window = [1, 2] strides = [1, 2] {vjp} : (tensor<?x8xf32>, tensor<?x4xf32>) -> tensor<?x8xf32>
  return %z : tensor<?x8xf32>
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

// Of f64, of whose gradient there is no op.
// CHECK-LABEL: func.func @attention(
// CHECK-COUNT-5: array.matmul
func.func @attention(%q: tensor<2x5x8xf64>, %k: tensor<2x7x8xf64>) -> tensor<2x5x8xf64> {
  %y = array.attention %q, %k, %k scale = 0.5 {vjp} : (tensor<2x5x8xf64>, tensor<2x7x8xf64>, tensor<2x7x8xf64>) -> tensor<2x5x8xf64>
  return %y : tensor<2x5x8xf64>
}

// More scores than are held at once: the gradient goes over the queries in parts, too, and adds up what the keys get.
// CHECK-LABEL: func.func @attention_in_parts(
// CHECK-NOT:     tensor<1x4096x4096xf64>
// CHECK-COUNT-20: array.matmul
// CHECK-NOT:     array.matmul
// CHECK:         array.concatenate
// CHECK-NOT:     tensor<1x4096x4096xf64>
// CHECK:         return
func.func @attention_in_parts(%q: tensor<1x4096x8xf64>) -> tensor<1x4096x8xf64> {
  %y = array.attention %q, %q, %q causal scale = 0.5 {vjp}
     : (tensor<1x4096x8xf64>, tensor<1x4096x8xf64>, tensor<1x4096x8xf64>) -> tensor<1x4096x8xf64>
  return %y : tensor<1x4096x8xf64>
}

// More than 32 parts may hold: a loop over blocks of queries, whose gradients of keys and values are added up as it goes.
// CHECK-LABEL: func.func @attention_in_a_loop(
// CHECK-NOT:     array.concatenate
// CHECK:         array.while
// CHECK:           array.dynamic_slice %{{.*}} -> tensor<1x64x8xf64>
// CHECK:           array.matmul {{.*}} -> tensor<1x64x4096xf64>
// CHECK-NOT:     array.while
// CHECK-NOT:     array.concatenate
// CHECK:         return
func.func @attention_in_a_loop(%q: tensor<1x4096x8xf64>) -> tensor<1x4096x8xf64> {
  %y = array.attention %q, %q, %q scale = 0.5 {array.max_scores = 262144 : i64, vjp}
     : (tensor<1x4096x8xf64>, tensor<1x4096x8xf64>, tensor<1x4096x8xf64>) -> tensor<1x4096x8xf64>
  return %y : tensor<1x4096x8xf64>
}

// Keys that a block cannot see are left out: one loop for the logsumexp, one for the gradient.
// CHECK-LABEL: func.func @attention_in_visible_blocks(
// CHECK:         array.while
// CHECK:           array.matmul {{.*}} -> tensor<1x256x256xf64>
// CHECK:         array.while
// CHECK:           array.matmul {{.*}} -> tensor<1x256x256xf64>
// CHECK-NOT:     array.while
// CHECK:         return
func.func @attention_in_visible_blocks(%q: tensor<1x4096x8xf64>) -> tensor<1x4096x8xf64> {
  %y = array.attention %q, %q, %q causal scale = 0.5 {array.max_scores = 65536 : i64, vjp}
     : (tensor<1x4096x8xf64>, tensor<1x4096x8xf64>, tensor<1x4096x8xf64>) -> tensor<1x4096x8xf64>
  return %y : tensor<1x4096x8xf64>
}

// The logarithm of the sums has a gradient as well, which each score's share of it adds to.
// CHECK-LABEL: func.func @attention_with_logsumexp(
// CHECK:         %[[Y:.*]], %[[L:.*]] = array.attention
// CHECK:         %[[E:.*]] = array.expand_dims %[[L]]
// CHECK:         array.sub %{{.*}}, %[[E]]
func.func @attention_with_logsumexp(%q: tensor<2x5x8xf64>, %k: tensor<2x7x8xf64>) -> (tensor<2x5x8xf64>, tensor<2x5xf64>) {
  %y, %l = array.attention %q, %k, %k logsumexp scale = 0.5 {vjp} : (tensor<2x5x8xf64>, tensor<2x7x8xf64>, tensor<2x7x8xf64>) -> tensor<2x5x8xf64>, tensor<2x5xf64>
  return %y, %l : tensor<2x5x8xf64>, tensor<2x5xf64>
}

// How much of the image a step leaves out at its end is not known: as much is added, and cut off; the filter has the first
// places, and zeros if there are none.
// CHECK-LABEL: func.func @symbolic_image(
// CHECK-SAME:    %[[X:.*]]: tensor<1x?x7x4xf32>
// CHECK:         %[[Y:.*]] = array.conv
// CHECK:         %[[DX:.*]] = array.conv %[[Y]], %{{.*}} low = [2, 2] high = [3, 2] input_dilation = [2, 1]
// CHECK:         array.dynamic_slice %[[DX]]
// CHECK:         array.conv %[[X]], %[[Y]] {{.*}} filter_dilation = [2, 1] {array.first_places} : {{.*}} -> tensor<3x3x4x6xf32>
func.func @symbolic_image(%x: tensor<1x?x7x4xf32>, %w: tensor<3x3x4x6xf32>) -> tensor<1x?x5x6xf32> {
  %y = array.conv %x, %w dims = <[b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f]> strides = [2, 1] {vjp}
     : (tensor<1x?x7x4xf32>, tensor<3x3x4x6xf32>) -> tensor<1x?x5x6xf32>
  return %y : tensor<1x?x5x6xf32>
}

// How far places are padded depends on the filter's size: they are taken as it slides over them, and so is the image.
// CHECK-LABEL: func.func @symbolic_filter(
// CHECK-SAME:    %[[X:.*]]: tensor<1x9x4xf32>, %[[W:.*]]: tensor<?x4x6xf32>
// CHECK:         %[[Y:.*]] = array.conv
// CHECK:         %[[R:.*]] = array.reverse %[[W]] axes = [0]
// CHECK:         %[[P:.*]] = array.pad %[[Y]], %{{.*}} low = [0, 0, 0] high = [0, 1, 0]
// CHECK:         %[[PLACE:.*]] = array.select
// CHECK:         %[[G:.*]] = array.take %[[P]][%[[PLACE]]] axis = 1
// CHECK:         %[[DX:.*]] = array.conv %[[G]], %[[R]] {{.*}} strides = [1] low = [0] high = [0] input_dilation = [1] filter_dilation = [1]
// CHECK:         array.dynamic_slice %[[DX]]
// CHECK:         %[[Q:.*]] = array.pad %[[X]], %{{.*}} low = [0, 0, 0] high = [0, 1, 0]
// CHECK:         %[[ELEMENT:.*]] = array.select
// CHECK:         %[[E:.*]] = array.take %[[Q]][%[[ELEMENT]]] axis = 1
// CHECK:         %[[LONG:.*]] = array.conv %[[E]], %[[Y]] {{.*}} strides = [1] low = [0] high = [0] input_dilation = [1] filter_dilation = [2]
// CHECK:         %[[DW:.*]] = array.dynamic_slice %[[LONG]]
func.func @symbolic_filter(%x: tensor<1x9x4xf32>, %w: tensor<?x4x6xf32>) -> tensor<1x?x6xf32> {
  %y = array.conv %x, %w dims = <[b, 0, f] x [0, i, o] -> [b, 0, f]> strides = [2] low = [1] {vjp}
     : (tensor<1x9x4xf32>, tensor<?x4x6xf32>) -> tensor<1x?x6xf32>
  return %y : tensor<1x?x6xf32>
}

// A window that is longer than a stride and its padding may fit nowhere: the image's gradient is cut to its size.
// CHECK-LABEL: func.func @may_fit_nowhere(
// CHECK-SAME:    %[[X:.*]]: tensor<1x?x4xf32>
// CHECK:         %[[DX:.*]] = array.conv {{.*}} low = [2] high = [2]
// CHECK:         array.dynamic_slice %[[DX]]
func.func @may_fit_nowhere(%x: tensor<1x?x4xf32>, %w: tensor<3x4x6xf32>) -> tensor<1x?x6xf32> {
  %y = array.conv %x, %w dims = <[b, 0, f] x [0, i, o] -> [b, 0, f]> {vjp} : (tensor<1x?x4xf32>, tensor<3x4x6xf32>) -> tensor<1x?x6xf32>
  return %y : tensor<1x?x6xf32>
}

// CHECK-LABEL: func.func @fits_somewhere(
// CHECK-NOT:     array.dynamic_slice
// CHECK:         return
func.func @fits_somewhere(%x: tensor<1x?x4xf32>, %w: tensor<3x4x6xf32>) -> tensor<1x?x6xf32> {
  %y = array.conv %x, %w dims = <[b, 0, f] x [0, i, o] -> [b, 0, f]> low = [1] high = [1] {vjp} : (tensor<1x?x4xf32>, tensor<3x4x6xf32>) -> tensor<1x?x6xf32>
  return %y : tensor<1x?x6xf32>
}

// Groups of a number of features that is known later.
// CHECK-LABEL: func.func @symbolic_groups(
// CHECK:         array.conv {{.*}} feature_groups = 2 :
// CHECK:         array.conv {{.*}} batch_groups = 2 {array.first_places} :
func.func @symbolic_groups(%x: tensor<?x?x?xf32>, %w: tensor<3x?x?xf32>) -> tensor<?x?x?xf32> {
  %y = array.conv %x, %w dims = <[b, 0, f] x [0, i, o] -> [b, 0, f]> feature_groups = 2 {vjp}
     : (tensor<?x?x?xf32>, tensor<3x?x?xf32>) -> tensor<?x?x?xf32>
  return %y : tensor<?x?x?xf32>
}

// Windows without a zero give to all, those with one to that element only.
// CHECK-LABEL: func.func @product(
// CHECK:         array.reduce_window sum, %{{.*}} window = [2] : tensor<8xf32> -> tensor<7xf32>
// CHECK:         array.reduce_window prod, %{{.*}} window = [2] : tensor<8xf32> -> tensor<7xf32>
// CHECK-COUNT-2: array.reduce_window sum, %{{.*}} : tensor<9xf32> -> tensor<8xf32>
func.func @product(%x: tensor<8xf32>) -> tensor<7xf32> {
  %y = array.reduce_window prod, %x window = [2] {vjp} : tensor<8xf32> -> tensor<7xf32>
  return %y : tensor<7xf32>
}

// CHECK-LABEL: func.func @added_mask(
// CHECK:         %[[TO_SCORES:.*]] = array.mul
// CHECK:         %[[TO_MASK:.*]] = array.reduce sum, %{{.*}} axes = [0, 1] keepdims : tensor<2x5x7xf64> -> tensor<1x1x7xf64>
func.func @added_mask(%q: tensor<2x5x8xf64>, %k: tensor<2x7x8xf64>, %m: tensor<7xf64>) -> tensor<2x5x8xf64> {
  %y = array.attention %q, %k, %k mask(%m : tensor<7xf64>) scale = 0.5 {vjp}
     : (tensor<2x5x8xf64>, tensor<2x7x8xf64>, tensor<2x7x8xf64>) -> tensor<2x5x8xf64>
  return %y : tensor<2x5x8xf64>
}
