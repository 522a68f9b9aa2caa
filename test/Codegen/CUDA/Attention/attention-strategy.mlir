// What attention is compared with, and the time that the model expects.
// RUN: xcompile %s --target=cuda:sm_90a --ptxas=off --report -o %t.vmfb | FileCheck %s

// Short vectors leave room for three warpgroups, and two are next.
// CHECK:      #cuda.attention<warpgroups = 3, keys = 128,
// CHECK-NEXT: reason: attention on wgmma: 192 queries of a block, 128 keys at a time, {{[0-9.]+}} us expected; key: sm_90a attention bf16 2x16x4096x4096x64x64 full
// CHECK-NEXT: next: #cuda.attention<warpgroups = 2, keys = 128, {{.*}}>, {{[0-9.]+}} us expected
func.func @short(%q: tensor<2x16x4096x64xbf16>) -> tensor<2x16x4096x64xbf16> {
  %r = array.attention %q, %q, %q scale = 0.1
    : (tensor<2x16x4096x64xbf16>, tensor<2x16x4096x64xbf16>, tensor<2x16x4096x64xbf16>) -> tensor<2x16x4096x64xbf16>
  return %r : tensor<2x16x4096x64xbf16>
}

// Longer ones have one configuration, beside a thread for each element.
// CHECK:      #cuda.attention<warpgroups = 2, keys = 128,
// CHECK-NEXT: reason: attention on wgmma: 128 queries of a block, 128 keys at a time, {{[0-9.]+}} us expected; key: sm_90a attention bf16 8x16x4096x4096x128x128 full
// CHECK-NEXT: next: #cuda.attention_rows<threads = 128>{{$}}
func.func @long(%q: tensor<8x16x4096x128xbf16>) -> tensor<8x16x4096x128xbf16> {
  %r = array.attention %q, %q, %q scale = 0.1
    : (tensor<8x16x4096x128xbf16>, tensor<8x16x4096x128xbf16>, tensor<8x16x4096x128xbf16>) -> tensor<8x16x4096x128xbf16>
  return %r : tensor<8x16x4096x128xbf16>
}

// Of a symbolic number of keys, a variant under guards is fused; no time is expected, and rows take the other sizes.
// CHECK:      #cuda.attention<
// CHECK-NEXT: reason: attention on wgmma: {{.*}} keys at a time; key: sm_90a attention bf16 2x4x64x?x64x64 full
// CHECK:      next: #cuda.attention_rows<threads = 128>{{$}}
// CHECK:      #cuda.attention_rows<threads = 128>
// CHECK-NEXT: reason: one thread for each element of the result
func.func @symbolic(%q: tensor<2x4x64x64xbf16>, %k: tensor<2x4x?x64xbf16>) -> tensor<2x4x64x64xbf16> {
  %r = array.attention %q, %k, %k scale = 0.1
    : (tensor<2x4x64x64xbf16>, tensor<2x4x?x64xbf16>, tensor<2x4x?x64xbf16>) -> tensor<2x4x64x64xbf16>
  return %r : tensor<2x4x64x64xbf16>
}
