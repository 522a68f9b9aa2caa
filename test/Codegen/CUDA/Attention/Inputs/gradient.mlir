func.func @main(%q: tensor<2x4x150x32xf16>, %k: tensor<2x2x130x32xf16>, %v: tensor<2x2x130x32xf16>, %g: tensor<2x4x150x32xf16>,
                %mask: tensor<150x130xf16>)
    -> (tensor<2x4x150x32xf16> {array.name = "dq"}, tensor<2x2x130x32xf16> {array.name = "dk"}, tensor<2x2x130x32xf16> {array.name = "dv"},
        tensor<150x130xf16> {array.name = "dm"}) {
  %0:4 = array.attention_gradient %q, %k, %v, %g mask(%mask : tensor<150x130xf16>) to_mask scale = 0.2
      : (tensor<2x4x150x32xf16>, tensor<2x2x130x32xf16>, tensor<2x2x130x32xf16>, tensor<2x4x150x32xf16>)
      -> tensor<2x4x150x32xf16>, tensor<2x2x130x32xf16>, tensor<2x2x130x32xf16>, tensor<150x130xf16>
  return %0#0, %0#1, %0#2, %0#3 : tensor<2x4x150x32xf16>, tensor<2x2x130x32xf16>, tensor<2x2x130x32xf16>, tensor<150x130xf16>
}
