// A convolution with a bias, and one of small groups, which are packed.
func.func @forward(%x: tensor<2x9x7x64xbf16> {array.name = "x"}, %w: tensor<72x3x3x64xbf16> {array.name = "w"}, %b: tensor<72xbf16>) -> tensor<2x5x4x72xbf16> {
  %y = array.conv %x, %w dims = <[b, 0, 1, f] x [o, 0, 1, i] -> [b, 0, 1, f]> strides = [2, 2] low = [1, 1] high = [1, 1]
     : (tensor<2x9x7x64xbf16>, tensor<72x3x3x64xbf16>) -> tensor<2x5x4x72xbf16>
  %z = array.add %y, %b : (tensor<2x5x4x72xbf16>, tensor<72xbf16>) -> tensor<2x5x4x72xbf16>
  return %z : tensor<2x5x4x72xbf16>
}
func.func @groups(%x: tensor<1x8x8x128xbf16>, %w: tensor<3x1x16x128xbf16>) -> tensor<1x6x8x128xbf16> {
  %y = array.conv %x, %w dims = <[b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f]> feature_groups = 8
     : (tensor<1x8x8x128xbf16>, tensor<3x1x16x128xbf16>) -> tensor<1x6x8x128xbf16>
  return %y : tensor<1x6x8x128xbf16>
}
