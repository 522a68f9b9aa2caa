func.func @long(%a: tensor<?x512xf32>, %b: tensor<?x512xf32>) -> tensor<512x512xf32> {
  %0 = array.matmul %a, %b transpose_a allow_tf32 : (tensor<?x512xf32>, tensor<?x512xf32>) -> tensor<512x512xf32>
  return %0 : tensor<512x512xf32>
}
func.func @known(%a: tensor<16384x512xf32>, %b: tensor<16384x512xf32>) -> tensor<512x512xf32> {
  %0 = array.matmul %a, %b transpose_a allow_tf32 : (tensor<16384x512xf32>, tensor<16384x512xf32>) -> tensor<512x512xf32>
  return %0 : tensor<512x512xf32>
}
