// RUN: xc-opt %s -pass-pipeline='builtin.module(builtin.module(func.func(xc-place-parts)))' -split-input-file | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>
#a = affine_map<(d0, d1, d2) -> (d0, d2)>
#b = affine_map<(d0, d1, d2) -> (d2, d1)>
#c = affine_map<(d0, d1, d2) -> (d0, d1)>

// A product and an elementwise op store their boxes; nothing is left to be copied.
// CHECK-LABEL: func.func @both
// CHECK:         %[[A:.*]] = plan.region -> (tensor<8x28xf32>) attributes {plan.parts = array<i64: 0>} {
// CHECK:           %[[P:.*]] = linalg.generic {{.*}}"reduction"
// CHECK:           %[[E:.*]] = tensor.empty() : tensor<8x28xf32>
// CHECK:           kernel.update %[[P]] at[{{.*}}] into %[[E]]
// CHECK:         %[[B:.*]] = plan.region -> (tensor<8x28xf32>) attributes {plan.parts = array<i64: 0>} {
// CHECK:           %[[R:.*]] = linalg.exp
// CHECK:           %[[START:.*]] = arith.constant dense<16> : tensor<i64>
// CHECK:           kernel.update %[[R]] at[%{{.*}}, %[[START]]] into %[[A]]
// CHECK-NOT:     plan.region
// CHECK:         return %[[B]]
module {
module attributes {plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @both(%x: tensor<8x4xf32>, %w: tensor<4x16xf32>, %y: tensor<8x12xf32>) -> tensor<8x28xf32> {
    %p = plan.region -> (tensor<8x16xf32>) {
      %zero = arith.constant 0.0 : f32
      %e = tensor.empty() : tensor<8x16xf32>
      %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x16xf32>) -> tensor<8x16xf32>
      %m = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%x, %w : tensor<8x4xf32>, tensor<4x16xf32>) outs(%f : tensor<8x16xf32>) {
      ^bb0(%l: f32, %r: f32, %s: f32):
        %q = arith.mulf %l, %r : f32
        %t = arith.addf %s, %q : f32
        linalg.yield %t : f32
      } -> tensor<8x16xf32>
      plan.yield %m : tensor<8x16xf32>
    }
    %r = plan.region -> (tensor<8x12xf32>) {
      %e = tensor.empty() : tensor<8x12xf32>
      %m = linalg.exp ins(%y : tensor<8x12xf32>) outs(%e : tensor<8x12xf32>) -> tensor<8x12xf32>
      plan.yield %m : tensor<8x12xf32>
    }
    %whole = plan.region -> (tensor<8x28xf32>) {
      %e = tensor.empty() : tensor<8x28xf32>
      %0 = tensor.insert_slice %p into %e[0, 0] [8, 16] [1, 1] : tensor<8x16xf32> into tensor<8x28xf32>
      %1 = tensor.insert_slice %r into %0[0, 16] [8, 12] [1, 1] : tensor<8x12xf32> into tensor<8x28xf32>
      plan.yield %1 : tensor<8x28xf32>
    }
    return %whole : tensor<8x28xf32>
  }
}
}

// -----

// The boxes of symbolic rows. What something else reads is stored twice; an input is copied, by the region that was to copy all.
// CHECK-LABEL: func.func @kept(
// CHECK-SAME:    %[[X:.*]]: tensor<?x4xf32>)
// CHECK:         %[[E:.*]]:2 = plan.region -> (tensor<?x4xf32>, tensor<?x8xf32>) dims({{.*}}) attributes {plan.parts = array<i64: 1>} {
// CHECK:           %[[R:.*]] = linalg.exp
// CHECK:           %[[U:.*]] = kernel.update %[[R]]
// CHECK:           plan.yield %[[R]], %[[U]]
// CHECK:         %[[W:.*]] = plan.region -> (tensor<?x8xf32>) dims({{.*}}) attributes {plan.parts = array<i64: 0>} {
// CHECK-NOT:       tensor.insert_slice
// CHECK:           kernel.update %[[X]] at[{{.*}}] into %[[E]]#1
// CHECK:         return %[[W]], %[[E]]#0
module {
module attributes {plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @kept(%x: tensor<?x4xf32>) -> (tensor<?x8xf32>, tensor<?x4xf32>) {
    %c0 = arith.constant 0 : index
    %n = tensor.dim %x, %c0 : tensor<?x4xf32>
    %r = plan.region -> (tensor<?x4xf32>) dims(%n) {
      %e = tensor.empty(%n) : tensor<?x4xf32>
      %s = linalg.exp ins(%x : tensor<?x4xf32>) outs(%e : tensor<?x4xf32>) -> tensor<?x4xf32>
      plan.yield %s : tensor<?x4xf32>
    }
    %whole = plan.region -> (tensor<?x8xf32>) dims(%n) {
      %e = tensor.empty(%n) : tensor<?x8xf32>
      %0 = tensor.insert_slice %r into %e[0, 0] [%n, 4] [1, 1] : tensor<?x4xf32> into tensor<?x8xf32>
      %1 = tensor.insert_slice %x into %0[0, 4] [%n, 4] [1, 1] : tensor<?x4xf32> into tensor<?x8xf32>
      plan.yield %1 : tensor<?x8xf32>
    }
    return %whole, %r : tensor<?x8xf32>, tensor<?x4xf32>
  }
}
}

// -----

// Between two parts that have to be copied the others are copied, too: one kernel, as before. A CPU's kernels of reductions store no boxes.
// CHECK-LABEL: func.func @rest
// CHECK:         plan.region -> (tensor<8xf32>) {
// CHECK:         plan.region -> (tensor<4xf32>) {
// CHECK:         %[[S:.*]] = plan.region -> (tensor<28xf32>) attributes {plan.parts = array<i64: 0>} {
// CHECK:           linalg.exp
// CHECK:         plan.region -> (tensor<28xf32>) attributes {plan.parts = array<i64: 0>} {
// CHECK:           tensor.insert_slice {{.*}} into tensor<20xf32>
// CHECK:           tensor.insert_slice {{.*}} into tensor<20xf32>
// CHECK:           %[[I:.*]] = tensor.insert_slice {{.*}} into tensor<20xf32>
// CHECK:           kernel.update %[[I]] at[%{{.*}}] into %[[S]]
module {
module attributes {plan.target = #plan.target<"cpu", "x86-64-v3">} {
  func.func @rest(%x: tensor<8xf32>, %y: tensor<4x3xf32>) -> tensor<28xf32> {
    %e = plan.region -> (tensor<8xf32>) {
      %i = tensor.empty() : tensor<8xf32>
      %m = linalg.exp ins(%x : tensor<8xf32>) outs(%i : tensor<8xf32>) -> tensor<8xf32>
      plan.yield %m : tensor<8xf32>
    }
    %s = plan.region -> (tensor<4xf32>) {
      %i = tensor.empty() : tensor<4xf32>
      %m = linalg.reduce ins(%y : tensor<4x3xf32>) outs(%i : tensor<4xf32>) dimensions = [1] (%in: f32, %o: f32) {
        %a = arith.addf %in, %o : f32
        linalg.yield %a : f32
      }
      plan.yield %m : tensor<4xf32>
    }
    %f = plan.region -> (tensor<8xf32>) {
      %i = tensor.empty() : tensor<8xf32>
      %m = linalg.exp ins(%x : tensor<8xf32>) outs(%i : tensor<8xf32>) -> tensor<8xf32>
      plan.yield %m : tensor<8xf32>
    }
    %whole = plan.region -> (tensor<28xf32>) {
      %i = tensor.empty() : tensor<28xf32>
      %0 = tensor.insert_slice %x into %i[0] [8] [1] : tensor<8xf32> into tensor<28xf32>
      %1 = tensor.insert_slice %e into %0[8] [8] [1] : tensor<8xf32> into tensor<28xf32>
      %2 = tensor.insert_slice %s into %1[16] [4] [1] : tensor<4xf32> into tensor<28xf32>
      %3 = tensor.insert_slice %f into %2[20] [8] [1] : tensor<8xf32> into tensor<28xf32>
      plan.yield %3 : tensor<28xf32>
    }
    return %whole : tensor<28xf32>
  }
}
}

// -----

// Padding, an insertion that overlaps another one, and parts of a symbolic size along the dim are none of these.
// CHECK-LABEL: func.func @others
// CHECK-NOT:     kernel.update
// CHECK:         return
module {
module attributes {plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @others(%x: tensor<8xf32>, %y: tensor<?xf32>) -> (tensor<12xf32>, tensor<12xf32>, tensor<?xf32>) {
    %c0 = arith.constant 0 : index
    %n = tensor.dim %y, %c0 : tensor<?xf32>
    %sum = affine.apply affine_map<()[s0] -> (s0 + 8)>()[%n]
    %e = plan.region -> (tensor<8xf32>) {
      %i = tensor.empty() : tensor<8xf32>
      %m = linalg.exp ins(%x : tensor<8xf32>) outs(%i : tensor<8xf32>) -> tensor<8xf32>
      plan.yield %m : tensor<8xf32>
    }
    %padded = plan.region -> (tensor<12xf32>) {
      %zero = arith.constant 0.0 : f32
      %i = tensor.empty() : tensor<12xf32>
      %f = linalg.fill ins(%zero : f32) outs(%i : tensor<12xf32>) -> tensor<12xf32>
      %0 = tensor.insert_slice %e into %f[0] [8] [1] : tensor<8xf32> into tensor<12xf32>
      plan.yield %0 : tensor<12xf32>
    }
    %overlaps = plan.region -> (tensor<12xf32>) {
      %i = tensor.empty() : tensor<12xf32>
      %0 = tensor.insert_slice %e into %i[0] [8] [1] : tensor<8xf32> into tensor<12xf32>
      %1 = tensor.insert_slice %e into %0[4] [8] [1] : tensor<8xf32> into tensor<12xf32>
      plan.yield %1 : tensor<12xf32>
    }
    %symbolic = plan.region -> (tensor<?xf32>) dims(%sum) {
      %i = tensor.empty(%sum) : tensor<?xf32>
      %0 = tensor.insert_slice %e into %i[0] [8] [1] : tensor<8xf32> into tensor<?xf32>
      %1 = tensor.insert_slice %y into %0[8] [%n] [1] : tensor<?xf32> into tensor<?xf32>
      plan.yield %1 : tensor<?xf32>
    }
    return %padded, %overlaps, %symbolic : tensor<12xf32>, tensor<12xf32>, tensor<?xf32>
  }
}
}

// -----

// A whole that is a part of another one is copied there.
// CHECK-LABEL: func.func @nested
// CHECK:         %[[A:.*]] = plan.region -> (tensor<8xf32>) attributes {plan.parts = array<i64: 0>} {
// CHECK:           linalg.exp
// CHECK:         %[[B:.*]] = plan.region -> (tensor<8xf32>) attributes {plan.parts = array<i64: 0>} {
// CHECK:           kernel.update %{{.*}} at[{{.*}}] into %[[A]]
// CHECK:         %[[C:.*]] = plan.region -> (tensor<12xf32>) attributes {plan.parts = array<i64: 0>} {
// CHECK:           linalg.exp
// CHECK:         plan.region -> (tensor<12xf32>) attributes {plan.parts = array<i64: 0>} {
// CHECK-NOT:       linalg
// CHECK:           kernel.update %[[B]] at[{{.*}}] into %[[C]]
module {
module attributes {plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @nested(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<12xf32> {
    %e = plan.region -> (tensor<4xf32>) {
      %i = tensor.empty() : tensor<4xf32>
      %m = linalg.exp ins(%x : tensor<4xf32>) outs(%i : tensor<4xf32>) -> tensor<4xf32>
      plan.yield %m : tensor<4xf32>
    }
    %inner = plan.region -> (tensor<8xf32>) {
      %i = tensor.empty() : tensor<8xf32>
      %0 = tensor.insert_slice %e into %i[0] [4] [1] : tensor<4xf32> into tensor<8xf32>
      %1 = tensor.insert_slice %y into %0[4] [4] [1] : tensor<4xf32> into tensor<8xf32>
      plan.yield %1 : tensor<8xf32>
    }
    %f = plan.region -> (tensor<4xf32>) {
      %i = tensor.empty() : tensor<4xf32>
      %m = linalg.exp ins(%y : tensor<4xf32>) outs(%i : tensor<4xf32>) -> tensor<4xf32>
      plan.yield %m : tensor<4xf32>
    }
    %whole = plan.region -> (tensor<12xf32>) {
      %i = tensor.empty() : tensor<12xf32>
      %0 = tensor.insert_slice %inner into %i[0] [8] [1] : tensor<8xf32> into tensor<12xf32>
      %1 = tensor.insert_slice %f into %0[8] [4] [1] : tensor<4xf32> into tensor<12xf32>
      plan.yield %1 : tensor<12xf32>
    }
    return %whole : tensor<12xf32>
  }
}
}
