// The tiles that attention is computed in, long enough for all loops.
func.func @wide(%q: tensor<2x8x1024x128xbf16>, %k: tensor<2x8x1024x128xbf16>, %v: tensor<2x8x1024x128xbf16>) -> tensor<2x8x1024x128xbf16> {
  %r = array.attention %q, %k, %v scale = 0.08838834764831843
     : (tensor<2x8x1024x128xbf16>, tensor<2x8x1024x128xbf16>, tensor<2x8x1024x128xbf16>) -> tensor<2x8x1024x128xbf16>
  return %r : tensor<2x8x1024x128xbf16>
}
func.func @wide_causal(%q: tensor<2x8x1024x128xbf16>, %k: tensor<2x8x1024x128xbf16>, %v: tensor<2x8x1024x128xbf16>) -> tensor<2x8x1024x128xbf16> {
  %r = array.attention %q, %k, %v causal scale = 0.08838834764831843
     : (tensor<2x8x1024x128xbf16>, tensor<2x8x1024x128xbf16>, tensor<2x8x1024x128xbf16>) -> tensor<2x8x1024x128xbf16>
  return %r : tensor<2x8x1024x128xbf16>
}
func.func @narrow(%q: tensor<2x8x1000x64xf16>, %k: tensor<2x8x1000x64xf16>, %v: tensor<2x8x1000x64xf16>) -> tensor<2x8x1000x64xf16> {
  %r = array.attention %q, %k, %v scale = 0.125
     : (tensor<2x8x1000x64xf16>, tensor<2x8x1000x64xf16>, tensor<2x8x1000x64xf16>) -> tensor<2x8x1000x64xf16>
  return %r : tensor<2x8x1000x64xf16>
}
func.func @narrow_causal(%q: tensor<8x16x1152x64xbf16>, %k: tensor<8x16x1152x64xbf16>, %v: tensor<8x16x1152x64xbf16>) -> tensor<8x16x1152x64xbf16> {
  %r = array.attention %q, %k, %v causal scale = 0.125
     : (tensor<8x16x1152x64xbf16>, tensor<8x16x1152x64xbf16>, tensor<8x16x1152x64xbf16>) -> tensor<8x16x1152x64xbf16>
  return %r : tensor<8x16x1152x64xbf16>
}
func.func @widest(%q: tensor<1x8x512x256xbf16>, %k: tensor<1x8x512x256xbf16>, %v: tensor<1x8x512x256xbf16>) -> tensor<1x8x512x256xbf16> {
  %r = array.attention %q, %k, %v scale = 0.0625
     : (tensor<1x8x512x256xbf16>, tensor<1x8x512x256xbf16>, tensor<1x8x512x256xbf16>) -> tensor<1x8x512x256xbf16>
  return %r : tensor<1x8x512x256xbf16>
}
func.func @widest_causal(%q: tensor<1x8x512x256xbf16>, %k: tensor<1x8x512x256xbf16>, %v: tensor<1x8x512x256xbf16>) -> tensor<1x8x512x256xbf16> {
  %r = array.attention %q, %k, %v causal scale = 0.0625
     : (tensor<1x8x512x256xbf16>, tensor<1x8x512x256xbf16>, tensor<1x8x512x256xbf16>) -> tensor<1x8x512x256xbf16>
  return %r : tensor<1x8x512x256xbf16>
}
func.func @masked(%q: tensor<2x8x512x64xbf16>, %k: tensor<2x8x512x64xbf16>, %v: tensor<2x8x512x64xbf16>, %m: tensor<512x512xf32>) -> tensor<2x8x512x64xbf16> {
  %r = array.attention %q, %k, %v mask(%m : tensor<512x512xf32>) scale = 0.125
     : (tensor<2x8x512x64xbf16>, tensor<2x8x512x64xbf16>, tensor<2x8x512x64xbf16>) -> tensor<2x8x512x64xbf16>
  return %r : tensor<2x8x512x64xbf16>
}
