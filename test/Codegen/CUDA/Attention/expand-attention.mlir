// RUN: xc-opt %s -split-input-file -xc-expand-attention | FileCheck %s

// A CPU goes through blocks of keys.
// CHECK-LABEL: func.func @cpu_blocks
// CHECK:         kernel.attention
module attributes {plan.target = #plan.target<"cpu", "x86-64-v3">} {
  func.func @cpu_blocks(%q: tensor<2x20x16xf32>, %k: tensor<2x30x16xf32>) -> tensor<2x20x16xf32> {
    %e = tensor.empty() : tensor<2x20x16xf32>
    %r = kernel.attention %q, %k, %k into %e scale = 1.000000e+00 : tensor<2x20x16xf32>, tensor<2x30x16xf32>, tensor<2x30x16xf32> into tensor<2x20x16xf32> -> tensor<2x20x16xf32>
    return %r : tensor<2x20x16xf32>
  }
}

// -----

// Few queries go through them as well, and their keys may end at a size on the device.
// CHECK-LABEL: func.func @cpu_few
// CHECK:         kernel.attention
module attributes {plan.target = #plan.target<"cpu", "x86-64-v3">} {
  func.func @cpu_few(%q: tensor<2x1x15xf32>, %k: tensor<2x30x15xf32>, %o: tensor<i32>) -> tensor<2x1x15xf32> {
    %e = tensor.empty() : tensor<2x1x15xf32>
    %r = kernel.attention %q, %k, %k causal offset(%o : tensor<i32>) open_end into %e scale = 1.000000e+00 : tensor<2x1x15xf32>, tensor<2x30x15xf32>, tensor<2x30x15xf32> into tensor<2x1x15xf32> -> tensor<2x1x15xf32>
    return %r : tensor<2x1x15xf32>
  }
}

// -----

// Of vectors that are too long, it has no kernel: the products, the softmax between them, and the truth values of the mask.
// CHECK-LABEL: func.func @cpu
// CHECK-NOT:     kernel.attention
// CHECK:         linalg.contract
// CHECK:         math.exp
// CHECK:         linalg.contract
module attributes {plan.target = #plan.target<"cpu", "x86-64-v3">} {
  func.func @cpu(%q: tensor<2x10x520xf16>, %k: tensor<2x30x520xf16>, %m: tensor<10x30xi8>) -> tensor<2x10x520xf16> {
    %e = tensor.empty() : tensor<2x10x520xf16>
    %r = kernel.attention %q, %k, %k mask(%m : tensor<10x30xi8>) into %e scale = 1.000000e+00 : tensor<2x10x520xf16>, tensor<2x30x520xf16>, tensor<2x30x520xf16> into tensor<2x10x520xf16> -> tensor<2x10x520xf16>
    return %r : tensor<2x10x520xf16>
  }
}

// -----

// CHECK-LABEL: func.func @hopper
// CHECK:         kernel.attention
module attributes {plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @hopper(%q: tensor<2x20x16xf16>, %k: tensor<2x30x16xf16>) -> tensor<2x20x16xf16> {
    %e = tensor.empty() : tensor<2x20x16xf16>
    %r = kernel.attention %q, %k, %k into %e scale = 1.000000e+00 : tensor<2x20x16xf16>, tensor<2x30x16xf16>, tensor<2x30x16xf16> into tensor<2x20x16xf16> -> tensor<2x20x16xf16>
    return %r : tensor<2x20x16xf16>
  }
}

// -----

// Vectors that are no multiple of 8 elements get zeros behind them, and the result loses what they get.
// CHECK-LABEL: func.func @odd
// CHECK-SAME:      (%[[Q:.*]]: tensor<2x20x12xf16>, %[[K:.*]]: tensor<2x30x12xf16>)
// CHECK-DAG:     %[[QUERIES:.*]] = tensor.pad %[[Q]] low[0, 0, 0] high[0, 0, 4]
// CHECK-DAG:     %[[KEYS:.*]] = tensor.pad %[[K]] low[0, 0, 0] high[0, 0, 4]
// CHECK:         %[[R:.*]] = kernel.attention %[[QUERIES]], %[[KEYS]], {{.*}} -> tensor<2x20x16xf16>
// CHECK:         %[[CUT:.*]] = tensor.extract_slice %[[R]][0, 0, 0] [2, 20, 12] [1, 1, 1]
// CHECK:         return %[[CUT]]
module attributes {plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @odd(%q: tensor<2x20x12xf16>, %k: tensor<2x30x12xf16>) -> tensor<2x20x12xf16> {
    %e = tensor.empty() : tensor<2x20x12xf16>
    %r = kernel.attention %q, %k, %k into %e scale = 1.000000e+00 : tensor<2x20x12xf16>, tensor<2x30x12xf16>, tensor<2x30x12xf16> into tensor<2x20x12xf16> -> tensor<2x20x12xf16>
    return %r : tensor<2x20x12xf16>
  }
}

// -----

// Few queries with vectors of no multiple of 4 go through products: a copy of all keys would take longer. So do vectors that are too long.
// CHECK-LABEL: func.func @odd_of_few
// CHECK-NOT:     kernel.attention
// CHECK-NOT:     tensor.pad
module attributes {plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @odd_of_few(%q: tensor<2x10x10xf16>, %k: tensor<2x30x10xf16>, %l: tensor<2x20x300xf16>) -> (tensor<2x10x10xf16>, tensor<2x20x300xf16>) {
    %e = tensor.empty() : tensor<2x10x10xf16>
    %r = kernel.attention %q, %k, %k into %e scale = 1.000000e+00 : tensor<2x10x10xf16>, tensor<2x30x10xf16>, tensor<2x30x10xf16> into tensor<2x10x10xf16> -> tensor<2x10x10xf16>
    %f = tensor.empty() : tensor<2x20x300xf16>
    %s = kernel.attention %l, %l, %l into %f scale = 1.000000e+00 : tensor<2x20x300xf16>, tensor<2x20x300xf16>, tensor<2x20x300xf16> into tensor<2x20x300xf16> -> tensor<2x20x300xf16>
    return %r, %s : tensor<2x10x10xf16>, tensor<2x20x300xf16>
  }
}

// -----

// Rows that begin at multiples of 8 bytes are read as they are.
// CHECK-LABEL: func.func @uneven_of_few
// CHECK:         kernel.attention_decode
module attributes {plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @uneven_of_few(%q: tensor<2x10x12xf16>, %k: tensor<2x30x12xf16>) -> tensor<2x10x12xf16> {
    %e = tensor.empty() : tensor<2x10x12xf16>
    %r = kernel.attention %q, %k, %k into %e scale = 1.000000e+00 : tensor<2x10x12xf16>, tensor<2x30x12xf16>, tensor<2x30x12xf16> into tensor<2x10x12xf16> -> tensor<2x10x12xf16>
    return %r : tensor<2x10x12xf16>
  }
}

// -----

// Vectors of keys and of values on their own, and the gradients of both.
// CHECK-LABEL: func.func @odd_gradient
// CHECK:         } : tensor<2x20x12xf16> to tensor<2x20x16xf16>
// CHECK:         %[[KV:.*]]:2 = kernel.attention_gradient {{.*}} -> tensor<2x30x16xf16>, tensor<2x30x24xf16>
// CHECK:         %[[Q:.*]] = kernel.attention_gradient {{.*}} -> tensor<2x20x16xf16>
// CHECK-DAG:     %[[QUERIES:.*]] = tensor.extract_slice %[[Q]]{{.*}} to tensor<2x20x12xf16>
// CHECK-DAG:     %[[KEYS:.*]] = tensor.extract_slice %[[KV]]#0{{.*}} to tensor<2x30x12xf16>
// CHECK:         return %[[QUERIES]], %[[KEYS]], %[[KV]]#1
module attributes {plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @odd_gradient(%q: tensor<2x20x12xf16>, %k: tensor<2x30x12xf16>, %v: tensor<2x30x24xf16>, %g: tensor<2x20x24xf16>, %l: tensor<2x20xf32>) -> (tensor<2x20x12xf16>, tensor<2x30x12xf16>, tensor<2x30x24xf16>) {
    %e = tensor.empty() : tensor<2x20x12xf16>
    %f = tensor.empty() : tensor<2x30x12xf16>
    %h = tensor.empty() : tensor<2x30x24xf16>
    %r:3 = kernel.attention_gradient %q, %k, %v, %g, %l, %l into %e, %f, %h scale = 1.000000e+00 : tensor<2x20x12xf16>, tensor<2x30x12xf16>, tensor<2x30x24xf16>, tensor<2x20x24xf16>, tensor<2x20xf32>, tensor<2x20xf32> into tensor<2x20x12xf16>, tensor<2x30x12xf16>, tensor<2x30x24xf16> -> tensor<2x20x12xf16>, tensor<2x30x12xf16>, tensor<2x30x24xf16>
    return %r#0, %r#1, %r#2 : tensor<2x20x12xf16>, tensor<2x30x12xf16>, tensor<2x30x24xf16>
  }
}

// -----

// A mask of keys has a kernel where it has all dims before the queries, and not where several heads share it.
// CHECK-LABEL: func.func @gradient_of_keys_mask
// CHECK:         kernel.attention_gradient {{.*}} only_mask into {{.*}} -> tensor<2x1x30xf32>
// CHECK-NOT:     kernel.attention_gradient
// CHECK:         linalg.contract
module attributes {plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @gradient_of_keys_mask(%q: tensor<2x20x16xf16>, %k: tensor<2x30x16xf16>, %l: tensor<2x20xf32>, %m: tensor<2x1x30xf32>, %n: tensor<1x1x30xf32>) -> (tensor<2x1x30xf32>, tensor<1x1x30xf32>) {
    %e = tensor.empty() : tensor<2x20x16xf16>
    %f = tensor.empty() : tensor<2x30x16xf16>
    %h = tensor.empty() : tensor<2x1x30xf32>
    %i = tensor.empty() : tensor<1x1x30xf32>
    %r:4 = kernel.attention_gradient %q, %k, %k, %q, %l, %l mask(%m : tensor<2x1x30xf32>) into %e, %f, %f, %h scale = 1.000000e+00 : tensor<2x20x16xf16>, tensor<2x30x16xf16>, tensor<2x30x16xf16>, tensor<2x20x16xf16>, tensor<2x20xf32>, tensor<2x20xf32> into tensor<2x20x16xf16>, tensor<2x30x16xf16>, tensor<2x30x16xf16>, tensor<2x1x30xf32> -> tensor<2x20x16xf16>, tensor<2x30x16xf16>, tensor<2x30x16xf16>, tensor<2x1x30xf32>
    %s:4 = kernel.attention_gradient %q, %k, %k, %q, %l, %l mask(%n : tensor<1x1x30xf32>) into %e, %f, %f, %i scale = 1.000000e+00 : tensor<2x20x16xf16>, tensor<2x30x16xf16>, tensor<2x30x16xf16>, tensor<2x20x16xf16>, tensor<2x20xf32>, tensor<2x20xf32> into tensor<2x20x16xf16>, tensor<2x30x16xf16>, tensor<2x30x16xf16>, tensor<1x1x30xf32> -> tensor<2x20x16xf16>, tensor<2x30x16xf16>, tensor<2x30x16xf16>, tensor<1x1x30xf32>
    return %r#3, %s#3 : tensor<2x1x30xf32>, tensor<1x1x30xf32>
  }
}

// -----

// All three gradients at once, in simpler ops.
// CHECK-LABEL: func.func @gradient_on_cpu
// CHECK-NOT:     kernel.attention_gradient
// CHECK-COUNT-2: linalg.contract
// CHECK-NOT:     kernel.attention_gradient
// CHECK-COUNT-2: linalg.contract
module attributes {plan.target = #plan.target<"cpu", "x86-64-v3">} {
  func.func @gradient_on_cpu(%q: tensor<2x20x16xf16>, %k: tensor<2x30x16xf16>, %l: tensor<2x20xf32>) -> (tensor<2x20x16xf16>, tensor<2x30x16xf16>, tensor<2x30x16xf16>) {
    %e = tensor.empty() : tensor<2x20x16xf16>
    %f = tensor.empty() : tensor<2x30x16xf16>
    %r:3 = kernel.attention_gradient %q, %k, %k, %q, %l, %l into %e, %f, %f scale = 1.000000e+00 : tensor<2x20x16xf16>, tensor<2x30x16xf16>, tensor<2x30x16xf16>, tensor<2x20x16xf16>, tensor<2x20xf32>, tensor<2x20xf32> into tensor<2x20x16xf16>, tensor<2x30x16xf16>, tensor<2x30x16xf16> -> tensor<2x20x16xf16>, tensor<2x30x16xf16>, tensor<2x30x16xf16>
    return %r#0, %r#1, %r#2 : tensor<2x20x16xf16>, tensor<2x30x16xf16>, tensor<2x30x16xf16>
  }
}

// -----

// Keys and values of long vectors have a kernel each, and so has a mask.
// CHECK-LABEL: func.func @gradient_of_long_vectors
// CHECK:         %[[K:.*]] = kernel.attention_gradient {{.*}} only_keys into
// CHECK:         %[[V:.*]] = kernel.attention_gradient {{.*}} only_values into
// CHECK:         %[[Q:.*]] = kernel.attention_gradient
// CHECK:         %[[M:.*]] = kernel.attention_gradient {{.*}} only_mask into
// CHECK:         return %[[Q]], %[[K]], %[[V]], %[[M]]
module attributes {plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @gradient_of_long_vectors(%q: tensor<2x20x136xf16>, %k: tensor<2x30x136xf16>, %l: tensor<2x20xf32>, %m: tensor<20x30xf32>) -> (tensor<2x20x136xf16>, tensor<2x30x136xf16>, tensor<2x30x136xf16>, tensor<20x30xf32>) {
    %e = tensor.empty() : tensor<2x20x136xf16>
    %f = tensor.empty() : tensor<2x30x136xf16>
    %n = tensor.empty() : tensor<20x30xf32>
    %r:4 = kernel.attention_gradient %q, %k, %k, %q, %l, %l mask(%m : tensor<20x30xf32>) into %e, %f, %f, %n scale = 1.000000e+00 : tensor<2x20x136xf16>, tensor<2x30x136xf16>, tensor<2x30x136xf16>, tensor<2x20x136xf16>, tensor<2x20xf32>, tensor<2x20xf32> into tensor<2x20x136xf16>, tensor<2x30x136xf16>, tensor<2x30x136xf16>, tensor<20x30xf32> -> tensor<2x20x136xf16>, tensor<2x30x136xf16>, tensor<2x30x136xf16>, tensor<20x30xf32>
    return %r#0, %r#1, %r#2, %r#3 : tensor<2x20x136xf16>, tensor<2x30x136xf16>, tensor<2x30x136xf16>, tensor<20x30xf32>
  }
}

// -----

// A kernel of keys and values, and one of queries.
// CHECK-LABEL: func.func @gradient
// CHECK:         %[[KV:.*]]:2 = kernel.attention_gradient
// CHECK:         %[[Q:.*]] = kernel.attention_gradient
// CHECK:         return %[[Q]], %[[KV]]#0, %[[KV]]#1
module attributes {plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @gradient(%q: tensor<2x20x16xf16>, %k: tensor<2x30x16xf16>, %l: tensor<2x20xf32>) -> (tensor<2x20x16xf16>, tensor<2x30x16xf16>, tensor<2x30x16xf16>) {
    %e = tensor.empty() : tensor<2x20x16xf16>
    %f = tensor.empty() : tensor<2x30x16xf16>
    %r:3 = kernel.attention_gradient %q, %k, %k, %q, %l, %l into %e, %f, %f scale = 1.000000e+00 : tensor<2x20x16xf16>, tensor<2x30x16xf16>, tensor<2x30x16xf16>, tensor<2x20x16xf16>, tensor<2x20xf32>, tensor<2x20xf32> into tensor<2x20x16xf16>, tensor<2x30x16xf16>, tensor<2x30x16xf16> -> tensor<2x20x16xf16>, tensor<2x30x16xf16>, tensor<2x30x16xf16>
    return %r#0, %r#1, %r#2 : tensor<2x20x16xf16>, tensor<2x30x16xf16>, tensor<2x30x16xf16>
  }
}

// -----

// Few queries: the blocks of a cluster share the keys.
// CHECK-LABEL: func.func @few
// CHECK-NOT:     kernel.attention
// CHECK:         kernel.attention_decode {{.*}} splits = 1
// CHECK-NOT:     kernel.attention_combine
module attributes {plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @few(%q: tensor<1x8x1x64xf16>, %k: tensor<1x2x1024x64xf16>) -> tensor<1x8x1x64xf16> {
    %e = tensor.empty() : tensor<1x8x1x64xf16>
    %r = kernel.attention %q, %k, %k into %e scale = 1.0 : tensor<1x8x1x64xf16>, tensor<1x2x1024x64xf16>, tensor<1x2x1024x64xf16> into tensor<1x8x1x64xf16> -> tensor<1x8x1x64xf16>
    return %r : tensor<1x8x1x64xf16>
  }
}

// -----

// Without clusters, parts are joined by a kernel of its own.
// CHECK-LABEL: func.func @parts
// CHECK:         %[[P:.*]]:2 = kernel.attention_decode {{.*}} splits = 4 {{.*}} -> tensor<1x8x1x4x64xf32>, tensor<1x8x1x4xf32>
// CHECK:         kernel.attention_combine %[[P]]#0, %[[P]]#1 into
module attributes {plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @parts(%q: tensor<1x8x1x64xf16>, %k: tensor<1x2x1024x64xf16>) -> tensor<1x8x1x64xf16> {
    %e = tensor.empty() : tensor<1x8x1x64xf16>
    %r = kernel.attention %q, %k, %k into %e scale = 1.0 : tensor<1x8x1x64xf16>, tensor<1x2x1024x64xf16>, tensor<1x2x1024x64xf16> into tensor<1x8x1x64xf16> -> tensor<1x8x1x64xf16>
    return %r : tensor<1x8x1x64xf16>
  }
}

// -----

// Of f32 as well; parts keep what the program allows.
// CHECK-LABEL: func.func @single_few
// CHECK:         kernel.attention_decode {{.*}} {plan.allow_tf32} : {{.*}} -> tensor<1x8x1x{{[0-9]+}}x64xf32>
// CHECK:         kernel.attention_combine {{.*}} -> tensor<1x8x1x64xf32>
module attributes {plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @single_few(%q: tensor<1x8x1x64xf32>, %k: tensor<1x2x1024x64xf32>) -> tensor<1x8x1x64xf32> {
    %e = tensor.empty() : tensor<1x8x1x64xf32>
    %r = kernel.attention %q, %k, %k into %e scale = 1.0 {plan.allow_tf32} : tensor<1x8x1x64xf32>, tensor<1x2x1024x64xf32>, tensor<1x2x1024x64xf32> into tensor<1x8x1x64xf32> -> tensor<1x8x1x64xf32>
    return %r : tensor<1x8x1x64xf32>
  }
}

// -----

// Pages: few queries share a head's keys among blocks; many, or a number that is open, read the table in their kernel.
// CHECK-LABEL: func.func @paged
// CHECK:         kernel.attention_decode {{.*}} table({{.*}}) lengths({{.*}}) {{.*}} splits =
// CHECK:         kernel.attention %{{.*}} table({{.*}}) lengths({{.*}}) {{.*}} tensor<2x8x16x64xf16>
// CHECK:         kernel.attention %{{.*}} table({{.*}}) lengths({{.*}}) {{.*}} tensor<2x8x?x64xf16>
// CHECK-NOT:     tensor.extract
module attributes {plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @paged(%p: tensor<2x8x1x64xf16>, %q: tensor<2x8x16x64xf16>, %o: tensor<2x8x?x64xf16>, %k: tensor<9x2x16x64xf16>, %t: tensor<2x3xi32>, %n: tensor<2xi32>)
      -> (tensor<2x8x1x64xf16>, tensor<2x8x16x64xf16>, tensor<2x8x?x64xf16>) {
    %a = kernel.attention %p, %k, %k table(%t : tensor<2x3xi32>) lengths(%n : tensor<2xi32>) into %p scale = 1.0 : tensor<2x8x1x64xf16>, tensor<9x2x16x64xf16>, tensor<9x2x16x64xf16> into tensor<2x8x1x64xf16> -> tensor<2x8x1x64xf16>
    %b = kernel.attention %q, %k, %k table(%t : tensor<2x3xi32>) lengths(%n : tensor<2xi32>) into %q scale = 1.0 : tensor<2x8x16x64xf16>, tensor<9x2x16x64xf16>, tensor<9x2x16x64xf16> into tensor<2x8x16x64xf16> -> tensor<2x8x16x64xf16>
    %c = kernel.attention %o, %k, %k table(%t : tensor<2x3xi32>) lengths(%n : tensor<2xi32>) into %o scale = 1.0 : tensor<2x8x?x64xf16>, tensor<9x2x16x64xf16>, tensor<9x2x16x64xf16> into tensor<2x8x?x64xf16> -> tensor<2x8x?x64xf16>
    return %a, %b, %c : tensor<2x8x1x64xf16>, tensor<2x8x16x64xf16>, tensor<2x8x?x64xf16>
  }
}

// -----

// sm_75 has no products of bf16 on its tensor cores; nor has a CPU a kernel for pages, which are gathered.
// CHECK-LABEL: func.func @old
// CHECK-NOT:     kernel.attention
// CHECK:         tensor.extract
// CHECK-NOT:     kernel.attention
module attributes {plan.target = #plan.target<"cuda", "sm_75">} {
  func.func @old(%q: tensor<2x8x1x64xf16>, %k: tensor<9x2x16x64xf16>, %t: tensor<2x3xi32>, %n: tensor<2xi32>) -> tensor<2x8x1x64xf16> {
    %e = tensor.empty() : tensor<2x8x1x64xf16>
    %r = kernel.attention %q, %k, %k table(%t : tensor<2x3xi32>) lengths(%n : tensor<2xi32>) into %e scale = 1.0 : tensor<2x8x1x64xf16>, tensor<9x2x16x64xf16>, tensor<9x2x16x64xf16> into tensor<2x8x1x64xf16> -> tensor<2x8x1x64xf16>
    return %r : tensor<2x8x1x64xf16>
  }
}

// -----

// CHECK-LABEL: func.func @pages
// CHECK:         kernel.attention_decode {{.*}} table
module attributes {plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @pages(%q: tensor<2x8x1x64xf16>, %k: tensor<9x2x16x64xf16>, %t: tensor<2x3xi32>, %n: tensor<2xi32>) -> tensor<2x8x1x64xf16> {
    %e = tensor.empty() : tensor<2x8x1x64xf16>
    %r = kernel.attention %q, %k, %k table(%t : tensor<2x3xi32>) lengths(%n : tensor<2xi32>) into %e scale = 1.0 : tensor<2x8x1x64xf16>, tensor<9x2x16x64xf16>, tensor<9x2x16x64xf16> into tensor<2x8x1x64xf16> -> tensor<2x8x1x64xf16>
    return %r : tensor<2x8x1x64xf16>
  }
}

// -----

// An open end: the kernel for few queries does not read what is behind; where there is none, zeros take the place of such values.
// CHECK-LABEL: func.func @open_end
// CHECK:         kernel.attention_decode {{.*}} offset
module attributes {plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @open_end(%q: tensor<8x1x64xf16>, %k: tensor<2x30x64xf16>, %o: tensor<i64>) -> tensor<8x1x64xf16> {
    %e = tensor.empty() : tensor<8x1x64xf16>
    %r = kernel.attention %q, %k, %k causal offset(%o : tensor<i64>) open_end into %e scale = 1.0 : tensor<8x1x64xf16>, tensor<2x30x64xf16>, tensor<2x30x64xf16> into tensor<8x1x64xf16> -> tensor<8x1x64xf16>
    return %r : tensor<8x1x64xf16>
  }
}

// -----

// CHECK-LABEL: func.func @open_end_on_cpu
// CHECK-SAME:    %{{.*}}: tensor<8x1x520xf16>, %{{.*}}: tensor<2x30x520xf16>, %[[V:[a-z0-9]*]]: tensor<2x30x520xf16>
// CHECK-NOT:     kernel.attention
// CHECK:         linalg.generic {{.*}}ins({{.*}}%[[V]]
// CHECK:           arith.select
module attributes {plan.target = #plan.target<"cpu", "x86-64-v3">} {
  func.func @open_end_on_cpu(%q: tensor<8x1x520xf16>, %k: tensor<2x30x520xf16>, %v: tensor<2x30x520xf16>, %o: tensor<i64>) -> tensor<8x1x520xf16> {
    %e = tensor.empty() : tensor<8x1x520xf16>
    %r = kernel.attention %q, %k, %v causal offset(%o : tensor<i64>) open_end into %e scale = 1.0 : tensor<8x1x520xf16>, tensor<2x30x520xf16>, tensor<2x30x520xf16> into tensor<8x1x520xf16> -> tensor<8x1x520xf16>
    return %r : tensor<8x1x520xf16>
  }
}

// -----

// Many queries have a kernel, which multiplies such values by 0.
// CHECK-LABEL: func.func @open_end_of_many
// CHECK-NOT:     kernel.attention
module attributes {plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @open_end_of_many(%q: tensor<8x20x64xf16>, %k: tensor<2x30x64xf16>, %o: tensor<i64>) -> tensor<8x20x64xf16> {
    %e = tensor.empty() : tensor<8x20x64xf16>
    %r = kernel.attention %q, %k, %k causal offset(%o : tensor<i64>) open_end into %e scale = 1.0 : tensor<8x20x64xf16>, tensor<2x30x64xf16>, tensor<2x30x64xf16> into tensor<8x20x64xf16> -> tensor<8x20x64xf16>
    return %r : tensor<8x20x64xf16>
  }
}

// -----

// Of f32 keys and values have a kernel each from 65 elements on. Vectors for whose tiles there is no shared memory have none.
// CHECK-LABEL: func.func @single_gradient
// CHECK:         kernel.attention_gradient {{.*}} only_keys into
// CHECK:         kernel.attention_gradient {{.*}} only_values into
// CHECK-NOT:     linalg.contract
module attributes {plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @single_gradient(%q: tensor<2x20x72xf32>, %k: tensor<2x30x72xf32>, %l: tensor<2x20xf32>) -> (tensor<2x20x72xf32>, tensor<2x30x72xf32>, tensor<2x30x72xf32>) {
    %e = tensor.empty() : tensor<2x20x72xf32>
    %f = tensor.empty() : tensor<2x30x72xf32>
    %r:3 = kernel.attention_gradient %q, %k, %k, %q, %l, %l into %e, %f, %f scale = 1.0 : tensor<2x20x72xf32>, tensor<2x30x72xf32>, tensor<2x30x72xf32>, tensor<2x20x72xf32>, tensor<2x20xf32>, tensor<2x20xf32> into tensor<2x20x72xf32>, tensor<2x30x72xf32>, tensor<2x30x72xf32> -> tensor<2x20x72xf32>, tensor<2x30x72xf32>, tensor<2x30x72xf32>
    return %r#0, %r#1, %r#2 : tensor<2x20x72xf32>, tensor<2x30x72xf32>, tensor<2x30x72xf32>
  }
}

// -----

// CHECK-LABEL: func.func @single_widest_gradient
// CHECK-NOT:     kernel.attention_gradient
// CHECK:         linalg.contract
module attributes {plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @single_widest_gradient(%q: tensor<2x20x256xf32>, %k: tensor<2x30x256xf32>, %l: tensor<2x20xf32>) -> (tensor<2x20x256xf32>, tensor<2x30x256xf32>, tensor<2x30x256xf32>) {
    %e = tensor.empty() : tensor<2x20x256xf32>
    %f = tensor.empty() : tensor<2x30x256xf32>
    %r:3 = kernel.attention_gradient %q, %k, %k, %q, %l, %l into %e, %f, %f scale = 1.0 : tensor<2x20x256xf32>, tensor<2x30x256xf32>, tensor<2x30x256xf32>, tensor<2x20x256xf32>, tensor<2x20xf32>, tensor<2x20xf32> into tensor<2x20x256xf32>, tensor<2x30x256xf32>, tensor<2x30x256xf32> -> tensor<2x20x256xf32>, tensor<2x30x256xf32>, tensor<2x30x256xf32>
    return %r#0, %r#1, %r#2 : tensor<2x20x256xf32>, tensor<2x30x256xf32>, tensor<2x30x256xf32>
  }
}

// -----

// CHECK-LABEL: func.func @single_widest
// CHECK:         linalg.contract
module attributes {plan.target = #plan.target<"cuda", "sm_86">} {
  func.func @single_widest(%q: tensor<2x20x200xf32>, %k: tensor<2x30x200xf32>) -> tensor<2x20x200xf32> {
    %e = tensor.empty() : tensor<2x20x200xf32>
    %r = kernel.attention %q, %k, %k into %e scale = 1.0 : tensor<2x20x200xf32>, tensor<2x30x200xf32>, tensor<2x30x200xf32> into tensor<2x20x200xf32> -> tensor<2x20x200xf32>
    return %r : tensor<2x20x200xf32>
  }
}
