func.func @main(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %m = array.reduce max, %x axes = [1] keepdims : tensor<4x8xf32> -> tensor<4x1xf32>
  %s = array.sub %x, %m : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  %e = array.exp %s : tensor<4x8xf32>
  %t = array.reduce sum, %e axes = [1] keepdims : tensor<4x8xf32> -> tensor<4x1xf32>
  %y = array.div %e, %t : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}
