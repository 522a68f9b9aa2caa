// RUN: xc-opt %s -split-input-file -verify-diagnostics -xc-cuda-codegen

builtin.module @unknown_arch attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_42">} {
  // expected-error @below {{unknown CUDA architecture 'sm_42', known are sm_75, sm_80, sm_86, sm_87, sm_89, sm_90, sm_90a, sm_100a, sm_103a, sm_110a, sm_120a, sm_121a}}
  func.func @unknown_arch() {
    return
  }
}

// -----

builtin.module @no_target attributes {plan.kernel} {
  // expected-error @below {{expected its module to have a CUDA target in 'plan.target'}}
  func.func @no_target() {
    return
  }
}

// -----

builtin.module @twice attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @twice() {
    %x = plan.binding 0 read align 64 : memref<4xf32>
    // expected-error @below {{expected one binding of each number, got two of 0}}
    %y = plan.binding 0 write align 64 : memref<4xf32>
    %t = bufferization.to_tensor %x restrict : memref<4xf32> to tensor<4xf32>
    bufferization.materialize_in_destination %t in restrict writable %y : (tensor<4xf32>, memref<4xf32>) -> ()
    return
  }
}

// -----

builtin.module @constant attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @constant() {
    %y = plan.binding 0 write align 64 : memref<2xf32>
    // expected-error @below {{cannot be compiled for sm_80: expected a constant whose elements are all equal}}
    %c = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
    bufferization.materialize_in_destination %c in restrict writable %y : (tensor<2xf32>, memref<2xf32>) -> ()
    return
  }
}

// -----

builtin.module @unknown_op attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_80">} {
  func.func @unknown_op() {
    %y = plan.binding 0 write align 64 : memref<2xf32>
    // expected-error @below {{cannot be compiled for sm_80: an op that CUDA code generation does not know}}
    %c = tensor.generate {
    ^bb0(%i: index):
      %v = arith.constant 1.0 : f32
      tensor.yield %v : f32
    } : tensor<2xf32>
    bufferization.materialize_in_destination %c in restrict writable %y : (tensor<2xf32>, memref<2xf32>) -> ()
    return
  }
}

// -----

builtin.module @wrong_config attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_80">} {
  // expected-error @below {{expected a reduction for #cuda.row_reduction<threads = 32, rows = 1, vector = 1, chunks = 1>}}
  func.func @wrong_config() attributes {lowering_config = #cuda.row_reduction<threads = 32, rows = 1, vector = 1, chunks = 1>} {
    %x = plan.binding 0 read align 64 : memref<4xf32>
    %y = plan.binding 1 write align 64 : memref<4xf32>
    %t = bufferization.to_tensor %x restrict : memref<4xf32> to tensor<4xf32>
    bufferization.materialize_in_destination %t in restrict writable %y : (tensor<4xf32>, memref<4xf32>) -> ()
    return
  }
}

// -----

builtin.module @old_arch attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_75">} {
  // expected-error @below {{expected f16, bf16 or f32 operands with f32 sums, 8-bit integers with i32, or f64, and sm_80 or later for #cuda.matmul_mma<tile_m = 64, tile_n = 64, tile_k = 32, warps_m = 2, warps_n = 2, stages = 4>, got sm_75}}
  func.func @old_arch() attributes {lowering_config = #cuda.matmul_mma<tile_m = 64, tile_n = 64, tile_k = 32, warps_m = 2, warps_n = 2, stages = 4>} {
    %ab = plan.binding 0 read align 64 : memref<64x64xf16>
    %bb = plan.binding 1 read align 64 : memref<64x64xf16>
    %cb = plan.binding 2 write align 64 : memref<64x64xf32>
    %a = bufferization.to_tensor %ab restrict : memref<64x64xf16> to tensor<64x64xf16>
    %b = bufferization.to_tensor %bb restrict : memref<64x64xf16> to tensor<64x64xf16>
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<64x64xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
    %c = linalg.matmul ins(%a, %b : tensor<64x64xf16>, tensor<64x64xf16>) outs(%f : tensor<64x64xf32>) -> tensor<64x64xf32>
    bufferization.materialize_in_destination %c in restrict writable %cb : (tensor<64x64xf32>, memref<64x64xf32>) -> ()
    return
  }
}

// -----

// expected-error @below {{expected 1 to 3 warpgroups and a multiple of 64 rows for each, up to 4096 in all, got 2 for 64 rows}}
func.func private @wgmma_rows() attributes {lowering_config = #cuda.matmul_wgmma<tile_m = 64, tile_n = 64, tile_k = 64, warpgroups = 2, stages = 2, raster = 8, blocks = 1, split = 1>}

// -----

// expected-error @below {{expected 8 to 256 columns, a multiple of 8, got 260}}
func.func private @wgmma_columns() attributes {lowering_config = #cuda.matmul_wgmma<tile_m = 64, tile_n = 260, tile_k = 64, warpgroups = 1, stages = 2, raster = 8, blocks = 1, split = 1>}

// -----

// expected-error @below {{expected k in steps of 16, 32, or a multiple of 64 up to 256, got 96}}
func.func private @wgmma_step() attributes {lowering_config = #cuda.matmul_wgmma<tile_m = 64, tile_n = 64, tile_k = 96, warpgroups = 1, stages = 2, raster = 8, blocks = 1, split = 1>}

// -----

// expected-error @below {{expected 2 to 128 stages, got 1}}
func.func private @wgmma_stages() attributes {lowering_config = #cuda.matmul_wgmma<tile_m = 64, tile_n = 64, tile_k = 64, warpgroups = 1, stages = 1, raster = 8, blocks = 1, split = 1>}

// -----

// expected-error @below {{expected sums that leave 40 of 232 registers, got 256}}
func.func private @wgmma_registers() attributes {lowering_config = #cuda.matmul_wgmma<tile_m = 256, tile_n = 256, tile_k = 64, warpgroups = 2, stages = 2, raster = 8, blocks = 1, split = 1>}

// -----

// expected-error @below {{expected ping_pong to be 0 or 1, got 2}}
func.func private @wgmma_ping_pong_twice() attributes {lowering_config = #cuda.matmul_wgmma<tile_m = 64, tile_n = 64, tile_k = 64, warpgroups = 2, stages = 2, raster = 8, blocks = 1, split = 1, ping_pong = 2>}

// -----

// expected-error @below {{expected ping-pong of an even number of warpgroups, in blocks that share no tiles, got 3 warpgroups and a split of 1}}
func.func private @wgmma_ping_pong_odd() attributes {lowering_config = #cuda.matmul_wgmma<tile_m = 64, tile_n = 64, tile_k = 64, warpgroups = 3, stages = 2, raster = 8, blocks = 1, split = 1, ping_pong = 1>}

// -----

// expected-error @below {{expected ping-pong of an even number of warpgroups, in blocks that share no tiles, got 2 warpgroups and a split of 2}}
func.func private @wgmma_ping_pong() attributes {lowering_config = #cuda.matmul_wgmma<tile_m = 64, tile_n = 64, tile_k = 64, warpgroups = 2, stages = 2, raster = 8, blocks = 1, split = 2, ping_pong = 1>}

// -----

// expected-error @below {{expected 1, 2 or 4 rows and columns of blocks in a cluster, and one where blocks share tiles, got 2 x 1 with a split of 2}}
func.func private @wgmma_cluster_split() attributes {lowering_config = #cuda.matmul_wgmma<tile_m = 64, tile_n = 64, tile_k = 64, warpgroups = 1, stages = 2, raster = 8, blocks = 1, split = 2, cluster_m = 2>}

// -----

// expected-error @below {{expected a multiple of 8 lines of each operand for each block of a cluster's side, got tiles of 64 x 24 x 64 for 2 x 1 blocks}}
func.func private @wgmma_cluster_lines() attributes {lowering_config = #cuda.matmul_wgmma<tile_m = 64, tile_n = 24, tile_k = 64, warpgroups = 1, stages = 2, raster = 8, blocks = 1, split = 1, cluster_m = 2>}

// -----

// Parts of rows are not in two warps, or two blocks.
builtin.module @parts_in_two_blocks attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_90a">} {
  // expected-error @below {{expected parts of 64 columns, in which rows are reduced, not to be in two warps for #cuda.matmul_wgmma<tile_m = 128, tile_n = 32}}
  func.func @parts_in_two_blocks() attributes {lowering_config = #cuda.matmul_wgmma<tile_m = 128, tile_n = 32, tile_k = 64, warpgroups = 2, stages = 3, raster = 8, blocks = 1, split = 1>} {
    %b0 = plan.binding 0 read align 64 : memref<512x128xbf16>
    %t0 = bufferization.to_tensor %b0 restrict : memref<512x128xbf16> to tensor<512x128xbf16>
    %b1 = plan.binding 1 read align 64 : memref<128x256xbf16>
    %t1 = bufferization.to_tensor %b1 restrict : memref<128x256xbf16> to tensor<128x256xbf16>
    %e = tensor.empty() : tensor<512x256xf32>
    %zero = arith.constant 0.0 : f32
    %init = linalg.fill ins(%zero : f32) outs(%e : tensor<512x256xf32>) -> tensor<512x256xf32>
    %product = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] ins(%t0, %t1 : tensor<512x128xbf16>, tensor<128x256xbf16>) outs(%init : tensor<512x256xf32>) -> tensor<512x256xf32>
    %o = tensor.empty() : tensor<512x4xf32>
    %start = linalg.fill ins(%zero : f32) outs(%o : tensor<512x4xf32>) -> tensor<512x4xf32>
    %parts = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1 floordiv 64)>], iterator_types = ["parallel", "reduction"]} ins(%product : tensor<512x256xf32>) outs(%start : tensor<512x4xf32>) attrs = {plan.partial = #plan.partial<columns, 64>} {
    ^bb0(%a: f32, %acc: f32):
      %s = arith.addf %a, %acc : f32
      linalg.yield %s : f32
    } -> tensor<512x4xf32>
    %b2 = plan.binding 2 write align 64 : memref<512x4xf32>
    bufferization.materialize_in_destination %parts in restrict writable %b2 : (tensor<512x4xf32>, memref<512x4xf32>) -> ()
    return
  }
}

// -----

// Nor here.
builtin.module @parts_in_two_warps attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_80">} {
  // expected-error @below {{expected the columns of a warp to be a multiple of the 64 of a part that rows are reduced in, got 32 for #cuda.matmul_mma}}
  func.func @parts_in_two_warps() attributes {lowering_config = #cuda.matmul_mma<tile_m = 128, tile_n = 64, tile_k = 32, warps_m = 2, warps_n = 2, stages = 2>} {
    %b0 = plan.binding 0 read align 64 : memref<512x128xbf16>
    %t0 = bufferization.to_tensor %b0 restrict : memref<512x128xbf16> to tensor<512x128xbf16>
    %b1 = plan.binding 1 read align 64 : memref<128x256xbf16>
    %t1 = bufferization.to_tensor %b1 restrict : memref<128x256xbf16> to tensor<128x256xbf16>
    %e = tensor.empty() : tensor<512x256xf32>
    %zero = arith.constant 0.0 : f32
    %init = linalg.fill ins(%zero : f32) outs(%e : tensor<512x256xf32>) -> tensor<512x256xf32>
    %product = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] ins(%t0, %t1 : tensor<512x128xbf16>, tensor<128x256xbf16>) outs(%init : tensor<512x256xf32>) -> tensor<512x256xf32>
    %o = tensor.empty() : tensor<512x4xf32>
    %start = linalg.fill ins(%zero : f32) outs(%o : tensor<512x4xf32>) -> tensor<512x4xf32>
    %parts = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1 floordiv 64)>], iterator_types = ["parallel", "reduction"]} ins(%product : tensor<512x256xf32>) outs(%start : tensor<512x4xf32>) attrs = {plan.partial = #plan.partial<columns, 64>} {
    ^bb0(%a: f32, %acc: f32):
      %s = arith.addf %a, %acc : f32
      linalg.yield %s : f32
    } -> tensor<512x4xf32>
    %b2 = plan.binding 2 write align 64 : memref<512x4xf32>
    bufferization.materialize_in_destination %parts in restrict writable %b2 : (tensor<512x4xf32>, memref<512x4xf32>) -> ()
    return
  }
}

// -----

// Threads of this kernel have columns of many warps.
builtin.module @parts_without_tensor_cores attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_80">} {
  // expected-error @below {{expected a matrix product for #cuda.matmul_fma<tile_m = 128, tile_n = 128, tile_k = 8, thread_m = 8, thread_n = 8>: its rows or columns are reduced, which only kernels on tensor cores do}}
  func.func @parts_without_tensor_cores() attributes {lowering_config = #cuda.matmul_fma<tile_m = 128, tile_n = 128, tile_k = 8, thread_m = 8, thread_n = 8>} {
    %b0 = plan.binding 0 read align 64 : memref<512x128xbf16>
    %t0 = bufferization.to_tensor %b0 restrict : memref<512x128xbf16> to tensor<512x128xbf16>
    %b1 = plan.binding 1 read align 64 : memref<128x256xbf16>
    %t1 = bufferization.to_tensor %b1 restrict : memref<128x256xbf16> to tensor<128x256xbf16>
    %e = tensor.empty() : tensor<512x256xf32>
    %zero = arith.constant 0.0 : f32
    %init = linalg.fill ins(%zero : f32) outs(%e : tensor<512x256xf32>) -> tensor<512x256xf32>
    %product = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] ins(%t0, %t1 : tensor<512x128xbf16>, tensor<128x256xbf16>) outs(%init : tensor<512x256xf32>) -> tensor<512x256xf32>
    %o = tensor.empty() : tensor<512x4xf32>
    %start = linalg.fill ins(%zero : f32) outs(%o : tensor<512x4xf32>) -> tensor<512x4xf32>
    %parts = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1 floordiv 64)>], iterator_types = ["parallel", "reduction"]} ins(%product : tensor<512x256xf32>) outs(%start : tensor<512x4xf32>) attrs = {plan.partial = #plan.partial<columns, 64>} {
    ^bb0(%a: f32, %acc: f32):
      %s = arith.addf %a, %acc : f32
      linalg.yield %s : f32
    } -> tensor<512x4xf32>
    %b2 = plan.binding 2 write align 64 : memref<512x4xf32>
    bufferization.materialize_in_destination %parts in restrict writable %b2 : (tensor<512x4xf32>, memref<512x4xf32>) -> ()
    return
  }
}

// -----

builtin.module @copies_on_old_arch attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_75">} {
  // expected-error @below {{expected operands in memory that are multiplied as they are, and sm_80 or later for #cuda.matmul_fma<tile_m = 64, tile_n = 64, tile_k = 16, thread_m = 4, thread_n = 4, stages = 3>, got 'f32' on sm_75}}
  func.func @copies_on_old_arch() attributes {lowering_config = #cuda.matmul_fma<tile_m = 64, tile_n = 64, tile_k = 16, thread_m = 4, thread_n = 4, stages = 3>} {
    %ab = plan.binding 0 read align 64 : memref<64x64xf32>
    %bb = plan.binding 1 read align 64 : memref<64x64xf32>
    %cb = plan.binding 2 write align 64 : memref<64x64xf32>
    %a = bufferization.to_tensor %ab restrict : memref<64x64xf32> to tensor<64x64xf32>
    %b = bufferization.to_tensor %bb restrict : memref<64x64xf32> to tensor<64x64xf32>
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<64x64xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
    %c = linalg.matmul ins(%a, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%f : tensor<64x64xf32>) -> tensor<64x64xf32>
    bufferization.materialize_in_destination %c in restrict writable %cb : (tensor<64x64xf32>, memref<64x64xf32>) -> ()
    return
  }
}

// -----

builtin.module @copies_of_halves attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_80">} {
  // expected-error @below {{expected operands in memory that are multiplied as they are, and sm_80 or later for #cuda.matmul_fma<tile_m = 64, tile_n = 64, tile_k = 16, thread_m = 4, thread_n = 4, stages = 3>, got 'f16' on sm_80}}
  func.func @copies_of_halves() attributes {lowering_config = #cuda.matmul_fma<tile_m = 64, tile_n = 64, tile_k = 16, thread_m = 4, thread_n = 4, stages = 3>} {
    %ab = plan.binding 0 read align 64 : memref<64x64xf16>
    %bb = plan.binding 1 read align 64 : memref<64x64xf16>
    %cb = plan.binding 2 write align 64 : memref<64x64xf32>
    %a = bufferization.to_tensor %ab restrict : memref<64x64xf16> to tensor<64x64xf16>
    %b = bufferization.to_tensor %bb restrict : memref<64x64xf16> to tensor<64x64xf16>
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<64x64xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
    %c = linalg.matmul ins(%a, %b : tensor<64x64xf16>, tensor<64x64xf16>) outs(%f : tensor<64x64xf32>) -> tensor<64x64xf32>
    bufferization.materialize_in_destination %c in restrict writable %cb : (tensor<64x64xf32>, memref<64x64xf32>) -> ()
    return
  }
}

// -----

builtin.module @slow_doubles attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_86">} {
  // expected-error @below {{expected a target whose tensor cores are made for f64 for #cuda.matmul_mma<tile_m = 64, tile_n = 64, tile_k = 32, warps_m = 2, warps_n = 2, stages = 2>, got sm_86}}
  func.func @slow_doubles() attributes {lowering_config = #cuda.matmul_mma<tile_m = 64, tile_n = 64, tile_k = 32, warps_m = 2, warps_n = 2, stages = 2>} {
    %b0 = plan.binding 0 read align 64 : memref<64x64xf64>
    %t0 = bufferization.to_tensor %b0 restrict : memref<64x64xf64> to tensor<64x64xf64>
    %e = tensor.empty() : tensor<64x64xf64>
    %zero = arith.constant 0.0 : f64
    %init = linalg.fill ins(%zero : f64) outs(%e : tensor<64x64xf64>) -> tensor<64x64xf64>
    %product = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] ins(%t0, %t0 : tensor<64x64xf64>, tensor<64x64xf64>) outs(%init : tensor<64x64xf64>) -> tensor<64x64xf64>
    %b1 = plan.binding 1 write align 64 : memref<64x64xf64>
    bufferization.materialize_in_destination %product in restrict writable %b1 : (tensor<64x64xf64>, memref<64x64xf64>) -> ()
    return
  }
}

// -----

// A warp has half of the rows of a part.
builtin.module @column_parts_in_two_warps attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_80">} {
  // expected-error @below {{expected the rows of a warp to be a multiple of the 64 of a part that columns are reduced in, got 32 for #cuda.matmul_mma<tile_m = 64, tile_n = 128, tile_k = 32, warps_m = 2, warps_n = 2, stages = 3>}}
  func.func @column_parts_in_two_warps() attributes {lowering_config = #cuda.matmul_mma<tile_m = 64, tile_n = 128, tile_k = 32, warps_m = 2, warps_n = 2, stages = 3>} {
    %b0 = plan.binding 0 read align 64 : memref<512x128xbf16>
    %t0 = bufferization.to_tensor %b0 restrict : memref<512x128xbf16> to tensor<512x128xbf16>
    %b1 = plan.binding 1 read align 64 : memref<128x256xbf16>
    %t1 = bufferization.to_tensor %b1 restrict : memref<128x256xbf16> to tensor<128x256xbf16>
    %e = tensor.empty() : tensor<512x256xf32>
    %zero = arith.constant 0.0 : f32
    %init = linalg.fill ins(%zero : f32) outs(%e : tensor<512x256xf32>) -> tensor<512x256xf32>
    %product = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] ins(%t0, %t1 : tensor<512x128xbf16>, tensor<128x256xbf16>) outs(%init : tensor<512x256xf32>) -> tensor<512x256xf32>
    %o = tensor.empty() : tensor<512x256xbf16>
    %y = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]} ins(%product : tensor<512x256xf32>) outs(%o : tensor<512x256xbf16>) {
    ^bb0(%v: f32, %w: bf16):
      %t = arith.truncf %v : f32 to bf16
      linalg.yield %t : bf16
    } -> tensor<512x256xbf16>
    %f = tensor.empty() : tensor<8x256xf32>
    %start = linalg.fill ins(%zero : f32) outs(%f : tensor<8x256xf32>) -> tensor<8x256xf32>
    %s = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m floordiv 64, n)>], iterator_types = ["reduction", "parallel"]} ins(%y : tensor<512x256xbf16>) outs(%start : tensor<8x256xf32>) attrs = {plan.partial = #plan.partial<rows, 64>} {
    ^bb0(%v: bf16, %acc: f32):
      %x = arith.extf %v : bf16 to f32
      %t = arith.addf %acc, %x : f32
      linalg.yield %t : f32
    } -> tensor<8x256xf32>
    %b2 = plan.binding 2 write align 64 : memref<512x256xbf16>
    %b3 = plan.binding 3 write align 64 : memref<8x256xf32>
    bufferization.materialize_in_destination %y in restrict writable %b2 : (tensor<512x256xbf16>, memref<512x256xbf16>) -> ()
    bufferization.materialize_in_destination %s in restrict writable %b3 : (tensor<8x256xf32>, memref<8x256xf32>) -> ()
    return
  }
}

// -----

// Threads of this kernel have rows of many warps.
builtin.module @column_parts_without_tensor_cores attributes {plan.kernel, plan.target = #plan.target<"cuda", "sm_80">} {
  // expected-error @below {{expected a matrix product for #cuda.matmul_fma<tile_m = 128, tile_n = 128, tile_k = 8, thread_m = 8, thread_n = 8>: its rows or columns are reduced, which only kernels on tensor cores do}}
  func.func @column_parts_without_tensor_cores() attributes {lowering_config = #cuda.matmul_fma<tile_m = 128, tile_n = 128, tile_k = 8, thread_m = 8, thread_n = 8>} {
    %b0 = plan.binding 0 read align 64 : memref<512x128xbf16>
    %t0 = bufferization.to_tensor %b0 restrict : memref<512x128xbf16> to tensor<512x128xbf16>
    %b1 = plan.binding 1 read align 64 : memref<128x256xbf16>
    %t1 = bufferization.to_tensor %b1 restrict : memref<128x256xbf16> to tensor<128x256xbf16>
    %e = tensor.empty() : tensor<512x256xf32>
    %zero = arith.constant 0.0 : f32
    %init = linalg.fill ins(%zero : f32) outs(%e : tensor<512x256xf32>) -> tensor<512x256xf32>
    %product = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] ins(%t0, %t1 : tensor<512x128xbf16>, tensor<128x256xbf16>) outs(%init : tensor<512x256xf32>) -> tensor<512x256xf32>
    %o = tensor.empty() : tensor<512x256xbf16>
    %y = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]} ins(%product : tensor<512x256xf32>) outs(%o : tensor<512x256xbf16>) {
    ^bb0(%v: f32, %w: bf16):
      %t = arith.truncf %v : f32 to bf16
      linalg.yield %t : bf16
    } -> tensor<512x256xbf16>
    %f = tensor.empty() : tensor<8x256xf32>
    %start = linalg.fill ins(%zero : f32) outs(%f : tensor<8x256xf32>) -> tensor<8x256xf32>
    %s = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m floordiv 64, n)>], iterator_types = ["reduction", "parallel"]} ins(%y : tensor<512x256xbf16>) outs(%start : tensor<8x256xf32>) attrs = {plan.partial = #plan.partial<rows, 64>} {
    ^bb0(%v: bf16, %acc: f32):
      %x = arith.extf %v : bf16 to f32
      %t = arith.addf %acc, %x : f32
      linalg.yield %t : f32
    } -> tensor<8x256xf32>
    %b2 = plan.binding 2 write align 64 : memref<512x256xbf16>
    %b3 = plan.binding 3 write align 64 : memref<8x256xf32>
    bufferization.materialize_in_destination %y in restrict writable %b2 : (tensor<512x256xbf16>, memref<512x256xbf16>) -> ()
    bufferization.materialize_in_destination %s in restrict writable %b3 : (tensor<8x256xf32>, memref<8x256xf32>) -> ()
    return
  }
}
