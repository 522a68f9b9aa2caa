// RUN: xc-opt %s -xc-array-decompose -canonicalize | FileCheck %s

// Spreading and cutting become ops of their own; padding alone stays with the convolution.
// CHECK-LABEL: func.func @transposed_and_cut(
// CHECK-SAME:    %[[X:.*]]: tensor<1x4x4x2xf32>
// CHECK:         %[[ZERO:.*]] = array.constant dense<0.000000e+00> : tensor<f32>
// CHECK:         %[[P:.*]] = array.pad %[[X]], %[[ZERO]] low = [0, 1, 0, 0] high = [0, 0, 2, 0] interior = [0, 1, 0, 0]
// CHECK:         %[[S:.*]] = array.slice %[[P]] [:, :7, 1:6, :] : tensor<1x8x6x2xf32> -> tensor<1x7x5x2xf32>
// CHECK:         array.conv %[[S]], %{{.*}} dims = <[b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f]> strides = [1, 2] :
// CHECK:         array.conv {{.*}} low = [1, 1] high = [1, 1] :
func.func @transposed_and_cut(%x: tensor<1x4x4x2xf32>, %w: tensor<2x2x2x3xf32>)
    -> (tensor<1x6x2x3xf32>, tensor<1x5x5x3xf32>) {
  %0 = array.conv %x, %w dims = <[b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f]> strides = [1, 2] low = [1, -1]
       high = [-1, 2] input_dilation = [2, 1] : (tensor<1x4x4x2xf32>, tensor<2x2x2x3xf32>) -> tensor<1x6x2x3xf32>
  %1 = array.conv %x, %w dims = <[b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f]> low = [1, 1] high = [1, 1]
     : (tensor<1x4x4x2xf32>, tensor<2x2x2x3xf32>) -> tensor<1x5x5x3xf32>
  return %0, %1 : tensor<1x6x2x3xf32>, tensor<1x5x5x3xf32>
}

// A spread input without strides stays for the conversion, which computes phases together; of a filter of one element the result is spread.
// CHECK-LABEL: func.func @phases(
// CHECK-SAME:    %[[X:.*]]: tensor<1x4x4x2xf32>
// CHECK:         array.conv %[[X]], %{{.*}} input_dilation = [2, 2]
func.func @phases(%x: tensor<1x4x4x2xf32>, %w: tensor<3x3x2x3xf32>) -> tensor<1x7x7x3xf32> {
  %0 = array.conv %x, %w dims = <[b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f]> low = [1, 1] high = [1, 1] input_dilation = [2, 2]
     : (tensor<1x4x4x2xf32>, tensor<3x3x2x3xf32>) -> tensor<1x7x7x3xf32>
  return %0 : tensor<1x7x7x3xf32>
}

// CHECK-LABEL: func.func @one_element(
// CHECK-SAME:    %[[X:.*]]: tensor<1x4x4x2xf32>
// CHECK:         %[[Y:.*]] = array.conv %[[X]], %{{.*}} dims = <[b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f]> : {{.*}} -> tensor<1x4x4x3xf32>
// CHECK:         array.pad %[[Y]], %{{.*}} low = [0, 0, 1, 0] high = [0, 1, 0, 0] interior = [0, 1, 2, 0]
func.func @one_element(%x: tensor<1x4x4x2xf32>, %w: tensor<1x1x2x3xf32>) -> tensor<1x8x11x3xf32> {
  %0 = array.conv %x, %w dims = <[b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f]> low = [0, 1] high = [1, 0] input_dilation = [2, 3]
     : (tensor<1x4x4x2xf32>, tensor<1x1x2x3xf32>) -> tensor<1x8x11x3xf32>
  return %0 : tensor<1x8x11x3xf32>
}

// So it is of an image of symbolic size.
// CHECK-LABEL: func.func @one_element_of_open(
// CHECK-SAME:    %[[X:.*]]: tensor<?x?x?x2xf32>
// CHECK:         %[[Y:.*]] = array.conv %[[X]], %{{.*}} dims = <[b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f]> : {{.*}} -> tensor<?x?x?x3xf32>
// CHECK:         array.pad %[[Y]], %{{.*}} low = [0, 0, 0, 0] high = [0, 1, 1, 0] interior = [0, 1, 1, 0]
func.func @one_element_of_open(%x: tensor<?x?x?x2xf32>, %w: tensor<1x1x2x3xf32>) -> tensor<?x?x?x3xf32> {
  %0 = array.conv %x, %w dims = <[b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f]> high = [1, 1] input_dilation = [2, 2]
     : (tensor<?x?x?x2xf32>, tensor<1x1x2x3xf32>) -> tensor<?x?x?x3xf32>
  return %0 : tensor<?x?x?x3xf32>
}

// Spread by 4 and 6 under a filter that is dilated by 2 and 4, all but every other output are zeros; the others are a convolution whose
// phases are computed together.
// CHECK-LABEL: func.func @sparse(
// CHECK-SAME:    %[[X:.*]]: tensor<2x5x6x4xf32>
// CHECK:         %[[Y:.*]] = array.conv %[[X]], %{{.*}} low = [0, 2] high = [1, 1] input_dilation = [2, 3] filter_dilation = [1, 2] : {{.*}} -> tensor<2x8x17x3xf32>
// CHECK:         array.pad %[[Y]], %{{.*}} low = [0, 1, 1, 0] high = [0, 0, 1, 0] interior = [0, 1, 1, 0]
func.func @sparse(%x: tensor<2x5x6x4xf32>, %w: tensor<3x2x4x3xf32>) -> tensor<2x16x35x3xf32> {
  %0 = array.conv %x, %w dims = <[b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f]> low = [1, 5] high = [2, 3] input_dilation = [4, 6] filter_dilation = [2, 4]
     : (tensor<2x5x6x4xf32>, tensor<3x2x4x3xf32>) -> tensor<2x16x35x3xf32>
  return %0 : tensor<2x16x35x3xf32>
}

// Of an image of symbolic size, which may be of nothing, the places are those that its size gives.
// CHECK-LABEL: func.func @open_sparse(
// CHECK-SAME:    %[[X:.*]]: tensor<?x?x4xf32>
// CHECK:         %[[Y:.*]] = array.conv %[[X]], %{{.*}} dims = <[b, 0, f] x [0, i, o] -> [b, 0, f]> low = [1] : 
// CHECK:         %[[PLACES:.*]] = arith.maxsi
// CHECK:         %[[PAD:.*]] = array.pad %[[Y]], %{{.*}} low = [0, 1, 0] high = [0, 2, 0] interior = [0, 1, 0]
// CHECK:         array.dynamic_slice %[[PAD]]{{.*}} sizes(%{{.*}}, %[[PLACES]])
func.func @open_sparse(%x: tensor<?x?x4xf32>, %w: tensor<3x4x3xf32>) -> tensor<?x?x3xf32> {
  %0 = array.conv %x, %w dims = <[b, 0, f] x [0, i, o] -> [b, 0, f]> low = [3] high = [1] input_dilation = [2] filter_dilation = [2]
     : (tensor<?x?x4xf32>, tensor<3x4x3xf32>) -> tensor<?x?x3xf32>
  return %0 : tensor<?x?x3xf32>
}

// Only padding makes windows of different counts, which are counted along the padded dims alone.
// CHECK-LABEL: func.func @averages(
// CHECK:         %[[NINE:.*]] = array.constant dense<9.000000e+00>
// CHECK:         %[[SUM:.*]] = array.reduce_window sum, %{{.*}} window = [1, 3, 3, 1]
// CHECK:         %[[COUNT:.*]] = array.reduce_window sum, %{{.*}} window = [1, 3, 3, 1] low = [0, 1, 1, 0] high = [0, 1, 1, 0] : tensor<1x?x8x1xf32> -> tensor<1x?x8x1xf32>
// CHECK:         array.div %[[SUM]], %[[COUNT]]
// CHECK:         array.div %{{.*}}, %[[NINE]]
func.func @averages(%x: tensor<2x?x8x4xf32>) -> (tensor<2x?x8x4xf32>, tensor<2x?x8x4xf32>) {
  %0 = array.avg_pool %x window = [1, 3, 3, 1] low = [0, 1, 1, 0] high = [0, 1, 1, 0]
     : tensor<2x?x8x4xf32> -> tensor<2x?x8x4xf32>
  %1 = array.avg_pool %x window = [1, 3, 3, 1] low = [0, 1, 1, 0] high = [0, 1, 1, 0] count_include_pad
     : tensor<2x?x8x4xf32> -> tensor<2x?x8x4xf32>
  return %0, %1 : tensor<2x?x8x4xf32>, tensor<2x?x8x4xf32>
}

// Query heads that share keys multiply the same matrix; the sums divide what is multiplied with the values.
// CHECK-LABEL: func.func @grouped_attention(
// CHECK:         %[[Q:.*]] = array.reshape %{{.*}} : tensor<2x4x5x8xf16> -> tensor<2x2x2x5x8xf16>
// CHECK:         %[[K:.*]] = array.reshape %{{.*}} : tensor<2x2x7x8xf16> -> tensor<2x2x1x7x8xf16>
// CHECK:         %[[S:.*]] = array.matmul %[[Q]], %[[K]] transpose_b : {{.*}} -> tensor<2x2x2x5x7xf32>
// CHECK:         array.exp
// CHECK:         %[[SUM:.*]] = array.reduce sum,
// CHECK:         %[[W:.*]] = array.convert %{{.*}} : tensor<2x2x2x5x7xf32> -> tensor<2x2x2x5x7xf16>
// CHECK:         array.matmul %[[W]], %{{.*}} -> tensor<2x2x2x5x6xf32>
// CHECK:         array.div
// CHECK:         array.reshape %{{.*}} : tensor<2x2x2x5x6xf32> -> tensor<2x4x5x6xf32>
func.func @grouped_attention(%q: tensor<2x4x5x8xf16>, %k: tensor<2x2x7x8xf16>, %v: tensor<2x2x7x6xf16>) -> tensor<2x4x5x6xf16> {
  %0 = array.attention %q, %k, %v scale = 0.5
     : (tensor<2x4x5x8xf16>, tensor<2x2x7x8xf16>, tensor<2x2x7x6xf16>) -> tensor<2x4x5x6xf16>
  return %0 : tensor<2x4x5x6xf16>
}

// A mask with a `?` for its heads has as many as there are.
// CHECK-LABEL: func.func @mask_of_open_heads(
// CHECK-SAME:    %[[M:[a-z0-9]+]]: tensor<?x5x7xf16>
// CHECK:         %[[HEADS:.*]] = tensor.cast %[[M]] : tensor<?x5x7xf16> to tensor<4x5x7xf16>
// CHECK:         array.reshape %[[HEADS]] : tensor<4x5x7xf16> -> tensor<2x2x5x7xf16>
func.func @mask_of_open_heads(%m: tensor<?x5x7xf16>, %q: tensor<2x4x5x8xf16>, %k: tensor<2x2x7x8xf16>, %v: tensor<2x2x7x6xf16>) -> tensor<2x4x5x6xf16> {
  %y = array.attention %q, %k, %v mask(%m : tensor<?x5x7xf16>) scale = 0.125 : (tensor<2x4x5x8xf16>, tensor<2x2x7x8xf16>, tensor<2x2x7x6xf16>) -> tensor<2x4x5x6xf16>
  return %y : tensor<2x4x5x6xf16>
}

// Too many scores to hold: some queries at a time, with the keys that the last of them sees.
// CHECK-LABEL: func.func @long_attention(
// CHECK:         array.slice %{{.*}} [:, :512, :] : tensor<4x2048x8xf32> -> tensor<4x512x8xf32>
// CHECK:         array.matmul {{.*}} -> tensor<4x512x512xf32>
// CHECK:         array.slice %{{.*}} [:, 512:1024, :] : tensor<4x2048x8xf32> -> tensor<4x512x8xf32>
// CHECK:         array.slice %{{.*}} [:, :1024, :] : tensor<4x2048x8xf32> -> tensor<4x1024x8xf32>
// CHECK:         array.matmul {{.*}} -> tensor<4x512x1024xf32>
// CHECK:         array.matmul {{.*}} -> tensor<4x512x1536xf32>
// CHECK:         array.matmul {{.*}} -> tensor<4x512x2048xf32>
// CHECK:         array.concatenate %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} axis = 1
func.func @long_attention(%q: tensor<4x2048x8xf32>, %k: tensor<4x2048x8xf32>) -> tensor<4x2048x8xf32> {
  %0 = array.attention %q, %k, %k causal scale = 0.5
     : (tensor<4x2048x8xf32>, tensor<4x2048x8xf32>, tensor<4x2048x8xf32>) -> tensor<4x2048x8xf32>
  return %0 : tensor<4x2048x8xf32>
}

// CHECK-LABEL: func.func @group_norm(
// CHECK:         array.reshape %{{.*}} : tensor<?x8x6xf32> -> tensor<?x8x2x3xf32>
// CHECK:         array.reduce sum, %{{.*}} axes = [1, 3] keepdims : tensor<?x8x2x3xf32> -> tensor<?x1x2x1xf32>
// CHECK:         array.reshape %{{.*}} : tensor<?x8x2x3xf32> -> tensor<?x8x6xf32>
func.func @group_norm(%x: tensor<?x8x6xf32>, %s: tensor<6xf32>) -> tensor<?x8x6xf32> {
  %0 = array.group_norm %x, %s, %s axis = 2 groups = 2 epsilon = 0.1
     : (tensor<?x8x6xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<?x8x6xf32>
  return %0 : tensor<?x8x6xf32>
}

// What is cut from an end is counted from a size, nothing is left of one that is too short.
// CHECK-LABEL: func.func @cut_open(
// CHECK-SAME:    %[[X:.*]]: tensor<4x?x4xf32>
// CHECK:         %[[LESS:.*]] = arith.subi
// CHECK:         %[[SIZE:.*]] = arith.maxsi %[[LESS]]
// CHECK:         %[[CUT:.*]] = array.dynamic_slice %[[X]][{{.*}}] sizes(%[[SIZE]])
// CHECK:         array.conv %[[CUT]], %{{.*}} dims = <[b, 0, f] x [0, i, o] -> [b, 0, f]> :
func.func @cut_open(%x: tensor<4x?x4xf32>, %w: tensor<3x4x6xf32>) -> tensor<4x?x6xf32> {
  %0 = array.conv %x, %w dims = <[b, 0, f] x [0, i, o] -> [b, 0, f]> high = [-2]
     : (tensor<4x?x4xf32>, tensor<3x4x6xf32>) -> tensor<4x?x6xf32>
  return %0 : tensor<4x?x6xf32>
}

// CHECK-LABEL: func.func @group_norm_open(
// CHECK:         %[[SIZE:.*]] = arith.divui
// CHECK:         array.reshape %{{.*}} sizes(%[[SIZE]]) : tensor<4x?xf32> -> tensor<4x2x?xf32>
func.func @group_norm_open(%x: tensor<4x?xf32>, %s: tensor<?xf32>) -> tensor<4x?xf32> {
  %0 = array.group_norm %x, %s, %s axis = 1 groups = 2 epsilon = 0.1
     : (tensor<4x?xf32>, tensor<?xf32>, tensor<?xf32>) -> tensor<4x?xf32>
  return %0 : tensor<4x?xf32>
}

// Blocks are made of sizes that are known; else the convolution stays.
// CHECK-LABEL: func.func @winograd_open(
// CHECK-NOT:     array.matmul
// CHECK:         array.conv
func.func @winograd_open(%x: tensor<2x?x4xf32>, %w: tensor<3x4x6xf32>) -> tensor<2x?x6xf32> {
  %0 = array.conv %x, %w dims = <[b, 0, f] x [0, i, o] -> [b, 0, f]> low = [1] high = [1] algorithm = winograd
     : (tensor<2x?x4xf32>, tensor<3x4x6xf32>) -> tensor<2x?x6xf32>
  return %0 : tensor<2x?x6xf32>
}

// CHECK-LABEL: func.func @adaptive_pool_to_nothing(
// CHECK:         array.broadcast_in_dim %{{.*}} : tensor<f32> -> tensor<?x0xf32>
func.func @adaptive_pool_to_nothing(%x: tensor<?x6xf32>) -> tensor<?x0xf32> {
  %0 = array.adaptive_pool max, %x axes = [1] sizes = [0] : tensor<?x6xf32> -> tensor<?x0xf32>
  return %0 : tensor<?x0xf32>
}

// Where the size is not known, a window is as long as the longest of any such size; one window is the whole dim.
// CHECK-LABEL: func.func @adaptive_pool_open(
// CHECK:         %[[W:.*]] = array.iota axis = 1 sizes(%{{.*}}) : tensor<1x?xi64>
// CHECK:         array.take %{{.*}} axis = 0 : (tensor<?x?xf32>, tensor<2x?xi64>) -> tensor<2x?x?xf32>
// CHECK:         array.reduce max, %{{.*}} axes = [1] : tensor<2x?x?xf32> -> tensor<2x?xf32>
// CHECK:         array.reduce max, %{{.*}} axes = [1] keepdims : tensor<2x?xf32> -> tensor<2x1xf32>
func.func @adaptive_pool_open(%x: tensor<?x?xf32>) -> tensor<2x1xf32> {
  %0 = array.adaptive_pool max, %x axes = [0, 1] sizes = [2, 1] : tensor<?x?xf32> -> tensor<2x1xf32>
  return %0 : tensor<2x1xf32>
}

// -----

// Windows of one size are a pool; others are gathered by a table, the last ones filled up.
// CHECK-LABEL: func.func @adaptive_pool(
// CHECK:         array.reduce_window max, %{{.*}} window = [1, 3, 2] strides = [1, 3, 2]
// CHECK:         array.take %{{.*}} axis = 1 : (tensor<?x6x4xf32>, tensor<4x2xi32>) -> tensor<?x4x2x4xf32>
// CHECK-NOT:     array.select
// CHECK:         array.reduce sum, %{{.*}} axes = [2] : tensor<?x4x2x4xf32> -> tensor<?x4x4xf32>
// CHECK:         array.take %{{.*}} axis = 2 : (tensor<?x4x4xf32>, tensor<3x2xi32>) -> tensor<?x4x3x2xf32>
func.func @adaptive_pool(%x: tensor<?x6x4xf32>) -> (tensor<?x2x2xf32>, tensor<?x4x3xf32>) {
  %0 = array.adaptive_pool max, %x axes = [1, 2] sizes = [2, 2] : tensor<?x6x4xf32> -> tensor<?x2x2xf32>
  %1 = array.adaptive_pool avg, %x axes = [1, 2] sizes = [4, 3] : tensor<?x6x4xf32> -> tensor<?x4x3xf32>
  return %0, %1 : tensor<?x2x2xf32>, tensor<?x4x3xf32>
}

// A part of the queries is shown only the keys that its window reaches.
// CHECK-LABEL: func.func @long_window(
// CHECK:         array.slice %{{.*}} [:, :512, :] : tensor<4x2048x8xf32> -> tensor<4x512x8xf32>
// CHECK:         array.matmul {{.*}} -> tensor<4x512x512xf32>
// CHECK:         array.slice %{{.*}} [:, 413:1024, :] : tensor<4x2048x8xf32> -> tensor<4x611x8xf32>
// CHECK:         array.matmul {{.*}} -> tensor<4x512x611xf32>
func.func @long_window(%q: tensor<4x2048x8xf32>, %k: tensor<4x2048x8xf32>) -> tensor<4x2048x8xf32> {
  %0 = array.attention %q, %k, %k causal window = 100 scale = 0.5
     : (tensor<4x2048x8xf32>, tensor<4x2048x8xf32>, tensor<4x2048x8xf32>) -> tensor<4x2048x8xf32>
  return %0 : tensor<4x2048x8xf32>
}

// Four points of four blocks of the input, and of the filter; one product at each; two places of each block, in turn.
// CHECK-LABEL: func.func @winograd(
// CHECK-SAME:    %[[X:.*]]: tensor<2x7x4xf32>, %[[W:.*]]: tensor<3x4x6xf32>)
// CHECK-DAG:     %[[HALF:.*]] = array.constant dense<5.000000e-01>
// CHECK:         %[[P:.*]] = array.pad %[[X]], %{{.*}} low = [0, 1, 0] high = [0, 2, 0]
// CHECK:         %[[A0:.*]] = array.slice %[[P]] [:, :7:2, :]
// CHECK:         %[[B0:.*]] = array.slice %[[P]] [:, 2:9:2, :]
// CHECK:         array.sub %[[A0]], %[[B0]]
// CHECK:         %[[A1:.*]] = array.slice %[[P]] [:, 1:8:2, :]
// CHECK:         %[[B1:.*]] = array.slice %[[P]] [:, 2:9:2, :]
// CHECK:         array.add %[[A1]], %[[B1]]
// CHECK:         %[[A2:.*]] = array.slice %[[P]] [:, 2:9:2, :]
// CHECK:         %[[B2:.*]] = array.slice %[[P]] [:, 1:8:2, :]
// CHECK:         array.sub %[[A2]], %[[B2]]
// CHECK:         %[[A3:.*]] = array.slice %[[P]] [:, 1:8:2, :]
// CHECK:         %[[B3:.*]] = array.slice %[[P]] [:, 3:10:2, :]
// CHECK:         array.sub %[[A3]], %[[B3]]
// CHECK:         %[[G0:.*]] = array.slice %[[W]] [:1, :, :]
// CHECK:         %[[G1:.*]] = array.slice %[[W]] [1:2, :, :]
// CHECK:         %[[G2:.*]] = array.slice %[[W]] [2:3, :, :]
// CHECK:         %[[OUTER:.*]] = array.add %[[G0]], %[[G2]]
// CHECK:         %[[SUM:.*]] = array.add %[[OUTER]], %[[G1]]
// CHECK:         %[[H1:.*]] = array.mul %[[SUM]], %[[HALF]]
// CHECK:         %[[DIFFERENCE:.*]] = array.sub %[[OUTER]], %[[G1]]
// CHECK:         %[[H2:.*]] = array.mul %[[DIFFERENCE]], %[[HALF]]
// CHECK:         %[[INPUTS:.*]] = array.concatenate {{.*}} -> tensor<4x8x4xf32>
// CHECK:         %[[FILTERS:.*]] = array.concatenate %[[G0]], %[[H1]], %[[H2]], %[[G2]] axis = 0
// CHECK:         array.matmul %[[INPUTS]], %[[FILTERS]] : {{.*}} -> tensor<4x8x6xf32>
// CHECK:         array.concatenate %{{.*}}, %{{.*}} axis = 2 : {{.*}} -> tensor<2x4x2x6xf32>
// CHECK:         array.slice %{{.*}} [:, :7, :] : tensor<2x8x6xf32> -> tensor<2x7x6xf32>
func.func @winograd(%x: tensor<2x7x4xf32>, %w: tensor<3x4x6xf32>) -> tensor<2x7x6xf32> {
  %0 = array.conv %x, %w dims = <[b, 0, f] x [0, i, o] -> [b, 0, f]> low = [1] high = [1] algorithm = winograd
     : (tensor<2x7x4xf32>, tensor<3x4x6xf32>) -> tensor<2x7x6xf32>
  return %0 : tensor<2x7x6xf32>
}

// Pages behind each other; what is not used yet is hidden, and counts as 0 where it is multiplied by 0.
// CHECK-LABEL: func.func @paged_attention(
// CHECK-SAME:    %[[Q:.*]]: tensor<3x8x2x64xf32>, %[[K:.*]]: tensor<9x2x16x64xf32>, %[[T:.*]]: tensor<3x4xi32>, %[[N:.*]]: tensor<3xi64>)
// CHECK:         %[[TAKEN:.*]] = array.take %[[K]][%[[T]]] axis = 0 : {{.*}} -> tensor<3x4x2x16x64xf32>
// CHECK:         %[[TURNED:.*]] = array.transpose %[[TAKEN]] permutation = [0, 2, 1, 3, 4]
// CHECK:         %[[TAKEN:.*]] = array.take %[[K]][%[[T]]]
// CHECK:         %[[TURNED:.*]] = array.transpose %[[TAKEN]]
// CHECK:         array.reshape %[[TURNED]] : {{.*}} -> tensor<3x2x64x64xf32>
// CHECK:         %[[USED:.*]] = array.compare lt, %{{.*}} -> tensor<3x1x64x1xi1>
// CHECK:         array.select %[[USED]]
// CHECK:         array.compare le, %{{.*}} -> tensor<3x1x2x64xi1>
func.func @paged_attention(%q: tensor<3x8x2x64xf32>, %k: tensor<9x2x16x64xf32>, %t: tensor<3x4xi32>, %n: tensor<3xi64>) -> tensor<3x8x2x64xf32> {
  %0 = array.paged_attention %q, %k, %k table(%t : tensor<3x4xi32>) lengths(%n : tensor<3xi64>) scale = 0.5
     : (tensor<3x8x2x64xf32>, tensor<9x2x16x64xf32>, tensor<9x2x16x64xf32>) -> tensor<3x8x2x64xf32>
  return %0 : tensor<3x8x2x64xf32>
}

// Sizes that inputs are bound with: blocks of queries as large as the scores allow, where these are more.
// CHECK-LABEL: func.func @symbolic_blocks(
// CHECK-SAME:    %[[Q:.*]]: tensor<2x?x8xf32>, %[[K:.*]]: tensor<2x?x8xf32>, %[[M:.*]]: tensor<?x1xi1>)
// CHECK-DAG:     %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG:     %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG:     %[[C64:.*]] = arith.constant 64 : index
// CHECK-DAG:     %[[MOST:.*]] = arith.constant 1000 : index
// CHECK:         %[[NK:.*]] = tensor.dim %[[K]], %[[C1]]
// CHECK:         %[[TWICE:.*]] = arith.muli %[[NK]], %[[C2]]
// CHECK:         %[[NQ:.*]] = tensor.dim %[[Q]], %[[C1]]
// CHECK:         %[[ALL:.*]] = arith.muli %[[TWICE]], %[[NQ]]
// CHECK:         array.from_index %[[ALL]] : tensor<i64>
// CHECK:         %[[CHOSEN:.*]] = array.if
// CHECK:         } else {
// CHECK:         %[[TWICE:.*]] = arith.muli
// CHECK:         %[[ALL:.*]] = arith.muli %[[TWICE]]
// CHECK:         %[[FULL:.*]] = arith.divui %[[ALL]], %[[MOST]]
// CHECK:         %[[PARTS:.*]] = arith.addi %[[FULL]], %[[C1]]
// CHECK:         %[[WHOLE:.*]] = arith.divui %{{.*}}, %[[C64]]
// CHECK:         %[[UNITS:.*]] = arith.addi %[[WHOLE]], %[[C1]]
// CHECK:         arith.ceildivui %[[UNITS]], %[[PARTS]]
// CHECK:         %[[BLOCK:.*]] = arith.addi
// CHECK:         %[[LOOP:.*]]:2 = array.while
// CHECK:         array.compare lt
// CHECK:         } body {
// CHECK-NEXT:    ^bb0(%[[START:.*]]: tensor<i64>, %[[SOFAR:.*]]: tensor<2x?x8xf32>):
// CHECK:           array.dynamic_slice %[[Q]][%{{.*}}, %[[START]], %{{.*}}] sizes(%[[BLOCK]])
// CHECK:           array.dynamic_slice %[[M]][%[[START]], %{{.*}}] sizes(%{{.*}}) : {{.*}} -> tensor<?x1xi1>
// CHECK:           array.matmul {{.*}} -> tensor<2x?x?xf32>
// CHECK:           %[[ALL:.*]] = array.dynamic_update_slice %[[SOFAR]][%{{.*}}, %[[START]], %{{.*}}] = %{{.*}}
// CHECK:           array.yield %{{.*}}, %[[ALL]]
// CHECK:         array.yield %[[LOOP]]#1
// CHECK:         return %[[CHOSEN]]
func.func @symbolic_blocks(%q: tensor<2x?x8xf32>, %k: tensor<2x?x8xf32>, %m: tensor<?x1xi1>) -> tensor<2x?x8xf32> {
  %0 = array.attention %q, %k, %k mask(%m : tensor<?x1xi1>) scale = 0.5 {array.max_scores = 1000 : i64}
     : (tensor<2x?x8xf32>, tensor<2x?x8xf32>, tensor<2x?x8xf32>) -> tensor<2x?x8xf32>
  return %0 : tensor<2x?x8xf32>
}

// Sizes tell whether these are many: more than 2^27 scores.
// CHECK-LABEL: func.func @symbolic_by_sizes(
// CHECK-DAG:     %[[MOST:.*]] = array.constant dense<134217728> : tensor<i64>
// CHECK-DAG:     %[[C8:.*]] = arith.constant 8 : index
// CHECK:         %[[SCORES:.*]] = array.from_index %{{.*}} : tensor<i64>
// CHECK:         %[[FEW:.*]] = array.compare le, %[[SCORES]], %[[MOST]]
// CHECK:         %[[ALL:.*]] = array.if %[[FEW]]
// CHECK-NOT:       array.while
// CHECK:           array.matmul {{.*}} -> tensor<?x8x?x?xf32>
// CHECK:         } else {
// CHECK:           array.while
// CHECK:             array.matmul {{.*}} -> tensor<?x8x?x?xf32>
// CHECK:         return %[[ALL]]
func.func @symbolic_by_sizes(%q: tensor<?x8x?x8xf32>, %k: tensor<?x8x?x8xf32>) -> tensor<?x8x?x8xf32> {
  %0 = array.attention %q, %k, %k scale = 0.5
     : (tensor<?x8x?x8xf32>, tensor<?x8x?x8xf32>, tensor<?x8x?x8xf32>) -> tensor<?x8x?x8xf32>
  return %0 : tensor<?x8x?x8xf32>
}

// These are, for any batch. Each part is a loop, with the keys that it sees.
// CHECK-LABEL: func.func @symbolic_batch(
// CHECK:         array.slice %{{.*}} [:, :, :256, :] : tensor<?x2x2048x8xf32> -> tensor<?x2x256x8xf32>
// CHECK:         array.while
// CHECK:           array.matmul {{.*}} -> tensor<?x2x?x256xf32>
// CHECK:         array.while
// CHECK:           array.matmul {{.*}} -> tensor<?x2x?x512xf32>
// CHECK:         array.concatenate {{.*}} axis = 2
func.func @symbolic_batch(%q: tensor<?x2x2048x8xf32>, %k: tensor<?x2x2048x8xf32>) -> tensor<?x2x2048x8xf32> {
  %0 = array.attention %q, %k, %k causal scale = 0.5
     : (tensor<?x2x2048x8xf32>, tensor<?x2x2048x8xf32>, tensor<?x2x2048x8xf32>) -> tensor<?x2x2048x8xf32>
  return %0 : tensor<?x2x2048x8xf32>
}

// Where keys are hidden, iterations have a block of queries and one of keys: from the first that is seen to the last.
// CHECK-LABEL: func.func @visible_blocks(
// CHECK-SAME:    %[[Q:.*]]: tensor<2x?x8xf32>, %[[K:.*]]: tensor<2x?x8xf32>)
// CHECK-DAG:     %[[SIZE:.*]] = array.constant dense<64> : tensor<i64>
// CHECK-DAG:     %[[NONE:.*]] = array.constant dense<0.000000e+00> : tensor<2x64x8xf32>
// CHECK:         array.if
// CHECK:           array.matmul {{.*}} -> tensor<2x?x?xf32>
// CHECK:         } else {
// CHECK:           %[[ENOUGH:.*]] = array.compare ge, %{{.*}}, %[[SIZE]]
// CHECK:           array.if
// CHECK:             %[[ALL:.*]] = tensor.empty(%{{.*}}) : tensor<2x?x8xf32>
// CHECK:             array.while %{{.*}}, %{{.*}}, %[[NONE]], %{{.*}}, %{{.*}}, %[[ALL]] :
// CHECK:             } body {
// CHECK-NEXT:        ^bb0(%[[START:.*]]: tensor<i64>, %[[KEY:.*]]: tensor<i64>, %[[SUM:.*]]: tensor<2x64x8xf32>, %{{.*}}: tensor<2x64x1xf32>, %{{.*}}: tensor<2x64x1xf32>, %[[SOFAR:.*]]: tensor<2x?x8xf32>):
// CHECK:               %[[END:.*]] = array.add %[[KEY]], %[[SIZE]]
// CHECK:               %[[LAST:.*]] = array.compare ge, %[[END]], %{{.*}}
// CHECK:               array.select %[[LAST]]
// CHECK:               array.dynamic_slice %[[Q]][%{{.*}}, %[[START]], %{{.*}}] : {{.*}} -> tensor<2x64x8xf32>
// CHECK:               array.dynamic_slice %[[K]][%{{.*}}, %[[KEY]], %{{.*}}] : {{.*}} -> tensor<2x64x8xf32>
// CHECK:               array.matmul {{.*}} -> tensor<2x64x64xf32>
// CHECK:               array.dynamic_update_slice %[[SOFAR]][%{{.*}}, %[[START]], %{{.*}}] =
// CHECK:         } else {
// CHECK:           array.while
// CHECK:             array.matmul {{.*}} -> tensor<2x?x?xf32>
func.func @visible_blocks(%q: tensor<2x?x8xf32>, %k: tensor<2x?x8xf32>) -> tensor<2x?x8xf32> {
  %0 = array.attention %q, %k, %k causal window = 40 scale = 0.5 {array.max_scores = 8192 : i64}
     : (tensor<2x?x8xf32>, tensor<2x?x8xf32>, tensor<2x?x8xf32>) -> tensor<2x?x8xf32>
  return %0 : tensor<2x?x8xf32>
}

// More parts than are worth kernels of their own.
// CHECK-LABEL: func.func @very_long(
// CHECK:         array.while
// CHECK:           array.dynamic_slice %{{.*}} -> tensor<4x64x8xf32>
// CHECK:           array.matmul {{.*}} -> tensor<4x64x16384xf32>
// CHECK-NOT:     array.while
func.func @very_long(%q: tensor<4x16384x8xf32>, %k: tensor<4x16384x8xf32>) -> tensor<4x16384x8xf32> {
  %0 = array.attention %q, %k, %k scale = 0.5
     : (tensor<4x16384x8xf32>, tensor<4x16384x8xf32>, tensor<4x16384x8xf32>) -> tensor<4x16384x8xf32>
  return %0 : tensor<4x16384x8xf32>
}

// The host does not know how many keys there are.
// CHECK-LABEL: func.func @device_bounded_keys(
// CHECK-NOT:     array.while
// CHECK:         return
func.func @device_bounded_keys(%q: tensor<2x?x8xf32>, %x: tensor<2x64x8xf32>, %n: tensor<i32>) -> tensor<2x?x8xf32> {
  %k = array.set_extent %x, %n axis = 1 : (tensor<2x64x8xf32>, tensor<i32>) -> tensor<2x?x8xf32>
  %0 = array.attention %q, %k, %k scale = 0.5 {array.max_scores = 1000 : i64}
     : (tensor<2x?x8xf32>, tensor<2x?x8xf32>, tensor<2x?x8xf32>) -> tensor<2x?x8xf32>
  return %0 : tensor<2x?x8xf32>
}
