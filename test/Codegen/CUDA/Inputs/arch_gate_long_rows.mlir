// Rows that begin anywhere or fill shared memory, for arch_gate.py: the targets differ in how much of them threads have to hold.

func.func @layer_norm_long(%x: tensor<4096x200001xbf16>, %w: tensor<200001xbf16>, %b: tensor<200001xbf16>) -> tensor<4096x200001xbf16> {
  %r = array.layer_norm %x scale(%w : tensor<200001xbf16>) bias(%b : tensor<200001xbf16>) axis = 1 epsilon = 1.0e-5 : tensor<4096x200001xbf16>
  return %r : tensor<4096x200001xbf16>
}

func.func @rms_norm_long(%x: tensor<4096x200001xbf16>, %w: tensor<200001xbf16>) -> tensor<4096x200001xbf16> {
  %r = array.rms_norm %x scale(%w : tensor<200001xbf16>) axis = 1 epsilon = 1.0e-5 : tensor<4096x200001xbf16>
  return %r : tensor<4096x200001xbf16>
}

func.func @softmax_few(%x: tensor<6x100001xbf16>) -> tensor<6x100001xbf16> {
  %r = array.softmax %x axis = 1 : tensor<6x100001xbf16>
  return %r : tensor<6x100001xbf16>
}

func.func @layer_norm_odd(%x: tensor<4096x2049xbf16>, %w: tensor<2049xbf16>, %b: tensor<2049xbf16>) -> tensor<4096x2049xbf16> {
  %r = array.layer_norm %x scale(%w : tensor<2049xbf16>) bias(%b : tensor<2049xbf16>) axis = 1 epsilon = 1.0e-5 : tensor<4096x2049xbf16>
  return %r : tensor<4096x2049xbf16>
}

func.func @softmax_odd(%x: tensor<4096x2049xbf16>) -> tensor<4096x2049xbf16> {
  %r = array.softmax %x axis = 1 : tensor<4096x2049xbf16>
  return %r : tensor<4096x2049xbf16>
}

func.func @layer_norm_full(%x: tensor<4096x100000xbf16>, %w: tensor<100000xbf16>, %b: tensor<100000xbf16>) -> tensor<4096x100000xbf16> {
  %r = array.layer_norm %x scale(%w : tensor<100000xbf16>) bias(%b : tensor<100000xbf16>) axis = 1 epsilon = 1.0e-5 : tensor<4096x100000xbf16>
  return %r : tensor<4096x100000xbf16>
}

func.func @layer_norm_full_f32(%x: tensor<4096x65536xf32>, %w: tensor<65536xf32>, %b: tensor<65536xf32>) -> tensor<4096x65536xf32> {
  %r = array.layer_norm %x scale(%w : tensor<65536xf32>) bias(%b : tensor<65536xf32>) axis = 1 epsilon = 1.0e-5 : tensor<4096x65536xf32>
  return %r : tensor<4096x65536xf32>
}

func.func @rms_norm_gradient(%x: tensor<4096x768xf32>, %w: tensor<768xf32>, %dy: tensor<4096x768xf32>) -> (tensor<4096x768xf32>, tensor<768xf32>) {
  %square = array.mul %x, %x : tensor<4096x768xf32>
  %mean = array.mean %square axes = [1] keepdims : tensor<4096x768xf32> -> tensor<4096x1xf32>
  %epsilon = array.constant dense<1.0e-5> : tensor<f32>
  %me = array.add %mean, %epsilon : (tensor<4096x1xf32>, tensor<f32>) -> tensor<4096x1xf32>
  %rstd = array.rsqrt %me : tensor<4096x1xf32>
  %xhat = array.mul %x, %rstd : (tensor<4096x768xf32>, tensor<4096x1xf32>) -> tensor<4096x768xf32>
  %wdy = array.mul %dy, %w : (tensor<4096x768xf32>, tensor<768xf32>) -> tensor<4096x768xf32>
  %wx = array.mul %wdy, %xhat : tensor<4096x768xf32>
  %m = array.mean %wx axes = [1] keepdims : tensor<4096x768xf32> -> tensor<4096x1xf32>
  %p = array.mul %xhat, %m : (tensor<4096x768xf32>, tensor<4096x1xf32>) -> tensor<4096x768xf32>
  %q = array.sub %wdy, %p : tensor<4096x768xf32>
  %dx = array.mul %q, %rstd : (tensor<4096x768xf32>, tensor<4096x1xf32>) -> tensor<4096x768xf32>
  %t = array.mul %dy, %xhat : tensor<4096x768xf32>
  %dw = array.reduce sum, %t axes = [0] : tensor<4096x768xf32> -> tensor<768xf32>
  return %dx, %dw : tensor<4096x768xf32>, tensor<768xf32>
}
