// RUN: xc-opt %s -split-input-file -xc-cuda-select-strategy | FileCheck %s

// Parts of a sum whose rows are longer than all parts together: boxes have a dim for the part and one for its terms.
// CHECK: func.func @parts() attributes {{.*}}lowering_config = #cuda.matmul_wgmma<
builtin.module @parts attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @parts() {
    %b0 = plan.binding 0 read align 64 : memref<192x7080xbf16>
    %t0 = bufferization.to_tensor %b0 restrict : memref<192x7080xbf16> to tensor<192x7080xbf16>
    %b1 = plan.binding 1 read align 64 : memref<10x704x40xbf16>
    %t1 = bufferization.to_tensor %b1 restrict : memref<10x704x40xbf16> to tensor<10x704x40xbf16>
    %slice = tensor.extract_slice %t0[0, 0] [192, 7040] [1, 1] : tensor<192x7080xbf16> to tensor<192x7040xbf16>
    %expanded = tensor.expand_shape %slice [[0], [1, 2]] output_shape [192, 10, 704] : tensor<192x7040xbf16> into tensor<192x10x704xbf16>
    %empty = tensor.empty() : tensor<10x192x40xf32>
    %zero = arith.constant 0.0 : f32
    %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<10x192x40xf32>) -> tensor<10x192x40xf32>
    %product = linalg.contract indexing_maps = [affine_map<(m, n, p, k) -> (m, p, k)>, affine_map<(m, n, p, k) -> (p, k, n)>, affine_map<(m, n, p, k) -> (p, m, n)>]
        ins(%expanded, %t1 : tensor<192x10x704xbf16>, tensor<10x704x40xbf16>) outs(%init : tensor<10x192x40xf32>) -> tensor<10x192x40xf32>
    %b2 = plan.binding 2 write align 64 : memref<10x192x40xf32>
    bufferization.materialize_in_destination %product in restrict writable %b2 : (tensor<10x192x40xf32>, memref<10x192x40xf32>) -> ()
    return
  }
}

// -----

// Parts of 1300 bytes do not begin where boxes can.
// CHECK: func.func @short_parts() attributes {{.*}}lowering_config = #cuda.matmul_mma<
// CHECK-SAME: its rows are not known to be multiples of 16 bytes
builtin.module @short_parts attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @short_parts() {
    %b0 = plan.binding 0 read align 64 : memref<192x7080xbf16>
    %t0 = bufferization.to_tensor %b0 restrict : memref<192x7080xbf16> to tensor<192x7080xbf16>
    %b1 = plan.binding 1 read align 64 : memref<10x650x40xbf16>
    %t1 = bufferization.to_tensor %b1 restrict : memref<10x650x40xbf16> to tensor<10x650x40xbf16>
    %slice = tensor.extract_slice %t0[0, 0] [192, 6500] [1, 1] : tensor<192x7080xbf16> to tensor<192x6500xbf16>
    %expanded = tensor.expand_shape %slice [[0], [1, 2]] output_shape [192, 10, 650] : tensor<192x6500xbf16> into tensor<192x10x650xbf16>
    %empty = tensor.empty() : tensor<10x192x40xf32>
    %zero = arith.constant 0.0 : f32
    %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<10x192x40xf32>) -> tensor<10x192x40xf32>
    %product = linalg.contract indexing_maps = [affine_map<(m, n, p, k) -> (m, p, k)>, affine_map<(m, n, p, k) -> (p, k, n)>, affine_map<(m, n, p, k) -> (p, m, n)>]
        ins(%expanded, %t1 : tensor<192x10x650xbf16>, tensor<10x650x40xbf16>) outs(%init : tensor<10x192x40xf32>) -> tensor<10x192x40xf32>
    %b2 = plan.binding 2 write align 64 : memref<10x192x40xf32>
    bufferization.materialize_in_destination %product in restrict writable %b2 : (tensor<10x192x40xf32>, memref<10x192x40xf32>) -> ()
    return
  }
}
