// RUN: xc-opt %s -split-input-file -verify-diagnostics

// expected-error@+1 {{expected 1 to 32 warps, got 8 x 8}}
func.func @warps() attributes {lowering_config = #cuda.matmul_mma<tile_m = 128, tile_n = 128, tile_k = 32, warps_m = 8, warps_n = 8, stages = 2>} { return }

// -----

// expected-error@+1 {{expected 2 to 128 stages, got 1}}
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

// -----

// expected-error@+1 {{expected 1 to 1024 threads, got 0}}
func.func @elementwise_threads() attributes {lowering_config = #cuda.elementwise<threads = 0, vector = 4, unroll = 1>} { return }

// -----

// expected-error@+1 {{expected a vector of 1, 2, 4, 8 or 16 elements, got 0}}
func.func @elementwise_vector() attributes {lowering_config = #cuda.elementwise<threads = 128, vector = 0, unroll = 1>} { return }

// -----

// expected-error@+1 {{expected unroll to be positive, got 0}}
func.func @elementwise_unroll() attributes {lowering_config = #cuda.elementwise<threads = 128, vector = 4, unroll = 0>} { return }

// -----

// expected-error@+1 {{expected 1 to 1024 threads, got 2048}}
func.func @pointwise() attributes {lowering_config = #cuda.pointwise<threads = 2048>} { return }

// -----

// expected-error@+1 {{expected a tile that 256 threads with vectors of 4 cover by whole rows, got 24}}
func.func @transpose() attributes {lowering_config = #cuda.transpose<threads = 256, tile = 24, vector = 4>} { return }

// -----

// expected-error@+1 {{expected 1 to 1024 threads, got 512 x 4}}
func.func @row_threads() attributes {lowering_config = #cuda.row_reduction<threads = 512, rows = 4, vector = 4, chunks = 1>} { return }

// -----

// expected-error@+1 {{expected threads to be a power of two, got 48}}
func.func @row_power() attributes {lowering_config = #cuda.row_reduction<threads = 48, rows = 1, vector = 4, chunks = 1>} { return }

// -----

// expected-error@+1 {{expected rows to be a power of two, got 3}}
func.func @row_rows() attributes {lowering_config = #cuda.row_reduction<threads = 32, rows = 3, vector = 4, chunks = 1>} { return }

// -----

// expected-error@+1 {{expected shared memory to hold what registers do not, got 0 chunks in registers and 2 in shared memory}}
func.func @row_shared() attributes {lowering_config = #cuda.row_reduction<threads = 32, rows = 1, vector = 4, chunks = 0, shared = 2>} { return }

// -----

// expected-error@+1 {{expected unroll to be positive, got 0}}
func.func @row_unroll() attributes {lowering_config = #cuda.row_reduction<threads = 32, rows = 1, vector = 4, chunks = 0, unroll = 0>} { return }

// -----

// expected-error @below {{expected a cluster of 1, 2, 4 or 8 blocks, got 16}}
func.func @row_cluster() attributes {lowering_config = #cuda.row_reduction<threads = 64, rows = 1, vector = 4, chunks = 1, cluster = 16>} { return }

// -----

// expected-error @below {{expected one row and more than a warp for it in a block of a cluster, got 2 rows of 64 threads}}
func.func @row_cluster_rows() attributes {lowering_config = #cuda.row_reduction<threads = 64, rows = 2, vector = 4, chunks = 1, cluster = 2>} { return }

// -----

// expected-error @below {{expected registers to hold the first and the last vectors of a shifted row, got 1 chunks of vectors of 4}}
func.func @row_shifted() attributes {lowering_config = #cuda.row_reduction<threads = 64, rows = 1, vector = 4, chunks = 1, shared = 2, shifted = true>} { return }

// -----

// expected-error@+1 {{expected rows to be a power of two, got 6}}
func.func @columns() attributes {lowering_config = #cuda.column_reduction<threads = 32, rows = 6, vector = 4>} { return }

// -----

// expected-error@+1 {{expected rows to be positive, got 0}}
func.func @scatter() attributes {lowering_config = #cuda.scatter<threads = 128, rows = 0>} { return }

// -----

// expected-error@+1 {{expected a number of threads below each other that divides 128, got 3}}
func.func @narrow_scatter() attributes {lowering_config = #cuda.scatter<threads = 128, rows = 1, down = 3>} { return }

// -----

// expected-error@+1 {{expected 1 to 1024 threads, got -1}}
func.func @ordered_scatter() attributes {lowering_config = #cuda.ordered_scatter<threads = -1, rows = 16>} { return }

// -----

// expected-error@+1 {{expected one row for each block of more than 32 threads, got 2 of 64 threads each}}
func.func @row_scan() attributes {lowering_config = #cuda.row_scan<threads = 64, rows = 2, vector = 4>} { return }

// -----

// expected-error@+1 {{expected a vector of 1, 2, 4, 8 or 16 elements, got 3}}
func.func @column_scan() attributes {lowering_config = #cuda.column_scan<threads = 128, vector = 3>} { return }

// -----

// expected-error@+1 {{expected rows that share 256 threads evenly, got 3}}
func.func @sort_rows() attributes {lowering_config = #cuda.sort<threads = 256, rows = 3, tile = 64>} { return }

// -----

// expected-error@+1 {{expected tile to be a power of two, got 96}}
func.func @sort_tile() attributes {lowering_config = #cuda.sort<threads = 256, rows = 1, tile = 96>} { return }

// -----

// expected-error@+1 {{expected 2, 4, 8, 16 or 32 elements of the tile for each thread, got 64 for 64 threads}}
func.func @sort_items() attributes {lowering_config = #cuda.sort<threads = 64, rows = 1, tile = 64>} { return }

// -----

// expected-error@+1 {{expected groups of 1 to 32 of at least 32 threads, got 64 groups of 32 threads}}
func.func @select_groups() attributes {lowering_config = #cuda.select<threads = 32, items = 16, groups = 64, vector = 4>} { return }

// -----

// expected-error@+1 {{expected items to be a multiple of the vector's 4, got 6}}
func.func @select_items() attributes {lowering_config = #cuda.select<threads = 32, items = 6, groups = 32, vector = 4>} { return }

// -----

// expected-error@+1 {{expected 1 to 1024 threads, got 0}}
func.func @sort_in_place() attributes {lowering_config = #cuda.sort_in_place<threads = 0>} { return }

// -----

// expected-error@+1 {{expected items to be positive, got 0}}
func.func @merge() attributes {lowering_config = #cuda.merge<threads = 256, items = 0>} { return }

// -----

// expected-error@+1 {{expected at least 256 threads in whole warps, got 128}}
func.func @count_digits() attributes {lowering_config = #cuda.count_digits<threads = 128, items = 16>} { return }

// -----

// expected-error@+1 {{expected 1 to 256 items for 256 threads, got 257}}
func.func @sort_digit() attributes {lowering_config = #cuda.sort_digit<threads = 256, items = 257>} { return }

// -----

// expected-error@+1 {{expected tile_m to be 1 to 4096, got 0}}
func.func @fma_tile() attributes {lowering_config = #cuda.matmul_fma<tile_m = 0, tile_n = 64, tile_k = 16, thread_m = 4, thread_n = 4>} { return }

// -----

// expected-error@+1 {{expected tile_k to be 1 to 4096, got 0}}
func.func @fma_k() attributes {lowering_config = #cuda.matmul_fma<tile_m = 64, tile_n = 64, tile_k = 0, thread_m = 4, thread_n = 4>} { return }

// -----

// expected-error@+1 {{expected thread_m to be 1, 2 or a multiple of 4 that divides the tile's 33, got 4}}
func.func @fma_thread() attributes {lowering_config = #cuda.matmul_fma<tile_m = 33, tile_n = 35, tile_k = 7, thread_m = 4, thread_n = 4>} { return }

// -----

// expected-error@+1 {{expected thread_n to be 1, 2 or a multiple of 4 that divides the tile's 48, got 6}}
func.func @fma_group() attributes {lowering_config = #cuda.matmul_fma<tile_m = 64, tile_n = 48, tile_k = 16, thread_m = 4, thread_n = 6>} { return }

// -----

// expected-error@+1 {{expected at most 256 sums for each thread, got 32 x 16}}
func.func @fma_sums() attributes {lowering_config = #cuda.matmul_fma<tile_m = 64, tile_n = 64, tile_k = 16, thread_m = 32, thread_n = 16>} { return }

// -----

// expected-error@+1 {{expected 1 to 1024 threads, got 64 x 64}}
func.func @fma_threads() attributes {lowering_config = #cuda.matmul_fma<tile_m = 64, tile_n = 64, tile_k = 16, thread_m = 1, thread_n = 1>} { return }

// -----

// expected-error@+1 {{expected tile_m x tile_k to be a multiple of the 256 threads that copy it, got 64 x 7}}
func.func @fma_copies() attributes {lowering_config = #cuda.matmul_fma<tile_m = 64, tile_n = 64, tile_k = 7, thread_m = 4, thread_n = 4>} { return }

// -----

// expected-error@+1 {{expected 1 to 8 blocks of 1 warpgroups on a multiprocessor, got 9}}
func.func @wgmma_blocks() attributes {lowering_config = #cuda.matmul_wgmma<tile_m = 64, tile_n = 64, tile_k = 64, warpgroups = 1, stages = 4, raster = 8, blocks = 9, split = 1>} { return }

// -----

// expected-error@+1 {{expected at most 200 columns for 2 blocks of 1 warpgroups, got 256}}
func.func @wgmma_columns() attributes {lowering_config = #cuda.matmul_wgmma<tile_m = 64, tile_n = 256, tile_k = 64, warpgroups = 1, stages = 4, raster = 8, blocks = 2, split = 1>} { return }

// -----

// expected-error@+1 {{expected 2 to 128 stages, got 4611686018427387904}}
func.func @wgmma_stages() attributes {lowering_config = #cuda.matmul_wgmma<tile_m = 64, tile_n = 64, tile_k = 64, warpgroups = 1, stages = 4611686018427387904, raster = 8, blocks = 1, split = 1>} { return }

// -----

// expected-error@+1 {{expected 1 to 1048576 rows in a group, got 4611686018427387904}}
func.func @wgmma_raster() attributes {lowering_config = #cuda.matmul_wgmma<tile_m = 64, tile_n = 64, tile_k = 64, warpgroups = 1, stages = 4, raster = 4611686018427387904, blocks = 1, split = 1>} { return }

// -----

// expected-error@+1 {{expected 1 to 3 warpgroups and a multiple of 64 rows for each, up to 4096 in all, got 1 for 4611686018427387904 rows}}
func.func @wgmma_rows() attributes {lowering_config = #cuda.matmul_wgmma<tile_m = 4611686018427387904, tile_n = 64, tile_k = 64, warpgroups = 1, stages = 4, raster = 8, blocks = 1, split = 1>} { return }

// -----

// expected-error@+1 {{expected tile_m to be at most 4096, got 8192}}
func.func @mma_rows() attributes {lowering_config = #cuda.matmul_mma<tile_m = 8192, tile_n = 64, tile_k = 32, warps_m = 2, warps_n = 2, stages = 2>} { return }

// -----

// expected-error@+1 {{expected 2 to 16 stages, got 1}}
func.func @fma_stages() attributes {lowering_config = #cuda.matmul_fma<tile_m = 64, tile_n = 64, tile_k = 16, thread_m = 4, thread_n = 4, stages = 1>} { return }

// -----

// expected-error@+1 {{expected a power of two up to 8 that divides a thread's 4 vectors of sums for split, got 8}}
func.func @fma_split() attributes {lowering_config = #cuda.matmul_fma<tile_m = 64, tile_n = 64, tile_k = 16, thread_m = 4, thread_n = 4, stages = 4, split = 8>} { return }

// -----

// expected-error@+1 {{expected more than 2 stages where blocks share a sum, got split 2}}
func.func @fma_split_stages() attributes {lowering_config = #cuda.matmul_fma<tile_m = 64, tile_n = 64, tile_k = 16, thread_m = 4, thread_n = 4, split = 2>} { return }

// -----

// expected-error@+1 {{expected held vectors not to be negative, got -1}}
func.func @held() attributes {lowering_config = #cuda.column_reduction<threads = 32, rows = 8, vector = 4, held = -1>} { return }

// -----

// expected-error@+1 {{expected 2 or 3 warpgroups, got 4}}
func.func @attention_warpgroups() attributes {lowering_config = #cuda.attention<warpgroups = 4, keys = 128, stages = 2, query_stages = 1, raster = 1, ping_pong = 1>} { return }

// -----

// expected-error@+1 {{expected 16 to 256 keys in a block, a multiple of 16, got 24}}
func.func @attention_keys() attributes {lowering_config = #cuda.attention<warpgroups = 2, keys = 24, stages = 2, query_stages = 1, raster = 1, ping_pong = 1>} { return }

// -----

// expected-error@+1 {{expected 2 to 128 stages, got 1}}
func.func @attention_stages() attributes {lowering_config = #cuda.attention<warpgroups = 2, keys = 128, stages = 1, query_stages = 1, raster = 1, ping_pong = 1>} { return }

// -----

// expected-error@+1 {{expected 1 or 2 stages of queries, got 3}}
func.func @attention_query_stages() attributes {lowering_config = #cuda.attention<warpgroups = 2, keys = 128, stages = 2, query_stages = 3, raster = 1, ping_pong = 1>} { return }

// -----

// expected-error@+1 {{expected 1 to 1048576 heads in a group, got 0}}
func.func @attention_raster() attributes {lowering_config = #cuda.attention<warpgroups = 2, keys = 128, stages = 2, query_stages = 1, raster = 0, ping_pong = 1>} { return }

// -----

// expected-error@+1 {{expected 0 or 1 for 'ping_pong', got 2}}
func.func @attention_ping_pong() attributes {lowering_config = #cuda.attention<warpgroups = 2, keys = 128, stages = 2, query_stages = 1, raster = 1, ping_pong = 2>} { return }

// -----

// expected-error@+1 {{expected clusters of 1, 2 or 4 blocks, got 3}}
func.func @attention_cluster() attributes {lowering_config = #cuda.attention<warpgroups = 2, keys = 128, stages = 2, query_stages = 1, raster = 1, ping_pong = 1, cluster = 3>} { return }

// -----

// expected-error@+1 {{expected a multiple of 8 keys for each block of a cluster, got 48 for 4}}
func.func @attention_cluster_keys() attributes {lowering_config = #cuda.attention<warpgroups = 2, keys = 48, stages = 2, query_stages = 1, raster = 1, ping_pong = 1, cluster = 4>} { return }

// -----

// expected-error @+1 {{expected 0 or 1 for 'serpentine', got 2}}
func.func @attention_serpentine() attributes {lowering_config = #cuda.attention<warpgroups = 2, keys = 128, stages = 2, query_stages = 1, raster = 1, ping_pong = 1, serpentine = 2>} { return }

// -----

// expected-error @+1 {{expected 0 or 1 stages of a mask, or as many as of keys, got 3}}
func.func @attention_masks() attributes {lowering_config = #cuda.attention<warpgroups = 2, keys = 128, stages = 2, query_stages = 1, raster = 1, ping_pong = 1, mask_stages = 3>} { return }

// -----

// expected-error @+1 {{expected two stages of keys beside one of a mask, got 3}}
func.func @attention_one_mask() attributes {lowering_config = #cuda.attention<warpgroups = 2, keys = 128, stages = 3, query_stages = 1, raster = 1, ping_pong = 1, mask_stages = 1>} { return }

// -----

// expected-error @+1 {{expected 0 or 1 for 'column_loads', got 2}}
func.func @attention_column_loads() attributes {lowering_config = #cuda.attention<warpgroups = 2, keys = 64, stages = 4, query_stages = 1, raster = 1, ping_pong = 0, column_loads = 2>} { return }

// -----

// expected-error@+1 {{expected 1 or 2 times four warps, got 3}}
func.func @attention_mma_warps() attributes {lowering_config = #cuda.attention_mma<warpgroups = 3, keys = 64, stages = 2, held_queries = 1, raster = 1>} { return }

// -----

// expected-error@+1 {{expected 16 to 128 keys in a block, a multiple of 16, got 40}}
func.func @attention_mma_keys() attributes {lowering_config = #cuda.attention_mma<warpgroups = 1, keys = 40, stages = 2, held_queries = 1, raster = 1>} { return }

// -----

// expected-error@+1 {{expected 2 to 128 stages, got 1}}
func.func @attention_mma_stages() attributes {lowering_config = #cuda.attention_mma<warpgroups = 1, keys = 64, stages = 1, held_queries = 1, raster = 1>} { return }

// -----

// expected-error@+1 {{expected 0 or 1 for 'held_queries', got 2}}
func.func @attention_mma_held() attributes {lowering_config = #cuda.attention_mma<warpgroups = 1, keys = 64, stages = 2, held_queries = 2, raster = 1>} { return }

// -----

// expected-error@+1 {{expected 1 to 1048576 heads in a group, got 0}}
func.func @attention_mma_raster() attributes {lowering_config = #cuda.attention_mma<warpgroups = 1, keys = 64, stages = 2, held_queries = 1, raster = 0>} { return }

// -----

// expected-error@+1 {{expected strip to be positive, got 0}}
func.func @strips() attributes {lowering_config = #cuda.window_strips<threads = 128, vector = 4, strip = 0, rows = 1>} { return }

// -----

// expected-error@+1 {{expected rows to be positive, got 0}}
func.func @strip_rows() attributes {lowering_config = #cuda.window_strips<threads = 128, vector = 4, strip = 2, rows = 0>} { return }

// -----

// expected-error@+1 {{expected 1 to 1024 threads, got 64 x 32}}
func.func @workers() attributes {lowering_config = #cuda.window_gradient<vector = 4, chunks = 64, workers = 32, strip = 2>} { return }

// -----

// expected-error@+1 {{expected strips of 1 to 64 positions, got 0 x 1}}
func.func @no_positions() attributes {lowering_config = #cuda.elementwise_strips<threads = 128, vector = 4, strip = 0, rows = 1>} { return }

// -----

// expected-error@+1 {{expected strips of 1 to 64 positions, got 32 x 4}}
func.func @many_positions() attributes {lowering_config = #cuda.elementwise_strips<threads = 128, vector = 4, strip = 32, rows = 4>} { return }
