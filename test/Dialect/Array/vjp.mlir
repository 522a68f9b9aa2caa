// RUN: xc-opt %s -xc-array-test-vjp | FileCheck %s

// Each op's own result serves as its cotangent.

// CHECK-LABEL: func.func @abs(
func.func @abs(%x: tensor<4xf32>) {
  // CHECK: %[[Y:.*]] = array.abs
  // CHECK: %[[S:.*]] = array.sign
  // CHECK: array.mul %[[Y]], %[[S]]
  %y = array.abs %x {vjp} : tensor<4xf32>
  return
}

// CHECK-LABEL: func.func @neg(
func.func @neg(%x: tensor<4xf32>) {
  // CHECK: %[[Y:.*]] = array.neg
  // CHECK: %[[G:.*]] = array.neg %[[Y]]
  // CHECK: return %[[G]]
  %y = array.neg %x {vjp} : tensor<4xf32>
  return
}

// CHECK-LABEL: func.func @square(
func.func @square(%x: tensor<4xf32>) {
  // CHECK: %[[Y:.*]] = array.square
  // CHECK: %[[S:.*]] = array.mul %{{.*}}, %{{.*}} : (tensor<4xf32>, tensor<f32>)
  // CHECK: array.mul %[[Y]], %[[S]]
  %y = array.square %x {vjp} : tensor<4xf32>
  return
}

// CHECK-LABEL: func.func @sqrt(
func.func @sqrt(%x: tensor<4xf32>) {
  // CHECK: %[[Y:.*]] = array.sqrt
  // CHECK: %[[HALF:.*]] = array.constant dense<5.0{{.*}}e-01>
  // CHECK: array.div %[[HALF]], %[[Y]]
  %y = array.sqrt %x {vjp} : tensor<4xf32>
  return
}

// CHECK-LABEL: func.func @rsqrt(
func.func @rsqrt(%x: tensor<4xf32>) {
  // CHECK: %[[Y:.*]] = array.rsqrt
  // CHECK: array.constant dense<-5.0{{.*}}e-01>
  // CHECK: array.mul %[[Y]]
  // CHECK: array.div
  %y = array.rsqrt %x {vjp} : tensor<4xf32>
  return
}

// CHECK-LABEL: func.func @reciprocal(
func.func @reciprocal(%x: tensor<4xf32>) {
  // CHECK: %[[Y:.*]] = array.reciprocal
  // CHECK: array.mul %[[Y]], %[[Y]]
  // CHECK: array.neg
  %y = array.reciprocal %x {vjp} : tensor<4xf32>
  return
}

// CHECK-LABEL: func.func @exp(
func.func @exp(%x: tensor<4xf32>) {
  // CHECK: %[[Y:.*]] = array.exp
  // CHECK: array.mul %[[Y]], %[[Y]]
  %y = array.exp %x {vjp} : tensor<4xf32>
  return
}

// CHECK-LABEL: func.func @exp2(
func.func @exp2(%x: tensor<4xf32>) {
  // CHECK: %[[Y:.*]] = array.exp2
  // CHECK: array.constant dense<0.693147182>
  %y = array.exp2 %x {vjp} : tensor<4xf32>
  return
}

// CHECK-LABEL: func.func @expm1(
func.func @expm1(%x: tensor<4xf32>) {
  // CHECK: %[[Y:.*]] = array.expm1
  // CHECK: array.add %[[Y]]
  %y = array.expm1 %x {vjp} : tensor<4xf32>
  return
}

// CHECK-LABEL: func.func @log(
func.func @log(%x: tensor<4xf32>) {
  // CHECK: %[[Y:.*]] = array.log
  // CHECK: array.reciprocal
  %y = array.log %x {vjp} : tensor<4xf32>
  return
}

// CHECK-LABEL: func.func @log2(
func.func @log2(%x: tensor<4xf32>) {
  // CHECK: %[[Y:.*]] = array.log2
  // CHECK: array.constant dense<1.44269502>
  // CHECK: array.div
  %y = array.log2 %x {vjp} : tensor<4xf32>
  return
}

// CHECK-LABEL: func.func @log1p(
func.func @log1p(%x: tensor<4xf32>) {
  // CHECK: %[[Y:.*]] = array.log1p
  // CHECK: array.add
  // CHECK: array.reciprocal
  %y = array.log1p %x {vjp} : tensor<4xf32>
  return
}

// CHECK-LABEL: func.func @sin(
func.func @sin(%x: tensor<4xf32>) {
  // CHECK: %[[Y:.*]] = array.sin
  // CHECK: array.cos
  %y = array.sin %x {vjp} : tensor<4xf32>
  return
}

// CHECK-LABEL: func.func @cos(
func.func @cos(%x: tensor<4xf32>) {
  // CHECK: %[[Y:.*]] = array.cos
  // CHECK: array.sin
  // CHECK: array.neg
  %y = array.cos %x {vjp} : tensor<4xf32>
  return
}

// CHECK-LABEL: func.func @tan(
func.func @tan(%x: tensor<4xf32>) {
  // CHECK: %[[Y:.*]] = array.tan
  // CHECK: array.mul %[[Y]], %[[Y]]
  // CHECK: array.add
  %y = array.tan %x {vjp} : tensor<4xf32>
  return
}

// CHECK-LABEL: func.func @tanh(
func.func @tanh(%x: tensor<4xf32>) {
  // CHECK: %[[Y:.*]] = array.tanh
  // CHECK: array.mul %[[Y]], %[[Y]]
  // CHECK: array.sub
  %y = array.tanh %x {vjp} : tensor<4xf32>
  return
}

// CHECK-LABEL: func.func @erf(
func.func @erf(%x: tensor<4xf32>) {
  // CHECK: %[[Y:.*]] = array.erf
  // CHECK: array.neg
  // CHECK: array.exp
  // CHECK: array.constant dense<1.128379{{.*}}>
  %y = array.erf %x {vjp} : tensor<4xf32>
  return
}

// CHECK-LABEL: func.func @sigmoid(
func.func @sigmoid(%x: tensor<4xf32>) {
  // CHECK: %[[Y:.*]] = array.sigmoid
  // CHECK: array.sub %{{.*}}, %[[Y]]
  // CHECK: array.mul %[[Y]]
  %y = array.sigmoid %x {vjp} : tensor<4xf32>
  return
}

// CHECK-LABEL: func.func @silu(
func.func @silu(%x: tensor<4xf32>) {
  // CHECK: %[[Y:.*]] = array.silu
  // CHECK: array.sigmoid
  %y = array.silu %x {vjp} : tensor<4xf32>
  return
}

// CHECK-LABEL: func.func @relu(
func.func @relu(%x: tensor<4xf32>) {
  // CHECK: %[[Y:.*]] = array.relu
  // CHECK: %[[P:.*]] = array.compare gt
  // CHECK: array.select %[[P]], %[[Y]]
  %y = array.relu %x {vjp} : tensor<4xf32>
  return
}

// CHECK-LABEL: func.func @gelu(
func.func @gelu(%x: tensor<4xf32>) {
  // CHECK: %[[Y:.*]] = array.gelu
  // CHECK: array.erf
  // CHECK: array.exp
  %y = array.gelu %x {vjp} : tensor<4xf32>
  return
}

// CHECK-LABEL: func.func @gelu_approximate_is_tanh(
func.func @gelu_approximate_is_tanh(%x: tensor<4xf32>) {
  // CHECK: %[[Y:.*]] = array.gelu
  // CHECK: array.tanh
  %y = array.gelu %x approximate = tanh {vjp} : tensor<4xf32>
  return
}

// CHECK-LABEL: func.func @add(
func.func @add(%a: tensor<4xf32>, %b: tensor<3x4xf32>, %s: tensor<f32>) {
  // CHECK: %[[Y:.*]] = array.add
  // CHECK: %[[SUM:.*]] = array.reduce sum, %[[Y]] axes = [0] keepdims : tensor<3x4xf32> -> tensor<1x4xf32>
  // CHECK: %[[A:.*]] = array.squeeze %[[SUM]] axes = [0] : tensor<1x4xf32> -> tensor<4xf32>
  // CHECK: return %[[A]], %[[Y]] : tensor<4xf32>, tensor<3x4xf32>
  %y = array.add %a, %b {vjp} : (tensor<4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  return
}

// CHECK-LABEL: func.func @sub(
func.func @sub(%a: tensor<4xf32>, %b: tensor<3x4xf32>, %s: tensor<f32>) {
  // CHECK: %[[Y:.*]] = array.sub
  // CHECK: array.neg %[[Y]]
  // CHECK: array.reduce sum, %[[Y]] axes = [0, 1] keepdims
  // CHECK: array.squeeze %{{.*}} axes = [0, 1] : tensor<1x1xf32> -> tensor<f32>
  %y = array.sub %s, %b {vjp} : (tensor<f32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  return
}

// CHECK-LABEL: func.func @mul(
func.func @mul(%a: tensor<4xf32>, %b: tensor<3x4xf32>, %s: tensor<f32>) {
  // CHECK: %[[Y:.*]] = array.mul
  // CHECK: array.mul %[[Y]]
  // CHECK: array.mul %[[Y]]
  %y = array.mul %b, %b {vjp} : tensor<3x4xf32>
  return
}

// CHECK-LABEL: func.func @div(
func.func @div(%a: tensor<4xf32>, %b: tensor<3x4xf32>, %s: tensor<f32>) {
  // CHECK: %[[Y:.*]] = array.div
  // CHECK: %[[Q:.*]] = array.div %[[Y]]
  // CHECK: array.mul %[[Q]], %[[Y]]
  // CHECK: array.neg
  // CHECK: array.reduce sum
  %y = array.div %b, %a {vjp} : (tensor<3x4xf32>, tensor<4xf32>) -> tensor<3x4xf32>
  return
}

// CHECK-LABEL: func.func @pow(
func.func @pow(%a: tensor<4xf32>, %b: tensor<3x4xf32>, %s: tensor<f32>) {
  // CHECK: %[[Y:.*]] = array.pow
  // CHECK: array.pow
  // CHECK: array.compare eq
  // CHECK: array.compare gt
  // CHECK: array.log
  %y = array.pow %b, %b {vjp} : tensor<3x4xf32>
  return
}

// CHECK-LABEL: func.func @max(
func.func @max(%a: tensor<4xf32>, %b: tensor<3x4xf32>, %s: tensor<f32>) {
  // CHECK: %[[Y:.*]] = array.max
  // CHECK: %[[EQ:.*]] = array.compare eq
  // CHECK: array.select %[[EQ]]
  // CHECK: %[[GT:.*]] = array.compare gt
  // CHECK: array.select %[[GT]], %[[Y]]
  // CHECK: %[[LT:.*]] = array.compare lt
  // CHECK: array.select %[[LT]], %[[Y]]
  %y = array.max %b, %a {vjp} : (tensor<3x4xf32>, tensor<4xf32>) -> tensor<3x4xf32>
  return
}

// CHECK-LABEL: func.func @min(
func.func @min(%a: tensor<4xf32>, %b: tensor<3x4xf32>, %s: tensor<f32>) {
  // CHECK: array.compare eq
  // CHECK: array.compare lt
  // CHECK: array.compare gt
  %y = array.min %b, %b {vjp} : tensor<3x4xf32>
  return
}

// CHECK-LABEL: func.func @select(
func.func @select(%p: tensor<3x1xi1>, %a: tensor<3x4xf32>, %b: tensor<4xf32>) {
  // CHECK: %[[Y:.*]] = array.select
  // CHECK: %[[Z:.*]] = array.constant
  // CHECK: array.select %{{.*}}, %[[Y]], %[[Z]]
  // CHECK: array.select %{{.*}}, %[[Z]], %[[Y]]
  // CHECK: array.reduce sum
  %y = array.select %p, %a, %b {vjp} : (tensor<3x1xi1>, tensor<3x4xf32>, tensor<4xf32>) -> tensor<3x4xf32>
  return
}

// CHECK-LABEL: func.func @clamp(
func.func @clamp(%a: tensor<4xf32>, %b: tensor<3x4xf32>, %s: tensor<f32>) {
  // CHECK: array.clamp
  // CHECK: array.max
  // CHECK: array.compare gt
  // CHECK: array.compare lt
  // CHECK: array.reduce sum
  %y = array.clamp %s, %b, %a {vjp} : (tensor<f32>, tensor<3x4xf32>, tensor<4xf32>) -> tensor<3x4xf32>
  return
}

// CHECK-LABEL: func.func @fma(
func.func @fma(%a: tensor<4xf32>, %b: tensor<3x4xf32>, %s: tensor<f32>) {
  // CHECK: %[[Y:.*]] = array.fma
  // CHECK: array.mul %[[Y]]
  // CHECK: array.mul %[[Y]]
  // CHECK: array.reduce sum, %[[Y]]
  %y = array.fma %b, %b, %a {vjp} : (tensor<3x4xf32>, tensor<3x4xf32>, tensor<4xf32>) -> tensor<3x4xf32>
  return
}

// CHECK-LABEL: func.func @convert(
func.func @convert(%x: tensor<4xf32>) {
  // CHECK: %[[Y:.*]] = array.convert
  // CHECK: array.convert %[[Y]] : tensor<4xf16> -> tensor<4xf32>
  %y = array.convert %x {vjp} : tensor<4xf32> -> tensor<4xf16>
  return
}

// CHECK-LABEL: func.func @through_integers(
func.func @through_integers(%x: tensor<4xf32>) {
  // CHECK: array.convert
  // CHECK: return{{$}}
  %y = array.convert %x {vjp} : tensor<4xf32> -> tensor<4xi32>
  return
}

// CHECK-LABEL: func.func @broadcast_in_dim(
func.func @broadcast_in_dim(%x: tensor<1x4xf32>) {
  // CHECK: %[[Y:.*]] = array.broadcast
  // CHECK: %[[S:.*]] = array.reduce sum, %[[Y]] axes = [0] : tensor<2x3x4xf32> -> tensor<3x4xf32>
  // CHECK: array.reduce sum, %[[S]] axes = [0] keepdims : tensor<3x4xf32> -> tensor<1x4xf32>
  %y = array.broadcast_in_dim %x axes = [1, 2] {vjp} : tensor<1x4xf32> -> tensor<2x3x4xf32>
  return
}

// CHECK-LABEL: func.func @reshape(
func.func @reshape(%x: tensor<?x?x6xf32>) {
  // CHECK: %[[Y:.*]] = array.reshape
  // CHECK: array.reshape %[[Y]] sizes(%{{.*}}, %{{.*}}) : tensor<?xf32> -> tensor<?x?x6xf32>
  %y = array.reshape %x {vjp} : tensor<?x?x6xf32> -> tensor<?xf32>
  return
}

// CHECK-LABEL: func.func @transpose(
func.func @transpose(%x: tensor<2x3x4xf32>) {
  // CHECK: %[[Y:.*]] = array.transpose
  // CHECK: array.transpose %[[Y]] permutation = [2, 0, 1] : tensor<3x4x2xf32> -> tensor<2x3x4xf32>
  %y = array.transpose %x permutation = [1, 2, 0] {vjp} : tensor<2x3x4xf32> -> tensor<3x4x2xf32>
  return
}

// CHECK-LABEL: func.func @concatenate(
func.func @concatenate(%a: tensor<2x4xf32>, %b: tensor<?x4xf32>) {
  // CHECK: %[[Y:.*]] = array.concatenate
  // CHECK: array.slice %[[Y]] [:2, :] : tensor<?x4xf32> -> tensor<2x4xf32>
  // CHECK: array.slice %[[Y]] [2:, :] : tensor<?x4xf32> -> tensor<?x4xf32>
  %y = array.concatenate %a, %b axis = 0 {vjp} : (tensor<2x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  return
}

// CHECK-LABEL: func.func @sum(
func.func @sum(%x: tensor<4x?xf32>) {
  // CHECK: %[[Y:.*]] = array.reduce
  // CHECK: %[[E:.*]] = array.expand_dims %[[Y]] axes = [0] : tensor<?xf32> -> tensor<1x?xf32>
  // CHECK: array.broadcast_in_dim %[[E]] axes = [0, 1] sizes(%{{.*}}) : tensor<1x?xf32> -> tensor<4x?xf32>
  %y = array.reduce sum, %x axes = [0] {vjp} : tensor<4x?xf32> -> tensor<?xf32>
  return
}

// CHECK-LABEL: func.func @max_over_dim(
func.func @max_over_dim(%x: tensor<4x8xf32>) {
  // CHECK: %[[Y:.*]] = array.reduce max
  // CHECK: %[[EQ:.*]] = array.compare eq, %{{.*}}, %[[Y]]
  // CHECK: %[[ONES:.*]] = array.convert %[[EQ]] : tensor<4x8xi1> -> tensor<4x8xf32>
  // CHECK: %[[COUNT:.*]] = array.reduce sum, %[[ONES]] axes = [1] keepdims
  // CHECK: %[[SHARE:.*]] = array.div %[[Y]], %[[COUNT]]
  // CHECK: array.select %[[EQ]], %[[SHARE]]
  %y = array.reduce max, %x axes = [1] keepdims {vjp} : tensor<4x8xf32> -> tensor<4x1xf32>
  return
}

// CHECK-LABEL: func.func @mean(
func.func @mean(%x: tensor<4x8xf32>) {
  // CHECK: %[[Y:.*]] = array.mean
  // CHECK: array.expand_dims %[[Y]] axes = [1]
  // CHECK: array.constant dense<8.0{{.*}}>
  // CHECK: array.div
  // CHECK: array.broadcast_in_dim %{{.*}} axes = [0, 1] : tensor<4x1xf32> -> tensor<4x8xf32>
  %y = array.mean %x axes = [1] {vjp} : tensor<4x8xf32> -> tensor<4xf32>
  return
}

// CHECK-LABEL: func.func @softmax(
func.func @softmax(%x: tensor<4x8xf32>) {
  // CHECK: %[[Y:.*]] = array.softmax
  // CHECK: %[[P:.*]] = array.mul %[[Y]], %[[Y]]
  // CHECK: %[[S:.*]] = array.reduce sum, %[[P]] axes = [1] keepdims
  // CHECK: %[[D:.*]] = array.sub %[[Y]], %[[S]]
  // CHECK: array.mul %[[Y]], %[[D]]
  %y = array.softmax %x axis = 1 {vjp} : tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @log_softmax(
func.func @log_softmax(%x: tensor<4x8xf32>) {
  // CHECK: %[[Y:.*]] = array.log_softmax
  // CHECK: %[[S:.*]] = array.reduce sum, %[[Y]]
  // CHECK: %[[E:.*]] = array.exp %[[Y]]
  // CHECK: %[[M:.*]] = array.mul %[[E]], %[[S]]
  // CHECK: array.sub %[[Y]], %[[M]]
  %y = array.log_softmax %x axis = 1 {vjp} : tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @matmul_plain(
func.func @matmul_plain(%a: tensor<4x8xf32>, %b: tensor<8x16xf32>) {
  // CHECK: %[[Y:.*]] = array.matmul
  // CHECK: %[[DA:.*]] = array.matmul %[[Y]], %{{.*}} transpose_b :
  // CHECK: %[[DB:.*]] = array.matmul %{{.*}}, %[[Y]] transpose_a :
  // CHECK: return %[[DA]], %[[DB]] : tensor<4x8xf32>, tensor<8x16xf32>
  %y = array.matmul %a, %b  {vjp} : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  return
}

// CHECK-LABEL: func.func @matmul_transpose_b(
func.func @matmul_transpose_b(%a: tensor<4x8xf32>, %b: tensor<16x8xf32>) {
  // CHECK: %[[Y:.*]] = array.matmul
  // CHECK: %[[DA:.*]] = array.matmul %[[Y]], %{{.*}} :
  // CHECK: %[[DB:.*]] = array.matmul %[[Y]], %{{.*}} transpose_a :
  // CHECK: return %[[DA]], %[[DB]] : tensor<4x8xf32>, tensor<16x8xf32>
  %y = array.matmul %a, %b transpose_b {vjp} : (tensor<4x8xf32>, tensor<16x8xf32>) -> tensor<4x16xf32>
  return
}

// CHECK-LABEL: func.func @matmul_transpose_a(
func.func @matmul_transpose_a(%a: tensor<8x4xf32>, %b: tensor<8x16xf32>) {
  // CHECK: %[[Y:.*]] = array.matmul
  // CHECK: %[[DA:.*]] = array.matmul %{{.*}}, %[[Y]] transpose_b :
  // CHECK: %[[DB:.*]] = array.matmul %{{.*}}, %[[Y]] :
  // CHECK: return %[[DA]], %[[DB]] : tensor<8x4xf32>, tensor<8x16xf32>
  %y = array.matmul %a, %b transpose_a {vjp} : (tensor<8x4xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  return
}

// CHECK-LABEL: func.func @matmul_transpose_a_transpose_b(
func.func @matmul_transpose_a_transpose_b(%a: tensor<8x4xf32>, %b: tensor<16x8xf32>) {
  // CHECK: %[[Y:.*]] = array.matmul
  // CHECK: %[[DA:.*]] = array.matmul %{{.*}}, %[[Y]] transpose_a transpose_b :
  // CHECK: %[[DB:.*]] = array.matmul %[[Y]], %{{.*}} transpose_a transpose_b :
  // CHECK: return %[[DA]], %[[DB]] : tensor<8x4xf32>, tensor<16x8xf32>
  %y = array.matmul %a, %b transpose_a transpose_b {vjp} : (tensor<8x4xf32>, tensor<16x8xf32>) -> tensor<4x16xf32>
  return
}

// CHECK-LABEL: func.func @matmul_batched(
func.func @matmul_batched(%a: tensor<5x4x8xf16>, %b: tensor<8x16xf16>) {
  // CHECK: %[[Y:.*]] = array.matmul
  // CHECK: %[[G:.*]] = array.convert %[[Y]] : tensor<5x4x16xf32> -> tensor<5x4x16xf16>
  // CHECK: array.matmul %[[G]]
  // CHECK: %[[DB:.*]] = array.dot_general %{{.*}}, %[[G]] batch = [] x [] contract = [0, 1] x [0, 1] : (tensor<5x4x8xf16>, tensor<5x4x16xf16>) -> tensor<8x16xf16>
  // CHECK: return %{{.*}}, %[[DB]]
  %y = array.matmul %a, %b {vjp} : (tensor<5x4x8xf16>, tensor<8x16xf16>) -> tensor<5x4x16xf32>
  return
}

// One matrix on the left of a stack, and all operands transposed.
// CHECK-LABEL: func.func @matmul_batched_transposed(
func.func @matmul_batched_transposed(%a: tensor<8x4xf32>, %b: tensor<5x?x16x8xf32>) {
  // CHECK: %[[Y:.*]] = array.matmul
  // CHECK: %[[DA:.*]] = array.dot_general %{{.*}}, %[[Y]] batch = [] x [] contract = [0, 1, 2] x [0, 1, 3] : {{.*}} -> tensor<8x4xf32>
  // CHECK: return %[[DA]], %{{.*}} : tensor<8x4xf32>, tensor<5x?x16x8xf32>
  %y = array.matmul %a, %b transpose_a transpose_b {vjp} : (tensor<8x4xf32>, tensor<5x?x16x8xf32>) -> tensor<5x?x4x16xf32>
  return
}

// A stack of one matrix is summed up to.
// CHECK-LABEL: func.func @matmul_stack_of_one(
func.func @matmul_stack_of_one(%a: tensor<5x4x8xf32>, %b: tensor<1x8x16xf32>) {
  // CHECK: %[[DB:.*]] = array.matmul %{{.*}} transpose_a
  // CHECK: array.reduce sum, %[[DB]] axes = [0] keepdims
  %y = array.matmul %a, %b {vjp} : (tensor<5x4x8xf32>, tensor<1x8x16xf32>) -> tensor<5x4x16xf32>
  return
}

// CHECK-LABEL: func.func @take(
func.func @take(%x: tensor<3x10x4xf32>, %i: tensor<2x5xui8>) {
  // CHECK: %[[Y:.*]] = array.take
  // CHECK: %[[T:.*]] = array.transpose %[[Y]] permutation = [1, 2, 0, 3] : tensor<3x2x5x4xf32> -> tensor<2x5x3x4xf32>
  // CHECK: %[[V:.*]] = array.expand_dims %{{.*}} axes = [2]
  // CHECK: array.convert %[[V]]
  // CHECK: array.constant dense<9> : tensor<1xi64>
  // CHECK: %[[C:.*]] = array.clamp
  // CHECK: %[[Z:.*]] = array.broadcast_in_dim
  // CHECK: array.scatter add, %[[Z]][%[[C]]] axes = [1] = %[[T]]
  %y = array.take %x[%i] axis = 1 {vjp} : (tensor<3x10x4xf32>, tensor<2x5xui8>) -> tensor<3x2x5x4xf32>
  return
}

// CHECK-LABEL: func.func @gather(
func.func @gather(%x: tensor<4x5x6xf32>, %i: tensor<7x2xi32>) {
  // CHECK: %[[Y:.*]] = array.gather
  // CHECK: array.constant dense<[3, 5]> : tensor<2xi64>
  // CHECK: %[[C:.*]] = array.clamp
  // CHECK: array.scatter add, %{{.*}}[%[[C]]] axes = [0, 2] = %[[Y]]
  %y = array.gather %x[%i] axes = [0, 2] {vjp} : (tensor<4x5x6xf32>, tensor<7x2xi32>) -> tensor<7x5xf32>
  return
}

// CHECK-LABEL: func.func @reverse(
func.func @reverse(%x: tensor<4x?xf32>) {
  // CHECK: %[[Y:.*]] = array.reverse
  // CHECK: array.reverse %[[Y]] axes = [1]
  %y = array.reverse %x axes = [1] {vjp} : tensor<4x?xf32> -> tensor<4x?xf32>
  return
}

// CHECK-LABEL: func.func @slice(
func.func @slice(%x: tensor<9x4xf32>) {
  // CHECK: %[[Y:.*]] = array.slice
  // CHECK: array.pad %[[Y]], %{{.*}} low = [1, 1] high = [4, 3] interior = [2, 0] : (tensor<2x0xf32>, tensor<f32>) -> tensor<9x4xf32>
  %y = array.slice %x [1:7:3, 1:1] {vjp} : tensor<9x4xf32> -> tensor<2x0xf32>
  return
}

// CHECK-LABEL: func.func @slice_with_stride(
func.func @slice_with_stride(%x: tensor<9x4xf32>) {
  // CHECK: array.pad %{{.*}} low = [1, 0] high = [1, 0] interior = [2, 0]
  %y = array.slice %x [1:8:3, :] {vjp} : tensor<9x4xf32> -> tensor<3x4xf32>
  return
}

// CHECK-LABEL: func.func @pad(
func.func @pad(%x: tensor<3x4xf32>, %v: tensor<f32>) {
  // CHECK: %[[Y:.*]] = array.pad
  // CHECK: %[[X:.*]] = array.slice %[[Y]] [1:8:3, :4] : tensor<10x5xf32> -> tensor<3x4xf32>
  // CHECK: %[[ALL:.*]] = array.reduce sum, %[[Y]]
  // CHECK: %[[KEPT:.*]] = array.reduce sum, %[[X]]
  // CHECK: %[[V:.*]] = array.sub %[[ALL]], %[[KEPT]]
  // CHECK: return %[[X]], %[[V]]
  %y = array.pad %x, %v low = [1, 0] high = [2, 1] interior = [2, 0] {vjp} : (tensor<3x4xf32>, tensor<f32>) -> tensor<10x5xf32>
  return
}

// CHECK-LABEL: func.func @take_along_axis(
func.func @take_along_axis(%x: tensor<5x4xf32>, %i: tensor<5x1xui8>) {
  // CHECK: %[[Y:.*]] = array.take_along_axis
  // CHECK: %[[C:.*]] = array.clamp
  // CHECK: %[[I:.*]] = array.iota axis = 1 : tensor<5x4xi64>
  // CHECK: %[[H:.*]] = array.compare eq, %[[C]], %[[I]]
  // CHECK: array.select %[[H]], %[[Y]]
  %y = array.take_along_axis %x[%i] axis = 1 {vjp} : (tensor<5x4xf32>, tensor<5x1xui8>) -> tensor<5x1xf32>
  return
}

// CHECK-LABEL: func.func @cumsum(
func.func @cumsum(%x: tensor<4x5xf32>) {
  // CHECK: %[[Y:.*]] = array.cumsum
  // CHECK: array.cumsum %[[Y]] axis = 1 exclusive reverse
  %y = array.cumsum %x axis = 1 exclusive {vjp} : tensor<4x5xf32> -> tensor<4x5xf32>
  return
}

// CHECK-LABEL: func.func @rope(
func.func @rope(%x: tensor<2x3x4xf32>, %p: tensor<3xui32>) {
  // CHECK: %[[Y:.*]] = array.rope
  // CHECK: %[[P:.*]] = array.convert %{{.*}} : tensor<3xui32> -> tensor<3xi64>
  // CHECK: %[[BACK:.*]] = array.neg %[[P]]
  // CHECK: array.rope %[[Y]], %[[BACK]] base = 1.000000e+04
  %y = array.rope %x, %p base = 1.0e4 {vjp} : (tensor<2x3x4xf32>, tensor<3xui32>) -> tensor<2x3x4xf32>
  return
}

// CHECK-LABEL: func.func @rope_interleaved(
func.func @rope_interleaved(%x: tensor<2x3x4xf32>, %p: tensor<3xf32>) {
  // CHECK: %[[Y:.*]] = array.rope
  // CHECK: array.rope %[[Y]], %{{.*}} base = 1.000000e+02 interleaved
  %y = array.rope %x, %p base = 1.0e2 interleaved {vjp} : (tensor<2x3x4xf32>, tensor<3xf32>) -> tensor<2x3x4xf32>
  return
}

// Those that attain the maximum share its gradient, counted where they meet.
// CHECK-LABEL: func.func @scatter_max(
// CHECK:         %[[Y:.*]] = array.scatter max
// CHECK:         array.gather %[[Y]]
// CHECK:         array.scatter add, {{.*}} : (tensor<4xi64>, tensor<3x1xi32>, tensor<3xi64>) -> tensor<4xi64>
// CHECK:         array.div %[[Y]]
func.func @scatter_max(%x: tensor<4xf32>, %i: tensor<3x1xi32>, %u: tensor<3xf32>) -> tensor<4xf32> {
  %y = array.scatter max, %x[%i] axes = [0] = %u {vjp} : (tensor<4xf32>, tensor<3x1xi32>, tensor<3xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// CHECK-LABEL: func.func @scatter_mul(
// CHECK:         array.scatter mul, {{.*}} : (tensor<4xf32>, tensor<3x1xi32>, tensor<3xf32>) -> tensor<4xf32>
// CHECK:         array.scatter add, {{.*}} : (tensor<4xi64>, tensor<3x1xi32>, tensor<3xi64>) -> tensor<4xi64>
func.func @scatter_mul(%x: tensor<4xf32>, %i: tensor<3x1xi32>, %u: tensor<3xf32>) -> tensor<4xf32> {
  %y = array.scatter mul, %x[%i] axes = [0] = %u {vjp} : (tensor<4xf32>, tensor<3x1xi32>, tensor<3xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// A composite without a gradient of its own, through what it consists of.
// CHECK-LABEL: func.func @variance(
// CHECK-SAME:    %[[X:.*]]: tensor<4x8xf32>
// CHECK:         %[[Y:.*]] = array.var
// CHECK:         array.mul
// CHECK:         return %{{.*}} : tensor<4x8xf32>
func.func @variance(%x: tensor<4x8xf32>) -> tensor<4xf32> {
  %y = array.var %x axes = [1] {vjp} : tensor<4x8xf32> -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// Sizes are operands as well, to which nothing flows back.
// CHECK-LABEL: func.func @reshape_to_sizes(
// CHECK-SAME:    %[[X:.*]]: tensor<?x?x4xf32>, %[[N:.*]]: index, %[[M:.*]]: index
func.func @reshape_to_sizes(%x: tensor<?x?x4xf32>, %n: index, %m: index) {
  // CHECK: %[[Y:.*]] = array.reshape %[[X]] sizes(%[[N]], %[[M]])
  // CHECK-DAG: %[[A:.*]] = tensor.dim %[[X]], %c0
  // CHECK-DAG: %[[B:.*]] = tensor.dim %[[X]], %c1
  // CHECK: %[[D:.*]] = array.reshape %[[Y]] sizes(%[[A]], %[[B]]) : tensor<?x?x2x2xf32> -> tensor<?x?x4xf32>
  // CHECK: return %[[D]] : tensor<?x?x4xf32>
  %y = array.reshape %x sizes(%n, %m) {vjp} : tensor<?x?x4xf32> -> tensor<?x?x2x2xf32>
  return
}

// CHECK-LABEL: func.func @broadcast_to_sizes(
func.func @broadcast_to_sizes(%x: tensor<1x?xf32>, %n: index) {
  // CHECK: %[[S:.*]] = array.reduce sum, %{{.*}} axes = [0] keepdims : tensor<?x?xf32> -> tensor<1x?xf32>
  // CHECK: return %[[S]] : tensor<1x?xf32>
  %m = array.dim %x, 1 : tensor<1x?xf32>
  %y = array.broadcast_in_dim %x axes = [0, 1] sizes(%n, %m) {vjp} : tensor<1x?xf32> -> tensor<?x?xf32>
  return
}
