func.func @main(%x: tensor<128x128xbf16>) -> tensor<128x128xbf16> {
  %wa = array.parameter "w"::"a" : tensor<128x128xbf16>
  %wb = array.parameter "w"::"b" : tensor<128x128xbf16>
  %wc = array.parameter "w"::"c" : tensor<128x128xbf16>
  %wd = array.parameter "w"::"d" : tensor<128x128xbf16>
  %0 = array.matmul %x, %wa : (tensor<128x128xbf16>, tensor<128x128xbf16>) -> tensor<128x128xbf16>
  %1 = array.matmul %x, %wb : (tensor<128x128xbf16>, tensor<128x128xbf16>) -> tensor<128x128xbf16>
  %2 = array.mul %0, %1 : tensor<128x128xbf16>
  %3 = array.softmax %2 axis = 1 : tensor<128x128xbf16>
  %4 = array.matmul %3, %wc : (tensor<128x128xbf16>, tensor<128x128xbf16>) -> tensor<128x128xbf16>
  %5 = array.matmul %3, %wd : (tensor<128x128xbf16>, tensor<128x128xbf16>) -> tensor<128x128xbf16>
  %6 = array.mul %4, %5 : tensor<128x128xbf16>
  %7 = array.softmax %6 axis = 1 : tensor<128x128xbf16>
  return %7 : tensor<128x128xbf16>
}
func.func @heads(%x: tensor<128x128xbf16>) -> (tensor<128x128xbf16>, tensor<128x128xbf16>) {
  %wa = array.parameter "w"::"a" : tensor<128x128xbf16>
  %wb = array.parameter "w"::"b" : tensor<128x128xbf16>
  %0 = array.matmul %x, %wa : (tensor<128x128xbf16>, tensor<128x128xbf16>) -> tensor<128x128xbf16>
  %1 = array.matmul %x, %wb : (tensor<128x128xbf16>, tensor<128x128xbf16>) -> tensor<128x128xbf16>
  %2 = array.softmax %0 axis = 1 : tensor<128x128xbf16>
  %3 = array.softmax %1 axis = 1 : tensor<128x128xbf16>
  return %2, %3 : tensor<128x128xbf16>, tensor<128x128xbf16>
}
