func.func @main(%x: tensor<1024xf32>) -> tensor<1024xf32> {
  %0 = array.sin %x : tensor<1024xf32>
  %1 = array.exp %0 : tensor<1024xf32>
  %2 = array.log_softmax %1 axis = 0 : tensor<1024xf32>
  return %2 : tensor<1024xf32>
}
