// RUN: xc-opt %s -split-input-file -xc-array-keep-attention -xc-array-decompose | FileCheck %s
// RUN: xc-opt %s -split-input-file '-xc-array-keep-attention=mma=false blocks=true' -xc-array-decompose | FileCheck %s --check-prefix=BLOCKS

// CHECK-LABEL: func.func @half
// CHECK:         array.attention %{{.*}} {array.whole}
func.func @half(%q: tensor<2x?x64xf16>, %k: tensor<2x?x64xf16>) -> tensor<2x?x64xf16> {
  %r = array.attention %q, %k, %k scale = 0.125 : (tensor<2x?x64xf16>, tensor<2x?x64xf16>, tensor<2x?x64xf16>) -> tensor<2x?x64xf16>
  return %r : tensor<2x?x64xf16>
}

// BLOCKS-LABEL: func.func @half
// BLOCKS:         array.attention %{{.*}} {array.whole}

// Few queries, and pages, are work for blocks of keys, too.
// CHECK-LABEL: func.func @few
// CHECK:         array.attention %{{.*}} {array.whole}
// CHECK:         array.paged_attention %{{.*}} {array.whole}
// BLOCKS-LABEL: func.func @few
// BLOCKS:         array.attention %{{.*}} {array.whole}
// BLOCKS:         array.paged_attention %{{.*}} {array.whole}
func.func @few(%q: tensor<2x4x1x64xf16>, %k: tensor<2x2x20x64xf16>, %p: tensor<9x2x16x64xf16>, %t: tensor<2x3xi32>, %n: tensor<2xi32>)
    -> (tensor<2x4x1x64xf16>, tensor<2x4x1x64xf16>) {
  %a = array.attention %q, %k, %k scale = 0.125 : (tensor<2x4x1x64xf16>, tensor<2x2x20x64xf16>, tensor<2x2x20x64xf16>) -> tensor<2x4x1x64xf16>
  %b = array.paged_attention %q, %p, %p table(%t : tensor<2x3xi32>) lengths(%n : tensor<2xi32>) scale = 0.125
     : (tensor<2x4x1x64xf16>, tensor<9x2x16x64xf16>, tensor<9x2x16x64xf16>) -> tensor<2x4x1x64xf16>
  return %a, %b : tensor<2x4x1x64xf16>, tensor<2x4x1x64xf16>
}

// CHECK-LABEL: func.func @few_single
// CHECK:         array.attention %{{.*}} {array.whole}
// CHECK:         array.paged_attention %{{.*}} {array.whole}
// BLOCKS-LABEL: func.func @few_single
// BLOCKS:         array.attention %{{.*}} {array.whole}
// BLOCKS:         array.paged_attention %{{.*}} {array.whole}
func.func @few_single(%q: tensor<2x4x1x64xf32>, %k: tensor<2x2x20x64xf32>, %p: tensor<9x2x16x64xf32>, %t: tensor<2x3xi32>, %n: tensor<2xi32>)
    -> (tensor<2x4x1x64xf32>, tensor<2x4x1x64xf32>) {
  %a = array.attention %q, %k, %k scale = 0.125 : (tensor<2x4x1x64xf32>, tensor<2x2x20x64xf32>, tensor<2x2x20x64xf32>) -> tensor<2x4x1x64xf32>
  %b = array.paged_attention %q, %p, %p table(%t : tensor<2x3xi32>) lengths(%n : tensor<2xi32>) scale = 0.125
     : (tensor<2x4x1x64xf32>, tensor<9x2x16x64xf32>, tensor<9x2x16x64xf32>) -> tensor<2x4x1x64xf32>
  return %a, %b : tensor<2x4x1x64xf32>, tensor<2x4x1x64xf32>
}

// No kernel takes wide types, or a vector of a size that is not known. Of pages it may have any number of queries.
// BLOCKS-LABEL: func.func @others
// BLOCKS:         array.attention %{{.*}} {array.whole} : (tensor<2x20x64xf32>
// BLOCKS-NOT:     array.attention
// BLOCKS:         array.paged_attention %{{.*}} {array.whole}
// BLOCKS-NOT:     array.attention
// CHECK-LABEL: func.func @others
// CHECK:         array.attention %{{.*}} {array.whole} : (tensor<2x20x64xf32>
// CHECK-NOT:     array.attention
// CHECK:         array.paged_attention %{{.*}} {array.whole}
// CHECK-NOT:     array.attention
func.func @others(%q: tensor<2x20x64xf32>, %e: tensor<2x20x64xf64>, %d: tensor<2x20x?xf16>, %t: tensor<2x4x20x64xf16>, %p: tensor<9x2x16x64xf16>, %i: tensor<2x3xi32>, %n: tensor<2xi32>)
    -> (tensor<2x20x64xf32>, tensor<2x20x?xf16>, tensor<2x4x20x64xf16>, tensor<2x20x64xf64>) {
  %a = array.attention %q, %q, %q scale = 0.125 : (tensor<2x20x64xf32>, tensor<2x20x64xf32>, tensor<2x20x64xf32>) -> tensor<2x20x64xf32>
  %b = array.attention %d, %d, %d scale = 0.125 : (tensor<2x20x?xf16>, tensor<2x20x?xf16>, tensor<2x20x?xf16>) -> tensor<2x20x?xf16>
  %c = array.paged_attention %t, %p, %p table(%i : tensor<2x3xi32>) lengths(%n : tensor<2xi32>) scale = 0.125
     : (tensor<2x4x20x64xf16>, tensor<9x2x16x64xf16>, tensor<9x2x16x64xf16>) -> tensor<2x4x20x64xf16>
  %g = array.attention %e, %e, %e scale = 0.125 : (tensor<2x20x64xf64>, tensor<2x20x64xf64>, tensor<2x20x64xf64>) -> tensor<2x20x64xf64>
  return %a, %b, %c, %g : tensor<2x20x64xf32>, tensor<2x20x?xf16>, tensor<2x4x20x64xf16>, tensor<2x20x64xf64>
}

// -----

// Of what is left whole only the number of keys may be a runtime size, and only where that is an offset: of few queries
// that are causal, or one. What has known sizes is no matter of extents.
// CHECK-LABEL: func.func @extent
// CHECK:         array.attention {{.*}}array.whole{{.*}}tensor<2x4x1x64xf16>, tensor<2x2x?x64xf16>
// CHECK:         array.attention {{.*}}causal scale {{.*}}array.whole
// CHECK:         array.attention {{.*}}array.whole{{.*}}tensor<2x20x64xf16>, tensor<2x20x64xf16>
// CHECK-NOT:     array.attention
// BLOCKS-LABEL: func.func @extent
// BLOCKS:         array.attention {{.*}}array.whole{{.*}}tensor<2x20x64xf16>
// BLOCKS-NOT:     array.attention
func.func @extent(%q: tensor<2x4x1x64xf16>, %t: tensor<2x4x3x64xf16>, %k: tensor<2x2x30x64xf16>, %o: tensor<i64>, %n: tensor<i64>, %m: tensor<2x20x64xf16>, %b: tensor<5x4x1x64xf16>)
    -> (tensor<2x4x1x64xf16>, tensor<2x4x3x64xf16>, tensor<2x20x64xf16>, tensor<2x4x3x64xf16>, tensor<2x4x3x64xf16>, tensor<2x20x64xf16>, tensor<?x4x1x64xf16>) {
  %grown = array.set_extent %k, %n axis = 2 : (tensor<2x2x30x64xf16>, tensor<i64>) -> tensor<2x2x?x64xf16>
  %long = array.set_extent %m, %n axis = 1 : (tensor<2x20x64xf16>, tensor<i64>) -> tensor<2x?x64xf16>
  %batch = array.set_extent %b, %n axis = 0 : (tensor<5x4x1x64xf16>, tensor<i64>) -> tensor<?x4x1x64xf16>
  %r0 = array.attention %q, %grown, %grown scale = 0.125 : (tensor<2x4x1x64xf16>, tensor<2x2x?x64xf16>, tensor<2x2x?x64xf16>) -> tensor<2x4x1x64xf16>
  %r1 = array.attention %t, %grown, %grown causal scale = 0.125 : (tensor<2x4x3x64xf16>, tensor<2x2x?x64xf16>, tensor<2x2x?x64xf16>) -> tensor<2x4x3x64xf16>
  %r2 = array.attention %m, %m, %m scale = 0.125 : (tensor<2x20x64xf16>, tensor<2x20x64xf16>, tensor<2x20x64xf16>) -> tensor<2x20x64xf16>
  %r3 = array.attention %t, %grown, %grown scale = 0.125 : (tensor<2x4x3x64xf16>, tensor<2x2x?x64xf16>, tensor<2x2x?x64xf16>) -> tensor<2x4x3x64xf16>
  %r4 = array.attention %t, %grown, %grown causal offset(%o : tensor<i64>) scale = 0.125 : (tensor<2x4x3x64xf16>, tensor<2x2x?x64xf16>, tensor<2x2x?x64xf16>) -> tensor<2x4x3x64xf16>
  %r5 = array.attention %m, %long, %long causal scale = 0.125 : (tensor<2x20x64xf16>, tensor<2x?x64xf16>, tensor<2x?x64xf16>) -> tensor<2x20x64xf16>
  %r6 = array.attention %batch, %batch, %batch scale = 0.125 : (tensor<?x4x1x64xf16>, tensor<?x4x1x64xf16>, tensor<?x4x1x64xf16>) -> tensor<?x4x1x64xf16>
  return %r0, %r1, %r2, %r3, %r4, %r5, %r6 : tensor<2x4x1x64xf16>, tensor<2x4x3x64xf16>, tensor<2x20x64xf16>, tensor<2x4x3x64xf16>, tensor<2x4x3x64xf16>, tensor<2x20x64xf16>, tensor<?x4x1x64xf16>
}

// -----

// BLOCKS-LABEL: func.func @gradient(
// The gradient takes the attention's logsumexp, and what sums of products of its result and the cotangent are.
// CHECK-LABEL: func.func @gradient
// CHECK:         %[[R:.*]], %[[L:.*]] = array.attention %{{.*}} causal logsumexp {{.*}}array.whole
// CHECK:         %[[DELTA:.*]] = array.reduce sum
// CHECK:         array.attention_gradient %{{.*}} causal rows(%[[L]], %[[DELTA]] : tensor<2x20xf32>, tensor<2x20xf32>) {{.*}}array.whole
// CHECK:         return %[[R]]
func.func @gradient(%q: tensor<2x20x64xf16>, %k: tensor<2x30x64xf16>, %g: tensor<2x20x64xf16>) -> (tensor<2x20x64xf16>, tensor<2x20x64xf16>, tensor<2x30x64xf16>, tensor<2x30x64xf16>) {
  %r = array.attention %q, %k, %k causal scale = 0.125 : (tensor<2x20x64xf16>, tensor<2x30x64xf16>, tensor<2x30x64xf16>) -> tensor<2x20x64xf16>
  %a, %b, %c = array.attention_gradient %q, %k, %k, %g causal scale = 0.125 : (tensor<2x20x64xf16>, tensor<2x30x64xf16>, tensor<2x30x64xf16>, tensor<2x20x64xf16>) -> tensor<2x20x64xf16>, tensor<2x30x64xf16>, tensor<2x30x64xf16>
  return %r, %a, %b, %c : tensor<2x20x64xf16>, tensor<2x20x64xf16>, tensor<2x30x64xf16>, tensor<2x30x64xf16>
}

// -----

// An attention of another scale is no help. Lengths need not be known.
// CHECK-LABEL: func.func @gradient_alone
// CHECK:         array.attention %{{.*}} scale = 5.000000e-01 {{.*}}array.whole
// CHECK:         array.attention %{{.*}} logsumexp scale = 1.250000e-01 {{.*}}array.whole
// CHECK:         array.attention_gradient
// CHECK:         array.attention %{{.*}} logsumexp scale = 1.250000e-01 {{.*}}array.whole{{.*}}tensor<2x?x64xf16>
// CHECK:         array.attention_gradient {{.*}}array.whole{{.*}}tensor<2x?x64xf16>
func.func @gradient_alone(%q: tensor<2x20x64xf16>, %k: tensor<2x30x64xf16>, %g: tensor<2x20x64xf16>, %x: tensor<2x?x64xf16>) -> (tensor<2x20x64xf16>, tensor<2x20x64xf16>, tensor<2x?x64xf16>) {
  %r = array.attention %q, %k, %k scale = 0.5 : (tensor<2x20x64xf16>, tensor<2x30x64xf16>, tensor<2x30x64xf16>) -> tensor<2x20x64xf16>
  %a, %b, %c = array.attention_gradient %q, %k, %k, %g scale = 0.125 : (tensor<2x20x64xf16>, tensor<2x30x64xf16>, tensor<2x30x64xf16>, tensor<2x20x64xf16>) -> tensor<2x20x64xf16>, tensor<2x30x64xf16>, tensor<2x30x64xf16>
  %d, %e, %f = array.attention_gradient %x, %x, %x, %x scale = 0.125 : (tensor<2x?x64xf16>, tensor<2x?x64xf16>, tensor<2x?x64xf16>, tensor<2x?x64xf16>) -> tensor<2x?x64xf16>, tensor<2x?x64xf16>, tensor<2x?x64xf16>
  return %r, %a, %d : tensor<2x20x64xf16>, tensor<2x20x64xf16>, tensor<2x?x64xf16>
}

// -----

// What sinks get follows from the rows, and so does what a mask of a number for each query gets.
// CHECK-LABEL: func.func @gradient_of_sinks
// CHECK:         %{{.*}}, %[[L:.*]] = array.attention %{{.*}} sinks({{.*}}) logsumexp
// CHECK:         %[[DELTA:.*]] = array.reduce sum
// CHECK:         array.exp
// CHECK:         %[[SINKS:.*]] = array.reduce sum
// CHECK:         array.attention_gradient %{{.*}} sinks(%{{.*}} : tensor<2xf32>) rows(%[[L]], %[[DELTA]] : {{.*}}) {{.*}}array.whole
// CHECK:         return {{.*}}%[[SINKS]]
func.func @gradient_of_sinks(%q: tensor<2x20x64xf16>, %k: tensor<2x30x64xf16>, %g: tensor<2x20x64xf16>, %s: tensor<2xf32>) -> (tensor<2x20x64xf16>, tensor<2x30x64xf16>, tensor<2x30x64xf16>, tensor<2xf32>) {
  %a, %b, %c, %d = array.attention_gradient %q, %k, %k, %g sinks(%s : tensor<2xf32>) to_sinks scale = 0.125 : (tensor<2x20x64xf16>, tensor<2x30x64xf16>, tensor<2x30x64xf16>, tensor<2x20x64xf16>) -> tensor<2x20x64xf16>, tensor<2x30x64xf16>, tensor<2x30x64xf16>, tensor<2xf32>
  return %a, %b, %c, %d : tensor<2x20x64xf16>, tensor<2x30x64xf16>, tensor<2x30x64xf16>, tensor<2xf32>
}

// -----

// A mask of queries and keys has a kernel; one of queries changes nothing. One of keys alone gets the dims before the queries,
// and what these got is added up.
// CHECK-LABEL: func.func @gradient_of_mask(
// CHECK:         array.attention_gradient {{.*}} to_mask rows({{.*}}array.whole
// CHECK-LABEL: func.func @gradient_of_queries_mask
// CHECK:         array.attention_gradient
// CHECK-NOT:     to_mask
// CHECK-LABEL: func.func @gradient_of_keys_mask
// CHECK:         %[[SPREAD:.*]] = array.broadcast_in_dim %{{.*}} axes = [2] : tensor<30xf32> -> tensor<2x1x30xf32>
// CHECK:         %{{.*}}, %{{.*}}, %{{.*}}, %[[MASK:.*]] = array.attention_gradient {{.*}} mask(%[[SPREAD]] : tensor<2x1x30xf32>) to_mask {{.*}}array.whole
// CHECK:         %[[SUM:.*]] = array.reduce sum, %[[MASK]] axes = [0, 1]
func.func @gradient_of_mask(%q: tensor<2x20x64xf16>, %k: tensor<2x30x64xf16>, %m: tensor<1x20x30xf32>) -> (tensor<2x20x64xf16>, tensor<1x20x30xf32>) {
  %a, %b, %c, %d = array.attention_gradient %q, %k, %k, %q mask(%m : tensor<1x20x30xf32>) to_mask scale = 0.125 : (tensor<2x20x64xf16>, tensor<2x30x64xf16>, tensor<2x30x64xf16>, tensor<2x20x64xf16>) -> tensor<2x20x64xf16>, tensor<2x30x64xf16>, tensor<2x30x64xf16>, tensor<1x20x30xf32>
  return %a, %d : tensor<2x20x64xf16>, tensor<1x20x30xf32>
}
func.func @gradient_of_queries_mask(%q: tensor<2x20x64xf16>, %k: tensor<2x30x64xf16>, %m: tensor<20x1xf32>) -> (tensor<2x20x64xf16>, tensor<20x1xf32>) {
  %a, %b, %c, %d = array.attention_gradient %q, %k, %k, %q mask(%m : tensor<20x1xf32>) to_mask scale = 0.125 : (tensor<2x20x64xf16>, tensor<2x30x64xf16>, tensor<2x30x64xf16>, tensor<2x20x64xf16>) -> tensor<2x20x64xf16>, tensor<2x30x64xf16>, tensor<2x30x64xf16>, tensor<20x1xf32>
  return %a, %d : tensor<2x20x64xf16>, tensor<20x1xf32>
}
func.func @gradient_of_keys_mask(%q: tensor<2x20x64xf16>, %k: tensor<2x30x64xf16>, %m: tensor<30xf32>) -> (tensor<2x20x64xf16>, tensor<30xf32>) {
  %a, %b, %c, %d = array.attention_gradient %q, %k, %k, %q mask(%m : tensor<30xf32>) to_mask scale = 0.125 : (tensor<2x20x64xf16>, tensor<2x30x64xf16>, tensor<2x30x64xf16>, tensor<2x20x64xf16>) -> tensor<2x20x64xf16>, tensor<2x30x64xf16>, tensor<2x30x64xf16>, tensor<30xf32>
  return %a, %d : tensor<2x20x64xf16>, tensor<30xf32>
}

// -----

// Sizes that the host knows are no runtime sizes, also of a loop's values, and of what attention to a cache makes.
// CHECK-LABEL: func.func @host_batch
// CHECK:         array.attention {{.*}}array.whole{{.*}}tensor<?x4x1x64xf16>, tensor<?x2x?x64xf16>
// CHECK:         array.attention {{.*}}array.whole{{.*}}tensor<?x4x1x64xf16>, tensor<?x2x?x64xf16>
// CHECK-NOT:     array.attention
func.func @host_batch(%q: tensor<?x4x1x64xf16>, %k: tensor<?x2x30x64xf16>, %n: tensor<i64>, %i: tensor<i32>) -> tensor<?x4x1x64xf16> {
  %grown = array.set_extent %k, %n axis = 2 : (tensor<?x2x30x64xf16>, tensor<i64>) -> tensor<?x2x?x64xf16>
  %r0 = array.attention %q, %grown, %grown scale = 0.125 : (tensor<?x4x1x64xf16>, tensor<?x2x?x64xf16>, tensor<?x2x?x64xf16>) -> tensor<?x4x1x64xf16>
  %r:2 = array.while %i, %r0 : (tensor<i32>, tensor<?x4x1x64xf16>) -> (tensor<i32>, tensor<?x4x1x64xf16>) condition {
  ^bb0(%j: tensor<i32>, %x: tensor<?x4x1x64xf16>):
    %more = array.compare lt, %j, %i : (tensor<i32>, tensor<i32>) -> tensor<i1>
    array.yield %more : tensor<i1>
  } body {
  ^bb0(%j: tensor<i32>, %x: tensor<?x4x1x64xf16>):
    %y = array.exp %x : tensor<?x4x1x64xf16>
    array.yield %j, %y : tensor<i32>, tensor<?x4x1x64xf16>
  }
  %r1 = array.attention %r#1, %grown, %grown scale = 0.125 : (tensor<?x4x1x64xf16>, tensor<?x2x?x64xf16>, tensor<?x2x?x64xf16>) -> tensor<?x4x1x64xf16>
  return %r1 : tensor<?x4x1x64xf16>
}

// -----

// What reduces a bounded dynamic dim has sizes that the host knows.
// CHECK-LABEL: func.func @behind_an_extent
// CHECK:         array.attention {{.*}}array.whole
func.func @behind_an_extent(%q: tensor<?x4x64x64xf16>, %k: tensor<?x4x64x64xf16>, %x: tensor<8x?xf16>, %n: tensor<i64>) -> tensor<?x4x64x64xf16> {
  %r = array.set_extent %x, %n axis = 0 : (tensor<8x?xf16>, tensor<i64>) -> tensor<?x?xf16>
  %s = array.reduce max, %r axes = [0] : tensor<?x?xf16> -> tensor<?xf16>
  %m = array.reshape %s : tensor<?xf16> -> tensor<?x1x1x1xf16>
  %p = array.mul %q, %m : (tensor<?x4x64x64xf16>, tensor<?x1x1x1xf16>) -> tensor<?x4x64x64xf16>
  %y = array.attention %p, %k, %k causal scale = 0.125 : (tensor<?x4x64x64xf16>, tensor<?x4x64x64xf16>, tensor<?x4x64x64xf16>) -> tensor<?x4x64x64xf16>
  return %y : tensor<?x4x64x64xf16>
}

// -----

// An extent elsewhere in the function does not keep the host from choosing how many scores are held at once.
// CHECK-LABEL: func.func @beside_an_extent
// CHECK:         array.if
// CHECK:         return
func.func @beside_an_extent(%q: tensor<2x?x64xf64>, %k: tensor<2x?x64xf64>, %x: tensor<8x4xf32>, %n: tensor<i64>) -> (tensor<2x?x64xf64>, tensor<4xf32>) {
  %r = array.set_extent %x, %n axis = 0 : (tensor<8x4xf32>, tensor<i64>) -> tensor<?x4xf32>
  %s = array.reduce sum, %r axes = [0] : tensor<?x4xf32> -> tensor<4xf32>
  %y = array.attention %q, %k, %k scale = 0.125 : (tensor<2x?x64xf64>, tensor<2x?x64xf64>, tensor<2x?x64xf64>) -> tensor<2x?x64xf64>
  return %y, %s : tensor<2x?x64xf64>, tensor<4xf32>
}

// -----

// The cotangent of logsumexp is taken from the sums of the rows; a mask of queries gets it, too. Queries may be few.
// CHECK-LABEL: func.func @gradient_of_logsumexp
// CHECK-SAME:      %[[Q:[^:]*]]: tensor<2x4x64xf16>
// CHECK-SAME:      %[[D:[^:]*]]: tensor<2x4xf32>
// CHECK:         %[[SUM:.*]] = array.reduce sum
// CHECK:         %[[DELTA:.*]] = array.sub %[[SUM]], %[[D]]
// CHECK:         %[[IS_NONE:.*]] = array.compare eq
// CHECK:         %[[SEEN:.*]] = array.select %[[IS_NONE]], %{{.*}}, %[[D]]
// CHECK:         %[[ROWS:.*]] = array.reshape %[[SEEN]]
// CHECK:         array.attention_gradient {{.*}} rows(%{{.*}}, %[[DELTA]] : {{.*}}) logsumexp_cotangent(%[[D]] : tensor<2x4xf32>) {{.*}}array.whole
// CHECK:         return %{{.*}}, %[[ROWS]]
func.func @gradient_of_logsumexp(%q: tensor<2x4x64xf16>, %k: tensor<2x30x64xf16>, %m: tensor<2x4x1xf32>, %d: tensor<2x4xf32>) -> (tensor<2x4x64xf16>, tensor<2x4x1xf32>) {
  %a, %b, %c, %e = array.attention_gradient %q, %k, %k, %q mask(%m : tensor<2x4x1xf32>) to_mask logsumexp_cotangent(%d : tensor<2x4xf32>) scale = 0.125 : (tensor<2x4x64xf16>, tensor<2x30x64xf16>, tensor<2x30x64xf16>, tensor<2x4x64xf16>) -> tensor<2x4x64xf16>, tensor<2x30x64xf16>, tensor<2x30x64xf16>, tensor<2x4x1xf32>
  return %a, %e : tensor<2x4x64xf16>, tensor<2x4x1xf32>
}
