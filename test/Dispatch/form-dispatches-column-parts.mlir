// RUN: xc-opt %s -split-input-file -pass-pipeline="builtin.module(func.func(xc-form-dispatches))" | FileCheck %s

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
#all = affine_map<(m, n) -> (m, n)>
#parts = affine_map<(m, n) -> (m floordiv 64, n)>
#column = affine_map<(m, n) -> (n)>

// The product's kernel reduces parts of its columns: a sum, and squares of distances from what is made of it. Another one brings them together.
// CHECK-LABEL: func.func @statistics(
// CHECK:         %[[P:.*]]:3 = plan.region
// CHECK:           linalg.contract
// CHECK:           arith.truncf
// CHECK:           linalg.generic {{.*}}plan.partial
// CHECK:           linalg.generic {{.*}}plan.partial
// CHECK:             arith.divf
// CHECK:           linalg.generic {{.*}}plan.partial
// CHECK:           plan.yield
// CHECK:         plan.region
// CHECK:           linalg.generic {{.*}} ins(%[[P]]#
module attributes {plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @statistics(%a: tensor<8192x64xbf16>, %b: tensor<64x128xbf16>) -> (tensor<8192x128xbf16>, tensor<128xf32>, tensor<128xf32>) {
    %zero = arith.constant 0.0 : f32
    %count = arith.constant 64.0 : f32
    %e = tensor.empty() : tensor<8192x128xf32>
    %i = linalg.fill ins(%zero : f32) outs(%e : tensor<8192x128xf32>) -> tensor<8192x128xf32>
    %p = linalg.contract indexing_maps = [#a, #b, #c] ins(%a, %b : tensor<8192x64xbf16>, tensor<64x128xbf16>) outs(%i : tensor<8192x128xf32>) -> tensor<8192x128xf32>
    %o = tensor.empty() : tensor<8192x128xbf16>
    %y = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<8192x128xf32>) outs(%o : tensor<8192x128xbf16>) {
    ^bb0(%v: f32, %w: bf16):
      %t = arith.truncf %v : f32 to bf16
      linalg.yield %t : bf16
    } -> tensor<8192x128xbf16>
    %f = tensor.empty() : tensor<128x128xf32>
    %j = linalg.fill ins(%zero : f32) outs(%f : tensor<128x128xf32>) -> tensor<128x128xf32>
    %s = linalg.generic {indexing_maps = [#all, #parts], iterator_types = ["reduction", "parallel"]} ins(%y : tensor<8192x128xbf16>) outs(%j : tensor<128x128xf32>) attrs = {plan.partial = #plan.partial<rows, 64>} {
    ^bb0(%v: bf16, %acc: f32):
      %x = arith.extf %v : bf16 to f32
      %t = arith.addf %acc, %x : f32
      linalg.yield %t : f32
    } -> tensor<128x128xf32>
    %m = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]} ins(%s : tensor<128x128xf32>) outs(%f : tensor<128x128xf32>) attrs = {plan.partial = #plan.partial<rows, 64>} {
    ^bb0(%v: f32, %w: f32):
      %t = arith.divf %v, %count : f32
      linalg.yield %t : f32
    } -> tensor<128x128xf32>
    %q = linalg.generic {indexing_maps = [#all, #parts, #parts], iterator_types = ["reduction", "parallel"]} ins(%y, %m : tensor<8192x128xbf16>, tensor<128x128xf32>) outs(%j : tensor<128x128xf32>) attrs = {plan.partial = #plan.partial<rows, 64>} {
    ^bb0(%v: bf16, %mean: f32, %acc: f32):
      %x = arith.extf %v : bf16 to f32
      %d = arith.subf %x, %mean : f32
      %u = arith.mulf %d, %d : f32
      %t = arith.addf %acc, %u : f32
      linalg.yield %t : f32
    } -> tensor<128x128xf32>
    %g = tensor.empty() : tensor<128xf32>
    %k = linalg.fill ins(%zero : f32) outs(%g : tensor<128xf32>) -> tensor<128xf32>
    %sum = linalg.generic {indexing_maps = [#all, #column], iterator_types = ["reduction", "parallel"]} ins(%s : tensor<128x128xf32>) outs(%k : tensor<128xf32>) {
    ^bb0(%v: f32, %acc: f32):
      %t = arith.addf %acc, %v : f32
      linalg.yield %t : f32
    } -> tensor<128xf32>
    %squares = linalg.generic {indexing_maps = [#all, #column], iterator_types = ["reduction", "parallel"]} ins(%q : tensor<128x128xf32>) outs(%k : tensor<128xf32>) {
    ^bb0(%v: f32, %acc: f32):
      %t = arith.addf %acc, %v : f32
      linalg.yield %t : f32
    } -> tensor<128xf32>
    return %y, %sum, %squares : tensor<8192x128xbf16>, tensor<128xf32>, tensor<128xf32>
  }
}
