// Products of f64: large ones, few tiles, rows that are not aligned, and a long sum.
func.func @large(%a: tensor<4096x4096xf64>, %b: tensor<4096x4096xf64>) -> tensor<4096x4096xf64> {
  %p = array.matmul %a, %b : (tensor<4096x4096xf64>, tensor<4096x4096xf64>) -> tensor<4096x4096xf64>
  return %p : tensor<4096x4096xf64>
}
func.func @few(%a: tensor<1024x1024xf64>, %b: tensor<1024x1024xf64>) -> tensor<1024x1024xf64> {
  %p = array.matmul %a, %b transpose_b : (tensor<1024x1024xf64>, tensor<1024x1024xf64>) -> tensor<1024x1024xf64>
  return %p : tensor<1024x1024xf64>
}
func.func @odd(%a: tensor<1001x1003xf64>, %b: tensor<1003x999xf64>) -> tensor<1001x999xf64> {
  %p = array.matmul %a, %b : (tensor<1001x1003xf64>, tensor<1003x999xf64>) -> tensor<1001x999xf64>
  return %p : tensor<1001x999xf64>
}
func.func @long(%a: tensor<128x16384xf64>, %b: tensor<16384x128xf64>) -> tensor<128x128xf64> {
  %p = array.matmul %a, %b : (tensor<128x16384xf64>, tensor<16384x128xf64>) -> tensor<128x128xf64>
  return %p : tensor<128x128xf64>
}
