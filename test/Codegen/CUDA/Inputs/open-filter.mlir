func.func @main(%x: tensor<?x?x?x16xf16>, %w: tensor<24x2x2x16xf16>) -> tensor<?x?x?x24xf16> {
  %y = array.conv %x, %w dims = <[b, 0, 1, f] x [o, 0, 1, i] -> [b, 0, 1, f]> strides = [2, 2] : (tensor<?x?x?x16xf16>, tensor<24x2x2x16xf16>) -> tensor<?x?x?x24xf16>
  return %y : tensor<?x?x?x24xf16>
}
