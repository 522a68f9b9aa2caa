// Products of i8 and of f32 with one operand each whose rows are no multiple of 16 bytes.
func.func @main(%a: tensor<4096x4096xi8>, %b: tensor<4096x4100xi8>, %c: tensor<4096x4096xf32>, %d: tensor<4096x4097xf32>) -> (tensor<4096x4100xi32>, tensor<4096x4097xf32>) {
  %p = array.matmul %a, %b : (tensor<4096x4096xi8>, tensor<4096x4100xi8>) -> tensor<4096x4100xi32>
  %q = array.matmul %c, %d : (tensor<4096x4096xf32>, tensor<4096x4097xf32>) -> tensor<4096x4097xf32>
  return %p, %q : tensor<4096x4100xi32>, tensor<4096x4097xf32>
}
