func.func @odd(%a: tensor<65x77xi8>, %b: tensor<77x91xi8>) -> tensor<65x91xi32> {
  %p = array.matmul %a, %b : (tensor<65x77xi8>, tensor<77x91xi8>) -> tensor<65x91xi32>
  return %p : tensor<65x91xi32>
}
func.func @one_step(%a: tensor<64x128xi8>, %b: tensor<96x128xi8>) -> tensor<64x96xi32> {
  %p = array.matmul %a, %b transpose_b : (tensor<64x128xi8>, tensor<96x128xi8>) -> tensor<64x96xi32>
  return %p : tensor<64x96xi32>
}
func.func @unsigned(%a: tensor<64x128xui8>, %b: tensor<128x96xui8>) -> tensor<64x96xui32> {
  %p = array.matmul %a, %b : (tensor<64x128xui8>, tensor<128x96xui8>) -> tensor<64x96xui32>
  return %p : tensor<64x96xui32>
}
