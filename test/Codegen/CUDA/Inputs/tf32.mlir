func.func @main(%a: tensor<200x136xf32>, %b: tensor<136x328xf32>, %c: tensor<328x136xf32>) -> (tensor<200x328xf32>, tensor<200x328xf32>) {
  %nn = array.matmul %a, %b allow_tf32 : (tensor<200x136xf32>, tensor<136x328xf32>) -> tensor<200x328xf32>
  %nt = array.matmul %a, %c transpose_b allow_tf32 : (tensor<200x136xf32>, tensor<328x136xf32>) -> tensor<200x328xf32>
  return %nn, %nt : tensor<200x328xf32>, tensor<200x328xf32>
}
