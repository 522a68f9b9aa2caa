// Two layers of 65536 tokens that share a mask: slopes of heads times distances where documents agree, minus infinity elsewhere.
func.func @main(%q: tensor<1x4x65536x64xbf16>, %k: tensor<1x2x65536x64xbf16>, %v: tensor<1x2x65536x64xbf16>, %slopes: tensor<4xf32>,
                %documents: tensor<1x65536xi32>) -> tensor<1x4x65536x64xbf16> {
  %i = array.iota axis = 0 : tensor<65536x1xf32>
  %j = array.iota axis = 0 : tensor<65536xf32>
  %distance = array.sub %j, %i : (tensor<65536xf32>, tensor<65536x1xf32>) -> tensor<65536x65536xf32>
  %slope = array.reshape %slopes : tensor<4xf32> -> tensor<4x1x1xf32>
  %bias = array.mul %slope, %distance : (tensor<4x1x1xf32>, tensor<65536x65536xf32>) -> tensor<4x65536x65536xf32>
  %own = array.expand_dims %documents axes = [1, 3] : tensor<1x65536xi32> -> tensor<1x1x65536x1xi32>
  %other = array.expand_dims %documents axes = [1, 2] : tensor<1x65536xi32> -> tensor<1x1x1x65536xi32>
  %same = array.compare eq, %own, %other : (tensor<1x1x65536x1xi32>, tensor<1x1x1x65536xi32>) -> tensor<1x1x65536x65536xi1>
  %hidden = array.constant dense<0xFF800000> : tensor<f32>
  %mask = array.select %same, %bias, %hidden : (tensor<1x1x65536x65536xi1>, tensor<4x65536x65536xf32>, tensor<f32>) -> tensor<1x4x65536x65536xf32>
  %a = array.attention %q, %k, %v mask(%mask : tensor<1x4x65536x65536xf32>) scale = 0.125
     : (tensor<1x4x65536x64xbf16>, tensor<1x2x65536x64xbf16>, tensor<1x2x65536x64xbf16>) -> tensor<1x4x65536x64xbf16>
  %b = array.attention %a, %k, %v mask(%mask : tensor<1x4x65536x65536xf32>) scale = 0.125
     : (tensor<1x4x65536x64xbf16>, tensor<1x2x65536x64xbf16>, tensor<1x2x65536x64xbf16>) -> tensor<1x4x65536x64xbf16>
  return %b : tensor<1x4x65536x64xbf16>
}
