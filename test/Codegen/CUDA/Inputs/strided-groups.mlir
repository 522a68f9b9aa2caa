// Strided convolutions of channels one by one, and of wide groups.
func.func @depthwise(%x: tensor<8x28x28x48xbf16>, %w: tensor<48x3x3x1xbf16>) -> tensor<8x14x14x48xbf16> {
  %y = array.conv %x, %w dims = <[b, 0, 1, f] x [o, 0, 1, i] -> [b, 0, 1, f]> strides = [2, 2] low = [1, 1] high = [1, 1] feature_groups = 48
     : (tensor<8x28x28x48xbf16>, tensor<48x3x3x1xbf16>) -> tensor<8x14x14x48xbf16>
  return %y : tensor<8x14x14x48xbf16>
}
func.func @wide(%x: tensor<8x28x28x128xbf16>, %w: tensor<128x3x3x64xbf16>) -> tensor<8x14x14x128xbf16> {
  %y = array.conv %x, %w dims = <[b, 0, 1, f] x [o, 0, 1, i] -> [b, 0, 1, f]> strides = [2, 2] low = [1, 1] high = [1, 1] feature_groups = 2
     : (tensor<8x28x28x128xbf16>, tensor<128x3x3x64xbf16>) -> tensor<8x14x14x128xbf16>
  return %y : tensor<8x14x14x128xbf16>
}
