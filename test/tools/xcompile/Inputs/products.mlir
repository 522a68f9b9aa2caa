func.func @odd(%a: tensor<650x910xbf16>, %b: tensor<910x770xbf16>) -> tensor<650x770xbf16> {
  %p = array.matmul %a, %b : (tensor<650x910xbf16>, tensor<910x770xbf16>) -> tensor<650x770xbf16>
  return %p : tensor<650x770xbf16>
}
func.func @computed(%a: tensor<256x128xbf16>, %b: tensor<128x512xbf16>) -> tensor<256x512xbf16> {
  %r = array.relu %a : tensor<256x128xbf16>
  %p = array.matmul %r, %b : (tensor<256x128xbf16>, tensor<128x512xbf16>) -> tensor<256x512xbf16>
  return %p : tensor<256x512xbf16>
}
func.func @signed(%a: tensor<64x128xi8>, %b: tensor<128x96xi8>) -> tensor<64x96xi32> {
  %p = array.matmul %a, %b : (tensor<64x128xi8>, tensor<128x96xi8>) -> tensor<64x96xi32>
  return %p : tensor<64x96xi32>
}
func.func @unsigned(%a: tensor<64x128xui8>, %b: tensor<128x96xui8>) -> tensor<64x96xui32> {
  %p = array.matmul %a, %b : (tensor<64x128xui8>, tensor<128x96xui8>) -> tensor<64x96xui32>
  return %p : tensor<64x96xui32>
}
