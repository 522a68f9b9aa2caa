// RUN: xcompile %s --target=cuda:sm_90a --compile-to=codegen -o - | FileCheck %s

// A convolution is a matrix product whose image is gathered as tiles are loaded, its padding with it.
// CHECK:       config = #cuda.matmul_mma<
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
// CHECK-SAME:  reason = "windows of 18 elements, each walked by one thread;
func.func @narrow_groups(%x: tensor<2x16x16x8xf32>, %w: tensor<3x3x2x8xf32>) -> tensor<2x14x14x8xf32> {
  %y = array.conv %x, %w dims = <[b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f]> feature_groups = 4
     : (tensor<2x16x16x8xf32>, tensor<3x3x2x8xf32>) -> tensor<2x14x14x8xf32>
  return %y : tensor<2x14x14x8xf32>
}

// Neighbouring features are the lanes of a thread.
// CHECK:       config = #cuda.elementwise<threads = 256, vector = 4,
// CHECK-SAME:  name = "depthwise_k0_conv"
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

// A gradient sums over the whole image: threads share that.
// CHECK:       config = #cuda.column_reduction<
// CHECK-SAME:  name = "depthwise_filter_k0_conv"
func.func @depthwise_filter(%x: tensor<64x16x16x32xf32>, %g: tensor<64x14x14x32xf32>) -> tensor<3x3x1x32xf32> {
  %y = array.conv %x, %g dims = <[f, 0, 1, b] x [i, 0, 1, o] -> [0, 1, b, f]> batch_groups = 32
     : (tensor<64x16x16x32xf32>, tensor<64x14x14x32xf32>) -> tensor<3x3x1x32xf32>
  return %y : tensor<3x3x1x32xf32>
}
