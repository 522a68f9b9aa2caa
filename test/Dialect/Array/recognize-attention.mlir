// RUN: xc-opt %s -split-input-file -xc-array-recognize -canonicalize | FileCheck %s

// Heads apart, scores divided, a constant in place of hidden ones: as einsum and where write it.
// CHECK: array.recognized = {attention = 1 : i64, "causal mask" = 1 : i64, movement = 1 : i64, softmax = 1 : i64}
// CHECK-LABEL: func.func @causal
// CHECK-SAME:    %[[Q:.*]]: tensor<2x128x4x64xbf16>, %[[K:.*]]: tensor<2x128x4x64xbf16>, %[[V:.*]]: tensor
// CHECK-DAG:     %[[TQ:.*]] = array.transpose %[[Q]] permutation = [0, 2, 1, 3]
// CHECK-DAG:     %[[TK:.*]] = array.transpose %[[K]] permutation = [0, 2, 1, 3]
// CHECK-DAG:     %[[TV:.*]] = array.transpose %[[V]] permutation = [0, 2, 1, 3]
// CHECK:         %[[R:.*]] = array.attention %[[TQ]], %[[TK]], %[[TV]] causal scale = 1.250000e-01
// CHECK:         %[[Y:.*]] = array.transpose %[[R]] permutation = [0, 2, 1, 3]
// CHECK:         return %[[Y]]
func.func @causal(%q: tensor<2x128x4x64xbf16>, %k: tensor<2x128x4x64xbf16>, %v: tensor<2x128x4x64xbf16>) -> tensor<2x128x4x64xbf16> {
  %eight = array.constant dense<8.0> : tensor<bf16>
  %low = array.constant dense<-1.0e9> : tensor<2x4x128x128xbf16>
  %i = array.iota axis = 0 : tensor<128x128xi32>
  %j = array.iota axis = 1 : tensor<128x128xi32>
  %seen = array.compare ge, %i, %j : (tensor<128x128xi32>, tensor<128x128xi32>) -> tensor<128x128xi1>
  %all = array.broadcast_in_dim %seen axes = [2, 3] : tensor<128x128xi1> -> tensor<2x4x128x128xi1>
  %s = array.dot_general %q, %k batch = [0, 2] x [0, 2] contract = [3] x [3] : (tensor<2x128x4x64xbf16>, tensor<2x128x4x64xbf16>) -> tensor<2x4x128x128xbf16>
  %d = array.div %s, %eight : (tensor<2x4x128x128xbf16>, tensor<bf16>) -> tensor<2x4x128x128xbf16>
  %h = array.select %all, %d, %low : (tensor<2x4x128x128xi1>, tensor<2x4x128x128xbf16>, tensor<2x4x128x128xbf16>) -> tensor<2x4x128x128xbf16>
  %m = array.reduce max, %h axes = [3] keepdims : tensor<2x4x128x128xbf16> -> tensor<2x4x128x1xbf16>
  %x = array.sub %h, %m : (tensor<2x4x128x128xbf16>, tensor<2x4x128x1xbf16>) -> tensor<2x4x128x128xbf16>
  %e = array.exp %x : tensor<2x4x128x128xbf16>
  %w = array.convert %e : tensor<2x4x128x128xbf16> -> tensor<2x4x128x128xf32>
  %t = array.reduce sum, %w axes = [3] : tensor<2x4x128x128xf32> -> tensor<2x4x128xf32>
  %u = array.convert %t : tensor<2x4x128xf32> -> tensor<2x4x128xbf16>
  %b = array.broadcast_in_dim %u axes = [0, 1, 2] : tensor<2x4x128xbf16> -> tensor<2x4x128x128xbf16>
  %p = array.div %e, %b : tensor<2x4x128x128xbf16>
  %o = array.dot_general %v, %p batch = [0, 2] x [0, 1] contract = [1] x [3] : (tensor<2x128x4x64xbf16>, tensor<2x4x128x128xbf16>) -> tensor<2x4x64x128xbf16>
  %y = array.transpose %o permutation = [0, 3, 1, 2] : tensor<2x4x64x128xbf16> -> tensor<2x128x4x64xbf16>
  return %y : tensor<2x128x4x64xbf16>
}

// -----

// Transposed keys, a scale on the queries before their heads are moved, softmax in f32 between conversions, an open batch.
// CHECK-LABEL: func.func @open
// CHECK-SAME:    %[[Q:.*]]: tensor<?x128x4x64xf16>, %[[K:.*]]: tensor<?x4x64x128xf16>, %[[V:.*]]: tensor<?x4x128x64xf16>
// CHECK-DAG:     %[[TQ:.*]] = array.transpose %[[Q]] permutation = [0, 2, 1, 3]
// CHECK-DAG:     %[[TK:.*]] = array.transpose %[[K]] permutation = [0, 1, 3, 2]
// CHECK:         %[[R:.*]] = array.attention %[[TQ]], %[[TK]], %[[V]] mask(%{{.*}} : tensor<?x1x1x128xf16>) scale = 2.500000e-01
// CHECK:         return %[[R]]
func.func @open(%q: tensor<?x128x4x64xf16>, %k: tensor<?x4x64x128xf16>, %v: tensor<?x4x128x64xf16>, %mask: tensor<?x1x1x128xf16>) -> tensor<?x4x128x64xf16> {
  %scale = array.constant dense<0.25> : tensor<f16>
  %a = array.mul %q, %scale : (tensor<?x128x4x64xf16>, tensor<f16>) -> tensor<?x128x4x64xf16>
  %b = array.transpose %a permutation = [0, 2, 1, 3] : tensor<?x128x4x64xf16> -> tensor<?x4x128x64xf16>
  %s = array.matmul %b, %k : (tensor<?x4x128x64xf16>, tensor<?x4x64x128xf16>) -> tensor<?x4x128x128xf16>
  %h = array.add %s, %mask : (tensor<?x4x128x128xf16>, tensor<?x1x1x128xf16>) -> tensor<?x4x128x128xf16>
  %w = array.convert %h : tensor<?x4x128x128xf16> -> tensor<?x4x128x128xf32>
  %p = array.softmax %w axis = 3 : tensor<?x4x128x128xf32>
  %n = array.convert %p : tensor<?x4x128x128xf32> -> tensor<?x4x128x128xf16>
  %y = array.matmul %n, %v : (tensor<?x4x128x128xf16>, tensor<?x4x128x64xf16>) -> tensor<?x4x128x64xf16>
  return %y : tensor<?x4x128x64xf16>
}

// -----

// Heads of keys that are shared, as groups of queries; truth values of data hide keys by -infinity.
// CHECK-LABEL: func.func @groups
// CHECK-SAME:    %[[Q:.*]]: tensor<2x32x6x64xbf16>
// CHECK:         %[[TQ:.*]] = array.transpose %[[Q]] permutation = [0, 2, 1, 3]
// CHECK:         %[[R:.*]] = array.attention %[[TQ]], %{{.*}}, %{{.*}} mask(%{{.*}} : tensor<2x1x1x128xi1>) scale = 1.000000e+00
// CHECK-SAME:      (tensor<2x6x32x64xbf16>, tensor<2x2x128x64xbf16>, tensor<2x2x128x64xbf16>)
// CHECK:         %[[Y:.*]] = array.transpose %[[R]] permutation = [0, 2, 1, 3]
// CHECK:         return %[[Y]]
func.func @groups(%q: tensor<2x32x6x64xbf16>, %k: tensor<2x128x2x64xbf16>, %v: tensor<2x128x2x64xbf16>, %seen: tensor<2x128xi1>) -> tensor<2x32x6x64xbf16> {
  %low = array.constant dense<0xFF800000> : tensor<f32>
  %g = array.reshape %q : tensor<2x32x6x64xbf16> -> tensor<2x32x2x3x64xbf16>
  %s = array.dot_general %g, %k batch = [0, 2] x [0, 2] contract = [4] x [3] : (tensor<2x32x2x3x64xbf16>, tensor<2x128x2x64xbf16>) -> tensor<2x2x32x3x128xf32>
  %all = array.broadcast_in_dim %seen axes = [0, 4] : tensor<2x128xi1> -> tensor<2x2x32x3x128xi1>
  %h = array.select %all, %s, %low : (tensor<2x2x32x3x128xi1>, tensor<2x2x32x3x128xf32>, tensor<f32>) -> tensor<2x2x32x3x128xf32>
  %t = array.transpose %h permutation = [0, 1, 3, 2, 4] : tensor<2x2x32x3x128xf32> -> tensor<2x2x3x32x128xf32>
  %p = array.softmax %t axis = 4 : tensor<2x2x3x32x128xf32>
  %n = array.convert %p : tensor<2x2x3x32x128xf32> -> tensor<2x2x3x32x128xbf16>
  %o = array.dot_general %n, %v batch = [0, 1] x [0, 2] contract = [4] x [1] : (tensor<2x2x3x32x128xbf16>, tensor<2x128x2x64xbf16>) -> tensor<2x2x3x32x64xbf16>
  %u = array.transpose %o permutation = [0, 3, 1, 2, 4] : tensor<2x2x3x32x64xbf16> -> tensor<2x32x2x3x64xbf16>
  %y = array.reshape %u : tensor<2x32x2x3x64xbf16> -> tensor<2x32x6x64xbf16>
  return %y : tensor<2x32x6x64xbf16>
}

// -----

// Data hides keys by a finite number: where all are hidden, weights are equal, and stay so.
// CHECK-LABEL: func.func @finite
// CHECK:         %[[MASK:.*]] = array.select %{{.*}} : {{.*}} -> tensor<1x1x128xf32>
// CHECK:         array.attention %{{.*}} mask(%[[MASK]] : tensor<1x1x128xf32>)
func.func @finite(%q: tensor<4x32x64xbf16>, %k: tensor<4x128x64xbf16>, %seen: tensor<128xi1>) -> tensor<4x32x64xbf16> {
  %low = array.constant dense<-1.0e4> : tensor<f32>
  %s = array.matmul %q, %k transpose_b : (tensor<4x32x64xbf16>, tensor<4x128x64xbf16>) -> tensor<4x32x128xf32>
  %h = array.select %seen, %s, %low : (tensor<128xi1>, tensor<4x32x128xf32>, tensor<f32>) -> tensor<4x32x128xf32>
  %p = array.softmax %h axis = 2 : tensor<4x32x128xf32>
  %n = array.convert %p : tensor<4x32x128xf32> -> tensor<4x32x128xbf16>
  %y = array.matmul %n, %k : (tensor<4x32x128xbf16>, tensor<4x128x64xbf16>) -> tensor<4x32x64xbf16>
  return %y : tensor<4x32x64xbf16>
}

// -----

// The weights are a result, too.
// CHECK-LABEL: func.func @used
// CHECK-NOT:     array.attention
func.func @used(%q: tensor<4x32x64xbf16>, %k: tensor<4x128x64xbf16>) -> (tensor<4x32x64xbf16>, tensor<4x32x128xbf16>) {
  %s = array.matmul %q, %k transpose_b : (tensor<4x32x64xbf16>, tensor<4x128x64xbf16>) -> tensor<4x32x128xbf16>
  %p = array.softmax %s axis = 2 : tensor<4x32x128xbf16>
  %y = array.matmul %p, %k : (tensor<4x32x128xbf16>, tensor<4x128x64xbf16>) -> tensor<4x32x64xbf16>
  return %y, %p : tensor<4x32x64xbf16>, tensor<4x32x128xbf16>
}

// -----

// The softmax is over the queries.
// CHECK-LABEL: func.func @other_dim
// CHECK-NOT:     array.attention
func.func @other_dim(%q: tensor<4x32x64xbf16>, %k: tensor<4x128x64xbf16>) -> tensor<4x32x64xbf16> {
  %s = array.matmul %q, %k transpose_b : (tensor<4x32x64xbf16>, tensor<4x128x64xbf16>) -> tensor<4x32x128xbf16>
  %p = array.softmax %s axis = 1 : tensor<4x32x128xbf16>
  %y = array.matmul %p, %k : (tensor<4x32x128xbf16>, tensor<4x128x64xbf16>) -> tensor<4x32x64xbf16>
  return %y : tensor<4x32x64xbf16>
}

// -----

// Scores are squashed by a function that the op does not have; keys are shared where values are not; a product that may be rounded to tf32.
// CHECK-LABEL: func.func @others
// CHECK-NOT:     array.attention
func.func @others(%q: tensor<4x32x64xf32>, %k: tensor<4x128x64xf32>, %one: tensor<1x128x64xf32>) -> (tensor<4x32x64xf32>, tensor<4x32x64xf32>, tensor<4x32x64xf32>) {
  %s = array.matmul %q, %k transpose_b : (tensor<4x32x64xf32>, tensor<4x128x64xf32>) -> tensor<4x32x128xf32>
  %c = array.sigmoid %s : tensor<4x32x128xf32>
  %p = array.softmax %c axis = 2 : tensor<4x32x128xf32>
  %y = array.matmul %p, %k : (tensor<4x32x128xf32>, tensor<4x128x64xf32>) -> tensor<4x32x64xf32>
  %s1 = array.matmul %q, %one transpose_b : (tensor<4x32x64xf32>, tensor<1x128x64xf32>) -> tensor<4x32x128xf32>
  %p1 = array.softmax %s1 axis = 2 : tensor<4x32x128xf32>
  %y1 = array.matmul %p1, %k : (tensor<4x32x128xf32>, tensor<4x128x64xf32>) -> tensor<4x32x64xf32>
  %s2 = array.matmul %q, %k transpose_b allow_tf32 : (tensor<4x32x64xf32>, tensor<4x128x64xf32>) -> tensor<4x32x128xf32>
  %p2 = array.softmax %s2 axis = 2 : tensor<4x32x128xf32>
  %y2 = array.matmul %p2, %k : (tensor<4x32x128xf32>, tensor<4x128x64xf32>) -> tensor<4x32x64xf32>
  return %y, %y1, %y2 : tensor<4x32x64xf32>, tensor<4x32x64xf32>, tensor<4x32x64xf32>
}

// -----

// As PyTorch's exporter writes it: both operands scaled, keys moved as a batch of matrices, weights that are no number cleared.
// CHECK-LABEL: func.func @cleared
// CHECK-NOT:     array.is_nan
// CHECK:         array.attention %{{.*}}, %{{.*}}, %{{.*}} mask(%{{.*}} : tensor<2x1x128x128xf32>) scale = 2.500000e-01
// CHECK-NOT:     array.is_nan
func.func @cleared(%q: tensor<2x4x128x16xf32>, %k: tensor<2x4x128x16xf32>, %v: tensor<2x4x128x16xf32>, %mask: tensor<2x1x128x128xf32>) -> tensor<2x4x128x16xf32> {
  %half = array.constant dense<0.5> : tensor<f32>
  %zero = array.constant dense<0.0> : tensor<f32>
  %a = array.reshape %k : tensor<2x4x128x16xf32> -> tensor<8x128x16xf32>
  %b = array.transpose %a permutation = [0, 2, 1] : tensor<8x128x16xf32> -> tensor<8x16x128xf32>
  %c = array.reshape %b : tensor<8x16x128xf32> -> tensor<2x4x16x128xf32>
  %sq = array.mul %q, %half : (tensor<2x4x128x16xf32>, tensor<f32>) -> tensor<2x4x128x16xf32>
  %sk = array.mul %c, %half : (tensor<2x4x16x128xf32>, tensor<f32>) -> tensor<2x4x16x128xf32>
  %s = array.matmul %sq, %sk : (tensor<2x4x128x16xf32>, tensor<2x4x16x128xf32>) -> tensor<2x4x128x128xf32>
  %m = array.add %s, %mask : (tensor<2x4x128x128xf32>, tensor<2x1x128x128xf32>) -> tensor<2x4x128x128xf32>
  %w = array.softmax %m axis = 3 : tensor<2x4x128x128xf32>
  %n = array.is_nan %w : tensor<2x4x128x128xf32> -> tensor<2x4x128x128xi1>
  %p = array.select %n, %zero, %w : (tensor<2x4x128x128xi1>, tensor<f32>, tensor<2x4x128x128xf32>) -> tensor<2x4x128x128xf32>
  %o = array.matmul %p, %v : (tensor<2x4x128x128xf32>, tensor<2x4x128x16xf32>) -> tensor<2x4x128x16xf32>
  return %o : tensor<2x4x128x16xf32>
}

// -----

// Another number than 0 is no attention.
// CHECK-LABEL: func.func @cleared_otherwise
// CHECK-NOT:     array.attention
func.func @cleared_otherwise(%q: tensor<4x32x64xf32>, %k: tensor<4x128x64xf32>) -> tensor<4x32x64xf32> {
  %one = array.constant dense<1.0> : tensor<f32>
  %s = array.matmul %q, %k transpose_b : (tensor<4x32x64xf32>, tensor<4x128x64xf32>) -> tensor<4x32x128xf32>
  %w = array.softmax %s axis = 2 : tensor<4x32x128xf32>
  %n = array.is_nan %w : tensor<4x32x128xf32> -> tensor<4x32x128xi1>
  %p = array.select %n, %one, %w : (tensor<4x32x128xi1>, tensor<f32>, tensor<4x32x128xf32>) -> tensor<4x32x128xf32>
  %o = array.matmul %p, %k : (tensor<4x32x128xf32>, tensor<4x128x64xf32>) -> tensor<4x32x64xf32>
  return %o : tensor<4x32x64xf32>
}
