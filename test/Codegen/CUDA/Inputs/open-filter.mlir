func.func @main(%x: tensor<?x?x?x64xf16>, %w: tensor<64x3x3x64xf16>) -> tensor<?x?x?x64xf16> {
  %y = array.conv %x, %w dims = <[b, 0, 1, f] x [o, 0, 1, i] -> [b, 0, 1, f]> low = [1, 1] high = [1, 1]
      : (tensor<?x?x?x64xf16>, tensor<64x3x3x64xf16>) -> tensor<?x?x?x64xf16>
  return %y : tensor<?x?x?x64xf16>
}
