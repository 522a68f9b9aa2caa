// RUN: xcompile %s -o %t.vmfb --target=cuda:sm_90a,cuda:sm_80 --ptxas=off 2>&1 | FileCheck %s
// RUN: xcompile %s -o %t.vmfb --target=cuda:sm_90a --ptxas=off --dump-dir=%t.dump
// RUN: cat %t.dump/kernels/target_0/*.ptx | FileCheck %s --check-prefix=PTX

// Convolutions store what they compute where it is joined: nothing is copied. On sm_80 the last step of a split sum does. On wgmma
// by TMA boxes, in both of their kernels.
// CHECK: cuda:sm_90a @main: 2 launches, 0 copies, peak scratch memory 0 B
// CHECK: cuda:sm_80 @main: 3 launches, 0 copies, peak
// PTX-COUNT-2: cp.async.bulk.tensor.{{[0-9]}}d.global.shared::cta
func.func @main(%x: tensor<8x32x32x128xf16>, %z: tensor<8x32x32x64xf16>, %w: tensor<3x3x128x64xf16>, %v: tensor<1x1x64x128xf16>)
    -> tensor<8x32x32x192xf16> {
  %a = array.conv %x, %w dims = <[b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f]> low = [1, 1] high = [1, 1]
    : (tensor<8x32x32x128xf16>, tensor<3x3x128x64xf16>) -> tensor<8x32x32x64xf16>
  %b = array.conv %z, %v dims = <[b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f]>
    : (tensor<8x32x32x64xf16>, tensor<1x1x64x128xf16>) -> tensor<8x32x32x128xf16>
  %c = array.concatenate %a, %b axis = 3 : (tensor<8x32x32x64xf16>, tensor<8x32x32x128xf16>) -> tensor<8x32x32x192xf16>
  return %c : tensor<8x32x32x192xf16>
}
