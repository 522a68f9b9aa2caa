// RUN: xc-opt %s -pass-pipeline='builtin.module(func.func(xc-form-dispatches))' -split-input-file | FileCheck %s

// Last steps of two sums are one kernel, where what follows one of them reads the other sum, too: so are mean and variance of a batch.
// CHECK-LABEL: func.func @both_sums
// CHECK:         plan.region
// CHECK:         plan.region -> (tensor<128xf32>, tensor<128xf32>)
// CHECK-COUNT-2:   iterator_types = ["parallel", "reduction"]
// CHECK:           arith.subf
// CHECK-NOT:     plan.region
#whole = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#column = affine_map<(d0, d1, d2) -> (d0, d2)>
#turned = affine_map<(d0, d1) -> (d1, d0)>
#kept = affine_map<(d0, d1) -> (d0)>
builtin.module attributes {plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @both_sums(%x: tensor<4x8x128xf32>) -> (tensor<128xf32>, tensor<128xf32>) {
    %zero = arith.constant 0.0 : f32
    %e1 = tensor.empty() : tensor<4x128xf32>
    %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<4x128xf32>) -> tensor<4x128xf32>
    %squares = linalg.generic {indexing_maps = [#whole, #column], iterator_types = ["parallel", "reduction", "parallel"]}
        ins(%x : tensor<4x8x128xf32>) outs(%f1 : tensor<4x128xf32>) attrs = {plan.partial = #plan.partial<slices>} {
    ^bb0(%a: f32, %acc: f32):
      %p = arith.mulf %a, %a : f32
      %s = arith.addf %p, %acc : f32
      linalg.yield %s : f32
    } -> tensor<4x128xf32>
    %plain = linalg.generic {indexing_maps = [#whole, #column], iterator_types = ["parallel", "reduction", "parallel"]}
        ins(%x : tensor<4x8x128xf32>) outs(%f1 : tensor<4x128xf32>) attrs = {plan.partial = #plan.partial<slices>} {
    ^bb0(%a: f32, %acc: f32):
      %s = arith.addf %a, %acc : f32
      linalg.yield %s : f32
    } -> tensor<4x128xf32>
    %e2 = tensor.empty() : tensor<128xf32>
    %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<128xf32>) -> tensor<128xf32>
    %total = linalg.generic {indexing_maps = [#turned, #kept], iterator_types = ["parallel", "reduction"]}
        ins(%squares : tensor<4x128xf32>) outs(%f2 : tensor<128xf32>) {
    ^bb0(%a: f32, %acc: f32):
      %s = arith.addf %acc, %a : f32
      linalg.yield %s : f32
    } -> tensor<128xf32>
    %other = linalg.generic {indexing_maps = [#turned, #kept], iterator_types = ["parallel", "reduction"]}
        ins(%plain : tensor<4x128xf32>) outs(%f2 : tensor<128xf32>) {
    ^bb0(%a: f32, %acc: f32):
      %s = arith.addf %acc, %a : f32
      linalg.yield %s : f32
    } -> tensor<128xf32>
    %variance = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
        ins(%other, %total : tensor<128xf32>, tensor<128xf32>) outs(%e2 : tensor<128xf32>) {
    ^bb0(%a: f32, %b: f32, %out: f32):
      %n = arith.subf %a, %b : f32
      linalg.yield %n : f32
    } -> tensor<128xf32>
    return %total, %variance : tensor<128xf32>, tensor<128xf32>
  }
}

// -----

// The other sum is read in another row.
// CHECK-LABEL: func.func @other_row
// CHECK-COUNT-3: plan.region
// CHECK-NOT:     plan.region
#whole = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#column = affine_map<(d0, d1, d2) -> (d0, d2)>
#turned = affine_map<(d0, d1) -> (d1, d0)>
#kept = affine_map<(d0, d1) -> (d0)>
builtin.module attributes {plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @other_row(%x: tensor<4x8x128xf32>) -> (tensor<128xf32>, tensor<128xf32>) {
    %zero = arith.constant 0.0 : f32
    %e1 = tensor.empty() : tensor<4x128xf32>
    %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<4x128xf32>) -> tensor<4x128xf32>
    %squares = linalg.generic {indexing_maps = [#whole, #column], iterator_types = ["parallel", "reduction", "parallel"]}
        ins(%x : tensor<4x8x128xf32>) outs(%f1 : tensor<4x128xf32>) attrs = {plan.partial = #plan.partial<slices>} {
    ^bb0(%a: f32, %acc: f32):
      %p = arith.mulf %a, %a : f32
      %s = arith.addf %p, %acc : f32
      linalg.yield %s : f32
    } -> tensor<4x128xf32>
    %plain = linalg.generic {indexing_maps = [#whole, #column], iterator_types = ["parallel", "reduction", "parallel"]}
        ins(%x : tensor<4x8x128xf32>) outs(%f1 : tensor<4x128xf32>) attrs = {plan.partial = #plan.partial<slices>} {
    ^bb0(%a: f32, %acc: f32):
      %s = arith.addf %a, %acc : f32
      linalg.yield %s : f32
    } -> tensor<4x128xf32>
    %e2 = tensor.empty() : tensor<128xf32>
    %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<128xf32>) -> tensor<128xf32>
    %total = linalg.generic {indexing_maps = [#turned, #kept], iterator_types = ["parallel", "reduction"]}
        ins(%squares : tensor<4x128xf32>) outs(%f2 : tensor<128xf32>) {
    ^bb0(%a: f32, %acc: f32):
      %s = arith.addf %acc, %a : f32
      linalg.yield %s : f32
    } -> tensor<128xf32>
    %other = linalg.generic {indexing_maps = [#turned, #kept], iterator_types = ["parallel", "reduction"]}
        ins(%plain : tensor<4x128xf32>) outs(%f2 : tensor<128xf32>) {
    ^bb0(%a: f32, %acc: f32):
      %s = arith.addf %acc, %a : f32
      linalg.yield %s : f32
    } -> tensor<128xf32>
    %variance = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (127 - d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
        ins(%other, %total : tensor<128xf32>, tensor<128xf32>) outs(%e2 : tensor<128xf32>) {
    ^bb0(%a: f32, %b: f32, %out: f32):
      %n = arith.subf %a, %b : f32
      linalg.yield %n : f32
    } -> tensor<128xf32>
    return %total, %variance : tensor<128xf32>, tensor<128xf32>
  }
}
