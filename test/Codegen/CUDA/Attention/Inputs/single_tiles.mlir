// The tiles that attention of f32 is computed in, long enough for all loops.
func.func @narrow(%q: tensor<2x8x1000x64xf32>, %k: tensor<2x8x1000x64xf32>) -> tensor<2x8x1000x64xf32> {
  %r = array.attention %q, %k, %k scale = 0.125 : (tensor<2x8x1000x64xf32>, tensor<2x8x1000x64xf32>, tensor<2x8x1000x64xf32>) -> tensor<2x8x1000x64xf32>
  return %r : tensor<2x8x1000x64xf32>
}
func.func @narrow_causal(%q: tensor<2x8x1000x64xf32>, %k: tensor<2x8x1000x64xf32>) -> tensor<2x8x1000x64xf32> {
  %r = array.attention %q, %k, %k causal scale = 0.125 : (tensor<2x8x1000x64xf32>, tensor<2x8x1000x64xf32>, tensor<2x8x1000x64xf32>) -> tensor<2x8x1000x64xf32>
  return %r : tensor<2x8x1000x64xf32>
}
func.func @middle(%q: tensor<2x8x1000x96xf32>, %k: tensor<2x8x1000x96xf32>) -> tensor<2x8x1000x96xf32> {
  %r = array.attention %q, %k, %k scale = 0.125 : (tensor<2x8x1000x96xf32>, tensor<2x8x1000x96xf32>, tensor<2x8x1000x96xf32>) -> tensor<2x8x1000x96xf32>
  return %r : tensor<2x8x1000x96xf32>
}
func.func @wide(%q: tensor<2x8x1000x128xf32>, %k: tensor<2x8x1000x128xf32>) -> tensor<2x8x1000x128xf32> {
  %r = array.attention %q, %k, %k scale = 0.125 : (tensor<2x8x1000x128xf32>, tensor<2x8x1000x128xf32>, tensor<2x8x1000x128xf32>) -> tensor<2x8x1000x128xf32>
  return %r : tensor<2x8x1000x128xf32>
}
func.func @masked(%q: tensor<2x8x1000x128xf32>, %k: tensor<2x8x1000x128xf32>, %m: tensor<1000x1000xf32>) -> tensor<2x8x1000x128xf32> {
  %r = array.attention %q, %k, %k mask(%m : tensor<1000x1000xf32>) causal scale = 0.125 : (tensor<2x8x1000x128xf32>, tensor<2x8x1000x128xf32>, tensor<2x8x1000x128xf32>) -> tensor<2x8x1000x128xf32>
  return %r : tensor<2x8x1000x128xf32>
}
