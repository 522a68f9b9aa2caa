func.func @main(%x: tensor<1x10x10x16xf32>) -> tensor<1x8x8x32xf32> {
  %w = array.parameter "m"::"w" : tensor<3x3x16x32xf32>
  %scale = array.parameter "m"::"scale" : tensor<32xf32>
  %bias = array.parameter "m"::"bias" : tensor<32xf32>
  %mean = array.parameter "m"::"mean" : tensor<32xf32>
  %variance = array.parameter "m"::"variance" : tensor<32xf32>
  %c = array.conv %x, %w dims = <[b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f]> : (tensor<1x10x10x16xf32>, tensor<3x3x16x32xf32>) -> tensor<1x8x8x32xf32>
  %n = array.batch_norm_inference %c, %scale, %bias, %mean, %variance axis = 3 epsilon = 1.0e-5
     : (tensor<1x8x8x32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32xf32>) -> tensor<1x8x8x32xf32>
  return %n : tensor<1x8x8x32xf32>
}
