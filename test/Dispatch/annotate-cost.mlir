// RUN: xc-opt %s -xc-annotate-cost -mlir-print-local-scope | FileCheck %s

// One read and one write of n x 64 floats; a product of 2 * n * 64 * 64; one sum of n * 64.
// CHECK:      module @k attributes
// CHECK-SAME: plan.bytes = #plan.formula<s0 * 512 + 16384>
// CHECK-SAME: plan.counts = {bindings = 3 : i64, scalars = 1 : i64}
// CHECK-SAME: plan.flops = #plan.formula<s0 * 8256>
// CHECK-SAME: plan.locations = ["{{.*}}annotate-cost.mlir:[[#@LINE + 17]]:10", "{{.*}}annotate-cost.mlir:[[#@LINE + 20]]:10"]
// CHECK-SAME: plan.operands = [{dims = [#plan.formula<s0>, #plan.formula<64>], element = f32},
// CHECK-SAME:   {dims = [#plan.formula<64>, #plan.formula<64>], element = f32},
// CHECK-SAME:   {dims = [#plan.formula<s0>, #plan.formula<64>], element = f32}]
module attributes {plan.target = #plan.target<"cpu", "x86-64-v3">} {
module @k attributes {plan.kernel} {
  func.func @k() {
    %zero = arith.constant 0.0 : f32
    %n = plan.scalar 0 : index
    %x = plan.binding 0 read align 16 sizes(%n) : memref<?x64xf32>
    %w = plan.binding 1 read align 16 : memref<64x64xf32>
    %y = plan.binding 2 write align 16 sizes(%n) : memref<?x64xf32>
    %a = bufferization.to_tensor %x restrict : memref<?x64xf32> to tensor<?x64xf32>
    %b = bufferization.to_tensor %w restrict : memref<64x64xf32> to tensor<64x64xf32>
    %e = tensor.empty(%n) : tensor<?x64xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x64xf32>) -> tensor<?x64xf32>

    %p = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
        ins(%a, %b : tensor<?x64xf32>, tensor<64x64xf32>) outs(%f : tensor<?x64xf32>) -> tensor<?x64xf32>

    %r = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
        ins(%p : tensor<?x64xf32>) outs(%e : tensor<?x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %s = arith.addf %in, %zero : f32
      linalg.yield %s : f32
    } -> tensor<?x64xf32>
    bufferization.materialize_in_destination %r in restrict writable %y : (tensor<?x64xf32>, memref<?x64xf32>) -> ()
    return
  }
}

// What is read through one slice counts as long as that is.
// CHECK:      module @rest attributes
// CHECK-SAME: plan.bytes = #plan.formula<(s0 mod 512) * 4 + 4>
// CHECK-SAME: plan.flops = #plan.formula<s0 mod 512>
module @rest attributes {plan.kernel} {
  func.func @rest() {
    %zero = arith.constant 0.0 : f32
    %n = plan.scalar 0 : index
    %x = plan.binding 0 read align 16 sizes(%n) : memref<?xf32>
    %y = plan.binding 1 write align 16 : memref<f32>
    %a = bufferization.to_tensor %x restrict : memref<?xf32> to tensor<?xf32>
    %first = affine.apply affine_map<()[s0] -> ((s0 floordiv 512) * 512)>()[%n]
    %size = affine.apply affine_map<()[s0] -> (s0 mod 512)>()[%n]
    %slice = tensor.extract_slice %a[%first] [%size] [1] : tensor<?xf32> to tensor<?xf32>
    %e = tensor.empty() : tensor<f32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
    %r = linalg.generic {indexing_maps = [affine_map<(n) -> (n)>, affine_map<(n) -> ()>], iterator_types = ["reduction"]}
        ins(%slice : tensor<?xf32>) outs(%f : tensor<f32>) {
    ^bb0(%in: f32, %acc: f32):
      %s = arith.addf %in, %acc : f32
      linalg.yield %s : f32
    } -> tensor<f32>
    bufferization.materialize_in_destination %r in restrict writable %y : (tensor<f32>, memref<f32>) -> ()
    return
  }
}

// Three rows of a table, not the table: 3 x 8 floats of it, as many written, and 3 indices.
// CHECK:      module @take attributes
// CHECK-SAME: plan.bytes = #plan.formula<204>
module @take attributes {plan.kernel} {
  func.func @take() {
    %x = plan.binding 0 read align 16 : memref<1000x8xf32>
    %i = plan.binding 1 read align 16 : memref<3xi32>
    %y = plan.binding 2 write align 16 : memref<3x8xf32>
    %table = bufferization.to_tensor %x restrict : memref<1000x8xf32> to tensor<1000x8xf32>
    %indices = bufferization.to_tensor %i restrict : memref<3xi32> to tensor<3xi32>
    %e = tensor.empty() : tensor<3x8xf32>
    %r = linalg.generic {indexing_maps = [affine_map<(n, f) -> (n)>, affine_map<(n, f) -> (n, f)>], iterator_types = ["parallel", "parallel"]}
        ins(%indices : tensor<3xi32>) outs(%e : tensor<3x8xf32>) {
    ^bb0(%in: i32, %out: f32):
      %row = arith.index_cast %in : i32 to index
      %column = linalg.index 1 : index
      %s = tensor.extract %table[%row, %column] : tensor<1000x8xf32>
      linalg.yield %s : f32
    } -> tensor<3x8xf32>
    bufferization.materialize_in_destination %r in restrict writable %y : (tensor<3x8xf32>, memref<3x8xf32>) -> ()
    return
  }
}
}
