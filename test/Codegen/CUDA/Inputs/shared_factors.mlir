func.func @first(%a: tensor<72x64xbf16>, %b: tensor<4x64x40xbf16>) -> tensor<4x72x40xbf16> {
  %p = array.matmul %a, %b : (tensor<72x64xbf16>, tensor<4x64x40xbf16>) -> tensor<4x72x40xbf16>
  return %p : tensor<4x72x40xbf16>
}
func.func @first_tf32(%a: tensor<2x1x24x64xf32>, %b: tensor<3x64x40xf32>) -> tensor<2x3x24x40xf32> {
  %p = array.matmul %a, %b allow_tf32 : (tensor<2x1x24x64xf32>, tensor<3x64x40xf32>) -> tensor<2x3x24x40xf32>
  return %p : tensor<2x3x24x40xf32>
}
func.func @narrow(%a: tensor<72x64xbf16>, %b: tensor<4x64x16xbf16>) -> tensor<4x72x16xbf16> {
  %p = array.matmul %a, %b : (tensor<72x64xbf16>, tensor<4x64x16xbf16>) -> tensor<4x72x16xbf16>
  return %p : tensor<4x72x16xbf16>
}
func.func @queries(%a: tensor<2x1x64x64xbf16>, %b: tensor<2x8x64x64xbf16>) -> tensor<2x8x64x64xbf16> {
  %p = array.matmul %a, %b : (tensor<2x1x64x64xbf16>, tensor<2x8x64x64xbf16>) -> tensor<2x8x64x64xbf16>
  return %p : tensor<2x8x64x64xbf16>
}
func.func @second(%a: tensor<4x72x64xbf16>, %b: tensor<64x40xbf16>) -> tensor<4x72x40xbf16> {
  %p = array.matmul %a, %b : (tensor<4x72x64xbf16>, tensor<64x40xbf16>) -> tensor<4x72x40xbf16>
  return %p : tensor<4x72x40xbf16>
}
