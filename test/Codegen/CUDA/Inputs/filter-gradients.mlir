// Convolutions of f32, one of them rounded to TF32, and one with channels first.
func.func @floats(%x: tensor<16x28x28x32xf32>, %w: tensor<64x3x3x32xf32>) -> tensor<16x28x28x64xf32> {
  %y = array.conv %x, %w dims = <[b, 0, 1, f] x [o, 0, 1, i] -> [b, 0, 1, f]> low = [1, 1] high = [1, 1]
     : (tensor<16x28x28x32xf32>, tensor<64x3x3x32xf32>) -> tensor<16x28x28x64xf32>
  return %y : tensor<16x28x28x64xf32>
}
func.func @rounded(%x: tensor<16x28x28x32xf32>, %w: tensor<64x3x3x32xf32>) -> tensor<16x28x28x64xf32> {
  %y = array.conv %x, %w dims = <[b, 0, 1, f] x [o, 0, 1, i] -> [b, 0, 1, f]> low = [1, 1] high = [1, 1] allow_tf32
     : (tensor<16x28x28x32xf32>, tensor<64x3x3x32xf32>) -> tensor<16x28x28x64xf32>
  return %y : tensor<16x28x28x64xf32>
}
func.func @first(%x: tensor<16x32x28x28xf32>, %w: tensor<64x32x3x3xf32>) -> tensor<16x64x28x28xf32> {
  %y = array.conv %x, %w dims = <[b, f, 0, 1] x [o, i, 0, 1] -> [b, f, 0, 1]> low = [1, 1] high = [1, 1]
     : (tensor<16x32x28x28xf32>, tensor<64x32x3x3xf32>) -> tensor<16x64x28x28xf32>
  return %y : tensor<16x64x28x28xf32>
}
