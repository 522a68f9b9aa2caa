func.func @main(%q: tensor<2x70x40xf32>, %k: tensor<2x90x40xf32>, %v: tensor<2x90x24xf32>) -> tensor<2x70x24xf32> {
  %r = array.attention %q, %k, %v causal scale = 0.5 : (tensor<2x70x40xf32>, tensor<2x90x40xf32>, tensor<2x90x24xf32>) -> tensor<2x70x24xf32>
  return %r : tensor<2x70x24xf32>
}
