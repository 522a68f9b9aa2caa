// Convolutions of other types: f32, f32 rounded to TF32, and bytes, with channels first.
func.func @floats(%x: tensor<2x14x12x32xf32>, %w: tensor<32x3x3x40xf32>) -> tensor<2x12x12x40xf32> {
  %y = array.conv %x, %w dims = <[b, 0, 1, f] x [i, 0, 1, o] -> [b, 0, 1, f]> low = [0, 1] high = [0, 1]
     : (tensor<2x14x12x32xf32>, tensor<32x3x3x40xf32>) -> tensor<2x12x12x40xf32>
  return %y : tensor<2x12x12x40xf32>
}
func.func @rounded(%x: tensor<2x9x9x16xf32>, %w: tensor<3x3x16x24xf32>) -> tensor<2x9x9x24xf32> {
  %y = array.conv %x, %w dims = <[b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f]> low = [1, 1] high = [1, 1] allow_tf32
     : (tensor<2x9x9x16xf32>, tensor<3x3x16x24xf32>) -> tensor<2x9x9x24xf32>
  return %y : tensor<2x9x9x24xf32>
}
func.func @bytes(%x: tensor<2x32x9x7xi8>, %w: tensor<24x32x3x2xi8>) -> tensor<2x24x9x7xi32> {
  %y = array.conv %x, %w dims = <[b, f, 0, 1] x [o, i, 0, 1] -> [b, f, 0, 1]> low = [1, 1] high = [1, 0]
     : (tensor<2x32x9x7xi8>, tensor<24x32x3x2xi8>) -> tensor<2x24x9x7xi32>
  return %y : tensor<2x24x9x7xi32>
}
