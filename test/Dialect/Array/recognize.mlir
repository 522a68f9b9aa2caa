// RUN: xc-opt %s -split-input-file -xc-array-recognize | FileCheck %s

// The inverse sum, kept dims, and a maximum that JAX bounds.
// CHECK-LABEL: func.func @softmax
// CHECK-SAME:    %[[X:.*]]: tensor<4x8xf32>
// CHECK-NEXT:    %[[Y:.*]] = array.softmax %[[X]] axis = 1
// CHECK-NEXT:    return %[[Y]]
func.func @softmax(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %lowest = array.constant dense<0xFF800000> : tensor<4xf32>
  %one = array.constant dense<1.0> : tensor<4xf32>
  %m = array.reduce max, %x axes = [1] : tensor<4x8xf32> -> tensor<4xf32>
  %n = array.max %lowest, %m : tensor<4xf32>
  %b = array.broadcast_in_dim %n axes = [0] : tensor<4xf32> -> tensor<4x8xf32>
  %s = array.sub %x, %b : tensor<4x8xf32>
  %e = array.exp %s : tensor<4x8xf32>
  %t = array.reduce sum, %e axes = [1] : tensor<4x8xf32> -> tensor<4xf32>
  %i = array.div %one, %t : tensor<4xf32>
  %c = array.broadcast_in_dim %i axes = [0] : tensor<4xf32> -> tensor<4x8xf32>
  %y = array.mul %c, %e : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

// No maximum; another row's sum; exponentials that are used.
// CHECK-LABEL: func.func @no_softmax
// CHECK-NOT:     array.softmax
func.func @no_softmax(%x: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {
  %e0 = array.exp %x : tensor<8x8xf32>
  %t0 = array.reduce sum, %e0 axes = [1] keepdims : tensor<8x8xf32> -> tensor<8x1xf32>
  %y0 = array.div %e0, %t0 : (tensor<8x8xf32>, tensor<8x1xf32>) -> tensor<8x8xf32>
  %m = array.reduce max, %x axes = [1] keepdims : tensor<8x8xf32> -> tensor<8x1xf32>
  %s = array.sub %x, %m : (tensor<8x8xf32>, tensor<8x1xf32>) -> tensor<8x8xf32>
  %e1 = array.exp %s : tensor<8x8xf32>
  %t1 = array.reduce sum, %e1 axes = [1] : tensor<8x8xf32> -> tensor<8xf32>
  %y1 = array.div %e1, %t1 : (tensor<8x8xf32>, tensor<8xf32>) -> tensor<8x8xf32>
  %s2 = array.sub %x, %m : (tensor<8x8xf32>, tensor<8x1xf32>) -> tensor<8x8xf32>
  %e2 = array.exp %s2 : tensor<8x8xf32>
  %t2 = array.reduce sum, %e2 axes = [1] keepdims : tensor<8x8xf32> -> tensor<8x1xf32>
  %y2 = array.div %e2, %t2 : (tensor<8x8xf32>, tensor<8x1xf32>) -> tensor<8x8xf32>
  return %y0, %y1, %y2, %e2 : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
}

// -----

// The mean in f32 and the distance in bf16, as JAX computes them, and a bias for the scale.
// CHECK-LABEL: func.func @layer_norm
// CHECK-SAME:    %[[X:.*]]: tensor<8x128xbf16>, %[[G:.*]]: tensor<128xbf16>, %[[B:.*]]: tensor<128xbf16>
// CHECK:         %[[Y:.*]] = array.layer_norm %[[X]] scale(%[[G]] : tensor<128xbf16>) bias(%[[B]] : tensor<128xbf16>) axis = 1 epsilon = 0.0010
// CHECK-NEXT:    return %[[Y]]
func.func @layer_norm(%x: tensor<8x128xbf16>, %g: tensor<128xbf16>, %b: tensor<128xbf16>) -> tensor<8x128xbf16> {
  %epsilon = array.constant dense<0.001> : tensor<8x1xf32>
  %n = array.constant dense<128.0> : tensor<8x1xf32>
  %w = array.convert %x : tensor<8x128xbf16> -> tensor<8x128xf32>
  %s = array.reduce sum, %w axes = [1] keepdims : tensor<8x128xf32> -> tensor<8x1xf32>
  %m = array.div %s, %n : tensor<8x1xf32>
  %d = array.sub %w, %m : (tensor<8x128xf32>, tensor<8x1xf32>) -> tensor<8x128xf32>
  %q = array.mul %d, %d : tensor<8x128xf32>
  %t = array.reduce sum, %q axes = [1] keepdims : tensor<8x128xf32> -> tensor<8x1xf32>
  %v = array.div %t, %n : tensor<8x1xf32>
  %e = array.add %v, %epsilon : tensor<8x1xf32>
  %r = array.sqrt %e : tensor<8x1xf32>
  %mn = array.convert %m : tensor<8x1xf32> -> tensor<8x1xbf16>
  %rn = array.convert %r : tensor<8x1xf32> -> tensor<8x1xbf16>
  %dn = array.sub %x, %mn : (tensor<8x128xbf16>, tensor<8x1xbf16>) -> tensor<8x128xbf16>
  %z = array.div %dn, %rn : (tensor<8x128xbf16>, tensor<8x1xbf16>) -> tensor<8x128xbf16>
  %zg = array.mul %z, %g : (tensor<8x128xbf16>, tensor<128xbf16>) -> tensor<8x128xbf16>
  %y = array.add %zg, %b : (tensor<8x128xbf16>, tensor<128xbf16>) -> tensor<8x128xbf16>
  return %y : tensor<8x128xbf16>
}

// -----

// Computed in f32, rounded before the scale.
// CHECK-LABEL: func.func @rms_norm
// CHECK-SAME:    %[[X:.*]]: tensor<?x128xf16>, %[[G:.*]]: tensor<128xf16>
// CHECK:         %[[Y:.*]] = array.rms_norm %[[X]] scale(%[[G]] : tensor<128xf16>) axis = 1 epsilon = 0.0010
// CHECK-NEXT:    return %[[Y]]
func.func @rms_norm(%x: tensor<?x128xf16>, %g: tensor<128xf16>) -> tensor<?x128xf16> {
  %epsilon = array.constant dense<0.001> : tensor<f32>
  %w = array.convert %x : tensor<?x128xf16> -> tensor<?x128xf32>
  %q = array.square %w : tensor<?x128xf32>
  %m = array.mean %q axes = [1] keepdims : tensor<?x128xf32> -> tensor<?x1xf32>
  %e = array.add %m, %epsilon : (tensor<?x1xf32>, tensor<f32>) -> tensor<?x1xf32>
  %r = array.rsqrt %e : tensor<?x1xf32>
  %z = array.mul %w, %r : (tensor<?x128xf32>, tensor<?x1xf32>) -> tensor<?x128xf32>
  %n = array.convert %z : tensor<?x128xf32> -> tensor<?x128xf16>
  %y = array.mul %n, %g : (tensor<?x128xf16>, tensor<128xf16>) -> tensor<?x128xf16>
  return %y : tensor<?x128xf16>
}

// -----

// A sum that is no mean, and a root of another tensor's squares.
// CHECK-LABEL: func.func @no_norm
// CHECK-NOT:     array.rms_norm
func.func @no_norm(%x: tensor<8x128xf32>, %other: tensor<8x128xf32>) -> (tensor<8x128xf32>, tensor<8x128xf32>) {
  %epsilon = array.constant dense<0.001> : tensor<f32>
  %count = array.constant dense<100.0> : tensor<f32>
  %q = array.square %x : tensor<8x128xf32>
  %s = array.reduce sum, %q axes = [1] keepdims : tensor<8x128xf32> -> tensor<8x1xf32>
  %d = array.div %s, %count : (tensor<8x1xf32>, tensor<f32>) -> tensor<8x1xf32>
  %e = array.add %d, %epsilon : (tensor<8x1xf32>, tensor<f32>) -> tensor<8x1xf32>
  %r = array.rsqrt %e : tensor<8x1xf32>
  %y = array.mul %x, %r : (tensor<8x128xf32>, tensor<8x1xf32>) -> tensor<8x128xf32>
  %q2 = array.square %x : tensor<8x128xf32>
  %m2 = array.mean %q2 axes = [1] keepdims : tensor<8x128xf32> -> tensor<8x1xf32>
  %e2 = array.add %m2, %epsilon : (tensor<8x1xf32>, tensor<f32>) -> tensor<8x1xf32>
  %r2 = array.rsqrt %e2 : tensor<8x1xf32>
  %y2 = array.mul %other, %r2 : (tensor<8x128xf32>, tensor<8x1xf32>) -> tensor<8x128xf32>
  return %y, %y2 : tensor<8x128xf32>, tensor<8x128xf32>
}

// -----

// By values: products in another order, a quotient; constants of bf16 have few digits. A constant that is
// another one is another function.
// CHECK-LABEL: func.func @functions
// CHECK-SAME:    %[[X:.*]]: tensor<?x8xf32>, %[[N:.*]]: tensor<8xbf16>
// CHECK-DAG:     %[[A:.*]] = array.gelu %[[X]] : tensor
// CHECK-DAG:     %[[B:.*]] = array.silu %[[X]] : tensor
// CHECK-DAG:     %[[C:.*]] = array.gelu %[[N]] approximate = tanh
// CHECK-DAG:     %[[D:.*]] = array.mul %{{.*}} : (tensor<?x8xf32>, tensor<f32>)
// CHECK:         return %[[A]], %[[B]], %[[C]], %{{.*}}
func.func @functions(%x: tensor<?x8xf32>, %n: tensor<8xbf16>) -> (tensor<?x8xf32>, tensor<?x8xf32>, tensor<8xbf16>, tensor<?x8xf32>) {
  %root = array.constant dense<1.41421356> : tensor<f32>
  %one = array.constant dense<1.0> : tensor<f32>
  %half = array.constant dense<0.5> : tensor<f32>
  %d = array.div %x, %root : (tensor<?x8xf32>, tensor<f32>) -> tensor<?x8xf32>
  %f = array.erf %d : tensor<?x8xf32>
  %g = array.add %f, %one : (tensor<?x8xf32>, tensor<f32>) -> tensor<?x8xf32>
  %h = array.mul %x, %g : tensor<?x8xf32>
  %a = array.mul %h, %half : (tensor<?x8xf32>, tensor<f32>) -> tensor<?x8xf32>

  %m = array.neg %x : tensor<?x8xf32>
  %e = array.exp %m : tensor<?x8xf32>
  %s = array.add %one, %e : (tensor<f32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  %b = array.div %x, %s : tensor<?x8xf32>

  %c1 = array.constant dense<0.044678> : tensor<bf16>
  %c2 = array.constant dense<0.79688> : tensor<bf16>
  %one16 = array.constant dense<1.0> : tensor<bf16>
  %half16 = array.constant dense<0.5> : tensor<bf16>
  %n2 = array.mul %n, %n : tensor<8xbf16>
  %n3 = array.mul %n2, %n : tensor<8xbf16>
  %n4 = array.mul %n3, %c1 : (tensor<8xbf16>, tensor<bf16>) -> tensor<8xbf16>
  %n5 = array.add %n, %n4 : tensor<8xbf16>
  %n6 = array.mul %n5, %c2 : (tensor<8xbf16>, tensor<bf16>) -> tensor<8xbf16>
  %n7 = array.tanh %n6 : tensor<8xbf16>
  %n8 = array.add %n7, %one16 : (tensor<8xbf16>, tensor<bf16>) -> tensor<8xbf16>
  %n9 = array.mul %n8, %half16 : (tensor<8xbf16>, tensor<bf16>) -> tensor<8xbf16>
  %c = array.mul %n, %n9 : tensor<8xbf16>

  %k = array.constant dense<1.702> : tensor<f32>
  %q = array.mul %x, %k : (tensor<?x8xf32>, tensor<f32>) -> tensor<?x8xf32>
  %t = array.sigmoid %q : tensor<?x8xf32>
  %u = array.mul %x, %t : tensor<?x8xf32>
  return %a, %b, %c, %u : tensor<?x8xf32>, tensor<?x8xf32>, tensor<8xbf16>, tensor<?x8xf32>
}

// -----

// Both ways to rotate halves, without slices and joins.
// CHECK-LABEL: func.func @rotations
// CHECK-NOT:     array.concatenate
// CHECK:         %[[P:.*]] = array.reshape %{{.*}} : tensor<2x4x8xf32> -> tensor<2x4x2x4xf32>
// CHECK:         array.reverse %[[P]] axes = [2]
// CHECK-NOT:     array.slice
func.func @rotations(%x: tensor<2x4x8xf32>, %c: tensor<4x4xf32>, %s: tensor<4x4xf32>, %cc: tensor<4x8xf32>, %ss: tensor<4x8xf32>)
    -> (tensor<2x4x8xf32>, tensor<2x4x8xf32>) {
  %a = array.slice %x [:, :, :4] : tensor<2x4x8xf32> -> tensor<2x4x4xf32>
  %b = array.slice %x [:, :, 4:8] : tensor<2x4x8xf32> -> tensor<2x4x4xf32>
  %ac = array.mul %a, %c : (tensor<2x4x4xf32>, tensor<4x4xf32>) -> tensor<2x4x4xf32>
  %bs = array.mul %b, %s : (tensor<2x4x4xf32>, tensor<4x4xf32>) -> tensor<2x4x4xf32>
  %bc = array.mul %b, %c : (tensor<2x4x4xf32>, tensor<4x4xf32>) -> tensor<2x4x4xf32>
  %as = array.mul %a, %s : (tensor<2x4x4xf32>, tensor<4x4xf32>) -> tensor<2x4x4xf32>
  %first = array.sub %ac, %bs : tensor<2x4x4xf32>
  %second = array.add %bc, %as : tensor<2x4x4xf32>
  %y = array.concatenate %first, %second axis = 2 : (tensor<2x4x4xf32>, tensor<2x4x4xf32>) -> tensor<2x4x8xf32>
  %mb = array.neg %b : tensor<2x4x4xf32>
  %h = array.concatenate %mb, %a axis = 2 : (tensor<2x4x4xf32>, tensor<2x4x4xf32>) -> tensor<2x4x8xf32>
  %xc = array.mul %x, %cc : (tensor<2x4x8xf32>, tensor<4x8xf32>) -> tensor<2x4x8xf32>
  %hs = array.mul %h, %ss : (tensor<2x4x8xf32>, tensor<4x8xf32>) -> tensor<2x4x8xf32>
  %z = array.add %xc, %hs : tensor<2x4x8xf32>
  return %y, %z : tensor<2x4x8xf32>, tensor<2x4x8xf32>
}

// -----

// What flows through a rotation, as differentiation spells it: the other half has the other sign.
// CHECK-LABEL: func.func @rotation_gradient
// CHECK-NOT:     array.concatenate
// CHECK:         array.reverse %{{.*}} axes = [2]
// CHECK:         array.sub
// CHECK-NOT:     array.slice
func.func @rotation_gradient(%x: tensor<2x4x8xf32>, %c: tensor<4x4xf32>, %s: tensor<4x4xf32>) -> tensor<2x4x8xf32> {
  %a = array.slice %x [:, :, :4] : tensor<2x4x8xf32> -> tensor<2x4x4xf32>
  %b = array.slice %x [:, :, 4:8] : tensor<2x4x8xf32> -> tensor<2x4x4xf32>
  %ac = array.mul %a, %c : (tensor<2x4x4xf32>, tensor<4x4xf32>) -> tensor<2x4x4xf32>
  %bs = array.mul %b, %s : (tensor<2x4x4xf32>, tensor<4x4xf32>) -> tensor<2x4x4xf32>
  %bc = array.mul %b, %c : (tensor<2x4x4xf32>, tensor<4x4xf32>) -> tensor<2x4x4xf32>
  %na = array.neg %a : tensor<2x4x4xf32>
  %as = array.mul %na, %s : (tensor<2x4x4xf32>, tensor<4x4xf32>) -> tensor<2x4x4xf32>
  %first = array.add %bs, %ac : tensor<2x4x4xf32>
  %second = array.add %bc, %as : tensor<2x4x4xf32>
  %y = array.concatenate %first, %second axis = 2 : (tensor<2x4x4xf32>, tensor<2x4x4xf32>) -> tensor<2x4x8xf32>
  return %y : tensor<2x4x8xf32>
}

// -----

// The gradient of `x * c + [-b, a] * s`: halves of a product are padded and added.
// CHECK-LABEL: func.func @rotary_gradient
// CHECK-SAME:    %[[G:.*]]: tensor<2x4x8xf32>, %[[C:.*]]: tensor<4x8xf32>, %[[S:.*]]: tensor<4x8xf32>
// CHECK-NOT:     array.pad
// CHECK-DAG:     array.reverse %{{.*}} axes = [2] : tensor<2x4x2x4xf32>
// CHECK-DAG:     array.reverse %{{.*}} axes = [1] : tensor<4x2x4xf32>
// CHECK:         array.sub
// CHECK-NOT:     array.slice
func.func @rotary_gradient(%g: tensor<2x4x8xf32>, %c: tensor<4x8xf32>, %s: tensor<4x8xf32>) -> tensor<2x4x8xf32> {
  %zero = array.constant dense<0.0> : tensor<f32>
  %gs = array.mul %g, %s : (tensor<2x4x8xf32>, tensor<4x8xf32>) -> tensor<2x4x8xf32>
  %gc = array.mul %g, %c : (tensor<2x4x8xf32>, tensor<4x8xf32>) -> tensor<2x4x8xf32>
  %l = array.slice %gs [:, :, :4] : tensor<2x4x8xf32> -> tensor<2x4x4xf32>
  %m = array.slice %gs [:, :, 4:8] : tensor<2x4x8xf32> -> tensor<2x4x4xf32>
  %first = array.pad %m, %zero low = [0, 0, 0] high = [0, 0, 4] : (tensor<2x4x4xf32>, tensor<f32>) -> tensor<2x4x8xf32>
  %n = array.neg %l : tensor<2x4x4xf32>
  %second = array.pad %n, %zero low = [0, 0, 4] high = [0, 0, 0] : (tensor<2x4x4xf32>, tensor<f32>) -> tensor<2x4x8xf32>
  %a = array.add %gc, %first : tensor<2x4x8xf32>
  %y = array.add %a, %second : tensor<2x4x8xf32>
  return %y : tensor<2x4x8xf32>
}

// -----

// Halves that are padded back to where they were.
// CHECK-LABEL: func.func @padded_halves
// CHECK:         array.pad
func.func @padded_halves(%g: tensor<2x4x8xf32>, %c: tensor<4x8xf32>, %s: tensor<4x8xf32>) -> tensor<2x4x8xf32> {
  %zero = array.constant dense<0.0> : tensor<f32>
  %gs = array.mul %g, %s : (tensor<2x4x8xf32>, tensor<4x8xf32>) -> tensor<2x4x8xf32>
  %gc = array.mul %g, %c : (tensor<2x4x8xf32>, tensor<4x8xf32>) -> tensor<2x4x8xf32>
  %l = array.slice %gs [:, :, :4] : tensor<2x4x8xf32> -> tensor<2x4x4xf32>
  %m = array.slice %gs [:, :, 4:8] : tensor<2x4x8xf32> -> tensor<2x4x4xf32>
  %first = array.pad %m, %zero low = [0, 0, 4] high = [0, 0, 0] : (tensor<2x4x4xf32>, tensor<f32>) -> tensor<2x4x8xf32>
  %n = array.neg %l : tensor<2x4x4xf32>
  %second = array.pad %n, %zero low = [0, 0, 0] high = [0, 0, 4] : (tensor<2x4x4xf32>, tensor<f32>) -> tensor<2x4x8xf32>
  %a = array.add %gc, %first : tensor<2x4x8xf32>
  %y = array.add %a, %second : tensor<2x4x8xf32>
  return %y : tensor<2x4x8xf32>
}

// -----

// Signs of no rotation: a mirror.
// CHECK-LABEL: func.func @mirrored
// CHECK:         array.concatenate
func.func @mirrored(%x: tensor<2x4x8xf32>, %c: tensor<4x4xf32>, %s: tensor<4x4xf32>) -> tensor<2x4x8xf32> {
  %a = array.slice %x [:, :, :4] : tensor<2x4x8xf32> -> tensor<2x4x4xf32>
  %b = array.slice %x [:, :, 4:8] : tensor<2x4x8xf32> -> tensor<2x4x4xf32>
  %ac = array.mul %a, %c : (tensor<2x4x4xf32>, tensor<4x4xf32>) -> tensor<2x4x4xf32>
  %bs = array.mul %b, %s : (tensor<2x4x4xf32>, tensor<4x4xf32>) -> tensor<2x4x4xf32>
  %bc = array.mul %b, %c : (tensor<2x4x4xf32>, tensor<4x4xf32>) -> tensor<2x4x4xf32>
  %as = array.mul %a, %s : (tensor<2x4x4xf32>, tensor<4x4xf32>) -> tensor<2x4x4xf32>
  %first = array.add %ac, %bs : tensor<2x4x4xf32>
  %second = array.add %bc, %as : tensor<2x4x4xf32>
  %y = array.concatenate %first, %second axis = 2 : (tensor<2x4x4xf32>, tensor<2x4x4xf32>) -> tensor<2x4x8xf32>
  return %y : tensor<2x4x8xf32>
}

// -----

// Halves in the other order are no rotation.
// CHECK-LABEL: func.func @swapped
// CHECK:         array.concatenate
func.func @swapped(%x: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %a = array.slice %x [:, :4] : tensor<2x8xf32> -> tensor<2x4xf32>
  %b = array.slice %x [:, 4:8] : tensor<2x8xf32> -> tensor<2x4xf32>
  %n = array.neg %a : tensor<2x4xf32>
  %y = array.concatenate %n, %b axis = 1 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x8xf32>
  return %y : tensor<2x8xf32>
}

// -----

// Heads in groups, moved before their tokens; with tokens between the groups, they are no heads any more.
// CHECK-LABEL: func.func @heads
// CHECK-SAME:    %[[X:.*]]: tensor<2x5x6x8xf32>
// CHECK:         %[[Y:.*]] = array.transpose %[[X]] permutation = [0, 2, 1, 3]
// CHECK:         %[[Z:.*]] = array.reshape %{{.*}} : tensor<2x2x5x3x8xf32> -> tensor<2x10x3x8xf32>
// CHECK:         return %[[Y]], %[[Z]]
func.func @heads(%x: tensor<2x5x6x8xf32>) -> (tensor<2x6x5x8xf32>, tensor<2x10x3x8xf32>) {
  %a = array.reshape %x : tensor<2x5x6x8xf32> -> tensor<2x5x2x3x8xf32>
  %b = array.transpose %a permutation = [0, 2, 3, 1, 4] : tensor<2x5x2x3x8xf32> -> tensor<2x2x3x5x8xf32>
  %c = array.reshape %b : tensor<2x2x3x5x8xf32> -> tensor<2x6x5x8xf32>
  %d = array.transpose %a permutation = [0, 2, 1, 3, 4] : tensor<2x5x2x3x8xf32> -> tensor<2x2x5x3x8xf32>
  %e = array.reshape %d : tensor<2x2x5x3x8xf32> -> tensor<2x10x3x8xf32>
  return %c, %e : tensor<2x6x5x8xf32>, tensor<2x10x3x8xf32>
}

// A third of a product's columns on its way to the heads of attention, as PyTorch's exporter writes it; and another third, sliced.
// CHECK-LABEL: func.func @third
// CHECK-SAME:    %[[X:.*]]: tensor<7x2x72xf32>
// CHECK:         %[[Q:.*]] = array.slice %[[X]] [:7, :2, :24]
// CHECK:         %[[R:.*]] = array.reshape %[[Q]] : tensor<7x2x24xf32> -> tensor<7x2x3x8xf32>
// CHECK:         %[[H:.*]] = array.transpose %[[R]] permutation = [1, 2, 0, 3]
// CHECK:         %[[K:.*]] = array.slice %[[X]] [:7, :2, 48:72]
// CHECK:         %[[S:.*]] = array.reshape %[[K]] : tensor<7x2x24xf32> -> tensor<7x2x3x8xf32>
// CHECK:         %[[I:.*]] = array.transpose %[[S]] permutation = [1, 2, 0, 3]
// CHECK:         return %[[H]], %[[I]]
func.func @third(%x: tensor<7x2x72xf32>) -> (tensor<2x3x7x8xf32>, tensor<2x3x7x8xf32>) {
  %first = arith.constant dense<-1> : tensor<i64>
  %a = array.reshape %x : tensor<7x2x72xf32> -> tensor<1x7x2x3x24xf32>
  %b = array.transpose %a permutation = [3, 1, 2, 0, 4] : tensor<1x7x2x3x24xf32> -> tensor<3x7x2x1x24xf32>
  %c = array.reshape %b : tensor<3x7x2x1x24xf32> -> tensor<3x7x2x24xf32>
  %d = array.take %c[%first] axis = 0 : (tensor<3x7x2x24xf32>, tensor<i64>) -> tensor<7x2x24xf32>
  %e = array.reshape %d : tensor<7x2x24xf32> -> tensor<7x6x8xf32>
  %f = array.transpose %e permutation = [1, 0, 2] : tensor<7x6x8xf32> -> tensor<6x7x8xf32>
  %g = array.reshape %f : tensor<6x7x8xf32> -> tensor<2x3x7x8xf32>
  %h = array.slice %c [2:, :, :, :] : tensor<3x7x2x24xf32> -> tensor<1x7x2x24xf32>
  %i = array.squeeze %h axes = [0] : tensor<1x7x2x24xf32> -> tensor<7x2x24xf32>
  %j = array.reshape %i : tensor<7x2x24xf32> -> tensor<7x6x8xf32>
  %k = array.transpose %j permutation = [1, 0, 2] : tensor<7x6x8xf32> -> tensor<6x7x8xf32>
  %l = array.reshape %k : tensor<6x7x8xf32> -> tensor<2x3x7x8xf32>
  return %g, %l : tensor<2x3x7x8xf32>, tensor<2x3x7x8xf32>
}

// One `?` is a part like others. Not followed are two of them, sizes that do not divide each other, and a slice inside of a dim's part.
// CHECK-LABEL: func.func @parts
// CHECK-SAME:    %[[X:.*]]: tensor<7x?x24xf32>, %[[Y:.*]]: tensor<?x?x24xf32>, %[[Z:.*]]: tensor<4x9xf32>
// CHECK:         %[[R:.*]] = array.reshape %[[X]] : tensor<7x?x24xf32> -> tensor<7x?x3x8xf32>
// CHECK:         %[[H:.*]] = array.transpose %[[R]] permutation = [1, 2, 0, 3]
// CHECK:         array.transpose %[[Y]]
// CHECK:         array.transpose
// CHECK:         array.reshape %[[Z]] : tensor<4x9xf32> -> tensor<6x6xf32>
// CHECK:         array.transpose
// CHECK:         array.reshape {{.*}} : tensor<6x6xf32> -> tensor<4x9xf32>
// CHECK:         array.slice {{.*}} : tensor<2x2x9xf32> -> tensor<2x1x9xf32>
// CHECK:         return %[[H]]
func.func @parts(%x: tensor<7x?x24xf32>, %y: tensor<?x?x24xf32>, %z: tensor<4x9xf32>)
    -> (tensor<?x3x7x8xf32>, tensor<?x?x24xf32>, tensor<4x9xf32>, tensor<1x2x9xf32>) {
  %a = array.reshape %x : tensor<7x?x24xf32> -> tensor<7x?x8xf32>
  %b = array.transpose %a permutation = [1, 0, 2] : tensor<7x?x8xf32> -> tensor<?x7x8xf32>
  %c = array.reshape %b : tensor<?x7x8xf32> -> tensor<?x3x7x8xf32>
  %d = array.transpose %y permutation = [1, 2, 0] : tensor<?x?x24xf32> -> tensor<?x24x?xf32>
  %e = array.transpose %d permutation = [2, 0, 1] : tensor<?x24x?xf32> -> tensor<?x?x24xf32>
  %f = array.reshape %z : tensor<4x9xf32> -> tensor<6x6xf32>
  %g = array.transpose %f permutation = [1, 0] : tensor<6x6xf32> -> tensor<6x6xf32>
  %h = array.reshape %g : tensor<6x6xf32> -> tensor<4x9xf32>
  %i = array.reshape %z : tensor<4x9xf32> -> tensor<2x2x9xf32>
  %j = array.slice %i [:, 1:, :] : tensor<2x2x9xf32> -> tensor<2x1x9xf32>
  %k = array.transpose %j permutation = [1, 0, 2] : tensor<2x1x9xf32> -> tensor<1x2x9xf32>
  return %c, %e, %h, %k : tensor<?x3x7x8xf32>, tensor<?x?x24xf32>, tensor<4x9xf32>, tensor<1x2x9xf32>
}
