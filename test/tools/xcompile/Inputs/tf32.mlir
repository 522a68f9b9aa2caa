func.func @main(%a: tensor<256x128xf32>, %b: tensor<128x512xf32>) -> tensor<512x512xf32> {
  %c = array.matmul %a, %b allow_tf32 : (tensor<256x128xf32>, tensor<128x512xf32>) -> tensor<256x512xf32>
  %d = array.matmul %c, %c transpose_a : (tensor<256x512xf32>, tensor<256x512xf32>) -> tensor<512x512xf32>
  return %d : tensor<512x512xf32>
}
