func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = call @twice(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = math.exp %0 : tensor<8xf32>
  return %1 : tensor<8xf32>
}
func.func private @twice(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = array.add %x, %x : tensor<8xf32>
  return %0 : tensor<8xf32>
}
