func.func @main(%x: tensor<72x136xbf16>, %w: tensor<136x64xbf16>, %bias: tensor<64xbf16>) -> tensor<72x64xbf16> {
  %p = array.matmul %x, %w : (tensor<72x136xbf16>, tensor<136x64xbf16>) -> tensor<72x64xbf16>
  %z = array.add %p, %bias : (tensor<72x64xbf16>, tensor<64xbf16>) -> tensor<72x64xbf16>
  %r = array.relu %z : tensor<72x64xbf16>
  return %r : tensor<72x64xbf16>
}
