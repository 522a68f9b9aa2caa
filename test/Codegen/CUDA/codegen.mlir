// The whole pipeline: PTX with 16-byte accesses, where kernels begin in order through the read-only path, bare pointers with
// their alignment, and what the runtime has to know of each kernel.
// RUN: xc-opt %s -split-input-file -xc-cuda-codegen | FileCheck %s
// RUN: xc-opt %s -split-input-file -xc-cuda-codegen | %python %S/Inputs/kernel_image.py | FileCheck %s --check-prefix=PTX

// CHECK-LABEL: module @scale
// CHECK-SAME:    plan.exports = [{config = #cuda.elementwise<threads = 256, vector = 4, unroll = 1>,
// CHECK-SAME:    launch = #plan.launch_config<grid = [{{.*}}], block = [256, 1, 1], cluster = [1, 1, 1], shared = 0, scratch = 0>,
// CHECK-SAME:    name = "scale", parameters = {{\[}}["binding", 0], ["binding", 1]], programmatic, reason = "elementwise
// CHECK-SAME:    plan.image = "{{.*}}.version 8.0

// PTX-LABEL: .entry scale(
// PTX:         .param .u64 .ptr .global .align 64 scale_param_0
// PTX:         .reqntid 256
// PTX:         griddepcontrol.wait
// PTX:         ld.global.v4.b32
// PTX-NOT:     ld.global
// PTX:         st.global.v4.b32
// PTX-LABEL: .entry scale_in_order(
// PTX:         ld.global.nc.v4.b32
// PTX-NOT:     ld.global
// PTX:         st.global.v4.b32
builtin.module @scale attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @scale() {
    %x = plan.binding 0 read align 64 : memref<4096x1024xf32>
    %y = plan.binding 1 write align 64 : memref<4096x1024xf32>
    %t = bufferization.to_tensor %x restrict : memref<4096x1024xf32> to tensor<4096x1024xf32>
    %e = tensor.empty() : tensor<4096x1024xf32>
    %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%t : tensor<4096x1024xf32>) outs(%e : tensor<4096x1024xf32>) {
    ^bb0(%a: f32, %o: f32):
      %c = arith.constant 2.0 : f32
      %m = arith.mulf %a, %c : f32
      linalg.yield %m : f32
    } -> tensor<4096x1024xf32>
    bufferization.materialize_in_destination %r in restrict writable %y : (tensor<4096x1024xf32>, memref<4096x1024xf32>) -> ()
    return
  }
}

// -----

// CHECK-LABEL: module @scale_in_order
builtin.module @scale_in_order attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @scale_in_order() {
    %x = plan.binding 0 read align 64 : memref<4096x1024xf32>
    %y = plan.binding 1 write align 64 : memref<4096x1024xf32>
    %t = bufferization.to_tensor %x restrict : memref<4096x1024xf32> to tensor<4096x1024xf32>
    %e = tensor.empty() : tensor<4096x1024xf32>
    %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%t : tensor<4096x1024xf32>) outs(%e : tensor<4096x1024xf32>) {
    ^bb0(%a: f32, %o: f32):
      %c = arith.constant 2.0 : f32
      %m = arith.mulf %a, %c : f32
      linalg.yield %m : f32
    } -> tensor<4096x1024xf32>
    bufferization.materialize_in_destination %r in restrict writable %y : (tensor<4096x1024xf32>, memref<4096x1024xf32>) -> ()
    return
  }
}

// -----

// A symbolic size becomes an i64 parameter; the first variant relies on 32-bit indices.
// CHECK-LABEL: module @symbolic
// CHECK-SAME:    guards = [#plan.value_guard<{{.*}}, min = 0, max = 1073741823, divisor = 1>]
// CHECK-SAME:    name = "symbolic_narrow", parameters = {{\[}}["binding", 0], ["binding", 1], ["i64", 0]]
// CHECK-SAME:    name = "symbolic", parameters = {{\[}}["binding", 0], ["binding", 1], ["i64", 0]]

// In place, loads must not go through the read-only path.
// PTX-LABEL: .entry symbolic_narrow(
// PTX-NOT:     ld.global.nc
// PTX:         ld.global.v4.b32
// PTX-LABEL: .entry symbolic(
builtin.module @symbolic attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @symbolic() {
    %n = plan.scalar 0 : index
    %x = plan.binding 0 read align 64 may_alias sizes(%n) : memref<?xf32>
    %y = plan.binding 1 write align 64 may_alias sizes(%n) : memref<?xf32>
    %t = bufferization.to_tensor %x restrict : memref<?xf32> to tensor<?xf32>
    %e = tensor.empty(%n) : tensor<?xf32>
    %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%t : tensor<?xf32>) outs(%e : tensor<?xf32>) {
    ^bb0(%a: f32, %o: f32):
      %m = arith.addf %a, %a : f32
      linalg.yield %m : f32
    } -> tensor<?xf32>
    bufferization.materialize_in_destination %r in restrict writable %y : (tensor<?xf32>, memref<?xf32>) -> ()
    return
  }
}
