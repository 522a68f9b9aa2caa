func.func @main(%q: tensor<1x4x16384x64xbf16>, %k: tensor<1x4x16384x64xbf16>, %v: tensor<1x4x16384x64xbf16>) -> tensor<1x4x16384x64xbf16> {
  %y = array.attention %q, %k, %v causal scale = 0.125 {array.max_scores = 4194304 : i64}
     : (tensor<1x4x16384x64xbf16>, tensor<1x4x16384x64xbf16>, tensor<1x4x16384x64xbf16>) -> tensor<1x4x16384x64xbf16>
  return %y : tensor<1x4x16384x64xbf16>
}
