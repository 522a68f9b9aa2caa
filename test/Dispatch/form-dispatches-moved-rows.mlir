// RUN: xc-opt %s -pass-pipeline='builtin.module(func.func(xc-form-dispatches))' -split-input-file | FileCheck %s
// RUN: xc-opt %s -pass-pipeline='builtin.module(func.func(xc-form-dispatches{fuse=false}))' -split-input-file | FileCheck %s --check-prefix=ALONE

#swap = affine_map<(d0, d1, d2) -> (d1, d0, d2)>
#id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#row = affine_map<(d0, d1, d2) -> (d0, d1)>

// A step of training: attention and both kernels of its gradient read the same rows where they are, each with an op of its own that moves them.
// All store rows where they are moved to, and what the gradient's delta needs of attention's result is read there.
// CHECK-LABEL: func.func @step(
// CHECK-SAME:    %[[X:.*]]: tensor<128x4x64xbf16>, %[[G:.*]]: tensor<128x4x64xbf16>)
// CHECK:         %[[FORWARD:[0-9]+]]:2 = plan.region -> (tensor<128x4x64xbf16>, tensor<4x128xf32>) {
// CHECK:           %[[ROWS:[0-9]+]] = linalg.generic {{.*}} ins(%[[X]]
// CHECK:           %[[A:[0-9]+]]:2 = kernel.attention %[[ROWS]], %[[ROWS]], %[[ROWS]]
// CHECK:           %[[MOVED:[0-9]+]] = linalg.generic {{.*}} ins(%[[A]]#0
// CHECK:           plan.yield %[[MOVED]], %[[A]]#1
// CHECK:         %[[DELTA:[0-9]+]] = plan.region -> (tensor<4x128xf32>) {
// CHECK:           linalg.generic {{.*}} ins(%[[FORWARD]]#0, %[[FORWARD]]#0 {{.*}}
// CHECK:         plan.region -> (tensor<128x4x64xbf16>) {
// CHECK-DAG:       %[[ROWS:[0-9]+]] = linalg.generic {{.*}} ins(%[[X]]
// CHECK-DAG:       %[[FLOW:[0-9]+]] = linalg.generic {{.*}} ins(%[[G]]
// CHECK:           %[[TO:[0-9]+]] = kernel.attention_gradient %[[ROWS]], %[[ROWS]], %[[ROWS]], %[[FLOW]], %[[FORWARD]]#1, %[[DELTA]]
// CHECK:           linalg.generic {{.*}} ins(%[[TO]]
// CHECK:         plan.region -> (tensor<128x4x64xbf16>, tensor<4x128x64xbf16>) {
// CHECK:           %[[TO:[0-9]+]]:2 = kernel.attention_gradient
// CHECK:           %[[MOVED:[0-9]+]] = linalg.generic {{.*}} ins(%[[TO]]#0
// CHECK:           plan.yield %[[MOVED]], %[[TO]]#1
// CHECK-NOT:     plan.region
// ALONE-LABEL: func.func @step(
// ALONE-COUNT-9: plan.region
func.func @step(%x: tensor<128x4x64xbf16>, %g: tensor<128x4x64xbf16>)
    -> (tensor<128x4x64xbf16>, tensor<128x4x64xbf16>, tensor<128x4x64xbf16>, tensor<4x128x64xbf16>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x128x64xbf16>
  %f = tensor.empty() : tensor<128x4x64xbf16>
  %n = tensor.empty() : tensor<4x128xf32>
  %m = linalg.generic {indexing_maps = [#swap, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x : tensor<128x4x64xbf16>) outs(%e : tensor<4x128x64xbf16>) {
  ^bb0(%in: bf16, %out: bf16):
    linalg.yield %in : bf16
  } -> tensor<4x128x64xbf16>
  %c = linalg.generic {indexing_maps = [#swap, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%g : tensor<128x4x64xbf16>) outs(%e : tensor<4x128x64xbf16>) {
  ^bb0(%in: bf16, %out: bf16):
    linalg.yield %in : bf16
  } -> tensor<4x128x64xbf16>
  %a:2 = kernel.attention %m, %m, %m into %e, %n scale = 1.250000e-01 : tensor<4x128x64xbf16>, tensor<4x128x64xbf16>, tensor<4x128x64xbf16>
      into tensor<4x128x64xbf16>, tensor<4x128xf32> -> tensor<4x128x64xbf16>, tensor<4x128xf32>
  %i = linalg.fill ins(%zero : f32) outs(%n : tensor<4x128xf32>) -> tensor<4x128xf32>
  %d = linalg.generic {indexing_maps = [#id, #id, #row], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a#0, %a#0 : tensor<4x128x64xbf16>, tensor<4x128x64xbf16>) outs(%i : tensor<4x128xf32>) {
  ^bb0(%in: bf16, %other: bf16, %out: f32):
    %wide = arith.extf %in : bf16 to f32
    %also = arith.extf %other : bf16 to f32
    %p = arith.mulf %wide, %also : f32
    %s = arith.addf %p, %out : f32
    linalg.yield %s : f32
  } -> tensor<4x128xf32>
  %r = linalg.generic {indexing_maps = [#swap, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%a#0 : tensor<4x128x64xbf16>) outs(%f : tensor<128x4x64xbf16>) {
  ^bb0(%in: bf16, %out: bf16):
    linalg.yield %in : bf16
  } -> tensor<128x4x64xbf16>
  %to_q = kernel.attention_gradient %m, %m, %m, %c, %a#1, %d into %e scale = 1.250000e-01
      : tensor<4x128x64xbf16>, tensor<4x128x64xbf16>, tensor<4x128x64xbf16>, tensor<4x128x64xbf16>, tensor<4x128xf32>, tensor<4x128xf32>
      into tensor<4x128x64xbf16> -> tensor<4x128x64xbf16>
  %to_k, %to_v = kernel.attention_gradient %m, %m, %m, %c, %a#1, %d into %e, %e scale = 1.250000e-01
      : tensor<4x128x64xbf16>, tensor<4x128x64xbf16>, tensor<4x128x64xbf16>, tensor<4x128x64xbf16>, tensor<4x128xf32>, tensor<4x128xf32>
      into tensor<4x128x64xbf16>, tensor<4x128x64xbf16> -> tensor<4x128x64xbf16>, tensor<4x128x64xbf16>
  %rq = linalg.generic {indexing_maps = [#swap, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%to_q : tensor<4x128x64xbf16>) outs(%f : tensor<128x4x64xbf16>) {
  ^bb0(%in: bf16, %out: bf16):
    linalg.yield %in : bf16
  } -> tensor<128x4x64xbf16>
  %rk = linalg.generic {indexing_maps = [#swap, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%to_k : tensor<4x128x64xbf16>) outs(%f : tensor<128x4x64xbf16>) {
  ^bb0(%in: bf16, %out: bf16):
    linalg.yield %in : bf16
  } -> tensor<128x4x64xbf16>
  return %r, %rq, %rk, %to_v : tensor<128x4x64xbf16>, tensor<128x4x64xbf16>, tensor<128x4x64xbf16>, tensor<4x128x64xbf16>
}

// -----

#swap = affine_map<(d0, d1, d2) -> (d1, d0, d2)>
#id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>

// What moves the result of an op that computes is one, with that op, for all who read it.
// CHECK-LABEL: func.func @computed(
// CHECK:         %[[MOVED:[0-9]+]] = plan.region -> (tensor<4x128x64xbf16>) {
// CHECK-COUNT-2:   linalg.generic
// CHECK:         plan.region
// CHECK:           kernel.attention %[[MOVED]]
// CHECK:         plan.region
// CHECK:           kernel.attention %[[MOVED]]
func.func @computed(%x: tensor<128x4x64xbf16>, %k: tensor<4x128x64xbf16>) -> (tensor<4x128x64xbf16>, tensor<4x128x64xbf16>) {
  %e = tensor.empty() : tensor<4x128x64xbf16>
  %f = tensor.empty() : tensor<128x4x64xbf16>
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x : tensor<128x4x64xbf16>) outs(%f : tensor<128x4x64xbf16>) {
  ^bb0(%in: bf16, %out: bf16):
    %s = arith.addf %in, %in : bf16
    linalg.yield %s : bf16
  } -> tensor<128x4x64xbf16>
  %m = linalg.generic {indexing_maps = [#swap, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%y : tensor<128x4x64xbf16>) outs(%e : tensor<4x128x64xbf16>) {
  ^bb0(%in: bf16, %out: bf16):
    linalg.yield %in : bf16
  } -> tensor<4x128x64xbf16>
  %a = kernel.attention %m, %k, %k into %e scale = 1.250000e-01
      : tensor<4x128x64xbf16>, tensor<4x128x64xbf16>, tensor<4x128x64xbf16> into tensor<4x128x64xbf16> -> tensor<4x128x64xbf16>
  %b = kernel.attention %m, %k, %a into %e scale = 1.250000e-01
      : tensor<4x128x64xbf16>, tensor<4x128x64xbf16>, tensor<4x128x64xbf16> into tensor<4x128x64xbf16> -> tensor<4x128x64xbf16>
  return %a, %b : tensor<4x128x64xbf16>, tensor<4x128x64xbf16>
}

// -----

#swap = affine_map<(d0, d1, d2) -> (d1, d0, d2)>
#id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>

// A result that is needed as it is stays, and so does the kernel that moves it. What moves the gradient of a mask has a kernel, too.
// CHECK-LABEL: func.func @kept(
// CHECK:         %[[A:[0-9]+]] = plan.region -> (tensor<4x128x64xbf16>) {
// CHECK-NEXT:      tensor.empty
// CHECK-NEXT:      kernel.attention
// CHECK:         plan.region -> (tensor<128x4x64xbf16>) {
// CHECK:           linalg.generic {{.*}} ins(%[[A]]
// CHECK-LABEL: func.func @mask(
// CHECK-COUNT-2: plan.region
func.func @kept(%q: tensor<4x128x64xbf16>) -> (tensor<4x128x64xbf16>, tensor<128x4x64xbf16>) {
  %e = tensor.empty() : tensor<4x128x64xbf16>
  %f = tensor.empty() : tensor<128x4x64xbf16>
  %a = kernel.attention %q, %q, %q into %e scale = 1.250000e-01
      : tensor<4x128x64xbf16>, tensor<4x128x64xbf16>, tensor<4x128x64xbf16> into tensor<4x128x64xbf16> -> tensor<4x128x64xbf16>
  %r = linalg.generic {indexing_maps = [#swap, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%a : tensor<4x128x64xbf16>) outs(%f : tensor<128x4x64xbf16>) {
  ^bb0(%in: bf16, %out: bf16):
    linalg.yield %in : bf16
  } -> tensor<128x4x64xbf16>
  return %a, %r : tensor<4x128x64xbf16>, tensor<128x4x64xbf16>
}
func.func @mask(%q: tensor<4x128x64xbf16>, %m: tensor<4x128x128xf32>, %l: tensor<4x128xf32>) -> tensor<128x4x128xf32> {
  %e = tensor.empty() : tensor<4x128x128xf32>
  %f = tensor.empty() : tensor<128x4x128xf32>
  %g = kernel.attention_gradient %q, %q, %q, %q, %l, %l mask(%m : tensor<4x128x128xf32>) only_mask into %e scale = 1.250000e-01
      : tensor<4x128x64xbf16>, tensor<4x128x64xbf16>, tensor<4x128x64xbf16>, tensor<4x128x64xbf16>, tensor<4x128xf32>, tensor<4x128xf32>
      into tensor<4x128x128xf32> -> tensor<4x128x128xf32>
  %r = linalg.generic {indexing_maps = [#swap, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%g : tensor<4x128x128xf32>) outs(%f : tensor<128x4x128xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<128x4x128xf32>
  return %r : tensor<128x4x128xf32>
}

// -----

// Queries out of the rows of one product: the kernel of few queries reads them there.
// CHECK-LABEL: func.func @packed_queries(
// CHECK-SAME:    %[[X:.*]]: tensor<8x96xbf16>, %[[K:.*]]: tensor<8x2x64x16xbf16>)
// CHECK:         plan.region -> (tensor<8x4x1x16xbf16>) {
// CHECK:           %[[PART:.*]] = tensor.extract_slice %[[X]][0, 0] [8, 64] [1, 1]
// CHECK:           %[[HEADS:.*]] = tensor.expand_shape %[[PART]] {{\[}}[0], [1, 2, 3]]
// CHECK:           %[[ROWS:.*]] = linalg.generic {{.*}} ins(%[[HEADS]] : tensor<8x4x1x16xbf16>)
// CHECK:           kernel.attention_decode %[[ROWS]], %[[K]], %[[K]]
// CHECK-NOT:     plan.region
// ALONE-LABEL: func.func @packed_queries(
// ALONE-COUNT-2: plan.region
func.func @packed_queries(%x: tensor<8x96xbf16>, %k: tensor<8x2x64x16xbf16>) -> tensor<8x4x1x16xbf16> {
  %e = tensor.empty() : tensor<8x4x1x16xbf16>
  %part = tensor.extract_slice %x[0, 0] [8, 64] [1, 1] : tensor<8x96xbf16> to tensor<8x64xbf16>
  %q = tensor.expand_shape %part [[0], [1, 2, 3]] output_shape [8, 4, 1, 16] : tensor<8x64xbf16> into tensor<8x4x1x16xbf16>
  %a = kernel.attention_decode %q, %k, %k into %e scale = 0.25 splits = 1
      : tensor<8x4x1x16xbf16>, tensor<8x2x64x16xbf16>, tensor<8x2x64x16xbf16> into tensor<8x4x1x16xbf16> -> tensor<8x4x1x16xbf16>
  return %a : tensor<8x4x1x16xbf16>
}

// -----

// Rows that begin anywhere are copied first.
// CHECK-LABEL: func.func @rows_anywhere(
// CHECK-COUNT-2: plan.region
func.func @rows_anywhere(%x: tensor<8x97xbf16>, %k: tensor<8x2x64x16xbf16>) -> tensor<8x4x1x16xbf16> {
  %e = tensor.empty() : tensor<8x4x1x16xbf16>
  %part = tensor.extract_slice %x[0, 1] [8, 64] [1, 1] : tensor<8x97xbf16> to tensor<8x64xbf16>
  %q = tensor.expand_shape %part [[0], [1, 2, 3]] output_shape [8, 4, 1, 16] : tensor<8x64xbf16> into tensor<8x4x1x16xbf16>
  %a = kernel.attention_decode %q, %k, %k into %e scale = 0.25 splits = 1
      : tensor<8x4x1x16xbf16>, tensor<8x2x64x16xbf16>, tensor<8x2x64x16xbf16> into tensor<8x4x1x16xbf16> -> tensor<8x4x1x16xbf16>
  return %a : tensor<8x4x1x16xbf16>
}
