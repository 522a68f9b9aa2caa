// RUN: xc-opt %s -xc-array-decompose -split-input-file | FileCheck %s
// RUN: xc-opt %s -xc-array-decompose=keep=softmax,silu -split-input-file | FileCheck %s --check-prefix=KEEP

// CHECK-LABEL: func.func @elementwise(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>)
func.func @elementwise(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  // CHECK: %[[SQUARE:.*]] = array.mul %[[X]], %[[X]]
  %0 = array.square %x : tensor<4xf32>
  // CHECK: %[[RECIPROCAL:.*]] = array.div %{{.*}}, %[[X]] : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = array.reciprocal %x : tensor<4xf32>
  // CHECK: %[[ZERO:.*]] = array.constant dense<0.0{{.*}}> : tensor<f32>
  // CHECK: %[[RELU:.*]] = array.max %[[X]], %[[ZERO]]
  %2 = array.relu %x : tensor<4xf32>
  // CHECK: %[[RAISED:.*]] = array.max %[[X]], %[[SQUARE]]
  // CHECK: %[[CLAMP:.*]] = array.min %[[RAISED]], %[[RELU]]
  %3 = array.clamp %0, %x, %2 : tensor<4xf32>
  // CHECK: return %[[SQUARE]], %[[RECIPROCAL]], %[[RELU]], %[[CLAMP]]
  return %0, %1, %2, %3 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// What a decomposition contains is decomposed, too.
// CHECK-LABEL: func.func @nested(
// KEEP-LABEL: func.func @nested(
func.func @nested(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NOT: array.sigmoid
  // CHECK: array.abs
  // CHECK: array.neg
  // CHECK: array.exp
  // CHECK: array.select
  // CHECK: array.div
  // CHECK: array.mul
  // KEEP: array.silu
  %0 = array.silu %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @gelu(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>)
func.func @gelu(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK: %[[RATIO:.*]] = array.constant dense<0.707106769> : tensor<f32>
  // CHECK: %[[SCALED:.*]] = array.mul %[[X]], %[[RATIO]]
  // CHECK: array.erf %[[SCALED]]
  // CHECK: array.constant dense<5.0{{.*}}e-01>
  %0 = array.gelu %x : tensor<4xf32>
  // CHECK: %[[SQUARE:.*]] = array.mul %[[X]], %[[X]]
  // CHECK: %[[CUBIC:.*]] = array.constant dense<0.0356774069>
  // CHECK: %[[LINEAR:.*]] = array.constant dense<0.797884583>
  // CHECK: %[[SLOPE:.*]] = array.fma %[[SQUARE]], %[[CUBIC]], %[[LINEAR]]
  // CHECK: %[[ARGUMENT:.*]] = array.mul %[[X]], %[[SLOPE]]
  // CHECK: array.tanh %[[ARGUMENT]]
  %1 = array.gelu %x approximate = tanh : tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// -----

// 16-bit floats are computed in f32 and rounded once.
// CHECK-LABEL: func.func @softmax(
// CHECK-SAME: %[[X:.*]]: tensor<4x?xf16>)
// KEEP-LABEL: func.func @softmax(
func.func @softmax(%x: tensor<4x?xf16>) -> tensor<4x?xf16> {
  // CHECK: %[[WIDE:.*]] = array.convert %[[X]] : tensor<4x?xf16> -> tensor<4x?xf32>
  // CHECK: %[[MAX:.*]] = array.reduce max, %[[WIDE]] axes = [1] keepdims : tensor<4x?xf32> -> tensor<4x1xf32>
  // CHECK: %[[SHIFTED:.*]] = array.sub %[[WIDE]], %[[MAX]]
  // CHECK: %[[EXP:.*]] = array.exp %[[SHIFTED]]
  // CHECK: %[[SUM:.*]] = array.reduce sum, %[[EXP]] axes = [1] keepdims
  // CHECK: %[[SCALE:.*]] = array.div %{{.*}}, %[[SUM]] : (tensor<f32>, tensor<4x1xf32>) -> tensor<4x1xf32>
  // CHECK: %[[SHARE:.*]] = array.mul %[[EXP]], %[[SCALE]]
  // CHECK: %[[NARROW:.*]] = array.convert %[[SHARE]] : tensor<4x?xf32> -> tensor<4x?xf16>
  // CHECK: return %[[NARROW]]
  // KEEP: array.softmax
  %0 = array.softmax %x axis = 1 : tensor<4x?xf16>
  return %0 : tensor<4x?xf16>
}

// -----

// CHECK-LABEL: func.func @log_softmax(
// CHECK-SAME: %[[X:.*]]: tensor<4x8xf32>)
func.func @log_softmax(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK: %[[MAX:.*]] = array.reduce max, %[[X]] axes = [0] keepdims
  // CHECK: %[[SHIFTED:.*]] = array.sub %[[X]], %[[MAX]]
  // CHECK: %[[EXP:.*]] = array.exp %[[SHIFTED]]
  // CHECK: %[[SUM:.*]] = array.reduce sum, %[[EXP]] axes = [0] keepdims
  // CHECK: %[[LOG:.*]] = array.log %[[SUM]]
  // CHECK: array.sub %[[SHIFTED]], %[[LOG]]
  %0 = array.log_softmax %x axis = 0 : tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

// CHECK-LABEL: func.func @moments(
// CHECK-SAME: %[[X:.*]]: tensor<4x?xf32>)
func.func @moments(%x: tensor<4x?xf32>) -> (tensor<?xf32>, tensor<4xf32>, tensor<4xf32>) {
  // CHECK: %[[SUM:.*]] = array.reduce sum, %[[X]] axes = [0] : tensor<4x?xf32> -> tensor<?xf32>
  // CHECK: %[[FOUR:.*]] = array.constant dense<4.0{{.*}}> : tensor<f32>
  // CHECK: %[[MEAN:.*]] = array.div %[[SUM]], %[[FOUR]]
  %0 = array.mean %x axes = [0] : tensor<4x?xf32> -> tensor<?xf32>
  // CHECK: tensor.dim %[[X]]
  // CHECK: %[[DIFFERENCE:.*]] = array.sub %[[X]], %{{.*}} : (tensor<4x?xf32>, tensor<4x1xf32>) -> tensor<4x?xf32>
  // CHECK: %[[SQUARE:.*]] = array.mul %[[DIFFERENCE]], %[[DIFFERENCE]]
  // CHECK: array.reduce sum, %[[SQUARE]] axes = [1] : tensor<4x?xf32> -> tensor<4xf32>
  // CHECK: %[[COUNT:.*]] = array.from_index
  // CHECK: %[[CORRECTED:.*]] = array.sub %[[COUNT]]
  // CHECK: array.max %[[CORRECTED]]
  %1 = array.var %x axes = [1] correction = 1 : tensor<4x?xf32> -> tensor<4xf32>
  // CHECK: %[[MAX:.*]] = array.reduce max, %[[X]] axes = [1] keepdims
  // CHECK: %[[FINITE:.*]] = array.is_finite %[[MAX]]
  // CHECK: array.select %[[FINITE]], %[[MAX]]
  // CHECK: array.log
  %2 = array.logsumexp %x axes = [1] : tensor<4x?xf32> -> tensor<4xf32>
  return %0, %1, %2 : tensor<?xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @norms(
// CHECK-SAME: %[[X:.*]]: tensor<?x8xf32>, %[[G:.*]]: tensor<8xf32>, %[[B:.*]]: tensor<8xf32>)
func.func @norms(%x: tensor<?x8xf32>, %g: tensor<8xf32>, %b: tensor<8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<8xf32>, tensor<8xf32>) {
  // CHECK: array.reduce sum, %[[X]] axes = [1] keepdims
  // CHECK: %[[INVERSE:.*]] = array.rsqrt
  // CHECK: %[[NORMAL:.*]] = array.mul %{{.*}}, %[[INVERSE]]
  // CHECK: %[[SCALED:.*]] = array.mul %[[NORMAL]], %[[G]]
  // CHECK: array.add %[[SCALED]], %[[B]]
  %0 = array.layer_norm %x scale(%g : tensor<8xf32>) bias(%b : tensor<8xf32>) axis = 1 epsilon = 1.0e-5 : tensor<?x8xf32>
  // CHECK: %[[SQUARE:.*]] = array.mul %[[X]], %[[X]]
  // CHECK: array.reduce sum, %[[SQUARE]] axes = [1] keepdims
  // CHECK: array.rsqrt
  %1 = array.rms_norm %x axis = 1 epsilon = 1.0e-5 : tensor<?x8xf32>
  // CHECK: array.reshape %[[G]] : tensor<8xf32> -> tensor<1x8xf32>
  %2 = array.batch_norm_inference %x, %g, %b, %g, %b axis = 1 epsilon = 1.0e-5
     : (tensor<?x8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  // CHECK: array.reduce sum, %[[X]] axes = [0] keepdims
  // CHECK: array.reshape %{{.*}} : tensor<1x8xf32> -> tensor<8xf32>
  %3:3 = array.batch_norm_training %x, %g, %b axis = 1 epsilon = 1.0e-5
     : (tensor<?x8xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<?x8xf32>, tensor<8xf32>, tensor<8xf32>)
  return %0, %1, %2, %3#0, %3#1, %3#2 : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<8xf32>, tensor<8xf32>
}

// -----

// CHECK-LABEL: func.func @shapes(
// CHECK-SAME: %[[X:.*]]: tensor<?x?x6xf32>, %[[I:.*]]: tensor<3xi8>, %[[J:.*]]: tensor<3xui32>)
func.func @shapes(%x: tensor<?x?x6xf32>, %i: tensor<3xi8>, %j: tensor<3xui32>) -> (tensor<1x?x?x6xf32>, tensor<?x?x4xf32>, tensor<?x?x2xf32>, tensor<3x300xf32>, tensor<3x5xi1>) {
  // CHECK: %[[D0:.*]] = tensor.dim %[[X]]
  // CHECK: %[[D1:.*]] = tensor.dim %[[X]]
  // CHECK: array.reshape %[[X]] sizes(%[[D0]], %[[D1]]) : tensor<?x?x6xf32> -> tensor<1x?x?x6xf32>
  %0 = array.expand_dims %x axes = [0] : tensor<?x?x6xf32> -> tensor<1x?x?x6xf32>
  // CHECK: array.slice %[[X]] [:, :, :4]
  // CHECK: array.slice %[[X]] [:, :, 4:6]
  %1:2 = array.split %x axis = 2 parts = [4, 2] : tensor<?x?x6xf32> -> tensor<?x?x4xf32>, tensor<?x?x2xf32>
  // Positions up to 300 do not fit the indices' type.
  // CHECK: %[[WIDE:.*]] = array.convert %[[I]] : tensor<3xi8> -> tensor<3xi32>
  // CHECK: %[[COLUMN:.*]] = array.reshape %[[WIDE]] : tensor<3xi32> -> tensor<3x1xi32>
  // CHECK: %[[IOTA:.*]] = array.iota axis = 0 : tensor<300xi32>
  // CHECK: %[[EQ:.*]] = array.compare eq, %[[COLUMN]], %[[IOTA]]
  // CHECK: array.convert %[[EQ]] : tensor<3x300xi1> -> tensor<3x300xf32>
  %2 = array.one_hot %i depth = 300 : tensor<3xi8> -> tensor<3x300xf32>
  // CHECK: array.convert %[[J]] : tensor<3xui32> -> tensor<3xi64>
  %3 = array.one_hot %j depth = 5 : tensor<3xui32> -> tensor<3x5xi1>
  return %0, %1#0, %1#1, %2, %3 : tensor<1x?x?x6xf32>, tensor<?x?x4xf32>, tensor<?x?x2xf32>, tensor<3x300xf32>, tensor<3x5xi1>
}

// -----

// The declared type stays, though more is known.
// CHECK-LABEL: func.func @declared_type(
func.func @declared_type(%x: tensor<4xf32>) -> tensor<?xf32> {
  // CHECK: %[[CAST:.*]] = tensor.cast %{{.*}} : tensor<4xf32> to tensor<?xf32>
  // CHECK: return %[[CAST]]
  %0 = array.square %x : tensor<4xf32> -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

// CHECK-LABEL: func.func @rope(
// CHECK-SAME: %[[X:.*]]: tensor<3x?x4xf16>, %[[P:.*]]: tensor<?xi32>)
func.func @rope(%x: tensor<3x?x4xf16>, %p: tensor<?xi32>) -> (tensor<3x?x4xf16>, tensor<3x?x4xf16>) {
  // CHECK: %[[PAIRS:.*]] = array.reshape %[[X]] sizes(%{{.*}}) {array.requirement = "expected a last dim of even size{{.*}}"} : tensor<3x?x4xf16> -> tensor<3x?x2x2xf16>
  // CHECK: %[[REVERSED:.*]] = array.reverse %[[PAIRS]] axes = [2]
  // CHECK: %[[OTHERS:.*]] = array.convert %[[REVERSED]]
  // CHECK: %[[OWN:.*]] = array.convert %[[PAIRS]]
  // CHECK: array.convert %[[P]] : tensor<?xi32> -> tensor<?xf32>
  // CHECK: array.constant dense<[1.000000e+00, 0.00999999977]> : tensor<2xf32>
  // CHECK: array.constant dense<{{\[\[}}-1.000000e+00], [1.000000e+00]]> : tensor<2x1xf32>
  // CHECK: %[[COS:.*]] = array.cos %{{.*}} : tensor<?x1x2xf32>
  // CHECK: array.mul %[[OWN]], %[[COS]] : (tensor<3x?x2x2xf32>, tensor<?x1x2xf32>) -> tensor<3x?x2x2xf32>
  // CHECK: array.sin %{{.*}} : tensor<?x1x2xf32>
  // CHECK: %[[SIN:.*]] = array.mul %{{.*}} : (tensor<?x1x2xf32>, tensor<2x1xf32>) -> tensor<?x2x2xf32>
  // CHECK: array.mul %[[OTHERS]], %[[SIN]]
  // CHECK: array.reshape %{{.*}} sizes(%{{.*}}) : tensor<3x?x2x2xf16> -> tensor<3x?x4xf16>
  %0 = array.rope %x, %p base = 1.0e4 : (tensor<3x?x4xf16>, tensor<?xi32>) -> tensor<3x?x4xf16>
  // CHECK: array.reverse %{{.*}} axes = [3]
  // CHECK: array.constant dense<[-1.000000e+00, 1.000000e+00]> : tensor<2xf32>
  // CHECK: array.cos %{{.*}} : tensor<?x2x1xf32>
  %1 = array.rope %x, %p base = 1.0e4 interleaved : (tensor<3x?x4xf16>, tensor<?xi32>) -> tensor<3x?x4xf16>
  return %0, %1 : tensor<3x?x4xf16>, tensor<3x?x4xf16>
}

// -----

// CHECK-LABEL: func.func @resize(
func.func @resize(%x: tensor<?x4x3xf32>) -> (tensor<?x2x3xf32>, tensor<?x4x5xf32>) {
  // CHECK: %[[I:.*]] = array.constant dense<[1, 3]> : tensor<2xi64>
  // CHECK: array.take %{{.*}}[%[[I]]] axis = 1
  %0 = array.resize nearest, %x axes = [1] sizes = [2] : tensor<?x4x3xf32> -> tensor<?x2x3xf32>
  // CHECK: array.constant dense<[0, 0, 1, 1, 2]> : tensor<5xi64>
  // CHECK: array.constant dense<[1, 1, 2, 2, 2]> : tensor<5xi64>
  // CHECK: array.constant dense<[0.000000e+00, 5.000000e-01, 0.000000e+00, 5.000000e-01, 0.000000e+00]> : tensor<5xf32>
  %1 = array.resize linear, %x axes = [2] sizes = [5] align_corners : tensor<?x4x3xf32> -> tensor<?x4x5xf32>
  return %0, %1 : tensor<?x2x3xf32>, tensor<?x4x5xf32>
}

// Positions in a dim of a size that is not known are computed.
// CHECK-LABEL: func.func @resize_open(
func.func @resize_open(%x: tensor<?x3xf32>) -> tensor<5x3xf32> {
  // CHECK: %[[D:.*]] = tensor.dim
  // CHECK: array.from_index %[[D]]
  // CHECK: %[[P:.*]] = array.iota axis = 0 : tensor<5xf64>
  // CHECK: %[[I:.*]] = array.convert %{{.*}} : tensor<5xf64> -> tensor<5xi64>
  // CHECK: array.take %{{.*}}[%[[I]]] axis = 0 : (tensor<?x3xf32>, tensor<5xi64>) -> tensor<5x3xf32>
  %0 = array.resize nearest, %x axes = [0] sizes = [5] : tensor<?x3xf32> -> tensor<5x3xf32>
  return %0 : tensor<5x3xf32>
}

// Positions are as many as a value says.
// Positions are computed where constants of them would be larger than the program's data.
// CHECK-LABEL: func.func @resize_to_many(
// CHECK:         %[[AT:.*]] = array.iota axis = 0 : tensor<100000000xf64>
// CHECK:         array.take
func.func @resize_to_many(%x: tensor<4x3xf32>) -> tensor<100000000x3xf32> {
  %0 = array.resize linear, %x axes = [0] sizes = [100000000] : tensor<4x3xf32> -> tensor<100000000x3xf32>
  return %0 : tensor<100000000x3xf32>
}

// CHECK-LABEL: func.func @resize_to_open(
// CHECK-SAME:    %[[X:.*]]: tensor<4x3xf32>, %[[N:.*]]: index
func.func @resize_to_open(%x: tensor<4x3xf32>, %n: index) -> tensor<?x3xf32> {
  // CHECK: array.from_index %[[N]] : tensor<f64>
  // CHECK: %[[P:.*]] = array.iota axis = 0 sizes(%[[N]]) : tensor<?xf64>
  // CHECK: array.take %[[X]][%{{.*}}] axis = 0 : (tensor<4x3xf32>, tensor<?xi64>) -> tensor<?x3xf32>
  %0 = array.resize nearest, %x axes = [0] sizes = [%n] : tensor<4x3xf32> -> tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}

// What a partition of a symbolic dim requires stays with the sort.
// CHECK-LABEL: func.func @partition_symbolic
// CHECK:         array.sort %{{.*}} axis = 0 {array.least_size = 4 : i64}
func.func @partition_symbolic(%x: tensor<?xf32>) -> tensor<?xf32> {
  %r = array.partition %x kth = 3 axis = 0 : tensor<?xf32> -> tensor<?xf32>
  return %r : tensor<?xf32>
}
