// RUN: xc-opt %s -pass-pipeline='builtin.module(func.func(xc-form-dispatches))' -split-input-file | FileCheck %s
// RUN: xc-opt %s -pass-pipeline='builtin.module(func.func(xc-form-dispatches{fuse=false}))' -split-input-file | FileCheck %s --check-prefix=ALONE
// RUN: xc-opt %s -pass-pipeline='builtin.module(func.func(xc-form-dispatches{explain=true}))' -split-input-file | FileCheck %s --check-prefix=WHY

#id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#head = affine_map<(d0, d1, d2) -> (d0)>

// Two layers of one mask, slopes of heads times distances, and the gradient of the second: each kernel computes what its scores need.
// CHECK-LABEL: func.func @layers(
// CHECK-SAME:    %[[Q:.*]]: tensor<4x128x64xbf16>, %[[S:.*]]: tensor<4xf32>
// CHECK:         plan.region
// CHECK-NEXT:      %[[EMPTY:.*]] = tensor.empty
// CHECK:           %[[M:[0-9]+]] = linalg.generic {{.*}} ins(%[[S]] : tensor<4xf32>)
// CHECK:           kernel.attention %[[Q]], %[[Q]], %[[Q]] mask(%[[M]]
// CHECK:         plan.region
// CHECK:           %[[M:[0-9]+]] = linalg.generic {{.*}} ins(%[[S]] : tensor<4xf32>)
// CHECK:           kernel.attention {{.*}} mask(%[[M]]
// CHECK:         plan.region
// CHECK:           %[[M:[0-9]+]] = linalg.generic {{.*}} ins(%[[S]] : tensor<4xf32>)
// CHECK:           kernel.attention_gradient {{.*}} mask(%[[M]]
// CHECK-NOT:     plan.region
// ALONE-LABEL: func.func @layers(
// ALONE-COUNT-4: plan.region
// WHY-LABEL: func.func @layers(
// WHY-COUNT-3: why = "each score's element is computed in its kernel"
func.func @layers(%q: tensor<4x128x64xbf16>, %s: tensor<4xf32>, %g: tensor<4x128x64xbf16>, %l: tensor<4x128xf32>)
    -> (tensor<4x128x64xbf16>, tensor<4x128x64xbf16>) {
  %e = tensor.empty() : tensor<4x128x64xbf16>
  %w = tensor.empty() : tensor<4x128x128xf32>
  %m = linalg.generic {indexing_maps = [#head, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s : tensor<4xf32>) outs(%w : tensor<4x128x128xf32>) {
  ^bb0(%slope: f32, %out: f32):
    %i = linalg.index 1 : index
    %j = linalg.index 2 : index
    %far = arith.subi %j, %i : index
    %wide = arith.index_cast %far : index to i32
    %distance = arith.sitofp %wide : i32 to f32
    %bias = arith.mulf %slope, %distance : f32
    linalg.yield %bias : f32
  } -> tensor<4x128x128xf32>
  %a = kernel.attention %q, %q, %q mask(%m : tensor<4x128x128xf32>) into %e scale = 1.250000e-01
      : tensor<4x128x64xbf16>, tensor<4x128x64xbf16>, tensor<4x128x64xbf16> into tensor<4x128x64xbf16> -> tensor<4x128x64xbf16>
  %b = kernel.attention %a, %q, %q mask(%m : tensor<4x128x128xf32>) into %e scale = 1.250000e-01
      : tensor<4x128x64xbf16>, tensor<4x128x64xbf16>, tensor<4x128x64xbf16> into tensor<4x128x64xbf16> -> tensor<4x128x64xbf16>
  %d = kernel.attention_gradient %a, %q, %q, %g, %l, %l mask(%m : tensor<4x128x128xf32>) into %e scale = 1.250000e-01
      : tensor<4x128x64xbf16>, tensor<4x128x64xbf16>, tensor<4x128x64xbf16>, tensor<4x128x64xbf16>, tensor<4x128xf32>, tensor<4x128xf32>
      into tensor<4x128x64xbf16> -> tensor<4x128x64xbf16>
  return %b, %d : tensor<4x128x64xbf16>, tensor<4x128x64xbf16>
}

// -----

#plane = affine_map<(d0, d1) -> (d0, d1)>

// What takes many ops, and is one for all heads and batches, is stored once and read.
// CHECK-LABEL: func.func @dear(
// CHECK:         %[[M:[0-9]+]] = plan.region -> (tensor<1024x1024xf32>)
// CHECK:         plan.region
// CHECK-NOT:       linalg.generic
// CHECK:           kernel.attention {{.*}} mask(%[[M]]
// WHY-LABEL: func.func @dear(
// WHY:         why = "a mask's element takes longer to compute than to read"
func.func @dear(%q: tensor<8x16x1024x64xbf16>, %x: tensor<1024x1024xf32>) -> tensor<8x16x1024x64xbf16> {
  %e = tensor.empty() : tensor<8x16x1024x64xbf16>
  %w = tensor.empty() : tensor<1024x1024xf32>
  %m = linalg.generic {indexing_maps = [#plane, #plane], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<1024x1024xf32>) outs(%w : tensor<1024x1024xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = math.tanh %in : f32
    %1 = math.exp %0 : f32
    %2 = math.log %1 : f32
    %3 = math.tanh %2 : f32
    %4 = math.exp %3 : f32
    %5 = math.tanh %4 : f32
    %6 = math.exp %5 : f32
    linalg.yield %6 : f32
  } -> tensor<1024x1024xf32>
  %a = kernel.attention %q, %q, %q mask(%m : tensor<1024x1024xf32>) into %e scale = 1.250000e-01
      : tensor<8x16x1024x64xbf16>, tensor<8x16x1024x64xbf16>, tensor<8x16x1024x64xbf16> into tensor<8x16x1024x64xbf16> -> tensor<8x16x1024x64xbf16>
  return %a : tensor<8x16x1024x64xbf16>
}

// -----

#plane = affine_map<(d0, d1) -> (d0, d1)>
#last = affine_map<(d0, d1, d2) -> (d1, d2)>
#head = affine_map<(d0, d1, d2) -> (d0)>
#id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>

// Of a mask in two steps one is stored, which heads share; the other, a product with a number for each head, is computed.
// CHECK-LABEL: func.func @cut(
// CHECK-SAME:    %[[S:[a-z0-9]*]]: tensor<16xf32>)
// CHECK:         %[[P:[0-9]+]] = plan.region -> (tensor<1024x1024xf32>)
// CHECK:         plan.region
// CHECK:           %[[M:[0-9]+]] = linalg.generic {{.*}} ins(%[[P]], %[[S]]
// CHECK:           kernel.attention {{.*}} mask(%[[M]]
func.func @cut(%q: tensor<8x16x1024x64xbf16>, %x: tensor<1024x1024xf32>, %s: tensor<16xf32>) -> tensor<8x16x1024x64xbf16> {
  %e = tensor.empty() : tensor<8x16x1024x64xbf16>
  %w = tensor.empty() : tensor<1024x1024xf32>
  %v = tensor.empty() : tensor<16x1024x1024xf32>
  %p = linalg.generic {indexing_maps = [#plane, #plane], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<1024x1024xf32>) outs(%w : tensor<1024x1024xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = math.tanh %in : f32
    %1 = math.exp %0 : f32
    %2 = math.log %1 : f32
    %3 = math.tanh %2 : f32
    %4 = math.exp %3 : f32
    %5 = math.tanh %4 : f32
    %6 = math.exp %5 : f32
    linalg.yield %6 : f32
  } -> tensor<1024x1024xf32>
  %m = linalg.generic {indexing_maps = [#last, #head, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%p, %s : tensor<1024x1024xf32>, tensor<16xf32>) outs(%v : tensor<16x1024x1024xf32>) {
  ^bb0(%in: f32, %slope: f32, %out: f32):
    %0 = arith.mulf %in, %slope : f32
    linalg.yield %0 : f32
  } -> tensor<16x1024x1024xf32>
  %a = kernel.attention %q, %q, %q mask(%m : tensor<16x1024x1024xf32>) into %e scale = 1.250000e-01
      : tensor<8x16x1024x64xbf16>, tensor<8x16x1024x64xbf16>, tensor<8x16x1024x64xbf16> into tensor<8x16x1024x64xbf16> -> tensor<8x16x1024x64xbf16>
  return %a : tensor<8x16x1024x64xbf16>
}

// -----

#plane = affine_map<(d0, d1) -> (d0, d1)>

// A mask that is a result, too, is stored for that, and computed where scores are.
// CHECK-LABEL: func.func @returned(
// CHECK:         %[[M:[0-9]+]] = plan.region -> (tensor<128x128xf32>)
// CHECK:         %[[A:[0-9]+]] = plan.region
// CHECK:           %[[OWN:[0-9]+]] = linalg.generic
// CHECK:           kernel.attention {{.*}} mask(%[[OWN]]
// CHECK:         return %[[A]], %[[M]]
func.func @returned(%q: tensor<4x128x64xbf16>) -> (tensor<4x128x64xbf16>, tensor<128x128xf32>) {
  %e = tensor.empty() : tensor<4x128x64xbf16>
  %w = tensor.empty() : tensor<128x128xf32>
  %m = linalg.generic {indexing_maps = [#plane], iterator_types = ["parallel", "parallel"]} outs(%w : tensor<128x128xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %far = arith.subi %j, %i : index
    %wide = arith.index_cast %far : index to i32
    %distance = arith.sitofp %wide : i32 to f32
    linalg.yield %distance : f32
  } -> tensor<128x128xf32>
  %a = kernel.attention %q, %q, %q mask(%m : tensor<128x128xf32>) into %e scale = 1.250000e-01
      : tensor<4x128x64xbf16>, tensor<4x128x64xbf16>, tensor<4x128x64xbf16> into tensor<4x128x64xbf16> -> tensor<4x128x64xbf16>
  return %a, %m : tensor<4x128x64xbf16>, tensor<128x128xf32>
}

// -----

#plane = affine_map<(d0, d1) -> (d0, d1)>

// Numbers for a mask of truth values, which two layers read. On sm_90a boxes of them are copied beside the arithmetic, and threads would have to
// load the bytes; elsewhere threads load in any case, of bytes fewer.
// CHECK-LABEL: module {{.*}} "sm_90a"
// CHECK:         %[[M:[0-9]+]] = plan.region -> (tensor<1024x1024xf32>)
// CHECK:         plan.region
// CHECK-NOT:       linalg.generic
// CHECK:           kernel.attention {{.*}} mask(%[[M]]
module attributes {plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @numbers(%q: tensor<8x16x1024x64xbf16>, %x: tensor<1024x1024xi8>) -> tensor<8x16x1024x64xbf16> {
    %shown = arith.constant 0.0 : f32
    %hidden = arith.constant -1.0e9 : f32
    %zero = arith.constant 0 : i8
    %e = tensor.empty() : tensor<8x16x1024x64xbf16>
    %w = tensor.empty() : tensor<1024x1024xf32>
    %m = linalg.generic {indexing_maps = [#plane, #plane], iterator_types = ["parallel", "parallel"]}
        ins(%x : tensor<1024x1024xi8>) outs(%w : tensor<1024x1024xf32>) {
    ^bb0(%in: i8, %out: f32):
      %seen = arith.cmpi ne, %in, %zero : i8
      %number = arith.select %seen, %shown, %hidden : f32
      linalg.yield %number : f32
    } -> tensor<1024x1024xf32>
    %a = kernel.attention %q, %q, %q mask(%m : tensor<1024x1024xf32>) into %e scale = 1.250000e-01
        : tensor<8x16x1024x64xbf16>, tensor<8x16x1024x64xbf16>, tensor<8x16x1024x64xbf16> into tensor<8x16x1024x64xbf16> -> tensor<8x16x1024x64xbf16>
    %b = kernel.attention %a, %q, %q mask(%m : tensor<1024x1024xf32>) into %e scale = 1.250000e-01
        : tensor<8x16x1024x64xbf16>, tensor<8x16x1024x64xbf16>, tensor<8x16x1024x64xbf16> into tensor<8x16x1024x64xbf16> -> tensor<8x16x1024x64xbf16>
    return %b : tensor<8x16x1024x64xbf16>
  }
}

// -----

#plane = affine_map<(d0, d1) -> (d0, d1)>

// CHECK-LABEL: module {{.*}} "sm_80"
// CHECK:         plan.region -> (tensor<8x16x1024x64xbf16>)
// CHECK:           %[[M:[0-9]+]] = linalg.generic
// CHECK:           kernel.attention {{.*}} mask(%[[M]]
module attributes {plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @numbers(%q: tensor<8x16x1024x64xbf16>, %x: tensor<1024x1024xi8>) -> tensor<8x16x1024x64xbf16> {
    %shown = arith.constant 0.0 : f32
    %hidden = arith.constant -1.0e9 : f32
    %zero = arith.constant 0 : i8
    %e = tensor.empty() : tensor<8x16x1024x64xbf16>
    %w = tensor.empty() : tensor<1024x1024xf32>
    %m = linalg.generic {indexing_maps = [#plane, #plane], iterator_types = ["parallel", "parallel"]}
        ins(%x : tensor<1024x1024xi8>) outs(%w : tensor<1024x1024xf32>) {
    ^bb0(%in: i8, %out: f32):
      %seen = arith.cmpi ne, %in, %zero : i8
      %number = arith.select %seen, %shown, %hidden : f32
      linalg.yield %number : f32
    } -> tensor<1024x1024xf32>
    %a = kernel.attention %q, %q, %q mask(%m : tensor<1024x1024xf32>) into %e scale = 1.250000e-01
        : tensor<8x16x1024x64xbf16>, tensor<8x16x1024x64xbf16>, tensor<8x16x1024x64xbf16> into tensor<8x16x1024x64xbf16> -> tensor<8x16x1024x64xbf16>
    %b = kernel.attention %a, %q, %q mask(%m : tensor<1024x1024xf32>) into %e scale = 1.250000e-01
        : tensor<8x16x1024x64xbf16>, tensor<8x16x1024x64xbf16>, tensor<8x16x1024x64xbf16> into tensor<8x16x1024x64xbf16> -> tensor<8x16x1024x64xbf16>
    return %b : tensor<8x16x1024x64xbf16>
  }
}
