// RUN: xc-opt %s -split-input-file -verify-diagnostics

// expected-error@+1 {{expected version 1 of the configuration, got 2}}
func.func @version() attributes {lowering_config = #cpu.generic<version = 2>} { return }

// -----

// expected-error@+1 {{expected a number of lanes that is a power of two, got 12}}
func.func @lanes() attributes {lowering_config = #cpu.elementwise<version = 1, lanes = 12, chunk = 1, tile = 1>} { return }

// -----

// expected-error@+1 {{expected a positive chunk and tile, got 0}}
func.func @chunk() attributes {lowering_config = #cpu.elementwise<version = 1, lanes = 8, chunk = 0, tile = 1>} { return }

// -----

// expected-error@+1 {{expected direction "rows", "columns", "panels" or "images", got "diagonal"}}
func.func @direction() attributes {lowering_config = #cpu.reduction<version = 1, direction = "diagonal", lanes = 8, chunk = 1, tile = 1>} { return }

// -----

// expected-error@+1 {{expected 3 tile and 2 register sizes, got 2 and 2}}
func.func @tile() attributes {lowering_config = #cpu.matmul<version = 1, tile = [6, 16], registers = [6, 16], lanes = 8>} { return }

// -----

// expected-error@+1 {{expected register columns that are a multiple of 8 lanes, got 12}}
func.func @columns() attributes {lowering_config = #cpu.matmul<version = 1, tile = [6, 12, 1], registers = [6, 12], lanes = 8>} { return }

// -----

// expected-error@+1 {{expected tile size 0 to be a multiple of 6, got 8}}
func.func @rows() attributes {lowering_config = #cpu.matmul<version = 1, tile = [8, 16, 1], registers = [6, 16], lanes = 8>} { return }

// -----

// expected-error@+1 {{expected a positive tile, got 0}}
func.func @line_tile() attributes {lowering_config = #cpu.lines<version = 1, tile = 0>} { return }

// -----

// expected-error@+1 {{expected 2 tile and 2 register sizes, got 1 and 2}}
func.func @attention_tile() attributes {lowering_config = #cpu.attention<version = 1, tile = [16], registers = [6, 4], lanes = 8>} { return }

// -----

// expected-error@+1 {{expected queries that are a multiple of 8 lanes, got 12}}
func.func @attention_queries() attributes {lowering_config = #cpu.attention<version = 1, tile = [12, 96], registers = [6, 4], lanes = 8>} { return }

// -----

// expected-error@+1 {{expected 2 tile sizes, got 1}}
func.func @few_queries_tile() attributes {lowering_config = #cpu.few_queries<version = 1, tile = [4], registers = 8, lanes = 8>} { return }

// -----

// expected-error@+1 {{expected a positive number of registers, got 0}}
func.func @few_queries_registers() attributes {lowering_config = #cpu.few_queries<version = 1, tile = [4, 32], registers = 0, lanes = 8>} { return }

// -----

// expected-error@+1 {{expected a positive chunk, tile, strip and band, got 0}}
func.func @strip() attributes {lowering_config = #cpu.reduction<version = 1, direction = "columns", lanes = 8, chunk = 1, tile = 1, strip = 0>} { return }

// -----

// expected-error@+1 {{expected a chunk of whole vectors and a band of whole strips, got 20 by 8 lanes and 8 by 4}}
func.func @chunk_of_images() attributes {lowering_config = #cpu.reduction<version = 1, direction = "images", lanes = 8, chunk = 20, tile = 1, strip = 4, band = 8>} { return }

// -----

// expected-error@+1 {{expected a chunk of whole vectors and a band of whole strips, got 16 by 8 lanes and 6 by 4}}
func.func @band_of_images() attributes {lowering_config = #cpu.reduction<version = 1, direction = "images", lanes = 8, chunk = 16, tile = 1, strip = 4, band = 6>} { return }
