// Convolutions of images whose sizes are known when inputs are bound.
func.func @same(%x: tensor<?x?x?x64xbf16>, %w: tensor<64x3x3x64xbf16>) -> tensor<?x?x?x64xbf16> {
  %y = array.conv %x, %w dims = <[b, 0, 1, f] x [o, 0, 1, i] -> [b, 0, 1, f]> low = [1, 1] high = [1, 1]
      : (tensor<?x?x?x64xbf16>, tensor<64x3x3x64xbf16>) -> tensor<?x?x?x64xbf16>
  return %y : tensor<?x?x?x64xbf16>
}

func.func @strided(%x: tensor<?x?x?x64xbf16>, %w: tensor<64x3x3x64xbf16>) -> tensor<?x?x?x64xbf16> {
  %y = array.conv %x, %w dims = <[b, 0, 1, f] x [o, 0, 1, i] -> [b, 0, 1, f]> strides = [2, 2] low = [1, 1] high = [1, 1]
      : (tensor<?x?x?x64xbf16>, tensor<64x3x3x64xbf16>) -> tensor<?x?x?x64xbf16>
  return %y : tensor<?x?x?x64xbf16>
}

func.func @stem(%x: tensor<?x?x?x3xbf16>, %w: tensor<64x7x7x3xbf16>) -> tensor<?x?x?x64xbf16> {
  %y = array.conv %x, %w dims = <[b, 0, 1, f] x [o, 0, 1, i] -> [b, 0, 1, f]> strides = [2, 2] low = [3, 3] high = [3, 3]
      : (tensor<?x?x?x3xbf16>, tensor<64x7x7x3xbf16>) -> tensor<?x?x?x64xbf16>
  return %y : tensor<?x?x?x64xbf16>
}

func.func @small_groups(%x: tensor<?x?x?x128xbf16>, %w: tensor<128x3x3x4xbf16>) -> tensor<?x?x?x128xbf16> {
  %y = array.conv %x, %w dims = <[b, 0, 1, f] x [o, 0, 1, i] -> [b, 0, 1, f]> low = [1, 1] high = [1, 1] feature_groups = 32
      : (tensor<?x?x?x128xbf16>, tensor<128x3x3x4xbf16>) -> tensor<?x?x?x128xbf16>
  return %y : tensor<?x?x?x128xbf16>
}

func.func @depthwise(%x: tensor<?x?x?x144xbf16>, %w: tensor<3x3x1x144xbf16>) -> tensor<?x?x?x144xbf16> {
  %y = array.conv %x, %w dims = <[b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f]> low = [1, 1] high = [1, 1] feature_groups = 144
      : (tensor<?x?x?x144xbf16>, tensor<3x3x1x144xbf16>) -> tensor<?x?x?x144xbf16>
  return %y : tensor<?x?x?x144xbf16>
}

func.func @channels_first(%x: tensor<?x64x?x?xbf16>, %w: tensor<64x64x3x3xbf16>) -> tensor<?x64x?x?xbf16> {
  %y = array.conv %x, %w dims = <[b, f, 0, 1] x [o, i, 0, 1] -> [b, f, 0, 1]> low = [1, 1] high = [1, 1]
      : (tensor<?x64x?x?xbf16>, tensor<64x64x3x3xbf16>) -> tensor<?x64x?x?xbf16>
  return %y : tensor<?x64x?x?xbf16>
}

func.func @open_window(%x: tensor<?x?x?x64xbf16>, %w: tensor<64x?x3x64xbf16>) -> tensor<?x?x?x64xbf16> {
  %y = array.conv %x, %w dims = <[b, 0, 1, f] x [o, 0, 1, i] -> [b, 0, 1, f]> low = [1, 1] high = [1, 1]
      : (tensor<?x?x?x64xbf16>, tensor<64x?x3x64xbf16>) -> tensor<?x?x?x64xbf16>
  return %y : tensor<?x?x?x64xbf16>
}
