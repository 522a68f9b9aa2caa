// RUN: xc-opt %s -split-input-file -verify-diagnostics

// What CUDA passes leave for one another is of a known name, on the op that it is for, and of its type.

// expected-error @below {{'func.func' op does not take attribute "cuda.part_steps"}}
func.func @unknown() attributes {cuda.part_steps = 4 : i64} { return }

// -----

// expected-error @below {{'func.func' op does not take attribute "cuda.divisor", which is for plan.scalar}}
func.func @carrier() attributes {cuda.divisor = 4 : i64} { return }

// -----

// expected-error @below {{'func.func' op expected cuda.index_bits to be 32 or 64 as i32, got 16 : i32}}
func.func @width() attributes {cuda.index_bits = 16 : i32} { return }

// -----

// expected-error @below {{'func.func' op expected cuda.tensor_maps to be descriptions of tensor maps, got [{binding = 0 : i64}]}}
func.func @maps() attributes {cuda.tensor_maps = [{binding = 0 : i64}]} { return }

// -----

func.func @divisor() {
  // expected-error @below {{'plan.scalar' op expected cuda.divisor to be a positive i64, got 0 : i64}}
  %n = plan.scalar 0 {cuda.divisor = 0 : i64} : index
  return
}

// -----

// expected-error @below {{expected part_steps not to be negative, got -1}}
func.func @parts() attributes {lowering_config = #cuda.matmul_mma<tile_m = 16, tile_n = 16, tile_k = 32, warps_m = 1, warps_n = 1, stages = 2, part_steps = -1>} { return }
