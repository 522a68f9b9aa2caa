func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> attributes {array.doc = "Twice as much."} {
  %r = array.add %x, %x : tensor<4xf32>
  return %r : tensor<4xf32>
}
