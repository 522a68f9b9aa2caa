// RUN: xc-opt %s -split-input-file -xc-fuse-elementwise | FileCheck %s

#vector = affine_map<(d0) -> (d0)>
#number = affine_map<(d0) -> ()>
#none = affine_map<() -> ()>
#column = affine_map<(d0, d1) -> (d1)>
#row = affine_map<(d0, d1) -> (d0)>
#all = affine_map<(d0, d1) -> (d0, d1)>

// Two products of one norm: each row of them has the norm's sum, once for both.
// CHECK-LABEL: func.func @norm
// CHECK:         %[[SUM:.*]] = linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]} ins(%{{.*}} : tensor<768xf32>) outs(%{{.*}} : tensor<512xf32>)
// CHECK:         %[[ROOT:.*]] = linalg.generic {{.*}} ins(%[[SUM]] : tensor<512xf32>)
// CHECK:           math.rsqrt
// CHECK:         linalg.generic {{.*}} ins(%{{.*}}, %[[ROOT]], %{{.*}}, %{{.*}} : tensor<768xf32>, tensor<512xf32>, tensor<768xbf16>, tensor<512x768xbf16>)
// CHECK:         linalg.generic {{.*}} ins(%{{.*}}, %[[ROOT]], %{{.*}}, %{{.*}} : tensor<768xf32>, tensor<512xf32>, tensor<768xbf16>, tensor<512x768xbf16>)
// CHECK-NOT:     linalg.generic
module attributes {plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @norm(%x: tensor<768xf32>, %g: tensor<768xbf16>, %v: tensor<512x768xbf16>, %w: tensor<512x768xbf16>) -> (tensor<512xf32>, tensor<512xf32>) {
    %zero = arith.constant 0.0 : f32
    %e0 = tensor.empty() : tensor<f32>
    %e1 = tensor.empty() : tensor<768xbf16>
    %e2 = tensor.empty() : tensor<512xf32>
    %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<f32>) -> tensor<f32>
    %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<512xf32>) -> tensor<512xf32>
    %s = linalg.generic {indexing_maps = [#vector, #number], iterator_types = ["reduction"]} ins(%x : tensor<768xf32>) outs(%f0 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %p = arith.mulf %in, %in : f32
      %a = arith.addf %out, %p : f32
      linalg.yield %a : f32
    } -> tensor<f32>
    %r = linalg.generic {indexing_maps = [#none, #none], iterator_types = []} ins(%s : tensor<f32>) outs(%e0 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %q = math.rsqrt %in : f32
      linalg.yield %q : f32
    } -> tensor<f32>
    %y = linalg.generic {indexing_maps = [#vector, #number, #vector, #vector], iterator_types = ["parallel"]}
        ins(%x, %r, %g : tensor<768xf32>, tensor<f32>, tensor<768xbf16>) outs(%e1 : tensor<768xbf16>) {
    ^bb0(%in: f32, %n: f32, %b: bf16, %out: bf16):
      %c = arith.extf %b : bf16 to f32
      %p = arith.mulf %in, %n : f32
      %q = arith.mulf %p, %c : f32
      %t = arith.truncf %q : f32 to bf16
      linalg.yield %t : bf16
    } -> tensor<768xbf16>
    %m = linalg.generic {indexing_maps = [#column, #all, #row], iterator_types = ["parallel", "reduction"]}
        ins(%y, %v : tensor<768xbf16>, tensor<512x768xbf16>) outs(%f2 : tensor<512xf32>) {
    ^bb0(%in: bf16, %b: bf16, %out: f32):
      %i = arith.extf %in : bf16 to f32
      %j = arith.extf %b : bf16 to f32
      %p = arith.mulf %i, %j : f32
      %a = arith.addf %out, %p : f32
      linalg.yield %a : f32
    } -> tensor<512xf32>
    %n = linalg.generic {indexing_maps = [#column, #all, #row], iterator_types = ["parallel", "reduction"]}
        ins(%y, %w : tensor<768xbf16>, tensor<512x768xbf16>) outs(%f2 : tensor<512xf32>) {
    ^bb0(%in: bf16, %b: bf16, %out: f32):
      %i = arith.extf %in : bf16 to f32
      %j = arith.extf %b : bf16 to f32
      %p = arith.mulf %i, %j : f32
      %a = arith.addf %out, %p : f32
      linalg.yield %a : f32
    } -> tensor<512xf32>
    return %m, %n : tensor<512xf32>, tensor<512xf32>
  }
}

// -----

#vector = affine_map<(d0) -> (d0)>
#number = affine_map<(d0) -> ()>
#column = affine_map<(d0, d1) -> (d1)>
#row = affine_map<(d0, d1) -> (d0)>
#all = affine_map<(d0, d1) -> (d0, d1)>

// A vector that is longer than what rows read beside the matrix from the cache.
// CHECK-LABEL: func.func @long
// CHECK:         linalg.generic {{.*}} iterator_types = ["reduction"]}
// CHECK:         linalg.generic {{.*}} iterator_types = ["parallel"]}
// CHECK:         linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<4096xbf16>, tensor<512x4096xbf16>)
module attributes {plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @long(%x: tensor<4096xf32>, %g: tensor<4096xbf16>, %w: tensor<512x4096xbf16>) -> tensor<512xf32> {
    %zero = arith.constant 0.0 : f32
    %e0 = tensor.empty() : tensor<f32>
    %e1 = tensor.empty() : tensor<4096xbf16>
    %e2 = tensor.empty() : tensor<512xf32>
    %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<f32>) -> tensor<f32>
    %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<512xf32>) -> tensor<512xf32>
    %s = linalg.generic {indexing_maps = [#vector, #number], iterator_types = ["reduction"]} ins(%x : tensor<4096xf32>) outs(%f0 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %p = arith.mulf %in, %in : f32
      %a = arith.addf %out, %p : f32
      linalg.yield %a : f32
    } -> tensor<f32>
    %y = linalg.generic {indexing_maps = [#vector, #number, #vector, #vector], iterator_types = ["parallel"]}
        ins(%x, %s, %g : tensor<4096xf32>, tensor<f32>, tensor<4096xbf16>) outs(%e1 : tensor<4096xbf16>) {
    ^bb0(%in: f32, %n: f32, %b: bf16, %out: bf16):
      %c = arith.extf %b : bf16 to f32
      %p = arith.mulf %in, %n : f32
      %q = arith.mulf %p, %c : f32
      %t = arith.truncf %q : f32 to bf16
      linalg.yield %t : bf16
    } -> tensor<4096xbf16>
    %n = linalg.generic {indexing_maps = [#column, #all, #row], iterator_types = ["parallel", "reduction"]}
        ins(%y, %w : tensor<4096xbf16>, tensor<512x4096xbf16>) outs(%f2 : tensor<512xf32>) {
    ^bb0(%in: bf16, %b: bf16, %out: f32):
      %i = arith.extf %in : bf16 to f32
      %j = arith.extf %b : bf16 to f32
      %p = arith.mulf %i, %j : f32
      %a = arith.addf %out, %p : f32
      linalg.yield %a : f32
    } -> tensor<512xf32>
    return %n : tensor<512xf32>
  }
}
