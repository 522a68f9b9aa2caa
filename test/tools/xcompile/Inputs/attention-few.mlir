func.func @cache(%q: tensor<2x8x1x100xf16>, %k: tensor<2x2x?x100xf16>, %v: tensor<2x2x?x100xf16>) -> tensor<2x8x1x100xf16> {
  %r = array.attention %q, %k, %v scale = 0.1 : (tensor<2x8x1x100xf16>, tensor<2x2x?x100xf16>, tensor<2x2x?x100xf16>) -> tensor<2x8x1x100xf16>
  return %r : tensor<2x8x1x100xf16>
}

func.func @pages(%q: tensor<2x8x1x64xf32>, %k: tensor<?x2x16x64xf32>, %v: tensor<?x2x16x64xf32>, %t: tensor<2x?xi32>, %n: tensor<2xi32>) -> tensor<2x8x1x64xf32> {
  %r = array.paged_attention %q, %k, %v table(%t : tensor<2x?xi32>) lengths(%n : tensor<2xi32>) scale = 0.125
     : (tensor<2x8x1x64xf32>, tensor<?x2x16x64xf32>, tensor<?x2x16x64xf32>) -> tensor<2x8x1x64xf32>
  return %r : tensor<2x8x1x64xf32>
}

func.func @chunk(%q: tensor<2x8x64x64xf32>, %k: tensor<?x2x16x64xf32>, %v: tensor<?x2x16x64xf32>, %t: tensor<2x?xi32>, %n: tensor<2xi32>) -> tensor<2x8x64x64xf32> {
  %r = array.paged_attention %q, %k, %v table(%t : tensor<2x?xi32>) lengths(%n : tensor<2xi32>) scale = 0.125
     : (tensor<2x8x64x64xf32>, tensor<?x2x16x64xf32>, tensor<?x2x16x64xf32>) -> tensor<2x8x64x64xf32>
  return %r : tensor<2x8x64x64xf32>
}
