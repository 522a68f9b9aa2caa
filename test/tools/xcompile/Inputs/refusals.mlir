func.func @main(%x: tensor<256x512xbf16>, %g: tensor<256x512xbf16>, %w: tensor<512x768xbf16>, %i: tensor<8x1xi32>) -> (tensor<256x768xbf16>, tensor<8x768xbf16>) {
  %0 = array.sigmoid %g : tensor<256x512xbf16>
  %1 = array.mul %x, %0 : tensor<256x512xbf16>
  %2 = array.matmul %1, %w : (tensor<256x512xbf16>, tensor<512x768xbf16>) -> tensor<256x768xbf16>
  %3 = array.softmax %2 axis = 1 : tensor<256x768xbf16>
  %4 = array.exp %3 : tensor<256x768xbf16>
  %5 = array.gather %3[%i] axes = [0] : (tensor<256x768xbf16>, tensor<8x1xi32>) -> tensor<8x768xbf16>
  return %4, %5 : tensor<256x768xbf16>, tensor<8x768xbf16>
}
