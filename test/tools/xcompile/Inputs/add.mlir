func.func @main(%x: tensor<?x8xf32> {array.name = "x", array.dims = ["n", ""]}, %y: tensor<8xf32> {array.name = "y"}) -> (tensor<?x8xf32> {array.name = "sum"}) {
  %0 = array.add %x, %y : (tensor<?x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}
