// Few queries of vectors of 256 elements: 16 to a head of keys, of a loop of steps, of pages and of lengths on the device; one to each.
func.func @main(%q0: tensor<64x32x1x256xbf16>, %k0: tensor<64x2x1024x256xbf16>, %q1: tensor<1x16x1x256xf16>, %k1: tensor<1x1x1024x256xf16>, %o: tensor<i64>,
                %q2: tensor<1x16x1x256xbf16>, %p: tensor<100x1x16x256xbf16>, %t: tensor<1x64xi32>, %n: tensor<1xi32>,
                %q3: tensor<1x32x1x256xbf16>, %k3: tensor<1x32x1024x256xbf16>)
    -> (tensor<64x32x1x256xbf16>, tensor<1x16x1x256xf16>, tensor<1x16x1x256xbf16>, tensor<1x32x1x256xbf16>) {
  %r0 = array.attention %q0, %k0, %k0 scale = 0.125 : (tensor<64x32x1x256xbf16>, tensor<64x2x1024x256xbf16>, tensor<64x2x1024x256xbf16>) -> tensor<64x32x1x256xbf16>
  %r1 = array.attention %q1, %k1, %k1 causal window = 512 offset(%o : tensor<i64>) scale = 0.125
      : (tensor<1x16x1x256xf16>, tensor<1x1x1024x256xf16>, tensor<1x1x1024x256xf16>) -> tensor<1x16x1x256xf16>
  %r2 = array.paged_attention %q2, %p, %p table(%t : tensor<1x64xi32>) lengths(%n : tensor<1xi32>) scale = 0.125
      : (tensor<1x16x1x256xbf16>, tensor<100x1x16x256xbf16>, tensor<100x1x16x256xbf16>) -> tensor<1x16x1x256xbf16>
  %r3 = array.attention %q3, %k3, %k3 scale = 0.125 : (tensor<1x32x1x256xbf16>, tensor<1x32x1024x256xbf16>, tensor<1x32x1024x256xbf16>) -> tensor<1x32x1x256xbf16>
  return %r0, %r1, %r2, %r3 : tensor<64x32x1x256xbf16>, tensor<1x16x1x256xf16>, tensor<1x16x1x256xbf16>, tensor<1x32x1x256xbf16>
}
