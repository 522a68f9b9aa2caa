// RUN: xc-opt %s -pass-pipeline='builtin.module(func.func(xc-form-dispatches))' -split-input-file | FileCheck %s

#row = affine_map<(d0, d1) -> (d0)>
#all = affine_map<(d0, d1) -> (d0, d1)>

// CHECK-LABEL: func.func @results_without_elements(
// CHECK-NOT:     plan.region
// CHECK:         %[[EMPTY:.*]] = tensor.empty(%{{.*}}) : tensor<?x0xf32>
// CHECK-NEXT:    return %[[EMPTY]]
func.func @results_without_elements(%x: tensor<?x0xf32>) -> tensor<?x0xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x0xf32>
  %init = tensor.empty(%n) : tensor<?x0xf32>
  %y = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?x0xf32>) outs(%init : tensor<?x0xf32>) {
  ^bb0(%a: f32, %unused: f32):
    %s = arith.negf %a : f32
    linalg.yield %s : f32
  } -> tensor<?x0xf32>
  return %y : tensor<?x0xf32>
}

// -----

#row = affine_map<(d0, d1) -> (d0)>
#all = affine_map<(d0, d1) -> (d0, d1)>
#id = affine_map<(d0) -> (d0)>
#none = affine_map<(d0) -> ()>

// What the first sum gives for each row is kept inside the kernel while the second runs: as much memory as there are
// rows, so two kernels where that is not known.
// CHECK-LABEL: func.func @sum_of_sums(
// CHECK:         plan.region -> (tensor<?xf32>)
// CHECK:         plan.region -> (tensor<f32>)
func.func @sum_of_sums(%x: tensor<?x9xf32>) -> tensor<f32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?x9xf32>
  %rows = tensor.empty(%n) : tensor<?xf32>
  %one = tensor.empty() : tensor<f32>
  %zeros = linalg.fill ins(%zero : f32) outs(%rows : tensor<?xf32>) -> tensor<?xf32>
  %start = linalg.fill ins(%zero : f32) outs(%one : tensor<f32>) -> tensor<f32>
  %s = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x9xf32>) outs(%zeros : tensor<?xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %t = arith.addf %acc, %a : f32
    linalg.yield %t : f32
  } -> tensor<?xf32>
  %r = linalg.generic {indexing_maps = [#id, #none], iterator_types = ["reduction"]}
      ins(%s : tensor<?xf32>) outs(%start : tensor<f32>) {
  ^bb0(%a: f32, %acc: f32):
    %t = arith.addf %acc, %a : f32
    linalg.yield %t : f32
  } -> tensor<f32>
  return %r : tensor<f32>
}
