// RUN: xc-opt %s -verify-roundtrip | FileCheck %s

// CHECK-LABEL: func.func @conv(
func.func @conv(%x: tensor<?x8x8x4xf16>, %w: tensor<3x3x4x6xf16>, %d: tensor<3x3x1x4xf16>, %i: tensor<2x5x7xi8>,
                %j: tensor<6x5x3xi8>, %b: tensor<4x8x8x2xf32>, %g: tensor<3x3x2x6xf32>) {
  // CHECK: array.conv %{{.*}}, %{{.*}} dims = <[b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f]>
  // CHECK-SAME: : (tensor<?x8x8x4xf16>, tensor<3x3x4x6xf16>) -> tensor<?x6x6x6xf32>
  %0 = array.conv %x, %w dims = <[b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f]>
     : (tensor<?x8x8x4xf16>, tensor<3x3x4x6xf16>) -> tensor<?x6x6x6xf32>
  // CHECK: strides = [2, 1] low = [1, -1] high = [1, 0] input_dilation = [1, 2] filter_dilation = [2, 3] :
  %1 = array.conv %x, %w dims = <[b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f]>
       strides = [2, 1] low = [1, -1] high = [1, 0] input_dilation = [1, 2] filter_dilation = [2, 3]
     : (tensor<?x8x8x4xf16>, tensor<3x3x4x6xf16>) -> tensor<?x3x8x6xf16>
  // CHECK: feature_groups = 4 :
  %2 = array.conv %x, %d dims = <[b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f]> feature_groups = 4
     : (tensor<?x8x8x4xf16>, tensor<3x3x1x4xf16>) -> tensor<?x6x6x4xf16>
  // CHECK: algorithm = winograd :
  %w0 = array.conv %b, %g dims = <[b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f]> algorithm = winograd
     : (tensor<4x8x8x2xf32>, tensor<3x3x2x6xf32>) -> tensor<4x6x6x6xf32>
  // CHECK: dims = <[b, f, 0] x [o, i, 0] -> [b, f, 0]> : (tensor<2x5x7xi8>, tensor<6x5x3xi8>) -> tensor<2x6x5xi32>
  %3 = array.conv %i, %j dims = <[b, f, 0] x [o, i, 0] -> [b, f, 0]>
     : (tensor<2x5x7xi8>, tensor<6x5x3xi8>) -> tensor<2x6x5xi32>
  // CHECK: batch_groups = 2 allow_tf32 :
  %4 = array.conv %b, %g dims = <[b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f]> batch_groups = 2 allow_tf32
     : (tensor<4x8x8x2xf32>, tensor<3x3x2x6xf32>) -> tensor<2x6x6x6xf32>
  return
}

// CHECK-LABEL: func.func @pool(
func.func @pool(%x: tensor<?x8x9x4xf32>, %p: tensor<8xi1>, %g: tensor<?x4x4x4xf32>, %n: tensor<4x?xf32>) {
  // CHECK: array.reduce_window max, %{{.*}} window = [1, 3, 2, 1] strides = [1, 2, 2, 1] low = [0, 1, 0, 0] high = [0, 0, 0, 0]
  // CHECK-SAME: dilation = [1, 1, 2, 1] : tensor<?x8x9x4xf32> -> tensor<?x4x4x4xf32>
  %0 = array.reduce_window max, %x window = [1, 3, 2, 1] strides = [1, 2, 2, 1] low = [0, 1, 0, 0] high = [0, 0, 0, 0]
       dilation = [1, 1, 2, 1] : tensor<?x8x9x4xf32> -> tensor<?x4x4x4xf32>
  // CHECK: array.reduce_window and, %{{.*}} window = [3] : tensor<8xi1> -> tensor<6xi1>
  %1 = array.reduce_window and, %p window = [3] : tensor<8xi1> -> tensor<6xi1>
  // CHECK: array.reduce_window sum, %{{.*}} window = [1, 3] : tensor<4x?xf32> -> tensor<4x?xf32>
  %2 = array.reduce_window sum, %n window = [1, 3] : tensor<4x?xf32> -> tensor<4x?xf32>
  // CHECK: array.avg_pool %{{.*}} window = [1, 2, 2, 1] count_include_pad :
  %3 = array.avg_pool %x window = [1, 2, 2, 1] count_include_pad : tensor<?x8x9x4xf32> -> tensor<?x7x8x4xf32>
  // CHECK: array.select_and_scatter min, %{{.*}}, %{{.*}} window = [1, 2, 3, 1] strides = [1, 2, 2, 1]
  // CHECK-SAME: : (tensor<?x8x9x4xf32>, tensor<?x4x4x4xf32>) -> tensor<?x8x9x4xf32>
  %4 = array.select_and_scatter min, %x, %g window = [1, 2, 3, 1] strides = [1, 2, 2, 1]
     : (tensor<?x8x9x4xf32>, tensor<?x4x4x4xf32>) -> tensor<?x8x9x4xf32>
  return
}

// CHECK-LABEL: func.func @attention(
func.func @attention(%q: tensor<?x8x?x64xf16>, %k: tensor<?x2x?x64xf16>, %v: tensor<?x2x?x32xf16>, %m: tensor<1x?x?xi1>,
                     %p: tensor<i32>) {
  // CHECK: array.attention %{{.*}}, %{{.*}}, %{{.*}} scale = 1.250000e-01
  // CHECK-SAME: : (tensor<?x8x?x64xf16>, tensor<?x2x?x64xf16>, tensor<?x2x?x32xf16>) -> tensor<?x8x?x32xf16>
  %0 = array.attention %q, %k, %v scale = 0.125
     : (tensor<?x8x?x64xf16>, tensor<?x2x?x64xf16>, tensor<?x2x?x32xf16>) -> tensor<?x8x?x32xf16>
  // CHECK: mask(%{{.*}} : tensor<1x?x?xi1>) causal offset(%{{.*}} : tensor<i32>) scale =
  %1 = array.attention %q, %k, %v mask(%m : tensor<1x?x?xi1>) causal offset(%p : tensor<i32>) scale = 0.125
     : (tensor<?x8x?x64xf16>, tensor<?x2x?x64xf16>, tensor<?x2x?x32xf16>) -> tensor<?x8x?x32xf16>
  return
}

// CHECK-LABEL: func.func @group_norm(
func.func @group_norm(%x: tensor<?x8x16xf32>, %y: tensor<2x?xf32>, %s: tensor<16xf32>) {
  // CHECK: array.group_norm %{{.*}}, %{{.*}}, %{{.*}} axis = 2 groups = 4 epsilon = 1.000000e-05 :
  %0 = array.group_norm %x, %s, %s axis = 2 groups = 4 epsilon = 1.0e-5
     : (tensor<?x8x16xf32>, tensor<16xf32>, tensor<16xf32>) -> tensor<?x8x16xf32>
  // CHECK: array.group_norm %{{.*}}, %{{.*}}, %{{.*}} axis = 1 groups = 4 epsilon = 1.000000e-05 :
  %1 = array.group_norm %y, %s, %s axis = 1 groups = 4 epsilon = 1.0e-5
     : (tensor<2x?xf32>, tensor<16xf32>, tensor<16xf32>) -> tensor<2x?xf32>
  return
}

// CHECK-LABEL: func.func @attention_window(
func.func @attention_window(%q: tensor<8x?x64xf16>, %k: tensor<2x?x64xf16>, %t: tensor<8xf32>) {
  // CHECK: array.attention %{{.*}}, %{{.*}}, %{{.*}} causal window = 128 sinks(%{{.*}} : tensor<8xf32>) logsumexp scale = 1.250000e-01
  // CHECK-SAME: -> tensor<8x?x64xf16>, tensor<8x?xf32>
  %0, %1 = array.attention %q, %k, %k causal window = 128 sinks(%t : tensor<8xf32>) logsumexp scale = 0.125
     : (tensor<8x?x64xf16>, tensor<2x?x64xf16>, tensor<2x?x64xf16>) -> tensor<8x?x64xf16>, tensor<8x?xf32>
  return
}

// CHECK-LABEL: func.func @attention_gradient(
func.func @attention_gradient(%q: tensor<8x?x64xf16>, %k: tensor<2x?x64xf16>, %g: tensor<8x?x64xf16>, %m: tensor<?x?xi1>, %p: tensor<i32>, %l: tensor<8x?xf32>, %b: tensor<?x?xf32>, %s: tensor<8xf32>) {
  // CHECK: array.attention_gradient %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} mask(%{{.*}} : tensor<?x?xi1>) causal window = 128 offset(%{{.*}} : tensor<i32>) scale = 1.250000e-01
  // CHECK-SAME: -> tensor<8x?x64xf16>, tensor<2x?x64xf16>, tensor<2x?x64xf16>
  %0:3 = array.attention_gradient %q, %k, %k, %g mask(%m : tensor<?x?xi1>) causal window = 128 offset(%p : tensor<i32>) scale = 0.125
     : (tensor<8x?x64xf16>, tensor<2x?x64xf16>, tensor<2x?x64xf16>, tensor<8x?x64xf16>) -> tensor<8x?x64xf16>, tensor<2x?x64xf16>, tensor<2x?x64xf16>
  // CHECK: array.attention_gradient %{{.*}} rows(%{{.*}}, %{{.*}} : tensor<8x?xf32>, tensor<8x?xf32>) scale = 1.250000e-01
  %1:3 = array.attention_gradient %q, %k, %k, %g rows(%l, %l : tensor<8x?xf32>, tensor<8x?xf32>) scale = 0.125
     : (tensor<8x?x64xf16>, tensor<2x?x64xf16>, tensor<2x?x64xf16>, tensor<8x?x64xf16>) -> tensor<8x?x64xf16>, tensor<2x?x64xf16>, tensor<2x?x64xf16>
  // CHECK: array.attention_gradient %{{.*}} mask(%{{.*}} : tensor<?x?xf32>) to_mask sinks(%{{.*}} : tensor<8xf32>) to_sinks scale = 1.250000e-01
  // CHECK-SAME: -> tensor<8x?x64xf16>, tensor<2x?x64xf16>, tensor<2x?x64xf16>, tensor<?x?xf32>, tensor<8xf32>
  %2:5 = array.attention_gradient %q, %k, %k, %g mask(%b : tensor<?x?xf32>) to_mask sinks(%s : tensor<8xf32>) to_sinks scale = 0.125
     : (tensor<8x?x64xf16>, tensor<2x?x64xf16>, tensor<2x?x64xf16>, tensor<8x?x64xf16>) -> tensor<8x?x64xf16>, tensor<2x?x64xf16>, tensor<2x?x64xf16>, tensor<?x?xf32>, tensor<8xf32>
  return
}

// CHECK-LABEL: func.func @adaptive_pool(
func.func @adaptive_pool(%x: tensor<?x30x40x16xf32>) {
  // CHECK: array.adaptive_pool max, %{{.*}} axes = [1, 2] sizes = [7, 7] : tensor<?x30x40x16xf32> -> tensor<?x7x7x16xf32>
  %0 = array.adaptive_pool max, %x axes = [1, 2] sizes = [7, 7] : tensor<?x30x40x16xf32> -> tensor<?x7x7x16xf32>
  // CHECK: array.adaptive_pool avg, %{{.*}} axes = [1, 2] sizes = [%{{.*}}, 0] : tensor<?x30x40x16xf32> -> tensor<?x?x0x16xf32>
  %n = array.dim %x, 0 : tensor<?x30x40x16xf32>
  %1 = array.adaptive_pool avg, %x axes = [1, 2] sizes = [%n, 0] : tensor<?x30x40x16xf32> -> tensor<?x?x0x16xf32>
  return
}

// CHECK-LABEL: func.func @paged_attention(
func.func @paged_attention(%q: tensor<?x8x1x64xf16>, %k: tensor<100x2x16x64xf16>, %t: tensor<?x?xi32>, %n: tensor<?xi64>) {
  // CHECK: array.paged_attention %{{.*}}, %{{.*}}, %{{.*}} table(%{{.*}} : tensor<?x?xi32>) lengths(%{{.*}} : tensor<?xi64>) scale = 1.250000e-01 :
  // CHECK-SAME: -> tensor<?x8x1x64xf16>
  %0 = array.paged_attention %q, %k, %k table(%t : tensor<?x?xi32>) lengths(%n : tensor<?xi64>) scale = 0.125
     : (tensor<?x8x1x64xf16>, tensor<100x2x16x64xf16>, tensor<100x2x16x64xf16>) -> tensor<?x8x1x64xf16>
  return
}
