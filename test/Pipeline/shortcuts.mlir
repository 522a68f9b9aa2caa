// A residual block whose shortcut is a convolution: each kernel applies the scale and bias of its own convolution, and the second one reads
// the result of the first as its only side input.
// RUN: rm -rf %t && mkdir %t
// RUN: xcompile %s -o %t/block.vmfb --target=cuda:sm_90a --ptxas=off --dump-dir=%t/dump
// RUN: FileCheck %s < %t/dump/4-dispatch.mlir

// CHECK:      %[[Y:.*]] = plan.dispatch @block_k0_conv(%{{[^ ]*}}, %{{[^ ]*}}, %{{[^ ]*}}, %{{[^ ]*}} : tensor<8x28x28x128xbf16>, tensor<256x3x3x128xbf16>, tensor<256xbf16>, tensor<256xbf16>) -> (tensor<8x14x14x256xbf16>)
// CHECK:      plan.dispatch @block_k1_conv(%{{[^ ]*}}, %{{[^ ]*}}, %[[Y]], %{{[^ ]*}}, %{{[^ ]*}} : tensor<8x28x28x128xbf16>, tensor<256x128xbf16>, tensor<8x14x14x256xbf16>, tensor<256xbf16>, tensor<256xbf16>) -> (tensor<8x14x14x256xbf16>)
// CHECK-NOT:  plan.dispatch
// CHECK:      return
func.func @block(%x: tensor<8x28x28x128xbf16>, %w: tensor<256x3x3x128xbf16>, %scale: tensor<256xbf16>, %bias: tensor<256xbf16>, %v: tensor<256x1x1x128xbf16>, %scale2: tensor<256xbf16>, %bias2: tensor<256xbf16>) -> tensor<8x14x14x256xbf16> {
  %c = array.conv %x, %w dims = <[b, 0, 1, f] x [o, 0, 1, i] -> [b, 0, 1, f]> strides = [2, 2] low = [1, 1] high = [1, 1] : (tensor<8x28x28x128xbf16>, tensor<256x3x3x128xbf16>) -> tensor<8x14x14x256xbf16>
  %cs = array.mul %c, %scale : (tensor<8x14x14x256xbf16>, tensor<256xbf16>) -> tensor<8x14x14x256xbf16>
  %y = array.add %cs, %bias : (tensor<8x14x14x256xbf16>, tensor<256xbf16>) -> tensor<8x14x14x256xbf16>
  %d = array.conv %x, %v dims = <[b, 0, 1, f] x [o, 0, 1, i] -> [b, 0, 1, f]> strides = [2, 2] low = [0, 0] high = [0, 0] : (tensor<8x28x28x128xbf16>, tensor<256x1x1x128xbf16>) -> tensor<8x14x14x256xbf16>
  %ds = array.mul %d, %scale2 : (tensor<8x14x14x256xbf16>, tensor<256xbf16>) -> tensor<8x14x14x256xbf16>
  %z = array.add %ds, %bias2 : (tensor<8x14x14x256xbf16>, tensor<256xbf16>) -> tensor<8x14x14x256xbf16>
  %s = array.add %y, %z : (tensor<8x14x14x256xbf16>, tensor<8x14x14x256xbf16>) -> tensor<8x14x14x256xbf16>
  %r = array.relu %s : tensor<8x14x14x256xbf16>
  return %r : tensor<8x14x14x256xbf16>
}
