// Rows that are long, wide or few, for arch_gate.py: what a thread holds of them has to fit its registers.

func.func @long(%a: tensor<128x65536xf16>, %b: tensor<65536xf16>, %c: tensor<512x65536xf32>)
    -> (tensor<128x65536xf16>, tensor<128x65536xf16>, tensor<128x65536xf16>, tensor<512x65536xf32>) {
  %p = array.layer_norm %a scale(%b : tensor<65536xf16>) bias(%b : tensor<65536xf16>) axis = 1 epsilon = 1.0e-5 : tensor<128x65536xf16>
  %q = array.rms_norm %a scale(%b : tensor<65536xf16>) axis = 1 epsilon = 1.0e-5 : tensor<128x65536xf16>
  %r = array.softmax %a axis = 1 : tensor<128x65536xf16>
  %s = array.softmax %c axis = 1 : tensor<512x65536xf32>
  return %p, %q, %r, %s : tensor<128x65536xf16>, tensor<128x65536xf16>, tensor<128x65536xf16>, tensor<512x65536xf32>
}

func.func @few(%a: tensor<8x100000xf16>, %b: tensor<8x100000xf32>, %c: tensor<8x100000xf64>, %d: tensor<100000xf16>, %e: tensor<100000xf32>)
    -> (tensor<8x100000xf16>, tensor<8x100000xf32>, tensor<8x100000xf64>, tensor<8x100000xf16>, tensor<8x100000xf32>) {
  %p = array.softmax %a axis = 1 : tensor<8x100000xf16>
  %q = array.softmax %b axis = 1 : tensor<8x100000xf32>
  %r = array.softmax %c axis = 1 : tensor<8x100000xf64>
  %s = array.rms_norm %a scale(%d : tensor<100000xf16>) axis = 1 epsilon = 1.0e-5 : tensor<8x100000xf16>
  %t = array.rms_norm %b scale(%e : tensor<100000xf32>) axis = 1 epsilon = 1.0e-5 : tensor<8x100000xf32>
  return %p, %q, %r, %s, %t : tensor<8x100000xf16>, tensor<8x100000xf32>, tensor<8x100000xf64>, tensor<8x100000xf16>, tensor<8x100000xf32>
}

func.func @many(%a: tensor<512x100000xf32>, %b: tensor<512x100000xf64>, %c: tensor<512x100000xbf16>)
    -> (tensor<512x100000xf32>, tensor<512x100000xf64>, tensor<512x100000xbf16>) {
  %p = array.softmax %a axis = 1 : tensor<512x100000xf32>
  %q = array.softmax %b axis = 1 : tensor<512x100000xf64>
  %r = array.softmax %c axis = 1 : tensor<512x100000xbf16>
  return %p, %q, %r : tensor<512x100000xf32>, tensor<512x100000xf64>, tensor<512x100000xbf16>
}

func.func @wide(%a: tensor<4096x1024xf64>, %b: tensor<1024x16384xf64>, %c: tensor<512x12288xf64>, %d: tensor<12288xf64>)
    -> (tensor<4096x1024xf64>, tensor<1024x16384xf64>, tensor<512x12288xf64>) {
  %p = array.softmax %a axis = 1 : tensor<4096x1024xf64>
  %q = array.softmax %b axis = 1 : tensor<1024x16384xf64>
  %r = array.layer_norm %c scale(%d : tensor<12288xf64>) bias(%d : tensor<12288xf64>) axis = 1 epsilon = 1.0e-5 : tensor<512x12288xf64>
  return %p, %q, %r : tensor<4096x1024xf64>, tensor<1024x16384xf64>, tensor<512x12288xf64>
}

func.func @in_largest_blocks(%a: tensor<500x16384xf32>, %b: tensor<500x16384xf32>, %c: tensor<256x32768xf32>, %d: tensor<32768xf32>)
    -> (tensor<500x16384xf32>, tensor<256x32768xf32>, tensor<256xf32>) {
  %p = array.mul %a, %b : tensor<500x16384xf32>
  %q = array.softmax %p axis = 1 : tensor<500x16384xf32>
  %r = array.layer_norm %c scale(%d : tensor<32768xf32>) bias(%d : tensor<32768xf32>) axis = 1 epsilon = 1.0e-5 : tensor<256x32768xf32>
  %s = array.reduce sum, %c axes = [1] : tensor<256x32768xf32> -> tensor<256xf32>
  return %q, %r, %s : tensor<500x16384xf32>, tensor<256x32768xf32>, tensor<256xf32>
}

// What follows the second step of a reduction goes over another space.
func.func @columns(%a: tensor<8192x256xf32>, %b: tensor<1000000xf32>, %c: tensor<32x56x56x64xf32>, %d: tensor<64xf32>, %e: tensor<?x64xf32>,
                   %f: tensor<512x256xf32>, %g: tensor<512x100xf32>)
    -> (tensor<8192x256xf32>, tensor<1000000xf32>, tensor<32x56x56x64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<?x64xf32>, tensor<64xf32>,
        tensor<64xf32>, tensor<512x100xf32>) {
  %p = array.softmax %a axis = 0 : tensor<8192x256xf32>
  %s = array.reduce sum, %b axes = [0] keepdims : tensor<1000000xf32> -> tensor<1xf32>
  %q = array.div %b, %s : (tensor<1000000xf32>, tensor<1xf32>) -> tensor<1000000xf32>
  %y, %mean, %variance = array.batch_norm_training %c, %d, %d axis = 3 epsilon = 1.0e-5
      : (tensor<32x56x56x64xf32>, tensor<64xf32>, tensor<64xf32>) -> (tensor<32x56x56x64xf32>, tensor<64xf32>, tensor<64xf32>)
  %z, %mean1, %variance1 = array.batch_norm_training %e, %d, %d axis = 1 epsilon = 1.0e-5
      : (tensor<?x64xf32>, tensor<64xf32>, tensor<64xf32>) -> (tensor<?x64xf32>, tensor<64xf32>, tensor<64xf32>)
  %t = array.reduce sum, %f axes = [1] keepdims : tensor<512x256xf32> -> tensor<512x1xf32>
  %r = array.add %g, %t : (tensor<512x100xf32>, tensor<512x1xf32>) -> tensor<512x100xf32>
  return %p, %q, %y, %mean, %variance, %z, %mean1, %variance1, %r
      : tensor<8192x256xf32>, tensor<1000000xf32>, tensor<32x56x56x64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<?x64xf32>, tensor<64xf32>,
        tensor<64xf32>, tensor<512x100xf32>
}

func.func @sorted_line(%x: tensor<?xf32>) -> tensor<?xf32> {
  %r = array.sort %x axis = 0 descending : tensor<?xf32> -> tensor<?xf32>
  return %r : tensor<?xf32>
}
