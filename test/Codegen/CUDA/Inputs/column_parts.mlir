func.func @main(%a: tensor<5505x64xbf16>, %b: tensor<64x136xbf16>, %c: tensor<72x64xbf16>, %d: tensor<64x176xbf16>, %e: tensor<64x48xbf16>)
    -> (tensor<5505x136xbf16>, tensor<136xf32>, tensor<5505x72xbf16>, tensor<72xf32>, tensor<5505x176xbf16>, tensor<176xf32>, tensor<5505x48xbf16>, tensor<48xf32>) {
  %0 = array.matmul %a, %b : (tensor<5505x64xbf16>, tensor<64x136xbf16>) -> tensor<5505x136xbf16>
  %w0 = array.convert %0 : tensor<5505x136xbf16> -> tensor<5505x136xf32>
  %v0 = array.var %w0 axes = [0] : tensor<5505x136xf32> -> tensor<136xf32>
  %1 = array.matmul %a, %c transpose_b : (tensor<5505x64xbf16>, tensor<72x64xbf16>) -> tensor<5505x72xbf16>
  %w1 = array.convert %1 : tensor<5505x72xbf16> -> tensor<5505x72xf32>
  %v1 = array.var %w1 axes = [0] : tensor<5505x72xf32> -> tensor<72xf32>
  %2 = array.matmul %a, %d : (tensor<5505x64xbf16>, tensor<64x176xbf16>) -> tensor<5505x176xbf16>
  %w2 = array.convert %2 : tensor<5505x176xbf16> -> tensor<5505x176xf32>
  %v2 = array.var %w2 axes = [0] : tensor<5505x176xf32> -> tensor<176xf32>
  %3 = array.matmul %a, %e : (tensor<5505x64xbf16>, tensor<64x48xbf16>) -> tensor<5505x48xbf16>
  %w3 = array.convert %3 : tensor<5505x48xbf16> -> tensor<5505x48xf32>
  %v3 = array.var %w3 axes = [0] : tensor<5505x48xf32> -> tensor<48xf32>
  return %0, %v0, %1, %v1, %2, %v2, %3, %v3 : tensor<5505x136xbf16>, tensor<136xf32>, tensor<5505x72xbf16>, tensor<72xf32>, tensor<5505x176xbf16>, tensor<176xf32>, tensor<5505x48xbf16>, tensor<48xf32>
}
