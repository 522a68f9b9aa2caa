func.func @loss(%x: tensor<3xf32> {array.name = "x"}, %w: tensor<3xf32> {array.name = "w"}) -> tensor<f32> {
  %y = array.mul %x, %w : tensor<3xf32>
  %z = array.square %y : tensor<3xf32>
  %s = array.reduce sum, %z axes = [0] : tensor<3xf32> -> tensor<f32>
  return %s : tensor<f32>
}
