func.func @row(%a: tensor<1x4096xi8>, %b: tensor<4096x4096xi8>) -> tensor<1x4096xi32> {
  %p = array.matmul %a, %b : (tensor<1x4096xi8>, tensor<4096x4096xi8>) -> tensor<1x4096xi32>
  return %p : tensor<1x4096xi32>
}
func.func @row_of_columns(%a: tensor<1x4096xui8>, %b: tensor<4096x4096xui8>) -> tensor<1x4096xui32> {
  %p = array.matmul %a, %b transpose_b : (tensor<1x4096xui8>, tensor<4096x4096xui8>) -> tensor<1x4096xui32>
  return %p : tensor<1x4096xui32>
}
func.func @rows(%a: tensor<8x4096xi8>, %b: tensor<4096x4096xi8>) -> tensor<8x4096xi32> {
  %p = array.matmul %a, %b : (tensor<8x4096xi8>, tensor<4096x4096xi8>) -> tensor<8x4096xi32>
  return %p : tensor<8x4096xi32>
}
