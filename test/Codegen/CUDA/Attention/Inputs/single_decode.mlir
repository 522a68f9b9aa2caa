// Few queries of f32 to many keys: groups of 1, 8 and 16 heads, vectors of 64 to 256 elements, pages.
func.func @main(%q0: tensor<1x12x1x64xf32>, %k0: tensor<1x12x1024x64xf32>, %q1: tensor<1x32x1x128xf32>, %k1: tensor<1x4x1024x128xf32>,
                %q2: tensor<1x16x1x128xf32>, %k2: tensor<1x1x1024x128xf32>, %q3: tensor<1x16x1x256xf32>, %k3: tensor<1x1x1024x256xf32>,
                %q4: tensor<2x32x1x128xf32>, %p: tensor<200x4x16x128xf32>, %t: tensor<2x64xi32>, %n: tensor<2xi32>)
    -> (tensor<1x12x1x64xf32>, tensor<1x32x1x128xf32>, tensor<1x16x1x128xf32>, tensor<1x16x1x256xf32>, tensor<2x32x1x128xf32>) {
  %r0 = array.attention %q0, %k0, %k0 scale = 0.125 : (tensor<1x12x1x64xf32>, tensor<1x12x1024x64xf32>, tensor<1x12x1024x64xf32>) -> tensor<1x12x1x64xf32>
  %r1 = array.attention %q1, %k1, %k1 scale = 0.125 : (tensor<1x32x1x128xf32>, tensor<1x4x1024x128xf32>, tensor<1x4x1024x128xf32>) -> tensor<1x32x1x128xf32>
  %r2 = array.attention %q2, %k2, %k2 scale = 0.125 : (tensor<1x16x1x128xf32>, tensor<1x1x1024x128xf32>, tensor<1x1x1024x128xf32>) -> tensor<1x16x1x128xf32>
  %r3 = array.attention %q3, %k3, %k3 scale = 0.125 : (tensor<1x16x1x256xf32>, tensor<1x1x1024x256xf32>, tensor<1x1x1024x256xf32>) -> tensor<1x16x1x256xf32>
  %r4 = array.paged_attention %q4, %p, %p table(%t : tensor<2x64xi32>) lengths(%n : tensor<2xi32>) scale = 0.125
      : (tensor<2x32x1x128xf32>, tensor<200x4x16x128xf32>, tensor<200x4x16x128xf32>) -> tensor<2x32x1x128xf32>
  return %r0, %r1, %r2, %r3, %r4 : tensor<1x12x1x64xf32>, tensor<1x32x1x128xf32>, tensor<1x16x1x128xf32>, tensor<1x16x1x256xf32>, tensor<2x32x1x128xf32>
}
