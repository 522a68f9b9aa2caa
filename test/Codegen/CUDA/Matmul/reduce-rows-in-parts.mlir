// RUN: xc-opt %s -split-input-file -pass-pipeline="builtin.module(func.func(xc-cuda-reduce-rows-in-parts))" | FileCheck %s
// RUN: xc-opt %s -split-input-file -pass-pipeline="builtin.module(func.func(xc-cuda-reduce-rows-in-parts{fewest-bytes=1}))" | FileCheck %s --check-prefix=SMALL

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
#all = affine_map<(m, n) -> (m, n)>
#row = affine_map<(m, n) -> (m)>

// CHECK-DAG: #[[ALL:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[PARTS:.*]] = affine_map<(d0, d1) -> (d0, d1 floordiv 64)>
// CHECK-DAG: #[[ROW:.*]] = affine_map<(d0, d1) -> (d0)>

builtin.module @products attributes {plan.target = #plan.target<"cuda", "sm_90a">} {
  // The last part of a row has 40 columns.
  // CHECK-LABEL: func.func @sum_of_squares(
  // CHECK-SAME:    %{{.*}}, %{{.*}}, %[[ROWS:.*]]: index
  // CHECK:         %[[Y:.*]] = linalg.contract
  // CHECK:         %[[EMPTY:.*]] = tensor.empty(%[[ROWS]]) : tensor<?x16xf32>
  // CHECK:         %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
  // CHECK:         %[[START:.*]] = linalg.fill ins(%[[ZERO]] : f32) outs(%[[EMPTY]]
  // CHECK:         %[[P:.*]] = linalg.generic {indexing_maps = [#[[ALL]], #[[PARTS]]], iterator_types = ["parallel", "reduction"]}
  // CHECK-SAME:      ins(%[[Y]] : tensor<?x1000xf32>) outs(%[[START]] : tensor<?x16xf32>)
  // CHECK-SAME:      plan.note = "reduces its rows in parts of 64 columns, so that {{[0-9]+}} bytes are not written and read again", plan.partial
  // CHECK:           arith.mulf
  // CHECK:         %[[S:.*]] = linalg.generic {indexing_maps = [#[[ALL]], #[[ROW]]], iterator_types = ["parallel", "reduction"]} ins(%[[P]]
  // CHECK:           arith.addf
  // CHECK-NOT:     linalg.generic
  // CHECK:         return %[[S]]
  func.func @sum_of_squares(%a: tensor<?x512xbf16>, %b: tensor<512x1000xbf16>, %m: index) -> tensor<?xf32> {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty(%m) : tensor<?x1000xf32>
    %i = linalg.fill ins(%zero : f32) outs(%e : tensor<?x1000xf32>) -> tensor<?x1000xf32>
    %y = linalg.contract indexing_maps = [#a, #b, #c] ins(%a, %b : tensor<?x512xbf16>, tensor<512x1000xbf16>) outs(%i : tensor<?x1000xf32>) -> tensor<?x1000xf32>
    %f = tensor.empty(%m) : tensor<?xf32>
    %j = linalg.fill ins(%zero : f32) outs(%f : tensor<?xf32>) -> tensor<?xf32>
    %s = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]} ins(%y : tensor<?x1000xf32>) outs(%j : tensor<?xf32>) {
    ^bb0(%v: f32, %acc: f32):
      %q = arith.mulf %v, %v : f32
      %t = arith.addf %acc, %q : f32
      linalg.yield %t : f32
    } -> tensor<?xf32>
    return %s : tensor<?xf32>
  }

  // Of what follows the product, which is needed itself.
  // CHECK-LABEL: func.func @maximum_beside(
  // CHECK:         linalg.contract
  // CHECK:         %[[Y:.*]] = linalg.generic
  // CHECK:           arith.truncf
  // CHECK:         %[[P:.*]] = linalg.generic {{.*}} ins(%[[Y]] : tensor<4096x1024xbf16>) outs(%{{.*}} : tensor<4096x16xbf16>) attrs = {plan.note = "{{.*}} bytes are not read again"
  // CHECK:         %[[S:.*]] = linalg.generic {{.*}} ins(%[[P]] : tensor<4096x16xbf16>)
  // CHECK:           arith.maximumf
  // CHECK:         return %[[Y]], %[[S]]
  func.func @maximum_beside(%a: tensor<4096x512xbf16>, %b: tensor<512x1024xbf16>) -> (tensor<4096x1024xbf16>, tensor<4096xbf16>) {
    %zero = arith.constant 0.0 : f32
    %lowest = arith.constant 0xFF80 : bf16
    %e = tensor.empty() : tensor<4096x1024xf32>
    %i = linalg.fill ins(%zero : f32) outs(%e : tensor<4096x1024xf32>) -> tensor<4096x1024xf32>
    %p = linalg.contract indexing_maps = [#a, #b, #c] ins(%a, %b : tensor<4096x512xbf16>, tensor<512x1024xbf16>) outs(%i : tensor<4096x1024xf32>) -> tensor<4096x1024xf32>
    %o = tensor.empty() : tensor<4096x1024xbf16>
    %y = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<4096x1024xf32>) outs(%o : tensor<4096x1024xbf16>) {
    ^bb0(%v: f32, %w: bf16):
      %t = arith.truncf %v : f32 to bf16
      linalg.yield %t : bf16
    } -> tensor<4096x1024xbf16>
    %f = tensor.empty() : tensor<4096xbf16>
    %j = linalg.fill ins(%lowest : bf16) outs(%f : tensor<4096xbf16>) -> tensor<4096xbf16>
    %s = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]} ins(%y : tensor<4096x1024xbf16>) outs(%j : tensor<4096xbf16>) {
    ^bb0(%v: bf16, %acc: bf16):
      %t = arith.maximumf %acc, %v : bf16
      linalg.yield %t : bf16
    } -> tensor<4096xbf16>
    return %y, %s : tensor<4096x1024xbf16>, tensor<4096xbf16>
  }

  // The row is there again behind its maximum.
  // CHECK-LABEL: func.func @feeds_its_row(
  // CHECK-NOT:     plan.partial
  func.func @feeds_its_row(%a: tensor<4096x512xf16>, %b: tensor<512x1024xf16>) -> tensor<4096x1024xf32> {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<4096x1024xf32>
    %i = linalg.fill ins(%zero : f32) outs(%e : tensor<4096x1024xf32>) -> tensor<4096x1024xf32>
    %y = linalg.contract indexing_maps = [#a, #b, #c] ins(%a, %b : tensor<4096x512xf16>, tensor<512x1024xf16>) outs(%i : tensor<4096x1024xf32>) -> tensor<4096x1024xf32>
    %f = tensor.empty() : tensor<4096xf32>
    %j = linalg.fill ins(%zero : f32) outs(%f : tensor<4096xf32>) -> tensor<4096xf32>
    %s = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]} ins(%y : tensor<4096x1024xf32>) outs(%j : tensor<4096xf32>) {
    ^bb0(%v: f32, %acc: f32):
      %t = arith.addf %acc, %v : f32
      linalg.yield %t : f32
    } -> tensor<4096xf32>
    %d = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]} ins(%y, %s : tensor<4096x1024xf32>, tensor<4096xf32>) outs(%e : tensor<4096x1024xf32>) {
    ^bb0(%v: f32, %sum: f32, %w: f32):
      %t = arith.divf %v, %sum : f32
      linalg.yield %t : f32
    } -> tensor<4096x1024xf32>
    return %d : tensor<4096x1024xf32>
  }

  // The sum of what a maximum of the rows is taken from needs whole rows before.
  // CHECK-LABEL: func.func @needs_rows(
  // CHECK-NOT:     plan.partial
  func.func @needs_rows(%a: tensor<4096x512xf16>, %b: tensor<512x1024xf16>) -> tensor<4096xf32> {
    %zero = arith.constant 0.0 : f32
    %low = arith.constant 0xFF800000 : f32
    %e = tensor.empty() : tensor<4096x1024xf32>
    %i = linalg.fill ins(%zero : f32) outs(%e : tensor<4096x1024xf32>) -> tensor<4096x1024xf32>
    %y = linalg.contract indexing_maps = [#a, #b, #c] ins(%a, %b : tensor<4096x512xf16>, tensor<512x1024xf16>) outs(%i : tensor<4096x1024xf32>) -> tensor<4096x1024xf32>
    %f = tensor.empty() : tensor<4096xf32>
    %l = linalg.fill ins(%low : f32) outs(%f : tensor<4096xf32>) -> tensor<4096xf32>
    %m = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]} ins(%y : tensor<4096x1024xf32>) outs(%l : tensor<4096xf32>) {
    ^bb0(%v: f32, %acc: f32):
      %t = arith.maximumf %acc, %v : f32
      linalg.yield %t : f32
    } -> tensor<4096xf32>
    %d = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]} ins(%y, %m : tensor<4096x1024xf32>, tensor<4096xf32>) outs(%e : tensor<4096x1024xf32>) {
    ^bb0(%v: f32, %max: f32, %w: f32):
      %t = arith.subf %v, %max : f32
      linalg.yield %t : f32
    } -> tensor<4096x1024xf32>
    %j = linalg.fill ins(%zero : f32) outs(%f : tensor<4096xf32>) -> tensor<4096xf32>
    %s = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]} ins(%d : tensor<4096x1024xf32>) outs(%j : tensor<4096xf32>) {
    ^bb0(%v: f32, %acc: f32):
      %t = arith.addf %acc, %v : f32
      linalg.yield %t : f32
    } -> tensor<4096xf32>
    return %s : tensor<4096xf32>
  }

  // Tensor cores do not multiply f32 unless it may be rounded; sums of bytes are integers.
  // CHECK-LABEL: func.func @single(
  // CHECK-NOT:     plan.partial
  func.func @single(%a: tensor<4096x512xf32>, %b: tensor<512x1024xf32>) -> tensor<4096xf32> {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<4096x1024xf32>
    %i = linalg.fill ins(%zero : f32) outs(%e : tensor<4096x1024xf32>) -> tensor<4096x1024xf32>
    %y = linalg.contract indexing_maps = [#a, #b, #c] ins(%a, %b : tensor<4096x512xf32>, tensor<512x1024xf32>) outs(%i : tensor<4096x1024xf32>) -> tensor<4096x1024xf32>
    %f = tensor.empty() : tensor<4096xf32>
    %j = linalg.fill ins(%zero : f32) outs(%f : tensor<4096xf32>) -> tensor<4096xf32>
    %s = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]} ins(%y : tensor<4096x1024xf32>) outs(%j : tensor<4096xf32>) {
    ^bb0(%v: f32, %acc: f32):
      %t = arith.addf %acc, %v : f32
      linalg.yield %t : f32
    } -> tensor<4096xf32>
    return %s : tensor<4096xf32>
  }
  // So little saves nothing, and the reduction says so.
  // CHECK-LABEL: func.func @bytes(
  // CHECK-NOT:     plan.partial
  // CHECK:         plan.note = "not reduced by the product that computes the rows, which would save 31744 bytes, less than 524288"
  // SMALL-LABEL: func.func @bytes(
  // SMALL:         linalg.generic {{.*}} outs(%{{.*}} : tensor<32x4xi32>) attrs = {{.*}}plan.partial
  func.func @bytes(%a: tensor<32x512xi8>, %b: tensor<512x128xi8>) -> tensor<32xi32> {
    %zero = arith.constant 0 : i32
    %e = tensor.empty() : tensor<32x128xi32>
    %i = linalg.fill ins(%zero : i32) outs(%e : tensor<32x128xi32>) -> tensor<32x128xi32>
    %y = linalg.contract indexing_maps = [#a, #b, #c] ins(%a, %b : tensor<32x512xi8>, tensor<512x128xi8>) outs(%i : tensor<32x128xi32>) -> tensor<32x128xi32>
    %f = tensor.empty() : tensor<32xi32>
    %j = linalg.fill ins(%zero : i32) outs(%f : tensor<32xi32>) -> tensor<32xi32>
    %s = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]} ins(%y : tensor<32x128xi32>) outs(%j : tensor<32xi32>) {
    ^bb0(%v: i32, %acc: i32):
      %t = arith.addi %acc, %v : i32
      linalg.yield %t : i32
    } -> tensor<32xi32>
    return %s : tensor<32xi32>
  }
}
