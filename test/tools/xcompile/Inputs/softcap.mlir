// Attention of Gemma 2: scores are limited to 50 in front of a mask.
func.func @main(%q: tensor<2x8x256x64xbf16>, %k: tensor<2x8x256x64xbf16>, %v: tensor<2x8x256x64xbf16>) -> tensor<2x8x256x64xbf16> {
  %scale = array.constant dense<0.125> : tensor<f32>
  %cap = array.constant dense<50.0> : tensor<f32>
  %low = array.constant dense<0xFF800000> : tensor<f32>
  %i = array.iota axis = 0 : tensor<256x256xi32>
  %j = array.iota axis = 1 : tensor<256x256xi32>
  %seen = array.compare ge, %i, %j : (tensor<256x256xi32>, tensor<256x256xi32>) -> tensor<256x256xi1>
  %p = array.matmul %q, %k transpose_b : (tensor<2x8x256x64xbf16>, tensor<2x8x256x64xbf16>) -> tensor<2x8x256x256xf32>
  %a = array.mul %p, %scale : (tensor<2x8x256x256xf32>, tensor<f32>) -> tensor<2x8x256x256xf32>
  %b = array.div %a, %cap : (tensor<2x8x256x256xf32>, tensor<f32>) -> tensor<2x8x256x256xf32>
  %t = array.tanh %b : tensor<2x8x256x256xf32>
  %c = array.mul %t, %cap : (tensor<2x8x256x256xf32>, tensor<f32>) -> tensor<2x8x256x256xf32>
  %m = array.select %seen, %c, %low : (tensor<256x256xi1>, tensor<2x8x256x256xf32>, tensor<f32>) -> tensor<2x8x256x256xf32>
  %w = array.softmax %m axis = 3 : tensor<2x8x256x256xf32>
  %n = array.convert %w : tensor<2x8x256x256xf32> -> tensor<2x8x256x256xbf16>
  %y = array.matmul %n, %v : (tensor<2x8x256x256xbf16>, tensor<2x8x256x64xbf16>) -> tensor<2x8x256x64xbf16>
  return %y : tensor<2x8x256x64xbf16>
}
