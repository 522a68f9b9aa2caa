func.func @main(%a: tensor<256x128xbf16>, %b: tensor<128x512xbf16>) -> tensor<256x512xbf16> {
  %c = array.matmul %a, %b : (tensor<256x128xbf16>, tensor<128x512xbf16>) -> tensor<256x512xbf16>
  return %c : tensor<256x512xbf16>
}
