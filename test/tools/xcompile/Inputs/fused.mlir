func.func @main(%x: tensor<64x32xf32>, %w: tensor<32x16xf32>, %b: tensor<16xf32>, %r: tensor<64x16xf32>) -> (tensor<64x16xf32>, tensor<64xf32>) {
  %0 = array.matmul %x, %w : (tensor<64x32xf32>, tensor<32x16xf32>) -> tensor<64x16xf32>
  %1 = array.add %0, %b : (tensor<64x16xf32>, tensor<16xf32>) -> tensor<64x16xf32>
  %2 = array.relu %1 : tensor<64x16xf32>
  %3 = array.mul %2, %r : tensor<64x16xf32>
  %4 = array.exp %3 : tensor<64x16xf32>
  %5 = array.reduce sum, %4 axes = [1] : tensor<64x16xf32> -> tensor<64xf32>
  %6 = array.log %5 : tensor<64xf32>
  %7 = array.neg %6 : tensor<64xf32>
  return %3, %7 : tensor<64x16xf32>, tensor<64xf32>
}
