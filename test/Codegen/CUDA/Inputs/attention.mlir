// Odd numbers of tiles, so that some blocks of clusters have none; more tiles than multiprocessors; vectors of which a thread has no whole share.
func.func @main(%q0: tensor<2x70x200x32xbf16>, %k0: tensor<2x35x300x32xbf16>, %v0: tensor<2x35x300x32xbf16>,
                %q1: tensor<3x500x72xf16>, %k1: tensor<3x330x72xf16>, %v1: tensor<3x330x48xf16>)
    -> (tensor<2x70x200x32xbf16>, tensor<3x500x48xf16>) {
  %r0 = array.attention %q0, %k0, %v0 scale = 0.18
     : (tensor<2x70x200x32xbf16>, tensor<2x35x300x32xbf16>, tensor<2x35x300x32xbf16>) -> tensor<2x70x200x32xbf16>
  %r1 = array.attention %q1, %k1, %v1 causal scale = 0.12
     : (tensor<3x500x72xf16>, tensor<3x330x72xf16>, tensor<3x330x48xf16>) -> tensor<3x500x48xf16>
  return %r0, %r1 : tensor<2x70x200x32xbf16>, tensor<3x500x48xf16>
}
