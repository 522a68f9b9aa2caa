// RUN: xc-opt %s -verify-roundtrip | FileCheck %s

// CHECK-LABEL: module @kernel
module @kernel attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @kernel() attributes {
      plan.launch = #plan.launch_config<grid = [s0 ceildiv 8, 1, 1], block = [256, 1, 1], cluster = [2, 1, 1], shared = 49152, scratch = 0>,
      plan.guards = [#plan.value_guard<s0, min = 1, max = 64, divisor = 4>, #plan.alignment_guard<binding = 0, bytes = 16>]} {
    // CHECK: %[[N:.*]] = plan.scalar 0 max 4096 : index
    %n = plan.scalar 0 max 4096 : index
    // CHECK: plan.binding 0 read align 16 sizes(%[[N]]) : memref<?x64xf32>
    %x = plan.binding 0 read align 16 sizes(%n) : memref<?x64xf32>
    // CHECK: plan.binding 1 read_write align 64 may_alias : memref<8xi8>
    %y = plan.binding 1 read_write align 64 may_alias : memref<8xi8>
    // CHECK: plan.workgroup_id y : index
    %i = plan.workgroup_id y : index
    return
  }
}

// CHECK-LABEL: func.func @tensors(
func.func @tensors(%x: tensor<?x64xf32>, %c: tensor<4xf32>, %n: index) -> (tensor<?x64xf32>, tensor<?x64xf32>) {
  // CHECK: plan.region -> (tensor<?x64xf32>) dims(%{{.*}}) reusable(%{{.*}} : tensor<?x64xf32>) attributes {reuse = array<i64: 0>} {
  %a = plan.region -> (tensor<?x64xf32>) dims(%n) reusable(%x : tensor<?x64xf32>) attributes {reuse = array<i64: 0>} {
    plan.yield %x : tensor<?x64xf32>
  }
  // CHECK: plan.require %{{.*}} at_most %{{.*}}, "expected few rows"
  plan.require %n at_most %n, "expected few rows"
  // CHECK: plan.require %{{.*}} at_least %{{.*}}, "expected an offset"
  plan.require %n at_least %n, "expected an offset"
  // CHECK: plan.dispatch @kernel(%{{.*}} : tensor<?x64xf32>) scalars(%{{.*}}) -> (tensor<?x64xf32>) dims(%{{.*}}) reuse [-1]
  %b = plan.dispatch @kernel(%a : tensor<?x64xf32>) scalars(%n) -> (tensor<?x64xf32>) dims(%n) reuse [-1]
  // CHECK: plan.dispatch @kernel() -> (tensor<4xf32>) reuse [-1] updates [0] inits(%{{.*}} : tensor<4xf32>)
  %u = plan.dispatch @kernel() -> (tensor<4xf32>) reuse [-1] updates [0] inits(%c : tensor<4xf32>)
  return %a, %b : tensor<?x64xf32>, tensor<?x64xf32>
}

// CHECK-LABEL: plan.function @main
// CHECK-SAME: arena s0 * 4 {
plan.function @main symbols [{name = "n"}] inputs [] outputs [] arena s0 * 4 {
  // CHECK: plan.launch @kernel [#plan.range<read, input 0, offset = 0, length = s0 * 256>] scalars [s0, s0 * 4 + 1] after []
  plan.launch @kernel [#plan.range<read, input 0, offset = 0, length = s0 * 256>]
      scalars [s0, s0 * 4 + 1] after []
  // CHECK: plan.copy <read, arena 0, {{.*}}> to <write, output 0, {{.*}}> after [0]
  plan.copy <read, arena 0, offset = 0, length = 4>
      to <write, output 0, offset = 0, length = 4> after [0]
  // CHECK: plan.choose 1 floordiv s0 after [1] {
  // CHECK-NEXT: } {
  // CHECK-NEXT: }
  plan.choose 1 floordiv s0 after [1] {
  } {
  }
  // CHECK: plan.fill <write, variable 1, {{.*}}> with 0 size 4 after [1]
  plan.fill <write, variable 1, offset = 0, length = 4> with 0 size 4 after [1]
}
