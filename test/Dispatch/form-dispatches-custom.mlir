// RUN: xc-opt %s -pass-pipeline='builtin.module(builtin.module(func.func(xc-form-dispatches),xc-outline-dispatches))' | FileCheck %s

// A kernel of its own, which nothing is fused into. Its scalars are passed as they are: no factor is taken out of them, and a constant is one. The
// dispatch may put the result where the program says that it can be.
// CHECK-LABEL: func.func @f
// CHECK:       plan.dispatch @f_k0_negf
// CHECK:       %[[K:.*]] = plan.dispatch @f_k1_f(%{{.*}} : tensor<?xf32>) scalars(%[[N:.*]], %{{.*}}) -> (tensor<?xf32>) dims(%{{.*}}) reuse [0]
// CHECK:       plan.dispatch @f_k2_negf(%[[K]]
// CHECK-LABEL: module @f_k1_f
// CHECK-DAG:   %[[SIZE:.*]] = plan.scalar 0 : index
// CHECK-DAG:   %[[SEVEN:.*]] = plan.scalar 1{{.*}} : index
// CHECK-NOT:   arith.muli
// CHECK:       kernel.custom "f"(%{{.*}} : tensor<?xf32>) scalars(%[[SIZE]], %[[SEVEN]]) as [i64, i32]
module {
  module attributes {plan.target = #plan.target<"cuda", "sm_80">} {
    func.func @f(%x: tensor<?xf32> {array.dims = ["n"]}) -> tensor<?xf32> attributes {array.dim_range = {n = [0, -1, 64]}} {
      %c0 = arith.constant 0 : index
      %c7 = arith.constant 7 : index
      %n = tensor.dim %x, %c0 : tensor<?xf32>
      %e = tensor.empty(%n) : tensor<?xf32>
      %a = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
          ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) {
      ^bb0(%in: f32, %out: f32):
        %v = arith.negf %in : f32
        linalg.yield %v : f32
      } -> tensor<?xf32>
      %k = kernel.custom "f"(%a : tensor<?xf32>) scalars(%n, %c7) as [i64, i32] into(%e : tensor<?xf32>)
          grid = affine_map<()[n, c] -> (n ceildiv 128, 1, 1)> block = [128, 1, 1] reuse = [0] ptx = ".version 7.0\0A.target sm_75\0A.address_size 64\0A.visible .entry f(.param .u64 x, .param .u64 y, .param .u64 m, .param .u32 n) { ret; }" -> tensor<?xf32>
      %b = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
          ins(%k : tensor<?xf32>) outs(%e : tensor<?xf32>) {
      ^bb0(%in: f32, %out: f32):
        %v = arith.negf %in : f32
        linalg.yield %v : f32
      } -> tensor<?xf32>
      return %b : tensor<?xf32>
    }
  }
}
