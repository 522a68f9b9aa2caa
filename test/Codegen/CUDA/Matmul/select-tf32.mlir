// RUN: xc-opt %s -split-input-file -xc-cuda-select-strategy | FileCheck %s --check-prefix=EXACT
// RUN: xc-opt %s -split-input-file -pass-pipeline="builtin.module(func.func(xc-allow-tf32),xc-cuda-select-strategy)" | FileCheck %s --check-prefix=TF32

// f32 products go to the tensor cores only where that is allowed.
// EXACT: func.func @product() attributes {{.*}}lowering_config = #cuda.matmul_fma<
// TF32:  func.func @product() attributes {{.*}}lowering_config = #cuda.matmul_mma<tile_m = 256, tile_n = 128, tile_k = 32,
// TF32-SAME: plan.reason = "matrix product by mma.sync in TF32: tiles of 256 x 128, k in steps of 32, {{[0-9.]+}} us expected; key: sm_80 matmul tf32*tf32>f32
builtin.module @product attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @product() {
    %b0 = plan.binding 0 read align 64 : memref<4096x4096xf32>
    %t0 = bufferization.to_tensor %b0 restrict : memref<4096x4096xf32> to tensor<4096x4096xf32>
    %b1 = plan.binding 1 read align 64 : memref<4096x4096xf32>
    %t1 = bufferization.to_tensor %b1 restrict : memref<4096x4096xf32> to tensor<4096x4096xf32>
    %empty = tensor.empty() : tensor<4096x4096xf32>
    %zero = arith.constant 0.0 : f32
    %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
    %product = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] ins(%t0, %t1 : tensor<4096x4096xf32>, tensor<4096x4096xf32>) outs(%init : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
    %b2 = plan.binding 2 write align 64 : memref<4096x4096xf32>
    bufferization.materialize_in_destination %product in restrict writable %b2 : (tensor<4096x4096xf32>, memref<4096x4096xf32>) -> ()
    return
  }
}

// -----

// Or where the op itself allows it, whatever the option says.
// EXACT: func.func @allowed() attributes {{.*}}lowering_config = #cuda.matmul_mma<
// EXACT-SAME: plan.reason = "matrix product by mma.sync in TF32
builtin.module @allowed attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @allowed() {
    %b0 = plan.binding 0 read align 64 : memref<4096x4096xf32>
    %t0 = bufferization.to_tensor %b0 restrict : memref<4096x4096xf32> to tensor<4096x4096xf32>
    %b1 = plan.binding 1 read align 64 : memref<4096x4096xf32>
    %t1 = bufferization.to_tensor %b1 restrict : memref<4096x4096xf32> to tensor<4096x4096xf32>
    %empty = tensor.empty() : tensor<4096x4096xf32>
    %zero = arith.constant 0.0 : f32
    %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
    %product = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] {plan.allow_tf32} ins(%t0, %t1 : tensor<4096x4096xf32>, tensor<4096x4096xf32>) outs(%init : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
    %b2 = plan.binding 2 write align 64 : memref<4096x4096xf32>
    bufferization.materialize_in_destination %product in restrict writable %b2 : (tensor<4096x4096xf32>, memref<4096x4096xf32>) -> ()
    return
  }
}

// -----

// With wgmma, where one operand at least is contiguous along k.
// EXACT: func.func @warpgroups() attributes {{.*}}lowering_config = #cuda.matmul_fma<
// TF32:  func.func @warpgroups() attributes {{.*}}lowering_config = #cuda.matmul_wgmma<{{[^>]*}}tile_k = 32,
// TF32-SAME: key: sm_90a matmul tf32*tf32>f32 1x4096x4096x4096 nn
builtin.module @warpgroups attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @warpgroups() {
    %b0 = plan.binding 0 read align 64 : memref<4096x4096xf32>
    %t0 = bufferization.to_tensor %b0 restrict : memref<4096x4096xf32> to tensor<4096x4096xf32>
    %b1 = plan.binding 1 read align 64 : memref<4096x4096xf32>
    %t1 = bufferization.to_tensor %b1 restrict : memref<4096x4096xf32> to tensor<4096x4096xf32>
    %e = tensor.empty() : tensor<4096x4096xf32>
    %zero = arith.constant 0.0 : f32
    %init = linalg.fill ins(%zero : f32) outs(%e : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
    %product = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] ins(%t0, %t1 : tensor<4096x4096xf32>, tensor<4096x4096xf32>) outs(%init : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
    %b2 = plan.binding 2 write align 64 : memref<4096x4096xf32>
    bufferization.materialize_in_destination %product in restrict writable %b2 : (tensor<4096x4096xf32>, memref<4096x4096xf32>) -> ()
    return
  }
}

// -----

// EXACT: func.func @across() attributes {{.*}}lowering_config = #cuda.matmul_fma<
// TF32:  func.func @across() attributes {{.*}}lowering_config = #cuda.matmul_wgmma<
// TF32-SAME: key: sm_90a matmul tf32*tf32>f32 1x4096x4096x4096 tn
builtin.module @across attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_90a">} {
  func.func @across() {
    %b0 = plan.binding 0 read align 64 : memref<4096x4096xf32>
    %t0 = bufferization.to_tensor %b0 restrict : memref<4096x4096xf32> to tensor<4096x4096xf32>
    %b1 = plan.binding 1 read align 64 : memref<4096x4096xf32>
    %t1 = bufferization.to_tensor %b1 restrict : memref<4096x4096xf32> to tensor<4096x4096xf32>
    %e = tensor.empty() : tensor<4096x4096xf32>
    %zero = arith.constant 0.0 : f32
    %init = linalg.fill ins(%zero : f32) outs(%e : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
    %product = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] ins(%t0, %t1 : tensor<4096x4096xf32>, tensor<4096x4096xf32>) outs(%init : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
    %b2 = plan.binding 2 write align 64 : memref<4096x4096xf32>
    bufferization.materialize_in_destination %product in restrict writable %b2 : (tensor<4096x4096xf32>, memref<4096x4096xf32>) -> ()
    return
  }
}
