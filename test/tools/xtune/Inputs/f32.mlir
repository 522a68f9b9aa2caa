func.func @main(%x: tensor<72x264xf32>, %w: tensor<264x64xf32>, %few: tensor<16x2048xf32>, %long: tensor<2048x64xf32>)
    -> (tensor<72x64xf32>, tensor<16x64xf32>) {
  %p = array.matmul %x, %w : (tensor<72x264xf32>, tensor<264x64xf32>) -> tensor<72x64xf32>
  %q = array.matmul %few, %long : (tensor<16x2048xf32>, tensor<2048x64xf32>) -> tensor<16x64xf32>
  return %p, %q : tensor<72x64xf32>, tensor<16x64xf32>
}
