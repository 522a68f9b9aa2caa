func.func @f(%x: tensor<?x?x?x64xbf16> {array.dims = ["n", "h", "w", ""]}, %w: tensor<64x3x3x64xbf16>) -> tensor<?x?x?x64xbf16> attributes {array.dim_range = {n = [16, 32, 1], h = [160, 224, 1], w = [160, 224, 1]}} {
  %y = array.conv %x, %w dims = <[b, 0, 1, f] x [o, 0, 1, i] -> [b, 0, 1, f]> low = [1, 1] high = [1, 1] : (tensor<?x?x?x64xbf16>, tensor<64x3x3x64xbf16>) -> tensor<?x?x?x64xbf16>
  return %y : tensor<?x?x?x64xbf16>
}
