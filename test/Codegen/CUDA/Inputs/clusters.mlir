func.func @main(%a: tensor<200x136xbf16>, %b: tensor<136x168xbf16>, %c: tensor<168x136xbf16>, %d: tensor<3x72x264xf16>, %e: tensor<3x264x80xf16>)
    -> (tensor<200x168xf32>, tensor<200x168xbf16>, tensor<3x72x80xf16>) {
  %0 = array.matmul %a, %b : (tensor<200x136xbf16>, tensor<136x168xbf16>) -> tensor<200x168xf32>
  %1 = array.matmul %a, %c transpose_b : (tensor<200x136xbf16>, tensor<168x136xbf16>) -> tensor<200x168xbf16>
  %2 = array.matmul %d, %e : (tensor<3x72x264xf16>, tensor<3x264x80xf16>) -> tensor<3x72x80xf16>
  return %0, %1, %2 : tensor<200x168xf32>, tensor<200x168xbf16>, tensor<3x72x80xf16>
}
