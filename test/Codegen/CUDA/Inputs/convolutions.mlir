// Convolutions on wgmma, and some that keep to mma.sync.
func.func @padded(%x: tensor<8x28x28x128xbf16>, %w: tensor<128x3x3x128xbf16>) -> tensor<8x28x28x128xbf16> {
  %y = array.conv %x, %w dims = <[b, 0, 1, f] x [o, 0, 1, i] -> [b, 0, 1, f]> low = [1, 1] high = [1, 1]
     : (tensor<8x28x28x128xbf16>, tensor<128x3x3x128xbf16>) -> tensor<8x28x28x128xbf16>
  return %y : tensor<8x28x28x128xbf16>
}
func.func @strided(%x: tensor<8x28x28x128xbf16>, %w: tensor<1x1x128x64xbf16>) -> tensor<8x14x14x64xbf16> {
  %y = array.conv %x, %w dims = <[b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f]> strides = [2, 2]
     : (tensor<8x28x28x128xbf16>, tensor<1x1x128x64xbf16>) -> tensor<8x14x14x64xbf16>
  return %y : tensor<8x14x14x64xbf16>
}
func.func @product(%x: tensor<8x28x28x128xbf16>, %w: tensor<1x1x128x64xbf16>) -> tensor<8x28x28x64xbf16> {
  %y = array.conv %x, %w dims = <[b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f]>
     : (tensor<8x28x28x128xbf16>, tensor<1x1x128x64xbf16>) -> tensor<8x28x28x64xbf16>
  return %y : tensor<8x28x28x64xbf16>
}
func.func @fused(%x: tensor<8x28x28x32xbf16>, %w: tensor<3x3x32x64xbf16>, %scale: tensor<64xbf16>, %residual: tensor<8x14x14x64xbf16>) -> tensor<8x14x14x64xbf16> {
  %y = array.conv %x, %w dims = <[b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f]> strides = [2, 2] low = [1, 1] high = [0, 1]
     : (tensor<8x28x28x32xbf16>, tensor<3x3x32x64xbf16>) -> tensor<8x14x14x64xbf16>
  %a = array.mul %y, %scale : (tensor<8x14x14x64xbf16>, tensor<64xbf16>) -> tensor<8x14x14x64xbf16>
  %b = array.add %a, %residual : tensor<8x14x14x64xbf16>
  %c = array.relu %b : tensor<8x14x14x64xbf16>
  return %c : tensor<8x14x14x64xbf16>
}
func.func @symbolic_batch(%x: tensor<?x28x28x64xbf16>, %w: tensor<3x3x64x64xbf16>) -> tensor<?x28x28x64xbf16> {
  %y = array.conv %x, %w dims = <[b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f]> low = [1, 1] high = [1, 1]
     : (tensor<?x28x28x64xbf16>, tensor<3x3x64x64xbf16>) -> tensor<?x28x28x64xbf16>
  return %y : tensor<?x28x28x64xbf16>
}
func.func @three_channels(%x: tensor<8x32x32x3xbf16>, %w: tensor<3x3x3x64xbf16>) -> tensor<8x30x30x64xbf16> {
  %y = array.conv %x, %w dims = <[b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f]>
     : (tensor<8x32x32x3xbf16>, tensor<3x3x3x64xbf16>) -> tensor<8x30x30x64xbf16>
  return %y : tensor<8x30x30x64xbf16>
}
func.func @far_corner(%x: tensor<8x28x28x64xbf16>, %w: tensor<3x3x64x64xbf16>) -> tensor<8x156x28x64xbf16> {
  %y = array.conv %x, %w dims = <[b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f]> low = [129, 1] high = [1, 1]
     : (tensor<8x28x28x64xbf16>, tensor<3x3x64x64xbf16>) -> tensor<8x156x28x64xbf16>
  return %y : tensor<8x156x28x64xbf16>
}
func.func @long_stride(%x: tensor<8x100x28x64xbf16>, %w: tensor<3x3x64x64xbf16>) -> tensor<8x11x26x64xbf16> {
  %y = array.conv %x, %w dims = <[b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f]> strides = [9, 1]
     : (tensor<8x100x28x64xbf16>, tensor<3x3x64x64xbf16>) -> tensor<8x11x26x64xbf16>
  return %y : tensor<8x11x26x64xbf16>
}
func.func @grouped(%x: tensor<8x28x28x128xbf16>, %w: tensor<3x3x64x128xbf16>) -> tensor<8x26x26x128xbf16> {
  %y = array.conv %x, %w dims = <[b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f]> feature_groups = 2
     : (tensor<8x28x28x128xbf16>, tensor<3x3x64x128xbf16>) -> tensor<8x26x26x128xbf16>
  return %y : tensor<8x26x26x128xbf16>
}
func.func @uneven_groups(%x: tensor<8x28x28x520xbf16>, %w: tensor<3x3x40x520xbf16>) -> tensor<8x26x26x520xbf16> {
  %y = array.conv %x, %w dims = <[b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f]> feature_groups = 13
     : (tensor<8x28x28x520xbf16>, tensor<3x3x40x520xbf16>) -> tensor<8x26x26x520xbf16>
  return %y : tensor<8x26x26x520xbf16>
}
func.func @few_channels(%x: tensor<32x56x56x24xbf16>, %w: tensor<96x3x3x24xbf16>) -> tensor<32x56x56x96xbf16> {
  %y = array.conv %x, %w dims = <[b, 0, 1, f] x [o, 0, 1, i] -> [b, 0, 1, f]> low = [1, 1] high = [1, 1]
     : (tensor<32x56x56x24xbf16>, tensor<96x3x3x24xbf16>) -> tensor<32x56x56x96xbf16>
  return %y : tensor<32x56x56x96xbf16>
}
