// RUN: xc-opt %s -split-input-file -verify-diagnostics

// expected-error@+1 {{expected 1 to 32 warps, got 8 x 8}}
func.func @warps() attributes {lowering_config = #cuda.matmul_mma<tile_m = 128, tile_n = 128, tile_k = 32, warps_m = 8, warps_n = 8, stages = 2>} { return }

// -----

// expected-error@+1 {{expected at least 2 stages, got 1}}
func.func @stages() attributes {lowering_config = #cuda.matmul_mma<tile_m = 64, tile_n = 64, tile_k = 32, warps_m = 2, warps_n = 2, stages = 1>} { return }

// -----

// expected-error@+1 {{expected tile_k to be a multiple of 16, got 24}}
func.func @tile_k() attributes {lowering_config = #cuda.matmul_mma<tile_m = 64, tile_n = 64, tile_k = 24, warps_m = 2, warps_n = 2, stages = 2>} { return }

// -----

// expected-error@+1 {{expected tile_n to be a multiple of 16 for each of 2 warps, got 48}}
func.func @warp_tile() attributes {lowering_config = #cuda.matmul_mma<tile_m = 64, tile_n = 48, tile_k = 32, warps_m = 2, warps_n = 2, stages = 2>} { return }

// -----

// expected-error@+1 {{expected tile_m x tile_k to be a multiple of the 1024 elements that the threads copy at once, got 32 x 16}}
func.func @copies() attributes {lowering_config = #cuda.matmul_mma<tile_m = 32, tile_n = 64, tile_k = 16, warps_m = 2, warps_n = 2, stages = 2>} { return }

// -----

// expected-error@+1 {{expected tile_m to be a power of two or a multiple of 64, got 96}}
func.func @lines() attributes {lowering_config = #cuda.matmul_mma<tile_m = 96, tile_n = 64, tile_k = 32, warps_m = 2, warps_n = 2, stages = 2>} { return }
