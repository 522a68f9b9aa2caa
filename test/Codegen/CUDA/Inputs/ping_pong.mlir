func.func @main(%a: tensor<1536x136xbf16>, %b: tensor<136x192xbf16>, %c: tensor<136x192xbf16>) -> (tensor<1536x192xf32>, tensor<1536x192xbf16>) {
  %sums = array.matmul %a, %b : (tensor<1536x136xbf16>, tensor<136x192xbf16>) -> tensor<1536x192xf32>
  %rounded = array.matmul %a, %c : (tensor<1536x136xbf16>, tensor<136x192xbf16>) -> tensor<1536x192xbf16>
  return %sums, %rounded : tensor<1536x192xf32>, tensor<1536x192xbf16>
}
