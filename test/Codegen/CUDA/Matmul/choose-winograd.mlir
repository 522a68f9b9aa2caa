// RUN: xc-opt %s -pass-pipeline='builtin.module(func.func(xc-cuda-choose-winograd{archs=sm_90a}))' | FileCheck %s
// RUN: xcompile %s -o %t.vmfb --target=cuda:sm_90a --ptxas=off --fast-math --report 2>/dev/null | FileCheck %s --check-prefix=REPORT
// RUN: xcompile %s -o %t.vmfb --target=cuda:sm_90a --ptxas=off --report 2>/dev/null | FileCheck %s --check-prefix=EXACT --implicit-check-not=Winograd
// RUN: xcompile %s -o %t.vmfb --target=cuda:sm_90a --ptxas=off --fast-math --allow-tf32 --report 2>/dev/null \
// RUN:     | FileCheck %s --check-prefix=EXACT --implicit-check-not=Winograd

// Many channels are worth the way of images through memory as blocks.
// CHECK-LABEL: func.func @many_channels(
// CHECK:         array.conv {{.*}} algorithm = winograd {plan.note = "by Winograd's algorithm {{[0-9.]+}} us expected, directly {{[0-9.]+}} us expected"}
// REPORT:      matrix product by fused multiply-add: {{.*}} key: sm_90a matmul f32*f32>f32 16x4096x512x256 nn; by Winograd's algorithm {{[0-9.]+}} us expected, directly {{[0-9.]+}} us expected
// EXACT:       matrix product by
func.func @many_channels(%x: tensor<4x64x64x256xf32>, %w: tensor<3x3x256x512xf32>) -> tensor<4x64x64x512xf32> {
  %y = array.conv %x, %w dims = <[b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f]> low = [1, 1] high = [1, 1]
     : (tensor<4x64x64x256xf32>, tensor<3x3x256x512xf32>) -> tensor<4x64x64x512xf32>
  return %y : tensor<4x64x64x512xf32>
}

// Few channels are not; the report says what the other way would take.
// CHECK-LABEL: func.func @few_channels(
// CHECK-NOT:     algorithm
// CHECK:         {plan.note = "by Winograd's algorithm {{[0-9.]+}} us expected"}
// REPORT:      key: sm_90a conv f32*f32>f32 {{.*}}; by Winograd's algorithm {{[0-9.]+}} us expected
func.func @few_channels(%x: tensor<4x64x64x32xf32>, %w: tensor<3x3x32x32xf32>) -> tensor<4x64x64x32xf32> {
  %y = array.conv %x, %w dims = <[b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f]> low = [1, 1] high = [1, 1]
     : (tensor<4x64x64x32xf32>, tensor<3x3x32x32xf32>) -> tensor<4x64x64x32xf32>
  return %y : tensor<4x64x64x32xf32>
}

// Left alone: strides, other types, groups, a batch that is not known, and what tensor cores round.
// CHECK-LABEL: func.func @others(
// CHECK-NOT:     plan.note
// CHECK:         return
func.func @others(%x: tensor<2x64x64x256xf32>, %w: tensor<3x3x256x256xf32>, %g: tensor<3x3x128x256xf32>, %h: tensor<2x64x64x256xf16>,
                  %v: tensor<3x3x256x256xf16>, %open: tensor<?x64x64x256xf32>)
    -> (tensor<2x31x31x256xf32>, tensor<2x62x62x256xf32>, tensor<2x62x62x256xf16>, tensor<?x62x62x256xf32>, tensor<2x62x62x256xf32>) {
  %a = array.conv %x, %w dims = <[b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f]> strides = [2, 2]
     : (tensor<2x64x64x256xf32>, tensor<3x3x256x256xf32>) -> tensor<2x31x31x256xf32>
  %b = array.conv %x, %g dims = <[b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f]> feature_groups = 2
     : (tensor<2x64x64x256xf32>, tensor<3x3x128x256xf32>) -> tensor<2x62x62x256xf32>
  %c = array.conv %h, %v dims = <[b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f]>
     : (tensor<2x64x64x256xf16>, tensor<3x3x256x256xf16>) -> tensor<2x62x62x256xf16>
  %d = array.conv %open, %w dims = <[b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f]>
     : (tensor<?x64x64x256xf32>, tensor<3x3x256x256xf32>) -> tensor<?x62x62x256xf32>
  %e = array.conv %x, %w dims = <[b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f]> allow_tf32
     : (tensor<2x64x64x256xf32>, tensor<3x3x256x256xf32>) -> tensor<2x62x62x256xf32>
  return %a, %b, %c, %d, %e : tensor<2x31x31x256xf32>, tensor<2x62x62x256xf32>, tensor<2x62x62x256xf16>, tensor<?x62x62x256xf32>, tensor<2x62x62x256xf32>
}
