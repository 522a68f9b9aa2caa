// RUN: xc-opt %s -split-input-file -xc-array-recognize | FileCheck %s

// The gradient of a variance by its mean, as JAX leaves it: the mean in f32 of bf16 elements, a number for each feature.
// CHECK-LABEL: func.func @distances
// CHECK:         %[[ZERO:.*]] = array.constant dense<0.0{{.*}}> : tensor<f32>
// CHECK:         %[[Z:.*]] = array.broadcast_in_dim %[[ZERO]] axes = [] : tensor<f32> -> tensor<16xf32>
// CHECK-NEXT:    return %[[Z]]
func.func @distances(%x: tensor<8x4x16xbf16>, %g: tensor<16xf32>) -> tensor<16xf32> {
  %n = array.constant dense<32.0> : tensor<1x1x16xf32>
  %two = array.constant dense<2.0> : tensor<8x4x16xf32>
  %w = array.convert %x : tensor<8x4x16xbf16> -> tensor<8x4x16xf32>
  %s = array.reduce sum, %w axes = [0, 1] keepdims : tensor<8x4x16xf32> -> tensor<1x1x16xf32>
  %m = array.div %s, %n : tensor<1x1x16xf32>
  %b = array.broadcast_in_dim %m axes = [0, 1, 2] : tensor<1x1x16xf32> -> tensor<8x4x16xf32>
  %d = array.sub %w, %b : tensor<8x4x16xf32>
  %t = array.mul %two, %d : tensor<8x4x16xf32>
  %f = array.broadcast_in_dim %g axes = [2] : tensor<16xf32> -> tensor<8x4x16xf32>
  %p = array.mul %f, %t : tensor<8x4x16xf32>
  %q = array.neg %p : tensor<8x4x16xf32>
  %r = array.reduce sum, %q axes = [0, 1] : tensor<8x4x16xf32> -> tensor<16xf32>
  return %r : tensor<16xf32>
}

// -----

// Without a factor, which a program may correct its mean by; a factor for each element; the mean over other dims; a sum over others.
// CHECK-LABEL: func.func @other_sums
// CHECK-COUNT-6: array.reduce sum
func.func @other_sums(%x: tensor<8x8xf32>, %g: tensor<8xf32>, %h: tensor<8x8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %n = array.constant dense<8.0> : tensor<1x8xf32>
  %s = array.reduce sum, %x axes = [0] keepdims : tensor<8x8xf32> -> tensor<1x8xf32>
  %m = array.div %s, %n : tensor<1x8xf32>
  %d = array.sub %x, %m : (tensor<8x8xf32>, tensor<1x8xf32>) -> tensor<8x8xf32>
  %r0 = array.reduce sum, %d axes = [0] : tensor<8x8xf32> -> tensor<8xf32>
  %p1 = array.mul %d, %h : tensor<8x8xf32>
  %r1 = array.reduce sum, %p1 axes = [0] : tensor<8x8xf32> -> tensor<8xf32>
  %p2 = array.mul %d, %g : (tensor<8x8xf32>, tensor<8xf32>) -> tensor<8x8xf32>
  %r2 = array.reduce sum, %p2 axes = [1] : tensor<8x8xf32> -> tensor<8xf32>
  %k = array.constant dense<8.0> : tensor<8x1xf32>
  %t = array.reduce sum, %x axes = [1] keepdims : tensor<8x8xf32> -> tensor<8x1xf32>
  %l = array.div %t, %k : tensor<8x1xf32>
  %e = array.sub %x, %l : (tensor<8x8xf32>, tensor<8x1xf32>) -> tensor<8x8xf32>
  %p3 = array.mul %e, %g : (tensor<8x8xf32>, tensor<8xf32>) -> tensor<8x8xf32>
  %r3 = array.reduce sum, %p3 axes = [0] : tensor<8x8xf32> -> tensor<8xf32>
  return %r0, %r1, %r2, %r3 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// -----

// The sum of multiples is a multiple of the sum that is there: so the gradient of a mean is one of that of a bias.
// CHECK: array.recognized = {"sum of multiples" = 1 : i64}
// CHECK-LABEL: func.func @multiples
// CHECK-SAME:    %[[G:.*]]: tensor<8x16x4xbf16>, %[[SCALE:.*]]: tensor<1x1x4xf32>, %[[N:.*]]: tensor<4xf32>
// CHECK:         %[[SUM:.*]] = array.reduce sum, %{{.*}} axes = [0, 1] : tensor<8x16x4xf32> -> tensor<4xf32>
// CHECK-NOT:     array.reduce
// CHECK:         %[[S:.*]] = array.squeeze %[[SCALE]] axes = [0, 1]
// CHECK:         %[[M:.*]] = array.mul %[[SUM]], %[[S]]
// CHECK:         %[[D:.*]] = array.div %[[M]], %[[N]]
// CHECK:         %[[R:.*]] = array.neg %[[D]]
// CHECK:         return %[[SUM]], %[[R]]
func.func @multiples(%g: tensor<8x16x4xbf16>, %scale: tensor<1x1x4xf32>, %n: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %w = array.convert %g : tensor<8x16x4xbf16> -> tensor<8x16x4xf32>
  %sum = array.reduce sum, %w axes = [0, 1] : tensor<8x16x4xf32> -> tensor<4xf32>
  %all = array.broadcast_in_dim %scale axes = [0, 1, 2] : tensor<1x1x4xf32> -> tensor<8x16x4xf32>
  %m = array.mul %all, %w : tensor<8x16x4xf32>
  %d = array.div %m, %n : (tensor<8x16x4xf32>, tensor<4xf32>) -> tensor<8x16x4xf32>
  %neg = array.neg %d : tensor<8x16x4xf32>
  %other = array.reduce sum, %neg axes = [0, 1] : tensor<8x16x4xf32> -> tensor<4xf32>
  return %sum, %other : tensor<4xf32>, tensor<4xf32>
}

// -----

// The numbers differ along what is summed up; and there is no sum of what is multiplied.
// CHECK-LABEL: func.func @no_multiples
// CHECK-COUNT-3: array.reduce sum
func.func @no_multiples(%g: tensor<8x4xf32>, %h: tensor<8x4xf32>, %rows: tensor<8x1xf32>, %scale: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %sum = array.reduce sum, %g axes = [0] : tensor<8x4xf32> -> tensor<4xf32>
  %m = array.mul %g, %rows : (tensor<8x4xf32>, tensor<8x1xf32>) -> tensor<8x4xf32>
  %other = array.reduce sum, %m axes = [0] : tensor<8x4xf32> -> tensor<4xf32>
  %k = array.mul %h, %scale : (tensor<8x4xf32>, tensor<4xf32>) -> tensor<8x4xf32>
  %last = array.reduce sum, %k axes = [0] : tensor<8x4xf32> -> tensor<4xf32>
  return %sum, %other, %last : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
