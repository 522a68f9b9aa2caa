// Chunks of prompts, of 64 places and of any number, attend to what their sequences have in pages.
func.func @main(%q: tensor<4x8x64x64xbf16>, %k: tensor<100x2x16x64xbf16>, %v: tensor<100x2x16x64xbf16>, %t: tensor<4x20xi32>, %n: tensor<4xi32>)
    -> tensor<4x8x64x64xbf16> {
  %y = array.paged_attention %q, %k, %v table(%t : tensor<4x20xi32>) lengths(%n : tensor<4xi32>) scale = 0.125
     : (tensor<4x8x64x64xbf16>, tensor<100x2x16x64xbf16>, tensor<100x2x16x64xbf16>) -> tensor<4x8x64x64xbf16>
  return %y : tensor<4x8x64x64xbf16>
}
func.func @open(%q: tensor<?x8x?x64xbf16>, %k: tensor<?x2x16x64xbf16>, %v: tensor<?x2x16x64xbf16>, %t: tensor<?x?xi32>, %n: tensor<?xi32>)
    -> tensor<?x8x?x64xbf16> {
  %y = array.paged_attention %q, %k, %v table(%t : tensor<?x?xi32>) lengths(%n : tensor<?xi32>) scale = 0.125
     : (tensor<?x8x?x64xbf16>, tensor<?x2x16x64xbf16>, tensor<?x2x16x64xbf16>) -> tensor<?x8x?x64xbf16>
  return %y : tensor<?x8x?x64xbf16>
}
