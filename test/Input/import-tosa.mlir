// RUN: xc-opt %s -xc-import-tosa -split-input-file -verify-diagnostics | FileCheck %s --implicit-check-not=tosa.

// CHECK-LABEL: func.func @elementwise(
// CHECK-SAME:    %[[A:.*]]: tensor<?x4xf32>, %[[B:.*]]: tensor<1x4xf32>)
// CHECK:         %[[S:.*]] = array.add %[[A]], %[[B]] : (tensor<?x4xf32>, tensor<1x4xf32>) -> tensor<?x4xf32>
// CHECK:         %[[T:.*]] = array.tanh %[[S]] : tensor<?x4xf32>
// CHECK:         %[[G:.*]] = array.compare ge, %[[T]], %[[A]]
// CHECK:         %[[R:.*]] = array.select %[[G]], %[[T]], %[[B]]
// CHECK:         return %[[R]]
func.func @elementwise(%a: tensor<?x4xf32>, %b: tensor<1x4xf32>) -> tensor<?x4xf32> {
  %s = tosa.add %a, %b : (tensor<?x4xf32>, tensor<1x4xf32>) -> tensor<?x4xf32>
  %t = tosa.tanh %s : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %g = tosa.greater_equal %t, %a : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xi1>
  %r = tosa.select %g, %t, %b : (tensor<?x4xi1>, tensor<?x4xf32>, tensor<1x4xf32>) -> tensor<?x4xf32>
  return %r : tensor<?x4xf32>
}

// -----

// A float becomes the nearest integer, not the one towards zero.
// CHECK-LABEL: func.func @casts(
// CHECK:         %[[R:.*]] = array.round %{{.*}} : tensor<4xf32>
// CHECK:         array.convert %[[R]] : tensor<4xf32> -> tensor<4xi8>
func.func @casts(%x: tensor<4xf32>) -> tensor<4xi8> {
  %y = tosa.cast %x : (tensor<4xf32>) -> tensor<4xi8>
  return %y : tensor<4xi8>
}

// -----

// What a NaN does in a maximum.
// CHECK-LABEL: func.func @nans(
// CHECK-SAME:    %[[X:.*]]: tensor<4x5xf32>)
// CHECK:         array.reduce max, %[[X]] axes = [1] keepdims
// CHECK:         %[[NAN:.*]] = array.is_nan %[[X]]
// CHECK:         %[[NUMBERS:.*]] = array.select %[[NAN]], %{{.*}}, %[[X]]
// CHECK:         %[[ALL:.*]] = array.reduce and, %[[NAN]] axes = [1] keepdims
// CHECK:         %[[MAX:.*]] = array.reduce max, %[[NUMBERS]] axes = [1] keepdims
// CHECK:         array.select %[[ALL]], %{{.*}}, %[[MAX]]
func.func @nans(%x: tensor<4x5xf32>) -> (tensor<4x1xf32>, tensor<4x1xf32>) {
  %a = tosa.reduce_max %x {axis = 1 : i32} : (tensor<4x5xf32>) -> tensor<4x1xf32>
  %b = tosa.reduce_max %x {axis = 1 : i32, nan_mode = IGNORE} : (tensor<4x5xf32>) -> tensor<4x1xf32>
  return %a, %b : tensor<4x1xf32>, tensor<4x1xf32>
}

// -----

// Channels stay last; the filter is O x H x W x I.
// CHECK-LABEL: func.func @conv(
// CHECK:         %[[C:.*]] = array.conv %{{.*}}, %{{.*}} dims = <[b, 0, 1, f] x [o, 0, 1, i] -> [b, 0, 1, f]> strides = [2, 1] low = [1, 0] high = [1, 2] filter_dilation = [1, 1]
// CHECK-SAME:      : (tensor<1x9x8x3xf32>, tensor<4x3x3x3xf32>) -> tensor<1x5x8x4xf32>
// CHECK:         array.add %[[C]], %{{.*}} : (tensor<1x5x8x4xf32>, tensor<4xf32>) -> tensor<1x5x8x4xf32>
func.func @conv(%x: tensor<1x9x8x3xf32>, %w: tensor<4x3x3x3xf32>, %b: tensor<4xf32>) -> tensor<1x5x8x4xf32> {
  %zp = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %y = tosa.conv2d %x, %w, %b, %zp, %zp {acc_type = f32, pad = array<i64: 1, 1, 0, 2>, stride = array<i64: 2, 1>, dilation = array<i64: 1, 1>}
     : (tensor<1x9x8x3xf32>, tensor<4x3x3x3xf32>, tensor<4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x5x8x4xf32>
  return %y : tensor<1x5x8x4xf32>
}

// -----

// CHECK-LABEL: func.func @depthwise(
// CHECK:         %[[W:.*]] = array.reshape %{{.*}} : tensor<3x3x4x2xf32> -> tensor<3x3x1x8xf32>
// CHECK:         array.conv %{{.*}}, %[[W]] dims = <[b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f]>
// CHECK-SAME:      feature_groups = 4
func.func @depthwise(%x: tensor<1x9x8x4xf32>, %w: tensor<3x3x4x2xf32>, %b: tensor<8xf32>) -> tensor<1x7x6x8xf32> {
  %zp = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %y = tosa.depthwise_conv2d %x, %w, %b, %zp, %zp {acc_type = f32, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>}
     : (tensor<1x9x8x4xf32>, tensor<3x3x4x2xf32>, tensor<8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x7x6x8xf32>
  return %y : tensor<1x7x6x8xf32>
}

// -----

// CHECK-LABEL: func.func @transposed(
// CHECK:         %[[W:.*]] = array.reverse %{{.*}} axes = [1, 2]
// CHECK:         array.conv %{{.*}}, %[[W]] {{.*}} low = [2, 1] high = [2, 2] input_dilation = [2, 2]
func.func @transposed(%x: tensor<1x4x4x3xf32>, %w: tensor<2x3x3x3xf32>, %b: tensor<2xf32>) -> tensor<1x9x8x2xf32> {
  %zp = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %y = tosa.transpose_conv2d %x, %w, %b, %zp, %zp {acc_type = f32, out_pad = array<i64: 0, 0, -1, 0>, stride = array<i64: 2, 2>}
     : (tensor<1x4x4x3xf32>, tensor<2x3x3x3xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x9x8x2xf32>
  return %y : tensor<1x9x8x2xf32>
}

// -----

// Zero points are taken off in 32 bits.
// CHECK-LABEL: func.func @quantized(
// CHECK-SAME:    %[[A:.*]]: tensor<1x4x8xi8>, %[[B:.*]]: tensor<1x8x2xi8>)
// CHECK:         %[[WIDE:.*]] = array.convert %[[A]] : tensor<1x4x8xi8> -> tensor<1x4x8xi32>
// CHECK:         %[[OFF:.*]] = array.sub %[[WIDE]], %{{.*}} : (tensor<1x4x8xi32>, tensor<i32>) -> tensor<1x4x8xi32>
// CHECK:         %[[RIGHT:.*]] = array.convert %[[B]] : tensor<1x8x2xi8> -> tensor<1x8x2xi32>
// CHECK:         array.matmul %[[OFF]], %[[RIGHT]]
func.func @quantized(%a: tensor<1x4x8xi8>, %b: tensor<1x8x2xi8>) -> tensor<1x4x2xi32> {
  %three = "tosa.const"() <{values = dense<3> : tensor<1xi8>}> : () -> tensor<1xi8>
  %zero = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %c = tosa.matmul %a, %b, %three, %zero : (tensor<1x4x8xi8>, tensor<1x8x2xi8>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x4x2xi32>
  return %c : tensor<1x4x2xi32>
}

// -----

// CHECK-LABEL: func.func @movement(
// CHECK:         %[[R:.*]] = array.reshape %{{.*}} : tensor<2x6xf32> -> tensor<3x4xf32>
// CHECK:         %[[S:.*]] = array.slice %[[R]] [1:3, :2] : tensor<3x4xf32> -> tensor<2x2xf32>
// CHECK:         %[[P:.*]] = array.pad %[[S]], %{{.*}} low = [1, 0] high = [0, 2]
// CHECK:         array.tile %[[P]] repeats = [1, 2]
func.func @movement(%x: tensor<2x6xf32>) -> tensor<3x8xf32> {
  %shape = tosa.const_shape {values = dense<[3, 4]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %start = tosa.const_shape {values = dense<[1, 0]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %size = tosa.const_shape {values = dense<[2, 2]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %padding = tosa.const_shape {values = dense<[1, 0, 0, 2]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %multiples = tosa.const_shape {values = dense<[1, 2]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %with = "tosa.const"() <{values = dense<3.5> : tensor<1xf32>}> : () -> tensor<1xf32>
  %r = tosa.reshape %x, %shape : (tensor<2x6xf32>, !tosa.shape<2>) -> tensor<3x4xf32>
  %s = tosa.slice %r, %start, %size : (tensor<3x4xf32>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<2x2xf32>
  %p = tosa.pad %s, %padding, %with : (tensor<2x2xf32>, !tosa.shape<4>, tensor<1xf32>) -> tensor<3x4xf32>
  %t = tosa.tile %p, %multiples : (tensor<3x4xf32>, !tosa.shape<2>) -> tensor<3x8xf32>
  return %t : tensor<3x8xf32>
}

// -----

// CHECK:       array.variable @v : tensor<4xf32> = dense<1.000000e+00>
tosa.variable @v = dense<1.0> : tensor<4xf32>
// CHECK-LABEL: func.func @control(
// CHECK-SAME:    %[[P:.*]]: tensor<i1>, %[[X:.*]]: tensor<4xf32>)
// CHECK:         %[[R:.*]] = array.if %[[P]] : tensor<i1> -> (tensor<4xf32>) {
// CHECK:           %[[V:.*]] = array.variable.read @v : tensor<4xf32>
// CHECK:           %[[S:.*]] = array.add %[[X]], %[[V]]
// CHECK:           array.yield %[[S]]
// CHECK:         } else {
// CHECK:           array.yield %[[X]]
// CHECK:         }
// CHECK:         array.variable.assign @v, %[[R]]
// CHECK:         %[[L:.*]] = array.while %{{.*}} : (tensor<i32>) -> tensor<i32> condition {
// CHECK:         return %[[L]]
func.func @control(%p: tensor<i1>, %x: tensor<4xf32>) -> tensor<i32> {
  %r = tosa.cond_if %p (%in = %x) : tensor<i1> (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    %v = tosa.variable_read @v : tensor<4xf32>
    %s = tosa.add %a, %v : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    tosa.yield %s : tensor<4xf32>
  } else {
  ^bb0(%a: tensor<4xf32>):
    tosa.yield %a : tensor<4xf32>
  }
  tosa.variable_write @v, %r : tensor<4xf32>
  %zero = "tosa.const"() <{values = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %five = "tosa.const"() <{values = dense<5> : tensor<i32>}> : () -> tensor<i32>
  %n = tosa.while_loop (%i = %zero) : (tensor<i32>) -> tensor<i32> {
    %more = tosa.greater %five, %i : (tensor<i32>, tensor<i32>) -> tensor<i1>
    tosa.yield %more : tensor<i1>
  } do {
  ^bb0(%i: tensor<i32>):
    %one = "tosa.const"() <{values = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %j = tosa.add %i, %one : (tensor<i32>, tensor<i32>) -> tensor<i32>
    tosa.yield %j : tensor<i32>
  }
  return %n : tensor<i32>
}

// -----

// A transform along rows and one along columns, as products with matrices of roots of unity from tables.
// CHECK-LABEL: func.func @fourier(
// CHECK:         %[[NUMBER:.*]] = array.rem
// CHECK:         %[[COS:.*]] = array.take %{{.*}}[%[[NUMBER]]] axis = 0 : (tensor<8xf32>, tensor<8x5xi64>) -> tensor<8x5xf32>
// CHECK:         %[[SIN:.*]] = array.take
// CHECK:         array.matmul %{{.*}}, %[[COS]] : (tensor<1x4x8xf32>, tensor<8x5xf32>) -> tensor<1x4x5xf32>
// CHECK:         array.matmul %{{.*}}, %[[SIN]]
// CHECK-COUNT-4: array.matmul {{.*}} : (tensor<4x4xf32>, tensor<1x4x5xf32>) -> tensor<1x4x5xf32>
func.func @fourier(%x: tensor<1x4x8xf32>) -> (tensor<1x4x5xf32>, tensor<1x4x5xf32>) {
  %r, %i = tosa.rfft2d %x : (tensor<1x4x8xf32>) -> (tensor<1x4x5xf32>, tensor<1x4x5xf32>)
  return %r, %i : tensor<1x4x5xf32>, tensor<1x4x5xf32>
}

// -----

// Sums in i32, times reciprocals of the numbers of elements.
// CHECK-LABEL: func.func @integer_pool(
// CHECK:         array.reduce_window sum, %{{.*}} : tensor<1x4x4x2xi32> -> tensor<1x2x2x2xi32>
// CHECK:         array.shift_right_arithmetic {{.*}} (tensor<1x2x2x2xi64>, tensor<2x2x1xi64>)
// CHECK:         array.clamp
// CHECK:         array.convert {{.*}} -> tensor<1x2x2x2xi8>
func.func @integer_pool(%x: tensor<1x4x4x2xi8>) -> tensor<1x2x2x2xi8> {
  %zp = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %y = tosa.avg_pool2d %x, %zp, %zp {kernel = array<i64: 2, 2>, stride = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, acc_type = i32}
     : (tensor<1x4x4x2xi8>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x2x2x2xi8>
  return %y : tensor<1x2x2x2xi8>
}

// -----

// CHECK-LABEL: func.func @unsigned_rescale(
// CHECK:         array.bitcast %{{.*}} : tensor<4xi8> -> tensor<4xui8>
// CHECK:         array.convert {{.*}} : tensor<4xui8> -> tensor<4xi64>
func.func @unsigned_rescale(%x: tensor<4xi8>) -> tensor<4xi8> {
  %m = "tosa.const"() <{values = dense<1073741824> : tensor<1xi32>}> : () -> tensor<1xi32>
  %s = "tosa.const"() <{values = dense<30> : tensor<1xi8>}> : () -> tensor<1xi8>
  %from = "tosa.const"() <{values = dense<-128> : tensor<1xi8>}> : () -> tensor<1xi8>
  %to = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %y = tosa.rescale %x, %m, %s, %from, %to {rounding_mode = SINGLE_ROUND, scale32 = true, per_channel = false, input_unsigned = true, output_unsigned = false}
     : (tensor<4xi8>, tensor<1xi32>, tensor<1xi8>, tensor<1xi8>, tensor<1xi8>) -> tensor<4xi8>
  return %y : tensor<4xi8>
}

// -----

// CHECK-LABEL: func.func @scale(
// CHECK:         %[[VALUE:.*]] = array.convert %{{.*}} : tensor<4xi32> -> tensor<4xi64>
// CHECK:         array.mul %[[VALUE]],
// CHECK:         array.shift_right_arithmetic {{.*}} tensor<4xi64>
// CHECK:         array.convert {{.*}} : tensor<4xi64> -> tensor<4xi32>
func.func @scale(%x: tensor<4xi32>, %m: tensor<4xi32>, %s: tensor<4xi8>) -> tensor<4xi32> {
  %y = tosa.apply_scale %x, %m, %s {rounding_mode = DOUBLE_ROUND} : (tensor<4xi32>, tensor<4xi32>, tensor<4xi8>) -> tensor<4xi32>
  return %y : tensor<4xi32>
}

// -----

// CHECK-LABEL: func.func @leading_zeros(
// CHECK-COUNT-5: array.shift_right_logical
// CHECK:         array.sub
func.func @leading_zeros(%x: tensor<4xi32>) -> tensor<4xi32> {
  %y = tosa.clz %x : (tensor<4xi32>) -> tensor<4xi32>
  return %y : tensor<4xi32>
}

// -----

func.func @no_array_op(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'tosa.custom' is not supported; there are no array ops that compute it}}
  %y = tosa.custom %x {operator_name = "swish", domain_name = "mine", implementation_attrs = ""} : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @transform_of_unknown_size(%x: tensor<1x4x?xf32>) -> (tensor<1x4x?xf32>, tensor<1x4x?xf32>) {
  // expected-error @+1 {{'tosa.fft2d' has an image of unknown height or width, 'tensor<1x4x?xf32>'}}
  %r, %i = tosa.fft2d %x, %x {inverse = false} : (tensor<1x4x?xf32>, tensor<1x4x?xf32>) -> (tensor<1x4x?xf32>, tensor<1x4x?xf32>)
  return %r, %i : tensor<1x4x?xf32>, tensor<1x4x?xf32>
}

// -----

func.func @integer_pool_of_unknown_size(%x: tensor<1x?x4x2xi8>) -> tensor<1x?x2x2xi8> {
  %zp = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  // expected-error @+1 {{'tosa.avg_pool2d' of integers has an image of unknown height or width, 'tensor<1x?x4x2xi8>'}}
  %y = tosa.avg_pool2d %x, %zp, %zp {kernel = array<i64: 2, 2>, stride = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, acc_type = i32}
     : (tensor<1x?x4x2xi8>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x?x2x2xi8>
  return %y : tensor<1x?x2x2xi8>
}

// -----

func.func @computed_pool_zero_point(%x: tensor<1x4x4x2xi8>, %zp: tensor<1xi8>) -> tensor<1x2x2x2xi8> {
  // expected-error @+1 {{'tosa.avg_pool2d' has zero points that are not constants}}
  %y = tosa.avg_pool2d %x, %zp, %zp {kernel = array<i64: 2, 2>, stride = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, acc_type = i32}
     : (tensor<1x4x4x2xi8>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x2x2x2xi8>
  return %y : tensor<1x2x2x2xi8>
}

// -----

func.func @computed_shift(%x: tensor<4xi32>, %s: tensor<1xi8>) -> tensor<4xi32> {
  // expected-error @+1 {{'tosa.mul' has a computed shift; expected a constant}}
  %y = tosa.mul %x, %x, %s : (tensor<4xi32>, tensor<4xi32>, tensor<1xi8>) -> tensor<4xi32>
  return %y : tensor<4xi32>
}

// -----

func.func @computed_negate_zero_point(%x: tensor<4xi8>, %zp: tensor<1xi8>) -> tensor<4xi8> {
  // expected-error @+1 {{'tosa.negate' has zero points that are not constants}}
  %y = tosa.negate %x, %zp, %zp : (tensor<4xi8>, tensor<1xi8>, tensor<1xi8>) -> tensor<4xi8>
  return %y : tensor<4xi8>
}

// -----

func.func @computed_product_zero_point(%x: tensor<1x4x4xi8>, %zp: tensor<1xi8>) -> tensor<1x4x4xi32> {
  // expected-error @+1 {{'tosa.matmul' has zero points that are not constants}}
  %y = tosa.matmul %x, %x, %zp, %zp : (tensor<1x4x4xi8>, tensor<1x4x4xi8>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x4x4xi32>
  return %y : tensor<1x4x4xi32>
}

// -----

func.func @computed_rescale_zero_point(%x: tensor<4xi8>, %m: tensor<1xi32>, %s: tensor<1xi8>, %zp: tensor<1xi8>) -> tensor<4xi8> {
  // expected-error @+1 {{'tosa.rescale' has zero points that are not constants}}
  %y = tosa.rescale %x, %m, %s, %zp, %zp {rounding_mode = SINGLE_ROUND, scale32 = true, per_channel = false, input_unsigned = false, output_unsigned = false}
     : (tensor<4xi8>, tensor<1xi32>, tensor<1xi8>, tensor<1xi8>, tensor<1xi8>) -> tensor<4xi8>
  return %y : tensor<4xi8>
}

// -----

func.func @computed_convolution_zero_point(%x: tensor<1x4x4x2xi8>, %w: tensor<3x1x1x2xi8>, %b: tensor<3xi32>, %zp: tensor<1xi8>) -> tensor<1x4x4x3xi32> {
  // expected-error @+1 {{'tosa.conv2d' has zero points that are not constants}}
  %y = tosa.conv2d %x, %w, %b, %zp, %zp {acc_type = i32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}
     : (tensor<1x4x4x2xi8>, tensor<3x1x1x2xi8>, tensor<3xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x4x4x3xi32>
  return %y : tensor<1x4x4x3xi32>
}

// -----

func.func @depthwise_filter_of_unknown_size(%x: tensor<1x4x4x2xf32>, %w: tensor<?x1x2x1xf32>, %b: tensor<2xf32>) -> tensor<1x?x4x2xf32> {
  %zp = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  // expected-error @+1 {{'tosa.depthwise_conv2d' has a filter of unknown size, 'tensor<?x1x2x1xf32>'}}
  %y = tosa.depthwise_conv2d %x, %w, %b, %zp, %zp {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}
     : (tensor<1x4x4x2xf32>, tensor<?x1x2x1xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x?x4x2xf32>
  return %y : tensor<1x?x4x2xf32>
}

// -----

func.func @transposed_filter_of_unknown_size(%x: tensor<1x4x4x2xf32>, %w: tensor<3x?x1x2xf32>, %b: tensor<3xf32>) -> tensor<1x?x4x3xf32> {
  %zp = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  // expected-error @+1 {{'tosa.transpose_conv2d' has a filter of unknown size, 'tensor<3x?x1x2xf32>'}}
  %y = tosa.transpose_conv2d %x, %w, %b, %zp, %zp {acc_type = f32, out_pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}
     : (tensor<1x4x4x2xf32>, tensor<3x?x1x2xf32>, tensor<3xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x?x4x3xf32>
  return %y : tensor<1x?x4x3xf32>
}

// -----

func.func @negative_start(%x: tensor<?xf32>) -> tensor<2xf32> {
  %start = tosa.const_shape {values = dense<-3> : tensor<1xindex>} : () -> !tosa.shape<1>
  %size = tosa.const_shape {values = dense<2> : tensor<1xindex>} : () -> !tosa.shape<1>
  // expected-error @+1 {{'tosa.slice' has the start -3; expected at least 0}}
  %y = tosa.slice %x, %start, %size : (tensor<?xf32>, !tosa.shape<1>, !tosa.shape<1>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}

// -----

gpu.module @inside {
  // expected-error @+1 {{'tosa.variable' is inside of 'gpu.module'; expected it in the module}}
  tosa.variable @v = dense<1.0> : tensor<4xf32>
}

// -----

// expected-error @+1 {{'tosa.variable' has a size that is not known; expected a static shape}}
tosa.variable @v : tensor<?xf32>

// -----

func.func @unranked(%x: tensor<*xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{'tosa.exp' has a tensor of unknown rank, 'tensor<*xf32>'; run --tosa-infer-shapes on it before}}
  %y = tosa.exp %x : (tensor<*xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @image_of_unknown_size(%x: tensor<1x?x4x2xf32>) -> tensor<1x?x7x2xf32> {
  %scale = tosa.const_shape {values = dense<[2, 1, 2, 1]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %none = tosa.const_shape {values = dense<[0, 0]> : tensor<2xindex>} : () -> !tosa.shape<2>
  // expected-error @+1 {{'tosa.resize' has an image of unknown height or width, 'tensor<1x?x4x2xf32>'}}
  %y = tosa.resize %x, %scale, %none, %none {mode = NEAREST_NEIGHBOR} : (tensor<1x?x4x2xf32>, !tosa.shape<4>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<1x?x7x2xf32>
  return %y : tensor<1x?x7x2xf32>
}

// -----

// CHECK-LABEL: func.func @computed_shapes(
// CHECK-SAME:    %[[X:.*]]: tensor<?x6xf32>)
// CHECK:         %[[N:.*]] = tensor.dim %[[X]], %{{.*}}
// CHECK:         array.reshape %[[X]] sizes(%[[N]]) : tensor<?x6xf32> -> tensor<?x3x2xf32>
// CHECK:         %[[H:.*]] = arith.divui
// CHECK:         %[[P:.*]] = arith.muli %[[H]], %{{.*}}
// CHECK:         %[[T:.*]] = array.broadcast_in_dim %[[X]] axes = [1, 3] sizes(%[[H]], %{{.*}}) : tensor<?x6xf32> -> tensor<?x?x1x6xf32>
// CHECK:         array.reshape %[[T]] sizes(%[[P]]) : tensor<?x?x1x6xf32> -> tensor<?x6xf32>
func.func @computed_shapes(%x: tensor<?x6xf32>) -> (tensor<?x3x2xf32>, tensor<?x6xf32>) {
  %n = tosa.dim %x {axis = 0 : i32} : (tensor<?x6xf32>) -> !tosa.shape<1>
  %c = tosa.const_shape {values = dense<[3, 2]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %k = tosa.concat_shape %n, %c : (!tosa.shape<1>, !tosa.shape<2>) -> !tosa.shape<3>
  %y = tosa.reshape %x, %k : (tensor<?x6xf32>, !tosa.shape<3>) -> tensor<?x3x2xf32>
  %two = tosa.const_shape {values = dense<2> : tensor<1xindex>} : () -> !tosa.shape<1>
  %one = tosa.const_shape {values = dense<1> : tensor<1xindex>} : () -> !tosa.shape<1>
  %h = tosa.div_floor_shape %n, %two : (!tosa.shape<1>, !tosa.shape<1>) -> !tosa.shape<1>
  %m = tosa.concat_shape %h, %one : (!tosa.shape<1>, !tosa.shape<1>) -> !tosa.shape<2>
  %z = tosa.tile %x, %m : (tensor<?x6xf32>, !tosa.shape<2>) -> tensor<?x6xf32>
  return %y, %z : tensor<?x3x2xf32>, tensor<?x6xf32>
}

// -----

// CHECK-LABEL: func.func @shapes_of_constants(
// CHECK-NEXT:    array.reshape %{{.*}} : tensor<4x6xf32> -> tensor<3x8xf32>
// CHECK-NEXT:    return
func.func @shapes_of_constants(%x: tensor<4x6xf32>) -> tensor<3x8xf32> {
  %five = tosa.const_shape {values = dense<[5, 2]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %log = tosa.log2_ceil_shape %five : (!tosa.shape<2>) -> !tosa.shape<2>
  %power = tosa.exp2_shape %log : (!tosa.shape<2>) -> !tosa.shape<2>
  %k = tosa.sub_shape %power, %log : (!tosa.shape<2>, !tosa.shape<2>) -> !tosa.shape<2>
  %eight = tosa.const_shape {values = dense<[3, 8]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %most = tosa.max_shape %k, %eight : (!tosa.shape<2>, !tosa.shape<2>) -> !tosa.shape<2>
  %least = tosa.min_shape %most, %eight : (!tosa.shape<2>, !tosa.shape<2>) -> !tosa.shape<2>
  %y = tosa.reshape %x, %least : (tensor<4x6xf32>, !tosa.shape<2>) -> tensor<3x8xf32>
  return %y : tensor<3x8xf32>
}

// -----

func.func @maximum_of_sizes(%x: tensor<?xf32>) -> tensor<?x1xf32> {
  %n = tosa.dim %x {axis = 0 : i32} : (tensor<?xf32>) -> !tosa.shape<1>
  %one = tosa.const_shape {values = dense<1> : tensor<1xindex>} : () -> !tosa.shape<1>
  // expected-error @+1 {{'tosa.max_shape' of a size that is known only when inputs are bound is not supported; supported of those are sums, differences, products, quotients and remainders}}
  %m = tosa.max_shape %n, %one : (!tosa.shape<1>, !tosa.shape<1>) -> !tosa.shape<1>
  %k = tosa.concat_shape %m, %one : (!tosa.shape<1>, !tosa.shape<1>) -> !tosa.shape<2>
  %y = tosa.reshape %x, %k : (tensor<?xf32>, !tosa.shape<2>) -> tensor<?x1xf32>
  return %y : tensor<?x1xf32>
}

// -----

func.func @division_by_zero(%x: tensor<?xf32>) -> tensor<?xf32> {
  %n = tosa.dim %x {axis = 0 : i32} : (tensor<?xf32>) -> !tosa.shape<1>
  %none = tosa.const_shape {values = dense<0> : tensor<1xindex>} : () -> !tosa.shape<1>
  // expected-error @+1 {{'tosa.div_ceil_shape' divides by 0; expected a divisor of 1 or more}}
  %m = tosa.div_ceil_shape %n, %none : (!tosa.shape<1>, !tosa.shape<1>) -> !tosa.shape<1>
  %y = tosa.reshape %x, %m : (tensor<?xf32>, !tosa.shape<1>) -> tensor<?xf32>
  return %y : tensor<?xf32>
}

// -----

func.func @no_such_number(%x: tensor<4xf32>) -> tensor<?xf32> {
  %none = tosa.const_shape {values = dense<0> : tensor<1xindex>} : () -> !tosa.shape<1>
  // expected-error @+1 {{'tosa.log2_floor_shape' has no result of 0}}
  %m = tosa.log2_floor_shape %none : (!tosa.shape<1>) -> !tosa.shape<1>
  %y = tosa.reshape %x, %m : (tensor<4xf32>, !tosa.shape<1>) -> tensor<?xf32>
  return %y : tensor<?xf32>
}

// -----

func.func @two_inferred(%x: tensor<?xf32>) -> tensor<?x?xf32> {
  %one = tosa.const_shape {values = dense<-1> : tensor<1xindex>} : () -> !tosa.shape<1>
  %k = tosa.concat_shape %one, %one : (!tosa.shape<1>, !tosa.shape<1>) -> !tosa.shape<2>
  // expected-error @+1 {{'tosa.reshape' has a shape with 2 sizes of -1; expected at most one}}
  %y = tosa.reshape %x, %k : (tensor<?xf32>, !tosa.shape<2>) -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}

// -----

func.func @resize_by_size(%x: tensor<1x4x4x2xf32>, %n: tensor<?xf32>) -> tensor<1x7x7x2xf32> {
  %one = tosa.dim %n {axis = 0 : i32} : (tensor<?xf32>) -> !tosa.shape<1>
  %scale = tosa.concat_shape %one, %one, %one, %one : (!tosa.shape<1>, !tosa.shape<1>, !tosa.shape<1>, !tosa.shape<1>) -> !tosa.shape<4>
  %none = tosa.const_shape {values = dense<[0, 0]> : tensor<2xindex>} : () -> !tosa.shape<2>
  // expected-error @+1 {{'tosa.resize' has a scale that is known only when inputs are bound; expected constants}}
  %y = tosa.resize %x, %scale, %none, %none {mode = NEAREST_NEIGHBOR} : (tensor<1x4x4x2xf32>, !tosa.shape<4>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<1x7x7x2xf32>
  return %y : tensor<1x7x7x2xf32>
}

// -----

func.func @cast_f8(%a: tensor<4xf8E4M3FN>) -> tensor<4xf32> {
  // expected-error @+1 {{operand 0 of 'tosa.cast' has type 'tensor<4xf8E4M3FN>'; supported element types are i1, i8, i16}}
  %r = tosa.cast %a : (tensor<4xf8E4M3FN>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

func.func @matmul_i48(%a: tensor<1x4x4xi16>) -> tensor<1x4x4xi48> {
  %z = "tosa.const"() <{values = dense<0> : tensor<1xi16>}> : () -> tensor<1xi16>
  // expected-error @+1 {{result 0 of 'tosa.matmul' has type 'tensor<1x4x4xi48>'; supported element types are}}
  %r = tosa.matmul %a, %a, %z, %z : (tensor<1x4x4xi16>, tensor<1x4x4xi16>, tensor<1xi16>, tensor<1xi16>) -> tensor<1x4x4xi48>
  return %r : tensor<1x4x4xi48>
}

// -----

func.func @const_i4() {
  // expected-error @+1 {{result 0 of 'tosa.const' has type 'tensor<1xi4>'; supported element types are}}
  %z = "tosa.const"() <{values = dense<0> : tensor<1xi4>}> : () -> tensor<1xi4>
  return
}
