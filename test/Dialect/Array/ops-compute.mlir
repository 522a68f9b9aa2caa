// RUN: xc-opt %s -verify-roundtrip | FileCheck %s

// CHECK-LABEL: func.func @reductions(
func.func @reductions(%x: tensor<4x8xf32>, %p: tensor<4x8xi1>) {
  // CHECK: array.reduce sum, %{{.*}} axes = [1] : tensor<4x8xf32> -> tensor<4xf32>
  %0 = array.reduce sum, %x axes = [1] : tensor<4x8xf32> -> tensor<4xf32>
  // CHECK: array.reduce prod, %{{.*}} axes = [] : tensor<4x8xf32> -> tensor<4x8xf32>
  %1 = array.reduce prod, %x axes = [] : tensor<4x8xf32> -> tensor<4x8xf32>
  // CHECK: array.reduce max, %{{.*}} axes = [0, 1] keepdims : tensor<4x8xf32> -> tensor<1x1xf32>
  %2 = array.reduce max, %x axes = [0, 1] keepdims : tensor<4x8xf32> -> tensor<1x1xf32>
  // CHECK: array.reduce min, %{{.*}} axes = [0, 1] : tensor<4x8xf32> -> tensor<f32>
  %3 = array.reduce min, %x axes = [0, 1] : tensor<4x8xf32> -> tensor<f32>
  // CHECK: array.reduce and,
  %4 = array.reduce and, %p axes = [0] : tensor<4x8xi1> -> tensor<8xi1>
  // CHECK: array.reduce or,
  %5 = array.reduce or, %p axes = [0] : tensor<4x8xi1> -> tensor<8xi1>
  // CHECK: array.mean %{{.*}} axes = [0] keepdims : tensor<4x8xf32> -> tensor<1x8xf32>
  %6 = array.mean %x axes = [0] keepdims : tensor<4x8xf32> -> tensor<1x8xf32>
  // CHECK: array.var %{{.*}} axes = [0] : tensor<4x8xf32> -> tensor<8xf32>
  %7 = array.var %x axes = [0] : tensor<4x8xf32> -> tensor<8xf32>
  // CHECK: array.var %{{.*}} axes = [0] keepdims correction = 1 : tensor<4x8xf32> -> tensor<1x8xf32>
  %8 = array.var %x axes = [0] keepdims correction = 1 : tensor<4x8xf32> -> tensor<1x8xf32>
  // CHECK: array.logsumexp %{{.*}} axes = [1] : tensor<4x8xf32> -> tensor<4xf32>
  %9 = array.logsumexp %x axes = [1] : tensor<4x8xf32> -> tensor<4xf32>
  // CHECK: array.argmax %{{.*}} axis = 1 : tensor<4x8xf32> -> tensor<4xi32>
  %10 = array.argmax %x axis = 1 : tensor<4x8xf32> -> tensor<4xi32>
  // CHECK: array.argmin %{{.*}} axis = 0 keepdims : tensor<4x8xf32> -> tensor<1x8xi64>
  %11 = array.argmin %x axis = 0 keepdims : tensor<4x8xf32> -> tensor<1x8xi64>
  // CHECK: array.cumsum %{{.*}} axis = 1 exclusive reverse : tensor<4x8xf32> -> tensor<4x8xf32>
  %12 = array.cumsum %x axis = 1 exclusive reverse : tensor<4x8xf32> -> tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @products(
func.func @products(%a: tensor<4x8xf32>, %b: tensor<8x16xf32>, %q: tensor<?x1x64x32xf16>,
                    %k: tensor<12x64x32xf16>, %i: tensor<8x8xi8>) {
  // CHECK: array.matmul %{{.*}}, %{{.*}} : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  %0 = array.matmul %a, %b : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  // CHECK: array.matmul %{{.*}}, %{{.*}} transpose_b : (tensor<?x1x64x32xf16>, tensor<12x64x32xf16>) -> tensor<?x12x64x64xf32>
  %1 = array.matmul %q, %k transpose_b : (tensor<?x1x64x32xf16>, tensor<12x64x32xf16>) -> tensor<?x12x64x64xf32>
  // CHECK: array.matmul %{{.*}}, %{{.*}} transpose_a transpose_b : (tensor<8x8xi8>, tensor<8x8xi8>) -> tensor<8x8xi32>
  %2 = array.matmul %i, %i transpose_a transpose_b : (tensor<8x8xi8>, tensor<8x8xi8>) -> tensor<8x8xi32>
  // CHECK: array.matmul %{{.*}}, %{{.*}} allow_tf32 :
  %3 = array.matmul %a, %b allow_tf32 : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  // CHECK: array.dot_general %{{.*}}, %{{.*}} batch = [0] x [1] contract = [1] x [0] : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4xf32>
  %t = array.transpose %a permutation = [1, 0] : tensor<4x8xf32> -> tensor<8x4xf32>
  %4 = array.dot_general %a, %t batch = [0] x [1] contract = [1] x [0] : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4xf32>
  // CHECK: array.dot_general %{{.*}}, %{{.*}} batch = [] x [] contract = [] x [] allow_tf32 :
  %5 = array.dot_general %a, %b batch = [] x [] contract = [] x [] allow_tf32 : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x8x8x16xf32>
  return
}

// CHECK-LABEL: func.func @indexing(
func.func @indexing(%x: tensor<4x5x6xf32>, %i: tensor<2x3xi32>, %v: tensor<7x2xi64>, %u: tensor<7x5xf32>, %j: tensor<4x1x6xui8>) {
  // CHECK: array.take %{{.*}}[%{{.*}}] axis = 1 : (tensor<4x5x6xf32>, tensor<2x3xi32>) -> tensor<4x2x3x6xf32>
  %0 = array.take %x[%i] axis = 1 : (tensor<4x5x6xf32>, tensor<2x3xi32>) -> tensor<4x2x3x6xf32>
  // CHECK: array.take_along_axis %{{.*}}[%{{.*}}] axis = 1 : (tensor<4x5x6xf32>, tensor<4x1x6xui8>) -> tensor<4x1x6xf32>
  %1 = array.take_along_axis %x[%j] axis = 1 : (tensor<4x5x6xf32>, tensor<4x1x6xui8>) -> tensor<4x1x6xf32>
  // CHECK: array.gather %{{.*}}[%{{.*}}] axes = [0, 2] : (tensor<4x5x6xf32>, tensor<7x2xi64>) -> tensor<7x5xf32>
  %2 = array.gather %x[%v] axes = [0, 2] : (tensor<4x5x6xf32>, tensor<7x2xi64>) -> tensor<7x5xf32>
  // CHECK: array.scatter add, %{{.*}}[%{{.*}}] axes = [0, 2] = %{{.*}} : (tensor<4x5x6xf32>, tensor<7x2xi64>, tensor<7x5xf32>) -> tensor<4x5x6xf32>
  %3 = array.scatter add, %x[%v] axes = [0, 2] = %u : (tensor<4x5x6xf32>, tensor<7x2xi64>, tensor<7x5xf32>) -> tensor<4x5x6xf32>
  // CHECK: array.scatter set, %{{.*}} unique :
  %4 = array.scatter set, %x[%v] axes = [0, 2] = %u unique : (tensor<4x5x6xf32>, tensor<7x2xi64>, tensor<7x5xf32>) -> tensor<4x5x6xf32>
  // CHECK: array.scatter max,
  %5 = array.scatter max, %x[%v] axes = [0, 2] = %u : (tensor<4x5x6xf32>, tensor<7x2xi64>, tensor<7x5xf32>) -> tensor<4x5x6xf32>
  // CHECK: array.scatter min,
  %6 = array.scatter min, %x[%v] axes = [0, 2] = %u : (tensor<4x5x6xf32>, tensor<7x2xi64>, tensor<7x5xf32>) -> tensor<4x5x6xf32>
  // CHECK: array.scatter mul,
  %7 = array.scatter mul, %x[%v] axes = [0, 2] = %u : (tensor<4x5x6xf32>, tensor<7x2xi64>, tensor<7x5xf32>) -> tensor<4x5x6xf32>
  // CHECK: array.one_hot %{{.*}} depth = 10 : tensor<2x3xi32> -> tensor<2x3x10xi1>
  %8 = array.one_hot %i depth = 10 : tensor<2x3xi32> -> tensor<2x3x10xi1>
  return
}

// CHECK-LABEL: func.func @composites(
func.func @composites(%x: tensor<?x8xf32>, %g: tensor<8xf32>) {
  // CHECK: array.softmax %{{.*}} axis = 1 : tensor<?x8xf32>
  %0 = array.softmax %x axis = 1 : tensor<?x8xf32>
  // CHECK: array.log_softmax %{{.*}} axis = 0 : tensor<?x8xf32>
  %1 = array.log_softmax %x axis = 0 : tensor<?x8xf32>
  // CHECK: array.layer_norm %{{.*}} axis = 1 epsilon = 1.000000e-05 : tensor<?x8xf32>
  %2 = array.layer_norm %x axis = 1 epsilon = 1.0e-5 : tensor<?x8xf32>
  // CHECK: array.layer_norm %{{.*}} scale(%[[G:.*]] : tensor<8xf32>) bias(%[[G]] : tensor<8xf32>) axis = 1 epsilon
  %3 = array.layer_norm %x scale(%g : tensor<8xf32>) bias(%g : tensor<8xf32>) axis = 1 epsilon = 1.0e-5 : tensor<?x8xf32>
  // CHECK: array.layer_norm %{{.*}} bias(%{{.*}} : tensor<8xf32>) axis = 1 epsilon
  %4 = array.layer_norm %x bias(%g : tensor<8xf32>) axis = 1 epsilon = 1.0e-5 : tensor<?x8xf32>
  // CHECK: array.rms_norm %{{.*}} scale(%{{.*}} : tensor<8xf32>) axis = 1 epsilon = {{[0-9.E-]+}} : tensor<?x8xf32>
  %5 = array.rms_norm %x scale(%g : tensor<8xf32>) axis = 1 epsilon = 1.0e-6 : tensor<?x8xf32>
  // CHECK: array.rms_norm %{{.*}} axis = 0 epsilon
  %6 = array.rms_norm %x axis = 0 epsilon = 1.0e-6 : tensor<?x8xf32>
  // CHECK: array.batch_norm_inference %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} axis = 1 epsilon =
  %7 = array.batch_norm_inference %x, %g, %g, %g, %g axis = 1 epsilon = 1.0e-5
     : (tensor<?x8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  // CHECK: array.batch_norm_training %{{.*}}, %{{.*}}, %{{.*}} axis = 1 epsilon =
  %8:3 = array.batch_norm_training %x, %g, %g axis = 1 epsilon = 1.0e-5
     : (tensor<?x8xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<?x8xf32>, tensor<8xf32>, tensor<8xf32>)
  return
}

// CHECK-LABEL: func.func @positions_and_images(
func.func @positions_and_images(%q: tensor<1x8x?x64xf16>, %p: tensor<?xi32>, %image: tensor<?x8x8x3xf32>) {
  // CHECK: array.rope %{{.*}}, %{{.*}} base = 1.000000e+04 : (tensor<1x8x?x64xf16>, tensor<?xi32>) -> tensor<1x8x?x64xf16>
  %0 = array.rope %q, %p base = 1.0e4 : (tensor<1x8x?x64xf16>, tensor<?xi32>) -> tensor<1x8x?x64xf16>
  // CHECK: array.rope %{{.*}}, %{{.*}} base = 5.000000e+05 interleaved :
  %1 = array.rope %q, %p base = 5.0e5 interleaved : (tensor<1x8x?x64xf16>, tensor<?xi32>) -> tensor<1x8x?x64xf16>
  // CHECK: array.resize linear, %{{.*}} axes = [1, 2] sizes = [16, 4] : tensor<?x8x8x3xf32> -> tensor<?x16x4x3xf32>
  %2 = array.resize linear, %image axes = [1, 2] sizes = [16, 4] : tensor<?x8x8x3xf32> -> tensor<?x16x4x3xf32>
  // CHECK: array.resize nearest, %{{.*}} axes = [1] sizes = [16] align_corners :
  %3 = array.resize nearest, %image axes = [1] sizes = [16] align_corners : tensor<?x8x8x3xf32> -> tensor<?x16x8x3xf32>
  %n = array.dim %p, 0 : tensor<?xi32>
  // CHECK: array.resize linear, %{{.*}} axes = [1, 2] sizes = [%{{.*}}, 4] : tensor<?x8x8x3xf32> -> tensor<?x?x4x3xf32>
  %4 = array.resize linear, %image axes = [1, 2] sizes = [%n, 4] : tensor<?x8x8x3xf32> -> tensor<?x?x4x3xf32>
  return
}

// CHECK-LABEL: func.func @grouped_matmul(
func.func @grouped_matmul(%x: tensor<?x64xf16>, %w: tensor<8x128x64xf16>, %n: tensor<8xi64>, %v: tensor<?x64x32xf16>, %m: tensor<?xi64>) {
  // CHECK: array.grouped_matmul %{{.*}}, %{{.*}}, %{{.*}} transpose_b : (tensor<?x64xf16>, tensor<8x128x64xf16>, tensor<8xi64>) -> tensor<?x128xf32>
  %0 = array.grouped_matmul %x, %w, %n transpose_b : (tensor<?x64xf16>, tensor<8x128x64xf16>, tensor<8xi64>) -> tensor<?x128xf32>
  // CHECK: array.grouped_matmul %{{.*}}, %{{.*}}, %{{.*}} : (tensor<?x64xf16>, tensor<?x64x32xf16>, tensor<?xi64>) -> tensor<?x32xf16>
  %1 = array.grouped_matmul %x, %v, %m : (tensor<?x64xf16>, tensor<?x64x32xf16>, tensor<?xi64>) -> tensor<?x32xf16>
  return
}

// CHECK-LABEL: func.func @positions(
func.func @positions(%p: tensor<2x?xi32>, %q: tensor<?xi32>) {
  // CHECK: array.sinusoidal %{{.*}} size = 64 base = 1.000000e+04 interleaved : tensor<2x?xi32> -> tensor<2x?x64xf16>
  %0 = array.sinusoidal %p size = 64 base = 1.0e4 interleaved : tensor<2x?xi32> -> tensor<2x?x64xf16>
  // CHECK: array.alibi %{{.*}}, %{{.*}} heads = 12 : (tensor<?xi32>, tensor<?xi32>) -> tensor<12x?x?xf32>
  %1 = array.alibi %q, %q heads = 12 : (tensor<?xi32>, tensor<?xi32>) -> tensor<12x?x?xf32>
  return
}

// CHECK-LABEL: func.func @reduce_with(
func.func @reduce_with(%x: tensor<4x?xf32>, %p: tensor<4x?xi1>) {
  // CHECK: array.reduce_with %{{.*}}, %{{.*}} axes = [1] init = [0.000000e+00 : f32, false] keepdims
  // CHECK-SAME: : (tensor<4x?xf32>, tensor<4x?xi1>) -> (tensor<4x1xf32>, tensor<4x1xi1>) {
  // CHECK-NEXT: ^bb0(%{{.*}}: tensor<f32>, %{{.*}}: tensor<i1>, %{{.*}}: tensor<f32>, %{{.*}}: tensor<i1>):
  // CHECK: array.yield %{{.*}}, %{{.*}} : tensor<f32>, tensor<i1>
  %0, %1 = array.reduce_with %x, %p axes = [1] init = [0.0 : f32, false] keepdims
      : (tensor<4x?xf32>, tensor<4x?xi1>) -> (tensor<4x1xf32>, tensor<4x1xi1>) {
  ^bb0(%a: tensor<f32>, %b: tensor<i1>, %c: tensor<f32>, %d: tensor<i1>):
    %s = array.add %a, %c : tensor<f32>
    %o = array.or %b, %d : tensor<i1>
    array.yield %s, %o : tensor<f32>, tensor<i1>
  }
  return
}
