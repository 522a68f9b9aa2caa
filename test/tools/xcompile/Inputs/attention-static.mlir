func.func @main(%q: tensor<1x2x256x64xbf16>, %k: tensor<1x2x512x64xbf16>, %v: tensor<1x2x512x64xbf16>) -> tensor<1x2x256x64xbf16> {
  %y = array.attention %q, %k, %v scale = 0.125
     : (tensor<1x2x256x64xbf16>, tensor<1x2x512x64xbf16>, tensor<1x2x512x64xbf16>) -> tensor<1x2x256x64xbf16>
  return %y : tensor<1x2x256x64xbf16>
}
