func.func @main(%q: tensor<8x?x64xf16> {array.dims = ["", "queries", ""]},
                %k: tensor<8x?x64xf16> {array.dims = ["", "keys", ""]},
                %v: tensor<8x?x64xf16> {array.dims = ["", "keys", ""]}) -> tensor<8x?x64xf16> {
  %y = array.attention %q, %k, %v causal scale = 0.125
     : (tensor<8x?x64xf16>, tensor<8x?x64xf16>, tensor<8x?x64xf16>) -> tensor<8x?x64xf16>
  return %y : tensor<8x?x64xf16>
}
