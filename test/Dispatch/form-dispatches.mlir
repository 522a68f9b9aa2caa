// RUN: xc-opt %s -pass-pipeline='builtin.module(func.func(xc-form-dispatches))' -split-input-file | FileCheck %s
// RUN: xc-opt %s -pass-pipeline='builtin.module(func.func(xc-form-dispatches{fuse=false}))' -split-input-file | FileCheck %s --check-prefix=ALONE
// RUN: xc-opt %s -pass-pipeline='builtin.module(func.func(xc-form-dispatches{explain=true}))' -split-input-file | FileCheck %s --check-prefix=EXPLAIN

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// A softmax is one region: what follows a reduction iterates over the same rows.
// CHECK-LABEL: func.func @softmax(
// CHECK:         plan.region -> (tensor<8x64xf32>) {
// CHECK:           linalg.fill
// CHECK-COUNT-4:   linalg.generic
// CHECK-NOT:     plan.region
// ALONE-LABEL: func.func @softmax(
// ALONE-COUNT-4: plan.region
// EXPLAIN-LABEL: func.func @softmax(
// EXPLAIN:         plan.region -> (tensor<8x64xf32>) attributes {plan.fusion = {joins = [
// EXPLAIN-SAME:      {bytes = 64 : i64, from = "{{[^"]*}}", launches = 1 : i64, to = "{{[^"]*}}", why = "the kernel has the rows that are read"}
// EXPLAIN-SAME:      {bytes = 4096 : i64, {{[^}]*}} launches = 1 : i64, {{[^}]*}} why = "the kernel has the rows that are reduced"}
// EXPLAIN-SAME:      ], number = 0 : i64, refusals = []}}
func.func @softmax(%x: tensor<8x64xf32>) -> tensor<8x64xf32> {
  %low = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %rows = tensor.empty() : tensor<8xf32>
  %all = tensor.empty() : tensor<8x64xf32>
  %init = linalg.fill ins(%low : f32) outs(%rows : tensor<8xf32>) -> tensor<8xf32>
  %max = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<8x64xf32>) outs(%init : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.maximumf %a, %b : f32
    linalg.yield %c : f32
  } -> tensor<8xf32>
  %exp = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %max : tensor<8x64xf32>, tensor<8xf32>) outs(%all : tensor<8x64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %c = arith.subf %a, %b : f32
    %d = math.exp %c : f32
    linalg.yield %d : f32
  } -> tensor<8x64xf32>
  %nothing = linalg.fill ins(%zero : f32) outs(%rows : tensor<8xf32>) -> tensor<8xf32>
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%exp : tensor<8x64xf32>) outs(%nothing : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    linalg.yield %c : f32
  } -> tensor<8xf32>
  %y = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%exp, %sum : tensor<8x64xf32>, tensor<8xf32>) outs(%all : tensor<8x64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %c = arith.divf %a, %b : f32
    linalg.yield %c : f32
  } -> tensor<8x64xf32>
  return %y : tensor<8x64xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#a = affine_map<(d0, d1, d2) -> (d0, d2)>
#b = affine_map<(d0, d1, d2) -> (d2, d1)>
#c = affine_map<(d0, d1, d2) -> (d0, d1)>

// A contraction takes in its elementwise consumer; a second contraction starts a region of its own.
// CHECK-LABEL: func.func @contraction_with_epilogue(
// CHECK:         plan.region
// CHECK:           linalg.contract
// CHECK:           linalg.generic
// CHECK:           plan.yield
// CHECK:         plan.region
// CHECK:           linalg.contract
// CHECK:           plan.yield
func.func @contraction_with_epilogue(%x: tensor<8x16xf32>, %w: tensor<16x16xf32>) -> tensor<8x16xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x16xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x16xf32>) -> tensor<8x16xf32>
  %p = linalg.contract indexing_maps = [#a, #b, #c] ins(%x, %w : tensor<8x16xf32>, tensor<16x16xf32>) outs(%f : tensor<8x16xf32>) -> tensor<8x16xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%p : tensor<8x16xf32>) outs(%e : tensor<8x16xf32>) {
  ^bb0(%in: f32, %o: f32):
    %m = arith.maximumf %in, %zero : f32
    linalg.yield %m : f32
  } -> tensor<8x16xf32>
  %q = linalg.contract indexing_maps = [#a, #b, #c] ins(%r, %w : tensor<8x16xf32>, tensor<16x16xf32>) outs(%f : tensor<8x16xf32>) -> tensor<8x16xf32>
  return %q : tensor<8x16xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#column = affine_map<(d0, d1) -> (d1)>

// Sums over rows and over columns have no row in common.
// CHECK-LABEL: func.func @different_rows_stay_apart(
// CHECK-COUNT-2: plan.region
func.func @different_rows_stay_apart(%x: tensor<512x512xf32>) -> (tensor<512xf32>, tensor<512x512xf32>, tensor<512xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<512xf32>
  %all = tensor.empty() : tensor<512x512xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<512xf32>) -> tensor<512xf32>
  %r = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<512x512xf32>) outs(%f : tensor<512xf32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    linalg.yield %c : f32
  } -> tensor<512xf32>
  %n = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %r : tensor<512x512xf32>, tensor<512xf32>) outs(%all : tensor<512x512xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %c = arith.subf %a, %b : f32
    linalg.yield %c : f32
  } -> tensor<512x512xf32>
  %s = linalg.generic {indexing_maps = [#id, #column], iterator_types = ["reduction", "parallel"]}
      ins(%n : tensor<512x512xf32>) outs(%f : tensor<512xf32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    linalg.yield %c : f32
  } -> tensor<512xf32>
  return %r, %n, %s : tensor<512xf32>, tensor<512x512xf32>, tensor<512xf32>
}

// -----

#id = affine_map<(d0) -> (d0)>

// A slice of columns is read in place by the op that needs it; a slice of rows is a view and stays outside.
// CHECK-LABEL: func.func @slices(
// CHECK:         tensor.extract_slice %{{.*}}[2, 0] [1, 8] [1, 1]
// CHECK:         plan.region
// CHECK:           tensor.extract_slice %{{.*}}[0, 2] [8, 1] [1, 1]
// CHECK:           linalg.generic
func.func @slices(%x: tensor<8x8xf32>) -> tensor<8xf32> {
  %row = tensor.extract_slice %x[2, 0] [1, 8] [1, 1] : tensor<8x8xf32> to tensor<8xf32>
  %column = tensor.extract_slice %x[0, 2] [8, 1] [1, 1] : tensor<8x8xf32> to tensor<8xf32>
  %e = tensor.empty() : tensor<8xf32>
  %y = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%row, %column : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %c = arith.addf %a, %b : f32
    linalg.yield %c : f32
  } -> tensor<8xf32>
  return %y : tensor<8xf32>
}

// -----

// A step that sums up, over a part's rows, what is computed from each row shares the rows' kernel;
// so does another sum of the same input, and the sum of the parts is a kernel of its own, which
// takes the memory of the value that it updates.
// CHECK-LABEL: func.func @walk
// CHECK:         %[[WALK:.*]]:2 = plan.region
// CHECK:           iterator_types = ["reduction", "parallel"]
// CHECK:           iterator_types = ["parallel", "reduction"]
// CHECK:           iterator_types = ["reduction", "parallel"]
// CHECK:           plan.yield
// CHECK:         plan.region
// CHECK-SAME:      reuse
// CHECK:           iterator_types = ["parallel", "reduction"]
// CHECK:           arith.subf
#whole = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#column = affine_map<(d0, d1) -> (d0 mod 4, d1)>
builtin.module attributes {plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @walk(%x: tensor<32x128xf32>, %w: tensor<128xf32>) -> (tensor<128xf32>, tensor<4x128xf32>) {
    %zero = arith.constant 0.0 : f32
    %e0 = tensor.empty() : tensor<32xf32>
    %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<32xf32>) -> tensor<32xf32>
    %sum = linalg.generic {indexing_maps = [#whole, #row], iterator_types = ["parallel", "reduction"]}
        ins(%x : tensor<32x128xf32>) outs(%f0 : tensor<32xf32>) {
    ^bb0(%a: f32, %acc: f32):
      %s = arith.addf %a, %acc : f32
      linalg.yield %s : f32
    } -> tensor<32xf32>
    %e1 = tensor.empty() : tensor<4x128xf32>
    %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<4x128xf32>) -> tensor<4x128xf32>
    %part = linalg.generic {indexing_maps = [#whole, #row, #column], iterator_types = ["reduction", "parallel"]}
        ins(%x, %sum : tensor<32x128xf32>, tensor<32xf32>) outs(%f1 : tensor<4x128xf32>) attrs = {plan.partial = #plan.partial<cyclic, 4>} {
    ^bb0(%a: f32, %r: f32, %acc: f32):
      %p = arith.mulf %a, %r : f32
      %s = arith.addf %p, %acc : f32
      linalg.yield %s : f32
    } -> tensor<4x128xf32>
    %plain = linalg.generic {indexing_maps = [#whole, #column], iterator_types = ["reduction", "parallel"]}
        ins(%x : tensor<32x128xf32>) outs(%f1 : tensor<4x128xf32>) attrs = {plan.partial = #plan.partial<cyclic, 4>} {
    ^bb0(%a: f32, %acc: f32):
      %s = arith.addf %a, %acc : f32
      linalg.yield %s : f32
    } -> tensor<4x128xf32>
    %e2 = tensor.empty() : tensor<128xf32>
    %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<128xf32>) -> tensor<128xf32>
    %total = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d0)>],
                             iterator_types = ["parallel", "reduction"]}
        ins(%part : tensor<4x128xf32>) outs(%f2 : tensor<128xf32>) {
    ^bb0(%a: f32, %acc: f32):
      %s = arith.addf %acc, %a : f32
      linalg.yield %s : f32
    } -> tensor<128xf32>
    %next = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
                            iterator_types = ["parallel"]}
        ins(%w, %total : tensor<128xf32>, tensor<128xf32>) outs(%e2 : tensor<128xf32>) {
    ^bb0(%a: f32, %b: f32, %out: f32):
      %s = arith.subf %a, %b : f32
      linalg.yield %s : f32
    } -> tensor<128xf32>
    return %next, %plain : tensor<128xf32>, tensor<4x128xf32>
  }
}

// -----

// Last steps over parts of the same kernel, alike in form, are one kernel.
// CHECK-LABEL: func.func @last_steps
// CHECK:         %[[PARTS:.*]]:2 = plan.region
// CHECK:         plan.region -> (tensor<128xf32>, tensor<128xf32>)
// CHECK-COUNT-2:   iterator_types = ["parallel", "reduction"]
// CHECK:           arith.negf
// CHECK:           plan.yield
// CHECK-NOT:     plan.region
#whole = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#column = affine_map<(d0, d1, d2) -> (d0, d2)>
#turned = affine_map<(d0, d1) -> (d1, d0)>
#kept = affine_map<(d0, d1) -> (d0)>
builtin.module attributes {plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @last_steps(%x: tensor<4x8x128xf32>) -> (tensor<128xf32>, tensor<128xf32>) {
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
    %negated = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
        ins(%other : tensor<128xf32>) outs(%e2 : tensor<128xf32>) {
    ^bb0(%a: f32, %out: f32):
      %n = arith.negf %a : f32
      linalg.yield %n : f32
    } -> tensor<128xf32>
    return %total, %negated : tensor<128xf32>, tensor<128xf32>
  }
}

// -----

// A body that reads other elements of an input, too, must find them as they were: its memory is not taken over.
// CHECK-LABEL: func.func @turned
// CHECK:         plan.region
// CHECK:         plan.region -> (tensor<8xf32>) {
// CHECK:           tensor.extract
#id = affine_map<(d0) -> (d0)>
func.func @turned(%x: tensor<8x4xf32>) -> tensor<8xf32> {
  %zero = arith.constant 0.0 : f32
  %c7 = arith.constant 7 : index
  %e = tensor.empty() : tensor<8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>],
                       iterator_types = ["parallel", "reduction"]} ins(%x : tensor<8x4xf32>) outs(%f : tensor<8xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %t = arith.addf %acc, %a : f32
    linalg.yield %t : f32
  } -> tensor<8xf32>
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%s : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: f32, %out: f32):
    %i = linalg.index 0 : index
    %j = arith.subi %c7, %i : index
    %b = tensor.extract %s[%j] : tensor<8xf32>
    %p = arith.mulf %a, %b : f32
    linalg.yield %p : f32
  } -> tensor<8xf32>
  return %y : tensor<8xf32>
}

// -----

#whole = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// What a sum of parts is spread over is not what it reduced: no thread of the sum has a part of it. A second reduction whose
// elements are others is a kernel of its own, too; one of the same elements is not.
// CHECK-LABEL: func.func @spread
// CHECK:         plan.region -> (tensor<64xf32>) {
// CHECK-COUNT-1:   linalg.generic
// CHECK:         plan.region -> (tensor<64x512xf32>, tensor<64xf32>) {
// CHECK-COUNT-2:   linalg.generic
// CHECK:         plan.region -> (tensor<64x32xf32>)
// CHECK-COUNT-1:   linalg.generic
builtin.module attributes {plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @spread(%parts: tensor<64x32xf32>, %x: tensor<64x512xf32>) -> (tensor<64x512xf32>, tensor<64xf32>, tensor<64x32xf32>) {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<64xf32>
    %init = linalg.fill ins(%zero : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
    %sum = linalg.generic {indexing_maps = [#whole, #row], iterator_types = ["parallel", "reduction"]}
        ins(%parts : tensor<64x32xf32>) outs(%init : tensor<64xf32>) {
    ^bb0(%in: f32, %acc: f32):
      %s = arith.addf %acc, %in : f32
      linalg.yield %s : f32
    } -> tensor<64xf32>
    %e2 = tensor.empty() : tensor<64x512xf32>
    %shares = linalg.generic {indexing_maps = [#whole, #row, #whole], iterator_types = ["parallel", "parallel"]}
        ins(%x, %sum : tensor<64x512xf32>, tensor<64xf32>) outs(%e2 : tensor<64x512xf32>) {
    ^bb0(%a: f32, %b: f32, %out: f32):
      %s = arith.divf %a, %b : f32
      linalg.yield %s : f32
    } -> tensor<64x512xf32>
    %other = linalg.generic {indexing_maps = [#whole, #row], iterator_types = ["parallel", "reduction"]}
        ins(%shares : tensor<64x512xf32>) outs(%init : tensor<64xf32>) {
    ^bb0(%in: f32, %acc: f32):
      %s = arith.addf %acc, %in : f32
      linalg.yield %s : f32
    } -> tensor<64xf32>
    %e3 = tensor.empty() : tensor<64x32xf32>
    %back = linalg.generic {indexing_maps = [#whole, #row, #whole], iterator_types = ["parallel", "parallel"]}
        ins(%parts, %other : tensor<64x32xf32>, tensor<64xf32>) outs(%e3 : tensor<64x32xf32>) {
    ^bb0(%a: f32, %b: f32, %out: f32):
      %s = arith.divf %a, %b : f32
      linalg.yield %s : f32
    } -> tensor<64x32xf32>
    return %shares, %other, %back : tensor<64x512xf32>, tensor<64xf32>, tensor<64x32xf32>
  }
}

// -----

#whole = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#first = affine_map<(d0) -> (d0)>
#none = affine_map<(d0) -> ()>

// A reduction of results that came from rows of symbolic length: the kernel would have to keep what the rows are made of.
// CHECK-LABEL: func.func @of_symbolic_rows(
// CHECK-COUNT-2: plan.region
builtin.module attributes {plan.target = #plan.target<"cpu", "x86-64-v3">} {
  func.func @of_symbolic_rows(%x: tensor<64x?xf32>, %e: tensor<64x?xf32>, %i: tensor<64xf32>, %j: tensor<f32>) -> tensor<f32> {
    %y = linalg.generic {indexing_maps = [#whole, #whole], iterator_types = ["parallel", "parallel"]}
        ins(%x : tensor<64x?xf32>) outs(%e : tensor<64x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %s = math.exp %in : f32
      linalg.yield %s : f32
    } -> tensor<64x?xf32>
    %rows = linalg.generic {indexing_maps = [#whole, #row], iterator_types = ["parallel", "reduction"]}
        ins(%y : tensor<64x?xf32>) outs(%i : tensor<64xf32>) {
    ^bb0(%in: f32, %acc: f32):
      %s = arith.addf %acc, %in : f32
      linalg.yield %s : f32
    } -> tensor<64xf32>
    %all = linalg.generic {indexing_maps = [#first, #none], iterator_types = ["reduction"]}
        ins(%rows : tensor<64xf32>) outs(%j : tensor<f32>) {
    ^bb0(%in: f32, %acc: f32):
      %s = arith.maximumf %acc, %in : f32
      linalg.yield %s : f32
    } -> tensor<f32>
    return %all : tensor<f32>
  }
}

// -----

#lhs = affine_map<(m, n, k) -> (m, k)>
#rhs = affine_map<(m, n, k) -> (k, n)>
#result = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(d0, d1) -> (d0, d1)>

// What is computed of a factor is computed where the product loads it: of f32, whose kernels load through registers anyway, and of
// elements that few others meet in short sums. Tensor cores that multiply each element often want it in memory, as it is; elements that only
// change places are loaded from there.
// CHECK-LABEL: func.func @computed_factors
// CHECK:         plan.region -> (tensor<64x512xf32>) {
// CHECK:           arith.maximumf
// CHECK:           linalg.contract
// CHECK:         plan.region -> (tensor<64x64xbf16>) {
// CHECK:           arith.maximumf
// CHECK-NOT:       linalg.contract
// CHECK:           plan.yield
// CHECK:         plan.region -> (tensor<64x1024xf32>) {
// CHECK:           linalg.contract
// CHECK:         plan.region -> (tensor<64x1024xf32>) {
// CHECK:           arith.maximumf
// CHECK:           linalg.contract
// CHECK:         plan.region -> (tensor<64x1024xf32>) {
// CHECK:           linalg.generic {{.*}} ins(%{{.*}} : tensor<64x64xbf16>)
// CHECK:           linalg.contract
// Nor do they wait for what is computed at each step of a long sum.
// CHECK-LABEL: func.func @computed_for_short_sums
// CHECK:         plan.region -> (tensor<16x64xf32>) {
// CHECK:           arith.sitofp
// CHECK:           linalg.contract
// CHECK-LABEL: func.func @computed_for_long_sums
// CHECK:         plan.region -> (tensor<256x64xbf16>) {
// CHECK:           arith.sitofp
// CHECK:         plan.region -> (tensor<16x64xf32>) {
// CHECK:           linalg.contract
builtin.module attributes {plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @computed_factors(%x: tensor<64x64xbf16>, %w: tensor<64x512xbf16>, %v: tensor<64x1024xbf16>, %xf: tensor<64x64xf32>, %vf: tensor<64x1024xf32>)
      -> (tensor<64x512xf32>, tensor<64x1024xf32>, tensor<64x1024xf32>, tensor<64x1024xf32>) {
    %zero = arith.constant 0.0 : bf16
    %zerof = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<64x64xbf16>
    %ef = tensor.empty() : tensor<64x64xf32>
    %o = tensor.empty() : tensor<64x512xf32>
    %p = tensor.empty() : tensor<64x1024xf32>
    %few = linalg.fill ins(%zerof : f32) outs(%o : tensor<64x512xf32>) -> tensor<64x512xf32>
    %many = linalg.fill ins(%zerof : f32) outs(%p : tensor<64x1024xf32>) -> tensor<64x1024xf32>
    %r0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<64x64xbf16>) outs(%e : tensor<64x64xbf16>) {
    ^bb0(%a: bf16, %out: bf16):
      %m = arith.maximumf %a, %zero : bf16
      linalg.yield %m : bf16
    } -> tensor<64x64xbf16>
    %c0 = linalg.contract indexing_maps = [#lhs, #rhs, #result] ins(%r0, %w : tensor<64x64xbf16>, tensor<64x512xbf16>) outs(%few : tensor<64x512xf32>) -> tensor<64x512xf32>
    %r1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<64x64xbf16>) outs(%e : tensor<64x64xbf16>) {
    ^bb0(%a: bf16, %out: bf16):
      %m = arith.maximumf %a, %zero : bf16
      linalg.yield %m : bf16
    } -> tensor<64x64xbf16>
    %c1 = linalg.contract indexing_maps = [#lhs, #rhs, #result] ins(%r1, %v : tensor<64x64xbf16>, tensor<64x1024xbf16>) outs(%many : tensor<64x1024xf32>) -> tensor<64x1024xf32>
    %r2 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%xf : tensor<64x64xf32>) outs(%ef : tensor<64x64xf32>) {
    ^bb0(%a: f32, %out: f32):
      %m = arith.maximumf %a, %zerof : f32
      linalg.yield %m : f32
    } -> tensor<64x64xf32>
    %c2 = linalg.contract indexing_maps = [#lhs, #rhs, #result] ins(%r2, %vf : tensor<64x64xf32>, tensor<64x1024xf32>) outs(%many : tensor<64x1024xf32>) -> tensor<64x1024xf32>
    %r3 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<64x64xbf16>) outs(%e : tensor<64x64xbf16>) {
    ^bb0(%a: bf16, %out: bf16):
      linalg.yield %a : bf16
    } -> tensor<64x64xbf16>
    %c3 = linalg.contract indexing_maps = [#lhs, #rhs, #result] ins(%r3, %v : tensor<64x64xbf16>, tensor<64x1024xbf16>) outs(%many : tensor<64x1024xf32>) -> tensor<64x1024xf32>
    return %c0, %c1, %c2, %c3 : tensor<64x512xf32>, tensor<64x1024xf32>, tensor<64x1024xf32>, tensor<64x1024xf32>
  }

  func.func @computed_for_short_sums(%x: tensor<16x128xbf16>, %w: tensor<128x64xi8>) -> tensor<16x64xf32> {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<128x64xbf16>
    %o = tensor.empty() : tensor<16x64xf32>
    %sums = linalg.fill ins(%zero : f32) outs(%o : tensor<16x64xf32>) -> tensor<16x64xf32>
    %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%w : tensor<128x64xi8>) outs(%e : tensor<128x64xbf16>) {
    ^bb0(%a: i8, %out: bf16):
      %m = arith.sitofp %a : i8 to bf16
      linalg.yield %m : bf16
    } -> tensor<128x64xbf16>
    %c = linalg.contract indexing_maps = [#lhs, #rhs, #result] ins(%x, %r : tensor<16x128xbf16>, tensor<128x64xbf16>) outs(%sums : tensor<16x64xf32>) -> tensor<16x64xf32>
    return %c : tensor<16x64xf32>
  }

  func.func @computed_for_long_sums(%x: tensor<16x256xbf16>, %w: tensor<256x64xi8>) -> tensor<16x64xf32> {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<256x64xbf16>
    %o = tensor.empty() : tensor<16x64xf32>
    %sums = linalg.fill ins(%zero : f32) outs(%o : tensor<16x64xf32>) -> tensor<16x64xf32>
    %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%w : tensor<256x64xi8>) outs(%e : tensor<256x64xbf16>) {
    ^bb0(%a: i8, %out: bf16):
      %m = arith.sitofp %a : i8 to bf16
      linalg.yield %m : bf16
    } -> tensor<256x64xbf16>
    %c = linalg.contract indexing_maps = [#lhs, #rhs, #result] ins(%x, %r : tensor<16x256xbf16>, tensor<256x64xbf16>) outs(%sums : tensor<16x64xf32>) -> tensor<16x64xf32>
    return %c : tensor<16x64xf32>
  }
}

// -----

// Sums of the same rows, of which nothing but numbers of rows follows, are one kernel, which reads them once; one whose rows are
// needed again is another.
// CHECK-LABEL: func.func @sums_of_one_input
// CHECK:         %[[SUMS:.*]]:2 = plan.region
// CHECK:           iterator_types = ["parallel", "reduction"]
// CHECK:           iterator_types = ["parallel", "reduction"]
// CHECK:           plan.yield
// CHECK:         plan.region
// CHECK:           iterator_types = ["parallel", "reduction"]
// CHECK:           iterator_types = ["parallel", "parallel"]
#whole = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
builtin.module attributes {plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @sums_of_one_input(%x: tensor<32x128xf32>) -> (tensor<32xf32>, tensor<32xf32>, tensor<32x128xf32>) {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<32xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<32xf32>) -> tensor<32xf32>
    %sum = linalg.generic {indexing_maps = [#whole, #row], iterator_types = ["parallel", "reduction"]}
        ins(%x : tensor<32x128xf32>) outs(%f : tensor<32xf32>) {
    ^bb0(%a: f32, %acc: f32):
      %s = arith.addf %a, %acc : f32
      linalg.yield %s : f32
    } -> tensor<32xf32>
    %squares = linalg.generic {indexing_maps = [#whole, #row], iterator_types = ["parallel", "reduction"]}
        ins(%x : tensor<32x128xf32>) outs(%f : tensor<32xf32>) {
    ^bb0(%a: f32, %acc: f32):
      %p = arith.mulf %a, %a : f32
      %s = arith.addf %p, %acc : f32
      linalg.yield %s : f32
    } -> tensor<32xf32>
    %cubes = linalg.generic {indexing_maps = [#whole, #row], iterator_types = ["parallel", "reduction"]}
        ins(%x : tensor<32x128xf32>) outs(%f : tensor<32xf32>) {
    ^bb0(%a: f32, %acc: f32):
      %p = arith.mulf %a, %a : f32
      %q = arith.mulf %p, %a : f32
      %s = arith.addf %q, %acc : f32
      linalg.yield %s : f32
    } -> tensor<32xf32>
    %all = tensor.empty() : tensor<32x128xf32>
    %off = linalg.generic {indexing_maps = [#whole, #row, #whole], iterator_types = ["parallel", "parallel"]}
        ins(%x, %cubes : tensor<32x128xf32>, tensor<32xf32>) outs(%all : tensor<32x128xf32>) {
    ^bb0(%a: f32, %r: f32, %out: f32):
      %d = arith.subf %a, %r : f32
      linalg.yield %d : f32
    } -> tensor<32x128xf32>
    return %sum, %squares, %off : tensor<32xf32>, tensor<32xf32>, tensor<32x128xf32>
  }
}

// -----

#id = affine_map<(d0) -> (d0)>
#all = affine_map<(d0, d1) -> (d0, d1)>
#columns = affine_map<(d0, d1) -> (d1)>
#none = affine_map<(d0, d1) -> ()>

module attributes {plan.target = #plan.target<"cpu", "x86-64-v3">} {
  // A region that begins before another one, and also holds what reads that one's result, cannot give anything to it.
  // CHECK-LABEL: func.func @one_after_the_other(
  // CHECK-COUNT-4: plan.region
  // CHECK-NOT:   plan.region
  func.func @one_after_the_other(%arg0: tensor<2x?xf32>, %arg1: tensor<?xf32>, %arg2: tensor<?xf32>, %arg3: tensor<?xf32>, %arg4: tensor<f32>) -> (tensor<2x?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) {
    %cst = arith.constant 1.100000e+00 : f32
    %cst_0 = arith.constant 0.000000e+00 : f32
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %dim = tensor.dim %arg0, %c1 : tensor<2x?xf32>
    %0 = tensor.empty(%dim) : tensor<?xf32>
    %1 = tensor.empty(%dim) : tensor<2x?xf32>
    %2 = linalg.generic {indexing_maps = [#none, #all], iterator_types = ["parallel", "parallel"]} ins(%arg4 : tensor<f32>) outs(%1 : tensor<2x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x?xf32>
    %3 = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%0 : tensor<?xf32>) {
    ^bb0(%out: f32):
      %12 = math.rsqrt %cst : f32
      linalg.yield %12 : f32
    } -> tensor<?xf32>
    %dim_1 = tensor.dim %arg1, %c0 : tensor<?xf32>
    %4 = tensor.empty(%dim_1) : tensor<?xf32>
    %5 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%arg1, %3 : tensor<?xf32>, tensor<?xf32>) outs(%4 : tensor<?xf32>) {
    ^bb0(%in: f32, %in_2: f32, %out: f32):
      %12 = arith.mulf %in, %in_2 : f32
      linalg.yield %12 : f32
    } -> tensor<?xf32>
    %6 = linalg.fill ins(%cst_0 : f32) outs(%0 : tensor<?xf32>) -> tensor<?xf32>
    %7 = linalg.generic {indexing_maps = [#all, #columns], iterator_types = ["reduction", "parallel"]} ins(%2 : tensor<2x?xf32>) outs(%6 : tensor<?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %12 = arith.addf %out, %in : f32
      linalg.yield %12 : f32
    } -> tensor<?xf32>
    %8 = linalg.generic {indexing_maps = [#all, #all, #columns, #columns], iterator_types = ["reduction", "parallel"]} ins(%2, %arg0, %arg3 : tensor<2x?xf32>, tensor<2x?xf32>, tensor<?xf32>) outs(%6 : tensor<?xf32>) {
    ^bb0(%in: f32, %in_2: f32, %in_3: f32, %out: f32):
      %12 = arith.subf %in_2, %in_3 : f32
      %13 = arith.mulf %in, %12 : f32
      %14 = arith.addf %out, %13 : f32
      linalg.yield %14 : f32
    } -> tensor<?xf32>
    %9 = linalg.generic {indexing_maps = [#all, #columns, #all], iterator_types = ["parallel", "parallel"]} ins(%2, %5 : tensor<2x?xf32>, tensor<?xf32>) outs(%1 : tensor<2x?xf32>) {
    ^bb0(%in: f32, %in_2: f32, %out: f32):
      %12 = arith.mulf %in, %in_2 : f32
      linalg.yield %12 : f32
    } -> tensor<2x?xf32>
    %10 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%8, %3 : tensor<?xf32>, tensor<?xf32>) outs(%0 : tensor<?xf32>) {
    ^bb0(%in: f32, %in_2: f32, %out: f32):
      %12 = arith.mulf %in, %in_2 : f32
      linalg.yield %12 : f32
    } -> tensor<?xf32>
    %11 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%7, %5 : tensor<?xf32>, tensor<?xf32>) outs(%0 : tensor<?xf32>) {
    ^bb0(%in: f32, %in_2: f32, %out: f32):
      %12 = arith.mulf %in, %in_2 : f32
      %13 = arith.negf %12 : f32
      linalg.yield %13 : f32
    } -> tensor<?xf32>
    return %9, %10, %7, %11 : tensor<2x?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>
  }
}

// -----

#image = affine_map<(c, y, x) -> (c, y, x)>
#channel = affine_map<(c, y, x) -> (c)>
#factor = affine_map<(n, c) -> (c)>
#weight = affine_map<(n, c) -> (c, n)>
#part = affine_map<(n, c) -> (c mod 128, n)>

module attributes {plan.target = #plan.target<"cuda", "sm_90a">} {
  // A product with a vector, in parts, sums up rows as a gradient of a scale does, but of elements that no reduction of the rows goes
  // through: the vector of means has a kernel of its own.
  // CHECK-LABEL: func.func @classify(
  // CHECK:         %[[SUMS:.*]] = plan.region -> (tensor<2048xf32>)
  // CHECK:         plan.region -> (tensor<128x1000xf32>)
  func.func @classify(%x: tensor<2048x7x7xf16>, %w: tensor<2048x1000xf16>) -> tensor<128x1000xf32> {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<2048xf32>
    %init = linalg.fill ins(%zero : f32) outs(%e : tensor<2048xf32>) -> tensor<2048xf32>
    %sums = linalg.generic {indexing_maps = [#image, #channel], iterator_types = ["parallel", "reduction", "reduction"]}
        ins(%x : tensor<2048x7x7xf16>) outs(%init : tensor<2048xf32>) {
    ^bb0(%a: f16, %out: f32):
      %wide = arith.extf %a : f16 to f32
      %s = arith.addf %out, %wide : f32
      linalg.yield %s : f32
    } -> tensor<2048xf32>
    %parts = tensor.empty() : tensor<128x1000xf32>
    %none = linalg.fill ins(%zero : f32) outs(%parts : tensor<128x1000xf32>) -> tensor<128x1000xf32>
    %y = linalg.generic {indexing_maps = [#factor, #weight, #part], iterator_types = ["parallel", "reduction"]}
        ins(%sums, %w : tensor<2048xf32>, tensor<2048x1000xf16>) outs(%none : tensor<128x1000xf32>) attrs = {plan.partial = #plan.partial<cyclic, 128>} {
    ^bb0(%a: f32, %b: f16, %out: f32):
      %wide = arith.extf %b : f16 to f32
      %p = arith.mulf %a, %wide : f32
      %s = arith.addf %out, %p : f32
      linalg.yield %s : f32
    } -> tensor<128x1000xf32>
    return %y : tensor<128x1000xf32>
  }
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#column = affine_map<(d0, d1) -> (d1)>
#row = affine_map<(d0, d1) -> (d0)>

// What the columns' maxima are spread over is read by rows, and made by the maxima's producer by
// columns: it is in the kernel of neither.
// CHECK-LABEL: func.func @spread_along_other_dim(
// CHECK:         plan.region -> (tensor<?x?xf32>)
// CHECK:           math.exp
// CHECK:         plan.region -> (tensor<?x?xf32>)
// CHECK:           arith.maximumf
// CHECK:           arith.subf
func.func @spread_along_other_dim(%x: tensor<?x?xf32>, %n: index) -> tensor<?x?xf32> {
  %low = arith.constant 0xFF800000 : f32
  %all = tensor.empty(%n, %n) : tensor<?x?xf32>
  %exp = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?x?xf32>) outs(%all : tensor<?x?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %c = math.exp %a : f32
    linalg.yield %c : f32
  } -> tensor<?x?xf32>
  %columns = tensor.empty(%n) : tensor<?xf32>
  %init = linalg.fill ins(%low : f32) outs(%columns : tensor<?xf32>) -> tensor<?xf32>
  %max = linalg.generic {indexing_maps = [#id, #column], iterator_types = ["reduction", "parallel"]}
      ins(%exp : tensor<?x?xf32>) outs(%init : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.maximumf %a, %b : f32
    linalg.yield %c : f32
  } -> tensor<?xf32>
  %y = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%exp, %max : tensor<?x?xf32>, tensor<?xf32>) outs(%all : tensor<?x?xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %c = arith.subf %a, %b : f32
    linalg.yield %c : f32
  } -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}

// -----

// Two layers of one row of activations are sums of the same rows of x: one kernel, with the op that brings them together, though
// a third layer sums that up again.
// CHECK-LABEL: func.func @gated
// CHECK:         plan.region
// CHECK:           iterator_types = ["parallel", "reduction"]
// CHECK:           iterator_types = ["parallel", "reduction"]
// CHECK:           iterator_types = ["parallel"]
// CHECK:           plan.yield
// CHECK:         plan.region
// CHECK:           iterator_types = ["parallel", "reduction"]
// CHECK-NOT:     plan.region
#x = affine_map<(d0, d1) -> (d1)>
#w = affine_map<(d0, d1) -> (d0, d1)>
#y = affine_map<(d0, d1) -> (d0)>
#each = affine_map<(d0) -> (d0)>
builtin.module attributes {plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @gated(%x: tensor<64xf32>, %gate: tensor<256x64xf32>, %up: tensor<256x64xf32>, %down: tensor<64x256xf32>) -> tensor<64xf32> {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<256xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<256xf32>) -> tensor<256xf32>
    %g = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "reduction"]}
        ins(%x, %gate : tensor<64xf32>, tensor<256x64xf32>) outs(%f : tensor<256xf32>) {
    ^bb0(%a: f32, %b: f32, %acc: f32):
      %p = arith.mulf %a, %b : f32
      %s = arith.addf %p, %acc : f32
      linalg.yield %s : f32
    } -> tensor<256xf32>
    %u = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "reduction"]}
        ins(%x, %up : tensor<64xf32>, tensor<256x64xf32>) outs(%f : tensor<256xf32>) {
    ^bb0(%a: f32, %b: f32, %acc: f32):
      %p = arith.mulf %a, %b : f32
      %s = arith.addf %p, %acc : f32
      linalg.yield %s : f32
    } -> tensor<256xf32>
    %h = linalg.generic {indexing_maps = [#each, #each, #each], iterator_types = ["parallel"]}
        ins(%g, %u : tensor<256xf32>, tensor<256xf32>) outs(%e : tensor<256xf32>) {
    ^bb0(%a: f32, %b: f32, %out: f32):
      %t = math.tanh %a : f32
      %p = arith.mulf %t, %b : f32
      linalg.yield %p : f32
    } -> tensor<256xf32>
    %o = tensor.empty() : tensor<64xf32>
    %i = linalg.fill ins(%zero : f32) outs(%o : tensor<64xf32>) -> tensor<64xf32>
    %d = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "reduction"]}
        ins(%h, %down : tensor<256xf32>, tensor<64x256xf32>) outs(%i : tensor<64xf32>) {
    ^bb0(%a: f32, %b: f32, %acc: f32):
      %p = arith.mulf %a, %b : f32
      %s = arith.addf %p, %acc : f32
      linalg.yield %s : f32
    } -> tensor<64xf32>
    return %d : tensor<64xf32>
  }

  // Keys of a batch of one are read where they are, though the op that moves their rows has lost the batch.
  // CHECK-LABEL: func.func @batch_of_one
  // CHECK:         plan.region
  // CHECK:           linalg.generic
  // CHECK:           tensor.expand_shape
  // CHECK:           kernel.attention
  // CHECK-NOT:     plan.region
  func.func @batch_of_one(%q: tensor<1x4x128x64xbf16>, %k: tensor<128x4x64xbf16>) -> tensor<1x4x128x64xbf16> {
    %e = tensor.empty() : tensor<4x128x64xbf16>
    %m = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d1, d0, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%k : tensor<128x4x64xbf16>) outs(%e : tensor<4x128x64xbf16>) {
    ^bb0(%in: bf16, %out: bf16):
      linalg.yield %in : bf16
    } -> tensor<4x128x64xbf16>
    %b = tensor.expand_shape %m [[0, 1], [2], [3]] output_shape [1, 4, 128, 64] : tensor<4x128x64xbf16> into tensor<1x4x128x64xbf16>
    %o = tensor.empty() : tensor<1x4x128x64xbf16>
    %a = kernel.attention %q, %b, %q into %o scale = 1.250000e-01 : tensor<1x4x128x64xbf16>, tensor<1x4x128x64xbf16>, tensor<1x4x128x64xbf16> into tensor<1x4x128x64xbf16> -> tensor<1x4x128x64xbf16>
    return %a : tensor<1x4x128x64xbf16>
  }

  // So does the part of a tensor whose rows begin at multiples of 16 bytes, as copies of them want it; others are moved before.
  // CHECK-LABEL: func.func @part_of_rows
  // CHECK:         plan.region
  // CHECK:           linalg.generic
  // CHECK:           kernel.attention
  // CHECK-NOT:     plan.region
  func.func @part_of_rows(%q: tensor<4x128x64xbf16>, %x: tensor<128x4x80xbf16>) -> tensor<4x128x64xbf16> {
    %k = tensor.extract_slice %x[0, 0, 8] [128, 4, 64] [1, 1, 1] : tensor<128x4x80xbf16> to tensor<128x4x64xbf16>
    %e = tensor.empty() : tensor<4x128x64xbf16>
    %m = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d1, d0, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%k : tensor<128x4x64xbf16>) outs(%e : tensor<4x128x64xbf16>) {
    ^bb0(%in: bf16, %out: bf16):
      linalg.yield %in : bf16
    } -> tensor<4x128x64xbf16>
    %o = tensor.empty() : tensor<4x128x64xbf16>
    %a = kernel.attention %q, %m, %q into %o scale = 1.250000e-01 : tensor<4x128x64xbf16>, tensor<4x128x64xbf16>, tensor<4x128x64xbf16> into tensor<4x128x64xbf16> -> tensor<4x128x64xbf16>
    return %a : tensor<4x128x64xbf16>
  }

  // CHECK-LABEL: func.func @unaligned_part
  // CHECK:         plan.region
  // CHECK:           linalg.generic
  // CHECK:         plan.region
  // CHECK:           kernel.attention
  func.func @unaligned_part(%q: tensor<4x128x64xbf16>, %x: tensor<128x4x80xbf16>) -> tensor<4x128x64xbf16> {
    %k = tensor.extract_slice %x[0, 0, 4] [128, 4, 64] [1, 1, 1] : tensor<128x4x80xbf16> to tensor<128x4x64xbf16>
    %e = tensor.empty() : tensor<4x128x64xbf16>
    %m = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d1, d0, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%k : tensor<128x4x64xbf16>) outs(%e : tensor<4x128x64xbf16>) {
    ^bb0(%in: bf16, %out: bf16):
      linalg.yield %in : bf16
    } -> tensor<4x128x64xbf16>
    %o = tensor.empty() : tensor<4x128x64xbf16>
    %a = kernel.attention %q, %m, %q into %o scale = 1.250000e-01 : tensor<4x128x64xbf16>, tensor<4x128x64xbf16>, tensor<4x128x64xbf16> into tensor<4x128x64xbf16> -> tensor<4x128x64xbf16>
    return %a : tensor<4x128x64xbf16>
  }

  // CHECK-LABEL: func.func @part_somewhere
  // CHECK:         plan.region
  // CHECK:           linalg.generic
  // CHECK:         plan.region
  // CHECK:           kernel.attention
  func.func @part_somewhere(%i: index, %q: tensor<4x128x64xbf16>, %x: tensor<128x4x80xbf16>) -> tensor<4x128x64xbf16> {
    %k = tensor.extract_slice %x[0, 0, %i] [128, 4, 64] [1, 1, 1] : tensor<128x4x80xbf16> to tensor<128x4x64xbf16>
    %e = tensor.empty() : tensor<4x128x64xbf16>
    %m = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d1, d0, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%k : tensor<128x4x64xbf16>) outs(%e : tensor<4x128x64xbf16>) {
    ^bb0(%in: bf16, %out: bf16):
      linalg.yield %in : bf16
    } -> tensor<4x128x64xbf16>
    %o = tensor.empty() : tensor<4x128x64xbf16>
    %a = kernel.attention %q, %m, %q into %o scale = 1.250000e-01 : tensor<4x128x64xbf16>, tensor<4x128x64xbf16>, tensor<4x128x64xbf16> into tensor<4x128x64xbf16> -> tensor<4x128x64xbf16>
    return %a : tensor<4x128x64xbf16>
  }

  // A view that begins elsewhere is moved, too, and one that begins there is not.
  // CHECK-LABEL: func.func @unaligned_view
  // CHECK:         %[[VIEW:.*]] = tensor.expand_shape
  // CHECK:         %[[MOVED:.*]] = plan.region
  // CHECK:           linalg.generic {{.*}} ins(%[[VIEW]]
  // CHECK:         plan.region
  // CHECK:           kernel.attention %{{.*}}, %[[MOVED]], %{{.*}} into
  // CHECK-LABEL: func.func @aligned_view
  // CHECK-NOT:     linalg.generic
  func.func @unaligned_view(%q: tensor<4x128x64xbf16>, %x: tensor<32780xbf16>) -> tensor<4x128x64xbf16> {
    %y = tensor.extract_slice %x[4] [32768] [1] : tensor<32780xbf16> to tensor<32768xbf16>
    %k = tensor.expand_shape %y [[0, 1, 2]] output_shape [4, 128, 64] : tensor<32768xbf16> into tensor<4x128x64xbf16>
    %o = tensor.empty() : tensor<4x128x64xbf16>
    %a = kernel.attention %q, %k, %q into %o scale = 1.250000e-01 : tensor<4x128x64xbf16>, tensor<4x128x64xbf16>, tensor<4x128x64xbf16> into tensor<4x128x64xbf16> -> tensor<4x128x64xbf16>
    return %a : tensor<4x128x64xbf16>
  }
  func.func @aligned_view(%q: tensor<4x128x64xbf16>, %x: tensor<9x128x64xbf16>, %i: index) -> tensor<4x128x64xbf16> {
    %k = tensor.extract_slice %x[%i, 0, 0] [4, 128, 64] [1, 1, 1] : tensor<9x128x64xbf16> to tensor<4x128x64xbf16>
    %o = tensor.empty() : tensor<4x128x64xbf16>
    %a = kernel.attention %q, %k, %q into %o scale = 1.250000e-01 : tensor<4x128x64xbf16>, tensor<4x128x64xbf16>, tensor<4x128x64xbf16> into tensor<4x128x64xbf16> -> tensor<4x128x64xbf16>
    return %a : tensor<4x128x64xbf16>
  }

  // Attention stores its rows where the op behind it would move them. The batch of one that lies between comes along.
  // CHECK-LABEL: func.func @moved_result
  // CHECK:         plan.region
  // CHECK:           kernel.attention
  // CHECK-NEXT:      tensor.collapse_shape
  // CHECK-NEXT:      linalg.generic
  // CHECK-NOT:     plan.region
  // ALONE-LABEL: func.func @moved_result
  // ALONE-COUNT-2: plan.region
  func.func @moved_result(%q: tensor<1x4x128x64xbf16>) -> tensor<128x4x64xbf16> {
    %o = tensor.empty() : tensor<1x4x128x64xbf16>
    %a = kernel.attention %q, %q, %q into %o scale = 1.250000e-01 : tensor<1x4x128x64xbf16>, tensor<1x4x128x64xbf16>, tensor<1x4x128x64xbf16> into tensor<1x4x128x64xbf16> -> tensor<1x4x128x64xbf16>
    %c = tensor.collapse_shape %a [[0, 1], [2], [3]] : tensor<1x4x128x64xbf16> into tensor<4x128x64xbf16>
    %e = tensor.empty() : tensor<128x4x64xbf16>
    %m = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d1, d0, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%c : tensor<4x128x64xbf16>) outs(%e : tensor<128x4x64xbf16>) {
    ^bb0(%in: bf16, %out: bf16):
      linalg.yield %in : bf16
    } -> tensor<128x4x64xbf16>
    return %m : tensor<128x4x64xbf16>
  }
}
