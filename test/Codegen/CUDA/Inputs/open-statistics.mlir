// A convolution of images of any size, and the statistics of its features.
func.func @main(%x: tensor<?x?x?x64xbf16>, %w: tensor<64x3x3x64xbf16>) -> (tensor<?x?x?x64xbf16>, tensor<64xf32>, tensor<64xf32>) {
  %y = array.conv %x, %w dims = <[b, 0, 1, f] x [o, 0, 1, i] -> [b, 0, 1, f]> low = [1, 1] high = [1, 1]
      : (tensor<?x?x?x64xbf16>, tensor<64x3x3x64xbf16>) -> tensor<?x?x?x64xbf16>
  %wide = array.convert %y : tensor<?x?x?x64xbf16> -> tensor<?x?x?x64xf32>
  %m = array.mean %wide axes = [0, 1, 2] : tensor<?x?x?x64xf32> -> tensor<64xf32>
  %v = array.var %wide axes = [0, 1, 2] : tensor<?x?x?x64xf32> -> tensor<64xf32>
  return %y, %m, %v : tensor<?x?x?x64xbf16>, tensor<64xf32>, tensor<64xf32>
}
