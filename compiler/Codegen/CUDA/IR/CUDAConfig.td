//===- CUDAConfig.td - Strategies of CUDA kernels ---------*- tablegen -*-===//
//
// Part of xcompile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef XC_CUDA_CONFIG_TD
#define XC_CUDA_CONFIG_TD

include "compiler/Codegen/CUDA/IR/CUDAConfigBase.td"

def CUDA_SelectionAttr : AttrDef<CUDA_Dialect, "Selection"> {
  let mnemonic = "selection";
  let summary = "What a kernel's configuration was compared with";
  let description = [{
    `expected_ns` is the time that the model of the configuration's strategy expects, in nanoseconds; absent where there is no model,
    or sizes are symbolic. `runner_up` is the configuration that would be taken next, and `runner_up_ns` its time. `key` is what
    tuning tables call the kernel; it is the kernel's own where `own_key` says so, else that of one whose lines it takes.
    `-xc-cuda-select-strategy` sets it on a kernel function as `cuda.selection`; reports print it. Example:
    `#cuda.selection<expected_ns = 7400, runner_up = #cuda.pointwise<threads = 128>, own_key = false>`.
  }];
  let parameters = (ins OptionalParameter<"std::optional<int64_t>">:$expected_ns,
                        OptionalParameter<"::mlir::Attribute">:$runner_up,
                        OptionalParameter<"std::optional<int64_t>">:$runner_up_ns,
                        OptionalParameter<"::mlir::StringAttr">:$key,
                        DefaultValuedParameter<"bool", "false">:$own_key);
  let assemblyFormat = "`<` struct(params) `>`";
}

def CUDA_ElementwiseAttr : CUDA_Config<"Elementwise", "elementwise", "elementwise", 1> {
  let summary = "Each thread computes a few vectors of consecutive elements";
  let description = [{
    A block of `threads` threads covers `threads * vector * unroll` elements of the flattened output; thread t
    owns `unroll` vectors of `vector` elements, `threads * vector` apart. Example:
    `#cuda.elementwise<threads = 256, vector = 4, unroll = 4>`.

    Here and in every strategy, a block has 1 to 1024 threads, and `vector` is a power of two up to 16.
  }];
  let parameters = (ins "int64_t":$threads, "int64_t":$vector, "int64_t":$unroll);
}

def CUDA_PointwiseAttr : CUDA_Config<"Pointwise", "pointwise", "generic", 1> {
  let summary = "One thread computes one element, loops and all";
  let description = [{
    The generic kernel: correct for every kernel that verifies, fast for none that reduces. Example:
    `#cuda.pointwise<threads = 128>`.
  }];
  let parameters = (ins "int64_t":$threads);
}

def CUDA_TransposeAttr : CUDA_Config<"Transpose", "transpose", "transpose", 1> {
  let summary = "Square tiles pass through shared memory where reads and writes run along different dims";
  let description = [{
    A block of `threads` threads owns a `tile` x `tile` square of the output's innermost dim and of
    another dim of it, which is the innermost one of an input; a thread accesses `vector` elements at once. Rows in
    shared memory are one vector longer than the tile, so that columns fall into different banks. The threads make
    whole rows of the tile, as many as divide it. Example: `#cuda.transpose<threads = 256, tile = 32, vector = 1>`.
  }];
  let parameters = (ins "int64_t":$threads, "int64_t":$tile, "int64_t":$vector);
}

def CUDA_RowReductionAttr : CUDA_Config<"RowReduction", "row_reduction", "row-reduction", 3> {
  let summary = "Threads share a row whose elements are adjacent in memory";
  let description = [{
    `threads` threads (a power of two) work on one row, `rows` rows (a power of two) make a block. Thread t holds `chunks`
    vectors of `vector` elements in registers, `threads * vector` apart, and `shared` more in shared memory, or nowhere where
    no element is needed again; with
    `chunks = 0` each reduction loops over memory, `unroll` vectors at a time. Where elements of rows are also
    summed up over several rows, a block loops over those rows, `rows * unroll` of them at a time. With `cluster` > 1 that many
    blocks, a cluster, share each row, of which each holds `chunks` and `shared` vectors a thread: they combine through their shared
    memory. Where rows begin `shifted`, a row's vectors begin at multiples of `vector` elements in memory, wherever its first
    element is: the first and the last vector may then be partly of other rows. Example:
    `#cuda.row_reduction<threads = 32, rows = 4, vector = 4, chunks = 8>`.
  }];
  let parameters = (ins "int64_t":$threads, "int64_t":$rows, "int64_t":$vector, "int64_t":$chunks,
                        DefaultValuedParameter<"int64_t", "0">:$shared,
                        DefaultValuedParameter<"int64_t", "1">:$unroll,
                        DefaultValuedParameter<"int64_t", "1">:$cluster,
                        DefaultValuedParameter<"bool", "false">:$shifted);
}

def CUDA_ColumnReductionAttr : CUDA_Config<"ColumnReduction", "column_reduction", "column-reduction", 1> {
  let summary = "Threads go down columns whose neighbours are adjacent in memory";
  let description = [{
    A block is `threads` threads wide, each owning `vector` adjacent columns, and `rows` (a power of two) high: its rows
    of threads split the reduced elements among them and combine through shared memory. With `held` > 0, registers hold a
    thread's share of the elements, at most `held` vectors of them, which are loaded once; with `held = 0` each reduction
    loops over memory, but for a sum and squares of distances from what it gives, which share one. Example:
    `#cuda.column_reduction<threads = 32, rows = 16, vector = 4>`.
  }];
  let parameters = (ins "int64_t":$threads, "int64_t":$rows, "int64_t":$vector,
                        DefaultValuedParameter<"int64_t", "0">:$held);
}

def CUDA_ScatterAttr : CUDA_Config<"Scatter", "scatter", "scatter", 1> {
  let summary = "Each element of the destination has one owner, which applies the updates in order";
  let description = [{
    A thread owns a place of the window in each of `rows` rows of the destination (numbered by the dims that index
    vectors address). A block's `threads` threads are neighbours in the window, but where that is narrow: then
    `down` of them (a divisor of their number) own rows below each other. No atomics: the result is the same on every
    run. Example: `#cuda.scatter<threads = 128, rows = 16, down = 4>`.
  }];
  let parameters = (ins "int64_t":$threads, "int64_t":$rows, DefaultValuedParameter<"int64_t", "1">:$down);
}

def CUDA_RowScanAttr : CUDA_Config<"RowScan", "row_scan", "row-scan", 1> {
  let summary = "Threads share a line whose elements are adjacent in memory";
  let description = [{
    `threads` threads (a power of two) scan one line, or segment of it, `rows` of them make a block, which is one where
    a row has more threads than a warp. An iteration takes
    `threads * vector` elements: a thread scans its vector, threads combine by shuffles and, beyond a warp, through
    shared memory, and the total goes on to the next iteration. Example:
    `#cuda.row_scan<threads = 256, rows = 1, vector = 4>`.
  }];
  let parameters = (ins "int64_t":$threads, "int64_t":$rows, "int64_t":$vector);
}

def CUDA_ColumnScanAttr : CUDA_Config<"ColumnScan", "column_scan", "column-scan", 1> {
  let summary = "Each thread goes down rows whose neighbours are adjacent in memory";
  let description = [{
    A thread owns `vector` adjacent rows, or a segment of them; blocks have `threads` threads. Example:
    `#cuda.column_scan<threads = 128, vector = 4>`.
  }];
  let parameters = (ins "int64_t":$threads, "int64_t":$vector);
}

def CUDA_SortAttr : CUDA_Config<"Sort", "sort", "sort", 1> {
  let summary = "A bitonic network in shared memory";
  let description = [{
    A block of `threads` threads sorts `rows` lines, or segments of them, at a time, by as many threads each, in `tile`
    places of shared memory (a power of two) that hold keys and positions. A thread takes its share of the tile (a power of two
    from 2 to 32 elements) to registers, compares there along several distances of the network, and puts it back. A line that is
    longer than a tile passes through it piece
    by piece, while the first elements of the order stay. Lines of symbolic length fit into a tile where `bounded` says so:
    guards of the variant promise it. Example: `#cuda.sort<threads = 256, rows = 1, tile = 4096>`.
  }];
  let parameters = (ins "int64_t":$threads, "int64_t":$rows, "int64_t":$tile,
                        DefaultValuedParameter<"bool", "false">:$bounded);
}

def CUDA_SelectAttr : CUDA_Config<"Select", "select", "select", 1> {
  let summary = "The first elements of a line's order, found below a limit";
  let description = [{
    A block of `threads` threads (a power of two from 32 on) goes through a line, or a segment of it, `items` elements of which each
    thread holds in registers, loaded `vector` at a time. They form `groups` groups (a power of two, of at most a warp of threads each):
    of the groups' first elements in the order, the k-th is a limit that the k elements to be found do not come
    behind. What comes up to it is few, and gets its place by counting. Example:
    `#cuda.select<threads = 256, items = 16, groups = 32, vector = 4>`.
  }];
  let parameters = (ins "int64_t":$threads, "int64_t":$items, "int64_t":$groups, "int64_t":$vector);
}

def CUDA_SortInPlaceAttr : CUDA_Config<"SortInPlace", "sort_in_place", "sort-in-place", 1> {
  let summary = "A bitonic network in the results' memory";
  let description = [{
    A block of `threads` threads sorts one line of any size in the memory of the results. For lines of dynamic size,
    which cannot be cut into tiles that are then merged. Example: `#cuda.sort_in_place<threads = 1024>`.
  }];
  let parameters = (ins "int64_t":$threads);
}

def CUDA_MergeAttr : CUDA_Config<"Merge", "merge", "merge", 1> {
  let summary = "A block merges what belongs to neighbouring places in shared memory";
  let description = [{
    A block of `threads` threads finds by binary search which elements its `threads * items` places get, and brings their keys to
    shared memory. A thread finds there in the same way what the `items` places that it owns begin with, and merges from there on. Example:
    `#cuda.merge<threads = 256, items = 16>`.
  }];
  let parameters = (ins "int64_t":$threads, "int64_t":$items);
}

def CUDA_CountDigitsAttr : CUDA_Config<"CountDigits", "count_digits", "count-digits", 1> {
  let summary = "A block counts the digits of a tile";
  let description = [{
    A block of `threads` threads (a multiple of 32, at least 256) counts a tile of `threads * items` elements in shared memory. Example:
    `#cuda.count_digits<threads = 256, items = 16>`.
  }];
  let parameters = (ins "int64_t":$threads, "int64_t":$items);
}

def CUDA_SortDigitAttr : CUDA_Config<"SortDigit", "sort_digit", "sort-digit", 1> {
  let summary = "A block brings a tile into the order of one digit";
  let description = [{
    A block of `threads` threads (a multiple of 32, at least 256) brings a tile of `threads * items` elements into order in shared memory,
    and writes runs of one digit to where they belong. Example: `#cuda.sort_digit<threads = 256, items = 16>`.
  }];
  let parameters = (ins "int64_t":$threads, "int64_t":$items);
}

def CUDA_OrderedScatterAttr : CUDA_Config<"OrderedScatter", "ordered_scatter", "ordered-scatter", 2> {
  let summary = "Each element of the destination has one owner, which finds its updates by bisection";
  let description = [{
    As `#cuda.scatter`, for a scatter that has its updates sorted by row: a thread searches for the first update of
    its `rows` rows, and reads on from there. A thread's place of the window is `vector` neighbouring elements, which divides the
    window's innermost size. Example: `#cuda.ordered_scatter<threads = 128, rows = 16, vector = 4>`.
  }];
  let parameters = (ins "int64_t":$threads, "int64_t":$rows, DefaultValuedParameter<"int64_t", "1">:$down,
                        DefaultValuedParameter<"int64_t", "1">:$vector);
}

def CUDA_DirectScatterAttr : CUDA_Config<"DirectScatter", "direct_scatter", "direct-scatter", 1> {
  let summary = "Threads own elements of the updates; the rest of the destination is left alone";
  let description = [{
    For a scatter with `in_place`: a thread has one element of the updates. The first update of each row applies all of
    that row's, in order, so that the result is the same on every run; the others do nothing. Where updates are
    `unique`, none looks for others. Example: `#cuda.direct_scatter<threads = 128>`.
  }];
  let parameters = (ins "int64_t":$threads);
}

def CUDA_MatmulFMAAttr : CUDA_Config<"MatmulFMA", "matmul_fma", "matmul-fma", 2> {
  let summary = "Matrix product on the ordinary arithmetic units, tiles in shared memory";
  let description = [{
    A block computes a `tile_m` x `tile_n` tile of the product in steps of `tile_k`; each thread owns
    `thread_m` x `thread_n` elements in registers: 1, 2 or a multiple of 4 along each side that divides the tile's, and
    256 in all at most. `stages` tiles of each operand are in shared memory: of two, one is computed on while the other one is filled
    through registers; of more, all but the one computed on are being copied (sm_80 on, operands that are stored as they are multiplied).
    The tile of either operand is an equal number of elements for each thread. With `split` > 1 (of tiles that are copied, sm_90 on),
    a cluster of that many blocks shares each tile: they divide k among them, and each adds up an equal share of all their sums. Example:
    `#cuda.matmul_fma<tile_m = 128, tile_n = 128, tile_k = 8, thread_m = 8, thread_n = 8>`.
  }];
  let parameters = (ins "int64_t":$tile_m, "int64_t":$tile_n, "int64_t":$tile_k, "int64_t":$thread_m,
                        "int64_t":$thread_n, DefaultValuedParameter<"int64_t", "2">:$stages,
                        DefaultValuedParameter<"int64_t", "1">:$split);
}

def CUDA_MatmulMMAAttr : CUDA_Config<"MatmulMMA", "matmul_mma", "matmul-mma", 1> {
  let summary = "Matrix product on mma.sync, tiles copied to shared memory ahead of use";
  let description = [{
    A block of `warps_m` x `warps_n` warps computes a `tile_m` x `tile_n` tile in steps of `tile_k`; `stages`
    tiles of each operand are in flight. Example:
    `#cuda.matmul_mma<tile_m = 128, tile_n = 256, tile_k = 64, warps_m = 2, warps_n = 4, stages = 3>`.

    With `part_steps` > 0, sums begin anew after so many steps: tensor cores cut each sum towards zero instead of rounding it, so that
    what is lost adds up. What they have come to is added to the sums before it with rounding.

    A warp's part of the tile is made of 16 x 16 products; the tile of either operand is an equal number of 16-byte
    vectors for each thread, and a line of it a power of two or a multiple of eight of them.
  }];
  let parameters = (ins "int64_t":$tile_m, "int64_t":$tile_n, "int64_t":$tile_k, "int64_t":$warps_m,
                        "int64_t":$warps_n, "int64_t":$stages,
                        DefaultValuedParameter<"int64_t", "0">:$part_steps);
}

def CUDA_MatmulWGMMAAttr : CUDA_Config<"MatmulWGMMA", "matmul_wgmma", "matmul-wgmma", 1> {
  let summary = "Matrix product on wgmma, by a warpgroup that fetches and others that multiply";
  let description = [{
    Blocks are persistent and loop over tiles of `tile_m` x `tile_n`, computed in steps of `tile_k`; `warpgroups` of 128 threads share a tile
    by its rows. Where elements have other than 16 bits and B is not contiguous along k, all this is about the transposed product: rows
    are those of B. `stages` tiles of each operand are in flight. Tiles are computed in groups of `raster` rows. `blocks` blocks run
    on a multiprocessor at a time. With `split` > 1, a cluster of that many blocks shares each tile: they divide k among them,
    add up their sums, and store a share of the columns each. With `ping_pong`, each half of the warpgroups has tiles of its
    own, and one half stores while the other one multiplies. With `cluster_m` or `cluster_n` > 1, a cluster of that many rows and columns of blocks works on neighbouring tiles: of what several of
    them need of an operand each fetches a part, for all of them. Example:
    `#cuda.matmul_wgmma<tile_m = 128, tile_n = 256, tile_k = 64, warpgroups = 2, stages = 4, raster = 16, blocks = 1, split = 1>`.
  }];
  let parameters = (ins "int64_t":$tile_m, "int64_t":$tile_n, "int64_t":$tile_k, "int64_t":$warpgroups,
                        "int64_t":$stages, "int64_t":$raster, "int64_t":$blocks, "int64_t":$split,
                        DefaultValuedParameter<"int64_t", "0">:$ping_pong,
                        DefaultValuedParameter<"int64_t", "1">:$cluster_m,
                        DefaultValuedParameter<"int64_t", "1">:$cluster_n);
  let extraClassDeclaration = [{
    /// Warpgroups that share a tile.
    int64_t getWarpgroupsPerTile() const { return getPingPong() ? getWarpgroups() / 2 : getWarpgroups(); }
  }];
}

def CUDA_AttentionAttr : CUDA_Config<"Attention", "attention", "attention", 1> {
  let summary = "Attention in one kernel on wgmma, scores in registers";
  let description = [{
    Blocks stay and go over tiles of 64 queries for each of `warpgroups` warpgroups; each tile over blocks of `keys` keys, of which `stages`
    are in flight, in groups of `raster` heads. Queries of `query_stages` tiles are. With `ping_pong`, warpgroups start their products in
    turn, so that softmax of one runs beside products of another. The `cluster` blocks of a cluster have tiles of one head that follow one
    another, and fetch keys and values for each other. With `serpentine`, blocks go over every second wave of tiles backwards. Of a mask,
    the numbers of `mask_stages` blocks of keys are in flight, in shared memory; with 0 threads load them. With `column_loads`, a gradient
    to keys or values has each thread load what queries have for its scores, rather than take it from other lanes. Example:
    `#cuda.attention<warpgroups = 2, keys = 128, stages = 2, query_stages = 1, raster = 1, ping_pong = 1>`.
  }];
  let parameters = (ins "int64_t":$warpgroups, "int64_t":$keys, "int64_t":$stages, "int64_t":$query_stages, "int64_t":$raster,
                        "int64_t":$ping_pong, DefaultValuedParameter<"int64_t", "1">:$cluster, DefaultValuedParameter<"int64_t", "0">:$serpentine,
                        DefaultValuedParameter<"int64_t", "0">:$mask_stages, DefaultValuedParameter<"int64_t", "0">:$column_loads);
}

def CUDA_AttentionRowsAttr : CUDA_Config<"AttentionRows", "attention_rows", "attention-rows", 1> {
  let summary = "One thread computes one element of attention's result";
  let description = [{
    Takes all sizes: for those that the fused kernel's guards keep out, such as no keys at all. Example:
    `#cuda.attention_rows<threads = 128>`.
  }];
  let parameters = (ins "int64_t":$threads);
}

#endif // XC_CUDA_CONFIG_TD
