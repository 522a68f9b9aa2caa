// One of each kind of kernel, for arch_gate.py: in types and sizes that lead to different strategies.

func.func @products(%a: tensor<512x256xbf16>, %b: tensor<256x512xbf16>, %c: tensor<2x64x96xf16>, %d: tensor<2x64x96xf16>,
                    %e: tensor<512x256xf32>, %f: tensor<256x512xf32>, %g: tensor<60x70xf64>, %h: tensor<70x50xf64>)
    -> (tensor<512x512xbf16>, tensor<2x64x64xf16>, tensor<512x512xf32>, tensor<512x512xf32>, tensor<60x50xf64>) {
  %p = array.matmul %a, %b : (tensor<512x256xbf16>, tensor<256x512xbf16>) -> tensor<512x512xbf16>
  %q = array.gelu %p : tensor<512x512xbf16>
  %r = array.matmul %c, %d transpose_b : (tensor<2x64x96xf16>, tensor<2x64x96xf16>) -> tensor<2x64x64xf16>
  %s = array.matmul %e, %f : (tensor<512x256xf32>, tensor<256x512xf32>) -> tensor<512x512xf32>
  %t = array.matmul %e, %f allow_tf32 : (tensor<512x256xf32>, tensor<256x512xf32>) -> tensor<512x512xf32>
  %u = array.matmul %g, %h : (tensor<60x70xf64>, tensor<70x50xf64>) -> tensor<60x50xf64>
  return %q, %r, %s, %t, %u : tensor<512x512xbf16>, tensor<2x64x64xf16>, tensor<512x512xf32>, tensor<512x512xf32>, tensor<60x50xf64>
}

func.func @symbolic_product(%a: tensor<?x?xbf16>, %b: tensor<?x?xbf16>) -> tensor<?x?xbf16> {
  %p = array.matmul %a, %b : (tensor<?x?xbf16>, tensor<?x?xbf16>) -> tensor<?x?xbf16>
  return %p : tensor<?x?xbf16>
}

func.func @symbolic_f32_products(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %c: tensor<999x?xf32>, %d: tensor<1001x?xf32>)
    -> (tensor<?x?xf32>, tensor<999x1001xf32>) {
  %p = array.matmul %a, %b : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  %q = array.matmul %c, %d transpose_b : (tensor<999x?xf32>, tensor<1001x?xf32>) -> tensor<999x1001xf32>
  return %p, %q : tensor<?x?xf32>, tensor<999x1001xf32>
}

func.func @reductions(%a: tensor<1000003xf32>, %b: tensor<?xf32>, %c: tensor<4096x768xbf16>, %d: tensor<?x96xf32>,
                      %e: tensor<65536xf32>, %f: tensor<128x1000xf32>, %g: tensor<?x?xf32>)
    -> (tensor<f32>, tensor<f32>, tensor<768xbf16>, tensor<96xf32>, tensor<i32>, tensor<128xi32>, tensor<?xf32>) {
  %p = array.reduce sum, %a axes = [0] : tensor<1000003xf32> -> tensor<f32>
  %q = array.reduce max, %b axes = [0] : tensor<?xf32> -> tensor<f32>
  %r = array.reduce sum, %c axes = [0] : tensor<4096x768xbf16> -> tensor<768xbf16>
  %s = array.reduce sum, %d axes = [0] : tensor<?x96xf32> -> tensor<96xf32>
  %t = array.argmax %e axis = 0 : tensor<65536xf32> -> tensor<i32>
  %u = array.argmax %f axis = 1 : tensor<128x1000xf32> -> tensor<128xi32>
  %v = array.reduce sum, %g axes = [1] : tensor<?x?xf32> -> tensor<?xf32>
  return %p, %q, %r, %s, %t, %u, %v : tensor<f32>, tensor<f32>, tensor<768xbf16>, tensor<96xf32>, tensor<i32>, tensor<128xi32>, tensor<?xf32>
}

func.func @rows(%a: tensor<64x4096xbf16>, %b: tensor<8x40000xf32>, %c: tensor<?x?xf32>, %d: tensor<512x1024xf32>,
                %scale: tensor<1024xf32>, %bias: tensor<1024xf32>)
    -> (tensor<64x4096xbf16>, tensor<8x40000xf32>, tensor<?x?xf32>, tensor<512x1024xf32>) {
  %p = array.softmax %a axis = 1 : tensor<64x4096xbf16>
  %q = array.softmax %b axis = 1 : tensor<8x40000xf32>
  %r = array.softmax %c axis = 1 : tensor<?x?xf32>
  %s = array.layer_norm %d scale(%scale : tensor<1024xf32>) bias(%bias : tensor<1024xf32>) axis = 1 epsilon = 1.0e-5 : tensor<512x1024xf32>
  return %p, %q, %r, %s : tensor<64x4096xbf16>, tensor<8x40000xf32>, tensor<?x?xf32>, tensor<512x1024xf32>
}

func.func @attention(%q: tensor<4x512x64xbf16>, %k: tensor<4x512x64xbf16>, %v: tensor<4x512x64xbf16>,
                     %x: tensor<2x128x128xf16>, %y: tensor<2x?x128xf16>, %z: tensor<2x?x128xf16>)
    -> (tensor<4x512x64xbf16>, tensor<2x128x128xf16>) {
  %r = array.attention %q, %k, %v causal scale = 0.125
     : (tensor<4x512x64xbf16>, tensor<4x512x64xbf16>, tensor<4x512x64xbf16>) -> tensor<4x512x64xbf16>
  %s = array.attention %x, %y, %z scale = 0.0884
     : (tensor<2x128x128xf16>, tensor<2x?x128xf16>, tensor<2x?x128xf16>) -> tensor<2x128x128xf16>
  return %r, %s : tensor<4x512x64xbf16>, tensor<2x128x128xf16>
}

func.func @convolutions(%x: tensor<4x28x28x64xbf16>, %w: tensor<3x3x64x64xbf16>, %y: tensor<2x16x16x8xf32>, %v: tensor<3x3x1x8xf32>)
    -> (tensor<4x28x28x64xbf16>, tensor<2x14x14x8xf32>) {
  %p = array.conv %x, %w dims = <[b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f]> low = [1, 1] high = [1, 1]
     : (tensor<4x28x28x64xbf16>, tensor<3x3x64x64xbf16>) -> tensor<4x28x28x64xbf16>
  %q = array.conv %y, %v dims = <[b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f]> feature_groups = 8
     : (tensor<2x16x16x8xf32>, tensor<3x3x1x8xf32>) -> tensor<2x14x14x8xf32>
  return %p, %q : tensor<4x28x28x64xbf16>, tensor<2x14x14x8xf32>
}

func.func @lines(%a: tensor<100000xf32>, %b: tensor<64x500xf32>, %c: tensor<8x3000xf32>, %i: tensor<9000x1xi32>, %j: tensor<9000xi32>,
                 %u: tensor<9000x32xf32>, %t: tensor<1000x32xf32>)
    -> (tensor<100000xf32>, tensor<64x500xf32>, tensor<8x3000xf32>, tensor<1000x32xf32>, tensor<9000x32xf32>) {
  %p = array.cumsum %a axis = 0 : tensor<100000xf32> -> tensor<100000xf32>
  %q = array.cumsum %b axis = 0 : tensor<64x500xf32> -> tensor<64x500xf32>
  %r = array.sort %c axis = 1 : tensor<8x3000xf32> -> tensor<8x3000xf32>
  %s = array.scatter add, %t[%i] axes = [0] = %u : (tensor<1000x32xf32>, tensor<9000x1xi32>, tensor<9000x32xf32>) -> tensor<1000x32xf32>
  %v = array.take %t[%j] axis = 0 : (tensor<1000x32xf32>, tensor<9000xi32>) -> tensor<9000x32xf32>
  return %p, %q, %r, %s, %v : tensor<100000xf32>, tensor<64x500xf32>, tensor<8x3000xf32>, tensor<1000x32xf32>, tensor<9000x32xf32>
}

func.func @points(%a: tensor<?x?xf32>, %b: tensor<512x512xbf16>) -> (tensor<?x?xf32>, tensor<512x512xbf16>) {
  %p = array.tanh %a : tensor<?x?xf32>
  %q = array.transpose %p permutation = [1, 0] : tensor<?x?xf32> -> tensor<?x?xf32>
  %r = array.transpose %b permutation = [1, 0] : tensor<512x512xbf16> -> tensor<512x512xbf16>
  return %q, %r : tensor<?x?xf32>, tensor<512x512xbf16>
}

func.func @symbolic_lines(%a: tensor<?xf32>, %b: tensor<?x6xf32>, %c: tensor<?x?xbf16>, %d: tensor<?x?xf32>)
    -> (tensor<?xf32>, tensor<?x6xf32>, tensor<10xf32>, tensor<10xi32>, tensor<?x?xbf16>, tensor<?xf32>, tensor<?xf32>) {
  %p = array.cumsum %a axis = 0 : tensor<?xf32> -> tensor<?xf32>
  %q = array.cumsum %b axis = 0 reverse : tensor<?x6xf32> -> tensor<?x6xf32>
  %v, %i = array.topk %a k = 10 axis = 0 : tensor<?xf32> -> tensor<10xf32>, tensor<10xi32>
  %s = array.sort %c axis = 1 : tensor<?x?xbf16> -> tensor<?x?xbf16>
  %t = array.softmax %a axis = 0 : tensor<?xf32>
  %u = array.reduce sum, %d axes = [0] : tensor<?x?xf32> -> tensor<?xf32>
  return %p, %q, %v, %i, %s, %t, %u
    : tensor<?xf32>, tensor<?x6xf32>, tensor<10xf32>, tensor<10xi32>, tensor<?x?xbf16>, tensor<?xf32>, tensor<?xf32>
}

func.func @bodies(%a: tensor<1000003xf32>, %b: tensor<1000003xf32>, %c: tensor<4096x300xf16>, %x: tensor<512x512xf32>)
    -> (tensor<f32>, tensor<f32>, tensor<300xf16>, tensor<512x512xf32>) {
  %p, %q = array.reduce_with %a, %b axes = [0] init = [1.0 : f32, 0.0 : f32]
      : (tensor<1000003xf32>, tensor<1000003xf32>) -> (tensor<f32>, tensor<f32>) {
  ^bb0(%s: tensor<f32>, %t: tensor<f32>, %u: tensor<f32>, %v: tensor<f32>):
    %su = array.mul %s, %u : tensor<f32>
    %tv = array.mul %t, %v : tensor<f32>
    %sv = array.mul %s, %v : tensor<f32>
    %tu = array.mul %t, %u : tensor<f32>
    %re = array.sub %su, %tv : tensor<f32>
    %im = array.add %sv, %tu : tensor<f32>
    array.yield %re, %im : tensor<f32>, tensor<f32>
  }
  %r = array.reduce_with %c axes = [0] init = [0.0 : f16] : (tensor<4096x300xf16>) -> (tensor<300xf16>) {
  ^bb0(%s: tensor<f16>, %t: tensor<f16>):
    %u = array.add %s, %t : tensor<f16>
    array.yield %u : tensor<f16>
  }
  // Squares, so that the input could be taken for a factor where it is added.
  %xx = array.matmul %x, %x : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
  %y = array.add %x, %xx : tensor<512x512xf32>
  return %p, %q, %r, %y : tensor<f32>, tensor<f32>, tensor<300xf16>, tensor<512x512xf32>
}

func.func @wide_rows(%a: tensor<5x12xf64>, %b: tensor<12x7xf64>, %e: tensor<?xf32>, %x: tensor<?xf32>, %i: tensor<9000x1xi32>,
                     %u: tensor<9000xf32>, %t: tensor<100000xf32>) -> (tensor<5x7xf64>, tensor<?xi32>, tensor<100000xf32>) {
  %p = array.matmul %a, %b : (tensor<5x12xf64>, tensor<12x7xf64>) -> tensor<5x7xf64>
  %q = array.searchsorted %e, %x : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xi32>
  %r = array.scatter set, %t[%i] axes = [0] = %u : (tensor<100000xf32>, tensor<9000x1xi32>, tensor<9000xf32>) -> tensor<100000xf32>
  return %p, %q, %r : tensor<5x7xf64>, tensor<?xi32>, tensor<100000xf32>
}
