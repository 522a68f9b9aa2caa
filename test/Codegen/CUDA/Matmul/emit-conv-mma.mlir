// RUN: xcompile %s --target=cuda:sm_80 --compile-to=codegen -o - | FileCheck %s

// The image goes to shared memory as it is, 16 bytes at a time, padding as copies of no bytes: nothing but these copies
// and the predicated stores of the result touches global memory.
// CHECK:     plan.image = "{{.*}}.visible .entry image_k0_conv
// CHECK-NOT: ld.global
// CHECK-SAME: cp.async.cg.shared.global
// CHECK-SAME: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
func.func @image(%x: tensor<2x16x16x32xf16>, %w: tensor<3x3x32x64xf16>) -> tensor<2x16x16x64xf16> {
  %y = array.conv %x, %w dims = <[b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f]> low = [1, 1] high = [1, 1]
     : (tensor<2x16x16x32xf16>, tensor<3x3x32x64xf16>) -> tensor<2x16x16x64xf16>
  return %y : tensor<2x16x16x64xf16>
}

// The same image and a filter whose channels are in front, as a gradient to an image has it: the sum goes on as the image
// has it, taps first, since the filter's lines are along the results anyway.
// CHECK:     plan.image = "{{.*}}.visible .entry turned_k0_conv
// CHECK-NOT: ld.global
// CHECK-SAME: cp.async.cg.shared.global
// CHECK-SAME: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
func.func @turned(%x: tensor<2x16x16x32xf16>, %w: tensor<32x3x3x64xf16>) -> tensor<2x16x16x64xf16> {
  %y = array.conv %x, %w dims = <[b, 0, 1, f] x [i, 0, 1, o] -> [b, 0, 1, f]> low = [1, 1] high = [1, 1]
     : (tensor<2x16x16x32xf16>, tensor<32x3x3x64xf16>) -> tensor<2x16x16x64xf16>
  return %y : tensor<2x16x16x64xf16>
}
