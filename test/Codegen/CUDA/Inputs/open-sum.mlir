func.func @main(%a: tensor<?x64xf16>, %b: tensor<?x128xf16>) -> tensor<64x128xf16> {
  %c = array.matmul %a, %b transpose_a : (tensor<?x64xf16>, tensor<?x128xf16>) -> tensor<64x128xf16>
  return %c : tensor<64x128xf16>
}
