// Products whose tiles the model of their time chooses; see select-tiles.test.
func.func @narrow(%a: tensor<1024x64x64xbf16>, %b: tensor<1024x64x64xbf16>) -> tensor<1024x64x64xbf16> {
  %p = array.matmul %a, %b : (tensor<1024x64x64xbf16>, tensor<1024x64x64xbf16>) -> tensor<1024x64x64xbf16>
  return %p : tensor<1024x64x64xbf16>
}
func.func @few_rows(%a: tensor<96x4096xbf16>, %b: tensor<11008x4096xbf16>) -> tensor<96x11008xbf16> {
  %p = array.matmul %a, %b transpose_b : (tensor<96x4096xbf16>, tensor<11008x4096xbf16>) -> tensor<96x11008xbf16>
  return %p : tensor<96x11008xbf16>
}
func.func @short_sum(%a: tensor<8192x8xbf16>, %b: tensor<8x8192xbf16>) -> tensor<8192x8192xbf16> {
  %p = array.matmul %a, %b : (tensor<8192x8xbf16>, tensor<8x8192xbf16>) -> tensor<8192x8192xbf16>
  return %p : tensor<8192x8192xbf16>
}
func.func @within_lines(%a: tensor<3000x3000xbf16>, %b: tensor<3000x3000xbf16>) -> tensor<3000x3000xbf16> {
  %p = array.matmul %a, %b : (tensor<3000x3000xbf16>, tensor<3000x3000xbf16>) -> tensor<3000x3000xbf16>
  return %p : tensor<3000x3000xbf16>
}
func.func @beginning_lines(%a: tensor<3072x3072xbf16>, %b: tensor<3072x3072xbf16>) -> tensor<3072x3072xbf16> {
  %p = array.matmul %a, %b : (tensor<3072x3072xbf16>, tensor<3072x3072xbf16>) -> tensor<3072x3072xbf16>
  return %p : tensor<3072x3072xbf16>
}
func.func @long_sum(%a: tensor<100352x64xbf16>, %b: tensor<100352x576xbf16>) -> tensor<64x576xbf16> {
  %p = array.matmul %a, %b transpose_a : (tensor<100352x64xbf16>, tensor<100352x576xbf16>) -> tensor<64x576xbf16>
  return %p : tensor<64x576xbf16>
}
func.func @residual(%a: tensor<16384x768xbf16>, %b: tensor<768x768xbf16>, %bias: tensor<768xbf16>, %x: tensor<16384x768xbf16>) -> tensor<16384x768xbf16> {
  %p = array.matmul %a, %b : (tensor<16384x768xbf16>, tensor<768x768xbf16>) -> tensor<16384x768xbf16>
  %q = array.add %p, %bias : (tensor<16384x768xbf16>, tensor<768xbf16>) -> tensor<16384x768xbf16>
  %r = array.add %q, %x : (tensor<16384x768xbf16>, tensor<16384x768xbf16>) -> tensor<16384x768xbf16>
  return %r : tensor<16384x768xbf16>
}
func.func @features(%x: tensor<32x112x112x64xbf16>, %w: tensor<64x3x3x64xbf16>) -> tensor<32x112x112x64xbf16> {
  %y = array.conv %x, %w dims = <[b, 0, 1, f] x [o, 0, 1, i] -> [b, 0, 1, f]> strides = [1, 1] low = [1, 1] high = [1, 1] : (tensor<32x112x112x64xbf16>, tensor<64x3x3x64xbf16>) -> tensor<32x112x112x64xbf16>
  return %y : tensor<32x112x112x64xbf16>
}
