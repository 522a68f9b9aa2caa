func.func @wide(%q: tensor<2x8x1024x128xbf16>, %k: tensor<2x8x1024x128xbf16>, %v: tensor<2x8x1024x128xbf16>) -> tensor<2x8x1024x128xbf16> {
  %r = array.attention %q, %k, %v scale = 0.125 : (tensor<2x8x1024x128xbf16>, tensor<2x8x1024x128xbf16>, tensor<2x8x1024x128xbf16>) -> tensor<2x8x1024x128xbf16>
  return %r : tensor<2x8x1024x128xbf16>
}
func.func @wide_causal(%q: tensor<2x8x1000x128xf16>, %k: tensor<2x2x1000x128xf16>, %v: tensor<2x2x1000x128xf16>) -> tensor<2x8x1000x128xf16> {
  %r = array.attention %q, %k, %v causal scale = 0.125 : (tensor<2x8x1000x128xf16>, tensor<2x2x1000x128xf16>, tensor<2x2x1000x128xf16>) -> tensor<2x8x1000x128xf16>
  return %r : tensor<2x8x1000x128xf16>
}
func.func @narrow(%q: tensor<2x8x1024x64xbf16>, %k: tensor<2x8x1024x64xbf16>, %v: tensor<2x8x1024x64xbf16>) -> tensor<2x8x1024x64xbf16> {
  %r = array.attention %q, %k, %v scale = 0.125 : (tensor<2x8x1024x64xbf16>, tensor<2x8x1024x64xbf16>, tensor<2x8x1024x64xbf16>) -> tensor<2x8x1024x64xbf16>
  return %r : tensor<2x8x1024x64xbf16>
}
func.func @narrow_causal(%q: tensor<2x8x1152x64xf16>, %k: tensor<2x8x1152x64xf16>, %v: tensor<2x8x1152x64xf16>) -> tensor<2x8x1152x64xf16> {
  %r = array.attention %q, %k, %v causal scale = 0.125 : (tensor<2x8x1152x64xf16>, tensor<2x8x1152x64xf16>, tensor<2x8x1152x64xf16>) -> tensor<2x8x1152x64xf16>
  return %r : tensor<2x8x1152x64xf16>
}
func.func @middle_window(%q: tensor<2x8x512x96xbf16>, %k: tensor<2x8x512x96xbf16>, %v: tensor<2x8x512x96xbf16>) -> tensor<2x8x512x96xbf16> {
  %r = array.attention %q, %k, %v causal window = 200 scale = 0.125 : (tensor<2x8x512x96xbf16>, tensor<2x8x512x96xbf16>, tensor<2x8x512x96xbf16>) -> tensor<2x8x512x96xbf16>
  return %r : tensor<2x8x512x96xbf16>
}
func.func @mask_of_keys(%q: tensor<2x8x1024x128xbf16>, %k: tensor<2x4x1024x128xbf16>, %v: tensor<2x4x1024x128xbf16>, %m: tensor<2x1x1x1024xf32>) -> tensor<2x8x1024x128xbf16> {
  %r = array.attention %q, %k, %v mask(%m : tensor<2x1x1x1024xf32>) causal scale = 0.125 : (tensor<2x8x1024x128xbf16>, tensor<2x4x1024x128xbf16>, tensor<2x4x1024x128xbf16>) -> tensor<2x8x1024x128xbf16>
  return %r : tensor<2x8x1024x128xbf16>
}
