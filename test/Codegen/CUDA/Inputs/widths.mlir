func.func @main(%a: tensor<200x136xbf16>, %b: tensor<136x264xbf16>, %c: tensor<264x136xbf16>, %d: tensor<3x72x264xf16>, %e: tensor<3x264x200xf16>, %f: tensor<200x136xf32>, %g: tensor<264x136xf32>, %h: tensor<136x248xbf16>)
    -> (tensor<200x264xf32>, tensor<200x264xbf16>, tensor<3x72x200xf16>, tensor<200x248xbf16>, tensor<200x264xf32>) {
  %0 = array.matmul %a, %b : (tensor<200x136xbf16>, tensor<136x264xbf16>) -> tensor<200x264xf32>
  %1 = array.matmul %a, %c transpose_b : (tensor<200x136xbf16>, tensor<264x136xbf16>) -> tensor<200x264xbf16>
  %2 = array.matmul %d, %e : (tensor<3x72x264xf16>, tensor<3x264x200xf16>) -> tensor<3x72x200xf16>
  %3 = array.matmul %a, %h : (tensor<200x136xbf16>, tensor<136x248xbf16>) -> tensor<200x248xbf16>
  %4 = array.matmul %f, %g transpose_b allow_tf32 : (tensor<200x136xf32>, tensor<264x136xf32>) -> tensor<200x264xf32>
  return %0, %1, %2, %3, %4 : tensor<200x264xf32>, tensor<200x264xbf16>, tensor<3x72x200xf16>, tensor<200x248xbf16>, tensor<200x264xf32>
}
