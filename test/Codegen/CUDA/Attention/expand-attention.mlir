// RUN: xc-opt %s -split-input-file -xc-expand-attention | FileCheck %s

// A CPU has no kernel for it: the products, the softmax between them, and the truth values of the mask.
// CHECK-LABEL: func.func @cpu
// CHECK-NOT:     kernel.attention
// CHECK:         linalg.contract
// CHECK:         math.exp
// CHECK:         linalg.contract
module attributes {plan.target = #plan.target<"cpu", "x86-64-v3">} {
  func.func @cpu(%q: tensor<2x20x16xf16>, %k: tensor<2x30x16xf16>, %m: tensor<20x30xi8>) -> tensor<2x20x16xf16> {
    %e = tensor.empty() : tensor<2x20x16xf16>
    %r = kernel.attention %q, %k, %k mask(%m : tensor<20x30xi8>) into %e scale = 1.000000e+00 : tensor<2x20x16xf16>, tensor<2x30x16xf16>, tensor<2x30x16xf16> into tensor<2x20x16xf16> -> tensor<2x20x16xf16>
    return %r : tensor<2x20x16xf16>
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

// Vectors that are no multiple of 8 elements.
// CHECK-LABEL: func.func @odd
// CHECK-NOT:     kernel.attention
module attributes {plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @odd(%q: tensor<2x20x12xf16>, %k: tensor<2x30x12xf16>) -> tensor<2x20x12xf16> {
    %e = tensor.empty() : tensor<2x20x12xf16>
    %r = kernel.attention %q, %k, %k into %e scale = 1.000000e+00 : tensor<2x20x12xf16>, tensor<2x30x12xf16>, tensor<2x30x12xf16> into tensor<2x20x12xf16> -> tensor<2x20x12xf16>
    return %r : tensor<2x20x12xf16>
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
