// An image of few channels, whose pixels are packed for wgmma.
func.func @main(%x: tensor<1x184x190x3xbf16> {array.name = "x"}, %w: tensor<16x7x7x3xbf16> {array.name = "w"}) -> tensor<1x92x95x16xbf16> {
  %y = array.conv %x, %w dims = <[b, 0, 1, f] x [o, 0, 1, i] -> [b, 0, 1, f]> strides = [2, 2] low = [3, 3] high = [3, 3]
     : (tensor<1x184x190x3xbf16>, tensor<16x7x7x3xbf16>) -> tensor<1x92x95x16xbf16>
  return %y : tensor<1x92x95x16xbf16>
}
