func.func @lines(%a: tensor<1x4096xf32>, %b: tensor<4096x4096xf32>) -> tensor<1x4096xf32> {
  %p = array.matmul %a, %b : (tensor<1x4096xf32>, tensor<4096x4096xf32>) -> tensor<1x4096xf32>
  return %p : tensor<1x4096xf32>
}
func.func @few_lines(%a: tensor<1x4096xf32>, %b: tensor<4096x2048xf32>) -> tensor<1x2048xf32> {
  %p = array.matmul %a, %b : (tensor<1x4096xf32>, tensor<4096x2048xf32>) -> tensor<1x2048xf32>
  return %p : tensor<1x2048xf32>
}
