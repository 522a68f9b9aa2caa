// A filter of bytes for an image of bf16.
func.func @main(%x: tensor<2x9x9x64xbf16>, %w: tensor<3x3x64x64xi8>) -> tensor<2x9x9x64xbf16> {
  %c = array.convert %w : tensor<3x3x64x64xi8> -> tensor<3x3x64x64xbf16>
  %y = array.conv %x, %c dims = <[b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f]> low = [1, 1] high = [1, 1]
     : (tensor<2x9x9x64xbf16>, tensor<3x3x64x64xbf16>) -> tensor<2x9x9x64xbf16>
  return %y : tensor<2x9x9x64xbf16>
}
