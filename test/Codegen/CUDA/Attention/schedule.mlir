// In which order causal attention goes over its tiles, whose work is unequal.
// RUN: xcompile %s --target=cuda:sm_90a --ptxas=off --report -o %t.vmfb | FileCheck %s

// 32 tiles of each of 128 heads on 132 blocks: 16 heads, whose keys and values fit L2, at a time.
// CHECK: raster = 16, ping_pong = 1>
// CHECK: key: sm_90a attention bf16 8x16x4096x4096x128x128 causal
func.func @wide(%q: tensor<8x16x4096x128xbf16>) -> tensor<8x16x4096x128xbf16> {
  %r = array.attention %q, %q, %q causal scale = 0.1
    : (tensor<8x16x4096x128xbf16>, tensor<8x16x4096x128xbf16>, tensor<8x16x4096x128xbf16>) -> tensor<8x16x4096x128xbf16>
  return %r : tensor<8x16x4096x128xbf16>
}

// 33 tiles of each head, of which four fill a wave: a block would have the largest of all waves.
// CHECK: raster = 8, ping_pong = 1, serpentine = 1>
// CHECK: key: sm_90a attention bf16 4x16x4097x4097x128x128 causal
func.func @aliased(%q: tensor<4x16x4097x128xbf16>) -> tensor<4x16x4097x128xbf16> {
  %r = array.attention %q, %q, %q causal scale = 0.1
    : (tensor<4x16x4097x128xbf16>, tensor<4x16x4097x128xbf16>, tensor<4x16x4097x128xbf16>) -> tensor<4x16x4097x128xbf16>
  return %r : tensor<4x16x4097x128xbf16>
}

// Tiles of equal work need no order.
// CHECK: raster = 1, ping_pong = 0>
// CHECK: key: sm_90a attention bf16 4x16x4097x4097x128x128 full
func.func @full(%q: tensor<4x16x4097x128xbf16>) -> tensor<4x16x4097x128xbf16> {
  %r = array.attention %q, %q, %q scale = 0.1
    : (tensor<4x16x4097x128xbf16>, tensor<4x16x4097x128xbf16>, tensor<4x16x4097x128xbf16>) -> tensor<4x16x4097x128xbf16>
  return %r : tensor<4x16x4097x128xbf16>
}
