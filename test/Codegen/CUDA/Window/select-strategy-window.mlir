// RUN: xcompile %s --target=cuda:sm_90a --compile-to=codegen -o - | FileCheck %s

// A convolution is a matrix product whose image is copied by columns of pixels, its padding with it.
// CHECK:       config = #cuda.matmul_wgmma<
// CHECK-SAME:  name = "image_k0_conv"
func.func @image(%x: tensor<2x16x16x32xf16>, %w: tensor<3x3x32x64xf16>) -> tensor<2x16x16x64xf16> {
  %y = array.conv %x, %w dims = <[b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f]> low = [1, 1] high = [1, 1]
     : (tensor<2x16x16x32xf16>, tensor<3x3x32x64xf16>) -> tensor<2x16x16x64xf16>
  return %y : tensor<2x16x16x64xf16>
}

// CHECK:       config = #cuda.matmul_fma<
// CHECK-SAME:  name = "channels_first_k0_conv"
func.func @channels_first(%x: tensor<2x32x16x16xf32>, %w: tensor<64x32x3x3xf32>) -> tensor<2x64x14x14xf32> {
  %y = array.conv %x, %w dims = <[b, f, 0, 1] x [o, i, 0, 1] -> [b, f, 0, 1]>
     : (tensor<2x32x16x16xf32>, tensor<64x32x3x3xf32>) -> tensor<2x64x14x14xf32>
  return %y : tensor<2x64x14x14xf32>
}

// Groups of few features have no use for a tile.
// CHECK:       config = #cuda.elementwise<
// CHECK-SAME:  name = "narrow_groups_k0_conv"
// CHECK-SAME:  reason = "windows of 18 elements, each of one thread, 
func.func @narrow_groups(%x: tensor<2x16x16x8xf32>, %w: tensor<3x3x2x8xf32>) -> tensor<2x14x14x8xf32> {
  %y = array.conv %x, %w dims = <[b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f]> feature_groups = 4
     : (tensor<2x16x16x8xf32>, tensor<3x3x2x8xf32>) -> tensor<2x14x14x8xf32>
  return %y : tensor<2x14x14x8xf32>
}

// Neighbouring features are the lanes of a thread, and neighbouring windows share what they read.
// CHECK:       config = #cuda.window_strips<
// CHECK-SAME:  name = "depthwise_k0_conv"
// CHECK-SAME:  reason = "windows of 9 elements, in strips of
func.func @depthwise(%x: tensor<8x56x56x64xf32>, %w: tensor<3x3x1x64xf32>) -> tensor<8x56x56x64xf32> {
  %y = array.conv %x, %w dims = <[b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f]> low = [1, 1] high = [1, 1] feature_groups = 64
     : (tensor<8x56x56x64xf32>, tensor<3x3x1x64xf32>) -> tensor<8x56x56x64xf32>
  return %y : tensor<8x56x56x64xf32>
}

// CHECK:       config = #cuda.elementwise<threads = 256, vector = 4,
// CHECK-SAME:  name = "max_pool_k0_pool"
func.func @max_pool(%x: tensor<8x112x112x64xf32>) -> tensor<8x56x56x64xf32> {
  %y = array.reduce_window max, %x window = [1, 3, 3, 1] strides = [1, 2, 2, 1] low = [0, 1, 1, 0] high = [0, 0, 0, 0]
     : tensor<8x112x112x64xf32> -> tensor<8x56x56x64xf32>
  return %y : tensor<8x56x56x64xf32>
}

// A gradient sums over the whole image: blocks share its rows, and threads hold the sums of a row of taps.
// CHECK:       config = #cuda.window_gradient<
// CHECK-SAME:  name = "depthwise_filter_k0_conv"
// CHECK-SAME:  reason = "gradient to the filter, 3 taps of
// CHECK:       config = #cuda.column_reduction<
// CHECK-SAME:  name = "depthwise_filter_k1_reduce"
func.func @depthwise_filter(%x: tensor<64x16x16x32xf32>, %g: tensor<64x14x14x32xf32>) -> tensor<3x3x1x32xf32> {
  %y = array.conv %x, %g dims = <[f, 0, 1, b] x [i, 0, 1, o] -> [0, 1, b, f]> batch_groups = 32
     : (tensor<64x16x16x32xf32>, tensor<64x14x14x32xf32>) -> tensor<3x3x1x32xf32>
  return %y : tensor<3x3x1x32xf32>
}

// Threads of a warp share a window that lies along memory, where one thread would wait for each of its elements.
// CHECK:       config = #cuda.row_reduction<threads = 32,
// CHECK-SAME:  name = "one_feature_k0_conv"
// CHECK-SAME:  reason = "windows of 576 elements, each shared by 32 threads, 3.5 us expected; rows of
func.func @one_feature(%x: tensor<2x64x64x64xf32>, %w: tensor<3x3x64x1xf32>) -> tensor<2x64x64x1xf32> {
  %y = array.conv %x, %w dims = <[b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f]> low = [1, 1] high = [1, 1]
     : (tensor<2x64x64x64xf32>, tensor<3x3x64x1xf32>) -> tensor<2x64x64x1xf32>
  return %y : tensor<2x64x64x1xf32>
}

// A tile reads what features share once, however empty it is.
// CHECK:       config = #cuda.matmul_fma<
// CHECK-SAME:  name = "few_features_k0_conv"
func.func @few_features(%x: tensor<2x64x64x64xf32>, %w: tensor<3x3x64x4xf32>) -> tensor<2x64x64x4xf32> {
  %y = array.conv %x, %w dims = <[b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f]> low = [1, 1] high = [1, 1]
     : (tensor<2x64x64x64xf32>, tensor<3x3x64x4xf32>) -> tensor<2x64x64x4xf32>
  return %y : tensor<2x64x64x4xf32>
}

// Of few places there are not enough tiles for all multiprocessors.
// CHECK:       config = #cuda.column_reduction<threads = 8, rows = 128,
// CHECK-SAME:  name = "few_places_k0_conv"
// CHECK-SAME:  reason = "windows of 576 elements, each shared by 128 threads,
func.func @few_places(%x: tensor<1x8x8x64xf32>, %w: tensor<3x3x64x8xf32>) -> tensor<1x8x8x8xf32> {
  %y = array.conv %x, %w dims = <[b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f]> low = [1, 1] high = [1, 1]
     : (tensor<1x8x8x64xf32>, tensor<3x3x64x8xf32>) -> tensor<1x8x8x8xf32>
  return %y : tensor<1x8x8x8xf32>
}

// Small windows of neighbouring features are walked, also where there are few results.
// CHECK:       config = #cuda.elementwise<
// CHECK-SAME:  name = "first_layer_gradient_k0_conv"
// CHECK-SAME:  reason = "windows of 36 elements, each of one thread, 
func.func @first_layer_gradient(%x: tensor<8x32x32x4xf32>, %w: tensor<3x3x4x4xf32>) -> tensor<8x32x32x4xf32> {
  %y = array.conv %x, %w dims = <[b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f]> low = [1, 1] high = [1, 1]
     : (tensor<8x32x32x4xf32>, tensor<3x3x4x4xf32>) -> tensor<8x32x32x4xf32>
  return %y : tensor<8x32x32x4xf32>
}

// CHECK:       config = #cuda.column_reduction<
// CHECK-SAME:  name = "large_depthwise_k0_conv"
// CHECK-SAME:  reason = "windows of 961 elements, each shared by 64 threads,
func.func @large_depthwise(%x: tensor<1x62x62x8xf32>, %w: tensor<31x31x1x8xf32>) -> tensor<1x32x32x8xf32> {
  %y = array.conv %x, %w dims = <[b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f]> feature_groups = 8
     : (tensor<1x62x62x8xf32>, tensor<31x31x1x8xf32>) -> tensor<1x32x32x8xf32>
  return %y : tensor<1x32x32x8xf32>
}

// Neighbouring channels are columns; without them, windows are rows.
// CHECK:       config = #cuda.column_reduction<
// CHECK-SAME:  name = "large_pool_k0_pool"
func.func @large_pool(%x: tensor<1x62x62x8xf32>) -> tensor<1x32x32x8xf32> {
  %y = array.reduce_window max, %x window = [1, 31, 31, 1] : tensor<1x62x62x8xf32> -> tensor<1x32x32x8xf32>
  return %y : tensor<1x32x32x8xf32>
}

// CHECK:       config = #cuda.row_reduction<
// CHECK-SAME:  name = "large_pool_first_k0_pool"
func.func @large_pool_first(%x: tensor<2x8x62x62xf32>) -> tensor<2x8x32x32xf32> {
  %y = array.reduce_window max, %x window = [1, 1, 31, 31] : tensor<2x8x62x62xf32> -> tensor<2x8x32x32xf32>
  return %y : tensor<2x8x32x32xf32>
}
