// Attention of f32 to vectors of more than 128 elements: those of whose rows a block's threads copy equal shares, and others; a mask.
func.func @w160(%q: tensor<1x2x512x160xf32>, %k: tensor<1x2x512x160xf32>) -> tensor<1x2x512x160xf32> {
  %r = array.attention %q, %k, %k scale = 0.125 : (tensor<1x2x512x160xf32>, tensor<1x2x512x160xf32>, tensor<1x2x512x160xf32>) -> tensor<1x2x512x160xf32>
  return %r : tensor<1x2x512x160xf32>
}
func.func @w192(%q: tensor<1x2x512x192xf32>, %k: tensor<1x2x512x192xf32>) -> tensor<1x2x512x192xf32> {
  %r = array.attention %q, %k, %k scale = 0.125 : (tensor<1x2x512x192xf32>, tensor<1x2x512x192xf32>, tensor<1x2x512x192xf32>) -> tensor<1x2x512x192xf32>
  return %r : tensor<1x2x512x192xf32>
}
func.func @w256(%q: tensor<1x2x512x256xf32>, %k: tensor<1x2x512x256xf32>) -> tensor<1x2x512x256xf32> {
  %r = array.attention %q, %k, %k scale = 0.125 : (tensor<1x2x512x256xf32>, tensor<1x2x512x256xf32>, tensor<1x2x512x256xf32>) -> tensor<1x2x512x256xf32>
  return %r : tensor<1x2x512x256xf32>
}
func.func @w256_causal(%q: tensor<1x2x512x256xf32>, %k: tensor<1x2x512x256xf32>) -> tensor<1x2x512x256xf32> {
  %r = array.attention %q, %k, %k causal scale = 0.125 : (tensor<1x2x512x256xf32>, tensor<1x2x512x256xf32>, tensor<1x2x512x256xf32>) -> tensor<1x2x512x256xf32>
  return %r : tensor<1x2x512x256xf32>
}
func.func @masked(%q: tensor<1x2x500x256xf32>, %k: tensor<1x2x500x256xf32>, %m: tensor<500x500xf32>) -> tensor<1x2x500x256xf32> {
  %r = array.attention %q, %k, %k mask(%m : tensor<500x500xf32>) scale = 0.125 : (tensor<1x2x500x256xf32>, tensor<1x2x500x256xf32>, tensor<1x2x500x256xf32>) -> tensor<1x2x500x256xf32>
  return %r : tensor<1x2x500x256xf32>
}
